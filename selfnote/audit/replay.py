"""What a past turn was given: rebuilt from ledger, history and records, proven by its digest, held against the log.

The ledger names every entry and the sha256 of the text. Facts have a history; ids of notes and habits are hashes of
their wording. Persona and settings have none: with today's, and with the settings' defaults, the text is printed again,
and only an equal digest proves that they were those. Reading writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from selfnote.audit import schema
from selfnote.audit.report import Auditable
from selfnote.config import SEGMENTS, Config
from selfnote.errors import NotFound, SelfnoteError
from selfnote.injection.assemble import print_text, read_snapshot
from selfnote.injection.compose import parts_of
from selfnote.injection.segments import (
    Entry,
    PackedNotes,
    Segment,
    Squeezed,
    pack_persona,
    prepare,
    print_profile,
    with_labels,
)
from selfnote.phrases import PHRASES, REASON_LABELS, REPLAY, SEGMENT_LABELS, SEPARATOR
from selfnote.records.fact_history import PastFact, fact_at, is_whole
from selfnote.records.fact_lines import Fact
from selfnote.records.habits import Habit, habit_id
from selfnote.records.ledger import HitLine, SessionState, read_hits, read_sessions_injected
from selfnote.records.notes import Note, is_expired, parse_notes
from selfnote.records.persona import Persona
from selfnote.storage.fingerprints import digest
from selfnote.storage.jsonl import BadLine
from selfnote.storage.lines import read_text_file
from selfnote.storage.locks import WRITE_WAIT
from selfnote.text import safe, similarity
from selfnote.times import EPOCH, local_date, local_time, require_aware

if TYPE_CHECKING:
    import pandas as pd

    from selfnote.sessions.log import SessionLog
    from selfnote.sessions.model import LoggedPrompt

Status = Literal["equal", "differs", "cannot know"]
LogState = Literal["logged", "without our text", "no prompt", "no log", "unreadable"]

OVERRIDE = "profile:override"
#: The settings that print: what of them may have been otherwise then.
_PRINTED = ("language", "header", "pronoun", "timing_hint")
#: Causes between two texts of a session that leave persona, or settings, as they were (DESIGN "Causes").
_KEEPS = {
    "persona": frozenset({"config", "refill", "date", "rotation"}),
    "settings": frozenset({"refill", "date", "rotation"}),
}
_FRAMES = frozenset(one.frame for one in PHRASES.values())
_BOUNDARIES = frozenset(one.boundary for one in PHRASES.values())
#: An edit's time is read before it waits for its lock, a compose's before it reads the files.
_EDIT_MAY_BE_LATE = timedelta(seconds=WRITE_WAIT)
_COMPOSE_MAY_BE_LATE = timedelta(seconds=1)
_MILLISECOND = timedelta(milliseconds=1)
#: Rows of a list in the text and in HTML; the fields hold all.
_SHOWN = 12


# --- what a replay says -------------------------------------------------------------------------------
class Missing(NamedTuple):
    """Something of the text that stands nowhere, or may be another now: which segment, which entry, and why.

    ``segment`` is a segment's name or "settings"; ``kind`` a key of ``phrases.REPLAY``; ``values`` fill its sentence.
    """

    segment: str
    id: str | None
    kind: str
    values: Mapping[str, Any] = {}

    def sentence(self, language: str = "en") -> str:
        """It in words."""
        label = SEGMENT_LABELS[language].get(self.segment, self.segment)
        return REPLAY[language][self.kind].format(segment=label, id=self.id, **self.values)


class Out(NamedTuple):
    """An entry that was there and not in the text: what it needed, what was left (code points), and the reason.

    ``reason`` is the ledger's (a key of ``phrases.REASON_LABELS``), or core, absorbed, candidate, retired, expired,
    off (a habit), unaccounted (approved by its history, and nowhere in the ledger line). ``text`` is None when its
    wording then is not known.
    """

    segment: str
    kind: str
    id: str
    text: str | None
    needs: int | None
    left: int | None
    reason: str


class ReplayedEntry(NamedTuple):
    """An entry of the text in printing order; ``text`` is None when its wording then is not known."""

    kind: str
    id: str
    text: str | None


class ReplayedSegment(NamedTuple):
    """A segment as the ledger has it: code points used, its entries, and how many found no place.

    ``plate`` is what its doorplates count: the squeezed of persona, notes and env, and the core notes.
    """

    used: int
    entries: tuple[ReplayedEntry, ...]
    n_squeezed: int
    plate: tuple[int, int] = (0, 0)


class FirstDifference(NamedTuple):
    """Where two texts part: the offset in code points in the logged text, and the two lines there."""

    offset: int
    rebuilt: str
    logged: str


@dataclass(frozen=True, repr=False)
class Replayed:
    """The text of one past turn, as far as it can be rebuilt. Made by `rebuild` and `every`.

    ``status``: "equal" - the rebuilt text has the digest the ledger names, and so has the logged one where there is
    one; "differs" - ledger, records and log contradict each other, ``reason`` says which; "cannot know" - ``missing``
    says what stands nowhere. ``text`` is None unless the records give every word of it. ``settings`` are those that
    printed it and are set otherwise today. ``at``, ``turn`` are those of the ledger line in force; ``asked`` the turn
    asked for. Lengths and offsets are code points, times UTC.
    """

    session: str | None
    turn: Any
    at: datetime | None
    cause: str | None
    digest: str
    status: Status
    reason: str | None
    text: str | None
    logged: str | None
    log: LogState
    differs_at: FirstDifference | None
    missing: tuple[Missing, ...]
    segments: Mapping[str, ReplayedSegment]
    settings: tuple[str, ...]
    line: int
    language: str
    _records: _Records = field(compare=False)
    _ledger: HitLine = field(compare=False)
    asked: Any = None

    @cached_property
    def out(self) -> tuple[Out, ...]:
        """Every entry that was there and not in the text, those the ledger names first."""
        return _out(self._records, self._ledger)

    @property
    def logged_digest(self) -> str | None:
        """sha256 of the logged text."""
        return None if self.logged is None else digest(self.logged)

    @property
    def injected(self) -> str | None:
        """The text whose digest the ledger names, rebuilt or read in the log; None when neither gives it."""
        found = (one for one in (self.text, self.logged) if one is not None and digest(one) == self.digest)
        return next(found, None)

    def why(self, identifier: str) -> str:
        """Where an entry stood in this text, or why it was out, in a sentence."""
        words, labels = REPLAY[self.language], SEGMENT_LABELS[self.language]
        for name, segment in self.segments.items():
            if any(entry.id == identifier for entry in segment.entries):
                return words["in"].format(id=identifier, segment=labels[name])
        out = next((one for one in self.out if one.id == identifier), None)
        return words["not there"].format(id=identifier) if out is None else self._out_sentence(out)

    def explain(self) -> str:
        """The status in a sentence."""
        words = REPLAY[self.language]
        if self.status == "equal":
            return words["equal"] if self.logged is not None else words[f"equal, {self.log}"]
        if self.status == "differs":
            return words[f"differs, {self.reason}"]
        return words["cannot know"] if self.log == "logged" else words[f"cannot know, {self.log}"]

    def _lines(self) -> list[str]:
        """What is said above the list of entries that were out."""
        words = REPLAY[self.language]
        when = "?" if self.at is None else f"{local_time(self.at, self._records.snapshot.zone):%Y-%m-%d %H:%M:%S}"
        title = "title" if self.asked is None or self.asked == self.turn else "title, implied"
        cause = words[f"cause, {self.cause}"] if f"cause, {self.cause}" in words else str(self.cause)
        lines = [
            words[title].format(session=self.session, turn=self.turn, asked=self.asked, at=when, cause=cause),
            words["verdict"].format(status=words[f"{self.status}, short"], sentence=self.explain()),
        ]
        if self.differs_at is not None:
            lines += [
                words["differs at"].format(offset=self.differs_at.offset),
                f"  - {self.differs_at.rebuilt}",
                f"  + {self.differs_at.logged}",
            ]
        if self.settings:
            lines.append(words["settings then"].format(settings=", ".join(self.settings)))
        lines += [f"  ? {one.sentence(self.language)}" for one in self.missing]
        return lines

    def _out_sentence(self, one: Out) -> str:
        words = REPLAY[self.language]
        reason = REASON_LABELS[self.language].get(one.reason) or words[f"out, {one.reason}"]
        room = "" if one.needs is None else words["room"].format(needs=one.needs, left=one.left)
        return words["out"].format(
            segment=SEGMENT_LABELS[self.language].get(one.segment, one.segment), id=one.id, reason=reason, room=room
        )

    def _out_lines(self) -> list[str]:
        words = REPLAY[self.language]
        shown = [f"  {self._out_sentence(one)}  {one.text or words['unknown wording']}" for one in self.out[:_SHOWN]]
        more = len(self.out) - _SHOWN
        return [
            words["was out"].format(n=len(self.out)),
            *shown,
            *([words["more"].format(n=more)] if more > 0 else []),
        ]

    def __repr__(self) -> str:
        return f"<Replayed {self.session} turn {self.turn}: {self.status}>"

    def __str__(self) -> str:
        parts = [*self._lines(), *(self._out_lines() if self.out else [])]
        shown = self.text if self.text is not None else self.logged
        if shown is not None:
            parts += [REPLAY[self.language]["text" if self.text is not None else "logged text"], shown]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        words = REPLAY[self.language]
        parts = [f"<p>{escape(one)}</p>" for one in self._lines()]
        if self.out:
            listed = "".join(f"<li>{escape(one.strip())}</li>" for one in self._out_lines()[1:])
            parts.append(f"<p>{escape(words['was out'].format(n=len(self.out)))}</p><ul>{listed}</ul>")
        shown = self.text if self.text is not None else self.logged
        if shown is not None:
            head = words["text" if self.text is not None else "logged text"]
            parts.append(f"<p>{escape(head)}</p><pre>{escape(shown)}</pre>")
        return "".join(parts)


# --- what is known now --------------------------------------------------------------------------------
class _Records:
    """The records a text is rebuilt from, read once."""

    def __init__(self, memory: Auditable) -> None:
        self.home = memory.home
        self.snapshot = read_snapshot(memory.home, zone=memory.zone_override)
        self.config = self.snapshot.config
        self.persona: Persona = self.snapshot.persona_file.value
        self.packed_persona = pack_persona(self.persona, self.config.budgets()["persona"])
        self.facts: Mapping[str, Fact] = self.snapshot.facts_file.value.by_id
        self.habits: dict[str, Habit] = {one.id: one for one in self.snapshot.habits_file.value.habits}
        self.states: dict[str, SessionState] = read_sessions_injected(memory.home)[0]
        parts = parts_of(self.snapshot, None, EPOCH.date(), None)
        #: What is held against the parts of a session's last text.
        self.parts = {"persona": parts["persona"], "settings": parts["config"]}

    @cached_property
    def notes(self) -> dict[str, Note]:
        """Every note there is and was: notes.md first, then what the archive holds."""
        found: dict[str, Note] = {one.id: one for one in self.snapshot.notes_file.value.notes}
        for path in sorted(self.home.notes_archive.glob("????-??.md")):
            try:
                archived = parse_notes(read_text_file(path)).notes
            except (OSError, SelfnoteError):
                continue
            for note in archived:
                found.setdefault(note.id, note)
        return found

    def note(self, identifier: str) -> Note | None:
        """The note of an id; one that stood a second time says what the first says."""
        return self.notes.get(identifier) or self.notes.get(identifier.partition(".")[0])

    @cached_property
    def whole(self) -> frozenset[str]:
        """The facts whose history leads from the wording they were kept with to that of now."""
        return frozenset(one.id for one in self.facts.values() if is_whole(one))

    def past(self, identifier: str, instant: datetime | None) -> PastFact | None:
        """A fact as it was; as it is when the instant is not known."""
        fact = self.facts.get(identifier)
        if fact is None:
            return None
        return PastFact(fact) if instant is None else fact_at(fact, instant)

    @cached_property
    def variants(self) -> list[_Settings]:
        """Today's settings, then those with some of the printed ones at their default; each prints otherwise."""
        stored = self.config.model_dump(exclude_unset=True)
        found: dict[tuple[object, ...], _Settings] = {}
        for language, *dropped in product(("zh", "en"), *([(False, True)] * 3)):
            values = {**stored, "language": language}
            for name, drop in zip(_PRINTED[1:], dropped, strict=True):
                if drop:
                    values.pop(name, None)
            config = Config.model_validate(values)
            found.setdefault(_printed(config), _Settings(config, _changed(config, self.config)))
        return sorted(found.values(), key=lambda one: len(one.changed))


