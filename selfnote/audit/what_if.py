"""What a change would do: entries in and out, ranks, characters, the text before and after (UC-005); writes nothing."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from selfnote.audit.schema import from_rows
from selfnote.audit.squeeze import STEPS, Packing, packing, price
from selfnote.config import SEGMENTS, TOTAL_BUDGET
from selfnote.injection.assemble import HasHome, Injection
from selfnote.injection.budget import require_budgets
from selfnote.injection.changes import Difference, Ids, change, compare, diff_texts, make_changes, placed
from selfnote.phrases import SEGMENT_LABELS, SEPARATOR, WHAT_IF
from selfnote.times import require_aware

if TYPE_CHECKING:
    import pandas as pd

#: Entries of a list shown in words; the frames have all.
_SHOWN = 8


@dataclass(frozen=True, repr=False)
class WhatIf:
    """A memory now and as it would be after a change nobody has made.

    ``before`` and ``after`` are the two Injections; ``entries``, ``rank_flips``, ``chars`` and ``shadow_price()`` are
    frames, ``diff`` and ``diff_html`` the texts compared. In a notebook it shows itself.
    """

    now_packed: Packing
    then_packed: Packing

    @property
    def before(self) -> Injection:
        """The text of this instant, with its bill."""
        return self.now_packed.text

    @property
    def after(self) -> Injection:
        """The text as it would be, with its bill."""
        return self.then_packed.text

    @cached_property
    def difference(self) -> Difference:
        """Who enters, leaves, moves to another segment, and is reworded."""
        return compare(self.before, self.after)

    @property
    def diff(self) -> str:
        """The unified diff of the two texts by lines; "" when they are equal."""
        return diff_texts(self.before.text, self.after.text)

    @property
    def diff_html(self) -> str:
        """The two texts as one, what goes struck out and what comes marked; escaped, without ids of its own."""
        return _diff_html(self.before.text, self.after.text)

    # --- frames -----------------------------------------------------------------------------------
    @cached_property
    def entries(self) -> pd.DataFrame:
        """One row per entry that is in either text: the frame ``what_if``; ``change`` says what becomes of it."""
        return from_rows("what_if", list(self._entry_rows()))

    def _entry_rows(self) -> Iterator[dict[str, Any]]:
        old, new = placed(self.before), placed(self.after)
        out = {one.id: one for segment in self.after.segments.values() for one in segment.squeezed}
        for identifier in {**old, **new}:
            was, is_now = old.get(identifier), new.get(identifier)
            entry = is_now if is_now is not None else old[identifier]
            if was is None or is_now is None:
                kind_of_change = "in" if was is None else "out"
            elif was.segment != is_now.segment:
                kind_of_change = "moved"
            else:
                kind_of_change = "stays" if was.text == is_now.text else "reworded"
            squeezed = out.get(identifier)
            yield {
                "kind": entry.kind,
                "id": identifier,
                "text": entry.text,
                "length": len(entry.text),
                "change": kind_of_change,
                "segment_before": was.segment if was is not None else None,
                "segment_after": is_now.segment if is_now is not None else None,
                "needs": squeezed.needs if squeezed is not None else None,
                "left": squeezed.left if squeezed is not None else None,
                "reason": squeezed.reason if squeezed is not None else None,
                "heat": _either(self.then_packed.warmth(identifier), self.now_packed.warmth(identifier)),
            }

    @cached_property
    def rank_flips(self) -> pd.DataFrame:
        """One row per fact that changes its place by heat among those approved before and after: ``rank_flips``."""
        old, new = placed(self.before), placed(self.after)
        facts = self.then_packed.snapshot.competing.facts
        both = self.now_packed.places.keys() & self.then_packed.places.keys()
        before, after = (
            {one: rank for rank, one in enumerate((one for one in places if one in both), start=1)}
            for places in (self.now_packed.places, self.then_packed.places)
        )
        rows = [
            {
                "id": one,
                "text": facts[one].text,
                "channel": facts[one].channel,
                "rank_before": before[one],
                "rank_after": rank,
                "change": before[one] - rank,
                "heat_before": self.now_packed.warmth(one),
                "heat_after": self.then_packed.warmth(one),
                "segment_before": old[one].segment if one in old else None,
                "segment_after": new[one].segment if one in new else None,
            }
            for one, rank in after.items()
            if before[one] != rank
        ]
        return from_rows("rank_flips", rows)

    @cached_property
    def chars(self) -> pd.DataFrame:
        """One row per segment: what it uses now and then: the frame ``what_if_chars``."""
        return from_rows("what_if_chars", [self._chars_row(name) for name in SEGMENTS])

    def _chars_row(self, name: str) -> dict[str, Any]:
        old, new = self.before.segments[name], self.after.segments[name]
        return {
            "segment": name,
            "budget_before": old.budget,
            "budget_after": new.budget,
            "used_before": old.used,
            "used_after": new.used,
            "change": new.used - old.used,
            "entries_before": len(old.entries),
            "entries_after": len(new.entries),
            "squeezed_before": len(old.squeezed),
            "squeezed_after": len(new.squeezed),
        }

    def shadow_price(self, steps: Iterable[int] = STEPS) -> pd.DataFrame:
        """What each segment's next characters would buy after the change. See ``squeeze.shadow_price``."""
        return price(self.then_packed, steps)

    # --- in words ---------------------------------------------------------------------------------
    @property
    def _language(self) -> str:
        return self.now_packed.snapshot.config.language

    def _bill(self) -> list[tuple[str, str, str]]:
        """Segment, characters now, characters then; the sum last."""
        labels, words = SEGMENT_LABELS[self._language], WHAT_IF[self._language]
        rows = [(labels[name], *(f"{one.used} / {one.budget}" for one in self._both(name))) for name in SEGMENTS]
        totals = (f"{one.total_chars} / {TOTAL_BUDGET}" for one in (self.before, self.after))
        return [*rows, (words["total"], *totals)]  # type: ignore[list-item] # two texts, both times

    def _both(self, name: str) -> tuple[Any, Any]:
        return self.before.segments[name], self.after.segments[name]

    def _lists(self) -> list[tuple[str, list[str]]]:
        """A heading and lines for each kind of change that occurs."""
        words, labels = WHAT_IF[self._language], SEGMENT_LABELS[self._language]
        found = self.difference
        lists = (
            ("in", [f"+ {labels[one.segment]}  {one.id}  {one.text}" for one in found.entering]),
            ("out", [f"- {labels[one.segment]}  {one.id}  {one.text}" for one in found.leaving]),
            ("moved", [f"{labels[one.before]} → {labels[one.after]}  {one.id}  {one.text}" for one in found.moving]),
            ("reworded", [f"~ {labels[one.segment]}  {one.id}  {one.text}" for one in found.reworded]),
        )
        return [(words[name].format(n=len(lines)), _few(lines)) for name, lines in lists if lines]

    def _headline(self) -> list[str]:
        words, flips = WHAT_IF[self._language], len(self.rank_flips)
        return [words["flips"].format(n=flips)] if flips else []

    def __str__(self) -> str:
        words = WHAT_IF[self._language]
        rows = [(words["segment"], words["before"], words["after"]), *self._bill()]
        lines = [f"{words['title']}  ({words['chars']})", *_aligned(rows), ""]
        for heading, items in self._lists():
            lines += [heading, *(f"  {item}" for item in items)]
        lines += self._headline()
        text = self.diff
        lines += ["", words["diff"], text] if text else ["", words["same"]]
        return "\n".join([*lines, "", words["nothing"]])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        words = WHAT_IF[self._language]
        head = "".join(f"<th>{escape(name)}</th>" for name in (words["segment"], words["before"], words["after"]))
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._bill())
        lists = "".join(
            f"<p><b>{escape(heading)}</b></p><ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
            for heading, items in self._lists()
        )
        ranks = "".join(f"<p>{escape(line)}</p>" for line in self._headline())
        same = self.before.text == self.after.text
        text = f"<p>{escape(words['same'])}</p>" if same else f"<p><b>{escape(words['diff'])}</b></p>{self.diff_html}"
        return (
            f"<div><p><b>{escape(words['title'])}</b> ({escape(words['chars'])})</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"{lists}{ranks}{text}<p><small>{escape(words['nothing'])}</small></p></div>"
        )


