"""Corrections: what the owner said was wrong, and how the rules made of it fare (S2-143, S2-147..154, A-10).

Corrections never leave the machine: no export, no bridge and no page for other machines may read them (S2-154).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from selfnote.errors import Conflict, Corrupt, LimitExceeded, NotFound, require_writable
from selfnote.records.conflicts import NEAR, Profiled, profile_text, relate
from selfnote.records.record_lines import parse_records, strings
from selfnote.records.signals import Strength, find_signal
from selfnote.storage.atomic import append_line, read_file, remove_leftovers, write_atomic
from selfnote.storage.jsonl import BadLine, RawJson, encode, members, patch_object
from selfnote.storage.lines import BOM, TextFile, read_text_file
from selfnote.storage.locks import hold
from selfnote.storage.rewrite import rewrite
from selfnote.times import EPOCH, clock, format_instant, local_date, parse_instant, require_aware, to_milliseconds

log = logging.getLogger(__name__)

Result = TypeVar("Result")
Status = Literal["open", "used", "dismissed"]

#: Corrections kept in the file; what goes beyond leaves for the archive (S2-151).
CAP = 200
#: Corrections on one page (S2-152), and the most one may ask for.
PAGE_SIZE = 30
PAGE_LIMIT = 200
#: Code points of a message kept whole; of a longer one the sentence that carries the signal (COMPLAINTS 73).
TEXT_LIMIT = 2000
#: Messages of the owner between two corrections of the same thing (A-11b), and minutes where their log cannot tell.
APART_MESSAGES = 10
APART_MINUTES = 30
#: How late a message may be heard and still count as said while listening: the first one sets the watermark (S2-148).
HEARD_LATE = timedelta(minutes=10)

#: Other names a field may stand under (A-10); ours wins where both are there.
_ALIASES: dict[str, tuple[str, ...]] = {
    "sid": ("session", "sessionId", "session_id"),
    "seq": ("index", "line", "eventSeq"),
    "at": ("ts", "time", "createdAt", "created_at", "timestamp"),
    "text": ("quote", "content", "original", "words"),
    "signal": ("strength", "level", "kind"),
    "status": ("state", "handling"),
    "usedAt": ("used_at", "handledAt", "consumedAt"),
    "ruleFp": ("rule_fp", "ruleFingerprint", "fingerprint"),
}
_STATUSES: dict[Any, Status] = {
    "new": "open", "pending": "open", "unhandled": "open", "handled": "used", "consumed": "used", "done": "used",
    "ignored": "dismissed", "rejected": "dismissed", None: "open",
}  # fmt: skip


class Correction(BaseModel):
    """One line of corrections.jsonl: the owner's words, when and where, and what became of them (S2-077, A-10).

    ``at`` and ``used_at`` as written; see ``said`` and ``used`` for the instants. ``signal_rule`` is the id
    of the rule that heard it, ``rule_fp`` the fingerprint of the persona line the owner made of it.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    sid: str = ""
    seq: int | None = None
    at: Any = None
    text: str
    signal: Strength = "weak"
    status: Status = "open"
    used_at: Any = None
    rule_fp: str | None = None
    signal_rule: str | None = None

    def said(self, zone: tzinfo | None = None) -> datetime:
        """When it was said; 1970 when that cannot be read."""
        return parse_instant(self.at, zone) or EPOCH

    def used(self, zone: tzinfo | None = None) -> datetime:
        """When a rule was made of it; 1970 when none was, or that cannot be read."""
        return parse_instant(self.used_at, zone) or EPOCH

    @property
    def source(self) -> str:
        """``session#seq``."""
        return f"{self.sid}#{self.seq}" if self.seq is not None else self.sid

    @cached_property
    def profiled(self) -> Profiled:
        """The text with what comparing it needs."""
        return profile_text(self.text)


class CorrectionFile(NamedTuple):
    """corrections.jsonl as read: the corrections in file order, each with the index of its line."""

    corrections: tuple[Correction, ...]
    bad_lines: tuple[BadLine, ...]
    file: TextFile
    lines: Mapping[str, int]

    def find(self, identifier: str) -> Correction | None:
        """The correction with this id."""
        return next((one for one in self.corrections if one.id == identifier), None)


