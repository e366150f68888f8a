"""The command line as its users call it: real processes, exit codes, plain words."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import selfnote
from selfnote.demo import DEMO_NOW, bundled_home
from selfnote.times import format_instant

WHEN = format_instant(DEMO_NOW)
VERBS = ("audit", "inject", "why-not", "demo", "sessions", "show")


def run(*arguments: str, expect: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "selfnote.cli", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "LANG": "C.UTF-8", **variables},
        check=False,
    )
    assert done.returncode == expect, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done


def snapshot(folder: Path) -> dict[str, str]:
    """Every file with its digest and mtime."""
    return {
        str(path.relative_to(folder)): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return selfnote.demo_home(tmp_path_factory.mktemp("demo") / ".dsh")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(verb: str):
    shown = run(verb, "--help").stdout
    assert f"Example: selfnote {verb}" in " ".join(shown.split())


def test_the_audit_shows_bars_squeezed_attribution_candidates_conflicts_and_sessions(demo: Path):
    """Main job; S2-056, S2-093, S2-094, S2-096, S2-105."""
    shown = run("audit", "--home", str(demo), "--now", WHEN, "--lang", "en").stdout
    for part in (
        "What this turn's prompt would hold",
        "Squeezed out (skipped whole, never cut)",
        "Attribution of the 83 approved facts",
        "15 candidates wait for you",
        "2 pairs of approved facts in conflict",
        "10 sessions (read only)",
        "things to look at",
    ):
        assert part in shown, part
    assert "952 of 1000 characters" in shown


def test_the_audit_speaks_chinese_and_keeps_its_columns(demo: Path):
    """Labels come from phrases.py; a wide character takes two columns."""
    shown = run("audit", "--home", str(demo), "--now", WHEN, LANG="zh_CN.UTF-8").stdout
    assert "整条跳过，不截半句" in shown
    assert "注入归属（已采纳的 83 条）" in shown
    assert "静默" in shown


def test_the_audit_writes_nothing(demo: Path):
    """S2-095, COMPLAINTS 17: looking does not count as use."""
    before = snapshot(demo)
    for _ in range(3):
        run("audit", "--home", str(demo), "--now", WHEN, "--json")
    run("inject", "--home", str(demo), "--now", WHEN, "--explain")
    run("sessions", "--home", str(demo))
    assert snapshot(demo) == before


def test_the_json_audit_agrees_with_the_library(demo: Path):
    """One function decides: the CLI prints what the library says."""
    told = json.loads(run("audit", "--home", str(demo), "--now", WHEN, "--json").stdout)
    report = selfnote.open_memory(demo, read_only=True).audit(now=DEMO_NOW)
    assert told == json.loads(json.dumps(report.to_json()))
    injection = told["injection"]
    used = sum(segment["used"] for segment in injection["segments"].values())
    assert used == injection["totalChars"] <= 1000
    assert len(injection["text"]) == used + injection["framingChars"] + injection["hintChars"]


def test_the_audit_writes_a_page_and_tables_where_it_is_told_to(demo: Path, tmp_path: Path):
    """Issue 5.8: `--html FILE` writes it; tables export to CSV; the memory itself stays as it is."""
    before = snapshot(demo)
    audited = ("audit", "--home", str(demo), "--now", WHEN, "--lang", "en")
    page, tables = tmp_path / "report.html", tmp_path / "tables"
    told = run(*audited, "--html", str(page), "--csv", str(tables)).stdout.split()
    assert told == [str(page), *(str(tables / path) for path in (one.rpartition("/")[2] for one in told[1:]))]
    assert {Path(one).name for one in told[1:]} == {path.name for path in tables.iterdir()}
    report = selfnote.open_memory(demo, read_only=True).audit(now=DEMO_NOW)
    assert page.read_text(encoding="utf-8") == report.to_html(language="en")
    both = run(*audited, "--html", str(page), "--json")
    assert json.loads(both.stdout)["snapshot"] == report.snapshot
    assert both.stderr.strip() == str(page)
    assert snapshot(demo) == before


def test_the_audit_never_writes_into_the_memory(demo: Path):
    """S2-007: least of all over the owner's own files."""
    before = snapshot(demo)
    for option, place in (("--html", "selfnote/notes.md"), ("--html", "sessions/x.html"), ("--csv", "memory")):
        refused = run("audit", "--home", str(demo), option, str(demo / place), expect=2)
        assert "inside the memory" in refused.stderr
    assert snapshot(demo) == before


