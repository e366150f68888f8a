"""Prompt churn: how often a session's text changed, from where on, why, and what was sent again (COMPLAINTS 23-25).

A prefix cache of the model's keeps what stands before the first changed character. Offsets and lengths are of our text
alone; what the harness puts after it is read again too, and is none of ours to count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from selfnote.audit import schema
from selfnote.audit.replay import Replayed, Replayer, bad_rows, persona_block, shared_prefix
from selfnote.audit.report import Auditable
from selfnote.config import SEGMENTS

if TYPE_CHECKING:
    import pandas as pd

    from selfnote.sessions.log import SessionLog

#: What a change that touches no segment touches: header, frame, pointer, hint, doorplates, names.
FRAMING = "framing"
#: A larger number is none of ours.
_MOST = 2**53
_CAUSES = ("edit", "config", "refill", "date", "rotation")


def changes(memory: Auditable, *, session: str | None = None, progress: bool = False) -> pd.DataFrame:
    """One row a change of text within a session, its first text being none: frame "churn".

    Raises
    ------
    NotFound
        When ``session`` is given and the ledger has none of that id.
    """
    replayer = Replayer(memory)
    rows = [
        _row(before, after)
        for texts in _sessions(replayer, session, progress=progress)
        for before, after in pairwise(texts)
    ]
    return schema.from_rows("churn", [*rows, *bad_rows(replayer.bad_lines)])


def summary(memory: Auditable, *, session: str | None = None, progress: bool = False) -> pd.DataFrame:
    """One row a session of the ledger: frame "churn_sessions". Raises NotFound as `changes` does."""
    replayer = Replayer(memory)
    return schema.from_rows(
        "churn_sessions",
        [_summary(texts, replayer.log(texts[0].session)) for texts in _sessions(replayer, session, progress=progress)],
    )


def _sessions(replayer: Replayer, session: str | None, *, progress: bool) -> Iterator[list[Replayed]]:
    """The texts of each session, one after the other; a line that only counted is no new one."""
    for replayed in replayer.each(session, progress=progress):
        yield [one for place, one in enumerate(replayed) if place == 0 or one.digest != replayed[place - 1].digest]


# --- one change ---------------------------------------------------------------------------------------
def _row(before: Replayed, after: Replayed) -> dict[str, Any]:
    old, new = before.injected, after.injected
    flags = [] if after.at is not None else ["at cannot be read"]
    since = None if before.at is None or after.at is None else (after.at - before.at).total_seconds()
    row: dict[str, Any] = {
        "session": after.session,
        "turn": None if after.turn is None else str(after.turn),
        "at": schema.microseconds(after.at),
        "cause": after.cause,
        "chars": None if new is None else len(new),
        "used": _count("used", sum(one.used for one in after.segments.values()), flags),
        "minutes": None if since is None else since / 60,
        "segments": changed_segments(before, after),
        "line": after.line,
    }
    if old is None or new is None:
        resent = _count("resent", _resent_by_segments(row["segments"], after), flags)
        row |= {"basis": "segments", "resent": resent}
    else:
        first = shared_prefix(old, new)
        row |= {
            "basis": " and ".join(sorted({_origin(before), _origin(after)})),
            "first_changed": first,
            "first_share": first / len(new) if new else None,
            "resent": len(new) - first,
        }
    return row | {"flag": "; ".join(flags) or None}


def _count(name: str, value: int | None, flags: list[str]) -> int | None:
    """A number of the ledger's; one that no column could hold is none, and flagged."""
    if value is None or abs(value) <= _MOST:
        return value
    flags.append(f"{name} is no number of ours")
    return None


def _origin(one: Replayed) -> str:
    return "logged" if one.logged is not None and one.logged_digest == one.digest else "rebuilt"


def changed_segments(before: Replayed, after: Replayed) -> tuple[str, ...]:
    """The segments whose part of the text is another, as far as ids, lengths and known wordings tell."""
    old, new = before.injected, after.injected
    found = [name for name in SEGMENTS if _has_changed(before, after, name)]
    if old is None or new is None:
        return tuple(found)
    if "persona" not in found:
        old_persona, new_persona = (
            persona_block(text, len(one.segments["persona"].entries)) for text, one in ((old, before), (new, after))
        )
        if old_persona != new_persona:
            found.insert(0, "persona")
    return tuple(found) if found else (FRAMING,)


def _has_changed(before: Replayed, after: Replayed, name: str) -> bool:
    old, new = before.segments[name], after.segments[name]
    if (old.used, old.plate) != (new.used, new.plate) or len(old.entries) != len(new.entries):
        return True
    return any(
        one.id != other.id or (one.text is not None and other.text is not None and one.text != other.text)
        for one, other in zip(old.entries, new.entries, strict=True)
    )


def _resent_by_segments(changed: Sequence[str], after: Replayed) -> int | None:
    """What the first changed segment and those printed below it use."""
    first = next((place for place, name in enumerate(SEGMENTS) if name in changed), None)
    return None if first is None else sum(after.segments[name].used for name in SEGMENTS[first:])


# --- one session --------------------------------------------------------------------------------------
def _summary(texts: Sequence[Replayed], log: SessionLog | None) -> dict[str, Any]:
    rows = [_row(before, after) for before, after in pairwise(texts)]
    causes = Counter(row["cause"] for row in rows)
    shares = [row["first_share"] for row in rows if row.get("first_share") is not None]
    turns = _turns_in_log(log) if log is not None else 0
    counted = turns or _turns_in_ledger(texts)
    return {
        "session": texts[0].session,
        "turns": counted,
        "turns_from": "log" if turns else "ledger",
        "texts": len({one.digest for one in texts}),
        "changes": len(rows),
        "per_100_turns": 100 * len(rows) / counted if counted else None,
        **{name: causes[name] for name in _CAUSES},
        "other": sum(count for cause, count in causes.items() if cause not in _CAUSES),
        "first_share": sum(shares) / len(shares) if shares else None,
        "resent": sum(row["resent"] for row in rows if row["resent"] is not None),
        "unknown": sum(row["resent"] is None for row in rows),
    }


def _turns_in_log(log: SessionLog) -> int:
    """Turns of the session's own, the one that runs included."""
    if log.header.seed_length == 0:
        return log.type_counts["turn/start"]
    return sum(event.type == "turn/start" and event.seq >= log.header.seed_length for event in log.events())


def _turns_in_ledger(texts: Sequence[Replayed]) -> int:
    numbers = [int(one.turn) for one in texts if isinstance(one.turn, int | float) and 1 <= one.turn <= _MOST]
    return max(numbers, default=len({str(one.turn) for one in texts}))
