"""The tab 概览: switches, settings, the budget bar, the index and the files (S2-052..064)."""

from __future__ import annotations

import json
import os
import time

import pytest

from selfnote.config import HEADER_LIMIT, HINT_LIMIT
from selfnote.demo import DEMO_NOW
from selfnote.panels.states import OverviewState


@pytest.fixture
def state(demo, clock) -> OverviewState:
    return OverviewState(demo, clock=clock)


def stored(demo) -> dict:
    return json.loads(demo.home.config.read_text())


def test_the_injection_is_switched_off_and_on(state, demo):
    """S2-052."""
    assert state.switch("injection_enabled", on=False)
    assert stored(demo)["injectionEnabled"] is False
    assert next(one for one in state.switches if one.name == "injection_enabled").on is False
    assert state.message == "「注入」已关闭，下一回合起生效。"
    assert state.switch("injection_enabled", on=True)
    assert demo.assemble(now=DEMO_NOW).text


def test_a_changed_header_becomes_the_first_line(state, demo):
    """S2-053."""
    state.write("header", "阿砚记得的")
    assert state.count("header") == (5, HEADER_LIMIT)
    assert state.save("header")
    assert demo.assemble(now=DEMO_NOW).text.splitlines()[0] == "阿砚记得的"
    state.write("header", "")
    assert state.save("header")
    assert demo.assemble(now=DEMO_NOW).text.startswith("以下是你自己的样子")


@pytest.mark.parametrize(
    ("name", "text", "limit"),
    [
        ("header", "长" * (HEADER_LIMIT + 1), "24"),
        ("timing_hint", "长" * (HINT_LIMIT + 1), "80"),
        ("temp_ttl_days", "91", "90"),
        ("temp_ttl_days", "0", "1"),
        ("max_chars", "很多", "整数"),
        ("max_items", "-1", "1"),
    ],
)
def test_a_value_outside_its_limit_is_refused_and_stays_in_the_field(state, demo, name, text, limit):
    """S2-053..055, S2-059."""
    before = demo.home.config.read_bytes()
    state.write(name, text)
    assert not state.save(name)
    assert state.error.kind == "limit"
    assert limit in state.error.detail
    assert state.text_of(name) == text
    assert demo.home.config.read_bytes() == before


def test_numbers_are_saved_as_numbers(state, demo):
    """S2-054, S2-055."""
    for name, text in (("temp_ttl_days", "21"), ("max_chars", "9000"), ("max_items", "150")):
        state.write(name, text)
        assert state.save(name)
    found = stored(demo)
    assert (found["tempTtlDays"], found["maxChars"], found["maxItems"]) == (21, 9000, 150)
    assert {one.name: (one.low, one.high) for one in state.settings}["temp_ttl_days"] == (1, 90)


def test_a_setting_changed_elsewhere_keeps_the_draft(state, demo, clock):
    """COMPLAINTS 4."""
    other = OverviewState(demo, clock=clock)
    state.write("timing_hint", "他皱眉的时候")
    other.write("timing_hint", "他叹气的时候")
    assert other.save("timing_hint")
    assert not state.save("timing_hint")
    assert state.error.kind == "conflict"
    draft = state.drafts["timing_hint"]
    assert (draft.text, draft.elsewhere, draft.stored) == ("他皱眉的时候", True, "他叹气的时候")
    assert not state.save("timing_hint"), "a second click overwrites nothing either"
    state.overwrite("timing_hint")
    assert state.save("timing_hint")
    assert demo.config.load().timing_hint == "他皱眉的时候"


def test_a_change_of_another_setting_costs_one_more_click(state, demo):
    state.write("header", "新抬头")
    demo.config.save(temp_ttl_days=30)
    assert not state.save("header")
    assert not state.drafts["header"].elsewhere
    assert state.save("header")
    assert (demo.config.load().header, demo.config.load().temp_ttl_days) == ("新抬头", 30)


def test_the_budget_bar_is_the_bill_of_this_turn(state, demo):
    """S2-056."""
    injection = demo.assemble(now=DEMO_NOW)
    assert [bar.segment for bar in state.bars] == ["persona", "notes", "profile", "env", "conclusions", "habits"]
    assert [bar.label for bar in state.bars] == ["人格", "自述", "画像", "环境", "结论", "习惯"]
    for bar in state.bars:
        segment = injection.segments[bar.segment]
        assert (bar.used, bar.budget) == (segment.used, segment.budget)
        assert (bar.entries, bar.squeezed) == (len(segment.entries), len(segment.squeezed))
    assert (state.used, state.total) == (injection.total_chars, 1000)
    assert f"全文 {len(injection.text)} 字" in state.bill


def test_the_index_card_tells_seven_things_and_rebuilds(state, demo):
    """S2-057, S2-051."""
    assert state.index_state == "absent"
    assert [label for label, _ in state.index_rows] == [
        "状态", "已索引会话", "磁盘会话", "待同步", "消息条数", "索引大小", "上次建立",
    ]  # fmt: skip
    assert state.rebuild_index()
    assert state.index_state == "ok"
    assert state.message == demo.index.build(now=DEMO_NOW).note.replace("索引已更新", "索引已重建").replace(
        "新增 0 条", f"{demo.index.status(now=DEMO_NOW).records} 条"
    )


def test_the_files_card_lists_the_registry_and_no_session(state, demo):
    """S2-058, S2-062..064."""
    rows = {row.key: row for row in state.files}
    assert list(rows) == [one.key for one in demo.home.files()]
    assert not any(row.path.startswith(str(demo.home.sessions)) for row in state.files)
    assert rows["facts"].summary == "待审 15，已采纳 83，已退役 16"
    assert rows["notes"].summary == "47 条"
    assert rows["facts"].size == demo.home.facts.stat().st_size
    assert (rows["index"].exists, rows["index"].summary) == (False, "还没生成")
    assert rows["index"].folder == str(demo.home.memory)


def test_opening_a_file_hands_its_folder_to_the_file_manager(state, demo, tmp_path, monkeypatch):
    """S2-062, S2-063: a real program is started, with a folder and nothing else."""
    told = tmp_path / "told"
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    manager = bin_ / "xdg-open"
    manager.write_text(f'#!/bin/sh\nprintf "%s|%s" "$#" "$1" > "{told}.new"; mv "{told}.new" "{told}"\n')
    manager.chmod(0o755)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("PATH", f"{bin_}{os.pathsep}{os.environ['PATH']}")
    assert state.reveal("index")
    for _ in range(100):
        if told.exists():
            break
        time.sleep(0.05)
    assert told.read_text() == f"1|{demo.home.memory}"


def test_without_a_file_manager_the_button_says_so(demo, clock, monkeypatch, tmp_path):
    """COMPLAINTS 66."""
    monkeypatch.setenv("PATH", str(tmp_path))
    state = OverviewState(demo, clock=clock)
    assert state.why_disabled("reveal") == "这台机器没有文件管理器可用；路径可以复制。"
    assert not state.reveal("notes")
    assert state.error.kind == "not found"


def test_every_field_says_why_it_cannot_be_saved(state):
    assert state.why_disabled("save header") == "没有改动。"
    state.write("header", "新")
    assert state.why_disabled("save header") == ""
    state.discard("header")
    assert state.why_disabled("save header") == "没有改动。"
