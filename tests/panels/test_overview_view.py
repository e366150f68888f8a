"""The overview in the owner's hand: switches, settings, the budget bar, the index and the files."""

from __future__ import annotations

import html

import pytest

from selfnote.demo import DEMO_NOW
from selfnote.panels import overview


@pytest.fixture
def page(demo, hand):
    return hand(overview(demo, now=DEMO_NOW))


def test_a_switch_counts_from_the_next_turn(demo, page):
    """S2-052."""
    page.put("sn-switch-persona_enabled", False)
    assert demo.config.load().persona_enabled is False
    assert "下一回合起生效" in page.read("sn-notice")


def test_a_refused_switch_shows_again_what_holds(demo, page, held):
    with held(demo.home.selfnote_lock, "config"):
        page.put("sn-switch-injection_enabled", False)
    assert 'role="alert"' in page.read("sn-notice")
    assert page.find("sn-switch-injection_enabled").value is True


def test_a_header_is_saved_and_too_long_a_one_refused_with_the_draft_kept(demo, page):
    """S2-053."""
    assert page.find("sn-save-header").disabled
    page.put("sn-field-header", "我的记忆")
    assert "4 / 24" in page.read("sn-count-header")
    page.click("sn-save-header")
    assert demo.assemble(now=DEMO_NOW).text.startswith("我的记忆\n")
    page.put("sn-field-header", "长" * 25)
    page.click("sn-save-header")
    assert 'role="alert"' in page.read("sn-notice")
    assert page.find("sn-field-header").value == "长" * 25
    assert demo.config.load().header == "我的记忆"


def test_enter_in_a_field_of_one_line_saves_it(demo, page):
    field = page.find("sn-field-header")
    field._handle_custom_msg({"event": "submit"}, [])
    assert page.view.state.acted == 0
    page.put("sn-field-header", "我的记忆")
    field._handle_custom_msg({"event": "submit"}, [])
    assert demo.config.load().header == "我的记忆"
    assert "「注入抬头」已保存" in page.read("sn-notice")


def test_the_limits_of_a_setting_stand_beside_it(page):
    """S2-055: 1-90 days."""
    assert "从 1 到 90" in page.read("sn-overview")


def test_the_bar_shows_six_segments(demo, page):
    """S2-056."""
    told = page.read("sn-bars")
    for bar in page.view.state.bars:
        assert f"{bar.label} {bar.used} / {bar.budget}" in told
    assert told.count("<i style=") == 6


def test_every_file_can_be_copied_and_its_folder_opened(page):
    """S2-058, S2-062, S2-063; no session is among them (S2-064)."""
    for row in page.view.state.files:
        told = page.read(f"sn-file-{row.key}")
        assert f">{html.escape(row.path)}</button>" in told
        assert "navigator.clipboard" in told
        assert row.summary in told
    assert "sessions" not in [row.key for row in page.view.state.files]


def test_the_index_is_rebuilt_by_its_button(demo, page):
    """S2-057."""
    page.click("sn-rebuild-index")
    assert demo.home.index.exists()
    assert page.view.state.message
    assert page.view.state.message in html.unescape(page.read("sn-notice"))
