"""From files to the injected text: pure, writes nothing, counts nothing (S2-095, S2-198..227)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar

from selfnote.config import SEGMENTS, TOTAL_BUDGET, Config, parse_config
from selfnote.errors import SelfnoteError
from selfnote.home import MemoryHome
from selfnote.injection.budget import require_budgets
from selfnote.injection.rotation import (
    Approved,
    Candidates,
    Choice,
    basis_of,
    choose,
    read_choice,
    sort_candidates,
)
from selfnote.injection.segments import (
    Entry,
    PackedNotes,
    Prepared,
    Segment,
    arrange_profile,
    choose_profile,
    choose_whole,
    fill_facts,
    pack_habits,
    pack_notes,
    pack_persona,
    print_profile,
)
from selfnote.phrases import SEPARATOR
from selfnote.records.fact_lines import Fact, FactFile, parse_facts
from selfnote.records.habits import Habit, HabitFile, active_habits, parse_habits
from selfnote.records.notes import NoteFile, parse_notes
from selfnote.records.persona import Persona, parse_persona
from selfnote.storage.fingerprints import Fingerprint, digest, fingerprint
from selfnote.storage.jsonl import BadLine
from selfnote.storage.lines import TextFile, read_text_file
from selfnote.text import is_printable, safe
from selfnote.times import clock, find_zone, local_date, require_aware

log = logging.getLogger(__name__)

Parsed = TypeVar("Parsed")


# --- what was read --------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Read(Generic[Parsed]):
    """One file as parsed, the fingerprint it was read under, and what kept it from being read."""

    value: Parsed
    fingerprint: Fingerprint
    problem: str | None = None


@dataclass(frozen=True)
class Snapshot:
    """Everything the injected text depends on, as it was on disk at one moment.

    A file that cannot be read counts as empty and stands in ``problems``: the others still speak (S2-014).
    """

    config_file: Read[tuple[Config, tuple[str, ...]]]
    persona_file: Read[Persona]
    notes_file: Read[NoteFile]
    facts_file: Read[FactFile]
    habits_file: Read[HabitFile]
    rotation_file: Read[Choice | None]
    zone: tzinfo | None = None
    zone_override: tzinfo | None = None
    earlier: Approved | None = None

    @property
    def config(self) -> Config:
        """The settings."""
        return self.config_file.value[0]

    @cached_property
    def approved(self) -> tuple[Fact, ...]:
        """The approved facts in file order."""
        return tuple(fact for fact in self.facts_file.value.facts if fact.status == "approved")

    @cached_property
    def competing(self) -> Approved:
        """The approved facts with what is worked out about them once."""
        return Approved(self.approved, self.earlier)

    @cached_property
    def habits(self) -> list[Habit]:
        """The habits that may be injected."""
        return active_habits(self.habits_file.value.habits, (fact.id for fact in self.approved), self.zone)

    @property
    def fingerprints(self) -> tuple[Fingerprint, ...]:
        """The fingerprints of the six files, in the order of ``snapshot_paths``."""
        return tuple(one.fingerprint for one in self._files)

    @property
    def _files(self) -> tuple[Read[object], ...]:
        return (
            self.config_file,  # type: ignore[return-value] # read-only use of an invariant generic
            self.persona_file,
            self.notes_file,
            self.facts_file,
            self.habits_file,
            self.rotation_file,
        )

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each file or setting that could not be used."""
        return (*(one.problem for one in self._files if one.problem), *self.config_file.value[1])

    @property
    def bad_lines(self) -> tuple[BadLine, ...]:
        """Every line that is kept but not understood, in all files."""
        return (
            *self.persona_file.value.problems,
            *self.notes_file.value.other_lines,
            *self.facts_file.value.bad_lines,
            *self.habits_file.value.bad_lines,
        )


def snapshot_paths(home: MemoryHome) -> tuple[Path, ...]:
    """The files the injected text is computed from, the cache's key (DESIGN "Cache")."""
    return (home.config, home.persona, home.notes, home.facts, home.habits, home.rotation)


