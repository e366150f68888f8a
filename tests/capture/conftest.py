"""Small worlds to capture in: sessions as the harness hears them and as their logs hold them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import zstandard

import selfnote
from selfnote.capture.listener import Capture

TIME = 1_796_036_351_440  # 2026-11-30


class Verdict(NamedTuple):
    """What the stand-in judge says of a sentence."""

    captured: bool
    rule: str | None
    reason: str | None
    clause: str
    gate: str | None


def judge(text):
    """A stand-in: each line that begins with 以后 or 不要 should last."""
    reasons = {"以后": "convention", "不要": "prohibition"}
    return [
        Verdict(line[:2] in reasons, "stand-in", reasons.get(line[:2]), line.strip(), None)
        for line in text.split("\n")
        if line.strip()
    ]


def user(text, *, kind="user", seq=None, **envelope):
    """A ``user/message``; ``kind=...`` leaves the source out."""
    data = {"id": f"m-{text[:8]}", "role": "user", "content": [{"type": "text", "text": text}]}
    if kind is not ...:
        data["source"] = {"kind": kind}
    return {
        "type": "user/message",
        "data": data,
        "surfaceOp": "append",
        **envelope,
        **({} if seq is None else {"seq": seq}),
    }


def other(kind="assistant/chunk", **data):
    return {"type": kind, "data": data}


class Session:
    """One session: its header, its events with seqs and times, and its log."""

    def __init__(self, sid, events, **header):
        self.id = sid
        self.header = {"type": "session", "version": 0, "id": sid, "createdAt": TIME, "delegationDepth": 0, **header}
        self.events = [{"seq": seq, "time": TIME + 1000 * seq, **event} for seq, event in enumerate(events)]

    def write(self, home, count=None, *, each=3, name="session.jsonl.zstd"):
        """The log with its first ``count`` events, framed as the harness does (EX-002)."""
        path = Path(home) / "sessions" / "--work--" / self.id / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in [self.header, *self.events[:count]]]
        if name.endswith(".zstd"):
            bodies = [lines[:1], *(lines[at : at + each] for at in range(1, len(lines), each))]
            path.write_bytes(b"".join(frame(b"".join(body)) for body in bodies))
        else:
            path.write_bytes(b"".join(lines))
        return path


def frame(text):
    compressor = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compressobj()
    return compressor.compress(text) + compressor.flush()


def opened(home, **options):
    """A capture of its own, as a new process makes it."""
    memory = selfnote.open_memory(home, tz="Asia/Shanghai")
    options = {"judge": judge, "config": memory.config.load, "zone": memory.zone, **options}
    return Capture(memory.home, facts=memory.facts, **options)


def staged(home):
    """The candidates as they can be compared: text, sources, occurrences, sha and reason, whatever the order."""
    facts = selfnote.open_memory(home, tz="Asia/Shanghai").facts.all()
    return sorted((fact.text, sorted(fact.sources), fact.occurrences, fact.reason, fact.status) for fact in facts)


@pytest.fixture
def capture(home):
    return opened(home)


SMITH = r"""
import importlib.util, os, signal, sys
import filelock, rapidfuzz, regex
import selfnote.capture.listener, selfnote.sessions.log, selfnote.sessions.events
spec = importlib.util.spec_from_file_location("tools", sys.argv[1])
tools = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tools)
jobs = {}
exec(sys.stdin.read(int(sys.stdin.readline())))
print("ready", flush=True)
for command in sys.stdin:
    job, *arguments = command.split()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            jobs[job](*arguments)
            code = 0
        except BaseException:
            import traceback
            traceback.print_exc()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@pytest.fixture
def run_job():
    """``run_job(source)(job, *arguments)``: a process of its own for each call; its exit code, -9 when killed."""
    started = []

    def start(source):
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        process = subprocess.Popen(
            [sys.executable, "-c", SMITH, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        started.append(process)
        process.stdin.write(f"{len(source)}\n{source}")
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n"

        def run(*words):
            process.stdin.write(" ".join(map(str, words)) + "\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        return run

    yield start
    for process in started:
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.stdout.close()
        process.wait(30)


class Tools(NamedTuple):
    """The helpers above, for tests: importlib mode has no packages to import them from."""

    Session: type
    user: object
    other: object
    judge: object
    opened: object
    staged: object
    frame: object
    TIME: int
    Verdict: type


@pytest.fixture(scope="session")
def tools():
    return Tools(Session, user, other, judge, opened, staged, frame, TIME, Verdict)
