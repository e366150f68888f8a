"""A memory as it would be: the snapshot the composer reads, with facts or notes changed; nothing is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from selfnote.config import HIT_MERGE
from selfnote.injection.assemble import Injection, Snapshot
from selfnote.records.fact_lines import Fact
from selfnote.records.heat import is_count_due


def changed(fact: Fact, **values: Any) -> Fact:
    """The fact with other values; what is worked out of them once is worked out anew."""
    return Fact.model_construct(**{**{name: getattr(fact, name) for name in Fact.model_fields}, **values})


def with_facts(snapshot: Snapshot, facts: Mapping[str, Fact]) -> Snapshot:
    """The snapshot with these facts in place of those of the same ids; what was prepared of the others is kept."""
    file = snapshot.facts_file.value
    every = tuple(facts.get(fact.id, fact) for fact in file.facts)
    read = replace(snapshot.facts_file, value=replace(file, facts=every, by_id={fact.id: fact for fact in every}))
    return replace(snapshot, facts_file=read, earlier=snapshot.competing)


def count_hits(snapshot: Snapshot, injection: Injection, at: datetime) -> tuple[Snapshot, frozenset[str]]:
    """The snapshot after this text was counted as ``compose`` counts it, and the ids that were (S2-170, S2-171)."""
    if injection.reason is not None or injection.choice is None:
        return snapshot, frozenset()
    known, there = snapshot.facts_file.value.by_id, inside(injection)
    hit = {
        identifier: changed(fact, hit_count=fact.hit_count + 1, last_hit=at)
        for identifier in (*injection.choice.ids, *injection.absorbed)
        if identifier in there
        and (fact := known.get(identifier)) is not None
        and is_count_due(fact.last_hit, at, HIT_MERGE)
    }
    return with_facts(snapshot, hit) if hit else snapshot, frozenset(hit)


def without_notes(snapshot: Snapshot, identifiers: Collection[str]) -> Snapshot:
    """The snapshot without these notes."""
    file = snapshot.notes_file.value
    kept = tuple(note for note in file.notes if note.id not in identifiers)
    return replace(snapshot, notes_file=replace(snapshot.notes_file, value=file._replace(notes=kept)))


def inside(injection: Injection) -> dict[str, str]:
    """Id -> segment of everything that is in the text, the facts behind a profile override too."""
    entries = {entry.id: name for name, segment in injection.segments.items() for entry in segment.entries}
    return {**entries, **dict.fromkeys(injection.absorbed, "profile")}
