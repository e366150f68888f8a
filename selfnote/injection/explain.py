"""Why an entry is in the text, or is not; and what the profile says, sentence by sentence (S2-089..105)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Protocol

from selfnote.config import L0_LIMIT, Config, ConfigStore
from selfnote.errors import LimitExceeded, NotFound
from selfnote.injection.assemble import HasHome, Injection, Snapshot, assemble, read_snapshot
from selfnote.injection.changes import (
    Changes,
    Ids,
    Moved,
    Placed,
    change,
    compare,
    diff_texts,
    make_changes,
)
from selfnote.injection.segments import CONFLICT, LONGER_THAN_HALF, NO_ROOM, Segment, Squeezed
from selfnote.phrases import ATTRIBUTION_LABELS, LEFT_OUT, PANELS, PREVIEW, REASON_LABELS, SEGMENT_LABELS, WHY
from selfnote.records.attribution import AttributionState, attribution_state
from selfnote.records.fact_lines import Fact
from selfnote.records.heat import future_times, heat
from selfnote.records.notes import Note, is_expired
from selfnote.records.persona import printable_lines
from selfnote.records.profile import judge_override, make_override, profile_tag
from selfnote.text import cut, require_printable, safe
from selfnote.times import clock, local_date, require_aware

#: Code points of an entry's text that name it in the one line of a preview.
NAME_LIMIT = 20
#: Entries that are named together; of more the first two are, and the others counted.
NAMED_TOGETHER = 3
#: An entry is not advised to be shortened to fewer code points: that would be to delete it.
SHORTEST = 4


class HasConfig(HasHome, Protocol):
    """A memory whose settings can be changed."""

    @property
    def config(self) -> ConfigStore:
        """The settings."""
        ...


@dataclass(frozen=True, slots=True)
class ProfileSentence:
    """One sentence of the profile as printed, the tag it stands under, and the facts behind it (S2-091)."""

    text: str
    tag: str | None
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """The profile of this turn; ``chars`` of ``budget`` code points."""

    text: str
    sentences: tuple[ProfileSentence, ...]
    chars: int
    budget: int
    overridden: bool
    older_than_its_sources: bool
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Attribution:
    """One approved fact and what became of it: where it stands now, how often it went in, was found, and its state.

    ``segment`` is the segment it stands in, or is squeezed from; ``squeezed`` says why it is out; ``absorbed`` that a
    profile override speaks for it. ``problems`` are flags of unreadable or future values.
    """

    fact: Fact
    segment: str | None
    squeezed: Squeezed | None
    absorbed: bool
    state: AttributionState
    heat: float
    problems: tuple[str, ...]


def view_profile(memory: HasHome, *, now: datetime | None = None) -> Profile:
    """What the memory says about the owner this turn, with the facts behind each sentence."""
    instant = require_aware(now if now is not None else clock())
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    injection = assemble(snapshot, instant, choice=snapshot.rotation_file.value)
    segment = injection.segments["profile"]
    facts = {fact.id: fact for fact in snapshot.approved}
    override = judge_override(snapshot.config, facts, segment.budget)
    sentences = tuple(
        ProfileSentence(entry.text, None, injection.absorbed)
        if entry.kind == "override"
        else ProfileSentence(entry.text, profile_tag(facts[entry.id]), (entry.id,))
        for entry in segment.entries
    )
    return Profile(
        _profile_text(snapshot, injection),
        sentences,
        segment.used,
        segment.budget,
        override is not None and override.text is not None,
        override is not None and override.older_than_its_sources,
        override.problem if override is not None else None,
    )


def _profile_text(snapshot: Snapshot, injection: Injection) -> str:
    """The profile's line of the text without its name."""
    config = snapshot.config
    name = config.phrases.profile_name.format(pronoun=safe(config.pronoun_text))
    if not injection.segments["profile"].entries:
        return ""
    return next(line.removeprefix(name) for line in injection.text.split("\n") if line.startswith(name))


