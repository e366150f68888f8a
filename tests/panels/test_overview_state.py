"""The tab 概览: switches, settings, the budget bar, the index and the files (S2-052..064)."""

from __future__ import annotations

import base64
import json
import os
import re
import time
from pathlib import Path

import pytest

import selfnote
from selfnote.config import HEADER_LIMIT, HINT_LIMIT
from selfnote.demo import DEMO_NOW
from selfnote.panels.states import OverviewState
from selfnote.upkeep.transfer import VERSION, encode_package


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


# --- moving to another machine --------------------------------------------------------------------
@pytest.fixture
def package(demo) -> dict:
    return demo.export_package(now=DEMO_NOW)


@pytest.fixture
def fresh(tmp_path: Path) -> selfnote.Memory:
    """The memory of a new machine."""
    return selfnote.open_memory(tmp_path / "new" / ".dsh")


@pytest.fixture(params=["zh", "en"])
def there(request, fresh, clock) -> OverviewState:
    """Its overview, in either language."""
    return OverviewState(fresh, clock=clock, language=request.param)


def test_an_export_is_a_link_that_holds_the_package(state, demo, files_of, package):
    """S2-061, S2-270: nothing is written; the name is of the owner's day."""
    before = files_of(demo.home.root)
    assert state.package_link is None
    assert state.export()
    name, address = state.package_link
    assert name == "selfnote-2026-11-30.json"
    head, coded = address.split(",")
    assert head == "data:application/json;base64"
    assert json.loads(base64.b64decode(coded)) == package
    assert state.message == "装好了，点链接存下来。记忆一变，链接就收回。"
    assert files_of(demo.home.root) == before


def test_a_link_goes_when_the_memory_is_another_one(state, demo):
    assert state.export()
    assert not state.refresh(DEMO_NOW)
    assert state.package_link is not None
    demo.notes.add("我改完先跑一遍测试", now=DEMO_NOW)
    assert state.refresh(DEMO_NOW)
    assert state.package_link is None
    assert state.export()
    assert "我改完先跑一遍测试" in base64.b64decode(state.package_link.address.split(",")[1]).decode()


def test_an_export_holds_what_was_written_since_the_panel_looked(state, demo):
    demo.notes.add("我改完先跑一遍测试", now=DEMO_NOW)
    assert state.export()
    assert "我改完先跑一遍测试" in base64.b64decode(state.package_link.address.split(",")[1]).decode()


def test_an_export_that_cannot_be_made_is_told_and_leaves_no_link(state, demo):
    assert state.export()
    demo.home.facts.unlink()
    demo.home.facts.mkdir()
    assert not state.export()
    assert state.error.kind == "disk"
    assert state.package_link is None


def coming(package: dict, memory: selfnote.Memory) -> list[str]:
    """The facts approved in a package that a memory has not yet, by the core."""
    came = {row.id for row in memory.import_package(package, dry_run=True, now=DEMO_NOW).rows if row.action == "add"}
    return [one["id"] for one in package["facts"] if one["status"] == "approved" and one["id"] in came]


def test_choosing_a_package_shows_every_thing_of_it_and_writes_nothing(there, fresh, files_of, package):
    """S2-061, S2-274."""
    before = files_of(fresh.home.root.parent)
    assert there.choose("old.json", encode_package(package).encode())
    report = fresh.import_package(package, dry_run=True, now=DEMO_NOW)
    assert files_of(fresh.home.root.parent) == before
    assert there.chosen == "old.json"
    assert there.plan.sources == report.rows
    assert there.plan.count > 150
    assert len(there.plan.rows) == 20
    assert there.plan_told == report.describe(there.language)
    assert "old.json" in there.message
    facts = sum((row.kind, row.action) == ("fact", "add") for row in report.rows)
    assert f"{there.words['package fact']} {there.words['action add']} {facts}" in there.plan_counts.split(" · ")


def test_what_was_approved_comes_as_a_candidate_unless_its_status_is_kept(there, fresh, package):
    """S2-275: the plan says which before anything is written."""
    there.choose("old.json", encode_package(package).encode())
    lowered = [row.id for row in there.plan.sources if row.why == "downgraded"]
    assert lowered == coming(package, fresh)
    assert len(lowered) > 80
    there.plan.show(3)
    shown = {row.id: row.why for row in there.plan.rows}
    assert {one for one, why in shown.items() if why == there.words["why downgraded"]} == set(lowered) & set(shown)
    assert set(lowered) & set(shown)
    assert there.keep(on=True)
    assert not [row for row in there.plan.sources if row.why == "downgraded"]
    assert there.keep(on=False)
    assert there.import_chosen()
    assert "approved" not in {fact.status for fact in fresh.facts.all()}
    assert {fresh.facts.get(one).status for one in lowered} == {"candidate"}


