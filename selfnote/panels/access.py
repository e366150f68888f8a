"""What ipywidgets cannot tell whoever reads the panels by ear or works them by keys: one small listener in the page."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

#: Names rows and their state, keeps the region that is read aloud, lets arrows switch the tabs, and keeps the focus
#: where a control was that an act took away. It moves nothing an owner sees, and asks nothing of the kernel.
LISTENER = """
const CONTROLS = "button, input, select, textarea, [tabindex='0']";
const KINDS = ["sn-row", "sn-bar", "sn-field", "sn-section", "sn-primary", "sn-danger", "sn-at-cursor", "sn-hidden"];
const MOVES = ["ArrowLeft", "ArrowRight", "Home", "End"];
const WATCHED = { attributes: true, attributeFilter: ["class", "disabled"], childList: true, subtree: true };
const ROW = ".sn-row.jupyter-widgets";
const HAN = /\\p{Script=Han}/u;
const LONGEST = 80;
const QUIET = 50;
const PATIENCE = 250;

const put = (node, name, value) => {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
};
const short = (text) => {
  const chars = [...text];
  return chars.length > LONGEST ? `${chars.slice(0, LONGEST - 1).join("")}…` : text;
};
const own = (node) => [...(node?.classList ?? [])].filter((one) => one.startsWith("sn-") && !KINDS.includes(one));
const usable = (node) => node.isConnected && !node.disabled && node.getClientRects().length > 0;
const find = (panels, classes) => {
  if (!classes.length) return null;
  const found = panels.querySelector(classes.map((one) => `.${CSS.escape(one)}`).join(""));
  return found && usable(found) ? found : null;
};

function describe(panels, language) {
  const all = (selector) => panels.querySelectorAll(selector);
  put(panels, "lang", language);
  if (document.body.dataset.voila) put(document.documentElement, "lang", language);
  for (const one of all(".sn-notice")) put(one, "role", "status");
  for (const one of all("button.sn-section")) put(one, "aria-expanded", String(one.classList.contains("mod-active")));
  for (const row of all(ROW)) {
    const told = [...row.querySelectorAll(".sn-said, .sn-name")].map((one) => one.textContent.trim()).join(" / ");
    if (!told) continue;
    put(row, "role", "group");
    put(row, "aria-label", short(told));
    if (row.classList.contains("sn-at-cursor")) put(row, "aria-current", "true");
    else row.removeAttribute("aria-current");
  }
  const places = panels.querySelector(".widget-tab-contents")?.children ?? [];
  all("[role=tab]").forEach((tab, place) => {
    // The tabs leave their one stop where the arrows were last, not where a click went.
    put(tab, "tabindex", tab.getAttribute("aria-selected") === "true" ? "0" : "-1");
    if (!places[place]) return;
    put(places[place], "role", "tabpanel");
    put(places[place], "aria-labelledby", tab.id);
  });
  if (language.startsWith("zh")) return;
  for (const one of all("[dir=auto]:not([lang])")) if (HAN.test(one.textContent)) put(one, "lang", "zh");
}

/* Where the focus is, and what stands around it: what is left of that is where it goes when the control goes. */
function remember(panels, at) {
  const row = at.closest(ROW);
  const list = row?.closest("[class*='sn-list-']");
  const rows = list ? [...list.querySelectorAll(ROW)] : [];
  const place = rows.indexOf(row);
  const panel = at.closest(".sn-panel") ?? panels;
  const others = [...panel.querySelectorAll(CONTROLS)].filter((one) => one !== at);
  const follows = (one) => at.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING;
  return {
    at, panel, row,
    tag: at.tagName,
    control: own(at.closest(".jupyter-widgets")),
    rowName: own(row),
    neighbours: [...rows.slice(place + 1), ...rows.slice(0, Math.max(place, 0)).reverse()].map(own),
    nearest: [...others.filter((one) => !follows(one)).reverse(), ...others.filter(follows)],
  };
}

