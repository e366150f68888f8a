"""A verb that serves, started and ended for real, and a page that is watched: for the browser tests and the pictures."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
#: Seconds for a server, a page, and a process that is to end.
PATIENCE = 60.0
#: How long the owner waited, by what for.
TIMES: dict[str, list[float]] = {}


class Served:
    """One ``selfnote panel`` or ``selfnote lab``: its address, what it printed, and how it ends."""

    module = "selfnote.cli"

    def __init__(self, folder: Path, verb: str, *arguments: str, **variables: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._printed = [folder / "stdout", folder / "stderr"]
        with self._printed[0].open("wb") as out, self._printed[1].open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", self.module, verb, "--no-browser", *arguments],
                stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder, env={**os.environ, **variables},
            )  # fmt: skip
        try:
            self.address = self._wait_for_address()
        except BaseException:
            self.end()
            raise

    def _wait_for_address(self) -> str:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = re.search(r"http://127\.0\.0\.1:\S+", self.told())
            if found:
                return found[0]
            assert self.process.poll() is None, f"it ended with {self.process.returncode}\n{self.told()}"
            time.sleep(0.05)
        raise AssertionError(f"no address within {PATIENCE} s\n{self.told()}")

    @property
    def port(self) -> int:
        port = urlsplit(self.address).port
        assert port is not None
        return port

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def told(self) -> str:
        return "\n".join(f"--- {one.name}\n{one.read_text(encoding='utf-8')}" for one in self._printed)

    def family(self) -> list[psutil.Process]:
        """The server and its kernels."""
        if self.process.poll() is not None:
            return []
        parent = psutil.Process(self.process.pid)
        return [parent, *parent.children(recursive=True)]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to stop; its exit code, once it and every kernel of it are gone."""
        family = self.family()
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        wait_for_the_end(family)
        return code

    def end(self) -> None:
        """End it whatever state it is in, and show what it printed when the test failed."""
        family = self.family()
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
        for one in psutil.wait_procs(family, timeout=15)[1]:
            one.kill()
        print(self.told())  # noqa: T201 - pytest shows it where a test failed


class Jupyter(Served):
    """The owner's own ``jupyter lab`` or ``jupyter notebook`` over a folder, with settings of its own."""

    module = "jupyter"

    def __init__(self, folder: Path, verb: str, notebooks: Path) -> None:
        places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
        super().__init__(
            folder, verb, "--allow-root", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={free_port()}",
            f"--ServerApp.root_dir={notebooks}", "--LabApp.news_url=None",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            **{name: str(folder / name.lower()) for name in places},
        )  # fmt: skip


def wait_for_the_end(family: list[psutil.Process]) -> None:
    """Fail when one of these processes outlives its welcome."""
    alive = psutil.wait_procs(family, timeout=15)[1]
    assert not alive, f"still there: {alive}"


def watch(page: Page, origin: str, complaints: list[str]) -> None:
    """Note what a page asks of any other host, what it is refused, and every error it tells its console."""
    own = (f"{origin}/", f"ws{origin.removeprefix('http')}/", "data:", "blob:")

    def asked(url: str) -> None:
        if not url.startswith(own):
            complaints.append(f"asked another host: {url}")

    page.on("request", lambda request: asked(request.url))
    page.on("websocket", lambda line: asked(line.url))
    page.on("response", lambda got: complaints.append(f"{got.status} {got.url}") if got.status >= 400 else None)
    page.on("pageerror", lambda error: complaints.append(f"page error: {error}"))
    page.on("console", lambda said: complaints.append(f"console: {said.text}") if said.type == "error" else None)


@contextmanager
def measure(label: str) -> Iterator[None]:
    """Note how long the owner waited; told at the end, never asserted."""
    began = time.perf_counter()
    yield
    TIMES.setdefault(label, []).append(time.perf_counter() - began)


#: Notes by the page's own clock when it first painted what matches each of ``window.snMarks``.
_MARKS = """
window.snPainted = {};
new MutationObserver(() => {
  for (const [name, selector] of Object.entries(window.snMarks)) {
    if (name in window.snPainted || !document.querySelector(selector)) continue;
    window.snPainted[name] = 0;
    requestAnimationFrame(() => setTimeout(() => { window.snPainted[name] = performance.now(); }));
  }
}).observe(document, { childList: true, subtree: true });
"""
#: From the click until the page has painted itself without what matches the selector.
_CLICK = """
(selector) => {
  window.snAnswer = new Promise((done) => {
    let began = null;
    document.addEventListener("click", (event) => { began = event.timeStamp; }, { capture: true, once: true });
    new MutationObserver((_, watching) => {
      if (began === null || document.querySelector(selector)) return;
      watching.disconnect();
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
    }).observe(document, { attributes: true, childList: true, subtree: true });
  });
}
"""


def mark_paint(page: Page, until: str) -> None:
    """Let a page that is about to be opened note when its kernel was ready, and when ``until`` was first painted."""
    marks = {"kernel": "#jupyter-config-data", "panels": until}
    page.add_init_script(f"window.snMarks = {json.dumps(marks)};{_MARKS}")


def note_paint(page: Page, label: str) -> None:
    """Note how long that took."""
    page.wait_for_function("window.snPainted.panels > 0")
    painted = page.evaluate("window.snPainted")
    if painted.get("kernel"):
        TIMES.setdefault(label, []).append((painted["panels"] - painted["kernel"]) / 1000)


def click_away(page: Page, button: str, gone: str, label: str) -> None:
    """Click, and note how long the page took, by its own clock, until what matches ``gone`` is painted no more."""
    page.evaluate(_CLICK, gone)
    page.locator(button).click()
    TIMES.setdefault(label, []).append(page.evaluate("window.snAnswer") / 1000)


def take_picture(page: Page, path: Path) -> None:
    """A picture of the whole page, though it scrolls inside its window."""
    window = page.viewport_size
    assert window is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    inside = page.locator("#rendered_cells")
    if inside.count():
        height = inside.evaluate("element => element.scrollHeight")
        page.set_viewport_size({"width": window["width"], "height": max(window["height"], height + 24)})
    page.screenshot(path=path)
    page.set_viewport_size(window)


def ask(served: Served, path: str, **headers: str) -> tuple[int, str, http.client.HTTPMessage]:
    """One request with nothing but these headers: status, body, headers of the answer."""
    line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    try:
        line.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = line.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace"), answer.headers
    finally:
        line.close()


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    """Whether a port can be listened on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", port)) != 0
