"""What the tests of the injected text share: an independent packer, random homes, and homes written by hand.

The oracle (``helpers/oracle.py``) is written from the words of DESIGN "The injected text", not from the code.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def _load(name):
    qualified = f"tests_injection_{name}"
    if qualified in sys.modules:
        return sys.modules[qualified]
    spec = importlib.util.spec_from_file_location(qualified, HERE / "helpers" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[qualified] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch):
    """Simulated months wait for no disk; what a crash leaves behind is the business of tests/storage."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture(scope="session")
def oracle():
    """The independent packer."""
    return _load("oracle")


@pytest.fixture(scope="session")
def homes():
    """Random homes, and a builder for homes written line by line."""
    return _load("homes")


@pytest.fixture
def build(homes, home):
    """A builder of this test's own home: ``build(facts=[…], notes=[…], …)`` writes the files and returns the Spec."""

    def make(**parts):
        spec = homes.Spec(**parts)
        homes.write(spec, home)
        return spec

    return make


@pytest.fixture
def fact(homes):
    """One line of facts.jsonl as a dict."""
    return homes.fact


@pytest.fixture
def ledger(home):
    """Every line of hits.jsonl, the rolled months first, as dicts."""

    def read():
        paths = [*sorted((home / "memory" / "archive").glob("hits-*.jsonl")), home / "memory" / "hits.jsonl"]
        return [json.loads(line) for path in paths if path.exists() for line in path.read_text("utf-8").splitlines()]

    return read


@pytest.fixture
def stored(home):
    """facts.jsonl as it stands on disk: id -> dict."""

    def read():
        lines = (home / "memory" / "facts.jsonl").read_text("utf-8").splitlines()
        return {one["id"]: one for one in map(json.loads, lines)}

    return read


@pytest.fixture
def tree(home):
    """Every file below the home with its bytes and times, and every folder."""

    def read(*, times=True):
        found = {}
        for path in sorted(home.rglob("*")):
            name = str(path.relative_to(home))
            stat = path.stat()
            data = path.read_bytes() if path.is_file() else None
            found[name] = (data, stat.st_mtime_ns, stat.st_ino) if times else data
        return found

    return read
