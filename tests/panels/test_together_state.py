"""All states over one memory: badges, the landing tab, and what one changes the others show."""

from __future__ import annotations

from selfnote.demo import DEMO_NOW
from selfnote.panels.states import MemoryState, States


def test_the_badges_are_the_seeds(demo, clock):
    """S2-047: none; notes; persona chars; waiting and in conflict; profile chars; injected chars."""
    injection = demo.assemble(now=DEMO_NOW)
    assert States(demo, clock=clock).badges == {
        "overview": "",
        "notes": f"{len(demo.notes.list())} 条",
        "persona": f"{demo.persona.load().chars} 字",
        "memory": f"待审 {len(demo.facts.candidates())} · 冲突 {len(demo.facts.conflicts())}",
        "profile": f"{injection.segments['profile'].used} 字",
        "injection": f"{injection.total_chars} 字",
    }


def test_it_lands_on_what_waits_for_the_owner(demo, clock):
    """S2-048."""
    assert States(demo, clock=clock).tab == "memory"
    demo.facts.retire(demo.facts.candidates(), now=DEMO_NOW)
    states = States(demo, clock=clock)
    assert (states.tab, states.badges["memory"]) == ("overview", f"冲突 {len(demo.facts.conflicts())}")


def test_only_the_open_tab_reads(demo, clock):
    states = States(demo, clock=clock)
    assert [state.name for state in states.in_order if state.awake] == ["memory"]
    assert states.state("notes").rows.count == 0
    states.tab = "notes"
    assert states.state("notes").rows.count == 47
    assert [state.name for state in states.in_order if state.awake] == ["notes"]


def test_an_act_in_one_tab_is_told_by_the_badges_and_shown_by_the_others(demo, clock):
    """S2-050: what is edited counts from the next turn on, and is previewed at once."""
    states = States(demo, clock=clock)
    before = states.badges["injection"]
    review = states.state("memory")
    assert review.approve("f-a23606e8bd26")
    assert states.badges["memory"] == "待审 14 · 冲突 3"
    states.tab = "overview"
    assert states.state("overview").switch("persona_enabled", on=False)
    assert states.badges["injection"] != before
    states.tab = "injection"
    assert "阿砚" not in states.state("injection").text


def test_an_edit_outside_appears_with_the_next_refresh(demo, clock):
    """COMPLAINTS 1: the owner's editor is a first-class client."""
    states = States(demo, clock=clock)
    with demo.home.notes.open("a", encoding="utf-8") as stream:
        stream.write("- 2026-11-30 [稳定] 我在编辑器里加了这条\n")
    assert states.refresh(DEMO_NOW)
    assert states.badges["notes"] == "48 条"
    states.tab = "notes"
    assert "我在编辑器里加了这条" in {row.text for row in states.state("notes").rows.rows}
    assert not states.refresh(DEMO_NOW)


def test_what_a_hidden_tab_reads_is_not_what_the_open_one_acts_on(demo, clock):
    """Another state having read a change is no licence to overwrite it: the one that acts was shown the old one."""
    states = States(demo, clock=clock)
    review = states.state("memory")
    identifier = review.approved.rows[0].id
    demo.facts.edit(identifier, text="别处改的", now=DEMO_NOW)
    states.state("memory").awake = False
    states.tab = "overview"
    states.state("overview").refresh(DEMO_NOW)
    assert isinstance(review, MemoryState)
    review.write(f"{identifier}:text", "这里改的")
    assert not review.save(f"{identifier}:text")
    assert review.error.kind == "conflict"
    assert demo.facts.get(identifier).text == "别处改的"
    assert review.drafts[f"{identifier}:text"].text == "这里改的"
