"""The tab 记忆 as widgets: candidates as cards or in groups, conflicts side by side, approved, retired, habits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets as W  # noqa: N812 - as its own documentation's short name, one letter

from selfnote.audit.html_report import diff_lines, show
from selfnote.panels.keys import Keys, make_keys
from selfnote.panels.states.memory import (
    APPROVED_SORTS,
    GROUPS,
    SHOWS,
    SORTS,
    Card,
    ConflictRow,
    FactRow,
    GroupRow,
    HabitRow,
    LinkRow,
    MemoryState,
    OfferRow,
    PreviewRow,
    Side,
)
from selfnote.panels.views.panel import PanelView
from selfnote.panels.views.pieces import (
    DraftField,
    Kit,
    Row,
    RowList,
    SourceBox,
    badges,
    heading,
    heads_unseen,
    joined,
    line,
    name,
    reasons,
)
from selfnote.phrases import ATTRIBUTION_LABELS

#: The parts of the tab, and the list each shows.
PARTS = ("conflicts", "candidates", "approved", "retired", "habits")
#: Seconds without anything new before previews are worked out, and between two of them.
QUIET = 0.25
PAUSE = 0.02


class MemoryView(PanelView):
    """The view of a ``MemoryState``. A part that was never opened has no widgets."""

    state: MemoryState

    def __init__(self, state: MemoryState, *, alone: bool = True, live: bool = False) -> None:
        self.open_parts = {"candidates"} | ({"conflicts"} if state.conflicts.count else set())
        self.editing = ""
        self._later: asyncio.TimerHandle | None = None
        self._left = 0
        self._looking = False
        self.looks_ahead = _is_alive()
        super().__init__(state, alone=alone, live=live)

    def _build(self, kit: Kit) -> list[Any]:
        self._parts: dict[str, Part] = {}
        self._switches = {
            part: kit.control(W.ToggleButton, partial(self._open, part), "sn-section", name("open", part))
            for part in PARTS
        }
        self._places = {part: kit.rows() for part in PARTS}
        self._undo = kit.button("", self.state.undo, "sn-undo", act="undo")
        self._undo_why = kit.html("sn-why")
        self._results = kit.html("sn-results")
        self._keys: Keys = make_keys(kit, self._press)
        self.editor = FactEditor(kit, self)
        self.source = SourceBox(kit)
        self._draft = kit.button("", self._open_draft, "sn-open-draft")
        self._loose = kit.rows(classes=("sn-row",))
        parts = [widget for part in PARTS for widget in (self._switches[part], self._places[part])]
        self._sticky.children = (self._notice, kit.bar(self._undo, self._undo_why))
        return [self._keys.widget, self._results, self._draft, self._loose, *parts]

    def _open(self, part: str, opened: bool) -> None:
        self.open_parts = self.open_parts | {part} if opened else self.open_parts - {part}

    def _press(self, key: str) -> None:
        """Keys decide on cards, so they mean something only where cards are to be seen."""
        if "candidates" in self.open_parts:
            self.run(self.state.press, key)
            self._keys.moved()

    def edit(self, identifier: str) -> None:
        """Open the editor of a fact, or close it."""
        self.editing = "" if self.editing == identifier else identifier
        if self.editing:
            self.editor.focus()

    def _open_draft(self) -> None:
        for identifier in self._written()[:1]:
            self.edit(identifier)

    def _written(self) -> list[str]:
        """Facts with a draft, but for the one in the editor."""
        ids = dict.fromkeys(key.rpartition(":")[0] for key in self.state.drafts if not key.startswith("habit:"))
        return [one for one in ids if one != self.editing]

    def _draw(self) -> None:
        state, kit, words = self.state, self._kit, self.state.words
        label = state.say("undo what", label=state.undoable) if state.undoable else words["undo"]
        kit.put(self._undo, description=label)
        kit.put(self._undo_why, value=reasons(state, ("undo", words["undo"])))
        kit.put(self._results, value=results(state))
        kit.show(self._results, shown=any(not one.ok for one in state.results))
        counts = {
            "candidates": state.totals["waiting"],
            "conflicts": state.totals["conflicts"],
            "approved": state.totals["approved"],
            "retired": state.totals["retired"],
            "habits": state.say("count habits", n=state.habits.count, offered=state.offered.count),
        }
        for part in PARTS:
            opened = part in self.open_parts
            title = words["part habits" if part == "habits" else f"{part} title"]
            told = f"{'▾' if opened else '▸'} {title} {counts[part]}"
            kit.put(self._switches[part], description=told, value=opened)
            kit.show(self._places[part], shown=opened)
            if opened:
                if part not in self._parts:
                    self._parts[part] = _PARTS[part](kit, self)
                    self._places[part].children = (self._parts[part].widget,)
                self._parts[part].draw()
        self._draw_open()
        self._look_ahead()

    def _draw_open(self) -> None:
        """The editor and the source; in no row that is shown, the editor stands above: no draft is out of reach."""
        state, kit, written = self.state, self._kit, self._written()
        kit.put(self._draft, description=state.say("open draft", n=len(written)))
        kit.show(self._draft, shown=bool(written))
        self.source.draw(state.opened)
        listed: list[str] = []
        if "candidates" in self.open_parts and (state.group_by == "none" or state.inside):
            listed += [one.id for one in state.cards.rows]
        if "approved" in self.open_parts:
            listed += [one.id for one in state.approved.rows]
        loose = bool(self.editing) and self.editing not in listed
        kit.put(self._loose, children=(self.editor.widget,) if loose else ())
        kit.show(self._loose, shown=loose)
        if self.editing:
            self.editor.draw()

    # --- previews, when there is time -------------------------------------------------------------
    def _look_ahead(self) -> None:
        """Where an event loop runs, work out the previews of this page one by one between other things (S2-083).

        Whatever is drawn anew puts it off: the next click would wait for a preview that it makes worthless.
        """
        if self._looking:
            return
        self._stop_looking()
        if "candidates" not in self.open_parts:
            return
        self._left = sum(card.id not in self.state.previews for card in self.state.cards.rows)
        if self._left and _is_alive():
            self._later = asyncio.get_running_loop().call_later(QUIET, self._look)

    def _look(self) -> None:
        before, self._looking = self._left, True
        try:
            self._left = self.state.preview_shown(at_most=1)
        finally:
            self._looking = False
        # One that cannot be worked out is left to the button, which tells why.
        again = 0 < self._left < before
        self._later = asyncio.get_running_loop().call_later(PAUSE, self._look) if again else None

    def _stop_looking(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None

    def close(self) -> None:
        """Stop looking ahead, and free every widget."""
        self._stop_looking()
        super().close()


def _is_alive() -> bool:
    """Whether an event loop runs, as in every kernel."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


