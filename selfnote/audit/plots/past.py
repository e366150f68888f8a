"""Figures of the past: when the text changed and what that cost, and when the owner corrected the agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from selfnote.audit.plots.canvas import (
    DARK,
    GREY,
    INKS,
    LABEL_SIZE,
    explain,
    finish,
    label,
    left_out,
    memories,
    new_axes,
    position_of,
    require_columns,
    say_nothing,
    show_time,
    to_positions,
    window,
    words_of,
    zone_of,
)
from selfnote.times import local_date

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_CAUSE_INKS = dict(zip(("edit", "config", "refill", "date", "rotation", "start"), INKS[:6], strict=True))
_OTHER_INK = INKS[7]
_STRENGTH_INKS = {"strong": INKS[4], "weak": INKS[3]}
#: Rules named beside one mark.
_NAMED = 3


# --- churn ----------------------------------------------------------------------------------------
def churn(frame: pd.DataFrame, *, ax: Axes | None = None, language: str = "en", tz: str | tzinfo = "UTC") -> Axes:
    """When the injected text changed, why, and how much of it was sent again: over ``churn``.

    A filled mark is known to the character; an open one is what the changed segment and those below it use, by the
    ledger; a cross on the axis is a change of which no size is known.

    Raises
    ------
    NotFound
        When the frame lacks a column, or the language is not there.

    Examples
    --------
    >>> selfnote.audit.plots.churn(churn.changes(m), tz="Asia/Shanghai")
    """
    words = words_of(language)
    require_columns(frame, ["session", "at", "cause", "basis", "resent"], "churn")
    rows = frame.dropna(subset=["at", "basis"])
    known = rows.dropna(subset=["resent"])
    unknown = len(rows) - len(known)
    caption = [
        words["churn caption"].format(
            n=len(rows), sessions=rows["session"].nunique(), exact=int((known["basis"] != "segments").sum())
        ),
        words["churn unknown"].format(n=unknown) if unknown else None,
        words["churn prefix"],
        window(rows["at"], tz, language),
        memories(frame, language),
        left_out(len(frame) - len(rows), language),
    ]
    if rows.empty:
        empty, why = new_axes(ax, height=2.5), words["churn empty"]
        return say_nothing(empty, title=words["churn nothing"], why=why, caption=caption, language=language)
    ax = new_axes(ax, height=4.4)
    causes = rows["cause"].fillna("other")
    ordered = [one for one in _CAUSE_INKS if (causes == one).any()]
    ordered += sorted({str(one) for one in causes} - set(ordered))
    handles = [_draw_cause(ax, rows[causes == one], one, words) for one in ordered]
    ax.set_ylim(bottom=0)
    ax.grid(axis="y", color=GREY, alpha=0.4, linewidth=0.6)
    show_time(ax, zone_of(tz))
    ax.set_xlabel(words["time axis"].format(zone=zone_of(tz)))
    ax.set_ylabel(words["churn axis"])
    if (known["basis"] == "segments").any():
        handles.append(_mark("o", DARK, "none", words["churn open"]))
    if unknown:
        handles.append(_mark("x", DARK, "none", words["churn cross"]))
    explain(ax, handles)
    title = words["churn title"].format(n=len(rows), resent=int(known["resent"].sum()))
    return finish(ax, title=title, caption=caption)


def _draw_cause(ax: Axes, rows: pd.DataFrame, cause: str, words: Mapping[str, str]) -> Line2D:
    ink = _CAUSE_INKS.get(cause, _OTHER_INK)
    at, sizes = to_positions(rows["at"]), rows["resent"].astype("float64").to_numpy()
    exact = (rows["basis"] != "segments").to_numpy(bool)
    known = ~rows["resent"].isna().to_numpy(bool)
    if known.any():
        ax.vlines(at[known], 0, sizes[known], color=ink.colour, linewidth=0.7, alpha=0.55, gid=cause)
    # An empty line would still take its place at the figure's corner in the layout.
    for there, fill, kind in ((known & exact, ink.colour, "exact"), (known & ~exact, "white", "segments")):
        if there.any():
            ax.plot(
                at[there],
                sizes[there],
                linestyle="",
                marker=ink.marker,
                color=ink.colour,
                markerfacecolor=fill,
                markersize=5,
                gid=f"{cause} {kind}",
            )
    if not known.all():
        nowhere = at[~known]
        ax.plot(nowhere, [0.0] * len(nowhere), "x", color=ink.colour, clip_on=False, gid=f"{cause} unknown")
    total = int(rows["resent"].dropna().sum())
    name = words.get(f"cause {cause}", label(cause, 24))
    return _mark(ink.marker, ink.colour, ink.colour, words["churn cause"].format(cause=name, n=len(rows), resent=total))


def _mark(marker: str, colour: str, fill: str, text: str) -> Line2D:
    return Line2D([], [], linestyle="", marker=marker, color=colour, markerfacecolor=fill, markersize=5.5, label=text)


# --- corrections ----------------------------------------------------------------------------------
def corrections(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    language: str = "en",
    tz: str | tzinfo = "UTC",
    rules: pd.DataFrame | None = None,
) -> Axes:
    """When the owner corrected the agent, and when rules were saved: over ``corrections``.

    Bars count corrections by day, week or month, as the window is long; a line marks each saving of rules.

    Parameters
    ----------
    frame
        ``m.frames.corrections(now)``.
    ax
        Where to draw; None: a new figure.
    language
        "en" or "zh".
    tz
        The zone of the time axis, in which days begin.
    rules
        ``rules.rule_effects(m, now=now)``: what each rule says and how it fared; None: the savings the corrections
        themselves tell.

    Raises
    ------
    NotFound
        When a frame lacks a column, or the language is not there.
    """
    words, zone = words_of(language), zone_of(tz)
    require_columns(frame, ["id", "at", "strength", "status", "used_at", "rule_fingerprint"], "corrections")
    rows = frame.dropna(subset=["id", "at", "strength"])
    saves = list(_saves(frame, rules))
    statuses = {one: int((rows["status"] == one).sum()) for one in ("open", "used", "dismissed")}
    caption = [
        words["corrections caption"].format(n=len(rows), **statuses),
        window(rows["at"], tz, language),
        memories(frame, language),
        left_out(len(frame) - len(rows), language),
    ]
    if rows.empty:
        empty, why = new_axes(ax, height=2.5), words["corrections empty"]
        return say_nothing(empty, title=words["corrections nothing"], why=why, caption=caption, language=language)
    ax = new_axes(ax, height=4.2)
    days = [local_date(one.to_pydatetime(), zone) for one in rows["at"]]
    # The window holds the savings too.
    marks = [local_date(one.at, zone) for one in saves]
    span = Bins.of(min([*days, *marks]), max([*days, *marks]))
    starts = [span.start_of(one) for one in days]
    below = dict.fromkeys(starts, 0)
    for strength, ink in _STRENGTH_INKS.items():
        there = (rows["strength"] == strength).to_numpy(bool)
        for start in sorted(set(starts)):
            size = sum(one == start for one, is_there in zip(starts, there, strict=True) if is_there)
            left, right = (_position(one, zone) for one in (start, span.next_after(start)))
            if size:
                ax.bar(
                    left,
                    size,
                    (right - left) * 0.94,
                    bottom=below[start],
                    align="edge",
                    color=ink.colour,
                    hatch=ink.hatch,
                    edgecolor="white",
                    gid=strength,
                )
            below[start] += size
    handles: list[Any] = [
        _patch(ink.colour, ink.hatch, words[f"strength {one}"].format(n=int((rows["strength"] == one).sum())))
        for one, ink in _STRENGTH_INKS.items()
    ]
    tallest = max(below.values())
    for number, save in enumerate(saves, start=1):
        place = position_of(save.at)
        ax.axvline(place, color="black", linewidth=1.4, linestyle=(0, (4, 2)), gid="saved")
        ax.text(place, tallest * 1.08, f" {number}", fontsize=LABEL_SIZE, va="bottom", fontweight="bold", gid="number")
        handles.append(Line2D([], [], color="black", linestyle=(0, (4, 2)), label=save.tell(number, zone, words)))
    ax.set_ylim(0, tallest * 1.25)
    ax.set_xlim(
        _position(span.start_of(min([*days, *marks])), zone),
        _position(span.next_after(span.start_of(max([*days, *marks]))), zone),
    )
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(axis="y", color=GREY, alpha=0.4, linewidth=0.6)
    show_time(ax, zone)
    ax.set_xlabel(words["time axis"].format(zone=zone))
    ax.set_ylabel(words[f"corrections axis {span.unit}"])
    explain(ax, handles)
    title = words["corrections title"].format(n=len(rows), saves=sum(len(one.rules) for one in saves))
    return finish(ax, title=title, caption=caption)


def _patch(colour: str, hatch: str, text: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, hatch=hatch, edgecolor="white", label=text)


class Bins(NamedTuple):
    """How time is cut for counting: days, weeks from Monday, or months."""

    unit: str

    @classmethod
    def of(cls, first: date, last: date) -> Bins:
        """Days up to six weeks, weeks up to a year and a half, then months."""
        days = (last - first).days
        return cls("day" if days <= 42 else "week" if days <= 550 else "month")

    def start_of(self, day: date) -> date:
        """The first day of the bin a day is in."""
        if self.unit == "month":
            return day.replace(day=1)
        return day - timedelta(days=day.weekday()) if self.unit == "week" else day

    def next_after(self, start: date) -> date:
        """The first day of the next bin."""
        if self.unit == "month":
            return (start + timedelta(days=31)).replace(day=1)
        return start + timedelta(days=7 if self.unit == "week" else 1)


def _position(day: date, zone: tzinfo) -> float:
    """Where a day of the owner's begins on the axis."""
    return position_of(datetime.combine(day, time(), tzinfo=zone))


