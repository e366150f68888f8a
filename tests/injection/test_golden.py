"""The text as an owner reads it, kept as files; and the largest frame there can be (S2-092, S2-216, A-16)."""

# ruff: noqa: PLR0917 - fixtures are asked for by name

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

import selfnote

GOLDEN = Path(__file__).resolve().parent / "golden"
L0 = ["我是小周的助手，说话直接。", "他叫我小诺。"]
L1 = ["先给结论，再给理由。", "不确定就说不确定。", "不用感叹号。"]
L0_EN = ["I am Zhou's assistant and speak plainly.", "He calls me Nuo."]
L1_EN = ["Answer first, reasons after.", "Say so when unsure."]


def _full(homes, english):
    fact, note = homes.fact, homes.Note
    day = date(2026, 2, 20)
    zh = not english
    notes = [
        note("我写中文时少用长句。" if zh else "I keep my sentences short.", "stable", True, date(2026, 1, 5)),
        note("我喜欢先读测试再读代码。" if zh else "I read tests before code.", "stable", False, day),
        note(
            "我在帮他准备周五的演示。" if zh else "I am helping with Friday's demo.", "temp", False, date(2026, 2, 25)
        ),
        note("我出生在港口。" if zh else "I was born in a harbour town.", "core", False, day),
        note("旧的临时事。" if zh else "An old temporary thing.", "temp", False, date(2026, 1, 1)),
    ]
    facts = [
        fact("f-1", "回答先给结论" if zh else "answers start with the conclusion", tags=["沟通" if zh else "talk"]),
        fact(
            "f-2",
            "用中文交流" if zh else "speaks English at work",
            tags=["沟通" if zh else "talk"],
            approvedAt="2026-01-03T00:00:00.000Z",
        ),
        fact(
            "f-3",
            "不吃香菜" if zh else "no coriander",
            tags=["饮食" if zh else "food"],
            approvedAt="2026-01-04T00:00:00.000Z",
        ),
        fact("f-4", "Python 用 3.11" if zh else "Python is 3.11", channel="env"),
        fact(
            "f-5",
            "代码在 ~/work 下" if zh else "code lives in ~/work",
            channel="env",
            approvedAt="2026-01-03T00:00:00.000Z",
        ),
        fact("f-6", "周报周四写" if zh else "the weekly report is due on Thursday"),
        fact("f-7", "等他点头的候选" if zh else "a candidate that waits", status="candidate"),
        fact("f-8", "退役的旧话" if zh else "an old retired line", status="retired"),
    ]
    habits = [
        {
            "id": "h-1",
            "tag": "沟通",
            "text": "短句作答" if zh else "answers in short lines",
            "factIds": ["f-1"],
            "createdAt": "2026-01-01T00:00:00Z",
        }
    ]
    return {
        "l0": L0 if zh else L0_EN,
        "l1": L1 if zh else L1_EN,
        "l2": "银发，住在港口。" if zh else "Silver hair.",
        "notes": notes,
        "facts": facts,
        "habits": habits,
        "config": {"timingHint": "做完一件事就写一条" if zh else "after each finished task"}
        | ({"language": "en"} if english else {}),
    }


def _squeezed(homes, english):
    fact, note = homes.fact, homes.Note
    return {
        "l0": ["长" * 100],
        "l1": ["一" * 240, "二" * 30, "三" * 30],
        "notes": [note("注" * 210), note("临" * 201, "temp"), note("核", "core")],
        "facts": [fact("f-1", "机" * 231, channel="env"), fact("f-2", "结" * 91), fact("f-3", "论" * 95, tags=["t"])],
        "habits": [{"id": "h-1", "text": "习" * 41, "factIds": ["f-1"], "createdAt": "2026-01-01T00:00:00Z"}],
        "config": {"language": "en"} if english else {},
    }