# --- the parts of the tab -------------------------------------------------------------------------
class Part:
    """One part of the tab."""

    widget: Any

    def __init__(self, kit: Kit, view: MemoryView) -> None:
        self.kit, self.view, self.state = kit, view, view.state
        self.widget = kit.rows(*self.build())

    def build(self) -> list[Any]:
        """Make the widgets."""
        raise NotImplementedError

    def draw(self) -> None:
        """Fill them."""
        raise NotImplementedError

    def drafts_of(self, identifier: str) -> bool:
        """Whether the owner is writing over a fact."""
        return any(f"{identifier}:{field}" in self.state.drafts for field in ("text", "tags", "importance"))


class Candidates(Part):
    """What waits: filter, order, groups, and the cards (S2-080..083)."""

    def build(self) -> list[Any]:
        """Make the widgets."""
        kit, state, words = self.kit, self.state, self.state.words
        self._query = kit.control(
            W.Text, partial(setattr, state, "query"), "sn-query", description=words["search"],
            placeholder=words["search help"], continuous_update=True,
        )  # fmt: skip
        self._choices = {
            trait: kit.choice(words[label], partial(setattr, state, trait), f"sn-{trait.replace('_', '-')}")
            for trait, label in (
                ("show", "filter show"),
                ("capture", "filter capture"),
                ("trigger", "filter trigger"),
                ("sort", "sort"),
                ("group_by", "group by"),
            )
        }
        self._approve = kit.button(
            "", state.approve_selected, "sn-approve-selected", act="approve selected", help=words["approve help"]
        )
        self._retire = kit.button(
            "", state.retire_selected, "sn-retire-selected", act="retire selected", help=words["retire help"]
        )
        several = kit.bar(
            kit.button(words["select page"], state.select_page, "sn-select-page"),
            kit.button(words["select none"], state.select_none, "sn-select-none"),
            self._approve,
            self._retire,
        )
        told = kit.html(value=line(words["decide help"], "sn-dim"))
        self._why = kit.html("sn-why")
        self._back = kit.button(words["close group"], state.close_group, "sn-close-group")
        self._groups = RowList(kit, state.groups, "groups", lambda kit: GroupCard(kit, state))
        self._cards = RowList(kit, state.cards, "cards", lambda kit: CandidateCard(kit, self.view), self._beside)
        return [
            kit.bar(self._query, *self._choices.values()),
            told,
            several,
            self._why,
            self._back,
            self._groups.widget,
            self._cards.widget,
        ]

    def _beside(self, card: Card) -> tuple[Any, ...]:
        state, view = self.state, self.view
        opened = state.opened if state.opened is not None and state.opened.id == card.id else None
        return (
            card.id == state.cursor,
            card.id in state.selected,
            state.previews.get(card.id),
            view.editing == card.id,
            opened,
            self.drafts_of(card.id),
            state.why_disabled("approve"),
        )

    def draw(self) -> None:
        """Fill them."""
        kit, state, words = self.kit, self.state, self.state.words
        kit.put(self._query, value=state.query)
        options = {
            "show": [(words[f"show {one}"], one) for one in SHOWS],
            "sort": [(words[f"sort {one}"], one) for one in SORTS],
            "group_by": [(words[f"group {one}"], one) for one in GROUPS],
            "capture": _counted(state.captures, state.capture_label, words["any"]),
            "trigger": _counted(
                state.triggers, lambda one: words.get(f"reason {one}", words["no reason"]), words["any"]
            ),
        }
        for trait, widget in self._choices.items():
            kit.offer(widget, options[trait], getattr(state, trait))
        chosen = len(state.selected)
        kit.put(self._approve, description=state.say("approve selected", n=chosen))
        kit.put(self._retire, description=state.say("retire selected", n=chosen))
        acts = [("approve selected", self._approve.description), ("retire selected", self._retire.description)]
        read_only = [("approve", words["approve"]), ("retire", words["retire"])] if state.memory.read_only else []
        kit.put(self._why, value=reasons(state, *acts, *read_only))
        grouped = state.group_by != "none" and not state.inside
        kit.show(self._back, shown=bool(state.inside))
        kit.show(self._groups.widget, shown=grouped)
        kit.show(self._cards.widget, shown=not grouped)
        (self._groups if grouped else self._cards).draw()


