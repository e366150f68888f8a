"""What a past turn was given, rebuilt and held against the log (issue 5 point 5, COMPLAINTS 14)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import random
import re
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import zstandard

import selfnote
from selfnote import compose_injection
from selfnote.audit import replay, schema
from selfnote.errors import NotFound
from selfnote.injection.compose import forget_composers
from selfnote.phrases import REPLAY
from selfnote.records.fact_history import fact_at, is_whole
from selfnote.records.ledger import CAUSES
from selfnote.storage.fingerprints import digest

BUNDLED = Path(__file__).resolve().parent.parent.parent / "data-fixtures" / "replay-home"
FIRST = "session-5eed0001-0a01-4000-8000-000000000001"
SECOND = "session-5eed0002-0b02-4000-8000-000000000002"
#: What l1:4 said before the persona was saved at 22:50 on 24 November, and says since.
OLD_LINE, NEW_LINE = "不夸人，也不道歉两次。", "不夸人；错了就改，只道歉一次。"
#: The fact reworded at 09:34 on 24 November.
REWORDED = "f-7498bd12bb1f"
START = datetime(2026, 3, 2, 1, 0, tzinfo=UTC)


@pytest.fixture
def recorded(tmp_path):
    """A copy of the replay home."""
    shutil.copytree(BUNDLED, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture
def with_old_persona(recorded):
    """The same, its persona as it was before it was saved."""
    edit_file(recorded / "selfnote" / "persona.md", NEW_LINE, OLD_LINE)
    return recorded


def look(home):
    return selfnote.open_memory(home, read_only=True)


def edit_file(path, old, new):
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def edit_line(path, number, change):
    """Change one JSON line, counted from 0."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    values = json.loads(lines[number])
    change(values)
    lines[number] = json.dumps(values, ensure_ascii=False) + "\n"
    path.write_text("".join(lines), "utf-8")


def place_of(path, key, value):
    lines = path.read_text("utf-8").splitlines()
    return next(place for place, line in enumerate(lines) if json.loads(line).get(key) == value)


def edit_fact(home, identifier, change):
    path = home / "memory" / "facts.jsonl"
    edit_line(path, place_of(path, "id", identifier), change)


def edit_ledger(home, session, turn, **values):
    path = home / "memory" / "hits.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    number = next(place for place, one in enumerate(lines) if (one["session"], one["turn"]) == (session, turn))
    edit_line(path, number, lambda line: line.update(values))


def edit_log(home, session, prompt, old, new):
    """Change the system prompt of one ``request/header`` of a real log, counted from 0."""
    [path] = home.glob(f"sessions/*/{session}/session.jsonl.zstd")
    with path.open("rb") as stream:
        text = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True).read()
    lines = text.splitlines(keepends=True)
    number = [place for place, line in enumerate(lines) if b'"type":"request/header"' in line][prompt]
    values = json.loads(lines[number])
    system = values["data"]["header"]["system"]
    assert system.count(old) == 1
    values["data"]["header"]["system"] = system.replace(old, new)
    lines[number] = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    path.write_bytes(zstandard.ZstdCompressor().compress(b"".join(lines)))


def statuses(home):
    """(session, turn) -> status and reason of every change."""
    frame = replay.all(look(home))
    return {
        (row.session[8:16], int(row.turn)): (row.status, None if row.reason is None else row.reason)
        for row in frame.astype({"reason": object}).where(frame.notna(), None).itertuples()
    }


def changed(before, after):
    """What another status has now."""
    return {key: value for key, value in after.items() if before[key] != value}


