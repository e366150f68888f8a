"""The tab 画像: sentences with their sources, and the owner's own wording (S2-089..091)."""

from __future__ import annotations

import pytest

from selfnote.demo import DEMO_NOW
from selfnote.panels.states import ProfileState


@pytest.fixture
def state(demo, clock) -> ProfileState:
    return ProfileState(demo, clock=clock)


def test_each_sentence_shows_its_source_facts(state, demo):
    """S2-089, S2-091."""
    facts = {fact.id: fact for fact in demo.facts.approved()}
    assert state.sentences
    for row in state.sentences:
        assert [text for _, text in row.sources] == [facts[one].text for one, _ in row.sources]
        assert row.tag in facts[row.sources[0][0]].tags
    profile = demo.profile(now=DEMO_NOW)
    assert (state.text, state.chars, state.budget) == (profile.text, profile.chars, profile.budget)


def test_the_owners_wording_replaces_the_profile_and_keeps_its_sources(state, demo):
    """S2-090, A-08."""
    assert state.why_disabled("save") == "没有改动。"
    state.start()
    assert state.fact_ids == tuple(one for row in state.derived for one, _ in row.sources)
    state.write("override", "先测试，再提交；动手前说清楚")
    assert state.save()
    assert "关于他：先测试，再提交；动手前说清楚" in demo.assemble(now=DEMO_NOW).text
    assert demo.config.load().profile_override.fact_ids == state.fact_ids
    assert (state.overridden, state.older, state.drafts) == (True, False, {})
    assert state.derived, "what the facts would say stays beside it"


def test_a_wording_that_is_too_long_is_refused_and_kept(state, demo):
    state.write("override", "长" * 121)
    assert state.left() == -1
    assert not state.save()
    assert (state.error.kind, "最多 120 字" in state.error.detail) == ("limit", True)
    assert state.text_of("override") == "长" * 121
    assert demo.config.load().profile_override is None


def test_a_wording_older_than_its_sources_says_so_until_it_is_confirmed(state, demo):
    """S2-090: 「older than its sources」."""
    state.start()
    state.write("override", "先测试，再提交")
    assert state.save()
    assert state.why_disabled("still_holds") == "它不比来源旧。"
    source = state.fact_ids[0]
    demo.facts.edit(source, text="先跑完全部测试再提交", now=DEMO_NOW)
    demo.facts.retire(state.fact_ids[1], now=DEMO_NOW)
    assert state.refresh(DEMO_NOW)
    assert (state.older, state.warning) == (True, "你的改写比它的来源旧：来源后来变了，再看一遍。")
    assert state.still_holds()
    assert (state.older, state.warning, state.text) == (False, "", "先测试，再提交")
    assert state.fact_ids[0] == source


def test_saving_over_a_retired_source_is_not_older_at_once(state, demo):
    state.start()
    state.write("override", "先测试")
    demo.facts.retire(state.fact_ids[0], now=DEMO_NOW)
    state.refresh(DEMO_NOW)
    assert state.save()
    assert not state.older


def test_the_profile_follows_the_facts_again(state, demo):
    assert state.why_disabled("follow_facts") == "现在就跟着事实。"
    derived = state.text
    state.write("override", "自己写的")
    assert state.save()
    assert not state.follow_facts()
    assert state.follow_facts()
    assert (state.text, demo.config.load().profile_override) == (derived, None)


def test_an_override_written_elsewhere_is_a_conflict_and_the_draft_stays(state, demo, clock):
    """COMPLAINTS 4."""
    other = ProfileState(demo, clock=clock)
    state.write("override", "我的")
    other.write("override", "别处的")
    assert other.save()
    assert not state.save()
    assert state.error.kind == "conflict"
    assert (state.drafts["override"].text, state.drafts["override"].stored) == ("我的", "别处的")
    state.discard("override")
    assert state.text_of("override") == "别处的"