class Conflicts(Part):
    """Two that contradict each other, side by side (S2-080)."""

    def build(self) -> list[Any]:
        """Make the widgets."""
        words, state = self.state.words, self.state
        self._rows = RowList(self.kit, state.conflicts, "conflicts", lambda kit: ConflictCard(kit, state), self._beside)
        self._why = self.kit.html("sn-why")
        told = self.kit.html(value=line(words["keep help"], "sn-dim") + line(words["keep both help"], "sn-dim"))
        return [told, self._why, self._rows.widget]

    def _beside(self, row: ConflictRow) -> tuple[Any, ...]:
        left, right = row.left.id, row.right.id
        previews = self.state.previews
        armed = self.state.armed == f"keep both {left} {right}"
        return (previews.get(f"{left} {right}"), previews.get(f"{right} {left}"), armed)

    def draw(self) -> None:
        """Fill them."""
        words = self.state.words
        self.kit.put(
            self._why, value=reasons(self.state, ("keep", words["keep left"]), ("keep_both", words["keep both"]))
        )
        self._rows.draw()


class Approved(Part):
    """What was approved, with its heat and its place (S2-084)."""

    def build(self) -> list[Any]:
        """Make the widgets."""
        kit, state, words = self.kit, self.state, self.state.words
        self._query = kit.control(
            W.Text, partial(setattr, state, "approved_query"), "sn-approved-query", description=words["search"],
            placeholder=words["search help"], continuous_update=True,
        )  # fmt: skip
        self._choices = {
            trait: kit.choice(words[label], partial(setattr, state, trait), f"sn-{trait.replace('_', '-')}")
            for trait, label in (
                ("approved_capture", "filter capture"),
                ("approved_tag", "filter tag"),
                ("approved_state", "filter state"),
                ("approved_sort", "sort"),
            )
        }
        self._retire = kit.button("", state.retire_matching, "sn-retire-matching", act="retire matching")
        self._why = kit.html("sn-why")
        self._rows = RowList(kit, state.approved, "approved", lambda kit: ApprovedRow(kit, self.view), self._beside)
        return [kit.bar(self._query, *self._choices.values()), kit.bar(self._retire, self._why), self._rows.widget]

    def _beside(self, row: FactRow) -> tuple[Any, ...]:
        opened = self.state.opened
        return (
            self.view.editing == row.id,
            opened if opened is not None and opened.id == row.id else None,
            self.drafts_of(row.id),
        )

    def draw(self) -> None:
        """Fill them."""
        kit, state, words = self.kit, self.state, self.state.words
        kit.put(self._query, value=state.approved_query)
        anything = (words["any"], "")
        options = {
            "approved_capture": _counted(state.approved_captures, state.capture_label, words["any"]),
            "approved_tag": _counted(state.approved_tags, str, words["any"]),
            "approved_state": [anything, *((label, one) for one, label in ATTRIBUTION_LABELS[state.language].items())],
            "approved_sort": [(words[f"sort {one}"], one) for one in APPROVED_SORTS],
        }
        for trait, widget in self._choices.items():
            kit.offer(widget, options[trait], getattr(state, trait))
        armed = state.armed == "retire matching"
        label = state.say("really retire matching" if armed else "retire matching", n=state.approved.count)
        kit.put(self._retire, description=label)
        kit.classes(self._retire, "sn-retire-matching", *(["sn-danger"] if armed else []))
        acts = [("retire matching", self._retire.description)]
        read_only = [("retire", words["retire"])] if state.memory.read_only else []
        kit.put(self._why, value=reasons(state, *acts, *read_only))
        self._rows.draw()


