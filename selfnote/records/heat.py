"""Heat: how much place a fact has taken lately. Not importance, which only a person gives (S2-104, S2-168..175)."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Protocol

from selfnote.config import IMPORTANCE_RANGE
from selfnote.times import EPOCH, days_since_epoch


class Warm(Protocol):
    """What heat is computed from."""

    @property
    def hit_count(self) -> int:
        """Injections counted."""
        ...

    @property
    def last_hit(self) -> datetime | None:
        """The latest of them."""
        ...

    @property
    def approved_at(self) -> datetime | None:
        """When the owner approved it."""
        ...

    @property
    def created_at(self) -> datetime | None:
        """When it was first kept."""
        ...

    @property
    def importance(self) -> float:
        """0 to 3, given by a person."""
        ...


def reference_time(fact: Warm, now: datetime) -> datetime:
    """The latest of lastHit, approvedAt and createdAt not later than ``now``; 1970 when there is none (A-12)."""
    return read_times(fact, now)[0]


def future_times(fact: Warm, now: datetime) -> tuple[str, ...]:
    """The names of the times that lie after ``now``: unknown to heat, shown as flags (COMPLAINTS 42)."""
    named = (("lastHit", fact.last_hit), ("approvedAt", fact.approved_at), ("createdAt", fact.created_at))
    return tuple(name for name, time in named if time is not None and time > now)


def read_times(fact: Warm, now: datetime) -> tuple[datetime, bool]:
    """The reference time, and whether any time lies after ``now``; every fact is asked at every packing (T6)."""
    times = [time for time in (fact.last_hit, fact.approved_at, fact.created_at) if time is not None]
    latest = max(times, default=EPOCH)
    if latest <= now:
        return latest, False
    return max((time for time in times if time <= now), default=EPOCH), True


def is_count_due(last: datetime | None, now: datetime, merge_seconds: float) -> bool:
    """Whether a hit or a search counts: the last one that did lies ``merge_seconds`` back, or ahead (S2-102, A-34)."""
    return last is None or last > now or (now - last).total_seconds() >= merge_seconds


def idle_days(fact: Warm, now: datetime) -> float:
    """Days since the fact was last injected, approved or kept; fractions kept, never negative."""
    return max(0.0, days_since_epoch(now) - days_since_epoch(reference_time(fact, now)))


def heat(fact: Warm, now: datetime, half_life_days: float) -> float:
    """``(1 + ln(1+hitCount)) * 0.5**(idleDays/halfLife) * (1 + 0.5*importance)`` (S2-168).

    ``now`` UTC-aware, times in days. A count below 0 reads as 0, importance is held within 0 to 3.
    """
    decay = math.exp2(-idle_days(fact, now) / half_life_days)
    return (1 + math.log1p(_hits(fact))) * decay * (1 + 0.5 * _importance(fact))


def order_key(fact: Warm, now: datetime, half_life_days: float) -> float:
    """The logarithm of heat without its clock: two facts stand in the same order at every instant.

    ``ln(1+ln(1+hits)) + ln(1+importance/2) + ln2 * ref/halfLife``, ref in days (DESIGN "Choose by heat"). ``now``
    only decides which times are in the future and so unknown.
    """
    return order_key_from(fact, reference_time(fact, now), half_life_days)


def order_key_from(fact: Warm, reference: datetime, half_life_days: float) -> float:
    """``order_key`` of a fact whose reference time is known."""
    return (
        math.log1p(math.log1p(_hits(fact)))
        + math.log1p(_importance(fact) / 2)
        + math.log(2) * days_since_epoch(reference) / half_life_days
    )


def _hits(fact: Warm) -> int:
    return max(0, fact.hit_count)


def _importance(fact: Warm) -> float:
    low, high = IMPORTANCE_RANGE
    return min(high, max(low, fact.importance))
