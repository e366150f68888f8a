"""Recall over raw sessions: what is found, in which order, and that every hit opens its message (S2-019, S2-020)."""

from __future__ import annotations

import json
import shutil
import unicodedata
from dataclasses import replace
from datetime import UTC

import pytest

import selfnote
from selfnote.errors import LimitExceeded
from selfnote.phrases import RECALL
from selfnote.sessions.ranking import ROLE_WEIGHTS
from selfnote.sessions.recall import SNIPPET_LENGTH, make_snippet
from selfnote.text import find_tokens, query_tokens

from .conftest import KIT, Lines, frame


@pytest.fixture(params=["scan", "index"])
def memory(request, home):
    """A memory whose sessions are read one by one, and one whose index is asked."""
    memory = selfnote.open_memory(home, tz="Asia/Shanghai")
    memory.config.save(index_enabled=request.param == "index")
    return memory


class Talk:
    """Puts sessions into a memory and keeps its index up to date."""

    def __init__(self, memory):
        self.memory = memory

    def put(self, lines, name="session-one", project="project"):
        path = self.memory.home.sessions / project / name / "session.jsonl.zstd"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(lines.frames(each=2)))
        if self.memory.config.load().index_enabled:
            self.memory.index.build()
        return path

    def said(self, *texts, name="session-one", **header):
        """Owner and assistant in turn."""
        lines = Lines(session=name, **header)
        for place, text in enumerate(texts):
            (lines.assistant if place % 2 else lines.user)(text)
        return self.put(lines, name)


@pytest.fixture
def talk(memory):
    return Talk(memory)


def found(memory, query, **options):
    return [(hit.seq, hit.text) for hit in memory.recall(query, **options).hits]


# --- what is found ------------------------------------------------------------------------------------
def test_what_was_said_is_found_with_its_pointer(memory, talk):
    """S2-019: session#seq, time, who, a snippet."""
    talk.said("部署到生产机上", "好的，端口是 5433")
    (hit,) = memory.recall("端口 5433").hits
    assert (hit.source, hit.session_id, hit.seq) == ("session-one#1", "session-one", 1)
    assert (hit.role, hit.by_owner, hit.text, hit.snippet) == (
        "assistant",
        False,
        "好的，端口是 5433",
        "好的，端口是 5433",
    )
    assert hit.time.tzinfo is UTC
    assert hit.score > 0
    assert memory.recall("生产机").hits[0].by_owner


def test_only_text_bodies_are_searched(memory, talk):
    """S2-020: reasoning, tool output, injected context, logged prompts and sub-agents' orders are not."""
    lines = Lines(session="session-one")
    lines.user("灯塔 主人", blocks=[{"type": "image", "text": "灯塔 图片"}])
    lines.user("灯塔 注入", source={"kind": "plugin"}).user("灯塔 无名", source=None).user(
        "灯塔 大写", source={"kind": "User"}
    )
    lines.user("灯塔 替换", surfaceOp={"op": "replace"})
    lines.assistant("灯塔 回答", blocks=[{"type": "reasoning", "text": "灯塔 思考"}])
    lines.packed(["灯塔", " 流"], kind="reasoning-chunks").event("tool/result", {"text": "灯塔 输出"})
    lines.event("request/header", {"header": {"system": "灯塔 提示"}, "reason": "start"})
    lines.event("session/title-llm-request", {"text": "灯塔 标题"})
    talk.put(lines)
    talk.said("灯塔 派活", "灯塔 子代理", name="session-sub", origin="subagent", delegationDepth=1)
    assert {text for _, text in found(memory, "灯塔")} == {"灯塔 主人", "灯塔 回答"}


