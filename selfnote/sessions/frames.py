"""The zstd frames of a session log: where they begin and end, which are whole, and the text they hold.

A log is concatenated independent frames (RFC 8878) that declare no content size (EX-002). The scan reads
frame and block headers only, so the end of the last whole frame is known before anything is decompressed;
``zstandard`` then streams the whole region, which is several times faster than one frame at a time.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from zstandard import ZstdDecompressionReader

#: The first four bytes of a zstd frame.
FRAME_MAGIC = b"\x28\xb5\x2f\xfd"
#: The last three of the four bytes of a skippable frame; the first is 0x50 to 0x5F.
SKIPPABLE_MAGIC_END = b"\x2a\x4d\x18"
#: Bytes of one block after decompression, at most (RFC 8878, 3.1.1.2.4).
BLOCK_LIMIT = 128 * 1024
#: Bytes of one frame after decompression, at most; a frame above it is not read (DESIGN "Files", EX-008).
FRAME_LIMIT = 256 * 1024 * 1024
#: Bytes asked of the decompressor at a time.
READ_SIZE = 256 * 1024
#: Bytes of the file that are held at a time, if no single frame is longer.
WINDOW_SIZE = 1024 * 1024

_CHECKSUM_SIZE = 4
_DICTIONARY_ID_SIZES = (0, 1, 2, 4)
_CONTENT_SIZE_SIZES = (0, 2, 4, 8)
_RAW_BLOCK, _RUN_LENGTH_BLOCK, _COMPRESSED_BLOCK = 0, 1, 2

Buffer = bytes | memoryview


@dataclass(frozen=True, slots=True)
class Fault:
    """What ends the readable part of a log: the byte where its frame begins, and why it is not read."""

    offset: int
    reason: str


class BadFrameError(ValueError):
    """The decompressor refused a frame; what was given out of this stream so far is not to be trusted."""

    def __init__(self, reason: str, fault: Fault | None = None) -> None:
        super().__init__(reason)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Scan:
    """The frames of a buffer, offsets in bytes from its start.

    ``starts`` holds the offset of every whole frame and ``end`` the byte after the last of them. ``tail``
    says what follows: nothing, the beginning of a frame ("torn"), or bytes that are no frame ("invalid").
    ``large`` lists the frames whose block headers allow more than the limit asked for.
    """

    starts: array[int]
    end: int
    tail: Literal["none", "torn", "invalid"]
    reason: str
    large: tuple[int, ...]


class _Torn(Exception):  # noqa: N818 - a signal inside the scan, never seen outside
    """The buffer ends inside this frame."""


class _Invalid(Exception):  # noqa: N818 - a signal inside the scan, never seen outside
    """These bytes are not a frame."""


def starts_frame(head: bytes) -> bool:
    """Whether these first bytes of a file are those of a zstd or a skippable frame."""
    return head[:4] == FRAME_MAGIC or (head[1:4] == SKIPPABLE_MAGIC_END and head[0] >> 4 == 0x5)


def scan_frames(data: Buffer, *, limit: int = FRAME_LIMIT) -> Scan:
    """Find the whole frames of ``data`` by their headers; decompresses nothing, costs one step a block."""
    starts = array("Q")
    large: list[int] = []
    position, size = 0, len(data)
    tail: Literal["none", "torn", "invalid"] = "none"
    reason = ""
    while position < size:
        try:
            end, bound = _find_frame_end(data, position, size)
        except _Torn as signal:
            tail, reason = "torn", str(signal)
            break
        except _Invalid as signal:
            tail, reason = "invalid", str(signal)
            break
        starts.append(position)
        if bound > limit:
            large.append(position)
        position = end
    return Scan(starts, position, tail, reason, tuple(large))


def _find_frame_end(data: Buffer, start: int, size: int) -> tuple[int, int]:  # noqa: C901, PLR0912 - the format, in its order
    """The end of the frame at ``start`` and the most bytes its block headers allow it to hold."""
    magic = bytes(data[start : start + 4])
    if magic != FRAME_MAGIC:
        return _find_skippable_end(data, start, size, magic)
    if start + 5 > size:
        raise _Torn("the file ends inside a frame header")
    descriptor = data[start + 4]
    if descriptor & 0x08:
        raise _Invalid("a reserved bit of the frame header is set")
    single_segment = descriptor >> 5 & 1
    content_size_size = _CONTENT_SIZE_SIZES[descriptor >> 6] or single_segment
    position = start + 6 - single_segment + _DICTIONARY_ID_SIZES[descriptor & 3] + content_size_size
    bound = 0
    while True:
        if position + 3 > size:
            raise _Torn("the file ends inside a frame")
        block = data[position] | data[position + 1] << 8 | data[position + 2] << 16
        kind, length = block >> 1 & 3, block >> 3
        position += 3
        if length > BLOCK_LIMIT:
            raise _Invalid(f"a block of {length} bytes is over the format's {BLOCK_LIMIT}")
        if kind == _COMPRESSED_BLOCK:
            position += length
            bound += BLOCK_LIMIT
        elif kind == _RAW_BLOCK:
            position += length
            bound += length
        elif kind == _RUN_LENGTH_BLOCK:
            position += 1
            bound += length
        else:
            raise _Invalid("a block of the reserved kind")
        if block & 1:
            break
    if descriptor & 0x04:
        position += _CHECKSUM_SIZE
    if position > size:
        raise _Torn("the file ends inside a frame")
    return position, bound


def _find_skippable_end(data: Buffer, start: int, size: int, magic: bytes) -> tuple[int, int]:
    rest = magic[1:]
    if magic[0] >> 4 == 0x5 and SKIPPABLE_MAGIC_END.startswith(rest):
        if start + 8 > size:
            raise _Torn("the file ends inside a skippable frame")
        end = start + 8 + int.from_bytes(data[start + 4 : start + 8], "little")
        if end > size:
            raise _Torn("the file ends inside a skippable frame")
        return end, 0
    if len(magic) < len(FRAME_MAGIC) and FRAME_MAGIC.startswith(magic):
        raise _Torn("the file ends inside a frame header")
    raise _Invalid("no frame begins here")


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """At most ``size`` bytes from ``offset`` of an open file."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, size, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)


