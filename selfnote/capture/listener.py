"""Hearing what the owner typed, live and out of the logs, and staging what should last (S2-176..197).

Live hearing needs neither msgspec nor zstandard; a scan imports the reader of logs when it first reads one.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast, get_args

from selfnote.capture.cursor import LAST_SEQ, WINDOW, CursorFile, Landed, LogPoint, Move, SessionCursor, Tally
from selfnote.config import Config
from selfnote.errors import Busy, NotFound, ReadOnly, SelfnoteError
from selfnote.home import MemoryHome
from selfnote.phrases import CAPTURE_VERDICTS
from selfnote.records.fact_lines import Fact, Reason
from selfnote.records.facts import Facts
from selfnote.records.flags import find_flags
from selfnote.sessions.library import SessionInfo, Sessions, decode_segment, find_session
from selfnote.sessions.model import (
    NORMAL,
    Header,
    Message,
    Problem,
    ResumePoint,
    Status,
    read_instant,
    read_whole_number,
)
from selfnote.storage.fingerprints import Fingerprint, digest, fingerprint
from selfnote.text import fold
from selfnote.times import clock, local_time, require_aware

if TYPE_CHECKING:
    from selfnote.sessions.log import SessionLog

log = logging.getLogger(__name__)

Outcome = Literal[
    "written",
    "no-candidate",
    "not-user-authored",
    "no-session",
    "delegated",
    "seeded",
    "disabled",
    "seen",
    "read-only",
    "error",
]
#: Where an event can land (S2-193): a candidate or one more occurrence was written; nothing that should last; not
#: typed by the owner; no session to tell; a delegated session (S2-181); copied from the parent (EX-004);
#: ``captureEnabled`` is off; judged before; the memory is read-only; it could not be judged and waits.
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Verdict = Literal["not listening", "nothing to capture", "capturing", "failing"]

USER_MESSAGE, TURN_END, END_SEED = "user/message", "turn/end", "session/end-seed"
#: Moves kept in memory at most; an owner's message and the end of a turn write them at once.
UNSAVED_LIMIT = 256
#: Sessions of ``scan_all`` between two writes of the cursor.
SCANS_A_SAVE = 32
CAPTURE_SOURCE = "listener"

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class JudgementLike(Protocol):
    """What a judge says of one sentence: ``selfnote.capture.triggers.Judgement``."""

    @property
    def captured(self) -> bool:
        """Whether it becomes a candidate."""

    @property
    def reason(self) -> str | None:
        """Which of the four reasons."""

    @property
    def clause(self) -> str:
        """The sentence that is stored."""


Judge = Callable[[str], Iterable[JudgementLike]]


class CorrectionsLike(Protocol):
    """Where evidence of a correction goes: ``selfnote.records.corrections.Corrections``."""

    def record(self, text: str, *, sid: str, seq: int, at: datetime, now: datetime | None = None) -> object | None:
        """The correction that was recorded; None when the text shows no signal of one."""


class Landing(NamedTuple):
    """Where one live event landed.

    ``at`` is UTC; ``facts`` are those written; ``judged`` tells that the text was read now;
    ``error`` says what failed.
    """

    reason: Outcome
    session: str = ""
    seq: int | None = None
    type: str = ""
    at: datetime | None = None
    facts: tuple[Fact, ...] = ()
    correction: bool = False
    judged: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What a scan of one session did.

    ``state`` is "read", "unchanged" (nothing new since the last scan), "delegated", "disabled", "unreadable", or
    "failed"; ``status`` is the log's where it was read whole, else "". ``judged`` counts the owner's messages judged
    now, ``candidates`` the sentences found in them, ``written`` those that reached facts.jsonl, ``corrections`` the
    messages that correct the agent. ``errors`` has one sentence for each message that waits for the next scan, or for
    what kept the log from being read.
    """

    session: str
    path: Path
    state: Literal["read", "unchanged", "delegated", "disabled", "unreadable", "failed"]
    status: Status | Literal[""] = ""
    judged: int = 0
    candidates: int = 0
    written: int = 0
    corrections: int = 0
    facts: tuple[Fact, ...] = ()
    errors: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing waits for another try."""
        return not self.errors


@dataclass(frozen=True, slots=True)
class ScanReport:
    """What a scan of all sessions did: one result a session, by project and id, and their sums.

    ``refused`` are folders that were not followed (EX-008).
    """

    results: tuple[ScanResult, ...]
    refused: tuple[Problem, ...] = ()

    @property
    def states(self) -> Counter[str]:
        """Sessions by state."""
        return Counter(result.state for result in self.results)

    @property
    def judged(self) -> int:
        """The owner's messages judged."""
        return sum(result.judged for result in self.results)

    @property
    def candidates(self) -> int:
        """Sentences found."""
        return sum(result.candidates for result in self.results)

    @property
    def written(self) -> int:
        """Sentences that reached facts.jsonl."""
        return sum(result.written for result in self.results)

    @property
    def corrections(self) -> int:
        """Messages that correct the agent."""
        return sum(result.corrections for result in self.results)

    @property
    def errors(self) -> tuple[str, ...]:
        """Every error, in the order of the sessions."""
        return tuple(error for result in self.results for error in result.errors)

    @property
    def ok(self) -> bool:
        """Whether nothing waits for another try."""
        return not self.errors


