"""Why an approved fact is not in use, and who should get the next characters (UC-004, S2-096..105).

Two kinds of nothing are kept apart (COMPLAINTS 16): a fact that never stood in a text had no chance, and nothing tells
whether it would have been of use; one that stood in texts and went cold had its chance. Injected, searched and
re-stated are columns of their own and never added up (S2-103, COMPLAINTS 19).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from selfnote.audit.rotation import require_whole
from selfnote.audit.scenarios import inside
from selfnote.audit.schema import from_rows, microseconds
from selfnote.audit.squeeze import Packing, packing
from selfnote.config import DEFAULT_IMPORTANCE, TOTAL_BUDGET
from selfnote.injection.assemble import HasHome, Snapshot
from selfnote.injection.explain import Attribution, attribute
from selfnote.injection.segments import (
    CONFLICT,
    LONGER_THAN_HALF,
    LONGER_THAN_SEGMENT,
    NO_ROOM,
    NOTHING_PRINTABLE,
    Squeezed,
)
from selfnote.records.attribution import attribution_state
from selfnote.records.fact_lines import Fact
from selfnote.records.ledger import HitLine, read_hits
from selfnote.text import safe
from selfnote.times import EPOCH, SECONDS_A_DAY

if TYPE_CHECKING:
    import pandas as pd

#: How long after its approval a fact is too new to be judged: one that is hot enough, or has its first turn in env, is
#: in the text within hours of use, and two days nearly always hold such hours.
GRACE = timedelta(days=2)
#: Entries named as squeezing a fact, and reasons listed, in one row of ``silence``.
NAMED = 3
LAST_REASONS = 5


# --- what the ledger tells of one fact ------------------------------------------------------------
@dataclass
class History:
    """What the texts recorded since a fact was approved did with it."""

    opportunities: int = 0
    since_last: int = 0
    times_in: int = 0
    times_squeezed: int = 0
    least_short: int | None = None
    by: Counter[tuple[str, str]] = field(default_factory=Counter)
    by_segment: Counter[str] = field(default_factory=Counter)
    reasons: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_REASONS))

    def was_in(self) -> None:
        """It stood in one more text, or was absorbed."""
        self.opportunities += 1
        self.times_in += 1
        self.since_last = 0

    def was_out(self, *, after_last: bool) -> None:
        """One more text was without it; ``after_last`` is whether its counter knows of no later injection."""
        self.opportunities += 1
        self.since_last += after_last

    def was_squeezed(self, segment: str, entries: Iterable[str], missing: int, reason: str) -> None:
        """It was squeezed out of a segment in which these entries stood, ``missing`` code points short."""
        self.reasons.appendleft(reason)
        if reason != NO_ROOM:
            return
        self.times_squeezed += 1
        self.by.update((segment, one) for one in entries)
        self.by_segment[segment] += 1
        self.least_short = missing if self.least_short is None else min(self.least_short, missing)


def read_histories(facts: Sequence[Fact], lines: Iterable[HitLine], now: datetime) -> dict[str, History]:
    """Id -> what the ledger's texts up to ``now`` did with each fact since its approval."""
    since = {fact.id: known_since(fact, now) for fact in facts}
    last = {fact.id: _last_hit(fact, now) for fact in facts}
    histories = {fact.id: History() for fact in facts}
    dated = [(line.at, line) for line in lines if line.at is not None and line.at <= now]
    for at, line in sorted(dated, key=lambda one: one[0]):
        entered = {str(one) for ids in line.ids.values() for one in ids} | {str(one) for one in line.absorbed}
        out = {row[0]: (segment, *row[1:]) for segment, rows in line.squeezed.items() for row in rows}
        for identifier, history in histories.items():
            if at < since[identifier]:
                continue
            if identifier in entered:
                history.was_in()
                continue
            history.was_out(after_last=at > last[identifier])
            if identifier in out:
                segment, needs, left, reason = out[identifier]
                history.was_squeezed(segment, map(str, line.ids.get(segment, ())), needs - left, reason)
    return histories


def known_since(fact: Fact, now: datetime) -> datetime:
    """When it was approved; where that is unknown or in the future, when it was kept; else 1970."""
    times = (fact.approved_at, fact.created_at)
    return next((time for time in times if time is not None and time <= now), EPOCH)


def _last_hit(fact: Fact, now: datetime) -> datetime:
    return fact.last_hit if fact.last_hit is not None and fact.last_hit <= now else EPOCH


