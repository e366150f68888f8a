"""Every place a sentence survives, and its removal from our files (COMPLAINTS 68): never from session logs."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, Protocol

from selfnote.capture.cursor import read_cursors
from selfnote.config import Config, ConfigStore
from selfnote.errors import Corrupt, NotFound, SelfnoteError, require_writable
from selfnote.home import MemoryHome
from selfnote.phrases import TRACE_KINDS, TRACES
from selfnote.records.notes import parse_notes
from selfnote.records.persona import part_of_heading
from selfnote.sessions.events import CHUNK, USER_MESSAGE
from selfnote.sessions.library import Sessions
from selfnote.sessions.log import SessionLog
from selfnote.sessions.model import READ_WHOLE
from selfnote.storage.atomic import read_file, sync_directory, write_atomic
from selfnote.storage.jsonl import RawJson, extend_array, members, patch_object
from selfnote.storage.lines import Line, TextFile, read_text_file
from selfnote.storage.locks import hold
from selfnote.storage.rewrite import rewrite
from selfnote.times import clock, format_instant, require_aware
from selfnote.upkeep.needle import Needle, look_into, smallest, strings

Action = Literal["line", "part", "value", "file"]
#: What the owner wrote with his own hand stands first in a list (DESIGN: nothing of his is lost unasked).
_ORDER = (
    "persona", "setting", "fact", "note", "note text", "archived note", "correction", "archived correction", "habit",
    "summary", "bad line", "persona journal", "leftover", "cache", "index", "backup", "reference", "ledger", "other",
    "package", "session", "session file",
)  # fmt: skip
#: Rows of a text or table that are shown; the rest is counted.
SHOWN = 100
#: What a killed write of ours leaves beside a file.
_LEFTOVER = re.compile(r"\..+\.\d+\.[0-9a-f]{8}\.tmp\Z")
_LOG_ENDS = (".jsonl", ".jsonl.zstd")


class Remembers(Protocol):
    """What is needed of a memory: its paths, its settings and its session logs."""

    @property
    def home(self) -> MemoryHome:
        """Its paths."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether nothing may be written."""
        ...

    @property
    def config(self) -> ConfigStore:
        """The settings."""
        ...

    @property
    def sessions(self) -> Sessions:
        """The session logs."""
        ...


@dataclass(frozen=True, slots=True)
class Trace:
    """One place a sentence survives in.

    ``kind`` is a key of ``phrases.TRACE_KINDS``. ``line`` counts from 1; ``lines`` are the lines of a file that is told
    as one. ``source`` is ``session#seq``, ``status`` a fact's status or an event's type, ``fields`` where in the record
    it stands. ``action`` is what ``forget`` does there, None where it stays; ``stays`` is then why (a key of
    ``phrases.TRACES``).
    """

    kind: str
    path: Path | None
    excerpt: str
    line: int | None = None
    source: str | None = None
    id: str | None = None
    status: str | None = None
    fields: tuple[str, ...] = ()
    action: Action | None = None
    stays: str | None = None
    lines: tuple[int, ...] = ()
    by_owner: bool = False

    @property
    def removable(self) -> bool:
        """Whether ``forget`` removes it."""
        return self.action is not None

    def to_json(self) -> dict[str, Any]:
        """The trace as plain JSON values."""
        return {
            "kind": self.kind,
            "path": str(self.path) if self.path else None,
            "line": self.line,
            "lines": list(self.lines),
            "source": self.source,
            "id": self.id,
            "status": self.status,
            "fields": list(self.fields),
            "excerpt": self.excerpt,
            "action": self.action,
            "removable": self.removable,
            "stays": self.stays,
        }


@dataclass(frozen=True)
class Traces:
    """Every place a sentence survives in, the removable ones of the owner's own hand first. Made by ``where_is``.

    ``problems`` says what could not be looked at.
    """

    text: str
    traces: tuple[Trace, ...]
    problems: tuple[str, ...] = ()
    language: str = "zh"
    root: Path | None = None

    def __iter__(self) -> Iterator[Trace]:
        return iter(self.traces)

    def __len__(self) -> int:
        return len(self.traces)

    @property
    def removable(self) -> tuple[Trace, ...]:
        """What ``forget`` would remove."""
        return tuple(one for one in self.traces if one.removable)

    @property
    def remaining(self) -> tuple[Trace, ...]:
        """What ``forget`` would leave."""
        return tuple(one for one in self.traces if not one.removable)

    @property
    def counts(self) -> dict[str, int]:
        """Kind of place -> how many."""
        return dict(Counter(one.kind for one in self.traces))

    def __str__(self) -> str:
        words = TRACES[self.language]
        if not self.traces:
            return "\n".join([words["none"], *_told_problems(self.problems, self.language)])
        head = words["where"].format(text=self.text, n=len(self.traces))
        rows = _text_rows(self.traces, self.language, self.root)
        return "\n".join([head, *rows, *_told_problems(self.problems, self.language)])

    def _repr_html_(self) -> str:
        words = TRACES[self.language]
        head = words["where"].format(text=self.text, n=len(self.traces)) if self.traces else words["none"]
        return f"<p>{escape(head)}</p>{_table(self.traces, self.language, self.root)}" + _problem_list(
            self.problems, self.language
        )

    def to_json(self) -> dict[str, Any]:
        """The traces as plain JSON values."""
        return {
            "text": self.text,
            "traces": [one.to_json() for one in self.traces],
            "counts": self.counts,
            "problems": list(self.problems),
        }