def _either(one: float | None, other: float | None) -> float | None:
    return one if one is not None else other


def _few(lines: list[str]) -> list[str]:
    return lines if len(lines) <= _SHOWN else [*lines[:_SHOWN], f"… +{len(lines) - _SHOWN}"]


def _aligned(rows: list[tuple[str, str, str]]) -> list[str]:
    """Rows as text in columns; a Chinese character is two wide."""
    from rich.cells import cell_len

    widths = [max(cell_len(row[place]) for row in rows) for place in range(3)]
    return [
        "  "
        + "  ".join(cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _diff_html(before: str, after: str) -> str:
    """Lines compared; within a line that changed, entry by entry."""
    old, new = before.split("\n"), after.split("\n")
    parts: list[str] = []
    for tag, start, stop, start_then, stop_then in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        was, now = old[start:stop], new[start_then:stop_then]
        if tag == "equal":
            parts += [escape(line) for line in was]
        elif len(was) == len(now):
            parts += [_line_html(one, other) for one, other in zip(was, now, strict=True)]
        else:
            parts += [_marked("del", line) for line in was] + [_marked("ins", line) for line in now]
    return f'<pre style="white-space: pre-wrap">{"<br>".join(parts)}</pre>'


def _line_html(before: str, after: str) -> str:
    old, new = (re.split(f"({SEPARATOR})", line) for line in (before, after))
    parts: list[str] = []
    for tag, start, stop, start_then, stop_then in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        was, now = "".join(old[start:stop]), "".join(new[start_then:stop_then])
        parts += [escape(was)] if tag == "equal" else [_marked("del", was), _marked("ins", now)]
    return "".join(parts)


def _marked(tag: str, text: str) -> str:
    return f"<{tag}>{escape(text)}</{tag}>" if text else ""


def what_if(
    memory: HasHome,
    *,
    now: datetime,
    budgets: Mapping[str, int] | None = None,
    half_life: float | None = None,
    approve: Ids = (),
    retire: Ids = (),
    edit: Mapping[str, str] | None = None,
    pin: Ids = (),
    ttl: int | None = None,
    importance: Mapping[str, float] | None = None,
) -> WhatIf:
    """What these changes together would do to the text of ``now``: the real composer over a changed reading.

    They are imagined in this order: settings, approve, retire, edit, importance, pin. The text is the one the composer
    would give had the owner just made them.

    Parameters
    ----------
    memory
        The memory; nothing of it is written.
    now
        The instant, UTC-aware.
    budgets
        All six segments in code points; they replace the stored ones.
    half_life, ttl
        Days: of heat, and of temporary notes.
    approve, retire
        Facts or their ids, one or several.
    edit
        The new text of facts and notes, by id.
    pin
        Notes or their ids.
    importance
        0 to 3 by the id of a fact.

    Raises
    ------
    NotFound
        When an id is no fact's, or no note's.
    Conflict
        When a fact cannot make the transition, as approving a retired one.
    LimitExceeded
        When a value is out of range, or a text has nothing printable.
    """
    instant = require_aware(now)
    present = packing(memory, instant)
    changes = make_changes(
        approve=approve, retire=retire, edit=edit, pin=pin, importance=importance, half_life=half_life, ttl=ttl
    )
    snapshot = change(present.snapshot, changes, instant)
    limits = require_budgets(budgets) if budgets is not None else snapshot.config.budgets()
    return WhatIf(present, Packing(snapshot, instant, limits, present.choice))