def tree(root):
    return {
        str(path.relative_to(root)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


# --- the real recording ---------------------------------------------------------------------------------
def test_of_the_fourteen_logged_prompts_seven_are_equal_and_seven_say_why():
    """Fourteen texts in two sessions; those before the persona's last save cannot be known, and one line is why."""
    frame = replay.all(look(BUNDLED))
    assert len(frame) == 14
    assert set(frame["log"]) == {"logged"}
    assert (frame["logged_digest"] == frame["digest"]).all()
    assert Counter(frame["status"]) == {"equal": 7, "cannot know": 7}
    equal = frame[frame["status"] == "equal"]
    assert (equal["rebuilt_digest"] == equal["digest"]).all()
    assert [(one[8:16], turn) for one, turn in zip(equal["session"], equal["turn"], strict=True)] == [
        ("5eed0001", "12"), ("5eed0001", "13"), *(("5eed0002", turn) for turn in ("3", "4", "5", "6", "8")),
    ]  # fmt: skip
    unknown = frame[frame["status"] == "cannot know"]
    assert set(unknown["missing"]) == {("persona", "persona l1:4")}
    assert unknown["rebuilt_digest"].isna().all()
    assert frame["differs_at"].isna().all()


def test_an_equal_text_is_the_logged_one_byte_for_byte():
    for one in replay.every(look(BUNDLED)):
        if one.status == "equal":
            assert one.text == one.logged
            assert digest(one.text) == one.digest == one.logged_digest
        else:
            assert one.text is None
            assert one.injected == one.logged


def test_settings_that_were_others_are_found_by_the_digest():
    """The language was set to English at the very end; everything before it is rebuilt in Chinese."""
    settings = {(one.session, one.turn): one.settings for one in replay.every(look(BUNDLED)) if one.status == "equal"}
    assert settings.pop((FIRST, 13)) == ()
    assert set(settings.values()) == {("language='zh'",)}


def test_with_the_persona_of_then_the_texts_of_then_are_rebuilt(with_old_persona):
    """Facts from their history, notes by their ids, no hint yet, the refill: all of it, but for the new persona."""
    found = {(one.session, one.turn): one for one in replay.every(look(with_old_persona))}
    equal = [key for key, one in found.items() if one.status == "equal"]
    assert equal == [*((FIRST, turn) for turn in (1, 3, 5, 6, 7, 8, 9, 10)), (SECOND, 1)]
    assert all(found[key].text == found[key].logged for key in equal)
    assert "备份盘叫 backup-b，周日凌晨同步" in found[FIRST, 5].text
    assert "备份盘叫 backup-b，周六夜里同步" in found[FIRST, 6].text
    assert found[FIRST, 6].settings == ("language='zh'", "timing_hint=''")


def test_without_the_logs_what_was_proven_stays_proven(recorded):
    shutil.rmtree(recorded / "sessions")
    frame = replay.all(look(recorded))
    assert set(frame["log"]) == {"no log"}
    assert Counter(frame["status"]) == {"equal": 7, "cannot know": 7}
    # Nothing tells which line of the persona it was.
    assert {one[0] for one in frame[frame["status"] == "cannot know"]["missing"]} == {"persona"}


def test_every_text_of_the_demo_home_is_equal_or_says_why():
    """No prompt of the demo's logs holds our text; of 326 texts the records still give 29."""
    memory = look(BUNDLED.parent / "demo-home")
    frame = replay.all(memory)
    assert Counter(zip(frame["status"], frame["log"], strict=True)) == {
        ("equal", "no log"): 29,
        ("cannot know", "no log"): 289,
        ("cannot know", "without our text"): 8,
    }
    unknown = frame[frame["status"] == "cannot know"]
    assert unknown["missing"].map(len).min() >= 1
    # The persona of then had another length: that is known, not guessed.
    told = unknown["why"].str.contains("人格当时 ")
    assert told.sum() > 200
    assert frame["flag"].isna().all()


def test_a_note_of_the_archive_is_still_its_own_text(recorded):
    """S2-069: a deleted note keeps its id, which is a hash of its wording."""
    memory = selfnote.open_memory(recorded)
    before = statuses(recorded)
    for note in memory.notes.list():
        memory.notes.delete(note)
    assert statuses(recorded) == before


def test_of_two_equal_notes_each_stays_its_own_text(home):
    """DESIGN "Ids": the second one has .2 behind its id; in the archive it has not."""
    memory = selfnote.open_memory(home, tz="Asia/Shanghai")
    memory.notes.add("同一句话。", now=START)
    second = memory.notes.add("同一句话。", now=START)
    assert second.id.endswith(".2")
    text = compose_injection(home, session="s", turn=1, now=START)
    memory.notes.delete(second, now=START)
    assert [one.text for one in replay.every(memory)] == [text]


# --- one character changed ------------------------------------------------------------------------------
def test_a_changed_history_differs_from_the_log_in_the_facts_line(with_old_persona):
    """Turns 1, 3 and 5 had the old wording; where they part is the character that was changed."""
    before = statuses(with_old_persona)
    edit_fact(with_old_persona, REWORDED, lambda one: one["history"][-1].update(old="备份盘叫 backup-c，周日凌晨同步"))
    assert changed(before, statuses(with_old_persona)) == {
        ("5eed0001", turn): ("differs", "records") for turn in (1, 3, 5)
    }
    one = replay.rebuild(look(with_old_persona), FIRST, turn=3)
    assert one.logged[one.differs_at.offset :].startswith("b，周日凌晨同步")
    assert "backup-c，周日" in one.differs_at.rebuilt
    assert "backup-b，周日" in one.differs_at.logged
    assert [(part.id, part.kind) for part in one.missing] == [(REWORDED, "fact unsure")]
    assert one.text is not None
    assert one.text != one.logged


def test_a_changed_history_differs_even_where_the_persona_cannot_be_known(recorded):
    """What can be known is held against the log."""
    before = statuses(recorded)
    edit_fact(recorded, REWORDED, lambda one: one["history"][-1].update(old="备份盘叫 backup-c，周日凌晨同步"))
    assert changed(before, statuses(recorded)) == {("5eed0001", turn): ("differs", "records") for turn in (1, 3, 5)}
    one = replay.rebuild(look(recorded), FIRST, turn=1)
    assert one.text is None
    assert {part.kind for part in one.missing} == {"persona changed", "persona line", "fact unsure"}
    assert "backup-b" in one.differs_at.logged


def test_without_a_log_a_changed_history_cannot_be_known_and_is_named(with_old_persona):
    """A fact's id is a hash of its first wording: a history that does not lead there is not whole."""
    shutil.rmtree(with_old_persona / "sessions")
    before = statuses(with_old_persona)
    edit_fact(with_old_persona, REWORDED, lambda one: one["history"][-1].update(old="备份盘叫 backup-c，周日凌晨同步"))
    assert changed(before, statuses(with_old_persona)) == {
        ("5eed0001", turn): ("cannot know", None) for turn in (1, 3, 5)
    }
    one = replay.rebuild(look(with_old_persona), FIRST, turn=3)
    assert (REWORDED, "fact unsure") in [(part.id, part.kind) for part in one.missing]


def test_a_fact_reworded_in_an_editor_differs(recorded):
    """Its line says another thing than was injected, and no history says since when."""
    before = statuses(recorded)
    edit_fact(recorded, "f-6452c8793142", lambda one: one.update(text="坐标轴都标单位"))
    after = statuses(recorded)
    assert set(after.values()) == {("differs", "records")}
    assert len(changed(before, after)) == 14


def test_without_a_log_a_fact_reworded_in_an_editor_is_named(recorded):
    """Its history does not lead to the wording it has now."""
    shutil.rmtree(recorded / "sessions")
    edit_fact(recorded, "f-6452c8793142", lambda one: one.update(text="坐标轴都标单位"))
    one = replay.rebuild(look(recorded), SECOND, turn=5)
    assert one.status == "cannot know"
    assert ("f-6452c8793142", "fact unsure") in [(part.id, part.kind) for part in one.missing]


def test_a_history_is_whole_when_each_wording_follows_from_the_one_before(memory):
    fact = memory.facts.add("一", now=START)
    for place, text in enumerate(("二", "三", "四")):
        fact = memory.facts.edit(fact, text=text, now=START + timedelta(minutes=place))
    assert is_whole(fact)
    first, second, third = fact.history
    broken = [
        {"text": "五"},
        {"source": "owner:other"},
        {"created_at": START - timedelta(days=1)},
        {"history": (first, third)},
        {"history": (second, third)},
        {"history": (first, second.model_copy(update={"old": "二二"}), third)},
        {"history": (first.model_copy(update={"old": None}), second, third)},
    ]
    for values in broken:
        assert not is_whole(fact.model_copy(update=values)), values
    assert fact_at(fact.model_copy(update=broken[-1]), START - timedelta(0)).fact.text == "二"
    lost = fact_at(fact.model_copy(update=broken[-1] | {"created_at": None}), START - timedelta(hours=1))
    assert lost.unknown == {"text"}


def test_a_changed_log_differs_where_it_was_changed(recorded):
    before = statuses(recorded)
    edit_log(recorded, SECOND, 3, "周末前等备件", "周末后等备件")
    assert changed(before, statuses(recorded)) == {("5eed0002", 5): ("differs", "log")}
    one = replay.rebuild(look(recorded), SECOND, turn=5)
    assert one.logged[one.differs_at.offset] == "后"
    assert one.text[one.differs_at.offset] == "前"
    assert one.differs_at.rebuilt == "周末前等备件，传感器那条线先停。"
    assert digest(one.text) == one.digest != one.logged_digest


@pytest.mark.parametrize("old", [OLD_LINE, "站上的时钟走 UTC"])
def test_a_changed_log_differs_even_where_the_text_cannot_be_known(recorded, old):
    before = statuses(recorded)
    edit_log(recorded, FIRST, 1, old, f"{old[:-1]}x")
    assert changed(before, statuses(recorded)) == {("5eed0001", 3): ("differs", "log or ledger")}


def test_a_changed_digest_in_the_ledger_differs(recorded):
    before = statuses(recorded)
    found = replay.rebuild(look(recorded), SECOND, turn=5).digest
    edit_ledger(recorded, SECOND, 5, digest=("0" if found[0] != "0" else "1") + found[1:])
    assert changed(before, statuses(recorded)) == {("5eed0002", 5): ("differs", "ledger")}
    one = replay.rebuild(look(recorded), SECOND, turn=5)
    assert one.text == one.logged
    assert one.injected is None


def test_without_a_log_a_changed_digest_differs_where_everything_is_known(recorded):
    """Turn 5's cause is the date: persona and settings were those of turn 4, which is proven; nothing is in doubt."""
    shutil.rmtree(recorded / "sessions")
    before = statuses(recorded)
    edit_ledger(recorded, SECOND, 5, digest="0" * 64)
    assert changed(before, statuses(recorded)) == {("5eed0002", 5): ("differs", "digest")}


def test_without_a_log_a_changed_digest_behind_an_edit_cannot_be_known(recorded):
    """An edit may have been of the persona: that is no contradiction."""
    shutil.rmtree(recorded / "sessions")
    before = statuses(recorded)
    edit_ledger(recorded, SECOND, 3, digest="0" * 64)
    edit_ledger(recorded, SECOND, 4, digest="1" * 64, cause="edit")
    after = changed(before, statuses(recorded))
    assert after[("5eed0002", 3)] == ("cannot know", None)
    one = replay.rebuild(look(recorded), SECOND, turn=3)
    assert [part.kind for part in one.missing] == ["persona unsure", "settings unsure"]


def test_a_changed_length_in_the_ledger_differs_without_a_log(recorded):
    shutil.rmtree(recorded / "sessions")
    before = statuses(recorded)
    edit_ledger(
        recorded, SECOND, 5, digest="0" * 64,
        chars={"persona": 143, "notes": 193, "profile": 113, "env": 215, "conclusions": 81, "habits": 0},
    )  # fmt: skip
    assert changed(before, statuses(recorded)) == {("5eed0002", 5): ("differs", "chars")}
    assert {part.segment for part in replay.rebuild(look(recorded), SECOND, turn=5).missing} >= {"conclusions"}


@pytest.mark.parametrize(
    ("session", "turn", "line"),
    [(SECOND, 5, "周末前等备件，传感器那条线先停。"), (FIRST, 3, "他这两周在换风杯，别催别的事。")],
)
def test_an_entry_taken_from_the_ledger_line_differs(recorded, session, turn, line):
    """The log has a line that the ledger does not name, whether the persona is known or not."""
    before = statuses(recorded)
    lines = [json.loads(one) for one in (recorded / "memory" / "hits.jsonl").read_text("utf-8").splitlines()]
    ids = next(one["ids"] for one in lines if (one["session"], one["turn"]) == (session, turn))
    edit_ledger(recorded, session, turn, ids={**ids, "notes": ids["notes"][:-1]})
    assert changed(before, statuses(recorded)) == {(session[8:16], turn): ("differs", "records")}
    one = replay.rebuild(look(recorded), session, turn=turn)
    assert one.logged[one.differs_at.offset :].startswith(one.differs_at.logged)
    assert one.differs_at.logged == line


def test_a_persona_that_cannot_have_been_another_contradicts_log_and_ledger(recorded):
    """Turn 3 is proven, turn 4's cause is the hour: a log and a ledger that agree on other lines were both changed."""
    before = statuses(recorded)
    text = replay.rebuild(look(recorded), SECOND, turn=4).text
    edit_log(recorded, SECOND, 2, NEW_LINE, OLD_LINE)
    edit_ledger(recorded, SECOND, 4, digest=digest(text.replace(NEW_LINE, OLD_LINE)))
    assert changed(before, statuses(recorded)) == {("5eed0002", 4): ("differs", "records")}


def test_what_a_fork_copied_from_its_parent_is_not_its_own(recorded):
    """EX-004: the prompts before seedLength were sent in the parent."""
    [path] = recorded.glob(f"sessions/*/{SECOND}/session.jsonl.zstd")
    with path.open("rb") as stream:
        text = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True).read()
    header, rest = text.split(b"\n", 1)
    values = json.loads(header) | {"seedLength": 100_000}
    path.write_bytes(zstandard.ZstdCompressor().compress(json.dumps(values).encode() + b"\n" + rest))
    logs = {(one.session, one.turn): one.log for one in replay.every(look(recorded))}
    assert {log for (session, _), log in logs.items() if session == SECOND} == {"no prompt"}
    assert {log for (session, _), log in logs.items() if session == FIRST} == {"logged"}


# --- what stands nowhere --------------------------------------------------------------------------------
def missing_of(home, session, turn):
    one = replay.rebuild(look(home), session, turn=turn)
    assert one.status == "cannot know"
    assert one.text is None
    return [(part.segment, part.id, part.kind) for part in one.missing]


def test_a_note_reworded_since_is_named(recorded):
    """A new wording has a new id, and the old one is kept nowhere."""
    memory = selfnote.open_memory(recorded)
    note = memory.notes.list()[-1]
    memory.notes.edit(note, "我把雨强写成过雨量。")
    assert missing_of(recorded, SECOND, 5) == [("notes", note.id, "note gone")]


def test_a_fact_that_is_gone_is_named(recorded):
    path = recorded / "memory" / "facts.jsonl"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if REWORDED not in line), "utf-8")
    assert missing_of(recorded, SECOND, 5) == [("env", REWORDED, "fact gone")]


