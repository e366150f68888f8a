"""The tab 自述 as widgets: write one, and the list with its wording, tier, pin and two-click delete."""

from __future__ import annotations

from functools import partial
from typing import Any

import ipywidgets as W  # noqa: N812 - as its own documentation's short name, one letter

from selfnote.panels.states.notes import NoteRow, NotesState
from selfnote.panels.views.panel import PanelView
from selfnote.panels.views.pieces import DraftField, Kit, Row, RowList, badges, heading, joined, line, name, reasons
from selfnote.records.notes import TIERS


class NotesView(PanelView):
    """The view of a ``NotesState``."""

    state: NotesState

    def __init__(self, state: NotesState, *, alone: bool = True, live: bool = False) -> None:
        self.editing = ""
        super().__init__(state, alone=alone, live=live)

    def _build(self, kit: Kit) -> list[Any]:
        state, words = self.state, self.state.words
        self._new = kit.control(
            W.Textarea, partial(setattr, state, "new_text"), "sn-field", "sn-new-note", description=words["new note"],
            rows=2, continuous_update=True,
        )  # fmt: skip
        self._count = kit.html("sn-count-new-note")
        self._new_tier = kit.choice(words["tier"], partial(setattr, state, "new_tier"), "sn-new-tier")
        self._new_pinned = kit.control(
            W.Checkbox, partial(setattr, state, "new_pinned"), "sn-new-pinned", description=words["pin"], indent=False
        )
        add = kit.button(words["add"], state.add, "sn-add-note", "sn-primary", act="add")
        self._tier_help = kit.html()
        self._add_why = kit.html("sn-why")
        self._ledger = kit.html("sn-ledger")
        self._tier = kit.choice(words["filter show"], partial(setattr, state, "tier"), "sn-tier")
        self._clear = kit.button("", state.clear, "sn-clear", act="clear")
        self._cancel = kit.button(words["cancel"], state.disarm, "sn-cancel-clear")
        self._undo = kit.button("", state.undo, "sn-undo", act="undo")
        self._sticky.children = (self._notice, self._undo)
        self._why = kit.html("sn-why")
        self.editor = DraftField(kit, "", words["wording"], save=self._save, as_new=state.add_draft)
        self._draft = kit.button("", self._open_draft, "sn-open-draft")
        self._loose = kit.rows(classes=("sn-row",))
        self._rows = RowList(kit, state.rows, "notes", lambda kit: NoteCard(kit, self), self._beside)
        return [
            self._new,
            kit.html(value=line(words["new note help"], "sn-dim")),
            kit.bar(self._count, self._new_tier, self._new_pinned, add, self._add_why),
            self._tier_help,
            self._ledger,
            self._tier,
            self._why,
            self._draft,
            self._loose,
            self._rows.widget,
            kit.bar(self._clear, self._cancel),
        ]

    def edit(self, identifier: str) -> None:
        """Open the field of a note, or close it."""
        self.editing = "" if self.editing == identifier else identifier
        if self.editing:
            self.editor.focus()

    def _save(self, identifier: str) -> None:
        if self.state.save(identifier):
            self.editing = ""

    def _open_draft(self) -> None:
        for identifier in self._written()[:1]:
            self.edit(identifier)

    def _written(self) -> list[str]:
        return [key for key in self.state.drafts if key != self.editing]

    def _beside(self, row: NoteRow) -> tuple[Any, ...]:
        armed = self.state.armed == f"delete {row.id}"
        return (armed, self.editing == row.id, row.id in self.state.drafts)

    def _draw(self) -> None:
        state, kit, words = self.state, self._kit, self.state.words
        tiers = [(words[f"tier {tier}"], tier) for tier in TIERS]
        kit.put(self._undo, description=state.undo_label())
        kit.show(self._undo, shown=not state.why_disabled("undo"))
        kit.put(self._new, value=state.new_text)
        told = line(state.say("characters", n=state.new_length()), "sn-dim")
        kit.put(self._count, value=told + line(state.too_long(state.new_length()), "sn-warn"))
        kit.offer(self._new_tier, tiers, state.new_tier)
        kit.put(self._new_pinned, value=state.new_pinned)
        kit.put(self._tier_help, value=line(words[f"tier {state.new_tier} help"], "sn-dim"))
        kit.put(self._add_why, value=reasons(state, ("add", words["add"])))
        written = state.say("last written", time=state.last_written)
        kit.put(self._ledger, value=heading(state.ledger) + line(written, "sn-dim"))
        kit.offer(self._tier, [(words["all tiers"], ""), *tiers], state.tier)
        kit.put(self._clear, description=state.clear_label())
        kit.classes(self._clear, "sn-clear", *(["sn-danger"] if state.armed == "clear" else []))
        kit.show(self._cancel, shown=state.armed == "clear")
        acts = [("clear", words["clear"]), ("save", words["edit"]), ("pin", words["pin"]), ("delete", words["delete"])]
        kit.put(self._why, value=reasons(state, *acts, ("retier", words["tier"])))
        self._follow_moved()
        self._rows.draw()
        waiting = self._written()
        kit.put(self._draft, description=state.say("open draft", n=len(waiting)))
        kit.show(self._draft, shown=bool(waiting))
        loose = bool(self.editing) and self.editing not in [row.id for row in state.rows.rows]
        kit.put(self._loose, children=(self.editor.widget,) if loose else ())
        kit.show(self._loose, shown=loose)
        if self.editing:
            self.editor.bind(self.editing)

    def _follow_moved(self) -> None:
        """A note that was moved or pinned has another id; an editor without its note and without a draft is closed."""
        known = {note.id for note in self.state.rows.sources}
        if self.editing and self.editing not in known and self.editing not in self.state.drafts:
            self.editing = ""


