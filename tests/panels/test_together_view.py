"""All panels as tabs: badges, landing, labels, reasons, contrast; two on one memory; looking changes nothing."""

from __future__ import annotations

import html
import itertools
import re

import ipywidgets
import pytest

import selfnote
from selfnote import panels
from selfnote.demo import DEMO_NOW
from selfnote.panels.states import TABS
from selfnote.panels.views.pieces import slug
from selfnote.panels.views.style import SHEET
from selfnote.phrases import PANELS

CONTROLS = (
    ipywidgets.Button,
    ipywidgets.ToggleButton,
    ipywidgets.Checkbox,
    ipywidgets.Text,
    ipywidgets.Textarea,
    ipywidgets.Dropdown,
    ipywidgets.BoundedFloatText,
)


def see_all(owner) -> None:
    """Open every tab and every part of it."""
    for tab in TABS:
        owner.view.states.tab = tab
    for part in ("conflicts", "approved", "retired", "habits"):
        owner.put(f"sn-open-{part}", True)
    owner.click(f"sn-edit-{owner.view.states.state('memory').cards.rows[0].id}")
    owner.click(f"sn-edit-{slug(owner.view.states.state('notes').rows.rows[0].id)}")


#: Classes that say what kind of control it is, not which.
KINDS = {"sn-field", "sn-primary", "sn-danger", "sn-section"}


def seen_in(widget) -> list:
    """A widget and all in it."""
    return [widget, *itertools.chain.from_iterable(seen_in(child) for child in getattr(widget, "children", ()))]


def controls(owner) -> list:
    return [one for one in owner.everything() if isinstance(one, CONTROLS)]


@pytest.fixture(params=["zh", "en"])
def spoken(demo, request) -> selfnote.Memory:
    """The demo memory in either language."""
    demo.config.save(language=request.param)
    return demo


def test_the_tabs_are_the_seeds_with_their_badges_and_land_on_what_waits(demo, hand):
    """S2-046..048."""
    owner = hand(panels.open(demo, now=DEMO_NOW))
    tabs = owner.find("sn-tabs")
    states = owner.view.states
    assert [title.split()[0] for title in tabs.titles] == ["概览", "自述", "人格", "记忆", "画像", "注入"]
    assert tabs.titles[3] == "记忆 待审 15 · 冲突 3"
    assert tabs.titles[0] == "概览"
    assert tabs.titles[5] == f"注入 {states.badges['injection']}"
    assert tabs.selected_index == 3


def test_a_badge_falls_with_what_was_decided(demo, hand):
    owner = hand(panels.open(demo, now=DEMO_NOW))
    review = owner.view.states.state("memory")
    owner.click(f"sn-approve-{review.cards.rows[0].id}")
    assert owner.find("sn-tabs").titles[3] == "记忆 待审 14 · 冲突 3"


def test_the_page_chooses_a_tab_and_only_then_it_is_made(demo, hand):
    owner = hand(panels.open(demo, now=DEMO_NOW))
    assert set(owner.view.views) == {"memory"}
    owner.find("sn-tabs").set_state({"selected_index": 1})
    assert owner.view.states.tab == "notes"
    assert set(owner.view.views) == {"memory", "notes"}
    assert owner.all("sn-new-note")


def test_what_one_tab_saves_the_others_show(demo, hand):
    owner = hand(panels.open(demo, now=DEMO_NOW))
    owner.view.states.tab = "overview"
    owner.put("sn-field-header", "换了抬头")
    owner.click("sn-save-header")
    owner.view.states.tab = "injection"
    assert "换了抬头" in owner.read("sn-text")


def test_every_control_has_a_name_to_be_read_aloud_and_one_to_be_found_by(spoken, hand):
    """A label on each; a class on each, and no two alike on the page."""
    owner = hand(panels.open(spoken, now=DEMO_NOW))
    see_all(owner)
    for view in owner.view.views.values():
        found = [one for one in controls(owner) if one in seen_in(view)]
        names = [[css for css in one._dom_classes if css.startswith("sn-") and css not in KINDS] for one in found]
        assert found
        assert all(one.description for one in found), [one for one in found if not one.description]
        assert all(len(one) == 1 for one in names), names
        assert len({one[0] for one in names}) == len(names)


def test_every_disabled_control_says_why_in_words_that_are_seen(spoken, hand):
    """COMPLAINTS 66: greyed without a reason reads as broken."""
    owner = hand(panels.open(spoken, now=DEMO_NOW))
    see_all(owner)
    disabled = [one for one in controls(owner) if one.disabled]
    assert len(disabled) > 5
    for one in disabled:
        panel = next(view for view in owner.view.views.values() if one in seen_in(view))
        seen = " ".join(str(getattr(each, "value", "")) for each in seen_in(panel))
        assert one.tooltip or isinstance(one, ipywidgets.Checkbox)
        assert not one.tooltip or one.tooltip in seen, one


