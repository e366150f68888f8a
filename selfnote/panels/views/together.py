"""All panels as tabs, with their badges, over one memory; a tab that was never opened has no widgets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any

import ipywidgets as W  # noqa: N812 - as its own documentation's short name, one letter

from selfnote.panels import static
from selfnote.panels.access import TAGS, make_access
from selfnote.panels.live import Live
from selfnote.panels.states.together import TABS, States
from selfnote.panels.views.injection import InjectionView
from selfnote.panels.views.memory import MemoryView
from selfnote.panels.views.notes import NotesView
from selfnote.panels.views.overview import OverviewView
from selfnote.panels.views.panel import PanelView, Shown
from selfnote.panels.views.persona import PersonaView
from selfnote.panels.views.pieces import line, watch
from selfnote.panels.views.profile import ProfileView
from selfnote.panels.views.style import SHEET
from selfnote.phrases import PANELS

VIEWS: dict[str, type[PanelView]] = {
    "overview": OverviewView,
    "notes": NotesView,
    "persona": PersonaView,
    "memory": MemoryView,
    "profile": ProfileView,
    "injection": InjectionView,
}


def _plain(kind: type, *classes: str, **traits: Any) -> Any:
    return kind(_dom_classes=classes, **traits)


class PanelsView(Shown):
    """The view of all ``States`` (S2-046..049).

    Parameters
    ----------
    states
        What is shown.
    live
        Whether to look by itself for what changes on disk.
    """

    def __init__(self, states: States, *, live: bool = False) -> None:
        super().__init__(_dom_classes=("sn-panels",))
        self.states = states
        self._closed = False
        self.views: dict[str, PanelView] = {}
        self._places = {tab: W.VBox() for tab in TABS}
        self._access = make_access(_plain, states.state(states.tab).language)
        self._tabs = W.Tab(children=tuple(self._places.values()), _dom_classes=("sn-tabs",))
        self._refresh = W.Button(_dom_classes=("sn-refresh",), tooltip="")
        self._refresh.on_click(lambda _: self.refresh())
        self._told = W.HTML(tooltip="")
        self._sheet = W.HTML(value=f"<style>{SHEET}</style>", tooltip="")
        self._lead = W.HTML(_dom_classes=("sn-lead",), tooltip="")
        self._bar = W.HBox((self._refresh, self._told), _dom_classes=("sn-bar",))
        self.children = (self._sheet, self._lead, self._tabs, self._bar, *self._access)
        self._tabs.observe(self._picked, "selected_index")
        self._handler = watch(states, self._draw)
        self._wanted_live = live
        self._live = Live(self.refresh) if live else None
        self._draw()

    @property
    def live(self) -> bool:
        """Whether it looks by itself for what changes on disk."""
        return self._live is not None and self._live.on

    def _picked(self, change: Any) -> None:
        if change["new"] is not None:
            self.states.tab = TABS[change["new"]]

    def view(self, tab: str) -> PanelView:
        """The view of a tab; made when it is first asked for."""
        if tab not in self.views:
            self.views[tab] = VIEWS[tab](self.states.state(tab), alone=False)
            self._places[tab].children = (self.views[tab],)
        return self.views[tab]

    def _draw(self) -> None:
        states = self.states
        titles = tuple(f"{states.titles[tab]} {states.badges[tab]}".strip() for tab in TABS)
        language = states.state(states.tab).language
        words = PANELS[language]
        self.view(states.tab)
        for widget, trait, value in (
            (self._tabs, "titles", titles),
            (self._tabs, "selected_index", TABS.index(states.tab)),
            (self._lead, "value", "".join(line(one) for one in states.lead)),
            (self._refresh, "description", words["refresh"]),
            (self._told, "value", line(words["live on" if self.live else "live off"]) if self._wanted_live else ""),
            *((one, "language", TAGS[language]) for one in self._access),
        ):
            if getattr(widget, trait) != value:
                setattr(widget, trait, value)

    @contextmanager
    def _held(self) -> Iterator[None]:
        with ExitStack() as stack:
            for view in self.views.values():
                stack.enter_context(view.held())
            yield

    def refresh(self, now: datetime | None = None) -> None:
        """Show what changed on disk."""
        with self._held():
            self.states.refresh(now)
        # The tabs are told of another language before the panel below them is.
        self._draw()

    def twin(self) -> str:
        """All panels as HTML that needs no kernel."""
        with self._held():
            return static.twin_of_all(self.states)

    def close(self) -> None:
        """Stop looking, and free every widget; once is enough, ipywidgets closes again what is deleted."""
        if self._closed:
            return
        self._closed = True
        if self._live is not None:
            self._live.stop()
        self.states.unobserve(self._handler)
        for view in self.views.values():
            view.close()
        self.views = {}
        own = (
            self._sheet,
            self._lead,
            self._bar,
            self._told,
            self._refresh,
            self._tabs,
            *self._access,
            *self._places.values(),
        )
        for widget in own:
            for part in ("layout", "style"):
                if widget.has_trait(part) and (owned := getattr(widget, part)) is not None:
                    owned.close()
            widget.close()
        super().close()
        self.layout.close()
