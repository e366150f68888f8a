"""36 real processes on one memory lose nothing and tear no line (S2-164, S2-284, COMPLAINTS 9, 10)."""

from __future__ import annotations

import json
import os

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

WRITERS = 36
WRITER = """
import contextlib
from selfnote.storage.locks import hold

@job
def write(home, n):
    m = selfnote.open_memory(home, tz="Asia/Shanghai")
    fact = m.facts.stage(f"写手 {n} 的第一件事", source=f"session-{n}#1")
    m.facts.stage("所有写手都说的同一句话", source=f"session-{n}#2")
    m.facts.approve(fact, via=f"writer-{n}")
    m.facts.set_importance(fact.id, 3)
    m.notes.add(f"writer {n} was here")
    m.config.save(max_items=200 + int(n))

@job
def append(path, n, locked):
    for k in range(20):
        with hold(Path(path + ".lock")) if locked == "locked" else contextlib.nullcontext():
            append_line(Path(path), f'{{"n":{n},"k":{k},"pad":"{"x" * 200}"}}'.encode())
"""


def test_36_processes_stage_approve_and_note_and_nothing_is_lost(memory, home, smith):
    """S2-164: concurrent writers never overwrite each other."""
    forge = smith(WRITER)
    pids = [forge.fork("write", home, n) for n in range(WRITERS)]
    assert [forge.wait(pid) for pid in pids] == [0] * WRITERS
    assert memory.facts.bad_lines() == []
    facts = memory.facts.all()
    own = [fact for fact in facts if fact.text.startswith("写手")]
    assert {fact.text for fact in own} == {f"写手 {n} 的第一件事" for n in range(WRITERS)}
    assert all((fact.status, fact.importance, len(fact.history)) == ("approved", 3.0, 2) for fact in own)
    assert {fact.history[0].via for fact in own} == {f"writer-{n}" for n in range(WRITERS)}
    (shared,) = (fact for fact in facts if fact.text.startswith("所有"))
    assert shared.occurrences == WRITERS
    assert set(shared.sources) == {f"session-{n}#2" for n in range(WRITERS)}
    assert all(fact.line == number for number, fact in enumerate(facts, start=1))
    for fact in own:
        assert {link.id for link in fact.similar_to} == {other.id for other in own} - {fact.id}
    assert sorted(note.text for note in memory.notes.list()) == sorted(f"writer {n} was here" for n in range(WRITERS))
    assert 200 <= memory.config.load().max_items < 200 + WRITERS
    assert [found.name for found in home.rglob("*.tmp")] == []


@pytest.mark.parametrize("how", ["locked", "unlocked"])
def test_36_processes_append_whole_lines(tmp_path, smith, how):
    """COMPLAINTS 11: no two lines glued, none torn, none lost, whoever appends, with or without the lock."""
    forge = smith(WRITER)
    path = tmp_path / "hits.jsonl"
    pids = [forge.fork("append", path, n, how) for n in range(WRITERS)]
    assert [forge.wait(pid) for pid in pids] == [0] * WRITERS
    lines = path.read_bytes().split(b"\n")
    # Who appends without the lock may mend the end of a line that is still being written: an empty line, never a torn one.
    assert lines.count(b"") == 1 or how == "unlocked"
    seen = [(values["n"], values["k"], len(values["pad"])) for values in map(json.loads, filter(None, lines))]
    assert sorted(seen) == [(n, k, 200) for n in range(WRITERS) for k in range(20)]
