"""The session folder: discovery without opening, and what is refused (EX-001, EX-008, complaint 53)."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote.errors import NotFound
from selfnote.home import MemoryHome
from selfnote.sessions.library import Sessions, decode_segment, is_encoded

PROJECT = "--home-o-work--"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def home(tmp_path):
    return MemoryHome.at(tmp_path / "dsh")


@pytest.fixture
def put(home, make):
    """Puts a log of one message into the home; gives its path."""

    def write(session, *, name="session.jsonl.zstd", project=PROJECT, text="hello", folder=None, **header):
        lines = make.Lines(session=session, **header).user(text)
        path = home.sessions / project / (folder or session) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(lines.frames()) if name.endswith("zstd") else lines.plain())
        return path

    return write


def test_a_home_without_sessions_has_none(home):
    sessions = Sessions(home)
    assert (sessions.list(), sessions.refused, list(sessions.read_all())) == ([], (), [])


def test_a_listing_tells_what_the_folder_tells(home, put):
    """EX-001"""
    path = put("session-a")
    (info,) = Sessions(home).list()
    assert (info.id, info.path, info.project, info.status) == ("session-a", path, PROJECT, "")
    assert (info.size, info.generation, info.encoding) == (path.stat().st_size, 0, "zstd")
    assert info.mtime.tzinfo is UTC


def test_a_listing_opens_no_log_and_imports_no_decoder():
    """PERFORMANCE T11: proved in a new process by what is in sys.modules."""
    code = (
        "import sys; from selfnote.home import MemoryHome; from selfnote.sessions.library import Sessions;"
        "import selfnote.sessions, selfnote.sessions.log; Sessions(MemoryHome.at('nowhere')).list();"
        "print([name for name in ('msgspec', 'zstandard', 'tqdm', 'pandas', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("names", "read", "generation"),
    [
        (["session.jsonl"], "session.jsonl", 0),
        (["session.jsonl.zstd", "session.v3.jsonl"], "session.v3.jsonl", 3),
        (["session.v9.jsonl", "session.v10.jsonl.zstd"], "session.v10.jsonl.zstd", 10),
        (["session.jsonl", "session.jsonl.zstd", "session.v1.jsonl"], "session.v1.jsonl", 1),
    ],
)
def test_the_highest_generation_is_read(home, put, names, read, generation):
    """EX-001; these names are hand-made."""
    for name in names:
        put("session-a", name=name, text=name)
    (info,) = Sessions(home).list()
    assert (info.path.name, info.generation, info.status) == (read, generation, "")
    assert Sessions(home).open("session-a").messages()[0].text == read


@pytest.mark.parametrize(
    "names",
    [
        ["session.jsonl", "session.jsonl.zstd"],
        ["session.v2.jsonl", "session.v2.jsonl.zstd", "session.jsonl"],
        ["session.jsonl", "session.v0.jsonl"],
    ],
)
def test_two_logs_of_one_generation_are_ambiguous_and_not_read(home, put, names):
    """EX-001, complaint 53"""
    for name in names:
        put("session-a", name=name)
    sessions = Sessions(home)
    (info,) = sessions.list()
    assert info.status == "ambiguous"
    log = sessions.open("session-a")
    assert (log.status, log.messages(), log.event_count, log.header.id) == ("ambiguous", [], 0, "session-a")
    assert names[0] in log.problems[0].reason
    assert names[1] in log.problems[0].reason
    assert [log.status for log in sessions.read_all()] == ["ambiguous"]


def test_other_files_are_no_logs(home, put):
    """HARNESS 1: read only the transcript names."""
    folder = put("session-a").parent
    for name in ("session.jsonl.zst", "session.v.jsonl", "session.jsonl.zstd.tmp", "notes.md", "xsession.jsonl"):
        (folder / name).write_text("{}\n")
    (home.sessions / PROJECT / "session-legacy.jsonl").write_text("{}\n")
    (home.sessions / PROJECT / "empty").mkdir()
    sessions = Sessions(home)
    assert [info.path.name for info in sessions.list()] == ["session.jsonl.zstd"]
    assert sessions.refused == ()


def test_symbolic_links_are_refused_and_never_followed(home, put, tmp_path):
    """EX-008: project folders, session folders, logs."""
    real = put("session-real")
    outside = put("session-outside", project="--elsewhere--")
    (home.sessions / PROJECT / "linked-session").symlink_to(outside.parent, target_is_directory=True)
    (home.sessions / "linked-project").symlink_to(outside.parent.parent, target_is_directory=True)
    (home.sessions / PROJECT / "linked-log").mkdir()
    (home.sessions / PROJECT / "linked-log" / "session.jsonl.zstd").symlink_to(outside)
    sessions = Sessions(home)
    assert [info.path for info in sessions.list()] == [outside, real]
    refused = {Path(problem.where).relative_to(home.sessions).as_posix() for problem in sessions.refused}
    linked = {f"{PROJECT}/linked-session", "linked-project", f"{PROJECT}/linked-log/session.jsonl.zstd"}
    assert refused == linked
    for name in linked:
        with pytest.raises(NotFound, match="link"):
            sessions.open(home.sessions / name)


def test_a_log_that_became_a_link_after_the_listing_is_not_followed(home, put, tmp_path):
    """EX-008"""
    path = put("session-a")
    sessions = Sessions(home)
    (info,) = sessions.list()
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    log = sessions.read(info)
    assert (log.status, log.messages()) == ("corrupt", [])
    assert "symbolic link" in log.problems[0].reason


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads every folder")
def test_an_unreadable_folder_is_told_and_the_others_are_read(home, put):
    put("session-a")
    closed = put("session-b", project="--closed--").parent.parent
    closed.chmod(0)
    try:
        sessions = Sessions(home)
        assert [info.id for info in sessions.list()] == ["session-a"]
        assert str(closed) in sessions.refused[0].where
    finally:
        closed.chmod(0o700)


def test_a_folder_that_cannot_be_listed_is_told_and_the_others_are_read(home, put, monkeypatch):
    put("session-a")
    put("session-b", project="--closed--")
    scan = os.scandir

    def refuse(path):
        if Path(path).name == "--closed--":
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    sessions = Sessions(home)
    assert [info.id for info in sessions.list()] == ["session-a"]
    assert "Permission denied" in sessions.refused[0].reason


def test_a_session_opens_by_id_by_a_beginning_and_by_path(home, put):
    path = put("session-abc")
    put("session-xyz")
    sessions = Sessions(home)
    for name in ("session-abc", "session-a", path, str(path), path.parent, str(path.parent)):
        assert sessions.open(name).id == "session-abc"


def test_a_whole_id_wins_over_longer_ones(home, put):
    put("session-1")
    put("session-12")
    assert Sessions(home).open("session-1").id == "session-1"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("session-", "session-a .*session-b .*give more of the id"),
        ("nothing", "no session 'nothing' among the 2"),
        ("", "no session ''"),
        ("a/b", "no session 'a/b'"),
    ],
)
def test_an_id_that_fits_none_or_several_is_not_found(home, put, name, told):
    put("session-a")
    put("session-b")
    with pytest.raises(NotFound, match=told):
        Sessions(home).open(name)


def test_one_id_in_two_projects_is_not_guessed(home, put):
    put("session-a")
    put("session-a", project="--other--")
    with pytest.raises(NotFound, match="--other--"):
        Sessions(home).open("session-a")


@pytest.mark.parametrize(
    ("folder", "session"),
    [
        ("session-1", "session-1"),
        ("~6211~7684", "我的"),
        ("~D83D~DE00", "😀"),
        ("~002E~002E", ".."),
        ("a~002Fb", "a/b"),
        ("~007E", "~"),
        ("a~zz", "a~zz"),
        ("~D83D", "~D83D"),
        ("~12", "~12"),
    ],
)
def test_the_id_is_the_folders_name_with_its_escapes_undone(home, put, folder, session):
    """HARNESS 1: a UTF-16 code unit for each escape; what is no escape stays."""
    put(session, folder=folder)
    (info,) = Sessions(home).list()
    assert (info.id, decode_segment(folder)) == (session, session)
    assert Sessions(home).open(session).id == session


@given(st.text(max_size=20))
def test_every_id_comes_back_from_its_folder(session):
    units = session.encode("utf-16-be", "surrogatepass")
    name = "".join(f"~{units[at]:02X}{units[at + 1]:02X}" for at in range(0, len(units), 2))
    assert is_encoded(name)
    assert decode_segment(name) == session


def test_a_folder_that_encodes_no_id_is_found_by_its_header(home, put):
    put("session-real", folder="old~copy")
    assert Sessions(home).open("session-real").id == "session-real"


def test_the_header_tells_the_cwd_and_the_folder_does_not(home, put):
    """HARNESS 1: the project's name is lossy."""
    put("session-a", cwd="/home/o-work")
    assert Sessions(home).open("session-a").header.cwd == "/home/o-work"


