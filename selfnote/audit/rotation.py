"""Who gets a turn: the real choice of facts run hour by hour on a copy in memory (COMPLAINTS 26, 27, S2-207..210)."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from selfnote.audit.scenarios import changed, count_hits, inside
from selfnote.audit.schema import from_rows, microseconds
from selfnote.errors import LimitExceeded
from selfnote.injection.assemble import HasHome, Injection, Snapshot, assemble, basis_of_snapshot, read_snapshot
from selfnote.injection.segments import CONFLICT
from selfnote.records.fact_lines import Fact
from selfnote.records.heat import heat
from selfnote.text import safe
from selfnote.times import require_aware, to_milliseconds

if TYPE_CHECKING:
    import pandas as pd

#: Gini coefficient of the hours in the text below which a channel counts as shared out fairly; chosen by heat alone,
#: fourteen env facts have over 0.7.
FAIR_GINI = 0.6
#: Hours simulated unless told otherwise, and at most: a year of them.
HOURS = 200
MOST_HOURS = 24 * 365


# --- pure -----------------------------------------------------------------------------------------
def gini(counts: Collection[float]) -> float | None:
    """The Gini coefficient: 0 when all are alike, near 1 when one has everything; None without anything to share."""
    ordered = sorted(counts)
    size, total = len(ordered), sum(ordered)
    if total == 0:
        return None
    weighted = sum(rank * value for rank, value in enumerate(ordered, start=1))
    return 2 * weighted / (size * total) - (size + 1) / size


def require_whole(name: str, value: Any, most: int) -> int:
    """``value`` as a whole number from 1 to ``most``; one taken from a frame will do. Raises LimitExceeded."""
    try:
        count = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = 0
    if not 1 <= count <= most:
        raise LimitExceeded(f"{name}={value!r} is no whole number from 1 to {most}")
    return count


class Hour(NamedTuple):
    """One hour of use: the text, the facts as they were chosen from, and those whose counter then grew."""

    number: int
    at: datetime
    injection: Injection
    facts: tuple[Fact, ...]
    counted: frozenset[str]


def run(snapshot: Snapshot, now: datetime, hours: int) -> Iterator[Hour]:
    """One compose an hour from ``now`` on, each counting what it chose as `compose` does; nothing is written."""
    # What is worked out for a later hour must not be taken for what holds now: times lie ahead now that will have come.
    snapshot = replace(snapshot, earlier=None)
    kept = snapshot.rotation_file.value
    for number in range(hours):
        at = to_milliseconds(require_aware(now) + number * timedelta(hours=1))
        due = kept is None or kept.has_expired(at)
        matches = kept is not None and kept.basis == basis_of_snapshot(
            snapshot, snapshot.config, snapshot.config.budgets()
        )
        injection = assemble(snapshot, at, choice=kept if matches and not due else None)
        after, counted = count_hits(snapshot, injection, at) if due else (snapshot, frozenset[str]())
        if injection.choice is not None:
            kept = injection.choice._replace(since=at if kept is None or due else kept.since)
        yield Hour(number, at, injection, snapshot.approved, counted)
        snapshot = after


# --- what an owner reads --------------------------------------------------------------------------
@dataclass(frozen=True, repr=False)
class Simulation:
    """A run of some hours of use; ``hours``, ``facts`` and ``summary`` are frames.

    Each hour is an hour in which somebody talks to the agent; the persona, notes and settings stay, temporary notes
    expire.
    """

    run: Sequence[Hour]
    half_life: float

    def __repr__(self) -> str:
        parts = (
            f"{row.channel}: coverage {row.coverage:.0%}, Gini {row.gini:.2f}"
            for row in self.summary.itertuples()
            if not math.isnan(row.gini)
        )
        return f"<Simulation of {len(self.run)} hours of use; {'; '.join(parts) or 'nothing was injected'}>"

    @cached_property
    def hours(self) -> pd.DataFrame:
        """One row per hour and approved fact, the frame ``rotation``."""
        return from_rows("rotation", [row for hour in self.run for row in self._rows_of(hour)])

    def _rows_of(self, hour: Hour) -> Iterator[dict[str, Any]]:
        segments = inside(hour.injection)
        at = microseconds(hour.at)
        for fact in hour.facts:
            yield {
                "hour": hour.number,
                "at": at,
                "id": fact.id,
                "channel": fact.channel,
                "segment": segments.get(fact.id),
                "inside": fact.id in segments,
                "counted": fact.id in hour.counted,
                "hits": fact.hit_count,
                "heat": heat(fact, hour.at, self.half_life),
            }

    @cached_property
    def facts(self) -> pd.DataFrame:
        """One row an approved fact: how often it was in, the frame ``rotation_facts``."""
        return from_rows("rotation_facts", self._fact_rows)

    @cached_property
    def _fact_rows(self) -> list[dict[str, Any]]:
        if not self.run:
            return []
        was_in = [inside(hour.injection).keys() for hour in self.run]
        first, last = self.run[0], self.run[-1]
        end = {fact.id: fact for fact in last.facts}
        reasons = {one.id: one.reason for segment in last.injection.segments.values() for one in segment.squeezed}
        rows: list[dict[str, Any]] = []
        for fact in first.facts:
            there = [fact.id in entered for entered in was_in]
            rows.append(
                {
                    "id": fact.id,
                    "text": fact.text,
                    "length": len(safe(fact.text)),
                    "channel": fact.channel,
                    "times_in": sum(there),
                    "share": sum(there) / len(there),
                    "first_in": there.index(True) if any(there) else None,
                    "longest_out": _longest_out(there),
                    "reason": reasons.get(fact.id),
                    "hits_before": fact.hit_count,
                    "hits_after": end[fact.id].hit_count + (fact.id in last.counted),
                    "heat_before": heat(fact, first.at, self.half_life),
                    "heat_after": heat(self._after(end[fact.id]), last.at, self.half_life),
                }
            )
        return rows

    def _after(self, fact: Fact) -> Fact:
        """The fact as the last hour left it."""
        last = self.run[-1]
        if fact.id not in last.counted:
            return fact
        return changed(fact, hit_count=fact.hit_count + 1, last_hit=last.at)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row a channel: coverage, Gini, and how closed the loop is, the frame ``rotation_summary``."""
        return from_rows(
            "rotation_summary", [self._summarise(name) for name in ("env", "rel") if self._may_enter(name)]
        )

    def _may_enter(self, channel: str) -> list[dict[str, Any]]:
        """The rows of the facts of a channel that room alone may keep out."""
        absorbed = set(self.run[0].injection.absorbed) if self.run else set()
        return [
            row
            for row in self._fact_rows
            if row["channel"] == channel and row["reason"] != CONFLICT and row["id"] not in absorbed
        ]

    def _summarise(self, channel: str) -> dict[str, Any]:
        rows = self._may_enter(channel)
        times = [row["times_in"] for row in rows]
        start = inside(self.run[0].injection)
        there = [row for row in rows if row["id"] in start]
        others = [row for row in rows if row["id"] not in start]
        spread = gini(times)
        places = sum(times)
        return {
            "channel": channel,
            "facts": len(rows),
            "hours": len(self.run),
            "coverage": sum(map(bool, times)) / len(times),
            "never_in": tuple(row["id"] for row in rows if not row["times_in"]),
            "fewest": min(times),
            "most": max(times),
            "gini": spread,
            "fair": None if spread is None else spread < FAIR_GINI,
            "incumbents": sum(row["times_in"] for row in there) / places if places else None,
            "heat_gap": _mean(there) / _mean(others) if there and others and _mean(others) else None,
        }


def _mean(rows: Sequence[dict[str, Any]]) -> float:
    return float(sum(row["heat_after"] for row in rows)) / len(rows)


def _longest_out(there: Sequence[bool]) -> int:
    longest = current = 0
    for one in there:
        current = 0 if one else current + 1
        longest = max(longest, current)
    return longest


def simulate(memory: HasHome, *, now: datetime, hours: int = HOURS) -> Simulation:
    """Use a copy of the memory hour by hour from ``now`` on: who gets a turn, and whether the hot gets hotter.

    Env facts take turns by when they were last in (S2-207..210); the others go by heat alone, and being in makes
    hotter: ``incumbents`` of the summary says how closed that loop is (COMPLAINTS 27). Nothing is written.

    Parameters
    ----------
    memory
        What to use.
    now
        The first hour, UTC-aware.
    hours
        How many hours of use, 1 to 8760.

    Raises
    ------
    LimitExceeded
        When ``hours`` is out of range.
    """
    count = require_whole("hours", hours, MOST_HOURS)
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    return Simulation(list(run(snapshot, require_aware(now), count)), snapshot.config.half_life_days)
