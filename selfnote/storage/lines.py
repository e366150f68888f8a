"""A text file as lines whose bytes are kept: newline style, BOM and what is not understood survive a rewrite."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from selfnote.storage.atomic import read_file
from selfnote.storage.fingerprints import Fingerprint

BOM = b"\xef\xbb\xbf"
_LINE = re.compile(rb"([^\r\n]*)(\r\n|\n|\r|\Z)")


class Line(NamedTuple):
    """One physical line: its bytes without and its newline, which the last line may lack."""

    raw: bytes
    newline: bytes

    @property
    def text(self) -> str | None:
        """The line as text; None when it is not UTF-8."""
        try:
            return self.raw.decode("utf-8")
        except UnicodeDecodeError:
            return None


class TextFile(NamedTuple):
    """The lines of one file with what is needed to write it back byte for byte."""

    path: Path
    bom: bool
    lines: tuple[Line, ...]
    newline: bytes
    fingerprint: Fingerprint

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return (BOM if self.bom else b"") + b"".join(line.raw + line.newline for line in self.lines)

    @property
    def text(self) -> str:
        """The whole file as text without its BOM; bytes that are no UTF-8 come back when it is encoded again."""
        return self.data.removeprefix(BOM).decode("utf-8", "surrogateescape")

    def replaced(self, index: int, text: str) -> TextFile:
        """The file with the text of one line replaced, its newline kept."""
        line = self.lines[index]._replace(raw=text.encode())
        return self._replace(lines=(*self.lines[:index], line, *self.lines[index + 1 :]))

    def removed(self, index: int) -> TextFile:
        """The file without one line."""
        return self._replace(lines=self.lines[:index] + self.lines[index + 1 :])

    def appended(self, text: str) -> TextFile:
        """The file with one more line; a missing final newline is mended first."""
        lines = self.lines
        if lines and not lines[-1].newline:
            lines = (*lines[:-1], lines[-1]._replace(newline=self.newline))
        return self._replace(lines=(*lines, Line(text.encode(), self.newline)))


def read_text_file(path: Path) -> TextFile:
    """The lines of ``path``; no lines when there is no file. Raises LimitExceeded and OSError as ``read_file``."""
    data, found = read_file(path)
    return split_lines(path, data, found)


def split_lines(path: Path, data: bytes, found: Fingerprint) -> TextFile:
    """``data`` as a TextFile; the newline most lines end in is the file's style, LF when none does."""
    bom = data.startswith(BOM)
    body = data[len(BOM) :] if bom else data
    if b"\r" not in body:
        *ended, rest = body.split(b"\n")
        last = (Line(rest, b""),) if rest else ()
        return TextFile(path, bom, (*(Line(raw, b"\n") for raw in ended), *last), b"\n", found)
    lines = tuple(Line(one[1], one[2]) for one in _LINE.finditer(body) if one[0])
    styles = Counter(line.newline for line in lines if line.newline)
    return TextFile(path, bom, lines, styles.most_common(1)[0][0] if styles else b"\n", found)
