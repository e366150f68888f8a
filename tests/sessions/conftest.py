"""Logs made here line by line and frame by frame, and the real ones of the kit when they are there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import zstandard

from selfnote.sessions.frames import scan_frames

ROOT = Path(__file__).resolve().parents[2]
KIT = ROOT.parent / "shared" / "kit" / "harness"
DEMO = ROOT / "data-fixtures" / "demo-home" / "sessions"
TIME = 1_796_036_351_440  # 2026-11-30, the corpus's day
SESSION = "session-00000000-0000-4000-8000-000000000000"


class Lines:
    """The lines of a log, each with the next seq unless told otherwise."""

    def __init__(self, *, session=SESSION, **header):
        fields = {"type": "session", "version": 0, "id": session, "createdAt": TIME, "delegationDepth": 0, **header}
        self.seq = 0
        self.lines = [_encode({key: value for key, value in fields.items() if value is not ...})]

    def event(self, kind, data=None, *, seq=None, time=..., **envelope):
        seq = self.seq if seq is None else seq
        fields = {"type": kind, "seq": seq, "time": TIME + seq if time is ... else time, "data": data or {}}
        self.lines.append(_encode({**fields, **envelope}))
        self.seq = seq + 1
        return self

    def user(self, text, *, source=..., blocks=(), seq=None, **envelope):
        content = [{"type": "text", "text": text}, *blocks]
        data = {"id": f"m{self.seq}", "role": "user", "content": content, "source": {"kind": "user"}}
        if source is None:
            del data["source"]
        elif source is not ...:
            data["source"] = source
        return self.event("user/message", data, seq=seq, surfaceOp=envelope.pop("surfaceOp", "append"), **envelope)

    def assistant(self, text, *, blocks=(), seq=None):
        content = [*blocks, {"type": "text", "text": text}]
        source = {"kind": "model", "provider": "p", "model": "m"}
        message = {"id": f"m{self.seq}", "role": "assistant", "content": content, "source": source}
        data = {"turn": 1, "step": 1, "message": message}
        return self.event("assistant/message", data, seq=seq, surfaceOp="append")

    def packed(self, pieces, *, kind="text-chunks", dt=None, **data):
        key = "args" if kind == "tool-call-chunks" else "texts"
        steps = [5] * (len(pieces) - 1) if dt is None else dt
        fields = {"turn": 1, "step": 1, "index": 0, **data, "dt": steps, key: list(pieces)}
        self.lines.append(_encode({"type": kind, "seq0": self.seq, "time0": TIME + self.seq, "data": fields}))
        self.seq += len(pieces)
        return self

    def raw(self, line, *, seqs=0):
        self.lines.append(line)
        self.seq += seqs
        return self

    def plain(self):
        return b"".join(line + b"\n" for line in self.lines)

    def frames(self, *, each=1):
        """The header's frame, then frames of ``each`` lines."""
        bodies = [self.lines[start : start + each] for start in range(1, len(self.lines), each)]
        return [frame(b"".join(line + b"\n" for line in body)) for body in [self.lines[:1], *bodies]]


def _encode(fields):
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def frame(text, *, level=3):
    """One frame as the harness writes it: a checksum, no content size."""
    compressor = zstandard.ZstdCompressor(level=level, write_checksum=True, write_content_size=False).compressobj()
    return compressor.compress(text) + compressor.flush()


def skippable(content=b"not for us", *, kind=0):
    return bytes([0x50 + kind]) + b"\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content


class Maker:
    """Puts logs into a folder of their own."""

    SESSION, TIME = SESSION, TIME
    Lines = Lines
    frame = staticmethod(frame)
    skippable = staticmethod(skippable)

    def __init__(self, folder):
        self.folder = folder

    def write(self, content, *, name="session.jsonl.zstd", folder="s"):
        path = self.folder / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else b"".join(content))
        return path


@pytest.fixture
def make(tmp_path):
    return Maker(tmp_path)


@pytest.fixture(scope="session")
def scratch(tmp_path_factory):
    """A folder for hypothesis, which runs one test body many times."""
    return Maker(tmp_path_factory.mktemp("logs"))


def _flip(data, place):
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


#: How the kit's damaged copies were made: the whole log and where its frames start and end -> the damaged bytes.
DAMAGES = {
    "torn-mid-last-frame": lambda data, at: data[: (at[-2] + at[-1]) // 2],
    "torn-mid-middle-then-nothing": lambda data, at: data[: sum(at[(len(at) - 1) // 2 : (len(at) - 1) // 2 + 2]) // 2],
    "torn-3-bytes-of-last-frame": lambda data, at: data[: at[-2] + 3],
    "torn-in-header-frame": lambda data, at: data[: at[1] // 2],
    "clean-prefix": lambda data, at: data[: at[-2]],
    "corrupt-byte-in-middle-frame": lambda data, at: _flip(
        data, sum(at[(len(at) - 1) // 2 : (len(at) - 1) // 2 + 2]) // 2
    ),
    "bad-checksum-last-frame": lambda data, at: _flip(data, at[-1] - 1),
    "trailing-garbage": lambda data, _: data + b"garbage!",
    "empty-file": lambda *_: b"",
}


@pytest.fixture(scope="session")
def find_corpus(tmp_path_factory):
    """The log of a corpus session by the beginning of its folder's name.

    Without the kit: the copy in the demo memory, its damaged forms made anew; only the 10 MB log skips the test.
    """

    def damaged(beginning, case):
        whole = next(path for path in DEMO.rglob("session.jsonl.zstd") if path.parent.name.startswith(beginning))
        data = whole.read_bytes()
        scan = scan_frames(data)
        path = tmp_path_factory.mktemp(case) / whole.parent.name / whole.name
        path.parent.mkdir()
        path.write_bytes(DAMAGES[case](data, [*scan.starts, scan.end]))
        return path

    def find(beginning, *, part="corpus/sessions"):
        case = part.removeprefix("corpus/torn/")
        if case in DAMAGES and not (KIT / part).is_dir():
            return damaged(beginning, case)
        for root in (KIT / part, DEMO if part.startswith("corpus/sessions") else KIT / part):
            for path in sorted(root.rglob("session.jsonl*")) if root.is_dir() else []:
                if path.parent.name.startswith(beginning):
                    return path
        return pytest.skip(f"the kit's {part} is not here")

    return find
