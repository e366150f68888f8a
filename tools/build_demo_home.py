"""Build the bundled demo memory: three months of an invented owner, made through the library's own verbs.

Every act carries its time, so two runs give the same bytes. ``--sessions`` names the kit's corpus of real session logs;
without it the logs that already stand in ``--out`` are taken.

    python tools/build_demo_home.py [--out DIR] [--sessions DIR]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import demo_content as content
import zstandard

from selfnote import compose_injection, note_compaction, open_memory
from selfnote.home import MemoryHome
from selfnote.injection.compose import forget_composers
from selfnote.memory import Memory
from selfnote.records.fact_lines import Fact
from selfnote.records.ledger import count_seen
from selfnote.records.notes import Note
from selfnote.sessions.frames import scan_frames
from selfnote.sessions.library import Sessions
from selfnote.sessions.log import SessionLog
from selfnote.storage.jsonl import encode

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_OUT = ROOT / "data-fixtures" / "demo-home"
DEFAULT_SESSIONS = ROOT.parent / "shared" / "kit" / "harness" / "corpus"

YEAR = 2026
ZONE = ZoneInfo("Asia/Shanghai")
#: Nothing in the demo home is later; it is looked at from `selfnote.demo.DEMO_NOW`.
LAST_ACT = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)

# --- the harness's own words are not ours to hand on --------------------------------------------------
SYSTEM_PLACEHOLDER = "[the harness's own system prompt, left out of this fixture]"
TITLE_PLACEHOLDER = "[the harness's own prompt for a title, left out of this fixture]"
CONTEXT_PLACEHOLDER = "[a runtime-context snapshot of the harness, left out of this fixture]"
CHECKPOINT_PLACEHOLDER = "[the harness's own checkpoint sentence, left out of this fixture]"
REPORT_PLACEHOLDER = "[the harness's own report sentence, left out of this fixture]"
_SNAPSHOT_PLUGIN = "@deepseek-ai/dsh-system-prompt"
#: The window the harness writes: 2 MiB.
_WINDOW_LOG = 21


def at(local: str) -> datetime:
    """``MM-DD HH:MM[:SS]`` on the owner's clock as a UTC instant."""
    form = "%Y-%m-%d %H:%M:%S" if local.count(":") > 1 else "%Y-%m-%d %H:%M"
    return datetime.strptime(f"{YEAR}-{local}", form).replace(tzinfo=ZONE).astimezone(UTC)


# --- the session logs ---------------------------------------------------------------------------------
def copy_sessions(corpus: Path, out: Path) -> None:
    """Copy the kit's logs below ``out``, moved in time and without the harness's own prompts."""
    found = sorted([*corpus.glob("sessions/*/*/session.jsonl.zstd"), *corpus.glob("sessions-plain/*/*/session.jsonl")])
    headers = {path: json.loads(read_frames(path.read_bytes())[0].split(b"\n", 1)[0]) for path in found}
    created = {header["id"]: header["createdAt"] for header in headers.values()}
    target = {identifier: at(local) for identifier, local in content.LOGS.values()}
    for path, header in headers.items():
        family = header.get("parentSession", header["id"])
        shift = int(target[family].timestamp() * 1000) - created[family]
        raw = path.read_bytes()
        frames = [_rewrite_lines(frame, shift) for frame in read_frames(raw)]
        copied = out / path.relative_to(corpus / path.relative_to(corpus).parts[0])
        copied.parent.mkdir(parents=True, exist_ok=True)
        framed = path.suffix == ".zstd"
        copied.write_bytes(b"".join(map(encode_frame, frames)) if framed else b"".join(frames))


def read_frames(raw: bytes) -> list[bytes]:
    """The text of every frame; a plain log is one."""
    if raw[:4] != zstandard.FRAME_HEADER:
        return [raw]
    scan = scan_frames(raw)
    assert scan.end == len(raw), "the kit's logs are whole"
    ends = [*list(scan.starts)[1:], scan.end]
    return [
        zstandard.ZstdDecompressor().decompressobj().decompress(raw[start:end])
        for start, end in zip(scan.starts, ends, strict=True)
    ]


