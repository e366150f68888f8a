"""The command line: one short function per verb, each a thin call into the library."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, Protocol

import typer

from selfnote import __version__
from selfnote.errors import Conflict, LimitExceeded, NotFound, SelfnoteError
from selfnote.records.facts import ItemResult
from selfnote.times import clock, format_instant, local_time, parse_instant

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from selfnote.memory import Memory
    from selfnote.records.facts import Facts
    from selfnote.records.notes import Note
    from selfnote.sessions.log import SessionLog
    from selfnote.sessions.model import Event, Message

USAGE_ERROR = 2
FINDINGS_FOUND = 1
#: Some items of a bulk act were refused; the others were done.
REFUSED = 1

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


class TierName(StrEnum):
    """The tiers of a note."""

    CORE = "core"
    STABLE = "stable"
    TEMP = "temp"


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
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report as one self-contained page.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="DIR", help="Write every table as a CSV file into DIR.")
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", metavar="PREVIOUS.json", help="Tell what changed since a report made with --json."),
    ] = None,
    tokenizer: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A model's tokenizer.json; default selfnote/tokenizer.json of the memory."),
    ] = None,
) -> None:
    """Audit a memory: what would be injected, what is squeezed out and why, what is silent, what the logs hold.

    Opens the memory read-only. Example: selfnote audit --home ~/.dsh --json > last.json; later: --compare last.json
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
    report = memory.audit(now=instant, progress=not as_json and sys.stderr.isatty(), tokenizer=tokenizer)
    tongue = _language(lang, memory)
    changes = report.compare(compare, language=tongue) if compare is not None else None
    written = [report.write_html(html, language=tongue, changes=changes)] if html is not None else []
    written += report.to_csv(csv, language=tongue) if csv is not None else []
    if as_json:
        _print_json(changes.to_json() if changes is not None else report.to_json())
    elif changes is not None:
        _show(changes.render())
    elif not written:
        if demo:
            from selfnote.phrases import REPORT

            _show(REPORT[tongue]["demo"].format(home=own) + "\n")
        _show(render(report, language=tongue))
    for path in written:
        typer.echo(path, err=as_json)
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
        from selfnote.audit.audited import injection_json

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
    from selfnote.audit.audited import session_row
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


@app.command()
def capture(
    sessions_: Annotated[
        list[str] | None, typer.Argument(metavar="[SESSION...]", help="Sessions to scan; a unique beginning is enough.")
    ] = None,
    home: HomeOption = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Scan every session, incrementally.")] = False,
    as_json: JsonOption = False,
    lang: LanguageOption = None,
) -> None:
    """Look through session logs for standing demands; without arguments, tell how listening goes.

    What is found becomes a candidate and waits for you. Example: selfnote capture --all
    """
    scanning = bool(sessions_) or every
    memory = _open(home, read_only=not scanning)
    if not scanning:
        status = memory.capture.status()
        if as_json:
            _print_json(_plain(status))
        else:
            typer.echo(status.describe(_language(lang, memory)))
        return
    if every:
        results = memory.capture.scan_all(progress=not as_json and sys.stderr.isatty()).results
    else:
        results = tuple(memory.capture.scan(one) for one in sessions_ or ())
    if as_json:
        _print_json([_plain(one) for one in results])
        return
    for one in results:
        if one.judged or one.errors:
            typer.echo(
                f"{one.session}: {one.judged} messages judged, {one.written} candidates, {one.corrections} corrections"
            )
        for error in one.errors:
            typer.echo(f"{one.session}: {error}", err=True)
    typer.echo(f"{sum(one.written for one in results)} candidates from {len(results)} sessions")


def _plain(value: Any) -> Any:
    """A report's value as JSON can hold it."""
    from dataclasses import fields, is_dataclass

    match value:
        case datetime():
            return format_instant(value)
        case dict():
            return {str(key): _plain(one) for key, one in value.items()}
        case list() | tuple():
            named = getattr(value, "_asdict", None)
            return _plain(named()) if named is not None else [_plain(one) for one in value]
        case str() | int() | float() | None:
            return value
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return str(value)


# --- finding again --------------------------------------------------------------------------------
class Side(StrEnum):
    """Who said it."""

    USER = "user"
    ASSISTANT = "assistant"


