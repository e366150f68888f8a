"""The injection tab in the owner's hand: the text word for word, its bill, what stayed out and what lets it in."""

from __future__ import annotations

import html
import re

import pytest

from selfnote.demo import DEMO_NOW
from selfnote.panels import injection
from selfnote.panels.views.pieces import slug


@pytest.fixture
def page(demo, hand):
    return hand(injection(demo, now=DEMO_NOW))


def test_the_text_is_shown_word_for_word(demo, page):
    """S2-092."""
    (shown,) = re.findall(r"<pre[^>]*>\n(.*?)</pre>", page.find("sn-text").value, re.DOTALL)
    assert html.unescape(shown) == demo.assemble(now=DEMO_NOW).text
    assert "下一次对话会贴给它的原文" in page.read("sn-text"), "not what was given already"


def test_the_bill_has_a_line_for_each_segment(demo, page):
    """S2-093."""
    told = page.read("sn-bill")
    for name, segment in demo.assemble(now=DEMO_NOW).segments.items():
        row = next(row for row in page.view.state.bill if row.segment == name)
        assert row.label in told
        assert (row.used, row.budget) == (segment.used, segment.budget)
    assert "L0 " in told


def test_what_stayed_out_says_why_and_what_would_let_it_in(demo, page, files_of):
    """S2-094; asking writes nothing."""
    before, row = files_of(demo.home.root), page.view.state.squeezed.rows[0]
    assert row.reason in page.read(f"sn-squeezed-{slug(row.id)}")
    page.click(f"sn-fix-{slug(row.id)}")
    assert page.view.state.fixes[row.id]
    assert html.escape(page.view.state.fixes[row.id]) in page.read(f"sn-squeezed-{slug(row.id)}")
    page.click(f"sn-explain-{slug(row.id)}")
    assert page.view.state.whys[row.id]
    assert files_of(demo.home.root) == before


def test_facts_are_listed_by_their_lot(page):
    """S2-096..100, S2-105: the silent ones are the first to give way."""
    state = page.view.state
    page.put("sn-state", "silent")
    assert {row.state for row in state.attribution.rows} == {"silent"}
    page.put("sn-sort", "cold")
    heats = [row.heat for row in state.attribution.rows]
    assert heats == sorted(heats)
    assert all(row.text in html.unescape(page.read("sn-attribution")) for row in state.attribution.rows)
