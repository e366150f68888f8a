"""What an owner does on the page, click by click; what came of it is read from disk (S2-046..105)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from served_page import Served, click_away, measure

import selfnote
from selfnote.injection.assemble import assemble_injection
from selfnote.panels.states import TABS
from selfnote.records.fact_lines import waiting_order
from selfnote.records.persona import count_chars
from selfnote.text import fold

#: A click that goes to the kernel and back, and what becomes visible of it.
CLICK = "click to answer"
#: Milliseconds after which a second click is an answer and not half of a double click.
PAUSE = 800


def open_tab(page: Page, tab: str) -> Locator:
    """Go to a tab; its panel."""
    panel = page.locator(f".sn-panel.sn-{tab}")
    with measure("tab to panel"):
        page.get_by_role("tab").nth(TABS.index(tab)).click()
        panel.wait_for()
    return panel


def read(home: Path) -> selfnote.Memory:
    """The memory as another program would read it now."""
    return selfnote.open_memory(home, read_only=True)


def test_an_approved_candidate_stands_in_the_text_of_the_next_turn(
    serve: Callable[..., Served], visit: Callable[..., Page], picture: Callable[[Page, str], None], home: Path
):
    """S2-048, S2-081..083, S2-088: the page opens on what waits; approving puts it into the text."""
    memory = read(home)
    waiting = waiting_order(memory.facts.candidates())
    candidate = next(fact for fact in waiting if fact.text in memory.preview(approve=[fact.id]).injection.text)
    served = serve("panel", "--home", str(home))
    page = visit(served)
    card = page.locator(f".sn-card-{candidate.id}")
    expect(card).to_contain_text(candidate.text)
    picture(page, "approve-1-waiting")
    click_away(page, f"button.sn-approve-{candidate.id}", f".sn-card-{candidate.id}", CLICK)
    expect(card).to_have_count(0)
    expect(page.locator(".sn-memory .sn-message")).to_be_visible()
    expect(page.get_by_role("tab").nth(TABS.index("memory"))).to_contain_text(str(len(waiting) - 1))
    panel = open_tab(page, "injection")
    expect(panel.locator(".sn-text")).to_contain_text(candidate.text)
    picture(page, "approve-2-injection")

    fact = read(home).facts.get(candidate.id)
    assert fact.status == "approved"
    assert (fact.history[-1].via, fact.history[-1].from_, fact.history[-1].to) == ("panel", "candidate", "approved")
    assert candidate.text in assemble_injection(read(home)).text


def test_a_persona_over_its_limit_is_refused_and_the_draft_stays(
    serve: Callable[..., Served], visit: Callable[..., Page], picture: Callable[[Page, str], None], home: Path
):
    """S2-074: the count is live, nothing is written, and nothing typed is lost - not on another tab either."""
    before = (home / "selfnote" / "persona.md").read_bytes()
    served = serve("panel", "--home", str(home))
    page = visit(served)
    panel = open_tab(page, "persona")
    field = panel.locator(".sn-field-l0 textarea")
    draft = "先给结论，再说理由。" * 9
    assert count_chars(draft) == 90
    with measure("typing to count"):
        field.fill(draft)
        expect(panel.locator(".sn-count-l0")).to_contain_text("90 / 80")
    expect(panel.locator("button.sn-save-persona")).to_be_disabled()
    expect(panel.locator(".sn-over")).to_contain_text("80")
    expect(field).to_have_value(draft)
    picture(page, "refused-1-persona")
    open_tab(page, "notes")
    expect(open_tab(page, "persona").locator(".sn-field-l0 textarea")).to_have_value(draft)
    assert (home / "selfnote" / "persona.md").read_bytes() == before


def test_a_conflict_is_resolved_by_keeping_one_of_the_two(
    serve: Callable[..., Served], visit: Callable[..., Page], picture: Callable[[Page, str], None], home: Path
):
    """S2-080: both texts side by side; the newer one is approved in the other's place, in one act."""
    old, new = next(pair for pair in read(home).facts.conflicts() if pair[1].status == "candidate")
    served = serve("panel", "--home", str(home))
    page = visit(served)
    pair = page.locator(f".sn-conflict-{old.id}-{new.id}")
    expect(pair).to_contain_text(old.text)
    expect(pair).to_contain_text(new.text)
    pair.scroll_into_view_if_needed()
    picture(page, "conflict-1-side-by-side")
    click_away(
        page, f"button.sn-keep-{new.id}-over-{old.id}", f".sn-conflict-{old.id}-{new.id}", f"{CLICK}, a conflict"
    )
    expect(pair).to_have_count(0)
    expect(page.locator(".sn-memory .sn-message")).to_be_visible()
    picture(page, "conflict-2-resolved")

    facts = read(home).facts
    assert facts.get(new.id).status == "approved"
    assert facts.get(old.id).status == "retired"
    assert (old.id, new.id) not in [(one.id, other.id) for one, other in facts.conflicts()]


