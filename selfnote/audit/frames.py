"""A memory as DataFrames: what `schema` documents, one function a frame (UC-002).

Reading writes nothing. A line that cannot be read is a row with a ``flag``; a file that cannot be read is one such row.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic.alias_generators import to_camel

from selfnote.audit import schema
from selfnote.audit.report import Auditable
from selfnote.config import SEGMENTS, Config, parse_config
from selfnote.errors import SelfnoteError
from selfnote.home import MemoryHome
from selfnote.injection.assemble import Injection, Snapshot, assemble, read_snapshot
from selfnote.injection.explain import attribute
from selfnote.records.corrections import parse_corrections
from selfnote.records.habits import active_habits, parse_habits
from selfnote.records.heat import heat as heat_of
from selfnote.records.ledger import HitLine, known_digests, read_hits, read_seen
from selfnote.records.notes import is_expired, parse_notes
from selfnote.records.summaries import parse_summaries
from selfnote.sessions.model import NORMAL
from selfnote.storage.jsonl import BadLine
from selfnote.storage.lines import read_text_file
from selfnote.text import safe
from selfnote.times import clock, find_zone, local_date, parse_instant, require_aware

if TYPE_CHECKING:
    import pandas as pd

    from selfnote.audit.fact_columns import FactColumns
    from selfnote.sessions.library import Sessions
    from selfnote.sessions.log import SessionLog

Row = dict[str, Any]

#: What a segment's entries are; an override has its own id.
_KINDS = {"persona": "persona", "notes": "note", "habits": "habit"}
_OVERRIDE = "profile:override"
#: A larger number is none of ours; a column of counts could not hold it.
_MOST = 2**53


# --- rows to frames -------------------------------------------------------------------------------
def _frame(name: str, rows: Sequence[Row], now: datetime) -> pd.DataFrame:
    """Rows as the documented frame; a time later than ``now`` is kept and flagged (A-12)."""
    columns = {column.name: [row.get(column.name) for row in rows] for column in schema.columns_of(name)}
    _flag_future(name, columns, columns["flag"], now)
    return schema.conform(name, columns)


def _flag_future(name: str, columns: Mapping[str, Sequence[Any]], flags: list[Any], now: datetime) -> None:
    limit = schema.microseconds(now)
    for column in schema.columns_of(name):
        if column.kind == "instant":
            for place, instant in enumerate(columns[column.name]):
                if instant is not None and instant > limit:
                    flags[place] = _joined([flags[place], f"{to_camel(column.name)} is in the future"])


def _joined(reasons: Iterable[str | None]) -> str | None:
    return "; ".join(one for one in reasons if one) or None


def _bad(lines: Iterable[BadLine], **values: Any) -> list[Row]:
    return [{"line": one.line, "flag": one.reason, **values} for one in lines]


def _by_line(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["line"])


def _read_instant(name: str, value: Any, zone: tzinfo | None, flags: list[str]) -> int | None:
    """A stored time; one that cannot be read is none, and flagged."""
    found = parse_instant(value, zone)
    if found is None and value is not None:
        flags.append(f"{name}={value!r} is not a time")
    return schema.microseconds(found)


def _read_count(name: str, value: int | None, flags: list[str]) -> int | None:
    if value is not None and abs(value) > _MOST:
        flags.append(f"{name}={value} is no number of ours")
        return None
    return value


# --- facts ----------------------------------------------------------------------------------------
def _read_facts(memory: Auditable) -> FactColumns:
    from selfnote.audit.fact_columns import read_fact_columns

    return read_fact_columns(read_text_file(memory.home.facts), _zone(memory))


def build_facts(memory: Auditable, now: datetime) -> pd.DataFrame:
    """One row a fact, in file order."""
    read = _read_facts(memory)
    columns = {**read.columns, "flag": [_joined(problems) for problems in read.problems]}
    _flag_future("facts", columns, columns["flag"], now)
    return _with_bad_lines("facts", schema.conform("facts", columns), read.bad_lines, now)


def build_heat(memory: Auditable, now: datetime) -> pd.DataFrame:
    """One row a fact, in file order: its heat at ``now`` and what it is computed from."""
    import numpy as np

    from selfnote.audit import heat

    read = _read_facts(memory)
    facts = read.columns
    half_life = _settings(memory).half_life_days
    last_hit, approved_at, created_at = (
        schema.to_numbers(facts[name]) for name in ("last_hit", "approved_at", "created_at")
    )
    hits = np.array(facts["hit_count"], dtype=np.float64)
    importance = np.array(facts["importance"], dtype=np.float64)
    reference, future = heat.since_when(last_hit, approved_at, created_at, now)
    days = heat.idle_days(reference, now)
    key = heat.order_key(hits, importance, reference, half_life)
    approved = [place for place, status in enumerate(facts["status"]) if status == "approved"]
    # Ties by approvedAt then id, as the composer chooses (DESIGN "Choose by heat").
    approved.sort(key=lambda place: (-key[place], facts["approved_at"][place] or 0, facts["id"][place]))
    flags = [_joined(problems) for problems in read.problems]
    _flag_future("facts", facts, flags, now)
    rank: list[int | None] = [None] * len(hits)
    for number, place in enumerate(approved, start=1):
        rank[place] = number
    columns: dict[str, Any] = {
        **{name: facts[name] for name in ("id", "status", "channel", "tag", "length", "importance", "line")},
        "hits": facts["hit_count"],
        "ref": reference,
        "idle_days": days,
        "half_life": np.full(len(hits), half_life, dtype=np.float64),
        "heat": heat.heat(hits, importance, days, half_life),
        "rank": rank,
        "future": future,
        "flag": flags,
    }
    return _with_bad_lines("heat", schema.conform("heat", columns), read.bad_lines, now)


def _with_bad_lines(name: str, frame: pd.DataFrame, bad: Sequence[BadLine], now: datetime) -> pd.DataFrame:
    if not bad:
        return frame
    import pandas as pd

    both = pd.concat([frame, _frame(name, _bad(bad), now)], ignore_index=True)
    return both.sort_values("line", kind="stable", ignore_index=True)


# --- the ledgers ----------------------------------------------------------------------------------
def build_hits(memory: Auditable, now: datetime) -> pd.DataFrame:
    """One row per (injection, segment, entry), then one per fact for the hits that no ledger line tells."""
    lines, bad = read_hits(memory.home)
    rows = [row for number, line in enumerate(lines) for row in _hit_rows(number, line)]
    counted: dict[str, int] = {}
    for row in rows:
        counted[row["id"]] = counted.get(row["id"], 0) + row["count"]
    for identifier, count, last in _uncounted(memory, "hit", counted):
        rows.append(
            {"id": identifier, "kind": "fact", "state": "in", "mentioned": False, "at": last}
            | {"counted": True, "count": count, "origin": "counter"}
        )
    return _frame("hits", [*rows, *_bad_ledger(bad)], now)


class _Mention(NamedTuple):
    """One entry as a ledger line names it."""

    segment: str | None
    id: str
    state: str
    position: int | None = None
    needs: int | None = None
    left: int | None = None
    reason: str | None = None


def _mentions(line: HitLine) -> Iterator[_Mention]:
    """Every entry of a ledger line, an entry once for each list it stands in."""
    for segment in dict.fromkeys([*SEGMENTS, *line.ids, *line.squeezed]):
        for position, one in enumerate(line.ids.get(segment, ())):
            yield _Mention(segment, str(one), "in", position)
        if segment == "profile":
            yield from (_Mention(segment, str(one), "absorbed") for one in line.absorbed)
        for one, needs, left, reason in line.squeezed.get(segment, ()):
            yield _Mention(segment, one, "squeezed", None, needs, left, reason)
    for doorplate, ids in line.mentioned.items():
        segment = "notes" if doorplate == "core" else doorplate
        yield from (_Mention(segment, str(one), "mentioned") for one in ids)


def _hit_rows(number: int, line: HitLine) -> Iterator[Row]:
    shared = {
        "injection": number,
        "at": schema.microseconds(line.at),
        "session": _text(line.session),
        "turn": _text(line.turn),
        "cwd": _text(line.cwd),
        "digest": line.digest,
        "cause": _text(line.cause),
        "origin": "ledger",
        "line": line.line,
    }
    amiss = [] if line.at is not None else ["at cannot be read"]
    counted = {str(one) for one in line.counted}
    rows: dict[tuple[str | None, str], Row] = {}
    for one in _mentions(line):
        known = rows.get((one.segment, one.id))
        if known is not None:
            known["mentioned"] |= one.state == "mentioned"
            if one.state != "mentioned":
                known["flag"] = _joined([known["flag"], f"stands twice in the line, as {one.state} too"])
            continue
        flags = list(amiss)
        rows[one.segment, one.id] = shared | {
            **one._asdict(),
            "needs": _read_count("needs", one.needs, flags),
            "left": _read_count("left", one.left, flags),
            "kind": "override" if one.id == _OVERRIDE else _KINDS.get(one.segment or "", "fact"),
            "mentioned": one.state == "mentioned",
            "counted": False,
            "count": 0,
            "flag": _joined(flags),
        }
    inside = {row["id"]: row for row in rows.values() if row["state"] in {"in", "absorbed"}}
    for identifier in sorted(counted):
        if identifier in inside:
            inside[identifier] |= {"counted": True, "count": 1}
        else:
            flag = _joined([*amiss, "counted, but in no segment of the line"])
            entry = {"segment": None, "id": identifier, "kind": "fact", "state": "in", "mentioned": False}
            rows[None, identifier] = shared | entry | {"counted": True, "count": 1, "flag": flag}
    yield from rows.values()


def build_searches(memory: Auditable, now: datetime) -> pd.DataFrame:
    """One row per (search, fact found), then one per fact for the searches that no ledger line tells."""
    lines, bad = read_seen(memory.home)
    rows: list[Row] = []
    counted: dict[str, int] = {}
    for number, line in enumerate(lines):
        given = {str(one) for one in line.counted}
        for position, identifier in enumerate(dict.fromkeys(map(str, line.ids))):
            here = identifier in given
            counted[identifier] = counted.get(identifier, 0) + here
            rows.append(
                {
                    "search": number,
                    "at": schema.microseconds(line.at),
                    "session": _text(line.session),
                    "via": line.via or None,
                    "id": identifier,
                    "position": position,
                    "counted": here,
                    "count": int(here),
                    "origin": "ledger",
                    "line": line.line,
                    "flag": None if line.at is not None else "at cannot be read",
                }
            )
    for identifier, count, last in _uncounted(memory, "seen", counted):
        rows.append({"id": identifier, "at": last, "counted": True, "count": count, "origin": "counter"})
    return _frame("searches", [*rows, *_bad_ledger(bad)], now)


def _uncounted(memory: Auditable, what: str, counted: Mapping[str, int]) -> Iterator[tuple[str, int, int | None]]:
    """(id, how often, last when) of what a fact's counter tells beyond the ledger.

    The last time belongs to these only where the ledger never counted the fact.
    """
    facts = _read_facts(memory).columns
    for identifier, count, last in zip(facts["id"], facts[f"{what}_count"], facts[f"last_{what}"], strict=True):
        known = counted.get(identifier, 0)
        if count > known:
            yield identifier, count - known, None if known else last


def _bad_ledger(bad: Iterable[BadLine]) -> list[Row]:
    """Unreadable lines of rolled months: the file's name stands in the flag."""
    return [{"line": one.line, "flag": str(one)} for one in bad]


