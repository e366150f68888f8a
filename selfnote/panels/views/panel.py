"""What every view is: a box that builds its widgets once, mirrors its state, and frees them when it is closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import ipywidgets as W  # noqa: N812 - as its own documentation's short name, one letter

from selfnote.panels import static
from selfnote.panels.access import make_access
from selfnote.panels.live import Live
from selfnote.panels.states.base import Paged, PanelState
from selfnote.panels.views.pieces import Kit, line, notice, problems, watch
from selfnote.panels.views.style import SHEET


class Shown(W.VBox):
    """A widget that reads without a kernel too: beside it goes its static twin, hidden where the widget is alive."""

    def twin(self) -> str:
        """What is shown as HTML: pure, escaped, without ids."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self.twin()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **kwargs: Any) -> Any:
        return {**self._widget_bundle(include=include, exclude=exclude, **kwargs), "text/html": self.twin()}

    def _widget_bundle(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs)
        return dict(bundle[0] if isinstance(bundle, tuple) else bundle)

    def display_widget(self, **kwargs: Any) -> None:
        """Show the widget alone, where it is known to be alive: on the page of ``selfnote panel``."""
        from IPython.display import display

        # Where neither widgets nor pages are known, the first letters of the style sheet would stand here.
        display({**self._widget_bundle(), "text/plain": f"<{type(self).__name__}>"}, raw=True, **kwargs)

    def _ipython_display_(self, **kwargs: Any) -> None:
        """Show the widget, and its twin as an output of its own.

        A page that knows widgets but has no kernel takes the widget of a bundle and says that it found no model
        (COMPLAINTS 67); an output beside it is read. The sheet of a living widget hides it.
        """
        from IPython.display import display

        self.display_widget(**kwargs)
        display({"text/html": f'<div class="sn-behind">{self.twin()}</div>'}, raw=True)


class PanelView(Shown):
    """The view of one state. Holds no truth: every control calls an act of the state, every trait is drawn from it.

    Parameters
    ----------
    state
        What is shown.
    alone
        Whether it stands by itself, with the style sheet and the way to refresh that tabs have in common.
    live
        Whether to look by itself for what changes on disk.
    """

    def __init__(self, state: PanelState, *, alone: bool = True, live: bool = False) -> None:
        super().__init__(_dom_classes=("sn-panel", f"sn-{state.name}"))
        self.state = state
        self._closed = False
        self._held = 0
        self._alone = alone
        self._live = Live(self.refresh) if live else None
        self._language = state.language
        self._watching = [(one, watch(one, self._changed)) for one in (state, *self._lists())]
        self._kit = Kit(state, self.run)
        self._assemble()

    def _lists(self) -> list[Paged[Any, Any]]:
        return [one for one in vars(self.state).values() if isinstance(one, Paged)]

    # --- what a view fills in ---------------------------------------------------------------------
    def _build(self, kit: Kit) -> list[Any]:
        """Make the widgets; they are filled by ``_draw``."""
        raise NotImplementedError

    def _draw(self) -> None:
        """Fill the widgets from the state."""
        raise NotImplementedError

    # --- mirroring --------------------------------------------------------------------------------
    def _assemble(self) -> None:
        kit = self._kit
        self._problems = kit.html("sn-problems")
        # Read aloud when it changes: it holds nothing but the answer of an act.
        self._notice = kit.html("sn-notice")
        self._sticky = kit.rows(self._notice, classes=("sn-sticky",))
        sheet = [kit.html(value=f"<style>{SHEET}</style>")] if self._alone else []
        access = make_access(kit.make, self._language) if self._alone else []
        refresh = self._way_to_refresh(kit) if self._alone else []
        lead = kit.html("sn-lead", value=line(self.state.words[f"lead {self.state.name}"], "sn-dim"))
        self.children = (*sheet, lead, self._problems, self._sticky, *self._build(kit), *refresh, *access)
        self._draw_all()

    def _way_to_refresh(self, kit: Kit) -> list[Any]:
        words = self.state.words
        told = words["live on" if self._live.on else "live off"] if self._live is not None else ""
        return [kit.bar(kit.button(words["refresh"], self.state.refresh, "sn-refresh"), kit.html(value=line(told)))]

    def _draw_all(self) -> None:
        if self.state.language != self._language:
            self._language = self.state.language
            self._kit.close()
            self._kit = Kit(self.state, self.run)
            self._assemble()
            return
        told = problems(self.state)
        self._kit.put(self._problems, value=told)
        self._kit.show(self._problems, shown=bool(told))
        self._kit.put(self._notice, value=notice(self.state))
        # What the page of `selfnote panel` asks about before it goes.
        self._kit.classes(self._sticky, "sn-sticky", *(["sn-unsaved"] if self.state.unsaved else []))
        self._draw()
        self._kit.disable()

    def _changed(self) -> None:
        if not self._held and self.state.awake:
            self._draw_all()

    def run(self, act: Callable[..., object], *values: Any) -> None:
        """Let the state do something, and draw what came of it."""
        with self.held():
            act(*values)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Draw nothing until the end, and then once."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            # Also when nothing changed: a choice that was refused must show again what holds.
            if not self._held and self.state.awake:
                self._draw_all()

    def refresh(self, now: datetime | None = None) -> None:
        """Show what changed on disk."""
        self.run(self.state.refresh, now)

    def twin(self) -> str:
        """The panel as HTML that needs no kernel."""
        return static.twin(self.state)

    def close(self) -> None:
        """Stop mirroring and free every widget; once is enough, ipywidgets closes again what is deleted."""
        if self._closed:
            return
        self._closed = True
        if self._live is not None:
            self._live.stop()
        for one, handler in self._watching:
            one.unobserve(handler)
        self._watching = []
        self._kit.close()
        super().close()
        self.layout.close()
