"""What an import costs and brings, and what the built wheel holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import selfnote

REPOSITORY = Path(__file__).resolve().parent.parent
HEAVY = ("pandas", "numpy", "matplotlib", "ipywidgets")


def modules_after(code: str, *, cwd: Path = REPOSITORY, **variables: str) -> set[str]:
    """The top-level modules a new process has loaded after ``code``."""
    probe = f"{code}\nimport sys, json; print(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=cwd,
        env={**os.environ, **variables},
        check=True,
        capture_output=True,
        text=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_selfnote_brings_nothing_heavy():
    """T11: `import selfnote` is lazy, seen in sys.modules of a new process."""
    loaded = modules_after("import selfnote")
    assert not loaded & {*HEAVY, "pydantic", "msgspec", "zstandard", "filelock", "rich", "typer", "regex", "rapidfuzz"}


def test_a_turn_brings_no_tables_plots_locks_or_log_readers(tmp_path: Path):
    """T11: a compose with nothing to count needs neither filelock nor msgspec, and never pandas or numpy."""
    home = selfnote.demo_home(tmp_path / ".dsh")
    code = f"import selfnote; assert selfnote.compose_injection({str(home)!r}, session='s')"
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True)
    loaded = modules_after(code)
    assert not loaded & {*HEAVY, "filelock", "msgspec", "zstandard", "rich", "typer", "rapidfuzz", "tqdm"}


def test_opening_and_auditing_brings_no_tables(tmp_path: Path):
    loaded = modules_after("import selfnote; str(selfnote.open_memory(selfnote.demo_home(), read_only=True).audit())")
    assert not loaded & set(HEAVY)


def test_every_public_name_can_be_had_and_is_documented():
    """DESIGN "Names others rely on"."""
    for name in selfnote.__all__:
        value = getattr(selfnote, name)
        assert value is not None
        assert name.startswith("__") or value.__doc__, name
    assert set(selfnote.__all__) <= set(dir(selfnote))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = selfnote.nonsense


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real wheel, built as a release is, unpacked away from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(REPOSITORY)],
        check=True,
        capture_output=True,
    )
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_is_typed_licensed_and_has_the_demo_memory(wheel: Path):
    assert (wheel / "selfnote" / "py.typed").exists()
    assert list(wheel.glob("*.dist-info/licenses/LICENSE"))
    bundled = {
        str(path.relative_to(wheel / "selfnote" / "_demo_home"))
        for path in (wheel / "selfnote" / "_demo_home").rglob("*")
    }
    source = {
        str(path.relative_to(REPOSITORY / "data-fixtures" / "demo-home"))
        for path in (REPOSITORY / "data-fixtures" / "demo-home").rglob("*")
    }
    assert bundled == source
    assert not list(wheel.rglob("tests"))


def test_the_demo_memory_of_the_wheel_opens_away_from_the_checkout(wheel: Path, tmp_path: Path):
    """selfnote.demo_home() from the built wheel."""
    code = (
        "import selfnote, sys; assert 'site' in selfnote.__file__, selfnote.__file__\n"
        "from selfnote.demo import DEMO_NOW\n"
        "report = selfnote.open_memory(selfnote.demo_home(), read_only=True).audit(now=DEMO_NOW)\n"
        "assert len(report.facts) == 114 and len(report.sessions) == 10, report"
    )
    # -P keeps the working directory, and with it a checkout, off the path.
    subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(wheel)}, check=True
    )
