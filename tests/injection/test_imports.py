"""What a turn costs to start: a new process proves what is not imported (DESIGN The rooms, PERFORMANCE T11)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("pandas", "numpy", "matplotlib", "ipywidgets", "zstandard", "msgspec")


def modules_after(code, *args):
    script = f"import sys, json\n{code}\nprint(json.dumps(sorted(name for name in sys.modules if '.' not in name)))"
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, args)],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60,
    )  # fmt: skip
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_alone_costs_nothing_heavy():
    """DESIGN The rooms: `import selfnote` costs no pandas, numpy, matplotlib, ipywidgets, nor pydantic."""
    found = modules_after("import selfnote")
    assert not found & {*HEAVY, "pydantic", "filelock", "regex", "rapidfuzz", "typer", "rich", "tqdm"}


@pytest.mark.parametrize("kind", ["plain", "with_emoji_and_cut"])
def test_a_cold_compose_imports_nothing_of_the_notebook_or_the_sessions(build, fact, home, kind):
    """DESIGN The rooms: compose stays free of pandas, numpy, matplotlib, ipywidgets, zstandard, msgspec: sys.modules proves it."""
    text = "甲句" if kind == "plain" else "👩\u200d👩\u200d👧 家"
    build(l0=["我" * (20 if kind == "plain" else 90)], facts=[fact("f-1", text), fact("f-2", "机", channel="env")])
    found = modules_after(
        "import selfnote\n"
        "text = selfnote.compose_injection(sys.argv[1], session='s', turn=1)\n"
        "assert '本机事实：机' in text, text\n"
        "selfnote.note_compaction('s', home=sys.argv[1])\n"
        "assert selfnote.compose_injection(sys.argv[1], session='s', turn=2)",
        home,
    )
    assert not found & set(HEAVY)
    assert (home / "memory" / "hits.jsonl").exists()


def test_looking_at_the_injection_needs_no_pandas(build, fact, home):
    """DESIGN The rooms: why_not, profile and assemble are below audit."""
    build(facts=[fact("f-1", "甲")])
    found = modules_after(
        "import selfnote\n"
        "m = selfnote.open_memory(sys.argv[1])\n"
        "m.assemble(); m.profile(); m.why_not('f-1'); selfnote.assemble_injection(m)",
        home,
    )
    assert not found & set(HEAVY)
