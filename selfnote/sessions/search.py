"""Approved facts and active summaries searched together, each with its pointer (S2-029, S2-246, S2-247)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from html import escape
from typing import Any, Literal, NamedTuple

from selfnote import text as texts
from selfnote.errors import LimitExceeded
from selfnote.phrases import SEARCH
from selfnote.records.fact_lines import Fact, open_conflict_pairs
from selfnote.records.heat import heat
from selfnote.records.summaries import Summary
from selfnote.sessions.evidence import Evidence, check, claim_of_summary
from selfnote.sessions.library import Sessions

#: The two constants of BM25: how soon a repeated word stops counting, how much a long text is held against itself.
K1, B = 1.2, 0.75
#: Results a search may be asked for, at most.
LIMIT = 1000


@dataclass(frozen=True, slots=True)
class Found:
    """One fact or summary that holds every keyword.

    ``source`` is its pointer, ``score`` its BM25 score, ``heat`` 0 for a summary. ``conflicts`` are the approved facts
    it contradicts as long as the owner has not decided (COMPLAINTS 35). ``detail`` is an env fact's in full.
    """

    kind: Literal["fact", "summary"]
    id: str
    text: str
    source: str
    score: float
    heat: float
    conflicts: tuple[str, ...] = ()
    record: Fact | Summary | None = None

    @property
    def channel(self) -> str | None:
        """The fact's channel; None for a summary."""
        return self.record.channel if isinstance(self.record, Fact) else None

    @property
    def detail(self) -> str | None:
        """What more a fact holds, in full."""
        return self.record.detail if isinstance(self.record, Fact) else None


class Unresolved(NamedTuple):
    """A summary that holds the keywords and whose pointer leads to no message now; ``evidence`` tells why."""

    summary: Summary
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found: the best first, at most as many as were asked for. Made by ``Memory.search``.

    ``matched`` counts everything that holds the keywords, ``unresolved`` summaries aside; those stand apart.
    """

    query: str
    hits: tuple[Found, ...]
    matched: int
    unresolved: tuple[Unresolved, ...] = ()
    language: str = "zh"

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Each hit as kind, text, pointer with id, and what marks it."""
        words = SEARCH[self.language]
        rows = []
        for one in self.hits:
            kind = f"{words[one.kind]} {one.channel}" if one.channel else words[one.kind]
            mark = words["conflict"].format(ids=", ".join(one.conflicts)) if one.conflicts else ""
            rows.append((kind, texts.safe(one.text), f"{one.source}, {one.id}", mark))
        return rows

    def __str__(self) -> str:
        words = SEARCH[self.language]
        head = words["found"].format(query=self.query, n=self.matched, shown=len(self.hits))
        lines = [head if self.hits else words["nothing"]]
        for one, (kind, said, pointer, mark) in zip(self.hits, self.rows(), strict=True):
            lines.append(f"- [{kind}] {said} ({pointer})" + (f" [{mark}]" if mark else ""))
            if one.detail:
                shown = "\n    ".join(texts.safe(line) for line in one.detail.splitlines())
                lines.append(f"  {words['detail']}: {shown}")
        if self.unresolved:
            lines.append(words["unresolved"])
            lines += [f"- {one.summary.id} {texts.safe(one.summary.text)}: {self._why(one)}" for one in self.unresolved]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        words = SEARCH[self.language]
        head = words["found"].format(query=self.query, n=self.matched, shown=len(self.hits))
        parts = [f"<p>{escape(head if self.hits else words['nothing'])}</p>"]
        if self.hits:
            titles = "".join(f"<th>{escape(words[name])}</th>" for name in ("kind", "text", "source", "mark"))
            body = "".join(
                "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows()
            )
            parts.append(f"<table><tr>{titles}</tr>{body}</table>")
        if self.unresolved:
            listed = "".join(
                f"<li>{escape(f'{one.summary.id} {texts.safe(one.summary.text)}: {self._why(one)}')}</li>"
                for one in self.unresolved
            )
            parts.append(f"<p>{escape(words['unresolved'])}</p><ul>{listed}</ul>")
        return "".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {
            "query": self.query,
            "matched": self.matched,
            "hits": [
                {
                    "kind": one.kind,
                    "id": one.id,
                    "text": one.text,
                    "detail": one.detail,
                    "channel": one.channel,
                    "source": one.source,
                    "score": round(one.score, 6),
                    "heat": round(one.heat, 6),
                    "conflicts": list(one.conflicts),
                }
                for one in self.hits
            ],
            "unresolved": [
                {"id": one.summary.id, "text": one.summary.text, "source": one.summary.source, "why": self._why(one)}
                for one in self.unresolved
            ],
        }

    def _why(self, one: Unresolved) -> str:
        return one.evidence.explain(self.language)


class _Document(NamedTuple):
    """What is searched of one record: its tokens, how many, and its folded text."""

    record: Fact | Summary
    tokens: Counter[str]
    length: int
    folded: str
    heat: float


