"""Heat: the curve, its edges, and the clock-free key of the same order (S2-168..175, COMPLAINTS 42, 44)."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote.records.fact_lines import parse_fact
from selfnote.records.heat import future_times, heat, idle_days, order_key, reference_time

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@dataclass
class Warm:
    hit_count: int = 0
    last_hit: datetime | None = None
    approved_at: datetime | None = None
    created_at: datetime | None = None
    importance: float = 1.0


def ago(**span):
    return NOW - timedelta(**span)


@pytest.mark.parametrize(
    ("fact", "half_life", "wanted"),
    [
        (Warm(0, created_at=NOW, importance=0), 30, 1.0),
        (Warm(0, created_at=NOW), 30, 1.5),
        (Warm(0, created_at=NOW, importance=3), 30, 2.5),
        (Warm(1, created_at=NOW, importance=0), 30, 1 + math.log(2)),
        (Warm(9, created_at=NOW), 30, (1 + math.log(10)) * 1.5),
        (Warm(0, created_at=ago(days=30), importance=0), 30, 0.5),
        (Warm(0, created_at=ago(days=365), importance=0), 365, 0.5),
        (Warm(0, created_at=ago(days=1), importance=0), 1, 0.5),
        (Warm(0, created_at=ago(days=60), importance=0), 30, 0.25),
        (Warm(20, ago(days=45), ago(days=90), ago(days=100), 2), 30, (1 + math.log(21)) * 0.5**1.5 * 2),
    ],
)
def test_heat_is_the_formula_of_the_seed(fact, half_life, wanted):
    """S2-168: (1 + ln(1+hits)) x 0.5^(idle/halfLife) x (1 + 0.5 x importance)."""
    assert heat(fact, NOW, half_life) == pytest.approx(wanted, rel=1e-12)


def test_an_idle_hour_is_not_nothing():
    """COMPLAINTS 44: 0, 59 and 61 minutes strictly decreasing."""
    values = [heat(Warm(created_at=ago(minutes=m)), NOW, 30) for m in (0, 59, 61)]
    assert values[0] > values[1] > values[2]
    assert values[1] == pytest.approx(1.5 * 0.5 ** (59 / 1440 / 30), rel=1e-12)


@pytest.mark.parametrize(
    ("fact", "reference"),
    [
        (Warm(created_at=ago(days=3)), ago(days=3)),
        (Warm(approved_at=ago(days=2), created_at=ago(days=3)), ago(days=2)),
        (Warm(last_hit=ago(days=5), approved_at=ago(days=2)), ago(days=2)),
        (Warm(last_hit=ago(days=1), approved_at=ago(days=2), created_at=ago(days=3)), ago(days=1)),
        (Warm(last_hit=ago(seconds=-1), created_at=ago(days=3)), ago(days=3)),
        (Warm(last_hit=NOW), NOW),
        (
            Warm(last_hit=ago(days=-9), approved_at=ago(days=-9), created_at=ago(days=-9)),
            datetime(1970, 1, 1, tzinfo=UTC),
        ),
        (Warm(), datetime(1970, 1, 1, tzinfo=UTC)),
    ],
)
def test_idle_counts_from_the_latest_time_that_is_not_in_the_future(fact, reference):
    """A-12, COMPLAINTS 42: a future time is unknown; none at all is 1970."""
    assert reference_time(fact, NOW) == reference
    assert idle_days(fact, NOW) == pytest.approx((NOW - reference) / timedelta(days=1))


def test_future_times_are_named():
    """A-12: left out and flagged."""
    fact = Warm(last_hit=ago(days=-1), approved_at=ago(days=1), created_at=ago(seconds=-1))
    assert future_times(fact, NOW) == ("lastHit", "createdAt")
    assert future_times(fact, NOW + timedelta(days=2)) == ()


@pytest.mark.parametrize("name", ["last_hit", "approved_at", "created_at"])
def test_a_future_time_never_makes_a_fact_hotter(name):
    """COMPLAINTS 42: no growth without bound."""
    plain = Warm(3, created_at=ago(days=3))
    future = Warm(3, created_at=ago(days=3))
    setattr(future, name, ago(days=-3000))
    assert heat(future, NOW, 30) <= heat(plain, NOW, 30)
    assert order_key(future, NOW, 30) <= order_key(plain, NOW, 30)


@pytest.mark.parametrize(
    ("fact", "same"),
    [
        (Warm(-5, created_at=NOW), Warm(0, created_at=NOW)),
        (Warm(created_at=NOW, importance=-1), Warm(created_at=NOW, importance=0)),
        (Warm(created_at=NOW, importance=99), Warm(created_at=NOW, importance=3)),
    ],
)
def test_values_out_of_range_are_held_within_it(fact, same):
    """S2-175: the edges of the curve."""
    assert heat(fact, NOW, 30) == heat(same, NOW, 30)
    assert order_key(fact, NOW, 30) == order_key(same, NOW, 30)


@pytest.mark.parametrize("importance", [0, 0.5, 1, 1.5, 2, 3])
def test_importance_multiplies_and_never_decays(importance):
    """S2-168, S2-169: a separate axis."""
    for days in (0, 10, 300):
        assert heat(Warm(2, created_at=ago(days=days), importance=importance), NOW, 30) == pytest.approx(
            heat(Warm(2, created_at=ago(days=days), importance=0), NOW, 30) * (1 + 0.5 * importance)
        )


FACTS = st.builds(
    Warm,
    st.integers(0, 10_000),
    st.none() | st.datetimes(datetime(2025, 1, 1), datetime(2026, 2, 28), timezones=st.just(UTC)),  # noqa: DTZ001 - bounds are naive by contract
    st.none() | st.datetimes(datetime(2025, 1, 1), datetime(2026, 2, 28), timezones=st.just(UTC)),  # noqa: DTZ001
    st.datetimes(datetime(2025, 1, 1), datetime(2026, 2, 28), timezones=st.just(UTC)),  # noqa: DTZ001
    st.floats(0, 3),
)


@given(one=FACTS, other=FACTS, half_life=st.floats(1, 365), later=st.integers(0, 400))
def test_the_key_orders_as_heat_does_at_every_instant(one, other, half_life, later):
    """DESIGN "Choose by heat": the same order as heat at every instant; ties of floating point aside."""
    now = NOW + timedelta(days=later)
    a, b = order_key(one, now, half_life), order_key(other, now, half_life)
    hot, cold = heat(one, now, half_life), heat(other, now, half_life)
    if abs(a - b) > 1e-9 and min(hot, cold) > 1e-300:
        assert (a > b) == (hot > cold)
    assert order_key(one, NOW, half_life) == a, "the key has a clock in it"
    assert math.log(hot) == pytest.approx(a - math.log(2) * now.timestamp() / 86400 / half_life, abs=1e-6)


@given(fact=FACTS, half_life=st.floats(1, 365), minutes=st.integers(1, 10**6))
def test_heat_only_falls_while_nothing_happens(fact, half_life, minutes):
    """S2-174: it cools, it never rises by itself, and never below nothing."""
    before, after = heat(fact, NOW, half_life), heat(fact, NOW + timedelta(minutes=minutes), half_life)
    assert 0 <= after < before or before == after == 0


@given(count=st.integers(0, 10**6))
def test_each_injection_adds_heat(count):
    assert heat(Warm(count + 1, created_at=NOW), NOW, 30) > heat(Warm(count, created_at=NOW), NOW, 30)


@pytest.mark.parametrize("count", [2**63, 10**30, 10**307, 10**400], ids=["2**63", "10**30", "10**307", "10**400"])
def test_a_count_of_any_size_on_disk_has_a_heat(count):
    """COMPLAINTS 10, 42: one absurd line must not stop the injection."""
    fact = parse_fact(
        json.dumps(
            {"id": "f", "text": "t", "status": "approved", "hitCount": count, "createdAt": "2026-03-01T00:00:00Z"}
        )
    )
    assert math.isfinite(heat(fact, NOW, 30))
    assert math.isfinite(order_key(fact, NOW, 30))


def test_a_fact_without_any_time_is_cold_and_does_not_raise():
    """DESIGN "Files": ref = 1970-01-01."""
    assert 0 <= heat(Warm(), NOW, 1) < 1e-9
    assert heat(Warm(), NOW, 365) > 0