def override_profile(memory: HasConfig, text: str, fact_ids: Sequence[str], *, expect: str | None = None) -> Config:
    """Store the owner's own wording of the profile with the facts it was made from (S2-090, A-08).

    Raises
    ------
    NotFound
        When an id is no fact's.
    LimitExceeded
        When the text has nothing printable or is over the profile's budget; nothing was written.
    """
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    budget = snapshot.config.profile_max_chars
    length = len(safe(require_printable("profile", text)))
    if length > budget:
        raise LimitExceeded(
            f"the profile has {length} characters, at most {budget}; shorten it - nothing was saved",
            told="profile too long",
            chars=length,
            most=budget,
        )
    known = snapshot.facts_file.value.by_id
    missing = [one for one in fact_ids if one not in known]
    if missing:
        raise NotFound(
            f"no fact has the id {', '.join(missing)}; m.facts.approved() lists them",
            told="no such facts",
            ids=tuple(missing),
        )
    override = make_override(text, [known[one] for one in fact_ids])
    return memory.config.save(expect=expect, profile_override=override.model_dump(by_alias=True, mode="json"))


def attribute(snapshot: Snapshot, injection: Injection, now: datetime) -> list[Attribution]:
    """The attribution table: every approved fact, in file order (S2-096..100)."""
    placed = {
        entry.id: name
        for name, segment in injection.segments.items()
        for entry in segment.entries
        if entry.kind == "fact"
    }
    out = {
        one.id: (name, one)
        for name, segment in injection.segments.items()
        for one in segment.squeezed
        if one.kind == "fact"
    }
    absorbed = set(injection.absorbed)
    config = snapshot.config
    rows = []
    for fact in snapshot.approved:
        name, squeezed = out.get(fact.id, (placed.get(fact.id), None))
        rows.append(
            Attribution(
                fact,
                "profile" if fact.id in absorbed else name,
                squeezed,
                fact.id in absorbed,
                attribution_state(fact, now, config.silent_days),
                heat(fact, now, config.half_life_days),
                (*fact.problems, *(f"{name} is in the future" for name in future_times(fact, now))),
            )
        )
    return rows


# --- why, or why not ------------------------------------------------------------------------------
def why_not(
    memory: HasHome,
    identifier: str,
    *,
    now: datetime | None = None,
    language: str | None = None,
    ids: bool = True,
) -> str:
    """Where an entry stands in this turn's text, or what keeps it out and what would let it in, in a few sentences.

    ``identifier`` is a fact's, note's or habit's id, or a persona line such as ``l1:3``. ``language`` is zh or en, None
    the memory's own; without ``ids`` entries are called by their texts alone.

    Raises
    ------
    NotFound
        When nothing carries the id.
    """
    instant = require_aware(now if now is not None else clock())
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    injection = assemble(snapshot, instant, choice=snapshot.rotation_file.value)
    spoken = language or snapshot.config.language
    subject = _describe(snapshot, identifier, instant, spoken)
    place = _place(snapshot, injection, identifier, instant, spoken, ids=ids)
    return f"{identifier}: {subject} {place}" if ids else f"{subject[:1].upper()}{subject[1:]} {place}"


def _describe(snapshot: Snapshot, identifier: str, now: datetime, language: str) -> str:
    """What the id names. Raises NotFound."""
    config = snapshot.config
    words, labels = WHY[language], PANELS[language]
    if fact := snapshot.facts_file.value.by_id.get(identifier):
        channel, status = labels[f"channel {fact.channel}"], labels[f"status {fact.status}"]
        if fact.status != "approved":
            return words["fact"].format(status=status, channel=channel, text=_short(fact.text))
        state = ATTRIBUTION_LABELS[language][attribution_state(fact, now, config.silent_days)]
        warm = heat(fact, now, config.half_life_days)
        return words["approved"].format(channel=channel, text=_short(fact.text), state=state, heat=warm)
    if note := _note(snapshot, identifier):
        return words["note"].format(tier=labels[f"tier {note.tier}"], text=_short(note.text))
    if habit := next((one for one in snapshot.habits_file.value.habits if one.id == identifier), None):
        return words["habit"].format(text=_short(habit.text))
    if identifier == "profile:override" and config.profile_override is not None:
        return words["override"]
    if line := _persona_line(snapshot, identifier):
        return words["persona"].format(text=_short(line))
    raise NotFound(
        f"nothing has the id {identifier!r}: facts are f-…, notes n-…, habits h-…, persona lines l0:1, l1:2; "
        "selfnote audit lists them",
        told="nothing of this id",
        id=identifier,
    )


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def _note(snapshot: Snapshot, identifier: str) -> Note | None:
    return next((one for one in snapshot.notes_file.value.notes if one.id == identifier), None)


