"""Corrections: what the owner said was wrong, kept in his own words on his own machine (S2-147..154, A-10, A-11b)."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import selfnote
from selfnote.demo import bundled_home
from selfnote.home import MemoryHome
from selfnote.records.corrections import (
    CAP,
    Correction,
    Corrections,
    correction_id,
    leaving,
    repeated_groups,
    rule_fingerprint,
)

NOON = datetime(2026, 3, 1, 4, 0, tzinfo=UTC)
SHANGHAI = ZoneInfo("Asia/Shanghai")


def store(home, **keywords):
    files = MemoryHome.at(home)
    return Corrections(
        files.corrections, files.corrections_watermark, files.selfnote_lock, zone=lambda: SHANGHAI, **keywords
    )


@pytest.fixture
def files(home):
    return MemoryHome.at(home)


@pytest.fixture
def corrections(home):
    return store(home)


def hear(corrections, text, seq, *, minutes=0, sid="s", **keywords):
    at = NOON + timedelta(minutes=minutes)
    return corrections.record(text, sid=sid, seq=seq, at=at, now=at + timedelta(seconds=1), **keywords)


# --- reading -------------------------------------------------------------------------------------
def test_the_demo_homes_corrections_read_without_a_bad_line():
    """A-10: the ids and fingerprints there are ours."""
    found = store(bundled_home())
    every = found.all()
    assert len(every) == 15
    assert found.bad_lines() == []
    assert all(one.id == correction_id(one.sid, one.seq, one.text) for one in every)
    rules = {rule_fingerprint(line) for line in selfnote.open_memory(bundled_home()).persona.load().l1.splitlines()}
    assert {one.rule_fp for one in every if one.status == "used"} <= rules
    assert len(found.unhandled()) == sum(one.status == "open" for one in every)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"sessionId": "s", "index": 3, "time": 1772337600, "quote": "不对，a", "strength": "strong", "state": "handled", "handledAt": "x", "ruleFingerprint": "f"},
         ("s", 3, "不对，a", "strong", "used", "x", "f")),
        ({"session": "s", "line": "3", "content": "b", "status": "pending"}, ("s", 3, "b", "weak", "open", None, None)),
        ({"sid": "s", "seq": 1, "words": "c", "handled": True}, ("s", 1, "c", "weak", "used", None, None)),
        ({"sid": "s", "session": "other", "seq": 1, "text": "d", "status": None}, ("s", 1, "d", "weak", "open", None, None)),
        ({"text": "e", "status": "ignored"}, ("", None, "e", "weak", "dismissed", None, None)),
    ],
)  # fmt: skip
def test_other_names_of_a_field_are_read(files, corrections, put, line, expected):
    """A-10: read aliases; a line without an id has the one its words give it."""
    put(files.corrections, json.dumps(line))
    (one,) = corrections.all()
    assert (one.sid, one.seq, one.text, one.signal, one.status, one.used_at, one.rule_fp) == expected
    assert one.id == correction_id(one.sid, line.get("seq", line.get("index", line.get("line"))), one.text)


BAD = {
    "half": b'{"id":"c-1","te', "array": b"[]", "not UTF-8": b'{"id":"c-x","text":"\xff"}', "no text": b'{"id":"c-x"}', "id taken": b'{"id":"c-1","text":"again"}',
    "NUL": b"\x00" * 9, "bad status": b'{"id":"c-x","text":"a","status":"maybe"}', "over 1 MB": b'{"id":"c-x","text":"' + b"x" * 1_048_600 + b'"}',
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_bad_lines_and_unknown_keys_survive_every_change_byte_for_byte(files, corrections, put, bad, newline):
    """DESIGN "Files", A-10."""
    first = '{ "id":"c-1" , "text":"甲", "x":1.0 }'.encode()
    last = '{"text":"乙","id":"c-2","status":"open" , "esc":"\\u4e59"}'.encode()
    put(files.corrections, b"\xef\xbb\xbf" + first + newline + bad + newline + last)
    assert [one.id for one in corrections.all()] == ["c-1", "c-2"]
    assert [one.line for one in corrections.bad_lines()] == [2]
    corrections.dismiss("c-2", now=NOON)
    hear(corrections, "不对，先跑测试", 7)
    lines = files.corrections.read_bytes().removeprefix(b"\xef\xbb\xbf").split(newline)
    changed = last.replace(b'"status":"open"', b'"status":"dismissed"')[:-1]
    assert lines[:3] == [first, bad, changed + b', "dismissedAt":"2026-03-01T04:00:00.000Z"}']
    assert json.loads(lines[3])["text"] == "不对，先跑测试"


# --- hearing -------------------------------------------------------------------------------------
def test_a_correction_is_kept_in_the_owners_words(files, corrections):
    """S2-147, A-10: original words, time, session, handling state; beside them the rule that heard it."""
    one = hear(corrections, "你又忘了跑测试，\n先跑！", 12)
    assert json.loads(files.corrections.read_bytes()) == {
        "id": one.id, "sid": "s", "seq": 12, "at": "2026-03-01T04:00:00.000Z", "text": "你又忘了跑测试，\n先跑！", "signal": "strong",
        "status": "open", "usedAt": None, "ruleFp": None, "signalRule": "zh-you-again",
    }  # fmt: skip
    assert corrections.get(one.id) == one
    assert one.source == "s#12"


@pytest.mark.parametrize("text", ["没错，就这样", "应该是哪个端口？", "", "`不对`"])
def test_what_is_no_correction_leaves_no_trace(home, corrections, text):
    """S2-149: also no watermark."""
    assert hear(corrections, text, 1) is None
    assert not home.exists()


def test_one_event_is_one_correction(files, corrections):
    """S2-150: event-level; the same words said twice are two."""
    assert hear(corrections, "不对，先跑测试", 1)
    before = files.corrections.read_bytes()
    assert hear(corrections, "不对，先跑测试", 1, minutes=1) is None
    assert hear(corrections, "不对，换了说法", 1, minutes=1) is None
    assert files.corrections.read_bytes() == before
    assert hear(corrections, "不对，先跑测试", 2, minutes=1)
    assert hear(corrections, "不对，先跑测试", 1, minutes=1, sid="t")
    assert len(corrections.all()) == 3


def test_of_a_long_message_the_sentence_is_kept(corrections):
    """COMPLAINTS 73."""
    one = hear(corrections, "你又忘了跑测试。\n" + "log line\n" * 500, 1)
    assert one.text == "你又忘了跑测试。"


def test_a_read_only_memory_hears_nothing(home, snapshot):
    corrections = store(home)
    one = hear(corrections, "不对，先跑测试", 1)
    before = snapshot(home)
    locked = store(home, read_only=True)
    with pytest.raises(selfnote.ReadOnly):
        hear(locked, "不对，先跑测试", 2)
    with pytest.raises(selfnote.ReadOnly):
        locked.dismiss(one.id)
    assert snapshot(home) == before


# --- the watermark -------------------------------------------------------------------------------
def test_older_history_is_never_taken(files, corrections):
    """S2-148: the first evidence heard says from which message on; nothing before it comes later."""
    first = hear(corrections, "不对，先跑测试", 10)
    assert json.loads(files.corrections_watermark.read_bytes()) == {
        "since": "2026-03-01T04:00:00.000Z",
        "sid": "s",
        "seq": 10,
    }
    assert corrections.since() == NOON
    watermark = files.corrections_watermark.read_bytes()
    assert hear(corrections, "你又忘了写类型", 2, minutes=-60) is None
    assert hear(corrections, "你又忘了写类型", 11, minutes=60)
    assert [one.seq for one in corrections.all()] == [first.seq, 11]
    assert files.corrections_watermark.read_bytes() == watermark


def test_a_scan_of_old_logs_takes_nothing_and_starts_the_clock(corrections):
    """S2-148: an old log scanned first is older history too."""
    assert corrections.record("不对，先跑测试", sid="s", seq=1, at=NOON - timedelta(days=90), now=NOON) is None
    assert corrections.all() == []
    assert corrections.since() == NOON
    assert corrections.record("不对，先跑测试", sid="s", seq=2, at=NOON - timedelta(seconds=1), now=NOON) is None
    assert corrections.record("不对，先跑测试", sid="s", seq=3, at=NOON, now=NOON)


def test_a_broken_watermark_stays_and_takes_only_what_is_said_now(files, corrections, put):
    put(files.corrections_watermark, "{")
    assert corrections.record("不对，先跑测试", sid="s", seq=1, at=NOON - timedelta(days=1), now=NOON) is None
    assert corrections.record("不对，先跑测试", sid="s", seq=2, at=NOON, now=NOON)
    assert files.corrections_watermark.read_bytes() == b"{"


def test_a_time_without_a_zone_is_refused(corrections):
    with pytest.raises(ValueError, match="no time zone"):
        corrections.record("不对，先跑测试", sid="s", seq=1, at=datetime(2026, 3, 1), now=NOON)  # noqa: DTZ001 - the point


# --- the cap -------------------------------------------------------------------------------------
def lines_for(count, **of):
    for n in range(count):
        values = {"id": f"c-{n:03d}", "sid": "s", "seq": n, "at": f"2026-02-01T{n // 60:02d}:{n % 60:02d}:00.000Z", "text": f"不对 {n}", "status": "open"}  # fmt: skip
        yield values | of.get(f"n{n}", {})


def test_the_201st_sends_the_one_used_longest_ago_to_the_archive(files, corrections, put, line_of):
    """S2-151: used ones first by usedAt, then dismissed, then the oldest open; what leaves is archived."""
    used = {"n5": {"status": "used", "usedAt": "2026-02-20T00:00:00Z"}, "n9": {"status": "used", "usedAt": "2026-02-19T23:00:00-05:00"}, "n3": {"status": "dismissed"}}  # fmt: skip
    put(files.corrections, "".join(line_of(**one) + "\n" for one in lines_for(CAP, **used)))
    put(files.corrections_watermark, '{"since":"2026-01-01T00:00:00Z"}')
    raw = files.corrections.read_bytes().splitlines()
    for number, gone in enumerate(["c-005", "c-009", "c-003", "c-000", "c-001"]):
        heard = hear(corrections, "不对，先跑测试", 900 + number, minutes=number)
        ids = [one.id for one in corrections.all()]
        assert len(ids) == CAP
        assert gone not in ids
        assert ids[-1] == heard.id
    (month,) = files.notes_archive.glob("corrections-*.jsonl")
    assert month.name == "corrections-2026-03.jsonl"
    assert month.read_bytes().splitlines() == [raw[5], raw[9], raw[3], raw[0], raw[1]]


def test_what_left_for_the_archive_is_not_heard_again(files, corrections, put, line_of):
    """S2-150, COMPLAINTS 75: a deletion holds."""
    put(files.corrections, "".join(line_of(**one) + "\n" for one in lines_for(CAP)))
    put(files.corrections_watermark, '{"since":"2026-01-01T00:00:00Z"}')
    hear(corrections, "不对，先跑测试", 900)
    before = files.corrections.read_bytes()
    at = datetime(2026, 2, 1, tzinfo=UTC)
    assert corrections.record("不对，0 号", sid="s", seq=0, at=at, now=NOON) is None
    assert files.corrections.read_bytes() == before


@given(
    st.lists(st.tuples(st.sampled_from(["open", "used", "dismissed"]), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30),
    st.integers(1, 30),
)  # fmt: skip
def test_no_open_correction_leaves_while_a_handled_one_stays(rows, cap):
    """S2-151."""
    every = [
        Correction(id=str(n), text="x", status=status, at=f"2026-01-0{said + 1}T00:00:00Z" if said < 9 else None, used_at=f"2026-02-0{used + 1}T00:00:00Z" if used < 9 else None)
        for n, (status, said, used) in enumerate(rows)
    ]  # fmt: skip
    gone = {one.id for one in leaving(every, UTC, cap)}
    assert len(gone) == max(0, len(every) - cap)
    assert every[-1].id not in gone
    order = ["used", "dismissed", "open"]
    stay = [order.index(one.status) for one in every[:-1] if one.id not in gone]
    went = [order.index(one.status) for one in every[:-1] if one.id in gone]
    assert not went or not stay or max(went) <= min(stay)


def test_a_crash_while_one_leaves_archives_it_once(files, corrections, put, line_of, monkeypatch):
    """S2-151: the archive is written first; heard again after the crash, the line is not archived again."""
    put(files.corrections, "".join(line_of(**one) + "\n" for one in lines_for(CAP)))
    put(files.corrections_watermark, '{"since":"2026-01-01T00:00:00Z"}')
    oldest = files.corrections.read_bytes().splitlines()[0]

    def full(*_):
        raise OSError(28, "no space")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(OSError, match="no space"):
            hear(corrections, "不对，先跑测试", 900)
    assert len(corrections.all()) == CAP
    hear(corrections, "不对，先跑测试", 900)
    (month,) = files.notes_archive.glob("corrections-*.jsonl")
    assert month.read_bytes().splitlines() == [oldest]


# --- pages ---------------------------------------------------------------------------------------
def test_pages_of_30_newest_first_by_cursor(files, corrections, put, line_of):
    """S2-025, S2-152."""
    put(files.corrections, "".join(line_of(**one) + "\n" for one in lines_for(75)))
    seen, after, sizes = [], None, []
    while True:
        page = corrections.page(after)
        seen += [one.seq for one in page.items]
        sizes.append(len(page.items))
        after = page.next
        if after is None:
            break
    assert seen == list(range(74, -1, -1))
    assert sizes == [30, 30, 15]
    assert corrections.page(size=75).next is None


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 7), st.lists(st.booleans(), max_size=12))
def test_a_new_one_between_two_pages_neither_repeats_nor_hides_one(tmp_path_factory, size, arrivals):
    """S2-152: a cursor names a place, not a number."""
    home = tmp_path_factory.mktemp("pages")
    corrections, files = store(home), MemoryHome.at(home)
    files.selfnote.mkdir()
    # Equal times, one of them unreadable: the id decides.
    rows = [one | {"at": "2026-02-01T00:00:00Z" if n % 3 else "?"} for n, one in enumerate(lines_for(20))]
    files.corrections.write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    files.corrections_watermark.write_text('{"since":"2026-01-01T00:00:00Z"}')
    seen, after, more = [], None, list(arrivals)
    while True:
        page = corrections.page(after, size)
        seen += [one.id for one in page.items]
        after = page.next
        if after is None:
            break
        if more and more.pop():
            hear(corrections, "不对，先跑测试", 1000 + len(more), minutes=100 - len(more))
    assert sorted(seen) == [one["id"] for one in rows]


@pytest.mark.parametrize(("after", "size"), [("nonsense", 30), ("x~c-1", 30), (None, 0), (None, 201)])
def test_a_cursor_or_size_that_is_none_is_refused(corrections, after, size):
    with pytest.raises(selfnote.LimitExceeded, match=r"after|size"):
        corrections.page(after, size)


def test_unhandled_are_the_open_ones(files, corrections, put, line_of):
    """S2-153."""
    put(
        files.corrections,
        "".join(line_of(**one) + "\n" for one in lines_for(4, n1={"status": "used"}, n2={"status": "dismissed"})),
    )
    assert [one.seq for one in corrections.unhandled()] == [3, 0]


# --- dismissing ----------------------------------------------------------------------------------
def test_dismissing_keeps_the_line_and_is_done_once(files, corrections):
    one = hear(corrections, "不对，先跑测试", 1)
    assert corrections.dismiss(one, now=NOON).status == "dismissed"
    before = files.corrections.read_bytes()
    assert corrections.dismiss(one.id, now=NOON + timedelta(days=1)).status == "dismissed"
    assert files.corrections.read_bytes() == before
    assert corrections.unhandled() == []


def test_what_is_not_there_or_used_is_not_dismissed(files, corrections, put, line_of):
    put(files.corrections, line_of(id="c-1", text="x", status="used") + "\n")
    with pytest.raises(selfnote.NotFound, match="c-2"):
        corrections.dismiss("c-2")
    with pytest.raises(selfnote.NotFound, match="c-2"):
        corrections.get("c-2")
    with pytest.raises(selfnote.Conflict, match="c-1"):
        corrections.dismiss("c-1")


# --- the same thing twice ------------------------------------------------------------------------
def said(text, seq, *, minutes=0, sid="s", status="open"):
    at = (NOON + timedelta(minutes=minutes)).isoformat()
    return Correction(id=f"c-{sid}-{seq}", sid=sid, seq=seq, at=at, text=text, status=status)


A, A2, B = "不对，回答要先给结论", "不对，回答都要先给结论！", "别这样，报错要贴原文"


@pytest.mark.parametrize(
    ("rows", "groups"),
    [
        ([said(A, 10), said(A2, 110, minutes=600)], [[10, 110]]),
        ([said(A, 10), said(A2, 120)], []),
        ([said(A, 10), said(A2, 11, minutes=30)], [[10, 11]]),
        ([said(A, 10), said(A2, 11, minutes=31)], []),
        ([said(A, 10, sid="gone"), said(A2, 110, sid="gone", minutes=29)], [[10, 110]]),
        ([said(A, 10, sid="gone"), said(A2, 20, sid="gone", minutes=31)], []),
        ([said(A, 1), said(A2, 2, sid="t")], []),
        ([said(A, 1), said(B, 2)], []),
        ([said(A, 1), said("不对，回答不要先给结论", 2)], []),
        ([said(A, 1), said(A2, 2, status="dismissed")], []),
        ([said(A, 1, status="used"), said(A2, 2)], [[1, 2]]),
        ([said(A, 90, minutes=5), said(B, 20, minutes=1), said(A, 10), said(B, 80, minutes=4)], [[10, 90], [20, 80]]),
        ([said(A, 10), said(A, 90, minutes=1), said(A, 170, minutes=2)], [[10, 90, 170]]),
    ],
)  # fmt: skip
def test_twice_the_same_thing_is_near_in_words_and_in_the_session(rows, groups):
    """A-11b: same similarity as A-13, same session, at most 10 messages of the owner apart; where the log does not have
    one of them, half an hour apart.
    """
    found = repeated_groups(rows, zone=UTC, owner_seqs={"s": range(0, 1000, 10), "gone": None}.get)
    assert sorted([one.seq for one in group] for group in found) == groups


def test_repeated_reads_the_file(corrections):
    hear(corrections, A, 1)
    hear(corrections, B, 2)
    hear(corrections, A2, 3)
    assert [[one.seq for one in group] for group in corrections.repeated()] == [[1, 3]]
