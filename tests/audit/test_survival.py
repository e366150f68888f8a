"""How long until a fact is needed again: what counts as need, the curve by hand, and an interval that covers."""

from __future__ import annotations

import builtins
import json
import math
import os
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import selfnote
from selfnote.audit import demand as needs
from selfnote.demo import DEMO_NOW
from selfnote.errors import NotFound
from selfnote.records.ledger import count_seen

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)
#: Weeks of remission of 21 leukaemia patients (Freireich 1963), the textbook sample; + is censored.
REMISSION = "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+"


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return selfnote.open_memory(selfnote.demo_home(tmp_path_factory.mktemp("demo") / ".dsh"), tz="Asia/Shanghai")


def approve(memory, text, at, **values):
    return memory.facts.approve(memory.facts.stage(text, source="owner:test", now=at, **values), now=at)


def search(memory, identifiers, at, session="s"):
    return count_seen(memory.home, memory.facts, identifiers, session=session, via="memory_recall", now=at)


def write_session(home: Path, session: str, messages: dict[int, tuple[datetime, str]], cwd: str = "/work/a") -> None:
    """A plain log: the header, then the owner's messages by seq."""
    created = min(at for at, _ in messages.values())
    lines = [{"type": "session", "version": 0, "id": session, "createdAt": stamp(created), "cwd": cwd}]
    for seq in range(max(messages) + 1):
        at, text = messages.get(seq, (created, None))
        event = {"type": "step/end", "seq": seq, "time": stamp(at), "data": {}}
        if text is not None:
            content = [{"type": "text", "text": text}]
            data = {"id": f"m{seq}", "role": "user", "content": content, "source": {"kind": "user"}}
            event |= {"type": "user/message", "data": data, "surfaceOp": "append"}
        lines.append(event)
    path = home / "sessions" / "--work-a--" / session / "session.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def stamp(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def words(number, length=24):
    return "".join(chr(0x4E00 + (number * 997 + place * (31 + number)) % 9000) for place in range(length))


# --- what is demand -----------------------------------------------------------------------------------
def test_searches_restatements_and_corrections_are_demand_and_injections_are_not(home, memory):
    """UC-003, S2-103, COMPLAINTS 19: injected forty times, searched twice: two events of demand."""
    said = {10: (NOW, "以后回答先给结论"), 20: (NOW + 5 * DAY, "以后回答先给结论")}
    write_session(home, "s-1", said)
    fact = memory.facts.stage("以后回答先给结论", source="s-1#10", now=NOW)
    memory.facts.approve(fact, now=NOW + DAY)
    memory.facts.stage("以后回答先给结论", source="s-1#20", now=NOW + 5 * DAY)
    for turn in range(40):
        selfnote.compose_injection(home, session="s-1", turn=turn, now=NOW + DAY + turn * timedelta(hours=2))
    search(memory, [fact.id], NOW + 6 * DAY)
    search(memory, [fact.id], NOW + 6 * DAY + timedelta(minutes=5))
    search(memory, [fact.id], NOW + 7 * DAY)
    assert memory.corrections.record(
        "我说过了，以后回答先给结论，别绕。", sid="s-2", seq=3, at=NOW + 8 * DAY, now=NOW + 8 * DAY
    )
    frame = needs.demand(memory, now=NOW + 9 * DAY)
    assert list(zip(frame["kind"], frame["at"], strict=True)) == [
        ("restated", pd.Timestamp(NOW + 5 * DAY)),
        ("search", pd.Timestamp(NOW + 6 * DAY)),
        ("search", pd.Timestamp(NOW + 7 * DAY)),
        ("correction", pd.Timestamp(NOW + 8 * DAY)),
    ]
    assert set(frame["id"]) == {fact.id}
    assert frame["flag"].isna().all()
    assert memory.facts.get(fact.id).hit_count == 40
    assert (frame.loc[0, "session"], frame.loc[0, "seq"]) == ("s-1", 20)
    assert frame.loc[3, "score"] == 100


def test_what_the_owner_says_against_a_fact_is_no_demand_for_it(memory):
    """A-13: the opposite is a conflict; a dismissed correction is none; the statement a fact was made of is no second."""
    approve(memory, "代码注释要写英文", NOW)
    memory.facts.approve(memory.facts.stage("不对，报错信息要贴原文", source="s#3", now=NOW), now=NOW)
    record = memory.corrections.record
    at = NOW + DAY
    assert record("不对，代码注释不要写英文", sid="s", seq=1, at=at, now=at)
    silent = record("不对，代码注释要写英文", sid="s", seq=2, at=at, now=at)
    memory.corrections.dismiss(silent)
    assert record("不对，报错信息要贴原文", sid="s", seq=3, at=at, now=at)
    assert len(needs.demand(memory, now=NOW + 2 * DAY)) == 0
    assert record("不对，代码注释要写英文！", sid="s", seq=4, at=at, now=at)
    assert list(needs.demand(memory, now=NOW + 2 * DAY)["kind"]) == ["correction"]


