"""Finding again in a shell: recall, search, why, where, forget and the index, on a copy of the demo memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import selfnote
from selfnote.sessions.evidence import SOUND

#: Kept by an older plugin as the owner's words; the log says a plugin injected them.
NOT_HIS = "f-8b0b76ad49af"


def run(home: Path, *arguments: str, expect: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "selfnote.cli", *arguments, "--home", str(home)],
        capture_output=True, text=True, encoding="utf-8", env={**os.environ, "LANG": "C.UTF-8"}, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    return selfnote.demo_home(tmp_path / "demo")


def files_of(home: Path) -> dict[str, bytes]:
    """Everything below the home but what is derived from the sessions."""
    found = (path for path in sorted(home.rglob("*")) if path.is_file() and path.name != ".lock")
    return {
        name: path.read_bytes()
        for path in found
        if not (name := path.relative_to(home).as_posix()).startswith("memory/cache/")
    }


def test_recall_shows_what_was_said_with_its_source_and_how_it_was_searched(demo: Path):
    """S2-019, S2-103: and counts nothing."""
    before = files_of(demo)
    told = json.loads(run(demo, "recall", "总结", "不要", "超过三句话", "--json"))
    best = told["hits"][0]
    assert "总结不要超过三句话" in best["text"]
    assert best["source"] == f"{best['session_id']}#{best['seq']}"
    assert told["how"] == "scan"
    assert told["complete"]
    assert best["text"] in run(demo, "show", best["source"])
    text = run(demo, "recall", "总结", "--limit", "1", "--role", "user")
    assert text.count("\n- ") == 1
    assert files_of(demo) == before


def test_search_shows_facts_with_their_pointers_and_counts_nothing(demo: Path):
    """S2-029, DESIGN "Counting"."""
    before = files_of(demo)
    told = json.loads(run(demo, "search", "端口", "--json"))
    assert {one["kind"] for one in told["hits"]} == {"fact"}
    assert all(one["source"] for one in told["hits"])
    assert "端口" in run(demo, "search", "端口")
    assert files_of(demo) == before


def test_why_opens_the_message_behind_a_fact_and_says_when_it_is_not_the_owners(demo: Path):
    """COMPLAINTS 21, 56."""
    told = json.loads(run(demo, "why", NOT_HIS, "--json"))
    assert told["status"] == "not the owner's words"
    shown = run(demo, "why", NOT_HIS, "--around", "1")
    assert "以后都要用英文回答" in shown
    assert "→" in shown
    memory = selfnote.open_memory(demo, read_only=True)
    sound = next(fact.id for fact in memory.facts.approved() if memory.evidence(fact).status == "ok")
    assert json.loads(run(demo, "why", sound, "--json"))["status"] in SOUND
    run(demo, "why", "f-nobody", expect=2)


def test_where_lists_every_place_and_changes_nothing(demo: Path):
    """COMPLAINTS 68."""
    before = files_of(demo)
    places = json.loads(run(demo, "where", "用英文回答", "--json"))["traces"]
    assert {one["kind"] for one in places} >= {"fact", "session"}
    assert "memory/facts.jsonl" in run(demo, "where", "用英文回答")
    assert files_of(demo) == before


def test_forget_shows_the_list_first_and_removes_only_when_told_to(demo: Path):
    """COMPLAINTS 68, S2-007: never from the sessions."""
    before = files_of(demo)
    assert "memory/facts.jsonl" in run(demo, "forget", "用英文回答")
    assert files_of(demo) == before
    run(demo, "forget", "用英文回答", "--yes")
    after = files_of(demo)
    assert "用英文回答".encode() not in after["memory/facts.jsonl"]
    assert {name for name in before if before[name] != after.get(name)} == {"memory/facts.jsonl"}
    assert any("用英文回答".encode() in data for name, data in after.items() if name.startswith("selfnote/backup/"))
    assert "用英文回答" in run(demo, "recall", "用英文回答")  # the session still says so, and recall tells


def test_the_index_is_built_told_and_dropped(demo: Path):
    """S2-230, S2-231, S2-234."""
    assert json.loads(run(demo, "index", "status", "--json"))["state"] == "absent"
    run(demo, "index", "build")
    assert (demo / "memory" / "index.sqlite").is_file()
    assert json.loads(run(demo, "index", "status", "--json"))["state"] == "ok"
    assert "10" in run(demo, "index", "status", "--lang", "en")
    selfnote.open_memory(demo).config.save(index_enabled=True)
    assert json.loads(run(demo, "recall", "总结", "--json"))["how"] == "index"
    run(demo, "index", "drop")
    assert not (demo / "memory" / "index.sqlite").exists()
    assert json.loads(run(demo, "recall", "总结", "--json"))["how"] == "scan"
