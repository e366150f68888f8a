"""One line of a benchmark's table: a ratio, its limit, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A target of PERFORMANCE (``T1`` ...), what is compared, the ratio measured and the one not to exceed."""

    target: str
    what: str
    ratio: float
    limit: float
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Whether the ratio is within its limit."""
        return self.ratio <= self.limit

    def __str__(self) -> str:
        """The line as the table shows it."""
        mark = "holds" if self.holds else "FAILS"
        return f"{self.target:4} {self.ratio:9.4f} <= {self.limit:<8.4f} {mark}  {self.what}  ({self.detail})"
