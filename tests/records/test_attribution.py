"""In use, silent, searched only, never: four states with sharp edges (S2-096..105)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote.records.attribution import attribution_state
from selfnote.records.fact_lines import Fact

NOW = datetime(2026, 3, 31, 9, 0, tzinfo=UTC)
MS = timedelta(milliseconds=1)


def fact(**values):
    return Fact(id="f", text="t", status="approved", **values)


@pytest.mark.parametrize(
    ("values", "state"),
    [
        ({"hit_count": 1, "last_hit": NOW}, "active"),
        ({"hit_count": 1, "last_hit": NOW - timedelta(days=30)}, "active"),
        ({"hit_count": 1, "last_hit": NOW - timedelta(days=30) - MS}, "silent"),
        ({"hit_count": 99, "last_hit": NOW - timedelta(days=400)}, "silent"),
        ({"hit_count": 1}, "silent"),
        ({"hit_count": 1, "last_hit": NOW + MS}, "silent"),
        ({"last_hit": NOW + timedelta(days=900)}, "silent"),
        ({"last_hit": NOW}, "active"),
        ({"seen_count": 1, "last_seen": NOW}, "seen"),
        ({"seen_count": 1}, "seen"),
        ({"last_seen": NOW - timedelta(days=900)}, "seen"),
        ({"seen_count": 400, "hit_count": 1, "last_hit": NOW - timedelta(days=31)}, "silent"),
        ({}, "never"),
        ({"created_at": NOW, "approved_at": NOW, "importance": 3}, "never"),
    ],
)
def test_each_state_has_its_rule_and_its_edge(values, state):
    """S2-097..100: the 30th day is still in use; a future time is no proof of use; a search is none either."""
    assert attribution_state(fact(**values), NOW, 30) == state


@pytest.mark.parametrize(("days", "state"), [(0.5, "silent"), (1, "active"), (7, "active")])
def test_the_silence_is_a_setting(days, state):
    """DESIGN "Files": silentDays."""
    assert attribution_state(fact(hit_count=1, last_hit=NOW - timedelta(days=1)), NOW, days) == state


@given(hits=st.integers(0, 9), seen=st.integers(0, 9), age=st.none() | st.integers(-99, 99))
def test_searching_never_changes_the_state_of_an_injected_fact(hits, seen, age):
    """S2-103: the two ledgers are never merged (COMPLAINTS 19)."""
    when = None if age is None else NOW - timedelta(days=age)
    with_search = attribution_state(fact(hit_count=hits, last_hit=when, seen_count=seen), NOW, 30)
    without = attribution_state(fact(hit_count=hits, last_hit=when), NOW, 30)
    assert with_search == without or (without, with_search) == ("never", "seen")
