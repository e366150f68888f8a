"""The slow rings behind `make test-all`: each runs, or says in one line why it was skipped.

`REQUIRE_RINGS=1` (continuous integration) makes a skipped ring a failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
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
        run(python, "-m", "pytest", "-n", "auto", "--dist", "loadfile", "tests/audit")


def browser_python(place: Path) -> str:
    """The interpreter of a new environment with the built wheel, Voilà, JupyterLab and what drives a browser."""
    if shutil.which("chromium") is None:
        raise Skipped("no chromium on this machine; install it (Debian: apt-get install chromium fonts-noto-cjk)")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", str(place))
    wheel = next(place.glob("*.whl"))
    run(sys.executable, "-m", "venv", str(place / "venv"))
    python = str(place / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
    run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1")
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[app,lab]", "--group", "browser")
    return python


def run_browser() -> None:
    """The panels and the notebooks as an owner meets them: served from the wheel, clicked in Chromium."""
    with tempfile.TemporaryDirectory(prefix="selfnote-browser-") as folder:
        python = browser_python(Path(folder))
        # Without PYTHONSAFEPATH the checkout would stand before the wheel.
        run(python, "-m", "pytest", "tests/browser", "-p", "no:cacheprovider", PYTHONSAFEPATH="1")


def run_screenshots() -> None:
    """The pictures of the panels in docs/, taken anew."""
    with tempfile.TemporaryDirectory(prefix="selfnote-browser-") as folder:
        run(browser_python(Path(folder)), "tools/make_screenshots.py", PYTHONSAFEPATH="1")


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
told = subprocess.run([sys.executable, "-m", "selfnote.cli", "panel", "--demo"], check=False, capture_output=True, text=True)
assert told.returncode == 2 and 'pip install "selfnote[app]"' in told.stderr, told
print("the demo memory of the built wheel is whole:", len(report.facts), "facts,", len(report.sessions), "sessions")
"""

RINGS = (
    Ring("reliability", run_reliability),
    Ring("wheel", run_wheel),
    Ring("older pandas", run_older_pandas),
    Ring("browser", run_browser),
)
#: What is run only when it is asked for by name.
ON_REQUEST = (Ring("screenshots", run_screenshots),)


def main(names: Sequence[str] = ()) -> int:
    """Run every ring, or those of these names; the number that failed."""
    rings = [ring for ring in (*RINGS, *ON_REQUEST) if ring.name in names] if names else RINGS
    required = os.environ.get("REQUIRE_RINGS") == "1"
    failed = []
    for ring in rings:
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
    sys.exit(main(sys.argv[1:]))
