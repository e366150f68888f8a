"""Notes: what the agent wrote about itself, one plain line each, in three tiers (S2-106..125, A-02, A-06)."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, tzinfo
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from selfnote.config import Config
from selfnote.errors import Conflict, LimitExceeded, require_writable
from selfnote.storage.atomic import append_line
from selfnote.storage.jsonl import BadLine, bad_line, over_cap
from selfnote.storage.lines import Line, TextFile, read_text_file
from selfnote.storage.locks import hold
from selfnote.storage.rewrite import rewrite
from selfnote.text import one_line, require_printable, safe
from selfnote.times import clock, local_date, require_aware

Result = TypeVar("Result")

log = logging.getLogger(__name__)

Tier = Literal["core", "stable", "temp"]
TIERS: tuple[Tier, ...] = ("core", "stable", "temp")
TIER_LABELS: dict[Tier, str] = {"core": "核心", "stable": "稳定", "temp": "临时"}
_TIER_WORDS: dict[str, Tier] = {
    **{label: tier for tier, label in TIER_LABELS.items()},
    **{tier: tier for tier in TIERS},
}
PIN = "📌"
_PIN = r"[📌★⭐]\ufe0f?"
#: What an old program's line, a hand and our own writer may all look like (A-02, A-02b).
_LINE = re.compile(
    r"(?P<bullet>[ \t]{0,3}[-*+][ \t]+)"
    r"(?:(?P<date>\d{4}-\d{1,2}-\d{1,2})(?:[ \t\u3000]+|(?=[\[【])|$))?"
    r"(?:[\[【][ \t]*(?P<tier>核心|稳定|临时|core|stable|temp)[ \t]*[\]】](?P<pin>[ \t\u3000]*"
    + _PIN
    + r")?[ \t\u3000]*)?"
    r"(?P<text>.*)\Z",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_STARTS_LIKE_PIN = re.compile(r"\\*" + _PIN)
_HEADING = re.compile(r"\s{0,3}#{1,6}(\s|\Z)")
#: Which notes go to the archive first when notes.md is full (A-06).
_ARCHIVE_ORDER = {"expired": 0, "temp": 1, "stable": 2, "core": 3}


@dataclass(frozen=True, slots=True)
class Note:
    """One note. ``on`` is the owner's calendar day, None when the line has none; ``line`` counts from 1.

    ``archived`` holds what the write that returned this note moved to the archive to stay within the caps (A-06).
    """

    id: str
    text: str
    tier: Tier = "stable"
    pinned: bool = False
    on: date | None = None
    line: int = 0
    problem: str | None = None
    archived: tuple[Note, ...] = field(default=(), compare=False)

    @property
    def revision(self) -> str:
        """A hash of what the owner sees."""
        seen = f"{self.tier}\n{self.on or ''}\n{self.pinned}\n{self.text}"
        return hashlib.sha256(seen.encode("utf-8", "backslashreplace")).hexdigest()[:16]

    @property
    def length(self) -> int:
        """Code points of the text as it would be injected."""
        return len(safe(self.text))


def note_id(tier: str, on: date | None, text: str) -> str:
    """``n-`` + 12 hex of sha256 of tier, date and text on three lines (DESIGN "Ids")."""
    seen = f"{tier}\n{on.isoformat() if on else ''}\n{text}"
    return "n-" + hashlib.sha256(seen.encode("utf-8", "backslashreplace")).hexdigest()[:12]


def parse_note(line: str, number: int = 0) -> Note | None:
    """One line as a note; None when it is none. No tier mark reads as stable, no date as unknown (S2-108, A-02b)."""
    found = _LINE.match(line)
    if found is None or not found["text"].strip():
        return None
    tier = _TIER_WORDS[found["tier"].lower()] if found["tier"] else "stable"
    text = found["text"].strip()
    if not found["pin"] and text.startswith("\\") and _STARTS_LIKE_PIN.match(text):
        text = text[1:]
    on: date | None = None
    problem = None
    if found["date"]:
        try:
            on = date(*map(int, found["date"].split("-")))
        except ValueError:
            problem = f"{found['date']} is no calendar day; the note counts as undated"
    return Note(note_id(tier, on, text), text, tier, bool(found["pin"]), on, number, problem)


def format_note(note: Note) -> str:
    """The line of a note: ``- YYYY-MM-DD [稳定]📌 text``; an undated one has no date (A-02)."""
    day = f"{note.on.isoformat()} " if note.on else ""
    pin = PIN if note.pinned else ""
    # A text that begins with a pin glyph is text, not a pin: a backslash keeps it so.
    text = f"\\{note.text}" if not note.pinned and _STARTS_LIKE_PIN.match(note.text) else note.text
    return f"- {day}[{TIER_LABELS[note.tier]}]{pin} {text}"


class NoteFile(NamedTuple):
    """notes.md as read: notes in file order, lines that are neither note, heading nor blank, and the bytes."""

    notes: tuple[Note, ...]
    other_lines: tuple[BadLine, ...]
    file: TextFile


def parse_notes(file: TextFile) -> NoteFile:
    """Every note of ``file``; an equal second note gets ``.2`` behind its id."""
    notes: list[Note] = []
    other: list[BadLine] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(file.lines, start=1):
        text = None if over_cap(line) else line.text
        note = parse_note(text, number) if text is not None else None
        if note is not None:
            seen[note.id] = seen.get(note.id, 0) + 1
            notes.append(note if seen[note.id] == 1 else replace(note, id=f"{note.id}.{seen[note.id]}"))
            if note.problem:
                other.append(bad_line(file.path, number, line, note.problem))
        elif text is None:
            other.append(bad_line(file.path, number, line, over_cap(line) or "not UTF-8"))
        elif text.strip() and not _HEADING.match(text):
            other.append(bad_line(file.path, number, line, "no note: a note is a line '- YYYY-MM-DD [稳定] text'"))
    return NoteFile(tuple(notes), tuple(other), file)


def is_expired(note: Note, today: date, ttl_days: int) -> bool:
    """Whether a temporary note is past its shelf life: the day after the last of ``ttl_days`` (S2-112, A-02c)."""
    return note.tier == "temp" and note.on is not None and (today - note.on).days > ttl_days


def packing_order(notes: Iterable[Note], today: date) -> list[Note]:
    """Pinned first, then new to old; within a day the later line is newer, an unknown date is oldest (A-02b, A-02c)."""

    def key(note: Note) -> tuple[bool, date, int]:
        return (note.pinned, min(note.on, today) if note.on else date.min, note.line)

    return sorted(notes, key=key, reverse=True)


class Notes:
    """The notes of one memory: read and change them; deleted ones go to the archive, never away (S2-004).

    Every change re-reads notes.md under the lock of ``selfnote/``; lines that are no notes stay byte for byte.
    Errors: Conflict (not the note that was shown), LimitExceeded, Busy, ReadOnly.
    """

    def __init__(
        self,
        path: Path,
        archive: Path,
        lock: Path,
        *,
        config: Callable[[], Config] = Config,
        zone: Callable[[], tzinfo | None] = lambda: None,
        read_only: bool = False,
    ) -> None:
        self._path = path
        self._archive = archive
        self._lock = lock
        self._config = config
        self._zone = zone
        self._read_only = read_only

    def read(self) -> NoteFile:
        """The file as it is now."""
        return parse_notes(read_text_file(self._path))

    def list(self) -> Sequence[Note]:
        """The notes in file order, oldest line first."""
        return list(self.read().notes)

    def other_lines(self) -> Sequence[BadLine]:
        """Lines that are neither note, heading nor blank: kept byte for byte, never injected."""
        return list(self.read().other_lines)

    def last_written(self) -> datetime | None:
        """When notes.md was last changed (S2-039); None when there is none."""
        found = self.read().file.fingerprint
        return None if found is None else datetime.fromtimestamp(found[0] / 1e9, tz=clock().tzinfo)

    def add(
        self,
        text: str,
        *,
        tier: Tier = "stable",
        pinned: bool = False,
        on: date | None = None,
        now: datetime | None = None,
    ) -> Note:
        """Write one note at the end of notes.md, dated ``on`` (default: the owner's today).

        Line breaks become spaces; nothing is cut or split, however long (S2-040). When notes.md is over its caps
        afterwards, the oldest go to the archive and stand in ``.archived`` of the note returned.

        Raises
        ------
        LimitExceeded
            When nothing printable is in ``text``, the tier is unknown, or the note alone is over the cap of notes.md.
        """
        config = self._config()
        wanted = _require_text(text, config)
        _require_tier(tier)
        instant = require_aware(now or clock())
        today = local_date(instant, self._zone())
        note = Note(note_id(tier, on or today, wanted), wanted, tier, pinned, on or today)

        def change(file: TextFile) -> tuple[TextFile, Note]:
            new = file.appended(format_note(note))
            kept, archived = _within_caps(parse_notes(new), config, today)
            added = parse_notes(kept).notes[-1]
            return kept, replace(added, archived=tuple(archived))

        return self._rewrite(change, leaving=lambda added: added.archived, now=instant)

    def edit(self, note: Note | str, text: str, *, now: datetime | None = None) -> Note:
        """Change the wording; the date stays, except that an expired temporary note gets today's (S2-068, S2-072).

        Raises
        ------
        LimitExceeded
            When nothing printable is in ``text``, or it alone is over the cap of notes.md.
        """
        config = self._config()
        wanted, today, ttl = _require_text(text, config), self._today(now), config.temp_ttl_days
        return self._change(
            note, lambda old: replace(old, text=wanted, on=today if is_expired(old, today, ttl) else old.on)
        )

    def retier(self, note: Note | str, tier: Tier, *, now: datetime | None = None) -> Note:
        """Move a note to another tier; to temp it gets today's date, to another it keeps its own (DESIGN "Notes")."""
        _require_tier(tier)
        today = self._today(now)
        return self._change(
            note,
            lambda old: replace(old, tier=tier, on=today if tier == "temp" else old.on),
        )

    def pin(self, note: Note | str, pinned: bool = True) -> Note:
        """Pin or unpin a note; a pin orders within its tier only (S2-114)."""
        return self._change(note, lambda old: replace(old, pinned=pinned))

    def delete(self, note: Note | str, *, now: datetime | None = None) -> Note:
        """Move a note to archive/YYYY-MM.md (S2-069)."""
        instant = require_aware(now or clock())

        def change(file: TextFile) -> tuple[TextFile, Note]:
            found = _find(parse_notes(file), note)
            return file.removed(found.line - 1), found

        return self._rewrite(change, leaving=lambda found: (found,), now=instant)

    def clear(self, *, now: datetime | None = None) -> int:
        """Move every note to the archive (S2-066); lines that are no notes stay. The number moved."""
        instant = require_aware(now or clock())

        def change(file: TextFile) -> tuple[TextFile, tuple[Note, ...]]:
            notes = parse_notes(file).notes
            return _without(file, notes), notes

        return len(self._rewrite(change, leaving=tuple, now=instant))

    def put_back(self, notes: Iterable[Note], *, now: datetime | None = None) -> tuple[Note, ...]:
        """Write notes that were deleted or cleared once more, each with its tier, pin and date; the archive keeps them.

        In one transaction, at the end of notes.md. What leaves for the archive because of the caps is returned.
        """
        wanted, config = list(notes), self._config()
        instant = require_aware(now or clock())
        today = local_date(instant, self._zone())

        def change(file: TextFile) -> tuple[TextFile, tuple[Note, ...]]:
            for note in wanted:
                file = file.appended(format_note(note))
            kept, archived = _within_caps(parse_notes(file), config, today)
            return kept, tuple(archived)

        return self._rewrite(change, leaving=tuple, now=instant)

    # --- one change -------------------------------------------------------------------------------
    def _today(self, now: datetime | None) -> date:
        return local_date(require_aware(now or clock()), self._zone())

    def _change(self, note: Note | str, update: Callable[[Note], Note]) -> Note:
        def change(file: TextFile) -> tuple[TextFile, Note]:
            old = _find(parse_notes(file), note)
            new = update(old)
            if new == old:
                return file, old
            changed = file.replaced(old.line - 1, _reworded(file.lines[old.line - 1], old, new))
            return changed, next(one for one in parse_notes(changed).notes if one.line == old.line)

        return self._rewrite(change)

    def _rewrite(
        self,
        change: Callable[[TextFile], tuple[TextFile, Result]],
        *,
        leaving: Callable[[Result], Iterable[Note]] = lambda _: (),
        now: datetime | None = None,
    ) -> Result:
        """Change notes.md; notes that leave it go to this month's archive as they stood, just before they leave."""
        require_writable(self._path, read_only=self._read_only)

        def archive(file: TextFile, result: Result) -> None:
            month = self._archive / f"{local_date(now or clock(), self._zone()):%Y-%m}.md"
            for note in leaving(result):
                append_line(month, file.lines[note.line - 1].raw)

        with hold(self._lock):
            return rewrite(self._path, change, just_before=archive)


def _reworded(line: Line, old: Note, new: Note) -> str:
    """The line with only what changed: a hand-made bullet keeps its own look when the wording alone is new."""
    raw = line.text or ""
    found = _LINE.match(raw)
    same_mark = (old.tier, old.pinned, old.on) == (new.tier, new.pinned, new.on)
    if found and same_mark:
        reworded = raw[: found.start("text")] + new.text
        back = parse_note(reworded)
        # A text that begins like a mark of its own would be read as one; our own form keeps it apart.
        if back is not None and (back.text, back.tier, back.pinned, back.on) == (
            new.text,
            new.tier,
            new.pinned,
            new.on,
        ):
            return reworded
    plain = format_note(new)
    # A date that is no calendar day is still what the owner wrote there.
    odd = found["date"] if found and found["date"] and new.on is None else None
    return plain.replace("- ", f"- {odd} ", 1) if odd else plain


def _find(parsed: NoteFile, note: Note | str) -> Note:
    """The stored note, if it still is what was shown; never a neighbour (A-02d)."""
    identifier = note if isinstance(note, str) else note.id
    found = next((one for one in parsed.notes if one.id == identifier), None)
    if found is None:
        raise Conflict(
            f"no note has the id {identifier!r} in {parsed.file.path.name} now; it was edited or deleted meanwhile - "
            "list the notes again",
            told="no note",
            id=identifier,
            file=parsed.file.path.name,
        )
    if isinstance(note, Note) and note.revision != found.revision:
        raise Conflict(
            f"note {identifier} was changed meanwhile (now {found.text[:40]!r}); list the notes again",
            told="note changed",
            id=identifier,
            text=found.text,
        )
    return found


def _without(file: TextFile, notes: Iterable[Note]) -> TextFile:
    gone = {note.line - 1 for note in notes}
    return file._replace(lines=tuple(line for index, line in enumerate(file.lines) if index not in gone))


def _within_caps(parsed: NoteFile, config: Config, today: date) -> tuple[TextFile, list[Note]]:
    """The file within maxChars and maxItems, and what has to leave: oldest unpinned first, the newest note never."""
    newest = parsed.notes[-1]

    def key(note: Note) -> tuple[bool, int, date, int]:
        kind = "expired" if is_expired(note, today, config.temp_ttl_days) else note.tier
        return (note.pinned, _ARCHIVE_ORDER[kind], note.on or date.min, note.line)

    count, chars = len(parsed.notes), sum(len(note.text) for note in parsed.notes)
    leaving: list[Note] = []
    for note in sorted((one for one in parsed.notes if one is not newest), key=key):
        if count <= config.max_items and chars <= config.max_chars:
            break
        leaving.append(note)
        count, chars = count - 1, chars - len(note.text)
    leaving.sort(key=lambda note: note.line)
    if leaving:
        log.info("%d notes moved to the archive: notes.md is full", len(leaving))
    return _without(parsed.file, leaving), leaving


def _require_text(text: str, config: Config) -> str:
    """The text of a note as one line."""
    wanted = one_line(require_printable("note", text))
    if len(wanted) > config.max_chars:
        raise LimitExceeded(
            f"the note has {len(wanted)} characters, notes.md holds at most {config.max_chars}; write it shorter",
            told="note too long",
            chars=len(wanted),
            most=config.max_chars,
        )
    return wanted


def _require_tier(tier: str) -> None:
    if tier not in TIERS:
        raise LimitExceeded(
            f"tier={tier!r} is not one of {', '.join(TIERS)}", told="no such tier", tier=tier, tiers=TIERS
        )
