"""Notes: lines in every accepted form, tiers, expiry, and changes that never touch the wrong line (S2-106..125, A-02..A-06)."""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import selfnote
from selfnote.records.notes import Note, format_note, is_expired, note_id, packing_order, parse_note, parse_notes
from selfnote.storage.atomic import write_atomic
from selfnote.storage.lines import split_lines
from selfnote.text import one_line

NOW = datetime(2026, 11, 20, 4, 0, tzinfo=UTC)  # noon in Shanghai
TODAY = date(2026, 11, 20)
DAY = date(2026, 11, 4)


# --- one line ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "tier", "pinned", "on", "text"),
    [
        ("- 2026-11-04 [核心] 我叫鲸鲸。", "core", False, DAY, "我叫鲸鲸。"),
        ("- 2026-11-04 [稳定] 回答先给结论", "stable", False, DAY, "回答先给结论"),
        ("- 2026-11-04 [临时] 在查远程主机", "temp", False, DAY, "在查远程主机"),
        ("- 2026-11-04 [稳定]📌 钉住", "stable", True, DAY, "钉住"),
        ("- 2026-11-04 [稳定]★ 钉住", "stable", True, DAY, "钉住"),
        ("- 2026-11-04 [稳定]⭐ 钉住", "stable", True, DAY, "钉住"),
        ("- 2026-11-04 [稳定]⭐\ufe0f 钉住", "stable", True, DAY, "钉住"),
        ("- 2026-11-04 [稳定] 📌 钉住", "stable", True, DAY, "钉住"),
        ("- 2026-11-04 [稳定]📌钉住", "stable", True, DAY, "钉住"),
        ("- 2026-11-04 [稳定]\u3000★\u3000钉住", "stable", True, DAY, "钉住"),
        ("- 2026-11-04 [稳定] 正文里的 📌 是正文", "stable", False, DAY, "正文里的 📌 是正文"),
        ("- 2026-11-04 [稳定]📌 📌 第二个是正文", "stable", True, DAY, "📌 第二个是正文"),
        ("- 2026-11-04 📌 没有型的图钉是正文", "stable", False, DAY, "📌 没有型的图钉是正文"),
        ("- 2026-11-04 [core] english", "core", False, DAY, "english"),
        ("- 2026-11-04 [Stable] english", "stable", False, DAY, "english"),
        ("- 2026-11-04 [TEMP]★ english", "temp", True, DAY, "english"),
        ("- 2026-11-04 【临时】全角括号", "temp", False, DAY, "全角括号"),
        ("- 2026-11-04 [ 稳定 ] 括号里有空格", "stable", False, DAY, "括号里有空格"),
        ("- 2026-11-04[核心]没有空格", "core", False, DAY, "没有空格"),
        ("- 2026-11-4 [稳定] 一位数的日子", "stable", False, DAY, "一位数的日子"),
        ("- 2026-11-04 老条目没有型", "stable", False, DAY, "老条目没有型"),
        ("- 没有日期", "stable", False, None, "没有日期"),
        ("- [临时] 没有日期", "temp", False, None, "没有日期"),
        ("* 2026-11-04 [核心] 星号", "core", False, DAY, "星号"),
        ("+ 2026-11-04 [核心] 加号", "core", False, DAY, "加号"),
        ("  - 2026-11-04 [核心] 缩进", "core", False, DAY, "缩进"),
        ("-\t2026-11-04\t[核心]\t制表符", "core", False, DAY, "制表符"),
        ("- 2026-13-40 [稳定] 日子不存在", "stable", False, None, "日子不存在"),
        ("- 2026-02-29 [临时] 日子不存在", "temp", False, None, "日子不存在"),
        ("- 2026-11-04 [待办] 别的括号是正文", "stable", False, DAY, "[待办] 别的括号是正文"),
        ("- 2026-11-04 [稳定] [核心] 第二个括号是正文", "stable", False, DAY, "[核心] 第二个括号是正文"),
        ("- 2026-11-04 [稳定] 2026-01-01 是正文", "stable", False, DAY, "2026-01-01 是正文"),
        ("- 2026-11-04 [稳定] 末尾有空格  ", "stable", False, DAY, "末尾有空格"),
        (r"- 2026-11-04 [稳定] \📌 转义的是正文", "stable", False, DAY, "📌 转义的是正文"),
    ],
)
def test_every_accepted_form_of_a_line_is_read(line, tier, pinned, on, text):
    """S2-106..108, A-02, A-02b."""
    note = parse_note(line, 7)
    assert (note.tier, note.pinned, note.on, note.text, note.line) == (tier, pinned, on, text, 7)
    assert bool(note.problem) is ("不存在" in text)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "   ",
        "# 标题",
        "普通的一段话",
        "-没有空格",
        "- ",
        "- 2026-11-04",
        "- 2026-11-04 [稳定]",
        "- [稳定]📌",
        "---",
        "1. 编号",
        "    - 代码块",
        "> 引用",
        "2026-11-04 [稳定] 没有项目符号",
    ],
)
def test_what_is_no_note_reads_as_none(line):
    """A-02b: preserved in place, never injected."""
    assert parse_note(line) is None


