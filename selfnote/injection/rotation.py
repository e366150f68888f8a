"""The kept choice: which facts stand in the prompt until the hour turns or the facts change (DESIGN "Rotation")."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from selfnote.config import HIT_MERGE, TOTAL_BUDGET, Config
from selfnote.home import MemoryHome
from selfnote.injection.segments import Prepared, choose_env, choose_profile, choose_whole, prepare
from selfnote.records.fact_lines import Fact, open_conflict_pairs
from selfnote.records.profile import OverrideState, judge_override
from selfnote.storage.atomic import read_file, write_atomic
from selfnote.storage.jsonl import encode
from selfnote.text import is_printable
from selfnote.times import format_instant, parse_instant

FACT_SEGMENTS = ("profile", "env", "conclusions")


@dataclass(frozen=True, slots=True)
class Choice:
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


@dataclass(frozen=True, slots=True)
class Candidates:
    """The approved facts by where they may go; each is in exactly one list, the hottest first."""

    rel: tuple[Prepared, ...] = ()
    env: tuple[Prepared, ...] = ()
    rel_conflicting: tuple[Prepared, ...] = ()
    env_conflicting: tuple[Prepared, ...] = ()
    absorbed: tuple[Prepared, ...] = ()
    override: OverrideState | None = None


def sort_candidates(approved: Iterable[Fact], config: Config, budgets: Mapping[str, int], now: datetime) -> Candidates:
    """Who competes for which segment (DESIGN "Who goes where"); conflicts are read from links, never computed."""
    facts = {fact.id: fact for fact in approved}
    held = {identifier for pair in open_conflict_pairs(facts.values()) for identifier in pair}
    override = judge_override(config, facts, budgets["profile"])
    taken = set(override.fact_ids) if override is not None and override.text is not None else set()
    prepared = sorted(
        (prepare(fact, now, config.half_life_days) for fact in facts.values()), key=lambda fact: fact.by_heat
    )
    lists: dict[str, list[Prepared]] = {}
    for fact in prepared:
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
    rel = [fact for fact in candidates.rel if is_printable(fact.text)]
    env = [fact for fact in candidates.env if is_printable(fact.text)]
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
    """A hash of what a choice depends on: the ``facts_part``, and the settings and budgets that matter."""
    return _hash(
        [
            facts,
            config.half_life_days,
            config.profile_override.model_dump(mode="json") if config.profile_override else None,
            [budgets[name] for name in FACT_SEGMENTS],
        ]
    )


def facts_part(approved: Iterable[Fact]) -> str:
    """A hash of the approved facts without their counters, with their open conflicts among each other."""
    facts = {fact.id: fact for fact in approved}
    digest = hashlib.sha256()
    for fact in facts.values():
        seen = (
            fact.id,
            fact.text,
            fact.channel,
            fact.tags,
            fact.importance,
            fact.approved_at,
            fact.created_at,
        )
        digest.update(repr(seen).encode("utf-8", "backslashreplace"))
    digest.update(repr(open_conflict_pairs(facts.values())).encode())
    return digest.hexdigest()[:16]


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