def read_snapshot(home: MemoryHome, *, zone: tzinfo | None = None, previous: Snapshot | None = None) -> Snapshot:
    """Read the six files; one that is as ``previous`` read it is not read again.

    ``zone`` overrides the configured time zone of the owner.
    """
    config_file = _read(
        home.config, lambda file: parse_config(file.text), (Config(), ()), previous.config_file if previous else None
    )
    config, _ = config_file.value
    wanted = zone if zone is not None else find_zone(config.tz)
    same_zone = previous is not None and previous.zone == wanted
    if previous is not None and previous.rotation_file.fingerprint == fingerprint(home.rotation):
        rotation_file = previous.rotation_file
    else:
        rotation_file = Read(*read_choice(home))
    return Snapshot(
        config_file,
        _read(home.persona, parse_persona, Persona(), previous.persona_file if previous else None),
        _read(
            home.notes, parse_notes, NoteFile((), (), _no_file(home.notes)), previous.notes_file if previous else None
        ),
        _read(
            home.facts,
            lambda file: parse_facts(file, wanted, known=previous.facts_file.value if previous and same_zone else None),
            FactFile((), (), _no_file(home.facts)),
            previous.facts_file if previous is not None and same_zone else None,
        ),
        _read(
            home.habits,
            parse_habits,
            HabitFile((), (), {}),
            previous.habits_file if previous else None,
        ),
        rotation_file,
        wanted,
        zone,
        previous.competing if previous is not None and same_zone else None,
    )


def _read(
    path: Path, parse: Callable[[TextFile], Parsed], empty: Parsed, previous: Read[Parsed] | None
) -> Read[Parsed]:
    if previous is not None and previous.problem is None and previous.fingerprint == fingerprint(path):
        return previous
    try:
        file = read_text_file(path)
        return Read(parse(file), file.fingerprint)
    except (OSError, SelfnoteError, RecursionError) as error:
        return Read(empty, fingerprint(path), f"{path} cannot be read: {error}")


def _no_file(path: Path) -> TextFile:
    return TextFile(path, bom=False, lines=(), newline=b"\n", fingerprint=None)


# --- what comes out -------------------------------------------------------------------------------
Reason = Literal["off", "delegated", "empty"]


@dataclass(frozen=True)
class Injection:
    """The injected text and its bill. All lengths are code points.

    ``text`` is "" with ``reason`` "off", "delegated" or "empty". ``segments`` maps persona, notes, profile, env,
    conclusions and habits to their Segment. ``total_chars`` is the sum of what they use; ``len(text) == total_chars +
    framing_chars + hint_chars``. ``absorbed`` are the facts behind a profile override; ``core_notes`` and
    ``expired_notes`` are ids neither in nor squeezed; ``flags`` says what of the input could not be used.
    """

    text: str
    reason: Reason | None
    segments: Mapping[str, Segment]
    framing_chars: int = 0
    hint_chars: int = 0
    absorbed: tuple[str, ...] = ()
    core_notes: tuple[str, ...] = ()
    expired_notes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    choice: Choice | None = field(default=None, repr=False)

    @cached_property
    def digest(self) -> str:
        """sha256 of the UTF-8 text (DESIGN "Ids")."""
        return digest(self.text)

    @property
    def total_chars(self) -> int:
        """What the six segments use together, at most 1000."""
        return sum(segment.used for segment in self.segments.values())

    @property
    def ids(self) -> dict[str, list[str]]:
        """Segment -> ids of its entries, segments without any left out."""
        return {name: [entry.id for entry in one.entries] for name, one in self.segments.items() if one.entries}

    @property
    def mentioned(self) -> dict[str, list[str]]:
        """Segment -> ids that only a doorplate counts: mentioned, not injected (A-35)."""
        named = {
            name: [one.id for one in self.segments[name].squeezed]
            for name in ("persona", "notes", "env")
            if self.segments[name].squeezed
        }
        return {**named, **({"core": list(self.core_notes)} if self.core_notes else {})}


Segments = Mapping[str, Segment]


