"""The owner's acts on facts: the two turning points, undo, edits, and what they leave on disk (DESIGN "Transitions")."""

from __future__ import annotations

import contextlib
import json
import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfnote
from selfnote.records.facts import Fact
from selfnote.storage.atomic import write_atomic

T0 = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def at(minutes):
    return T0 + timedelta(minutes=minutes)


def on_disk(memory, identifier):
    lines = [json.loads(line) for line in memory.home.facts.read_bytes().splitlines()]
    return next(line for line in lines if line["id"] == identifier)


def staged(memory, text="以后回答先给结论", n=0, **values):
    return memory.facts.stage(text, source=f"s#{n}", now=at(n), **values)


# --- the moves -----------------------------------------------------------------------------------
def test_a_staged_sentence_is_a_candidate_with_its_source_and_the_default_importance(memory):
    """S2-021, S2-156, S2-157, S2-167: a candidate, rel, importance 1, one occurrence, no history."""
    fact = staged(memory)
    assert (fact.status, fact.channel, fact.importance, fact.occurrences) == ("candidate", "rel", 1.0, 1)
    assert (fact.source, fact.sources, fact.history, fact.approved_at) == ("s#0", ("s#0",), (), None)
    assert fact.id.startswith("f-")
    assert memory.facts.get(fact.id).model_dump() == fact.model_dump()


@pytest.mark.parametrize(
    ("path", "status"),
    [(["approve"], "approved"), (["retire"], "retired"), (["approve", "retire"], "retired")],
)
def test_each_legal_move_leaves_one_line_of_history(memory, path, status):
    """S2-010, S2-088, S2-160: time, via, from and to of every status change."""
    fact = staged(memory)
    seen = ["candidate"]
    for step, verb in enumerate(path, start=1):
        fact = getattr(memory.facts, verb)(fact, via="settings", now=at(step))
        seen.append(fact.status)
    assert fact.status == status
    stored = on_disk(memory, fact.id)
    assert stored["status"] == status
    assert stored["history"] == [
        {"at": f"2026-03-01T09:0{n}:00.000Z", "via": "settings", "from": seen[n - 1], "to": seen[n]}
        for n in range(1, len(seen))
    ]


@pytest.mark.parametrize("verb", ["approve", "retire"])
def test_the_same_state_again_changes_not_one_byte(memory, verb):
    """DESIGN "Transitions": a no-op without history."""
    fact = getattr(memory.facts, verb)(staged(memory), now=at(1))
    before = memory.home.facts.read_bytes()
    mtime = memory.home.facts.stat().st_mtime_ns
    again = getattr(memory.facts, verb)(fact.id, now=at(5))
    assert again.model_dump() == fact.model_dump()
    assert memory.home.facts.read_bytes() == before
    assert memory.home.facts.stat().st_mtime_ns == mtime


def test_a_retired_fact_cannot_be_approved(memory):
    """S2-087, DESIGN "Transitions": only undo leads back."""
    fact = memory.facts.retire(staged(memory), now=at(1))
    before = memory.home.facts.read_bytes()
    with pytest.raises(selfnote.Conflict, match=fact.id):
        memory.facts.approve(fact.id, now=at(2))
    assert memory.home.facts.read_bytes() == before


@pytest.mark.parametrize("verb", ["approve", "retire", "undo", "get"])
def test_an_unknown_id_is_not_found_by_name(memory, verb):
    """DESIGN "Errors": the message names the thing."""
    staged(memory)
    with pytest.raises(selfnote.NotFound, match="f-nobody"):
        getattr(memory.facts, verb)("f-nobody")


