"""A text file as lines whose bytes are kept (DESIGN "Files", COMPLAINTS 2, 6, 7, 8)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote.storage.fingerprints import digest
from selfnote.storage.lines import BOM, split_lines

HERE = Path("f")
BYTES = st.lists(
    st.sampled_from([b"\r\n", b"\n", b"\r", b"", BOM, b"a", b" ", "字".encode(), b"\xff", b"\x00"]), max_size=20
).map(b"".join) | st.binary(max_size=60)


@given(BYTES)
def test_any_bytes_split_and_join_to_themselves(data):
    """COMPLAINTS 2: round-trip identity."""
    file = split_lines(HERE, data, None)
    assert file.data == data
    assert not any(b"\n" in line.raw or b"\r" in line.raw for line in file.lines)
    assert all(line.newline for line in file.lines[:-1])


@given(BYTES, st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1, max_size=9))
def test_an_appended_line_is_the_last_and_all_others_keep_their_bytes(data, text):
    """COMPLAINTS 11: a missing final newline is mended in the file's own style."""
    before = split_lines(HERE, data, None)
    after = split_lines(HERE, before.appended(text).data, None)
    if not (not data and text.startswith("\ufeff")):
        assert after.lines[-1].raw == text.encode()
        assert [line.raw for line in after.lines[:-1]] == [line.raw for line in before.lines]
    assert after.lines[-1].newline == before.newline
    assert after.data.startswith(data)


@pytest.mark.parametrize(
    ("data", "newline"),
    [(b"", b"\n"), (b"a", b"\n"), (b"a\r\nb\r\nc\n", b"\r\n"), (b"a\nb\r\nc\n", b"\n"), (b"a\rb\r", b"\r")],
)
def test_the_style_of_a_file_is_what_most_of_its_lines_end_in(data, newline):
    """COMPLAINTS 6, 7: never flipped."""
    assert split_lines(HERE, data, None).newline == newline


def test_a_line_that_is_no_utf8_has_no_text_and_keeps_its_bytes():
    file = split_lines(HERE, b"ok\n\xff\xfe\n", None)
    assert [line.text for line in file.lines] == ["ok", None]
    assert file.replaced(0, "new").data == b"new\n\xff\xfe\n"
    assert file.removed(0).data == b"\xff\xfe\n"


def test_only_a_leading_bom_is_a_bom():
    """COMPLAINTS 8."""
    file = split_lines(HERE, BOM + b"a\n" + BOM + b"b\n", None)
    assert (file.bom, file.lines[0].text, file.lines[1].text) == (True, "a", "\ufeffb")


def test_a_digest_is_sha256_of_the_utf8_text():
    """DESIGN "Ids"."""
    import hashlib

    assert digest("记忆") == hashlib.sha256("记忆".encode()).hexdigest()
    assert len(digest("\ud800")) == 64
