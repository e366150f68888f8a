"""Who is squeezed out, by whom, and the least change that lets it in: each put to the composer (UC-005)."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import selfnote
from selfnote.audit import schema, squeeze
from selfnote.audit.scenarios import inside
from selfnote.config import SEGMENTS, TOTAL_BUDGET
from selfnote.demo import DEMO_NOW, bundled_home
from selfnote.errors import LimitExceeded, NotFound

HELPERS = Path(__file__).resolve().parents[1] / "injection" / "helpers"
#: Entries of the demo put to the owner's real verbs in a copy, spread over the segments and cases.
SAMPLED = 12


def load(name: str):
    """A helper of the injection tests."""
    qualified = f"tests_injection_{name}"
    if qualified not in sys.modules:
        spec = importlib.util.spec_from_file_location(qualified, HELPERS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[qualified] = module
        spec.loader.exec_module(module)
    return sys.modules[qualified]


HOMES = load("homes")
NOW = HOMES.NOW


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def copy_demo(root: Path) -> selfnote.Memory:
    for part in ("selfnote", "memory"):
        shutil.copytree(bundled_home() / part, root / part)
    return selfnote.open_memory(root)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> selfnote.Memory:
    return copy_demo(tmp_path_factory.mktemp("demo") / ".dsh")


@pytest.fixture(scope="module")
def found(demo: selfnote.Memory) -> squeeze.Squeeze:
    return squeeze.squeeze(demo, now=DEMO_NOW)


@pytest.fixture
def copied(tmp_path: Path):
    """A fresh copy of the demo for each act."""
    numbers = iter(range(10_000))
    return lambda: copy_demo(tmp_path / str(next(numbers)) / ".dsh")


def tree(root: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path.relative_to(root)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def memory_of(home: Path, *lines, **parts) -> selfnote.Memory:
    HOMES.write(HOMES.Spec(facts=list(lines), **parts), home)
    return selfnote.open_memory(home, tz="Asia/Shanghai")


def there(memory: selfnote.Memory, **options) -> dict[str, str]:
    """Id -> segment of what is in the text."""
    return inside(selfnote.assemble_injection(memory, now=DEMO_NOW, **options))


def rows_of(frame: pd.DataFrame, **wanted) -> list:
    for name, value in wanted.items():
        frame = frame[frame[name] == value]
    every = list(frame.itertuples())
    return every[:: max(1, len(every) // SAMPLED)]


# --- who is out -----------------------------------------------------------------------------------
def test_all_that_do_not_fit_are_listed_with_what_they_need_and_what_was_left(home: Path):
    """COMPLAINTS 20: 30 facts, budget 90: all minus fitting, each with needed N, left M."""
    facts = [HOMES.fact(f"f-{index:02d}", f"{index:02d}" + "句" * 10, importance=index / 10) for index in range(30)]
    frame = squeeze.squeezed(memory_of(home, *facts), now=NOW)
    assert set(frame["id"]) == {f"f-{index:02d}" for index in range(23)}
    assert set(frame["needs"]) == {13}
    assert set(frame["left"]) == {90 - (12 + 6 * 13)}
    assert (frame["short"] == 13).all()
    assert list(frame["rank"]) == list(range(1, 24))
    hottest = frame.set_index("id").loc["f-22"]
    assert set(hottest["retire"]) == {f"f-{index}" for index in range(23, 30)}
    assert (hottest["holders"], hottest["rivals"]) == (("f-23",), ())
    coldest = frame.set_index("id").loc["f-00"]
    assert coldest["retire"] == ()
    assert (len(coldest["holders"]), len(coldest["rivals"])) == (1, 22)


def test_the_frame_holds_what_the_composer_squeezed(demo: selfnote.Memory, found: squeeze.Squeeze):
    injection = selfnote.assemble_injection(demo, now=DEMO_NOW)
    expected = [
        (name, one.kind, one.id, one.text, one.needs, one.left, one.reason, segment.budget, segment.used)
        for name, segment in injection.segments.items()
        for one in segment.squeezed
    ]
    columns = ["segment", "kind", "id", "text", "needs", "left", "reason", "budget", "used"]
    assert [tuple(row) for row in found.entries[columns].itertuples(index=False)] == expected
    assert len(expected) == 65


# --- what lets it in: done for real ---------------------------------------------------------------
def test_shortening_by_n_lets_it_in_and_by_one_less_does_not(found: squeeze.Squeeze, copied):
    """UC-005, by the owner's edit in a copy; the new words are such that nothing contradicts them."""
    ways = rows_of(found.remedies, remedy="shorten")
    assert {way.kind for way in ways} == {"fact", "note"}
    lengths = dict(zip(found.entries["id"], found.entries["length"], strict=True))
    for way in ways:
        for n, goes_in in ((way.n, True), (way.n - 1, False)):
            memory, text = copied(), "龘" * (lengths[way.id] - n)
            if way.kind == "note":
                identifier = memory.notes.edit(way.id, text, now=DEMO_NOW).id
            else:
                identifier = memory.facts.edit(way.id, text=text, now=DEMO_NOW).id
            assert (identifier in there(memory)) == goes_in, (way.id, n)
            if goes_in:
                assert there(memory)[identifier] == way.enters