class Retired(Part):
    """What was retired, and the way back (S2-087)."""

    def build(self) -> list[Any]:
        """Make the widgets."""
        self._why = self.kit.html("sn-why")
        self._rows = RowList(
            self.kit, self.state.retired, "retired", lambda kit: RetiredRow(kit, self.view), self._beside
        )
        return [self._why, self._rows.widget]

    def _beside(self, row: FactRow) -> tuple[Any, ...]:
        opened = self.state.opened
        return (opened if opened is not None and opened.id == row.id else None,)

    def draw(self) -> None:
        """Fill them."""
        self.kit.put(self._why, value=reasons(self.state, ("restore", self.state.words["restore"])))
        self._rows.draw()


class Habits(Part):
    """Tags that may become habits, and the habits there are (S2-085)."""

    def build(self) -> list[Any]:
        """Make the widgets."""
        kit, state, words = self.kit, self.state, self.state.words
        self._why = kit.html("sn-why")
        self._offers = RowList(
            kit, state.offered, "offered", lambda kit: OfferCard(kit, state),
            lambda row: (_draft(state, row), state.armed == f"discard habit:{row.tag}"),
        )  # fmt: skip
        self._habits = RowList(kit, state.habits, "habits", lambda kit: HabitCard(kit, state))
        return [
            self._why,
            kit.html(value=heading(words["offered title"])),
            self._offers.widget,
            kit.html(value=heading(words["habits title"])),
            self._habits.widget,
        ]

    def draw(self) -> None:
        """Fill them."""
        words = self.state.words
        self.kit.put(self._why, value=reasons(self.state, ("promote", words["promote"]), ("revoke", words["revoke"])))
        self._offers.draw()
        self._habits.draw()


_PARTS: dict[str, Callable[[Kit, MemoryView], Part]] = {
    "candidates": Candidates,
    "conflicts": Conflicts,
    "approved": Approved,
    "retired": Retired,
    "habits": Habits,
}


