"""Who is chosen, who is held back, and what a hit may move (DESIGN Choose by heat, Who goes where, Profile, Notes)."""

# ruff: noqa: PLR0917 - fixtures are asked for by name

from __future__ import annotations

import itertools
import json
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import selfnote
from selfnote.records.fact_lines import Fact
from selfnote.records.heat import heat, order_key

BUDGETS = {"persona": 320, "notes": 200, "profile": 120, "env": 230, "conclusions": 90, "habits": 40}


def ids(injection, name):
    return [one.id for one in injection.segments[name].entries]


@pytest.fixture
def inject(home, now):
    """The injection of this test's home."""

    def run(*, at=now, zone="Asia/Shanghai", **options):
        return selfnote.assemble_injection(selfnote.open_memory(home, tz=zone), now=at, **options)

    return run


# --- heat -----------------------------------------------------------------------------------------
_DAYS = st.one_of(st.none(), st.integers(-400, 30))


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 500), st.floats(0, 3), _DAYS, _DAYS), min_size=2, max_size=2),
    st.integers(0, 3000),
    st.sampled_from([1.0, 7.0, 30.0, 365.0]),
)
def test_clock_free_key_orders_as_heat_does_at_every_instant(pair, later, half_life):
    """DESIGN Choose by heat: the same order as heat at every instant; a future time is unknown here and in heat; S2-168, A-12."""
    now = datetime(2026, 3, 1, 9, tzinfo=UTC) + timedelta(hours=later)
    made = [
        Fact(
            id=f"f-{index}",
            text="x",
            hit_count=hits,
            importance=importance,
            last_hit=None if hit is None else datetime(2026, 3, 1, tzinfo=UTC) + timedelta(days=hit),
            approved_at=None if approved is None else datetime(2026, 3, 1, tzinfo=UTC) + timedelta(days=approved),
        )
        for index, (hits, importance, hit, approved) in enumerate(pair)
    ]
    by_heat = [heat(one, now, half_life) for one in made]
    by_key = [order_key(one, now, half_life) for one in made]
    if min(by_heat) > 1e-250 and abs(by_heat[0] - by_heat[1]) > 1e-9 * max(by_heat):
        assert (by_heat[0] > by_heat[1]) == (by_key[0] > by_key[1])


def test_hotter_and_more_important_facts_are_chosen_first(build, fact, inject):
    """S2-167..169: importance and hits decide who gets the room; both facts alone would fit."""
    build(facts=[fact("f-1", "甲" * 50), fact("f-2", "乙" * 50, importance=3)])
    assert ids(inject(), "conclusions") == ["f-2"]
    build(facts=[fact("f-1", "甲" * 50, hitCount=3), fact("f-2", "乙" * 50)])
    assert ids(inject(), "conclusions") == ["f-1"]
    build(facts=[fact("f-1", "甲" * 50), fact("f-2", "乙" * 50, approvedAt="2026-02-27T00:00:00.000Z")])
    assert ids(inject(), "conclusions") == ["f-2"]


def test_equal_heat_goes_by_approval_then_id(build, fact, inject):
    """DESIGN Choose by heat: ties by approvedAt, then id, whatever the order in the file."""
    hit = {"lastHit": "2026-02-01T00:00:00.000Z", "hitCount": 1}
    early, late = "2026-01-05T00:00:00.000Z", "2026-01-06T00:00:00.000Z"
    lines = [
        fact("f-3", "丙" * 50, approvedAt=late, **hit),
        fact("f-2", "乙" * 50, approvedAt=early, **hit),
        fact("f-1", "甲" * 50, approvedAt=late, **hit),
    ]
    for order in itertools.permutations(lines):
        build(facts=list(order))
        assert ids(inject(), "conclusions") == ["f-2"]
    lines[1]["approvedAt"] = late
    for order in itertools.permutations(lines):
        build(facts=list(order))
        assert ids(inject(), "conclusions") == ["f-1"]


def test_a_hit_moves_nothing_in_print(build, fact, inject, oracle):
    """DESIGN Choose by heat, print by age; S2-214: with the same facts chosen, counters change no byte of the text."""
    lines = [
        fact(
            f"f-{index}",
            f"第{index}句",
            channel=channel,
            tags=tags,
            approvedAt=f"2026-01-{10 - index:02d}T00:00:00.000Z",
        )
        for index, (channel, tags) in enumerate(
            [("rel", ["a"]), ("rel", ["b"]), ("rel", ["a"]), ("env", []), ("env", []), ("rel", []), ("rel", [])]
        )
    ]
    build(facts=lines)
    before = inject().text
    for hot in range(len(lines)):
        changed = [dict(one) for one in lines]
        changed[hot] |= {"hitCount": 90, "lastHit": "2026-02-28T00:00:00.000Z", "seenCount": 5}
        build(facts=changed)
        assert inject().text == before
    assert before.index("第2句") < before.index("第0句")
    assert before.index("第4句") < before.index("第3句")


