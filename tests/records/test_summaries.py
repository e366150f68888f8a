"""Summaries: with a pointer or not at all, voided but never deleted, as many as there are (S2-030, S2-246..248)."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfnote
from selfnote.records.summaries import Summaries

T0 = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
SOURCE = "session-3611ac44#10457"


def at(minutes):
    return T0 + timedelta(minutes=minutes)


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch):
    """Nothing waits for the disk here; what a crash leaves behind is the business of tests/storage."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture
def path(memory):
    return memory.home.summaries


@pytest.fixture
def summaries(memory):
    return Summaries(memory.home.summaries, memory.home.memory_lock)


def test_a_summary_is_kept_with_its_pointer(summaries, path):
    """S2-030: {id, text, source, sourceSha, createdAt, status, voidedAt, history}."""
    kept = summaries.write("部署改到周五\n因为要等审计", source=f" {SOURCE} ", source_sha="ab", now=at(0))
    assert json.loads(path.read_bytes()) == {
        "id": kept.id, "text": "部署改到周五 因为要等审计", "source": SOURCE, "sourceSha": "ab",
        "createdAt": "2026-03-01T09:00:00.000Z", "status": "active", "voidedAt": None, "history": [],
    }  # fmt: skip
    assert kept.id.startswith("s-")
    assert summaries.get(kept.id) == kept == summaries.active()[0]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "   ",
        "昨天聊的",
        "session-x",
        "session-x#",
        "session-x#abc",
        "owner:notebook",
        "import:MEMORY.md#3",
        None,
        7,
    ],
)
def test_without_a_pointer_to_a_conversation_it_is_refused(summaries, path, source):
    """S2-030: what cannot be checked against the original is refused; the owner and an import are no conversation."""
    with pytest.raises(selfnote.BadSource):
        summaries.write("x", source=source)
    assert not path.exists()


def test_where_sources_can_be_resolved_a_pointer_to_nothing_is_refused(memory, path):
    """S2-030: no resolvable pointer, no summary."""

    def resolve(source):
        if source != SOURCE:
            raise selfnote.NotFound(source)
        return "cd"

    summaries = Summaries(path, memory.home.memory_lock, resolve=resolve)
    with pytest.raises(selfnote.NotFound):
        summaries.write("x", source="session-3611ac44#1")
    assert not path.exists()
    assert summaries.write("x", source=SOURCE).source_sha == "cd"


@pytest.mark.parametrize("text", ["", "\n", "\u200b", "半\ud83d", None, 7])
def test_a_summary_has_something_to_read(summaries, path, text):
    with pytest.raises(selfnote.LimitExceeded):
        summaries.write(text, source=SOURCE)
    assert not path.exists()


def test_a_line_no_reader_would_take_is_not_written(summaries, path):
    with pytest.raises(selfnote.LimitExceeded, match="1048576"):
        summaries.write("长" * 400_000, source=SOURCE)
    assert not path.exists()


def test_voiding_keeps_the_record(summaries, path):
    """S2-247: status void is not retrieved, and still there: what was once believed can be looked up."""
    kept = summaries.write("旧的看法", source=SOURCE, now=at(0))
    other = summaries.write("新的看法", source=SOURCE, now=at(1))
    voided = summaries.void(kept.id, now=at(30))
    assert [one.id for one in summaries.active()] == [other.id]
    assert [one.id for one in summaries.all()] == [kept.id, other.id]
    line = json.loads(path.read_bytes().splitlines()[0])
    assert (line["status"], line["voidedAt"]) == ("void", "2026-03-01T09:30:00.000Z")
    assert line["history"] == [{"at": "2026-03-01T09:30:00.000Z", "from": "active", "to": "void"}]
    assert summaries.get(kept.id) == voided
    assert voided.voided() == at(30)
    before = path.read_bytes()
    assert summaries.void(kept.id, now=at(40)) == voided
    assert path.read_bytes() == before


def test_there_is_no_way_to_delete_one(summaries):
    """S2-247: revoked, not deleted."""
    assert not [name for name in dir(summaries) if name.startswith(("delete", "remove", "clear"))]


def test_voiding_what_is_not_there_is_not_found(summaries):
    with pytest.raises(selfnote.NotFound, match="s-nobody"):
        summaries.void("s-nobody")
    with pytest.raises(selfnote.NotFound, match="s-nobody"):
        summaries.get("s-nobody")


def test_there_is_no_cap_on_their_number(summaries, put, line_of, path):
    """S2-248: they are never in the context."""
    put(path, "".join(line_of(id=f"s-{n}", text=f"第{n}条", source=SOURCE) + "\n" for n in range(3000)))
    kept = summaries.write("再一条", source=SOURCE)
    assert len(summaries.active()) == 3001
    assert summaries.all()[-1] == kept


