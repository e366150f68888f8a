"""The states of all panels over one memory: what one changes the others show; badges and the tab to land on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import traitlets as t

from selfnote.memory import Memory
from selfnote.panels.states.base import Disk, PanelState
from selfnote.panels.states.injection import InjectionState
from selfnote.panels.states.memory import MemoryState
from selfnote.panels.states.notes import NotesState
from selfnote.panels.states.overview import OverviewState
from selfnote.panels.states.persona import PersonaState
from selfnote.panels.states.profile import ProfileState
from selfnote.phrases import PANELS
from selfnote.records.fact_lines import open_conflict_pairs
from selfnote.times import clock, require_aware

#: The tabs from left to right (S2-046).
TABS = ("overview", "notes", "persona", "memory", "profile", "injection")


class States(t.HasTraits):
    """One state per tab over one memory, which is read once for all: ``state("notes")``, or all by ``in_order``.

    Only the ``tab`` that is open is awake; ``badges`` and ``titles`` are those of all tabs (S2-046..048).
    """

    tab = t.Enum(TABS, default_value="overview")
    badges = t.Dict()
    titles = t.Dict()

    def __init__(self, memory: Memory, *, clock: Callable[[], datetime] = clock, language: str | None = None) -> None:
        super().__init__()
        self._spoken = language
        self.memory = memory
        self._clock = clock
        self._disk = Disk(memory)
        self._stamp: object = None
        now = require_aware(clock())
        self._mark(now)
        self.tab = self.landing
        kinds: tuple[type[PanelState], ...] = (
            OverviewState,
            NotesState,
            PersonaState,
            MemoryState,
            ProfileState,
            InjectionState,
        )
        self._states = {
            kind.name: kind(memory, clock=clock, disk=self._disk, language=language, awake=kind.name == self.tab)
            for kind in kinds
        }
        for state in self.in_order:
            state.observe(self._acted, "acted")
        self.observe(self._opened, "tab")

    @property
    def in_order(self) -> tuple[PanelState, ...]:
        """The states as the tabs stand."""
        return tuple(self._states[name] for name in TABS)

    def state(self, name: str) -> Any:
        """The state of a tab."""
        return self._states[name]

    @property
    def landing(self) -> str:
        """The tab to open on: what waits for the owner, else the overview (S2-048)."""
        return "memory" if self._waiting() else "overview"

    @property
    def lead(self) -> tuple[str, ...]:
        """What this is for, and what waits for the owner now."""
        words, waiting = PANELS[self.in_order[0].language], self.badges["memory"]
        return (words["lead"], *((words["lead decide"].format(what=waiting),) if waiting else ()))

    def refresh(self, now: datetime | None = None) -> bool:
        """Show what changed on disk; whether anything did. Writes nothing."""
        instant = require_aware(now if now is not None else self._clock())
        changed = self._mark(instant)
        for state in self.in_order:
            changed = state.refresh(instant) or changed
        return changed

    def _waiting(self) -> int:
        return sum(fact.status == "candidate" for fact in self._disk.snapshot.facts_file.value.facts)

    def _conflicts(self) -> int:
        live = [fact for fact in self._disk.snapshot.facts_file.value.facts if fact.status != "retired"]
        return len(open_conflict_pairs(live))

    def _mark(self, now: datetime) -> bool:
        """What the tabs say beside their names."""
        snapshot = self._disk.look()
        stamp = self._disk.stamp(now)
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        injection = self._disk.injection(now)
        words = PANELS[self._spoken or snapshot.config.language]
        counts = {"waiting": self._waiting(), "in conflict": self._conflicts()}
        with self.hold_trait_notifications():
            self.titles = {name: words[f"tab {name}"] for name in TABS}
            self.badges = {
                "overview": "",
                "notes": words["notes counted"].format(n=len(snapshot.notes_file.value.notes)),
                "persona": words["characters"].format(n=snapshot.persona_file.value.chars),
                "memory": " · ".join(words[key].format(n=count) for key, count in counts.items() if count),
                "profile": words["characters"].format(n=injection.segments["profile"].used),
                "injection": words["characters"].format(n=injection.total_chars),
            }
        return True

    def _opened(self, _: object) -> None:
        for name, state in self._states.items():
            state.awake = name == self.tab

    def _acted(self, _: object) -> None:
        self._mark(require_aware(self._clock()))
