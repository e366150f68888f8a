"""capture-cursor.json: what of every session was already judged, and what the listener heard (S2-186..190).

Holds no text of the owner's: seqs, counts, instants, event types, ids and digests.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from selfnote.errors import SelfnoteError
from selfnote.sessions.model import Header, ResumePoint
from selfnote.storage.atomic import read_file, remove_leftovers, write_atomic
from selfnote.storage.fingerprints import Fingerprint, fingerprint
from selfnote.storage.jsonl import encode
from selfnote.storage.locks import hold
from selfnote.times import format_instant, parse_instant

log = logging.getLogger(__name__)

#: Ranges of holes kept for one session; beyond them the oldest become one, judged anew when met (S2-187).
HOLES_KEPT = 500
#: Human messages before the first heard event of a session that count as unprocessed (S2-188, A-14).
WINDOW = 50
#: Sessions whose cursor is kept; those whose last event is oldest go first and are read anew when met.
CURSORS_KEPT = 1000
#: Logs whose last scanned place is kept, delegated ones among them; the longest unchanged go first.
LOGS_KEPT = 3000
#: Landings the trace keeps (S2-194).
TRACE_KEPT = 40
#: Event types counted by name; further ones are counted as ``OTHER_TYPES``.
TYPES_KEPT = 200
OTHER_TYPES = "(other)"
#: Characters of an event type and of a session id that are kept in the counts.
TYPE_LENGTH = 64
PREFIX_LENGTH = 16
#: A seq over this one is no seq: a source could not name it.
LAST_SEQ = 10**15 - 1
#: Seconds a write of the cursor waits for the lock: what was not written is written with the next.
SAVE_WAIT = 2.0

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SessionCursor:
    """What of one session was judged: everything up to ``mark`` but the ``holes``, inclusive ranges (S2-186).

    ``first`` is the seq a session was first heard at, mid-way, until a reading of the log has told where its window
    begins (S2-188). ``at`` is the time of the latest event (UTC).
    """

    mark: int = -1
    holes: tuple[Range, ...] = ()
    first: int | None = None
    at: datetime | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def knows(self, seq: int) -> bool:
        """Whether the event at ``seq`` was judged."""
        return seq <= self.mark and not any(low <= seq <= high for low, high in self.holes)

    def covers(self, low: int, high: int) -> bool:
        """Whether every event from ``low`` to ``high`` was judged."""
        return high <= self.mark and not any(start <= high and end >= low for start, end in self.holes)

    def judged(self, low: int, high: int) -> SessionCursor:
        """With the events from ``low`` to ``high`` judged: a jump leaves a hole, a late event is struck out."""
        if high < low:
            return self
        holes = self.holes
        if low <= self.mark:
            holes = _strike(holes, low, high)
        elif low > self.mark + 1:
            start = self.mark + 1
            if holes and holes[-1][1] == self.mark:
                start, holes = holes[-1][0], holes[:-1]
            holes = _keep((*holes, (start, low - 1)))
        return replace(self, mark=max(self.mark, high), holes=holes)

    def missed(self, low: int, high: int) -> SessionCursor:
        """With the events from ``low`` to ``high`` met but not judged: holes."""
        around = [one for one in self.holes if one[1] < low - 1 or one[0] > high + 1]
        touched = [one for one in self.holes if one not in around]
        start, end = min([low, *(one[0] for one in touched)]), max([high, *(one[1] for one in touched)])
        if low > self.mark + 1:
            return self.judged(low, high).missed(low, high)
        return replace(self, mark=max(self.mark, high), holes=_keep(tuple(sorted([*around, (start, end)]))))

    def rewound(self, seq: int) -> SessionCursor:
        """With nothing from ``seq`` on judged: a resumed harness numbers from there again (HARNESS 9)."""
        if seq > self.mark:
            return self
        holes = tuple((low, min(high, seq - 1)) for low, high in self.holes if low < seq)
        return replace(self, mark=seq - 1, holes=holes)

    def narrowed(self, start: int) -> SessionCursor:
        """With the window known to begin at ``start``: what is before it counts as judged (S2-188)."""
        return replace(self, holes=_strike(self.holes, 0, start - 1), first=None)


def _strike(holes: tuple[Range, ...], low: int, high: int) -> tuple[Range, ...]:
    kept: list[Range] = []
    for start, end in holes:
        if end < low or start > high:
            kept.append((start, end))
            continue
        if start < low:
            kept.append((start, low - 1))
        if end > high:
            kept.append((high + 1, end))
    return _keep(tuple(kept))


def _keep(holes: tuple[Range, ...]) -> tuple[Range, ...]:
    """At most ``HOLES_KEPT`` ranges; what lies between the oldest is taken for unprocessed (S2-187)."""
    more = len(holes) - HOLES_KEPT
    return holes if more <= 0 else ((holes[0][0], holes[more][1]), *holes[more + 1 :])


class Move(NamedTuple):
    """One change of a session's cursor, kept until it is written so that another process's moves are not lost.

    ``floor`` is the session's seed length: what is below it belongs to the parent (EX-004).
    """

    kind: Literal["judged", "missed", "rewound", "narrowed"]
    low: int
    high: int
    at: datetime | None = None
    floor: int = 0

    def apply(self, cursor: SessionCursor | None) -> SessionCursor:
        """The cursor after the move; None stands for a session never met."""
        before = SessionCursor(self.floor - 1) if cursor is None else cursor
        match self.kind:
            case "judged":
                after = before.judged(self.low, self.high)
            case "missed":
                after = before.missed(self.low, self.high)
            case "rewound":
                after = before.rewound(self.low)
            case "narrowed":
                after = before.narrowed(self.low)
        if cursor is None and self.low > self.floor:
            after = replace(after, first=self.low)
        if self.at is not None and (after.at is None or self.at > after.at):
            after = replace(after, at=self.at)
        return after

    def joined(self, later: Move) -> Move | None:
        """Two moves that follow each other as one; None when they are two."""
        if self.kind == later.kind == "judged" and later.low == self.high + 1:
            at = max(filter(None, (self.at, later.at)), default=None)
            return self._replace(high=later.high, at=at)
        return None


class LogPoint(NamedTuple):
    """Up to where a log was scanned. ``seen`` is the file's fingerprint then.

    ``settled``: nothing in it waits for another try. ``point`` is None when the next reading is a whole one.
    """

    session: str
    seen: Fingerprint
    seed_length: int
    point: ResumePoint | None
    settled: bool = True
    delegated: bool = False


class Landed(NamedTuple):
    """One line of the trace: when an event landed (UTC), its session's prefix, its type, its seq and where."""

    at: datetime
    sid: str
    type: str
    seq: int | None
    reason: str


