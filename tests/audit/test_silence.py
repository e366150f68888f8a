"""Why an approved fact is not in use, and who should get the next characters (UC-004, S2-096..105)."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

import selfnote
from selfnote.audit import schema, silence
from selfnote.audit.scenarios import inside
from selfnote.demo import DEMO_NOW, bundled_home
from selfnote.errors import LimitExceeded
from selfnote.phrases import CAUSE_LABELS
from selfnote.records.ledger import count_seen

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def fact(identifier: str, text: str, **values) -> dict:
    return {
        "id": identifier,
        "text": text,
        "status": "approved",
        "channel": "rel",
        "approvedAt": "2026-01-02T00:00:00.000Z",
        "createdAt": "2026-01-01T00:00:00.000Z",
    } | values


def write_facts(home: Path, *lines: dict | str, config: dict | None = None) -> selfnote.Memory:
    path = home / "memory" / "facts.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    if config:
        (home / "selfnote").mkdir(exist_ok=True)
        (home / "selfnote" / "config.json").write_text(json.dumps(config, ensure_ascii=False), encoding="utf-8")
    return selfnote.open_memory(home, tz="Asia/Shanghai")


def compose(memory: selfnote.Memory, at: datetime, hours: int = 1) -> datetime:
    """Use the memory for some hours; the hour after the last."""
    for hour in range(hours):
        selfnote.compose_injection(memory.home.root, session="s", turn=str(at + hour * HOUR), now=at + hour * HOUR)
    return at + hours * HOUR


def row_of(memory: selfnote.Memory, identifier: str, now: datetime) -> pd.Series:
    return silence.by_cause(memory, now=now).set_index("id").loc[identifier]


def tree(root: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path.relative_to(root)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


HOT = fact("f-hot", "热" * 80, hitCount=50, lastHit="2026-01-28T00:00:00.000Z", importance=3)


# --- causes ---------------------------------------------------------------------------------------
def test_a_fact_approved_two_hours_ago_is_too_new_and_no_zombie(home: Path):
    """COMPLAINTS 16; and after the grace period it is one, if texts were injected since."""
    memory = write_facts(home, HOT, fact("f-new", "新" * 40, approvedAt="2026-03-01T07:00:00.000Z"))
    compose(memory, NOW - HOUR, 2)
    row = row_of(memory, "f-new", NOW)
    assert (row["state"], row["cause"], row["zombie"], row["chance"]) == ("never", "too new", False, "none")
    compose(memory, NOW + HOUR)
    last = NOW - 2 * HOUR + silence.GRACE
    row = row_of(memory, "f-new", last - timedelta(minutes=1))
    assert (row["cause"], row["zombie"]) == ("too new", False)
    row = row_of(memory, "f-new", last)
    assert (row["cause"], row["zombie"]) == ("squeezed", True)


def test_one_that_was_always_squeezed_had_no_chance_and_it_is_told_by_whom_and_by_how_much(home: Path):
    """COMPLAINTS 16, 20: no chance, not "not relevant"."""
    memory = write_facts(home, HOT, fact("f-out", "外" * 40))
    after = compose(memory, NOW, 4)
    memory.facts.approve(memory.facts.add("也" * 9, now=after), now=after)
    after = compose(memory, after, 2)
    also = next(one.id for one in memory.facts.approved() if one.text.startswith("也"))
    row = row_of(memory, "f-out", after)
    assert (row["cause"], row["chance"], row["zombie"]) == ("squeezed", "none", True)
    assert (row["opportunities"], row["times_squeezed"], row["times_in"]) == (6, 6, 0)
    # 41 needed beside 80 of 90, 10 left; beside the other one too, 0 left.
    assert (row["least_short"], row["needs"], row["left"]) == (31, 41, 0)
    assert (row["squeezed_by"], row["squeezed_by_most"]) == (("f-hot", also), 6)
    assert row["last_reasons"] == ("no room",) * silence.LAST_REASONS
    rows = silence.squeezers(memory, now=after)
    assert [tuple(one)[1:] for one in rows.itertuples()] == [
        ("f-out", "conclusions", "f-hot", "热" * 80, 6, 1.0),
        ("f-out", "conclusions", also, "也" * 9, 2, pytest.approx(1 / 3)),
    ]


def test_before_its_approval_nothing_was_an_opportunity(home: Path):
    memory = write_facts(home, HOT, fact("f-out", "外" * 40, approvedAt="2026-03-01T11:30:00.000Z"))
    compose(memory, NOW, 5)
    assert row_of(memory, "f-out", NOW + DAY)["opportunities"] == 2
    assert row_of(memory, "f-hot", NOW + DAY)["opportunities"] == 5


def test_one_that_stood_in_texts_and_cooled_had_its_chance(home: Path):
    """S2-098: silent, and why."""
    memory = write_facts(home, fact("f-old", "旧" * 60, importance=0))
    after = compose(memory, NOW, 3)
    newer = memory.facts.add("新" * 60, now=after + DAY)
    memory.facts.approve(newer.id, now=after + DAY)
    memory.facts.set_importance(newer.id, 3, now=after + DAY)
    compose(memory, after + DAY, 5)
    row = row_of(memory, "f-old", after + 40 * DAY)
    assert (row["state"], row["cause"], row["chance"], row["zombie"]) == ("silent", "cold", "lost", True)
    assert (row["opportunities"], row["times_in"], row["since_last"], row["times_squeezed"]) == (8, 3, 5, 5)
    assert (row["squeezed_by"], row["least_short"]) == ((newer.id,), 61 - 30)


def test_nothing_since_is_no_chance_for_one_that_was_in_and_one_that_never_was(home: Path):
    """COMPLAINTS 16: the two meanings of nothing."""
    memory = write_facts(
        home, fact("f-in", "在" * 80, importance=0), fact("f-out", "外" * 40, importance=0, approvedAt=None)
    )
    rows = silence.by_cause(memory, now=NOW).set_index("id")
    assert (rows.loc["f-out", "cause"], rows.loc["f-out", "zombie"]) == ("no chance", False)
    assert (rows.loc["f-in", "cause"], rows.loc["f-in", "inside"]) == ("next", True)
    after = compose(memory, NOW, 3)
    newer = memory.facts.add("新" * 80, now=after)
    memory.facts.approve(newer.id, now=after)
    memory.facts.set_importance(newer.id, 3, now=after)
    row = row_of(memory, "f-in", after + 40 * DAY)
    assert (row["state"], row["cause"], row["chance"], row["since_last"]) == ("silent", "no chance", "lost", 0)


def test_conflict_length_and_nothing_printable_are_causes_of_their_own(home: Path):
    """UC-004: no number of characters helps a conflict."""
    link = [{"id": "f-b", "kind": "conflict", "rule": "r"}]
    memory = write_facts(
        home,
        fact("f-a", "端口 1", similarTo=link),
        fact("f-b", "端口 2"),
        fact("f-long", "长" * 91),
        fact("f-half", "机" * 116, channel="env"),
        fact("f-hotter", "热" * 115, channel="env", importance=3),
        fact("f-blank", "\u200b"),
        fact("f-in", "在"),
    )
    after = compose(memory, NOW, 2)
    causes = silence.by_cause(memory, now=after).set_index("id")["cause"].to_dict()
    assert causes == {
        "f-a": "conflict",
        "f-b": "conflict",
        "f-long": "too long",
        "f-half": "too long",
        "f-hotter": "in use",
        "f-blank": "unprintable",
        "f-in": "in use",
    }


def test_a_fact_behind_the_owners_profile_is_absorbed(home: Path):
    """S2-090."""
    memory = write_facts(home, fact("f-1", "他在成都", tags=["背景"]))
    memory.override_profile("成都人", ("f-1",))
    after = compose(memory, NOW, 2)
    row = row_of(memory, "f-1", after)
    assert (row["cause"], row["chance"], row["inside"], row["zombie"]) == ("absorbed", "used", False, False)
    assert (row["times_in"], row["injected"]) == (2, 2)


def test_with_injection_off_that_is_the_cause(home: Path):
    memory = write_facts(home, HOT, config={"injectionEnabled": False})
    assert row_of(memory, "f-hot", NOW)["cause"] == "off"


def test_injected_searched_and_restated_are_three_columns_and_never_a_sum(home: Path):
    """COMPLAINTS 19, S2-103: injected 400 times and searched 2 times."""
    memory = write_facts(home, fact("f-1", "甲", hitCount=400, lastHit="2026-02-28T00:00:00Z", occurrences=4))
    for minutes in (0, 20):
        at = NOW + timedelta(minutes=minutes)
        count_seen(memory.home, memory.facts, ["f-1"], session="s", via="memory_search", now=at)
    row = row_of(memory, "f-1", NOW + HOUR)
    assert (row["injected"], row["searched"], row["restated"]) == (400, 2, 3)
    numbers = [value for value in row if isinstance(value, int | float) and not isinstance(value, bool)]
    assert not {402, 403, 405, 5} & set(numbers)


def test_a_searched_fact_that_never_goes_in_is_no_zombie(home: Path):
    """S2-099: searched only is use of another kind."""
    memory = write_facts(home, HOT, fact("f-out", "外" * 40, seenCount=2, lastSeen="2026-02-01T00:00:00Z"))
    after = compose(memory, NOW, 2)
    row = row_of(memory, "f-out", after)
    assert (row["state"], row["cause"], row["zombie"]) == ("seen", "squeezed", False)


def test_a_home_of_another_program_that_kept_counters_only_is_judged_by_them(home: Path):
    """UC-002: without a ledger only counters tell; that nothing was injected since may not be concluded."""
    memory = write_facts(
        home,
        fact("f-hot", "热" * 80, hitCount=90, lastHit="2026-02-28T00:00:00Z"),
        fact("f-was", "曾" * 40, hitCount=9, lastHit="2026-01-10T00:00:00Z"),
        fact("f-out", "外" * 40),
    )
    rows = silence.by_cause(memory, now=NOW).set_index("id")
    assert dict(rows["cause"]) == {"f-hot": "in use", "f-was": "cold", "f-out": "squeezed"}
    assert dict(rows["zombie"]) == {"f-hot": False, "f-was": True, "f-out": True}
    assert (rows["opportunities"] == 0).all()


def test_looked_at_from_an_earlier_instant_later_texts_do_not_count(home: Path):
    memory = write_facts(home, HOT, fact("f-out", "外" * 40))
    compose(memory, NOW, 5)
    assert row_of(memory, "f-out", NOW + 2 * HOUR)["opportunities"] == 3


def test_what_cannot_be_read_is_a_row_with_a_flag(home: Path):
    """UC-002: bad rows carry a flag instead of vanishing."""
    memory = write_facts(home, "}{", fact("f-odd", "好", approvedAt="昨天", createdAt="2031-01-01T00:00:00Z"), HOT)
    frame = silence.by_cause(memory, now=NOW)
    assert list(frame["line"]) == [1, 2, 3]
    assert frame["id"].isna().tolist() == [True, False, False]
    assert "approvedAt" in frame["flag"][1]
    assert "createdAt is in the future" in frame["flag"][1]
    assert frame["age_days"].isna().tolist() == [True, True, False]


def test_in_the_demo_the_causes_are_those_one_sees(tmp_path: Path):
    """UC-004: three questions in three lines; every number from the frame."""
    memory = selfnote.open_memory(bundled_home(), read_only=True)
    frame = silence.by_cause(memory, now=DEMO_NOW)
    assert frame["cause"].value_counts().to_dict() == {
        "in use": 45, "squeezed": 23, "cold": 9, "conflict": 4, "too long": 2,
    }  # fmt: skip
    attribution = memory.frames.attribution(now=DEMO_NOW)
    for mine, theirs in {"injected": "hit_count", "searched": "seen_count", "state": "state", "heat": "heat"}.items():
        assert list(frame[mine]) == list(attribution[theirs])
    assert (frame["times_in"] + frame["since_last"] <= frame["opportunities"]).all()
    assert (frame.loc[frame["cause"] == "squeezed", "times_in"] == 0).all()
    assert (frame.loc[frame["cause"] == "cold", "times_in"] > 0).all()


def test_every_cause_has_a_label_in_both_languages():
    causes = {"absorbed", "conflict", "in use", "unprintable", "too long", "off", "too new", "next", "no chance"}
    for language in ("zh", "en"):
        assert set(CAUSE_LABELS[language]) == causes | {"cold", "squeezed"}
    documented = next(column for column in schema.columns_of("silence") if column.name == "cause")
    for cause in CAUSE_LABELS["en"]:
        assert cause in documented.meaning
        assert cause in documented.meaning_zh


# --- who should get the next characters -----------------------------------------------------------
def ranked(memory: selfnote.Memory, chars: int = 100) -> list[str]:
    return list(silence.next_characters(memory, chars, now=NOW)["id"])


def test_importance_goes_before_demand_demand_before_heat(home: Path):
    """S2-104, S2-105: importance is human judgement, searches are demand, heat only measures space."""
    memory = write_facts(
        home,
        fact("f-in", "在" * 90, hitCount=900, lastHit="2026-03-01T00:00:00Z"),
        fact("f-warm", "暖" * 20, hitCount=9, lastHit="2026-01-20T00:00:00Z"),
        fact("f-cool", "凉" * 20),
        fact("f-short", "短" * 10),
        fact("f-asked", "问" * 20, seenCount=1),
        fact("f-said", "说" * 20, occurrences=3),
        fact("f-rated", "评" * 20, importance=1.5),
        fact("f-active", "活" * 20, hitCount=3, lastHit="2026-02-27T00:00:00Z", importance=3, seenCount=9),
        fact("f-long", "长" * 100, importance=3, seenCount=9),
    )
    assert ranked(memory) == [
        "f-rated", "f-asked", "f-said", "f-warm", "f-short", "f-cool", "f-active", "f-long",
    ]  # fmt: skip
    frame = silence.next_characters(memory, 70, now=NOW).set_index("id")
    assert list(frame.index[frame["gets"]]) == ["f-rated", "f-asked", "f-said"]
    assert list(frame["running"])[:4] == [21, 42, 63, 63]
    assert not frame.loc["f-long", "eligible"]
    assert list(frame["rank"]) == list(range(1, 9))
    smaller = silence.next_characters(memory, 32, now=NOW).set_index("id")
    assert list(smaller.index[smaller["gets"]]) == ["f-rated", "f-short"]


def test_what_the_composer_would_do_stands_beside_what_the_rule_says(home: Path):
    memory = write_facts(
        home,
        fact("f-in", "在" * 90, hitCount=900, lastHit="2026-03-01T00:00:00Z"),
        fact("f-hot", "热" * 20, hitCount=9, lastHit="2026-01-20T00:00:00Z"),
        fact("f-asked", "问" * 20, seenCount=5),
    )
    frame = silence.next_characters(memory, 21, now=NOW).set_index("id")
    assert dict(frame["gets"]) == {"f-asked": True, "f-hot": False}
    assert dict(frame["would_get"]) == {"f-asked": False, "f-hot": True}
    budgets = {**memory.config.load().budgets(), "conclusions": 90 + 21}
    assert "f-hot" in inside(selfnote.assemble_injection(memory, now=NOW, budgets=budgets))


def test_one_in_conflict_is_listed_last_and_gets_nothing(home: Path):
    link = [{"id": "f-b", "kind": "conflict", "rule": "r"}]
    memory = write_facts(
        home, fact("f-in", "在" * 90, importance=3), fact("f-a", "端口 1", similarTo=link, seenCount=9), fact("f-b", "端口 2"),
        fact("f-c", "丙"),
    )  # fmt: skip
    frame = silence.next_characters(memory, now=NOW)
    assert list(frame["id"]) == ["f-c", "f-a", "f-b"]
    assert list(frame["gets"]) == [True, False, False]


def test_notes_out_of_the_text_compete_as_well(home: Path):
    memory = write_facts(home, HOT)
    memory.notes.add("旧" * 50, now=NOW - DAY)
    memory.notes.add("新" * 190, now=NOW)
    row = silence.next_characters(memory, now=NOW).iloc[0]
    assert (row["kind"], row["segment"], row["needs"], row["gets"], row["would_get"]) == (
        "note",
        "notes",
        50,
        True,
        True,
    )
    assert pd.isna(row["state"])
    assert pd.isna(row["importance"])


@pytest.mark.parametrize("chars", [0, -5, 1.5, True, 1001])
def test_characters_that_are_no_number_are_refused(memory: selfnote.Memory, chars):
    with pytest.raises(LimitExceeded, match="chars="):
        silence.next_characters(memory, chars, now=NOW)


def test_a_number_taken_from_a_frame_will_do(home: Path):
    memory = write_facts(home, HOT, fact("f-out", "外" * 40))
    needs = silence.by_cause(memory, now=NOW)["needs"].max()
    assert silence.next_characters(memory, needs, now=NOW)["gets"].tolist() == [True]


# --- frames ---------------------------------------------------------------------------------------
def test_the_frames_are_as_documented_and_typed_when_empty(home: Path, memory: selfnote.Memory):
    nothing = {
        "silence": silence.by_cause(memory, now=NOW),
        "squeezers": silence.squeezers(memory, now=NOW),
        "next_characters": silence.next_characters(memory, now=NOW),
    }
    full = write_facts(home, HOT, fact("f-out", "外" * 40))
    compose(full, NOW - HOUR)
    some = {
        "silence": silence.by_cause(full, now=NOW),
        "squeezers": silence.squeezers(full, now=NOW),
        "next_characters": silence.next_characters(full, now=NOW),
    }
    for frames in (nothing, some):
        for name, frame in frames.items():
            assert [(key, str(dtype)) for key, dtype in frame.dtypes.items()] == [
                (column.name, schema.DTYPES[column.kind]) for column in schema.columns_of(name)
            ]
    assert all(frame.empty for frame in nothing.values())
    for name, frame in some.items():
        assert len(frame) > 0
        for column in schema.columns_of(name):
            if not column.nullable:
                assert frame[column.name].notna().all(), column.name


def test_looking_at_silence_writes_nothing(tmp_path: Path):
    """COMPLAINTS 17, S2-095."""
    root = selfnote.demo_home(tmp_path / ".dsh")
    memory = selfnote.open_memory(root)
    before = tree(root)
    assert len(silence.by_cause(memory, now=DEMO_NOW)) == 83
    assert len(silence.squeezers(memory, now=DEMO_NOW)) > 100
    assert len(silence.next_characters(memory, now=DEMO_NOW)) == 65
    assert tree(root) == before