@dataclass(frozen=True)
class ForgetReport:
    """What a forget removed, or would remove, and what remains. Made by ``forget``.

    ``backup`` is the folder that holds the changed files as they were. ``may_return`` are messages of the owner's that
    hold the sentence and that capture has not judged yet. Ledgers, links, habits and overrides that name a
    removed record by its id keep the id, which leads nowhere and is passed over by every reader.
    """

    text: str
    dry_run: bool
    removed: tuple[Trace, ...]
    remaining: tuple[Trace, ...]
    backup: Path | None = None
    may_return: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    language: str = "zh"
    root: Path | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Kind of place -> how many were removed, or would be."""
        return dict(Counter(one.kind for one in self.removed))

    def sentences(self) -> tuple[list[str], list[str]]:
        """What stands above the list of what goes, and what stands below all lists."""
        words = TRACES[self.language]
        if self.removed:
            head = [words["would" if self.dry_run else "removed"].format(text=self.text, n=len(self.removed))]
            counts = self.counts
            if owners := {kind: counts.get(kind, 0) for kind in ("persona", "setting")}:
                head += [words["owner's"].format(**owners)] if any(owners.values()) else []
        else:
            head = [words["nothing removed"].format(text=self.text)]
        end: list[str] = []
        if self.removed and not self.dry_run:
            end.append(words["backup at"].format(path=self.backup) if self.backup else words["no backup"])
            end.append(words["turn"])
        if self.may_return:
            end.append(words["may return"].format(sources=", ".join(self.may_return)))
        return head, [*end, *_told_problems(self.problems, self.language)]

    def __str__(self) -> str:
        head, end = self.sentences()
        words = TRACES[self.language]
        rest = [words["remaining"].format(n=len(self.remaining))] if self.remaining else []
        removed = _text_rows(self.removed, self.language, self.root)
        return "\n".join([*head, *removed, *rest, *_text_rows(self.remaining, self.language, self.root), *end])

    def _repr_html_(self) -> str:
        head, end = self.sentences()
        words = TRACES[self.language]
        parts = [*(f"<p>{escape(one)}</p>" for one in head), _table(self.removed, self.language, self.root)]
        if self.remaining:
            parts.append(f"<p>{escape(words['remaining'].format(n=len(self.remaining)))}</p>")
            parts.append(_table(self.remaining, self.language, self.root))
        return "".join([*parts, *(f"<p>{escape(one)}</p>" for one in end)])

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "text": self.text,
            "dryRun": self.dry_run,
            "removed": [one.to_json() for one in self.removed],
            "remaining": [one.to_json() for one in self.remaining],
            "counts": self.counts,
            "backup": str(self.backup) if self.backup else None,
            "mayReturn": list(self.may_return),
            "problems": list(self.problems),
        }


# --- how a trace is shown -------------------------------------------------------------------------
def _cells(trace: Trace, language: str, root: Path | None) -> tuple[str, str, str, str]:
    """A trace as kind, place, excerpt and what becomes of it."""
    words = TRACES[language]
    place = "" if trace.path is None else str(trace.path)
    if root is not None and trace.path is not None and trace.path.is_relative_to(root):
        place = trace.path.relative_to(root).as_posix()
    if trace.source:
        place = trace.source
    elif trace.line is not None:
        place = f"{place}:{trace.line}"
    elif trace.lines:
        place = f"{place} ({words['lines'].format(n=len(trace.lines))})"
    named = " ".join(one for one in (trace.id, trace.status and f"({trace.status})") if one)
    becomes = words[trace.action or trace.stays or "not ours"]
    return TRACE_KINDS[language][trace.kind], f"{place} {named}".strip(), trace.excerpt, becomes


def _text_rows(traces: Sequence[Trace], language: str, root: Path | None) -> list[str]:
    rows = [
        f"- [{kind}] {place}" + (f"「{excerpt}」" if excerpt else "") + f" → {becomes}"
        for kind, place, excerpt, becomes in (_cells(one, language, root) for one in traces[:SHOWN])
    ]
    more = len(traces) - SHOWN
    return [*rows, TRACES[language]["more"].format(n=more)] if more > 0 else rows


def _table(traces: Sequence[Trace], language: str, root: Path | None) -> str:
    if not traces:
        return ""
    words = TRACES[language]
    titles = "".join(f"<th>{escape(words[name])}</th>" for name in ("kind", "place", "excerpt", "becomes"))
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(one, language, root)) + "</tr>"
        for one in traces[:SHOWN]
    )
    more = len(traces) - SHOWN
    told = f"<p>{escape(words['more'].format(n=more))}</p>" if more > 0 else ""
    return f"<table><tr>{titles}</tr>{body}</table>{told}"


def _told_problems(problems: Sequence[str], language: str) -> list[str]:
    return [TRACES[language]["problems"], *(f"- {one}" for one in problems)] if problems else []


def _problem_list(problems: Sequence[str], language: str) -> str:
    if not problems:
        return ""
    listed = "".join(f"<li>{escape(one)}</li>" for one in problems)
    return f"<p>{escape(TRACES[language]['problems'])}</p><ul>{listed}</ul>"


# --- our files, by what they are ------------------------------------------------------------------
class _Place(NamedTuple):
    """One file: where it is, its place below selfnote/ or memory/, and what kind of file it is."""

    path: Path
    relative: PurePosixPath
    kind: str


_KINDS: tuple[tuple[str, str], ...] = (
    (r"selfnote/persona\.md", "persona"),
    (r"selfnote/persona\.pending.*\.json", "journal"),
    (r"selfnote/config\.json", "config"),
    (r"selfnote/notes\.md", "notes"),
    (r"selfnote/archive/corrections-[^/]+\.jsonl", "archived corrections"),
    (r"selfnote/archive/[^/]+\.md", "archived notes"),
    (r"selfnote/corrections\.jsonl", "corrections"),
    (r"selfnote/(persona\.(evidence|reads)|corrections\.watermark)\.json", "telemetry"),
    (r"selfnote/backup/.+", "backup"),
    (r"memory/facts\.jsonl", "facts"),
    (r"memory/habits\.jsonl", "habits"),
    (r"memory/summaries\.jsonl", "summaries"),
    (r"memory/((archive/)?(hits|seen)(-[0-9-]+)?)\.jsonl", "ledger"),
    (r"memory/(rotation|sessions-injected|heartbeat|capture-cursor)\.json", "telemetry"),
    (r"memory/cache/.+", "cache"),
    (r"memory/index\.sqlite.*", "index"),
)
_KIND_OF = tuple((re.compile(pattern), kind) for pattern, kind in _KINDS)
#: Kinds of file in which a removed record may be named by its id.
_NAMING = frozenset({"facts", "habits", "config", "ledger", "telemetry"})


def file_kind(relative: PurePosixPath) -> str:
    """What kind of file stands at this place below ``selfnote/`` or ``memory/``; "other" is not ours."""
    if relative.parts[:2] != ("selfnote", "backup") and _LEFTOVER.match(relative.name):
        return "leftover"
    return next((kind for pattern, kind in _KIND_OF if pattern.fullmatch(str(relative))), "other")


def _places(home: MemoryHome) -> list[_Place]:
    """Every file of ours and beside ours, locks aside; folders behind a link are not entered."""
    places: dict[Path, _Place] = {}
    for top, name in ((home.selfnote, "selfnote"), (home.memory, "memory"), (home.root / "persona-shell", "other")):
        for folder, _, files in os.walk(top):
            for file in sorted(files):
                path = Path(folder) / file
                relative = PurePosixPath(name, *path.relative_to(top).parts)
                if not file.endswith(".lock") and path.is_file():
                    place = _Place(path, relative, file_kind(relative))
                    # memory/ may have been moved into a folder that is walked already (S2-283).
                    if place.kind != "other" or path not in places:
                        places[path] = place
    if home.agent_file.is_file():
        places[home.agent_file] = _Place(home.agent_file, PurePosixPath("other", home.agent_file.name), "other")
    return sorted(places.values())


class _Find(NamedTuple):
    """A sentence found in lines ``first`` to ``last`` (indices) of a file, and what takes it out.

    ``patched`` is the text the line gets instead, ``setting`` the key and value a JSON object gets instead.
    """

    kind: str
    excerpt: str
    first: int
    last: int
    action: Action | None = "line"
    id: str | None = None
    status: str | None = None
    fields: tuple[str, ...] = ()
    stays: str | None = None
    patched: str | None = None
    setting: tuple[str, Any] | None = None

    def trace(self, path: Path) -> Trace:
        """The find as a trace."""
        line = self.first + 1
        whole = self.setting is not None
        return Trace(
            self.kind, path, self.excerpt, None if whole else line, None, self.id, self.status, self.fields,
            self.action, self.stays,
        )  # fmt: skip


Scan = Callable[[TextFile, Needle], list[_Find]]


def _text_of(line: Line) -> str:
    return line.raw.decode("utf-8", "replace")


# --- records, one a line --------------------------------------------------------------------------
#: Keys whose values are ids, times, numbers and words of the program, not sentences.
_STRUCTURAL = {
    "fact": frozenset({
        "id", "channel", "status", "source", "sourceSha", "captureSource", "reason", "importance", "occurrences",
        "sources", "similarTo", "flags", "hitCount", "lastHit", "seenCount", "lastSeen", "createdAt", "approvedAt",
        "history",
    }),
    "habit": frozenset({"id", "factIds", "createdAt", "revokedAt"}),
    "summary": frozenset({"id", "source", "sourceSha", "createdAt", "status", "voidedAt", "history"}),
    "correction": frozenset({
        "id", "sid", "seq", "at", "signal", "status", "usedAt", "ruleFp", "signalRule", "messageNumber", "session",
        "sessionId", "session_id", "index", "line", "eventSeq", "ts", "time", "createdAt", "created_at", "timestamp",
        "strength", "level", "kind", "state", "handling", "used_at", "handledAt", "consumedAt", "rule_fp",
        "ruleFingerprint", "fingerprint", "message_number", "handled", "dismissedAt",
    }),
    "ledger": frozenset({
        "at", "session", "turn", "digest", "cause", "chars", "ids", "squeezed", "mentioned", "counted", "absorbed",
        "via",
    }),
}  # fmt: skip
_HISTORY_WORDS = frozenset(["at", "via", "from", "to", "field", "replaces", "replacesRevision"])
#: How the rules of ``records.conflicts`` begin; another program's may quote the owner.
_RULE = re.compile("identical|alike|same topic")
_LINK_WORDS = frozenset(["id", "kind", "score", "resolved"])


def _scan_records(file: TextFile, needle: Needle, kind: str, structural: str) -> list[_Find]:
    """The lines whose record holds the sentence in a field that is no word of the program's, and unreadable lines."""
    found: list[_Find] = []
    for index, line in enumerate(file.lines):
        raw = _text_of(line)
        try:
            values = json.loads(raw)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            if needle.is_in(raw):
                found.append(_Find("bad line", needle.excerpt(raw), index, index))
            continue
        holding = [pair for pair in strings(values, _STRUCTURAL[structural]) if needle.is_in(pair[1])]
        identifier, status = _string(values.get("id")), _string(values.get("status"))
        former = [] if structural != "fact" or holding else _former(values, needle)
        if not holding and not former:
            continue
        fields = tuple(dict.fromkeys(name for name, _ in (holding or former)))
        one = _Find(kind, needle.excerpt((holding or former)[0][1]), index, index, "line", identifier, status, fields)
        patched = None if holding else _without_former(raw, needle)
        found.append(one if patched is None else one._replace(action="part", patched=patched))
    return found


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _former(values: Mapping[str, Any], needle: Needle) -> list[tuple[str, str]]:
    """Where a fact holds the sentence beside its present wording: in its history, or in the rule of a link."""
    pairs = [
        *strings(values.get("history"), _HISTORY_WORDS, "history"),
        *strings(values.get("similarTo"), _LINK_WORDS, "similarTo"),
    ]
    return [pair for pair in pairs if needle.is_in(pair[1]) and not _is_rule(*pair)]


