"""What is read of a session log: header, message, event, logged prompt, where to go on, and what was wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Literal, NamedTuple

from selfnote.sessions.decoding import decode_data

Status = Literal["ok", "torn", "corrupt", "ambiguous", "newer", "empty"]
#: Statuses of a log that are normal: a live or killed session ends in a torn tail (HARNESS part 1, 9).
NORMAL: frozenset[Status] = frozenset({"ok", "torn"})
#: Statuses of a log of which nothing that is there stays unread.
READ_WHOLE: frozenset[Status] = NORMAL | {"empty"}
Found = Literal["digest", "sentences", "not found"]
Mode = Literal["appended", "unchanged", "full"]

#: Epoch milliseconds of 2000-01-01 and 2100-01-01 UTC: a time outside them is not believed (seconds,
#: a clock that was never set).
EARLIEST_TIME = 946_684_800_000
LATEST_TIME = 4_102_444_800_000
#: Header versions from 0 to this one are read (EX-001); a higher one gives the header only.
NEWEST_VERSION = 4
#: Problems kept for one log; the rest is only counted.
PROBLEM_LIMIT = 1000


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read, and where: a line, a byte of the text or of the file."""

    where: str
    reason: str


@dataclass
class Problems:
    """Problems in the order they were met, the first `PROBLEM_LIMIT` of them kept."""

    kept: list[Problem] = field(default_factory=list)
    count: int = 0

    @property
    def is_full(self) -> bool:
        """Whether a further one is only counted, so that its place need not be worked out."""
        return self.count >= PROBLEM_LIMIT

    def add(self, where: str, reason: str) -> None:
        """Record one."""
        self.count += 1
        if self.count <= PROBLEM_LIMIT:
            self.kept.append(Problem(where, reason))

    def as_tuple(self) -> tuple[Problem, ...]:
        """All of them; what was only counted is told in a last one."""
        more = self.count - len(self.kept)
        rest = [Problem("after these", f"{more} more problems, not listed")] if more else []
        return (*self.kept, *rest)


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a log (EX-003).

    ``created_at`` is UTC. ``delegation_depth`` reads a number or a string of one, else 0; ``delegated`` is
    ``origin == "subagent"`` or a depth over 0, and ``parent`` alone is an owner's fork (EX-007). Events with
    seq < ``seed_length`` were copied from the parent (EX-004). ``version`` is None when there is no header.
    """

    id: str
    cwd: str | None = None
    created_at: datetime | None = None
    origin: str | None = None
    delegation_depth: int = 0
    delegated: bool = False
    parent: str | None = None
    seed_length: int = 0
    version: int | None = None
    agent_preset: str | None = None
    is_seeded: bool = False

    @classmethod
    def from_mapping(cls, fields: Mapping[str, Any], *, fallback_id: str = "") -> Header:
        """The header in these JSON fields, a log's or the harness's; a field of the wrong type is absent.

        A missing version is 0; one that is no number counts as newer than any: its meaning is unknown.
        """
        origin = read_string(fields.get("origin"))
        depth = read_whole_number(fields.get("delegationDepth")) or 0
        seed_length = max(0, read_whole_number(fields.get("seedLength")) or 0)
        version = read_whole_number(fields.get("version", 0))
        return cls(
            id=read_string(fields.get("id")) or fallback_id,
            cwd=read_string(fields.get("cwd")),
            created_at=read_instant(read_whole_number(fields.get("createdAt"))),
            origin=origin,
            delegation_depth=depth,
            delegated=origin == "subagent" or depth > 0,
            parent=read_string(fields.get("parentSession")),
            seed_length=seed_length,
            version=NEWEST_VERSION + 1 if version is None else version,
            agent_preset=read_string(fields.get("agentPreset")),
            is_seeded=seed_length > 0 or fields.get("isSeeded") is True,
        )


@dataclass(frozen=True, slots=True)
class Message:
    """What one side said: text blocks joined with newlines, never reasoning, tool calls, results or images.

    ``time`` is UTC, None when unreadable. ``source`` is the pointer ``<session id>#<seq>``; ``line`` is the
    physical line of the (decompressed) log, 1 being the header, and is not the seq (EX-005). ``source_kind``
    is ``""`` when the log has none. ``by_owner``: a person typed it into a session of his own (EX-006).
    """

    session_id: str
    seq: int
    time: datetime | None
    role: Literal["user", "assistant"]
    text: str
    source: str
    source_kind: str
    by_owner: bool
    line: int
    id: str

    @property
    def is_said(self) -> bool:
        """Whether it is what the owner or the assistant said, nothing that was injected (S2-020)."""
        return self.by_owner or self.role == "assistant"


@dataclass(frozen=True)
class Event:
    """One event after unpacking; ``time`` is UTC, ``line`` the physical line that holds it.

    ``surface_op`` is None, ``"append"`` or the operation's mapping. ``data`` is decoded when first asked for;
    None when it cannot be.
    """

    type: str
    seq: int
    time: datetime | None
    line: int
    surface_op: Any
    content: bytes | dict[str, Any] = field(repr=False)

    @cached_property
    def data(self) -> Any:
        """The event's data as Python values."""
        if isinstance(self.content, dict):
            return self.content
        return decode_data(self.content)


@dataclass(frozen=True, slots=True)
class LoggedPrompt:
    """One system prompt as the harness logged it, and our part of it.

    ``found`` tells how ``text`` was recognised: by the digest of an injected text we know, by the sentences
    it is framed with, or not at all (then ``text`` and ``digest`` are None). ``digest`` is the sha256 of
    ``text`` in UTF-8. ``seeded``: copied from the parent session, where it was said (EX-004).
    """

    seq: int
    time: datetime | None
    reason: str
    system: str
    text: str | None
    found: Found
    digest: str | None
    seeded: bool = False


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """Where a reading ended, so that the next one decodes only what was added (S2-240, S2-241).

    ``offset`` is the byte after the last whole frame or line that was read, ``size`` the file's size then;
    ``head`` and ``before`` are sha256 of the first and of the last 64 bytes before ``offset``.
    """

    size: int
    offset: int
    next_seq: int
    next_line: int
    head: str
    before: str
    inode: int
    header: Header


class NewMessages(NamedTuple):
    """What `read_new` found; ``mode`` "full" means that ``messages`` are all of the session's."""

    messages: list[Message]
    point: ResumePoint | None
    mode: Mode


def read_whole_number(value: object) -> int | None:
    """A whole number out of a JSON number or a string of digits; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    try:
        if isinstance(value, str):
            return int(value)
        if isinstance(value, float) and value.is_integer():
            return int(value)
    except ValueError:
        pass
    return None


def read_instant(milliseconds: int | None) -> datetime | None:
    """Epoch milliseconds as a UTC instant; None outside the years 2000 to 2099."""
    if milliseconds is None or not EARLIEST_TIME <= milliseconds < LATEST_TIME:
        return None
    return _EPOCH + timedelta(milliseconds=milliseconds)


def read_string(value: object) -> str | None:
    """A non-empty string; None for anything else."""
    return value if isinstance(value, str) and value else None
