"""The small pieces views are built of: buttons that say why they are off, fields with a draft, pages, pooled rows."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, TypeVar

import ipywidgets as W  # noqa: N812 - as its own documentation's short name, one letter
import traitlets as t

from selfnote.audit.html_report import show
from selfnote.panels.states.base import Draft, Paged, PanelState
from selfnote.panels.states.memory import OpenedSource

Key = TypeVar("Key", bound=Hashable)

#: Seconds a page has to draw a field, and to send what was typed into it.
DRAWN = 0.2
#: Rows that stand in one box.
CHUNK = 4
_NOT_IN_A_CLASS = re.compile(r"[^\w-]")


# --- words into HTML ------------------------------------------------------------------------------
def slug(identifier: str) -> str:
    """An id as it may stand in a class: what is neither a letter, a digit, ``_`` nor ``-`` becomes ``-``."""
    return _NOT_IN_A_CLASS.sub("-", identifier)


def name(what: str, *identifiers: str) -> str:
    """The class of a widget: ``sn-<what>-<id>``."""
    return "-".join(("sn", what, *map(slug, identifiers)))


def line(text: str, kind: str = "") -> str:
    """A line of words."""
    kinds = f' class="{kind}"' if kind else ""
    return f'<div{kinds} dir="auto">{show(text)}</div>' if text else ""


def badge(text: str, kind: str = "") -> str:
    """A word in a frame."""
    return f'<span class="sn-badge {kind}">{show(text)}</span>'


def badges(*words: str, kind: str = "") -> str:
    """Several, those that say something."""
    return "".join(badge(word, kind) for word in words if word)


def joined(*words: str) -> str:
    """What is to be known beside, with a dot between."""
    return line(" · ".join(word for word in words if word), "sn-dim")


def heading(text: str) -> str:
    """What a part is called."""
    return f"<h3>{show(text)}</h3>"


def problems(state: PanelState) -> str:
    """What cannot be read."""
    return "".join(line(problem, "sn-problem") for problem in state.problems)


def notice(state: PanelState) -> str:
    """What was done or refused."""
    if state.error is not None:
        detail = line(state.error.detail, "sn-dim")
        return f'<div class="sn-error" role="alert">{line(state.error.sentence)}{detail}</div>'
    return f'<div class="sn-message">{line(state.message)}</div>' if state.message else ""


def heads_unseen(*words: str) -> str:
    """What the columns of a table are called, for whoever does not see that they speak for themselves."""
    cells = "".join(f'<th scope="col"><span class="sn-unseen">{show(word)}</span></th>' for word in words)
    return f"<thead><tr>{cells}</tr></thead>"


def opened_source(opened: OpenedSource, words: Mapping[str, str]) -> str:
    """The message a source points at, with what was said around it."""
    rows = "".join(
        f"<tr{' aria-current=true' if here else ''}><td>{'→' if here else ''}</td><td>{show(source)}</td>"
        f'<td>{show(who)}</td><td dir="auto">{f"<b>{show(said)}</b>" if here else show(said)}</td></tr>'
        for here, source, who, said in opened.lines
    )
    told = line(opened.sentence, "" if opened.ok else "sn-warn")
    heads = heads_unseen(*(words[one] for one in ("column here", "sources", "column who", "column text")))
    return told + (f'<div class="sn-wide"><table>{heads}{rows}</table></div>' if rows else "")


def path_button(path: str, label: str) -> str:
    """A path that a click copies (S2-062); without a clipboard the click selects it whole."""
    copy = "navigator.clipboard&amp;&amp;navigator.clipboard.writeText(this.textContent)"
    return f'<button type="button" class="sn-path" title="{escape(label)}" onclick="{copy}">{show(path)}</button>'


# --- widgets --------------------------------------------------------------------------------------
def soon(call: Callable[[], object]) -> None:
    """Call once a page had time to draw, and to send what was typed; where none is alive, now."""
    try:
        asyncio.get_running_loop().call_later(DRAWN, call)
    except RuntimeError:
        call()


class Kit:
    """Makes the widgets of one view and knows them all, so that closing the view frees every one.

    Widgets of a kind share one layout and one style: a page of cards is hundreds of widgets less. What a control does
    goes through ``run``, which draws once when it is done. ``put`` shows a value without taking it for the owner's.
    """

    def __init__(self, state: PanelState, run: Callable[..., None]) -> None:
        self.state = state
        self.run = run
        self.made: list[Any] = []
        self._shared: dict[type, dict[str, Any]] = {}
        self._acts: list[tuple[Any, str, str]] = []
        self._putting = 0

    def make(self, kind: type, *classes: str, **traits: Any) -> Any:
        """One widget with its classes; where none was given, a page would show a tooltip that says ``null``."""
        traits = {"tooltip": "", **traits}
        shared = self._shared.get(kind, {})
        widget = kind(_dom_classes=tuple(classes), **shared, **traits)
        if not shared:
            parts = {one: getattr(widget, one) for one in ("layout", "style") if widget.has_trait(one)}
            self._shared[kind] = {one: part for one, part in parts.items() if part is not None}
            self.made += self._shared[kind].values()
        self.made.append(widget)
        return widget

    def html(self, *classes: str, value: str = "") -> Any:
        """Words."""
        return self.make(W.HTML, *classes, value=value)

    def rows(self, *children: Any, classes: Sequence[str] = ()) -> Any:
        """Widgets one under another."""
        return self.make(W.VBox, *classes, children=children)

    def bar(self, *children: Any, classes: Sequence[str] = ()) -> Any:
        """Widgets side by side, in more lines where they need them."""
        return self.make(W.HBox, "sn-bar", *classes, children=children)

    def button(self, label: str, click: Callable[[], object], *classes: str, act: str = "", help: str = "") -> Any:  # noqa: A002 - what it is
        """A button; ``act`` is what it does in the state's ``reasons``, which disable it."""
        widget = self.make(W.Button, *classes, description=label, tooltip=help)
        widget.on_click(lambda _: self.run(click))
        if act:
            self._acts.append((widget, act, help))
        return widget

    def control(self, kind: type, changed: Callable[[Any], object], *classes: str, **traits: Any) -> Any:
        """A field or a choice; ``changed`` is called with what the owner made of it."""
        widget = self.make(kind, *classes, **traits)
        widget.observe(lambda change: None if self._putting else self.run(changed, change["new"]), "value")
        return widget

    def choice(self, label: str, chosen: Callable[[str], object], *classes: str) -> Any:
        """One of several; its options come with ``offer``."""
        return self.control(W.Dropdown, chosen, *classes, description=label)

    def offer(self, widget: Any, options: Iterable[tuple[str, str]], value: str) -> None:
        """Give a choice its options as (label, value); one that is chosen but not offered is offered too."""
        found = tuple(options)
        if value not in [one for _, one in found]:
            found = (*found, (value, value))
        self.put(widget, options=found)
        self.put(widget, value=value)

    def put(self, widget: Any, **traits: Any) -> None:
        """Show values in a widget; the same ones cost nothing."""
        self._putting += 1
        try:
            for trait, value in traits.items():
                if getattr(widget, trait) != value:
                    setattr(widget, trait, value)
        finally:
            self._putting -= 1

    def classes(self, widget: Any, *classes: str, shown: bool = True) -> None:
        """Name a widget anew, and show it or not."""
        self.put(widget, _dom_classes=(*classes, *(() if shown else ("sn-hidden",))))

    def show(self, widget: Any, *, shown: bool) -> None:
        """Show a widget or not; its classes stay."""
        self.classes(widget, *(one for one in widget._dom_classes if one != "sn-hidden"), shown=shown)  # noqa: SLF001 - ipywidgets' name for a trait of every widget

    def disable(self) -> None:
        """Disable what the state gives a reason against, and tell it where the pointer rests, too."""
        for widget, act, told in self._acts:
            why = self.state.why_disabled(act)
            self.put(widget, disabled=bool(why), tooltip=why or told)

    def close(self) -> None:
        """Free every widget."""
        for widget in self.made:
            widget.close()
        self.made, self._acts = [], []


