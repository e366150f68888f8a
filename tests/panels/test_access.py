"""What the page is told for whoever reads it by ear or works it by keys; that it helps, tests/browser proves."""

from __future__ import annotations

import re
import sys

import pytest

import selfnote
from selfnote import panels
from selfnote.demo import DEMO_NOW
from selfnote.panels import access, static
from selfnote.panels.states import TABS, States


def listeners(view) -> list:
    return [one for one in view.children if "sn-access" in one._dom_classes]


@pytest.mark.parametrize(("language", "tag"), [("zh", "zh-Hans"), ("en", "en")])
def test_one_listener_serves_all_tabs_and_knows_their_language(demo, hand, language, tag):
    view = hand(panels.open(demo, now=DEMO_NOW, language=language)).view
    (listener,) = listeners(view)
    assert listener.language == tag
    assert not any(listeners(one) for one in view.views.values())


def test_a_panel_alone_has_its_own_and_speaks_its_language(demo, hand):
    owner = hand(panels.notes(demo, now=DEMO_NOW))
    assert [one.language for one in listeners(owner.view)] == ["zh-Hans"]
    demo.config.save(language="en")
    owner.view.refresh(DEMO_NOW)
    assert [one.language for one in listeners(owner.view)] == ["en"]


def test_the_language_of_the_settings_is_that_of_the_page_at_the_next_refresh(demo, hand):
    owner = hand(panels.open(demo, now=DEMO_NOW))
    demo.config.save(language="en")
    owner.view.refresh(DEMO_NOW)
    assert [one.language for one in listeners(owner.view)] == ["en"]


def test_without_anywidget_the_panels_stand_all_the_same(demo, hand, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    access._listener.cache_clear()
    try:
        owner = hand(panels.open(demo, now=DEMO_NOW))
    finally:
        access._listener.cache_clear()
    assert listeners(owner.view) == []
    assert owner.all("sn-list-cards")


def test_no_widget_makes_a_page_say_null(demo, hand):
    """A tooltip that is None stands in a page as the word."""
    owner = hand(panels.open(demo, now=DEMO_NOW))
    for tab in TABS:
        owner.view.states.tab = tab
    shown = [one for view in owner.view.views.values() for one in view._kit.made if one.has_trait("tooltip")]
    assert len(shown) > 300
    assert [one for one in shown if one.tooltip is None] == []


def test_what_is_read_aloud_is_the_answer_and_not_what_cannot_be_read(demo, hand):
    """The region of the answers holds nothing else: all of it is said again with each."""
    owner = hand(panels.overview(demo, now=DEMO_NOW))
    (problem,) = owner.view.state.problems
    assert problem in owner.read("sn-problems")
    assert owner.read("sn-notice") == ""
    owner.put("sn-switch-capture_enabled", False)
    assert "sn-message" in owner.read("sn-notice")
    assert problem not in owner.read("sn-notice")
    path = demo.home.notes
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:2] + lines[3:]), encoding="utf-8")
    owner.view.refresh(DEMO_NOW)
    assert owner.all("sn-problems") == []


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_column_of_a_table_is_headed(demo, clock, language):
    """But a bar, which only repeats the numbers beside it."""
    states = States(demo, clock=clock, language=language)
    sheets = []
    for state in states.in_order:
        state.awake = True
        sheets += [one for one in static.pieces_of(state) if isinstance(one, static.Sheet)]
    assert len(sheets) > 8
    for sheet in sheets:
        assert sheet.caption
        assert [one for one in sheet.columns if not one.heading and one.kind != "bar"] == [], sheet.caption


def test_a_table_that_speaks_for_itself_names_its_columns_to_the_ear(demo, hand):
    owner = hand(panels.memory(demo, now=DEMO_NOW))
    owner.put("sn-open-approved", True)
    state = owner.view.state
    fact = next(one for one in state.approved.rows if one.source.startswith("session-"))
    owner.click(f"sn-source-{fact.id}")
    assert state.opened.lines
    told = owner.read("sn-opened")
    assert told.count('<th scope="col">') == len(state.opened.lines[0])
    for word in ("column here", "sources", "column who", "column text"):
        assert f'<span class="sn-unseen">{state.words[word]}</span>' in told


def test_each_bar_of_the_budget_is_an_item_with_its_numbers(demo, hand):
    told = hand(panels.overview(demo, now=DEMO_NOW)).read("sn-bars")
    items = re.findall(r'<div role="listitem">([^<]+)</div><span aria-hidden="true">', told)
    assert len(items) == 6
    assert all(re.search(r"\d+ / \d+", one) for one in items)


def test_what_is_off_says_why_where_it_stands(demo, hand):
    """Not what it would do."""
    owner = hand(panels.memory(selfnote.open_memory(demo.home.root, read_only=True), now=DEMO_NOW))
    owner.put("sn-open-approved", True)
    words, fact = owner.view.state.words, owner.view.state.approved.rows[0]
    assert owner.find(f"sn-retire-{fact.id}").tooltip == words["why read only"]
