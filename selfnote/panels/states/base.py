"""What every panel's state shares: drafts that survive refusals, pages of rows, and one way to call the core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import traitlets as t

from selfnote.errors import (
    BadSource,
    Busy,
    Conflict,
    Corrupt,
    LimitExceeded,
    NotFound,
    ReadOnly,
    SelfnoteError,
)
from selfnote.injection.assemble import Injection, Snapshot, assemble, read_snapshot
from selfnote.memory import Memory
from selfnote.phrases import PANELS, describe_error
from selfnote.storage.fingerprints import fingerprint
from selfnote.text import ELLIPSIS
from selfnote.times import clock, local_date, local_time, require_aware

Result = TypeVar("Result")
Source = TypeVar("Source")
Row = TypeVar("Row")

#: Through what the owner acted, as the history of a fact tells it (S2-088).
VIA = "panel"
#: Rows of a page.
PAGE_SIZE = 20
#: Code points of a text that names a record.
SHORT = 24
#: How long a button that asks for a second click waits for it, where the panel is refreshed.
ARMED_FOR = timedelta(seconds=10)
#: Seconds within which a second click is the other half of a double click, and no answer.
DOUBLE_CLICK = 0.7

_KINDS: tuple[tuple[type[Exception], str], ...] = (
    (Conflict, "conflict"),
    (LimitExceeded, "limit"),
    (Busy, "busy"),
    (ReadOnly, "read only"),
    (NotFound, "not found"),
    (BadSource, "bad source"),
    (Corrupt, "corrupt"),
    (OSError, "disk"),
)


class Refusal(NamedTuple):
    """Why an act was not done: its kind, a sentence for the owner, and the core's words for it with value and limit."""

    kind: str
    sentence: str
    detail: str


def kind_of(error: Exception) -> str:
    """What kind of refusal an error is: the second half of ``refused …`` in PANELS."""
    return next((kind for type_, kind in _KINDS if isinstance(error, type_)), "other")


class Outcome(NamedTuple):
    """What became of one item of an act on several: done, or kept as it was, and why."""

    id: str
    text: str
    ok: bool
    kind: str = ""
    sentence: str = ""


class Stored(NamedTuple):
    """What a draft is written over: the record as shown, its text, and what must still be so when it is saved."""

    shown: Any
    text: str
    mark: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What the owner is writing, over what he was shown.

    ``base`` is the text it began with. ``elsewhere``: what is stored is another one now; ``stored`` is its text, None
    when it is gone. ``shown`` and ``mark`` are what the core compares when it is saved.
    """

    key: str
    text: str
    base: str
    shown: Any
    mark: str
    elsewhere: bool = False
    stored: str | None = None


def follow(draft: Draft, found: Stored | None) -> Draft | None:
    """The draft over what is stored now: carried along while its base stands, else marked; None when it says that."""
    if found is None:
        return replace(draft, elsewhere=True, stored=None)
    if found.text == draft.text:
        return None
    if found.mark == draft.mark:
        return replace(draft, shown=found.shown, elsewhere=False, stored=None)
    return replace(draft, elsewhere=True, stored=found.text)


def short(text: str) -> str:
    """The beginning of a text, to name it by."""
    return text if len(text) <= SHORT else text[: SHORT - 1] + ELLIPSIS


class Paged(t.HasTraits, Generic[Source, Row]):
    """A long list, one page of it as rows: only what is shown is worked out.

    ``rows`` are those of ``page`` (from 0) of ``pages``; ``count`` is how many there are in all.
    """

    rows = t.Tuple()
    page = t.Int(0)
    pages = t.Int(1)
    count = t.Int(0)

    def __init__(self, make_row: Callable[[Source], Row], size: int = PAGE_SIZE) -> None:
        super().__init__()
        self.size = size
        self._make_row = make_row
        self.sources: tuple[Source, ...] = ()

    @property
    def shown(self) -> tuple[Source, ...]:
        """What the rows of this page are made of."""
        return self.sources[self.page * self.size : (self.page + 1) * self.size]

    def fill(self, sources: Iterable[Source]) -> None:
        """Take another list; the page stays, if there still is one."""
        self.sources = tuple(sources)
        self.show(self.page)

    def show(self, page: int) -> None:
        """Go to a page, the nearest there is."""
        pages = max(1, -(-len(self.sources) // self.size))
        with self.hold_trait_notifications():
            self.count, self.pages = len(self.sources), pages
            self.page = min(max(0, page), pages - 1)
            self.rows = tuple(self._make_row(one) for one in self.shown)

    def next(self) -> None:
        """The page after this one."""
        self.show(self.page + 1)

    def previous(self) -> None:
        """The page before this one."""
        self.show(self.page - 1)


class Disk:
    """One memory as it was last read, and its text; states over one memory share it, so each is worked out once."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._snapshot: Snapshot | None = None
        self._text: tuple[object, Injection] | None = None

    @property
    def snapshot(self) -> Snapshot:
        """What was last read."""
        return self._snapshot if self._snapshot is not None else self.look()

    def look(self) -> Snapshot:
        """What is on disk now; files that are as they were are not read again."""
        found = read_snapshot(self.memory.home, zone=self.memory.zone_override, previous=self._snapshot)
        if self._snapshot is None or found.fingerprints != self._snapshot.fingerprints or found.problems:
            self._snapshot = found
        return self._snapshot

    def stamp(self, now: datetime) -> object:
        """What has to change before anything looks different: a file, the owner's day, or the hour."""
        hour = now.replace(minute=0, second=0, microsecond=0)
        return (self.snapshot.fingerprints, self.snapshot.problems, hour, local_date(now, self.snapshot.zone))

    def injection(self, now: datetime) -> Injection:
        """The text of this turn with its bill, as the composer would assemble it; counts nothing (S2-095)."""
        stamp = self.stamp(now)
        if self._text is None or self._text[0] != stamp:
            snapshot = self.snapshot
            self._text = (stamp, assemble(snapshot, now, choice=snapshot.rotation_file.value))
        return self._text[1]


