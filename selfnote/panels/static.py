"""The panels without a kernel: what each shows as tables and words, from the same state, as HTML and as text.

A twin is a function of the state alone: pure, escaped, without ids, so that the same memory gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from selfnote.audit import html_report
from selfnote.audit.sheets import Cell, Column, Sheet, format_size
from selfnote.panels.states.base import Paged, PanelState
from selfnote.panels.states.injection import InjectionState
from selfnote.panels.states.memory import FactRow, MemoryState
from selfnote.panels.states.notes import NotesState
from selfnote.panels.states.overview import OverviewState
from selfnote.panels.states.persona import PersonaState
from selfnote.panels.states.profile import ProfileState, SentenceRow
from selfnote.panels.states.together import States
from selfnote.records.persona import PARTS


class Title(NamedTuple):
    """What a part is called."""

    text: str
    level: int = 3


class Line(NamedTuple):
    """A sentence."""

    text: str


class Verbatim(NamedTuple):
    """A text as it is."""

    text: str


Piece = Title | Line | Verbatim | Sheet


# --- tables ---------------------------------------------------------------------------------------
def _sheet(caption: str, columns: Iterable[Column], rows: Iterable[Iterable[Cell | str | int]]) -> Sheet:
    cells = (tuple(one if isinstance(one, Cell) else Cell(str(one)) for one in row) for row in rows)
    return Sheet(caption, tuple(columns), tuple(cells))


def bill(state: InjectionState) -> Sheet:
    """The bill by segment (S2-093)."""
    words = state.words
    return _sheet(
        words["bill title"],
        (
            Column(words["segment"]), Column("", "bar"), Column(words["chars used"], "number"),
            Column(words["budget"], "number"), Column(words["entries"], "number"), Column(words["out"], "number"),
            Column(words["column note"]),
        ),
        (
            (
                one.label, Cell(share=min(1.0, one.used / one.budget) if one.budget else 0.0), one.used, one.budget,
                one.entries, one.squeezed, one.note,
            )
            for one in state.bill
        ),
    )  # fmt: skip


def squeezed(state: InjectionState) -> Sheet:
    """What stayed out (S2-094)."""
    words = state.words
    return _sheet(
        words["squeezed title"],
        (
            Column(words["segment"]), Column(words["needs"], "number"), Column(words["remaining"], "number"),
            Column(words["why out"], "long"), Column(words["entries"], "text"),
        ),
        ((one.label, one.needs, one.left, one.reason, one.text) for one in state.squeezed.rows),
    )  # fmt: skip


def attribution(state: InjectionState) -> Sheet:
    """What became of each approved fact (S2-096)."""
    words = state.words
    return _sheet(
        words["attribution title"],
        (
            Column(words["state"]), Column(words["segment"], "long"), Column(words["hits"], "number"),
            Column(words["last hit"]), Column(words["seen"], "number"), Column(words["last seen"]),
            Column(words["heat"], "number"), Column(words["importance"], "number"), Column(words["fact"], "text"),
        ),
        (
            (
                one.state_label, one.segment, one.hits, one.last_hit, one.seen, one.last_seen, f"{one.heat:.2f}",
                f"{one.importance:g}", one.text,
            )
            for one in state.attribution.rows
        ),
    )  # fmt: skip


def index(state: OverviewState) -> Sheet:
    """How the index of past conversations stands (S2-057)."""
    words = state.words
    columns = (Column(words["column item"]), Column(words["column value"], "text"))
    return _sheet(words["index title"], columns, (row[:2] for row in state.index_rows))


def plan(state: OverviewState) -> Sheet:
    """What importing the chosen package would do, thing by thing (S2-274, S2-275)."""
    words = state.words
    columns = (
        Column(words["plan kind"]), Column(words["plan action"]), Column(words["plan why"], "long"),
        Column(words["column text"], "text"),
    )  # fmt: skip
    rows = ((one.kind, one.action, one.why, one.text) for one in state.plan.rows)
    return _sheet(state.say("plan title", name=state.chosen), columns, rows)


def _facts(state: MemoryState, title: str, rows: Iterable[FactRow]) -> Sheet:
    words = state.words
    return _sheet(
        title,
        (
            Column(words["state"]), Column(words["segment"], "long"), Column(words["heat"], "number"),
            Column(words["importance"], "number"), Column(words["hits"], "number"), Column(words["tags"], "long"),
            Column(words["fact"], "text"),
        ),
        (
            (
                one.state, one.place, f"{one.heat:.2f}", f"{one.importance:g}", one.hits,
                words["tag joint"].join(one.tags), one.text,
            )
            for one in rows
        ),
    )  # fmt: skip


def _page(state: PanelState, paged: Paged[Any, Any]) -> list[Piece]:
    """Which page of a list this is, where there are more."""
    if paged.pages <= 1:
        return []
    return [Line(state.say("page", page=paged.page + 1, pages=paged.pages, n=paged.count))]


# --- one twin a tab -------------------------------------------------------------------------------
def _overview(state: OverviewState) -> list[Piece]:
    words = state.words
    settings = [(one.label, "✓" if one.on else "—") for one in state.switches]
    settings += [(one.label, state.text_of(one.name)) for one in state.settings]
    bars = (
        state.say("bar", label=one.label, used=one.used, budget=one.budget, entries=one.entries, squeezed=one.squeezed)
        for one in state.bars
    )
    files = _sheet(
        words["files title"],
        (
            Column(words["column item"]), Column(words["column holds"], "long"),
            Column(words["column size"], "number"), Column(words["column modified"]),
            Column(words["column path"], "text"),
        ),
        (
            (one.label, one.summary, format_size(one.size) if one.size else "", one.modified, one.path)
            for one in state.files
        ),
    )  # fmt: skip
    pairs = (Column(words["column item"]), Column(words["column value"], "text"))
    return [
        _sheet(words["settings title"], pairs, settings),
        Title(words["budget title"]),
        *(Line(one) for one in bars),
        Line(state.bill),
        index(state),
        Title(words["migration title"]),
        Line(words["migration help"]),
        files,
    ]


def _notes(state: NotesState) -> list[Piece]:
    words = state.words
    rows = (
        (
            one.tier_label, "★" if one.pinned else "", one.on, one.length,
            words["tag joint"].join((*one.badges, *([one.place] if one.place else []))), one.text,
        )
        for one in state.rows.rows
    )  # fmt: skip
    columns = (
        Column(words["tier"]), Column(words["column pinned"]), Column(words["column date"]),
        Column(words["column length"], "number"), Column(words["state"], "long"), Column(words["column text"], "text"),
    )  # fmt: skip
    return [Line(state.ledger), _sheet(state.title, columns, rows), *_page(state, state.rows)]


def _persona(state: PersonaState) -> list[Piece]:
    words = state.words
    pieces: list[Piece] = []
    for part in PARTS:
        pieces += [Title(words[part]), Verbatim(state.text_of(part))]
    for one in state.counts:
        left = state.say("left", n=one.left) if one.left >= 0 else state.say("too many", n=-one.left)
        pieces.append(Line(f"{one.label}　{state.say('used', used=one.used, limit=one.limit)}　{left}"))
    columns = (
        Column(words["column said"]), Column(words["column signal"]), Column(words["sources"], "long"),
        Column(words["column text"], "text"),
    )  # fmt: skip
    rows = ((one.said, one.signal, one.source, one.text) for one in state.evidence.rows)
    fares = (
        (state.say("rule fares", n=one.count, last=one.last) if one.count else words["rule fares well"], one.rule)
        for one in state.rules
    )
    return [
        *pieces,
        _sheet(words["evidence title"], columns, rows),
        *_page(state, state.evidence),
        _sheet(words["rules title"], (Column(words["column fares"]), Column(words["column rule"], "text")), fares),
    ]


def _memory(state: MemoryState) -> list[Piece]:
    words = state.words
    cards = (
        (
            one.label or one.capture, one.reason, one.occurrences, one.source, words["tag joint"].join(one.flags),
            one.text,
        )
        for one in state.cards.rows
    )  # fmt: skip
    conflicts = ((one.left.status_label, one.left.text, one.right.text) for one in state.conflicts.rows)
    sides = (Column(words["state"]), Column(words["keep left"], "text"), Column(words["keep right"], "text"))
    habits = ((one.tag, one.facts, one.text) for one in state.habits.rows)
    offered = ((one.tag, one.count, words["sentence joint"].join(one.texts)) for one in state.offered.rows)
    tagged = (Column(words["tags"]), Column(words["fact"], "number"), Column(words["column text"], "text"))
    columns = (
        Column(words["filter capture"]), Column(words["filter trigger"]), Column(words["column heard"], "number"),
        Column(words["sources"], "long"), Column(words["show flagged"], "long"), Column(words["fact"], "text"),
    )  # fmt: skip
    return [
        _sheet(f"{words['conflicts title']} {state.totals['conflicts']}", sides, conflicts),
        *_page(state, state.conflicts),
        _sheet(f"{words['candidates title']} {state.totals['waiting']}", columns, cards),
        *_page(state, state.cards),
        _facts(state, f"{words['approved title']} {state.totals['approved']}", state.approved.rows),
        *_page(state, state.approved),
        Line(f"{words['retired title']} {state.totals['retired']}"),
        _sheet(words["offered title"], tagged, offered),
        _sheet(words["habits title"], tagged, habits),
    ]


def _profile(state: ProfileState) -> list[Piece]:
    words = state.words

    def sentences(title: str, found: Iterable[SentenceRow]) -> Sheet:
        columns = (Column(words["tags"]), Column(words["column text"], "text"), Column(words["sources"], "text"))
        return _sheet(
            title,
            columns,
            ((one.tag, one.text, words["sentence joint"].join(text for _, text in one.sources)) for one in found),
        )

    pieces: list[Piece] = [Line(state.warning)] if state.warning else []
    pieces += [Verbatim(state.text), Line(state.say("used", used=state.chars, limit=state.budget))]
    pieces.append(sentences(words["profile title"], state.sentences))
    return [*pieces, sentences(words["derived title"], state.derived)] if state.overridden else pieces


def _injection(state: InjectionState) -> list[Piece]:
    words = state.words
    return [
        Title(words["text title"]),
        *([Line(state.reason)] if state.reason else []),
        Verbatim(state.text),
        bill(state),
        Line(state.total),
        *(Line(one) for one in state.flags),
        squeezed(state),
        Line(words["skipped whole"]),
        *_page(state, state.squeezed),
        attribution(state),
        *_page(state, state.attribution),
        Line(words["attribution help"]),
    ]


_TWINS: dict[str, Callable[[Any], list[Piece]]] = {
    "overview": _overview,
    "notes": _notes,
    "persona": _persona,
    "memory": _memory,
    "profile": _profile,
    "injection": _injection,
}


def pieces_of(state: PanelState) -> list[Piece]:
    """What a panel shows, from its name on; tables without rows are left out."""
    lead = Line(state.words[f"lead {state.name}"])
    found = [Title(state.title, 2), lead, *(Line(one) for one in state.problems), *_TWINS[state.name](state)]
    return [one for one in found if not (isinstance(one, Sheet) and not one.rows)]


# --- as HTML and as text --------------------------------------------------------------------------
def _html(piece: Piece, language: str) -> str:
    match piece:
        case Title(text, level):
            return html_report.heading(text, level)
        case Line(text):
            return html_report.paragraph(text)
        case Verbatim(text):
            return html_report.verbatim(text, language) if text else ""
        case Sheet():
            return html_report.table(piece, language)


def twin(state: PanelState) -> str:
    """One panel as HTML that needs no kernel, no script and no request."""
    inner = "\n".join(_html(one, state.language) for one in pieces_of(state))
    return html_report.fragment(inner, state.language)


def _pieces_of_all(states: States, told: str = "") -> list[Piece]:
    """Every panel as the tabs stand; those of hidden tabs are read for it."""
    pieces: list[Piece] = [Line(one) for one in (told, *states.lead) if one]
    for state in states.in_order:
        awake, state.awake = state.awake, True
        pieces += pieces_of(state)
        state.awake = awake
    return pieces


def twin_of_all(states: States, told: str = "") -> str:
    """All panels, one under another."""
    language = states.in_order[0].language
    inner = "\n".join(_html(one, language) for one in _pieces_of_all(states, told))
    return html_report.fragment(inner, language)


def text_of(pieces: Iterable[Piece], width: int = 110) -> str:
    """The same pieces for a terminal."""
    from rich.console import Group
    from rich.text import Text

    from selfnote.audit.text_report import draw, print_plain, say

    parts: list[Any] = []
    for piece in pieces:
        match piece:
            case Title(text, _):
                parts += [Text(), say(text)]
            case Line(text):
                parts.append(say(text))
            case Verbatim(text):
                parts += [say(one) for one in text.split("\n")]
            case Sheet():
                parts.append(draw(piece, limit=None))
    return print_plain(Group(*parts), width=width)


class StaticPanels:
    """All panels to be read, where there are no widgets; ``str()`` is the same as text. Writes nothing."""

    def __init__(self, states: States, told: str) -> None:
        self.states, self.told = states, told

    def _repr_html_(self) -> str:
        return twin_of_all(self.states, self.told)

    def __str__(self) -> str:
        return text_of(_pieces_of_all(self.states, self.told))

    __repr__ = __str__

    def close(self) -> None:
        """Nothing is held open; there so that it is closed like the widget it stands for."""


class StaticPanel:
    """One panel to be read, where there are no widgets."""

    def __init__(self, state: PanelState, told: str) -> None:
        self.state, self.told = state, told

    def _repr_html_(self) -> str:
        return html_report.paragraph(self.told) + twin(self.state)

    def __str__(self) -> str:
        return text_of([Line(self.told), *pieces_of(self.state)])

    __repr__ = __str__

    def close(self) -> None:
        """Nothing is held open."""
