"""Which messages answer a query best: BM25, role weights, and what the messages around say (S2-239, A-17)."""

from __future__ import annotations

import functools
import heapq
import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

Role = Literal["user", "assistant"]

#: BM25: how fast repetition stops to count, and how much a message's length does (PERFORMANCE 4 found 1.2 and .3).
#: An index without positions keeps no counts, so a token counts once a message: that costs R@10 .002 on LoCoMo's dev
#: half, and moved the best B to .2 - .25.
K1: Final = 1.2
B: Final = 0.25
#: A-17: the owner's words weigh more than the agent's.
ROLE_WEIGHTS: Final[dict[Role, float]] = {"user": 1.0, "assistant": 0.7}
ROLES: Final[tuple[Role, Role]] = ("user", "assistant")
#: The share of a neighbour's score, one and two messages away, for a token that the message itself lacks.
NEIGHBOUR_SHARES: Final = (0.6, 0.35)
#: Best messages by their own words whose order the neighbours may change.
POOL: Final = 300
#: Tokens of a message that count for its length; a longer message weighs as one of this length.
LENGTH_LIMIT: Final = 4095
#: Different tokens of a query that are looked for; the rest of a longer query is left out.
TERM_LIMIT: Final = 64
#: The time of a message that has none.
NO_TIME: Final = -1


class Ranked(NamedTuple):
    """One message's place in the answer: its number on the shelf and its score."""

    document: int
    score: float


@dataclass
class Shelf:
    """The messages that can be searched, numbered from 1, as columns: what ranking needs to know of each, no text.

    ``codes`` hold length and role (see ``code_of``), 0 for a message that no longer counts; ``times`` are epoch
    milliseconds. A session's messages stand in one or several blocks of following numbers: ``before`` and ``after``
    lead from a block's first and last message to the session's message in another block, 0 being none.
    """

    codes: array[int] = field(default_factory=lambda: array("H", [0]))
    seqs: array[int] = field(default_factory=lambda: array("q", [0]))
    times: array[int] = field(default_factory=lambda: array("q", [NO_TIME]))
    sessions: array[int] = field(default_factory=lambda: array("I", [0]))
    before: dict[int, int] = field(default_factory=dict)
    after: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    blocks: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    def copy(self) -> Shelf:
        """A shelf that may be changed while this one stays."""
        return Shelf(
            self.codes[:],
            self.seqs[:],
            self.times[:],
            self.sessions[:],
            dict(self.before),
            dict(self.after),
            dict(self.last),
            {session: list(blocks) for session, blocks in self.blocks.items()},
        )

    def add(self, session: int, seqs: Sequence[int], times: Sequence[int], codes: Sequence[int]) -> int:
        """Put a block of a session's messages after all others; the number of its first one."""
        first = len(self.codes)
        if not codes:
            return first
        self.codes.extend(codes)
        self.seqs.extend(seqs)
        self.times.extend(times)
        self.sessions.extend(array("I", [session]) * len(codes))
        previous, end = self.last.get(session, 0), len(self.codes) - 1
        self.before[first], self.after[end], self.last[session] = previous, 0, end
        if previous:
            self.after[previous] = first
        self.blocks.setdefault(session, []).append((first, len(codes)))
        return first

    def skip(self, count: int) -> None:
        """Leave out ``count`` numbers: rows of an index that no longer count."""
        self.codes.extend(array("H", [0]) * count)
        self.seqs.extend(array("q", [0]) * count)
        self.times.extend(array("q", [NO_TIME]) * count)
        self.sessions.extend(array("I", [0]) * count)

    def remove(self, session: int) -> None:
        """Let a session's messages no longer count."""
        for first, count in self.blocks.pop(session, ()):
            self.codes[first : first + count] = array("H", [0]) * count
        self.last.pop(session, None)

    def neighbours(self, document: int) -> Iterable[tuple[float, int]]:
        """The messages one and two away in the same session, nearest and earlier ones first, with their shares."""
        left = right = document
        for share in NEIGHBOUR_SHARES:
            left = self.before[left] if left in self.before else left - 1 if left else 0
            right = self.after[right] if right in self.after else right + 1 if right else 0
            if left:
                yield share, left
            if right:
                yield share, right


