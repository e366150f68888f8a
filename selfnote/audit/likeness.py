"""Which of many texts relate to each other: every pair that `relate` would name, without asking it for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from selfnote.records.conflicts import Profiled, Relation, relate

#: Rows compared at a time: 10,000 texts then take 20 MB.
_ROWS = 512


class Related(NamedTuple):
    """Two places, in the first and in the second list, and how the texts there relate."""

    one: int
    other: int
    relation: Relation


def find_related(ones: Sequence[Profiled], others: Sequence[Profiled], *, near: float) -> list[Related]:
    """Every pair of a text of ``ones`` and one of ``others`` that relates, by place.

    `relate` asks for likeness of the folded texts or of their topics, so only pairs alike in either are put to it.
    """
    places = sorted(
        {
            *_alike([one.folded for one in ones], [other.folded for other in others], near),
            *_alike([one.topic for one in ones], [other.topic for other in others], near),
        }
    )
    found = ((one, other, relate(ones[one], others[other], near=near)) for one, other in places)
    return [Related(one, other, relation) for one, other, relation in found if relation is not None]


def find_related_among(texts: Sequence[Profiled], *, near: float) -> list[Related]:
    """Every pair of two texts that relate, each once, the earlier place first."""
    return [found for found in find_related(texts, texts, near=near) if found.one < found.other]


def _alike(ones: Sequence[str], others: Sequence[str], near: float) -> Iterator[tuple[int, int]]:
    import numpy as np
    from rapidfuzz import fuzz, process

    if not ones or not others:
        return
    for start in range(0, len(ones), _ROWS):
        scores = process.cdist(
            ones[start : start + _ROWS], others, scorer=fuzz.ratio, score_cutoff=near, dtype=np.float32
        )
        for one, other in zip(*np.nonzero(scores), strict=True):
            yield start + int(one), int(other)
