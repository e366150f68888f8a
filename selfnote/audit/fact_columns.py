"""facts.jsonl as columns, without a model a line: what `parse_fact` reads, at the price of plain JSON (PERFORMANCE T6).

A line that holds nothing but the documented keys in their documented forms is decoded by a strict struct; every other
one goes to `parse_facts`, which alone decides what an odd line means.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from selfnote.audit.schema import microseconds
from selfnote.config import DEFAULT_IMPORTANCE, IMPORTANCE_RANGE
from selfnote.errors import BadSource
from selfnote.records.fact_lines import TRANSITIONS, Fact, HistoryItem, parse_facts
from selfnote.records.sources import Source, parse_source
from selfnote.storage.jsonl import BadLine, bad_line, over_cap
from selfnote.storage.lines import TextFile
from selfnote.text import safe

#: Times inside these years are read alike by every reader; others go the slow way.
_PLAIN_YEARS = range(1981, 2200)

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class _Link(msgspec.Struct, gc=False, frozen=True, forbid_unknown_fields=True):
    """One entry of ``similarTo``."""

    id: str
    kind: Literal["near", "conflict"] = "near"
    rule: str = ""
    score: float | None = None
    resolved: str | None = None


class _Change(msgspec.Struct, gc=False, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """One history item whose ``at`` is text."""

    at: str | None = None
    via: str = ""
    from_: str | None = None
    to: str | None = None
    field: str | None = None
    old: Any = None
    new: Any = None
    replaces: str | None = None
    replacesRevision: str | None = None  # noqa: N815 - the key on disk


class _Line(msgspec.Struct, gc=False, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A line in its documented form, times as text. Any other form is refused, never mended."""

    id: Annotated[str, msgspec.Meta(min_length=1)]
    text: str
    status: Literal["candidate", "approved", "retired"] = "candidate"
    detail: str | None = None
    channel: Literal["rel", "env"] = "rel"
    tags: tuple[str, ...] = ()
    source: str = ""
    source_sha: str | None = None
    capture_source: str | None = None
    reason: Literal["convention", "prohibition", "preference", "correction"] | None = None
    importance: Annotated[float, msgspec.Meta(ge=IMPORTANCE_RANGE[0], le=IMPORTANCE_RANGE[1])] = DEFAULT_IMPORTANCE
    occurrences: _Count = 1
    sources: tuple[str, ...] = ()
    similar_to: tuple[_Link, ...] = ()
    flags: tuple[str, ...] = ()
    hit_count: _Count = 0
    last_hit: str | None = None
    seen_count: _Count = 0
    last_seen: str | None = None
    created_at: str | None = None
    approved_at: str | None = None
    history: tuple[_Change, ...] = ()


class FactColumns(NamedTuple):
    """The readable facts of a file, column by column in file order, and the lines that are none.

    ``columns`` is keyed as the frame ``facts``; instants in microseconds since 1970 UTC, unrounded. ``problems`` says
    of each fact what could not be used as it stands.
    """

    columns: dict[str, list[Any]]
    problems: list[tuple[str, ...]]
    bad_lines: tuple[BadLine, ...]


def read_fact_columns(file: TextFile, zone: tzinfo | None = None) -> FactColumns:
    """Every line of ``file`` as `parse_facts` reads it, as columns."""
    decode = msgspec.json.Decoder(_Line).decode
    times: _Times = {None: None}
    rows: list[_Line | Fact] = []
    numbers: dict[str, int] = {}
    bad: list[BadLine] = []
    for number, line in enumerate(file.lines, start=1):
        if not line.raw or line.raw.isspace():
            continue
        row: _Line | Fact | None = None
        if over_cap(line) is None:
            try:
                row = decode(line.raw)
                _read_times(row, times)
            except (ValueError, RecursionError):
                row = None
        if row is None:
            parsed = parse_facts(file._replace(lines=(line,)), zone)
            bad += [one._replace(line=number) for one in parsed.bad_lines]
            if not parsed.facts:
                continue
            row = parsed.facts[0]
            _take_times(row, times)
        if row.id in numbers:
            bad.append(bad_line(file.path, number, line, f"id {row.id} is taken by line {numbers[row.id]}"))
            continue
        numbers[row.id] = number
        rows.append(row)
    columns = {
        **_plain_columns(rows, times),
        **_source_columns(rows),
        **_history_columns(rows, times),
        **_link_columns(rows),
        "line": list(numbers.values()),
    }
    return FactColumns(columns, [one.problems if isinstance(one, Fact) else () for one in rows], tuple(bad))