def reasons(state: PanelState, *acts: tuple[str, str]) -> str:
    """Why controls are disabled, as (act, label): the reason once, with the controls it holds for (COMPLAINTS 66)."""
    found: dict[str, list[str]] = {}
    for act, label in acts:
        if why := state.why_disabled(act):
            found.setdefault(why, []).append(label)
    return "".join(line(f"{' / '.join(labels)} — {why}", "sn-why") for why, labels in found.items())


class Pager:
    """Which page of a list is shown, and the way to the others; what leads nowhere is not there."""

    def __init__(self, kit: Kit, paged: Paged[Any, Any], what: str) -> None:
        self.kit, self.paged, self._what = kit, paged, what
        words = kit.state.words
        self._previous = kit.button(words["previous page"], paged.previous, name("previous", what))
        self._next = kit.button(words["next page"], paged.next, name("next", what))
        self._label = kit.html(name("page", what))
        self.widget = kit.bar(self._previous, self._label, self._next)

    def draw(self) -> None:
        """Show where the list stands."""
        paged, kit = self.paged, self.kit
        told = kit.state.say("page", page=paged.page + 1, pages=paged.pages, n=paged.count)
        kit.put(self._label, value=line(told))
        kit.show(self._previous, shown=paged.page > 0)
        kit.show(self._next, shown=paged.page + 1 < paged.pages)
        kit.show(self.widget, shown=paged.pages > 1)


