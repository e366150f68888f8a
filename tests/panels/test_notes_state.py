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
    assert "最多 10 字" in state.error.detail
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
            assert (row.place == "会在下一次注入里") == (row.id in inside)


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


def test_what_was_done_names_the_note_it_was_done_to(state, demo):
    """A note that is pinned moves; the one that comes under the pointer is another."""
    demo.notes.add("我把这一条说得长一些好让人看出它被截短了没有", now=DEMO_NOW)
    state.refresh(DEMO_NOW)
    (note,) = (one for one in demo.notes.list() if one.text.startswith("我把这一条"))
    assert state.pin(note.id, pinned=True)
    assert state.message == f"已钉住「{note.text}」，排到最前。"
    note = next(one for one in demo.notes.list() if one.text == note.text)
    assert state.pin(note.id, pinned=False)
    assert state.message == f"已取消钉住「{note.text}」，回到按日期的位置。"
    state.write(note.id, "我换了一个说法，它比能用来称呼的那一截要长得多得多")
    assert state.save(note.id)
    assert state.message == "措辞已改成「我换了一个说法，它比能用来称呼的那一截要长得多…」，日期不动。"
    last = next(one for one in demo.notes.list() if one.text.startswith("我换了一个"))
    state.delete(last.id)
    assert state.delete(last.id)
    assert state.message == "已删「我换了一个说法，它比能用来称呼的那一截要长得多…」，原样进了归档。"


def test_a_draft_is_given_up_by_the_second_click(state, demo):
    """Nothing brings it back; what is typed in between takes the question back."""
    note = demo.notes.list()[10]
    state.write(note.id, "写到一半")
    assert not state.ask_discard(note.id)
    state.write(note.id, "写到一半多")
    assert not state.ask_discard(note.id)
    assert state.text_of(note.id) == "写到一半多"
    assert state.ask_discard(note.id)
    assert (state.drafts, state.armed) == ({}, "")


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


def test_the_second_half_of_a_double_click_is_no_answer(demo, clock):
    """S2-069: the owner has to have read the question."""
    at = 0.0
    state = NotesState(demo, clock=clock, seconds=lambda: at)
    note = demo.notes.list()[5]
    assert not state.clear()
    at = 0.69
    assert not state.clear()
    assert state.armed == "clear"
    at = 0.7
    assert state.clear()
    assert demo.notes.list() == []
    demo.notes.add(note.text, now=DEMO_NOW)
    state.refresh(DEMO_NOW)
    (left,) = demo.notes.list()
    assert not state.delete(left.id)
    at = 1.3
    assert not state.delete(left.id)
    at = 1.5
    assert state.delete(left.id)


@pytest.mark.parametrize(
    "what", ["another act", "a change outside", "ten seconds", "disarm", "another filter", "another tab"]
)
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
        case "another filter":
            state.tier = "core"
        case "another tab":
            state.awake = False
            state.awake = True
    assert state.armed == ""
    assert not state.delete(note.id)


def test_clear_moves_every_note_to_the_archive_in_two_clicks(state, demo):
    """S2-066: also those a filter hides, and the button says so."""
    texts = [note.text for note in demo.notes.list()]
    state.tier = "core"
    assert state.clear_label() == "清空全部自述…"
    assert not state.clear()
    assert state.clear_label() == "真的把全部 47 条移进归档（含钉住的，不只是筛出来的）"
    assert state.clear()
    assert demo.notes.list() == []
    assert all(text in archived(demo) for text in texts)
    assert state.message == "全部 47 条移进了归档；要找回，见「概览 › 文件 › 自述归档」。"
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
