"""One session log, opened read-only: what was said, who said it, and in what state the log is."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from selfnote.errors import Corrupt, NotFound
from selfnote.sessions import frames
from selfnote.sessions.model import (
    NEWEST_VERSION,
    Event,
    Found,
    Header,
    LoggedPrompt,
    Message,
    NewMessages,
    Problem,
    Problems,
    ResumePoint,
    Status,
    read_instant,
    read_string,
)
from selfnote.storage.fingerprints import digest

if TYPE_CHECKING:
    from selfnote.sessions.events import Batch, Row, Survey

#: Bytes that the two fingerprints of a resume point cover (S2-240).
FINGERPRINT_SIZE = 64
#: Characters of a run of lines whose digest is looked up: above any injected text (1000 + framing + hint).
RUN_LIMIT = 4000

_Item = TypeVar("_Item")


class SessionLog:
    """A session log, read once when it is made; never written (S2-007).

    Parameters
    ----------
    path
        The log file; what it holds decides how it is read, zstd frames or plain lines.
    session_id
        The id to use when the header has none; without it the name of the log's folder.
    known_digests
        Gives the digests of the texts we injected, for `injections`.
    rivals
        Other logs of the same generation: the session is then ambiguous and not read (EX-001).
    frame_limit, line_limit
        Bytes of one frame after decompression and of one line, at most (DESIGN "Files").

    Raises
    ------
    NotFound
        The file does not exist.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        session_id: str | None = None,
        known_digests: Callable[[], frozenset[str]] | None = None,
        rivals: tuple[Path, ...] = (),
        frame_limit: int | None = None,
        line_limit: int | None = None,
    ) -> None:
        from selfnote.sessions import events

        self.path = Path(path)
        self.header = Header(session_id or self.path.parent.name)
        self._known_digests = known_digests
        self._frame_limit = frame_limit or frames.FRAME_LIMIT
        self._line_limit = line_limit or events.LINE_LIMIT
        self._problems = Problems()
        self._survey: Survey | None = None
        self._end = 0
        self._framed = False
        self.resume_point: ResumePoint | None = None
        if rivals:
            self.status: Status = "ambiguous"
            names = ", ".join(sorted(log.name for log in (self.path, *rivals)))
            self._problems.add(str(self.path.parent), f"{names} are of one generation; none is read. Keep one of them.")
        else:
            self.status = self._read()

    def __repr__(self) -> str:
        """The id, the state and the counts."""
        count = len(self.messages())
        return f"SessionLog({self.id!r}, {self.status}, events={self.event_count}, messages={count})"

    # --- what was found ---------------------------------------------------------------------------
    @property
    def id(self) -> str:
        """The session's id: the header's."""
        return self.header.id

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, in the order it was met."""
        return self._problems.as_tuple()

    @property
    def event_count(self) -> int:
        """Events after unpacking, those copied from a parent among them."""
        return self._survey.event_count if self._survey else 0

    @property
    def type_counts(self) -> Counter[str]:
        """Events after unpacking by type; a type unknown to us is counted like any other."""
        return Counter(self._survey.type_counts) if self._survey else Counter()

    @property
    def source_kind_counts(self) -> Counter[str]:
        """The session's own ``user/message`` events by ``source.kind`` (EX-006)."""
        return Counter(self._survey.source_kinds) if self._survey else Counter()

    @property
    def turn_count(self) -> int:
        """Turns that ended, those copied from a parent among them."""
        return self.type_counts["turn/end"]

    @property
    def owner_message_count(self) -> int:
        """Messages the owner typed into this session."""
        return sum(message.by_owner for message in self._all_messages)

    @property
    def last_time(self) -> datetime | None:
        """The time (UTC) of the last event that has a readable one."""
        return read_instant(self._survey.last_time) if self._survey else None

    @property
    def skipped_lines(self) -> int:
        """Lines over the limit of one line."""
        return self._survey.reader.skipped_lines if self._survey else 0

    @property
    def _all_messages(self) -> list[Message]:
        return self._survey.messages if self._survey else []

    def messages(self) -> list[Message]:
        """What both sides said, in order; what a fork copied from its parent is left out (EX-004)."""
        seed_length = self.header.seed_length
        return [message for message in self._all_messages if message.seq >= seed_length]

    def message_at(self, seq: int) -> Message:
        """The message at ``seq``, copied ones too.

        Raises
        ------
        NotFound
            No message stands there.
        """
        for message in self._all_messages:
            if message.seq == seq:
                return message
        raise NotFound(f"{self.id}#{seq} is no message; the log is {self.status} and {self._span()}")

    def events(self) -> Iterator[Event]:
        """Every event after unpacking, copied ones too; reads the file again, up to where it was good.

        Raises
        ------
        Corrupt
            The file is no longer what it was when it was opened.
        """
        from selfnote.sessions.events import unpack

        for row in self._read_rows():
            yield from unpack(row)

    def event_at(self, seq: int) -> Event:
        """The event at ``seq``, copied ones too.

        Raises
        ------
        NotFound
            The log has no such seq.
        Corrupt
            The file is no longer what it was when it was opened.
        """
        from selfnote.sessions.events import unpack

        for row in self._read_rows():
            _, first, count, _ = row
            if first <= seq < first + count:
                return next(event for event in unpack(row) if event.seq == seq)
        raise NotFound(f"{self.id}#{seq} does not exist; the log is {self.status} and {self._span()}")

    def injections(self) -> list[LoggedPrompt]:
        """Every system prompt in the log, and our part of it (HARNESS 7, ``request/header``).

        Our text has no blank line, so it lies within one paragraph. A run of whole lines whose digest is one
        of the known ones is ours; else the paragraph that holds most of our framing sentences.
        """
        from selfnote.sessions.events import REQUEST_HEADER, unpack

        known = self._known_digests() if self._known_digests else frozenset()
        landmarks = _find_landmarks()
        prompts = []
        for row in self._read_rows():
            if row[0].type != REQUEST_HEADER:
                continue
            event = next(unpack(row))
            data = event.data if isinstance(event.data, dict) else {}
            header = data.get("header")
            system = _join_blocks(header.get("system")) if isinstance(header, dict) else ""
            text, found = _find_our_text(system, known, landmarks)
            prompts.append(
                LoggedPrompt(
                    seq=event.seq,
                    time=event.time,
                    reason=read_string(data.get("reason")) or "",
                    system=system,
                    text=text,
                    found=found,
                    digest=None if text is None else digest(text),
                    seeded=event.seq < self.header.seed_length,
                )
            )
        return prompts

    # --- the one pass -----------------------------------------------------------------------------
    def _read(self) -> Status:
        try:
            descriptor = open_log(self.path)
        except OSError as error:
            if error.errno == errno.ENOENT:
                message = f"no session log at {self.path}; list the sessions to see which there are"
                raise NotFound(message) from error
            return self._refuse("the file", f"cannot be opened ({_explain(error)})")
        with os.fdopen(descriptor, "rb", buffering=0):
            information = os.fstat(descriptor)
            if not information.st_size:
                return "empty"
            try:
                start = frames.read_at(descriptor, FINGERPRINT_SIZE, 0)
                return self._read_by_content(descriptor, information, start)
            except OSError as error:
                self._survey = None
                return self._refuse("the file", f"cannot be read ({_explain(error)})")

    def _read_by_content(self, descriptor: int, information: os.stat_result, start: bytes) -> Status:
        if frames.starts_frame(start) or self.path.name.endswith(".zstd"):
            self._framed = True
            return self._read_framed(descriptor, information, start)
        return self._read_plain(descriptor, information, start)

    def _read_framed(self, descriptor: int, information: os.stat_result, start: bytes) -> Status:
        text = frames.FramedText(descriptor, 0, information.st_size, self._frame_limit)
        try:
            unfinished = self._take_in(text.read())
        except frames.BadFrameError as error:
            # Pieces before the error may hold part of the bad frame: read what is before it anew.
            fault = error.fault or frames.Fault(0, str(error))
            self._survey, self._problems = None, Problems()
            text = frames.FramedText(descriptor, 0, fault.offset, self._frame_limit)
            unfinished = self._take_in(text.read())
            text.fault = fault
        if text.fault is not None:
            self._problems.add(f"byte {text.fault.offset}", text.fault.reason)
        elif text.torn:
            what = "the frames before it are read" if text.end else "there is no whole header"
            self._problems.add(f"byte {text.end}", f"{text.torn}; {what}")
        self._end = text.end
        return self._conclude(
            descriptor, information, start, unfinished=unfinished, torn=bool(text.torn), damaged=bool(text.fault)
        )

    def _read_plain(self, descriptor: int, information: os.stat_result, start: bytes) -> Status:
        unfinished = self._take_in(read_pieces(descriptor, 0, information.st_size))
        self._end = information.st_size - unfinished
        return self._conclude(descriptor, information, start, unfinished=unfinished)

    def _take_in(self, pieces: Iterator[bytes]) -> int:
        """Read the text; how many bytes stand after its last newline."""
        from selfnote.sessions import events

        splitter = events.LineSplitter(self._line_limit)
        batches = splitter.split(pieces)
        header = self._take_header(batches)
        if header is None:
            return splitter.unfinished
        found, remaining = header
        self.header = found
        self._survey = events.Survey(found, events.RowReader(self._problems))
        if not self._is_newer():
            self._survey.read(remaining)
        return splitter.unfinished

    def _take_header(self, batches: Iterator[Batch]) -> tuple[Header, Iterator[Batch]] | None:
        from selfnote.sessions import events

        for offset, lines in batches:
            first = lines[0]
            if isinstance(first, events.Overlong):
                self._problems.add("line 1", f"a header of {first.size} bytes is over the limit {self._line_limit}")
                return None
            header = events.parse_header(bytes(first), fallback_id=self.header.id, problems=self._problems)
            if header is None:
                return None
            return header, _put_back((offset + len(first) + 1, lines[1:]), batches)
        return None

    def _conclude(
        self,
        descriptor: int,
        information: os.stat_result,
        start: bytes,
        *,
        unfinished: int,
        torn: bool = False,
        damaged: bool = False,
    ) -> Status:
        survey = self._survey
        if survey is None:
            if not self._problems.count:
                self._problems.add("line 1", "there is no whole header")
            return "corrupt"
        if self._is_newer():
            self._problems.add("line 1", f"header version {self.header.version} is newer than this reader; header only")
            return "newer"
        if unfinished:
            self._problems.add("the end", f"{unfinished} bytes after the last newline are an unfinished line; not read")
        if self._end and not (unfinished and self._framed):
            self.resume_point = ResumePoint(
                size=information.st_size,
                offset=self._end,
                next_seq=survey.reader.next_seq,
                next_line=survey.reader.next_line,
                head=_fingerprint(start[: self._end]),
                before=_fingerprint(_read_before(descriptor, self._end)),
                inode=information.st_ino,
                header=self.header,
            )
        if damaged or survey.reader.damaged:
            return "corrupt"
        return "torn" if torn or unfinished else "ok"

    def _is_newer(self) -> bool:
        return not 0 <= (self.header.version or 0) <= NEWEST_VERSION

    def _refuse(self, where: str, reason: str) -> Status:
        self._problems.add(where, reason)
        return "corrupt"

    def _span(self) -> str:
        return f"has the events 0 to {self.event_count - 1}" if self.event_count else "has no readable event"

    def _read_rows(self) -> Iterator[Row]:
        from selfnote.sessions import events

        if self._survey is None or self._is_newer():
            return
        changed = f"{self.path} is no longer what it was when it was opened; open it again"
        try:
            descriptor = open_log(self.path)
        except OSError as error:
            raise Corrupt(f"{changed} ({_explain(error)})") from error
        with os.fdopen(descriptor, "rb", buffering=0):
            point = self.resume_point
            if os.fstat(descriptor).st_size < self._end or (point and not _fits(descriptor, point)):
                raise Corrupt(changed)
            if self._framed:
                pieces = frames.FramedText(descriptor, 0, self._end, self._frame_limit).read()
            else:
                pieces = read_pieces(descriptor, 0, self._end)
            batches = events.LineSplitter(self._line_limit).split(pieces)
            try:
                offset, lines = next(batches, (0, []))
                rest = _put_back((offset, lines[1:]), batches)
                yield from events.RowReader(Problems()).read(rest)
            except frames.BadFrameError as error:
                raise Corrupt(changed) from error


