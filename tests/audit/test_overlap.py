"""What says the same twice, what contradicts itself, and what it costs in the text."""

from __future__ import annotations

import os
import random
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfnote
from selfnote.audit import overlap
from selfnote.audit.likeness import find_related, find_related_among
from selfnote.demo import DEMO_NOW
from selfnote.records.conflicts import profile_text, relate

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture
def demo(tmp_path):
    return selfnote.open_memory(selfnote.demo_home(tmp_path / "demo" / ".dsh"), tz="Asia/Shanghai")


def approve(memory, text, at=NOW, **values):
    return memory.facts.approve(memory.facts.stage(text, source="owner:test", now=at, **values), now=at)


def placed(memory, now):
    return {one.id: len(one.text) for segment in memory.assemble(now=now).segments.values() for one in segment.entries}


def reopened(memory, folder):
    """A copy whose next text is chosen afresh."""
    shutil.copytree(memory.home.root, folder / ".dsh")
    (folder / ".dsh" / "memory" / "rotation.json").unlink(missing_ok=True)
    return selfnote.open_memory(folder / ".dsh", tz="Asia/Shanghai")


PIECES = [
    "回答",
    "先",
    "后",
    "给结论",
    "不要",
    "要",
    "表格",
    "5432",
    "5433",
    "端口",
    "use ",
    "never ",
    "tabs",
    "，",
    "！",
    "。",
]
SENTENCES = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


@given(st.lists(SENTENCES, max_size=12), st.lists(SENTENCES, max_size=12), st.sampled_from([50.0, 80.0, 95.0]))
def test_every_pair_that_relates_is_found_and_no_other(ones, others, near):
    """A-13: the fast way to all pairs is the slow one."""
    first, second = [profile_text(one) for one in ones], [profile_text(one) for one in others]
    slow = [
        (one, other, found)
        for one in range(len(first))
        for other in range(len(second))
        if (found := relate(first[one], second[other], near=near)) is not None
    ]
    assert [tuple(found) for found in find_related(first, second, near=near)] == slow


def test_many_texts_are_compared_in_pieces_and_each_pair_once():
    source = random.Random(3)  # noqa: S311 - texts, no secrets
    texts = [profile_text("".join(source.choices("甲乙丙丁戊己庚辛", k=12))) for _ in range(700)]
    texts[650], texts[20] = profile_text("回答先给结论再给细节"), profile_text("回答先给结论再给细节。")
    found = [(one.one, one.other) for one in find_related_among(texts, near=95.0)]
    assert (20, 650) in found
    assert all(one < other for one, other in found)
    assert len(set(found)) == len(found)


def test_near_pairs_stand_with_their_rule_and_their_stored_link(memory):
    """A-13, S2-183: facts and notes, candidates too; retired ones and expired notes are not live."""
    one = approve(memory, "回答问题时请先给出结论")
    two = approve(memory, "回答问题的时候先给出结论")
    approve(memory, "数据库的端口用 5432")
    clash = memory.facts.stage("数据库的端口用 5433", source="owner:test", now=NOW)
    memory.facts.retire(memory.facts.stage("回答问题时请先给出结论吧", source="owner:test", now=NOW), now=NOW)
    memory.notes.add("数据库的端口用 5432", tier="core", on=NOW.date())
    memory.notes.add("回答问题的时候先给结论", tier="temp", on=NOW.date() - 40 * DAY)
    frame = overlap.pairs(memory, now=NOW)
    found = [tuple(row) for row in frame[["id", "other", "relation", "linked"]].fillna("-").itertuples(index=False)]
    note = memory.notes.list()[0].id
    port = memory.facts.approved()[2].id
    assert found == [
        (one.id, two.id, "near", "near"),
        (port, clash.id, "conflict", "conflict"),
        (port, note, "same", "-"),
        (clash.id, note, "conflict", "-"),
    ]
    assert list(frame["cluster"].fillna(-1)) == [0, -1, 1, -1]
    assert frame.loc[0, "score"] == relate(profile_text(one.text), profile_text(two.text)).score
    assert list(frame["other_status"]) == ["approved", "candidate", "core", "core"]


def test_wasted_is_what_the_text_gives_back_and_entering_is_who_comes_in(memory, tmp_path):
    """COMPLAINTS 30: clones in the conclusions; length and separators by hand, the newcomers by really retiring."""
    clones = [
        approve(memory, text, NOW + place * HOUR)
        for place, text in enumerate(
            ["回答问题的时候请先给出你的结论", "回答问题的时候请先给出你的结论吧", "回答问题的时候先给出你的结论"]
        )
    ]
    memory.facts.set_importance(clones[1].id, 3.0, now=NOW + 5 * HOUR)
    approve(memory, "提交之前" + "甲乙丙丁" * 8, NOW + 6 * HOUR)
    waiting = approve(memory, "文档里的" + "日期子丑" * 7, NOW - 90 * DAY)
    now = NOW + 8 * HOUR
    before = placed(memory, now)
    assert waiting.id not in before
    row = overlap.clusters(memory, now=now).iloc[0]
    assert row["keep"] == clones[1].id
    assert row["ids"] == (clones[1].id, clones[0].id, clones[2].id)
    assert (row["size"], row["inside"]) == (3, 3)
    assert row["stored"] == len(clones[0].text) + len(clones[2].text)
    assert row["wasted"] == row["stored"] + 2
    other = reopened(memory, tmp_path / "copy")
    for one in (clones[0], clones[2]):
        other.facts.retire(one.id, now=now)
    after = placed(other, now)
    assert set(row["entering"]) == set(after) - set(before) == {waiting.id}


