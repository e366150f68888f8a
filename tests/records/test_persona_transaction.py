"""A rule and its evidence are saved in three files as one, whatever kills the process (S2-076..079, S2-142..145)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import selfnote
from selfnote.home import MemoryHome
from selfnote.records import persona_transaction
from selfnote.records.corrections import Corrections, correction_id, rule_fingerprint
from selfnote.records.persona import PersonaStore
from selfnote.records.persona_transaction import parse_journal, recover, recover_held
from selfnote.storage.locks import hold

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
REPOSITORY = Path(__file__).resolve().parents[2]
OLD = "# L0 核心身份\n我是鲸鲸\n\n# L1 行为规则\n先结论\n不说教\n\n# L2 扩展设定\n住在海里\n"
RULE = "先跑测试再提交"
NEW_L1 = f"先结论\n不说教\n{RULE}"
FINGERPRINT = rule_fingerprint(RULE)
SAID = [("不对，先跑测试再提交", 3), ("我说过先跑测试再提交", 9), ("别再用表格了", 20)]
IDS = [correction_id("s", seq, text) for text, seq in SAID]
THREE = ("persona.md", "corrections.jsonl", "persona.evidence.json")


def make(home):
    """A home with a persona, three open corrections, an older rule's evidence, and lines nobody understands."""
    files = MemoryHome.at(home)
    files.selfnote.mkdir(parents=True)
    files.persona.write_bytes(OLD.encode())
    rows = [
        {"id": i, "sid": "s", "seq": seq, "at": f"2026-02-2{n}T01:00:00.000Z", "text": text, "signal": "strong", "status": "open", "usedAt": None, "ruleFp": None}
        for n, (i, (text, seq)) in enumerate(zip(IDS, SAID, strict=True))
    ]  # fmt: skip
    lines = [json.dumps(one, ensure_ascii=False) for one in rows]
    files.corrections.write_text("\n".join([lines[0], "no json", *lines[1:]]) + "\n", "utf-8")
    files.corrections_watermark.write_text('{"since":"2026-01-01T00:00:00Z"}')
    files.persona_evidence.write_text('{ "0123456789abcdef" : {"count": 2, "x": 1.0} , "note":"mine"}\n')
    return files


def stores(files):
    corrections = Corrections(
        files.corrections, files.corrections_watermark, files.selfnote_lock, zone=lambda: ZoneInfo("Asia/Shanghai")
    )
    return PersonaStore(files.persona, files.selfnote_lock, home=files, corrections=corrections), corrections


@pytest.fixture
def files(home):
    return make(home)


@pytest.fixture
def persona(files):
    return stores(files)[0]


@pytest.fixture
def corrections(files):
    return stores(files)[1]


def save(persona, used=tuple(IDS[:2]), **keywords):
    return persona.save(l1=NEW_L1, used_corrections=used, now=NOW, **keywords)


def state_of(files):
    """ "old" or "new" when all three files are; else what they are."""
    persona, corrections = stores(files)
    rules = persona.load().l1.split("\n")
    status = {one.id: (one.status, one.used_at, one.rule_fp) for one in corrections.all()}
    evidence = {one.fingerprint: one for one in persona.evidence()}
    assert corrections.read().file.lines[1].raw == b"no json"
    assert json.loads(files.persona_evidence.read_bytes())["note"] == "mine"
    used = ("used", "2026-03-01T09:00:00.000Z", FINGERPRINT)
    if RULE not in rules and set(status.values()) == {("open", None, None)} and FINGERPRINT not in evidence:
        return "old"
    if rules.count(RULE) == 1 and [status[i] for i in IDS] == [used, used, ("open", None, None)]:
        made = evidence.get(FINGERPRINT)
        if made and made.corrections == tuple(IDS[:2]) and made.count == 0 and made.saved_at == NOW:
            return "new"
    return (rules, status, evidence)