def _text(value: Any) -> str | None:
    """A value of a ledger as text; another program may have written a number."""
    return None if value is None else str(value)


def build_injections(memory: Auditable, now: datetime, *, logs: bool, progress: bool) -> pd.DataFrame:
    """One row a line of the ledger, then one a system prompt the harness logged."""
    lines, bad = read_hits(memory.home)
    rows = [_injection_row(number, line) for number, line in enumerate(lines)]
    rows += _bad_ledger(bad)
    if logs:
        for log in memory.sessions.read_all(progress=progress):
            rows += _prompt_rows(log)
        rows += _refused(memory)
    return _frame("injections", rows, now)


def _injection_row(number: int, line: HitLine) -> Row:
    flags = [] if line.at is not None else ["at cannot be read"]
    chars = {name: _read_count(name, line.chars.get(name, 0), flags) for name in SEGMENTS}
    return {
        "injection": number,
        "origin": "ledger",
        "at": schema.microseconds(line.at),
        "session": _text(line.session),
        "turn": _text(line.turn),
        "cwd": _text(line.cwd),
        "digest": line.digest,
        "cause": _text(line.cause),
        **chars,
        "total": sum(one or 0 for one in chars.values()),
        "n_entries": sum(len(ids) for ids in line.ids.values()),
        "n_squeezed": sum(len(rows) for rows in line.squeezed.values()),
        "n_counted": len(line.counted),
        "line": line.line,
        "flag": _joined(flags),
    }


