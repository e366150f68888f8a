"""The errors of this library: few, each message naming the thing, the value, the limit and what to do."""

from __future__ import annotations

import os


class SelfnoteError(Exception):
    """Everything selfnote raises on purpose.

    The message is English. ``told`` is the key of the same sentence for an owner who reads another language (REFUSALS),
    empty where no panel can meet it; ``values`` fill its gaps.
    """

    def __init__(self, message: str = "", *, told: str = "", **values: object) -> None:
        super().__init__(message)
        self.told = told
        self.values = values


class NotFound(SelfnoteError):  # noqa: N818 - the public name is fixed by DESIGN
    """Nothing carries this id."""


class Conflict(SelfnoteError):  # noqa: N818 - the public name is fixed by DESIGN
    """What is stored is no longer what was shown, or the change is not a legal one."""


class LimitExceeded(SelfnoteError):  # noqa: N818 - the public name is fixed by DESIGN
    """A value is outside its limit; nothing was written."""


class BadSource(SelfnoteError):  # noqa: N818 - the public name is fixed by DESIGN
    """A source that cannot be a source: not ``session#seq``, ``import:file#line`` or ``owner:via``."""


class Corrupt(SelfnoteError):  # noqa: N818 - the public name is fixed by DESIGN
    """Bytes on disk that cannot be read as what they should be."""


class Busy(SelfnoteError):  # noqa: N818 - the public name is fixed by DESIGN
    """Another process holds the lock; nothing was written (S2-165)."""


class ReadOnly(SelfnoteError):  # noqa: N818 - the public name is fixed by DESIGN
    """The memory was opened read-only."""


def require_writable(path: str | os.PathLike[str], *, read_only: bool) -> None:
    """Refuse a write to a memory that was opened read-only. Raises ReadOnly."""
    if read_only:
        raise ReadOnly(
            f"{path} was opened read-only; open_memory(..., read_only=False) may change it", told="read only", path=path
        )
