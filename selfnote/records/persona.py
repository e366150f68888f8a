"""The persona: three parts in one Markdown file that only the owner writes (S2-126..141, A-09)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from selfnote.config import L0_L1_LIMIT, L0_LIMIT, PERSONA_FILE_LIMIT
from selfnote.errors import Busy, Conflict, LimitExceeded, NotFound, require_writable
from selfnote.home import MemoryHome
from selfnote.storage.atomic import read_file, write_atomic
from selfnote.storage.jsonl import BadLine, bad_line, over_cap, patch_object
from selfnote.storage.lines import BOM, Line, TextFile, read_text_file
from selfnote.storage.locks import COMPOSE_WAIT, hold
from selfnote.storage.rewrite import rewrite
from selfnote.text import is_printable, one_line, require_text, safe
from selfnote.times import clock, format_instant, local_time, parse_instant, require_aware

if TYPE_CHECKING:
    # Evidence and its transaction are imported by the acts that need them: every turn reads the persona, and only that
    # (PERFORMANCE T11).
    from selfnote.records.corrections import Correction, Corrections, RuleEvidence

log = logging.getLogger(__name__)

Part = Literal["l0", "l1", "l2"]
PARTS: tuple[Part, ...] = ("l0", "l1", "l2")
#: The heading we write for a part the file does not have yet.
HEADINGS: dict[Part, str] = {"l0": "# L0 核心身份", "l1": "# L1 行为规则", "l2": "# L2 扩展设定"}
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(?P<name>.*?)[ \t]*#*[ \t]*\Z")
#: Heading names by part: what a name may begin with, and what it may be in English, lower case (A-09).
_NAME_STARTS: dict[str, Part] = {"核心身份": "l0", "行为规则": "l1", "扩展设定": "l2"}
_ENGLISH_NAMES: dict[str, Part] = {
    "core": "l0",
    "core identity": "l0",
    "rules": "l1",
    "behaviour rules": "l1",
    "behavior rules": "l1",
    "extended": "l2",
    "extended settings": "l2",
}


class Persona(NamedTuple):
    """The three parts as text, blank lines around each stripped; ``problems`` says what could not be read."""

    l0: str = ""
    l1: str = ""
    l2: str = ""
    problems: tuple[BadLine, ...] = ()

    @property
    def revision(self) -> str:
        """A hash of the three parts."""
        return hashlib.sha256(f"{self.l0}\x00{self.l1}\x00{self.l2}".encode("utf-8", "replace")).hexdigest()[:16]

    @property
    def chars(self) -> int:
        """Code points of L0 and L1 as they count (A-09b)."""
        return count_chars(self.l0) + count_chars(self.l1)


class PersonaDraft(NamedTuple):
    """The persona as it is, and the owner's own words for him to make a rule of; nothing of it is saved (S2-076).

    ``text`` fills an editor: each piece of evidence with its time and session, then its words (S2-077). ``revision`` is
    what to pass as ``expect`` when the rule is saved, ``corrections`` what to pass as ``used_corrections``.
    """

    l0: str
    l1: str
    l2: str
    revision: str
    evidence: tuple[Correction, ...]
    text: str

    @property
    def corrections(self) -> tuple[str, ...]:
        """The ids of the evidence."""
        return tuple(one.id for one in self.evidence)


@dataclass(frozen=True, slots=True)
class PersonaReads:
    """How often L2 was fetched, and when last (S2-142, S2-146)."""

    count: int = 0
    last_at: datetime | None = None


def rule_lines(file: TextFile) -> list[str]:
    """The lines of L1 as rules: non-empty, without the spaces around them; what is fingerprinted (S2-143)."""
    return [line.strip() for line in parse_persona(file).l1.splitlines() if line.strip()]


def printable_lines(part: str) -> list[str]:
    """The non-empty lines of a part as they may stand in a prompt: what is counted is what is packed (A-09b)."""
    return [line for raw in part.splitlines() if is_printable(line := safe(raw))]


def count_chars(part: str) -> int:
    """Code points of a part's lines, without their newlines: the one count of validator, packer and panel (A-09b)."""
    return sum(map(len, printable_lines(part)))