def test_the_audit_tells_what_changed_since_a_kept_report(tmp_path: Path):
    home = selfnote.demo_home(tmp_path / ".dsh")
    audited = ("audit", "--home", str(home), "--now", WHEN, "--lang", "en")
    last = tmp_path / "last.json"
    last.write_text(run(*audited, "--json").stdout, encoding="utf-8")
    assert "Nothing changed." in run(*audited, "--compare", str(last)).stdout
    fact = selfnote.open_memory(home).facts.candidates()[1]
    run("approve", fact.id, "--home", str(home))
    shown = run(*audited, "--compare", str(last), "--html", str(tmp_path / "report.html"))
    assert "approved 1" in shown.stdout
    assert fact.id in shown.stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "What changed since the last audit" in page
    told = json.loads(run(*audited, "--compare", str(last), "--json").stdout)
    assert told["same"] is False
    assert [one["id"] for one in told["changes"] if one["kind"] == "fact approved"] == [fact.id]
    assert "does not exist" in run(*audited, "--compare", str(tmp_path / "nothing.json"), expect=2).stderr
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    assert "is no JSON report" in run(*audited, "--compare", str(tmp_path / "other.json"), expect=2).stderr


def test_a_vocabulary_that_is_none_is_named(demo: Path, tmp_path: Path):
    missing = run("audit", "--home", str(demo), "--tokenizer", str(tmp_path / "tokenizer.json"), expect=2)
    assert "does not exist" in missing.stderr


def test_inject_prints_exactly_the_text_and_counts_only_with_record(tmp_path: Path):
    home = selfnote.demo_home(tmp_path / ".dsh")
    before = snapshot(home)
    text = run("inject", "--home", str(home), "--now", WHEN).stdout
    memory = selfnote.open_memory(home, read_only=True)
    assert text == selfnote.assemble_injection(memory, now=DEMO_NOW).text + "\n"
    assert snapshot(home) == before
    recorded = run(
        "inject", "--home", str(home), "--now", WHEN, "--record", "--session", "s-cli", "--turn", "1", "--json"
    ).stdout
    assert json.loads(recorded)["recorded"] is True
    assert '"session":"s-cli"' in (home / "memory" / "hits.jsonl").read_text(encoding="utf-8")


def test_inject_explain_shows_the_bill(demo: Path):
    done = run("inject", "--home", str(demo), "--now", WHEN, "--explain", "--lang", "en")
    assert "Squeezed out" in done.stderr
    assert "Squeezed out" not in done.stdout, "a pipe gets the text alone"


def test_why_not_answers_in_the_memorys_language(demo: Path):
    conflict = selfnote.open_memory(demo, read_only=True).audit(now=DEMO_NOW).conflicts[0]
    answer = run("why-not", conflict[0], "--home", str(demo), "--now", WHEN).stdout
    assert conflict[1] in answer
    told = json.loads(run("why-not", conflict[0], "--home", str(demo), "--now", WHEN, "--json").stdout)
    assert told["answer"] == answer.strip()
    assert "nothing has the id" in run("why-not", "f-nobody", "--home", str(demo), expect=2).stderr


def test_show_prints_the_message_behind_a_source(demo: Path):
    """S2-081: a candidate's source opens its message; a unique beginning of the session is enough."""
    shown = run("show", "session-aaaaaaaa#43", "--home", str(demo)).stdout
    assert "以后回答先给结论，细节等我问。" in shown
    told = json.loads(run("show", "session-aaaaaaaa#43", "--home", str(demo), "--json").stdout)
    assert told["byOwner"] is True
    assert told["role"] == "user"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("session-nobody#1", "session-nobody"),
        ("session-aaaaaaaa#99999999", "99999999"),
        ("owner:notebook", "no session message"),
        ("nonsense", "is not one of"),
    ],
)
def test_a_source_that_leads_nowhere_is_named_in_plain_words(demo: Path, source: str, words: str):
    assert words in run("show", source, "--home", str(demo), expect=2).stderr


def test_an_event_that_is_no_message_is_shown_as_what_it_is(demo: Path):
    shown = run("show", "session-aaaaaaaa#4", "--home", str(demo)).stdout
    assert "turn/start" in shown


