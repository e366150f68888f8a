"""Habits: what the owner made of several facts that share a tag; one short line each (A-07)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from selfnote.config import Config
from selfnote.errors import Conflict, NotFound, require_writable
from selfnote.records.fact_lines import Fact
from selfnote.records.record_lines import parse_records
from selfnote.storage.jsonl import BadLine, encode, patch_object
from selfnote.storage.lines import TextFile, read_text_file
from selfnote.storage.locks import hold
from selfnote.storage.rewrite import rewrite
from selfnote.text import one_line, require_printable
from selfnote.times import EPOCH, clock, format_instant, parse_instant, require_aware

Result = TypeVar("Result")


class Habit(BaseModel):
    """One line of habits.jsonl. ``created_at`` and ``revoked_at`` as written; see ``created`` for the instant."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    tag: str = ""
    text: str
    fact_ids: tuple[str, ...] = ()
    created_at: Any = None
    revoked_at: Any = None

    def created(self, zone: tzinfo | None = None) -> datetime:
        """When it was promoted; 1970 when that cannot be read."""
        return parse_instant(self.created_at, zone) or EPOCH


def habit_id(tag: str, text: str, created_at: Any) -> str:
    """``h-`` + 12 hex of sha256 of a habit's tag and wording, and of when it was promoted as it stands on disk."""
    return "h-" + hashlib.sha256(encode([tag, text, created_at]).encode()).hexdigest()[:12]


class Offer(NamedTuple):
    """A tag that enough approved facts share to make a habit of."""

    tag: str
    fact_ids: tuple[str, ...]
    texts: tuple[str, ...]


class HabitFile(NamedTuple):
    """habits.jsonl as read; ``lines`` tells where each habit stands."""

    habits: tuple[Habit, ...]
    bad_lines: tuple[BadLine, ...]
    lines: dict[str, int]


def parse_habits(file: TextFile) -> HabitFile:
    """Every line of ``file``; a second line with an id already seen is a bad line."""
    parsed = parse_records(file, Habit.model_validate_json)
    return HabitFile(tuple(parsed.records.values()), parsed.bad_lines, parsed.lines)


def active_habits(habits: Iterable[Habit], approved: Iterable[str], zone: tzinfo | None = None) -> list[Habit]:
    """Habits not revoked and with at least one approved fact, by (createdAt, id) (DESIGN "The injected text")."""
    known = set(approved)
    live = [habit for habit in habits if not habit.revoked_at and known.intersection(habit.fact_ids)]
    return sorted(live, key=lambda habit: (habit.created(zone), habit.id))


def offered_tags(facts: Iterable[Fact], habits: Iterable[Habit], minimum: int) -> list[Offer]:
    """Tags that at least ``minimum`` approved facts share and no standing habit has taken, most facts first."""
    taken = {habit.tag for habit in habits if not habit.revoked_at}
    by_tag: dict[str, list[Fact]] = {}
    for fact in facts:
        if fact.status == "approved":
            for tag in dict.fromkeys(fact.tags):
                by_tag.setdefault(tag, []).append(fact)
    offers = [
        Offer(tag, tuple(fact.id for fact in shared), tuple(fact.text for fact in shared))
        for tag, shared in by_tag.items()
        if len(shared) >= minimum and tag not in taken
    ]
    return sorted(offers, key=lambda offer: (-len(offer.fact_ids), offer.tag))


class Habits:
    """The habits of one memory: what is offered, promote, revoke. Only the owner does either."""

    def __init__(
        self,
        path: Path,
        lock: Path,
        *,
        facts: Callable[[], Sequence[Fact]],
        config: Callable[[], Config] = Config,
        zone: Callable[[], tzinfo | None] = lambda: None,
        read_only: bool = False,
    ) -> None:
        self._path = path
        self._lock = lock
        self._facts = facts
        self._config = config
        self._zone = zone
        self._read_only = read_only

    def read(self) -> HabitFile:
        """The file as it is now."""
        return parse_habits(read_text_file(self._path))

    def all(self) -> list[Habit]:
        """Every habit, revoked ones included."""
        return list(self.read().habits)

    def active(self) -> list[Habit]:
        """The habits that may be injected."""
        approved = (fact.id for fact in self._facts() if fact.status == "approved")
        return active_habits(self.read().habits, approved, self._zone())

    def offered(self) -> list[Offer]:
        """The tags that may be made a habit (S2-085)."""
        return offered_tags(self._facts(), self.read().habits, self._config().habit_min_facts)

    def bad_lines(self) -> list[BadLine]:
        """The lines of habits.jsonl that cannot be read; they stay as they are."""
        return list(self.read().bad_lines)

    def promote(self, tag: str, text: str, *, now: datetime | None = None) -> Habit:
        """Make a habit of an offered tag, in the owner's words.

        Raises
        ------
        Conflict
            When the tag is not offered now.
        LimitExceeded
            When nothing printable is in ``text``.
        """
        wanted = one_line(require_printable("habit", text))
        created = format_instant(require_aware(now or clock()))

        def change(file: TextFile) -> tuple[TextFile, Habit]:
            parsed = parse_habits(file)
            offers = offered_tags(self._facts(), parsed.habits, self._config().habit_min_facts)
            offer = next((one for one in offers if one.tag == tag), None)
            if offer is None:
                names = ", ".join(one.tag for one in offers) or "none"
                raise Conflict(
                    f"tag {tag!r} is not offered as a habit now; offered: {names}",
                    told="tag not offered",
                    tag=tag,
                    offered=tuple(one.tag for one in offers),
                )
            identifier = habit_id(tag, wanted, created)
            habit = Habit(id=identifier, tag=tag, text=wanted, fact_ids=offer.fact_ids, created_at=created)
            return file.appended(encode(habit.model_dump(by_alias=True))), habit

        return self._rewrite(change)

    def take_in(self, habits: Iterable[Habit]) -> None:
        """Add habits from elsewhere in one write; one whose id is here stays out."""
        wanted = list(habits)

        def change(file: TextFile) -> tuple[TextFile, None]:
            known = {habit.id for habit in parse_habits(file).habits}
            for habit in wanted:
                if habit.id not in known:
                    file = file.appended(encode(habit.model_dump(by_alias=True)))
            return file, None

        self._rewrite(change)

    def revoke(self, identifier: str, *, now: datetime | None = None) -> Habit:
        """Take a habit out of the injection; its record stays. A revoked one stays as it is. Raises NotFound."""
        at = format_instant(require_aware(now or clock()))

        def change(file: TextFile) -> tuple[TextFile, Habit]:
            parsed = parse_habits(file)
            habit = next((one for one in parsed.habits if one.id == identifier), None)
            if habit is None:
                raise NotFound(
                    f"no habit has the id {identifier!r}; m.habits.all() lists them", told="no habit", id=identifier
                )
            if habit.revoked_at:
                return file, habit
            index = parsed.lines[identifier]
            raw = patch_object(file.lines[index].text or "", {"revokedAt": at})
            return file.replaced(index, raw), habit.model_copy(update={"revoked_at": at})

        return self._rewrite(change)

    def _rewrite(self, change: Callable[[TextFile], tuple[TextFile, Result]]) -> Result:
        require_writable(self._path, read_only=self._read_only)
        with hold(self._lock):
            return rewrite(self._path, change)
