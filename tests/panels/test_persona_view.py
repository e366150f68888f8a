"""The persona tab in the owner's hand: live counts, a refused save, and a rule made of two corrections."""

from __future__ import annotations

import html

import pytest

from selfnote.demo import DEMO_NOW
from selfnote.panels import persona


@pytest.fixture
def editors(demo, hand):
    return hand(persona(demo, now=DEMO_NOW))


def test_what_is_left_is_told_while_typing(editors):
    """S2-074: by the validator's own count."""
    editors.put("sn-field-l0", "我是阿砚")
    assert "4 / 80" in editors.read("sn-count-l0")
    assert "还能写 76 字" in editors.read("sn-count-l0")
    editors.put("sn-field-l0", "长" * 83)
    assert "超了 3 字" in editors.read("sn-count-l0")
    assert "80" in editors.read("sn-over")


def test_over_a_limit_there_is_no_save_and_the_draft_stays(demo, editors):
    """S2-136: why, and how much is to go, in the owner's language; once."""
    before = demo.home.persona.read_bytes()
    editors.put("sn-field-l0", "长" * 81)
    save = editors.find("sn-save-persona")
    assert save.disabled
    assert save.tooltip.startswith("L0 有 81 字，最多 80 字：删掉 1 字，或把背景挪到 L2；现在存不了。")
    assert save.tooltip in editors.read("sn-over")
    assert not any(save.tooltip in one.value for one in editors.all("sn-why"))
    assert editors.find("sn-field-l0").value == "长" * 81
    assert demo.home.persona.read_bytes() == before
    editors.put("sn-field-l0", "长" * 80)
    editors.click("sn-save-persona")
    assert demo.persona.load().l0 == "长" * 80
    assert "人格已保存" in editors.read("sn-notice")


def test_a_rule_is_written_from_two_corrections_and_saved_with_them(demo, editors):
    """S2-076..079: evidence → draft → L1 draft → saved; only then is it handled."""
    chosen = [row.id for row in editors.view.state.evidence.rows[:2]]
    assert editors.find("sn-write-rule").disabled
    for identifier in chosen:
        editors.put(f"sn-tick-{identifier}", True)
    assert editors.find("sn-write-rule").description == "照着选中的 2 条，自己写一条"
    editors.click("sn-write-rule")
    for row in editors.view.state.evidence.rows[:2]:
        assert f"「{html.escape(row.text)}」" in editors.read("sn-quotes")
        assert row.source not in editors.read("sn-quotes")
    assert editors.find("sn-rule").value == ""
    assert "L0 + L1 还能写 9 字" in editors.read("sn-rule-room")
    assert editors.find("sn-add-rule").disabled
    editors.put("sn-rule", "端口现查。")
    assert "L0 + L1 还能写 4 字" in editors.read("sn-rule-room")
    editors.click("sn-add-rule")
    assert editors.find("sn-field-l1").value.endswith("端口现查。")
    assert {one.id for one in demo.corrections.unhandled()} >= set(chosen)
    editors.click("sn-save-persona")
    assert "端口现查。" in demo.persona.load().l1
    assert not {one.id for one in demo.corrections.unhandled()} & set(chosen)


def test_import_fills_the_editors_and_saves_nothing(demo, hand):
    """S2-075."""
    demo.home.agent_file.write_text("# 我\n\n## L0 核心身份\n新的自我\n", encoding="utf-8")
    editors, before = hand(persona(demo, now=DEMO_NOW)), demo.home.persona.read_bytes()
    editors.click("sn-import-agent-file")
    assert "还没有保存" in editors.read("sn-notice")
    assert demo.home.persona.read_bytes() == before
    assert editors.view.state.drafts


def test_a_persona_edited_elsewhere_is_shown_beside_the_draft(demo, editors):
    editors.put("sn-field-l1", "我的新规则")
    demo.persona.save(l1="别处的规则", now=DEMO_NOW)
    editors.view.refresh(DEMO_NOW)
    assert "别处的规则" in editors.read("sn-elsewhere-l1")
    editors.click("sn-save-persona")
    assert demo.persona.load().l1 == "别处的规则"
    assert editors.find("sn-field-l1").value == "我的新规则"
    editors.click("sn-overwrite-l1")
    editors.click("sn-save-persona")
    assert demo.persona.load().l1 == "我的新规则"


def test_evidence_that_is_a_rule_already_says_so_and_cannot_be_ticked(demo, editors):
    used = next(one.id for one in demo.corrections.page().items if one.status == "used")
    assert editors.all(f"sn-evidence-{used}") == []
    editors.put("sn-show-handled", True)
    assert editors.find(f"sn-tick-{used}").disabled
    assert "已经写成规则了" in editors.read(f"sn-evidence-{used}")