def test_the_newest_comes_first_and_an_unreadable_time_is_the_oldest(memory, put, line_of, path):
    rows = [("s-a", "2026-02-01T00:00:00Z"), ("s-b", "昨天"), ("s-c", "2026-02-01T07:00:00"), ("s-d", 1769817600000)]
    put(path, "".join(line_of(id=i, text="x", source=SOURCE, createdAt=when) + "\n" for i, when in rows))
    summaries = Summaries(path, memory.home.memory_lock, zone=memory.zone)
    assert [one.id for one in summaries.active()] == ["s-a", "s-c", "s-d", "s-b"]


def test_the_same_summary_written_twice_in_one_instant_has_two_ids(summaries):
    ids = [summaries.write("同一句", source=SOURCE, now=at(0)).id for _ in range(3)]
    assert len(set(ids)) == 3


BAD = {
    "half": b'{"id":"s-1","te', "NUL": b"\x00" * 99, "not UTF-8": b'{"id":"s-x","text":"\xff"}', "array": b"[]", "no text": b'{"id":"s-x"}',
    "empty id": b'{"id":"","text":"a"}', "id taken": b'{"id":"s-1","text":"again"}', "over 1 MB": b'{"id":"s-x","text":"' + b"x" * 1_048_600 + b'"}',
    "unknown status": b'{"id":"s-x","text":"a","status":"gone"}',
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_bad_lines_and_unknown_keys_survive_byte_for_byte(summaries, put, path, bad, newline):
    """DESIGN "Files", COMPLAINTS 10."""
    first = '{ "id":"s-1" , "text":"甲", "x":1.0 }'.encode()
    last = '{"text":"乙","id":"s-2","status":"active" , "esc":"\\u4e59","history":[{"at":"x","k":1.0}] }'.encode()
    put(path, b"\xef\xbb\xbf" + first + newline + bad + newline + last)
    assert [one.id for one in summaries.all()] == ["s-1", "s-2"]
    assert [one.line for one in summaries.bad_lines()] == [2]
    summaries.void("s-2", now=at(1))
    when = "2026-03-01T09:01:00.000Z"
    step = f'{{"at":"{when}","from":"active","to":"void"}}'
    expected = last.replace(b'"status":"active"', b'"status":"void"').replace(b"}] }", f"}},{step}] }}".encode())
    written = path.read_bytes()
    assert written.startswith(b"\xef\xbb\xbf" + first + newline + bad + newline + expected.removesuffix(b" }"))
    assert json.loads(written.split(newline)[-1]) == {**json.loads(expected), "voidedAt": when}
    summaries.write("丙", source=SOURCE, now=at(2))
    assert path.read_bytes().startswith(written + newline)


def test_a_read_only_memory_refuses_both(memory, summaries, path):
    kept = summaries.write("x", source=SOURCE)
    before = path.read_bytes()
    locked = Summaries(path, memory.home.memory_lock, read_only=True)
    for act in (lambda: locked.void(kept.id), lambda: locked.write("y", source=SOURCE)):
        with pytest.raises(selfnote.ReadOnly):
            act()
    assert path.read_bytes() == before


def test_an_editor_that_saves_in_between_loses_nothing(summaries, editor, path):
    """COMPLAINTS 1: the owner's editor takes no lock."""
    kept = summaries.write("甲", source=SOURCE, now=at(0))
    editor(path, lambda data: data.replace("甲".encode(), "甲改".encode()))
    summaries.void(kept.id, now=at(1))
    (line,) = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert (line["text"], line["status"]) == ("甲改", "void")


@given(
    texts=st.lists(st.text('甲乙 丙\n"\\\u2028ab', min_size=1, max_size=30).filter(str.strip), max_size=6),
    data=st.data(),
)
def test_what_is_written_is_read_back_and_every_line_stays(tmp_path_factory, texts, data):
    folder = tmp_path_factory.mktemp("summaries")
    summaries = Summaries(folder / "summaries.jsonl", folder / ".lock")
    written = [summaries.write(text, source=f"s#{n}", now=at(n)) for n, text in enumerate(texts)]
    gone = {one.id for one in data.draw(st.lists(st.sampled_from(written)))} if written else set()
    for identifier in gone:
        summaries.void(identifier, now=at(99))
    assert [(one.id, one.text, one.source) for one in summaries.all()] == [(o.id, o.text, o.source) for o in written]
    assert {one.id for one in summaries.all() if one.status == "void"} == gone
    assert summaries.bad_lines() == []
