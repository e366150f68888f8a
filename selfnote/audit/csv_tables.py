"""The report's tables as CSV files: values as they are, Chinese readable in a spreadsheet, no cell a formula."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

from selfnote.audit.audited import Audited
from selfnote.config import SEGMENTS
from selfnote.injection.assemble import Injection
from selfnote.injection.segments import Entry, Squeezed
from selfnote.times import format_instant

#: A spreadsheet program takes a cell that begins so for a formula; the full-width forms too, in some languages.
_FORMULA_STARTS = ("=", "+", "-", "@")


class CsvTable(NamedTuple):
    """One file: its name, the names of its columns, its rows."""

    name: str
    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]


#: Column -> where its value is found in a record.
Columns = Mapping[str, str]


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_FACTS: Columns = {
    **_same("id", "status", "channel", "tags", "importance", "occurrences", "source", "reason", "flags"),
    **_same("created_at", "approved_at", "text", "detail"),
}
_ATTRIBUTION: Columns = {
    "id": "fact.id",
    **_same("state", "segment", "absorbed", "heat"),
    "hits": "fact.hit_count",
    "last_hit": "fact.last_hit",
    "seen": "fact.seen_count",
    "last_seen": "fact.last_seen",
    "problems": "problems",
    "text": "fact.text",
}
_SESSIONS: Columns = {
    **_same("id", "status", "events", "turns", "owner_messages", "size"),
    "created_at": "created",
    "last_at": "last",
    **_same("delegated", "cwd", "problems"),
}
_BAD_LINES: Columns = {"file": "path.name", **_same("line", "reason", "excerpt")}


def _table(name: str, records: Iterable[object], columns: Columns) -> CsvTable:
    read = [attrgetter(where) for where in columns.values()]
    return CsvTable(name, tuple(columns), [tuple(get(one) for get in read) for one in records])


def csv_tables(audited: Audited, language: str) -> list[CsvTable]:
    """Every table of a report; lengths in code points, sizes in bytes, times in UTC, lists joined by a semicolon."""
    texts = {fact.id: fact.text for fact in audited.facts}
    return [
        _bill(audited),
        *_entries(audited.injection),
        _table("attribution.csv", audited.attribution, _ATTRIBUTION),
        _table("facts.csv", audited.facts, _FACTS),
        _table("candidates.csv", audited.candidates, _FACTS),
        CsvTable(
            "conflicts.csv",
            ("id", "text", "other", "other_text"),
            [(one, texts[one], other, texts[other]) for one, other in audited.conflicts],
        ),
        _table("notes.csv", audited.kept_notes, _same("id", "tier", "pinned", "on", "length", "text")),
        _table("habits.csv", audited.kept_habits, _same("id", "tag", "created_at", "revoked_at", "fact_ids", "text")),
        CsvTable(
            "findings.csv", ("kind", "sentence"), [(one.kind, one.sentence(language)) for one in audited.findings]
        ),
        _table("sessions.csv", audited.sessions, _SESSIONS),
        _table("bad_lines.csv", audited.bad_lines, _BAD_LINES),
    ]


def _bill(audited: Audited) -> CsvTable:
    tokens = audited.tokens
    rows: list[tuple[object, ...]] = []
    for name in SEGMENTS:
        one = audited.injection.segments[name]
        counted = (tokens.segments[name],) if tokens else ()
        rows.append((name, one.budget, one.used, *counted, len(one.entries), len(one.squeezed)))
    heading = ("tokens",) if tokens else ()
    return CsvTable("bill.csv", ("segment", "budget", "used", *heading, "entries", "squeezed"), rows)


def _entries(injection: Injection) -> list[CsvTable]:
    entries: list[tuple[object, ...]] = []
    squeezed: list[tuple[object, ...]] = []
    for name, segment in injection.segments.items():
        entries += [(name, place, one.kind, one.id, one.text) for place, one in enumerate(segment.entries)]
        squeezed += [(name, *one) for one in segment.squeezed]
    return [
        CsvTable("entries.csv", ("segment", "position", *Entry._fields), entries),
        CsvTable("squeezed.csv", ("segment", *Squeezed._fields), squeezed),
    ]


def encode_csv(table: CsvTable) -> bytes:
    """A table as the bytes of a CSV file, with the mark by which a spreadsheet program knows UTF-8."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(table.columns)
    writer.writerows([_plain(value) for value in row] for row in table.rows)
    return stream.getvalue().encode("utf-8-sig", "backslashreplace")


def _plain(value: object) -> object:
    """A value as a cell; numbers stay numbers, words that would be a formula get an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    return harmless(_in_words(value))


def _in_words(value: object) -> str:
    if isinstance(value, datetime):
        return format_instant(value)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return "; ".join(map(str, value))
    return str(value)


def harmless(text: str) -> str:
    """``text`` as a spreadsheet program shows it and never runs it.

    A cell that begins with ``=``, ``+``, ``-`` or ``@`` - full-width, or behind spaces, tabs, line ends and characters
    that show nothing - gets an apostrophe before it. NUL, which no reader of CSV takes, goes.
    """
    text = text.replace("\0", "")
    for char in text:
        if char.isspace() or unicodedata.category(char)[0] in "CZ":
            continue
        return f"'{text}" if unicodedata.normalize("NFKC", char).startswith(_FORMULA_STARTS) else text
    return text
