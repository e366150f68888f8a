"""The README's pictures of the panels: each tab over the demo memory, in both languages, as Chromium shows it."""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "browser"))

from served_page import CHROMIUM, FLAGS, Served, watch

from selfnote.panels.states import TABS

DOCS = Path(__file__).resolve().parent.parent / "docs"
WINDOW = {"width": 1060, "height": 760}
#: Colours are few on these pages; a palette makes the files a third as large.
COLOURS = 96
#: Milliseconds for what a tab works out once it is shown.
PAUSE = 1500


def take(browser: Browser, language: str, folder: Path) -> None:
    """Every tab in one language."""
    served = Served(folder, "panel", "--demo", "--lang", language)
    complaints: list[str] = []
    try:
        page = browser.new_page(viewport=WINDOW)
        watch(page, served.origin, complaints)
        page.goto(served.address, wait_until="commit")
        page.locator(".sn-panels").wait_for()
        for place, tab in enumerate(TABS):
            page.get_by_role("tab").nth(place).click()
            page.locator(f".sn-panel.sn-{tab}").wait_for()
            page.wait_for_timeout(PAUSE)
            path = DOCS / f"panel-{tab}.{language}.png"
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
            print(path, path.stat().st_size)
        page.close()
    finally:
        served.end()
    assert not complaints, complaints


def main() -> None:
    """Write docs/panel-<tab>.<language>.png; needs Chromium, the Noto CJK fonts, and the group `browser`."""
    DOCS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for language in ("en", "zh"):
            take(browser, language, Path(folder) / language)
        browser.close()


if __name__ == "__main__":
    main()