class _Save(NamedTuple):
    """One saving: its instant, and the rules with the corrections before and after each."""

    at: datetime
    rules: tuple[str, ...]

    def tell(self, number: int, zone: tzinfo, words: Mapping[str, str]) -> str:
        told = [one for one in self.rules if one]
        lines = [words["corrections saved"].format(number=number, day=local_date(self.at, zone), n=len(self.rules))]
        if told:
            lines += [words["corrections compared"], *told[:_NAMED]]
        if len(told) > _NAMED:
            lines.append(words["corrections more"].format(n=len(told) - _NAMED))
        return "\n".join(lines)


def _saves(frame: pd.DataFrame, rules: pd.DataFrame | None) -> Iterator[_Save]:
    """The savings in order of time."""
    found: dict[datetime, list[str]] = {}
    if rules is None:
        used = frame.dropna(subset=["used_at", "rule_fingerprint"]).drop_duplicates(["used_at", "rule_fingerprint"])
        for at in used["used_at"]:
            found.setdefault(at.to_pydatetime(), []).append("")
    else:
        require_columns(rules, ["saved_at", "rule", "before", "after"], "rule_effects")
        for row in rules.dropna(subset=["saved_at"]).to_dict("records"):
            text = label(str(row["rule"]), 30) if isinstance(row["rule"], str) else "-"
            found.setdefault(row["saved_at"].to_pydatetime(), []).append(f"  {text}  {row['before']} → {row['after']}")
    for at in sorted(found):
        yield _Save(at, tuple(found[at]))
