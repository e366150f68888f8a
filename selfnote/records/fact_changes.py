"""One change of facts.jsonl: the legal transitions, undo, edits, and how a new sentence meets the known ones."""

from __future__ import annotations

import functools
import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pydantic.alias_generators import to_camel

from selfnote.errors import Conflict, LimitExceeded, NotFound
from selfnote.records.conflicts import Profiled, Relation, find_relations, profile_text
from selfnote.records.fact_lines import (
    FACT_LINE,
    TRANSITIONS,
    Fact,
    FactFile,
    HistoryItem,
    Link,
    Status,
    encode_fact,
    to_json,
)
from selfnote.records.record_lines import free_id, require_short
from selfnote.storage.jsonl import RawJson, encode, extend_array, members, patch_object
from selfnote.storage.lines import Line, TextFile
from selfnote.times import format_instant

log = logging.getLogger(__name__)

Which = Fact | str


@dataclass
class Draft:
    """facts.jsonl while it is being changed: facts by id, and which of their fields are new."""

    parsed: FactFile
    now: datetime
    facts: dict[str, Fact] = field(default_factory=dict)
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    #: Facts the act under way has changed.
    touched: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.facts = dict(self.parsed.by_id)

    def get(self, identifier: str) -> Fact:
        """The fact as it stands in this change. Raises NotFound."""
        found = self.facts.get(identifier)
        if found is None:
            raise NotFound(
                f"no fact has the id {identifier!r} in {self.parsed.file.path.name} "
                f"({len(self.facts)} facts, {len(self.parsed.bad_lines)} unreadable lines)",
                told="no fact",
                id=identifier,
                file=self.parsed.file.path.name,
                facts=len(self.facts),
                unreadable=len(self.parsed.bad_lines),
            )
        return found

    def put(self, identifier: str, **values: Any) -> Fact:
        """Set fields of a fact; the new fact."""
        self.facts[identifier] = Fact.model_validate({**self.facts[identifier].__dict__, **values})
        self.changes.setdefault(identifier, {}).update(values)
        self.touched.add(identifier)
        return self.facts[identifier]

    def add(self, fact: Fact) -> Fact:
        """Add a new fact at the end of the file."""
        self.added.append(fact.id)
        self.facts[fact.id] = fact.model_copy(update={"line": len(self.parsed.file.lines) + len(self.added)})
        return self.facts[fact.id]

    def written(self) -> TextFile:
        """The file with the changed lines patched and the new ones appended."""
        file = self.parsed.file
        lines = list(file.lines)
        for identifier, values in self.changes.items():
            if identifier in self.added:
                continue
            line = lines[self.facts[identifier].line - 1]
            try:
                patched = self._patched(line.raw.decode(), self.parsed.by_id[identifier], values)
            except LimitExceeded:
                if set(values) <= _GROWS_BY_ITSELF:
                    log.warning("fact %s fills its line: its counters and links were not written", identifier)
                    continue
                raise
            lines[self.facts[identifier].line - 1] = Line(patched.encode(), line.newline)
        new = TextFile(file.path, file.bom, tuple(lines), file.newline, file.fingerprint)
        for identifier in self.added:
            new = new.appended(encode_fact(self.facts[identifier]))
        return new

    def require_room(self) -> None:
        """Refuse an act that would make a line too long for any reader. Raises LimitExceeded."""
        for identifier in self.touched:
            values = self.changes[identifier]
            if identifier not in self.added and not set(values) <= _GROWS_BY_ITSELF:
                raw = self.parsed.file.lines[self.facts[identifier].line - 1].raw.decode()
                self._patched(raw, self.parsed.by_id[identifier], values)

    @staticmethod
    def _patched(raw: str, before: Fact, values: dict[str, Any]) -> str:
        """A line with some fields set; lists only grow, so what stands in them stays byte for byte."""
        stored = members(raw)
        on_disk: dict[str, Any] = {}
        for name, value in values.items():
            key = to_camel(name)
            if name in _GROWING:
                old: tuple[Any, ...] = getattr(before, name)
                resolved = {link.id: link.resolved for link in value if link.resolved} if name == "similar_to" else {}
                added = to_json(name, value[len(old) :])
                on_disk[key] = RawJson(
                    extend_array(stored.get(key), added, changed=functools.partial(_resolution, resolved=resolved))
                )
            else:
                on_disk[key] = to_json(name, value)
        return require_short(patch_object(raw, on_disk), *FACT_LINE)


#: What grows without the owner's act; on a line that is full it waits (DESIGN "Links").
_GROWS_BY_ITSELF = frozenset(
    {"similar_to", "occurrences", "sources", "hit_count", "last_hit", "seen_count", "last_seen"}
)
#: Lists that only ever grow; their stored elements are not written anew.
_GROWING = ("history", "similar_to", "sources")


