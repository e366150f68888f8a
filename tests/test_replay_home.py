"""The replay fixture: the real harness's logs hold the texts its ledger names, with the scripted causes."""

import importlib
import os
import re
import sys
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

import selfnote
from selfnote.records.ledger import known_digests, read_hits, read_seen
from selfnote.sessions.log import SessionLog
from selfnote.storage.fingerprints import digest

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "data-fixtures" / "replay-home"
SIZE_LIMIT = 400 * 1024
FIRST = "session-5eed0001-0a01-4000-8000-000000000001"
SECOND = "session-5eed0002-0b02-4000-8000-000000000002"
#: The instant the fixture is looked at from.
NOW = datetime(2026, 11, 25, 2, 0, tzinfo=UTC)
#: A stretch of English prose: eight words in a row.
PROSE = re.compile(r"(?:[A-Za-z][A-Za-z,'`-]*[ ]){8,}")
#: Turn and cause of every ledger line; None: facts were counted, the text stayed.
CAUSES = {
    FIRST: [
        (1, "start"),
        (3, "edit"),
        (5, "edit"),
        (6, "edit"),
        (7, None),
        (8, "config"),
        (9, None),
        (10, "refill"),
        (12, "edit"),
        (13, "config"),
    ],
    SECOND: [(1, "start"), (3, "edit"), (4, "rotation"), (5, "date"), (6, "edit"), (8, "edit")],
}


@pytest.fixture(scope="module")
def memory():
    return selfnote.open_memory(HOME, read_only=True)


@pytest.fixture(scope="module")
def hits(memory):
    lines, bad = read_hits(memory.home)
    assert bad == []
    return {session: [line for line in lines if line.session == session] for session in CAUSES}


@pytest.fixture(scope="module")
def logs(memory):
    return {log.id: log for log in memory.sessions.read_all()}


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        yield importlib.import_module("record_replay_home")
    finally:
        sys.path.remove(str(ROOT / "tools"))
        for name in ("record_replay_home", "replay_content", "build_demo_home", "demo_content"):
            sys.modules.pop(name, None)


def files():
    return {path.relative_to(HOME).as_posix(): path for path in HOME.rglob("*") if path.is_file()}


def texts(value):
    """Every string in a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    if isinstance(value, dict):
        value = [*value, *value.values()]
    for one in value if isinstance(value, list) else ():
        yield from texts(one)


def starts(log):
    """Turn -> when it began."""
    return {event.data["turn"]: event.time for event in log.events() if event.type == "turn/start"}


def line_of(lines, turn):
    """The ledger line written in a turn."""
    return next(line for line in lines if line.turn == turn)


# --- what there is --------------------------------------------------------------------------------------
def test_the_fixture_is_small_and_holds_only_files_the_registry_or_the_harness_knows():
    known = (
        r"selfnote/(persona\.md|notes\.md|config\.json)|memory/(facts|habits|hits|seen)\.jsonl"
        r"|memory/(rotation|sessions-injected|heartbeat)\.json|sessions/--[^/]+--/[^/]+/session\.jsonl\.zstd"
    )
    assert [name for name in files() if not re.fullmatch(known, name)] == []
    assert sum(path.stat().st_size for path in files().values()) < SIZE_LIMIT


def test_both_logs_are_whole(logs):
    assert {log.id: (log.status, log.turn_count) for log in logs.values()} == {FIRST: ("ok", 13), SECOND: ("ok", 8)}
    assert [log.problems for log in logs.values()] == [(), ()]
    assert {log.header.cwd for log in logs.values()} == {"/home/owner/work/rainvane"}


def test_some_facts_wait_some_are_retired_and_some_are_squeezed(memory, hits):
    assert len(memory.facts.approved()) >= 25
    assert len(memory.facts.candidates()) >= 3
    assert len(memory.facts.retired()) >= 2
    reasons = {row[3] for lines in hits.values() for line in lines for rows in line.squeezed.values() for row in rows}
    assert reasons == {"no room", "conflict", "longer than the segment", "longer than half the segment"}


# --- the ledger and the logs tell one story -------------------------------------------------------------
def test_the_causes_in_the_ledger_are_the_scripted_ones(hits):
    """DESIGN "Causes"."""
    assert {session: [(line.turn, line.cause) for line in lines] for session, lines in hits.items()} == CAUSES


def test_a_line_without_a_cause_counted_facts_and_kept_the_text(hits):
    """DESIGN "Files": on every hourly count, changed or not."""
    for lines in hits.values():
        for before, line in pairwise(lines):
            assert (line.cause is None) == (line.digest == before.digest)
            assert line.counted or line.cause is not None


@pytest.mark.parametrize("session", [FIRST, SECOND])
def test_every_logged_prompt_holds_the_text_the_ledger_names_at_that_time(logs, hits, session):
    """HARNESS 7: a prompt is logged at the start of a process and whenever the text changed, so line by line."""
    prompts = logs[session].injections()
    changes = [line for line in hits[session] if line.cause is not None]
    assert [prompt.digest for prompt in prompts] == [line.digest for line in changes]
    assert {prompt.found for prompt in prompts} == {"digest"}
    for prompt in prompts:
        before = [line for line in hits[session] if line.at <= prompt.time]
        assert before[-1].digest == prompt.digest == digest(prompt.text)
        assert 0 <= (prompt.time - before[-1].at).total_seconds() < 2


def test_our_text_is_found_by_its_sentences_too(logs):
    """A log whose ledger is lost still shows what was injected."""
    for log in logs.values():
        alone = SessionLog(log.path).injections()
        assert {prompt.found for prompt in alone} == {"sentences"}
        assert [prompt.text for prompt in alone] == [prompt.text for prompt in log.injections()]


def test_a_logged_prompt_is_one_placeholder_and_our_text(logs, tool):
    """The harness's own prose is not ours to hand on; ours is kept byte for byte."""
    for log in logs.values():
        for prompt in log.injections():
            assert prompt.system == f"{tool.SYSTEM_PLACEHOLDER}\n\n{prompt.text}"