def test_a_forgotten_wording_is_named(with_old_persona):
    """``m.forget`` takes the old wording out of the history; the texts that held it cannot be rebuilt."""
    selfnote.open_memory(with_old_persona).forget("备份盘叫 backup-b，周日凌晨同步", dry_run=False)
    for turn in (1, 3, 5):
        assert ("env", REWORDED, "fact forgotten") in missing_of(with_old_persona, FIRST, turn)
    assert replay.rebuild(look(with_old_persona), FIRST, turn=6).status == "equal"


def test_a_habit_that_is_gone_is_named(recorded):
    (recorded / "memory" / "habits.jsonl").unlink()
    assert missing_of(recorded, SECOND, 8) == [("habits", "h-0f4e1967117f", "habit gone")]


def test_settings_that_cannot_be_guessed_are_named(recorded):
    """Any other hint than today's and none stands in the logs only."""
    selfnote.open_memory(recorded).config.save(timing_hint="晚上写一句。")
    assert missing_of(recorded, SECOND, 5) == [("settings", None, "settings changed")]
    shutil.rmtree(recorded / "sessions")
    kinds = [kind for _, _, kind in missing_of(recorded, SECOND, 5)]
    assert "settings unsure" in kinds


def test_an_unreadable_time_leaves_only_what_the_digest_proves(recorded):
    edit_ledger(recorded, SECOND, 5, at="昨天")
    frame = replay.all(look(recorded))
    [row] = [one for one in frame.itertuples() if one.session == SECOND and one.turn == "5"]
    # The facts were not edited since, so the records still give the text; when, nothing tells.
    assert (row.status, row.flag, row.log) == ("equal", "at cannot be read", "no prompt")


