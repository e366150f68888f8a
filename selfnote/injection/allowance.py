"""How much room a new note really has this turn, given what already stands in the segment (S2-040, S2-041)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from selfnote.config import parse_config
from selfnote.injection.assemble import HasHome
from selfnote.injection.segments import pack_notes
from selfnote.records.notes import Note, Tier, parse_notes
from selfnote.storage.lines import read_text_file
from selfnote.times import clock, find_zone, local_date, require_aware

#: The id of the note that is not there yet; no stored note has it.
_NEW = "n-new"


@dataclass(frozen=True, slots=True)
class Allowance:
    """The room for a new note of one tier, in code points.

    ``left``: a note of at most this length goes in this turn. ``budget``: the whole segment. ``fitting`` are all
    lengths that go in: nearly always exactly those up to ``left``. Only where pinned temporary notes that overflow the
    floor stand by may a longer one go in as well, because the reserve comes out another way.
    """

    tier: Tier
    left: int
    budget: int
    fitting: frozenset[int] = field(default=frozenset(), repr=False)

    def would_fit(self, length: int) -> bool:
        """Whether a new note of ``length`` code points would be injected this turn."""
        return length in self.fitting


def note_allowance(
    memory_like: HasHome, tier: Tier, *, now: datetime | None = None, without: str | None = None
) -> Allowance:
    """The room a new, unpinned note of ``tier`` has this turn, by the very packer that will place it (S2-041).

    The new note is dated today and is the newest; pinned ones go before it, and the floor of the temporary notes
    holds. Core notes are never injected, nor is anything while injection is off: 0. ``without`` leaves one stored
    note out of account: the one just written.

    Raises
    ------
    OSError, LimitExceeded
        When notes.md or config.json cannot be read.
    """
    home = memory_like.home
    config, _ = parse_config(read_text_file(home.config).text)
    zone = memory_like.zone_override if memory_like.zone_override is not None else find_zone(config.tz)
    today = local_date(require_aware(now or clock()), zone)
    notes = [note for note in parse_notes(read_text_file(home.notes)).notes if note.id != without]
    budget = config.budgets()["notes"]
    if tier == "core" or not config.injection_enabled:
        return Allowance(tier, 0, budget)
    last = max((note.line for note in notes), default=0) + 1

    def fits(length: int) -> bool:
        new = Note(_NEW, "字" * length, tier, on=today, line=last)
        packed = pack_notes([*notes, new], today, config.temp_ttl_days, budget)
        return any(entry.id == _NEW for entry in packed.segment.entries)

    fitting = frozenset(length for length in range(1, budget + 1) if fits(length))
    left = next((length - 1 for length in range(1, budget + 2) if length not in fitting), 0)
    return Allowance(tier, left, budget, fitting)
