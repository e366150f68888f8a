from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

import selfnote
from selfnote.audit import schema
from selfnote.demo import DEMO_NOW
from selfnote.errors import NotFound

FRAMES = tuple(schema.SCHEMA)
ONLY_ASCII = re.compile(r"[\x00-\x7f]*\Z")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> selfnote.Memory:
    return selfnote.open_memory(selfnote.demo_home(tmp_path_factory.mktemp("demo") / ".dsh"))


def make(memory: selfnote.Memory, name: str) -> pd.DataFrame:
    return getattr(memory.frames, name)(now=DEMO_NOW)


def documented(name: str) -> list[tuple[str, str]]:
    return [(column.name, schema.DTYPES[column.kind]) for column in schema.SCHEMA[name]]


def found(frame: pd.DataFrame) -> list[tuple[str, str]]:
    return [(name, str(dtype)) for name, dtype in frame.dtypes.items()]


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_has_exactly_the_documented_columns_and_dtypes(demo: selfnote.Memory, name: str):
    """UC-002, A-28: also under pandas 2.2, where text is no dtype of its own by default."""
    frame = make(demo, name)
    assert found(frame) == documented(name)
    assert len(frame) > 0 or name == "summaries"
    assert isinstance(frame.index, pd.RangeIndex)


@pytest.mark.parametrize("name", FRAMES)
def test_the_frame_of_an_empty_memory_is_typed_and_has_no_row(memory: selfnote.Memory, name: str):
    frame = make(memory, name)
    assert found(frame) == documented(name)
    assert len(frame) == 0
    assert not memory.home.root.exists()


@pytest.mark.parametrize("name", FRAMES)
def test_only_nullable_columns_are_null_in_a_row_that_could_be_read(demo: selfnote.Memory, name: str):
    frame = make(demo, name)
    key = "at" if name == "injections" else "id" if "id" in frame else "seq"
    readable = frame[frame[key].notna()]
    for column in schema.SCHEMA[name]:
        if not column.nullable:
            assert readable[column.name].notna().all(), column.name


@pytest.mark.parametrize("name", FRAMES)
def test_every_column_is_explained_in_both_languages(name: str):
    for column in schema.SCHEMA[name]:
        assert column.meaning
        assert ONLY_ASCII.match(
            column.meaning.replace("…", "").replace("×", "").replace("−", "").replace("另有 N 条", "")
        )
        assert not ONLY_ASCII.match(column.meaning_zh), column.name


def test_each_frame_documented_is_one_that_can_be_made(demo: selfnote.Memory):
    made = {name for name in dir(selfnote.audit.many({})) if not name.startswith("_")} - {"describe"}
    assert made == set(FRAMES)


def test_the_documentation_is_a_frame_and_a_text(memory: selfnote.Memory):
    described = memory.frames.describe("heat")
    assert list(described["column"]) == [name for name, _ in documented("heat")]
    assert list(described["dtype"]) == [dtype for _, dtype in documented("heat")]
    assert described.set_index("column").loc["idle_days", "unit"] == "days"
    text = str(memory.frames)
    for name in FRAMES:
        assert re.search(rf"^{name}$", text, re.MULTILINE)
        assert all(column.name in text and column.meaning in text for column in schema.SCHEMA[name])
    assert "半衰期" in schema.document("heat", "zh")


def test_a_frame_nobody_documents_is_not_found():
    with pytest.raises(NotFound, match="no frame is called 'fats'; there are facts"):
        schema.describe("fats")


def test_columns_that_are_not_the_documented_ones_are_refused():
    columns = {column.name: [] for column in schema.SCHEMA["habits"]}
    with pytest.raises(ValueError, match="'extra'"):
        schema.conform("habits", {**columns, "extra": []})
    with pytest.raises(ValueError, match="'tag'"):
        schema.conform("habits", {name: values for name, values in columns.items() if name != "tag"})
    with pytest.raises(ValueError, match="different lengths"):
        schema.conform("habits", {**columns, "tag": ["a"]})


def test_instants_of_every_year_keep_their_millisecond():
    """A-28: no year is out of range, and microseconds are cut, never rounded up."""
    instants = [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2026, 11, 30, 2, 0, 0, 123_999, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC),
        None,
    ]
    columns = {column.name: [None] * 5 for column in schema.SCHEMA["habits"]}
    frame = schema.conform("habits", {**columns, "created_at": [schema.microseconds(one) for one in instants]})
    back = [None if pd.isna(one) else one.to_pydatetime() for one in frame["created_at"]]
    cut = timedelta(milliseconds=1)
    assert back == [one and one - (one - instants[0]) % cut for one in instants]


def test_a_calendar_day_is_no_instant():
    columns = {column.name: [None, None] for column in schema.SCHEMA["notes"]}
    frame = schema.conform("notes", {**columns, "on": [date(2026, 2, 28), None]})
    assert frame["on"].dt.tz is None
    assert frame["on"].iloc[0] == pd.Timestamp(2026, 2, 28)
    assert pd.isna(frame["on"].iloc[1])


def test_text_does_not_depend_on_what_else_is_installed(tmp_path: Path):
    frame = schema.empty("facts")
    assert frame["text"].dtype == pd.StringDtype("python")
