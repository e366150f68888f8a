"""Where a memory lives: one registry of every path (S2-279..283, A-07b, A-29)."""

from __future__ import annotations

from pathlib import Path

import pytest

import selfnote
from selfnote.home import MemoryHome

ROOT = Path("/r/.dsh")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("persona", "selfnote/persona.md"), ("notes", "selfnote/notes.md"), ("notes_archive", "selfnote/archive"), ("config", "selfnote/config.json"),
        ("corrections", "selfnote/corrections.jsonl"), ("persona_pending", "selfnote/persona.pending.json"), ("selfnote_lock", "selfnote/.lock"),
        ("facts", "memory/facts.jsonl"), ("habits", "memory/habits.jsonl"), ("summaries", "memory/summaries.jsonl"), ("hits", "memory/hits.jsonl"),
        ("seen", "memory/seen.jsonl"), ("rotation", "memory/rotation.json"), ("sessions_injected", "memory/sessions-injected.json"),
        ("heartbeat", "memory/heartbeat.json"), ("capture_cursor", "memory/capture-cursor.json"), ("index", "memory/index.sqlite"),
        ("cache", "memory/cache"), ("memory_lock", "memory/.lock"), ("sessions", "sessions"),
    ],
)  # fmt: skip
def test_every_path_is_the_one_of_the_design(name, path):
    """S2-279, S2-280, DESIGN "Files"."""
    assert getattr(MemoryHome.at(ROOT), name) == ROOT / path


@pytest.mark.parametrize(
    ("home", "environ", "root", "memory"),
    [
        (None, {}, "~/.dsh", "~/.dsh/memory"),
        (None, {"DSH_HOME": ""}, "~/.dsh", "~/.dsh/memory"),
        (None, {"DSH_HOME": "/a"}, "/a", "/a/memory"),
        (None, {"DSH_HOME": "~/b"}, "~/b", "~/b/memory"),
        (None, {"DSH_MEMORY_DIR": "/m"}, "~/.dsh", "/m"),
        (None, {"DSH_HOME": "/a", "DSH_MEMORY_DIR": "/m"}, "/a", "/m"),
        (None, {"DSH_HOME": "/a", "DSH_MEMORY_DIR": ""}, "/a", "/a/memory"),
        ("/x", {"DSH_HOME": "/a", "DSH_MEMORY_DIR": "/m"}, "/x", "/x/memory"),
        (Path("/x"), {"DSH_MEMORY_DIR": "/m"}, "/x", "/x/memory"),
        ("~/y", {"DSH_HOME": "/a"}, "~/y", "~/y/memory"),
    ],
)
def test_the_environment_counts_only_when_no_home_is_named(home, environ, root, memory):
    """A-29, S2-283, DESIGN "Environment": an explicit home never touches another's memory."""
    found = MemoryHome.at(home, environ=environ)
    assert (found.root, found.memory) == (Path(root).expanduser(), Path(memory).expanduser())


def test_opening_follows_the_same_rule(tmp_path, monkeypatch):
    """S2-283, A-29: the real environment."""
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "env"))
    monkeypatch.setenv("DSH_MEMORY_DIR", str(tmp_path / "moved"))
    selfnote.open_memory().facts.stage("甲", source="s#1")
    selfnote.open_memory().notes.add("乙")
    assert (tmp_path / "moved" / "facts.jsonl").exists()
    assert (tmp_path / "env" / "selfnote" / "notes.md").exists()
    assert not (tmp_path / "env" / "memory").exists()
    other = selfnote.open_memory(tmp_path / "named")
    assert other.facts.all() == []
    other.facts.stage("丙", source="s#1")
    assert (tmp_path / "named" / "memory" / "facts.jsonl").exists()
    assert len(selfnote.open_memory().facts.all()) == 1


def test_opening_makes_no_folder(home):
    """DESIGN "Opening"."""
    memory = selfnote.open_memory(home)
    for room in (memory.config, memory.facts, memory.notes, memory.persona, memory.habits, memory.sessions):
        assert room is not None
    memory.notes.list()
    memory.persona.load()
    memory.habits.active()
    assert not home.exists()
    assert str(home) in repr(memory)


def test_the_files_card_lists_each_file_once_and_no_session(memory):
    """S2-058, S2-064, S2-281, A-07b: derived from one registry."""
    files = memory.home.files()
    assert len({one.key for one in files}) == len({one.path for one in files}) == len(files)
    keys = {one.key for one in files}
    assert {"notes", "facts", "habits", "config", "cursor", "index", "archive", "persona"} <= keys
    assert all(memory.home.selfnote in one.path.parents or memory.home.memory in one.path.parents for one in files)
    assert all(one.label_zh and one.label_en for one in files)
    assert {one.key for one in files if one.derived} == {"index", "cache"}


def test_moved_memory_is_what_the_files_card_shows():
    """S2-283."""
    home = MemoryHome.at(None, environ={"DSH_HOME": "/a", "DSH_MEMORY_DIR": "/m"})
    assert {one.path for one in home.files() if one.key == "facts"} == {Path("/m/facts.jsonl")}


def test_writing_touches_our_own_folders_only(home, memory):
    """S2-007, S2-013: never sessions/, never anything beside selfnote/ and memory/."""
    (home / "sessions" / "x").mkdir(parents=True)
    (home / "sessions" / "x" / "session.jsonl").write_bytes(b"theirs\n")
    memory.facts.approve(memory.facts.stage("甲", source="s#1"))
    memory.notes.delete(memory.notes.add("乙"))
    memory.persona.save(l0="丙")
    memory.config.save(max_items=3)
    assert sorted(path.name for path in home.iterdir()) == ["memory", "selfnote", "sessions"]
    assert [path.read_bytes() for path in (home / "sessions").rglob("*") if path.is_file()] == [b"theirs\n"]


def test_deleting_the_files_removes_the_memory(home, memory):
    """S2-012, S2-016: nothing is kept elsewhere."""
    memory.facts.stage("甲", source="s#1")
    memory.notes.add("乙")
    memory.persona.save(l0="丙")
    for path in sorted(home.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    again = selfnote.open_memory(home)
    assert (again.facts.all(), again.notes.list(), again.persona.load().l0) == ([], [], "")


@pytest.mark.parametrize("name", [name for name in selfnote.__all__ if name != "__version__"])
def test_every_public_name_can_be_had(name):
    """DESIGN "Small records": all errors and the five functions import from selfnote."""
    assert getattr(selfnote, name) is not None
    assert name in dir(selfnote)


@pytest.mark.parametrize("name", ["NotFound", "Conflict", "LimitExceeded", "BadSource", "Corrupt", "Busy", "ReadOnly"])
def test_errors_are_few_and_one_family(name):
    """DESIGN "Errors"."""
    assert issubclass(getattr(selfnote, name), selfnote.SelfnoteError)


def test_a_name_that_is_not_ours_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing"):
        _ = selfnote.nothing