class _Section(NamedTuple):
    """A run of lines of one part; ``heading`` is the index of its heading line, None for a preamble."""

    part: Part
    heading: int | None
    start: int
    stop: int


def _sections(lines: tuple[Line, ...]) -> list[_Section]:
    """The file as sections: unknown headings and a preamble belong to the open part, L1 when none is open (A-09)."""
    sections: list[_Section] = []
    part: Part = "l1"
    heading: int | None = None
    start = 0
    for index, line in enumerate(lines):
        name = part_of_heading(line.text or "")
        if name is None:
            continue
        if heading is not None or start < index:
            sections.append(_Section(part, heading, start, index))
        part, heading, start = name, index, index + 1
    if heading is not None or start < len(lines):
        sections.append(_Section(part, heading, start, len(lines)))
    return sections


def part_of_heading(line: str) -> Part | None:
    """The part a heading line opens, of any level and in either language; None for every other line."""
    found = _HEADING.match(line)
    if found is None:
        return None
    name = found["name"].strip().lower()
    part = _ENGLISH_NAMES.get(name) or next(
        (part for start, part in _NAME_STARTS.items() if name.startswith(start)), None
    )
    if part is None and name[:2] in PARTS and not (name[2:3].isascii() and name[2:3].isalnum()):
        return name[:2]  # type: ignore[return-value] # one of PARTS, as just checked
    return part


def parse_persona(file: TextFile) -> Persona:
    """The three parts, sections of one part joined in file order; unreadable lines are reported, the rest used."""
    problems = tuple(
        bad_line(file.path, number, line, over_cap(line) or "not UTF-8")
        for number, line in enumerate(file.lines, start=1)
        if over_cap(line) or line.text is None
    )
    bodies: dict[Part, list[str]] = {part: [] for part in PARTS}
    for section in _sections(file.lines):
        lines = (line.text for line in file.lines[section.start : section.stop] if not over_cap(line))
        if body := _strip_blank_lines([text for text in lines if text is not None]):
            bodies[section.part].append(body)
    l0, l1, l2 = ("\n".join(bodies[part]) for part in PARTS)
    return Persona(l0, l1, l2, problems)


def _strip_blank_lines(lines: list[str]) -> str:
    start, stop = 0, len(lines)
    while start < stop and not lines[start].strip():
        start += 1
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    return "\n".join(lines[start:stop])


def check_limits(persona: Persona, file_chars: int) -> None:
    """Refuse what is over a limit, naming each (S2-136).

    Raises
    ------
    LimitExceeded
        L0 over 80, L0 + L1 over 320, or the file over 8000 code points.
    """
    l0, both = count_chars(persona.l0), persona.chars
    over = [
        (name, chars, limit)
        for name, chars, limit in (
            ("L0", l0, L0_LIMIT),
            ("L0 + L1", both, L0_L1_LIMIT),
            ("the whole file", file_chars, PERSONA_FILE_LIMIT),
        )
        if chars > limit
    ]
    if over:
        found = "; ".join(f"{name} has {chars} characters, at most {limit}" for name, chars, limit in over)
        first, count, most = over[0]
        raise LimitExceeded(
            f"{found}; nothing was saved - shorten it, or move background to L2",
            told="persona too long",
            name=first,
            chars=count,
            most=most,
        )


#: What a heading of an older persona file is about: the keywords of the rough split (S2-141).
_AGENT_KEYWORDS: dict[Part, tuple[str, ...]] = {
    "l0": ("身份", "我是谁", "称呼", "关系", "identity", "who i am", "who you are", "name"),
    "l2": (
        "外貌",
        "外观",
        "服饰",
        "世界",
        "背景",
        "兴趣",
        "设定",
        "故事",
        "looks",
        "appearance",
        "world",
        "background",
    ),
}


