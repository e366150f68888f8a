"""Who is squeezed out, by whom, and the least change that lets it in; what more characters would buy (UC-005).

Nothing here packs: every answer is a text of the real composer over a snapshot with one thing changed, and whether the
entry stands in it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from selfnote.audit.rotation import require_whole, run
from selfnote.audit.scenarios import changed, inside, with_facts, without_notes
from selfnote.audit.schema import from_rows
from selfnote.config import SEGMENTS, TOTAL_BUDGET
from selfnote.errors import NotFound
from selfnote.injection.assemble import HasHome, Injection, Snapshot, assemble, read_snapshot
from selfnote.injection.budget import require_budgets
from selfnote.injection.changes import Ids, ids_of
from selfnote.injection.explain import conflicting_with
from selfnote.injection.rotation import Choice
from selfnote.injection.segments import CONFLICT, NOTHING_PRINTABLE, Segment, Squeezed
from selfnote.records.heat import heat
from selfnote.records.persona import Persona, printable_lines
from selfnote.times import format_instant, require_aware

if TYPE_CHECKING:
    import pandas as pd

#: Hours of use simulated to see whether an entry gets in by itself.
TURNS = 48
#: The segments whose entries stand in an entry's way, by the segment it is squeezed from.
_RIVALS = {"conclusions": ("profile", "conclusions")}
_FILLER = "字"


# --- a snapshot with one thing changed ------------------------------------------------------------
def without(snapshot: Snapshot, identifiers: Collection[str]) -> Snapshot:
    """The snapshot without these: facts retired, notes deleted, habits revoked and persona lines taken out."""
    gone, after = set(identifiers), snapshot
    if any(fact.id in gone for fact in snapshot.approved):
        facts = tuple(fact for fact in snapshot.facts_file.value.facts if fact.id not in gone)
        value = replace(snapshot.facts_file.value, facts=facts, by_id={fact.id: fact for fact in facts})
        after = replace(snapshot, facts_file=replace(snapshot.facts_file, value=value), earlier=snapshot.competing)
    if any(note.id in gone for note in after.notes_file.value.notes):
        after = without_notes(after, gone)
    habits = after.habits_file.value
    if any(habit.id in gone for habit in habits.habits):
        kept = tuple(habit for habit in habits.habits if habit.id not in gone)
        after = replace(after, habits_file=replace(after.habits_file, value=habits._replace(habits=kept)))
    return _reworded_persona(after, dict.fromkeys((one for one in gone if _is_line(one)), ""))


def resized(snapshot: Snapshot, kind: str, identifier: str, length: int) -> Snapshot:
    """The snapshot with the text of one entry replaced by one of ``length`` code points; what it says is left open."""
    text = _FILLER * length
    match kind:
        case "fact":
            fact = snapshot.facts_file.value.by_id[identifier]
            return with_facts(snapshot, {identifier: changed(fact, text=text)})
        case "note":
            file = snapshot.notes_file.value
            notes = tuple(replace(note, text=text) if note.id == identifier else note for note in file.notes)
            return replace(snapshot, notes_file=replace(snapshot.notes_file, value=file._replace(notes=notes)))
        case "habit":
            habits = snapshot.habits_file.value
            every = tuple(
                habit.model_copy(update={"text": text}) if habit.id == identifier else habit for habit in habits.habits
            )
            return replace(snapshot, habits_file=replace(snapshot.habits_file, value=habits._replace(habits=every)))
        case _:
            return _reworded_persona(snapshot, {identifier: text})


def _is_line(identifier: str) -> bool:
    return identifier.startswith(("l0:", "l1:"))


def _reworded_persona(snapshot: Snapshot, lines: Mapping[str, str]) -> Snapshot:
    """Persona lines with another text; an empty one leaves, and those behind it move up."""
    if not lines:
        return snapshot
    persona = snapshot.persona_file.value

    def part(name: str) -> str:
        numbered = enumerate(printable_lines(getattr(persona, name)), start=1)
        return "\n".join(lines.get(f"{name}:{number}", line) for number, line in numbered)

    value = Persona(part("l0"), part("l1"), persona.l2, persona.problems)
    return replace(snapshot, persona_file=replace(snapshot.persona_file, value=value))


def _name_without(identifier: str, gone: Collection[str]) -> str:
    """What an entry is called once others are gone: persona lines move up."""
    if not _is_line(identifier):
        return identifier
    part, number = identifier.split(":")
    before = sum(f"{part}:{one}" in gone for one in range(1, int(number)))
    return f"{part}:{int(number) - before}"


# --- one memory at one instant --------------------------------------------------------------------
class Remedy(NamedTuple):
    """One change that lets an entry in: shorten it by n, raise the budget of a segment by n, or retire another."""

    remedy: str
    enters: str
    segment: str | None = None
    n: int | None = None
    other: str | None = None
    gains: tuple[str, ...] = ()
    loses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Packing:
    """A memory at one instant as the composer packs it, and what it would pack after one change."""

    snapshot: Snapshot
    now: datetime
    budgets: Mapping[str, int]
    choice: Choice | None
    _raised: dict[tuple[str, int], Injection] = field(default_factory=dict, repr=False, compare=False)
    _inside_raised: dict[tuple[str, int], dict[str, str]] = field(default_factory=dict, repr=False, compare=False)
    _without: dict[str, Injection] = field(default_factory=dict, repr=False, compare=False)

    def pack(self, snapshot: Snapshot | None = None, budgets: Mapping[str, int] | None = None) -> Injection:
        """The text of another snapshot, or with other budgets."""
        return assemble(
            self.snapshot if snapshot is None else snapshot,
            self.now,
            budgets=self.budgets if budgets is None else budgets,
            choice=self.choice,
        )

    @cached_property
    def text(self) -> Injection:
        """The text of this instant."""
        return self.pack()

    @cached_property
    def afresh(self) -> Injection:
        """The text if the facts were chosen afresh, as any change of facts makes happen."""
        return assemble(self.snapshot, self.now, budgets=self.budgets)

    def baseline(self, after: Injection) -> Injection:
        """What ``after`` is to be compared with: the present text, or the one chosen afresh when that one was."""
        return self.text if after.choice is None or after.choice is self.choice else self.afresh

    def raised(self, segment: str, step: int) -> Injection:
        """The text with ``step`` more code points for one segment."""
        key = (segment, step)
        if key not in self._raised:
            self._raised[key] = self.pack(budgets={**self.budgets, segment: self.budgets[segment] + step})
        return self._raised[key]

    def inside_raised(self, segment: str, step: int) -> dict[str, str]:
        """Id -> segment of what is in that text."""
        key = (segment, step)
        if key not in self._inside_raised:
            self._inside_raised[key] = inside(self.raised(segment, step))
        return self._inside_raised[key]

    def without_one(self, identifier: str) -> Injection:
        """The text without one entry."""
        if identifier not in self._without:
            self._without[identifier] = self.pack(without(self.snapshot, {identifier}))
        return self._without[identifier]

    def headroom(self, segment: str) -> int:
        """Code points the budget of a segment can grow by before the 1000 of all segments bind."""
        earlier = SEGMENTS[: SEGMENTS.index(segment)]
        first = self.raised(segment, 1)
        return TOTAL_BUDGET - sum(first.segments[name].used for name in earlier) - self.budgets[segment]

    @cached_property
    def facts_only(self) -> Snapshot:
        """The snapshot to ask whether a fact goes in: without persona and notes where they cannot take its room.

        While the budgets add up to no more than 1000, what the earlier segments use never binds.
        """
        if sum(self.budgets.values()) > TOTAL_BUDGET:
            return self.snapshot
        notes = self.snapshot.notes_file.value._replace(notes=())
        return replace(
            self.snapshot,
            persona_file=replace(self.snapshot.persona_file, value=Persona()),
            notes_file=replace(self.snapshot.notes_file, value=notes),
        )

    def base(self, kind: str) -> Snapshot:
        """The snapshot to ask whether an entry of a kind goes in."""
        return self.facts_only if kind == "fact" else self.snapshot

    @cached_property
    def places(self) -> dict[str, int]:
        """Id of an approved fact -> its place by heat, as the composer chooses."""
        prepared = self.snapshot.competing.prepare(self.now, self.snapshot.config.half_life_days)
        return {fact.id: place for place, fact in enumerate(prepared)}

    @cached_property
    def turns(self) -> dict[str, int]:
        """Id -> hours of use until it goes in by itself."""
        found: dict[str, int] = {}
        for hour in run(self.snapshot, self.now, TURNS + 1):
            for identifier in inside(hour.injection):
                found.setdefault(identifier, hour.number)
        return found

    def warmth(self, identifier: str) -> float | None:
        """The heat of an approved fact."""
        fact = self.snapshot.competing.facts.get(identifier)
        return None if fact is None else heat(fact, self.now, self.snapshot.config.half_life_days)

    def loss_and_gain(self, after: Injection, *, leaving_out: Collection[str] = ()) -> tuple[list[str], list[str]]:
        """Ids that go out and in, without those one knows about."""
        old, new = inside(self.baseline(after)), inside(after)
        return (
            [one for one in old if one not in new and one not in leaving_out],
            [one for one in new if one not in old and one not in leaving_out],
        )


def packing(memory: HasHome, now: datetime, budgets: Mapping[str, int] | None = None) -> Packing:
    """What is on disk now, at ``now``."""
    return packing_of(read_snapshot(memory.home, zone=memory.zone_override), now, budgets)


def packing_of(snapshot: Snapshot, now: datetime, budgets: Mapping[str, int] | None = None) -> Packing:
    """What was read, at ``now``."""
    limits = snapshot.config.budgets() if budgets is None else require_budgets(budgets)
    return Packing(snapshot, require_aware(now), limits, snapshot.rotation_file.value)


# --- what lets an entry in ------------------------------------------------------------------------
def shorten(room: Packing, one: Squeezed) -> Remedy | None:
    """The fewest code points an entry must lose to go in.

    The room a fact or a habit finds at its turn does not depend on its own length, so halving finds it; a temporary
    note's does (the reserve), and a persona line may be cut, so of these every length is tried.
    """

    def enters(n: int) -> bool:
        return one.id in inside(room.pack(resized(room.base(one.kind), one.kind, one.id, len(one.text) - n)))

    lengths = range(1, len(one.text))
    if one.kind in {"fact", "habit"}:
        n = lengths[bisect_left(lengths, 1, key=enters)] if lengths and enters(lengths[-1]) else None
    else:
        n = next((n for n in lengths if enters(n)), None)
    if n is None:
        return None
    after = room.pack(resized(room.snapshot, one.kind, one.id, len(one.text) - n))
    loses, gains = room.loss_and_gain(after, leaving_out=(one.id,))
    return Remedy("shorten", inside(after)[one.id], n=n, gains=tuple(gains), loses=tuple(loses))


def raise_budget(room: Packing, one: Squeezed, segment: str) -> Remedy | None:
    """The fewest code points the budget of a segment must gain for an entry to go in, within the 1000 of all."""
    for n in range(1, room.headroom(segment) + 1):
        if (enters := room.inside_raised(segment, n).get(one.id)) is not None:
            loses, gains = room.loss_and_gain(room.raised(segment, n), leaving_out=(one.id,))
            return Remedy("raise", enters, segment, n, gains=tuple(gains), loses=tuple(loses))
    return None


def retire_one(room: Packing, one: Squeezed, segment: str) -> Iterator[Remedy]:
    """Every single entry whose going lets this one in: those in its way, and those it is in conflict with."""
    for other in (*_in_its_way(room, one, segment), *_against(room, one)):
        after = room.without_one(other)
        enters = inside(after).get(_name_without(one.id, {other}))
        if enters is not None:
            loses, gains = room.loss_and_gain(after, leaving_out=(one.id, other))
            yield Remedy("retire", enters, other=other, gains=tuple(gains), loses=tuple(loses))


def _in_its_way(room: Packing, one: Squeezed, segment: str) -> list[str]:
    """The entries that hold the room, hottest first."""
    baseline = room.afresh if one.kind == "fact" else room.text
    names = _RIVALS.get(segment, (segment,))
    return _by_heat(room, (entry.id for name in names for entry in baseline.segments[name].entries))


def _against(room: Packing, one: Squeezed) -> list[str]:
    return conflicting_with(room.snapshot, one.id) if one.reason == CONFLICT else []


def _enters(room: Packing, one: Squeezed, gone: Collection[str]) -> bool:
    """Whether an entry goes in once others are gone."""
    return _name_without(one.id, gone) in inside(room.pack(without(room.base(one.kind), gone)))


def must_go(room: Packing, one: Squeezed, segment: str) -> tuple[str, ...]:
    """A set of entries without which this one goes in, and none of which may stay; empty when it never does.

    Entries in the text are let stay before squeezed ones are, the first packed first.
    """
    baseline = room.afresh if one.kind == "fact" else room.text
    rivals = [
        other.id
        for other in baseline.segments[segment].squeezed
        if other.id != one.id and other.reason not in {CONFLICT, NOTHING_PRINTABLE}
    ]
    items = [*_in_its_way(room, one, segment), *_against(room, one), *rivals]
    return _smallest(items, lambda gone: _enters(room, one, gone))


def _by_heat(room: Packing, identifiers: Iterable[str]) -> list[str]:
    """Facts hottest first, as they are chosen; other entries in the order given."""
    return sorted(identifiers, key=lambda one: room.places.get(one, -1))


def _smallest(items: Sequence[str], holds: Callable[[Collection[str]], bool]) -> tuple[str, ...]:
    """A part of ``items`` for which ``holds`` is true, but not without any one of them; empty if all together fail."""
    needed = set(items)
    if not holds(needed):
        return ()

    def spare(block: Sequence[str]) -> None:
        rest = needed.difference(block)
        if holds(rest):
            needed.difference_update(block)
        elif len(block) > 1:
            spare(block[: len(block) // 2])
            spare(block[len(block) // 2 :])

    spare(items)
    # What was needed beside others may be spared without them.
    while spared := next((one for one in items if one in needed and holds(needed - {one})), None):
        needed.discard(spared)
    return tuple(one for one in items if one in needed)


class _Answer(NamedTuple):
    """All that is known of one squeezed entry."""

    segment: str
    rank: int
    place: Segment
    one: Squeezed
    by_itself: bool
    turns: int | None
    remedies: tuple[Remedy, ...]
    must_go: tuple[str, ...]


def _answers(room: Packing, only: Collection[str]) -> Iterator[_Answer]:
    afresh = inside(room.afresh)
    for name, segment in room.text.segments.items():
        for rank, one in enumerate(segment.squeezed, start=1):
            if only and one.id not in only:
                continue
            by_itself = one.id in afresh
            remedies: tuple[Remedy, ...] = ()
            needed: tuple[str, ...] = ()
            if not by_itself and one.reason != NOTHING_PRINTABLE:
                remedies = tuple(_remedies(room, one, name))
                singles = _by_heat(room, (way.other for way in remedies if way.other is not None))
                # The coldest single one, where one is enough.
                needed = (singles[-1],) if singles else must_go(room, one, name)
            yield _Answer(name, rank, segment, one, by_itself, room.turns.get(one.id), remedies, needed)


def _remedies(room: Packing, one: Squeezed, segment: str) -> Iterator[Remedy]:
    if one.reason != CONFLICT:
        ways = [shorten(room, one), raise_budget(room, one, segment)]
        if one.kind == "fact" and segment == "conclusions":
            ways.append(raise_budget(room, one, "profile"))
        yield from (way for way in ways if way is not None)
    yield from retire_one(room, one, segment)


@dataclass(frozen=True, repr=False)
class Squeeze:
    """Who is squeezed out at one instant and what would let each in: the frames ``squeezed`` and ``remedies``."""

    room: Packing
    only: tuple[str, ...] = ()

    def __repr__(self) -> str:
        waiting = sum(answer.by_itself for answer in self._answers)
        return f"<Squeeze: {len(self._answers)} entries out, {waiting} of them go in by themselves>"

    @cached_property
    def _answers(self) -> list[_Answer]:
        return list(_answers(self.room, self.only))

    @cached_property
    def entries(self) -> pd.DataFrame:
        """One row a squeezed entry, by segment, in the order they were tried: the frame ``squeezed``."""
        return from_rows("squeezed", [self._row(answer) for answer in self._answers])

    def _row(self, answer: _Answer) -> dict[str, Any]:
        one, present = answer.one, inside(self.room.text)
        singles = [way for way in answer.remedies if way.other is not None]
        least = {way.remedy: way.n for way in reversed(answer.remedies) if way.segment in {None, answer.segment}}
        return {
            "segment": answer.segment,
            "kind": one.kind,
            "id": one.id,
            "text": one.text,
            "length": len(one.text),
            "needs": one.needs,
            "left": one.left,
            "short": one.needs - one.left,
            "reason": one.reason,
            "rank": answer.rank,
            "budget": answer.place.budget,
            "used": answer.place.used,
            "heat": self.room.warmth(one.id),
            "by_itself": answer.by_itself,
            "turns": answer.turns,
            "shorten_by": least.get("shorten"),
            "raise_by": least.get("raise"),
            "retire": tuple(way.other for way in singles),
            "replace": tuple(way.other for way in singles if not way.gains and not way.loses and way.other in present),
            "holders": tuple(other for other in answer.must_go if other in present),
            "rivals": tuple(other for other in answer.must_go if other not in present),
        }

    @cached_property
    def remedies(self) -> pd.DataFrame:
        """One row per squeezed entry and change that lets it in: the frame ``remedies``."""
        return from_rows(
            "remedies",
            [
                {"kind": answer.one.kind, "id": answer.one.id, **way._asdict()}
                for answer in self._answers
                for way in answer.remedies
            ],
        )


def squeeze(memory: HasHome, *, now: datetime, only: Ids = ()) -> Squeeze:
    """Who is squeezed out of the text of ``now``, by whom, and the least change that lets each in; writes nothing.

    Every change was put to the real composer. Changing a fact makes it choose afresh, so an entry that goes in by that
    alone is said to go in by itself, and what other changes do is compared with that text. Budgets are no settings (but
    for the profile's): raising one is a what-if.

    Parameters
    ----------
    memory
        The memory.
    now
        The instant, UTC-aware.
    only
        Ask about these squeezed entries only, by id; all when empty. Each takes some dozens of texts.

    Raises
    ------
    NotFound
        When an entry of ``only`` is not squeezed.
    """
    return ask_about(packing(memory, now), ids_of(only))


def ask_about(room: Packing, wanted: tuple[str, ...]) -> Squeeze:
    """``squeeze`` in a packing that is at hand: what was worked out for other entries is not worked out again."""
    out = {one.id for segment in room.text.segments.values() for one in segment.squeezed}
    if missing := [one for one in wanted if one not in out]:
        names = ", ".join(map(repr, missing))
        raise NotFound(
            f"{names} is not squeezed at {format_instant(room.now)}; m.why_not tells where an entry stands",
            told="not squeezed",
            ids=tuple(missing),
        )
    return Squeeze(room, wanted)


def squeezed(memory: HasHome, *, now: datetime, only: Ids = ()) -> pd.DataFrame:
    """The frame ``squeezed``: one row an entry the text of ``now`` leaves out. See ``squeeze``."""
    return squeeze(memory, now=now, only=only).entries


def remedies(memory: HasHome, *, now: datetime, only: Ids = ()) -> pd.DataFrame:
    """The frame ``remedies``: one row per squeezed entry and change that lets it in. See ``squeeze``."""
    return squeeze(memory, now=now, only=only).remedies


# --- what more characters would buy ---------------------------------------------------------------
STEPS = range(10, 201, 10)


def shadow_price(memory: HasHome, *, now: datetime, steps: Iterable[int] = STEPS) -> pd.DataFrame:
    """What each segment's next characters would buy: the frame ``shadow_price``, one row per segment and step.

    Whole entries are packed, so more room is not always more entries: a longer, hotter one may take the place of two.
    What a smaller step had bought and a larger one has not stands in ``dropped``. The six together never exceed 1000
    code points: a segment that grows may push out entries of later ones, which stand in ``lost``.

    Raises
    ------
    LimitExceeded
        When a step is no whole number from 1 to 1000.
    """
    return price(packing(memory, now), steps)


def price(room: Packing, steps: Iterable[int] = STEPS) -> pd.DataFrame:
    """See ``shadow_price``."""
    wanted = {require_whole("step", step, TOTAL_BUDGET) for step in steps}
    rows: list[dict[str, Any]] = []
    for segment in SEGMENTS if room.text.reason != "off" else ():
        bought: dict[str, None] = {}
        for step in sorted(wanted):
            after = room.raised(segment, step)
            lost, gained = room.loss_and_gain(after)
            rows.append(
                {
                    **_bill(room, segment, step, after),
                    "gained": tuple(gained),
                    "lost": tuple(lost),
                    "n_gained": len(gained),
                    "n_lost": len(lost),
                    "heat_gained": sum(room.warmth(one) or 0.0 for one in gained),
                    "heat_lost": sum(room.warmth(one) or 0.0 for one in lost),
                    "dropped": tuple(one for one in bought if one not in gained),
                }
            )
            bought.update(dict.fromkeys(gained))
    return from_rows("shadow_price", rows)


def _bill(room: Packing, segment: str, step: int, after: Injection) -> dict[str, Any]:
    used, budget = after.segments[segment].used, room.budgets[segment] + step
    earlier = sum(after.segments[name].used for name in SEGMENTS[: SEGMENTS.index(segment)])
    return {
        "segment": segment,
        "step": step,
        "budget": budget,
        "room": min(budget, TOTAL_BUDGET - earlier),
        "used": used,
        "used_more": used - room.baseline(after).segments[segment].used,
        "total": after.total_chars,
    }
