"""Saving a rule and marking its evidence used, in three files as one: a journal first, completed after a crash.

The files are persona.md, corrections.jsonl and persona.evidence.json, written in this order; the journal is
persona.pending.json (S2-078, S2-144, S2-145). Every function but ``recover`` expects the lock of ``selfnote/`` held.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from selfnote.errors import Busy, Conflict, Corrupt, NotFound
from selfnote.home import MemoryHome
from selfnote.records.corrections import (
    CorrectionFile,
    made_from,
    parse_corrections,
    parse_evidence,
    patch_lines,
    rule_fingerprint,
)
from selfnote.storage.atomic import Drift, read_file, remove_leftovers, sync_directory, write_atomic
from selfnote.storage.fingerprints import Fingerprint
from selfnote.storage.jsonl import encode
from selfnote.storage.lines import TextFile, read_text_file
from selfnote.storage.locks import WRITE_WAIT, hold
from selfnote.storage.rewrite import ATTEMPTS, rewrite
from selfnote.text import similarity
from selfnote.times import clock, format_instant, parse_instant, require_aware, to_milliseconds

log = logging.getLogger(__name__)

Saved = TypeVar("Saved")
State = Literal["none", "completed", "bad", "conflict", "waiting"]


class RecoveryReport(NamedTuple):
    """What became of an interrupted save.

    none: no journal waited. completed: the save is done, evidence and all. bad: the journal could not be read.
    conflict: persona.md was edited meanwhile and stays as it is, the evidence is not used. waiting: the lock or the
    disk did not let us; the journal waits for the next opening. ``moved_to`` is where a bad or conflicting journal is
    kept, ``corrections`` the ids marked used.
    """

    state: State
    detail: str = ""
    moved_to: Path | None = None
    corrections: tuple[str, ...] = ()


class _Journal(BaseModel):
    """persona.pending.json: everything it takes to finish the save, and to know whether that is still wanted."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid", strict=True)

    kind: Literal["persona-save"] = "persona-save"
    version: Literal[1] = 1
    at: str
    before: str
    after: str
    data: str
    used: dict[str, str | None]
    rules: dict[str, list[str]]
    check: str = ""

    @property
    def persona(self) -> bytes:
        """The new bytes of persona.md."""
        return base64.b64decode(self.data, validate=True)

    @property
    def instant(self) -> datetime:
        """When the owner saved. Raises ValueError."""
        found = parse_instant(self.at)
        if found is None:
            raise ValueError(f"at={self.at!r} is no time")
        return found

    def digest(self) -> str:
        """A hash of everything but the hash."""
        return _sha(encode(self.model_dump(by_alias=True, exclude={"check"})).encode())


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def parse_journal(data: bytes) -> _Journal:
    """The journal in ``data``. Raises ValueError when it is none, or not whole."""
    journal = _Journal.model_validate_json(data)
    if journal.check != journal.digest() or _sha(journal.persona) != journal.after:
        raise ValueError("its content is not what its own hashes say")
    _ = journal.instant
    return journal


# --- saving -------------------------------------------------------------------------------------------
def check_unused(parsed: CorrectionFile, identifiers: Sequence[str]) -> None:
    """Refuse evidence that is not there, or that a rule was made of already. Raises NotFound, Conflict."""
    for identifier in identifiers:
        found = parsed.find(identifier)
        if found is None:
            raise NotFound(
                f"no correction has the id {identifier!r}; nothing was saved - m.corrections.page() lists them",
                told="no correction",
                id=identifier,
            )
        if found.status == "used":
            raise Conflict(
                f"a rule was already made of correction {identifier} (used {found.used_at}); "
                "nothing was saved - load the corrections again",
                told="rule made before",
                id=identifier,
                text=found.text,
            )


