"""The kit's real sessions hold exactly these standing demands; child sessions, quotes and code blocks hold none."""

from __future__ import annotations

from pathlib import Path

import pytest

import selfnote
from selfnote.demo import bundled_home

#: 「压缩之后继续，不要用表格」 (eeeeeeee#135) is not among them: an order that comes with this turn's task is one-off.
#: Session (its first characters) and seq -> the reason, and words of the sentence that is kept.
DEMANDS = {
    ("session-34343434", 7): ("prohibition", "don't apologise so much"),
    ("session-bbbbbbbb", 53): ("convention", "give me the conclusion first"),
    ("session-bbbbbbbb", 74): ("prohibition", "don't use tables or emojis"),
    ("session-bbbbbbbb", 111): ("preference", "I prefer British spelling"),
    ("session-bbbbbbbb", 127): ("convention", "production deploys happen on Tuesdays only"),
    ("session-bbbbbbbb", 160): ("convention", "Call me Sam"),
    ("session-12121212", 48): ("prohibition", "以后别讲故事"),
    ("session-aaaaaaaa", 43): ("convention", "以后回答先给结论"),
    ("session-aaaaaaaa", 58): ("prohibition", "不要用表格"),
    ("session-aaaaaaaa", 96): ("preference", "我更喜欢简洁一点"),
    ("session-aaaaaaaa", 111): ("convention", "请用中文回答"),
    ("session-aaaaaaaa", 126): ("convention", "测试命令是 pytest -q"),
    ("session-aaaaaaaa", 196): ("correction", "我说过先跑测试"),
    ("session-aaaaaaaa", 211): ("convention", "以后回答先给结论"),
    ("session-aaaaaaaa", 227): ("convention", "以后代码块都标语言"),
    ("session-cccccccc", 117): ("prohibition", "以后总结不要超过三句话"),
    ("session-dddddddd", 92): ("convention", "以后委派任务先问我"),
    ("session-eeeeeeee", 7): ("convention", "以后提交信息用中文写"),
    ("session-ffffffff", 7): ("prohibition", "以后不要删日志"),
}


@pytest.fixture
def scanned(tmp_path: Path) -> selfnote.Memory:
    """A memory that has nothing but the sessions, all of them scanned."""
    home = tmp_path / ".dsh"
    home.mkdir()
    import shutil

    shutil.copytree(bundled_home() / "sessions", home / "sessions")
    memory = selfnote.open_memory(home, tz="Asia/Shanghai")
    memory.capture.scan_all()
    return memory


def test_a_scan_finds_exactly_the_demands_a_person_would_mark(scanned: selfnote.Memory):
    """S2-176..184, S2-181: done means exactly these."""
    found = {}
    for fact in scanned.facts.all():
        assert fact.status == "candidate"
        for source in fact.sources:
            session, _, seq = source.partition("#")
            found[session[:16], int(seq)] = (fact.reason, fact.text)
    assert found.keys() == DEMANDS.keys()
    for place, (reason, words) in DEMANDS.items():
        assert words in found[place][1], place
        if place != ("session-aaaaaaaa", 211):
            assert found[place][0] == reason, place


def test_the_same_demand_heard_twice_is_one_candidate(scanned: selfnote.Memory):
    """S2-184: the sentence alone is compared, not the thanks around it."""
    twice = next(fact for fact in scanned.facts.all() if "以后回答先给结论" in fact.text)
    assert twice.occurrences == 2
    assert twice.text.rstrip("。") == "以后回答先给结论，细节等我问"


def test_scanning_again_changes_nothing(scanned: selfnote.Memory):
    """S2-189: each session#seq is judged once."""
    before = (scanned.home.facts.read_bytes(), scanned.home.capture_cursor.read_bytes())
    scanned.capture.scan_all()
    assert (scanned.home.facts.read_bytes(), scanned.home.capture_cursor.read_bytes()) == before
