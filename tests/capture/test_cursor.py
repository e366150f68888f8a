"""What was judged of every session: marks, holes, windows, and a file that may be lost (S2-186..190, A-14)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote.capture import cursor as cursors
from selfnote.capture.cursor import CursorFile, Landed, LogPoint, Move, SessionCursor, Tally, read_cursors
from selfnote.sessions.model import Header, ResumePoint

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@pytest.fixture
def file(tmp_path):
    return CursorFile(tmp_path / "capture-cursor.json", tmp_path / ".lock")


def judged(low, high=None, **rest):
    return Move("judged", low, low if high is None else high, **rest)


def on_disk(file):
    return json.loads(file._path.read_text("utf-8"))


def test_a_jump_leaves_a_hole_and_a_late_event_is_struck_out():
    """S2-186: 50 -> 100 records 51-99 as holes; 70 comes late and is struck out."""
    cursor = SessionCursor(50).judged(100, 100)
    assert (cursor.mark, cursor.holes) == (100, ((51, 99),))
    late = cursor.judged(70, 70)
    assert (late.mark, late.holes) == (100, ((51, 69), (71, 99)))
    assert late.knows(70)
    assert not late.knows(71)
    assert not late.knows(101)


def test_the_holes_stand_in_the_file_as_ranges(file):
    """S2-186, S2-190, A-14: chunks consume seqs, so 670 of them are one range."""
    for seq in (50, 100, 770):
        file.move("s", judged(seq), now=NOW)
    file.save()
    assert on_disk(file)["sessions"]["s"] == {
        "mark": 770, "holes": [[0, 49], [51, 99], [101, 769]], "first": 50, "at": None,
    }  # fmt: skip


RANGES = st.tuples(st.integers(0, 40), st.integers(0, 5)).map(lambda one: (one[0], one[0] + one[1]))
MOVES = st.lists(st.tuples(st.sampled_from(["judged", "judged", "missed", "rewound"]), RANGES), max_size=25)


@given(MOVES)
def test_the_ranges_are_the_set_of_the_seqs_that_were_judged(moves):
    """S2-186: against a plain set; the ranges stay sorted, apart and below the mark."""
    cursor, known = None, set()
    for kind, (low, high) in moves:
        if kind == "rewound" and cursor is None:
            continue
        cursor = Move(kind, low, high).apply(cursor)
        if kind == "rewound":
            known = {seq for seq in known if seq < low}
        elif kind == "judged":
            known |= set(range(low, high + 1))
        else:
            known -= set(range(low, high + 1))
        assert {seq for seq in range(60) if cursor.knows(seq)} == known
        assert all(cursor.covers(0, seq) == (set(range(seq + 1)) <= known) for seq in range(50))
        edges = [edge for hole in cursor.holes for edge in hole]
        assert edges == sorted(edges)
        assert all(one[1] + 1 < other[0] for one, other in zip(cursor.holes, cursor.holes[1:], strict=False))
        assert not edges or edges[-1] <= cursor.mark


@given(MOVES)
def test_beyond_the_cap_nothing_unjudged_is_ever_taken_for_judged(moves):
    """S2-187: what the cap swallows counts as unprocessed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cursors, "HOLES_KEPT", 2)
        cursor, known = SessionCursor(), set()
        for kind, (low, high) in moves:
            if kind != "judged":
                continue
            cursor = cursor.judged(low, high)
            known |= set(range(low, high + 1))
            assert len(cursor.holes) <= 2
            assert {seq for seq in range(60) if cursor.knows(seq)} <= known


def test_at_most_500_ranges_are_kept_and_the_oldest_become_one():
    """S2-187: 600 holes; what lies between the oldest 101 is judged anew, the rest is as it was."""
    cursor = SessionCursor()
    for seq in range(1, 1201, 2):
        cursor = cursor.judged(seq, seq)
    assert len(cursor.holes) == 500
    assert cursor.holes[0] == (0, 200)
    assert not cursor.knows(101)
    assert cursor.knows(201)


