"""Counting, turns, refill, locks, heartbeat and cache of compose_injection (DESIGN Rotation, Turn, Refill, Cache)."""

# ruff: noqa: PLR0917 - fixtures are asked for by name

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
import uuid
from datetime import timedelta
from pathlib import Path

import pytest

import selfnote
from selfnote.injection import compose as compose_module
from selfnote.injection.compose import forget_composers

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
ROOT = Path(__file__).resolve().parents[2]


def say(home, session="s", turn=None, *, at, **options):
    return selfnote.compose_injection(home, session=session, turn=turn, now=at, **options)


def env_of(text):
    line = next((one for one in text.split("\n") if one.startswith("本机事实：")), "")
    return line.removeprefix("本机事实：").split("；")


@pytest.fixture
def simple(build, fact):
    """A persona, a note and three facts."""
    return build(
        l0=["我是助手"],
        facts=[fact("f-1", "甲句"), fact("f-2", "乙机", channel="env"), fact("f-3", "丙签", tags=["t"])],
        config={"tz": "Asia/Shanghai"},
    )


@pytest.fixture
def crowded(build, fact):
    """Env facts of which two fit at a time."""
    return build(
        l0=["我"],
        facts=[fact(f"f-{index}", f"{index}" * 100, channel="env") for index in range(6)],
        config={"tz": "Asia/Shanghai"},
    )


# --- counting -------------------------------------------------------------------------------------
def test_hits_are_counted_once_an_hour_whatever_the_turns(simple, home, now, stored, ledger):
    """S2-101, S2-171, A-34: many turns and sessions within an hour are one hit; the next at exactly one hour."""
    for minute in range(0, 60, 5):
        say(home, f"s{minute % 3}", minute, at=now + minute * MINUTE)
    assert [one["hitCount"] for one in stored().values()] == [1, 1, 1]
    say(home, "s0", "late", at=now + HOUR - timedelta(milliseconds=1))
    assert [one["hitCount"] for one in stored().values()] == [1, 1, 1]
    say(home, "s0", "hour", at=now + HOUR)
    assert [one["hitCount"] for one in stored().values()] == [2, 2, 2]
    assert [one["lastHit"] for one in stored().values()] == ["2026-03-01T10:00:00.000Z"] * 3
    assert [line["cause"] for line in ledger()] == ["start"] * 3 + [None]
    assert [sorted(line["counted"]) for line in ledger()] == [["f-1", "f-2", "f-3"], [], [], ["f-1", "f-2", "f-3"]]


def test_only_what_entered_is_counted(crowded, home, now, stored, ledger):
    """S2-101, A-35: an entry that a doorplate only counts has no hit; the ledger records it as mentioned."""
    text = say(home, turn=1, at=now)
    inside = {identifier for identifier in stored() if identifier[2:] * 100 in text}
    assert {identifier for identifier, one in stored().items() if one.get("hitCount")} == inside
    (line,) = ledger()
    assert set(line["mentioned"]["env"]) == set(stored()) - inside
    assert {row[0] for row in line["squeezed"]["env"]} == set(stored()) - inside
    assert line["ids"]["env"] == sorted(inside)


def test_absorbed_facts_are_counted(build, fact, home, now, stored, ledger):
    """DESIGN Profile: an override's factIds are absorbed and counted as hits; the ledger line names them."""
    override = {"text": "短句", "factIds": ["f-1"], "basis": ""}
    build(facts=[fact("f-1", "回答要短", tags=["t"])], config={"profileOverride": override})
    say(home, turn=1, at=now)
    assert stored()["f-1"]["hitCount"] == 1
    (line,) = ledger()
    assert line["counted"] == ["f-1"]
    assert "f-1" in line["absorbed"]


def test_a_ledger_line_tells_the_whole_bill(simple, home, now, ledger, memory):
    """DESIGN Files, hits.jsonl: at, session, turn, cwd, digest, cause, chars, ids, squeezed, mentioned, counted."""
    say(home, "s", 7, at=now, cwd="/w/x")
    (line,) = ledger()
    found = selfnote.assemble_injection(memory, now=now)
    assert line["digest"] == found.digest
    assert line["chars"] == {name: one.used for name, one in found.segments.items()}
    assert line["ids"] == {
        name: [one.id for one in each.entries] for name, each in found.segments.items() if each.entries
    }
    assert (line["at"], line["session"], line["turn"], line["cwd"]) == ("2026-03-01T09:00:00.000Z", "s", 7, "/w/x")
    assert {"cause", "squeezed", "mentioned", "counted"} <= line.keys()


def test_a_basis_change_alone_keeps_since_and_counts_nothing(simple, home, now, stored, memory):
    """DESIGN Rotation: a basis change alone keeps `since` and counts nothing until the hour; S2-083."""
    say(home, turn=1, at=now)
    added = memory.facts.add("丁句", now=now)
    memory.facts.approve(added.id, now=now)
    assert "丁句" in say(home, turn=2, at=now + 10 * MINUTE)
    rotation = json.loads((home / "memory" / "rotation.json").read_text("utf-8"))
    assert rotation["since"] == "2026-03-01T09:00:00.000Z"
    assert stored()[added.id]["hitCount"] == 0
    say(home, turn=3, at=now + HOUR)
    assert stored()[added.id]["hitCount"] == 1


