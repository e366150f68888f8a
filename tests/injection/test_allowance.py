"""The room a new note really has this turn, not the nominal 200 (S2-040, S2-041)."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import selfnote
from selfnote.injection.allowance import note_allowance


@pytest.fixture(scope="module")
def scratch():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / ".dsh"


def injected(memory, note, now):
    return note.id in memory.assemble(now=now).ids.get("notes", [])


@given(st.data())
def test_a_note_goes_in_exactly_when_the_allowance_says_so(homes, scratch, data):
    """S2-040, S2-041: compared with the text after really adding the note, in random homes."""
    spec = data.draw(homes.specs())
    homes.write(spec, scratch)
    memory = selfnote.open_memory(scratch, tz=data.draw(st.sampled_from(homes.ZONES)))
    tier = data.draw(st.sampled_from(["stable", "temp", "temp", "core"]))
    before = note_allowance(memory, tier, now=homes.NOW)
    length = data.draw(st.one_of(st.integers(1, 230), st.sampled_from([before.left - 1, before.left, before.left + 1])))
    length = max(1, length)
    note = memory.notes.add("字" * length, tier=tier, now=homes.NOW)
    went_in = injected(memory, note, homes.NOW)
    assert went_in == before.would_fit(length)
    assert went_in or length > before.left
    if went_in and length > before.left:
        event("a longer note goes in where a shorter one does not")
        floor = max(24, before.budget // 4)
        assert tier == "temp"
        assert sum(len(one.text) for one in memory.notes.list() if one.tier == "temp" and one.pinned) > floor
    assert note_allowance(memory, tier, now=homes.NOW, without=note.id) == before


@given(st.data())
def test_without_overflowing_pins_the_one_number_is_exact(homes, scratch, data):
    """S2-041: injected if and only if the length is at most what is left."""
    notes = [one for one in data.draw(homes.notes()) if not (one.tier == "temp" and one.pinned)]
    homes.write(homes.Spec(notes=notes), scratch)
    memory = selfnote.open_memory(scratch, tz="Asia/Shanghai")
    tier = data.draw(st.sampled_from(["stable", "temp"]))
    left = note_allowance(memory, tier, now=homes.NOW).left
    length = max(1, data.draw(st.sampled_from([left - 1, left, left + 1, 1, 24, 50, 51, 150, 200, 201])))
    note = memory.notes.add("字" * length, tier=tier, now=homes.NOW)
    assert injected(memory, note, homes.NOW) == (length <= left)


def test_an_empty_segment_has_its_whole_budget(memory, now):
    assert [note_allowance(memory, tier, now=now).left for tier in ("stable", "temp", "core")] == [200, 200, 0]
    assert note_allowance(memory, "stable", now=now).budget == 200


def test_what_is_pinned_goes_before_and_the_floor_of_the_temporary_ones_holds(build, homes, memory, now):
    """Example of S2-041: a new stable note may take neither the pinned notes' room nor the floor."""
    build(
        notes=[
            homes.Note("钉" * 100, pinned=True),
            homes.Note("旧" * 60),
            homes.Note("临" * 40, "temp"),
        ]
    )
    assert note_allowance(memory, "stable", now=now).left == 200 - 100 - 40
    # The newest temporary note takes the floor before the older one does.
    assert note_allowance(memory, "temp", now=now).left == 50


def test_the_examples_43_of_the_seed(build, homes, memory, now):
    """S2-040: 200 in all, other tiers hold their places, 43 are left, a note of 110 is never seen."""
    build(notes=[homes.Note("稳" * 157, pinned=True)])
    found = note_allowance(memory, "stable", now=now)
    assert (found.left, found.budget, found.would_fit(43), found.would_fit(110)) == (43, 200, True, False)


def test_what_expired_or_is_not_there_takes_no_room(build, homes, memory, now):
    build(
        notes=[
            homes.Note("过" * 150, "temp", pinned=True, on=date(2025, 1, 1)),
            homes.Note("核" * 150, "core", pinned=True),
        ]
    )
    assert note_allowance(memory, "temp", now=now).left == 200


def test_while_injection_is_off_nothing_goes_in(memory, now):
    memory.config.save(injection_enabled=False)
    found = note_allowance(memory, "stable", now=now)
    assert (found.left, found.would_fit(1)) == (0, False)


def test_asking_writes_nothing(build, homes, memory, now, tree):
    """S2-095: a pure question."""
    build(notes=[homes.Note("稳" * 20)])
    before = tree()
    note_allowance(memory, "temp", now=now)
    assert tree() == before


def test_behind_an_overflowing_pin_a_longer_note_may_fit_where_a_shorter_does_not(build, homes, memory, now):
    """The packer's own rule (DESIGN "Notes"): a shorter note lets an older one reserve beside it, and the pin takes both."""
    spec = [
        homes.Note("稳" * 45),
        homes.Note("稳" * 130),
        homes.Note("旧" * 35, "temp"),
        homes.Note("钉" * 62, "temp", pinned=True),
    ]
    for length, goes_in in ((8, True), (10, False), (20, True), (26, False)):
        build(notes=spec)
        found = note_allowance(memory, "temp", now=now)
        assert (found.left, found.would_fit(length)) == (8, goes_in)
        assert injected(memory, memory.notes.add("新" * length, tier="temp", now=now), now) == goes_in
