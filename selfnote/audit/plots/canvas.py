"""What the figures share: Axes and fonts, colours with a second cue, labels that fit, titles and captions."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.text import Text
from rich.cells import cell_len

from selfnote.errors import LimitExceeded, NotFound
from selfnote.phrases import PLOTS
from selfnote.text import cut, safe
from selfnote.times import find_zone, local_time, require_aware

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

#: Families with simplified Chinese, in the order they are looked for. The last is the first face of the file that has
#: them all, and the only one matplotlib sees before 3.11: it has the characters, some in their Japanese form.
CHINESE_FAMILIES = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "Noto Sans CJK JP",
)


class Ink(NamedTuple):
    """How one series is told from the others: by colour, and without it by hatch, marker or line."""

    colour: str
    hatch: str
    marker: str
    line: str


#: Okabe and Ito's colours in an order in which neighbours differ in lightness too.
INKS = (
    Ink("#0072B2", "", "o", "-"),
    Ink("#E69F00", "//", "s", "--"),
    Ink("#009E73", "..", "^", "-."),
    Ink("#56B4E9", "xx", "D", ":"),
    Ink("#D55E00", "\\\\", "v", (0, (5, 1))),  # type: ignore[arg-type] # matplotlib's own way to name a dash
    Ink("#CC79A7", "++", "P", (0, (3, 1, 1, 1))),  # type: ignore[arg-type] # the same
    Ink("#F0E442", "oo", "X", (0, (1, 1))),  # type: ignore[arg-type] # the same
    Ink("#333333", "--", "*", (0, (8, 2))),  # type: ignore[arg-type] # the same
)
#: The six segments, the same in every figure.
SEGMENT_INKS = {
    "persona": INKS[5],
    "notes": INKS[2],
    "profile": INKS[7],
    "env": INKS[0],
    "conclusions": INKS[3],
    "habits": INKS[1],
}
PALE, GREY, DARK = "#F4F4F4", "#BBBBBB", "#444444"

_TITLE_SIZE, _CAPTION_SIZE, LABEL_SIZE = 11.0, 7.5, 8.0
#: Width of one terminal cell in ems: half a Chinese character, and a little more than a Latin letter on average.
_CELL = 0.6
_JOINT = " · "


# --- fonts ----------------------------------------------------------------------------------------
def font_families() -> list[str]:
    """The families in force, followed by an installed one with Chinese characters where none is among them yet."""
    current = [str(one) for one in mpl.rcParams["font.family"]]
    installed = set(font_manager.get_font_names())
    found = [one for one in CHINESE_FAMILIES if one in installed]
    return current if not found or set(current) & set(found) else [*current, found[0]]


def use_chinese_fonts() -> dict[str, list[str]]:
    """Let every figure drawn from now on fall back to an installed Chinese font, character by character.

    The figures of this package need no such call; one's own do. This is the only function here that changes a setting
    of matplotlib, and it returns what it set.

    Raises
    ------
    NotFound
        When no such font is installed.

    Examples
    --------
    >>> selfnote.audit.plots.use_chinese_fonts()
    {'font.family': ['sans-serif', 'Noto Sans CJK SC']}
    """
    families = font_families()
    if not set(families) & set(CHINESE_FAMILIES):
        raise NotFound(
            f"no font with Chinese characters is installed: none of {', '.join(CHINESE_FAMILIES)}; install one (on "
            "Debian fonts-noto-cjk) and delete matplotlib's fontlist in matplotlib.get_cachedir()"
        )
    mpl.rcParams["font.family"] = families
    return {"font.family": families}


@functools.lru_cache(maxsize=8)
def _characters(families: tuple[str, ...]) -> frozenset[int]:
    """Every character that one of the families has."""
    paths = [font_manager.findfont(font_manager.FontProperties(family=[one])) for one in families]
    return frozenset(code for path in paths for code in font_manager.get_font(path).get_charmap())


# --- text that fits -------------------------------------------------------------------------------
def label(text: str, cells: int = 40) -> str:
    """A stored text as a figure may show it: one line, at most ``cells`` wide, a Chinese character being two.

    An emoji or sign that no font has is drawn as a box, so that nothing is warned of; ``$`` begins no formula.
    """
    return _drawable(fit(safe(text), cells))


def fit(text: str, cells: int) -> str:
    """``text`` cut to a width, a Chinese character being two cells, ending in ``…``."""
    limit = min(len(text), cells)
    found = text if cell_len(text) <= cells else cut(text, limit)
    while cell_len(found) > cells and limit > 1:
        limit -= 1
        found = cut(text, limit)
    return found


def _drawable(text: str) -> str:
    text = re.sub("[\u200d\ufe0f]", "", text)
    if any(_is_sign(char) for char in text):
        known = _characters(tuple(font_families()))
        text = "".join("□" if _is_sign(char) and ord(char) not in known else char for char in text)
    return text.replace("$", r"\$")


def _is_sign(char: str) -> bool:
    return unicodedata.category(char) in {"So", "Sk", "Sm", "Co", "Cn"}


#: A Latin word, or one Chinese character, with the marks that may not begin a line.
_PIECE = re.compile(r"(?:[^\s\u2e80-\uffef]+|[\u2e80-\uffef])[，。；：、！？）」”]*\s*")


def wrap(text: str, cells: int) -> list[str]:
    """``text`` broken into lines of at most ``cells``, between words or Chinese characters."""
    lines = [""]
    for piece in _PIECE.findall(text):
        if lines[-1] and cell_len((lines[-1] + piece).rstrip()) > cells:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def join(parts: Iterable[str | None], cells: int) -> str:
    """The parts of a caption on as few lines as they need, broken between parts where that will do."""
    lines: list[str] = []
    for part in parts:
        if not part:
            continue
        if lines and cell_len(lines[-1] + _JOINT + part) <= cells:
            lines[-1] += _JOINT + part
        else:
            lines += wrap(part, cells)
    return "\n".join(lines)


# --- what a frame must have -----------------------------------------------------------------------
def require_columns(frame: pd.DataFrame, names: Iterable[str], draws: str) -> None:
    """Raises NotFound, naming the frames that can be drawn, when the frame lacks a column."""
    if missing := [name for name in names if name not in frame.columns]:
        raise NotFound(f"the frame has no column {', '.join(missing)}; this figure draws {draws}")


def require_one_memory(frame: pd.DataFrame) -> None:
    """Raises LimitExceeded when the rows are of several memories, whose budgets or ids must not be mixed."""
    if len(names := _homes(frame)) > 1:
        told = ", ".join(map(repr, names))
        raise LimitExceeded(f"the frame holds the memories {told}; draw one, e.g. frame[frame.home == {names[0]!r}]")


def _homes(frame: pd.DataFrame) -> list[str]:
    return [str(one) for one in frame["home"].dropna().unique()] if "home" in frame.columns else []


def require_top(top: int) -> int:
    """Raises LimitExceeded when ``top`` is not at least 1."""
    if top < 1:
        raise LimitExceeded(f"top={top!r} shows nothing; give at least 1")
    return top


def words_of(language: str) -> dict[str, str]:
    """The sentences of the figures. Raises NotFound for another language than zh and en."""
    if language not in PLOTS:
        raise NotFound(f"language={language!r} is not there; figures speak {', '.join(PLOTS)}")
    return PLOTS[language]


# --- time -----------------------------------------------------------------------------------------
def zone_of(tz: str | tzinfo) -> tzinfo:
    """The zone. Raises ValueError when no zone of that name is known."""
    return tz if isinstance(tz, tzinfo) else (find_zone(tz) or UTC)


def to_positions(instants: pd.Series) -> NDArray[Any]:
    """Instants as places on an axis of time."""
    plain = instants.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    positions: NDArray[Any] = date2num(plain)  # type: ignore[no-untyped-call] # matplotlib's dates have no types
    return positions


def position_of(instant: datetime) -> float:
    """The place of one instant on an axis of time."""
    return float(date2num(instant.astimezone(UTC)))  # type: ignore[no-untyped-call] # the same


def show_time(ax: Axes, zone: tzinfo) -> None:
    """Let the x axis tell the owner's local time, in numbers, which need no language."""
    formats = ["%Y", "%Y-%m", "%m-%d", "%H:%M", "%H:%M", "%S.%f"]
    zeros = ["", "%Y", "%Y-%m", "%m-%d", "%H:%M", "%H:%M"]
    locator = AutoDateLocator(tz=zone, maxticks=9)  # type: ignore[no-untyped-call] # the same
    # The caption tells year and day; an offset beside the axis would only repeat it.
    formatter = ConciseDateFormatter(  # type: ignore[no-untyped-call] # the same
        locator, tz=zone, formats=formats, zero_formats=zeros, show_offset=False
    )
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(formatter)