class _Settings(NamedTuple):
    """Settings a text may have been printed with, and which of them are others today."""

    config: Config
    changed: tuple[str, ...]


def _printed(config: Config) -> tuple[object, ...]:
    return (config.language, config.header_text, config.pronoun_text, config.timing_hint)


def _changed(then: Config, now: Config) -> tuple[str, ...]:
    """The settings stored otherwise, each with what it printed then."""

    def stored(config: Config, name: str) -> object:
        return getattr(config, name) if name == "language" or name in config.model_fields_set else None

    return tuple(
        f"{name}={printed!r}"
        for name, printed in zip(_PRINTED, _printed(then), strict=True)
        if stored(then, name) != stored(now, name)
    )


# --- one line, rebuilt --------------------------------------------------------------------------------
@dataclass
class _Pieces:
    """What the records say of one ledger line: the segments as they would be printed, and what they lack."""

    segments: dict[str, Segment]
    entries: dict[str, tuple[ReplayedEntry, ...]]
    notes: PackedNotes
    profile_text: str
    missing: list[Missing]
    #: What contradicts the ledger though the history is whole.
    contradictions: list[Missing]
    #: What would explain another digest: facts and habits whose records were changed past the library.
    doubts: list[Missing]

    @property
    def is_complete(self) -> bool:
        """Whether there is a wording for every entry."""
        return not self.missing