#: A time as it stands in a line or a Fact -> microseconds.
_Times = dict[str | datetime | None, int | None]


def _read_times(row: _Line, times: _Times) -> None:
    """Read the times of a line, each text once. Raises ValueError for one that readers might take differently."""
    _read_time(row.last_hit, times)
    _read_time(row.last_seen, times)
    _read_time(row.created_at, times)
    _read_time(row.approved_at, times)
    for item in row.history:
        _read_time(item.at, times)


def _read_time(text: str | None, times: _Times) -> None:
    if text not in times:
        instant = datetime.fromisoformat(str(text))
        if instant.tzinfo is None or instant.year not in _PLAIN_YEARS:
            raise ValueError(text)
        times[text] = microseconds(instant)


def _take_times(fact: Fact, times: _Times) -> None:
    for instant in (fact.last_hit, fact.last_seen, fact.created_at, fact.approved_at, *(i.at for i in fact.history)):
        times[instant] = microseconds(instant)


def _plain_columns(rows: Sequence[_Line | Fact], times: _Times) -> dict[str, list[Any]]:
    return {
        "id": [row.id for row in rows],
        "text": [row.text for row in rows],
        "length": [len(safe(row.text)) for row in rows],
        "detail": [row.detail for row in rows],
        "channel": [row.channel for row in rows],
        "status": [row.status for row in rows],
        "tags": [row.tags for row in rows],
        "tag": [row.tags[0] if row.tags else None for row in rows],
        "importance": [row.importance for row in rows],
        "occurrences": [row.occurrences for row in rows],
        "capture_source": [row.capture_source for row in rows],
        "capture_reason": [row.reason for row in rows],
        "red_flags": [row.flags for row in rows],
        "hit_count": [row.hit_count for row in rows],
        "last_hit": [times[row.last_hit] for row in rows],
        "seen_count": [row.seen_count for row in rows],
        "last_seen": [times[row.last_seen] for row in rows],
        "created_at": [times[row.created_at] for row in rows],
        "approved_at": [times[row.approved_at] for row in rows],
    }


def _source_columns(rows: Sequence[_Line | Fact]) -> dict[str, list[Any]]:
    kinds: list[str | None] = []
    sessions: list[str | None] = []
    numbers: list[int | None] = []
    for row in rows:
        found = source_of(row.source)
        said = found is not None and found.kind == "session"
        kinds.append(found.kind if found is not None else None)
        sessions.append(found.name if found is not None and said else None)
        numbers.append(found.number if found is not None and found.unit == "seq" else None)
    return {
        "n_sources": [len(row.sources) or int(bool(row.source)) for row in rows],
        "source": [row.source or None for row in rows],
        "source_kind": kinds,
        "session": sessions,
        "seq": numbers,
    }


def source_of(text: str) -> Source | None:
    """The parts of a source; None when it has no known form."""
    try:
        return parse_source(text) if text else None
    except BadSource:
        return None


def _history_columns(rows: Sequence[_Line | Fact], times: _Times) -> dict[str, list[Any]]:
    changes = [_last_change(row.history) if row.history else None for row in rows]
    return {
        "changed_at": [None if one is None else times[one.at] for one in changes],
        "changed_via": [None if one is None else one.via for one in changes],
        "changed_from": [None if one is None else one.from_ for one in changes],
        "changed_to": [None if one is None else one.to for one in changes],
        "edited_at": [_last_edit(row.history, times) if row.history else None for row in rows],
        "n_changes": [len(row.history) for row in rows],
    }


def _last_change(history: Sequence[_Change | HistoryItem]) -> _Change | HistoryItem | None:
    """The last change of status in a history (DESIGN "Transitions")."""
    for item in reversed(history):
        if item.field is None and item.from_ != item.to and item.from_ in TRANSITIONS:
            return item
    return None


def _last_edit(history: Sequence[_Change | HistoryItem], times: _Times) -> int | None:
    for item in reversed(history):
        if item.field == "text":
            return times[item.at]
    return None


def _link_columns(rows: Sequence[_Line | Fact]) -> dict[str, list[Any]]:
    links = [row.similar_to for row in rows]
    near = [tuple(one.id for one in some if one.kind == "near") if some else () for some in links]
    return {
        "near_links": [len(ids) for ids in near],
        "conflict_links": [len(some) - len(ids) for some, ids in zip(links, near, strict=True)],
        "near_ids": near,
        "conflict_ids": [
            tuple(one.id for one in some if one.kind == "conflict" and not one.resolved) if some else ()
            for some in links
        ],
    }