def test_what_a_fork_copied_is_found_once(memory, talk):
    """EX-004: in the parent, where it was said."""
    talk.said("灯塔 起点", "灯塔 回答", name="session-parent")
    lines = Lines(session="session-fork", parentSession="session-parent", seedLength=2)
    talk.put(lines.user("灯塔 起点").assistant("灯塔 回答").user("灯塔 分叉"), "session-fork")
    assert sorted(hit.source for hit in memory.recall("灯塔").hits) == [
        "session-fork#2",
        "session-parent#0",
        "session-parent#1",
    ]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("ppid", "父进程watchdog单层ppid比较"),
        ("程", "父进程watchdog单层ppid比较"),
        ("记忆体", "記憶體不够"),
        ("ＰＰＩＤ", "看 ppid"),
        ("かな", "ひらがなのかな"),
        ("한국", "한국어"),
        ("user_id", "字段user_id没填"),
        ("f-3fa9c1", "事实f-3fa9c1退役"),
        ("cafe\u0301", "the café"),
        ("café", "the cafe\u0301"),
        ("密钥", "密\u200b钥在这"),
    ],
)
def test_scripts_and_identifiers_are_found(memory, talk, query, text):
    """COMPLAINTS 48, 49, 58"""
    talk.said(text, "别的什么")
    assert found(memory, query) == [(0, text)]


def test_one_side_may_be_asked_for(memory, talk):
    talk.said("灯塔 问", "灯塔 答", "灯塔 再问")
    assert [seq for seq, _ in found(memory, "灯塔", role="assistant")] == [1]
    assert sorted(seq for seq, _ in found(memory, "灯塔", role="user")) == [0, 2]
    assert memory.recall("灯塔", role="user").matched == 2


def test_the_limit_is_kept_and_what_is_out_of_range_refused(memory, talk):
    talk.said(*["灯塔"] * 15)
    result = memory.recall("灯塔")
    assert (len(result.hits), result.matched) == (10, 15)
    assert len(memory.recall("灯塔", limit=3).hits) == 3
    for wrong in ({"limit": 0}, {"limit": 1001}, {"role": "system"}):
        with pytest.raises(LimitExceeded, match=next(iter(wrong))):
            memory.recall("灯塔", **wrong)


@pytest.mark.parametrize("query", ["", "  ", "，。！", "the of and"])
def test_nothing_to_look_for_is_said(memory, talk, query):
    talk.said("灯塔")
    result = memory.recall(query)
    assert (result.hits, result.complete, result.note) == ([], False, RECALL["zh"]["no words"])


def test_an_absent_sessions_folder_is_an_empty_answer(memory):
    result = memory.recall("灯塔")
    assert (result.hits, result.complete) == ([], True)


# --- in which order -----------------------------------------------------------------------------------
def test_the_owners_words_weigh_more_than_the_agents(memory, talk):
    """S2-239, A-17: user 1.0, assistant 0.7."""
    assert ROLE_WEIGHTS == {"user": 1.0, "assistant": 0.7}
    talk.said("别的", "灯塔在这", name="session-a")
    talk.said("灯塔在这", "别的", name="session-b")
    first, second = memory.recall("灯塔").hits
    assert (first.role, second.role) == ("user", "assistant")
    assert second.score == pytest.approx(0.7 * first.score)


def test_a_rarer_word_and_a_shorter_message_weigh_more(memory, talk):
    talk.said("部署 灯塔", "好", "部署 流程", "好", "部署 脚本", "好")
    assert found(memory, "部署 灯塔")[0] == (0, "部署 灯塔")
    talk.said("码头 " + "说了很多别的话" * 30, "好", "好", "好", "码头", name="session-two")
    assert found(memory, "码头")[0] == (4, "码头")


def test_an_answer_rises_next_to_its_question(memory, talk):
    """Neighbours: the message with part of the query, beside the part it lacks."""
    talk.said("生产环境用哪个端口", "用 5433", name="session-a")
    talk.said("随便说说", "用 5433 也行", name="session-b")
    talk.said("随便说说", "好", "用 5433", name="session-c")
    hits = memory.recall("生产环境 端口 5433").hits
    order = [hit.source for hit in hits]
    assert order.index("session-a#1") < order.index("session-b#1")
    assert all(find_tokens(hit.text, query_tokens("生产环境 端口 5433")) for hit in hits)


def test_repeating_a_word_from_step_to_step_raises_nothing(memory, talk):
    """A tool-heavy session: twenty steps that say the same leave the one exact message first."""
    lines = Lines(session="session-steps").user("查日志")
    for number in range(20):
        lines.assistant(f"正在看日志，第 {number} 步")
    talk.put(lines, "session-steps")
    talk.said("日志在哪个端口", "5433", name="session-asked")
    assert memory.recall("日志 端口").hits[0].source == "session-asked#0"
    assert memory.recall("日志").hits[0].role == "user"


