"""The panels as a page of their own, and the notebooks in JupyterLab: both for this machine's owner only."""

from __future__ import annotations

import gc
import html
import importlib.util
import json
import logging
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selfnote.demo import DEMO_NOW, demo_home
from selfnote.errors import Busy, NotFound
from selfnote.memory import open_memory
from selfnote.phrases import APP

#: The only address anything here listens on.
HOST = "127.0.0.1"
#: Seconds after which the kernel of a page that went away without saying so is stopped.
FORGOTTEN_AFTER = 3600
#: What tells the kernel how the memory is to be opened, beside DSH_HOME and DSH_MEMORY_DIR.
READ_ONLY = "SELFNOTE_PANEL_READ_ONLY"
DEMO = "SELFNOTE_PANEL_DEMO"
LANGUAGE = "SELFNOTE_PANEL_LANGUAGE"

_PACKAGE = Path(__file__).resolve().parent.parent
_NOTEBOOK = _PACKAGE / "panels" / "voila" / "panel.ipynb"
_FIRST_NOTEBOOK = "1-first-look.ipynb"
#: The front-end extensions the page needs; any other the owner has installed stays out of it.
_EXTENSIONS = ["@voila-dashboards/widgets-manager8", "@jupyter-widgets/jupyterlab-manager", "anywidget"]
#: What the browser itself refuses: to fetch from, send to, or be framed by, anything but this server.
_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:",
    "form-action 'self'",
    "base-uri 'self'",
    "frame-ancestors 'none'",
)
#: What JupyterLab would otherwise ask another host about.
_NO_NEWS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    }
}


# --- in the kernel --------------------------------------------------------------------------------
def show() -> None:
    """Show the panels over the memory ``selfnote panel`` serves: the only cell of its page."""
    from selfnote.panels import open as open_panels

    memory = open_memory(read_only=READ_ONLY in os.environ)
    now = DEMO_NOW if DEMO in os.environ else None
    open_panels(memory, live=True, language=os.environ.get(LANGUAGE), now=now).display_widget()
    # What was loaded stays to the end; to walk through all of it now and then would double the time of a click.
    gc.freeze()


