"""Several processes at one index: builders at once, one killed, a log that is being written (S2-233, S2-237, S2-241)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import selfnote
from selfnote.errors import Busy
from selfnote.sessions import index as indexes
from selfnote.storage.locks import hold

REPOSITORY = Path(__file__).resolve().parents[2]


def run(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


BUILD = """
import sys, selfnote
result = selfnote.open_memory(sys.argv[1]).index.build(full=len(sys.argv) > 2)
print(result.status.records, result.complete)
"""


@pytest.fixture
def filled(make, home):
    """A home of 40 sessions, six messages each."""
    for number in range(40):
        lines = make.Lines(session=f"session-{number:02}")
        for turn in range(3):
            lines.user(f"第 {number} 个会话 第 {turn} 问 端口").assistant(f"watchdog 第 {turn} 答 " + "很长的回答" * 40)
        path = home / "sessions" / "project" / f"session-{number:02}" / "session.jsonl.zstd"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(lines.frames(each=2)))
    memory = selfnote.open_memory(home)
    memory.config.save(index_enabled=True)
    return memory


def sources(result):
    return [hit.source for hit in result.hits]


def test_builders_at_once_make_one_whole_index(filled):
    """One waits for the other, then has nothing left to do."""
    builders = [run(BUILD, filled.home.root, *(["full"] if number == 2 else [])) for number in range(4)]
    for builder in builders:
        out, errors = builder.communicate(timeout=60)
        assert (out.split(), errors) == (["240", "True"], "")
    result = filled.recall("端口", limit=200)
    assert (result.how, len(result.hits)) == ("index", 120)
    assert filled.index.status().records == 240


def test_a_builder_that_waits_in_vain_says_so(filled, monkeypatch):
    monkeypatch.setattr(indexes, "WRITE_WAIT", 0.2)
    with hold(filled.home.memory / ".index.lock"), pytest.raises(Busy, match="held by another process"):
        filled.index.build()
    assert filled.index.build().complete


@pytest.mark.parametrize("first", [True, False])
def test_a_builder_killed_at_any_moment_leaves_an_index_that_answers_right(filled, first):
    """kill -9: what was there before is there still, or nothing; the next build makes it whole."""
    expected = sources(filled.recall("端口 watchdog", limit=300))
    if not first:
        filled.index.build()
    states = set()
    for wait in (0.0, 0.01, 0.03, 0.05, 0.07, 0.1, 0.13, 0.16, 0.2, 0.3):
        if first:
            filled.index.drop()
        builder = run(
            """
            import sys, selfnote
            memory = selfnote.open_memory(sys.argv[1])
            memory.recall("端口")
            print("ready", flush=True)
            memory.index.build(full=True)
            """,
            filled.home.root,
        )
        assert builder.stdout.readline() == "ready\n"
        time.sleep(wait)
        os.kill(builder.pid, signal.SIGKILL)
        builder.communicate()
        memory = selfnote.open_memory(filled.home.root)
        result = memory.recall("端口 watchdog", limit=300)
        assert (sources(result), result.complete) == (expected, True)
        states.add(result.how)
    assert filled.index.build().complete
    assert filled.recall("端口", limit=200).how == "index"
    assert states <= {"index", "scan"}


def test_a_search_during_a_build_answers_right(filled):
    """A reader sees the index before or after a build, or reads the sessions."""
    filled.index.build()
    expected = sources(filled.recall("端口", limit=200))
    builder = run(
        """
        import sys, selfnote
        for _ in range(8):
            selfnote.open_memory(sys.argv[1]).index.build(full=True)
        """,
        filled.home.root,
    )
    searches = 0
    while builder.poll() is None:
        result = filled.recall("端口", limit=200)
        assert (sorted(sources(result)), result.complete) == (sorted(expected), True)
        searches += 1
    assert builder.communicate()[1] == ""
    assert searches > 3


APPEND = """
import json, sys, time
import zstandard
path, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    event = {"type": "user/message", "seq": number, "time": 1796036351440 + number, "surfaceOp": "append",
             "data": {"id": f"m{number}", "content": [{"type": "text", "text": f"灯塔 第 {number} 条 " + "废话" * 300}],
                      "source": {"kind": "user"}}}
    compressor = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compressobj()
    frame = compressor.compress(json.dumps(event, ensure_ascii=False).encode() + b"\\n") + compressor.flush()
    with open(path, "ab", buffering=0) as file:
        half = len(frame) // 2
        file.write(frame[:half])  # a writer may be caught between two writes
        time.sleep(0.0005)
        file.write(frame[half:])
    print(number, flush=True)
"""


@pytest.mark.parametrize("indexed", [True, False])
def test_searching_a_log_that_another_process_writes_misses_no_whole_frame(filled, make, indexed):
    """S2-241, S2-242: never an error, and every frame that was whole before the search is found."""
    filled.config.save(index_enabled=indexed)
    path = filled.home.sessions / "project" / "live" / "session.jsonl.zstd"
    path.parent.mkdir()
    path.write_bytes(
        make.frame(json.dumps({"type": "session", "version": 0, "id": "live", "createdAt": make.TIME}).encode() + b"\n")
    )
    if indexed:
        filled.index.build()
    count = 150
    searches = 0
    with run(APPEND, path, count) as writer:
        for line in writer.stdout:
            written = int(line) + 1
            if written % 3 and written < count:
                continue
            result = filled.recall("灯塔", limit=1000)
            seqs = sorted(hit.seq for hit in result.hits)
            assert seqs == list(range(len(seqs)))
            assert len(seqs) >= written
            assert result.complete
            searches += 1
            if searches % 10 == 0 and indexed:
                filled.index.build()
    assert writer.returncode == 0
    assert searches >= 40
    result = filled.recall("灯塔", limit=1000)
    assert [len(result.hits), {hit.session_id for hit in result.hits}] == [count, {"live"}]
