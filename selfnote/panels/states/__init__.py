"""What each panel shows and does, without a widget: one state per tab, and all of them over one memory."""

from __future__ import annotations

from selfnote.panels.states.base import Draft, Outcome, Paged, PanelState, Refusal
from selfnote.panels.states.injection import InjectionState
from selfnote.panels.states.memory import MemoryState
from selfnote.panels.states.notes import NotesState
from selfnote.panels.states.overview import OverviewState
from selfnote.panels.states.persona import PersonaState
from selfnote.panels.states.profile import ProfileState
from selfnote.panels.states.together import TABS, States

__all__ = [
    "TABS",
    "Draft",
    "InjectionState",
    "MemoryState",
    "NotesState",
    "Outcome",
    "OverviewState",
    "Paged",
    "PanelState",
    "PersonaState",
    "ProfileState",
    "Refusal",
    "States",
]
