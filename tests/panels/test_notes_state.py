"""The tab 自述: what the owner does to the agent's notes (S2-065..073)."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from selfnote.demo import DEMO_NOW
from selfnote.panels.states import NotesState


@pytest.fixture
def state(demo, clock) -> NotesState:
    return NotesState(demo, clock=clock)


def row_of(state, text):
    rows = []
    for page in range(state.rows.pages):
        state.rows.show(page)
        rows += [row for row in state.rows.rows if row.text == text]
    return rows[0]


def archived(demo) -> str:
    return (demo.home.notes_archive / "2026-11.md").read_text()


def test_a_note_is_written_with_its_tier(state, demo):
    """S2-065."""
    assert state.why_disabled("add") == "还没有写字。"
    state.new_text, state.new_tier, state.new_pinned = "我先看\n提交记录", "core", True
    assert state.new_length() == 8
    assert state.why_disabled("add") == ""
    assert state.add()
    note = demo.notes.list()[-1]
    assert (note.text, note.tier, note.pinned) == ("我先看 提交记录", "core", True)
    assert (state.new_text, state.message, state.error) == ("", "已写入一条核心自述。", None)


def test_a_note_the_core_refuses_stays_in_the_field(state, demo):
    """S2-054: the cap of notes.md; the owner's draft is kept."""
    demo.config.save(max_chars=10)
    state.new_text = "我写了一条比整个文件还长的自述"
    assert not state.add()
    assert state.error.kind == "limit"
    assert "at most 10" in state.error.detail
    assert state.new_text == "我写了一条比整个文件还长的自述"
    assert len(demo.notes.list()) == 47


def test_what_left_for_the_archive_is_told(state, demo):
    """S2-123, A-06."""
    demo.config.save(max_items=47)
    state.new_text = "我又写了一条"
    assert state.add()
    assert state.message == "已写入一条稳定自述。写满了，1 条旧的进了归档。"


def test_a_reworded_note_keeps_its_date(state, demo):
    """S2-067, S2-068."""
    note = next(one for one in demo.notes.list() if one.tier == "stable")
    state.write(note.id, "我换个说法")
    assert state.text_of(note.id) == "我换个说法"
    assert state.save(note.id)
    assert next(one for one in demo.notes.list() if one.text == "我换个说法").on == note.on
    assert state.drafts == {}


def test_an_expired_note_is_marked_and_a_new_tier_makes_it_live_again(state, demo):
    """S2-070, S2-072."""
    row = row_of(state, "他这周在改数据库结构，别提新需求")
    assert (row.expired, row.badges, row.place) == (True, ("已过期",), "")
    assert state.retier(row.id, "stable")
    assert not row_of(state, "他这周在改数据库结构，别提新需求").expired
    assert state.message == "已改成稳定。"


def test_core_notes_are_badged_as_material(state):
    """S2-071."""
    state.tier = "core"
    assert state.rows.count == 10
    assert {row.badges for row in state.rows.rows} == {("素材（不注入）",)}


def test_the_ledger_line_counts_each_tier(state):
    """S2-073."""
    assert state.ledger == "核心 10 条　稳定 17 条　临时 20 条（其中 15 条已过期，不再自动进场）"
    assert state.last_written == "2026-11-29 19:21"


def test_each_note_says_whether_it_is_in_the_text(state, demo):
    inside = {entry.id for entry in demo.assemble(now=DEMO_NOW).segments["notes"].entries}
    for page in range(state.rows.pages):
        state.rows.show(page)
        for row in state.rows.rows:
            assert (row.place == "在这一回合的注入里") == (row.id in inside)


def test_a_note_is_pinned_and_its_draft_goes_along(state, demo):
    note = demo.notes.list()[12]
    state.write(note.id, "正在写的")
    assert state.pin(note.id, pinned=not note.pinned)
    assert demo.notes.list()[12].pinned != note.pinned
    assert (state.drafts[note.id].text, state.drafts[note.id].elsewhere) == ("正在写的", False)
    assert state.retier(note.id, "core")
    moved = next(one for one in demo.notes.list() if one.text == note.text)
    assert [draft.text for draft in state.drafts.values()] == ["正在写的"]
    assert state.save(moved.id)
    assert "正在写的" in {one.text for one in demo.notes.list()}


