"""Figures of heat and of need: how facts cool, how warm they are, and how long until one is needed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from selfnote.audit.plots.canvas import (
    DARK,
    GREY,
    INKS,
    LABEL_SIZE,
    PALE,
    Ink,
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
    show_time,
    shown,
    to_positions,
    window,
    words_of,
    zone_of,
)
from selfnote.errors import NotFound
from selfnote.phrases import NOT_ENOUGH, SEGMENT_LABELS

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

#: Bars of the distribution of heat.
_BINS = 24
_PLACE_INKS = {"inside": INKS[0], "absorbed": INKS[3], "outside": INKS[1]}
_STATUS_INKS = {"approved": INKS[0], "candidate": INKS[1], "retired": INKS[7]}


# --- decay ----------------------------------------------------------------------------------------
def decay(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    language: str = "en",
    tz: str | tzinfo = "UTC",
    top: int = 8,
    names: Mapping[str, str] | None = None,
    value: str = "total",
) -> Axes:
    """How facts, or groups of them, cool: over ``curves`` or ``group_curves``.

    Of facts each hit is a step upward; a dotted part is from before the approval, a dashed one is the projection, in
    which nothing is hit any more; where the heat is not known there is no line.

    Parameters
    ----------
    frame
        ``decay.curves(m, now=now)``, of facts, or with ``by=`` of groups.
    ax
        Where to draw; None: a new figure.
    language
        "en" or "zh".
    tz
        The zone of the time axis.
    top
        Lines drawn, those warmest now.
    names
        What to call a fact, by id; an id stands for itself.
    value
        Of groups: "total" or "median" of their heat.

    Raises
    ------
    NotFound
        When the frame lacks a column, ``value`` is none of the two, or the language is not there.
    LimitExceeded
        When it holds several memories, or ``top`` is under 1.

    Examples
    --------
    >>> text = m.frames.facts().set_index("id").text
    >>> selfnote.audit.plots.decay(decay.curves(m, now=now), names=text, tz="Asia/Shanghai")
    """
    words = words_of(language)
    require_one_memory(frame)
    lines, unknown = (
        _group_lines(frame, value, language) if "group" in frame.columns else _fact_lines(frame, names or {})
    )
    grouped = "group" in frame.columns
    y = words[f"heat axis {value}"] if grouped else words["heat axis"]
    every = sorted(lines, key=lambda one: -one.warmth)
    few = every[: require_top(top)]
    instants = frame["at"].dropna()
    caption = [
        words["decay groups" if grouped else "decay facts"].format(n=len(every)),
        shown(len(few), len(every), language, "by heat"),
        words["decay unknown"].format(n=unknown) if unknown else None,
        window(instants, tz, language),
        left_out(int(frame["at"].isna().sum()), language),
    ]
    if not every:
        empty, why = new_axes(ax, height=2.5), words["decay empty"]
        return say_nothing(empty, title=words["decay nothing"], why=why, caption=caption, language=language)
    ax = new_axes(ax, height=4.8)
    handles = [one.draw(ax, INKS[number % len(INKS)], number / len(few)) for number, one in enumerate(few)]
    turn = max(one.now for one in every)
    if any(one.projected for one in every):
        last = max(one.places[-1] for one in every)
        ax.axvspan(turn, last, color=PALE, zorder=0)
        ax.axvline(turn, color=DARK, linewidth=1)
        ax.annotate(
            f" {words['now']}", (turn, 0.985), xycoords=("data", "axes fraction"), va="top", fontsize=LABEL_SIZE
        )
        ax.set_xlim(min(one.places[0] for one in every), last)
        handles.append(Line2D([], [], color=DARK, linestyle="--", linewidth=1.2, label=words["projection"]))
    ax.set_ylim(bottom=0)
    ax.grid(axis="y", color=GREY, alpha=0.4, linewidth=0.6)
    show_time(ax, zone_of(tz))
    ax.set_xlabel(words["time axis"].format(zone=zone_of(tz)))
    ax.set_ylabel(y)
    explain(ax, handles, words["line now"])
    title = words["decay title groups" if grouped else "decay title"].format(n=len(few))
    return finish(ax, title=title, caption=caption)


class _Line:
    """One curve: places on the time axis, values (NaN where unknown), and what kind of time each row is of."""

    def __init__(
        self,
        name: str,
        places: ArrayLike,
        values: ArrayLike,
        projected: ArrayLike,
        approved: ArrayLike,
    ) -> None:
        self.name = name
        self.places, self.values = np.asarray(places, dtype=float), np.asarray(values, dtype=float)
        self._projected, self._approved = np.asarray(projected, dtype=bool), np.asarray(approved, dtype=bool)
        past = np.flatnonzero(~self._projected)
        self._last = int(past[-1]) if len(past) else 0

    @property
    def now(self) -> float:
        """Where the past ends."""
        return float(self.places[self._last])

    @property
    def warmth(self) -> float:
        """The value there; below every other where it is unknown."""
        value = float(self.values[self._last])
        return -1.0 if np.isnan(value) else value

    @property
    def projected(self) -> bool:
        """Whether it reaches beyond now."""
        return bool(self._projected.any())

    def draw(self, ax: Axes, ink: Ink, shift: float) -> Line2D:
        """Its parts; returns a handle for the legend. ``shift`` (0 to 1) keeps marks of equal lines apart."""
        past = ~self._projected
        before = np.flatnonzero(past & ~self._approved)
        # Each part begins where the one before it ends.
        starts = np.flatnonzero(past & self._approved)
        first = before[-1:] if len(before) else before
        parts = (
            ("candidate", before, ":", 1.0),
            ("past", np.concatenate([first, starts]).astype(int), "-", 1.6),
            ("projection", np.concatenate([[self._last], np.flatnonzero(self._projected)]).astype(int), "--", 1.2),
        )
        for kind, rows, style, width in parts:
            if len(rows) > 1 or (len(rows) == 1 and kind == "past"):
                every = max(1, len(rows) // 4)
                ax.plot(
                    self.places[rows],
                    self.values[rows],
                    color=ink.colour,
                    linestyle=style,
                    linewidth=width,
                    marker=ink.marker,
                    markersize=4.5,
                    markevery=(int(every * shift), every),
                    gid=kind,
                )
        told = "?" if np.isnan(self.values[self._last]) else f"{self.values[self._last]:.1f}"
        return Line2D(
            [], [], color=ink.colour, marker=ink.marker, markersize=4.5, linewidth=1.6, label=f"{told}  {self.name}"
        )


def _fact_lines(frame: pd.DataFrame, names: Mapping[str, str]) -> tuple[list[_Line], int]:
    """The lines, and how many of them begin with an unknown stretch."""
    require_columns(frame, ["id", "at", "heat", "approved", "origin"], "curves, group_curves")
    rows = frame.dropna(subset=["id", "at"])
    lines = [
        _Line(
            label(str(names.get(identifier, identifier)), 30),
            to_positions(one["at"]),
            one["heat"],
            (one["origin"] == "projection").fillna(value=False),
            one["approved"].fillna(value=False),
        )
        for identifier, one in rows.groupby("id", sort=False)
    ]
    unknown = rows.loc[rows["origin"] == "unknown", "id"].nunique()
    return lines, int(unknown)


def _group_lines(frame: pd.DataFrame, value: str, language: str) -> tuple[list[_Line], int]:
    if value not in {"total", "median"}:
        raise NotFound(f"value={value!r} is no column of group_curves to draw; there are total and median")
    require_columns(frame, ["by", "group", "at", "n", "unknown", value, "projection"], "curves, group_curves")
    rows = frame.dropna(subset=["at", "projection"])
    lines, unknown = [], 0
    for (by, group), one in rows.groupby(["by", "group"], sort=False, dropna=False):
        past = one[~one["projection"].astype(bool)]
        n = int(past["n"].iloc[-1]) if len(past) else 0
        unknown += int(one["unknown"].max())
        name = f"{_group_name(by, group, language)} (n = {n})"
        values = one[value].astype("float64").where(one["n"] > 0)
        lines.append(_Line(name, to_positions(one["at"]), values, one["projection"], [True] * len(one)))
    return lines, unknown


def _group_name(by: Any, group: Any, language: str) -> str:
    import pandas as pd

    words = words_of(language)
    if pd.isna(group):
        return words["no tag"] if not pd.isna(by) else words["all facts"]
    if by == "segment":
        return SEGMENT_LABELS[language].get(group, words["out"])
    return words.get(f"channel {group}", label(str(group), 24)) if by == "channel" else label(str(group), 24)


# --- heat -----------------------------------------------------------------------------------------
def heat(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    language: str = "en",
    now: datetime | None = None,
    tz: str | tzinfo = "UTC",
    bins: int = _BINS,
) -> Axes:
    """How warm the facts are, and which of them are in the text: over ``attribution``, ``silence`` or ``heat``.

    The frame ``heat`` does not tell who is in the text; its facts are told apart by status.

    Raises
    ------
    NotFound
        When the frame lacks a column, or the language is not there.

    Examples
    --------
    >>> selfnote.audit.plots.heat(m.frames.attribution(now), now=now)
    """
    words = words_of(language)
    by = "inside" if "inside" in frame.columns else "status"
    require_columns(frame, ["heat", by], "attribution, silence, heat")
    rows = frame.dropna(subset=["heat", by])
    values = rows["heat"].astype("float64").to_numpy()
    groups = {name: there for name, there in _heat_groups(rows).items() if there.any()}
    caption = [
        words["heat caption approved" if by == "inside" else "heat caption"].format(n=len(rows)),
        words["heat formula"],
        as_of(now, tz, language),
        memories(frame, language),
        left_out(len(frame) - len(rows), language),
    ]
    if rows.empty:
        empty, why = new_axes(ax, height=2.5), words["heat empty"]
        return say_nothing(empty, title=words["heat nothing"], why=why, caption=caption, language=language)
    edges = np.linspace(0.0, max(float(values.max()), 1e-9) * 1.0000001, require_top(bins) + 1)
    ax = new_axes(ax, height=4.4)
    below = np.zeros(len(edges) - 1)
    for name, there in groups.items():
        counts, _ = np.histogram(values[there], edges)
        ink = {**_PLACE_INKS, **_STATUS_INKS}[name]
        ax.bar(
            edges[:-1],
            counts,
            np.diff(edges),
            bottom=below,
            align="edge",
            color=ink.colour,
            hatch=ink.hatch,
            edgecolor="white",
            linewidth=0.6,
            label=words[f"heat {name}"].format(n=int(there.sum()), median=float(np.median(values[there]))),
            gid=name,
        )
        below += counts
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(axis="y", color=GREY, alpha=0.4, linewidth=0.6)
    ax.set_xlim(0, float(edges[-1]))
    ax.set_xlabel(words["heat axis"])
    ax.set_ylabel(words["facts axis"])
    explain(ax)
    return finish(ax, title=_heat_title(values, groups, by, words), caption=caption)


def _heat_groups(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    if "inside" not in rows.columns:
        return {one: (rows["status"] == one).to_numpy(bool) for one in _STATUS_INKS}
    spoken_for = np.zeros(len(rows), dtype=bool)
    if "absorbed" in rows.columns:
        spoken_for = rows["absorbed"].fillna(value=False).to_numpy(bool)
    elif "cause" in rows.columns:
        spoken_for = (rows["cause"] == "absorbed").fillna(value=False).to_numpy(bool)
    inside = rows["inside"].to_numpy(bool) & ~spoken_for
    return {"inside": inside, "absorbed": spoken_for, "outside": ~inside & ~spoken_for}


def _heat_title(values: np.ndarray, groups: Mapping[str, np.ndarray], by: str, words: Mapping[str, str]) -> str:
    if by == "status":
        return words["heat title status"].format(n=len(values), median=float(np.median(values)))
    inside, outside = (values[groups.get(one, np.zeros(len(values), bool))] for one in ("inside", "outside"))
    if not len(inside) or not len(outside):
        return words["heat title"].format(n=len(values), inside=len(inside))
    warmer = int((outside > inside.min()).sum())
    return words["heat title overlap"].format(n=len(values), inside=len(inside), warmer=warmer)


# --- survival -------------------------------------------------------------------------------------
def survival(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    language: str = "en",
    now: datetime | None = None,
    tz: str | tzinfo = "UTC",
    fit: pd.DataFrame | None = None,
    top: int = 4,
) -> Axes:
    """How long until a fact is needed again: over ``survival``, with its band and the spells still at risk.

    A spell is the time from approval, or from one demand, to the next; one that has not ended is censored. Under each
    tick stands how many spells are at least so long: where they are few, the curve says little.

    Parameters
    ----------
    frame
        ``demand.survival(m, now=now)``, of all facts or with ``by=`` of groups.
    ax
        Where to draw; None: a new figure.
    language
        "en" or "zh".
    now, tz
        The frame's instant, and the zone in which the caption tells it.
    fit
        ``demand.fit(m, now=now)`` with the same ``by``: the curve of a half-life that was fitted is drawn beside.
    top
        Groups drawn, those with most spells.

    Raises
    ------
    NotFound
        When a frame lacks a column, or the language is not there.
    LimitExceeded
        When it holds several memories, or ``top`` is under 1.
    """
    words = words_of(language)
    needed = ["time_days", "survival", "at_risk", "events", "n_spells", "n_events"]
    require_columns(frame, ["by", "group", *needed, "low", "high", "flag"], "survival")
    require_one_memory(frame)
    rows = frame.dropna(subset=needed)
    groups = [(key, one) for key, one in rows.groupby(["by", "group"], sort=False, dropna=False)]
    groups.sort(key=lambda one: -int(one[1]["n_spells"].iloc[0]))
    few = groups[: require_top(top)]
    spells, events = (sum(int(one[name].iloc[0]) for _, one in groups) for name in ("n_spells", "n_events"))
    flags = sum(one["flag"].notna().any() for _, one in groups)
    caption = [
        words["survival caption"].format(n=spells, events=events),
        words["survival band"],
        words["survival few"].format(n=flags) if flags else None,
        shown(len(few), len(groups), language, "by spells"),
        as_of(now, tz, language),
        left_out(len(frame) - len(rows), language),
    ]
    if not few:
        empty, why = new_axes(ax, height=2.5), words["survival empty"]
        return say_nothing(empty, title=words["survival nothing"], why=why, caption=caption, language=language)
    ax = new_axes(ax, height=4.8)
    for number, ((by, group), one) in enumerate(few):
        _draw_survival(ax, one, INKS[number], _group_name(by, group, language), language)
    end = max(float(one["time_days"].iloc[-1]) for _, one in few) or 1.0
    if fit is not None:
        _draw_fits(ax, fit, [key for key, _ in few], end, words)
    ax.set_ylim(0, 1.04)
    ax.set_xlim(0, end * 1.02)
    ticks = [float(one) for one in MaxNLocator(7).tick_values(0, end) if 0 <= one <= end]
    ax.set_xticks(ticks, ["\n".join([f"{tick:g}", *(_at_risk(one, tick) for _, one in few)]) for tick in ticks])
    ax.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    ax.grid(axis="y", color=GREY, alpha=0.4, linewidth=0.6)
    names = " / ".join(_group_name(by, group, language) for (by, group), _ in few)
    ax.set_xlabel(words["survival axis"] if len(few) == 1 else words["survival axis groups"].format(names=names))
    ax.set_ylabel(words["survival share"])
    explain(ax)
    return finish(ax, title=_survival_title(few[0][1], len(few), language), caption=caption)


def _draw_survival(ax: Axes, rows: pd.DataFrame, ink: Ink, name: str, language: str) -> None:
    at = rows["time_days"].astype("float64").to_numpy()
    share, low, high = (rows[one].astype("float64").to_numpy() for one in ("survival", "low", "high"))
    spells, events = int(rows["n_spells"].iloc[0]), int(rows["n_events"].iloc[0])
    told = words_of(language)["survival line"].format(name=name, n=spells, events=events)
    if rows["flag"].notna().any():
        told += "\n" + NOT_ENOUGH[language].format(n=events)
    ax.step(at, share, where="post", color=ink.colour, linestyle=ink.line, linewidth=1.8, label=told, gid="curve")
    known = ~(np.isnan(low) | np.isnan(high))
    ax.fill_between(
        at,
        low,
        high,
        where=known.tolist(),
        step="post",
        facecolor=ink.colour,
        alpha=0.18,
        hatch=ink.hatch or None,
        edgecolor=ink.colour,
        linewidth=0.0,
        gid="band",
    )
    censored = (rows["events"].astype("int64").to_numpy() == 0) & (at > 0)
    if censored.any():
        ax.plot(at[censored], share[censored], "|", color=ink.colour, markersize=5, markeredgewidth=0.7, gid="censored")


def _draw_fits(ax: Axes, fit: pd.DataFrame, drawn: Sequence[Any], end: float, words: Mapping[str, str]) -> None:
    require_columns(fit, ["by", "group", "half_life", "low", "high", "configured"], "fit")
    days = np.linspace(0.0, end, 200)
    for number, row in _fits_of(fit, drawn):
        text = words["survival fit"].format(
            days=row["half_life"], low=row["low"], high=row["high"], configured=row["configured"]
        )
        ax.plot(days, 0.5 ** (days / row["half_life"]), color=INKS[number].colour, linestyle=":", label=text, gid="fit")


def _fits_of(fit: pd.DataFrame, drawn: Sequence[Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The fits that were made, each with the number of its group among those drawn."""
    wanted = {_plain(group): number for number, (_, group) in enumerate(drawn)}
    for row in fit.dropna(subset=["half_life", "low", "high"]).to_dict("records"):
        if _plain(row["group"]) in wanted:
            yield wanted[_plain(row["group"])], row


def _plain(group: Any) -> str | None:
    """The name of a group; None for all together, whichever null stands for it."""
    return group if isinstance(group, str) else None


def _at_risk(rows: pd.DataFrame, tick: float) -> str:
    later = rows[rows["time_days"] >= tick]
    return str(int(later["at_risk"].iloc[0])) if len(later) else "0"


def _survival_title(rows: pd.DataFrame, groups: int, language: str) -> str:
    words = words_of(language)
    if groups > 1:
        return words["survival title groups"].format(n=groups)
    if rows["flag"].notna().any():
        return words["survival title few"].format(why=NOT_ENOUGH[language].format(n=int(rows["n_events"].iloc[0])))
    half = rows[rows["survival"] <= 0.5]
    if len(half):
        return words["survival title half"].format(days=float(half["time_days"].iloc[0]))
    last = rows.iloc[-1]
    return words["survival title"].format(share=float(last["survival"]), days=float(last["time_days"]))
