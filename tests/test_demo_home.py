"""The bundled demo memory is believable, whole, small, and made by its own tool."""

import importlib
import json
import re
import shutil
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
import zstandard

import selfnote
from selfnote.demo import DEMO_NOW
from selfnote.errors import NotFound
from selfnote.records.attribution import attribution_state
from selfnote.records.ledger import CAUSES, read_heartbeat, read_hits, read_seen, read_sessions_injected
from selfnote.records.notes import is_expired
from selfnote.records.persona import count_chars
from selfnote.records.sources import parse_source

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "data-fixtures" / "demo-home"
SIZE_LIMIT = 2 * 1024 * 1024
#: A stretch of English prose: eight words in a row.
PROSE = re.compile(r"(?:[A-Za-z][A-Za-z,'`-]*[ ]){8,}")


@pytest.fixture(scope="module")
def demo():
    return selfnote.open_memory(HOME, read_only=True)


@pytest.fixture(scope="module")
def facts(demo):
    return demo.facts.all()


@pytest.fixture(scope="module")
def hits(demo):
    return read_hits(demo.home)[0]


@pytest.fixture(scope="module")
def logs(demo):
    return {log.id: log for log in demo.sessions.read_all()}


@pytest.fixture(scope="module")
def corrections():
    return [json.loads(line) for line in (HOME / "selfnote" / "corrections.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        yield importlib.import_module("build_demo_home")
    finally:
        sys.path.remove(str(ROOT / "tools"))
        for name in ("build_demo_home", "demo_content"):
            sys.modules.pop(name, None)


def files(root):
    return {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}


def texts(value):
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(one)


def quotes(logs, source, text):
    """Whether the message a session source names is there and holds the text."""
    where = parse_source(source)
    try:
        return text in logs[where.name].message_at(where.number).text
    except (KeyError, NotFound):
        return False


# --- what there is --------------------------------------------------------------------------------------
def test_the_demo_is_at_most_two_megabytes():
    """PERFORMANCE: it lies in the wheel."""
    assert sum(path.stat().st_size for path in files(HOME).values()) <= SIZE_LIMIT


def test_no_lock_temp_or_other_leftover_is_in_the_demo():
    """DESIGN "Files": only files the registry or the harness knows."""
    known = (
        r"selfnote/(persona\.md|notes\.md|config\.json|corrections\.jsonl|archive/2026-10\.md)"
        r"|memory/(facts|habits|hits|seen)\.jsonl|memory/(rotation|sessions-injected|heartbeat)\.json"
        r"|memory/archive/(hits|seen)-2026-\d\d\.jsonl|sessions/--[^/]+--/[^/]+/session\.jsonl(\.zstd)?"
    )
    assert [name for name in files(HOME) if not re.fullmatch(known, name)] == []


def test_the_only_line_nobody_reads_is_the_owners_prose_in_notes(demo):
    """DESIGN "Files": bad lines are tested elsewhere; the prose line is kept and never injected."""
    assert demo.facts.bad_lines() == []
    assert demo.habits.bad_lines() == []
    assert read_hits(demo.home)[1] == [] == read_seen(demo.home)[1]
    assert demo.config.problems() == ()
    assert [line.excerpt for line in demo.notes.other_lines()] == ["这里是阿砚自己写的话，我只改错字。"]


def test_facts_stand_in_both_channels_and_every_status(facts):
    """S2-155, DESIGN "Transitions"."""
    assert len(facts) >= 95
    count = Counter((fact.channel, fact.status) for fact in facts)
    assert (
        min(count[channel, status] for channel in ("rel", "env") for status in ("candidate", "approved", "retired")) > 0
    )
    by_status = Counter(fact.status for fact in facts)
    assert by_status["candidate"] >= 12
    assert by_status["approved"] >= 60
    assert by_status["retired"] >= 12
    assert [fact.problems for fact in facts if fact.problems] == []


def test_facts_carry_what_the_owner_gave_them(facts):
    """S2-156..167: tags, reasons, details, importance, occurrences."""
    tags = Counter(tag for fact in facts for tag in fact.tags)
    assert {"语言", "风格", "工具", "流程", "代码", "沟通"} <= {tag for tag, count in tags.items() if count >= 2}
    assert {fact.reason for fact in facts} == {"convention", "prohibition", "preference", "correction", None}
    assert len({fact.importance for fact in facts}) >= 4
    assert sum(fact.occurrences > 1 for fact in facts) >= 4
    assert all(fact.detail for fact in facts if fact.channel == "env" and fact.capture_source == "imported-mnemon")


def test_conflicts_are_the_planned_ones_and_no_others(demo, facts):
    """A-13, DESIGN "Links"."""
    open_pairs = [(one.status, one.channel, other.status) for one, other in demo.facts.conflicts()]
    assert sorted(open_pairs) == [
        ("approved", "env", "approved"),
        ("approved", "rel", "approved"),
        ("approved", "rel", "candidate"),
    ]
    links = [link for fact in facts for link in fact.similar_to]
    assert sum(link.kind == "conflict" and bool(link.resolved) for link in links) == 2
    assert sum(link.kind == "near" for link in links) >= 4
    assert any(link.rule.startswith("identical; retired on ") for link in links)


def test_one_fact_is_too_long_for_each_kind_of_place(facts):
    """S2-203, S2-208: over half of env's 230, over the 90 of conclusions."""
    approved = [fact for fact in facts if fact.status == "approved"]
    assert sum(fact.channel == "env" and 115 < len(fact.text) <= 230 for fact in approved) == 1
    assert sum(fact.channel == "rel" and len(fact.text) > 90 for fact in approved) == 1


def test_every_state_of_use_occurs_among_the_approved(facts):
    """S2-096..105."""
    approved = [fact for fact in facts if fact.status == "approved"]
    states = Counter(attribution_state(fact, DEMO_NOW, 30) for fact in approved)
    assert min(states[state] for state in ("active", "silent", "seen", "never")) >= 5


def test_history_tells_of_replacing_undoing_and_editing(facts):
    """S2-084, DESIGN "Transitions": made by the verbs, in the order of time."""
    items = [item for fact in facts for item in fact.history]
    assert {"text", "detail", "tags", "importance", "similarTo"} <= {item.field for item in items}
    assert sum(item.replaces is not None and item.to == "approved" for item in items) >= 4
    assert any(item.from_ == "approved" and item.to == "candidate" for item in items)
    assert any(item.from_ == "retired" and item.to == "approved" for item in items)
    for fact in facts:
        times = [fact.created_at, *(item.at for item in fact.history)]
        assert times == sorted(times)


# --- where the facts come from --------------------------------------------------------------------------
def test_every_session_source_quotes_its_message_but_exactly_two(facts, logs):
    """A-32, S2-022: one seq names another sentence, one session does not exist."""
    sourced = [(fact, source) for fact in facts for source in fact.sources if parse_source(source).kind == "session"]
    false = [(fact.text, source) for fact, source in sourced if not quotes(logs, source, fact.text)]
    assert false == [
        ("上线前在预发环境放一晚", "session-bbbbbbbb-0002-4000-8000-000000000002#111"),
        ("订会议室优先挑有白板的那间", "session-5e0c1a77-00aa-4000-8000-0000000000ad#42"),
    ]
    assert len({fact.id for fact, _ in sourced}) - len(false) >= 12


def test_a_message_was_said_before_the_fact_made_of_it(facts, logs):
    """DESIGN "Sources": the logs are moved so that sources come first."""
    for fact in facts:
        source = parse_source(fact.source)
        if source.kind == "session" and source.name in logs:
            assert logs[source.name].message_at(source.number).time < fact.created_at


def test_imported_facts_say_so(facts):
    """S2-162, S2-163."""
    imported = [fact for fact in facts if fact.source.startswith("import:")]
    assert len(imported) >= 20
    assert {fact.capture_source for fact in imported} == {"imported-mnemon"}


# --- persona, notes, habits, corrections, configuration -------------------------------------------------
def test_the_persona_is_near_its_limits(demo):
    """S2-127, S2-128."""
    persona = demo.persona.load()
    assert 70 <= count_chars(persona.l0) <= 80
    assert 300 <= persona.chars <= 320
    assert 200 <= len(persona.l2) <= 600


def test_notes_stand_in_three_tiers_with_expired_pinned_and_undated_ones(demo):
    """S2-106..120, A-02."""
    notes = demo.notes.list()
    today = DEMO_NOW.date()
    ttl = demo.config.load().temp_ttl_days
    assert len(notes) >= 44
    assert {note.tier for note in notes if note.pinned} == {"core", "stable", "temp"}
    assert sum(note.on is None for note in notes) == 1
    assert sum(is_expired(note, today, ttl) for note in notes) >= 5
    assert sum(note.tier == "temp" and not is_expired(note, today, ttl) for note in notes) >= 3
    assert (HOME / "selfnote" / "notes.md").read_text("utf-8").startswith("# ")
    assert (HOME / "selfnote" / "archive" / "2026-10.md").read_text("utf-8").count("\n") == 3


def test_two_habits_are_active_and_one_is_revoked(demo):
    """A-07."""
    assert len(demo.habits.active()) == 2
    assert [bool(habit.revoked_at) for habit in demo.habits.all()].count(True) == 1


def test_corrections_are_in_every_state_and_quote_the_logs(corrections, logs):
    """A-10, A-11."""
    fields = ["id", "sid", "seq", "at", "text", "signal", "status", "usedAt", "ruleFp"]
    assert len(corrections) >= 12
    assert all(list(line) == fields for line in corrections)
    assert Counter(line["status"] for line in corrections) == {"open": len(corrections) - 5, "used": 3, "dismissed": 2}
    assert {line["signal"] for line in corrections} == {"strong", "weak"}
    assert all(
        (line["usedAt"] is not None) == (line["status"] == "used") == (line["ruleFp"] is not None)
        for line in corrections
    )
    assert len({line["id"] for line in corrections}) == len(corrections)
    said = [line for line in corrections if line["sid"] in logs]
    assert len(said) >= 8
    for line in said:
        message = logs[line["sid"]].message_at(line["seq"])
        assert (message.text, message.by_owner) == (line["text"], True)


def test_the_owner_changed_some_settings(demo):
    """S2-017."""
    stored = json.loads((HOME / "selfnote" / "config.json").read_text("utf-8"))
    assert {"tz", "timingHint", "tempTtlDays"} <= set(stored)
    assert demo.config.load().tz == "Asia/Shanghai"


# --- what was injected and found ------------------------------------------------------------------------
def test_every_cause_of_a_change_occurs_in_the_ledger(hits):
    """DESIGN "Causes"."""
    assert len(hits) >= 300
    assert {hit.cause for hit in hits} == {*CAUSES, None}


def test_the_ledger_only_goes_forward_and_ends_before_the_audit(demo, hits, facts):
    """A-34, PERFORMANCE: nothing in the demo lies in its own future."""
    times = [hit.at for hit in hits]
    assert times == sorted(times)
    latest = max(*times, *(fact.last_hit for fact in facts if fact.last_hit), read_heartbeat(demo.home).at)
    assert timedelta(0) < DEMO_NOW - latest < timedelta(days=1)
    assert {path.name for path in demo.home.ledger_archive.glob("hits-*")} == {
        "hits-2026-08.jsonl",
        "hits-2026-09.jsonl",
        "hits-2026-10.jsonl",
    }


def test_hit_counts_are_what_the_ledger_counted(hits, facts, demo):
    """S2-171, S2-102: the two counters and their ledgers agree."""
    counted = Counter(identifier for hit in hits for identifier in hit.counted)
    assert {fact.id: fact.hit_count for fact in facts if fact.hit_count} == dict(counted)
    found = Counter(identifier for line in read_seen(demo.home)[0] for identifier in line.counted)
    assert {fact.id: fact.seen_count for fact in facts if fact.seen_count} == dict(found)


def test_the_text_at_the_audit_is_what_the_last_session_got(demo, hits):
    """DESIGN "Cache": nothing was changed after the last turn, so nothing changed in the text."""
    injection = selfnote.assemble_injection(demo, now=DEMO_NOW)
    last = hits[-1]
    assert last.digest == injection.digest
    assert last.ids == injection.ids
    assert read_sessions_injected(demo.home)[0][last.session].digest == injection.digest


def test_the_text_at_the_audit_keeps_to_its_budgets(demo):
    """S2-198..204, DESIGN "Length": every segment has something in it, and something is squeezed."""
    injection = selfnote.assemble_injection(demo, now=DEMO_NOW)
    assert injection.reason is None
    assert injection.flags == ()
    assert all(0 < segment.used <= segment.budget for segment in injection.segments.values())
    assert injection.total_chars <= 1000
    assert len(injection.text) == injection.total_chars + injection.framing_chars + injection.hint_chars
    assert {name for name, segment in injection.segments.items() if segment.squeezed} == {"notes", "env", "conclusions"}


# --- the session logs -----------------------------------------------------------------------------------
def test_all_ten_logs_are_whole_and_spread_over_three_months(logs):
    """HARNESS 11: the kit's own logs, moved in time."""
    assert len(logs) == 10
    assert {log.status for log in logs.values()} == {"ok"}
    assert sum(log.header.delegated for log in logs.values()) == 2
    days = sorted({f"{log.header.created_at:%Y-%m-%d}" for log in logs.values()})
    assert days[0] == "2026-08-24"
    assert days[-1] <= "2026-11-22"
    assert len({day[:7] for day in days}) == 4


def test_a_child_was_started_while_its_parent_ran(logs):
    """EX-007: parent and child moved together."""
    for log in logs.values():
        if log.header.parent:
            parent = logs[log.header.parent]
            assert parent.header.created_at < log.header.created_at < parent.last_time


def test_no_prompt_of_the_harness_is_in_the_logs(logs):
    """The harness's own prose is not ours to hand on; a long text is a tool's output or what the owner and the agent said."""
    for log in logs.values():
        for event in log.events():
            if event.type == "request/header":
                assert event.data["header"]["tools"] == []
                assert len(event.data["header"]["system"]) < 80
            elif event.type == "session/title-llm-request":
                assert len(event.data["system"]) < 80
            if event.type != "tool/result":
                assert [text for text in texts(event.data) if len(text) > 200] == []
            prose = [text for text in texts(event.data) if PROSE.search(text) and not text.startswith("[")]
            assert all(
                event.type in {"assistant/chunk", "assistant/message"} or text in _OWN_WORDS for text in prose
            ), prose


_OWN_WORDS = {"From now on, give me the conclusion first and keep it short."}


def test_no_path_of_a_real_machine_is_in_the_demo(logs):
    """Only the invented /home/owner."""
    whole = "\n".join(path.read_text("utf-8") for path in files(HOME).values() if path.suffix != ".zstd") + "\n".join(
        text for log in logs.values() for event in log.events() for text in texts(event.data)
    )
    assert set(re.findall(r"/home/\w+", whole)) == {"/home/owner"}
    assert re.findall(r"/(?:root|tmp|work/shared|Users)/", whole) == []


# --- how it was made ------------------------------------------------------------------------------------
def test_a_rebuild_gives_the_same_bytes(tool, tmp_path):
    """Every act carries its time. When this fails after a change of the library: run tools/build_demo_home.py."""
    shutil.copytree(HOME / "sessions", tmp_path / "home" / "sessions")
    tool.build(tmp_path / "home", None)
    built, stored = files(tmp_path / "home"), files(HOME)
    assert sorted(built) == sorted(stored)
    assert [name for name in stored if built[name].read_bytes() != stored[name].read_bytes()] == []


def test_the_logs_are_the_kits_frame_by_frame(tool, tmp_path):
    """EX-002: as many frames, written with the harness's parameters; the plain log stays plain."""
    kit = tool.DEFAULT_SESSIONS
    if not kit.is_dir():
        pytest.skip("the kit with the real session logs is not beside this checkout")
    tool.copy_sessions(kit, tmp_path)
    made, stored = files(tmp_path), files(HOME / "sessions")
    assert sorted(made) == sorted(stored)
    originals = {
        path.relative_to(kit).as_posix().partition("/")[2]: path for path in kit.glob("sessions*/*/*/session.jsonl*")
    }
    for name, path in stored.items():
        frames = tool.read_frames(path.read_bytes())
        assert frames == tool.read_frames(made[name].read_bytes())
        assert len(frames) == len(tool.read_frames(originals[name].read_bytes()))
        if path.suffix == ".zstd":
            parameters = zstandard.get_frame_parameters(path.read_bytes())
            assert parameters.content_size == zstandard.CONTENTSIZE_UNKNOWN
            assert (parameters.window_size, parameters.has_checksum) == (2 * 1024 * 1024, True)
