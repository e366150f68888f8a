"""Old facts that nobody has confirmed since: "is it still true?" (COMPLAINTS 36)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from selfnote.audit.demand import demand
from selfnote.audit.report import Auditable
from selfnote.audit.scenarios import inside
from selfnote.audit.schema import from_rows, microseconds, to_rows
from selfnote.errors import LimitExceeded
from selfnote.injection.assemble import assemble, read_snapshot
from selfnote.phrases import REVIEW_QUESTION
from selfnote.records.attribution import attribution_state
from selfnote.records.fact_lines import Fact
from selfnote.text import safe
from selfnote.times import require_aware

if TYPE_CHECKING:
    import pandas as pd

#: Days after which an approval is long ago.
LONG_AGO_DAYS = 60
_DAY = 86_400_000_000


def review(
    memory: Auditable, *, now: datetime, older_days: float = LONG_AGO_DAYS, silent_only: bool = True
) -> pd.DataFrame:
    """The approved facts to ask the owner about: frame ``review``, the longest unconfirmed first.

    A fact is due when it was approved, and last confirmed, at least ``older_days`` days ago, was never edited since its
    approval, and is not in use (its state is not active). Being injected or found confirms nothing: a fact that drifted
    stands in every prompt and contradicts nobody, which is why ``silent_only=False`` asks about those in use as well.

    Raises
    ------
    LimitExceeded
        When ``older_days`` is negative.
    """
    now = require_aware(now)
    if not older_days >= 0:
        raise LimitExceeded(f"older_days={older_days!r} is no length of time; give days, e.g. {LONG_AGO_DAYS}")
    snapshot = read_snapshot(memory.home, zone=memory.zone_override)
    config = snapshot.config
    there = inside(assemble(snapshot, now, choice=snapshot.rotation_file.value))
    needed: dict[str, list[tuple[int, str]]] = {}
    for row in to_rows("demand", demand(memory, now=now)):
        if row["flag"] is None and row["kind"] != "search":
            needed.setdefault(row["id"], []).append((row["at"], row["kind"]))
    limit = microseconds(now - timedelta(days=older_days))
    rows: list[dict[str, Any]] = []
    for fact in snapshot.approved:
        state = attribution_state(fact, now, config.silent_days)
        if fact.approved_at is None or fact.approved_at > now or _edited(fact) or (silent_only and state == "active"):
            continue
        confirmed, sign = max([*_signs(fact, now), *needed.get(fact.id, [])])
        if confirmed > limit:
            continue
        days = (microseconds(now) - confirmed) / _DAY
        rows.append(
            {
                "id": fact.id,
                "text": fact.text,
                "length": len(safe(fact.text)),
                "channel": fact.channel,
                "tag": fact.tags[0] if fact.tags else None,
                "state": state,
                "inside": fact.id in there,
                "approved_at": microseconds(fact.approved_at),
                "age_days": (microseconds(now) - microseconds(fact.approved_at)) / _DAY,
                "confirmed_at": confirmed,
                "confirmed_by": sign,
                "unconfirmed_days": days,
                "last_hit": microseconds(fact.last_hit),
                "last_seen": microseconds(fact.last_seen),
                "question": REVIEW_QUESTION[config.language][sign].format(days=int(days)),
            }
        )
    return from_rows("review", sorted(rows, key=lambda row: (row["confirmed_at"], row["approved_at"], row["id"])))


def _edited(fact: Fact) -> bool:
    """Whether the owner reworded it since he approved it."""
    return any(
        item.field == "text" and (item.at is None or fact.approved_at is None or item.at >= fact.approved_at)
        for item in fact.history
    )


def _signs(fact: Fact, now: datetime) -> list[tuple[int, str]]:
    """What the owner did to the fact, by instant: approved it, or changed something of it but its text."""
    changes = [
        (microseconds(item.at), "change")
        for item in fact.history
        if item.at is not None and item.at <= now and item.field is not None
    ]
    return [*changes, *([(microseconds(fact.approved_at), "approval")] if fact.approved_at is not None else [])]