class Page(NamedTuple):
    """Corrections, newest first, and the cursor of the page after this one; None on the last (S2-025, S2-152)."""

    items: tuple[Correction, ...]
    next: str | None


def correction_id(sid: str, seq: int | None, text: str) -> str:
    """``c-`` and 12 hex of sha256 of the encoded ``[sid, seq, text]``."""
    return f"c-{hashlib.sha256(encode([sid, seq, text]).encode()).hexdigest()[:12]}"


def rule_fingerprint(line: str) -> str:
    """The first 16 hex of sha256 of a rule's line (S2-143)."""
    return hashlib.sha256(line.strip().encode("utf-8", "backslashreplace")).hexdigest()[:16]


def parse_corrections(file: TextFile) -> CorrectionFile:
    """Every line of ``file``; a second line with an id already seen is a bad line (DESIGN "Opening")."""
    parsed = parse_records(file, parse_correction)
    return CorrectionFile(tuple(parsed.records.values()), parsed.bad_lines, file, parsed.lines)


def parse_correction(raw: bytes) -> Correction:
    """One line, other names of its fields read as ours. Raises ValueError when it is no correction."""
    try:
        values = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from error
    if not isinstance(values, dict):
        raise ValueError(f"a JSON {type(values).__name__}, not an object")  # noqa: TRY004 - one error kind for a line
    for name, others in _ALIASES.items():
        if name not in values:
            found = next((other for other in others if other in values), None)
            if found is not None:
                values[name] = values[found]
    if "status" not in values and isinstance(values.get("handled"), bool):
        values["status"] = "used" if values["handled"] else "open"
    status = values.get("status")
    if status is None or isinstance(status, str):
        values["status"] = _STATUSES.get(status, status)
    if "id" not in values and isinstance(values.get("text"), str):
        values["id"] = correction_id(values.get("sid") or "", values.get("seq"), values["text"])
    try:
        return Correction.model_validate(values)
    except ValidationError as error:
        found_ = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise ValueError(found_) from error


def patch_lines(parsed: CorrectionFile, changes: Mapping[str, Mapping[str, Any]]) -> TextFile:
    """The file with fields of some corrections set, every other byte as it was."""
    file = parsed.file
    for identifier, change in changes.items():
        index = parsed.lines[identifier]
        file = file.replaced(index, patch_object(file.lines[index].text or "", change))
    return file


def leaving(corrections: Sequence[Correction], zone: tzinfo | None, cap: int = CAP) -> list[Correction]:
    """Who leaves a file that holds more than ``cap``, never the last one heard.

    Used ones first, by when they were used, then dismissed ones, then the oldest open ones (S2-151).
    """
    order = {"used": 0, "dismissed": 1, "open": 2}

    def key(one: Correction) -> tuple[int, datetime, datetime, str]:
        return (order[one.status], one.used(zone) if one.status == "used" else EPOCH, one.said(zone), one.id)

    excess = len(corrections) - cap
    return sorted(corrections[:-1], key=key)[:excess] if excess > 0 else []


#: A session's id -> the seqs of the owner's messages in it, ascending; None when its log cannot tell.
OwnerSeqs = Callable[[str], Sequence[int] | None]