def test_approval_dates_the_fact_and_each_list_holds_its_status(memory):
    """S2-156: candidates, approved, retired partition all."""
    one, two, three = (
        staged(memory, text, n) for n, text in enumerate(["喝茶不喝咖啡", "缩进四个空格", "提交信息写英文"])
    )
    memory.facts.approve(two, now=at(7))
    memory.facts.retire(three, now=at(8))
    assert [f.id for f in memory.facts.candidates()] == [one.id]
    assert [f.id for f in memory.facts.approved()] == [two.id]
    assert [f.id for f in memory.facts.retired()] == [three.id]
    assert [f.id for f in memory.facts.all()] == [one.id, two.id, three.id]
    assert on_disk(memory, two.id)["approvedAt"] == "2026-03-01T09:07:00.000Z"


# --- undo ---------------------------------------------------------------------------------------
def test_undo_of_an_approval_is_a_new_line_of_history(memory):
    """DESIGN "Transitions": undo restores the status before the last owner transition as a new history line."""
    fact = memory.facts.approve(staged(memory), now=at(1))
    back = memory.facts.undo(fact.id, via="panel", now=at(2))
    assert back.status == "candidate"
    assert back.approved_at is None
    assert [(h["from"], h["to"], h["via"]) for h in on_disk(memory, fact.id)["history"]] == [
        ("candidate", "approved", "notebook"),
        ("approved", "candidate", "panel"),
    ]


def test_undo_of_a_retirement_keeps_the_age_of_the_approval(memory):
    """DESIGN "print by age": going there and back does not make a fact younger."""
    fact = memory.facts.approve(staged(memory), now=at(1))
    memory.facts.retire(fact.id, now=at(2))
    back = memory.facts.undo(fact.id, now=at(3))
    assert (back.status, back.approved_at) == ("approved", at(1))


def test_undo_of_an_undo_is_the_transition_again(memory):
    """DESIGN "Transitions": undo is itself an owner transition."""
    fact = memory.facts.approve(staged(memory), now=at(1))
    memory.facts.undo(fact.id, now=at(2))
    again = memory.facts.undo(fact.id, now=at(3))
    assert (again.status, again.approved_at) == ("approved", at(1))
    assert len(again.history) == 3


def test_undo_of_a_refused_candidate_makes_it_wait_again(memory):
    """S2-010: candidate -> retired is a refusal; undo restores."""
    fact = memory.facts.retire(staged(memory), now=at(1))
    assert memory.facts.undo(fact.id, now=at(2)).status == "candidate"


def test_several_are_undone_in_one_transaction_each_with_its_result(memory, monkeypatch):
    """COMPLAINTS 65: what cannot be undone keeps none of the others back; the file is written once."""
    facts = [memory.facts.approve(staged(memory, f"{word}要写清楚"), now=at(1)) for word in "甲乙丙"]
    facts.append(staged(memory, "丁没有决定过"))
    written = []
    monkeypatch.setattr(
        "selfnote.storage.rewrite.write_atomic", lambda *a, **k: written.append(1) or write_atomic(*a, **k)
    )
    results = memory.facts.undo(facts, via="panel", now=at(2))
    assert [(one.id, one.ok) for one in results] == [(one.id, place < 3) for place, one in enumerate(facts)]
    assert isinstance(results[3].error, selfnote.Conflict)
    assert {one.status for one in memory.facts.all()} == {"candidate"}
    assert written == [1]


def test_there_is_nothing_to_undo_in_a_fresh_candidate(memory):
    fact = staged(memory)
    with pytest.raises(selfnote.Conflict, match=fact.id):
        memory.facts.undo(fact.id)


def test_edits_are_not_what_undo_undoes(memory):
    """DESIGN "Transitions": edits are undone by editing; undo takes the transition before them."""
    fact = memory.facts.approve(staged(memory), now=at(1))
    memory.facts.edit(fact.id, text="以后先给结论再给细节", now=at(2))
    memory.facts.set_importance(fact.id, 3, now=at(3))
    back = memory.facts.undo(fact.id, now=at(4))
    assert (back.status, back.text, back.importance) == ("candidate", "以后先给结论再给细节", 3.0)