# --- why ------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Evidence:
    """All that is known of one approved fact: where it stands now, what became of it, and what else was injected."""

    place: Attribution
    inside: bool
    history: History
    now: datetime
    newest_hit: datetime
    off: bool

    @cached_property
    def went_in(self) -> bool:
        """Whether it ever stood in a text, as far as ledger or counter know."""
        return self.history.times_in > 0 or self.place.fact.hit_count > 0

    @cached_property
    def too_new(self) -> bool:
        """Whether its approval is within the grace period."""
        return self.now - known_since(self.place.fact, self.now) < GRACE

    @cached_property
    def _used_since(self) -> bool:
        """Whether anything was injected since its approval."""
        return self.history.opportunities > 0 or self.newest_hit > known_since(self.place.fact, self.now)

    @cached_property
    def _nothing_since(self) -> bool:
        """Whether nothing was injected since it last stood in a text, or since its approval when it never did."""
        if self.history.since_last > 0:
            return False
        fact = self.place.fact
        last = max(_last_hit(fact, self.now), known_since(fact, self.now))
        return self.history.times_in > 0 or self.newest_hit <= last

    @cached_property
    def cause(self) -> str:
        """A key of ``phrases.CAUSE_LABELS``: the first that holds."""
        reason = self.place.squeezed.reason if self.place.squeezed is not None else None
        cases = (
            ("absorbed", self.place.absorbed),
            ("conflict", reason == CONFLICT),
            ("in use", self.place.state == "active"),
            ("unprintable", reason == NOTHING_PRINTABLE),
            ("too long", reason in {LONGER_THAN_SEGMENT, LONGER_THAN_HALF}),
            ("off", self.off),
            ("too new", self.too_new),
            ("next", self.inside),
            ("no chance", self._nothing_since),
            ("cold", self.went_in),
        )
        return next((name for name, holds in cases if holds), "squeezed")

    @cached_property
    def chance(self) -> str:
        """used, lost (it stood in texts before) or none (it never did)."""
        if self.place.state == "active" or self.place.absorbed:
            return "used"
        return "lost" if self.went_in else "none"

    @cached_property
    def zombie(self) -> bool:
        """Whether it is kept for nothing so far, old enough to tell."""
        searched = self.place.fact.seen_count > 0
        return self.chance != "used" and not searched and not self.too_new and self._used_since


def _gather(memory: HasHome, now: datetime) -> tuple[Packing, list[Evidence]]:
    room = packing(memory, now)
    facts = room.snapshot.approved
    try:
        lines, _ = read_hits(memory.home)
    except OSError:
        lines = []
    histories = read_histories(facts, lines, room.now)
    newest = max((_last_hit(fact, room.now) for fact in facts), default=EPOCH)
    entered, off = inside(room.text), room.text.reason == "off"
    return room, [
        Evidence(
            place, place.fact.id in entered and not place.absorbed, histories[place.fact.id], room.now, newest, off
        )
        for place in attribute(room.snapshot, room.text, room.now)
    ]


def by_cause(memory: HasHome, *, now: datetime) -> pd.DataFrame:
    """One row an approved fact, in file order: its state, and why it is not in use: the frame ``silence``.

    A line of facts.jsonl that cannot be read is a row with its ``line`` and ``flag``. Nothing is written.
    """
    room, evidence = _gather(memory, now)
    facts_file = room.snapshot.facts_file
    rows = [_silence_row(one) for one in evidence]
    rows += [{"line": one.line, "flag": one.reason} for one in facts_file.value.bad_lines]
    rows.sort(key=lambda row: row["line"])
    return from_rows("silence", [*rows, *([{"flag": facts_file.problem}] if facts_file.problem else [])])


def _silence_row(one: Evidence) -> dict[str, Any]:
    place, fact, history = one.place, one.place.fact, one.history
    squeezed = place.squeezed
    named: Counter[str] = Counter()
    for (_, identifier), times in history.by.items():
        named[identifier] += times
    most = sorted(named.items(), key=lambda item: (-item[1], item[0]))[:NAMED]
    since = known_since(fact, one.now)
    return {
        "id": fact.id,
        "text": fact.text,
        "length": len(safe(fact.text)),
        "channel": fact.channel,
        "tag": fact.tags[0] if fact.tags else None,
        "state": place.state,
        "cause": one.cause,
        "chance": one.chance,
        "zombie": one.zombie,
        "segment": place.segment,
        "inside": one.inside,
        "needs": squeezed.needs if squeezed is not None else None,
        "left": squeezed.left if squeezed is not None else None,
        "reason": squeezed.reason if squeezed is not None else None,
        "opportunities": history.opportunities,
        "since_last": history.since_last,
        "times_in": history.times_in,
        "times_squeezed": history.times_squeezed,
        "least_short": history.least_short,
        "squeezed_by": tuple(identifier for identifier, _ in most),
        "squeezed_by_most": most[0][1] if most else None,
        "last_reasons": tuple(history.reasons),
        "importance": fact.importance,
        "heat": place.heat,
        "injected": fact.hit_count,
        "last_injected": microseconds(fact.last_hit),
        "searched": fact.seen_count,
        "last_searched": microseconds(fact.last_seen),
        "restated": _restated(fact),
        "approved_at": microseconds(fact.approved_at),
        "age_days": None if since == EPOCH else (one.now - since).total_seconds() / SECONDS_A_DAY,
        "line": fact.line,
        "flag": "; ".join(place.problems) or None,
    }


