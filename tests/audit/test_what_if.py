"""What a change would do: exactly what happens when the owner makes it (UC-005)."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import string
import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import selfnote
from selfnote.audit import schema
from selfnote.config import SEGMENTS
from selfnote.demo import DEMO_NOW, bundled_home
from selfnote.errors import Conflict, LimitExceeded, NotFound
from selfnote.phrases import WHAT_IF
from selfnote.text import is_printable, safe

HELPERS = Path(__file__).resolve().parents[1] / "injection" / "helpers"


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


@pytest.fixture
def demo(tmp_path: Path) -> selfnote.Memory:
    root = tmp_path / "demo" / ".dsh"
    for part in ("selfnote", "memory"):
        shutil.copytree(bundled_home() / part, root / part)
    return selfnote.open_memory(root)


def tree(root: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path.relative_to(root)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def make(memory: selfnote.Memory, changes: dict, now: datetime) -> None:
    """The same changes through the owner's verbs, in the documented order."""
    settings_ = {"half_life_days": changes.get("half_life"), "temp_ttl_days": changes.get("ttl")}
    if given_ := {name: value for name, value in settings_.items() if value is not None}:
        memory.config.save(**given_)
    for one in changes.get("approve", ()):
        memory.facts.approve(one, now=now)
    for one in changes.get("retire", ()):
        memory.facts.retire(one, now=now)
    pins = dict.fromkeys(changes.get("pin", ()))
    for one, text in changes.get("edit", {}).items():
        if one.startswith("f-"):
            memory.facts.edit(one, text=text, now=now)
        else:
            note = memory.notes.edit(one, text, now=now)
            if one in pins:
                pins[one] = note.id
    for one, importance in changes.get("importance", {}).items():
        memory.facts.set_importance(one, importance, now=now)
    for one, renamed in pins.items():
        memory.notes.pin(renamed or one)


# --- the property ---------------------------------------------------------------------------------
printable = HOMES.texts(90).filter(lambda text: is_printable(safe(text)))


@st.composite
def changes_of(draw, spec):
    """Changes that the owner could make in the memory of ``spec``."""

    def some(items, most=3):
        return draw(st.lists(st.sampled_from(items), max_size=most, unique=True)) if items else []

    by_status = {
        status: [one["id"] for one in spec.facts if one["status"] == status] for status in ("candidate", "approved")
    }
    waiting, approved = by_status["candidate"], by_status["approved"]
    changes = {"approve": some(waiting), "retire": some(approved + waiting)}
    changes["edit"] = {one: draw(printable) for one in some(approved + waiting, 2)}
    changes["importance"] = {one: draw(st.sampled_from([0, 0.5, 2, 3])) for one in some(approved + waiting, 2)}
    notes = HOMES_NOTES(spec)
    if notes and draw(st.booleans()):
        changes["edit"][draw(st.sampled_from(notes))] = draw(HOMES.one_line(60).filter(lambda t: is_printable(safe(t))))
    changes["pin"] = some(notes, 2)
    if draw(st.booleans()):
        changes["half_life"] = draw(st.sampled_from([1, 7.5, 30, 365]))
    if draw(st.booleans()):
        changes["ttl"] = draw(st.integers(1, 90))
    return changes


def HOMES_NOTES(spec):  # noqa: N802 - stands beside HOMES
    """Ids of the notes of a spec that no other note of it shares."""
    from selfnote.records.notes import parse_note

    ids = [note.id for line in spec.notes if (note := parse_note(line.line)) is not None]
    return [one for one in ids if ids.count(one) == 1]


