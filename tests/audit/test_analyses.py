"""The analyses of decay, demand, rules, overlap, origin and review give the documented frames and write nothing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pandas as pd
import pytest

import selfnote
from selfnote.audit import decay, demand, origin, overlap, review, rules, schema
from selfnote.audit.analyses import ANALYSES
from selfnote.demo import DEMO_NOW

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
ONLY_ASCII = re.compile(r"[\x00-\x7f]*\Z")
MADE: dict[str, Callable[..., pd.DataFrame]] = {
    "curves": decay.curves,
    "group_curves": partial(decay.curves, by="tag"),
    "leaving": partial(decay.leaving, until_days=20),
    "sweep": decay.sweep,
    "by_tag": lambda memory, *, now: decay.by_tag(memory, {}, channels={"env": 90}, now=now),
    "demand": demand.demand,
    "spells": demand.spells,
    "survival": partial(demand.survival, by="tag"),
    "fit": partial(demand.fit, by="channel"),
    "rule_effects": rules.rule_effects,
    "pairs": overlap.pairs,
    "clusters": overlap.clusters,
    "conflicts": overlap.conflicts,
    "origins": origin.origins,
    "review": review.review,
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return selfnote.open_memory(selfnote.demo_home(tmp_path_factory.mktemp("demo") / ".dsh"), tz="Asia/Shanghai")


def dtypes(frame: pd.DataFrame) -> list[tuple[str, str]]:
    return [(name, str(dtype)) for name, dtype in frame.dtypes.items()]


def documented(name: str) -> list[tuple[str, str]]:
    return [(column.name, schema.DTYPES[column.kind]) for column in ANALYSES[name]]


def tree(memory: selfnote.Memory) -> dict[str, Any]:
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(memory.home.root.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("name", MADE)
def test_an_analysis_gives_the_documented_frame_and_writes_nothing(demo, name):
    """UC-003, S2-095: columns, dtypes, nulls only where they may be, and not a byte or a time of the home changed."""
    before = tree(demo)
    frame = MADE[name](demo, now=DEMO_NOW)
    assert dtypes(frame) == documented(name)
    assert len(frame) > 0
    assert isinstance(frame.index, pd.RangeIndex)
    for column in ANALYSES[name]:
        if not column.nullable:
            assert frame[column.name].notna().all(), column.name
    assert tree(demo) == before


@pytest.mark.parametrize("name", MADE)
def test_the_analysis_of_an_empty_memory_is_typed_and_has_no_row(memory, name):
    frame = MADE[name](memory, now=NOW)
    assert dtypes(frame) == documented(name)
    assert len(frame) == 0
    assert not memory.home.root.exists()


@pytest.mark.parametrize("name", MADE)
def test_a_damaged_memory_is_analysed_as_far_as_it_can_be_read(home, memory, name):
    """S2-014, COMPLAINTS 43: bad lines, odd times and a broken config beside good facts."""
    folder = home / "memory"
    folder.mkdir(parents=True)
    good = (
        '{"id":"f-a","text":"好的一条","status":"approved","approvedAt":"2026-01-01T00:00:00Z","createdAt":1767225600}'
    )
    odd = '{"id":"f-b","text":"怪的一条","status":"approved","approvedAt":"昨天","lastHit":"","hitCount":3,"history":[{}]}'
    (folder / "facts.jsonl").write_text(f"{good}\nnot json\n{odd}\n", encoding="utf-8")
    (folder / "hits.jsonl").write_text('{"at":null,"digest":"x","counted":["f-a",7]}\n{"half\n', encoding="utf-8")
    (folder / "seen.jsonl").write_text('{"at":"2026-02-01T00:00:00Z","ids":["f-a","f-x"],"counted":["f-a"]}\n', "utf-8")
    (home / "selfnote").mkdir()
    (home / "selfnote" / "config.json").write_text("{half", encoding="utf-8")
    (home / "selfnote" / "corrections.jsonl").write_text('{"text":"不对","at":"昨天"}\nhalf\n', encoding="utf-8")
    frame = MADE[name](memory, now=NOW)
    assert dtypes(frame) == documented(name)
    if name in {"curves", "sweep", "origins", "leaving", "by_tag"}:
        assert {"f-a", "f-b"} <= set(frame["id"])


@pytest.mark.parametrize("name", MADE)
def test_every_column_is_explained_in_both_languages(name):
    for column in ANALYSES[name]:
        assert ONLY_ASCII.match(re.sub("[…×−]", "", column.meaning)), column.name
        assert not ONLY_ASCII.match(column.meaning_zh), column.name


def test_an_analysis_is_described_like_any_other_frame(memory):
    assert list(memory.frames.describe("curves")["column"]) == [name for name, _ in documented("curves")]
    assert "热度" in schema.document("curves", "zh")


def test_a_frame_and_its_rows_are_the_same_thing(demo):
    """What one analysis reads of another's frame is what stands in it."""
    for name in ("spells", "demand", "origins"):
        frame = MADE[name](demo, now=DEMO_NOW)
        pd.testing.assert_frame_equal(schema.from_rows(name, schema.to_rows(name, frame)), frame)
