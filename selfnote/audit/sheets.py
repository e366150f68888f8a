"""The tables of a report as rows of words, in the owner's language; text and HTML draw the same ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo
from typing import Literal, NamedTuple

from selfnote.audit.audited import Audited, SessionRow
from selfnote.audit.token_counts import TokenCounts
from selfnote.config import SEGMENTS, TOTAL_BUDGET
from selfnote.injection.assemble import Injection
from selfnote.phrases import ATTRIBUTION_LABELS, REASON_LABELS, REPORT, SEGMENT_LABELS
from selfnote.records.fact_lines import REASON_LABELS as TRIGGER_LABELS
from selfnote.records.fact_lines import Fact
from selfnote.storage.jsonl import BadLine
from selfnote.times import local_time

Tone = Literal["", "good", "warn", "bad", "info", "dim"]
#: What a column holds: a name or date, a number, a long name shown up to ``width``, a sentence, a share of a budget.
Kind = Literal["word", "number", "long", "text", "bar"]

STATE_TONES: dict[str, Tone] = {"active": "good", "silent": "warn", "seen": "info", "never": "bad"}


class Column(NamedTuple):
    """A column: its heading, what it holds, and for "long" how many columns of a terminal it gets."""

    heading: str
    kind: Kind = "word"
    width: int = 24


class Cell(NamedTuple):
    """A cell: its words, how they are toned, and for a bar how much of it is filled, 0 to 1."""

    text: str = ""
    tone: Tone = ""
    share: float = 0.0


class Sheet(NamedTuple):
    """One table; as many cells in each row as there are columns."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


def _row(*cells: Cell | str) -> tuple[Cell, ...]:
    return tuple(Cell(one) if isinstance(one, str) else one for one in cells)


# --- this turn's text -----------------------------------------------------------------------------
def bill_sheet(injection: Injection, language: str, tokens: TokenCounts | None = None) -> Sheet:
    """What each segment uses of its budget; with ``tokens`` beside the characters where they were counted."""
    words, labels = REPORT[language], SEGMENT_LABELS[language]
    rows = []
    for name in SEGMENTS:
        segment = injection.segments[name]
        out = len(segment.squeezed)
        rows.append(
            _row(
                labels[name],
                Cell(share=segment.used / segment.budget if segment.budget else 0.0),
                f"{segment.used} / {segment.budget}",
                *([str(tokens.segments[name])] if tokens is not None else []),
                str(len(segment.entries)),
                Cell(str(out), "warn" if out else "dim"),
            )
        )
    columns = (
        Column(words["segment"]),
        Column("", "bar"),
        Column(words["used"], "number"),
        *([Column(words["tokens"], "number")] if tokens is not None else []),
        Column(words["entries"], "number"),
        Column(words["squeezed_count"], "number"),
    )
    return Sheet(words["injection"], columns, tuple(rows))


def bill_sentences(injection: Injection, language: str, tokens: TokenCounts | None = None) -> list[str]:
    """The sum under the bill, and by which vocabulary tokens were counted; or why there is no text."""
    words = REPORT[language]
    if injection.reason in {"off", "delegated"}:
        return [words["off"]]
    if injection.reason == "empty":
        return [words["empty"]]
    total = words["total"].format(
        total=injection.total_chars,
        limit=TOTAL_BUDGET,
        framing=injection.framing_chars,
        hint=injection.hint_chars,
        length=len(injection.text),
    )
    return [total, *([words["tokens_by"].format(n=tokens.text, by=tokens.by)] if tokens is not None else [])]


def squeezed_sheet(injection: Injection, language: str) -> Sheet:
    """What was left out of each segment, and why."""
    words, labels, reasons = REPORT[language], SEGMENT_LABELS[language], REASON_LABELS[language]
    columns = (
        Column(words["segment"]),
        Column(words["id"]),
        Column(words["needs"], "number"),
        Column(words["left"], "number"),
        Column(words["reason"]),
        Column(words["text"], "text"),
    )
    return Sheet(
        words["squeezed"],
        columns,
        tuple(
            _row(labels[name], one.id, str(one.needs), str(one.left), reasons.get(one.reason, one.reason), one.text)
            for name, segment in injection.segments.items()
            for one in segment.squeezed
        ),
    )


# --- facts ----------------------------------------------------------------------------------------
def quiet_sheet(audited: Audited, language: str) -> Sheet:
    """The approved facts that are not in use, the hottest first."""
    words, labels = REPORT[language], ATTRIBUTION_LABELS[language]
    quiet = sorted(
        (row for row in audited.attribution if row.state != "active"), key=lambda row: (-row.heat, row.fact.id)
    )
    columns = (
        Column(words["state"]),
        Column(words["id"]),
        Column(words["segment"]),
        Column(words["heat"], "number"),
        Column(words["hits"], "number"),
        Column(words["last_hit"]),
        Column(words["text"], "text"),
    )
    return Sheet(
        words["silent"],
        columns,
        tuple(
            _row(
                Cell(labels[row.state], STATE_TONES[row.state]),
                row.fact.id,
                SEGMENT_LABELS[language].get(row.segment or "", ""),
                f"{row.heat:.2f}",
                words["times"].format(n=row.fact.hit_count),
                format_day(row.fact.last_hit, audited.zone) if row.fact.last_hit else words["never"],
                row.fact.text,
            )
            for row in quiet
        ),
    )


