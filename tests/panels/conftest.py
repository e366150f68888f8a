"""What the tests of the panels' states share: a demo memory at its own instant, and locks another process holds."""

from __future__ import annotations

import contextlib
import functools
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import selfnote
from selfnote.demo import DEMO_NOW

_HOLD = (
    "import sys; from pathlib import Path; from selfnote.storage.locks import hold\n"
    "with hold(Path(sys.argv[1])):\n    print('held', flush=True); sys.stdin.read()"
)


def files_of(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below ``root`` with its bytes and the time it was last written, lock files too."""
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(name="files_of")
def _files_of():
    return files_of


@pytest.fixture
def demo(tmp_path: Path) -> selfnote.Memory:
    """A writable copy of the demo memory."""
    return selfnote.open_memory(selfnote.demo_home(tmp_path / "demo" / ".dsh"))


@pytest.fixture
def clock():
    """The instant the demo memory was left at."""
    return lambda: DEMO_NOW


@pytest.fixture
def held(monkeypatch):
    """Another process holds a lock: ``with held(path, "records.notes"):``; that module's writers wait 0.2 s."""

    @contextlib.contextmanager
    def hold(lock: Path, room: str):
        module = importlib.import_module(f"selfnote.{room}")
        with (
            subprocess.Popen(
                [sys.executable, "-c", _HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ) as other,
            monkeypatch.context() as patched,
        ):
            assert other.stdout.readline() == "held\n"
            patched.setattr(module, "hold", functools.partial(module.hold, wait=0.2))
            try:
                yield
            finally:
                other.stdin.close()
                other.wait(10)

    return hold
