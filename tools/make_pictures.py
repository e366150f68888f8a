"""The README's pictures: the audit of the demo memory as a terminal shows it, in both languages."""

from __future__ import annotations

import io
import subprocess
import tempfile
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.terminal_theme import MONOKAI
from rich.text import Text

import selfnote
from selfnote.audit.text_report import render_bill
from selfnote.demo import DEMO_NOW, bundled_home
from selfnote.phrases import REPORT

DOCS = Path(__file__).resolve().parent.parent / "docs"
COMMAND = "make audit"
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: #0c0c0c; color: #d9d9d9 }}
pre {{ margin: 16px 20px; font: 17px/23px 'Noto Sans Mono CJK SC', monospace }}
i, u {{ display: inline-block; width: .5em; height: .72em; background: #97e023 }}
u {{ background: #2e2e2e }}
</style><pre>{body}</pre>"""


def draw(language: str) -> str:
    """The upper part of the audit as an HTML page that fetches nothing."""
    memory = selfnote.open_memory(bundled_home(), read_only=True)
    report = memory.audit(now=DEMO_NOW)
    words = REPORT[language]
    parts: list[RenderableType] = [
        Text(f"$ {COMMAND}", style="bold"),
        Text(),
        *render_bill(report.injection, language),
        Text(words["facts"].format(**report.statuses)),
        Text(words["notes"].format(**report.notes)),
    ]
    console = Console(record=True, width=104, file=io.StringIO(), force_terminal=True, markup=False, highlight=False)
    console.print(Group(*parts))
    body = console.export_html(theme=MONOKAI, inline_styles=True, code_format="{code}")
    # The font draws block characters two columns wide; boxes of one column keep the table straight.
    return PAGE.format(body=body.replace("█", "<i></i>").replace("░", "<u></u>"))


def main() -> None:
    """Write docs/audit.en.png and docs/audit.zh.png; needs Chromium and the Noto CJK fonts."""
    DOCS.mkdir(exist_ok=True)
    for language in ("en", "zh"):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            page.write_text(draw(language), encoding="utf-8")
            command = [
                "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                "--disable-background-networking", "--disable-sync", f"--user-data-dir={folder}/profile",
                "--window-size=940,720", f"--screenshot={DOCS / f'audit.{language}.png'}", page.as_uri(),
            ]  # fmt: skip
            subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - a fixed command on our own page


if __name__ == "__main__":
    main()
