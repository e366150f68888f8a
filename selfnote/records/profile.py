"""The profile: what the approved facts say about the owner, by tag; derived, never stored (S2-006, S2-089..091)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from selfnote.config import Config, ProfileOverride
from selfnote.records.fact_lines import Fact
from selfnote.storage.jsonl import encode
from selfnote.text import is_printable, safe


def basis_of(facts: Iterable[Fact]) -> str:
    """A hash of the facts an override was made from: their ids and wording."""
    return hashlib.sha256(encode(sorted([fact.id, fact.text] for fact in facts)).encode()).hexdigest()[:16]


def make_override(text: str, facts: Iterable[Fact]) -> ProfileOverride:
    """An override of the profile in the owner's words, with the facts it was made from (A-08)."""
    sources = list(facts)
    return ProfileOverride(text=text, fact_ids=tuple(fact.id for fact in sources), basis=basis_of(sources))


class OverrideState(NamedTuple):
    """What the override of a memory is worth now: its printable text, or why it is not used, and whether it is old."""

    text: str | None
    fact_ids: tuple[str, ...]
    older_than_its_sources: bool
    problem: str | None = None


def judge_override(config: Config, approved: Mapping[str, Fact], budget: int) -> OverrideState | None:
    """The configured override, judged; None when there is none. One over ``budget`` is not used, and flagged."""
    override = config.profile_override
    if override is None:
        return None
    live = [
        approved[one] for one in dict.fromkeys(override.fact_ids) if one in approved and approved[one].channel == "rel"
    ]
    older = bool(override.basis) and basis_of(live) != override.basis
    text = safe(override.text)
    if not is_printable(text):
        return OverrideState(None, (), older, "the profile override has nothing printable; it is not used")
    if len(text) > budget:
        return OverrideState(
            None,
            (),
            older,
            f"the profile override has {len(text)} characters, at most {budget}; it is not used",
        )
    return OverrideState(text, tuple(fact.id for fact in live), older)


def profile_tag(fact: Fact) -> str | None:
    """The tag a fact stands under in the profile, as printed: its first; None without a printable one."""
    for tag in fact.tags:
        if is_printable(printed := safe(tag)):
            return printed
    return None
