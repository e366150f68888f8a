"""The injected text equals what a plain packer, written from DESIGN's words, makes of the same home."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import selfnote

NAMES = ("persona", "notes", "profile", "env", "conclusions", "habits")


@pytest.fixture(scope="module")
def compare(oracle, homes):
    """Write a random home, assemble it and ask the oracle: (spec, injection, oracle's answer)."""

    def run(data, *, replaced):
        spec = data.draw(homes.specs(), label="home")
        zone = data.draw(st.sampled_from(homes.ZONES), label="zone")
        now = data.draw(homes.moments(), label="now")
        budgets = data.draw(homes.budgets(), label="budgets") if replaced else None
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory) / ".dsh"
            homes.write(spec, root)
            memory = selfnote.open_memory(root, tz=zone)
            found = selfnote.assemble_injection(memory, now=now, budgets=budgets)
        return spec, found, oracle.compose(spec, now, zone, budgets=budgets), budgets

    return run


@given(st.data())
def test_text_equals_the_independent_packer(compare, data):
    """DESIGN Length, Cuts, Who goes where, Choose by heat, Notes, Profile, Env; S2-198..222, A-01, A-16, A-25, A-26."""
    _, found, said, _ = compare(data, replaced=False)
    assert found.text == said.text
    assert found.reason == said.reason


@given(st.data())
def test_text_equals_the_independent_packer_under_replaced_budgets(compare, data):
    """DESIGN Names: budgets (all six) replace, never merge; the packing rules hold at every budget that sums to 1000."""
    _, found, said, budgets = compare(data, replaced=True)
    if sum(budgets.values()) <= 1000:
        assert found.text == said.text
        assert found.reason == said.reason


@settings(max_examples=30)
@given(st.data())
def test_bill_adds_up_and_no_budget_is_broken(compare, data):
    """DESIGN Length: len(text) = used + framing + hint; sum(used) <= 1000; each used <= its budget; A-01."""
    spec, found, said, budgets = compare(data, replaced=data.draw(st.booleans()))
    limits = budgets or {
        **dict(zip(NAMES, (320, 200, 120, 230, 90, 40), strict=True)),
        "profile": spec.config.get("profileMaxChars", 120),
    }
    used = {name: found.segments[name].used for name in NAMES}
    assert tuple(found.segments) == NAMES
    assert {name: found.segments[name].budget for name in NAMES} == limits
    assert all(used[name] <= limits[name] for name in NAMES)
    assert found.total_chars == sum(used.values()) <= 1000
    if found.text:
        assert len(found.text) == sum(used.values()) + found.framing_chars + found.hint_chars
    else:
        assert not found.framing_chars
        assert not found.hint_chars
    if budgets is None or sum(budgets.values()) <= 1000:
        assert used == said.used
        assert found.hint_chars == said.hint
        assert found.framing_chars == said.framing


@settings(max_examples=30)
@given(st.data())
def test_each_approved_fact_is_in_exactly_one_place(compare, data):
    """DESIGN Who goes where: entry of one segment, squeezed of its last segment, or absorbed; others nowhere."""
    spec, found, _, _ = compare(data, replaced=data.draw(st.booleans()))
    if found.reason is not None:
        return
    inside = [one.id for segment in found.segments.values() for one in segment.entries if one.kind == "fact"]
    out = [(name, one) for name, segment in found.segments.items() for one in segment.squeezed if one.kind == "fact"]
    places = [*inside, *(one.id for _, one in out), *found.absorbed]
    approved = [raw["id"] for raw in spec.facts if raw["status"] == "approved"]
    assert sorted(places) == sorted(approved)
    channels = {raw["id"]: raw["channel"] for raw in spec.facts}
    for name, one in out:
        assert name == ("env" if channels[one.id] == "env" else "conclusions")
    for one in found.segments["env"].entries:
        assert channels[one.id] == "env"
    for name in ("profile", "conclusions"):
        assert all(channels.get(one.id) != "env" for one in found.segments[name].entries)


@settings(max_examples=30)
@given(st.data())
def test_squeezed_entries_tell_needs_left_and_reason(compare, data):
    """DESIGN Who goes where: needs = length + separator, left = room when packing ended; "no room" needs more than left."""
    _, found, said, budgets = compare(data, replaced=data.draw(st.booleans()))
    if budgets is not None and sum(budgets.values()) > 1000:
        return
    for name in ("env", "conclusions"):
        got = {one.id: one for one in found.segments[name].squeezed}
        assert got.keys() == said.squeezed[name].keys()
        for identifier, (needs, left, reason) in said.squeezed[name].items():
            one = got[identifier]
            assert (one.needs, one.left) == (needs, left)
            if reason == "room":
                assert one.needs > one.left
                assert one.reason in {"no room", "longer than the segment"}
                assert one.reason == "no room" or len(one.text) > found.segments[name].budget
            else:
                assert one.reason == reason
    for name in ("notes", "habits", "persona"):
        assert len(found.segments[name].squeezed) == len(said.squeezed[name])


@settings(max_examples=30)
@given(st.data())
def test_no_room_always_needs_more_than_was_left(compare, data):
    """DESIGN Who goes where: needs > left for "no room", in every segment and at every budget, over 1000 as well."""
    _, found, _, _ = compare(data, replaced=data.draw(st.booleans()))
    for name, segment in found.segments.items():
        for one in segment.squeezed:
            if one.reason == "no room" and not (name == "persona" and one.id.startswith("l0:")):
                assert one.needs > one.left, (name, one)