def test_a_note_is_deleted_by_the_second_click_and_lies_in_the_archive(
    serve: Callable[..., Served], visit: Callable[..., Page], picture: Callable[[Page, str], None], home: Path
):
    """S2-069: the first click only asks, the note is moved by the second, not lost."""
    file, archive = home / "selfnote" / "notes.md", home / "selfnote" / "archive"
    before = file.read_bytes()
    served = serve("panel", "--home", str(home))
    page = visit(served)
    panel = open_tab(page, "notes")
    named = re.search(
        r"sn-delete-(n-\w+)", panel.locator("button[class*=sn-delete-]").first.get_attribute("class") or ""
    )
    assert named
    note = next(one for one in read(home).notes.list() if one.id == named[1])
    expect(panel.locator(f".sn-note-{note.id}")).to_contain_text(note.text)
    button = panel.locator(f"button.sn-delete-{note.id}")
    with measure(CLICK):
        button.click()
        expect(button).to_have_text("真的删")
    picture(page, "delete-1-asked")
    assert file.read_bytes() == before, "the first click writes nothing"
    page.wait_for_timeout(PAUSE)
    with measure(CLICK):
        button.click()
        expect(panel.locator(f".sn-note-{note.id}")).to_have_count(0)
    picture(page, "delete-2-done")

    assert note.id not in [one.id for one in read(home).notes.list()]
    assert note.text not in file.read_text(encoding="utf-8")
    assert note.text in "".join(one.read_text(encoding="utf-8") for one in sorted(archive.glob("????-??.md")))


def test_a_double_click_moves_no_note(serve: Callable[..., Served], visit: Callable[..., Page], home: Path):
    """S2-066, S2-069: the question has to be read before it is answered."""
    before = (home / "selfnote" / "notes.md").read_bytes()
    page = visit(serve("panel", "--home", str(home)))
    panel = open_tab(page, "notes")
    panel.locator("button.sn-clear").dblclick()
    expect(panel.locator("button.sn-clear")).to_contain_text("真的把全部 47 条")
    assert (home / "selfnote" / "notes.md").read_bytes() == before
    panel.locator("button.sn-cancel-clear").click()
    expect(panel.locator("button.sn-clear")).to_have_text("清空全部自述…")


def test_what_came_of_a_click_far_down_is_in_sight(
    serve: Callable[..., Served], visit: Callable[..., Page], picture: Callable[[Page, str], None], home: Path
):
    """The answer and the way back stick to the top, however far the list was scrolled."""
    page = visit(serve("panel", "--home", str(home)))
    last = page.locator(".sn-memory .sn-list-cards button[class*=sn-approve-]").last
    last.scroll_into_view_if_needed()
    last.click()
    expect(page.locator(".sn-memory .sn-message")).to_be_in_viewport()
    expect(page.locator(".sn-memory button.sn-undo")).to_be_in_viewport()
    picture(page, "sticky-answer")