def test_a_message_is_heard_clause_by_clause_and_a_word_alone_means_nothing():
    assert needs.clauses_of("不对，谢谢。 报错要贴原文; OK. Use pnpm") == ["报错要贴原文", "Use pnpm"]
    assert needs.clauses_of("先给结论，细节等我问。谢谢") == ["先给结论", "细节等我问", "先给结论，细节等我问"]
    assert needs.clauses_of("甲甲甲甲，乙乙乙乙，丙丙丙丙，丁丁丁丁")[-1] == "乙乙乙乙，丙丙丙丙，丁丁丁丁"
    assert needs.clauses_of("报错要贴原文") == ["报错要贴原文"]
    assert needs.clauses_of("不对！") == ["不对！"]


def test_demand_that_cannot_be_dated_or_has_nobody_behind_it_is_shown_and_flagged(home, memory):
    """COMPLAINTS 18, 43: health checks are nobody's search; a lost log is no time."""
    fact = approve(memory, words(1), NOW)
    counted = approve(memory, words(2), NOW)
    search(memory, [fact.id], NOW + DAY, session=None)
    search(memory, [fact.id], NOW + 60 * DAY)
    memory.facts.stage(words(1), source="s-gone#7", now=NOW)
    memory.facts.stage(words(1), source="import:USER.md#3", now=NOW)
    lines = memory.home.facts.read_text("utf-8").splitlines()
    values = [json.loads(line) for line in lines]
    values[1] |= {"seenCount": 3, "lastSeen": "2026-03-02T00:00:00.000Z"}
    memory.home.facts.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in values), "utf-8")
    frame = needs.demand(memory, now=NOW + 10 * DAY)
    flags = dict(zip(zip(frame["id"], frame["kind"], frame["count"], strict=True), frame["flag"], strict=True))
    assert len(frame) == 5
    assert flags[(counted.id, "search", 3)] == "only its counter tells"
    assert set(frame[frame["id"] == fact.id]["flag"]) == {
        "no session: nobody is known to have searched",
        "in the future",
        "its session log is not here",
        "when is not known",
    }
    assert needs.spells(memory, now=NOW + 10 * DAY)["observed"].sum() == 0


def test_the_demands_of_the_demo_memory_are_those_of_its_files(demo):
    """UC-003: searches recomputed from seen.jsonl, restatements from the session logs they point at."""
    frame = needs.demand(demo, now=DEMO_NOW)
    searched = 0
    for path in [*(demo.home.root / "memory" / "archive").glob("seen-*.jsonl"), demo.home.seen]:
        searched += sum(len(json.loads(line)["counted"]) for line in path.read_text("utf-8").splitlines())
    assert (frame["kind"] == "search").sum() == searched == 32
    said = frame[(frame["kind"] == "restated") & frame["flag"].isna()]
    for row in said.itertuples():
        message = demo.sessions.open(row.session).message_at(row.seq)
        assert pd.Timestamp(message.time).floor("ms") == row.at
        assert f"{row.session}#{row.seq}" in demo.facts.get(row.id).sources[1:]
    assert len(said) == 2


# --- spells -------------------------------------------------------------------------------------------
def test_a_spell_runs_from_approval_or_demand_to_the_next_and_the_last_is_censored(home, memory):
    """UC-003: recurrent demand, a retirement, and a fact that was never needed."""
    needed = approve(memory, words(1), NOW)
    retired = approve(memory, words(2), NOW + DAY, tags=["甲"])
    memory.facts.stage(words(3), source="owner:test", now=NOW)
    selfnote.compose_injection(home, session="s", turn=1, now=NOW - DAY)
    search(memory, [needed.id], NOW + 3 * DAY)
    search(memory, [needed.id, retired.id], NOW + 7 * DAY)
    memory.facts.retire(retired.id, now=NOW + 9 * DAY)
    search(memory, [retired.id], NOW + 10 * DAY)
    frame = needs.spells(memory, now=NOW + 20 * DAY)
    found = [tuple(row) for row in frame[["id", "days", "observed"]].itertuples(index=False)]
    assert found == [
        (needed.id, 3.0, True),
        (needed.id, 4.0, True),
        (needed.id, 13.0, False),
        (retired.id, 6.0, True),
        (retired.id, 2.0, False),
    ]
    assert frame["end"].max() == pd.Timestamp(NOW + 20 * DAY)
    assert list(frame["tag"].dropna()) == ["甲", "甲"]


