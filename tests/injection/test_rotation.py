"""Everyone has a turn: env by due and by heat, over simulated hours (S2-207..210, COMPLAINTS 26, 27)."""

# ruff: noqa: PLR0917 - fixtures are asked for by name

from __future__ import annotations

import json
import random
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import selfnote

HOUR = timedelta(hours=1)


def gini(counts):
    """0: all alike; near 1: one has everything."""
    ordered = sorted(counts)
    total, size = sum(ordered), len(ordered)
    weighted = sum(rank * value for rank, value in enumerate(ordered, 1))
    return 2 * weighted / (size * total) - (size + 1) / size


def _fourteen(fact):
    """14 env facts, three of them hot from long use."""
    generator = random.Random(7)  # noqa: S311 - a fixed home, not a secret
    lines = []
    for index in range(14):
        hot = {"hitCount": 459, "lastHit": "2026-02-28T00:00:00.000Z"} if index < 3 else {}
        length = 70 if index < 3 else generator.randint(20, 80)
        lines.append(fact(f"f-{index:02d}", f"{index:02d}" + "机" * (length - 2), channel="env", **hot))
    return lines


def _by_pure_heat(oracle, lines, start, hours):
    """Times each fact would enter if heat alone chose, counters growing as they do."""
    counts = {one["id"]: 0 for one in lines}
    for hour in range(hours):
        at = start + hour * HOUR
        facts = [oracle.prepare(one, at, 30) for one in lines]
        chosen = {one.id for one in oracle.choose_conclusions(facts, 230)}  # plain heat order, whole entries
        for one in lines:
            if one["id"] in chosen:
                counts[one["id"]] += 1
                one["hitCount"] = one.get("hitCount", 0) + 1
                one["lastHit"] = at.isoformat()
    return counts


def test_pure_heat_never_lets_the_others_in(fact, oracle, now):
    """S2-208: the motivating measurement: chosen by heat alone, a few hot entries fill 230 for ever."""
    counts = _by_pure_heat(oracle, _fourteen(fact), now, 200)
    assert counts["f-00"] == counts["f-01"] == counts["f-02"] == 200
    assert sum(1 for count in counts.values() if count) < 7


def test_with_rotation_all_fourteen_enter_and_no_one_takes_it_all(build, fact, home, now, stored, ledger, oracle):
    """S2-207..210, COMPLAINTS 26: 200 hourly rotations: every fact injected; Gini below 0.6, pure heat has over 0.7."""
    assert gini(list(_by_pure_heat(oracle, _fourteen(fact), now, 200).values())) > 0.7
    build(facts=_fourteen(fact))
    for hour in range(200):
        selfnote.compose_injection(home, session="s", turn=hour, now=now + hour * HOUR)
    counts = {f"f-{index:02d}": 0 for index in range(14)}
    for line in ledger():
        for one in line["counted"]:
            counts[one] += 1
    assert min(counts.values()) >= 200 // 14
    assert gini(list(counts.values())) < 0.6
    facts = stored()
    for identifier, count in counts.items():
        base = 459 if identifier < "f-03" else 0
        assert facts[identifier]["hitCount"] == base + count


def test_rotation_is_round_robin_and_not_random(build, fact, home, now, ledger, homes):
    """S2-210: deterministic: the same home gives the same rotations in two places."""
    runs = []
    for name in ("one", "two"):
        root = home.parent / name
        homes.write(homes.Spec(facts=_fourteen(fact)), root)
        runs.append(
            [selfnote.compose_injection(root, session="s", turn=hour, now=now + hour * HOUR) for hour in range(30)]
        )
    assert runs[0] == runs[1]
    assert len(set(runs[0])) > 5


@settings(max_examples=25)
@given(st.lists(st.integers(1, 260), min_size=1, max_size=9), st.data())
def test_every_env_fact_under_half_enters_within_as_many_rotations_as_there_are(homes, lengths, data):
    """DESIGN Env, property: each text < budget//2 enters within n rotations; a longer one that never enters says why."""
    lines = [
        homes.fact(
            f"f-{index}",
            "机" * length,
            channel="env",
            hitCount=data.draw(st.sampled_from([0, 3, 400])),
            importance=data.draw(st.sampled_from([0, 1, 3])),
            lastHit=data.draw(
                st.sampled_from([None, "2026-02-27T00:00:00.000Z", "2026-02-28T00:00:00.000Z", "2031-01-01T00:00:00Z"])
            ),
        )
        for index, length in enumerate(lengths)
    ]
    entered = set()
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory) / ".dsh"
        homes.write(homes.Spec(facts=lines), root)
        memory = selfnote.open_memory(root)
        for hour in range(len(lines)):
            at = homes.NOW + hour * HOUR
            selfnote.compose_injection(root, session="s", turn=hour, now=at)
            found = selfnote.assemble_injection(memory, now=at)
            entered |= {one.id for one in found.segments["env"].entries}
        reasons = {one.id: one.reason for one in found.segments["env"].squeezed}
    for index, length in enumerate(lengths):
        identifier = f"f-{index}"
        if length < 115:
            assert identifier in entered
        elif identifier not in entered:
            assert reasons[identifier] == "longer than half the segment"