@app.command()
def recall(
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="Words to look for, in any language.")],
    home: HomeOption = None,
    *,
    limit: Annotated[int, typer.Option(metavar="N", help="Hits to show, 1 to 1000.")] = 10,
    role: Annotated[Side | None, typer.Option(help="Only what this side said.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Search what you and the agent really said, in every session; counts nothing.

    Example: selfnote recall 数据库 端口
    """
    memory = _open(home, read_only=False)
    found = memory.recall(
        " ".join(query), limit=limit, role=role.value if role else None, progress=not as_json and sys.stderr.isatty()
    )
    _tell(found, as_json=as_json)


@app.command()
def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="Words that all have to occur.")],
    home: HomeOption = None,
    *,
    limit: Annotated[int, typer.Option(metavar="N", help="Hits to show, 1 to 1000.")] = 10,
    as_json: JsonOption = False,
    now: NowOption = None,
) -> None:
    """Search approved facts and the agent's summaries; counts nothing.

    Example: selfnote search 端口
    """
    _tell(_open(home).search(" ".join(query), limit=limit, now=_instant(now)), as_json=as_json)


@app.command()
def why(
    which: Annotated[str, typer.Argument(metavar="ID|SESSION#SEQ", help="A fact's or summary's id, or a source.")],
    home: HomeOption = None,
    *,
    around: Annotated[int, typer.Option(metavar="N", help="Messages shown before and after.")] = 2,
    as_json: JsonOption = False,
) -> None:
    """Show where a fact comes from: the message it was taken from, read from the session again, with its neighbours.

    Example: selfnote why f-3fa9c1d2e4b5
    """
    _tell(_open(home).evidence(which, around=around), as_json=as_json)


PackagesOption = Annotated[
    list[Path] | None, typer.Option("--package", metavar="FILE", help="An exported package to look into as well.")
]
SentenceArgument = Annotated[str, typer.Argument(metavar="TEXT", help="A sentence or a part of one.")]


@app.command()
def where(
    text: SentenceArgument, home: HomeOption = None, *, packages: PackagesOption = None, as_json: JsonOption = False
) -> None:
    """List every place a sentence still stands in: memory, archives, ledgers, caches, sessions.

    Example: selfnote where 数据库端口
    """
    progress = not as_json and sys.stderr.isatty()
    _tell(_open(home).where_is(text, packages=packages or (), progress=progress), as_json=as_json)


@app.command()
def forget(
    text: SentenceArgument,
    home: HomeOption = None,
    *,
    do_it: Annotated[bool, typer.Option("--yes", help="Remove it; without this only the list is shown.")] = False,
    backup: Annotated[
        bool, typer.Option("--backup/--no-backup", help="Keep the changed files under selfnote/backup/.")
    ] = True,
    packages: PackagesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove a sentence from the memory's own files; without --yes only tell what would go. Sessions are never touched.

    Example: selfnote forget 我的旧电话 --yes
    """
    memory = _open(home, read_only=not do_it)
    progress = not as_json and sys.stderr.isatty()
    report = memory.forget(text, dry_run=not do_it, backup=backup, packages=packages or (), progress=progress)
    _tell(report, as_json=as_json)


@app.command("export")
def export_(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to; selfnote-YYYY-MM-DD.json here when left out.")
    ] = None,
    home: HomeOption = None,
    *,
    as_json: JsonOption = False,
    now: NowOption = None,
) -> None:
    """Write notes, facts, habits, settings and persona as one file for another machine; an existing file is kept.

    With --json the package itself is printed. Example: selfnote export my-memory.json
    """
    from selfnote.storage.atomic import write_atomic
    from selfnote.upkeep.transfer import encode_package, package_name

    memory, instant = _open(home), _instant(now) or clock()
    package = memory.export_package(now=instant)
    if as_json:
        typer.echo(encode_package(package), nl=False)
        return
    path = file if file is not None else Path(package_name(instant, memory.zone()))
    if path.exists():
        raise LimitExceeded(f"{path} is there already; name another file - nothing was written")
    write_atomic(path, encode_package(package).encode("utf-8"))
    typer.echo(f"{path}: {len(package['facts'])} facts, {len(package['notes'])} notes, {len(package['habits'])} habits")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What export wrote.", exists=True, dir_okay=False)],
    home: HomeOption = None,
    *,
    keep_status: Annotated[
        bool, typer.Option("--keep-status", help="What was approved there is approved here, too.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would come.")] = False,
    as_json: JsonOption = False,
    lang: LanguageOption = None,
    now: NowOption = None,
) -> None:
    """Bring in what another memory exported: nothing here is overwritten, what was approved there waits for you.

    Example: selfnote import my-memory.json --dry-run
    """
    from selfnote.upkeep.transfer import read_package

    memory = _open(home, read_only=dry_run)
    report = memory.import_package(
        read_package(file.read_bytes()), keep_status=keep_status, dry_run=dry_run, now=_instant(now)
    )
    if as_json:
        _print_json([row._asdict() for row in report.rows])
        return
    for row in report.rows:
        typer.echo(_visible(f"{row.action:5} {row.kind:8} {row.text[:80]}{f'  ({row.why})' if row.why else ''}"))
    typer.echo(report.describe(_language(lang, memory)))


