"""The audit: everything an owner should know about a memory at one instant, as one value."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from selfnote.audit.audited import Audited, Finding, SessionRow, audited_json, session_row
from selfnote.audit.token_counts import TokenCounts, count_tokens
from selfnote.errors import ReadOnly, SelfnoteError
from selfnote.home import MemoryHome
from selfnote.injection.assemble import HasHome, Injection, Snapshot, assemble, read_snapshot
from selfnote.injection.explain import Attribution, attribute
from selfnote.injection.segments import LONGER_THAN_HALF, LONGER_THAN_SEGMENT, NOTHING_PRINTABLE
from selfnote.records.fact_lines import Fact
from selfnote.records.ledger import read_hits, read_seen
from selfnote.records.notes import is_expired
from selfnote.sessions.model import NORMAL
from selfnote.storage.atomic import write_atomic
from selfnote.storage.fingerprints import fingerprint
from selfnote.storage.jsonl import BadLine
from selfnote.times import clock, local_date, require_aware

if TYPE_CHECKING:
    from selfnote.audit.comparison import Comparable, Comparison, Seen
    from selfnote.sessions.library import Sessions


@dataclass(frozen=True, repr=False)
class Report(Audited):
    """What one memory holds, injects, squeezes out and waits for, at one instant. Made by ``Memory.audit``.

    ``str(report)`` is the text, ``to_html()`` a page that needs nothing else, ``to_json()`` plain values for a script
    and for a later ``compare``, ``to_csv(folder)`` its tables; in a notebook it shows itself.
    """

    @cached_property
    def _seen(self) -> Seen:
        from selfnote.audit.comparison import see

        return see(self)

    @property
    def snapshot(self) -> str:
        """sha256 of what the owner sees, in hex: the same exactly as long as ``compare`` finds no change.

        Counters, heat, clocks and growing session logs are not in it; see ``selfnote.audit.comparison.State``. Nothing
        is stored by itself: ``to_json()`` carries it, and the owner keeps that.
        """
        return self._seen.snapshot

    def compare(self, previous: Comparable, *, language: str | None = None) -> Comparison:
        """What changed since an earlier report, what its ``to_json()`` gave, or the path of a file that holds that.

        Raises
        ------
        NotFound
            When there is no such file.
        Corrupt
            When it is no JSON report of an audit, or one of another version.
        """
        from selfnote.audit.comparison import compare

        return compare(previous, self, language=language or self.config.language)

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values; times in UTC ISO-8601, lengths in code points, sizes in bytes.

        ``snapshot`` and ``state`` are what a later report is compared with.
        """
        from selfnote.audit.comparison import seen_json

        compared = seen_json(self._seen)
        return {"kind": compared["kind"], "version": compared["version"], **audited_json(self), **compared}

    def to_html(self, *, language: str | None = None, changes: Comparison | None = None) -> str:
        """The report as one page: no script, no request, light and dark; ``changes`` is told first."""
        from selfnote.audit.html_report import page, report_html
        from selfnote.phrases import REPORT

        tongue = language or self.config.language
        told = changes.inner_html() if changes is not None else ""
        inner = report_html(self, tongue, snapshot=self.snapshot, changes=told)
        return page(REPORT[tongue]["title"].format(home=self.home.root), inner, tongue)

    def write_html(
        self, path: str | os.PathLike[str], *, language: str | None = None, changes: Comparison | None = None
    ) -> Path:
        """Write ``to_html`` to a file, replacing what was there.

        Raises
        ------
        ReadOnly
            When the file would lie inside the memory.
        """
        target = _outside(self.home, path)
        page = self.to_html(language=language, changes=changes)
        write_atomic(target, page.encode("utf-8"))
        return target

    def to_csv(self, folder: str | os.PathLike[str], *, language: str | None = None) -> list[Path]:
        """Write every table as a CSV file into ``folder``, made if needed, replacing those there; the paths.

        UTF-8 with a mark, so that spreadsheet programs read Chinese; a cell that would be a formula gets an apostrophe.

        Raises
        ------
        ReadOnly
            When the folder lies inside the memory.
        """
        from selfnote.audit.csv_tables import csv_tables, encode_csv

        target = _outside(self.home, folder)
        paths = []
        for table in csv_tables(self, language or self.config.language):
            write_atomic(target / table.name, encode_csv(table))
            paths.append(target / table.name)
        return paths

    def __str__(self) -> str:
        from selfnote.audit.text_report import render_text

        return render_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from selfnote.audit.html_report import fragment, report_html

        language = self.config.language
        return fragment(report_html(self, language, snapshot=self.snapshot, level=2), language)


def _outside(home: MemoryHome, path: str | os.PathLike[str]) -> Path:
    """``path`` if it is not in the memory, whose files a report must not replace. Raises ReadOnly."""
    target = Path(path).expanduser()
    real = Path(os.path.realpath(target))
    for folder in (home.root, home.memory):
        if real.is_relative_to(os.path.realpath(folder)):
            raise ReadOnly(f"{target} lies inside the memory at {folder}; name a place outside of it")
    return target


class Auditable(HasHome, Protocol):
    """What an audit needs of a memory."""

    @property
    def sessions(self) -> Sessions:
        """Its session logs."""
        ...


