"""The kept choice: which facts stand in the prompt until the hour turns or the facts change (DESIGN "Rotation")."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

from selfnote.config import HIT_MERGE, TOTAL_BUDGET, Config
from selfnote.home import MemoryHome
from selfnote.injection.segments import Prepared, choose_env, choose_profile, choose_whole, prepare
from selfnote.records.fact_lines import Fact, open_conflict_pairs
from selfnote.records.profile import OverrideState, judge_override
from selfnote.storage.atomic import read_file, write_atomic
from selfnote.storage.jsonl import encode
from selfnote.times import format_instant, parse_instant

FACT_SEGMENTS = ("profile", "env", "conclusions")


class Choice(NamedTuple):
    """Which facts each segment of facts holds, in choosing order, since when, and what that was computed from."""

    since: datetime | None
    basis: str
    profile: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    conclusions: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Every chosen id."""
        return (*self.profile, *self.env, *self.conclusions)

    def has_expired(self, now: datetime) -> bool:
        """Whether an hour has passed; a ``since`` that cannot be read or lies in the future counts as passed."""
        if self.since is None:
            return True
        age = (now - self.since).total_seconds()
        return age < 0 or age >= HIT_MERGE


class Candidates(NamedTuple):
    """The approved facts by where they may go; each is in exactly one list, the hottest first."""

    rel: tuple[Prepared, ...] = ()
    env: tuple[Prepared, ...] = ()
    rel_conflicting: tuple[Prepared, ...] = ()
    env_conflicting: tuple[Prepared, ...] = ()
    absorbed: tuple[Prepared, ...] = ()
    override: OverrideState | None = None


class Approved:
    """The approved facts of one reading, with what is worked out about them once."""

    def __init__(self, facts: Iterable[Fact], known: Approved | None = None) -> None:
        self.facts = {fact.id: fact for fact in facts}
        self.prepared: dict[str, Prepared] = known.prepared if known is not None else {}

    @cached_property
    def conflicts(self) -> list[tuple[str, str]]:
        """Pairs in an unresolved conflict."""
        return open_conflict_pairs(self.facts.values())

    @cached_property
    def part(self) -> str:
        """A hash of the facts without their counters, with their open conflicts among each other."""
        digest = hashlib.sha256()
        for fact in self.facts.values():
            digest.update(fact.without_counters)
        digest.update(repr(self.conflicts).encode())
        return digest.hexdigest()[:16]

    def prepare(self, now: datetime, half_life_days: float) -> list[Prepared]:
        """Every fact ready to be packed, the hottest first; what an earlier reading prepared is used again (T12)."""
        prepared = []
        for fact in self.facts.values():
            found = self.prepared.get(fact.id)
            if found is None or found.fact is not fact or found.half_life_days != half_life_days or not found.timeless:
                found = self.prepared[fact.id] = prepare(fact, now, half_life_days)
            prepared.append(found)
        return sorted(prepared, key=attrgetter("by_heat"))


def sort_candidates(approved: Approved, config: Config, budgets: Mapping[str, int], now: datetime) -> Candidates:
    """Who competes for which segment (DESIGN "Who goes where"); conflicts are read from links, never computed."""
    facts = approved.facts
    held = {identifier for pair in approved.conflicts for identifier in pair}
    override = judge_override(config, facts, budgets["profile"])
    taken = set(override.fact_ids) if override is not None and override.text is not None else set()
    lists: dict[str, list[Prepared]] = {}
    for fact in approved.prepare(now, config.half_life_days):
        env = fact.fact.channel == "env"
        if fact.id in held:
            name = "env_conflicting" if env else "rel_conflicting"
        elif fact.id in taken:
            name = "absorbed"
        else:
            name = "env" if env else "rel"
        lists.setdefault(name, []).append(fact)
    return Candidates(**{name: tuple(found) for name, found in lists.items()}, override=override)


def choose(
    candidates: Candidates,
    budgets: Mapping[str, int],
    *,
    basis: str,
    since: datetime | None,
    room: int = TOTAL_BUDGET,
    refill: tuple[str, ...] = (),
) -> Choice:
    """Choose afresh by heat. ``room`` is what persona and notes left of 1000; it binds only for replaced budgets."""
    rel = [fact for fact in candidates.rel if fact.printable]
    env = [fact for fact in candidates.env if fact.printable]
    profile: list[Prepared] = []
    used = 0
    override = candidates.override
    if override is not None and override.text is not None:
        used = len(override.text)
    else:
        profile, used = choose_profile(rel, min(budgets["profile"], room))
    room -= used
    chosen_env, used = choose_env(env, min(budgets["env"], room), refill=refill)
    room -= used
    in_profile = {fact.id for fact in profile}
    rest = (fact for fact in rel if fact.id not in in_profile)
    conclusions, _ = choose_whole(rest, min(budgets["conclusions"], room))
    return Choice(since, basis, *(tuple(fact.id for fact in facts) for facts in (profile, chosen_env, conclusions)))


def basis_of(facts: str, config: Config, budgets: Mapping[str, int]) -> str:
    """A hash of what a choice depends on: the facts without counters, and the settings and budgets that matter."""
    return _hash(
        [
            facts,
            config.half_life_days,
            config.profile_override.model_dump(mode="json") if config.profile_override else None,
            [budgets[name] for name in FACT_SEGMENTS],
        ]
    )


def read_choice(home: MemoryHome) -> tuple[Choice | None, tuple[int, int, int] | None]:
    """The kept choice and the fingerprint it was read under; None when there is none that can be read."""
    try:
        data, found = read_file(home.rotation)
        values = json.loads(data) if data.strip() else None
    except (OSError, ValueError, RecursionError):
        return None, None
    if not isinstance(values, dict) or not isinstance(values.get("ids"), dict):
        return None, found
    ids = values["ids"]
    lists = [ids.get(name) if isinstance(ids.get(name), list) else [] for name in ("profile", "env", "conclusions")]
    profile, env, conclusions = (tuple(str(one) for one in found_ids or ()) for found_ids in lists)
    return Choice(parse_instant(values.get("since")), str(values.get("basis") or ""), profile, env, conclusions), found


def write_choice(home: MemoryHome, choice: Choice) -> None:
    """Keep a choice. Call with the lock of memory/ held."""
    values = {
        "since": format_instant(choice.since) if choice.since else None,
        "basis": choice.basis,
        "ids": {"profile": choice.profile, "env": choice.env, "conclusions": choice.conclusions},
    }
    write_atomic(home.rotation, encode(values).encode() + b"\n")


def _hash(value: object) -> str:
    return hashlib.sha256(encode(value).encode()).hexdigest()[:16]
