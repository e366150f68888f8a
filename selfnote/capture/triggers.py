"""Which of the owner's sentences hold a standing demand on the AI: two gates and refusals, as data (S2-177, A-31)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from itertools import islice
from typing import Any, NamedTuple

#: Code points a clause may have (COMPLAINTS 73).
MIN_CHARS, MAX_CHARS = 4, 300
#: Stands for each quoted character while the rules are read: an object of the sentence, never its words.
QUOTED = "⬚"

_HAN = re.compile("[\u3400-\u9fff]")
#: Two words of it: a name within a Chinese sentence does not make the sentence English.
_LATIN = re.compile("[a-z]{2}[^a-z\u3400-\u9fff]{1,3}[a-z]|[a-z] [a-z]{2}")
_WORDS = re.compile(r"<([a-z_]+)>")
_APOSTROPHE = re.compile(r"(?<=[a-z])'(?=[a-z])")


class Judgement(NamedTuple):
    """One sentence that met a trigger: taken or not, by which rule, why, its words, and the gate that refused it."""

    captured: bool
    rule: str | None
    reason: str | None
    clause: str
    gate: str | None


#: The languages a sentence may have.
_SPOKEN = tuple(map(frozenset, ((), ("zh",), ("en",), ("zh", "en"))))


# --- rules ----------------------------------------------------------------------------------------
class Rule(NamedTuple):
    """One rule of triggers.toml; ``unless`` and ``spares`` (reasons) say where a refusal does not hold.

    A rule may ask for what it comes ``after`` (the sentence before it, or its lead); a trigger may be ``addressed`` to
    the AI by its own words, ask for one of some ``scopes``, and ``passes`` some gates.
    """

    id: str
    pattern: re.Pattern[str]
    reason: str = ""
    language: str = ""
    gate: str = ""
    scope: str = "sentence"
    unless: re.Pattern[str] | None = None
    after: re.Pattern[str] | None = None
    addressed: bool = False
    passes: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


class Rules(NamedTuple):
    """All rules, what may stand before and after a demand, and the one-to-one table to simplified characters.

    ``spoken`` holds the triggers again, by the languages of a sentence.
    """

    triggers: tuple[Rule, ...]
    scopes: tuple[Rule, ...]
    refusals: tuple[Rule, ...]
    lead: re.Pattern[str]
    remark: re.Pattern[str]
    tail: re.Pattern[str]
    simplified: Mapping[int, str]
    spoken: Mapping[frozenset[str], tuple[Rule, ...]]


@cache
def load_rules() -> Rules:
    """The rules of triggers.toml, read once, at the first sentence judged."""
    raw = tomllib.loads(resources.files("selfnote.capture").joinpath("triggers.toml").read_text(encoding="utf-8"))
    words: dict[str, str] = {}
    for name, alternatives in raw["words"].items():
        words[name] = _spell(alternatives, words)
    characters = {name: "".join(pieces) for name, pieces in raw["characters"].items()}
    triggers = tuple(_rule(one, words) for one in raw["trigger"])
    return Rules(
        triggers,
        tuple(_rule(one, words) for one in raw["scope"]),
        tuple(_rule(one, words) for one in raw["refusal"]),
        re.compile(_spell(raw["lead"]["pattern"], words)),
        re.compile(_spell(raw["lead"]["remark"], words)),
        re.compile(_spell(raw["tail"]["pattern"], words)),
        dict(zip(map(ord, characters["traditional"]), characters["simplified"], strict=True)),
        {spoken: tuple(one for one in triggers if one.language in spoken) for spoken in _SPOKEN},
    )


def _spell(pattern: str | list[str], words: Mapping[str, str]) -> str:
    """``pattern``, its pieces joined, each ``<name>`` replaced by that list; an apostrophe within a word may miss."""
    return _WORDS.sub(lambda found: f"(?:{words[found[1]]})", _APOSTROPHE.sub("'?", "".join(pattern)))


def _rule(raw: Mapping[str, Any], words: Mapping[str, str]) -> Rule:
    compiled = {name: re.compile(_spell(raw[name], words)) for name in ("pattern", "unless", "after") if name in raw}
    lists = {name: tuple(raw[name]) for name in ("spares", "passes", "scopes", "examples") if name in raw}
    return Rule(**{**raw, **compiled, **lists})


# --- reading --------------------------------------------------------------------------------------
class _Sentence(NamedTuple):
    """A sentence: where it stands, how the rules read it, its languages, whether an aside, and the words before it."""

    start: int
    end: int
    read: str
    languages: frozenset[str]
    aside: bool
    before: str


#: Sentences with a trigger that are judged in one message; nobody types more, a paste may hold thousands.
SENTENCES_JUDGED = 200


def judge(text: str) -> list[Judgement]:
    """Every sentence of ``text`` that met a trigger, captured or refused; the others yield nothing (S2-182, A-31)."""
    rules = load_rules()
    read = _mask(_normalise(text, rules.simplified))
    heard = ((one, trigger) for one in _sentences(read, rules) if (trigger := _trigger_of(one, rules)))
    met = list(islice(heard, SENTENCES_JUDGED))
    if not met:
        return []
    about = {one.id for one in rules.refusals if one.scope == "message" and one.pattern.search(read)}
    return [_decide(text[one.start : one.end], one, trigger, rules, about) for one, trigger in met]


def _trigger_of(sentence: _Sentence, rules: Rules) -> Rule | None:
    """The first trigger that fits a sentence; of one that is too long, its beginning is read."""
    read = sentence.read[:MAX_CHARS]
    for one in rules.spoken[sentence.languages]:
        if _fits(one, read, sentence):
            return one
    return None


def _fits(rule: Rule, read: str, sentence: _Sentence) -> bool:
    if rule.after and not rule.after.search(sentence.before):
        return False
    return bool(rule.pattern.search(read)) and not (rule.unless and rule.unless.search(read))


def _decide(clause: str, sentence: _Sentence, trigger: Rule, rules: Rules, about: set[str]) -> Judgement:
    """The verdict on a sentence that met ``trigger``; ``about`` are the refusals of its whole message."""
    clause = _ENDING.sub("", clause)
    gate, rule = _size_gate(clause), trigger.id
    if not gate and (refusal := _refusal_of(sentence, trigger, rules, about)):
        gate, rule = refusal.gate, refusal.id
    scopes = [one for one in rules.scopes if not trigger.scopes or one.id in trigger.scopes]
    if not gate and not trigger.addressed and not any(one.pattern.search(sentence.read) for one in scopes):
        gate = "not addressed"
    return Judgement(gate is None, rule, trigger.reason, clause, gate)


def _size_gate(clause: str) -> str | None:
    if len(clause) < MIN_CHARS:
        return "too short"
    return "too long" if len(clause) > MAX_CHARS else None


def _refusal_of(sentence: _Sentence, trigger: Rule, rules: Rules, about: set[str]) -> Rule | None:
    """The first refusal that holds for a sentence; those of the message spare an aside."""
    for one in rules.refusals:
        if one.gate in trigger.passes or trigger.reason in one.spares:
            continue
        if one.scope == "message":
            holds = one.id in about and not sentence.aside and not (one.unless and one.unless.search(sentence.read))
        else:
            holds = (not one.language or one.language in sentence.languages) and _fits(one, sentence.read, sentence)
        if holds:
            return one
    return None


def _normalise(text: str, simplified: Mapping[int, str]) -> str:
    """``text`` in lower case, simplified characters and ASCII punctuation, each character at its old place."""
    read = "".join(low if len(low := char.lower()) == 1 else char for char in text).translate({**simplified, **_ASCII})
    return _HAN_GAP.sub("，", read)


#: Full-width letters, digits and marks (not ，；：？！。, which end or part Chinese sentences) and curly apostrophes.
_ASCII = {wide: chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F) if chr(wide) not in "，；：？！"} | {
    ord("’"): "'",
    0x3000: " ",
    0xA0: " ",
}

#: A single space between two Han characters is typed for a comma.
_HAN_GAP = re.compile("(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])")

_CLOSING = "\\s。．.！!？?；;…~～，,、:：—\u2600-\u27bf\U0001f300-\U0001faff\ufe0f\u200d"
_ENDING = re.compile(f"[{_CLOSING}]+\\Z")
_OPENING = re.compile(r"[\s。．.！!？?；;…~～，,、—]*(?:(?:[-*•·]|\d{1,2}[.)、）]|[一二三四五六七八九十]、)[ \t]*)?")
#: Sentences end at marks, line breaks and emoji.
_END = re.compile(r"[。！!？?；\n\r…]+|\.+(?=[\s\u3400-\u9fff]|$)|[\u2600-\u27bf\U0001f300-\U0001faff\ufe0f]+")
_ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|no|dr|mr|ms)|(?:^|[\n:,;])\s*\d{1,2})$")


def _sentences(read: str, rules: Rules) -> Iterator[_Sentence]:
    """The sentences of a masked message, read with their closing marks: a question is known by them."""
    ends = [
        found.end()
        for found in _END.finditer(read)
        if found[0] != "." or not _ABBREVIATED.search(read[max(0, found.start() - 5) : found.start()])
    ]
    start = 0
    before = ""
    for end in [*ends, len(read)]:
        opening = _OPENING.match(read, start, end)
        begin = opening.end() if opening else start
        lead = rules.lead.match(read, begin, min(end, begin + MAX_CHARS))
        begin = lead.end() if lead else begin
        said = lead[0] if lead else before
        aside = bool(lead and rules.remark.search(lead[0]))
        stretch = read[begin:end].rstrip()
        start = end
        if len(stretch) <= MAX_CHARS and (tail := rules.tail.search(stretch)):
            stretch = stretch[: tail.start()]
        if stretch:
            yield _Sentence(begin, begin + len(stretch), stretch, _languages(stretch), aside, said)
            before = stretch[:MAX_CHARS]


def _languages(read: str) -> frozenset[str]:
    return frozenset(["zh"] * bool(_HAN.search(read)) + ["en"] * bool(_LATIN.search(read)))


# --- what is not the owner's own wording ----------------------------------------------------------
def _mask(read: str) -> str:
    """``read`` with pasted lines blanked and quotations hidden, every other character at its place."""
    kept = []
    for line, pasted in _pasted_lines(read):
        kept.append("\n" * len(line) if pasted else line)
    masked = "".join(kept)
    for quotation in _QUOTATIONS:
        masked = quotation.sub(_hide, masked)
    return masked


def _hide(found: re.Match[str]) -> str:
    return found[0][0] + QUOTED * (len(found[0]) - 2) + found[0][-1]


_QUOTATIONS = tuple(
    re.compile(pattern)
    for pattern in (
        r"`[^`\n]{1,300}`",
        r"「[^「」\n]{1,300}」",
        r"『[^『』\n]{1,300}』",
        r"“[^“”\n]{1,300}”",
        r"《[^《》\n]{1,80}》",
        r"‘[^‘'\n]{1,300}'",
        r'"[^"\n]{1,300}"',
        r"(?<![a-z0-9])'[^'\n]{2,300}'(?![a-z0-9])",
    )
)

_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_DIFF_HEAD = re.compile(r"diff --git |index [0-9a-f]{6,}|@@ |--- \S|\+\+\+ \S")
_PASTED = re.compile(
    r">|    +\S|\t+\S|\|"  # blockquotes, indented code and logs, tables
    r"|\s{0,3}\[?\d{4}[-/]\d\d?[-/]\d\d?[t ]\d|\s{0,3}\[?\d\d?:\d\d:\d\d"  # logs
    r"|\s{0,3}\[?(?:info|warn|warning|error|debug|trace|fatal|critical|notice)\b[\]:|]"
    r"|\s{0,3}(?:traceback \(|caused by:|[\w.]{1,60}(?:error|exception)\b:|at \S+ ?\(|file \")"  # stack traces
    r"|\$ \S|>>> |\.\.\. |[\w.-]{1,40}@[\w.-]{1,40}[:~ ][^$#\n]{0,80}[$#] |c:\\"  # shells
    r"|\s{0,3}(?:\*{3,}|={3,}) ?[^\s*=]"  # banners
    r"|\s{0,3}(?://|/\*|\*/|<!--|#!|# |</?[a-z!])"  # comments, headings, markup
    r"|\s{0,3}[{}\]]|\s{0,3}\[\s{0,3}[\[{\"]|\s{0,3}\"[^\"\n]{1,80}\"\s?:"  # JSON
)
_CODE_ENDS = (";", "{", "}", ":", "(", ")", "=>", "\\", ",")
_CODE_LINE = re.compile(
    r"\s{0,3}(?:(?:def|class|return|const|let|var|function|public|private|static|async|await|if|for|while|elif|try|print)"
    r"\b[^\n]{0,200}[=(){}\[\]]|[a-z_][\w.]{0,60}(?: = |\())"
)


def _pasted_lines(read: str) -> Iterator[tuple[str, bool]]:
    """Each line with its break, and whether it was pasted: code, logs, diffs, traces, shells, quotations, JSON."""
    fence = ""
    diff = False
    for line in read.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
            yield line, True
            continue
        if fence:
            if mark and mark[1] == fence:
                fence = ""
            yield line, True
            continue
        head = _DIFF_HEAD.match(line)
        diff = bool(head) or (diff and line[:1] in {"+", "-", " "})
        code = line.rstrip().endswith(_CODE_ENDS) and _CODE_LINE.match(line)
        yield line, bool(diff or code or _PASTED.match(line))
