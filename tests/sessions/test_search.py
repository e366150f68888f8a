"""Search over facts and summaries: ranked together, each with a pointer that leads somewhere now (S2-029, S2-246)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

import selfnote
from selfnote.demo import DEMO_NOW
from selfnote.errors import LimitExceeded
from selfnote.records.ledger import read_seen
from selfnote.storage.fingerprints import digest

AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@pytest.fixture
def add(memory):
    """An approved fact."""

    def added(text, **values):
        fact = memory.facts.add(text, now=AT, **values)
        return memory.facts.approve(fact.id, now=AT)

    return added


@pytest.fixture
def talk(memory, make):
    """A session with three messages of which the second is injected."""
    log = make.Lines(session="session-talk").user("部署改到周五")
    log.user("注入的部署说明", source={"kind": "plugin"}).assistant("好，周五部署")
    path = memory.home.sessions / "p" / "session-talk" / "session.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(log.plain())
    return path


def ids(result):
    return [one.id for one in result.hits]


def test_facts_and_summaries_are_found_together_each_with_its_pointer(memory, add, talk):
    """S2-029, S2-246: the warm layer."""
    fact = add("部署用蓝绿方式")
    summary = memory.summaries.write("部署改到了周五", source="session-talk#0", now=AT)
    found = memory.search("部署", now=AT)
    assert {(one.kind, one.id, one.source) for one in found.hits} == {
        ("fact", fact.id, "owner:notebook"),
        ("summary", summary.id, "session-talk#0"),
    }
    assert found.matched == 2


def test_only_approved_facts_and_active_summaries_are_found(memory, add, talk):
    """S2-247: a voided summary is not retrieved, and still there."""
    memory.facts.add("部署先看日志", now=AT)
    memory.facts.retire(add("部署要写报告").id, now=AT)
    gone = memory.summaries.write("部署改到了周五", source="session-talk#0", now=AT)
    memory.summaries.void(gone.id, now=AT)
    assert memory.search("部署", now=AT).hits == ()
    assert [one.id for one in memory.summaries.all()] == [gone.id]


def test_a_summary_counts_only_while_its_pointer_leads_to_a_real_message(memory, talk):
    """S2-030: no such seq, injected context, another message, and at last no session."""
    good = memory.summaries.write("部署的事：周五", source="session-talk#0", source_sha=digest("部署改到周五"), now=AT)
    lost = [
        memory.summaries.write(text, source=source, source_sha=sha, now=AT)
        for text, source, sha in (
            ("部署的事：没有这条", "session-talk#77", None),
            ("部署的事：注入的", "session-talk#1", None),
            ("部署的事：换过了", "session-talk#2", digest("以前那条")),
        )
    ]
    found = memory.search("部署", now=AT)
    assert ids(found) == [good.id]
    assert {one.summary.id: one.evidence.status for one in found.unresolved} == {
        lost[0].id: "beyond the end",
        lost[1].id: "not the owner's words",
        lost[2].id: "text differs",
    }
    assert found.matched == 1
    assert "session-talk#77" in str(found)
    talk.unlink()
    assert (ids(memory.search("部署", now=AT)), len(memory.search("部署", now=AT).unresolved)) == ([], 4)


def test_every_keyword_must_occur_in_text_tags_or_detail(memory, add):
    fact = add("数据库在本机", channel="env", tags=("postgres",), detail="端口 5433，用户 yan_app")
    for query in ("数据库", "5433 postgres", "yan_app 本机", "库", "端口"):
        assert ids(memory.search(query, now=AT)) == [fact.id], query
    for query in ("数据库 远程", "5432", "postgres mysql"):
        assert memory.search(query, now=AT).hits == (), query
    assert memory.search("数据库", now=AT).hits[0].detail == "端口 5433，用户 yan_app"


def test_what_says_it_more_closely_comes_first_and_heat_breaks_a_tie(memory, add):
    long = add("项目里有很多说明，其中一处提到缓存，还有别的许多许多内容和约定")
    short = add("缓存放内存")
    cold, warm = add("构建用甲机器"), add("构建用乙机器")
    memory.facts.set_importance(warm.id, 3.0, now=AT)
    assert ids(memory.search("缓存", now=AT)) == [short.id, long.id]
    tied = memory.search("构建", now=AT + timedelta(days=1)).hits
    assert [one.id for one in tied] == [warm.id, cold.id]
    assert tied[0].score == tied[1].score
    assert tied[0].heat > tied[1].heat


def test_facts_in_an_unresolved_conflict_are_marked(memory, add):
    """COMPLAINTS 35."""
    one, other = add("数据库端口是 5432"), add("数据库端口是 5433")
    marked = {hit.id: hit.conflicts for hit in memory.search("数据库", now=AT).hits}
    assert marked == {one.id: (other.id,), other.id: (one.id,)}
    memory.facts.resolve(one.id, other.id, now=AT)
    assert all(not hit.conflicts for hit in memory.search("数据库", now=AT).hits)


def test_a_limit_shows_the_best_and_counts_the_rest(memory, add):
    for number in range(12):
        add(f"规则编号 {number} 要遵守")
    found = memory.search("规则", limit=5, now=AT)
    assert (len(found.hits), found.matched) == (5, 12)
    assert memory.search("规则", limit=5, now=AT) == found


@pytest.mark.parametrize("query", ["", "   ", "。、"])
def test_a_query_without_a_keyword_is_refused(memory, query):
    with pytest.raises(LimitExceeded, match="keyword"):
        memory.search(query, now=AT)


@pytest.mark.parametrize("limit", [0, -1, 1001, True, 2.5])
def test_a_limit_out_of_range_is_refused(memory, limit):
    with pytest.raises(LimitExceeded, match="limit"):
        memory.search("部署", limit=limit, now=AT)


def test_a_stop_word_beside_a_keyword_is_passed_over(memory, add):
    fact = add("Deploys happen on Tuesday")
    assert ids(memory.search("the deploy", now=AT)) == [fact.id]
    assert memory.search("the", now=AT).hits == ()


def test_a_search_writes_and_counts_nothing(memory, add, talk):
    """A-27, DESIGN "Counting": only the model's tools count."""
    add("部署用蓝绿方式")
    memory.summaries.write("部署改到了周五", source="session-talk#0", now=AT)
    before = {path: path.read_bytes() for path in memory.home.root.rglob("*") if path.is_file()}
    memory.search("部署", now=AT)
    assert {path: path.read_bytes() for path in memory.home.root.rglob("*") if path.is_file()} == before
    assert read_seen(memory.home)[0] == []


def test_in_the_demo_the_two_ports_are_found_and_said_to_contradict_each_other():
    demo = selfnote.open_memory(selfnote.demo_home(), read_only=True)
    found = demo.search("Postgres 端口", now=DEMO_NOW)
    assert [one.conflicts for one in found.hits] == [(found.hits[1].id,), (found.hits[0].id,)]
    assert all(one.channel == "env" and one.detail for one in found.hits)


def test_the_reprs_are_pure_and_escaped(memory, add, talk):
    add("部署 <script>alert(1)</script>")
    memory.summaries.write("部署 <b>没了</b>", source="session-talk#9", now=AT)
    found = memory.search("部署", now=AT)
    shown = found._repr_html_()
    assert shown == found._repr_html_()
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert str(found).count("\n") == 3
    values = json.loads(json.dumps(found.to_json()))
    assert (len(values["hits"]), len(values["unresolved"])) == (1, 1)