@dataclass(frozen=True, slots=True)
class CaptureStatus:
    """What was heard since ``since`` (UTC), by every process that wrote it down (S2-191..195).

    ``events``, ``types``, ``reasons``, ``last_type`` and ``trace`` count live events; ``candidates``, ``written`` and
    ``corrections`` count scans too, ``scanned`` the messages judged by scans. ``sessions`` have a cursor;
    ``cursor_moved_at`` is when one last moved (UTC).
    """

    since: datetime | None
    events: int
    types: Mapping[str, int]
    reasons: Mapping[str, int]
    candidates: int
    written: int
    corrections: int
    scanned: int
    last_type: str | None
    last_at: datetime | None
    trace: tuple[Landed, ...]
    sessions: int
    cursor_moved_at: datetime | None
    enabled: bool
    problems: tuple[str, ...] = ()
    zone: tzinfo | None = field(default=None, repr=False)

    @property
    def listening(self) -> bool:
        """Whether user messages arrive at all (S2-195)."""
        return self.types.get(USER_MESSAGE, 0) > 0

    @property
    def verdict(self) -> Verdict:
        """Which of the four states the numbers show."""
        if not self.listening:
            return "not listening"
        if self.reasons.get("written", 0):
            return "capturing"
        return "failing" if self.reasons.get("error", 0) else "nothing to capture"

    def describe(self, language: Literal["zh", "en"] = "zh") -> str:
        """The verdict as a sentence for the owner, times on the owner's clock."""
        last = "-" if self.last_at is None else f"{local_time(self.last_at, self.zone):%Y-%m-%d %H:%M}"
        sentence = CAPTURE_VERDICTS[language][self.verdict].format(
            events=self.events,
            errors=self.reasons.get("error", 0),
            messages=self.types.get(USER_MESSAGE, 0),
            written=self.reasons.get("written", 0),
            last=last,
        )
        if self.enabled:
            return sentence
        return CAPTURE_VERDICTS[language]["off"] + sentence


def _is_private(clause: str) -> bool:
    """Whether a sentence tells of address, account, health or finance: never captured by itself (A-05)."""
    return any(flag.kind == "personal" for flag in find_flags(clause))


class _Judged(NamedTuple):
    """What became of one message."""

    candidates: int
    facts: tuple[Fact, ...]
    correction: bool


class _Target(NamedTuple):
    """A log to scan, the id its folder tells, and the logs that rival it."""

    id: str
    path: Path
    rivals: tuple[Path, ...] = ()


class _Reading(NamedTuple):
    """What was read of one log; ``point`` is None where part of it cannot be read."""

    header: Header
    messages: list[Message]
    point: ResumePoint | None
    path: Path
    key: str
    seen: Fingerprint
    status: Status | Literal[""] = ""