def test_a_home_that_does_not_exist_is_told_in_plain_words_and_nothing_is_made(tmp_path: Path):
    missing = tmp_path / "nothing" / ".dsh"
    shown = run("audit", "--home", str(missing), "--lang", "en").stdout
    assert "has no memory yet" in shown
    assert not missing.exists()
    assert run("inject", "--home", str(missing)).stdout == "\n"
    assert json.loads(run("sessions", "--home", str(missing), "--json").stdout) == []


def test_without_a_memory_or_demo_audits_the_bundled_one_and_says_so(tmp_path: Path):
    """`make audit` on a new machine."""
    done = run("audit", "--or-demo", "--lang", "en", DSH_HOME=str(tmp_path / ".dsh"))
    assert "bundled demo memory" in done.stdout
    assert "952 of 1000" in done.stdout


def test_with_a_memory_or_demo_audits_the_owners(tmp_path: Path):
    home = tmp_path / ".dsh"
    selfnote.open_memory(home).notes.add("我先跑测试")
    done = run("audit", "--or-demo", "--lang", "en", DSH_HOME=str(home))
    assert "bundled demo memory" not in done.stdout
    assert "Notes: 0 core, 1 stable" in done.stdout


def test_findings_exit_with_0_unless_asked(tmp_path: Path):
    home = tmp_path / ".dsh"
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "facts.jsonl").write_text('{"id": "f-1", "text": "好"}\n}{\n', encoding="utf-8")
    shown = run("audit", "--home", str(home), "--lang", "en").stdout
    assert "facts.jsonl line 2 is kept but not used" in shown
    run("audit", "--home", str(home), "--fail-on", "findings", expect=1)


def test_a_half_broken_home_still_shows_the_rest(tmp_path: Path):
    """Bad input is reported and kept, never fatal to its neighbours."""
    home = selfnote.demo_home(tmp_path / ".dsh")
    (home / "selfnote" / "config.json").write_text("{ not json", encoding="utf-8")
    (home / "selfnote" / "notes.md").write_bytes(b"- 2026-11-29 [\xe7\xa8\xb3\xe5\xae\x9a] \xff\xfe\n- \xe6\x88\x91\n")
    with (home / "memory" / "facts.jsonl").open("ab") as facts:
        facts.write(b'{"id": "f-half", "text": "\n\x00\x00\x00\n')
    with (home / "memory" / "hits.jsonl").open("ab") as hits:
        hits.write(b"nonsense\n")
    log = next((home / "sessions").rglob("session.jsonl.zstd"))
    log.write_bytes(log.read_bytes() + b"garbage!")
    shown = run("audit", "--home", str(home), "--now", WHEN, "--lang", "en").stdout
    for words in ("config.json cannot be read", "notes.md line 1", "facts.jsonl line", "hits.jsonl line", "corrupt"):
        assert words in shown, words
    assert "Attribution of the 83 approved facts" in shown


def test_what_cannot_be_opened_exits_with_2(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("x")
    assert "is a file" in run("audit", "--home", str(file), expect=2).stderr
    run("audit", "--now", "yesterday", expect=2)
    run("audit", "--no-such-option", expect=2)
    run("nonsense", expect=2)


def test_demo_puts_a_writable_copy_where_asked_and_overwrites_nothing(tmp_path: Path):
    target = tmp_path / "copy"
    told = json.loads(run("demo", str(target), "--json").stdout)
    assert told == {"home": str(target), "now": WHEN}
    assert snapshot(target).keys() == snapshot(bundled_home()).keys()
    selfnote.open_memory(target).notes.add("可以写")
    assert "is not empty" in run("demo", str(target), expect=2).stderr


def test_the_demo_copy_is_whole_in_a_directory_made_by_the_library():
    home = selfnote.demo_home()
    try:
        assert len(selfnote.open_memory(home, read_only=True).facts.all()) >= 90
    finally:
        shutil.rmtree(home.parent)


def test_the_cli_never_steers_a_terminal_with_what_a_log_says(tmp_path: Path, demo: Path):
    """COMPLAINTS 58: what is shown of a message has no escape sequences."""
    from selfnote.cli import _visible

    assert _visible("a\x1b[31mb\u202ec\n\td") == "a\\u001b[31mb\\u202ec\n\td"