@given(st.text(max_size=60))
@example("- [ſtable] 长 s")
@example("- 2026-11-04 [ＣＯＲＥ] x")
@example("- ²026-11-04 x")
@example("- 9999-99-99 x")
@example("- 0000-01-01 x")
@example("- ٢٠٢٦-11-04 x")
def test_any_line_is_a_note_or_none(line):
    """COMPLAINTS 10: one odd line never takes the notes down."""
    note = parse_note(line)
    assert note is None or note.text.strip()


PINS = ["📌", "★", "⭐", "⭐\ufe0f", "📌\ufe0f"]
TEXT = st.one_of(
    st.lists(
        st.sampled_from(
            [
                *PINS,
                "\\",
                "\\\\",
                " ",
                "[核心]",
                "【临时】",
                "[core]",
                "2026-01-01",
                "- ",
                "#",
                "甲",
                "a",
                "{{",
                "\t",
                "\u3000",
            ]
        ),
        min_size=1,
        max_size=8,
    ).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40),
)


@given(
    text=TEXT,
    tier=st.sampled_from(["core", "stable", "temp"]),
    pinned=st.booleans(),
    on=st.none() | st.dates(date(1, 1, 1)),
)
@example(text="\\📌 x", tier="stable", pinned=False, on=DAY)
@example(text="📌\ufe0f x", tier="stable", pinned=False, on=DAY)
@example(text="\\foo \\📌 bar", tier="stable", pinned=False, on=DAY)
@example(text="\\ 📌", tier="temp", pinned=False, on=DAY)
@example(text="\\\\📌", tier="stable", pinned=True, on=DAY)
@example(text="[核心] x", tier="stable", pinned=False, on=None)
def test_a_note_reads_back_as_it_was_written(text, tier, pinned, on):
    """S2-288, A-02: any text, also one that begins with a pin glyph or a backslash."""
    text = one_line(text)
    if not text:
        return
    note = Note(note_id(tier, on, text), text, tier, pinned, on, 1)
    line = format_note(note)
    assert "\n" not in line
    back = parse_note(line, 1)
    assert (back.text, back.tier, back.pinned, back.on, back.id) == (text, tier, pinned, on, note.id)


def test_our_own_lines_look_as_the_seed_says():
    """S2-106, A-02: ``- YYYY-MM-DD [稳定]📌 text``."""
    assert format_note(Note("", "甲", "core", False, DAY)) == "- 2026-11-04 [核心] 甲"
    assert format_note(Note("", "甲", "temp", True, DAY)) == "- 2026-11-04 [临时]📌 甲"
    assert format_note(Note("", "甲", "stable", False, None)) == "- [稳定] 甲"


def test_an_id_is_12_hex_of_tier_date_and_text():
    """DESIGN "Ids"."""
    wanted = "n-" + hashlib.sha256("stable\n2026-11-04\n甲".encode()).hexdigest()[:12]
    assert note_id("stable", DAY, "甲") == parse_note("- 2026-11-04 [稳定]📌 甲").id == wanted
    assert note_id("temp", None, "甲") == "n-" + hashlib.sha256("temp\n\n甲".encode()).hexdigest()[:12]


def test_equal_notes_are_told_apart_by_their_place(memory, put):
    """DESIGN "Ids": ``.2`` for an equal second, ``.3`` for a third."""
    put(memory.home.notes, "- 2026-11-04 [稳定] 甲\n- 2026-11-04 [稳定] 甲\n- 2026-11-04 [稳定] 乙\n- 2026-11-04 甲\n")
    first = note_id("stable", DAY, "甲")
    assert [n.id for n in memory.notes.list()] == [first, f"{first}.2", note_id("stable", DAY, "乙"), f"{first}.3"]
    memory.notes.edit(f"{first}.2", "丙", now=NOW)
    assert [n.text for n in memory.notes.list()] == ["甲", "丙", "乙", "甲"]


