"""Panels in a language that is not the setting's."""

from __future__ import annotations

from selfnote import panels
from selfnote.demo import DEMO_NOW
from selfnote.panels.states.memory import MemoryState


def test_a_language_asked_for_is_spoken_whatever_the_setting_says(demo, hand):
    owner = hand(panels.open(demo, language="en", now=DEMO_NOW))
    assert owner.find("sn-tabs").titles[3] == "Memory 15 waiting"
    assert owner.find("sn-undo").description == "Undo"
    demo.notes.add("我写的", now=DEMO_NOW)
    owner.view.refresh(DEMO_NOW)
    owner.view.states.tab = "notes"
    assert owner.find("sn-add-note").description == "Write"
    assert demo.config.load().language == "zh"
    alone = hand(panels.persona(demo, language="en", now=DEMO_NOW))
    assert alone.find("sn-save-persona").description == "Save the persona"


def test_a_preview_speaks_the_panels_language(demo):
    """Not the memory's, which the harness uses."""
    own = MemoryState(demo, clock=lambda: DEMO_NOW, language="en")
    sentences = {own.preview(card.id).sentence for card in own.cards.rows}
    assert "the text stays as it is" in sentences
    assert all("「" not in sentence and "离开" not in sentence for sentence in sentences)
