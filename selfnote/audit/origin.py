"""Where a fact was said and where it was injected: what crosses from one project into another (COMPLAINTS 37, 38)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from selfnote.audit.fact_columns import source_of
from selfnote.audit.report import Auditable
from selfnote.audit.schema import from_rows, microseconds
from selfnote.injection.assemble import read_snapshot
from selfnote.injection.rotation import FACT_SEGMENTS
from selfnote.records.fact_lines import Fact
from selfnote.records.ledger import HitLine, read_hits
from selfnote.times import require_aware

if TYPE_CHECKING:
    import pandas as pd


class _Tally(NamedTuple):
    """The ledger lines of one working directory whose text held a fact, and how many of them counted it."""

    lines: list[HitLine]
    counted: list[HitLine]


class _Origin(NamedTuple):
    """What is known of where a fact was said."""

    kind: str
    cwds: tuple[str, ...] = ()


def origins(memory: Auditable, *, now: datetime) -> pd.DataFrame:
    """One row per fact and working directory it was injected in: frame ``origins``, facts in file order.

    A fact that was never injected has one row without a directory. The directories it was said in are those of the
    sessions of all its sources, by their logs, else by the ledger. A ledger line stands for the turns until the next
    one, so ``injections`` counts texts, not turns.
    """
    now = require_aware(now)
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    facts = snapshot.facts_file.value.facts
    lines = [line for line in read_hits(memory.home)[0] if line.at is None or line.at <= now]
    directories = _directories(memory, facts, lines)
    tallies = _tally({fact.id for fact in facts}, lines)
    rows: list[dict[str, Any]] = []
    for fact in facts:
        origin = _origin_of(fact, directories)
        shared = {
            "id": fact.id,
            "text": fact.text,
            "status": fact.status,
            "channel": fact.channel,
            "source": fact.source or None,
            "origin": origin.kind,
            "origin_cwds": origin.cwds,
        }
        places = tallies.get(fact.id, {None: _Tally([], [])})
        rows += [{**shared, **_place_row(cwd, tally, origin)} for cwd, tally in places.items()]
    return from_rows("origins", rows)


def _place_row(cwd: str | None, tally: _Tally, origin: _Origin) -> dict[str, Any]:
    times = [line.at for line in tally.lines if line.at is not None]
    return {
        "cwd": cwd,
        "injections": len(tally.lines),
        "sessions": len({line.session for line in tally.lines if line.session is not None}),
        "counted": len(tally.counted),
        "first_at": microseconds(min(times, default=None)),
        "last_at": microseconds(max(times, default=None)),
        "foreign": cwd not in origin.cwds if cwd is not None and origin.cwds else None,
    }


def _tally(known: set[str], lines: Sequence[HitLine]) -> dict[str, dict[str | None, _Tally]]:
    """Fact -> working directory -> how often it was in the text there; None where the ledger names none."""
    found: dict[str, dict[str | None, _Tally]] = {}
    for line in lines:
        there = {str(one) for name in FACT_SEGMENTS for one in line.ids.get(name, ())} | set(map(str, line.absorbed))
        counted = set(map(str, line.counted))
        for identifier in there & known:
            tally = found.setdefault(identifier, {}).setdefault(_directory(line.cwd), _Tally([], []))
            tally.lines.append(line)
            if identifier in counted:
                tally.counted.append(line)
    return found


def _directories(memory: Auditable, facts: Sequence[Fact], lines: Sequence[HitLine]) -> dict[str, str]:
    """Session -> its working directory, by its log, else by the ledger; of the sessions facts were said in."""
    sources = (source_of(text) for fact in facts for text in _sources(fact))
    said = {source.name for source in sources if source is not None and source.kind == "session"}
    found = {line.session: cwd for line in lines if line.session in said and (cwd := _directory(line.cwd)) is not None}
    for info in memory.sessions.list():
        if info.id in said and (cwd := _directory(memory.sessions.read(info).header.cwd)) is not None:
            found[info.id] = cwd
    return {str(session): cwd for session, cwd in found.items()}


def _sources(fact: Fact) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in (fact.source, *fact.sources) if one))


def _origin_of(fact: Fact, directories: Mapping[str, str]) -> _Origin:
    sources = [source_of(text) for text in _sources(fact)]
    sessions = [source.name for source in sources if source is not None and source.kind == "session"]
    cwds = tuple(dict.fromkeys(directories[name] for name in sessions if name in directories))
    if cwds:
        return _Origin("session", cwds)
    if sessions:
        return _Origin("session gone")
    return _Origin(next((source.kind for source in sources if source is not None), "unknown"))


def _directory(cwd: object) -> str | None:
    """A working directory as one name: without a slash at its end."""
    if cwd is None or not str(cwd):
        return None
    return str(cwd).rstrip("/") or "/"
