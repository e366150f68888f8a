"""What tells that a file is still the one that was read."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

#: (mtime in ns, size in bytes, inode); None when there is no such file (S2-214, S2-215).
Fingerprint = tuple[int, int, int] | None


def fingerprint(path: str | os.PathLike[str]) -> Fingerprint:
    """The fingerprint of ``path`` now; None when it does not exist or cannot be reached."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a Path would cost half the compose budget of T11
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def fingerprint_of(descriptor: int) -> tuple[int, int, int]:
    """The fingerprint of an open file."""
    found = os.fstat(descriptor)
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def is_regular(path: Path) -> bool:
    """Whether ``path`` is a regular file, links followed."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def digest(text: str) -> str:
    """sha256 of the UTF-8 text, in hex (DESIGN "Ids"); lone surrogates are hashed as their escapes."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
