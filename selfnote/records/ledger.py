"""The ledgers: what was injected, what was found, that we ran at all, and what each session last got."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from selfnote.config import HEARTBEAT_MERGE, SEEN_MERGE, SESSIONS_KEPT
from selfnote.home import MemoryHome
from selfnote.records.record_lines import strings
from selfnote.storage.atomic import append_line, read_file, sync_directory, write_atomic
from selfnote.storage.fingerprints import Fingerprint
from selfnote.storage.jsonl import BadLine, bad_line, encode, over_cap
from selfnote.storage.lines import read_text_file
from selfnote.storage.locks import WRITE_WAIT, hold
from selfnote.times import format_instant, parse_instant, require_aware

if TYPE_CHECKING:
    from selfnote.records.facts import Facts

log = logging.getLogger(__name__)

#: Why a session's text changed (DESIGN "Causes"); None for a count without a change.
CAUSES = ("start", "edit", "config", "refill", "date", "rotation")


@dataclass(frozen=True, slots=True)
class HitLine:
    """One line of hits.jsonl: what one session's prompt held from this instant on (DESIGN "Files").

    ``chars`` and ``ids`` by segment; ``squeezed`` by segment as (id, needs, left, reason); ``mentioned`` are the ids a
    doorplate counted (A-35); ``counted`` the facts whose hitCount grew; ``absorbed`` those behind a profile override.
    """

    at: datetime | None
    session: str | None
    turn: Any
    cwd: str | None
    digest: str
    cause: str | None
    chars: Mapping[str, int] = field(default_factory=dict)
    ids: Mapping[str, list[str]] = field(default_factory=dict)
    squeezed: Mapping[str, list[tuple[str, int, int, str]]] = field(default_factory=dict)
    mentioned: Mapping[str, list[str]] = field(default_factory=dict)
    counted: tuple[str, ...] = ()
    absorbed: tuple[str, ...] = ()
    line: int = 0

    def to_json(self) -> dict[str, Any]:
        """The line as it stands on disk."""
        values: dict[str, Any] = {
            "at": format_instant(self.at) if self.at else None,
            "session": self.session,
            "turn": self.turn,
            "cwd": self.cwd,
            "digest": self.digest,
            "cause": self.cause,
            "chars": dict(self.chars),
            "ids": dict(self.ids),
            "squeezed": {name: [list(one) for one in rows] for name, rows in self.squeezed.items()},
            "mentioned": dict(self.mentioned),
            "counted": list(self.counted),
        }
        if self.absorbed:
            values["absorbed"] = list(self.absorbed)
        return values


@dataclass(frozen=True, slots=True)
class SeenLine:
    """One line of seen.jsonl: which facts a search found, and which of them were counted; no query text."""

    at: datetime | None
    session: str | None
    via: str
    ids: tuple[str, ...]
    counted: tuple[str, ...]
    line: int = 0


def read_hits(home: MemoryHome) -> tuple[list[HitLine], list[BadLine]]:
    """Every line of the injection ledger, the rolled months first, and the lines that cannot be read."""
    return _read(_months(home, "hits", home.hits), _hit_line)


def read_seen(home: MemoryHome) -> tuple[list[SeenLine], list[BadLine]]:
    """Every line of the search ledger, the rolled months first, and the lines that cannot be read."""
    return _read(_months(home, "seen", home.seen), _seen_line)


def known_digests(home: MemoryHome) -> frozenset[str]:
    """The digests of every text this memory is known to have injected."""
    return frozenset(line.digest for line in read_hits(home)[0])


def _months(home: MemoryHome, name: str, current: Path) -> list[Path]:
    return [*sorted(home.ledger_archive.glob(f"{name}-????-??.jsonl")), current]


def _read(paths: Iterable[Path], parse: Any) -> tuple[list[Any], list[BadLine]]:
    lines: list[Any] = []
    bad: list[BadLine] = []
    for path in paths:
        for number, line in enumerate(read_text_file(path).lines, start=1):
            if not line.raw.strip():
                continue
            reason = over_cap(line)
            if reason is None:
                try:
                    lines.append(parse(json.loads(line.raw), number))
                except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
                    reason = f"not a ledger line ({error})"
            if reason is not None:
                bad.append(bad_line(path, number, line, reason))
    return lines, bad


def _hit_line(values: dict[str, Any], number: int) -> HitLine:
    return HitLine(
        at=parse_instant(values.get("at")),
        session=values.get("session"),
        turn=values.get("turn"),
        cwd=values.get("cwd"),
        digest=str(values["digest"]),
        cause=values.get("cause"),
        chars={str(name): int(chars) for name, chars in (values.get("chars") or {}).items()},
        ids={str(name): list(ids) for name, ids in (values.get("ids") or {}).items()},
        squeezed={
            str(name): [(str(one[0]), int(one[1]), int(one[2]), str(one[3])) for one in rows]
            for name, rows in (values.get("squeezed") or {}).items()
        },
        mentioned={str(name): list(ids) for name, ids in (values.get("mentioned") or {}).items()},
        counted=tuple(values.get("counted") or ()),
        absorbed=tuple(values.get("absorbed") or ()),
        line=number,
    )


def _seen_line(values: dict[str, Any], number: int) -> SeenLine:
    return SeenLine(
        at=parse_instant(values.get("at")),
        session=values.get("session"),
        via=str(values.get("via") or ""),
        ids=tuple(values["ids"]),
        counted=tuple(values.get("counted") or ()),
        line=number,
    )


# --- writing: call with the lock of memory/ held --------------------------------------------------
def append_hit(home: MemoryHome, line: HitLine) -> None:
    """Append one line to hits.jsonl, the months before rolled into the archive first."""
    _append(home, "hits", home.hits, line.to_json(), line.at)


def _append(home: MemoryHome, name: str, path: Path, values: Mapping[str, Any], at: datetime | None) -> None:
    if at is not None:
        _roll(home, name, path, f"{at:%Y-%m}")
    append_line(path, encode(values).encode())


def _roll(home: MemoryHome, name: str, path: Path, month: str) -> None:
    """Move the ledger of an earlier month to archive/<name>-YYYY-MM.jsonl."""
    stored = _month_of(path)
    if stored is None or stored >= month:
        return
    target = home.ledger_archive / f"{name}-{stored}.jsonl"
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        for line in read_text_file(path).lines:
            append_line(target, line.raw)
        path.unlink()
    else:
        path.rename(target)
    sync_directory(target.parent)
    sync_directory(path.parent)


def _month_of(path: Path) -> str | None:
    """The month of the first line that tells its time."""
    try:
        with path.open("rb") as stream:
            for raw in _first_lines(stream):
                at = parse_instant(_at_of(raw))
                if at is not None:
                    return f"{at:%Y-%m}"
    except OSError:
        return None
    return None


def _first_lines(stream: Any) -> Iterator[bytes]:
    for _ in range(5):
        yield stream.readline(65536)


def _at_of(raw: bytes) -> Any:
    try:
        values = json.loads(raw)
    except ValueError:
        return None
    return values.get("at") if isinstance(values, dict) else None


def count_seen(
    home: MemoryHome,
    facts: Facts,
    identifiers: Iterable[str],
    *,
    session: str | None,
    via: str,
    now: datetime,
    wait: float = WRITE_WAIT,
) -> list[str]:
    """Count facts a tool of the model's found: each at most once in ten minutes, with one ledger line (S2-102).

    The ids counted. Raises Busy when the lock is not had within ``wait`` seconds; the search must not depend on it.
    """
    found = list(dict.fromkeys(identifiers))
    if not found:
        return []
    with hold(home.memory_lock, wait=wait):
        counted = facts.count(found, "seen", now, merge_seconds=SEEN_MERGE)
        line = {"at": format_instant(now), "session": session, "via": via, "ids": found, "counted": counted}
        _append(home, "seen", home.seen, line, require_aware(now))
    return counted


# --- heartbeat ------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Heartbeat:
    """When memory was last injected, and how often so far (S2-228)."""

    at: datetime | None
    count: int


def read_heartbeat(home: MemoryHome) -> Heartbeat | None:
    """The heartbeat on disk; None when there is none or it cannot be read."""
    values = _read_json(home.heartbeat)
    if not isinstance(values, dict):
        return None
    count = values.get("count")
    return Heartbeat(parse_instant(values.get("at")), count if isinstance(count, int) else 0)


def write_heartbeat(home: MemoryHome, now: datetime, beats: int) -> bool:
    """Add ``beats`` and the time, unless the last beat is less than a minute old; whether it was written.

    Takes no lock: it is telemetry, and a turn never waits for it.
    """
    last = read_heartbeat(home)
    if last is not None and last.at is not None and 0 <= (now - last.at).total_seconds() < HEARTBEAT_MERGE:
        return False
    count = (last.count if last else 0) + beats
    write_atomic(home.heartbeat, encode({"at": format_instant(now), "count": count}).encode() + b"\n")
    return True


# --- what each session last got -------------------------------------------------------------------
class Refill(NamedTuple):
    """Env entries a session gets back after a compaction.

    ``at`` is when it was noted, ``after`` the last composed turn, in which it is not given, ``turn`` the one it is
    being given in, once it is.
    """

    ids: tuple[str, ...]
    at: str
    after: Any = None
    turn: Any = None


@dataclass(frozen=True, slots=True)
class SessionState:
    """What a session last got: its env ids, the digest, the parts the text was made of, and a waiting refill.

    ``turn`` is the turn that text was first given in, as far as JSON can hold it.
    """

    env: tuple[str, ...] = ()
    digest: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    refill: Refill | None = None
    turn: Any = None

    def to_json(self) -> dict[str, Any]:
        """The state as it stands on disk."""
        return {
            "env": list(self.env),
            "digest": self.digest,
            "parts": dict(self.parts),
            "refill": self.refill._asdict() if self.refill else None,
            "turn": self.turn,
        }


def read_sessions_injected(home: MemoryHome) -> tuple[dict[str, SessionState], Fingerprint]:
    """Session -> what it last got, the least recently changed first; what cannot be read is left out."""
    try:
        data, found = read_file(home.sessions_injected)
    except OSError:
        return {}, None
    values = _loads(data)
    states: dict[str, SessionState] = {}
    for session, one in values.items() if isinstance(values, dict) else ():
        if not isinstance(one, dict):
            continue
        parts = one.get("parts")
        states[session] = SessionState(
            strings(one.get("env")),
            str(one.get("digest") or ""),
            parts if isinstance(parts, dict) else {},
            _read_refill(one.get("refill")),
            one.get("turn"),
        )
    return states, found


def _read_refill(values: Any) -> Refill | None:
    if not isinstance(values, dict) or not (ids := strings(values.get("ids"))):
        return None
    return Refill(ids, str(values.get("at") or ""), values.get("after"), values.get("turn"))


def write_session_state(home: MemoryHome, session: str, state: SessionState) -> None:
    """Store what a session got; the last 50 sessions are kept. Call with the lock of memory/ held."""
    states, _ = read_sessions_injected(home)
    states.pop(session, None)
    states[session] = state
    kept = list(states.items())[-SESSIONS_KEPT:]
    body = encode({name: one.to_json() for name, one in kept})
    write_atomic(home.sessions_injected, body.encode() + b"\n")


def _read_json(path: Path) -> Any:
    try:
        return _loads(read_file(path)[0])
    except OSError:
        return None


def _loads(data: bytes) -> Any:
    try:
        return json.loads(data) if data.strip() else None
    except (ValueError, RecursionError):
        return None
