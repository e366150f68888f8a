"""T10 to T12: writers at once, the price of an import and of a turn, and composing from a large memory."""

from __future__ import annotations

import json
import multiprocessing
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.rows import Row

ROUNDS = 9
NOW = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
_SYLLABLES = "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰余成岁律吕调阳云腾致雨露结为霜金生丽水玉出昆冈"


def write_facts(home: Path, count: int) -> Path:
    """A home with ``count`` approved facts of the length and shape real ones have."""
    memory = home / "memory"
    memory.mkdir(parents=True, exist_ok=True)
    lines = []
    for number in range(count):
        text = "".join(_SYLLABLES[(number * 7 + place * place) % len(_SYLLABLES)] for place in range(20 + number % 40))
        at = (NOW - timedelta(days=number % 90)).isoformat().replace("+00:00", "Z")
        lines.append(
            json.dumps(
                {
                    "id": f"f-{number:012x}",
                    "text": text,
                    "channel": "env" if number % 3 == 0 else "rel",
                    "status": "approved",
                    "tags": [["语言", "风格", "工具", "流程"][number % 4]],
                    "source": f"session-{number % 40}#{number}",
                    "reason": "convention",
                    "importance": 1.0,
                    "occurrences": 1,
                    "sources": [f"session-{number % 40}#{number}"],
                    "similarTo": [],
                    "flags": [],
                    "hitCount": number % 17,
                    "lastHit": at,
                    "seenCount": 0,
                    "lastSeen": None,
                    "createdAt": at,
                    "approvedAt": at,
                    "history": [{"at": at, "via": "settings", "from": "candidate", "to": "approved"}],
                },
                ensure_ascii=False,
            )
        )
    path = memory / "facts.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def interleave(*parts: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Median seconds of each part, the parts run in turn so that drift hits all alike."""
    times: list[list[float]] = [[] for _ in parts]
    for _ in range(rounds):
        for place, part in enumerate(parts):
            begin = time.perf_counter()
            part()
            times[place].append(time.perf_counter() - begin)
    return [statistics.median(one) for one in times]


def _python(code: str) -> Callable[[], object]:
    def run() -> None:
        subprocess.run([sys.executable, "-c", code], check=True)

    return run


def _row(target: str, what: str, ours: float, other: float, limit: float) -> Row:
    return Row(target, what, ours / other, limit, f"{ours * 1e3:.0f} ms / {other * 1e3:.0f} ms")


def measure_imports() -> list[Row]:
    """T11: what an import, a cold compose and an unchanged turn cost."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / ".dsh"
        write_facts(home, 90)
        cold = f"import selfnote; selfnote.compose_injection({str(home)!r}, session='bench')"
        _python(cold)()
        bare, light, pydantic, turn = interleave(
            _python("pass"), _python("import selfnote"), _python("import pydantic; pydantic.BaseModel"), _python(cold)
        )
        import selfnote

        def many() -> None:
            for _ in range(1000):
                selfnote.compose_injection(str(home), session="bench")

        many()
        (unchanged,) = interleave(many)
    return [
        _row("T11", "import selfnote / python -c pass", light, bare, 1.5),
        _row("T11", "cold compose, kept choice / import pydantic.BaseModel", turn, pydantic, 2.0),
        Row("T11", "unchanged turn / 100 us", unchanged * 10, 1.0, f"{unchanged * 1e3:.0f} us a call"),
    ]


def measure_large_memory() -> list[Row]:
    """T12: composing from 5,000 facts after the file changed, in a warm process, against parsing it."""
    import selfnote
    from selfnote.injection.compose import composer_of
    from selfnote.records.fact_lines import Fact

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / ".dsh"
        path = write_facts(home, 5000)
        data = path.read_bytes()
        selfnote.compose_injection(str(home), session="bench", now=NOW)
        rewritten = path.read_bytes()

        def parse() -> None:
            for line in path.read_bytes().splitlines():
                Fact.model_validate_json(line)

        def compose() -> None:
            composer_of(str(home)).compose(session="bench", now=NOW)

        def change() -> None:
            path.write_bytes(rewritten if path.stat().st_size == len(data) else data)

        times: list[tuple[float, float]] = []
        for _ in range(ROUNDS):
            change()
            times.append(tuple(interleave(parse, compose, rounds=1)))  # type: ignore[arg-type] # two parts, two times
        parsed, composed = (statistics.median(column) for column in zip(*times, strict=True))
    return [_row("T12", "compose from 5,000 facts, file changed / parse the file", composed, parsed, 2.0)]


def _write_ten(home: str, worker: int) -> None:
    import selfnote

    memory = selfnote.open_memory(home)
    for number in range(10):
        # Words of one worker share nothing with those of another: no fact is a near of another's.
        word = "".join(_SYLLABLES[(worker * 11 + number * 5 + place * 3) % len(_SYLLABLES)] for place in range(12))
        memory.facts.stage(f"{word}{worker:02d}x{number}", source=f"session-{worker}#{number}", now=NOW)


def measure_writers() -> list[Row]:
    """T10: 36 processes stage ten candidates each; the share that was lost."""
    import selfnote

    with tempfile.TemporaryDirectory() as folder:
        home = str(Path(folder) / ".dsh")
        context = multiprocessing.get_context("spawn")
        begin = time.perf_counter()
        workers = [context.Process(target=_write_ten, args=(home, worker)) for worker in range(36)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        took = time.perf_counter() - begin
        facts = selfnote.open_memory(home).facts
        kept = {source for fact in facts.all() for source in fact.sources}
        lost = 360 - len(kept) + len(facts.bad_lines())
    return [Row("T10", "updates 36 writers lost", float(lost), 0.0, f"{len(kept)} of 360 kept, {took:.0f} s")]


def run() -> list[Row]:
    """All rows of this module."""
    return [*measure_writers(), *measure_imports(), *measure_large_memory()]
