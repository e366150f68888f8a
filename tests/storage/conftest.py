"""A smith of real writer processes: it has the library loaded and forks one writer on each demand."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SMITH = r"""
import os, sys
from pathlib import Path
import selfnote, selfnote.config, selfnote.records.facts, selfnote.records.notes, selfnote.records.persona
import filelock, rapidfuzz, regex
from selfnote.storage.atomic import append_line

jobs = {}
def job(function):
    jobs[function.__name__] = function
    return function

exec(sys.stdin.read(int(sys.stdin.readline())))
print("ready", flush=True)
for command in sys.stdin:
    verb, _, rest = command.strip().partition(" ")
    if verb == "fork":
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                jobs[rest.split()[0]](*rest.split()[1:])
                code = 0
            except BaseException:
                import traceback
                traceback.print_exc()
            os._exit(code)
        print(pid, flush=True)
    elif verb == "wait":
        print(os.waitstatus_to_exitcode(os.waitpid(int(rest), 0)[1]), flush=True)
"""


class Smith:
    """Forks writers; each is a process of its own that can be killed at any instant."""

    def __init__(self, process):
        self._process = process

    def _ask(self, command):
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def fork(self, job, *arguments):
        return self._ask(" ".join(["fork", job, *map(str, arguments)]))

    def wait(self, pid):
        return self._ask(f"wait {pid}")

    def kill(self, pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return self.wait(pid)


@pytest.fixture
def smith(tmp_path):
    """``smith(source)`` where the source defines functions marked ``@job``."""
    started = []

    def start(source):
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        process = subprocess.Popen(
            [sys.executable, "-c", SMITH], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        started.append(process)
        process.stdin.write(f"{len(source)}\n{source}")
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n"
        return Smith(process)

    yield start
    for process in started:
        process.stdin.close()
        process.stdout.close()
        process.wait(30)
