"""Tokens of the injected text, counted by a vocabulary the owner provides; never guessed, never fetched.

A token is whatever the model's own vocabulary says it is, so there is no number without one. The vocabulary is a
``tokenizer.json``, the file a model is published with; it is read by the package ``tokenizers``
(``pip install "selfnote[tokens]"``) from where the owner put it: ``selfnote/tokenizer.json`` of the memory, or a path.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from selfnote.errors import Corrupt, NotFound
from selfnote.injection.assemble import Injection
from selfnote.phrases import SEPARATOR
from selfnote.storage.fingerprints import Fingerprint, fingerprint

if TYPE_CHECKING:
    from tokenizers import Tokenizer

#: Segments whose entries are lines of their own; those of the others stand in one line.
_LINES = frozenset({"persona", "notes"})


class TokenCounts(NamedTuple):
    """Tokens of the whole ``text`` and of each segment's entries, by the vocabulary file ``by``.

    Each is counted for itself, labels and framing only in the whole: the segments do not add up to it.
    """

    by: str
    text: int
    segments: Mapping[str, int]


def count_tokens(injection: Injection, vocabulary: str | os.PathLike[str]) -> TokenCounts:
    """The tokens of an injected text by the vocabulary in the file ``vocabulary``, a ``tokenizer.json``.

    Raises
    ------
    NotFound
        When there is no such file, or the package ``tokenizers`` is not installed.
    Corrupt
        When the file is no vocabulary.
    """
    path = Path(vocabulary).expanduser()
    seen = fingerprint(path)
    if seen is None:
        raise NotFound(f"{path} does not exist; name the tokenizer.json that the model was published with")
    tokenizer = _load(path, seen)
    return TokenCounts(
        path.name,
        _count(tokenizer, injection.text),
        {
            name: _count(tokenizer, ("\n" if name in _LINES else SEPARATOR).join(one.text for one in segment.entries))
            for name, segment in injection.segments.items()
        },
    )


@functools.lru_cache(maxsize=2)
def _load(path: Path, _seen: Fingerprint) -> Tokenizer:
    """The tokenizer in ``path``; read again only when the file is another one."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise NotFound(
            'counting tokens needs the package tokenizers; install it with: pip install "selfnote[tokens]"'
        ) from error
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # The package raises nothing narrower for whatever is wrong with a file.
        raise Corrupt(f"{path} is no tokenizer.json ({error}); take the one the model was published with") from error
    # A published file may cut or pad what it encodes; then the number would not be the text's.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _count(tokenizer: Tokenizer, text: str) -> int:
    return len(tokenizer.encode(text, add_special_tokens=False).ids)
