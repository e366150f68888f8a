"""The command line: one short function per verb, each a thin call into the library."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from selfnote import __version__
from selfnote.errors import NotFound, SelfnoteError
from selfnote.times import clock, format_instant, local_time, parse_instant

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from selfnote.memory import Memory
    from selfnote.sessions.log import SessionLog
    from selfnote.sessions.model import Event, Message

USAGE_ERROR = 2
FINDINGS_FOUND = 1

app = typer.Typer(
    name="selfnote",
    help="See, explain and decide what your AI agent remembers about you.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class FailOn(StrEnum):
    """What makes the audit exit with 1."""

    NOTHING = "nothing"
    FINDINGS = "findings"


class Language(StrEnum):
    """The language of what is shown."""

    ZH = "zh"
    EN = "en"


HomeOption = Annotated[
    Path | None, typer.Option("--home", metavar="DIR", help="The .dsh directory; default $DSH_HOME or ~/.dsh.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Plain JSON for a script.")]
NowOption = Annotated[str | None, typer.Option("--now", metavar="TIME", help="The instant, e.g. 2026-11-30T02:00Z.")]
LanguageOption = Annotated[
    Language | None, typer.Option("--lang", help="zh or en; default: the memory's, else the terminal's.")
]


@app.callback(invoke_without_command=True)
def show_version(
    *, version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False
) -> None:
    """See, explain and decide what your AI agent remembers about you."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
def audit(
    home: HomeOption = None,
    *,
    as_json: JsonOption = False,
    now: NowOption = None,
    lang: LanguageOption = None,
    fail_on: Annotated[FailOn, typer.Option("--fail-on", help="Exit with 1 when there are findings.")] = FailOn.NOTHING,
    or_demo: Annotated[
        bool, typer.Option("--or-demo", help="Where there is no memory yet, audit the bundled demo.")
    ] = False,
) -> None:
    """Audit a memory: what would be injected, what is squeezed out and why, what is silent, what the logs hold.

    Opens the memory read-only. Example: selfnote audit --home ~/.dsh --json
    """
    from selfnote.audit.report import has_memory
    from selfnote.audit.text_report import render
    from selfnote.demo import DEMO_NOW, bundled_home, is_bundled

    memory = _open(home)
    own = memory.home.root
    demo = or_demo and not has_memory(memory.home)
    if demo:
        memory = _open(bundled_home())
    instant = _instant(now)
    if instant is None and is_bundled(memory.home.root):
        instant = DEMO_NOW
    report = memory.audit(now=instant, progress=not as_json and sys.stderr.isatty())
    if as_json:
        _print_json(report.to_json())
    else:
        tongue = _language(lang, memory)
        if demo:
            from selfnote.phrases import REPORT

            _show(REPORT[tongue]["demo"].format(home=own) + "\n")
        _show(render(report, language=tongue))
    if fail_on is FailOn.FINDINGS and report.findings:
        raise typer.Exit(FINDINGS_FOUND)


@app.command()
def inject(
    home: HomeOption = None,
    *,
    session: Annotated[str | None, typer.Option(help="Which session asks.")] = None,
    turn: Annotated[int | None, typer.Option(help="In which of its turns.")] = None,
    cwd: Annotated[str | None, typer.Option(help="Where the session works; recorded in the ledger.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the bill beside the text.")] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Count the hits, as the harness does; without it nothing is written.")
    ] = False,
    as_json: JsonOption = False,
    now: NowOption = None,
    lang: LanguageOption = None,
) -> None:
    """Print the text this turn's prompt would hold.

    Counts nothing unless --record is given. Example: selfnote inject --explain
    """
    from selfnote import assemble_injection, compose_injection

    instant = _instant(now) or clock()
    memory = _open(home)
    injection = assemble_injection(memory, now=instant)
    text = injection.text
    if record:
        text = compose_injection(home, session=session, turn=turn, cwd=cwd, now=instant)
    if as_json:
        from selfnote.audit.report import injection_json

        _print_json({**injection_json(injection), "text": text, "recorded": record})
        return
    typer.echo(text)
    if explain:
        from rich.console import Group

        from selfnote.audit.text_report import render_bill

        _show(Group("", *render_bill(injection, _language(lang, memory))), err=not sys.stdout.isatty())


@app.command(name="why-not")
def why_not(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="A fact's, note's or habit's id, or l1:3.")],
    home: HomeOption = None,
    *,
    as_json: JsonOption = False,
    now: NowOption = None,
) -> None:
    """Say where an entry stands in this turn's text, or what keeps it out.

    Example: selfnote why-not f-3fa9c1d2e4b5
    """
    answer = _open(home).why_not(identifier, now=_instant(now))
    if as_json:
        _print_json({"id": identifier, "answer": answer})
    else:
        typer.echo(answer)