@pytest.mark.parametrize("since", ["2036-01-01T00:00:00.000Z", "2026-03-01T08:00:00.000Z", "not a time", None])
def test_a_since_in_the_future_or_unreadable_counts_as_passed(simple, home, now, stored, since):
    """DESIGN Rotation: a `since` later than now counts as passed."""
    say(home, turn=1, at=now - 2 * HOUR)
    path = home / "memory" / "rotation.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "since": since}), "utf-8")
    say(home, turn=2, at=now)
    assert {one["hitCount"] for one in stored().values()} == {2}
    assert json.loads(path.read_text("utf-8"))["since"] == "2026-03-01T09:00:00.000Z"


def test_a_lost_rotation_file_counts_nobody_twice_in_the_hour(simple, home, now, stored):
    """S2-171: repeated injection within one hour counts once, even when the kept choice is lost."""
    say(home, turn=1, at=now)
    (home / "memory" / "rotation.json").unlink()
    assert say(home, turn=2, at=now + 30 * MINUTE)
    assert {one["hitCount"] for one in stored().values()} == {1}


def test_a_future_last_hit_is_mended_by_a_real_hit(build, fact, home, now, stored):
    """A-12, COMPLAINTS 42: a lastHit from the future does not keep a fact from being counted."""
    build(facts=[fact("f-1", "甲", hitCount=4, lastHit="2036-01-01T00:00:00.000Z")])
    say(home, turn=1, at=now)
    assert (stored()["f-1"]["hitCount"], stored()["f-1"]["lastHit"]) == (5, "2026-03-01T09:00:00.000Z")


def test_looking_never_counts(simple, home, now, tree, memory):
    """S2-095, COMPLAINTS 17: assemble 100x, why_not, profile and assemble leave the whole tree byte for byte."""
    say(home, turn=1, at=now)
    before = tree()
    for step in range(100):
        at = now + step * HOUR
        selfnote.assemble_injection(memory, now=at)
        if step % 10 == 0:
            memory.assemble(now=at)
            memory.profile(now=at)
            for identifier in ("f-1", "f-2", "f-3", "l0:1"):
                memory.why_not(identifier, now=at)
            selfnote.assemble_injection(
                memory,
                now=at,
                refill=["f-2"],
                budgets=dict.fromkeys(("persona", "notes", "profile", "env", "conclusions", "habits"), 9),
            )
    assert tree() == before


def test_looking_at_an_untouched_home_makes_no_file(simple, home, now, tree, memory):
    """DESIGN Opening, Rotation: `assemble` chooses afresh, without writing."""
    before = tree()
    for step in range(5):
        selfnote.assemble_injection(memory, now=now + step * HOUR)
    assert tree() == before


def test_assemble_says_what_compose_gives(crowded, home, now):
    """UC-008: notebook and harness can never disagree: same text at the same instant, before and after the hour."""
    memory = selfnote.open_memory(home)
    for step in range(12):
        at = now + step * 20 * MINUTE
        text = say(home, turn=step, at=at)
        assert selfnote.assemble_injection(memory, now=at).text == text


def test_two_processes_at_once_count_once(simple, home, now, stored, ledger):
    """S2-171, DESIGN Rotation: choose, write, count is one act under the lock: real processes, one hit."""
    script = (
        "import sys, selfnote\n"
        "from datetime import datetime\n"
        "home, name, at = sys.argv[1:]\n"
        "selfnote.compose_injection\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "for step in range(20):\n"
        "    text = selfnote.compose_injection(home, session=name, turn=step, now=datetime.fromisoformat(at))\n"
        "print(len(text), flush=True)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(home), f"p{index}", now.isoformat()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env,
        )
        for index in range(4)
    ]  # fmt: skip
    for one in running:
        assert one.stdout.readline().strip() == "ready"
    for one in running:
        one.stdin.write("\n")
        one.stdin.flush()
    lengths = {one.communicate(timeout=60)[0].strip() for one in running}
    assert len(lengths) == 1
    assert {one["hitCount"] for one in stored().values()} == {1}
    counted = [line["counted"] for line in ledger() if line["counted"]]
    assert [sorted(one) for one in counted] == [["f-1", "f-2", "f-3"]]
    causes = {line["session"]: line["cause"] for line in ledger()}
    assert causes == {f"p{index}": "start" for index in range(4)}


# --- turn -----------------------------------------------------------------------------------------
def test_a_turn_holds_its_text_across_everything(crowded, home, now, memory, homes):
    """DESIGN Turn, S2-050: edits, midnight, rotation and refill show from the next turn of the session."""
    first = say(home, turn=1, at=now)
    (home / "selfnote" / "persona.md").write_text("# L0\n换了人格\n", "utf-8")
    memory.facts.retire("f-0", now=now)
    memory.config.save(header="新的头")
    selfnote.note_compaction("s", home=home)
    for later in (MINUTE, HOUR, timedelta(days=3)):
        assert say(home, turn=1, at=now + later) == first
    second = say(home, turn=2, at=now + timedelta(days=3))
    assert "换了人格" in second
    assert second.startswith("新的头")


def test_a_turn_holds_for_its_own_session_only(simple, home, now):
    """DESIGN Turn: the pair (session, turn); another session of the same turn number sees the edit."""
    first = say(home, "a", 1, at=now)
    (home / "selfnote" / "persona.md").write_text("# L0\n换了人格\n", "utf-8")
    assert "换了人格" in say(home, "b", 1, at=now)
    assert say(home, "a", 1, at=now) == first


