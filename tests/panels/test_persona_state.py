"""The tab 人格: three editors, live counts, and evidence from which the owner writes a rule (S2-074..079)."""

from __future__ import annotations

import pytest

from selfnote.demo import DEMO_NOW
from selfnote.panels.states import PersonaState
from selfnote.records.corrections import rule_fingerprint
from selfnote.records.persona import count_chars


@pytest.fixture
def state(demo, clock) -> PersonaState:
    return PersonaState(demo, clock=clock)


def lefts(state) -> list[int]:
    return [one.left for one in state.counts]


def test_the_counters_are_the_validators_own(state, demo):
    """S2-074, A-09b: newlines are not counted, what safe() drops is not."""
    persona = demo.persona.load()
    assert [one.used for one in state.counts[:2]] == [count_chars(persona.l0), persona.chars]
    assert state.counts[2].used == len(demo.home.persona.read_text())
    before = lefts(state)
    state.write("l0", persona.l0 + "\n\u200b补五个字")
    assert lefts(state) == [before[0] - 4, before[1] - 4, before[2] - 6]
    assert state.over == ""


@pytest.mark.parametrize(
    ("part", "text", "told"),
    [
        ("l0", "长" * 81, "L0 有 81 字，最多 80 字：删掉 1 字，或把背景挪到 L2；现在存不了。"),
        ("l1", "长" * 320, "L0 + L1 有 391 字，最多 320 字：删掉 71 字"),
        ("l2", "长" * 8000, "整个文件有"),
    ],
)
def test_a_refused_save_keeps_the_draft_and_every_byte(state, demo, part, text, told):
    """S2-136: the same sentence live, beside the disabled button and at the save, in the owner's language."""
    before = demo.home.persona.read_bytes()
    state.write(part, text)
    assert told in state.over
    assert state.why_disabled("save") == state.over
    assert not state.save()
    assert state.error.kind == "limit"
    assert told in state.error.detail
    assert state.text_of(part) == text
    assert demo.home.persona.read_bytes() == before


def test_each_limit_that_is_passed_is_told(demo, clock):
    """In the panel's language, whatever the memory's is."""
    state = PersonaState(demo, clock=clock, language="en")
    state.write("l0", "x" * 330)
    assert state.over.startswith("L0 has 330 characters, at most 80: take out 250, or move background to L2")
    assert "L0 + L1 has" in state.over
    state.write("l0", demo.persona.load().l0)
    assert (state.over, state.why_disabled("save")) == ("", "There are no changes to save.")


def test_the_live_count_of_the_whole_file_is_the_one_of_the_save(state, demo):
    """Just within 8000 it is saved, one more is refused: the counter and the validator agree to the character."""
    room = state.counts[2].left + len(demo.persona.load().l2)
    state.write("l2", "长" * (room + 1))
    assert (state.counts[2].left, state.save()) == (-1, False)
    state.write("l2", "长" * room)
    assert state.counts[2].left == 0
    assert state.save()
    assert len(demo.home.persona.read_text()) == 8000


def test_parts_are_saved_together_and_the_rest_stays(state, demo):
    before = demo.persona.load()
    state.write("l0", "我是阿砚")
    state.write("l1", before.l1 + "\n少说客套话")
    assert state.why_disabled("save") == ""
    assert state.save()
    after = demo.persona.load()
    assert (after.l0, after.l1, after.l2) == ("我是阿砚", before.l1 + "\n少说客套话", before.l2)
    assert (state.drafts, state.message) == ({}, "人格已保存，下一回合生效。")


def test_import_fills_the_editors_and_saves_nothing(state, demo):
    """S2-076."""
    assert state.why_disabled("import_agent_file") == "没有 AGENT.md。"
    assert not state.import_agent_file()
    assert state.error.kind == "not found"
    demo.home.agent_file.write_text("# 我是谁\n我是小砚\n# 语气\n说短些\n# 外貌\n黑猫\n")
    state.refresh(DEMO_NOW)
    assert state.why_disabled("import_agent_file") == ""
    before = demo.home.persona.read_bytes()
    assert state.import_agent_file()
    assert [state.text_of(part) for part in ("l0", "l1", "l2")] == ["我是小砚", "说短些", "黑猫"]
    assert demo.home.persona.read_bytes() == before
    for part in ("l0", "l1", "l2"):
        state.discard(part)
    assert state.text_of("l0") == demo.persona.load().l0


def test_evidence_shows_words_time_and_session(state, demo):
    """S2-077: newest first, open ones only until asked."""
    opened = demo.corrections.unhandled()
    assert [row.id for row in state.evidence.rows] == [one.id for one in opened][:20]
    row, one = state.evidence.rows[0], opened[0]
    assert (row.text, row.said, row.source) == (one.text, "2026-11-25 15:50", one.source)
    state.show_handled = True
    assert state.evidence.count == len(demo.corrections.all())
    assert [row.locked for row in state.evidence.rows if row.status == "used"] == ["已经写成规则了。"] * sum(
        one.status == "used" for one in demo.corrections.all()
    )