def _pieces(records: _Records, line: HitLine, instant: datetime | None) -> _Pieces:
    found = _Pieces({}, {}, PackedNotes(Segment(0), (), ()), "", [], [], [])
    found.segments["persona"] = _persona_segment(records, line, found)
    found.segments["notes"] = _segment(line, "notes", "note", found, _note_texts(records, line, found))
    found.segments["profile"] = _profile_segment(records, line, instant, found)
    for name in ("env", "conclusions"):
        texts = [_fact_text(records, name, one, instant, found) for one in line.ids.get(name, ())]
        found.segments[name] = _segment(line, name, "fact", found, texts)
    habits = [_habit_text(records, one, found) for one in line.ids.get("habits", ())]
    found.segments["habits"] = _segment(line, "habits", "habit", found, habits)
    core = tuple(records.note(one) or Note(one, "", "core") for one in line.mentioned.get("core", ()))
    found.notes = PackedNotes(found.segments["notes"], core, ())
    return found


def _squeezed(line: HitLine, name: str, kind: str) -> tuple[Squeezed, ...]:
    return tuple(Squeezed(kind, one, "", needs, left, why) for one, needs, left, why in line.squeezed.get(name, ()))


def _segment(line: HitLine, name: str, kind: str, found: _Pieces, texts: Sequence[str | None]) -> Segment:
    """A segment printed in the ledger's order; what it takes is held against what the ledger says it took."""
    identifiers = line.ids.get(name, [])
    found.entries[name] = tuple(ReplayedEntry(kind, *one) for one in zip(identifiers, texts, strict=True))
    known = tuple(Entry(kind, one, text) for one, text in zip(identifiers, texts, strict=True) if text is not None)
    printed = "" if name == "notes" else SEPARATOR
    used = len(printed.join(entry.text for entry in known))
    _hold_against_ledger(line, name, used, found)
    return Segment(0, used, known, _squeezed(line, name, kind))


def _hold_against_ledger(line: HitLine, name: str, used: int, found: _Pieces) -> None:
    told = line.chars.get(name, 0)
    if used == told or any(one.segment == name for one in (*found.missing, *found.doubts)):
        return
    found.contradictions.append(Missing(name, None, "chars", {"then": told, "now": used}))