class NoteCard(Row):
    """One note (S2-067)."""

    def __init__(self, kit: Kit, view: NotesView) -> None:
        super().__init__(kit)
        self.view, self.state = view, view.state
        words, state = self.state.words, self.state
        self._said = kit.html()
        self._edit = kit.button(words["edit"], lambda: view.edit(self.row.id))
        self._pin = kit.button("", lambda: state.pin(self.row.id, not self.row.pinned), act="pin")
        self._tier = kit.choice(words["tier"], self._retier)
        self._delete = kit.button("", lambda: state.delete(self.row.id), act="delete")
        self._tiers = [(words[f"tier {tier}"], tier) for tier in TIERS]
        self._always = (self._said, kit.bar(self._edit, self._tier, self._pin, self._delete))
        self.box = kit.rows()

    def _retier(self, tier: Any) -> None:
        self.forget()
        self.state.retier(self.row.id, tier)

    def fill(self, row: NoteRow, *beside: Any) -> None:
        """Show a note."""
        armed, editing, written = beside
        kit, words = self.kit, self.state.words
        pinned = "★" if row.pinned else ""
        told = line(row.text, "sn-said")
        draft = words["draft"] if written else ""
        told += f"<div>{badges(pinned, row.tier_label)}{badges(*row.badges, draft, kind='sn-warn')}</div>"
        kit.put(self._said, value=told + joined(row.on, self.state.say("characters", n=row.length), row.place))
        kit.put(self._pin, description=words["unpin" if row.pinned else "pin"])
        kit.offer(self._tier, self._tiers, row.tier)
        kit.put(self._tier, disabled=bool(self.state.why_disabled("retier")))
        kit.put(self._delete, description=self.state.delete_label(row.id))
        kit.classes(self.box, "sn-row", name("note", row.id))
        kit.classes(self._edit, name("edit", row.id))
        kit.classes(self._pin, name("pin", row.id))
        kit.classes(self._tier, name("tier", row.id))
        kit.classes(self._delete, name("delete", row.id), *(["sn-danger"] if armed else []))
        self.box.children = (*self._always, *([self.view.editor.widget] if editing else []))
