"""The real page in a real browser: each test has its own memory and server, and what a page fetched elsewhere fails it."""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

import selfnote

sys.path.insert(0, str(Path(__file__).parent))

from served_page import CHROMIUM, FLAGS, PATIENCE, TIMES, Served, mark_paint, measure, note_paint, take_picture, watch

REPOSITORY = Path(__file__).resolve().parent.parent.parent
#: Where every picture a test takes is left.
PICTURES = Path(os.environ.get("SELFNOTE_PICTURES") or REPOSITORY / "build" / "browser")


#: What is on a page that shows the panels.
PANELS = ".sn-panels"


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start a verb that serves; whatever a test does, all of it is gone after it."""
    started: list[Served] = []

    def start(verb: str = "panel", *arguments: str, **variables: str) -> Served:
        started.append(Served(tmp_path / f"served-{len(started)}", verb, *arguments, **variables))
        return started[-1]

    yield start
    for one in started:
        one.end()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A copy of the demo memory."""
    return selfnote.demo_home(tmp_path / ".dsh")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine; install it (Debian: apt-get install chromium fonts-noto-cjk)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the pages of a test fetched from elsewhere, and what they complained of."""
    return []


@pytest.fixture
def visit(chromium: Browser, complaints: list[str]) -> Iterator[Callable[..., Page]]:
    """Open a served address as a browser that was never there; a request to another host or a complaint fails."""
    contexts: list[BrowserContext] = []

    def go(served: Served, until: str = PANELS, label: str = "address to panels") -> Page:
        context = chromium.new_context(viewport={"width": 1180, "height": 900}, locale="zh-CN")
        contexts.append(context)
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        watch(page, served.origin, complaints)
        mark_paint(page, until)
        with measure(label):
            page.goto(served.address, wait_until="commit")
            page.locator(until).first.wait_for()
        if until == PANELS:
            note_paint(page, label.replace("address", "kernel ready"))
        return page

    yield go
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def picture() -> Callable[[Page, str], None]:
    """Leave a picture of a whole page."""

    return lambda page, name: take_picture(page, PICTURES / f"{name}.png")


def pytest_report_header() -> str:
    return f"selfnote {selfnote.__version__} from {Path(selfnote.__file__).parent}; chromium {CHROMIUM}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for label, found in TIMES.items():
        terminalreporter.write_line(
            f"{label}: median {statistics.median(found):.2f} s, longest {max(found):.2f} s ({len(found)} times)"
        )