def _persona_segment(records: _Records, line: HitLine, found: _Pieces) -> Segment:
    """The persona as it is today when it can be the one of then: the same lines, the same length."""
    identifiers = line.ids.get("persona", [])
    squeezed = _squeezed(line, "persona", "persona")
    packed, told = records.packed_persona, line.chars.get("persona", 0)
    if not identifiers and not squeezed:
        found.entries["persona"] = ()
        return Segment(0)
    today = ([one.id for one in packed.entries], [one.id for one in packed.squeezed], packed.used)
    if today == (identifiers, [one.id for one in squeezed], told):
        found.entries["persona"] = tuple(ReplayedEntry(*one) for one in packed.entries)
        return packed
    found.entries["persona"] = tuple(ReplayedEntry("persona", one, None) for one in identifiers)
    values = {"then": told, "lines": len(identifiers), "now": packed.used, "lines_now": len(packed.entries)}
    found.missing.append(Missing("persona", None, "persona changed", values))
    return Segment(0, told, (), squeezed)


def _note_texts(records: _Records, line: HitLine, found: _Pieces) -> list[str | None]:
    texts: list[str | None] = []
    for identifier in line.ids.get("notes", ()):
        note = records.note(identifier)
        texts.append(None if note is None else safe(note.text))
        if note is None:
            found.missing.append(Missing("notes", identifier, "note gone"))
    return texts


def _habit_text(records: _Records, identifier: str, found: _Pieces) -> str | None:
    habit = records.habits.get(identifier)
    if habit is None:
        found.missing.append(Missing("habits", identifier, "habit gone"))
        return None
    if identifier != habit_id(habit.tag, habit.text, habit.created_at):
        found.doubts.append(Missing("habits", identifier, "habit unsure"))
    return safe(habit.text)


def _fact_text(records: _Records, name: str, identifier: str, instant: datetime | None, found: _Pieces) -> str | None:
    past = records.past(identifier, instant)
    if past is None:
        kind = "fact later" if identifier in records.facts else "fact gone"
        found.missing.append(Missing(name, identifier, kind))
        return None
    if "text" in past.unknown:
        found.missing.append(Missing(name, identifier, "fact forgotten"))
        return None
    if identifier not in records.whole:
        found.doubts.append(Missing(name, identifier, "fact unsure"))
    return safe(past.fact.text)


def _profile_segment(records: _Records, line: HitLine, instant: datetime | None, found: _Pieces) -> Segment:
    identifiers = line.ids.get("profile", [])
    if OVERRIDE in identifiers:
        return _override_segment(records, line, found)
    texts = [_fact_text(records, "profile", one, instant, found) for one in identifiers]
    found.entries["profile"] = tuple(ReplayedEntry("fact", *one) for one in zip(identifiers, texts, strict=True))
    past = (records.past(one, instant) for one, text in zip(identifiers, texts, strict=True) if text is not None)
    facts = [prepare(one.fact, instant or EPOCH, records.config.half_life_days) for one in past if one is not None]
    found.profile_text = print_profile(with_labels(facts))
    _hold_against_ledger(line, "profile", len(found.profile_text), found)
    return Segment(0, len(found.profile_text), tuple(Entry("fact", one.id, one.text) for one in facts))


def _override_segment(records: _Records, line: HitLine, found: _Pieces) -> Segment:
    """The owner's own wording of the profile, a setting: today's when it can be that of then."""
    override = records.config.profile_override
    text = None if override is None else safe(override.text)
    if text is None or len(text) != line.chars.get("profile", 0):
        found.entries["profile"] = (ReplayedEntry("override", OVERRIDE, None),)
        values = {"then": line.chars.get("profile", 0), "now": 0 if text is None else len(text)}
        found.missing.append(Missing("profile", OVERRIDE, "override changed", values))
        return Segment(0)
    found.entries["profile"] = (ReplayedEntry("override", OVERRIDE, text),)
    found.profile_text = text
    return Segment(0, len(text), (Entry("override", OVERRIDE, text),))


class _Candidate(NamedTuple):
    """A text the records could have given then, and what it was printed with."""

    text: str
    settings: _Settings
    pointer: bool
    pieces: _Pieces


def _candidates(records: _Records, pieces: _Pieces) -> Iterator[_Candidate]:
    """The texts the records could have given, the likeliest first; none when a wording stands nowhere."""
    if not pieces.is_complete:
        return
    has_pointer = bool(records.persona.l2.strip()) and records.config.persona_enabled
    for settings, pointer in product(records.variants, (has_pointer, not has_pointer)):
        persona = Persona(l2="L2" if pointer else "")
        writer = print_text(settings.config, persona, pieces.notes, pieces.profile_text, pieces.segments)
        yield _Candidate(writer.text, settings, pointer, pieces)


def _instants(records: _Records, line: HitLine) -> list[datetime | None]:
    """When the files were read: the line's time, or just before or after an edit that was under way then."""
    at = line.at
    if at is None:
        return [None]
    printed = {one for name in ("profile", "env", "conclusions") for one in line.ids.get(name, ())}
    edits = {
        item.at
        for one in printed & records.facts.keys()
        for item in records.facts[one].history
        if item.field in {"text", "tags"} and item.at is not None
    }
    near = sorted(one for one in edits if at - _EDIT_MAY_BE_LATE < one <= at + _COMPOSE_MAY_BE_LATE)
    return [at, *(one - _MILLISECOND if one <= at else one for one in near)]


def _prove(records: _Records, line: HitLine) -> _Candidate | None:
    """The text of a line whose digest is the ledger's."""
    for instant in _instants(records, line):
        for one in _candidates(records, _pieces(records, line, instant)):
            if digest(one.text) == line.digest:
                return one
    return None