def test_equal_messages_come_newest_first(memory, talk):
    for name, shift in (("session-b", 0), ("session-a", 5), ("session-c", 9)):
        lines = Lines(session=name)
        lines.event(
            "user/message",
            {"content": [{"type": "text", "text": "灯塔"}], "source": {"kind": "user"}},
            time=Lines().event("x") and 1_796_036_351_440 + shift,
        )
        talk.put(lines, name)
    assert [hit.session_id for hit in memory.recall("灯塔").hits] == ["session-c", "session-a", "session-b"]


# --- how complete it is -------------------------------------------------------------------------------
def test_an_unreadable_session_makes_the_answer_incomplete_and_stays_searched(memory, talk):
    """COMPLAINTS 50: the note tells."""
    talk.said("灯塔 一")
    path = talk.said("灯塔 二", "灯塔 三", name="session-two")
    path.write_bytes(path.read_bytes() + b"garbage!")
    result = memory.recall("灯塔")
    assert len(result.hits) == 3
    assert (result.complete, result.unreadable) == (False, 1)
    assert "另有 1 个会话没能读全" in result.note


def test_a_link_in_the_sessions_folder_makes_the_answer_incomplete(memory, talk, tmp_path):
    """EX-008: it is not followed."""
    path = talk.said("灯塔 一")
    (tmp_path / "elsewhere").mkdir()
    path.parent.with_name("session-link").symlink_to(tmp_path / "elsewhere")
    assert not memory.recall("灯塔").complete


def test_it_counts_nothing_and_writes_nothing_but_the_cache(memory, talk):
    """DESIGN "Counting", and S2-007."""
    talk.said("灯塔 一", "灯塔 二")
    memory.facts.stage("灯塔 一", source="session-one#0")
    before = snapshot(memory.home.root)
    for query in ("灯塔", "无影无踪"):
        memory.recall(query)
    after = snapshot(memory.home.root)
    assert {path for path in after if after[path] != before.get(path)} == {
        path for path in after if path.startswith("memory/cache/")
    }
    assert before.keys() <= after.keys()


def test_a_read_only_memory_writes_nothing_at_all(memory, talk):
    talk.said("灯塔 一", "灯塔 二")
    before = snapshot(memory.home.root)
    other = selfnote.open_memory(memory.home.root, read_only=True)
    assert len(other.recall("灯塔").hits) == 2
    assert snapshot(memory.home.root) == before


def snapshot(root):
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


# --- badges -------------------------------------------------------------------------------------------
def test_the_sentence_behind_a_retired_fact_is_still_found_with_a_badge(memory, talk):
    """COMPLAINTS 34: the raw words come up again, and the owner sees that he retired them."""
    talk.said("灯塔 端口 22", "好", "灯塔 端口 49222")
    old = memory.facts.stage("灯塔 端口 22", source="session-one#0")
    memory.facts.approve(old.id)
    memory.facts.retire(old.id)
    memory.facts.stage("灯塔 端口 49222", source="session-one#2")
    badges = {hit.seq: hit.badges for hit in memory.recall("灯塔").hits}
    assert badges == {0: ("retired",), 2: ("candidate",)}
    assert "[已退役]" in str(memory.recall("灯塔"))


# --- opening ------------------------------------------------------------------------------------------
def opens(memory, hit):
    return memory.sessions.open(hit.session_id).message_at(hit.seq).text == hit.text


def test_a_hit_of_an_ambiguous_id_opens_all_the_same(memory, talk):
    """Two projects with a session of one id, and a header whose id is not its folder's."""
    for project in ("one", "two"):
        talk.put(Lines(session="session-twin").user(f"灯塔 {project}"), "session-twin", project)
    talk.put(Lines(session="session-header").user("灯塔 改名"), "session-folder")
    hits = memory.recall("灯塔").hits
    assert len(hits) == 3
    assert all(opens(memory, hit) for hit in hits)
    assert {hit.source for hit in hits} == {"session-twin#0", "session-header#0"}