# --- rows -----------------------------------------------------------------------------------------
class CandidateCard(Row):
    """One candidate to decide on (S2-081, S2-082)."""

    def __init__(self, kit: Kit, view: MemoryView) -> None:
        super().__init__(kit)
        self.view, self.state = view, view.state
        words, state = self.state.words, self.state
        self._said = kit.html()
        self._diff = kit.html()
        self._select = kit.control(W.Checkbox, self._toggle, description=words["select"], indent=False)
        self._approve = kit.button(words["approve"], self._at(state.approve), act="approve", help=words["approve help"])
        self._retire = kit.button(words["retire"], self._at(state.retire), act="retire", help=words["retire help"])
        self._source = kit.button(words["open source"], self._at(state.open_source))
        self._preview = kit.button(words["preview title"], self._at(self._look))
        self._edit = kit.button(words["edit"], self._at(view.edit))
        self._looked = ""
        bar = kit.bar(self._select, self._approve, self._retire, self._source, self._preview, self._edit)
        self.box = kit.rows()
        self._always = (self._said, bar)

    def _toggle(self, _: bool) -> None:
        self.forget()
        self.state.toggle(self.row.id)

    def _at(self, act: Callable[[str], object]) -> Callable[[], None]:
        """An act on the card that is shown here now; the cursor comes along, so that keys go on from there."""

        def do() -> None:
            identifier = self.row.id
            self.state.point(identifier)
            act(identifier)

        return do

    def _look(self, identifier: str) -> None:
        """Show what approving would do line by line, or not."""
        self._looked = "" if self._looked == identifier else identifier
        if self._looked:
            self.state.preview(identifier)
        self.forget()

    def fill(self, row: Card, *beside: Any) -> None:
        """Show a candidate."""
        at_cursor, selected, preview, editing, opened, written, _ = beside
        kit = self.kit
        told = card_html(self.state, row, preview, written=written)
        # Its place is kept: the cards below must not move while the owner reads them.
        coming = preview is None and self.view.looks_ahead
        kit.put(self._said, value=told + (line(self.state.words["preview coming"], "sn-dim") if coming else ""))
        kit.put(self._select, value=selected)
        kit.classes(self.box, "sn-row", name("card", row.id), *(["sn-at-cursor"] if at_cursor else []))
        kit.classes(self._select, name("select", row.id))
        kit.classes(self._approve, "sn-primary", name("approve", row.id))
        kit.classes(self._retire, name("retire", row.id))
        kit.classes(self._source, name("source", row.id))
        kit.classes(self._preview, name("preview", row.id))
        kit.classes(self._edit, name("edit", row.id))
        looked = self._looked == row.id and preview is not None
        if looked:
            kit.put(self._diff, value=diff_html(self.state, preview))
        extra = [self._diff] if looked else []
        self.box.children = (*self._always, *extra, *_beside(self.view, opened=opened, editing=editing))


class GroupCard(Row):
    """Candidates to decide on together."""

    def __init__(self, kit: Kit, state: MemoryState) -> None:
        super().__init__(kit)
        self.state, words = state, state.words
        self._said = kit.html()
        self._approve = kit.button(words["approve group"], lambda: state.approve_group(self.row.key))
        self._retire = kit.button(words["retire group"], lambda: state.retire_group(self.row.key))
        self._open = kit.button(words["open group"], lambda: state.open_group(self.row.key))
        self.box = kit.rows(self._said, kit.bar(self._approve, self._retire, self._open))

    def fill(self, row: GroupRow, *_: Any) -> None:
        """Show a group."""
        kit, state = self.kit, self.state
        rest = row.count - len(row.texts)
        flagged = f"{state.words['show flagged']} {row.flagged}" if row.flagged else ""
        told = line(f"{row.title} · {row.count}", "sn-said") + badges(flagged, kind="sn-bad")
        told += "".join(line(f"· {text}") for text in row.texts)
        told += line(state.say("group more", n=rest), "sn-dim") if rest > 0 else ""
        why = state.why_disabled("approve group") or row.locked
        not_retired = state.why_disabled("retire group")
        kit.put(self._said, value=told + line(why, "sn-why"))
        kit.classes(self.box, "sn-row", name("group", row.key))
        kit.classes(self._approve, "sn-primary", name("approve-group", row.key))
        kit.classes(self._retire, name("retire-group", row.key))
        kit.classes(self._open, name("open-group", row.key))
        kit.put(self._approve, disabled=bool(why), tooltip=why)
        kit.put(self._retire, disabled=bool(not_retired), tooltip=not_retired)


