"""The audit: everything an owner should know about a memory at one instant, as one value."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, tzinfo
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from selfnote.config import TOTAL_BUDGET, Config
from selfnote.home import MemoryHome
from selfnote.injection.assemble import HasHome, Injection, Snapshot, assemble, read_snapshot
from selfnote.injection.explain import Attribution, attribute
from selfnote.injection.segments import LONGER_THAN_HALF, LONGER_THAN_SEGMENT, NOTHING_PRINTABLE
from selfnote.phrases import FINDINGS, REASON_LABELS
from selfnote.records.fact_lines import Fact, waiting_order
from selfnote.records.ledger import read_hits, read_seen
from selfnote.records.notes import is_expired
from selfnote.storage.fingerprints import fingerprint
from selfnote.storage.jsonl import BadLine
from selfnote.times import clock, format_instant, local_date, require_aware

if TYPE_CHECKING:
    from selfnote.sessions.library import Sessions
    from selfnote.sessions.log import SessionLog

#: Statuses of a session log that are normal: a live or killed session ends in a torn tail (HARNESS part 1, 9).
_NORMAL_STATUS = frozenset({"ok", "torn"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a person should look at: its kind (a key of ``phrases.FINDINGS``) and the values of its sentence."""

    kind: str
    values: dict[str, Any]

    def sentence(self, language: str = "en") -> str:
        """The finding in words."""
        values = dict(self.values)
        if "reason" in values:
            values["reason"] = REASON_LABELS[language].get(values["reason"], values["reason"])
        return FINDINGS[language][self.kind].format(**values)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session log: counts without what a fork copied from its parent; ``size`` in bytes, ``last`` in UTC."""

    id: str
    cwd: str | None
    status: str
    events: int
    turns: int
    owner_messages: int
    kinds: dict[str, int]
    delegated: bool
    size: int
    created: datetime | None
    last: datetime | None
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The row as plain JSON values."""
        return {
            "id": self.id,
            "cwd": self.cwd,
            "status": self.status,
            "events": self.events,
            "turns": self.turns,
            "ownerMessages": self.owner_messages,
            "kinds": self.kinds,
            "delegated": self.delegated,
            "size": self.size,
            "createdAt": format_instant(self.created) if self.created else None,
            "lastAt": format_instant(self.last) if self.last else None,
            "problems": list(self.problems),
        }


