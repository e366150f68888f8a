"""One writer at a time, across processes, for a bounded wait (S2-164, S2-165)."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

import selfnote
from selfnote.storage.locks import COMPOSE_WAIT, WRITE_WAIT, hold

HOLD = (
    "import sys; from pathlib import Path; from selfnote.storage.locks import hold\n"
    "with hold(Path(sys.argv[1])):\n    print('held', flush=True); sys.stdin.read()\n"
)


@pytest.fixture
def other(tmp_path):
    """Another process that holds the lock until its input ends."""
    lock = tmp_path / "memory" / ".lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        process.lock = lock
        yield process
        if not process.stdin.closed:
            process.stdin.close()
        process.wait(10)


@pytest.mark.parametrize("wait", [0.0, COMPOSE_WAIT, 0.4])
def test_a_lock_another_process_holds_is_given_up_in_time(other, wait):
    """S2-165: given up rather than hanging; the message names the lock file."""
    start = time.monotonic()
    with pytest.raises(selfnote.Busy, match=r"memory/\.lock"), hold(other.lock, wait=wait):
        pytest.fail("held by two")
    assert wait <= time.monotonic() - start < wait + 0.5


def test_a_waiting_writer_gets_the_lock_when_it_is_let_go(other):
    """S2-164: waiting, not failing."""
    other.stdin.close()
    with hold(other.lock, wait=5):
        pass


def test_the_lock_of_a_killed_process_is_free(other):
    """S2-125: no stale lock after kill -9."""
    other.kill()
    other.wait(10)
    with hold(other.lock, wait=1):
        pass


def test_a_failing_body_lets_go_of_the_lock(tmp_path):
    with pytest.raises(RuntimeError), hold(tmp_path / ".lock"):
        raise RuntimeError
    with hold(tmp_path / ".lock", wait=0):
        pass


def test_two_holders_in_one_process_exclude_each_other(tmp_path):
    """Two panels of one kernel are two writers."""
    with hold(tmp_path / ".lock"), pytest.raises(selfnote.Busy), hold(tmp_path / ".lock", wait=0.05):
        pytest.fail("held twice")


def test_owner_writes_wait_half_a_minute_and_the_composer_50_ms():
    """DESIGN "Opening", "Rotation"."""
    assert (WRITE_WAIT, COMPOSE_WAIT) == (30.0, 0.05)


def test_the_folder_of_the_lock_is_made(tmp_path):
    with hold(tmp_path / "a" / "b" / ".lock"):
        assert (tmp_path / "a" / "b" / ".lock").exists()
