"""What a sentence is flagged for before it is kept: secrets, personal data, instructions; never rewritten (A-05)."""

from __future__ import annotations

import functools
import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from selfnote.phrases import BOUNDARY_IN_TEXT, FRAME_IN_TEXT, PHRASES
from selfnote.text import safe

Kind = Literal["secret", "personal", "instruction", "sends-data", "frame", "invisible"]
KINDS: tuple[Kind, ...] = ("secret", "personal", "instruction", "sends-data", "frame", "invisible")

#: Code points of a text that are looked at: no stored line holds more.
TEXT_LIMIT = 1024 * 1024
#: Code points of an excerpt.
EXCERPT_LIMIT = 60
#: Of a secret only its beginning is shown: the flag must not become the leak.
SECRET_SHOWN = 4
#: Bits a character; a key made by a machine has more, a name made of words has less.
_KEY_ENTROPY = 3.0


class Flag(NamedTuple):
    """One reason to look twice: its kind, the rule that saw it, and the start of what it saw."""

    kind: Kind
    rule: str
    excerpt: str

    @property
    def name(self) -> str:
        """What ``Fact.flags`` stores: ``secret:aws-key``."""
        return f"{self.kind}:{self.rule}"


class Rule(NamedTuple):
    """One rule of flags.toml; ``check`` judges what its pattern found."""

    id: str
    kind: Kind
    pattern: re.Pattern[str]
    check: Callable[[re.Match[str]], bool]
    examples: tuple[str, ...] = ()


class _RuleFile(NamedTuple):
    """flags.toml: the rules, the words that are no password, and how talk about one goes on."""

    rules: tuple[Rule, ...]
    no_secrets: frozenset[str]
    about: tuple[str, ...]


def find_flags(text: str) -> tuple[Flag, ...]:
    """Why ``text`` should be looked at by a person, at most one flag a rule; empty for everyday talk.

    Looks at the text in NFKC without invisible characters, so that neither full-width letters nor a hidden character
    inside a word keep a rule from seeing it (COMPLAINTS 58). Changes nothing (COMPLAINTS 61).
    """
    found: list[Flag] = []
    if hidden := _find_invisible(text[:TEXT_LIMIT]):
        found.append(Flag("invisible", "hidden-character", hidden))
    readable = unicodedata.normalize("NFKC", "\n".join(_visible_lines(text[:TEXT_LIMIT])))
    if sentence := _find_own_sentence(text[:TEXT_LIMIT]):
        found.append(Flag("frame", "our-sentence", _shown(sentence)))
    for rule in load_rules():
        seen = next((one for one in rule.pattern.finditer(readable) if rule.check(one)), None)
        if seen is not None:
            excerpt = f"{seen[0].strip()[:SECRET_SHOWN]}…" if rule.kind == "secret" else _shown(seen[0].strip())
            found.append(Flag(rule.kind, rule.id, excerpt))
    return tuple(sorted(found, key=lambda flag: KINDS.index(flag.kind)))


def flag_names(text: str) -> tuple[str, ...]:
    """The flags of ``text`` as ``Fact.flags`` stores them."""
    return tuple(flag.name for flag in find_flags(text))


def is_secret(text: str) -> bool:
    """Whether ``text`` holds a password, a key or a code that must not be kept (S2-034)."""
    return any(flag.kind == "secret" for flag in find_flags(text))


def load_rules() -> tuple[Rule, ...]:
    """The rules of flags.toml, in its order."""
    return _load().rules


@functools.cache
def _load() -> _RuleFile:
    with Path(__file__).with_name("flags.toml").open("rb") as stream:
        stored = tomllib.load(stream)
    rules = tuple(
        Rule(
            one["id"],
            one["kind"],
            re.compile(one["pattern"], re.IGNORECASE | re.ASCII),
            _CHECKS[one.get("check", "")],
            tuple(one["examples"]),
        )
        for one in stored["rule"]
    )
    return _RuleFile(rules, frozenset(stored["no_secrets"]), tuple(stored["about"]))


def _visible_lines(text: str) -> list[str]:
    """The lines of ``text`` without hidden characters; double braces, names and sentences of ours as they were."""
    return [_INVISIBLE.sub("", line) for line in text.splitlines()]


def _shown(text: str) -> str:
    one = safe(text)
    return one if len(one) <= EXCERPT_LIMIT else one[: EXCERPT_LIMIT - 1] + "…"


# --- hidden characters -----------------------------------------------------------------------------
#: Zero-width, bidi, tag, filler and control characters; tab and line ends are none of them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e007f]"
)
#: The joiner inside an emoji, and the flags of England, Scotland and Wales, which are made of tag characters.
_EMOJI_MARKS = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{2,8}\U000e007f")
_JOINER = "\u200d"


def _find_invisible(text: str) -> str | None:
    """The code points of the first hidden characters, as ``U+200B``; None when there are none."""
    bare = _EMOJI_MARKS.sub("", text)
    hidden = [char for char in _INVISIBLE.findall(bare) if char != _JOINER]
    # safe() keeps the joiners that join an emoji: what it drops joins nothing.
    if _JOINER in bare and safe(bare).count(_JOINER) < bare.count(_JOINER):
        hidden.append(_JOINER)
    names = dict.fromkeys(f"U+{ord(char):04X}" for char in hidden)
    return " ".join(list(names)[:6]) or None


