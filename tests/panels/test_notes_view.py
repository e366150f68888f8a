"""The notes tab in the owner's hand: write, reword, retier, pin, and delete in two clicks."""

from __future__ import annotations

from datetime import date

import pytest

from selfnote.demo import DEMO_NOW
from selfnote.panels import notes
from selfnote.panels.views.pieces import slug


@pytest.fixture
def page(demo, hand):
    return hand(notes(demo, now=DEMO_NOW))


def texts(demo) -> list[str]:
    return [note.text for note in demo.notes.list()]


def test_a_note_is_written_with_its_tier(demo, page):
    """S2-065."""
    assert page.find("sn-add-note").disabled
    page.put("sn-new-note", "我记下这一条")
    assert "6 字" in page.read("sn-count-new-note")
    page.put("sn-new-tier", "temp")
    page.put("sn-new-pinned", True)
    page.click("sn-add-note")
    note = next(note for note in demo.notes.list() if note.text == "我记下这一条")
    assert (note.tier, note.pinned) == ("temp", True)
    assert page.find("sn-new-note").value == ""
    assert page.find("sn-new-pinned").value is False


def test_deleting_takes_two_clicks_on_the_same_note_and_leaves_it_in_the_archive(demo, page):
    """S2-069."""
    one, other = (page.view.state.rows.rows[place] for place in (0, 1))
    page.click(f"sn-delete-{slug(one.id)}")
    assert page.find(f"sn-delete-{slug(one.id)}").description == "真的删"
    page.click(f"sn-delete-{slug(other.id)}")
    assert page.find(f"sn-delete-{slug(one.id)}").description == "删"
    assert {one.text, other.text} <= set(texts(demo))
    page.click(f"sn-delete-{slug(other.id)}")
    assert other.text not in texts(demo)
    archived = "".join(path.read_text(encoding="utf-8") for path in demo.home.notes_archive.glob("????-??.md"))
    assert other.text in archived


def test_a_wording_is_changed_in_place_and_the_date_stays(demo, page):
    """S2-067, S2-068."""
    row = page.view.state.rows.rows[0]
    page.click(f"sn-edit-{slug(row.id)}")
    page.put(f"sn-field-{slug(row.id)}", "换了个说法")
    page.click(f"sn-save-{slug(row.id)}")
    note = next(note for note in demo.notes.list() if note.text == "换了个说法")
    assert note.on.isoformat() == row.on
    assert "措辞已改" in page.read("sn-notice")


def test_the_draft_of_a_note_that_went_can_be_written_as_a_new_one(demo, page):
    """Nothing typed is lost, though what it was written over is gone."""
    row = page.view.state.rows.rows[0]
    page.click(f"sn-edit-{slug(row.id)}")
    page.put(f"sn-field-{slug(row.id)}", "写到一半的话")
    demo.notes.delete(next(note for note in demo.notes.list() if note.id == row.id), now=DEMO_NOW)
    page.view.refresh(DEMO_NOW)
    assert "草稿还在" in page.read(f"sn-elsewhere-{slug(row.id)}")
    assert page.find(f"sn-field-{slug(row.id)}").value == "写到一半的话"
    page.click(f"sn-add-as-new-{slug(row.id)}")
    assert page.find("sn-new-note").value == "写到一半的话"


def test_a_tier_is_chosen_and_what_expired_lives_again(demo, page):
    """S2-070..072."""
    row = next(row for row in page.view.state.rows.sources if row.id in page.view.state._expired)
    page.put("sn-tier", "temp")
    while not page.all(f"sn-note-{slug(row.id)}"):
        page.click("sn-next-notes")
    assert "已过期" in page.read(f"sn-note-{slug(row.id)}")
    page.put(f"sn-tier-{slug(row.id)}", "stable")
    assert next(note for note in demo.notes.list() if note.text == row.text).tier == "stable"


def test_a_refused_choice_shows_again_what_holds(demo, page, held):
    """The widget must not go on showing what was not written."""
    row = page.view.state.rows.rows[0]
    wanted = next(tier for tier in ("stable", "temp") if tier != row.tier)
    for _ in range(2):
        with held(demo.home.selfnote_lock, "records.notes"):
            page.put(f"sn-tier-{slug(row.id)}", wanted)
        assert 'role="alert"' in page.read("sn-notice")
        assert page.find(f"sn-tier-{slug(row.id)}").value == row.tier


def test_clearing_takes_two_clicks_and_loses_nothing(demo, page):
    """S2-066."""
    before = texts(demo)
    page.click("sn-clear")
    assert texts(demo) == before
    page.click("sn-cancel-clear")
    assert page.all("sn-cancel-clear") == []
    page.click("sn-clear")
    assert texts(demo) == before
    page.click("sn-clear")
    assert texts(demo) == []
    archived = "".join(path.read_text(encoding="utf-8") for path in demo.home.notes_archive.glob("????-??.md"))
    assert all(text in archived for text in before)
    assert page.find("sn-clear").disabled