def _is_rule(field: str, said: str) -> bool:
    """Whether it is a rule in our own words, such as "identical; retired on 2026-10-12"."""
    return field == "similarTo.rule" and _RULE.match(said) is not None


def _without_former(raw: str, needle: Needle) -> str | None:
    """A fact's line with the former wordings that hold the sentence taken out; None when that is not enough."""

    def emptied(item: Mapping[str, Any], skip: frozenset[str], blank: object) -> dict[str, Any] | None:
        held = {
            key: blank
            for key, value in item.items()
            if key not in skip
            and any(needle.is_in(one) and not (key == "rule" and _RULE.match(one)) for _, one in strings(value))
        }
        return held or None

    try:
        stored = members(raw)
        changes = {
            key: RawJson(extend_array(stored[key], (), changed=change))
            for key, change in (
                ("history", lambda item: emptied(item, _HISTORY_WORDS, None)),
                ("similarTo", lambda item: emptied(item, _LINK_WORDS, "")),
            )
            if key in stored
        }
        patched = patch_object(raw, changes)
        left = json.loads(patched)
    except (ValueError, RecursionError):
        return None
    return None if _former(left, needle) else patched


def _records(kind: str, structural: str | None = None) -> Scan:
    return lambda file, needle: _scan_records(file, needle, kind, structural or kind)