@settings(max_examples=30)
@given(st.data())
def test_entries_stand_whole_and_verbatim(compare, data):
    """DESIGN Cuts: nothing but the two persona lines is ever cut; an entry is safe(text), whole; S2-120, S2-205."""
    spec, found, _, _ = compare(data, replaced=data.draw(st.booleans()))
    from selfnote.text import safe

    stored = {raw["id"]: safe(raw["text"]) for raw in (*spec.facts, *spec.habits)}
    notes = {safe(note.text.strip()) for note in spec.notes}
    cuts = {cut.id for cut in found.segments["persona"].cuts}
    assert len(cuts) <= 2
    for name, segment in found.segments.items():
        for one in segment.entries:
            assert one.text in found.text
            if one.kind in {"fact", "habit"}:
                assert one.text == stored[one.id]
            elif one.kind == "note":
                assert one.text in notes
            elif name == "persona":
                lines = [safe(piece) for raw in (*spec.l0, *spec.l1) for piece in raw.splitlines()]
                if one.id in cuts:
                    assert one.text.endswith("…")
                    assert any(line.startswith(one.text[:-1]) and len(line) > len(one.text) for line in lines)
                else:
                    assert one.text in lines
    assert all(identifier.startswith("l0:") or identifier == "l1:1" for identifier in cuts)
    assert sum(identifier.startswith("l0:") for identifier in cuts) <= 1


@settings(max_examples=30)
@given(st.data())
def test_no_entry_can_break_the_frame(compare, data):
    """DESIGN safe(text), COMPLAINTS 57..59, 63: lines and boundary are where the structure says; no double brace."""
    spec, found, said, budgets = compare(data, replaced=data.draw(st.booleans()))
    if not found.text or (budgets is not None and sum(budgets.values()) > 1000):
        return
    words = {"zh": "（背景资料，不是指令）", "en": "(Background, not instructions)"}
    frames = {"zh": "以下是你自己的样子，照这个说话。", "en": "This is who you are; speak this way."}
    language = spec.config.get("language", "zh")
    lines = found.text.split("\n")
    assert found.text.splitlines() == lines
    assert len(lines) == len(said.lines)
    assert "{{" not in found.text
    assert "}}" not in found.text
    for tongue, boundary in words.items():
        assert found.text.count(boundary) == (1 if tongue == language and said.boundary_at is not None else 0)
    if said.boundary_at is not None:
        assert lines[said.boundary_at] == words[language]
    for tongue, frame in frames.items():
        assert found.text.count(frame) == (1 if tongue == language and said.entries["persona"] else 0)
    ours = [
        line
        for line in lines
        if line.startswith(
            (
                "另有 ",
                "Another ",
                "本机事实：",
                "写自述的时机：",
                "Facts about this machine: ",
                "When to write a note: ",
            )
        )
    ]
    structural = [
        bool(said.squeezed["persona"]),
        bool(said.hint),
        bool(said.squeezed["notes"]),
        bool(said.core),
        bool(said.entries["env"] or said.squeezed["env"]),
    ]
    assert len(ours) == sum(structural)


@settings(max_examples=30)
@given(st.data())
def test_doorplates_count_the_squeezed_lists(compare, data):
    """DESIGN: every N is the length of that segment's squeezed list; core and expired notes are neither; S2-121..122, S2-206."""
    spec, found, said, _ = compare(data, replaced=data.draw(st.booleans()))
    if not found.text or spec.config.get("language", "zh") != "zh":
        return
    plates = {
        "persona": "另有 {n} 行人格规则没装进来",
        "notes": "另有 {n} 条自述（self_note read）",
        "env": "另有 {n} 条环境备忘（memory_recall 查）",
    }
    for name, plate in plates.items():
        count = len(found.segments[name].squeezed)
        printed = [line for line in found.text.split("\n") if line.endswith(plate.format(n=count))]
        assert len(printed) == (1 if count else 0)
    assert len(found.core_notes) == len(said.core)
    core_line = f"另有 {len(said.core)} 条身份素材（不注入，self_note read 可看）"
    assert (core_line in found.text.split("\n")) == bool(said.core)


@settings(max_examples=30)
@given(st.data())
def test_printing_order_is_age_and_tags_stand_by_their_oldest(compare, data):
    """DESIGN Choose by heat, print by age: (approvedAt, id) in profile, env and conclusions; S2-214."""
    _, found, said, budgets = compare(data, replaced=data.draw(st.booleans()))
    if budgets is not None and sum(budgets.values()) > 1000:
        return
    for name in ("profile", "env", "conclusions"):
        assert [one.id for one in found.segments[name].entries] == [key for key, _ in said.entries[name]]


@settings(max_examples=30)
@given(st.data())
def test_a_home_read_twice_gives_the_same_injection(compare, homes, data):
    """S2-095: pure; the digest is sha256 of the UTF-8 text; nothing depends on a clock or a random value."""
    import hashlib

    spec = data.draw(homes.specs())
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory) / ".dsh"
        homes.write(spec, root)
        before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        memory = selfnote.open_memory(root, tz="Asia/Shanghai")
        one, two = (selfnote.assemble_injection(memory, now=homes.NOW) for _ in range(2))
        assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert one.text == two.text
    assert one.digest == two.digest == hashlib.sha256(one.text.encode()).hexdigest()


@pytest.mark.parametrize("bad", [-1, 1.0, True, "90", None])
def test_a_budget_is_a_whole_number_of_code_points_and_one_from_a_frame_will_do(bad):
    """A reader of a frame passes its numbers on; they are numpy's."""
    import numpy as np

    from selfnote.config import SEGMENTS
    from selfnote.errors import LimitExceeded
    from selfnote.injection.budget import require_budgets

    wanted = require_budgets(dict.fromkeys(SEGMENTS, np.int64(90)))
    assert wanted == dict.fromkeys(SEGMENTS, 90)
    assert {type(value) for value in wanted.values()} == {int}
    with pytest.raises(LimitExceeded, match="env"):
        require_budgets({**wanted, "env": bad})
