"""The notebooks are essays whose every number a reader finds beside it; that they run, `make notebooks` proves (issue 5.9)."""

from __future__ import annotations

import ast
import html
import importlib.util
import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"), key=lambda path: int(path.stem.split("-")[0]))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)

#: A number as prose has it, not one inside a name such as f-3872 or L1; and any number an output shows.
_CLAIMED = re.compile(r"(?<![\w.#-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-]|\.\d)")
_SHOWN = re.compile(r"\d+(?:\.\d+)?")
_CODE_SPAN = re.compile(r"`[^`]*`")
#: A path but those the demo invents, a host, an address in memory, a random id, a duration.
_OF_THIS_MACHINE = re.compile(
    r"(?<![\w~.])/(?!home/owner\b|srv/shiye\b|mnt/backup\b|dev/ttyUSB1\b)[a-z]+/|[A-Z]:\\|[\w-]+\.local\b|localhost"
    r"|\bat 0x[0-9a-f]+|\bT_[0-9a-f]{5}\b|\b\d+(\.\d+)? ?(?:ms|µs|us|it/s|s/it)\b"
)
_CHINESE = re.compile("[\u4e00-\u9fff]")


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def source_of(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def cells_of(path: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in read(path)["cells"] if cell["cell_type"] == kind]


def outputs_of(path: Path) -> Iterator[dict[str, Any]]:
    for cell in cells_of(path, "code"):
        yield from cell["outputs"]


def texts_of(output: dict[str, Any]) -> Iterator[str]:
    """Everything an output shows in letters, markup aside."""
    yield "".join(output.get("text", ()))
    for kind, value in output.get("data", {}).items():
        if kind == "text/html":
            # Styles and attributes hold numbers that nobody reads.
            yield html.unescape(re.sub(r"<style.*?</style>|<[^>]*>", " ", "".join(value), flags=re.DOTALL))
        elif kind.startswith("text/"):
            yield "".join(value)


def numbers_in(text: str, pattern: re.Pattern[str]) -> list[float]:
    """The numbers of a text by their value: 30 days and half_life 30.0 are the same."""
    return [float(one.replace(",", "")) for one in pattern.findall(text)]


def unfounded(path: Path) -> Iterator[tuple[float, str]]:
    """Each number of the prose that stands in no output of the code just above it or just below it, with its sentence."""
    runs = [(kind, list(cells)) for kind, cells in groupby(read(path)["cells"], key=lambda cell: cell["cell_type"])]
    for place, (kind, cells) in enumerate(runs):
        if kind != "markdown":
            continue
        near = [cell for _, beside in runs[max(place - 1, 0) : place + 2 : 2] for cell in beside] if place else []
        if place == 0 and len(runs) > 1:
            near = runs[1][1]
        known: set[float] = set()
        for cell in near:
            if cell["cell_type"] == "code":
                known |= set(numbers_in(source_of(cell), _SHOWN))
                for output in cell["outputs"]:
                    for text in texts_of(output):
                        known |= set(numbers_in(text, _SHOWN))
        for cell in cells:
            prose = _CODE_SPAN.sub(" ", source_of(cell))
            for number in numbers_in(prose, _CLAIMED):
                if number not in known:
                    yield number, prose


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("refresh_notebooks", REPOSITORY / "tools" / "refresh_notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_ten_notebooks_in_reading_order():
    assert [int(path.stem.split("-")[0]) for path in NOTEBOOKS] == list(range(1, 11))


@each_notebook
def test_a_notebook_asks_one_question_in_at_most_twelve_code_cells(path: Path):
    """The list of the notebooks asks it in the same words, and in Chinese."""
    cells = read(path)["cells"]
    title, chinese = source_of(cells[0]).split("\n\n")[:2]
    assert re.fullmatch(r"# [^\n]+\?", title)
    assert chinese.startswith("*")
    assert chinese.endswith("？*")
    assert len(cells_of(path, "code")) <= 12
    listed = (REPOSITORY / "notebooks" / "README.md").read_text(encoding="utf-8")
    assert f"| [{path.stem}]({path.name}) | {title.removeprefix('# ')} | {chinese.strip('*')} |" in listed


@each_notebook
def test_the_first_cell_opens_a_copy_of_the_demo_at_its_own_instant(path: Path):
    first = source_of(cells_of(path, "code")[0])
    assert "selfnote.demo_home()" in first
    assert "from selfnote.demo import DEMO_NOW as now" in first


@each_notebook
def test_a_notebook_reads_no_clock_and_opens_no_memory_but_copies(path: Path):
    """What could write beside the copy is opened read-only."""
    for cell in cells_of(path, "code"):
        tree = ast.parse(source_of(cell))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not names & {"today", "utcnow", "time", "perf_counter", "clock", "tqdm", "Output", "environ"}
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if ast.unparse(call.func) == "selfnote.open_memory" and ast.unparse(call.args[0]) not in (
                "home",
                "selfnote.demo_home()",
            ):
                assert "read_only=True" in ast.unparse(call)


@each_notebook
def test_every_writing_verb_is_told_the_time(path: Path):
    """A time of the clock in a record would show tomorrow; a panel passes on the time it was told."""
    verbs = {"approve", "retire", "undo", "add", "edit", "delete", "forget", "memory_stage", "compose_injection"}
    for cell in cells_of(path, "code"):
        for node in ast.walk(ast.parse(source_of(cell))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in verbs or ast.unparse(node.func.value) == "panels":
                assert "now" in [keyword.arg for keyword in node.keywords], ast.unparse(node)


@each_notebook
def test_no_cell_hides_its_output_behind_a_semicolon(path: Path):
    assert not [source_of(cell) for cell in cells_of(path, "code") if source_of(cell).rstrip().endswith(";")]


@each_notebook
def test_stored_outputs_hold_no_error_warning_path_address_or_timing(path: Path):
    for output in outputs_of(path):
        assert output["output_type"] != "error"
        assert output.get("name") != "stderr"
        for text in texts_of(output):
            assert not _OF_THIS_MACHINE.search(text), text


@each_notebook
def test_every_cell_was_run_and_shows_one_figure_at_least(path: Path):
    cells = cells_of(path, "code")
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert any("image/png" in output.get("data", {}) for output in outputs_of(path))


@each_notebook
def test_every_number_in_the_prose_stands_in_an_output_beside_it(path: Path):
    """Done means: every number can be recomputed from the frame shown."""
    assert list(unfounded(path)) == []


def test_a_number_that_nothing_shows_is_found(tmp_path: Path):
    """The test above can fail."""
    shown = {
        "cell_type": "code",
        "source": ["f()"],
        "outputs": [{"output_type": "stream", "text": ["952 of 1000, 15.0\n"]}],
    }
    cells = [
        shown,
        {"cell_type": "markdown", "source": ["952 of 1,000, heat 15.0; not 953, nor 15.04, nor `7` or f-99"]},
    ]
    path = tmp_path / "one.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert [number for number, _ in unfounded(path)] == [953, 15.04]


@each_notebook
def test_a_notebook_ends_with_what_the_owner_can_do_now_in_code(path: Path):
    cells = read(path)["cells"]
    last = max(place for place, cell in enumerate(cells) if "## What you can do now 现在可以做的" in source_of(cell))
    assert any(cell["cell_type"] == "code" for cell in cells[last:])
    assert not any(source_of(cell).startswith("## ") for cell in cells[last + 1 :])


@each_notebook
def test_every_section_is_headed_in_chinese_too(path: Path):
    headings = re.findall(r"^## .*$", "\n".join(source_of(cell) for cell in cells_of(path, "markdown")), re.MULTILINE)
    assert headings
    assert [one for one in headings if not _CHINESE.search(one)] == []


@pytest.mark.parametrize(
    ("stem", "calls"),
    [
        ("2-decay", ("decay.curves(", "plots.decay(")),
        ("3-silence", ("silence.by_cause(", "plots.silence(")),
        ("4-squeeze", ("squeeze.squeezed(", "plots.squeeze(")),
    ],
)
def test_three_lines_answer_what_an_owner_asks(stem: str, calls: tuple[str, str]):
    """UC-003, UC-004, UC-005: a frame, its figure, and a table."""
    sources = [source_of(cell) for cell in cells_of(REPOSITORY / "notebooks" / f"{stem}.ipynb", "code")]
    one = next(place for place, source in enumerate(sources) if calls[0] in source)
    assert calls[1] in sources[one]
    assert len(sources[one].splitlines()) <= 3


@pytest.mark.parametrize("stem", ["9-review", "10-persona-rules"])
def test_a_panel_is_shown_before_and_after_its_clicks_and_reads_without_a_kernel(stem: str):
    """Issue 6.6: its twin stands beside it, as tables, with nothing to run or to fetch."""
    path = REPOSITORY / "notebooks" / f"{stem}.ipynb"
    shown = ["".join(output.get("data", {}).get("text/html", ())) for output in outputs_of(path)]
    twins = [one for one in shown if 'class="sn-behind"' in one]
    assert len(set(twins)) == 2
    for twin in twins:
        assert "<table" in twin
        assert not re.search(r"<script|<img|<link|\bsrc=|\bhref=|@import|url\(", twin)
    assert sum(".click()" in source_of(cell) for cell in cells_of(path, "code")) == 1
    assert sum("click(" in source_of(cell) for cell in cells_of(path, "code")) >= 4


@each_notebook
def test_what_is_stored_is_what_the_tool_stores(path: Path):
    """No widget state, version or time of a run: the tool would change nothing."""
    notebook = nbformat.read(path, as_version=4)
    assert load_tool().without_noise(notebook) == nbformat.read(path, as_version=4)
    assert path.read_text(encoding="utf-8") == nbformat.writes(notebook) + "\n"
