"""Move a memory to another machine: one package out, and in again over nothing that is there (S2-270..278)."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from pydantic import ValidationError
from pydantic.alias_generators import to_camel, to_snake

from selfnote.config import Config, ConfigStore
from selfnote.errors import Corrupt, LimitExceeded, require_writable
from selfnote.home import MemoryHome
from selfnote.phrases import TRANSFER
from selfnote.records.fact_lines import Fact, HistoryItem, encode_fact, parse_fact, to_json
from selfnote.records.facts import Facts
from selfnote.records.flags import flag_names
from selfnote.records.habits import Habit, Habits
from selfnote.records.notes import TIERS, Note, Notes, note_id
from selfnote.records.persona import PARTS, Part, Persona, PersonaStore, format_persona, require_savable
from selfnote.storage.atomic import write_atomic
from selfnote.storage.jsonl import encode
from selfnote.text import fold, is_printable, one_line, safe
from selfnote.times import clock, format_instant, local_date, require_aware, to_milliseconds

Kept = TypeVar("Kept", Fact, Habit, Note)

KIND, VERSION = "selfnote", 2
#: What of a record goes along: nothing else does (S2-272).
FACT_FIELDS = (
    "id", "text", "detail", "channel", "status", "tags", "source", "source_sha", "capture_source", "reason",
    "importance", "occurrences", "sources", "similar_to", "flags", "hit_count", "last_hit", "seen_count", "last_seen",
    "created_at", "approved_at", "history",
)  # fmt: skip
NOTE_FIELDS = ("text", "tier", "pinned", "on")
HABIT_FIELDS = ("id", "tag", "text", "fact_ids", "created_at", "revoked_at")
#: Settings an owner adjusts; what belongs to this machine alone, as the index, stays.
SETTINGS = (
    "injection_enabled", "capture_enabled", "persona_enabled", "header", "timing_hint", "temp_ttl_days",
    "half_life_days", "profile_max_chars", "profile_override", "max_chars", "max_items", "habit_min_facts",
    "silent_days", "language", "tz", "pronoun",
)  # fmt: skip
#: Those that stand beside the settings in the package, not in them (S2-271).
BESIDE = ("persona_enabled", "temp_ttl_days")


class Movable(Protocol):
    """What a memory needs to be moved."""

    @property
    def home(self) -> MemoryHome:
        """Its paths."""

    @property
    def facts(self) -> Facts:
        """Its facts."""

    @property
    def notes(self) -> Notes:
        """Its notes."""

    @property
    def habits(self) -> Habits:
        """Its habits."""

    @property
    def persona(self) -> PersonaStore:
        """Its persona."""

    @property
    def config(self) -> ConfigStore:
        """Its settings."""

    @property
    def index(self) -> Any:
        """Its index."""

    @property
    def read_only(self) -> bool:
        """Whether it was opened to look."""

    def zone(self) -> tzinfo | None:
        """The owner's time zone."""


class ImportRow(NamedTuple):
    """What becomes of one thing of a package.

    ``kind``: fact, note, habit, setting, persona. ``action``: add, skip or aside. ``why``: "", downgraded, same id,
    same text, set here, another persona, unreadable.
    """

    kind: str
    id: str
    text: str
    action: str
    why: str = ""


@dataclass(frozen=True)
class ImportReport:
    """What an import did, or with ``dry_run`` would do: a row for each thing of the package, in its order."""

    rows: tuple[ImportRow, ...]
    dry_run: bool
    language: str = "zh"
    persona_file: Path | None = None

    @property
    def added(self) -> int:
        """How many things come in, a persona put aside included."""
        return sum(row.action != "skip" for row in self.rows)

    @property
    def skipped(self) -> int:
        """How many stay out."""
        return len(self.rows) - self.added

    def describe(self, language: str | None = None) -> str:
        """The whole of it in a few sentences."""
        words = TRANSFER[language or self.language]
        counts = Counter(row.kind for row in self.rows if row.action == "add")
        told = words["would come" if self.dry_run else "came"].format(
            **{kind: counts[kind] for kind in ("fact", "note", "habit", "setting")}, skipped=self.skipped
        )
        if any(row.why == "downgraded" for row in self.rows):
            told += words["downgraded"].format(n=sum(row.why == "downgraded" for row in self.rows))
        if unreadable := sum(row.why == "unreadable" for row in self.rows):
            told += words["unreadable"].format(n=unreadable)
        if counts["persona"]:
            told += words["persona"]
        if any(row.action == "aside" for row in self.rows):
            told += words["aside"].format(file=self.persona_file.name if self.persona_file else words["aside file"])
        return told

    def __str__(self) -> str:
        return self.describe()


