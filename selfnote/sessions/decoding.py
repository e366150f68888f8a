"""JSON of a log as Python values, whatever half characters and bytes stand in it."""

from __future__ import annotations

import json
import re
from typing import Any

#: An escape of a JSON string: a whole surrogate pair, half of one, or any other.
_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def decode_data(raw: bytes) -> Any:
    """JSON as Python values; half a surrogate pair and bytes that are no UTF-8 read as U+FFFD."""
    if not raw:
        return None
    import msgspec  # imported on the first session read (PERFORMANCE T11)

    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError):
        pass
    try:
        return json.loads(replace_lone_surrogates(raw).decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def replace_lone_surrogates(line: bytes) -> bytes:
    r"""The JSON text with each ``\ud83d`` that has no partner as ``\ufffd``; unchanged when none is."""
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return _ESCAPES.sub(lambda match: rb"\ufffd" if match.group(1) else match.group(0), line)
