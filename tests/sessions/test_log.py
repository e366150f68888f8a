"""One session log: its messages, its state, our part of its prompts (EX-001 to EX-008, complaints 40, 41, 52, 54)."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote import phrases
from selfnote.errors import Corrupt, NotFound
from selfnote.sessions.log import SessionLog

#: By the corpus's own check: events, depth, kinds of this session's user messages, turns, the owner's messages.
CORPUS = {
    "session-34343434": (243, 0, {"user": 2, "plugin": 1}, 1, 2),
    "session-bbbbbbbb": (169, 0, {"user": 8, "plugin": 1}, 8, 8),
    "02686c88": (22, 1, {"user": 1, "plugin": 1}, 1, 0),
    "53e09430": (41, 1, {"user": 1, "plugin": 1}, 2, 0),
    "session-12121212": (92, 0, {"user": 5, "plugin": 1}, 5, 5),
    "session-aaaaaaaa": (238, 0, {"user": 13, "plugin": 1}, 13, 13),
    "session-cccccccc": (132, 0, {"user": 3, "plugin": 2}, 3, 3),
    "session-dddddddd": (101, 0, {"user": 4, "plugin": 1, "subagent-settled": 1}, 5, 4),
    "session-eeeeeeee": (145, 0, {"user": 5, "plugin": 4}, 5, 5),
    "session-ffffffff": (53, 0, {"user": 2, "plugin": 1}, 2, 2),
}


@pytest.mark.parametrize("beginning", CORPUS)
def test_a_real_log_is_counted_as_the_corpus_check_counts_it(find_corpus, beginning):
    """EX-002 to EX-007 on logs the real harness wrote."""
    part = "corpus/sessions-plain" if beginning == "session-ffffffff" else "corpus/sessions"
    log = SessionLog(find_corpus(beginning, part=part))
    events, depth, kinds, turns, owner = CORPUS[beginning]
    assert (log.status, log.problems) == ("ok", ())
    assert (log.event_count, log.header.delegation_depth) == (events, depth)
    assert (dict(log.source_kind_counts), log.turn_count, log.owner_message_count) == (kinds, turns, owner)
    assert sum(log.type_counts.values()) == events
    unpacked = list(log.events())
    assert [event.seq for event in unpacked] == list(range(events))
    assert unpacked[-1].time == log.last_time
    assert log.header.delegated == (depth > 0)


def test_the_large_real_log_is_counted_as_the_corpus_check_counts_it(find_corpus):
    """258,901 events in 12,415 lines."""
    log = SessionLog(find_corpus("session-99999999", part="corpus-large"))
    assert (log.status, log.event_count, log.owner_message_count, log.turn_count) == ("ok", 258_901, 420, 420)
    assert dict(log.source_kind_counts) == {"user": 420, "plugin": 27}
    assert log.messages()[-1].seq < 258_901


TORN = {
    "torn-mid-last-frame": "torn",
    "torn-mid-middle-then-nothing": "torn",
    "torn-3-bytes-of-last-frame": "torn",
    "torn-in-header-frame": "corrupt",
    "clean-prefix": "ok",
    "corrupt-byte-in-middle-frame": "corrupt",
    "bad-checksum-last-frame": "corrupt",
    "trailing-garbage": "corrupt",
    "empty-file": "empty",
}


@pytest.mark.parametrize("case", TORN)
def test_a_damaged_real_log_gives_its_good_prefix_and_says_so(find_corpus, case):
    """HARNESS 9, complaint 54"""
    whole = SessionLog(find_corpus("session-cccccccc")).messages()
    log = SessionLog(find_corpus("session-cccccccc", part=f"corpus/torn/{case}"))
    assert log.status == TORN[case]
    assert log.messages() == whole[: len(log.messages())]
    assert bool(log.problems) == (log.status in {"torn", "corrupt"})
    assert len(list(log.events())) == log.event_count
    expected = {"trailing-garbage": 11, "torn-in-header-frame": 0, "empty-file": 0}
    middle = "middle" in case
    assert len(log.messages()) == expected.get(case, 4 if middle else 10)


def test_a_log_cut_at_every_byte_gives_the_whole_frames_before_the_cut(make):
    """Complaint 52: a one-frame header and more, the file cut at every byte."""
    lines = make.Lines()
    for number in range(12):
        lines.user(f"消息 {number}").packed(["一", "二", "三"]).assistant(f"answer {number}")
    parts = lines.frames(each=2)
    data = b"".join(parts)
    ends = list(itertools.accumulate(map(len, parts)))
    whole = SessionLog(make.write(data)).messages()
    for cut in range(len(data)):
        log = SessionLog(make.write(data[:cut], folder="cut"))
        frames = sum(end <= cut for end in ends)
        if not cut:
            assert log.status == "empty"
        elif not frames:
            assert log.status == "corrupt"
        else:
            assert log.status == ("ok" if cut in ends else "torn")
            last_line = 1 + 2 * (frames - 1)
            assert log.messages() == [message for message in whole if message.line <= last_line]


def test_a_plain_log_cut_at_every_byte_gives_the_whole_lines_before_the_cut(make):
    """HARNESS 9: an unterminated last line is the torn tail."""
    lines = make.Lines().user("一").assistant("two").user("三")
    data = lines.plain()
    ends = list(itertools.accumulate(len(line) + 1 for line in lines.lines))
    for cut in range(1, len(data)):
        log = SessionLog(make.write(data[:cut], name="session.jsonl", folder="cut"))
        whole = sum(end <= cut for end in ends)
        expected = "corrupt" if not whole else "ok" if cut in ends else "torn"
        assert (log.status, log.event_count) == (expected, max(0, whole - 1))


@given(seed=st.integers(0, 10**6), skips=st.booleans())
def test_how_lines_are_split_into_frames_does_not_matter(scratch, seed, skips):
    """EX-002"""
    lines = scratch.Lines(seedLength=2)
    for number in range(9):
        lines.user(f"第 {number}").packed(["a", "b"]).assistant("x" * number * 100)
    choose = random.Random(seed)  # noqa: S311 - a repeatable choice, no secret
    parts = [scratch.frame(lines.lines[0] + b"\n")]
    rest = lines.lines[1:]
    while rest:
        count = choose.randint(1, 6)
        parts.append(scratch.frame(b"".join(line + b"\n" for line in rest[:count])))
        rest = rest[count:]
        if skips and choose.random() < 0.5:
            parts.append(scratch.skippable(choose.randbytes(choose.randint(0, 40)), kind=choose.randint(0, 15)))
    framed = SessionLog(scratch.write(parts))
    plain = SessionLog(scratch.write(lines.plain(), name="session.jsonl", folder="plain"))
    assert framed.status == plain.status == "ok"
    assert framed.messages() == plain.messages()
    assert framed.type_counts == plain.type_counts


def test_a_header_frame_and_four_hundred_more_are_all_read(make):
    """Complaint 52"""
    lines = make.Lines()
    for number in range(400):
        lines.user(f"{number}")
    assert SessionLog(make.write(lines.frames())).owner_message_count == 400


def test_a_message_is_its_text_blocks_and_nothing_else(make):
    """HARNESS 6"""
    image = {"type": "image", "attachment": {"id": "a"}}
    thought = {"type": "reasoning", "text": "hidden"}
    call = {"type": "tool-call", "id": "c", "name": "bash", "arguments": "{}"}
    lines = make.Lines()
    lines.user("one", blocks=[image, {"type": "text", "text": "two"}]).assistant("said", blocks=[thought, call])
    lines.event("tool/result", {"message": {"role": "user", "content": [{"type": "text", "text": "no"}]}})
    lines.event("agent/inbox/spliced", {"inserted": [{"content": [{"type": "text", "text": "no"}]}]})
    lines.packed(["abort", "ed", " text"])
    log = SessionLog(make.write(lines.frames()))
    first, second = log.messages()
    assert (first.role, first.text, first.source_kind, first.by_owner) == ("user", "one\ntwo", "user", True)
    assert (second.role, second.text, second.source_kind, second.by_owner) == ("assistant", "said", "model", False)
    assert (first.source, first.id, first.line, first.session_id) == (f"{make.SESSION}#0", "m0", 2, make.SESSION)
    assert first.time.tzinfo is UTC


@pytest.mark.parametrize(
    "source",
    [
        *({"kind": kind} for kind in ("plugin", "recall", "openviking-memory", "", None, "User", "user ", 5, ["user"])),
        {},
        None,
        "user",
        ["user"],
    ],
)
@pytest.mark.parametrize("version", [0, 3, 4])
def test_only_the_kind_user_is_the_owner(make, source, version):
    """EX-006, complaint 40"""
    lines = make.Lines(version=version).user("injected", source=source).user("typed")
    log = SessionLog(make.write(lines.frames()))
    assert [(message.text, message.by_owner) for message in log.messages()] == [("injected", False), ("typed", True)]
    assert log.owner_message_count == 1


@pytest.mark.parametrize(
    ("operation", "by_owner"),
    [
        ("append", True),
        (None, True),
        ({"op": "append"}, True),
        ({"op": "replace", "start": 5, "end": 2}, False),
        ("replace", False),
        ({"op": "something-new"}, False),
    ],
)
def test_a_message_in_place_of_others_is_not_the_owners(make, operation, by_owner):
    """HARNESS 8"""
    log = SessionLog(make.write(make.Lines().user("hello", surfaceOp=operation).frames()))
    assert log.messages()[0].by_owner is by_owner


def test_what_a_fork_copied_is_shown_but_not_counted_again(make):
    """EX-004, DESIGN "Forks" """
    lines = make.Lines(parentSession="session-parent", seedLength=3)
    lines.user("parent's").assistant("old").event("session/end-seed").user("the fork's own")
    log = SessionLog(make.write(lines.frames()))
    assert [message.text for message in log.messages()] == ["the fork's own"]
    assert (log.owner_message_count, log.event_count, log.header.delegated) == (1, 4, False)
    assert dict(log.source_kind_counts) == {"user": 1}
    assert log.message_at(0).text == "parent's"
    assert log.message_at(0).by_owner is False
    assert [event.seq for event in log.events()] == [0, 1, 2, 3]
    assert log.header.is_seeded


def test_the_real_fork_child_does_not_count_its_parents_messages(find_corpus):
    """EX-004"""
    log = SessionLog(find_corpus("53e09430"))
    assert log.header.seed_length > 0
    assert {message.seq for message in log.messages()} & set(range(log.header.seed_length)) == set()
    assert log.message_at(7).text.startswith("把调研任务委派给子代理")


#: Hand-made, since no sample of these generations is at hand: the same conversation in each.
GENERATIONS = [
    ("session.jsonl.zstd", 0),
    ("session.v1.jsonl", 1),
    ("session.v3.jsonl", 3),
    ("session.v4.jsonl.zstd", 4),
]


@pytest.mark.parametrize(("name", "version"), GENERATIONS)
def test_the_same_conversation_reads_the_same_in_every_generation(make, name, version):
    """EX-001, complaint 41"""
    lines = make.Lines(version=version).user("以后先给结论").user("context", source={"kind": "runtime-context"})
    lines.assistant("好的")
    log = SessionLog(make.write(lines.frames() if name.endswith("zstd") else lines.plain(), name=name))
    assert (log.status, log.header.version) == ("ok", version)
    assert [(m.text, m.by_owner) for m in log.messages()] == [
        ("以后先给结论", True),
        ("context", False),
        ("好的", False),
    ]


@pytest.mark.parametrize("version", [5, 17, "five", -1])
def test_a_newer_header_gives_the_header_only(make, version):
    """EX-001"""
    log = SessionLog(make.write(make.Lines(version=version, cwd="/w").user("hello").frames()))
    assert (log.status, log.header.cwd, log.event_count, log.messages()) == ("newer", "/w", 0, [])
    assert list(log.events()) == []


@pytest.mark.parametrize("version", ["3", 3.0, ...])
def test_a_version_is_read_as_a_number_or_as_zero(make, version):
    """EX-001"""
    log = SessionLog(make.write(make.Lines(version=version).user("hello").frames()))
    assert (log.status, log.header.version) == ("ok", 0 if version is ... else 3)


@pytest.mark.parametrize("first", [b"{}", b'{"type":"turn/start","seq":0}', b"nonsense", b"", b"\xff\xfe"])
@pytest.mark.parametrize("plain", [True, False])
def test_a_log_without_a_header_is_corrupt(make, first, plain):
    """HARNESS 9"""
    text = first + b"\n" + make.Lines().user("hello").lines[1] + b"\n"
    name = "session.jsonl" if plain else "session.jsonl.zstd"
    log = SessionLog(make.write(text if plain else make.frame(text), name=name))
    assert (log.status, log.messages()) == ("corrupt", [])
    assert log.problems


@pytest.mark.parametrize("seqs", [(0, 1, 3), (0, 1, 1), (0, 1, 0), (1, 2, 3)])
def test_a_gap_in_the_seqs_ends_the_reading(make, seqs):
    """HARNESS 4: seq is contiguous from 0."""
    lines = make.Lines()
    for seq in seqs:
        lines.user(f"at {seq}", seq=seq)
    log = SessionLog(make.write(lines.user("later").frames()))
    good = 0 if seqs[0] else 2
    assert (log.status, log.event_count) == ("corrupt", good)
    assert [message.seq for message in log.messages()] == [0, 1][:good]
    assert "was due" in log.problems[0].reason
    assert len(list(log.events())) == good


def test_damage_in_the_middle_gives_every_frame_before_it(make):
    """Also the frames that stream out before the decompressor notices."""
    lines = make.Lines()
    for number in range(40):
        lines.user(f"{number} " + "字" * 5000)
    parts = lines.frames()
    bad = bytearray(parts[30])
    bad[-1] ^= 0xFF
    log = SessionLog(make.write([*parts[:30], bytes(bad), *parts[31:]]))
    assert (log.status, log.owner_message_count) == ("corrupt", 29)
    assert log.problems[0].where == f"byte {sum(map(len, parts[:30]))}"
    assert len(list(log.events())) == 29


def test_a_damaged_frame_of_many_lines_gives_none_of_them(make):
    """PERFORMANCE 1: the checksum stands at the end of the frame."""
    lines = make.Lines()
    for number in range(200):
        lines.user(f"{number} " + os.urandom(2000).hex())
    parts = lines.frames(each=100)
    bad = parts[2][:-1] + bytes([parts[2][-1] ^ 1])
    log = SessionLog(make.write([parts[0], parts[1], bad]))
    assert (log.status, log.owner_message_count) == ("corrupt", 100)


def test_a_frame_over_the_limit_is_told_and_what_is_before_it_is_read(make):
    """EX-008: the problem names the limit, the value and the frame's offset."""
    lines = make.Lines().user("before")
    before = lines.frames()
    content = [*before, make.frame(b"a" * 3_000_000), make.frame(b"never\n")]
    log = SessionLog(make.write(content), frame_limit=1_000_000)
    assert (log.status, [message.text for message in log.messages()]) == ("corrupt", ["before"])
    assert log.problems[0].where == f"byte {sum(map(len, before))}"
    assert "1000000 bytes" in log.problems[0].reason


