"""What was said in each session, kept parsed: derived, bounded, read on from where it ended (S2-235, S2-240..245)."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from selfnote.errors import SelfnoteError
from selfnote.sessions.library import SessionInfo
from selfnote.sessions.log import SessionLog, read_new
from selfnote.sessions.model import Message, ResumePoint, Status, read_instant
from selfnote.storage.atomic import FILE_CAP, read_file, remove_leftovers, write_atomic
from selfnote.storage.fingerprints import Fingerprint, fingerprint
from selfnote.text import searchable, token_version, tokens

log = logging.getLogger(__name__)

#: Sessions kept on disk, and in memory, at most (S2-244).
KEPT = 60
#: Bytes on disk of a log that another may leave the cache for: a smaller one is parsed as fast as it is written down.
WORTH_KEEPING = 256 * 1024
#: Raised when the file's shape changes: a file of another one is read past and written anew.
FORMAT = 1
#: Statuses of a log of which something could not be read (S2-235); a torn tail is how a live session ends.
UNREADABLE: frozenset[Status] = frozenset({"corrupt", "ambiguous", "newer"})

_FILE_MODE, _FOLDER_MODE = 0o600, 0o700
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Spoken(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One message as it is searched; ``time`` is in epoch milliseconds, None when unreadable."""

    seq: int
    time: int | None
    role: Literal["user", "assistant"]
    text: str

    @property
    def instant(self) -> datetime | None:
        """The time in UTC."""
        return read_instant(self.time)


@dataclass(frozen=True)
class Session:
    """What one session holds for a search: its id in pointers, its state, and what was said in it.

    ``unreadable``: something of the log could not be read, and ``spoken`` is what could be. ``lengths`` are the
    numbers of different tokens in the first messages, in all of them when the session was read for a search through
    every session: counting them is what such a search would spend most of its time with.
    """

    info: SessionInfo
    id: str
    status: Status
    spoken: tuple[Spoken, ...]
    lengths: tuple[int, ...] = ()

    @property
    def unreadable(self) -> bool:
        """Whether something of the log could not be read."""
        return self.status in UNREADABLE

    @cached_property
    def searchable(self) -> tuple[str, ...]:
        """Each message in the form in which a search through all of them looks at it."""
        return tuple(searchable(one.text) for one in self.spoken)


class OpensLogs(Protocol):
    """What reads a listed session whole: `Sessions`."""

    def read(self, session: SessionInfo) -> SessionLog:
        """The log of a listed session. Raises NotFound when it is gone."""
        ...


class _File(msgspec.Struct):
    """One file of the cache."""

    format: int
    tokens: str
    path: str
    point: ResumePoint
    spoken: tuple[Spoken, ...]
    lengths: tuple[int, ...]


class _Recent(msgspec.Struct, frozen=True):
    """A session as it was last read in this process; without a point the next change is read whole."""

    found: Fingerprint
    session: Session
    point: ResumePoint | None


def spoken_of(messages: Iterable[Message], *, delegated: bool) -> tuple[Spoken, ...]:
    """What recall may find: the owner's words and the assistant's texts, of sessions a person started (S2-020).

    Never what was injected or sent by a plugin, never a sub-agent's session: what stands there as a user's message
    is the main agent's. Reasoning, tool output and logged prompts are no messages to begin with.
    """
    if delegated:
        return ()
    return tuple(
        Spoken(message.seq, _milliseconds(message.time), message.role, message.text)
        for message in messages
        if message.is_said and message.text.strip()
    )


def count_tokens(session: Session) -> Session:
    """The session with the number of different tokens in each message, those counted before kept."""
    rest = session.spoken[len(session.lengths) :]
    return replace(session, lengths=(*session.lengths, *(len(set(tokens(one.text))) for one in rest)))


def _milliseconds(time: datetime | None) -> int | None:
    return None if time is None else round((time - _EPOCH) / _MILLISECOND)


