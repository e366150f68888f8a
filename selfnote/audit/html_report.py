"""The audit as one HTML page that needs nothing else: no script, no request, light and dark, both languages.

Everything shown is escaped; a character that hides, or turns the writing round, stands as its number. The page is a
function of the report alone: the same report gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from selfnote.audit import sheets
from selfnote.audit.audited import Audited
from selfnote.audit.sheets import Cell, Column, Sheet
from selfnote.phrases import ATTRIBUTION_LABELS, REPORT

#: Rows of one table, and sentences of the list of findings; CSV and JSON have all.
ROWS = 200
_LANGUAGE_TAGS = {"zh": "zh-Hans", "en": "en"}
_HAN = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]")

#: Text takes the colour of its surroundings, so that a notebook's own theme holds; a page sets both below.
_STYLE = """
.selfnote{font-family:system-ui,"Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif;line-height:1.5}
.selfnote h1,.selfnote h2,.selfnote h3{line-height:1.25;margin:1.6em 0 .5em;overflow-wrap:anywhere}
.selfnote h1{font-size:1.6em;margin-top:0}.selfnote h2{font-size:1.2em}.selfnote h3{font-size:1.05em}
.selfnote p{margin:.4em 0;max-width:72em;overflow-wrap:anywhere}
.selfnote pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.5em 0;padding:.8em 1em;max-width:72em;
border:1px solid var(--line,#8886);border-radius:4px;font-family:inherit;background:var(--field,transparent)}
.selfnote .wide{overflow-x:auto;margin:.5em 0}
.selfnote table{border-collapse:collapse;font-size:.92em;font-variant-numeric:tabular-nums;margin:0}
.selfnote caption{text-align:start;font-weight:600;padding:.3em 0;white-space:nowrap}
.selfnote.selfnote th,.selfnote.selfnote td{text-align:start;vertical-align:top;padding:.28em .9em .28em 0;
border-bottom:1px solid var(--line,#8886);background:transparent;white-space:nowrap}
.selfnote th{font-weight:600}.selfnote tbody th{font-weight:400}
.selfnote.selfnote .number{text-align:end}
.selfnote .text{white-space:pre-wrap;overflow-wrap:anywhere;min-width:16em;max-width:46em}
.selfnote .long{white-space:normal;overflow-wrap:anywhere;min-width:9em;max-width:18em}
.selfnote .bar{min-width:11em}
.selfnote .bar span{display:block;height:.75em;margin-top:.4em;border:1px solid var(--line,#8886)}
.selfnote .bar i{display:block;height:100%;background:#2f8a57}
.selfnote li{margin:.2em 0;max-width:72em;overflow-wrap:anywhere}
.selfnote code{border:1px solid currentColor;border-radius:3px;padding:0 .2em;font-size:.85em}
.selfnote .good{color:var(--good,inherit)}.selfnote .warn{color:var(--warn,inherit)}
.selfnote .bad{color:var(--bad,inherit)}.selfnote .info{color:var(--info,inherit)}
.selfnote .bad,.selfnote .warn{font-weight:600}
.selfnote ins,.selfnote del{text-decoration:none}
.selfnote ins{color:var(--good,inherit)}.selfnote del{color:var(--bad,inherit)}
.selfnote .note{color:var(--dim,inherit)}
"""
_PAGE_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1c1e21;--dim:#53585f;--line:#8a8f98;--field:#f6f7f8;
--good:#17663b;--warn:#7a4b00;--bad:#a3161d;--info:#0b5a86}
@media (prefers-color-scheme:dark){:root{--paper:#15171a;--ink:#e7e9ec;--dim:#aab0b8;--line:#6b7280;--field:#1d2024;
--good:#6fd39b;--warn:#f0b95a;--bad:#ff8f8f;--info:#74c0ee}}
body{margin:0;background:var(--paper);color:var(--ink)}
main{padding:1.5em clamp(1em,3vw,2.5em);max-width:84em}
"""
#: Nothing may be fetched or run, whatever a fact says.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


# --- pieces ---------------------------------------------------------------------------------------
def show(text: str) -> str:
    """``text`` escaped, as it may stand in an element: what could hide or turn the writing round is shown by number."""
    if text.isprintable():
        return escape(text)
    return "".join(map(_show_char, text))


def _show_char(char: str) -> str:
    return f"<code>U+{ord(char):04X}</code>" if sheets.hides(char) else escape(char)


def paragraph(text: str, *, kind: str = "") -> str:
    """A sentence of ours, with what it names."""
    return f"<p{_class(kind)}>{show(text)}</p>"


def heading(text: str, level: int) -> str:
    """A heading."""
    return f"<h{level}>{show(text)}</h{level}>"


def verbatim(text: str, language: str) -> str:
    """A text line by line as it is."""
    # A parser drops a newline that comes first in <pre>.
    return f'<pre dir="auto"{_spoken(text, language)}>\n{show(text)}</pre>'


def diff_lines(diff: str, language: str) -> str:
    """A unified diff, what went and what came told apart by more than its colour."""
    marked = {"+": "ins", "-": "del"}
    lines = [
        f"<{tag}>{show(line)}</{tag}>" if (tag := marked.get(line[:1])) else show(line) for line in diff.split("\n")
    ]
    return f'<pre dir="auto"{_spoken(diff, language)}>\n{"<br>".join(lines)}</pre>'


def bullet_list(lines: Iterable[str], language: str) -> str:
    """Sentences as a list."""
    return f"<ul>{''.join(f'<li{_spoken(line, language)}>{show(line)}</li>' for line in lines)}</ul>"


def table(sheet: Sheet, language: str, *, limit: int = ROWS) -> str:
    """A table with its caption and headings, its first ``limit`` rows and how many more there are."""
    caption = show(sheet.caption)
    headings = "".join(map(_heading_cell, sheet.columns))
    rows = "".join(f"<tr>{_cells(sheet.columns, row, language)}</tr>" for row in sheet.rows[:limit])
    rest = len(sheet.rows) - limit
    more = paragraph(REPORT[language]["more"].format(n=rest), kind="note") if rest > 0 else ""
    # A part that scrolls sideways must be reachable by the keyboard, and then have a name.
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{caption_text(sheet)}"><table>'
        f"<caption>{caption}</caption><thead><tr>{headings}</tr></thead><tbody>{rows}</tbody></table></div>{more}"
    )


def caption_text(sheet: Sheet) -> str:
    """A caption as the value of an attribute."""
    return escape("".join(char for char in sheet.caption if char.isprintable()))


def _heading_cell(column: Column) -> str:
    # A bar only repeats the numbers beside it.
    if column.kind == "bar":
        return '<td aria-hidden="true"></td>'
    return f'<th scope="col"{_class(column.kind)}>{show(column.heading)}</th>'


def _cells(columns: tuple[Column, ...], row: tuple[Cell, ...], language: str) -> str:
    first, *others = zip(columns, row, strict=True)
    tag = f'<th scope="row"{_class(first[0].kind, first[1].tone)}>{show(first[1].text)}</th>'
    return tag + "".join(_cell(column, cell, language) for column, cell in others)


def _cell(column: Column, cell: Cell, language: str) -> str:
    if column.kind == "bar":
        return f'<td class="bar" aria-hidden="true"><span><i style="width:{cell.share:.1%}"></i></span></td>'
    direction = ' dir="auto"' if column.kind in {"text", "long"} else ""
    spoken = _spoken(cell.text, language) if column.kind == "text" else ""
    return f"<td{_class(column.kind, cell.tone)}{direction}{spoken}>{show(cell.text)}</td>"


def _class(*names: str) -> str:
    wanted = " ".join(name for name in names if name not in {"", "word", "dim"})
    return f' class="{wanted}"' if wanted else ""


def _spoken(text: str, language: str) -> str:
    """The language of stored Chinese within an English page, for whoever has it read aloud."""
    return ' lang="zh"' if language != "zh" and _HAN.search(text) else ""


def page(title: str, inner: str, language: str) -> str:
    """A whole page around ``inner``."""
    return (
        f'<!doctype html>\n<html lang="{_LANGUAGE_TAGS[language]}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{_STYLE}{_PAGE_STYLE}</style></head>\n"
        f'<body><main class="selfnote">{inner}</main></body></html>\n'
    )


def fragment(inner: str, language: str) -> str:
    """``inner`` as it may stand in a notebook: no ids, no page, the notebook's own colours."""
    return f'<div class="selfnote" lang="{_LANGUAGE_TAGS[language]}"><style>{_STYLE}</style>{inner}</div>'


# --- the report -----------------------------------------------------------------------------------
def report_html(audited: Audited, language: str, *, snapshot: str, changes: str = "", level: int = 1) -> str:
    """The report from its heading on, ``changes`` (HTML) after the head; sections are headed one level lower."""
    words = REPORT[language]
    parts = [
        heading(words["title"].format(home=audited.home.root), level),
        paragraph(words["as_of"].format(now=sheets.format_when(audited.now, audited.zone)), kind="note"),
        paragraph(words["snapshot"].format(snapshot=snapshot), kind="note"),
        changes,
    ]
    if audited.has_memory:
        parts += [*_this_turn(audited, language, level + 1), *_facts(audited, language, level + 1)]
    else:
        parts.append(paragraph(words["no_memory"].format(home=audited.home.root)))
    parts += [*_records(audited, language, level + 1), paragraph(words["read_only"], kind="note")]
    return "\n".join(part for part in parts if part)


def _this_turn(audited: Audited, language: str, level: int) -> list[str]:
    words, injection, tokens = REPORT[language], audited.injection, audited.tokens
    sentences = [paragraph(one) for one in sheets.bill_sentences(injection, language, tokens)]
    said = verbatim(injection.text, language) if injection.text else ""
    parts = [heading(words["model_sees"], level), said, heading(words["bill"], level)]
    if injection.reason in {"off", "delegated"}:
        return [*parts[:1], *sentences]
    return [
        *parts,
        table(sheets.bill_sheet(injection, language, tokens), language),
        *sentences,
        *_titled(words["squeezed_title"], sheets.squeezed_sheet(injection, language), language, level),
    ]


def _facts(audited: Audited, language: str, level: int) -> list[str]:
    words, labels = REPORT[language], ATTRIBUTION_LABELS[language]
    parts = [
        heading(words["facts_title"], level),
        paragraph(words["facts"].format(**audited.statuses)),
        paragraph(words["notes"].format(**audited.notes)),
    ]
    if audited.attribution:
        counts = "　".join(f"{labels[state]} {count}" for state, count in audited.states.items())
        parts.append(paragraph(f"{words['attribution'].format(n=len(audited.attribution))}　{counts}"))
    for sheet in (
        sheets.quiet_sheet(audited, language),
        sheets.candidate_sheet(audited.candidates, language),
        sheets.conflict_sheet(audited, language),
    ):
        parts += [table(sheet, language)] if sheet.rows else []
    return parts


def _records(audited: Audited, language: str, level: int) -> list[str]:
    words = REPORT[language]
    found = [one.sentence(language) for one in audited.findings]
    title = words["findings"].format(n=len(found)) if found else words["findings_none"]
    parts = [heading(title, level), bullet_list(found[:ROWS], language) if found else ""]
    if len(found) > ROWS:
        parts.append(paragraph(words["more"].format(n=len(found) - ROWS), kind="note"))
    if audited.bad_lines:
        parts.append(table(sheets.bad_line_sheet(audited.bad_lines, language), language))
    sessions = sheets.session_sheet(audited.sessions, language, audited.zone)
    return [
        *parts,
        heading(words["sessions_title"], level),
        table(sessions, language) if sessions.rows else paragraph(words["sessions_none"]),
    ]


def _titled(title: str, sheet: Sheet, language: str, level: int) -> list[str]:
    return [heading(title, level), table(sheet, language)] if sheet.rows else []