# --- out ------------------------------------------------------------------------------------------
def package_name(now: datetime, zone: tzinfo | None) -> str:
    """``selfnote-YYYY-MM-DD.json``, by the owner's day (S2-270)."""
    return f"selfnote-{local_date(now, zone).isoformat()}.json"


def encode_package(package: Mapping[str, Any]) -> str:
    """A package as the text of its file."""
    return json.dumps(package, ensure_ascii=False, indent=1) + "\n"


def export_package(memory: Movable, *, now: datetime | None = None) -> dict[str, Any]:
    """The notes, facts, habits, settings and persona of a memory as one package; writes nothing (S2-270..273).

    Corrections, sessions, ledgers and the index stay: they are of this machine. Lines nobody understands stay, too.

    Raises
    ------
    LimitExceeded, OSError
        When a file cannot be read.
    """
    instant = require_aware(now if now is not None else clock())
    config, persona = memory.config.load(), memory.persona.load()
    stored = config.model_dump(mode="json", include=set(SETTINGS) & config.model_fields_set)
    return {
        "kind": KIND,
        "version": VERSION,
        "createdAt": format_instant(instant),
        "notes": [
            {
                "tier": note.tier,
                "pinned": note.pinned,
                "on": note.on.isoformat() if note.on else None,
                "text": note.text,
            }
            for note in memory.notes.list()
        ],
        "facts": [_fields(fact, FACT_FIELDS) for fact in memory.facts.all()],
        "habits": [_fields(habit, HABIT_FIELDS) for habit in memory.habits.all()],
        "config": {to_camel(name): value for name, value in stored.items() if name not in BESIDE},
        "persona": {part: getattr(persona, part) for part in PARTS},
        **{to_camel(name): getattr(config, name) for name in BESIDE},
    }


def _fields(record: Fact | Habit, names: Iterable[str]) -> dict[str, Any]:
    values = {to_camel(name): to_json(name, getattr(record, name)) for name in names}
    return {name: value for name, value in values.items() if value is not None}