def test_a_note_that_says_what_a_fact_says_is_the_one_to_give_up(memory):
    """A fact has a source and an approval; the note's characters are what is wasted, newlines being framing."""
    fact = approve(memory, "引用文件的时候带上行号")
    memory.notes.add("我引用文件的时候带上行号", tier="stable", on=NOW.date())
    row = overlap.clusters(memory, now=NOW).iloc[0]
    assert row["keep"] == fact.id
    assert row["wasted"] == len("我引用文件的时候带上行号")
    pinned = memory.notes.add("文件名一律用小写的英文", tier="stable", pinned=True, on=NOW.date())
    memory.notes.add("文件名一律要用小写英文", tier="stable", on=NOW.date())
    frame = overlap.clusters(memory, now=NOW)
    assert set(frame["keep"]) == {fact.id, pinned.id}
    assert list(frame["wasted"]) == sorted(frame["wasted"], reverse=True)


def test_clones_outside_the_text_waste_no_character_of_it(memory):
    memory.facts.stage("回答问题时请先给出结论", source="owner:test", now=NOW)
    memory.facts.stage("回答问题的时候先给出结论", source="owner:test", now=NOW + HOUR)
    row = overlap.clusters(memory, now=NOW).iloc[0]
    assert (row["inside"], row["wasted"], row["stored"], row["entering"]) == (0, 0, 12, ())


def test_what_an_open_conflict_holds_back_is_what_resolving_it_lets_in(memory, tmp_path):
    """S2-183, A-08b: both out while open; by really resolving, and by really retiring either."""
    one = approve(memory, "数据库的端口一律用 5432", channel="env")
    other = approve(memory, "数据库的端口一律用 5433", channel="env")
    waiting = memory.facts.stage("数据库的端口一律用 5434", source="owner:test", channel="env", now=NOW)
    assert not placed(memory, NOW)
    frame = overlap.conflicts(memory, now=NOW)
    assert list(frame["holds"]) == [True, False, False]
    assert set(frame["other"]) == {other.id, waiting.id}
    row = frame.iloc[0]
    for number, (column, act) in enumerate(
        [
            ("held", lambda m: m.facts.resolve(one.id, other.id, now=NOW)),
            ("if_only_this", lambda m: m.facts.retire(other.id, now=NOW)),
            ("if_only_other", lambda m: m.facts.retire(one.id, now=NOW)),
        ]
    ):
        copy = reopened(memory, tmp_path / str(number))
        act(copy)
        now_in = placed(copy, NOW)
        assert row[column] == sum(now_in.get(identifier, 0) for identifier in (one.id, other.id))
    assert row["held"] == len(one.text) + len(other.text)
    assert frame.loc[1, "held"] == 0


def test_a_resolved_conflict_is_a_pair_but_no_conflict_any_more(memory):
    one = approve(memory, "在台式机上用 Node 22", channel="env")
    other = approve(memory, "在台式机上用 Node 20", channel="env")
    memory.facts.resolve(one.id, other.id, now=NOW)
    assert len(overlap.conflicts(memory, now=NOW)) == 0
    row = overlap.pairs(memory, now=NOW).iloc[0]
    assert (row["relation"], row["linked"]) == ("conflict", "conflict")
    assert row["resolved"]


def test_the_overlap_of_the_demo_memory_can_be_recomputed(demo, tmp_path):
    """COMPLAINTS 30: all pairs by the slow way, the wasted characters by deleting the note, conflicts by resolving."""
    live = [(one.id, one.text) for one in demo.facts.all() if one.status != "retired"]
    notes = demo.frames.notes(DEMO_NOW)
    notes = notes[~notes["expired"] & ~notes["archived"] & notes["id"].notna()]
    live += list(zip(notes["id"], notes["text"], strict=True))
    slow = {
        (one, other, found.kind)
        for place, (one, text) in enumerate(live)
        for other, second in live[place + 1 :]
        if (found := relate(profile_text(text), profile_text(second))) is not None
    }
    frame = overlap.pairs(demo, now=DEMO_NOW)
    assert set(zip(frame["id"], frame["other"], frame["relation"], strict=True)) == slow
    assert len(frame) == len(slow) == 6

    costly = overlap.clusters(demo, now=DEMO_NOW).iloc[0]
    assert costly["wasted"] == len("我引用文件带行号")
    before = placed(demo, DEMO_NOW)
    copy = reopened(demo, tmp_path)
    copy.notes.delete(next(one for one in copy.notes.list() if one.id == costly["ids"][1]))
    assert set(costly["entering"]) == set(placed(copy, DEMO_NOW)) - set(
        placed(reopened(demo, tmp_path / "x"), DEMO_NOW)
    )
    assert costly["ids"][1] in before

    for number, row in enumerate(overlap.conflicts(demo, now=DEMO_NOW).query("holds").itertuples()):
        copy = reopened(demo, tmp_path / f"c{number}")
        copy.facts.resolve(row.id, row.other, now=DEMO_NOW)
        now_in = placed(copy, DEMO_NOW)
        assert row.held == now_in.get(row.id, 0) + now_in.get(row.other, 0)
