"""The six segments: what goes in, in which order, and what is squeezed out and why (S2-198..211)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import NamedTuple

from selfnote.config import L0_LIMIT, PROFILE_SENTENCE_LIMIT, TEMP_FLOOR
from selfnote.injection.budget import Room
from selfnote.phrases import LABEL_END, SEPARATOR
from selfnote.records.fact_lines import Fact
from selfnote.records.habits import Habit
from selfnote.records.heat import order_key_from, read_times
from selfnote.records.notes import Note, is_expired, packing_order
from selfnote.records.persona import Persona, printable_lines
from selfnote.records.profile import profile_tag
from selfnote.text import cut, is_printable, safe
from selfnote.times import EPOCH

NO_ROOM = "no room"
LONGER_THAN_SEGMENT = "longer than the segment"
LONGER_THAN_HALF = "longer than half the segment"
CONFLICT = "conflict"
NOTHING_PRINTABLE = "nothing printable"


class Entry(NamedTuple):
    """One thing that went in: kind (persona, note, fact, habit, override), id, and the text as printed."""

    kind: str
    id: str
    text: str


class Squeezed(NamedTuple):
    """One thing that did not: what it needs (its length, separator and label), what was left, and the reason."""

    kind: str
    id: str
    text: str
    needs: int
    left: int
    reason: str


class Cut(NamedTuple):
    """One of the two cuts: the line, its length before and after (DESIGN "Cuts")."""

    id: str
    length: int
    kept: int


class Segment(NamedTuple):
    """One segment of the injected text; ``budget`` and ``used`` in code points."""

    budget: int
    used: int = 0
    entries: tuple[Entry, ...] = ()
    squeezed: tuple[Squeezed, ...] = ()
    cuts: tuple[Cut, ...] = ()


def squeeze(
    kind: str, identifier: str, text: str, room: Room, *, reason: str | None = None, left: int | None = None
) -> Squeezed:
    """An entry that is out, with what it would have needed at the end of packing and what was ``left`` for it."""
    if reason is None:
        reason = LONGER_THAN_SEGMENT if len(text) > room.budget else NO_ROOM
    return Squeezed(kind, identifier, text, room.cost(len(text)), room.left if left is None else left, reason)


# --- persona --------------------------------------------------------------------------------------
def pack_persona(persona: Persona, budget: int) -> Segment:
    """L0 then L1 by non-empty line, whole lines; the two cuts of DESIGN "Cuts" (S2-133..135)."""
    room = Room(budget, inline=False)
    entries: list[Entry] = []
    out: list[tuple[str, str]] = []
    cuts: list[Cut] = []

    def place(identifier: str, line: str, limit: int, *, may_cut: bool) -> None:
        text = line if len(line) <= limit else cut(line, limit) if may_cut else ""
        if not text or not room.take(len(text)):
            out.append((identifier, line))
            return
        entries.append(Entry("persona", identifier, text))
        if text != line:
            cuts.append(Cut(identifier, len(line), len(text)))

    l0_limit = min(L0_LIMIT, budget)
    crossed = False
    for number, line in enumerate(printable_lines(persona.l0), start=1):
        fits = len(line) <= l0_limit - room.used
        if crossed and not fits:
            out.append((f"l0:{number}", line))
            continue
        place(f"l0:{number}", line, l0_limit - room.used, may_cut=not crossed)
        crossed = crossed or not fits
    l0_left = l0_limit - room.used
    first_room = room.left
    for number, line in enumerate(printable_lines(persona.l1), start=1):
        place(f"l1:{number}", line, room.left, may_cut=number == 1 and len(line) > first_room)
    squeezed = tuple(
        squeeze("persona", one, line, room, left=min(l0_left, room.left) if one.startswith("l0:") else None)
        for one, line in out
    )
    return Segment(budget, room.used, tuple(entries), squeezed, tuple(cuts))


# --- notes ----------------------------------------------------------------------------------------
class PackedNotes(NamedTuple):
    """The notes segment, with the core notes that only a doorplate mentions and the expired ones."""

    segment: Segment
    core: tuple[Note, ...]
    expired: tuple[Note, ...]


def pack_notes(notes: Iterable[Note], today: date, ttl_days: int, budget: int) -> PackedNotes:
    """Stable notes, a floor kept for temporary ones, whole entries (S2-117..120, DESIGN "Notes")."""
    ordered = packing_order(notes, today)
    expired = tuple(note for note in ordered if is_expired(note, today, ttl_days))
    gone = {note.id for note in expired}
    printable = {note.id: safe(note.text) for note in ordered}
    blank = [note for note in ordered if note.tier != "core" and not is_printable(printable[note.id])]
    silent = gone | {note.id for note in blank}
    stable = [note for note in ordered if note.tier == "stable" and note.id not in silent]
    temps = [note for note in ordered if note.tier == "temp" and note.id not in silent]

    reserve = Room(min(budget, max(TEMP_FLOOR, budget // 4)), inline=False)
    for note in temps:
        reserve.take(len(printable[note.id]))

    room = Room(budget, inline=False)
    placed: set[str] = set()

    def pack(candidates: Iterable[Note], ceiling: int) -> None:
        for note in candidates:
            length = len(printable[note.id])
            if note.id not in placed and room.used + length <= ceiling and room.take(length):
                placed.add(note.id)

    pack(stable, budget - reserve.used)
    pack(temps, budget)
    pack(stable, budget)
    entries = tuple(Entry("note", note.id, printable[note.id]) for note in (*stable, *temps) if note.id in placed)
    out = [squeeze("note", note.id, printable[note.id], room) for note in (*stable, *temps) if note.id not in placed]
    out += [
        squeeze("note", note.id, printable[note.id], room, reason=NOTHING_PRINTABLE)
        for note in blank
        if note.id not in gone
    ]
    core = tuple(note for note in ordered if note.tier == "core")
    return PackedNotes(Segment(budget, room.used, entries, tuple(out)), core, expired)


# --- facts ----------------------------------------------------------------------------------------
class Prepared(NamedTuple):
    """An approved fact ready to be packed: its printable text, its choosing key, and the times that order it.

    ``by_heat`` is hottest first, ties by approvedAt then id; ``age`` is (approvedAt, id), which no counter moves;
    ``due`` puts the never injected first, then the oldest lastHit, then the id, a future time being unknown (A-12).
    ``timeless`` says that none of its times lies in the future, so that all of this holds at every later instant.
    """

    fact: Fact
    id: str
    text: str
    printable: bool
    by_heat: tuple[float, float, str]
    age: tuple[float, str]
    due: tuple[bool, float, str]
    tag: str | None
    half_life_days: float
    timeless: bool


def prepare(fact: Fact, now: datetime, half_life_days: float) -> Prepared:
    """A fact ready to be packed at ``now``."""
    approved, last = (fact.approved_at or EPOCH).timestamp(), fact.last_hit
    text = safe(fact.text)
    reference, has_future = read_times(fact, now)
    known = last is not None and (not has_future or last <= now)
    return Prepared(
        fact,
        fact.id,
        text,
        is_printable(text),
        (-order_key_from(fact, reference, half_life_days), approved, fact.id),
        (approved, fact.id),
        (known, last.timestamp() if last is not None and known else 0.0, fact.id),
        profile_tag(fact) if fact.tags else None,
        half_life_days,
        not has_future,
    )


def label_of(tag: str) -> str:
    """A tag as the label before its first fact: ``标签：``."""
    return safe(tag + LABEL_END)


def choose_profile(facts: Iterable[Prepared], budget: int) -> tuple[list[Prepared], int]:
    """The facts of the profile, and the code points they take: tags by their hottest fact, then facts by heat."""
    groups: dict[str, list[Prepared]] = {}
    for fact in facts:
        if fact.tag is not None and len(fact.text) <= PROFILE_SENTENCE_LIMIT:
            groups.setdefault(fact.tag, []).append(fact)
    room = Room(budget, inline=True)
    chosen: list[Prepared] = []
    for tag, group in groups.items():
        label = len(label_of(tag))
        for fact in group:
            if room.take(len(fact.text), label):
                chosen.append(fact)
                label = 0
    return chosen, room.used


def choose_whole(facts: Iterable[Prepared], budget: int) -> tuple[list[Prepared], int]:
    """The facts that fit, in the order given; one that does not is skipped and later ones are tried."""
    room = Room(budget, inline=True)
    chosen = [fact for fact in facts if room.take(len(fact.text))]
    return chosen, room.used


def choose_env(facts: Sequence[Prepared], budget: int, *, refill: Sequence[str] = ()) -> tuple[list[Prepared], int]:
    """Refill first, then who is due, then who is hot (S2-207..211, DESIGN "Env"). ``facts`` come by heat."""
    room = Room(budget, inline=True)
    chosen: dict[str, Prepared] = {}

    def take(fact: Prepared) -> bool:
        if fact.id in chosen or not room.take(len(fact.text)):
            return False
        chosen[fact.id] = fact
        return True

    known = {fact.id: fact for fact in facts}
    for identifier in refill:
        if identifier in known:
            take(known[identifier])
    waiting = (fact for fact in facts if fact.id not in chosen and len(fact.text) < budget // 2)
    due = sorted(waiting, key=lambda fact: fact.due)
    if due:
        share = Room(max(budget // 4, len(due[0].text)), inline=True)
        for fact in due:
            if share.cost(len(fact.text)) <= share.left and take(fact):
                share.take(len(fact.text))
    for fact in facts:
        take(fact)
    return list(chosen.values()), room.used


def by_age(facts: Iterable[Prepared]) -> list[Prepared]:
    """Printing order inside a segment: (approvedAt, id), so that a hit moves nothing (S2-214)."""
    return sorted(facts, key=lambda fact: fact.age)


def arrange_profile(facts: Iterable[Prepared]) -> list[tuple[str, Prepared]]:
    """(label or "", fact) in printing order: tag groups by their oldest printed fact, the label before its first."""
    return with_labels(by_age(facts))


def with_labels(facts: Iterable[Prepared]) -> list[tuple[str, Prepared]]:
    """(label or "", fact): the facts of a tag together, groups in the order given, the label before its first."""
    groups: dict[str, list[Prepared]] = {}
    for fact in facts:
        groups.setdefault(fact.tag or "", []).append(fact)
    return [
        (label_of(tag) if place == 0 and tag else "", fact)
        for tag, group in groups.items()
        for place, fact in enumerate(group)
    ]


def print_profile(arranged: Iterable[tuple[str, Prepared]]) -> str:
    """The profile as printed, without its name."""
    return SEPARATOR.join(label + fact.text for label, fact in arranged)


def fill_facts(
    chosen: Iterable[Prepared],
    out: Iterable[Prepared],
    conflicting: Iterable[Prepared],
    budget: int,
    ceiling: int,
    *,
    has_due_share: bool = False,
) -> Segment:
    """The segment of conclusions or env: what was chosen, printed by age; what was not, with its reason."""
    room = Room(min(budget, ceiling), inline=True)
    entries: list[Entry] = []
    for fact in by_age(chosen):
        room.take(len(fact.text))
        entries.append(Entry("fact", fact.id, fact.text))

    def reason(fact: Prepared) -> str | None:
        if not fact.printable:
            return NOTHING_PRINTABLE
        return LONGER_THAN_HALF if has_due_share and len(fact.text) >= budget // 2 else None

    squeezed = [squeeze("fact", fact.id, fact.text, room, reason=reason(fact)) for fact in out]
    squeezed += [squeeze("fact", fact.id, fact.text, room, reason=CONFLICT) for fact in conflicting]
    return Segment(budget, room.used, tuple(entries), tuple(squeezed))


# --- habits ---------------------------------------------------------------------------------------
def pack_habits(habits: Iterable[Habit], budget: int, ceiling: int) -> Segment:
    """Active habits in their order, whole (S2-204)."""
    room = Room(min(budget, ceiling), inline=True)
    entries: list[Entry] = []
    out: list[tuple[str, str]] = []
    for habit in habits:
        text = safe(habit.text)
        if is_printable(text) and room.take(len(text)):
            entries.append(Entry("habit", habit.id, text))
        else:
            out.append((habit.id, text))
    squeezed = tuple(
        squeeze("habit", identifier, text, room, reason=None if is_printable(text) else NOTHING_PRINTABLE)
        for identifier, text in out
    )
    return Segment(budget, room.used, tuple(entries), squeezed)
