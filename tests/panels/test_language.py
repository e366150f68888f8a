"""Panels in a language that is not the setting's."""

from __future__ import annotations

from selfnote import panels
from selfnote.demo import DEMO_NOW
from selfnote.panels.states.memory import MemoryState
from selfnote.phrases import EVIDENCE, PANELS


def test_a_language_asked_for_is_spoken_whatever_the_setting_says(demo, hand):
    owner = hand(panels.open(demo, language="en", now=DEMO_NOW))
    assert owner.find("sn-tabs").titles[3] == "Memory 15 waiting · 3 in conflict"
    assert owner.find("sn-undo").description == "Undo"
    demo.notes.add("我写的", now=DEMO_NOW)
    owner.view.refresh(DEMO_NOW)
    owner.view.states.tab = "notes"
    assert owner.find("sn-add-note").description == "Write"
    assert demo.config.load().language == "zh"
    alone = hand(panels.persona(demo, language="en", now=DEMO_NOW))
    assert alone.find("sn-save-persona").description == "Save the persona"


def test_the_owner_is_spoken_to_and_the_agent_spoken_of():
    """In the panels the owner is always 你, the agent 它."""
    mine = PANELS["zh"]["overwrite"]
    assert [one for one in PANELS["zh"].values() if ("他" in one or "我" in one) and one != mine] == []
    assert [one for one in EVIDENCE["zh"].values() if "他" in one or "我" in one] == []


def test_a_preview_speaks_the_panels_language(demo):
    """Not the memory's, which the harness uses."""
    own = MemoryState(demo, clock=lambda: DEMO_NOW, language="en")
    sentences = {own.preview(card.id).sentence for card in own.cards.rows}
    assert any("stays out: " in sentence for sentence in sentences)
    assert own.say("preview", sentence="x") == "If approved: x"
    assert all("「" not in sentence and "让出" not in sentence for sentence in sentences)
