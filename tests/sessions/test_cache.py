"""The cache of parsed sessions: bounded, derived, read on from where it ended (S2-235, S2-240..245)."""

from __future__ import annotations

import os
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfnote.errors import NotFound
from selfnote.home import MemoryHome
from selfnote.sessions import cache as caches
from selfnote.sessions.cache import KEPT, SessionCache, spoken_of
from selfnote.sessions.library import Sessions
from selfnote.sessions.log import SessionLog
from selfnote.text import tokens


class Place:
    """A home with logs, and caches over it as new processes have them."""

    def __init__(self, root):
        self.home = MemoryHome.at(root)
        self.sessions = Sessions(self.home)

    def put(self, content, name="session-one", file="session.jsonl.zstd"):
        path = self.home.sessions / "project" / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else b"".join(content))
        return path

    def cache(self, **options):
        return SessionCache(self.home.cache, self.sessions, **options)

    def info(self, name="session-one"):
        return self.sessions.find(name)

    def files(self):
        return sorted(self.home.cache.glob("*")) if self.home.cache.exists() else []


@pytest.fixture
def place(home):
    return Place(home)


def conversation(make, turns=4, **header):
    lines = make.Lines(**header)
    for number in range(turns):
        lines.event("turn/start").user(f"问 {number} 父进程").packed(["一", "二", "三"]).assistant(f"答 {number}")
    return lines


def said(path):
    log = SessionLog(path)
    return spoken_of(log.messages(), delegated=log.header.delegated)


def test_at_every_byte_a_growing_log_reads_as_a_whole_reading_does(make, place):
    """S2-240, S2-241, S2-242, S2-245: real frames; a new process for each byte goes on from the file of the last."""
    parts = conversation(make, turns=3).frames(each=2)
    data = b"".join(parts)
    path = place.put(data[:1])
    for cut in range(1, len(data) + 1):
        with path.open("r+b") as file:
            file.write(data[:cut])
        scanning = cut % 2 == 0
        session = place.cache().read(place.info(), scanning=scanning)
        log = SessionLog(path)
        assert session.spoken == said(path)
        counted = tuple(len(set(tokens(one.text))) for one in session.spoken)
        assert session.lengths == (counted if scanning else counted[: len(session.lengths)])
        assert session.unreadable == (log.status == "corrupt")
        assert session.id in {log.id, "session-one"}
    assert len(place.files()) == 1


@pytest.mark.parametrize("kind", ["zstd", "plain"])
def test_at_every_byte_a_log_may_be_rewritten_as_another(make, place, kind):
    """S2-242: the fingerprints differ, or the place is no frame boundary: everything is read anew."""
    one, other = conversation(make, turns=2), conversation(make, turns=3, session="session-other", cwd="/elsewhere")
    contents = [lines.plain() if kind == "plain" else b"".join(lines.frames(each=2)) for lines in (one, other)]
    file = "session.jsonl" if kind == "plain" else "session.jsonl.zstd"
    path = place.put(contents[0], file=file)
    place.cache().read(place.info())
    for cut in range(1, len(contents[1]) + 1, 7):
        path.write_bytes(contents[1][:cut])
        assert place.cache().read(place.info()).spoken == said(path)
        path.write_bytes(contents[0])
        assert place.cache().read(place.info()).spoken == said(path)


@given(cuts=st.lists(st.integers(1, 10_000), min_size=1, max_size=6), again=st.booleans(), plain=st.booleans())
@settings(max_examples=40)
def test_a_log_that_grows_by_any_steps_is_never_read_wrong(tmp_path_factory, scratch, cuts, again, plain):
    place = Place(tmp_path_factory.mktemp("home") / ".dsh")
    lines = conversation(scratch, turns=3, seedLength=2)
    content = lines.plain() if plain else b"".join(lines.frames(each=3))
    file = "session.jsonl" if plain else "session.jsonl.zstd"
    cache = place.cache()
    for cut in sorted({cut % len(content) + 1 for cut in cuts} | {len(content)}):
        path = place.put(content[:cut], file=file)
        if again:
            cache = place.cache()
        assert cache.read(place.info()).spoken == said(path)


