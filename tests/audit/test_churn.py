"""How often a prompt changed, from where on, why, and what was sent again (COMPLAINTS 23-25)."""

from __future__ import annotations

import dataclasses
import itertools
import json
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

import selfnote
from selfnote import compose_injection, note_compaction
from selfnote.audit import churn, replay, schema
from selfnote.errors import NotFound
from selfnote.storage.fingerprints import digest

BUNDLED = Path(__file__).resolve().parent.parent.parent / "data-fixtures" / "replay-home"
DEMO = BUNDLED.parent / "demo-home"
FIRST = "session-5eed0001-0a01-4000-8000-000000000001"
SECOND = "session-5eed0002-0b02-4000-8000-000000000002"
#: Midnight in Shanghai.
DAY = datetime(2026, 3, 2, 16, 0, tzinfo=UTC)
PERSONA = {"l0": "我是助手。", "l1": "先给结论。\n不用感叹号。"}


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch):
    """Simulated days wait for no disk."""
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)


@pytest.fixture
def recorded(tmp_path):
    """A copy of the replay home."""
    shutil.copytree(BUNDLED, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture
def lived(home):
    """A memory of 14 facts about the machine, more than fit, eight about the owner, and a note."""
    memory = selfnote.open_memory(home, tz="Asia/Shanghai")
    memory.config.save(tz="Asia/Shanghai")
    memory.persona.save(**PERSONA)
    before = DAY - timedelta(days=3)
    names = "风筝钟表铁锅茶壶木梯石磨竹篮纸伞铜镜瓷碗油灯砚台棋盘陶埙"
    for place in range(14):
        name = names[2 * place : 2 * place + 2]
        fact = memory.facts.add(f"{name}放在{name[::-1] * (5 + place % 4)}旁边", channel="env", now=before)
        memory.facts.approve(fact, now=before)
    for place, sentence in enumerate(("先说结论", "单位要写全", "不用表格", "夜里不打扰", "图比表好", "英文提交")):
        tags = ("说话",) if place % 2 else ()
        memory.facts.approve(memory.facts.add(sentence, tags=tags, now=before), now=before)
    memory.notes.add("我写短句。", now=before)
    return memory


def look(home):
    return selfnote.open_memory(home, read_only=True)


def compose(memory, texts, now, *, session="s", turn=None):
    text = compose_injection(memory.home.root, session=session, turn=turn, now=now)
    texts.append(text)
    return text


# --- a day ----------------------------------------------------------------------------------------------
def test_a_thousand_composes_in_a_day_change_the_text_only_for_a_cause(lived):
    """COMPLAINTS 23: hits are recorded all day, a clock is never printed; the hour alone may change the text."""
    texts = []
    for turn in range(1000):
        compose(lived, texts, DAY + timedelta(seconds=86.4 * turn), turn=turn)
    assert sum(one.hit_count for one in lived.facts.all()) > 300
    frame = churn.changes(lived)
    real = [(old, new) for old, new in itertools.pairwise(texts) if old != new]
    assert len(frame) == len(real)
    assert Counter(frame["cause"]) == {"rotation": len(real)}
    assert 12 <= len(real) <= 23
    assert set(frame["basis"]) == {"rebuilt"}
    # Each change comes with an hour: never two in one, and none between.
    assert frame["minutes"].min() >= 60
    for row, (old, new) in zip(frame.itertuples(), real, strict=True):
        assert (row.chars, row.chars - row.resent) == (len(new), row.first_changed)
        assert old[: row.first_changed] == new[: row.first_changed]
        assert old[row.first_changed : row.first_changed + 1] != new[row.first_changed : row.first_changed + 1]
        # COMPLAINTS 25: a rotation of env leaves persona, notes and profile where they are.
        assert row.first_changed > new.index("本机事实：")
    [session] = churn.summary(lived).itertuples()
    # The last turn the ledger names is the one of the last change, or count: at least so many there were.
    last = json.loads(lived.home.hits.read_text("utf-8").splitlines()[-1])["turn"]
    assert (session.turns, session.turns_from, session.changes) == (last, "ledger", len(real))
    assert last > 950
    assert session.texts == len(set(texts))
    assert session.rotation == len(real)
    assert session.resent == sum(len(new) - replay.shared_prefix(old, new) for old, new in real)


def test_each_kind_of_change_has_its_cause_its_place_and_its_segments(lived):
    """What an owner does in a day, one thing at a time."""
    texts = []
    now = DAY + timedelta(hours=9)
    compose(lived, texts, now)
    acts = [
        ("persona", lambda: lived.persona.save(l1="先给结论。\n不用省略号。", now=now)),
        ("notes", lambda: lived.notes.add("我看图先看单位。", now=now)),
        ("notes", lambda: lived.notes.add("我叫阿砚。", tier="core", now=now)),
        ("framing", lambda: lived.config.save(timing_hint="改主意时记一句。")),
        ("framing", lambda: lived.config.save(header="我的记忆")),
        ("conclusions", lambda: lived.facts.edit(fact("先说结论"), text="先给结论", now=now)),
        ("profile", lambda: lived.facts.edit(fact("单位要写全"), text="单位都写全", now=now)),
    ]

    def fact(text):
        return next(one for one in lived.facts.approved() if one.text == text)

    for _, act in acts:
        now += timedelta(minutes=2)
        act()
        compose(lived, texts, now)
    frame = churn.changes(lived)
    assert list(frame["cause"]) == ["edit", "edit", "edit", "config", "config", "edit", "edit"]
    assert list(frame["basis"]) == ["segments", *["rebuilt"] * 6]
    # The persona of then stands nowhere once it is saved again, and the new one is as long: nothing tells the place.
    assert (frame["segments"][0], frame["resent"].isna()[0], frame["first_changed"].isna()[0]) == ((), True, True)
    # An edited fact has the facts chosen afresh: after the hits of the first hour that is another env.
    assert list(frame["segments"][1:]) == [
        ("notes",), ("notes",), ("framing",), ("framing",), ("env", "conclusions"), ("profile",)
    ]  # fmt: skip
    for place in range(1, 7):
        assert frame["first_changed"][place] == replay.shared_prefix(texts[place], texts[place + 1])
    assert list(frame["minutes"]) == [2.0] * 7


def test_a_refill_and_midnight_are_told_apart(lived):
    texts = []
    lived.notes.add("这周在搬家。", tier="temp", on=(DAY - timedelta(days=13)).date(), now=DAY - timedelta(days=3))
    compose(lived, texts, DAY + timedelta(hours=22), turn=1)
    note_compaction("s", home=lived.home.root, now=DAY + timedelta(hours=22, minutes=1))
    compose(lived, texts, DAY + timedelta(hours=23, minutes=5), turn=2)
    compose(lived, texts, DAY + timedelta(hours=23, minutes=7), turn=3)
    compose(lived, texts, DAY + timedelta(days=1, minutes=3), turn=4)
    compose(lived, texts, DAY + timedelta(days=2, minutes=3), turn=5)
    frame = churn.changes(lived)
    assert len(frame) == sum(old != new for old, new in itertools.pairwise(texts))
    assert "refill" in set(frame["cause"])
    [date] = frame[frame["cause"] == "date"].itertuples()
    assert "notes" in date.segments
    assert list(frame["basis"].unique()) == ["rebuilt"]


def test_a_count_without_a_change_is_no_change(lived):
    for one in lived.facts.approved():
        if one.channel == "env" and one.text[:2] not in {"风筝", "钟表"}:
            lived.facts.retire(one, now=DAY)
    texts = []
    for hour in range(5):
        compose(lived, texts, DAY + timedelta(hours=hour), turn=hour)
    assert len(set(texts)) == 1
    assert len(lived.home.hits.read_text("utf-8").splitlines()) == 5
    assert len(churn.changes(lived)) == 0
    [session] = churn.summary(lived).itertuples()
    assert (session.changes, session.texts, session.resent) == (0, 1, 0)
    assert pd.isna(session.first_share)


# --- the real recording ---------------------------------------------------------------------------------
def test_the_recorded_sessions_changed_twelve_times():
    """21 turns; offsets are those of the texts the model was really given."""
    memory = look(BUNDLED)
    frame = churn.changes(memory)
    logged = {log.id: [prompt.text for prompt in log.injections()] for log in memory.sessions.read_all()}
    real = [(old, new) for session in (FIRST, SECOND) for old, new in itertools.pairwise(logged[session])]
    assert len(frame) == len(real) == 12
    assert set(frame["basis"]) == {"logged"}
    for row, (old, new) in zip(frame.itertuples(), real, strict=True):
        assert (row.first_changed, row.chars) == (replay.shared_prefix(old, new), len(new))
        assert row.resent == row.chars - row.first_changed
    assert [(row.cause, row.segments) for row in frame.itertuples()] == [
        ("edit", ("profile", "env", "conclusions")),
        ("edit", ("notes",)),
        ("edit", ("env",)),
        ("config", ("framing",)),
        ("refill", ("env",)),
        ("edit", ("persona", "notes", "env", "habits")),
        ("config", ("framing",)),
        ("edit", ("persona",)),
        ("rotation", ("env",)),
        ("date", ("notes",)),
        ("edit", ("env",)),
        ("edit", ("habits",)),
    ]


def test_a_persona_of_the_same_length_is_seen_by_its_lines():
    """Neither ids nor lengths tell it; the two logged texts do."""
    memory = look(BUNDLED)
    one, three = (replay.rebuild(memory, SECOND, turn=turn) for turn in (1, 3))
    as_long = {**one.segments, "persona": one.segments["persona"]._replace(used=three.segments["persona"].used)}
    assert churn.changed_segments(dataclasses.replace(one, segments=as_long), three) == ("persona",)


def test_the_summary_counts_turns_in_the_log():
    """13 and 8 turns; a later turn that changed nothing is in no ledger line."""
    frame = churn.summary(look(BUNDLED)).set_index("session")
    assert list(frame["turns"]) == [13, 8]
    assert set(frame["turns_from"]) == {"log"}
    assert list(frame["changes"]) == [7, 5]
    assert frame.loc[FIRST, "per_100_turns"] == pytest.approx(100 * 7 / 13)
    assert dict(frame.loc[FIRST, ["edit", "config", "refill", "date", "rotation", "other"]]) == {
        "edit": 4, "config": 2, "refill": 1, "date": 0, "rotation": 0, "other": 0,
    }  # fmt: skip
    changes = churn.changes(look(BUNDLED))
    for session, rows in changes.groupby("session"):
        assert frame.loc[session, "resent"] == rows["resent"].sum()
        assert frame.loc[session, "first_share"] == pytest.approx(rows["first_share"].mean())


def test_without_logs_and_texts_the_ledger_still_tells_segments_and_lengths(recorded):
    """Half of the texts cannot be rebuilt: then what the first changed segment and those below it use is counted."""
    logged = churn.changes(look(recorded))
    shutil.rmtree(recorded / "sessions")
    frame = churn.changes(look(recorded))
    assert list(frame["basis"]) == [*["segments"] * 5, "segments", "rebuilt", "segments", *["rebuilt"] * 4]
    assert (frame["cause"] == logged["cause"]).all()
    by_segment = frame[frame["basis"] == "segments"]
    assert by_segment["first_changed"].isna().all()
    assert by_segment["chars"].notna().sum() == 2
    # A reworded fact is seen by its history, a hint by nothing.
    assert frame.loc[2, "segments"] == ("env",)
    assert frame.loc[2, "resent"] == 228 + 82
    assert frame.loc[3, "segments"] == ()
    assert pd.isna(frame.loc[3, "resent"])
    [first, second] = churn.summary(look(recorded)).itertuples()
    assert (first.unknown, second.unknown) == (1, 0)
    assert first.resent == frame[frame["session"] == FIRST]["resent"].sum()
    assert (first.turns, first.turns_from) == (13, "ledger")


def test_one_session_may_be_asked_for_by_the_beginning_of_its_id():
    frame = churn.changes(look(BUNDLED), session="session-5eed0002")
    assert set(frame["session"]) == {SECOND}
    assert list(churn.summary(look(BUNDLED), session=SECOND)["session"]) == [SECOND]
    with pytest.raises(NotFound):
        churn.changes(look(BUNDLED), session="session-9")


def test_the_demo_home_is_told_by_texts_and_by_segments():
    frame = churn.changes(look(DEMO))
    assert len(frame) == 326 - 137
    assert Counter(frame["basis"]) == {"segments": 172, "rebuilt": 17}
    assert Counter(frame["cause"]) == {"rotation": 133, "edit": 45, "date": 4, "refill": 4, "config": 3}
    known = frame[frame["basis"] == "rebuilt"]
    assert (known["resent"] + known["first_changed"] == known["chars"]).all()
    assert known["segments"].map(len).min() >= 1


# --- frames, odd ledgers --------------------------------------------------------------------------------
@pytest.mark.parametrize(("make", "name"), [(churn.changes, "churn"), (churn.summary, "churn_sessions")])
def test_a_frame_has_exactly_the_documented_columns(memory, make, name):
    for frame in (make(memory), make(look(BUNDLED)), make(look(DEMO))):
        assert [(column, str(kind)) for column, kind in frame.dtypes.items()] == [
            (column.name, schema.DTYPES[column.kind]) for column in schema.columns_of(name)
        ]
        for column in schema.columns_of(name):
            if not column.nullable:
                assert frame[column.name].notna().all(), column.name
    assert len(make(memory)) == 0
    assert not memory.home.root.exists()


def test_a_ledger_of_another_program_is_read_as_far_as_it_goes(recorded):
    """Turns that are no numbers, numbers that are none of ours, a line that is none."""
    path = recorded / "memory" / "hits.jsonl"
    rows = [
        {"digest": "a", "session": "x", "turn": "t-1", "at": "2026-11-20T00:00:00Z", "chars": {"env": 10}},
        {"digest": "b", "session": "x", "turn": "t-2", "at": "morgen", "cause": "whim", "chars": {"env": 12}},
        {"digest": "c", "session": "x", "turn": float("inf"), "cause": None, "chars": {"env": 2**70}},
    ]
    path.write_text(path.read_text("utf-8") + "".join(json.dumps(one) + "\n" for one in rows) + "{\n", "utf-8")
    frame = churn.changes(look(recorded))
    assert len(frame) == 12 + 2 + 1
    odd = frame[(frame["session"] == "x").fillna(value=False)]
    assert list(odd["flag"]) == [
        "at cannot be read",
        "at cannot be read; used is no number of ours; resent is no number of ours",
    ]
    assert list(odd["segments"]) == [("env",), ("env",)]
    assert odd["resent"].iloc[0] == 12
    assert pd.isna(odd["used"].iloc[1])
    assert frame["flag"].iloc[-1].endswith("not a ledger line (Expecting property name enclosed in double quotes: "
                                           "line 1 column 2 (char 1))")  # fmt: skip
    [session] = churn.summary(look(recorded), session="x").itertuples()
    assert (session.turns, session.turns_from, session.other) == (3, "ledger", 2)


def test_the_texts_of_a_churn_are_those_of_the_replay(recorded):
    """One reading of a session decides both."""
    found = list(replay.every(look(recorded), session=FIRST))
    texts = [one.injected for one in found if one.cause is not None]
    frame = churn.changes(look(recorded), session=FIRST)
    assert [len(one) for one in texts[1:]] == list(frame["chars"])
    assert all(digest(one.injected) == one.digest for one in found)
