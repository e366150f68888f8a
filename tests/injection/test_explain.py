"""why_not answers for every state, and the profile names its sources (S2-089..105, DESIGN Names)."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import pytest

import selfnote
from selfnote.injection.explain import can_shorten, why_not
from selfnote.records.notes import note_id


@pytest.fixture
def why(home, now):
    """The answer of why_not, numbers and all."""

    def run(identifier, *, at=now):
        return selfnote.open_memory(home, tz="Asia/Shanghai").why_not(identifier, now=at)

    return run


LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])
IN, OUT = ("在场", "In:"), ("没进", "Out")


def says(answer, words):
    return any(word in answer for word in words)


def no_negative(answer):
    return re.search(r"(?<![\w-])-\d", answer.replace("2026-", "")) is None


@LANGUAGES
def test_every_state_of_a_fact_is_told(build, fact, why, language):
    """DESIGN Names why_not: in, squeezed with numbers, conflict, half, longer, unprintable, candidate, retired, absorbed."""
    conflict = [{"id": "f-c2", "kind": "conflict", "rule": "r"}]
    build(
        facts=[
            fact("f-in", "甲句"),
            fact("f-room", "乙" * 88),
            fact("f-long", "丙" * 91),
            fact("f-half", "丁" * 200, channel="env"),
            fact("f-env", "机" * 100, channel="env", hitCount=9, lastHit="2026-02-28T00:00:00Z"),
            fact("f-c1", "端口 1", similarTo=conflict),
            fact("f-c2", "端口 2"),
            fact("f-blank", "\u200b"),
            fact("f-wait", "等", status="candidate"),
            fact("f-gone", "旧", status="retired"),
            fact("f-abs", "短句", tags=["t"]),
        ],
        config={"language": language, "profileOverride": {"text": "短", "factIds": ["f-abs"], "basis": ""}},
    )
    assert says(why("f-in"), IN)
    assert says(why("f-env"), IN)
    room = why("f-room")
    assert says(room, OUT)
    assert "89" in room  # 88 and a separator
    assert "88" in room.replace("89", "")  # 甲句 left 88 of 90
    for identifier, number in (("f-long", "90"), ("f-half", "114")):
        assert says(why(identifier), OUT)
        assert number in why(identifier)
    assert says(why("f-c1"), OUT)
    assert "f-c2" in why("f-c1")
    assert "f-c1" in why("f-c2")
    for identifier in ("f-blank", "f-wait", "f-gone"):
        assert says(why(identifier), OUT)
    assert says(why("f-abs"), ("吸收", "bsorbed"))
    answers = {
        identifier: why(identifier).split(" ", 1)[1] for identifier in ("f-blank", "f-wait", "f-gone", "f-c1", "f-long")
    }
    assert len(set(answers.values())) == len(answers)
    assert all(no_negative(why(identifier)) for identifier in ("f-room", "f-long", "f-half"))


def test_the_answer_is_in_the_language_asked_for(build, fact, homes, home, now):
    """Whatever the memory's own; channel, status and tier as the owner calls them."""
    notes = [homes.Note("在", on=date(2026, 2, 20))]
    build(
        facts=[fact("f-1", "甲"), fact("f-2", "乙", channel="env", status="candidate")],
        notes=notes,
        config={"language": "zh"},
    )
    memory = selfnote.open_memory(home, tz="Asia/Shanghai")
    assert memory.why_not("f-1", now=now).startswith("f-1: 事实（已采纳，关于你，")
    assert memory.why_not("f-1", now=now, language="en").startswith("f-1: approved fact (about you, ")
    assert memory.why_not("f-2", now=now).startswith("f-2: 事实（待审，本机）「乙」。")
    assert memory.why_not("f-2", now=now, language="en").startswith("f-2: candidate fact (this machine) “乙”.")
    note = note_id(notes[0].tier, notes[0].on, notes[0].text)
    assert "自述（稳定）" in memory.why_not(note, now=now)
    assert why_not(memory, "f-2", now=now, language="en", ids=False).startswith("Candidate fact (this machine) “乙”.")