# --- lines of text --------------------------------------------------------------------------------
def _scan_notes(file: TextFile, needle: Needle) -> list[_Find]:
    """The lines of notes.md: a note by its text, not by its date or tier; any other line as it stands."""
    notes = {note.line - 1: note for note in parse_notes(file).notes}
    lines = [_text_of(line) for line in file.lines]
    found: list[_Find] = []
    for first, last in needle.spans(lines):
        note = notes.get(first)
        said = "\n".join(lines[first : last + 1])
        if first == last and note is not None and needle.is_in(said.partition(note.text)[0]):
            if not needle.is_in(note.text):
                continue
            said = note.text
        kind = "note" if note is not None else "note text"
        found.append(
            _Find(
                kind, needle.excerpt(said), first, last, "line", note.id if note else None, note.tier if note else None
            )
        )
    return found


def _scan_archive(file: TextFile, needle: Needle) -> list[_Find]:
    return [one._replace(kind="archived note") for one in _scan_notes(file, needle)]


def _scan_persona(file: TextFile, needle: Needle) -> list[_Find]:
    """The lines of persona.md; a heading that parts the file stays, or its lines would move to another part."""
    lines = [_text_of(line) for line in file.lines]
    found: list[_Find] = []
    for first, last in needle.spans(lines):
        said = needle.excerpt("\n".join(lines[first : last + 1]))
        for index in range(first, last + 1):
            if part_of_heading(lines[index]) is None:
                found.append(_Find("persona", said, index, index))
            elif first == last:
                found.append(_Find("persona", said, index, index, None, stays="heading"))
    return list({one.first: one for one in found}.values())


# --- the settings ---------------------------------------------------------------------------------
#: What a setting that holds the sentence is set to; an unknown key is set to null.
_EMPTIED: dict[str, Any] = {"header": "", "timingHint": "", "pronoun": Config().pronoun, "profileOverride": None}
_SETTING_WORDS = frozenset({"language", "tz", "factIds", "basis"})