class Writer:
    """Lines of the text, with a tally of what is framing and what is the hint's."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.framing = 0
        self.hint = 0

    def write(self, line: str, *, framing: int, hint: int = 0) -> None:
        """Add a line; so many of its code points, and the newline before it, are framing."""
        self.framing += framing + (1 if self.lines else 0)
        self.hint += hint
        self.lines.append(line)

    def write_frame(self, line: str) -> None:
        """Add a line that is framing as a whole."""
        self.write(line, framing=len(line))

    @property
    def text(self) -> str:
        """The lines."""
        return "\n".join(self.lines)


# --- the pure composer ----------------------------------------------------------------------------
def assemble(
    snapshot: Snapshot,
    now: datetime,
    *,
    budgets: Mapping[str, int] | None = None,
    config: Config | None = None,
    choice: Choice | None = None,
    refill: Sequence[str] = (),
) -> Injection:
    """The text of this instant from what was read; writes nothing (S2-095).

    ``choice`` is used when its basis matches, else facts are chosen afresh. ``budgets`` and ``config`` replace the
    stored ones.

    Raises
    ------
    LimitExceeded
        When ``budgets`` lacks a segment or holds no whole number.
    """
    now = require_aware(now)
    settings = config if config is not None else snapshot.config
    limits = require_budgets(budgets) if budgets is not None else settings.budgets()
    if not settings.injection_enabled:
        return Injection("", "off", {name: Segment(limits[name]) for name in SEGMENTS}, flags=snapshot.problems)

    room = TOTAL_BUDGET
    persona = snapshot.persona_file.value if settings.persona_enabled else Persona()
    persona_segment = pack_persona(persona, min(limits["persona"], room))
    room -= persona_segment.used
    today = local_date(now, snapshot.zone if config is None else snapshot.zone_override or find_zone(settings.tz))
    notes = pack_notes(snapshot.notes_file.value.notes, today, settings.temp_ttl_days, min(limits["notes"], room))
    room -= notes.segment.used

    candidates = sort_candidates(snapshot.competing, settings, limits, now)
    basis = basis_of_snapshot(snapshot, settings, limits)
    kept = choice is not None and choice.basis == basis
    if choice is None or not kept:
        choice = choose(candidates, limits, basis=basis, since=None, room=room, refill=tuple(refill))
    packed = _pack_facts(candidates, choice, limits, room, tuple(refill) if kept else ())
    facts = packed.segments
    room -= sum(segment.used for segment in facts.values())
    habits = pack_habits(snapshot.habits, limits["habits"], room)

    segments = {"persona": persona_segment, "notes": notes.segment, **facts, "habits": habits}
    segments = {name: segments[name]._replace(budget=limits[name]) for name in SEGMENTS}
    writer = print_text(settings, persona, notes, packed.profile_text, segments)
    return Injection(
        writer.text,
        None if writer.lines else "empty",
        segments,
        writer.framing,
        writer.hint,
        tuple(fact.id for fact in candidates.absorbed),
        tuple(note.id for note in notes.core),
        tuple(note.id for note in notes.expired),
        _flags(snapshot, candidates),
        choice,
    )


def basis_of_snapshot(snapshot: Snapshot, config: Config, budgets: Mapping[str, int]) -> str:
    """The basis a choice for this snapshot would carry."""
    return basis_of(snapshot.competing.part, config, budgets)


class _PackedFacts(NamedTuple):
    """The three segments of facts, and the profile as it is printed."""

    segments: dict[str, Segment]
    profile_text: str


def _pack_facts(
    candidates: Candidates, choice: Choice, limits: Mapping[str, int], room: int, refill: tuple[str, ...]
) -> _PackedFacts:
    """Pack what was chosen; every approved fact ends up in exactly one place.

    A kept choice is packed like any other: one that another program or a larger persona made too long gives up its
    last entries instead of breaking the budget.
    """
    rel = {fact.id: fact for fact in candidates.rel if fact.printable}
    env = {fact.id: fact for fact in candidates.env if fact.printable}
    override = candidates.override
    if override is not None and override.text is not None:
        profile: list[Prepared] = []
        profile_text, used = override.text, len(override.text)
        entries: tuple[Entry, ...] = (Entry("override", "profile:override", override.text),)
    else:
        profile, used = choose_profile(_take(choice.profile, rel), min(limits["profile"], room))
        arranged = arrange_profile(profile)
        profile_text = print_profile(arranged)
        entries = tuple(Entry("fact", fact.id, fact.text) for _, fact in arranged)
    room -= used
    wanted = _take(choice.env, env)
    if refill:
        # Refill first, then what was chosen, then whoever is hot into what is left (DESIGN "Env").
        wanted = [*_take(refill, env), *wanted, *env.values()]
    chosen_env, _ = choose_whole({fact.id: fact for fact in wanted}.values(), min(limits["env"], room))
    in_env, in_profile = {fact.id for fact in chosen_env}, {fact.id for fact in profile}
    env_segment = fill_facts(
        chosen_env,
        (fact for fact in candidates.env if fact.id not in in_env),
        candidates.env_conflicting,
        limits["env"],
        room,
        has_due_share=True,
    )
    room -= env_segment.used
    rest = [fact for fact in _take(choice.conclusions, rel) if fact.id not in in_profile]
    conclusions, _ = choose_whole(rest, min(limits["conclusions"], room))
    placed = in_profile | {fact.id for fact in conclusions}
    conclusions_segment = fill_facts(
        conclusions,
        (fact for fact in candidates.rel if fact.id not in placed),
        candidates.rel_conflicting,
        limits["conclusions"],
        room,
    )
    return _PackedFacts(
        {
            "profile": Segment(limits["profile"], used, entries),
            "env": env_segment,
            "conclusions": conclusions_segment,
        },
        profile_text,
    )


def _take(identifiers: Sequence[str], known: Mapping[str, Prepared]) -> list[Prepared]:
    return [known[one] for one in dict.fromkeys(identifiers) if one in known]


def print_text(config: Config, persona: Persona, notes: PackedNotes, profile_text: str, segments: Segments) -> Writer:
    """The lines of the text (DESIGN "The injected text"); no lines when nothing but the header would remain."""
    writer = Writer()
    if is_printable(header := safe(config.header_text)):
        writer.write_frame(header)
    nothing = len(writer.lines)
    _print_persona(writer, config, persona, segments["persona"])
    below = Writer()
    _print_notes(below, config, notes)
    if segments["profile"].entries:
        name = config.phrases.profile_name.format(pronoun=safe(config.pronoun_text))
        below.write(name + profile_text, framing=len(name))
    _print_env(below, config, segments["env"])
    for inline in ("conclusions", "habits"):
        if entries := segments[inline].entries:
            below.write(SEPARATOR.join(entry.text for entry in entries), framing=0)
    if below.lines:
        writer.write_frame(config.phrases.boundary)
        writer.write(below.text, framing=below.framing)
    return writer if len(writer.lines) > nothing else Writer()


def _print_persona(writer: Writer, config: Config, persona: Persona, segment: Segment) -> None:
    """What stands before the boundary: who the agent is, and the owner's instruction (S2-132, A-26)."""
    words = config.phrases
    if segment.entries:
        writer.write_frame(words.frame)
        for entry in segment.entries:
            writer.write(entry.text, framing=0)
    if segment.squeezed:
        writer.write_frame(words.persona_skipped.format(n=len(segment.squeezed)))
    if persona.l2.strip():
        writer.write_frame(words.persona_pointer)
    if is_printable(hint := safe(config.timing_hint)):
        writer.write(words.hint_name + hint, framing=len(words.hint_name), hint=len(hint))


