"""The quick reading of facts.jsonl against the records' own, line by odd line."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from selfnote.audit import heat as many_heat
from selfnote.audit.fact_columns import read_fact_columns
from selfnote.audit.schema import NO_TIME, microseconds, to_numbers
from selfnote.records import heat
from selfnote.records.fact_changes import _last_transition
from selfnote.records.fact_lines import Fact, parse_facts
from selfnote.storage.jsonl import LINE_CAP
from selfnote.storage.lines import split_lines

ZONE = ZoneInfo("Asia/Shanghai")
PATH = Path("facts.jsonl")

TIMES: list[Any] = [
    None, "2026-11-30T02:00:00.000Z", "2026-11-30T02:00:00Z", "2026-11-30T10:00:00+08:00", "2026-11-30T10:00:00.1234567Z",
    "2026-11-30T23:59:59.9999999Z", "2026-11-30T10:00:00", "2026-11-30", "20261130", "20261130T020000Z", "2026-W48-1T02:00:00Z",
    "2026-11-30 02:00:00Z", " 2026-11-30T02:00:00Z", "2026-11-30T02:00:00z", "2026-11-30T24:00:00Z", "2026-13-01T00:00:00Z",
    "2026-11-30T02:00:60Z", "2026-11-30T02:00Z", "2026-11-30T02Z", "0001-01-01T00:00:00+08:00", "9999-12-31T23:59:59-08:00",
    "1970-01-01T00:00:00Z", "1981-01-01T00:00:00+14:00", "2200-01-01T00:00:00Z", "2026-11-30T02:00:00+08:00:30",
    "2026-11-30T02:00:00,5Z", "1764468000", "1764468000000", "17120101000", 1764468000, 1764468000.5, 1764468000000, 0, -1, 1e300,
    True, "", "soon", [], {},
]  # fmt: skip
NUMBERS: list[Any] = [0, 1, 3, 2**53, 2**53 + 1, 2**70, -1, 1.0, 1.5, 1e3, "3", " 3", "1e3", True, None, [], "many"]
CHANGES: list[Any] = [
    {"at": "2026-11-30T02:00:00.000Z", "via": "settings", "from": "candidate", "to": "approved"},
    {"at": "2026-11-30T03:00:00.000Z", "via": "x", "from": "text", "to": "text", "field": "text", "old": "a", "new": [1, {"b": None}]},
    {"at": None, "via": "", "from": "approved", "to": "retired", "replaces": "f-9", "replacesRevision": "ab"},
    {"at": "never", "from": "approved", "to": "retired"}, {"from": "odd", "to": "approved"}, {"via": 3}, {"by": "an unknown key"},
    {"at": 1764468000, "from": "retired", "to": "approved"}, {}, [], "text", None,
]  # fmt: skip
VALUES: dict[str, list[Any]] = {
    "id": ["f-1", "f-2", "f-3", "", 5, None],
    "text": ["回答用中文", "", "a\u2028b", "{{x}}", "\ud800", "\x00", 5, None],
    "detail": ["细", None, 4],
    "channel": ["rel", "env", "", "REL", None, 1],
    "status": ["candidate", "approved", "retired", "Approved", None, ""],
    "tags": [[], ["语言"], ["a", "b"], "语言", ["a", 3, None], None, {}],
    "source": ["s-1#12", "import:a.md#3", "owner:notebook", "odd", "", "s-1#L7", None, 3],
    "sourceSha": ["ab", None, 1],
    "captureSource": ["listener", None, 1],
    "reason": ["convention", "禁止", "whim", None, 3],
    "importance": [0, 1.5, 3, 3.5, -1, "1", None, True, float("nan"), float("inf")],
    "occurrences": NUMBERS,
    "sources": [[], ["s-1#12", "s-2#1"], "s-1#12", [1], None],
    "similarTo": [
        [], [{"id": "f-2"}], [{"id": "f-2", "kind": "conflict", "rule": "r", "score": 91.5}],
        [{"id": "f-2", "kind": "conflict", "resolved": "2026-01-01T00:00:00Z"}], ["f-2"], [{"id": "f-2", "kind": "odd"}],
        [{"kind": "near"}], [{"id": "f-2", "extra": 1}], [{"id": "f-2", "score": "91"}], "f-2", None,
    ],
    "flags": [[], ["instruction"], "x", None],
    "hitCount": NUMBERS,
    "seenCount": NUMBERS,
    "lastHit": TIMES,
    "lastSeen": TIMES,
    "createdAt": TIMES,
    "approvedAt": TIMES,
    "history": [[], None, "x", *([one] for one in CHANGES), CHANGES[:3]],
    "hit_count": [4], "unknown": ["kept", {"a": [1, 2]}, None],
}  # fmt: skip


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A fact's line: mostly in its documented form, some values odd, some bytes changed."""
    values: dict[str, Any] = {"id": f"f-{draw(st.integers(1, 9))}", "text": "回答用中文", "status": "approved"}
    for key in draw(st.lists(st.sampled_from(list(VALUES)), max_size=6, unique=True)):
        values[key] = draw(st.sampled_from(VALUES[key]))
    if draw(st.integers(0, 9)) == 0:
        values.pop(draw(st.sampled_from(["id", "text", "status"])))
    text = json.dumps(values, ensure_ascii=draw(st.booleans()))
    raw = text.encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 3)) == 0:
        at = draw(st.integers(0, len(raw)))
        new = draw(
            st.sampled_from(
                [b"", b" ", b"\xff", b"\t", b'"', b",", b"}", b"0", b"\\", b"\xef\xbb\xbf", b"-", b".", b"\x01"]
            )
        )
        raw = raw[:at] + new + raw[at + draw(st.integers(0, 2)) :]
    return raw.replace(b"\n", b"").replace(b"\r", b"")