def test_an_appended_frame_is_read_alone(make, place, monkeypatch):
    """S2-241: the log is not read whole again."""
    parts = conversation(make).frames(each=4)
    path = place.put(parts[:-1])
    place.cache().read(place.info())
    with path.open("ab") as file:
        file.write(parts[-1])
    cache = place.cache()
    monkeypatch.setattr(place.sessions, "read", lambda _: pytest.fail("the log was read whole"))
    assert cache.read(place.info()).spoken == said(path)


def test_a_torn_tail_waits_and_is_no_failure(make, place):
    """S2-242: unfinished tail."""
    parts = conversation(make).frames(each=4)
    path = place.put([*parts[:2], parts[2][:-5]])
    session = place.cache().read(place.info())
    assert (session.status, session.unreadable, len(place.files())) == ("torn", False, 1)
    path.write_bytes(b"".join(parts))
    assert place.cache().read(place.info()).spoken == said(path)


@pytest.mark.parametrize("damage", ["byte", "garbage", "header", "newer", "rivals"])
def test_a_log_that_cannot_be_read_is_marked_and_never_cached_as_empty(make, place, damage):
    """S2-235: and it is read once it is mended."""
    parts = conversation(make).frames(each=4)
    whole = b"".join(parts)
    path = place.put(whole)
    if damage == "byte":
        at = len(parts[0]) + len(parts[1]) + 12
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
    elif damage == "garbage":
        path.write_bytes(whole + b"garbage!")
    elif damage == "header":
        path.write_bytes(whole[:20])
    elif damage == "newer":
        place.put(conversation(make, version=9).frames())
    else:
        place.put(conversation(make).plain(), file="session.jsonl")
    cache = place.cache()
    for _ in range(2):
        session = cache.read(place.info())
        assert session.unreadable
        assert session.spoken == said(path)[: len(session.spoken)]
    assert place.files() == []
    path.with_name("session.jsonl").unlink(missing_ok=True)
    path.write_bytes(whole)
    session = cache.read(place.info())
    assert (session.unreadable, len(session.spoken), len(place.files())) == (False, 8, 1)


def test_a_log_that_becomes_damaged_is_not_answered_from_the_cache(make, place):
    """S2-235: a damaged appended frame is seen."""
    path = place.put(conversation(make).frames())
    cache = place.cache()
    before = cache.read(place.info())
    with path.open("ab") as file:
        file.write(b"garbage!")
    for one in (cache, place.cache()):
        session = one.read(place.info())
        assert session.unreadable
        assert session.spoken == before.spoken


def test_only_the_owners_and_the_assistants_words_are_kept(make, place):
    """S2-020: nothing injected, no reasoning, no tool output, not even on disk."""
    lines = make.Lines()
    lines.user("主人的话").user("注入的背景", source={"kind": "plugin"}).user("替换的话", surfaceOp={"op": "replace"})
    lines.assistant("回答", blocks=[{"type": "reasoning", "text": "暗想"}, {"type": "tool-call", "text": "调用"}])
    lines.event("tool/result", {"text": "工具输出"}).event("request/header", {"header": {"system": "系统提示"}})
    lines.user(" \n ")
    place.put(lines.frames())
    session = place.cache().read(place.info())
    assert [(one.role, one.text) for one in session.spoken] == [("user", "主人的话"), ("assistant", "回答")]
    (kept,) = place.files()
    text = kept.read_text("utf-8")
    for hidden in ("注入的背景", "替换的话", "暗想", "调用", "工具输出", "系统提示"):
        assert hidden not in text


def test_a_sub_agents_session_is_nobodys_words(make, place):
    place.put(conversation(make, origin="subagent", delegationDepth=1).frames())
    assert place.cache().read(place.info()).spoken == ()


def test_what_a_fork_copied_is_left_out(make, place):
    """EX-004"""
    lines = conversation(make, seedLength=7)
    place.put(lines.frames())
    assert [one.seq for one in place.cache().read(place.info()).spoken] == [7, 11, 13, 17, 19, 23]


def test_the_files_are_the_owners_alone(make, place):
    """They hold text."""
    place.put(conversation(make).frames())
    place.cache().read(place.info())
    (file,) = place.files()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.home.cache.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\x00\xff" * 40,
        b"[]",
        b'{"format":1}',
        b'{"format":0,"tokens":"","path":"","point":{},"spoken":[],"lengths":[]}',
    ],
)
def test_a_corrupt_or_older_file_is_read_past_and_written_anew(make, place, content):
    path = place.put(conversation(make).frames())
    place.cache().read(place.info())
    (file,) = place.files()
    good = file.read_bytes()
    file.write_bytes(content)
    assert place.cache().read(place.info()).spoken == said(path)
    assert file.read_bytes() == good