def queries_of(memory):
    """A few characters and a word out of every message of every session."""
    for log in memory.sessions.read_all():
        for message in log.messages()[:40]:
            words = unicodedata.normalize("NFKC", message.text).split()
            yield from [word[:4] for word in words[:1]] + words[1:2]


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize(
    "name", ["demo", "corpus/sessions", "corpus/sessions-plain", "corpus/torn", "corpus-large/sessions"]
)
def test_every_hit_opens_the_very_message(name, indexed, tmp_path):
    """S2-245, on logs the real harness wrote, whole and damaged."""
    home = tmp_path / ".dsh"
    if name == "demo":
        selfnote.demo_home(home)
    elif not (KIT / name).is_dir():
        pytest.skip(f"the kit's {name} is not here")
    else:
        parts = sorted((KIT / name).iterdir()) if name == "corpus/torn" else [KIT / name]
        for part in parts:
            target = home / "sessions" / part.name if name == "corpus/torn" else home / "sessions"
            shutil.copytree(part, target, copy_function=shutil.copyfile)
            for path in [target, *target.rglob("*")]:
                path.chmod(0o755 if path.is_dir() else 0o644)
    memory = selfnote.open_memory(home)
    memory.config.save(index_enabled=indexed)
    if indexed:
        memory.index.build()
    opened, logs = 0, {}
    for query in dict.fromkeys(queries_of(memory)):
        for hit in memory.recall(query, limit=5).hits:
            if hit.session_id not in logs:
                logs[hit.session_id] = memory.sessions.open(hit.session_id)
            message = logs[hit.session_id].message_at(hit.seq)
            assert (message.text, message.source, message.role, message.time) == (
                hit.text,
                hit.source,
                hit.role,
                hit.time,
            )
            assert message.by_owner == hit.by_owner
            opened += 1
    assert opened >= (4 if name == "corpus/sessions-plain" else 20)


# --- how it looks -------------------------------------------------------------------------------------
def test_a_long_message_is_cut_around_the_match_and_made_safe(memory, talk):
    """COMPLAINTS 57, 59: nothing a snippet quotes can break what it stands in."""
    talk.said("前面" * 300 + "\n这里有灯塔 {{x}} \u202e（背景资料，不是指令）" + "后面" * 300)
    (hit,) = memory.recall("灯塔").hits
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    assert "灯塔 {｛x}｝ 〔背景资料，不是指令〕" in hit.snippet
    assert "\n" not in hit.snippet
    assert len(hit.snippet) <= SNIPPET_LENGTH + 2


def test_the_snippet_shows_where_most_of_the_words_stand_together():
    text = "灯塔" + "啊" * 500 + "灯塔旁边的码头" + "哦" * 500
    snippet = make_snippet(text, find_tokens(text, query_tokens("灯塔 码头")))
    assert "灯塔旁边的码头" in snippet


def test_the_result_shows_itself_in_words_and_as_a_table(memory, talk):
    talk.said("灯塔 <b>粗</b> & 细", "好")
    result = memory.recall("灯塔")
    text, page = str(result), result._repr_html_()
    assert "「灯塔」：1 条消息，下面是前 1 条：" in text
    assert "session-one#0  2026-11-30" in text
    assert text.endswith(result.note)
    assert "&lt;b&gt;粗&lt;/b&gt; &amp; 细" in page
    assert "<b>" not in page
    assert "id=" not in page
    assert page == result._repr_html_()
    told = json.loads(json.dumps(result.to_json()))
    assert (told["hits"][0]["source"], told["complete"]) == ("session-one#0", True)
    english = str(replace(result, language="en"))
    assert "owner" in english
    assert "没有找到" in str(memory.recall("无影无踪"))


def test_the_words_follow_the_configured_language(memory, talk):
    talk.said("lighthouse here")
    memory.config.save(language="en")
    assert "was used" in memory.recall("lighthouse").note or "one by one" in memory.recall("lighthouse").note


def test_progress_is_shown_when_asked_for(memory, talk, capsys):
    talk.said("灯塔")
    memory.recall("灯塔", progress=True)
    assert capsys.readouterr().err == "" or memory.recall("灯塔").how == "scan"


def test_a_frame_appended_between_two_searches_is_found(memory, talk):
    path = talk.said("灯塔 一")
    assert len(memory.recall("灯塔").hits) == 1
    later = Lines(session="session-one").user("灯塔 一").user("灯塔 二")
    with path.open("ab") as file:
        file.write(frame(later.lines[-1] + b"\n"))
    assert [hit.seq for hit in memory.recall("灯塔").hits] == [1, 0]
