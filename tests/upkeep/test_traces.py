"""Where a sentence survives, and forgetting that holds: our files only, all of them, whatever kills us (S2-007)."""

from __future__ import annotations

import base64
import gzip
import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import selfnote
from selfnote.demo import DEMO_NOW
from selfnote.errors import LimitExceeded, ReadOnly
from selfnote.phrases import TRACE_KINDS, TRACES
from selfnote.sessions.cache import SessionCache
from selfnote.sessions.index import Index
from selfnote.storage.jsonl import encode
from selfnote.storage.locks import hold
from selfnote.text import fold
from selfnote.upkeep.needle import Needle, look_into, unescape
from selfnote.upkeep.traces import _ORDER

KEY_PLACE = "他把备用钥匙放在银杏树下"
REPOSITORY = Path(__file__).resolve().parents[2]


def files(root, *, without=()):
    """Every file below ``root`` with its bytes, locks aside."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != ".lock" and not path.relative_to(root).as_posix().startswith(tuple(without))
    }


def append(path, line, newline="\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        stream.write(f"{line}{newline}".encode())


def escaped(value):
    """JSON with every character but ASCII escaped."""
    return json.dumps(value, ensure_ascii=True)


@pytest.fixture
def planted(demo, lines, put_log):
    """The demo memory with one sentence in every kind of place there is."""
    home = demo.home
    fact = demo.facts.add(f"{KEY_PLACE}。", now=DEMO_NOW, tags=("家",))
    demo.facts.approve(fact.id, now=DEMO_NOW)
    detailed = demo.facts.add("家里的门锁是新换的", channel="env", detail=f"说明：{KEY_PLACE}", now=DEMO_NOW)
    demo.facts.retire(detailed.id, now=DEMO_NOW)
    edited = demo.facts.add(f"{KEY_PLACE}吧", now=DEMO_NOW + timedelta(hours=1), source_sha=None)
    demo.facts.edit(edited.id, text="院子里有一棵银杏", now=DEMO_NOW + timedelta(hours=2))
    append(home.facts, '{"id":"f-escaped","text":' + escaped(KEY_PLACE) + ',"status":"candidate","own":{"a":[1.0]}}')
    append(home.facts, '{"id":"f-foreign","text":"别的","status":"candidate","mine":' + escaped([KEY_PLACE]) + "}")
    link = {"id": "f-x", "kind": "near", "rule": f"像「{KEY_PLACE}」", "score": 81.0}
    append(home.facts, encode({"id": "f-linked", "text": "另一句", "status": "candidate", "similarTo": [link]}))
    append(home.facts, '{"broken": "' + KEY_PLACE)
    append(home.facts, '{"untouched" : "broken')
    demo.notes.add(f"我知道{KEY_PLACE}", now=DEMO_NOW)
    gone = demo.notes.add(f"{KEY_PLACE}，旧的一条", now=DEMO_NOW)
    demo.notes.delete(gone, now=DEMO_NOW)
    append(home.notes, f"随手写：{KEY_PLACE}")
    line = {"id": "c-1", "sid": "s", "seq": 1, "at": "2026-11-01T00:00:00Z", "text": f"不对，{KEY_PLACE}"}
    append(home.corrections, json.dumps(line, ensure_ascii=False))
    append(home.notes_archive / "corrections-2026-09.jsonl", json.dumps({**line, "id": "c-2"}))
    append(home.persona, KEY_PLACE)
    append(home.habits, json.dumps({"id": "h-1", "tag": "家", "text": KEY_PLACE, "factIds": [fact.id]}))
    demo.summaries.write(f"聊过：{KEY_PLACE}", source="session-x#0", now=DEMO_NOW)
    demo.config.save(
        timing_hint=f"提到{KEY_PLACE}时", profile_override={"text": KEY_PLACE, "factIds": [fact.id], "basis": ""}
    )
    home.config.write_text(
        home.config.read_text("utf-8").replace("{", '{"foreign": ' + escaped(KEY_PLACE) + ",", 1), "utf-8"
    )
    cached = {"format": 1, "path": "x", "spoken": [[0, None, "user", KEY_PLACE]]}
    append(home.cache / "0a.json", json.dumps(cached, ensure_ascii=False))
    append(home.cache / "0b.json", '{"format": 1, "spoken": []}')
    home.index.write_bytes(b"tokens")
    home.index.with_name("index.sqlite-wal").write_bytes(b"more tokens")
    append(home.memory / ".facts.jsonl.123.0a1b2c3d.tmp", KEY_PLACE)
    append(home.selfnote / "persona.pending.bad-1.json", journal(f"# L1\n{KEY_PLACE}\n"))
    append(home.selfnote / "notes.md~", KEY_PLACE)
    log = lines(session="session-x").user(f"记住，{KEY_PLACE}").assistant(f"好，{KEY_PLACE}")
    log.packed(["好，他把备用", "钥匙放在", "银杏树下，记住了"])
    result = [{"type": "tool-result", "content": [{"type": "text", "text": escaped({"note": KEY_PLACE})}]}]
    log.event("tool/result", {"message": {"content": result}})
    log.event(
        "request/header", {"reason": "session/start", "header": {"system": [{"type": "text", "text": KEY_PLACE}]}}
    )
    put_log(demo, log, "session-x")
    demo.fact_id, demo.edited_id = fact.id, edited.id
    return demo


def journal(persona):
    """A journal of a persona save as far as a reader of its text cares."""
    return json.dumps({"kind": "persona-save", "data": base64.b64encode(persona.encode()).decode()})


OURS = {
    "persona": 1, "setting": 3, "fact": 6, "note": 1, "note text": 1, "archived note": 1, "correction": 1,
    "archived correction": 1, "habit": 1, "summary": 1, "bad line": 1, "persona journal": 1, "leftover": 1, "cache": 1,
    "index": 1,
}  # fmt: skip


# --- where is it --------------------------------------------------------------------------------------------
def test_every_place_of_ours_and_every_event_of_a_session_is_found(planted):
    """COMPLAINTS 68: facts in any state with detail and history, notes, archives, config, caches, sessions."""
    found = planted.where_is(KEY_PLACE)
    counts = {kind: count for kind, count in found.counts.items() if kind in OURS}
    assert counts == OURS
    assert all(one.removable == (one.kind in OURS) for one in found)
    events = {(one.source, one.status) for one in found if one.kind == "session"}
    assert events == {
        ("session-x#0", "user/message"),
        ("session-x#1", "assistant/message"),
        ("session-x#2", "assistant/chunk"),
        ("session-x#5", "tool/result"),
        ("session-x#6", "request/header"),
    }
    assert [one.path.name for one in found if one.kind == "other"] == ["notes.md~"]
    assert found.problems == ()


def test_a_trace_names_its_line_record_state_fields_and_what_becomes_of_it(planted):
    found = {one.id: one for one in planted.where_is(KEY_PLACE) if one.kind == "fact"}
    lines = planted.home.facts.read_text("utf-8").splitlines()
    assert all(json.loads(lines[one.line - 1])["id"] == one.id for one in found.values())
    fact = found[planted.fact_id]
    assert (fact.status, fact.fields, fact.action) == ("approved", ("text",), "line")
    assert KEY_PLACE in fact.excerpt
    edited = found[planted.edited_id]
    assert (edited.status, edited.fields, edited.action) == ("candidate", ("history.old",), "part")
    assert {one.fields for one in found.values()} == {
        ("text",), ("detail",), ("history.old",), ("mine",), ("similarTo.rule",),
    }  # fmt: skip
    assert found["f-linked"].action == "part"


def test_records_that_go_are_told_wherever_their_id_stays(planted):
    """Ledgers hold ids only."""
    (fact,) = [one for one in planted.facts.all() if one.text == "以后回答先给结论，细节等我问"]
    found = [one for one in planted.where_is(fact.text) if one.kind == "reference"]
    named = {one.path.name: one for one in found}
    assert {"hits.jsonl", "hits-2026-09.jsonl", "rotation.json", "habits.jsonl"} <= set(named)
    assert all(fact.id in one.id and one.stays == "ids" and one.action is None for one in found)
    lines = planted.home.hits.read_bytes().splitlines()
    assert named["hits.jsonl"].lines == tuple(at for at, line in enumerate(lines, 1) if fact.id.encode() in line)
    assert "config.json" in {one.path.name for one in planted.where_is(KEY_PLACE) if one.kind == "reference"}


def test_looking_writes_nothing(planted):
    before = files(planted.home.root)
    planted.where_is(KEY_PLACE)
    planted.forget(KEY_PLACE, now=DEMO_NOW)
    assert files(planted.home.root) == before


def test_what_is_nowhere_has_no_trace(demo):
    found = demo.where_is("从来没有人说过的一句话")
    assert (len(found), str(found)) == (0, "哪里都没有这句。")


@pytest.mark.parametrize("text", ["", "他", "。。。", " a ", "\n"])
def test_a_needle_under_two_folded_characters_is_refused(demo, text):
    for act in (demo.where_is, demo.forget):
        with pytest.raises(LimitExceeded, match="at least 2"):
            act(text)


@pytest.mark.parametrize(
    "word", ["approved", "candidate", "listener", "2026-08-24", "核心", "session-aaaaaaaa", "text"]
)
def test_words_of_the_program_are_no_sentences(demo, word):
    """Keys, ids, times, states and tiers: forgetting "approved" must not empty the memory."""
    assert [one for one in demo.where_is(word) if one.removable and one.kind in {"fact", "correction", "habit"}] == []
    assert [one for one in demo.where_is(word) if one.removable and one.kind in {"note", "archived note"}] == []


def test_a_note_is_found_by_its_text_and_by_its_whole_line(demo):
    line = next(one for one in demo.home.notes.read_text("utf-8").splitlines() if "缺" not in one and "茶" in one)
    for needle in (line, line.rpartition("] ")[2]):
        assert [one.kind for one in demo.where_is(needle) if one.removable] == ["note"]


def test_a_sentence_that_goes_across_lines_is_found_and_a_short_one_is_not_by_accident(demo):
    before = demo.home.persona.read_text("utf-8")
    demo.home.persona.write_text(before + "院子里的银杏树下\n藏着一把备用钥匙\n", "utf-8")
    found = [one for one in demo.where_is("银杏树下，藏着一把备用钥匙") if one.kind == "persona"]
    assert len(found) == 2
    assert demo.where_is("下藏").counts == {}
    demo.forget("银杏树下，藏着一把备用钥匙", False, now=DEMO_NOW)
    assert demo.home.persona.read_text("utf-8") == before


def test_an_older_generation_of_a_log_and_a_file_beside_it_are_looked_into(demo, lines, put_log):
    """EX-001: the harness leaves the old log where it is."""
    old = lines(session="session-y").user(KEY_PLACE)
    put_log(demo, old, "session-y")
    new = put_log(demo, lines(session="session-y", version=3).user("别的"), "session-y", name="session.v3.jsonl.zstd")
    (new.parent / "attachment.txt").write_text(f"…{KEY_PLACE}…", "utf-8")
    found = demo.where_is(KEY_PLACE)
    assert sorted((one.kind, one.path.name) for one in found) == [
        ("session", "session.jsonl"),
        ("session file", "attachment.txt"),
    ]


def test_a_log_that_cannot_be_read_to_its_end_is_told(demo, lines, put_log):
    log = lines(session="session-z").user(KEY_PLACE).user("二").user("三")
    path = put_log(demo, log, "session-z", name="session.jsonl.zstd")
    frames = log.frames()
    frames[2] = frames[2][:-6] + bytes(6)
    path.write_bytes(b"".join(frames))
    found = demo.where_is(KEY_PLACE)
    assert [one.source for one in found] == ["session-z#0"]
    assert any("session-z" in one and "corrupt" in one for one in found.problems)


def test_packages_and_other_files_are_looked_into_where_they_are_named(demo, tmp_path):
    """S2-271: an export holds what the memory held."""
    package = {"kind": "selfnote", "version": 2, "facts": [{"id": "f-1", "text": KEY_PLACE}]}
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "package.json").write_text(escaped(package), "utf-8")
    (tmp_path / "out" / "list.jsonl").write_text(f'{{"a":1}}\n{escaped(package)}\nplain {KEY_PLACE}\n', "utf-8")
    (tmp_path / "out" / "packed.zst").write_bytes(zstandard.compress(KEY_PLACE.encode()))
    (tmp_path / "odd.gz").write_bytes(gzip.compress(KEY_PLACE.encode()))
    before = files(tmp_path / "out")
    named = [tmp_path / "out", tmp_path / "odd.gz", tmp_path / "missing.json", package]
    found = demo.forget(KEY_PLACE, False, packages=named, now=DEMO_NOW)
    places = [(one.path.name if one.path else None, one.line) for one in found.remaining]
    assert places == [("list.jsonl", 2), ("list.jsonl", 3), ("package.json", None), ("packed.zst", 1), (None, None)]
    assert {one.stays for one in found.remaining} == {"given"}
    assert [("odd.gz" in one, "missing.json" in one) for one in found.problems] == [(True, False), (False, True)]
    assert files(tmp_path / "out") == before


# --- forgetting ------------------------------------------------------------------------------------------------
def test_a_dry_run_lists_what_goes_with_the_owners_own_words_first(planted):
    """Nothing an owner wrote is lost unasked: the persona and the settings stand at the head, counted."""
    report = planted.forget(KEY_PLACE, now=DEMO_NOW)
    assert report.dry_run
    assert report.counts == OURS
    assert [one.kind for one in report.removed[:4]] == ["persona", "setting", "setting", "setting"]
    assert "人格 1 处，配置 3 处" in str(report)
    assert "什么都没动" in str(report)


def test_forgetting_leaves_no_trace_in_our_files_and_says_what_remains(planted):
    sessions = files(planted.home.sessions)
    report = planted.forget(KEY_PLACE, False, now=DEMO_NOW)
    assert report.counts == OURS
    assert report.problems == ()
    after = planted.where_is(KEY_PLACE)
    assert [one for one in after if one.removable] == []
    assert set(after.counts) == {"backup", "session", "other"}
    assert {one.kind for one in report.remaining} == {"backup", "session", "other", "reference"}
    assert files(planted.home.sessions) == sessions
    for path in [*planted.home.selfnote.rglob("*"), *planted.home.memory.rglob("*")]:
        if path.is_file() and planted.home.backup not in path.parents and path.name != "notes.md~":
            assert look_into(path.read_bytes(), Needle(KEY_PLACE)) == [], path


def test_every_other_line_foreign_key_and_unreadable_line_survives_byte_for_byte(planted):
    home = planted.home
    before = {name: data for name, data in files(home.root).items() if b"{" in data or b"- " in data}
    planted.forget(KEY_PLACE, False, now=DEMO_NOW)
    needle = Needle(KEY_PLACE)
    for name in ("memory/facts.jsonl", "memory/habits.jsonl", "selfnote/corrections.jsonl", "selfnote/notes.md"):
        kept = [line for line in before[name].split(b"\n") if not needle.is_in(line.decode("utf-8", "replace"))]
        now = (home.root / name).read_bytes().split(b"\n")
        patched = (planted.edited_id.encode(), b'"id":"f-linked"')
        assert [line for line in now if not any(one in line for one in patched)] == kept, name
    assert b'"similarTo":[{"id":"f-x","kind":"near","rule":"","score":81.0}]' in home.facts.read_bytes()
    assert b'{"untouched" : "broken\n' in home.facts.read_bytes()
    assert files(home.memory)["seen.jsonl"] == before["memory/seen.jsonl"]
    assert (home.cache / "0b.json").exists()


def test_a_fact_that_held_it_only_in_its_history_keeps_its_present_wording(planted):
    before = planted.facts.get(planted.edited_id)
    planted.forget(KEY_PLACE, False, now=DEMO_NOW)
    after = planted.facts.get(planted.edited_id)
    assert (after.text, after.revision) == ("院子里有一棵银杏", before.revision)
    assert [(item.field, item.old, item.new) for item in after.history] == [("text", None, "院子里有一棵银杏")]
    assert after.history[0].at == before.history[0].at


def test_the_settings_that_held_it_are_emptied_and_the_file_keeps_its_other_bytes(planted):
    text = planted.home.config.read_text("utf-8")
    planted.forget(KEY_PLACE, False, now=DEMO_NOW)
    config = planted.config.load()
    assert (config.timing_hint, config.profile_override, planted.config.problems()) == ("", None, ())
    after = planted.home.config.read_text("utf-8")
    assert json.loads(after)["foreign"] is None
    assert {key: value for key, value in json.loads(text).items() if KEY_PLACE not in str(value)}.items() <= json.loads(
        after
    ).items()


def test_a_heading_that_parts_the_persona_stays(demo):
    """Without it the lines below would move into another part."""
    report = demo.forget("行为规则", False, now=DEMO_NOW)
    assert [(one.kind, one.stays) for one in report.remaining if one.kind == "persona"] == [("persona", "heading")]
    assert "# L1 行为规则" in demo.home.persona.read_text("utf-8")
    assert demo.persona.load().l1


def test_a_config_that_is_no_json_is_left_alone_and_told(demo):
    demo.home.config.write_text('{"header": "' + KEY_PLACE + '", ', "utf-8")
    report = demo.forget(KEY_PLACE, False, now=DEMO_NOW)
    assert [(one.kind, one.stays) for one in report.remaining] == [("setting", "unparsable")]
    assert KEY_PLACE in demo.home.config.read_text("utf-8")


def test_the_backup_holds_every_changed_file_as_it_was(planted):
    before = files(planted.home.root)
    report = planted.forget(KEY_PLACE, False, now=DEMO_NOW)
    kept = files(report.backup)
    assert report.backup.parent == planted.home.backup
    changed = {name for name, data in before.items() if files(planted.home.root).get(name) != data}
    derived = {name for name in changed if "cache/" in name or "index.sqlite" in name or name.endswith(".tmp")}
    assert set(kept) == changed - derived
    assert all(kept[name] == before[name] for name in kept)


def test_a_real_cache_and_a_real_index_are_found_and_go(demo, lines, put_log):
    """S2-230, S2-244: derived stores; the next search makes them anew, since the session keeps the sentence."""
    put_log(demo, lines(session="session-x").user(KEY_PLACE), "session-x")
    cache, index = SessionCache(demo.home.cache, demo.sessions), Index(demo.home, demo.sessions)
    for info in demo.sessions.list():
        cache.read(info)
    assert index.build(now=DEMO_NOW).complete
    kept = len(list(demo.home.cache.glob("*.json")))
    report = demo.forget(KEY_PLACE, False, now=DEMO_NOW)
    assert report.counts == {"cache": 1, "index": 1}
    assert len(list(demo.home.cache.glob("*.json"))) == kept - 1
    assert (index.status(now=DEMO_NOW).state, report.problems) == ("absent", ())
    assert report.backup is None


def test_without_a_backup_no_copy_is_left_and_earlier_backups_are_cleared_too(planted):
    demo = planted
    demo.forget(KEY_PLACE, False, now=DEMO_NOW)
    (demo.home.backup / "mine.txt").write_text(KEY_PLACE, "utf-8")
    assert demo.where_is(KEY_PLACE).counts["backup"] > 10
    again = demo.forget(KEY_PLACE, False, backup=False, now=DEMO_NOW)
    assert again.backup is None
    assert {one.kind for one in again.removed} == {"backup"}
    left = [one for one in demo.where_is(KEY_PLACE) if one.kind == "backup"]
    assert [(one.path.name, one.stays) for one in left] == [("mine.txt", "not ours")]
    fresh = selfnote.open_memory(selfnote.demo_home(demo.home.root.parent / "fresh"))
    fresh.notes.add(KEY_PLACE, now=DEMO_NOW)
    fresh.forget(KEY_PLACE, False, backup=False, now=DEMO_NOW)
    assert len(fresh.where_is(KEY_PLACE)) == 0
    assert not fresh.home.backup.exists()


def test_forgetting_again_changes_nothing(planted):
    planted.forget(KEY_PLACE, False, now=DEMO_NOW)
    before = files(planted.home.root)
    report = planted.forget(KEY_PLACE, False, now=DEMO_NOW + timedelta(days=1))
    assert (report.removed, report.backup) == ((), None)
    assert files(planted.home.root) == before


@pytest.mark.parametrize("place", ["elsewhere", "demo/selfnote/mine"])
def test_a_memory_that_was_moved_is_forgotten_in_and_kept_a_copy_of(demo, tmp_path, monkeypatch, place):
    """S2-283: DSH_MEMORY_DIR moves memory/ alone."""
    monkeypatch.setenv("DSH_HOME", str(demo.home.root))
    monkeypatch.setenv("DSH_MEMORY_DIR", str(tmp_path / place))
    moved = selfnote.open_memory()
    moved.facts.add(KEY_PLACE, now=DEMO_NOW)
    before = moved.home.facts.read_bytes()
    report = moved.forget(KEY_PLACE, False, now=DEMO_NOW)
    assert report.counts == {"fact": 1}
    assert (moved.home.facts.read_bytes(), files(report.backup)) == (b"", {"memory/facts.jsonl": before})


def test_two_forgets_at_one_instant_do_not_write_over_each_others_backup(demo):
    demo.notes.add(KEY_PLACE, now=DEMO_NOW)
    first = demo.forget(KEY_PLACE, False, now=DEMO_NOW)
    demo.notes.add(KEY_PLACE, now=DEMO_NOW)
    second = demo.forget(KEY_PLACE, False, now=DEMO_NOW)
    assert first.backup != second.backup
    assert KEY_PLACE in (first.backup / "selfnote" / "notes.md").read_text("utf-8")


def test_the_memory_still_composes_audits_and_decides_afterwards(planted):
    """Links, habits, overrides, ledgers and the kept rotation may name an id that is gone."""
    demo = planted
    other = demo.facts.add(f"{KEY_PLACE}，不是槐树", now=DEMO_NOW)
    assert other.similar_to or demo.facts.get(demo.fact_id).similar_to
    selfnote.compose_injection(demo.home.root, session="s", now=DEMO_NOW)
    demo.forget(KEY_PLACE, False, now=DEMO_NOW)
    later = DEMO_NOW + timedelta(hours=2)
    text = selfnote.compose_injection(demo.home.root, session="s", now=later)
    assert text
    assert Needle(KEY_PLACE).is_in(text) is False
    report = demo.audit(now=later)
    assert report.injection.text == text
    assert demo.fact_id not in {fact.id for fact in report.facts}
    assert str(report)
    assert demo.profile(now=later)
    kept = demo.facts.add("新的一条事实", now=later)
    assert demo.facts.approve(kept.id, now=later).status == "approved"
    assert demo.facts.conflicts() is not None
    assert "h-1" not in {habit.id for habit in demo.habits.active()}


def test_a_fact_linked_to_a_forgotten_one_keeps_a_link_that_is_passed_over(demo):
    one = demo.facts.add(f"{KEY_PLACE}A", now=DEMO_NOW)
    other = demo.facts.add("备用钥匙放在桌上 5 号盒", now=DEMO_NOW)
    near = demo.facts.add("备用钥匙放在桌上 6 号盒", now=DEMO_NOW)
    for fact in (other, near):
        demo.facts.approve(fact.id, now=DEMO_NOW)
    assert {other.id, near.id} in [{one.id for one in pair} for pair in demo.facts.conflicts()]
    demo.forget("备用钥匙放在桌上 6 号盒", False, now=DEMO_NOW)
    left = demo.facts.get(other.id)
    assert [link.id for link in left.similar_to] == [near.id]
    assert not any(other.id in {one.id for one in pair} for pair in demo.facts.conflicts())
    assert near.id not in demo.why_not(other.id, now=DEMO_NOW)
    assert demo.facts.approve(one.id, now=DEMO_NOW).status == "approved"


def test_a_read_only_memory_looks_and_forgets_nothing(planted):
    """DESIGN "Environment": read_only never recovers a journal."""
    before = files(planted.home.root)
    looking = selfnote.open_memory(planted.home.root, read_only=True)
    assert looking.where_is(KEY_PLACE).counts == planted.where_is(KEY_PLACE).counts
    assert looking.forget(KEY_PLACE, now=DEMO_NOW).removed
    with pytest.raises(ReadOnly):
        looking.forget(KEY_PLACE, False, now=DEMO_NOW)
    assert files(planted.home.root) == before


def test_an_interrupted_persona_save_is_found_and_completed_before_it_is_purged(demo):
    """S2-144: the journal holds the persona in base64."""
    (correction,) = [one for one in demo.corrections.page(size=200).items if one.status == "open"][:1]
    lines = demo.persona.load().l1.splitlines()
    killed = (
        "import os, signal, pathlib, selfnote\n"
        "real = pathlib.Path.replace\n"
        "def replace(self, target):\n"
        "    if str(target).endswith('persona.md'): os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return real(self, target)\n"
        "pathlib.Path.replace = replace\n"
        f"m = selfnote.open_memory({str(demo.home.root)!r})\n"
        f"m.persona.save(l1={chr(10).join([*lines[1:], KEY_PLACE])!r}, used_corrections=[{correction.id!r}])\n"
    )
    assert run(killed).returncode == -signal.SIGKILL
    assert demo.home.persona_pending.exists()
    assert next(iter(demo.where_is(KEY_PLACE))).kind == "persona journal"
    report = demo.forget(KEY_PLACE, False, now=DEMO_NOW)
    assert not demo.home.persona_pending.exists()
    assert "persona" in report.counts
    assert [one for one in demo.where_is(KEY_PLACE) if one.removable] == []
    assert demo.corrections.get(correction.id).status == "used"


def test_messages_that_capture_has_not_judged_are_named_since_they_may_come_back(demo, lines, put_log):
    """COMPLAINTS 75: delete does not hold when history is read again; S0-044: cursors stay."""
    said = "以后都用制表符缩进，不要用空格"
    put_log(demo, lines(session="session-new").user(said), "session-new")
    assert demo.forget(said, now=DEMO_NOW).may_return == ("session-new#0",)
    demo.capture.scan("session-new", now=DEMO_NOW)
    assert any(fold(said)[:6] in fold(fact.text) for fact in demo.facts.candidates())
    report = demo.forget("制表符缩进", False, now=DEMO_NOW)
    assert report.counts["fact"] >= 1
    assert report.may_return == ()
    demo.capture.scan_all(now=DEMO_NOW)
    assert not any("制表符" in fact.text for fact in demo.facts.all())


def test_forgetting_takes_both_locks_and_gives_up_without_a_change(demo, monkeypatch):
    """DESIGN "Locks"."""
    demo.notes.add(KEY_PLACE, now=DEMO_NOW)
    taken = []
    monkeypatch.setattr("selfnote.upkeep.traces.hold", lambda lock: taken.append(lock.parent.name) or hold(lock))
    demo.forget(KEY_PLACE, False, now=DEMO_NOW)
    assert taken == ["selfnote", "memory"]


def test_what_the_owners_editor_saves_meanwhile_is_not_lost(demo, monkeypatch):
    """COMPLAINTS 1: the file is read again just before the rename."""
    import selfnote.storage.rewrite as rewriting

    demo.notes.add(KEY_PLACE, now=DEMO_NOW)
    real, saved = rewriting.write_atomic, []

    def late(target, data, **keywords):
        if not saved and Path(target) == demo.home.notes:
            saved.append(True)
            append(demo.home.notes, "- 2026-11-30 [稳定] 编辑器刚存的")
        return real(target, data, **keywords)

    monkeypatch.setattr(rewriting, "write_atomic", late)
    demo.forget(KEY_PLACE, False, now=DEMO_NOW)
    text = demo.home.notes.read_text("utf-8")
    assert saved
    assert "编辑器刚存的" in text
    assert KEY_PLACE not in text


# --- killed anywhere ----------------------------------------------------------------------------------------------
#: Whether the process is killed before each single write: the long form, as in tests/storage.
EVERY_KILL = "SELFNOTE_KILLS" in os.environ
KILLED = """
import os, pathlib, signal, sys
import selfnote
from selfnote.demo import DEMO_NOW
import selfnote.upkeep.traces
home, text, at, backup = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1"
done = 0
def before(real):
    def act(*arguments, **keywords):
        global done
        if done == at:
            os.kill(os.getpid(), signal.SIGKILL)
        done += 1
        return real(*arguments, **keywords)
    return act