def test_an_entry_has_no_wording_that_may_be_another_ones(recorded):
    """A persona line of today is not passed off as one of then."""
    edit_file(recorded / "selfnote" / "persona.md", NEW_LINE, "不夸人；错了就改，只道歉两次。")
    shutil.rmtree(recorded / "sessions")
    one = replay.rebuild(look(recorded), SECOND, turn=5)
    assert (one.status, one.text) == ("cannot know", None)
    assert {entry.text for entry in one.segments["persona"].entries} == {None}
    assert all(entry.text for name in ("notes", "profile", "env") for entry in one.segments[name].entries)


# --- which text a turn had ------------------------------------------------------------------------------
def test_a_turn_without_a_ledger_line_had_the_text_of_the_one_before():
    memory = look(BUNDLED)
    one = replay.rebuild(memory, FIRST, turn=4)
    assert (one.turn, one.asked) == (3, 4)
    assert one.digest == replay.rebuild(memory, FIRST, turn=3).digest
    assert replay.rebuild(memory, "session-5eed0002", at=datetime(2026, 11, 24, 15, 55, tzinfo=UTC)).turn == 4
    assert replay.rebuild(memory, FIRST).turn == 13


def test_a_line_that_only_counted_has_the_text_and_the_log_of_its_run():
    one = replay.rebuild(look(BUNDLED), FIRST, turn=9)
    assert (one.cause, one.log) == (None, "logged")
    assert one.logged_digest == one.digest


