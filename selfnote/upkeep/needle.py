r"""A sentence that is looked for: in plain text, in lines, in JSON and in JSON inside JSON (``\uXXXX``)."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate
from typing import Any, NamedTuple

from selfnote.errors import LimitExceeded
from selfnote.storage.lines import BOM
from selfnote.text import ELLIPSIS, fold, one_line, require_text, safe

#: Folded code points below which nearly every line would hold the sentence.
SHORTEST = 2
#: Folded code points from which a sentence is also looked for across line ends.
ACROSS_LINES = 8
#: JSON inside JSON is undone this often: arguments of a tool in a logged event are two deep.
_DEPTH = 3
#: Code points of an excerpt before and after what was found.
_BEFORE, _AFTER = 20, 40
#: A longer text is narrowed to one of its lines before the excerpt is cut.
_LONG = 4000
#: Stands at both ends of a line so that folding takes no full stop from them; it folds to itself and joins nothing.
_GUARD = "一"
_ESCAPE = re.compile(r'\\(?:u(?P<unit>[0-9a-fA-F]{4})|(?P<char>["\\/bfnrt]))')
_CHARS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ZSTD = b"\x28\xb5\x2f\xfd"
#: Bytes of a compressed file after it is undone, at most.
_UNPACKED = 256 * 1024 * 1024


class Needle:
    """A sentence as it is looked for: contained after folding, so that spaces, case and punctuation do not matter.

    Raises
    ------
    LimitExceeded
        When fewer than 2 code points are left of it after folding.
    """

    def __init__(self, text: str) -> None:
        self.text = require_text("text", text)
        self.folded = fold(text)
        if len(self.folded) < SHORTEST:
            raise LimitExceeded(
                f"text={text!r} has {len(self.folded)} characters after folding, at least {SHORTEST} are needed; "
                "give a longer part of the sentence"
            )
        self._ascii = self.folded.isascii()
        self._across = len(self.folded) >= ACROSS_LINES or "\n" in text.strip()

    def is_in(self, text: str) -> bool:
        """Whether ``text`` holds it, JSON escapes in it undone as well."""
        return self._form(text) is not None

    def _form(self, text: str) -> str | None:
        """``text``, undone as far as it takes to hold the sentence; None when it does not."""
        for _ in range(_DEPTH + 1):
            # What is pure ASCII folds to ASCII: most of a log is passed over without folding it.
            if (self._ascii or not text.isascii()) and self.folded in fold(text):
                return text
            if "\\" not in text:
                return None
            undone = unescape(text)
            if undone == text:
                return None
            text = undone
        return None

    def excerpt(self, text: str) -> str:
        """The part of ``text`` around the sentence on one line; its beginning when it is not in it."""
        form = self._form(text)
        if form is None:
            return _shown(text, 0, 0)
        if len(form) > _LONG:
            form = next((line for line in form.splitlines() if self.folded in fold(line)), form[: 4 * _LONG])
        stop = smallest(len(form), lambda size: self.folded in fold(form[:size]))
        start = stop - smallest(stop, lambda size: self.folded in fold(form[stop - size : stop]))
        return _shown(form, start, stop)

    def spans(self, lines: Sequence[str]) -> list[tuple[int, int]]:
        """Each run of lines that holds it, as first and last index: one line, or more when it goes across their ends.

        A sentence of 8 folded code points or more is found across line ends; a shorter one would be by accident.
        """
        found = [(index, index) for index, line in enumerate(lines) if self.is_in(line)]
        if not self._across:
            return found
        folded = [fold(f"{_GUARD}{line}{_GUARD}")[1:-1] for line in lines]
        whole = "".join(folded)
        starts = [0, *accumulate(map(len, folded))]
        at = whole.find(self.folded)
        while at >= 0:
            first = bisect.bisect_right(starts, at) - 1
            last = bisect.bisect_left(starts, at + len(self.folded)) - 1
            if first != last:
                found.append((first, last))
            at = whole.find(self.folded, at + 1)
        return sorted(set(found))


def smallest(high: int, holds: Callable[[int], bool]) -> int:
    """The smallest size up to ``high`` for which ``holds``, which is true from some size on."""
    low = 0
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _shown(text: str, start: int, stop: int) -> str:
    begin, end = max(0, start - _BEFORE), stop + _AFTER
    inside = safe(one_line(text[begin:end])).strip()
    return f"{ELLIPSIS if begin else ''}{inside}{ELLIPSIS if end < len(text) else ''}"


def unescape(text: str) -> str:
    """``text`` with the escapes of a JSON string undone wherever they stand; halves of a pair are joined."""

    def undo(found: re.Match[str]) -> str:
        if found["unit"]:
            return chr(int(found["unit"], 16))
        return _CHARS.get(found["char"], found["char"])

    return _ESCAPE.sub(undo, text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def strings(value: Any, skip: AbstractSet[str] = frozenset(), path: str = "") -> Iterator[tuple[str, str]]:
    """Every string in a JSON value with the keys that lead to it; what stands under a key of ``skip`` is left out."""
    waiting = [(path, value)]
    while waiting:
        where, one = waiting.pop()
        if isinstance(one, str):
            yield where, one
        elif isinstance(one, dict):
            inner = [
                (f"{where}.{key}" if where else str(key), inside) for key, inside in one.items() if key not in skip
            ]
            waiting.extend(reversed(inner))
        elif isinstance(one, list):
            waiting.extend((where, inside) for inside in reversed(one))


class Spot(NamedTuple):
    """A place in a file that is only looked at: its 1-based line (None: it is one JSON value), field and excerpt."""

    line: int | None
    field: str
    excerpt: str


def look_into(data: bytes, needle: Needle) -> list[Spot]:
    """Where a file of any kind holds the sentence: a JSON value, lines of JSON, text; zstd is undone first.

    Raises
    ------
    ValueError
        When it is compressed in a way that cannot be undone here.
    """
    if data.startswith(_ZSTD):
        data = _unpack(data)
    elif data.startswith((b"PK\x03\x04", b"\x1f\x8b")):
        raise ValueError("compressed; unpack it first")
    text = data.removeprefix(BOM).decode("utf-8", "replace")
    value = _loads(text)
    if value is not None:
        return [Spot(None, field, needle.excerpt(one)) for field, one in strings(value) if needle.is_in(one)]
    lines = text.splitlines()
    spots: list[Spot] = []
    plain: list[str] = []
    for number, line in enumerate(lines, start=1):
        inside = _loads(line)
        plain.append("" if inside is not None else line)
        spots += [Spot(number, field, needle.excerpt(one)) for field, one in strings(inside) if needle.is_in(one)]
    spots += [
        Spot(first + 1, "", needle.excerpt("\n".join(plain[first : last + 1]))) for first, last in needle.spans(plain)
    ]
    return sorted(spots, key=lambda spot: spot.line or 0)


def _loads(text: str) -> Any:
    """A JSON object or list; None for anything else."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _unpack(data: bytes) -> bytes:
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as stream:
            return stream.read(_UNPACKED)
    except zstandard.ZstdError as error:
        raise ValueError(f"not whole zstd ({error})") from error
