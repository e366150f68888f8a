"""Hours of use simulated: the same as composing for real, and who gets a turn (COMPLAINTS 26, 27, S2-207..210)."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import selfnote
from selfnote.audit import rotation, schema
from selfnote.audit.rotation import FAIR_GINI, gini, simulate
from selfnote.demo import DEMO_NOW, bundled_home
from selfnote.errors import LimitExceeded
from selfnote.records.ledger import read_hits

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def write_facts(home: Path, lines: list[dict]) -> selfnote.Memory:
    path = home / "memory" / "facts.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return selfnote.open_memory(home, tz="Asia/Shanghai")


def fact(identifier: str, text: str, **values) -> dict:
    return {
        "id": identifier,
        "text": text,
        "status": "approved",
        "channel": "rel",
        "approvedAt": "2026-01-02T00:00:00.000Z",
        "createdAt": "2026-01-01T00:00:00.000Z",
    } | values


def fourteen() -> list[dict]:
    """14 env facts, three of them hot from long use, all shorter than half of 230."""
    lengths = [70, 70, 70, 20, 33, 41, 78, 25, 60, 52, 37, 66, 29, 45]
    return [
        fact(
            f"f-{index:02d}",
            f"{index:02d}" + "机" * (length - 2),
            channel="env",
            **({"hitCount": 459, "lastHit": "2026-02-28T00:00:00.000Z"} if index < 3 else {}),
        )
        for index, length in enumerate(lengths)
    ]


def tree(root: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path.relative_to(root)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_two_hundred_rotations_let_every_env_fact_in_and_share_fairly(home: Path):
    """COMPLAINTS 26: 14 env facts, 230 characters, 200 hourly rotations: each at least once, Gini below the limit."""
    simulation = simulate(write_facts(home, fourteen()), now=NOW, hours=200)
    facts = simulation.facts.set_index("id")
    assert (facts["times_in"] >= 200 // 14).all()
    assert (facts["longest_out"] <= 14).all()
    row = simulation.summary.set_index("channel").loc["env"]
    assert (row["facts"], row["hours"], row["coverage"], row["never_in"]) == (14, 200, 1.0, ())
    assert row["gini"] == pytest.approx(gini(list(facts["times_in"])))
    assert row["gini"] < FAIR_GINI
    assert row["fair"]
    assert facts["first_in"].max() < 14


def test_a_simulation_is_what_composing_hour_by_hour_would_have_done(tmp_path: Path):
    """S2-101, S2-207..210: the same entries each hour, the same counters; real composes in a copy, rel facts too."""
    real, copy = tmp_path / "real" / ".dsh", tmp_path / "copy" / ".dsh"
    for place in (real, copy):
        for part in ("selfnote", "memory"):
            shutil.copytree(bundled_home() / part, place / part)
    simulation = simulate(selfnote.open_memory(copy, read_only=True), now=DEMO_NOW, hours=30)
    memory = selfnote.open_memory(real)
    lines_before = len(read_hits(memory.home)[0])
    for hour in simulation.run:
        text = selfnote.compose_injection(real, session="s", turn=hour.number, now=DEMO_NOW + hour.number * HOUR)
        assert text == hour.injection.text, hour.number
    counted = Counter(one for line in read_hits(memory.home)[0][lines_before:] for one in line.counted)
    assert counted == Counter(one for hour in simulation.run for one in hour.counted)
    after = {one.id: one.hit_count for one in memory.facts.approved()}
    assert dict(zip(simulation.facts["id"], simulation.facts["hits_after"], strict=True)) == after


def test_a_choice_that_is_less_than_an_hour_old_is_kept_and_counts_nothing(home: Path):
    """DESIGN Rotation."""
    memory = write_facts(home, fourteen())
    selfnote.compose_injection(home, session="s", now=NOW)
    simulation = simulate(memory, now=NOW + timedelta(minutes=20), hours=3)
    assert not simulation.run[0].counted
    assert all(hour.counted for hour in simulation.run[1:])
    assert simulation.run[0].injection.text == selfnote.assemble_injection(memory, now=NOW).text


def test_what_is_chosen_by_heat_alone_is_a_closed_loop_and_is_shown_as_one(home: Path):
    """COMPLAINTS 27: in -> counted -> hotter -> in; the others never come in, however long it goes on."""
    lines = [fact(f"f-{index}", f"{index}" + "句" * 28, importance=1 + index / 10) for index in range(9)]
    simulation = simulate(write_facts(home, lines), now=NOW, hours=100)
    row = simulation.summary.set_index("channel").loc["rel"]
    assert row["incumbents"] == 1.0
    assert row["coverage"] == pytest.approx(3 / 9)
    assert set(row["never_in"]) == {f"f-{index}" for index in range(6)}
    assert row["gini"] == pytest.approx(1 - 3 / 9)
    assert not row["fair"]
    assert row["heat_gap"] > 5
    hottest = simulation.hours[simulation.hours["id"] == "f-8"]
    assert list(hottest["hits"]) == list(range(100))
    assert (hottest["heat"].diff().dropna() > 0).all()
    cold = simulation.hours[simulation.hours["id"] == "f-0"]
    assert (cold["heat"].diff().dropna() < 0).all()


def test_one_longer_than_half_the_segment_never_enters_and_the_reason_is_told(home: Path):
    """DESIGN Env."""
    memory = write_facts(home, [*fourteen(), fact("f-long", "长" * 150, channel="env")])
    row = simulate(memory, now=NOW, hours=40).facts.set_index("id").loc["f-long"]
    assert (row["times_in"], row["reason"], row["longest_out"]) == (0, "longer than half the segment", 40)


def test_facts_in_conflict_are_not_counted_as_kept_out_by_room(home: Path):
    link = [{"id": "f-b", "kind": "conflict", "rule": "r"}]
    memory = write_facts(home, [fact("f-a", "端口 1", similarTo=link), fact("f-b", "端口 2"), fact("f-c", "甲")])
    row = simulate(memory, now=NOW, hours=3).summary.set_index("channel").loc["rel"]
    assert (row["facts"], row["coverage"]) == (1, 1.0)


def test_the_frames_of_a_simulation_are_as_documented_and_typed_when_empty(home: Path, memory: selfnote.Memory):
    filled = simulate(write_facts(home, fourteen()[:3]), now=NOW, hours=2)
    empty = simulate(selfnote.open_memory(home.parent / "none"), now=NOW, hours=2)
    for name, frames in {
        "rotation": (filled.hours, empty.hours),
        "rotation_facts": (filled.facts, empty.facts),
        "rotation_summary": (filled.summary, empty.summary),
    }.items():
        for frame in frames:
            assert [(key, str(dtype)) for key, dtype in frame.dtypes.items()] == [
                (column.name, schema.DTYPES[column.kind]) for column in schema.columns_of(name)
            ]
    assert (len(filled.hours), len(empty.hours), len(empty.summary)) == (6, 0, 0)
    assert repr(filled).startswith("<Simulation of 2 hours of use; env: coverage 100%")
    assert repr(empty) == "<Simulation of 2 hours of use; nothing was injected>"


def test_a_simulation_writes_nothing(tmp_path: Path):
    """COMPLAINTS 17: looking counts nothing."""
    root = selfnote.demo_home(tmp_path / ".dsh")
    before = tree(root)
    simulation = simulate(selfnote.open_memory(root), now=DEMO_NOW, hours=5)
    assert (len(simulation.hours), len(simulation.summary)) == (5 * len(simulation.facts), 2)
    assert tree(root) == before


@pytest.mark.parametrize("hours", [0, -1, 1.5, True, rotation.MOST_HOURS + 1])
def test_hours_out_of_range_are_refused(memory: selfnote.Memory, hours):
    with pytest.raises(LimitExceeded, match="hours="):
        simulate(memory, now=NOW, hours=hours)


def test_the_gini_coefficient():
    assert gini([5, 5, 5]) == pytest.approx(0)
    assert gini([0, 0, 0, 8]) == pytest.approx(0.75)
    assert gini([1, 3]) == pytest.approx(0.25)
    assert gini([0, 0]) is None
    assert gini([]) is None
