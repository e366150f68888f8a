"""How facts cool, who leaves the text when, and what another half-life would do (UC-003, S2-168..175).

Heat measures how much place a fact has taken lately, not what it is worth (S2-104). Whether it is needed is measured in
`demand`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from pydantic import ValidationError

from selfnote.audit import heat as heats
from selfnote.audit.report import Auditable
from selfnote.audit.scenarios import count_hits, inside
from selfnote.audit.schema import NO_TIME, conform, from_rows, microseconds
from selfnote.config import HIT_MERGE, TOTAL_BUDGET, Config
from selfnote.errors import LimitExceeded, NotFound
from selfnote.injection.assemble import Injection, Snapshot, assemble, basis_of_snapshot, read_snapshot
from selfnote.injection.rotation import choose, sort_candidates
from selfnote.injection.segments import Prepared
from selfnote.records.fact_lines import Fact
from selfnote.records.heat import future_times, heat, order_key
from selfnote.records.ledger import read_hits
from selfnote.times import SECONDS_A_DAY, days_since_epoch, local_date, require_aware, to_milliseconds

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from selfnote.audit.heat import Instants, Numbers

#: Half-lives an owner may want to compare, in days (S2-172: 1 to 365).
HALF_LIVES = (7, 14, 30, 60, 90, 180)
#: Days of the ledger from which the pace of late is measured, and the counting hours a day where it tells none.
PACE_DAYS = 28
ASSUMED_PER_DAY = 8.0
_DAY = 86_400_000_000
_HOUR = timedelta(seconds=HIT_MERGE)
_GROUPS = ("tag", "channel", "segment")


# --- the past of a fact -------------------------------------------------------------------------------
class _Past(NamedTuple):
    """What is known of a fact's hits: their instants, and from when on their number is known.

    Instants in microseconds since 1970 UTC, ascending. ``last_hit`` is a last hit that lies ahead, else NO_TIME;
    ``changes`` are the instants at which a person changed the importance, ``importance`` the value before each and now.
    """

    hits: Instants
    hit_count: int
    known_from: int
    complete: bool
    last_hit: int
    approved_at: int
    created_at: int
    changes: Instants
    importance: Numbers

    @property
    def start(self) -> int:
        """When the fact began to be."""
        known = [one for one in (self.created_at, self.approved_at) if one != NO_TIME]
        return min(known, default=NO_TIME)

    def is_approved(self, at: Instants) -> NDArray[np.bool_]:
        """Whether it was approved by each instant."""
        return np.full(at.shape, self.approved_at != NO_TIME) & (self.approved_at <= at)


def _counted_hits(memory: Auditable, now: datetime) -> dict[str, list[int]]:
    """Fact -> the instants of the hits the ledger says were counted, up to ``now``."""
    found: dict[str, list[int]] = {}
    for line in read_hits(memory.home)[0]:
        if line.at is not None and line.at <= now:
            for identifier in dict.fromkeys(map(str, line.counted)):
                found.setdefault(identifier, []).append(microseconds(line.at))
    return found


def _past_of(fact: Fact, counted: Sequence[int], now: datetime) -> _Past:
    """The past of a fact, counted back from its counter, so that it ends in the heat of now.

    The ledger's hits after lastHit are none of the counter's. Hits the ledger lacks are taken to be older than the
    first one whose time is known: before that one the heat is not known.
    """
    last = fact.last_hit
    ahead = last is not None and last > now
    hits: Instants = np.zeros(0, dtype=np.int64)
    if last is not None and not ahead:
        end = microseconds(last)
        hits = np.unique(np.array([*(one for one in counted if one <= end), end], dtype=np.int64))
    known_from = NO_TIME
    if fact.hit_count > len(hits):
        known_from = int(hits[0]) if len(hits) else microseconds(now)
    changes = [
        (microseconds(item.at), float(item.old))
        for item in fact.history
        if item.field == "importance" and item.at is not None and item.at <= now and isinstance(item.old, int | float)
    ]
    return _Past(
        hits,
        fact.hit_count,
        known_from,
        fact.hit_count <= len(set(hits.tolist()) & set(counted)),
        microseconds(last) if last is not None and ahead else NO_TIME,
        NO_TIME if fact.approved_at is None else microseconds(fact.approved_at),
        NO_TIME if fact.created_at is None else microseconds(fact.created_at),
        np.maximum.accumulate(np.array([at for at, _ in changes], dtype=np.int64)),
        np.array([*(old for _, old in changes), fact.importance], dtype=np.float64),
    )


class _Warmth(NamedTuple):
    """Heat and what it is computed from at some instants."""

    hits: Numbers
    importance: Numbers
    heat: Numbers


def _warmth(past: _Past, at: Instants, half_life_days: float, *, before: NDArray[np.bool_] | None = None) -> _Warmth:
    """The heat at each instant by the exact formula (S2-168); NaN where the number of hits is not known.

    ``before`` marks instants at which a hit of the very same instant has not happened yet.
    """
    place = np.searchsorted(past.hits, at, side="right")
    if before is not None:
        place = np.where(before, np.searchsorted(past.hits, at, side="left"), place)
    hits = np.maximum(past.hit_count - (len(past.hits) - place), 0).astype(np.float64)
    reference = np.where(place > 0, np.append(past.hits, NO_TIME)[place - 1], NO_TIME)
    for instant in (past.last_hit, past.approved_at, past.created_at):
        reference = np.maximum(reference, np.where(instant <= at, instant, NO_TIME))
    reference = np.where(reference == NO_TIME, 0, reference)
    importance = past.importance[np.searchsorted(past.changes, at, side="right")]
    days = np.maximum((at - reference) / _DAY, 0.0)
    warm = heats.heat(hits, importance, days, half_life_days)
    unknown = (at < past.known_from) | ((at == past.known_from) & (before if before is not None else False))
    return _Warmth(np.where(unknown, np.nan, hits), importance, np.where(unknown, np.nan, warm))


def curves(
    memory: Auditable,
    *,
    now: datetime,
    until_days: float = 90,
    since_days: float = 90,
    step_days: float = 1,
    ids: Iterable[str] | None = None,
    by: str | None = None,
) -> pd.DataFrame:
    """The heat of facts over time: frame ``curves``, or ``group_curves`` with ``by``.

    The past is computed from the hits the ledger counted, each a step; the future as if nothing were hit any more.
    Importance counts as it was at the time. Facts approved now; a retired one only when ``ids`` names it, so totals of
    the past lack what has been retired since. A fact has a row for each step and two for each hit: of a large memory
    name the ``ids`` to look at.

    Parameters
    ----------
    now
        UTC-aware.
    until_days, since_days, step_days
        How far to look ahead and back, and how often, in days.
    ids
        Which facts; None: all that are approved.
    by
        "tag" (the first), "channel" or "segment" (where a fact stands now): sum and median of the group, without steps.

    Raises
    ------
    NotFound
        When no fact has one of the ids, or ``by`` is no group.
    LimitExceeded
        When a number of days is negative or ``step_days`` is not over 0.
    """
    now = require_aware(now)
    if by is not None and by not in _GROUPS:
        raise NotFound(f"by={by!r} is no group of facts; there are {', '.join(_GROUPS)}")
    for name, value in (("until_days", until_days), ("since_days", since_days), ("step_days", step_days)):
        if not 0 <= value < math.inf or (name == "step_days" and value == 0):
            raise LimitExceeded(f"{name}={value!r} is no length of time; give days, e.g. 90")
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    facts = _pick(snapshot, ids)
    counted = _counted_hits(memory, now)
    pasts = [_past_of(fact, counted.get(fact.id, ()), now) for fact in facts]
    steps = np.arange(-math.floor(since_days / step_days), math.floor(until_days / step_days) + 1)
    grid: Instants = microseconds(now) + np.round(steps * step_days * _DAY).astype(np.int64)
    if by is None:
        return _each(facts, pasts, grid, now, snapshot.config.half_life_days)
    return _grouped(_group_facts(snapshot, facts, now, by), pasts, grid, now, snapshot.config.half_life_days, by=by)


def _pick(snapshot: Snapshot, ids: Iterable[str] | None) -> list[Fact]:
    if ids is None:
        return list(snapshot.approved)
    wanted = list(dict.fromkeys([ids] if isinstance(ids, str) else ids))
    known = snapshot.facts_file.value.by_id
    missing = [one for one in wanted if one not in known]
    if missing:
        raise NotFound(f"no fact has the id {', '.join(missing)}; m.facts.all() lists them")
    return [known[one] for one in wanted]


def _each(
    facts: Sequence[Fact], pasts: Sequence[_Past], grid: Instants, now: datetime, half_life_days: float
) -> pd.DataFrame:
    instant, first = microseconds(now), int(grid[0])
    parts: dict[str, list[Any]] = {
        name: [] for name in ("at", "hits", "importance", "heat", "hit", "approved", "origin")
    }
    identifiers: list[str] = []
    flags: list[str | None] = []
    for fact, past in zip(facts, pasts, strict=True):
        start = max(first, min(past.start, instant))
        hits = past.hits[past.hits >= start]
        plain = np.setdiff1d(np.append(grid[grid >= start], start), hits)
        at = np.concatenate([plain, hits, hits])
        # At the instant of a hit: the row before it, then the row after it.
        stage = np.concatenate([np.zeros(len(plain)), np.zeros(len(hits)), np.ones(len(hits))])
        before = np.concatenate([np.zeros(len(plain), bool), np.ones(len(hits), bool), np.zeros(len(hits), bool)])
        order = np.lexsort((stage, at))
        at, before = at[order], before[order]
        warm = _warmth(past, at, half_life_days, before=before)
        origin = np.where(np.isnan(warm.heat), "unknown", "ledger" if past.complete else "counter")
        parts["at"].append(at)
        parts["hits"].append(warm.hits)
        parts["importance"].append(warm.importance)
        parts["heat"].append(warm.heat)
        parts["hit"].append(stage[order] == 1)
        parts["approved"].append(past.is_approved(at))
        parts["origin"].append(np.where(at > instant, "projection", origin))
        identifiers += [fact.id] * len(at)
        flag = "; ".join([*fact.problems, *(f"{name} is in the future" for name in future_times(fact, now))])
        flags += [flag or None] * len(at)
    columns = {name: np.concatenate(found) if found else np.zeros(0) for name, found in parts.items()}
    return conform(
        "curves",
        {
            **columns,
            "id": identifiers,
            "at": columns["at"].astype(np.int64),
            "hits": [None if math.isnan(one) else int(one) for one in columns["hits"]],
            "hit": columns["hit"].astype(bool),
            "approved": columns["approved"].astype(bool),
            "origin": columns["origin"].astype(object),
            "flag": flags,
        },
    )


def _group_facts(snapshot: Snapshot, facts: Sequence[Fact], now: datetime, by: str) -> dict[str | None, list[int]]:
    """Group -> places of its facts."""
    segments: dict[str, str] = {}
    if by == "segment":
        segments = inside(assemble(snapshot, now, choice=snapshot.rotation_file.value))
    groups: dict[str | None, list[int]] = {}
    for place, fact in enumerate(facts):
        tag = fact.tags[0] if fact.tags else None
        group = tag if by == "tag" else fact.channel if by == "channel" else segments.get(fact.id, "out")
        groups.setdefault(group, []).append(place)
    return groups


def _grouped(
    groups: Mapping[str | None, Sequence[int]],
    pasts: Sequence[_Past],
    grid: Instants,
    now: datetime,
    half_life_days: float,
    *,
    by: str,
) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for group, members in groups.items():
        warm = np.array([_warmth(pasts[one], grid, half_life_days).heat for one in members])
        approved = np.array([pasts[one].is_approved(grid) for one in members])
        for column, at in enumerate(grid.tolist()):
            here = warm[approved[:, column], column]
            known = here[~np.isnan(here)]
            rows.append(
                {
                    "by": by,
                    "group": group,
                    "at": at,
                    "n": len(known),
                    "unknown": len(here) - len(known),
                    "total": float(known.sum()),
                    "median": float(np.median(known)) if len(known) else None,
                    "projection": at > microseconds(now),
                }
            )
    return from_rows("group_curves", rows)


# --- who leaves, and when -----------------------------------------------------------------------------
Scenario = Literal["idle", "continued"]


class _Moment(NamedTuple):
    """The text from ``at`` on, and everything in it: id -> segment."""

    at: datetime
    injection: Injection
    inside: dict[str, str]


def leaving(memory: Auditable, *, now: datetime, until_days: float = 180, per_day: float | None = None) -> pd.DataFrame:
    """Who leaves the text when, and for whom: frame ``leaving``, a row for each scenario and entry ever inside.

    Nobody edits, approves or retires anything in either scenario.

    ``idle``: nobody talks to the agent until then; the text is the one the first turn then would get. Two facts stand
    in the same order of heat at every instant as long as neither is hit, so time alone overtakes no fact: what leaves
    does so because the hour turned (env gives way to who is due), a note expired, or a time in the future came.

    ``continued``: turns go on, ``per_day`` of them an hour or more apart and evenly spread, and each counts a hit for
    the facts in it, as `compose` does. Who is inside gets hotter, who is outside cools: profile and conclusions do not
    change by themselves, env goes round.

    Both run the real `assemble` with ``now`` moved, on the owner's midnights and on each turn; an instant in the frame
    is as exact as that. The text of now is the one `m.assemble` shows, the hour's kept choice. Each turn is one
    packing: of thousands of facts look ahead by weeks.

    Parameters
    ----------
    per_day
        Counting hours a day, at most 24; None: as many as the ledger has of the last 28 days, 8 where it has none.

    Raises
    ------
    LimitExceeded
        When ``until_days`` is not over 0, or ``per_day`` not over 0 and at most 24.
    """
    now = require_aware(now)
    if not 0 < until_days < math.inf:
        raise LimitExceeded(f"until_days={until_days!r} is no length of time; give days, e.g. 180")
    if per_day is not None and not 0 < per_day <= 24:
        raise LimitExceeded(f"per_day={per_day!r} is not over 0 and at most 24: hits count once an hour")
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    pace = per_day if per_day is not None else measured_pace(memory, now=now) or ASSUMED_PER_DAY
    until = now + timedelta(days=until_days)
    rows: list[dict[str, Any]] = []
    for scenario, moments in (
        # Each with facts prepared anew: what was prepared of a later instant does not hold at an earlier one.
        ("idle", _idle(replace(snapshot, earlier=None), now, until)),
        ("continued", _continued(replace(snapshot, earlier=None), now, until, pace)),
    ):
        shared = {"scenario": scenario, "per_day": pace if scenario == "continued" else None}
        rows += [{**shared, **row} for row in _follow(moments, now, until)]
    return from_rows("leaving", rows)


def measured_pace(memory: Auditable, *, now: datetime) -> float | None:
    """Counting hours a day of the last 28 days, or since the ledger began; None when it counts none in that time."""
    since = now - timedelta(days=PACE_DAYS)
    times = [line.at for line in read_hits(memory.home)[0] if line.at is not None and line.at <= now and line.counted]
    counted = [at for at in times if at > since]
    if not counted:
        return None
    days = min(float(PACE_DAYS), max(1.0, (now - min(times)).total_seconds() / SECONDS_A_DAY))
    return min(24.0, len(counted) / days)


def _idle(snapshot: Snapshot, now: datetime, until: datetime) -> Iterator[_Moment]:
    kept = snapshot.rotation_file.value
    yield _moment(now, assemble(snapshot, now, choice=kept))
    turn = now
    if kept is not None and kept.since is not None and not kept.has_expired(now):
        turn = kept.since + _HOUR
    instants = {turn, *_midnights(snapshot, now, until)}
    for fact in snapshot.approved:
        instants.update(at for at in (fact.last_hit, fact.approved_at, fact.created_at) if at is not None and at > now)
    for at in sorted(one for one in instants if one <= until):
        expired = kept is None or kept.has_expired(at)
        yield _moment(at, assemble(snapshot, at, choice=None if expired else kept))


def _continued(snapshot: Snapshot, now: datetime, until: datetime, per_day: float) -> Iterator[_Moment]:
    kept = snapshot.rotation_file.value
    yield _moment(now, assemble(snapshot, now, choice=kept))
    at = now
    if kept is not None and kept.since is not None and not kept.has_expired(now):
        at = kept.since + _HOUR
    while at <= until:
        injection = assemble(snapshot, at, choice=None)
        yield _moment(at, injection)
        snapshot, _ = count_hits(snapshot, injection, to_milliseconds(at))
        at += timedelta(days=1) / per_day


def _midnights(snapshot: Snapshot, now: datetime, until: datetime) -> Iterator[datetime]:
    """The owner's midnights, by the rules of his zone."""
    day = local_date(now, snapshot.zone)
    while True:
        day += timedelta(days=1)
        local = datetime.combine(day, time(), tzinfo=snapshot.zone)
        at = local.astimezone(now.tzinfo)
        if at > until:
            return
        yield at


