"""The facts of one memory: read them, stage candidates, and the owner's acts (S2-155..167)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar

from selfnote.config import IMPORTANCE_RANGE
from selfnote.errors import Conflict, LimitExceeded, SelfnoteError, require_writable
from selfnote.records.conflicts import NEAR
from selfnote.records.fact_changes import (
    Draft,
    Which,
    link,
    move,
    require_move,
    resolve,
    set_field,
    shown,
    stage,
    take_in,
    undo,
)
from selfnote.records.fact_lines import (
    REASON_LABELS,
    Channel,
    Fact,
    FactFile,
    Reason,
    Status,
    open_conflict_pairs,
    parse_facts,
)
from selfnote.records.flags import flag_names
from selfnote.records.heat import is_count_due
from selfnote.records.sources import parse_source
from selfnote.storage.jsonl import BadLine
from selfnote.storage.lines import TextFile, read_text_file
from selfnote.storage.locks import hold
from selfnote.storage.rewrite import rewrite
from selfnote.text import require_printable, require_text
from selfnote.times import clock, require_aware, to_milliseconds

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What became of one item of a bulk act: the fact as it is now, or the error that kept it as it was."""

    id: str
    fact: Fact | None = None
    error: SelfnoteError | None = None

    @property
    def ok(self) -> bool:
        """Whether the item was done (or already so)."""
        return self.error is None


