"""The lines of a session log as events: envelope, packed chunk rows, messages, and what is wrong with a line.

Only this module imports msgspec; it is imported on the first session read (PERFORMANCE T11).
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from selfnote.sessions.decoding import decode_data, replace_lone_surrogates
from selfnote.sessions.model import (
    EARLIEST_TIME,
    LATEST_TIME,
    Event,
    Header,
    Message,
    Problems,
    read_instant,
    read_whole_number,
)

#: Bytes of one line, at most; a longer one is skipped and counted (DESIGN "Files").
LINE_LIMIT = 32 * 1024 * 1024

USER_MESSAGE, ASSISTANT_MESSAGE = "user/message", "assistant/message"
REQUEST_HEADER, TURN_END, CHUNK = "request/header", "turn/end", "assistant/chunk"

#: The tag of a packed row, the delta each of its members is, and the key of its pieces (EX-005).
PACKED: Final[dict[str, tuple[str, str]]] = {
    "text-chunks": ("text-delta", "texts"),
    "reasoning-chunks": ("reasoning-delta", "texts"),
    "tool-call-chunks": ("tool-call-delta", "args"),
}

_ABSENT = -1
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError)


class Envelope(Struct, gc=False):
    """What every line but the header carries; ``data`` stays undecoded until someone asks."""

    type: str
    seq: int = _ABSENT
    time: int = _ABSENT
    data: Raw = Raw()
    seq0: int = _ABSENT
    time0: int = _ABSENT
    surface_op: Raw = msgspec.field(name="surfaceOp", default=Raw())


class _Block(Struct, gc=False):
    type: str = ""
    text: Raw = Raw()


class _Source(Struct, frozen=True, gc=False):
    kind: str = ""


_NO_SOURCE = _Source()


class _Content(Struct, gc=False):
    content: list[_Block]
    id: str = ""
    source: _Source = _NO_SOURCE


class _AssistantData(Struct, gc=False):
    message: _Content


class _PackedSteps(Struct, gc=False):
    dt: list[int]


class _PackedPieces(Struct, gc=False):
    texts: list[str] = []
    args: list[str] = []


_ENVELOPE = msgspec.json.Decoder(Envelope)
_USER_DATA = msgspec.json.Decoder(_Content)
_ASSISTANT_DATA = msgspec.json.Decoder(_AssistantData)
_PACKED_STEPS = msgspec.json.Decoder(_PackedSteps)
_PACKED_PIECES = msgspec.json.Decoder(_PackedPieces)
_STRING = msgspec.json.Decoder(str)

#: One line that holds events: the envelope, the seq of its first event, how many it holds, its line number.
Row = tuple[Envelope, int, int, int]


@dataclass(frozen=True, slots=True)
class Overlong:
    """A line that was not kept because of its length in bytes."""

    size: int

    def __len__(self) -> int:
        return self.size


#: One line without its newline.
Line = bytes | memoryview | Overlong
#: Lines that follow each other, and the offset in bytes of the first of them in the text.
Batch = tuple[int, list[Line]]


@dataclass
class LineSplitter:
    """Lines out of pieces of text; keeps at most one line of ``limit`` bytes.

    ``unfinished`` is how many bytes stand after the last newline once the pieces are used up.
    """

    limit: int = LINE_LIMIT
    unfinished: int = 0

    def split(self, pieces: Iterable[bytes]) -> Iterator[Batch]:
        """Batches of whole lines, each with the offset in bytes of its first line in the text.

        A line inside one piece is a view of it: copying every line costs as much as reading its envelope.
        """
        parts: list[bytes] = []
        held = offset = 0
        for piece in pieces:
            position = piece.find(b"\n")
            if position < 0:
                held += len(piece)
                parts.append(piece)
                if held > self.limit:
                    parts.clear()
                self.unfinished = held
                continue
            size = held + position
            parts.append(piece[:position])
            lines: list[Line] = [Overlong(size) if size > self.limit else b"".join(parts)]
            view, find, start = memoryview(piece), piece.find, position + 1
            while (position := find(b"\n", start)) >= 0:
                lines.append(view[start:position])
                start = position + 1
            if len(piece) > self.limit:
                lines = [Overlong(len(line)) if len(line) > self.limit else line for line in lines]
            yield offset, lines
            offset += held + start
            held = self.unfinished = len(piece) - start
            parts = [piece[start:]] if 0 < held <= self.limit else []


@dataclass
class RowReader:
    """Rows out of batches of lines, with seq and line number going on from where they stood.

    ``damaged`` tells that something was read past or not read (status "corrupt"); ``skipped_lines`` counts
    the lines over the limit.
    """

    problems: Problems
    next_seq: int = 0
    next_line: int = 2
    damaged: bool = False
    skipped_lines: int = 0

    def read(self, batches: Iterator[Batch]) -> Iterator[Row]:  # noqa: C901, PLR0912 - one loop: a call a row costs T1
        """Every row whose seq follows the one before it; stops at the first gap.

        After a line that cannot be read the number of its events is unknown, so the next line may go on at
        any later seq; without such a line a jump means that events are missing (HARNESS 9). The pieces of a
        packed row are counted only where the seq of the next line does not already confirm their number.
        """
        decode, packed = _ENVELOPE.decode, PACKED
        number, expected, exact = self.next_line - 1, self.next_seq, True
        unconfirmed: Row | None = None
        try:
            for offset, lines in batches:
                for index, line in enumerate(lines):
                    number += 1
                    if not line:
                        continue
                    try:
                        envelope = decode(line)  # type: ignore[arg-type]  # an Overlong is a TypeError
                    except _UNREADABLE:
                        repaired = self._repair(line, self._locate(number, offset, lines, index))
                        if repaired is None:
                            exact = False
                            continue
                        envelope = repaired
                    is_packed = envelope.type in packed
                    if is_packed:
                        seq, time, count = envelope.seq0, envelope.time0, count_members(envelope)
                    else:
                        seq, time, count = envelope.seq, envelope.time, 1
                    if seq < 0 or not count:
                        reason = f"a malformed {envelope.type} row" if is_packed else "no seq on the line"
                        self._report(self._locate(number, offset, lines, index), reason)
                        exact = False
                        continue
                    if seq != expected:
                        if exact and unconfirmed and seq > unconfirmed[1] and self._is_malformed(unconfirmed):
                            exact, expected = False, unconfirmed[1] + 1
                        if exact or seq < expected:
                            self._report(
                                self._locate(number, offset, lines, index),
                                f"seq {seq} where {expected} was due; from here on nothing is read",
                            )
                            number -= 1
                            # The rest is passed over to its end, so that faults behind the gap are told too.
                            deque(batches, maxlen=0)
                            return
                    if not EARLIEST_TIME <= time < LATEST_TIME:
                        self.problems.add(
                            self._locate(number, offset, lines, index),
                            "the time is missing or is no plausible count of milliseconds; read as unknown",
                        )
                    row = (envelope, seq, count, number)
                    exact, expected, unconfirmed = True, seq + count, row if is_packed else None
                    yield row
            if unconfirmed:
                self._is_malformed(unconfirmed)
        finally:
            self.next_line, self.next_seq = number + 1, expected

    def _is_malformed(self, row: Row) -> bool:
        if holds_all_members(row[0]):
            return False
        self._report(f"line {row[3]}", f"a malformed {row[0].type} row: its pieces and time steps do not match")
        return True

    def _locate(self, number: int, offset: int, lines: list[Line], index: int) -> str:
        if self.problems.is_full:
            return ""
        return f"line {number}, byte {offset + sum(map(len, lines[:index])) + index} of the text"

    def _report(self, where: str, reason: str) -> None:
        self.damaged = True
        self.problems.add(where, reason)

    def _repair(self, line: Line, where: str) -> Envelope | None:
        if isinstance(line, Overlong):
            self.skipped_lines += 1
            self.problems.add(where, f"a line of {line.size} bytes is over the limit; skipped")
            return None
        line = bytes(line)
        repaired = replace_lone_surrogates(line)
        try:
            if repaired != line:
                envelope = _ENVELOPE.decode(repaired)
                self.problems.add(where, "half a surrogate pair; read as U+FFFD")
                return envelope
        except _UNREADABLE:
            pass
        try:
            fields = decode_object(repaired)
            envelope = _read_loose_envelope(fields)
        except ValueError as error:
            self._report(where, str(error))
            return None
        self.problems.add(where, "fields of unexpected types; read as far as they can be")
        return envelope


@dataclass
class Survey:
    """The one pass over a log: its messages, its counts, and where it stands at the end."""

    header: Header
    reader: RowReader
    messages: list[Message] = field(default_factory=list)
    event_count: int = 0
    type_counts: Counter[str] = field(default_factory=Counter)
    source_kinds: Counter[str] = field(default_factory=Counter)
    last_time: int = _ABSENT

    def read(self, batches: Iterator[Batch]) -> None:
        """Take in batches of lines (the header's line not among them)."""
        counts: dict[str, int] = {}
        latest: tuple[Envelope, int] | None = None
        seed_length = self.header.seed_length
        for envelope, seq, count, number in self.reader.read(batches):
            kind = envelope.type
            if kind in PACKED:
                kind = CHUNK
            counts[kind] = counts.get(kind, 0) + count
            if EARLIEST_TIME <= (envelope.time if envelope.time0 < 0 else envelope.time0) < LATEST_TIME:
                latest = envelope, count
            if kind in (USER_MESSAGE, ASSISTANT_MESSAGE):
                message = read_message(self.header, envelope, seq, number)
                if message is None:
                    self.reader.damaged = True
                    self.reader.problems.add(f"line {number}, seq {seq}", f"the {kind} cannot be read; left out")
                    continue
                self.messages.append(message)
                if kind == USER_MESSAGE and seq >= seed_length:
                    self.source_kinds[message.source_kind] += 1
        self.event_count += sum(counts.values())
        self.type_counts.update(counts)
        if latest is not None:
            self.last_time = _find_last_time(*latest)


def decode_object(line: bytes) -> dict[str, Any]:
    """One line as a JSON object.

    Raises
    ------
    ValueError
        With the reason, as a problem is told: not UTF-8, not JSON, no object.
    """
    try:
        value = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        message = f"not UTF-8 at byte {error.start} of the line"
        raise ValueError(message) from error
    except RecursionError as error:
        raise ValueError("nested too deeply to be read") from error
    except ValueError as error:
        message = f"not JSON ({error})"
        raise ValueError(message) from error
    if not isinstance(value, dict):
        message = f"a JSON {type(value).__name__}, not an object"
        raise ValueError(message)  # noqa: TRY004 - one kind of error for every unreadable line
    return value


def parse_header(line: bytes, *, fallback_id: str, problems: Problems) -> Header | None:
    """The header of a log from its first line; None when that line is no header (EX-003).

    What is wrong with a field is a problem, and the field reads as absent.
    """
    line = line.removeprefix(b"\xef\xbb\xbf")
    repaired = replace_lone_surrogates(line)
    if repaired != line:
        problems.add("line 1", "half a surrogate pair; read as U+FFFD")
    try:
        fields = decode_object(repaired)
    except ValueError as error:
        problems.add("line 1", f"the header cannot be read: {error}")
        return None
    if fields.get("type") != "session":
        problems.add("line 1", 'no header: the first line is not of type "session"')
        return None
    if not isinstance(fields.get("id"), str) or not fields["id"]:
        problems.add("line 1", f"the header has no id; {fallback_id!r}, from the folder, is used")
    header = Header.from_mapping(fields, fallback_id=fallback_id)
    if header.created_at is None:
        problems.add("line 1", "createdAt is missing or is no plausible count of milliseconds; read as unknown")
    return header


def count_members(envelope: Envelope) -> int:
    """How many events a packed row says it holds, by its time steps; 0 when it has none."""
    try:
        return len(_PACKED_STEPS.decode(envelope.data).dt) + 1
    except _UNREADABLE:
        return 0


def holds_all_members(envelope: Envelope) -> bool:
    """Whether a packed row holds one piece more than time steps: the dear half of the check."""
    raw = replace_lone_surrogates(bytes(envelope.data))
    try:
        pieces = _PACKED_PIECES.decode(raw)
    except _UNREADABLE:
        return False
    count = len(pieces.args if PACKED[envelope.type][1] == "args" else pieces.texts)
    return count == count_members(envelope)


def read_message(header: Header, envelope: Envelope, seq: int, line: int) -> Message | None:
    """The message of a ``user/message`` or ``assistant/message``; None when its data cannot be read.

    Only text blocks are taken, joined with newlines. The owner's are those of kind exactly ``user``, outside
    a delegated session, not copied into a fork and not put in place of another message (EX-004, EX-006, EX-007).
    """
    by_user = envelope.type == USER_MESSAGE
    try:
        content = _USER_DATA.decode(envelope.data) if by_user else _ASSISTANT_DATA.decode(envelope.data).message
        text = "\n".join([_STRING.decode(block.text) for block in content.content if block.type == "text"])
        message_id, source_kind = content.id, content.source.kind
    except _UNREADABLE:
        loose = _read_loose_message(envelope, by_user=by_user)
        if loose is None:
            return None
        text, message_id, source_kind = loose
    return Message(
        header.id,
        seq,
        read_instant(envelope.time),
        "user" if by_user else "assistant",
        text,
        f"{header.id}#{seq}",
        source_kind,
        by_user
        and source_kind == "user"
        and not header.delegated
        and seq >= header.seed_length
        and not replaces(envelope),
        line,
        message_id,
    )


def replaces(envelope: Envelope) -> bool:
    """Whether the event stands in the place of earlier ones; anything but a plain append counts as that."""
    raw = bytes(envelope.surface_op)
    if raw in (b"", b'"append"', b"null"):
        return False
    operation = decode_data(raw)
    return not (isinstance(operation, dict) and operation.get("op") == "append")


def unpack(row: Row) -> Iterator[Event]:
    """The events of one row: the event itself, or each member of a packed row (EX-005)."""
    envelope, seq, count, line = row
    if envelope.type not in PACKED:
        operation = decode_data(bytes(envelope.surface_op)) if bytes(envelope.surface_op) else None
        yield Event(
            type=envelope.type,
            seq=seq,
            time=read_instant(envelope.time),
            line=line,
            surface_op=operation,
            content=bytes(envelope.data),
        )
        return
    delta, key = PACKED[envelope.type]
    data = decode_data(bytes(envelope.data))
    steps, time = data["dt"], envelope.time0
    # What the quick count of a damaged row took for a piece may be none.
    pieces = [*data[key], *[None] * count]
    for index in range(count):
        if index:
            time += steps[index - 1]
        chunk: dict[str, Any] = {"type": delta, "index": data.get("index")}
        if key == "args":
            chunk["id"] = data.get("id")
            if "name" in data:
                chunk["name"] = data["name"]
            chunk["argumentsDelta"] = pieces[index]
        else:
            chunk["text"] = pieces[index]
        yield Event(
            type=CHUNK,
            seq=seq + index,
            time=read_instant(time),
            line=line,
            surface_op=None,
            content={"turn": data.get("turn"), "step": data.get("step"), "chunk": chunk},
        )


def _read_loose_envelope(fields: dict[str, Any]) -> Envelope:
    kind = fields.get("type")
    if not isinstance(kind, str):
        raise ValueError('no "type" on the line')  # noqa: TRY004 - one kind of error for every unreadable line

    def whole(name: str) -> int:
        number = read_whole_number(fields.get(name))
        return _ABSENT if number is None else number

    def raw(name: str) -> Raw:
        return Raw(json.dumps(fields[name]).encode()) if name in fields else Raw()

    return Envelope(kind, whole("seq"), whole("time"), raw("data"), whole("seq0"), whole("time0"), raw("surfaceOp"))


def _read_loose_message(envelope: Envelope, *, by_user: bool) -> tuple[str, str, str] | None:
    try:
        data = decode_object(replace_lone_surrogates(bytes(envelope.data)))
    except ValueError:
        return None
    if not by_user:
        inner = data.get("message")
        if not isinstance(inner, dict):
            return None
        data = inner
    content = data.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return None
    texts = [
        block["text"]
        for block in content
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    source, message_id = data.get("source"), data.get("id")
    kind = source.get("kind") if isinstance(source, dict) else None
    return (
        "\n".join(texts),
        message_id if isinstance(message_id, str) else "",
        kind if isinstance(kind, str) else "",
    )


def _find_last_time(envelope: Envelope, count: int) -> int:
    if envelope.type not in PACKED:
        return envelope.time
    return envelope.time0 + sum(_PACKED_STEPS.decode(envelope.data).dt[: count - 1])