def test_conflicts_are_named_by_what_they_say(build, fact, home, now):
    """Of more than three the first two, and how many more."""
    links = [{"id": f"f-{n}", "kind": "conflict", "rule": "r"} for n in range(4)]
    build(facts=[fact("f-c", "端口 9", similarTo=links), *(fact(f"f-{n}", f"端口 {n}") for n in range(4))])
    memory = selfnote.open_memory(home, tz="Asia/Shanghai")
    assert "和它冲突的是f-c（端口 9）；" in memory.why_not("f-0", now=now)
    assert "和它冲突的是「端口 0」「端口 1」和另外 2 条；" in why_not(memory, "f-c", now=now, ids=False)
    assert "with “端口 0”, “端口 1” and 2 more;" in why_not(memory, "f-c", now=now, ids=False, language="en")


@pytest.mark.parametrize(("used", "advised"), [(80, True), (85, True), (86, False), (89, False)])
def test_nobody_is_told_to_shorten_an_entry_to_nothing(build, fact, why, used, advised):
    """Of 90, one for the separator: at least four code points must remain of what is shortened."""
    build(facts=[fact("f-1", "甲" * used, importance=3), fact("f-2", "乙" * 17)])
    answer = why("f-2")
    assert says(answer, OUT)
    assert ("就放得下" in answer) == advised
    assert ("要等别的让出位置" in answer) != advised
    assert can_shorten(10, 6)
    assert not can_shorten(10, 7)


@LANGUAGES
def test_every_state_of_a_note_is_told(build, homes, why, language):
    """DESIGN Names why_not: a note that is in, squeezed, core, expired; S2-113, S2-116."""
    notes = [
        homes.Note("在", on=date(2026, 2, 20)),
        homes.Note("长" * 201, on=date(2026, 2, 20)),
        homes.Note("核", "core", on=date(2026, 2, 20)),
        homes.Note("过", "temp", on=date(2026, 1, 1)),
    ]
    build(notes=notes, config={"language": language})
    ids = [note_id(one.tier, one.on, one.text) for one in notes]
    assert says(why(ids[0]), IN)
    assert "201" in why(ids[1])
    assert says(why(ids[2]), ("核心", "core"))
    assert "14" in why(ids[3])
    # It was valid in time: the answer is about the instant asked for.
    assert says(why(ids[3], at=datetime(2026, 1, 10, tzinfo=UTC)), IN)


@LANGUAGES
def test_every_state_of_a_persona_line_is_told(build, why, language):
    """DESIGN Names why_not: l0:n and l1:n, in, cut with both lengths, squeezed; S2-133..135."""
    build(l0=["甲" * 60, "乙" * 60], l1=["丙" * 200, "丁" * 100, "戊" * 40], config={"language": language})
    assert says(why("l0:1"), IN)
    cut = why("l0:2")
    assert "60" in cut
    assert "20" in cut
    assert says(why("l1:1"), IN)
    out = why("l1:2")
    assert says(out, OUT)
    assert "100" in out
    assert no_negative(out)
    build(l0=["甲"], config={"language": language, "personaEnabled": False})
    assert "personaEnabled" in why("l0:1")


@LANGUAGES
def test_a_squeezed_l0_line_is_told_a_reason_that_can_be_true(build, why, language):
    """DESIGN Cuts, COMPLAINTS 20: L0 holds 80: a line out of it needs more than what was left of those 80, not of 320."""
    build(l0=["甲" * 60, "乙" * 60, "丙丙丙丙丙"], l1=["规则"], config={"language": language})
    answer = why("l0:3")
    assert says(answer, OUT)
    assert no_negative(answer), answer
    assert "240" not in answer
    assert "238" not in answer


def test_a_squeezed_l0_line_needs_more_than_was_left(build, home, now):
    """DESIGN Who goes where: "no room" means that it needs more than was left; L0 has 80 of its own."""
    build(l0=["甲" * 60, "乙" * 60, "丙丙丙丙丙"], l1=["规则"])
    (out,) = selfnote.assemble_injection(selfnote.open_memory(home), now=now).segments["persona"].squeezed
    assert out.id == "l0:3"
    assert out.needs > out.left or out.reason != "no room", out