class Facts:
    """The facts of one memory: read them, stage candidates, and the owner's acts.

    Every act re-reads the file under the lock of ``memory/``, compares what the owner was shown with what is there and
    writes atomically. ``which`` is a Fact (its revision is compared), an id, or an iterable of these; an iterable gives
    one ItemResult per item, in one transaction. Errors: NotFound, Conflict, LimitExceeded, BadSource, Busy, ReadOnly.
    """

    def __init__(
        self,
        path: Path,
        lock: Path,
        *,
        zone: Callable[[], tzinfo | None] = lambda: None,
        near: Callable[[], float] = lambda: NEAR,
        read_only: bool = False,
    ) -> None:
        self._path = path
        self._lock = lock
        self._zone = zone
        self._near = near
        self._read_only = read_only
        self._last: tuple[tzinfo | None, FactFile] | None = None

    # --- reading ----------------------------------------------------------------------------------
    def read(self) -> FactFile:
        """The file as it is now: facts, bad lines, bytes."""
        return self._parse(read_text_file(self._path))

    def _parse(self, file: TextFile) -> FactFile:
        """The file's facts; lines that are as they were last time are not parsed again (PERFORMANCE T12)."""
        zone, last = self._zone(), self._last
        found = parse_facts(file, zone, known=last[1] if last is not None and last[0] == zone else None)
        self._last = (zone, found)
        return found

    def all(self) -> list[Fact]:
        """Every readable fact, in file order."""
        return list(self.read().facts)

    def candidates(self) -> list[Fact]:
        """The facts that wait for the owner."""
        return self._with_status("candidate")

    def approved(self) -> list[Fact]:
        """The facts the owner approved."""
        return self._with_status("approved")

    def retired(self) -> list[Fact]:
        """The facts the owner refused or retired; kept for the record."""
        return self._with_status("retired")

    def get(self, identifier: str) -> Fact:
        """The fact with this id. Raises NotFound."""
        return Draft(self.read(), clock()).get(identifier)

    def conflicts(self) -> list[tuple[Fact, Fact]]:
        """Pairs of facts, neither retired, in an unresolved conflict; each pair once, in file order."""
        facts = {fact.id: fact for fact in self.read().facts if fact.status != "retired"}
        pairs = open_conflict_pairs(facts.values())
        return [(facts[one], facts[other]) for one, other in pairs]

    def bad_lines(self) -> list[BadLine]:
        """The lines of facts.jsonl that cannot be read; they stay as they are (S2-166)."""
        return list(self.read().bad_lines)

    def _with_status(self, status: Status) -> list[Fact]:
        return [fact for fact in self.read().facts if fact.status == status]

    # --- candidates -------------------------------------------------------------------------------
    def stage(
        self,
        text: str,
        *,
        source: str,
        channel: Channel = "rel",
        tags: Iterable[str] = (),
        detail: str | None = None,
        reason: Reason | None = None,
        capture_source: str | None = None,
        source_sha: str | None = None,
        flags: Iterable[str] = (),
        now: datetime | None = None,
    ) -> Fact:
        """Put one sentence with its source into the candidate area (S2-021, S2-022).

        Text identical after folding grows a waiting candidate (occurrences + 1, source appended) or an approved fact's
        occurrences and sources; to a retired one it is a new candidate that says when that was retired. Near and
        contradicting facts are linked on both lines, and an approved one keeps its wording (S2-161, S2-183). Red flags
        of the text (secret, instruction, hidden characters, …) are kept with it; the text stays as it is.

        Raises
        ------
        BadSource
            When ``source`` has none of the known forms.
        LimitExceeded
            When nothing printable is in ``text``, or the line would be over 1 MB.
        """
        source = source.strip() if isinstance(source, str) else source
        parse_source(source)
        wanted = Fact(
            id="f-",
            text=require_printable("text", text),
            detail=None if detail is None else require_text("detail", detail),
            channel=_require_channel(channel),
            tags=_require_tags(tags),
            source=source,
            source_sha=source_sha,
            capture_source=capture_source,
            reason=_require_reason(reason),
            sources=(source,),
            flags=tuple(dict.fromkeys((*flags, *flag_names(text)))),
            created_at=to_milliseconds(require_aware(now or clock())),
        )
        return self._transact(lambda draft: stage(draft, wanted, self._near()), now)

    def add(self, text: str, *, via: str = "notebook", now: datetime | None = None, **values: Any) -> Fact:
        """The owner's own fact: a candidate with source ``owner:<via>``; the keywords of ``stage`` but ``source``."""
        return self.stage(text, source=f"owner:{via}", now=now, **values)

    def take_in(self, choose: Callable[[Iterable[Fact]], Iterable[Fact]], *, now: datetime | None = None) -> None:
        """Add facts from elsewhere in one write: ``choose`` is given those that are here and returns those that come.

        Each is linked with what was here before and is like or contradicts it. Nothing that is here changes but links.
        """
        self._transact(lambda draft: take_in(draft, choose(draft.parsed.facts), self._near()), now)

    # --- the owner's acts -------------------------------------------------------------------------
    def approve(
        self,
        which: Which | Iterable[Which],
        *,
        via: str = "notebook",
        expect: str | None = None,
        replaces: Which | None = None,
        now: datetime | None = None,
    ) -> Fact | list[ItemResult]:
        """Move a candidate to approved: one of the two decisions only a person makes (S2-010).

        ``replaces`` retires another fact in the same transaction (COMPLAINTS 22, 33). A candidate with a red flag is
        never part of a bulk approval: its item is a Conflict, and it is approved by itself or not at all.
        """
        bulk = not isinstance(which, str | Fact)

        def act(draft: Draft, one: Which, expected: str | None) -> Fact:
            fact = shown(draft, one, expected)
            if bulk and fact.status == "candidate" and fact.flags:
                raise Conflict(
                    f"fact {fact.id} carries a red flag ({', '.join(fact.flags)}) and is not approved in bulk; "
                    "look at it and approve it by itself",
                    told="flagged in bulk",
                    id=fact.id,
                    flags=fact.flags,
                )
            if replaces is None:
                return move(draft, fact, "approved", via)
            old = shown(draft, replaces, None)
            if old.id == fact.id:
                raise Conflict(
                    f"fact {fact.id} cannot replace itself; name the older fact", told="replaces itself", id=fact.id
                )
            require_move(fact, "approved")
            retired = move(draft, old, "retired", via)
            return move(draft, fact, "approved", via, partner=retired if retired is not old else None)

        return self._act(which, act, expect, now)

    def retire(
        self,
        which: Which | Iterable[Which],
        *,
        via: str = "notebook",
        expect: str | None = None,
        now: datetime | None = None,
    ) -> Fact | list[ItemResult]:
        """Move a candidate or approved fact to retired: the other decision only a person makes. It stays stored."""
        return self._act(
            which,
            lambda draft, one, expected: move(draft, shown(draft, one, expected), "retired", via),
            expect,
            now,
        )

    def undo(
        self, which: Which | Iterable[Which], *, via: str = "notebook", now: datetime | None = None
    ) -> Fact | list[ItemResult]:
        """Take back the last owner transition as a new line of history; only this leads back from retired.

        Undoing ``approve(x, replaces=y)`` also restores y if y is unchanged.

        Raises
        ------
        Conflict
            When there is nothing to undo, or y was changed since; nothing was written.
        """
        return self._act(which, lambda draft, one, _: undo(draft, shown(draft, one, None), via), None, now)

    def edit(
        self,
        which: Which | Iterable[Which],
        *,
        text: str | None = None,
        detail: str | None = None,
        channel: Channel | None = None,
        via: str = "notebook",
        expect: str | None = None,
        now: datetime | None = None,
    ) -> Fact | list[ItemResult]:
        """Change the wording, the detail or the channel; the old value goes to the history (S2-084).

        None keeps a field; ``detail=""`` empties it. New near and contradicting facts are linked.
        """
        changes: dict[str, Any] = {}
        if text is not None:
            changes["text"] = require_printable("text", text)
        if detail is not None:
            changes["detail"] = require_text("detail", detail) or None
        if channel is not None:
            changes["channel"] = _require_channel(channel)

        def act(draft: Draft, one: Which, expected: str | None) -> Fact:
            fact = shown(draft, one, expected)
            for name, value in changes.items():
                fact = set_field(draft, fact, name, value, via)
            if "text" in changes:
                fact = link(draft, fact, self._near())
            return fact

        return self._act(which, act, expect, now)

    def set_importance(
        self,
        which: Which | Iterable[Which],
        importance: float,
        *,
        via: str = "notebook",
        expect: str | None = None,
        now: datetime | None = None,
    ) -> Fact | list[ItemResult]:
        """Give a fact its importance, 0 to 3; only a person does (S2-167, A-03)."""
        low, high = IMPORTANCE_RANGE
        number = isinstance(importance, int | float) and not isinstance(importance, bool)
        if not number or not low <= importance <= high:
            raise LimitExceeded(
                f"importance={importance!r} is not a number from {low:g} to {high:g}",
                told="importance",
                importance=importance,
                low=low,
                high=high,
            )
        return self._act(
            which,
            lambda draft, one, expected: set_field(
                draft, shown(draft, one, expected), "importance", float(importance), via
            ),
            expect,
            now,
        )

    def set_tags(
        self,
        which: Which | Iterable[Which],
        tags: Iterable[str],
        *,
        via: str = "notebook",
        expect: str | None = None,
        now: datetime | None = None,
    ) -> Fact | list[ItemResult]:
        """Replace a fact's tags; the first decides where in the profile it stands."""
        wanted = _require_tags(tags)
        return self._act(
            which,
            lambda draft, one, expected: set_field(draft, shown(draft, one, expected), "tags", wanted, via),
            expect,
            now,
        )

    def resolve(self, identifier: Which, other: Which, *, via: str = "notebook", now: datetime | None = None) -> Fact:
        """The owner lets two facts stand side by side: their conflict is resolved, on both lines."""
        return self._transact(
            lambda draft: resolve(draft, shown(draft, identifier, None), shown(draft, other, None), via),
            now,
        )

    # --- counters: the composer's and the search tools' only -------------------------------------
    def count(
        self,
        identifiers: Iterable[str],
        counter: Literal["hit", "seen"],
        now: datetime,
        *,
        merge_seconds: float,
    ) -> list[str]:
        """Add 1 to hitCount or seenCount, with its time, where the last count is at least ``merge_seconds`` old.

        Call with the lock of ``memory/`` held (DESIGN "Counting"). The ids counted; unknown ids are left out.
        """
        count_name, time_name = f"{counter}_count", f"last_{counter}"

        def change(draft: Draft) -> list[str]:
            counted: list[str] = []
            for identifier in identifiers:
                fact = draft.facts.get(identifier)
                if fact is None:
                    continue
                if not is_count_due(getattr(fact, time_name), draft.now, merge_seconds):
                    continue
                draft.put(identifier, **{count_name: getattr(fact, count_name) + 1, time_name: draft.now})
                counted.append(identifier)
            return counted

        return self._apply(change, now)

    # --- one transaction --------------------------------------------------------------------------
    def _act(
        self,
        which: Which | Iterable[Which],
        act: Callable[[Draft, Which, str | None], Fact],
        expect: str | None,
        now: datetime | None,
    ) -> Fact | list[ItemResult]:
        if isinstance(which, str | Fact):
            return self._transact(lambda draft: act(draft, which, expect), now)
        items = list(which)

        def change(draft: Draft) -> list[ItemResult]:
            results: list[ItemResult] = []
            for one in items:
                identifier = one.id if isinstance(one, Fact) else one
                facts = dict(draft.facts)
                changes = {key: dict(value) for key, value in draft.changes.items()}
                try:
                    draft.touched.clear()
                    fact = act(draft, one, expect)
                    draft.require_room()
                    results.append(ItemResult(identifier, fact))
                except SelfnoteError as error:
                    draft.facts, draft.changes = facts, changes
                    results.append(ItemResult(identifier, facts.get(identifier), error))
            return results

        return self._transact(change, now)

    def _transact(self, change: Callable[[Draft], Result], now: datetime | None) -> Result:
        require_writable(self._path, read_only=self._read_only)
        with hold(self._lock):
            return self._apply(change, now)

    def _apply(self, change: Callable[[Draft], Result], now: datetime | None) -> Result:
        instant = to_milliseconds(require_aware(now or clock()))

        def rewritten(file: TextFile) -> tuple[TextFile, Result]:
            draft = Draft(self._parse(file), instant)
            result = change(draft)
            return draft.written(), result

        return rewrite(self._path, rewritten)


# --- what a caller may pass -----------------------------------------------------------------------
def _require_channel(channel: str) -> Channel:
    if channel not in {"rel", "env"}:
        _refuse("channel", channel, "rel (about the person) or env (about the machine)")
    return channel  # type: ignore[return-value] # one of the two, as just checked


def _require_reason(reason: str | None) -> Reason | None:
    if reason is not None and reason not in REASON_LABELS:
        _refuse("reason", reason, ", ".join(REASON_LABELS))
    return reason  # type: ignore[return-value] # one of the four or None, as just checked


def _require_tags(tags: Iterable[str]) -> tuple[str, ...]:
    listed = (tags,) if isinstance(tags, str) else tuple(tags)
    if any(not isinstance(tag, str) or not tag.strip() for tag in listed):
        _refuse("tags", listed, "a list of non-empty words")
    for tag in listed:
        require_text("tag", tag)
    return listed


def _refuse(name: str, value: object, allowed: str) -> NoReturn:
    raise LimitExceeded(f"{name}={value!r} is not one of: {allowed}")
