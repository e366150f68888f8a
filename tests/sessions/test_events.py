"""Lines of a session log as events (EX-003, EX-005, HARNESS 4 to 6)."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote.sessions import events
from selfnote.sessions.log import SessionLog
from selfnote.sessions.model import Header, Problems

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(milliseconds):
    return EPOCH + timedelta(milliseconds=milliseconds)


@given(
    lines=st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=20),
    cuts=st.lists(st.integers(0, 900), max_size=12),
    tail=st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")),
)
def test_lines_do_not_depend_on_how_the_text_comes(lines, cuts, tail):
    text = b"".join(line + b"\n" for line in lines) + tail
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    splitter = events.LineSplitter()
    batches = list(splitter.split(text[a:b] for a, b in itertools.pairwise(edges)))
    assert [bytes(line) for _, batch in batches for line in batch] == lines
    assert splitter.unfinished == len(tail)
    for offset, batch in batches:
        assert text[offset:].startswith(bytes(batch[0]) + b"\n")


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_a_line_over_the_limit_is_skipped_and_its_neighbours_are_not(step):
    """DESIGN "Files": a line over 32 MB is skipped and counted."""
    text = b"short\n" + b"x" * 101 + b"\n" + b"y" * 100 + b"\nend\n"
    splitter = events.LineSplitter(limit=100)
    pieces = (text[start : start + step] for start in range(0, len(text), step))
    lines = [line for _, batch in splitter.split(pieces) for line in batch]
    assert [line if isinstance(line, events.Overlong) else bytes(line) for line in lines] == [
        b"short",
        events.Overlong(101),
        b"y" * 100,
        b"end",
    ]


@pytest.mark.parametrize(
    ("kind", "delta", "key"),
    [
        ("text-chunks", "text-delta", "text"),
        ("reasoning-chunks", "reasoning-delta", "text"),
        ("tool-call-chunks", "tool-call-delta", "argumentsDelta"),
    ],
)
def test_a_packed_row_is_as_many_events_as_it_has_pieces(make, kind, delta, key):
    """EX-005: seq0 + k, time0 + the sum of the steps before it; a step may be negative."""
    more = {"id": "call_1", "name": "bash"} if kind == "tool-call-chunks" else {}
    lines = make.Lines().event("turn/start").packed(["a", 'q"\\"', "，"], kind=kind, dt=[7, -3], **more)
    log = SessionLog(make.write(lines.event("turn/end").frames()))
    assert (log.status, log.event_count, log.type_counts["assistant/chunk"]) == ("ok", 5, 3)
    members = [event for event in log.events() if event.type == "assistant/chunk"]
    assert [event.seq for event in members] == [1, 2, 3]
    assert [event.time for event in members] == [instant(make.TIME + 1 + shift) for shift in (0, 7, 4)]
    assert {event.line for event in members} == {3}
    assert [event.data["chunk"][key] for event in members] == ["a", 'q"\\"', "，"]
    assert members[0].data == {
        "turn": 1,
        "step": 1,
        "chunk": {"type": delta, "index": 0, **more, key: "a"},
    }


@pytest.mark.parametrize(
    "row",
    [
        b'{"type":"text-chunks","seq0":0,"time0":%d,"data":{"texts":["a","b"]}}',
        b'{"type":"text-chunks","seq0":0,"time0":%d,"data":{"dt":[1],"texts":["a","b","c"]}}',
        b'{"type":"text-chunks","seq0":0,"time0":%d,"data":{"dt":["1"],"texts":["a","b"]}}',
        b'{"type":"text-chunks","seq0":0,"time0":%d,"data":{"dt":[1],"texts":"ab"}}',
        b'{"type":"text-chunks","seq0":0,"time0":%d,"data":{"dt":[1],"texts":["a",2]}}',
        b'{"type":"tool-call-chunks","seq0":0,"time0":%d,"data":{"dt":[1],"texts":["a","b"]}}',
        b'{"type":"text-chunks","seq":0,"time":%d,"data":{"dt":[1],"texts":["a","b"]}}',
        b'{"type":"text-chunks","seq0":0,"time0":%d}',
    ],
)
def test_a_malformed_packed_row_is_a_problem_and_reading_goes_on(make, row):
    """HARNESS 5: shapes are exact; a malformed row is corruption."""
    lines = make.Lines().raw(row % make.TIME, seqs=3).user("after")
    log = SessionLog(make.write(lines.frames()))
    assert log.status == "corrupt"
    assert any("line 2" in problem.where and "malformed" in problem.reason for problem in log.problems)
    assert [message.text for message in log.messages()] == ["after"]


def test_a_malformed_packed_row_at_the_end_is_a_problem(make):
    lines = make.Lines().packed(["a", "b", "c"], dt=[1])
    log = SessionLog(make.write(lines.frames()))
    assert log.status == "corrupt"
    assert "malformed" in log.problems[0].reason
    assert len(list(log.events())) == log.event_count


BAD_LINES = {
    "not UTF-8": b'{"type":"x\xff","seq":1,"time":1}',
    "not JSON": b'{"type":"turn/start","seq":1,',
    "an array": b"[1,2]",
    "a number": b"17",
    "no type": b'{"seq":1,"time":1796036351440,"data":{}}',
    "no seq": b'{"type":"turn/start","time":1796036351440,"data":{}}',
    "a seq of words": b'{"type":"turn/start","seq":"one","time":1796036351440,"data":{}}',
    "nested too deeply": b'{"type":"x","seq":1,"data":' + b"[" * 100_000,
    "control characters": b'{"type":"a\x01b","seq":1}',
    "spaces around": b"  nonsense  ",
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES.keys())
@pytest.mark.parametrize("plain", [True, False])
def test_a_line_that_cannot_be_read_is_a_problem_and_its_neighbours_are_read(make, line, plain):
    """Complaint 54: undecodable is told, never taken for empty."""
    lines = make.Lines().user("before").raw(line, seqs=1).user("after")
    content, name = (lines.plain(), "session.jsonl") if plain else (lines.frames(), "session.jsonl.zstd")
    log = SessionLog(make.write(content, name=name))
    assert [message.text for message in log.messages()] == ["before", "after"]
    assert [message.seq for message in log.messages()] == [0, 2]
    assert [message.line for message in log.messages()] == [2, 4]
    assert log.status == "corrupt"
    offset = len(lines.lines[0]) + len(lines.lines[1]) + 2
    assert log.problems[0].where == f"line 3, byte {offset} of the text"


def test_half_a_surrogate_pair_is_read_as_the_replacement_character(make):
    r"""HARNESS 2: JSON.stringify writes a lone half as \udXXX."""
    text = rb"cut \ud83d here, \uD83D\uDE00 whole, \\ud83d a word, \ude00"
    line = b'{"type":"user/message","seq":0,"time":%d,"data":{"id":"m","content":[{"type":"text","text":"%b"}],"source":{"kind":"user"}}}'
    lines = make.Lines().raw(line % (make.TIME, text), seqs=1).user("after")
    log = SessionLog(make.write(lines.frames()))
    first, second = log.messages()
    assert first.text == "cut \ufffd here, 😀 whole, \\ud83d a word, \ufffd"
    assert (first.by_owner, second.text, log.status) == (True, "after", "ok")
    assert "surrogate" in log.problems[0].reason
    assert first.text.encode()


def test_half_a_surrogate_pair_in_a_packed_row_does_not_stop_it(make):
    """A chunk boundary may split a pair."""
    lines = make.Lines().raw(
        rb'{"type":"text-chunks","seq0":0,"time0":1796036351440,"data":{"dt":[1],"texts":["\ud83d","\ude00"]}}', seqs=2
    )
    log = SessionLog(make.write(lines.user("after").frames()))
    assert (log.status, log.event_count) == ("ok", 3)
    members = [event.data["chunk"]["text"] for event in log.events() if event.type == "assistant/chunk"]
    assert members == ["\ufffd", "\ufffd"]
    assert [message.text for message in log.messages()] == ["after"]


@pytest.mark.parametrize(
    ("fields", "depth", "delegated"),
    [
        ({"delegationDepth": 0}, 0, False),
        ({"delegationDepth": 1}, 1, True),
        ({"delegationDepth": "2"}, 2, True),
        ({"delegationDepth": 1.0}, 1, True),
        ({"delegationDepth": "deep"}, 0, False),
        ({"delegationDepth": None}, 0, False),
        ({"delegationDepth": ...}, 0, False),
        ({"delegationDepth": ..., "origin": "subagent"}, 0, True),
        ({"origin": "Subagent"}, 0, False),
        ({"parentSession": "session-parent"}, 0, False),
    ],
)
def test_a_session_is_delegated_by_origin_or_depth_and_not_by_its_parent(make, fields, depth, delegated):
    """EX-007"""
    log = SessionLog(make.write(make.Lines(**fields).user("hello").frames()))
    assert (log.header.delegation_depth, log.header.delegated) == (depth, delegated)
    assert log.owner_message_count == (0 if delegated else 1)


def test_the_header_is_read_whole(make):
    """EX-003"""
    lines = make.Lines(
        cwd="/home/o/项目", parentSession="p", seedLength=2, agentPreset="coder", version=4, origin="subagent"
    )
    assert SessionLog(make.write(lines.frames())).header == Header(
        id=make.SESSION,
        cwd="/home/o/项目",
        created_at=instant(make.TIME),
        origin="subagent",
        delegation_depth=0,
        delegated=True,
        parent="p",
        seed_length=2,
        version=4,
        agent_preset="coder",
        is_seeded=True,
    )


@pytest.mark.parametrize("time", [..., None, "soon", -1, 0, 1_796_036_351, 10**18, 10**30, [], True])
def test_an_unreadable_time_is_none_and_a_problem(make, time):
    """Absurd ones too: seconds, the epoch, the far future."""
    lines = make.Lines(createdAt=time).event("turn/start", time=None if time is ... else time).user("hello")
    log = SessionLog(make.write(lines.frames()))
    assert log.header.created_at is None
    assert next(log.events()).time is None
    assert log.status == "ok"
    assert len(log.problems) >= 2
    assert log.last_time == instant(make.TIME + 1)


@pytest.mark.parametrize("fields", [{"seq": 0.0}, {"seq": "0"}, {"time": 1796036351440.0}, {"surfaceOp": 5}])
def test_fields_of_a_near_type_are_read(make, fields):
    data = {"id": "m", "content": [{"type": "text", "text": "hello"}], "source": {"kind": "user"}}
    line = {"type": "user/message", "seq": 0, "time": make.TIME, "data": data, **fields}
    lines = make.Lines().raw(json.dumps(line).encode(), seqs=1).user("next")
    log = SessionLog(make.write(lines.frames()))
    assert [(message.seq, message.text) for message in log.messages()] == [(0, "hello"), (1, "next")]
    assert log.messages()[0].by_owner == ("surfaceOp" not in fields)


def test_an_unknown_event_is_kept_and_counted(make):
    """HARNESS 4: skip and count, do not die."""
    lines = make.Lines().event("team/new-thing", {"a": [1]}, surfaceOp={"op": "x"}).user("hello")
    log = SessionLog(make.write(lines.frames()))
    first = next(log.events())
    assert (log.status, log.type_counts["team/new-thing"]) == ("ok", 1)
    assert (first.type, first.data, first.surface_op) == ("team/new-thing", {"a": [1]}, {"op": "x"})


def test_blank_lines_count_as_lines_and_as_nothing_else(make):
    """S2-245: the physical line number."""
    lines = make.Lines().raw(b"").user("hello").raw(b"").raw(b"").user("again")
    log = SessionLog(make.write(lines.plain(), name="session.jsonl"))
    assert (log.status, [message.line for message in log.messages()]) == ("ok", [3, 6])


def test_problems_are_capped_and_the_rest_is_counted():
    problems = Problems()
    for number in range(1500):
        problems.add(f"line {number}", "bad")
    told = problems.as_tuple()
    assert len(told) == 1001
    assert "500" in told[-1].reason


@given(st.binary(max_size=300))
def test_no_line_raises(content):
    header = Header(id="s")
    survey = events.Survey(header, events.RowReader(Problems()))
    survey.read(events.LineSplitter().split(iter([content + b"\n"])))
    events.parse_header(content, fallback_id="s", problems=Problems())
    events.decode_data(content)