def test_a_key_decides_only_about_the_card_that_is_looked_at(
    serve: Callable[..., Served], visit: Callable[..., Page], home: Path
):
    """Out of sight, the card in the frame is brought into sight and nothing is decided; the same from another card."""
    page = visit(serve("panel", "--home", str(home)))
    framed = page.locator(".sn-memory .sn-at-cursor")
    expect(framed).to_have_count(1)
    store, words = read(home).home.facts, framed.locator(".sn-said")
    before, text = store.read_bytes(), words.inner_text()
    other = page.locator(".sn-memory .sn-list-cards button[class*=sn-approve-]").last
    other.scroll_into_view_if_needed()
    expect(words).not_to_be_in_viewport()
    page.keyboard.press("a")
    expect(words).to_be_in_viewport()
    page.wait_for_timeout(PAUSE)
    assert store.read_bytes() == before
    other.focus()
    page.keyboard.press("a")
    page.wait_for_timeout(PAUSE)
    assert store.read_bytes() == before
    other.evaluate("button => button.blur()")
    words.scroll_into_view_if_needed()
    expect(words).to_be_in_viewport()
    page.keyboard.press("a")
    expect(page.locator(".sn-memory .sn-message")).to_contain_text(text[:12])
    assert store.read_bytes() != before


def test_a_field_is_ready_to_be_typed_in_and_enter_saves_a_line(
    serve: Callable[..., Served], visit: Callable[..., Page], home: Path
):
    """No click into the field after 改, and none on the button after a header."""
    page = visit(serve("panel", "--home", str(home)))
    panel = open_tab(page, "notes")
    panel.locator("button[class*=sn-edit-]").first.click()
    expect(panel.locator(".sn-row .sn-field textarea")).to_be_focused()
    panel = open_tab(page, "memory")
    panel.locator(".sn-list-cards button[class*=sn-edit-]").first.click()
    expect(panel.locator(".sn-row .sn-field textarea")).to_be_focused()
    panel = open_tab(page, "overview")
    panel.locator(".sn-field-header input").fill("我的记忆")
    panel.locator(".sn-field-header input").press("Enter")
    expect(panel.locator(".sn-message")).to_contain_text("注入抬头")
    assert read(home).config.load().header == "我的记忆"
    days = panel.locator(".sn-field-temp_ttl_days input")
    days.fill("")
    page.keyboard.type("36")
    page.keyboard.press("Enter")
    expect(panel.locator(".sn-message")).to_contain_text("「36」")
    assert read(home).config.load().temp_ttl_days == 36, "the last key may still be on its way when Enter is pressed"


def test_a_rule_is_made_of_two_corrections_and_saved(
    serve: Callable[..., Served], visit: Callable[..., Page], picture: Callable[[Page, str], None], home: Path
):
    """S2-076..079: evidence, draft, L1, save; no evidence counts as used before the persona is saved."""
    memory = read(home)
    said = [one for one in memory.corrections.unhandled() if "表格" in one.text or "总结" in one.text][:2]
    assert len(said) == 2
    persona, before = memory.persona.load(), (home / "selfnote" / "persona.md").read_bytes()
    rule = "总结不超过三句，不用表格。"
    served = serve("panel", "--home", str(home))
    page = visit(served)
    panel = open_tab(page, "persona")
    for one in said:
        panel.locator(f".sn-tick-{one.id} input").check()
    with measure(CLICK):
        panel.locator("button.sn-write-rule").click()
        expect(panel.locator(".sn-quotes")).to_contain_text(said[0].text)
    expect(panel.locator(".sn-quotes")).to_contain_text(said[1].text)
    expect(panel.locator(".sn-rule textarea")).to_have_value("")
    expect(panel.locator("button.sn-add-rule")).to_be_disabled()
    picture(page, "rule-1-evidence")
    panel.locator(".sn-rule textarea").fill(rule)
    with measure(CLICK):
        panel.locator("button.sn-add-rule").click()
        expect(panel.locator(".sn-field-l1 textarea")).to_have_value(f"{persona.l1}\n{rule}")
    assert (home / "selfnote" / "persona.md").read_bytes() == before
    assert {one.status for one in memory.corrections.page().items if one.id in {two.id for two in said}} == {"open"}

    # The demo's persona is nearly full: a line makes room, as its owner would have to.
    kept = [line for line in persona.l1.splitlines() if "表格" not in line]
    panel.locator(".sn-field-l1 textarea").fill("\n".join([*kept, rule]))
    expect(panel.locator(".sn-count-l1")).not_to_contain_text("超")
    with measure(CLICK):
        panel.locator("button.sn-save-persona").click()
        expect(panel.locator(".sn-message")).to_be_visible()
    expect(panel.locator(f".sn-evidence-{said[0].id}")).to_have_count(0)
    picture(page, "rule-2-saved")

    after = read(home)
    assert after.persona.load().l1.splitlines() == [*kept, rule]
    assert after.persona.load().l0 == persona.l0
    used = {one.id for one in after.corrections.page(size=100).items if one.status == "used"}
    assert {one.id for one in said} <= used
    assert rule in assemble_injection(after).text