@pytest.mark.parametrize("field", ["lastHit", "approvedAt", "createdAt"])
def test_a_future_time_heats_nothing(build, fact, inject, field):
    """A-12, COMPLAINTS 42: a time later than now is unknown, left out of the order, and flagged."""
    build(
        facts=[
            fact("f-1", "甲" * 50, **{field: "2036-01-01T00:00:00.000Z"}),
            fact("f-2", "乙" * 50, approvedAt="2026-01-03T00:00:00.000Z"),
        ]
    )
    assert ids(inject(), "conclusions") == ["f-2"]


def test_every_form_of_time_is_read_and_the_unreadable_costs_only_itself(build, fact, inject):
    """COMPLAINTS 43, DESIGN Files: Z, offset, naive, epoch s and ms, "", null, words: every fact still competes."""
    forms = [
        "2026-02-01T00:00:00Z",
        "2026-02-01T08:00:00+08:00",
        "2026-02-01T08:00:00",
        1_769_904_000,
        1_769_904_000_000,
        "",
        None,
        "昨天",
    ]
    build(facts=[fact(f"f-{index}", f"句{index}", approvedAt=form) for index, form in enumerate(forms)])
    found = inject()
    assert sorted(ids(found, "conclusions")) == [f"f-{index}" for index in range(len(forms))]
    assert ids(found, "conclusions") == ["f-5", "f-6", "f-7", "f-0", "f-1", "f-2", "f-3", "f-4"]


# --- conflicts, replacing -------------------------------------------------------------------------
def _conflict(other, **values):
    return {"similarTo": [{"id": other, "kind": "conflict", "rule": "r", "score": 90, **values}]}


@pytest.mark.parametrize("channel", ["rel", "env"])
@pytest.mark.parametrize("sides", [(True, False), (False, True), (True, True)])
def test_two_approved_in_conflict_are_both_held_out(build, fact, inject, channel, sides):
    """DESIGN Who goes where: an unresolved conflict, a link on either side, keeps both out of every segment; A-08b."""
    one = fact("f-1", "端口 5432", channel=channel, tags=["t"], **(_conflict("f-2") if sides[0] else {}))
    two = fact("f-2", "端口 5433", channel=channel, tags=["t"], **(_conflict("f-1") if sides[1] else {}))
    build(facts=[one, two, fact("f-3", "别的", channel=channel)])
    found = inject()
    assert "端口" not in found.text
    squeezed = {one.id: one.reason for one in found.segments["env" if channel == "env" else "conclusions"].squeezed}
    assert squeezed == {"f-1": "conflict", "f-2": "conflict"}


@pytest.mark.parametrize("other", ["candidate", "retired", "gone"])
def test_only_two_approved_facts_can_hold_each_other_out(build, fact, inject, other):
    """DESIGN Who goes where: a candidate never changes the text; nor does a retired or missing fact."""
    lines = [fact("f-1", "端口 5432", **_conflict("f-2"))]
    if other != "gone":
        lines.append(fact("f-2", "端口 5433", status=other, **_conflict("f-1")))
    build(facts=lines)
    assert ids(inject(), "conclusions") == ["f-1"]


def test_a_resolved_or_near_link_holds_nobody_out(build, fact, inject):
    """DESIGN Who goes where: only unresolved conflicts; a plain id in similarTo reads as near (DESIGN Files)."""
    resolved = {"resolved": "2026-02-01T00:00:00Z"}
    build(facts=[fact("f-1", "端口 5432", **_conflict("f-2", **resolved)), fact("f-2", "端口 5433", similarTo=["f-1"])])
    assert ids(inject(), "conclusions") == ["f-1", "f-2"]
    build(
        facts=[fact("f-1", "端口 5432", **_conflict("f-2", **resolved)), fact("f-2", "端口 5433", **_conflict("f-1"))]
    )
    assert ids(inject(), "conclusions") == []


