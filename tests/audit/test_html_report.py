"""The audit as a page: it needs nothing, runs nothing, and can be read by eye and ear in both languages."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfnote
from selfnote.audit import html_report
from selfnote.audit.html_report import show
from selfnote.demo import DEMO_NOW, bundled_home
from selfnote.phrases import REPORT

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
#: Elements the page is made of; none of them fetches or runs anything.
ELEMENTS = {"html", "head", "meta", "title", "style", "body", "main", "div", "h1", "h2", "h3", "p", "pre", "ul", "li"}
ELEMENTS |= {"code", "ins", "del", "br", "table", "caption", "thead", "tbody", "tr", "th", "td", "span", "i"}
VOID = {"meta", "br"}
HOSTILE = (
    "<script>alert('x')</script>",
    "</pre></td></table></main><img src=x onerror=alert(1)>",
    '"\' onmouseover="alert(1)" x=\'',
    "<!-- <style>*{display:none}</style> ]]> &lt;b&gt; &#60;",
    "https://example.org/ {{ x }} <a href='javascript:alert(1)'>",
    "左右\u202e反\u202c\u2066隔\u2069\u200f零\u200b宽\ufeff标\U000e0041",
    "响铃\x07退格\x08转义\x1b[31m换页\x0c",
    "</title></style><style>body{background:url(//example.org)}</style>",
)


class Page(HTMLParser):
    """A page as a parser sees it: elements that nest, attributes, text, and each table's cells."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.said: list[str] = []
        self.tables: list[dict[str, list]] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag == "table":
            self.tables.append({"caption": [], "rows": [], "scopes": []})
        elif tag == "tr":
            self.tables[-1]["rows"].append([])
            self.tables[-1]["scopes"].append([])
        elif tag in {"th", "td"}:
            self.tables[-1]["rows"][-1].append("")
            self.tables[-1]["scopes"][-1].append(dict(attrs).get("scope"))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_comment(self, data):
        raise AssertionError(data)

    def handle_data(self, data):
        self.said.append(data)
        if "caption" in self.open:
            self.tables[-1]["caption"].append(data)
        elif {"th", "td"} & set(self.open):
            self.tables[-1]["rows"][-1][-1] += data


@pytest.fixture(scope="module")
def report():
    return selfnote.open_memory(bundled_home(), read_only=True).audit(now=DEMO_NOW)


def hostile_report(memory: selfnote.Memory):
    for place, text in enumerate(HOSTILE):
        fact = memory.facts.stage(text, source="owner:test", tags=[text], detail=text, now=NOW)
        if place % 2:
            memory.facts.approve(fact, now=NOW)
    memory.notes.add(HOSTILE[0], now=NOW)
    with memory.home.facts.open("a", encoding="utf-8") as facts:
        facts.write(f'<script>{HOSTILE[5]}\n{{"id": "<b>f</b>", "text": "半\\ud800个", "status": "approved"}}\n')
    return memory.audit(now=NOW)


def assert_harmless(page: str) -> Page:
    seen = Page(page)
    assert set(seen.elements) <= ELEMENTS, set(seen.elements) - ELEMENTS
    for tag, name, value in seen.attributes:
        assert name in {"lang", "dir", "class", "role", "tabindex", "scope", "style", "charset", "name", "content"} | {
            "http-equiv",
            "aria-label",
            "aria-hidden",
        }, (tag, name, value)
        assert name != "style" or re.fullmatch(r"width:\d+\.\d%", value), value
    assert not re.search(
        r"url\(|@import|expression|javascript:", "".join(re.findall(r"<style>.*?</style>", page, re.DOTALL))
    )
    return seen


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_page_needs_no_script_and_no_request(report, language: str):
    """Issue 5.8: self-contained, no script needed."""
    page = report.to_html(language=language)
    assert_harmless(page)
    assert "default-src 'none'" in page
    assert len(page.encode()) < 64 * 1024, "small enough to mail"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_what_a_fact_says_is_shown_and_never_obeyed(memory: selfnote.Memory, language: str):
    """COMPLAINTS 55, 57: escaped everywhere, in the page, the fragment and the list of findings."""
    found = hostile_report(memory)
    page = found.to_html(language=language)
    seen = assert_harmless(page)
    cells = {cell for table in seen.tables for row in table["rows"] for cell in row}
    for text in (HOSTILE[0], HOSTILE[2], HOSTILE[4]):
        assert any(cell.endswith(text) for cell in cells), text
    assert not re.search("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\x00-\x08\x0b-\x1f\ud800-\udfff]", page)
    assert "U+202E" in page
    assert "U+D800" in page
    page.encode("utf-8")
    assert_harmless(found._repr_html_())


@given(st.text(st.characters(), max_size=40))
def test_any_text_is_shown_as_it_is_and_what_hides_by_its_number(text: str):
    seen = Page(f"<p>{show(text)}</p>")
    hides = {
        char for char in text if unicodedata.category(char)[0] == "C" or unicodedata.category(char) in {"Zl", "Zp"}
    }
    hides -= {"\n", "\t", "\u200d"}
    assert "".join(seen.said) == "".join(f"U+{ord(char):04X}" if char in hides else char for char in text)
    assert set(seen.elements) <= {"p", "code"}


