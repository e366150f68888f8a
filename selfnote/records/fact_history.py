"""A fact as it was at an instant: its history read backwards, and whether that history is whole (S2-084)."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from selfnote.records.fact_changes import fact_id
from selfnote.records.fact_lines import TRANSITIONS, Fact, HistoryItem

#: The fields whose change is told by their old and new value; a link's is told in words.
_VALUED = frozenset({"text", "detail", "channel", "tags", "importance"})


class PastFact(NamedTuple):
    """A fact as it was; ``unknown`` are fields whose value then the history no longer holds: they have a later one."""

    fact: Fact
    unknown: frozenset[str] = frozenset()


def fact_at(fact: Fact, instant: datetime) -> PastFact | None:
    """``fact`` as its history says it was at ``instant``; None when it was not kept yet.

    A change of that very instant had happened. Counters and links are those of now: they have no history.
    """
    if fact.created_at is not None and fact.created_at > instant:
        return None
    later = next((place for place, item in enumerate(fact.history) if item.at is not None and item.at > instant), None)
    if later is None:
        return PastFact(fact)
    values: dict[str, Any] = {"history": fact.history[:later]}
    unknown: set[str] = set()
    for item in reversed(fact.history[later:]):
        name = to_snake(item.field) if item.field else "status"
        if name not in _VALUED | {"status"}:
            continue
        old = item.from_ if name == "status" else item.old
        if _may_be(fact, name, old):
            values[name] = old
            unknown.discard(name)
        else:
            unknown.add(name)
    status = values.get("status", fact.status)
    values["approved_at"] = _approved_at(fact, status, fact.history[:later], instant)
    return PastFact(Fact.model_validate({**fact.__dict__, **values}), frozenset(unknown))


def _may_be(fact: Fact, name: str, value: Any) -> bool:
    try:
        Fact.model_validate({**fact.__dict__, name: value})
    except ValidationError:
        return False
    return True


def _approved_at(fact: Fact, status: str, history: tuple[HistoryItem, ...], instant: datetime) -> datetime | None:
    """When it had been approved: the approval is the old one again after an undo (DESIGN "Transitions")."""
    if status == "candidate":
        return None
    if fact.approved_at is not None and fact.approved_at <= instant:
        return fact.approved_at
    approvals = [
        item.at for item in history if item.field is None and item.to == "approved" and item.from_ in TRANSITIONS
    ]
    return next((at for at in reversed(approvals) if at is not None), None)


def first_text(fact: Fact) -> str | None:
    """The wording a fact was kept with, as its history tells it; None when the history no longer holds it."""
    edits = [item for item in fact.history if item.field == "text"]
    if not edits:
        return fact.text
    return edits[0].old if isinstance(edits[0].old, str) else None


def is_whole(fact: Fact) -> bool:
    """Whether the history leads from the wording the fact was kept with, which its id is a hash of, to that of now.

    No: its line was changed past the library, in an editor or by another program, or its wording was forgotten. Each
    wording must follow from the one before it.
    """
    first = first_text(fact)
    if first is None:
        return False
    kept = fact_id(first, fact.source, fact.created_at)
    if fact.id != kept and not fact.id.startswith(f"{kept}."):
        return False
    wording: Any = first
    for item in fact.history:
        if item.field == "text":
            if item.old != wording:
                return False
            wording = item.new
    return bool(wording == fact.text)