def read_new(path: str | os.PathLike[str], point: ResumePoint | None) -> NewMessages:
    """The messages added to a log since ``point``, at a cost that does not depend on the log's size (S2-241).

    Everything is read anew, mode "full", when there is no point, the fingerprints differ, the point is at no
    frame boundary, the first added event has not the seq due, or what was added has a fault (S2-242).
    An unfinished last frame or line is left for the next call.

    Raises
    ------
    NotFound
        The file does not exist.
    """
    if point is not None:
        try:
            added = _read_added(Path(path), point)
        except OSError:
            added = None
        if added is not None:
            return added
    log = SessionLog(path, session_id=None if point is None else point.header.id)
    return NewMessages(log.messages(), log.resume_point, "full")


def _read_added(path: Path, point: ResumePoint) -> NewMessages | None:  # noqa: PLR0911 - one for each rule of S2-242
    """What was added, or None when the log has to be read anew."""
    from selfnote.sessions import events

    descriptor = open_log(path)
    with os.fdopen(descriptor, "rb", buffering=0):
        information = os.fstat(descriptor)
        size = information.st_size
        if information.st_ino != point.inode or not 0 < point.offset <= size:
            return None
        if not _fits(descriptor, point):
            return None
        start = frames.read_at(descriptor, FINGERPRINT_SIZE, 0)
        unchanged = NewMessages([], replace(point, size=size), "unchanged")
        if size == point.offset:
            return unchanged
        reader = events.RowReader(Problems(), next_seq=point.next_seq, next_line=point.next_line)
        survey, splitter = events.Survey(point.header, reader), events.LineSplitter()
        text = frames.FramedText(descriptor, point.offset, size) if frames.starts_frame(start) else None
        try:
            survey.read(splitter.split(text.read() if text else read_pieces(descriptor, point.offset, size)))
        except frames.BadFrameError:
            return None
        # A line that cannot be read leaves the next seq unknown: there is no point to go on from.
        if reader.damaged or reader.skipped_lines or (text and (text.fault or splitter.unfinished)):
            return None
        end = text.end if text else size - splitter.unfinished
        if end == point.offset:
            return unchanged
        following = replace(
            point,
            size=size,
            offset=end,
            next_seq=reader.next_seq,
            next_line=reader.next_line,
            head=_fingerprint(start[:end]),
            before=_fingerprint(_read_before(descriptor, end)),
        )
    messages = [message for message in survey.messages if message.seq >= point.header.seed_length]
    return NewMessages(messages, following, "appended")