@dataclass
class Tally:
    """What the listener and the scans counted since ``since`` (UTC), the first event.

    ``candidates`` are the sentences found, ``written`` those of them that reached facts.jsonl, ``corrections`` the
    messages that correct the agent, ``scanned`` the owner's messages judged out of logs; the rest counts live events.
    """

    since: datetime | None = None
    events: int = 0
    types: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    candidates: int = 0
    written: int = 0
    corrections: int = 0
    scanned: int = 0
    last_type: str | None = None
    last_at: datetime | None = None
    trace: tuple[Landed, ...] = ()

    def land(self, landed: Landed) -> None:
        """Count one live event (S2-191..194)."""
        self.since = self.since or landed.at
        self.events += 1
        kind = landed.type[:TYPE_LENGTH]
        self.types[kind if kind in self.types or len(self.types) < TYPES_KEPT else OTHER_TYPES] += 1
        self.reasons[landed.reason] += 1
        self.last_type, self.last_at = kind, landed.at
        self.trace = (*self.trace[1 - TRACE_KEPT :], landed._replace(sid=landed.sid[:PREFIX_LENGTH], type=kind))

    def plus(self, later: Tally) -> Tally:
        """Both together; ``later`` is what was counted after this."""
        types = Counter(self.types)
        for kind, count in later.types.items():
            types[kind if kind in types or len(types) < TYPES_KEPT else OTHER_TYPES] += count
        instants = [one for one in (self.since, later.since) if one is not None]
        newer = later if later.last_at is not None else self
        return Tally(
            since=min(instants, default=None),
            events=self.events + later.events,
            types=types,
            reasons=self.reasons + later.reasons,
            candidates=self.candidates + later.candidates,
            written=self.written + later.written,
            corrections=self.corrections + later.corrections,
            scanned=self.scanned + later.scanned,
            last_type=newer.last_type,
            last_at=newer.last_at,
            trace=(*self.trace, *later.trace)[-TRACE_KEPT:],
        )


