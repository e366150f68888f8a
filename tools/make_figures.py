"""Every figure of the demo memory and of the replay home, in both languages, as PNG files for a person to look at."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import selfnote
from selfnote.audit import churn, decay, demand, plots, rotation, rules, silence, squeeze
from selfnote.demo import DEMO_NOW, bundled_home

REPLAY_HOME = Path(__file__).resolve().parent.parent / "data-fixtures" / "replay-home"
#: The instant at which data-fixtures/replay-home.md looks at it.
REPLAY_NOW = datetime(2026, 11, 25, 2, 0, tzinfo=UTC)
ZONE = "Asia/Shanghai"
LANGUAGES = ("en", "zh")

Draw = Callable[[str], Axes]


@dataclass(frozen=True)
class Look:
    """One memory at one instant."""

    memory: selfnote.Memory
    now: datetime

    def drawings(self) -> dict[str, Draw]:
        """Name of a picture -> what draws it; each frame is made once."""
        memory, at = self.memory, {"now": self.now}
        told: dict[str, Any] = {"now": self.now, "tz": ZONE}
        attribution = memory.frames.attribution(self.now)
        names = attribution.dropna(subset=["id"]).set_index("id")["text"].to_dict()
        chars, hours = memory.what_if(**at).chars, rotation.simulate(memory, hours=96, **at).hours
        changed = memory.what_if(half_life=7, retire=[attribution["id"].iloc[0]], **at).chars
        curves, by_tag = decay.curves(memory, **at), decay.curves(memory, by="tag", **at)
        out, price = squeeze.squeezed(memory, **at), squeeze.shadow_price(memory, **at)
        lived, by_channel = demand.survival(memory, **at), demand.survival(memory, by="channel", **at)
        fitted, said = demand.fit(memory, **at), memory.frames.corrections(self.now)
        causes, changes, effects = (
            silence.by_cause(memory, **at),
            churn.changes(memory),
            rules.rule_effects(memory, **at),
        )
        heats = memory.frames.heat(self.now)
        return {
            "budget": lambda to: plots.budget(chars, language=to, **told),
            "budget-what-if": lambda to: plots.budget(changed, language=to, **told),
            "decay": lambda to: plots.decay(curves, language=to, tz=ZONE, names=names),
            "decay-by-tag": lambda to: plots.decay(by_tag, language=to, tz=ZONE),
            "heat": lambda to: plots.heat(attribution, language=to, **told),
            "heat-by-status": lambda to: plots.heat(heats, language=to, **told),
            "silence": lambda to: plots.silence(causes, language=to, tz=ZONE),
            "squeeze": lambda to: plots.squeeze(out, language=to, **told),
            "shadow-price": lambda to: plots.shadow_price(price, language=to, **told),
            "rotation": lambda to: plots.rotation(hours, language=to, tz=ZONE, names=names),
            "rotation-env": lambda to: plots.rotation(hours, language=to, tz=ZONE, names=names, channel="env"),
            "churn": lambda to: plots.churn(changes, language=to, tz=ZONE),
            "corrections": lambda to: plots.corrections(said, language=to, tz=ZONE, rules=effects),
            "corrections-alone": lambda to: plots.corrections(said, language=to, tz=ZONE),
            "survival": lambda to: plots.survival(lived, language=to, fit=fitted, **told),
            "survival-by-channel": lambda to: plots.survival(by_channel, language=to, **told),
        }


def main() -> None:
    """Write every picture into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=(), help="names of figures; all without it")
    given = parser.parse_args()
    mpl.use("agg")
    from matplotlib import pyplot as plt

    given.folder.mkdir(parents=True, exist_ok=True)
    looks = {
        "demo": Look(selfnote.open_memory(bundled_home(), tz=ZONE, read_only=True), DEMO_NOW),
        "replay": Look(selfnote.open_memory(REPLAY_HOME, tz=ZONE, read_only=True), REPLAY_NOW),
    }
    for where, look in looks.items():
        for name, draw in look.drawings().items():
            if given.only and name not in given.only:
                continue
            for language in LANGUAGES:
                figure = draw(language).figure
                assert isinstance(figure, Figure)
                path = given.folder / f"{where}-{name}.{language}.png"
                figure.savefig(path, dpi=100)
                plt.close(figure)
                print(path)


if __name__ == "__main__":
    main()