def test_undo_refuses_a_status_changed_by_hand(memory, put):
    """A status that no history line explains is the owner's own hand: undo does not guess."""
    fact = memory.facts.approve(staged(memory), now=at(1))
    raw = memory.home.facts.read_bytes().replace(b'"status":"approved"', b'"status":"retired"')
    put(memory.home.facts, raw)
    with pytest.raises(selfnote.Conflict):
        memory.facts.undo(fact.id)
    assert memory.home.facts.read_bytes() == raw


# --- approve(x, replaces=y) ----------------------------------------------------------------------
@pytest.fixture
def pair(memory):
    old = memory.facts.approve(staged(memory, "数据库端口 5432", 0), now=at(1))
    new = staged(memory, "数据库端口 5433", 2)
    return old, new


def test_replacing_approves_one_and_retires_the_other_in_one_act(memory, pair):
    """COMPLAINTS 22, 33: the loser is retired atomically."""
    old, new = pair
    memory.facts.approve(new.id, replaces=old.id, now=at(3))
    assert (memory.facts.get(new.id).status, memory.facts.get(old.id).status) == ("approved", "retired")
    assert on_disk(memory, old.id)["history"][-1]["at"] == on_disk(memory, new.id)["history"][-1]["at"]


def test_undo_of_a_replacement_restores_both(memory, pair):
    """DESIGN "Transitions": undo of approve(x, replaces=y) also restores y if y is unchanged."""
    old, new = pair
    memory.facts.approve(new.id, replaces=old.id, now=at(3))
    memory.facts.undo(new.id, now=at(4))
    assert (memory.facts.get(new.id).status, memory.facts.get(old.id).status) == ("candidate", "approved")
    assert memory.facts.get(old.id).approved_at == at(1)


def test_undo_of_that_undo_replaces_again(memory, pair):
    """DESIGN "Transitions": redo moves both again."""
    old, new = pair
    memory.facts.approve(new.id, replaces=old.id, now=at(3))
    memory.facts.undo(new.id, now=at(4))
    memory.facts.undo(new.id, now=at(5))
    assert (memory.facts.get(new.id).status, memory.facts.get(old.id).status) == ("approved", "retired")


@pytest.mark.parametrize(
    "change",
    [
        lambda facts, y: facts.set_importance(y, 2.5, now=at(4)),
        lambda facts, y: facts.edit(y, detail="改过", now=at(4)),
        lambda facts, y: facts.set_tags(y, ["网络"], now=at(4)),
        lambda facts, y: facts.undo(y, now=at(4)),
    ],
    ids=["importance", "detail", "tags", "undone by itself"],
)
def test_undo_of_a_replacement_refuses_when_the_other_was_changed(memory, pair, change):
    """DESIGN "Transitions": else Conflict, and nothing is written."""
    old, new = pair
    memory.facts.approve(new.id, replaces=old.id, now=at(3))
    change(memory.facts, old.id)
    before = memory.home.facts.read_bytes()
    with pytest.raises(selfnote.Conflict, match=old.id):
        memory.facts.undo(new.id, now=at(5))
    assert memory.home.facts.read_bytes() == before


def test_a_counted_hit_is_no_change_of_the_other(memory, pair):
    """DESIGN "Revisions": counters are not what the owner decided."""
    old, new = pair
    memory.facts.approve(new.id, replaces=old.id, now=at(3))
    memory.facts.count([old.id], "hit", at(4), merge_seconds=3600)
    memory.facts.undo(new.id, now=at(5))
    assert memory.facts.get(old.id).status == "approved"


def test_a_replacement_that_cannot_be_approved_retires_nothing(memory, pair):
    """COMPLAINTS 33: both or neither."""
    old, new = pair
    memory.facts.retire(new.id, now=at(3))
    before = memory.home.facts.read_bytes()
    with pytest.raises(selfnote.Conflict):
        memory.facts.approve(new.id, replaces=old.id, now=at(4))
    assert memory.home.facts.read_bytes() == before