def test_without_a_turn_or_a_session_nothing_is_held(simple, home, now):
    """DESIGN Turn: turn=None: no hold."""
    for options in ({"session": "s", "turn": None}, {"session": None, "turn": 1}, {"session": None, "turn": None}):
        marker = f"改 {options}"
        say(home, at=now, **options)
        (home / "selfnote" / "persona.md").write_text(f"# L0\n{marker}\n", "utf-8")
        assert marker in say(home, at=now, **options)


def test_the_last_fifty_sessions_hold_their_turn(simple, home, now):
    """DESIGN Turn: kept in the process, last 50 sessions."""
    texts = {index: say(home, f"s{index}", 1, at=now) for index in range(51)}
    (home / "selfnote" / "persona.md").write_text("# L0\n换了人格\n", "utf-8")
    for index in range(1, 51):
        assert say(home, f"s{index}", 1, at=now) == texts[index]
    assert "换了人格" in say(home, "s0", 1, at=now)


def test_an_off_turn_is_held_too(simple, home, now, memory):
    """DESIGN Turn: the first text of a turn is kept, also when it is empty."""
    memory.config.save(injection_enabled=False)
    assert say(home, turn=1, at=now) == ""
    memory.config.save(injection_enabled=True)
    assert say(home, turn=1, at=now) == ""
    assert say(home, turn=2, at=now)


@pytest.mark.parametrize("turn", [uuid.UUID(int=1), ("a", 1), object()], ids=["uuid", "tuple", "object"])
def test_any_turn_id_of_the_harness_is_taken(simple, home, now, stored, ledger, turn):
    """S2-014, DESIGN Names: turn may be anything; one that JSON cannot hold must not cost the text or the ledger line."""
    assert "我是助手" in say(home, turn=turn, at=now)
    counted = sum(1 for line in ledger() if "f-1" in line["counted"])
    assert stored()["f-1"].get("hitCount", 0) == counted == 1


# --- refill ---------------------------------------------------------------------------------------
def test_the_next_turn_gets_its_env_entries_back_once(crowded, home, now, ledger):
    """S2-211, S2-212, DESIGN Refill: next differing turn only, the whole turn, then cleared."""
    before = env_of(say(home, turn=1, at=now))[:-1]
    rotated = say(home, "t", 1, at=now + HOUR)
    assert env_of(rotated)[:-1] != before
    selfnote.note_compaction("s", home=home)
    assert env_of(say(home, turn=1, at=now + HOUR))[:-1] == before  # still turn 1: held
    again = say(home, turn=2, at=now + HOUR)
    assert env_of(again)[:-1] == before
    for later in (MINUTE, 90 * MINUTE):
        assert say(home, turn=2, at=now + HOUR + later) == again
    assert env_of(say(home, turn=3, at=now + HOUR + 2 * MINUTE)) == env_of(rotated)
    mine = [line for line in ledger() if line["session"] == "s"]
    assert [line["cause"] for line in mine] == ["start", "refill"]  # turn 2 had turn 1's text again: no change, no line


def test_refill_without_turns_is_one_call(crowded, home, now):
    """DESIGN Refill: turn=None: one call."""
    before = env_of(say(home, at=now))[:-1]
    other = env_of(say(home, "t", at=now + HOUR))[:-1]
    selfnote.note_compaction("s", home=home)
    assert env_of(say(home, at=now + HOUR))[:-1] == before
    assert env_of(say(home, at=now + HOUR))[:-1] == other


def test_a_refill_holds_its_whole_turn_in_a_new_process_too(crowded, home, now):
    """DESIGN Refill: once, for the whole first turn that differs: a restart within that turn changes nothing."""
    before = env_of(say(home, turn=1, at=now))[:-1]
    say(home, "t", 1, at=now + HOUR)
    selfnote.note_compaction("s", home=home)
    first = say(home, turn=2, at=now + HOUR)
    forget_composers()
    assert say(home, turn=2, at=now + HOUR + MINUTE) == first
    assert env_of(first)[:-1] == before
    forget_composers()
    assert env_of(say(home, turn=3, at=now + HOUR + MINUTE))[:-1] != before


def test_a_restart_within_the_composed_turn_is_not_the_refills_turn(crowded, home, now):
    """DESIGN Refill: the first turn that DIFFERS from the last composed one; the same turn in a new process is not it."""
    before = say(home, turn=1, at=now)
    say(home, "t", 1, at=now + HOUR)
    plain = env_of(say(home, "t", 2, at=now + HOUR))[:-1]
    selfnote.note_compaction("s", home=home)
    forget_composers()
    assert env_of(say(home, turn=1, at=now + HOUR))[:-1] == plain
    assert env_of(say(home, turn=2, at=now + HOUR))[:-1] == env_of(before)[:-1]


def test_a_failed_compaction_refills_nothing(crowded, home, now, tree):
    """S2-211 (not failed), COMPLAINTS 28."""
    say(home, turn=1, at=now)
    say(home, "t", 1, at=now + HOUR)
    before = tree()
    selfnote.note_compaction("s", home=home, failed=True)
    assert tree() == before
    assert env_of(say(home, turn=2, at=now + HOUR)) == env_of(say(home, "t", 2, at=now + HOUR))


def test_two_compactions_in_a_row_refill_once(crowded, home, now):
    """COMPLAINTS 28: two compactions in a row: one refill; a third after it gives it again."""
    before = env_of(say(home, turn=1, at=now))[:-1]
    plain = env_of(say(home, "t", 1, at=now + HOUR))[:-1]
    selfnote.note_compaction("s", home=home)
    selfnote.note_compaction("s", home=home)
    assert env_of(say(home, turn=2, at=now + HOUR))[:-1] == before
    assert env_of(say(home, turn=3, at=now + HOUR))[:-1] == plain
    selfnote.note_compaction("s", home=home)
    assert env_of(say(home, turn=4, at=now + HOUR))[:-1] == plain
    assert env_of(say(home, turn=5, at=now + HOUR))[:-1] == plain