class Row:
    """One row of a list: widgets that are filled anew with whatever row stands at their place.

    A panel's row makes its widgets once and sets ``box``; ``fill`` fills them. It is called only when something is new.
    """

    box: Any

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self.row: Any = None
        self._filled: object = None

    def fill(self, row: Any, *beside: Any) -> None:
        """Show a row, and what stands beside it in the state."""
        raise NotImplementedError

    def forget(self) -> None:
        """What is shown may not be what the state says: fill again when drawn next."""
        self._filled = None

    def draw(self, row: Any, *beside: Any) -> None:
        """Show it, if it is not what is shown already."""
        if self._filled != (row, beside):
            self._filled, self.row = (row, beside), row
            self.fill(row, *beside)


def chunked(wanted: Sequence[Key], before: Sequence[Sequence[Key]], size: int = CHUNK) -> list[list[Key]]:
    """``wanted`` in order, in chunks of about ``size``; what stood in a chunk ``before`` stays in it where it can.

    A page that is told of other children makes anew all from the first one that differs. In chunks, a row that goes
    costs its own chunk only, not every row below it.
    """
    even = [list(wanted[place : place + size]) for place in range(0, len(wanted), size)]
    place = {key: number for number, chunk in enumerate(before) for key in chunk}
    if not any(key in place for key in wanted):
        return even
    chunks: list[list[Key]] = [[] for _ in before]
    at = 0
    for key in wanted:
        known = place.get(key)
        if known is None and len(chunks[at]) >= size:
            at += 1
            if at == len(chunks):
                chunks.append([])
        elif known is not None and known < at:
            return even
        elif known is not None:
            at = known
        chunks[at].append(key)
    return chunks if len(chunks) <= 2 * len(even) else even


class RowList:
    """A page of rows, their widgets used again: never are there more than two pages of them.

    A row keeps its widgets while it is shown. What just went rests until the next change: the second click of a double
    click is still on its way to it, and must not decide about another. ``beside`` gives what of the state, beside the
    row itself, changes how the row looks.
    """

    def __init__(
        self,
        kit: Kit,
        paged: Paged[Any, Any],
        what: str,
        make: Callable[[Kit], Row],
        beside: Callable[[Any], tuple[Any, ...]] = lambda _: (),
    ) -> None:
        self.kit, self.paged, self._make, self._beside = kit, paged, make, beside
        self._placed: dict[tuple[str, int], Row] = {}
        self._resting: list[Row] = []
        self._spare: list[Row] = []
        self._chunks: list[list[tuple[str, int]]] = []
        self._boxes: list[Any] = []
        self._pager = Pager(kit, paged, what)
        self._empty = kit.html(value=line(kit.state.words["nothing here"], "sn-dim"))
        self._rows = kit.rows(classes=(name("list", what),))
        self.widget = kit.rows(self._rows, self._empty, self._pager.widget)

    def draw(self) -> None:
        """Fill the rows of this page."""
        rows = self.paged.rows
        seen = Counter[str]()
        wanted = {}
        for row in rows:
            identity = _identity(row)
            wanted[identity, seen[identity]] = row
            seen[identity] += 1
        left = [one for key, one in self._placed.items() if key not in wanted]
        if left:
            self._spare, self._resting = self._spare + self._resting, left
        self._placed = {key: self._placed.get(key) or self._take() for key in wanted}
        for key, row in wanted.items():
            self._placed[key].draw(row, *self._beside(row))
        self._chunks = chunked(list(wanted), self._chunks)
        while len(self._boxes) < len(self._chunks):
            self._boxes.append(self.kit.rows())
        for box, chunk in zip(self._boxes, self._chunks, strict=False):
            self.kit.put(box, children=tuple(self._placed[key].box for key in chunk))
        self.kit.put(self._rows, children=tuple(self._boxes[: len(self._chunks)]))
        self.kit.show(self._empty, shown=not rows)
        self._pager.draw()

    def _take(self) -> Row:
        return self._spare.pop(0) if self._spare else self._make(self.kit)


def _identity(row: Any) -> str:
    """What a row is about: a record, a group or a tag."""
    return str(next(getattr(row, one) for one in ("id", "key", "tag") if hasattr(row, one)))


