"""What changed between two audits: what was decided, what entered or left the text, what is new to see."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from selfnote.audit.audited import Audited, Finding
from selfnote.audit.html_report import diff_lines, fragment, heading, page, paragraph, table
from selfnote.audit.sheets import Cell, Column, Sheet
from selfnote.errors import Corrupt, NotFound
from selfnote.injection.assemble import Injection
from selfnote.injection.changes import compare as compare_texts
from selfnote.injection.changes import diff_texts
from selfnote.injection.segments import Entry, Segment
from selfnote.phrases import ATTRIBUTION_LABELS, COMPARISON, FINDINGS, SEGMENT_LABELS
from selfnote.storage.atomic import read_file
from selfnote.storage.fingerprints import digest
from selfnote.storage.jsonl import encode
from selfnote.times import format_instant

if TYPE_CHECKING:
    from rich.console import RenderableType

#: What a JSON report says it is, and by which rules its state was taken; a file of another version is not compared.
KIND = "selfnote audit"
VERSION = 1
#: Digits of a snapshot hash that are shown.
SHOWN = 12
#: Kinds whose label says which field it was.
_NAMES_A_FIELD = frozenset({"fact edited", "note changed", "habit changed"})
_FACT_FIELDS = ("text", "detail", "channel", "tags", "importance", "flags")

Kind = Literal[
    "fact approved",
    "fact retired",
    "fact restored",
    "fact added",
    "candidate new",
    "fact edited",
    "fact gone",
    "entry in",
    "entry out",
    "entry moved",
    "entry reworded",
    "state",
    "note new",
    "note gone",
    "note changed",
    "persona",
    "habit new",
    "habit gone",
    "habit changed",
    "setting",
    "finding new",
    "finding gone",
    "session new",
    "session gone",
]


_ORDER: dict[str, int] = {kind: place for place, kind in enumerate(get_args(Kind))}


# --- what is compared -----------------------------------------------------------------------------
class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")


class FactState(_Part):
    """Of a fact, what the owner sees and decides: the fields of its revision."""

    status: str
    text: str
    detail: str | None = None
    channel: str
    tags: tuple[str, ...] = ()
    importance: float
    flags: tuple[str, ...] = ()


class NoteState(_Part):
    """Of a note, what the owner sees."""

    text: str
    tier: str
    pinned: bool
    on: str | None


class HabitState(_Part):
    """Of a habit, its wording and whether it was revoked."""

    text: str
    revoked: bool


class EntryState(_Part):
    """An entry of the text, and where it stands."""

    segment: str
    kind: str
    id: str
    text: str


class FindingState(_Part):
    """A finding: its kind and the values of its sentence."""

    kind: str
    values: dict[str, Any]

    @property
    def key(self) -> str:
        """What makes it this finding: a line of a file that moved is the same line."""
        return encode([self.kind, sorted((name, value) for name, value in self.values.items() if name != "line")])

    def sentence(self, language: str) -> str:
        """The finding in words; of a kind we do not know, its values."""
        if self.kind not in FINDINGS[language]:
            return encode(self.values)
        try:
            return Finding(self.kind, self.values).sentence(language)
        except (KeyError, ValueError, TypeError, IndexError):
            return encode(self.values)


class State(_Part):
    """All that is compared, and all that the snapshot hash is taken of.

    Not in it, so that looking, using and waiting change nothing: counters (hits, searches, occurrences), heat, clocks,
    the length of session logs, line numbers, the order of lines. A hit shows only when it moves a fact to another state
    of attribution.
    """

    facts: dict[str, FactState] = Field(default_factory=dict)
    notes: dict[str, NoteState] = Field(default_factory=dict)
    persona: dict[str, str] = Field(default_factory=dict)
    habits: dict[str, HabitState] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)
    text: str = ""
    entries: tuple[EntryState, ...] = ()
    attribution: dict[str, str] = Field(default_factory=dict)
    findings: tuple[FindingState, ...] = ()
    sessions: tuple[str, ...] = ()

    @cached_property
    def snapshot(self) -> str:
        """sha256 of the state; two states have the same one exactly when nothing changed between them."""
        values = self.model_dump(mode="json")
        values["findings"] = sorted(one.key for one in self.findings)
        values["entries"] = sorted(encode(one) for one in values["entries"])
        values["sessions"] = sorted(set(self.sessions))
        return digest(json.dumps(values, ensure_ascii=False, sort_keys=True))

    def injection(self) -> Injection:
        """The text with its entries, as far as it is compared."""
        segments: dict[str, list[Entry]] = {}
        for one in self.entries:
            segments.setdefault(one.segment, []).append(Entry(one.kind, one.id, one.text))
        return Injection(self.text, None, {name: Segment(0, 0, tuple(them)) for name, them in segments.items()})


def state_of(audited: Audited) -> State:
    """What of an audit is compared."""
    return State(
        facts={fact.id: FactState.model_validate(fact, from_attributes=True) for fact in audited.facts},
        notes={
            note.id: NoteState(
                text=note.text, tier=note.tier, pinned=note.pinned, on=note.on.isoformat() if note.on else None
            )
            for note in audited.kept_notes
        },
        persona={"l0": audited.persona.l0, "l1": audited.persona.l1, "l2": audited.persona.l2},
        habits={one.id: HabitState(text=one.text, revoked=bool(one.revoked_at)) for one in audited.kept_habits},
        settings=audited.config.model_dump(mode="json"),
        text=audited.injection.text,
        entries=tuple(
            EntryState(segment=name, kind=one.kind, id=one.id, text=one.text)
            for name, segment in audited.injection.segments.items()
            for one in segment.entries
        ),
        attribution={row.fact.id: row.state for row in audited.attribution},
        findings=tuple(FindingState(kind=one.kind, values=one.values) for one in audited.findings),
        sessions=tuple(row.id for row in audited.sessions),
    )


# --- what is compared with what -------------------------------------------------------------------
class Seen(NamedTuple):
    """One of two audits: where, when, its state, and the snapshot hash it was stored with."""

    home: str
    now: str
    state: State
    snapshot: str


def see(audited: Audited) -> Seen:
    """An audit as it is compared."""
    state = state_of(audited)
    return Seen(str(audited.home.root), format_instant(audited.now), state, state.snapshot)


def seen_json(seen: Seen) -> dict[str, Any]:
    """What a JSON report holds so that a later one can be compared with it."""
    return {
        "kind": KIND,
        "version": VERSION,
        "snapshot": seen.snapshot,
        "state": seen.state.model_dump(mode="json", by_alias=True),
    }


Comparable = Audited | Mapping[str, Any] | str | os.PathLike[str]


def read_seen(what: Comparable) -> Seen:
    """A report, what its ``to_json()`` gave, or the path of a file that holds that.

    Raises
    ------
    NotFound
        When there is no such file.
    Corrupt
        When it is no JSON report of an audit, or one of another version.
    """
    if isinstance(what, Audited):
        return see(what)
    if isinstance(what, Mapping):
        return _parse(what, "the earlier report")
    path = Path(what).expanduser()
    data, found = read_file(path)
    if found is None:
        raise NotFound(f"{path} does not exist; name a file that `selfnote audit --json` wrote")
    try:
        # Bytes, since a shell may have written them in UTF-16.
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{path} is not JSON ({error}); name a file that `selfnote audit --json` wrote") from error
    return _parse(values, str(path))


def _parse(values: Any, where: str) -> Seen:
    if not isinstance(values, Mapping) or values.get("kind") != KIND or not isinstance(values.get("state"), Mapping):
        raise Corrupt(f"{where} is no JSON report of an audit; `selfnote audit --json > FILE` writes one")
    if values.get("version") != VERSION:
        raise Corrupt(
            f"{where} is a report of version {values.get('version')!r}, this program compares version {VERSION}; "
            "make a new one with `selfnote audit --json > FILE`"
        )
    try:
        state = State.model_validate(values["state"])
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise Corrupt(f"{where}: state.{place} cannot be read ({first['msg']}); use an unchanged report") from error
    home, now, snapshot = (str(values.get(name) or "") for name in ("home", "now", "snapshot"))
    return Seen(home, now, state, snapshot)


# --- the changes ----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Change:
    """One change: its kind, of what, its text now (or last), and for a value that changed which, from and to."""

    kind: Kind
    id: str
    text: str = ""
    field: str | None = None
    before: Any = None
    after: Any = None

    def to_json(self) -> dict[str, Any]:
        """The change as plain JSON values."""
        values = {"kind": self.kind, "id": self.id, "text": self.text}
        if self.before is None and self.after is None:
            return values
        return {**values, "field": self.field, "before": self.before, "after": self.after}


def changes_between(old: State, new: State) -> Iterator[Change]:
    """Every change from one state to another."""
    yield from _fact_changes(old, new)
    yield from _text_changes(old, new)
    for one, state in new.attribution.items():
        before = old.attribution.get(one, state)
        if before != state:
            yield Change("state", one, new.facts[one].text if one in new.facts else "", "state", before, state)
    yield from _note_changes(old, new)
    for part in ("l0", "l1", "l2"):
        before, after = old.persona.get(part, ""), new.persona.get(part, "")
        if before != after:
            yield Change("persona", part, diff_texts(before, after), part, before, after)
    yield from _habit_changes(old, new)
    for name in {**new.settings, **old.settings}:
        was, is_now = old.settings.get(name), new.settings.get(name)
        if was != is_now:
            yield Change("setting", name, "", name, was, is_now)
    yield from _finding_changes(old, new)
    yield from (Change("session new", one) for one in dict.fromkeys(new.sessions) if one not in set(old.sessions))
    yield from (Change("session gone", one) for one in dict.fromkeys(old.sessions) if one not in set(new.sessions))


def _fact_changes(old: State, new: State) -> Iterator[Change]:
    for one, fact in new.facts.items():
        was = old.facts.get(one)
        if was is None:
            kind: Kind = "candidate new" if fact.status == "candidate" else "fact added"
            yield Change(kind, one, fact.text, "status", None, fact.status)
            continue
        if was.status != fact.status:
            forward = was.status == "candidate" or fact.status == "retired"
            kind = "fact restored" if not forward else "fact approved" if fact.status == "approved" else "fact retired"
            yield Change(kind, one, fact.text, "status", was.status, fact.status)
        for name in _FACT_FIELDS:
            before, after = getattr(was, name), getattr(fact, name)
            if before != after:
                yield Change("fact edited", one, fact.text, name, _plain(before), _plain(after))
    for one, fact in old.facts.items():
        if one not in new.facts:
            yield Change("fact gone", one, fact.text, "status", fact.status, None)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _text_changes(old: State, new: State) -> Iterator[Change]:
    found = compare_texts(old.injection(), new.injection())
    yield from (Change("entry in", one.id, one.text, "segment", None, one.segment) for one in found.entering)
    yield from (Change("entry out", one.id, one.text, "segment", one.segment, None) for one in found.leaving)
    yield from (Change("entry moved", one.id, one.text, "segment", one.before, one.after) for one in found.moving)
    before = {one.id: one.text for one in old.entries}
    yield from (Change("entry reworded", one.id, one.text, "text", before[one.id], one.text) for one in found.reworded)


def _note_changes(old: State, new: State) -> Iterator[Change]:
    for one, note in new.notes.items():
        was = old.notes.get(one)
        if was is None:
            yield Change("note new", one, note.text, "tier", None, note.tier)
        elif was != note:
            for name in NoteState.model_fields:
                if getattr(was, name) != getattr(note, name):
                    yield Change("note changed", one, note.text, name, getattr(was, name), getattr(note, name))
    for one, note in old.notes.items():
        if one not in new.notes:
            yield Change("note gone", one, note.text, "tier", note.tier, None)


def _habit_changes(old: State, new: State) -> Iterator[Change]:
    for one, habit in new.habits.items():
        was = old.habits.get(one)
        if was is None:
            yield Change("habit new", one, habit.text)
        elif was != habit:
            for name in HabitState.model_fields:
                if getattr(was, name) != getattr(habit, name):
                    yield Change("habit changed", one, habit.text, name, getattr(was, name), getattr(habit, name))
    yield from (Change("habit gone", one, habit.text) for one, habit in old.habits.items() if one not in new.habits)


def _finding_changes(old: State, new: State) -> Iterator[Change]:
    """Findings with the same key are as many as they are."""
    for one in _more(new.findings, old.findings):
        yield Change("finding new", one.kind, "", "finding", None, one.model_dump(mode="json"))
    for one in _more(old.findings, new.findings):
        yield Change("finding gone", one.kind, "", "finding", one.model_dump(mode="json"), None)


def _more(these: Iterable[FindingState], those: Iterable[FindingState]) -> Iterator[FindingState]:
    known = Counter(one.key for one in those)
    for one in these:
        known[one.key] -= 1
        if known[one.key] < 0:
            yield one


# --- the whole ------------------------------------------------------------------------------------
@dataclass(frozen=True, repr=False)
class Comparison:
    """What changed between two audits. Made by ``compare``.

    ``changes`` are all of them, ``of(kind)`` those of one kind; ``diff`` is the text before and after by lines.
    ``before`` and ``after`` tell where, when and by which snapshot; ``problems`` what of the earlier report is odd.
    In a notebook it shows itself.
    """

    before: Seen
    after: Seen
    changes: tuple[Change, ...]
    language: str

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed: exactly when the two snapshots are the same."""
        return not self.changes and not self.diff

    @property
    def diff(self) -> str:
        """The unified diff of the two texts by lines; "" when they are equal."""
        return diff_texts(self.before.state.text, self.after.state.text)

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each thing that makes the comparison doubtful."""
        words = COMPARISON[self.language]
        altered = self.before.snapshot != self.before.state.snapshot
        elsewhere = bool(self.before.home) and self.before.home != self.after.home
        return (
            *([words["altered"]] if altered else []),
            *([words["elsewhere"].format(home=self.before.home)] if elsewhere else []),
        )

    def of(self, kind: Kind) -> tuple[Change, ...]:
        """The changes of one kind, such as "fact approved"."""
        return tuple(one for one in self.changes if one.kind == kind)

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        return {
            "before": {"home": self.before.home, "now": self.before.now, "snapshot": self.before.snapshot},
            "after": {"home": self.after.home, "now": self.after.now, "snapshot": self.after.snapshot},
            "same": self.is_empty,
            "changes": [one.to_json() for one in self.changes],
            "diff": self.diff,
            "problems": list(self.problems),
        }

    # --- in words ---------------------------------------------------------------------------------
    def sentences(self) -> list[str]:
        """When and what is compared, how many changes of each kind, and what is odd."""
        words = COMPARISON[self.language]
        lines = [
            words["since"].format(
                before=self.before.now,
                after=self.after.now,
                old=self.before.snapshot[:SHOWN],
                new=self.after.snapshot[:SHOWN],
            ),
            *self.problems,
        ]
        if self.is_empty:
            return [*lines, words["same"]]
        counted = Counter(one.kind for one in self.changes)
        summary = words["joint"].join(f"{words[kind]} {n}" for kind, n in counted.items())
        return [*lines, *([summary] if summary else [])]

    def sheet(self) -> Sheet:
        """One row a change."""
        words = COMPARISON[self.language]
        columns = (
            Column(words["what"]),
            Column(words["id"], "long", 24),
            Column(words["text"], "text"),
            Column(words["was"], "long", 22),
            Column(words["is"], "long", 22),
        )
        return Sheet(
            words["changes"].format(n=len(self.changes)),
            columns,
            tuple(_change_row(one, self.language) for one in self.changes),
        )

    def render(self) -> RenderableType:
        """The comparison for a terminal, every change in it."""
        from rich.console import Group

        from selfnote.audit.text_report import draw, say

        words, sheet = COMPARISON[self.language], self.sheet()
        parts: list[RenderableType] = [say(words["title"], "bold"), *map(say, self.sentences()), ""]
        if sheet.rows:
            parts += [draw(sheet._replace(caption=""), limit=None), ""]
        if self.diff:
            parts += [say(words["diff"], "bold"), say(self.diff), ""]
        return Group(*parts)

    def __str__(self) -> str:
        from selfnote.audit.text_report import print_plain

        return print_plain(self.render())

    __repr__ = __str__

    def inner_html(self, *, level: int = 2) -> str:
        """Heading, sentences, table and diff, to stand inside a page."""
        words, sheet = COMPARISON[self.language], self.sheet()
        diff = [heading(words["diff"], level + 1), diff_lines(self.diff, self.language)] if self.diff else []
        shown = [table(sheet, self.language)] if sheet.rows else []
        return "\n".join([heading(words["title"], level), *map(paragraph, self.sentences()), *shown, *diff])

    def to_html(self) -> str:
        """The comparison as one page that needs nothing else."""
        return page(COMPARISON[self.language]["title"], self.inner_html(level=1), self.language)

    def _repr_html_(self) -> str:
        return fragment(self.inner_html(), self.language)


def _change_row(change: Change, language: str) -> tuple[Cell, ...]:
    words = COMPARISON[language]
    label = words[change.kind]
    if change.kind in _NAMES_A_FIELD:
        label = words["of"].format(what=label, field=change.field)
    if change.field == "finding":
        state = FindingState.model_validate(change.after or change.before)
        return (Cell(label), Cell(change.id), Cell(state.sentence(language)), Cell(), Cell())
    if change.kind == "persona":
        return (Cell(label), Cell(change.id), Cell(change.text), Cell(), Cell())
    shown = (_in_words(change.field, value, language) for value in (change.before, change.after))
    return (Cell(label), Cell(change.id), Cell(change.text), *map(Cell, shown))


def _in_words(field: str | None, value: Any, language: str) -> str:
    labels = {"state": ATTRIBUTION_LABELS, "segment": SEGMENT_LABELS}.get(field or "")
    if isinstance(value, str):
        return labels[language].get(value, value) if labels is not None else value
    return "" if value is None else encode(value)


def compare(previous: Comparable, current: Comparable, *, language: str | None = None) -> Comparison:
    """What changed from one audit of a memory to another; reads nothing but the files named.

    Parameters
    ----------
    previous, current
        A report, what its ``to_json()`` gave, or the path of a file that holds that. Nothing is stored by itself: the
        report the owner keeps (``selfnote audit --json > FILE``) holds the snapshot hash and the state.
    language
        "zh" or "en"; None takes that of the current report's memory.

    Raises
    ------
    NotFound
        When there is no such file.
    Corrupt
        When it is no JSON report of an audit, or one of another version.
    """
    before, after = read_seen(previous), read_seen(current)
    changes = sorted(changes_between(before.state, after.state), key=lambda one: _ORDER[one.kind])
    spoken = language or after.state.settings.get("language")
    return Comparison(before, after, tuple(changes), "en" if spoken == "en" else "zh")