def test_two_corrections_become_one_rule_the_owner_wrote(state, demo):
    """S2-076, S2-078, S2-079."""
    first, second = state.evidence.rows[:2]
    assert state.why_disabled("write_rule") == "先在上面勾选你纠正过的话。"
    state.tick(first.id, on=True)
    state.tick(second.id, on=True)
    assert state.write_rule()
    assert [one.text for one in state.quotes] == [first.text, second.text]
    assert state.rule == "", "the owner writes the rule, not the quotes"
    assert state.why_disabled("add_rule") == "先写一条规则。"
    assert not state.add_rule(), "evidence never becomes a rule by itself"
    l1 = demo.persona.load().l1
    state.write("l1", "\n".join(l1.splitlines()[:-3]))
    state.rule = "端口先查\n再说"
    room = state.rule_room
    assert state.add_rule()
    assert (state.rule_room, state.rule, state.quotes) == (room, "", ())
    assert state.message == "已加到 L1 末尾；点「保存人格」才算数。"
    assert state.text_of("l1").endswith("\n端口先查 再说")
    assert demo.corrections.get(first.id).status == "open", "handled only once the save succeeded"
    assert state.save()
    assert {demo.corrections.get(one.id).status for one in (first, second)} == {"used"}
    assert [row.rule for row in state.rules] == ["端口先查 再说"]
    assert (state.rules[0].made_from, state.rules[0].count) == (2, 0)
    assert first.id not in {row.id for row in state.evidence.rows}
    assert state.message.startswith("人格已保存，2 条证据记为已处理")


def test_a_rule_taken_out_again_before_the_save_uses_no_evidence(state, demo):
    row = state.evidence.rows[0]
    state.tick(row.id, on=True)
    state.write_rule()
    state.rule = "先查端口"
    state.add_rule()
    state.write("l1", "只留这条")
    assert state.save()
    assert demo.corrections.get(row.id).status == "open"
    assert state.message.endswith("有 1 条证据没记为已处理：由它写的那条规则不在 L1 里。")


def test_a_rule_shortened_after_a_refusal_keeps_its_evidence(state, demo):
    """S2-078: what an owner does when the rule is too long; the evidence must not be lost on the way."""
    row = state.evidence.rows[0]
    state.tick(row.id, on=True)
    state.write_rule()
    state.rule = "凡是提到端口号，先查清楚这台机器上真正在监听的那个端口再说"
    assert state.add_rule()
    assert not state.save()
    state.write("l1", state.text_of("l1").replace(state.added[0][0], "提到端口号，先查真正在监听的那个"))
    assert not state.save()
    kept = state.text_of("l1").splitlines()
    state.write("l1", "\n".join([kept[0], *kept[3:]]))
    assert state.save(), state.error
    assert demo.corrections.get(row.id).status == "used"
    assert demo.corrections.get(row.id).rule_fp == rule_fingerprint("提到端口号，先查真正在监听的那个")


def test_a_failed_save_marks_no_evidence_and_keeps_the_rule(state, demo):
    """S2-078."""
    row = state.evidence.rows[0]
    state.tick(row.id, on=True)
    state.write_rule()
    state.rule = "长" * 200
    state.add_rule()
    assert not state.save()
    assert demo.corrections.get(row.id).status == "open"
    assert state.text_of("l1").endswith("长" * 200)
    state.write("l1", demo.persona.load().l1.splitlines()[0] + "\n" + "长" * 200)
    assert state.save()
    assert demo.corrections.get(row.id).status == "used"


def test_the_room_for_a_rule_counts_down_while_it_is_written(state):
    left = state.counts[1].left
    state.rule = "先查端口"
    assert state.rule_room == left - 4
    state.rule = "长" * (left + 1)
    assert state.rule_room == -1


def test_what_the_owner_has_written_of_a_rule_stays_when_he_chooses_again(state):
    first, second = state.evidence.rows[:2]
    state.tick(first.id, on=True)
    state.write_rule()
    state.rule = "先查端口"
    state.tick(second.id, on=True)
    state.write_rule()
    assert (state.rule, len(state.quotes)) == ("先查端口", 2)


def test_evidence_is_put_aside(state, demo):
    row = state.evidence.rows[0]
    state.tick(row.id, on=True)
    assert state.dismiss()
    assert demo.corrections.get(row.id).status == "dismissed"
    assert state.ticked == ()


def test_evidence_used_elsewhere_is_a_conflict_and_the_draft_stays(state, demo, clock):
    other = PersonaState(demo, clock=clock)
    row = state.evidence.rows[0]
    for one in (state, other):
        one.tick(row.id, on=True)
        one.write_rule()
        one.rule = "先查端口"
        one.add_rule()
        one.write("l1", "先查端口")
    assert other.save()
    assert not state.save()
    assert state.error.kind == "conflict"


def test_two_editors_of_one_part_do_not_overwrite_each_other(state, demo, clock):
    """COMPLAINTS 4: the second gets the conflict and keeps its draft."""
    other = PersonaState(demo, clock=clock)
    state.write("l0", "我是甲")
    other.write("l0", "我是乙")
    assert other.save()
    assert not state.save()
    assert state.error.kind == "conflict"
    draft = state.drafts["l0"]
    assert (draft.text, draft.elsewhere, draft.stored) == ("我是甲", True, "我是乙")
    assert not state.save()
    assert demo.persona.load().l0 == "我是乙"
    state.overwrite("l0")
    assert state.save()
    assert demo.persona.load().l0 == "我是甲"


def test_an_edit_of_another_part_in_the_editor_survives_the_save(state, demo):
    """COMPLAINTS 1."""
    state.write("l0", "我是甲")
    text = demo.home.persona.read_text()
    demo.home.persona.write_text(text.replace(demo.persona.load().l2.splitlines()[0], "编辑器里改的"))
    assert state.refresh(DEMO_NOW)
    assert not state.drafts["l0"].elsewhere
    assert state.text_of("l2").startswith("编辑器里改的")
    assert state.save()
    after = demo.persona.load()
    assert (after.l0, after.l2.splitlines()[0]) == ("我是甲", "编辑器里改的")


def test_a_held_lock_keeps_the_draft(state, demo, held):
    """S2-165."""
    state.write("l0", "我是甲")
    with held(demo.home.selfnote_lock, "records.persona"):
        assert not state.save()
    assert (state.error.kind, state.text_of("l0")) == ("busy", "我是甲")
    assert state.save()