def test_a_compaction_within_the_refilled_turn_refills_the_next(crowded, home, now):
    """DESIGN Refill: what a refill adds does not change the session's env list, so the next refill is the same."""
    before = env_of(say(home, turn=1, at=now))[:-1]
    plain = env_of(say(home, "t", 1, at=now + HOUR))[:-1]
    selfnote.note_compaction("s", home=home)
    assert env_of(say(home, turn=2, at=now + HOUR))[:-1] == before
    time.sleep(0.005)
    selfnote.note_compaction("s", home=home)
    assert env_of(say(home, turn=3, at=now + HOUR))[:-1] == before
    assert env_of(say(home, turn=4, at=now + HOUR))[:-1] == plain


def test_another_or_an_unknown_session_is_not_refilled(crowded, home, now, tree):
    """COMPLAINTS 28: compaction for another session changes nothing here; an unknown one is no error."""
    say(home, turn=1, at=now)
    plain = env_of(say(home, "t", 1, at=now + HOUR))
    selfnote.note_compaction("s", home=home)
    assert env_of(say(home, "t", 2, at=now + HOUR)) == plain
    before = tree()
    selfnote.note_compaction("nobody", home=home)
    assert tree() == before
    assert env_of(say(home, "nobody", 1, at=now + HOUR)) == plain


def test_what_a_refill_adds_is_never_counted(crowded, home, now, stored, ledger):
    """DESIGN Refill: never counted, even when the hour turns in the refilled call; the session's env list stays."""
    before = env_of(say(home, turn=1, at=now))[:-1]
    ids_before = {f"f-{one[0]}" for one in before}
    env_list = json.loads((home / "memory" / "sessions-injected.json").read_text("utf-8"))["s"]["env"]
    selfnote.note_compaction("s", home=home)
    say(home, turn=2, at=now + HOUR)
    line = ledger()[-1]
    chosen = set(json.loads((home / "memory" / "rotation.json").read_text("utf-8"))["ids"]["env"])
    assert set(line["counted"]) <= chosen
    assert not set(line["counted"]) & (ids_before - chosen)
    assert all(stored()[one]["hitCount"] == 1 for one in ids_before - chosen)
    assert json.loads((home / "memory" / "sessions-injected.json").read_text("utf-8"))["s"]["env"] == env_list


def test_a_refill_skips_what_was_retired_or_moved_since(crowded, home, now, memory):
    """DESIGN Refill: the env ids the session last got; a retired one is gone, never printed again."""
    before = env_of(say(home, turn=1, at=now))[:-1]
    memory.facts.retire(f"f-{before[0][0]}", now=now)
    selfnote.note_compaction("s", home=home)
    assert before[0] not in say(home, turn=2, at=now)


def test_a_refill_leaves_no_room_that_a_squeezed_fact_would_fit(build, fact, home, now):
    """DESIGN Env: refill first, then due, then hot into everything left; "no room" needs more than was left."""
    build(
        facts=[
            fact("f-a", "甲" * 100, channel="env"),
            fact("f-b", "乙" * 110, channel="env", lastHit="2026-02-01T00:00:00Z", hitCount=900),
            fact("f-c", "丙" * 118, channel="env", lastHit="2026-02-02T00:00:00Z", hitCount=900),
            fact("f-d", "丁" * 8, channel="env", lastHit="2026-02-28T00:00:00Z", importance=0, hitCount=1),
        ]
    )
    memory = selfnote.open_memory(home)
    for hour in range(6):
        at = now + hour * HOUR
        say(home, turn=hour, at=at)
        for refill in (["f-a"], ["f-b"], ["f-c"], ["f-d"], ["f-a", "f-b"]):
            found = selfnote.assemble_injection(memory, now=at, refill=refill)
            assert refill[0] in found.ids["env"]
            for one in found.segments["env"].squeezed:
                assert one.reason != "no room" or one.needs > one.left, (hour, refill, one.id, one.needs, one.left)


def test_refill_has_its_own_key_and_never_sticks(crowded, home, now):
    """S2-212: the refilled text never becomes the normal one, of this session or of another."""
    say(home, turn=1, at=now)
    plain = say(home, "t", 1, at=now + HOUR)
    selfnote.note_compaction("s", home=home)
    refilled = say(home, turn=2, at=now + HOUR)
    assert refilled != plain
    assert say(home, "t", 2, at=now + HOUR) == plain
    assert say(home, "u", 1, at=now + HOUR) == plain
    assert say(home, turn=3, at=now + HOUR) == plain