def repeated_groups(
    corrections: Iterable[Correction],
    *,
    near: float = NEAR,
    zone: tzinfo | None = None,
    owner_seqs: OwnerSeqs = lambda _: None,
) -> list[tuple[Correction, ...]]:
    """Corrections of the same thing in one session, at most 10 messages of the owner apart, each group oldest first.

    Same is what ``relate`` calls same or near. Events between messages have seqs of their own, so ``owner_seqs`` counts
    the messages; where it does not know one of the two, 30 minutes stand for the 10 messages. Dismissed ones do not
    count (A-11b).
    """
    seqs_of = cache(owner_seqs)
    rest = sorted(
        (one for one in corrections if one.status != "dismissed"), key=lambda one: (one.said(zone), one.seq or 0)
    )
    group_of: dict[str, list[Correction]] = {}
    for index, one in enumerate(rest):
        for other in rest[:index]:
            if other.sid == one.sid and _same(other.profiled, one.profiled, near) and _close(other, one, zone, seqs_of):
                known, mine = group_of.setdefault(other.id, [other]), group_of.setdefault(one.id, [one])
                if known is not mine:
                    known += mine
                    group_of |= {member.id: known for member in mine}
    groups = {id(group): group for group in group_of.values()}.values()
    return [tuple(sorted(group, key=lambda one: (one.said(zone), one.seq or 0))) for group in groups]


def _close(one: Correction, other: Correction, zone: tzinfo | None, owner_seqs: OwnerSeqs) -> bool:
    places: dict[int | None, int] = {seq: place for place, seq in enumerate(owner_seqs(one.sid) or ())}
    first, second = places.get(one.seq), places.get(other.seq)
    if first is not None and second is not None:
        return abs(first - second) <= APART_MESSAGES
    return abs(one.said(zone) - other.said(zone)) <= timedelta(minutes=APART_MINUTES)


def _same(one: Profiled, other: Profiled, near: float) -> bool:
    relation = relate(one, other, near=near)
    return relation is not None and relation.kind in {"same", "near"}


# --- how a rule fares: persona.evidence.json ----------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RuleEvidence:
    """What was observed of one rule of L1 since it was saved (S2-143).

    ``count`` corrections of the same thing were heard after it, the first and the last at these times; ``corrections``
    are those the rule was made from. ``rule`` is its line now, None when no line has this fingerprint any more.
    """

    fingerprint: str
    count: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    corrections: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    saved_at: datetime | None = None
    rule: str | None = None


def parse_evidence(data: bytes, zone: tzinfo | None = None) -> dict[str, RuleEvidence]:
    """Fingerprint -> what was observed; entries that are none are left out.

    Raises
    ------
    Corrupt
        When the file is no JSON object.
    """
    text = data.removeprefix(BOM).decode("utf-8", "surrogateescape")
    if not text.strip():
        return {}
    try:
        values = json.loads(text)
        if not isinstance(values, dict):
            raise ValueError(f"a JSON {type(values).__name__}, not an object")  # noqa: TRY004, TRY301 - one error kind
    except (ValueError, RecursionError) as error:
        raise Corrupt(
            f"persona.evidence.json cannot be read ({error}); mend it or move it away",
            told="evidence unreadable",
            line=getattr(error, "lineno", 1),
        ) from error
    found: dict[str, RuleEvidence] = {}
    for fingerprint, one in values.items():
        if not isinstance(one, dict):
            continue
        count = one.get("count")
        found[fingerprint] = RuleEvidence(
            fingerprint,
            count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else 0,
            parse_instant(one.get("firstAt"), zone),
            parse_instant(one.get("lastAt"), zone),
            strings(one.get("corrections")),
            strings(one.get("counted")),
            parse_instant(one.get("savedAt"), zone),
        )
    return found


def patch_evidence(data: bytes, changes: Mapping[str, Mapping[str, Any]]) -> bytes:
    """persona.evidence.json with keys of some entries set, every other byte as it was. Raises Corrupt."""
    parse_evidence(data)
    bom = data.startswith(BOM)
    text = data.removeprefix(BOM).decode("utf-8", "surrogateescape")
    text = text if text.strip() else "{}\n"
    stored = members(text)
    entries = {
        fingerprint: RawJson(
            patch_object(raw if (raw := stored.get(fingerprint, "")).startswith("{") else "{}", change)
        )
        for fingerprint, change in changes.items()
    }
    return (BOM if bom else b"") + patch_object(text, entries).encode("utf-8", "surrogateescape")


