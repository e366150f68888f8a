"""The audit as text: budget bars and tables, in the owner's language, width-aware for Chinese."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from datetime import tzinfo

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from selfnote.audit import sheets
from selfnote.audit.audited import Audited, SessionRow
from selfnote.audit.sheets import STATE_TONES, Cell, Column, Sheet, Tone
from selfnote.audit.token_counts import TokenCounts
from selfnote.injection.assemble import Injection
from selfnote.phrases import ATTRIBUTION_LABELS, REPORT
from selfnote.records.corrections import Correction
from selfnote.records.fact_lines import Fact
from selfnote.records.notes import PIN, TIER_LABELS, Note

_BAR = 30
#: Rows of a table in the text; HTML, CSV and JSON have more.
ROWS = 12
_STYLES: dict[Tone, str] = {
    "": "",
    "good": "green",
    "warn": "yellow",
    "bad": "red",
    "info": "cyan",
    "dim": "dim",
}


def render_text(audited: Audited, *, width: int = 110, language: str | None = None) -> str:
    """The report as plain text without colours, ``width`` columns wide."""
    return print_plain(render(audited, language=language), width=width)


def print_plain(what: RenderableType, *, width: int = 110) -> str:
    """What a terminal of ``width`` columns would show, without colours."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, no_color=True, force_terminal=False, highlight=False, markup=False)
    console.print(what)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def render(audited: Audited, *, language: str | None = None) -> RenderableType:
    """The report for a terminal; ``language`` None takes the memory's."""
    tongue = language or audited.config.language
    words = REPORT[tongue]
    parts: list[RenderableType] = [
        say(words["title"].format(home=audited.home.root), "bold"),
        Text(words["as_of"].format(now=sheets.format_when(audited.now, audited.zone)), style="dim"),
        Text(),
    ]
    if not audited.has_memory:
        parts.append(Text(words["no_memory"].format(home=audited.home.root)))
    else:
        parts += [
            *render_bill(audited.injection, tongue, audited.tokens),
            Text(words["facts"].format(**audited.statuses)),
            Text(words["notes"].format(**audited.notes)),
            Text(),
            *_attribution(audited, tongue),
            *_table_with_rest(sheets.conflict_sheet(audited, tongue), words),
            *_table_with_rest(sheets.candidate_sheet(audited.candidates, tongue), words),
        ]
    parts += [*_sessions(audited, tongue), *_findings(audited, tongue), Text(words["read_only"], style="dim")]
    return Group(*parts)


def render_bill(injection: Injection, language: str, tokens: TokenCounts | None = None) -> list[RenderableType]:
    """Budget bars of the six segments, the sum, and what was squeezed out."""
    sentences = [Text(one) for one in sheets.bill_sentences(injection, language, tokens)]
    if injection.reason in {"off", "delegated"}:
        return [*(Text(one.plain, style="bold yellow") for one in sentences), Text()]
    bill = draw(sheets.bill_sheet(injection, language, tokens))
    return [
        bill,
        *sentences,
        Text(),
        *_table_with_rest(sheets.squeezed_sheet(injection, language), REPORT[language]),
    ]


def _attribution(audited: Audited, language: str) -> list[RenderableType]:
    words, labels = REPORT[language], ATTRIBUTION_LABELS[language]
    if not audited.attribution:
        return []
    summary = Text(words["attribution"].format(n=len(audited.attribution)), style="bold")
    for state, count in audited.states.items():
        summary.append(f"   {labels[state]} {count}", style=_STYLES[STATE_TONES[state]])
    return [summary, Text(), *_table_with_rest(sheets.quiet_sheet(audited, language), words)]


def candidate_table(waiting: Sequence[Fact], language: str, *, limit: int | None = ROWS) -> Table:
    """The candidates that wait, at most ``limit`` of them."""
    return draw(sheets.candidate_sheet(waiting, language), limit=limit)