def draft_from_agent_file(text: str) -> Persona:
    """A rough split of an AGENT.md into three parts by the keywords of its headings, for the owner to go over.

    A heading about identity opens L0, one about looks or background L2, every other one L1, as does the text before
    the first heading; one that names a part of ours opens that part. Nothing is saved: importing is not adopting.
    """
    bodies: dict[Part, list[str]] = {part: [] for part in PARTS}
    part: Part = "l1"
    for line in text.removeprefix("\ufeff").splitlines():
        found = _HEADING.match(line)
        if found is None:
            bodies[part].append(line)
            continue
        part = part_of_heading(line) or _guess_part(found["name"].lower())
    l0, l1, l2 = (_strip_blank_lines(bodies[one]) for one in PARTS)
    return Persona(l0, l1, l2)


def _guess_part(name: str) -> Part:
    return next((part for part, words in _AGENT_KEYWORDS.items() if any(word in name for word in words)), "l1")


class PersonaStore:
    """persona.md of one memory: load it, save it whole or not at all, see how its rules fare.

    Parameters
    ----------
    home
        Where the files of a transaction are; default: the home whose ``selfnote/`` holds ``path``.
    corrections
        The evidence of that home; default: its corrections.jsonl, in the system's time zone.
    """

    def __init__(
        self,
        path: Path,
        lock: Path,
        *,
        agent_file: Path | None = None,
        home: MemoryHome | None = None,
        corrections: Corrections | None = None,
        read_only: bool = False,
    ) -> None:
        self._path = path
        self._agent_file = agent_file
        self._lock = lock
        root = path.parent.parent
        self._home = home if home is not None else MemoryHome(root, root / "memory")
        self._given_corrections = corrections
        self._read_only = read_only

    @property
    def _corrections(self) -> Corrections:
        if self._given_corrections is None:
            from selfnote.records.corrections import Corrections

            self._given_corrections = Corrections(
                self._home.corrections, self._home.corrections_watermark, self._lock, read_only=self._read_only
            )
        return self._given_corrections

    def load(self) -> Persona:
        """The persona as it is on disk now; empty parts when there is no file."""
        return parse_persona(read_text_file(self._path))

    def draft_from_agent_file(self, path: Path | None = None) -> Persona:
        """A draft from AGENT.md (default: the one in the home), unsaved; see the function of this name (S2-141).

        Raises
        ------
        NotFound
            When there is no such file.
        """
        source = path if path is not None else self._agent_file
        if source is None or not source.exists():
            raise NotFound(
                f"there is no {source or 'AGENT.md'} to import from; write the persona here, or name the file",
                told="no agent file",
                file=source or "AGENT.md",
            )
        return draft_from_agent_file(read_file(source)[0].decode("utf-8", "replace"))

    def save(
        self,
        *,
        l0: str | None = None,
        l1: str | None = None,
        l2: str | None = None,
        used_corrections: Sequence[str] = (),
        expect: str | None = None,
        now: datetime | None = None,
    ) -> Persona:
        """Replace parts of the persona, all or nothing; None keeps a part, and its bytes (S2-136).

        Headings, newline style, BOM and the sections of the other parts stay byte for byte. ``used_corrections`` are
        ids of the evidence a rule was made of: marked used with the save, in one transaction (S2-078, S2-145). An
        interrupted save that waits is completed first.

        Raises
        ------
        LimitExceeded
            When a limit would be broken, or a line of a part would read as the heading of another; nothing was written.
        NotFound
            When an id is no correction's; nothing was written.
        Conflict
            When the stored persona is not that of ``expect``, or a correction was used before; nothing was written.
        Corrupt
            When ``used_corrections`` is given and persona.evidence.json cannot be read; nothing was written.
        Busy, ReadOnly
        """
        require_writable(self._path, read_only=self._read_only)
        wanted: dict[Part, str] = {
            part: require_text(part.upper(), text)
            for part, text in zip(PARTS, (l0, l1, l2), strict=True)
            if text is not None
        }

        def change(file: TextFile) -> tuple[TextFile, Persona]:
            return _with_parts(file, wanted, expect)

        identifiers = _as_ids(used_corrections)
        with hold(self._lock):
            if not identifiers and not self._home.persona_pending.exists():
                return rewrite(self._path, change)
            from selfnote.records.persona_transaction import recover_held, save_with_evidence

            recover_held(self._home, now)
            if not identifiers:
                return rewrite(self._path, change)
            return save_with_evidence(
                self._home, change, identifiers=identifiers, rules=rule_lines, now=require_aware(now or clock())
            )

    # --- evidence ---------------------------------------------------------------------------------
    def draft(self, correction_ids: Sequence[str]) -> PersonaDraft:
        """The persona with the chosen evidence beside it, for the owner to write one rule (S2-076, S2-077).

        Never a rule, and nothing is written (S2-079). Raises NotFound.
        """
        evidence = tuple(self._corrections.get(one) for one in _as_ids(correction_ids))
        persona = self.load()
        zone = self._corrections.zone
        text = "\n".join(
            f"[{local_time(one.said(zone), zone):%Y-%m-%d %H:%M} {one.source}]\n{one_line(one.text)}"
            for one in evidence
        )
        return PersonaDraft(persona.l0, persona.l1, persona.l2, persona.revision, evidence, text)

    def evidence(self) -> list[RuleEvidence]:
        """What was observed of each rule since it was saved: did it work (S2-143). Rules of L1 first, in their order.

        Raises
        ------
        Corrupt
            When persona.evidence.json cannot be read.
        """
        from selfnote.records.corrections import parse_evidence, rule_fingerprint

        known = parse_evidence(read_file(self._home.persona_evidence)[0], self._corrections.zone)
        lines = {rule_fingerprint(line): line for line in rule_lines(read_text_file(self._path))}
        standing = [replace(known[one], rule=line) for one, line in lines.items() if one in known]
        return standing + [one for fingerprint, one in known.items() if fingerprint not in lines]

    # --- reads of L2 ------------------------------------------------------------------------------
    def reads(self) -> PersonaReads:
        """How often L2 was fetched; zero when that cannot be read."""
        values = _json_object(_read_quietly(self._home.persona_reads))
        count = values.get("count")
        return PersonaReads(
            count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0,
            parse_instant(values.get("lastAt"), self._corrections.zone),
        )

    def count_read(self, now: datetime | None = None) -> bool:
        """Count one fetch of L2 (S2-142); whether it was counted. Telemetry: a reader is never held up by it."""
        if self._read_only:
            return False
        at = format_instant(require_aware(now or clock()))
        try:
            with hold(self._lock, wait=COMPOSE_WAIT):
                data = _read_quietly(self._home.persona_reads)
                raw = data.decode("utf-8") if _json_object(data) else "{}\n"
                changed = patch_object(raw, {"count": self.reads().count + 1, "lastAt": at})
                write_atomic(self._home.persona_reads, changed.encode())
        except (Busy, OSError, ValueError) as error:
            log.info("a read of L2 was not counted: %s", error)
            return False
        return True


