"""What `selfnote panel` and `selfnote lab` need before a browser is involved; tests/browser holds the rest."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import selfnote
from selfnote.errors import Busy, NotFound
from selfnote.panels import app
from selfnote.panels.views.together import PanelsView
from selfnote.phrases import APP

SERVED = Path(app.__file__).parent / "voila"
REPOSITORY = Path(__file__).resolve().parent.parent.parent


def test_no_file_of_the_page_names_another_host():
    """JUPYTER.md finding 8: with a stalled host the page would not show at all."""
    files = [path for path in SERVED.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".ipynb", ".j2", ".html", ".json"}
    for path in files:
        assert not re.search(r"https?:|src=.//|href=.//", path.read_text(encoding="utf-8")), path


def test_the_page_shows_the_panels_in_one_cell():
    """The notebook holds no code of its own: what it shows is tested as part of the package."""
    notebook = json.loads((SERVED / "panel.ipynb").read_text(encoding="utf-8"))
    assert [(cell["cell_type"], cell["outputs"]) for cell in notebook["cells"]] == [("code", [])]
    assert "".join(notebook["cells"][0]["source"]) == "from selfnote.panels.app import show\n\nshow()"


def test_the_cell_opens_the_memory_the_command_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home = selfnote.demo_home(tmp_path / ".dsh")
    monkeypatch.setenv("DSH_HOME", str(home))
    monkeypatch.setenv(app.READ_ONLY, "1")
    shown: list[PanelsView] = []

    def display(view: PanelsView) -> None:
        shown.append(view)

    monkeypatch.setattr(PanelsView, "display_widget", display)
    monkeypatch.setattr(gc, "freeze", lambda: None)
    app.show()
    try:
        assert shown[0].states.memory.home.root == home
        assert shown[0].states.memory.read_only
    finally:
        shown[0].close()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_sentence_around_the_page_is_said_in_both_languages(language: str):
    assert APP[language].keys() == APP["zh"].keys()
    assert all(APP[language].values())
    gaps = re.findall(r"{(\w+)}", " ".join(APP[language].values()))
    assert gaps == re.findall(r"{(\w+)}", " ".join(APP["zh"].values()))


def test_a_copy_of_the_notebooks_never_replaces_what_the_owner_wrote(tmp_path: Path):
    into = tmp_path / "mine"
    into.mkdir()
    (into / "1-first-look.ipynb").write_text("mine", encoding="utf-8")
    assert app.copy_notebooks(into) == into
    assert (into / "1-first-look.ipynb").read_text(encoding="utf-8") == "mine"
    there = {path.name for path in (REPOSITORY / "notebooks").iterdir() if path.suffix in {".ipynb", ".md"}}
    assert {path.name for path in into.iterdir()} == there
    (into / "2-decay.ipynb").write_text("changed", encoding="utf-8")
    app.copy_notebooks(into)
    assert (into / "2-decay.ipynb").read_text(encoding="utf-8") == "changed"


def test_jupyter_reads_no_settings_but_ours_and_the_environment_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A variable of the owner's could name a folder with settings, a token or an extension that loads from elsewhere."""
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_CONFIG_PATH", "JUPYTER_PATH", "JUPYTER_TOKEN", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("DSH_MEMORY_DIR", str(tmp_path / "memory"))
    before = dict(os.environ)
    with app._settings_apart(tmp_path / ".dsh", demo=False) as folder:
        found = {name: value for name, value in os.environ.items() if name.startswith(("JUPYTER", "IPYTHON"))}
        assert not any(str(tmp_path) in value for value in found.values()), found
        assert "JUPYTER_TOKEN" not in found
        assert os.environ["DSH_HOME"] == str(tmp_path / ".dsh")
        assert "DSH_MEMORY_DIR" not in os.environ, "an explicit home never touches another's memory"
        kernel = json.loads((folder / "kernels" / "python3" / "kernel.json").read_text(encoding="utf-8"))
        assert kernel["argv"][0] == sys.executable
        assert not (folder.stat().st_mode & 0o077) or os.name == "nt"
    assert dict(os.environ) == before
    assert not folder.exists()


def test_without_a_home_the_environment_decides_which_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DSH_MEMORY_DIR", str(tmp_path / "memory"))
    with app._settings_apart(None, demo=False):
        assert os.environ["DSH_MEMORY_DIR"] == str(tmp_path / "memory")


def test_the_demo_is_served_from_a_copy_that_is_thrown_away(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DSH_MEMORY_DIR", "elsewhere")
    with app._settings_apart(None, demo=True):
        root = Path(os.environ["DSH_HOME"])
        assert selfnote.open_memory(read_only=True).facts.candidates()
        assert "DSH_MEMORY_DIR" not in os.environ
    assert not root.exists()


def test_a_port_that_is_taken_is_refused_before_anything_starts():
    with socket.socket() as taken:
        taken.bind((app.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Busy, match=rf"port {port} cannot be had.*--port"):
            app._listen(port)


def test_a_signal_ends_the_body_and_the_handlers_come_back():
    before = {number: signal.getsignal(number) for number in app._STOPPING}
    for number in app._STOPPING:
        reached = False
        with app._stopped_by_signals():
            signal.raise_signal(number)
            reached = True
        assert not reached
    assert {number: signal.getsignal(number) for number in app._STOPPING} == before


@pytest.mark.skipif(importlib.util.find_spec("voila") is not None, reason="Voilà is installed here")
def test_where_voila_is_missing_the_owner_is_told_what_to_install():
    done = subprocess.run(
        [sys.executable, "-m", "selfnote.cli", "panel", "--demo"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert 'pip install "selfnote[app]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_not_installed_is_named_with_its_extra():
    with pytest.raises(NotFound, match=r"JupyterLab is not installed.*selfnote\[lab\]"):
        app._require("no_such_module", "lab", "JupyterLab")


def test_a_home_and_the_demo_are_not_served_together(tmp_path: Path):
    for verb in ("panel", "lab"):
        done = subprocess.run(
            [sys.executable, "-m", "selfnote.cli", verb, "--demo", "--home", str(tmp_path)],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert "--demo" in done.stderr


@pytest.mark.parametrize("verb", ["panel", "lab"])
def test_both_verbs_have_help_with_an_example(verb: str):
    done = subprocess.run(
        [sys.executable, "-m", "selfnote.cli", verb, "--help"], capture_output=True, text=True, timeout=60, check=True
    )
    assert f"Example: selfnote {verb}" in " ".join(done.stdout.split())
