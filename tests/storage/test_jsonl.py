"""JSON patched in place: every byte that was not changed stays (DESIGN "Files")."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote.storage.jsonl import LINE_CAP, RawJson, encode, extend_array, members, over_cap, patch_object
from selfnote.storage.lines import Line

LEAF = (
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
)
VALUE = st.recursive(
    LEAF,
    lambda child: (
        st.lists(child, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), child, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(["id", "text", "a", "", "键", "a b", 'q"', "\\", "\n", "é"])
OBJECT = st.dictionaries(KEYS, VALUE, max_size=6)
SPACE = st.text(" \t", max_size=2)


@st.composite
def spelled(draw, value):
    """``value`` as JSON with random spacing and random escapes: as another program may write it."""
    gap = lambda: draw(SPACE)  # noqa: E731 - a local spelling
    if isinstance(value, dict):
        body = ",".join(f"{gap()}{draw(spelled(k))}{gap()}:{gap()}{draw(spelled(v))}{gap()}" for k, v in value.items())
        return "{" + (body or gap()) + "}"
    if isinstance(value, list):
        return "[" + (",".join(f"{gap()}{draw(spelled(v))}{gap()}" for v in value) or gap()) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@given(data=st.data(), value=OBJECT, changes=st.dictionaries(KEYS, VALUE, max_size=4))
def test_patching_sets_the_given_keys_and_touches_no_other_byte(data, value, changes):
    """Unknown keys, spacing, escapes and number forms survive."""
    raw = data.draw(spelled(value))
    patched = patch_object(raw, changes)
    assert json.loads(patched) == {**value, **changes}
    kept_before, kept_after = members(raw), members(patched)
    for key in value.keys() - changes.keys():
        assert kept_after[key] == kept_before[key]
    known = [key for key in value if key in changes]
    if not known and not changes:
        assert patched == raw


@given(data=st.data(), value=OBJECT)
def test_no_change_is_no_byte(data, value):
    raw = data.draw(spelled(value))
    assert patch_object(raw, {}) == raw


@given(data=st.data(), value=OBJECT, new=VALUE)
def test_a_patch_of_one_key_changes_only_that_value(data, value, new):
    """COMPLAINTS 7: the smallest diff."""
    raw = data.draw(spelled(value))
    for key in value:
        span = members(raw)[key]
        patched = patch_object(raw, {key: new})
        at = next(i for i in range(len(raw) + 1) if raw[:i] + encode(new) + raw[i + len(span) :] == patched)
        assert raw[at : at + len(span)] == span


@pytest.mark.parametrize(
    ("raw", "changes", "patched"),
    [
        ("{}", {"a": 1}, '{"a":1}'),
        ("{ }", {"a": 1}, '{"a":1 }'),
        ('{"a":1}', {"b": 2}, '{"a":1,"b":2}'),
        ('{"a": 1, "b": 2}', {"c": 3}, '{"a": 1, "b": 2, "c": 3}'),
        ('{\n  "a": 1\n}\n', {"b": 2}, '{\n  "a": 1,\n  "b": 2\n}\n'),
        ('{\r\n\t"a":\t1\r\n}', {"b": 2, "c": 3}, '{\r\n\t"a":\t1,\r\n\t"b":\t2,\r\n\t"c":\t3\r\n}'),
        ('{"a":1.0,"b":1}', {"b": 2}, '{"a":1.0,"b":2}'),
        ('{"a":1,"a":2}', {"a": 3}, '{"a":1,"a":3}'),
        ('{"\\u0061":1}', {"a": 2}, '{"\\u0061":2}'),
        ('{"a":"}\\"{"}', {"b": "}"}, '{"a":"}\\"{","b":"}"}'),
        (' {"a":[1,{"b":[]}]} ', {"a": None}, ' {"a":null} '),
        ('{"a":123456789012345678901234567890}', {"b": "中"}, '{"a":123456789012345678901234567890,"b":"中"}'),
    ],
)
def test_new_keys_are_spaced_as_the_last_one_is(raw, changes, patched):
    assert patch_object(raw, changes) == patched


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "[]",
        "null",
        '"a"',
        "{",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        '{"a":1 "b":2}',
        "{a:1}",
        '{"a":1',
        "{'a':1}",
        '{"a":1}}',
        '{"a":1} x',
        '{"a":1}{"b":2}',
    ],
)
def test_what_is_no_json_object_is_refused(raw):
    """Patching it would report success on a file that no reader takes."""
    with pytest.raises(ValueError, match=r".*"):
        patch_object(raw, {"z": 1})


# --- arrays --------------------------------------------------------------------------------------
@given(data=st.data(), value=st.lists(VALUE, max_size=4), added=st.lists(VALUE, max_size=3))
def test_an_array_grows_at_its_end_and_keeps_its_bytes(data, value, added):
    raw = data.draw(spelled(value))
    grown = extend_array(raw, added, changed=lambda _: None)
    assert json.loads(grown) == value + added
    stem = raw.rstrip()[:-1].rstrip()
    assert grown.startswith(stem)


@given(data=st.data(), value=st.lists(VALUE, max_size=5), mark=VALUE)
def test_patched_elements_change_and_their_neighbours_do_not(data, value, mark):
    raw = data.draw(spelled(value))
    grown = extend_array(raw, [], changed=lambda item: {"mark": mark} if "id" in item else None)
    assert json.loads(grown) == [
        {**item, "mark": mark} if isinstance(item, dict) and "id" in item else item for item in value
    ]


@pytest.mark.parametrize(
    ("raw", "grown"),
    [
        (None, "[9]"), ("", "[9]"), ("null", "[9]"), ("[]", "[9]"), ("[ ]", "[9 ]"), ("[1 , 1.0]", "[1 , 1.0,9]"),
        ('"lone"', '["lone",9]'), ('{"a":1}', '[{"a":1},9]'), ("3", "[3,9]"), ("[1.50,\t2 ]", "[1.50,\t2,9 ]"),
    ],
)  # fmt: skip
def test_what_was_no_array_becomes_its_first_element(raw, grown):
    """Nothing that another program wrote is lost."""
    out = extend_array(raw, [9], changed=lambda _: None)
    assert json.loads(out) == json.loads(grown)
    assert out.replace(" ", "") == grown.replace(" ", "")


# --- encode, caps --------------------------------------------------------------------------------
@given(VALUE)
def test_what_is_encoded_reads_back_on_one_line(value):
    line = encode(value)
    assert json.loads(line) == value
    assert "\n" not in line
    assert "\r" not in line
    line.encode()


def test_chinese_is_written_as_itself_and_half_characters_as_escapes():
    """S2-015: what can be grepped."""
    assert encode({"a": "记忆", "b": "\ud83d"}) == '{"a":"记忆","b":"\\ud83d"}'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_number_is_written_that_json_does_not_have(value):
    with pytest.raises(ValueError, match="JSON"):
        encode({"a": value})


def test_text_that_is_json_is_written_as_it_stands():
    assert patch_object('{"a":1}', {"a": RawJson("[1.0 , 2]")}) == '{"a":[1.0 , 2]}'


def test_a_line_of_exactly_1_mb_is_read_and_one_byte_more_is_not():
    """DESIGN "Files": 1 MB a line; the message names size and cap."""
    assert LINE_CAP == 1024 * 1024
    assert over_cap(Line(b"x" * LINE_CAP, b"\n")) is None
    reason = over_cap(Line(b"x" * (LINE_CAP + 1), b"\n"))
    assert "1048577" in reason
    assert "1048576" in reason
