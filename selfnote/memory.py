"""One opened memory: the façade over its rooms; the verbs live in them."""

from __future__ import annotations

import os
from datetime import datetime, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING

from selfnote.config import Config, ConfigStore
from selfnote.errors import SelfnoteError
from selfnote.home import MemoryHome
from selfnote.times import find_zone

if TYPE_CHECKING:
    from selfnote.audit.report import Report
    from selfnote.capture.listener import Capture
    from selfnote.injection.assemble import Injection
    from selfnote.injection.explain import Profile
    from selfnote.records.corrections import Corrections
    from selfnote.records.facts import Facts
    from selfnote.records.habits import Habits
    from selfnote.records.notes import Notes
    from selfnote.records.persona import PersonaStore
    from selfnote.records.summaries import Summaries
    from selfnote.sessions.library import Sessions


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

    def why_not(self, identifier: str, *, now: datetime | None = None) -> str:
        """Why a fact, note, habit or persona line is, or is not, in this turn's text. Raises NotFound."""
        from selfnote.injection.explain import why_not

        return why_not(self, identifier, now=now)

    def audit(self, *, now: datetime | None = None, progress: bool = False) -> Report:
        """Everything an owner should know about this memory at one instant: a Report."""
        from selfnote.audit.report import audit

        return audit(self, now=now, progress=progress)

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
