"""The README's pictures, in both languages: the audit as a terminal shows it, and three questions answered."""

from __future__ import annotations

import io
import subprocess
import tempfile
from pathlib import Path

import matplotlib as mpl
from rich.console import Console, Group, RenderableType
from rich.terminal_theme import MONOKAI
from rich.text import Text

import selfnote
from selfnote.audit import decay, plots, silence, squeeze
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


def draw_answers(language: str) -> None:
    """UC-003..005: the three figures of the README's three questions."""
    memory = selfnote.open_memory(bundled_home(), read_only=True)
    names = memory.frames.facts().set_index("id")["text"].to_dict()
    told = {"language": language, "tz": "Asia/Shanghai"}
    figures = {
        "decay": plots.decay(decay.curves(memory, now=DEMO_NOW), names=names, **told),
        "silence": plots.silence(silence.by_cause(memory, now=DEMO_NOW), **told),
        "squeeze": plots.squeeze(squeeze.squeezed(memory, now=DEMO_NOW), now=DEMO_NOW, **told),
    }
    for name, axes in figures.items():
        axes.figure.savefig(DOCS / f"{name}.{language}.png", dpi=90)


def main() -> None:
    """Write the pictures into docs/; needs Chromium and the Noto CJK fonts."""
    mpl.use("agg")
    DOCS.mkdir(exist_ok=True)
    for language in ("en", "zh"):
        draw_answers(language)
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
