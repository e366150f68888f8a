"""T6 and T7: a large memory as a DataFrame, assembling from 5,000 facts cold, and the heat of a million."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.memory import NOW, interleave, write_facts
from benchmarks.rows import Row

#: A line nobody can read, written after so many good ones.
_BAD_EVERY = 1000
_BAD_LINE = b"{torn\n"


def _seconds(*parts: Callable[[], object], rounds: int) -> list[float]:
    for part in parts:
        part()
    return interleave(*parts, rounds=rounds)


def measure_table() -> list[Row]:
    """T6: 100,000 facts, bad lines among them, as the typed frame ``facts``, against orjson and pandas alone."""
    import orjson
    import pandas as pd

    import selfnote

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / ".dsh"
        path = write_facts(home, 100_000)
        good = path.read_bytes().splitlines()
        lines = [line + b"\n" + (_BAD_LINE if number % _BAD_EVERY == 0 else b"") for number, line in enumerate(good)]
        path.write_bytes(b"".join(lines))
        memory = selfnote.open_memory(home, read_only=True)

        def plain() -> pd.DataFrame:
            rows, bad = [], []
            for number, line in enumerate(path.read_bytes().splitlines(), start=1):
                try:
                    rows.append(orjson.loads(line))
                except ValueError:
                    bad.append(number)
            return pd.DataFrame(rows)

        frame = memory.frames.facts(now=NOW)
        assert len(frame) == len(good) + frame["id"].isna().sum()
        assert frame["flag"].notna().sum() == len(good) // _BAD_EVERY
        ours, theirs = _seconds(lambda: memory.frames.facts(now=NOW), plain, rounds=5)
    return [_row("T6", "frames.facts() of 100k facts / orjson -> DataFrame", ours, theirs, 1.3)]


def measure_assembly() -> list[Row]:
    """T6: opening a memory of 5,000 facts and assembling its text, nothing cached, against orjson reading the file."""
    import orjson

    import selfnote

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / ".dsh"
        path = write_facts(home, 5000)

        def assemble() -> object:
            return selfnote.assemble_injection(selfnote.open_memory(home), now=NOW)

        def read() -> object:
            return [orjson.loads(line) for line in path.read_bytes().splitlines()]

        ours, theirs = _seconds(assemble, read, rounds=9)
    return [_row("T6", "5,000 facts: open + assemble cold / orjson reading the file", ours, theirs, 10.0)]


def measure_heat() -> list[Row]:
    """T7: the heat of a million facts, against log1p and exp2 of as many numbers alone."""
    import numpy as np

    from selfnote.audit.heat import heat

    count = 1_000_000
    random = np.random.default_rng(7)
    hits = random.integers(0, 500, count).astype(np.float64)
    importance = random.uniform(0, 3, count)
    days = random.uniform(0, 90, count)
    ours, theirs = _seconds(
        lambda: heat(hits, importance, days, 30.0), lambda: (np.log1p(hits), np.exp2(days)), rounds=21
    )
    return [_row("T7", "heat of 1M rows / log1p + exp2 alone", ours, theirs, 2.5)]


def _row(target: str, what: str, ours: float, other: float, limit: float) -> Row:
    return Row(target, what, ours / other, limit, f"{ours * 1e3:.3g} ms / {other * 1e3:.3g} ms")


def run() -> list[Row]:
    """T6 and T7."""
    return [*measure_table(), *measure_assembly(), *measure_heat()]


if __name__ == "__main__":
    rows = run()
    print("\n".join(map(str, rows)))
    sys.exit(0 if all(row.holds for row in rows) else 1)
