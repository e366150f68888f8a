"""The tab 概览 as widgets: switches, settings, this turn's budget, the index and the files."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import Any

import ipywidgets as W  # noqa: N812 - as its own documentation's short name, one letter

from selfnote.audit.html_report import show, table
from selfnote.audit.sheets import format_size
from selfnote.panels import static
from selfnote.panels.states.overview import FIELDS, SWITCHES, FileRow, OverviewState, PackageLink
from selfnote.panels.views.panel import PanelView
from selfnote.panels.views.pieces import DraftField, Kit, Pager, Row, heading, joined, line, name, path_button, reasons


class OverviewView(PanelView):
    """The view of an ``OverviewState``."""

    state: OverviewState

    def _build(self, kit: Kit) -> list[Any]:
        state, words = self.state, self.state.words
        self._switches = {
            one: kit.control(
                W.Checkbox, partial(state.switch, one), name("switch", one), description=words[one], indent=False
            )
            for one in SWITCHES
        }
        switches = [
            kit.bar(widget, kit.html(value=line(words[f"{one} help"], "sn-dim")))
            for one, widget in self._switches.items()
        ]
        self._why = kit.html("sn-why")
        self._bars = kit.html("sn-bars")
        limits = {one.name: one for one in state.settings}
        self._fields = {
            one: DraftField(
                kit, one, words[one], lines=1, help=_help(state, limits[one]), told=self._count, save=state.save
            )
            for one in FIELDS
        }
        self._index = kit.html("sn-index")
        rebuild = kit.button(
            words["rebuild index"], state.rebuild_index, "sn-rebuild-index", act="rebuild_index",
            help=words["rebuild index help"],
        )  # fmt: skip
        self._index_why = kit.html("sn-why")
        self._files_why = kit.html("sn-why")
        self._files = kit.rows(classes=("sn-list-files",))
        self._file_rows: list[FileCard] = []
        return [
            *switches,
            self._why,
            kit.html(value=line(words["next turn"], "sn-dim")),
            self._bars,
            *(field.widget for field in self._fields.values()),
            self._index,
            kit.bar(rebuild, kit.html(value=line(words["rebuild index help"], "sn-dim")), self._index_why),
            *self._migration(kit),
            kit.html(value=heading(words["files title"])),
            self._files_why,
            self._files,
        ]

    def _migration(self, kit: Kit) -> list[Any]:
        """The card 迁移: a package out, and one in after its plan was seen (S2-061)."""
        state, words = self.state, self.state.words
        export = kit.button(words["export"], state.export, "sn-export", help=words["export help"])
        self._link = kit.html("sn-package")
        self._upload = kit.control(
            W.FileUpload, self._choose, "sn-choose-package",
            description=words["choose package"], accept=".json", multiple=False,
        )  # fmt: skip
        self._keep = kit.control(
            W.Checkbox, state.keep, "sn-keep-status", description=words["keep status"], indent=False
        )
        bring_in = kit.button(
            words["import"], state.import_chosen, "sn-import", "sn-primary", act="import_chosen",
            help=words["import help"],
        )  # fmt: skip
        self._put_away = kit.button(words["put away"], state.put_away, "sn-put-away")
        self._import_why = kit.html("sn-why")
        self._plan = kit.html("sn-plan")
        self._plan_pager = Pager(kit, state.plan, "plan")
        return [
            kit.html(value=heading(words["migration title"]) + line(words["migration help"], "sn-dim")),
            kit.bar(export, kit.html(value=line(words["export help"], "sn-dim")), self._link),
            kit.bar(self._upload, kit.html(value=line(words["import help"], "sn-dim"))),
            kit.bar(self._keep, kit.html(value=line(words["keep status help"], "sn-dim"))),
            self._plan,
            self._plan_pager.widget,
            kit.bar(bring_in, self._put_away, self._import_why),
        ]

    def _choose(self, files: tuple[dict[str, Any], ...]) -> None:
        for one in files:
            self.state.choose(one["name"], bytes(one["content"]))

    def _count(self, key: str) -> str:
        used, most = self.state.count(key)
        if most is None:
            return ""
        told = self.state.say("used", used=used, limit=most)
        return line(told, "" if used <= most else "sn-bad")

    def _draw(self) -> None:
        state, kit, words = self.state, self._kit, self.state.words
        off = state.why_disabled("switch")
        for one in state.switches:
            kit.put(self._switches[one.name], value=one.on, disabled=bool(off))
        kit.put(self._why, value=reasons(state, *(("switch", words[one]) for one in SWITCHES)))
        kit.put(self._bars, value=heading(words["budget title"]) + bars_html(state) + line(state.bill))
        for field in self._fields.values():
            field.draw()
        kit.put(self._index, value=table(static.index(state), state.language))
        kit.put(self._index_why, value=reasons(state, ("rebuild_index", words["rebuild index"])))
        self._draw_migration()
        kit.put(self._files_why, value=reasons(state, ("reveal", words["open"])))
        while len(self._file_rows) < len(state.files):
            self._file_rows.append(FileCard(kit, state))
        for place, row in zip(self._file_rows, state.files, strict=False):
            place.draw(row)
        kit.put(self._files, children=tuple(place.box for place in self._file_rows[: len(state.files)]))

    def _draw_migration(self) -> None:
        state, kit, words = self.state, self._kit, self.state.words
        kit.put(self._link, value=package_html(state.package_link, words["package link"]))
        kit.show(self._link, shown=state.package_link is not None)
        if not state.chosen:
            # Else the same file could not be chosen again: nothing would have changed.
            kit.put(self._upload, value=())
        kit.put(self._keep, value=state.kept)
        told = line(state.plan_told) + line(state.plan_counts, "sn-dim")
        seen = table(static.plan(state), state.language) if state.plan.rows else ""
        kit.put(self._plan, value=told + seen)
        kit.show(self._plan, shown=bool(state.chosen))
        self._plan_pager.draw()
        kit.show(self._put_away, shown=bool(state.chosen))
        kit.put(self._import_why, value=reasons(state, ("import_chosen", words["import"])))


class FileCard(Row):
    """One file: what it holds, its path to copy, its folder to open (S2-058, S2-062, S2-063)."""

    def __init__(self, kit: Kit, state: OverviewState) -> None:
        super().__init__(kit)
        self.state = state
        self._said = kit.html()
        self._reveal = kit.button(
            state.words["open"], lambda: state.reveal(self.row.key), act="reveal", help=state.words["open help"]
        )
        self.box = kit.bar(self._reveal, self._said)

    def fill(self, row: FileRow, *_: Any) -> None:
        """Show a file."""
        size = format_size(row.size) if row.exists and row.size else ""
        modified = row.modified if row.exists else ""
        told = f'<div class="sn-name"><b>{show(row.label)}</b></div>'
        told += f"{path_button(row.path, self.state.words['copy path'])}"
        self.kit.put(self._said, value=told + joined(row.summary, size, modified))
        self.kit.classes(self.box, "sn-bar", "sn-row", name("file", row.key))
        self.kit.classes(self._reveal, name("reveal", row.key))


def bars_html(state: OverviewState) -> str:
    """The six segments: the numbers beside each bar say what it shows."""
    cells = ""
    for one in state.bars:
        told = state.say(
            "bar", label=one.label, used=one.used, budget=one.budget, entries=one.entries, squeezed=one.squeezed
        )
        share = min(1.0, one.used / one.budget) if one.budget else 0.0
        cells += (
            f'<div role="listitem">{show(told)}</div><span aria-hidden="true"><i style="width:{share:.1%}"></i></span>'
        )
    return f'<div class="sn-meter" role="list">{cells}</div>'


def package_html(link: PackageLink | None, label: str) -> str:
    """A package to be saved by a click; nothing is fetched for it."""
    if link is None:
        return ""
    told = show(label.format(name=link.name))
    # Browsers' own ring is too thin to be seen: the sheet draws one around whatever has a tabindex.
    return f'<a tabindex="0" download="{escape(link.name)}" href="{escape(link.address)}">{told}</a>'


def _help(state: OverviewState, setting: Any) -> str:
    if setting.low is None or setting.high is None:
        return str(setting.help)
    return f"{setting.help}{state.say('from to', low=setting.low, high=setting.high)}"