def audit(
    memory: Auditable,
    *,
    now: datetime | None = None,
    progress: bool = False,
    tokenizer: str | os.PathLike[str] | None = None,
) -> Report:
    """Audit a memory: read everything, write nothing.

    Parameters
    ----------
    memory
        What to audit.
    now
        The instant to audit, UTC-aware; None reads the clock.
    progress
        Show a bar while session logs are read.
    tokenizer
        A ``tokenizer.json`` to count tokens by; None: ``selfnote/tokenizer.json`` of the memory, where there is one.

    Raises
    ------
    NotFound, Corrupt
        When ``tokenizer`` is named and cannot be used.
    """
    instant = require_aware(now if now is not None else clock())
    home = memory.home
    snapshot = read_snapshot(home, zone=memory.zone_override)
    injection = assemble(snapshot, instant, choice=snapshot.rotation_file.value)
    attribution = tuple(attribute(snapshot, injection, instant))
    logs = [*memory.sessions.read_all(progress=progress)]
    sessions = tuple(session_row(log) for log in logs)
    ledger_problems, ledger_bad = _read_ledgers(home)
    tokens, token_problems = _count_tokens(home, injection, tokenizer)
    bad_lines = (*snapshot.bad_lines, *ledger_bad)
    facts = snapshot.facts_file.value.facts
    conflicts = tuple(snapshot.competing.conflicts)
    return Report(
        home=home,
        now=instant,
        zone=snapshot.zone,
        config=snapshot.config,
        has_memory=has_memory(home),
        injection=injection,
        attribution=attribution,
        facts=facts,
        conflicts=conflicts,
        notes=_count_notes(snapshot, instant),
        sessions=sessions,
        bad_lines=bad_lines,
        findings=(
            *(Finding("problem", {"reason": one}) for one in (*injection.flags, *ledger_problems, *token_problems)),
            *(_bad_line_finding(one) for one in bad_lines),
            *_injection_findings(injection),
            *(Finding("conflict", {"id": one, "other": other}) for one, other in conflicts),
            *_flag_findings(facts, attribution),
            *_session_findings(sessions),
            *(Finding("session", {"id": one.where, "reason": one.reason}) for one in memory.sessions.refused),
        ),
        persona=snapshot.persona_file.value,
        kept_notes=snapshot.notes_file.value.notes,
        kept_habits=snapshot.habits_file.value.habits,
        tokens=tokens,
    )


def has_memory(home: MemoryHome) -> bool:
    """Whether anything of a memory lies at ``home``: persona, notes, facts, habits or settings."""
    return any(fingerprint(path) for path in (home.persona, home.notes, home.facts, home.habits, home.config))


def _count_tokens(
    home: MemoryHome, injection: Injection, tokenizer: str | os.PathLike[str] | None
) -> tuple[TokenCounts | None, list[str]]:
    """The tokens where there is a vocabulary; one in its usual place that cannot be used is a problem, not the end."""
    if tokenizer is not None:
        return count_tokens(injection, tokenizer), []
    if fingerprint(home.tokenizer) is None:
        return None, []
    try:
        return count_tokens(injection, home.tokenizer), []
    except SelfnoteError as error:
        return None, [str(error)]


def _read_ledgers(home: MemoryHome) -> tuple[list[str], list[BadLine]]:
    problems: list[str] = []
    bad: list[BadLine] = []
    for path, read in ((home.hits, read_hits), (home.seen, read_seen)):
        try:
            bad += read(home)[1]
        except OSError as error:
            problems.append(f"{path} cannot be read: {error}")
    return problems, bad


def _count_notes(snapshot: Snapshot, now: datetime) -> dict[str, int]:
    notes = snapshot.notes_file.value.notes
    today = local_date(now, snapshot.zone)
    counted = Counter(note.tier for note in notes)
    expired = sum(is_expired(note, today, snapshot.config.temp_ttl_days) for note in notes)
    return {"core": counted["core"], "stable": counted["stable"], "temp": counted["temp"], "expired": expired}


def _bad_line_finding(one: BadLine) -> Finding:
    return Finding("bad line", {"file": one.path.name, "line": one.line, "reason": one.reason})


def _injection_findings(injection: Injection) -> list[Finding]:
    findings = []
    for segment in injection.segments.values():
        findings += [Finding("cut", {"id": one.id, "length": one.length, "kept": one.kept}) for one in segment.cuts]
        findings += [
            Finding("never fits", {"id": one.id, "reason": one.reason, "length": len(one.text)})
            for one in segment.squeezed
            if one.reason in {LONGER_THAN_HALF, LONGER_THAN_SEGMENT, NOTHING_PRINTABLE}
        ]
    return findings


def _flag_findings(facts: tuple[Fact, ...], attribution: tuple[Attribution, ...]) -> list[Finding]:
    told = {row.fact.id: row.problems for row in attribution}
    odd = [
        Finding("flag", {"id": fact.id, "reason": reason})
        for fact in facts
        for reason in told.get(fact.id, fact.problems)
    ]
    red = [
        Finding("red flag", {"id": fact.id, "status": fact.status, "reason": ", ".join(fact.flags)})
        for fact in facts
        if fact.flags and fact.status != "retired"
    ]
    return [*red, *odd]


def _session_findings(sessions: tuple[SessionRow, ...]) -> list[Finding]:
    return [
        Finding("session", {"id": row.id, "reason": f"{row.status}; {'; '.join(row.problems[:2])}".rstrip("; ")})
        for row in sessions
        if row.status not in NORMAL
    ]
