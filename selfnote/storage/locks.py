"""One writer at a time, across processes, for a bounded wait (S2-164, S2-165)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from selfnote.errors import Busy

#: Seconds an owner's or a stage write waits before it gives up (DESIGN "Opening").
WRITE_WAIT = 30.0
#: Seconds the composer waits (DESIGN "Rotation").
COMPOSE_WAIT = 0.05
_POLL = 0.02
_SHORT_POLL = 0.005


@contextlib.contextmanager
def hold(lock: Path, *, wait: float = WRITE_WAIT) -> Iterator[None]:
    """Hold the lock file ``lock`` for the body; the system lets go of it when the process dies.

    Raises
    ------
    Busy
        When it was not had within ``wait`` seconds.
    OSError
        When the lock file cannot be made (an unwritable home).
    """
    from filelock import FileLock, Timeout  # imported on the first write (PERFORMANCE T11)

    lock.parent.mkdir(parents=True, exist_ok=True)
    holder = FileLock(lock, timeout=wait, mode=0o644, thread_local=False)
    try:
        holder.acquire(poll_interval=_SHORT_POLL if wait < 1 else _POLL)
    except Timeout as error:
        raise Busy(
            f"{lock} is held by another process; gave up after {wait:g} s and wrote nothing - try again",
            told="lock held",
            lock=lock,
            wait=wait,
        ) from error
    try:
        yield
    finally:
        holder.release()
