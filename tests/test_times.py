"""Instants: read in every form that occurs on disk, written in one (A-28, A-33, COMPLAINTS 43, 69, 70)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote import times

SHANGHAI = ZoneInfo("Asia/Shanghai")
WANTED = datetime(2026, 11, 30, 1, 2, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "2026-11-30T01:02:03Z", "2026-11-30T01:02:03.000Z", "2026-11-30T09:02:03+08:00", "2026-11-30T09:02:03", "2026-11-30 09:02:03",
        " 2026-11-30T01:02:03Z\n", 1796000523, 1796000523.0, 1796000523000, "1796000523", "1796000523000", WANTED,
        datetime(2026, 11, 30, 9, 2, 3), datetime(2026, 11, 30, 9, 2, 3, tzinfo=SHANGHAI),  # noqa: DTZ001 - naive is the case
    ],
)  # fmt: skip
def test_every_form_of_a_time_is_read(value):
    """DESIGN "Files": Z, offsets, naive local, epoch s and ms, as numbers or digits."""
    read = times.parse_instant(value, SHANGHAI)
    assert read == WANTED
    assert read.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "昨天",
        "2026-13-01",
        "2026-11-30T25:00:00",
        None,
        True,
        False,
        [],
        {},
        b"2026-11-30",
        float("nan"),
        float("inf"),
        1e300,
        -1e300,
        "9" * 40,
        "99999999999999999999",
        "nan",
        "0000-00-00",
        "12",
    ],
)
def test_what_is_no_time_reads_as_none_and_never_raises(value):
    """COMPLAINTS 43."""
    assert times.parse_instant(value, SHANGHAI) is None


@given(st.text(max_size=30) | st.integers() | st.floats() | st.none() | st.booleans() | st.datetimes())
def test_no_value_raises(value):
    read = times.parse_instant(value, SHANGHAI)
    assert read is None or read.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("2026-11-30", datetime(2026, 11, 29, 16, tzinfo=UTC)), ("20261130", datetime(2026, 11, 29, 16, tzinfo=UTC))],
)
def test_a_day_alone_is_its_midnight_for_the_owner(value, wanted):
    assert times.parse_instant(value, SHANGHAI) == wanted


@given(
    st.datetimes(
        datetime(1971, 1, 1),  # noqa: DTZ001 - bounds are naive by contract
        datetime(9000, 1, 1),  # noqa: DTZ001
        timezones=st.sampled_from([UTC, SHANGHAI, timezone(timedelta(hours=-5))]),
    )
)
def test_what_is_written_reads_back_to_the_millisecond(instant):
    """A-28: UTC ISO-8601 with ms and Z."""
    text = times.format_instant(instant)
    assert text.endswith("Z")
    assert len(text) == 24
    assert times.parse_instant(text) == times.to_milliseconds(instant.astimezone(UTC))


def test_a_naive_time_has_the_zones_own_rules_of_that_day():
    """COMPLAINTS 70: zone rules, not today's offset."""
    new_york = ZoneInfo("America/New_York")
    assert times.parse_instant("2026-01-01T00:30:00", new_york) == datetime(2026, 1, 1, 5, 30, tzinfo=UTC)
    assert times.parse_instant("2026-07-01T00:30:00", new_york) == datetime(2026, 7, 1, 4, 30, tzinfo=UTC)


def test_the_day_of_an_instant_is_the_owners():
    """A-33, COMPLAINTS 69, 70: an event of 2026-01-01T04:30Z is on 2025-12-31 in New York, seen in July too."""
    assert times.local_date(datetime(2026, 1, 1, 4, 30, tzinfo=UTC), ZoneInfo("America/New_York")) == date(2025, 12, 31)
    assert times.local_date(datetime(2026, 7, 1, 16, 0, tzinfo=UTC), SHANGHAI) == date(2026, 7, 2)
    assert times.local_date(datetime(2026, 7, 1, 15, 59, 59, tzinfo=UTC), SHANGHAI) == date(2026, 7, 1)


@pytest.mark.parametrize("name", ["Nowhere/City", "", "../../etc/passwd", "/etc/localtime", "Asia/\x00"])
def test_an_unknown_zone_is_refused_by_name(name):
    with pytest.raises(ValueError, match="time zone"):
        times.find_zone(name)


def test_no_name_is_the_systems_zone():
    assert times.find_zone(None) is None
    assert times.find_zone("Asia/Shanghai") == SHANGHAI


@pytest.mark.parametrize("naive", [datetime(2026, 1, 1)])  # noqa: DTZ001 - the case
def test_a_naive_now_is_refused(naive):
    """STYLE: its zone would be a guess."""
    for function in (times.require_aware, times.format_instant):
        with pytest.raises(ValueError, match="time zone"):
            function(naive)


def test_days_keep_their_fractions():
    """COMPLAINTS 44."""
    assert times.days_since_epoch(datetime(1970, 1, 1, 0, 59, tzinfo=UTC)) == pytest.approx(59 / 1440)
