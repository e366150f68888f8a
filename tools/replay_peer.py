"""The Python side of ``replay_bridge.mjs``: it composes, hears of compactions and runs the model's tools.

One JSON object a line on stdin, one answer a line on stdout. The instant of every act is the one that stands in the
clock file, so that a recording of seconds tells of days.

    python tools/replay_peer.py HOME CLOCK_FILE TOLD_FILE
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from selfnote import compose_injection, note_compaction, open_memory
from selfnote.harness.tools import ModelDesk


class Peer:
    """The memory of one process of the harness.

    Parameters
    ----------
    home
        The ``.dsh`` directory.
    clock
        The file that holds the instant, ISO 8601.
    told
        The file every composed text is appended to: how the recording finds ours in the logs.
    """

    def __init__(self, home: Path, clock: Path, told: Path) -> None:
        self.home = home
        self.clock = clock
        self.told = told

    def answer(self, verb: str, values: dict[str, Any]) -> Any:
        """What one question is answered."""
        verbs: dict[str, Callable[..., Any]] = {
            "compose": self.compose,
            "compaction": self.compaction,
            "tool": self.tool,
        }
        now = datetime.fromisoformat(self.clock.read_text(encoding="utf-8"))
        return verbs[verb](now=now, **values)

    def compose(self, *, session: str, turn: int, cwd: str, delegated: bool, now: datetime) -> str:
        """The text of a turn."""
        text = compose_injection(self.home, session=session, turn=turn, cwd=cwd, now=now, delegated=delegated)
        with self.told.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"session": session, "turn": turn, "text": text}, ensure_ascii=False) + "\n")
        return text

    def compaction(self, *, session: str, failed: bool, now: datetime) -> None:
        """A context was compacted."""
        note_compaction(session, home=self.home, failed=failed, now=now)

    def tool(self, *, session: str, tool: str, arguments: dict[str, Any], delegated: bool, now: datetime) -> str:
        """What a tool says to the model."""
        desk = ModelDesk(open_memory(self.home), session=session, delegated=delegated)
        run = {one.name: one.run for one in desk.tools()}[tool]
        return str(run(**arguments, now=now))


def main() -> None:
    """Answer until stdin ends."""
    peer = Peer(*map(Path, sys.argv[1:]))
    for line in sys.stdin:
        question = json.loads(line)
        number, verb = question.pop("id"), question.pop("verb")
        print(json.dumps({"id": number, "result": peer.answer(verb, question)}, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