# --- in -------------------------------------------------------------------------------------------
def read_package(data: bytes | str) -> dict[str, Any]:
    """A package from the bytes or the text of its file.

    Raises
    ------
    Corrupt
        When it is no JSON, or no package of ours (S2-276).
    LimitExceeded
        When it is newer than this version reads.
    """
    try:
        values = json.loads(data if isinstance(data, str) else data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Corrupt(
            f"this is no package: it is not JSON ({error}); choose the file that export made", told="no package"
        ) from error
    return require_package(values)


def require_package(values: object) -> dict[str, Any]:
    """``values`` as a package of ours, all its parts of the right kind. Raises as ``read_package``."""
    lists, objects = ("notes", "facts", "habits"), ("config", "persona")
    if (
        not isinstance(values, Mapping)
        or values.get("kind") != KIND
        or not isinstance(values.get("version"), int)
        or any(not isinstance(values.get(name, []), list) for name in lists)
        or any(not isinstance(values.get(name, {}), Mapping) for name in objects)
    ):
        raise Corrupt(
            "this is no package of selfnote (kind, version or a part of it is not as export writes it); "
            "choose the file that export made - nothing was imported",
            told="no package",
        )
    if values["version"] > VERSION:
        raise LimitExceeded(
            f"the package has version {values['version']}, at most {VERSION} is read; install a newer selfnote - "
            "nothing was imported",
            told="newer package",
            version=values["version"],
            most=VERSION,
        )
    return dict(values)


def import_package(
    memory: Movable,
    package: Mapping[str, Any],
    *,
    keep_status: bool = False,
    dry_run: bool = False,
    now: datetime | None = None,
) -> ImportReport:
    """Bring in what a package has and this memory has not; nothing that is here is changed (S2-274).

    What was approved there waits here as a candidate, unless its owner ticks ``keep_status`` (S2-275). A persona that
    differs from the one here is put aside as ``persona.imported-<time>.md`` (S2-277). Settings come where none is
    stored here. Every file is written once, as a whole; after a crash the same import goes on where it ended, since
    what is there already is skipped. An index that exists is brought up to date (S2-278).

    Parameters
    ----------
    memory
        The memory.
    package
        What ``export_package`` made, of version 1 or 2.
    keep_status
        Whether the owner wants what was approved there to be approved here.
    dry_run
        Whether to write nothing, and only tell what would come.
    now
        The instant, UTC-aware.

    Raises
    ------
    Corrupt, LimitExceeded
        When it is no package, or a newer one; nothing was written.
    Busy, ReadOnly
    """
    values = require_package(package)
    if not dry_run:
        require_writable(memory.home.root, read_only=memory.read_only)
    instant = to_milliseconds(require_aware(now if now is not None else clock()))
    zone = memory.zone()
    notes = _sift("note", values.get("notes", []), _read_note, memory.notes.list())
    settings, setting_rows = _settings(values, memory.config.load())
    facts: Sifted[Fact] = Sifted([], [], {})

    def choose(here: Iterable[Fact]) -> list[Fact]:
        nonlocal facts
        facts = _facts(values.get("facts", []), here, keep_status=keep_status, now=instant, zone=zone)
        return facts.came

    if dry_run:
        choose(memory.facts.all())
    else:
        memory.facts.take_in(choose, now=instant)
    habits = _sift("habit", values.get("habits", []), _read_habit, memory.habits.all())
    persona_rows, aside = _persona(memory, values, instant, dry_run=dry_run)
    if not dry_run:
        if habits.came:
            memory.habits.take_in(_of_facts(habit, facts.names) for habit in habits.came)
        if notes.came:
            memory.notes.put_back(notes.came, now=instant)
        if settings:
            memory.config.save(**settings)
        if memory.home.index.exists():
            memory.index.build(now=instant)
    rows = (*notes.rows, *facts.rows, *habits.rows, *setting_rows, *persona_rows)
    return ImportReport(rows, dry_run, memory.config.load().language, aside)


class Sifted(NamedTuple, Generic[Kept]):
    """Records of a package that come in, a row for each that was looked at, and what each is called here by its id."""

    came: list[Kept]
    rows: list[ImportRow]
    names: dict[str, str]


def _sift(kind: str, listed: Iterable[object], read: Callable[[object], Kept], here: Iterable[Kept]) -> Sifted[Kept]:
    """What is neither here already, by its id or its words, nor unreadable (S2-274)."""
    mine = list(here)
    ids = {one.id for one in mine}
    # Of the package itself all come: one that was retired and one that said the same later are two.
    texts = {fold(one.text): one.id for one in mine}
    found: Sifted[Kept] = Sifted([], [], {})
    for raw in listed:
        try:
            one = read(raw)
        except (TypeError, ValueError, LimitExceeded):
            found.rows.append(ImportRow(kind, "", _excerpt(raw), "skip", "unreadable"))
            continue
        known = one.id if one.id in ids else texts.get(fold(one.text))
        found.names[one.id] = known or one.id
        if known is not None:
            why = "same id" if known == one.id else "same text"
            found.rows.append(ImportRow(kind, one.id, one.text, "skip", why))
            continue
        ids.add(one.id)
        found.came.append(one)
        found.rows.append(ImportRow(kind, one.id, one.text, "add"))
    return found


def _facts(
    listed: Iterable[object], here: Iterable[Fact], *, keep_status: bool, now: datetime, zone: tzinfo | None
) -> Sifted[Fact]:
    """The facts that come in, approved ones lowered unless kept, their links leading to what they led to there."""
    found = _sift("fact", listed, partial(_read_fact, zone=zone), here)
    lowered = {fact.id for fact in found.came if fact.status == "approved" and not keep_status}
    came = [_relinked(_arrived(fact, now, lowered=fact.id in lowered), found.names) for fact in found.came]
    rows = [row._replace(why="downgraded") if row.action == "add" and row.id in lowered else row for row in found.rows]
    return Sifted(came, rows, found.names)


def _read_fact(one: object, zone: tzinfo | None) -> Fact:
    """One fact of a package. Raises ValueError, and LimitExceeded where it would not fit a line."""
    fact = parse_fact(json.dumps(_only(one, FACT_FIELDS)), zone)
    encode_fact(fact).encode("utf-8")
    _require_printable(fact.text)
    return fact


def _read_habit(one: object) -> Habit:
    """One habit of a package. Raises ValueError."""
    habit = Habit.model_validate(_only(one, HABIT_FIELDS))
    encode(habit.model_dump(by_alias=True)).encode("utf-8")
    _require_printable(habit.text)
    return habit


def _read_note(one: object) -> Note:
    """One note of a package; version 1 has bare texts. Raises TypeError, ValueError."""
    values = _only({"text": one} if isinstance(one, str) else one, NOTE_FIELDS)
    text, tier = one_line(values["text"]), values.get("tier", "stable")
    if tier not in TIERS:
        raise ValueError(f"tier={tier!r:.40} is not one of {', '.join(TIERS)}")
    text.encode("utf-8")
    _require_printable(text)
    on = date.fromisoformat(values["on"]) if values.get("on") else None
    return Note(note_id(tier, on, text), text, tier, values.get("pinned") is True, on)


def _only(one: object, names: Iterable[str]) -> dict[str, Any]:
    """What of a record is taken (S2-272); a record without words is none. Raises ValueError."""
    if not isinstance(one, Mapping) or not isinstance(one.get("text"), str):
        raise ValueError(f"{one!r:.40} is no record")  # noqa: TRY004 - one error kind for a record
    kept = {to_camel(name) for name in names}
    return {key: value for key, value in one.items() if key in kept}


def _require_printable(text: str) -> None:
    if not is_printable(safe(text)):
        raise ValueError("nothing printable")


def _arrived(fact: Fact, now: datetime, *, lowered: bool) -> Fact:
    """A fact as it comes in: flagged by what it says, and lowered to a candidate with a line that says so."""
    values: dict[str, Any] = {"flags": tuple(dict.fromkeys((*fact.flags, *flag_names(fact.text))))}
    if lowered:
        item = HistoryItem(at=now, via="import", from_="approved", to="candidate")
        values |= {"status": "candidate", "approved_at": None, "history": (*fact.history, item)}
        values |= {"hit_count": 0, "last_hit": None, "seen_count": 0, "last_seen": None}
    return fact.model_copy(update=values)


def _of_facts(habit: Habit, names: Mapping[str, str]) -> Habit:
    """A habit is made of the same facts, whatever they are called here."""
    return habit.model_copy(update={"fact_ids": tuple(names.get(one, one) for one in habit.fact_ids)})


def _relinked(fact: Fact, names: Mapping[str, str]) -> Fact:
    """A link leads to what it led to there, whatever that is called here; one that leads nowhere stays behind."""
    links = [link.model_copy(update={"id": names[link.id]}) for link in fact.similar_to if link.id in names]
    return fact.model_copy(update={"similar_to": tuple(link for link in links if link.id != fact.id)})


def _settings(values: Mapping[str, Any], here: Config) -> tuple[dict[str, Any], list[ImportRow]]:
    """Settings of the package that are stored nowhere here; those of version 1 have no more than they have (S2-271)."""
    beside = {to_camel(name): values[to_camel(name)] for name in BESIDE if to_camel(name) in values}
    came: dict[str, Any] = {}
    rows: list[ImportRow] = []
    for key, value in {**values.get("config", {}), **beside}.items():
        name = to_snake(str(key))
        if name not in SETTINGS:
            continue
        label = f"{key} = {json.dumps(value, ensure_ascii=False)}"
        try:
            read = getattr(Config.model_validate({key: value}), name)
        except ValidationError:
            rows.append(ImportRow("setting", str(key), label, "skip", "unreadable"))
            continue
        if name in here.model_fields_set or read == getattr(here, name):
            why = "same text" if read == getattr(here, name) else "set here"
            rows.append(ImportRow("setting", str(key), label, "skip", why))
            continue
        came[name] = value
        rows.append(ImportRow("setting", str(key), label, "add"))
    return came, rows


def _persona(
    memory: Movable, values: Mapping[str, Any], now: datetime, *, dry_run: bool
) -> tuple[list[ImportRow], Path | None]:
    """The persona where there is none; beside the one that is here where it is another (S2-277)."""
    found = values.get("persona", {})
    there: dict[Part, str] = {
        part: found[part] for part in PARTS if isinstance(found.get(part), str) and found[part].strip()
    }
    if not there:
        return [], None
    try:
        written = format_persona(there)
    except UnicodeEncodeError:
        return [ImportRow("persona", "persona", _excerpt(there), "skip", "unreadable")], None
    here: Persona = memory.persona.load()
    text = " ".join(there.values())
    if all(getattr(here, part).strip() == there.get(part, "").strip() for part in PARTS):
        return [ImportRow("persona", "persona", text, "skip", "same text")], None
    if not any(getattr(here, part).strip() for part in PARTS):
        with contextlib.suppress(LimitExceeded):
            require_savable(there)
            if not dry_run:
                memory.persona.save(l0=there.get("l0"), l1=there.get("l1"), l2=there.get("l2"), now=now)
            return [ImportRow("persona", "persona", text, "add")], None
    path = memory.home.persona_imported(now)
    if not dry_run:
        write_atomic(path, written.encode("utf-8"))
    return [ImportRow("persona", "persona", text, "aside", "another persona")], path


def _excerpt(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:80]