# --- expiry --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("age", "ttl", "expired"),
    [(0, 14, False), (14, 14, False), (15, 14, True), (1, 1, False), (2, 1, True), (-3, 1, False), (91, 90, True)],
)
def test_a_temporary_note_lives_to_the_end_of_its_last_day(age, ttl, expired):
    """S2-112, A-02c: day 14 is still valid, day 15 is not; a future date is age 0."""
    assert is_expired(Note("", "x", "temp", False, TODAY - timedelta(days=age)), TODAY, ttl) is expired


@pytest.mark.parametrize("tier", ["core", "stable"])
def test_only_temporary_notes_expire(tier):
    """S2-112."""
    assert not is_expired(Note("", "x", tier, False, date(1999, 1, 1)), TODAY, 1)


def test_an_undated_temporary_note_never_expires():
    """A-02b."""
    assert not is_expired(Note("", "x", "temp", False, None), TODAY, 1)


def test_the_day_of_a_note_is_the_owners(memory):
    """A-33, COMPLAINTS 69: 16:30 UTC is the next day in Shanghai."""
    assert memory.notes.add("甲", now=datetime(2026, 11, 19, 15, 59, tzinfo=UTC)).on == date(2026, 11, 19)
    assert memory.notes.add("乙", now=datetime(2026, 11, 19, 16, 0, tzinfo=UTC)).on == date(2026, 11, 20)


def test_the_configured_zone_counts_when_none_is_asked_for(home):
    """A-33, COMPLAINTS 70: winter in New York, whatever the season now."""
    memory = selfnote.open_memory(home)
    memory.config.save(tz="America/New_York")
    instant = datetime(2026, 1, 1, 4, 30, tzinfo=UTC)
    assert memory.notes.add("甲", now=instant).on == date(2025, 12, 31)
    assert selfnote.open_memory(home, tz="Asia/Shanghai").notes.add("乙", now=instant).on == date(2026, 1, 1)


def test_expiry_turns_at_the_owners_midnight(memory, put):
    """A-33, COMPLAINTS 69: shown by what an edit does to the date."""
    line = "- 2026-11-05 [临时] 甲\n"
    put(memory.home.notes, line)
    before, after = datetime(2026, 11, 19, 15, 59, tzinfo=UTC), datetime(2026, 11, 19, 16, 0, tzinfo=UTC)
    assert memory.notes.edit(memory.notes.list()[0], "乙", now=before).on == date(2026, 11, 5)
    put(memory.home.notes, line)
    assert memory.notes.edit(memory.notes.list()[0], "乙", now=after).on == date(2026, 11, 20)


# --- order ---------------------------------------------------------------------------------------
def test_packing_is_pinned_first_then_new_to_old_with_later_lines_newer():
    """S2-110, A-02b, A-02c: unknown dates are oldest, a future date counts as today."""
    text = "- 无日期\n- 2026-11-01 一\n- 2026-11-19 二\n- 2026-11-19 三\n- 2027-01-01 未来\n- 2026-11-20 今天\n- 2020-01-01 [稳定]📌 钉\n- [稳定]📌 钉无日期\n"
    notes = parse_notes(split_lines(Path("n"), text.encode(), None)).notes
    assert [n.text for n in packing_order(notes, TODAY)] == [
        "钉",
        "钉无日期",
        "今天",
        "未来",
        "三",
        "二",
        "一",
        "无日期",
    ]


# --- adding --------------------------------------------------------------------------------------
def test_a_note_is_one_line_at_the_end_dated_today_and_stable_by_default(memory):
    """S2-018, S2-028: omitted tier = stable."""
    memory.notes.add("回答先给结论", now=NOW)
    memory.notes.add("在查\n远程\r\n主机  ", tier="temp", pinned=True, now=NOW)
    memory.notes.add("我叫鲸鲸", tier="core", on=DAY, now=NOW)
    assert (
        memory.home.notes.read_text("utf-8")
        == "- 2026-11-20 [稳定] 回答先给结论\n- 2026-11-20 [临时]📌 在查 远程 主机\n- 2026-11-04 [核心] 我叫鲸鲸\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "甲\n- 2026-01-01 [核心] 假的",
        "甲\r- 2026-01-01 [核心] 假的",
        "甲\u2028- [核心] 假的",
        "甲\x0b- [核心] 假的",
        "甲\x85- [核心] 假的",
    ],
)
def test_one_note_never_becomes_two(memory, text):
    """A-02b, COMPLAINTS 59: line breaks of every kind are folded at write."""
    memory.notes.add(text, now=NOW)
    (note,) = memory.notes.list()
    assert note.tier == "stable"
    assert "假的" in note.text


