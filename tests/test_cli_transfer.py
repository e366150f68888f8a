"""`selfnote export` and `selfnote import` as an owner runs them: one file out, and in on another machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import selfnote
from selfnote.demo import DEMO_NOW
from selfnote.times import format_instant

WHEN = format_instant(DEMO_NOW)


def run(*arguments: str, cwd: Path, expect: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "selfnote.cli", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, "LANG": "C.UTF-8", "PYTHONPATH": str(Path(selfnote.__file__).parent.parent)},
        check=False,
    )
    assert done.returncode == expect, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done


@pytest.mark.parametrize("verb", ["export", "import"])
def test_it_has_help_with_an_example(verb: str, tmp_path: Path):
    assert f"Example: selfnote {verb}" in " ".join(run(verb, "--help", cwd=tmp_path).stdout.split())


def test_a_memory_is_carried_to_another_machine(tmp_path: Path):
    """S2-270, S2-275: the file is named by the day, looked into first, then taken in; approved ones wait."""
    there = selfnote.demo_home(tmp_path / "there" / ".dsh")
    here = tmp_path / "here" / ".dsh"
    told = run("export", "--home", str(there), "--now", WHEN, cwd=tmp_path).stdout
    assert told.startswith("selfnote-2026-11-30.json: 114 facts, 47 notes")
    file = tmp_path / "selfnote-2026-11-30.json"
    again = run("export", "--home", str(there), "--now", WHEN, cwd=tmp_path, expect=2)
    assert "there already" in again.stderr
    plan = run("import", file.name, "--home", str(here), "--dry-run", "--lang", "en", cwd=tmp_path).stdout
    assert "Would come in: facts 114" in plan
    assert not (here / "memory" / "facts.jsonl").exists()
    done = run("import", file.name, "--home", str(here), "--lang", "en", cwd=tmp_path).stdout
    assert "Came in: facts 114, notes 47" in done
    memory = selfnote.open_memory(here, read_only=True)
    assert (len(memory.facts.approved()), len(memory.notes.list())) == (0, 47)
    rows = json.loads(run("import", file.name, "--home", str(here), "--json", cwd=tmp_path).stdout)
    assert {row["action"] for row in rows} == {"skip"}


def test_the_package_itself_is_printed_for_a_script(tmp_path: Path):
    there = selfnote.demo_home(tmp_path / "there" / ".dsh")
    out = json.loads(run("export", "--json", "--home", str(there), "--now", WHEN, cwd=tmp_path).stdout)
    assert (out["kind"], out["version"], out["createdAt"]) == ("selfnote", 2, WHEN)
    assert list(tmp_path.glob("*.json")) == []


def test_a_file_that_is_none_of_ours_is_refused(tmp_path: Path):
    """S2-276."""
    (tmp_path / "x.json").write_text('{"kind": "other"}', encoding="utf-8")
    told = run("import", "x.json", "--home", str(tmp_path / ".dsh"), cwd=tmp_path, expect=2)
    assert "no package of selfnote" in told.stderr
    assert not (tmp_path / ".dsh").exists()
