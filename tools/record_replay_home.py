"""Record the replay fixture: the real harness asks selfnote for its text over 21 turns, and its logs are kept.

The harness (`dsh`) is the kit's: ``install.sh`` puts it into a folder of one's own, the kit's scripted model answers it.
``replay_bridge.mjs`` runs inside it, ``replay_peer.py`` beside it, and this script is the owner in between. The logs
keep our text byte for byte; the harness's own is left out as in the demo home. See data-fixtures/replay-home.md.

    bash ../shared/kit/harness/install.sh RUNTIME
    python tools/record_replay_home.py --runtime RUNTIME [--kit DIR] [--out DIR]
"""

from __future__ import annotations

import argparse
import bisect
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import replay_content as content
from build_demo_home import SYSTEM_PLACEHOLDER, ZONE, at, encode_frame, leave_out_prompts, read_frames

from selfnote import open_memory
from selfnote.harness.tools import ModelDesk
from selfnote.home import MemoryHome
from selfnote.memory import Memory
from selfnote.records.ledger import read_hits

TOOLS = Path(__file__).resolve().parent
ROOT = TOOLS.parent
DEFAULT_OUT = ROOT / "data-fixtures" / "replay-home"
DEFAULT_KIT = ROOT.parent / "shared" / "kit" / "harness"
#: Seconds one process of the harness may take.
PATIENCE = 60.0
#: The tools the model is offered.
OFFERED = ("self_note", "memory_search")
#: What the fixture keeps of the harness's home; the rest is its own settings.
KEPT = ("memory", "selfnote", "sessions")
#: Stands where the harness told its owner how a command ended.
OUTCOME_PLACEHOLDER = "[the harness's own sentence on how the command ended, left out of this fixture]"
#: A step's first event of its own: its time becomes the step's instant.
_ANCHORS = ("turn/start", "command/run")


# --- the owner ----------------------------------------------------------------------------------------
class Owner:
    """What is done to the memory before the first turn and between turns, each act with its instant."""

    def __init__(self, root: Path) -> None:
        self.memory: Memory = open_memory(root)
        self.keys: dict[str, str] = {}

    def begin(self) -> None:
        """The memory as it was before the first turn."""
        self.memory.config.save(tz=str(ZONE))
        self.memory.persona.save(l0=content.L0, l1=content.L1, l2=content.L2)
        for when, tier, pinned, text in content.NOTES:
            self.memory.notes.add(text, tier=tier, pinned=pinned, now=at(when))
        moments = [(at(one.staged), 0, one) for one in content.FACTS]
        moments += [(at(one.approved), 1, one) for one in content.FACTS if one.approved is not None]
        for now, kind, planned in sorted(moments, key=lambda moment: moment[:2]):
            if kind:
                self.approve(planned.key, now=now)
            else:
                staged = self.memory.facts.add(
                    planned.text, channel=planned.channel, tags=planned.tags, detail=planned.detail,
                    reason=planned.reason, via="panel", now=now,
                )  # fmt: skip
                self.keys[planned.key] = staged.id
                if planned.importance != 1.0:
                    self.memory.facts.set_importance(staged.id, planned.importance, via="panel", now=now)
        for when, key in content.RETIRED:
            self.retire(key, now=at(when))

    def approve(self, key: str, *, now: datetime) -> None:
        """Approve a candidate."""
        self.memory.facts.approve(self.keys[key], via="panel", now=now)

    def retire(self, key: str, *, now: datetime) -> None:
        """Retire a fact."""
        self.memory.facts.retire(self.keys[key], via="panel", now=now)

    def edit(self, key: str, text: str, *, now: datetime) -> None:
        """Reword a fact."""
        self.memory.facts.edit(self.keys[key], text=text, via="panel", now=now)

    def stage_said(self, key: str, text: str, tags: tuple[str, ...], reason: Any, *, now: datetime) -> None:
        """Keep a sentence the owner has just typed, with its source in the log."""
        messages = [one for log in self.memory.sessions.read_all() for one in log.messages() if one.by_owner]
        said = next(one for one in messages if text in one.text)
        sha = hashlib.sha256(said.text.encode()).hexdigest()
        staged = self.memory.facts.stage(
            text, source=said.source, source_sha=sha, tags=tags, reason=reason, capture_source="listener", now=now
        )
        self.keys[key] = staged.id

    def config(self, changes: dict[str, Any], *, now: datetime) -> None:  # noqa: ARG002 - every act is given its instant
        """Change settings."""
        self.memory.config.save(**changes)

    def persona(self, parts: dict[str, str], *, now: datetime) -> None:  # noqa: ARG002 - every act is given its instant
        """Save the persona."""
        self.memory.persona.save(**parts)

    def habit(self, tag: str, text: str, *, now: datetime) -> None:
        """Make a habit of a tag."""
        self.memory.habits.promote(tag, text, now=now)


