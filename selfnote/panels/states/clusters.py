"""Candidates in groups that can be decided together: what says much the same, or comes from the same place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from selfnote.errors import BadSource
from selfnote.records.conflicts import profile_text
from selfnote.records.fact_lines import Fact
from selfnote.records.sources import parse_source

#: How alike (0-100) a candidate's topic is to the first of a group it joins: looser than a near link, for reading only.
ALIKE = 60.0
#: The group of those that are like no other.
ALONE = "alone"


class Group(NamedTuple):
    """Candidates to decide together, in the order given; ``key`` names the group and stays while its first one does."""

    key: str
    facts: tuple[Fact, ...]


def by_likeness(facts: Sequence[Fact], alike: float = ALIKE) -> list[Group]:
    """Groups of what says much the same: linked as near, or alike to the first of the group; single ones together.

    Two in an open conflict are never in one group. Largest first, those that are like no other last.
    """
    from rapidfuzz import fuzz, process

    groups: list[list[Fact]] = []
    topics: list[str] = []
    place: dict[str, int] = {}

    def joins(fact: Fact, number: int) -> bool:
        members = {one.id for one in groups[number]}
        against = members & set(fact.open_conflicts)
        return not against and not any(fact.id in one.open_conflicts for one in groups[number])

    for fact in facts:
        near = [link.id for link in fact.similar_to if link.kind == "near"]
        number = next((place[one] for one in near if one in place and joins(fact, place[one])), None)
        topic = profile_text(fact.text).topic
        if number is None and topic:
            found = process.extract(topic, topics, scorer=fuzz.ratio, score_cutoff=alike, limit=3)
            number = next((at for _, _, at in found if joins(fact, at)), None)
        if number is None:
            number = len(groups)
            groups.append([])
            topics.append(topic)
        groups[number].append(fact)
        place[fact.id] = number
    several = sorted((one for one in groups if len(one) > 1), key=len, reverse=True)
    alone = tuple(one[0] for one in groups if len(one) == 1)
    found_groups = [Group(one[0].id, tuple(one)) for one in several]
    return [*found_groups, Group(ALONE, alone)] if alone else found_groups


def by_key(facts: Iterable[Fact], key: Callable[[Fact], str]) -> list[Group]:
    """Groups of what has the same key, largest first."""
    found: dict[str, list[Fact]] = {}
    for fact in facts:
        found.setdefault(key(fact), []).append(fact)
    return sorted((Group(name, tuple(one)) for name, one in found.items()), key=lambda one: -len(one.facts))


def origin_of(fact: Fact) -> str:
    """Where a fact was found: a session, a file, or the owner; empty when its source cannot be read."""
    try:
        source = parse_source(fact.source)
    except BadSource:
        return ""
    return source.name if source.kind == "session" else f"{source.kind}:{source.name}"
