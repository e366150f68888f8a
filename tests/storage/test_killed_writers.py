"""Writers killed with SIGKILL at any instant: the file is the old one or the new one, never half (S2-125, S2-282)."""

from __future__ import annotations

import hashlib
import json
import os
import random
import time

import pytest

from selfnote.storage.fingerprints import fingerprint

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

#: How many writers of each file are killed; ``SELFNOTE_KILLS=400`` is the long form.
KILLS = int(os.environ.get("SELFNOTE_KILLS", "40"))

WRITERS = """
import hashlib

def opened(home):
    return selfnote.open_memory(home, tz="Asia/Shanghai")

@job
def facts(home, start):
    m, n = opened(home), int(start)
    while True:
        m.facts.stage(hashlib.sha256(b"%d" % n).hexdigest() * 20, source=f"s#{n}", detail=str(n))
        m.facts.set_tags("f-1", [str(n)] * 9)
        n += 1

@job
def notes(home, start):
    m, n = opened(home), int(start)
    while True:
        note = m.notes.add(f"{n} " + "note " * 60 + f"{n}", pinned=True)
        if n % 3 == 0:
            m.notes.delete(note)
        n += 1

@job
def persona(home, start):
    m, n = opened(home), int(start)
    while True:
        m.persona.save(l0=f"{n}", l1=f"{n} " + "r" * 200, l2=(f"{n} " * 700).strip())
        n += 1

@job
def config(home, start):
    m, n = opened(home), int(start)
    while True:
        m.config.save(header=f"{n}", timing_hint=f"{n}", pronoun=f"{n % 9999999}", half_life_days=1 + n % 364)
        n += 1
"""


ODD = b'{"id":"f-2","text":"b","status":"candidate", "odd" : 1.0}\n'
UNREADABLE = b"unreadable \xff, and kept\n"


def check_facts(memory):
    first, odd, unreadable, *others = memory.home.facts.read_bytes().splitlines(keepends=True)
    assert (odd, unreadable) == (ODD, UNREADABLE)
    assert [bad.line for bad in memory.facts.bad_lines()] == [3]
    assert all(line.endswith(b"\n") for line in (first, *others))
    staged = [json.loads(line) for line in others]
    assert [fact["detail"] for fact in staged] == [str(n) for n in range(1, len(staged) + 1)]
    for n, fact in enumerate(staged, start=1):
        assert fact["text"] == hashlib.sha256(b"%d" % n).hexdigest() * 20
        assert fact["sources"] == [f"s#{n}"]
    tags = json.loads(first)["tags"]
    assert len(tags) in (0, 9)
    assert len(set(tags)) <= 1
    return len(staged) + 1


def check_notes(memory):
    numbers = []
    for line in memory.home.notes.read_text("utf-8").splitlines(keepends=True):
        assert line.endswith("\n")
        if line.startswith("#"):
            continue
        words = line.split()
        assert words[-1] == words[3]
        assert len(words) == 65
        numbers.append(int(words[3]))
    assert memory.notes.other_lines() == []
    assert numbers == sorted(numbers)
    archived = [
        int(line.split()[3])
        for path in memory.home.notes_archive.glob("*.md")
        for line in path.read_text("utf-8").splitlines()
        if len(line.split()) == 65
    ]
    top = max([0, *numbers, *archived])
    assert set(range(1, top + 1)) <= {*numbers, *archived}
    return top + 1


def check_persona(memory):
    persona = memory.persona.load()
    if persona.l0:
        assert persona.l1.split()[0] == persona.l0
        assert persona.l2.split() == [persona.l0] * 700
    return int(persona.l0 or 0) + 1


def check_config(memory):
    config, problems = memory.config.load_with_problems()
    assert problems == ()
    values = json.loads(memory.home.config.read_bytes())
    assert values["unknown"] == {"kept": 1}
    if config.timing_hint:
        assert config.header == config.timing_hint
        assert config.half_life_days == 1 + int(config.header) % 364
    return int(config.timing_hint or 0) + 1


@pytest.mark.parametrize(
    ("name", "check", "first", "then"),
    [
        (
            "facts",
            check_facts,
            b'{"id":"f-1","text":"a","status":"candidate","tags":[]}\n' + ODD + UNREADABLE,
            lambda m: m.facts.set_importance("f-1", 2),
        ),
        ("notes", check_notes, b"# notes\n", lambda m: m.notes.add("last")),
        ("persona", check_persona, b"", lambda m: m.persona.save(l2="last")),
        ("config", check_config, b'{ "unknown": {"kept": 1} }\n', lambda m: m.config.save(max_items=100)),
    ],
    ids=["facts", "notes", "persona", "config"],
)
def test_a_writer_killed_at_any_instant_leaves_the_old_file_or_the_new_one(
    memory, home, smith, *, name, check, first, then
):
    """S2-125, S2-282, COMPLAINTS 10: parseable after every kill; what was acknowledged is there; no temp file stays."""
    forge = smith(WRITERS)
    path = getattr(memory.home, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(first)
    chance = random.Random(20260301)  # noqa: S311 - when to kill is no secret
    start, moved = 1, 0
    for turn in range(KILLS):
        before, pid, deadline = fingerprint(path), forge.fork(name, home, start), time.monotonic() + 10
        while turn % 2 and fingerprint(path) == before and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.04))
        assert forge.kill(pid) == -9
        after = check(memory)
        assert after >= start, "what was there before the kill is gone"
        moved += after > start
        start = after
    assert moved >= KILLS // 3, "the writers were killed before they wrote anything: this proves nothing"
    then(memory)
    assert [found.name for found in path.parent.iterdir() if found.name.endswith(".tmp")] == []
