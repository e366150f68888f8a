"""A sentence that comes again, nearly again, or as its opposite (DESIGN "Repeats", "Links", A-13)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfnote
from selfnote.records.conflicts import profile_text, relate
from selfnote.storage.jsonl import members

T0 = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def at(minutes):
    return T0 + timedelta(minutes=minutes)


def stage(memory, text, n, **values):
    return memory.facts.stage(text, source=f"s#{n}", now=at(n), **values)


def links(memory, identifier):
    return [(link.id, link.kind) for link in memory.facts.get(identifier).similar_to]


# --- the same again ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "again",
    ["以后回答先给结论", "以后 回答，先给结论。", "「以后回答先给结论」！", "以后回答\n先给结论"],
)
def test_the_same_sentence_again_grows_the_waiting_candidate(memory, again):
    """S2-184, S2-081: one candidate, occurrences + 1, source appended, wording of the first."""
    first = stage(memory, "以后回答先给结论", 1)
    second = stage(memory, again, 2)
    assert second.id == first.id
    (fact,) = memory.facts.all()
    assert (fact.text, fact.occurrences, fact.sources, fact.source) == ("以后回答先给结论", 2, ("s#1", "s#2"), "s#1")
    assert fact.status == "candidate"


@pytest.mark.parametrize(
    ("one", "other"), [("Use ＰＹＴＨＯＮ", "use python"), ("ﬁle first", "FILE FIRST"), ("我用ｖｉｍ", "我用 Vim")]
)
def test_width_and_case_are_not_meaning(memory, one, other):
    """A-13: NFKC and casefold."""
    assert stage(memory, one, 1).id == stage(memory, other, 2).id


def test_the_same_source_never_counts_twice(memory):
    """S2-189: the key of de-duplication is source session#seq; replay never records twice."""
    first = stage(memory, "以后回答先给结论", 1)
    before = memory.home.facts.read_bytes()
    assert stage(memory, "以后回答先给结论", 1).occurrences == first.occurrences == 1
    assert memory.home.facts.read_bytes() == before


def test_a_hundred_repetitions_approve_nothing(memory):
    """S2-086: never auto-approve, regardless of the count."""
    for n in range(100):
        stage(memory, "以后回答先给结论", n)
    (fact,) = memory.facts.all()
    assert (fact.status, fact.occurrences, len(fact.sources)) == ("candidate", 100, 100)


def test_a_repeated_approved_fact_grows_and_makes_no_candidate(memory):
    """DESIGN "Repeats": occurrences and sources grow; text, status, tags and history are the owner's."""
    fact = memory.facts.approve(stage(memory, "以后回答先给结论", 1, tags=["回答"]), now=at(2))
    again = stage(memory, "以后回答，先给结论", 3, tags=["别的"], channel="env", detail="x")
    assert again.id == fact.id
    (kept,) = memory.facts.all()
    assert (kept.occurrences, kept.sources) == (2, ("s#1", "s#3"))
    assert kept.revision == fact.revision
    assert kept.history == fact.history


def test_a_retired_fact_does_not_revive_and_the_new_candidate_says_when_it_was_retired(memory):
    """S2-087, COMPLAINTS 75: a tombstone; the new candidate is linked near and tells the date."""
    old = memory.facts.retire(stage(memory, "以后回答先给结论", 1), now=at(2))
    new = stage(memory, "以后回答先给结论。", 3)
    assert new.id != old.id
    assert memory.facts.get(old.id).status == "retired"
    assert memory.facts.get(old.id).occurrences == 1
    (link,) = memory.facts.get(new.id).similar_to
    assert (link.id, link.kind) == (old.id, "near")
    assert "retired" in link.rule
    assert "2026-03-01" in link.rule
    assert links(memory, old.id) == [(new.id, "near")]


def test_a_second_repeat_after_retirement_grows_the_new_candidate(memory):
    """DESIGN "Repeats": the waiting candidate is met before the tombstone."""
    memory.facts.retire(stage(memory, "以后回答先给结论", 1), now=at(2))
    new = stage(memory, "以后回答先给结论", 3)
    assert stage(memory, "以后回答先给结论", 4).id == new.id
    assert [f.occurrences for f in memory.facts.all()] == [1, 2]


def test_an_id_is_never_given_twice(memory):
    """Two facts with equal text, source and time still differ in id."""
    one = memory.facts.retire(stage(memory, "甲乙丙丁", 1), now=at(1))
    two = stage(memory, "甲乙丙丁", 1)
    assert one.id != two.id
    assert len(memory.facts.all()) == 2


