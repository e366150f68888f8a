"""The profile tab in the owner's hand: sentences with their sources, and his own wording."""

from __future__ import annotations

import pytest

from selfnote.demo import DEMO_NOW
from selfnote.panels import profile


@pytest.fixture
def page(demo, hand):
    return hand(profile(demo, now=DEMO_NOW))


def test_each_sentence_shows_its_source(page):
    """S2-091."""
    told = page.read("sn-profile-text")
    for sentence in page.view.state.sentences:
        assert sentence.text in told
        assert all(identifier in told for identifier, _ in sentence.sources)


def test_the_owners_wording_starts_from_the_facts_and_replaces_them_when_saved(demo, page):
    """S2-090."""
    page.click("sn-start")
    assert demo.config.load().profile_override is None
    page.put("sn-field-override", "做事先测后提交，话少")
    assert "还能写 110 字" in page.read("sn-count-override")
    page.click("sn-save-override")
    assert demo.config.load().profile_override.text == "做事先测后提交，话少"
    assert "做事先测后提交，话少" in page.read("sn-profile-text")
    assert page.read("sn-derived")
    assert page.find("sn-follow-facts").description == "跟着事实走"
    page.click("sn-follow-facts")
    assert demo.config.load().profile_override is not None, "the first click only asks"
    assert page.find("sn-follow-facts").description == "真的丢掉自己的写法"
    page.click("sn-follow-facts")
    assert demo.config.load().profile_override is None


def test_the_field_says_what_it_is_read_after(page):
    """What the owner writes of himself stands in a text in which the agent is the speaker."""
    told = "\n".join(str(getattr(one, "value", "")) for one in page.everything())
    assert "接在「关于他：」后面读" in told


def test_too_long_a_wording_is_not_saved_and_stays(demo, page):
    page.put("sn-field-override", "长" * 121)
    assert "超了 1 字" in page.read("sn-count-override")
    assert page.find("sn-save-override").disabled
    assert page.find("sn-field-override").value == "长" * 121
    assert demo.config.load().profile_override is None


def test_a_wording_older_than_its_sources_says_so_and_can_be_confirmed(demo, page):
    page.click("sn-start")
    page.put("sn-field-override", "照事实写的")
    page.click("sn-save-override")
    assert page.find("sn-still-holds").disabled
    demo.facts.edit(page.view.state.fact_ids[0], text="别处改了这条事实", now=DEMO_NOW)
    page.view.refresh(DEMO_NOW)
    assert "比它的来源旧" in page.read("sn-profile-text")
    page.click("sn-still-holds")
    assert "比它的来源旧" not in page.read("sn-profile-text")