def test_a_memory_moves_to_another_machine_by_one_file(
    serve: Callable[..., Served],
    visit: Callable[..., Page],
    picture: Callable[[Page, str], None],
    home: Path,
    tmp_path: Path,
):
    """S2-061, S2-270..275: out by a link, in after its plan was seen, and what was approved waits again."""
    old = read(home)
    page = visit(serve("panel", "--home", str(home)))
    panel = open_tab(page, "overview")
    with measure(CLICK):
        panel.locator("button.sn-export").click()
        panel.locator(".sn-package a").wait_for()
    with page.expect_download() as saved:
        panel.locator(".sn-package a").click()
    assert re.fullmatch(r"selfnote-\d{4}-\d\d-\d\d\.json", saved.value.suggested_filename)
    package = tmp_path / saved.value.suggested_filename
    saved.value.save_as(package)
    picture(page, "move-1-exported")

    there = tmp_path / "new" / ".dsh"
    there.mkdir(parents=True)
    page = visit(serve("panel", "--home", str(there)))
    panel = open_tab(page, "overview")
    expect(panel.locator("button.sn-import")).to_be_disabled()

    def choose(path: Path) -> None:
        with page.expect_file_chooser() as asked:
            panel.locator("button.sn-choose-package").click()
        asked.value.set_files(path)

    foreign = tmp_path / "foreign.json"
    foreign.write_text('{"kind": "another program"}', encoding="utf-8")
    for _ in range(2):
        choose(foreign)
        expect(panel.locator(".sn-error")).to_be_visible()
        panel.locator(".sn-switch-capture_enabled input").click()
        expect(panel.locator(".sn-error")).to_have_count(0)
    with measure("file to plan"):
        choose(package)
        expect(panel.locator(".sn-plan tbody tr")).to_have_count(20)
    expect(panel.locator(".sn-plan caption")).to_contain_text(package.name)
    picture(page, "move-2-plan")
    assert not (there / "memory" / "facts.jsonl").exists()
    assert not (there / "selfnote" / "notes.md").exists()
    with measure(f"{CLICK}, an import"):
        panel.locator("button.sn-import").click()
        expect(panel.locator(".sn-plan")).to_be_hidden()
    expect(panel.locator(".sn-message")).to_be_visible()
    expect(panel.locator("button.sn-import")).to_be_disabled()
    picture(page, "move-3-imported")

    new = read(there)
    came = {fact.id: fact for fact in new.facts.all()}
    approved = {fact.id for fact in old.facts.all() if fact.status == "approved"} & set(came)
    assert len(approved) > 80
    assert {came[one].status for one in approved} == {"candidate"}
    assert {fold(fact.text) for fact in came.values()} == {fold(fact.text) for fact in old.facts.all()}
    assert old.notes.list()[0].text in [note.text for note in new.notes.list()]
    assert new.persona.load().l1 == old.persona.load().l1


def test_what_another_program_changes_appears_by_itself(
    serve: Callable[..., Served], visit: Callable[..., Page], home: Path
):
    """An external edit shows without a click; what is being typed stays."""
    served = serve("panel", "--home", str(home))
    page = visit(served)
    panel = open_tab(page, "notes")
    panel.locator(".sn-new-note textarea").fill("我还没写完")
    selfnote.open_memory(home).notes.add("我改完先跑一遍测试", tier="stable", pinned=True)
    with measure("edit elsewhere to page"):
        expect(panel.locator(".sn-said", has_text="我改完先跑一遍测试")).to_be_visible()
    expect(panel.locator(".sn-new-note textarea")).to_have_value("我还没写完")