def test_a_header_without_an_id_takes_the_folders(home, put):
    put(None, folder="session-x", id=...)
    log = Sessions(home).open("session-x")
    assert (log.status, log.id, log.messages()[0].source) == ("ok", "session-x", "session-x#0")
    assert log.problems


def test_all_sessions_are_read_one_by_one_also_the_bad_ones(home, put):
    put("session-a")
    put("session-b").write_bytes(b"")
    put("session-c").write_bytes(b"garbage")
    assert [(log.id, log.status) for log in Sessions(home).read_all()] == [
        ("session-a", "ok"),
        ("session-b", "empty"),
        ("session-c", "corrupt"),
    ]


def test_progress_shows_a_bar_on_the_error_stream(home, put, capsys):
    put("session-a")
    assert len(list(Sessions(home).read_all(progress=True))) == 1
    assert "session" in capsys.readouterr().err


def test_a_session_that_vanished_is_left_out(home, put):
    put("session-a")
    path = put("session-b")
    sessions = Sessions(home)
    logs = sessions.read_all()
    assert next(logs).id == "session-a"
    path.unlink()
    assert list(logs) == []
    assert sessions.refused


def test_known_digests_reach_the_log(home, put):
    put("session-a")
    assert Sessions(home, known_digests=frozenset).open("session-a").injections() == []
