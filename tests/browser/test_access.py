"""The panels by ear and by keys: axe's rules of WCAG, the order and place of the focus, names, a small window."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect
from served_page import Served

import selfnote
from selfnote.panels.states import TABS
from selfnote.records.fact_lines import waiting_order

LANGUAGES = {"zh": "zh-Hans", "en": "en"}
#: WCAG 2.0, 2.1 and 2.2, levels A and AA.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
#: What another memory exported: one note.
PACKAGE = b'{"kind": "selfnote", "version": 2, "notes": ["another note"]}'
#: Milliseconds for a click to go to the kernel and back, and for the page to be told what it is.
SETTLED = 700
#: Milliseconds after which a second press is an answer and not half of a double click.
PAUSE = 900

#: What axe cannot decide itself, words on a picture: the ink beside the paper below it, as 1 to 21.
_CONTRAST = """
(selector) => {
  const light = (colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const clear = (colour) => /^transparent$|, 0\\)$/.test(colour);
  const node = document.querySelector(selector);
  let below = node;
  while (below && clear(getComputedStyle(below).backgroundColor)) below = below.parentElement;
  const ink = light(getComputedStyle(node).color);
  const paper = below ? light(getComputedStyle(below).backgroundColor) : 1;
  return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
}
"""
#: Where the focus is: the control, its place in the page, whether it is seen, and how it is marked.
_FOCUS = """
() => {
  const at = document.activeElement;
  const scrolled = document.querySelector("#rendered_cells");
  const box = at.getBoundingClientRect();
  const style = getComputedStyle(at);
  const shown = document.elementFromPoint(box.left + Math.min(box.width / 2, 40), box.top + Math.min(box.height / 2, 14));
  return {
    body: at === document.body, inside: at.closest(".sn-panel") !== null,
    told: `${at.tagName} ${(at.innerText || at.value || "").slice(0, 30)} ${at.closest("[class*=sn-]")?.className}`,
    left: box.left, top: box.top + scrolled.scrollTop, bottom: box.bottom + scrolled.scrollTop,
    seen: shown !== null && (at.contains(shown) || shown.contains(at)),
    ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
  };
}
"""
#: What sticks out of the window, is cut off, or lies over another control.
_CUT = """
() => {
  const width = document.documentElement.clientWidth, found = [];
  const scroller = document.querySelector("#rendered_cells");
  const told = (node) => `${node.tagName}.${node.className} ${(node.innerText || "").slice(0, 30)}`;
  if (document.documentElement.scrollWidth > width) found.push("the page scrolls sideways");
  if (scroller.scrollWidth > scroller.clientWidth) found.push("the panels scroll sideways");
  for (const node of document.querySelectorAll(".sn-panels *")) {
    const box = node.getBoundingClientRect();
    if (!box.width || !box.height || node.closest(".wide, .sn-wide, .sn-unseen")) continue;
    if (box.right > width + 0.5 || box.left < -0.5) found.push(`outside: ${told(node)}`);
    const style = getComputedStyle(node);
    // What is typed moves inside its field.
    if (node.matches("input, textarea, select")) continue;
    const hidden = (flow) => flow === "hidden" || flow === "clip";
    if (hidden(style.overflowX) && node.scrollWidth > node.clientWidth + 1) found.push(`cut: ${told(node)}`);
    if (hidden(style.overflowY) && node.scrollHeight > node.clientHeight + 1) found.push(`cut below: ${told(node)}`);
  }
  const controls = [...document.querySelectorAll(".sn-panels :is(button, input, textarea, select, [role=tab])")]
    .map((node) => [node, node.getBoundingClientRect()]).filter(([node, box]) => box.width && box.height);
  const sticks = (node) => node.closest(".sn-sticky") !== null;
  controls.forEach(([one, a], place) => {
    for (const [other, b] of controls.slice(place + 1)) {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 1 && sticks(one) === sticks(other)) found.push(`over: ${told(one)} and ${told(other)}`);
    }
  });
  return found;
}
"""
#: The roles of what can be worked, as a snapshot writes them, and the name that must follow.
_CONTROL = re.compile(r"^\s*- '?(button|textbox|checkbox|combobox|spinbutton|slider|tab|tabpanel|group)\b(?! [\"/])")
_HEAD = re.compile(r"^\s*- '?(columnheader|table|region)\b(?! [\"/])")


@pytest.fixture(params=list(LANGUAGES))
def language(request: pytest.FixtureRequest) -> str:
    """Either language of the panels."""
    return str(request.param)


@pytest.fixture
def demo(language: str, serve: Callable[..., Served], visit: Callable[..., Page]) -> Page:
    """The demo memory's page in one language."""
    return visit(serve("panel", "--demo", "--lang", language))