def test_a_page_opened_to_look_changes_nothing_and_says_why(
    serve: Callable[..., Served], visit: Callable[..., Page], picture: Callable[[Page, str], None], home: Path
):
    """`--read-only`: every tab is shown, what writes is off with its reason, and no file changes."""

    def files() -> dict[str, tuple[bytes, int]]:
        return {
            str(one.relative_to(home)): (one.read_bytes(), one.stat().st_mtime_ns)
            for one in home.rglob("*")
            if one.is_file()
        }

    before = files()
    served = serve("panel", "--home", str(home), "--read-only")
    page = visit(served)
    candidate = waiting_order(read(home).facts.candidates())[0]
    expect(page.locator(f"button.sn-approve-{candidate.id}")).to_be_disabled()
    expect(page.locator(".sn-memory")).to_contain_text("只读")
    picture(page, "read-only")
    for tab in TABS:
        open_tab(page, tab)
    assert files() == before


def test_a_page_left_alone_still_works_and_says_when_its_server_was_stopped(
    serve: Callable[..., Served], visit: Callable[..., Page], complaints: list[str], home: Path
):
    """A line to the kernel is asked for a sign of life every 30 s; buttons that do nothing would look like a decision."""
    served = serve("panel", "--home", str(home))
    page = visit(served)
    page.wait_for_timeout(35_000)
    expect(open_tab(page, "notes").locator(".sn-ledger")).to_be_visible()
    expect(page.locator("#sn-stopped")).to_be_hidden()
    assert complaints == []
    served.stop()
    expect(page.locator("#sn-stopped")).to_be_visible(timeout=20_000)
    colours = "(node) => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"
    assert page.locator("#sn-stopped").evaluate(colours) == ["rgb(255, 255, 255)", "rgb(155, 28, 28)"]
    # Without its server the page cannot but complain.
    complaints.clear()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_tab_reads_in_both_languages(
    serve: Callable[..., Served], visit: Callable[..., Page], picture: Callable[[Page, str], None], language: str
):
    """S2-046, S2-047: six tabs, each with its panel; a picture of each is left to be looked at."""
    served = serve("panel", "--demo", "--lang", language)
    page = visit(served)
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_count(len(TABS))
    for tab in TABS:
        open_tab(page, tab)
        page.wait_for_timeout(300)
        picture(page, f"tab-{tab}-{language}")
    first = {"zh": "概览", "en": "Overview"}[language]
    expect(tabs.first).to_contain_text(first)


def test_a_full_memory_is_shown_by_the_page(
    serve: Callable[..., Served], visit: Callable[..., Page], picture: Callable[[Page, str], None], home: Path
):
    """With 2,000 facts and 300 candidates a page holds no more widgets than with fifteen; how long it takes is told."""
    rooms, waiting, approved = ("厨房", "书房", "阳台", "机房", "仓库"), 300, 1700
    lines = [
        {
            "id": f"f-{number:012x}",
            "text": f"{rooms[number % 5]}的第 {number} 个柜子里放着{rooms[number // 5 % 5]}的备件",
            "channel": "env" if number % 3 else "rel",
            "status": "candidate" if number < waiting else "approved",
            "tags": ["柜子"],
            "source": "owner:cli",
            "createdAt": "2026-10-01T00:00:00.000Z",
        }
        | ({} if number < waiting else {"approvedAt": "2026-10-02T00:00:00.000Z"})
        for number in range(waiting + approved)
    ]
    (home / "memory" / "facts.jsonl").write_text(
        "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), encoding="utf-8"
    )
    served = serve("panel", "--home", str(home))
    page = visit(served, label="address to panels, 2,000 facts")
    cards = page.locator("[class*=sn-card-]")
    expect(cards).to_have_count(20)
    picture(page, "full")
    for _ in range(9):
        found = re.search(r"sn-card-(f-\w+)", cards.first.get_attribute("class") or "")
        assert found
        click_away(page, f"button.sn-approve-{found[1]}", f".sn-card-{found[1]}", f"{CLICK}, 2,000 facts")
    expect(cards).to_have_count(20)
    assert page.locator(".sn-memory .jupyter-widgets").count() <= 500
    assert len([one for one in read(home).facts.all() if one.status == "approved"]) == approved + 9