@app.command()
def demo(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="An empty or new directory.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Put a copy of the bundled demo memory into DIR, to try everything on.

    Example: selfnote demo /tmp/demo && selfnote audit --home /tmp/demo --now 2026-11-30T02:00Z
    """
    from selfnote.demo import DEMO_NOW, demo_home

    path = demo_home(directory)
    when = format_instant(DEMO_NOW)
    if as_json:
        _print_json({"home": str(path), "now": when})
    else:
        typer.echo(f"{path}\nLook at it as of the day it was left: selfnote audit --home {path} --now {when}")


@app.command()
def sessions(home: HomeOption = None, *, as_json: JsonOption = False, lang: LanguageOption = None) -> None:
    """List the harness's session logs: status, events, turns, what you said. Read only.

    Example: selfnote sessions --json
    """
    from selfnote.audit.report import session_row
    from selfnote.audit.text_report import session_table

    memory = _open(home)
    rows = [session_row(log) for log in memory.sessions.read_all(progress=not as_json and sys.stderr.isatty())]
    if as_json:
        _print_json([row.to_json() for row in rows])
        return
    _show(session_table(rows, _language(lang, memory), memory.zone()))
    for row in rows:
        for problem in row.problems[:3]:
            _show(f"{row.id}: {problem}", err=True)
    for refused in memory.sessions.refused:
        _show(f"{refused.where}: {refused.reason}", err=True)


@app.command()
def show(
    source: Annotated[str, typer.Argument(metavar="SESSION#SEQ", help="A source, as facts carry it.")],
    home: HomeOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Show the message behind a source; a unique beginning of the session's name is enough.

    Example: selfnote show session-aaaaaaaa#43
    """
    from selfnote.records.sources import parse_source

    found = parse_source(source)
    if found.kind != "session" or found.number is None:
        raise NotFound(f"{source} points at no session message: it came from {found.kind} {found.name}")
    memory = _open(home)
    log = memory.sessions.open(found.name)
    if found.unit == "line":
        _show_event(log, memory, f"line {found.number}", lambda event: event.line == found.number, as_json=as_json)
        return
    try:
        message = log.message_at(found.number)
    except NotFound:
        _show_event(log, memory, f"seq {found.number}", lambda event: event.seq == found.number, as_json=as_json)
        return
    _show_message(message, memory, as_json=as_json)


def _show_message(message: Message, memory: Memory, *, as_json: bool) -> None:
    if as_json:
        _print_json(
            {
                "source": message.source,
                "time": format_instant(message.time) if message.time else None,
                "role": message.role,
                "sourceKind": message.source_kind,
                "byOwner": message.by_owner,
                "text": message.text,
            }
        )
        return
    when = f"{local_time(message.time, memory.zone()):%Y-%m-%d %H:%M:%S}" if message.time else "no time"
    who = "you" if message.by_owner else f"{message.role} ({message.source_kind})"
    typer.echo(f"{message.source}  {when}  {who}\n\n{_visible(message.text)}")


def _show_event(
    log: SessionLog, memory: Memory, wanted: str, matches: Callable[[Event], bool], *, as_json: bool
) -> None:
    """An event that is no message, or is named by its line: its type and content."""
    event = next((one for one in log.events() if matches(one)), None)
    if event is None:
        raise NotFound(f"{log.id} has no event at {wanted}; it holds {log.event_count}, from seq 0 on")
    if event.type in {"user/message", "assistant/message"}:
        _show_message(log.message_at(event.seq), memory, as_json=as_json)
        return
    content = {
        "source": f"{log.id}#{event.seq}",
        "type": event.type,
        "time": format_instant(event.time) if event.time else None,
        "data": event.data,
    }
    if as_json:
        _print_json(content)
    else:
        typer.echo(f"{content['source']}  {event.type} (no message)\n")
        typer.echo(_visible(json.dumps(event.data, ensure_ascii=False, indent=2)))


# --- the edges ------------------------------------------------------------------------------------
def _open(home: Path | None) -> Memory:
    from selfnote import open_memory

    memory = open_memory(home, read_only=True)
    root = memory.home.root
    if root.exists() and not root.is_dir():
        raise NotFound(f"{root} is a file; name the .dsh directory")
    if root.is_dir() and not os.access(root, os.R_OK | os.X_OK):
        raise NotFound(f"{root} cannot be read by this user; check its permissions")
    return memory


def _instant(text: str | None) -> datetime | None:
    if text is None:
        return None
    found = parse_instant(text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is not a time; write it like 2026-11-30T02:00Z", param_hint="--now")
    return found


def _language(asked: Language | None, memory: Memory) -> str:
    """The language to show: asked for, else set in the memory, else the terminal's."""
    if asked is not None:
        return asked.value
    config = memory.config.load()
    if "language" in config.model_fields_set:
        return config.language
    spoken = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "zh" if spoken.lower().startswith("zh") else "en"


def _console(*, err: bool = False) -> Console:
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() else 120
    return Console(file=stream, width=width, markup=False, highlight=False, soft_wrap=False)


def _show(what: RenderableType, *, err: bool = False) -> None:
    _console(err=err).print(what)


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _visible(text: str) -> str:
    """Text from a log without what could steer a terminal."""
    return "".join(char if char in "\n\t" or char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def _fail(message: str) -> NoReturn:
    typer.echo(f"selfnote: {message}", err=True)
    sys.exit(USAGE_ERROR)


def main() -> None:
    """The ``selfnote`` command: 0 also with findings, 1 with --fail-on, 2 for usage or what cannot be read."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        app()
    except SelfnoteError as error:
        _fail(str(error))
    except BrokenPipeError:
        # The reader (head, less) has what it wanted.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        _fail(f"{error.filename or 'a file'} cannot be read: {error.strerror or error}")


if __name__ == "__main__":
    main()