@pytest.mark.parametrize(
    ("session", "asked", "message"),
    [
        ("session-9", {}, "no line of session 'session-9'"),
        ("session-5eed", {}, "could be any of"),
        (FIRST, {"turn": 0}, "no text as early as turn 0"),
        (FIRST, {"turn": 14}, r"no turn 14 in its log; its turns are 1 to 13"),
        (FIRST, {"at": datetime(2026, 11, 24, tzinfo=UTC)}, "no text as early as 2026-11-24"),
    ],
)
def test_what_the_ledger_does_not_have_is_not_found(session, asked, message):
    with pytest.raises(NotFound, match=message):
        replay.rebuild(look(BUNDLED), session, **asked)


# --- who was out ----------------------------------------------------------------------------------------
def test_every_entry_that_was_out_has_its_reason_of_then():
    memory = look(BUNDLED)
    first, last = replay.rebuild(memory, SECOND, turn=5), replay.rebuild(memory, SECOND, turn=8)
    reasons = {one.id: one.reason for one in first.out}
    assert reasons["f-58d83fcb27f2"] == reasons["f-9c3c49f70cab"] == "conflict"
    assert reasons["f-12340692bab2"] == "longer than the segment"
    assert reasons["f-d99c12e2fbbd"] == "longer than half the segment"
    assert reasons["f-462291fec946"] == "candidate"
    assert reasons["n-cd2bc0bce716"] == "core"
    # Midnight of 25 November: the temporary note of the 10th expired.
    assert [one.text for one in first.out if one.reason == "expired"] == ["他这两周在换风杯，别催别的事。"]
    after = {one.id: one.reason for one in last.out}
    assert after["f-58d83fcb27f2"] == "retired"
    assert "f-9c3c49f70cab" not in after
    assert "h-0f4e1967117f" not in {one.id for one in (*first.out, *last.out)}
    [row] = [one for one in first.out if one.id == "f-8d4d1c3fc600"]
    assert (row.segment, row.needs, row.left, row.text) == ("env", 39, 15, "The lab printer only speaks PostScript")