def test_a_memory_opened_to_be_read_has_no_control_that_writes(demo, hand):
    """Every one says so, and nothing an owner can click changes a byte."""
    reading = selfnote.open_memory(demo.home.root, read_only=True)
    owner = hand(panels.open(reading, now=DEMO_NOW))
    see_all(owner)
    why = owner.view.states.state("memory").words["why read only"]
    for tab in TABS:
        if owner.view.states.state(tab).writes:
            seen = " ".join(str(getattr(each, "value", "")) for each in seen_in(owner.view.view(tab)))
            assert why in seen, tab
    enabled = {
        css
        for one in controls(owner)
        if not one.disabled and isinstance(one, ipywidgets.Button)
        for css in one._dom_classes
    }
    writing = (
        "approve",
        "retire",
        "keep",
        "promote",
        "revoke",
        "restore",
        "delete",
        "pin",
        "add-note",
        "clear",
        "save",
    )
    assert [css for css in enabled if re.match(rf"sn-({'|'.join(writing)})(-|$)", css)] == []


def test_opening_and_looking_a_hundred_times_leaves_every_byte(demo, hand, files_of):
    """Issue 6, 2; S2-095: heat, counters, rotation and lock files too."""
    before = files_of(demo.home.root)
    for tab, _ in zip(itertools.cycle(TABS), range(96), strict=False):
        view = getattr(panels, tab)(demo, now=DEMO_NOW)
        view._repr_mimebundle_()
        view.refresh(DEMO_NOW)
        view.close()
    for _ in range(4):
        owner = hand(panels.open(demo, now=DEMO_NOW))
        see_all(owner)
        owner.click("sn-refresh")
        owner.view._repr_mimebundle_()
    assert files_of(demo.home.root) == before


def test_two_panels_on_one_memory_never_overwrite_each_other(demo, hand):
    """Issue 6, 3: the second gets the conflict and keeps its draft."""
    one = hand(panels.persona(demo, now=DEMO_NOW))
    other = hand(panels.persona(selfnote.open_memory(demo.home.root), now=DEMO_NOW))
    one.put("sn-field-l0", "第一个人写的")
    other.put("sn-field-l0", "第二个人写的")
    one.click("sn-save-persona")
    other.click("sn-save-persona")
    assert demo.persona.load().l0 == "第一个人写的"
    assert 'role="alert"' in other.read("sn-notice")
    assert other.find("sn-field-l0").value == "第二个人写的"
    assert "第一个人写的" in other.read("sn-elsewhere-l0")


def test_another_language_in_the_settings_is_spoken_at_the_next_refresh(demo, hand):
    """Labels too, and no widget of the other language is left."""
    owner = hand(panels.open(demo, now=DEMO_NOW))
    owner.view.states.tab = "overview"
    demo.config.save(language="en")
    owner.view.refresh(DEMO_NOW)
    assert owner.find("sn-tabs").titles[0] == "Overview"
    assert owner.find("sn-rebuild-index").description == "Rebuild the index"
    owner.view.states.tab = "memory"
    identifier = owner.view.states.state("memory").cards.rows[0].id
    assert owner.find(f"sn-approve-{identifier}").description == "Approve"
    owner.click(f"sn-approve-{identifier}")
    assert any("Approved" in one.value for one in owner.all("sn-notice"))


def _light(colour: str) -> float:
    short = colour.lstrip("#")
    full = "".join(char * 2 for char in short) if len(short) == 3 else short
    parts = [int(full[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_light(one), _light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_words_are_read_on_light_and_on_dark():
    """WCAG AA, 4.5 : 1, on our own fallbacks and on JupyterLab's own papers."""
    light, dark = (
        dict(re.findall(r"--sn-(\w+):(?:var\([\w-]+,)?(#\w+)", part)) for part in SHEET.split("\n[data-jp-theme")
    )
    for colours, papers in (
        (light, ("#fff", "#eee", light["paper"], light["field"])),
        (dark, ("#212121", "#424242", dark["paper"], dark["field"])),
    ):
        for name in ("ink", "dim", "good", "bad", "warn", "info"):
            for paper in papers:
                assert _contrast(colours[name], paper) >= 4.5, (name, paper)
        for name in ("good", "bad"):
            assert _contrast(colours["on"], colours[name]) >= 4.5, name


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_page_says_what_it_is_for_and_what_waits(demo, hand, language):
    owner = hand(panels.open(demo, language=language, now=DEMO_NOW))
    words, told = PANELS[language], owner.view._lead.value
    assert words["lead"] in html.unescape(told)
    assert "15" in told
    for tab in TABS:
        owner.view.states.tab = tab
        assert words[f"lead {tab}"] in html.unescape(owner.view.view(tab).children[0].value)
    assert words["lead memory"] in html.unescape(owner.view.twin())
    for fact in demo.facts.candidates():
        demo.facts.retire(fact.id, now=DEMO_NOW)
    owner.view.refresh(DEMO_NOW)
    assert "15" not in owner.view._lead.value
