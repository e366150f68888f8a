"""The tab 人格 as widgets: three editors with what is left, and the way from the owner's own words to a rule."""

from __future__ import annotations

from functools import partial
from typing import Any

import ipywidgets as W  # noqa: N812 - as its own documentation's short name, one letter

from selfnote.panels.states.persona import Count, EvidenceRow, PersonaState, RuleRow
from selfnote.panels.views.panel import PanelView
from selfnote.panels.views.pieces import DraftField, Kit, Row, RowList, badges, heading, joined, line, name, reasons
from selfnote.records.persona import PARTS

#: Lines of the three editors.
_LINES = {"l0": 3, "l1": 11, "l2": 8}


class PersonaView(PanelView):
    """The view of a ``PersonaState``."""

    state: PersonaState

    def _build(self, kit: Kit) -> list[Any]:
        state, words = self.state, self.state.words
        self._fields = {
            part: DraftField(kit, part, words[part], lines=_LINES[part], help=words[f"{part} help"], told=self._count)
            for part in PARTS
        }
        self._over = kit.html("sn-over")
        self._why = kit.html("sn-why")
        self._rule_why = kit.html("sn-why")
        save = kit.button(
            words["save persona"], state.save, "sn-save-persona", "sn-primary", act="save",
            help=words["save persona help"],
        )  # fmt: skip
        fill = kit.button(
            words["import agent file"],
            state.import_agent_file,
            "sn-import-agent-file",
            act="import_agent_file",
            help=words["import agent file help"],
        )
        self._handled = kit.control(
            W.Checkbox, partial(setattr, state, "show_handled"), "sn-show-handled", description=words["show handled"],
            indent=False,
        )  # fmt: skip
        self._evidence = RowList(kit, state.evidence, "evidence", lambda kit: Evidence(kit, state), self._beside)
        self._write = kit.button("", state.write_rule, "sn-write-rule", act="write_rule")
        self._quotes = kit.html("sn-quotes")
        self._rule = kit.control(
            W.Textarea, partial(setattr, state, "rule"), "sn-field", "sn-rule", description=words["rule"], rows=4,
            continuous_update=True,
        )  # fmt: skip
        add = kit.button(words["add rule"], state.add_rule, "sn-add-rule", "sn-primary", act="add_rule")
        self._room = kit.html("sn-rule-room")
        dismiss = kit.button(words["dismiss"], state.dismiss, "sn-dismiss", act="dismiss")
        self._rules = kit.html("sn-rules")
        return [
            *(self._fields[part].widget for part in PARTS),
            self._over,
            kit.bar(save, fill, kit.html(value=line(words["save persona help"], "sn-dim"))),
            self._why,
            kit.html(value=heading(words["evidence title"])),
            self._handled,
            self._evidence.widget,
            kit.bar(self._write, dismiss),
            self._quotes,
            self._rule,
            kit.bar(add, self._room, self._rule_why),
            self._rules,
        ]

    def _count(self, part: str) -> str:
        """How much is left where a part is written: L0 alone, L1 with L0, L2 with the whole file."""
        return count_html(self.state, self.state.counts[PARTS.index(part)])

    def _beside(self, row: EvidenceRow) -> tuple[Any, ...]:
        return (row.id in self.state.ticked,)

    def _draw(self) -> None:
        state, kit, words = self.state, self._kit, self.state.words
        for field in self._fields.values():
            field.draw()
        kit.put(self._over, value=line(state.over, "sn-bad"))
        # What is over a limit stands above the button already.
        save = [("save", words["save persona"])] if state.why_disabled("save") != state.over else []
        kit.put(self._why, value=reasons(state, *save, ("import_agent_file", words["import agent file"])))
        kit.put(self._handled, value=state.show_handled)
        self._evidence.draw()
        kit.put(self._write, description=state.say("write rule", n=len(state.ticked)))
        kit.put(self._quotes, value=quotes_html(state))
        kit.put(self._rule, value=state.rule)
        kit.put(self._room, value=room_html(state))
        acts = [("write_rule", self._write.description), ("dismiss", words["dismiss"]), ("add_rule", words["add rule"])]
        kit.put(self._rule_why, value=reasons(state, *acts))
        kit.put(self._rules, value=rules_html(state))


class Evidence(Row):
    """What the owner said, when and where, to be ticked (S2-077)."""

    def __init__(self, kit: Kit, state: PersonaState) -> None:
        super().__init__(kit)
        self.state = state
        self._tick = kit.control(W.Checkbox, self._ticked, description=state.words["select"], indent=False)
        self._said = kit.html()
        self.box = kit.bar(self._tick, self._said)

    def _ticked(self, on: bool) -> None:
        self.forget()
        self.state.tick(self.row.id, on)

    def fill(self, row: EvidenceRow, *beside: Any) -> None:
        """Show a piece of evidence."""
        kit = self.kit
        told = line(row.text, "sn-said") + f"<div>{badges(row.signal, row.status_label)}</div>"
        kit.put(self._said, value=told + joined(row.said, row.source) + line(row.locked, "sn-why"))
        kit.put(self._tick, value=beside[0], disabled=bool(row.locked))
        kit.classes(self.box, "sn-bar", "sn-row", name("evidence", row.id))
        kit.classes(self._tick, name("tick", row.id))


def count_html(state: PersonaState, count: Count) -> str:
    """Code points used and left of a limit; one that is passed is said in words, not only in colour."""
    left = state.say("left", n=count.left) if count.left >= 0 else state.say("too many", n=-count.left)
    used = state.say("used", used=count.used, limit=count.limit)
    return line(f"{count.label}　{used}　{left}", "" if count.left >= 0 else "sn-bad")


def quotes_html(state: PersonaState) -> str:
    """The owner's own words a rule is to be made from, to be read beside the field and not to be edited."""
    return "".join(
        line(state.say("quoted", text=one.text), "sn-said") + line(one.said, "sn-dim") for one in state.quotes
    )


def room_html(state: PersonaState) -> str:
    """What L0 and L1 have left with the rule that is being written."""
    left = state.rule_room
    told = state.say("left", n=left) if left >= 0 else state.say("too many", n=-left)
    return line(f"{state.counts[1].label} {told}", "sn-dim" if left >= 0 else "sn-bad")


def rules_html(state: PersonaState) -> str:
    """How each rule fares since it was saved."""
    if not state.rules:
        return ""
    return heading(state.words["rules title"]) + "".join(
        line(f"{one.rule} — {fares(state, one)}") for one in state.rules
    )


def fares(state: PersonaState, rule: RuleRow) -> str:
    """Whether the owner had to say it again."""
    return state.say("rule fares", n=rule.count, last=rule.last) if rule.count else state.words["rule fares well"]