@settings(max_examples=120)
@given(st.data())
def test_what_would_happen_is_what_happens(data: st.DataObject):
    """UC-005: the text, the squeezed and the bill are those of the memory in which the owner has made the change."""
    spec = data.draw(HOMES.specs())
    changes = data.draw(changes_of(spec))
    with tempfile.TemporaryDirectory() as directory:
        root, copy = Path(directory) / "a" / ".dsh", Path(directory) / "b" / ".dsh"
        HOMES.write(spec, root)
        if data.draw(st.booleans()):
            selfnote.compose_injection(root, session="s", now=NOW - timedelta(minutes=data.draw(st.integers(0, 90))))
        shutil.copytree(root, copy)
        before = tree(root)
        memory, other = (selfnote.open_memory(place, tz="Asia/Shanghai") for place in (root, copy))
        supposed = memory.what_if(now=NOW, **changes)
        assert tree(root) == before
        make(other, changes, NOW)
        happened = selfnote.assemble_injection(other, now=NOW)
        assert supposed.after.text == happened.text
        assert supposed.before.text == selfnote.assemble_injection(memory, now=NOW).text
        for name in SEGMENTS:
            mine, real = supposed.after.segments[name], happened.segments[name]
            assert (mine.budget, mine.used) == (real.budget, real.used)
            facts = [one for one in mine.squeezed if one.kind != "note"]
            assert facts == [one for one in real.squeezed if one.kind != "note"]
            assert [one[2:] for one in mine.squeezed] == [one[2:] for one in real.squeezed]
        preview = memory.preview(**{name: changes[name] for name in ("approve", "retire", "edit", "pin")}, now=NOW)
        if not changes["importance"] and not {"half_life", "ttl"} & changes.keys():
            assert preview.injection.text == happened.text


def test_in_the_demo_a_change_of_everything_is_what_happens(demo: selfnote.Memory, tmp_path: Path):
    """UC-005, through compose_injection too: a change of facts makes it choose afresh at once."""
    copy = tmp_path / "copy" / ".dsh"
    shutil.copytree(demo.home.root, copy)
    other = selfnote.open_memory(copy)
    waiting = [one.id for one in demo.facts.candidates()]
    note = demo.notes.list()[-3]
    changes = {
        "approve": waiting[:6],
        "retire": ["f-e45dd234dfee", waiting[7]],
        "edit": {"f-4374c67257fc": "表格一律不用", note.id: "改成这样"},
        "pin": [note.id],
        "half_life": 7,
        "ttl": 30,
        "importance": {"f-bb259bf0dde1": 3},
    }
    supposed = demo.what_if(now=DEMO_NOW, **changes)
    make(other, changes, DEMO_NOW)
    assert selfnote.compose_injection(copy, session="new", now=DEMO_NOW) == supposed.after.text
    assert supposed.after.text != supposed.before.text


def test_budgets_replace_the_stored_ones_as_in_assemble(demo: selfnote.Memory):
    """DESIGN Files: budgets= (all six names) of assemble and the what-if wins."""
    budgets = {**demo.config.load().budgets(), "conclusions": 140, "habits": 0}
    supposed = demo.what_if(now=DEMO_NOW, budgets=budgets)
    assert supposed.after.text == selfnote.assemble_injection(demo, now=DEMO_NOW, budgets=budgets).text
    chars = supposed.chars.set_index("segment")
    assert tuple(chars.loc["conclusions", ["budget_before", "budget_after"]]) == (90, 140)
    assert chars.loc["habits", "entries_after"] == 0
    with pytest.raises(LimitExceeded, match="all six"):
        demo.what_if(now=DEMO_NOW, budgets={"env": 300})


@pytest.mark.parametrize("budget", [*range(60), 90, 150, 400])
def test_the_old_wording_never_stands_beside_or_instead_of_the_new_one(home: Path, budget: int):
    """COMPLAINTS 22: approve and replace at every budget; without replacing neither goes in."""
    link = [{"id": "f-new", "kind": "conflict", "rule": "r"}]
    facts = [
        HOMES.fact(
            "f-old", "数据库端口一直都是 5432", similarTo=link, hitCount=400, lastHit="2026-02-28T00:00:00.000Z"
        ),
        HOMES.fact("f-new", "数据库端口改成了 5433", status="candidate"),
        HOMES.fact("f-other", "甲" * 20),
    ]
    HOMES.write(HOMES.Spec(facts=facts), home)
    memory = selfnote.open_memory(home)
    budgets = {**memory.config.load().budgets(), "conclusions": budget}
    both = memory.what_if(now=NOW, approve="f-new", retire="f-old", budgets=budgets).after.text
    assert "5432" not in both
    assert ("5433" in both) == (budget >= len("数据库端口改成了 5433"))
    held = memory.what_if(now=NOW, approve="f-new", budgets=budgets).after.text
    assert "5432" not in held
    assert "5433" not in held