def _restated(fact: Fact) -> int:
    """How often the owner said it again: the first time is no repeat."""
    return max(0, fact.occurrences - 1)


def squeezers(memory: HasHome, *, now: datetime) -> pd.DataFrame:
    """Which entries stood in a fact's segment when it had no room, and how often: the frame ``squeezers``.

    One row per fact, segment and entry, the most often first; as the ledger has it since the fact's approval.
    """
    room, evidence = _gather(memory, now)
    texts = _texts(room.snapshot)
    rows = [
        {
            "id": one.place.fact.id,
            "segment": segment,
            "by": identifier,
            "by_text": texts.get(identifier),
            "times": times,
            "share": times / one.history.by_segment[segment],
        }
        for one in evidence
        for (segment, identifier), times in sorted(
            one.history.by.items(), key=lambda item: (item[0][0], -item[1], item[0][1])
        )
    ]
    return from_rows("squeezers", rows)


def _texts(snapshot: Snapshot) -> Mapping[str, str]:
    override = snapshot.config.profile_override
    return {
        **({"profile:override": override.text} if override is not None else {}),
        **{fact.id: fact.text for fact in snapshot.facts_file.value.facts},
    }


# --- who should get the next characters -----------------------------------------------------------
def next_characters(memory: HasHome, chars: int = 100, *, now: datetime) -> pd.DataFrame:
    """Who should get the next ``chars`` characters: every entry outside the text, ranked (S2-105).

    The rule, each point deciding only what the one before left equal: entries that characters can help (not held back
    by a conflict, something printable, needing no more than there are); those not in use before those in use, whose
    turn comes round (a note, habit or persona line outside the text is not in use); importance, which is a person's
    judgement (S2-104), 1 where there is none; searches that found it, which are demand; how often the owner said it
    again; heat; the shorter one; the id. ``gets`` gives the characters out by this rank, whole entries only;
    ``would_get`` is what the composer would do, which goes by heat.

    Parameters
    ----------
    memory
        The memory.
    chars
        Code points to give out, 1 to 1000.
    now
        The instant, UTC-aware.

    Raises
    ------
    LimitExceeded
        When ``chars`` is no whole number from 1 to 1000.
    """
    given = require_whole("chars", chars, TOTAL_BUDGET)
    room = packing(memory, now)
    rows = [
        _waiting_row(room, name, one, given) for name, segment in room.text.segments.items() for one in segment.squeezed
    ]
    rows.sort(key=_rule)
    running = 0
    for rank, row in enumerate(rows, start=1):
        row["gets"] = row["eligible"] and running + row["needs"] <= given
        running += row["needs"] if row["gets"] else 0
        row |= {"rank": rank, "running": running}
    return from_rows("next_characters", rows)


def _waiting_row(room: Packing, segment: str, one: Squeezed, chars: int) -> dict[str, Any]:
    fact = room.snapshot.competing.facts.get(one.id)
    silent_days = room.snapshot.config.silent_days
    return {
        "kind": one.kind,
        "id": one.id,
        "segment": segment,
        "text": one.text,
        "length": len(one.text),
        "needs": one.needs,
        "short": one.needs - one.left,
        "reason": one.reason,
        "state": attribution_state(fact, room.now, silent_days) if fact is not None else None,
        "importance": fact.importance if fact is not None else None,
        "searched": fact.seen_count if fact is not None else None,
        "restated": _restated(fact) if fact is not None else None,
        "heat": room.warmth(one.id),
        "eligible": one.reason not in {CONFLICT, NOTHING_PRINTABLE} and one.needs <= chars,
        "would_get": one.id in room.inside_raised(segment, chars),
    }


def _rule(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The rank of ``next_characters``, least first."""
    return (
        not row["eligible"],
        row["state"] == "active",
        -(DEFAULT_IMPORTANCE if row["importance"] is None else row["importance"]),
        -(row["searched"] or 0),
        -(row["restated"] or 0),
        -(row["heat"] or 0.0),
        row["needs"],
        row["id"],
    )
