"""The persona: three editors with live counts, and the owner's own words from which he writes a rule (S2-074..079)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import ClassVar, NamedTuple

import traitlets as t

from selfnote.config import L0_L1_LIMIT, L0_LIMIT, PERSONA_FILE_LIMIT
from selfnote.errors import SelfnoteError
from selfnote.injection.assemble import Snapshot
from selfnote.panels.states.base import Paged, PanelState, Refusal, Stored
from selfnote.records.corrections import PAGE_LIMIT, Correction
from selfnote.records.persona import PARTS, Persona, count_chars
from selfnote.storage.lines import read_text_file
from selfnote.text import fold, is_printable, one_line, safe, similarity

#: From which likeness on (0 to 100) a new line of L1 is an added rule reworded, not another one.
REWORDED = 50


class Count(NamedTuple):
    """Code points used and left of one limit; negative when there are too many."""

    label: str
    used: int
    left: int
    limit: int


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """What the owner said, when and where (S2-077); ``locked`` says why it cannot be ticked."""

    id: str
    text: str
    said: str
    source: str
    signal: str
    status: str
    status_label: str
    locked: str


@dataclass(frozen=True, slots=True)
class RuleRow:
    """How one rule of L1 fares: corrections of the same thing since it was saved, and how many it was made from."""

    rule: str
    count: int
    last: str
    made_from: int


class PersonaState(PanelState):
    """The tab 人格. Drafts: ``l0``, ``l1``, ``l2``; saved together or not at all.

    Acts: ``import_agent_file`` (fills only), ``tick``, ``write_rule`` (evidence → ``quotes``; ``rule`` is the owner's
    to write), ``add_rule`` (→ L1 draft), ``save``, ``dismiss``.
    """

    name: ClassVar[str] = "persona"
    writes: ClassVar[tuple[str, ...]] = ("save", "dismiss")

    counts = t.Tuple()
    over = t.Unicode("")
    ticked = t.Tuple()
    show_handled = t.Bool(default_value=False)
    #: The field in which the owner writes a rule, what he said that it is to be made from, and the ids of that.
    rule = t.Unicode("")
    quotes = t.Tuple()
    rule_evidence = t.Tuple()
    #: Lines added to L1 that are not saved yet, each with the evidence it was made from.
    added = t.Tuple()
    rules = t.Tuple()

    def _build(self) -> None:
        self.evidence: Paged[Correction, EvidenceRow] = Paged(self._row)
        self._corrections: tuple[Correction, ...] = ()
        self._file_chars = 0

    def _watched(self) -> tuple[Path, ...]:
        home = self.memory.home
        return (home.corrections, home.persona_evidence, home.agent_file)

    def _read(self, snapshot: Snapshot, now: datetime) -> None:  # noqa: ARG002 - evidence has no clock
        self._file_chars = len(read_text_file(self.memory.home.persona).text)
        found: list[Correction] = []
        cursor: str | None = None
        while True:
            page = self.memory.corrections.page(cursor, PAGE_LIMIT)
            found += page.items
            if (cursor := page.next) is None:
                break
        self._corrections = tuple(found)
        self._list_evidence()
        self.rules = tuple(
            RuleRow(one.rule, one.count, self._time(one.last_at), len(one.corrections))
            for one in self.memory.persona.evidence()
            if one.rule is not None
        )

    @t.observe("show_handled")
    def _list_evidence(self, _: object = None) -> None:
        self.evidence.fill(one for one in self._corrections if self.show_handled or one.status == "open")
        usable = {one.id for one in self._corrections if one.status != "used"}
        self.ticked = tuple(one for one in self.ticked if one in usable)

    def _row(self, one: Correction) -> EvidenceRow:
        return EvidenceRow(
            one.id,
            one.text,
            self._time(one.said(self.snapshot.zone)),
            one.source,
            self.words[f"signal {one.signal}"],
            one.status,
            self.words[f"evidence {one.status}"],
            self.words["why used"] if one.status == "used" else "",
        )

    def _stored(self, key: str) -> Stored | None:
        if key not in PARTS:
            return None
        persona = self.snapshot.persona_file.value
        text = getattr(persona, key)
        return Stored(persona, text, text)

    # --- counts -----------------------------------------------------------------------------------
    def _explain(self) -> None:
        l0, l1 = self.text_of("l0"), self.text_of("l1")
        stored = self.snapshot.persona_file.value
        # Headings and the blank lines around them stay; only the parts' own text changes.
        file_chars = self._file_chars + sum(
            len(self.text_of(part).strip("\n")) - len(getattr(stored, part)) for part in PARTS
        )
        both = count_chars(l0) + count_chars(l1)
        self.counts = (
            Count("L0", count_chars(l0), L0_LIMIT - count_chars(l0), L0_LIMIT),
            Count("L0 + L1", both, L0_L1_LIMIT - both, L0_L1_LIMIT),
            Count(self.words["whole file"], file_chars, PERSONA_FILE_LIMIT - file_chars, PERSONA_FILE_LIMIT),
        )
        self.over = " ".join(self._say_over(one) for one in self.counts if one.left < 0)
        super()._explain()

    def _say_over(self, count: Count) -> str:
        """A limit that is passed, by how much, and what can be done about it."""
        key = "over limit file" if count.limit == PERSONA_FILE_LIMIT else "over limit"
        return self.say(key, label=count.label, used=count.used, limit=count.limit, n=-count.left)

    @property
    def rule_room(self) -> int:
        """Code points L0 and L1 still have once the rule that is being written is added; negative when too many."""
        return int(self.counts[1].left) - count_chars(one_line(self.rule))

    @t.observe("ticked", "rule")
    def _chosen(self, _: object) -> None:
        self._explain()

    def _judge(self) -> dict[str, str]:
        words = self.words
        return {
            "save": self.over if self.drafts else words["why unchanged"],
            "write_rule": "" if self.ticked else words["why none ticked"],
            "add_rule": "" if is_printable(safe(self.rule)) else words["why not a rule yet"],
            "dismiss": "" if self.ticked else words["why none ticked"],
            "import_agent_file": "" if self.memory.home.agent_file.exists() else words["why no agent file"],
        }

    # --- acts -------------------------------------------------------------------------------------
    def import_agent_file(self) -> bool:
        """Fill the three editors from AGENT.md; nothing is saved (S2-076, S2-141)."""
        try:
            found = self.memory.persona.draft_from_agent_file()
        except (SelfnoteError, OSError) as error:
            self._refuse(error)
            return False
        with self.hold_trait_notifications():
            for part in PARTS:
                self.write(part, getattr(found, part))
            self.error, self.message = None, self.words["imported"]
        return True

    def tick(self, identifier: str, on: bool) -> None:
        """Choose a piece of evidence, or not."""
        kept = tuple(one for one in self.ticked if one != identifier)
        self.ticked = (*kept, identifier) if on else kept

    def write_rule(self) -> bool:
        """Lay the chosen evidence out beside the rule's field, for the owner to write one rule (S2-076, S2-079)."""
        try:
            draft = self.memory.persona.draft(self.ticked)
        except (SelfnoteError, OSError) as error:
            self._refuse(error)
            return False
        with self.hold_trait_notifications():
            self.quotes = tuple(self._row(one) for one in draft.evidence)
            self.rule_evidence = draft.corrections
            self.error, self.message = None, self.say("evidence laid out", n=len(draft.corrections))
        return True

    def add_rule(self) -> bool:
        """Put the rule at the end of the L1 draft; nothing is saved yet."""
        if self.why_disabled("add_rule"):
            return False
        line = one_line(self.rule)
        l1 = self.text_of("l1")
        with self.hold_trait_notifications():
            self.write("l1", f"{l1}\n{line}" if l1.strip() else line)
            self.added = (*self.added, (line, self.rule_evidence))
            self.rule = ""
            self.quotes = self.rule_evidence = self.ticked = ()
            self.error, self.message = None, self.words["rule added"]
        return True

    def save(self, now: datetime | None = None) -> bool:
        """Save the persona whole or not at all; evidence of rules that are in it is marked used with it (S2-078)."""
        instant = self._instant(now)
        if not self.drafts:
            return False
        parts = {part: self.drafts[part].text for part in PARTS if part in self.drafts}
        shown: Persona = next(
            (draft.shown for draft in self.drafts.values() if draft.elsewhere), self.snapshot.persona_file.value
        )
        used = self._used()
        dropped = len({id_ for _, ids in self.added for id_ in ids} - set(used))
        told = [
            self.say("persona saved", n=len(used)) if used else self.words["persona saved plain"],
            *([self.say("evidence kept open", n=dropped)] if dropped else []),
        ]
        done = self._do(
            lambda: self.memory.persona.save(**parts, used_corrections=used, expect=shown.revision, now=instant),
            instant,
            lambda _: " ".join(told),
        )
        if done is None:
            if self.error is not None and self.error.kind == "limit" and self.over:
                self.error = Refusal("limit", self.error.sentence, self.over)
            return False
        with self.hold_trait_notifications():
            self.drafts, self.added = {}, ()
            self._explain()
        return True

    def _used(self) -> tuple[str, ...]:
        """The evidence of the added rules that stand in the L1 draft; a reworded one keeps its evidence."""
        stored = {line.strip() for line in self.snapshot.persona_file.value.l1.splitlines()}
        lines = [line.strip() for line in self.text_of("l1").splitlines()]
        added = {line for line, _ in self.added}
        new = [fold(line) for line in lines if line not in stored and line not in added]
        used: list[str] = []
        for line, identifiers in self.added:
            if line not in lines:
                alike = max(new, key=lambda other: similarity(other, fold(line)), default="")
                if similarity(alike, fold(line)) < REWORDED:
                    continue
                new.remove(alike)
            used += identifiers
        return tuple(dict.fromkeys(used))

    def dismiss(self, now: datetime | None = None) -> bool:
        """Say of the chosen evidence that no rule is to be made of it."""
        instant = self._instant(now)
        chosen = self.ticked
        if not chosen:
            return False
        done = self._do(
            lambda: [self.memory.corrections.dismiss(one, now=instant) for one in chosen],
            instant,
            lambda result: self.say("evidence dismissed", n=len(result)),
        )
        if done is None:
            return False
        self.ticked = ()
        return True