def test_conflicts_are_never_computed_in_the_composer(build, fact, inject):
    """DESIGN Who goes where: read from stored links; two contradicting texts without a link both stand."""
    build(facts=[fact("f-1", "数据库端口 5432"), fact("f-2", "数据库端口 5433")])
    assert ids(inject(), "conclusions") == ["f-1", "f-2"]


@pytest.mark.parametrize("channel", ["rel", "env"])
def test_a_replaced_wording_never_appears_again_at_any_budget(memory, home, now, channel):
    """COMPLAINTS 22, DESIGN Transitions: approve(new, replaces=old): at budgets 0..400 the old wording is gone."""
    old = memory.facts.add("SSH 端口是 22", channel=channel, now=now)
    memory.facts.approve(old.id, now=now)
    selfnote.compose_injection(home, session="s", turn=1, now=now)
    new = memory.facts.add("SSH 端口是 49222", channel=channel, now=now)
    both = memory.facts.add("别的一句", channel=channel, now=now)
    memory.facts.approve(both.id, now=now)
    assert "SSH 端口是 22" in selfnote.compose_injection(home, session="s", turn=2, now=now)
    memory.facts.approve(new.id, replaces=old.id, now=now)
    for budget in range(401):
        limits = {**BUDGETS, "conclusions" if channel == "rel" else "env": budget}
        found = selfnote.assemble_injection(memory, now=now, budgets=limits)
        assert "SSH 端口是 22" not in found.text
        places = [one.id for segment in found.segments.values() for one in (*segment.entries, *segment.squeezed)]
        assert sorted(places) == sorted([new.id, both.id])
    assert "49222" in selfnote.compose_injection(home, session="s", turn=3, now=now)


def test_without_replaces_two_that_contradict_are_both_out_at_any_budget(memory, now):
    """COMPLAINTS 22: two approved that contradict are both held back and said so."""
    for text in ("SSH 端口是 22", "SSH 端口是 49222"):
        memory.facts.approve(memory.facts.add(text, now=now).id, now=now)
    for budget in (0, 10, 90, 400):
        found = selfnote.assemble_injection(memory, now=now, budgets={**BUDGETS, "conclusions": budget})
        assert "SSH" not in found.text
        assert {one.reason for one in found.segments["conclusions"].squeezed} == {"conflict"}


# --- profile --------------------------------------------------------------------------------------
def test_a_sentence_over_60_stays_in_conclusions(build, fact, inject):
    """S2-201: at 60 in the profile, at 61 not; S2-222: what the profile took is not repeated in conclusions."""
    build(facts=[fact("f-1", "甲" * 60, tags=["t"]), fact("f-2", "乙" * 61, tags=["t"])])
    found = inject()
    assert ids(found, "profile") == ["f-1"]
    assert ids(found, "conclusions") == ["f-2"]
    assert found.text.count("甲" * 60) == 1


def test_label_is_paid_once_by_the_first_fact_of_a_tag(build, fact, inject):
    """DESIGN Profile: 标签：甲；乙；标签：丙, the label paid by a tag's first fact; a fact belongs to its first tag."""
    build(
        facts=[
            fact("f-1", "甲", tags=["工作", "饮食"]),
            fact("f-2", "丙", tags=["饮食"], approvedAt="2026-01-03T00:00:00.000Z"),
            fact("f-3", "乙", tags=["工作"], approvedAt="2026-01-04T00:00:00.000Z"),
        ]
    )
    found = inject()
    assert "关于他：工作：甲；乙；饮食：丙" in found.text.split("\n")
    assert found.segments["profile"].used == len("工作：甲；乙；饮食：丙")


def test_what_the_profile_could_not_take_may_enter_conclusions(build, fact, inject):
    """DESIGN Profile: what it could not take may enter conclusions."""
    build(facts=[fact(f"f-{index}", f"{index}" * 55, tags=["t"], importance=3 - index) for index in range(4)])
    found = inject()
    assert ids(found, "profile") == ["f-0", "f-1"]
    assert ids(found, "conclusions") == ["f-2"]
    assert [one.id for one in found.segments["conclusions"].squeezed] == ["f-3"]