# --- near and conflict ---------------------------------------------------------------------------
SAME, NEAR, CONFLICT, NONE = "same", "near", "conflict", None


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("数据库端口 5432", "数据库端口 5433", CONFLICT),
        ("SSH port 22", "SSH port 2222", CONFLICT),
        ("要写注释", "不要写注释", CONFLICT),
        ("写注释", "不要写注释", CONFLICT),
        ("喜欢暗色主题", "讨厌暗色主题", CONFLICT),
        ("喜欢香菜", "讨厌香菜", CONFLICT),
        ("我喜欢喝咖啡", "我不喜欢喝咖啡", CONFLICT),
        ("先给结论再给细节", "后给结论再给细节", CONFLICT),
        ("Always use tabs for indentation", "Never use tabs for indentation", CONFLICT),
        ("do write comments in the code", "don't write comments in the code", CONFLICT),
        ("用 Python 3.11", "用 Python 3.12", CONFLICT),
        ("项目用 Python 3.11 跑", "项目用 Python 31.1 跑", CONFLICT),
        ("会议在 10:30 开始", "会议在 11:30 开始", CONFLICT),
        ("以后回答先给结论", "以后回答先给结论吧", NEAR),
        ("提交信息一律用英文来写", "提交信息一律用英文写", NEAR),
        ("喝茶", "缩进四个空格", NONE),
        ("服务器在北京", "缩进四个空格，行宽一百二", NONE),
        ("Use C++", "use c++", SAME),
        ("版本 3.11", "版本３．１１", SAME),
    ],
)
def test_numbers_and_polarity_tell_conflict_from_near(one, other, kind):
    """A-13, COMPLAINTS 31, 32: never merged when one token differs; both directions alike."""
    a, b = profile_text(one), profile_text(other)
    found = relate(a, b)
    assert (found.kind if found else None) == kind
    back = relate(b, a)
    assert (back.kind if back else None) == kind


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我用 C++", "我用 C#"),
        ("我用 C++", "我用 C"),
        ("版本 3.11", "版本 31.1"),
        ("~/work", "/work"),
        ("端口 1.2", "端口 12"),
    ],
)
def test_marks_that_carry_meaning_are_never_folded_away(memory, one, other):
    """COMPLAINTS 31: C++ is not C#, 3.11 is not 31.1: two rows, whatever their link."""
    first, second = stage(memory, one, 1), stage(memory, other, 2)
    assert first.id != second.id
    assert [f.text for f in memory.facts.all()] == [one, other]
    assert [f.occurrences for f in memory.facts.all()] == [1, 1]


@given(one=st.text(max_size=30), other=st.text(max_size=30))
def test_how_two_texts_relate_does_not_depend_on_who_asks(one, other):
    """DESIGN "Links": links stand on both lines, so the relation is symmetric; and never raises."""
    a, b = profile_text(one), profile_text(other)
    there, back = relate(a, b), relate(b, a)
    assert (there is None) == (back is None)
    if there is not None:
        assert there == back
    self_relation = relate(a, a)
    assert self_relation is not None
    assert self_relation.kind == "same"


def test_a_conflict_keeps_both_wordings_and_links_both_ways(memory):
    """S2-183, S2-161, COMPLAINTS 32: not merged; mutual similarTo with kind, rule and score."""
    one = stage(memory, "喜欢暗色主题", 1)
    two = stage(memory, "讨厌暗色主题", 2)
    assert [f.text for f in memory.facts.all()] == ["喜欢暗色主题", "讨厌暗色主题"]
    for mine, other in ((one, two), (two, one)):
        (link,) = memory.facts.get(mine.id).similar_to
        assert (link.id, link.kind, link.resolved) == (other.id, "conflict", None)
        assert link.rule
        assert 80 <= link.score <= 100
    assert [(a.id, b.id) for a, b in memory.facts.conflicts()] == [(one.id, two.id)]


def test_a_candidate_95_percent_like_an_approved_fact_leaves_its_bytes_alone(memory):
    """COMPLAINTS 5: nothing of an approved line moves but its links, occurrences and sources."""
    text = "以后写代码的时候请先写测试，再写实现，最后补上文档说明，谢谢"
    fact = memory.facts.approve(stage(memory, text, 1, tags=["代码"], detail="原文"), now=at(2))
    before = members(memory.home.facts.read_text("utf-8").splitlines()[0])
    new = stage(memory, text.replace("谢谢", "多谢"), 3)
    assert new.id != fact.id
    after = members(memory.home.facts.read_text("utf-8").splitlines()[0])
    assert {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)} == {"similarTo"}
    assert links(memory, fact.id) == [(new.id, "near")]
    assert len(memory.facts.all()) == 2


