"""facts.jsonl as bytes: what is not understood, and how it is spaced, survives every act (DESIGN "Files", COMPLAINTS A)."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfnote
from selfnote.records.fact_lines import encode_fact, parse_fact
from selfnote.records.facts import Fact, Facts
from selfnote.times import parse_instant

T0 = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
SHANGHAI = ZoneInfo("Asia/Shanghai")


def at(minutes):
    return T0 + timedelta(minutes=minutes)


#: One readable line with everything odd in it that must survive: spacing, number forms, escapes, unknown keys.
ODD = (
    '{ "id" : "f-odd","text":"\\u4f60\\u597d \\/ x" ,  "status": "candidate","importance":1.0, "x": 1.0,"y":1 ,'
    '"big":123456789012345678901234567890, "exp":1e5, "esc":"\\u00e9\\n", "nested":{"a":[1, 2,  {"b":null}]},'
    '"sources":["s#1" , "s#0"], "source":"s#1", "history":[ {"at":"2026-01-01T00:00:00Z","via":"import","from":null,"to":"candidate", "who":"\\u6211","n":1.0} ],'
    '"similarTo":[{"id":"f-two","kind":"conflict","rule":"old","score":9e1, "why":{"k":1.0}} , "f-three"], "hitCount":0 }'
)
ODD_KEPT = [
    '"text":"\\u4f60\\u597d \\/ x"',
    '"x": 1.0,"y":1 ,',
    '"big":123456789012345678901234567890, "exp":1e5, "esc":"\\u00e9\\n"',
    '"nested":{"a":[1, 2,  {"b":null}]}',
    '{"at":"2026-01-01T00:00:00Z","via":"import","from":null,"to":"candidate", "who":"\\u6211","n":1.0}',
    '"score":9e1, "why":{"k":1.0}',
    '"f-three"',
    '"s#1" , "s#0"',
]
TWO = '{"id":"f-two","text":"数据库端口 1","status":"candidate","similarTo":[{"id":"f-odd","kind":"conflict","z":01}]}'.replace(
    "01", "0.10"
)

ACTS = {
    "approve": lambda f: f.approve("f-odd", now=at(1)),
    "retire": lambda f: f.retire("f-odd", now=at(1)),
    "undo": lambda f: (f.approve("f-odd", now=at(1)), f.undo("f-odd", now=at(2))),
    "edit detail": lambda f: f.edit("f-odd", detail="x", now=at(1)),
    "importance": lambda f: f.set_importance("f-odd", 2, now=at(1)),
    "tags": lambda f: f.set_tags("f-odd", ["a"], now=at(1)),
    "resolve": lambda f: f.resolve("f-odd", "f-two", now=at(1)),
    "hit": lambda f: f.count(["f-odd"], "hit", at(1), merge_seconds=3600),
    "seen": lambda f: f.count(["f-odd"], "seen", at(1), merge_seconds=600),
    "repeat": lambda f: f.stage("你好 / x", source="s#2", now=at(1)),
    "link": lambda f: f.stage("你好 / x 1", source="s#2", now=at(1)),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_unknown_keys_and_odd_spacing_survive_every_act_byte_for_byte(memory, put, act):
    """DESIGN "Files": unknown keys survive, also inside history and similarTo, with their spacing and number forms."""
    put(memory.home.facts, ODD + "\n" + TWO + "\n")
    act(memory.facts)
    first, *_ = memory.home.facts.read_text("utf-8").splitlines()
    assert first != ODD
    for kept in ODD_KEPT:
        assert kept in first, kept
    json.loads(first)
    assert memory.facts.bad_lines() == []


BAD = {
    "two objects joined": b'{"id":"f-a","text":"a","status":"candidate"}{"id":"f-b","text":"b","status":"candidate"}',
    "half a line": '{"id":"f-c","text":"半'.encode()[:-1],
    "a NUL run": b"\x00" * 512,
    "over 1 MB": b'{"id":"f-d","text":"' + b"x" * 1_048_600 + b'","status":"candidate"}',
    "5 MB": b'{"id":"f-e","text":"' + b"x" * 5_000_000 + b'","status":"candidate"}',
    "invalid UTF-8": b'{"id":"f-f","text":"\xff\xfe","status":"candidate"}',
    "an array": b'["f-g"]',
    "a string": b'"f-g"',
    "a number": b"17",
    "null": b"null",
    "no JSON": "# 我的事实".encode(),
    "no id": b'{"text":"a","status":"candidate"}',
    "empty id": b'{"id":"","text":"a","status":"candidate"}',
    "numeric id": b'{"id":3,"text":"a","status":"candidate"}',
    "no text": b'{"id":"f-h","status":"candidate"}',
    "text null": b'{"id":"f-h","text":null,"status":"candidate"}',
    "unknown status": b'{"id":"f-i","text":"a","status":"maybe"}',
    "deep nesting": b"[" * 20_000,
    "id taken": b'{"id":"f-1","text":"zweite","status":"approved"}',
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_one_bad_line_hurts_no_other_and_survives_every_rewrite(memory, put, line_of, bad):
    """COMPLAINTS 10, S2-166: other rows load, the line is reported by its number, and is kept byte for byte."""
    before, after = (line_of(id=f"f-{n}", text=text, status="candidate").encode() for n, text in ((1, "甲"), (2, "乙")))
    put(memory.home.facts, before + b"\n" + bad + b"\n" + after + b"\n")
    assert [f.id for f in memory.facts.all()] == ["f-1", "f-2"]
    (reported,) = memory.facts.bad_lines()
    assert (reported.line, reported.path, bool(reported.reason)) == (2, memory.home.facts, True)
    memory.facts.approve("f-2", now=at(1))
    memory.facts.stage("丙", source="s#3", now=at(2))
    lines = memory.home.facts.read_bytes().split(b"\n")
    assert lines[:2] == [before, bad]
    assert [f.status for f in memory.facts.all()] == ["candidate", "approved", "candidate"]
    assert [b.line for b in memory.facts.bad_lines()] == [2]


def test_all_kinds_of_bad_lines_at_once(memory, put, line_of):
    """COMPLAINTS 10: the store never goes down."""
    lines = [
        line_of(id="f-1", text="甲", status="candidate").encode(),
        *BAD.values(),
        line_of(id="f-2", text="乙", status="approved").encode(),
    ]
    put(memory.home.facts, b"\n".join(lines) + b"\n")
    assert [f.id for f in memory.facts.all()] == ["f-1", "f-2"]
    assert [b.line for b in memory.facts.bad_lines()] == list(range(2, 2 + len(BAD)))


def test_blank_lines_are_no_bad_lines_and_stay(memory, put, line_of):
    put(memory.home.facts, "\n" + line_of(id="f-1", text="甲", status="candidate") + "\n  \n\n")
    assert memory.facts.bad_lines() == []
    memory.facts.approve("f-1", now=at(1))
    assert memory.home.facts.read_bytes().startswith(b"\n{")
    assert memory.home.facts.read_bytes().endswith(b"}\n  \n\n")


def test_a_key_given_twice_counts_and_is_changed_at_its_last_place(memory, put):
    """JSON readers take the last; an approval that changed the first would not hold."""
    put(memory.home.facts, '{"id":"f-1","status":"retired","text":"甲","status":"candidate"}\n')
    assert memory.facts.get("f-1").status == "candidate"
    memory.facts.approve("f-1", now=at(1))
    assert memory.facts.get("f-1").status == "approved"
    assert '"status":"retired"' in memory.home.facts.read_text("utf-8")


@pytest.mark.parametrize(
    "text",
    ["a\u2028b", "a\x85b", "a\x0bb", "a\rb", "a\nb", "a\x1cb", "\ufeffa", "a\x00b", "😀👩\u200d👩\u200d👧", '"}{"'],
)
def test_a_fact_of_any_text_is_one_line_and_stays_as_it_was_said(memory, text):
    """DESIGN "safe": stored text stays as it was; COMPLAINTS 59: it never becomes two lines."""
    fact = memory.facts.stage(text, source="s#1", now=at(0))
    memory.facts.stage("另一条", source="s#2", now=at(1))
    assert memory.facts.get(fact.id).text == text
    assert memory.home.facts.read_bytes().count(b"\n") == 2
    assert b"\r" not in memory.home.facts.read_bytes()
    assert memory.facts.bad_lines() == []


# --- newlines, BOM, one line ---------------------------------------------------------------------
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "BOM"])
@pytest.mark.parametrize("final", [True, False], ids=["final newline", "no final newline"])
def test_newline_style_and_bom_stay_and_a_missing_newline_is_mended(memory, *, put, line_of, newline, bom, final):
    """COMPLAINTS 6, 7, 8, 11."""
    lines = [line_of(id=f"f-{n}", text=text, status="candidate").encode() for n, text in enumerate("甲乙丙")]
    put(memory.home.facts, bom + newline.join(lines) + (newline if final else b""))
    assert [f.text for f in memory.facts.all()] == list("甲乙丙")
    memory.facts.approve("f-2", now=at(1))
    memory.facts.stage("丁丁丁", source="s#1", now=at(2))
    raw = memory.home.facts.read_bytes()
    assert raw.startswith(bom + lines[0] + newline + lines[1] + newline)
    assert raw.endswith(newline)
    assert raw.replace(b"\r\n", b"").count(b"\n") == (0 if newline == b"\r\n" else 4)
    assert [(f.text, f.status) for f in memory.facts.all()] == [
        ("甲", "candidate"), ("乙", "candidate"), ("丙", "approved"), ("丁丁丁", "candidate"),
    ]  # fmt: skip
    assert memory.facts.bad_lines() == []


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_one_edit_is_one_line_for_git(memory, put, line_of, newline, tmp_path):
    """COMPLAINTS 7: git diff --numstat shows exactly one line."""
    put(
        memory.home.facts,
        newline.join(line_of(id=f"f-{n}", text=f"事实{n}号", status="candidate") for n in range(5)) + newline,
    )
    git = [
        "git",
        "-c",
        "user.name=o",
        "-c",
        "user.email=o@x",
        "-c",
        "core.autocrlf=false",
        "-C",
        str(memory.home.memory),
    ]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "facts.jsonl"], check=True)
    memory.facts.approve("f-3", now=at(1))
    shown = subprocess.run([*git, "diff", "--numstat"], check=True, capture_output=True, text=True).stdout
    assert shown.split() == ["1", "1", "facts.jsonl"]


# --- the owner's editor between our read and our rename -------------------------------------------
def test_a_line_that_an_editor_adds_while_we_write_is_kept_and_our_change_is_on_top(memory, put, line_of, editor):
    """COMPLAINTS 1: neither is lost."""
    put(memory.home.facts, line_of(id="f-1", text="甲", status="candidate") + "\n")
    added = (line_of(id="f-2", text="乙", status="candidate") + "\n").encode()
    saved = editor(memory.home.facts, lambda data: data + added)
    memory.facts.approve("f-1", now=at(1))
    assert saved
    assert [(f.id, f.status) for f in memory.facts.all()] == [("f-1", "approved"), ("f-2", "candidate")]


def test_an_editor_that_changes_the_shown_fact_while_we_write_makes_a_conflict(memory, put, line_of, editor):
    """COMPLAINTS 4: what was shown is compared with what is there now, at the last moment too."""
    put(memory.home.facts, line_of(id="f-1", text="甲", status="candidate") + "\n")
    shown = memory.facts.get("f-1")
    saved = editor(memory.home.facts, lambda data: data.replace("甲".encode(), "乙".encode()))
    with pytest.raises(selfnote.Conflict):
        memory.facts.approve(shown, now=at(1))
    assert memory.home.facts.read_bytes() == saved[0]


def test_an_editor_that_deletes_the_file_while_we_write_is_not_overruled(memory, put, line_of):
    """The file is gone: the change is tried on what is there then, which is nothing."""
    path = put(memory.home.facts, line_of(id="f-1", text="甲", status="candidate") + "\n") and memory.home.facts
    calls = []

    def zone():
        calls.append(1)
        if len(calls) == 1:
            path.unlink()

    facts = Facts(path, memory.home.memory_lock, zone=zone)
    with pytest.raises(selfnote.NotFound):
        facts.approve("f-1", now=at(1))
    assert not path.exists()


# --- times ---------------------------------------------------------------------------------------
E43 = [
    ("2026-11-30T01:02:03Z", datetime(2026, 11, 30, 1, 2, 3, tzinfo=UTC)),
    ("2026-11-30T09:02:03+08:00", datetime(2026, 11, 30, 1, 2, 3, tzinfo=UTC)),
    ("2026-11-30T09:02:03", datetime(2026, 11, 30, 1, 2, 3, tzinfo=UTC)),
    (1796000523, datetime(2026, 11, 30, 1, 2, 3, tzinfo=UTC)),
    (1796000523000, datetime(2026, 11, 30, 1, 2, 3, tzinfo=UTC)),
    ("", None),
    (None, None),
    ("昨天", None),
]


def test_rows_with_times_of_every_form_load_and_two_are_flagged(memory, put, line_of):
    """COMPLAINTS 43: Z, +08:00, naive, epoch s, epoch ms, "", null, 昨天: all load, flags 2."""
    rows = [
        line_of(id=f"f-{n}", text=f"第{n}条", status="approved", createdAt=value) for n, (value, _) in enumerate(E43)
    ]
    put(memory.home.facts, "\n".join(rows) + "\n")
    facts = memory.facts.all()
    assert [f.created_at for f in facts] == [read for _, read in E43]
    assert [bool(f.problems) for f in facts] == [value in ("", "昨天") for value, _ in E43]
    assert memory.facts.bad_lines() == []


@pytest.mark.parametrize("name", ["createdAt", "approvedAt", "lastHit", "lastSeen"])
@pytest.mark.parametrize(
    "value",
    [value for value, _ in E43]
    + ["2026-11-30", "20261130", "1796000523", "1796000523000", 1796000523.25, "2026-11-30 09:02", " 2026-11-30T01:02:03Z ",
       "2026-11-30T09:02:03+0800", "2026-W49-1", 0, -1, 1e300, True, [], {}, "0000-00-00", "9999-12-31T23:59:59+14:00"],
)  # fmt: skip
def test_every_time_of_a_fact_is_read_by_the_one_reader(name, value, line_of):
    """DESIGN "Files", A-12: one reader for every time on disk; never raises, never a naive instant."""
    fact = parse_fact(line_of(id="f-1", text="甲", status="approved", **{name: value}), SHANGHAI)
    snake = {"createdAt": "created_at", "approvedAt": "approved_at", "lastHit": "last_hit", "lastSeen": "last_seen"}[
        name
    ]
    got = getattr(fact, snake)
    assert got == parse_instant(value, SHANGHAI)
    assert got is None or got.tzinfo is not None
    assert bool(fact.problems) is (value is not None and got is None)


@pytest.mark.parametrize("value", [value for value, _ in E43] + ["2026-11-30", "20261130"])
def test_times_in_the_history_are_read_by_the_same_reader(value, line_of):
    """COMPLAINTS 43: a naive time in a history item must not mix with aware ones."""
    item = {"at": value, "via": "import", "from": "candidate", "to": "approved"}
    fact = parse_fact(line_of(id="f-1", text="甲", status="approved", history=[item]), SHANGHAI)
    (read,) = fact.history
    assert read.at == parse_instant(value, SHANGHAI)
    assert (read.via, read.from_, read.to) == ("import", "candidate", "approved")


def test_undo_works_on_a_history_with_naive_times(memory, put, line_of):
    """COMPLAINTS 43: naive and aware must not stop an act."""
    put(
        memory.home.facts,
        line_of(id="f-1", text="甲", status="retired", history=[
            {"at": "2026-01-01T08:00:00", "via": "x", "from": "candidate", "to": "approved"},
            {"at": "2026-01-02T08:00:00", "via": "x", "from": "approved", "to": "retired"},
        ]) + "\n",
    )  # fmt: skip
    back = memory.facts.undo("f-1", now=at(1))
    assert (back.status, back.approved_at) == ("approved", datetime(2026, 1, 1, tzinfo=UTC))


def test_an_unreadable_time_stays_as_it_was_written(memory, put, line_of):
    """DESIGN "Files": flagged, not mended."""
    put(memory.home.facts, line_of(id="f-1", text="甲", status="candidate", createdAt="昨天") + "\n")
    memory.facts.approve("f-1", now=at(1))
    assert '"createdAt":"昨天"' in memory.home.facts.read_text("utf-8")


def test_times_are_written_as_utc_with_milliseconds(memory):
    """A-28: UTC ISO-8601 with ms, whatever the zone of ``now``."""
    beijing = timezone(timedelta(hours=8))
    memory.facts.stage("甲", source="s#1", now=datetime(2026, 3, 1, 9, 0, 0, 123999, tzinfo=beijing))
    assert json.loads(memory.home.facts.read_bytes())["createdAt"] == "2026-03-01T01:00:00.123Z"


# --- lenient reading -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("field", "value", "attribute", "read"),
    [
        ("channel", "mood", "channel", "rel"),
        ("channel", None, "channel", "rel"),
        ("channel", 3, "channel", "rel"),
        ("importance", 9, "importance", 3.0),
        ("importance", -1, "importance", 0.0),
        ("importance", "high", "importance", 1.0),
        ("hitCount", -3, "hit_count", 0),
        ("hitCount", "many", "hit_count", 0),
        ("seenCount", [1], "seen_count", 0),
        ("occurrences", None, "occurrences", 1),
        ("tags", {"a": 1}, "tags", ()),
        ("tags", ["a", 3, "b"], "tags", ("a", "b")),
        ("sources", 7, "sources", ()),
        ("history", "none", "history", ()),
        ("history", [3], "history", ()),
        ("similarTo", [{"kind": "near"}], "similar_to", ()),
        ("flags", 1, "flags", ()),
        ("reason", "whim", "reason", None),
        ("detail", 5, "detail", None),
    ],
)
def test_a_field_that_cannot_be_used_has_its_default_and_is_flagged(
    memory, *, put, line_of, field, value, attribute, read
):
    """DESIGN "Who goes where", "Files": unknown channel reads as rel and is flagged; one bad field costs no fact."""
    raw = line_of(id="f-1", text="甲", status="candidate", **{field: value})
    put(memory.home.facts, raw + "\n")
    (fact,) = memory.facts.all()
    assert getattr(fact, attribute) == read
    assert any(field in problem for problem in fact.problems)
    memory.facts.set_tags("f-1", ["新"], now=at(1)) if field != "tags" else memory.facts.approve("f-1", now=at(1))
    assert memory.facts.get("f-1").text == "甲"


def test_a_nan_importance_reads_as_the_default(memory, put):
    """A-03: NaN is no importance."""
    put(memory.home.facts, '{"id":"f-1","text":"甲","status":"approved","importance":NaN}\n')
    (fact,) = memory.facts.all()
    assert fact.importance == 1.0
    assert fact.problems


@pytest.mark.parametrize(
    ("label", "reason"),
    [("长期约定", "convention"), ("禁止", "prohibition"), ("偏好", "preference"), ("纠正", "correction")],
)
def test_the_owners_words_for_a_reason_are_read(line_of, label, reason):
    """S2-081: the four trigger reasons in the owner's words."""
    assert parse_fact(line_of(id="f-1", text="甲", status="candidate", reason=label)).reason == reason


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


