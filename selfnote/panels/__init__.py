"""Decide about it: panels over the core, each a state that knows no widgets and a view that mirrors it.

``selfnote.panels.open(m)`` shows all as tabs; ``notes(m)``, ``memory(m)`` and the others show one alone. Where
ipywidgets is not installed, each gives what is shown to be read.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from selfnote.times import clock, require_aware

if TYPE_CHECKING:
    from selfnote.memory import Memory

__all__ = ["injection", "memory", "notes", "open", "overview", "persona", "profile"]


def open(  # noqa: A001 - DESIGN's name: `selfnote.panels.open(m)`
    m: Memory,
    *,
    live: bool = False,
    language: str | None = None,
    now: datetime | None = None,
    clock: Callable[[], datetime] = clock,
) -> Any:
    """All panels over one memory as tabs; opening and looking writes nothing.

    Parameters
    ----------
    m
        An opened memory.
    live
        Whether to look every second for what changed on disk; needs a running event loop, as every kernel has one.
    language
        ``zh`` or ``en``; None follows the memory's setting.
    now
        The instant it is and stays, UTC-aware; None reads the clock.
    clock
        What tells the time where no ``now`` is given.

    Returns
    -------
    PanelsView
        A widget with ``states``, ``view(tab)``, ``refresh(now)`` and ``close()``; without ipywidgets, a
        ``StaticPanels``.
    """
    from selfnote.panels.states import States

    states = States(m, clock=_clock(now, clock), **_spoken(language))
    views = _views()
    if views is None:
        from selfnote.panels.static import StaticPanels

        return StaticPanels(states, _no_widgets(states.in_order[0].language))
    return views.PanelsView(states, live=live)


def overview(m: Memory, *, live: bool = False, language: str | None = None, now: datetime | None = None) -> Any:
    """The tab 概览 alone: switches, settings, this turn's budget, the index, the files (S2-052..064)."""
    return _one(m, "overview", live=live, language=language, now=now)


def notes(m: Memory, *, live: bool = False, language: str | None = None, now: datetime | None = None) -> Any:
    """The tab 自述 alone: the agent's notes (S2-065..073)."""
    return _one(m, "notes", live=live, language=language, now=now)


def persona(m: Memory, *, live: bool = False, language: str | None = None, now: datetime | None = None) -> Any:
    """The tab 人格 alone: the persona, and rules from corrections (S2-074..079)."""
    return _one(m, "persona", live=live, language=language, now=now)


def memory(m: Memory, *, live: bool = False, language: str | None = None, now: datetime | None = None) -> Any:
    """The tab 记忆 alone: candidates, conflicts, approved facts, habits (S2-080..088)."""
    return _one(m, "memory", live=live, language=language, now=now)


def profile(m: Memory, *, live: bool = False, language: str | None = None, now: datetime | None = None) -> Any:
    """The tab 画像 alone: what the facts say of the owner (S2-089..091)."""
    return _one(m, "profile", live=live, language=language, now=now)


def injection(m: Memory, *, live: bool = False, language: str | None = None, now: datetime | None = None) -> Any:
    """The tab 注入 alone: the text of this turn, its bill, each fact's lot (S2-092..105)."""
    return _one(m, "injection", live=live, language=language, now=now)


def _one(m: Memory, tab: str, *, live: bool, language: str | None, now: datetime | None) -> Any:
    states = importlib.import_module("selfnote.panels.states")
    kind = next(one for one in vars(states).values() if getattr(one, "name", None) == tab)
    state = kind(m, clock=_clock(now, clock), **_spoken(language))
    views = _views()
    if views is None:
        from selfnote.panels.static import StaticPanel

        return StaticPanel(state, _no_widgets(state.language))
    return importlib.import_module("selfnote.panels.views.together").VIEWS[tab](state, live=live)


def _views() -> Any:
    """The views; None where ipywidgets is not installed."""
    try:
        importlib.import_module("ipywidgets")
    except ImportError:
        return None
    return importlib.import_module("selfnote.panels.views")


def _clock(now: datetime | None, clock: Callable[[], datetime]) -> Callable[[], datetime]:
    if now is None:
        return clock
    instant = require_aware(now)
    return lambda: instant


def _spoken(language: str | None) -> dict[str, Any]:
    return {} if language is None else {"language": language}


def _no_widgets(language: str) -> str:
    from selfnote.phrases import PANELS

    return PANELS[language]["no widgets"]
