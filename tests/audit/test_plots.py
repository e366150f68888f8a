"""The figures show what their frames hold, say what was counted, and leave matplotlib as it was (issue 5.7, COMPLAINTS 47)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.dates import date2num, num2date
from rich.cells import cell_len

import selfnote
from selfnote.audit import churn, decay, demand, plots, rotation, rules, schema, silence, squeeze
from selfnote.audit.plots import canvas
from selfnote.audit.plots.past import Bins
from selfnote.config import SEGMENTS
from selfnote.demo import DEMO_NOW, bundled_home
from selfnote.errors import LimitExceeded, NotFound
from selfnote.phrases import CAUSE_LABELS, NOT_ENOUGH, PLOTS, REASON_LABELS, SEGMENT_LABELS

TZ = "Asia/Shanghai"
LANGUAGES = ("en", "zh")
#: Figure -> the frames it draws.
DRAWS = {
    "budget": ("what_if_chars",),
    "decay": ("curves", "group_curves"),
    "heat": ("attribution", "silence", "heat"),
    "silence": ("silence",),
    "squeeze": ("squeezed", "squeeze"),
    "rotation": ("rotation",),
    "churn": ("churn",),
    "corrections": ("corrections",),
    "survival": ("survival",),
    "shadow_price": ("shadow_price",),
}
EVERY = [(figure, frame) for figure, frames in DRAWS.items() for frame in frames]
#: Figures whose frames hold no instant.
WITHOUT_INSTANT = {"budget", "heat", "squeeze", "survival", "shadow_price"}


@pytest.fixture(scope="module")
def demo() -> selfnote.Memory:
    return selfnote.open_memory(bundled_home(), tz=TZ, read_only=True)


@pytest.fixture(scope="module")
def frames(demo: selfnote.Memory) -> dict[str, pd.DataFrame]:
    """The frames of the demo memory, by name."""
    return {
        "what_if_chars": demo.what_if(now=DEMO_NOW).chars,
        "curves": decay.curves(demo, now=DEMO_NOW, since_days=30, until_days=30),
        "group_curves": decay.curves(demo, now=DEMO_NOW, by="tag", since_days=30, until_days=30),
        "attribution": demo.frames.attribution(DEMO_NOW),
        "heat": demo.frames.heat(DEMO_NOW),
        "silence": silence.by_cause(demo, now=DEMO_NOW),
        "squeezed": squeeze.squeezed(demo, now=DEMO_NOW, only=_some_out(demo)),
        "squeeze": demo.frames.squeeze(DEMO_NOW),
        "rotation": rotation.simulate(demo, now=DEMO_NOW, hours=24).hours,
        "churn": churn.changes(demo),
        "corrections": demo.frames.corrections(DEMO_NOW),
        "rule_effects": rules.rule_effects(demo, now=DEMO_NOW),
        "survival": demand.survival(demo, now=DEMO_NOW),
        "fit": demand.fit(demo, now=DEMO_NOW),
        "shadow_price": squeeze.shadow_price(demo, now=DEMO_NOW, steps=range(20, 101, 20)),
    }


def _some_out(demo: selfnote.Memory) -> list[str]:
    return [str(one) for one in demo.frames.squeeze(DEMO_NOW)["id"].dropna().head(12)]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def draw(figure: str, frame: pd.DataFrame, **options: Any) -> Axes:
    if figure in {*WITHOUT_INSTANT, "silence"}:
        options.setdefault("now", DEMO_NOW)
    options.setdefault("tz", TZ)
    return getattr(plots, figure)(frame, **options)


def texts(ax: Axes, gid: str) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_gid() == gid]


def caption(ax: Axes) -> str:
    (found,) = texts(ax, "caption")
    return found


def bars(ax: Axes, gid: str) -> list[Any]:
    return [patch for patch in ax.patches if patch.get_gid() == gid]


def labels(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_yticklabels()]


def legend(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


# --- what every figure keeps to -------------------------------------------------------------------
def test_selfnote_and_its_audit_load_no_matplotlib_until_a_figure_is_asked_for():
    """PERFORMANCE T11."""
    code = (
        "import sys, selfnote; selfnote.audit; assert 'matplotlib' not in sys.modules;"
        "assert selfnote.audit.plots.budget.__name__ == 'budget'; assert 'matplotlib' in sys.modules;"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("figure", "frame"), EVERY)
def test_a_figure_is_drawn_where_it_is_told_and_changes_no_setting(figure, frame, language, frames):
    before = dict(mpl.rcParams)
    given_axes = plt.figure(figsize=(10, 6), layout="constrained").subplots()
    untouched = frames[frame].copy(deep=True)
    assert draw(figure, frames[frame], ax=given_axes, language=language) is given_axes
    assert dict(mpl.rcParams) == before
    pd.testing.assert_frame_equal(frames[frame], untouched)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("figure", "frame"), EVERY)
def test_a_title_says_what_is_seen_and_a_caption_how_many_when_and_in_which_zone(figure, frame, language, frames):
    """COMPLAINTS 47."""
    ax = draw(figure, frames[frame], language=language)
    assert len(ax.get_title(loc="left")) > 4
    assert "n = " in caption(ax)
    assert TZ in caption(ax)
    assert "2026-" in caption(ax)
    assert ax.get_xlabel()


@pytest.mark.parametrize("figure", sorted(WITHOUT_INSTANT))
def test_a_figure_whose_instant_was_not_told_says_so(figure, frames):
    ax = draw(figure, frames[DRAWS[figure][0]], now=None)
    assert PLOTS["en"]["no instant"] in caption(ax)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("figure", "frame"), EVERY)
def test_without_a_row_the_axes_say_there_is_nothing_to_show_and_why(figure, frame, language):
    ax = draw(figure, schema.empty(frame), language=language)
    (told,) = texts(ax, "nothing")
    first, *why = told.split("\n")
    assert first == PLOTS[language]["nothing"]
    assert len("".join(why)) > 6
    assert TZ in caption(ax)
    assert not ax.patches
    assert not ax.lines


@pytest.mark.usefixtures("chinese_font")
@pytest.mark.parametrize(("figure", "frame"), EVERY)
def test_nothing_is_clipped_and_the_caption_stands_clear_of_the_axis(figure, frame, frames):
    for language in LANGUAGES:
        ax = draw(figure, frames[frame], language=language)
        drawn = ax.figure
        drawn.canvas.draw()
        drawn.canvas.draw()
        box, limits = ax.get_tightbbox(), drawn.bbox
        assert box.x0 >= limits.x0 - 1, figure
        assert box.y0 >= limits.y0 - 1, figure
        assert box.x1 <= limits.x1 + 1, figure
        assert box.y1 <= limits.y1 + 1, figure
        (note,) = [text for text in ax.texts if text.get_gid() == "caption"]
        assert note.get_window_extent().y1 <= ax.xaxis.label.get_window_extent().y0 + 1
        title = ax._left_title.get_window_extent()
        assert title.x1 <= limits.x1 + 1


@pytest.mark.usefixtures("chinese_font")
@pytest.mark.parametrize(("figure", "frame"), EVERY)
def test_names_beside_an_axis_do_not_lie_on_each_other(figure, frame, frames):
    for language in LANGUAGES:
        ax = draw(figure, frames[frame], language=language)
        ax.figure.canvas.draw()
        for which, low, high in ((ax.get_yticklabels(), "y0", "y1"), (ax.get_xticklabels(), "x0", "x1")):
            spans = sorted(
                (getattr(box, low), getattr(box, high))
                for box in (text.get_window_extent() for text in which if text.get_text())
            )
            for (_, end), (start, _) in pairwise(spans):
                assert start >= end - 1, (figure, language)


@pytest.mark.parametrize("figure", sorted(DRAWS))
def test_another_frame_is_refused_by_the_names_of_those_it_draws(figure, frames):
    with pytest.raises(NotFound) as refused:
        draw(figure, frames["fit"])
    assert DRAWS[figure][0] in str(refused.value)


@pytest.mark.parametrize("figure", sorted(DRAWS))
def test_a_language_that_is_not_there_is_refused(figure, frames):
    with pytest.raises(NotFound, match="figures speak zh, en"):
        draw(figure, frames[DRAWS[figure][0]], language="fr")


@pytest.mark.parametrize("figure", ["budget", "squeeze", "rotation", "shadow_price", "decay", "survival"])
def test_several_memories_are_not_mixed_where_budgets_or_ids_would_be(figure, frames):
    frame = frames[DRAWS[figure][0]]
    both = pd.concat([frame.assign(home="a"), frame.assign(home="b")], ignore_index=True)
    with pytest.raises(LimitExceeded, match=r"frame\[frame.home == 'a'\]"):
        draw(figure, both)
    assert draw(figure, both[both["home"] == "a"]).get_title(loc="left") == draw(figure, frame).get_title(loc="left")


@pytest.mark.parametrize("figure", ["heat", "silence", "churn", "corrections"])
def test_several_memories_counted_together_are_named(figure, frames):
    frame = frames[DRAWS[figure][0]]
    both = pd.concat([frame.assign(home="laptop"), frame.assign(home="台式机")], ignore_index=True)
    assert "2 memories together: laptop, 台式机" in caption(draw(figure, both))


@pytest.mark.parametrize("figure", ["squeeze", "rotation", "decay", "survival"])
def test_a_top_of_none_is_refused(figure, frames):
    with pytest.raises(LimitExceeded, match="top=0"):
        draw(figure, frames[DRAWS[figure][0]], top=0)


def test_series_differ_by_hatch_marker_and_line_and_not_by_colour_alone():
    assert len({ink.colour for ink in canvas.INKS}) == len(canvas.INKS)
    assert len({ink.hatch for ink in canvas.INKS}) == len(canvas.INKS)
    assert len({ink.marker for ink in canvas.INKS}) == len(canvas.INKS)
    assert len({str(ink.line) for ink in canvas.INKS}) == len(canvas.INKS)
    assert set(canvas.SEGMENT_INKS) == set(SEGMENTS)
    assert len(set(canvas.SEGMENT_INKS.values())) == len(SEGMENTS)


def test_the_segments_of_the_heat_map_differ_in_lightness():
    """A cell has no hatch: without colour its lightness must tell."""

    def lightness(colour: str) -> float:
        parts = np.array(mpl.colors.to_rgb(colour))
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        luminance = float(linear @ np.array([0.2126, 0.7152, 0.0722]))
        return 116 * luminance ** (1 / 3) - 16

    found = sorted(
        lightness(one)
        for one in (canvas.PALE, *(canvas.SEGMENT_INKS[name].colour for name in ("profile", "env", "conclusions")))
    )
    assert min(np.diff(found)) > 15


@pytest.mark.parametrize("key", PLOTS["en"])
def test_each_sentence_of_the_figures_is_there_in_both_languages_with_the_same_gaps(key):
    gaps = [sorted(part[1:2] for part in _fields(PLOTS[language][key])) for language in LANGUAGES]
    assert gaps[0] == gaps[1]
    assert set(PLOTS["zh"]) == set(PLOTS["en"])


def _fields(sentence: str) -> list[tuple[Any, ...]]:
    import string

    return [part for part in string.Formatter().parse(sentence) if part[1]]


# --- budget ---------------------------------------------------------------------------------------
def test_budget_bars_are_what_each_segment_uses_and_what_is_left(frames):
    frame = frames["what_if_chars"]
    ax = draw("budget", frame)
    assert [bar.get_width() for bar in bars(ax, "used")] == list(frame["used_after"])
    assert [bar.get_width() for bar in bars(ax, "left")] == list(frame["budget_after"] - frame["used_after"])
    assert [bar.get_width() for bar in bars(ax, "total")] == list(frame["used_after"])
    assert bars(ax, "total left")[0].get_width() == 1000 - frame["used_after"].sum()
    assert labels(ax) == [*SEGMENT_LABELS["en"].values(), f"Total\n{frame['used_after'].sum()} / 1000"]
    for row in frame.itertuples():
        told = f"{row.used_after} of {row.budget_after}; {row.entries_after} in, {row.squeezed_after} out"
        assert told in [text.get_text() for text in ax.texts]
    assert str(int(frame["squeezed_after"].sum())) in ax.get_title(loc="left")


def _some_in(frames: dict[str, pd.DataFrame]) -> list[str]:
    return list(frames["attribution"].query("inside and segment == 'profile'")["id"].head(4))


def test_a_change_is_drawn_as_now_and_then(demo, frames):
    changed = demo.what_if(retire=_some_in(frames), now=DEMO_NOW).chars
    assert (changed["used_before"] != changed["used_after"]).any()
    ax = draw("budget", changed)
    used = [bar.get_width() for bar in bars(ax, "used")]
    assert used[::2] == list(changed["used_before"])
    assert used[1::2] == list(changed["used_after"])
    assert any(text.get_text().startswith("then: ") for text in ax.texts)


# --- decay ----------------------------------------------------------------------------------------
def test_decay_lines_are_the_heat_of_the_frame_and_meet_at_now(frames):
    frame = frames["curves"]
    hottest = frames["heat"].sort_values("rank").dropna(subset=["rank"])["id"].iloc[0]
    ax = draw("decay", frame[frame["id"] == hottest])
    rows = frame[frame["id"] == hottest]
    (past,) = [line for line in ax.lines if line.get_gid() == "past"]
    (after,) = [line for line in ax.lines if line.get_gid() == "projection"]
    there = rows[(rows["origin"] != "projection") & rows["approved"]]
    np.testing.assert_allclose(past.get_ydata()[-len(there) :], there["heat"])
    np.testing.assert_allclose(after.get_ydata()[1:], rows[rows["origin"] == "projection"]["heat"])
    assert after.get_xdata()[0] == past.get_xdata()[-1]
    assert num2date(after.get_xdata()[0]) == DEMO_NOW
    assert after.get_linestyle() == "--"


def test_the_warmest_lines_are_drawn_and_the_others_counted(frames):
    ax = draw("decay", frames["curves"], top=3, names=frames["attribution"].set_index("id")["text"].to_dict())
    assert len([line for line in ax.lines if line.get_gid() == "past"]) == 3
    assert "top 3 of 83 by heat now" in caption(ax)
    warmest = frames["heat"].dropna(subset=["rank"]).sort_values("rank").head(3)
    assert [one.split()[0] for one in legend(ax)[:3]] == [f"{one:.1f}" for one in warmest["heat"]]


def test_where_the_heat_is_not_known_there_is_no_line_and_the_caption_says_so():
    at = [_at(day) for day in range(4)]
    rows = [
        {"id": "f-1", "at": one, "importance": 1.0, "heat": heat, "hit": False, "approved": True, "origin": origin}
        for one, heat, origin in zip(
            at, (None, None, 3.0, 2.5), ("unknown", "unknown", "counter", "projection"), strict=True
        )
    ]
    ax = draw("decay", schema.from_rows("curves", rows))
    (past,) = [line for line in ax.lines if line.get_gid() == "past"]
    assert np.isnan(past.get_ydata()).tolist() == [True, True, False]
    assert "not drawn: 1" in caption(ax)


def test_before_approval_the_line_is_dotted():
    rows = [
        {"id": "f-1", "at": _at(day), "heat": 2.0, "hits": 0, "importance": 1.0, "hit": False}
        | {"approved": day > 1, "origin": "ledger"}
        for day in range(4)
    ]
    ax = draw("decay", schema.from_rows("curves", rows))
    (dotted,) = [line for line in ax.lines if line.get_gid() == "candidate"]
    assert dotted.get_linestyle() == ":"
    assert len(dotted.get_xdata()) == 2


@pytest.mark.parametrize("value", ["total", "median"])
def test_groups_are_drawn_by_total_or_median(frames, value):
    frame = frames["group_curves"]
    ax = draw("decay", frame, value=value, top=1)
    (past,) = [line for line in ax.lines if line.get_gid() == "past"]
    now = frame[frame["at"] == DEMO_NOW]
    assert past.get_ydata()[-1] == pytest.approx(now[value].max())


def test_groups_know_no_other_value(frames):
    with pytest.raises(NotFound, match="total and median"):
        draw("decay", frames["group_curves"], value="mean")


# --- heat -----------------------------------------------------------------------------------------
def test_bars_of_heat_count_every_fact_in_and_out_of_the_text(frames):
    frame = frames["attribution"]
    ax = draw("heat", frame)
    assert sum(bar.get_height() for bar in bars(ax, "inside")) == frame["inside"].sum()
    assert sum(bar.get_height() for bar in bars(ax, "outside")) == (~frame["inside"]).sum()
    edges = [bar.get_x() for bar in bars(ax, "inside")]
    width = bars(ax, "inside")[0].get_width()
    inside = frame[frame["inside"]]["heat"].astype(float)
    for bar, left in zip(bars(ax, "inside")[:-1], edges[:-1], strict=True):
        assert bar.get_height() == ((inside >= left) & (inside < left + width)).sum()


def test_absorbed_facts_are_a_group_of_their_own():
    rows = [
        {"id": f"f-{n}", "heat": float(n), "inside": n < 2, "absorbed": n == 1, "state": "active"} for n in range(4)
    ]
    ax = draw("heat", schema.from_rows("attribution", rows))
    assert [sum(bar.get_height() for bar in bars(ax, one)) for one in ("inside", "absorbed", "outside")] == [1, 1, 2]


def test_the_frame_heat_is_told_apart_by_status(frames):
    ax = draw("heat", frames["heat"])
    for status in ("approved", "candidate", "retired"):
        assert sum(bar.get_height() for bar in bars(ax, status)) == (frames["heat"]["status"] == status).sum()


def test_facts_without_any_heat_left_are_still_drawn():
    rows = [{"id": "f-1", "heat": 0.0, "inside": False, "absorbed": False}]
    ax = draw("heat", schema.from_rows("attribution", rows))
    assert sum(bar.get_height() for bar in bars(ax, "outside")) == 1


# --- silence --------------------------------------------------------------------------------------
@pytest.mark.parametrize("language", LANGUAGES)
def test_silence_has_a_bar_for_each_cause_and_every_fact_in_one(frames, language):
    frame = frames["silence"]
    ax = draw("silence", frame, language=language)
    counts = frame["cause"].value_counts()
    drawn = {
        name: sum(bar.get_width() for bar in ax.patches if round(bar.get_y() + bar.get_height() / 2) == place)
        for place, name in enumerate(labels(ax))
    }
    assert drawn == {CAUSE_LABELS[language][cause]: count for cause, count in counts.items()}
    for chance in ("used", "lost", "none"):
        assert sum(bar.get_width() for bar in bars(ax, chance)) == (frame["chance"] == chance).sum()
    assert f"{frame['zombie'].sum()}" in caption(ax)


def test_the_caption_of_silence_tells_the_instant_the_frame_is_of(frames):
    assert "as of 2026-11-30 10:00 (Asia/Shanghai)" in caption(draw("silence", frames["silence"], now=None))


def test_a_line_that_cannot_be_read_is_counted_and_not_drawn(frames):
    """A bad row never vanishes (issue 5.1)."""
    bad = schema.from_rows("silence", [{"line": 7, "flag": "not JSON"}])
    ax = draw("silence", pd.concat([frames["silence"], bad], ignore_index=True))
    assert "not drawn: 1" in caption(ax)
    assert "n = 83" in caption(ax)


# --- squeeze --------------------------------------------------------------------------------------
def test_each_entry_out_is_laid_upon_the_one_before_it(frames):
    frame = frames["squeeze"]
    ax = draw("squeeze", frame, top=len(frame))
    start = {row.segment: row.used for row in frame.itertuples()}
    assert [bar.get_width() for bar in bars(ax, "entered")] == list(start.values())
    expected = []
    for row in frame.itertuples():
        expected.append((start[row.segment], row.needs))
        start[row.segment] += row.needs
    assert [(bar.get_x(), bar.get_width()) for bar in bars(ax, "out")] == expected
    for (_, rows), line in zip(
        frame.groupby("segment", sort=False), [line for line in ax.lines if line.get_gid() == "budget"], strict=True
    ):
        assert set(line.get_xdata()) == {rows["budget"].iloc[0]}
    told = [text.get_text().strip() for text in ax.texts]
    for row in frame.itertuples():
        why = f"{row.short} short" if row.short > 0 else REASON_LABELS["en"][row.reason]
        assert f"+{row.needs}, {why}" in told


def test_entries_that_are_not_drawn_one_by_one_are_one_bar_and_counted(frames):
    frame = frames["squeeze"]
    ax = draw("squeeze", frame, top=20)
    assert f"top 20 of {len(frame)} in the order they were tried" in caption(ax)
    drawn = bars(ax, "out")
    assert len(drawn) == 20
    assert sum(bar.get_width() for bar in [*drawn, *bars(ax, "rest")]) == frame["needs"].sum()
    rest = [int(name.split()[2]) for name in labels(ax) if name.startswith("... and")]
    assert sum(rest) == len(frame) - 20
    assert str(frame["needs"].sum()) in ax.get_title(loc="left")


def test_why_an_entry_is_out_is_told_by_hatch_too(frames):
    ax = draw("squeeze", frames["squeeze"], top=len(frames["squeeze"]))
    hatches = {
        reason: {
            bar.get_hatch()
            for bar, row in zip(bars(ax, "out"), frames["squeeze"].itertuples(), strict=True)
            if row.reason == reason
        }
        for reason in frames["squeeze"]["reason"].unique()
    }
    assert all(len(one) == 1 for one in hatches.values())
    assert len(set().union(*hatches.values())) == len(hatches)


# --- shadow price ---------------------------------------------------------------------------------
def test_cells_of_the_shadow_price_tell_what_goes_in_and_out(frames):
    frame = frames["shadow_price"]
    ax = draw("shadow_price", frame)
    (image,) = ax.images
    steps = sorted(frame["step"].unique())
    for row in frame.itertuples():
        line, column = SEGMENTS.index(row.segment), steps.index(row.step)
        assert image.get_array()[line, column] == row.n_gained - row.n_lost
        told = "\n".join(
            part
            for part in (f"+{row.n_gained}" if row.n_gained else "", f"−{row.n_lost}" if row.n_lost else "")
            if part
        )
        told += "*" if row.room < row.budget else ""
        found = [
            text.get_text() for text in ax.texts if text.get_gid() == "price" and text.get_position() == (column, line)
        ]
        assert found == ([told] if told else [])
    assert [text.get_text() for text in ax.get_xticklabels() if text.get_text()] == [f"+{one}" for one in steps]
    assert f"run out first: {(frame['room'] < frame['budget']).sum()}" in caption(ax)


def test_when_more_buys_nothing_the_title_says_so():
    rows = [
        {"segment": "habits", "step": step, "budget": 40 + step, "room": 40 + step, "n_gained": 0, "n_lost": 0}
        | {"dropped": (), "gained": (), "lost": ()}
        for step in (10, 20)
    ]
    ax = draw("shadow_price", schema.from_rows("shadow_price", rows))
    assert (
        ax.get_title(loc="left").replace("\n", " ") == "Up to 20 more characters let in no more entries in any segment"
    )


# --- rotation -------------------------------------------------------------------------------------
@pytest.mark.parametrize("channel", [None, "env", "rel"])
def test_a_cell_of_the_heat_map_is_where_the_fact_stood_in_that_hour(frames, channel):
    frame = frames["rotation"]
    ax = draw("rotation", frame, channel=channel, top=1000)
    rows = frame if channel is None else frame[frame["channel"] == channel]
    (image,) = ax.images
    cells = image.get_array()
    segments = [one for one in SEGMENTS if (rows["segment"] == one).any()]
    names = [name.rsplit(maxsplit=1)[0] for name in labels(ax)]
    assert sorted(names) == sorted(rows["id"].unique())
    for row in rows.itertuples():
        code = segments.index(row.segment) + 1 if row.inside else 0
        assert cells[names.index(row.id), row.hour] == code
    share = rows.groupby("id")["inside"].mean()
    assert [name.rsplit(maxsplit=1)[1] for name in labels(ax)] == [f"{share[one]:.0%}" for one in names]
    assert f"never in: {(share == 0).sum()}" in caption(ax)


def test_facts_that_are_not_drawn_are_counted(frames):
    ax = draw("rotation", frames["rotation"], top=10)
    assert len(labels(ax)) == 10
    assert "top 10 of 83 by hours in the text" in caption(ax)


def test_an_hour_without_a_row_stays_blank(frames):
    some = frames["rotation"][frames["rotation"]["hour"].isin([0, 2])]
    cells = draw("rotation", some, top=1000).images[0].get_array()
    assert cells.shape[1] == 3
    assert np.ma.getmaskarray(cells)[:, 1].all() or np.isnan(np.asarray(cells)[:, 1]).all()


# --- churn ----------------------------------------------------------------------------------------
def test_each_change_is_one_mark_at_its_time_as_high_as_what_was_sent_again(frames):
    frame = frames["churn"]
    ax = draw("churn", frame)
    drawn = sorted(
        (round(x, 6), y, line.get_gid())
        for line in ax.lines
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    )
    expected = sorted(
        (
            round(float(date2num(row.at.to_pydatetime())), 6),
            float(row.resent),
            f"{row.cause} {'segments' if row.basis == 'segments' else 'exact'}",
        )
        for row in frame.itertuples()
    )
    assert drawn == expected
    for cause, rows in frame.groupby("cause"):
        assert f"{PLOTS['en'][f'cause {cause}']}: {len(rows)}, {rows['resent'].sum()} characters" in legend(ax)
    assert str(frame["resent"].sum()) in ax.get_title(loc="left")


def test_a_change_of_unknown_size_is_a_cross_and_counted():
    rows = [
        {"session": "s", "at": _at(1), "cause": "edit", "basis": "segments", "resent": None},
        {"session": "s", "at": _at(2), "cause": None, "basis": "rebuilt", "resent": 40},
        {"line": 3, "flag": "not JSON"},
    ]
    ax = draw("churn", schema.from_rows("churn", rows))
    (cross,) = [line for line in ax.lines if line.get_gid() == "edit unknown"]
    assert list(cross.get_ydata()) == [0.0]
    assert "of unknown size: 1" in caption(ax)
    assert "not drawn: 1" in caption(ax)
    assert "cause not recorded: 1, 40 characters" in legend(ax)


# --- corrections ----------------------------------------------------------------------------------
def test_every_correction_is_in_a_bar_of_its_week_and_every_saving_a_line(frames):
    frame, effects = frames["corrections"], frames["rule_effects"]
    ax = draw("corrections", frame, rules=effects)
    for strength in ("strong", "weak"):
        assert sum(bar.get_height() for bar in bars(ax, strength)) == (frame["strength"] == strength).sum()
    saved = effects["saved_at"].dropna()
    lines = [line.get_xdata()[0] for line in ax.lines if line.get_gid() == "saved"]
    assert [num2date(one) for one in lines] == [one.to_pydatetime() for one in sorted(saved.unique())]
    assert f"{len(saved)} rules saved" in ax.get_title(loc="left")
    assert "1 → 0" in legend(ax)[-1]
    zone = ZoneInfo(TZ)
    for bar in [*bars(ax, "strong"), *bars(ax, "weak")]:
        begins = num2date(bar.get_x()).astimezone(zone)
        assert (begins.weekday(), begins.hour, begins.minute) == (0, 0, 0)
        week = frame[(frame["at"] >= begins) & (frame["at"] < begins + timedelta(days=7))]
        assert bar.get_height() == (week["strength"] == bar.get_gid()).sum()


def test_without_a_frame_of_rules_the_corrections_tell_the_savings(frames):
    ax = draw("corrections", frames["corrections"])
    used = frames["corrections"].dropna(subset=["used_at"])
    assert [num2date(line.get_xdata()[0]) for line in ax.lines if line.get_gid() == "saved"] == [
        one.to_pydatetime() for one in sorted(used["used_at"].unique())
    ]
    assert "3 rules saved" in ax.get_title(loc="left")


@given(
    st.dates(min_value=datetime(2000, 1, 1, tzinfo=UTC).date(), max_value=datetime(2100, 1, 1, tzinfo=UTC).date()),
    st.sampled_from(["day", "week", "month"]),
)
def test_a_day_lies_in_its_bin_and_bins_leave_no_gap(day, unit):
    bins = Bins(unit)
    start = bins.start_of(day)
    assert start <= day < bins.next_after(start)
    assert bins.start_of(bins.next_after(start)) == bins.next_after(start)
    assert bins.start_of(bins.next_after(start) - timedelta(days=1)) == start


@pytest.mark.parametrize(("days", "unit"), [(0, "day"), (42, "day"), (43, "week"), (550, "week"), (551, "month")])
def test_a_longer_window_is_counted_in_longer_bins(days, unit):
    first = datetime(2026, 3, 1, tzinfo=UTC).date()
    assert Bins.of(first, first + timedelta(days=days)).unit == unit


# --- survival -------------------------------------------------------------------------------------
def test_the_curve_its_band_and_those_at_risk_are_the_frames(frames):
    frame = frames["survival"]
    ax = draw("survival", frame)
    (curve,) = [line for line in ax.lines if line.get_gid() == "curve"]
    np.testing.assert_allclose(curve.get_xdata(), frame["time_days"])
    np.testing.assert_allclose(curve.get_ydata(), frame["survival"])
    assert curve.get_drawstyle() == "steps-post"
    (band,) = [one for one in ax.collections if one.get_gid() == "band"]
    corners = band.get_paths()[0].vertices
    known = frame.dropna(subset=["low", "high"])
    assert corners[:, 1].min() == pytest.approx(known["low"].min())
    assert corners[:, 1].max() == pytest.approx(known["high"].max())
    for tick in ax.get_xticklabels():
        days, at_risk = tick.get_text().split("\n")
        assert int(at_risk) == frame[frame["time_days"] >= float(days)]["at_risk"].iloc[0]


def test_a_fitted_half_life_is_drawn_beside_the_curve(frames):
    fit = frames["fit"].iloc[0]
    ax = draw("survival", frames["survival"], fit=frames["fit"])
    (line,) = [one for one in ax.lines if one.get_gid() == "fit"]
    np.testing.assert_allclose(line.get_ydata(), 0.5 ** (line.get_xdata() / fit["half_life"]))
    assert any(f"{fit['half_life']:.0f} days ({fit['low']:.0f} to {fit['high']:.0f}" in one for one in legend(ax))


@pytest.mark.parametrize("language", LANGUAGES)
def test_too_few_data_are_said_to_be_too_few(language):
    shared = {"n_spells": 3, "n_events": 1, "flag": "not enough data (n = 1)"}
    rows = [
        {"time_days": 0.0, "survival": 1.0, "at_risk": 3, "events": 0, **shared},
        {"time_days": 2.0, "survival": 0.6, "low": 0.1, "high": 0.9, "at_risk": 3, "events": 1, **shared},
        {"time_days": 5.0, "survival": 0.6, "low": 0.1, "high": 0.9, "at_risk": 2, "events": 0, **shared},
    ]
    ax = draw("survival", schema.from_rows("survival", rows), language=language)
    words = NOT_ENOUGH[language].format(n=1)
    assert words in ax.get_title(loc="left")
    assert words in legend(ax)[0]


def test_each_group_has_a_line_of_those_at_risk(demo):
    frame = demand.survival(demo, now=DEMO_NOW, by="channel")
    ax = draw("survival", frame, top=5)
    assert len([line for line in ax.lines if line.get_gid() == "curve"]) == frame["group"].nunique() == 2
    assert all(text.get_text().count("\n") == 2 for text in ax.get_xticklabels())
    assert "about the owner / about the machine" in ax.get_xlabel()


# --- text and fonts -------------------------------------------------------------------------------
@given(st.text(alphabet=st.sampled_from("甲乙丙abc ，。e\u0301🙂"), max_size=60), st.integers(2, 40))
def test_a_label_is_never_wider_than_it_may_be(text, cells):
    """A Chinese character is two wide."""
    assert cell_len(canvas.fit(text, cells)) <= cells


def test_a_label_that_fits_is_whole_and_one_that_does_not_ends_in_an_ellipsis():
    assert canvas.label("回答先给结论", 12) == "回答先给结论"
    assert canvas.label("回答先给结论，细节等我问", 12) == "回答先给结…"


@pytest.mark.parametrize(
    ("text", "drawn"), [("把 $HOME 和 $PATH 留着", r"把 \$HOME 和 \$PATH 留着"), ("一\n二\u202e三", "一 二三")]
)
def test_a_label_is_one_plain_line_and_no_formula(text, drawn):
    assert canvas.label(text) == drawn


@given(st.text(alphabet=st.sampled_from("甲乙丙，。 abc"), max_size=120), st.integers(8, 60))
def test_wrapping_loses_nothing_but_spaces(text, cells):
    lines = canvas.wrap(text, cells)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_a_caption_is_broken_between_its_parts():
    assert canvas.join(["n = 12", None, "", "top 3 of 12", "x" * 30], 24) == "n = 12 · top 3 of 12\n" + "x" * 30


@pytest.fixture
def chinese_font() -> None:
    """A font with Chinese characters, which continuous integration must have."""
    if set(canvas.font_families()) & set(canvas.CHINESE_FAMILIES):
        return
    reason = f"no font with Chinese characters is installed: none of {', '.join(canvas.CHINESE_FAMILIES)}"
    if os.environ.get("REQUIRE_RINGS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.mark.usefixtures("chinese_font")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("figure", "frame"), EVERY)
def test_no_character_is_missing_from_the_fonts(figure, frame, language, frames, tmp_path: Path):
    """JUPYTER section 3: matplotlib warns of a missing glyph, and every warning is an error here."""
    names = frames["attribution"].set_index("id")["text"].to_dict()
    options = {"names": names} if figure in {"decay", "rotation"} else {}
    options |= {"rules": frames["rule_effects"]} if figure == "corrections" else {}
    ax = draw(figure, frames[frame], language=language, **options)
    ax.figure.savefig(tmp_path / "figure.png", dpi=50)
    empty = draw(figure, schema.empty(frame), language=language)
    empty.figure.savefig(tmp_path / "empty.png", dpi=50)


@pytest.mark.usefixtures("chinese_font")
def test_a_missing_character_does_fail_the_test_above(frames, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(canvas, "CHINESE_FAMILIES", ("No Such Font",))
    ax = draw("silence", frames["silence"], language="zh")
    with pytest.warns(UserWarning, match="Glyph"):
        ax.figure.savefig(tmp_path / "figure.png")


@pytest.mark.usefixtures("chinese_font")
def test_an_emoji_that_no_font_has_is_a_box_and_no_warning(tmp_path: Path):
    rows = [
        {"segment": "notes", "kind": "note", "id": "n-1", "text": "🦜\ufe0f 先问 $HOME_{x} 再做", "needs": 9, "left": 2}
        | {"short": 7, "reason": "no room", "rank": 1, "budget": 200, "used": 198, "length": 9}
    ]
    ax = draw("squeeze", schema.from_rows("squeeze", rows), language="zh")
    assert r"□ 先问 \$HOME_{x} 再做" in labels(ax)
    ax.figure.savefig(tmp_path / "figure.png", dpi=50)


@pytest.mark.usefixtures("chinese_font")
def test_a_figure_in_axes_made_before_has_chinese_labels_all_the_same(frames, tmp_path: Path):
    """JUPYTER section 3: the texts of Axes are made with them."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(16, 5), layout="constrained")
    draw("silence", frames["silence"], ax=left, language="zh")
    draw("budget", frames["what_if_chars"], ax=right, language="zh")
    figure.savefig(tmp_path / "figure.png", dpi=50)


@pytest.mark.usefixtures("chinese_font")
def test_chinese_fonts_are_set_only_when_asked_for_and_told_back(tmp_path: Path):
    with mpl.rc_context():
        before = list(mpl.rcParams["font.family"])
        told = plots.use_chinese_fonts()
        assert told == {"font.family": mpl.rcParams["font.family"]}
        assert told["font.family"][:-1] == before
        assert plots.use_chinese_fonts() == told
        figure, ax = plt.subplots()
        ax.set_title("遗忘曲线 −1")
        figure.savefig(tmp_path / "figure.png", dpi=50)


def test_without_a_chinese_font_asking_for_one_is_refused_and_nothing_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(canvas, "CHINESE_FAMILIES", ("No Such Font",))
    before = list(mpl.rcParams["font.family"])
    with pytest.raises(NotFound, match="fonts-noto-cjk"):
        plots.use_chinese_fonts()
    assert mpl.rcParams["font.family"] == before


def _at(day: int) -> int:
    """Noon of a day of March in microseconds."""
    return schema.microseconds(datetime(2026, 3, 1 + day, 12, tzinfo=UTC))