# --- what may be taken for sure -----------------------------------------------------------------------
def _vouched(records: _Records, lines: Sequence[HitLine], proven: Sequence[_Candidate | None]) -> list[frozenset[str]]:
    """For each line of a session: which of persona and settings are known to be today's, or those of a proven line.

    Known at a proven line; at the session's last text when its parts say so; and from there on over every change whose
    cause leaves them as they are.
    """
    sure: dict[str, set[int]] = {name: {place for place, one in enumerate(proven) if one} for name in _KEEPS}
    state = records.states.get(lines[-1].session or "")
    if state is not None and state.digest == lines[-1].digest:
        for name, part in (("persona", "persona"), ("settings", "config")):
            if state.parts.get(part) == records.parts[name]:
                sure[name].add(len(lines) - 1)
    for name, places in sure.items():
        for steps in (range(1, len(lines)), range(len(lines) - 1, 0, -1)):
            for place in steps:
                kept = lines[place].digest == lines[place - 1].digest or lines[place].cause in _KEEPS[name]
                if kept and places & {place, place - 1}:
                    places |= {place, place - 1}
    return [frozenset(name for name, places in sure.items() if place in places) for place in range(len(lines))]


# --- what the harness logged --------------------------------------------------------------------------
class _Logged(NamedTuple):
    """What the harness logged while a text was in force."""

    text: str | None
    state: LogState


def _read_log(log: SessionLog | None) -> list[LoggedPrompt] | LogState:
    """The prompts of a session's own; why there are none."""
    if log is None:
        return "no log"
    try:
        return [one for one in log.injections() if not one.seeded]
    except (OSError, SelfnoteError):
        return "unreadable"


def _logged(lines: Sequence[HitLine], place: int, prompts: list[LoggedPrompt] | LogState) -> _Logged:
    """What was logged from the first line of this text on to the next text; another text than the ledger's first."""
    if isinstance(prompts, str):
        return _Logged(None, prompts)
    first = last = place
    while first > 0 and lines[first - 1].digest == lines[place].digest:
        first -= 1
    while last + 1 < len(lines) and lines[last + 1].digest == lines[place].digest:
        last += 1
    start = lines[first].at
    end = lines[last + 1].at if last + 1 < len(lines) else None
    if start is None:
        return _Logged(None, "no prompt")
    held = [one for one in prompts if one.time is not None and start <= one.time and (end is None or one.time < end)]
    texts = [one.text for one in held if one.text is not None]
    if not texts:
        return _Logged(None, "without our text" if held else "no prompt")
    return _Logged(next((one for one in texts if digest(one) != lines[place].digest), texts[0]), "logged")


# --- the verdict --------------------------------------------------------------------------------------
class _Verdict(NamedTuple):
    """Status, reason, text, where it differs, what is missing."""

    status: Status
    reason: str | None = None
    text: str | None = None
    differs_at: FirstDifference | None = None
    missing: tuple[Missing, ...] = ()


def _judge(
    records: _Records, line: HitLine, proof: _Candidate | None, vouched: frozenset[str], logged: str | None
) -> _Verdict:
    """Digest in the ledger == digest of the rebuilt text == digest of the logged text, in this order."""
    agrees = logged is not None and digest(logged) == line.digest
    if proof is not None:
        if logged is None or agrees:
            return _Verdict("equal", text=proof.text)
        return _Verdict("differs", "log", proof.text, _first_difference(proof.text, logged))
    pieces = _pieces(records, line, line.at)
    candidates = list(_candidates(records, pieces))
    if logged is None:
        return _judge_without_log(line, pieces, candidates, vouched)
    same = next((one for one in candidates if one.text == logged), None)
    if same is not None:
        return _Verdict("differs", "ledger", same.text)
    borrowed = _candidates(records, _with_persona_of(pieces, line, logged))
    best = min(borrowed, key=lambda one: _unlike_lines(one.text, logged), default=None)
    return _judge_by_log(records, pieces, best, vouched, logged, agrees=agrees)


def _with_persona_of(pieces: _Pieces, line: HitLine, logged: str) -> _Pieces:
    """The pieces with the persona lines of the logged text, so that the rest of it can be held against it."""
    entries = pieces.entries["persona"]
    texts = zip(entries, _split(logged, len(entries)).persona, strict=False)
    persona = Segment(
        0, 0, tuple(Entry("persona", one.id, text) for one, text in texts), _squeezed(line, "persona", "")
    )
    missing = [one for one in pieces.missing if one.segment != "persona"]
    return replace(pieces, segments={**pieces.segments, "persona": persona}, missing=missing)


def _judge_without_log(
    line: HitLine, pieces: _Pieces, candidates: list[_Candidate], vouched: frozenset[str]
) -> _Verdict:
    missing = (*pieces.missing, *_unsure(line, pieces, vouched))
    if pieces.contradictions:
        return _Verdict("differs", "chars", missing=(*pieces.contradictions, *missing))
    if missing or not candidates:
        return _Verdict("cannot know", missing=missing)
    return _Verdict("differs", "digest", candidates[0].text)


def _unsure(line: HitLine, pieces: _Pieces, vouched: frozenset[str]) -> list[Missing]:
    """What may have been otherwise without any record of it."""
    found = list(pieces.doubts)
    if line.at is None:
        found.append(Missing("settings", None, "no time"))
    if "persona" not in vouched and not any(one.segment == "persona" for one in pieces.missing):
        found.append(Missing("persona", None, "persona unsure"))
    if "settings" not in vouched:
        found.append(Missing("settings", None, "settings unsure"))
    return found