class DraftField:
    """A field over one draft: what is typed is kept by the state, and what becomes of it is told beside it.

    ``told`` says how much is used or left; ``save`` makes a button that saves this draft; ``as_new`` one that takes the
    draft of what is gone as something new. ``key`` may be another one later (``bind``).
    """

    def __init__(
        self,
        kit: Kit,
        key: str,
        label: str,
        *,
        lines: int = 2,
        help: str = "",  # noqa: A002 - what it is
        told: Callable[[str], str] | None = None,
        save: Callable[[str], object] | None = None,
        save_label: str = "",
        as_new: Callable[[str], object] | None = None,
    ) -> None:
        self.kit, self.key = kit, key
        self._told, self._as_new = told, as_new
        state, words = kit.state, kit.state.words
        kind = W.Textarea if lines > 1 else W.Text
        traits: dict[str, Any] = {"rows": lines} if lines > 1 else {}
        self.field = kit.control(kind, self._typed, description=label, continuous_update=True, **traits)
        if lines == 1:
            self.field.on_msg(self._heard)
        self._help = kit.html(value=line(help, "sn-dim"))
        self._count = kit.html()
        self._elsewhere = kit.html()
        self._save = None
        if save is not None:
            self._save = kit.button(save_label or words["save"], lambda: save(self.key))
        self._discard = kit.button(words["discard"], lambda: self._ask_discard(state))
        self._overwrite = kit.button(words["overwrite"], lambda: state.overwrite(self.key))
        self._new = kit.button(words["add as new"], lambda: as_new(self.key) if as_new else None)
        buttons = [one for one in (self._save, self._discard, self._overwrite, self._new) if one is not None]
        # What is told beside the buttons comes after them: no button takes the place of another while one types.
        self.widget = kit.rows(self.field, self._help, kit.bar(*buttons, self._count), self._elsewhere)
        kit.show(self._help, shown=bool(help))

    def _typed(self, text: str) -> None:
        self.kit.state.write(self.key, text)

    def _heard(self, _: object, content: Any, __: object) -> None:
        """Enter in a field of one line saves it, where its button would; its last letter may still be on the way."""
        if isinstance(content, dict) and content.get("event") == "submit":
            soon(self._enter)

    def _enter(self) -> None:
        if self._save is not None and not self._save.disabled:
            self._save.click()

    def _ask_discard(self, state: PanelState) -> None:
        state.ask_discard(self.key)
        # A row draws its field only when the row is new.
        self.draw()

    def focus(self) -> None:
        """Put the owner's cursor into the field; where a page is alive, once it has drawn the field."""
        soon(self.field.focus)

    def bind(self, key: str) -> None:
        """Stand over another draft."""
        self.key = key
        self.draw()

    def draw(self) -> None:
        """Show the draft, else what is stored."""
        kit, key = self.kit, self.key
        state: PanelState = kit.state
        draft: Draft | None = state.drafts.get(key)
        gone = draft is not None and draft.elsewhere and draft.stored is None
        over = draft is not None and draft.elsewhere and draft.stored is not None
        kit.put(self.field, value=state.text_of(key))
        kit.classes(self.field, "sn-field", name("field", key))
        kit.classes(self._count, name("count", key))
        if self._save is not None:
            self._draw_save(state, key, draft)
        else:
            kit.put(self._count, value=self._told(key) if self._told else "")
        asked = state.armed == f"discard {key}"
        kit.classes(self._discard, name("discard", key), *(["sn-danger"] if asked else []), shown=draft is not None)
        label = "really discard" if asked else "take theirs" if over else "discard"
        kit.put(self._discard, description=state.words[label])
        kit.classes(self._overwrite, name("overwrite", key), shown=over)
        kit.classes(self._new, name("add-as-new", key), shown=gone and self._as_new is not None)
        kit.classes(self._elsewhere, name("elsewhere", key), shown=over or gone)
        if draft is not None and over:
            kit.put(self._elsewhere, value=line(state.say("changed elsewhere", text=draft.stored), "sn-problem"))
        elif gone:
            kit.put(self._elsewhere, value=line(state.words["gone elsewhere"], "sn-problem"))

    def _draw_save(self, state: PanelState, key: str, draft: Draft | None) -> None:
        why = state.why_disabled("save") or ("" if draft is not None else state.words["why unchanged"])
        told = (self._told(key) if self._told else "") + line(why, "sn-why")
        self.kit.put(self._count, value=told)
        self.kit.classes(self._save, "sn-primary", name("save", key))
        self.kit.put(self._save, disabled=bool(why), tooltip=why)


class SourceBox:
    """What was said where a fact comes from, in the row whose source was opened."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self._told = kit.html()
        close = kit.button(kit.state.words["close"], self._close, "sn-close-source")
        self.widget = kit.rows(self._told, close, classes=("sn-opened",))

    def _close(self) -> None:
        self.kit.state.close_source()  # type: ignore[attr-defined] # only states with sources have such a box

    def draw(self, opened: OpenedSource | None) -> None:
        """Show a source."""
        if opened is not None:
            self.kit.put(self._told, value=opened_source(opened, self.kit.state.words))


def watch(state: t.HasTraits, call: Callable[[], None]) -> Callable[[Any], None]:
    """Call when any trait of ``state`` changes; gives what to unobserve with."""

    def changed(_: Any) -> None:
        call()

    state.observe(changed)
    return changed
