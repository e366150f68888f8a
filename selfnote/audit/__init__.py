"""Look at it: reports and frames. Names are imported when first used, so that no table is paid for unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfnote.audit import plots as plots
    from selfnote.audit.comparison import compare
    from selfnote.audit.frames import many

_WHERE = {"compare": "selfnote.audit.comparison", "many": "selfnote.audit.frames"}
#: Modules whose own names are used as they stand: ``selfnote.audit.plots.decay``.
_ROOMS = frozenset({"plots"})

__all__ = ["compare", "many"]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _ROOMS:
        return import_module(f"selfnote.audit.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'selfnote.audit' has no attribute {name!r}")
    value = getattr(import_module(_WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})
