"""Which sentence of the owner says that the agent did wrong: rules in signals.toml, each with an id (A-11, S2-149)."""

from __future__ import annotations

import functools
import importlib.resources
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

Strength = Literal["strong", "weak"]

#: Code points of a message that are judged; what is longer is a pasted file, and its start is enough.
JUDGED_CHARS = 20_000
#: Stands where something was blanked out: no letter, no space, no mark.
_BLANK = "\u25a1"
_SENTENCE = re.compile(r"(?:[^。!?;…\n.]|\.(?!\s|\Z))*(?:[。!?;…]+|\.(?=\s|\Z)|\n|\Z)")
_CLAUSE = re.compile(r"(?:[^,、:—]|(?<=\d)[,:](?=\d))+")
_JOIN = re.compile(r"\s(?=(?:and|but|because|since|so)\s)")
_QUESTION = re.compile(r"\?|(?:吗|嘛|么)[。.…!]*\s*\Z")


class Signal(NamedTuple):
    """Evidence of a correction: how sure, by which rule, in which sentence (as the owner wrote it)."""

    strength: Strength
    rule: str
    clause: str


class Rule(NamedTuple):
    """One rule of signals.toml; the file says what each key means."""

    id: str
    strength: Strength
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None
    near: int | None
    question: bool
    examples: tuple[str, ...]


class NoCorrection(NamedTuple):
    """A sentence that looks like a correction and is none: by its clause, or by what stands before it."""

    id: str
    pattern: re.Pattern[str]
    before: bool


class RuleBook(NamedTuple):
    """signals.toml as read."""

    plain: Mapping[int, int]
    masks: tuple[re.Pattern[str], ...]
    exceptions: tuple[NoCorrection, ...]
    rules: tuple[Rule, ...]


@functools.cache
def rule_book() -> RuleBook:
    """The rules, read once from the data file beside this module."""
    import tomllib  # read on the first judged message (PERFORMANCE T11)

    data = importlib.resources.files("selfnote.records").joinpath("signals.toml").read_text("utf-8")
    values = tomllib.loads(data)
    parts: dict[str, str] = values["parts"]
    plain = dict(zip(map(ord, values["traditional"]), map(ord, values["simplified"]), strict=True))
    plain |= {full: full - 0xFEE0 for full in range(0xFF01, 0xFF5F)}
    plain |= {ord("’"): ord("'"), ord("\u3000"): ord(" "), ord("\u00a0"): ord(" ")}
    return RuleBook(
        plain,
        tuple(re.compile(one["pattern"]) for one in values["mask"]),
        tuple(
            NoCorrection(one["id"], re.compile(one["pattern"]), one["scope"] == "before") for one in values["except"]
        ),
        tuple(_rule(one, parts) for one in values["rule"]),
    )


def _rule(values: dict[str, Any], parts: dict[str, str]) -> Rule:
    pattern = values["pattern"]
    for name, part in parts.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    unless = values.get("unless")
    return Rule(
        values["id"],
        values["strength"],
        re.compile(pattern),
        re.compile(unless) if unless else None,
        values.get("near"),
        values.get("question", False),
        tuple(values["examples"]),
    )


def find_signal(text: str) -> Signal | None:
    """The signal of a correction in a message of the owner's; None when there is none.

    A strong one wins over a weak one; of several the first. Quotations, code, logs, examples, texts to be translated,
    other people's words, suppositions, questions (but for rhetorical ones) and polite talk are no corrections.
    """
    book = rule_book()
    original = text[:JUDGED_CHARS]
    own = _own_words(original, book)
    first = len(own) - len(own.lstrip(f" \t\r\n{_BLANK}"))
    weak: Signal | None = None
    for start, stop in _spans(own, 0, len(own), _SENTENCE):
        question = _QUESTION.search(own, start, stop) is not None
        for at, end in _clauses(own, start, stop):
            rule = _matching(book, own, at, end, stop, question=question, offset=at - first)
            if rule is None:
                continue
            signal = Signal(rule.strength, rule.id, original[start:stop].strip())
            if rule.strength == "strong":
                return signal
            weak = weak or signal
    return weak


def _own_words(text: str, book: RuleBook) -> str:
    """The text in one spelling, what is not the owner's own word blanked out; places stay."""
    plain = "".join(low if len(low := char.lower()) == 1 else char for char in text).translate(dict(book.plain))
    for mask in book.masks:
        plain = mask.sub(lambda found: re.sub(r"[^\n]", _BLANK, found[0]), plain)
    return plain


def _spans(text: str, start: int, stop: int, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for found in pattern.finditer(text, start, stop):
        if found[0].strip():
            yield found.span()


def _clauses(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    for at, end in _spans(text, start, stop, _CLAUSE):
        begin = at
        for join in _JOIN.finditer(text, at, end):
            yield begin, join.start()
            begin = join.start()
        yield begin, end


def _matching(book: RuleBook, text: str, at: int, end: int, stop: int, *, question: bool, offset: int) -> Rule | None:
    """The rule that holds for the clause at ``at``, a strong one before a weak one."""
    found: Rule | None = None
    for rule in book.rules:
        if (question and not rule.question) or (rule.near is not None and offset > rule.near):
            continue
        if found is not None and rule.strength == "weak":
            continue
        # The whole text is given, so that a lookbehind sees what stands before; "stop" ends the sentence.
        if not rule.pattern.match(text, at, stop) or (rule.unless and rule.unless.search(text, at, stop)):
            continue
        if any(_excepted(one, text, at, end) for one in book.exceptions):
            return None
        found = rule
        if rule.strength == "strong":
            return rule
    return found


def _excepted(exception: NoCorrection, text: str, at: int, end: int) -> bool:
    if exception.before:
        return exception.pattern.search(text, max(0, at - 60), at) is not None
    return exception.pattern.search(text[at:end]) is not None
