"""The audit as text: budget bars and tables, in the owner's language, width-aware for Chinese."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from selfnote.audit.report import Report, SessionRow
from selfnote.config import SEGMENTS, TOTAL_BUDGET
from selfnote.injection.assemble import Injection
from selfnote.phrases import ATTRIBUTION_LABELS, REASON_LABELS, REPORT, SEGMENT_LABELS
from selfnote.records.corrections import Correction
from selfnote.records.fact_lines import REASON_LABELS as TRIGGER_LABELS
from selfnote.records.fact_lines import Fact
from selfnote.records.notes import PIN, TIER_LABELS, Note
from selfnote.times import local_time

_BAR = 30
#: Rows of a table in the text; ``--json`` has them all.
ROWS = 12
_STATE_STYLE = {"active": "green", "silent": "yellow", "seen": "cyan", "never": "red"}


def render_text(report: Report, *, width: int = 110) -> str:
    """The report as plain text without colours, ``width`` columns wide."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, no_color=True, force_terminal=False, highlight=False, markup=False)
    console.print(render(report))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def render(report: Report, *, language: str | None = None) -> RenderableType:
    """The report for a terminal; ``language`` None takes the memory's."""
    tongue = language or report.config.language
    words = REPORT[tongue]
    parts: list[RenderableType] = [
        Text(words["title"].format(home=report.home.root), style="bold"),
        Text(words["as_of"].format(now=_when(report, report.now)), style="dim"),
        Text(),
    ]
    if not report.has_memory:
        parts.append(Text(words["no_memory"].format(home=report.home.root)))
    else:
        parts += [
            *render_bill(report.injection, tongue),
            Text(words["facts"].format(**report.statuses)),
            Text(words["notes"].format(**report.notes)),
            Text(),
            *_attribution(report, tongue),
            *_conflicts(report, tongue),
            *_candidates(report, tongue),
        ]
    parts += [*_sessions(report, tongue), *_findings(report, tongue), Text(words["read_only"], style="dim")]
    return Group(*parts)


def render_bill(injection: Injection, language: str) -> list[RenderableType]:
    """Budget bars of the six segments, the sum, and what was squeezed out."""
    words, labels = REPORT[language], SEGMENT_LABELS[language]
    if injection.reason in {"off", "delegated"}:
        return [Text(words["off"], style="bold yellow"), Text()]
    table = _table(words["injection"])
    table.expand = False
    for title, justify in (
        (words["segment"], "left"), ("", "left"), (words["used"], "right"), (words["entries"], "right"),
        (words["squeezed_count"], "right"),
    ):  # fmt: skip
        table.add_column(title, justify="right" if justify == "right" else "left", no_wrap=True)
    for name in SEGMENTS:
        segment = injection.segments[name]
        table.add_row(
            labels[name],
            _bar(segment.used, segment.budget),
            f"{segment.used} / {segment.budget}",
            str(len(segment.entries)),
            Text(str(len(segment.squeezed)), style="yellow" if segment.squeezed else "dim"),
        )
    total = words["total"].format(
        total=injection.total_chars,
        limit=TOTAL_BUDGET,
        framing=injection.framing_chars,
        hint=injection.hint_chars,
        length=len(injection.text),
    )
    parts: list[RenderableType] = [table, Text(words["empty"] if injection.reason == "empty" else total), Text()]
    return [*parts, *_squeezed(injection, language)]


def _squeezed(injection: Injection, language: str) -> list[RenderableType]:
    words, labels = REPORT[language], SEGMENT_LABELS[language]
    rows = [(name, one) for name, segment in injection.segments.items() for one in segment.squeezed]
    if not rows:
        return []
    table = _table(words["squeezed"])
    table.add_column(words["segment"], no_wrap=True)
    table.add_column(words["id"], no_wrap=True)
    table.add_column(words["needs"], justify="right", no_wrap=True)
    table.add_column(words["left"], justify="right", no_wrap=True)
    table.add_column(words["reason"], no_wrap=True)
    table.add_column(words["text"], no_wrap=True, overflow="ellipsis", ratio=1)
    for name, one in rows[:ROWS]:
        reason = REASON_LABELS[language].get(one.reason, one.reason)
        table.add_row(labels[name], one.id, str(one.needs), str(one.left), reason, Text(one.text))
    return [table, *_more(len(rows), words), Text()]