def test_an_overlong_note_is_kept_whole(memory):
    """S2-040: stored, never split, never cut."""
    text = "长" * 5000
    assert memory.notes.add(text, now=NOW).text == text
    assert [n.text for n in memory.notes.list()] == [text]


@pytest.mark.parametrize("text", ["", " \n ", "\u200b", "\x00", "半\ud83d"])
def test_a_note_has_something_to_read(memory, text):
    with pytest.raises(selfnote.LimitExceeded):
        memory.notes.add(text)
    assert not memory.home.notes.exists()


def test_a_tier_has_a_known_name(memory):
    with pytest.raises(selfnote.LimitExceeded, match="core, stable, temp"):
        memory.notes.add("甲", tier="forever")
    assert not memory.home.notes.exists()


# --- changing ------------------------------------------------------------------------------------
def only(memory):
    (note,) = memory.notes.list()
    return note


def test_an_edit_changes_the_wording_and_keeps_the_date(memory):
    """S2-068."""
    memory.notes.add("甲", on=DAY, pinned=True, now=NOW)
    changed = memory.notes.edit(only(memory), "乙\n丙", now=NOW)
    assert (changed.text, changed.on, changed.pinned) == ("乙 丙", DAY, True)
    assert only(memory) == changed
    assert memory.home.notes.read_text("utf-8") == "- 2026-11-04 [稳定]📌 乙 丙\n"


def test_rewriting_an_expired_temporary_note_makes_it_live_again(memory):
    """S2-072, S2-113, DESIGN "Notes": it gets today's date."""
    memory.notes.add("甲", tier="temp", on=date(2026, 11, 5), now=NOW)
    assert memory.notes.edit(only(memory), "乙", now=NOW).on == TODAY


def test_a_temporary_note_of_day_14_keeps_its_date(memory):
    """DESIGN "Notes": only an expired one gets today's."""
    memory.notes.add("甲", tier="temp", on=date(2026, 11, 6), now=NOW)
    assert memory.notes.edit(only(memory), "乙", now=NOW).on == date(2026, 11, 6)


@pytest.mark.parametrize(
    ("tier", "to", "on"),
    [
        ("stable", "temp", TODAY),
        ("core", "temp", TODAY),
        ("temp", "stable", DAY),
        ("stable", "core", DAY),
        ("core", "stable", DAY),
    ],
)
def test_moving_to_temporary_sets_todays_date_and_elsewhere_keeps_it(memory, tier, to, on):
    """DESIGN "Notes", S2-072."""
    memory.notes.add("甲", tier=tier, on=DAY, pinned=True, now=NOW)
    moved = memory.notes.retier(only(memory), to, now=NOW)
    assert (moved.tier, moved.on, moved.pinned, moved.text) == (to, on, True, "甲")


def test_an_expired_note_moved_to_stable_is_live_again(memory, put):
    """S2-072, S2-113."""
    put(memory.home.notes, "- 2026-01-01 [临时] 甲\n")
    memory.notes.retier(only(memory), "stable", now=NOW)
    assert not is_expired(only(memory), TODAY, 14)


def test_pinning_changes_the_pin_only(memory):
    """S2-114."""
    memory.notes.add("★ 开头", on=DAY, now=NOW)
    note = memory.notes.pin(only(memory))
    assert (note.pinned, note.text, note.on, note.tier) == (True, "★ 开头", DAY, "stable")
    note = memory.notes.pin(note, False)
    assert (note.pinned, note.text) == (False, "★ 开头")


@pytest.mark.parametrize(
    ("line", "text", "after"),
    [
        ("* 2026-11-04 老的", "新的", "* 2026-11-04 新的"),
        ("  + [临时]  老的  ", "新的", "  + [临时]  新的"),
        ("- 2026-11-04 【核心】老的", "新的", "- 2026-11-04 【核心】新的"),
        ("- 2026-13-40 老的", "新的", "- 2026-13-40 新的"),
    ],
)
def test_an_edit_keeps_the_look_of_a_hand_made_line(memory, put, line, text, after):
    """COMPLAINTS 7: the smallest change."""
    put(memory.home.notes, line + "\n")
    memory.notes.edit(only(memory), text, now=NOW)
    assert memory.home.notes.read_text("utf-8") == after + "\n"


