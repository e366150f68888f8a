"""Live panels on a real event loop: what changes on disk appears, and the task ends with the panel and the kernel."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager

import selfnote
from selfnote import panels
from selfnote.demo import DEMO_NOW
from selfnote.panels import live


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    monkeypatch.setattr(live.Live.__init__, "__defaults__", (0.02,))


async def until(true, within: float = 10.0) -> None:
    async with asyncio.timeout(within):
        while not true():  # noqa: ASYNC110 - what is waited for is a page, which sends no event
            await asyncio.sleep(0.01)


def running() -> list[asyncio.Task]:
    return [task for task in asyncio.all_tasks() if task.get_name() == "selfnote panels"]


def test_an_external_edit_appears_without_a_restart(demo, hand):
    """Issue 6, 3; COMPLAINTS 1: the owner's editor is a first-class client."""

    async def watch() -> None:
        owner = hand(panels.open(demo, live=True, now=DEMO_NOW))
        owner.view.states.tab = "notes"
        with demo.home.notes.open("a", encoding="utf-8") as stream:
            stream.write("- 2026-11-30 [稳定] 我在编辑器里加了这条\n")
        await until(lambda: "我在编辑器里加了这条" in owner.read("sn-list-notes"))
        assert owner.find("sn-tabs").titles[1] == "自述 48 条"
        assert "跟着变" in owner.view._told.value

    asyncio.run(watch())


def test_what_one_panel_decides_another_shows(demo, hand):
    async def watch() -> None:
        one = hand(panels.memory(demo, live=True, now=DEMO_NOW))
        other = hand(panels.memory(selfnote.open_memory(demo.home.root), live=True, now=DEMO_NOW))
        identifier = one.view.state.cards.rows[0].id
        one.click(f"sn-approve-{identifier}")
        await until(lambda: not other.all(f"sn-card-{identifier}"))
        assert other.view.state.error is None

    asyncio.run(watch())


def test_a_draft_outlives_what_changes_beneath_it(demo, hand):
    """The second gets the conflict and keeps its draft."""

    async def watch() -> None:
        owner = hand(panels.persona(demo, live=True, now=DEMO_NOW))
        owner.put("sn-field-l0", "我写到一半")
        demo.persona.save(l0="别处存的", now=DEMO_NOW)
        await until(lambda: owner.all("sn-elsewhere-l0"))
        assert owner.find("sn-field-l0").value == "我写到一半"
        owner.click("sn-save-persona")
        assert demo.persona.load().l0 == "别处存的"
        assert 'role="alert"' in owner.read("sn-notice")

    asyncio.run(watch())


def test_the_task_ends_with_the_panel(demo):
    async def watch() -> None:
        views = [panels.open(demo, live=True, now=DEMO_NOW), panels.notes(demo, live=True, now=DEMO_NOW)]
        assert len(running()) == 2
        for view in views:
            view.close()
        await until(lambda: not running())

    asyncio.run(watch())


def test_a_look_that_fails_does_not_end_all_looks(caplog):
    seen = []

    def look() -> None:
        seen.append(1)
        if len(seen) == 1:
            raise ValueError("what a file holds may be anything")

    async def watch() -> None:
        looking = live.Live(look, 0.01)
        await until(lambda: len(seen) > 2)
        looking.stop()

    asyncio.run(watch())
    assert "the panels could not be refreshed" in caplog.text


def test_without_an_event_loop_it_says_so_and_refreshes_when_asked(demo, hand):
    owner = hand(panels.open(demo, live=True, now=DEMO_NOW))
    assert not owner.view.live
    assert "不会自己跟着变" in owner.view._told.value
    demo.notes.add("我在别处写的", now=DEMO_NOW)
    owner.click("sn-refresh")
    assert owner.find("sn-tabs").titles[1] == "自述 48 条"


def test_looking_writes_nothing(demo, hand, files_of):
    before = files_of(demo.home.root)

    async def watch() -> None:
        owner = hand(panels.open(demo, live=True, now=DEMO_NOW))
        await asyncio.sleep(0.3)
        assert owner.view.live

    asyncio.run(watch())
    assert files_of(demo.home.root) == before


def test_a_kernel_ends_without_a_word_about_a_lost_task(demo, tmp_path):
    """In a real kernel: the task is ended with it."""
    errors = tmp_path / "stderr"
    manager = KernelManager(kernel_name="python3")
    manager.kernel_spec.argv[0] = sys.executable
    with errors.open("wb") as stderr:
        manager.start_kernel(stderr=stderr, cwd=str(Path(selfnote.__file__).parent.parent))
        client = manager.client()
        client.start_channels()
        client.wait_for_ready(timeout=60)
        code = (
            "import selfnote, selfnote.panels\n"
            f"view = selfnote.panels.open(selfnote.open_memory({str(demo.home.root)!r}), live=True)\n"
            "assert view.live"
        )
        reply = client.execute(code, reply=True, timeout=60)
        assert reply["content"]["status"] == "ok", reply["content"]
        time.sleep(0.2)
        client.stop_channels()
        manager.shutdown_kernel()
    told = errors.read_text(encoding="utf-8")
    assert "Task" not in told
    assert "Traceback" not in told