def _attribution(report: Report, language: str) -> list[RenderableType]:
    words, labels = REPORT[language], ATTRIBUTION_LABELS[language]
    if not report.attribution:
        return []
    summary = Text(words["attribution"].format(n=len(report.attribution)), style="bold")
    for state, count in report.states.items():
        summary.append(f"   {labels[state]} {count}", style=_STATE_STYLE[state])
    quiet = sorted(
        (row for row in report.attribution if row.state != "active"), key=lambda row: (-row.heat, row.fact.id)
    )
    if not quiet:
        return [summary, Text()]
    table = _table(words["silent"])
    table.add_column(words["state"], no_wrap=True)
    table.add_column(words["id"], no_wrap=True)
    table.add_column(words["segment"], no_wrap=True)
    table.add_column(words["heat"], justify="right", no_wrap=True)
    table.add_column(words["hits"], justify="right", no_wrap=True)
    table.add_column(words["last_hit"], no_wrap=True)
    table.add_column(words["text"], no_wrap=True, overflow="ellipsis", ratio=1)
    for row in quiet[:ROWS]:
        fact = row.fact
        table.add_row(
            Text(labels[row.state], style=_STATE_STYLE[row.state]),
            fact.id,
            SEGMENT_LABELS[language].get(row.segment or "", ""),
            f"{row.heat:.2f}",
            words["times"].format(n=fact.hit_count),
            _day(report, fact.last_hit) if fact.last_hit else words["never"],
            Text(fact.text),
        )
    return [summary, Text(), table, *_more(len(quiet), words), Text()]


def _conflicts(report: Report, language: str) -> list[RenderableType]:
    words = REPORT[language]
    if not report.conflicts:
        return []
    texts = {fact.id: fact.text for fact in report.facts}
    table = _table(words["conflicts"].format(n=len(report.conflicts)))
    for _ in range(2):
        table.add_column(words["id"], no_wrap=True)
        table.add_column(words["text"], no_wrap=True, overflow="ellipsis", ratio=1)
    for one, other in report.conflicts[:ROWS]:
        table.add_row(one, Text(texts[one]), other, Text(texts[other]))
    return [table, *_more(len(report.conflicts), words), Text()]


def _candidates(report: Report, language: str) -> list[RenderableType]:
    waiting = report.candidates
    if not waiting:
        return []
    return [candidate_table(waiting, language), *_more(len(waiting), REPORT[language]), Text()]


def candidate_table(waiting: Sequence[Fact], language: str, *, limit: int | None = ROWS) -> Table:
    """The candidates that wait, at most ``limit`` of them."""
    words = REPORT[language]
    table = _table(words["candidates"].format(n=len(waiting)))
    table.add_column(words["id"], no_wrap=True)
    table.add_column(words["occurrences"], justify="right", no_wrap=True)
    table.add_column(words["reason"], no_wrap=True)
    table.add_column(words["source"], no_wrap=True, overflow="ellipsis", max_width=24)
    table.add_column(words["text"], no_wrap=True, overflow="ellipsis", ratio=1)
    for fact in waiting[:limit]:
        reason = (TRIGGER_LABELS[fact.reason] if language == "zh" else fact.reason) if fact.reason else ""
        text = Text("⚑ " + ", ".join(fact.flags) + "  ", style="bold red") if fact.flags else Text()
        table.add_row(
            fact.id,
            words["times"].format(n=fact.occurrences),
            reason,
            Text(fact.source),
            text.append(fact.text, "default"),
        )
    return table


def correction_table(
    items: Iterable[Correction], repeated: set[str], language: str, zone: tzinfo | None = None
) -> Table:
    """Corrections with their time, source and state; what was said at least twice carries a mark."""
    words = REPORT[language]
    table = _table(words["corrections_title"])
    table.add_column(words["id"], no_wrap=True)
    table.add_column(words["date"], no_wrap=True)
    table.add_column(words["state"], no_wrap=True)
    table.add_column(words["source"], no_wrap=True, overflow="ellipsis", max_width=26)
    table.add_column(words["text"], no_wrap=True, overflow="ellipsis", ratio=1)
    for one in items:
        said = one.said(zone)
        mark = Text(words["twice"], style="bold red") if one.id in repeated else Text()
        day = f"{local_time(said, zone):%Y-%m-%d %H:%M}" if said else ""
        table.add_row(one.id, day, f"{one.status} ({one.signal})", Text(one.source), mark.append(one.text, "default"))
    return table