def open_tab(page: Page, tab: str) -> Locator:
    """Go to a tab; its panel."""
    panel = page.locator(f".sn-panel.sn-{tab}")
    page.get_by_role("tab").nth(TABS.index(tab)).click()
    panel.wait_for()
    page.wait_for_timeout(SETTLED)
    return panel


def states_of(page: Page) -> Iterator[tuple[str, Locator]]:
    """Every tab as it opens, and what can be opened in it; each by its name, with its panel."""
    for tab in TABS:
        yield tab, open_tab(page, tab)
    panel = open_tab(page, "overview")
    panel.locator("button.sn-export").click()
    panel.locator(".sn-package a").wait_for()
    with page.expect_file_chooser() as asked:
        panel.locator("button.sn-choose-package").click()
    asked.value.set_files({"name": "other.json", "mimeType": "application/json", "buffer": PACKAGE})
    panel.locator(".sn-plan tbody tr").wait_for()
    yield "overview, a package made and another looked into", panel
    panel = open_tab(page, "notes")
    panel.locator("button[class*=sn-edit-]").first.click()
    panel.locator("button[class*=sn-delete-]").last.click()
    page.wait_for_timeout(SETTLED)
    yield "notes, a field open, one about to be deleted", panel
    panel = open_tab(page, "persona")
    for place in range(2):
        panel.locator("[class*=sn-tick-] input:enabled").nth(place).check()
    panel.locator("button.sn-write-rule").click()
    panel.locator(".sn-field-l0 textarea").fill("太长" * 50)
    page.wait_for_timeout(SETTLED)
    yield "persona, a rule being written, a part over its limit", panel
    panel = open_tab(page, "memory")
    for part in ("approved", "retired", "habits"):
        panel.locator(f"button.sn-open-{part}").click()
        panel.locator(f".sn-list-{part}").wait_for()
    panel.locator("button[class*=sn-edit-]").first.click()
    panel.locator("button[class*=sn-source-]").first.click()
    panel.locator("button[class*=sn-keep-both-]").first.click()
    panel.locator("button[class*=sn-approve-f]").last.click()
    page.wait_for_timeout(SETTLED)
    yield "memory, all open, one just approved", panel
    panel.locator(".sn-group-by select").select_option(index=1)
    panel.locator("[class*=sn-approve-group-]").first.wait_for()
    page.wait_for_timeout(SETTLED)
    yield "memory, in groups", panel
    panel = open_tab(page, "injection")
    panel.locator("button[class*=sn-fix-]").first.click()
    panel.locator("button[class*=sn-explain-]").first.click()
    page.wait_for_timeout(SETTLED)
    yield "injection, two reasons asked for", panel