def open_log(path: Path) -> int:
    """A read-only descriptor of a regular file; a symbolic link is refused, a pipe never waited for (EX-008).

    Raises
    ------
    OSError
        It cannot be opened, is a link, or is no regular file.
    """
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    if not hasattr(os, "O_NOFOLLOW") and path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    descriptor = os.open(path, flags)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def read_pieces(descriptor: int, start: int, end: int) -> Iterator[bytes]:
    """The bytes from ``start`` to ``end`` in pieces, fewer when the file has become shorter."""
    while start < end:
        piece = frames.read_at(descriptor, min(frames.READ_SIZE, end - start), start)
        if not piece:
            return
        yield piece
        start += len(piece)


def _put_back(first: _Item, rest: Iterator[_Item]) -> Iterator[_Item]:
    yield first
    yield from rest


def _fits(descriptor: int, point: ResumePoint) -> bool:
    """Whether the bytes that the point's two fingerprints cover are still the same (S2-240)."""
    start = frames.read_at(descriptor, min(FINGERPRINT_SIZE, point.offset), 0)
    if _fingerprint(start) != point.head:
        return False
    return _fingerprint(_read_before(descriptor, point.offset)) == point.before


def _read_before(descriptor: int, end: int) -> bytes:
    start = max(0, end - FINGERPRINT_SIZE)
    return frames.read_at(descriptor, end - start, start)


