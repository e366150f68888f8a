"""Do rules of the persona work? Corrections of the same thing before and after a rule was saved (S2-143, A-11b)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from selfnote.audit.frames import Frames
from selfnote.audit.likeness import find_related
from selfnote.audit.report import Auditable
from selfnote.audit.schema import from_rows, microseconds, to_rows
from selfnote.config import Config, ConfigStore
from selfnote.errors import Corrupt
from selfnote.phrases import NOT_ENOUGH, RULE_VERDICTS
from selfnote.records.conflicts import profile_text
from selfnote.records.corrections import Corrections, RuleEvidence, rule_fingerprint
from selfnote.records.persona import PersonaStore, rule_lines
from selfnote.storage.lines import read_text_file
from selfnote.times import require_aware

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]

#: Corrections, before and after together, below which nothing is said of a rule.
LEAST_CORRECTIONS = 5
#: Level of the interval of a ratio.
LEVEL = 0.95


class HasPersona(Auditable, Protocol):
    """A memory with a persona and the corrections it was made from."""

    @property
    def persona(self) -> PersonaStore:
        """The persona."""
        ...

    @property
    def corrections(self) -> Corrections:
        """What the owner said was wrong."""
        ...

    @property
    def config(self) -> ConfigStore:
        """The settings."""
        ...


def rule_effects(memory: HasPersona, *, now: datetime) -> pd.DataFrame:
    """How each rule of L1 fares: frame ``rule_effects``, in the order of the persona, then rules that are gone.

    Counted are corrections that say the same or nearly the same (`relate`) as one the rule was made from, or are one,
    dismissed ones aside; what a rule was made from tell persona.evidence.json and the corrections themselves. Before
    and after are compared per message of the owner, in the logs that are still here; before begins with the first
    correction that was listened for (S2-148). A correction whose log is gone is in neither count.

    A rule is made where corrections had piled up, so that some would have ceased by themselves, and the time before
    opens with a correction: both make before look worse than it was, and a small fall is no proof. The interval of the
    ratio is exact, for two Poisson counts given their sum.
    """
    now = require_aware(now)
    config = memory.config.load()
    said = [
        row
        for row in to_rows("corrections", Frames(memory).corrections(now))
        if row["id"] is not None and row["at"] is not None and row["at"] <= microseconds(now)
    ]
    times: list[tuple[str, int]] = []
    logged: set[str] = set()
    for row in to_rows("messages", Frames(memory).messages(now=now)):
        if row["session"] is not None and row["seq"] is not None:
            logged.add(row["session"])
            if row["by_owner"] and row["at"] is not None and row["at"] <= microseconds(now):
                times.append((row["session"], row["at"]))
    since = memory.corrections.since()
    heard = [at for _, at in times if since is None or at >= microseconds(since)]
    likeness = _Likeness(said, config.thresholds.near)
    rows = []
    for rule in _rules(memory, said):
        same = likeness.same_as(rule.made_from)
        rows.append(_effect(rule, same, logged, heard, config, since=microseconds(since)))
    return from_rows("rule_effects", rows)


class _Rule(NamedTuple):
    """One rule: its line while it stands, when it was saved (microseconds), and the corrections it was made from."""

    fingerprint: str
    line: str | None
    saved_at: int | None
    made_from: tuple[str, ...]
    counted: int


def _rules(memory: HasPersona, said: list[Row]) -> Iterator[_Rule]:
    """The rules of L1 in their order, then those with evidence that are no line any more."""
    try:
        known: Mapping[str, RuleEvidence] = {one.fingerprint: one for one in memory.persona.evidence()}
    except Corrupt:
        known = {}
    used: dict[str, list[Row]] = {}
    for row in said:
        if row["rule_fingerprint"] is not None and row["status"] == "used":
            used.setdefault(row["rule_fingerprint"], []).append(row)
    lines = {rule_fingerprint(line): line for line in rule_lines(read_text_file(memory.home.persona))}
    for fingerprint in dict.fromkeys([*lines, *known, *used]):
        evidence = known.get(fingerprint)
        made = [*(evidence.corrections if evidence else ()), *(row["id"] for row in used.get(fingerprint, ()))]
        times = [row["used_at"] for row in used.get(fingerprint, ()) if row["used_at"] is not None]
        saved = microseconds(evidence.saved_at) if evidence and evidence.saved_at else max(times, default=None)
        yield _Rule(
            fingerprint, lines.get(fingerprint), saved, tuple(dict.fromkeys(made)), evidence.count if evidence else 0
        )


class _Likeness:
    """Which corrections say the same."""

    def __init__(self, said: list[Row], near: float) -> None:
        self._said = said
        self._profiles = [profile_text(row["text"]) for row in said]
        self._near = near

    def same_as(self, identifiers: tuple[str, ...]) -> list[Row]:
        """The corrections with these ids and those that say the same, dismissed ones aside."""
        made = [place for place, row in enumerate(self._said) if row["id"] in identifiers]
        found = set(made)
        for one in find_related([self._profiles[place] for place in made], self._profiles, near=self._near):
            if one.relation.kind != "conflict":
                found.add(one.other)
        return [self._said[place] for place in sorted(found) if self._said[place]["status"] != "dismissed"]


def _effect(
    rule: _Rule, same: list[Row], logged: set[str], heard: list[int], config: Config, *, since: int | None
) -> Row:
    saved = rule.saved_at
    here = [row for row in same if row["session"] in logged and (since is None or row["at"] >= since)]
    before = [row["id"] for row in here if saved is not None and row["at"] <= saved]
    after = [row["id"] for row in here if saved is not None and row["at"] > saved]
    exposed_before = sum(saved is not None and at <= saved for at in heard)
    exposed_after = sum(saved is not None and at > saved for at in heard)
    ratio = compare_rates(len(before), exposed_before, len(after), exposed_after)
    values: Row = {
        "before": len(before),
        "after": len(after),
        "messages_before": exposed_before,
        "messages_after": exposed_after,
    }
    verdict = _judge(rule, len(before) + len(after), ratio)
    not_enough = NOT_ENOUGH[config.language].format(n=len(before) + len(after))
    return {
        **values,
        "fingerprint": rule.fingerprint,
        "rule": rule.line,
        "saved_at": saved,
        "made_from": rule.made_from,
        "counted": rule.counted,
        "before_ids": tuple(before),
        "after_ids": tuple(after),
        "unlogged": sum(row["session"] not in logged for row in same),
        "rate_before": 100 * len(before) / exposed_before if exposed_before else None,
        "rate_after": 100 * len(after) / exposed_after if exposed_after else None,
        "ratio": ratio.ratio if ratio else None,
        "low": ratio.low if ratio else None,
        "high": ratio.high if ratio and ratio.high != math.inf else None,
        "verdict": verdict,
        "sentence": RULE_VERDICTS[config.language][verdict].format(not_enough=not_enough, **values),
    }


def _judge(rule: _Rule, corrections: int, ratio: Ratio | None) -> str:
    if not rule.made_from:
        return "no evidence"
    if ratio is None or corrections < LEAST_CORRECTIONS:
        return "too few"
    return "fewer" if ratio.high < 1 else "more" if ratio.low > 1 else "unclear"


# --- two counts ---------------------------------------------------------------------------------------
class Ratio(NamedTuple):
    """A ratio of two rates with its interval; ``ratio`` None where nothing was counted before."""

    ratio: float | None
    low: float
    high: float


def compare_rates(
    before: int, exposed_before: int, after: int, exposed_after: int, level: float = LEVEL
) -> Ratio | None:
    """How the rate after stands to the rate before, exactly: given their sum, the count after is binomial.

    Its Clopper-Pearson interval is carried over to the ratio. None when either side has no exposure.
    """
    if not exposed_before or not exposed_after:
        return None
    total, scale = before + after, exposed_before / exposed_after
    share = _clopper_pearson(after, total, level)
    low, high = (scale * one / (1 - one) if one < 1 else math.inf for one in share)
    return Ratio(scale * after / before if before else None, low, high)


def _clopper_pearson(successes: int, trials: int, level: float) -> tuple[float, float]:
    """The exact interval of a binomial share."""
    tail = (1 - level) / 2

    def at_least(share: float) -> float:
        return 1 - _at_most(successes - 1, trials, share)

    low = 0.0 if successes == 0 else _solve(at_least, tail)
    high = 1.0 if successes == trials else _solve(lambda share: -_at_most(successes, trials, share), -tail)
    return low, high


def _at_most(successes: int, trials: int, share: float) -> float:
    """The probability of at most so many successes."""
    terms = (math.comb(trials, one) * share**one * (1 - share) ** (trials - one) for one in range(successes + 1))
    return math.fsum(terms)


def _solve(rising: Callable[[float], float], value: float) -> float:
    """Where a function that rises from 0 to 1 takes a value, to the precision of a float."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < value else (low, middle)
    return (low + high) / 2
