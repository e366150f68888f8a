"""The memory: candidates to decide on, conflicts side by side, what was approved, and habits (S2-080..088)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

import traitlets as t

from selfnote.errors import Conflict, NotFound, SelfnoteError
from selfnote.injection.assemble import Snapshot
from selfnote.injection.changes import make_changes
from selfnote.injection.explain import Attribution, attribute, preview_changes, say_left_out
from selfnote.injection.segments import CONFLICT
from selfnote.panels.states.base import PAGE_SIZE, VIA, Outcome, Paged, PanelState, Stored, kind_of, short
from selfnote.panels.states.clusters import ALONE, Group, by_key, by_likeness, origin_of
from selfnote.phrases import ATTRIBUTION_LABELS, LEFT_OUT, REASON_LABELS, SEGMENT_LABELS, describe_error
from selfnote.records.fact_lines import Fact, open_conflict_pairs, waiting_order
from selfnote.records.facts import ItemResult
from selfnote.records.habits import Habit, Offer, offered_tags

#: The keys of the review, and the act of each.
KEYS = {"a": "approve", "r": "retire", "j": "next", "k": "previous", "u": "undo"}
SHOWS = ("all", "flagged", "conflict", "repeated", "plain")
SORTS = ("waiting", "newest", "oldest", "heard")
GROUPS = ("none", "likeness", "capture", "origin", "reason")
APPROVED_SORTS = ("heat", "cold", "newest", "oldest")
#: Texts of a group, and of an offered tag, that are shown at once.
SHOWN_TEXTS = 3
#: Acts that can be taken back.
UNDO_DEPTH = 50


class LinkRow(NamedTuple):
    """A fact this one is linked to: how, by which rule, and what it says."""

    id: str
    text: str
    status: str
    kind: str
    rule: str
    resolved: bool


@dataclass(frozen=True, slots=True)
class Card:
    """One candidate (S2-081). ``bulk`` says why it is not approved together with others."""

    id: str
    text: str
    detail: str
    label: str
    capture: str
    reason: str
    source: str
    sources: int
    occurrences: int
    heard: str
    flags: tuple[str, ...]
    links: tuple[LinkRow, ...]
    channel: str
    tags: tuple[str, ...]
    importance: float
    created: str
    age_days: int | None
    problems: tuple[str, ...]
    bulk: str


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Candidates to decide together; ``texts`` are the first of them, ``locked`` why they are not approved as one."""

    key: str
    title: str
    count: int
    flagged: int
    texts: tuple[str, ...]
    locked: str


class Side(NamedTuple):
    """One of two facts in conflict, with its own text (S2-080)."""

    id: str
    text: str
    detail: str
    status: str
    status_label: str
    source: str
    when: str


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """Two facts that contradict each other, the one that was there first on the left."""

    key: str
    left: Side
    right: Side
    rule: str


@dataclass(frozen=True, slots=True)
class FactRow:
    """One approved or retired fact; ``place`` is where it stands in this turn's text, or why it does not."""

    id: str
    text: str
    detail: str
    channel: str
    tags: tuple[str, ...]
    importance: float
    heat: float
    state: str
    place: str
    hits: int
    last_hit: str
    occurrences: int
    capture: str
    source: str
    since: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OfferRow:
    """A tag that may become a habit (S2-085); its wording is the draft ``habit:<tag>``."""

    tag: str
    count: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HabitRow:
    """An active habit."""

    id: str
    text: str
    tag: str
    since: str
    facts: int


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A source read again: what was found, and the messages around it as (here, source, who and when, text)."""

    id: str
    ok: bool
    sentence: str
    lines: tuple[tuple[bool, str, str, str], ...]


class PreviewRow(NamedTuple):
    """What an act would do to this turn's text: one line, and the difference by lines."""

    sentence: str
    diff: str


class Undo(NamedTuple):
    """An act that can be taken back: what it was, what each fact says, and how it is done, in one transaction."""

    label: str
    texts: Mapping[str, str]
    act: Callable[[datetime], list[ItemResult]]