def as_of(now: datetime | None, tz: str | tzinfo, language: str) -> str:
    """The instant a frame is of; when nobody told it, that."""
    words, zone = words_of(language), zone_of(tz)
    if now is None:
        return words["no instant"]
    return words["as of"].format(at=f"{local_time(require_aware(now), zone):%Y-%m-%d %H:%M}", zone=zone)


def window(instants: pd.Series, tz: str | tzinfo, language: str) -> str:
    """The first and the last instant."""
    known, zone = instants.dropna(), zone_of(tz)
    if known.empty:
        return words_of(language)["no window"].format(zone=zone)
    start, end = (f"{local_time(one.to_pydatetime(), zone):%Y-%m-%d %H:%M}" for one in (known.min(), known.max()))
    return words_of(language)["window"].format(start=start, end=end, zone=zone)


def memories(frame: pd.DataFrame, language: str) -> str | None:
    """Which memories the rows are of, when they are of several."""
    names = _homes(frame)
    if len(names) < 2:
        return None
    return words_of(language)["homes"].format(n=len(names), names=", ".join(label(one, 20) for one in names))


def left_out(rows: int, language: str) -> str | None:
    """That some rows are not drawn."""
    return words_of(language)["left out"].format(n=rows) if rows else None


def shown(few: int, every: int, language: str, by: str) -> str | None:
    """That not all are drawn, and which are."""
    if few >= every:
        return None
    return words_of(language)["shown"].format(shown=few, total=every, by=words_of(language)[by])