def broken_rules(page: Page) -> list[str]:
    """What axe finds on the page as it is; a contrast it leaves open is measured."""
    options = {"runOnly": RULES, "resultTypes": ["violations", "incomplete"]}
    found = Axe().run(page, options=options).response
    broken = [
        f"{rule['id']}: {node['html'][:200]} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
    for rule in found["incomplete"]:
        for node in rule["nodes"]:
            (selector,) = node["target"]
            if rule["id"] != "color-contrast" or page.evaluate(_CONTRAST, selector) < 4.5:
                broken.append(f"{rule['id']}, undecided: {node['html'][:200]} {node['failureSummary']}")
    return broken


def focus(page: Page) -> dict[str, Any]:
    """Where the focus is."""
    return dict(page.evaluate(_FOCUS))


def stops(page: Page, key: str) -> list[dict[str, Any]]:
    """Where the focus is with each press of a key, until it leaves the panel."""
    found = []
    while len(found) < 400:
        page.keyboard.press(key)
        at = focus(page)
        if not at["inside"]:
            break
        found.append(at)
    return found


def press(page: Page, control: Locator, key: str = "Enter") -> dict[str, Any]:
    """Work a control by its key; where the focus is when the answer is there."""
    expect(control).to_be_enabled()
    control.focus()
    page.keyboard.press("Shift")
    page.keyboard.press(key)
    page.wait_for_timeout(PAUSE)
    return focus(page)


def test_no_rule_of_wcag_a_and_aa_is_broken(demo: Page, picture: Callable[[Page, str], None], language: str):
    """Issue 6: labels on controls, contrast AA; every tab, and all that opens in it."""
    broken = {}
    for place, (name, _) in enumerate(states_of(demo)):
        picture(demo, f"access-{place}-{language}")
        if found := broken_rules(demo):
            broken[name] = found
    assert broken == {}


def test_a_page_opened_to_look_breaks_no_rule_and_says_why_it_is_off(
    serve: Callable[..., Served], visit: Callable[..., Page], home: Path
):
    """Issue 6: every disabled control says why, where it stands or in a sentence of its panel."""
    page = visit(serve("panel", "--home", str(home), "--read-only"))
    for tab in TABS:
        panel = open_tab(page, tab)
        assert broken_rules(page) == [], tab
        whys = " ".join(panel.locator(".sn-why").all_inner_texts()) + " ".join(
            panel.locator(".sn-over").all_inner_texts()
        )
        for control in panel.locator(":is(button, input, select, textarea):disabled:visible").all():
            told = control.get_attribute("title")
            assert told or control.evaluate("node => !node.matches('button')"), control.evaluate(
                "node => node.outerHTML"
            )
            assert (told or "只读") in whys, (tab, told)


def test_arrows_home_and_end_switch_the_tabs(serve: Callable[..., Served], visit: Callable[..., Page], home: Path):
    """S2-049: the first Tab reaches the tab that is open, and the arrows open the others without another key."""
    page = visit(serve("panel", "--home", str(home)))
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("Tab")
    tabs = page.get_by_role("tab")
    at = TABS.index("memory")
    expect(tabs.nth(at)).to_be_focused()
    for key, there in (("ArrowLeft", at - 1), ("ArrowRight", at), ("End", 5), ("Home", 0), ("ArrowLeft", 5)):
        page.keyboard.press(key)
        expect(tabs.nth(there)).to_have_attribute("aria-selected", "true")
        expect(tabs.nth(there)).to_be_focused()
        expect(page.locator(f".sn-panel.sn-{TABS[there]}")).to_be_visible()
    assert focus(page)["ring"]


def test_tab_goes_in_the_order_on_the_screen_and_is_always_seen(
    serve: Callable[..., Served], visit: Callable[..., Page], home: Path
):
    """Down with Tab, back with Shift and Tab: never up or to the left, with a ring, and under nothing that sticks."""
    page = visit(serve("panel", "--home", str(home)))
    for tab in TABS:
        open_tab(page, tab)
        title = page.get_by_role("tab").nth(TABS.index(tab))
        title.focus()
        down, up = stops(page, "Tab"), stops(page, "Shift+Tab")
        expect(title).to_be_focused()
        assert len(down) > 1, tab
        for stop in (*down, *up):
            assert stop["ring"], (tab, stop)
            assert stop["seen"], (tab, stop)
        for one, other in itertools.pairwise(down):
            assert other["bottom"] > one["top"], (tab, one, other)
            beside = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
            if beside > (one["bottom"] - one["top"]) / 2:
                assert other["left"] > one["left"], (tab, one, other)
        assert [one["told"] for one in up] == [one["told"] for one in reversed(down)], tab


def test_a_decision_by_key_leaves_the_focus_at_the_next_card(
    serve: Callable[..., Served], visit: Callable[..., Page], home: Path
):
    """Not at the top of the page; and on the card, not on its button: Enter held down decides about one only."""
    memory = selfnote.open_memory(home, read_only=True)
    waiting = waiting_order(memory.facts.candidates())
    page = visit(serve("panel", "--home", str(home)))
    page.wait_for_timeout(SETTLED)
    for key, verb, place in (("Enter", "approve", 1), ("Space", "retire", 2), ("Enter", "approve", 3)):
        fact, following = waiting[place], waiting[place + 1]
        at = press(page, page.locator(f"button.sn-{verb}-{fact.id}"), key)
        expect(page.locator(f".sn-card-{fact.id}")).to_have_count(0)
        expect(page.locator(f".sn-card-{following.id}")).to_be_focused()
        assert at["ring"]
        assert at["seen"]
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.locator(f".sn-select-{following.id} input")).to_be_focused()
    after = selfnote.open_memory(home, read_only=True)
    assert len(after.facts.candidates()) == len(waiting) - 3


