"""`selfnote lab`: the notebooks in JupyterLab, on a copy, for this machine's owner alone."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
from playwright.sync_api import Page, expect
from served_page import Served, ask, is_free


def test_a_notebook_opens_and_runs_in_jupyterlab(
    serve: Callable[..., Served],
    visit: Callable[..., Page],
    picture: Callable[[Page, str], None],
    home: Path,
    tmp_path: Path,
):
    """Opened on the first notebook, run whole over the owner's home, with nothing asked of another host; then gone."""
    into = tmp_path / "notebooks"
    into.mkdir()
    kept = into / "2-decay.ipynb"
    kept.write_text("the owner's own", encoding="utf-8")
    served = serve("lab", "--home", str(home), "--into", str(into))
    assert kept.read_text(encoding="utf-8") == "the owner's own"
    first = into / "1-first-look.ipynb"
    notebook = json.loads(first.read_text(encoding="utf-8"))
    code = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    code["source"] = ["import selfnote\n", "print('opened', selfnote.open_memory().home.root)"]
    notebook["cells"] = [code]
    first.write_text(json.dumps(notebook), encoding="utf-8")

    page = visit(served, until=".jp-Notebook .jp-CodeCell", label="address to notebook")
    page.get_by_text("Python 3 | Idle").wait_for()
    page.locator(".lm-MenuBar-item", has_text="Run").first.click()
    page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click()
    expect(page.locator(".jp-OutputArea-output").first).to_have_text(f"opened {home}", timeout=30_000)
    expect(page.locator(".jp-toastContainer")).to_have_count(0)
    picture(page, "lab")

    listening = {
        connection.laddr.ip
        for process in served.family()
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}
    assert ask(served, "/api/contents", Host=f"127.0.0.1:{served.port}")[0] == 403, "without the token"
    token = served.address.partition("?")[2]
    assert ask(served, f"/api/contents?{token}", Host="evil.example")[0] == 403
    assert ask(served, f"/api/contents?{token}", Host=f"127.0.0.1:{served.port}")[0] == 200
    page.context.close()
    assert served.stop(signal.SIGINT) == 0, served.told()
    assert is_free(served.port)
    assert served.told().partition("--- stderr\n")[2].strip() == "", "nothing but our own words on the terminal"
    assert first.exists(), "what the owner wrote stays"
