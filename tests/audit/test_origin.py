"""Where a fact was said and where it was injected."""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

import selfnote
from selfnote.audit import origin
from selfnote.demo import DEMO_NOW

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def write_session(home: Path, session: str, cwd: str) -> None:
    header = {"type": "session", "version": 0, "id": session, "createdAt": round(NOW.timestamp() * 1000), "cwd": cwd}
    path = home / "sessions" / cwd.strip("/").replace("/", "-") / session / "session.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(header) + "\n", encoding="utf-8")


def approve(memory, text, source, at=NOW):
    return memory.facts.approve(memory.facts.stage(text, source=source, now=at), now=at)


def test_a_fact_said_in_one_project_and_injected_in_another_is_listed_as_foreign(home, memory):
    """COMPLAINTS 37, 38: a candidate from cwd A approved; the audit shows where it came from and where it went."""
    write_session(home, "s-a", "/work/a")
    fact = approve(memory, "发版之前先跑一遍迁移", "s-a#3")
    for turn, cwd in enumerate(["/work/a", "/work/b", "/work/b/", "/work/a"]):
        selfnote.compose_injection(home, session=f"s-{cwd.strip('/')[-1]}", turn=turn, cwd=cwd, now=NOW + turn * HOUR)
    frame = origin.origins(memory, now=NOW + 9 * HOUR).set_index("cwd")
    assert set(frame["id"]) == {fact.id}
    assert set(frame["origin"]) == {"session"}
    assert set(frame["origin_cwds"]) == {("/work/a",)}
    assert frame["foreign"].to_dict() == {"/work/a": False, "/work/b": True}
    assert frame["counted"].to_dict() == {"/work/a": 2, "/work/b": 2}
    assert frame["sessions"].to_dict() == {"/work/a": 1, "/work/b": 1}
    assert frame.loc["/work/b", "first_at"] == pd.Timestamp(NOW + HOUR)
    assert frame.loc["/work/b", "last_at"] == pd.Timestamp(NOW + 2 * HOUR)


def test_a_fact_said_in_both_projects_is_foreign_in_neither(home, memory):
    write_session(home, "s-a", "/work/a")
    write_session(home, "s-b", "/work/b")
    approve(memory, "发版之前先跑一遍迁移", "s-a#3")
    memory.facts.stage("发版之前先跑一遍迁移", source="s-b#5", now=NOW)
    for turn, cwd in enumerate(["/work/a", "/work/b", "/work/c"]):
        selfnote.compose_injection(home, session=cwd, turn=turn, cwd=cwd, now=NOW + turn * HOUR)
    frame = origin.origins(memory, now=NOW + 9 * HOUR).set_index("cwd")
    assert frame["foreign"].to_dict() == {"/work/a": False, "/work/b": False, "/work/c": True}


def test_a_fact_whose_place_nobody_knows_says_so_instead_of_being_judged(home, memory):
    """COMPLAINTS 37: imports, the owner's own, a session without a log; foreign stays empty."""
    texts = {
        "import:USER.md#3": ("import", "报错信息原样贴出来"),
        "owner:panel": ("owner", "变量名用完整的单词"),
        "s-gone#4": ("session gone", "周五晚上从来都不发版"),
    }
    made = {approve(memory, text, source).id: kind for source, (kind, text) in texts.items()}
    selfnote.compose_injection(home, session="s-x", turn=1, cwd="/work/x", now=NOW)
    frame = origin.origins(memory, now=NOW).set_index("id")
    assert frame["origin"].to_dict() == made
    assert frame["foreign"].isna().all()
    assert set(frame["cwd"]) == {"/work/x"}


def test_a_session_whose_log_is_gone_is_placed_by_the_ledger(home, memory):
    """The ledger names the directory of every session it saw."""
    fact = approve(memory, "报错信息原样贴出来", "s-a#4")
    selfnote.compose_injection(home, session="s-a", turn=1, cwd="/work/a", now=NOW)
    row = origin.origins(memory, now=NOW).iloc[0]
    assert (row["id"], row["origin"], row["origin_cwds"], row["foreign"]) == (fact.id, "session", ("/work/a",), False)


def test_a_fact_never_injected_and_a_line_without_a_directory_keep_their_rows(home, memory):
    approve(memory, "报错信息原样贴出来", "owner:cli")
    selfnote.compose_injection(home, session="s", turn=1, now=NOW)
    memory.facts.stage("变量名用完整的单词", source="owner:cli", now=NOW)
    frame = origin.origins(memory, now=NOW)
    assert list(frame["injections"]) == [1, 0]
    assert frame["cwd"].isna().all()
    assert list(frame["status"]) == ["approved", "candidate"]
    assert len(origin.origins(memory, now=NOW - HOUR).query("injections > 0")) == 0


def test_facts_behind_a_profile_override_were_injected_by_it(home, memory):
    """A-08: absorbed facts count as hits, so they count here."""
    fact = memory.facts.approve(memory.facts.stage("他写后端", source="owner:cli", tags=["背景"], now=NOW), now=NOW)
    memory.override_profile("写后端的人", (fact.id,))
    selfnote.compose_injection(home, session="s", turn=1, cwd="/work/a", now=NOW)
    row = origin.origins(memory, now=NOW).iloc[0]
    assert (row["cwd"], row["injections"], row["counted"]) == ("/work/a", 1, 1)


def test_the_origins_of_the_demo_memory_are_those_of_its_ledger(tmp_path):
    """COMPLAINTS 38: every count from the raw lines, every place from the headers of the logs."""
    home = selfnote.demo_home(tmp_path / ".dsh")
    demo = selfnote.open_memory(home)
    expected: Counter[tuple[str, str]] = Counter()
    places = {}
    for path in [*sorted((home / "memory" / "archive").glob("hits-*.jsonl")), home / "memory" / "hits.jsonl"]:
        for line in map(json.loads, path.read_text("utf-8").splitlines()):
            places[line["session"]] = line["cwd"]
            for segment in ("profile", "env", "conclusions"):
                expected.update((one, line["cwd"]) for one in line["ids"].get(segment, ()))
    places |= {log.id: log.header.cwd for log in demo.sessions.read_all()}
    frame = origin.origins(demo, now=DEMO_NOW)
    there = frame[frame["injections"] > 0]
    assert dict(zip(zip(there["id"], there["cwd"], strict=True), there["injections"], strict=True)) == expected
    said = {fact.id: {places.get(one.partition("#")[0]) for one in fact.sources} for fact in demo.facts.all()}
    judged = there[there["foreign"].notna()]
    assert len(judged) == 45
    for row in judged.itertuples():
        assert row.foreign == (row.cwd not in said[row.id])
    assert there["foreign"].fillna(value=False).sum() == 30


def test_nothing_is_read_from_logs_of_sessions_no_fact_was_said_in(home, memory, monkeypatch):
    """T6: a large session folder costs nothing it need not."""
    write_session(home, "s-a", "/work/a")
    write_session(home, "s-other", "/work/b")
    approve(memory, "报错信息原样贴出来", "s-a#4")
    opened = []
    real = memory.sessions.read
    monkeypatch.setattr(memory.sessions, "read", lambda info: opened.append(info.id) or real(info))
    assert origin.origins(memory, now=NOW).loc[0, "origin_cwds"] == ("/work/a",)
    assert opened == ["s-a"]