def _persona_line(snapshot: Snapshot, identifier: str) -> str | None:
    part, _, number = identifier.partition(":")
    if part not in {"l0", "l1"} or not number.isdecimal():
        return None
    lines = printable_lines(getattr(snapshot.persona_file.value, part))
    return lines[int(number) - 1] if 1 <= int(number) <= len(lines) else None


def _place(
    snapshot: Snapshot, injection: Injection, identifier: str, now: datetime, language: str, *, ids: bool
) -> str:
    words, labels = WHY[language], SEGMENT_LABELS[language]
    if injection.reason == "off":
        return words["off"]
    for name, segment in injection.segments.items():
        if any(entry.id == identifier for entry in segment.entries):
            found = words["in"].format(segment=labels[name], used=segment.used, budget=segment.budget)
            cuts = [
                words["cut"].format(length=one.length, kept=one.kept) for one in segment.cuts if one.id == identifier
            ]
            return " ".join([found, *cuts])
        if out := next((one for one in segment.squeezed if one.id == identifier), None):
            half, short = out.reason == LONGER_THAN_HALF, out.needs - out.left
            hopeless = out.reason == NO_ROOM and not can_shorten(len(out.text), short)
            return words["no room, short" if hopeless else out.reason].format(
                segment=labels[name],
                others=_name_facts(snapshot, conflicting_with(snapshot, out.id), language, ids=ids),
                length=len(out.text),
                budget=min(L0_LIMIT, segment.budget) if identifier.startswith("l0:") else segment.budget,
                limit=segment.budget // 2 - 1 if half else segment.budget,
                needs=out.needs,
                left=out.left,
                short=short,
            )
    if identifier in injection.absorbed:
        return words["absorbed"]
    override = snapshot.config.profile_override
    return words[_absence(snapshot, identifier, now)].format(
        days=snapshot.config.temp_ttl_days,
        segment=labels["profile"],
        length=len(safe(override.text)) if override is not None else 0,
        budget=injection.segments["profile"].budget,
    )


def can_shorten(length: int, by: int) -> bool:
    """Whether an entry of ``length`` code points may be advised to lose ``by`` of them: something must be left."""
    return length - by >= SHORTEST


def name_several(names: Sequence[str], language: str) -> str:
    """Names one after the other; of more than ``NAMED_TOGETHER`` the first two, and how many more there are."""
    words = PREVIEW[language]
    if len(names) <= NAMED_TOGETHER:
        return words["names joint"].join(names)
    return words["and more"].format(names=words["names joint"].join(names[:2]), n=len(names) - 2)


def _name_facts(snapshot: Snapshot, identifiers: Sequence[str], language: str, *, ids: bool) -> str:
    facts = snapshot.facts_file.value.by_id
    return name_several([_name(one, facts[one].text, PREVIEW[language], ids=ids) for one in identifiers], language)


def say_left_out(name: str, segment: Segment, out: Squeezed, language: str) -> str:
    """Why an entry has no place in a segment of this turn's text, as the end of a sentence."""
    words = LEFT_OUT[language]
    return words[out.reason if out.reason in {CONFLICT, NO_ROOM} else "other"].format(
        segment=SEGMENT_LABELS[language][name],
        used=segment.used,
        budget=segment.budget,
        needs=out.needs,
        reason=REASON_LABELS[language][out.reason],
    )


def conflicting_with(snapshot: Snapshot, identifier: str) -> list[str]:
    """The approved facts in an unresolved conflict with this one."""
    return [
        other for pair in snapshot.competing.conflicts if identifier in pair for other in pair if other != identifier
    ]


def _absence(snapshot: Snapshot, identifier: str, now: datetime) -> str:
    """Why something that does not even compete is out: a key of WHY."""
    if fact := snapshot.facts_file.value.by_id.get(identifier):
        return fact.status
    if note := _note(snapshot, identifier):
        expired = is_expired(note, local_date(now, snapshot.zone), snapshot.config.temp_ttl_days)
        return "expired" if expired else "core"
    if identifier == "profile:override":
        return "override unused"
    return "persona off" if identifier.startswith(("l0:", "l1:")) else "habit off"


