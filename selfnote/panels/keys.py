"""The keys of the review: one small listener for a, r, j, k and u; without it the panel says that keys are off."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from selfnote.audit.html_report import show
from selfnote.panels.states.memory import KEYS

if TYPE_CHECKING:
    from selfnote.panels.views.pieces import Kit

#: Keys that decide about a card.
DECIDING = tuple(key for key, act in KEYS.items() if act in {"approve", "retire"})

#: Hears keys where the focus is inside the panel, or nowhere; never while something is being typed, nor with Ctrl, Alt
#: or Meta. Asked before the page's own shortcuts: `a` would else make a cell in a notebook. A key that decides does so
#: only about the card in the frame, where the owner sees it and is not at another one.
LISTENER = """
function render({ model, el }) {
  const root = () => el.closest(".sn-memory");
  const typing = (at) => at.isContentEditable
    || (at.closest && at.closest("textarea, select, input:not([type=checkbox]):not([type=radio]):not([type=button])"));
  const framed = () => root()?.querySelector(".sn-at-cursor");
  const words = (card) => card.querySelector(".sn-said") || card;
  const seen = (card) => {
    const box = words(card).getBoundingClientRect();
    const top = card.getRootNode().elementFromPoint(box.left + Math.min(box.width / 2, 40), box.top + box.height / 2);
    return top !== null && card.contains(top);
  };
  const mayDecide = (at) => {
    const card = framed();
    if (!card || (at instanceof Element && card.contains(at))) return true;
    if (at instanceof Element && at.closest(".sn-row")) return false;
    if (seen(card)) return true;
    words(card).scrollIntoView({ block: "center" });
    return false;
  };
  const hear = (event) => {
    const panel = root();
    if (!panel || !el.offsetParent || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (!model.get("known").includes(event.key)) return;
    const at = event.composedPath()[0];
    const nowhere = at === document.body && document.querySelector(".sn-memory") === panel;
    if (!nowhere && !panel.contains(at)) return;
    if (at instanceof Element && at !== document.body && typing(at)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (model.get("deciding").includes(event.key) && !mayDecide(at)) return;
    model.send({ key: event.key });
  };
  const follow = () => {
    const card = framed();
    const box = card?.getBoundingClientRect();
    if (box && (box.bottom > window.innerHeight || !seen(card))) card.scrollIntoView({ block: "nearest" });
  };
  window.addEventListener("keydown", hear, true);
  model.on("change:moved", () => requestAnimationFrame(follow));
  el.textContent = model.get("told");
  return () => window.removeEventListener("keydown", hear, true);
}
export default { render };
"""


class Keys(NamedTuple):
    """The listener, or a sentence in its place; ``moved`` lets the page follow the cursor."""

    widget: Any
    on: bool

    def moved(self) -> None:
        """The cursor went somewhere else by a key."""
        if self.on:
            self.widget.moved += 1


@functools.cache
def _listener() -> type | None:
    """The widget that hears keys; None where anywidget is missing."""
    try:
        import anywidget
    except ImportError:
        return None
    import traitlets as t

    class Listener(anywidget.AnyWidget):  # type: ignore[misc,unused-ignore] # no types where it is not installed
        """Sends each key that means something."""

        _esm = LISTENER
        known = t.List(t.Unicode()).tag(sync=True)
        deciding = t.List(t.Unicode()).tag(sync=True)
        told = t.Unicode().tag(sync=True)
        moved = t.Int(0).tag(sync=True)

    return Listener


def make_keys(kit: Kit, press: Callable[[str], object]) -> Keys:
    """A listener that calls ``press`` with each of the review's keys; where there is none, that keys are off."""
    words = kit.state.words
    kind = _listener()
    if kind is None:
        return Keys(kit.html("sn-keys", value=f'<div class="sn-dim">{show(words["keys off"])}</div>'), on=False)
    widget = kit.make(kind, "sn-keys", known=list(KEYS), deciding=list(DECIDING), told=words["keys"])

    def heard(_: object, content: Any, __: object) -> None:
        key = content.get("key") if isinstance(content, dict) else None
        if isinstance(key, str) and key in KEYS:
            press(key)

    widget.on_msg(heard)
    return Keys(widget, on=True)