for name in ("replace", "unlink", "mkdir"):
    setattr(pathlib.Path, name, before(getattr(pathlib.Path, name)))
os.fsync = lambda descriptor: None
selfnote.open_memory(home).forget(text, False, backup=backup, now=DEMO_NOW)
print(done)
"""


def run(code, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("backup", [True, False])
def test_killed_before_any_write_every_file_is_old_or_new_and_a_second_call_finishes(planted, tmp_path, backup):
    """S2-282, COMPLAINTS 10: SIGKILL before each rename, removal and folder."""
    import shutil

    start = tmp_path / "start"
    shutil.copytree(planted.home.root, start)
    whole = tmp_path / "whole"
    shutil.copytree(start, whole)
    count = int(run(KILLED, str(whole), KEY_PLACE, "-1", str(int(backup))).stdout)
    assert count > 20
    old, new = files(start), files(whole, without=["selfnote/backup"])
    for at in range(0, count, 1 if EVERY_KILL else 3 if backup else 4):
        home = tmp_path / f"killed-{at}"
        shutil.copytree(start, home)
        assert run(KILLED, str(home), KEY_PLACE, str(at), str(int(backup))).returncode == -signal.SIGKILL
        for name, data in files(home, without=["selfnote/backup"]).items():
            if not name.endswith(".tmp"):
                assert data in (old.get(name), new.get(name)), (at, name)
        memory = selfnote.open_memory(home)
        memory.forget(KEY_PLACE, False, backup=backup, now=DEMO_NOW)
        assert files(home, without=["selfnote/backup"]) == new, at
        if backup:
            kept = {}
            for folder in sorted((home / "selfnote" / "backup").iterdir()):
                kept = {**files(folder), **kept}
            gone = {name for name, data in old.items() if new.get(name) != data}
            assert {name for name in gone if name not in kept} == {
                name for name in gone if "cache/" in name or "index.sqlite" in name or name.endswith(".tmp")
            }
            assert all(kept[name] == old[name] for name in kept if not name.endswith(".tmp"))
        else:
            assert not (home / "selfnote" / "backup").exists()
        shutil.rmtree(home)


# --- the needle -------------------------------------------------------------------------------------------------
@given(
    sentence=st.text(st.characters(exclude_categories=["Cs"]), min_size=2, max_size=30),
    around=st.tuples(st.text(max_size=10), st.text(max_size=10)),
    depth=st.integers(0, 3),
)
def test_a_sentence_is_found_under_any_depth_of_json_escapes(sentence, around, depth):
    if len(fold(sentence)) < 2:
        return
    text = "，".join([around[0], sentence, around[1]]).encode("utf-8", "ignore").decode()
    if fold(sentence) not in fold(text):
        return
    wrapped = text
    for _ in range(depth):
        wrapped = json.dumps(wrapped)
    needle = Needle(sentence)
    assert needle.is_in(wrapped)
    assert look_into(json.dumps({"a": [wrapped]}).encode(), needle)
    assert needle.excerpt(wrapped)


def test_halves_of_an_escaped_pair_are_joined():
    assert unescape('\\ud83d\\ude00\\n\\"') == '😀\n"'
    assert unescape("\\ud83d") == "\ufffd"


@given(st.lists(st.text(max_size=12), min_size=1, max_size=6), st.data())
def test_every_line_that_holds_a_needle_is_in_a_span(lines, data):
    chosen = data.draw(st.sampled_from(lines))
    if len(fold(chosen)) < 2 or any("\ud800" <= char <= "\udfff" for char in chosen):
        return
    needle = Needle(chosen)
    covered = {index for first, last in needle.spans(lines) for index in range(first, last + 1)}
    assert {index for index, line in enumerate(lines) if needle.is_in(line)} <= covered


def test_the_excerpt_shows_what_was_found_within_a_long_text():
    text = "开头" + "无关" * 3000 + f"\n……{KEY_PLACE}……\n" + "无关" * 3000
    assert KEY_PLACE in Needle(KEY_PLACE).excerpt(text)
    assert len(Needle(KEY_PLACE).excerpt(text)) < 100
    assert KEY_PLACE in Needle("银杏树下").excerpt(escaped(f"前面的话，{KEY_PLACE}"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=20)
@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc"], codec="utf-8"), min_size=2, max_size=20).filter(
            lambda one: len(fold(one)) >= 2
        ),
        min_size=1,
        max_size=5,
    )
)
def test_forgetting_a_fact_removes_its_line_and_no_line_without_it(tmp_path_factory, texts):
    """For any sentences: what holds it goes, what does not stays byte for byte."""
    memory = selfnote.open_memory(tmp_path_factory.mktemp("any") / ".dsh")
    path = memory.home.facts
    path.parent.mkdir(parents=True)
    raw = [encode({"id": f"f-{number}", "text": one, "status": "candidate"}) for number, one in enumerate(texts)]
    path.write_text("".join(f"{line}\r\n" for line in raw), "utf-8", newline="")
    memory.forget(texts[0], False, backup=False, now=DEMO_NOW)
    kept = [line for line, one in zip(raw, texts, strict=True) if fold(texts[0]) not in fold(one)]
    assert path.read_bytes().decode() == "".join(f"{line}\r\n" for line in kept)


# --- how it is shown ----------------------------------------------------------------------------------------------
def test_the_reprs_are_pure_and_escaped_and_the_json_is_plain(demo):
    demo.notes.add("<script>alert('x')</script> 记住", now=DEMO_NOW)
    needle = "<script>alert('x')</script>"
    for one in (demo.where_is(needle), demo.forget(needle, now=DEMO_NOW)):
        shown = one._repr_html_()
        assert shown == one._repr_html_()
        assert "<script>" not in shown
        assert "&lt;script&gt;" in shown
        assert json.loads(json.dumps(one.to_json()))["text"] == needle


def test_many_traces_are_shown_in_part_and_counted_whole(demo):
    for number in range(130):
        append(demo.home.notes, f"- 第{number}条：{KEY_PLACE}")
    found = demo.where_is(KEY_PLACE)
    assert len(found) == 130
    assert "另有 30 处" in str(found)
    assert "另有 30 处" in found._repr_html_()


def test_every_kind_reason_and_action_has_words_in_both_languages(planted):
    assert set(TRACES["zh"]) == set(TRACES["en"])
    assert set(TRACE_KINDS["zh"]) == set(TRACE_KINDS["en"]) == set(_ORDER)
    planted.config.save(language="en")
    shown = str(planted.forget(KEY_PLACE, now=DEMO_NOW))
    assert "would be removed" in shown
    assert "session logs belong to dsh" in shown