def test_the_button_that_clears_stands_at_the_end_and_not_beside_the_filter(page):
    order = [css for one in page.everything() for css in getattr(one, "_dom_classes", ())]
    assert order.index("sn-tier") < order.index("sn-list-notes") < order.index("sn-clear")
    assert page.find("sn-clear").description == "清空全部自述…"


def test_a_draft_is_given_up_by_the_second_click_on_its_button(page):
    row = page.view.state.rows.rows[0]
    page.click(f"sn-edit-{slug(row.id)}")
    page.put(f"sn-field-{slug(row.id)}", "写到一半")
    page.click(f"sn-discard-{slug(row.id)}")
    assert page.find(f"sn-discard-{slug(row.id)}").description == "真的放弃草稿"
    assert page.find(f"sn-field-{slug(row.id)}").value == "写到一半"
    page.click(f"sn-discard-{slug(row.id)}")
    assert page.find(f"sn-field-{slug(row.id)}").value == row.text


def test_opening_the_editor_puts_the_cursor_into_its_field(page, monkeypatch):
    sent = []
    monkeypatch.setattr(page.view.editor.field, "send", sent.append)
    row = page.view.state.rows.rows[0]
    page.click(f"sn-edit-{slug(row.id)}")
    assert sent == [{"do": "focus"}]
    page.click(f"sn-edit-{slug(row.id)}")
    assert len(sent) == 1


def test_what_was_done_stays_in_sight_above_the_tab(page):
    """The notice stands in the box that sticks to the top."""
    assert "sn-notice" in [css for one in page.find("sn-sticky").children for css in one._dom_classes]


def test_pinning_is_a_button_that_says_what_it_does(demo, page):
    row = next(row for row in page.view.state.rows.rows if row.pinned)
    assert page.find(f"sn-pin-{slug(row.id)}").description == "取消钉住"
    page.click(f"sn-pin-{slug(row.id)}")
    assert not next(note for note in demo.notes.list() if note.text == row.text).pinned


def test_the_ledger_line_is_the_seeds(page):
    """S2-073."""
    assert "核心 10 条　稳定 17 条　临时 20 条（其中 15 条已过期，不再自动进场）" in page.read("sn-ledger")


def test_what_is_written_and_not_saved_marks_the_panel(page):
    """The page of `selfnote panel` asks before it is left only while there is something to lose."""
    assert page.all("sn-unsaved") == []
    page.put("sn-new-note", "我还没写完")
    assert page.all("sn-unsaved")
    page.put("sn-new-note", "")
    assert page.all("sn-unsaved") == []
    note = page.view.state.rows.rows[0]
    page.click(f"sn-edit-{slug(note.id)}")
    page.put(f"sn-field-{slug(note.id)}", "改到一半")
    assert page.all("sn-unsaved")


def test_a_note_that_was_deleted_is_put_back_as_it_was(demo, page):
    """S2-069: the archive keeps its copy; nothing an owner wrote is out of reach."""
    demo.notes.add("别删我", tier="stable", pinned=True, on=date(2026, 11, 20), now=DEMO_NOW)
    page.view.refresh(DEMO_NOW)
    note = next(one for one in demo.notes.list() if one.text == "别删我")
    assert page.all("sn-undo") == []
    for _ in range(2):
        page.click(f"sn-delete-{slug(note.id)}")
    assert "别删我" not in texts(demo)
    assert page.find("sn-undo").description == "撤销：放回「别删我」"
    page.click("sn-undo")
    back = next(one for one in demo.notes.list() if one.text == "别删我")
    assert (back.tier, back.pinned, back.on) == ("stable", True, date(2026, 11, 20))
    assert page.all("sn-undo") == []
    archived = "".join(path.read_text(encoding="utf-8") for path in demo.home.notes_archive.glob("????-??.md"))
    assert archived.count("别删我") == 1


def test_all_notes_that_were_cleared_are_put_back(demo, page):
    """S2-066."""
    before = sorted((one.text, one.tier, one.pinned, one.on) for one in demo.notes.list())
    for _ in range(2):
        page.click("sn-clear")
    assert texts(demo) == []
    page.click("sn-undo")
    assert sorted((one.text, one.tier, one.pinned, one.on) for one in demo.notes.list()) == before


def test_a_note_too_long_for_its_segment_is_told_so_while_it_is_written(page):
    """S2-040: it is kept, but the model never sees it."""
    page.put("sn-new-note", "长" * 200)
    assert "进不了注入" not in page.read("sn-count-new-note")
    page.put("sn-new-note", "长" * 201)
    assert "201 字，比自述这一段（200 字）还长" in page.read("sn-count-new-note")
