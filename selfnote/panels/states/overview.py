"""The overview: switches, settings, this turn's budget, the index and the files (S2-052..064)."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import traitlets as t

from selfnote.capture.cursor import read_cursors
from selfnote.config import TOTAL_BUDGET, Config, setting_limits
from selfnote.errors import NotFound
from selfnote.home import KnownFile
from selfnote.injection.assemble import Snapshot
from selfnote.panels.states.base import PanelState, Stored
from selfnote.phrases import SEGMENT_LABELS
from selfnote.sessions.index import IndexStatus

#: Settings that are on or off.
SWITCHES = ("injection_enabled", "capture_enabled", "persona_enabled", "index_enabled")
#: Settings the owner types (S2-053..055, S2-059).
FIELDS = ("header", "timing_hint", "max_chars", "max_items", "temp_ttl_days")
#: Lines that are not understood, told one by one; of the rest, how many there are.
MOST_LINES = 5


@dataclass(frozen=True, slots=True)
class Switch:
    """A setting that is on or off."""

    name: str
    label: str
    help: str
    on: bool


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting the owner types; at most ``most`` code points of a text, ``low`` to ``high`` of a number."""

    name: str
    label: str
    help: str
    value: str
    most: int | None = None
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """One segment in the budget bar; code points."""

    segment: str
    label: str
    used: int
    budget: int
    entries: int
    squeezed: int


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file of the memory: what it holds in a few words, and the folder to open (S2-058, S2-062, S2-063)."""

    key: str
    label: str
    path: str
    folder: str
    summary: str
    exists: bool = False
    size: int = 0
    modified: str = "—"


class OverviewState(PanelState):
    """The tab 概览. Drafts: by the name of a setting. Acts: ``switch``, ``save``, ``rebuild_index``, ``reveal``."""

    name: ClassVar[str] = "overview"
    writes: ClassVar[tuple[str, ...]] = ("switch", "save", "rebuild_index")

    switches = t.Tuple()
    settings = t.Tuple()
    bars = t.Tuple()
    used = t.Int(0)
    total = t.Int(TOTAL_BUDGET)
    bill = t.Unicode("")
    index_rows = t.Tuple()
    index_state = t.Unicode("")
    files = t.Tuple()

    def _watched(self) -> tuple[Path, ...]:
        home = self.memory.home
        return (home.sessions, *(one.path for one in home.files()))

    def _troubles(self, snapshot: Snapshot) -> tuple[str, ...]:
        """Here, beside the files, also the lines that are not understood, each by its file and number."""
        bad = snapshot.bad_lines
        told = tuple(self.say("bad line", file=one.path.name, line=one.line) for one in bad[:MOST_LINES])
        rest = (self.say("bad lines", n=len(bad) - MOST_LINES),) if len(bad) > MOST_LINES else ()
        return (*snapshot.problems, *told, *rest)

    def _read(self, snapshot: Snapshot, now: datetime) -> None:
        config = snapshot.config
        self.switches = tuple(
            Switch(name, self.words[name], self.words[f"{name} help"], bool(getattr(config, name))) for name in SWITCHES
        )
        self.settings = tuple(
            Setting(name, self.words[name], self.words[f"{name} help"], _value(config, name), **setting_limits(name))
            for name in FIELDS
        )
        injection = self._disk.injection(now)
        labels = SEGMENT_LABELS[self.language]
        self.bars = tuple(
            Bar(name, labels[name], one.used, one.budget, len(one.entries), len(one.squeezed))
            for name, one in injection.segments.items()
        )
        self.used = injection.total_chars
        self.bill = self.say(
            "bill",
            used=injection.total_chars,
            total=TOTAL_BUDGET,
            framing=injection.framing_chars,
            hint=injection.hint_chars,
            length=len(injection.text),
        )
        status = self.memory.index.status(now=now)
        self.index_state, self.index_rows = status.state, tuple(status.rows(self.language))
        self.files = tuple(self._file(one, snapshot, status) for one in self.memory.home.files())

    def _stored(self, key: str) -> Stored | None:
        if key not in FIELDS:
            return None
        config = self.snapshot.config
        value = _value(config, key)
        return Stored(config.revision, value, value)

    def _judge(self) -> dict[str, str]:
        reasons = {} if file_manager() else {"reveal": self.words["why no file manager"]}
        return reasons | {f"save {name}": self.words["why unchanged"] for name in FIELDS if name not in self.drafts}

    # --- acts -------------------------------------------------------------------------------------
    def count(self, name: str) -> tuple[int, int | None]:
        """Code points in a field, and the most it may hold."""
        return len(self.text_of(name)), setting_limits(name).get("most")

    def switch(self, name: str, on: bool, now: datetime | None = None) -> bool:
        """Turn a setting on or off, from the next turn on (S2-050, S2-052)."""
        revision = self.snapshot.config.revision
        done = self._do(
            lambda: self.memory.config.save(expect=revision, **{name: on}),
            self._instant(now),
            lambda _: self.say("switched on" if on else "switched off", label=self.words.get(name, name)),
        )
        return done is not None

    def save(self, name: str, now: datetime | None = None) -> bool:
        """Save what was typed for a setting; the settings' model judges it."""
        draft = self.drafts.get(name)
        if draft is None:
            return False
        done = self._do(
            lambda: self.memory.config.save(expect=draft.shown, **{name: draft.text}),
            self._instant(now),
            lambda config: self.say("setting saved", label=self.words[name], value=_value(config, name)),
        )
        return done is not None

    def rebuild_index(self, full: bool = False, now: datetime | None = None) -> bool:
        """Bring the index up to date and say whether everything is in it now (S2-057)."""
        instant = self._instant(now)
        done = self._do(lambda: self.memory.index.build(full=full, now=instant), instant, lambda result: result.note)
        return done is not None

    def reveal(self, key: str) -> bool:
        """Show a file's folder in the file manager of the machine the panel runs on (S2-062, S2-063)."""
        row = next((one for one in self.files if one.key == key), None)
        command = file_manager()
        if row is None or command is None:
            sentence = self.words["why no file manager"] if row else key
            self._refuse(NotFound(sentence))
            return False
        threading.Thread(target=_open_folder, args=(command, row.folder), daemon=True).start()
        self.error, self.message = None, self.say("revealed", folder=row.folder)
        return True

    # --- files ------------------------------------------------------------------------------------
    def _file(self, known: KnownFile, snapshot: Snapshot, status: IndexStatus) -> FileRow:
        path = known.path
        try:
            found = path.stat()
        except OSError:
            found = None
        label = known.label_zh if self.language == "zh" else known.label_en
        if found is None:
            folder = next((one for one in path.parents if one.is_dir()), path.parent)
            row = FileRow(known.key, label, str(path), str(folder), self.words["not made yet"])
        else:
            inside = sum(1 for _ in path.iterdir()) if path.is_dir() else None
            row = FileRow(
                known.key,
                label,
                str(path),
                str(path if path.is_dir() else path.parent),
                self._summary(known.key, path, snapshot, status, inside or 0),
                exists=True,
                size=found.st_size if inside is None else 0,
                modified=self._time(datetime.fromtimestamp(found.st_mtime, tz=UTC)),
            )
        return row

    def _summary(self, key: str, path: Path, snapshot: Snapshot, status: IndexStatus, inside: int) -> str:
        """What a file holds, in its own words."""
        values: dict[str, Any] = {}
        match key:
            case "notes":
                values["n"] = len(snapshot.notes_file.value.notes)
            case "persona":
                values["n"] = snapshot.persona_file.value.chars
            case "facts":
                statuses = [fact.status for fact in snapshot.facts_file.value.facts]
                values = {one: statuses.count(one) for one in ("candidate", "approved", "retired")}
            case "habits":
                values["n"] = len(snapshot.habits_file.value.habits)
            case "config":
                values = {"chars": snapshot.config.max_chars, "items": snapshot.config.max_items}
            case "cursor":
                values["n"] = len(read_cursors(path).sessions)
            case "index":
                values = {"n": status.records, "state": status.rows(self.language)[0][1]}
            case "archive" | "cache":
                values["n"] = inside
            case _:
                return ""
        return self.say(f"file {key}", **values)


def file_manager() -> str | None:
    """The command that opens a folder on this machine; None when there is none."""
    return shutil.which({"darwin": "open", "win32": "explorer"}.get(sys.platform, "xdg-open"))


def _open_folder(command: str, folder: str) -> None:
    """Wait for the opener, so that it leaves no dead process behind.

    Only a folder is ever handed over: opening a file would run whatever the desktop has for it.
    """
    quiet = subprocess.DEVNULL
    subprocess.run([command, folder], stdin=quiet, stdout=quiet, stderr=quiet, check=False)  # noqa: S603 - see above


def _value(config: Config, name: str) -> str:
    """A setting as it stands in its field."""
    return config.header_text if name == "header" else str(getattr(config, name))
