"""Panels in a language that is not the setting's."""

from __future__ import annotations

from selfnote import panels
from selfnote.demo import DEMO_NOW


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
