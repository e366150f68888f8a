"""The optional index: what it holds, how it stands, and that it never answers wrong (S2-230..238)."""

from __future__ import annotations

import json
import os
import sqlite3
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import selfnote
from selfnote.errors import Corrupt, ReadOnly
from selfnote.phrases import RECALL
from selfnote.sessions import index as indexes
from selfnote.times import clock

WORDS = ("端口", "部署", "脚本", "watchdog", "结论", "memory", "测试", "父进程", "日志", "emoji")


class Home:
    """A home whose index is on, with logs made here."""

    def __init__(self, make, root):
        self.make, self.root = make, root
        self.memory = selfnote.open_memory(root, tz="Asia/Shanghai")
        self.memory.config.save(index_enabled=True)
        self.lines = {}

    def path(self, name):
        return self.root / "sessions" / "project" / name / "session.jsonl.zstd"

    def say(self, name, *texts, **header):
        """Append exchanges to a session: the owner says the first text, the assistant the second, and so on."""
        lines = self.lines.setdefault(name, self.make.Lines(session=name, **header))
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        start = len(lines.lines) if path.exists() else 0
        for place, text in enumerate(texts):
            (lines.assistant if place % 2 else lines.user)(text)
        new = lines.lines[start:]
        if not start:
            parts = [self.make.frame(new[0] + b"\n"), self.make.frame(b"".join(line + b"\n" for line in new[1:]))]
        else:
            parts = [self.make.frame(b"".join(line + b"\n" for line in new))]
        with path.open("ab") as file:
            file.write(b"".join(part for part in parts))

    def rewrite(self, name, *texts):
        self.lines.pop(name, None)
        self.path(name).unlink()
        self.say(name, *texts)

    def ask(self, query, **options):
        return self.memory.recall(query, limit=100, **options)

    def scan(self, query):
        """The same question with every session read."""
        other = selfnote.open_memory(self.root, tz="Asia/Shanghai", read_only=True)
        from selfnote.sessions.cache import SessionCache
        from selfnote.sessions.recall import recall

        cache = SessionCache(self.root / "nowhere", other.sessions, read_only=True)
        return recall(query, sessions=other.sessions, cache=cache, limit=100)


@pytest.fixture
def place(make, home):
    return Home(make, home)


def sources(result):
    return [hit.source for hit in result.hits]


def filled(place, sessions=6):
    for number in range(sessions):
        name = f"session-{number}"
        place.say(
            name, f"{WORDS[number % 10]} 第 {number} 次", f"好的，{WORDS[(number + 3) % 10]} 记下了", WORDS[number % 7]
        )
    return place


def agree(place, queries=WORDS):
    for query in queries:
        indexed, scanned = place.ask(query), place.scan(query)
        assert [(hit.source, hit.text) for hit in indexed.hits] == [(hit.source, hit.text) for hit in scanned.hits], (
            query
        )
        assert [hit.score for hit in indexed.hits] == pytest.approx([hit.score for hit in scanned.hits])


def test_a_fresh_index_answers_as_reading_every_session_does(place):
    """S2-233: the same hits, the same scores, the same order."""
    filled(place)
    assert place.memory.index.build().complete
    agree(place, [*WORDS, "端口 部署", "第", "记下了 watchdog", "无此词语"])
    assert place.ask("端口").how == "index"


@given(
    acts=st.lists(
        st.tuples(
            st.sampled_from(["say", "new", "rewrite", "remove", "build", "touch"]),
            st.integers(0, 4),
            st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
        ),
        min_size=1,
        max_size=14,
    )
)
@settings(max_examples=40)
def test_whatever_happens_to_the_sessions_the_index_never_answers_wrong(scratch, tmp_path_factory, acts):
    """S2-233, S2-237: nothing that was said is missed, nothing that is gone is shown."""
    place = Home(scratch, tmp_path_factory.mktemp("home") / ".dsh")
    for kind, number, words in acts:
        name = f"session-{number}"
        there = place.path(name).exists()
        if kind == "build":
            place.memory.index.build()
        elif kind in {"say", "new"} or not there:
            place.say(name, *words)
        elif kind == "rewrite":
            place.rewrite(name, *words)
        elif kind == "touch":
            os.utime(place.path(name))
        else:
            place.path(name).unlink()
            place.lines.pop(name)
        for query in ("端口", "watchdog", "父"):
            result = place.ask(query)
            assert result.complete
            assert sorted(sources(result)) == sorted(sources(place.scan(query)))
    place.memory.index.build(full=True)
    agree(place)