def _prompt_rows(log: SessionLog) -> Iterator[Row]:
    shared = {"origin": "log", "session": log.id, "cwd": log.header.cwd}
    try:
        for prompt in log.injections():
            yield shared | {
                "at": schema.microseconds(prompt.time),
                "seq": prompt.seq,
                "digest": prompt.digest,
                "request_reason": prompt.reason or None,
                "found": prompt.found,
                "seeded": prompt.seeded,
                "length": None if prompt.text is None else len(prompt.text),
                "text": prompt.text,
            }
    except (OSError, SelfnoteError) as error:
        yield shared | {"flag": str(error)}
    yield from (shared | {"flag": flag} for flag in _faults(log))


# --- what was said --------------------------------------------------------------------------------
def _faults(log: SessionLog) -> list[str]:
    """Why a log is not what it should be; a torn tail is normal."""
    if log.status in NORMAL:
        return []
    return [f"{log.status}: {_joined(f'{one.where}: {one.reason}' for one in log.problems) or 'nothing can be read'}"]


def _refused(memory: Auditable, **values: Any) -> list[Row]:
    return [{"flag": f"{one.where}: {one.reason}", **values} for one in memory.sessions.refused]


def build_sessions(memory: Auditable, now: datetime, *, progress: bool) -> pd.DataFrame:
    """One row a session log, by project and id."""
    rows = [_session_row(log) for log in memory.sessions.read_all(progress=progress)]
    return _frame("sessions", [*rows, *_refused(memory)], now)


