"""Reading only what was added to a log (S2-240 to S2-242, S2-245)."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
import textwrap
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote.errors import NotFound
from selfnote.sessions.log import SessionLog, read_new


def conversation(make, turns=6, **header):
    lines = make.Lines(**header)
    for number in range(turns):
        lines.event("turn/start").user(f"问 {number}").packed(["一", "二", "三"]).assistant(f"答 {number}")
    return lines


def test_resuming_at_every_frame_equals_a_full_read(make):
    """S2-241: seqs and line numbers go on."""
    parts = conversation(make).frames(each=2)
    full = SessionLog(make.write(parts))
    for count in range(1, len(parts)):
        path = make.write(parts[:count], folder="growing")
        first = read_new(path, None)
        path.write_bytes(b"".join(parts))
        second = read_new(path, first.point)
        assert (first.mode, second.mode) == ("full", "appended")
        assert first.messages + second.messages == full.messages()
        assert second.point.__class__ is first.point.__class__
        assert (second.point.offset, second.point.next_seq) == (full.resume_point.offset, full.resume_point.next_seq)
        assert (second.point.next_line, second.point.before) == (
            full.resume_point.next_line,
            full.resume_point.before,
        )


@given(cuts=st.lists(st.integers(0, 10_000), min_size=1, max_size=8), plain=st.booleans())
def test_a_log_that_grows_by_any_steps_is_read_once_and_whole(scratch, cuts, plain):
    """S2-242: an unfinished tail waits for the next call."""
    lines = conversation(scratch, turns=3, seedLength=3)
    content = lines.plain() if plain else b"".join(lines.frames(each=3))
    name = "session.jsonl" if plain else "session.jsonl.zstd"
    path = scratch.write(b"", name=name, folder="growing")
    messages, point = [], None
    for cut in sorted({cut % len(content) for cut in cuts} | {len(content)}):
        with path.open("r+b") as file:
            file.write(content[:cut])
        found = read_new(path, point)
        messages = found.messages if found.mode == "full" else messages + found.messages
        point = found.point
    assert messages == SessionLog(path).messages()
    assert read_new(path, point).mode == "unchanged"


def test_an_unchanged_log_is_not_read(make):
    path = make.write(conversation(make).frames())
    found = read_new(path, None)
    assert read_new(path, found.point) == ([], found.point, "unchanged")


def test_a_torn_tail_that_the_harness_cuts_and_writes_anew_is_no_full_read(make):
    """HARNESS 9: a cursor after the last whole frame is never invalidated."""
    parts = conversation(make).frames(each=4)
    path = make.write([*parts[:3], parts[3][:-7]])
    found = read_new(path, None)
    with path.open("r+b") as file:
        file.truncate(sum(map(len, parts[:3])))
        file.seek(0, os.SEEK_END)
        file.write(b"".join(parts[3:]))
    again = read_new(path, found.point)
    assert again.mode == "appended"
    assert found.messages + again.messages == SessionLog(path).messages()


def test_other_first_bytes_are_a_full_read(make):
    """S2-242: fingerprint mismatch."""
    one, other = conversation(make), conversation(make, session="session-other")
    path = make.write(one.frames()[:4])
    found = read_new(path, None)
    path.write_bytes(b"".join(other.frames()))
    assert read_new(path, found.point).mode == "full"


def test_other_bytes_before_the_offset_are_a_full_read(make):
    """PERFORMANCE 1: a rewrite with the same header passes the first fingerprint."""
    lines = conversation(make)
    path = make.write(lines.frames())
    found = read_new(path, None)
    changed = make.Lines().user("quite another one" * 30)
    content = b"".join(changed.frames())
    path.write_bytes(content + make.skippable(b"x" * (found.point.size - len(content) + 90)))
    again = read_new(path, found.point)
    assert (again.mode, [message.text for message in again.messages]) == ("full", ["quite another one" * 30])


def test_a_shorter_log_is_a_full_read(make):
    parts = conversation(make).frames()
    path = make.write(parts)
    found = read_new(path, None)
    path.write_bytes(b"".join(parts[:-1]))
    assert read_new(path, found.point).mode == "full"


def test_another_file_in_its_place_is_a_full_read(make):
    parts = conversation(make).frames()
    path = make.write(parts[:-1])
    found = read_new(path, None)
    path.rename(path.with_name("kept"))
    path.write_bytes(b"".join(parts))
    assert read_new(path, found.point).mode == "full"


def test_a_point_at_no_frame_boundary_is_a_full_read(make):
    """S2-242"""
    path = make.write(conversation(make).frames())
    point = read_new(path, None).point
    content = path.read_bytes()
    for offset in range(100, len(content), 7):
        before = hashlib.sha256(content[max(0, offset - 64) : offset]).hexdigest()
        moved = replace(point, offset=offset, before=before)
        found = read_new(path, moved)
        assert found.mode == "full"
        assert found.point == point


def test_a_seq_that_was_not_due_is_a_full_read(make):
    """S2-242: first event after the offset."""
    lines = conversation(make)
    parts = lines.frames()
    path = make.write(parts)
    found = read_new(path, None)
    extra = make.Lines().user("skips", seq=lines.seq + 5)
    with path.open("ab") as file:
        file.write(extra.frames()[1])
    again = read_new(path, found.point)
    assert (again.mode, again.messages) == ("full", found.messages)


@pytest.mark.parametrize("damage", ["checksum", "garbage", "line", "no newline"])
def test_damage_in_what_was_added_is_a_full_read(make, damage):
    lines = conversation(make)
    path = make.write(lines.frames())
    found = read_new(path, None)
    good = make.frame(make.Lines().user("new", seq=lines.seq).lines[1] + b"\n")
    added = {
        "checksum": good[:-1] + bytes([good[-1] ^ 1]),
        "garbage": b"garbage!",
        "line": make.frame(b"[]\n"),
        "no newline": make.frame(b"{"),
    }[damage]
    with path.open("ab") as file:
        file.write(added)
    again = read_new(path, found.point)
    assert (again.mode, again.messages) == ("full", found.messages)


def test_messages_added_to_a_delegated_session_are_not_the_owners(make):
    """EX-007: the header goes with the point."""
    parts = conversation(make, origin="subagent").frames()
    path = make.write(parts[:5])
    found = read_new(path, None)
    path.write_bytes(b"".join(parts))
    again = read_new(path, found.point)
    assert again.mode == "appended"
    assert [message.by_owner for message in again.messages] == [False] * len(again.messages)


def test_a_log_that_is_gone_is_not_found(make):
    path = make.write(conversation(make).frames())
    point = read_new(path, None).point
    path.unlink()
    with pytest.raises(NotFound):
        read_new(path, point)


def test_a_header_not_yet_whole_has_no_point(make):
    parts = conversation(make).frames()
    path = make.write(parts[0][:30])
    found = read_new(path, None)
    assert (found.messages, found.point, found.mode) == ([], None, "full")


def test_a_resumed_real_session_equals_a_full_read(find_corpus, make):
    """Every frame boundary of a real log with tools, reasoning and injected context."""
    from selfnote.sessions import frames

    data = find_corpus("session-cccccccc").read_bytes()
    scan = frames.scan_frames(data)
    full = SessionLog(make.write(data, folder="full"))
    path = make.write(b"", folder="growing")
    messages, point = [], None
    for end in [*scan.starts[1:], scan.end]:
        with path.open("r+b") as file:
            file.write(data[:end])
        found = read_new(path, point)
        assert found.mode == ("full" if point is None else "appended")
        messages, point = messages + found.messages, found.point
    assert messages == full.messages()


def test_a_reader_beside_a_writer_never_errs_and_sees_every_frame_in_order(make, tmp_path):
    """HARNESS 9: one writer, readers need no lock; each write here is torn in two."""
    lines = conversation(make, turns=60)
    parts = lines.frames(each=1)
    path = make.write(parts[0])
    for number, part in enumerate(parts[1:]):
        (tmp_path / f"part{number:04}").write_bytes(part)
    code = textwrap.dedent("""
        import os, pathlib, sys, time
        log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
        for part in sorted(pathlib.Path(sys.argv[2]).glob("part*")):
            content = part.read_bytes()
            os.write(log, content[:len(content) // 2])
            time.sleep(0.001)
            os.write(log, content[len(content) // 2:])
    """)
    writer = subprocess.Popen([sys.executable, "-c", code, str(path), str(tmp_path)])
    seen, point, modes = [], None, set()
    deadline = time.monotonic() + 60
    try:
        while time.monotonic() < deadline:
            running = writer.poll() is None
            found = read_new(path, point)
            seen = found.messages if point is None else seen + found.messages
            modes.add(found.mode)
            point = found.point
            assert SessionLog(path).status in {"ok", "torn"}
            if not running:
                break
    finally:
        if writer.poll() is None:
            writer.terminate()
        writer.wait()
    expected = [text for number in range(60) for text in (f"问 {number}", f"答 {number}")]
    assert [message.text for message in seen] == expected
    assert [message.seq for message in seen] == sorted(message.seq for message in seen)
    assert "full" in modes
    assert len(modes) > 1


def test_the_cost_of_an_added_frame_does_not_grow_with_the_log(make):
    """PERFORMANCE T5, as a coarse guard; the benchmark has the numbers."""
    times = {}
    for turns in (50, 5000):
        lines = conversation(make, turns=turns)
        parts = lines.frames(each=20)
        path = make.write(parts[:-1], folder=f"{turns}")
        point = read_new(path, None).point
        with path.open("ab") as file:
            file.write(parts[-1])
        samples = []
        for _ in range(15):
            started = time.perf_counter()
            assert read_new(path, point).mode == "appended"
            samples.append(time.perf_counter() - started)
        times[turns] = min(samples)
    assert times[5000] < 10 * times[50]


def test_offsets_are_those_of_the_frames(make):
    parts = conversation(make).frames()
    ends = list(itertools.accumulate(map(len, parts)))
    log = SessionLog(make.write([*parts[:4], parts[4][:5]]))
    assert (log.status, log.resume_point.offset) == ("torn", ends[3])
    assert log.resume_point.size == ends[3] + 5