@dataclass(frozen=True)
class Report:
    """What one memory holds, injects, squeezes out and waits for, at one instant. Made by ``Memory.audit``.

    ``str(report)`` is the text, ``to_json()`` plain values for a script; in a notebook it shows itself.
    """

    home: MemoryHome
    now: datetime
    zone: tzinfo | None
    config: Config
    has_memory: bool
    injection: Injection
    attribution: tuple[Attribution, ...]
    facts: tuple[Fact, ...]
    conflicts: tuple[tuple[str, str], ...]
    notes: dict[str, int]
    sessions: tuple[SessionRow, ...]
    bad_lines: tuple[BadLine, ...]
    findings: tuple[Finding, ...]

    @property
    def candidates(self) -> list[Fact]:
        """The facts that wait for the owner: flagged first, then most often heard, then oldest."""
        return waiting_order(fact for fact in self.facts if fact.status == "candidate")

    @property
    def states(self) -> dict[str, int]:
        """Attribution state -> number of approved facts."""
        counted = Counter(row.state for row in self.attribution)
        return {state: counted[state] for state in ("active", "silent", "seen", "never")}

    @property
    def statuses(self) -> dict[str, int]:
        """Fact status -> number of facts."""
        counted = Counter(fact.status for fact in self.facts)
        return {status: counted[status] for status in ("candidate", "approved", "retired")}

    def __str__(self) -> str:
        from selfnote.audit.text_report import render_text

        return render_text(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values; times in UTC ISO-8601, lengths in code points, sizes in bytes."""
        injection = self.injection
        return {
            "home": str(self.home.root),
            "now": format_instant(self.now),
            "hasMemory": self.has_memory,
            "injection": injection_json(injection),
            "attribution": [
                {
                    "id": row.fact.id,
                    "text": row.fact.text,
                    "channel": row.fact.channel,
                    "segment": row.segment,
                    "absorbed": row.absorbed,
                    "state": row.state,
                    "heat": round(row.heat, 6),
                    "hitCount": row.fact.hit_count,
                    "lastHit": format_instant(row.fact.last_hit) if row.fact.last_hit else None,
                    "seenCount": row.fact.seen_count,
                    "lastSeen": format_instant(row.fact.last_seen) if row.fact.last_seen else None,
                    "problems": list(row.problems),
                }
                for row in self.attribution
            ],
            "states": self.states,
            "facts": self.statuses,
            "notes": self.notes,
            "candidates": [
                {
                    "id": fact.id,
                    "text": fact.text,
                    "source": fact.source,
                    "reason": fact.reason,
                    "occurrences": fact.occurrences,
                    "createdAt": format_instant(fact.created_at) if fact.created_at else None,
                }
                for fact in self.candidates
            ],
            "conflicts": [list(pair) for pair in self.conflicts],
            "sessions": [row.to_json() for row in self.sessions],
            "badLines": [
                {"file": one.path.name, "line": one.line, "reason": one.reason, "excerpt": one.excerpt}
                for one in self.bad_lines
            ],
            "findings": [{"kind": one.kind, "sentence": one.sentence()} for one in self.findings],
        }


def injection_json(injection: Injection) -> dict[str, Any]:
    """An injection and its bill as plain JSON values."""
    return {
        "text": injection.text,
        "reason": injection.reason,
        "digest": injection.digest,
        "totalChars": injection.total_chars,
        "totalBudget": TOTAL_BUDGET,
        "framingChars": injection.framing_chars,
        "hintChars": injection.hint_chars,
        "absorbed": list(injection.absorbed),
        "flags": list(injection.flags),
        "segments": {
            name: {
                "budget": segment.budget,
                "used": segment.used,
                "entries": [{"kind": one.kind, "id": one.id, "text": one.text} for one in segment.entries],
                "squeezed": [
                    {
                        "kind": one.kind,
                        "id": one.id,
                        "text": one.text,
                        "needs": one.needs,
                        "left": one.left,
                        "reason": one.reason,
                    }
                    for one in segment.squeezed
                ],
                "cuts": [{"id": one.id, "length": one.length, "kept": one.kept} for one in segment.cuts],
            }
            for name, segment in injection.segments.items()
        },
    }


class Auditable(HasHome, Protocol):
    """What an audit needs of a memory."""

    @property
    def sessions(self) -> Sessions:
        """Its session logs."""
        ...


def audit(memory: Auditable, *, now: datetime | None = None, progress: bool = False) -> Report:
    """Audit a memory: read everything, write nothing.

    Parameters
    ----------
    memory
        What to audit.
    now
        The instant to audit, UTC-aware; None reads the clock.
    progress
        Show a bar while session logs are read.
    """
    instant = require_aware(now if now is not None else clock())
    home = memory.home
    snapshot = read_snapshot(home, zone=memory.zone_override)
    injection = assemble(snapshot, instant, choice=snapshot.rotation_file.value)
    attribution = tuple(attribute(snapshot, injection, instant))
    logs = [*memory.sessions.read_all(progress=progress)]
    sessions = tuple(session_row(log) for log in logs)
    ledger_problems, ledger_bad = _read_ledgers(home)
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
            *(Finding("problem", {"reason": one}) for one in (*injection.flags, *ledger_problems)),
            *(_bad_line_finding(one) for one in bad_lines),
            *_injection_findings(injection),
            *(Finding("conflict", {"id": one, "other": other}) for one, other in conflicts),
            *_flag_findings(facts, attribution),
            *_session_findings(sessions),
            *(Finding("session", {"id": one.where, "reason": one.reason}) for one in memory.sessions.refused),
        ),
    )


def has_memory(home: MemoryHome) -> bool:
    """Whether anything of a memory lies at ``home``: persona, notes, facts, habits or settings."""
    return any(fingerprint(path) for path in (home.persona, home.notes, home.facts, home.habits, home.config))


def session_row(log: SessionLog) -> SessionRow:
    """What an audit says of one session log."""
    header = log.header
    return SessionRow(
        id=log.id,
        cwd=header.cwd,
        status=log.status,
        events=log.event_count,
        turns=log.turn_count,
        owner_messages=log.owner_message_count,
        kinds=dict(sorted(log.source_kind_counts.items())),
        delegated=header.delegated,
        size=log.path.stat().st_size if log.path.exists() else 0,
        created=header.created_at,
        last=log.last_time,
        problems=tuple(f"{one.where}: {one.reason}" for one in log.problems),
    )


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
        if row.status not in _NORMAL_STATUS
    ]