def _session_row(log: SessionLog) -> Row:
    header = log.header
    try:
        size = log.path.stat().st_size
    except OSError:
        size = 0
    return {
        "id": log.id,
        "cwd": header.cwd,
        "created_at": schema.microseconds(header.created_at),
        "last_at": schema.microseconds(log.last_time),
        "status": log.status,
        "events": log.event_count,
        "turns": log.turn_count,
        "messages": len(log.messages()),
        "owner_messages": log.owner_message_count,
        "delegated": header.delegated,
        "depth": header.delegation_depth,
        "origin": header.origin,
        "parent": header.parent,
        "seed_length": header.seed_length,
        "size": size,
        "path": str(log.path),
        "flag": _joined(f"{one.where}: {one.reason}" for one in log.problems),
    }


def build_messages(memory: Auditable, now: datetime, *, session: str | None, progress: bool) -> pd.DataFrame:
    """One row a message, by project, session and seq; what a fork copied from its parent is left out."""
    logs = memory.sessions.read_all(progress=progress) if session is None else [memory.sessions.open(session)]
    rows: list[Row] = []
    for log in logs:
        rows += [
            {
                "session": one.session_id,
                "seq": one.seq,
                "at": schema.microseconds(one.time),
                "role": one.role,
                "by_owner": one.by_owner,
                "kind": one.source_kind or None,
                "length": len(one.text),
                "text": one.text,
                "source": one.source,
                "line": one.line,
            }
            for one in log.messages()
        ]
        rows += [{"session": log.id, "flag": flag} for flag in _faults(log)]
    return _frame("messages", rows if session is not None else [*rows, *_refused(memory)], now)


