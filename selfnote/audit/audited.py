"""What an audit finds at one instant, as a value: the parts that text, HTML, CSV and JSON are made from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from selfnote.audit.token_counts import TokenCounts
from selfnote.config import TOTAL_BUDGET, Config
from selfnote.home import MemoryHome
from selfnote.injection.assemble import Injection
from selfnote.injection.explain import Attribution
from selfnote.phrases import FINDINGS, REASON_LABELS
from selfnote.records.fact_lines import Fact, waiting_order
from selfnote.records.habits import Habit
from selfnote.records.notes import Note
from selfnote.records.persona import Persona
from selfnote.storage.jsonl import BadLine
from selfnote.times import format_instant

if TYPE_CHECKING:
    from selfnote.sessions.log import SessionLog


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
            "createdAt": _instant_json(self.created),
            "lastAt": _instant_json(self.last),
            "problems": list(self.problems),
        }


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


@dataclass(frozen=True, repr=False)
class Audited:
    """What one memory holds, injects, squeezes out and waits for, at one instant; ``Report`` tells it.

    ``notes`` are counts by tier; ``kept_notes`` and ``kept_habits`` the records. ``tokens`` is None without a
    tokenizer (see ``token_counts``).
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
    persona: Persona
    kept_notes: tuple[Note, ...]
    kept_habits: tuple[Habit, ...]
    tokens: TokenCounts | None

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


# --- as plain values ------------------------------------------------------------------------------
def audited_json(audited: Audited) -> dict[str, Any]:
    """An audit as plain JSON values; times in UTC ISO-8601, lengths in code points, sizes in bytes."""
    tokens = audited.tokens
    return {
        "home": str(audited.home.root),
        "now": format_instant(audited.now),
        "hasMemory": audited.has_memory,
        "injection": injection_json(audited.injection),
        **({"tokens": {"by": tokens.by, "text": tokens.text, "segments": tokens.segments}} if tokens else {}),
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
                "lastHit": _instant_json(row.fact.last_hit),
                "seenCount": row.fact.seen_count,
                "lastSeen": _instant_json(row.fact.last_seen),
                "problems": list(row.problems),
            }
            for row in audited.attribution
        ],
        "states": audited.states,
        "facts": audited.statuses,
        "notes": audited.notes,
        "candidates": [
            {
                "id": fact.id,
                "text": fact.text,
                "source": fact.source,
                "reason": fact.reason,
                "occurrences": fact.occurrences,
                "createdAt": _instant_json(fact.created_at),
            }
            for fact in audited.candidates
        ],
        "conflicts": [list(pair) for pair in audited.conflicts],
        "sessions": [row.to_json() for row in audited.sessions],
        "badLines": [
            {"file": one.path.name, "line": one.line, "reason": one.reason, "excerpt": one.excerpt}
            for one in audited.bad_lines
        ],
        "findings": [{"kind": one.kind, "sentence": one.sentence()} for one in audited.findings],
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


def _instant_json(instant: datetime | None) -> str | None:
    return format_instant(instant) if instant is not None else None