# --- a save that nothing interrupts ----------------------------------------------------------------
def test_a_saved_rule_uses_its_evidence_once(files, persona, corrections, snapshot, home):
    """S2-078, S2-143: rule saved, evidence used and noted, no journal left."""
    assert state_of(files) == "old"
    assert save(persona).l1 == NEW_L1
    assert state_of(files) == "new"
    assert not files.persona_pending.exists()
    assert files.persona_evidence.read_text().startswith(
        '{ "0123456789abcdef" : {"count": 2, "x": 1.0} , "note":"mine",'
    )
    before = snapshot(home)
    with pytest.raises(selfnote.Conflict, match=IDS[0]):
        persona.save(l1=NEW_L1 + "\n又一条", used_corrections=[IDS[0]])
    assert snapshot(home) == before
    rule = next(one for one in persona.evidence() if one.rule == RULE)
    assert (rule.fingerprint, rule.corrections, rule.first_at) == (FINGERPRINT, tuple(IDS[:2]), None)


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"l1": NEW_L1, "used_corrections": [IDS[0], "c-nobody"]}, selfnote.NotFound),
        ({"l0": "长" * 81, "used_corrections": IDS[:1]}, selfnote.LimitExceeded),
        ({"l1": "长" * 400, "used_corrections": IDS[:1]}, selfnote.LimitExceeded),
        ({"l1": "# L0\n混进来", "used_corrections": IDS[:1]}, selfnote.LimitExceeded),
        ({"l1": NEW_L1, "used_corrections": IDS[:1], "expect": "stale"}, selfnote.Conflict),
    ],
)
def test_a_refused_save_changes_not_one_byte(home, persona, snapshot, keywords, error):
    """S2-078, S2-136."""
    before = snapshot(home)
    with pytest.raises(error):
        persona.save(**keywords)
    assert snapshot(home) == before


def test_an_unreadable_evidence_file_is_refused_before_anything_is_written(home, files, persona, snapshot):
    files.persona_evidence.write_bytes(b"{half")
    before = snapshot(home)
    with pytest.raises(selfnote.Corrupt, match="evidence"):
        save(persona)
    assert snapshot(home) == before


def test_a_read_only_memory_saves_nothing(home, files, snapshot):
    before = snapshot(home)
    locked = PersonaStore(files.persona, files.selfnote_lock, home=files, read_only=True)
    with pytest.raises(selfnote.ReadOnly):
        save(locked)
    assert locked.count_read(NOW) is False
    assert snapshot(home) == before


def test_of_several_new_rules_each_piece_of_evidence_has_the_one_most_like_it(files, persona, corrections):
    """S2-143."""
    persona.save(l1=f"先结论\n不用表格\n{RULE}", used_corrections=IDS, now=NOW)
    found = {one.id: one.rule_fp for one in corrections.all()}
    assert found == {IDS[0]: FINGERPRINT, IDS[1]: FINGERPRINT, IDS[2]: rule_fingerprint("不用表格")}


def test_evidence_that_an_old_rule_covers_is_used_without_one(files, persona, corrections):
    persona.save(used_corrections=IDS[2], now=NOW)
    one = corrections.get(IDS[2])
    assert (one.status, one.used_at, one.rule_fp) == ("used", "2026-03-01T09:00:00.000Z", None)
    assert files.persona.read_bytes() == OLD.encode()
    assert [rule.fingerprint for rule in persona.evidence()] == ["0123456789abcdef"]


def test_the_wiring_of_today_saves_with_evidence_too(home, files):
    """Existing constructor calls keep working."""
    old = PersonaStore(files.persona, files.selfnote_lock)
    save(old)
    assert state_of(files) == "new"


def test_an_owners_editor_between_read_and_rename_is_not_overwritten(files, persona, monkeypatch):
    """COMPLAINTS 1: the change is made again on top of what the owner wrote."""
    real, edits = persona_transaction._write_persona, []

    def late(home, journal, current, found):
        if not edits:
            edits.append(files.persona.write_bytes(OLD.replace("住在海里", "住在山里").encode()))
        return real(home, journal, current, found)

    monkeypatch.setattr(persona_transaction, "_write_persona", late)
    save(persona)
    assert state_of(files) == "new"
    assert persona.load().l2 == "住在山里"


