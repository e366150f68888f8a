"""Run every notebook in a fresh kernel: store what it shows, or with ``--check`` compare that with what is stored.

Stored is nothing that differs from run to run: no widget state, no times, no version of Python. Python's warnings are
shown, so that the comparison, which knows of none, refuses them. Stored outputs are those of pandas 3.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
#: Seconds one cell may take.
CELL_TIMEOUT = 60
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def has_chinese_font() -> bool:
    """Whether figures can show Chinese characters."""
    from matplotlib import font_manager

    from selfnote.audit.plots.canvas import CHINESE_FAMILIES

    return bool(set(CHINESE_FAMILIES) & set(font_manager.get_font_names()))


def kernel_environment() -> dict[str, str]:
    """The environment of the kernels: figures inline, every warning shown."""
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    return {**environment, "PYTHONWARNINGS": "default"}


def without_chinese_font(paths: list[Path], environment: dict[str, str]) -> list[Path]:
    """What can be checked where figures cannot show Chinese; the boxes in their place are let pass, and that is said."""
    reason = "no font with Chinese characters is installed"
    if os.environ.get("REQUIRE_RINGS") == "1":
        sys.exit(f"FAILED notebooks: {reason}")
    environment["PYTHONWARNINGS"] += ",ignore:Glyph:UserWarning"
    skipped = [path for path in paths if "use_chinese_fonts" in path.read_text(encoding="utf-8")]
    print("SKIPPED", *(path.name for path in skipped), f"and boxes in the figures of the others: {reason}", flush=True)
    return [path for path in paths if path not in skipped]


def without_noise(notebook: Any) -> Any:
    """The notebook with fixed metadata and none of a run's: `tests/test_notebooks.py` holds it."""
    notebook.metadata.clear()
    notebook.metadata.update(_METADATA)
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata.clear()
        if tags:
            cell.metadata["tags"] = tags
        for output in cell.get("outputs", ()):
            if "metadata" in output:
                output["metadata"].clear()
            # A widget's id is random, and means nothing without its state; what reads without it stands beside.
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    return notebook


def refresh(path: Path) -> None:
    """Execute one notebook where it lies and store its outputs.

    Raises
    ------
    CellExecutionError
        When a cell fails.
    SystemExit
        When a cell warns; nothing is stored then.
    """
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr":
                sys.exit(f"{path.name} warns, so it is not stored: {output['text']}")
    nbformat.write(without_noise(notebook), path)


def check(paths: list[Path], jobs: str, environment: dict[str, str]) -> int:
    """Run the notebooks and compare every output but pictures; the exit status of pytest."""
    command = [
        *(sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", f"--nbval-cell-timeout={CELL_TIMEOUT}"),
        *("-n", jobs, "--dist", "loadfile", "-p", "no:cacheprovider", "-q", *map(str, paths)),
    ]
    return subprocess.run(command, cwd=NOTEBOOKS.parent, env=environment, check=False).returncode  # noqa: S603 - our own


def main() -> int:
    """Refresh or check the notebooks named, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", type=Path, nargs="*", default=sorted(NOTEBOOKS.glob("*.ipynb")))
    parser.add_argument("--check", action="store_true", help="change nothing; fail where an output differs")
    parser.add_argument("--jobs", default="auto", help="kernels at once when checking")
    given = parser.parse_args()
    environment = kernel_environment()
    if given.check:
        able = has_chinese_font()
        paths = given.notebooks if able else without_chinese_font(given.notebooks, environment)
        return check(paths, given.jobs, environment)
    if not has_chinese_font():
        sys.exit("no font with Chinese characters is installed: the figures would be stored with boxes")
    os.environ.clear()
    os.environ.update(environment)
    for path in given.notebooks:
        print(path.name, flush=True)
        refresh(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