class SessionCache:
    """The sessions of one home as they were last parsed, in memory and in files of ``folder``.

    A log that grew is read from where its reading ended, one that was rewritten is read whole (S2-241, S2-242). A log
    that cannot be read is never written down. Files hold text, so they are the owner's alone. Trouble with the files
    is logged and never fails a reading.

    Parameters
    ----------
    folder
        ``memory/cache``; made when first needed.
    sessions
        What reads a log whole.
    read_only
        Read the files there are, write none.
    """

    def __init__(self, folder: Path, sessions: OpensLogs, *, read_only: bool = False) -> None:
        self.folder = folder
        self._sessions = sessions
        self._read_only = read_only
        self._recent: OrderedDict[Path, _Recent] = OrderedDict()

    def read(self, info: SessionInfo, *, scanning: bool = False) -> Session:
        """What was said in a listed session, as it is on disk now.

        Beyond ``KEPT`` sessions the least recently used file goes for that of a log of ``WORTH_KEEPING`` bytes, unless
        every session is being read (``scanning``), which would drop each before it is needed again. Then the tokens of
        each message are counted too.

        Raises
        ------
        NotFound
            The log is gone.
        """
        known = self._recent.pop(info.path, None) or self._load(info)
        found = fingerprint(info.path)
        if known is not None and known.point is None and known.found == found:
            fresh = known
        else:
            fresh = self._read_on(info, known, found)
        if scanning and len(fresh.session.lengths) < len(fresh.session.spoken):
            fresh = msgspec.structs.replace(fresh, session=count_tokens(fresh.session))
        self._recent[info.path] = fresh
        while len(self._recent) > KEPT:
            self._recent.popitem(last=False)
        if fresh.point is not None:
            counted = len(fresh.session.lengths)
            if known is None or (known.point, len(known.session.lengths)) != (fresh.point, counted):
                self._store(fresh.session, fresh.point, may_evict=not scanning)
            elif not scanning:
                self._touch(info)
        return fresh.session

    def _read_on(self, info: SessionInfo, known: _Recent | None, found: Fingerprint) -> _Recent:
        if known is not None and known.point is not None and info.status != "ambiguous":
            added = read_new(info.path, known.point)
            if added.point is not None and added.mode != "full":
                new = spoken_of(added.messages, delegated=added.point.header.delegated)
                session = known.session
                if new or session.info != info:
                    session = Session(info, session.id, "ok", (*session.spoken, *new), session.lengths)
                return _Recent(found, session, added.point)
        whole = self._sessions.read(info)
        spoken = spoken_of(whole.messages(), delegated=whole.header.delegated)
        point = whole.resume_point if whole.status not in UNREADABLE else None
        return _Recent(found, Session(info, whole.id, whole.status, spoken), point)

    # --- the files --------------------------------------------------------------------------------
    def _file(self, path: Path) -> Path:
        return self.folder / _file_name(path)

    def _load(self, info: SessionInfo) -> _Recent | None:
        try:
            data, _ = read_file(self._file(info.path))
            kept = msgspec.json.decode(data, type=_File) if data else None
        except (OSError, SelfnoteError, msgspec.MsgspecError, ValueError) as error:
            log.info("a file of the session cache is not used: %s", error)
            return None
        if kept is None or (kept.format, kept.tokens, kept.path) != (FORMAT, token_version(), _name(info.path)):
            return None
        return _Recent(None, Session(info, kept.point.header.id, "ok", kept.spoken, kept.lengths), kept.point)

    def _store(self, session: Session, point: ResumePoint, *, may_evict: bool) -> None:
        if self._read_only:
            return
        info = session.info
        path = self._file(info.path)
        try:
            others = [entry for entry in self._entries() if entry[1] != path.name]
            if len(others) >= KEPT and not (may_evict and info.size >= WORTH_KEEPING):
                return
            name = _name(info.path)
            data = msgspec.json.encode(_File(FORMAT, token_version(), name, point, session.spoken, session.lengths))
            if len(data) > FILE_CAP:
                return
            self.folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            remove_leftovers(path)
            write_atomic(path, data, mode=_FILE_MODE)
            for _, oldest in sorted(others)[: max(0, len(others) + 1 - KEPT)]:
                (self.folder / oldest).unlink(missing_ok=True)
        except (OSError, SelfnoteError) as error:
            log.info("a session was not kept in the cache: %s", error)

    def _touch(self, info: SessionInfo) -> None:
        """Mark a file as used: the least recently used go first."""
        if not self._read_only:
            with contextlib.suppress(OSError):
                os.utime(self._file(info.path))

    def prune(self, listing: Iterable[SessionInfo]) -> None:
        """Remove the files of sessions that are no longer there: what is derived does not outlive its source."""
        if self._read_only:
            return
        with contextlib.suppress(OSError):
            kept = [name for _, name in self._entries()]
            wanted: Collection[str] = {_file_name(info.path) for info in listing} if kept else ()
            for name in kept:
                if name not in wanted:
                    (self.folder / name).unlink(missing_ok=True)

    def _entries(self) -> Iterator[tuple[int, str]]:
        """The files by name, with the time they were last used."""
        if not self.folder.is_dir():
            return
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False):
                    with contextlib.suppress(FileNotFoundError):
                        yield entry.stat(follow_symlinks=False).st_mtime_ns, entry.name


def _file_name(path: Path) -> str:
    return f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:32]}.json"


def _name(path: Path) -> str:
    """A path as JSON can hold it, whatever bytes it is made of."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