@dataclass
class CursorState:
    """Everything in the file. ``problems`` says what of it could not be read."""

    sessions: dict[str, SessionCursor] = field(default_factory=dict)
    logs: dict[str, LogPoint] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    moved_at: datetime | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    broken: bool = False

    def trim(self) -> None:
        """Drop the cursors of the sessions whose last event is oldest, and the log points that rest on none."""
        more = len(self.sessions) - CURSORS_KEPT
        if more > 0:
            oldest = sorted(self.sessions, key=lambda sid: _order(self.sessions[sid].at))[:more]
            for sid in oldest:
                del self.sessions[sid]
        kept = [one for one in self.logs.items() if one[1].delegated or one[1].session in self.sessions]
        if len(kept) > LOGS_KEPT:
            kept.sort(key=lambda one: one[1].seen or (0, 0, 0))
        self.logs = dict(kept[-LOGS_KEPT:])


def _order(at: datetime | None) -> float:
    return at.timestamp() if at is not None else 0.0


class CursorFile:
    """The cursors of one home: what is on disk, and the moves of this process that are not yet there.

    A file that cannot be read is set aside as ``capture-cursor.json.broken`` and reported; what it knew is judged
    anew, which records nothing twice (S2-187, S2-189).
    """

    def __init__(self, path: Path, lock: Path) -> None:
        self._path = path
        self._lock = lock
        self._stamp: object = None
        self._stored = CursorState()
        self._moves: dict[str, list[Move]] = {}
        self._points: dict[str, LogPoint] = {}
        self._views: dict[str, SessionCursor | None] = {}
        self._moved_at: datetime | None = None
        self.fresh = Tally()
        self.unsaved = 0

    # --- reading ----------------------------------------------------------------------------------
    def get(self, sid: str) -> SessionCursor | None:
        """The cursor of a session as it stands, unsaved moves among them; None for one never met."""
        self._refresh()
        if sid not in self._views:
            cursor = self._stored.sessions.get(sid)
            for move in self._moves.get(sid, ()):
                cursor = move.apply(cursor)
            self._views[sid] = cursor
        return self._views[sid]

    def point(self, key: str) -> LogPoint | None:
        """Up to where the log with this key was scanned."""
        self._refresh()
        return self._points.get(key) or self._stored.logs.get(key)

    def tally(self) -> Tally:
        """What was counted: by earlier runs and other processes as far as they wrote it, and by this one."""
        self._refresh()
        return self._stored.tally.plus(self.fresh)

    @property
    def session_count(self) -> int:
        """Sessions that have a cursor."""
        self._refresh()
        return len(self._stored.sessions.keys() | self._moves.keys())

    @property
    def moved_at(self) -> datetime | None:
        """When a cursor last moved (UTC)."""
        self._refresh()
        return max(filter(None, (self._moved_at, self._stored.moved_at)), default=None)

    @property
    def problems(self) -> tuple[str, ...]:
        """What of the file could not be read."""
        self._refresh()
        return tuple(self._stored.problems)

    @property
    def dirty(self) -> bool:
        """Whether a move or a scanned place is not on disk yet."""
        return bool(self._moves or self._points)

    @property
    def moved_sessions(self) -> int:
        """Sessions with unsaved moves."""
        return len(self._moves)

    def _refresh(self) -> None:
        stamp = fingerprint(self._path)
        if stamp != self._stamp:
            self._take(read_cursors(self._path), stamp)

    def _take(self, state: CursorState, stamp: object) -> None:
        for problem in state.problems:
            log.warning("%s", problem)
        self._stored, self._stamp = state, stamp
        self._views.clear()

    # --- moving -----------------------------------------------------------------------------------
    def move(self, sid: str, move: Move, *, now: datetime) -> None:
        """Move a session's cursor; in memory until ``save``."""
        view = move.apply(self.get(sid))
        self._views[sid] = view
        moves = self._moves.setdefault(sid, [])
        joined = moves[-1].joined(move) if moves else None
        if joined is not None:
            moves[-1] = joined
        else:
            moves.append(move)
        self._moved_at = now
        self.unsaved += 1

    def set_point(self, key: str, point: LogPoint) -> None:
        """Remember up to where a log was scanned."""
        if self.point(key) == point:
            return
        self._points[key] = point
        self.unsaved += 1

    def save(self) -> None:
        """Write what is new, on top of what other processes wrote meanwhile (S2-282).

        Raises
        ------
        Busy, OSError
            It could not be written; it is kept for the next save.
        """
        self.unsaved = 0
        with hold(self._lock, wait=SAVE_WAIT):
            remove_leftovers(self._path)
            state = read_cursors(self._path)
            if state.broken:
                self._set_aside()
            for sid, moves in self._moves.items():
                cursor = state.sessions.get(sid)
                for move in moves:
                    cursor = move.apply(cursor)
                if cursor is not None:
                    state.sessions[sid] = cursor
            for key, point in self._points.items():
                state.logs.pop(key, None)
                state.logs[key] = point
            state.tally = state.tally.plus(self.fresh)
            state.moved_at = max(filter(None, (self._moved_at, state.moved_at)), default=None)
            state.trim()
            stamp = write_atomic(self._path, encode(_to_json(state)).encode() + b"\n")
        self._moves.clear()
        self._points.clear()
        self.fresh = Tally()
        self._take(replace(state, problems=[], broken=False), stamp)

    def _set_aside(self) -> None:
        aside = self._path.with_name(self._path.name + ".broken")
        self._path.replace(aside)
        log.warning("%s cannot be read; it was set aside as %s and begun anew", self._path, aside.name)