class ConflictCard(Row):
    """Two in conflict: keep one, or both (S2-080)."""

    def __init__(self, kit: Kit, state: MemoryState) -> None:
        super().__init__(kit)
        self.state, words = state, state.words
        self._said = kit.html()
        self._left = kit.button(words["keep left"], lambda: self._keep(0), act="keep", help=words["keep help"])
        self._right = kit.button(words["keep right"], lambda: self._keep(1), act="keep", help=words["keep help"])
        self._both = kit.button(
            words["keep both"],
            lambda: state.keep_both(self.row.left.id, self.row.right.id),
            act="keep_both",
            help=words["keep both help"],
        )
        self._see_left = kit.button(words["preview left"], lambda: self._look(0))
        self._see_right = kit.button(words["preview right"], lambda: self._look(1))
        self.box = kit.rows(self._said, kit.bar(self._left, self._right, self._both, self._see_left, self._see_right))

    def _sides(self, place: int) -> tuple[str, str]:
        sides = (self.row.left.id, self.row.right.id)
        return sides[place], sides[1 - place]

    def _keep(self, place: int) -> None:
        self.state.keep(*self._sides(place))

    def _look(self, place: int) -> None:
        self.state.preview_keep(*self._sides(place))

    def fill(self, row: ConflictRow, *beside: Any) -> None:
        """Show a conflict."""
        kit, words = self.kit, self.state.words
        left, right = row.left.id, row.right.id
        told = f'<div class="sn-two">{side_html(row.left)}{side_html(row.right)}</div>{line(row.rule, "sn-dim")}'
        *previews, armed = beside
        for label, found in zip((words["keep left"], words["keep right"]), previews, strict=True):
            told += line(f"{label} — {found.sentence}") + diff_html(self.state, found) if found is not None else ""
        kit.put(self._said, value=told)
        kit.classes(self.box, "sn-row", name("conflict", left, right))
        kit.classes(self._left, "sn-primary", name("keep", left, "over", right))
        kit.classes(self._right, "sn-primary", name("keep", right, "over", left))
        kit.put(self._both, description=words["really keep both" if armed else "keep both"])
        kit.classes(self._both, name("keep-both", left, right), *(["sn-danger"] if armed else []))
        kit.classes(self._see_left, name("preview-keep", left, "over", right))
        kit.classes(self._see_right, name("preview-keep", right, "over", left))


class ApprovedRow(Row):
    """One approved fact (S2-084)."""

    def __init__(self, kit: Kit, view: MemoryView) -> None:
        super().__init__(kit)
        self.view, self.state = view, view.state
        words, state = self.state.words, self.state
        self._said = kit.html()
        self._edit = kit.button(words["edit"], lambda: view.edit(self.row.id))
        self._source = kit.button(words["open source"], lambda: state.open_source(self.row.id))
        self._retire = kit.button(words["retire"], lambda: state.retire(self.row.id), help=words["retire help"])
        self._always = (self._said, kit.bar(self._edit, self._source, self._retire))
        self.box = kit.rows()

    def fill(self, row: FactRow, *beside: Any) -> None:
        """Show a fact."""
        editing, opened, written = beside
        kit = self.kit
        kit.put(self._said, value=fact_html(self.state, row, written=written))
        kit.classes(self.box, "sn-row", name("fact", row.id))
        kit.classes(self._edit, name("edit", row.id))
        kit.classes(self._source, name("source", row.id))
        kit.classes(self._retire, name("retire", row.id))
        words = self.state.words
        read_only = words["why read only"] if self.state.memory.read_only else ""
        kit.put(self._retire, disabled=bool(read_only), tooltip=read_only or words["retire help"])
        self.box.children = (*self._always, *_beside(self.view, opened=opened, editing=editing))


