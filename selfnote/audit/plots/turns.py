"""Figures of turns: why facts are silent, and which is in the text in which hour."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, tzinfo
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from selfnote.audit.plots.canvas import (
    GREY,
    INKS,
    LABEL_SIZE,
    PALE,
    SEGMENT_INKS,
    as_of,
    explain,
    finish,
    label,
    left_out,
    memories,
    new_axes,
    require_columns,
    require_one_memory,
    require_top,
    say_nothing,
    shown,
    window,
    words_of,
)
from selfnote.config import SEGMENTS
from selfnote.phrases import CAUSE_LABELS, SEGMENT_LABELS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_CHANCE_INKS = {"used": INKS[0], "lost": INKS[1], "none": INKS[4]}


# --- silence by cause -----------------------------------------------------------------------------
def silence(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    language: str = "en",
    now: datetime | None = None,
    tz: str | tzinfo = "UTC",
) -> Axes:
    """Why approved facts are, or are not, in use: over ``silence``.

    One bar a cause, split by whether the fact ever had a chance: one that never stood in a text tells nothing of its
    use, one that stood in texts and lost its place does. Without ``now`` the caption tells the instant that the ages
    in the frame are counted to.

    Raises
    ------
    NotFound
        When the frame lacks a column, or the language is not there.

    Examples
    --------
    >>> selfnote.audit.plots.silence(silence.by_cause(m, now=now))
    """
    import pandas as pd

    words = words_of(language)
    require_columns(frame, ["cause", "chance", "zombie", "approved_at", "age_days"], "silence")
    rows = frame.dropna(subset=["cause", "chance"])
    caption = [
        words["silence caption"].format(n=len(rows), zombies=int(rows["zombie"].fillna(value=False).sum())),
        as_of(now or _instant_of(rows), tz, language),
        memories(frame, language),
        left_out(len(frame) - len(rows), language),
    ]
    if rows.empty:
        drawn = new_axes(ax, height=2.5)
        why = words["silence empty"]
        return say_nothing(drawn, title=words["silence nothing"], why=why, caption=caption, language=language)
    labels, chances = CAUSE_LABELS[language], [one for one in _CHANCE_INKS if (rows["chance"] == one).any()]
    counts = pd.crosstab(rows["cause"], rows["chance"])
    order = list(labels)
    causes = sorted(counts.index, key=lambda one: (-int(counts.loc[one].sum()), order.index(one)))
    ax = new_axes(ax, height=1.7 + 0.42 * len(causes))
    for place, cause in enumerate(causes):
        start = 0
        for chance in chances:
            size, ink = int(counts.loc[cause, chance]), _CHANCE_INKS[chance]
            if size:
                ax.barh(place, size, 0.7, left=start, color=ink.colour, hatch=ink.hatch, edgecolor="white", gid=chance)
            start += size
        ax.text(start, place, f" {start} ({start / len(rows):.0%})", va="center", fontsize=LABEL_SIZE)
    ax.set_yticks(range(len(causes)), [labels[one] for one in causes])
    ax.set_ylim(len(causes) - 0.5, -0.5)
    ax.set_xlim(0, int(counts.sum(axis=1).max()) * 1.15)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel(words["facts axis"])
    handles = [
        Patch(
            facecolor=_CHANCE_INKS[one].colour,
            hatch=_CHANCE_INKS[one].hatch,
            edgecolor="white",
            label=words[f"chance {one}"].format(n=int((rows["chance"] == one).sum())),
        )
        for one in chances
    ]
    explain(ax, handles)
    used = int((rows["chance"] == "used").sum())
    title = words["silence title"].format(used=used, n=len(rows))
    others = [(one, int(counts.loc[one].sum())) for one in causes if one not in {"in use", "absorbed"}]
    if others and (len(others) == 1 or others[0][1] > others[1][1]):
        cause, count = others[0]
        title = words["silence title cause"].format(title=title, cause=labels[cause], count=count)
    return finish(ax, title=title, caption=caption)


def _instant_of(rows: pd.DataFrame) -> datetime | None:
    """The instant the frame is of: an approval and the days since it."""
    import pandas as pd

    known = rows.dropna(subset=["approved_at", "age_days"])
    if known.empty:
        return None
    first = known.iloc[0]
    instant = first["approved_at"] + pd.Timedelta(days=float(first["age_days"]))
    found: datetime = instant.round("s").to_pydatetime()
    return found


# --- rotation -------------------------------------------------------------------------------------
def rotation(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    language: str = "en",
    tz: str | tzinfo = "UTC",
    channel: str | None = None,
    top: int = 40,
    names: Mapping[str, str] | None = None,
) -> Axes:
    """Which fact is in the text in which hour of use: over ``rotation``, the ``hours`` of a simulation.

    A row a fact, those longest in the text first within their channel; the share of hours stands beside its name.

    Parameters
    ----------
    frame
        ``rotation.simulate(m, now=now).hours``.
    ax
        Where to draw; None: a new figure.
    language
        "en" or "zh".
    tz
        The zone in which the caption tells the hours.
    channel
        "env" or "rel"; None: both.
    top
        Facts drawn.
    names
        What to call a fact, by id, as the column ``text`` of the simulation's ``facts``; an id stands for itself.

    Raises
    ------
    NotFound
        When the frame lacks a column, or the language is not there.
    LimitExceeded
        When it holds several memories, or ``top`` is under 1.
    """
    words = words_of(language)
    needed = ["hour", "at", "id", "channel", "segment", "inside"]
    require_columns(frame, needed, "rotation")
    require_one_memory(frame)
    rows = frame.dropna(subset=["hour", "id", "channel", "inside"])
    if channel is not None:
        rows = rows[rows["channel"] == channel]
    hours = sorted({int(one) for one in rows["hour"]})
    shares = rows.groupby(["channel", "id"], observed=True)["inside"].agg(["sum", "size"]).reset_index()
    shares["share"] = shares["sum"].astype("float64") / shares["size"].astype("float64")
    every = shares.sort_values(["channel", "share", "id"], ascending=[True, False, True], kind="stable")
    few = every.sort_values("share", ascending=False, kind="stable").head(require_top(top))
    drawn = every.loc[every.index.isin(few.index)]
    never = int((every["sum"] == 0).sum())
    caption = [
        words["rotation caption"].format(n=len(every), hours=len(hours), never=never),
        shown(len(drawn), len(every), language, "by hours"),
        window(rows["at"], tz, language),
        left_out(len(frame) - len(frame.dropna(subset=["hour", "id", "channel", "inside"])), language),
    ]
    if every.empty:
        empty, why = new_axes(ax, height=2.5), words["rotation empty"]
        return say_nothing(empty, title=words["rotation nothing"], why=why, caption=caption, language=language)
    segments = [one for one in SEGMENTS if (rows["segment"] == one).any()]
    codes = {one: number for number, one in enumerate(segments, start=1)}
    ax = new_axes(ax, height=1.8 + 0.19 * len(drawn))
    cells = _cells(rows, list(drawn["id"]), hours, codes)
    colours = [PALE, *(SEGMENT_INKS[one].colour for one in segments)]
    ax.imshow(
        cells,
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=len(colours) - 0.5,
        aspect="auto",
        interpolation="nearest",
        extent=(hours[0] - 0.5, hours[-1] + 0.5, len(drawn) - 0.5, -0.5),
    )
    called = names or {}
    ax.set_yticks(
        range(len(drawn)),
        [
            f"{label(str(called.get(one, one)), 34)}  {share:4.0%}"
            for one, share in zip(drawn["id"], drawn["share"], strict=True)
        ],
        fontsize=LABEL_SIZE - 1,
    )
    ax.set_yticks([place - 0.5 for place in range(1, len(drawn))], minor=True)
    ax.grid(axis="y", which="minor", color="white", linewidth=0.8)
    ax.tick_params(axis="y", which="minor", length=0)
    for place, (above, below) in enumerate(pairwise(drawn["channel"]), start=1):
        if above != below:
            ax.axhline(place - 0.5, color="black", linewidth=1.2)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel(words["hours axis"])
    handles = [Patch(facecolor=PALE, edgecolor=GREY, label=words["out"])]
    handles += [
        Patch(facecolor=SEGMENT_INKS[one].colour, edgecolor="white", label=SEGMENT_LABELS[language][one])
        for one in segments
    ]
    explain(ax, handles)
    title = words["rotation title"].format(n=len(every) - never, total=len(every), hours=len(hours))
    return finish(ax, title=title, caption=caption)


def _cells(rows: pd.DataFrame, identifiers: list[str], hours: list[int], codes: Mapping[Any, int]) -> list[list[float]]:
    """A line a fact, a column an hour from the first to the last; an hour without a row stays blank."""
    lines = {one: place for place, one in enumerate(identifiers)}
    cells = [[math.nan] * (hours[-1] - hours[0] + 1) for _ in identifiers]
    few = rows[rows["id"].isin(identifiers)]
    for identifier, hour, inside, segment in zip(few["id"], few["hour"], few["inside"], few["segment"], strict=True):
        cells[lines[identifier]][int(hour) - hours[0]] = codes[segment] if inside else 0
    return cells
