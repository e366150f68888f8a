"""Curves are the heat that was, projections are the text that would be, what-ifs are what the composer would choose."""

from __future__ import annotations

import json
import math
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import selfnote
from selfnote.audit import decay
from selfnote.demo import DEMO_NOW
from selfnote.errors import LimitExceeded, NotFound
from selfnote.injection.compose import forget_composers
from selfnote.records.heat import heat

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MILLISECOND = timedelta(milliseconds=1)


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch):
    """Simulated weeks wait for no disk."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return selfnote.open_memory(selfnote.demo_home(tmp_path_factory.mktemp("demo") / ".dsh"), tz="Asia/Shanghai")


def write_facts(home: Path, *facts: dict[str, Any]) -> None:
    path = home / "memory" / "facts.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = {"status": "approved", "createdAt": "2026-01-01T00:00:00.000Z", "approvedAt": "2026-01-01T00:00:00.000Z"}
    lines = [json.dumps({"text": f"事实 {one['id']}", **plain, **one}, ensure_ascii=False) for one in facts]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def rows_at(frame, identifier, at):
    return frame[(frame["id"] == identifier) & (frame["at"] == pd.Timestamp(at))]


def approve(memory, text, at, **values):
    return memory.facts.approve(memory.facts.stage(text, source="owner:test", now=at, **values), now=at)


def words(number, length):
    """A sentence of its own: unlike every other one, so that nothing is linked."""
    return "".join(chr(0x4E00 + (number * 997 + place * (31 + number)) % 9000) for place in range(length))


def entries(injection):
    return {one.id for segment in injection.segments.values() for one in segment.entries} | set(injection.absorbed)


def busy_weeks(home, memory):
    """Two weeks of turns, a change of importance and a retirement among them; the heat of each fact at each moment."""
    for number in range(14):
        channel = "env" if number % 2 else "rel"
        approve(memory, words(number, 30 + number), NOW + number * HOUR, channel=channel)
    first = memory.facts.approved()[0].id
    seen: list[tuple[str, datetime, float, float]] = []
    for turn in range(40):
        at = NOW + 2 * DAY + turn * timedelta(hours=7, minutes=13)
        if turn == 20:
            memory.facts.set_importance(first, 3.0, now=at - HOUR)
        before = {fact.id: heat(fact, at, 30.0) for fact in memory.facts.approved()}
        selfnote.compose_injection(home, session="s", turn=turn, now=at)
        seen += [(fact.id, at, before[fact.id], heat(fact, at, 30.0)) for fact in memory.facts.approved()]
    return first, seen, at


def test_the_curve_is_the_heat_that_was_before_and_after_every_hit(home, memory):
    """S2-168, UC-003: recorded at each turn of two simulated weeks, found again from the ledger and the history alone."""
    first, seen, last = busy_weeks(home, memory)
    frame = decay.curves(memory, now=last + DAY, since_days=20, until_days=0)
    assert set(frame["origin"]) == {"ledger"}
    steps = 0
    for identifier, at, before, after in seen:
        rows = rows_at(frame, identifier, at)
        if before == after:
            assert not rows["hit"].any()
            continue
        assert list(rows["hit"]) == [False, True]
        assert rows["heat"].tolist() == pytest.approx([before, after], rel=1e-12)
        steps += 1
    assert steps == frame["hit"].sum() > 200
    values = frame[frame["id"] == first].set_index("at")["importance"]
    assert set(values[:"2026-03-08"]) == {1.0}
    assert values.iloc[-1] == 3.0


def test_the_curve_ends_now_in_the_heat_the_frame_of_heat_shows(demo):
    """S2-168: three months of the demo memory, 83 facts."""
    frame = decay.curves(demo, now=DEMO_NOW, until_days=30)
    now = frame[frame["at"] == pd.Timestamp(DEMO_NOW)].set_index("id")["heat"]
    shown = demo.frames.heat(DEMO_NOW).query("status == 'approved'").set_index("id")["heat"]
    assert len(now) == len(shown) == 83
    assert (now - shown).abs().max() < 1e-9
    facts = {fact.id: fact for fact in demo.facts.approved()}
    ahead = frame[frame["origin"] == "projection"]
    assert len(ahead) == 83 * 30
    for row in ahead.sample(200, random_state=1).itertuples():
        assert row.heat == pytest.approx(heat(facts[row.id], row.at.to_pydatetime(), 30.0), rel=1e-9)


def test_the_demo_curve_can_be_recomputed_from_the_ledger_by_hand(demo):
    """UC-003: the number of hits at a past instant is what the ledger counted by then."""
    identifier, at = "f-702b9144730b", datetime(2026, 10, 1, 2, 0, tzinfo=UTC)
    hits = []
    for path in [*sorted((demo.home.root / "memory" / "archive").glob("hits-*.jsonl")), demo.home.hits]:
        for line in map(json.loads, path.read_text("utf-8").splitlines()):
            moment = datetime.fromisoformat(line["at"])
            if identifier in line["counted"] and moment <= at:
                hits.append(moment)
    idle = (at - max(hits)).total_seconds() / 86400
    expected = (1 + math.log(1 + len(hits))) * 0.5 ** (idle / 30) * 1.5
    frame = decay.curves(demo, now=DEMO_NOW, ids=[identifier])
    row = rows_at(frame, identifier, at).iloc[0]
    assert row["hits"] == len(hits) > 50
    assert row["heat"] == pytest.approx(expected, rel=1e-9)


def test_hits_without_a_ledger_leave_the_past_unknown_and_say_so(home, memory):
    """UC-002, COMPLAINTS 42: a counter tells how often, not when; nothing is invented for the time before."""
    write_facts(
        home,
        {"id": "f-many", "hitCount": 9, "lastHit": "2026-02-20T00:00:00.000Z"},
        {"id": "f-one", "hitCount": 1, "lastHit": "2026-02-20T00:00:00.000Z"},
        {"id": "f-none"},
        {"id": "f-when", "hitCount": 4},
        {"id": "f-ahead", "hitCount": 2, "lastHit": "2026-03-20T00:00:00.000Z"},
    )
    frame = decay.curves(memory, now=NOW, since_days=30, until_days=30)
    past = frame[frame["at"] <= pd.Timestamp(NOW)]
    known = {one: list(rows["heat"].notna()) for one, rows in past.groupby("id")}
    last_hit = pd.Timestamp("2026-02-20", tz="UTC")
    many = past[past["id"] == "f-many"]
    assert list(many["heat"].notna()) == [at > last_hit or hit for at, hit in zip(many["at"], many["hit"], strict=True)]
    assert set(many["origin"]) == {"unknown", "counter"}
    assert all(known["f-one"])
    assert list(past[past["id"] == "f-one"].drop_duplicates("hits")["hits"]) == [0, 1]
    assert all(known["f-none"])
    assert known["f-when"] == [False] * 30 + [True]
    assert known["f-ahead"] == [False] * 30 + [True]
    assert set(frame[frame["id"] == "f-ahead"]["flag"]) == {"lastHit is in the future"}
    for identifier in ("f-ahead", "f-many"):
        fact = memory.facts.get(identifier)
        for row in frame[(frame["id"] == identifier) & (frame["at"] >= pd.Timestamp(NOW))].itertuples():
            assert row.heat == pytest.approx(heat(fact, row.at.to_pydatetime(), 30.0), rel=1e-9)


def test_hits_older_than_the_ledger_are_counted_before_its_first(home, memory):
    """A home another program wrote, then ours: the counter stays right at every instant of the ledger."""
    write_facts(home, {"id": "f-a", "hitCount": 100, "lastHit": "2026-02-01T00:00:00.000Z"})
    turns = [NOW + number * DAY for number in range(3)]
    for number, at in enumerate(turns):
        selfnote.compose_injection(home, session="s", turn=number, now=at)
    frame = decay.curves(memory, now=turns[-1] + HOUR, since_days=40, until_days=0, ids="f-a")
    assert list(frame[frame["hit"]]["hits"]) == [101, 102, 103]
    assert set(frame[frame["at"] < pd.Timestamp(NOW)]["origin"]) == {"unknown"}
    assert set(frame[frame["at"] > pd.Timestamp(NOW)]["origin"]) == {"counter"}


def test_groups_add_up_to_their_facts(demo):
    """COMPLAINTS 45: every kind of group is the sum and the median of its approved facts."""
    each = decay.curves(demo, now=DEMO_NOW, until_days=5, since_days=40)
    grid = each[~each["hit"] & each["approved"]].drop_duplicates(["id", "at"], keep="last")
    channel = demo.frames.facts(DEMO_NOW).set_index("id")["channel"]
    for group, frame in decay.curves(demo, now=DEMO_NOW, until_days=5, since_days=40, by="channel").groupby("group"):
        assert len(frame) == 46
        for row in frame.itertuples():
            heats = grid[(grid["at"] == row.at) & (grid["id"].map(channel) == group)]["heat"]
            assert row.n == len(heats)
            assert row.unknown == 0
            assert row.total == pytest.approx(heats.sum(), rel=1e-9)
            assert row.median == pytest.approx(heats.median(), rel=1e-9)
    shown = demo.assemble(now=DEMO_NOW)
    by_segment = decay.curves(demo, now=DEMO_NOW, until_days=0, since_days=0, by="segment").set_index("group")["n"]
    expected = {name: len(shown.segments[name].entries) for name in ("profile", "env", "conclusions")}
    assert by_segment.to_dict() == {**expected, "out": 83 - sum(expected.values())}
    tags = decay.curves(demo, now=DEMO_NOW, until_days=0, since_days=0, by="tag")
    assert tags["n"].sum() == 83


def test_a_group_without_a_name_is_null_not_lost(home, memory):
    write_facts(home, {"id": "f-a", "tags": ["甲"]}, {"id": "f-b"})
    frame = decay.curves(memory, now=NOW, until_days=0, since_days=0, by="tag")
    assert frame["group"].isna().sum() == 1
    assert frame["n"].sum() == 2


def test_curves_refuse_what_they_cannot_look_at(home, memory):
    with pytest.raises(NotFound, match="f-nobody"):
        decay.curves(memory, now=NOW, ids=["f-nobody"])
    with pytest.raises(NotFound, match="tag, channel, segment"):
        decay.curves(memory, now=NOW, by="mood")
    for bad in ({"until_days": -1}, {"since_days": math.nan}, {"step_days": 0}):
        with pytest.raises(LimitExceeded, match=next(iter(bad))):
            decay.curves(memory, now=NOW, **bad)
    with pytest.raises(ValueError, match="no time zone"):
        decay.curves(memory, now=NOW.replace(tzinfo=None))


# --- who leaves ---------------------------------------------------------------------------------------
def crowded(memory):
    """More than fits in every segment, and temporary notes of several ages."""
    for number in range(24):
        channel = "env" if number % 3 else "rel"
        tags = ["标签"] if number % 6 == 0 else []
        approve(memory, words(number, 15 + number), NOW - DAY + number * HOUR, channel=channel, tags=tags)
    for number in range(8):
        on = (NOW - timedelta(days=number * 2)).date()
        memory.notes.add(f"临时 {number} {'事' * 25}", tier="temp", on=on)


def test_continued_is_what_the_real_composer_does_turn_by_turn(home, memory):
    """UC-003: entering, leaving, returning and share against forty real turns on the same home."""
    crowded(memory)
    selfnote.compose_injection(home, session="s", turn=0, now=NOW)
    now, until = NOW + timedelta(minutes=30), NOW + timedelta(days=10, minutes=30)
    frame = decay.leaving(memory, now=now, until_days=10, per_day=4).query("scenario == 'continued'").set_index("id")
    assert set(frame["per_day"]) == {4.0}
    texts = [(now, entries(memory.assemble(now=now)))]
    at = NOW + HOUR
    while at <= until:
        selfnote.compose_injection(home, session="s", turn=str(at), now=at)
        texts.append((at, entries(memory.assemble(now=at))))
        at += timedelta(hours=6)
    assert len(texts) == 41
    for identifier in set().union(*(inside for _, inside in texts)):
        there = [identifier in inside for _, inside in texts]
        start = there.index(True)
        out = next((place for place in range(start, 41) if not there[place]), None)
        back = next((place for place in range(out, 41) if there[place]), None) if out is not None else None
        row = frame.loc[identifier]
        assert row["inside_now"] == there[0]
        for column, place in (("enters_at", start or None), ("leaves_at", out), ("returns_at", back)):
            expected = pd.NaT if place is None else pd.Timestamp(texts[place][0])
            assert row[column] == expected or (pd.isna(row[column]) and pd.isna(expected)), (identifier, column)
        ends = [*(moment for moment, _ in texts[1:]), until]
        seconds = sum((ends[place] - texts[place][0]).total_seconds() for place in range(41) if there[place])
        assert row["share"] == pytest.approx(seconds / (until - now).total_seconds())
    assert set(frame.index) == set().union(*(inside for _, inside in texts))
    assert frame["leaves_at"].notna().sum() > 5


def test_in_the_continued_scenario_profile_and_conclusions_stay_as_they_are(demo):
    """S2-169, S2-174: who is inside gets hotter, who is outside cools; only env goes round and notes expire."""
    frame = decay.leaving(demo, now=DEMO_NOW, until_days=30).query("scenario == 'continued'")
    gone = frame[frame["leaves_at"].notna()]
    assert set(gone["segment"]) == {"env", "notes"}
    assert set(gone[gone["segment"] == "notes"]["reason"]) == {"expired"}
    assert set(frame[frame["segment"].isin(["profile", "conclusions"])]["share"]) == {1.0}


def test_idle_is_what_the_first_turn_after_the_silence_gets(home, memory):
    """UC-003: each instant against a real turn on a copy of the home as it is now."""
    crowded(memory)
    selfnote.compose_injection(home, session="s", turn=0, now=NOW)
    selfnote.compose_injection(home, session="s", turn=1, now=NOW + 5 * HOUR)
    now = NOW + 5 * HOUR + timedelta(minutes=10)
    frame = decay.leaving(memory, now=now, until_days=20).query("scenario == 'idle'").set_index("id")
    shown = entries(memory.assemble(now=now))
    moments = sorted({*frame["leaves_at"].dropna(), *frame["enters_at"].dropna()})
    assert len(moments) >= 5
    for number, moment in enumerate(moments):
        for shift, name in ((-MILLISECOND, "before"), (timedelta(), "at")):
            at = moment.to_pydatetime() + shift
            copy = home.parent / f"{number}-{name}" / ".dsh"
            shutil.copytree(home, copy)
            forget_composers()
            selfnote.compose_injection(copy, session="later", turn=1, now=at)
            other = selfnote.open_memory(copy, tz="Asia/Shanghai")
            real = entries(other.assemble(now=at))
            said = {one for one in frame.index if holds(frame.loc[one], at)}
            assert said == real, (moment, name)
    assert {one for one in frame.index if frame.loc[one, "inside_now"]} == shown


def holds(row, at):
    entered = pd.isna(row["enters_at"]) or row["enters_at"] <= at
    left = pd.notna(row["leaves_at"]) and row["leaves_at"] <= at
    back = pd.notna(row["returns_at"]) and row["returns_at"] <= at
    return entered and (not left or back)


def test_idle_time_overtakes_no_fact_and_a_note_leaves_on_the_owners_midnight(demo):
    """S2-112, A-02c, A-33: the last day is still valid, the next begins at midnight in Shanghai; somebody comes in."""
    frame = decay.leaving(demo, now=DEMO_NOW).query("scenario == 'idle'")
    gone = frame[frame["leaves_at"].notna()]
    assert set(gone["kind"]) == {"note"}
    assert set(gone["reason"]) == {"expired"}
    notes = demo.frames.notes(DEMO_NOW).set_index("id")
    for row in gone.itertuples():
        local = row.leaves_at.tz_convert("Asia/Shanghai")
        assert (local.hour, local.minute) == (0, 0)
        assert local.tz_localize(None) - notes.loc[row.id, "on"] == timedelta(days=demo.config.load().temp_ttl_days + 1)
        assert row.in_days == pytest.approx((row.leaves_at - pd.Timestamp(DEMO_NOW)) / DAY)
        assert set(row.by) <= set(frame[frame["enters_at"] == row.leaves_at]["id"])
    assert (gone["by"].map(len) > 0).all()


def test_a_fact_whose_time_comes_may_enter_and_overtake(home, memory):
    """A-12: a future time is unknown until it has come; then the fact is hotter than what idles."""
    write_facts(
        home,
        {"id": "f-old", "text": "旧" * 80},
        {
            "id": "f-new",
            "text": "新" * 80,
            "approvedAt": "2026-03-05T12:00:00.000Z",
            "createdAt": "2025-01-01T00:00:00Z",
        },
    )
    frame = decay.leaving(memory, now=NOW, until_days=10).query("scenario == 'idle'").set_index("id")
    moment = pd.Timestamp("2026-03-05T12:00:00Z")
    assert frame.loc["f-old", "leaves_at"] == frame.loc["f-new", "enters_at"] == moment
    assert frame.loc["f-old", "by"] == ("f-new",)
    assert frame.loc["f-old", "reason"] == "no room"
    assert frame.loc["f-new", "share"] == pytest.approx(5.875 / 10)
    busy = decay.leaving(memory, now=NOW, until_days=10, per_day=24)
    busy = busy.query("scenario == 'continued'").set_index("id")
    assert list(busy.index) == ["f-old"]
    assert busy.loc["f-old", "share"] == 1.0


def test_the_pace_is_measured_from_the_counted_lines_of_the_ledger(demo):
    """UC-003: counted lines of the last 28 days of the demo memory, read by hand."""
    counted = 0
    for path in [*sorted((demo.home.root / "memory" / "archive").glob("hits-*.jsonl")), demo.home.hits]:
        for line in map(json.loads, path.read_text("utf-8").splitlines()):
            counted += bool(line["counted"]) and DEMO_NOW - 28 * DAY < datetime.fromisoformat(line["at"]) <= DEMO_NOW
    assert decay.measured_pace(demo, now=DEMO_NOW) == counted / 28
    assert counted > 50


def test_without_a_ledger_the_pace_is_an_assumption_that_is_shown(home, memory):
    write_facts(home, {"id": "f-a"})
    assert decay.measured_pace(memory, now=NOW) is None
    frame = decay.leaving(memory, now=NOW, until_days=1)
    assert set(frame["per_day"].dropna()) == {decay.ASSUMED_PER_DAY}


def test_leaving_refuses_times_and_paces_that_are_none(memory):
    with pytest.raises(LimitExceeded, match="until_days"):
        decay.leaving(memory, now=NOW, until_days=0)
    for pace in (0, 25, math.nan):
        with pytest.raises(LimitExceeded, match="once an hour"):
            decay.leaving(memory, now=NOW, per_day=pace)


def test_with_memory_off_nothing_is_inside_and_nobody_leaves(home, memory):
    write_facts(home, {"id": "f-a"})
    memory.config.save(injection_enabled=False)
    assert len(decay.leaving(memory, now=NOW, until_days=5)) == 0


# --- another half-life --------------------------------------------------------------------------------
def hit_then_cold(home):
    """One fact often hit long ago, others fresh: which is hotter depends on the half-life."""
    write_facts(
        home,
        {"id": "f-used", "text": "甲" * 50, "hitCount": 200, "lastHit": "2026-01-20T00:00:00.000Z", "tags": ["旧"]},
        {"id": "f-new", "text": "乙" * 50, "approvedAt": "2026-02-27T00:00:00.000Z", "tags": ["新"]},
        {"id": "f-mid", "text": "丙" * 45, "approvedAt": "2026-02-10T00:00:00.000Z", "importance": 2.0},
    )


def test_the_sweep_is_what_the_setting_would_do(home, memory, demo, tmp_path):
    """S2-172: rank, heat, text and moves for each half-life against a copy with that setting really saved."""
    hit_then_cold(home)
    for source, now in ((memory, NOW), (demo, DEMO_NOW)):
        frame = decay.sweep(source, now=now, half_lives=(1, 7, 365))
        assert sorted(set(frame["half_life"])) == [1.0, 7.0, 30.0, 365.0]
        for days, rows in frame.groupby("half_life"):
            copy = tmp_path / f"{now:%m}-{days}" / ".dsh"
            shutil.copytree(source.home.root, copy)
            (copy / "memory" / "rotation.json").unlink(missing_ok=True)
            other = selfnote.open_memory(copy, tz="Asia/Shanghai")
            other.config.save(half_life_days=days)
            real = other.frames.heat(now).query("status == 'approved'").set_index("id")
            mine = rows.set_index("id")
            assert mine["rank"].to_dict() == real["rank"].to_dict()
            assert (mine["heat"] - real["heat"]).abs().max() < 1e-9
            assert set(mine.index[mine["inside"]]) == entries(other.assemble(now=now)) & set(mine.index)
            assert set(mine["current"]) == {days == 30.0}
            assert (mine["change"] == mine["rank_now"] - mine["rank"]).all()


def test_a_half_life_that_changes_the_order_moves_facts_in_and_out(home, memory):
    write_facts(
        home,
        {"id": "f-used", "text": "甲" * 85, "hitCount": 200, "lastHit": "2026-01-20T00:00:00.000Z"},
        {"id": "f-new", "text": "乙" * 85, "approvedAt": "2026-02-27T00:00:00.000Z"},
    )
    frame = decay.sweep(memory, now=NOW, half_lives=(7, 365)).set_index(["half_life", "id"])
    assert frame["moves"].dropna().to_dict() == {(7.0, "f-new"): "enters", (7.0, "f-used"): "leaves"}
    assert frame.loc[(7.0, "f-used"), "change"] == -1
    assert frame.loc[(365.0, "f-used"), "inside"]
    assert frame["inside"].groupby("half_life").sum().tolist() == [1, 1, 1]


def test_the_same_half_life_for_every_tag_is_the_sweep(demo):
    """COMPLAINTS 45: two ways to the same what-if give the same ranks and text."""
    first_tags = {fact.tags[0] for fact in demo.facts.approved() if fact.tags}
    channels = {"rel": 7.0, "env": 7.0}
    each = decay.by_tag(demo, dict.fromkeys(first_tags, 7.0), channels=channels, now=DEMO_NOW).set_index("id")
    swept = decay.sweep(demo, now=DEMO_NOW, half_lives=(7,)).query("half_life == 7").set_index("id")
    for column in ("rank", "inside", "change"):
        assert each[column].to_dict() == swept[column].to_dict()
    assert (each["heat"] - swept["heat"]).abs().max() < 1e-9
    assert each["changed"].all()


def test_a_tag_of_its_own_pace_keeps_its_facts_hot(home, memory):
    """COMPLAINTS 45: durable facts are not buried; the order is that of heat now, and others keep their pace."""
    hit_then_cold(home)
    frame = decay.by_tag(memory, {"旧": 365}, now=NOW).set_index("id")
    idle = (NOW - datetime(2026, 1, 20, tzinfo=UTC)) / DAY
    assert frame.loc["f-used", "heat"] == pytest.approx((1 + math.log(201)) * 0.5 ** (idle / 365) * 1.5)
    assert frame.loc["f-new", "heat"] == pytest.approx(frame.loc["f-new", "heat_now"])
    assert list(frame.sort_values("rank").index) == list(frame.sort_values("heat", ascending=False).index)
    assert frame["changed"].to_dict() == {"f-used": True, "f-new": False, "f-mid": False}
    cold = decay.by_tag(memory, {"旧": 1}, now=NOW).set_index("id")
    assert cold.loc["f-used", "rank"] == 3
    assert cold.loc["f-used", "change"] == cold.loc["f-used", "rank_now"] - 3


def test_a_heat_too_small_for_a_number_still_has_its_rank(home, memory):
    """S2-168: sixty years idle at one day's half-life."""
    write_facts(
        home,
        {"id": "f-a", "approvedAt": "1970-01-02T00:00:00Z", "createdAt": "1970-01-02T00:00:00Z", "tags": ["x"]},
        {"id": "f-b", "approvedAt": "1970-01-03T00:00:00Z", "createdAt": "1970-01-02T00:00:00Z", "tags": ["x"]},
    )
    frame = decay.by_tag(memory, {"x": 1}, now=NOW).set_index("id")
    assert frame["heat"].to_dict() == {"f-a": 0.0, "f-b": 0.0}
    assert frame["rank"].to_dict() == {"f-b": 1, "f-a": 2}


def test_what_ifs_refuse_half_lives_and_names_that_no_setting_may_have(home, memory):
    hit_then_cold(home)
    for days in (0, 366, math.nan, -3):
        with pytest.raises(LimitExceeded, match="1 to 365 days"):
            decay.sweep(memory, now=NOW, half_lives=(days,))
        with pytest.raises(LimitExceeded, match="1 to 365 days"):
            decay.by_tag(memory, {"旧": days}, now=NOW)
    with pytest.raises(NotFound, match=r"不存在.*旧"):
        decay.by_tag(memory, {"不存在": 30}, now=NOW)
    with pytest.raises(NotFound, match="rel and env"):
        decay.by_tag(memory, {}, channels={"relation": 30}, now=NOW)