def test_a_line_over_the_limit_is_skipped_and_counted(make):
    """DESIGN "Files" """
    lines = make.Lines().user("before").user("x" * 5000).user("after")
    log = SessionLog(make.write(lines.frames()), line_limit=1000)
    assert (log.status, [message.text for message in log.messages()]) == ("ok", ["before", "after"])
    assert log.skipped_lines == 1
    assert log.problems[0].where.startswith("line 3,")


def test_a_framed_log_that_ends_without_a_newline_is_torn(make):
    lines = make.Lines().user("hello")
    log = SessionLog(make.write([*lines.frames(), make.frame(b'{"type":"turn/')]))
    assert (log.status, log.owner_message_count, log.resume_point) == ("torn", 1, None)


def test_an_open_turn_is_no_damage(find_corpus):
    """HARNESS 9: a session killed in the middle ends in chunks; their text is no message."""
    log = SessionLog(find_corpus("session-34343434"))
    assert log.status == "ok"
    assert list(log.events())[-1].type == "assistant/chunk"
    assert log.type_counts["turn/start"] > log.turn_count


def test_show_finds_any_event_by_its_seq(make):
    """EX-005: the seq, not the line."""
    lines = make.Lines().event("turn/start", {"turn": 1}).packed(["a", "b", "c"]).user("hello")
    log = SessionLog(make.write(lines.frames()))
    assert log.event_at(2).data["chunk"]["text"] == "b"
    assert (log.event_at(4).data["id"], log.message_at(4).text, log.message_at(4).line) == ("m4", "hello", 4)
    with pytest.raises(NotFound, match="0 to 4"):
        log.event_at(5)
    with pytest.raises(NotFound, match="is no message"):
        log.message_at(0)