def _judge_by_log(
    records: _Records,
    pieces: _Pieces,
    best: _Candidate | None,
    vouched: frozenset[str],
    logged: str,
    *,
    agrees: bool,
) -> _Verdict:
    """Hold what the records do give against the logged text; what they cannot give is told by the log line by line."""
    reason = "records" if agrees else "log or ledger"
    missing = [*pieces.missing, *_worded_otherwise(records, pieces, best, logged)]
    text = best.text if best is not None and not missing else None
    if wrong := _not_in(pieces, logged):
        told = [one for one in pieces.doubts if one.segment in {name for name, _ in wrong}]
        return _Verdict("differs", reason, text, _locate(wrong[0][1], best, logged), (*missing, *told))
    if best is not None and (where := _tail_difference(pieces, best, logged)):
        return _Verdict("differs", reason, text, where, tuple(missing))
    if agrees and missing and not any(one.segment in vouched for one in missing):
        return _Verdict("cannot know", missing=tuple(missing))
    where = None if text is None else _first_difference(text, logged)
    return _Verdict("differs", reason, text, where, tuple(missing))


def _not_in(pieces: _Pieces, logged: str) -> list[tuple[str, str]]:
    """(segment, wording) of what the records give and the logged text does not hold, in printing order."""
    lines = logged.split("\n")
    found: list[tuple[str, str]] = []
    for name in SEGMENTS[1:]:
        texts = [one.text for one in pieces.entries[name] if one.text is not None]
        if name == "notes":
            found += [(name, text) for text in texts if text not in lines]
            continue
        if len(texts) == len(pieces.entries[name]):
            texts = [pieces.profile_text if name == "profile" else SEPARATOR.join(texts)] if texts else []
        found += [(name, text) for text in texts if not any(text in one for one in lines)]
    return found


class _Split(NamedTuple):
    """The lines of a text: the persona's, those around them that settings print, and those below the boundary."""

    persona: list[str]
    around: list[str]
    below: list[str]


def _split(text: str, persona_lines: int) -> _Split:
    lines = text.split("\n")
    boundary = next((place for place, one in enumerate(lines) if one in _BOUNDARIES), len(lines))
    frame = next((place for place, one in enumerate(lines[:boundary]) if one in _FRAMES), boundary)
    end = min(frame + 1 + persona_lines, boundary)
    return _Split(lines[frame + 1 : end], [*lines[: frame + 1], *lines[end : boundary + 1]], lines[boundary + 1 :])


def persona_block(text: str, persona_lines: int) -> list[str]:
    """The lines of a text that the persona printed, when it printed so many."""
    return _split(text, persona_lines).persona


def _worded_otherwise(records: _Records, pieces: _Pieces, best: _Candidate | None, logged: str) -> list[Missing]:
    """Persona lines and printed settings of today that are not those of the logged text."""
    entries = pieces.entries["persona"]
    theirs = _split(logged, len(entries))
    today = {one.id: one.text for one in records.packed_persona.entries}
    found = [
        Missing("persona", entry.id, "persona line")
        for place, entry in enumerate(entries)
        if theirs.persona[place : place + 1] != [today.get(entry.id)]
    ]
    if best is not None and _split(best.text, len(entries)).around != theirs.around:
        found.append(Missing("settings", None, "settings changed"))
    return found


def _tail_difference(pieces: _Pieces, best: _Candidate, logged: str) -> FirstDifference | None:
    """Where the lines below the boundary part though every wording is there; the pronoun may be another one."""
    ours, theirs = (_split(one, len(pieces.entries["persona"])).below for one in (best.text, logged))
    start = len(logged) - sum(len(one) + 1 for one in theirs) + 1
    for place in range(max(len(ours), len(theirs))):
        one, other = "".join(ours[place : place + 1]), "".join(theirs[place : place + 1])
        profile = pieces.profile_text and one.endswith(pieces.profile_text) and other.endswith(pieces.profile_text)
        if one != other and not profile:
            return FirstDifference(start + shared_prefix(one, other), one, other)
        start += len(other) + 1
    return None


def _unlike_lines(one: str, other: str) -> int:
    return len(set(one.split("\n")) ^ set(other.split("\n")))