index_app = typer.Typer(
    name="index", help="The optional index of what was said: faster recall, derived, holds no text.",
    no_args_is_help=True, rich_markup_mode=None,
)  # fmt: skip
app.add_typer(index_app, name="index")


@index_app.command("status")
def show_index(
    home: HomeOption = None, *, as_json: JsonOption = False, lang: LanguageOption = None, now: NowOption = None
) -> None:
    """Tell whether there is an index and how far behind the sessions it is.

    Example: selfnote index status --json
    """
    memory = _open(home)
    status = memory.index.status(now=_instant(now))
    if as_json:
        _print_json(status.to_json())
        return
    for label, value in status.rows(_language(lang, memory)):
        typer.echo(f"{label}: {value}")


@index_app.command("build")
def build_index(
    home: HomeOption = None,
    *,
    full: Annotated[bool, typer.Option("--full", help="Build anew instead of reading on.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Build the index, or bring it up to date; recall uses it once indexEnabled is set.

    Example: selfnote index build
    """
    memory = _open(home, read_only=False)
    result = memory.index.build(full=full, progress=not as_json and sys.stderr.isatty())
    if as_json:
        _print_json(_plain(result) | {"complete": result.complete})
    else:
        typer.echo(str(result))
        if not memory.config.load().index_enabled:
            typer.echo("recall does not use it yet: indexEnabled is off in config.json", err=True)
    if not result.complete:
        raise typer.Exit(REFUSED)


@index_app.command("drop")
def drop_index(home: HomeOption = None, *, as_json: JsonOption = False) -> None:
    """Remove the index; nothing is lost, recall reads the sessions again.

    Example: selfnote index drop
    """
    dropped = _open(home, read_only=False).index.drop()
    if as_json:
        _print_json({"dropped": dropped})
    else:
        typer.echo("the index is gone" if dropped else "there was no index")


class _Told(Protocol):
    def to_json(self) -> Any: ...


def _tell(result: _Told, *, as_json: bool) -> None:
    """A result as its own text, or as JSON."""
    if as_json:
        _print_json(result.to_json())
    else:
        typer.echo(_visible(str(result)))


# --- deciding -------------------------------------------------------------------------------------
IdsArgument = Annotated[list[str], typer.Argument(metavar="ID...", help="One or more ids.")]


@app.command()
def candidates(home: HomeOption = None, *, as_json: JsonOption = False, lang: LanguageOption = None) -> None:
    """List the candidates that wait for you: flagged first, then most often heard, then oldest.

    Example: selfnote candidates --json
    """
    from selfnote.audit.text_report import candidate_table
    from selfnote.records.fact_lines import waiting_order

    memory = _open(home)
    waiting = waiting_order(memory.facts.candidates())
    if as_json:
        _print_json([fact.model_dump(mode="json", by_alias=True) | {"revision": fact.revision} for fact in waiting])
    else:
        _show(candidate_table(waiting, _language(lang, memory), limit=None))


@app.command()
def approve(
    identifiers: IdsArgument,
    home: HomeOption = None,
    *,
    replaces: Annotated[str | None, typer.Option(metavar="ID", help="The fact to retire in the same act.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Approve candidates: from the next turn on they may be injected.

    Example: selfnote approve f-3fa9c1d2e4b5 --replaces f-0c1d2e3f4a5b
    """
    if replaces is not None and len(identifiers) != 1:
        raise typer.BadParameter("one fact replaces one other; name a single ID", param_hint="--replaces")
    if len(identifiers) == 1:
        _decide(
            home, _single(identifiers[0], lambda facts, one: facts.approve(one, via="cli", replaces=replaces)), as_json
        )
    else:
        _decide(home, lambda facts: facts.approve(identifiers, via="cli"), as_json)


@app.command()
def retire(identifiers: IdsArgument, home: HomeOption = None, *, as_json: JsonOption = False) -> None:
    """Retire candidates or approved facts: they stay in the store for the record, and are not injected.

    Example: selfnote retire f-3fa9c1d2e4b5 f-0c1d2e3f4a5b
    """
    _decide(home, lambda facts: facts.retire(identifiers, via="cli"), as_json)


@app.command()
def undo(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="A fact's id.")],
    home: HomeOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Take back the last approval or retirement of a fact; what it replaced comes back too.

    Example: selfnote undo f-3fa9c1d2e4b5
    """
    _decide(home, _single(identifier, lambda facts, one: facts.undo(one, via="cli")), as_json)


def _single(identifier: str, act: Callable[[Facts, str], Any]) -> Callable[[Facts], list[ItemResult]]:
    """An act on one fact by itself, told as an item."""

    def run(facts: Facts) -> list[ItemResult]:
        try:
            return [ItemResult(identifier, act(facts, identifier))]
        except SelfnoteError as error:
            return [ItemResult(identifier, None, error)]

    return run


def _decide(home: Path | None, act: Callable[[Facts], Any], as_json: bool) -> None:
    """Run an owner's act and tell, item by item, what became of it; exit with 1 when an item was refused."""
    results: list[ItemResult] = act(_open(home, read_only=False).facts)
    if as_json:
        _print_json(
            [
                {"id": one.id, "ok": one.ok, "status": one.fact.status if one.fact else None}
                | ({} if one.error is None else {"error": str(one.error)})
                for one in results
            ]
        )
    else:
        for one in results:
            typer.echo(f"{one.id}: {one.error or (one.fact.status if one.fact else '')}", err=not one.ok)
    if not all(one.ok for one in results):
        raise typer.Exit(REFUSED)


@app.command()
def corrections(
    home: HomeOption = None,
    *,
    after: Annotated[str | None, typer.Option(metavar="CURSOR", help="Go on after this cursor.")] = None,
    dismiss: Annotated[str | None, typer.Option(metavar="ID", help="Set one aside instead of listing.")] = None,
    as_json: JsonOption = False,
    lang: LanguageOption = None,
) -> None:
    """List what you corrected the agent in, newest first, 30 a page; what was said twice is marked.

    Example: selfnote corrections --json
    """
    from selfnote.audit.text_report import correction_table

    memory = _open(home, read_only=dismiss is None)
    if dismiss is not None:
        gone = memory.corrections.dismiss(dismiss)
        typer.echo(f"{gone.id}: {gone.status}")
        return
    page = memory.corrections.page(after)
    twice = {one.id for group in memory.corrections.repeated() for one in group}
    if as_json:
        items = [one.model_dump(mode="json", by_alias=True) | {"repeated": one.id in twice} for one in page.items]
        _print_json({"items": items, "next": page.next})
        return
    _show(correction_table(page.items, twice, _language(lang, memory), memory.zone()))
    if page.next is not None:
        typer.echo(f"more: selfnote corrections --after {page.next}")


# --- notes ----------------------------------------------------------------------------------------
note_app = typer.Typer(help="The agent's notes about itself.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(note_app, name="note")
NoteArgument = Annotated[str, typer.Argument(metavar="ID", help="A note's id, as `selfnote note list` shows it.")]


@note_app.command("list")
def list_notes(home: HomeOption = None, *, as_json: JsonOption = False, lang: LanguageOption = None) -> None:
    """List the notes with their tier, pin, date and whether they have expired.

    Example: selfnote note list --json
    """
    from selfnote.audit.text_report import note_table
    from selfnote.records.notes import is_expired
    from selfnote.times import local_date

    memory = _open(home)
    config, today = memory.config.load(), local_date(clock(), memory.zone())
    rows = [(note, is_expired(note, today, config.temp_ttl_days)) for note in memory.notes.list()]
    if as_json:
        _print_json([_note_json(note) | {"expired": expired} for note, expired in rows])
    else:
        _show(note_table(rows, _language(lang, memory)))


@note_app.command("add")
def add_note(
    text: Annotated[str, typer.Argument(help="One to three sentences, in the first person of the agent.")],
    home: HomeOption = None,
    *,
    tier: Annotated[TierName, typer.Option(help="core, stable or temp.")] = TierName.STABLE,
    pinned: Annotated[bool, typer.Option("--pinned", help="First within its tier.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write one note.

    Example: selfnote note add "我先跑测试，再说好了" --tier stable
    """
    _tell_note(_open(home, read_only=False).notes.add(text, tier=tier.value, pinned=pinned), as_json=as_json)


@note_app.command("edit")
def edit_note(identifier: NoteArgument, text: str, home: HomeOption = None, *, as_json: JsonOption = False) -> None:
    """Reword a note; its date stays, but for an expired temporary one.

    Example: selfnote note edit n-256efe98701a "我先跑测试"
    """
    _tell_note(_open(home, read_only=False).notes.edit(identifier, text), as_json=as_json)


@note_app.command("retier")
def retier_note(
    identifier: NoteArgument, tier: TierName, home: HomeOption = None, *, as_json: JsonOption = False
) -> None:
    """Move a note to another tier.

    Example: selfnote note retier n-256efe98701a stable
    """
    _tell_note(_open(home, read_only=False).notes.retier(identifier, tier.value), as_json=as_json)


@note_app.command("pin")
def pin_note(
    identifier: NoteArgument,
    home: HomeOption = None,
    *,
    off: Annotated[bool, typer.Option("--off", help="Unpin it.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Pin a note within its tier; pinning many equals pinning none.

    Example: selfnote note pin n-256efe98701a
    """
    _tell_note(_open(home, read_only=False).notes.pin(identifier, not off), as_json=as_json)


@note_app.command("delete")
def delete_note(identifier: NoteArgument, home: HomeOption = None, *, as_json: JsonOption = False) -> None:
    """Move a note to the archive.

    Example: selfnote note delete n-256efe98701a
    """
    _tell_note(_open(home, read_only=False).notes.delete(identifier), as_json=as_json)


def _note_json(note: Note) -> dict[str, Any]:
    return {
        "id": note.id,
        "text": note.text,
        "tier": note.tier,
        "pinned": note.pinned,
        "on": note.on.isoformat() if note.on else None,
        "line": note.line,
        "revision": note.revision,
        "archived": [one.id for one in note.archived],
    }


def _tell_note(note: Note, *, as_json: bool) -> None:
    if as_json:
        _print_json(_note_json(note))
        return
    from selfnote.records.notes import format_note

    typer.echo(f"{note.id}  {format_note(note)}")
    for one in note.archived:
        typer.echo(f"to the archive, notes.md being full: {one.text}", err=True)


# --- persona --------------------------------------------------------------------------------------
persona_app = typer.Typer(help="The persona you wrote.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(persona_app, name="persona")


@persona_app.command("show")
def show_persona(home: HomeOption = None, *, as_json: JsonOption = False) -> None:
    """Show the three parts and how much of their limits they take.

    Example: selfnote persona show --json
    """
    from selfnote.config import L0_L1_LIMIT, L0_LIMIT
    from selfnote.records.persona import count_chars

    persona = _open(home).persona.load()
    l0 = count_chars(persona.l0)
    if as_json:
        parts = {"l0": persona.l0, "l1": persona.l1, "l2": persona.l2}
        _print_json(parts | {"l0Chars": l0, "l0L1Chars": persona.chars, "revision": persona.revision})
        return
    for name, text in (("L0", persona.l0), ("L1", persona.l1), ("L2", persona.l2)):
        typer.echo(f"# {name}\n{text}\n")
    typer.echo(f"L0 {l0} / {L0_LIMIT}, L0 + L1 {persona.chars} / {L0_L1_LIMIT} characters")


@persona_app.command("edit")
def edit_persona(home: HomeOption = None) -> None:
    """Open the persona in $VISUAL or $EDITOR; what is over a limit is refused with the count, and nothing is lost.

    Example: EDITOR=nano selfnote persona edit
    """
    from selfnote.records.persona import HEADINGS, PARTS, parse_persona
    from selfnote.storage.lines import read_text_file

    memory = _open(home, read_only=False)
    before = memory.persona.load()
    with tempfile.NamedTemporaryFile("w", suffix=".md", delete=False, encoding="utf-8") as draft:
        draft.write("\n".join(f"{HEADINGS[part]}\n{getattr(before, part)}\n" for part in PARTS))
    path = Path(draft.name)
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    if subprocess.run([*command, str(path)], check=False).returncode != 0:  # noqa: S603 - the editor the owner chose
        raise Conflict(f"the editor {command[0]} failed; nothing was saved, your draft is in {path}")
    wanted = parse_persona(read_text_file(path))
    try:
        saved = memory.persona.save(l0=wanted.l0, l1=wanted.l1, l2=wanted.l2, expect=before.revision)
    except SelfnoteError as error:
        raise type(error)(f"{error}\nYour draft is kept in {path}") from error
    path.unlink()
    typer.echo("nothing changed" if saved.revision == before.revision else "saved; it shows from the next turn on")


# --- in a browser ---------------------------------------------------------------------------------
PortOption = Annotated[int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0: any free port.")]
NoBrowserOption = Annotated[bool, typer.Option("--no-browser", help="Only print the address.")]
DemoOption = Annotated[bool, typer.Option("--demo", help="On a copy of the bundled demo memory, thrown away after.")]


@app.command()
def panel(
    home: HomeOption = None,
    *,
    port: PortOption = 0,
    no_browser: NoBrowserOption = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Show all, change nothing.")] = False,
    demo: DemoOption = False,
    lang: LanguageOption = None,
) -> None:
    """Decide about the memory in a browser: a page on this machine, for you alone, until Ctrl-C.

    Needs the extra: pip install "selfnote[app]". Example: selfnote panel --demo
    """
    from selfnote.panels.app import serve_panel

    _check_home(home, demo=demo)
    serve_panel(home, demo=demo, read_only=read_only, language=lang, port=port, browser=not no_browser, say=_say)


@app.command()
def lab(
    home: HomeOption = None,
    *,
    into: Annotated[
        Path | None, typer.Option("--into", metavar="DIR", help="Keep the notebooks here; default a new folder.")
    ] = None,
    port: PortOption = 0,
    no_browser: NoBrowserOption = False,
    demo: DemoOption = False,
) -> None:
    """Open JupyterLab on a copy of the notebooks; selfnote.open_memory() in them opens the memory named here.

    Needs the extra: pip install "selfnote[lab]". Example: selfnote lab --demo
    """
    from selfnote.panels.app import serve_lab

    _check_home(home, demo=demo)
    serve_lab(home, demo=demo, into=into, port=port, browser=not no_browser, say=_say)


def _check_home(home: Path | None, *, demo: bool) -> None:
    """Refuse what cannot be read, and say where there is nothing yet, before a page is served."""
    from selfnote.audit.report import has_memory

    if demo and home is not None:
        raise typer.BadParameter("--demo serves its own copy; name a home or the demo, not both", param_hint="--demo")
    if demo:
        return
    memory = _open(home)
    if not has_memory(memory.home):
        typer.echo(f"there is no memory in {memory.home.root} yet; --demo shows what one looks like", err=True)


def _say(sentence: str) -> None:
    """A sentence of a page that is served, at once also where the output is read by a program."""
    typer.echo(sentence)
    sys.stdout.flush()


# --- the edges ------------------------------------------------------------------------------------
def _open(home: Path | None, *, read_only: bool = True) -> Memory:
    from selfnote import open_memory

    memory = open_memory(home, read_only=read_only)
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


def _language(asked: Language | None, memory: Memory) -> Literal["zh", "en"]:
    """The language to show: asked for, else set in the memory, else the terminal's."""
    if asked is not None:
        return "zh" if asked is Language.ZH else "en"
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