class MemoryState(PanelState):
    """The tab 记忆. Drafts: ``<fact id>:text``, ``<fact id>:tags``, ``<fact id>:importance``, ``habit:<tag>``.

    ``cards`` are the candidates that match the filter, or those of the group that is ``inside``; ``groups`` are they in
    groups. ``results`` tell what became of each item of the last act on several. See ``KEYS`` for ``press``.
    """

    name: ClassVar[str] = "memory"
    writes: ClassVar[tuple[str, ...]] = (
        "approve", "retire", "approve selected", "retire selected", "approve group", "retire group", "retire matching",
        "save", "keep", "keep_both", "undo", "restore", "promote", "revoke",
    )  # fmt: skip

    query = t.Unicode("")
    show = t.Enum(SHOWS, default_value="all")
    capture = t.Unicode("")
    trigger = t.Unicode("")
    sort = t.Enum(SORTS, default_value="waiting")
    group_by = t.Enum(GROUPS, default_value="none")
    inside = t.Unicode("")

    approved_query = t.Unicode("")
    approved_capture = t.Unicode("")
    approved_tag = t.Unicode("")
    approved_state = t.Unicode("")
    approved_sort = t.Enum(APPROVED_SORTS, default_value="heat")

    cursor = t.Unicode("")
    selected = t.Tuple()
    results = t.Tuple()
    previews = t.Dict()
    opened = t.Instance(OpenedSource, allow_none=True)
    undoable = t.Unicode("")
    #: How many there are: waiting, flagged, conflicts, approved, retired; and by capture, trigger and tag.
    totals = t.Dict()
    captures = t.Dict()
    triggers = t.Dict()
    approved_captures = t.Dict()
    approved_tags = t.Dict()

    def _build(self) -> None:
        self.cards: Paged[Fact, Card] = Paged(self._card)
        self.groups: Paged[Group, GroupRow] = Paged(self._group)
        self.conflicts: Paged[tuple[Fact, Fact], ConflictRow] = Paged(self._conflict, 10)
        self.approved: Paged[Attribution, FactRow] = Paged(self._approved_row)
        self.retired: Paged[Fact, FactRow] = Paged(self._retired_row)
        self.offered: Paged[Offer, OfferRow] = Paged(self._offer, 10)
        self.habits: Paged[Habit, HabitRow] = Paged(self._habit, 10)
        self._facts: Mapping[str, Fact] = {}
        self._waiting: list[Fact] = []
        self._attributed: list[Attribution] = []
        self._groups: dict[str, Group] = {}
        self._undo: list[Undo] = []

    # --- reading ----------------------------------------------------------------------------------
    def _read(self, snapshot: Snapshot, now: datetime) -> None:
        facts = snapshot.facts_file.value
        self._facts = facts.by_id
        self._waiting = [fact for fact in facts.facts if fact.status == "candidate"]
        self._attributed = attribute(snapshot, self._disk.injection(now), now)
        retired = [fact for fact in facts.facts if fact.status == "retired"]
        live = {fact.id: fact for fact in facts.facts if fact.status != "retired"}
        pairs = [(live[one], live[other]) for one, other in open_conflict_pairs(live.values())]
        self.conflicts.fill(pairs)
        self.retired.fill(sorted(retired, key=_decided_at, reverse=True))
        self.offered.fill(offered_tags(facts.facts, snapshot.habits_file.value.habits, snapshot.config.habit_min_facts))
        self.habits.fill(snapshot.habits)
        self.totals = {
            "waiting": len(self._waiting),
            "flagged": sum(bool(fact.flags) for fact in self._waiting),
            "conflicts": len(pairs),
            "approved": len(self._attributed),
            "retired": len(retired),
        }
        self.captures = _tally(fact.capture_source or "" for fact in self._waiting)
        self.triggers = _tally(fact.reason or "" for fact in self._waiting)
        self.approved_captures = _tally(one.fact.capture_source or "" for one in self._attributed)
        self.approved_tags = _tally(tag for one in self._attributed for tag in dict.fromkeys(one.fact.tags))
        self.previews = {}
        self._arrange()
        self._arrange_approved()

    @t.observe("query", "show", "capture", "trigger", "sort", "group_by", "inside")
    def _arrange(self, change: Any = None) -> None:
        """The candidates as filter, order and grouping have it; the cursor stays at its place."""
        if change is not None and change["name"] == "group_by" and self.inside:
            self.inside = ""
            return
        before = [fact.id for fact in self.cards.sources]
        matching = self._sorted(fact for fact in self._waiting if self._matches(fact))
        groups = self._grouped(matching)
        self._groups = {group.key: group for group in groups}
        if self.inside and self.inside not in self._groups:
            self.inside = ""
            return
        self.groups.fill(groups)
        self.cards.fill(self._groups[self.inside].facts if self.inside else matching)
        known = [fact.id for fact in self.cards.sources]
        self.selected = tuple(one for one in self.selected if one in set(known))
        if self.cursor not in known:
            place = before.index(self.cursor) if self.cursor in before else 0
            self._go(min(place, len(known) - 1), known)
        self._explain()

    def _sorted(self, facts: Iterable[Fact]) -> list[Fact]:
        ordered = waiting_order(facts)
        match self.sort:
            case "heard":
                ordered.sort(key=lambda fact: -fact.occurrences)
            case "newest":
                ordered.sort(key=lambda fact: -fact.line)
            case "oldest":
                ordered.sort(key=lambda fact: fact.line)
        return ordered

    def _matches(self, fact: Fact) -> bool:
        if self.capture and self.capture != (fact.capture_source or "-"):
            return False
        if self.trigger and self.trigger != (fact.reason or "-"):
            return False
        shown = {
            "all": True,
            "flagged": bool(fact.flags),
            "conflict": bool(fact.open_conflicts),
            "repeated": fact.occurrences > 1,
            "plain": not fact.flags and not fact.open_conflicts,
        }[self.show]
        return shown and _says(fact, self.query)

    def _grouped(self, facts: Sequence[Fact]) -> list[Group]:
        match self.group_by:
            case "likeness":
                return by_likeness(facts)
            case "capture":
                return by_key(facts, lambda fact: fact.capture_source or "-")
            case "origin":
                return by_key(facts, lambda fact: origin_of(fact) or "-")
            case "reason":
                return by_key(facts, lambda fact: fact.reason or "-")
        return []

    @t.observe("approved_query", "approved_capture", "approved_tag", "approved_state", "approved_sort")
    def _arrange_approved(self, _: object = None) -> None:
        orders: dict[str, Callable[[Attribution], float]] = {
            "heat": lambda one: -one.heat,
            "cold": lambda one: one.heat,
            "newest": lambda one: -one.fact.approved_at.timestamp() if one.fact.approved_at else 0.0,
            "oldest": lambda one: one.fact.approved_at.timestamp() if one.fact.approved_at else 0.0,
        }
        matching = (one for one in self._attributed if self._matches_approved(one))
        self.armed = ""
        self.approved.fill(sorted(matching, key=orders[self.approved_sort]))
        self._explain()

    def _matches_approved(self, one: Attribution) -> bool:
        fact = one.fact
        if self.approved_capture and self.approved_capture != (fact.capture_source or "-"):
            return False
        if self.approved_tag and self.approved_tag not in fact.tags:
            return False
        if self.approved_state and self.approved_state != one.state:
            return False
        return _says(fact, self.approved_query)

    # --- rows -------------------------------------------------------------------------------------
    def _card(self, fact: Fact) -> Card:
        age = (self._now - fact.created_at).days if fact.created_at is not None else None
        return Card(
            fact.id,
            fact.text,
            fact.detail or "",
            f"[{self.capture_label(fact.capture_source)}]" if fact.capture_source else "",
            self.capture_label(fact.capture_source or "-"),
            self.words[f"reason {fact.reason}"] if fact.reason else "",
            self._source(fact),
            len(fact.sources),
            fact.occurrences,
            self.say("heard once" if fact.occurrences == 1 else "heard", n=fact.occurrences),
            tuple(self._flag(flag) for flag in fact.flags),
            tuple(
                LinkRow(
                    link.id,
                    peer.text,
                    self.words[f"status {peer.status}"],
                    link.kind,
                    self._rule(link.rule),
                    bool(link.resolved),
                )
                for link in fact.similar_to
                if (peer := self._facts.get(link.id)) is not None
            ),
            fact.channel,
            fact.tags,
            fact.importance,
            self._time(fact.created_at),
            age,
            fact.problems,
            self.words["why flagged"] if fact.flags else "",
        )

    def _source(self, fact: Fact) -> str:
        """Where a fact was first said; the owner's own in words, any other as it is pointed at."""
        return self.words.get(f"source {fact.source}", fact.source)

    def _flag(self, flag: str) -> str:
        kind, _, rule = flag.partition(":")
        label = self.words.get(f"flag {kind}", kind)
        return f"{label} ({rule})" if rule else label

    def _rule(self, rule: str) -> str:
        """By which rule two facts were linked, in the owner's language; another program's rule as it stands."""
        return self.words.get(f"rule {rule}", rule)

    def capture_label(self, capture: str) -> str:
        """What a fact's captureSource is called; ``-`` is the owner's own."""
        return self.words.get(f"capture {capture}", capture)

    def _group(self, group: Group) -> GroupRow:
        first = group.facts[0]
        titles = {
            "capture": lambda: self.capture_label(group.key),
            "reason": lambda: self.words.get(f"reason {group.key}", self.words["no reason"]),
            "origin": lambda: group.key if group.key != "-" else self.words["no source"],
            "likeness": lambda: self.words["like no other"] if group.key == ALONE else first.text,
        }
        return GroupRow(
            group.key,
            titles[self.group_by](),
            len(group.facts),
            sum(bool(fact.flags) for fact in group.facts),
            tuple(fact.text for fact in group.facts[:SHOWN_TEXTS]),
            self.words["why look inside"] if group.key == ALONE else "",
        )

    def _conflict(self, pair: tuple[Fact, Fact]) -> ConflictRow:
        left, right = sorted(pair, key=lambda fact: (fact.status != "approved", fact.line))
        rules = [
            link.rule for fact, other in ((left, right), (right, left)) for link in fact.similar_to
            if link.id == other.id and link.kind == "conflict"
        ]  # fmt: skip
        return ConflictRow(
            f"{left.id} {right.id}", self._side(left), self._side(right), self._rule(rules[0]) if rules else ""
        )

    def _side(self, fact: Fact) -> Side:
        when = fact.approved_at or fact.created_at
        status = self.words[f"status {fact.status}"]
        return Side(fact.id, fact.text, fact.detail or "", fact.status, status, self._source(fact), self._time(when))

    def _approved_row(self, one: Attribution) -> FactRow:
        segment = SEGMENT_LABELS[self.language].get(one.segment or "", "")
        if one.absorbed:
            place = self.words["absorbed"]
        elif one.squeezed is not None:
            place = f"{segment} · {REASON_LABELS[self.language][one.squeezed.reason]}"
        else:
            place = segment
        return self._fact_row(one.fact, one.heat, ATTRIBUTION_LABELS[self.language][one.state], place, one.problems)

    def _retired_row(self, fact: Fact) -> FactRow:
        return self._fact_row(fact, 0.0, "", "", fact.problems)

    def _fact_row(self, fact: Fact, heat: float, state: str, place: str, problems: tuple[str, ...]) -> FactRow:
        return FactRow(
            fact.id,
            fact.text,
            fact.detail or "",
            fact.channel,
            fact.tags,
            fact.importance,
            heat,
            state,
            place,
            fact.hit_count,
            self._time(fact.last_hit),
            fact.occurrences,
            self.capture_label(fact.capture_source or "-"),
            self._source(fact),
            self._time(fact.approved_at or fact.created_at),
            problems,
        )

    def _offer(self, offer: Offer) -> OfferRow:
        return OfferRow(offer.tag, len(offer.fact_ids), offer.texts[:SHOWN_TEXTS])

    def _habit(self, habit: Habit) -> HabitRow:
        since = self._time(habit.created(self.snapshot.zone))
        return HabitRow(habit.id, habit.text, habit.tag, since, len(habit.fact_ids))

    # --- what can be done -------------------------------------------------------------------------
    def _stored(self, key: str) -> Stored | None:
        name, _, field = key.rpartition(":")
        if key.startswith("habit:"):
            offered = any(key == f"habit:{offer.tag}" for offer in self.offered.sources)
            return Stored(None, "", "") if offered else None
        fact = self._facts.get(name)
        if fact is None or field not in {"text", "tags", "importance"}:
            return None
        value = self.words["tag joint"].join(fact.tags) if field == "tags" else str(getattr(fact, field))
        return Stored(fact, value, f"{fact.status}\n{value}")

    def _judge(self) -> dict[str, str]:
        words = self.words
        none_shown = "" if self.cursor else words["why no card"]
        unselected = "" if self.selected else words["why none selected"]
        return {
            "approve": none_shown,
            "retire": none_shown,
            "approve selected": unselected,
            "retire selected": unselected,
            "retire matching": self._why_not_retired(),
            "undo": "" if self._undo else words["why nothing to undo"],
        }

    @t.observe("selected", "cursor")
    def _chosen(self, _: object) -> None:
        self._explain()

    def _why_not_retired(self) -> str:
        if not self._filters_approved():
            return self.words["why no filter"]
        return "" if self.approved.count else self.words["nothing here"]

    def _filters_approved(self) -> bool:
        return bool(self.approved_query or self.approved_capture or self.approved_tag or self.approved_state)

    # --- looking ----------------------------------------------------------------------------------
    def preview(self, identifier: str) -> PreviewRow | None:
        """What approving a candidate would do to this turn's text; worked out once, when asked (S2-083)."""
        return self._preview(identifier, approve=(identifier,))

    def preview_keep(self, kept: str, other: str) -> PreviewRow | None:
        """What keeping one of two in conflict would do."""
        fact = self._facts.get(kept)
        approve = (kept,) if fact is not None and fact.status == "candidate" else ()
        return self._preview(f"{kept} {other}", approve=approve, retire=(other,))

    def preview_shown(self, at_most: int = PAGE_SIZE) -> int:
        """Work out what is not known yet of the cards on this page; how many are still left."""
        waiting = [fact.id for fact in self.cards.shown if fact.id not in self.previews]
        for identifier in waiting[:at_most]:
            self.preview(identifier)
        return max(0, len(waiting) - at_most)

    def _preview(self, key: str, *, approve: tuple[str, ...] = (), retire: tuple[str, ...] = ()) -> PreviewRow | None:
        if key not in self.previews:
            try:
                found = preview_changes(self.snapshot, make_changes(approve=approve, retire=retire), self._now)
            except SelfnoteError as error:
                self._refuse(error)
                return None
            self.previews = {**self.previews, key: PreviewRow(found.say(self.language, ids=False), found.diff)}
        row: PreviewRow = self.previews[key]
        return row

    def open_source(self, identifier: str) -> bool:
        """Read a fact's source again and show the message with what was said around it (S2-081)."""
        fact = self._shown(identifier)
        if fact is None:
            return False
        try:
            found = self.memory.evidence(fact)
        except (SelfnoteError, OSError) as error:
            self._refuse(error)
            return False
        self.opened = OpenedSource(identifier, found.ok, found.explain(self.language), tuple(found.lines()))
        return True

    def close_source(self) -> None:
        """Put the source away."""
        self.opened = None

    # --- selecting --------------------------------------------------------------------------------
    def open_group(self, key: str) -> None:
        """Show the cards of one group."""
        self.inside = key

    def close_group(self) -> None:
        """Back to the groups."""
        self.inside = ""

    def toggle(self, identifier: str) -> None:
        """Select a card, or not."""
        kept = tuple(one for one in self.selected if one != identifier)
        self.selected = kept if identifier in self.selected else (*kept, identifier)

    def select_page(self) -> None:
        """Select the cards of this page that may be approved together."""
        opposed = {fact.id for pair in self.conflicts.sources for fact in pair}
        plain = (one.id for one in self.cards.shown if not one.flags and one.id not in opposed)
        self.selected = tuple(dict.fromkeys((*self.selected, *plain)))

    def select_none(self) -> None:
        """Select nothing."""
        self.selected = ()

    def move(self, step: int) -> None:
        """Move the cursor by so many cards, across pages."""
        known = [fact.id for fact in self.cards.sources]
        place = known.index(self.cursor) + step if self.cursor in known else 0
        self._go(max(0, min(place, len(known) - 1)), known)

    def point(self, identifier: str) -> None:
        """Put the cursor on a card that is listed: what keys decide is what the owner was at last."""
        self._point([identifier])

    def _point(self, identifiers: Sequence[str]) -> None:
        known = [fact.id for fact in self.cards.sources]
        if found := next((one for one in identifiers if one in known), None):
            self._go(known.index(found), known)

    def _go(self, place: int, known: Sequence[str]) -> None:
        self.cursor = known[place] if known else ""
        if known and place // self.cards.size != self.cards.page:
            self.cards.show(place // self.cards.size)

    def press(self, key: str, now: datetime | None = None) -> bool:
        """Do what a key stands for at the cursor; whether the key means anything here."""
        act = KEYS.get(key)
        if act is None:
            return False
        if act in {"next", "previous"}:
            self.move(1 if act == "next" else -1)
        elif act == "undo":
            self.undo(now)
        elif self.group_by != "none" and not self.inside:
            self._refuse(Conflict(self.words["why keys need a card"]))
        elif self.cursor:
            (self.approve if act == "approve" else self.retire)(self.cursor, now)
        return True

    # --- deciding ---------------------------------------------------------------------------------
    def approve(self, identifier: str, now: datetime | None = None) -> bool:
        """Approve one candidate (S2-082, S2-083)."""
        return self._one(
            identifier,
            lambda fact, instant: self.memory.facts.approve(fact, via=VIA, now=instant),
            "approved one",
            now,
        )

    def retire(self, identifier: str, now: datetime | None = None) -> bool:
        """Retire one candidate or approved fact."""
        return self._one(
            identifier, lambda fact, instant: self.memory.facts.retire(fact, via=VIA, now=instant), "retired one", now
        )

    def _one(self, identifier: str, act: Callable[[Fact, datetime], Any], label: str, now: datetime | None) -> bool:
        instant, fact = self._instant(now), self._shown(identifier)
        if fact is None:
            return False

        def told(done: Any) -> str:
            return self.say(label, text=short(fact.text), status=self.words[f"status {done.status}"])

        done = self._do(lambda: act(fact, instant), instant, lambda done: told(done) + self._went(done))
        if not isinstance(done, Fact):
            return False
        self.results = ()
        if done.status != fact.status:
            self._may_undo_decisions(told(done), [done])
        return True

    def _went(self, done: Any) -> str:
        """Where an approved fact stands in this turn's text now, or why it does not; nothing of any other."""
        if not isinstance(done, Fact) or done.status != "approved":
            return ""
        found = next((one for one in self._attributed if one.fact.id == done.id), None)
        if found is None:
            return ""
        if found.absorbed:
            return self.words["absorbed in the text"]
        if found.segment is None or found.squeezed is not None:
            return self.say("not in the text yet", why=self._left_out(found))
        return self.say("in the text now", segment=SEGMENT_LABELS[self.language][found.segment])

    def _left_out(self, found: Attribution) -> str:
        """Why an approved fact is not in this turn's text."""
        out, name = found.squeezed, found.segment
        if out is None or name is None:
            return LEFT_OUT[self.language]["off"]
        told = say_left_out(name, self._disk.injection(self._now).segments[name], out, self.language)
        return told + (self.words["see conflicts"] if out.reason == CONFLICT else "")

    def approve_selected(self, now: datetime | None = None) -> bool:
        """Approve the selected candidates, each with its own result."""
        return self._several("approved", self.selected, now)

    def retire_selected(self, now: datetime | None = None) -> bool:
        """Retire the selected candidates, each with its own result."""
        return self._several("retired", self.selected, now)

    def approve_group(self, key: str, now: datetime | None = None) -> bool:
        """Approve every candidate of a group; the core leaves out those with a red flag."""
        return self._several("approved", self._members(key), now)

    def retire_group(self, key: str, now: datetime | None = None) -> bool:
        """Retire every candidate of a group."""
        return self._several("retired", self._members(key), now)

    def retire_matching(self, now: datetime | None = None) -> bool:
        """Retire every approved fact that matches the filter, in two clicks (COMPLAINTS 77)."""
        instant = self._instant(now)
        if self.why_disabled("retire matching") or not self._second_click("retire matching", instant):
            return False
        return self._several("retired", [one.fact.id for one in self.approved.sources], instant)

    def _members(self, key: str) -> tuple[str, ...]:
        group = self._groups.get(key)
        return tuple(fact.id for fact in group.facts) if group is not None else ()

    def _several(self, status: str, identifiers: Sequence[str], now: datetime | None) -> bool:
        """One transaction over several facts as they were shown; what became of each stands in ``results``."""
        instant = self._instant(now)
        shown = [fact for one in identifiers if (fact := self._shown(one)) is not None]
        if not shown:
            return False
        verb = self.memory.facts.approve if status == "approved" else self.memory.facts.retire
        before = {fact.id: fact for fact in shown}

        def said(found: Any) -> str:
            done = [item.id for item in found if item.ok]
            told = self.say(f"{status} several", n=len(done))
            if status == "approved":
                told += self.say("several in the text", n=self._in_the_text(done))
            return told + self._failed(len(found) - len(done))

        results = self._do(lambda: verb(shown, via=VIA, now=instant), instant, said)
        if not isinstance(results, list):
            return False
        self.results = tuple(self._outcome(item, before[item.id].text) for item in results)
        moved = [item.fact for item in results if item.ok and item.fact and item.fact.status != before[item.id].status]
        if moved:
            self._may_undo_decisions(self.say(f"{status} several", n=len(moved)), moved)
        self.selected = ()
        return True

    def _in_the_text(self, identifiers: Iterable[str]) -> int:
        """How many of these stand in this turn's text now."""
        wanted = set(identifiers)
        return sum(
            one.fact.id in wanted and one.segment is not None and one.squeezed is None and not one.absorbed
            for one in self._attributed
        )

    def _failed(self, count: int) -> str:
        return self.say("some failed", n=count) if count else ""

    def _outcome(self, item: ItemResult, text: str) -> Outcome:
        if item.error is None:
            return Outcome(item.id, text, ok=True)
        sentence = describe_error(item.error, self.language)
        return Outcome(item.id, text, ok=False, kind=kind_of(item.error), sentence=sentence)

    def _shown(self, identifier: str) -> Fact | None:
        fact = self._facts.get(identifier)
        if fact is None:
            self._refuse(NotFound(self.say("no fact now", id=identifier)))
        return fact

    # --- conflicts --------------------------------------------------------------------------------
    def keep(self, kept: str, other: str, now: datetime | None = None) -> bool:
        """Keep one of two in conflict: a candidate is approved in the other's place, else the other is retired."""
        instant, mine, loser = self._instant(now), self._shown(kept), self._shown(other)
        if mine is None or loser is None:
            return False
        label = self.say("kept one", text=short(mine.text), other=short(loser.text))

        def act() -> Any:
            if mine.status == "candidate":
                return self.memory.facts.approve(mine, via=VIA, replaces=loser, now=instant)
            return self.memory.facts.retire(loser, via=VIA, now=instant)

        done = self._do(act, instant, lambda _: label)
        if not isinstance(done, Fact):
            return False
        self.results = ()
        self._may_undo_decisions(label, [done])
        return True

    def keep_both(self, one: str, other: str, now: datetime | None = None) -> bool:
        """Both hold: the conflict is resolved, each keeps its text and status. Two clicks, for there is no way back."""
        instant, mine, peer = self._instant(now), self._shown(one), self._shown(other)
        if mine is None or peer is None or not self._second_click(f"keep both {one} {other}", instant):
            return False
        done = self._do(
            lambda: self.memory.facts.resolve(mine, peer, via=VIA, now=instant),
            instant,
            lambda _: self.words["kept both"],
        )
        if done is None:
            return False
        self.results = ()
        return True

    # --- wording, tags, importance ----------------------------------------------------------------
    def save(self, key: str, now: datetime | None = None) -> bool:
        """Save the draft ``<fact id>:text``, ``:tags`` or ``:importance`` (S2-084, S2-167)."""
        draft = self.drafts.get(key)
        if draft is None:
            return False
        field = key.rpartition(":")[2]
        instant, fact = self._instant(now), draft.shown
        facts = self.memory.facts
        acts: dict[str, Callable[[], Any]] = {
            "text": lambda: facts.edit(fact, text=draft.text, via=VIA, now=instant),
            "tags": lambda: facts.set_tags(fact, _tags(draft.text), via=VIA, now=instant),
            "importance": lambda: facts.set_importance(fact, _number(draft.text), via=VIA, now=instant),
        }
        backs: dict[str, Callable[[Fact, datetime], Any]] = {
            "text": lambda now_, at: facts.edit([now_], text=fact.text, via=VIA, now=at),
            "tags": lambda now_, at: facts.set_tags([now_], fact.tags, via=VIA, now=at),
            "importance": lambda now_, at: facts.set_importance([now_], fact.importance, via=VIA, now=at),
        }
        label = self.say(f"saved {field}", text=short(fact.text))
        done = self._do(acts[field], instant, lambda _: label)
        if not isinstance(done, Fact):
            return False
        self._drop(key)
        self.results = ()
        if done.revision != fact.revision:
            self._may_undo(Undo(label, {done.id: done.text}, lambda at: backs[field](done, at)))
        self._explain()
        return True

    def set_importance(self, identifier: str, importance: float, now: datetime | None = None) -> bool:
        """Give a fact its importance; refused, it stays as a draft."""
        return self._set(f"{identifier}:importance", str(importance), now)

    def set_tags(self, identifier: str, tags: str, now: datetime | None = None) -> bool:
        """Give a fact its tags, typed with commas or spaces between them; refused, they stay as a draft."""
        return self._set(f"{identifier}:tags", tags, now)

    def _set(self, key: str, text: str, now: datetime | None) -> bool:
        self.write(key, text)
        return self.save(key, now)

    # --- taking back ------------------------------------------------------------------------------
    def undo(self, now: datetime | None = None) -> bool:
        """Take back the last act of this panel, on several facts too; each with its own result."""
        if not self._undo:
            return False
        instant, last = self._instant(now), self._undo[-1]

        def act() -> list[Outcome]:
            # Where the whole of it is refused, as by a lock that is held, it can be taken back later.
            found = last.act(instant)
            self._undo.pop()
            return [self._outcome(item, last.texts[item.id]) for item in found]

        def said(found: list[Outcome]) -> str:
            done = sum(one.ok for one in found)
            return self.say("undone", label=last.label, n=done) + self._failed(len(found) - done)

        results = self._do(act, instant, said)
        self.undoable = self._undo[-1].label if self._undo else ""
        self._explain()
        if results is None:
            return False
        self.results = () if all(one.ok for one in results) else tuple(results)
        self._point([one.id for one in results if one.ok])
        return True

    def restore(self, identifier: str, now: datetime | None = None) -> bool:
        """Take back the last decision on a retired fact, of whatever day (S2-087: only the owner does)."""
        return self._one(
            identifier, lambda fact, instant: self.memory.facts.undo(fact, via=VIA, now=instant), "restored one", now
        )

    def _may_undo_decisions(self, label: str, facts: Sequence[Fact]) -> None:
        def act(at: datetime) -> list[ItemResult]:
            found = self.memory.facts.undo(facts, via=VIA, now=at)
            return found if isinstance(found, list) else []

        self._may_undo(Undo(label, {fact.id: fact.text for fact in facts}, act))

    def _may_undo(self, one: Undo) -> None:
        self._undo = [*self._undo, one][-UNDO_DEPTH:]
        self.undoable = one.label
        self._explain()

    # --- habits -----------------------------------------------------------------------------------
    def promote(self, tag: str, now: datetime | None = None) -> bool:
        """Make a habit of an offered tag in the owner's words, the draft ``habit:<tag>`` (S2-085)."""
        key, instant = f"habit:{tag}", self._instant(now)
        text = self.text_of(key)
        done = self._do(
            lambda: self.memory.habits.promote(tag, text, now=instant),
            instant,
            lambda habit: self.say("promoted", text=short(habit.text)),
        )
        if done is None:
            return False
        self._drop(key)
        return True

    def revoke(self, identifier: str, now: datetime | None = None) -> bool:
        """Take a habit out of the injection; its record stays."""
        instant = self._instant(now)
        done = self._do(
            lambda: self.memory.habits.revoke(identifier, now=instant),
            instant,
            lambda habit: self.say("revoked", text=short(habit.text)),
        )
        return done is not None


# --- small parts ----------------------------------------------------------------------------------
def _decided_at(fact: Fact) -> tuple[float, int]:
    """When a fact was last decided on; of the same instant the later line."""
    times = [item.at.timestamp() for item in fact.history if item.at is not None]
    return (max(times, default=0.0), fact.line)


def _says(fact: Fact, query: str) -> bool:
    """Whether every word of the query stands in what is shown of a fact."""
    told = " ".join((fact.text, fact.detail or "", fact.source, *fact.tags, fact.id)).casefold()
    return all(word in told for word in query.casefold().split())


def _tally(names: Iterable[str]) -> dict[str, int]:
    """Name -> how often, most first; ``-`` stands for none."""
    return dict(Counter(name or "-" for name in names).most_common())


def _tags(text: str) -> list[str]:
    for mark in "，、；,;":
        text = text.replace(mark, " ")
    return list(dict.fromkeys(text.split()))


def _number(text: str) -> Any:
    """What was typed as a number, else as it is: the core says what is wrong with it."""
    try:
        return float(text)
    except ValueError:
        return text