def test_a_click_of_the_mouse_leads_the_focus_nowhere(
    serve: Callable[..., Served], visit: Callable[..., Page], home: Path
):
    """The keys of the review go on from the card in the frame, as they did."""
    memory = selfnote.open_memory(home, read_only=True)
    one, other = waiting_order(memory.facts.candidates())[:2]
    page = visit(serve("panel", "--home", str(home)))
    page.wait_for_timeout(SETTLED)
    page.locator(f"button.sn-approve-{one.id}").click()
    expect(page.locator(f".sn-card-{one.id}")).to_have_count(0)
    page.wait_for_timeout(PAUSE)
    assert focus(page)["body"]
    page.keyboard.press("a")
    expect(page.locator(f".sn-card-{other.id}")).to_have_count(0)


def test_no_act_by_key_loses_the_focus(serve: Callable[..., Served], visit: Callable[..., Page], home: Path):
    """A button that goes, is hidden or greyed by what it did hands the focus to what stands beside it."""
    page = visit(serve("panel", "--home", str(home)))
    page.wait_for_timeout(SETTLED)
    lost = []

    def act(what: str, control: Locator, key: str = "Enter") -> None:
        if not press(page, control, key)["inside"]:
            lost.append(what)

    panel = page.locator(".sn-panel.sn-memory")
    act("keep one of a conflict", panel.locator("button[class*=sn-keep-f]").first)
    act("undo", panel.locator("button.sn-undo"))
    expect(panel.locator("button.sn-undo")).to_be_disabled()
    act("open a source", panel.locator("button[class*=sn-source-]").first)
    act("close a source", panel.locator("button.sn-close-source"))
    act("open the editor", panel.locator("button[class*=sn-edit-]").first)
    act("close the editor", panel.locator("button.sn-close-editor"))
    act("select all", panel.locator("button.sn-select-page"))
    act("retire all selected", panel.locator("button.sn-retire-selected"), "Space")
    act("undo all", panel.locator("button.sn-undo"))
    only = panel.locator("[class*=sn-card-] .sn-said").last.inner_text()
    panel.locator(".sn-query input").fill(only)
    panel.locator(".sn-query input").press("Enter")
    expect(panel.locator("[class*=sn-card-]")).to_have_count(1)
    act("retire the only one", panel.locator(".sn-list-cards button[class*=sn-retire-]"))
    expect(panel.locator("[class*=sn-card-]")).to_have_count(0)
    act("open a part", panel.locator("button.sn-open-approved"))
    while panel.locator("button.sn-next-approved").is_visible():
        act("next page", panel.locator("button.sn-next-approved"))
    act("retire the last", panel.locator(".sn-list-approved button[class*=sn-retire-]").last)

    panel = open_tab(page, "notes")
    panel.locator(".sn-new-note textarea").fill("我先写测试")
    act("write a note", panel.locator("button.sn-add-note"))
    expect(panel.locator("button.sn-add-note")).to_be_disabled()
    act("pin", panel.locator("button[class*=sn-pin-]").last)
    delete = panel.locator("button[class*=sn-delete-]").nth(2)
    act("delete, asked", delete)
    act("delete", delete)
    act("clear, asked", panel.locator("button.sn-clear"))
    act("cancel", panel.locator("button.sn-cancel-clear"))

    panel = open_tab(page, "persona")
    panel.locator(".sn-field-l0 textarea").fill("换一句")
    act("discard, asked", panel.locator("button.sn-discard-l0"))
    act("discard", panel.locator("button.sn-discard-l0"))
    panel.locator("[class*=sn-tick-] input:enabled").first.check()
    act("dismiss", panel.locator("button.sn-dismiss"))

    panel = open_tab(page, "overview")
    panel.locator(".sn-field-header input").fill("我的记忆")
    act("save a setting", panel.locator("button.sn-save-header"))
    expect(panel.locator("button.sn-save-header")).to_be_disabled()
    assert lost == []


