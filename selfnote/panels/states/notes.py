"""The agent's notes: add, reword, retier, pin, delete, clear; each with its place in the text (S2-065..073)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

import traitlets as t

from selfnote.errors import Conflict
from selfnote.injection.assemble import Snapshot
from selfnote.panels.states.base import Paged, PanelState, Stored, short
from selfnote.phrases import REASON_LABELS
from selfnote.records.notes import TIERS, Note, Tier, is_expired, packing_order
from selfnote.text import is_printable, one_line, safe
from selfnote.times import local_date


@dataclass(frozen=True, slots=True)
class NoteRow:
    """One note; ``badges`` are what is to be known at a glance, ``place`` why it is, or is not, in this turn's text."""

    id: str
    text: str
    tier: Tier
    tier_label: str
    pinned: bool
    on: str
    length: int
    expired: bool
    badges: tuple[str, ...]
    place: str


class NotesState(PanelState):
    """The tab 自述. Drafts: by the id of a note. Rows stand pinned first, then new to old.

    Acts: ``add``, ``save``, ``retier``, ``pin``, ``delete`` and ``clear`` (both want a second click), ``add_draft``,
    ``undo`` (writes the notes that the last ``delete`` or ``clear`` moved once more; the archive keeps what it has).
    """

    name: ClassVar[str] = "notes"
    writes: ClassVar[tuple[str, ...]] = ("add", "save", "retier", "pin", "delete", "clear", "add_draft", "undo")

    new_text = t.Unicode("")
    new_tier = t.Enum(TIERS, default_value="stable")
    new_pinned = t.Bool(default_value=False)
    tier = t.Enum(("", *TIERS), default_value="")
    ledger = t.Unicode("")
    last_written = t.Unicode("—")

    def _build(self) -> None:
        self.rows: Paged[Note, NoteRow] = Paged(self._row)
        self._notes: dict[str, Note] = {}
        self._expired: frozenset[str] = frozenset()
        self._places: dict[str, str] = {}
        self._order: list[Note] = []
        self._moved: tuple[Note, ...] = ()

    def _read(self, snapshot: Snapshot, now: datetime) -> None:
        notes, config = snapshot.notes_file.value.notes, snapshot.config
        today = local_date(now, snapshot.zone)
        segment = self._disk.injection(now).segments["notes"]
        reasons = REASON_LABELS[self.language]
        self._places = {one.id: reasons[one.reason] for one in segment.squeezed} | {
            one.id: self.words["in the text"] for one in segment.entries
        }
        self._notes = {note.id: note for note in notes}
        self._expired = frozenset(note.id for note in notes if is_expired(note, today, config.temp_ttl_days))
        self._order = packing_order(notes, today)
        self._arrange()
        by_tier = {tier: sum(note.tier == tier for note in notes) for tier in TIERS}
        self.ledger = self.say("ledger", **by_tier, expired=len(self._expired))
        self.last_written = self._time(self.memory.notes.last_written())

    @t.observe("tier")
    def _filtered(self, _: object) -> None:
        self.armed = ""
        self._arrange()

    def _arrange(self) -> None:
        self.rows.fill(note for note in self._order if self.tier in ("", note.tier))

    def _row(self, note: Note) -> NoteRow:
        expired = note.id in self._expired
        badges = [self.words["expired"]] if expired else []
        badges += [self.words["material"]] if note.tier == "core" else []
        return NoteRow(
            note.id,
            note.text,
            note.tier,
            self.words[f"tier {note.tier}"],
            note.pinned,
            note.on.isoformat() if note.on else "—",
            note.length,
            expired,
            tuple(badges),
            self._places.get(note.id, ""),
        )

    def _stored(self, key: str) -> Stored | None:
        note = self._notes.get(key)
        return None if note is None else Stored(note, note.text, note.text)

    @t.observe("new_text")
    def _typed(self, _: object) -> None:
        self._explain()

    def _judge(self) -> dict[str, str]:
        return {
            "add": "" if is_printable(safe(self.new_text)) else self.words["why empty"],
            "clear": "" if self._notes else self.words["why no notes"],
            "undo": "" if self._moved else self.words["why no note moved"],
        }

    # --- acts -------------------------------------------------------------------------------------
    def new_length(self) -> int:
        """Code points of the note being written, as it would be injected."""
        return len(safe(one_line(self.new_text)))

    def too_long(self, length: int) -> str:
        """That a note of so many code points never goes in as a whole; empty when it may (S2-040)."""
        budget = self._disk.injection(self._now).segments["notes"].budget
        return self.say("longer than notes", n=length, most=budget) if length > budget else ""

    @property
    def unsaved(self) -> bool:
        """Whether a note, new or not, was typed and not saved."""
        return super().unsaved or bool(self.new_text)

    def add(self, now: datetime | None = None) -> bool:
        """Write the note in ``new_text`` (S2-065); what left for the archive because of the caps is told."""
        instant = self._instant(now)

        def said(note: Note) -> str:
            told = self.say("note added", tier=self.words[f"tier {note.tier}"])
            return told + (self.say("note archived", n=len(note.archived)) if note.archived else "")

        text, tier, pinned = self.new_text, self.new_tier, self.new_pinned
        done = self._do(
            lambda: self.memory.notes.add(text, tier=tier, pinned=pinned, now=instant),
            instant,
            said,
        )
        if done is None:
            return False
        with self.hold_trait_notifications():
            self.new_text, self.new_pinned = "", False
        return True

    def save(self, identifier: str, now: datetime | None = None) -> bool:
        """Save a new wording; its date stays (S2-068)."""
        draft = self.drafts.get(identifier)
        if draft is None:
            return False
        instant = self._instant(now)
        done = self._do(
            lambda: self.memory.notes.edit(draft.shown, draft.text, now=instant),
            instant,
            lambda note: self.say("note saved", text=short(note.text)),
        )
        if done is None:
            return False
        self._drop(identifier)
        return True

    def add_draft(self, identifier: str) -> None:
        """Take the draft of a note that is gone as the text of a new one: nothing typed is lost."""
        draft = self.drafts.get(identifier)
        if draft is not None:
            self.new_text = draft.text
            self.discard(identifier)

    def retier(self, identifier: str, tier: Tier, now: datetime | None = None) -> bool:
        """Move a note to another tier (S2-072)."""
        instant = self._instant(now)
        note = self._shown(identifier)
        if note is None:
            return False
        return self._changed(
            identifier,
            self._do(
                lambda: self.memory.notes.retier(note, tier, now=instant),
                instant,
                lambda _: self.say("note retiered", tier=self.words[f"tier {tier}"]),
            ),
        )

    def pin(self, identifier: str, pinned: bool, now: datetime | None = None) -> bool:
        """Pin or unpin a note."""
        note = self._shown(identifier)
        if note is None:
            return False
        return self._changed(
            identifier,
            self._do(
                lambda: self.memory.notes.pin(note, pinned),
                self._instant(now),
                lambda _: self.say("note pinned" if pinned else "note unpinned", text=short(note.text)),
            ),
        )

    def delete(self, identifier: str, now: datetime | None = None) -> bool:
        """Move a note to the archive: the first click arms the button, the second one does it (S2-069)."""
        instant = self._instant(now)
        note = self._shown(identifier)
        if note is None or not self._second_click(f"delete {identifier}", instant):
            return False
        done = self._do(
            lambda: self.memory.notes.delete(note, now=instant),
            instant,
            lambda _: self.say("note deleted", text=short(note.text)),
        )
        if done is None:
            return False
        self._drop(identifier)
        self._may_undo(note)
        return True

    def clear(self, now: datetime | None = None) -> bool:
        """Move every note to the archive, in two clicks; notes that came in between are looked at first (S2-066)."""
        instant = self._instant(now)
        if self.armed == "clear" and self.refresh(instant) and self.armed != "clear":
            self._refuse(Conflict(self.words["notes changed since"]))
            return False
        if not self._second_click("clear", instant):
            return False
        notes = tuple(self.snapshot.notes_file.value.notes)
        done = self._do(
            lambda: self.memory.notes.clear(now=instant), instant, lambda moved: self.say("notes cleared", n=moved)
        )
        if done is None:
            return False
        self._may_undo(*notes)
        return True

    def undo(self, now: datetime | None = None) -> bool:
        """Write once more what the last ``delete`` or ``clear`` moved; each with its tier, pin and date."""
        instant, notes = self._instant(now), self._moved
        if not notes:
            return False
        done = self._do(
            lambda: self.memory.notes.put_back(notes, now=instant),
            instant,
            lambda left: (
                self.say("notes back", n=len(notes)) + (self.say("note archived", n=len(left)) if left else "")
            ),
        )
        if done is None:
            return False
        self._may_undo()
        return True

    def _may_undo(self, *notes: Note) -> None:
        self._moved = notes
        self._explain()

    def undo_label(self) -> str:
        """What the button says: which note, or how many, would be written once more."""
        if len(self._moved) == 1:
            return self.say("bring back", text=short(self._moved[0].text))
        return self.say("bring back several", n=len(self._moved)) if self._moved else self.words["undo"]

    def delete_label(self, identifier: str) -> str:
        """What the button says: 删, then 真的删."""
        return self.words["really delete" if self.armed == f"delete {identifier}" else "delete"]

    def clear_label(self) -> str:
        """What the button says: that it is about all notes, then how many that are."""
        return self.say("really clear", n=len(self._notes)) if self.armed == "clear" else self.words["clear"]

    def _shown(self, identifier: str) -> Note | None:
        note = self._notes.get(identifier)
        if note is None:
            self._refuse(Conflict(self.say("no note now", id=identifier)))
        return note

    def _changed(self, before: str, note: Note | None) -> bool:
        """A note that was moved has another id; what was being written over it goes along."""
        if note is None:
            return False
        draft = self.drafts.get(before)
        found = self._stored(note.id)
        if draft is not None and found is not None and note.id != before:
            kept = {key: one for key, one in self.drafts.items() if key != before}
            moved = replace(draft, key=note.id, shown=found.shown, elsewhere=False, stored=None)
            self.drafts = {**kept, note.id: moved}
        return True