@given(
    text=TEXTS,
    detail=st.none() | TEXTS,
    tags=st.lists(TEXTS, max_size=3),
    importance=st.floats(0, 3),
    count=st.integers(0, 2**40),
    when=st.none() | st.datetimes(datetime(1971, 1, 1), datetime(2999, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - bounds are naive by contract
    channel=st.sampled_from(["rel", "env"]),
)
def test_a_fact_reads_back_as_it_was_written(*, text, detail, tags, importance, count, when, channel):
    """S2-155: one JSON a line, nothing lost but what is under a millisecond."""
    when = when and when.replace(microsecond=when.microsecond // 1000 * 1000)
    fact = Fact(
        id="f-1", text=text, detail=detail, tags=tuple(tags), importance=importance, hit_count=count, created_at=when,
        last_hit=when, channel=channel, sources=("s#1",), source="s#1",
    )  # fmt: skip
    line = encode_fact(fact)
    assert "\n" not in line
    assert "\r" not in line
    back = parse_fact(line)
    assert back.model_dump() == fact.model_dump()
    assert back.problems == ()


@pytest.mark.parametrize(
    "field",
    [
        '"channel":["rel"]',
        '"channel":{}',
        '"reason":["偏好"]',
        '"reason":{"a":1}',
        '"importance":1' + "0" * 400,
        '"importance":1e999',
        '"hitCount":1' + "0" * 400,
    ],
    ids=[
        "channel list",
        "channel object",
        "reason list",
        "reason object",
        "huge importance",
        "infinite importance",
        "huge count",
    ],
)
def test_a_value_of_the_wrong_kind_takes_neither_its_fact_nor_the_store_down(memory, put, line_of, field):
    """COMPLAINTS 10, 43: per-row isolation; a list or a huge number where a word or a small one belongs is flagged."""
    put(
        memory.home.facts,
        f'{{"id":"f-1","text":"甲","status":"approved",{field}}}\n'
        + line_of(id="f-2", text="乙", status="approved")
        + "\n",
    )
    facts = memory.facts.all()
    assert [f.id for f in facts] == ["f-1", "f-2"]
    assert facts[0].problems


def test_half_a_character_in_the_file_stops_no_act(memory, put):
    """COMPLAINTS 29: an escaped lone surrogate, as another program may leave it, loads or is reported; it never raises."""
    raw = '{"id":"f-1","text":"半\\ud83d个","status":"candidate"}'
    put(memory.home.facts, raw + '\n{"id":"f-2","text":"乙","status":"candidate"}\n')
    for fact in memory.facts.all():
        memory.facts.approve(fact, now=at(1))
        memory.facts.set_tags(fact.id, ["a"], now=at(2))
    assert memory.facts.get("f-2").status == "approved"
    assert "半\\ud83d个" in memory.home.facts.read_text("utf-8")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda c: st.lists(c, max_size=3) | st.dictionaries(st.text(max_size=3), c, max_size=3),
    max_leaves=6,
)


@given(
    values=st.fixed_dictionaries(
        {"id": st.just("f-1"), "text": st.just("甲"), "status": st.just("approved")},
        optional=dict.fromkeys(("detail", "channel", "tags", "source", "reason", "importance", "occurrences", "sources", "similarTo", "flags", "hitCount", "lastHit", "seenCount", "lastSeen", "createdAt", "approvedAt", "history", "captureSource", "whatever"), JSON),
    )
)  # fmt: skip
def test_no_value_of_another_field_takes_a_fact_down(values):
    """COMPLAINTS 10, 43: whatever another program put into a field, the fact loads."""
    fact = parse_fact(json.dumps(values), SHANGHAI)
    assert (fact.id, fact.text, fact.status) == ("f-1", "甲", "approved")
    assert 0 <= fact.importance <= 3
    assert fact.revision


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda b: b.decode("latin-1")))
def test_any_line_is_a_fact_or_a_value_error(raw):
    """COMPLAINTS 10: nothing else leaves the reader."""
    with contextlib.suppress(ValueError):
        parse_fact(raw)