# --- the other records ----------------------------------------------------------------------------
def build_notes(memory: Auditable, now: datetime) -> pd.DataFrame:
    """One row a note: notes.md in file order, then the archive month by month."""
    home, days = memory.home, _settings(memory).temp_ttl_days
    today = local_date(now, _zone(memory))
    rows: list[Row] = []
    for path in (home.notes, *sorted(home.notes_archive.glob("????-??.md"))):
        where = {"file": path.name, "archived": path != home.notes}
        parsed = parse_notes(read_text_file(path))
        notes = {note.line for note in parsed.notes}
        found = [
            {
                "id": note.id,
                "text": note.text,
                "length": note.length,
                "tier": note.tier,
                "pinned": note.pinned,
                "on": note.on,
                "age_days": None if note.on is None else (today - note.on).days,
                "expired": is_expired(note, today, days),
                "line": note.line,
                "flag": note.problem,
                **where,
            }
            for note in parsed.notes
        ]
        rows += _by_line([*found, *_bad((one for one in parsed.other_lines if one.line not in notes), **where)])
    return _frame("notes", rows, now)


def build_corrections(memory: Auditable, now: datetime) -> pd.DataFrame:
    """One row a correction: corrections.jsonl in file order, then the archive month by month."""
    home, zone = memory.home, _zone(memory)
    rows: list[Row] = []
    for path in (home.corrections, *sorted(home.notes_archive.glob("corrections-*.jsonl"))):
        where = {"file": path.name, "archived": path != home.corrections}
        parsed = parse_corrections(read_text_file(path))
        found: list[Row] = []
        for one in parsed.corrections:
            flags: list[str] = []
            found.append(
                {
                    "id": one.id,
                    "session": one.sid or None,
                    "seq": _read_count("seq", one.seq, flags),
                    "at": _read_instant("at", one.at, zone, flags),
                    "text": one.text,
                    "length": len(one.text),
                    "strength": one.signal,
                    "rule": one.signal_rule,
                    "status": one.status,
                    "used_at": _read_instant("usedAt", one.used_at, zone, flags),
                    "rule_fingerprint": one.rule_fp,
                    "line": parsed.lines[one.id] + 1,
                    "flag": _joined(flags),
                    **where,
                }
            )
        rows += _by_line([*found, *_bad(parsed.bad_lines, **where)])
    return _frame("corrections", rows, now)


def build_habits(memory: Auditable, now: datetime) -> pd.DataFrame:
    """One row a habit, revoked ones too, in file order."""
    zone = _zone(memory)
    parsed = parse_habits(read_text_file(memory.home.habits))
    facts = _read_facts(memory).columns
    approved = {one for one, status in zip(facts["id"], facts["status"], strict=True) if status == "approved"}
    active = {habit.id for habit in active_habits(parsed.habits, approved, zone)}
    rows: list[Row] = []
    for habit in parsed.habits:
        flags: list[str] = []
        rows.append(
            {
                "id": habit.id,
                "tag": habit.tag,
                "text": habit.text,
                "length": len(safe(habit.text)),
                "fact_ids": habit.fact_ids,
                "n_facts": len(habit.fact_ids),
                "n_approved": len(approved.intersection(habit.fact_ids)),
                "active": habit.id in active,
                "created_at": _read_instant("createdAt", habit.created_at, zone, flags),
                "revoked_at": _read_instant("revokedAt", habit.revoked_at, zone, flags),
                "line": parsed.lines[habit.id] + 1,
                "flag": _joined(flags),
            }
        )
    return _frame("habits", _by_line([*rows, *_bad(parsed.bad_lines)]), now)