def test_raising_the_budget_by_n_lets_it_in_and_no_smaller_raise_does(demo: selfnote.Memory, found: squeeze.Squeeze):
    """UC-005: the smallest of all, though packing is not monotone."""
    budgets = demo.config.load().budgets()
    ways = rows_of(found.remedies, remedy="raise")
    assert {way.segment for way in ways} >= {"notes", "env", "conclusions"}
    for way in ways:
        for n in range(1, way.n + 1):
            entered = inside(found.room.pack(budgets={**budgets, way.segment: budgets[way.segment] + n}))
            assert (way.id in entered) == (n == way.n), (way.id, n)


def test_an_entry_no_raise_within_the_thousand_lets_in_has_none(demo: selfnote.Memory, found: squeeze.Squeeze):
    budgets = demo.config.load().budgets()
    out = found.entries[found.entries["raise_by"].isna() & (found.entries["reason"] == "no room")]
    assert len(out) > 10
    for row in list(out.itertuples())[::6]:
        for budget in range(budgets[row.segment] + 1, TOTAL_BUDGET + 1, 7):
            assert row.id not in inside(found.room.pack(budgets={**budgets, row.segment: budget})), (row.id, budget)


def test_retiring_any_entry_named_lets_it_in_and_a_replacement_changes_nothing_else(
    demo: selfnote.Memory, found: squeeze.Squeeze, copied
):
    """UC-005, by the owner's verbs in a copy."""
    ways = rows_of(found.remedies, remedy="retire")
    replaced = {row.id: row.replace for row in found.entries.itertuples()}
    afresh = inside(found.room.afresh)
    for way in ways:
        memory = copied()
        if way.other.startswith("n-"):
            memory.notes.delete(way.other, now=DEMO_NOW)
        else:
            memory.facts.retire(way.other, now=DEMO_NOW)
        entered = there(memory)
        assert entered[way.id] == way.enters
        swapped = set(entered) == (set(afresh) - {way.other}) | {way.id}
        assert swapped == (way.other in replaced[way.id]), (way.id, way.other)
        assert set(way.gains) == set(entered) - set(afresh) - {way.id}
        assert set(way.loses) == set(afresh) - set(entered) - {way.other}
    assert any(replaced.values())


def test_no_entry_left_out_of_the_list_would_do(demo: selfnote.Memory, found: squeeze.Squeeze, copied):
    singles = {row.id: set(row.retire) for row in found.entries.itertuples() if row.segment == "conclusions"}
    for other in list(inside(found.room.afresh))[::9]:
        if not other.startswith("f-"):
            continue
        memory = copied()
        memory.facts.retire(other, now=DEMO_NOW)
        entered = there(memory)
        for identifier, named in singles.items():
            assert (identifier in entered) == (other in named), (identifier, other)