def expected(facts: tuple[Fact, ...]) -> dict[str, list[Any]]:
    changes = [_last_transition(one) for one in facts]
    return {
        **{
            name: [getattr(one, name) for one in facts]
            for name in ("id", "text", "detail", "channel", "status", "tags", "importance", "occurrences", "hit_count", "seen_count", "capture_source", "line")
        },
        **{
            name: [microseconds(getattr(one, name)) for one in facts]
            for name in ("last_hit", "last_seen", "created_at", "approved_at")
        },
        "capture_reason": [one.reason for one in facts],
        "red_flags": [one.flags for one in facts],
        "conflict_ids": [one.open_conflicts for one in facts],
        "near_links": [sum(link.kind == "near" for link in one.similar_to) for one in facts],
        "conflict_links": [sum(link.kind == "conflict" for link in one.similar_to) for one in facts],
        "n_changes": [len(one.history) for one in facts],
        "changed_at": [one and microseconds(one.at) for one in changes],
        "changed_via": [one and one.via for one in changes],
        "changed_to": [one and one.to for one in changes],
    }  # fmt: skip


@given(st.lists(lines(), max_size=8), st.sampled_from([b"\n", b"\r\n"]), st.sampled_from([ZONE, UTC]))
@example(
    [b'{"id":"f-1","text":"a","status":"approved","x":1.2.3}', b'{"id":"f-1","text":"\xff","status":"approved"}'],
    b"\n",
    UTC,
)
@example(
    [b'{"id":"f-1","text":"a","status":"approved","id":"f-2","text":5,"text":"b"}', b"", b"  ", b"\x0c"], b"\n", UTC
)
@example([b'{"id":"f-1","text":"' + b"a" * LINE_CAP + b'"}'], b"\n", UTC)
@example([b'{"id":"f-1","text":"a","history":[{"old":' + b"[" * 5000 + b"]" * 5000 + b"}]}"], b"\n", UTC)
def test_the_quick_reading_is_the_records_reading(raw: list[bytes], newline: bytes, zone: Any):
    """PERFORMANCE T6: ids, text, counters, times, problems and bad lines are those of `parse_facts`."""
    file = split_lines(PATH, newline.join(raw), None)
    read, wanted = read_fact_columns(file, zone), parse_facts(file, zone)
    assert read.bad_lines == wanted.bad_lines
    assert read.problems == [one.problems for one in wanted.facts]
    for name, values in expected(wanted.facts).items():
        assert read.columns[name] == values, name


@pytest.mark.parametrize("key", list(VALUES))
def test_every_odd_value_alone_is_read_as_the_records_read_it(key: str):
    raw = [
        json.dumps({"id": f"f-{number}", "text": "a", "status": "approved", key: value}).encode()
        for number, value in enumerate(VALUES[key])
    ]
    file = split_lines(PATH, b"\n".join(raw), None)
    read, wanted = read_fact_columns(file, ZONE), parse_facts(file, ZONE)
    assert read.bad_lines == wanted.bad_lines
    assert read.problems == [one.problems for one in wanted.facts]
    for name, values in expected(wanted.facts).items():
        assert read.columns[name] == values, name


INSTANTS = st.none() | st.datetimes(datetime(1960, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - zone beside


@given(
    st.lists(st.tuples(INSTANTS, INSTANTS, INSTANTS, st.integers(0, 2**53), st.floats(0, 3)), min_size=1, max_size=20),
    st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - zone beside
    st.floats(1, 365),
)
def test_heat_over_arrays_is_heat_of_each(rows: list[tuple[Any, ...]], now: datetime, half_life: float):
    """S2-168, A-12, COMPLAINTS 42, 44: to the microsecond, future times left out."""
    facts = [
        Fact(
            id="f-1",
            text="a",
            last_hit=hit,
            approved_at=approved,
            created_at=created,
            hit_count=hits,
            importance=importance,
        )
        for hit, approved, created, hits, importance in rows
    ]
    since = many_heat.since_when(
        *(
            to_numbers([microseconds(getattr(one, name)) for one in facts])
            for name in ("last_hit", "approved_at", "created_at")
        ),
        now,
    )
    hits = np.array([one.hit_count for one in facts], dtype=np.float64)
    importance = np.array([one.importance for one in facts])
    warm = many_heat.heat(hits, importance, many_heat.idle_days(since.reference, now), half_life)
    keys = many_heat.order_key(hits, importance, since.reference, half_life)
    for place, one in enumerate(facts):
        assert since.reference[place] == microseconds(heat.reference_time(one, now))
        assert since.future[place] == bool(heat.future_times(one, now))
        assert math.isclose(warm[place], heat.heat(one, now, half_life), rel_tol=1e-12)
        assert math.isclose(keys[place], heat.order_key(one, now, half_life), rel_tol=1e-12)


def test_a_fact_without_any_time_is_idle_since_1970():
    nothing = np.array([NO_TIME])
    now = datetime(1970, 1, 3, tzinfo=UTC)
    since = many_heat.since_when(nothing, nothing, np.array([microseconds(now + timedelta(days=1))]), now)
    assert list(since.reference) == [0]
    assert list(since.future) == [True]
    assert list(many_heat.idle_days(since.reference, now)) == [2.0]
