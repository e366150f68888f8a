"""The tab 注入 as widgets: the text word for word, its bill, what stayed out and why, and each fact's lot."""

from __future__ import annotations

from functools import partial
from typing import Any

from selfnote.audit.html_report import table, verbatim
from selfnote.panels import static
from selfnote.panels.states.injection import SORTS, InjectionState, SqueezedRow
from selfnote.panels.views.panel import PanelView
from selfnote.panels.views.pieces import Kit, Pager, Row, RowList, badges, heading, joined, line, name
from selfnote.phrases import ATTRIBUTION_LABELS


class InjectionView(PanelView):
    """The view of an ``InjectionState``: there is nothing to decide."""

    state: InjectionState

    def _build(self, kit: Kit) -> list[Any]:
        state, words = self.state, self.state.words
        self._text = kit.html("sn-text")
        self._bill = kit.html("sn-bill")
        self._squeezed = RowList(kit, state.squeezed, "squeezed", lambda kit: SqueezedCard(kit, state), self._beside)
        self._state = kit.choice(words["filter state"], partial(setattr, state, "state"), "sn-state")
        self._sort = kit.choice(words["sort"], partial(setattr, state, "sort"), "sn-sort")
        self._attribution = kit.html("sn-attribution")
        self._pager = Pager(kit, state.attribution, "attribution")
        squeezed = heading(words["squeezed title"]) + line(words["skipped whole"], "sn-dim")
        attribution = heading(words["attribution title"]) + line(words["attribution help"], "sn-dim")
        return [
            self._text,
            self._bill,
            kit.html(value=squeezed),
            self._squeezed.widget,
            kit.html(value=attribution),
            kit.bar(self._state, self._sort),
            self._attribution,
            self._pager.widget,
        ]

    def _beside(self, row: SqueezedRow) -> tuple[Any, ...]:
        return (self.state.fixes.get(row.id), self.state.whys.get(row.id))

    def _draw(self) -> None:
        state, kit, words = self.state, self._kit, self.state.words
        said = verbatim(state.text, state.language) if state.text else ""
        kit.put(self._text, value=heading(words["text title"]) + line(state.reason, "sn-problem") + said)
        flags = "".join(line(flag, "sn-problem") for flag in state.flags)
        kit.put(self._bill, value=table(static.bill(state), state.language) + line(state.total) + flags)
        self._squeezed.draw()
        labels = ATTRIBUTION_LABELS[state.language]
        states = [(f"{label} ({state.states[one]})", one) for one, label in labels.items()]
        kit.offer(self._state, [(words["any"], ""), *states], state.state)
        kit.offer(self._sort, [(words[f"sort {one}"], one) for one in SORTS], state.sort)
        kit.put(self._attribution, value=table(static.attribution(state), state.language))
        self._pager.draw()


class SqueezedCard(Row):
    """One entry that stayed out (S2-094)."""

    def __init__(self, kit: Kit, state: InjectionState) -> None:
        super().__init__(kit)
        self.state, words = state, state.words
        self._said = kit.html()
        self._fix = kit.button(words["find fix"], lambda: state.find_fix(self.row.id))
        self._explain = kit.button(words["explain"], lambda: state.explain(self.row.id))
        self.box = kit.rows(self._said, kit.bar(self._fix, self._explain))

    def fill(self, row: SqueezedRow, *beside: Any) -> None:
        """Show an entry."""
        fix, why = beside
        kit, words = self.kit, self.state.words
        room = f"{words['needs']} {row.needs} · {words['remaining']} {row.left}"
        told = line(row.text, "sn-said") + f"<div>{badges(row.label, row.reason)}</div>" + joined(room, row.id)
        kit.put(self._said, value=told + line(fix or "", "sn-good") + line(why or "", "sn-dim"))
        kit.classes(self.box, "sn-row", name("squeezed", row.id))
        kit.classes(self._fix, name("fix", row.id))
        kit.classes(self._explain, name("explain", row.id))
