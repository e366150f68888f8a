"""The persona: three parts in one file that only the owner writes, saved whole or not at all (S2-126..141, A-09)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfnote
from selfnote.records.persona import HEADINGS, Persona, count_chars, parse_persona, part_of_heading, printable_lines
from selfnote.storage.lines import split_lines


def parsed(text):
    data = text if isinstance(text, bytes) else text.encode()
    return parse_persona(split_lines(Path("persona.md"), data, None))


def parts(text):
    persona = parsed(text)
    return (persona.l0, persona.l1, persona.l2)


WHOLE = "# L0 核心身份\n我是鲸鲸\n\n# L1 行为规则\n先结论\n不说教\n\n# L2 扩展设定\n住在海里\n"


# --- reading -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("heading", "part"),
    [
        ("# L0", "l0"), ("# L0 核心身份", "l0"), ("## L0：我是谁", "l0"), ("###### l0 - who", "l0"), ("# 核心身份", "l0"),
        ("# Core", "l0"), ("# core identity", "l0"), ("# L0核心身份", "l0"), ("# L0 #", "l0"), ("   # L0", "l0"),
        ("# L1", "l1"), ("## 行为规则（每回合）", "l1"), ("# Rules", "l1"), ("# behaviour rules", "l1"), ("# behavior rules", "l1"), ("# L1行为", "l1"),
        ("# L2", "l2"), ("# 扩展设定", "l2"), ("# Extended", "l2"), ("#### extended settings", "l2"), ("#\tL2 more", "l2"),
        ("#L0", None), ("L0", None), ("# L3", None), ("# L10", None), ("# L00", None), ("# 我的核心身份", None), ("# Corex", None),
        ("# Core values of the house", None), ("####### L0", None), ("    # L0", None), ("- # L0", None), ("# ", None), ("", None), ("# 其他", None),
    ],
)  # fmt: skip
def test_headings_of_any_level_in_both_languages_open_a_part(heading, part):
    """S2-126, S2-138, A-09."""
    assert part_of_heading(heading) == part


@pytest.mark.parametrize(
    ("text", "l0", "l1", "l2"),
    [
        (WHOLE, "我是鲸鲸", "先结论\n不说教", "住在海里"),
        ("", "", "", ""),
        ("整篇没有标题\n\n第二段\n", "", "整篇没有标题\n\n第二段", ""),
        ("前言\n# L0\n我\n", "我", "前言", ""),
        ("# L0\n我\n## 随便一个标题\n接着\n# L1\n规则\n", "我\n## 随便一个标题\n接着", "规则", ""),
        ("# 陌生\n一\n# L2\n海\n", "", "# 陌生\n一", "海"),
        ("# L1\n一\n# L0\n我\n# L1\n二\n# L1\n三\n", "我", "一\n二\n三", ""),
        ("# L2\n海\n# L1\n一\n# L0\n我\n", "我", "一", "海"),
        ("# L0\n\n\n我\n\n\n# L1\n\n", "我", "", ""),
        ("# L0\n# L1\n# L2\n", "", "", ""),
        ("# L0\n  缩进的行\n", "  缩进的行", "", ""),
    ],
)
def test_every_line_belongs_to_exactly_one_part(text, l0, l1, l2):
    """S2-138, A-09: unknown headings stay in the open part, same-part sections join, no heading is all L1."""
    assert parts(text) == (l0, l1, l2)


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_newline_style_and_bom_are_not_text(newline, bom):
    """COMPLAINTS 6, 8."""
    assert parts(bom + WHOLE.replace("\n", newline)) == ("我是鲸鲸", "先结论\n不说教", "住在海里")


def test_a_line_that_is_no_utf8_is_reported_and_the_rest_used():
    """COMPLAINTS 10."""
    persona = parsed(b"# L0\nok\n\xff\xfe\n# L1\nrules\n")
    assert (persona.l0, persona.l1) == ("ok", "rules")
    assert [problem.line for problem in persona.problems] == [3]


def test_reading_changes_nothing(memory, put):
    """A-09: keep file text unchanged on read."""
    raw = put(memory.home.persona, "前言\r\n# L0\r\n我")
    memory.persona.load()
    assert memory.home.persona.read_bytes() == raw
    assert not memory.home.selfnote_lock.exists()


def test_an_edit_outside_is_seen_at_the_next_load(memory, put):
    """S2-137."""
    put(memory.home.persona, "# L0\n甲\n")
    assert memory.persona.load().l0 == "甲"
    put(memory.home.persona, "# L0\n乙\n")
    assert memory.persona.load().l0 == "乙"


# --- counting ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "chars"),
    [
        ("", 0), ("abc", 3), ("记忆", 2), ("𠮷", 1), ("👩‍👩‍👧‍👦", 7), ("e\u0301", 2), ("a\nb", 2), ("a\n\n\nb\n", 2), ("a b", 3),
        ("a\u200bb", 2), ("\ufeffa", 1), ("a\tb", 3), ("  a", 3), ("\u202e", 0), ("   ", 0), ("a\r\nb", 2),
    ],
)  # fmt: skip
def test_counting_is_by_code_point_of_the_safe_lines_without_newlines(text, chars):
    """S2-139, A-09b, A-21, DESIGN "Length"."""
    assert count_chars(text) == chars


@given(st.text(max_size=60))
def test_what_is_counted_is_what_is_packed(text):
    """A-09b: one function for validator, packer and panel."""
    assert count_chars(text) == sum(len(line) for line in printable_lines(text))
    assert all(line.strip() for line in printable_lines(text))


def test_chars_of_a_persona_are_those_of_l0_and_l1():
    """S2-047: L2 is not injected."""
    assert Persona("ab\nc", "d\n\ne", "many more").chars == 5


# --- limits --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("values", "fits"),
    [
        ({"l0": "一" * 80}, True),
        ({"l0": "一" * 81}, False),
        ({"l0": "一" * 40 + "\n" + "二" * 40}, True),
        ({"l0": "一" * 80, "l1": "二" * 240}, True),
        ({"l0": "一" * 80, "l1": "二" * 241}, False),
        ({"l1": "二" * 320}, True),
        ({"l1": "二" * 321}, False),
        ({"l1": "\n".join(["二" * 32] * 10)}, True),
        ({"l0": "𠮷" * 80}, True),
        ({"l0": "\u200b" * 30 + "一" * 80}, True),
    ],
)
def test_the_limits_of_l0_and_l0_plus_l1(memory, home, snapshot, values, fits):
    """S2-127, S2-128, S2-136, DESIGN "Length": 80 + 240 is allowed, newlines are not counted."""
    memory.persona.save(l1="旧规则", l2="旧设定")
    before = snapshot(home)
    if fits:
        saved = memory.persona.save(**values)
        assert all(getattr(saved, part) == text for part, text in values.items())
    else:
        with pytest.raises(selfnote.LimitExceeded, match=r"at most (80|320)"):
            memory.persona.save(**values)
        assert snapshot(home) == before


def test_the_whole_file_has_at_most_8000_code_points(memory, home, snapshot):
    """S2-129, S2-136: headings count, the BOM does not."""
    head = len(HEADINGS["l2"]) + 2
    memory.persona.save(l2="设" * (8000 - head))
    assert len(memory.home.persona.read_text("utf-8")) == 8000
    before = snapshot(home)
    with pytest.raises(selfnote.LimitExceeded, match="8001"):
        memory.persona.save(l2="设" * (8001 - head))
    assert snapshot(home) == before


def test_every_broken_limit_is_named_at_once(memory):
    """S2-136, DESIGN "Errors": name, value, limit."""
    with pytest.raises(selfnote.LimitExceeded) as caught:
        memory.persona.save(l0="x" * 81, l1="y" * 300, l2="z" * 8000)
    for words in ("81", "at most 80", "381", "at most 320", "at most 8000"):
        assert words in str(caught.value)
    assert not memory.home.persona.exists()


def test_one_part_over_its_limit_saves_no_other(memory, home, snapshot):
    """S2-136: never L0 new and L1 old."""
    memory.persona.save(l0="旧", l1="旧规则")
    before = snapshot(home)
    with pytest.raises(selfnote.LimitExceeded):
        memory.persona.save(l0="新", l1="规" * 400, l2="新设定")
    assert snapshot(home) == before


# --- saving --------------------------------------------------------------------------------------
def test_a_new_file_has_the_three_headings_in_order(memory):
    """S2-126: pure Markdown with headings."""
    memory.persona.save(l2="住在海里")
    memory.persona.save(l0="我是鲸鲸")
    memory.persona.save(l1="先结论\n不说教")
    assert memory.home.persona.read_text("utf-8") == WHOLE
    assert memory.persona.load() == Persona("我是鲸鲸", "先结论\n不说教", "住在海里")


ODD = "\ufeff前言  \r\n\r\n##  L0 ：名字 ##\r\n  我是鲸鲸\t\r\n\r\n\r\n# 行为规则\r\n先结论\r\n### 子标题\r\n不说教\r\n# L2\r\n\r\n海里\r\n\r\n"


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("l0", "  我是鲸鲸\t\r\n\r\n\r\n", "新\r\n第二行\r\n\r\n"),
        ("l2", "\r\n海里\r\n\r\n", "新\r\n第二行\r\n"),
    ],
)
def test_none_keeps_the_bytes_of_a_part(memory, put, part, old, new):
    """DESIGN "Names", COMPLAINTS 6, 7, 8: None keeps a part; headings, CRLF, BOM and blank lines elsewhere stay."""
    put(memory.home.persona, ODD)
    saved = memory.persona.save(**{part: "新\n第二行"})
    assert getattr(saved, part) == "新\n第二行"
    raw = memory.home.persona.read_bytes().decode()
    assert raw == ODD.replace(old, new)


@given(
    lines=st.lists(
        st.sampled_from(["# L0", "# L1 x", "## 扩展设定", "# 其他", "甲", "  乙", "", "丙\u3000"]), max_size=9
    ),
    newline=st.sampled_from(["\n", "\r\n"]),
    final=st.booleans(),
    part=st.sampled_from(["l0", "l1", "l2"]),
    text=st.sampled_from(["", "新", "新\n\n行", "  缩进\n尾"]),
)
def test_saving_one_part_never_changes_another(tmp_path_factory, *, lines, newline, final, part, text):
    """S2-136, DESIGN "Names": what was saved reads back, the other parts read as before, in every layout."""
    from selfnote.records.persona import PersonaStore

    folder = tmp_path_factory.mktemp("p")
    path = folder / "persona.md"
    path.write_bytes((newline.join(lines) + (newline if final else "")).encode())
    store = PersonaStore(path, folder / ".lock")
    before = store.load()
    saved = store.save(**{part: text})
    assert saved == store.load()
    for other in {"l0", "l1", "l2"} - {part}:
        assert getattr(saved, other) == getattr(before, other)
    assert getattr(saved, part) == text.strip("\n")
    if newline == "\r\n":
        assert b"\n" not in path.read_bytes().replace(b"\r\n", b"") or len(lines) + final < 2


def test_saving_what_is_there_changes_not_one_byte(memory, put):
    """COMPLAINTS 2: load, save, byte identical."""
    put(memory.home.persona, ODD)
    mtime = memory.home.persona.stat().st_mtime_ns
    shown = memory.persona.load()
    memory.persona.save(l0=shown.l0, l1=shown.l1, l2=shown.l2, expect=shown.revision)
    memory.persona.save()
    assert memory.home.persona.read_bytes().decode() == ODD
    assert memory.home.persona.stat().st_mtime_ns == mtime


def test_an_emptied_part_is_empty(memory):
    memory.persona.save(l0="我", l1="规则", l2="设定")
    memory.persona.save(l1="")
    assert memory.persona.load() == Persona("我", "", "设定")


def test_sections_of_one_part_become_one_when_it_is_saved(memory, put):
    """A-09: the other parts between them stay."""
    put(memory.home.persona, "# L1\n一\n# L0\n我\n# L1\n二\n# L2\n海\n")
    memory.persona.save(l1="三")
    assert memory.home.persona.read_text("utf-8") == "# L1\n三\n\n# L0\n我\n# L2\n海\n"


@pytest.mark.parametrize("line", ["# L0 我", "## 行为规则", "# Extended", "   # L1", "# core"])
@pytest.mark.parametrize("part", ["l0", "l1", "l2"])
def test_text_that_would_read_as_a_heading_is_refused(memory, home, snapshot, part, line):
    """DESIGN "Names": what is written reads back in the same part, or is not written."""
    memory.persona.save(l0="我", l1="规则", l2="设定")
    before = snapshot(home)
    with pytest.raises(selfnote.LimitExceeded, match="heading"):
        memory.persona.save(**{part: f"好\n{line}\n尾"})
    assert snapshot(home) == before


def test_a_heading_that_names_no_part_is_text(memory):
    """A-09."""
    assert memory.persona.save(l1="# 回答\n先结论").l1 == "# 回答\n先结论"


@pytest.mark.parametrize("text", ["半\ud83d", 3])
def test_only_text_a_file_can_hold_is_saved(memory, text):
    with pytest.raises(selfnote.LimitExceeded, match="L1"):
        memory.persona.save(l1=text)
    assert not memory.home.persona.exists()


def test_a_persona_edited_outside_meanwhile_is_a_conflict(memory, put):
    """COMPLAINTS 1, 4: compared with what was shown; the draft stays with the owner."""
    memory.persona.save(l0="我")
    shown = memory.persona.load()
    raw = put(memory.home.persona, "# L0\n外面改的\n")
    with pytest.raises(selfnote.Conflict, match=r"persona\.md"):
        memory.persona.save(l1="规则", expect=shown.revision)
    assert memory.home.persona.read_bytes() == raw
    assert memory.persona.save(l1="规则", expect=memory.persona.load().revision).l0 == "外面改的"


def test_a_part_edited_outside_between_our_read_and_our_rename_survives(memory, editor):
    """COMPLAINTS 1: our part goes on top of it."""
    memory.persona.save(l0="我", l1="规则")
    saved = editor(memory.home.persona, lambda data: data.replace("我".encode(), "外面改的".encode()))
    memory.persona.save(l1="新规则")
    assert saved
    assert memory.persona.load() == Persona("外面改的", "新规则", "")


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_the_revision_is_of_the_three_parts(l0, l1, l2):
    """DESIGN "Revisions"."""
    one = Persona(l0, l1, l2)
    assert one.revision == Persona(l0, l1, l2).revision
    assert one.revision != Persona(l0 + "x", l1, l2).revision
    assert one.revision != Persona(l0, l1 + "x", l2).revision
    assert one.revision != Persona(l0, l1, l2 + "x").revision


def test_a_read_only_memory_refuses_to_save(home, memory, snapshot):
    memory.persona.save(l0="我")
    before = snapshot(home)
    with pytest.raises(selfnote.ReadOnly):
        selfnote.open_memory(home, read_only=True).persona.save(l0="你")
    assert snapshot(home) == before


def test_a_draft_from_agent_md_is_split_by_headings_and_saves_nothing(memory, home, put, snapshot):
    """S2-141, S2-075: importing is not adopting; the three editors are filled, the disk stays."""
    put(home / "AGENT.md", "\ufeff前言\n# L0\n我是鲸鲸\n## 行为规则\n先结论\n# 扩展设定\n海里\n")
    before = snapshot(home)
    draft = memory.persona.draft_from_agent_file()
    assert (draft.l0, draft.l1, draft.l2) == ("我是鲸鲸", "前言\n先结论", "海里")
    assert snapshot(home) == before
    assert memory.persona.load() == Persona()


def test_there_is_nothing_to_draft_from_without_the_file(memory):
    with pytest.raises(selfnote.NotFound, match=r"AGENT\.md"):
        memory.persona.draft_from_agent_file()


@pytest.mark.parametrize(
    "text", ["前言\n# L1\n规则\n", "# 其他\n\n# L1\n规则\n", "前言\n\n# 行为规则\n规则\n# L2\n海\n"]
)
def test_a_file_with_a_preamble_and_an_l1_takes_its_first_l0(memory, put, text):
    """A-09: the preamble is L1's; it must not stop the owner from writing L0."""
    put(memory.home.persona, text)
    before = memory.persona.load()
    assert memory.persona.save(l0="我是鲸鲸") == Persona("我是鲸鲸", before.l1, before.l2)
