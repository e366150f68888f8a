"""Whether a fact is in use: really injected, only found, or never (S2-096..105)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from selfnote.records.fact_lines import Fact

AttributionState = Literal["active", "silent", "seen", "never"]


def attribution_state(fact: Fact, now: datetime, silent_days: float) -> AttributionState:
    """在用 / 静默 / 只搜到过 / 从没进过 of one approved fact.

    Active: injected within the last ``silent_days`` days (the last instant included). Silent: injected, but not since;
    a time that cannot be read or lies in the future is no proof of use. Seen: never injected, found by a
    search. The two ledgers are never added up (S2-103).
    """
    if fact.last_hit is not None and fact.last_hit <= now:
        return "active" if now - fact.last_hit <= timedelta(days=silent_days) else "silent"
    if fact.hit_count > 0 or fact.last_hit is not None:
        return "silent"
    return "seen" if fact.seen_count > 0 or fact.last_seen is not None else "never"
