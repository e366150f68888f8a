"""The errors: a message in English, the key of the same sentence in Chinese, and what fills its gaps."""

from __future__ import annotations

import ast
import copy
import pickle
import re
import string
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

from selfnote import errors, phrases
from selfnote.config import Config, setting_limits
from selfnote.errors import Conflict, LimitExceeded, NotFound, SelfnoteError
from selfnote.harness.tools import _RefusalError
from selfnote.phrases import PANELS, REFUSALS, describe_error
from selfnote.records.fact_lines import Status
from selfnote.records.flags import KINDS
from selfnote.records.notes import TIERS
from selfnote.storage.atomic import Drift

PACKAGE = Path(errors.__file__).parent
KINDS_OF_ERROR = [
    *(one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, SelfnoteError)),
    Drift,
    _RefusalError,
]
NAMES = {one.__name__ for one in KINDS_OF_ERROR}
CHINESE = re.compile("[\u4e00-\u9fff]")


class Told(NamedTuple):
    """One place that makes an error with a sentence: where, its key, its other keywords, whether it has a message."""

    where: str
    key: object
    values: frozenset[str | None]
    message: bool


def told_places() -> list[Told]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in NAMES:
                continue
            names = {one.arg: one.value for one in node.keywords}
            if key := names.pop("told", None):
                where = f"{path.relative_to(PACKAGE)}:{node.lineno}"
                found.append(Told(where, getattr(key, "value", None), frozenset(names), len(node.args) == 1))
    return found


def gaps(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


PLACES = told_places()


def pickled(error: SelfnoteError) -> SelfnoteError:
    return pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes, made the moment before


# --- one error ------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS_OF_ERROR)
@pytest.mark.parametrize("take", [pickled, copy.copy, copy.deepcopy])
def test_an_error_is_the_same_after_it_was_pickled_or_copied(kind, take):
    again = take(kind("the note has 11 characters", told="note too long", chars=11, most=10))
    assert (type(again), str(again), again.args) == (
        kind,
        "the note has 11 characters",
        ("the note has 11 characters",),
    )
    assert (again.told, again.values) == ("note too long", {"chars": 11, "most": 10})


def test_an_error_is_its_english_message_and_keeps_its_cause():
    cause = ValueError("no")
    with pytest.raises(Conflict, match=r"\Ait was changed\Z") as found:
        raise Conflict("it was changed", told="file changed", file="notes.md") from cause
    assert found.value.__cause__ is cause
    plain = NotFound("nothing")
    assert (str(plain), plain.told, plain.values) == ("nothing", "", {})


# --- the table ------------------------------------------------------------------------------------
@pytest.mark.parametrize("place", PLACES, ids=lambda one: one.where)
def test_every_error_with_a_key_has_a_sentence_whose_gaps_it_fills(place):
    assert place.message, "the English message comes first"
    assert place.key in REFUSALS
    assert gaps(REFUSALS[place.key]) == place.values


def test_no_sentence_is_unused():
    assert set(REFUSALS) == {place.key for place in PLACES}


@pytest.mark.parametrize("key", REFUSALS)
def test_a_sentence_is_chinese_and_speaks_to_the_owner(key):
    """In the panels the owner is always 你; names of files and formats stay what they are."""
    sentence = re.sub(r"\{[^}]*\}", "", REFUSALS[key])
    assert CHINESE.search(sentence)
    assert sentence.endswith("。")
    assert "他" not in sentence
    assert "我" not in sentence
    assert not re.search("[A-Za-z]{2,} [A-Za-z]{2,}", sentence)


def test_a_panel_says_no_english_sentence_of_its_own():
    """What a panel itself refuses is said in its words."""
    for path in sorted((PACKAGE / "panels" / "states").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in NAMES:
                written = [one for one in node.args if isinstance(one, ast.Constant | ast.JoinedStr)]
                assert written == [], f"{path.name}:{node.lineno}"


# --- what is told ---------------------------------------------------------------------------------
def test_english_and_what_has_no_sentence_are_told_in_their_own_words():
    told = LimitExceeded("the note has 11 characters", told="note too long", chars=11, most=10)
    assert describe_error(told, "zh") == "这条自述有 11 字，notes.md 一共最多 10 字；写短一点。"
    assert describe_error(told, "en") == "the note has 11 characters"
    assert describe_error(LimitExceeded("no key"), "zh") == "no key"
    disk = OSError(28, "No space left on device")
    assert describe_error(disk, "zh") == str(disk)


def test_what_stands_in_a_gap_is_no_template():
    """An owner's text may hold braces."""
    told = Conflict("changed", told="note changed", id="n-1", text="{id} {0} {{x}}")
    assert describe_error(told, "zh") == "自述 n-1「{id} {0} {{x}}」刚被改过；看过现在的再改。"


def test_names_of_ours_are_told_in_chinese():
    for status in get_args(Status):
        moved = Conflict("-", told="no such move", id="f-1", status=status, to="approved")
        assert f"「{PANELS['zh'][f'status {status}']}」" in describe_error(moved, "zh")
    flagged = Conflict("-", told="flagged in bulk", id="f-1", flags=tuple(f"{kind}:some-rule" for kind in KINDS))
    labels = "、".join(PANELS["zh"][f"flag {kind}"] for kind in KINDS)
    assert describe_error(flagged, "zh") == f"事实 f-1 可疑（{labels}），不能成批采纳；看过再单独采纳。"
    tier = LimitExceeded("-", told="no such tier", tier="heavy", tiers=TIERS)
    assert describe_error(tier, "zh") == "没有叫「heavy」的型；可选核心、稳定、临时。"
    offered = Conflict("-", told="tag not offered", tag="语言", offered=())
    assert describe_error(offered, "zh").endswith("可以升的：无。")


@pytest.mark.parametrize("name", ["header", "timing_hint", "temp_ttl_days", "max_chars", "max_items"])
def test_a_setting_is_told_by_its_label_and_its_whole_range(name, memory):
    """S2-053..055, S2-059."""
    limits = setting_limits(name)
    low = limits.get("low")
    with pytest.raises(LimitExceeded) as found:
        memory.config.save(**{name: low - 1 if low is not None else "长" * (limits["most"] + 1)})
    sentence = describe_error(found.value, "zh")
    assert sentence.startswith(f"「{PANELS['zh'][name]}」")
    assert all(str(limit) in sentence for limit in limits.values())


def test_a_number_with_a_fraction_may_stand_where_one_is_allowed(memory):
    assert Config.model_fields["half_life_days"].annotation is float
    with pytest.raises(LimitExceeded) as found:
        memory.config.save(half_life_days=0)
    assert describe_error(found.value, "zh") == "「half_life_days」不能是「0」；填从 1 到 365 的数。"


def test_a_persona_that_is_too_long_is_told_with_its_count(memory):
    """S2-136; where a panel's own count tells it first, it says how much is to go."""
    with pytest.raises(LimitExceeded) as found:
        memory.persona.save(l0="长" * 81)
    assert describe_error(found.value, "zh") == ("「L0」有 81 字，最多 80 字；删短再存，L0、L1 里的背景可以挪到 L2。")


def test_phrases_know_nothing_above_the_errors():
    """DESIGN "The rooms": every room may describe an error."""
    tree = ast.parse(Path(phrases.__file__).read_text(encoding="utf-8"))
    wanted = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert {one for one in wanted if one.startswith("selfnote")} == {"selfnote.errors"}