def test_nothing_is_watched_before_the_ledgers_began_or_where_only_a_counter_tells(home, memory):
    """UC-002: a home of another program: its facts are watched from our first line on."""
    old, counted = approve(memory, words(1), NOW), approve(memory, words(2), NOW)
    assert len(needs.spells(memory, now=NOW + 50 * DAY)) == 0
    lines = [json.loads(line) for line in memory.home.facts.read_text("utf-8").splitlines()]
    lines[1] |= {"seenCount": 5, "lastSeen": "2026-03-05T00:00:00.000Z"}
    memory.home.facts.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), "utf-8")
    search(memory, [old.id, counted.id], NOW + 30 * DAY)
    frame = needs.spells(memory, now=NOW + 50 * DAY)
    assert list(zip(frame["id"], frame["days"], frame["observed"], strict=True)) == [
        (old.id, 20.0, False),
        (counted.id, 20.0, False),
    ]


# --- the curve ----------------------------------------------------------------------------------------
def test_the_survival_curve_is_the_one_computed_by_hand():
    """UC-003: Kaplan and Meier's product in fractions, the log-log band by its formula."""
    marks = REMISSION.split()
    days = np.array([float(mark.rstrip("+")) for mark in marks])
    observed = np.array([not mark.endswith("+") for mark in marks])
    steps = {step.time_days: step for step in needs.kaplan_meier(days, observed)}
    product, variance = Fraction(1), Fraction(0)
    by_hand = {6: (21, 3), 7: (17, 1), 10: (15, 1), 13: (12, 1), 16: (11, 1), 22: (7, 1), 23: (6, 1)}
    for time, (at_risk, died) in by_hand.items():
        product *= 1 - Fraction(died, at_risk)
        variance += Fraction(died, at_risk * (at_risk - died))
        step = steps[time]
        assert (step.at_risk, step.events) == (at_risk, died)
        assert step.survival == pytest.approx(float(product))
        spread = 1.959964 * math.sqrt(variance) / math.log(product)
        band = [float(product) ** math.exp(-spread), float(product) ** math.exp(spread)]
        assert [step.low, step.high] == pytest.approx(sorted(band), abs=1e-6)
    assert [round(steps[time].survival, 3) for time in by_hand] == [0.857, 0.807, 0.753, 0.69, 0.627, 0.538, 0.448]
    assert steps[0] == needs.Step(0.0, 1.0, None, None, 21, 0)
    assert steps[35].survival == steps[23].survival
    assert sum(step.events for step in steps.values()) == 9


def test_a_curve_of_which_nothing_or_everything_ended_has_no_band_there():
    assert [step.survival for step in needs.kaplan_meier(np.array([2.0, 3.0]), np.array([False, False]))] == [1, 1, 1]
    ended = needs.kaplan_meier(np.array([2.0]), np.array([True]))
    assert ended[-1].survival == 0
    assert ended[-1].low is None
    assert needs.kaplan_meier(np.array([]), np.array([], dtype=bool)) == []


def test_the_frame_of_the_demo_memory_follows_from_its_spells(demo):
    """UC-003: every number can be recomputed from the frame beside it."""
    spells = needs.spells(demo, now=DEMO_NOW)
    frame = needs.survival(demo, now=DEMO_NOW)
    share = 1.0
    for row in frame.iloc[1:].itertuples():
        at_risk = (spells["days"] >= row.time_days).sum()
        events = (spells["observed"] & (spells["days"] == row.time_days)).sum()
        assert (row.at_risk, row.events) == (at_risk, events)
        share *= 1 - events / at_risk
        assert row.survival == pytest.approx(share)
    assert set(frame["n_spells"]) == {len(spells)}
    assert set(frame["n_events"]) == {spells["observed"].sum()} == {29}
    assert frame["flag"].isna().all()
    groups = needs.survival(demo, now=DEMO_NOW, by="tag")
    assert groups.drop_duplicates("group")["n_spells"].sum() == len(spells)
    assert set(groups[groups["group"] == "流程"]["flag"]) == {"数据不够（n = 7）"}
    assert set(groups["by"]) == {"tag"}


# --- one number ---------------------------------------------------------------------------------------
def test_the_interval_covers_the_half_life_it_was_simulated_with():
    """UC-003: 600 memories of known half-life, watched to a fixed day; at least 95 % covered, and not by being endless."""
    random = np.random.default_rng(20261130)
    true = 40.0
    covered, widths, middles = 0, [], []
    for _ in range(600):
        events, exposure = 0, 0.0
        for window in random.uniform(5, 90, size=60):
            rest = window
            while (gap := random.exponential(true / math.log(2))) < rest:
                events, rest = events + 1, rest - gap
            exposure += window
        found = needs.fit_half_life(events, exposure)
        covered += found.low <= true <= found.high
        widths.append(found.high / found.low)
        middles.append(found.half_life)
    assert 0.945 <= covered / 600 <= 0.985
    assert np.median(middles) == pytest.approx(true, rel=0.03)
    assert np.median(widths) < 2