# --- did the rule work -----------------------------------------------------------------------------
def test_a_later_correction_of_the_same_thing_counts_against_the_rule(files, persona, corrections):
    """S2-143: near or same as any text of the evidence, said after the rule was saved, each once."""
    save(persona)
    hours = [
        (1, "不对，先跑测试再提交！"),
        (2, "别再用表格了"),
        (3, "我说过先跑测试再提交的"),
        (-1, "不对，先跑测试再提交。"),
    ]
    for seq, (hour, text) in enumerate(hours, start=100):
        at = NOW + timedelta(hours=hour)
        assert corrections.record(text, sid="t", seq=seq, at=at, now=at)
        assert corrections.record(text, sid="t", seq=seq, at=at, now=at) is None
    rule = next(one for one in persona.evidence() if one.rule == RULE)
    assert (rule.count, rule.first_at, rule.last_at) == (2, NOW + timedelta(hours=1), NOW + timedelta(hours=3))
    assert rule.corrections == tuple(IDS[:2])


def test_a_crash_between_the_count_and_the_correction_counts_once(files, persona, corrections, monkeypatch):
    """S2-143, S2-150: the message is heard again after the crash, and was counted before."""
    save(persona)
    at = NOW + timedelta(hours=1)

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Corrections, "_to_archive", killed)
        with pytest.raises(KeyboardInterrupt):
            corrections.record("不对，先跑测试再提交！", sid="t", seq=1, at=at, now=at)
    assert len(corrections.all()) == 3
    assert corrections.record("不对，先跑测试再提交！", sid="t", seq=1, at=at, now=at)
    assert next(one for one in persona.evidence() if one.rule == RULE).count == 1


def test_evidence_that_left_for_the_archive_still_tells(files, persona, corrections):
    """S2-143, S2-151."""
    save(persona)
    lines = files.corrections.read_bytes().splitlines(keepends=True)
    files.notes_archive.mkdir()
    (files.notes_archive / "corrections-2026-03.jsonl").write_bytes(b"".join(lines[:1] + lines[2:3]))
    files.corrections.write_bytes(b"")
    at = NOW + timedelta(hours=1)
    corrections.record("不对，先跑测试再提交！", sid="t", seq=1, at=at, now=at)
    assert next(one for one in persona.evidence() if one.rule == RULE).count == 1


def test_a_rule_that_is_gone_keeps_its_observations(persona):
    save(persona)
    persona.save(l1="先结论")
    assert [(one.fingerprint, one.rule) for one in persona.evidence()] == [
        ("0123456789abcdef", None),
        (FINGERPRINT, None),
    ]


# --- the draft ---------------------------------------------------------------------------------------
def test_a_draft_shows_words_time_and_session_and_writes_nothing(home, persona, snapshot):
    """S2-076, S2-077, S2-079: never a rule."""
    before = snapshot(home)
    draft = persona.draft([IDS[1], IDS[0], IDS[1]])
    assert (draft.l0, draft.l1, draft.l2) == ("我是鲸鲸", "先结论\n不说教", "住在海里")
    assert draft.text == "[2026-02-21 09:00 s#9]\n我说过先跑测试再提交\n[2026-02-20 09:00 s#3]\n不对，先跑测试再提交"
    assert draft.corrections == (IDS[1], IDS[0])
    assert draft.revision == persona.load().revision
    assert snapshot(home) == before
    with pytest.raises(selfnote.NotFound, match="c-nobody"):
        persona.draft(["c-nobody"])


# --- reads of L2 -------------------------------------------------------------------------------------
def test_reads_of_l2_are_counted(files, persona):
    """S2-142: count and last time; other keys stay; what cannot be counted holds nobody up."""
    assert persona.reads().count == 0
    assert persona.count_read(NOW)
    files.persona_reads.write_text(files.persona_reads.read_text().replace("{", '{"x": 1.0 ,'))
    assert persona.count_read(NOW + timedelta(hours=1))
    assert (persona.reads().count, persona.reads().last_at) == (2, NOW + timedelta(hours=1))
    assert '"x": 1.0 ,' in files.persona_reads.read_text()
    with hold(files.selfnote_lock):
        assert persona.count_read(NOW) is False
    files.persona_reads.write_bytes(b"{half")
    assert persona.reads().count == 0
    assert persona.count_read(NOW)
    assert persona.reads().count == 1