# --- the file ------------------------------------------------------------------------------------
def read_cursors(path: Path) -> CursorState:
    """The file as it is; what cannot be read is told in ``problems`` and counts as never met. Raises nothing."""
    try:
        data, found = read_file(path)
        if found is None:
            return CursorState()
        values = json.loads(data.decode("utf-8"))
    except (OSError, SelfnoteError) as error:
        problem = f"{path} cannot be read ({error}); every session counts as never met"
        return CursorState(problems=[problem], broken=True)
    except (ValueError, RecursionError) as error:
        problem = f"{path} is no JSON ({error}); every session counts as never met"
        return CursorState(problems=[problem], broken=True)
    if not isinstance(values, dict):
        return CursorState(problems=[f"{path} is not a JSON object; every session counts as never met"], broken=True)
    state = CursorState(extra={key: value for key, value in values.items() if key not in _KEYS})
    state.moved_at = parse_instant(values.get("movedAt"))
    for sid, raw in _items(values, "sessions"):
        cursor = _read_session(raw)
        if cursor is None:
            state.problems.append(f"{path}: the cursor of session {sid!r} cannot be read; it counts as never met")
        else:
            state.sessions[sid] = cursor
    for key, raw in _items(values, "logs"):
        point = _read_point(raw)
        if point is not None:
            state.logs[key] = point
    state.tally = _read_tally(values.get("heard"))
    return state


_KEYS = frozenset({"version", "movedAt", "sessions", "logs", "heard"})
_SESSION_KEYS = frozenset({"mark", "holes", "first", "at"})


def _items(values: Mapping[str, Any], key: str) -> Iterable[tuple[str, Any]]:
    inner = values.get(key)
    return inner.items() if isinstance(inner, dict) else ()


