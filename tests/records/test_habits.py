"""Habits: offered when enough approved facts share a tag, promoted and revoked by the owner only (A-07, S2-085)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

import selfnote
from selfnote.records.habits import active_habits

T0 = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def at(minutes):
    return T0 + timedelta(minutes=minutes)


TEXTS = ["先给结论再说细节", "代码里不留注释掉的旧代码", "图表用深色背景", "提交信息写英文"]


@pytest.fixture
def three(memory):
    facts = [memory.facts.stage(text, source=f"s#{n}", tags=["回答"], now=at(n)) for n, text in enumerate(TEXTS[:3])]
    memory.facts.approve([fact.id for fact in facts], now=at(9))
    return facts


def test_a_tag_is_offered_from_three_approved_facts_on(memory):
    """A-07: habitMinFacts 3; candidates and retired ones do not count."""
    facts = [
        memory.facts.stage(text, source=f"s#{n}", tags=["回答", "x"] if n == 0 else ["回答"], now=at(n))
        for n, text in enumerate(TEXTS)
    ]
    memory.facts.approve([facts[0].id, facts[1].id], now=at(9))
    memory.facts.retire(facts[3].id, now=at(9))
    assert memory.habits.offered() == []
    memory.facts.approve(facts[2].id, now=at(10))
    (offer,) = memory.habits.offered()
    assert (offer.tag, offer.fact_ids, offer.texts) == ("回答", tuple(f.id for f in facts[:3]), tuple(TEXTS[:3]))


def test_the_number_of_facts_is_a_setting(memory, three):
    memory.config.save(habit_min_facts=4)
    assert memory.habits.offered() == []
    memory.config.save(habit_min_facts=2)
    assert [offer.tag for offer in memory.habits.offered()] == ["回答"]


def test_a_tag_given_twice_to_one_fact_counts_once(memory):
    facts = [memory.facts.stage(text, source=f"s#{n}", tags=["a", "a"]) for n, text in enumerate(TEXTS[:2])]
    memory.facts.approve([fact.id for fact in facts])
    assert memory.habits.offered() == []


def test_the_most_shared_tag_is_offered_first(memory):
    facts = [memory.facts.stage(text, source=f"s#{n}", tags=["z", "y"] if n else ["y"]) for n, text in enumerate(TEXTS)]
    memory.facts.approve([fact.id for fact in facts])
    assert [offer.tag for offer in memory.habits.offered()] == ["y", "z"]


def test_promoting_keeps_the_owners_words_and_the_facts_it_came_from(memory, three):
    """A-07: {id, tag, text, factIds, createdAt, revokedAt}."""
    habit = memory.habits.promote("回答", "先结论\n后细节", now=at(20))
    assert json.loads(memory.home.habits.read_bytes()) == {
        "id": habit.id, "tag": "回答", "text": "先结论 后细节", "factIds": [fact.id for fact in three],
        "createdAt": "2026-03-01T09:20:00.000Z", "revokedAt": None,
    }  # fmt: skip
    assert habit.id.startswith("h-")
    assert [one.id for one in memory.habits.active()] == [habit.id]
    assert memory.habits.offered() == []


@pytest.mark.parametrize("tag", ["没有的", ""])
def test_only_an_offered_tag_is_promoted(memory, three, tag):
    """S2-079: nothing turns into a rule that was not offered."""
    with pytest.raises(selfnote.Conflict, match="回答"):
        memory.habits.promote(tag, "x")
    assert not memory.home.habits.exists()


def test_a_tag_is_promoted_once(memory, three):
    memory.habits.promote("回答", "x", now=at(20))
    with pytest.raises(selfnote.Conflict):
        memory.habits.promote("回答", "y", now=at(21))
    assert len(memory.habits.all()) == 1


def test_revoking_keeps_the_record_and_offers_the_tag_again(memory, three):
    """S2-085, A-07: each revocable, the record stays."""
    habit = memory.habits.promote("回答", "x", now=at(20))
    revoked = memory.habits.revoke(habit.id, now=at(30))
    assert revoked.revoked_at == "2026-03-01T09:30:00.000Z"
    assert memory.habits.active() == []
    assert [one.id for one in memory.habits.all()] == [habit.id]
    assert [offer.tag for offer in memory.habits.offered()] == ["回答"]
    before = memory.home.habits.read_bytes()
    memory.habits.revoke(habit.id, now=at(40))
    assert memory.home.habits.read_bytes() == before
    again = memory.habits.promote("回答", "y", now=at(50))
    assert again.id != habit.id


def test_revoking_what_is_not_there_is_not_found(memory):
    with pytest.raises(selfnote.NotFound, match="h-nobody"):
        memory.habits.revoke("h-nobody")


def test_a_habit_lives_as_long_as_one_of_its_facts_is_approved(memory, three):
    """DESIGN: active = not revoked and at least one of its facts approved."""
    memory.habits.promote("回答", "x", now=at(20))
    memory.facts.retire([three[0].id, three[1].id], now=at(21))
    assert len(memory.habits.active()) == 1
    memory.facts.retire(three[2].id, now=at(22))
    assert memory.habits.active() == []
    memory.facts.undo(three[2].id, now=at(23))
    assert len(memory.habits.active()) == 1


def test_active_habits_go_by_creation_and_id(memory, three, put, line_of):
    """DESIGN: (createdAt, id); an unreadable time is the oldest."""
    fact = three[0].id
    rows = [
        ("h-c", "2026-02-01T00:00:00Z"),
        ("h-b", "2026-02-01T08:00:00+08:00"),
        ("h-a", 1769817600000),
        ("h-d", "昨天"),
        ("h-e", "2026-02-02"),
    ]
    put(
        memory.home.habits,
        "\n".join(line_of(id=i, text="x", factIds=[fact], createdAt=when) for i, when in rows) + "\n",
    )
    assert [one.id for one in memory.habits.active()] == ["h-d", "h-a", "h-b", "h-c", "h-e"]
    assert [one.id for one in active_habits(memory.habits.all(), [])] == []


BAD = {
    "half": b'{"id":"h-1","te', "joined": b'{"id":"h-8","text":"a"}{"id":"h-9","text":"b"}', "NUL": b"\x00" * 99, "not UTF-8": b'{"id":"h-x","text":"\xff"}',
    "array": b"[]", "no text": b'{"id":"h-x"}', "empty id": b'{"id":"","text":"a"}', "id taken": b'{"id":"h-1","text":"again"}',
    "over 1 MB": b'{"id":"h-x","text":"' + b"x" * 1_048_600 + b'"}', "bad factIds": b'{"id":"h-x","text":"a","factIds":3}',
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_bad_lines_and_unknown_keys_survive_a_revocation_byte_for_byte(memory, put, bad, newline):
    """DESIGN "Files", COMPLAINTS 10."""
    first = '{ "id":"h-1" , "text":"甲", "x":1.0 }'.encode()
    last = '{"text":"乙","id":"h-2","revokedAt":null , "esc":"\\u4e59"}'.encode()
    put(memory.home.habits, b"\xef\xbb\xbf" + first + newline + bad + newline + last)
    assert [one.id for one in memory.habits.all()] == ["h-1", "h-2"]
    assert [one.line for one in memory.habits.bad_lines()] == [2]
    memory.habits.revoke("h-2", now=at(1))
    expected = last.replace(b'"revokedAt":null', b'"revokedAt":"2026-03-01T09:01:00.000Z"')
    assert memory.home.habits.read_bytes() == b"\xef\xbb\xbf" + first + newline + bad + newline + expected


@pytest.mark.parametrize("text", ["", "\n", "\u200b", "半\ud83d"])
def test_a_habit_has_something_to_read(memory, three, text):
    with pytest.raises(selfnote.LimitExceeded):
        memory.habits.promote("回答", text)
    assert not memory.home.habits.exists()


def test_a_read_only_memory_refuses_both(memory, home, three):
    habit = memory.habits.promote("回答", "x", now=at(20))
    locked = selfnote.open_memory(home, read_only=True)
    before = memory.home.habits.read_bytes()
    with pytest.raises(selfnote.ReadOnly):
        locked.habits.revoke(habit.id)
    with pytest.raises(selfnote.ReadOnly):
        locked.habits.promote("回答", "y")
    assert memory.home.habits.read_bytes() == before