def _scan_config(file: TextFile, needle: Needle) -> list[_Find]:
    """The settings whose words hold the sentence."""
    text = file.text
    if not text.strip():
        return []
    try:
        values = json.loads(text)
        members(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        found = [(first, last) for first, last in needle.spans([_text_of(line) for line in file.lines])]
        return [
            _Find("setting", needle.excerpt(_text_of(file.lines[first])), first, last, None, stays="unparsable")
            for first, last in found
        ]
    return [
        _Find("setting", needle.excerpt(said), 0, 0, "value", key, setting=(key, _EMPTIED.get(key)))
        for key, value in values.items()
        if key not in _SETTING_WORDS
        and (said := next((one for _, one in strings(value, _SETTING_WORDS) if needle.is_in(one)), None)) is not None
    ]


_SCANS: dict[str, Scan] = {
    "facts": _records("fact"),
    "habits": _records("habit"),
    "summaries": _records("summary"),
    "corrections": _records("correction"),
    "archived corrections": _records("archived correction", "correction"),
    "notes": _scan_notes,
    "archived notes": _scan_archive,
    "persona": _scan_persona,
    "config": _scan_config,
}


def without(file: TextFile, finds: Iterable[_Find]) -> TextFile:
    """The file without what was found; every other line stays byte for byte."""
    gone: set[int] = set()
    patched: dict[int, str] = {}
    settings: dict[str, Any] = {}
    for one in finds:
        if one.setting is not None and one.action is not None:
            settings[one.setting[0]] = one.setting[1]
        elif one.action == "line":
            gone |= set(range(one.first, one.last + 1))
        elif one.action == "part" and one.patched is not None:
            patched[one.first] = one.patched
    if settings:
        body = patch_object(file.text, settings).encode("utf-8", "surrogateescape")
        return file._replace(lines=(Line(body, b""),))
    lines = (
        line._replace(raw=patched[index].encode("utf-8", "surrogateescape")) if index in patched else line
        for index, line in enumerate(file.lines)
        if index not in gone
    )
    return file._replace(lines=tuple(lines))


# --- looking --------------------------------------------------------------------------------------
def _look_at(place: _Place, needle: Needle, *, into_backups: bool) -> list[Trace]:  # noqa: PLR0911 - one for each kind of file
    """The traces in one file. Raises OSError, SelfnoteError and ValueError when it cannot be read."""
    if place.kind == "index":
        return []
    if place.kind == "backup":
        return _look_at_backup(place, needle, into_backups=into_backups)
    if scan := _SCANS.get(place.kind):
        return [one.trace(place.path) for one in scan(read_text_file(place.path), needle)]
    if place.kind == "ledger":
        finds = _scan_records(read_text_file(place.path), needle, "ledger", "ledger")
        return _as_one([one.trace(place.path) for one in finds], "ledger", "ledger stays")
    data = read_file(place.path)[0]
    if place.kind == "journal":
        data = _journal_text(data)
    spots = look_into(data, needle)
    if place.kind == "telemetry":
        traces = [Trace("ledger", place.path, one.excerpt, one.line, fields=(one.field,)) for one in spots]
        return _as_one(traces, "ledger", "ledger stays")
    whole = {"journal": "persona journal", "leftover": "leftover", "cache": "cache"}.get(place.kind)
    if whole is not None:
        return [Trace(whole, place.path, spots[0].excerpt, action="file")] if spots else []
    return [Trace("other", place.path, one.excerpt, one.line, stays="not ours") for one in spots]


def _look_at_backup(place: _Place, needle: Needle, *, into_backups: bool) -> list[Trace]:
    """A file of a backup, read as the file it is a copy of; it stays unless backups are to be cleared too."""
    scan = _SCANS.get(_copied_kind(place))
    if scan is None:
        spots = look_into(_journal_text(read_file(place.path)[0]), needle)
        whole = _copied_kind(place) == "journal"
        reason = "backup stays" if whole else "not ours"
        found = [
            Trace("backup", place.path, one.excerpt, one.line, stays=reason) for one in spots[: 1 if whole else None]
        ]
        return [replace(one, action="file", stays=None) for one in found] if whole and into_backups else found
    traces = [replace(one.trace(place.path), kind="backup") for one in scan(read_text_file(place.path), needle)]
    if into_backups:
        return traces
    return [replace(one, action=None, stays="backup stays") for one in traces]


def _copied_kind(place: _Place) -> str:
    """The kind of the file a backup is a copy of: ``backup/<folder>/selfnote/notes.md`` is notes.md."""
    return file_kind(PurePosixPath(*place.relative.parts[3:])) if len(place.relative.parts) > 3 else "other"


def _journal_text(data: bytes) -> bytes:
    """The persona inside a journal of a save; other bytes as they are."""
    with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
        return base64.b64decode(json.loads(data)["data"], validate=True)
    return data


def _as_one(traces: Sequence[Trace], kind: str, stays: str) -> list[Trace]:
    """Many lines of one file as one trace."""
    if not traces:
        return []
    lines = tuple(one.line for one in traces if one.line is not None)
    first = traces[0]
    return [Trace(kind, first.path, first.excerpt, fields=first.fields, stays=stays, lines=lines)]


def _references(places: Iterable[_Place], traces: Sequence[Trace]) -> list[Trace]:
    """The files that name a record that goes by its id; the lines that go themselves do not count."""
    ids = {one.id for one in traces if one.action == "line" and one.id is not None}
    if not ids:
        return []
    going = {(one.path, one.line) for one in traces if one.action == "line"}
    pattern = re.compile(b"|".join(re.escape(f'"{one}"'.encode()) for one in sorted(ids)))
    found: list[Trace] = []
    for place in places:
        if place.kind not in _NAMING:
            continue
        named: set[str] = set()
        lines: list[int] = []
        with contextlib.suppress(OSError, SelfnoteError):
            for number, line in enumerate(read_text_file(place.path).lines, start=1):
                if (place.path, number) not in going and (inside := pattern.findall(line.raw)):
                    lines.append(number)
                    named |= {one.decode().strip('"') for one in inside}
        if lines:
            identifier = ", ".join(sorted(named))
            found.append(Trace("reference", place.path, "", id=identifier, stays="ids", lines=tuple(lines)))
    return found


# --- session logs ---------------------------------------------------------------------------------
def _look_at_sessions(
    sessions: Sessions, needle: Needle, words: Mapping[str, str], *, progress: bool
) -> tuple[list[Trace], list[str]]:
    """Every event of every log, older generations too, and every file beside a log."""
    traces: list[Trace] = []
    problems: list[str] = []
    paths = [path for path in sorted(sessions.home.sessions.rglob("*")) if path.is_file() and not path.is_symlink()]
    shown: Iterable[Path] = paths
    if progress:
        from tqdm import tqdm

        shown = tqdm(paths, unit="file")
    for path in shown:
        try:
            if path.name.startswith("session") and path.name.endswith(_LOG_ENDS):
                traces += _look_at_log(sessions.open(path), needle, words, problems)
            else:
                spots = look_into(read_file(path)[0], needle)
                traces += [Trace("session file", path, one.excerpt, one.line, stays="sessions") for one in spots]
        except (OSError, SelfnoteError, ValueError) as error:
            problems.append(words["unreadable"].format(path=path, reason=error))
    return traces, problems


def _look_at_log(log: SessionLog, needle: Needle, words: Mapping[str, str], problems: list[str]) -> Iterator[Trace]:
    if log.status not in READ_WHOLE:
        problems.append(words["log"].format(id=log.id, status=log.status))
    if log.header.cwd and needle.is_in(log.header.cwd):
        yield Trace("session", log.path, needle.excerpt(log.header.cwd), 1, log.id, status="session", stays="sessions")
    undecoded = 0
    run = _Run(log, needle)
    try:
        for event in log.events():
            data = event.data
            if event.type == CHUNK:
                yield from run.take(event.seq, event.line, data)
                continue
            yield from run.end()
            undecoded += data is None
            holding = [pair for pair in strings(data) if needle.is_in(pair[1])]
            if holding:
                mine = event.type == USER_MESSAGE and _by_owner(log, event.seq)
                yield Trace(
                    "session", log.path, needle.excerpt(holding[0][1]), event.line, f"{log.id}#{event.seq}",
                    status=event.type, fields=tuple(dict.fromkeys(name for name, _ in holding)), stays="sessions",
                    by_owner=mine,
                )  # fmt: skip
        yield from run.end()
    except Corrupt:
        problems.append(words["changed"].format(id=log.id))
    if undecoded:
        problems.append(words["undecoded"].format(id=log.id, n=undecoded))


def _by_owner(log: SessionLog, seq: int) -> bool:
    try:
        return log.message_at(seq).by_owner
    except NotFound:
        return False


class _Run:
    """Streamed pieces of one answer, joined: a sentence is cut anywhere between two events."""

    def __init__(self, log: SessionLog, needle: Needle) -> None:
        self._log = log
        self._needle = needle
        self._pieces: dict[tuple[Any, ...], list[tuple[int, int, str]]] = {}
        self._turn: tuple[Any, Any] = (None, None)

    def take(self, seq: int, line: int, data: Any) -> Iterator[Trace]:
        """One more piece; a new step ends the run before it."""
        chunk = data.get("chunk") if isinstance(data, dict) else None
        if not isinstance(chunk, dict):
            return
        turn = (data.get("turn"), data.get("step"))
        if turn != self._turn:
            yield from self.end()
            self._turn = turn
        for key in ("text", "argumentsDelta"):
            if isinstance(chunk.get(key), str):
                self._pieces.setdefault((chunk.get("type"), chunk.get("index")), []).append((seq, line, chunk[key]))
        other = {name: value for name, value in chunk.items() if name not in {"text", "argumentsDelta", "type", "id"}}
        for _, said in strings(other):
            if self._needle.is_in(said):
                yield self._trace(seq, line, said, str(chunk.get("type")))

    def end(self) -> Iterator[Trace]:
        """What the pieces so far hold, at the piece the sentence begins in."""
        runs, self._pieces = self._pieces, {}
        for (kind, _), pieces in runs.items():
            said = [one for _, _, one in pieces]
            if not self._needle.is_in("".join(said)):
                continue
            seq, line, _ = pieces[self._begins_in(said)]
            yield self._trace(seq, line, "".join(said), str(kind))

    def _begins_in(self, said: Sequence[str]) -> int:
        """Which piece the sentence begins in."""
        stop = smallest(len(said), lambda size: self._needle.is_in("".join(said[:size])))
        return stop - smallest(stop, lambda size: self._needle.is_in("".join(said[stop - size : stop])))

    def _trace(self, seq: int, line: int, said: str, kind: str) -> Trace:
        return Trace(
            "session", self._log.path, self._needle.excerpt(said), line, f"{self._log.id}#{seq}", status=CHUNK,
            fields=(kind,), stays="sessions",
        )  # fmt: skip


# --- files that are given -------------------------------------------------------------------------
Package = str | os.PathLike[str] | Mapping[str, Any]


def _look_at_packages(
    packages: Iterable[Package], needle: Needle, words: Mapping[str, str]
) -> tuple[list[Trace], list[str]]:
    """Export packages and other files, folders or JSON values that are named."""
    traces: list[Trace] = []
    problems: list[str] = []
    for package in packages:
        if isinstance(package, Mapping):
            found = [pair for pair in strings(dict(package)) if needle.is_in(pair[1])]
            traces += [
                Trace("package", None, needle.excerpt(said), fields=(name,), stays="given") for name, said in found
            ]
            continue
        top = Path(package)
        for path in sorted(one for one in top.rglob("*") if one.is_file()) if top.is_dir() else [top]:
            try:
                if not path.exists():
                    raise NotFound("there is no such file")
                for one in look_into(read_file(path)[0], needle):
                    fields = (one.field,) if one.field else ()
                    traces.append(Trace("package", path, one.excerpt, one.line, fields=fields, stays="given"))
            except (OSError, SelfnoteError, ValueError) as error:
                problems.append(words["unreadable"].format(path=path, reason=error))
    return traces, problems


# --- the two acts ---------------------------------------------------------------------------------
def where_is(memory: Remembers, text: str, *, packages: Iterable[Package] = (), progress: bool = False) -> Traces:
    """Every place ``text`` still survives in: our files, backups, caches, session logs, and files that are named.

    Found is what contains it after folding, so that spaces, case and punctuation do not matter, also inside escaped
    JSON. Keys, ids, times and words of the program (``approved``, ``rel``) are no sentences and are not looked at.
    Reads only.

    Parameters
    ----------
    text
        The sentence, or a part of it.
    packages
        Export packages (paths, folders or the values themselves) and other files to look into.
    progress
        Show a bar while session logs are read.

    Raises
    ------
    LimitExceeded
        When fewer than 2 code points are left of ``text`` after folding.
    """
    return _where_is(memory, Needle(text), packages, progress=progress, into_backups=False)


def _where_is(
    memory: Remembers, needle: Needle, packages: Iterable[Package], *, progress: bool, into_backups: bool
) -> Traces:
    home, language = memory.home, memory.config.load().language
    words = TRACES[language]
    own, problems = _look_at_ours(home, needle, words, into_backups=into_backups)
    said, unread = _look_at_sessions(memory.sessions, needle, words, progress=progress)
    given, missing = _look_at_packages(packages, needle, words)
    traces = [*own, *_look_at_index(home, said), *said, *given]
    traces.sort(key=lambda one: _ORDER.index(one.kind))
    return Traces(needle.text, tuple(traces), (*problems, *unread, *missing), language, home.root)


def _look_at_ours(
    home: MemoryHome, needle: Needle, words: Mapping[str, str], *, into_backups: bool
) -> tuple[list[Trace], list[str]]:
    traces: list[Trace] = []
    problems: list[str] = []
    places = _places(home)
    for place in places:
        try:
            traces += _look_at(place, needle, into_backups=into_backups)
        except (OSError, SelfnoteError, ValueError) as error:
            problems.append(words["unreadable"].format(path=place.path, reason=error))
    return [*traces, *_references(places, traces)], problems


def _look_at_index(home: MemoryHome, said: Sequence[Trace]) -> list[Trace]:
    """The index, when there is one and a session holds the sentence: it cannot be asked for one, it has tokens only."""
    if not said or not _has_index(home):
        return []
    return [Trace("index", home.index, "", action="file")]


def _has_index(home: MemoryHome) -> bool:
    """Whether the index is there, or a file beside it that a killed removal left."""
    return any(home.memory.glob(f"{home.index.name}*"))


def forget(
    memory: Remembers,
    text: str,
    dry_run: bool = True,
    *,
    backup: bool = True,
    packages: Iterable[Package] = (),
    now: datetime | None = None,
    progress: bool = False,
) -> ForgetReport:
    """Remove ``text`` from our files: whole lines, persona and settings included, since the owner asks by name.

    A dry run lists what would go. Else each file is read again under the locks of ``selfnote/`` and ``memory/`` and
    replaced atomically, its old form kept under ``selfnote/backup/``; killed anywhere, a second call finishes. A fact
    that holds it only in its history loses that wording and stays. Session logs are never touched; ledgers keep
    ids. ``backup=False`` keeps no copy and clears the backups of earlier calls too.

    Raises
    ------
    LimitExceeded
        When fewer than 2 code points are left of ``text`` after folding.
    Busy, ReadOnly
    """
    needle = Needle(text)
    home = memory.home
    if not dry_run:
        require_writable(home.root, read_only=memory.read_only)
    instant = require_aware(now if now is not None else clock())
    found = _where_is(memory, needle, packages, progress=progress, into_backups=not backup)
    may_return = _may_return(home, found)
    if dry_run or not found.removable:
        return ForgetReport(
            text, dry_run, found.removable if dry_run else (), found.remaining, None, may_return, found.problems,
            found.language, home.root,
        )  # fmt: skip
    words = TRACES[found.language]
    purge = _Purge(home, needle, _Keep(home, instant) if backup else None, words)
    with hold(home.selfnote_lock), hold(home.memory_lock):
        purge.run(instant)
    if any(one.kind == "index" for one in found):
        purge.drop_index(memory.sessions)
    kept, problems = _look_at_ours(home, needle, words, into_backups=not backup)
    others = [one for one in found if one.kind in {"reference", "package", "session", "session file"}]
    remaining = sorted([*kept, *others], key=lambda one: _ORDER.index(one.kind))
    told = dict.fromkeys([*found.problems, *purge.problems, *problems])
    return ForgetReport(
        text, dry_run, tuple(sorted(purge.removed, key=lambda one: _ORDER.index(one.kind))), tuple(remaining),
        purge.keep.folder if purge.keep else None, may_return, tuple(told), found.language, home.root,
    )  # fmt: skip


def _may_return(home: MemoryHome, found: Traces) -> tuple[str, ...]:
    """The owner's messages that hold the sentence and that capture has not judged: they may be offered again."""
    cursors = read_cursors(home.capture_cursor).sessions
    unjudged: list[str] = []
    for one in found:
        if one.kind == "session" and one.by_owner and one.source:
            session, _, seq = one.source.rpartition("#")
            cursor = cursors.get(session)
            if cursor is None or not cursor.knows(int(seq)):
                unjudged.append(one.source)
    return tuple(dict.fromkeys(unjudged))


class _Keep:
    """Where the old forms of changed files go: one folder a forget, made when the first one comes."""

    def __init__(self, home: MemoryHome, now: datetime) -> None:
        self._home = home
        self._stamp = format_instant(now).replace(":", "").replace("-", "")
        self.folder: Path | None = None

    def save(self, relative: PurePosixPath, data: bytes, mode: int) -> None:
        """Keep the bytes of one file, durably, before it is replaced."""
        if self.folder is None:
            self.folder = self._make()
        write_atomic(self.folder / relative, data, mode=mode)

    def _make(self) -> Path:
        self._home.backup.mkdir(parents=True, exist_ok=True)
        sync_directory(self._home.selfnote)
        number = 1
        while True:
            folder = self._home.backup / (f"forget-{self._stamp}" + (f".{number}" if number > 1 else ""))
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                sync_directory(self._home.backup)
                return folder
            number += 1


class _Purge:
    """One forget under its locks: each file read again, what holds the sentence taken out, one file after another."""

    def __init__(self, home: MemoryHome, needle: Needle, keep: _Keep | None, words: Mapping[str, str]) -> None:
        self._home = home
        self._needle = needle
        self.keep = keep
        self._words = words
        self.removed: list[Trace] = []
        self.problems: list[str] = []

    def run(self, now: datetime) -> None:
        """Every file of ours; one that cannot be changed is told and does not stop the others."""
        if self._home.persona_pending.exists():
            from selfnote.records.persona_transaction import recover_held

            recover_held(self._home, now)
        for place in _places(self._home):
            try:
                self._purge(place)
            except (OSError, SelfnoteError, ValueError) as error:
                self.problems.append(self._words["unreadable"].format(path=place.path, reason=error))

    def drop_index(self, sessions: Sessions) -> None:
        """Drop the index; it has a lock of its own, held as long as it is built."""
        from selfnote.sessions.index import Index

        try:
            Index(self._home, sessions).drop()
            if not _has_index(self._home):
                self.removed.append(Trace("index", self._home.index, "", action="file"))
        except (OSError, SelfnoteError) as error:
            self.problems.append(self._words["unreadable"].format(path=self._home.index, reason=error))

    def _purge(self, place: _Place) -> None:
        scan = _SCANS.get(place.kind)
        if place.kind == "backup" and self.keep is None:
            scan = _SCANS.get(_copied_kind(place))
        if scan is not None:
            self._rewrite(place, scan)
        else:
            traces = _look_at(place, self._needle, into_backups=self.keep is None)
            if any(one.action == "file" for one in traces):
                if place.kind == "journal":
                    self._save(place, read_file(place.path)[0])
                place.path.unlink(missing_ok=True)
                sync_directory(place.path.parent)
                self.removed += traces

    def _rewrite(self, place: _Place, scan: Scan) -> None:
        def change(file: TextFile) -> tuple[TextFile, list[_Find]]:
            finds = [one for one in scan(file, self._needle) if one.action is not None]
            return (without(file, finds) if finds else file), finds

        def just_before(file: TextFile, _: list[_Find]) -> None:
            self._save(place, file.data)

        traces = [one.trace(place.path) for one in rewrite(place.path, change, just_before=just_before)]
        self.removed += [replace(one, kind="backup") if place.kind == "backup" else one for one in traces]

    def _save(self, place: _Place, data: bytes) -> None:
        if self.keep is not None:
            self.keep.save(place.relative, data, place.path.stat().st_mode & 0o777)