def test_a_note_is_deleted_by_the_second_click_into_the_archive(state, demo):
    """S2-069: 删, then 真的删."""
    note = demo.notes.list()[5]
    assert state.delete_label(note.id) == "删"
    assert not state.delete(note.id)
    assert state.delete_label(note.id) == "真的删"
    assert len(demo.notes.list()) == 47
    assert state.delete(note.id)
    assert note.text not in {one.text for one in demo.notes.list()}
    assert note.text in archived(demo)
    assert state.delete_label(note.id) == "删"


def test_the_second_click_must_be_on_the_same_button(state, demo):
    first, second = demo.notes.list()[5:7]
    assert not state.delete(first.id)
    assert not state.delete(second.id)
    assert not state.delete(first.id)
    assert len(demo.notes.list()) == 47


@pytest.mark.parametrize("what", ["another act", "a change outside", "ten seconds", "disarm"])
def test_an_armed_button_disarms(state, demo, what):
    note = demo.notes.list()[5]
    state.delete(note.id)
    match what:
        case "another act":
            state.pin(demo.notes.list()[6].id, pinned=True)
        case "a change outside":
            demo.notes.add("别处加的", now=DEMO_NOW)
            state.refresh(DEMO_NOW)
        case "ten seconds":
            state.refresh(DEMO_NOW + timedelta(seconds=11))
        case "disarm":
            state.disarm()
    assert state.armed == ""
    assert not state.delete(note.id)


def test_clear_moves_every_note_to_the_archive_in_two_clicks(state, demo):
    """S2-066."""
    texts = [note.text for note in demo.notes.list()]
    assert not state.clear()
    assert state.clear_label() == "真的清空（进归档）"
    assert state.clear()
    assert demo.notes.list() == []
    assert all(text in archived(demo) for text in texts)
    assert state.message == "47 条都进了归档。"
    assert state.why_disabled("clear") == "没有自述。"


def test_clear_looks_first_at_a_note_that_came_between_the_clicks(state, demo):
    state.clear()
    demo.notes.add("刚来的", now=DEMO_NOW)
    assert not state.clear()
    assert state.error.kind == "conflict"
    assert len(demo.notes.list()) == 48


def test_a_note_edited_elsewhere_keeps_the_draft_and_refuses(state, demo, clock):
    """COMPLAINTS 4: two panels on one store."""
    other = NotesState(demo, clock=clock)
    note = demo.notes.list()[10]
    state.write(note.id, "我的说法")
    other.write(note.id, "别处的说法")
    assert other.save(note.id)
    assert not state.save(note.id)
    assert state.error.kind == "conflict"
    draft = state.drafts[note.id]
    assert (draft.text, draft.elsewhere, draft.stored) == ("我的说法", True, None)
    assert "别处的说法" in {one.text for one in demo.notes.list()}
    state.overwrite(note.id)
    assert state.error.kind == "not found"
    state.add_draft(note.id)
    assert (state.new_text, state.drafts) == ("我的说法", {})


def test_a_change_of_another_note_leaves_a_draft_alone(state, demo):
    first, second = demo.notes.list()[10:12]
    state.write(first.id, "还在写")
    demo.notes.edit(second, "别的一条", now=DEMO_NOW)
    state.refresh(DEMO_NOW)
    assert not state.drafts[first.id].elsewhere
    assert state.save(first.id)


def test_typing_back_what_is_stored_ends_the_draft(state, demo):
    note = demo.notes.list()[10]
    state.write(note.id, note.text + "！")
    state.write(note.id, note.text)
    assert state.drafts == {}


def test_a_held_lock_is_told_and_nothing_is_lost(state, demo, held):
    """S2-165."""
    note = demo.notes.list()[10]
    state.write(note.id, "等一等")
    with held(demo.home.selfnote_lock, "records.notes"):
        assert not state.save(note.id)
    assert state.error.kind == "busy"
    assert state.drafts[note.id].text == "等一等"
    assert state.save(note.id)
    assert state.error is None


def test_a_disk_that_refuses_is_told(state, demo):
    """Not every refusal is ours: an unwritable home becomes state too."""
    note = demo.notes.list()[10]
    demo.home.notes_archive.joinpath("2026-11.md").mkdir()
    state.delete(note.id)
    assert not state.delete(note.id)
    assert state.error.kind == "disk"
    assert len(demo.notes.list()) == 47


def test_notes_stand_pinned_first_then_new_to_old(state):
    rows = []
    for page in range(state.rows.pages):
        state.rows.show(page)
        rows += state.rows.rows
    order = [(row.pinned, date.min if row.on == "—" else date.fromisoformat(row.on)) for row in rows]
    assert order == sorted(order, reverse=True)
    assert max(len(state.rows.rows), 20) == 20