class PanelState(t.HasTraits):
    """What one panel shows, and the owner's acts. Knows no widgets; decides nothing; every act is a verb of the core.

    A refusal of the core becomes ``error`` and never an exception, what is done is told in ``message``; a draft stays
    until it is saved or discarded. ``reasons`` says why a control is disabled, by the name of the act; what is not in
    it is enabled. ``acted`` grows with every act that was done. A state that is not ``awake``, as that of a hidden tab,
    reads nothing until it is.

    Parameters
    ----------
    memory
        An opened memory.
    clock
        What tells the time when no ``now`` is given.
    disk
        What was read of the memory, where several states share it.
    language
        ``zh`` or ``en``; None follows the memory's setting.
    seconds
        What counts the seconds between two clicks; None is the machine's own counter.
    """

    name: ClassVar[str] = ""
    #: The acts that write: all disabled when the memory was opened read-only.
    writes: ClassVar[tuple[str, ...]] = ()

    language = t.Unicode("zh")
    awake = t.Bool(default_value=True)
    message = t.Unicode("")
    error = t.Instance(Refusal, allow_none=True)
    problems = t.Tuple()
    reasons = t.Dict()
    drafts = t.Dict()
    armed = t.Unicode("")
    acted = t.Int(0)

    def __init__(
        self,
        memory: Memory,
        *,
        clock: Callable[[], datetime] = clock,
        disk: Disk | None = None,
        language: str | None = None,
        seconds: Callable[[], float] | None = None,
        **traits: Any,
    ) -> None:
        super().__init__(**traits)
        self.memory = memory
        self._clock = clock
        self._disk = disk if disk is not None else Disk(memory)
        self._stamp: object = None
        self._unreadable = False
        self._shown_snapshot = self._disk.snapshot
        self._spoken = language
        self.language = language or self._shown_snapshot.config.language
        self._now = require_aware(clock())
        self._armed_at = self._now
        self._seconds = seconds if seconds is not None else monotonic
        self._clicked = 0.0
        self._build()
        self.refresh(self._now)

    # --- what a panel fills in --------------------------------------------------------------------
    def _build(self) -> None:
        """Make the lists the panel pages through."""

    def _read(self, snapshot: Snapshot, now: datetime) -> None:
        """Show what is on disk now."""
        raise NotImplementedError

    @t.observe("awake")
    def _woken(self, _: object) -> None:
        if hasattr(self, "_disk"):
            self.armed = ""
            self.refresh()

    def _troubles(self, snapshot: Snapshot) -> tuple[str, ...]:
        """What cannot be read, above everything else."""
        return snapshot.problems

    def _watched(self) -> tuple[Path, ...]:
        """Files beside those of the snapshot whose change is shown here."""
        return ()

    def _stored(self, key: str) -> Stored | None:
        """What a draft of this key is written over; None when there is no such thing."""
        raise NotImplementedError

    def _judge(self) -> Mapping[str, str]:
        """Why an act is disabled now, by name."""
        return {}

    # --- words ------------------------------------------------------------------------------------
    @property
    def words(self) -> Mapping[str, str]:
        """The panel's sentences in the configured language."""
        return PANELS[self.language]

    def say(self, key: str, **values: object) -> str:
        """One of them, its gaps filled."""
        return self.words[key].format(**values)

    @property
    def title(self) -> str:
        """The name of the tab."""
        return self.words[f"tab {self.name}"]

    def why_disabled(self, act: str) -> str:
        """Why the control of an act is disabled; empty when it is not."""
        return str(self.reasons.get(act, ""))

    # --- reading ----------------------------------------------------------------------------------
    @property
    def snapshot(self) -> Snapshot:
        """What is shown, as it was read: an act compares with this, whatever other states have read since."""
        return self._shown_snapshot

    def refresh(self, now: datetime | None = None) -> bool:
        """Read again what changed on disk, if anything did; whether it was read. Writes nothing; keeps drafts.

        Heat and age are those of the last reading, which happens at least once an hour.
        """
        instant = require_aware(now if now is not None else self._clock())
        if self.armed and instant - self._armed_at > ARMED_FOR:
            self.armed = ""
        if not self.awake:
            return False
        snapshot = self._disk.look()
        stamp = (self._disk.stamp(instant), tuple(fingerprint(path) for path in self._watched()))
        if stamp == self._stamp:
            return False
        with self.hold_trait_notifications():
            self._now, self._shown_snapshot = instant, snapshot
            self.armed = ""
            self.language = self._spoken or snapshot.config.language
            self.problems = self._troubles(snapshot)
            try:
                self._read(snapshot, instant)
            except (SelfnoteError, OSError) as error:
                self._unreadable = True
                self._refuse(error)
                return False
            if self._unreadable:
                self.error, self._unreadable = None, False
            self._stamp = stamp
            self._follow_drafts()
            self._explain()
        return True

    def _instant(self, now: datetime | None) -> datetime:
        return require_aware(now if now is not None else self._clock())

    def _time(self, instant: datetime | None) -> str:
        """An instant on the owner's clock."""
        if instant is None:
            return "—"
        return f"{local_time(instant, self.snapshot.zone):%Y-%m-%d %H:%M}"

    def _explain(self) -> None:
        reasons = {name: reason for name, reason in self._judge().items() if reason}
        if self.memory.read_only:
            reasons |= dict.fromkeys(self.writes, self.words["why read only"])
        self.reasons = reasons

    # --- drafts -----------------------------------------------------------------------------------
    @property
    def unsaved(self) -> bool:
        """Whether the owner wrote something that is stored nowhere yet."""
        return bool(self.drafts)

    def write(self, key: str, text: str) -> None:
        """What the owner has typed so far for ``key``; typing back what is stored ends the draft."""
        draft = self.drafts.get(key)
        if draft is None:
            found = self._stored(key)
            if found is None:
                self._refuse(NotFound(self.say("nothing to write over", what=key)))
                return
            draft = Draft(key, text, found.text, found.shown, found.mark)
        if text == draft.base and not draft.elsewhere:
            self._drop(key)
        else:
            self.drafts = {**self.drafts, key: replace(draft, text=text)}
        if self.armed == f"discard {key}":
            self.armed = ""
        # What was refused is being mended.
        self.error = None
        self._explain()

    def ask_discard(self, key: str, now: datetime | None = None) -> bool:
        """Give a draft up, in two clicks: nothing brings it back."""
        if not self._second_click(f"discard {key}", self._instant(now)):
            return False
        self.armed = ""
        self.discard(key)
        return True

    def discard(self, key: str) -> None:
        """Give a draft up: what is stored is shown again."""
        self._drop(key)
        self.error = None
        self._explain()

    def overwrite(self, key: str) -> None:
        """Keep the draft though what it was written over changed: the next save may replace what is stored now."""
        draft, found = self.drafts.get(key), self._stored(key)
        if draft is None:
            return
        if found is None:
            self._refuse(NotFound(self.say("gone, nothing to write over", what=key)))
            return
        mine = Draft(key, draft.text, found.text, found.shown, found.mark)
        self.drafts = {**self.drafts, key: mine}
        self.error = None
        self._explain()

    def text_of(self, key: str) -> str:
        """What stands in the field of ``key``: the draft, else what is stored."""
        draft = self.drafts.get(key)
        if draft is not None:
            return str(draft.text)
        found = self._stored(key)
        return found.text if found is not None else ""

    def _drop(self, key: str) -> None:
        if key in self.drafts:
            self.drafts = {one: draft for one, draft in self.drafts.items() if one != key}

    def _follow_drafts(self) -> None:
        followed = {key: follow(draft, self._stored(key)) for key, draft in self.drafts.items()}
        self.drafts = {key: draft for key, draft in followed.items() if draft is not None}

    # --- acting -----------------------------------------------------------------------------------
    def _do(self, act: Callable[[], Result], now: datetime, said: Callable[[Result], str]) -> Result | None:
        """Call a verb of the core; its refusal becomes ``error``, and what is on disk is shown either way."""
        self.armed = ""
        try:
            result = act()
        except (SelfnoteError, OSError) as error:
            self.refresh(now)
            self._refuse(error)
            return None
        self.refresh(now)
        with self.hold_trait_notifications():
            self.error = None
            self.message = said(result)
            self.acted += 1
        return result

    def _refuse(self, error: Exception) -> None:
        kind = kind_of(error)
        with self.hold_trait_notifications():
            self.message = ""
            self.error = Refusal(kind, self.words[f"refused {kind}"], describe_error(error, self.language))

    def _second_click(self, what: str, now: datetime) -> bool:
        """Whether this is the second click on the same button; the first one arms it (S2-069).

        What comes within ``DOUBLE_CLICK`` of the first was on its way before the owner could read the question.
        """
        if self.armed == what:
            return self._seconds() - self._clicked >= DOUBLE_CLICK
        self._armed_at, self._clicked = now, self._seconds()
        self.armed = what
        return False

    def disarm(self) -> None:
        """Forget the first of two clicks."""
        self.armed = ""