# --- our own sentences -----------------------------------------------------------------------------
def _find_own_sentence(text: str) -> str | None:
    """A boundary or frame sentence of ours in ``text``, however it is spaced or split by hidden characters."""
    bare = " ".join(_visible_lines(text))
    for pattern in (BOUNDARY_IN_TEXT, FRAME_IN_TEXT):
        if seen := pattern.search(bare):
            return seen[0]
    return next((words.persona_boundary for words in PHRASES.values() if words.persona_boundary in bare), None)


# --- is the value a secret, or talk about one? ----------------------------------------------------
#: Code, a reference, a placeholder or a path rather than a value.
_REFERENCE = re.compile(
    r"[$<{(\[%\\]|^[*xX•.…_-]+$|^(?:\.{0,2}/|~/|file:|env:|vault:|op://|ref\+|https?:)|\*{3,}|\.{3}|…"
    r"|^(?:process|import|os|env|config|settings|self|this|secrets|vars|args|ctx|req|request|user|form|data|body|props"
    r"|options|opts|z|yup|joi|np|std|var|local|module|each|steps|inputs|github)\.[\w.\[\]'\"-]+$|^[a-z_]\w*(?:\.[a-z_]\w*)+$"
    r"|^(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)$|^your[_-]|[_-](?:here|placeholder|example)$|^(?:example|placeholder|dummy)",
    re.IGNORECASE,
)
#: ``my-app-db-creds-v2``, ``session_token_expiry``: words joined, not a key.
_JOINED_WORDS = re.compile(r"(?:[a-z]{2,}|v?\d{1,4})(?:[-_./:@][a-z]+\d{0,2}|[-_./:@]v?\d{1,4})*")
#: A length, a time, a version, a quantity.
_QUANTITY = re.compile(r"\d+(?:[-.~+]\d+)*(?:[a-z%]{1,3})?\+?|\d+(?:[-~]\d+)?(?:位|个|字符)?", re.IGNORECASE)
_UNIT_AFTER = re.compile(
    r"\s?(?:位|个|字|秒|分|小时|天|年|次|条|or\b|to\b|chars?\b|characters?\b|digits?\b|bytes?\b|bits?\b|letters?\b"
    r"|symbols?\b|days?\b|hours?\b|minutes?\b|seconds?\b|attempts?\b|times\b)",
    re.IGNORECASE,
)
_PROSE_AFTER = re.compile(r"""["'`”」]?[ \t]*(?:$|[\n,;，。；、!！)）])""")


def _value(found: re.Match[str]) -> str:
    return found["value"].rstrip(".:!?")


def _is_password(found: re.Match[str]) -> bool:
    """Whether the value is a password and not a type, a reference, a rule about passwords or a placeholder."""
    value = _value(found)
    if len(value) < 4 or _REFERENCE.search(value) or value.casefold().strip("-_") in _load().no_secrets:
        return False
    after = found.string[found.end("value") :]
    if value.isdigit():
        return not _UNIT_AFTER.match(after)
    if _QUANTITY.fullmatch(value) and _UNIT_AFTER.match(after):
        return False
    if not value.isascii():
        return False
    has_letter = any(char.isalpha() for char in value)
    has_digit = any(char.isdigit() for char in value)
    if has_digit or (has_letter and any(char in "!@#$%^&*+?~" for char in value)):
        return True
    # Letters alone are a password only where nothing else is said: "password: letmein".
    said = found.string[found.start() : found.start("value")]
    named = ":" in said or "=" in said
    return named and value.isalpha() and value.islower() and len(value) >= 6 and bool(_PROSE_AFTER.match(after))


def _is_token(found: re.Match[str]) -> bool:
    """Whether the value looks made by a machine: letters and digits, no words, enough entropy."""
    value = (_value(found) if "value" in found.re.groupindex else found[0]).strip("'\"`")
    if len(value) < 16 or _REFERENCE.search(value) or _JOINED_WORDS.fullmatch(value):
        return False
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return mixed and _entropy(value) >= _KEY_ENTROPY


def _entropy(value: str) -> float:
    """Bits a character (Shannon)."""
    counts = Counter(value)
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())


def _is_mixed_password(found: re.Match[str]) -> bool:
    """Where no word says that a value follows: a password only if it has letters and digits."""
    value = _value(found)
    return any(map(str.isalpha, value)) and any(map(str.isdigit, value)) and _is_password(found)


def _is_quoted(found: re.Match[str]) -> bool:
    value = found["value"] or found["spoken"]
    return (
        not value.startswith(_load().about) and not value.endswith("的") and value.casefold() not in _load().no_secrets
    )


# --- numbers with a checksum ------------------------------------------------------------------------
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def _has_id_checksum(found: re.Match[str]) -> bool:
    """The last character of a Chinese identity number follows from the others (GB 11643)."""
    value = found["value"].upper()
    total = sum(weight * int(digit) for weight, digit in zip(_ID_WEIGHTS, value, strict=False))
    return "10X98765432"[total % 11] == value[-1]


#: Hosts that are this machine or its network: nothing leaves there.
_LOCAL = re.compile(
    r"(?:https?://)?(?:localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0|\[::1\]"
    r"|[\w.-]+\.(?:local|internal|lan|test|localhost)\b)",
    re.IGNORECASE,
)


def _is_remote(found: re.Match[str]) -> bool:
    return _LOCAL.match(found["value"]) is None


_CHECKS: dict[str, Callable[[re.Match[str]], bool]] = {
    "": lambda _: True,
    "password": _is_password,
    "mixed": _is_mixed_password,
    "token": _is_token,
    "quoted": _is_quoted,
    "checksum-id": _has_id_checksum,
    "remote": _is_remote,
}