def test_a_file_cut_anywhere_never_answers_wrong(make, place):
    path = place.put(conversation(make, turns=1).frames())
    place.cache().read(place.info())
    (file,) = place.files()
    good = file.read_bytes()
    for cut in range(0, len(good), 3):
        file.write_bytes(good[:cut])
        assert place.cache().read(place.info()).spoken == said(path)
    assert file.read_bytes() == good


def test_a_file_of_another_log_is_not_taken_for_this_ones(make, place):
    place.put(conversation(make).frames(), name="session-one")
    path = place.put(conversation(make, turns=2, session="session-two").frames(), name="session-two")
    for name in ("session-one", "session-two"):
        place.cache().read(place.info(name))
    one = next(file for file in place.files() if b"session-one/" in file.read_bytes())
    two = next(file for file in place.files() if file != one)
    two.write_bytes(one.read_bytes())
    assert place.cache().read(place.info("session-two")).spoken == said(path)


def test_at_most_sixty_sessions_are_kept(make, place, monkeypatch):
    """S2-244: the least recently used go first."""
    monkeypatch.setattr(caches, "WORTH_KEEPING", 0)
    content = b"".join(conversation(make, turns=1).frames())
    for number in range(KEPT + 5):
        place.put(content, name=f"session-{number:03}")
    cache = place.cache()
    for number in range(KEPT):
        cache.read(place.info(f"session-{number:03}"))
        for file in place.files():
            status = file.stat()
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns - 10**9))
    cache.read(place.info("session-000"))
    for number in range(KEPT, KEPT + 5):
        cache.read(place.info(f"session-{number:03}"))
    assert len(place.files()) == KEPT
    kept = {number for number in range(KEPT + 5) if cache._file(place.info(f"session-{number:03}").path).exists()}
    assert kept == set(range(KEPT + 5)) - {1, 2, 3, 4, 5}


def test_a_search_through_more_sessions_than_are_kept_drops_none(make, place, monkeypatch):
    monkeypatch.setattr(caches, "WORTH_KEEPING", 0)
    content = b"".join(conversation(make, turns=1).frames())
    for number in range(KEPT + 3):
        place.put(content, name=f"session-{number:03}")
    cache = place.cache()
    for info in place.sessions.list():
        cache.read(info, scanning=True)
    before = place.files()
    for info in place.sessions.list():
        cache.read(info, scanning=True)
    assert (place.files(), len(before)) == (before, KEPT)


def test_what_is_derived_does_not_outlive_its_source(make, place):
    path = place.put(conversation(make).frames())
    cache = place.cache()
    cache.read(place.info())
    path.unlink()
    cache.prune(place.sessions.list())
    assert place.files() == []


def test_a_read_only_cache_reads_files_and_writes_none(make, place):
    path = place.put(conversation(make).frames())
    assert place.cache(read_only=True).read(place.info()).spoken == said(path)
    assert not place.home.memory.exists()
    place.cache().read(place.info())
    before = [(file, file.read_bytes(), file.stat().st_mtime_ns) for file in place.files()]
    path.write_bytes(b"".join(conversation(make, turns=6).frames()))
    assert place.cache(read_only=True).read(place.info()).spoken == said(path)
    assert [(file, file.read_bytes(), file.stat().st_mtime_ns) for file in place.files()] == before


@pytest.mark.parametrize("trouble", ["a file", "a folder"])
def test_trouble_with_the_cache_never_fails_a_reading(make, place, trouble):
    path = place.put(conversation(make).frames())
    if trouble == "a file":
        place.home.memory.mkdir(parents=True)
        place.home.cache.write_text("in the way")
    else:
        place.cache()._file(path).mkdir(parents=True)
    cache = place.cache()
    assert cache.read(place.info()).spoken == said(path)
    cache.prune([])


def test_a_log_that_is_gone_is_not_found(make, place):
    path = place.put(conversation(make).frames())
    cache, info = place.cache(), place.info()
    cache.read(info)
    path.unlink()
    with pytest.raises(NotFound):
        cache.read(info)
