"""What every panel's state promises: it knows no widgets, reading writes nothing, and refusals become state."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import timedelta

import pytest

import selfnote
from selfnote.demo import DEMO_NOW
from selfnote.panels.states import (
    TABS,
    InjectionState,
    MemoryState,
    NotesState,
    OverviewState,
    Paged,
    PersonaState,
    ProfileState,
    States,
)
from selfnote.phrases import PANELS

STATES = (OverviewState, NotesState, PersonaState, MemoryState, ProfileState, InjectionState)


def test_the_states_import_no_widgets_tables_or_plots():
    """JUPYTER section 5; a new process tells by sys.modules."""
    code = "import sys, selfnote.panels.states; print([n for n in ('ipywidgets','IPython','pandas','matplotlib') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_hundred_refreshes_of_every_state_leave_the_store_byte_identical(demo, clock, files_of):
    """S2-095, COMPLAINTS 17: looking counts nothing and writes nothing, neither previews nor sources nor fixes do."""
    demo.index.build(now=DEMO_NOW)
    before = files_of(demo.home.root)
    states = States(demo, clock=clock)
    review, injection = states.state("memory"), states.state("injection")
    for number in range(100):
        for tab in TABS:
            states.tab = tab
            states.state(tab).refresh(DEMO_NOW + timedelta(hours=number))
        states.refresh(DEMO_NOW + timedelta(hours=number, minutes=30))
    states.tab = "memory"
    review.preview_shown()
    for fact in review.cards.sources:
        assert review.open_source(fact.id)
    states.tab = "injection"
    assert injection.find_fix(injection.squeezed.rows[0].id)
    assert injection.explain(injection.squeezed.rows[0].id)
    assert files_of(demo.home.root) == before


@pytest.mark.parametrize("kind", STATES)
def test_a_refresh_reads_only_what_changed(kind, demo, clock):
    state = kind(demo, clock=clock)
    assert not state.refresh(DEMO_NOW)
    assert not state.refresh(DEMO_NOW + timedelta(minutes=59))
    demo.notes.add("我先问清楚再动手", now=DEMO_NOW)
    assert state.refresh(DEMO_NOW)
    assert not state.refresh(DEMO_NOW)
    assert state.refresh(DEMO_NOW + timedelta(hours=1)), "heat and age are those of an hour at most"


@pytest.mark.parametrize("kind", STATES)
def test_a_memory_opened_read_only_disables_every_act_with_a_reason(kind, demo, clock):
    """COMPLAINTS 66."""
    state = kind(selfnote.open_memory(demo.home.root, read_only=True), clock=clock)
    assert state.error is None
    for act in kind.writes:
        assert state.why_disabled(act) == PANELS["zh"]["why read only"]


@pytest.mark.parametrize("kind", STATES)
def test_an_empty_home_is_shown_and_not_made(kind, memory, clock):
    state = kind(memory, clock=clock)
    assert state.error is None
    assert state.problems == ()
    assert not memory.home.root.exists()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_state_speaks_the_configured_language(demo, clock, language):
    """S2-046: the seed's names of the tabs."""
    demo.config.save(language=language)
    states = States(demo, clock=clock)
    assert (
        tuple(states.titles.values())
        == {
            "zh": ("概览", "自述", "人格", "记忆", "画像", "注入"),
            "en": ("Overview", "Notes", "Persona", "Memory", "Profile", "Injection"),
        }[language]
    )
    assert [state.title for state in states.in_order] == list(states.titles.values())
    for tab in TABS:
        states.tab = tab
        state = states.state(tab)
        assert state.language == language
        assert state.title == states.titles[tab]


def test_every_sentence_of_the_panels_exists_in_both_languages_with_the_same_gaps():
    assert list(PANELS["zh"]) == list(PANELS["en"])
    for key, zh in PANELS["zh"].items():
        en = PANELS["en"][key]
        assert zh
        assert en
        assert set(re.findall(r"\{\w+\}", zh)) == set(re.findall(r"\{\w+\}", en)), key
        assert not re.search("[\u4e00-\u9fff]", en), key


def test_a_file_that_cannot_be_read_is_told_and_the_rest_is_shown(demo, clock):
    """S2-014."""
    demo.home.facts.unlink()
    demo.home.facts.mkdir()
    state = NotesState(demo, clock=clock)
    assert any("facts.jsonl" in problem for problem in state.problems)
    assert state.rows.count == 47


def test_a_line_that_is_not_understood_is_told_by_file_and_number_on_the_overview_only(demo, clock):
    """S2-014: where it can be looked up, and once."""
    number = len(demo.home.facts.read_text(encoding="utf-8").splitlines())
    with demo.home.facts.open("a", encoding="utf-8") as stream:
        stream.write("{kaputt\n" * 7)
    states = States(demo, clock=clock)
    for tab in TABS:
        states.tab = tab
    found = states.state("overview").problems
    told = [f"facts.jsonl 第 {number + place} 行看不懂，原样留着，不会进注入。" for place in range(1, 8)]
    # The demo has one of its own.
    assert found == ("notes.md 第 3 行看不懂，原样留着，不会进注入。", *told[:4], "另有 3 行看不懂，也原样留着。")
    assert {states.state(tab).problems for tab in TABS if tab != "overview"} == {()}


def test_evidence_that_cannot_be_read_is_an_error_until_it_is_mended(demo, clock):
    demo.home.persona_evidence.write_text("nonsense")
    state = PersonaState(demo, clock=clock)
    assert state.error.kind == "corrupt"
    assert "persona.evidence.json" in state.error.detail
    demo.home.persona_evidence.unlink()
    assert state.refresh(DEMO_NOW)
    assert state.error is None


def test_a_page_shows_so_many_rows_and_makes_no_others():
    made = []

    def row(number: int) -> int:
        made.append(number)
        return number

    paged = Paged(row, 20)
    paged.fill(range(2000))
    assert (paged.rows, paged.count, paged.pages) == (tuple(range(20)), 2000, 100)
    paged.show(99)
    assert paged.rows == tuple(range(1980, 2000))
    paged.next()
    assert paged.page == 99
    assert len(made) == 60
    paged.fill(range(5))
    assert (paged.page, paged.rows) == (0, (0, 1, 2, 3, 4))
    paged.fill(())
    assert (paged.page, paged.pages, paged.rows) == (0, 1, ())
