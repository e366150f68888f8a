"""Did a rule of the persona work: counts before and after, the messages they are counted in, and an exact interval."""

from __future__ import annotations

import json
import math
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import selfnote
from selfnote.audit import rules
from selfnote.demo import DEMO_NOW
from selfnote.records.corrections import rule_fingerprint

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
RULE = "报错原样贴出来，我的判断另起一段。"


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def write_session(home: Path, session: str, said: list[tuple[datetime, str]]) -> None:
    """A plain log of the owner's messages, seq 0, 1, 2, …"""
    lines = [{"type": "session", "version": 0, "id": session, "createdAt": stamp(said[0][0]), "cwd": "/work/a"}]
    for seq, (at, text) in enumerate(said):
        data = {
            "id": f"m{seq}",
            "role": "user",
            "content": [{"type": "text", "text": text}],
            "source": {"kind": "user"},
        }
        lines.append({"type": "user/message", "seq": seq, "time": stamp(at), "data": data, "surfaceOp": "append"})
    path = home / "sessions" / "--work-a--" / session / "session.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def stamp(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def talk(home, memory, *, session, start, messages, corrections):
    """``messages`` of the owner an hour apart, those of ``corrections`` saying what is wrong; the ids heard."""
    said = [
        (
            start + number * HOUR,
            f"不对，报错要贴原文{'！' * number}" if number in corrections else f"第 {number} 句闲话",
        )
        for number in range(messages)
    ]
    write_session(home, session, said)
    heard = [
        memory.corrections.record(text, sid=session, seq=seq, at=at, now=at)
        for seq, (at, text) in enumerate(said)
        if seq in corrections
    ]
    return [one.id for one in heard]


def save_rule(memory, ids, at):
    memory.persona.save(l0="我是阿砚。", l1=f"{RULE}\n先给结论。", used_corrections=ids, now=at)


def effect(memory, now):
    return rules.rule_effects(memory, now=now).set_index("fingerprint").loc[rule_fingerprint(RULE)]


def test_corrections_before_and_after_a_rule_are_counted_with_the_messages_around_them(home, memory):
    """S2-143: 12 in 20 messages, a rule, 1 in 40; the same thing in other words counts, another thing does not."""
    before = talk(home, memory, session="s-1", start=NOW, messages=20, corrections=range(12))
    save_rule(memory, before[:2], NOW + 2 * DAY)
    after = talk(home, memory, session="s-2", start=NOW + 3 * DAY, messages=40, corrections=[5])
    other = NOW + 4 * DAY
    memory.corrections.record("不对，注释要写中文", sid="s-2", seq=90, at=other, now=other)
    row = effect(memory, NOW + 9 * DAY)
    assert row["rule"] == RULE
    assert row["made_from"] == tuple(before[:2])
    assert (row["before"], row["messages_before"], row["after"], row["messages_after"]) == (12, 20, 1, 40)
    assert row["before_ids"] == tuple(before)
    assert row["after_ids"] == tuple(after)
    assert row["counted"] == 1
    assert (row["rate_before"], row["rate_after"]) == (60.0, 2.5)
    assert row["ratio"] == pytest.approx(2.5 / 60)
    exact = stats.binomtest(1, 13).proportion_ci(0.95, method="exact")
    odds = [0.5 * share / (1 - share) for share in (exact.low, exact.high)]
    assert [row["low"], row["high"]] == pytest.approx(odds)
    assert row["verdict"] == "fewer"
    assert row["sentence"] == "变少了：20 条消息里 12 次，之后 40 条里 1 次"
    assert row["saved_at"] == pd.Timestamp(NOW + 2 * DAY)


def test_a_rule_after_which_it_got_worse_or_stayed_as_it_was_is_said_to_be_so(home, memory):
    before = talk(home, memory, session="s-1", start=NOW, messages=40, corrections=[0, 2])
    save_rule(memory, before, NOW + 2 * DAY)
    talk(home, memory, session="s-2", start=NOW + 3 * DAY, messages=10, corrections=[1, 2])
    assert effect(memory, NOW + 9 * DAY)["verdict"] == "too few"
    assert effect(memory, NOW + 9 * DAY)["sentence"].startswith("数据不够（n = 4）")
    talk(home, memory, session="s-3", start=NOW + 4 * DAY, messages=10, corrections=[3])
    assert effect(memory, NOW + 9 * DAY)["verdict"] == "unclear"
    talk(home, memory, session="s-4", start=NOW + 5 * DAY, messages=10, corrections=range(9))
    memory.config.save(language="en")
    row = effect(memory, NOW + 9 * DAY)
    assert row["verdict"] == "more"
    assert row["sentence"] == "more: 2 in 40 messages, then 12 in 30"
    assert row["low"] > 1


