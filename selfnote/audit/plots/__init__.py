"""Figures over the frames: each draws one documented frame on one Axes and returns it (UC-003..005).

Every figure says in its title what is seen, and under it what was counted: how many, of what, over which time and in
which zone. None changes a setting of matplotlib; only `use_chinese_fonts` does, when it is called.
"""

from __future__ import annotations

from selfnote.audit.plots.canvas import use_chinese_fonts
from selfnote.audit.plots.past import churn, corrections
from selfnote.audit.plots.room import budget, shadow_price, squeeze
from selfnote.audit.plots.turns import rotation, silence
from selfnote.audit.plots.warmth import decay, heat, survival

__all__ = [
    "budget",
    "churn",
    "corrections",
    "decay",
    "heat",
    "rotation",
    "shadow_price",
    "silence",
    "squeeze",
    "survival",
    "use_chinese_fonts",
]
