"""The injection: the text as it will be given, its bill, what was squeezed out, and each fact's lot (S2-092..105)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import traitlets as t

from selfnote.config import TOTAL_BUDGET
from selfnote.errors import SelfnoteError
from selfnote.injection.assemble import Snapshot
from selfnote.injection.explain import Attribution, attribute, can_shorten, name_several, why_not
from selfnote.injection.segments import NO_ROOM, Squeezed
from selfnote.panels.states.base import Paged, PanelState, Stored, short
from selfnote.phrases import ATTRIBUTION_LABELS, REASON_LABELS, SEGMENT_LABELS

if TYPE_CHECKING:
    from selfnote.audit.squeeze import Packing

SORTS = ("heat", "cold", "hits", "last")


class BillRow(NamedTuple):
    """One segment of the bill; code points. ``note`` tells the lines of L0 and L1 (S2-093)."""

    segment: str
    label: str
    budget: int
    used: int
    entries: int
    squeezed: int
    note: str


@dataclass(frozen=True, slots=True)
class SqueezedRow:
    """One entry that stayed out: what it needs, what was left, and why (S2-094)."""

    id: str
    segment: str
    label: str
    text: str
    needs: int
    left: int
    reason: str


@dataclass(frozen=True, slots=True)
class AttributionRow:
    """One approved fact: its segment, how often and when it went in, how often it was found, its state (S2-096)."""

    id: str
    text: str
    segment: str
    hits: int
    last_hit: str
    seen: int
    last_seen: str
    state: str
    state_label: str
    heat: float
    importance: float
    problems: tuple[str, ...]


class InjectionState(PanelState):
    """The tab 注入. Shows only: there is no act that writes. ``find_fix`` and ``explain`` are asked for one entry."""

    name: ClassVar[str] = "injection"

    text = t.Unicode("")
    reason = t.Unicode("")
    bill = t.Tuple()
    total = t.Unicode("")
    flags = t.Tuple()
    #: Id -> the least change that lets a squeezed entry in; id -> where an entry stands and why.
    fixes = t.Dict()
    whys = t.Dict()
    states = t.Dict()
    state = t.Unicode("")
    sort = t.Enum(SORTS, default_value="heat")

    def _build(self) -> None:
        self.squeezed: Paged[tuple[str, Squeezed], SqueezedRow] = Paged(self._squeezed_row)
        self.attribution: Paged[Attribution, AttributionRow] = Paged(self._row)
        self._attributed: list[Attribution] = []
        self._room: Packing | None = None

    def _read(self, snapshot: Snapshot, now: datetime) -> None:
        injection = self._disk.injection(now)
        labels = SEGMENT_LABELS[self.language]
        self.text = injection.text
        self.reason = self.words[f"text {injection.reason}"] if injection.reason else ""
        self.flags = injection.flags
        self.bill = tuple(
            BillRow(
                name,
                labels[name],
                one.budget,
                one.used,
                len(one.entries),
                len(one.squeezed),
                self._lines([entry.id for entry in one.entries]) if name == "persona" else "",
            )
            for name, one in injection.segments.items()
        )
        self.total = self.say(
            "bill",
            used=injection.total_chars,
            total=TOTAL_BUDGET,
            framing=injection.framing_chars,
            hint=injection.hint_chars,
            length=len(injection.text),
        )
        self.fixes, self.whys, self._room = {}, {}, None
        self.squeezed.fill((name, one) for name, segment in injection.segments.items() for one in segment.squeezed)
        self._attributed = attribute(snapshot, injection, now)
        counted = Counter[str](one.state for one in self._attributed)
        self.states = {name: counted[name] for name in ATTRIBUTION_LABELS[self.language]}
        self._arrange()

    def _lines(self, identifiers: list[str]) -> str:
        l0 = sum(one.startswith("l0:") for one in identifiers)
        return self.say("persona lines", l0=l0, l1=len(identifiers) - l0)

    @t.observe("state", "sort")
    def _arrange(self, _: object = None) -> None:
        def last(one: Attribution) -> float:
            return -one.fact.last_hit.timestamp() if one.fact.last_hit else 0.0

        orders = {
            "heat": lambda one: -one.heat,
            "cold": lambda one: one.heat,
            "hits": lambda one: -one.fact.hit_count,
            "last": last,
        }
        shown = (one for one in self._attributed if self.state in ("", one.state))
        self.attribution.fill(sorted(shown, key=orders[self.sort]))

    def _squeezed_row(self, found: tuple[str, Squeezed]) -> SqueezedRow:
        name, one = found
        label, reason = SEGMENT_LABELS[self.language][name], REASON_LABELS[self.language][one.reason]
        return SqueezedRow(one.id, name, label, one.text, one.needs, one.left, reason)

    def _row(self, one: Attribution) -> AttributionRow:
        fact = one.fact
        segment = SEGMENT_LABELS[self.language].get(one.segment or "", "")
        if one.absorbed:
            segment = self.words["absorbed"]
        elif one.squeezed is not None:
            segment = self.say("squeezed from", segment=segment)
        return AttributionRow(
            fact.id,
            fact.text,
            segment,
            fact.hit_count,
            self._time(fact.last_hit),
            fact.seen_count,
            self._time(fact.last_seen),
            one.state,
            ATTRIBUTION_LABELS[self.language][one.state],
            one.heat,
            fact.importance,
            one.problems,
        )

    def _stored(self, key: str) -> Stored | None:  # noqa: ARG002 - nothing is written here
        return None

    # --- asking -----------------------------------------------------------------------------------
    def explain(self, identifier: str) -> str:
        """Where an entry stands in this turn's text, or what keeps it out."""
        if identifier not in self.whys:
            try:
                found = why_not(self.memory, identifier, now=self._now, language=self.language, ids=False)
            except SelfnoteError as error:
                self._refuse(error)
                return ""
            self.whys = {**self.whys, identifier: found}
        return str(self.whys[identifier])

    def find_fix(self, identifier: str) -> str:
        """The least change that lets a squeezed entry in, each put to the real composer; takes some dozens of texts."""
        if identifier not in self.fixes:
            from selfnote.audit.squeeze import ask_about, packing_of

            try:
                self._room = self._room or packing_of(self.snapshot, self._now)
                found = ask_about(self._room, (identifier,)).entries.iloc[0].dropna().to_dict()
            except SelfnoteError as error:
                self._refuse(error)
                return ""
            self.fixes = {**self.fixes, identifier: self._fix(found)}
        return str(self.fixes[identifier])

    def _fix(self, row: Mapping[str, Any]) -> str:
        """A row of the frame ``squeezed`` as advice, the least change first."""
        words = self.words
        if row["by_itself"]:
            return words["fix by itself"]
        ways = []
        if "shorten_by" in row and can_shorten(int(row["length"]), int(row["shorten_by"])):
            ways.append(self.say("fix shorten", n=int(row["shorten_by"])))
        if row["retire"]:
            ways.append(self.say("fix remove", texts=self._quote((row["replace"] or row["retire"])[:1])))
        elif row["holders"] or row["rivals"]:
            ways.append(self.say("fix remove", texts=self._quote((*row["holders"], *row["rivals"]))))
        if not ways and row["reason"] == NO_ROOM:
            ways.append(self.say("fix full", segment=SEGMENT_LABELS[self.language][row["segment"]]))
        if "raise_by" in row:
            ways.append(self.say("fix raise", n=int(row["raise_by"])))
        advice = words["fix joint"].join(ways) if ways else words["fix none"]
        return advice + (self.say("fix waits", n=int(row["turns"])) if "turns" in row else "")

    def _quote(self, identifiers: Iterable[str]) -> str:
        """Entries as what they say."""
        segments = self._disk.injection(self._now).segments.values()
        texts = {one.id: one.text for segment in segments for one in segment.entries}
        texts |= {one.id: one.text for segment in segments for one in segment.squeezed}
        quoted = [self.say("quoted", text=short(texts.get(one, one))) for one in identifiers]
        return name_several(quoted, self.language)