@pytest.mark.parametrize(
    "line",
    [
        "- 2026-11-04 老的",
        "- 老的",
        "* 老的",
        "- [稳定] 老的",
        "- 2026-11-04 [稳定]📌 老的",
        "- 2026-11-04 [稳定] 老的",
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "[核心] 我叫鲸鲸",
        "【临时】今晚",
        "[temp] tonight",
        "2026-01-01 那天",
        "📌 图钉",
        "★ 星",
        r"\📌 反斜杠",
        "- 列表",
        "# 标题",
    ],
)
def test_an_edit_never_changes_tier_date_or_pin(memory, put, line, text):
    """S2-068: wording only, also when the wording looks like a mark."""
    put(memory.home.notes, line + "\n")
    before = only(memory)
    after = memory.notes.edit(before, text, now=NOW)
    assert (after.text, after.tier, after.on, after.pinned) == (text, before.tier, before.on, before.pinned)


def test_the_same_again_changes_not_one_byte(memory):
    memory.notes.add("甲", on=DAY, now=NOW)
    before, mtime = memory.home.notes.read_bytes(), memory.home.notes.stat().st_mtime_ns
    note = only(memory)
    memory.notes.edit(note, "甲", now=NOW)
    memory.notes.retier(note, "stable", now=NOW)
    memory.notes.pin(note, False)
    assert (memory.home.notes.read_bytes(), memory.home.notes.stat().st_mtime_ns) == (before, mtime)


