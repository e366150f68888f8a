"""The tab 概览 as widgets: switches, settings, this turn's budget, the index and the files."""

from __future__ import annotations

from functools import partial
from typing import Any

import ipywidgets as W  # noqa: N812 - as its own documentation's short name, one letter

from selfnote.audit.html_report import show, table
from selfnote.audit.sheets import format_size
from selfnote.panels import static
from selfnote.panels.states.overview import FIELDS, SWITCHES, FileRow, OverviewState
from selfnote.panels.views.panel import PanelView
from selfnote.panels.views.pieces import DraftField, Kit, Row, heading, joined, line, name, path_button, reasons


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
            kit.html(value=heading(words["files title"])),
            self._files_why,
            self._files,
        ]

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
        kit.put(self._files_why, value=reasons(state, ("reveal", words["open"])))
        while len(self._file_rows) < len(state.files):
            self._file_rows.append(FileCard(kit, state))
        for place, row in zip(self._file_rows, state.files, strict=False):
            place.draw(row)
        kit.put(self._files, children=tuple(place.box for place in self._file_rows[: len(state.files)]))


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


def _help(state: OverviewState, setting: Any) -> str:
    if setting.low is None or setting.high is None:
        return str(setting.help)
    return f"{setting.help}{state.say('from to', low=setting.low, high=setting.high)}"