@LANGUAGES
def test_habits_and_the_override_are_told(build, fact, why, language):
    """DESIGN Names why_not: habits h-… in, revoked; `profile:override` when it is used."""
    habit = {"tag": "t", "createdAt": "2026-01-02T00:00:00Z", "factIds": ["f-1"]}
    build(
        facts=[fact("f-1", "甲")],
        habits=[
            {**habit, "id": "h-1", "text": "短句"},
            {**habit, "id": "h-2", "text": "撤", "revokedAt": "2026-01-03T00:00:00Z"},
        ],
        config={"language": language, "profileOverride": {"text": "短", "factIds": [], "basis": ""}},
    )
    assert says(why("h-1"), IN)
    assert says(why("h-2"), OUT)
    assert says(why("profile:override"), IN)


@LANGUAGES
def test_an_override_that_is_too_long_is_told_so(build, fact, why, language):
    """DESIGN Files: an over-long override is not used, and is flagged: why_not says its length, not that it is revoked."""
    build(
        facts=[fact("f-1", "甲")],
        config={"language": language, "profileOverride": {"text": "长" * 121, "factIds": [], "basis": ""}},
    )
    answer = why("profile:override")
    assert says(answer, OUT)
    assert "121" in answer, answer
    assert "120" in answer


@LANGUAGES
def test_switched_off_is_the_reason_for_everything(build, fact, why, language):
    """DESIGN The injected text: reason "off"."""
    build(l0=["我"], facts=[fact("f-1", "甲")], config={"language": language, "injectionEnabled": False})
    for identifier in ("f-1", "l0:1"):
        assert "injectionEnabled" in why(identifier)


@pytest.mark.parametrize(
    "identifier",
    ["f-none", "n-000000000000", "h-none", "l0:0", "l0:2", "l1:1", "l2:1", "l0:x", "", "profile:override", "l0:²"],
)
def test_an_unknown_id_is_not_found(build, fact, why, identifier):
    """DESIGN Names: errors NotFound."""
    build(l0=["我"], facts=[fact("f-1", "甲")])
    with pytest.raises(selfnote.NotFound):
        why(identifier)


def test_why_not_agrees_with_the_text_for_every_entry(homes, home, now, oracle):
    """COMPLAINTS 14, 20: the explanation and the text come from one composer: in the text = told to be in."""
    from hypothesis import given, settings
    from hypothesis import strategies as st

    @settings(max_examples=15)
    @given(st.data())
    def check(data):
        spec = data.draw(homes.specs())
        homes.write(spec, home)
        memory = selfnote.open_memory(home, tz="UTC")
        found = selfnote.assemble_injection(memory, now=now)
        inside = {one.id for segment in found.segments.values() for one in segment.entries}
        for raw in spec.facts:
            told = memory.why_not(raw["id"], now=now)
            assert (raw["id"] in inside) == says(told.removeprefix(raw["id"]), ("在场：", "In: "))

    check()


def test_each_sentence_of_the_profile_names_its_source(memory, now):
    """S2-091: each sentence shows its source facts; an override shows all of those it absorbed."""
    made = [
        memory.facts.add(text, tags=tags, now=now) for text, tags in (("回答要短", ["沟通"]), ("不吃香菜", ["饮食"]))
    ]
    for one in made:
        memory.facts.approve(one.id, now=now)
    shown = memory.profile(now=now)
    assert {(one.text, one.tag, one.sources) for one in shown.sentences} == {
        ("回答要短", "沟通", (made[0].id,)),
        ("不吃香菜", "饮食", (made[1].id,)),
    }
    assert shown.chars == len(shown.text)
    assert shown.text in memory.assemble(now=now).text
    memory.override_profile("短句", tuple(one.id for one in made))
    shown = memory.profile(now=now)
    assert shown.overridden
    assert shown.text == "短句"
    assert sorted(shown.sentences[0].sources) == sorted(one.id for one in made)


def test_an_override_is_refused_when_too_long_or_of_unknown_facts(memory, now, home):
    """DESIGN Profile, S2-090: at most 120; nothing was written."""
    with pytest.raises(selfnote.LimitExceeded):
        memory.override_profile("长" * 121)
    with pytest.raises(selfnote.NotFound):
        memory.override_profile("短", ("f-none",))
    assert not (home / "selfnote" / "config.json").exists()