# --- the owner's editor --------------------------------------------------------------------------
VERBS = {
    "edit": lambda notes, n: notes.edit(n, "新", now=NOW),
    "retier": lambda notes, n: notes.retier(n, "core", now=NOW),
    "pin": lambda notes, n: notes.pin(n),
    "delete": lambda notes, n: notes.delete(n, now=NOW),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
@pytest.mark.parametrize("by", ["note", "id"])
def test_a_note_edited_outside_is_a_conflict_and_no_neighbour_is_touched(memory, *, put, snapshot, home, verb, by):
    """A-02d, S2-124, COMPLAINTS 1: never the wrong line."""
    put(memory.home.notes, "- 2026-11-04 [稳定] 甲\n- 2026-11-04 [稳定] 乙\n")
    shown = memory.notes.list()[0]
    put(memory.home.notes, "- 2026-11-04 [稳定] 甲改\n- 2026-11-04 [稳定] 乙\n")
    before = snapshot(home)
    with pytest.raises(selfnote.Conflict):
        verb(memory.notes, shown if by == "note" else shown.id)
    assert snapshot(home) == before


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_note_that_moved_to_another_line_is_still_the_one_changed(memory, put, verb):
    """A-02d: identity is the text, not the place."""
    put(memory.home.notes, "- 2026-11-04 [稳定] 甲\n- 2026-11-04 [稳定] 乙\n")
    shown = memory.notes.list()[1]
    put(memory.home.notes, "# 新的标题\n\n- 2026-11-05 [稳定] 丙\n- 2026-11-04 [稳定] 乙\n- 2026-11-04 [稳定] 甲\n")
    verb(memory.notes, shown)
    lines = memory.home.notes.read_text("utf-8").splitlines()
    assert lines[:3] == ["# 新的标题", "", "- 2026-11-05 [稳定] 丙"]
    assert lines[-1] == "- 2026-11-04 [稳定] 甲"
    assert "- 2026-11-04 [稳定] 乙" not in lines


def test_a_note_pinned_outside_is_not_the_note_that_was_shown(memory, put):
    """DESIGN "Revisions": pin is owner-visible, though not part of the id."""
    put(memory.home.notes, "- 2026-11-04 [稳定] 甲\n")
    shown = only(memory)
    put(memory.home.notes, "- 2026-11-04 [稳定]📌 甲\n")
    with pytest.raises(selfnote.Conflict):
        memory.notes.edit(shown, "乙", now=NOW)


def test_a_line_appended_while_a_panel_is_open_survives_its_save(memory, put):
    """COMPLAINTS 1: ``echo >>`` between load and save."""
    memory.notes.add("甲", on=DAY, now=NOW)
    shown = only(memory)
    with memory.home.notes.open("a", encoding="utf-8") as stream:
        stream.write("- 2026-11-18 [稳定] 外面加的\n")
    memory.notes.edit(shown, "甲改", now=NOW)
    assert [n.text for n in memory.notes.list()] == ["甲改", "外面加的"]


@pytest.mark.parametrize("verb", [*VERBS.values(), lambda notes, _: notes.add("新", now=NOW)], ids=[*VERBS, "add"])
def test_a_line_added_between_our_read_and_our_rename_survives(memory, put, editor, verb):
    """COMPLAINTS 1: our change goes on top of it."""
    put(memory.home.notes, "- 2026-11-04 [稳定] 甲\n")
    shown = only(memory)
    saved = editor(memory.home.notes, lambda data: "- 2026-11-18 [稳定] 外面加的\n".encode() + data)
    verb(memory.notes, shown)
    assert saved
    assert memory.notes.list()[0].text == "外面加的"
    archived = [line for path in memory.home.notes_archive.glob("*") for line in path.read_text("utf-8").splitlines()]
    assert archived == (["- 2026-11-04 [稳定] 甲"] if len(memory.notes.list()) == 1 else [])


def test_a_delete_that_ends_in_a_conflict_archives_nothing(memory, put, editor):
    """A-02d: Conflict means that nothing was written."""
    put(memory.home.notes, "- 2026-11-04 [稳定] 甲\n")
    shown = only(memory)
    editor(memory.home.notes, lambda data: data.replace("甲".encode(), "甲改".encode()))
    with pytest.raises(selfnote.Conflict):
        memory.notes.delete(shown, now=NOW)
    assert not list(memory.home.notes_archive.glob("*"))
    assert [n.text for n in memory.notes.list()] == ["甲改"]


# --- bytes that are not ours ---------------------------------------------------------------------
FREE = (
    "\ufeff# 我的笔记\r\n\r\n- 2026-11-04 [核心] 第一条\r\n一段散文，" + "很长的一段。" * 1400 + "\r\n"
    "  续行\r\n- 2026-11-04 [临时]★ 第二条\r\n> 引用\r\n\r\n| a | b |\r\n- [ ] 待办\r\n<!-- 注释 -->\r\n"
).encode() + b"\xff\xfe not text\r\n"


def test_free_text_headings_and_blank_lines_survive_every_change_byte_for_byte(memory, put):
    """A-02b, COMPLAINTS 2, 6, 8: BOM, CRLF, an 8 KB paragraph, prose, a line that is no UTF-8."""
    put(memory.home.notes, FREE)
    first, second = memory.notes.list()[:2]
    assert (first.tier, first.text, second.pinned) == ("core", "第一条", True)
    changed = memory.notes.edit(first, "第一条改", now=NOW)
    assert memory.home.notes.read_bytes() == FREE.replace("第一条".encode(), "第一条改".encode())
    memory.notes.edit(changed, "第一条", now=NOW)
    assert memory.home.notes.read_bytes() == FREE
    memory.notes.add("新的", on=DAY, now=NOW)
    assert memory.home.notes.read_bytes() == FREE + "- 2026-11-04 [稳定] 新的\r\n".encode()
    memory.notes.delete(memory.notes.list()[-1], now=NOW)
    assert memory.home.notes.read_bytes() == FREE


def test_unrecognised_lines_are_reported_by_number_and_headings_are_not(memory, put):
    """A-02b: kept, never injected, told to the owner."""
    put(
        memory.home.notes, b"# h\n\nprose\n- 2026-11-04 ok\n- 2026-13-40 odd\n\xff\n" + b"- " + b"x" * 1_048_600 + b"\n"
    )
    assert [bad.line for bad in memory.notes.other_lines()] == [3, 5, 6, 7]
    assert [n.text for n in memory.notes.list()] == ["ok", "odd"]


def test_the_bom_never_enters_a_note(memory, put):
    """COMPLAINTS 8."""
    put(memory.home.notes, b"\xef\xbb\xbf" + "- 2026-11-04 [核心] 我\n".encode())
    note = only(memory)
    assert (note.tier, note.text) == ("core", "我")
    memory.notes.pin(note)
    assert memory.home.notes.read_bytes() == b"\xef\xbb\xbf" + "- 2026-11-04 [核心]📌 我\n".encode()


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"", b""), ("- 甲".encode(), "- 甲\n".encode()), ("- 甲\r\n- 乙".encode(), "- 甲\r\n- 乙\r\n".encode())],
)
def test_a_missing_final_newline_is_mended_before_a_note_is_added(memory, put, before, after):
    """COMPLAINTS 11."""
    put(memory.home.notes, before)
    memory.notes.add("新", on=DAY, now=NOW)
    newline = b"\r\n" if b"\r\n" in before else b"\n"
    assert memory.home.notes.read_bytes() == after + "- 2026-11-04 [稳定] 新".encode() + newline


