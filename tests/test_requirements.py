"""Every line of the sections built so far is cited by a test (its name or docstring)."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent

SECTIONS = {
    "transfer": range(270, 279),
    "tools": [*range(18, 38), 40, 41],
    # S2-146 is the doctor's.
    "corrections": [*range(142, 146), *range(147, 154)],
    "capture": range(176, 197),
    "summaries": range(246, 249),
    "profile": [*range(89, 92), 201],
    "attribution": range(96, 106),
    "notes": range(106, 126),
    "persona": range(126, 142),
    "facts": range(155, 168),
    "heat": range(168, 176),
    "injection": range(198, 228),
    "heartbeat": [228],
    "recall": range(230, 246),
}
IDS = sorted(
    {f"S2-{number:03d}" for section in SECTIONS.values() for number in section} | {f"EX-{n:03d}" for n in range(1, 9)}
)
DECISIONS = [
    "A-02",
    "A-02b",
    "A-02c",
    "A-02d",
    "A-06",
    "A-07",
    "A-08",
    "A-09",
    "A-09b",
    "A-10",
    "A-11",
    "A-11b",
    "A-12",
    "A-13",
    "A-14",
    "A-17",
    "A-27",
    "A-30",
    "A-31",
]


@cache
def cited() -> set[str]:
    """Requirement ids that stand in a test file, ``S2-096..100`` being all of them."""
    found: set[str] = set()
    for path in TESTS.rglob("test_*.py"):
        if path.name == Path(__file__).name:
            continue
        text = path.read_text(encoding="utf-8")
        found |= set(re.findall(r"\b(?:S2|EX)-\d{3}\b|\bA-\d{2}[a-d]?\b", text))
        for kind, first, last in re.findall(r"\b(S2|EX)-(\d{3})\.\.(\d{3})\b", text):
            found |= {f"{kind}-{number:03d}" for number in range(int(first), int(last) + 1)}
    return found


@pytest.mark.parametrize("wanted", [*IDS, *DECISIONS])
def test_a_test_cites(wanted: str):
    assert wanted in cited(), f"no test cites {wanted}"