def rules_made_of(
    parsed: CorrectionFile, identifiers: Sequence[str], old_rules: Sequence[str], new_rules: Sequence[str]
) -> dict[str, str | None]:
    """Correction id -> the fingerprint of the new L1 line it became; of several the one most like its words.

    None when the save brought no new line: the owner found that a rule he has says it already.
    """
    added = [line for line in dict.fromkeys(new_rules) if line not in set(old_rules)]
    found: dict[str, str | None] = {}
    for identifier in identifiers:
        one = parsed.find(identifier)
        said = one.text if one else ""
        best = max(added, key=lambda line: similarity(said, line), default=None)
        found[identifier] = rule_fingerprint(best) if best is not None else None
    return found


def save_with_evidence(
    home: MemoryHome,
    change: Callable[[TextFile], tuple[TextFile, Saved]],
    *,
    identifiers: Sequence[str],
    rules: Callable[[TextFile], Sequence[str]],
    now: datetime,
) -> Saved:
    """Save the persona and mark its evidence used, all or nothing; ``rules`` reads the L1 lines of a file.

    Whatever ``change`` raises, NotFound, Conflict and Corrupt come before anything is written.
    """
    at = to_milliseconds(require_aware(now))
    for path in (home.persona, home.persona_pending):
        remove_leftovers(path)
    for _ in range(ATTEMPTS):
        parsed = parse_corrections(read_text_file(home.corrections))
        check_unused(parsed, identifiers)
        parse_evidence(read_file(home.persona_evidence)[0])
        before = read_text_file(home.persona)
        after, saved = change(before)
        used = rules_made_of(parsed, identifiers, rules(before), rules(after))
        journal = _write_journal(home, before, after, used, at)
        try:
            _write_persona(home, journal, before.data, before.fingerprint)
        except Drift:
            _remove_journal(home)
            continue
        except BaseException:
            # The rename did not happen: nothing of the save is on disk.
            if read_file(home.persona)[0] == before.data != after.data:
                _remove_journal(home)
            raise
        _finish(home, journal)
        return saved
    raise Conflict(
        f"{home.persona} kept changing while it was being written; close the other writer",
        told="kept changing",
        path=home.persona,
        tries=ATTEMPTS,
    )


def _write_journal(
    home: MemoryHome, before: TextFile, after: TextFile, used: Mapping[str, str | None], at: datetime
) -> _Journal:
    made: dict[str, list[str]] = {}
    for identifier, fingerprint in used.items():
        if fingerprint is not None:
            made.setdefault(fingerprint, []).append(identifier)
    journal = _Journal(
        at=format_instant(at),
        before=_sha(before.data),
        after=_sha(after.data),
        data=base64.b64encode(after.data).decode(),
        used=dict(used),
        rules=made,
    )
    journal = journal.model_copy(update={"check": journal.digest()})
    write_atomic(home.persona_pending, encode(journal.model_dump(by_alias=True)).encode() + b"\n")
    return journal


def _write_persona(home: MemoryHome, journal: _Journal, current: bytes, found: Fingerprint) -> None:
    if current != journal.persona:
        write_atomic(home.persona, journal.persona, expect=found)


def _finish(home: MemoryHome, journal: _Journal) -> tuple[str, ...]:
    """What follows the persona: evidence used, evidence noted, journal gone. Doing it twice is doing it once."""
    used = rewrite(home.corrections, lambda file: _use(parse_corrections(file), journal))
    _note_evidence(home, journal)
    _remove_journal(home)
    return used


def _use(parsed: CorrectionFile, journal: _Journal) -> tuple[TextFile, tuple[str, ...]]:
    changes = {
        identifier: {"status": "used", "usedAt": journal.at, "ruleFp": fingerprint}
        for identifier, fingerprint in journal.used.items()
        if (one := parsed.find(identifier)) is not None and one.status != "used"
    }
    return patch_lines(parsed, changes), tuple(journal.used)


def _note_evidence(home: MemoryHome, journal: _Journal) -> None:
    remove_leftovers(home.persona_evidence)
    for _ in range(ATTEMPTS):
        data, found = read_file(home.persona_evidence)
        try:
            new = made_from(data, journal.rules, journal.instant)
        except Corrupt as error:
            moved = _set_aside(home.persona_evidence, "bad", journal.instant)
            log.warning("%s; it is kept as %s", error, moved)
            continue
        if new == data:
            return
        try:
            write_atomic(home.persona_evidence, new, expect=found)
        except Drift:
            continue
        return
    raise Conflict(
        f"{home.persona_evidence} kept changing while it was being written; close the other writer",
        told="kept changing",
        path=home.persona_evidence,
        tries=ATTEMPTS,
    )