class RetiredRow(Row):
    """One retired fact; it comes back only when the owner says so (S2-087)."""

    def __init__(self, kit: Kit, view: MemoryView) -> None:
        super().__init__(kit)
        self.view, self.state = view, view.state
        words, state = self.state.words, self.state
        self._said = kit.html()
        self._restore = kit.button(words["restore"], lambda: state.restore(self.row.id), act="restore")
        self._source = kit.button(words["open source"], lambda: state.open_source(self.row.id))
        self._always = (self._said, kit.bar(self._restore, self._source))
        self.box = kit.rows()

    def fill(self, row: FactRow, *beside: Any) -> None:
        """Show a fact."""
        kit = self.kit
        kit.put(self._said, value=line(row.text, "sn-said") + joined(row.since, row.source, row.capture))
        kit.classes(self.box, "sn-row", name("retired", row.id))
        kit.classes(self._restore, name("restore", row.id))
        kit.classes(self._source, name("source", row.id))
        self.box.children = (*self._always, *_beside(self.view, opened=beside[0], editing=False))


class OfferCard(Row):
    """A tag that may become a habit, and what the owner would say of it (S2-085)."""

    def __init__(self, kit: Kit, state: MemoryState) -> None:
        super().__init__(kit)
        self.state, words = state, state.words
        self._said = kit.html()
        self._field = DraftField(kit, "habit:", words["habit text"], lines=1)
        self._promote = kit.button(words["promote"], lambda: state.promote(self.row.tag), act="promote")
        self.box = kit.rows(self._said, self._field.widget, self._promote)

    def fill(self, row: OfferRow, *_: Any) -> None:
        """Show a tag."""
        kit, state = self.kit, self.state
        told = line(state.say("offer", tag=row.tag, n=row.count), "sn-said")
        kit.put(self._said, value=told + "".join(line(f"· {text}") for text in row.texts))
        kit.classes(self.box, "sn-row", name("offer", row.tag))
        kit.classes(self._promote, "sn-primary", name("promote", row.tag))
        self._field.bind(f"habit:{row.tag}")


class HabitCard(Row):
    """One habit that is in force."""

    def __init__(self, kit: Kit, state: MemoryState) -> None:
        super().__init__(kit)
        self.state = state
        self._said = kit.html()
        self._revoke = kit.button(state.words["revoke"], lambda: state.revoke(self.row.id), act="revoke")
        self.box = kit.bar(self._said, self._revoke)

    def fill(self, row: HabitRow, *_: Any) -> None:
        """Show a habit."""
        told = self.state.say("habit", text=row.text, tag=row.tag, n=row.facts)
        self.kit.put(self._said, value=line(told, "sn-name") + line(row.since, "sn-dim"))
        self.kit.classes(self.box, "sn-bar", "sn-row", name("habit", row.id))
        self.kit.classes(self._revoke, name("revoke", row.id))


class FactEditor:
    """Wording, tags and importance of the one fact that is being edited (S2-084, S2-167)."""

    def __init__(self, kit: Kit, view: MemoryView) -> None:
        self.kit, self.view, self.state = kit, view, view.state
        state, words = self.state, self.state.words
        self._text = DraftField(kit, ":text", words["wording"], save=state.save)
        self._tags = DraftField(kit, ":tags", words["tags"], lines=1, help=words["tags help"], save=state.save)
        self._importance = DraftField(
            kit, ":importance", words["importance"], lines=1, help=words["importance help"], save=state.save
        )
        close = kit.button(words["close"], lambda: view.edit(view.editing), "sn-close-editor")
        self.widget = kit.rows(self._text.widget, self._tags.widget, self._importance.widget, close)

    def focus(self) -> None:
        """Put the owner's cursor into the wording."""
        self._text.focus()

    def draw(self) -> None:
        """Show the fact that is being edited."""
        identifier = self.view.editing
        self._text.bind(f"{identifier}:text")
        self._tags.bind(f"{identifier}:tags")
        self._importance.bind(f"{identifier}:importance")


def _beside(view: MemoryView, *, opened: Any, editing: bool) -> list[Any]:
    """The widgets that are open in one row only."""
    found = []
    if opened is not None:
        found.append(view.source.widget)
    if editing:
        found.append(view.editor.widget)
    return found