def _moment(at: datetime, injection: Injection) -> _Moment:
    return _Moment(at, injection, inside(injection))


@dataclass
class _Stay:
    """One entry's time in the text."""

    segment: str
    kind: str
    text: str
    entered: datetime
    left: datetime | None = None
    reason: str | None = None
    by: tuple[str, ...] = ()
    returned: datetime | None = None
    time: timedelta = timedelta()


def _follow(moments: Iterable[_Moment], now: datetime, until: datetime) -> list[dict[str, Any]]:
    """A row for each entry that is ever inside: when it enters, leaves and returns."""
    stays: dict[str, _Stay] = {}
    previous: _Moment | None = None
    first: dict[str, str] = {}
    for moment in moments:
        if previous is None:
            first = moment.inside
        else:
            _pass_time(stays, previous, moment.at)
        printed = {one.id: one for segment in moment.injection.segments.values() for one in segment.entries}
        for identifier, segment in moment.inside.items():
            stay = stays.get(identifier)
            if stay is None:
                entry = printed.get(identifier)
                kind, text = (entry.kind, entry.text) if entry is not None else ("fact", "")
                stays[identifier] = _Stay(segment, kind, text, moment.at)
            elif stay.left is not None and stay.returned is None:
                stay.returned = moment.at
        if previous is not None:
            for identifier in previous.inside.keys() - moment.inside.keys():
                if stays[identifier].left is None:
                    _leave(stays[identifier], identifier, previous, moment)
        previous = moment
    if previous is not None:
        _pass_time(stays, previous, until)
    return [
        {
            "segment": stay.segment,
            "kind": stay.kind,
            "id": identifier,
            "text": stay.text,
            "inside_now": identifier in first,
            "enters_at": None if identifier in first else microseconds(stay.entered),
            "leaves_at": microseconds(stay.left),
            "in_days": None if stay.left is None else (stay.left - now).total_seconds() / SECONDS_A_DAY,
            "reason": stay.reason,
            "by": stay.by,
            "returns_at": microseconds(stay.returned),
            "share": stay.time / (until - now),
            "until": microseconds(until),
        }
        for identifier, stay in stays.items()
    ]


