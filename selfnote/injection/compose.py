"""What the harness calls each turn: cached, accounted, and never in its way (S2-014, DESIGN "Rotation" to "Cache")."""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from selfnote.config import HEARTBEAT_MERGE, HIT_MERGE, SESSIONS_KEPT
from selfnote.errors import SelfnoteError
from selfnote.home import MemoryHome
from selfnote.injection.assemble import (
    Injection,
    Snapshot,
    assemble,
    basis_of_snapshot,
    read_snapshot,
    snapshot_paths,
)
from selfnote.injection.rotation import Choice, choose, sort_candidates, write_choice
from selfnote.records.ledger import (
    HitLine,
    Refill,
    SessionState,
    append_hit,
    read_sessions_injected,
    write_heartbeat,
    write_session_state,
)
from selfnote.storage.atomic import remove_leftovers
from selfnote.storage.fingerprints import Fingerprint, fingerprint
from selfnote.storage.jsonl import encode
from selfnote.storage.locks import COMPOSE_WAIT, hold
from selfnote.times import clock, format_instant, in_utc, local_date, to_milliseconds

log = logging.getLogger(__name__)

#: Which part of a change is recorded as its cause, the first that differs (DESIGN "Causes").
_CAUSE_OF_PART = (
    ("persona", "edit"),
    ("notes", "edit"),
    ("facts", "edit"),
    ("habits", "edit"),
    ("config", "config"),
    ("refill", "refill"),
    ("date", "date"),
    ("rotation", "rotation"),
)


def compose_injection(
    home: str | os.PathLike[str] | None = None,
    *,
    session: str | None = None,
    turn: Any = None,
    cwd: str | None = None,
    now: datetime | None = None,
    delegated: bool = False,
) -> str:
    """The memory text for one turn; "" when memory is off or empty, or the session is delegated.

    Never raises for what lies on disk and never waits more than 50 ms for a lock. Counts hits at most once an hour and
    writes a heartbeat; with ``session`` and ``turn`` the first text of a turn is returned for all its calls (DESIGN
    "Turn").

    Parameters
    ----------
    home
        The ``.dsh`` directory; None: ``$DSH_HOME`` or ``~/.dsh``.
    session, turn, cwd
        Which session asks, in which of its turns, and where it works: recorded in the ledger.
    now
        UTC-aware; None reads the clock.
    delegated
        Whether the session is a sub-agent's: it gets nothing, and nothing is written (S2-224).
    """
    return composer_of(home).compose(session=session, turn=turn, cwd=cwd, now=now, delegated=delegated)


def note_compaction(
    session: str,
    *,
    home: str | os.PathLike[str] | None = None,
    failed: bool = False,
    now: datetime | None = None,
) -> None:
    """The session's context was compacted: its next turn gets its env entries back once (S2-211).

    A failed compaction changes nothing. Never raises for what lies on disk.
    """
    if not failed:
        composer_of(home).note_compaction(session, now if now is not None else clock())


def composer_of(home: str | os.PathLike[str] | None = None) -> Composer:
    """The one composer of a home in this process; the environment is read each time ``home`` is None."""
    if home is None:
        return _composer(None, os.environ.get("DSH_HOME"), os.environ.get("DSH_MEMORY_DIR"), os.environ.get("HOME"))
    return _composer(os.fspath(home), None, None, None)


@functools.lru_cache(maxsize=64)
def _composer(home: str | None, *_environment: str | None) -> Composer:
    return Composer(MemoryHome.at(home))


def forget_composers() -> None:
    """Drop every cache and held turn of this process, as a restart of the harness does."""
    _composer.cache_clear()


class _Current(NamedTuple):
    """The text of the present state of the disk, valid until a file, the day or the hour changes."""

    prints: tuple[Fingerprint, ...]
    today: date
    since: datetime | None
    injection: Injection
    parts: Mapping[str, str]

    def holds(self, prints: tuple[Fingerprint, ...], today: date, now: datetime) -> bool:
        if prints != self.prints or today != self.today:
            return False
        if self.injection.reason is not None:
            return True
        if self.since is None:
            return False
        age = (now - self.since).total_seconds()
        return 0 <= age < HIT_MERGE


class _Call(NamedTuple):
    """One call of the harness: who asks, when, and the refill it is to get."""

    session: str | None
    turn: Any
    cwd: str | None
    now: datetime
    refill: Refill | None = None

    @property
    def key(self) -> str:
        """The session's name in sessions-injected.json; calls without a session share one."""
        return self.session if self.session is not None else ""