# --- words ----------------------------------------------------------------------------------------
def card_html(state: MemoryState, card: Card, preview: PreviewRow | None, *, written: bool = False) -> str:
    """All that is to be known of a candidate before it is decided."""
    words = state.words
    age = state.say("age", n=card.age_days) if card.age_days is not None else ""
    weight = _weight(state, card.importance)
    tags = f"{words['tags']} {words['tag joint'].join(card.tags)}" if card.tags else ""
    told = line(card.text, "sn-said") + line(card.detail)
    told += f"<div>{badges(card.label, card.reason, card.heard)}{badges(*card.flags, kind='sn-bad')}"
    told += f"{badges(*card.problems, kind='sn-warn')}{badges(words['draft'] if written else '', kind='sn-warn')}</div>"
    channel = words.get(f"channel {card.channel}", card.channel)
    told += joined(card.source, card.created, age, channel, tags, weight)
    told += line(card.bulk, "sn-warn") + "".join(link_html(state, link) for link in card.links)
    return told + (preview_html(state, preview) if preview is not None else "")


def link_html(state: MemoryState, link: LinkRow) -> str:
    """A fact this one is like, or contradicts."""
    kind = state.words.get(f"link {link.kind}", link.kind)
    told = f"{kind}（{link.status}）：{link.text}" if state.language == "zh" else f"{kind} ({link.status}): {link.text}"
    return line(told, "sn-dim" if link.resolved or link.kind == "near" else "sn-warn")


def preview_html(state: MemoryState, preview: PreviewRow) -> str:
    """What approving would do to this turn's text, in one line."""
    return line(state.say("preview", sentence=preview.sentence), "sn-dim")


def diff_html(state: MemoryState, preview: PreviewRow) -> str:
    """The text before and after, line by line."""
    if not preview.diff:
        return line(state.words["no line changes"], "sn-dim")
    return diff_lines(preview.diff, state.language)


def side_html(side: Side) -> str:
    """One of two in conflict."""
    told = line(side.text, "sn-said") + line(side.detail) + joined(side.status_label, side.when, side.source)
    return f"<div>{told}</div>"


def fact_html(state: MemoryState, row: FactRow, *, written: bool = False) -> str:
    """An approved fact: what it says, how warm it is, and where it stands."""
    words = state.words
    tags = f"{words['tags']} {words['tag joint'].join(row.tags)}" if row.tags else ""
    warmth = f"{words['heat']} {row.heat:.2f}"
    told = line(row.text, "sn-said") + line(row.detail)
    told += f"<div>{badges(row.state, row.place)}{badges(*row.problems, kind='sn-warn')}"
    told += f"{badges(words['draft'] if written else '', kind='sn-warn')}</div>"
    hits = f"{words['hits']} {row.hits}"
    weight = _weight(state, row.importance)
    return told + joined(warmth, weight, hits, f"{words['last hit']} {row.last_hit}", row.since, row.source, tags)


def _weight(state: MemoryState, importance: float) -> str:
    """The importance a person gave; what every fact starts with is not worth a word."""
    return f"{state.words['importance']} {importance:g}" if importance != 1 else ""


def results(state: MemoryState) -> str:
    """What was not done of the last act on several, and why (COMPLAINTS 65)."""
    words = state.words
    rows = "".join(
        f"<tr><td>{show(words[f'refused {one.kind}'])}</td>"
        f'<td dir="auto">{show(one.text)}</td><td dir="auto">{show(one.sentence)}</td></tr>'
        for one in state.results
        if not one.ok
    )
    heads = heads_unseen(words["column refusal"], words["fact"], words["why out"])
    return f'{heading(words["results title"])}<div class="sn-wide"><table>{heads}{rows}</table></div>'


def _counted(tally: dict[str, int], label: Callable[[str], str], anything: str) -> list[tuple[str, str]]:
    return [(anything, ""), *((f"{label(one)} ({count})", one) for one, count in tally.items())]


def _draft(state: MemoryState, row: OfferRow) -> object:
    return state.drafts.get(f"habit:{row.tag}")
