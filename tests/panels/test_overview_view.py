"""The overview in the owner's hand: switches, settings, the budget bar, the index and the files."""

from __future__ import annotations

import html
import json

import pytest

import selfnote
from selfnote.demo import DEMO_NOW
from selfnote.panels import overview
from selfnote.upkeep.transfer import encode_package


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


def choose(page, name: str, data: bytes) -> None:
    """A file chosen, as a page sends it."""
    told = {"name": name, "type": "application/json", "size": len(data), "last_modified": 0}
    page.put("sn-choose-package", [{**told, "content": memoryview(data)}])


@pytest.fixture
def fresh(tmp_path, hand):
    """The overview of a new machine."""
    return hand(overview(selfnote.open_memory(tmp_path / "new" / ".dsh"), now=DEMO_NOW))


def test_an_export_makes_a_link_that_saves_the_package(page):
    """S2-061, S2-270, S2-273: the card says what is in it and what is not."""
    assert "没有纠偏、会话和索引" in page.read("sn-overview")
    assert page.all("sn-package") == []
    page.click("sn-export")
    link = page.view.state.package_link
    assert f'download="{link.name}" href="{link.address}">存下 selfnote-2026-11-30.json</a>' in page.read("sn-package")


def test_a_package_is_seen_before_it_is_imported(demo, fresh):
    """S2-061, S2-274, S2-275."""
    assert fresh.find("sn-choose-package").description == "选一份包"
    assert fresh.find("sn-import").disabled
    assert "导入 — 还没有选一份读得懂的包。" in fresh.read("sn-overview")
    assert fresh.all("sn-plan") == fresh.all("sn-put-away") == []
    package = demo.export_package(now=DEMO_NOW)
    choose(fresh, "old.json", encode_package(package).encode())
    memory = fresh.view.state.memory
    assert not memory.home.notes.exists()
    told = html.unescape(fresh.read("sn-plan"))
    assert fresh.view.state.plan_told in told
    assert "导入「old.json」会怎样" in told
    for row in fresh.view.state.plan.rows:
        assert row.text in told
    for _ in range(3):
        fresh.click("sn-next-plan")
    assert "变回待审" in fresh.read("sn-plan").split("<tbody>")[1]
    fresh.put("sn-keep-status", True)
    assert "变回待审" not in fresh.read("sn-plan")
    fresh.put("sn-keep-status", False)
    fresh.click("sn-import")
    assert "approved" not in {fact.status for fact in memory.facts.all()}
    assert len(memory.facts.candidates()) > 90
    assert fresh.view.state.message in html.unescape(fresh.read("sn-notice"))
    assert fresh.all("sn-plan") == fresh.all("sn-put-away") == []
    assert fresh.find("sn-choose-package").value == ()


def test_a_refused_file_may_be_chosen_again(fresh):
    """S2-276: what a browser sends twice is looked at twice."""
    newer = json.dumps({"kind": "selfnote", "version": 99}).encode()
    for _ in range(2):
        choose(fresh, "newer.json", newer)
        assert 'role="alert"' in fresh.read("sn-notice")
        assert "99" in fresh.read("sn-notice")
        assert fresh.find("sn-import").disabled
        fresh.click("sn-refresh")
        fresh.put("sn-switch-capture_enabled", not fresh.find("sn-switch-capture_enabled").value)
        assert 'role="alert"' not in fresh.read("sn-notice")


def test_an_import_is_given_up_by_its_button(fresh):
    choose(fresh, "old.json", encode_package({"kind": "selfnote", "version": 1, "notes": ["我先问清楚"]}).encode())
    fresh.put("sn-keep-status", True)
    fresh.click("sn-put-away")
    assert fresh.all("sn-plan") == []
    assert fresh.find("sn-import").disabled
    assert fresh.find("sn-keep-status").value is False
    assert not fresh.view.state.memory.home.notes.exists()