# --- leaving for the archive ---------------------------------------------------------------------
def test_a_deleted_note_goes_to_this_months_archive_as_it_stood(memory, put):
    """S2-069, S2-123, S2-004: append-only, named by the owner's month."""
    put(memory.home.notes, "* 2026-11-04 【核心】手写的\n- 2026-11-04 [稳定] 乙\n")
    put(memory.home.notes_archive / "2026-12.md", "- 旧的归档没有换行".encode())
    one, two = memory.notes.list()
    assert memory.notes.delete(one, now=datetime(2026, 11, 30, 16, 0, tzinfo=UTC)) == one
    memory.notes.delete(two.id, now=datetime(2026, 11, 30, 15, 59, tzinfo=UTC))
    assert (memory.home.notes_archive / "2026-12.md").read_text(
        "utf-8"
    ) == "- 旧的归档没有换行\n* 2026-11-04 【核心】手写的\n"
    assert (memory.home.notes_archive / "2026-11.md").read_text("utf-8") == "- 2026-11-04 [稳定] 乙\n"
    assert memory.home.notes.read_bytes() == b""


def test_clearing_moves_every_note_and_leaves_what_is_no_note(memory, put):
    """S2-016, S2-066: content moves, never vanishes."""
    put(memory.home.notes, "# 标题\n- 2026-11-04 [核心] 甲\n散文\n- 乙\n")
    assert memory.notes.clear(now=NOW) == 2
    assert memory.home.notes.read_text("utf-8") == "# 标题\n散文\n"
    assert (memory.home.notes_archive / "2026-11.md").read_text("utf-8") == "- 2026-11-04 [核心] 甲\n- 乙\n"
    assert memory.notes.clear(now=NOW) == 0


def test_overflow_goes_expired_then_temporary_then_stable_then_core_oldest_first_pinned_last(memory, put):
    """A-06, S2-123: one leaves at a time, each named in ``.archived``."""
    memory.config.save(max_items=8)
    put(
        memory.home.notes,
        "- 2026-11-01 [核心] 核心\n- 2026-11-02 [稳定]📌 钉稳定\n- 2026-11-18 [临时] 活临时\n- 2026-10-01 [临时]📌 钉过期\n"
        "- 2026-11-19 [稳定] 新稳定\n- 2026-10-01 [临时] 过期\n- 2026-11-01 [稳定] 老稳定\n- 无日期稳定\n",
    )  # fmt: skip
    left = [[n.text for n in memory.notes.add(f"新{k}", pinned=True, now=NOW).archived] for k in range(8)]
    assert left == [["过期"], ["活临时"], ["无日期稳定"], ["老稳定"], ["新稳定"], ["核心"], ["钉过期"], ["钉稳定"]]
    archived = (memory.home.notes_archive / "2026-11.md").read_text("utf-8")
    assert [line.split()[-1] for line in archived.splitlines()] == [texts[0] for texts in left]
    assert len(memory.notes.list()) == 8


def test_overflow_by_characters_moves_as_many_as_needed(memory):
    """S2-054, A-06: maxChars counts the notes' text; the newest stays."""
    memory.config.save(max_chars=100)
    for n in range(4):
        memory.notes.add(str(n) * 25, on=date(2026, 11, n + 1), now=NOW)
    note = memory.notes.add("新" * 60, now=NOW)
    assert [n.text[0] for n in note.archived] == ["0", "1", "2"]
    assert [n.text[0] for n in memory.notes.list()] == ["3", "新"]
    assert note.archived == tuple(note.archived)
    assert memory.notes.add("少", now=NOW).archived == ()


@pytest.mark.parametrize(
    "verb", [lambda notes: notes.add("新", now=NOW), lambda notes: notes.clear(now=NOW)], ids=["add", "clear"]
)
def test_what_leaves_for_the_archive_is_archived_once_though_the_file_changed_meanwhile(memory, put, editor, verb):
    """S2-123, COMPLAINTS 1: append-only, each note once, and what the editor added is kept or archived too."""
    memory.config.save(max_items=2)
    put(memory.home.notes, "- 2026-11-01 甲\n- 2026-11-02 乙\n")
    assert editor(memory.home.notes, lambda data: data + "- 2026-11-03 丙\n".encode()) == []
    verb(memory.notes)
    archived = (memory.home.notes_archive / "2026-11.md").read_text("utf-8").splitlines()
    kept = [note.text for note in memory.notes.list()]
    assert sorted([*(line.split()[-1] for line in archived), *kept]) == sorted(
        [*"甲乙丙", *(["新"] if "新" in kept else [])]
    )


