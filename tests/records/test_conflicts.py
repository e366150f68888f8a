"""Which sentences say the same, nearly the same, or the opposite (A-13)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote.records.conflicts import NEAR, find_relations, profile_text, relate

SAME = [
    ("回答先给结论", "回答先给结论。"),
    ("回答先给结论", "回答 先给结论！"),
    ("Keep it short", "keep it short."),
    ("用ＰＮＰＭ", "用pnpm"),
]
CONFLICTS = [
    ("数据库端口 5432", "数据库端口 5433"),
    ("要写注释", "不要写注释"),
    ("先跑测试再提交", "后跑测试再提交"),
    ("提交标题 50 字以内", "提交标题 72 字以内"),
    ("Use tabs", "Do not use tabs"),
    ("Always add docstrings to tests", "Never add docstrings to tests"),
    ("Python 用 3.11", "Python 用 3.9"),
    ("他喜欢长回答", "他讨厌长回答"),
]
NEARS = [
    ("回答问题时请先给出结论", "回答问题的时候先给出结论"),
    ("代码注释统一用中文来写", "代码注释统一用中文写"),
]
APART = [
    ("用 C++ 写", "用 C# 写"),
    ("回答先给结论", "测试命令是 pytest -q"),
    ("版本 3.11", "端口 31.1 换成 pnpm 管理依赖"),
    ("", "数据库端口 5432"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_but_for_case_width_space_and_punctuation_is_the_same(one: str, other: str):
    """S2-184: one candidate, one more occurrence."""
    relation = relate(profile_text(one), profile_text(other))
    assert relation is not None
    assert relation.kind == "same"


@pytest.mark.parametrize(("one", "other"), CONFLICTS)
def test_another_number_or_the_opposite_polarity_is_a_conflict_both_ways(one: str, other: str):
    """S2-183, COMPLAINTS 31: never merged, whatever the ratio."""
    for left, right in ((one, other), (other, one)):
        relation = relate(profile_text(left), profile_text(right))
        assert relation is not None, (left, right)
        assert relation.kind == "conflict"
        assert relation.score >= NEAR
        assert "different numbers" in relation.rule or "opposite polarity" in relation.rule


@pytest.mark.parametrize(("one", "other"), NEARS)
def test_alike_with_equal_numbers_and_polarity_is_near(one: str, other: str):
    relation = relate(profile_text(one), profile_text(other))
    assert relation is not None
    assert relation.kind == "near"


@pytest.mark.parametrize(("one", "other"), APART)
def test_what_is_about_something_else_is_not_linked_as_the_same(one: str, other: str):
    relation = relate(profile_text(one), profile_text(other))
    assert relation is None or relation.kind == "near"
    assert relation is None or relation.score < 100


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_relation_is_symmetric_and_reflexive(one: str, other: str):
    """Links stand on both lines, so both must see the same."""
    left, right = profile_text(one), profile_text(other)
    forth, back = relate(left, right), relate(right, left)
    assert (forth and forth.kind) == (back and back.kind)
    mine = relate(left, left)
    assert mine is not None
    assert mine.kind == "same"


@given(st.text(alphabet="端口数据库不要先后写注释 0123456789.", min_size=1, max_size=20))
def test_what_is_the_same_has_equal_numbers(text: str):
    """端口 5432 / 5433 must never merge: equal after folding implies equal numbers and polarity."""
    for other in (text + "1", text.replace("不", "", 1), text.replace(" ", "")):
        relation = relate(profile_text(text), profile_text(other))
        if relation is not None and relation.kind == "same":
            assert profile_text(text).numbers == profile_text(other).numbers
            assert profile_text(text).polarity == profile_text(other).polarity


def test_relations_come_in_the_order_asked_with_rule_and_score():
    known = [
        (str(at), profile_text(text)) for at, text in enumerate(("数据库端口 5432", "回答先给结论", "数据库端口 5433"))
    ]
    found = find_relations("数据库端口 5433", known)
    assert [(one, relation.kind) for one, relation in found] == [("0", "conflict"), ("2", "same")]


def test_a_higher_threshold_links_less():
    """A-13: thresholds are settings and come back with each decision."""
    one, other = (profile_text(text) for text in NEARS[0])
    found = relate(one, other)
    assert found is not None
    assert relate(one, other, near=min(100, found.score + 0.1)) is None