def test_all_that_must_go_let_it_in_together_and_not_without_any_one_of_them(found: squeeze.Squeeze, copied):
    """UC-005 "by whom": a set in which nobody is named in vain."""
    several = [row for row in found.entries.itertuples() if len(row.holders) + len(row.rivals) > 1]
    facts = [row for row in several if row.kind == "fact"]
    assert len(facts) > 5
    for row in facts[::8]:
        everyone = (*row.holders, *row.rivals)
        for stays in (None, *everyone[:: max(1, len(everyone) // 3)]):
            memory = copied()
            memory.facts.retire([one for one in everyone if one != stays], now=DEMO_NOW)
            assert (row.id in there(memory)) == (stays is None), (row.id, stays)


def test_one_in_conflict_is_let_in_by_retiring_the_other_and_by_nothing_else(home: Path):
    link = [{"id": "f-b", "kind": "conflict", "rule": "r"}]
    memory = memory_of(home, HOMES.fact("f-a", "端口 1", similarTo=link), HOMES.fact("f-b", "端口 2"))
    rows = squeeze.squeezed(memory, now=NOW).set_index("id")
    assert (rows.loc["f-a", "retire"], rows.loc["f-b", "retire"]) == (("f-b",), ("f-a",))
    assert rows[["shorten_by", "raise_by"]].isna().all(axis=None)


def test_what_goes_in_by_itself_when_the_facts_are_chosen_afresh_asks_for_nothing(home: Path):
    """DESIGN Rotation: env takes turns; a change of any fact would let it in, whatever the change."""
    facts = [HOMES.fact(f"f-{index}", f"{index}" + "机" * 99, channel="env") for index in range(4)]
    memory = memory_of(home, *facts)
    selfnote.compose_injection(home, session="s", now=NOW)
    row = squeeze.squeezed(memory, now=NOW + timedelta(minutes=5)).set_index("id").loc["f-2"]
    assert (row["by_itself"], row["turns"], row["holders"], row["retire"]) == (True, 1, (), ())
    assert pd.isna(row["shorten_by"])
    row = squeeze.squeezed(memory, now=NOW + timedelta(minutes=5)).set_index("id").loc["f-3"]
    assert (row["by_itself"], row["turns"]) == (False, 2)
    assert row["retire"] == ("f-2",)


def test_the_hours_until_its_turn_are_those_it_really_takes(home: Path):
    facts = [HOMES.fact(f"f-{index}", f"{index}" + "机" * 109, channel="env") for index in range(5)]
    memory = memory_of(home, *facts)
    selfnote.compose_injection(home, session="s", now=NOW)
    start = NOW + timedelta(hours=1)
    turns = squeeze.squeezed(memory, now=NOW + timedelta(minutes=59)).set_index("id")["turns"].to_dict()
    seen: dict[str, int] = {}
    for hour in range(1, 6):
        at = start + (hour - 1) * timedelta(hours=1)
        selfnote.compose_injection(home, session="s", turn=hour, now=at)
        for identifier in inside(selfnote.assemble_injection(memory, now=at)):
            seen.setdefault(identifier, hour)
    assert turns == {one: seen[one] for one in turns}
    assert set(turns.values()) == {1, 2, 3}


def test_one_may_ask_about_some_entries_only(demo: selfnote.Memory, found: squeeze.Squeeze):
    """A large memory need not be worked through for one question."""
    few = ["f-cac11ac452e4", "n-dd072f97083c"]
    some = squeeze.squeezed(demo, now=DEMO_NOW, only=few)
    assert set(some["id"]) == set(few)
    whole = found.entries[found.entries["id"].isin(few)].reset_index(drop=True)
    pd.testing.assert_frame_equal(some, whole)
    assert set(squeeze.remedies(demo, now=DEMO_NOW, only=few[0])["id"]) == {few[0]}
    with pytest.raises(NotFound, match="'f-e45dd234dfee'"):
        squeeze.squeeze(demo, now=DEMO_NOW, only="f-e45dd234dfee")


def test_persona_lines_and_habits_are_let_in_as_well(home: Path):
    """UC-005: every squeezed entry, not facts alone; a line that leaves renames those behind it."""
    habit = {"tag": "t", "factIds": ["f-1"], "createdAt": "2026-01-01T00:00:00Z"}
    memory = memory_of(
        home,
        HOMES.fact("f-1", "甲"),
        l1=["一" * 100, "二" * 150, "三" * 80, "四" * 70],
        habits=[{"id": "h-1", "text": "习" * 30, **habit}, {"id": "h-2", "text": "惯" * 20, **habit}],
    )
    rows = squeeze.squeezed(memory, now=NOW).set_index("id")
    assert tuple(rows.loc["l1:3", ["shorten_by", "raise_by"]]) == (10, 10)
    assert rows.loc["l1:3", "retire"] == ("l1:1", "l1:2")
    assert tuple(rows.loc["h-2", ["shorten_by", "raise_by"]]) == (11, 11)
    assert rows.loc["h-2", "replace"] == ("h-1",)
    budgets = {**memory.config.load().budgets(), "persona": 330}
    assert "l1:3" in inside(selfnote.assemble_injection(memory, now=NOW, budgets=budgets))


# --- any memory -----------------------------------------------------------------------------------
@settings(max_examples=25)
@given(HOMES.specs())
def test_in_any_memory_the_least_change_is_the_least(spec):
    """Halving finds what trying every length finds; the snapshot without persona and notes answers alike."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory) / ".dsh"
        HOMES.write(spec, root)
        found = squeeze.squeeze(selfnote.open_memory(root, tz="Asia/Shanghai"), now=NOW)
        room, rows = found.room, found.entries.set_index("id")
        for row in rows.itertuples():
            if row.by_itself or row.reason in {"conflict", "nothing printable"}:
                assert pd.isna(row.shorten_by)
                continue
            enters = [
                n
                for n in range(1, row.length)
                if row.Index in inside(room.pack(squeeze.resized(room.snapshot, row.kind, row.Index, row.length - n)))
            ]
            assert (enters[0] if enters else None) == (None if pd.isna(row.shorten_by) else row.shorten_by), row.Index
            must_go = {*row.holders, *row.rivals}
            if must_go and row.kind == "fact":
                everyone = [must_go, *(must_go - {one} for one in must_go)]
                packed = [row.Index in inside(room.pack(squeeze.without(room.snapshot, gone))) for gone in everyone]
                assert packed == [True] + [False] * len(must_go)


@settings(max_examples=40)
@given(HOMES.specs(), st.data())
def test_leaving_entries_out_of_a_reading_is_retiring_deleting_and_revoking_them(spec, data: st.DataObject):
    """The snapshot nobody wrote is the one that would be read after the acts."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory) / ".dsh"
        HOMES.write(spec, root)
        memory = selfnote.open_memory(root, tz="Asia/Shanghai")
        notes = [note.id for note in memory.notes.list()]
        items = [one.id for one in memory.facts.approved()]
        items += [one for one in notes if notes.count(one) == 1 and "." not in one and f"{one}.2" not in notes]
        items += [one.id for one in memory.habits.active()]
        gone = data.draw(st.lists(st.sampled_from(items), unique=True, max_size=5)) if items else []
        room = squeeze.packing(memory, NOW)
        supposed = room.pack(squeeze.without(room.snapshot, gone))
        for one in gone:
            if one.startswith("n-"):
                memory.notes.delete(one, now=NOW)
            elif one.startswith("h-"):
                memory.habits.revoke(one, now=NOW)
            else:
                memory.facts.retire(one, now=NOW)
        assert supposed.text == selfnote.assemble_injection(memory, now=NOW).text


# --- what more characters would buy ---------------------------------------------------------------
def test_the_shadow_price_is_what_the_composer_gives_for_the_larger_budget(demo: selfnote.Memory):
    """UC-005: every segment's next 10 to 200 characters."""
    frame = squeeze.shadow_price(demo, now=DEMO_NOW)
    assert list(frame["segment"].unique()) == list(SEGMENTS)
    assert list(frame[frame["segment"] == "env"]["step"]) == list(range(10, 201, 10))
    budgets = demo.config.load().budgets()
    before = there(demo)
    for row in list(frame.itertuples())[::7]:
        injection = selfnote.assemble_injection(
            demo, now=DEMO_NOW, budgets={**budgets, row.segment: budgets[row.segment] + int(row.step)}
        )
        entered = inside(injection)
        assert set(row.gained) == set(entered) - set(before)
        assert set(row.lost) == set(before) - set(entered)
        assert (row.used, row.total) == (injection.segments[row.segment].used, injection.total_chars)
        assert row.used <= row.room <= row.budget
        assert row.total <= TOTAL_BUDGET
    assert (frame["n_gained"] == frame["gained"].map(len)).all()


def test_more_room_may_cost_what_less_room_had_bought_and_that_is_said(home: Path):
    """Packing whole entries is not monotone."""
    memory = memory_of(
        home,
        HOMES.fact("f-in", "甲" * 80, importance=3),
        HOMES.fact("f-long", "乙" * 19, importance=2),
        HOMES.fact("f-short", "丙" * 10, importance=1),
    )
    frame = squeeze.shadow_price(memory, now=NOW, steps=[20, 10, 30])
    conclusions = frame[frame["segment"] == "conclusions"].set_index("step")
    assert list(conclusions.index) == [10, 20, 30]
    assert (conclusions.loc[10, "gained"], conclusions.loc[10, "dropped"]) == (("f-long",), ())
    smaller = squeeze.shadow_price(memory, now=NOW, steps=[1, 10])
    conclusions = smaller[smaller["segment"] == "conclusions"].set_index("step")
    assert (conclusions.loc[1, "gained"], conclusions.loc[1, "used_more"]) == (("f-short",), 11)
    assert (conclusions.loc[10, "gained"], conclusions.loc[10, "dropped"]) == (("f-long",), ("f-short",))
    assert conclusions.loc[10, "heat_gained"] > conclusions.loc[1, "heat_gained"]


def test_a_segment_that_grows_past_the_thousand_pushes_later_ones_out(home: Path):
    """S2-198: the six together hold 1000."""
    memory = memory_of(
        home,
        HOMES.fact("f-1", "结" * 90),
        l1=["人" * 320],
        notes=[HOMES.Note("述" * 200), HOMES.Note("更" * 100)],
        habits=[{"id": "h-1", "tag": "t", "text": "习" * 40, "factIds": ["f-1"], "createdAt": "2026-01-01T00:00:00Z"}],
    )
    frame = squeeze.shadow_price(memory, now=NOW, steps=[100, 800])
    row = frame[(frame["segment"] == "notes") & (frame["step"] == 800)].iloc[0]
    assert row["total"] <= TOTAL_BUDGET
    assert row["room"] == TOTAL_BUDGET - 320
    assert set(row["lost"]) == set()
    memory.facts.approve(memory.facts.add("机" * 230, channel="env", now=NOW), now=NOW)
    memory.notes.add("又" * 60, now=NOW)
    row = squeeze.shadow_price(memory, now=NOW, steps=[160]).set_index("segment").loc["notes"]
    assert (row["used"], row["total"], set(row["lost"])) == (360, 1000, {"h-1"})


@pytest.mark.parametrize("step", [0, -10, 2.5, True])
def test_a_step_that_is_no_number_of_characters_is_refused(demo: selfnote.Memory, step):
    with pytest.raises(LimitExceeded, match="step="):
        squeeze.shadow_price(demo, now=DEMO_NOW, steps=[step])


# --- frames ---------------------------------------------------------------------------------------
def test_the_frames_are_as_documented_and_typed_when_empty(
    demo: selfnote.Memory, found: squeeze.Squeeze, memory: selfnote.Memory
):
    nothing = squeeze.squeeze(memory, now=NOW)
    off = copy_off(memory)
    for name, frames in {
        "squeezed": (found.entries, nothing.entries, squeeze.squeezed(off, now=NOW)),
        "remedies": (found.remedies, nothing.remedies, squeeze.remedies(off, now=NOW)),
        "shadow_price": (
            squeeze.shadow_price(demo, now=DEMO_NOW, steps=[10]),
            squeeze.shadow_price(demo, now=DEMO_NOW, steps=[]),
            squeeze.shadow_price(off, now=NOW),
        ),
    }.items():
        for frame in frames:
            assert [(key, str(dtype)) for key, dtype in frame.dtypes.items()] == [
                (column.name, schema.DTYPES[column.kind]) for column in schema.columns_of(name)
            ]
        assert [len(frame) > 0 for frame in frames] == [True, False, False]
        for column in schema.columns_of(name):
            if not column.nullable:
                assert frames[0][column.name].notna().all(), column.name
    assert repr(nothing) == "<Squeeze: 0 entries out, 0 of them go in by themselves>"


def copy_off(memory: selfnote.Memory) -> selfnote.Memory:
    """A memory with a fact, switched off."""
    home = memory.home.root.parent / "off"
    HOMES.write(HOMES.Spec(facts=[HOMES.fact("f-1", "甲" * 200)], config={"injectionEnabled": False}), home)
    return selfnote.open_memory(home)


def test_looking_at_the_squeeze_writes_nothing(tmp_path: Path):
    """COMPLAINTS 17."""
    memory = copy_demo(tmp_path / ".dsh")
    before = tree(memory.home.root)
    found = squeeze.squeeze(memory, now=DEMO_NOW)
    assert len(found.entries) == 65
    assert len(squeeze.shadow_price(memory, now=DEMO_NOW)) == 120
    assert tree(memory.home.root) == before
