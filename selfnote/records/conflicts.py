"""Which two facts say the same, nearly the same, or the opposite (A-13, DESIGN "Links")."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal, NamedTuple

from selfnote import text as texts

#: Ratio (0-100) of two folded texts from which they are linked.
NEAR = 80.0

_NEGATION = re.compile(
    r"不要|不用|不必|不许|不准|不能|不得|不可|不应|不该|不再|不会|不想|不喜欢|不需要|从不|绝不"
    r"|禁止|切勿|请勿|别再|严禁|避免|拒绝|讨厌|反对|没有|无需|无须|别|勿|没|不"
    r"|\b(?:do not|does not|did not|must not|should not|cannot|can not|never|not|no|without|avoid|stop|dislike|hate)\b"
    r"|\bdisable[ds]?\b"
    r"|\b(?:don|doesn|didn|mustn|shouldn|can|won|isn|aren|wasn|weren)['’]?t\b"
)
_AFFIRMATION = re.compile(
    r"需要|必须|务必|一定要|应该|应当|喜欢|可以|允许|总是|要|\b(?:always|must|should|please|do|prefer|like|enable[ds]?)\b"
)
_ORDER = re.compile(r"先|后|\b(?:first|last|before|after)\b")
#: Compounds in which a polarity character carries none.
_NEUTRAL = re.compile(
    r"不对称|不可变|不但|不仅|不同|不断|不过|不管|不论|差不多|区别|类别|级别|性别|分别|别名|特别|识别|个别|别的|重要|主要|要点|要求|概要|摘要|需要量"
    r"|后端|后台|后缀|最后|然后|以后|之后|今后|往后|落后|优先|先生|首先|事先|原先|先进|已不|没错|不错"
)


class Relation(NamedTuple):
    """How two texts stand to each other, by which rule, and how alike they are (0-100)."""

    kind: Literal["same", "near", "conflict"]
    rule: str
    score: float


class Profiled(NamedTuple):
    """A text with what the comparison needs, computed once."""

    folded: str
    topic: str
    numbers: tuple[str, ...]
    polarity: tuple[str, ...]


def profile_text(text: str) -> Profiled:
    """The folded text, its topic (without number and polarity tokens), numbers and polarity of ``text``."""
    normal = unicodedata.normalize("NFKC", text).casefold()
    bare = _NEUTRAL.sub(lambda found: "\x00" * len(found[0]), normal)
    polarity = ["-" for _ in _NEGATION.finditer(bare)]
    rest = _NEGATION.sub(lambda found: "\x01" * len(found[0]), bare)
    order = [_order_of(found[0]) for found in _ORDER.finditer(rest)]
    drop = {at for found in _ORDER.finditer(rest) for at in range(*found.span())}
    drop |= {at for at, char in enumerate(rest) if char == "\x01"}
    drop |= {at for found in _AFFIRMATION.finditer(rest) for at in range(*found.span())}
    topic = "".join(char for at, char in enumerate(normal) if at not in drop)
    return Profiled(
        texts.fold(text),
        texts.fold(texts.without_numbers(topic)),
        texts.numbers(text),
        (*(["-"] if len(polarity) % 2 else []), *order),
    )


def _order_of(word: str) -> str:
    return "<" if word in {"先", "first", "before"} else ">"


def relate(one: Profiled, other: Profiled, *, near: float = NEAR) -> Relation | None:
    """How two texts relate; None when they are about different things.

    Same: folded texts equal, numbers and polarity equal. Conflict: topics alike (ratio >= ``near``), numbers or
    polarity different. Near: texts alike, numbers and polarity equal.
    """
    equal_numbers = one.numbers == other.numbers
    equal_polarity = one.polarity == other.polarity
    if one.folded == other.folded and equal_numbers and equal_polarity:
        return Relation("same", "identical after folding", 100.0)
    if equal_numbers and equal_polarity:
        score = texts.similarity(one.folded, other.folded)
        return Relation("near", "alike, same numbers and polarity", round(score, 1)) if score >= near else None
    if not one.topic or not other.topic:
        return None
    score = texts.similarity(one.topic, other.topic)
    if score < near:
        return None
    rule = "same topic, different numbers" if not equal_numbers else "same topic, opposite polarity"
    return Relation("conflict", rule, round(score, 1))


def find_relations(
    text: str, others: Iterable[tuple[str, Profiled]], *, near: float = NEAR
) -> list[tuple[str, Relation]]:
    """Every id among ``others`` that ``text`` relates to, in the order given."""
    mine = profile_text(text)
    found = ((identifier, relate(mine, profiled, near=near)) for identifier, profiled in others)
    return [(identifier, relation) for identifier, relation in found if relation is not None]
