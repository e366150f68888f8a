"""Read, change, write back: the one way a file that the owner may edit at any time is changed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from selfnote.errors import Conflict
from selfnote.storage.atomic import Drift, remove_leftovers, write_atomic
from selfnote.storage.lines import TextFile, read_text_file

Result = TypeVar("Result")

#: How often a change is tried again on top of what another program wrote meanwhile.
ATTEMPTS = 8


def rewrite(
    path: Path,
    change: Callable[[TextFile], tuple[TextFile, Result]],
    *,
    just_before: Callable[[TextFile, Result], None] | None = None,
) -> Result:
    """Apply ``change`` to the file as it is now and write it atomically; call with its lock held.

    ``change`` gets the file just read and returns the new one with a result; returning the same bytes writes nothing.
    When another program (the owner's editor takes no lock) changed the file in between, ``change`` is applied again to
    what is there then, so neither is lost (COMPLAINTS 1). ``just_before`` gets the old file and the result
    when the new file is about to take its place: what must be safe elsewhere first goes there, once.

    Raises
    ------
    Conflict
        When the file kept changing; or whatever ``change`` raises, with nothing written.
    """
    remove_leftovers(path)
    for _ in range(ATTEMPTS):
        before = read_text_file(path)
        after, result = change(before)
        data = after.data
        if data == before.data:
            return result
        try:
            write_atomic(
                path,
                data,
                expect=before.fingerprint,
                just_before=functools.partial(just_before, before, result) if just_before is not None else None,
            )
        except Drift:
            continue
        return result
    raise Conflict(
        f"{path} kept changing while it was being written ({ATTEMPTS} tries); close the other writer",
        told="kept changing",
        path=path,
        tries=ATTEMPTS,
    )
