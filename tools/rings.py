"""The slow rings behind `make test-all`: each runs, or says in one line why it was skipped.

`REQUIRE_RINGS=1` (continuous integration) makes a skipped ring a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


class Skipped(Exception):  # noqa: N818 - the word the ring prints
    """A prerequisite of a ring is missing."""


@dataclass(frozen=True)
class Ring:
    """One ring: its name, and what runs it."""

    name: str
    run: Callable[[], None]


def run(*command: str, cwd: Path = REPOSITORY, **variables: str) -> None:
    """Run a command, its output shown; a failure ends the ring."""
    subprocess.run(command, cwd=cwd, env={**os.environ, **variables}, check=True)  # noqa: S603 - our own commands


def run_reliability() -> None:
    """The long form of the tests that kill real writers and let many write at once."""
    run(
        sys.executable,
        "-m",
        "pytest",
        "tests/storage/test_killed_writers.py",
        "tests/storage/test_many_writers.py",
        "tests/records/test_persona_transaction.py",
        SELFNOTE_KILLS="400",
    )


def run_wheel() -> None:
    """The wheel as a stranger installs it: into an empty environment, away from the checkout."""
    with tempfile.TemporaryDirectory(prefix="selfnote-wheel-") as folder:
        place = Path(folder)
        run(sys.executable, "-m", "build", "--wheel", "--outdir", str(place))
        wheel = next(place.glob("*.whl"))
        run(sys.executable, "-m", "venv", str(place / "venv"))
        python = place / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        run(str(python), "-m", "pip", "install", "--quiet", str(wheel), cwd=place)
        run(str(python), "-c", WHEEL_CHECK, cwd=place, PYTHONPATH="")


def run_older_pandas() -> None:
    """The frames and analyses with the oldest pandas we promise, in an environment of their own."""
    with tempfile.TemporaryDirectory(prefix="selfnote-pandas-") as folder:
        place = Path(folder)
        run(sys.executable, "-m", "venv", str(place / "venv"))
        python = str(place / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
        run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1")
        run(python, "-m", "pip", "install", "--quiet", "--editable", ".", "--group", "test", "pandas==2.2.*")
        run(python, "-m", "pytest", "-n", "auto", "--dist", "loadfile", "tests/audit", "tests/test_package.py")


WHEEL_CHECK = """
import json, subprocess, sys
import selfnote
home = selfnote.demo_home()
memory = selfnote.open_memory(home, read_only=True)
from selfnote.demo import DEMO_NOW
report = memory.audit(now=DEMO_NOW)
assert report.injection.text and len(report.facts) >= 90 and len(report.sessions) >= 10, report
out = subprocess.run([sys.executable, "-m", "selfnote.cli", "audit", "--home", str(home), "--json"], check=True, capture_output=True)
assert json.loads(out.stdout)["facts"]["approved"] >= 60
print("the demo memory of the built wheel is whole:", len(report.facts), "facts,", len(report.sessions), "sessions")
"""

RINGS = (
    Ring("reliability", run_reliability),
    Ring("wheel", run_wheel),
    Ring("older pandas", run_older_pandas),
)


def main() -> int:
    """Run every ring; the number that failed."""
    required = os.environ.get("REQUIRE_RINGS") == "1"
    failed = []
    for ring in RINGS:
        print(f"=== ring {ring.name}", flush=True)
        try:
            ring.run()
        except Skipped as why:
            print(f"SKIPPED {ring.name}: {why}", flush=True)
            if required:
                failed.append(ring.name)
        except subprocess.CalledProcessError as error:
            print(f"FAILED {ring.name}: {error}", flush=True)
            failed.append(ring.name)
    if failed:
        print(f"rings that failed: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