def test_a_correction_whose_log_is_gone_is_in_no_rate(home, memory):
    """A rate's count and its messages come from the same logs."""
    before = talk(home, memory, session="s-1", start=NOW, messages=10, corrections=[1, 2, 3])
    memory.corrections.record("不对，报错要贴原文", sid="s-gone", seq=1, at=NOW + HOUR, now=NOW + HOUR)
    save_rule(memory, before, NOW + 2 * DAY)
    row = effect(memory, NOW + 9 * DAY)
    assert (row["before"], row["unlogged"]) == (3, 1)
    assert pd.isna(row["rate_after"])
    assert row["verdict"] == "too few"


def test_messages_before_anybody_listened_are_no_exposure(home, memory):
    """S2-148: evidence begins at the watermark, so the messages before it could not have been counted."""
    write_session(home, "s-0", [(NOW - 9 * DAY + number * HOUR, "不对，报错要贴原文") for number in range(30)])
    before = talk(home, memory, session="s-1", start=NOW, messages=10, corrections=range(5))
    save_rule(memory, before, NOW + 2 * DAY)
    row = effect(memory, NOW + 9 * DAY)
    assert (row["before"], row["messages_before"]) == (5, 10)


def test_a_rule_without_evidence_and_one_that_is_gone_keep_their_rows(home, memory):
    before = talk(home, memory, session="s-1", start=NOW, messages=10, corrections=range(5))
    save_rule(memory, before, NOW + 2 * DAY)
    memory.persona.save(l1="先给结论。", now=NOW + 3 * DAY)
    frame = rules.rule_effects(memory, now=NOW + 9 * DAY)
    assert list(frame["rule"].fillna("gone")) == ["先给结论。", "gone"]
    assert list(frame["verdict"]) == ["no evidence", "too few"]
    assert frame.loc[1, "before"] == 5


def test_evidence_that_cannot_be_read_leaves_what_the_corrections_tell(home, memory):
    """S2-014: one damaged file does not silence the others."""
    before = talk(home, memory, session="s-1", start=NOW, messages=10, corrections=range(5))
    save_rule(memory, before, NOW + 2 * DAY)
    memory.home.persona_evidence.write_text("{half", encoding="utf-8")
    row = effect(memory, NOW + 9 * DAY)
    assert (row["before"], row["counted"]) == (5, 0)
    assert row["made_from"] == tuple(before)


def test_the_rules_of_the_demo_memory_follow_from_its_files(tmp_path):
    """UC-003: the three rules made of corrections, their messages counted from the logs by hand."""
    demo = selfnote.open_memory(selfnote.demo_home(tmp_path / ".dsh"))
    frame = rules.rule_effects(demo, now=DEMO_NOW)
    used = [json.loads(line) for line in demo.home.corrections.read_text("utf-8").splitlines()]
    used = {one["ruleFp"]: one for one in used if one["status"] == "used"}
    made = frame[frame["verdict"] != "no evidence"].set_index("fingerprint")
    assert set(made.index) == set(used)
    messages = [one for log in demo.sessions.read_all() for one in log.messages() if one.by_owner]
    for fingerprint, correction in used.items():
        row, saved = made.loc[fingerprint], datetime.fromisoformat(correction["usedAt"])
        assert row["made_from"] == (correction["id"],)
        assert row["messages_before"] == sum(one.time <= saved for one in messages) == 28
        assert row["messages_after"] == sum(one.time > saved for one in messages) == 14
        assert (row["before"], row["after"], row["verdict"]) == (1, 0, "too few")
    assert len(frame) == 12


@given(
    st.integers(0, 40), st.integers(1, 500), st.integers(0, 40), st.integers(1, 500), st.sampled_from([0.5, 0.9, 0.95])
)
def test_the_interval_is_scipys_exact_one(before, exposed_before, after, exposed_after, level):
    """Without scipy, the same numbers as with it."""
    found = rules.compare_rates(before, exposed_before, after, exposed_after, level)
    scale = exposed_before / exposed_after
    if before + after == 0:
        assert (found.low, found.high, found.ratio) == (0.0, math.inf, None)
        return
    exact = stats.binomtest(after, before + after).proportion_ci(level, method="exact")
    odds = [scale * share / (1 - share) if share < 1 else math.inf for share in (exact.low, exact.high)]
    assert [found.low, found.high] == pytest.approx(odds, rel=1e-6)
    if before:
        assert found.low <= found.ratio <= found.high


def test_without_messages_on_either_side_there_is_nothing_to_compare():
    assert rules.compare_rates(3, 0, 1, 10) is None
    assert rules.compare_rates(3, 10, 1, 0) is None