def _as_ids(identifiers: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((identifiers,) if isinstance(identifiers, str) else identifiers))


def _read_quietly(path: Path) -> bytes:
    with contextlib.suppress(OSError, LimitExceeded):
        return read_file(path)[0]
    return b""


def _json_object(data: bytes) -> dict[str, Any]:
    with contextlib.suppress(ValueError, RecursionError):
        values = json.loads(data) if data.strip() else None
        if isinstance(values, dict):
            return values
    return {}


def _with_parts(file: TextFile, wanted: dict[Part, str], expect: str | None) -> tuple[TextFile, Persona]:
    """The file with the wanted parts in place, and the persona it reads back as. Raises Conflict, LimitExceeded."""
    current = parse_persona(file)
    if expect is not None and current.revision != expect:
        raise Conflict(
            f"{file.path.name} has revision {current.revision}, expected {expect}: "
            "it was changed meanwhile - load it again",
            told="file changed",
            file=file.path.name,
        )
    new = file
    for part in PARTS:
        if part in wanted and _lines_of(getattr(current, part)) != _lines_of(wanted[part]):
            new = _with_part(new, part, _lines_of(wanted[part]))
    saved = parse_persona(new)
    for part in PARTS:
        intended = _lines_of(wanted.get(part, getattr(current, part)))
        if _lines_of(getattr(saved, part)) != intended:
            _refuse_headings(wanted)
            raise LimitExceeded(f"{part.upper()} would not read back as written; nothing was saved")
    if new.data != file.data:
        check_limits(saved, len(new.data.removeprefix(BOM).decode("utf-8", "replace")))
    return new, saved