def test_an_entry_that_was_out_has_its_wording_of_then(with_old_persona):
    """An edit made later does not reach back."""
    selfnote.open_memory(with_old_persona).facts.edit("f-8d4d1c3fc600", text="The printer is gone")
    one = replay.rebuild(look(with_old_persona), SECOND, turn=1)
    assert {out.text for out in one.out if out.id == "f-8d4d1c3fc600"} == {"The lab printer only speaks PostScript"}


def test_what_was_not_kept_yet_is_not_called_out():
    """ce94 was staged after turn 1 and approved before turn 3."""
    memory = look(BUNDLED)
    one, three = replay.rebuild(memory, FIRST, turn=1), replay.rebuild(memory, FIRST, turn=3)
    assert "f-ce94cc02d672" not in {out.id for out in one.out}
    assert one.why("f-ce94cc02d672") == "f-ce94cc02d672 was not there: not kept yet, or under another wording."
    assert "needs 17, 8 left" in three.why("f-ce94cc02d672")
    assert one.why(REWORDED) == f"{REWORDED} was in: it stood in Machine."


def test_no_entry_is_both_in_and_out_and_each_out_has_words():
    for one in replay.every(look(BUNDLED)):
        inside = {entry.id for segment in one.segments.values() for entry in segment.entries}
        assert not inside & {out.id for out in one.out}
        assert len({out.id for out in one.out}) == len(one.out)
        assert all(one.why(out.id) for out in one.out)
        assert "unaccounted" not in {out.reason for out in one.out}


# --- a life of its own ----------------------------------------------------------------------------------
class World:
    """A memory that is edited while sessions run, and every text that was composed."""

    def __init__(self, home, seed):
        self.home, self.random, self.now = home, random.Random(seed), START  # noqa: S311 - a repeatable story
        self.memory = selfnote.open_memory(home, tz="Asia/Shanghai")
        self.memory.config.save(tz="Asia/Shanghai")
        self.memory.persona.save(l0="我是助手。", l1="先给结论。\n不用感叹号。", l2="背景")
        for number in range(24):
            self.add(self.words(8 + number), "rel" if number % 2 else "env")
        self.memory.notes.add("我写短句。", now=self.now)
        self.texts = {}

    def words(self, length):
        """Characters that are like no others: nothing conflicts, nothing is near."""
        return "".join(chr(self.random.randrange(0x4E00, 0x9FA5)) for _ in range(length))

    def add(self, text, channel="rel"):
        tags = (self.random.choice("甲乙丙"),) if channel == "rel" and self.random.random() < 0.7 else ()
        fact = self.memory.facts.add(text, channel=channel, tags=tags, now=self.now)
        return self.memory.facts.approve(fact, now=self.now)

    def act(self, number):
        facts, approved = self.memory.facts, self.memory.facts.approved()
        one = self.random.choice(approved)
        match self.random.randrange(9):
            case 0:
                facts.edit(one, text=self.words(len(one.text) + number % 3 - 1), now=self.now)
            case 1 if len(approved) > 8:
                facts.retire(one, now=self.now)
            case 2 if facts.retired():
                facts.undo(self.random.choice(facts.retired()).id, now=self.now)
            case 3:
                facts.set_tags(one, [self.random.choice("甲乙丁")], now=self.now)
            case 4:
                facts.set_importance(one, self.random.choice([0.5, 1.0, 2.0, 3.0]), now=self.now)
            case 5:
                self.add(self.words(5 + number % 40), self.random.choice(["rel", "env"]))
            case 6:
                self.memory.notes.add(f"第 {number} 句自述", tier=self.random.choice(["stable", "temp"]), now=self.now)
            case 7:
                facts.undo(one.id, now=self.now)
                self.now += timedelta(minutes=2)
                if facts.get(one.id).status == "candidate" and self.random.random() < 0.6:
                    facts.approve(one.id, now=self.now)
            case _:
                notes = self.memory.notes.list()
                if len(notes) > 1:
                    self.memory.notes.delete(notes[0], now=self.now)

    def live(self, steps):
        for number in range(steps):
            self.now += timedelta(minutes=self.random.choice([1, 7, 40, 130]), milliseconds=self.random.randrange(999))
            if self.random.random() < 0.5:
                self.act(number)
                self.now += timedelta(seconds=self.random.choice([1, 20]))
            session = f"session-{self.random.randrange(3)}"
            text = compose_injection(self.home, session=session, turn=number, now=self.now)
            self.texts[digest(text)] = text


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch):
    """Simulated days wait for no disk."""
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)


