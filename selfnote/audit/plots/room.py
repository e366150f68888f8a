"""Figures of room: what the segments use of their budgets, who is out, and what more characters would buy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from selfnote.audit.plots.canvas import (
    DARK,
    GREY,
    INKS,
    LABEL_SIZE,
    PALE,
    SEGMENT_INKS,
    Ink,
    as_of,
    explain,
    finish,
    label,
    left_out,
    new_axes,
    require_columns,
    require_one_memory,
    require_top,
    say_nothing,
    shown,
    words_of,
)
from selfnote.config import SEGMENTS, TOTAL_BUDGET
from selfnote.phrases import REASON_LABELS, SEGMENT_LABELS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_REASON_INKS = dict(zip(REASON_LABELS["en"], (INKS[1], INKS[4], INKS[5], INKS[7], INKS[2]), strict=True))


# --- budget bars ----------------------------------------------------------------------------------
def budget(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    language: str = "en",
    now: datetime | None = None,
    tz: str | tzinfo = "UTC",
) -> Axes:
    """What each segment uses of its budget, and how many entries had no room: over ``what_if_chars``.

    ``m.what_if(...).chars``: without a change one bar a segment; with one a bar for now and a bar for then. The last
    row is the sum, against the code points of all six together (1000).

    Parameters
    ----------
    frame
        The frame ``what_if_chars``.
    ax
        Where to draw; None: a new figure.
    language
        "en" or "zh".
    now, tz
        The frame's instant, and the zone in which the caption tells it.

    Raises
    ------
    NotFound
        When the frame lacks a column, or the language is not there.

    Examples
    --------
    >>> selfnote.audit.plots.budget(m.what_if().chars)
    """
    words, names = words_of(language), SEGMENT_LABELS[language]
    columns = [f"{what}_{when}" for what in ("budget", "used", "entries", "squeezed") for when in ("before", "after")]
    require_columns(frame, ["segment", *columns], "what_if_chars")
    require_one_memory(frame)
    rows = frame.dropna(subset=["segment", *columns])
    if rows.empty:
        why = words["budget empty"]
        drawn = new_axes(ax, height=2.5)
        caption = [as_of(now, tz, language), left_out(len(frame), language)]
        return say_nothing(drawn, title=words["budget nothing"], why=why, caption=caption, language=language)
    changes = any(
        (rows[f"{what}_before"] != rows[f"{what}_after"]).any() for what in ("budget", "used", "entries", "squeezed")
    )
    times = ("before", "after") if changes else ("after",)
    ax = new_axes(ax, height=4.6 if changes else 4.0)
    thickness = 0.72 / len(times)
    for row, segment in enumerate(rows.to_dict("records")):
        for number, when in enumerate(times):
            place = row + (number - (len(times) - 1) / 2) * thickness
            _budget_bar(ax, segment, when, place, thickness)
            told = _budget_told(segment, when, words)
            told = words[when].format(text=told) if changes else told
            ax.text(int(segment[f"budget_{when}"]) + 8, place, told, va="center", fontsize=LABEL_SIZE)
    for number, when in enumerate(times):
        place = len(rows) + (number - (len(times) - 1) / 2) * thickness
        _total_bar(ax, rows, when, place, thickness)
    ax.set_yticks(
        range(len(rows) + 1), [*(names.get(one, one) for one in rows["segment"]), _total_label(rows, times, words)]
    )
    ax.set_ylim(len(rows) + 0.6, -0.6)
    ax.set_xlim(0, max(TOTAL_BUDGET, int(rows["budget_after"].max()), int(rows["budget_before"].max())) * 1.01)
    ax.set_xlabel(words["code points"])
    ax.axhline(len(rows) - 0.5, color=GREY, linewidth=0.8)
    handles = [
        Patch(facecolor=DARK, edgecolor="white", label=words["budget used"]),
        Patch(facecolor=PALE, edgecolor=GREY, label=words["budget left"]),
    ]
    explain(ax, handles)
    used, out, entered = (int(rows[f"{what}_after"].sum()) for what in ("used", "squeezed", "entries"))
    title = words["budget title changed" if changes else "budget title"].format(
        used=used, limit=TOTAL_BUDGET, out=out, before=int(rows["used_before"].sum())
    )
    caption = [
        words["budget caption"].format(n=entered + out, entered=entered, out=out),
        as_of(now, tz, language),
        left_out(len(frame) - len(rows), language),
    ]
    return finish(ax, title=title, caption=caption)


def _budget_bar(ax: Axes, row: Mapping[str, Any], when: str, place: float, thickness: float) -> None:
    ink = SEGMENT_INKS.get(row["segment"], INKS[7])
    used, limit = int(row[f"used_{when}"]), int(row[f"budget_{when}"])
    height = thickness * 0.92
    ax.barh(place, used, height, color=ink.colour, hatch=ink.hatch, edgecolor="white", gid="used")
    ax.barh(place, limit - used, height, left=used, color=PALE, edgecolor=GREY, linewidth=0.8, gid="left")


def _budget_told(row: Mapping[str, Any], when: str, words: Mapping[str, str]) -> str:
    return words["budget bar"].format(
        used=row[f"used_{when}"],
        budget=row[f"budget_{when}"],
        entries=row[f"entries_{when}"],
        squeezed=row[f"squeezed_{when}"],
    )


def _total_bar(ax: Axes, rows: pd.DataFrame, when: str, place: float, thickness: float) -> None:
    start, height = 0, thickness * 0.92
    for segment, used in zip(rows["segment"], rows[f"used_{when}"], strict=True):
        ink = SEGMENT_INKS.get(segment, INKS[7])
        ax.barh(place, used, height, left=start, color=ink.colour, hatch=ink.hatch, edgecolor="white", gid="total")
        start += int(used)
    left = max(0, TOTAL_BUDGET - start)
    ax.barh(place, left, height, left=start, color=PALE, edgecolor=GREY, linewidth=0.8, gid="total left")


def _total_label(rows: pd.DataFrame, times: Sequence[str], words: Mapping[str, str]) -> str:
    sums = " → ".join(str(int(rows[f"used_{when}"].sum())) for when in times)
    return f"{words['total']}\n{sums} / {TOTAL_BUDGET}"


# --- squeeze waterfall ----------------------------------------------------------------------------
class _Step(NamedTuple):
    """One row of the waterfall: a bar from ``start``, so long."""

    kind: str
    start: int
    size: int
    name: str
    told: str
    reason: str | None = None


def squeeze(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    language: str = "en",
    now: datetime | None = None,
    tz: str | tzinfo = "UTC",
    top: int = 20,
) -> Axes:
    """What each segment took in, and what stayed out, entry upon entry: over ``squeezed``, or ``squeeze``.

    In each segment a first bar is what entered; every entry that stayed out is laid at the end of the one before it,
    so that the last one ends where the segment would if all went in. The thick line is the budget. Beside an entry
    stands how many code points it was short of.

    Parameters
    ----------
    frame
        ``squeeze.squeezed(m, now=now)``, or ``m.frames.squeeze(now)``, which is quicker.
    ax
        Where to draw; None: a new figure.
    language
        "en" or "zh".
    now, tz
        The frame's instant, and the zone in which the caption tells it.
    top
        Entries drawn by themselves, those tried first; the others of a segment are one bar.

    Raises
    ------
    NotFound
        When the frame lacks a column, or the language is not there.
    LimitExceeded
        When it holds several memories, or ``top`` is under 1.
    """
    words = words_of(language)
    needed = ["segment", "id", "text", "needs", "short", "reason", "rank", "budget", "used"]
    require_columns(frame, needed, "squeezed, squeeze")
    require_one_memory(frame)
    rows = frame.dropna(subset=needed)
    few = rows.sort_values("rank", kind="stable").head(require_top(top))
    caption = [
        words["squeeze caption"].format(n=len(rows)),
        shown(len(few), len(rows), language, "by rank"),
        as_of(now, tz, language),
        left_out(len(frame) - len(rows), language),
    ]
    if rows.empty:
        drawn = new_axes(ax, height=2.5)
        why = words["squeeze empty"]
        return say_nothing(drawn, title=words["squeeze nothing"], why=why, caption=caption, language=language)
    steps = [
        (segment, _steps(segment, rows[rows["segment"] == segment], set(few.index), language))
        for segment in [*(one for one in SEGMENTS if (rows["segment"] == one).any())]
    ]
    ax = new_axes(ax, height=1.9 + 0.24 * sum(len(found) for _, found in steps))
    _draw_steps(ax, steps, rows, words)
    reasons = [one for one in _REASON_INKS if (rows["reason"] == one).any()]
    handles: list[Any] = [Patch(facecolor=GREY, edgecolor="white", label=words["squeeze entered"])]
    handles += [
        Patch(
            facecolor=_REASON_INKS[one].colour,
            hatch=_REASON_INKS[one].hatch,
            edgecolor="white",
            label=words["squeeze reason"].format(
                reason=REASON_LABELS[language][one], n=int((rows["reason"] == one).sum())
            ),
        )
        for one in reasons
    ]
    handles.append(Line2D([], [], color="black", linewidth=2, label=words["budget line"]))
    explain(ax, handles)
    return finish(ax, title=words["squeeze title"].format(n=len(rows), needs=int(rows["needs"].sum())), caption=caption)


def _steps(segment: str, rows: pd.DataFrame, few: set[Any], language: str) -> list[_Step]:
    words = words_of(language)
    ordered = rows.sort_values("rank", kind="stable")
    used, limit = int(ordered["used"].iloc[0]), int(ordered["budget"].iloc[0])
    name = SEGMENT_LABELS[language][segment]
    steps = [_Step("entered", 0, used, name, words["squeeze used"].format(used=used, budget=limit))]
    end, rest = used, ordered[~ordered.index.isin(few)]
    for row in ordered[ordered.index.isin(few)].to_dict("records"):
        size, short = int(row["needs"]), int(row["short"])
        reason = REASON_LABELS[language].get(row["reason"], row["reason"])
        told = words["squeeze step"].format(needs=size, why=words["short"].format(n=short) if short > 0 else reason)
        steps.append(_Step("out", end, size, label(row["text"], 38), told, row["reason"]))
        end += size
    if len(rest):
        size = int(rest["needs"].sum())
        told = words["squeeze rest bar"].format(needs=size, end=end + size)
        steps.append(_Step("rest", end, size, words["squeeze rest"].format(n=len(rest)), told))
    return steps


def _draw_steps(
    ax: Axes, steps: Sequence[tuple[str, list[_Step]]], rows: pd.DataFrame, words: Mapping[str, str]
) -> None:
    place, names, ends = 0.0, [], []
    places: list[float] = []
    for segment, found in steps:
        first, limit = place, int(rows.loc[rows["segment"] == segment, "budget"].iloc[0])
        for step in found:
            ink = _REASON_INKS.get(step.reason or "", Ink(GREY, "", "o", "-"))
            colour = "#DDDDDD" if step.kind == "rest" else ink.colour
            hatch = "..." if step.kind == "rest" else ink.hatch
            ax.barh(
                place, step.size, 0.78, left=step.start, color=colour, hatch=hatch, edgecolor="white", gid=step.kind
            )
            end = step.start + step.size
            if step.kind == "rest":
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
                ax.text(step.start, place, f" {step.told} ", va="center", fontsize=LABEL_SIZE - 0.5, bbox=box)
            else:
                ends.append(max(end, limit))
                beside = max(end, limit) if step.kind == "entered" else end
                ax.text(beside, place, f"  {step.told}", va="center", fontsize=LABEL_SIZE - 0.5)
            names.append(step.name)
            places.append(place)
            place += 1
        ax.plot([limit, limit], [first - 0.5, place - 0.5], color="black", linewidth=2, gid="budget")
        place += 0.6
    ax.set_yticks(places, names, fontsize=LABEL_SIZE)
    for tick, name in zip(ax.get_yticklabels(), names, strict=True):
        if any(name == step.name for _, found in steps for step in found if step.kind == "entered"):
            tick.set_fontweight("bold")
    ax.set_ylim(place - 1.1, -0.7)
    # What is not drawn one by one may reach far: its bar runs out of the picture, its number does not.
    ax.set_xlim(0, max(ends) * 1.3)
    ax.set_xlabel(words["squeeze axis"])


# --- shadow price ---------------------------------------------------------------------------------
def shadow_price(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    language: str = "en",
    now: datetime | None = None,
    tz: str | tzinfo = "UTC",
) -> Axes:
    """What each segment's next characters would buy: over ``shadow_price``.

    In each cell the entries that go in and those that go out, in any segment; the colour is their difference.

    Raises
    ------
    NotFound
        When the frame lacks a column, or the language is not there.
    LimitExceeded
        When it holds several memories.
    """
    words = words_of(language)
    needed = ["segment", "step", "n_gained", "n_lost", "room", "budget"]
    require_columns(frame, [*needed, "dropped"], "shadow_price")
    require_one_memory(frame)
    rows = frame.dropna(subset=needed)
    caption = [as_of(now, tz, language), left_out(len(frame) - len(rows), language)]
    if rows.empty:
        drawn, why = new_axes(ax, height=2.5), words["price empty"]
        return say_nothing(drawn, title=words["price nothing"], why=why, caption=caption, language=language)
    segments = [one for one in SEGMENTS if (rows["segment"] == one).any()]
    steps = sorted({int(one) for one in rows["step"]})
    cells = {(one["segment"], int(one["step"])): one for one in rows.to_dict("records")}
    net = [
        [float(one["n_gained"] - one["n_lost"]) if (one := cells.get((segment, step))) else 0.0 for step in steps]
        for segment in segments
    ]
    most = max(1.0, *(abs(value) for line in net for value in line))
    ax = new_axes(ax, height=1.7 + 0.45 * len(segments), width=min(11.0, max(7.0, 2.6 + 0.48 * len(steps))))
    ax.imshow(net, cmap="PuOr_r", vmin=-1.6 * most, vmax=1.6 * most, aspect="auto")
    for (segment, step), cell in cells.items():
        text = _price_text(cell)
        if text:
            ax.text(
                steps.index(step),
                segments.index(segment),
                text,
                ha="center",
                va="center",
                fontsize=LABEL_SIZE,
                gid="price",
            )
    ax.set_xticks(range(len(steps)), [f"+{one}" for one in steps])
    ax.set_yticks(range(len(segments)), [SEGMENT_LABELS[language][one] for one in segments])
    ax.set_xticks([one - 0.5 for one in range(1, len(steps))], minor=True)
    ax.set_yticks([one - 0.5 for one in range(1, len(segments))], minor=True)
    ax.grid(which="minor", color="white", linewidth=1.2)
    ax.tick_params(which="minor", length=0)
    ax.set_xlabel(words["price axis"])
    bound = sum(int(one["room"]) < int(one["budget"]) for one in cells.values())
    dropped = sum(bool(one["dropped"]) for one in cells.values())
    first = words["price caption"].format(n=len(cells), segments=len(segments))
    why_fewer = words["price dropped"].format(n=dropped) if dropped else None
    star = words["price bound"].format(n=bound, limit=TOTAL_BUDGET) if bound else None
    best = max(cells.values(), key=lambda one: (one["n_gained"] - one["n_lost"], -int(one["step"])))
    title = words["price none" if best["n_gained"] <= best["n_lost"] else "price title"].format(
        segment=SEGMENT_LABELS[language][best["segment"]],
        step=int(best["step"]),
        n=int(best["n_gained"] - best["n_lost"]),
        most=steps[-1],
    )
    return finish(ax, title=title, caption=[first, why_fewer, star, *caption])


def _price_text(cell: Mapping[str, Any]) -> str:
    parts = [f"+{cell['n_gained']}" if cell["n_gained"] else "", f"−{cell['n_lost']}" if cell["n_lost"] else ""]
    text = "\n".join(part for part in parts if part)
    return f"{text}*" if int(cell["room"]) < int(cell["budget"]) else text