# --- what may not happen -------------------------------------------------------------------------
def test_a_lock_held_by_another_process_is_given_up(memory, monkeypatch):
    """S2-165: Busy names the lock and nothing is written."""
    import functools

    import selfnote.records.facts as module

    fact = memory.facts.stage("甲", source="s#1", now=at(0))
    before = memory.home.facts.read_bytes()
    code = (
        "import sys; from pathlib import Path; from selfnote.storage.locks import hold\n"
        "with hold(Path(sys.argv[1])):\n    print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(memory.home.memory_lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout.readline() == "held\n"
        monkeypatch.setattr(module, "hold", functools.partial(module.hold, wait=0.2))
        with pytest.raises(selfnote.Busy, match=r"\.lock"):
            memory.facts.approve(fact.id, now=at(1))
        assert memory.home.facts.read_bytes() == before
        assert memory.facts.get(fact.id).text == "甲"
        other.stdin.close()
        other.wait(10)
    assert memory.facts.approve(fact.id, now=at(2)).status == "approved"


def test_the_file_of_facts_is_readable_by_its_owner_and_others(memory):
    """S2-268: 644, plain text that can be grepped (S2-015)."""
    memory.facts.stage("可以被搜到的一句", source="s#1")
    assert memory.home.facts.stat().st_mode & 0o777 == 0o644
    assert "可以被搜到的一句".encode() in memory.home.facts.read_bytes()


def test_counting_is_at_most_once_in_its_window_and_leaves_no_history(memory):
    """S2-171, S2-102, S2-103: hits an hour, seen ten minutes, two ledgers never merged."""
    fact = memory.facts.approve(memory.facts.stage("甲", source="s#1", now=at(0)), now=at(0))
    hits = [bool(memory.facts.count([fact.id], "hit", at(n), merge_seconds=3600)) for n in (1, 1, 60, 61, 62, 121)]
    assert hits == [True, False, False, True, False, True]
    seen = [bool(memory.facts.count([fact.id], "seen", at(n), merge_seconds=600)) for n in (1, 10, 11, 12)]
    assert seen == [True, False, True, False]
    now = memory.facts.get(fact.id)
    assert (now.hit_count, now.last_hit, now.seen_count, now.last_seen) == (3, at(121), 2, at(11))
    assert now.history == fact.history
    assert now.revision == fact.revision


def test_a_count_from_the_future_does_not_stop_counting(memory, put, line_of):
    """COMPLAINTS 42: a clock that was wrong once must not freeze a fact for years."""
    put(
        memory.home.facts,
        line_of(id="f-1", text="甲", status="approved", hitCount=1, lastHit="2999-01-01T00:00:00Z") + "\n",
    )
    assert memory.facts.count(["f-1", "f-unknown"], "hit", at(1), merge_seconds=3600) == ["f-1"]
    assert memory.facts.get("f-1").last_hit == at(1)


def test_the_basis_of_a_choice_does_not_depend_on_which_reader_read_the_times():
    """DESIGN "Rotation": the same instants are the same basis, in whatever zone and by whatever model they were read."""
    from selfnote.records.fact_lines import parse_fact

    line = '{"id":"f-1","text":"甲","status":"approved","approvedAt":"2026-03-01T04:00:00.000Z"%s}'
    plain = parse_fact(line % "")
    lenient = parse_fact(line % ',"lastSeen":"昨天"')
    elsewhere = parse_fact(line.replace("04:00:00.000Z", "12:00:00.000+08:00") % "")
    assert lenient.problems
    assert plain.without_counters == lenient.without_counters == elsewhere.without_counters
    assert plain.without_counters != parse_fact(line.replace("04:00", "04:01") % "").without_counters


def lines_of_a_file():
    """Lines of a small file: facts of few ids, so that some come twice, and lines nobody can read."""
    fact = st.builds(
        lambda number, text, time: json.dumps(
            {"id": f"f-{number}", "text": text, "status": "candidate", "createdAt": time}, ensure_ascii=False
        ),
        st.integers(0, 4),
        st.sampled_from(["一", "二", "三"]),
        st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-01T00:00:00", "gibberish"]),
    )
    return st.lists(st.one_of(fact, st.sampled_from(["", "{", "[]", "不是一行"])), max_size=8)


@given(files=st.lists(lines_of_a_file(), min_size=2, max_size=5))
def test_what_was_read_before_never_shows_in_what_is_read_now(tmp_path_factory, files):
    """PERFORMANCE T12: lines that stand as they stood are not parsed again; the outcome is that of a fresh reading."""
    home = tmp_path_factory.mktemp("again") / ".dsh"
    path = home / "memory" / "facts.jsonl"
    path.parent.mkdir(parents=True)
    kept = selfnote.open_memory(home, tz="Asia/Shanghai")
    for lines in files:
        path.write_text("\n".join(lines), encoding="utf-8")
        fresh = selfnote.open_memory(home, tz="Asia/Shanghai").facts
        assert kept.facts.all() == fresh.all()
        assert kept.facts.bad_lines() == fresh.bad_lines()


def test_another_time_zone_reads_naive_times_again(tmp_path, put, line_of):
    memory = selfnote.open_memory(tmp_path / ".dsh")
    put(memory.home.facts, line_of(id="f-1", text="一", status="candidate", createdAt="2026-01-01T08:00:00") + "\n")
    memory.config.save(tz="Asia/Shanghai")
    assert memory.facts.get("f-1").created_at == datetime(2026, 1, 1, 0, 0, tzinfo=UTC)
    memory.config.save(tz="UTC")
    assert memory.facts.get("f-1").created_at == datetime(2026, 1, 1, 8, 0, tzinfo=UTC)


def test_an_act_parses_only_the_lines_that_changed(memory, put, line_of, monkeypatch):
    """A click among thousands of facts costs what it changes."""
    lines = [line_of(id=f"f-{n}", text=f"第 {n} 条", status="candidate") for n in range(50)]
    put(memory.home.facts, "\n".join(lines) + "\n")
    memory.facts.approve("f-0", now=at(0))
    parsed = []
    monkeypatch.setattr(
        "selfnote.records.fact_lines.parse_fact", lambda raw, zone=None: parsed.append(raw) or parse_fact(raw, zone)
    )
    memory.facts.approve("f-7", now=at(1))
    assert [json.loads(raw)["id"] for raw in parsed] == ["f-0"], "the one line that the act before had written"