def test_a_replacement_by_an_outdated_fact_object_is_refused(memory, pair):
    """DESIGN "Revisions": ``replaces`` may be a Fact, and is compared too."""
    old, new = pair
    memory.facts.set_importance(old.id, 3, now=at(3))
    with pytest.raises(selfnote.Conflict, match=old.id):
        memory.facts.approve(new, replaces=old, now=at(4))
    assert memory.facts.get(new.id).status == "candidate"


def test_a_fact_cannot_replace_itself(memory, pair):
    _, new = pair
    with pytest.raises(selfnote.Conflict):
        memory.facts.approve(new.id, replaces=new.id)
    assert memory.facts.get(new.id).status == "candidate"


def test_undo_after_replacing_one_that_was_retired_already_leaves_it_retired(memory, pair):
    """DESIGN "Transitions": the same state again is a no-op, so undo has only x to take back."""
    old, new = pair
    memory.facts.retire(old.id, now=at(3))
    memory.facts.approve(new.id, replaces=old.id, now=at(4))
    memory.facts.undo(new.id, now=at(5))
    assert (memory.facts.get(new.id).status, memory.facts.get(old.id).status) == ("candidate", "retired")


@given(st.lists(st.sampled_from(["approve", "retire", "undo"]), max_size=9))
def test_any_sequence_of_acts_follows_the_table_of_transitions(tmp_path_factory, acts):
    """S2-010, DESIGN "Transitions": a model of three states and a stack of nothing but the last transition."""
    memory = selfnote.open_memory(tmp_path_factory.mktemp("h") / ".dsh", tz="Asia/Shanghai")
    fact = staged(memory)
    legal = {"candidate": ("approved", "retired"), "approved": ("retired",), "retired": ()}
    status, history = "candidate", []
    for minute, act in enumerate(acts, start=1):
        to = {"approve": "approved", "retire": "retired"}.get(act) or (history[-1][0] if history else None)
        allowed = to is not None and (act == "undo" or to == status or to in legal[status])
        if not allowed:
            with pytest.raises(selfnote.Conflict):
                getattr(memory.facts, act)(fact.id, now=at(minute))
            continue
        getattr(memory.facts, act)(fact.id, now=at(minute))
        if to != status:
            history.append((status, to))
        status = to
    stored = memory.facts.get(fact.id)
    assert stored.status == status
    assert [(item.from_, item.to) for item in stored.history] == history
    assert (stored.approved_at is not None) == (
        status == "approved"
        or ("approved" in [to for _, to in history] and status == "retired" and history[-1][0] == "approved")
    )


# --- revisions ----------------------------------------------------------------------------------
BASE = {"id": "f-1", "text": "甲"}


@pytest.mark.parametrize(
    ("name", "value", "moves"),
    [
        ("text", "乙", True),
        ("detail", "全文", True),
        ("channel", "env", True),
        ("status", "approved", True),
        ("tags", ("t",), True),
        ("importance", 2.0, True),
        ("flags", ("red",), True),
        ("source", "s#9", False),
        ("sources", ("s#9",), False),
        ("source_sha", "ab", False),
        ("capture_source", "auto", False),
        ("reason", "preference", False),
        ("occurrences", 7, False),
        ("similar_to", ({"id": "f-2"},), False),
        ("hit_count", 3, False),
        ("last_hit", T0, False),
        ("seen_count", 3, False),
        ("last_seen", T0, False),
        ("created_at", T0, False),
        ("approved_at", T0, False),
        ("history", ({"via": "x"},), False),
    ],
)
def test_the_revision_is_of_exactly_what_the_owner_decides(name, value, moves):
    """DESIGN "Revisions": text, detail, channel, status, tags, importance, flags; nothing else."""
    changed = Fact.model_validate({**BASE, name: value})
    assert (changed.revision != Fact.model_validate(BASE).revision) is moves