def test_it_holds_tokens_and_no_text(place):
    """S2-230"""
    place.say("session-1", "我家的暗号是 open sesame 芝麻开门", "好的我记住了这个暗号")
    place.memory.index.build()
    data = place.memory.home.index.read_bytes()
    for text in ("我家的暗号", "暗号是", "open sesame", "芝麻开门"):
        assert text.encode() not in data
    assert "芝麻".encode() in data
    assert "content" not in {
        row[0].removeprefix("messages_")
        for row in sqlite3.connect(place.memory.home.index).execute("SELECT name FROM sqlite_master")
    }


def test_it_is_off_by_default_and_then_never_made(make, home):
    """S2-230"""
    place = Home(make, home)
    place.memory.config.save(index_enabled=False)
    place.say("session-1", "端口")
    assert place.ask("端口").how == "scan"
    assert not place.memory.home.index.exists()


def test_a_search_writes_nothing_to_it(place):
    """A zero-hit query, a topped-up one: the file stays byte for byte."""
    filled(place)
    place.memory.index.build()
    place.say("session-9", "端口 新的")
    before = place.memory.home.index.read_bytes(), place.memory.home.index.stat().st_mtime_ns
    files = sorted(path.name for path in place.memory.home.memory.iterdir())
    assert place.ask("毫无踪影").hits == []
    assert place.ask("端口").how == "topped up"
    assert (place.memory.home.index.read_bytes(), place.memory.home.index.stat().st_mtime_ns) == before
    assert sorted({path.name for path in place.memory.home.memory.iterdir()} - {"cache"}) == sorted(
        set(files) - {"cache"}
    )


# --- the seven indicators -----------------------------------------------------------------------------
def test_the_seven_indicators(place):
    """S2-231: state, sessions indexed, on disk, to sync, messages, size, last build on the owner's clock."""
    filled(place, sessions=4)
    now = clock()
    assert place.memory.index.status(now=now).state == "absent"
    place.memory.index.build(now=now)
    status = place.memory.index.status(now=now)
    size = place.memory.home.index.stat().st_size
    assert (status.state, status.indexed, status.on_disk, status.to_sync, status.records, status.size) == (
        "ok", 4, 4, 0, 12, size,
    )  # fmt: skip
    assert abs(status.built_at - now) < timedelta(milliseconds=1)
    labels = [label for label, _ in status.rows("zh")]
    assert labels == ["状态", "已索引会话", "磁盘会话", "待同步", "消息条数", "索引大小", "上次建立"]
    assert dict(status.rows("zh"))["状态"] == "正常"
    assert dict(status.rows("zh"))["上次建立"] == f"{now + timedelta(hours=8):%Y-%m-%d %H:%M:%S}"
    assert str(status).count("\n") == 6
    assert json.loads(json.dumps(status.to_json()))["records"] == 12
    assert "<table>" in status._repr_html_()


def test_to_sync_tells_never_indexed_and_appended_apart(place):
    """S2-232"""
    filled(place, sessions=3)
    place.memory.index.build()
    place.say("session-0", "又说了一句")
    place.say("session-7", "新的会话")
    place.say("session-8", "又一个")
    status = place.memory.index.status()
    assert (status.to_sync, status.never_indexed, status.changed) == (3, 2, 1)
    os.utime(place.path("session-1"))
    assert place.memory.index.status().changed == 1


def test_a_session_that_went_cold_for_five_minutes_makes_it_stale(place):
    """S2-236: one that is being written does not."""
    filled(place, sessions=3)
    place.memory.index.build()
    now = clock()
    place.say("session-0", "又说了一句")
    written = place.path("session-0").stat().st_mtime
    assert place.memory.index.status(now=now).state == "ok"
    os.utime(place.path("session-0"), (written - 299, written - 299))
    assert place.memory.index.status(now=now).state == "ok"
    os.utime(place.path("session-0"), (written - 301, written - 301))
    assert place.memory.index.status(now=now).state == "stale"
    assert RECALL["zh"]["state stale"] in str(place.memory.index.status(now=now))
    place.memory.index.build()
    assert place.memory.index.status(now=now).state == "ok"


