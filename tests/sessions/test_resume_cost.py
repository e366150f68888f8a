"""Reading what was appended does not read the rest again."""

from __future__ import annotations

import json
import time
from pathlib import Path

import zstandard

from selfnote.sessions.log import SessionLog, read_new


def frame(lines: list[dict[str, object]]) -> bytes:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
    return zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compress(text)


def message(seq: int) -> dict[str, object]:
    content = [{"type": "text", "text": f"第 {seq} 句，说的是今天要做的事 {seq * 7919}"}]
    data = {"id": f"m-{seq}", "role": "user", "content": content, "source": {"kind": "user"}}
    return {"type": "user/message", "seq": seq, "time": 1_790_000_000_000 + seq, "data": data, "surfaceOp": "append"}


def test_reading_one_appended_frame_saves_what_the_seed_promised(tmp_path: Path):
    """S2-240, S2-241, S2-243: the seed measured 97 % saved on a long session."""
    log = tmp_path / "session.jsonl.zstd"
    header = {"type": "session", "version": 0, "id": "s", "createdAt": 1_790_000_000_000, "delegationDepth": 0}
    frames = [frame([header])]
    frames += [frame([message(seq) for seq in range(start, start + 20)]) for start in range(0, 20_000, 20)]
    log.write_bytes(b"".join(frames))
    begin = time.perf_counter()
    full = SessionLog(log)
    assert len(full.messages()) == 20_000
    whole = time.perf_counter() - begin

    _, point, _ = read_new(log, None)
    cheapest = whole
    for step in range(5):
        with log.open("ab") as stream:
            stream.write(frame([message(20_000 + step)]))
        begin = time.perf_counter()
        new, point, mode = read_new(log, point)
        cheapest = min(cheapest, time.perf_counter() - begin)
        assert (mode, [one.seq for one in new]) == ("appended", [20_000 + step])
        assert new[0].line == 20_002 + step
    assert cheapest < 0.03 * whole, (cheapest, whole)