def test_a_note_over_the_cap_by_itself_is_refused_with_both_numbers(memory):
    """S2-054: nothing would be left of the file; the owner is told."""
    memory.config.save(max_chars=100)
    memory.notes.add("老", now=NOW)
    with pytest.raises(selfnote.LimitExceeded, match=r"101.*100"):
        memory.notes.add("x" * 101, now=NOW)
    with pytest.raises(selfnote.LimitExceeded, match=r"101.*100"):
        memory.notes.edit(memory.notes.list()[0], "x" * 101, now=NOW)
    assert [n.text for n in memory.notes.list()] == ["老"]


def test_notes_that_were_moved_are_put_back_in_one_write(memory, put, monkeypatch):
    """S2-066, S2-069: with tier, pin and date, the undated undated; the archive keeps its copies."""
    put(memory.home.notes, "# 标题\n- 没有日期\n- 2026-10-01 [临时] 乙\n- 2026-10-02 [核心]📌 丙\n")
    before = memory.notes.list()
    assert memory.notes.clear(now=NOW) == 3
    written = []
    monkeypatch.setattr(
        "selfnote.storage.rewrite.write_atomic", lambda *a, **k: written.append(1) or write_atomic(*a, **k)
    )
    assert memory.notes.put_back(before, now=NOW) == ()
    assert written == [1]
    assert [one.id for one in memory.notes.list()] == [one.id for one in before]
    assert memory.home.notes.read_text("utf-8").startswith("# 标题\n")
    archived = "".join(path.read_text("utf-8") for path in memory.home.notes_archive.glob("????-??.md"))
    assert all(archived.count(one.text) == 1 for one in before)


def test_what_is_put_back_over_the_caps_goes_to_the_archive_and_is_told(memory):
    """S2-123."""
    memory.notes.add("甲", on=DAY, now=NOW)
    gone = memory.notes.list()
    memory.notes.clear(now=NOW)
    memory.config.save(max_items=1)
    memory.notes.add("乙", on=DAY, now=NOW)
    left = memory.notes.put_back(gone, now=NOW)
    assert len(memory.notes.list()) == 1
    assert {one.text for one in (*left, *memory.notes.list())} == {"甲", "乙"}


def test_overflow_leaves_prose_alone(memory, put):
    """A-02b: what is no note is not ours to move."""
    memory.config.save(max_items=1)
    put(memory.home.notes, "# 标题\n- 甲\n散文\n")
    memory.notes.add("乙", on=DAY, now=NOW)
    assert memory.home.notes.read_text("utf-8") == "# 标题\n散文\n- 2026-11-04 [稳定] 乙\n"


# --- the rest ------------------------------------------------------------------------------------
def test_last_written_is_the_time_of_the_file(memory):
    """S2-039."""
    import os

    assert memory.notes.last_written() is None
    memory.notes.add("甲", now=NOW)
    os.utime(memory.home.notes, (1796000000, 1796000000))
    assert memory.notes.last_written() == datetime.fromtimestamp(1796000000, UTC)


@pytest.mark.parametrize(
    "verb", [*VERBS.values(), lambda n, _: n.add("乙"), lambda n, _: n.clear()], ids=[*VERBS, "add", "clear"]
)
def test_a_read_only_memory_refuses_every_change(memory, home, snapshot, verb):
    """DESIGN "Environment"."""
    memory.notes.add("甲", now=NOW)
    before = snapshot(home)
    locked = selfnote.open_memory(home, tz="Asia/Shanghai", read_only=True)
    with pytest.raises(selfnote.ReadOnly):
        verb(locked.notes, locked.notes.list()[0])
    assert snapshot(home) == before


def test_the_length_of_a_note_is_that_of_its_safe_text():
    """DESIGN "Length"."""
    assert Note("", "a\u200b\tb\x00").length == 3


@given(
    lines=st.lists(
        st.sampled_from(
            ["- 2026-11-04 [稳定] 甲", "- 乙", "# h", "", "散文", "* 2026-11-01 【临时】★ 丙", "- 2026-13-01 丁", "\tx"]
        ),
        max_size=10,
    ),
    newline=st.sampled_from(["\n", "\r\n"]),
    final=st.booleans(),
)
def test_reading_notes_and_joining_their_lines_is_the_file(lines, newline, final):
    """COMPLAINTS 2: round-trip identity of the parse."""
    data = (newline.join(lines) + (newline if final else "")).encode()
    parsed = parse_notes(split_lines(Path("n"), data, None))
    assert parsed.file.data == data
    assert all(0 < note.line <= len(parsed.file.lines) for note in parsed.notes)
    assert len({note.id for note in parsed.notes}) == len(parsed.notes)
