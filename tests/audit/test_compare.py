"""What changed since the last audit: every decision and every word, and nothing when nobody did anything."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfnote
import selfnote.audit.comparison
from selfnote.audit.comparison import KIND, Change
from selfnote.errors import Corrupt, NotFound
from selfnote.phrases import COMPARISON
from selfnote.records.ledger import count_seen

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
WORDS = (
    "先给结论再讲细节",
    "代码注释写英文",
    "跑完测试才提交",
    "路径一律用绝对的",
    "报错贴原文不转述",
    "会议纪要当天发出",
)


def approve(memory: selfnote.Memory, text: str, at: datetime = NOW, **values: object):
    return memory.facts.approve(memory.facts.stage(text, source="owner:test", now=at, **values), now=at)


def kinds(comparison) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in comparison.changes:
        found.setdefault(one.kind, []).append(one.id)
    return found


def test_every_decision_is_told_with_what_was_and_what_is(memory: selfnote.Memory):
    kept = approve(memory, WORDS[0])
    gone = approve(memory, WORDS[1])
    waiting = memory.facts.stage(WORDS[2], source="s#1", now=NOW)
    refused = memory.facts.stage(WORDS[3], source="s#2", now=NOW)
    before = memory.audit(now=NOW)
    memory.facts.retire(gone, now=LATER)
    memory.facts.approve(waiting, now=LATER)
    memory.facts.retire(refused, now=LATER)
    memory.facts.edit(kept.id, text="先给结论，细节等我问", now=LATER)
    memory.facts.set_importance(kept.id, 2.0, now=LATER)
    new = memory.facts.stage(WORDS[4], source="s#3", now=LATER)
    decided = memory.audit(now=LATER)
    told = decided.compare(before)
    assert told.of("fact approved") == (
        Change("fact approved", waiting.id, WORDS[2], "status", "candidate", "approved"),
    )
    assert [(one.id, one.before) for one in told.of("fact retired")] == [
        (gone.id, "approved"),
        (refused.id, "candidate"),
    ]
    assert [(one.field, one.before, one.after) for one in told.of("fact edited")] == [
        ("text", WORDS[0], "先给结论，细节等我问"),
        ("importance", 1.0, 2.0),
    ]
    assert [one.id for one in told.of("candidate new")] == [new.id]
    assert [one.id for one in told.of("entry in")] == [waiting.id]
    assert [one.id for one in told.of("entry out")] == [gone.id]
    assert [one.id for one in told.of("entry reworded")] == [kept.id]
    assert told.diff.splitlines() == [f"-{WORDS[0]}；{WORDS[1]}", f"+先给结论，细节等我问；{WORDS[2]}"]
    memory.facts.undo(gone.id, now=LATER)
    back = memory.audit(now=LATER).compare(decided)
    assert back.of("fact restored") == (Change("fact restored", gone.id, WORDS[1], "status", "retired", "approved"),)


def test_records_settings_findings_and_sessions_are_compared_too(home: Path, memory: selfnote.Memory):
    from selfnote.demo import bundled_home

    memory.persona.save(l0="我是阿砚。", l1="先跑测试。")
    note = memory.notes.add("我报错时贴原文", now=NOW)
    for text in WORDS[:3]:
        approve(memory, text, tags=["写法"])
    before = memory.audit(now=NOW)
    memory.persona.save(l1="先跑测试。\n不道歉。")
    memory.notes.pin(note.id, True)
    memory.notes.add("我估时给区间", now=LATER)
    habit = memory.habits.promote("写法", "按他的写法来", now=LATER)
    memory.config.save(half_life_days=45)
    with (home / "memory" / "facts.jsonl").open("a", encoding="utf-8") as facts:
        facts.write("}{\n")
    log = next(bundled_home().rglob("session.jsonl.zstd"))
    copy = home / log.relative_to(bundled_home())
    copy.parent.mkdir(parents=True)
    copy.write_bytes(log.read_bytes())
    after = memory.audit(now=LATER)
    told = after.compare(before)
    assert told.of("persona") == (Change("persona", "l1", "+不道歉。", "l1", "先跑测试。", "先跑测试。\n不道歉。"),)
    assert [(one.field, one.before, one.after) for one in told.of("note changed")] == [("pinned", False, True)]
    assert [one.text for one in told.of("note new")] == ["我估时给区间"]
    assert [one.id for one in told.of("habit new")] == [habit.id]
    assert told.of("setting") == (Change("setting", "half_life_days", "", "half_life_days", 30.0, 45.0),)
    assert [one.id for one in told.of("finding new")] == ["bad line"]
    assert [one.id for one in told.of("session new")] == [after.sessions[0].id]
    reverse = before.compare(after)
    assert [one.id for one in reverse.of("finding gone")] == ["bad line"]
    assert [one.id for one in reverse.of("habit gone")] == [habit.id]
    assert [one.text for one in reverse.of("note gone")] == ["我估时给区间"]
    assert [one.id for one in reverse.of("session gone")] == [after.sessions[0].id]
    for language in ("zh", "en"):
        shown = str(after.compare(before, language=language))
        assert all(COMPARISON[language][one.kind] in shown for one in told.changes)
        assert "facts.jsonl" in shown
        assert "{" not in after.compare(before, language=language).to_html().split("</style>")[1]


def test_looking_using_and_waiting_change_no_snapshot(home: Path, memory: selfnote.Memory):
    """Stable under counters, heat and clocks: a hit shows only when it moves a fact to another state."""
    fact = approve(memory, WORDS[0])
    memory.facts.stage(WORDS[1], source="s#1", now=NOW)
    first = memory.audit(now=NOW)
    selfnote.compose_injection(home, session="s", now=LATER)
    used = memory.audit(now=LATER)
    assert [(one.kind, one.before, one.after) for one in used.compare(first).changes] == [("state", "never", "active")]
    for hours in range(1, 5):
        selfnote.compose_injection(home, session="s", now=LATER + timedelta(hours=hours))
        count_seen(memory.home, memory.facts, [fact.id], session="s", via="memory_search", now=LATER)
        memory.facts.stage(WORDS[1], source=f"s#{hours + 1}", now=LATER)
    after = memory.audit(now=LATER + timedelta(hours=5))
    assert memory.facts.get(fact.id).hit_count > fact.hit_count + 1
    assert after.snapshot == used.snapshot
    assert after.compare(used).is_empty
    assert COMPARISON["zh"]["same"] in str(after.compare(used))


def test_a_line_that_only_moved_is_no_new_finding(home: Path, memory: selfnote.Memory):
    approve(memory, WORDS[0])
    path = home / "memory" / "facts.jsonl"
    good = path.read_text(encoding="utf-8")
    path.write_text(good + "}{\n", encoding="utf-8")
    before = memory.audit(now=NOW)
    path.write_text("}{\n" + good, encoding="utf-8")
    after = memory.audit(now=NOW)
    assert after.bad_lines[0].line != before.bad_lines[0].line
    assert after.compare(before).is_empty
    assert after.snapshot == before.snapshot
    path.write_text("}{\n}{\n" + good, encoding="utf-8")
    twice = memory.audit(now=NOW)
    assert len(twice.compare(before).of("finding new")) == 1, "one more of the same kind is one more"
    assert twice.snapshot != before.snapshot


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["stage", "approve", "retire", "edit", "note", "config", "compose", "look", "persona"]),
        st.integers(0, 5),
    ),
    max_size=6,
)


def act(memory: selfnote.Memory, what: str, number: int, at: datetime) -> None:
    facts = memory.facts.all()
    match what:
        case "stage":
            memory.facts.stage(WORDS[number], source=f"s#{number}", now=at)
        case "approve" if facts and facts[number % len(facts)].status == "candidate":
            memory.facts.approve(facts[number % len(facts)].id, now=at)
        case "retire" if facts and facts[number % len(facts)].status != "retired":
            memory.facts.retire(facts[number % len(facts)].id, now=at)
        case "edit" if facts:
            memory.facts.edit(facts[number % len(facts)].id, text=WORDS[number] + "，一直如此", now=at)
        case "note":
            memory.notes.add(WORDS[number], now=at)
        case "config":
            memory.config.save(half_life_days=30 + number)
        case "compose":
            selfnote.compose_injection(memory.home.root, session="s", now=at)
        case "persona":
            memory.persona.save(l1=WORDS[number])
        case _:
            memory.audit(now=at)


@given(ACTS, ACTS)
def test_two_snapshots_are_equal_exactly_when_nothing_is_told(earlier, later):
    with tempfile.TemporaryDirectory() as folder:
        memory = selfnote.open_memory(Path(folder) / ".dsh", tz="Asia/Shanghai")
        at = NOW
        for what, number in earlier:
            at += timedelta(minutes=40)
            act(memory, what, number, at)
        before = memory.audit(now=at)
        for what, number in later:
            at += timedelta(minutes=40)
            act(memory, what, number, at)
        after = memory.audit(now=at)
        told = after.compare(before)
        assert told.is_empty == (after.snapshot == before.snapshot)
        assert after.compare(json.loads(json.dumps(before.to_json()))).changes == told.changes
        assert not told.problems


def test_a_report_its_json_and_a_file_of_it_say_the_same(memory: selfnote.Memory, tmp_path: Path):
    """A shell may have written the file in UTF-16, or with a mark in front."""
    approve(memory, WORDS[0])
    before = memory.audit(now=NOW)
    approve(memory, WORDS[1], at=LATER)
    after = memory.audit(now=LATER)
    text = json.dumps(before.to_json(), ensure_ascii=False)
    told = after.compare(before)
    assert told.changes
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path = tmp_path / f"{encoding}.json"
        path.write_text(text, encoding=encoding)
        for previous in (path, str(path), json.loads(text)):
            assert after.compare(previous).to_json() == told.to_json()
    assert selfnote.audit.compare(tmp_path / "utf-8.json", after.to_json()).to_json() == told.to_json()
    assert told.to_json()["after"]["snapshot"] == after.snapshot == after.to_json()["snapshot"]
    assert json.dumps(told.to_json())


def test_compare_is_the_function_whatever_was_imported_before():
    assert callable(selfnote.audit.compare)
    assert selfnote.audit.compare is selfnote.audit.comparison.compare


def test_what_is_no_report_is_refused_in_plain_words(memory: selfnote.Memory, tmp_path: Path):
    approve(memory, WORDS[0])
    report = memory.audit(now=NOW)
    whole = json.dumps(report.to_json(), ensure_ascii=False)
    with pytest.raises(NotFound, match="does not exist"):
        report.compare(tmp_path / "nothing.json")
    values = json.loads(whole)
    nonsense = {
        "not.json": "nonsense",
        "empty.json": "",
        "half.json": whole[: len(whole) // 2],
        "list.json": "[]",
        "other.json": '{"a": 1}',
        "deep.json": "[" * 100_000,
        "newer.json": json.dumps({**values, "version": 99}),
        "kinds.json": json.dumps({**values, "kind": KIND + "s"}),
        "state.json": json.dumps({**values, "state": {**values["state"], "facts": {"f-1": 3}}}),
    }
    for name, text in nonsense.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(Corrupt, match=name):
            report.compare(tmp_path / name)


def test_an_altered_report_and_one_of_another_memory_are_told(memory: selfnote.Memory, tmp_path: Path):
    approve(memory, WORDS[0])
    report = memory.audit(now=NOW)
    values = json.loads(json.dumps(report.to_json()))
    values["state"]["text"] += "\n有人加的一行"
    told = report.compare(values, language="en")
    assert told.problems == (COMPARISON["en"]["altered"],)
    assert told.diff == "-有人加的一行"
    other = selfnote.open_memory(tmp_path / "other", tz="Asia/Shanghai").audit(now=NOW)
    assert str(memory.home.root) in other.compare(report, language="en").problems[0]


def test_what_an_earlier_report_says_is_shown_and_never_obeyed(memory: selfnote.Memory):
    approve(memory, WORDS[0])
    report = memory.audit(now=NOW)
    values = json.loads(json.dumps(report.to_json()))
    values["state"]["facts"]["<img src=x onerror=alert(1)>"] = {
        **next(iter(values["state"]["facts"].values())),
        "text": "<script>alert(1)</script>\u202e",
    }
    values["state"]["findings"] = [
        {"kind": "<b>", "values": {"x": "<script>"}},
        {"kind": "bad line", "values": {"file": "{line.__class__}", "reason": {}}},
        {"kind": "flag", "values": {}},
    ]
    values["home"] = "<script>"
    told = report.compare(values)
    assert len(told.of("fact gone")) == 1
    assert len(told.of("finding gone")) == 3
    for shown in (told.to_html(), told._repr_html_(), report.to_html(changes=told)):
        assert "<script" not in shown
        assert "<img" not in shown
        assert "\u202e" not in shown
    assert str(told)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_kind_of_change_has_its_word(language: str):
    from typing import get_args

    from selfnote.audit.comparison import Kind

    assert set(get_args(Kind)) <= COMPARISON[language].keys()
    assert COMPARISON["zh"].keys() == COMPARISON["en"].keys()