def test_a_session_first_met_midway_has_everything_before_as_unprocessed():
    """S2-188: until the log tells where the window begins; below the seed length nothing is ours (EX-004)."""
    cursor = judged(900, floor=45).apply(None)
    assert (cursor.mark, cursor.holes, cursor.first) == (900, ((45, 899),), 900)
    narrowed = Move("narrowed", 700, 700).apply(cursor)
    assert (narrowed.holes, narrowed.first) == (((700, 899),), None)
    assert judged(45, floor=45).apply(None) == SessionCursor(45)


def test_moves_of_two_processes_are_both_kept(file, tmp_path):
    """S2-282: each writes its moves on top of what the other wrote."""
    other = CursorFile(tmp_path / "capture-cursor.json", tmp_path / ".lock")
    file.move("s", judged(0, 5), now=NOW)
    other.move("s", judged(8), now=NOW)
    other.move("t", judged(0), now=NOW)
    file.save()
    other.save()
    assert (file.get("s").mark, file.get("s").holes) == (8, ((6, 7),))
    assert file.get("t").mark == 0
    assert file.session_count == 2


def test_moves_that_follow_each_other_are_kept_as_one(file):
    for seq in range(1000):
        file.move("s", judged(seq, at=NOW + timedelta(seconds=seq)), now=NOW)
    assert file._moves["s"] == [judged(0, 999, at=NOW + timedelta(seconds=999))]


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b"\xff\xfe", b"null", b'{"sessions":' * 3000, "directory"])
def test_a_broken_file_is_set_aside_and_reported_and_begun_anew(file, damage, caplog):
    """S2-185, S2-190: never fatal; what it knew counts as never met."""
    if damage == "directory":
        file._path.mkdir()
    else:
        file._path.write_bytes(damage)
    assert file.get("s") is None
    assert len(file.problems) == 1
    assert "never met" in file.problems[0]
    file.move("s", judged(3), now=NOW)
    file.save()
    aside = file._path.with_name("capture-cursor.json.broken")
    assert aside.is_dir() if damage == "directory" else aside.read_bytes() == damage
    assert "set aside" in caplog.text
    assert file.problems == ()
    assert CursorFile(file._path, file._lock).get("s").mark == 3


@pytest.mark.parametrize(
    "bad",
    [
        None, [], {}, {"mark": "3"}, {"mark": True}, {"mark": 3, "holes": [[4, 5]]}, {"mark": 9, "holes": [[5, 4]]},
        {"mark": 9, "holes": [[3, 4], [1, 2]]}, {"mark": 9, "holes": [3]}, {"mark": 9, "holes": {}}, {"mark": -2},
        {"mark": 9, "first": "x"}, {"mark": 10**16},
    ],
)  # fmt: skip
def test_one_unreadable_cursor_costs_its_own_session_only(file, bad):
    file._path.write_text(json.dumps({"sessions": {"bad": bad, "good": {"mark": 7, "holes": [[1, 2]]}}}), "utf-8")
    assert file.get("bad") is None
    assert file.get("good") == SessionCursor(7, ((1, 2),))
    assert [problem for problem in file.problems if "'bad'" in problem]


def test_what_is_not_ours_in_the_file_stays(file):
    """DESIGN "Files": unknown keys survive."""
    file._path.write_text(json.dumps({"later": {"x": 1}, "sessions": {"s": {"mark": 1, "note": [1]}}}), "utf-8")
    file.move("s", judged(2), now=NOW)
    file.save()
    assert on_disk(file)["later"] == {"x": 1}
    assert on_disk(file)["sessions"]["s"]["note"] == [1]


def test_a_cursor_file_that_vanishes_is_begun_anew(file):
    file.move("s", judged(0, 9), now=NOW)
    file.save()
    file._path.unlink()
    assert file.get("s") is None
    file.move("s", judged(12), now=NOW)
    file.save()
    assert file.get("s").holes == ((0, 11),)


