"""The tab 画像 as widgets: each sentence with its sources, and the owner's own wording of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from selfnote.panels.states.profile import KEY, ProfileState, SentenceRow
from selfnote.panels.views.panel import PanelView
from selfnote.panels.views.pieces import DraftField, Kit, badges, heading, line, reasons


class ProfileView(PanelView):
    """The view of a ``ProfileState``."""

    state: ProfileState

    def _build(self, kit: Kit) -> list[Any]:
        state, words = self.state, self.state.words
        self._text = kit.html("sn-profile-text")
        self._field = DraftField(
            kit,
            KEY,
            words["override"],
            lines=4,
            help=state.say("override help", name=state.prefix),
            told=self._count,
            save=lambda _: state.save(),
        )
        start = kit.button(words["start"], state.start, "sn-start")
        holds = kit.button(words["still holds"], state.still_holds, "sn-still-holds", act="still_holds")
        self._follow = kit.button("", state.follow_facts, "sn-follow-facts", act="follow_facts")
        self._why = kit.html("sn-why")
        self._derived = kit.html("sn-derived")
        return [self._text, self._field.widget, kit.bar(start, holds, self._follow), self._why, self._derived]

    def _count(self, _: str) -> str:
        left = self.state.left()
        told = self.state.say("left", n=left) if left >= 0 else self.state.say("too many", n=-left)
        return line(told, "" if left >= 0 else "sn-bad")

    def _draw(self) -> None:
        state, kit, words = self.state, self._kit, self.state.words
        used = state.say("used", used=state.chars, limit=state.budget)
        told = heading(words["profile title"]) + line(used, "sn-dim") + line(state.warning, "sn-problem")
        kit.put(self._text, value=told + (sentences_html(state, state.sentences) or line(words["nothing here"])))
        self._field.draw()
        kit.put(self._follow, description=state.follow_label())
        kit.classes(self._follow, "sn-follow-facts", *(["sn-danger"] if state.armed == "follow facts" else []))
        acts = [("still_holds", words["still holds"]), ("follow_facts", words["follow facts"])]
        kit.put(self._why, value=reasons(state, *acts))
        derived = heading(words["derived title"]) + sentences_html(state, state.derived) if state.overridden else ""
        kit.put(self._derived, value=derived)


def sentences_html(state: ProfileState, sentences: Iterable[SentenceRow]) -> str:
    """Sentences, each with its tag and the facts behind it (S2-091)."""
    told = ""
    for one in sentences:
        sources = "".join(line(f"{state.words['sources']} {id_}　{text}", "sn-dim") for id_, text in one.sources)
        told += f'<div class="sn-row"><div>{badges(one.tag)}</div>{line(one.text, "sn-said")}{sources}</div>'
    return told