def build_summaries(memory: Auditable, now: datetime) -> pd.DataFrame:
    """One row a summary, void ones too, in file order."""
    from selfnote.audit.fact_columns import source_of

    zone = _zone(memory)
    parsed = parse_summaries(read_text_file(memory.home.summaries))
    rows: list[Row] = []
    for one in parsed.summaries:
        flags: list[str] = []
        source = source_of(one.source)
        rows.append(
            {
                "id": one.id,
                "text": one.text,
                "length": len(one.text),
                "source": one.source or None,
                "session": source.name if source is not None and source.kind == "session" else None,
                "seq": source.number if source is not None and source.unit == "seq" else None,
                "status": one.status,
                "created_at": _read_instant("createdAt", one.created_at, zone, flags),
                "voided_at": _read_instant("voidedAt", one.voided_at, zone, flags),
                "line": parsed.lines[one.id] + 1,
                "flag": _joined(flags),
            }
        )
    return _frame("summaries", _by_line([*rows, *_bad(parsed.bad_lines)]), now)


# --- this turn ------------------------------------------------------------------------------------
def _assembled(memory: Auditable, now: datetime) -> tuple[Snapshot, Injection]:
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    return snapshot, assemble(snapshot, now, choice=snapshot.rotation_file.value)


def build_attribution(memory: Auditable, now: datetime) -> pd.DataFrame:
    """One row an approved fact, in file order: where it stands in this turn's text, and its state (S2-096..105)."""
    snapshot, injection = _assembled(memory, now)
    rows: list[Row] = []
    for one in attribute(snapshot, injection, now):
        fact, out = one.fact, one.squeezed
        rows.append(
            {
                "id": fact.id,
                "text": fact.text,
                "length": len(safe(fact.text)),
                "channel": fact.channel,
                "tag": fact.tags[0] if fact.tags else None,
                "segment": one.segment,
                "inside": one.segment is not None and out is None and not one.absorbed,
                "absorbed": one.absorbed,
                "needs": None if out is None else out.needs,
                "left": None if out is None else out.left,
                "reason": None if out is None else out.reason,
                "state": one.state,
                "importance": fact.importance,
                "heat": one.heat,
                "hit_count": fact.hit_count,
                "last_hit": schema.microseconds(fact.last_hit),
                "seen_count": fact.seen_count,
                "last_seen": schema.microseconds(fact.last_seen),
                "created_at": schema.microseconds(fact.created_at),
                "approved_at": schema.microseconds(fact.approved_at),
                "line": fact.line,
                "flag": _joined(fact.problems),
            }
        )
    rows = _by_line([*rows, *_bad(snapshot.facts_file.value.bad_lines)])
    problem = snapshot.facts_file.problem
    return _frame("attribution", [*rows, *([{"flag": problem}] if problem else [])], now)


def build_squeeze(memory: Auditable, now: datetime) -> pd.DataFrame:
    """One row an entry that this turn's text leaves out, by segment, in the order they were tried."""
    snapshot, injection = _assembled(memory, now)
    half_life, facts = snapshot.config.half_life_days, snapshot.competing.facts
    rows: list[Row] = [
        {
            "segment": name,
            "kind": one.kind,
            "id": one.id,
            "text": one.text,
            "length": len(one.text),
            "needs": one.needs,
            "left": one.left,
            "reason": one.reason,
            "short": one.needs - one.left,
            "rank": rank,
            "budget": segment.budget,
            "used": segment.used,
            "heat": heat_of(facts[one.id], now, half_life) if one.kind == "fact" else None,
        }
        for name, segment in injection.segments.items()
        for rank, one in enumerate(segment.squeezed, start=1)
    ]
    return _frame("squeeze", [*rows, *({"flag": one} for one in snapshot.problems)], now)