def test_the_last_text_is_the_one_the_memory_gives_now(memory, logs):
    """What was injected last can be rebuilt from the files alone."""
    assert memory.assemble(now=NOW).text == logs[FIRST].injections()[-1].text


def test_a_ledger_line_has_the_instant_its_turn_began(logs, hits):
    """replay-home.md: the logs were moved to the scripted instants."""
    for session, lines in hits.items():
        began = starts(logs[session])
        assert [(line.turn, line.at) for line in lines] == [(line.turn, began[line.turn]) for line in lines]


def test_time_never_steps_back_in_the_logs(logs):
    for log in logs.values():
        times = [log.header.created_at, *(event.time for event in log.events())]
        assert times == sorted(times)
        assert times[-1] < NOW


# --- what happened between the turns --------------------------------------------------------------------
def test_a_candidate_said_in_turn_two_was_approved_before_turn_three(memory, logs, hits):
    """S2-010, S2-022: its source is the owner's message in the log."""
    fact = next(fact for fact in memory.facts.approved() if fact.source.startswith(FIRST))
    message = logs[FIRST].message_at(int(fact.source.partition("#")[2]))
    assert fact.text in message.text
    assert message.by_owner
    began = starts(logs[FIRST])
    assert began[2] <= message.time < fact.created_at < fact.approved_at < began[3]
    before, after = line_of(hits[FIRST], 1), line_of(hits[FIRST], 3)
    assert before.digest != after.digest


def test_a_fact_was_reworded_before_turn_six(memory, logs):
    """S2-084: the old wording is in the history, both are in the logged prompts."""
    began = starts(logs[FIRST])
    edits = [(fact, item) for fact in memory.facts.all() for item in fact.history if item.field == "text"]
    [(fact, item)] = edits
    assert began[5] < item.at < began[6]
    prompts = {event.time: event.text for event in logs[FIRST].injections()}
    old = [text for time, text in prompts.items() if began[3] <= time < began[6]]
    new = [text for time, text in prompts.items() if began[6] <= time < began[8]]
    assert all(item.old in text and fact.text not in text for text in old)
    assert all(fact.text in text and item.old not in text for text in new)
    assert (len(old), len(new)) == (2, 1)


def test_a_note_the_model_wrote_shows_from_the_next_turn(memory, logs):
    """DESIGN "Turn": the second step of turn 4 got the text of the first, and no prompt was logged between them."""
    log = logs[FIRST]
    began = starts(log)
    [call] = [event for event in log.events() if event.type == "tool/call"]
    assert call.data["name"] == "self_note"
    assert began[4] < call.time < began[5]
    assert sum(event.type == "step/start" and event.data["turn"] == 4 for event in log.events()) == 2
    note = memory.notes.list()[-1]
    assert note.text in call.data["arguments"]
    first_with = next(prompt for prompt in log.injections() if note.text in prompt.text)
    assert began[5] <= first_with.time < began[6]


def test_a_search_by_the_model_is_in_its_ledger(memory, logs):
    """S2-102."""
    [call] = [event for event in logs[SECOND].events() if event.type == "tool/call"]
    assert call.data["name"] == "memory_search"
    [seen] = read_seen(memory.home)[0]
    assert (seen.session, seen.via, seen.at) == (SECOND, "memory_search", starts(logs[SECOND])[2])
    assert len(seen.ids) == 2


