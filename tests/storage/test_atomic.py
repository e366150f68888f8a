"""Whole files replaced, lines appended: what a reader, a crash and the owner's editor may count on (S2-282, COMPLAINTS A)."""

from __future__ import annotations

import os
import stat
import threading

import pytest

import selfnote
from selfnote.storage import atomic
from selfnote.storage.atomic import append_line, read_file, remove_leftovers, write_atomic
from selfnote.storage.fingerprints import fingerprint
from selfnote.storage.lines import read_text_file
from selfnote.storage.rewrite import ATTEMPTS, rewrite


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


# --- whole files ---------------------------------------------------------------------------------
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o000])
def test_a_new_file_is_644_whatever_the_umask(tmp_path, mask):
    """S2-268: plain text, readable."""
    old = os.umask(mask)
    try:
        write_atomic(tmp_path / "a", b"x")
    finally:
        os.umask(old)
    assert mode_of(tmp_path / "a") == 0o644


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_the_mode_of_an_existing_file_is_kept(tmp_path, mode):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomic(path, b"new")
    assert (path.read_bytes(), mode_of(path)) == (b"new", mode)


def test_a_mode_asked_for_is_given(tmp_path):
    """S2-265: the token's 600."""
    write_atomic(tmp_path / "token", b"x", mode=0o600)
    assert mode_of(tmp_path / "token") == 0o600


