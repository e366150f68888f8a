"""What a text can be found by: script-aware tokens (S2-019, COMPLAINTS 48, 49, 58)."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote.text import (
    TOKEN_LENGTH,
    find_tokens,
    is_beginning,
    make_matcher,
    query_tokens,
    searchable,
    token_version,
    tokens,
)

ANY_TEXT = st.text(max_size=60)
#: Texts as they are typed here: scripts glued together, identifiers, full-width forms.
MIXED = st.text(
    alphabet=st.one_of(
        st.sampled_from("父进程记憶體臺灣开发的了、。，！ \n\t"),
        st.sampled_from("abcXYZ019_-.:'+#/@"),
        st.sampled_from("ａＢ１かなカﾅー한국어สวั😀→é\u200b\u202e"),
    ),
    max_size=40,
)


def finds(query, text):
    held = set(tokens(text))
    return all(
        any(token.startswith(term) for token in held) if is_beginning(term) else term in held
        for term in query_tokens(query)
    )


@pytest.mark.parametrize("query", ["ppid", "watchdog", "父进程", "单层", "比较", "PPID", "ｐｐｉｄ", "watchdogs"])
def test_words_glued_to_chinese_are_found(query):
    """COMPLAINTS 49: script boundaries split."""
    assert finds(query, "父进程watchdog单层ppid比较")


def test_a_word_is_not_found_inside_another():
    assert not finds("pid", "父进程watchdog单层ppid比较")


@pytest.mark.parametrize("query", list("父进程单层比较"))
def test_every_single_character_is_found(query):
    """COMPLAINTS 48: one-character queries."""
    assert is_beginning(query)
    assert finds(query, "父进程watchdog单层ppid比较")
    assert not finds("无", "父进程watchdog单层ppid比较")


def test_a_run_is_its_bigrams_and_its_last_character():
    """The price of one-character queries is one token a run, not one a character."""
    assert tokens("父进程ppid层") == ["父进", "进程", "程", "ppid", "层"]
    assert query_tokens("父进程ppid层") == ["父进", "进程", "ppid", "层"]


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("事实 f-3fa9c1 已退役", ["f-3fa9c1", "3fa9c1", "F-3FA9C1"]),
        ("字段user_id没填", ["user_id", "user", "id", "USER_ID"]),
        ("call getUserName() first", ["getUserName", "getusername", "user", "name"]),
        ("the HTTPServer", ["httpserver", "http", "server"]),
        ("session-3611ac44#10457", ["session-3611ac44", "3611ac44", "10457"]),
        ("Python 3.11，2026-11-30 10:30", ["3.11", "2026-11-30", "2026", "10:30", "python"]),
        ("用 C++ 和 C# 写", ["C++", "c#"]),
        ("端口5432被占", ["5432", "端口"]),
        ("see a/b/main.py:12", ["main.py", "main", "12"]),
        ("__init__ 里", ["init", "__init__"]),
    ],
)
def test_identifiers_are_found_whole_and_by_their_parts(text, queries):
    for query in queries:
        assert query_tokens(query)
        assert finds(query, text), query


def test_cpp_is_not_csharp_and_not_c():
    assert not finds("C++", "用 C# 写")
    assert not finds("C#", "C 语言")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("running", "it runs"),
        ("Caroline", "Caroline’s book"),
        ("errors", "one ERROR"),
        ("don't", "ignored"),
        ("the", "x"),
    ],
)
def test_english_words_are_stemmed_and_stop_words_left_out(query, text):
    assert finds(query, text)


def test_stop_words_alone_are_nothing_to_look_for():
    assert query_tokens("what is the") == []


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("记忆体", "記憶體"),
        ("資料庫", "资料库"),
        ("開發環境", "开发环境"),
        ("台", "臺灣"),
        ("ＡＢＣ１２", "abc12"),
        ("ｶﾞ", "ガス"),
    ],
)
def test_traditional_and_full_width_forms_are_folded(query, text):
    assert finds(query, text)
    assert finds(text, query) or len(query) == 1 or query == "ｶﾞ"


@pytest.mark.parametrize(
    ("query", "text"),
    [("食べる", "寿司を食べる"), ("한국", "한국어로"), ("สวัสดี", "สวัสดีครับ"), ("😀", "好的😀"), ("→", "a→b")],
)
def test_other_scripts_and_signs_are_found(query, text):
    assert finds(query, text)


def test_hidden_characters_do_not_split_a_keyword():
    """COMPLAINTS 58"""
    assert tokens("密\u200b钥 pass\u202eword") == tokens("密钥 password")


def test_what_is_no_word_is_cut_short():
    assert [len(token) for token in tokens("x" * 5000)] == [TOKEN_LENGTH]
    assert finds("x" * 5000, "x" * 5000)


@given(text=ANY_TEXT)
def test_every_text_has_tokens_an_index_can_hold(text):
    """No space, no quote, no control character: the index is fed them joined by spaces and asks for them quoted."""
    for token in [*tokens(text), *query_tokens(text)]:
        assert token
        assert not set(token) & set(" \t\n\"'*^()")
        assert all(unicodedata.category(char)[0] != "Z" for char in token)
        assert all(char.isalnum() or char in "_-.:+#" for char in token if char.isascii())


@given(text=MIXED, start=st.integers(0, 40), length=st.integers(1, 12))
def test_any_part_of_an_unspaced_run_is_found(text, start, length):
    run = "".join(char for char in text if "\u4e00" <= char <= "\u9fff")
    part = run[start : start + length]
    assert finds(part, run)


@given(text=MIXED)
def test_a_text_finds_itself(text):
    assert finds(text, text)


@given(text=MIXED)
def test_matches_are_shown_where_they_stand(text):
    """The places of a snippet: in code points of the text as it is, whatever folding does to its length."""
    for start, end, token in find_tokens(text, query_tokens(text)):
        assert 0 <= start < end <= len(text)
        held = tokens(text[start:end])
        assert token in held or any(one.startswith(token) for one in held)


def test_places_count_the_characters_of_the_text_itself():
    text = "ﬁles\u200b 的記憶體 ８０"
    places = {token: text[start:end] for start, end, token in find_tokens(text, query_tokens("file 记忆 80"))}
    assert places == {"file": "ﬁles", "记忆": "記憶", "80": "８０"}


def holds(query, text):
    """Which terms of a query a text holds, without cutting the text when that can be helped."""
    terms = query_tokens(query)
    return {terms[place] for place in make_matcher(terms)(searchable(text), text)}


@given(text=MIXED, query=MIXED, start=st.integers(0, 30), length=st.integers(1, 8))
def test_matching_is_the_same_as_cutting(text, query, start, length):
    for asked in (query, text, text[start : start + length]):
        held = set(tokens(text))
        expected = {
            term
            for term in query_tokens(asked)
            if (any(token.startswith(term) for token in held) if is_beginning(term) else term in held)
        }
        assert holds(asked, text) == expected


def test_no_word_is_missed_by_its_stem():
    """Every word of the sources and the readme, and those whose stems change most."""
    root = Path(__file__).resolve().parents[2]
    paths = [*root.glob("*.md"), *(root / "selfnote").rglob("*.py"), *(root / "data-fixtures" / "triggers").iterdir()]
    odd = "dying lying tying skis skies idly gently ugly early only singly sensibilities hoping relational o'brien's 父'进"
    words = {word for path in paths for word in path.read_text("utf-8").split()} | set(odd.split())
    assert len(words) > 10_000
    for word in words:
        assert holds(word, word) == set(query_tokens(word)), word


def test_the_version_names_what_tokens_depend_on():
    assert unicodedata.unidata_version in token_version()