def made_from(data: bytes, rules: Mapping[str, Sequence[str]], at: datetime) -> bytes:
    """The evidence file after rules were saved: fingerprint -> the corrections it was made from. Twice is once."""
    known = parse_evidence(data)
    changes: dict[str, dict[str, Any]] = {}
    for fingerprint, identifiers in rules.items():
        before = known.get(fingerprint)
        ids = list(dict.fromkeys([*(before.corrections if before else ()), *identifiers]))
        if before is None:
            fresh = {"count": 0, "firstAt": None, "lastAt": None}
            changes[fingerprint] = fresh | {"savedAt": format_instant(at), "corrections": ids, "counted": []}
        elif ids != list(before.corrections):
            changes[fingerprint] = {"savedAt": format_instant(at), "corrections": ids}
    return patch_evidence(data, changes) if changes else data


def _counted_against(
    data: bytes, one: Correction, texts: Callable[[str], Profiled | None], near: float, zone: tzinfo | None
) -> bytes:
    """The evidence file with ``one`` counted against the rules whose evidence says the same, each once."""
    changes: dict[str, dict[str, Any]] = {}
    at = one.said(zone)
    for fingerprint, known in parse_evidence(data, zone).items():
        late = known.saved_at is None or at > known.saved_at
        if not late or one.id in known.counted or one.id in known.corrections:
            continue
        if any((text := texts(made)) is not None and _same(text, one.profiled, near) for made in known.corrections):
            changes[fingerprint] = {
                "count": known.count + 1,
                "firstAt": format_instant(min(known.first_at or at, at)),
                "lastAt": format_instant(max(known.last_at or at, at)),
                "counted": [*known.counted, one.id],
            }
    return patch_evidence(data, changes) if changes else data