# --- serving --------------------------------------------------------------------------------------
def serve_panel(
    home: Path | None = None,
    *,
    demo: bool = False,
    read_only: bool = False,
    language: str | None = None,
    port: int = 0,
    browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the panels with Voilà until the process is told to stop; no kernel outlives it.

    Takes the process over: its environment, signals and event loop. Listens on 127.0.0.1 only, behind a token.

    Parameters
    ----------
    home
        The ``.dsh`` directory; None: the one of the environment.
    demo
        Serve a copy of the demo memory, at the instant it was left at; the copy is removed at the end.
    read_only
        Show all, change nothing.
    language
        ``zh`` or ``en``; None follows the memory's setting.
    port
        Where to listen; 0: a port that is free.
    browser
        Whether the address is opened in the owner's browser.
    say
        What is called with the sentences for the owner; the address is in the first.

    Raises
    ------
    NotFound
        When Voilà is not installed.
    Busy
        When the port cannot be had.
    """
    _require("voila", "app", "Voilà, which serves the panels,")
    with _stopped_by_signals(), _settings_apart(home, demo=demo) as folder, _listen(port) as listener:
        told = {READ_ONLY: "1" if read_only else "", DEMO: "1" if demo else "", LANGUAGE: language or ""}
        os.environ |= {name: value for name, value in told.items() if value}
        words = _words(language)
        token = secrets.token_urlsafe(24)
        address = f"http://{HOST}:{listener.getsockname()[1]}/?token={token}"

        def opened() -> None:
            say(words["panel at"].format(address=address))
            if browser:
                _open_browser(folder, address, say, words)

        _voila(folder, listener, token, words, opened).start()
        say(words["ended"])


def _voila(
    folder: Path, listener: socket.socket, token: str, words: Mapping[str, str], opened: Callable[[], None]
) -> Any:
    """Voilà over the notebook of the package, with nothing of the owner's or the machine's Jupyter settings."""
    from tornado.httpserver import HTTPServer
    from tornado.ioloop import IOLoop
    from tornado.web import HTTPError
    from traitlets.config import Config
    from voila.app import Voila
    from voila.shutdown_kernel_handler import VoilaShutdownKernelHandler

    class Farewell(VoilaShutdownKernelHandler):  # type: ignore[misc] # Voilà ships no types
        """A page that is closed says so, and its kernel ends.

        It does so without the token against forged requests: behind a login Voilà's own handler refuses that, and the
        kernel stays. Where the request comes from is looked at instead.
        """

        def check_xsrf_cookie(self) -> None:
            """Refuse what another site asks for."""
            if self.request.headers.get("Origin") != f"http://{self.request.host}":
                raise HTTPError(403)

    class PanelApp(Voila):  # type: ignore[misc] # Voilà ships no types
        """Voilà on a socket that is there already."""

        def _handle_signal_stop(self, number: int, frame: object) -> None:
            _interrupt(number, frame)

        def init_handlers(self) -> list[Any]:
            """What Voilà answers, and our farewell before its own."""
            return [(r"/voila/api/shutdown/(.*)", Farewell), *super().init_handlers()]

        def listen(self) -> None:
            """Serve until interrupted."""
            server = HTTPServer(self.app)
            server.add_socket(listener)
            loop = IOLoop.current()
            loop.add_callback(opened)
            try:
                loop.start()
            except KeyboardInterrupt:
                server.stop()
            finally:
                self.stop()

    app = PanelApp(
        config=Config(
            {
                "VoilaConfiguration": {
                    "template": "selfnote",
                    "show_tracebacks": True,
                    "file_allowlist": [],
                    "extension_allowlist": _EXTENSIONS,
                    "resources": {"selfnote": {name: words[name] for name in ("starting", "stopped", "script")}},
                },
                "MappingKernelManager": {"cull_idle_timeout": FORGOTTEN_AFTER},
            }
        ),
        notebook_path=str(_NOTEBOOK),
        ip=HOST,
        port=listener.getsockname()[1],
        token=token,
        open_browser=False,
        log_level="ERROR",
        config_file_paths=[str(folder)],
        connection_dir_root=str(folder),
        # Voilà would answer under any name the browser was talked into; ours must be this machine's.
        tornado_settings={
            "allow_remote_access": False,
            "headers": {"Content-Security-Policy": "; ".join(_POLICY)},
        },
    )
    app.initialize([])
    # It warns, for each page, that jupyter-server's default for a silent line is longer than its own.
    logging.getLogger("tornado").setLevel(logging.ERROR)
    return app


def serve_lab(
    home: Path | None = None,
    *,
    demo: bool = False,
    into: Path | None = None,
    port: int = 0,
    browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Open JupyterLab on a copy of the notebooks until the process is told to stop; no kernel outlives it.

    ``selfnote.open_memory()`` in them opens ``home``, or the copy of the demo memory. Listens on 127.0.0.1 only,
    behind a token.

    Parameters
    ----------
    home, demo, port, browser, say
        As for ``serve_panel``.
    into
        Where the copy is kept; what lies there already stays as it is. None: a new temporary folder, which is kept.

    Raises
    ------
    NotFound
        When JupyterLab is not installed.
    Busy
        When the port cannot be had.
    """
    _require("jupyterlab", "lab", "JupyterLab")
    notebooks = copy_notebooks(into if into is not None else Path(tempfile.mkdtemp(prefix="selfnote-notebooks-")))
    with _stopped_by_signals(), _settings_apart(home, demo=demo) as folder:
        from jupyterlab.labapp import LabApp

        # What JupyterLab itself is made of; what else was installed into Jupyter's server stays out of it.
        own = {"jupyter_lsp": True, "jupyter_server_terminals": True}
        LabApp.serverapp_config = {**LabApp.serverapp_config, "jpserver_extensions": own}
        with _listen(port) as listener:
            port = listener.getsockname()[1]
        token = secrets.token_urlsafe(24)
        settings = folder / "settings"
        settings.mkdir()
        (settings / "overrides.json").write_text(json.dumps(_NO_NEWS), encoding="utf-8")
        server = LabApp.initialize_server(
            argv=[
                f"--ServerApp.ip={HOST}",
                f"--ServerApp.port={port}",
                "--ServerApp.port_retries=0",
                "--ServerApp.allow_remote_access=False",
                "--ServerApp.allow_origin=",
                "--ServerApp.allow_root=True",
                "--ServerApp.log_level=ERROR",
                "--LabApp.log_level=ERROR",
                f"--ServerApp.open_browser={browser}",
                f"--ServerApp.root_dir={notebooks}",
                f"--IdentityProvider.token={token}",
                f"--LabApp.default_url=/lab/tree/{_FIRST_NOTEBOOK}",
                f"--LabApp.app_settings_dir={settings}",
                "--LabApp.extension_manager=readonly",
                "--LabApp.news_url=None",
                "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            ]
        )
        for number in _STOPPING:
            # Its own handler of Ctrl-C asks whether it is meant, and waits.
            signal.signal(number, lambda *_: server.stop(from_signal=True))
        words = _words(None)
        address = f"http://{HOST}:{port}/lab/tree/{_FIRST_NOTEBOOK}?token={token}"
        say(words["lab at"].format(address=address, folder=notebooks))
        server.start()
        say(words["ended"])


def copy_notebooks(into: Path) -> Path:
    """The notebooks of the package, copied into a folder; a file that is there already stays as it is."""
    source = next((one for one in (_PACKAGE / "_notebooks", _PACKAGE.parent / "notebooks") if one.is_dir()), None)
    if source is None:
        raise NotFound(f"no notebooks lie in {_PACKAGE}; install selfnote again, or work from a checkout")
    into = into.expanduser().resolve()
    into.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        if path.suffix in {".ipynb", ".md"} and not (into / path.name).exists():
            shutil.copyfile(path, into / path.name)
    return into


# --- small parts ----------------------------------------------------------------------------------
_STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def _require(module: str, extra: str, name: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise NotFound(f'{name} is not installed here; install it with: pip install "selfnote[{extra}]"')


def _words(language: str | None) -> Mapping[str, str]:
    """The sentences around the page, in the language asked for or that of the memory."""
    return APP[language or open_memory(read_only=True).config.load().language]


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let every signal that asks to stop end the body as Ctrl-C does, with all it has to put away."""
    before = {number: signal.signal(number, _interrupt) for number in _STOPPING}
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _settings_apart(home: Path | None, *, demo: bool) -> Iterator[Path]:
    """A folder for what Jupyter writes, and an environment in which it reads nobody's settings.

    What an owner or a machine has configured for Jupyter could load from, or listen to, other hosts. The kernel is
    the interpreter that runs this. ``DSH_HOME`` names the memory.
    """
    before = dict(os.environ)
    # Where the folder for temporary files is a link, Jupyter compares resolved paths with it.
    with tempfile.TemporaryDirectory(prefix="selfnote-panel-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        for variable in [one for one in os.environ if one.startswith(("JUPYTER", "VOILA", "IPYTHON"))]:
            del os.environ[variable]
        os.environ |= {
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
            "JUPYTER_PATH": os.pathsep.join((str(folder), str(_PACKAGE / "panels"))),
            "IPYTHONDIR": str(folder / "ipython"),
        }
        kernel = folder / "kernels" / "python3"
        kernel.mkdir(parents=True)
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=CRITICAL"]
        spec = {"argv": command, "display_name": "Python 3", "language": "python", "metadata": {"debugger": True}}
        (kernel / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
        if demo or home is not None:
            root = demo_home(folder / "demo" / ".dsh") if home is None else home.expanduser().resolve()
            os.environ["DSH_HOME"] = str(root)
            os.environ.pop("DSH_MEMORY_DIR", None)
        try:
            yield folder
        finally:
            os.environ.clear()
            os.environ |= before


def _listen(port: int) -> socket.socket:
    """A socket that listens on this machine's own address."""
    listener = socket.socket()
    try:
        if os.name != "nt":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        why = error.strerror or str(error)
        raise Busy(f"port {port} cannot be had: {why}; name another with --port, or leave it out") from error
    listener.setblocking(False)  # noqa: FBT003 - the standard library's name for it
    return listener


def _open_browser(folder: Path, address: str, say: Callable[[str], None], words: Mapping[str, str]) -> None:
    """Open the address by way of a file, since every user of the machine can read a command line with a token."""
    page = folder / "open.html"
    page.touch(mode=0o600)
    target = html.escape(address)
    page.write_text(f'<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={target}">', encoding="utf-8")
    if not webbrowser.open(page.as_uri(), new=2):
        say(words["no browser"])