def test_every_field_of_a_fact_has_its_revision_rule_tested():
    """A new field must take its place in the table above."""
    tested = {
        mark.args[1][n][0]
        for mark in test_the_revision_is_of_exactly_what_the_owner_decides.pytestmark
        for n in range(21)
    }
    assert tested == set(Fact.model_fields) - {"id", "problems", "line"}


@pytest.mark.parametrize(
    "act",
    [
        lambda f, w, **k: f.approve(w, **k),
        lambda f, w, **k: f.retire(w, **k),
        lambda f, w, **k: f.edit(w, text="另一种说法", **k),
        lambda f, w, **k: f.set_importance(w, 2, **k),
        lambda f, w, **k: f.set_tags(w, ["x"], **k),
    ],
    ids=["approve", "retire", "edit", "importance", "tags"],
)
def test_an_outdated_object_or_revision_is_a_conflict(memory, act):
    """COMPLAINTS 4: two panels, one fact; the second gets a conflict and not one byte moves."""
    shown = staged(memory)
    memory.facts.edit(shown.id, detail="别处改过", now=at(1))
    before = memory.home.facts.read_bytes()
    for which, keywords in ((shown, {}), (shown.id, {"expect": shown.revision})):
        with pytest.raises(selfnote.Conflict, match=shown.id):
            act(memory.facts, which, now=at(2), **keywords)
    assert memory.home.facts.read_bytes() == before
    act(memory.facts, shown.id, expect=memory.facts.get(shown.id).revision, now=at(3))
    assert memory.home.facts.read_bytes() != before


def test_a_counted_hit_does_not_outdate_what_the_owner_was_shown(memory):
    """DESIGN "Revisions": the composer counts while a panel is open."""
    shown = staged(memory)
    memory.facts.count([shown.id], "hit", at(1), merge_seconds=3600)
    assert memory.facts.approve(shown, now=at(2)).hit_count == 1


# --- many at once -------------------------------------------------------------------------------
TEN = [
    "喝茶",
    "写测试再写代码",
    "缩进四格",
    "提交信息用英文",
    "周五不发布",
    "变量名要完整",
    "先跑检查",
    "图用深色",
    "文档写中文",
    "日志带时间",
]


def test_a_bulk_act_gives_one_result_an_item_nine_done_and_one_conflict(memory):
    """COMPLAINTS 65: approve ten where one was retired meanwhile."""
    facts = [staged(memory, text, n) for n, text in enumerate(TEN)]
    memory.facts.retire(facts[4].id, now=at(20))
    results = memory.facts.approve((fact for fact in facts), via="panel", now=at(21))
    assert [r.id for r in results] == [f.id for f in facts]
    assert [r.ok for r in results] == [n != 4 for n in range(10)]
    assert isinstance(results[4].error, selfnote.Conflict)
    assert results[4].fact.status == "retired"
    assert [f.status for f in memory.facts.all()] == ["retired" if n == 4 else "approved" for n in range(10)]
    assert results[0].fact.model_dump() == memory.facts.get(facts[0].id).model_dump()


def test_a_bulk_act_repeated_is_idempotent(memory):
    """COMPLAINTS 65: exactly idempotent."""
    ids = [staged(memory, text, n).id for n, text in enumerate(TEN[:4])]
    memory.facts.approve(ids, now=at(20))
    before = memory.home.facts.read_bytes()
    assert all(result.ok for result in memory.facts.approve(ids, now=at(30)))
    assert memory.home.facts.read_bytes() == before


def test_an_item_that_fails_halfway_leaves_nothing_of_itself(memory):
    """A refused item of a bulk act changes neither its fact nor its partner's."""
    old = memory.facts.approve(staged(memory, "端口 1", 0), now=at(1))
    gone = memory.facts.retire(staged(memory, "喝茶", 2), now=at(3))
    before = memory.home.facts.read_bytes()
    (result,) = memory.facts.approve([gone.id], replaces=old.id, now=at(4))
    assert not result.ok
    assert memory.home.facts.read_bytes() == before