def _remove_journal(home: MemoryHome) -> None:
    home.persona_pending.unlink(missing_ok=True)
    sync_directory(home.persona_pending.parent)


# --- after a crash --------------------------------------------------------------------------------------
def recover(home: MemoryHome, now: datetime | None = None, *, wait: float = WRITE_WAIT) -> RecoveryReport:
    """Complete a persona save that was interrupted; without a journal nothing is read or written (S2-144, S2-145).

    Idempotent: interrupted itself, it is completed by the next call. Never raises for what it finds: an opening goes
    on, and the report tells.
    """
    if not home.persona_pending.exists():
        return RecoveryReport("none")
    try:
        with hold(home.selfnote_lock, wait=wait):
            return recover_held(home, now)
    except (Busy, Conflict, OSError) as error:
        log.warning("an interrupted save of the persona waits: %s", error)
        return RecoveryReport("waiting", f"{home.persona_pending.name} waits for the next opening: {error}")


def recover_held(home: MemoryHome, now: datetime | None = None) -> RecoveryReport:
    """``recover`` for a caller that holds the lock of ``selfnote/``."""
    remove_leftovers(home.persona_pending)
    data, found = read_file(home.persona_pending)
    if found is None:
        return RecoveryReport("none")
    instant = require_aware(now or clock())
    try:
        journal = parse_journal(data)
    except (ValidationError, ValueError) as error:
        moved = _set_aside(home.persona_pending, "bad", instant)
        reason = str(error).splitlines()[0]
        return _told(
            RecoveryReport("bad", f"an interrupted save cannot be read ({reason}); kept as {moved.name}", moved)
        )
    remove_leftovers(home.persona)
    for _ in range(ATTEMPTS):
        current, mark = read_file(home.persona)
        if _sha(current) not in {journal.before, journal.after} and not _begun(home, journal):
            moved = _set_aside(home.persona_pending, "conflict", instant)
            detail = (
                f"persona.md was edited after a save was interrupted; it stays as it is, the evidence stays open, and "
                f"what was to be saved is kept as {moved.name}"
            )
            return _told(RecoveryReport("conflict", detail, moved))
        if _sha(current) == journal.before:
            try:
                _write_persona(home, journal, current, mark)
            except Drift:
                continue
        used = _finish(home, journal)
        return _told(RecoveryReport("completed", f"the save of {journal.at} was completed", None, used))
    raise Conflict(
        f"{home.persona} kept changing while it was being written; close the other writer",
        told="kept changing",
        path=home.persona,
        tries=ATTEMPTS,
    )


def _begun(home: MemoryHome, journal: _Journal) -> bool:
    """Whether evidence was marked by this very save: then the persona had been saved before it was edited."""
    parsed = parse_corrections(read_text_file(home.corrections))
    return any(
        one.status == "used" and one.used_at == journal.at and one.rule_fp == journal.used[one.id]
        for one in parsed.corrections
        if one.id in journal.used
    )


def _told(report: RecoveryReport) -> RecoveryReport:
    log.warning("%s", report.detail)
    return report


def _set_aside(path: Path, why: str, now: datetime) -> Path:
    """Rename ``path`` to ``<name>.<why>-<timestamp>.json``, beside it; nothing is overwritten."""
    stamp = format_instant(now).replace(":", "").replace("-", "")
    for number in range(1, 1000):
        more = f".{number}" if number > 1 else ""
        target = path.with_name(f"{path.stem}.{why}-{stamp}{more}{path.suffix}")
        with contextlib.suppress(FileExistsError):
            target.open("xb").close()
            path.replace(target)
            sync_directory(path.parent)
            return target
    raise Conflict(f"{path} could not be set aside; move it away by hand", told="not set aside", path=path)