@pytest.mark.parametrize("seed", range(6))
def test_every_text_of_a_life_with_edits_is_rebuilt_exactly(home, seed):
    """Edits, retirements and undos, tags, new facts, notes written and deleted: history and ids tell all of it."""
    world = World(home, seed)
    world.live(120)
    found = list(replay.every(world.memory))
    assert len(found) > 60
    assert {one.cause for one in found} >= {"start", "edit", "rotation"}
    for one in found:
        assert (one.status, one.log) == ("equal", "no log"), (one.turn, one.missing, one.reason)
        assert one.text == world.texts[one.digest]


def test_a_fact_as_it_was_is_what_stood_in_the_file_then(home):
    """Every act is looked back at: text, status, tags, importance and approval."""
    world = World(home, 11)
    past = []
    for number in range(80):
        world.now += timedelta(minutes=3)
        past.append((world.now - timedelta(minutes=1), {one.id: one for one in world.memory.facts.all()}))
        world.act(number)
        past.append((world.now, {one.id: one for one in world.memory.facts.all()}))
    now = {one.id: one for one in world.memory.facts.all()}
    assert any(len(one.history) > 3 for one in now.values())
    for instant, facts in past:
        for identifier, fact in now.items():
            found = fact_at(fact, instant)
            if identifier not in facts:
                assert found is None
                continue
            assert found.unknown == frozenset()
            assert (found.fact.revision, found.fact.approved_at) == (
                facts[identifier].revision,
                facts[identifier].approved_at,
            )
    assert all(is_whole(one) for one in now.values())


def test_a_fact_between_an_undone_approval_and_the_next_was_a_candidate(memory):
    fact = memory.facts.add("一", now=START)
    hours = [START + timedelta(hours=number) for number in range(5)]
    memory.facts.approve(fact.id, now=hours[1])
    memory.facts.undo(fact.id, now=hours[2])
    memory.facts.approve(fact.id, now=hours[3])
    fact = memory.facts.get(fact.id)
    found = [fact_at(fact, one + timedelta(minutes=5)).fact for one in hours]
    assert [(one.status, one.approved_at) for one in found] == [
        ("candidate", None), ("approved", hours[1]), ("candidate", None), ("approved", hours[3]), ("approved", hours[3]),
    ]  # fmt: skip
    assert fact_at(fact, START - timedelta(minutes=1)) is None


def test_an_edit_that_waited_for_its_lock_is_found_by_the_digest(home):
    """Its time was read before the turn began, its line written after: both orders are tried."""
    world = World(home, 0)
    text = compose_injection(home, session="s", turn=1, now=START + timedelta(seconds=20))
    printed = next(one for one in world.memory.facts.approved() if one.text in text)
    world.memory.facts.edit(printed, text="改过的一句", now=START + timedelta(seconds=15))
    one = replay.rebuild(world.memory, "s", turn=1)
    assert (one.status, one.text) == ("equal", text)
    # A minute is no wait for a lock.
    other = next(one for one in world.memory.facts.approved() if one.text in text)
    world.memory.facts.edit(other, text="改过的另一句", now=START - timedelta(seconds=40))
    assert replay.rebuild(world.memory, "s", turn=1).status == "differs"


def test_an_override_and_what_it_absorbed_are_rebuilt(home):
    world = World(home, 0)
    fact = next(one for one in world.memory.facts.approved() if one.channel == "rel")
    world.memory.override_profile("他喜欢短句", (fact.id,))
    text = compose_injection(home, session="s", turn=1, now=START)
    one = replay.rebuild(world.memory, "s")
    assert (one.status, one.text) == ("equal", text)
    assert [(out.id, out.reason) for out in one.out if out.reason == "absorbed"] == [(fact.id, "absorbed")]
    world.memory.override_profile("他喜欢更短的句子", (fact.id,))
    one = replay.rebuild(world.memory, "s")
    assert one.status == "cannot know"
    kinds = [(part.segment, part.id, part.kind) for part in one.missing]
    assert kinds == [("profile", "profile:override", "override changed"), ("settings", None, "settings unsure")]