# --- settings -------------------------------------------------------------------------------------
def _settings(memory: Auditable) -> Config:
    """The settings; the defaults where they cannot be read."""
    try:
        return parse_config(read_text_file(memory.home.config).text)[0]
    except (OSError, SelfnoteError):
        return Config()


def _zone(memory: Auditable) -> tzinfo | None:
    return memory.zone_override if memory.zone_override is not None else find_zone(_settings(memory).tz)


# --- what an owner calls --------------------------------------------------------------------------
_BUILDERS: dict[str, Callable[..., Any]] = {
    "facts": build_facts,
    "heat": build_heat,
    "hits": build_hits,
    "searches": build_searches,
    "injections": build_injections,
    "notes": build_notes,
    "corrections": build_corrections,
    "habits": build_habits,
    "summaries": build_summaries,
    "sessions": build_sessions,
    "messages": build_messages,
    "attribution": build_attribution,
    "squeeze": build_squeeze,
}


def _build(memory: Auditable, name: str, now: datetime, options: Mapping[str, Any]) -> pd.DataFrame:
    """A frame; one flagged row when its file cannot be read."""
    try:
        return _BUILDERS[name](memory, now, **options)
    except (OSError, SelfnoteError, RecursionError) as error:
        return _frame(name, [{"flag": f"{type(error).__name__}: {error}"}], now)


class FrameSet(ABC):
    """The frames of one memory or of several. ``now`` is the instant looked from (UTC-aware); None reads the clock.

    Times later than ``now`` are kept and flagged. ``describe`` documents a frame, ``print`` of this object all of them.
    """

    @abstractmethod
    def _make(self, name: str, now: datetime | None, **options: Any) -> pd.DataFrame: ...

    def facts(self, now: datetime | None = None) -> pd.DataFrame:
        """One row a fact, in file order."""
        return self._make("facts", now)

    def heat(self, now: datetime | None = None) -> pd.DataFrame:
        """One row a fact: its heat at ``now``, what it is computed from, and its rank among the approved."""
        return self._make("heat", now)

    def hits(self, now: datetime | None = None) -> pd.DataFrame:
        """One row per (injection, segment, entry); ``count`` of a fact's rows adds up to its hitCount or more."""
        return self._make("hits", now)

    def searches(self, now: datetime | None = None) -> pd.DataFrame:
        """One row per (search, fact found); never added to the hits (S2-103)."""
        return self._make("searches", now)

    def injections(self, now: datetime | None = None, *, logs: bool = True, progress: bool = False) -> pd.DataFrame:
        """One row a line of our ledger and, with ``logs``, one a system prompt in the harness's session logs."""
        return self._make("injections", now, logs=logs, progress=progress)

    def notes(self, now: datetime | None = None) -> pd.DataFrame:
        """One row a note, archived ones too."""
        return self._make("notes", now)

    def corrections(self, now: datetime | None = None) -> pd.DataFrame:
        """One row a correction, archived ones too. They hold the owner's words: keep the frame on this machine."""
        return self._make("corrections", now)

    def habits(self, now: datetime | None = None) -> pd.DataFrame:
        """One row a habit, revoked ones too."""
        return self._make("habits", now)

    def summaries(self, now: datetime | None = None) -> pd.DataFrame:
        """One row a summary, void ones too."""
        return self._make("summaries", now)

    def sessions(self, now: datetime | None = None, *, progress: bool = False) -> pd.DataFrame:
        """One row a session log."""
        return self._make("sessions", now, progress=progress)

    def messages(
        self, session: str | None = None, *, now: datetime | None = None, progress: bool = False
    ) -> pd.DataFrame:
        """One row a message of ``session`` (an id or the unique beginning of one), of all sessions when None."""
        return self._make("messages", now, session=session, progress=progress)

    def attribution(self, now: datetime | None = None) -> pd.DataFrame:
        """One row an approved fact: where it stands in this turn's text, how often it went in, and its state."""
        return self._make("attribution", now)

    def squeeze(self, now: datetime | None = None) -> pd.DataFrame:
        """One row an entry that this turn's text leaves out: what it needs, what was left, and why."""
        return self._make("squeeze", now)

    def describe(self, frame: str) -> pd.DataFrame:
        """The documentation of a frame: column, dtype, unit, nullable, meaning in English and Chinese. NotFound."""
        return schema.describe(frame)

    def __str__(self) -> str:
        return "\n\n".join(schema.document(name) for name in schema.SCHEMA)