def test_the_override_replaces_the_whole_segment_and_absorbs_its_facts(build, fact, inject):
    """DESIGN Profile, A-08: whole text; its factIds are absorbed, not repeated; facts it does not name compete on."""
    override = {"text": "他喜欢短句", "factIds": ["f-1", "f-env", "f-none", "f-gone"], "basis": ""}
    build(
        facts=[
            fact("f-1", "回答要短", tags=["t"]),
            fact("f-2", "不吃香菜", tags=["t"]),
            fact("f-env", "机器", channel="env"),
            fact("f-gone", "旧的", status="retired"),
        ],
        config={"profileOverride": override},
    )
    found = inject()
    assert "关于他：他喜欢短句" in found.text.split("\n")
    assert found.absorbed == ("f-1",)
    assert ids(found, "conclusions") == ["f-2"]
    assert ids(found, "env") == ["f-env"]
    assert ids(found, "profile") == ["profile:override"]


def test_an_override_over_the_profile_budget_is_not_used_and_flagged(build, fact, inject, memory, now):
    """DESIGN Files: an over-long override is not used, and is flagged; its facts speak for themselves."""
    override = {"text": "长" * 121, "factIds": ["f-1"], "basis": ""}
    build(facts=[fact("f-1", "回答要短", tags=["t"])], config={"profileOverride": override})
    found = inject()
    assert "长" not in found.text
    assert ids(found, "profile") == ["f-1"]
    assert found.absorbed == ()
    assert any("override" in flag for flag in found.flags)
    assert memory.profile(now=now).problem
    for limit, used in ((121, True), (120, False)):
        again = inject(budgets={**BUDGETS, "profile": limit})
        assert ("长" in again.text) == used


def test_an_override_is_marked_older_when_a_source_retires_or_is_reworded(memory, now, home):
    """DESIGN Profile, A-08: retired sources drop out of absorbed and the override is older than its sources."""
    made = [memory.facts.add(text, tags=["t"], now=now) for text in ("回答要短", "不吃香菜")]
    for one in made:
        memory.facts.approve(one.id, now=now)
    memory.override_profile("短句，不要香菜", tuple(one.id for one in made))
    found = memory.assemble(now=now)
    assert sorted(found.absorbed) == sorted(one.id for one in made)
    assert not memory.profile(now=now).older_than_its_sources
    memory.facts.retire(made[0].id, now=now)
    found = memory.assemble(now=now)
    assert found.absorbed == (made[1].id,)
    assert memory.profile(now=now).older_than_its_sources
    assert any("older" in flag for flag in found.flags)
    assert "短句，不要香菜" in found.text


def test_a_fact_in_conflict_is_not_absorbed(build, fact, inject):
    """DESIGN Who goes where: exactly one place, and a conflict keeps a fact out of every segment."""
    override = {"text": "他", "factIds": ["f-1"], "basis": ""}
    build(facts=[fact("f-1", "要", **_conflict("f-2")), fact("f-2", "不要")], config={"profileOverride": override})
    found = inject()
    assert found.absorbed == ()
    assert {one.id for one in found.segments["conclusions"].squeezed} == {"f-1", "f-2"}


def test_an_unknown_channel_reads_as_rel_and_is_flagged(build, fact, inject, memory):
    """DESIGN Who goes where: unknown channel reads as rel and is flagged."""
    build(facts=[fact("f-1", "句子", channel="misc")])
    assert ids(inject(), "conclusions") == ["f-1"]
    assert any("channel" in problem for problem in memory.facts.get("f-1").problems)


@pytest.mark.parametrize("channel", ["rel", "env"])
def test_nothing_printable_is_squeezed_with_that_reason(build, fact, inject, channel):
    """DESIGN safe(text): nothing printable left: squeezed, reason "nothing printable"; stored text stays."""
    build(
        facts=[fact("f-1", "\u200b\u202e", channel=channel)],
        habits=[{"id": "h-1", "text": "\u200b", "factIds": ["f-1"], "createdAt": "2026-01-01T00:00:00Z"}],
        notes=[],
        l0=["我"],
    )
    found = inject()
    squeezed = found.segments["env" if channel == "env" else "conclusions"].squeezed
    assert [(one.id, one.reason) for one in squeezed] == [("f-1", "nothing printable")]
    assert [one.reason for one in found.segments["habits"].squeezed] == ["nothing printable"]


# --- notes ----------------------------------------------------------------------------------------
def test_floor_reserves_what_the_temps_that_fit_really_use(homes, build, inject):
    """DESIGN Notes, S2-118, A-25: floor 50 of 200: two temps of 30 and 25 reserve 30 only, so 170 are the stables'."""
    note = homes.Note
    build(
        notes=[
            note("稳" * 170),
            note("暂" * 25, "temp", on=date(2026, 2, 20)),
            note("临" * 30, "temp", on=date(2026, 2, 21)),
        ]
    )
    found = inject()
    assert [one.text[0] for one in found.segments["notes"].entries] == ["稳", "临"]
    build(
        notes=[
            note("稳" * 171),
            note("暂" * 25, "temp", on=date(2026, 2, 20)),
            note("临" * 30, "temp", on=date(2026, 2, 21)),
        ]
    )
    assert [one.text[0] for one in inject().segments["notes"].entries] == ["临", "暂"]