# --- the Axes -------------------------------------------------------------------------------------
def new_axes(ax: Axes | None, *, height: float = 4.5, width: float = 10.0) -> Axes:
    """``ax``, or the one of a new figure of so many inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    _, made = plt.subplots(figsize=(width, height), layout="constrained")
    return made


def cells_of(ax: Axes, size: float) -> int:
    """How many cells of a font size stand side by side above or below the Axes and their labels."""
    inches = ax.figure.bbox.width / ax.figure.dpi
    share = min(1.0, ax.get_position(original=True).width / 0.775)
    return max(24, int(share * inches * 72 / (size * _CELL)) - 4)


def finish(ax: Axes, *, title: str, caption: Sequence[str | None]) -> Axes:
    """The title, the caption under everything, and fonts for whatever was written; returns the Axes."""
    ax.set_title("\n".join(wrap(title, cells_of(ax, _TITLE_SIZE) * 4 // 5)), loc="left", fontsize=_TITLE_SIZE)
    note = ax.annotate(
        join(caption, cells_of(ax, _CAPTION_SIZE)),
        xy=(0, 0),
        # The corner under both axis labels, wherever the layout puts them.
        xycoords=(ax.yaxis.label, ax.xaxis.label),
        xytext=(0, -6),
        textcoords="offset points",
        ha="left",
        va="top",
        fontsize=_CAPTION_SIZE,
        color=DARK,
        annotation_clip=False,
        gid="caption",
    )
    note.set_linespacing(1.35)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set_axisbelow(True)
    localise(ax)
    return ax


def localise(ax: Axes) -> None:
    """Let every text of the Axes fall back to a Chinese font; a tick's label is made later, so it is told as well."""
    families = font_families()
    if not set(families) & set(CHINESE_FAMILIES):
        return
    ax.tick_params(which="both", labelfontfamily=families)
    for text in ax.findobj(Text):
        text.set_fontfamily(families)


def say_nothing(ax: Axes, *, title: str, why: str, caption: Sequence[str | None], language: str) -> Axes:
    """Axes that say there is nothing to show, and why."""
    ax.set_xticks([])
    ax.set_yticks([])
    message = "\n".join([words_of(language)["nothing"], *wrap(why, cells_of(ax, 10) * 3 // 4)])
    ax.text(0.5, 0.5, message, transform=ax.transAxes, ha="center", va="center", fontsize=10, color=DARK, gid="nothing")
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    return finish(ax, title=title, caption=caption)


def explain(ax: Axes, handles: Sequence[Any] | None = None, title: str | None = None) -> None:
    """The legend, to the right of the Axes, where it covers nothing."""
    found = ax.get_legend_handles_labels()[0] if handles is None else handles
    if found:
        ax.legend(
            handles=found,
            title=title,
            loc="upper left",
            bbox_to_anchor=(1.01, 1.0),
            borderaxespad=0.0,
            frameon=False,
            fontsize=LABEL_SIZE,
            title_fontsize=LABEL_SIZE,
            alignment="left",
            handlelength=2.6,
        )
