"""The bundled demo memory: one owner's three months, to look at without touching one's own."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from selfnote.errors import Conflict, NotFound

#: The instant the demo memory was left at: audit it then, or three months of it are merely old.
DEMO_NOW = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)


def demo_home(dir: str | os.PathLike[str] | None = None) -> Path:  # noqa: A002 - the public name is fixed by DESIGN
    """A writable copy of the bundled demo memory; the path of its ``.dsh`` directory.

    Parameters
    ----------
    dir
        Where to put it: a directory that is empty or does not exist. None: a new temporary directory.

    Raises
    ------
    Conflict
        When ``dir`` holds something already; nothing is overwritten.
    NotFound
        When the installation lacks the demo files.
    """
    target = Path(tempfile.mkdtemp(prefix="selfnote-demo-")) / ".dsh" if dir is None else Path(dir).expanduser()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Conflict(f"{target} is not empty; the demo memory overwrites nothing - name another directory")
    source = bundled_home()
    shutil.copytree(source, target, dirs_exist_ok=True)
    for path in (target, *target.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return target


def bundled_home() -> Path:
    """The demo memory inside the package, or beside it in a checkout. Raises NotFound."""
    package = Path(__file__).resolve().parent
    for found in (package / "_demo_home", package.parent / "data-fixtures" / "demo-home"):
        if found.is_dir():
            return found
    raise NotFound(f"no demo memory lies in {package}; install selfnote again, or work from a checkout")


def is_bundled(home: Path) -> bool:
    """Whether ``home`` is the bundled demo memory itself, not a copy."""
    try:
        return home.resolve() == bundled_home()
    except NotFound:
        return False