def test_the_due_share_is_a_quarter_raised_to_fit_the_first_due(build, fact, home, now):
    """DESIGN Env, S2-209: within max(57, length of the first due); a first due of 114 takes its turn whole."""
    hot = {"hitCount": 400, "importance": 3}
    build(
        facts=[
            fact("f-due", "到" * 114, channel="env", importance=0),
            fact("f-hot", "热" * 115, channel="env", lastHit="2026-02-28T00:00:00.000Z", **hot),
        ]
    )
    found = selfnote.assemble_injection(selfnote.open_memory(home), now=now)
    assert [one.id for one in found.segments["env"].entries] == ["f-due", "f-hot"]
    build(
        facts=[
            *[fact(f"f-d{index}", str(index) * 28, channel="env", importance=0) for index in range(4)],
            fact("f-hot", "热" * 170, channel="env", lastHit="2026-02-28T00:00:00.000Z", **hot),
        ]
    )
    found = selfnote.assemble_injection(selfnote.open_memory(home), now=now)
    assert sorted(one.id for one in found.segments["env"].entries) == ["f-d0", "f-d1", "f-hot"]


@pytest.mark.parametrize(("length", "inside"), [(114, "f-cold"), (115, "f-hot")])
def test_only_a_text_under_half_is_due(build, fact, home, now, length, inside):
    """DESIGN Env: only texts < budget//2 are due; one of exactly half waits for its heat, and is told why."""
    hot = fact("f-hot", "热" * 200, channel="env", hitCount=400, importance=3, lastHit="2026-02-28T00:00:00.000Z")
    build(facts=[fact("f-cold", "冷" * length, channel="env", importance=0), hot])
    segment = selfnote.assemble_injection(selfnote.open_memory(home), now=now).segments["env"]
    assert [one.id for one in segment.entries] == [inside]
    if inside == "f-hot":
        assert [one.reason for one in segment.squeezed] == ["longer than half the segment"]


def test_never_injected_goes_before_oldest_then_id(build, fact, home, now):
    """DESIGN Env: due order: never injected, then oldest lastHit, then id."""
    build(
        facts=[
            fact("f-4", "丁" * 55, channel="env", lastHit="2026-01-05T00:00:00.000Z", hitCount=9),
            fact("f-3", "丙" * 55, channel="env", lastHit="2026-01-04T00:00:00.000Z", hitCount=9),
            fact("f-2", "乙" * 55, channel="env", hitCount=0),
            fact("f-1", "甲" * 55, channel="env", hitCount=0),
            fact("f-hot", "热" * 170, channel="env", lastHit="2026-02-28T00:00:00.000Z", hitCount=400, importance=3),
        ]
    )
    order = []
    for hour in range(4):
        at = now + hour * HOUR
        selfnote.compose_injection(home, session="s", turn=hour, now=at)
        found = selfnote.assemble_injection(selfnote.open_memory(home), now=at)
        order.append(next(one.id for one in found.segments["env"].entries if one.id != "f-hot"))
    assert order == ["f-1", "f-2", "f-3", "f-4"]


def test_rotation_waits_for_the_hour(build, fact, home, now):
    """A-15, DESIGN Rotation: within the hour not one byte moves; at exactly an hour it turns."""
    build(facts=_fourteen(fact))
    first = selfnote.compose_injection(home, session="s", turn=0, now=now)
    for minute in (1, 30, 59):
        assert selfnote.compose_injection(home, session="s", turn=minute, now=now + timedelta(minutes=minute)) == first
    almost = now + timedelta(minutes=59, seconds=59, milliseconds=999)
    assert selfnote.compose_injection(home, session="s", turn="a", now=almost) == first
    assert selfnote.compose_injection(home, session="s", turn="b", now=now + HOUR) != first


def test_a_thousand_composes_in_a_day_change_only_at_recorded_causes(build, fact, home, now, ledger):
    """COMPLAINTS 23: composed 1,000x across a day with hits being recorded: a text per hour, each with its cause."""
    build(facts=_fourteen(fact), l0=["我"])
    texts = []
    for step in range(1000):
        text = selfnote.compose_injection(home, session="s", turn=step, now=now + step * timedelta(seconds=86.4))
        if not texts or texts[-1] != text:
            texts.append(text)
    changes = [line["cause"] for line in ledger() if line["cause"] is not None]
    assert len(changes) == len(texts) <= 25
    assert changes[0] == "start"
    assert set(changes[1:]) <= {"rotation", "date"}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_no_clock_counter_or_chance_is_printed(build, fact, home, now, language):
    """DESIGN The injected text: no clock, counter or random value is ever printed: another year, the same text."""
    build(l0=["我"], facts=[fact("f-1", "甲", channel="env"), fact("f-2", "乙")], config={"language": language})
    memory = selfnote.open_memory(home)
    first = selfnote.assemble_injection(memory, now=now).text
    path = home / "memory" / "facts.jsonl"
    for years in (1, 9):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for one in lines:
            one["hitCount"] = one.get("hitCount", 0) + 17
        path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), "utf-8")
        assert selfnote.assemble_injection(memory, now=now + timedelta(days=365 * years)).text == first