def _resolution(link: Mapping[str, Any], *, resolved: Mapping[str, str | None]) -> dict[str, Any] | None:
    """What to set in a stored conflict link that the owner just resolved."""
    if link.get("kind") == "conflict" and not link.get("resolved") and resolved.get(str(link.get("id"))):
        return {"resolved": resolved[str(link["id"])]}
    return None


# --- the rules of one act ------------------------------------------------------------------------
def shown(draft: Draft, one: Which, expect: str | None) -> Fact:
    """The stored fact, if it still is what the owner was shown."""
    if isinstance(one, Fact):
        stored = draft.get(one.id)
        expect = one.revision if expect is None else expect
    else:
        stored = draft.get(one)
    if expect is not None and stored.revision != expect:
        raise Conflict(
            f"fact {stored.id} has revision {stored.revision}, expected {expect}: it was changed meanwhile "
            f"(now {stored.status}: {stored.text[:40]!r}) - load it again",
            told="fact changed",
            id=stored.id,
            status=stored.status,
            text=stored.text,
        )
    return stored


def require_move(fact: Fact, to: Status) -> None:
    """Refuse a transition that is not one of TRANSITIONS. Raises Conflict."""
    if to != fact.status and to not in TRANSITIONS[fact.status]:
        way = "undo is the way back" if fact.status == "retired" else "retire is the only way on"
        raise Conflict(
            f"fact {fact.id} is {fact.status} and cannot become {to}; {way}",
            told="no such move",
            id=fact.id,
            status=fact.status,
            to=to,
        )


def move(draft: Draft, fact: Fact, to: Status, via: str, *, partner: Fact | None = None) -> Fact:
    """A legal transition with its line of history; the same state again changes nothing."""
    require_move(fact, to)
    if to == fact.status:
        return fact
    return _set_status(draft, fact, to, via, partner)


def _set_status(draft: Draft, fact: Fact, to: str, via: str, partner: Fact | None) -> Fact:
    item = HistoryItem(
        at=draft.now,
        via=via,
        from_=fact.status,
        to=to,
        replaces=partner.id if partner else None,
        replaces_revision=partner.revision if partner else None,
    )
    values: dict[str, Any] = {"status": to, "history": (*fact.history, item)}
    if to == "approved":
        values["approved_at"] = draft.now
    if to == "candidate":
        values["approved_at"] = None
    return draft.put(fact.id, **values)


def undo(draft: Draft, fact: Fact, via: str) -> Fact:
    """Restore the status before the last owner transition, and the fact moved together with this one."""
    last = _last_transition(fact)
    if last is None:
        raise Conflict(
            f"fact {fact.id} has no owner transition to undo; it is {fact.status} as it was kept",
            told="nothing to undo",
            id=fact.id,
            status=fact.status,
        )
    if last.to != fact.status:
        raise Conflict(
            f"fact {fact.id} is {fact.status} though its last transition ended in {last.to}: "
            "its line was changed by hand - change the status there",
            told="status by hand",
            id=fact.id,
            status=fact.status,
            ended=last.to,
        )
    if last.replaces is None:
        return _step_back(draft, fact, last, via, None)
    partner = draft.get(last.replaces)
    before = _last_transition(partner)
    if partner.revision != last.replaces_revision or before is None or before.at != last.at:
        raise Conflict(
            f"fact {partner.id}, moved together with {fact.id}, was changed since; undo or edit each by itself",
            told="partner changed",
            id=fact.id,
            partner=partner.id,
            status=partner.status,
            text=partner.text,
        )
    moved = _step_back(draft, partner, before, via, None)
    return _step_back(draft, fact, last, via, moved)


def _step_back(draft: Draft, fact: Fact, last: HistoryItem, via: str, partner: Fact | None) -> Fact:
    back = _set_status(draft, fact, last.from_ or "candidate", via, partner)
    if back.status == "approved":
        # The approval is the old one again: its age decides where it is printed (DESIGN "print by age").
        approvals = [item.at for item in fact.history if item.to == "approved" and item.field is None and item.at]
        return draft.put(fact.id, approved_at=fact.approved_at or (approvals[-1] if approvals else draft.now))
    return back


def _last_transition(fact: Fact) -> HistoryItem | None:
    return next(
        (
            item
            for item in reversed(fact.history)
            if item.field is None and item.from_ != item.to and item.from_ in TRANSITIONS
        ),
        None,
    )


def set_field(draft: Draft, fact: Fact, name: str, value: Any, via: str) -> Fact:
    """Change one field with a history item ``{field, old, new, from=to=field}``; the same value changes nothing."""
    old = getattr(fact, name)
    if old == value:
        return fact
    item = HistoryItem(
        at=draft.now,
        via=via,
        from_=name,
        to=name,
        field=name,
        old=to_json(name, old),
        new=to_json(name, value),
    )
    return draft.put(fact.id, **{name: value, "history": (*fact.history, item)})