def _pass_time(stays: Mapping[str, _Stay], moment: _Moment, until: datetime) -> None:
    for identifier in moment.inside:
        stays[identifier].time += until - moment.at


def _leave(stay: _Stay, identifier: str, before: _Moment, after: _Moment) -> None:
    segment = before.inside[identifier]
    stay.left = after.at
    squeezed = {one.id: one.reason for part in after.injection.segments.values() for one in part.squeezed}
    expired = identifier in after.injection.expired_notes
    stay.reason = "expired" if expired else squeezed.get(identifier, after.injection.reason)
    stay.by = tuple(one for one, place in after.inside.items() if place == segment and one not in before.inside)


# --- another half-life --------------------------------------------------------------------------------
def sweep(memory: Auditable, *, now: datetime, half_lives: Iterable[float] = HALF_LIVES) -> pd.DataFrame:
    """Each approved fact's heat, rank and place for each half-life: frame ``sweep``. The one that is set is added.

    Each text is chosen afresh by the real composer with that half-life, at this instant and with the hits as they are:
    what other half-lives would have chosen, and so counted, in the past is not replayed.

    Raises
    ------
    LimitExceeded
        When a half-life is not one a setting may have.
    """
    now = require_aware(now)
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    set_now = snapshot.config.half_life_days
    today = _look(snapshot, now, snapshot.config)
    rows: list[dict[str, Any]] = []
    for days in sorted({float(set_now), *map(float, half_lives)}):
        there = today if days == set_now else _look(snapshot, now, _with_half_life(snapshot.config, days))
        for fact in snapshot.approved:
            shared = {"half_life": days, "current": days == set_now}
            rows.append({**_what_if_row(fact, today, there), **shared})
    return from_rows("sweep", rows)


