"""Live panels: one task that looks every second whether a file changed, and stops when the panel is closed."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
from collections.abc import Callable

_log = logging.getLogger(__name__)

#: Seconds between two looks; a look compares fingerprints and reads only what changed.
PERIOD = 1.0


class Live:
    """Calls ``look`` again and again on the running event loop, until it is stopped or the kernel ends.

    Without a running loop, as in a plain interpreter, nothing is started; ``on`` says so.
    """

    def __init__(self, look: Callable[[], object], period: float = PERIOD) -> None:
        self._look, self._period = look, period
        self._task: asyncio.Task[None] | None = None
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._loop = loop
        self._task = loop.create_task(self._run(), name="selfnote panels")
        atexit.register(self._finish)

    @property
    def on(self) -> bool:
        """Whether it is looking."""
        return self._task is not None and not self._task.done()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._period)
            try:
                self._look()
            except Exception:  # noqa: BLE001 - told in the log
                # What a file holds may be anything; the next look may go well again.
                _log.exception("the panels could not be refreshed")

    def stop(self) -> None:
        """Look no more."""
        atexit.unregister(self._finish)
        if self._task is not None:
            self._task.cancel()

    def _finish(self) -> None:
        """The interpreter ends: a task that still waits would be told of as lost."""
        if self._task is None or self._task.done() or self._loop.is_closed() or self._loop.is_running():
            return
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._task)
