"""What reading session logs costs: PERFORMANCE T1, T2, T4 and T5, as ratios of one interleaved run.

The kit's real log is measured when it is there, and longer ones made of its frames with the seqs renumbered;
``BENCH_LARGE=1`` adds one of 150 MB. Sizes are those on disk.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import zstandard

from benchmarks.rows import Row
from selfnote.sessions import frames
from selfnote.sessions.log import SessionLog, read_new

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "kit" / "harness" / "corpus-large"
ROUNDS = 9
RESUMES = 200
MEGABYTE = 1_000_000
#: Bytes of memory a reading may take beside the compressed log (T4).
MEMORY_ALLOWANCE = 32 * 1024 * 1024
READ_SIZE = 128 * 1024

_SEQ = re.compile(rb'("seq0?":)(\d+)')
_MEASURE_PEAK = """
import sys
from selfnote.sessions import events, frames
from selfnote.sessions.log import SessionLog
import zstandard
def status(name):
    for line in open("/proc/self/status"):
        if line.startswith(name):
            return int(line.split()[1]) * 1024
before = status("VmRSS")
SessionLog(sys.argv[1]).messages()
print(status("VmHWM") - before)
"""


def run() -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        base = find_base(folder)
        logs = [("real" if CORPUS in base.parents else "made", base)]
        logs.append(("15 MB", make_log(base, folder / "15.zstd", 15 * MEGABYTE)))
        if os.environ.get("BENCH_LARGE") == "1":
            logs.append(("150 MB", make_log(base, folder / "150.zstd", 150 * MEGABYTE)))
        for label, log in logs:
            rows += measure_full_reads(label, log)
        rows += measure_memory(*logs[-1])
        rows += measure_resumes(folder, base, logs)
    return rows


def measure_full_reads(label: str, log: Path) -> list[Row]:
    def full() -> None:
        assert SessionLog(log).messages()

    ways = {"full": full, "orjson": lambda: read_with_orjson(log), "stream": lambda: decompress(log)}
    peer = find_peer(log)
    if peer is not None:
        ways["agent-trajviz"] = peer
    times = interleave(ways)
    detail = ", ".join(f"{name} {seconds * 1000:.1f} ms" for name, seconds in times.items())
    third = [
        Row("T3", f"3 x full parse / agent-trajviz, {label}", 3 * times["full"] / times["agent-trajviz"], 1.0, detail)
    ]
    return [
        *(third if peer else []),
        Row("T1", f"full parse / (decompress + orjson), {label}", times["full"] / times["orjson"], 1.0, detail),
        Row("T2", f"full parse / decompress, {label}", times["full"] / times["stream"], 3.5, detail),
    ]


def find_peer(log: Path) -> Callable[[], None] | None:
    """The same log read by agent-trajviz, which makes a dict of every event; None where it is not there or refuses it.

    It takes neither more than 64 MiB of text nor a name that is not the harness's.
    """
    try:
        from agent_trajviz.insight.formats.dsh_native import native_events
    except ImportError:
        return None
    path = str(log.with_name("session.jsonl.zstd"))

    def read() -> None:
        assert native_events(log.read_bytes(), path)

    try:
        read()
    except Exception as error:  # noqa: BLE001 - a peer's limits are its own
        print(f"agent-trajviz does not read {log.name}: {error}")
        return None
    return read


def measure_memory(label: str, log: Path) -> list[Row]:
    if not Path("/proc/self/status").exists():
        return []
    command = [sys.executable, "-c", _MEASURE_PEAK, str(log)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    peak, size = int(done.stdout), log.stat().st_size
    detail = f"peak {peak / MEGABYTE:.1f} MB over imports, log {size / MEGABYTE:.1f} MB"
    return [Row("T4", f"peak memory / (log + 32 MB), {label}", peak / (size + MEMORY_ALLOWANCE), 1.0, detail)]


def measure_resumes(folder: Path, base: Path, logs: list[tuple[str, Path]]) -> list[Row]:
    small = make_log(base, folder / "1.zstd", MEGABYTE)
    label, large = logs[-1]
    middle = next(log for name, log in logs if name == "15 MB")
    resumes = {log: prepare_resume(log) for log in {small, middle, large}}
    samples: dict[Path, list[float]] = {log: [] for log in resumes}
    for _ in range(RESUMES):
        for log, resume in resumes.items():
            samples[log].append(timed(resume))
    cost = {log: statistics.median(seconds) for log, seconds in samples.items()}
    full = statistics.median(timed(lambda: SessionLog(middle).messages()) for _ in range(ROUNDS))
    return [
        Row(
            "T5",
            "one appended frame / full parse, 15 MB",
            cost[middle] / full,
            1 / 200,
            f"{cost[middle] * 1e6:.0f} us of {full * 1000:.1f} ms",
        ),
        Row(
            "T5",
            f"one appended frame, {label} / 1 MB",
            cost[large] / cost[small],
            1.5,
            f"{cost[large] * 1e6:.0f} us, {cost[small] * 1e6:.0f} us",
        ),
    ]


def prepare_resume(log: Path) -> Callable[[], None]:
    """Append one message's frame to a copy of the log; gives the reading of it."""
    copy = log.with_suffix(".resumed")
    copy.write_bytes(log.read_bytes())
    point = read_new(copy, None).point
    assert point is not None
    data = {"id": "m", "content": [{"type": "text", "text": "以后回答先给结论"}], "source": {"kind": "user"}}
    event = {"type": "user/message", "seq": point.next_seq, "time": 1_796_036_351_440, "data": data}
    with copy.open("ab") as file:
        file.write(compress(json.dumps(event, ensure_ascii=False).encode() + b"\n"))

    def resume() -> None:
        found = read_new(copy, point)
        assert found.mode == "appended"
        assert len(found.messages) == 1

    return resume