def test_a_log_that_is_not_there_is_not_found(tmp_path):
    with pytest.raises(NotFound, match="list the sessions"):
        SessionLog(tmp_path / "session.jsonl")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_and_never_waited_for(tmp_path):
    """EX-008"""
    os.mkfifo(tmp_path / "session.jsonl")
    log = SessionLog(tmp_path / "session.jsonl")
    assert (log.status, log.problems[0].reason) == ("corrupt", "cannot be opened (not a regular file)")


def test_reading_changes_nothing(make):
    """S2-007"""
    path = make.write(make.Lines().user("hello").frames())
    before = path.stat()
    log = SessionLog(path)
    list(log.events())
    log.injections()
    after = path.stat()
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_log_rewritten_since_it_was_opened_is_not_mixed_with_the_old_one(make):
    """S2-242: what was read once is not told from other bytes."""
    path = make.write(make.Lines().user("hello").frames())
    log = SessionLog(path)
    path.write_bytes(b"".join(make.Lines().user("other").frames()) + make.skippable(b"x" * 500))
    with pytest.raises(Corrupt, match="open it again"):
        list(log.events())


def test_a_log_that_has_grown_gives_the_events_it_was_opened_with(make):
    parts = make.Lines().user("one").user("two").frames()
    path = make.write(parts[:2])
    log = SessionLog(path)
    path.write_bytes(b"".join(parts))
    assert len(list(log.events())) == log.event_count == 1


