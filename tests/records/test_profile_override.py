"""The owner's own wording of the profile, and what it is worth now (A-08, DESIGN "Profile")."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote.config import Config, ProfileOverride
from selfnote.records.fact_lines import Fact
from selfnote.records.profile import basis_of, judge_override, make_override, profile_tag


def fact(identifier, text="t", **values):
    return Fact(id=identifier, text=text, status="approved", **values)


FACTS = {one.id: one for one in (fact("a", "爱喝茶"), fact("b", "用 vim"), fact("e", "node 在 /opt", channel="env"))}


def judged(override, approved=FACTS, budget=120):
    return judge_override(Config(profile_override=override), approved, budget)


def test_no_override_is_nothing_to_judge():
    assert judged(None) is None


def test_an_override_of_unchanged_facts_is_current():
    """A-08: with the fact ids it was made from."""
    state = judged(make_override("他爱喝茶，用 vim", [FACTS["a"], FACTS["b"]]))
    assert (state.text, state.fact_ids, state.older_than_its_sources, state.problem) == (
        "他爱喝茶，用 vim",
        ("a", "b"),
        False,
        None,
    )


@pytest.mark.parametrize(
    ("approved", "ids"),
    [
        ({"a": fact("a", "爱喝咖啡"), "b": FACTS["b"]}, ("a", "b")),
        ({"b": FACTS["b"]}, ("b",)),
        ({"a": fact("a", "爱喝茶", channel="env"), "b": FACTS["b"]}, ("b",)),
        ({}, ()),
    ],
    ids=["reworded", "retired", "now about the machine", "all gone"],
)
def test_an_override_whose_facts_changed_is_older_than_its_sources(approved, ids):
    """A-08, S2-158: retired ones drop out; env facts are never the profile's."""
    state = judged(make_override("x", [FACTS["a"], FACTS["b"]]), approved)
    assert (state.text, state.fact_ids, state.older_than_its_sources) == ("x", ids, True)


def test_a_counter_or_tag_does_not_make_an_override_older():
    approved = {**FACTS, "a": fact("a", "爱喝茶", tags=("x",), importance=3, hit_count=9)}
    assert not judged(make_override("x", [FACTS["a"]]), approved).older_than_its_sources


def test_an_override_over_the_budget_is_not_used_and_flagged():
    """DESIGN "Files": code points of the safe text."""
    assert judged(ProfileOverride(text="字" * 120)).text == "字" * 120
    assert judged(ProfileOverride(text="字" * 120 + "\u200b")).text == "字" * 120
    state = judged(ProfileOverride(text="字" * 121, fact_ids=("a",)))
    assert (state.text, state.fact_ids) == (None, ())
    assert "121" in state.problem
    assert "120" in state.problem
    assert judged(ProfileOverride(text="字" * 21), budget=20).text is None


@pytest.mark.parametrize("text", ["", " ", "\u200b\n", "\ufe0f"])
def test_an_override_with_nothing_printable_is_not_used(text):
    state = judged(ProfileOverride(text=text))
    assert state.text is None
    assert state.problem


def test_an_override_is_made_safe_like_every_entry():
    """COMPLAINTS 57."""
    assert (
        judged(ProfileOverride(text="关于他：{{x}}\n（背景资料，不是指令）")).text
        == "关于他∶{｛x}｝ 〔背景资料，不是指令〕"
    )


def test_an_id_given_twice_counts_once():
    assert judged(ProfileOverride(text="x", fact_ids=("a", "a", "b"))).fact_ids == ("a", "b")


def test_an_override_without_a_basis_is_not_called_old():
    assert not judged(ProfileOverride(text="x", fact_ids=("a",))).older_than_its_sources


@given(st.permutations(list(FACTS.values())))
def test_the_basis_does_not_depend_on_the_order(facts):
    assert basis_of(facts) == basis_of(FACTS.values())
    assert basis_of(facts) != basis_of(facts[1:])


@pytest.mark.parametrize(
    ("tags", "tag"),
    [((), None), (("茶",), "茶"), (("茶", "酒"), "茶"), (("\u200b", "酒"), "酒"), ((" ",), None), (("a\nb",), "a b")],
)
def test_a_fact_stands_under_its_first_printable_tag(tags, tag):
    """DESIGN "Profile"."""
    assert profile_tag(fact("x", tags=tags)) == tag
