"""Every test gets its own home; nothing touches a real memory (S2-295)."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import selfnote
from selfnote.injection.compose import forget_composers

REPOSITORY = Path(__file__).resolve().parent.parent
#: The kit beside the project where it is there: real logs of the real harness.
KIT = REPOSITORY.parent / "shared" / "kit"

settings.register_profile("ci", deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path_factory.mktemp("owner")
    monkeypatch.setenv("HOME", str(own))
    monkeypatch.setenv("DSH_HOME", str(own / ".dsh"))
    monkeypatch.delenv("DSH_MEMORY_DIR", raising=False)
    forget_composers()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty ``.dsh`` directory that does not exist yet."""
    return tmp_path / ".dsh"


@pytest.fixture
def memory(home: Path) -> selfnote.Memory:
    """The memory of that home, its owner in Shanghai."""
    return selfnote.open_memory(home, tz="Asia/Shanghai")


@pytest.fixture
def now() -> datetime:
    """A Sunday morning."""
    return datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