@pytest.mark.parametrize(
    ("stable", "temp", "inside"),
    [(151, 50, "临"), (150, 50, "稳临"), (151, 51, "稳"), (151, 49, "稳临"), (152, 49, "临")],
)
def test_floor_is_a_quarter_to_the_last_code_point(homes, build, inject, stable, temp, inside):
    """DESIGN Notes: floor = budget//4 = 50 of 200: a temp of 50 is reserved for, one of 51 is not; S2-118."""
    build(notes=[homes.Note("稳" * stable), homes.Note("临" * temp, "temp", on=date(2026, 2, 21))])
    assert "".join(one.text[0] for one in inject().segments["notes"].entries) == inside


def test_an_unused_floor_goes_back_to_the_stables(homes, build, inject):
    """S2-118, DESIGN Notes: no live temp fits the floor, so nothing is reserved; "the reserve is not bound to them"."""
    note = homes.Note
    build(notes=[note("稳" * 190), note("临" * 51, "temp", on=date(2026, 2, 21))])
    assert [one.text[0] for one in inject().segments["notes"].entries] == ["稳"]
    build(notes=[note("稳" * 90), note("定" * 100), note("临" * 60, "temp", on=date(2026, 2, 21))])
    assert [one.text[0] for one in inject().segments["notes"].entries] == ["定", "稳"]


def test_floor_is_24_at_small_budgets_and_never_over_the_budget(homes, build, inject):
    """DESIGN Notes: floor = min(budget, max(24, budget//4))."""
    note = homes.Note
    build(notes=[note("稳" * 40), note("临" * 24, "temp", on=date(2026, 2, 21))])
    assert [one.text[0] for one in inject(budgets={**BUDGETS, "notes": 60}).segments["notes"].entries] == ["临"]
    assert [one.text[0] for one in inject(budgets={**BUDGETS, "notes": 64}).segments["notes"].entries] == ["稳", "临"]
    build(notes=[note("稳" * 10), note("临" * 15, "temp", on=date(2026, 2, 21))])
    assert [one.text[0] for one in inject(budgets={**BUDGETS, "notes": 15}).segments["notes"].entries] == ["临"]


def test_a_long_persona_note_never_loses_unlisted(homes, build, inject):
    """S2-119: a 90-char note competing with five reminders for 200 is in, or in the squeezed list and the doorplate."""
    note = homes.Note
    build(
        notes=[
            note("我" * 90, on=date(2026, 1, 1)),
            *[note(f"提醒{index}" + "事" * 40, "temp", on=date(2026, 2, 25)) for index in range(5)],
        ]
    )
    found = inject()
    names = [one.text[0] for one in (*found.segments["notes"].entries, *found.segments["notes"].squeezed)]
    assert len(names) == 6
    assert f"另有 {len(found.segments['notes'].squeezed)} 条自述（self_note read）" in found.text


def test_a_pin_orders_within_its_tier_and_never_jumps(homes, build, inject):
    """S2-114, DESIGN Notes: pinned first, then new to old; a pinned temp stands behind stables, a pinned core nowhere."""
    note = homes.Note
    build(
        notes=[
            note("稳旧", on=date(2026, 1, 1)),
            note("稳钉", pinned=True, on=date(2025, 1, 1)),
            note("稳同日先"),
            note("稳同日后"),
            note("稳无日", on=None),
            note("临", "temp", on=date(2026, 2, 20)),
            note("临钉", "temp", pinned=True, on=date(2026, 2, 19)),
            note("核钉", "core", pinned=True),
        ]
    )
    found = inject()
    assert [one.text for one in found.segments["notes"].entries] == [
        "稳钉",
        "稳同日后",
        "稳同日先",
        "稳旧",
        "稳无日",
        "临钉",
        "临",
    ]
    assert "核钉" not in found.text
    assert "另有 1 条身份素材（不注入，self_note read 可看）" in found.text