# --- the harness --------------------------------------------------------------------------------------
class Harness:
    """The real harness below one scratch folder, and where each step began in its logs.

    Parameters
    ----------
    runtime
        The folder the kit's ``install.sh`` filled.
    kit
        The folder that holds ``mock_llm.py``.
    folder
        A scratch folder; the memory and the logs come to lie in ``folder/dsh``.
    """

    def __init__(self, runtime: Path, kit: Path, folder: Path) -> None:
        self.runtime = runtime
        self.kit = kit
        self.folder = folder
        self.root = folder / "dsh"
        self.clock = folder / "clock"
        self.told = folder / "told.jsonl"
        self.marks: dict[str, list[tuple[int, datetime]]] = defaultdict(list)
        for one in (folder / "home", folder / "work", self.root):
            one.mkdir()

    def play(self, run: content.Run, owner: Owner) -> None:
        """Play one process of the harness from its first step to its last."""
        log = next(self.root.glob(f"sessions/*/{run.session}/session.jsonl.zstd"), None)
        count = owner.memory.sessions.open(run.session).event_count if log else 0
        first = {"resume": run.session} if run.resume else {"open": {"session": run.session, "cwd": content.CWD}}
        self.set_clock(at(run.steps[0].at))
        with self._model(run) as address, self._process(address) as ask:
            ask(first)
            for step in run.steps:
                now = at(step.at)
                if isinstance(step, content.Act):
                    getattr(owner, step.verb)(*step.values, now=now)
                    continue
                self.set_clock(now)
                self.marks[run.session].append((count, now))
                answer = ask({"user": step.text} if isinstance(step, content.Say) else {"command": "/compact"})
                print(f"{step.at}  {answer}")
                assert _went_well(step, answer["ended"]), f"{step}: {answer}"
                count = answer["seq"]
            ask({"close": True})

    def set_clock(self, now: datetime) -> None:
        """Let it be this instant for the peer."""
        self.clock.write_text(now.isoformat(), encoding="utf-8")

    @contextmanager
    def _model(self, run: content.Run) -> Iterator[str]:
        """The kit's scripted model; its address."""
        script = self.folder / "script.json"
        script.write_text(json.dumps({"rules": _rules(run)}, ensure_ascii=False), encoding="utf-8")
        command = [sys.executable, str(self.kit / "mock_llm.py"), "--port", "0", "--script", str(script)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - the kit's own script
            try:
                assert process.stdout is not None
                yield json.loads(process.stdout.readline())["ready"]
            finally:
                process.kill()

    @contextmanager
    def _process(self, address: str) -> Iterator[Any]:
        """The harness with our bridge in it; a function that lets it play one step and gives its answer."""
        patch = self.folder / "replay.patch.yml"
        patch.write_text(json.dumps(self._patch(), ensure_ascii=False), encoding="utf-8")
        program = self.runtime / "rc8/node_modules/@deepseek-ai/dsh/lib/bin.js"
        node = self.runtime / "node_modules/.bin"
        environment = {
            "PATH": f"{node}:{os.environ['PATH']}",
            "HOME": str(self.folder / "home"),
            "DSH_HOME": str(self.root),
            "DEEPSEEK_BASE_URL": address,
            "DEEPSEEK_API_KEY": "mock-key",
            "DSH_TELEMETRY_DISABLED": "1",
            "DSH_PERMISSION_MODE": "danger-full-access",
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
        }
        command = [str(node / "node"), str(program), "--profile", "headless", "--patch", str(patch)]
        with subprocess.Popen(  # noqa: S603 - the harness the caller names
            command, cwd=self.folder / "work", env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            stdin, stdout = process.stdin, process.stdout

            def ask(step: dict[str, Any]) -> dict[str, Any]:
                stdin.write(json.dumps(step, ensure_ascii=False) + "\n")
                stdin.flush()
                for line in stdout:
                    if line.startswith('{"step":"done"'):
                        return dict(json.loads(line))
                    print(line, end="", file=sys.stderr)
                message = f"the harness ended (code {process.wait()}) before it had played {step}"
                raise RuntimeError(message)

            watchdog = threading.Timer(PATIENCE, process.kill)
            watchdog.start()
            try:
                yield ask
                assert process.wait() == 0, f"the harness ended with code {process.returncode}"
            finally:
                watchdog.cancel()
                process.kill()

    def _patch(self) -> list[dict[str, Any]]:
        """What the harness's headless profile is changed by: our bridge in the place of its one-shot runner."""
        offered = ModelDesk(open_memory(self.root)).tools()
        config = {
            "packages": str(self.runtime / "rc8/node_modules/@deepseek-ai"),
            "peer": [
                sys.executable,
                "-u",
                str(TOOLS / "replay_peer.py"),
                *map(str, (self.root, self.clock, self.told)),
            ],
            "tools": [one._replace(run=None)._asdict() for one in offered if one.name in OFFERED],
        }
        bridge = {"id": "selfnote-replay", "name": (TOOLS / "replay_bridge.mjs").as_uri(), "config": config}
        return [
            {"id": "headless-startup", "disabled": True},
            {"id": "headless-runner", "disabled": True},
            {"insert": [bridge]},
        ]


def _went_well(step: content.Say | content.Compact, ended: Any) -> bool:
    """Whether a step ended as the script wants it."""
    if isinstance(step, content.Say):
        return bool(ended["kind"] == "completed")
    return bool((ended["kind"] == "success") == (step.summary is not None))


def _rules(run: content.Run) -> list[dict[str, Any]]:
    """The answers of the scripted model in one process."""
    rules: list[dict[str, Any]] = []
    for step in run.steps:
        match step:
            case content.Compact(summary=None):
                error = {"status": 400, "text": "no room for a summary", "code": "invalid_request"}
                rules.insert(0, {"when": {"last_text": "acting as a compaction engine"}, "reply": error})
            case content.Compact(summary=summary):
                rules.insert(0, {"when": {"last_text": "acting as a compaction engine"}, "reply": {"text": summary}})
            case content.Say():
                asked = {"last_user": re.escape(step.text), "tools": True}
                if step.tool is not None:
                    call = {"name": step.tool[0], "arguments": step.tool[1]}
                    rules.append({"when": {**asked, "last_role": "user"}, "reply": {"tool_calls": [call]}})
                rules.append({"when": asked, "reply": {"text": step.reply}})
    return [*rules, {"when": {"tools": False}, "reply": {"text": "气象站值班"}}]


# --- the logs -----------------------------------------------------------------------------------------
def rewrite_log(raw: bytes, marks: list[tuple[int, datetime]], told: set[str]) -> bytes:
    """A log moved to the scripted instants and without the harness's own prose, frame by frame.

    Parameters
    ----------
    raw
        The log as the harness wrote it.
    marks
        (first seq, instant) of every step, in order.
    told
        Every text of ours that may stand in its prompts.
    """
    frames = [[json.loads(line) for line in frame.splitlines()] for frame in read_frames(raw)]
    starts = [first for first, _ in marks]
    anchors: dict[int, int] = {}
    for event in _events(frames):
        if event["type"] in _ANCHORS:
            anchors.setdefault(_step_of(event, starts), event["time"])
    shifts = [int(now.timestamp() * 1000) - anchors[step] for step, (_, now) in enumerate(marks)]
    frames[0][0]["createdAt"] += shifts[0]
    before = frames[0][0]["createdAt"]
    for event in _events(frames):
        key = "time" if "time" in event else "time0"
        event[key] += shifts[_step_of(event, starts)]
        assert event[key] >= before, f"{event['type']} at {event[key]} would be earlier than the event before it"
        before = event[key]
        ours = _our_text(event, told) if event["type"] == "request/header" else None
        leave_out_prompts(event)
        if event["type"] == "command/done":
            event["data"]["text"] = OUTCOME_PLACEHOLDER
        if ours is not None:
            event["data"]["header"]["system"] = f"{SYSTEM_PLACEHOLDER}\n\n{ours}"
    lines = ([json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in frame] for frame in frames)
    return b"".join(encode_frame("".join(f"{line}\n" for line in frame).encode()) for frame in lines)


def _events(frames: list[list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    return (event for frame in frames for event in frame if event["type"] != "session")


def _step_of(event: dict[str, Any], starts: list[int]) -> int:
    return bisect.bisect_right(starts, event.get("seq", event.get("seq0"))) - 1


def _our_text(event: dict[str, Any], told: set[str]) -> str:
    """Our text in a logged prompt: its end, exactly as it was given."""
    system: str = event["data"]["header"]["system"]
    found = [text for text in told if text and system.endswith(f"\n\n{text}")]
    assert found, f"the prompt at seq {event['seq']} does not end with a text of ours"
    return max(found, key=len)


# --- the fixture --------------------------------------------------------------------------------------
def record(runtime: Path, kit: Path, out: Path) -> None:
    """Record everything and put it at ``out``, which is replaced when everything went as scripted."""
    with tempfile.TemporaryDirectory(prefix="selfnote-replay-") as name:
        folder = Path(name)
        harness = Harness(runtime, kit, folder)
        owner = Owner(harness.root)
        owner.begin()
        for run in content.RUNS:
            harness.play(run, owner)
        told: dict[str, set[str]] = defaultdict(set)
        for line in harness.told.read_text(encoding="utf-8").splitlines():
            given = json.loads(line)
            told[given["session"]].add(given["text"])
        for path in harness.root.glob("sessions/*/*/session.jsonl.zstd"):
            session = path.parent.name
            path.write_bytes(rewrite_log(path.read_bytes(), harness.marks[session], told[session]))
        check_causes(harness.root)
        made = folder / "made"
        for kept in KEPT:
            shutil.copytree(harness.root / kept, made / kept, ignore=shutil.ignore_patterns("*.lock", ".lock"))
        for path in (made, *made.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        check_places(made, (folder, runtime, ROOT))
        if out.exists():
            shutil.rmtree(out)
        shutil.copytree(made, out)


def check_places(made: Path, folders: tuple[Path, ...]) -> None:
    """Refuse a recording that tells where, or on which machine, it was made."""
    telling = [one for one in (*map(str, folders), platform.node()) if one]
    for path in made.rglob("*"):
        if path.is_file():
            text = b"".join(read_frames(path.read_bytes())).decode()
            assert [one for one in telling if one in text] == [], path


def check_causes(root: Path) -> None:
    """Refuse a recording whose ledger does not tell what was scripted."""
    hits = read_hits(MemoryHome.at(root))[0]
    for session in {run.session for run in content.RUNS}:
        steps = [step for run in content.RUNS if run.session == session for step in run.steps]
        wanted = [(at(step.at), step.cause) for step in steps if isinstance(step, content.Say) and step.cause]
        found = [(hit.at, hit.cause) for hit in hits if hit.session == session and hit.cause is not None]
        differing = [(a, b) for a, b in zip(wanted, found, strict=False) if a != b]
        assert wanted == found, f"{session}: {len(wanted)} causes scripted, {len(found)} found; first: {differing[:1]}"


def main() -> None:
    """Read the command line and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", type=Path, required=True, help="the folder the kit's install.sh filled")
    parser.add_argument("--kit", type=Path, default=DEFAULT_KIT, help="the kit's folder")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, help="the folder to record into")
    arguments = parser.parse_args()
    started = datetime.now(UTC)
    record(arguments.runtime.resolve(), arguments.kit.resolve(), arguments.out.resolve())
    size = sum(path.stat().st_size for path in arguments.out.rglob("*") if path.is_file())
    print(f"{arguments.out}: {size} bytes in {(datetime.now(UTC) - started).total_seconds():.0f} s")


if __name__ == "__main__":
    main()
