"""The tab 注入: the text word for word, its bill, what was squeezed, and attribution (S2-092..105)."""

from __future__ import annotations

import pytest

import selfnote
from selfnote.demo import DEMO_NOW
from selfnote.panels.states import InjectionState


@pytest.fixture
def state(demo, clock) -> InjectionState:
    return InjectionState(demo, clock=clock)


def test_the_text_is_the_one_the_next_turn_gets(state, demo):
    """S2-092."""
    assert state.text == selfnote.assemble_injection(demo, now=DEMO_NOW).text
    assert state.text == selfnote.compose_injection(demo.home.root, session="s", turn=1, now=DEMO_NOW)
    assert state.reason == ""


def test_the_bill_is_itemised(state, demo):
    """S2-093: persona with its lines of L0 and L1."""
    segments = demo.assemble(now=DEMO_NOW).segments
    assert [(one.segment, one.used, one.budget, one.entries) for one in state.bill] == [
        (name, one.used, one.budget, len(one.entries)) for name, one in segments.items()
    ]
    assert state.bill[0].note == "L0 2 行，L1 12 行"


def test_what_was_squeezed_is_listed_whole_with_the_least_change(state, demo):
    """S2-094: 整条跳过，不截半句; each remedy was put to the real composer."""
    assert state.words["skipped whole"] == "整条跳过，不截半句"
    out = [one.id for segment in demo.assemble(now=DEMO_NOW).segments.values() for one in segment.squeezed]
    assert state.squeezed.count == len(out)
    assert [row.id for row in state.squeezed.rows] == out[:20]
    row = state.squeezed.rows[0]
    fix = state.find_fix(row.id)
    assert fix.startswith("短 8 字，或拿掉「")
    note = next(one for one in demo.notes.list() if one.id == row.id)
    demo.notes.edit(note, note.text[: row.needs - 8], now=DEMO_NOW)
    assert note.text[: row.needs - 8] in demo.assemble(now=DEMO_NOW).text
    state.refresh(DEMO_NOW)
    assert state.fixes == {}


def test_asking_for_a_fix_of_what_is_not_squeezed_is_told(state):
    assert state.find_fix("f-nothing") == ""
    assert state.error.kind == "not found"
    assert state.explain("f-nothing") == ""


def test_why_answers_as_why_not_does(state, demo, clock):
    """In the page's language, and without the id; a fact is of a channel the owner knows."""
    identifier = state.squeezed.rows[0].id
    assert f"{identifier}: {state.explain(identifier)}" == demo.why_not(identifier, now=DEMO_NOW)
    identifier = next(row.id for row in state.squeezed.rows if row.id.startswith("f-"))
    assert identifier not in state.explain(identifier)
    english = InjectionState(demo, clock=clock, language="en")
    told = english.explain(identifier)
    assert told.startswith("Approved fact (")
    assert f"{identifier}: a{told[1:]}" == demo.why_not(identifier, now=DEMO_NOW, language="en")


BASE = {
    "by_itself": False, "retire": (), "replace": (), "holders": (), "rivals": (), "reason": "no room",
    "segment": "conclusions", "length": 8,
}  # fmt: skip


def test_no_advice_amounts_to_deleting(state):
    """At least four code points must be left of what is shortened; else it waits for others to give way."""
    state.language = "zh"
    assert state._fix({**BASE, "shorten_by": 4}) == "短 4 字"
    assert state._fix({**BASE, "shorten_by": 5}) == "「结论」这段满了，要等别的让出位置"
    assert state._fix({**BASE, "shorten_by": 7, "turns": 3}) == (
        "「结论」这段满了，要等别的让出位置；不动它，约 3 个使用小时后会轮到"
    )
    assert state._fix({**BASE, "reason": "nothing printable"}) == "没有一处小改动能让它进去"
    state.language = "en"
    assert state._fix({**BASE, "shorten_by": 7, "raise_by": 7}) == (
        "Conclusions is full: it waits until another entry gives way, or give the segment 7 more characters "
        "(a what-if: budgets cannot be set)"
    )


def test_of_many_entries_two_are_named_and_the_others_counted(state):
    held = ("a", "b", "c", "d", "e")
    assert state._fix({**BASE, "holders": held}) == "拿掉「a」「b」和另外 3 条"
    assert state._fix({**BASE, "holders": held[:3]}) == "拿掉「a」「b」「c」"
    state.language = "en"
    assert state._fix({**BASE, "holders": held}) == "take out “a”, “b” and 3 more"


def test_the_silent_ones_are_who_gets_the_next_hundred_characters(state):
    """S2-105, in both languages."""
    assert "要是多出 100 字，先从这些里挑" in state.words["attribution help"]
    state.language = "en"
    assert "if there were 100 characters more, choose from these first" in state.words["attribution help"]


def test_the_attribution_table_knows_four_states(state, demo):
    """S2-096..100, S2-105: the silent ones are asked for by their state."""
    assert sum(state.states.values()) == state.attribution.count == len(demo.facts.approved())
    assert set(state.states) == {"active", "silent", "seen", "never"}
    for name, count in state.states.items():
        state.state = name
        assert state.attribution.count == count
        assert {row.state for row in state.attribution.rows} == {name}
    state.state, state.sort = "", "hits"
    hits = [row.hits for row in state.attribution.rows]
    assert hits == sorted(hits, reverse=True)
    assert len(hits) == 20


def test_the_two_ledgers_stand_side_by_side_and_are_never_added(state, demo):
    """S2-101..104."""
    facts = {fact.id: fact for fact in demo.facts.approved()}
    for row in state.attribution.rows:
        assert (row.hits, row.seen) == (facts[row.id].hit_count, facts[row.id].seen_count)
        assert row.importance == facts[row.id].importance


@pytest.mark.parametrize(("changes", "told"), [({"injection_enabled": False}, "注入已关闭：什么都不贴。")])
def test_no_text_says_why(demo, clock, changes, told):
    demo.config.save(**changes)
    state = InjectionState(demo, clock=clock)
    assert (state.text, state.reason) == ("", told)


def test_an_empty_memory_says_that_there_is_nothing(memory, clock):
    assert InjectionState(memory, clock=clock).reason == "还没有可贴的内容。"