# --- the lock -------------------------------------------------------------------------------------
@pytest.fixture
def hold_lock(home):
    """Another, real process that holds the lock of memory/ until it is told to let go."""
    running = []

    def take():
        script = (
            "import sys; from filelock import FileLock; lock = FileLock(sys.argv[1]); lock.acquire(); "
            "print('held', flush=True); sys.stdin.readline(); lock.release(); print('free', flush=True)"
        )
        lock = home / "memory" / ".lock"
        lock.parent.mkdir(parents=True, exist_ok=True)
        one = subprocess.Popen(
            [sys.executable, "-c", script, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        running.append(one)
        assert one.stdout.readline().strip() == "held"

        def let_go():
            one.stdin.write("\n")
            one.stdin.flush()
            assert one.stdout.readline().strip() == "free"
            one.communicate(timeout=10)

        return let_go

    yield take
    for one in running:
        if one.poll() is None:
            one.kill()
            one.communicate()


def test_a_lock_held_by_another_process_costs_no_turn(simple, home, now, hold_lock, stored, ledger, caplog):
    """S2-165, DESIGN Rotation: text within well under a second, nothing counted, one log record, next compose tries again."""
    caplog.set_level(logging.INFO, logger="selfnote")
    let_go = hold_lock()
    for turn in range(3):
        started = time.perf_counter()
        text = say(home, turn=turn, at=now + turn * MINUTE)
        assert time.perf_counter() - started < 0.6
        assert "我是助手" in text
        assert "甲句" in text
    assert all(not one.get("hitCount") for one in stored().values())
    assert ledger() == []
    assert not (home / "memory" / "rotation.json").exists()
    assert len([one for one in caplog.records if one.name.startswith("selfnote")]) == 1
    let_go()
    say(home, turn=3, at=now + 3 * MINUTE)
    assert {one["hitCount"] for one in stored().values()} == {1}
    assert len(ledger()) == 1


def test_a_held_lock_gives_the_kept_choice_while_its_basis_matches(crowded, home, now, hold_lock, memory, stored):
    """DESIGN Rotation: lock not had: the kept choice while its basis matches, else a fresh one, unwritten."""
    first = say(home, turn=1, at=now)
    rotation = (home / "memory" / "rotation.json").read_bytes()
    let_go = hold_lock()
    assert say(home, turn=2, at=now + 2 * HOUR) == first
    path = home / "memory" / "facts.jsonl"
    path.write_text(path.read_text("utf-8").replace("0" * 100, "零" * 90), "utf-8")
    assert "零" * 90 in say(home, turn=3, at=now + 2 * HOUR)
    assert (home / "memory" / "rotation.json").read_bytes() == rotation
    let_go()
    assert say(home, turn=4, at=now + 2 * HOUR)
    assert (home / "memory" / "rotation.json").read_bytes() != rotation


def test_a_compaction_under_a_held_lock_is_not_forgotten(crowded, home, now, hold_lock):
    """DESIGN Refill, S2-014: never waits long, never raises; this process still gives the refill."""
    before = env_of(say(home, turn=1, at=now))[:-1]
    say(home, "t", 1, at=now + HOUR)
    let_go = hold_lock()
    started = time.perf_counter()
    selfnote.note_compaction("s", home=home)
    assert time.perf_counter() - started < 0.6
    let_go()
    assert env_of(say(home, turn=2, at=now + HOUR))[:-1] == before
    assert env_of(say(home, turn=3, at=now + HOUR))[:-1] != before


# --- nothing written ------------------------------------------------------------------------------
def test_delegated_and_off_write_nothing(simple, home, now, tree, memory):
    """S2-224, DESIGN The injected text: delegated or off: nothing is written, the text is ""."""
    before = tree()
    assert say(home, turn=1, at=now, delegated=True) == ""
    assert tree() == before
    memory.config.save(injection_enabled=False)
    before = tree()
    for turn in range(3):
        assert say(home, turn=turn + 2, at=now + turn * HOUR) == ""
    assert tree() == before


def test_a_delegated_call_neither_reads_nor_holds_the_sessions_turn(simple, home, now):
    """S2-224: a sub-agent gets nothing even in a turn that is held, and leaves the turn as it was."""
    first = say(home, turn=1, at=now)
    assert say(home, turn=1, at=now, delegated=True) == ""
    assert say(home, turn=1, at=now) == first


def test_empty_writes_the_heartbeat_only(build, home, now, tree):
    """DESIGN The injected text: empty: heartbeat only."""
    build(config={"header": "只有头"})
    before = tree()
    assert say(home, turn=1, at=now) == ""
    after = tree()
    assert set(after) - set(before) == {"memory/heartbeat.json"}
    assert {name: after[name][0] for name in before} == {name: before[name][0] for name in before}


def test_a_missing_home_gives_nothing_and_no_error(home, now, caplog):
    """S2-014: no memory is no error, and no complaint every turn."""
    assert say(home, turn=1, at=now) == ""
    selfnote.note_compaction("s", home=home)
    assert not (home / "selfnote").exists()
    assert not [one for one in caplog.records if one.levelno >= logging.WARNING]


# --- heartbeat ------------------------------------------------------------------------------------
def test_heartbeat_is_merged_within_a_minute_and_loses_no_count(simple, home, now):
    """S2-228: time and count only, written at most once a minute."""
    path = home / "memory" / "heartbeat.json"
    say(home, turn=0, at=now)
    assert json.loads(path.read_text("utf-8")) == {"at": "2026-03-01T09:00:00.000Z", "count": 1}
    stat = path.stat()
    for second in (1, 30, 59):
        say(home, turn=second, at=now + timedelta(seconds=second))
    assert path.stat().st_mtime_ns == stat.st_mtime_ns
    say(home, turn=60, at=now + MINUTE)
    assert json.loads(path.read_text("utf-8")) == {"at": "2026-03-01T09:01:00.000Z", "count": 5}
    forget_composers()
    say(home, turn=61, at=now + MINUTE + timedelta(seconds=10))
    assert json.loads(path.read_text("utf-8"))["at"] == "2026-03-01T09:01:00.000Z"


# --- cache ----------------------------------------------------------------------------------------
@pytest.fixture
def assembled(monkeypatch):
    """How often the text was computed."""
    calls = []
    real = compose_module.assemble

    def spy(*args, **options):
        calls.append(args)
        return real(*args, **options)

    monkeypatch.setattr(compose_module, "assemble", spy)
    return calls


def test_an_unchanged_memory_is_not_computed_again(simple, home, now, assembled):
    """S2-214, DESIGN Cache: unchanged and less than an hour since `since`: the same string object."""
    first = say(home, turn=0, at=now)
    computed = len(assembled)
    for turn in range(1, 50):
        assert say(home, turn=turn, at=now + turn * MINUTE) is first
    assert len(assembled) == computed
    say(home, turn=99, at=now + HOUR)
    assert len(assembled) > computed


@pytest.mark.parametrize(
    "name",
    ["selfnote/persona.md", "selfnote/notes.md", "memory/facts.jsonl", "memory/habits.jsonl", "selfnote/config.json"],
)
def test_each_file_of_the_key_is_noticed(simple, home, now, name, fact):
    """DESIGN Cache: the six files are the key; S2-137, S2-124: an external edit takes effect in the next turn."""
    say(home, turn=0, at=now)
    path = home / name
    old = path.read_text("utf-8") if path.exists() else ""
    path.write_text(
        {
            "selfnote/persona.md": "# L0\n新标记\n",
            "selfnote/notes.md": "- 2026-02-20 [稳定] 新标记\n",
            "memory/facts.jsonl": old + json.dumps(fact("f-9", "新标记"), ensure_ascii=False) + "\n",
            "memory/habits.jsonl": '{"id":"h-1","text":"新标记","factIds":["f-1"]}\n',
            "selfnote/config.json": '{"header": "新标记", "tz": "Asia/Shanghai"}',
        }[name],
        "utf-8",
    )
    assert "新标记" in say(home, turn=1, at=now)


def test_two_edits_in_one_tick_of_the_clock_with_another_size_are_seen(simple, home, now):
    """S2-215: size is in the key because two edits in one millisecond may leave mtime unchanged."""
    path = home / "selfnote" / "notes.md"
    path.write_text("- 2026-02-20 [稳定] 第一版\n", "utf-8")
    stat = path.stat()
    assert "第一版" in say(home, turn=0, at=now)
    with path.open("r+b") as stream:
        stream.write("- 2026-02-20 [稳定] 第二版更长\n".encode())
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_mtime_ns == stat.st_mtime_ns
    assert path.stat().st_ino == stat.st_ino
    assert "第二版更长" in say(home, turn=1, at=now)


def test_a_replaced_file_of_equal_size_and_time_is_seen_by_its_inode(simple, home, now):
    """DESIGN Cache: (mtime_ns, size, inode)."""
    path = home / "selfnote" / "notes.md"
    path.write_text("- 2026-02-20 [稳定] 甲版\n", "utf-8")
    stat = path.stat()
    assert "甲版" in say(home, turn=0, at=now)
    other = path.with_name("other.md")
    other.write_text("- 2026-02-20 [稳定] 乙版\n", "utf-8")
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    other.replace(path)
    assert "乙版" in say(home, turn=1, at=now)


def test_the_owners_midnight_is_part_of_the_key(build, homes, home, now):
    """DESIGN Cache: owner's local date: a temp note leaves at local midnight within the same hour of `since`."""
    from datetime import UTC, date, datetime

    build(l0=["我"], notes=[homes.Note("临时的", "temp", on=date(2026, 2, 14))], config={"tz": "Asia/Shanghai"})
    midnight = datetime(2026, 2, 28, 16, 0, tzinfo=UTC)
    assert "临时的" in say(home, turn=0, at=midnight - timedelta(minutes=10))
    assert "临时的" in say(home, turn=1, at=midnight - timedelta(milliseconds=1))
    assert "临时的" not in say(home, turn=2, at=midnight)


@pytest.mark.parametrize(
    "name", ["selfnote/persona.md", "selfnote/notes.md", "memory/facts.jsonl", "selfnote/config.json"]
)
def test_an_edit_while_the_hit_is_being_counted_shows_in_the_next_turn(simple, home, now, monkeypatch, name, fact):
    """DESIGN Files, S2-050: the owner's files may change between any two of our reads; the edit is in the next turn."""
    path = home / name
    real = compose_module.append_hit

    def edit_meanwhile(*args, **options):
        old = path.read_text("utf-8") if path.exists() else ""
        path.write_text(
            {
                "selfnote/persona.md": "# L0\n新标记\n",
                "selfnote/notes.md": "- 2026-02-20 [稳定] 新标记\n",
                "memory/facts.jsonl": old + json.dumps(fact("f-9", "新标记"), ensure_ascii=False) + "\n",
                "selfnote/config.json": '{"header": "新标记", "tz": "Asia/Shanghai"}',
            }[name],
            "utf-8",
        )
        return real(*args, **options)

    monkeypatch.setattr(compose_module, "append_hit", edit_meanwhile)
    say(home, turn=0, at=now)
    monkeypatch.setattr(compose_module, "append_hit", real)
    assert "新标记" in say(home, turn=1, at=now + MINUTE)


# --- causes ---------------------------------------------------------------------------------------
def test_each_kind_of_change_has_its_cause(build, homes, fact, home, memory, ledger):
    """DESIGN Causes: edit, config, date, rotation, start; null for a count without a change."""
    from datetime import UTC, date, datetime

    build(
        l0=["我"],
        notes=[homes.Note("临时的", "temp", on=date(2026, 2, 14))],
        facts=[fact(f"f-{index}", f"{index}" * 100, channel="env") for index in range(6)],
        config={"tz": "Asia/Shanghai"},
    )
    midnight = datetime(2026, 2, 28, 16, 0, tzinfo=UTC)
    at = midnight - timedelta(minutes=30)
    say(home, turn=0, at=at)
    (home / "selfnote" / "persona.md").write_text("# L0\n我们\n", "utf-8")
    say(home, turn=1, at=at)
    memory.config.save(header="另一个头")
    say(home, turn=2, at=at)
    say(home, turn=3, at=midnight)
    say(home, turn=4, at=at + HOUR)
    assert [line["cause"] for line in ledger()] == ["start", "edit", "config", "date", "rotation"]


def test_an_edit_comes_before_a_config_change_in_the_same_turn(simple, home, now, memory, ledger):
    """DESIGN Causes: where several differ the first of edit, config, refill, date, rotation is recorded."""
    say(home, turn=0, at=now)
    memory.config.save(header="头")
    (home / "selfnote" / "persona.md").write_text("# L0\n我们\n", "utf-8")
    say(home, turn=1, at=now + timedelta(days=1))
    assert [line["cause"] for line in ledger()] == ["start", "edit"]


def test_a_changed_time_zone_is_a_config_change(build, homes, home, ledger):
    """DESIGN Causes: config comes before date: the owner changed the zone, the note expired through it."""
    from datetime import UTC, date, datetime

    build(l0=["我"], notes=[homes.Note("临时的", "temp", on=date(2026, 2, 14))], config={"tz": "Asia/Shanghai"})
    at = datetime(2026, 2, 28, 15, 30, tzinfo=UTC)
    assert "临时的" in say(home, turn=0, at=at)
    (home / "selfnote" / "config.json").write_text('{"tz": "Pacific/Kiritimati"}\n', "utf-8")
    assert "临时的" not in say(home, turn=1, at=at)
    assert [line["cause"] for line in ledger()] == ["start", "config"]


def test_a_change_without_effect_on_the_text_has_no_line(simple, home, now, memory, ledger):
    """DESIGN Causes: there is no cause without a change: a candidate, a comment in notes.md, an unused setting."""
    say(home, turn=0, at=now)
    memory.facts.add("等着的候选", now=now)
    (home / "selfnote" / "notes.md").write_text("# 标题\n\n随手写的一行\n", "utf-8")
    memory.config.save(silent_days=40)
    say(home, turn=1, at=now + MINUTE)
    assert [line["cause"] for line in ledger()] == ["start"]


def test_the_ledger_rolls_by_the_month_and_loses_no_line(simple, home, now, ledger):
    """DESIGN Files: rolled monthly to memory/archive/."""
    for month in range(3):
        say(home, turn=month, at=now + timedelta(days=31 * month))
    assert len(ledger()) == 3
    names = sorted(path.name for path in (home / "memory" / "archive").iterdir())
    assert names == ["hits-2026-03.jsonl", "hits-2026-04.jsonl"]


# --- broken and hostile disks ---------------------------------------------------------------------
def test_memory_being_a_file_costs_the_facts_only(build, home, now, caplog):
    """S2-014: home/memory is a file: persona and notes still speak; each complaint is logged once."""
    caplog.set_level(logging.INFO, logger="selfnote")
    build(l0=["我是助手"])
    (home / "memory").rmdir()
    (home / "memory").write_text("oops", "utf-8")
    assert "我是助手" in say(home, turn=0, at=now)
    logged = len(caplog.records)
    assert logged >= 1
    for turn in range(1, 5):
        assert "我是助手" in say(home, turn=turn, at=now + turn * 2 * MINUTE)
    assert len(caplog.records) == logged
    selfnote.note_compaction("s", home=home)
    assert (home / "memory").read_text("utf-8") == "oops"


@pytest.mark.parametrize(
    "name",
    [
        "memory/facts.jsonl",
        "memory/habits.jsonl",
        "selfnote/notes.md",
        "selfnote/config.json",
        "memory/rotation.json",
        "memory/sessions-injected.json",
        "memory/heartbeat.json",
        "memory/hits.jsonl",
    ],
)
def test_a_folder_in_a_files_place_costs_that_file_only(simple, home, now, caplog, name):
    """S2-014: what cannot be read counts as empty, the rest still speaks; logged once, not every turn."""
    caplog.set_level(logging.INFO, logger="selfnote")
    path = home / name
    path.unlink(missing_ok=True)
    path.mkdir()
    assert "我是助手" in say(home, turn=0, at=now)
    say(home, turn=1, at=now + 2 * MINUTE)
    logged = len(caplog.records)
    assert logged >= 1
    for turn in range(2, 6):
        text = say(home, turn=turn, at=now + turn * 2 * MINUTE)
        assert "我是助手" in text
        assert ("甲句" in text) == (name != "memory/facts.jsonl")
    assert len(caplog.records) == logged


BROKEN = {
    "bad json": b"{nope",
    "a list": b"[1, 2]",
    "a number": b"7",
    "invalid utf-8": b'{"header": "\xff\xfe"}\n\xff\xfe\n',
    "NUL": b"\x00\x00\x00",
    "deep": b"[" * 100_000,
    "bom only": b"\xef\xbb\xbf",
    "lone surrogate": b'{"header": "\\ud83d", "id": "f-9", "text": "\\ud83d", "status": "approved"}\n',
    "huge number": b'{"header": 1e999, "tempTtlDays": ' + b"9" * 400 + b"}",
    "snake case out of range": b'{"half_life_days": 100000, "halfLifeDays": 100000, "temp_ttl_days": -5}',
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize(
    "name",
    [
        "selfnote/config.json",
        "memory/facts.jsonl",
        "memory/habits.jsonl",
        "memory/rotation.json",
        "memory/sessions-injected.json",
        "memory/heartbeat.json",
    ],
)
def test_a_broken_file_costs_itself_only(simple, home, now, name, kind):
    """S2-014, S2-166, COMPLAINTS 10: a file nobody can read never takes the persona down with it."""
    (home / name).write_bytes(BROKEN[kind])
    for turn in range(2):
        text = say(home, turn=turn, at=now + turn * 2 * HOUR)
        assert "我是助手" in text
        assert ("甲句" in text) == (name != "memory/facts.jsonl")


@pytest.mark.parametrize(
    "line",
    [
        b"}{",
        b'{"id":"f-8","text":"half',
        b"\x00\x00\x00",
        b"\xff\xfe",
        b'{"id":"f-8","text":"x","status":"approved","hitCount":' + b"9" * 400 + b"}",
        b'{"id":"f-8","text":"x","status":"approved","hitCount":-3,"importance":NaN,"tags":7,"similarTo":{},"history":5}',
        b'{"id":"f-8","text":"x","status":"approved","importance":1e999}',
        b'{"id":"f-8","text":"x","status":"approved","approvedAt":"0001-01-01T00:00:00","lastHit":"9999-12-31T23:59:59"}',
        b'{"id":"f-8","text":"x","status":"approved","approvedAt":"0001-01-01T00:00:00+14:00","createdAt":"9999-12-31T23:59:59-14:00"}',
        b'{"id":"f-8","text":"x","status":"approved","approvedAt":1e300,"createdAt":-1e300}',
        b'{"id":"f-8","text":"x","status":"approved","similarTo":["f-1",7,{"id":"f-1","kind":"odd"},{"kind":"conflict"}]}',
        b'{"id":"f-1","text":"\xe5\x86\x92\xe5\x85\x85","status":"approved"}',
        b"[" * 50_000,
    ],
)
def test_one_bad_line_of_facts_takes_nobody_down(simple, home, now, line, stored):
    """COMPLAINTS 10, 43, S2-166: other rows load, compose, and count."""
    with (home / "memory" / "facts.jsonl").open("ab") as stream:
        stream.write(line + b"\n")
    text = say(home, turn=0, at=now)
    for wanted in ("我是助手", "甲句", "乙机", "丙签"):
        assert wanted in text
    assert "冒充" not in text
    first = (home / "memory" / "facts.jsonl").read_bytes().split(b"\n")
    assert json.loads(first[0])["hitCount"] == 1
    assert line in first or b'"f-8"' in line


@pytest.mark.parametrize(
    "states",
    [
        {"s": {"env": ["f-2"], "digest": "", "parts": {}, "refill": {"ids": ["f-2"]}}},
        {"s": {"env": ["f-2"], "refill": {"at": "x", "ids": [{"a": 1}, ["b"], None, 7]}}},
        {"s": {"env": 7, "digest": None, "parts": [], "refill": "x"}},
        {"s": {"env": [None, {"a": 1}], "parts": {"persona": 7}, "refill": {"ids": [], "at": None, "turn": {}}}},
        {"s": None, "t": 5},
    ],
)
def test_a_half_broken_sessions_file_costs_no_text(simple, home, now, states, ledger):
    """S2-014: sessions-injected.json of other hands: the text is returned and recorded."""
    (home / "memory" / "sessions-injected.json").write_text(json.dumps(states), "utf-8")
    for turn in range(3):
        text = say(home, turn=turn, at=now + turn * MINUTE)
        assert "我是助手" in text
        assert "甲句" in text
    assert len(ledger()) >= 1


def test_a_file_over_its_cap_costs_itself_only(simple, home, now, monkeypatch):
    """DESIGN Files: caps: our files 256 MB: an over-cap file is not read, the rest still speaks."""
    import functools

    from selfnote.storage import lines

    real = lines.read_file
    monkeypatch.setattr(lines, "read_file", functools.partial(real, cap=300))
    with (home / "memory" / "facts.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(" " * 400 + "\n")
    text = say(home, turn=0, at=now)
    assert "我是助手" in text
    assert "甲句" not in text


def test_a_line_over_its_cap_costs_itself_only(simple, home, now, fact):
    """DESIGN Files: 1 MB a line: kept, reported, not injected."""
    with (home / "memory" / "facts.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(fact("f-big", "巨", detail="x" * 1024 * 1024), ensure_ascii=False) + "\n")
        stream.write(json.dumps(fact("f-9", "末句"), ensure_ascii=False) + "\n")
    text = say(home, turn=0, at=now)
    assert "巨" not in text
    assert "末句" in text


def test_crlf_and_bom_never_reach_the_text(homes, home, now, fact):
    """COMPLAINTS 6, 8: CRLF and BOM files read the same and print none of it."""
    spec = homes.Spec(
        l0=["我是助手"],
        l1=["规则"],
        notes=[homes.Note("一条"), homes.Note("核", "core")],
        facts=[fact("f-1", "甲句")],
        config={"header": "头"},
    )
    homes.write(spec, home)
    plain = say(home, turn=0, at=now)
    for path in (home / "selfnote").glob("*"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    path = home / "memory" / "facts.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert say(home, turn=1, at=now) == plain
    assert "\ufeff" not in plain
    assert "\r" not in plain