def test_of_too_many_sessions_the_oldest_go_first_with_their_logs(file, monkeypatch):
    monkeypatch.setattr(cursors, "CURSORS_KEPT", 3)
    for number in (4, 1, 5, 2, 3):
        file.move(f"s{number}", judged(0, at=NOW + timedelta(days=number)), now=NOW)
        file.set_point(f"k{number}", LogPoint(f"s{number}", (number, 1, 1), 0, None))
    file.set_point("child", LogPoint("c", (1, 1, 1), 0, None, delegated=True))
    file.save()
    assert sorted(on_disk(file)["sessions"]) == ["s3", "s4", "s5"]
    assert sorted(on_disk(file)["logs"]) == ["child", "k3", "k4", "k5"]
    monkeypatch.setattr(cursors, "LOGS_KEPT", 2)
    file.move("s9", judged(0, at=NOW + timedelta(days=9)), now=NOW)
    file.save()
    assert sorted(on_disk(file)["logs"]) == ["k4", "k5"]


def test_everything_is_read_back_as_it_was_written(file):
    header = Header("s", seed_length=4, version=0)
    point = ResumePoint(100, 90, 12, 9, "a" * 64, "b" * 64, 33, header)
    file.move("s", judged(9, at=NOW, floor=4), now=NOW)
    file.set_point("k", LogPoint("s", (1, 100, 33), 4, point))
    file.fresh.land(Landed(NOW, "session-3611ac44-long", "user/message", 9, "written"))
    file.fresh.candidates += 2
    file.fresh.written += 1
    before = file.get("s"), file.point("k"), file.tally()
    file.save()
    state = read_cursors(file._path)
    assert (state.sessions["s"], state.logs["k"], state.tally) == before
    assert state.moved_at == NOW
    assert state.problems == []


@pytest.mark.parametrize("bad", [None, 3, {"point": 3}, {"session": "s", "seen": [], "delegated": False}])
def test_an_unreadable_place_in_a_log_means_that_it_is_read_anew(file, bad):
    file._path.write_text(json.dumps({"logs": {"k": bad}, "heard": [3], "sessions": 5}), "utf-8")
    assert file.point("k") is None
    assert file.tally() == Tally()


def test_the_trace_keeps_the_latest_40_with_a_prefix_of_the_session():
    """S2-194."""
    tally = Tally()
    for seq in range(100):
        tally.land(Landed(NOW, "session-3611ac44-8d1e-4d2c", "user/message", seq, "no-candidate"))
    assert [one.seq for one in tally.trace] == list(range(60, 100))
    assert {one.sid for one in tally.trace} == {"session-3611ac44"}
    assert [one.seq for one in tally.plus(tally).trace] == list(range(60, 100))


def test_counts_of_two_runs_add_up_and_types_are_bounded():
    """S2-192: a harness with endless event types cannot fill the file."""
    one, two = Tally(), Tally()
    for number in range(300):
        one.land(Landed(NOW, "s", f"type/{number}", number, "not-user-authored"))
        two.land(Landed(NOW + timedelta(hours=1), "s", f"other/{number}" + "x" * 99, number, "seen"))
    both = one.plus(two)
    assert both.events == sum(both.types.values()) == 600
    assert len(both.types) == cursors.TYPES_KEPT + 1
    assert both.reasons == {"not-user-authored": 300, "seen": 300}
    assert (both.since, both.last_at, len(both.last_type)) == (NOW, NOW + timedelta(hours=1), 64)


def test_a_write_that_fails_is_made_up_for_by_the_next(file, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    file.move("s", judged(0, 4), now=NOW)
    with monkeypatch.context() as patch:
        patch.setattr(cursors, "write_atomic", full)
        with pytest.raises(OSError, match="No space"):
            file.save()
    assert file.get("s") == SessionCursor(4)
    assert file.dirty
    file.save()
    assert not file.dirty
    assert read_cursors(file._path).sessions["s"] == replace(SessionCursor(4))