def test_the_half_life_and_its_interval_are_those_of_a_poisson_count():
    """ln 2 × exposure / events, and scipy's own exact interval of a count."""
    found = needs.fit_half_life(12, 600.0)
    assert found.half_life == pytest.approx(math.log(2) * 50)
    for bound, other in ((found.low, 12), (found.high, 12)):
        rate = math.log(2) * 600 / bound
        tails = [stats.poisson.cdf(other, rate), stats.poisson.sf(other - 1, rate)]
        assert min(tails) == pytest.approx(0.025)
    assert needs.fit_half_life(12, 600.0, level=0.5).high < found.high


def test_facts_that_differ_show_in_the_dispersion():
    alike = [(2, 50.0), (1, 25.0), (4, 100.0)]
    assert needs.dispersion(alike) == 0
    assert needs.dispersion([(20, 50.0), (0, 50.0), (0, 50.0)]) == pytest.approx(20.0)
    assert needs.dispersion([(5, 10.0)]) is None
    assert needs.dispersion([(0, 10.0), (0, 5.0)]) is None


def test_a_memory_of_known_half_life_is_measured_as_such(home, memory):
    """UC-003: simulated searches written through the real counter of searches, read back by the fit."""
    random = np.random.default_rng(7)
    true, window = 10.0, 60
    selfnote.compose_injection(home, session="s", turn=0, now=NOW - DAY)
    facts = [approve(memory, words(number), NOW, tags=["冷" if number else "热"]) for number in range(12)]
    selfnote.compose_injection(home, session="s", turn=1, now=NOW)
    moments = []
    for fact in facts:
        at = 0.0
        while (at := at + 0.01 + random.exponential(true / math.log(2))) < window:
            moments.append((at, fact.id))
    for at, identifier in sorted(moments):
        assert search(memory, [identifier], NOW + at * DAY) == [identifier]
    frame = needs.fit(memory, now=NOW + window * DAY)
    row = frame.iloc[0]
    assert row["n_events"] == len(moments) > 40
    assert row["exposure_days"] == pytest.approx(12 * window, rel=1e-6)
    assert row["half_life"] == pytest.approx(math.log(2) * 12 * window / len(moments), rel=1e-6)
    assert row["low"] < true < row["high"]
    assert row["configured"] == 30
    assert pd.isna(row["flag"])
    curve = needs.survival(memory, now=NOW + window * DAY)
    at_true = curve[curve["time_days"] <= true].iloc[-1]
    assert at_true["low"] < 0.5 < at_true["high"]


def test_too_few_demands_are_said_to_be_too_few_and_nothing_is_fitted(home, memory):
    """UC-003: plain words, the count in them, no number beside."""
    fact = approve(memory, words(1), NOW)
    selfnote.compose_injection(home, session="s", turn=1, now=NOW)
    for number in range(1, 8):
        search(memory, [fact.id], NOW + number * DAY)
    memory.config.save(language="en")
    row = needs.fit(memory, now=NOW + 20 * DAY).iloc[0]
    assert row["flag"] == "not enough data (n = 7)"
    assert row[["half_life", "low", "high", "dispersion"]].isna().all()
    assert set(needs.survival(memory, now=NOW + 20 * DAY)["flag"]) == {"not enough data (n = 7)"}
    for number in range(8, 11):
        search(memory, [fact.id], NOW + number * DAY)
    assert needs.fit(memory, now=NOW + 20 * DAY).iloc[0]["half_life"] == pytest.approx(math.log(2) * 2)


def test_the_fit_of_groups_stands_below_that_of_all(demo):
    frame = needs.fit(demo, now=DEMO_NOW, by="channel")
    assert list(zip(frame["by"].fillna("all"), frame["group"].fillna("all"), strict=True)) == [
        ("all", "all"),
        ("channel", "env"),
        ("channel", "rel"),
    ]
    assert frame["n_events"].tolist() == [29, *frame["n_events"].iloc[1:]]
    assert frame["n_events"].iloc[1:].sum() == 29
    assert frame["exposure_days"].iloc[0] == pytest.approx(frame["exposure_days"].iloc[1:].sum())
    with pytest.raises(NotFound, match="tag, channel"):
        needs.fit(demo, now=DEMO_NOW, by="segment")


def test_without_scipy_the_owner_is_told_which_extra_to_install(monkeypatch, demo):
    """PERFORMANCE "survival curves": an extra, so its absence is a sentence, not a traceback of imports."""
    real = builtins.__import__

    def without(name, *args, **values):
        if name.startswith("scipy"):
            raise ImportError(name)
        return real(name, *args, **values)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(NotFound, match=r"selfnote\[survival\]"):
        needs.survival(demo, now=DEMO_NOW)
    assert len(needs.spells(demo, now=DEMO_NOW)) == 120