def search(
    query: str,
    *,
    facts: Iterable[Fact],
    summaries: Iterable[Summary],
    sessions: Sessions,
    now: datetime,
    half_life_days: float,
    limit: int = 10,
    language: str = "zh",
    zone: tzinfo | None = None,
) -> SearchResult:
    """The approved facts and active summaries that hold every keyword of ``query``, ranked by BM25, then by heat.

    Facts are searched by text, tags and detail. A summary counts only while its pointer leads to a real message now;
    those that do not are looked at as far as the ranking is shown, and stand in ``unresolved``. Nothing is counted
    (DESIGN "Counting").

    Parameters
    ----------
    query
        Keywords separated by spaces; all of them must occur.
    facts, summaries
        Every fact and summary of the memory; those of another status are passed over.
    now
        The instant of the heat, UTC-aware.
    limit
        Hits to return, 1 to 1000.

    Raises
    ------
    LimitExceeded
        When no keyword is in ``query``, or ``limit`` is out of range.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= LIMIT:
        raise LimitExceeded(f"limit={limit!r} is not a whole number from 1 to {LIMIT}")
    keywords = keywords_of(query)
    approved = [fact for fact in facts if fact.status == "approved"]
    active = [summary for summary in summaries if summary.status == "active"]
    documents = [
        *(_document(one, (one.text, *one.tags, one.detail or ""), heat(one, now, half_life_days)) for one in approved),
        *(_document(one, (one.text,), 0.0) for one in sorted(active, key=lambda one: one.created(zone), reverse=True)),
    ]
    scored = [
        (score, one) for score, one in zip(rank(keywords, documents), documents, strict=True) if score is not None
    ]
    scored.sort(key=lambda row: (-round(row[0], 9), -row[1].heat))
    shown, unresolved = _resolve(scored, limit, lambda wanted: check(wanted, sessions, language=language, zone=zone))
    rivals = _rivals(approved)
    hits = tuple(_found(score, one, rivals) for score, one in shown)
    return SearchResult(query, hits, len(scored) - len(unresolved), tuple(unresolved), language)


def keywords_of(query: str) -> list[str]:
    """The keywords of a query, each once. Raises LimitExceeded when there is none."""
    words = list(dict.fromkeys(word for word in query.split() if texts.fold(word))) if isinstance(query, str) else []
    if not words:
        raise LimitExceeded(f"query={query!r} has no keyword; give a few words separated by spaces")
    return words


def _document(record: Fact | Summary, parts: Sequence[str], warm: float) -> _Document:
    whole = "\n".join(parts)
    tokens = texts.tokens(whole)
    return _Document(record, Counter(tokens), len(tokens), texts.fold(whole), warm)


def rank(keywords: Sequence[str], documents: Sequence[_Document]) -> list[float | None]:
    """The BM25 score of each document that holds every keyword; None for the others.

    A keyword occurs where all its tokens do. One without a token, a stop word or a sign, is passed over beside others;
    alone it occurs where it stands in the folded text.
    """
    if not documents:
        return []
    mean = sum(one.length for one in documents) / len(documents) or 1.0
    terms = dict.fromkeys(term for keyword in keywords for term in texts.query_tokens(keyword))
    rows = [[_count(term, one.tokens) for one in documents] for term in terms] or [
        [one.folded.count(texts.fold(keyword)) for one in documents] for keyword in keywords
    ]
    scores: list[float | None] = [0.0] * len(documents)
    for row in rows:
        frequency = sum(count > 0 for count in row)
        weight = math.log1p((len(documents) - frequency + 0.5) / (frequency + 0.5))
        for place, (count, one) in enumerate(zip(row, documents, strict=True)):
            score = scores[place]
            if score is None or not count:
                scores[place] = None
                continue
            scores[place] = score + weight * count * (K1 + 1) / (count + K1 * (1 - B + B * one.length / mean))
    return scores


def _count(term: str, tokens: Counter[str]) -> int:
    """How often a token of a query occurs; a single character stands for every token it begins."""
    if not texts.is_beginning(term):
        return tokens[term]
    return sum(count for token, count in tokens.items() if token.startswith(term))


_Scored = tuple[float, _Document]


def _resolve(
    scored: Sequence[_Scored], limit: int, look: Callable[[list[Any]], list[Evidence]]
) -> tuple[list[_Scored], list[Unresolved]]:
    """The first ``limit`` of the ranking whose pointers resolve, and the summaries met whose pointers do not."""
    shown: list[_Scored] = []
    unresolved: list[Unresolved] = []
    at = 0
    while at < len(scored) and len(shown) < limit:
        batch = scored[at : at + limit - len(shown)]
        at += len(batch)
        waiting = [one.record for _, one in batch if isinstance(one.record, Summary)]
        looked = look([claim_of_summary(one) for one in waiting]) if waiting else []
        lost = {one.id: evidence for one, evidence in zip(waiting, looked, strict=True) if evidence.status != "ok"}
        for score, one in batch:
            if isinstance(one.record, Summary) and one.record.id in lost:
                unresolved.append(Unresolved(one.record, lost[one.record.id]))
            else:
                shown.append((score, one))
    return shown, unresolved


def _rivals(approved: Iterable[Fact]) -> dict[str, list[str]]:
    """Fact -> the approved facts in an unresolved conflict with it."""
    rivals: dict[str, list[str]] = {}
    for one, other in open_conflict_pairs(approved):
        rivals.setdefault(one, []).append(other)
        rivals.setdefault(other, []).append(one)
    return rivals


def _found(score: float, one: _Document, rivals: dict[str, list[str]]) -> Found:
    record = one.record
    return Found(
        "fact" if isinstance(record, Fact) else "summary",
        record.id,
        record.text,
        record.source,
        score,
        one.heat,
        tuple(rivals.get(record.id, ())) if isinstance(record, Fact) else (),
        record,
    )
