"""The optional index of what was said: SQLite FTS5, derived, holding tokens and no text (S2-230..238)."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import sqlite3
import threading
import weakref
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from html import escape
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from selfnote.errors import Corrupt, NotFound, require_writable
from selfnote.home import MemoryHome
from selfnote.phrases import RECALL
from selfnote.sessions.cache import UNREADABLE, Spoken, spoken_of
from selfnote.sessions.library import SessionInfo, Sessions
from selfnote.sessions.log import read_new
from selfnote.sessions.model import ResumePoint
from selfnote.sessions.ranking import NO_TIME, Collection, Shelf, code_of, length_of
from selfnote.storage.fingerprints import Fingerprint, fingerprint
from selfnote.storage.locks import WRITE_WAIT, hold
from selfnote.text import is_beginning, token_version, tokens
from selfnote.times import clock, format_instant, local_time, parse_instant, require_aware

log = logging.getLogger(__name__)

State = Literal["ok", "stale", "absent"]

#: Raised when the tables change; an index of another format is not searched and is built anew.
FORMAT = 1
#: Sessions that lag behind and are read for one search, at most; more: every session is read (S2-237).
TOP_UP_LIMIT = 20
#: A session that was appended to makes the index stale once it has been cold for so long (S2-236).
COLD = timedelta(minutes=5)
#: Share of rows that no longer count at which a build starts from nothing (PERFORMANCE "Decisions").
STALE_SHARE = 0.2
#: Seconds a search waits for a writer before it reads the sessions instead.
_READ_WAIT = 0.25

_SCHEMA = """
CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, id TEXT NOT NULL, generation INTEGER NOT NULL,
    readable INTEGER NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL, inode INTEGER NOT NULL, point BLOB
);
CREATE TABLE blocks (
    first INTEGER PRIMARY KEY, session INTEGER NOT NULL, generation INTEGER NOT NULL, count INTEGER NOT NULL,
    length INTEGER NOT NULL, seqs BLOB NOT NULL, times BLOB NOT NULL, codes BLOB NOT NULL
);
CREATE VIRTUAL TABLE messages USING fts5(
    tokens, content='', detail=none, columnsize=0, tokenize="ascii tokenchars '_-.:+#'"
);
"""
#: Every row a search relies on, in the order their checksum takes them.
_CHECKED = (
    "SELECT id, block FROM messages_data ORDER BY id",
    "SELECT segid, term, pgno FROM messages_idx ORDER BY segid, term",
    "SELECT * FROM blocks ORDER BY first",
    "SELECT * FROM sessions ORDER BY number",
)


class Unusable(Exception):  # noqa: N818 - a reason to read the sessions instead, never seen outside
    """The index cannot be searched: why, as a key of ``phrases.RECALL``."""


class Entry(NamedTuple):
    """One session as the index knows it: what it was like when it was read, and where reading goes on."""

    number: int
    id: str
    generation: int
    readable: bool
    found: Fingerprint
    point: ResumePoint | None


class Difference(NamedTuple):
    """How the index and the disk differ (S2-233): by stat, so a session that was only touched is among ``changed``."""

    fresh: tuple[tuple[SessionInfo, Entry], ...]
    changed: tuple[tuple[SessionInfo, Entry], ...]
    unknown: tuple[SessionInfo, ...]
    gone: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The seven indicators (S2-231), and what they are made of.

    ``state``: "ok", "stale" or "absent"; ``problem`` says why an index that is there cannot be used. ``to_sync`` =
    ``never_indexed`` + ``changed`` (S2-232). ``size`` in bytes, ``built_at`` in UTC. ``undecodable`` sessions could
    not be read, so their content is not in the index.
    """

    state: State
    indexed: int
    on_disk: int
    never_indexed: int
    changed: int
    records: int
    size: int
    built_at: datetime | None
    undecodable: int
    problem: str = ""
    language: str = "zh"
    zone: tzinfo | None = None

    @property
    def to_sync(self) -> int:
        """Sessions that the next build will read: never indexed, or changed since."""
        return self.never_indexed + self.changed

    @property
    def complete(self) -> bool:
        """Whether everything that was said is in the index, sessions that are being written aside."""
        return self.state == "ok" and not self.undecodable

    def rows(self, language: str | None = None) -> list[tuple[str, str]]:
        """The indicators in words: label and value, the time of the build on the owner's clock."""
        words = RECALL[language or self.language]
        built = "—" if self.built_at is None else f"{local_time(self.built_at, self.zone):%Y-%m-%d %H:%M:%S}"
        rows = [
            (words["state"], words[f"state {self.state}"]),
            (words["indexed"], str(self.indexed)),
            (words["on disk"], str(self.on_disk)),
            (words["to sync"], words["to sync parts"].format(n=self.to_sync, new=self.never_indexed, old=self.changed)),
            (words["records"], str(self.records)),
            (words["size"], f"{self.size / 1_000_000:.2f} MB"),
            (words["built"], built),
        ]
        if self.undecodable:
            rows.append((words["undecodable"], words["not in the index"].format(n=self.undecodable)))
        if self.problem:
            rows.append((words["problem"], words[self.problem].format(n=self.on_disk)))
        return rows

    def __str__(self) -> str:
        return "\n".join(f"{label}{RECALL[self.language]['colon']}{value}" for label, value in self.rows())

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(label)}</th><td>{escape(value)}</td></tr>" for label, value in self.rows())
        return f"<table>{rows}</table>"

    def to_json(self) -> dict[str, object]:
        """The indicators as plain JSON values."""
        return {
            "state": self.state,
            "indexed": self.indexed,
            "onDisk": self.on_disk,
            "toSync": self.to_sync,
            "neverIndexed": self.never_indexed,
            "changed": self.changed,
            "records": self.records,
            "size": self.size,
            "builtAt": format_instant(self.built_at) if self.built_at else None,
            "undecodable": self.undecodable,
            "problem": self.problem or None,
        }


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did and how the index stands after it: ``status`` was asked anew from the disk (S2-234)."""

    status: IndexStatus
    added: int
    rebuilt: bool

    @property
    def complete(self) -> bool:
        """Whether everything that was said is in the index now."""
        return self.status.complete

    @property
    def note(self) -> str:
        """The result in a sentence: done, or how many sessions are not in the index."""
        words, status = RECALL[self.status.language], self.status
        done = words["built anew" if self.rebuilt else "brought up to date"]
        parts = [done.format(n=self.added, sessions=status.indexed)]
        if status.undecodable:
            parts.append(words["not in the index"].format(n=status.undecodable))
        if status.state != "ok":
            parts.append(words["still behind"].format(n=status.to_sync))
        return words["stop"].join(parts)

    def __str__(self) -> str:
        return self.note


class Catalogue:
    """The index as it is loaded for searching: its connection, its columns, and what it knows of each session."""

    def __init__(self, connection: sqlite3.Connection, found: Fingerprint) -> None:
        self.connection = connection
        self.found = found
        self.serial = ""
        self.built_at: datetime | None = None
        self.entries: dict[str, Entry] = {}
        self.shelf = Shelf()
        self.collection = Collection(0, 0.0)
        self.stale = 0

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """One moment of the index for the body, loaded anew when another process has built since.

        Raises
        ------
        Unusable
            It is of another version, was left half built, or its checksum is wrong.
        """
        self.connection.execute("BEGIN")
        try:
            serial = self.connection.execute("SELECT value FROM facts WHERE key = 'serial'").fetchone()
            if serial is None or serial[0] != self.serial:
                try:
                    self._load()
                except (msgspec.MsgspecError, ValueError) as error:
                    raise Unusable("damaged") from error
            yield
        finally:
            self.connection.rollback()

    def postings(self, token: str) -> list[int]:
        """The messages that hold a token of a query, those that no longer count left out."""
        query = f'"{token}" *' if is_beginning(token) else f'"{token}"'
        # One joined string: fetching a row for each message takes longer than finding them.
        (joined,) = self.connection.execute(
            "SELECT group_concat(rowid) FROM messages WHERE messages MATCH ?", (query,)
        ).fetchone()
        found = list(map(int, joined.split(","))) if joined else []
        if not self.stale:
            return found
        codes = self.shelf.codes
        return [document for document in found if codes[document]]

    def compare(self, listing: Iterable[SessionInfo], folder: Path) -> Difference:
        """How the sessions on disk differ from those that were indexed, by what stat tells (S2-233)."""
        fresh, changed, unknown = [], [], []
        missing = dict(self.entries)
        for info in listing:
            entry = missing.pop(place_of(info, folder), None)
            if entry is None:
                unknown.append(info)
            elif fingerprint(info.path) == entry.found:
                fresh.append((info, entry))
            else:
                changed.append((info, entry))
        return Difference(tuple(fresh), tuple(changed), tuple(unknown), tuple(missing.values()))

    def _load(self) -> None:
        query = self.connection.execute
        (version,) = query("PRAGMA user_version").fetchone()
        facts = dict(query("SELECT key, value FROM facts")) if version == FORMAT else {}
        if version != FORMAT or facts.get("tokens") != token_version():
            raise Unusable("of another version")
        serial = facts.get("serial", "")
        if not serial or facts.get("checksum") != f"{serial} {checksum(self.connection)}":
            raise Unusable("damaged")
        entries: dict[str, Entry] = {}
        live: dict[int, int] = {}
        for number, path, name, generation, readable, mtime, size, inode, point in query("SELECT * FROM sessions"):
            restored = None if point is None else msgspec.json.decode(point, type=ResumePoint)
            entries[path] = Entry(number, name, generation, bool(readable), (mtime, size, inode), restored)
            live[number] = generation
        shelf, stale, total = Shelf(), 0, 0
        for first, session, generation, count, length, *columns in query("SELECT * FROM blocks ORDER BY first"):
            shelf.skip(first - len(shelf.codes))
            if live.get(session) == generation:
                seqs, times, codes = (_unpack(kind, data) for kind, data in zip("qqH", columns, strict=True))
                shelf.add(session, seqs, times, codes)
                total += length
            else:
                shelf.skip(count)
                stale += count
        self.entries, self.shelf, self.stale = entries, shelf, stale
        size = len(shelf.codes) - 1 - stale
        self.collection = Collection(size, total / size if size else 0.0)
        self.built_at = parse_instant(facts.get("built"))
        self.serial = serial


class Index:
    """``memory/index.sqlite`` of one home: build it, ask how it stands, drop it. Recall reads it, and never writes.

    Parameters
    ----------
    home, sessions
        Where the index lives, and the logs it is made from.
    read_only
        Refuse ``build`` and ``drop`` with ReadOnly.
    language, zone
        How ``status`` and ``build`` speak.
    """

    def __init__(
        self,
        home: MemoryHome,
        sessions: Sessions,
        *,
        read_only: bool = False,
        language: Callable[[], str] = lambda: "zh",
        zone: Callable[[], tzinfo | None] = lambda: None,
    ) -> None:
        self.path = home.index
        self.folder = home.sessions
        self._lock_file = home.memory / ".index.lock"
        self._sessions = sessions
        self._read_only = read_only
        self._language, self._zone = language, zone
        self._thread_lock = threading.Lock()
        self._catalogue: Catalogue | None = None

    def __repr__(self) -> str:
        return f"Index({str(self.path)!r})"

    # --- searching --------------------------------------------------------------------------------
    @contextlib.contextmanager
    def reading(self) -> Iterator[Catalogue]:
        """The index for one search.

        Raises
        ------
        Unusable
            There is none, it is of another version, damaged, or being written.
        """
        with self._thread_lock:
            try:
                catalogue = self._open()
                with catalogue.reading():
                    yield catalogue
            except sqlite3.Error as error:
                log.info("the index is not used: %s", error)
                self._close()
                busy = isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
                raise Unusable("being built" if busy else "damaged") from error
            except Unusable:
                self._close()
                raise

    def _open(self) -> Catalogue:
        found = fingerprint(self.path)
        if found is None:
            raise Unusable("not built")
        known = self._catalogue
        if known is not None and known.found is not None and known.found[2] == found[2]:
            return known
        self._close()
        connection = _connect(self.path, "ro" if self._read_only else "rw", wait=_READ_WAIT)
        self._catalogue = Catalogue(connection, found)
        weakref.finalize(self._catalogue, connection.close)
        return self._catalogue

    def _close(self) -> None:
        if self._catalogue is not None:
            self._catalogue.connection.close()
            self._catalogue = None

    # --- the owner's verbs ------------------------------------------------------------------------
    def status(self, *, now: datetime | None = None) -> IndexStatus:
        """The seven indicators, from what is on disk now; reads only (S2-231, S2-233)."""
        instant = require_aware(now or clock())
        listing = self._sessions.list()
        try:
            with self.reading() as catalogue:
                return self._describe(catalogue, listing, instant)
        except Unusable as error:
            reason = str(error)
            size = found[1] if (found := fingerprint(self.path)) else 0
            problem = "" if reason == "not built" else reason
            count = len(listing)
            return IndexStatus(
                "absent", 0, count, count, 0, 0, size, None, 0, problem, language=self._language(), zone=self._zone()
            )

    def build(self, *, full: bool = False, progress: bool = False, now: datetime | None = None) -> BuildResult:
        """Bring the index up to date, one session after the other, in one transaction; then look at the disk again.

        Only what was added to a session is read. An index that is absent, damaged, of another version, or a fifth of
        whose rows no longer count, is built anew; ``full`` asks for that. What was killed on the way leaves the index
        as it was before.

        Raises
        ------
        ReadOnly
            The memory was opened read-only.
        Busy
            Another process is building.
        Corrupt
            The file cannot be written as an index.
        """
        require_writable(self.path, read_only=self._read_only)
        instant = require_aware(now or clock())
        with hold(self._lock_file, wait=WRITE_WAIT):
            try:
                with self.reading() as catalogue:
                    entries, stale, total = catalogue.entries, catalogue.stale, len(catalogue.shelf.codes) - 1
                anew = full or stale > STALE_SHARE * max(1, total)
            except Unusable:
                self._remove()
                entries, anew = {}, True
            try:
                with contextlib.closing(_connect(self.path, "rwc", wait=WRITE_WAIT)) as connection:
                    added = self._write(connection, {} if anew else entries, instant, anew=anew, progress=progress)
            except sqlite3.Error as error:
                raise Corrupt(
                    f"{self.path} cannot be written ({error}); drop the index and build it again",
                    told="index unwritable",
                    path=self.path,
                ) from error
        return BuildResult(self.status(now=instant), added, anew)

    def drop(self) -> bool:
        """Remove the index; whether there was one. Raises ReadOnly and Busy."""
        require_writable(self.path, read_only=self._read_only)
        with hold(self._lock_file, wait=WRITE_WAIT):
            there = self.path.exists()
            self._remove()
        return there

    def _remove(self) -> None:
        with self._thread_lock:
            self._close()
        for suffix in ("", "-journal", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    # --- writing ----------------------------------------------------------------------------------
    def _write(
        self, connection: sqlite3.Connection, known: dict[str, Entry], now: datetime, *, anew: bool, progress: bool
    ) -> int:
        """Write what is new, and a checksum over all of it; the number of messages added."""
        listing: Iterable[SessionInfo] = self._sessions.list()
        query = connection.execute
        query("PRAGMA cache_spill = OFF")  # a spilled page would shut out readers until the end
        query("BEGIN IMMEDIATE")
        if anew:
            if query("SELECT name FROM sqlite_master WHERE name = 'messages'").fetchone():
                query("INSERT INTO messages(messages) VALUES ('delete-all')")
                for table in ("facts", "sessions", "blocks"):
                    query(f"DELETE FROM {table}")  # noqa: S608 - three names of ours
            else:
                for statement in _SCHEMA.split(";\n"):
                    query(statement)
            query(f"PRAGMA user_version = {FORMAT}")
        query("DELETE FROM facts WHERE key IN ('serial', 'checksum')")
        query("INSERT OR REPLACE INTO facts VALUES ('tokens', ?), ('built', ?)", (token_version(), format_instant(now)))
        if progress:
            from tqdm import tqdm

            listing = tqdm(listing, unit="session")
        added, places = 0, set()
        for info in listing:
            place = place_of(info, self.folder)
            places.add(place)
            added += self._take_in(connection, info, place, known.get(place))
        for place, entry in known.items():
            if place not in places:
                query("DELETE FROM sessions WHERE number = ?", (entry.number,))
        query("COMMIT")
        # What FTS5 has written can be read back only after the commit; without these two rows nothing is searched.
        serial = secrets.token_hex(8)
        query("BEGIN IMMEDIATE")
        query("INSERT INTO facts VALUES ('serial', ?), ('checksum', ?)", (serial, f"{serial} {checksum(connection)}"))
        query("COMMIT")
        return added

    def _take_in(self, connection: sqlite3.Connection, info: SessionInfo, place: str, entry: Entry | None) -> int:
        """Write what one session has that the index lacks; the number of messages."""
        # Taken before the reading: what is added meanwhile makes the session changed.
        found = fingerprint(info.path)
        if found is None or (entry is not None and entry.found == found):
            return 0
        new: Sequence[Spoken] = ()
        generation, readable, point = (entry.generation, True, None) if entry else (0, True, None)
        name = entry.id if entry else info.id
        appended = None
        try:
            if entry is not None and entry.point is not None and info.status != "ambiguous":
                appended = read_new(info.path, entry.point)
            if appended is not None and appended.mode != "full" and appended.point is not None:
                point = appended.point
                new = spoken_of(appended.messages, delegated=point.header.delegated)
            else:
                whole = self._sessions.read(info)
                generation += entry is not None
                name, readable = whole.id, whole.status not in UNREADABLE
                if readable:
                    point = whole.resume_point
                    new = spoken_of(whole.messages(), delegated=whole.header.delegated)
        except NotFound:
            return 0
        number = entry.number if entry else None
        cursor = connection.execute(
            "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number, place, name, generation, readable, *found, None if point is None else msgspec.json.encode(point)),
        )
        self._append(connection, number or int(cursor.lastrowid or 0), generation, new)
        return len(new)

    @staticmethod
    def _append(connection: sqlite3.Connection, number: int, generation: int, new: Sequence[Spoken]) -> None:
        if not new:
            return
        (last,) = connection.execute("SELECT first + count FROM blocks ORDER BY first DESC LIMIT 1").fetchone() or (1,)
        held = [sorted(set(tokens(one.text))) for one in new]
        seqs, times, codes = describe(new, [len(one) for one in held])
        connection.executemany(
            "INSERT INTO messages(rowid, tokens) VALUES (?, ?)",
            ((last + place, " ".join(one)) for place, one in enumerate(held)),
        )
        connection.execute(
            "INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                last,
                number,
                generation,
                len(new),
                sum(map(length_of, codes)),
                seqs.tobytes(),
                times.tobytes(),
                codes.tobytes(),
            ),
        )

    # --- describing -------------------------------------------------------------------------------
    def _describe(self, catalogue: Catalogue, listing: Sequence[SessionInfo], now: datetime) -> IndexStatus:
        difference = catalogue.compare(listing, self.folder)
        changed = [info for info, entry in difference.changed if _holds_more(info, entry)]
        cold = any(now - info.mtime >= COLD for info in (*difference.unknown, *changed))
        state: State = "stale" if cold or difference.gone else "ok"
        entries = [entry for _, entry in (*difference.fresh, *difference.changed)]
        return IndexStatus(
            state=state,
            indexed=sum(entry.readable for entry in entries),
            on_disk=len(listing),
            never_indexed=len(difference.unknown),
            changed=len(changed),
            records=catalogue.collection.size,
            size=found[1] if (found := fingerprint(self.path)) else 0,
            built_at=catalogue.built_at,
            undecodable=sum(not entry.readable for entry in entries),
            language=self._language(),
            zone=self._zone(),
        )


def _holds_more(info: SessionInfo, entry: Entry) -> bool:
    """Whether a session whose stat differs really holds something that was not read: a touch adds nothing."""
    if entry.point is None:
        return True
    try:
        return read_new(info.path, entry.point).mode != "unchanged"
    except NotFound:
        return True


def describe(spoken: Sequence[Spoken], lengths: Sequence[int]) -> tuple[array[int], array[int], array[int]]:
    """The columns of messages with these numbers of tokens: seqs, times, codes."""
    return (
        array("q", [one.seq for one in spoken]),
        array("q", [NO_TIME if one.time is None else one.time for one in spoken]),
        array("H", [code_of(length, one.role) for one, length in zip(spoken, lengths, strict=True)]),
    )


def place_of(info: SessionInfo, folder: Path) -> str:
    """A log's path within the sessions folder: what the index knows a session by, wherever the home stands."""
    # As strings: a path object for each session takes longer than the search itself.
    name = os.fspath(info.path)[len(os.fspath(folder)) :].replace(os.sep, "/").lstrip("/")
    return name.encode("utf-8", "backslashreplace").decode()


def checksum(connection: sqlite3.Connection) -> str:
    """A sum over every row a search relies on: what was damaged on disk must not answer."""
    total = 0
    for statement in _CHECKED:
        for row in connection.execute(statement):
            for value in row:
                total = zlib.crc32(value if isinstance(value, bytes) else repr(value).encode(), total)
    return f"{total:08x}"


def _unpack(kind: str, data: bytes) -> array[int]:
    column: array[int] = array(kind)
    column.frombytes(data)
    return column


def _connect(path: Path, mode: str, *, wait: float) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True) if mode == "rwc" else None
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    # Guarded by the index's own lock; transactions are begun and ended by hand.
    return sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None, check_same_thread=False)
