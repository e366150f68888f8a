"""One opened memory: the façade over its rooms; the verbs live in them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, Any

from selfnote.config import Config, ConfigStore
from selfnote.errors import SelfnoteError
from selfnote.home import MemoryHome
from selfnote.times import clock, find_zone, require_aware

if TYPE_CHECKING:
    from selfnote.audit.frames import Frames
    from selfnote.audit.report import Report
    from selfnote.audit.what_if import WhatIf
    from selfnote.capture.listener import Capture
    from selfnote.injection.assemble import Injection
    from selfnote.injection.changes import Ids
    from selfnote.injection.explain import Preview, Profile
    from selfnote.records.corrections import Corrections
    from selfnote.records.fact_lines import Fact
    from selfnote.records.facts import Facts
    from selfnote.records.habits import Habits
    from selfnote.records.notes import Notes
    from selfnote.records.persona import PersonaStore
    from selfnote.records.summaries import Summaries
    from selfnote.sessions.cache import SessionCache
    from selfnote.sessions.evidence import Evidence
    from selfnote.sessions.index import Index
    from selfnote.sessions.library import Sessions
    from selfnote.sessions.ranking import Role
    from selfnote.sessions.recall import RecallResult
    from selfnote.sessions.search import SearchResult
    from selfnote.upkeep.traces import ForgetReport, Package, Traces
    from selfnote.upkeep.transfer import ImportReport


class Memory:
    """The memory of one owner's agent. Made by ``open_memory``; opening reads and writes nothing.

    Attributes
    ----------
    facts, notes, persona, habits, config
        The records, with the owner's verbs.
    sessions
        The harness's session logs, read only.
    read_only
        Whether every write is refused with ReadOnly.
    """

    def __init__(self, home: MemoryHome, *, tz: str | tzinfo | None = None, read_only: bool = False) -> None:
        self.home = home
        self.read_only = read_only
        self.zone_override: tzinfo | None = find_zone(tz) if isinstance(tz, str) else tz

    def __repr__(self) -> str:
        mode = "read-only" if self.read_only else "writable"
        return f"<Memory of {self.home.root}, {mode}>"

    def zone(self) -> tzinfo | None:
        """The owner's time zone: the one asked for, else the configured one; None stands for the system's."""
        return self.zone_override if self.zone_override is not None else find_zone(self.config.load().tz)

    @cached_property
    def config(self) -> ConfigStore:
        """The settings: load and save."""
        return ConfigStore(self.home.config, self.home.selfnote_lock, read_only=self.read_only)

    @cached_property
    def facts(self) -> Facts:
        """Facts and candidates."""
        from selfnote.records.facts import Facts

        return Facts(
            self.home.facts,
            self.home.memory_lock,
            zone=self.zone,
            near=self._near,
            read_only=self.read_only,
        )

    @cached_property
    def notes(self) -> Notes:
        """The agent's notes about itself."""
        from selfnote.records.notes import Notes

        return Notes(
            self.home.notes,
            self.home.notes_archive,
            self.home.selfnote_lock,
            config=self._config_now,
            zone=self.zone,
            read_only=self.read_only,
        )

    @cached_property
    def persona(self) -> PersonaStore:
        """The persona the owner wrote."""
        from selfnote.records.persona import PersonaStore

        return PersonaStore(
            self.home.persona,
            self.home.selfnote_lock,
            agent_file=self.home.agent_file,
            home=self.home,
            corrections=self.corrections,
            read_only=self.read_only,
        )

    @cached_property
    def corrections(self) -> Corrections:
        """What the owner said was wrong: evidence for persona rules."""
        from selfnote.records.corrections import Corrections

        return Corrections(
            self.home.corrections,
            self.home.corrections_watermark,
            self.home.selfnote_lock,
            zone=self.zone,
            near=self._near,
            owner_seqs=self._owner_seqs,
            read_only=self.read_only,
        )

    @cached_property
    def habits(self) -> Habits:
        """Habits, and the tags offered as such."""
        from selfnote.records.habits import Habits

        return Habits(
            self.home.habits,
            self.home.memory_lock,
            facts=self.facts.all,
            config=self._config_now,
            zone=self.zone,
            read_only=self.read_only,
        )

    @cached_property
    def sessions(self) -> Sessions:
        """The harness's session logs."""
        from selfnote.records.ledger import known_digests
        from selfnote.sessions.library import Sessions

        return Sessions(self.home, known_digests=lambda: known_digests(self.home))

    @cached_property
    def summaries(self) -> Summaries:
        """The agent's summaries, each with a pointer to what was really said."""
        from selfnote.records.summaries import Summaries

        return Summaries(self.home.summaries, self.home.memory_lock, zone=self.zone, read_only=self.read_only)

    @cached_property
    def frames(self) -> Frames:
        """The memory as DataFrames; ``print`` it to see every column."""
        from selfnote.audit.frames import Frames

        return Frames(self)

    @cached_property
    def index(self) -> Index:
        """The optional index of what was said: ``status()``, ``build()``, ``drop()``."""
        from selfnote.sessions.index import Index

        return Index(
            self.home,
            self.sessions,
            read_only=self.read_only,
            language=lambda: self.config.load().language,
            zone=self.zone,
        )

    @cached_property
    def _cache(self) -> SessionCache:
        from selfnote.sessions.cache import SessionCache

        return SessionCache(self.home.cache, self.sessions, read_only=self.read_only)

    @cached_property
    def capture(self) -> Capture:
        """What listens to the owner: hear live events, scan the logs."""
        from selfnote.capture.listener import Capture

        return Capture(
            self.home,
            facts=self.facts,
            corrections=self.corrections,
            config=self._config_now,
            zone=self.zone,
            sessions=self.sessions,
            read_only=self.read_only,
        )

    def assemble(self, *, now: datetime | None = None) -> Injection:
        """What this turn's prompt would hold, with its bill; writes nothing."""
        from selfnote.injection.assemble import assemble_injection

        return assemble_injection(self, now=now)

    def profile(self, *, now: datetime | None = None) -> Profile:
        """What the memory says about the owner this turn: each sentence with its source facts (S2-089..091)."""
        from selfnote.injection.explain import view_profile

        return view_profile(self, now=now)

    def override_profile(self, text: str, fact_ids: tuple[str, ...] = (), *, expect: str | None = None) -> Config:
        """Replace the profile by the owner's own words, made from these facts (S2-090).

        Raises
        ------
        NotFound
            When an id is no fact's.
        LimitExceeded
            When the text is over ``profile_max_chars`` code points; nothing was written.
        """
        from selfnote.injection.explain import override_profile

        return override_profile(self, text, fact_ids, expect=expect)

    def clear_profile_override(self, *, expect: str | None = None) -> Config:
        """Let the profile follow the facts again."""
        return self.config.save(expect=expect, profile_override=None)

    def why_not(self, identifier: str, *, now: datetime | None = None, language: str | None = None) -> str:
        """Why a fact, note, habit or persona line is, or is not, in this turn's text. Raises NotFound.

        ``language`` is zh or en; None follows the memory's setting.
        """
        from selfnote.injection.explain import why_not

        return why_not(self, identifier, now=now, language=language)

    def preview(
        self,
        approve: Ids = (),
        retire: Ids = (),
        edit: Mapping[str, str] | None = None,
        pin: Ids = (),
        *,
        now: datetime | None = None,
    ) -> Preview:
        """What a change would do to this turn's text: who enters, who leaves; writes nothing.

        ``approve`` and ``retire`` are facts or their ids, ``pin`` notes or theirs, ``edit`` new texts by id.

        Raises
        ------
        NotFound, Conflict, LimitExceeded
            For an unknown id, a transition that is none, a text with nothing printable.
        """
        from selfnote.injection.explain import preview

        return preview(self, approve=approve, retire=retire, edit=edit, pin=pin, now=now)

    def what_if(
        self,
        *,
        budgets: Mapping[str, int] | None = None,
        half_life: float | None = None,
        approve: Ids = (),
        retire: Ids = (),
        edit: Mapping[str, str] | None = None,
        pin: Ids = (),
        ttl: int | None = None,
        importance: Mapping[str, float] | None = None,
        now: datetime | None = None,
    ) -> WhatIf:
        """What these changes would do: entries in and out, ranks, the text before and after (UC-005); writes nothing.

        See ``selfnote.audit.what_if.what_if``. Raises NotFound, Conflict, LimitExceeded.
        """
        from selfnote.audit.what_if import what_if

        return what_if(
            self,
            now=require_aware(now or clock()),
            budgets=budgets,
            half_life=half_life,
            approve=approve,
            retire=retire,
            edit=edit,
            pin=pin,
            ttl=ttl,
            importance=importance,
        )

    def evidence(self, which: Fact | str, *, around: int = 2) -> Evidence:
        """What stands now where a fact or summary says it comes from, read again from the session's bytes.

        ``which`` is a Fact, the id of a fact or summary, or a source; ``around`` messages are shown on either side.
        ``check_sources`` of ``selfnote.sessions.evidence`` reads every source of many facts. Raises NotFound.
        """
        from selfnote.sessions.evidence import check, find_claim

        claim = find_claim(which, lambda: self.facts.read().by_id, self.summaries.all)
        language = self.config.load().language
        return check([claim], self.sessions, around=around, language=language, zone=self.zone())[0]

    def recall(self, query: str, *, limit: int = 10, role: Role | None = None, progress: bool = False) -> RecallResult:
        """The messages that answer ``query`` best, out of what was really said, each with its pointer (S2-019).

        Counts nothing and writes nothing but the cache of parsed sessions. ``role`` keeps what one side said; with
        ``index_enabled`` the index is asked. See the function of this name in ``selfnote.sessions.recall``.

        Raises
        ------
        LimitExceeded
            When ``limit`` is not 1 to 1000, or ``role`` is neither "user", "assistant" nor None.
        """
        from selfnote.sessions.recall import recall

        config = self.config.load()
        return recall(
            query,
            sessions=self.sessions,
            cache=self._cache,
            index=self.index if config.index_enabled else None,
            facts=self.facts.all,
            limit=limit,
            role=role,
            progress=progress,
            language=config.language,
            zone=self.zone(),
        )

    def search(self, query: str, *, limit: int = 10, now: datetime | None = None) -> SearchResult:
        """Approved facts and active summaries that hold every keyword, each with its pointer; counts nothing (S2-029).

        Raises
        ------
        LimitExceeded
            When ``query`` has no keyword, or ``limit`` is not 1 to 1000.
        """
        from selfnote.sessions.search import search

        config = self.config.load()
        return search(
            query,
            facts=self.facts.all(),
            summaries=self.summaries.all(),
            sessions=self.sessions,
            now=require_aware(now or clock()),
            half_life_days=config.half_life_days,
            limit=limit,
            language=config.language,
            zone=self.zone(),
        )

    def export_package(self, *, now: datetime | None = None) -> dict[str, Any]:
        """The memory as one package for another machine; see ``selfnote.upkeep.transfer.export_package``."""
        from selfnote.upkeep.transfer import export_package

        return export_package(self, now=now)

    def import_package(
        self,
        package: Mapping[str, Any],
        *,
        keep_status: bool = False,
        dry_run: bool = False,
        now: datetime | None = None,
    ) -> ImportReport:
        """Bring in what a package has and this memory has not; see ``selfnote.upkeep.transfer.import_package``.

        Raises
        ------
        Corrupt, LimitExceeded, Busy, ReadOnly
        """
        from selfnote.upkeep.transfer import import_package

        return import_package(self, package, keep_status=keep_status, dry_run=dry_run, now=now)

    def where_is(self, text: str, *, packages: Iterable[Package] = (), progress: bool = False) -> Traces:
        """Every place a sentence survives in; see the function of this name in ``selfnote.upkeep.traces``."""
        from selfnote.upkeep.traces import where_is

        return where_is(self, text, packages=packages, progress=progress)

    def forget(
        self,
        text: str,
        dry_run: bool = True,
        *,
        backup: bool = True,
        packages: Iterable[Package] = (),
        now: datetime | None = None,
        progress: bool = False,
    ) -> ForgetReport:
        """Remove a sentence from our files, a dry run unless told otherwise; see ``selfnote.upkeep.traces.forget``.

        Raises
        ------
        LimitExceeded, Busy, ReadOnly
        """
        from selfnote.upkeep.traces import forget

        return forget(self, text, dry_run, backup=backup, packages=packages, now=now, progress=progress)

    def audit(
        self,
        *,
        now: datetime | None = None,
        progress: bool = False,
        tokenizer: str | os.PathLike[str] | None = None,
    ) -> Report:
        """Everything an owner should know about this memory at one instant: a Report.

        ``tokenizer`` is a model's ``tokenizer.json``, to count tokens by; None: ``selfnote/tokenizer.json`` of the
        memory, where there is one. Raises NotFound, Corrupt when one is named that cannot be used.
        """
        from selfnote.audit.report import audit

        return audit(self, now=now, progress=progress, tokenizer=tokenizer)

    def _owner_seqs(self, session_id: str) -> list[int] | None:
        """The seqs of the owner's messages in a session; None when its log is gone or cannot be read."""
        try:
            return [message.seq for message in self.sessions.open(session_id).messages() if message.by_owner]
        except SelfnoteError:
            return None

    def _near(self) -> float:
        return self.config.load().thresholds.near

    def _config_now(self) -> Config:
        return self.config.load()


def open_memory(
    home: str | os.PathLike[str] | None = None, *, tz: str | tzinfo | None = None, read_only: bool = False
) -> Memory:
    """Open the memory at ``home``; needs nothing to exist, and writes nothing unless a persona save was interrupted.

    An interrupted save is completed first (S2-144); ``read_only`` leaves it as it is and shows the state before it.

    Parameters
    ----------
    home
        The ``.dsh`` directory. None: ``$DSH_HOME`` or ``~/.dsh``; ``$DSH_MEMORY_DIR`` then moves ``memory/`` alone.
    tz
        The owner's time zone, a name such as ``Asia/Shanghai``; None: the configured one, else the system's.
    read_only
        Refuse every write with ReadOnly.
    """
    place = MemoryHome.at(home)
    if not read_only and place.persona_pending.exists():
        from selfnote.records.persona_transaction import recover

        recover(place)
    return Memory(place, tz=tz, read_only=read_only)
