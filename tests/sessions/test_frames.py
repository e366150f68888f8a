"""Frames of a session log (EX-002, EX-008, complaint 52)."""

from __future__ import annotations

import itertools
import os
import tracemalloc

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from selfnote.sessions import frames


def read(data, **options):
    return b"".join(frames.read_text(data, **options))


def test_a_scan_finds_the_end_of_every_whole_frame(make):
    """EX-002"""
    parts = [make.frame(b"x" * size) for size in (0, 1, 1000, 300_000)]
    scan = frames.scan_frames(b"".join(parts))
    assert list(scan.starts) == [0, *itertools.accumulate(len(part) for part in parts[:-1])]
    assert (scan.end, scan.tail, scan.large) == (sum(map(len, parts)), "none", ())


@pytest.mark.parametrize("content_size", [0, 1, 255, 256, 65_791, 65_792, 1_000_000])
@pytest.mark.parametrize("checksum", [True, False])
def test_a_frame_that_declares_its_content_size_is_found_too(content_size, checksum):
    """RFC 8878, 3.1.1.1: content sizes of 0, 1, 2, 4 bytes, single segments, no checksum."""
    text = b"ab" * (content_size // 2) + b"c" * (content_size % 2)
    data = zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=True).compress(text)
    scan = frames.scan_frames(data * 2)
    assert (list(scan.starts), scan.end, scan.tail) == ([0, len(data)], 2 * len(data), "none")
    assert read(data * 2) == text * 2


def test_skippable_frames_are_passed_over(make):
    """EX-002"""
    data = b"".join(
        [
            make.skippable(kind=3),
            make.frame(b"a\n"),
            make.skippable(),
            make.skippable(b"", kind=15),
            make.frame(b"b\n"),
        ]
    )
    scan = frames.scan_frames(data)
    assert (len(scan.starts), scan.end, scan.tail) == (5, len(data), "none")
    assert read(data) == b"a\nb\n"


@given(cut=st.integers(min_value=0))
def test_a_cut_anywhere_leaves_the_whole_frames_before_it(scratch, cut):
    """Complaint 52: the last frame cut at every byte."""
    parts = [scratch.frame(b"first\n"), scratch.skippable(), scratch.frame(b"last " * 50)]
    data = b"".join(parts)
    cut %= len(data)
    ends = [0, *itertools.accumulate(map(len, parts))]
    scan = frames.scan_frames(data[:cut])
    assert scan.end == max(end for end in ends if end <= cut)
    assert scan.tail == ("none" if cut in ends else "torn")


@pytest.mark.parametrize("garbage", [b"garbage!", b"\0" * 64, b"{", b"\x28\xb5\x2e"])
def test_bytes_that_begin_no_frame_are_invalid_not_torn(make, garbage):
    """HARNESS 9"""
    whole = make.frame(b"a\n")
    scan = frames.scan_frames(whole + garbage)
    assert (scan.end, scan.tail) == (len(whole), "invalid")
    assert frames.find_tail_fault(whole + garbage, scan).offset == len(whole)


def test_the_scan_survives_any_bytes():
    @given(st.binary(max_size=200), st.booleans())
    def check(content, framed):
        data = frames.FRAME_MAGIC + content if framed else content
        scan = frames.scan_frames(data)
        assert 0 <= scan.end <= len(data)
        assert scan.tail != "none" or scan.end == len(data)

    check()


def test_a_bad_checksum_is_an_error_that_tells_which_frame(make):
    """PERFORMANCE 1"""
    first, second = make.frame(b"first\n"), make.frame(b"second\n")
    bad = first + second[:-1] + bytes([second[-1] ^ 0xFF]) + make.frame(b"third\n")
    with pytest.raises(frames.BadFrameError):
        read(bad)
    fault = frames.find_fault(bad, frames.scan_frames(bad))
    assert fault.offset == len(first)
    assert "checksum" in fault.reason