def test_a_memory_switched_off_has_no_text_to_replay(home):
    world = World(home, 0)
    world.memory.config.save(injection_enabled=False)
    compose_injection(home, session="s", turn=1, now=START)
    with pytest.raises(NotFound, match="the ledger has no line"):
        replay.rebuild(world.memory, "s")


# --- frames, lines nobody understands, reading only -----------------------------------------------------
def test_the_frame_has_exactly_the_documented_columns(memory):
    for frame in (replay.all(memory), replay.all(look(BUNDLED))):
        assert [(name, str(kind)) for name, kind in frame.dtypes.items()] == [
            (column.name, schema.DTYPES[column.kind]) for column in schema.columns_of("replay")
        ]
    assert len(replay.all(memory)) == 0


def test_only_nullable_columns_are_null():
    for home in (BUNDLED, BUNDLED.parent / "demo-home"):
        frame = replay.all(look(home))
        for column in schema.columns_of("replay"):
            if not column.nullable:
                assert frame[column.name].notna().all(), column.name


def test_a_ledger_line_nobody_can_read_is_a_flag_and_harms_no_other(recorded):
    before = statuses(recorded)
    path = recorded / "memory" / "hits.jsonl"
    odd = {"digest": 7, "session": 5, "turn": [1], "cause": ["x"], "at": 9e99, "ids": {"notes": [1, None], "env": [{}]}}
    path.write_text(path.read_text("utf-8") + "{half\n" + json.dumps(odd) + "\n", "utf-8")
    frame = replay.all(look(recorded))
    assert len(frame) == 16
    assert [one for one in frame["flag"].dropna() if "not a ledger line" in one]
    [row] = list(frame[(frame["session"] == "5").fillna(value=False)].itertuples())
    assert (row.status, row.flag) == ("cannot know", "at cannot be read")
    assert {one.split(" ")[0] for one in row.missing} >= {"notes", "env", "persona", "settings"}
    assert statuses_of(frame) == before


def statuses_of(frame):
    return {
        (row.session[8:16], int(row.turn)): (row.status, None)
        for row in frame[frame["session"].str.startswith("session", na=False)].itertuples()
    }


def test_replaying_writes_nothing(recorded):
    before = tree(recorded)
    memory = look(recorded)
    for one in replay.every(memory):
        str(one)
        one._repr_html_()
    replay.all(memory)
    assert tree(recorded) == before


def test_what_it_shows_is_pure_escaped_and_in_the_owners_language(home):
    world = World(home, 0)
    world.memory.facts.add("<script>alert(1)</script> & co", channel="env", now=START)
    world.memory.notes.add("<b>粗</b>", now=START)
    compose_injection(home, session="s<1>", turn=1, now=START)
    one = replay.rebuild(world.memory, "s<1>")
    html = one._repr_html_()
    assert html == replay.rebuild(world.memory, "s<1>")._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html
    assert "&lt;b&gt;粗&lt;/b&gt;" in html
    assert "id=" not in html
    assert "会话 s<1> 第 1 轮" in str(one)
    assert "一致：" in str(one)
    assert repr(one) == "<Replayed s<1> turn 1: equal>"
    world.memory.config.save(language="en")
    assert "equal: the rebuilt text" in str(replay.rebuild(world.memory, "s<1>"))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_case_has_words(language):
    words = REPLAY[language]
    assert set(words) == set(REPLAY["en"])
    for key, sentence in words.items():
        assert set(re.findall(r"\{(\w+)\}", sentence)) == set(re.findall(r"\{(\w+)\}", REPLAY["en"][key])), key
    log_states = ("no log", "no prompt", "without our text", "unreadable")
    wanted = {f"{status}, {log}" for status in ("equal", "cannot know") for log in log_states}
    wanted |= {f"differs, {one}" for one in ("log", "ledger", "records", "log or ledger", "chars", "digest")}
    wanted |= {f"cause, {one}" for one in (*CAUSES, None)}
    wanted |= {f"out, {one}" for one in ("core", "absorbed", "candidate", "retired", "expired", "off", "unaccounted")}
    assert wanted <= set(words)


def test_a_replay_is_a_value():
    one, other = (replay.rebuild(look(BUNDLED), SECOND, turn=5) for _ in range(2))
    assert one == other
    assert one != dataclasses.replace(one, status="differs")
    forget_composers()
