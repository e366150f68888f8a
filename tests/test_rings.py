"""`make test-all`: a ring whose prerequisite is missing says so, and REQUIRE_RINGS=1 makes that a failure."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture
def rings(monkeypatch: pytest.MonkeyPatch):
    spec = importlib.util.spec_from_file_location("rings", REPOSITORY / "tools" / "rings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "rings", module)
    spec.loader.exec_module(module)
    return module


def test_a_missing_prerequisite_is_said_and_fails_only_when_rings_are_required(
    rings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def missing() -> None:
        raise rings.Skipped("no Chromium on this machine")

    monkeypatch.setattr(rings, "RINGS", (rings.Ring("browser", missing),))
    monkeypatch.delenv("REQUIRE_RINGS", raising=False)
    assert rings.main() == 0
    assert "SKIPPED browser: no Chromium on this machine" in capsys.readouterr().out
    monkeypatch.setenv("REQUIRE_RINGS", "1")
    assert rings.main() == 1


def test_a_ring_that_fails_does_not_hide_the_next(
    rings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    ran = []

    def fails() -> None:
        raise subprocess.CalledProcessError(1, "x")

    monkeypatch.setattr(rings, "RINGS", (rings.Ring("one", fails), rings.Ring("two", lambda: ran.append("two"))))
    assert rings.main() == 1
    assert ran == ["two"]
    assert "rings that failed: one" in capsys.readouterr().out


def test_make_knows_the_two_commands_and_the_whole():
    for target in ("audit", "test", "test-all", "bench"):
        done = subprocess.run(["make", "-n", target], cwd=REPOSITORY, capture_output=True, text=True, check=True)
        assert done.stdout
    asked = subprocess.run(
        ["make", "-n", "audit", "HOME_DIR=/some/where"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert '--home "/some/where"' in asked.stdout