def test_the_same_report_is_the_same_bytes(report):
    again = selfnote.open_memory(bundled_home(), read_only=True).audit(now=DEMO_NOW)
    assert report.to_html().encode() == again.to_html().encode()
    assert report._repr_html_() == again._repr_html_()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_tables_have_captions_and_headings_and_levels_are_not_skipped(report, language: str):
    """For whoever has the page read aloud."""
    page = report.to_html(language=language)
    seen = Page(page)
    assert len(seen.tables) >= 6
    for table in seen.tables:
        assert "".join(table["caption"]).strip()
        head, *body = table["scopes"]
        assert body
        assert set(head) <= {"col", None}
        assert head.count(None) <= 1, "only the bar, which repeats a number, is without a heading"
        assert all(row[0] == "row" for row in body)
    levels = [int(tag[1]) for tag in seen.elements if tag in {"h1", "h2", "h3"}]
    assert Counter(levels)[1] == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    assert f'<html lang="{"zh-Hans" if language == "zh" else "en"}">' in page
    assert ('lang="zh"' in page) is (language == "en")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_sections_stand_in_order_and_the_text_word_for_word(report, language: str):
    words = REPORT[language]
    page = report.to_html(language=language)
    told = "".join(Page(page).said)
    assert report.injection.text in told
    titles = [words[name] for name in ("model_sees", "bill", "squeezed_title", "facts_title", "silent")]
    titles += [words["candidates"].format(n=15), words["conflicts"].format(n=2)]
    titles += [words["findings"].format(n=len(report.findings)), words["sessions_title"]]
    place = 0
    for title in titles:
        place = told.index(title, place)
    for row in report.sessions:
        assert row.id in told
    for one in report.findings:
        assert one.sentence(language) in told
    assert report.snapshot in told


def test_the_bars_are_as_long_as_the_numbers_beside_them(report):
    page = report.to_html(language="en")
    widths = [float(width) for width in re.findall(r'style="width:(\d+\.\d)%"', page)]
    segments = report.injection.segments.values()
    assert widths == [pytest.approx(100 * one.used / one.budget, abs=0.05) for one in segments]


def test_a_notebook_gets_the_same_tables_without_a_page_around_them(report):
    """House style 6: pure, escaped, id-free."""
    shown = report._repr_html_()
    page = report.to_html()
    tables = re.findall(r"<table>.*?</table>", page, re.DOTALL)
    assert tables
    assert all(one in shown for one in tables)
    assert "<html" not in shown
    assert "<h1" not in shown
    assert " id=" not in shown
    assert "prefers-color-scheme" not in shown, "a notebook has its own theme"
    assert set(Page(shown).elements) <= ELEMENTS


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = "".join(char * 2 for char in digits) if len(digits) == 3 else digits
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_light_and_dark_keep_the_contrast_of_aa(report):
    """WCAG 2: 4.5 to 1 for words, 3 to 1 for bars."""
    page = report.to_html()
    schemes = [dict(re.findall(r"--(\w+):(#\w+)", one)) for one in re.findall(r":root\{(.*?)\}", page, re.DOTALL)]
    assert len(schemes) == 2
    assert luminance(schemes[0]["paper"]) > 0.9
    assert luminance(schemes[1]["paper"]) < 0.05
    for scheme in schemes:
        for ground in ("paper", "field"):
            for name in ("ink", "dim", "good", "warn", "bad", "info"):
                assert contrast(scheme[name], scheme[ground]) >= 4.5, (scheme, name, ground)
        for bar in (re.search(r"\.bar i\{[^}]*background:(#\w+)", page)[1], scheme["line"]):
            assert contrast(bar, scheme["paper"]) >= 3


def test_a_table_with_too_many_rows_says_how_many_are_left_out(memory: selfnote.Memory):
    memory.home.facts.parent.mkdir(parents=True)
    lines = [f'{{"id": "f-{number}", "text": "第 {number} 条", "status": "candidate"}}\n' for number in range(203)]
    memory.home.facts.write_text("".join(lines), encoding="utf-8")
    assert html_report.ROWS == 200
    seen = Page(memory.audit(now=NOW).to_html(language="en"))
    candidates = next(table for table in seen.tables if "candidates" in "".join(table["caption"]))
    assert len(candidates["rows"]) == html_report.ROWS + 1
    assert "... and 3 more" in seen.said


def test_no_memory_and_memory_switched_off_are_pages_too(home: Path, memory: selfnote.Memory):
    nothing = selfnote.open_memory(home, read_only=True).audit(now=NOW).to_html(language="en")
    assert "has no memory yet" in "".join(Page(nothing).said)
    memory.facts.approve(memory.facts.stage("先给结论", source="owner:test", now=NOW), now=NOW)
    memory.config.save(injection_enabled=False)
    off = Page(memory.audit(now=NOW).to_html(language="en"))
    assert REPORT["en"]["off"] in off.said
    assert "先给结论" in off.said


def test_a_page_is_written_outside_the_memory_only(memory: selfnote.Memory, tmp_path: Path):
    """S2-007: the library never writes to sessions/, and a report replaces no record."""
    memory.notes.add("我先跑测试", now=NOW)
    found = memory.audit(now=NOW)
    target = found.write_html(tmp_path / "new" / "report.html")
    assert target.read_bytes() == found.to_html().encode()
    (tmp_path / "link").symlink_to(memory.home.root)
    before = memory.home.notes.read_bytes()
    for inside in (memory.home.notes, memory.home.sessions / "x.html", tmp_path / "link" / "x.html"):
        with pytest.raises(selfnote.ReadOnly, match="inside the memory"):
            found.write_html(inside)
    assert memory.home.notes.read_bytes() == before
    assert not memory.home.sessions.exists()