def shared_prefix(one: str, other: str) -> int:
    """How many code points two texts have in common from their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (mine, yours) in pairs if mine != yours), min(len(one), len(other)))


def _first_difference(rebuilt: str, logged: str) -> FirstDifference:
    offset = shared_prefix(rebuilt, logged)
    return FirstDifference(offset, _line_at(rebuilt, offset), _line_at(logged, offset))


def _line_at(text: str, offset: int) -> str:
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    return text[start : end if end >= 0 else len(text)]


def _locate(piece: str, best: _Candidate | None, logged: str) -> FirstDifference:
    """Where in the logged text a wording should stand: the line most like its own."""
    ours = piece if best is None else next((one for one in best.text.split("\n") if piece in one), piece)
    lines = logged.split("\n")
    place = max(range(len(lines)), key=lambda number: similarity(ours, lines[number]))
    start = sum(len(one) + 1 for one in lines[:place])
    return FirstDifference(start + shared_prefix(ours, lines[place]), ours, lines[place])


# --- who was out --------------------------------------------------------------------------------------
_KINDS = {"persona": "persona", "notes": "note", "habits": "habit"}


def _out(records: _Records, line: HitLine) -> tuple[Out, ...]:
    """Every entry that was there and not in the text, those the ledger names first."""
    found = [
        Out(name, kind, one, _wording(records, kind, one, line.at), needs, left, reason)
        for name in dict.fromkeys([*SEGMENTS, *line.squeezed])
        for one, needs, left, reason in line.squeezed.get(name, ())
        for kind in (_KINDS.get(name, "fact"),)
    ]
    found += [
        Out("notes", "note", one, _wording(records, "note", one, line.at), None, None, "core")
        for one in line.mentioned.get("core", ())
    ]
    found += [
        Out("profile", "fact", one, _wording(records, "fact", one, line.at), None, None, "absorbed")
        for one in line.absorbed
    ]
    if line.at is None:
        return tuple(found)
    named = {one.id for one in found} | {one for ids in line.ids.values() for one in ids}
    return (*found, *(one for one in _not_competing(records, line.at) if one.id not in named))


def _not_competing(records: _Records, at: datetime) -> Iterator[Out]:
    """What was kept then and could not enter: facts that waited or were retired, expired notes, habits that are off."""
    for fact in records.facts.values():
        past = fact_at(fact, at)
        if past is not None:
            status = past.fact.status
            segment = "env" if past.fact.channel == "env" else "conclusions"
            text = None if "text" in past.unknown else safe(past.fact.text)
            yield Out(segment, "fact", fact.id, text, None, None, "unaccounted" if status == "approved" else status)
    today = local_date(at, records.snapshot.zone)
    for note in records.snapshot.notes_file.value.notes:
        if is_expired(note, today, records.config.temp_ttl_days):
            yield Out("notes", "note", note.id, safe(note.text), None, None, "expired")
    for habit in records.habits.values():
        if habit.created(records.snapshot.zone) <= at:
            yield Out("habits", "habit", habit.id, safe(habit.text), None, None, "off")


def _wording(records: _Records, kind: str, identifier: str, at: datetime | None) -> str | None:
    match kind:
        case "fact":
            past = records.past(identifier, at)
            return None if past is None or "text" in past.unknown else safe(past.fact.text)
        case "note":
            note = records.note(identifier)
            return None if note is None else safe(note.text)
        case "habit":
            habit = records.habits.get(identifier)
            return None if habit is None else safe(habit.text)
        case _:
            return None


# --- a session, line by line --------------------------------------------------------------------------
def _sure_entries(pieces: _Pieces, vouched: frozenset[str]) -> dict[str, tuple[ReplayedEntry, ...]]:
    """The entries of a text that is not proven, without the wordings that may be another one's."""
    unsure = {one.id for one in pieces.doubts}

    def is_sure(name: str, entry: ReplayedEntry) -> bool:
        if entry.id == OVERRIDE:
            return "settings" in vouched
        return entry.id not in unsure and (name != "persona" or "persona" in vouched)

    return {
        name: tuple(one if is_sure(name, one) else one._replace(text=None) for one in entries)
        for name, entries in pieces.entries.items()
    }


def _segment_of(line: HitLine, name: str, entries: tuple[ReplayedEntry, ...]) -> ReplayedSegment:
    squeezed = len(line.squeezed.get(name, ()))
    core = len(line.mentioned.get("core", ())) if name == "notes" else 0
    has_plate = name in {"persona", "notes", "env"}
    return ReplayedSegment(line.chars.get(name, 0), entries, squeezed, (squeezed if has_plate else 0, core))


def _as_text(line: HitLine) -> HitLine:
    """A ledger line whose names are texts; another program may have written numbers."""
    return replace(
        line,
        session=None if line.session is None else str(line.session),
        cause=None if line.cause is None else str(line.cause),
        ids={name: [str(one) for one in ids] for name, ids in line.ids.items()},
        mentioned={name: [str(one) for one in ids] for name, ids in line.mentioned.items()},
        absorbed=tuple(map(str, line.absorbed)),
    )


class Replayer:
    """The ledger of one memory, session by session, and the records it is replayed from."""

    def __init__(self, memory: Auditable) -> None:
        self._memory = memory
        self.records = _Records(memory)
        lines, self.bad_lines = read_hits(memory.home)
        self.lines = [_as_text(line) for line in lines]
        self._proven: dict[str, _Candidate] = {}

    @cached_property
    def sessions(self) -> dict[str | None, list[HitLine]]:
        """Session -> its lines in the order they were written."""
        found: dict[str | None, list[HitLine]] = {}
        for line in self.lines:
            found.setdefault(line.session, []).append(line)
        return found

    @cached_property
    def _listed(self) -> dict[str, Any]:
        return {one.id: one for one in self._memory.sessions.list()}

    def log(self, session: str | None) -> SessionLog | None:
        """The log of a session, where there is one."""
        info = self._listed.get(session or "")
        if info is None:
            return None
        try:
            return self._memory.sessions.read(info)
        except NotFound:
            return None

    def find(self, session: str | None) -> str | None:
        """The session of the ledger with this id, or this unique beginning of one. Raises NotFound."""
        if session in self.sessions:
            return session
        names = [one for one in self.sessions if one is not None and session and one.startswith(session)]
        if len(names) == 1:
            return names[0]
        if names:
            raise NotFound(f"session {session!r} could be any of {', '.join(names[:10])}; give more of the id")
        raise NotFound(
            f"the ledger has no line of session {session!r} ({len(self.sessions)} sessions in {self._memory.home.hits} "
            "and its archive): it got no text, or the ledger was lost"
        )

    def _prove(self, line: HitLine) -> _Candidate | None:
        # An equal digest is an equal text, in whichever session it was proven.
        if line.digest not in self._proven and (found := _prove(self.records, line)) is not None:
            self._proven[line.digest] = found
        return self._proven.get(line.digest)

    def replay(self, session: str | None) -> list[Replayed]:
        """Every line of one session."""
        lines = self.sessions[session]
        proven = [self._prove(line) for line in lines]
        vouched = _vouched(self.records, lines, proven)
        prompts = _read_log(self.log(session))
        return [
            self._make(line, proof, sure, _logged(lines, place, prompts))
            for place, (line, proof, sure) in enumerate(zip(lines, proven, vouched, strict=True))
        ]

    def each(self, session: str | None = None, *, progress: bool = False) -> Iterator[list[Replayed]]:
        """Every line of a session, replayed, session by session; None: all of them. Raises NotFound."""
        names: Iterable[str | None] = list(self.sessions) if session is None else [self.find(session)]
        if progress:
            from tqdm import tqdm

            names = tqdm(names, unit="session")
        for name in names:
            yield self.replay(name)

    def _make(self, line: HitLine, proof: _Candidate | None, vouched: frozenset[str], logged: _Logged) -> Replayed:
        records = self.records
        verdict = _judge(records, line, proof, vouched, logged.text)
        entries = proof.pieces.entries if proof is not None else _sure_entries(_pieces(records, line, line.at), vouched)
        return Replayed(
            session=line.session,
            turn=line.turn,
            at=line.at,
            cause=line.cause,
            digest=line.digest,
            status=verdict.status,
            reason=verdict.reason,
            text=verdict.text,
            logged=logged.text,
            log=logged.state,
            differs_at=verdict.differs_at,
            missing=verdict.missing,
            segments={name: _segment_of(line, name, entries[name]) for name in SEGMENTS},
            settings=proof.settings.changed if proof is not None else (),
            line=line.line,
            language=records.config.language,
            _records=records,
            _ledger=line,
        )