# --- recovery ----------------------------------------------------------------------------------------
def interrupted(files, monkeypatch, step):
    """A save that stops before the given one of ours; the journal waits."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(persona_transaction, step, stop)
        with pytest.raises(KeyboardInterrupt):
            save(stores(files)[0])
    return files.persona_pending.exists()


def test_without_a_journal_recovery_touches_nothing(home, snapshot):
    """DESIGN "Opening": opening writes nothing unless a journal waits."""
    assert recover(MemoryHome.at(home)).state == "none"
    assert not home.exists()


def test_recovery_is_idempotent(files, monkeypatch, home, snapshot):
    """S2-145."""
    assert interrupted(files, monkeypatch, "_note_evidence")
    journal = files.persona_pending.read_bytes()
    report = recover(files, NOW)
    assert (report.state, report.corrections) == ("completed", tuple(IDS[:2]))
    assert state_of(files) == "new"
    before = snapshot(home)
    files.persona_pending.write_bytes(journal)
    assert recover(files, NOW).state == "completed"
    assert snapshot(home) == before
    assert recover(files, NOW).state == "none"


def test_a_failed_write_of_the_persona_leaves_no_journal(files, monkeypatch):
    """Nothing of the save is on disk, so nothing waits."""
    assert not interrupted(files, monkeypatch, "_write_persona")
    assert state_of(files) == "old"


def test_an_edit_after_the_crash_is_never_overwritten(files, monkeypatch):
    """S2-145: the journal is set aside as a conflict, the evidence stays open."""
    assert interrupted(files, monkeypatch, "_finish")
    edited = OLD.replace("先结论", "先说结论").encode()
    files.persona.write_bytes(edited)
    report = recover(files, NOW)
    assert (report.state, report.moved_to) == (
        "conflict",
        files.selfnote / "persona.pending.conflict-20260301T090000.000Z.json",
    )
    assert parse_journal(report.moved_to.read_bytes()).persona.decode().count(RULE) == 1
    assert files.persona.read_bytes() == edited
    assert not files.persona_pending.exists()
    assert all(one.status == "open" for one in stores(files)[1].all())
    assert recover(files, NOW).state == "none"


def test_an_edit_after_the_evidence_was_used_keeps_edit_and_use(files, monkeypatch):
    """The rule had been saved before it was edited: its evidence is noted, once, and the edit stays."""
    assert interrupted(files, monkeypatch, "_note_evidence")
    edited = files.persona.read_bytes().replace("住在海里".encode(), "住在山里".encode())
    files.persona.write_bytes(edited)
    assert recover(files, NOW).state == "completed"
    assert files.persona.read_bytes() == edited
    assert state_of(files) == "new"


def bad_journals():
    good = {"kind": "persona-save", "version": 1, "at": "2026-03-01T09:00:00.000Z", "before": "a", "after": "b", "data": "", "used": {}, "rules": {}, "check": "c"}  # fmt: skip
    yield from (b"", b"{half", b"[]", b"\x00" * 40, b"\xff", json.dumps(good).encode())
    yield json.dumps(good | {"version": 2}).encode()


@pytest.mark.parametrize("data", list(bad_journals()), ids=range(7))
def test_a_bad_journal_is_isolated_and_told(files, snapshot, home, data):
    """S2-145: kept, not followed, and the memory goes on."""
    before = {name: (files.selfnote / name).read_bytes() for name in THREE}
    for number in ("", ".2"):
        files.persona_pending.write_bytes(data)
        report = recover(files, NOW)
        assert (report.state, report.moved_to) == (
            "bad",
            files.selfnote / f"persona.pending.bad-20260301T090000.000Z{number}.json",
        )
        assert report.moved_to.read_bytes() == data
        assert str(report.moved_to.name) in report.detail
    assert {name: (files.selfnote / name).read_bytes() for name in THREE} == before
    assert not files.persona_pending.exists()


def test_a_journal_with_a_changed_byte_is_bad(files, monkeypatch):
    assert interrupted(files, monkeypatch, "_finish")
    files.persona_pending.write_bytes(
        files.persona_pending.read_bytes().replace(b'"open"', b'"x"').replace(IDS[0].encode(), b"c-000000000000")
    )
    assert recover(files, NOW).state == "bad"


def test_recovery_that_cannot_have_the_lock_waits(files, monkeypatch):
    """Opening goes on; the journal waits."""
    assert interrupted(files, monkeypatch, "_finish")
    with hold(files.selfnote_lock):
        report = recover(files, NOW, wait=0.05)
    assert report.state == "waiting"
    assert files.persona_pending.exists()
    assert recover(files, NOW).state == "completed"


def test_an_unreadable_evidence_file_does_not_block_recovery(files, monkeypatch):
    assert interrupted(files, monkeypatch, "_note_evidence")
    files.persona_evidence.write_bytes(b"{half")
    assert recover(files, NOW).state == "completed"
    (kept,) = files.selfnote.glob("persona.evidence.bad-*.json")
    assert kept.read_bytes() == b"{half"
    assert [one.rule for one in stores(files)[0].evidence()] == [RULE]


@pytest.mark.parametrize("used", [(), (IDS[2],)], ids=["plain", "with evidence"])
def test_the_next_save_completes_an_interrupted_one_first(files, monkeypatch, used):
    """S2-144: a waiting journal never meets a half-old file."""
    assert interrupted(files, monkeypatch, "_finish")
    persona, corrections = stores(files)
    persona.save(l2="住在山里", used_corrections=used, now=NOW)
    assert persona.load().l1 == NEW_L1
    assert not files.persona_pending.exists()
    assert [one.status for one in corrections.all()] == ["used", "used", "used" if used else "open"]


def test_what_was_heard_between_crash_and_recovery_stays(files, monkeypatch):
    """S2-145: corrections.jsonl is patched, not replaced."""
    assert interrupted(files, monkeypatch, "_finish")
    one = stores(files)[1].record("你又忘了写类型", sid="s", seq=50, at=NOW, now=NOW)
    assert recover(files, NOW).state == "completed"
    corrections = stores(files)[1]
    assert corrections.get(one.id).status == "open"
    assert corrections.get(IDS[0]).status == "used"


# --- kill -9 -----------------------------------------------------------------------------------------
DIES = textwrap.dedent("""
    import os, signal, sys
    from datetime import UTC, datetime
    from pathlib import Path
    from selfnote.home import MemoryHome
    from selfnote.records.persona import PersonaStore

    home, step, when = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    counted = -1

    def dying(real):
        def act(*args, **keywords):
            global counted
            counted += 1
            if counted == step and when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            done = real(*args, **keywords)
            if counted == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return done
        return act

    os.replace, os.unlink = dying(os.replace), dying(os.unlink)
    files = MemoryHome.at(home)
    PersonaStore(files.persona, files.selfnote_lock, home=files).save(
        l1=sys.argv[4], used_corrections=sys.argv[5:], now=datetime(2026, 3, 1, 9, tzinfo=UTC)
    )
    print(counted)