class Corrections:
    """The corrections of one memory: hear one, page through them, dismiss one.

    Nothing here leaves the machine (S2-154). Errors: NotFound, Conflict, LimitExceeded, Busy, ReadOnly.

    Parameters
    ----------
    path, watermark_path, lock
        corrections.jsonl, corrections.watermark.json and the lock of ``selfnote/``.
    evidence_path
        persona.evidence.json; default: beside ``path``.
    owner_seqs
        Where the owner's messages stand in a session, to tell how far apart two are.
    """

    def __init__(
        self,
        path: Path,
        watermark_path: Path,
        lock: Path,
        *,
        zone: Callable[[], tzinfo | None] = lambda: None,
        near: Callable[[], float] = lambda: NEAR,
        evidence_path: Path | None = None,
        owner_seqs: OwnerSeqs = lambda _: None,
        read_only: bool = False,
    ) -> None:
        self._path = path
        self._watermark_path = watermark_path
        self._evidence_path = evidence_path or path.with_name("persona.evidence.json")
        self._archive = path.parent / "archive"
        self._lock = lock
        self._zone = zone
        self._near = near
        self._owner_seqs = owner_seqs
        self._read_only = read_only

    # --- reading ----------------------------------------------------------------------------------
    def read(self) -> CorrectionFile:
        """The file as it is now."""
        return parse_corrections(read_text_file(self._path))

    def all(self) -> list[Correction]:
        """Every correction, in file order."""
        return list(self.read().corrections)

    def unhandled(self) -> list[Correction]:
        """The open corrections, newest first (S2-153)."""
        return [one for one in self._newest_first() if one.status == "open"]

    def get(self, identifier: str) -> Correction:
        """The correction with this id. Raises NotFound."""
        return _require(self.read(), identifier)

    def bad_lines(self) -> list[BadLine]:
        """The lines of corrections.jsonl that cannot be read; they stay as they are."""
        return list(self.read().bad_lines)

    def page(self, after: str | None = None, size: int = PAGE_SIZE) -> Page:
        """``size`` corrections, newest first, those after the cursor ``after`` (S2-025, S2-152).

        A cursor names a place in time, so that pages neither repeat nor lose one while new ones are heard.

        Raises
        ------
        LimitExceeded
            When ``size`` is not 1 to 200, or ``after`` is no cursor of ours.
        """
        if not 1 <= size <= PAGE_LIMIT:
            raise LimitExceeded(f"size={size!r} is not from 1 to {PAGE_LIMIT}; {PAGE_SIZE} is the default")
        rest = self._newest_first()
        if after is not None:
            at, mark, identifier = after.partition("~")
            if not mark or parse_instant(at) is None:
                raise LimitExceeded(f"after={after!r} is no cursor; pass the .next of the page before, or None")
            rest = [one for one in rest if self._place(one) < (at, identifier)]
        items = tuple(rest[:size])
        return Page(items, "~".join(self._place(items[-1])) if len(rest) > size else None)

    def repeated(self) -> list[tuple[Correction, ...]]:
        """Corrections of the same thing in one session, close together: what a note should be made of (A-11b)."""
        corrections = self.read().corrections
        return repeated_groups(corrections, near=self._near(), zone=self._zone(), owner_seqs=self._owner_seqs)

    def since(self) -> datetime | None:
        """From which instant on corrections are taken; None before the first one was heard (S2-148)."""
        return _read_watermark(self._watermark_path, self._zone())

    @property
    def zone(self) -> tzinfo | None:
        """The owner's time zone."""
        return self._zone()

    def _newest_first(self) -> list[Correction]:
        return sorted(self.read().corrections, key=self._place, reverse=True)

    def _place(self, one: Correction) -> tuple[str, str]:
        """Where a correction stands in time: what a cursor holds."""
        return (format_instant(one.said(self._zone())), one.id)

    # --- changing ---------------------------------------------------------------------------------
    def record(
        self,
        text: str,
        *,
        sid: str,
        seq: int,
        at: datetime,
        now: datetime | None = None,
    ) -> Correction | None:
        """Keep a message of the owner's as evidence if it carries a signal of a correction; None when it does not.

        None also when the event ``(sid, seq)`` was taken before, even if it has left for the archive since (S2-150),
        and when the message is older than the watermark, which the first evidence heard sets (S2-148). A message over
        2000 code points is kept as the sentence that carries the signal. What it says against a rule made of earlier
        evidence is counted (S2-143).
        """
        signal = find_signal(text)
        if signal is None:
            return None
        self._require_writable()
        instant, heard = to_milliseconds(require_aware(at)), require_aware(now or clock())
        kept = text if len(text) <= TEXT_LIMIT else signal.clause[:TEXT_LIMIT]
        one = Correction(
            id=correction_id(sid, seq, kept),
            sid=sid,
            seq=seq,
            at=format_instant(instant),
            text=kept,
            signal=signal.strength,
            signal_rule=signal.rule,
        )
        zone = self._zone()

        def change(file: TextFile) -> tuple[TextFile, tuple[Correction | None, tuple[bytes, ...]]]:
            parsed = parse_corrections(file)
            if any((known.sid, known.seq) == (sid, seq) or known.id == one.id for known in parsed.corrections):
                return file, (None, ())
            new = parse_corrections(file.appended(_encode(one)))
            gone = {new.lines[old.id] for old in leaving(new.corrections, zone)}
            raw = tuple(new.file.lines[index].raw for index in sorted(gone))
            lines = tuple(line for index, line in enumerate(new.file.lines) if index not in gone)
            return new.file._replace(lines=lines), (one, raw)

        def just_before(_: TextFile, result: tuple[Correction | None, tuple[bytes, ...]]) -> None:
            self._count(one)
            self._to_archive(result[1], heard)

        with hold(self._lock):
            if self._left_before(sid, seq):
                return None
            if instant < self._set_watermark(instant, heard, sid, seq):
                return None
            return rewrite(self._path, change, just_before=just_before)[0]

    def dismiss(self, which: Correction | str, *, now: datetime | None = None) -> Correction:
        """Say that a correction is none, or needs no rule; it stays on record. Again: no change.

        Raises
        ------
        NotFound
        Conflict
            When a rule was made of it.
        """
        self._require_writable()
        identifier = which if isinstance(which, str) else which.id
        at = format_instant(require_aware(now or clock()))

        def change(file: TextFile) -> tuple[TextFile, Correction]:
            parsed = parse_corrections(file)
            found = _require(parsed, identifier)
            if found.status == "used":
                raise Conflict(
                    f"a rule was made of correction {identifier}; it cannot be dismissed any more",
                    told="rule made",
                    id=identifier,
                    text=found.text,
                )
            if found.status == "dismissed":
                return file, found
            patched = patch_lines(parsed, {identifier: {"status": "dismissed", "dismissedAt": at}})
            return patched, found.model_copy(update={"status": "dismissed"})

        with hold(self._lock):
            return rewrite(self._path, change)

    def _require_writable(self) -> None:
        require_writable(self._path, read_only=self._read_only)

    # --- the watermark ----------------------------------------------------------------------------
    def _set_watermark(self, at: datetime, now: datetime, sid: str, seq: int) -> datetime:
        """From which instant on evidence is taken; written at the first evidence heard, never moved."""
        known = _read_watermark(self._watermark_path, self._zone())
        if known is not None:
            return known
        if self._watermark_path.exists():
            log.warning("%s cannot be read; only what is said now is taken", self._watermark_path)
            return now - HEARD_LATE
        since = to_milliseconds(at if timedelta() <= now - at <= HEARD_LATE else now)
        line = encode({"since": format_instant(since), "sid": sid, "seq": seq})
        remove_leftovers(self._watermark_path)
        write_atomic(self._watermark_path, line.encode() + b"\n")
        return since

    # --- the archive ------------------------------------------------------------------------------
    def _to_archive(self, lines: Sequence[bytes], now: datetime) -> None:
        """What leaves by the cap goes to selfnote/archive/corrections-YYYY-MM.jsonl, each line once (S2-151)."""
        if not lines:
            return
        month = self._archive / f"corrections-{local_date(now, self._zone()):%Y-%m}.jsonl"
        there = {line.raw for line in read_text_file(month).lines}
        for raw in lines:
            if raw not in there:
                append_line(month, raw)
        log.info("%d corrections moved to the archive: at most %d are kept", len(lines), CAP)

    def _archived(self, holding: Callable[[bytes], bool]) -> Iterable[Correction]:
        """The archived corrections of the months whose bytes may hold what is looked for."""
        for path in sorted(self._archive.glob("corrections-*.jsonl")):
            if holding(read_file(path)[0]):
                yield from parse_corrections(read_text_file(path)).corrections

    def _left_before(self, sid: str, seq: int) -> bool:
        wanted = encode(sid).encode()
        return any((one.sid, one.seq) == (sid, seq) for one in self._archived(lambda data: wanted in data))

    # --- how the rules fare -----------------------------------------------------------------------
    def _count(self, one: Correction) -> None:
        """Count a new correction against the rules it speaks against; an unreadable file is left as it is (S2-143)."""
        known = {other.id: other.profiled for other in self.read().corrections}

        def text_of(identifier: str) -> Profiled | None:
            if identifier not in known:
                wanted = identifier.encode()
                known.update({old.id: old.profiled for old in self._archived(lambda data: wanted in data)})
            return known.get(identifier)

        data, found = read_file(self._evidence_path)
        try:
            new = _counted_against(data, one, text_of, self._near(), self._zone())
        except Corrupt as error:
            log.warning("%s", error)
            return
        if new != data:
            remove_leftovers(self._evidence_path)
            write_atomic(self._evidence_path, new, expect=found)


def _require(parsed: CorrectionFile, identifier: str) -> Correction:
    found = parsed.find(identifier)
    if found is None:
        raise NotFound(
            f"no correction has the id {identifier!r}; m.corrections.page() lists them",
            told="no correction",
            id=identifier,
        )
    return found


def _encode(one: Correction) -> str:
    values = one.model_dump(by_alias=True)
    if values["signalRule"] is None:
        del values["signalRule"]
    return encode(values)


def _read_watermark(path: Path, zone: tzinfo | None) -> datetime | None:
    with contextlib.suppress(OSError, ValueError, RecursionError):
        values = json.loads(read_file(path)[0] or b"null")
        if isinstance(values, dict):
            return parse_instant(values.get("since", values.get("from")), zone)
    return None