def note_table(rows: Iterable[tuple[Note, bool]], language: str) -> Table:
    """The notes in file order; each with whether it has expired."""
    words = REPORT[language]
    table = _table(words["notes_title"])
    table.add_column(words["id"], no_wrap=True)
    table.add_column(words["tier"], no_wrap=True)
    table.add_column(words["date"], no_wrap=True)
    table.add_column(words["text"], no_wrap=True, overflow="ellipsis", ratio=1)
    for note, expired in rows:
        tier = TIER_LABELS[note.tier] if language == "zh" else note.tier
        badge = words["expired"] if expired else words["material"] if note.tier == "core" else ""
        mark = PIN if note.pinned else ""
        table.add_row(note.id, f"{tier}{mark}", note.on.isoformat() if note.on else "", Text(f"{badge}{note.text}"))
    return table


def _sessions(report: Report, language: str) -> list[RenderableType]:
    words = REPORT[language]
    if not report.sessions:
        return [Text(words["sessions_none"]), Text()]
    return [session_table(report.sessions, language, report.zone), Text()]


def session_table(rows: Iterable[SessionRow], language: str, zone: tzinfo | None = None) -> Table:
    """The sessions table: what each log holds, the latest last."""
    words = REPORT[language]
    listed = sorted(rows, key=lambda row: (row.last is not None, row.last.timestamp() if row.last else 0.0, row.id))
    table = _table(words["sessions"].format(n=len(listed)))
    table.add_column(words["session"], no_wrap=True, overflow="ellipsis", max_width=22)
    table.add_column(words["status"], no_wrap=True)
    for name in ("events", "turns", "owner_messages", "size"):
        table.add_column(words[name], justify="right", no_wrap=True)
    table.add_column(words["last"], no_wrap=True)
    table.add_column(words["cwd"], no_wrap=True, overflow="ellipsis", ratio=1)
    for row in listed:
        last = f"{local_time(row.last, zone):%Y-%m-%d %H:%M}" if row.last else ""
        who = f"{row.cwd or ''} ({words['delegated']})" if row.delegated else row.cwd or ""
        style = "" if row.status == "ok" else "yellow" if row.status == "torn" else "red"
        table.add_row(
            row.id,
            Text(row.status, style=style),
            f"{row.events:,}",
            str(row.turns),
            str(row.owner_messages),
            _size(row.size),
            last,
            Text(who),
        )
    return table


def _findings(report: Report, language: str) -> list[RenderableType]:
    words = REPORT[language]
    if not report.findings:
        return [Text(words["findings_none"], style="green"), Text()]
    lines: list[RenderableType] = [Text(words["findings"].format(n=len(report.findings)), style="bold yellow")]
    lines += [Text(f"  - {one.sentence(language)}") for one in report.findings[: ROWS * 2]]
    hidden = len(report.findings) - ROWS * 2
    return [*lines, *([Text("  " + words["more"].format(n=hidden))] if hidden > 0 else []), Text()]


# --- small things ---------------------------------------------------------------------------------
def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, expand=True)


def _bar(used: int, budget: int) -> Text:
    filled = round(_BAR * used / budget) if budget else 0
    filled = max(1, filled) if used else 0
    return Text("█" * filled, style="green").append("░" * (_BAR - filled), style="dim")


def _more(count: int, words: dict[str, str]) -> list[RenderableType]:
    return [Text(words["more"].format(n=count - ROWS), style="dim")] if count > ROWS else []


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "KB", "MB"):
        if size < 1024 or unit == "MB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return ""


def _when(report: Report, instant: datetime) -> str:
    return f"{local_time(instant, report.zone):%Y-%m-%d %H:%M %Z}".strip()


def _day(report: Report, instant: datetime) -> str:
    return f"{local_time(instant, report.zone):%Y-%m-%d}"