# --- what it tells --------------------------------------------------------------------------------
@pytest.fixture
def three(home: Path) -> selfnote.Memory:
    """Conclusions with two facts in and one out; the one out is a day of half-life from being in."""
    facts = [
        HOMES.fact("f-1", "一" * 40, hitCount=50, lastHit="2026-02-28T00:00:00.000Z"),
        HOMES.fact("f-2", "二" * 40, lastHit="2026-02-20T00:00:00.000Z", hitCount=1),
        HOMES.fact("f-3", "三" * 40, hitCount=400, lastHit="2026-02-01T00:00:00.000Z"),
    ]
    HOMES.write(HOMES.Spec(facts=facts, config={"language": "en"}), home)
    return selfnote.open_memory(home, tz="Asia/Shanghai")


def test_entries_in_and_out_ranks_and_characters_are_told(three: selfnote.Memory):
    """UC-005."""
    supposed = three.what_if(now=NOW, half_life=3)
    assert [(one.segment, one.id) for one in supposed.difference.entering] == [("conclusions", "f-2")]
    entries = supposed.entries.set_index("id")
    assert dict(entries["change"]) == {"f-1": "stays", "f-2": "in", "f-3": "out"}
    assert tuple(entries.loc["f-3", ["segment_before", "needs", "left", "reason"]]) == ("conclusions", 41, 9, "no room")
    assert entries.loc["f-2", "segment_after"] == "conclusions"
    flips = supposed.rank_flips.set_index("id")
    assert set(flips.index) == {"f-2", "f-3"}
    assert tuple(flips.loc["f-2", ["rank_before", "rank_after", "change"]]) == (3, 2, 1)
    assert flips.loc["f-3", "change"] == -1
    assert (flips["heat_before"] != flips["heat_after"]).all()
    chars = supposed.chars.set_index("segment")
    assert tuple(chars.loc["conclusions", ["used_before", "used_after", "change"]]) == (81, 81, 0)


def test_a_fact_that_comes_or_goes_flips_no_rank_of_the_others(three: selfnote.Memory):
    supposed = three.what_if(now=NOW, retire="f-1")
    assert supposed.rank_flips.empty
    assert set(supposed.entries.loc[supposed.entries["change"] == "out", "id"]) == {"f-1"}


def test_the_shadow_price_after_a_change_is_that_of_the_changed_memory(three: selfnote.Memory):
    price = three.what_if(now=NOW, retire="f-1").shadow_price([10, 50])
    assert price["n_gained"].sum() == 0
    before = three.what_if(now=NOW).shadow_price([10, 50])
    row = before[(before["segment"] == "conclusions") & (before["step"] == 50)].iloc[0]
    assert row["gained"] == ("f-2",)


def test_nothing_changed_is_said_so(three: selfnote.Memory):
    supposed = three.what_if(now=NOW)
    assert supposed.diff == ""
    assert supposed.difference.is_empty
    assert WHAT_IF["en"]["same"] in str(supposed)
    assert set(supposed.entries["change"]) == {"stays"}