""")
#: Renames of journal, persona, corrections, evidence, then the journal's removal.
STEPS = 5


def run_dying(home, step, when):
    return subprocess.run(
        [sys.executable, "-c", DIES, home, str(step), when, NEW_L1, *IDS[:2]],
        cwd=REPOSITORY, env=os.environ | {"PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_save_has_as_many_steps_as_are_killed_below(files, home):
    done = run_dying(home, 99, "before")
    assert (done.returncode, done.stdout) == (0, f"{STEPS - 1}\n"), done.stderr
    assert state_of(files) == "new"


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", range(STEPS))
def test_a_save_killed_between_any_two_writes_is_old_or_new(files, home, step, when):
    """S2-144, S2-145: kill -9 before and after each rename and the removal; evidence used exactly once."""
    died = run_dying(home, step, when)
    assert died.returncode == -signal.SIGKILL, died.stderr
    journal_written = (step, when) > (0, "before") or (step, when) == (0, "after")
    waits = files.persona_pending.exists()
    assert waits == (journal_written and (step, when) != (STEPS - 1, "after"))
    report = recover(files, NOW)
    assert report.state == ("completed" if waits else "none")
    assert state_of(files) == ("new" if journal_written else "old")
    assert not files.persona_pending.exists()
    if report.state == "completed":
        assert list(files.selfnote.glob(".persona*.tmp")) == []
    save_again = {"l1": NEW_L1, "used_corrections": IDS[:2], "now": NOW}
    if journal_written:
        with pytest.raises(selfnote.Conflict):
            stores(files)[0].save(**save_again)
    else:
        stores(files)[0].save(**save_again)
        assert list(files.selfnote.glob(".persona*.tmp")) == []
    assert state_of(files) == "new"


#: For each line forks a child that saves or recovers in a home, and kills it after so many seconds; imports are paid
#: once. The killer is the parent that has not waited yet: the process id cannot be anyone else's.
FORKS = textwrap.dedent("""
    import os, signal, sys, time
    from datetime import UTC, datetime
    from pathlib import Path
    import filelock, rapidfuzz.fuzz
    from selfnote.home import MemoryHome
    from selfnote.records.persona import PersonaStore
    from selfnote.records.persona_transaction import recover

    now = datetime(2026, 3, 1, 9, tzinfo=UTC)
    for line in sys.stdin:
        act, delay, home = line.rstrip("\\n").split(" ", 2)
        child = os.fork()
        if child == 0:
            files = MemoryHome.at(Path(home))
            if act == "save":
                PersonaStore(files.persona, files.selfnote_lock, home=files).save(
                    l1=sys.argv[1], used_corrections=sys.argv[2:], now=now
                )
            else:
                recover(files, now)
            os._exit(0)
        if float(delay) >= 0:
            time.sleep(float(delay))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.timeout(900)