def test_one_item_that_no_longer_fits_its_line_is_refused_alone(memory):
    """COMPLAINTS 65, DESIGN "Files": 1 MB a line; the item is left as it was and the others are done."""
    full = staged(memory, TEN[0], 0, detail="x" * 1_047_500)
    other = staged(memory, TEN[1], 1)
    before = memory.home.facts.read_bytes().splitlines()[0]
    results = memory.facts.edit([full.id, other.id], text="新的说法" * 200, now=at(9))
    assert [(r.ok, type(r.error)) for r in results] == [(False, selfnote.LimitExceeded), (True, type(None))]
    assert memory.home.facts.read_bytes().splitlines()[0] == before
    assert memory.facts.get(other.id).text == "新的说法" * 200
    assert memory.facts.bad_lines() == []


def test_a_repeat_or_a_link_never_grows_a_line_past_what_a_reader_takes(memory):
    """DESIGN "Files": a fact must not be lost from sight because something was said once more."""
    full = staged(memory, "数据库端口 5432", 0, detail="x" * 1_048_220)
    assert 1_048_500 < len(memory.home.facts.read_bytes()) < 1_048_576
    for n in range(1, 4):
        with contextlib.suppress(selfnote.LimitExceeded):
            staged(memory, "数据库端口 5432", n)
        with contextlib.suppress(selfnote.LimitExceeded):
            staged(memory, f"数据库端口 543{n + 2}", n)
    assert memory.facts.bad_lines() == []
    assert memory.facts.get(full.id).detail == "x" * 1_048_220


def test_a_full_line_does_not_stop_another_fact_from_being_staged_or_counted(memory):
    """COMPLAINTS 10: one fact with no room left must not take the others' candidates and counters with it."""
    full = staged(memory, "数据库端口 5432", 0, detail="x" * 1_048_220)
    other = staged(memory, "喝茶", 1)
    assert staged(memory, "数据库端口 5433", 2).status == "candidate"
    assert other.id in memory.facts.count([full.id, other.id], "hit", at(3), merge_seconds=3600)
    assert memory.facts.get(other.id).hit_count == 1
    assert memory.facts.bad_lines() == []


@pytest.mark.parametrize("container", [list, tuple, set, iter], ids=["list", "tuple", "set", "iterator"])
def test_any_iterable_of_ids_is_many(memory, container):
    """DESIGN "Names": which is a Fact, an id, or an iterable."""
    ids = [staged(memory, text, n).id for n, text in enumerate(TEN[:3])]
    results = memory.facts.set_importance(container(ids), 2, now=at(9))
    assert sorted(r.id for r in results) == sorted(ids)
    assert [f.importance for f in memory.facts.all()] == [2.0] * 3


def test_unknown_ids_among_many_are_reported_and_the_others_done(memory):
    one = staged(memory)
    results = memory.facts.retire(["f-nobody", one.id], now=at(1))
    assert [(r.ok, type(r.error)) for r in results] == [(False, selfnote.NotFound), (True, type(None))]


def test_nothing_to_do_for_no_items(memory):
    staged(memory)
    before = memory.home.facts.read_bytes()
    assert memory.facts.approve([]) == []
    assert memory.home.facts.read_bytes() == before


# --- edits --------------------------------------------------------------------------------------
def test_every_other_field_leaves_field_old_and_new(memory):
    """S2-084, DESIGN "Counting": ``{field, old, new}`` with from = to = field, and the old wording kept."""
    fact = staged(memory, tags=["回答"])
    memory.facts.edit(fact.id, text="先结论，后细节", detail="原话", channel="env", via="settings", now=at(1))
    memory.facts.set_importance(fact.id, 2, now=at(2))
    memory.facts.set_tags(fact.id, ["回答", "格式"], now=at(3))
    assert [{k: v for k, v in item.items() if k != "at"} for item in on_disk(memory, fact.id)["history"]] == [
        {
            "via": "settings",
            "from": "text",
            "to": "text",
            "field": "text",
            "old": "以后回答先给结论",
            "new": "先结论，后细节",
        },
        {"via": "settings", "from": "detail", "to": "detail", "field": "detail", "old": None, "new": "原话"},
        {"via": "settings", "from": "channel", "to": "channel", "field": "channel", "old": "rel", "new": "env"},
        {"via": "notebook", "from": "importance", "to": "importance", "field": "importance", "old": 1.0, "new": 2.0},
        {"via": "notebook", "from": "tags", "to": "tags", "field": "tags", "old": ["回答"], "new": ["回答", "格式"]},
    ]


