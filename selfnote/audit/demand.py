"""When facts were needed again, and how long that takes: measured, not assumed (UC-003, COMPLAINTS 18, 19, 47).

A search of the model's, a restatement and a correction are demand. An injection is exposure: it tells that a fact took
place, not that anyone needed it, so it is no event here.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from selfnote.audit.fact_columns import source_of
from selfnote.audit.frames import Frames
from selfnote.audit.likeness import find_related
from selfnote.audit.report import Auditable
from selfnote.audit.schema import from_rows, microseconds, to_rows
from selfnote.errors import NotFound, SelfnoteError
from selfnote.injection.assemble import Snapshot, read_snapshot
from selfnote.phrases import NOT_ENOUGH
from selfnote.records.conflicts import Profiled, profile_text
from selfnote.records.fact_lines import Fact
from selfnote.records.ledger import read_hits, read_seen
from selfnote.times import require_aware

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from selfnote.sessions.log import SessionLog

    Numbers = NDArray[np.float64]

Row = dict[str, Any]

#: Demands below which nothing is fitted: the interval of fewer spans more than a factor of three and a half.
LEAST_EVENTS = 10
#: Level of bands and intervals.
LEVEL = 0.95
#: Characters of a folded clause below which it means no fact (不对, 谢谢), and clauses that may make one sentence.
LEAST_CLAUSE = 4
CLAUSES = 3
_CLAUSE_END = re.compile(r"[，。；！？、,;!?\n]+|\.(?:\s|\Z)")
_DAY = 86_400_000_000
_GROUPS = ("tag", "channel")


# --- what was needed, and when ------------------------------------------------------------------------
def demand(memory: Auditable, *, now: datetime) -> pd.DataFrame:
    """Every sign that a fact was needed again: frame ``demand``, by fact in file order, then time.

    ``search``: the searches counted, each fact at most once in ten minutes. ``restated``: the further sources of a
    fact; the time is that of the message, so its log must be here. ``correction``: a piece of the owner's words (see
    `clauses_of`) says the same or nearly the same as the fact (`relate`); what he says against a fact is no demand for
    it, and dismissed corrections are none. What cannot be taken into account, such as a search without a session or one
    only a counter tells of, says so in ``flag``.
    """
    now = require_aware(now)
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    facts = snapshot.facts_file.value.facts
    order = {fact.id: place for place, fact in enumerate(facts)}
    rows = [
        *_searches(memory, now),
        *_restatements(memory, facts),
        *_corrections(memory, facts, now, snapshot.config.thresholds.near),
    ]
    instant = microseconds(now)
    for row in rows:
        if row["at"] is None:
            row["flag"] = row.get("flag") or "when is not known"
        elif row["at"] > instant:
            row["flag"] = "in the future"
        elif row["id"] not in order:
            row["flag"] = "no fact has this id"
    rows.sort(key=lambda row: (order.get(row["id"], len(order)), row["at"] is None, row["at"] or 0))
    return from_rows("demand", rows)


def _searches(memory: Auditable, now: datetime) -> Iterator[Row]:
    for row in to_rows("searches", Frames(memory).searches(now)):
        if row["id"] is None or not row["counted"]:
            continue
        found = {name: row[name] for name in ("id", "at", "count", "session", "origin")}
        flag = "only its counter tells" if row["origin"] == "counter" else None
        if flag is None and row["session"] is None:
            flag = "no session: nobody is known to have searched"
        yield {**found, "kind": "search", "flag": flag}


def _restatements(memory: Auditable, facts: Sequence[Fact]) -> Iterator[Row]:
    logs = _Logs(memory)
    for fact in facts:
        for text in dict.fromkeys(fact.sources):
            if text == fact.source:
                continue
            row: Row = {"id": fact.id, "at": None, "kind": "restated", "count": 1, "origin": "record"}
            source = source_of(text)
            if source is not None and source.kind == "session" and source.unit == "seq":
                row |= {"session": source.name, "seq": source.number, "origin": "log"}
                row |= logs.time_of(source.name, source.number or 0)
            yield row


class _Logs:
    """Session logs by id, each read once."""

    def __init__(self, memory: Auditable) -> None:
        self._sessions = memory.sessions
        self._there = {one.id: one for one in memory.sessions.list()}
        self._known: dict[str, SessionLog] = {}

    def time_of(self, session: str, seq: int) -> Row:
        """``at`` of a message, or the ``flag`` that says why it is not known."""
        if session not in self._there:
            return {"flag": "its session log is not here"}
        try:
            if session not in self._known:
                self._known[session] = self._sessions.read(self._there[session])
            time = self._known[session].message_at(seq).time
        except (OSError, SelfnoteError) as error:
            return {"flag": str(error)}
        return {"at": microseconds(time)}


def clauses_of(text: str) -> list[str]:
    """What a message says, piece by piece: each clause, and up to three that stand side by side.

    A clause of a word or two stands between pieces and in none: "不对" would turn the sense of what follows. ``text``
    itself when it has no longer clause.
    """
    found: dict[str, None] = {}
    row: list[tuple[int, int]] = []
    start = 0
    for end in (*_CLAUSE_END.finditer(text), None):
        stop = end.start() if end is not None else len(text)
        if len(profile_text(text[start:stop]).folded) < LEAST_CLAUSE:
            row = []
        else:
            row = [*row, (start, stop)][-CLAUSES:]
            found |= dict.fromkeys(text[first:stop].strip() for first, _ in reversed(row))
        start = end.end() if end is not None else stop
    return list(found) or [text]


def _corrections(memory: Auditable, facts: Sequence[Fact], now: datetime, near: float) -> Iterator[Row]:
    rows = [
        row
        for row in to_rows("corrections", Frames(memory).corrections(now))
        if row["id"] is not None and row["status"] != "dismissed"
    ]
    clauses: list[Profiled] = []
    places: list[int] = []
    for place, row in enumerate(rows):
        for clause in clauses_of(row["text"]):
            clauses.append(profile_text(clause))
            places.append(place)
    best: dict[tuple[int, int], float] = {}
    against: set[tuple[int, int]] = set()
    for found in find_related(clauses, [profile_text(fact.text) for fact in facts], near=near):
        pair = (places[found.one], found.other)
        if found.relation.kind == "conflict":
            against.add(pair)
        best[pair] = max(best.get(pair, 0.0), found.relation.score)
    for (place, which), score in best.items():
        row, fact = rows[place], facts[which]
        # The very statement it was made of, or one already told as a restatement, is no further demand.
        if (place, which) in against or f"{row['session']}#{row['seq']}" in {fact.source, *fact.sources}:
            continue
        yield {
            **{name: row[name] for name in ("at", "session", "seq")},
            "id": fact.id,
            "kind": "correction",
            "count": 1,
            "correction": row["id"],
            "score": score,
            "origin": "record",
        }


# --- how long until the next one ----------------------------------------------------------------------
def spells(memory: Auditable, *, now: datetime) -> pd.DataFrame:
    """The times from approval or one demand to the next: frame ``spells``, what `survival` and `fit` are computed from.

    A fact is watched from its approval, but not before our ledgers began, since no search could be known then; where
    only a counter tells of searches, from the first demand whose time is known. The last spell ends, unobserved, with
    its retirement or now. Facts that were never approved, or whose approval or retirement has no time, have none.
    """
    now = require_aware(now)
    began = _ledger_start(memory, now)
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    rows: list[Row] = []
    if began is not None:
        found: dict[str, dict[int, str]] = {}
        hidden: set[str] = set()
        for row in to_rows("demand", demand(memory, now=now)):
            if row["origin"] == "counter":
                hidden.add(row["id"])
            elif row["flag"] is None:
                found.setdefault(row["id"], {}).setdefault(row["at"], row["kind"])
        for fact in snapshot.facts_file.value.facts:
            window = _watched(fact, began, now)
            if window is not None:
                rows += _spells_of(fact, *window, found.get(fact.id, {}), hidden=fact.id in hidden)
    return from_rows("spells", rows)


def _ledger_start(memory: Auditable, now: datetime) -> int | None:
    """When our ledgers began; None when there is no line in either."""
    times = [*(line.at for line in read_hits(memory.home)[0]), *(line.at for line in read_seen(memory.home)[0])]
    return microseconds(min((at for at in times if at is not None and at <= now), default=None))


def _watched(fact: Fact, began: int, now: datetime) -> tuple[int, int] | None:
    """From when to when a fact was approved and its demand would be known."""
    if fact.approved_at is None or fact.approved_at > now or fact.status == "candidate":
        return None
    end: datetime | None = now
    if fact.status == "retired":
        changes = [item.at for item in fact.history if item.field is None and item.to == "retired"]
        end = changes[-1] if changes else None
    if end is None or end > now:
        return None
    start = max(microseconds(fact.approved_at), began)
    return (start, microseconds(end)) if start < microseconds(end) else None


def _spells_of(fact: Fact, start: int, end: int, events: dict[int, str], *, hidden: bool) -> Iterator[Row]:
    shared = {"id": fact.id, "channel": fact.channel, "tag": fact.tags[0] if fact.tags else None}
    instants = [at for at in sorted(events) if start < at <= end or (hidden and at == start)]
    if hidden:
        if not instants:
            return
        start, *instants = instants
    for at in instants:
        yield {**shared, "start": start, "end": at, "days": (at - start) / _DAY, "observed": True, "kind": events[at]}
        start = at
    if start < end:
        yield {**shared, "start": start, "end": end, "days": (end - start) / _DAY, "observed": False}


def survival(memory: Auditable, *, now: datetime, by: str | None = None) -> pd.DataFrame:
    """Which share of the facts is not needed again, by days since approval or the last demand: frame ``survival``.

    Kaplan-Meier over `spells`, with the log-log band of `scipy.stats.ecdf`. The band takes the spells for independent;
    those of one fact are not quite, so that it is rather too narrow. A group with fewer than ``LEAST_EVENTS`` demands
    says so in ``flag``: its curve is there to look at, not to conclude from.

    Parameters
    ----------
    by
        "tag" (the first) or "channel"; None: all facts together.

    Raises
    ------
    NotFound
        When ``by`` is no group, or scipy is not installed.
    """
    rows: list[Row] = []
    language = _language(memory)
    for group, members in _groups(spells(memory, now=now), by):
        n_events = sum(row["observed"] for row in members)
        flag = NOT_ENOUGH[language].format(n=n_events) if n_events < LEAST_EVENTS else None
        shared = {"by": by, "group": group, "n_spells": len(members), "n_events": n_events, "flag": flag}
        days = np.array([row["days"] for row in members], dtype=np.float64)
        observed = np.array([row["observed"] for row in members], dtype=np.bool_)
        rows += [{**shared, **step._asdict()} for step in kaplan_meier(days, observed)]
    return from_rows("survival", rows)


class Step(NamedTuple):
    """One point of a survival curve; ``low`` and ``high`` None where the band is not defined."""

    time_days: float
    survival: float
    low: float | None
    high: float | None
    at_risk: int
    events: int


def kaplan_meier(days: Numbers, observed: NDArray[np.bool_], level: float = LEVEL) -> list[Step]:
    """The survival curve of spells of ``days``, right-censored where not ``observed``; it starts at day 0 with 1.

    Raises
    ------
    NotFound
        When scipy is not installed.
    """
    if not len(days):
        return []
    stats = _stats()
    curve = stats.ecdf(stats.CensoredData(uncensored=days[observed], right=days[~observed])).sf
    with warnings.catch_warnings():
        # Where no spell ended yet, or all have, the band is not defined: null in the frame.
        warnings.simplefilter("ignore", RuntimeWarning)
        band = curve.confidence_interval(level, method="log-log")
    steps = [Step(0.0, 1.0, None, None, len(days), 0)]
    for time, share, low, high in zip(
        curve.quantiles, curve.probabilities, band.low.probabilities, band.high.probabilities, strict=True
    ):
        at_risk, events = int((days >= time).sum()), int((days[observed] == time).sum())
        steps.append(Step(float(time), float(share), _known(low), _known(high), at_risk, events))
    return steps


# --- one number for it --------------------------------------------------------------------------------
def fit(memory: Auditable, *, now: datetime, by: str | None = None) -> pd.DataFrame:
    """The half-life of demand: frame ``fit``, one row for all facts, then with ``by`` one for each group.

    If every fact of a group were needed at one constant rate, half would be needed again within ``half_life`` days.
    That is an assumption: `survival` shows how far it holds, and ``dispersion`` how far the facts differ. Fewer than
    ``LEAST_EVENTS`` demands are not fitted, and say so. It is another thing than the half-life of heat, which nothing
    sets by itself.

    Raises
    ------
    NotFound
        When ``by`` is no group, or scipy is not installed.
    """
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    found = spells(memory, now=now)
    return from_rows(
        "fit",
        [
            {"by": name, **_fit_row(group, members, snapshot)}
            for name in ((None, by) if by is not None else (None,))
            for group, members in _groups(found, name)
        ],
    )


def _fit_row(group: str | None, members: Sequence[Row], snapshot: Snapshot) -> Row:
    by_fact: dict[str, tuple[int, float]] = {}
    for row in members:
        events, exposure = by_fact.get(row["id"], (0, 0.0))
        by_fact[row["id"]] = (events + row["observed"], exposure + row["days"])
    n_events, exposure = sum(row["observed"] for row in members), math.fsum(row["days"] for row in members)
    shared = {
        "group": group,
        "n_facts": len(by_fact),
        "n_spells": len(members),
        "n_events": n_events,
        "exposure_days": exposure,
        "level": LEVEL,
        "configured": snapshot.config.half_life_days,
    }
    if n_events < LEAST_EVENTS:
        return {**shared, "flag": NOT_ENOUGH[snapshot.config.language].format(n=n_events)}
    return {**shared, **fit_half_life(n_events, exposure)._asdict(), "dispersion": dispersion(by_fact.values())}


class HalfLife(NamedTuple):
    """A half-life in days with its interval."""

    half_life: float
    low: float
    high: float


def fit_half_life(events: int, exposure_days: float, level: float = LEVEL) -> HalfLife:
    """The maximum-likelihood half-life of a constant rate from right-censored spells, with its exact interval.

    ``ln 2 × exposure / events``. The interval is Garwood's for the number of events in that exposure, from quantiles of
    chi square: it covers at least at ``level`` where the exposure was fixed beforehand, as it is when watching ends at
    a date.

    Raises
    ------
    NotFound
        When scipy is not installed.
    """
    quantile = _stats().chi2.ppf
    tail = (1 - level) / 2
    slow, fast = quantile(tail, 2 * events) / 2, quantile(1 - tail, 2 * events + 2) / 2
    scale = math.log(2) * exposure_days
    return HalfLife(scale / events, float(scale / fast), float(scale / slow) if slow > 0 else math.inf)


def dispersion(facts: Iterable[tuple[int, float]]) -> float | None:
    """Pearson's chi square of (events, exposure) of facts against one rate, by degree of freedom; None for one fact."""
    known = [(events, exposure) for events, exposure in facts if exposure > 0]
    total, whole = sum(events for events, _ in known), math.fsum(exposure for _, exposure in known)
    if len(known) < 2 or not total:
        return None
    expected = [total * exposure / whole for _, exposure in known]
    squares = ((events - wanted) ** 2 / wanted for (events, _), wanted in zip(known, expected, strict=True))
    return math.fsum(squares) / (len(known) - 1)


# --- small things -------------------------------------------------------------------------------------
def _groups(found: pd.DataFrame, by: str | None) -> list[tuple[str | None, list[Row]]]:
    """Group -> its spells, by name, those without one last; all together when ``by`` is None."""
    if by is not None and by not in _GROUPS:
        raise NotFound(f"by={by!r} is no group of facts; there are {', '.join(_GROUPS)}")
    rows = to_rows("spells", found)
    if by is None:
        return [(None, rows)] if rows else []
    groups: dict[str | None, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[by], []).append(row)
    return sorted(groups.items(), key=lambda one: (one[0] is None, one[0] or ""))


def _language(memory: Auditable) -> str:
    return read_snapshot(memory.home, zone=memory.zone_override).config.language


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _stats() -> Any:
    """scipy.stats. Raises NotFound when it is not installed."""
    try:
        from scipy import stats
    except ImportError as error:
        raise NotFound("scipy is not installed; survival curves need it: pip install 'selfnote[survival]'") from error
    return stats