def test_random_kills_of_save_and_recovery_leave_old_or_new(tmp_path, capsys):
    """S2-144, S2-145: SELFNOTE_KILLS kills (default 60) at random instants, some of the recovery too."""
    kills = int(os.environ.get("SELFNOTE_KILLS", "60"))
    chance = random.Random(20261130)  # noqa: S311 - instants to kill at, no secret
    forks = subprocess.Popen(
        [sys.executable, "-c", FORKS, NEW_L1, *IDS[:2]], cwd=REPOSITORY, env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip

    def act(what, home, delay=-1.0):
        forks.stdin.write(f"{what} {delay:.6f} {home}\n")
        forks.stdin.flush()
        return int(forks.stdout.readline())

    times = []
    for name in ("first", "second", "third"):
        files = make(tmp_path / name)
        started = time.perf_counter()
        assert act("save", files.root) == 0
        times.append(time.perf_counter() - started)
    took = sorted(times)[1]
    number, outcomes = 0, dict.fromkeys(("killed", "killed in recovery", "journal left", "old", "new"), 0)
    while outcomes["killed"] + outcomes["killed in recovery"] < kills and number < 20 * kills:
        number += 1
        files = make(tmp_path / f"home{number}")
        outcomes["killed"] += act("save", files.root, chance.uniform(0, took)) == -signal.SIGKILL
        waits = files.persona_pending.exists()
        outcomes["journal left"] += waits
        if waits:
            outcomes["killed in recovery"] += act("recover", files.root, chance.uniform(0, took)) == -signal.SIGKILL
        recover(files, NOW)
        state = state_of(files)
        assert state in {"old", "new"}, state
        assert not waits or state == "new"
        outcomes[state] += 1
        assert not files.persona_pending.exists()
    forks.stdin.close()
    assert forks.wait(timeout=30) == 0
    forks.stdout.close()
    with capsys.disabled():
        print(f"\nkills: {outcomes} in {number} saves of {took * 1000:.1f} ms")  # noqa: T201 - what was really tried
    assert outcomes["killed"] + outcomes["killed in recovery"] >= kills
    assert outcomes["old"]
    assert outcomes["new"]


def test_recovering_for_a_caller_with_the_lock(files, monkeypatch):
    assert interrupted(files, monkeypatch, "_finish")
    with hold(files.selfnote_lock):
        assert recover_held(files, NOW).state == "completed"
        assert recover_held(files, NOW).state == "none"
