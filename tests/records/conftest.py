"""What the tests of the records share: lines as they stand on disk, and files as an owner's editor leaves them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import selfnote.storage.rewrite as rewriting


def put(path: Path, data: bytes | str) -> bytes:
    """Write a file as another program would, its folder made first; the bytes written."""
    raw = data.encode() if isinstance(data, str) else data
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return raw


def line_of(**values) -> str:
    """One line of JSON as our own writer leaves it."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def snapshot(root: Path) -> dict[str, bytes]:
    """Every file below ``root`` with its bytes, lock files aside."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


@pytest.fixture(name="put")
def _put():
    return put


@pytest.fixture(name="line_of")
def _line_of():
    return line_of


@pytest.fixture(name="snapshot")
def _snapshot():
    return snapshot


@pytest.fixture
def editor(monkeypatch):
    """An owner's editor that saves once, between our read and our rename: ``editor(path, change)``."""

    def arm(path: Path, change) -> list[bytes]:
        real = rewriting.write_atomic
        saved: list[bytes] = []

        def late(target, data, **keywords):
            if not saved and Path(target) == path:
                new = change(path.read_bytes() if path.exists() else b"")
                saved.append(new)
                other = path.with_name(path.name + "~")
                other.write_bytes(new)
                os.replace(other, path)  # noqa: PTH105 - as an editor saves
            return real(target, data, **keywords)

        monkeypatch.setattr(rewriting, "write_atomic", late)
        return saved

    return arm