def test_expired_and_core_notes_are_neither_entries_nor_squeezed(homes, build, inject):
    """DESIGN The injected text: core and expired notes are neither; no doorplate counts an expired one."""
    note = homes.Note
    build(notes=[note("核", "core"), note("过期", "temp", on=date(2026, 1, 1)), note("稳")])
    found = inject()
    assert [one.text for one in found.segments["notes"].entries] == ["稳"]
    assert found.segments["notes"].squeezed == ()
    assert len(found.core_notes) == len(found.expired_notes) == 1
    assert "条自述" not in found.text


def test_a_future_note_has_age_zero(homes, build, inject):
    """A-02c: future dates = age 0: it does not expire, and it is not newer than a later line of today."""
    note = homes.Note
    build(notes=[note("将来", "temp", on=date(2031, 1, 1)), note("今天", "temp", on=date(2026, 3, 1))])
    assert [one.text for one in inject().segments["notes"].entries] == ["今天", "将来"]


@pytest.mark.parametrize(
    ("zone", "last_inside", "first_outside"),
    [
        # Written 2026-02-14, 14 days: the last good day is 2026-02-28 of the owner's calendar.
        ("Asia/Shanghai", "2026-02-28T15:59:59.999Z", "2026-02-28T16:00:00Z"),
        ("America/New_York", "2026-03-01T04:59:59.999Z", "2026-03-01T05:00:00Z"),
        ("Pacific/Kiritimati", "2026-02-28T09:59:59.999Z", "2026-02-28T10:00:00Z"),
        ("UTC", "2026-02-28T23:59:59.999Z", "2026-03-01T00:00:00Z"),
    ],
)
def test_a_temp_note_expires_at_the_owners_midnight(homes, build, inject, zone, last_inside, first_outside):
    """A-02c, A-33, COMPLAINTS 69: day 14 still valid, by the owner's calendar, not by UTC."""
    build(l0=["我"], notes=[homes.Note("临时的", "temp", on=date(2026, 2, 14))])
    assert "临时的" in inject(at=datetime.fromisoformat(last_inside), zone=zone).text
    assert "临时的" not in inject(at=datetime.fromisoformat(first_outside), zone=zone).text


@pytest.mark.parametrize(
    ("on", "last_inside", "first_outside"),
    [
        # New York springs forward on 2026-03-08 and falls back on 2026-11-01: midnight moves from 05:00Z to 04:00Z.
        (date(2026, 3, 1), "2026-03-16T03:59:59Z", "2026-03-16T04:00:00Z"),
        (date(2026, 2, 21), "2026-03-08T04:59:59Z", "2026-03-08T05:00:00Z"),
        (date(2026, 10, 25), "2026-11-09T04:59:59Z", "2026-11-09T05:00:00Z"),
        (date(2026, 10, 17), "2026-11-01T03:59:59Z", "2026-11-01T04:00:00Z"),
    ],
)
def test_expiry_follows_the_zones_rules_across_dst(homes, build, inject, on, last_inside, first_outside):
    """COMPLAINTS 70: zone rules, not a fixed offset."""
    build(l0=["我"], notes=[homes.Note("临时的", "temp", on=on)])
    zone = "America/New_York"
    assert "临时的" in inject(at=datetime.fromisoformat(last_inside), zone=zone).text
    assert "临时的" not in inject(at=datetime.fromisoformat(first_outside), zone=zone).text


def test_ttl_is_the_configured_one_and_an_undated_temp_never_expires(homes, build, inject):
    """S2-112, A-02b."""
    notes = [homes.Note("两日前", "temp", on=date(2026, 2, 27)), homes.Note("无日", "temp", on=None)]
    build(notes=notes, config={"tempTtlDays": 1})
    assert [one.text for one in inject().segments["notes"].entries] == ["无日"]
    build(notes=notes, config={"tempTtlDays": 2})
    assert [one.text for one in inject().segments["notes"].entries] == ["两日前", "无日"]


# --- persona --------------------------------------------------------------------------------------
def test_l0_and_l1_fill_320_without_their_newlines(build, inject):
    """DESIGN Length: 80 + 240 is allowed; lines count without their newlines; one more does not fit."""
    build(l0=["零" * 40, "零" * 40], l1=["一" * 100, "二" * 100, "三" * 40])
    found = inject()
    assert found.segments["persona"].used == 320
    assert found.segments["persona"].squeezed == ()
    assert found.segments["persona"].cuts == ()
    build(l0=["零" * 40, "零" * 40], l1=["一" * 100, "二" * 100, "三" * 40, "四"])
    found = inject()
    assert "另有 1 行人格规则没装进来" in found.text.split("\n")