def correction_table(
    items: Iterable[Correction], repeated: set[str], language: str, zone: tzinfo | None = None
) -> Table:
    """Corrections with their time, source and state; what was said at least twice carries a mark."""
    words = REPORT[language]
    rows = []
    for one in items:
        said = one.said(zone)
        text = f"{words['twice']}{one.text}" if one.id in repeated else one.text
        rows.append(
            (
                Cell(one.id),
                Cell(sheets.format_minute(said, zone) if said else ""),
                Cell(f"{one.status} ({one.signal})"),
                Cell(one.source),
                Cell(text, "bad" if one.id in repeated else ""),
            )
        )
    columns = (
        Column(words["id"]),
        Column(words["date"]),
        Column(words["state"]),
        Column(words["source"], "long", 26),
        Column(words["text"], "text"),
    )
    return draw(Sheet(words["corrections_title"], columns, tuple(rows)), limit=None)


def note_table(rows: Iterable[tuple[Note, bool]], language: str) -> Table:
    """The notes in file order; each with whether it has expired."""
    words = REPORT[language]
    shown = []
    for note, expired in rows:
        tier = TIER_LABELS[note.tier] if language == "zh" else note.tier
        badge = words["expired"] if expired else words["material"] if note.tier == "core" else ""
        mark = PIN if note.pinned else ""
        day = note.on.isoformat() if note.on else ""
        shown.append((Cell(note.id), Cell(f"{tier}{mark}"), Cell(day), Cell(f"{badge}{note.text}")))
    columns = (Column(words["id"]), Column(words["tier"]), Column(words["date"]), Column(words["text"], "text"))
    return draw(Sheet(words["notes_title"], columns, tuple(shown)), limit=None)


def _sessions(audited: Audited, language: str) -> list[RenderableType]:
    if not audited.sessions:
        return [Text(REPORT[language]["sessions_none"]), Text()]
    return [session_table(audited.sessions, language, audited.zone), Text()]


def session_table(rows: Iterable[SessionRow], language: str, zone: tzinfo | None = None) -> Table:
    """The sessions table: what each log holds, the latest last."""
    return draw(sheets.session_sheet(rows, language, zone), limit=None)


def _findings(audited: Audited, language: str) -> list[RenderableType]:
    words = REPORT[language]
    if not audited.findings:
        return [Text(words["findings_none"], style="green"), Text()]
    lines: list[RenderableType] = [Text(words["findings"].format(n=len(audited.findings)), style="bold yellow")]
    lines += [say(f"  - {one.sentence(language)}") for one in audited.findings[: ROWS * 2]]
    hidden = len(audited.findings) - ROWS * 2
    return [*lines, *([Text("  " + words["more"].format(n=hidden))] if hidden > 0 else []), Text()]


# --- tables ---------------------------------------------------------------------------------------
def say(text: str, style: str = "") -> Text:
    """Words for a terminal; what could steer it stands as its number."""
    if not text.isprintable():
        text = "".join(f"‹U+{ord(char):04X}›" if sheets.hides(char) else char for char in text)
    return Text(text, style=style)


def draw(sheet: Sheet, *, limit: int | None = ROWS) -> Table:
    """A table for a terminal, its first ``limit`` rows; a sentence that does not fit ends in an ellipsis."""
    wide = any(column.kind == "text" for column in sheet.columns)
    table = Table(title=sheet.caption, title_justify="left", title_style="bold", box=None, pad_edge=False, expand=wide)
    for column in sheet.columns:
        if column.kind == "text":
            table.add_column(column.heading, no_wrap=True, overflow="ellipsis", ratio=1)
        elif column.kind == "long":
            table.add_column(column.heading, no_wrap=True, overflow="ellipsis", max_width=column.width)
        else:
            table.add_column(column.heading, justify="right" if column.kind == "number" else "left", no_wrap=True)
    for row in sheet.rows[:limit]:
        table.add_row(*(_draw_cell(column, cell) for column, cell in zip(sheet.columns, row, strict=True)))
    return table


def _draw_cell(column: Column, cell: Cell) -> Text:
    if column.kind != "bar":
        return say(cell.text, _STYLES[cell.tone])
    filled = max(1, round(_BAR * cell.share)) if cell.share else 0
    return Text("█" * filled, style="green").append("░" * (_BAR - filled), style="dim")


def _table_with_rest(sheet: Sheet, words: dict[str, str]) -> list[RenderableType]:
    """The table, how many rows it does not show, and a blank line; nothing when it has no rows."""
    if not sheet.rows:
        return []
    rest = len(sheet.rows) - ROWS
    more = [Text(words["more"].format(n=rest), style="dim")] if rest > 0 else []
    return [draw(sheet), *more, Text()]
