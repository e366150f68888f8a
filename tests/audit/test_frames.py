from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import selfnote
from selfnote.audit import schema
from selfnote.demo import DEMO_NOW
from selfnote.errors import NotFound
from selfnote.records.heat import future_times, heat, idle_days, order_key, reference_time
from selfnote.records.ledger import read_hits, read_seen

FRAMES = tuple(schema.SCHEMA)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> selfnote.Memory:
    return selfnote.open_memory(selfnote.demo_home(tmp_path_factory.mktemp("demo") / ".dsh"))


def fact(identifier: str, **values: Any) -> dict[str, Any]:
    return {"id": identifier, "text": f"文字 {identifier}", "status": "approved", **values}


def write_lines(path: Path, *lines: dict[str, Any] | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def flags(frame: pd.DataFrame) -> list[str | None]:
    return [None if pd.isna(one) else one for one in frame["flag"]]


def dtypes(frame: pd.DataFrame) -> list[tuple[str, str]]:
    return [(name, str(dtype)) for name, dtype in frame.dtypes.items()]


def documented(name: str) -> list[tuple[str, str]]:
    return [(column.name, schema.DTYPES[column.kind]) for column in schema.SCHEMA[name]]


def tree(root: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path.relative_to(root)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


# --- facts and heat -------------------------------------------------------------------------------
def test_facts_hold_what_the_records_hold(demo: selfnote.Memory):
    """UC-002."""
    frame = demo.frames.facts(now=DEMO_NOW)
    facts = demo.facts.all()
    assert list(frame["id"]) == [one.id for one in facts]
    for name in ("text", "channel", "status", "importance", "occurrences", "hit_count", "seen_count", "tags", "line"):
        assert list(frame[name]) == [getattr(one, name) for one in facts], name
    for name in ("last_hit", "last_seen", "created_at", "approved_at"):
        assert [None if pd.isna(one) else one.to_pydatetime() for one in frame[name]] == [
            getattr(one, name) for one in facts
        ], name
    assert list(frame["conflict_ids"]) == [one.open_conflicts for one in facts]
    assert list(frame["n_changes"]) == [len(one.history) for one in facts]


def test_the_last_change_of_status_and_of_the_text_are_told(memory: selfnote.Memory):
    at = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
    kept = memory.facts.add("回答用中文", now=at)
    memory.facts.approve(kept.id, via="notebook", now=at + timedelta(hours=1))
    memory.facts.edit(kept.id, text="回答一律用中文", now=at + timedelta(hours=2))
    memory.facts.retire(kept.id, via="settings", now=at + timedelta(hours=3))
    row = memory.frames.facts(now=at + timedelta(days=1)).iloc[0]
    assert (row["changed_from"], row["changed_to"], row["changed_via"]) == ("approved", "retired", "settings")
    assert row["changed_at"] == pd.Timestamp(at + timedelta(hours=3))
    assert row["edited_at"] == pd.Timestamp(at + timedelta(hours=2))
    assert row["n_changes"] == 3
    assert row["source_kind"] == "owner"
    assert pd.isna(row["session"])


def test_a_line_that_cannot_be_read_is_a_row_with_its_number_and_the_reason(memory: selfnote.Memory, now: datetime):
    write_lines(memory.home.facts, fact("f-1"), "{broken", "", fact("f-2", source="s-1#12"), fact("f-1"), "[]")
    for name in ("facts", "heat", "attribution"):
        frame = getattr(memory.frames, name)(now=now)
        assert list(frame["line"]) == [1, 2, 4, 5, 6]
        bad = frame[frame["id"].isna()]
        assert list(bad["line"]) == [2, 5, 6]
        assert bad.drop(columns=["line", "flag"]).isna().all(axis=None)
        assert [one.split("(")[0].strip() for one in flags(bad)] == [
            "not JSON",
            "id f-1 is taken by line 1",
            "a JSON list, not an object",
        ]
        assert flags(frame[frame["id"].notna()]) == [None, None]
        assert dtypes(frame) == documented(name)
    row = memory.frames.facts(now=now).set_index("id").loc["f-2"]
    assert (row["source_kind"], row["session"], row["seq"]) == ("session", "s-1", 12)


def test_a_time_that_cannot_be_read_is_null_and_flagged_and_a_future_one_is_kept_and_flagged(
    memory: selfnote.Memory, now: datetime
):
    """A-12."""
    write_lines(
        memory.home.facts,
        fact("f-1", lastHit="yesterday", createdAt="2026-02-01T00:00:00Z"),
        fact("f-2", lastHit="2030-01-01T00:00:00Z", createdAt="2026-02-01T00:00:00Z", hitCount=3),
        fact("f-3"),
    )
    facts = memory.frames.facts(now=now)
    assert pd.isna(facts["last_hit"].iloc[0])
    assert facts["last_hit"].iloc[1] == pd.Timestamp("2030-01-01", tz="UTC")
    told = ["lastHit='yesterday' is not a time", "lastHit is in the future", None]
    assert flags(facts) == told
    warm = memory.frames.heat(now=now)
    assert flags(warm) == told
    assert list(warm["future"]) == [False, True, False]
    assert list(warm["ref"]) == [pd.Timestamp("2026-02-01", tz="UTC")] * 2 + [pd.Timestamp(0, tz="UTC")]
    assert flags(memory.frames.attribution(now=now))[:2] == told[:2]


def test_heat_is_that_of_the_records_and_ranks_as_the_composer_chooses(demo: selfnote.Memory):
    """S2-168, DESIGN "Choose by heat"."""
    frame = demo.frames.heat(now=DEMO_NOW).set_index("id")
    half_life = demo.config.load().half_life_days
    for one in demo.facts.all():
        row = frame.loc[one.id]
        assert math.isclose(row["heat"], heat(one, DEMO_NOW, half_life), rel_tol=1e-12)
        assert math.isclose(row["idle_days"], idle_days(one, DEMO_NOW), rel_tol=1e-12, abs_tol=1e-12)
        assert row["ref"] == pd.Timestamp(reference_time(one, DEMO_NOW))
        assert row["future"] == bool(future_times(one, DEMO_NOW))
        assert row["half_life"] == half_life
    approved = [one for one in demo.facts.all() if one.status == "approved"]
    approved.sort(key=lambda one: (-order_key(one, DEMO_NOW, half_life), one.approved_at, one.id))
    ranked = frame[frame["rank"].notna()].sort_values("rank")
    assert list(ranked.index) == [one.id for one in approved]
    assert list(ranked["rank"]) == list(range(1, len(approved) + 1))


# --- the ledgers ----------------------------------------------------------------------------------
def test_hits_are_one_row_per_injection_segment_and_entry(demo: selfnote.Memory):
    frame = demo.frames.hits(now=DEMO_NOW)
    lines, _ = read_hits(demo.home)
    assert not frame.duplicated(["injection", "segment", "id", "origin"]).any()
    inside = frame[frame["state"] == "in"]
    assert Counter(inside["injection"]) == {
        number: sum(map(len, line.ids.values())) for number, line in enumerate(lines)
    }
    squeezed = frame[frame["state"] == "squeezed"]
    assert len(squeezed) == sum(len(rows) for line in lines for rows in line.squeezed.values())
    assert squeezed[["needs", "left", "reason"]].notna().all(axis=None)
    assert squeezed["position"].isna().all()
    assert not frame[frame["state"].isin(["squeezed", "mentioned"])]["counted"].any()
    assert set(frame[frame["state"] == "mentioned"]["segment"]) == {"notes"}
    mentioned = frame[frame["mentioned"]]
    assert len(mentioned) == sum(len(ids) for line in lines for ids in line.mentioned.values())


def test_the_counts_of_a_fact_in_hits_add_up_to_its_counter(demo: selfnote.Memory):
    """S2-101, S2-103: the ledger and the counters tell the same, and never the searches."""
    facts = demo.frames.facts(now=DEMO_NOW).set_index("id")
    for frame, counter in (
        (demo.frames.hits(now=DEMO_NOW), "hit_count"),
        (demo.frames.searches(now=DEMO_NOW), "seen_count"),
    ):
        counts = frame.groupby("id")["count"].sum()
        known = counts.reindex(facts.index, fill_value=0)
        assert (known == facts[counter]).all()
        assert (frame["origin"] == "ledger").all()


def test_where_only_a_counter_tells_there_is_one_row_of_that_origin(memory: selfnote.Memory, now: datetime):
    """A home another program wrote: counters without a ledger."""
    at = "2026-02-20T08:00:00.000Z"
    write_lines(
        memory.home.facts,
        fact("f-1", hitCount=7, lastHit=at, seenCount=2, lastSeen=at),
        fact("f-2"),
        fact("f-3", hitCount=3, lastHit=at),
    )
    write_lines(
        memory.home.hits,
        {"at": at, "digest": "d", "ids": {"conclusions": ["f-3", "f-2"]}, "counted": ["f-3"], "cause": "start"},
    )
    hits = memory.frames.hits(now=now)
    rows = {(row.id, row.origin): row for row in hits.itertuples()}
    assert len(rows) == len(hits) == 4
    assert (rows["f-1", "counter"].count, rows["f-1", "counter"].at) == (7, pd.Timestamp(at))
    assert pd.isna(rows["f-1", "counter"].injection)
    assert (rows["f-3", "ledger"].count, rows["f-2", "ledger"].count) == (1, 0)
    assert rows["f-3", "counter"].count == 2
    assert pd.isna(rows["f-3", "counter"].at)
    searches = memory.frames.searches(now=now)
    assert [(row.id, row.count, row.origin) for row in searches.itertuples()] == [("f-1", 2, "counter")]


def test_an_odd_ledger_line_is_a_flagged_row(memory: selfnote.Memory, now: datetime):
    write_lines(
        memory.home.hits,
        {"at": "soon", "session": 5, "turn": 2, "digest": "d", "ids": {"env": ["f-1", "f-1"]}, "counted": ["f-9"]},
        "{torn",
        {
            "at": "2030-01-01T00:00:00Z",
            "digest": "e",
            "chars": {"env": 10**30},
            "squeezed": {"env": [["f-2", 10**30, 1, "no room"]]},
        },
    )
    hits = memory.frames.hits(now=now)
    assert [(row.id, row.flag) for row in hits[hits["id"].notna()].itertuples()] == [
        ("f-1", "at cannot be read; stands twice in the line, as in too"),
        ("f-9", "at cannot be read; counted, but in no segment of the line"),
        ("f-2", f"needs={10**30} is no number of ours; at is in the future"),
    ]
    assert list(hits["session"].dropna().unique()) == ["5"]
    torn = hits[hits["id"].isna()]
    assert list(torn["line"]) == [2]
    assert flags(torn)[0].startswith("hits.jsonl line 2: not a ledger line")
    injections = memory.frames.injections(now=now)
    assert len(injections) == 3
    assert pd.isna(injections["env"].iloc[1])


def test_searches_are_one_row_per_search_and_fact(demo: selfnote.Memory):
    """S2-102."""
    frame = demo.frames.searches(now=DEMO_NOW)
    lines, _ = read_seen(demo.home)
    assert [(row.search, row.id) for row in frame.itertuples()] == [
        (number, identifier) for number, line in enumerate(lines) for identifier in line.ids
    ]
    assert int(frame["count"].sum()) == sum(len(line.counted) for line in lines)


def test_injections_are_the_ledger_and_the_prompts_the_harness_logged(demo: selfnote.Memory):
    frame = demo.frames.injections(now=DEMO_NOW)
    lines, _ = read_hits(demo.home)
    ledger = frame[frame["origin"] == "ledger"]
    assert list(ledger["injection"]) == list(range(len(lines)))
    assert list(ledger["total"]) == [sum(line.chars.values()) for line in lines]
    assert list(ledger["digest"]) == [line.digest for line in lines]
    assert (ledger["total"] <= 1000).all()
    hits = demo.frames.hits(now=DEMO_NOW)
    entries = hits[hits["state"] == "in"].groupby("injection").size()
    assert list(entries) == list(ledger["n_entries"])
    logged = frame[frame["origin"] == "log"]
    prompts = [(log.id, one.seq, one.found) for log in demo.sessions.read_all() for one in log.injections()]
    assert [(row.session, row.seq, row.found) for row in logged.itertuples()] == prompts
    assert len(prompts) > 0
    without = demo.frames.injections(now=DEMO_NOW, logs=False)
    assert set(without["origin"]) == {"ledger"}


def test_an_injection_the_library_made_is_in_both_frames(memory: selfnote.Memory, now: datetime):
    memory.facts.approve(memory.facts.add("回答用中文", now=now).id, now=now)
    text = selfnote.compose_injection(memory.home.root, session="s-1", turn=1, cwd="/w", now=now)
    injections = memory.frames.injections(now=now)
    hits = memory.frames.hits(now=now)
    assert list(injections["digest"]) == [hashlib.sha256(text.encode()).hexdigest()]
    assert (injections["cause"].iloc[0], injections["turn"].iloc[0], injections["cwd"].iloc[0]) == ("start", "1", "/w")
    assert [(row.segment, row.kind, row.state, row.count) for row in hits.itertuples()] == [
        ("conclusions", "fact", "in", 1)
    ]
    assert int(injections["total"].iloc[0]) == injections["conclusions"].iloc[0] == len("回答用中文")


# --- what was said --------------------------------------------------------------------------------
def test_sessions_and_messages_are_what_the_logs_hold(demo: selfnote.Memory):
    logs = {log.id: log for log in demo.sessions.read_all()}
    frame = demo.frames.sessions(now=DEMO_NOW)
    assert list(frame["id"]) == list(logs)
    messages = demo.frames.messages()
    said = [message for log in logs.values() for message in log.messages()]
    assert list(messages["source"]) == [one.source for one in said]
    assert list(messages["text"]) == [one.text for one in said]
    assert list(messages["by_owner"]) == [one.by_owner for one in said]
    assert list(messages["length"]) == [len(one.text) for one in said]
    counted = messages.groupby("session").size().reindex(frame["id"], fill_value=0)
    assert list(counted) == list(frame["messages"])
    one = frame["id"].iloc[2]
    assert list(demo.frames.messages(one)["source"]) == [message.source for message in logs[one].messages()]


def test_a_session_nobody_has_is_not_found(demo: selfnote.Memory):
    with pytest.raises(NotFound, match="no session 'nobody'"):
        demo.frames.messages("nobody")


def test_a_log_that_cannot_be_read_is_a_flagged_row(memory: selfnote.Memory, now: datetime):
    folder = memory.home.sessions / "--w--" / "s-1"
    folder.mkdir(parents=True)
    (folder / "session.jsonl").write_text("no header\n", encoding="utf-8")
    (memory.home.sessions / "--w--" / "link").symlink_to(folder)
    sessions = memory.frames.sessions(now=now)
    assert list(sessions["id"].dropna()) == ["s-1"]
    assert list(sessions["status"].dropna()) == ["corrupt"]
    assert len(flags(sessions)) == 2
    assert None not in flags(sessions)
    messages = memory.frames.messages(now=now)
    assert list(messages["session"].dropna()) == ["s-1"]
    assert flags(messages)[0].startswith("corrupt: ")
    assert "symbolic link" in flags(messages)[1]


# --- the other records ----------------------------------------------------------------------------
def test_notes_tell_which_are_archived_expired_or_no_notes(memory: selfnote.Memory, now: datetime):
    memory.home.notes.parent.mkdir(parents=True)
    memory.home.notes.write_text(
        "# 自述\n- 2026-02-28 [稳定]📌 我先问\n随手一行\n- 2026-01-01 [临时] 过期的\n- 2026-02-30 [核心] 没有这天\n",
        encoding="utf-8",
    )
    memory.home.notes_archive.mkdir()
    (memory.home.notes_archive / "2026-01.md").write_text("- 2026-01-03 [临时] 旧的\n", encoding="utf-8")
    frame = memory.frames.notes(now=now)
    assert list(frame["line"]) == [2, 3, 4, 5, 1]
    assert list(frame["archived"]) == [False, False, False, False, True]
    assert list(frame["expired"].fillna(value=False)) == [False, False, True, False, True]
    assert [None if pd.isna(one) else one for one in frame["age_days"]] == [1, None, 59, None, 57]
    assert [bool(one) for one in flags(frame)] == [False, True, False, True, False]
    assert list(frame["id"].isna()) == [False, True, False, False, False]
    assert frame["pinned"].iloc[0]


def test_corrections_habits_and_summaries_keep_their_bad_lines(memory: selfnote.Memory, now: datetime):
    write_lines(
        memory.home.corrections,
        {"id": "c-1", "sid": "s-1", "seq": 4, "at": "2026-02-01T00:00:00Z", "text": "不对，用中文", "signal": "strong"},
        "{broken",
        {"sid": "s-1", "seq": 9, "ts": "never", "text": "又错了"},
    )
    frame = memory.frames.corrections(now=now)
    assert list(frame["line"]) == [1, 2, 3]
    assert list(frame["seq"].dropna()) == [4, 9]
    assert list(frame["strength"].dropna()) == ["strong", "weak"]
    assert flags(frame)[2] == "at='never' is not a time"
    write_lines(memory.home.facts, fact("f-1"), fact("f-2", status="retired"))
    write_lines(
        memory.home.habits,
        {"id": "h-1", "tag": "语言", "text": "用中文", "factIds": ["f-1", "f-2"], "createdAt": "2026-02-01T00:00:00Z"},
        {"id": "h-2", "tag": "语言", "text": "用英文", "factIds": ["f-2"], "createdAt": 5e20},
        "nothing",
    )
    habits = memory.frames.habits(now=now)
    assert list(habits["active"].dropna()) == [True, False]
    assert list(habits["n_approved"].dropna()) == [1, 0]
    assert [bool(one) for one in flags(habits)] == [False, True, True]
    write_lines(
        memory.home.summaries,
        {"id": "s-1", "text": "谈了部署", "source": "s-9#41", "createdAt": "2026-02-01T00:00:00Z"},
        {"id": "s-1", "text": "again"},
    )
    summaries = memory.frames.summaries(now=now)
    assert [(row.session, row.seq) for row in summaries.iloc[:1].itertuples()] == [("s-9", 41)]
    assert flags(summaries)[1] == "id s-1 is taken by an earlier line"


# --- this turn ------------------------------------------------------------------------------------
def test_attribution_is_the_table_of_the_audit(demo: selfnote.Memory):
    """S2-096..105."""
    frame = demo.frames.attribution(now=DEMO_NOW).set_index("id")
    report = demo.audit(now=DEMO_NOW)
    assert list(frame.index) == [one.fact.id for one in report.attribution]
    assert list(frame["state"]) == [one.state for one in report.attribution]
    assert list(frame["absorbed"]) == [one.absorbed for one in report.attribution]
    assert list(frame["heat"]) == [one.heat for one in report.attribution]
    entries = {
        one.id for segment in report.injection.segments.values() for one in segment.entries if one.kind == "fact"
    }
    assert set(frame[frame["inside"]].index) == entries
    assert set(frame[frame["needs"].notna()].index) == {
        one.id for segment in report.injection.segments.values() for one in segment.squeezed if one.kind == "fact"
    }


def test_squeeze_holds_every_entry_the_text_leaves_out(demo: selfnote.Memory):
    frame = demo.frames.squeeze(now=DEMO_NOW)
    injection = demo.assemble(now=DEMO_NOW)
    out = [(name, one) for name, segment in injection.segments.items() for one in segment.squeezed]
    assert [(row.segment, row.kind, row.id, row.needs, row.left, row.reason) for row in frame.itertuples()] == [
        (name, one.kind, one.id, one.needs, one.left, one.reason) for name, one in out
    ]
    assert (frame["short"] == frame["needs"] - frame["left"]).all()
    assert (frame.groupby("segment")["rank"].max() == frame.groupby("segment").size()).all()
    assert frame[frame["kind"] == "fact"]["heat"].notna().all()


# --- all of them ----------------------------------------------------------------------------------
def test_looking_writes_nothing(tmp_path: Path):
    root = selfnote.demo_home(tmp_path / ".dsh")
    memory = selfnote.open_memory(root)
    before = tree(root)
    for name in FRAMES:
        getattr(memory.frames, name)(now=DEMO_NOW)
        getattr(selfnote.audit.many({"demo": root}), name)(now=DEMO_NOW)
    assert tree(root) == before


@pytest.mark.parametrize("name", FRAMES)
def test_a_file_that_cannot_be_read_is_one_flagged_row(memory: selfnote.Memory, now: datetime, name: str):
    home = memory.home
    places = {
        "notes": home.notes,
        "corrections": home.corrections,
        "habits": home.habits,
        "summaries": home.summaries,
        "hits": home.hits,
        "injections": home.hits,
        "searches": home.seen,
        "sessions": home.sessions / "--w--",
        "messages": home.sessions / "--w--",
    }
    place = places.get(name, home.facts)
    if name in {"sessions", "messages"}:
        (place / "s-1" / "session.jsonl.zstd").mkdir(parents=True)
    else:
        place.mkdir(parents=True)
    frame = getattr(memory.frames, name)(now=now)
    assert len(frame) == 1
    assert flags(frame)[0]
    assert dtypes(frame) == documented(name)


def test_a_naive_now_is_refused(memory: selfnote.Memory):
    with pytest.raises(ValueError, match="no time zone"):
        memory.frames.facts(now=datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point


# --- several memories -----------------------------------------------------------------------------
@pytest.mark.parametrize("name", FRAMES)
def test_many_memories_stand_under_each_other_and_a_broken_one_harms_none(
    demo: selfnote.Memory, tmp_path: Path, name: str
):
    broken = tmp_path / "broken"
    (broken / "memory" / "facts.jsonl").mkdir(parents=True)
    empty = tmp_path / "empty"
    empty.mkdir()
    many = selfnote.audit.many(
        {"mine": demo.home.root, "none": tmp_path / "gone", "empty": empty, "bad": broken, "同": demo}
    )
    frame = getattr(many, name)(now=DEMO_NOW)
    own = getattr(demo.frames, name)(now=DEMO_NOW)
    assert dtypes(frame) == [("home", "string"), *documented(name)]
    parts = dict(iter(frame.groupby("home")))
    assert flags(parts["none"]) == [f"{tmp_path / 'gone'} is no folder"]
    assert "empty" not in parts
    for home in ("mine", "同"):
        if len(own):
            pd.testing.assert_frame_equal(parts[home].drop(columns="home").reset_index(drop=True), own)


def test_no_memory_at_all_is_a_typed_empty_frame():
    frame = selfnote.audit.many({}).hits()
    assert frame.columns[0] == "home"
    assert len(frame) == 0


def test_a_memory_in_its_own_zone_reads_naive_times_there(tmp_path: Path):
    """A-28, DESIGN "Files"."""
    for zone in ("Asia/Shanghai", "UTC"):
        root = tmp_path / zone.replace("/", "-")
        write_lines(root / "memory" / "facts.jsonl", fact("f-1", createdAt="2026-02-01T08:00:00"))
        write_lines(root / "selfnote" / "config.json", {"tz": zone})
    both = selfnote.audit.many({"sh": tmp_path / "Asia-Shanghai", "utc": tmp_path / "UTC"}).facts(now=DEMO_NOW)
    assert list(both["created_at"]) == [
        pd.Timestamp("2026-02-01 00:00", tz="UTC"),
        pd.Timestamp("2026-02-01 08:00", tz="UTC"),
    ]


def test_importing_selfnote_brings_no_tables_and_many_is_still_at_hand(tmp_path: Path):
    """PERFORMANCE T11."""
    code = (
        "import sys, selfnote; selfnote.open_memory(sys.argv[1]).frames; selfnote.audit.many;"
        "assert not {'pandas', 'numpy'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=60)