class Composer:
    """The composer of one home in one process."""

    def __init__(self, home: MemoryHome) -> None:
        self.home = home
        self.delegated_skips = 0
        self._paths = [os.fspath(path) for path in snapshot_paths(home)]
        self._sessions_path = os.fspath(home.sessions_injected)
        self._mutex = threading.RLock()
        self._snapshot: Snapshot | None = None
        self._current: _Current | None = None
        self._sessions: dict[str, SessionState] = {}
        self._sessions_print: Fingerprint = None
        self._sessions_read = False
        self._turns: OrderedDict[str, tuple[Any, str]] = OrderedDict()
        self._last_text: str = ""
        self._beats = 0
        self._next_beat: datetime | None = None
        self._said: set[str] = set()
        self._refills: dict[str, Refill] = {}
        self._refilled: dict[str, str] = {}

    # --- the harness's two verbs ------------------------------------------------------------------
    def compose(
        self,
        *,
        session: str | None = None,
        turn: Any = None,
        cwd: str | None = None,
        now: datetime | None = None,
        delegated: bool = False,
    ) -> str:
        """See ``compose_injection``."""
        if delegated:
            self.delegated_skips += 1
            return ""
        with self._mutex:
            held = self._turns.get(session) if session is not None and turn is not None else None
            if held is not None and held[0] == turn:
                return held[1]
            try:
                text = self._compose(_Call(session, _plain(turn), cwd, self._instant(now)))
                self._last_text = text
            except Exception:  # noqa: BLE001 - S2-014: memory is a bonus, whatever goes wrong in it
                self._say("compose", "the memory text could not be composed; the last good one is used", error=True)
                text = self._last_text
            if session is not None and turn is not None:
                self._turns[session] = (turn, text)
                self._turns.move_to_end(session)
                while len(self._turns) > SESSIONS_KEPT:
                    self._turns.popitem(last=False)
            return text

    def note_compaction(self, session: str, now: datetime) -> None:
        """See ``note_compaction``."""
        with self._mutex:
            self._load_sessions()
            state = self._sessions.get(session)
            if state is None or not state.env:
                return
            held = self._turns.get(session)
            refill = Refill(state.env, format_instant(now), after=_plain(held[0]) if held else state.turn)
            try:
                with hold(self.home.memory_lock, wait=COMPOSE_WAIT):
                    self._load_sessions()
                    write_session_state(self.home, session, replace(self._sessions.get(session, state), refill=refill))
            except (OSError, SelfnoteError) as error:
                self._say("refill", f"the refill of session {session} is kept in this process only: {error}")
                self._refills[session] = refill

    # --- one text ---------------------------------------------------------------------------------
    def _compose(self, call: _Call) -> str:
        self._load_sessions()
        call = call._replace(refill=self._due_refill(call.key, call.turn))
        now, snapshot, current = call.now, self._snapshot, self._current
        if current is None or snapshot is None or not current.holds(self._prints(), self._today(snapshot, now), now):
            current = self._refresh(now)
        injection = current.injection
        if injection.reason == "off":
            return ""
        if injection.reason is None:
            state = self._sessions.get(call.key)
            settled = state is not None and state.digest == injection.digest and state.parts == current.parts
            if not settled or call.refill is not None or not self._in_hour(current, now):
                injection = self._account(call)
        self._beat(now)
        return injection.text

    def _refresh(self, now: datetime) -> _Current:
        """Read what changed and assemble, without writing."""
        snapshot = read_snapshot(self.home, previous=self._snapshot)
        self._snapshot = snapshot
        for problem in snapshot.problems:
            self._say(problem, problem)
        choice = snapshot.rotation_file.value
        injection = assemble(snapshot, now, choice=choice)
        used = injection.choice
        self._current = _Current(
            snapshot.fingerprints,
            self._today(snapshot, now),
            choice.since if choice is not None and used is choice else None,
            injection,
            parts_of(snapshot, used, self._today(snapshot, now), None),
        )
        return self._current

    def _account(self, call: _Call) -> Injection:
        """Choose if it is time, count what was chosen, record what changed: one act under the lock, or none of it."""
        try:
            with hold(self.home.memory_lock, wait=COMPOSE_WAIT):
                result = self._account_locked(call)
                self._said.discard("account")
                return result
        except (OSError, SelfnoteError) as error:
            self._say("account", f"hits were not counted this time: {error}")
        current = self._refresh(call.now)
        if call.refill is None or self._snapshot is None:
            return current.injection
        self._refilled[call.key] = call.refill.at
        return assemble(self._snapshot, call.now, choice=current.injection.choice, refill=call.refill.ids)

    def _account_locked(self, call: _Call) -> Injection:
        now = to_milliseconds(call.now)
        snapshot = read_snapshot(self.home, previous=self._snapshot)
        choice, new_hour = self._choose(snapshot, now)
        plain = assemble(snapshot, now, choice=choice)
        given = plain if call.refill is None else assemble(snapshot, now, choice=choice, refill=call.refill.ids)
        counted: list[str] = []
        if new_hour and given.reason is None:
            from selfnote.records.facts import Facts  # only the hour that counts pays for the owner's verbs

            entered = {one for ids in given.ids.values() for one in ids} | set(given.absorbed)
            chosen = [one for one in (*choice.ids, *given.absorbed) if one in entered]
            facts = Facts(self.home.facts, self.home.memory_lock, zone=lambda: snapshot.zone)
            counted = facts.count(chosen, "hit", now, merge_seconds=HIT_MERGE)
        today = self._today(snapshot, now)
        parts = parts_of(snapshot, choice, today, call.refill)
        self._record(call, given, tuple(plain.ids.get("env", ())), parts, counted)
        self._snapshot = after = read_snapshot(self.home, previous=snapshot)
        settled = parts_of(snapshot, choice, today, None)
        # An edit made while the hits were being counted is in `after` already, but not in the text just composed.
        same = parts_of(after, choice, today, None) == settled
        self._current = _Current(after.fingerprints, today, choice.since, plain, settled) if same else None
        return given

    def _choose(self, snapshot: Snapshot, now: datetime) -> tuple[Choice, bool]:
        """The kept choice, or a fresh one written, and whether it is the hour to count (DESIGN "Rotation")."""
        kept = snapshot.rotation_file.value
        config = snapshot.config
        limits = config.budgets()
        basis = basis_of_snapshot(snapshot, config, limits)
        new_hour = kept is None or kept.has_expired(now)
        if kept is not None and not new_hour and kept.basis == basis:
            return kept, False
        since = now if kept is None or new_hour else kept.since
        candidates = sort_candidates(snapshot.competing, config, limits, now)
        choice = choose(candidates, limits, basis=basis, since=since)
        for path in (self.home.rotation, self.home.sessions_injected):
            remove_leftovers(path)
        write_choice(self.home, choice)
        return choice, new_hour

    def _record(
        self, call: _Call, given: Injection, env: tuple[str, ...], parts: Mapping[str, str], counted: list[str]
    ) -> None:
        """A ledger line when the session's text changed or hits were counted; the session's new state."""
        self._load_sessions()
        before = self._sessions.get(call.key)
        changed = before is None or before.digest != given.digest
        if changed or counted:
            cause = cause_of(before.parts if before is not None else None, parts) if changed else None
            append_hit(self.home, hit_line(call, given, cause, counted))
        refill = call.refill
        waiting = before.refill if before is not None and self._still_waits(call.key, before.refill) else None
        if refill is not None:
            # What a refill adds does not become what the session got (DESIGN "Refill").
            env = before.env if before is not None else env
            waiting = refill._replace(turn=call.turn) if call.turn is not None else None
            self._refills.pop(call.key, None)
            self._refilled[call.key] = refill.at
        state = SessionState(env, given.digest, parts, waiting, call.turn)
        if before is None or state != replace(before, turn=call.turn):
            write_session_state(self.home, call.key, state)
        self._load_sessions()

    # --- refill -----------------------------------------------------------------------------------
    def _due_refill(self, key: str, turn: Any) -> Refill | None:
        """The refill this call is to get: one that waits, or the one its own turn is being given in."""
        state = self._sessions.get(key)
        refill = self._refills.get(key) or (state.refill if state is not None else None)
        if refill is None or (turn is not None and turn == refill.after):
            return None
        if refill.turn is not None:
            return refill if turn == refill.turn else None
        return None if self._refilled.get(key) == refill.at else refill

    def _still_waits(self, key: str, refill: Refill | None) -> bool:
        """Whether a noted refill has not been given yet."""
        return refill is not None and refill.turn is None and self._refilled.get(key) != refill.at

    # --- small things -----------------------------------------------------------------------------
    def _prints(self) -> tuple[Fingerprint, ...]:
        return tuple(fingerprint(path) for path in self._paths)

    def _instant(self, now: datetime | None) -> datetime:
        """The instant asked for; one without a zone is read on the system's clock, and said to be so."""
        if now is None:
            return clock()
        if now.tzinfo is None:
            self._say("naive", f"now={now!r} has no time zone and is read in the system's")
        return in_utc(now)

    @staticmethod
    def _today(snapshot: Snapshot, now: datetime) -> date:
        return local_date(now, snapshot.zone)

    @staticmethod
    def _in_hour(current: _Current, now: datetime) -> bool:
        return current.since is not None and 0 <= (now - current.since).total_seconds() < HIT_MERGE

    def _load_sessions(self) -> None:
        found = fingerprint(self._sessions_path)
        if not self._sessions_read or found != self._sessions_print:
            self._sessions, self._sessions_print = read_sessions_injected(self.home)
            self._sessions_read = True

    def _beat(self, now: datetime) -> None:
        """One heartbeat; written at most once a minute, at no cost to the turns between."""
        self._beats += 1
        due = self._next_beat
        if due is not None and due - timedelta(seconds=HEARTBEAT_MERGE) <= now < due:
            return
        try:
            if write_heartbeat(self.home, now, self._beats):
                self._beats = 0
            self._next_beat = now + timedelta(seconds=HEARTBEAT_MERGE)
        except (OSError, SelfnoteError) as error:
            self._next_beat = now + timedelta(seconds=HEARTBEAT_MERGE)
            self._say("heartbeat", f"the heartbeat could not be written: {error}")

    def _say(self, what: str, message: str, *, error: bool = False) -> None:
        """Log something once, until it is well again: not in silence, and not every turn."""
        if what in self._said:
            return
        self._said.add(what)
        log.warning("%s (%s)", message, self.home.root, exc_info=error)