class Capture:
    """Discovers what should last in what the owner typed; only ever stages candidates (S2-176).

    Parameters
    ----------
    home
        The memory's home.
    facts, corrections
        Where candidates and evidence of corrections go; without ``corrections`` none is recorded.
    config, zone
        Give the settings and the owner's time zone of the moment.
    sessions
        The home's session logs; made from ``home`` when None.
    judge
        Tells which sentences of a message should last; None: ``selfnote.capture.triggers.judge``.
    read_only
        Nothing is captured: an event lands as "read-only", a scan raises ReadOnly.
    """

    def __init__(
        self,
        home: MemoryHome,
        *,
        facts: Facts,
        corrections: CorrectionsLike | None = None,
        config: Callable[[], Config] = Config,
        zone: Callable[[], tzinfo | None] = lambda: None,
        sessions: Sessions | None = None,
        judge: Judge | None = None,
        read_only: bool = False,
    ) -> None:
        self._home = home
        self._facts = facts
        self._corrections = corrections
        self._config = config
        self._zone = zone
        self._sessions = sessions if sessions is not None else Sessions(home)
        self._judge = judge
        self._read_only = read_only
        self._cursor = CursorFile(home.capture_cursor, home.memory_lock)
        self._serial = threading.RLock()

    # --- live -------------------------------------------------------------------------------------
    def hear(self, event: Mapping[str, Any], header: Mapping[str, Any], *, now: datetime | None = None) -> Landing:
        """Judge one live event as the harness has it; the same event again changes nothing (S2-178..181, S2-189).

        Never raises for what the event holds or what lies on disk: that lands as "error" and is tried again by the
        next scan or delivery (S2-185). Events are taken one at a time, in the order they are given.
        """
        instant = require_aware(now or clock())
        with self._serial:
            kind = seq = None
            sid = ""
            try:
                kind, seq = _type_of(event), _seq_of(event)
                head = Header.from_mapping(header) if isinstance(header, Mapping) else Header("")
                sid = head.id
                landing = self._hear(event, head, kind, seq, instant)
            except Exception as error:
                log.exception("the event %s#%s could not be judged", sid, seq)
                landing = Landing("error", sid, seq, kind or "", instant, error=f"{type(error).__name__}: {error}")
                self._leave(sid, seq, instant)
            self._count(landing, instant)
            return landing

    def _hear(self, event: Mapping[str, Any], head: Header, kind: str, seq: int | None, now: datetime) -> Landing:
        landing = Landing("not-user-authored", head.id, seq, kind, now)
        refusal = self._refuse(head, seq)
        if refusal is not None:
            return landing._replace(reason=refusal)
        if seq is None:
            raise ValueError(f"seq={event.get('seq')!r} of a {kind} event is no whole number from 0 to {LAST_SEQ}")
        if kind == END_SEED:
            self._resume(head, seq, now)
        text = _owners_text(event) if kind == USER_MESSAGE else None
        at = read_instant(read_whole_number(event.get("time"))) or now
        if text is not None:
            landing = self._hear_owner(landing, text, head.id, seq, at=at, now=now)
        if landing.reason != "seen" or landing.judged:
            self._cursor.move(head.id, Move("judged", seq, seq, at, head.seed_length), now=now)
        return landing

    def _refuse(self, head: Header, seq: int | None) -> Outcome | None:
        """Why nothing of this session, or not this event, is for us; None when it may be."""
        if not head.id:
            return "no-session"
        if head.delegated:
            return "delegated"
        if seq is not None and seq < head.seed_length:
            return "seeded"
        return "read-only" if self._read_only else None

    def _hear_owner(self, landing: Landing, text: str, sid: str, seq: int, *, at: datetime, now: datetime) -> Landing:
        if not self._config().capture_enabled:
            # What is typed while capture is off stays unheard: the cursor moves past it.
            return landing._replace(reason="disabled")
        cursor = self._cursor.get(sid)
        if cursor is not None and cursor.knows(seq):
            return landing._replace(reason="seen")
        judged = self._judge_message(text, sid, seq, at, now)
        reason: Outcome = "written" if judged.facts else "seen" if judged.candidates else "no-candidate"
        return landing._replace(reason=reason, judged=True, facts=judged.facts, correction=judged.correction)

    def _resume(self, head: Header, seq: int, now: datetime) -> None:
        """A resumed harness may number anew what it lost unwritten: what follows the mark was never judged."""
        cursor = self._cursor.get(head.id)
        if cursor is not None and cursor.mark > seq:
            self._cursor.move(head.id, Move("rewound", seq, seq, None, head.seed_length), now=now)

    def _leave(self, sid: str, seq: int | None, now: datetime) -> None:
        """Leave a hole where an event could not be judged."""
        if sid and seq is not None:
            try:
                cursor = self._cursor.get(sid)
                if cursor is None or not cursor.knows(seq):
                    self._cursor.move(sid, Move("missed", seq, seq), now=now)
            except Exception:
                log.exception("the cursor of %s could not be moved", sid)

    def _count(self, landing: Landing, now: datetime) -> None:
        fresh = self._cursor.fresh
        fresh.land(Landed(now, landing.session, landing.type, landing.seq, landing.reason))
        if not self._read_only and (
            landing.type in {USER_MESSAGE, TURN_END}
            or self._cursor.unsaved >= UNSAVED_LIMIT
            or fresh.events >= UNSAVED_LIMIT
        ):
            self._save()

    def flush(self) -> bool:
        """Write what the cursor keeps in memory; whether that worked. A listener calls it before it ends."""
        with self._serial:
            return self._read_only or self._save()

    def _save(self) -> bool:
        try:
            self._cursor.save()
        except (SelfnoteError, OSError) as error:
            log.warning("%s was not written (%s); it is tried again later", self._home.capture_cursor, error)
            return False
        return True

    # --- one message ------------------------------------------------------------------------------
    def _judge_message(self, text: str, sid: str, seq: int, at: datetime, now: datetime) -> _Judged:
        """Stage what should last of one message of the owner's, and record a correction (S2-182..184)."""
        found: dict[str, JudgementLike] = {}
        for judgement in self._judge_with(text):
            if judgement.captured and not _is_private(judgement.clause):
                found.setdefault(fold(judgement.clause), judgement)
        source, sha = f"{sid}#{seq}", digest(text)
        written: list[Fact] = []
        if found:
            known = self._already_there(source, sha, len(found))
            for folded, judgement in found.items():
                if known is None or folded in known:
                    continue
                written.append(
                    self._facts.stage(
                        judgement.clause,
                        source=source,
                        reason=cast("Reason | None", judgement.reason),
                        capture_source=CAPTURE_SOURCE,
                        source_sha=sha,
                        now=at,
                    )
                )
        correction = (
            self._corrections is not None
            and self._corrections.record(text, sid=sid, seq=seq, at=at, now=now) is not None
        )
        fresh = self._cursor.fresh
        fresh.candidates += len(found)
        fresh.written += len(written)
        fresh.corrections += correction
        return _Judged(len(found), tuple(written), correction)

    def _already_there(self, source: str, sha: str, count: int) -> set[str] | None:
        """The folded sentences that came from ``source`` before, as they were and as edited since; None for all.

        A message is judged anew after a crash, or when its cursor is gone; what it gave then is not staged twice, be it
        retired or reworded by now (S2-189).
        """
        facts = [fact for fact in self._facts.all() if source == fact.source or source in fact.sources]
        if sum(fact.source == source and fact.source_sha == sha for fact in facts) >= count:
            return None
        earlier = [
            item.old
            for fact in facts
            for item in fact.history
            if item.field == "text" and isinstance(item.old, str)
        ]  # fmt: skip
        return {fold(text) for text in (*(fact.text for fact in facts), *earlier)}

    def _judge_with(self, text: str) -> Iterable[JudgementLike]:
        if self._judge is None:
            from selfnote.capture.triggers import judge

            return judge(text)
        return self._judge(text)

    # --- logs -------------------------------------------------------------------------------------
    def scan(self, session_id_or_path: str | os.PathLike[str], *, now: datetime | None = None) -> ScanResult:
        """Judge what the cursor has not judged of one session, by id, beginning of an id, log file or its folder.

        Agrees with ``hear`` on every message; cheap when nothing is new. A message that cannot be judged is told in
        ``errors`` and waits for the next scan.

        Raises
        ------
        NotFound
            There is no such log, or the beginning fits several.
        ReadOnly
        """
        instant = self._require_writable(now)
        target = self._find(session_id_or_path)
        with self._serial:
            result = self._scan(target, instant)
            if self._cursor.dirty:
                self._save()
            return result

    def scan_all(self, *, progress: bool = False, now: datetime | None = None) -> ScanReport:
        """Scan every session of the home; one that cannot be read does not stop the others.

        Parameters
        ----------
        progress
            Show a bar (tqdm).

        Raises
        ------
        ReadOnly
        """
        instant = self._require_writable(now)
        results = []
        with self._serial:
            for session in self._listed(progress=progress):
                target = _Target(session.id, session.path, session.rivals)
                try:
                    results.append(self._scan(target, instant))
                except Exception as error:
                    log.exception("session %s could not be scanned", session.id)
                    told = f"{session.id}: {type(error).__name__}: {error}"
                    results.append(ScanResult(session.id, session.path, "failed", errors=(told,)))
                if self._cursor.moved_sessions >= SCANS_A_SAVE:
                    self._save()
            if self._cursor.dirty:
                self._save()
        return ScanReport(tuple(results), self._sessions.refused)

    def _listed(self, *, progress: bool) -> Iterator[SessionInfo]:
        sessions = self._sessions.list()
        if not progress:
            return iter(sessions)
        from tqdm import tqdm

        return iter(tqdm(sessions, unit="session"))

    def _require_writable(self, now: datetime | None) -> datetime:
        if self._read_only:
            raise ReadOnly(f"{self._home.memory} was opened read-only; open_memory(..., read_only=False) may capture")
        return require_aware(now or clock())

    def _find(self, which: str | os.PathLike[str]) -> _Target:
        """The log meant by an id or a path, found without reading it."""
        path = Path(which)
        if isinstance(which, str) and not (os.path.lexists(path) and (path.parent != Path() or path.suffix)):
            session = self._sessions.find(which)
            return _Target(session.id, session.path, session.rivals)
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            # The library tells what is wrong with it.
            opened = self._sessions.open(path)
            return _Target(opened.id, opened.path)
        if path.is_file():
            return _Target(decode_segment(path.absolute().parent.name), path)
        refused: list[Problem] = []
        there = find_session(path, refused)
        if there is None:
            reasons = "".join(f"; {problem.where}: {problem.reason}" for problem in refused)
            raise NotFound(f"{path} holds no session log, e.g. session.jsonl.zstd{reasons}")
        return _Target(there.id, there.path, there.rivals)

    def _scan(self, target: _Target, now: datetime) -> ScanResult:
        if not self._config().capture_enabled:
            return ScanResult(target.id, target.path, "disabled")
        key = self._key(target.path)
        known = self._cursor.point(key)
        seen = fingerprint(target.path)
        if known is not None and known.settled and known.seen == seen and not target.rivals:
            if known.delegated:
                return ScanResult(known.session, target.path, "delegated")
            if self._cursor.get(known.session) is not None:
                return ScanResult(known.session, target.path, "unchanged")
        added = None if target.rivals or known is None else self._read_added(target.path, known)
        if added is None:
            return self._scan_whole(target, key, seen, now)
        messages, point = added
        reading = _Reading(point.header, messages, point, target.path, key, seen)
        return self._take(reading, now)

    def _read_added(self, path: Path, known: LogPoint) -> tuple[list[Message], ResumePoint] | None:
        """What was added to a log whose earlier part is judged; None when all of it has to be read."""
        point, cursor = known.point, self._cursor.get(known.session)
        if point is None:
            return None
        if not known.delegated and (cursor is None or not cursor.covers(known.seed_length, point.next_seq - 1)):
            return None
        from selfnote.sessions.log import read_new

        new = read_new(path, point)
        return None if new.mode == "full" or new.point is None else (new.messages, new.point)

    def _scan_whole(self, target: _Target, key: str, seen: Fingerprint, now: datetime) -> ScanResult:
        from selfnote.sessions.log import SessionLog

        opened = SessionLog(target.path, session_id=target.id, rivals=target.rivals)
        if opened.status in {"ambiguous", "newer", "empty"} or (opened.status == "corrupt" and not opened.event_count):
            told = tuple(f"{opened.id}: {problem.where}: {problem.reason}" for problem in opened.problems)
            return ScanResult(opened.id, target.path, "unreadable", opened.status, errors=told[:1])
        # Where part of a log cannot be read, only the messages that were count as judged.
        point = opened.resume_point if opened.status in NORMAL and not opened.skipped_lines else None
        if point is not None:
            self._narrow(opened, now)
        reading = _Reading(opened.header, opened.messages(), point, target.path, key, seen, opened.status)
        return self._take(reading, now)

    def _narrow(self, opened: SessionLog, now: datetime) -> None:
        """Tell where the window before the first heard event of a session begins (S2-188, A-14)."""
        cursor = self._cursor.get(opened.id)
        if cursor is None or cursor.first is None:
            return
        before = [message.seq for message in opened.messages() if message.by_owner and message.seq < cursor.first]
        start = before[-WINDOW] if len(before) >= WINDOW else 0
        self._cursor.move(opened.id, Move("narrowed", start, start), now=now)

    def _take(self, reading: _Reading, now: datetime) -> ScanResult:
        """Judge the messages of one log in the order of their seqs, and move the cursor past what was read."""
        sid, floor = reading.header.id, reading.header.seed_length
        point = LogPoint(sid, reading.seen, floor, reading.point, settled=True, delegated=reading.header.delegated)
        if reading.header.delegated:
            self._cursor.set_point(reading.key, point)
            return ScanResult(sid, reading.path, "delegated", reading.status)
        cursor = self._cursor.get(sid)
        waiting = [one for one in reading.messages if one.by_owner and not (cursor and cursor.knows(one.seq))]
        judged: dict[int, _Judged] = {}
        errors: dict[int, str] = {}
        for number, message in enumerate(waiting):
            try:
                judged[message.seq] = self._judge_message(message.text, sid, message.seq, message.time or now, now)
            except Busy as error:
                # Each further message would wait as long for the same lock.
                errors |= {one.seq: f"{one.source}: {error}" for one in waiting[number:]}
                log.warning("%s: %s", message.source, error)
                break
            except Exception as error:
                log.exception("%s could not be judged", message.source)
                errors[message.seq] = f"{message.source}: {type(error).__name__}: {error}"
        self._move_past(reading, cursor, judged, errors, now)
        self._cursor.fresh.scanned += len(judged)
        self._cursor.set_point(reading.key, point._replace(settled=not errors))
        return ScanResult(
            sid,
            reading.path,
            "read" if waiting else "unchanged",
            reading.status,
            judged=len(judged),
            candidates=sum(one.candidates for one in judged.values()),
            written=sum(len(one.facts) for one in judged.values()),
            corrections=sum(one.correction for one in judged.values()),
            facts=tuple(fact for one in judged.values() for fact in one.facts),
            errors=tuple(errors.values()),
        )

    def _move_past(
        self,
        reading: _Reading,
        cursor: SessionCursor | None,
        judged: Iterable[int],
        failed: Iterable[int],
        now: datetime,
    ) -> None:
        """Past all that was read; past the judged messages alone where part of the log cannot be read."""
        sid, floor = reading.header.id, reading.header.seed_length
        at = max((one.time for one in reading.messages if one.time is not None), default=None)
        moves = [] if cursor is not None else [Move("judged", floor, floor - 1, at, floor)]
        if reading.point is None:
            moves += [Move("judged", seq, seq, at, floor) for seq in judged]
        elif cursor is None or failed or not cursor.covers(floor, reading.point.next_seq - 1):
            moves.append(Move("judged", floor, reading.point.next_seq - 1, at, floor))
        moves += [Move("missed", seq, seq, None, floor) for seq in failed]
        for move in moves:
            self._cursor.move(sid, move, now=now)

    def _key(self, path: Path) -> str:
        """A name of a log that holds none of its folders' names."""
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
        try:
            named = absolute.relative_to(os.path.abspath(self._home.sessions)).as_posix()  # noqa: PTH100 - as above
        except ValueError:
            named = absolute.as_posix()
        return hashlib.sha256(named.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    # --- what was heard ---------------------------------------------------------------------------
    def status(self) -> CaptureStatus:
        """What was heard and what became of it, by this process and by those that wrote it down before."""
        with self._serial:
            tally: Tally = self._cursor.tally()
            return CaptureStatus(
                since=tally.since,
                events=tally.events,
                types=dict(tally.types),
                reasons=dict(tally.reasons),
                candidates=tally.candidates,
                written=tally.written,
                corrections=tally.corrections,
                scanned=tally.scanned,
                last_type=tally.last_type,
                last_at=tally.last_at,
                trace=tally.trace,
                sessions=self._cursor.session_count,
                cursor_moved_at=self._cursor.moved_at,
                enabled=self._config().capture_enabled,
                problems=self._cursor.problems,
                zone=self._zone(),
            )


# --- one live event -------------------------------------------------------------------------------
def _type_of(event: object) -> str:
    kind = event.get("type") if isinstance(event, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _seq_of(event: object) -> int | None:
    seq = read_whole_number(event.get("seq")) if isinstance(event, Mapping) else None
    return seq if seq is not None and 0 <= seq <= LAST_SEQ else None


def _owners_text(event: Mapping[str, Any]) -> str | None:
    """The text of a ``user/message`` that a person typed, read as the log's reader reads it; None for any other.

    Kind exactly ``user`` (EX-006) and not put in place of earlier events; the session is judged elsewhere.
    """
    data, operation = event.get("data"), event.get("surfaceOp")
    if not isinstance(data, Mapping):
        return None
    source = data.get("source")
    if not isinstance(source, Mapping) or source.get("kind") != "user":
        return None
    if operation not in (None, "append") and not (isinstance(operation, Mapping) and operation.get("op") == "append"):
        return None
    content = data.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list | tuple):
        return None
    return "\n".join(
        _without_lone_surrogates(block["text"])
        for block in content
        if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str)
    )


def _without_lone_surrogates(text: str) -> str:
    """Half a surrogate pair as U+FFFD, as a log reads."""
    return _LONE_SURROGATE.sub("\ufffd", text) if not text.isascii() else text
