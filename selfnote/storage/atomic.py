"""Writing so that a reader, or a crash, finds the old file or the new one and never half of either (S2-282)."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

from selfnote.errors import Conflict, LimitExceeded
from selfnote.storage.fingerprints import Fingerprint, fingerprint, fingerprint_of

#: Bytes of one of our own files; session logs have no such cap (DESIGN "Files").
FILE_CAP = 256 * 1024 * 1024
NEW_FILE_MODE = 0o644

#: Stands for "whatever is there": no drift check.
_ANY = object()


class Drift(Conflict):
    """The file changed between the read and the rename; the caller reads again."""


def read_file(path: Path, *, cap: int = FILE_CAP) -> tuple[bytes, Fingerprint]:
    """The bytes of ``path`` and the fingerprint they were read under; empty and None when there is no file.

    Raises
    ------
    LimitExceeded
        When the file is over ``cap`` bytes; nothing was read.
    OSError
        When the file is there but cannot be read.
    """
    try:
        with path.open("rb") as stream:
            before = fingerprint_of(stream.fileno())
            if before[1] > cap:
                raise LimitExceeded(
                    f"{path} has {before[1]} bytes, at most {cap} are read; move part of it to another file",
                    told="file too large",
                    path=path,
                    size=before[1],
                    cap=cap,
                )
            data = stream.read(cap + 1)
            if len(data) > cap:
                raise LimitExceeded(
                    f"{path} grew past {cap} bytes while it was read; move part of it elsewhere",
                    told="file grew",
                    path=path,
                    cap=cap,
                )
            return data, before
    except FileNotFoundError:
        return b"", None


def write_atomic(
    path: Path,
    data: bytes,
    *,
    mode: int | None = None,
    expect: object = _ANY,
    just_before: Callable[[], None] | None = None,
) -> Fingerprint:
    """Replace ``path`` by ``data``: temp file in the same directory, fsync, rename, directory fsync.

    The mode of an existing file is kept; a new one gets ``mode`` (default 644). A symbolic link stays a link: what it
    points at is replaced. With ``expect`` the fingerprint is compared again just before the rename, since the
    owner's editor takes no lock. ``just_before`` runs once it is known that the rename will happen.

    Raises
    ------
    Drift
        When the file is no longer the one of ``expect``; nothing was written.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    wanted = mode if mode is not None else _mode_of(target)
    temporary = target.parent / f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            if hasattr(os, "fchmod"):
                os.fchmod(stream.fileno(), wanted)
            written = fingerprint_of(stream.fileno())
        _require_unchanged(target, expect)
        if just_before is not None:
            just_before()
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    sync_directory(target.parent)
    return written


def _require_unchanged(target: Path, expect: object) -> None:
    if expect is not _ANY and fingerprint(target) != expect:
        raise Drift(f"{target} was changed by another program while it was being written; read it again")


def append_line(path: Path, line: bytes, *, newline: bytes = b"\n") -> None:
    """Append ``line`` (without its newline) and fsync; a missing final newline is mended first (COMPLAINTS 11)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    created = not path.exists()
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags, NEW_FILE_MODE)
    try:
        size = os.fstat(descriptor).st_size
        mend = b""
        if size:
            os.lseek(descriptor, size - 1, os.SEEK_SET)
            if os.read(descriptor, 1) not in (b"\n", b"\r"):
                mend = newline
        _write_all(descriptor, mend + line + newline)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if created:
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make a rename in ``directory`` durable; where a directory cannot be opened (Windows) this does nothing."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_leftovers(path: Path) -> int:
    """Remove temp files that a killed writer of ``path`` left; call under its lock. The number removed."""
    target = Path(os.path.realpath(path))
    removed = 0
    for leftover in target.parent.glob(f".{target.name}.*.tmp"):
        with contextlib.suppress(OSError):
            leftover.unlink()
            removed += 1
    return removed


def _mode_of(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except OSError:
        return NEW_FILE_MODE


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
