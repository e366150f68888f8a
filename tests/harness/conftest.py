"""What the tests of the harness share: homes with real session logs, made line by line."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from selfnote.harness.tools import ModelDesk

ROOT = Path(__file__).resolve().parents[1]


def _load(path, name):
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


_logs = _load(ROOT / "sessions" / "conftest.py", "tests_harness_logs")


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch):
    """Nothing waits for the disk here; what a crash leaves behind is the business of tests/storage."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture
def lines():
    """The lines of a log: ``lines(session="session-a").user("…").assistant("…")``."""
    return _logs.Lines


@pytest.fixture
def put_log(home):
    """Write a log where the harness would: ``put_log(log, session)``."""

    def put(log, session, *, project="p"):
        path = home / "sessions" / project / session / "session.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(log.plain())
        return path

    return put


@pytest.fixture
def say(lines, put_log):
    """Let the owner say something in session-x; its source."""

    def said(text):
        put_log(lines(session="session-x").user(text), "session-x")
        return "session-x#0"

    return said


@pytest.fixture
def talk(lines, put_log):
    """One conversation: owner, injected context, reasoning and a tool's output, assistant; its session id."""
    session = "session-talk"
    log = lines(session=session)
    log.user("以后回答先给结论，\n细节等我问。数据库端口是 5433")  # 0
    log.user("运行时上下文：数据库端口是 9999", source={"kind": "plugin", "plugin": "x"})  # 1
    log.packed(["推理", "里说端口 7777"], kind="reasoning-chunks")  # 2, 3
    result = [{"type": "tool-result", "toolCallId": "c", "content": [{"type": "text", "text": "端口 8888"}]}]
    log.event(
        "tool/result", {"message": {"id": "t", "role": "user", "content": result, "source": {"kind": "tool"}}}
    )  # 4
    log.assistant("好的，先给结论。端口记下了", blocks=[{"type": "reasoning", "text": "其实端口 6666"}])  # 5
    log.user("好的")  # 6
    log.user("替换过的话 端口 5555", surfaceOp={"op": "replace", "start": 0, "end": 0})  # 7
    put_log(log, session)
    return session


@pytest.fixture
def desk(memory):
    """The model's desk on this test's memory."""
    return ModelDesk(memory, session="session-now")


@pytest.fixture
def tree(home):
    """Every file below the home with its bytes, lock files aside."""

    def read():
        return {
            str(path.relative_to(home)): path.read_bytes()
            for path in sorted(home.rglob("*"))
            if path.is_file() and path.name != ".lock"
        }

    return read