def test_a_symbolic_link_stays_a_link_and_its_target_is_replaced(tmp_path):
    """An owner keeps notes.md in a synced folder and links to it."""
    target = tmp_path / "synced" / "notes.md"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link = tmp_path / "notes.md"
    link.symlink_to(target)
    write_atomic(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["notes.md", "synced"]
    assert [p.name for p in target.parent.iterdir()] == ["notes.md"]


def test_a_link_to_a_file_not_yet_there_makes_that_file(tmp_path):
    link = tmp_path / "a"
    link.symlink_to(tmp_path / "b")
    write_atomic(link, b"x")
    assert link.is_symlink()
    assert (tmp_path / "b").read_bytes() == b"x"


def test_folders_on_the_way_are_made(tmp_path):
    write_atomic(tmp_path / "x" / "y" / "a", b"1")
    assert (tmp_path / "x" / "y" / "a").read_bytes() == b"1"


def test_a_write_is_temp_file_fsync_rename_directory_fsync_in_this_order(tmp_path, monkeypatch):
    """S2-282: same directory, content and mode on disk before the name, the name on disk before we return."""
    path = tmp_path / "a"
    path.write_bytes(b"old")
    did = []
    real_fsync, real_replace = os.fsync, atomic.Path.replace

    def fsync(descriptor):
        found = os.fstat(descriptor)
        did.append("fsync directory" if stat.S_ISDIR(found.st_mode) else f"fsync {found.st_size}")
        real_fsync(descriptor)

    def replace(temporary, target):
        did.append(("rename", temporary.parent == target.parent, temporary.name.startswith(".a."), target.read_bytes()))
        return real_replace(temporary, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(atomic.Path, "replace", replace)
    write_atomic(path, b"new!")
    assert did == ["fsync 4", ("rename", True, True, b"old"), "fsync directory"]


def test_the_fingerprint_returned_is_that_of_the_file(tmp_path):
    """S2-214, S2-215: mtime in ns, size, inode."""
    written = write_atomic(tmp_path / "a", b"12345")
    assert written == fingerprint(tmp_path / "a")
    assert written[1] == 5
    assert fingerprint(tmp_path / "none") is None


def test_a_write_that_fails_leaves_the_old_file_and_no_temp_file(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("change", ["content", "same size", "replaced", "deleted"])
def test_a_file_changed_since_it_was_read_is_not_overwritten(tmp_path, change):
    """COMPLAINTS 1: compared just before the rename."""
    path = tmp_path / "a"
    path.write_bytes(b"old")
    _, read = read_file(path)
    if change == "content":
        path.write_bytes(b"longer than before")
    elif change == "same size":
        path.write_bytes(b"OLD")
        os.utime(path, ns=(read[0] + 1, read[0] + 1))
    elif change == "replaced":
        (tmp_path / "b").write_bytes(b"old")
        os.utime(tmp_path / "b", ns=(read[0], read[0]))
        (tmp_path / "b").replace(path)
    else:
        path.unlink()
    now = path.read_bytes() if path.exists() else None
    with pytest.raises(selfnote.Conflict):
        write_atomic(path, b"new", expect=read)
    assert (path.read_bytes() if path.exists() else None) == now
    assert [p.name for p in tmp_path.iterdir() if p.suffix == ".tmp"] == []


def test_a_file_made_since_there_was_none_is_not_overwritten(tmp_path):
    _, read = read_file(tmp_path / "a")
    assert read is None
    (tmp_path / "a").write_bytes(b"theirs")
    with pytest.raises(selfnote.Conflict):
        write_atomic(tmp_path / "a", b"ours", expect=read)
    assert (tmp_path / "a").read_bytes() == b"theirs"


# --- leftovers -----------------------------------------------------------------------------------
def test_temp_files_of_killed_writers_are_removed_and_no_other_file(tmp_path):
    """DESIGN "Files": leftovers go with the next write; an owner's own files never."""
    keep = ["notes.md", ".notes.md.swp", "notes.md.tmp", ".persona.md.1.ab.tmp", ".notes.md", "x.notes.md.1.tmp"]
    for name in [*keep, ".notes.md.123.deadbeef.tmp", ".notes.md.9.00.tmp"]:
        (tmp_path / name).write_bytes(b"")
    assert remove_leftovers(tmp_path / "notes.md") == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(keep)


def test_leftovers_beside_the_target_of_a_link_are_removed(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "a").write_bytes(b"1")
    (tmp_path / "far" / ".a.1.ff.tmp").write_bytes(b"half")
    (tmp_path / "a").symlink_to(tmp_path / "far" / "a")
    rewrite(tmp_path / "a", lambda file: (file.appended("2"), None))
    assert [p.name for p in (tmp_path / "far").iterdir()] == ["a"]


# --- reading -------------------------------------------------------------------------------------
def test_no_file_reads_as_nothing(tmp_path):
    assert read_file(tmp_path / "none") == (b"", None)


def test_a_file_over_256_mb_is_refused_with_the_cap_in_the_message(tmp_path):
    """DESIGN "Files": 256 MB; a sparse file, so nothing of it is read."""
    path = tmp_path / "facts.jsonl"
    with path.open("wb") as stream:
        stream.truncate(256 * 1024 * 1024 + 1)
    with pytest.raises(selfnote.LimitExceeded, match=r"facts\.jsonl.*268435457.*268435456"):
        read_file(path)
    with pytest.raises(selfnote.LimitExceeded):
        read_text_file(path)


def test_a_file_of_exactly_the_cap_is_read(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 10)
    assert read_file(tmp_path / "a", cap=10)[0] == b"x" * 10
    with pytest.raises(selfnote.LimitExceeded):
        read_file(tmp_path / "a", cap=9)


def test_a_store_over_the_cap_is_neither_read_nor_written(memory):
    """DESIGN "Files": the owner is told, the file stays."""
    path = memory.home.facts
    path.parent.mkdir(parents=True)
    with path.open("wb") as stream:
        stream.truncate(256 * 1024 * 1024 + 1)
    with pytest.raises(selfnote.LimitExceeded, match="268435456"):
        memory.facts.all()
    with pytest.raises(selfnote.LimitExceeded, match="268435456"):
        memory.facts.stage("甲", source="s#1")
    assert path.stat().st_size == 256 * 1024 * 1024 + 1


# --- appending -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, b"new\n"),
        (b"", b"new\n"),
        (b"old\n", b"old\nnew\n"),
        (b"old", b"old\nnew\n"),
        (b"old\r\n", b"old\r\nnew\n"),
        (b"old\r", b"old\rnew\n"),
        (b"\n", b"\nnew\n"),
    ],
)
def test_an_appended_line_never_glues_to_the_one_before(tmp_path, before, after):
    """COMPLAINTS 11: the last byte is checked first."""
    path = tmp_path / "deep" / "a.jsonl"
    if before is not None:
        path.parent.mkdir()
        path.write_bytes(before)
    append_line(path, b"new")
    assert path.read_bytes() == after
    assert mode_of(path) == 0o644


def test_appending_keeps_mode_inode_and_link(tmp_path):
    (tmp_path / "real").write_bytes(b"1\n")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "a").symlink_to(tmp_path / "real")
    inode = (tmp_path / "real").stat().st_ino
    append_line(tmp_path / "a", b"2")
    assert (tmp_path / "a").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"1\n2\n"
    assert (mode_of(tmp_path / "real"), (tmp_path / "real").stat().st_ino) == (0o600, inode)


