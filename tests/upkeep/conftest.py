"""What the tests of the upkeep share: copies of the demo memory, and session logs made line by line."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

import selfnote

ROOT = Path(__file__).resolve().parents[1]


def _load(path, name):
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


_logs = _load(ROOT / "sessions" / "conftest.py", "tests_upkeep_logs")


@pytest.fixture
def _no_fsync(monkeypatch):
    """Nothing waits for the disk; what a crash leaves behind has tests of its own."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture
def lines():
    """The lines of a log: ``lines(session="session-a").user("…").assistant("…")``."""
    return _logs.Lines


@pytest.fixture
def demo(tmp_path, _no_fsync):
    """A writable copy of the demo memory."""
    return selfnote.open_memory(selfnote.demo_home(tmp_path / "demo"))


@pytest.fixture
def put_log():
    """Write a log where the harness would; its path."""

    def put(memory, log, session, *, name="session.jsonl", project="p"):
        path = memory.home.sessions / project / session / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(log.frames()) if name.endswith(".zstd") else log.plain())
        return path

    return put
