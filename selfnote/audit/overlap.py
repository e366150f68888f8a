"""What says the same twice or contradicts itself, and the characters that costs (COMPLAINTS 30, S2-183, A-13)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from selfnote.audit.likeness import find_related_among
from selfnote.audit.report import Auditable
from selfnote.audit.scenarios import changed, inside, with_facts, without_notes
from selfnote.audit.schema import from_rows
from selfnote.injection.assemble import Injection, Snapshot, assemble, basis_of_snapshot, read_snapshot
from selfnote.injection.rotation import FACT_SEGMENTS
from selfnote.records.conflicts import Relation, profile_text
from selfnote.records.fact_lines import Fact, Link, open_conflict_pairs
from selfnote.records.notes import Note, is_expired
from selfnote.text import safe
from selfnote.times import EPOCH, local_date, require_aware

if TYPE_CHECKING:
    import pandas as pd

_RESOLVED = "supposed"


class _Item(NamedTuple):
    """A live fact or note."""

    id: str
    kind: str
    status: str
    text: str
    fact: Fact | None = None
    note: Note | None = None


class _Pair(NamedTuple):
    """Two items that relate."""

    one: _Item
    other: _Item
    relation: Relation


# --- the same twice -----------------------------------------------------------------------------------
def pairs(memory: Auditable, *, now: datetime) -> pd.DataFrame:
    """Every two live entries that say the same, nearly the same or the opposite: frame ``pairs``.

    Live are approved facts, candidates and notes that are not expired. What they say is compared as it stands now
    (`relate`, with the threshold of the settings); what was linked when they were kept stands in ``linked``.
    """
    now = require_aware(now)
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    found = _related(snapshot, now)
    numbers = {item.id: number for number, members in enumerate(_clusters(found)) for item in members}
    rows = []
    for one, other, relation in found:
        link = _link_between(one, other)
        rows.append(
            {
                **_both(one, other),
                "kind": one.kind,
                "other_kind": other.kind,
                "relation": relation.kind,
                "rule": relation.rule,
                "score": relation.score,
                "linked": link.kind if link else None,
                "resolved": link.resolved if link else None,
                "cluster": numbers.get(one.id) if relation.kind != "conflict" else None,
            }
        )
    return from_rows("pairs", rows)


def clusters(memory: Auditable, *, now: datetime) -> pd.DataFrame:
    """What says the same, taken together, and the characters wasted on it: frame ``clusters``, the costliest first.

    A cluster is held together by pairs that are the same or near. The one to keep is an approved fact before a note
    before a candidate, then what is in the text, the more important, the more often injected, the older. ``wasted`` is
    what the text of now would give back if the others were gone and nothing came in for them, by the real packer;
    ``entering`` is what would come in at the next choice.
    """
    now = require_aware(now)
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    injection = assemble(snapshot, now, choice=snapshot.rotation_file.value)
    there = inside(injection)
    rows = []
    for number, members in enumerate(_clusters(_related(snapshot, now))):
        ordered = sorted(members, key=lambda item: _worth(item, there))
        kept, gone = ordered[0], ordered[1:]
        freed, entering = _free(snapshot, injection, now, gone)
        rows.append(
            {
                "cluster": number,
                "size": len(ordered),
                "ids": tuple(item.id for item in ordered),
                "keep": kept.id,
                "text": kept.text,
                "inside": sum(item.id in there for item in ordered),
                "stored": sum(len(safe(item.text)) for item in gone),
                "wasted": freed,
                "entering": entering,
            }
        )
    return from_rows("clusters", sorted(rows, key=lambda row: (-row["wasted"], -row["stored"], row["cluster"])))


def _live(snapshot: Snapshot, now: datetime) -> list[_Item]:
    today, days = local_date(now, snapshot.zone), snapshot.config.temp_ttl_days
    facts = [
        _Item(fact.id, "fact", fact.status, fact.text, fact=fact)
        for fact in snapshot.facts_file.value.facts
        if fact.status != "retired"
    ]
    return facts + [
        _Item(note.id, "note", note.tier, note.text, note=note)
        for note in snapshot.notes_file.value.notes
        if not is_expired(note, today, days)
    ]


def _related(snapshot: Snapshot, now: datetime) -> list[_Pair]:
    items = _live(snapshot, now)
    found = find_related_among([profile_text(item.text) for item in items], near=snapshot.config.thresholds.near)
    return [_Pair(items[one.one], items[one.other], one.relation) for one in found]


def _clusters(found: Iterable[_Pair]) -> list[list[_Item]]:
    """Items held together by pairs that are the same or near, in the order of their first."""
    group_of: dict[str, dict[str, _Item]] = {}
    for one, other, relation in found:
        if relation.kind == "conflict":
            continue
        mine, its = group_of.setdefault(one.id, {one.id: one}), group_of.setdefault(other.id, {other.id: other})
        if mine is not its:
            mine |= its
            group_of |= dict.fromkeys(its, mine)
    return [list(group.values()) for group in {id(group): group for group in group_of.values()}.values()]


def _worth(item: _Item, there: Collection[str]) -> tuple[object, ...]:
    """What is kept of a cluster comes first."""
    fact, note = item.fact, item.note
    out = item.id not in there
    if fact is not None:
        age = (fact.approved_at or fact.created_at or EPOCH).timestamp()
        return (0 if fact.status == "approved" else 2, out, -fact.importance, -fact.hit_count, age, item.id)
    pinned, line = (note.pinned, note.line) if note is not None else (False, 0)
    return (1, out, -float(pinned), 0, float(line), item.id)


def _free(
    snapshot: Snapshot, injection: Injection, now: datetime, gone: Sequence[_Item]
) -> tuple[int, tuple[str, ...]]:
    """Code points the text gives back without these, and what comes in for them."""
    retired = {item.id: changed(item.fact, status="retired") for item in gone if item.fact is not None}
    notes = {item.id for item in gone if item.note is not None}
    printed = {entry.id: len(entry.text) for entry in injection.segments["notes"].entries}
    without = without_notes(with_facts(snapshot, retired), notes)
    choice = injection.choice
    freed = sum(printed.get(identifier, 0) for identifier in notes)
    if choice is not None and retired:
        profile, env, conclusions = (
            tuple(one for one in ids if one not in retired) for ids in (choice.profile, choice.env, choice.conclusions)
        )
        basis = basis_of_snapshot(without, without.config, without.config.budgets())
        kept = choice._replace(basis=basis, profile=profile, env=env, conclusions=conclusions)
        packed = assemble(without, now, choice=kept)
        freed += sum(injection.segments[name].used - packed.segments[name].used for name in FACT_SEGMENTS)
    before = inside(assemble(snapshot, now, choice=None))
    after = inside(assemble(without, now, choice=None))
    return freed, tuple(one for one in after if one not in before)


# --- the opposite -------------------------------------------------------------------------------------
def conflicts(memory: Auditable, *, now: datetime) -> pd.DataFrame:
    """Open conflicts and the characters they hold back: frame ``conflicts``.

    Read from the stored links, as the composer reads them. Two approved facts in an open conflict both stay out of the
    text; what each would take is worked out by the real composer with the other retired, and with the link resolved.
    """
    now = require_aware(now)
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    facts = {fact.id: fact for fact in snapshot.facts_file.value.facts if fact.status != "retired"}
    rows = []
    for pair in open_conflict_pairs(facts.values()):
        one, other = (facts[identifier] for identifier in pair)
        holds = one.status == other.status == "approved"
        link = _find_link(one, other.id) or _find_link(other, one.id)
        rows.append(
            {
                **_both(_as_item(one), _as_item(other)),
                "rule": link.rule or None if link else None,
                "score": link.score if link else None,
                "holds": holds,
                "if_only_this": _printed(snapshot, now, [one.id], _retired(other)) if holds else 0,
                "if_only_other": _printed(snapshot, now, [other.id], _retired(one)) if holds else 0,
                "held": _printed(snapshot, now, pair, _reconciled(one, other)) if holds else 0,
            }
        )
    return from_rows("conflicts", rows)


def _as_item(fact: Fact) -> _Item:
    return _Item(fact.id, "fact", fact.status, fact.text, fact=fact)


def _both(one: _Item, other: _Item) -> dict[str, Any]:
    return {
        "id": one.id,
        "other": other.id,
        "status": one.status,
        "other_status": other.status,
        "text": one.text,
        "other_text": other.text,
    }


def _find_link(fact: Fact | None, identifier: str) -> Link | None:
    return next((link for link in fact.similar_to if link.id == identifier), None) if fact is not None else None


def _link_between(one: _Item, other: _Item) -> Link | None:
    return _find_link(one.fact, other.id) or _find_link(other.fact, one.id)


def _retired(fact: Fact) -> dict[str, Fact]:
    return {fact.id: changed(fact, status="retired")}


def _reconciled(one: Fact, other: Fact) -> dict[str, Fact]:
    """Both facts with the conflict between them resolved."""
    return {
        fact.id: changed(
            fact,
            similar_to=tuple(
                link.model_copy(update={"resolved": _RESOLVED}) if link.id == against.id else link
                for link in fact.similar_to
            ),
        )
        for fact, against in ((one, other), (other, one))
    }


def _printed(snapshot: Snapshot, now: datetime, identifiers: Collection[str], facts: Mapping[str, Fact]) -> int:
    """Code points of these facts in a text chosen afresh with ``facts`` changed."""
    injection = assemble(with_facts(snapshot, facts), now, choice=None)
    return sum(
        len(entry.text)
        for segment in injection.segments.values()
        for entry in segment.entries
        if entry.id in identifiers
    )