def test_a_build_looks_at_the_disk_again_and_tells_what_is_not_in_it(place):
    """S2-234: success only when complete."""
    filled(place, sessions=3)
    path = place.path("session-1")
    data = path.read_bytes()
    path.write_bytes(data + b"garbage!")
    result = place.memory.index.build()
    assert not result.complete
    assert "1 个会话解不开、内容没进索引" in result.note
    assert (result.status.undecodable, result.status.indexed, result.status.records) == (1, 2, 6)
    assert "1 个会话解不开、内容没进索引" in str(place.memory.index.status())
    # What can be read of it is searched all the same, and the answer says that it is not whole.
    found = place.ask("部署")
    assert [hit.session_id for hit in found.hits if hit.session_id == "session-1"]
    assert (found.complete, found.unreadable) == (False, 1)
    path.write_bytes(data)
    assert place.memory.index.build().complete
    agree(place)


# --- behind the disk ----------------------------------------------------------------------------------
def test_sessions_it_lacks_are_read_for_this_search_alone(place):
    """S2-237, S2-238, COMPLAINTS 50: found, and said so."""
    filled(place, sessions=3)
    place.memory.index.build()
    place.say("session-0", "刚刚提到 watchdog 了")
    place.say("session-9", "watchdog 又来")
    for _ in range(2):
        result = place.ask("watchdog")
        assert {"session-0", "session-9"} <= {hit.session_id for hit in result.hits}
        assert (result.how, result.topped_up, result.complete) == ("topped up", 2, True)
        assert "索引落后 2 个会话，已就地补上" in result.note


@pytest.mark.parametrize(("lagging", "how"), [(20, "topped up"), (21, "scan")])
def test_more_than_twenty_behind_and_every_session_is_read(place, lagging, how):
    """S2-237"""
    filled(place, sessions=2)
    place.memory.index.build()
    for number in range(lagging):
        place.say(f"later-{number:02}", f"后来的第 {number} 个会话")
    result = place.ask("后来的")
    assert (result.how, len(result.hits), result.complete) == (how, lagging, True)


def test_what_was_said_since_is_weighed_by_the_indexs_own_frequencies(place):
    """PERFORMANCE "Decisions": a word frequent in the index stays cheap in what is read beside it."""
    for number in range(10):
        place.say(f"session-{number}", "部署 部署流程")
    place.say("session-a", "watchdog 只有一次")
    place.memory.index.build()
    place.say("session-b", "部署 加长加长加长")
    place.say("session-c", "watchdog 加长加长加长")
    scores = {hit.session_id: hit.score for hit in place.ask("部署 watchdog").hits}
    assert scores["session-c"] > 2 * scores["session-b"]


def test_a_new_generation_takes_the_place_of_a_rewritten_session(place):
    filled(place, sessions=3)
    place.memory.index.build()
    place.rewrite("session-1", "改写以后只有这一句 zebra")
    place.memory.index.build()
    assert sources(place.ask("zebra")) == ["session-1#0"]
    assert place.ask("zebra").how == "index"
    agree(place)
    with sqlite3.connect(place.memory.home.index) as database:
        assert dict(database.execute("SELECT id, generation FROM sessions"))["session-1"] == 1


def test_it_is_built_anew_when_a_fifth_of_its_rows_no_longer_count(place):
    """PERFORMANCE "Decisions": rebuild at 20 % stale."""
    for number in range(10):
        place.say(f"session-{number}", "一句", "两句")
    place.memory.index.build()
    rebuilt = []
    for number in range(6):
        place.rewrite(f"session-{number}", "改写", f"第 {number} 个")
        rebuilt.append(place.memory.index.build().rebuilt)
        agree(place, ["改写", "一句"])
    # Before each build 0, 2, 4, 6 of 20, 22, 24, 26 rows are stale: over a fifth at the fourth, then none.
    assert rebuilt == [False, False, False, True, False, False]


def test_a_session_in_several_pieces_keeps_its_neighbours(place):
    """Smoothing crosses the seam between two builds, and between the index and what is read beside it."""
    place.say("session-1", "部署到哪台机器上的问题", "好的")
    place.memory.index.build()
    place.say("session-1", "watchdog 那台")
    place.say("session-2", "watchdog 别的事")
    place.memory.index.build()
    place.say("session-1", "部署完 zebra")
    agree_order = [hit.source for hit in place.ask("部署 机器 watchdog").hits]
    assert agree_order.index("session-1#2") < agree_order.index("session-2#0")
    place.memory.index.build()
    agree(place, ["部署 机器 watchdog", "zebra 好的"])


