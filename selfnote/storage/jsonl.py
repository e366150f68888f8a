"""JSON lines: bad lines and unknown keys survive every rewrite byte for byte (DESIGN "Files")."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined] # the standard decoder's own string scanner
from pathlib import Path
from typing import Any, NamedTuple

from selfnote.storage.lines import Line

#: Bytes of one line; a longer one is kept and reported, not parsed (DESIGN "Files").
LINE_CAP = 1024 * 1024

_DECODER = json.JSONDecoder()
_SPACE = " \t\n\r"


class BadLine(NamedTuple):
    """A line that is kept but not understood: file, 1-based line number, why, and the start of its text."""

    path: Path
    line: int
    reason: str
    excerpt: str = ""

    def __str__(self) -> str:
        return f"{self.path.name} line {self.line}: {self.reason}"


def bad_line(path: Path, number: int, line: Line, reason: str) -> BadLine:
    """The report of one unreadable line, its text shown up to 80 code points."""
    return BadLine(path, number, reason, line.raw[:400].decode("utf-8", "replace")[:80])


def over_cap(line: Line) -> str | None:
    """Why a line is too long to parse, or None."""
    if len(line.raw) > LINE_CAP:
        return f"{len(line.raw)} bytes, at most {LINE_CAP} a line are read; shorten it or split the record"
    return None


def encode(value: Any) -> str:
    """``value`` as the one-line JSON we write: no spaces added, Chinese as itself, lone surrogates escaped."""
    if isinstance(value, RawJson):
        return str(value)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _escape_surrogates(text)


def _escape_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def patch_object(raw: str, changes: Mapping[str, Any]) -> str:
    """The JSON object ``raw`` with the given keys set and every other byte as it was.

    A key that occurs twice is changed where it counts: at its last occurrence. New keys go to the end in the order
    given, spaced as the object's last member is.

    Raises
    ------
    ValueError
        When ``raw`` is no JSON object.
    """
    members = _scan_members(raw)
    out: list[str] = []
    at = 0
    for key in sorted(changes.keys() & members.spans.keys(), key=lambda key: members.spans[key]):
        start, stop = members.spans[key]
        out += (raw[at:start], encode(changes[key]))
        at = stop
    added = [
        f"{members.lead}{encode(key)}:{members.gap}{encode(value)}"
        for key, value in changes.items()
        if key not in members.spans
    ]
    if added:
        out += (raw[at : members.end], "," if members.spans else "", ",".join(added))
        at = members.end
    out.append(raw[at:])
    return "".join(out)


class _Members(NamedTuple):
    """Where the values of an object stand, where its last member ends, and how its members are spaced."""

    spans: dict[str, tuple[int, int]]
    end: int
    lead: str
    gap: str


def _scan_members(raw: str) -> _Members:
    at = _skip(raw, 0)
    if raw[at : at + 1] != "{":
        raise ValueError("not a JSON object")
    spans: dict[str, tuple[int, int]] = {}
    before = at + 1
    at = _skip(raw, before)
    if raw[at : at + 1] == "}":
        _require_end(raw, at + 1)
        return _Members(spans, before, "", "")
    while True:
        lead = raw[before:at]
        if raw[at : at + 1] != '"':
            raise ValueError("not a JSON object")
        key, at = scanstring(raw, at + 1, False)  # noqa: FBT003 - the scanner's own positional flag
        colon = _skip(raw, at)
        if raw[colon : colon + 1] != ":":
            raise ValueError("not a JSON object")
        start = _skip(raw, colon + 1)
        _, stop = _DECODER.raw_decode(raw, start)
        spans[key] = (start, stop)
        at = _skip(raw, stop)
        if raw[at : at + 1] == "}":
            _require_end(raw, at + 1)
            return _Members(spans, stop, lead, raw[colon + 1 : start])
        if raw[at : at + 1] != ",":
            raise ValueError("not a JSON object")
        before = at + 1
        at = _skip(raw, before)


def _require_end(raw: str, at: int) -> None:
    if _skip(raw, at) != len(raw):
        raise ValueError("something follows the JSON object")


def extend_array(raw: str | None, added: Sequence[Any], *, changed: Callable[[Any], Mapping[str, Any] | None]) -> str:
    """The JSON array ``raw`` with values appended and object elements patched, every other byte as it was.

    ``changed`` gets each object element and returns the keys to set in it, or None. A value that is no array becomes
    the first element, so that nothing is lost; None and ``null`` are an empty array.
    """
    text = (raw or "").strip()
    if text in {"", "null"}:
        return encode(list(added))
    if not text.startswith("["):
        text = f"[{text}]"
    out: list[str] = ["["]
    at = _skip(text, 1)
    written = 1
    empty = text[at : at + 1] == "]"
    end = at
    while not empty:
        value, stop = _DECODER.raw_decode(text, at)
        new = changed(value) if isinstance(value, dict) else None
        if new:
            out += (text[written:at], patch_object(text[at:stop], new))
            written = stop
        end = stop
        at = _skip(text, stop)
        if text[at : at + 1] != ",":
            break
        at = _skip(text, at + 1)
    out.append(text[written:end])
    if added:
        out.append(("" if empty else ",") + ",".join(encode(value) for value in added))
    out.append(text[end:])
    return "".join(out)


def members(raw: str) -> dict[str, str]:
    """Key -> the text of its value, as it stands in the JSON object ``raw``. Raises ValueError."""
    return {key: raw[start:stop] for key, (start, stop) in _scan_members(raw).spans.items()}


class RawJson(str):
    """Text that already is JSON: written as it stands."""

    __slots__ = ()


def _skip(raw: str, at: int) -> int:
    while at < len(raw) and raw[at] in _SPACE:
        at += 1
    return at