class Frames(FrameSet):
    """The frames of one memory, ``m.frames``; each call reads what is on disk now and writes nothing.

    Parameters
    ----------
    memory
        What to look at.
    """

    def __init__(self, memory: Auditable) -> None:
        self._memory = memory

    def __repr__(self) -> str:
        return f"<Frames of {self._memory.home.root}: {', '.join(schema.SCHEMA)}>"

    def messages(
        self, session: str | None = None, *, now: datetime | None = None, progress: bool = False
    ) -> pd.DataFrame:
        """One row a message of ``session`` (an id or the unique beginning of one), of all sessions when None.

        Raises
        ------
        NotFound
            When no session, or more than one, is called so.
        """
        if session is not None:
            self._memory.sessions.find(session)
        return super().messages(session, now=now, progress=progress)

    def _make(self, name: str, now: datetime | None, **options: Any) -> pd.DataFrame:
        return _build(self._memory, name, require_aware(now if now is not None else clock()), options)


@dataclass(frozen=True)
class _Place:
    """A home as it may be looked at: nothing can be written through it."""

    home: MemoryHome
    zone_override: tzinfo | None = None

    @cached_property
    def sessions(self) -> Sessions:
        from selfnote.sessions.library import Sessions

        return Sessions(self.home, known_digests=lambda: known_digests(self.home))


class ManyFrames(FrameSet):
    """The frames of several memories under each other, a column ``home`` before the others.

    A memory that cannot be read is one row that says why; the others are not touched by it.
    """

    def __init__(self, memories: Mapping[str, Auditable]) -> None:
        self._memories = dict(memories)

    def __repr__(self) -> str:
        return f"<Frames of {', '.join(self._memories) or 'no memory'}: {', '.join(schema.SCHEMA)}>"

    def _make(self, name: str, now: datetime | None, **options: Any) -> pd.DataFrame:
        import pandas as pd

        instant = require_aware(now if now is not None else clock())
        frames = []
        for home, memory in self._memories.items():
            frame = self._look_at(memory, name, instant, options)
            frame.insert(0, schema.HOME.name, pd.array([home] * len(frame), dtype=pd.StringDtype("python")))
            frames.append(frame)
        return pd.concat(frames, ignore_index=True) if frames else schema.empty(name, home=True)

    @staticmethod
    def _look_at(memory: Auditable, name: str, now: datetime, options: Mapping[str, Any]) -> pd.DataFrame:
        root = memory.home.root
        if not root.is_dir():
            return _frame(name, [{"flag": f"{root} is no folder"}], now)
        return _build(memory, name, now, options)


def many(homes: Mapping[str, str | os.PathLike[str] | Auditable]) -> ManyFrames:
    """The frames of several memories at once, each row with the name of its ``home``.

    Parameters
    ----------
    homes
        Name -> the ``.dsh`` directory, or an opened memory.
    """
    return ManyFrames(
        {
            name: _Place(MemoryHome.at(home)) if isinstance(home, str | os.PathLike) else home
            for name, home in homes.items()
        }
    )
