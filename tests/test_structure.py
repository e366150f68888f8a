"""The house: each module says what it is for, and the model's way in has no owner's switch."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
MODULES = sorted((REPOSITORY / "selfnote").rglob("*.py"))


def test_every_module_says_in_one_line_what_it_is_for():
    for path in MODULES:
        told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert told, path
        assert len(told.splitlines()[0]) <= 120, path


def test_the_clock_is_read_at_the_edges_only():
    """`now` is a parameter: only times.clock() reads the system's clock, and only as a default."""
    pattern = re.compile(r"datetime\.now\(|time\.time\(|date\.today\(|utcnow\(")
    readers = [
        str(path.relative_to(REPOSITORY)) for path in MODULES if pattern.search(path.read_text(encoding="utf-8"))
    ]
    assert readers == ["selfnote/times.py"]


def test_no_file_names_a_machine_path_or_a_package_host():
    """Nothing of the place it was made in, or of package registries' hosts, is in the project."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True).stdout
    wanted = re.compile(rb"/(?:wor" + rb"k/(?:main|shared)|roo" + rb"t/)|py" + rb"pi\.org|np" + rb"mjs\.")
    for name in listed.decode().split("\0"):
        path = REPOSITORY / name
        if name and path.is_file():
            assert not wanted.search(path.read_bytes()), name


def test_every_ignore_in_the_code_says_why():
    """ruff and mypy are silenced only with a reason beside it."""
    bare = re.compile(r"#\s*(?:noqa(?::[ A-Z0-9,]+)?|type:\s*ignore(?:\[[\w,-]+\])?)\s*$")
    for path in [*MODULES, *(REPOSITORY / "tools").glob("*.py"), *(REPOSITORY / "benchmarks").glob("*.py")]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            assert not bare.search(line), f"{path}:{number}: {line.strip()}"