# --- what an owner calls ------------------------------------------------------------------------------
def rebuild(memory: Auditable, session: str | None, *, turn: Any = None, at: datetime | None = None) -> Replayed:
    """The text a session had in a turn or at an instant, rebuilt and held against the log; writes nothing.

    Parameters
    ----------
    session
        An id, or the unique beginning of one; None: calls that named no session.
    turn
        The turn; a turn without a ledger line had the text of the one before.
    at
        The instant, UTC-aware. Neither ``turn`` nor ``at``: the session's last text.

    Raises
    ------
    NotFound
        When the ledger has no such session, or nothing as early as that; when the log has no such turn.
    """
    replayer = Replayer(memory)
    name = replayer.find(session)
    lines = replayer.sessions[name]
    place = _place(lines, turn, None if at is None else require_aware(at))
    if place is None:
        asked = f"turn {turn!r}" if turn is not None else str(at)
        first = lines[0]
        raise NotFound(f"session {name} has no text as early as {asked}: its first is of turn {first.turn}, {first.at}")
    if turn is not None and turn != lines[place].turn:
        _require_turn(replayer.log(name), turn)
    found = replayer.replay(name)[place]
    return replace(found, asked=turn)


def _place(lines: Sequence[HitLine], turn: Any, at: datetime | None) -> int | None:
    """The line in force."""
    if turn is None and at is None:
        return len(lines) - 1
    reached = [
        place
        for place, line in enumerate(lines)
        if (turn is None or _is_reached(line.turn, turn)) and (at is None or (line.at is not None and line.at <= at))
    ]
    return reached[-1] if reached else None


def _is_reached(line: Any, turn: Any) -> bool:
    """Whether a line of one turn stands before, or in, another; names that are no numbers have no order."""
    numbers = isinstance(line, int | float) and isinstance(turn, int | float)
    return bool(line <= turn) if numbers else bool(line == turn)


def _require_turn(log: SessionLog | None, turn: Any) -> None:
    if log is None:
        return
    turns = [event.data.get("turn") for event in log.events() if event.type == "turn/start" and event.data]
    if turns and turn not in turns:
        raise NotFound(f"session {log.id} has no turn {turn!r} in its log; its turns are {turns[0]} to {turns[-1]}")


def every(memory: Auditable, *, session: str | None = None, progress: bool = False) -> Iterator[Replayed]:
    """Every ledger line replayed, session by session; ``session`` as in `rebuild`, None: all. Raises NotFound."""
    for replayed in Replayer(memory).each(session, progress=progress):
        yield from replayed


def all(  # noqa: A001 - replay.all(m) is the name an owner reads
    memory: Auditable, *, session: str | None = None, progress: bool = False
) -> pd.DataFrame:
    """One row a change of a session's text, replayed: frame "replay". Unreadable ledger lines have a flag only.

    Raises
    ------
    NotFound
        When ``session`` is given and the ledger has none of that id.
    """
    replayer = Replayer(memory)
    rows: list[dict[str, Any]] = []
    for replayed in replayer.each(session, progress=progress):
        # A line that only counted is no change.
        rows += [
            _row(one) for place, one in enumerate(replayed) if place == 0 or one.digest != replayed[place - 1].digest
        ]
    return schema.from_rows("replay", [*rows, *bad_rows(replayer.bad_lines)])


def bad_rows(lines: Iterable[BadLine]) -> list[dict[str, Any]]:
    """Unreadable ledger lines as rows."""
    return [{"line": one.line, "flag": str(one)} for one in lines]


def _row(one: Replayed) -> dict[str, Any]:
    return {
        "session": one.session,
        "turn": None if one.turn is None else str(one.turn),
        "at": schema.microseconds(one.at),
        "cause": one.cause,
        "digest": one.digest,
        "rebuilt_digest": None if one.text is None else digest(one.text),
        "logged_digest": one.logged_digest,
        "log": one.log,
        "status": one.status,
        "reason": one.reason,
        "differs_at": None if one.differs_at is None else one.differs_at.offset,
        "missing": tuple(part.segment if part.id is None else f"{part.segment} {part.id}" for part in one.missing),
        "why": " ".join([one.explain(), *(part.sentence(one.language) for part in one.missing)]),
        "settings": one.settings,
        "n_squeezed": sum(part.n_squeezed for part in one.segments.values()),
        "line": one.line,
        "flag": None if one.at is not None else "at cannot be read",
    }