def encode_frame(text: bytes) -> bytes:
    """One frame as the harness writes it: no content size, a checksum, a window of 2 MiB."""
    parameters = zstandard.ZstdCompressionParameters.from_level(
        3, window_log=_WINDOW_LOG, write_checksum=True, write_content_size=False
    )
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return compressor.compress(text) + compressor.flush()


def _rewrite_lines(text: bytes, shift: int) -> bytes:
    lines = []
    for line in text.splitlines():
        event = json.loads(line)
        for key in ("createdAt", "time", "time0"):
            if key in event:
                event[key] += shift
        leave_out_prompts(event)
        lines.append(json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    return b"".join(lines)


def leave_out_prompts(event: dict[str, Any]) -> None:
    """Put one plain line where the harness's own prose stood."""
    data: Any = event.get("data")
    match event["type"]:
        case "request/header":
            data["header"]["system"] = SYSTEM_PLACEHOLDER
            data["header"]["tools"] = []
        case "session/title-llm-request":
            data["system"] = SYSTEM_PLACEHOLDER
            for message in data["messages"]:
                for block in message["content"]:
                    _, end, quoted = block["text"].partition("\n")
                    block["text"] = TITLE_PLACEHOLDER + end + quoted
        case "user/message":
            _leave_out_of_message(data)
        case "agent/inbox/spliced":
            for message in data.get("inserted", ()):
                _leave_out_of_message(message)


def _leave_out_of_message(message: dict[str, Any]) -> None:
    source = message["source"]
    if source.get("plugin") == _SNAPSHOT_PLUGIN:
        for block in message["content"]:
            block["text"] = CONTEXT_PLACEHOLDER
        for section in source.get("sections", ()):
            section["text"] = CONTEXT_PLACEHOLDER
    elif source.get("plugin") == "compact":
        for block in message["content"]:
            if block["text"].endswith("<compacted-summary>"):
                block["text"] = f"{CHECKPOINT_PLACEHOLDER}\n\n<compacted-summary>"
    elif source["kind"] == "subagent-settled":
        if "summary" in source:
            source["summary"] = REPORT_PLACEHOLDER
        for block in message["content"]:
            block["text"] = "\n".join(
                REPORT_PLACEHOLDER if line.isascii() and " " in line else line for line in block["text"].split("\n")
            )


# --- three months -------------------------------------------------------------------------------------
@dataclass(frozen=True, order=True)
class Moment:
    """Something that happens at an instant; what is planned for the same instant keeps the order of planning."""

    when: datetime
    number: int
    do: Callable[[], object] = field(compare=False)


class Story:
    """The demo memory while it is being lived: a clock that only goes forward, and the library's verbs."""

    def __init__(self, root: Path) -> None:
        self.home = MemoryHome.at(root)
        self.memory: Memory = open_memory(root)
        self.now = at("08-24 00:00")
        self.moments: list[Moment] = []
        self.keys: dict[str, str] = {}
        self.turns: dict[str, int] = {}
        self.written: dict[Path, datetime] = {}
        self._prints: dict[Path, tuple[int, int, int]] = {}

    @cached_property
    def logs(self) -> dict[str, SessionLog]:
        """Name in ``demo_content.LOGS`` -> the log."""
        sessions = Sessions(self.home)
        return {name: sessions.open(identifier) for name, (identifier, _) in content.LOGS.items()}

    # --- planning -----------------------------------------------------------------------------------
    def plan(self, when: str | datetime, do: Callable[..., object], *values: Any) -> None:
        """Let ``do(*values)`` happen at ``when``, an instant or a time on the owner's clock."""
        instant = at(when) if isinstance(when, str) else when
        self.moments.append(Moment(instant, len(self.moments), partial(do, *values)))

    def plan_all(self) -> None:
        """Plan every act of ``demo_content`` and every turn of the harness."""
        for planned in content.FACTS:
            self.plan(planned.staged, self.stage, planned)
            if planned.approved is not None:
                self.plan(planned.approved, self.approve, planned.key)
        for act in content.ACTS:
            self.plan(act.at, getattr(self, act.verb), *act.values)
        for when, tier, pinned, text in content.NOTES:
            self.plan(when, self.note, tier, pinned, text)
        for when, session, via, keys in content.SEARCHES:
            self.plan(when, self.search, session, via, keys)
        for when, session, failed in content.COMPACTIONS:
            self.plan(when, self.compact, session_id(session), failed)
        self._plan_logged_turns()
        for session, cwd, turns in content.EXTRA_TURNS:
            for turn in turns:
                self.plan(turn, self.turn, session_id(session), cwd)
        for place, day in enumerate(_working_days()):
            self._plan_day(day, place)

    def _plan_day(self, day: str, place: int) -> None:
        self.plan(f"{day} 08:30", forget_composers)
        plan = content.DAY_PLANS[place % len(content.DAY_PLANS)]
        for number, turns in enumerate(plan):
            cwd = content.WORK_FOLDERS[(place + number) % len(content.WORK_FOLDERS)]
            for turn in turns:
                self.plan(f"{day} {turn}", self.turn, session_id(f"{day}/{number}"), cwd)

    def _plan_logged_turns(self) -> None:
        """The turns and compactions that stand in the logs; a delegated session gets nothing."""
        for log in Sessions(self.home).read_all():
            for event in log.events():
                if event.seq < log.header.seed_length or event.time is None:
                    continue
                if event.type == "turn/start":
                    self.plan(event.time, self.turn, log.id, log.header.cwd or "", log.header.delegated)
                elif event.type == "compaction/end":
                    self.plan(event.time, self.compact, log.id, "error" in event.data)

    def live(self) -> None:
        """Let everything happen in the order of time."""
        for moment in sorted(self.moments):
            assert self.now <= moment.when <= LAST_ACT, f"{moment} is out of order"
            self.now = moment.when
            moment.do()
            self._notice_writes()

    def _notice_writes(self) -> None:
        """Remember when each file was last written, by the story's clock."""
        for folder in (self.home.selfnote, self.home.memory, self.home.notes_archive, self.home.ledger_archive):
            for path in folder.glob("*.*"):
                found = path.stat()
                seen = (found.st_mtime_ns, found.st_size, found.st_ino)
                if self._prints.get(path) != seen:
                    self._prints[path] = seen
                    self.written[path] = self.now

    # --- what the harness does ------------------------------------------------------------------------
    def turn(self, session: str, cwd: str, delegated: bool = False) -> None:
        """One turn of a session."""
        self.turns[session] = turn = self.turns.get(session, 0) + 1
        compose_injection(self.home.root, session=session, turn=turn, cwd=cwd, now=self.now, delegated=delegated)

    def compact(self, session: str, failed: bool) -> None:
        """The context of a session was compacted."""
        note_compaction(session, home=self.home.root, failed=failed, now=self.now)

    def search(self, session: str, via: str, keys: tuple[str, ...]) -> None:
        """A tool of the model's found some facts."""
        found = [self.keys[key] for key in keys]
        count_seen(self.home, self.memory.facts, found, session=session_id(session), via=via, now=self.now)

    # --- what the owner does --------------------------------------------------------------------------
    def stage(self, planned: content.PlannedFact) -> None:
        """Keep a sentence with its source."""
        source, sha = self.source(planned.source)
        staged = self.memory.facts.stage(
            planned.text, source=source, channel=planned.channel, tags=planned.tags, detail=planned.detail,
            reason=planned.reason, capture_source=planned.capture, source_sha=sha, now=self.now,
        )  # fmt: skip
        assert staged.id not in self.keys.values(), f"{planned.key} repeats another fact"
        self.keys[planned.key] = staged.id

    def source(self, short: str) -> tuple[str, str | None]:
        """A source in full, and the hash of the message it names when that is known."""
        name, mark, number = short.partition("#")
        if name == "missing":
            return f"{content.MISSING_SESSION}#{number}", None
        if name not in content.LOGS or not mark:
            return short, None
        message = self.logs[name].message_at(int(number))
        return message.source, hashlib.sha256(message.text.encode()).hexdigest()

    def again(self, key: str, source: str) -> None:
        """The same sentence once more."""
        fact = self.fact(key)
        self.memory.facts.stage(fact.text, source=self.source(source)[0], channel=fact.channel, now=self.now)

    def fact(self, key: str) -> Fact:
        """A fact as it is now."""
        return self.memory.facts.get(self.keys[key])

    def approve(self, key: str) -> None:
        """Approve a candidate."""
        self.memory.facts.approve(self.fact(key), via="panel", now=self.now)

    def approve_replacing(self, key: str, old: str) -> None:
        """Approve a candidate and retire the fact it replaces."""
        self.memory.facts.approve(self.fact(key), via="panel", replaces=self.fact(old), now=self.now)

    def retire(self, key: str) -> None:
        """Retire a fact."""
        self.memory.facts.retire(self.fact(key), via="panel", now=self.now)

    def undo(self, key: str) -> None:
        """Take back the last transition of a fact."""
        self.memory.facts.undo(self.fact(key), via="panel", now=self.now)

    def resolve(self, key: str, other: str) -> None:
        """Let two facts stand side by side."""
        self.memory.facts.resolve(self.fact(key), self.fact(other), via="panel", now=self.now)

    def edit(self, key: str, changes: dict[str, Any]) -> None:
        """Change the wording of a fact."""
        self.memory.facts.edit(self.fact(key), via="panel", now=self.now, **changes)

    def importance(self, key: str, value: float) -> None:
        """Give a fact its importance."""
        self.memory.facts.set_importance(self.fact(key), value, via="panel", now=self.now)

    def tags(self, key: str, tags: tuple[str, ...]) -> None:
        """Replace the tags of a fact."""
        self.memory.facts.set_tags(self.fact(key), tags, via="panel", now=self.now)

    def config(self, changes: dict[str, Any]) -> None:
        """Change settings."""
        self.memory.config.save(**changes)

    def persona(self, name: str) -> None:
        """Save one wording of the persona."""
        self.memory.persona.save(**content.PERSONAS[name])

    def habit(self, tag: str, text: str) -> None:
        """Make a habit of a tag."""
        self.keys[f"habit:{tag}"] = self.memory.habits.promote(tag, text, now=self.now).id

    def habit_revoke(self, tag: str) -> None:
        """Revoke the habit of a tag."""
        self.memory.habits.revoke(self.keys[f"habit:{tag}"], now=self.now)

    # --- what the agent writes, and the owner does to it ----------------------------------------------
    def notes_by_hand(self) -> None:
        """The owner starts notes.md in an editor."""
        self.home.notes.parent.mkdir(parents=True, exist_ok=True)
        self.home.notes.write_text(content.NOTES_BY_HAND, encoding="utf-8")

    def note(self, tier: Any, pinned: bool, text: str) -> None:
        """The agent writes a note."""
        self.memory.notes.add(text, tier=tier, pinned=pinned, now=self.now)

    def _note(self, text: str) -> Note:
        return next(note for note in self.memory.notes.list() if note.text == text)

    def note_delete(self, text: str) -> None:
        """The owner deletes a note."""
        self.memory.notes.delete(self._note(text), now=self.now)

    def note_edit(self, text: str, new: str) -> None:
        """The owner rewords a note."""
        self.memory.notes.edit(self._note(text), new, now=self.now)

    def note_pin(self, text: str, pinned: bool) -> None:
        """The owner pins a note."""
        self.memory.notes.pin(self._note(text), pinned)

    def note_retier(self, text: str, tier: Any) -> None:
        """The owner moves a note to another tier."""
        self.memory.notes.retier(self._note(text), tier, now=self.now)

    # --- at the end -----------------------------------------------------------------------------------
    def write_corrections(self) -> None:
        """corrections.jsonl: the owner's words, and what became of them (A-10)."""
        lines: list[dict[str, Any]] = []
        for name, seq, local, signal, status, rule, text in content.CORRECTIONS:
            if name in self.logs:
                message = self.logs[name].message_at(seq)
                sid, said, when = message.session_id, message.text, message.time
                assert message.by_owner, f"{message.source} is not the owner's"
            else:
                sid, said, when = session_id(name), text, at(local)
            used = at(content.CORRECTIONS_USED) if status == "used" else None
            lines.append({
                "id": "c-" + _sha(encode([sid, seq, said]))[:12],
                "sid": sid,
                "seq": seq,
                "at": _stamp(when),
                "text": said,
                "signal": signal,
                "status": status,
                "usedAt": _stamp(used),
                "ruleFp": _sha(rule)[:16] if rule else None,
            })  # fmt: skip
        lines.sort(key=lambda line: line["at"])
        self.home.corrections.write_text("".join(f"{encode(line)}\n" for line in lines), encoding="utf-8")
        self.written[self.home.corrections] = datetime.fromisoformat(lines[-1]["at"])

    def settle(self) -> None:
        """Remove what locks leave behind and give every file the time of its last act."""
        for lock in self.home.root.rglob("*.lock"):
            lock.unlink()
        for log in Sessions(self.home).read_all():
            assert log.last_time is not None
            self.written[log.path] = log.last_time
        for path in (*sorted(self.home.root.rglob("*"), reverse=True), self.home.root):
            when = LAST_ACT if path.is_dir() else self.written[path]
            nanoseconds = int(when.timestamp() * 1000) * 1_000_000
            path.chmod(0o755 if path.is_dir() else 0o644)
            os.utime(path, ns=(nanoseconds, nanoseconds))


def session_id(name: str) -> str:
    """The id of ``MM-DD/n``, the n-th session of a day; an id stays what it is."""
    if "/" not in name:
        return name
    digest = _sha(f"demo session {name}")
    return f"session-{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"


def _working_days() -> list[str]:
    """``MM-DD`` of every day with sessions."""
    first, last = (at(f"{day} 12:00").astimezone(ZONE).date() for day in (content.FIRST_DAY, content.LAST_DAY))
    days: list[date] = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    names = [f"{day:%m-%d}" for day in days if day.isoweekday() < 6]
    return [name for name in names if name not in content.DAYS_OFF]


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _stamp(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def build(out: Path, corpus: Path | None) -> None:
    """Build the demo home at ``out``, which is replaced when everything went well."""
    with tempfile.TemporaryDirectory(prefix="selfnote-demo-home-") as folder:
        root = Path(folder)
        if corpus is not None and corpus.is_dir():
            copy_sessions(corpus, root / "sessions")
        else:
            shutil.copytree(out / "sessions", root / "sessions")
        forget_composers()
        story = Story(root)
        story.plan_all()
        story.live()
        story.write_corrections()
        story.settle()
        forget_composers()
        if out.exists():
            shutil.rmtree(out)
        shutil.copytree(root, out)


def main() -> None:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, help="the folder to build")
    parser.add_argument("--sessions", type=Path, default=DEFAULT_SESSIONS, help="the kit's corpus of session logs")
    arguments = parser.parse_args()
    build(arguments.out.resolve(), arguments.sessions)
    size = sum(path.stat().st_size for path in arguments.out.rglob("*") if path.is_file())
    print(f"{arguments.out}: {size} bytes")


if __name__ == "__main__":
    main()
