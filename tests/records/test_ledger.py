"""The ledgers: what was injected, what was found, that we ran, and what each session last got (A-34, S2-102, S2-228)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from selfnote.records.ledger import (
    HitLine,
    Refill,
    SessionState,
    append_hit,
    count_seen,
    known_digests,
    read_heartbeat,
    read_hits,
    read_seen,
    read_sessions_injected,
    write_heartbeat,
    write_session_state,
)

T0 = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def at(minutes):
    return T0 + timedelta(minutes=minutes)


def hit(when, digest="d", **values):
    return HitLine(
        when,
        "s-1",
        3,
        "/w",
        digest,
        "start",
        {"env": 4},
        {"env": ["f-1"]},
        {"env": [("f-2", 9, 3, "no room")]},
        {"notes": ["n-1"]},
        ("f-1",),
        **values,
    )


# --- hits ----------------------------------------------------------------------------------------
def test_a_line_of_the_injection_ledger_has_the_designs_keys_and_reads_back(memory):
    """DESIGN "Files", A-34."""
    line = hit(at(0))
    append_hit(memory.home, line)
    assert json.loads(memory.home.hits.read_bytes()) == {
        "at": "2026-03-01T09:00:00.000Z", "session": "s-1", "turn": 3, "cwd": "/w", "digest": "d", "cause": "start", "chars": {"env": 4},
        "ids": {"env": ["f-1"]}, "squeezed": {"env": [["f-2", 9, 3, "no room"]]}, "mentioned": {"notes": ["n-1"]}, "counted": ["f-1"],
    }  # fmt: skip
    (read,), bad = read_hits(memory.home)
    assert bad == []
    assert read.to_json() == line.to_json()
    assert read.line == 1
    assert known_digests(memory.home) == {"d"}


def test_an_absorbed_fact_is_told_only_when_there_is_one(memory):
    append_hit(memory.home, hit(at(0), absorbed=("f-9",)))
    assert json.loads(memory.home.hits.read_bytes())["absorbed"] == ["f-9"]
    assert read_hits(memory.home)[0][0].absorbed == ("f-9",)


def test_the_ledger_is_rolled_monthly_and_read_oldest_first(memory):
    """DESIGN "Files": rolled monthly to memory/archive/; nothing is lost on the way."""
    whens = [datetime(2026, month, day, 12, tzinfo=UTC) for month, day in ((1, 5), (1, 31), (2, 1), (2, 28), (4, 1))]
    for n, when in enumerate(whens):
        append_hit(memory.home, hit(when, str(n)))
    assert sorted(path.name for path in memory.home.ledger_archive.iterdir()) == [
        "hits-2026-01.jsonl",
        "hits-2026-02.jsonl",
    ]
    assert [line.digest for line in read_hits(memory.home)[0]] == list("01234")
    assert len(memory.home.hits.read_bytes().splitlines()) == 1


def test_a_month_already_archived_is_added_to(memory):
    """A roll that was interrupted, or a clock set back, loses no line."""
    append_hit(memory.home, hit(datetime(2026, 1, 5, tzinfo=UTC), "a"))
    append_hit(memory.home, hit(datetime(2026, 2, 5, tzinfo=UTC), "b"))
    memory.home.hits.write_bytes(memory.home.hits.read_bytes().replace(b"2026-02-05", b"2026-01-06").rstrip(b"\n"))
    append_hit(memory.home, hit(datetime(2026, 3, 5, tzinfo=UTC), "c"))
    assert [line.digest for line in read_hits(memory.home)[0]] == ["a", "b", "c"]
    assert [path.name for path in memory.home.ledger_archive.iterdir()] == ["hits-2026-01.jsonl"]


def test_a_clock_set_back_rolls_nothing(memory):
    append_hit(memory.home, hit(datetime(2026, 3, 5, tzinfo=UTC), "a"))
    append_hit(memory.home, hit(datetime(2026, 2, 5, tzinfo=UTC), "b"))
    assert [line.digest for line in read_hits(memory.home)[0]] == ["a", "b"]
    assert not memory.home.ledger_archive.exists()


def test_a_bad_first_line_does_not_stop_the_roll(memory, put):
    put(
        memory.home.hits,
        b"\x00\x00\nhalf {\n" + json.dumps(hit(datetime(2026, 1, 5, tzinfo=UTC), "a").to_json()).encode() + b"\n",
    )
    append_hit(memory.home, hit(datetime(2026, 2, 5, tzinfo=UTC), "b"))
    assert (memory.home.ledger_archive / "hits-2026-01.jsonl").read_bytes().startswith(b"\x00\x00\nhalf {\n")
    assert [line.digest for line in read_hits(memory.home)[0]] == ["a", "b"]


def test_a_missing_final_newline_is_mended(memory, put):
    """COMPLAINTS 11."""
    put(memory.home.hits, json.dumps(hit(at(0), "a").to_json()).encode())
    append_hit(memory.home, hit(at(1), "b"))
    assert [line.digest for line in read_hits(memory.home)[0]] == ["a", "b"]


BAD = {
    "half": b'{"digest":"d"', "joined": b'{"digest":"d"}{"digest":"e"}', "NUL": b"\x00" * 64, "not UTF-8": b'{"digest":"\xff"}', "array": b"[1]", "string": b'"x"',
    "number": b"3", "null": b"null", "no digest": b'{"at":1}', "chars text": b'{"digest":"d","chars":{"env":"many"}}', "chars list": b'{"digest":"d","chars":[1]}',
    "chars infinite": b'{"digest":"d","chars":{"env":1e999}}', "ids number": b'{"digest":"d","ids":{"env":3}}', "ids list": b'{"digest":"d","ids":["f"]}',
    "squeezed short": b'{"digest":"d","squeezed":{"env":[["f-1",3]]}}', "squeezed empty row": b'{"digest":"d","squeezed":{"env":[[]]}}',
    "squeezed text": b'{"digest":"d","squeezed":{"env":"x"}}', "squeezed null": b'{"digest":"d","squeezed":{"env":null}}', "squeezed infinite": b'{"digest":"d","squeezed":{"env":[["f",1e999,1,"r"]]}}',
    "counted number": b'{"digest":"d","counted":3}', "deep": b"[" * 50_000, "over 1 MB": b'{"digest":"' + b"x" * 1_048_600 + b'"}',
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_line_of_the_ledger_is_reported_and_takes_no_other_down(memory, put, bad):
    """COMPLAINTS 10: the analysis reads what can be read."""
    good = [json.dumps(hit(at(n), str(n)).to_json()).encode() for n in (1, 2)]
    put(memory.home.hits, good[0] + b"\n" + bad + b"\n\n" + good[1] + b"\n")
    lines, reported = read_hits(memory.home)
    assert [line.digest for line in lines] == ["1", "2"]
    assert [(one.path, one.line) for one in reported] == [(memory.home.hits, 2)]
    append_hit(memory.home, hit(at(3), "3"))
    assert memory.home.hits.read_bytes().split(b"\n")[1] == bad


@pytest.mark.parametrize(
    "raw",
    [
        b'{"digest":"d"}',
        b'{"digest":"d","at":"\xe6\x98\xa8\xe5\xa4\xa9","chars":null,"ids":null,"squeezed":null,"mentioned":null,"counted":null}',
        b'{"digest":7,"at":1772355600000,"x":1}',
    ],
)
def test_a_line_with_less_is_still_a_line(memory, put, raw):
    put(memory.home.hits, raw + b"\n")
    (line,), bad = read_hits(memory.home)
    assert bad == []
    assert line.digest in ("d", "7")


def test_no_ledger_is_no_line(memory):
    assert read_hits(memory.home) == ([], [])
    assert read_seen(memory.home) == ([], [])
    assert known_digests(memory.home) == frozenset()


# --- seen ----------------------------------------------------------------------------------------
@pytest.fixture
def fact(memory):
    return memory.facts.approve(memory.facts.stage("甲", source="s#1", now=at(-90)), now=at(-90))


def seen(memory, ids, when, **values):
    return count_seen(memory.home, memory.facts, ids, session="s-1", via="memory_search", now=when, **values)


def test_a_search_counts_a_fact_at_most_once_in_ten_minutes(memory, fact):
    """S2-102, DESIGN "Counting": exactly ten minutes later it counts again."""
    counted = [len(seen(memory, [fact.id], at(m))) for m in (0, 5, 9.99, 10, 15, 20)]
    assert counted == [1, 0, 0, 1, 0, 1]
    now = memory.facts.get(fact.id)
    assert (now.seen_count, now.last_seen, now.hit_count, now.last_hit) == (3, at(20), 0, None)


def test_every_search_that_found_something_leaves_a_line_without_its_query(memory, fact):
    """DESIGN "Files": {at, session, via, ids, counted}, no query text."""
    seen(memory, [fact.id, "f-gone", fact.id], at(0))
    seen(memory, [fact.id], at(1))
    rows = [json.loads(line) for line in memory.home.seen.read_bytes().splitlines()]
    assert rows == [
        {
            "at": "2026-03-01T09:00:00.000Z",
            "session": "s-1",
            "via": "memory_search",
            "ids": [fact.id, "f-gone"],
            "counted": [fact.id],
        },
        {"at": "2026-03-01T09:01:00.000Z", "session": "s-1", "via": "memory_search", "ids": [fact.id], "counted": []},
    ]
    lines, bad = read_seen(memory.home)
    assert ([line.counted for line in lines], bad) == ([(fact.id,), ()], [])


def test_a_search_that_found_nothing_writes_nothing(memory, fact, home, snapshot):
    before = snapshot(home)
    assert seen(memory, [], at(0)) == []
    assert snapshot(home) == before


def test_a_searched_fact_keeps_its_history_and_revision(memory, fact):
    """S2-103, S2-170: found is not used; two ledgers, never merged."""
    seen(memory, [fact.id], at(0))
    now = memory.facts.get(fact.id)
    assert (now.history, now.revision, now.hit_count) == (fact.history, fact.revision, 0)
    assert not memory.home.hits.exists()


def test_the_search_ledger_is_rolled_too_and_its_bad_lines_reported(memory, fact, put):
    put(memory.home.seen, b'{"at":"2026-01-01T00:00:00Z","ids":["f-1"]}\nhalf {\n{"at":1}\n{"ids":3}\n')
    seen(memory, [fact.id], at(0))
    assert (memory.home.ledger_archive / "seen-2026-01.jsonl").exists()
    lines, bad = read_seen(memory.home)
    assert [line.ids for line in lines] == [("f-1",), (fact.id,)]
    assert [one.line for one in bad] == [2, 3, 4]


# --- heartbeat -----------------------------------------------------------------------------------
def test_a_heartbeat_holds_time_and_count_and_is_merged_within_a_minute(memory):
    """S2-228: within one minute once; exactly a minute later again."""
    wrote = [
        write_heartbeat(memory.home, T0 + timedelta(seconds=s), beats)
        for s, beats in ((0, 1), (59.9, 1), (60, 5), (119, 1), (120, 2))
    ]
    assert wrote == [True, False, True, False, True]
    assert json.loads(memory.home.heartbeat.read_bytes()) == {"at": "2026-03-01T09:02:00.000Z", "count": 8}
    beat = read_heartbeat(memory.home)
    assert (beat.at, beat.count) == (T0 + timedelta(seconds=120), 8)


def test_a_heartbeat_from_the_future_does_not_silence_the_next(memory):
    """COMPLAINTS 42: a clock that was wrong once."""
    write_heartbeat(memory.home, T0 + timedelta(days=900), 1)
    assert write_heartbeat(memory.home, T0, 1)
    assert read_heartbeat(memory.home).at == T0


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b"\x00", b'{"count":"x"}', b'{"at":"\xff"}', b"[" * 50_000])
def test_an_unreadable_heartbeat_is_none_or_empty_and_is_written_again(memory, put, raw):
    """S2-014: telemetry never stops a turn."""
    put(memory.home.heartbeat, raw)
    read_heartbeat(memory.home)
    assert write_heartbeat(memory.home, T0, 1)
    assert read_heartbeat(memory.home).at == T0


def test_no_heartbeat_is_none(memory):
    """S2-229: "no memory" is not "not running"."""
    assert read_heartbeat(memory.home) is None


# --- what each session last got ------------------------------------------------------------------
def test_a_session_state_reads_back(memory):
    """DESIGN "Files": {env, digest, parts, refill}."""
    state = SessionState(("f-1",), "d", {"notes": "x"}, Refill(("f-1",), "2026-03-01T09:00:00.000Z"))
    write_session_state(memory.home, "s-1", state)
    states, found = read_sessions_injected(memory.home)
    assert states == {"s-1": state}
    assert found is not None


def test_the_last_fifty_sessions_are_kept(memory):
    """DESIGN "Turn", "Files": least recently changed go first."""
    for n in range(55):
        write_session_state(memory.home, f"s-{n}", SessionState(digest=str(n)))
    write_session_state(memory.home, "s-5", SessionState(digest="again"))
    write_session_state(memory.home, "s-new", SessionState())
    states, _ = read_sessions_injected(memory.home)
    assert list(states) == [f"s-{n}" for n in range(7, 55)] + ["s-5", "s-new"]
    assert states["s-5"].digest == "again"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b'{"s-1":3,"s-2":{"env":"x","parts":[],"refill":{"ids":3},"digest":null}}',
        b"[" * 50_000,
        b"\xff",
    ],
)
def test_an_unreadable_session_file_leaves_out_what_cannot_be_read(memory, put, raw):
    """S2-014."""
    put(memory.home.sessions_injected, raw)
    states, _ = read_sessions_injected(memory.home)
    assert set(states) <= {"s-2"}
    assert all(state == SessionState() for state in states.values())
    write_session_state(memory.home, "s-9", SessionState(digest="d"))
    assert read_sessions_injected(memory.home)[0]["s-9"].digest == "d"


def test_a_session_of_any_name_is_kept(memory):
    """A name is data, never a path (COMPLAINTS 63)."""
    for name in ("../x", "a/b", "", "会话", "\ud83d\ude00"[:0] + "😀"):
        write_session_state(memory.home, name, SessionState(digest=name))
    assert set(read_sessions_injected(memory.home)[0]) == {"../x", "a/b", "", "会话", "😀"}