def _case(homes, name, english):  # noqa: PLR0911 - one home each
    fact, note = homes.fact, homes.Note
    tongue = {"language": "en"} if english else {}
    env = fact("f-1", "机" * 231, channel="env")
    match name:
        case "full":
            return _full(homes, english)
        case "persona_only":
            return {"l0": L0_EN if english else L0, "l1": L1_EN if english else L1, "config": tongue}
        case "only_l2":
            return {"l2": "银发。", "config": tongue}
        case "only_doorplates":
            return {"notes": [note("核", "core"), note("注" * 201)], "facts": [env], "config": tongue}
        case "squeezed_everything":
            return _squeezed(homes, english)
        case "header_empty":
            return {**_full(homes, english), "config": {**tongue, "header": ""}}
        case "hint_only":
            return {"config": {**tongue, "timingHint": "{{现在}}（背景资料，不是指令）\n写"}}
        case "override":
            parts = _full(homes, english)
            text = "He likes short answers" if english else "他喜欢短回答，不吃香菜"
            override = {"text": text, "factIds": ["f-1", "f-3"], "basis": ""}
            return {**parts, "config": {**tongue, "profileOverride": override, "pronoun": "her" if english else "她"}}
        case "empty":
            return {"config": tongue, "facts": [fact("f-1", "候选", status="candidate")]}
        case _:
            return {**_full(homes, english), "config": {**tongue, "injectionEnabled": False}}


CASES = (
    "full",
    "persona_only",
    "only_l2",
    "only_doorplates",
    "squeezed_everything",
    "header_empty",
    "hint_only",
    "override",
    "empty",
    "off",
)


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("name", CASES)
def test_text_is_the_golden_one(homes, build, home, now, name, language):
    """DESIGN The injected text, S2-092, S2-216, S2-218, A-16: one template; the text of each home kept in golden/."""
    build(**_case(homes, name, language == "en"))
    found = selfnote.assemble_injection(selfnote.open_memory(home, tz="Asia/Shanghai"), now=now)
    golden = GOLDEN / f"{name}.{language}.txt"
    assert found.text == golden.read_text("utf-8").removesuffix("\n")
    assert found.reason == {"empty": "empty", "off": "off"}.get(name)
    assert "\r" not in golden.read_bytes().decode()


def test_every_golden_file_belongs_to_a_case():
    """A golden file that no case reads would keep an outdated text alive."""
    expected = {f"{name}.{language}.txt" for name in CASES for language in ("zh", "en")}
    assert {path.name for path in GOLDEN.iterdir()} == expected


@pytest.mark.parametrize(("language", "limit"), [("zh", 240), ("en", 420)])
def test_frame_is_bounded_in_the_worst_case(homes, build, home, now, language, limit):
    """DESIGN Length, S2-217: framing without the newlines of persona and notes is <= 240 zh, <= 420 en; printed here."""
    many = 999
    notes = [homes.Note(f"{index:03d}", "core") for index in range(many)]
    notes += [homes.Note(f"{index:03d}" + "注" * 60) for index in range(many)]
    facts = [homes.fact(f"f-{index:04d}", f"{index:03d}" + "机" * 60, channel="env") for index in range(many)]
    facts += [homes.fact("f-rel", "结论"), homes.fact("f-tag", "画像", tags=["t"])]
    build(
        l0=["我"],
        l1=["规" * 300, *[f"{index:03d}" + "则" * 30 for index in range(many)]],
        l2="x",
        notes=notes,
        facts=facts,
        habits=[{"id": "h-1", "text": "习惯", "factIds": ["f-rel"], "createdAt": "2026-01-01T00:00:00Z"}],
        config={"language": language, "header": "头" * 24, "pronoun": "他" * 8, "timingHint": "提" * 80},
    )
    found = selfnote.assemble_injection(selfnote.open_memory(home), now=now)
    lines = found.text.split("\n")
    bodies = len(found.segments["persona"].entries) + len(found.segments["notes"].entries)
    framing = found.framing_chars - bodies
    print(f"\n{language}: framing {framing} of {limit}, {len(lines)} lines")  # noqa: T201 - DESIGN: a test prints it
    for part in ("persona", "notes", "env"):
        assert found.segments[part].squeezed
    assert all(found.segments[part].entries for part in found.segments)
    assert framing <= limit
    assert found.hint_chars == 80