def read_text(data: Buffer, *, read_size: int = READ_SIZE) -> Iterator[bytes]:
    """The text of whole frames, in pieces of at most ``read_size`` bytes.

    Raises
    ------
    BadFrameError
        A frame is damaged. Pieces given before it may hold the beginning of that frame: throw them away,
        ask `find_fault` where it is, and read the part before it.
    """
    from zstandard import ZstdError

    with _open_reader(data, across=True) as reader:
        while True:
            try:
                piece = reader.read(read_size)
            except ZstdError as error:
                raise BadFrameError(str(error)) from error
            if not piece:
                return
            yield piece


def find_fault(
    data: Buffer,
    scan: Scan,
    *,
    only: tuple[int, ...] | None = None,
    limit: int = FRAME_LIMIT,
) -> Fault | None:
    """The first whole frame that is damaged or holds more than ``limit`` bytes; None when all are good.

    ``only`` names the frames to look at (their starts); without it all are. Nothing is kept: memory stays at
    one read whatever a frame expands to, and no frame is decompressed past the limit (EX-008).
    """
    view = memoryview(data)
    ends = scan.starts[1:]
    ends.append(scan.end)
    wanted = None if only is None else frozenset(only)
    for start, end in zip(scan.starts, ends, strict=True):
        if wanted is not None and start not in wanted:
            continue
        reason = _check_frame(view[start:end], limit)
        if reason:
            return Fault(start, reason)
    return None


def find_tail_fault(data: Buffer, scan: Scan, *, limit: int = FRAME_LIMIT) -> Fault | None:
    """What is wrong with the bytes after the last whole frame; None when they are only torn, or none."""
    if scan.tail == "none":
        return None
    if scan.tail == "invalid":
        return Fault(scan.end, scan.reason)
    reason = _check_frame(memoryview(data)[scan.end :], limit)
    return Fault(scan.end, reason) if reason else None


@dataclass
class FramedText:
    """The text of the whole frames of an open file from ``start`` to ``stop``, read window by window.

    While `read` runs out, ``end`` becomes the byte after the last whole frame, ``fault`` what ended the reading
    before the last one, and ``torn`` why the bytes after ``end`` are no whole frame yet. Offsets are the file's.
    """

    descriptor: int
    start: int
    stop: int
    limit: int = FRAME_LIMIT
    window: int = WINDOW_SIZE
    end: int = 0
    fault: Fault | None = None
    torn: str = ""

    def read(self) -> Iterator[bytes]:
        """The text in pieces; memory is a window, or the longest frame where that is longer.

        Raises
        ------
        BadFrameError
            A frame is damaged; its fault tells where. Pieces already given may be of that frame: read again
            with ``stop`` at the fault's offset.
        """
        self.end = position = self.start
        held, wanted = b"", self.window
        while True:
            added = read_at(self.descriptor, min(wanted, self.stop - position), position)
            position += len(added)
            held = held + added if held else added
            if not held:
                return
            scan = scan_frames(held, limit=self.limit)
            if scan.tail == "torn" and not scan.starts and added:
                # One frame longer than what is held: twice as much, so that it is not scanned too often.
                wanted = 2 * len(held)
                continue
            base, whole = self.end, scan.end
            if scan.large:
                self._note(find_fault(held, scan, only=scan.large, limit=self.limit), base)
                whole = self.fault.offset - base if self.fault else whole
            try:
                yield from read_text(memoryview(held)[:whole])
            except BadFrameError as error:
                self._note(find_fault(held, scan, limit=self.limit), base)
                raise BadFrameError(str(error), self.fault) from error
            self.end = base + whole
            if self.fault is None and (scan.tail == "invalid" or not added):
                self._note(find_tail_fault(held, scan, limit=self.limit), base)
                self.torn = "" if self.fault else scan.reason
            if self.fault or not added:
                return
            held, wanted = held[whole:], self.window

    def _note(self, fault: Fault | None, base: int) -> None:
        self.fault = Fault(base + fault.offset, fault.reason) if fault else None


def _check_frame(frame: memoryview, limit: int) -> str:
    from zstandard import ZstdError

    target = bytearray(READ_SIZE)
    held = 0
    with _open_reader(frame, across=False) as reader:
        while True:
            try:
                count = reader.readinto(target)
            except ZstdError as error:
                return f"the frame cannot be decompressed ({error})"
            if not count:
                return ""
            held += count
            if held > limit:
                return (
                    f"the frame holds more than {limit} bytes ({held} when the reading stopped); "
                    "it and what follows are not read"
                )


def _open_reader(data: Buffer, *, across: bool) -> ZstdDecompressionReader:
    from zstandard import ZstdDecompressor

    return ZstdDecompressor().stream_reader(data, read_across_frames=across)