def test_an_edit_keeps_the_status_and_its_dates(memory):
    """S2-084: wording changes, not state."""
    fact = memory.facts.approve(staged(memory), now=at(1))
    edited = memory.facts.edit(fact, text="结论先行", now=at(2))
    assert (edited.status, edited.created_at, edited.approved_at, edited.id) == ("approved", at(0), at(1), fact.id)


def test_an_edit_to_the_same_wording_changes_not_one_byte(memory):
    fact = staged(memory, tags=["a"])
    before = memory.home.facts.read_bytes()
    memory.facts.edit(fact.id, text=fact.text, channel="rel", now=at(1))
    memory.facts.set_importance(fact.id, 1, now=at(1))
    memory.facts.set_tags(fact.id, ["a"], now=at(1))
    assert memory.home.facts.read_bytes() == before


def test_an_empty_detail_removes_it(memory):
    fact = staged(memory, detail="原文")
    assert memory.facts.edit(fact.id, detail="", now=at(1)).detail is None
    assert memory.facts.get(fact.id).detail is None


def test_a_retired_fact_can_still_be_annotated_and_stays_retired(memory):
    """S2-083: it stays in the store for the record."""
    fact = memory.facts.retire(staged(memory), now=at(1))
    memory.facts.set_importance(fact.id, 0, now=at(2))
    memory.facts.set_tags(fact.id, ["旧"], now=at(3))
    kept = memory.facts.get(fact.id)
    assert (kept.status, kept.importance, kept.tags) == ("retired", 0.0, ("旧",))


@pytest.mark.parametrize("value", [0, 0.5, 1, 2.999, 3])
def test_importance_takes_numbers_from_0_to_3(memory, value):
    """S2-167, A-03: floats accepted."""
    fact = staged(memory)
    assert memory.facts.set_importance(fact.id, value).importance == float(value)


@pytest.mark.parametrize("value", [-0.001, 3.001, math.nan, math.inf, -math.inf, True, "2", None, 10**400])
def test_importance_out_of_range_or_no_number_is_refused(memory, value):
    """S2-167, A-03: NaN and out of range refused with the limit named, nothing written."""
    fact = staged(memory)
    before = memory.home.facts.read_bytes()
    with pytest.raises(selfnote.LimitExceeded, match="0 to 3"):
        memory.facts.set_importance(fact.id, value)
    assert memory.home.facts.read_bytes() == before


@pytest.mark.parametrize("tags", [[""], ["  "], ["ok", "\t"], [3], ["\ud800"]])
def test_a_tag_is_a_readable_word(memory, tags):
    fact = staged(memory)
    with pytest.raises(selfnote.LimitExceeded):
        memory.facts.set_tags(fact.id, tags)
    with pytest.raises(selfnote.LimitExceeded):
        memory.facts.stage("别的事", source="s#8", tags=tags)


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b\u202e", "\x00", "\ufe0f", "半\ud83d个"])
def test_a_fact_has_something_printable_that_a_file_can_hold(memory, text):
    """DESIGN "safe": nothing printable is no fact; half a character is refused before it reaches the disk."""
    with pytest.raises(selfnote.LimitExceeded):
        memory.facts.stage(text, source="s#1")
    assert not memory.home.facts.exists()
    fact = staged(memory)
    with pytest.raises(selfnote.LimitExceeded):
        memory.facts.edit(fact.id, text=text)
    assert memory.facts.get(fact.id).model_dump() == fact.model_dump()