class Collection(NamedTuple):
    """What the weight of a token and of a length depends on: how many messages there are, and their mean length."""

    size: int
    mean: float

    @classmethod
    def of(cls, lengths: Sequence[int]) -> Collection:
        """The collection of messages of these lengths."""
        return cls(len(lengths), sum(lengths) / len(lengths) if lengths else 0.0)

    def rarity(self, frequency: int) -> float:
        """What finding a token is worth that ``frequency`` messages hold (BM25's idf, never negative)."""
        return math.log1p((max(self.size, frequency) - frequency + 0.5) / (frequency + 0.5))


@functools.lru_cache(maxsize=8)
def weigh_codes(collection: Collection, role: Role | None = None) -> tuple[float, ...]:
    """Code -> what a token found in such a message weighs; 0 for the other role when ``role`` is given."""
    scale = collection.mean or 1.0
    table = [0.0]
    for code in range(1, (LENGTH_LIMIT << 1) + 3):
        length, speaker = length_of(code), ROLES[(code - 1) & 1]
        factor = (K1 + 1) / (1 + K1 * (1 - B + B * length / scale))
        table.append(ROLE_WEIGHTS[speaker] * factor if role in (None, speaker) else 0.0)
    return tuple(table)


def code_of(length: int, role: Role) -> int:
    """A message's number of different tokens and its role as one number above 0."""
    return (min(length, LENGTH_LIMIT) << 1 | ROLES.index(role)) + 1


def length_of(code: int) -> int:
    """The length in a message's code."""
    return (code - 1) >> 1


def collect(postings: Sequence[Sequence[int]]) -> dict[int, int]:
    """Document -> the terms it holds, as bits in the order of ``postings``."""
    order = sorted(range(len(postings)), key=lambda term: -len(postings[term]))
    if not order:
        return {}
    found = dict.fromkeys(postings[order[0]], 1 << order[0])
    known = found.get
    for term in order[1:]:
        bit = 1 << term
        for document in postings[term]:
            found[document] = known(document, 0) | bit
    return found


def rank(
    shelf: Shelf,
    found: dict[int, int],
    rarities: Sequence[float],
    collection: Collection,
    *,
    limit: int,
    role: Role | None = None,
    smoothing: bool = True,
) -> list[Ranked]:
    """The best ``limit`` documents of ``found``, best first; equal ones newest first.

    The score is BM25 with each term counted once, times the role's weight. The best ``POOL`` are then ordered anew:
    a term that a message lacks is supplied once by the nearest message beside it that has it, at its share. So an
    answer rises next to its question, while words repeated from step to step of a tool-heavy session raise nothing,
    and a message without a term of its own is never returned.
    """
    masses = {0: 0.0}

    def mass(terms: int) -> float:
        if terms not in masses:
            masses[terms] = sum(rarity for term, rarity in enumerate(rarities) if terms >> term & 1)
        return masses[terms]

    for terms in set(found.values()):
        mass(terms)
    codes, weights = shelf.codes, weigh_codes(collection)
    eligible = weights if role is None else weigh_codes(collection, role)
    scored = [(eligible[codes[document]] * masses[terms], document) for document, terms in found.items()]
    pool = heapq.nlargest(max(POOL, limit), scored)
    ranked = []
    for score, document in pool:
        if not score:
            continue
        total, held = score, found[document]
        for share, neighbour in shelf.neighbours(document) if smoothing else ():
            supplied = found.get(neighbour, 0) & ~held
            if supplied:
                total += share * weights[codes[neighbour]] * mass(supplied)
                held |= supplied
        ranked.append(Ranked(document, total))
    times, sessions, seqs = shelf.times, shelf.sessions, shelf.seqs
    ranked.sort(
        key=lambda one: (-round(one.score, 9), -times[one.document], sessions[one.document], seqs[one.document])
    )
    return ranked[:limit]