def _is_count(value: object, low: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= LAST_SEQ


def _read_session(raw: object) -> SessionCursor | None:
    if not isinstance(raw, dict):
        return None
    mark, holes, first = raw.get("mark"), raw.get("holes", []), raw.get("first")
    if not isinstance(mark, int) or not _is_count(mark, -1) or not isinstance(holes, list):
        return None
    ranges: list[Range] = []
    before = -2
    for one in holes:
        if not (isinstance(one, list) and len(one) == 2 and all(map(_is_count, one))):
            return None
        low, high = one
        if not before + 1 < low <= high <= mark:
            return None
        ranges.append((low, high))
        before = high
    if first is not None and not _is_count(first):
        return None
    extra = {key: value for key, value in raw.items() if key not in _SESSION_KEYS}
    return SessionCursor(mark, _keep(tuple(ranges)), first, parse_instant(raw.get("at")), extra)


def _read_point(raw: object) -> LogPoint | None:
    if not isinstance(raw, dict):
        return None
    try:
        session, seen, delegated = str(raw["session"]), raw["seen"], raw["delegated"] is True
        seed_length, at = int(raw["seedLength"]), raw["point"]
        header = Header(session, delegated=delegated, seed_length=seed_length, version=0)
        point = None
        if at is not None:
            point = ResumePoint(
                size=int(at["size"]),
                offset=int(at["offset"]),
                next_seq=int(at["nextSeq"]),
                next_line=int(at["nextLine"]),
                head=str(at["head"]),
                before=str(at["before"]),
                inode=int(seen[2]),
                header=header,
            )
        stamp = (int(seen[0]), int(seen[1]), int(seen[2]))
        return LogPoint(session, stamp, seed_length, point, settled=raw["settled"] is True, delegated=delegated)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError):
        return None


def _read_tally(raw: object) -> Tally:
    if not isinstance(raw, dict):
        return Tally()

    def count(key: str) -> int:
        return raw[key] if _is_count(raw.get(key)) else 0

    def histogram(key: str) -> Counter[str]:
        return Counter({name: number for name, number in _items(raw, key) if _is_count(number)})

    trace: list[Landed] = []
    listed = raw.get("trace")
    for one in listed if isinstance(listed, list) else ():
        at = parse_instant(one.get("at")) if isinstance(one, dict) else None
        if at is not None:
            seq = one.get("seq") if _is_count(one.get("seq")) else None
            trace.append(Landed(at, str(one.get("sid")), str(one.get("type")), seq, str(one.get("reason"))))
    last = raw.get("lastType")
    return Tally(
        since=parse_instant(raw.get("since")),
        events=count("events"),
        types=histogram("types"),
        reasons=histogram("reasons"),
        candidates=count("candidates"),
        written=count("written"),
        corrections=count("corrections"),
        scanned=count("scanned"),
        last_type=last if isinstance(last, str) else None,
        last_at=parse_instant(raw.get("lastAt")),
        trace=tuple(trace[-TRACE_KEPT:]),
    )


def _instant(at: datetime | None) -> str | None:
    return None if at is None else format_instant(at)


def _to_json(state: CursorState) -> dict[str, Any]:
    tally = state.tally
    return {
        "version": 1,
        "movedAt": _instant(state.moved_at),
        "sessions": {sid: _session_json(cursor) for sid, cursor in state.sessions.items()},
        "logs": {key: _point_json(point) for key, point in state.logs.items()},
        "heard": {
            "since": _instant(tally.since),
            "events": tally.events,
            "types": dict(tally.types),
            "reasons": dict(tally.reasons),
            "candidates": tally.candidates,
            "written": tally.written,
            "corrections": tally.corrections,
            "scanned": tally.scanned,
            "lastType": tally.last_type,
            "lastAt": _instant(tally.last_at),
            "trace": [{**one._asdict(), "at": format_instant(one.at)} for one in tally.trace],
        },
        **state.extra,
    }


def _session_json(cursor: SessionCursor) -> dict[str, Any]:
    values: dict[str, Any] = {"mark": cursor.mark, "holes": [list(one) for one in cursor.holes]}
    if cursor.first is not None:
        values["first"] = cursor.first
    return {**values, "at": _instant(cursor.at), **cursor.extra}


def _point_json(log_point: LogPoint) -> dict[str, Any]:
    at = log_point.point
    place: dict[str, int | str] | None = None
    if at is not None:
        place = {"size": at.size, "offset": at.offset, "nextSeq": at.next_seq, "nextLine": at.next_line}
        place |= {"head": at.head, "before": at.before}
    return {
        "session": log_point.session,
        "seen": list(log_point.seen or ()),
        "settled": log_point.settled,
        "delegated": log_point.delegated,
        "seedLength": log_point.seed_length,
        "point": place,
    }