# --- what a change would do -----------------------------------------------------------------------
@dataclass(frozen=True, repr=False)
class Preview:
    """What this turn's text would be after a change nobody has made; ``str`` is one line for a panel.

    ``diff`` is the unified diff of the two texts by lines. ``moving`` entries stand in another segment than before,
    ``reworded`` ones where they stood. ``outside`` are facts of the change that stay out.
    """

    injection: Injection
    diff: str
    entering: tuple[Placed, ...]
    leaving: tuple[Placed, ...]
    moving: tuple[Moved, ...]
    reworded: tuple[Placed, ...]
    before: Injection
    language: str
    outside: tuple[tuple[str, Squeezed], ...] = ()

    def __str__(self) -> str:
        return self.say()

    __repr__ = __str__

    def say(self, language: str | None = None, *, ids: bool = True) -> str:
        """The one line, in another language if wanted; without ``ids`` entries are called by their texts alone."""
        return _say_preview(self, language or self.language, ids=ids)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}\n\n{escape(self.diff)}</pre>"


def preview(
    memory: HasHome,
    *,
    approve: Ids = (),
    retire: Ids = (),
    edit: Mapping[str, str] | None = None,
    pin: Ids = (),
    now: datetime | None = None,
) -> Preview:
    """What a change would do to this turn's text; writes and counts nothing (COMPLAINTS 17).

    ``approve`` and ``retire`` are facts or their ids, ``pin`` notes or theirs, ``edit`` the new text of facts and
    notes by id.

    Raises
    ------
    NotFound
        When an id is no fact's, or no note's.
    Conflict
        When a fact cannot make the transition, as approving a retired one.
    LimitExceeded
        When a text has nothing printable.
    """
    instant = require_aware(now if now is not None else clock())
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    return preview_changes(snapshot, make_changes(approve=approve, retire=retire, edit=edit, pin=pin), instant)


def preview_changes(snapshot: Snapshot, changes: Changes, now: datetime) -> Preview:
    """See ``preview``; the errors of ``change``."""
    kept = snapshot.rotation_file.value
    before = assemble(snapshot, now, choice=kept)
    after = assemble(change(snapshot, changes, now), now, choice=kept)
    found = compare(before, after)
    wanted = {*changes.approve, *changes.edit}
    return Preview(
        after,
        diff_texts(before.text, after.text),
        found.entering,
        found.leaving,
        found.moving,
        found.reworded,
        before,
        snapshot.config.language,
        tuple(
            (name, out)
            for name, segment in after.segments.items()
            for out in segment.squeezed
            if out.kind == "fact" and out.id in wanted
        ),
    )


def _say_preview(found: Preview, language: str, *, ids: bool) -> str:
    """Who enters, leaves, moves, is reworded and stays out, in one line; that nothing changes where nothing does."""
    words, segments = PREVIEW[language], found.injection.segments
    if found.injection.reason == "off":
        return LEFT_OUT[language]["off"]
    labels = {name: label.lower() for name, label in SEGMENT_LABELS[language].items()}

    def name(one: Placed | Moved | Squeezed) -> str:
        return _name(one.id, one.text, words, ids=ids)

    parts = [
        *(words["enters"].format(name=name(one), segment=labels[one.segment]) for one in found.entering),
        *(words["leaves"].format(name=name(one)) for one in found.leaving),
        *(
            words["moves"].format(name=name(one), before=labels[one.before], after=labels[one.after])
            for one in found.moving
        ),
        *(words["reworded"].format(name=name(one), segment=labels[one.segment]) for one in found.reworded),
        *(
            words["stays out"].format(name=name(out), why=say_left_out(place, segments[place], out, language))
            for place, out in found.outside
        ),
    ]
    unchanged = found.injection.text == found.before.text
    return words["joint"].join(parts) if parts else words["same" if unchanged else "plates"]


def _name(identifier: str, text: str, words: Mapping[str, str], *, ids: bool) -> str:
    """An entry as the one line of a preview names it: its id and the beginning of its text, or the latter alone."""
    return words["name" if ids else "quoted"].format(id=identifier, text=cut(text, NAME_LIMIT))
