"""`selfnote panel` as a server: for this machine's owner alone, and gone without a trace when it is told to stop."""

from __future__ import annotations

import base64
import http.cookiejar
import ipaddress
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Dialog, expect
from served_page import PATIENCE, Served, ask, is_free, wait_for_the_end

import selfnote


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for the tests that only ask it something."""
    folder = tmp_path_factory.mktemp("page")
    served = Served(folder / "served", "panel", "--home", str(selfnote.demo_home(folder / ".dsh")))
    yield served
    served.end()


def open_page(served: Served) -> tuple[str, str]:
    """The page as a browser gets it: the id of its kernel, and the cookies."""
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(jar))
    with opener.open(served.address, timeout=PATIENCE) as answer:
        page = answer.read().decode("utf-8")
    found = re.search(r'"kernelId": "([\w-]+)"', page)
    assert found, page[-2000:]
    return found[1], "; ".join(f"{one.name}={one.value}" for one in jar)


def token_path(served: Served) -> str:
    return served.address.removeprefix(served.origin)


def test_only_this_machine_can_reach_the_page(page: Served):
    """Loopback only: the server, and the lines between it and its kernel."""
    open_page(page)
    listening = [
        connection.laddr.ip
        for process in page.family()
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert listening
    assert all(ipaddress.ip_address(one).is_loopback for one in listening), listening


def test_without_the_token_there_is_no_page(page: Served):
    before = len(page.family())
    for path in ("/", "/?token=wrong"):
        status, body, headers = ask(page, path)
        assert status == 302
        assert headers["Location"].startswith("/login")
        assert "kernelId" not in body
    assert len(page.family()) == before, "no kernel was started for a stranger"


def test_another_name_for_this_machine_is_refused(page: Served):
    """A page elsewhere whose name is made to point here gets nothing, even with the token."""
    before = len(page.family())
    for name in ("evil.example", f"evil.example:{page.port}"):
        status, body, _ = ask(page, token_path(page), Host=name)
        assert status == 403
        assert "kernelId" not in body
    assert len(page.family()) == before


def test_the_line_to_the_kernel_is_for_the_page_itself_only(page: Served):
    """Another site in the same browser, which sends the owner's cookies along, is refused by its origin."""
    kernel, cookies = open_page(page)
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": base64.b64encode(b"0123456789abcdef").decode(),
    }
    path = f"/api/kernels/{kernel}/channels"
    own = {"Host": f"127.0.0.1:{page.port}", "Cookie": cookies}
    assert ask(page, path, Origin="http://evil.example", **own, **upgrade)[0] == 403
    assert ask(page, path, Origin=page.origin, Host=own["Host"], **upgrade)[0] == 403, "without the cookies"
    assert open_line(page, path, Origin=page.origin, **own, **upgrade) == 101