def format_persona(parts: Mapping[Part, str]) -> str:
    """The text of a new persona.md with these parts, however long they are."""
    file = _NEW_FILE
    for part in PARTS:
        if parts.get(part, "").strip():
            file = _with_part(file, part, _lines_of(parts[part]))
    return file.data.decode("utf-8")


def require_savable(parts: Mapping[Part, str]) -> None:
    """Refuse what could not be saved into a new persona.md. Raises LimitExceeded."""
    _with_parts(_NEW_FILE, dict(parts), None)


_NEW_FILE = TextFile(Path("persona.md"), bom=False, lines=(), newline=b"\n", fingerprint=None)


def _lines_of(text: str) -> list[str]:
    return _strip_blank_lines(text.splitlines()).split("\n")


def _refuse_headings(wanted: dict[Part, str]) -> None:
    for part, text in wanted.items():
        for number, line in enumerate(text.splitlines(), start=1):
            if opened := part_of_heading(line):
                raise LimitExceeded(
                    f"line {number} of {part.upper()} ({line[:40]!r}) reads as the heading of {opened.upper()}; "
                    "reword it - nothing was saved",
                    told="reads as a heading",
                    part=part.upper(),
                    line=number,
                    text=line,
                    opened=opened.upper(),
                )


def _with_part(file: TextFile, part: Part, body: list[str]) -> TextFile:
    """The file with one part's text replaced: in its first section; its other sections leave, heading and all."""
    mine = [section for section in _sections(file.lines) if section.part == part]
    text = [Line(line.encode(), file.newline) for line in body] if body != [""] else []
    if not mine:
        return _with_new_section(file, part, text)
    lines = list(file.lines)
    for section in reversed(mine[1:]):
        del lines[section.heading if section.heading is not None else section.start : section.stop]
    first = mine[0]
    tail = [Line(b"", file.newline)] if text and first.stop < len(lines) else []
    lines[first.start : first.stop] = [*text, *tail]
    return _terminated(file, lines)


def _with_new_section(file: TextFile, part: Part, text: list[Line]) -> TextFile:
    """The file with a part it did not have: before the first section of a later part, else at the end."""
    if not text:
        return file
    later = PARTS[PARTS.index(part) + 1 :]
    at = next(
        (section.heading for section in _sections(file.lines) if section.part in later and section.heading is not None),
        len(file.lines),
    )
    blank = Line(b"", file.newline)
    block = [Line(HEADINGS[part].encode(), file.newline), *text]
    lines = list(file.lines)
    before = [blank] if at and lines[at - 1].raw.strip() else []
    lines[at:at] = [*before, *block, *([blank] if at < len(file.lines) else [])]
    return _terminated(file, lines)


def _terminated(file: TextFile, lines: list[Line]) -> TextFile:
    """The lines with every one but the last ended by a newline."""
    ended = [line if line.newline else Line(line.raw, file.newline) for line in lines[:-1]]
    return TextFile(file.path, file.bom, (*ended, *lines[-1:]), file.newline, file.fingerprint)