def by_tag(
    memory: Auditable,
    half_lives: Mapping[str, float],
    *,
    now: datetime,
    channels: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """What if facts of some tags cooled at another pace: frame ``by_tag``. There is no such setting: a what-if only.

    A fact takes the half-life of its first tag, else of its channel, else the one that is set. With several half-lives
    the order of two facts may change with time alone, so ranks and text hold at ``now``. Facts are put in that order
    and handed to the real `choose` and `assemble`.

    Raises
    ------
    NotFound
        When no approved fact has one of the tags, or a channel is neither rel nor env.
    LimitExceeded
        When a half-life is not one a setting may have.
    """
    now = require_aware(now)
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    config, per_channel = snapshot.config, dict(channels or {})
    for days in (*half_lives.values(), *per_channel.values()):
        _with_half_life(config, days)
    first_tags = {fact.tags[0] for fact in snapshot.approved if fact.tags}
    if missing := sorted(set(half_lives) - first_tags):
        raise NotFound(
            f"no approved fact has the first tag {', '.join(missing)}; there are {', '.join(sorted(first_tags))}"
        )
    if missing := sorted(set(per_channel) - {"rel", "env"}):
        raise NotFound(f"no channel is called {', '.join(missing)}; there are rel and env")

    def days_of(fact: Fact) -> float:
        tag = fact.tags[0] if fact.tags else None
        if tag is not None and tag in half_lives:
            return float(half_lives[tag])
        return float(per_channel.get(fact.channel, config.half_life_days))

    today = _look(snapshot, now, config)
    there = _look_by_fact(snapshot, now, {fact.id: days_of(fact) for fact in snapshot.approved})
    rows = [
        {
            **_what_if_row(fact, today, there),
            "half_life": days_of(fact),
            "changed": days_of(fact) != config.half_life_days,
        }
        for fact in snapshot.approved
    ]
    return from_rows("by_tag", rows)


class _Look(NamedTuple):
    """One way to choose: each fact's heat and rank, the text, and where each fact stands or is squeezed from."""

    heat: Mapping[str, float]
    rank: Mapping[str, int]
    inside: Mapping[str, str]
    segment: Mapping[str, str]


def _look(snapshot: Snapshot, now: datetime, config: Config) -> _Look:
    days = config.half_life_days
    order = [one.id for one in snapshot.competing.prepare(now, days)]
    warm = {fact.id: heat(fact, now, days) for fact in snapshot.approved}
    return _look_at(order, warm, assemble(snapshot, now, config=config, choice=None))


def _look_by_fact(snapshot: Snapshot, now: datetime, days: Mapping[str, float]) -> _Look:
    """The same with a half-life for each fact: the order is that of heat at ``now``."""
    config, today = snapshot.config, days_since_epoch(now)
    limits = config.budgets()

    def by_heat(one: Prepared) -> tuple[float, float, str]:
        half_life = days[one.id]
        # The logarithm of heat: heat itself may be too small for a number.
        warmth = order_key(one.fact, now, half_life) - math.log(2) * today / half_life
        return (-warmth, one.by_heat[1], one.id)

    candidates = sort_candidates(snapshot.competing, config, limits, now)
    rel, env = (tuple(sorted(facts, key=by_heat)) for facts in (candidates.rel, candidates.env))
    fixed = assemble(snapshot, now, choice=None).segments
    choice = choose(
        candidates._replace(rel=rel, env=env),
        limits,
        basis=basis_of_snapshot(snapshot, config, limits),
        since=None,
        room=TOTAL_BUDGET - fixed["persona"].used - fixed["notes"].used,
    )
    order = [one.id for one in sorted(snapshot.competing.prepare(now, config.half_life_days), key=by_heat)]
    warm = {fact.id: heat(fact, now, days[fact.id]) for fact in snapshot.approved}
    return _look_at(order, warm, assemble(snapshot, now, choice=choice))


def _look_at(order: Sequence[str], warm: Mapping[str, float], injection: Injection) -> _Look:
    there = inside(injection)
    squeezed = {one.id: name for name, segment in injection.segments.items() for one in segment.squeezed}
    return _Look(warm, {one: rank for rank, one in enumerate(order, start=1)}, there, {**squeezed, **there})


def _what_if_row(fact: Fact, today: _Look, there: _Look) -> dict[str, Any]:
    identifier = fact.id
    was, would = identifier in today.inside, identifier in there.inside
    return {
        "id": identifier,
        "text": fact.text,
        "channel": fact.channel,
        "tag": fact.tags[0] if fact.tags else None,
        "heat": there.heat[identifier],
        "rank": there.rank[identifier],
        "change": today.rank[identifier] - there.rank[identifier],
        "inside": would,
        "segment": there.segment.get(identifier),
        "moves": None if was == would else "enters" if would else "leaves",
        "heat_now": today.heat[identifier],
        "rank_now": today.rank[identifier],
        "inside_now": was,
    }


def _with_half_life(config: Config, days: float) -> Config:
    """The settings with another half-life. Raises LimitExceeded when no setting may be so."""
    try:
        checked = Config.model_validate({"halfLifeDays": days})
    except ValidationError as error:
        raise LimitExceeded(f"half-life {days!r}: {error.errors()[0]['msg']}; a half-life is 1 to 365 days") from error
    return config.model_copy(update={"half_life_days": checked.half_life_days})