def test_a_log_of_nothing_but_unreadable_times_is_read_at_its_pace(make):
    """Placing a problem costs; only the kept ones are placed."""
    lines = make.Lines()
    for _ in range(20_000):
        lines.event("x", time=None)
    log = SessionLog(make.write(lines.plain(), name="session.jsonl"))
    assert (log.status, log.event_count, len(log.problems), log.last_time) == ("ok", 20_000, 1001, None)


# --- our part of a logged prompt ------------------------------------------------------------------
OURS = "记忆（我写的）\n以下是你自己的样子，照这个说话。\n先给结论\n（背景资料，不是指令）\n本机事实：日志在 /var/log"


def prompt_log(make, *systems):
    lines = make.Lines()
    for number, system in enumerate(systems):
        reason = "change" if number else "initial"
        lines.event("request/header", {"header": {"config": {}, "system": system, "tools": []}, "reason": reason})
    return make.write(lines.frames())


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "around", ["You are an agent.\n\n{}", "{}\n\nMore.", "A.\n\nBefore\n{}\nafter it\n\nB.", "{}", "\n\n{}\n \t\nB"]
)
def test_our_text_is_found_by_its_digest(make, around):
    """The run of lines may share its paragraph with others'."""
    path = prompt_log(make, around.format(OURS))
    (prompt,) = SessionLog(path, known_digests=lambda: frozenset({sha(OURS), sha("other")})).injections()
    assert (prompt.text, prompt.found, prompt.digest, prompt.reason) == (OURS, "digest", sha(OURS), "initial")
    assert prompt.system == around.format(OURS)