def test_l0_over_80_is_cut_in_the_line_that_crosses(build, inject):
    """S2-135, DESIGN Cuts: whole lines first, then inside the line that crosses."""
    build(l0=["甲" * 50, "乙" * 50, "丙" * 5], l1=["规则"])
    found = inject()
    assert [one.text for one in found.segments["persona"].entries] == ["甲" * 50, "乙" * 29 + "…", "规则"]
    assert [(one.id, one.length, one.kept) for one in found.segments["persona"].cuts] == [("l0:2", 50, 30)]
    assert [one.id for one in found.segments["persona"].squeezed] == ["l0:3"]


def test_only_the_first_l1_line_alone_over_the_room_is_cut(build, inject):
    """S2-134, DESIGN Cuts: the first line when it alone exceeds what L0 left of 320; a later one is skipped whole."""
    build(l0=["零" * 20], l1=["一" * 301, "二"])
    found = inject()
    assert found.segments["persona"].entries[1].text == "一" * 299 + "…"
    assert [one.id for one in found.segments["persona"].squeezed] == ["l1:2"]
    build(l0=["零" * 20], l1=["一" * 200, "二" * 301, "三"])
    found = inject()
    assert [one.id for one in found.segments["persona"].entries] == ["l0:1", "l1:1", "l1:3"]
    assert found.segments["persona"].cuts == ()


