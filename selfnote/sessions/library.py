"""The harness's session folder: which logs there are, found without opening one (EX-001, EX-008)."""

from __future__ import annotations

import builtins
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from selfnote.errors import NotFound
from selfnote.home import MemoryHome
from selfnote.sessions.model import Problem

if TYPE_CHECKING:
    from selfnote.sessions.log import SessionLog

Encoding = Literal["zstd", "plain"]

#: ``session.jsonl``, ``session.vN.jsonl`` and the same with ``.zstd``; nothing else is a log.
_LOG_NAME = re.compile(r"session(?:\.v(?P<generation>[0-9]{1,9}))?\.jsonl(?P<zstd>\.zstd)?")
_ESCAPE = re.compile(r"~([0-9A-Fa-f]{4})")
#: Ids named in an error, at most.
_NAMED_LIMIT = 10


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session as its folder tells it; nothing is opened for it.

    ``id`` is the folder's name with its escapes undone, ``size`` is in bytes on disk, ``mtime`` is UTC,
    ``project`` is the project folder's name, from which no cwd can be told. ``status`` is ``"ambiguous"``
    when two logs are of the highest ``generation``, else ``""``; ``rivals`` are the logs beside ``path`` then.
    """

    id: str
    path: Path
    size: int
    mtime: datetime
    project: str
    status: Literal["", "ambiguous"]
    generation: int
    encoding: Encoding
    rivals: tuple[Path, ...] = ()


class Sessions:
    """The sessions of one home; reads only (S2-007).

    Parameters
    ----------
    home
        The memory's home; its ``sessions`` folder may be absent.
    known_digests
        Gives the digests of the texts we injected, for ``SessionLog.injections``.
    """

    def __init__(self, home: MemoryHome, *, known_digests: Callable[[], frozenset[str]] | None = None) -> None:
        self.home = home
        self._known_digests = known_digests
        self._refused: tuple[Problem, ...] = ()

    def __repr__(self) -> str:
        """The folder."""
        return f"Sessions({str(self.home.sessions)!r})"

    @property
    def refused(self) -> tuple[Problem, ...]:
        """What the last listing did not follow or could not read: links, unreadable folders (EX-008)."""
        return self._refused

    def list(self) -> builtins.list[SessionInfo]:
        """Every session, by project and id; opens no log. An absent folder has none."""
        refused: builtins.list[Problem] = []
        found: builtins.list[SessionInfo] = []
        for project in _list_folders(self.home.sessions, refused, missing_is_fine=True):
            for folder in _list_folders(project, refused):
                session = find_session(folder, refused)
                if session is not None:
                    found.append(session)
        self._refused = tuple(refused)
        return sorted(found, key=lambda session: (session.project, session.id))

    def find(self, session_id: str) -> SessionInfo:
        """The session with this id or this unique beginning of one.

        Raises
        ------
        NotFound
            No id or several begin so; several are named.
        """
        sessions = self.list()
        matches = [session for session in sessions if session.id == session_id]
        if not matches and session_id:
            matches = [session for session in sessions if session.id.startswith(session_id)]
        if not matches:
            matches = self._find_by_header(sessions, session_id)
        if len(matches) == 1:
            return matches[0]
        if matches:
            names = ", ".join(f"{match.id} ({match.project})" for match in matches[:_NAMED_LIMIT])
            more = f" and {len(matches) - _NAMED_LIMIT} more" if len(matches) > _NAMED_LIMIT else ""
            raise NotFound(f"session {session_id!r} could be any of {names}{more}; give more of the id, or the path")
        raise NotFound(
            f"no session {session_id!r} among the {len(sessions)} in {self.home.sessions}; "
            "list the sessions to see their ids, or give the path of a log"
        )

    def open(self, id_or_path: str | os.PathLike[str]) -> SessionLog:
        """The log of a session, by id, by the unique beginning of an id, by log file or by session folder.

        Raises
        ------
        NotFound
            There is none, it is a symbolic link, or the beginning fits several.
        """
        path = Path(id_or_path)
        if isinstance(id_or_path, str) and not (_looks_like_path(id_or_path) and os.path.lexists(path)):
            return self.read(self.find(id_or_path))
        if path.is_symlink():
            raise NotFound(f"{path} is a symbolic link; those are not followed, give the path it leads to")
        if path.is_dir():
            refused: builtins.list[Problem] = []
            session = find_session(path, refused)
            if session is None:
                reasons = "".join(f"; {problem.where}: {problem.reason}" for problem in refused)
                raise NotFound(f"{path} holds no session log, e.g. session.jsonl.zstd{reasons}")
            return self.read(session)
        return self._open_log(path, session_id=decode_segment(path.absolute().parent.name))

    def read(self, session: SessionInfo) -> SessionLog:
        """The log of a listed session; an ambiguous one is told as such and not read (EX-001).

        Raises
        ------
        NotFound
            The log is gone.
        """
        return self._open_log(session.path, session_id=session.id, rivals=session.rivals)

    def read_all(self, *, progress: bool = False) -> Iterator[SessionLog]:
        """The log of every session, one at a time; one that vanished since the listing is left out."""
        sessions = self.list()
        shown: Iterator[SessionInfo] = iter(sessions)
        if progress:
            from tqdm import tqdm

            shown = iter(tqdm(sessions, unit="session"))
        for session in shown:
            try:
                log = self.read(session)
            except NotFound as error:
                self._refused = (*self._refused, Problem(str(session.path), str(error)))
                continue
            yield log

    def _open_log(self, path: Path, *, session_id: str, rivals: tuple[Path, ...] = ()) -> SessionLog:
        from selfnote.sessions.log import SessionLog

        return SessionLog(path, session_id=session_id, rivals=rivals, known_digests=self._known_digests)

    def _find_by_header(self, sessions: builtins.list[SessionInfo], session_id: str) -> builtins.list[SessionInfo]:
        """The sessions whose folder name is no encoded id and whose header has this one."""
        unclear = [session for session in sessions if not is_encoded(session.path.parent.name)]
        return [session for session in unclear if self.read(session).id == session_id]


def find_session(folder: Path, refused: list[Problem]) -> SessionInfo | None:
    """The session in one folder, its highest generation; None when it holds no log; other names do not count."""
    logs: list[tuple[int, Path, os.stat_result, Encoding]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = _LOG_NAME.fullmatch(entry.name)
                if name is None:
                    continue
                if entry.is_symlink():
                    refused.append(Problem(entry.path, "the log is a symbolic link; not followed"))
                    continue
                information = entry.stat(follow_symlinks=False)
                if not stat.S_ISREG(information.st_mode):
                    refused.append(Problem(entry.path, "the log is not a regular file; not read"))
                    continue
                encoding: Encoding = "zstd" if name["zstd"] else "plain"
                logs.append((int(name["generation"] or 0), Path(entry.path), information, encoding))
    except OSError as error:
        refused.append(Problem(str(folder), f"cannot be listed ({error.strerror})"))
    if not logs:
        return None
    highest = max(generation for generation, *_ in logs)
    rivals = sorted((log for log in logs if log[0] == highest), key=lambda log: log[1].name)
    generation, path, information, encoding = rivals[0]
    return SessionInfo(
        id=decode_segment(folder.name),
        path=path,
        size=information.st_size,
        mtime=datetime.fromtimestamp(information.st_mtime, UTC),
        project=folder.parent.name,
        status="ambiguous" if len(rivals) > 1 else "",
        generation=generation,
        encoding=encoding,
        rivals=tuple(log[1] for log in rivals[1:]),
    )


def decode_segment(name: str) -> str:
    """The session id in a folder's name: each ``~XXXX`` is a UTF-16 code unit; other names stay."""
    if not is_encoded(name):
        return name
    units = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), name)
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def is_encoded(name: str) -> bool:
    """Whether a folder's name is one the harness could have made of an id."""
    units = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), name)
    try:
        units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        return False
    return "~" not in _ESCAPE.sub("", name)


def _looks_like_path(name: str) -> bool:
    separators = [separator for separator in (os.sep, os.altsep) if separator]
    return any(separator in name for separator in separators) or _LOG_NAME.fullmatch(name) is not None


def _list_folders(folder: Path, refused: list[Problem], *, missing_is_fine: bool = False) -> list[Path]:
    """The folders in ``folder``, by name; symbolic links are refused, other files are ignored."""
    folders: list[Path] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_symlink():
                    refused.append(Problem(entry.path, "a symbolic link; not followed"))
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
    except FileNotFoundError:
        if not missing_is_fine:
            refused.append(Problem(str(folder), "vanished while it was listed"))
    except OSError as error:
        refused.append(Problem(str(folder), f"cannot be listed ({error.strerror})"))
    return sorted(folders)
