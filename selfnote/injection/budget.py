"""Room in a segment: an entry goes in whole or not at all (S2-120, S2-205)."""

from __future__ import annotations

import operator
from collections.abc import Mapping

from selfnote.config import SEGMENTS
from selfnote.errors import LimitExceeded
from selfnote.phrases import SEPARATOR


class Room:
    """How much of a budget is taken; inline entries pay the separator before them, lines of their own do not."""

    __slots__ = ("budget", "count", "separator", "used")

    def __init__(self, budget: int, *, inline: bool) -> None:
        self.budget = budget
        self.separator = len(SEPARATOR) if inline else 0
        self.used = 0
        self.count = 0

    @property
    def left(self) -> int:
        """Code points not taken."""
        return self.budget - self.used

    def cost(self, length: int, label: int = 0) -> int:
        """What an entry would take now: its length, the separator before it, and its label."""
        return length + label + (self.separator if self.count else 0)

    def take(self, length: int, label: int = 0) -> bool:
        """Take room for an entry if it fits whole; whether it did."""
        cost = self.cost(length, label)
        if cost > self.left:
            return False
        self.used += cost
        self.count += 1
        return True


def require_budgets(budgets: Mapping[str, int]) -> dict[str, int]:
    """Budgets of all six segments in code points; they replace the configured ones, they do not merge with them.

    Raises
    ------
    LimitExceeded
        When a name is missing or unknown, or a value is no whole number of at least 0.
    """
    if set(budgets) != set(SEGMENTS):
        raise LimitExceeded(f"budgets name {sorted(budgets)}; all six are needed: {', '.join(SEGMENTS)}")
    wanted: dict[str, int] = {}
    for name, value in budgets.items():
        try:
            # A number taken from a frame is numpy's, which this room does not know.
            wanted[name] = -1 if isinstance(value, bool) else operator.index(value)
        except TypeError:
            wanted[name] = -1
        if wanted[name] < 0:
            raise LimitExceeded(f"budgets[{name!r}]={value!r} is no whole number of at least 0")
    return wanted
