"""selfnote: see, explain and decide what your AI agent remembers about you.

Names are imported when first used: ``import selfnote`` costs no pandas, numpy, matplotlib, ipywidgets or pydantic.
"""

from __future__ import annotations

from selfnote._version import __version__

# The standard module would cost half of what an import may (PERFORMANCE T11); type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from selfnote import audit as audit
    from selfnote import panels as panels
    from selfnote.demo import demo_home
    from selfnote.errors import (
        BadSource,
        Busy,
        Conflict,
        Corrupt,
        LimitExceeded,
        NotFound,
        ReadOnly,
        SelfnoteError,
    )
    from selfnote.injection.assemble import assemble_injection
    from selfnote.injection.compose import compose_injection, note_compaction
    from selfnote.memory import Memory, open_memory

_WHERE = {
    "BadSource": "selfnote.errors",
    "Busy": "selfnote.errors",
    "Conflict": "selfnote.errors",
    "Corrupt": "selfnote.errors",
    "LimitExceeded": "selfnote.errors",
    "Memory": "selfnote.memory",
    "NotFound": "selfnote.errors",
    "ReadOnly": "selfnote.errors",
    "SelfnoteError": "selfnote.errors",
    "assemble_injection": "selfnote.injection.assemble",
    "compose_injection": "selfnote.injection.compose",
    "demo_home": "selfnote.demo",
    "note_compaction": "selfnote.injection.compose",
    "open_memory": "selfnote.memory",
}
#: Rooms whose own names are used as they stand: ``selfnote.audit.many``.
_ROOMS = frozenset({"audit", "panels"})

__all__ = [
    "BadSource",
    "Busy",
    "Conflict",
    "Corrupt",
    "LimitExceeded",
    "Memory",
    "NotFound",
    "ReadOnly",
    "SelfnoteError",
    "__version__",
    "assemble_injection",
    "compose_injection",
    "demo_home",
    "note_compaction",
    "open_memory",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _ROOMS:
        return import_module(f"selfnote.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'selfnote' has no attribute {name!r}")
    value = getattr(import_module(_WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})
