"""Text as the memory counts it: code points, sentences made safe to inject, folding and likeness."""

from __future__ import annotations

import re
import unicodedata

from selfnote.errors import LimitExceeded
from selfnote.phrases import BOUNDARY_IN_TEXT, DOORPLATE_AT_START, FRAME_IN_TEXT, NAME_AT_START

ELLIPSIS = "…"

_LINE_ENDS = re.compile("\r\n|[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
#: Not printable, or able to hide or reorder text: control, bidi, zero-width, tag, filler and variation characters,
#: lone surrogates and noncharacters. U+FE0F (VS16) and U+200D (ZWJ) are judged by their neighbours.
_DROPPED = (
    "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_DROP = re.compile(f"[{_DROPPED}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ZWJ = "\u200d"
_VS16 = "\ufe0f"
_SUSPECT = re.compile(f"[{_DROPPED}\u200d\ufe0f\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
#: A double brace is a template to the harness and fails the turn (HARNESS "Failure behaviour").
_DOUBLE_OPEN = re.compile(r"\{\{")
_DOUBLE_CLOSE = re.compile(r"\}\}")
_FRAME_HINT = re.compile("背景|background|以下是你|this|另有|another|关于|本机|写自述|about|facts|when", re.IGNORECASE)


def safe(text: str) -> str:
    """``text`` as it may stand in a prompt: one line, nothing hidden, unable to break the frame.

    Never longer than ``text``, and a fixpoint: ``safe(safe(text)) == safe(text)``. Newlines and tabs become spaces;
    control, bidi, zero-width and tag characters go; the second brace of a pair becomes full-width; our own boundary,
    frame, names and doorplates lose their force (DESIGN "The injected text", COMPLAINTS 57-59, 63).
    """
    if _SUSPECT.search(text):
        text = _keep_emoji_marks(_DROP.sub("", _LINE_ENDS.sub(" ", text)))
    if "{{" in text:
        text = _DOUBLE_OPEN.sub("{｛", text)
    if "}}" in text:
        text = _DOUBLE_CLOSE.sub("}｝", text)
    if _FRAME_HINT.search(text):
        text = _disarm(text)
    return text


def _disarm(text: str) -> str:
    """Our own sentences, names and doorplates in ``text``, made unable to pass for ours."""
    while True:
        changed = BOUNDARY_IN_TEXT.sub(
            lambda found: f"〔{found['body']}〕" if found["close"] else f"〔{found['body']}", text
        )
        changed = FRAME_IN_TEXT.sub(lambda found: f"{found['body']}．", changed)
        if name := NAME_AT_START.match(changed):
            changed = f"{name['name']}∶{changed[name.end() :]}"
        if plate := DOORPLATE_AT_START.match(changed):
            changed = f"{plate['word']}{changed[plate.end() :]}"
        if changed == text:
            return text
        text = changed


def _keep_emoji_marks(text: str) -> str:
    """``text`` without the joiners (ZWJ) that join no emoji and the selectors (VS16) that follow none."""
    if _ZWJ not in text and _VS16 not in text:
        return text
    import regex  # only text with such a mark in it pays for this import

    useless = regex.compile(
        r"(?<!\p{Extended_Pictographic}[\p{Emoji_Modifier}\uFE0F]{0,2})\u200d|\u200d(?!\p{Extended_Pictographic})"
        r"|(?<!\p{Emoji})\uFE0F"
    )
    while True:
        kept = useless.sub("", text)
        if kept == text:
            return kept
        text = kept


def is_printable(text: str) -> bool:
    """Whether anything is left to read in ``text`` (already safe)."""
    return not text.isspace() and bool(text.replace("\ufe0f", "").strip())


def require_text(name: str, text: str) -> str:
    """``text`` if a UTF-8 file can hold it.

    Raises
    ------
    LimitExceeded
        When it is no string, or holds half a character (an unpaired surrogate), as a broken copy leaves it.
    """
    if not isinstance(text, str):
        raise LimitExceeded(f"{name}={text!r} is not text")
    if broken := _SURROGATE.search(text):
        raise LimitExceeded(
            f"{name} holds half a character (U+{ord(broken[0]):04X} at {broken.start()}), which no file can keep; "
            "copy the text again"
        )
    return text


def require_printable(name: str, text: str) -> str:
    """``text`` if a file can hold it and there is something to read in it. Raises LimitExceeded."""
    if not is_printable(safe(require_text(name, text))):
        raise LimitExceeded(f"{name}={text!r} has nothing printable; write at least one readable character")
    return text


def cut(text: str, limit: int) -> str:
    """``text`` cut to at most ``limit`` code points, ending in ``…`` (which counts 1), no grapheme split.

    Empty when not one grapheme fits beside the ``…``; ``text`` itself when it needs no cut (DESIGN "Cuts", A-21).
    """
    if len(text) <= limit:
        return text
    import regex  # only a persona edited past its limit pays for this import

    kept = 0
    for grapheme in regex.finditer(r"\X", text):
        if grapheme.end() > limit - 1:
            break
        kept = grapheme.end()
    return text[:kept] + ELLIPSIS if kept else ""


def one_line(text: str) -> str:
    """``text`` with every line break folded to one space and no space around: what a one-line record can hold."""
    return re.sub(r"\s*(?:\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029])\s*", " ", text).strip()


# --- likeness -------------------------------------------------------------------------------------
#: Kept by folding: they tell C from C++ and C#, ~/a from /a, 1.2 from 12.
_MEANINGFUL_MARKS = frozenset("#+@/~_*$%&=<>^|\\-.°℃¥€£")
_NUMBER = re.compile(r"\d+(?:[.:/-]\d+)*")


def fold(text: str) -> str:
    """``text`` reduced to what makes it the same sentence: NFKC, case folded, spaces and punctuation stripped (A-13).

    Marks that carry meaning in technical text (``C++``, ``C#``, ``~/work``, ``3.11``) stay; a sentence's closing
    full stop does not.
    """
    normal = unicodedata.normalize("NFKC", text).casefold()
    folded = "".join(char for char in normal if char in _MEANINGFUL_MARKS or unicodedata.category(char)[0] not in "PZC")
    return folded.strip(".-")


def numbers(text: str) -> tuple[str, ...]:
    """The number tokens of ``text`` in order, after NFKC; ``3.11``, ``10:30`` and ``2026-11-30`` are one token each."""
    return tuple(_NUMBER.findall(unicodedata.normalize("NFKC", text)))


def without_numbers(text: str) -> str:
    """``text`` with its number tokens taken out."""
    return _NUMBER.sub(" ", unicodedata.normalize("NFKC", text))


def similarity(one: str, other: str) -> float:
    """How alike two folded texts are, 0 to 100 (normalised indel similarity, rapidfuzz ``ratio``)."""
    from rapidfuzz import fuzz

    return float(fuzz.ratio(one, other))
