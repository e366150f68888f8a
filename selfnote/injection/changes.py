"""The memory as a change nobody has made would leave it, and what that does to the text; writes nothing (UC-005)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple, Protocol, runtime_checkable

from pydantic import ValidationError

from selfnote.config import IMPORTANCE_RANGE, Config
from selfnote.errors import LimitExceeded, NotFound
from selfnote.injection.assemble import Injection, Snapshot
from selfnote.records.fact_changes import Draft, link, move, set_field
from selfnote.records.fact_lines import parse_facts
from selfnote.records.notes import Note, is_expired
from selfnote.text import one_line, require_printable
from selfnote.times import local_date, require_aware, to_milliseconds

#: Through what the imagined acts are done; it stands in no file.
_VIA = "preview"


# --- what is asked --------------------------------------------------------------------------------
@runtime_checkable
class HasId(Protocol):
    """A fact or a note."""

    @property
    def id(self) -> str:
        """Its id."""
        ...


Ids = str | HasId | Iterable[str | HasId]


@dataclass(frozen=True)
class Changes:
    """What is imagined; applied in this order: settings, approve, retire, edit, importance, pin.

    ``edit`` is the new text of facts and notes by id, ``importance`` 0 to 3 by the id of a fact, ``pin`` ids of notes,
    ``half_life`` and ``ttl`` are days.
    """

    approve: tuple[str, ...] = ()
    retire: tuple[str, ...] = ()
    edit: Mapping[str, str] = field(default_factory=dict)
    pin: tuple[str, ...] = ()
    importance: Mapping[str, float] = field(default_factory=dict)
    half_life: float | None = None
    ttl: int | None = None


def make_changes(
    *,
    approve: Ids = (),
    retire: Ids = (),
    edit: Mapping[str, str] | None = None,
    pin: Ids = (),
    importance: Mapping[str, float] | None = None,
    half_life: float | None = None,
    ttl: int | None = None,
) -> Changes:
    """What is imagined, from ids, facts and notes, one or several of each."""
    return Changes(
        ids_of(approve),
        ids_of(retire),
        dict(edit or {}),
        ids_of(pin),
        dict(importance or {}),
        half_life=half_life,
        ttl=ttl,
    )


def ids_of(which: Ids) -> tuple[str, ...]:
    """The ids of what was passed: one or several, ids or records."""
    # A fact is iterable itself, so ask for an id first.
    items = (which,) if isinstance(which, str | HasId) else which
    return tuple(one if isinstance(one, str) else one.id for one in items)


# --- the memory after it --------------------------------------------------------------------------
def change(snapshot: Snapshot, changes: Changes, now: datetime) -> Snapshot:
    """What would be read after the owner had done all of ``changes`` at ``now``; the verbs' own rules apply.

    A note keeps its id, though one on disk gets a new one with its new text.

    Raises
    ------
    NotFound
        When an id is no fact's, or no note's.
    Conflict
        When a fact cannot make the transition, as approving a retired one.
    LimitExceeded
        When a value is out of range, or a text has nothing printable.
    """
    instant = require_aware(now)
    facts = snapshot.facts_file.value.by_id
    notes = {note.id for note in snapshot.notes_file.value.notes}
    _require("fact", (*changes.approve, *changes.retire, *changes.importance), facts)
    _require("note", changes.pin, notes)
    _require("fact or note", changes.edit, {*facts, *notes})
    after = _with_settings(snapshot, changes)
    after = _with_facts(after, changes, {one: text for one, text in changes.edit.items() if one in facts}, instant)
    texts = {one: text for one, text in changes.edit.items() if one not in facts}
    return _with_notes(after, texts, changes.pin, instant)


def _require(what: str, identifiers: Iterable[str], known: Iterable[str]) -> None:
    missing = [one for one in identifiers if one not in known]
    if missing:
        raise NotFound(
            f"no {what} has the id {', '.join(map(repr, missing))}; m.facts.all() and m.notes.list() list them",
            told="nothing to imagine",
            ids=tuple(missing),
        )


def _with_settings(snapshot: Snapshot, changes: Changes) -> Snapshot:
    wanted = {"half_life_days": changes.half_life, "temp_ttl_days": changes.ttl}
    values = {name: value for name, value in wanted.items() if value is not None}
    if not values:
        return snapshot
    stored = snapshot.config.model_dump(exclude_unset=True)
    try:
        config = Config.model_validate({**stored, **values})
    except ValidationError as error:
        found = "; ".join(f"{one['loc'][0]}={one['input']!r}: {one['msg']}" for one in error.errors())
        raise LimitExceeded(f"{found}; nothing was imagined") from error
    return replace(snapshot, config_file=replace(snapshot.config_file, value=(config, snapshot.config_file.value[1])))


def _with_facts(snapshot: Snapshot, changes: Changes, texts: Mapping[str, str], now: datetime) -> Snapshot:
    before = snapshot.facts_file.value
    draft = Draft(before, to_milliseconds(now))
    for one in changes.approve:
        move(draft, draft.get(one), "approved", _VIA)
    for one in changes.retire:
        move(draft, draft.get(one), "retired", _VIA)
    for one, text in texts.items():
        fact = set_field(draft, draft.get(one), "text", require_printable("text", text), _VIA)
        link(draft, fact, snapshot.config.thresholds.near)
    for one, importance in changes.importance.items():
        set_field(draft, draft.get(one), "importance", _require_importance(one, importance), _VIA)
    if not draft.changes:
        return snapshot
    # The lines as they would be written, read as they would be read.
    after = parse_facts(draft.written(), snapshot.zone, known=before)
    return replace(snapshot, facts_file=replace(snapshot.facts_file, value=after), earlier=snapshot.competing)


def _require_importance(identifier: str, importance: Any) -> float:
    low, high = IMPORTANCE_RANGE
    number = isinstance(importance, int | float) and not isinstance(importance, bool)
    if not number or not low <= importance <= high:
        raise LimitExceeded(f"importance of {identifier}={importance!r} is not a number from {low:g} to {high:g}")
    return float(importance)


def _with_notes(snapshot: Snapshot, texts: Mapping[str, str], pins: Iterable[str], now: datetime) -> Snapshot:
    pinned = set(pins)
    if not texts and not pinned:
        return snapshot
    today = local_date(now, snapshot.zone)

    def changed(note: Note) -> Note:
        if note.id in texts:
            text = one_line(require_printable("note", texts[note.id]))
            expired = is_expired(note, today, snapshot.config.temp_ttl_days)
            note = replace(note, text=text, on=today if expired else note.on)
        return replace(note, pinned=True) if note.id in pinned else note

    file = snapshot.notes_file.value
    notes = file._replace(notes=tuple(changed(note) for note in file.notes))
    return replace(snapshot, notes_file=replace(snapshot.notes_file, value=notes))


# --- what it does to the text ---------------------------------------------------------------------
class Placed(NamedTuple):
    """An entry and the segment it stands in."""

    segment: str
    kind: str
    id: str
    text: str


class Moved(NamedTuple):
    """An entry that stands in another segment than before."""

    kind: str
    id: str
    text: str
    before: str
    after: str


class Difference(NamedTuple):
    """How two texts differ: who enters, leaves, moves to another segment, and stays with another wording."""

    entering: tuple[Placed, ...]
    leaving: tuple[Placed, ...]
    moving: tuple[Moved, ...]
    reworded: tuple[Placed, ...]

    @property
    def is_empty(self) -> bool:
        """Whether the same entries stand where they stood."""
        return not any(self)


def placed(injection: Injection) -> dict[str, Placed]:
    """Id -> the entry and where it stands, in printing order."""
    return {
        entry.id: Placed(name, entry.kind, entry.id, entry.text)
        for name, segment in injection.segments.items()
        for entry in segment.entries
    }


def compare(before: Injection, after: Injection) -> Difference:
    """How the entries of two texts differ, each list in printing order."""
    old, new = placed(before), placed(after)
    stay = [(old[one], new[one]) for one in new if one in old]
    return Difference(
        tuple(entry for one, entry in new.items() if one not in old),
        tuple(entry for one, entry in old.items() if one not in new),
        tuple(
            Moved(now.kind, now.id, now.text, was.segment, now.segment)
            for was, now in stay
            if was.segment != now.segment
        ),
        tuple(now for was, now in stay if was.text != now.text),
    )


def diff_texts(before: str, after: str) -> str:
    """The unified diff of two texts by lines, without headings; "" when they are equal."""
    lines = list(difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=0))
    # Two lines of headings, then hunks; a line of the text itself begins with + or -, whatever it says.
    return "\n".join(line for line in lines[2:] if not line.startswith("@@"))