@pytest.mark.parametrize("piece", ["👩\u200d👩\u200d👧\u200d👦", "🇨🇳", "𠮷", "e\u0301"])
def test_the_cut_line_holds_whole_graphemes_within_320(build, inject, piece):
    """COMPLAINTS 29, A-21: L1 first line of 400 graphemes; length <= 320, no broken cluster."""
    build(l1=[piece * 400])
    found = inject()
    text = found.segments["persona"].entries[0].text
    assert found.segments["persona"].used == len(text) <= 320
    assert text == piece * ((320 - 1) // len(piece)) + "…"


def test_persona_off_leaves_frame_lines_and_pointer_out(build, inject):
    """DESIGN The injected text: persona off or empty: frame sentence, L0/L1 and pointer are absent; S2-140."""
    build(l0=["我"], l1=["规则"], l2="设定", notes=[], config={"personaEnabled": False})
    assert inject().reason == "empty"
    build(l0=["我"], l1=["规则"], l2="设定", config={"personaEnabled": False, "timingHint": "提示"})
    assert inject().text == "记忆（我写的）\n写自述的时机：提示"


# --- habits ---------------------------------------------------------------------------------------
def test_habits_go_by_creation_and_need_one_approved_fact(build, fact, inject):
    """DESIGN The injected text: active habits by (createdAt, id); revoked ones and those without approved facts stay out."""
    habit = {"tag": "t", "createdAt": "2026-01-02T00:00:00Z"}
    build(
        facts=[fact("f-1", "甲"), fact("f-2", "乙", status="retired")],
        habits=[
            {**habit, "id": "h-3", "text": "三", "factIds": ["f-1"]},
            {**habit, "id": "h-2", "text": "二", "factIds": ["f-2", "f-1"]},
            {**habit, "id": "h-1", "text": "先", "factIds": ["f-1"], "createdAt": "2026-01-01T00:00:00Z"},
            {**habit, "id": "h-4", "text": "撤", "factIds": ["f-1"], "revokedAt": "2026-01-03T00:00:00Z"},
            {**habit, "id": "h-5", "text": "空", "factIds": ["f-2"]},
            {**habit, "id": "h-6", "text": "长" * 41, "factIds": ["f-1"]},
            {**habit, "id": "h-7", "text": "末", "factIds": ["f-1"]},
        ],
    )
    found = inject()
    assert found.text.split("\n")[-2:] == ["甲", "先；二；三；末"]
    assert [one.id for one in found.segments["habits"].squeezed] == ["h-6"]
    assert found.segments["habits"].used == 7


# --- budgets and settings that replace ------------------------------------------------------------
def test_budgets_and_config_replace_and_never_merge(build, fact, inject, memory, now):
    """DESIGN Names: budgets (all six names) and config replace; a missing or wrong name is refused."""
    from selfnote.config import Config

    build(facts=[fact("f-1", "甲" * 30)], config={"header": "我的", "timingHint": "提示"})
    assert inject(config=Config()).text.split("\n")[0] == "记忆（我写的）"
    assert "提示" not in inject(config=Config()).text
    for wrong in ({"env": 10}, {**BUDGETS, "more": 1}, {**BUDGETS, "env": -1}, {**BUDGETS, "env": 1.5}):
        with pytest.raises(selfnote.LimitExceeded):
            inject(budgets=wrong)
    assert ids(inject(budgets={**BUDGETS, "conclusions": 29}), "conclusions") == []
    assert ids(inject(budgets={**BUDGETS, "conclusions": 30}), "conclusions") == ["f-1"]


def test_a_replaced_configs_time_zone_decides_the_day(homes, build, home):
    """DESIGN Names: config replaces; A-33: the owner's tz from config decides what has expired."""
    from selfnote.config import Config

    build(l0=["我"], notes=[homes.Note("临时的", "temp", on=date(2026, 2, 14))], config={"tz": "Asia/Shanghai"})
    late = datetime(2026, 2, 28, 15, 30, tzinfo=UTC)  # 23:30 of day 14 in Shanghai, day 15 in Kiritimati
    memory = selfnote.open_memory(home)
    assert "临时的" in selfnote.assemble_injection(memory, now=late).text
    replaced = Config.model_validate({"tz": "Pacific/Kiritimati"})
    assert "临时的" not in selfnote.assemble_injection(memory, now=late, config=replaced).text


def test_the_total_holds_when_a_kept_choice_meets_a_larger_notes_budget(homes, build, fact, inject, home, now):
    """DESIGN Length: always sum(used) <= 1000, also when the notes budget alone is replaced over a kept choice."""
    build(
        l1=["规" * 320],
        notes=[homes.Note(f"{index}" * 68) for index in range(10)],
        facts=[fact("f-1", "甲" * 50, tags=["t"]), fact("f-2", "乙" * 100, channel="env"), fact("f-3", "丙" * 80)],
    )
    selfnote.compose_injection(home, now=now)
    found = inject(budgets={**BUDGETS, "notes": 680})
    used = {name: one.used for name, one in found.segments.items()}
    assert sum(used.values()) <= 1000, used
    assert len(found.text) == sum(used.values()) + found.framing_chars + found.hint_chars


def test_every_replaced_budget_over_a_kept_choice_keeps_the_bill(homes, build, fact, inject, home, now):
    """DESIGN Length: at every notes budget, with a kept choice whose basis matches, the bill adds up to at most 1000."""
    build(
        l1=["规" * 320],
        notes=[homes.Note(f"{index}" * 100) for index in range(9)],
        facts=[
            fact("f-1", "甲" * 50, tags=["t"]),
            fact("f-2", "乙" * 100, channel="env"),
            fact("f-4", "丁" * 100, channel="env"),
            fact("f-3", "丙" * 80),
        ],
    )
    selfnote.compose_injection(home, now=now)
    for notes in (200, 300, 400, 500, 600, 680, 900):
        found = inject(budgets={**BUDGETS, "notes": notes})
        used = {name: one.used for name, one in found.segments.items()}
        assert sum(used.values()) <= 1000, (notes, used)
        assert len(found.text) == sum(used.values()) + found.framing_chars + found.hint_chars


def test_a_kept_choice_of_other_hands_cannot_break_budgets_or_places(build, fact, inject, home, now):
    """DESIGN Length, Who goes where: rotation.json is a file like any other; wrong ids in it break no budget and no place."""
    lines = [fact(f"f-{index}", f"{index}" * 100, channel="env") for index in range(5)]
    lines += [fact(f"f-r{index}", f"{index}" * 50, tags=["t"]) for index in range(5)]
    build(facts=lines)
    selfnote.compose_injection(home, now=now)
    path = home / "memory" / "rotation.json"
    kept = json.loads(path.read_text("utf-8"))
    every = [one["id"] for one in lines]
    for broken in (
        {"profile": every, "env": every, "conclusions": every},
        {"profile": ["f-r0", "f-r0"], "env": ["f-0", "f-0"], "conclusions": ["f-r0"]},
        {"profile": ["f-0"], "env": ["f-r0"], "conclusions": ["f-1"]},
    ):
        path.write_text(json.dumps({**kept, "ids": broken}), "utf-8")
        found = inject()
        assert all(one.used <= one.budget for one in found.segments.values()), broken
        assert len(found.text) == found.total_chars + found.framing_chars + found.hint_chars, broken
        places = [one.id for segment in found.segments.values() for one in (*segment.entries, *segment.squeezed)]
        assert sorted(places) == sorted(every), broken
