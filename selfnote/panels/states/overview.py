"""The overview: switches, settings, this turn's budget, the index and the files (S2-052..064)."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import traitlets as t

from selfnote.capture.cursor import read_cursors
from selfnote.config import TOTAL_BUDGET, Config, setting_limits
from selfnote.errors import NotFound, SelfnoteError
from selfnote.home import KnownFile
from selfnote.injection.assemble import Snapshot
from selfnote.panels.states.base import Paged, PanelState, Stored
from selfnote.phrases import SEGMENT_LABELS
from selfnote.sessions.index import IndexStatus
from selfnote.upkeep.transfer import ImportReport, ImportRow, encode_package, package_name, read_package

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


class PackageLink(NamedTuple):
    """A package to be saved: the name of its file, and all of it as a ``data:`` address."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class PlanRow:
    """What an import would do with one thing of the chosen package, in the owner's words (S2-274, S2-275)."""

    id: str
    kind: str
    text: str
    action: str
    why: str


class OverviewState(PanelState):
    """The tab 概览. Drafts: by the name of a setting.

    Acts: ``switch``, ``save``, ``rebuild_index``, ``reveal``; of the migration (S2-061) ``export``, and of an import
    ``choose``, ``keep``, ``import_chosen``, ``put_away``. ``package_link`` is there from an export until the memory
    changes. ``plan`` tells of the package that is ``chosen``, by the name of its file, over the memory as it is.
    """

    name: ClassVar[str] = "overview"
    writes: ClassVar[tuple[str, ...]] = ("switch", "save", "rebuild_index", "import_chosen")

    switches = t.Tuple()
    settings = t.Tuple()
    bars = t.Tuple()
    used = t.Int(0)
    total = t.Int(TOTAL_BUDGET)
    bill = t.Unicode("")
    index_rows = t.Tuple()
    index_state = t.Unicode("")
    files = t.Tuple()
    package_link = t.Instance(PackageLink, allow_none=True)
    chosen = t.Unicode("")
    kept = t.Bool(default_value=False)
    plan_told = t.Unicode("")
    plan_counts = t.Unicode("")

    def _build(self) -> None:
        self.plan: Paged[ImportRow, PlanRow] = Paged(self._plan_row)
        self._package: dict[str, Any] | None = None

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
        self.package_link = None
        if self._package is not None:
            self._plan(self._package, now)

    def _stored(self, key: str) -> Stored | None:
        if key not in FIELDS:
            return None
        config = self.snapshot.config
        value = _value(config, key)
        return Stored(config.revision, value, value)

    def _judge(self) -> dict[str, str]:
        reasons = {} if file_manager() else {"reveal": self.words["why no file manager"]}
        if self._package is None:
            reasons["import_chosen"] = self.words["why no package"]
        elif all(one.action == "skip" for one in self.plan.sources):
            reasons["import_chosen"] = self.words["why nothing to import"]
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

    # --- moving to another machine ----------------------------------------------------------------
    def export(self, now: datetime | None = None) -> bool:
        """Make the package and a link to it; nothing is written (S2-270)."""
        instant = self._instant(now)
        # What changed before the package was made is in it: read first, so that only a later change takes the link.
        self.refresh(instant)
        package = self._do(
            lambda: self.memory.export_package(now=instant), instant, lambda _: self.words["package made"]
        )
        if package is None:
            return False
        coded = base64.b64encode(encode_package(package).encode("utf-8")).decode("ascii")
        file_name = package_name(instant, self.snapshot.zone)
        self.package_link = PackageLink(file_name, f"data:application/json;base64,{coded}")
        return True

    def choose(self, name: str, data: bytes, now: datetime | None = None) -> bool:
        """Look at a package and show what importing it would do; nothing is written (S2-276)."""
        self._forget()
        try:
            package = read_package(data)
        except SelfnoteError as error:
            self._refuse(error)
            return False
        if not self._plan(package, self._instant(now)):
            return False
        self._package, self.chosen = package, name
        self.error, self.message = None, self.say("package chosen", name=name)
        self._explain()
        return True

    def keep(self, on: bool, now: datetime | None = None) -> bool:
        """Whether what was approved there comes in approved (S2-275); the plan follows."""
        self.kept = on
        done = self._package is None or self._plan(self._package, self._instant(now))
        self._explain()
        return done

    def import_chosen(self, now: datetime | None = None) -> bool:
        """Bring in what the chosen package has and this memory has not (S2-274)."""
        package, instant = self._package, self._instant(now)
        if package is None:
            return False

        def bring_in() -> ImportReport:
            report = self.memory.import_package(package, keep_status=self.kept, now=instant)
            self.put_away()
            return report

        return self._do(bring_in, instant, lambda report: report.describe(self.language)) is not None

    def put_away(self) -> None:
        """Give the import up; the next one starts from candidates again."""
        self.kept, self.error, self.message = False, None, ""
        self._forget()

    def _forget(self) -> None:
        """Know of no package."""
        with self.hold_trait_notifications():
            self._package, self.chosen = None, ""
            self.plan_told, self.plan_counts = "", ""
            self.plan.fill(())
            self._explain()

    def _plan(self, package: dict[str, Any], now: datetime) -> bool:
        """Show what importing a package would do to the memory as it is."""
        try:
            report = self.memory.import_package(package, keep_status=self.kept, dry_run=True, now=now)
        except (SelfnoteError, OSError) as error:
            self._forget()
            self._refuse(error)
            return False
        counts = Counter((row.kind, row.action) for row in report.rows)
        self.plan.fill(report.rows)
        self.plan_told = report.describe(self.language)
        self.plan_counts = " · ".join(
            f"{self.words[f'package {kind}']} {self.words[f'action {action}']} {n}"
            for (kind, action), n in counts.items()
        )
        return True

    def _plan_row(self, row: ImportRow) -> PlanRow:
        words = self.words
        why = words[f"why {row.why}"] if row.why else ""
        return PlanRow(row.id, words[f"package {row.kind}"], row.text, words[f"action {row.action}"], why)

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
