"""`make bench`: the targets as ratios of one run, as a table; `--json` for a script.

Machines are noisy: compare the ratios, not the milliseconds.
"""

from __future__ import annotations

import dataclasses
import json
import platform
import sys
from datetime import UTC, datetime

from benchmarks import frames, memory, recall, sessions
from benchmarks.rows import Row


def print_table(rows: list[Row]) -> None:
    """The rows as a Markdown table, as it stands in the README."""
    print(f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {platform.machine()}\n")
    print("| target | what | ratio | at most | seen | holds |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row.target} | {row.what} | {row.ratio:.4g} | {row.limit:.4g} | {row.detail} | "
            f"{'yes' if row.holds else 'NO'} |"
        )


def main() -> int:
    """Measure, print, and exit with 1 when a target is missed."""
    rows = [*sessions.run(), *memory.run(), *frames.run(), *recall.run()]
    if "--json" in sys.argv:
        print(json.dumps([{**dataclasses.asdict(row), "holds": row.holds} for row in rows], ensure_ascii=False))
    else:
        print_table(rows)
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