@pytest.mark.parametrize(
    ("name", "value"), [("channel", "mood"), ("channel", ""), ("reason", "偏好"), ("reason", "why")]
)
def test_stage_knows_its_words(memory, name, value):
    """S2-157, S2-081."""
    with pytest.raises(selfnote.LimitExceeded, match=name):
        memory.facts.stage("甲", source="s#1", **{name: value})


@pytest.mark.parametrize(
    "source", ["", "s", "s#", "#3", "s#x", "s s#3", "owner:", "import:a", "import:#3", "owner:a b", None, 3]
)
def test_a_sentence_without_a_source_is_refused(memory, source):
    """S2-022, A-32: nothing can be invented."""
    with pytest.raises(selfnote.BadSource):
        memory.facts.stage("甲", source=source)
    assert not memory.home.facts.exists()


def test_the_owners_own_fact_is_a_candidate_from_the_owner(memory):
    """DESIGN "Names": add = a candidate with source owner:<via>."""
    fact = memory.facts.add("我用 zsh", via="notebook", channel="env")
    assert (fact.status, fact.source, fact.channel) == ("candidate", "owner:notebook", "env")


def test_a_fact_too_long_for_its_line_is_refused(memory):
    """DESIGN "Files": 1 MB a line, or no reader would take it."""
    with pytest.raises(selfnote.LimitExceeded, match="1048576"):
        memory.facts.stage("甲", source="s#1", detail="长" * 400_000)
    assert memory.facts.all() == []


def test_an_edit_cannot_make_a_line_that_no_reader_takes(memory):
    """DESIGN "Files": a fact edited past 1 MB would turn into a bad line and be lost from sight."""
    fact = staged(memory)
    with pytest.raises(selfnote.LimitExceeded):
        memory.facts.edit(fact.id, detail="长" * 400_000)
    assert memory.facts.get(fact.id).model_dump() == fact.model_dump()


# --- read-only, and opening ---------------------------------------------------------------------
ACTS = {
    "stage": lambda m, _: m.facts.stage("乙", source="s#2"),
    "add": lambda m, _: m.facts.add("乙"),
    "approve": lambda m, i: m.facts.approve(i),
    "approve many": lambda m, i: m.facts.approve([i]),
    "retire": lambda m, i: m.facts.retire(i),
    "undo": lambda m, i: m.facts.undo(i),
    "edit": lambda m, i: m.facts.edit(i, text="丙"),
    "importance": lambda m, i: m.facts.set_importance(i, 2),
    "tags": lambda m, i: m.facts.set_tags(i, ["t"]),
    "resolve": lambda m, i: m.facts.resolve(i, i),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_a_read_only_memory_refuses_every_act(memory, home, act, snapshot):
    """DESIGN "Environment": read_only refuses every write; not even a lock file is made."""
    fact = staged(memory)
    memory.home.memory_lock.unlink(missing_ok=True)
    before = snapshot(home)
    locked = selfnote.open_memory(home, tz="Asia/Shanghai", read_only=True)
    with pytest.raises(selfnote.ReadOnly, match=r"facts\.jsonl"):
        act(locked, fact.id)
    assert snapshot(home) == before
    assert not memory.home.memory_lock.exists()
    assert locked.facts.get(fact.id).text == fact.text


def test_opening_and_reading_write_nothing(home):
    """DESIGN "Opening"."""
    memory = selfnote.open_memory(home)
    assert (memory.facts.all(), memory.facts.conflicts(), memory.facts.bad_lines()) == ([], [], [])
    assert not home.exists()


def test_a_naive_now_is_refused(memory):
    """STYLE: time is a parameter and zone-aware."""
    with pytest.raises(ValueError, match="time zone"):
        memory.facts.stage("甲", source="s#1", now=datetime(2026, 3, 1, 9, 0))  # noqa: DTZ001 - the case