def parts_of(snapshot: Snapshot, choice: Choice | None, today: date, refill: Refill | None) -> dict[str, str]:
    """Hashes of everything a text is made of, by part (DESIGN "Causes")."""
    config = snapshot.config
    persona = snapshot.persona_file.value
    notes = snapshot.notes_file.value.notes
    settings = [
        list(config.phrases),
        config.header_text,
        config.timing_hint,
        config.injection_enabled,
        config.persona_enabled,
        config.temp_ttl_days,
        config.half_life_days,
        config.profile_max_chars,
        config.profile_override.model_dump(mode="json") if config.profile_override else None,
        config.pronoun_text,
        config.tz,
    ]
    return {
        "persona": _hash([persona.l0, persona.l1, bool(persona.l2.strip())]),
        "notes": _hash([[note.tier, note.text, note.pinned, str(note.on)] for note in notes]),
        "facts": snapshot.competing.part,
        "habits": _hash([[habit.id, habit.text] for habit in snapshot.habits]),
        "config": _hash(settings),
        "date": today.isoformat(),
        "rotation": _hash(
            [format_instant(choice.since) if choice and choice.since else None, choice.ids if choice else []]
        ),
        "refill": _hash(refill.ids) if refill else "",
    }


def hit_line(call: _Call, given: Injection, cause: str | None, counted: list[str]) -> HitLine:
    """The ledger line of one change or count."""
    segments = given.segments.items()
    return HitLine(
        at=to_milliseconds(call.now),
        session=call.session,
        turn=call.turn,
        cwd=call.cwd,
        digest=given.digest,
        cause=cause,
        chars={name: one.used for name, one in segments},
        ids=given.ids,
        squeezed={
            name: [(one.id, one.needs, one.left, one.reason) for one in segment.squeezed]
            for name, segment in segments
            if segment.squeezed
        },
        mentioned=given.mentioned,
        counted=tuple(counted),
        absorbed=given.absorbed,
    )


def _plain(turn: Any) -> Any:
    """A turn as JSON can hold it: any other kind of name as its text."""
    return turn if turn is None or isinstance(turn, str | int | float | bool) else str(turn)


def cause_of(before: Mapping[str, str] | None, after: Mapping[str, str]) -> str:
    """Why a session's text changed: the first part that differs; "start" when nothing is known of the session."""
    if before is None:
        return "start"
    return next((cause for part, cause in _CAUSE_OF_PART if before.get(part) != after.get(part)), "edit")


def _hash(value: object) -> str:
    return hashlib.sha256(encode(value).encode()).hexdigest()[:16]
