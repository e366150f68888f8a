"""A change nobody has made, shown before it is made (DESIGN Names preview, COMPLAINTS 17)."""

from __future__ import annotations

import re
import string

import pytest

import selfnote
from selfnote.errors import Conflict, LimitExceeded, NotFound
from selfnote.phrases import PREVIEW
from selfnote.records.notes import note_id

#: How the one line names the two long facts: the id and 20 code points of the text.
NEW, OLD = f"f-new（{'新' * 19}…）", f"f-old（{'旧' * 19}…）"
LINK = [{"id": "f-old", "kind": "conflict", "rule": "r"}]


@pytest.fixture
def rooms(build, fact, homes):
    """Conclusions full by one fact of 80, a candidate of 85 that is hotter, notes, a candidate for env."""

    def make(language="zh"):
        build(
            facts=[
                fact("f-old", "旧" * 80),
                fact("f-new", "新" * 85, status="candidate", importance=3, approvedAt=...),
                fact("f-env", "机器", channel="env", status="candidate", approvedAt=...),
                fact("f-gone", "退役了", status="retired", approvedAt=...),
            ],
            notes=[homes.Note("第一条"), homes.Note("长" * 190, on=homes.date(2026, 2, 1))],
            config={"language": language},
        )

    return make


@pytest.fixture
def full(build, fact, memory):
    """Conclusions all but full by one fact that is hot, and a candidate of any text."""

    def make(text):
        hot = {"importance": 3, "hitCount": 50, "lastHit": "2026-03-01T08:00:00Z"}
        build(facts=[fact("f-old", "旧" * 80, **hot), fact("f-new", text, status="candidate", approvedAt=...)])
        return memory

    return make


def test_approving_says_who_enters_and_who_leaves_in_one_line(rooms, memory, now):
    """DESIGN Names preview."""
    rooms()
    preview = memory.preview(approve=["f-new"], now=now)
    assert str(preview) == f"+{NEW}放进「结论」；-{OLD}让出位置"
    assert [(one.segment, one.kind, one.id) for one in preview.entering] == [("conclusions", "fact", "f-new")]
    assert [one.id for one in preview.leaving] == ["f-old"]
    assert preview.diff == f"-{'旧' * 80}\n+{'新' * 85}"
    assert preview.injection.text == preview.before.text.replace("旧" * 80, "新" * 85)


def test_the_line_is_in_the_memorys_language(rooms, memory, now):
    rooms("en")
    new, old = f"f-new ({'新' * 19}…)", f"f-old ({'旧' * 19}…)"
    assert str(memory.preview(approve="f-new", now=now)) == f"+{new} enters conclusions, -{old} leaves"
    assert str(memory.preview(now=now)) == "the text stays as it is"
    both = memory.preview(approve=["f-env"], retire=["f-old"], now=now)
    assert str(both) == f"+f-env (机器) enters machine, -{old} leaves"


def test_facts_and_notes_may_be_passed_as_they_are(rooms, memory, now):
    rooms()
    new = memory.facts.get("f-new")
    assert str(memory.preview(approve=new, now=now)) == str(memory.preview(approve=[new], now=now))
    assert str(memory.preview(approve=new, now=now)) == str(memory.preview(approve="f-new", now=now))
    assert memory.preview(approve=new, now=now).injection == memory.preview(approve="f-new", now=now).injection


def test_an_edit_is_a_rewording_where_the_entry_stays_in(rooms, memory, now):
    rooms()
    preview = memory.preview(edit={"f-old": "改短了"}, now=now)
    assert str(preview) == "~f-old（改短了）在「结论」里换了措辞"
    assert preview.diff == f"-{'旧' * 80}\n+改短了"
    assert not preview.entering


def test_a_tagged_fact_that_gets_short_enough_moves_to_the_profile(build, fact, memory, now):
    build(facts=[fact("f-1", "长" * 61, tags=["工作"])])
    assert (
        str(memory.preview(edit={"f-1": "短"}, now=now))
        == "f-1（短）从「结论」移到「画像」；~f-1（短）在「画像」里换了措辞"
    )


def test_a_pinned_note_goes_before_the_newer_ones(rooms, homes, memory, now):
    """S2-114."""
    rooms()
    long = note_id("stable", homes.date(2026, 2, 1), "长" * 190)
    first = note_id("stable", homes.date(2026, 2, 20), "第一条")
    preview = memory.preview(pin=[long], now=now)
    assert {one.id for one in preview.before.segments["notes"].entries} == {first, long}
    memory.notes.add("又一条更新的占位" * 2, now=now)
    preview = memory.preview(pin=[long], now=now)
    assert long in {one.id for one in preview.entering}
    assert long in {one.id for one in preview.injection.segments["notes"].entries}


def test_editing_an_expired_note_brings_it_back(build, homes, memory, now):
    """S2-072: an edit gives an expired temporary note today's date."""
    build(notes=[homes.Note("过期的", "temp", on=homes.date(2026, 1, 1))])
    old = note_id("temp", homes.date(2026, 1, 1), "过期的")
    preview = memory.preview(edit={old: "改写\n过的"}, now=now)
    assert str(preview) == f"+{old}（改写 过的）放进「自述」"
    assert "改写 过的" in preview.injection.text.split("\n")