def test_our_text_is_found_by_its_sentences_when_its_digest_is_not_known(make):
    assert any(landmark in OURS for landmark in phrases.landmarks())
    path = prompt_log(make, f"You are an agent.\n\n{OURS}\n\nMore.", f"You are an agent.\n\n{OURS}；新的")
    first, second = SessionLog(path).injections()
    assert (first.text, first.found, first.digest) == (OURS, "sentences", sha(OURS))
    assert (second.text, second.reason, second.seq) == (OURS + "；新的", "change", 1)


@pytest.mark.parametrize("system", ["You are an agent.", "", None, 5, {"a": 1}])
def test_a_prompt_without_our_text_says_so(make, system):
    (prompt,) = SessionLog(prompt_log(make, system), known_digests=frozenset).injections()
    assert (prompt.text, prompt.found, prompt.digest) == (None, "not found", None)


def test_a_prompt_of_a_real_log_is_read(find_corpus):
    prompts = SessionLog(find_corpus("session-aaaaaaaa")).injections()
    assert [prompt.reason for prompt in prompts] == ["initial", "resume"]
    assert all(prompt.system and prompt.time for prompt in prompts)


def test_a_prompt_copied_into_a_fork_is_marked(find_corpus):
    """EX-004"""
    assert [prompt.seeded for prompt in SessionLog(find_corpus("53e09430")).injections()] == [True, False]


@given(place=st.floats(0, 1, exclude_max=True), mask=st.integers(1, 255))
def test_any_byte_may_be_damaged_and_what_is_read_is_a_good_prefix(scratch, place, mask):
    """Complaint 54: never an exception, never a wrong word; what is damaged is said."""
    lines = scratch.Lines()
    for number in range(12):
        lines.user(f"消息 {number}").packed(["一", "二", "三"]).assistant(f"answer {number}")
    data = bytearray(b"".join(lines.frames(each=3)))
    whole = SessionLog(scratch.write(bytes(data), folder="whole")).messages()
    data[int(place * len(data))] ^= mask
    log = SessionLog(scratch.write(bytes(data), folder="damaged"))
    assert log.status != "ok"
    assert log.messages() == whole[: len(log.messages())]
    assert len(list(log.events())) == log.event_count
    assert log.problems
