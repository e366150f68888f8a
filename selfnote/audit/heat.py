"""Heat of many facts at once: the formula of `records.heat` over arrays (S2-168, PERFORMANCE T7)."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from selfnote.audit.schema import NO_TIME, microseconds
from selfnote.times import SECONDS_A_DAY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Instants = NDArray[np.int64]


#: Numbers worked on at once: four arrays of them fit the cache of one core.
_BLOCK = 32_768


class Idle(NamedTuple):
    """Since when facts are idle: the reference times in microseconds since 1970, and which of a fact's lie ahead."""

    reference: Instants
    future: NDArray[np.bool_]


def since_when(last_hit: Instants, approved_at: Instants, created_at: Instants, now: datetime) -> Idle:
    """The latest of each fact's times not later than ``now``; 1970 when there is none (A-12).

    Times in microseconds since 1970 UTC, ``NO_TIME`` where there is none.
    """
    instant = microseconds(now)
    reference = np.full(last_hit.shape, NO_TIME, dtype=np.int64)
    future = np.zeros(last_hit.shape, dtype=np.bool_)
    for times in (last_hit, approved_at, created_at):
        ahead = times > instant
        future |= ahead
        np.maximum(reference, times, out=reference, where=~ahead)
    reference[reference == NO_TIME] = 0
    return Idle(reference, future)


def idle_days(reference: Instants, now: datetime) -> Numbers:
    """Days from ``reference`` (microseconds since 1970) to ``now``; never negative."""
    days: Numbers = microseconds(now) / 1e6 / SECONDS_A_DAY - reference / 1e6 / SECONDS_A_DAY
    return np.maximum(days, 0.0, out=days)


def heat(hits: Numbers, importance: Numbers, days: Numbers, half_life_days: float | Numbers) -> Numbers:
    """``(1 + ln(1+hits)) * 0.5**(days/halfLife) * (1 + 0.5*importance)`` (S2-168).

    ``hits`` >= 0 and ``importance`` within 0 to 3, as the records give them; ``days`` >= 0. Arrays are broadcast
    against each other: a column of facts and a row of days give a curve a fact. One of them has a dimension.
    """
    parts = np.broadcast_arrays(hits, importance, days, np.negative(half_life_days))
    out: Numbers = np.empty(parts[0].shape, dtype=np.float64)
    # In blocks that stay in the processor's cache: fetching memory costs more than the two functions (T7).
    step = max(1, _BLOCK // max(1, math.prod(out.shape[1:])))
    scratch = np.empty((min(step, len(out)), *out.shape[1:]), dtype=np.float64)
    for start in range(0, len(out), step):
        block = slice(start, start + step)
        some_hits, weights, some_days, minus_half = (part[block] for part in parts)
        warmth, decay = out[block], scratch[: len(some_hits)]
        np.log1p(some_hits, out=warmth)
        warmth += 1.0
        np.divide(some_days, minus_half, out=decay)
        np.exp2(decay, out=decay)
        warmth *= decay
        np.multiply(weights, 0.5, out=decay)
        decay += 1.0
        warmth *= decay
    return out


def order_key(hits: Numbers, importance: Numbers, reference: Instants, half_life_days: float | Numbers) -> Numbers:
    """The logarithm of heat without its clock, as `records.heat.order_key`: higher is hotter at every instant."""
    days = reference / 1e6 / SECONDS_A_DAY
    warmth = np.log1p(np.log1p(hits)) + np.log1p(importance / 2)
    key: Numbers = warmth + math.log(2) * days / half_life_days
    return key