def test_a_tick_before_the_choice_counts(there, fresh, package):
    """S2-275; the tick goes with the import it was made for."""
    there.keep(on=True)
    there.choose("old.json", encode_package(package).encode())
    approved = coming(package, fresh)
    assert there.import_chosen()
    assert [fact.id for fact in fresh.facts.all() if fact.status == "approved"] == approved
    assert there.kept is False


def test_an_import_brings_in_all_of_it_and_tells_so(there, fresh, package):
    """S2-270, S2-271: afterwards there is no plan any more, and the same package has nothing to add."""
    there.choose("old.json", encode_package(package).encode())
    told = fresh.import_package(package, dry_run=True, now=DEMO_NOW)
    assert there.import_chosen()
    assert sorted(note.text for note in fresh.notes.list()) == sorted(one["text"] for one in package["notes"])
    assert fresh.persona.load().l1 == package["persona"]["l1"]
    assert str(sum(row.kind == "fact" and row.action == "add" for row in told.rows)) in there.message
    assert (there.chosen, there.plan.count, there.plan_told, there.plan_counts) == ("", 0, "", "")
    assert there.acted == 1
    assert there.why_disabled("import_chosen") == there.words["why no package"]
    there.choose("old.json", encode_package(package).encode())
    assert {row.action for row in there.plan.sources} == {"skip"}
    assert there.why_disabled("import_chosen") == there.words["why nothing to import"]


def test_an_import_is_off_until_there_is_something_to_add(state, there, package):
    """COMPLAINTS 66."""
    assert there.why_disabled("import_chosen") == there.words["why no package"]
    assert not there.import_chosen()
    there.choose("old.json", encode_package(package).encode())
    assert there.why_disabled("import_chosen") == ""
    there.keep(on=True)
    there.put_away()
    assert there.why_disabled("import_chosen") == there.words["why no package"]
    assert (there.chosen, there.kept, there.plan.count, there.message) == ("", False, 0, "")
    state.choose("own.json", encode_package(package).encode())
    assert state.why_disabled("import_chosen") == "这份包里没有可加的。"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\xff\xfe not a package", "corrupt"),
        (b"", "corrupt"),
        (b"[1, 2]", "corrupt"),
        (b'{"kind": "another program", "version": 1}', "corrupt"),
        (b'{"kind": "selfnote", "version": 2, "facts": "none"}', "corrupt"),
        (json.dumps({"kind": "selfnote", "version": VERSION + 1, "notes": ["我"]}).encode(), "limit"),
    ],
)
def test_a_file_that_is_no_package_or_a_newer_one_is_refused_whole(state, demo, files_of, data, kind):
    """S2-276: also a package that was chosen before is not there any more, as the owner chose another file."""
    before = files_of(demo.home.root)
    state.choose("own.json", encode_package({"kind": "selfnote", "version": 1, "notes": ["我先问清楚"]}).encode())
    assert state.why_disabled("import_chosen") == ""
    assert not state.choose("other.json", data)
    assert state.error.kind == kind
    assert re.search("[\u4e00-\u9fff]", state.error.detail)
    assert (state.chosen, state.plan.count) == ("", 0)
    assert state.why_disabled("import_chosen") == "还没有选一份读得懂的包。"
    assert not state.import_chosen()
    assert files_of(demo.home.root) == before


def test_a_plan_follows_the_memory(there, fresh, package):
    there.choose("old.json", encode_package(package).encode())
    note = package["notes"][0]
    fresh.notes.add(note["text"], tier=note["tier"], now=DEMO_NOW)
    assert there.refresh(DEMO_NOW)
    assert next(row.action for row in there.plan.sources if row.text == note["text"]) == "skip"
    assert there.chosen == "old.json"


def test_another_persona_is_put_beside_the_one_that_is_here(there, fresh, package):
    """S2-277."""
    fresh.persona.save(l0="另一个人", now=DEMO_NOW)
    there.choose("old.json", encode_package(package).encode())
    there.plan.show(99)
    row = there.plan.rows[-1]
    assert (row.action, row.why) == (there.words["action aside"], there.words["why another persona"])
    assert there.import_chosen()
    assert fresh.persona.load().l0 == "另一个人"
    (aside,) = fresh.home.persona.parent.glob("persona.imported-*.md")
    assert package["persona"]["l0"] in aside.read_text(encoding="utf-8")
    assert aside.name in there.message


def test_a_memory_opened_to_look_is_exported_and_imports_nothing(demo, clock, files_of):
    before = files_of(demo.home.root)
    state = OverviewState(selfnote.open_memory(demo.home.root, read_only=True), clock=clock)
    assert state.export()
    assert state.package_link is not None
    assert state.choose(
        "new.json", encode_package({"kind": "selfnote", "version": 1, "notes": ["我先问清楚"]}).encode()
    )
    assert state.why_disabled("import_chosen") == "只读打开，不能改。"
    assert not state.import_chosen()
    assert state.error.kind == "read only"
    assert state.plan.count == 1
    assert files_of(demo.home.root) == before