def _fingerprint(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _explain(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "it is a symbolic link; those are not followed"
    return error.strerror or str(error)


def _join_blocks(system: object) -> str:
    if isinstance(system, str):
        return system
    if not isinstance(system, list):
        return ""
    texts = (block.get("text") if isinstance(block, dict) else block for block in system)
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _find_landmarks() -> tuple[str, ...]:
    from selfnote.phrases import landmarks

    return landmarks()


def _split_paragraphs(text: str) -> list[list[str]]:
    """The maximal runs of lines that are not blank."""
    paragraphs: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.strip():
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    return [paragraph for paragraph in paragraphs if paragraph]


def _find_our_text(system: str, known: frozenset[str], landmarks: tuple[str, ...]) -> tuple[str | None, Found]:
    paragraphs = _split_paragraphs(system)
    if known:
        runs = [run for paragraph in paragraphs if (run := _find_known_run(paragraph, known))]
        if runs:
            return max(runs, key=len), "digest"
    best, most = None, 0
    for paragraph in paragraphs:
        text = "\n".join(paragraph)
        count = sum(landmark in text for landmark in landmarks)
        # Equal counts: the later one, since the harness puts sections of plugins at the end.
        if count and count >= most:
            best, most = text, count
    return (best, "sentences") if best is not None else (None, "not found")


def _find_known_run(paragraph: list[str], known: frozenset[str]) -> str | None:
    """The longest run of whole lines whose digest is known."""
    best: str | None = None
    encoded = [line.encode("utf-8", "surrogatepass") for line in paragraph]
    for first in range(len(paragraph)):
        digest = hashlib.sha256()
        length = 0
        for last in range(first, len(paragraph)):
            length += len(paragraph[last]) + (last > first)
            if length > RUN_LIMIT:
                break
            digest.update(encoded[last] if last == first else b"\n" + encoded[last])
            if (best is None or length > len(best)) and digest.hexdigest() in known:
                best = "\n".join(paragraph[first : last + 1])
    return best
