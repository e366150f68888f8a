"""The panels in the owner's own notebook: JupyterLab and Notebook 7 as they are installed, nothing of ours around them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError, expect  # noqa: A004 - its own
from served_page import Jupyter, click_away

import selfnote
from selfnote.records.fact_lines import waiting_order

#: Where each opens a notebook, below its address.
PLACES = {"lab": "lab/tree", "notebook": "notebooks"}


@pytest.fixture
def jupyter(tmp_path: Path) -> Iterator[Callable[[str], Jupyter]]:
    """Start the owner's Jupyter over a folder with one notebook that opens the panels."""
    started: list[Jupyter] = []

    def start(verb: str) -> Jupyter:
        started.append(Jupyter(tmp_path / verb, verb, tmp_path))
        return started[-1]

    yield start
    for one in started:
        one.end()


@pytest.mark.parametrize("verb", PLACES)
def test_a_candidate_is_approved_in_the_owners_own_notebook(
    *,
    jupyter: Callable[[str], Jupyter],
    visit: Callable[..., Page],
    picture: Callable[[Page, str], None],
    complaints: list[str],
    home: Path,
    tmp_path: Path,
    verb: str,
):
    """A click and a key decide, on disk; the keys of the review are not those of the notebook; the panel is whole.

    Notebook 7 puts a long output into a small box that scrolls, out of which the panel hung over the next cells.
    """
    notebook = {
        "cells": [
            {
                "cell_type": "code", "id": "panels", "metadata": {}, "outputs": [], "execution_count": None,
                "source": [
                    "import selfnote, selfnote.panels\n",
                    f"selfnote.panels.open(selfnote.open_memory({str(home)!r}), live=True)",
                ],
            }
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    (tmp_path / "mine.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    served = jupyter(verb)
    address, _, token = served.address.partition("?")
    served.address = f"{address.split('/tree')[0].split('/lab')[0]}/{PLACES[verb]}/mine.ipynb?{token}"
    waiting = waiting_order(selfnote.open_memory(home).facts.candidates())
    first, second = [one.id for one in waiting if not one.flags][:2]

    page = visit(served, until=".jp-Notebook .jp-CodeCell", label=f"address to notebook, {verb}")
    page.get_by_text("Idle").first.wait_for(state="attached")
    panels = page.locator(".sn-panels")
    for _ in range(5):
        # A cell that is run before the page has its kernel is not run at all.
        page.locator(".jp-CodeCell .cm-content").first.click()
        page.keyboard.press("Shift+Enter")
        with contextlib.suppress(TimeoutError):
            panels.wait_for(timeout=10_000)
            break
    expect(panels).to_have_count(1)
    picture(page, f"{verb}-panels")
    click_away(page, f"button.sn-approve-{first}", f".sn-card-{first}", f"click to answer, {verb}")
    facts = selfnote.open_memory(home).facts
    assert facts.get(first).status == "approved"

    panel = page.locator(".sn-panels").bounding_box()
    area = page.locator(".jp-Cell-outputArea").first.bounding_box()
    assert panel
    assert area
    assert panel["y"] + panel["height"] <= area["y"] + area["height"] + 1
    cells = page.locator(".jp-Cell").count()
    while page.locator(f".sn-card-{second}.sn-at-cursor").count() == 0:
        page.keyboard.press("j")
    page.keyboard.press("r")
    expect(page.locator(f".sn-card-{second}")).to_have_count(0)
    assert facts.get(second).status == "retired"
    assert page.locator(".jp-Cell").count() == cells
    picture(page, f"{verb}-decided")
    # Notebook 7.6 tells this of itself, on a notebook without panels too.
    complaints[:] = [one for one in complaints if "reading 'schema'" not in one]
