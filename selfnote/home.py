"""Where a memory lives: every path on disk, and one registry of the files an owner may look at."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple


class KnownFile(NamedTuple):
    """One file or folder of the memory, as the owner's "files" card lists it (S2-058, A-07b)."""

    key: str
    path: Path
    label_zh: str
    label_en: str
    derived: bool = False


@dataclass(frozen=True)
class MemoryHome:
    """Every path of one memory; makes no folder and reads nothing (S2-279, S2-280).

    Parameters
    ----------
    root
        The ``.dsh`` directory.
    memory
        The ``memory/`` directory; normally ``root/memory``.
    """

    root: Path
    memory: Path

    @classmethod
    def at(cls, home: str | os.PathLike[str] | None = None, *, environ: Mapping[str, str] | None = None) -> MemoryHome:
        """The home at ``home``; the environment counts only when ``home`` is None (A-29).

        ``$DSH_HOME`` (default ``~/.dsh``) and ``$DSH_MEMORY_DIR`` (moves ``memory/`` alone, S2-283).
        """
        if home is not None:
            root = Path(home).expanduser()
            return cls(root, root / "memory")
        variables = os.environ if environ is None else environ
        root = Path(variables.get("DSH_HOME") or "~/.dsh").expanduser()
        moved = variables.get("DSH_MEMORY_DIR")
        return cls(root, Path(moved).expanduser() if moved else root / "memory")

    # --- selfnote/: what the owner and the agent wrote -------------------------------------------
    @cached_property
    def selfnote(self) -> Path:
        """The folder of persona, notes, configuration and corrections."""
        return self.root / "selfnote"

    @cached_property
    def persona(self) -> Path:
        """persona.md, written by the owner only (S2-003)."""
        return self.selfnote / "persona.md"

    @cached_property
    def notes(self) -> Path:
        """notes.md, one note a line (S2-106)."""
        return self.selfnote / "notes.md"

    @cached_property
    def notes_archive(self) -> Path:
        """The folder of deleted and overflowed notes, one file a month, append-only (S2-123)."""
        return self.selfnote / "archive"

    @cached_property
    def config(self) -> Path:
        """config.json: switches, caps, header, hint, profile override (S2-017)."""
        return self.selfnote / "config.json"

    @cached_property
    def corrections(self) -> Path:
        """corrections.jsonl: what the owner said was wrong (S2-147)."""
        return self.selfnote / "corrections.jsonl"

    @cached_property
    def corrections_watermark(self) -> Path:
        """corrections.watermark.json: from which message evidence starts (S2-148)."""
        return self.selfnote / "corrections.watermark.json"

    @cached_property
    def persona_evidence(self) -> Path:
        """persona.evidence.json: what was observed of each rule (S2-143)."""
        return self.selfnote / "persona.evidence.json"

    @cached_property
    def persona_reads(self) -> Path:
        """persona.reads.json: how often L2 was fetched, and when last (S2-142)."""
        return self.selfnote / "persona.reads.json"

    @cached_property
    def persona_pending(self) -> Path:
        """persona.pending.json: the journal of a persona save in progress (S2-144)."""
        return self.selfnote / "persona.pending.json"

    @cached_property
    def backup(self) -> Path:
        """The folder of what an act of the owner's replaced or removed, as it was before."""
        return self.selfnote / "backup"

    @cached_property
    def tokenizer(self) -> Path:
        """tokenizer.json: a model's vocabulary, where the owner has put one; read to count tokens, never written."""
        return self.selfnote / "tokenizer.json"

    @cached_property
    def selfnote_lock(self) -> Path:
        """The lock of ``selfnote/``; taken before the lock of ``memory/``."""
        return self.selfnote / ".lock"

    # --- memory/: what was approved, and what was counted ----------------------------------------
    @cached_property
    def facts(self) -> Path:
        """facts.jsonl: facts and candidates, one a line (S2-155)."""
        return self.memory / "facts.jsonl"

    @cached_property
    def habits(self) -> Path:
        """habits.jsonl (A-07)."""
        return self.memory / "habits.jsonl"

    @cached_property
    def summaries(self) -> Path:
        """summaries.jsonl: summaries with a pointer (S2-030)."""
        return self.memory / "summaries.jsonl"

    @cached_property
    def hits(self) -> Path:
        """hits.jsonl: one line per change of an injected text and per hourly count (A-34)."""
        return self.memory / "hits.jsonl"

    @cached_property
    def seen(self) -> Path:
        """seen.jsonl: which facts a search of the model's found (S2-102)."""
        return self.memory / "seen.jsonl"

    @cached_property
    def ledger_archive(self) -> Path:
        """The folder the two ledgers are rolled into, one file a month."""
        return self.memory / "archive"

    @cached_property
    def rotation(self) -> Path:
        """rotation.json: the kept choice of facts (DESIGN "Rotation")."""
        return self.memory / "rotation.json"

    @cached_property
    def sessions_injected(self) -> Path:
        """sessions-injected.json: what each of the last 50 sessions got."""
        return self.memory / "sessions-injected.json"

    @cached_property
    def heartbeat(self) -> Path:
        """heartbeat.json: time and count of injections (S2-228)."""
        return self.memory / "heartbeat.json"

    @cached_property
    def capture_cursor(self) -> Path:
        """capture-cursor.json: what was already judged (S2-190)."""
        return self.memory / "capture-cursor.json"

    @cached_property
    def index(self) -> Path:
        """index.sqlite: derived, holds no text (S2-230)."""
        return self.memory / "index.sqlite"

    @cached_property
    def cache(self) -> Path:
        """The folder of parsed sessions, at most 60 (S2-244)."""
        return self.memory / "cache"

    @cached_property
    def memory_lock(self) -> Path:
        """The lock of ``memory/``."""
        return self.memory / ".lock"

    def persona_imported(self, now: datetime) -> Path:
        """Where a persona from elsewhere is put aside, by when it came (S2-277)."""
        return self.selfnote / f"persona.imported-{now:%Y%m%dT%H%M%SZ}.md"

    @cached_property
    def agent_file(self) -> Path:
        """AGENT.md of an older persona plugin: may be imported, is never written (S2-141)."""
        return self.root / "AGENT.md"

    # --- sessions/: the harness's own, never written (S2-007) ------------------------------------
    @cached_property
    def sessions(self) -> Path:
        """The folder of the harness's session logs."""
        return self.root / "sessions"

    def files(self) -> tuple[KnownFile, ...]:
        """The files of the memory an owner may open, in the order the "files" card lists them (S2-281).

        Session originals are not among them: they belong to the harness (S2-064).
        """
        return (
            KnownFile("persona", self.persona, "人格", "Persona"),
            KnownFile("notes", self.notes, "自述", "Notes"),
            KnownFile("facts", self.facts, "事实库", "Facts"),
            KnownFile("habits", self.habits, "习惯", "Habits"),
            KnownFile("corrections", self.corrections, "纠偏证据", "Corrections"),
            KnownFile("watermark", self.corrections_watermark, "纠偏从哪句起收", "Where corrections start"),
            KnownFile("evidence", self.persona_evidence, "规则观察", "Rule observations"),
            KnownFile("reads", self.persona_reads, "人格取用", "Persona reads"),
            KnownFile("config", self.config, "插件配置", "Configuration"),
            KnownFile("summaries", self.summaries, "摘要", "Summaries"),
            KnownFile("hits", self.hits, "注入账本", "Injection ledger"),
            KnownFile("seen", self.seen, "检索账本", "Search ledger"),
            KnownFile("rotation", self.rotation, "轮换", "Rotation"),
            KnownFile("sessions-injected", self.sessions_injected, "各会话最近注入", "Last injected per session"),
            KnownFile("heartbeat", self.heartbeat, "记忆心跳", "Heartbeat"),
            KnownFile("cursor", self.capture_cursor, "采集听到哪了", "How far capture has heard"),
            KnownFile("index", self.index, "会话索引", "Session index", derived=True),
            KnownFile("cache", self.cache, "会话缓存", "Session cache", derived=True),
            KnownFile("archive", self.notes_archive, "自述归档", "Notes archive"),
        )