/* The same control made anew; else the next row; else the control before it. */
function instead(panels, held) {
  const widget = find(panels, held.control);
  const again = widget?.tagName === held.tag ? widget : widget?.querySelector(held.tag);
  if (again && usable(again)) return again;
  const row = find(panels, held.rowName);
  if (row && row !== held.row) return row;
  const neighbour = held.row && !row && held.neighbours.map((one) => find(panels, one)).find((one) => one);
  return neighbour || held.nearest.find(usable) || held.panel;
}

function focus(node) {
  if (!node.matches(CONTROLS)) {
    node.setAttribute("tabindex", "-1");
    node.addEventListener("blur", () => node.removeAttribute("tabindex"), { once: true });
  }
  node.focus();
}

function render({ model, el }) {
  let panels = null;
  let held = null;
  let byPointer = false;
  let timer = 0;
  let since = 0;
  const ending = new AbortController();

  const lost = () => {
    const at = document.activeElement;
    return at === null || at === document.body || (at === held?.at && at.disabled);
  };
  const settle = () => {
    timer = since = 0;
    if (held && lost()) {
      // A pointer is not led anywhere: what it was at is under it still, or is not.
      if (!byPointer) focus(instead(panels, held));
      else held = null;
    }
    describe(panels, model.get("language"));
    if (panels.contains(document.activeElement)) held = remember(panels, document.activeElement);
  };
  const changed = () => {
    since ||= performance.now();
    clearTimeout(timer);
    timer = setTimeout(settle, performance.now() - since > PATIENCE ? 0 : QUIET);
  };
  const left = (event) => {
    if (event.relatedTarget) {
      if (!panels.contains(event.relatedTarget)) held = null;
      return;
    }
    // Gone to nowhere: its owner left it, unless it was taken away.
    setTimeout(() => {
      if (held && lost() && usable(held.at)) held = null;
    });
  };
  const pressed = (event) => {
    byPointer = false;
    if (!MOVES.includes(event.key) || !event.target.closest?.("[role=tab]")) return;
    // The tabs move the focus themselves, and wait for Enter.
    setTimeout(() => {
      const tab = document.activeElement;
      if (tab.getAttribute("role") !== "tab" || tab.getAttribute("aria-selected") === "true") return;
      tab.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    });
  };
  const begin = () => {
    if (ending.signal.aborted) return;
    panels = el.closest(".sn-panels") ?? el.closest(".sn-panel");
    if (!panels) {
      requestAnimationFrame(begin);
      return;
    }
    const hear = (kind, call) => panels.addEventListener(kind, call, { capture: true, signal: ending.signal });
    hear("focusin", (event) => { held = remember(panels, event.target); });
    hear("focusout", left);
    hear("keydown", pressed);
    hear("pointerdown", () => { byPointer = true; });
    // What reads aloud clicks without a pointer.
    hear("click", (event) => { if (event.detail === 0) byPointer = false; });
    const watching = new MutationObserver(changed);
    watching.observe(panels, WATCHED);
    ending.signal.addEventListener("abort", () => watching.disconnect());
    model.on("change:language", changed);
    settle();
  };
  begin();
  return () => { clearTimeout(timer); ending.abort(); };
}
export default { render };
"""

#: What the panels' languages are called in a page.
TAGS = {"zh": "zh-Hans", "en": "en"}


@functools.cache
def _listener() -> type | None:
    """The widget that listens; None where anywidget is missing."""
    try:
        import anywidget
    except ImportError:
        return None
    import traitlets as t

    class Access(anywidget.AnyWidget):  # type: ignore[misc,unused-ignore] # no types where it is not installed
        """Shows nothing itself."""

        _esm = LISTENER
        language = t.Unicode().tag(sync=True)

    return Access


def make_access(make: Callable[..., Any], language: str) -> list[Any]:
    """The listener for what it is put into, made with ``make(kind, *classes, **traits)``; none without anywidget."""
    kind = _listener()
    return [] if kind is None else [make(kind, "sn-access", "sn-hidden", language=TAGS[language])]