def test_where_only_a_doorplate_changes_it_says_so(build, fact, memory, now):
    build(facts=[fact("f-1", "机" * 100, channel="env"), fact("f-2", "器" * 231, channel="env")])
    preview = memory.preview(retire="f-2", now=now)
    assert str(preview) == PREVIEW["zh"]["plates"]
    assert (preview.entering, preview.leaving) == ((), ())
    assert "另有 1 条环境备忘" in preview.diff


def test_approving_what_contradicts_an_approved_fact_takes_both_out(build, fact, memory, now):
    """COMPLAINTS 22: unless the old one is retired in the same act."""
    build(facts=[fact("f-old", "端口 1"), fact("f-new", "端口 2", status="candidate", similarTo=LINK)])
    assert str(memory.preview(approve="f-new", now=now)) == (
        "-f-old（端口 1）让出位置；f-new（端口 2）进不去：与另一条已采纳的事实冲突，定下之前两条都不进注入"
    )
    assert (
        str(memory.preview(approve="f-new", retire="f-old", now=now))
        == "+f-new（端口 2）放进「结论」；-f-old（端口 1）让出位置"
    )


@pytest.mark.parametrize(
    ("length", "zh", "en"),
    [
        (
            40,
            "「结论」这段满了（80 / 90 字，它要 41 字），这一回合没排上；要用时仍查得到",
            "Conclusions is full (80 of 90 characters, it needs 41), so it is not in this turn; a search still finds it",
        ),
        (91, "「结论」没有它的位置（比整段还长）", "it has no place in Conclusions (longer than the segment)"),
    ],
)
def test_what_would_stay_out_says_why(full, now, length, zh, en):
    """S2-083: instead of only that the text stays as it is."""
    found = full("新" * length).preview(approve="f-new", now=now)
    assert found.injection.text == found.before.text
    assert str(found) == f"f-new（{'新' * 19}…）进不去：{zh}"
    assert found.say("en", ids=False) == f"“{'新' * 19}…” stays out: {en}"


def test_nothing_is_given_while_injection_is_off(build, fact, memory, now):
    build(facts=[fact("f-1", "新", status="candidate")], config={"injectionEnabled": False})
    assert str(memory.preview(approve="f-1", now=now)) == "注入已关闭，什么都不贴"


def test_without_ids_entries_are_called_by_their_texts(rooms, memory, now):
    rooms()
    found = memory.preview(approve="f-new", now=now)
    assert found.say(ids=False) == f"+「{'新' * 19}…」放进「结论」；-「{'旧' * 19}…」让出位置"
    assert found.say("en", ids=False) == f"+“{'新' * 19}…” enters conclusions, -“{'旧' * 19}…” leaves"


def test_an_edit_that_contradicts_another_fact_takes_both_out(build, fact, memory, now):
    """DESIGN Links: new wording is linked as the verb links it."""
    build(facts=[fact("f-1", "数据库端口 5432"), fact("f-2", "会议室有白板")])
    preview = memory.preview(edit={"f-2": "数据库端口 5433"}, now=now)
    assert {one.id for one in preview.leaving} == {"f-1", "f-2"}
    assert {one.reason for one in preview.injection.segments["conclusions"].squeezed} == {"conflict"}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"approve": ["f-none"]}, NotFound),
        ({"retire": "f-none"}, NotFound),
        ({"edit": {"n-none": "x"}}, NotFound),
        ({"pin": ["f-old"]}, NotFound),
        ({"approve": ["f-gone"]}, Conflict),
        ({"edit": {"f-old": "\u200b"}}, LimitExceeded),
    ],
)
def test_what_the_owner_could_not_do_is_refused_and_named(rooms, memory, now, change, error):
    rooms()
    identifier = re.search(r"[fn]-\w+", str(change)).group()
    with pytest.raises(error, match="nothing printable" if error is LimitExceeded else identifier):
        memory.preview(now=now, **change)


def test_the_text_previewed_is_the_text_after_the_act(rooms, home, memory, now):
    """S2-083: approve -> present in the next turn."""
    rooms()
    selfnote.compose_injection(home, session="s", turn=1, now=now)
    expected = memory.preview(approve=["f-new", "f-env"], retire=["f-old"], now=now).injection.text
    memory.facts.approve(["f-new", "f-env"], now=now)
    memory.facts.retire("f-old", now=now)
    assert selfnote.compose_injection(home, session="s", turn=2, now=now) == expected


def test_a_hundred_previews_change_no_byte(rooms, memory, tree, now):
    """COMPLAINTS 17: looking is no use."""
    rooms()
    before = tree()
    for _ in range(100):
        memory.preview(approve="f-new", retire="f-old", edit={"f-env": "换一句"}, now=now)
    assert tree() == before


def test_a_preview_shows_itself_escaped_and_pure(build, fact, memory, now):
    build(facts=[fact("f-1", "<b>粗</b>", status="candidate")])
    preview = memory.preview(approve="f-1", now=now)
    html = preview._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;粗" in html
    assert html == memory.preview(approve="f-1", now=now)._repr_html_()
    assert repr(preview) == str(preview)


def test_the_words_exist_in_both_languages_with_the_same_blanks():
    assert PREVIEW["zh"].keys() == PREVIEW["en"].keys()
    for key in PREVIEW["zh"]:
        blanks = [
            {name for _, name, _, _ in string.Formatter().parse(PREVIEW[tongue][key]) if name} for tongue in PREVIEW
        ]
        assert blanks[0] == blanks[1], key