def _print_notes(below: Writer, config: Config, notes: PackedNotes) -> None:
    for entry in notes.segment.entries:
        below.write(entry.text, framing=0)
    if notes.segment.squeezed:
        below.write_frame(config.phrases.notes_squeezed.format(n=len(notes.segment.squeezed)))
    if notes.core:
        below.write_frame(config.phrases.notes_core.format(n=len(notes.core)))


def _print_env(below: Writer, config: Config, segment: Segment) -> None:
    words = config.phrases
    plate = words.env_squeezed.format(n=len(segment.squeezed)) if segment.squeezed else ""
    if not segment.entries and not plate:
        return
    inline = SEPARATOR.join(entry.text for entry in segment.entries)
    joint = SEPARATOR if inline and plate else ""
    below.write(words.env_name + inline + joint + plate, framing=len(words.env_name) + len(joint) + len(plate))


def _flags(snapshot: Snapshot, candidates: Candidates) -> tuple[str, ...]:
    override = candidates.override
    found = list(snapshot.problems)
    if override is not None and override.problem:
        found.append(override.problem)
    if override is not None and override.older_than_its_sources:
        found.append("the profile override is older than its sources; read it again")
    return tuple(found)


# --- for a memory ---------------------------------------------------------------------------------
class HasHome(Protocol):
    """What ``assemble_injection`` needs of a memory."""

    @property
    def home(self) -> MemoryHome:
        """Its paths."""
        ...

    @property
    def zone_override(self) -> tzinfo | None:
        """The time zone ``open_memory(tz=…)`` asked for."""
        ...


def assemble_injection(
    memory: HasHome,
    *,
    now: datetime | None = None,
    budgets: Mapping[str, int] | None = None,
    config: Config | None = None,
    refill: Sequence[str] = (),
) -> Injection:
    """What compose would return at this instant, with its bill; writes nothing (S2-095).

    ``budgets`` (all six names, code points) and ``config`` replace the stored ones, they do not merge. The kept
    choice of facts is used while its basis matches. ``now`` is UTC-aware; None reads the clock.
    """
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    return assemble(
        snapshot,
        now if now is not None else clock(),
        budgets=budgets,
        config=config,
        choice=snapshot.rotation_file.value,
        refill=refill,
    )