# --- damage -------------------------------------------------------------------------------------------
def spoil(place, how):
    path = place.memory.home.index
    data = path.read_bytes()
    if how == "garbage":
        path.write_bytes(b"this is no database" * 50)
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "half":
        path.write_bytes(data[: len(data) // 2])
    elif how == "a folder":
        path.unlink()
        path.mkdir()
    else:
        with sqlite3.connect(path) as database:
            if how == "older":
                database.execute("PRAGMA user_version = 0")
            elif how == "other tokens":
                database.execute("UPDATE facts SET value = 'other' WHERE key = 'tokens'")
            elif how == "half built":
                database.execute("DELETE FROM facts WHERE key = 'serial'")
            elif how == "no table":
                database.execute("DROP TABLE blocks")
            elif how == "a row":
                database.execute("UPDATE blocks SET count = count - 1")
        database.close()


DAMAGES = ("garbage", "empty", "half", "older", "other tokens", "half built", "no table", "a row")


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("warm", [True, False])
def test_a_damaged_or_older_index_is_refused_with_a_note_and_built_anew(place, how, warm):
    filled(place)
    place.memory.index.build()
    if warm:
        place.ask("端口")
    else:
        place = Home(place.make, place.root)
    spoil(place, how)
    memory = selfnote.open_memory(place.root)
    result = memory.recall("端口", limit=100)
    assert (result.how, result.complete) == ("scan", True)
    assert sources(result) == sources(place.scan("端口"))
    assert RECALL["zh"]["of another version" if how in {"older", "other tokens"} else "damaged"] in result.note
    assert memory.index.status().state == "absent"
    assert memory.index.status().problem
    assert memory.index.build().rebuilt
    assert memory.recall("端口").how == "index"
    agree(place)


def test_no_flipped_byte_makes_it_answer_wrong(place):
    """Every search of a damaged index gives what reading the sessions gives."""
    filled(place, sessions=4)
    place.memory.index.build()
    path = place.memory.home.index
    good = path.read_bytes()
    expected = sources(place.scan("端口 部署"))
    refused = 0
    for at in range(0, len(good), 97):
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1 :])
        memory = selfnote.open_memory(place.root)
        result = memory.recall("端口 部署", limit=100)
        assert sources(result) == expected, at
        refused += result.how == "scan"
    assert refused > 20


def test_something_else_in_its_place_is_told(place):
    filled(place)
    place.memory.index.build()
    spoil(place, "a folder")
    assert place.ask("端口").how == "scan"
    with pytest.raises((Corrupt, OSError)):
        place.memory.index.build()


def test_a_read_only_memory_searches_it_and_changes_nothing(place):
    filled(place)
    place.memory.index.build()
    memory = selfnote.open_memory(place.root, read_only=True)
    assert memory.recall("端口").how == "index"
    for act in (memory.index.build, memory.index.drop):
        with pytest.raises(ReadOnly):
            act()
    assert memory.index.status().state == "ok"


def test_dropping_it_leaves_nothing_behind(place):
    filled(place)
    place.memory.index.build()
    assert place.ask("端口").how == "index"
    assert place.memory.index.drop()
    assert not place.memory.index.drop()
    assert not [path for path in place.memory.home.memory.iterdir() if path.name.startswith("index.sqlite")]
    result = place.ask("端口")
    assert (result.how, RECALL["zh"]["not built"] in result.note) == ("scan", True)
    assert place.memory.index.status().state == "absent"


def test_it_goes_with_a_home_that_moves(place, tmp_path):
    """Paths are kept within the sessions folder."""
    filled(place)
    place.memory.index.build()
    place.root.rename(tmp_path / "moved")
    moved = selfnote.open_memory(tmp_path / "moved")
    assert moved.recall("端口").how == "index"


def test_the_english_of_every_sentence_is_there():
    assert RECALL["zh"].keys() == RECALL["en"].keys()
    import re

    for key, zh in RECALL["zh"].items():
        assert sorted(re.findall(r"\{\w+\}", zh)) == sorted(re.findall(r"\{\w+\}", RECALL["en"][key])), key
    assert indexes.TOP_UP_LIMIT == 20
