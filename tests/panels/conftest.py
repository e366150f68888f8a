"""What the tests of the panels share: a demo memory at its own instant, locks another process holds, an owner's hand."""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

import selfnote
from selfnote.demo import DEMO_NOW
from selfnote.times import format_instant

_HOLD = (
    "import sys; from pathlib import Path; from selfnote.storage.locks import hold\n"
    "with hold(Path(sys.argv[1])):\n    print('held', flush=True); sys.stdin.read()"
)


def files_of(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below ``root`` with its bytes and the time it was last written, lock files too."""
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(name="files_of")
def _files_of():
    return files_of


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """An owner who lets a second pass between two clicks, without the tests waiting for it."""
    monkeypatch.setattr("selfnote.panels.states.base.monotonic", itertools.count(0.0, 1.0).__next__)


@pytest.fixture
def demo(tmp_path: Path) -> selfnote.Memory:
    """A writable copy of the demo memory, its files as old as its last day: a fresh clone's are of today."""
    home = selfnote.demo_home(tmp_path / "demo" / ".dsh")
    written = (DEMO_NOW - timedelta(hours=14, minutes=39)).timestamp()
    for path in home.rglob("*"):
        if path.is_file():
            os.utime(path, (written, written))
    return selfnote.open_memory(home)


@pytest.fixture
def clock():
    """The instant the demo memory was left at."""
    return lambda: DEMO_NOW


@pytest.fixture
def held(monkeypatch):
    """Another process holds a lock: ``with held(path, "records.notes"):``; that module's writers wait 0.2 s."""

    @contextlib.contextmanager
    def hold(lock: Path, room: str):
        module = importlib.import_module(f"selfnote.{room}")
        with (
            subprocess.Popen(
                [sys.executable, "-c", _HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ) as other,
            monkeypatch.context() as patched,
        ):
            assert other.stdout.readline() == "held\n"
            patched.setattr(module, "hold", functools.partial(module.hold, wait=0.2))
            try:
                yield
            finally:
                other.stdin.close()
                other.wait(10)

    return hold


# --- views ----------------------------------------------------------------------------------------
def walk(widget):
    """A widget and all that is shown in it, from top to bottom; what is hidden is left out."""
    if "sn-hidden" in getattr(widget, "_dom_classes", ()):
        return
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)


class Hand:
    """What an owner has: he sees widgets by their class, clicks, types and chooses as a page sends it."""

    def __init__(self, view) -> None:
        self.view = view

    def everything(self) -> list:
        return list(walk(self.view))

    def all(self, css: str) -> list:
        return [one for one in walk(self.view) if css in getattr(one, "_dom_classes", ())]

    def find(self, css: str):
        (found,) = self.all(css)
        return found

    def click(self, css: str) -> None:
        button = self.find(css)
        assert not button.disabled, f"{css} is disabled: {button.tooltip}"
        button._handle_custom_msg({"event": "click"}, [])

    def put(self, css: str, value) -> None:
        """A value typed, ticked or moved to; of a choice, the value behind its label."""
        field = self.find(css)
        assert not field.disabled, f"{css} is disabled"
        if hasattr(field, "index"):
            field.set_state({"index": [one for _, one in field.options].index(value)})
        else:
            field.set_state({"value": value})

    def read(self, css: str) -> str:
        """The words of a widget, and of all in it."""
        return "\n".join(
            str(text)
            for one in walk(self.find(css))
            for text in (getattr(one, "value", ""), getattr(one, "description", ""))
            if text
        )


@pytest.fixture
def hand(caplog):
    """Take a view in hand; what a handler raised fails the test, and closing the view frees every widget."""
    from ipywidgets.widgets import widget

    views, before = [], set(widget._instances)

    def take(view) -> Hand:
        views.append(view)
        return Hand(view)

    yield take
    for view in views:
        view.close()
    assert [one.getMessage() for one in caplog.records if "callback" in one.getMessage()] == []
    assert set(widget._instances) == before


@pytest.fixture
def large(tmp_path: Path) -> selfnote.Memory:
    """The demo memory with 2,000 approved facts and 300 candidates more."""

    def fact(number: int, status: str, **more: object) -> str:
        at = format_instant(DEMO_NOW - timedelta(minutes=37 * number))
        line = {
            "id": f"f-{status[0]}{number:05d}", "channel": "rel" if number % 3 else "env", "status": status,
            "tags": [f"标签{number % 17}"] if number % 2 else [], "source": f"s{number % 50}#{number}",
            "captureSource": "listener", "importance": 1, "occurrences": 1 + number % 4, "createdAt": at, **more,
        }  # fmt: skip
        return json.dumps(line, ensure_ascii=False)

    memory = selfnote.open_memory(selfnote.demo_home(tmp_path / "large" / ".dsh"))
    approved = [
        fact(
            n, "approved", text=f"第{n}条事实，说的是编号{n * 7 % 9973}的事", hitCount=n % 9,
            approvedAt=format_instant(DEMO_NOW - timedelta(minutes=37 * n)),
        )
        for n in range(2000)
    ]  # fmt: skip
    sayings = ("先写结论", "不要表格", "注释用中文", "提交前跑测试", "文件名用小写", "端口写进配置")
    waiting = [
        fact(n, "candidate", text=f"第{n % 50}类报告{sayings[n % 6]}再交给我看", reason="convention")
        for n in range(300)
    ]
    with memory.home.facts.open("a", encoding="utf-8") as stream:
        stream.write("\n".join([*approved, *waiting]) + "\n")
    return memory
