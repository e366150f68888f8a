"""Tables for a spreadsheet: readable Chinese, values as they are, no cell that runs."""

from __future__ import annotations

import csv
import io
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfnote
from selfnote.audit.csv_tables import CsvTable, encode_csv, harmless
from selfnote.demo import DEMO_NOW, bundled_home

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
NAMES = ["bill", "entries", "squeezed", "attribution", "facts", "candidates", "conflicts", "notes", "habits"]
NAMES += ["findings", "sessions", "bad_lines"]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_table_is_written_with_the_mark_a_spreadsheet_needs(tmp_path: Path):
    report = selfnote.open_memory(bundled_home(), read_only=True).audit(now=DEMO_NOW)
    paths = report.to_csv(tmp_path / "tables")
    assert [path.stem for path in paths] == NAMES
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == sorted(f"{name}.csv" for name in NAMES)
    assert all(path.read_bytes().startswith(b"\xef\xbb\xbf") for path in paths)
    rows = {path.stem: read(path) for path in paths}
    bill = rows["bill"]
    assert sum(int(row["used"]) for row in bill) == report.injection.total_chars
    assert list(bill[0]) == ["segment", "budget", "used", "entries", "squeezed"], "no tokens without a vocabulary"
    assert [row["id"] for row in rows["facts"]] == [fact.id for fact in report.facts]
    assert [row["id"] for row in rows["candidates"]] == [fact.id for fact in report.candidates]
    assert [float(row["heat"]) for row in rows["attribution"]] == [row.heat for row in report.attribution]
    assert len(rows["squeezed"]) == sum(int(row["squeezed"]) for row in bill)
    assert len(rows["notes"]) == len(report.kept_notes)
    assert [row["text"] for row in rows["habits"]] == [one.text for one in report.kept_habits]
    assert len(rows["findings"]) == len(report.findings)
    assert [row["id"] for row in rows["sessions"]] == [one.id for one in report.sessions]
    assert pd.read_csv(paths[4], encoding="utf-8-sig")["created_at"].pipe(pd.to_datetime).notna().all()


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("//x")',
        "+1",
        "-1",
        "@SUM(A1)",
        "＝1+1",
        "－1",
        "＠x",
        "\t=1",
        " \r\n=1",
        "\u200b=1",
        "\ufeff=1",
        "\0=1",
    ],
)
def test_a_cell_that_would_be_a_formula_is_words(memory: selfnote.Memory, tmp_path: Path, text: str):
    memory.facts.stage(text, source="owner:test", now=NOW)
    rows = read(memory.audit(now=NOW).to_csv(tmp_path)[NAMES.index("facts")])
    assert rows[0]["text"] == "'" + text.replace("\0", "")


@given(st.text())
def test_no_text_ever_begins_as_a_formula_and_none_is_lost(text: str):
    shown = harmless(text)
    kept = text.replace("\0", "")
    assert shown in {kept, f"'{kept}"}
    visible = [char for char in shown if not char.isspace() and unicodedata.category(char)[0] not in "CZ"]
    assert not visible or unicodedata.normalize("NFKC", visible[0])[:1] not in {"=", "+", "-", "@"}


@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.integers()), max_size=5))
def test_a_file_reads_back_cell_by_cell(rows: list[tuple[object, ...]]):
    data = encode_csv(CsvTable("x.csv", ("text", "n"), rows))
    back = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert back == [["text", "n"], *([harmless(text), str(number)] for text, number in rows)]


def test_numbers_below_nought_stay_numbers_and_half_characters_do_not_stop_the_rest():
    data = encode_csv(CsvTable("x.csv", ("a", "b", "c"), [(-1.5, True, None), (-2, "半\ud800个", ("a", "b"))]))
    assert data.decode("utf-8-sig") == "a,b,c\r\n-1.5,true,\r\n-2,半\\ud800个,a; b\r\n"


def test_tables_are_not_written_into_the_memory(memory: selfnote.Memory):
    memory.notes.add("我先跑测试", now=NOW)
    with pytest.raises(selfnote.ReadOnly, match="inside the memory"):
        memory.audit(now=NOW).to_csv(memory.home.memory)
    assert not list(memory.home.root.rglob("*.csv"))