def test_a_compaction_gives_the_env_facts_back_for_one_turn(logs, hits):
    """S2-211: the hour chose others, turn 9 got the ones from before once more, turn 10 the chosen."""
    events = {event.type: event for event in logs[FIRST].events() if event.type.startswith("compaction/")}
    assert set(events) == {"compaction/start", "compaction/summary", "compaction/end"}
    assert "error" not in events["compaction/end"].data
    began = starts(logs[FIRST])
    assert began[8] < events["compaction/end"].time < began[9]
    eight, nine, ten = (line_of(hits[FIRST], turn) for turn in (8, 9, 10))
    assert nine.ids["env"] == eight.ids["env"]
    assert set(ten.ids["env"]) != set(nine.ids["env"])
    given_back = set(nine.ids["env"]) - set(ten.ids["env"])
    assert given_back
    assert not given_back & set(nine.counted)


def test_a_failed_compaction_changes_nothing(logs, hits):
    """S2-211."""
    [end] = [event for event in logs[SECOND].events() if event.type == "compaction/end"]
    assert end.data["error"]
    began = starts(logs[SECOND])
    assert began[6] < end.time < began[7]
    assert [line.turn for line in hits[SECOND] if line.turn == 7] == []


def test_the_resumed_session_logs_its_prompt_anew(logs):
    """HARNESS 9: once per process start."""
    assert [prompt.reason for prompt in logs[FIRST].injections()] == ["initial", *["change"] * 5, "resume", "change"]
    assert logs[FIRST].type_counts["session/end-seed"] == 1


def test_the_last_change_set_the_language(logs):
    before, after = (prompt.text.split("\n") for prompt in logs[FIRST].injections()[-2:])
    assert before[:2] == ["记忆（我写的）", "以下是你自己的样子，照这个说话。"]
    assert after[:2] == ["Memory (written by me)", "This is who you are; speak this way."]


# --- what must not be in it -----------------------------------------------------------------------------
def test_no_prose_of_the_harness_is_in_the_logs(logs):
    for log in logs.values():
        ours = {prompt.system for prompt in log.injections()}
        for event in log.events():
            if event.type == "request/header":
                assert event.data["header"]["tools"] == []
            theirs = [
                text for text in texts(event.data) if text not in ours and not text.startswith("[the harness's own")
            ]
            assert [text for text in theirs if len(text) > 200] == []
            prose = [
                text for text in theirs if PROSE.search(text) and not text.startswith("[a runtime-context snapshot")
            ]
            assert set(prose) <= {"Sure. The daily report is ready for you to read."}


def test_no_path_of_a_real_machine_and_no_host_is_in_any_file(logs):
    """Only the invented /home/owner; the recording also refuses the name of its own machine."""
    whole = "\n".join(path.read_text("utf-8") for path in files().values() if path.suffix != ".zstd")
    whole += "\n".join(files())
    for log in logs.values():
        whole += "\n".join(text for event in log.events() for text in texts(event.data)) + (log.header.cwd or "")
    assert set(re.findall(r"/home/\w+", whole)) == {"/home/owner"}
    assert (
        re.findall(r"/(?:root|tmp|opt|var|usr|mnt|work/shared|Users)/|localhost|\d+\.\d+\.\d+\.\d+|https?:", whole)
        == []
    )


# --- how it was made ------------------------------------------------------------------------------------
@pytest.mark.parametrize("session", [FIRST, SECOND])
def test_rewriting_a_stored_log_changes_no_byte(logs, tool, session):
    """EX-002: frame by frame with the harness's parameters; ours survives, what was left out stays out."""
    log = logs[session]
    marks = [(event.seq, event.time) for event in log.events() if event.type in {"turn/start", "command/run"}]
    marks[0] = (0, marks[0][1])
    raw = log.path.read_bytes()
    assert tool.rewrite_log(raw, marks, {prompt.text for prompt in log.injections()}) == raw


def test_a_text_that_is_not_ours_is_refused(logs, tool):
    log = logs[SECOND]
    with pytest.raises(AssertionError, match="does not end with a text of ours"):
        tool.rewrite_log(log.path.read_bytes(), [(0, starts(log)[1])], {"another text"})


def test_recording_again_gives_the_same_ledger(tool, tmp_path):
    """With the kit's runtime at hand ($DSH_ROOT): the real harness, the same texts, the same causes."""
    runtime = os.environ.get("DSH_ROOT")
    if not runtime or not tool.DEFAULT_KIT.is_dir():
        pytest.skip("DSH_ROOT names no installed harness, or the kit is not beside this checkout")
    tool.record(Path(runtime).resolve(), tool.DEFAULT_KIT, tmp_path / "again")
    again = selfnote.open_memory(tmp_path / "again", read_only=True)
    told = [
        [(line.at, line.session, line.turn, line.cause, line.digest) for line in read_hits(home)[0]]
        for home in (again.home, selfnote.open_memory(HOME, read_only=True).home)
    ]
    assert told[0] == told[1]
    assert known_digests(again.home) == {
        prompt.digest for log in again.sessions.read_all() for prompt in log.injections()
    }