def conflict_sheet(audited: Audited, language: str) -> Sheet:
    """The pairs of approved facts that contradict each other."""
    words = REPORT[language]
    texts = {fact.id: fact.text for fact in audited.facts}
    columns = (Column(words["id"]), Column(words["text"], "text"), Column(words["id"]), Column(words["text"], "text"))
    return Sheet(
        words["conflicts"].format(n=len(audited.conflicts)),
        columns,
        tuple(_row(one, texts[one], other, texts[other]) for one, other in audited.conflicts),
    )


def candidate_sheet(waiting: Sequence[Fact], language: str) -> Sheet:
    """The candidates that wait for the owner; red flags stand before the text."""
    words = REPORT[language]

    def reason(fact: Fact) -> str:
        return (TRIGGER_LABELS[fact.reason] if language == "zh" else fact.reason) if fact.reason else ""

    columns = (
        Column(words["id"]),
        Column(words["occurrences"], "number"),
        Column(words["reason"]),
        Column(words["source"], "long"),
        Column(words["text"], "text"),
    )
    return Sheet(
        words["candidates"].format(n=len(waiting)),
        columns,
        tuple(
            _row(
                fact.id,
                words["times"].format(n=fact.occurrences),
                reason(fact),
                fact.source,
                Cell(f"⚑ {', '.join(fact.flags)}  {fact.text}", "bad") if fact.flags else fact.text,
            )
            for fact in waiting
        ),
    )


# --- sessions, lines ------------------------------------------------------------------------------
def session_sheet(rows: Iterable[SessionRow], language: str, zone: tzinfo | None) -> Sheet:
    """What each session log holds, the latest last."""
    words = REPORT[language]
    listed = sorted(rows, key=lambda row: (row.last is not None, row.last.timestamp() if row.last else 0.0, row.id))
    columns = (
        Column(words["session"], "long", 22),
        Column(words["status"]),
        *(Column(words[name], "number") for name in ("events", "turns", "owner_messages", "size")),
        Column(words["last"]),
        Column(words["cwd"], "text"),
    )
    return Sheet(
        words["sessions"].format(n=len(listed)),
        columns,
        tuple(
            _row(
                row.id,
                Cell(row.status, "" if row.status == "ok" else "warn" if row.status == "torn" else "bad"),
                f"{row.events:,}",
                str(row.turns),
                str(row.owner_messages),
                format_size(row.size),
                format_minute(row.last, zone) if row.last else "",
                f"{row.cwd or ''} ({words['delegated']})" if row.delegated else row.cwd or "",
            )
            for row in listed
        ),
    )


def bad_line_sheet(bad_lines: Sequence[BadLine], language: str) -> Sheet:
    """The lines that are kept but not understood, with the start of each."""
    words = REPORT[language]
    columns = (
        Column(words["file"]),
        Column(words["line"], "number"),
        Column(words["reason"], "text"),
        Column(words["text"], "text"),
    )
    return Sheet(
        words["bad_lines"].format(n=len(bad_lines)),
        columns,
        tuple(_row(one.path.name, str(one.line), one.reason, one.excerpt) for one in bad_lines),
    )


# --- small things ---------------------------------------------------------------------------------
def hides(char: str) -> bool:
    """Whether a character shows nothing of itself but steers what is shown: a terminal, the direction, a line's end."""
    # A space of any width is a space; a joiner (ZWJ) makes one emoji of two.
    return not (char.isprintable() or char in "\n\t\u200d" or unicodedata.category(char) == "Zs")


def format_day(instant: datetime, zone: tzinfo | None) -> str:
    """The owner's calendar day."""
    return f"{local_time(instant, zone):%Y-%m-%d}"


def format_minute(instant: datetime, zone: tzinfo | None) -> str:
    """The minute on the owner's clock."""
    return f"{local_time(instant, zone):%Y-%m-%d %H:%M}"


def format_when(instant: datetime, zone: tzinfo | None) -> str:
    """The minute on the owner's clock, with its zone."""
    return f"{local_time(instant, zone):%Y-%m-%d %H:%M %Z}".strip()


def format_size(count: int) -> str:
    """Bytes in B, KB or MB."""
    size = float(count)
    for unit in ("B", "KB", "MB"):
        if size < 1024 or unit == "MB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return ""