def test_the_threshold_of_near_is_a_setting(memory):
    """A-13: thresholds in config."""
    memory.config.save(thresholds={"near": 100})
    stage(memory, "提交信息一律用英文来写", 1)
    assert stage(memory, "提交信息一律用英文写", 2).similar_to == ()


def test_a_plain_id_in_similar_to_reads_as_near(memory, put, line_of):
    """DESIGN "Files"."""
    put(
        memory.home.facts,
        line_of(id="f-1", text="甲", status="approved", similarTo=["f-2", {"id": "f-3", "kind": "conflict"}]) + "\n",
    )
    (fact,) = memory.facts.all()
    assert [(link.id, link.kind) for link in fact.similar_to] == [("f-2", "near"), ("f-3", "conflict")]
    assert fact.problems == ()


def test_a_link_on_either_side_is_a_conflict_and_each_pair_counts_once(memory, put, line_of):
    """DESIGN "Who goes where": a link on either side counts."""
    conflict = {"kind": "conflict", "rule": "r", "score": 90}
    put(
        memory.home.facts,
        "\n".join(
            [
                line_of(
                    id="a",
                    text="甲",
                    status="approved",
                    similarTo=[{"id": "b", **conflict}, {"id": "gone", **conflict}, {"id": "a", **conflict}],
                ),
                line_of(id="b", text="乙", status="approved"),
                line_of(id="c", text="丙", status="approved", similarTo=[{"id": "d", **conflict}]),
                line_of(id="d", text="丁", status="approved", similarTo=[{"id": "c", **conflict}]),
                line_of(id="e", text="戊", status="retired", similarTo=[{"id": "a", **conflict}]),
            ]
        )
        + "\n",
    )
    assert [(one.id, other.id) for one, other in memory.facts.conflicts()] == [("a", "b"), ("c", "d")]


def test_an_edit_that_brings_a_contradiction_is_linked(memory):
    """S2-161: new near and contradicting facts of an edited wording are linked both ways."""
    one = stage(memory, "数据库端口 5432", 1)
    two = stage(memory, "喝茶", 2)
    memory.facts.edit(two.id, text="数据库端口 5433", now=at(3))
    assert links(memory, two.id) == [(one.id, "conflict")]
    assert links(memory, one.id) == [(two.id, "conflict")]


def test_an_edit_back_and_forth_does_not_pile_up_links(memory):
    one = stage(memory, "数据库端口 5432", 1)
    two = stage(memory, "数据库端口 5433", 2)
    memory.facts.edit(two.id, text="数据库端口 5434", now=at(3))
    memory.facts.edit(two.id, text="数据库端口 5435", now=at(4))
    assert links(memory, two.id) == [(one.id, "conflict")]
    assert links(memory, one.id) == [(two.id, "conflict")]


# --- resolve -------------------------------------------------------------------------------------
def test_resolving_marks_both_lines_and_ends_the_conflict(memory):
    """A-08b, DESIGN "Names": the owner lets two facts stand side by side."""
    one = stage(memory, "数据库端口 5432", 1)
    two = stage(memory, "数据库端口 5433", 2)
    memory.facts.resolve(two.id, one.id, via="panel", now=at(3))
    assert memory.facts.conflicts() == []
    for raw in memory.home.facts.read_text("utf-8").splitlines():
        values = json.loads(raw)
        assert values["similarTo"][0]["resolved"] == "2026-03-01T09:03:00.000Z"
        assert values["similarTo"][0]["kind"] == "conflict"
        assert values["history"][-1]["field"] == "similarTo"
        assert values["history"][-1]["via"] == "panel"
    assert [f.status for f in memory.facts.all()] == ["candidate", "candidate"]


def test_resolving_again_changes_not_one_byte(memory):
    one, two = stage(memory, "数据库端口 5432", 1), stage(memory, "数据库端口 5433", 2)
    memory.facts.resolve(one.id, two.id, now=at(3))
    before = memory.home.facts.read_bytes()
    memory.facts.resolve(two.id, one.id, now=at(4))
    assert memory.home.facts.read_bytes() == before


def test_resolving_what_is_no_conflict_is_refused(memory):
    one, two = stage(memory, "喝茶", 1), stage(memory, "缩进四格", 2)
    before = memory.home.facts.read_bytes()
    with pytest.raises(selfnote.NotFound, match="conflict"):
        memory.facts.resolve(one.id, two.id)
    assert memory.home.facts.read_bytes() == before


def test_only_the_named_pair_is_resolved(memory):
    one, two, three = (stage(memory, f"数据库端口 {port}", n) for n, port in enumerate((5432, 5433, 5434)))
    memory.facts.resolve(one.id, two.id, now=at(9))
    assert {(a.id, b.id) for a, b in memory.facts.conflicts()} == {(one.id, three.id), (two.id, three.id)}
