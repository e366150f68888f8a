"""The profile: what the facts say about the owner, each sentence with its sources, and his own wording of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

import traitlets as t

from selfnote.config import Config
from selfnote.injection.assemble import Snapshot, assemble
from selfnote.injection.explain import view_profile
from selfnote.panels.states.base import PanelState, Stored
from selfnote.records.profile import profile_tag
from selfnote.text import safe

KEY = "override"


@dataclass(frozen=True, slots=True)
class SentenceRow:
    """One sentence of the profile, the tag it stands under, and the facts behind it as (id, text) (S2-091)."""

    text: str
    tag: str
    sources: tuple[tuple[str, str], ...]


class ProfileState(PanelState):
    """The tab 画像. Draft: ``override``. Acts: ``start``, ``save``, ``still_holds``, ``follow_facts``.

    ``sentences`` stand in this turn's text; ``derived`` are those the facts would give without an override.
    """

    name: ClassVar[str] = "profile"
    writes: ClassVar[tuple[str, ...]] = ("save", "still_holds", "follow_facts")

    text = t.Unicode("")
    sentences = t.Tuple()
    derived = t.Tuple()
    derived_text = t.Unicode("")
    chars = t.Int(0)
    budget = t.Int(0)
    overridden = t.Bool(default_value=False)
    older = t.Bool(default_value=False)
    warning = t.Unicode("")
    #: The facts the wording being written is made from.
    fact_ids = t.Tuple()

    def _read(self, snapshot: Snapshot, now: datetime) -> None:
        facts = {fact.id: fact for fact in snapshot.approved}
        profile = view_profile(self.memory, now=now)
        self.text, self.chars, self.budget = profile.text, profile.chars, profile.budget
        self.overridden, self.older = profile.overridden, profile.older_than_its_sources
        self.sentences = tuple(
            SentenceRow(one.text, one.tag or "", tuple((id_, facts[id_].text) for id_ in one.sources if id_ in facts))
            for one in profile.sentences
        )
        config = snapshot.config
        without = config.model_copy(update={"profile_override": None})
        segment = assemble(snapshot, now, config=without, choice=snapshot.rotation_file.value).segments["profile"]
        self.derived = tuple(
            SentenceRow(one.text, profile_tag(facts[one.id]) or "", ((one.id, facts[one.id].text),))
            for one in segment.entries
        )
        self.derived_text = self.words["sentence joint"].join(one.text for one in segment.entries)
        self.warning = profile.problem or (
            self.words["older than its sources"] if profile.older_than_its_sources else ""
        )
        if KEY not in self.drafts:
            self.fact_ids = self._made_from(config)

    def _made_from(self, config: Config) -> tuple[str, ...]:
        """The facts behind what is shown: those of the override, else those of the sentences."""
        if config.profile_override is not None:
            return config.profile_override.fact_ids
        return tuple(dict.fromkeys(id_ for one in self.sentences for id_, _ in one.sources))

    def _stored(self, key: str) -> Stored | None:
        if key != KEY:
            return None
        config = self.snapshot.config
        override = config.profile_override
        return Stored(
            config.revision, override.text if override else "", override.model_dump_json() if override else ""
        )

    def _judge(self) -> dict[str, str]:
        return {
            "save": self._why_not_saved(),
            "still_holds": "" if self.older else self.words["why not older"],
            "follow_facts": "" if self.snapshot.config.profile_override else self.words["why no override"],
        }

    def _why_not_saved(self) -> str:
        if KEY not in self.drafts:
            return self.words["why unchanged"]
        return self.say("too many", n=-self.left()) if self.left() < 0 else ""

    # --- acts -------------------------------------------------------------------------------------
    @property
    def prefix(self) -> str:
        """What the profile is read after: 关于他：."""
        config = self.snapshot.config
        return config.phrases.profile_name.format(pronoun=safe(config.pronoun_text))

    def left(self) -> int:
        """Code points the wording may still grow by; negative when it is too long."""
        return self.budget - len(safe(self.text_of(KEY)))

    def start(self) -> None:
        """Fill the field with what the facts say now, made from those facts; nothing is saved."""
        self.write(KEY, self.derived_text)
        self.fact_ids = tuple(dict.fromkeys(id_ for one in self.derived for id_, _ in one.sources))

    def still_holds(self, now: datetime | None = None) -> bool:
        """The wording is right for its sources as they are now: keep it, made from those that are still approved."""
        config = self.snapshot.config
        override = config.profile_override
        if override is None:
            return False
        alive = self._alive(override.fact_ids)
        done = self._do(
            lambda: self.memory.override_profile(override.text, alive, expect=config.revision),
            self._instant(now),
            lambda _: self.words["override kept"],
        )
        return done is not None

    def _alive(self, identifiers: Iterable[str]) -> tuple[str, ...]:
        """Those a profile can be made from now: approved, and about the person."""
        known = {fact.id for fact in self.snapshot.approved if fact.channel == "rel"}
        return tuple(one for one in identifiers if one in known)

    def save(self, now: datetime | None = None) -> bool:
        """Store the owner's own wording with the facts it was made from (S2-090)."""
        draft = self.drafts.get(KEY)
        if draft is None:
            return False
        made_from = self._alive(self.fact_ids)
        done = self._do(
            lambda: self.memory.override_profile(draft.text, made_from, expect=draft.shown),
            self._instant(now),
            lambda _: self.words["override saved"],
        )
        if done is None:
            return False
        self._drop(KEY)
        return True

    def follow_label(self) -> str:
        """What the button says: 跟着事实走, then that the own wording goes."""
        return self.words["really follow facts" if self.armed == "follow facts" else "follow facts"]

    def follow_facts(self, now: datetime | None = None) -> bool:
        """Let the profile follow the facts again, in two clicks: the owner's wording goes for good."""
        instant, revision = self._instant(now), self.snapshot.config.revision
        if not self._second_click("follow facts", instant):
            return False
        done = self._do(
            lambda: self.memory.clear_profile_override(expect=revision),
            instant,
            lambda _: self.words["override cleared"],
        )
        return done is not None
