"""Where a sentence came from (A-32, DESIGN "Sources", S2-022, EX-005)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfnote
from selfnote.records.sources import Source, parse_source


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("session-3611ac44#10457", Source("session", "session-3611ac44", 10457, "seq")),
        ("s#0", Source("session", "s", 0, "seq")),
        ("会话#7", Source("session", "会话", 7, "seq")),
        (" s#1 ", Source("session", "s", 1, "seq")),
        ("s#L12", Source("session", "s", 12, "line")),
        ("s#line 12", Source("session", "s", 12, "line")),
        ("s#line:12", Source("session", "s", 12, "line")),
        ("s#行12", Source("session", "s", 12, "line")),
        ("import:MEMORY.md#3", Source("import", "MEMORY.md", 3, "line")),
        ("import:my notes/a b.md#3", Source("import", "my notes/a b.md", 3, "line")),
        ("owner:notebook", Source("owner", "notebook")),
        ("owner:settings-page.v2", Source("owner", "settings-page.v2")),
    ],
)
def test_the_three_forms_are_read_with_their_unit(text, source):
    """A-32: seq and line are told apart; `line` notations are read."""
    assert parse_source(text) == source


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "s",
        "s#",
        "#1",
        "s#x",
        "s#-1",
        "s#1.5",
        "s#1#2",
        "s t#1",
        "s#1 x",
        "owner:",
        "owner:a b",
        "owner:" + "x" * 41,
        "owner:a#1",
        "import:",
        "import:a",
        "import:#1",
        "import:a#x",
        "s#1\nx",
        "s#" + "9" * 16,
        None,
        3,
        [],
        b"s#1",
    ],
)
def test_everything_else_is_refused_with_the_forms_named(text):
    """S2-022, DESIGN "Errors": says what to do."""
    with pytest.raises(selfnote.BadSource, match=r"<session>#<seq>"):
        parse_source(text)


@given(st.text(max_size=30))
def test_any_text_is_a_source_or_a_bad_source(text):
    try:
        source = parse_source(text)
    except selfnote.BadSource:
        return
    assert source.name
    assert source.kind == "owner" or source.number >= 0