def test_an_append_is_on_disk_before_it_returns(tmp_path, monkeypatch):
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(stat.S_ISDIR(os.fstat(fd).st_mode)), real(fd)))
    append_line(tmp_path / "a", b"1")
    append_line(tmp_path / "a", b"2")
    assert synced == [False, True, False]


# --- read, change, write back --------------------------------------------------------------------
def test_a_change_made_meanwhile_is_kept_under_ours(tmp_path):
    """COMPLAINTS 1: the change is applied again on top, so neither is lost."""
    path = tmp_path / "a"
    path.write_bytes(b"one\n")
    seen = []

    def change(file):
        seen.append(file.data)
        if len(seen) == 1:
            path.write_bytes(file.data + b"theirs\n")
        return file.appended("ours"), len(seen)

    assert rewrite(path, change) == 2
    assert path.read_bytes() == b"one\ntheirs\nours\n"
    assert seen == [b"one\n", b"one\ntheirs\n"]


def test_a_file_that_never_stands_still_is_a_conflict_naming_it(tmp_path):
    path = tmp_path / "busy.md"
    path.write_bytes(b"0\n")
    tries = []

    def change(file):
        tries.append(1)
        path.write_bytes(file.data + b"theirs\n")
        return file.appended("ours"), None

    with pytest.raises(selfnote.Conflict, match=r"busy\.md"):
        rewrite(path, change)
    assert len(tries) == ATTEMPTS
    assert path.read_bytes() == b"0\n" + b"theirs\n" * ATTEMPTS


def test_the_same_bytes_are_not_written(tmp_path):
    """S2-214: a no-op must not renew the fingerprint and with it the prompt cache."""
    path = tmp_path / "a"
    path.write_bytes(b"one\n")
    before = fingerprint(path)
    assert rewrite(path, lambda file: (file, "kept")) == "kept"
    assert fingerprint(path) == before
    assert rewrite(tmp_path / "none", lambda file: (file, None)) is None
    assert not (tmp_path / "none").exists()


def test_a_refused_change_writes_nothing(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"one\n")
    before = fingerprint(path)

    def refuse(file):
        raise selfnote.LimitExceeded("no")

    with pytest.raises(selfnote.LimitExceeded):
        rewrite(path, refuse)
    assert fingerprint(path) == before


def test_a_reader_beside_a_writer_sees_whole_files_only(tmp_path):
    """S2-282: the old file or the new one, never half of either."""
    path = tmp_path / "a"
    write_atomic(path, b"0" * 50_000)
    stop = threading.Event()
    torn = []

    def read():
        while not stop.is_set():
            data = path.read_bytes()
            if len(data) != 50_000 or len(set(data)) != 1:
                torn.append(data[:20])

    reader = threading.Thread(target=read)
    reader.start()
    for n in range(60):
        write_atomic(path, str(n % 10).encode() * 50_000)
    stop.set()
    reader.join()
    assert torn == []