def resolve(draft: Draft, one: Fact, other: Fact, via: str) -> Fact:
    """Mark the conflict of two facts as resolved by the owner, on both lines."""
    linked = [
        (fact, peer)
        for fact, peer in ((one, other), (other, one))
        if any(link.id == peer.id and link.kind == "conflict" for link in fact.similar_to)
    ]
    if not linked:
        raise NotFound(
            f"facts {one.id} and {other.id} are not linked as a conflict; there is nothing to resolve",
            told="no conflict",
            one=one.id,
            other=other.id,
        )
    for fact, peer in linked:
        links = tuple(
            link.model_copy(update={"resolved": format_instant(draft.now)})
            if link.id == peer.id and link.kind == "conflict" and not link.resolved
            else link
            for link in fact.similar_to
        )
        if links == fact.similar_to:
            continue
        item = HistoryItem(
            at=draft.now, via=via, from_="similarTo", to="similarTo", field="similarTo",
            old=f"{peer.id}: conflict", new=f"{peer.id}: resolved",
        )  # fmt: skip
        draft.put(fact.id, similar_to=links, history=(*fact.history, item))
    return draft.get(one.id)


# --- staging ------------------------------------------------------------------------------------
def stage(draft: Draft, wanted: Fact, near: float) -> Fact:
    """Add a candidate, or one more occurrence of what is known (DESIGN "Repeats")."""
    relations = find_relations(wanted.text, _profiled(draft), near=near)
    same = [draft.facts[identifier] for identifier, relation in relations if relation.kind == "same"]
    for status in ("approved", "candidate"):
        if known := next((fact for fact in same if fact.status == status), None):
            return _repeat(draft, known, wanted.source)
    fact = draft.add(wanted.model_copy(update={"id": _new_id(draft, wanted)}))
    return _write_links(draft, fact, relations)


def _repeat(draft: Draft, known: Fact, source: str) -> Fact:
    """One more occurrence; a source already listed is the same occurrence seen again (S2-189)."""
    listed = known.sources or ((known.source,) if known.source else ())
    if source in listed:
        return known
    return draft.put(known.id, occurrences=known.occurrences + 1, sources=(*listed, source))


def take_in(draft: Draft, facts: Iterable[Fact], near: float) -> None:
    """Add facts from elsewhere as they are, and link each with what was here before and is like or contradicts it."""
    here = _profiled(draft)
    for fact in facts:
        draft.add(fact)
        _write_links(draft, fact, find_relations(fact.text, here, near=near))


def link(draft: Draft, fact: Fact, near: float) -> Fact:
    """Link ``fact`` with what its new wording relates to; existing links stay."""
    others = [(identifier, profiled) for identifier, profiled in _profiled(draft) if identifier != fact.id]
    return _write_links(draft, fact, find_relations(fact.text, others, near=near))


def _write_links(draft: Draft, fact: Fact, relations: Sequence[tuple[str, Relation]]) -> Fact:
    for identifier, relation in relations:
        peer = draft.facts[identifier]
        _add_link(draft, fact.id, peer, relation)
        _add_link(draft, peer.id, draft.facts[fact.id], relation)
    return draft.facts[fact.id]


def _add_link(draft: Draft, identifier: str, peer: Fact, relation: Relation) -> None:
    fact = draft.facts[identifier]
    if any(link.id == peer.id and relation.kind in {link.kind, "same"} for link in fact.similar_to):
        return
    kind: Literal["near", "conflict"] = "conflict" if relation.kind == "conflict" else "near"
    rule = relation.rule
    retired = _last_transition(peer) if peer.status == "retired" else None
    if relation.kind == "same" and peer.status == "retired":
        rule = (
            f"identical; retired on {retired.at.date().isoformat()}" if retired and retired.at else "identical; retired"
        )
    draft.put(
        identifier,
        similar_to=(*fact.similar_to, Link(id=peer.id, kind=kind, rule=rule, score=relation.score)),
    )


@functools.lru_cache(maxsize=16384)
def _profile(text: str) -> Profiled:
    return profile_text(text)


def _profiled(draft: Draft) -> list[tuple[str, Profiled]]:
    return [(fact.id, _profile(fact.text)) for fact in draft.facts.values()]


def _new_id(draft: Draft, fact: Fact) -> str:
    return free_id(fact_id(fact.text, fact.source, fact.created_at), draft.facts.keys())


def fact_id(text: str, source: str, created_at: datetime | None) -> str:
    """``f-`` + 12 hex of sha256 of the wording a fact was first kept with, its source and when."""
    created = format_instant(created_at) if created_at else ""
    return "f-" + hashlib.sha256(encode([text, source, created]).encode()).hexdigest()[:12]