def bomb(blocks):
    """A frame of ``blocks`` runs of 128 KB of one byte: four bytes each on disk."""
    header = frames.FRAME_MAGIC + bytes([0x00, 0x58])  # a window of 2 MiB, no checksum
    block = (frames.BLOCK_LIMIT << 3 | 1 << 1).to_bytes(3, "little") + b"a"
    last = (frames.BLOCK_LIMIT << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"a"
    return header + block * (blocks - 1) + last


def test_a_zip_bomb_is_known_before_anything_is_decompressed():
    """EX-008: 1 GB in 32 KB is seen in the block headers."""
    data = bomb(8192)
    assert len(data) < 40_000
    assert frames.scan_frames(data).large == (0,)


def test_a_zip_bomb_is_never_decompressed_past_the_limit(make):
    """EX-008: the fault names the limit, the value and the frame."""
    before = make.frame(b"a\n")
    data = before + bomb(1024)
    limit = 4 * 1024 * 1024
    scan = frames.scan_frames(data, limit=limit)
    tracemalloc.start()
    fault = frames.find_fault(data, scan, only=scan.large, limit=limit)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert fault.offset == len(before)
    assert str(limit) in fault.reason
    assert peak < 8 * frames.READ_SIZE


def test_a_large_frame_below_the_limit_is_no_fault():
    """Many small blocks may only look too large."""
    data = bomb(16)
    scan = frames.scan_frames(data, limit=16 * frames.BLOCK_LIMIT - 1)
    assert scan.large == (0,)
    assert frames.find_fault(data, scan, only=scan.large, limit=16 * frames.BLOCK_LIMIT) is None


def test_text_comes_in_bounded_pieces(make):
    data = make.frame(b"0123456789" * 100_000)
    sizes = [len(piece) for piece in frames.read_text(data, read_size=4096)]
    assert max(sizes) <= 4096
    assert sum(sizes) == 1_000_000


def test_the_scan_agrees_with_the_real_decompressor(find_corpus):
    """The frame ends of a real log are those zstandard stops at."""
    data = find_corpus("session-cccccccc").read_bytes()
    scan = frames.scan_frames(data)
    ends, position = [], 0
    while position < len(data):
        decompressor = zstandard.ZstdDecompressor().decompressobj()
        decompressor.decompress(data[position:])
        position = len(data) - len(decompressor.unused_data)
        ends.append(position)
    assert [*scan.starts[1:], scan.end] == ends


@given(window=st.integers(1, 5000), cut=st.integers(0, 100), sizes=st.lists(st.integers(0, 4000), max_size=8))
def test_a_file_read_by_windows_is_read_like_one_read_at_once(scratch, window, cut, sizes):
    """PERFORMANCE T4: frames may be shorter or longer than a window, the last one torn."""
    parts = [scratch.frame(os.urandom(size)) for size in sizes]
    data = b"".join(parts)
    data = data[: len(data) - min(cut, len(data))]
    path = scratch.write(data, folder="windows")
    with path.open("rb") as file:
        text = frames.FramedText(file.fileno(), 0, len(data), window=window)
        content = b"".join(text.read())
    scan = frames.scan_frames(data)
    assert (text.end, bool(text.torn), text.fault) == (scan.end, scan.tail == "torn", None)
    assert content == read(data[: scan.end])


@pytest.mark.parametrize("window", [100, 5000, 10**6])
def test_a_fault_is_told_by_its_offset_in_the_file(make, window):
    parts = [make.frame(os.urandom(1000)) for _ in range(20)]
    parts[13] = parts[13][:-1] + bytes([parts[13][-1] ^ 1])
    path = make.write(parts)
    with path.open("rb") as file:
        text = frames.FramedText(file.fileno(), 0, path.stat().st_size, window=window)
        with pytest.raises(frames.BadFrameError) as caught:
            list(text.read())
    assert caught.value.fault.offset == sum(map(len, parts[:13]))


def test_a_large_frame_in_a_later_window_is_where_the_text_ends(make):
    """EX-008"""
    parts = [make.frame(os.urandom(1000)) for _ in range(5)]
    path = make.write([*parts, bomb(64), *parts])
    with path.open("rb") as file:
        text = frames.FramedText(file.fileno(), 0, path.stat().st_size, limit=1_000_000, window=1500)
        assert len(b"".join(text.read())) == 5000
    assert (text.end, text.fault.offset) == (sum(map(len, parts)), sum(map(len, parts)))