def test_what_another_program_takes_away_leaves_the_focus_beside_it(
    serve: Callable[..., Served], visit: Callable[..., Page], home: Path
):
    """A card that goes while its owner is on it, and one that is only drawn anew because its neighbour went."""
    memory = selfnote.open_memory(home)
    waiting = waiting_order(memory.facts.candidates())
    page = visit(serve("panel", "--home", str(home)))
    page.wait_for_timeout(SETTLED)
    button = page.locator(f"button.sn-retire-{waiting[2].id}")
    button.focus()
    page.keyboard.press("Shift")
    memory.facts.retire(waiting[1].id)
    expect(page.locator(f".sn-card-{waiting[1].id}")).to_have_count(0)
    expect(button).to_be_focused()
    memory.facts.retire(waiting[2].id)
    expect(page.locator(f".sn-card-{waiting[2].id}")).to_have_count(0)
    expect(page.locator(f".sn-card-{waiting[3].id}")).to_be_focused()


def test_all_that_can_be_worked_has_a_name_and_every_row_says_what_it_is_about(demo: Page, language: str):
    """What a screen reader is given: names, rows as groups named by their text, headed tables, the language."""
    assert demo.locator("html").get_attribute("lang") == LANGUAGES[language]
    assert demo.locator(".sn-panels").get_attribute("lang") == LANGUAGES[language]
    rows = 0
    for name, panel in states_of(demo):
        told = demo.locator(".sn-panels").aria_snapshot()
        nameless = [line for line in told.split("\n") if _CONTROL.match(line) or _HEAD.match(line)]
        assert nameless == [], name
        assert panel.locator("[title=null]").count() == 0, name
        for row in panel.locator(".sn-row.jupyter-widgets:visible").all():
            said = row.locator(".sn-said, .sn-name")
            if not said.count():
                # The editor of what no list shows now: its field holds the text.
                assert row.get_by_role("textbox").first.input_value(), name
                continue
            beginning = said.first.inner_text()[:40]
            assert row.get_attribute("role") == "group", (name, beginning)
            assert (row.get_attribute("aria-label") or "").startswith(beginning), (name, beginning)
            rows += 1
        assert demo.locator("[role=tabpanel]:visible").count() == 1, name
    assert rows > 100
    if language == "en":
        assert (
            demo.locator(".sn-panels [dir=auto]:not([lang])").filter(has_text=re.compile("[\u4e00-\u9fff]")).count()
            == 0
        )


def test_a_part_says_whether_it_is_open(demo: Page):
    toggle = demo.locator("button.sn-open-approved")
    demo.wait_for_timeout(SETTLED)
    expect(toggle).to_have_attribute("aria-expanded", "false")
    toggle.click()
    expect(toggle).to_have_attribute("aria-expanded", "true")


def test_the_answer_of_an_act_is_put_into_a_region_that_was_there_before(
    serve: Callable[..., Served], visit: Callable[..., Page], home: Path
):
    """What is not there before its words is not read aloud; what cannot be read is not said again with every answer."""
    page = visit(serve("panel", "--home", str(home)))
    for tab, button in (("memory", "button[class*=sn-approve-f]"), ("overview", ".sn-switch-capture_enabled input")):
        panel = open_tab(page, tab)
        region = panel.get_by_role("status").element_handle()
        assert region is not None
        assert region.inner_text() == ""
        panel.locator(button).first.click()
        expect(panel.locator(".sn-message")).to_be_visible()
        assert region.evaluate("node => node.isConnected && node.checkVisibility()")
        assert region.inner_text() == panel.locator(".sn-message").inner_text()
        assert panel.get_by_role("status").count() == 1
    expect(panel.locator(".sn-problem").first).to_be_visible()
    panel.locator(".sn-field-temp_ttl_days input").fill("1000")
    panel.locator("button.sn-save-temp_ttl_days").click()
    expect(panel.get_by_role("status").get_by_role("alert")).to_be_visible()
    assert region.evaluate("node => node.isConnected")


def test_in_a_small_window_nothing_is_cut_off_and_only_tables_scroll_sideways(
    demo: Page, picture: Callable[[Page, str], None], language: str
):
    """A window 400 px wide, and one of 1180 px at twice the size."""
    cut = {}
    for place, (name, _) in enumerate(states_of(demo)):
        for width, height in ((400, 800), (590, 450)):
            demo.set_viewport_size({"width": width, "height": height})
            picture(demo, f"small-{width}-{place}-{language}")
            if found := demo.evaluate(_CUT):
                cut[name, width] = found
    assert cut == {}