def test_it_shows_itself_as_text_and_html_pure_and_escaped(three: selfnote.Memory):
    """House style: text and HTML from the same rows, without ids or addresses of their own."""
    supposed = three.what_if(now=NOW, edit={"f-1": "<script>&改</script>"}, retire="f-3")
    text, html = str(supposed), supposed._repr_html_()
    assert "1 reworded" in text
    assert "~ Conclusions  f-1  <script>&改</script>" in text
    assert "<script>" not in html
    assert "&lt;script&gt;&amp;改" in html
    assert not re.search(r"0x[0-9a-f]{6}|\bid=", text + html)
    again = three.what_if(now=NOW, edit={"f-1": "<script>&改</script>"}, retire="f-3")
    assert (str(again), again._repr_html_()) == (text, html)


def test_the_marked_text_holds_both_texts(three: selfnote.Memory):
    supposed = three.what_if(now=NOW, half_life=3)
    html = supposed.diff_html
    without_new = re.sub(r"<ins>.*?</ins>", "", html)
    without_old = re.sub(r"<del>.*?</del>", "", html)

    def plain(marked):
        return re.sub(r"<(?!br)[^>]*>", "", marked).replace("<br>", "\n")

    assert plain(without_new) == supposed.before.text
    assert plain(without_old) == supposed.after.text


def test_frames_are_as_documented_and_typed_when_empty(three: selfnote.Memory, tmp_path: Path):
    filled = three.what_if(now=NOW, half_life=3)
    empty = selfnote.open_memory(tmp_path / "none").what_if(now=NOW, ttl=3)
    for name, of in {"what_if": "entries", "rank_flips": "rank_flips", "what_if_chars": "chars"}.items():
        for supposed in (filled, empty):
            frame = getattr(supposed, of)
            assert [(key, str(dtype)) for key, dtype in frame.dtypes.items()] == [
                (column.name, schema.DTYPES[column.kind]) for column in schema.columns_of(name)
            ]
    assert empty.entries.empty
    assert empty.after.text == ""


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"approve": ["f-none"]}, NotFound, "no fact has the id 'f-none'"),
        ({"retire": ["f-none"]}, NotFound, "no fact has the id 'f-none'"),
        ({"importance": {"f-none": 1}}, NotFound, "no fact has the id 'f-none'"),
        ({"pin": ["n-none"]}, NotFound, "no note has the id 'n-none'"),
        ({"edit": {"x": "y"}}, NotFound, "no fact or note has the id 'x'"),
        ({"importance": {"f-1": 4}}, LimitExceeded, "importance of f-1=4"),
        ({"importance": {"f-1": True}}, LimitExceeded, "importance of f-1=True"),
        ({"half_life": 0}, LimitExceeded, "half_life_days=0"),
        ({"ttl": 91}, LimitExceeded, "temp_ttl_days=91"),
        ({"edit": {"f-1": " "}}, LimitExceeded, "nothing printable"),
    ],
)
def test_what_cannot_be_is_refused_and_named(three: selfnote.Memory, changes, error, message):
    with pytest.raises(error, match=re.escape(message)):
        three.what_if(now=NOW, **changes)


def test_an_illegal_transition_is_a_conflict(three: selfnote.Memory):
    three.facts.retire("f-2", now=NOW)
    with pytest.raises(Conflict, match="f-2"):
        three.what_if(now=NOW, approve="f-2")


def test_a_what_if_of_the_demo_changes_no_byte(demo: selfnote.Memory):
    """COMPLAINTS 17."""
    before = tree(demo.home.root)
    supposed = demo.what_if(now=DEMO_NOW, retire="f-e45dd234dfee", half_life=5, ttl=1)
    assert str(supposed)
    assert supposed._repr_html_()
    assert len(supposed.shadow_price()) == 120
    assert tree(demo.home.root) == before


def test_the_words_exist_in_both_languages_with_the_same_blanks():
    assert WHAT_IF["zh"].keys() == WHAT_IF["en"].keys()
    for key in WHAT_IF["zh"]:
        blanks = [
            {name for _, name, _, _ in string.Formatter().parse(WHAT_IF[tongue][key]) if name} for tongue in WHAT_IF
        ]
        assert blanks[0] == blanks[1], key