def read_with_orjson(log: Path) -> None:
    import orjson

    rest = b""
    for piece in stream(log):
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()
        for line in lines:
            orjson.loads(line)


def decompress(log: Path) -> None:
    for _ in stream(log):
        pass


def stream(log: Path) -> Iterator[bytes]:
    with log.open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        while piece := reader.read(READ_SIZE):
            yield piece


def interleave(jobs: dict[str, Callable[[], None]]) -> dict[str, float]:
    """The median seconds of each job, one of each in every round."""
    samples: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(ROUNDS + 1):
        for name, job in jobs.items():
            samples[name].append(timed(job))
    return {name: statistics.median(seconds[1:]) for name, seconds in samples.items()}


def timed(job: Callable[[], object]) -> float:
    started = time.perf_counter()
    job()
    return time.perf_counter() - started


def find_base(folder: Path) -> Path:
    """The kit's real log, or a made one of about its size."""
    for path in CORPUS.rglob("session.jsonl.zstd"):
        return path
    path = folder / "base.zstd"
    with path.open("wb") as file:
        file.write(compress(b'{"type":"session","version":0,"id":"made","createdAt":1796036351440}\n'))
        seq = 0
        for turn in range(1000):
            lines, seq = make_turn(turn, seq)
            file.write(compress(lines))
    return path


def make_turn(turn: int, seq: int) -> tuple[bytes, int]:
    noise = os.urandom(3000).hex()
    said = [f"第 {turn} 步 {noise[start : start + 12]}" for start in range(0, 2400, 12)]
    events = [
        {
            "type": "user/message",
            "data": {"content": [{"type": "text", "text": f"看 {turn}"}], "source": {"kind": "user"}},
        },
        {"type": "text-chunks", "data": {"dt": [3] * (len(said) - 1), "texts": said}},
        {"type": "tool/result", "data": {"message": {"content": [{"type": "text", "text": noise * 3}]}}},
        {"type": "assistant/message", "data": {"message": {"content": [{"type": "text", "text": "".join(said)}]}}},
    ]
    lines = []
    for event in events:
        mark = "0" if event["type"] == "text-chunks" else ""
        data = event["data"]
        line = {"type": event["type"], f"seq{mark}": seq, f"time{mark}": 1_796_036_351_440 + seq, "data": data}
        lines.append(json.dumps(line, ensure_ascii=False))
        seq += len(said) if mark else 1
    return ("\n".join(lines) + "\n").encode(), seq


def make_log(base: Path, path: Path, size: int) -> Path:
    """A log of about ``size`` bytes: the base's frames over and over, with seqs that go on."""
    data = base.read_bytes()
    scan = frames.scan_frames(data)
    ends = [*scan.starts[1:], scan.end]
    texts = [b"".join(frames.read_text(data[a:b])) for a, b in zip(scan.starts, ends, strict=True)]
    length = SessionLog(base).event_count
    written = 0
    with path.open("wb") as file:
        written += file.write(data[: ends[0]])
        for repeat in range(10_000):
            for text in texts[1:]:
                if written >= size:
                    return path
                written += file.write(compress(renumber(text, repeat * length)))
    return path


def renumber(text: bytes, shift: int) -> bytes:
    """The lines with their own seq shifted; only the first on a line is the line's own."""
    if not shift:
        return text
    return b"\n".join(
        _SEQ.sub(lambda match: match[1] + b"%d" % (int(match[2]) + shift), line, count=1) for line in text.split(b"\n")
    )


def compress(text: bytes) -> bytes:
    """One frame as the harness writes it: a checksum, no content size."""
    compressor = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compressobj()
    return compressor.compress(text) + compressor.flush()


if __name__ == "__main__":
    for row in run():
        print(row)