def open_line(served: Served, path: str, **headers: str) -> int:
    """The status of a request that becomes a line of its own."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as line:
        told = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        line.sendall(f"GET {path} HTTP/1.1\r\n{told}\r\n".encode())
        return int(line.recv(64).split()[1])


def test_the_browser_itself_is_told_to_fetch_from_nowhere_else(page: Served):
    policy = ask(page, "/login")[2]["Content-Security-Policy"]
    assert policy.startswith("default-src 'self'")
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy


def test_a_kernel_runs_no_code_that_a_page_sends(page: Served, tmp_path: Path):
    """Only what widgets say passes: who has the page has the buttons, not a shell."""
    from websockets.sync.client import connect

    kernel, cookies = open_page(page)
    mark = tmp_path / "mark"
    url = f"ws://127.0.0.1:{page.port}/api/kernels/{kernel}/channels"
    with connect(url, origin=page.origin, additional_headers={"Cookie": cookies}, proxy=None) as line:  # type: ignore[arg-type]
        for number, (kind, content) in enumerate(
            (
                ("execute_request", {"code": f"open({str(mark)!r}, 'w')", "silent": False, "store_history": False}),
                ("kernel_info_request", {}),
            )
        ):
            line.send(json.dumps(message(kind, content, number)))
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            told = line.recv(timeout=PATIENCE)
            if "kernel_info_reply" in (told if isinstance(told, str) else told.decode("utf-8", "replace")):
                break
    assert not mark.exists()


def message(kind: str, content: dict[str, object], number: int) -> dict[str, object]:
    header = {
        "msg_id": f"m{number}", "session": "s", "username": "u", "msg_type": kind, "version": "5.3",
        "date": "2026-11-30T00:00:00Z",
    }  # fmt: skip
    return {
        "header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell", "buffers": [],
    }  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_it_stops_cleanly_and_no_kernel_stays(serve: Callable[..., Served], tmp_path: Path, number: signal.Signals):
    own = tmp_path / "temporary"
    own.mkdir()
    served = serve("panel", "--demo", TMPDIR=str(own))
    open_page(served)
    assert len(served.family()) >= 2
    assert served.stop(number) == 0, served.told()
    assert is_free(served.port)
    assert list(own.iterdir()) == [], "the copy of the demo, the settings and the connection files are gone"
    assert "Traceback" not in served.told()


def test_it_stops_cleanly_while_it_still_starts(home: Path, tmp_path: Path):
    own = tmp_path / "temporary"
    own.mkdir()
    for pause in (0.6, 1.2):
        process = subprocess.Popen(
            [sys.executable, "-m", "selfnote.cli", "panel", "--no-browser", "--home", str(home)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": str(own)},
        )  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        while not list(own.iterdir()):  # from here on it holds something that has to be put away
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(pause - 0.6)
        process.terminate()
        told = process.communicate(timeout=PATIENCE)
        assert "Traceback" not in told[1], told
        assert process.returncode == 0, told
        assert list(own.iterdir()) == []


def test_a_killed_server_takes_its_kernels_along(serve: Callable[..., Served], home: Path, tmp_path: Path):
    """`kill -9` leaves no time to put anything away; a kernel ends by itself when its server is gone."""
    served = serve("panel", "--home", str(home), TMPDIR=str(tmp_path))
    open_page(served)
    family = served.family()
    assert len(family) >= 2
    served.process.kill()
    served.process.wait(PATIENCE)
    wait_for_the_end(family[1:])


def test_a_page_that_is_closed_ends_its_kernel(serve: Callable[..., Served], visit: Callable, home: Path):
    served = serve("panel", "--home", str(home))
    page = visit(served)
    kernels = served.family()[1:]
    assert kernels
    page.close(run_before_unload=True)
    wait_for_the_end(kernels)


def test_a_page_with_a_draft_asks_before_it_goes_and_works_on_when_it_stays(
    serve: Callable[..., Served], visit: Callable, home: Path
):
    """Nothing an owner wrote is lost unasked; Voilà itself ends the kernel while the owner is still being asked."""
    served = serve("panel", "--home", str(home))
    page = visit(served)
    kernels, asked, answers = served.family()[1:], [], ["stay", "leave"]

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.type)
        if answers.pop(0) == "stay":
            dialog.dismiss()
        else:
            dialog.accept()

    page.on("dialog", answer)
    page.get_by_role("tab").nth(1).click()
    panel = page.locator(".sn-panel.sn-notes")
    panel.locator(".sn-new-note textarea").fill("我还没写完的一条")
    page.wait_for_timeout(300)
    page.close(run_before_unload=True)
    page.wait_for_timeout(1000)
    assert asked == ["beforeunload"]
    assert not page.is_closed()
    expect(panel.locator(".sn-new-note textarea")).to_have_value("我还没写完的一条")
    panel.locator("button.sn-add-note").click()
    expect(panel.locator(".sn-said", has_text="我还没写完的一条")).to_be_visible()
    panel.locator(".sn-new-note textarea").fill("又写到一半")
    page.wait_for_timeout(300)
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    wait_for_the_end(kernels)
    assert asked == ["beforeunload", "beforeunload"]


def test_a_port_that_is_taken_is_refused_with_what_to_do(page: Served, home: Path):
    done = subprocess.run(
        [sys.executable, "-m", "selfnote.cli", "panel", "--no-browser", "--home", str(home), "--port", str(page.port)],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"port {page.port}" in done.stderr
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_other_address_can_be_asked_for(home: Path):
    done = subprocess.run(
        [sys.executable, "-m", "selfnote.cli", "panel", "--home", str(home), "--host", "0.0.0.0"],  # noqa: S104 - what is refused
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--host" in done.stderr


def test_what_an_owner_set_up_for_jupyter_opens_nothing(serve: Callable[..., Served], home: Path, tmp_path: Path):
    """Settings in every place Jupyter would read them, and a start-up file that would run in the kernel."""
    config, marked = tmp_path / "config", tmp_path / "marked"
    wide = {"Voila": {"ip": "0.0.0.0", "token": "", "tornado_settings": {"allow_remote_access": True}}}  # noqa: S104 - what must not work
    for place in (config, Path(os.environ["HOME"]) / ".jupyter", tmp_path / "served-0"):
        place.mkdir(parents=True, exist_ok=True)
        (place / "voila.json").write_text(json.dumps(wide), encoding="utf-8")
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text(f"open({str(marked)!r}, 'w')", encoding="utf-8")
    served = serve(
        "panel", "--home", str(home), JUPYTER_CONFIG_DIR=str(config), JUPYTER_CONFIG_PATH=str(config),
        IPYTHONDIR=str(tmp_path / "ipython"), JUPYTER_TOKEN="known",  # noqa: S106 - what must not be taken
    )  # fmt: skip
    assert ask(served, "/")[0] == 302
    assert ask(served, token_path(served), Host="evil.example")[0] == 403
    open_page(served)
    addresses = {one.laddr.ip for one in psutil.Process(served.process.pid).net_connections(kind="inet")}
    assert addresses <= {"127.0.0.1"}
    assert not marked.exists()


def test_the_kernel_is_the_interpreter_that_serves(serve: Callable[..., Served], home: Path):
    served = serve("panel", "--home", str(home))
    open_page(served)
    kernel = next(one for one in served.family() if "ipykernel_launcher" in one.cmdline())
    assert Path(kernel.cmdline()[0]) == Path(sys.executable)
    assert Path(kernel.environ()["DSH_HOME"]) == home


def test_where_there_is_no_memory_yet_the_owner_is_told(serve: Callable[..., Served], tmp_path: Path):
    served = serve("panel", "--home", str(tmp_path / "nothing"))
    assert "--demo" in served.told()
    assert not (tmp_path / "nothing").exists(), "looking makes no folder"


def test_a_folder_for_temporary_files_that_is_a_link_is_no_obstacle(serve: Callable[..., Served], tmp_path: Path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    served = serve("panel", "--demo", TMPDIR=str(link))
    open_page(served)
    assert tempfile.gettempdir() != str(link)
    assert served.stop() == 0
