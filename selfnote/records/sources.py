"""Where a sentence came from: ``<session>#<seq>``, ``import:<file>#<line>`` or ``owner:<via>`` (A-32)."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from selfnote.errors import BadSource

_SESSION = re.compile(r"(?P<session>[^\s#]+)#(?P<seq>\d{1,15})\Z")
_SESSION_LINE = re.compile(r"(?P<session>[^\s#]+)#(?:L|line[ :=]?|行)(?P<line>\d{1,15})\Z", re.IGNORECASE)
_IMPORT = re.compile(r"import:(?P<file>[^#]+)#(?P<line>\d{1,15})\Z")
_OWNER = re.compile(r"owner:(?P<via>[\w.\-]{1,40})\Z")


class Source(NamedTuple):
    """A parsed source. ``number`` is the event's seq, or a physical line where ``unit`` is "line" (EX-005)."""

    kind: Literal["session", "import", "owner"]
    name: str
    number: int | None = None
    unit: Literal["seq", "line", ""] = ""


def parse_source(text: str) -> Source:
    """The parts of a source.

    Raises
    ------
    BadSource
        When ``text`` has none of the forms.
    """
    value = text.strip() if isinstance(text, str) else ""
    if found := _OWNER.match(value):
        return Source("owner", found["via"])
    if found := _IMPORT.match(value):
        return Source("import", found["file"], int(found["line"]), "line")
    if not value.startswith(("owner:", "import:")):
        if found := _SESSION.match(value):
            return Source("session", found["session"], int(found["seq"]), "seq")
        if found := _SESSION_LINE.match(value):
            return Source("session", found["session"], int(found["line"]), "line")
    raise BadSource(
        f"source {text!r} is not one of <session>#<seq>, import:<file>#<line>, owner:<via>; "
        "say where the sentence was found, e.g. session-3611ac44#10457"
    )
