"""The small pieces: ids as classes, and rows in chunks that stay where they stood."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from selfnote.panels.views.pieces import CHUNK, chunked, name, slug

PAGE = st.lists(st.integers(0, 40), max_size=20, unique=True)


@given(st.text())
def test_whatever_an_id_holds_it_makes_one_class(identifier):
    """A space in a class would be an error in the page, not a class."""
    assert re.fullmatch(r"[\w-]*", slug(identifier))
    assert name("approve", identifier) == f"sn-approve-{slug(identifier)}"


@given(PAGE, PAGE, PAGE)
def test_chunks_hold_all_rows_in_their_order(first, second, third):
    chunks = chunked(second, chunked(first, []))
    assert [row for chunk in chunks for row in chunk] == second
    again = chunked(third, chunks)
    assert [row for chunk in again for row in chunk] == third
    assert len(again) <= 2 * -(-len(third) // CHUNK)


@given(st.integers(0, 19))
def test_a_row_that_goes_changes_its_own_chunk_and_the_last(gone):
    """What follows it on the page is not made anew."""
    before = chunked(range(20), [])
    after = chunked([row for row in range(21) if row != gone], before)
    changed = [number for number, (one, other) in enumerate(zip(before, after, strict=False)) if one != other]
    assert changed in ([gone // CHUNK], [gone // CHUNK, 4])
    assert len(after) - len(before) in (0, 1)
