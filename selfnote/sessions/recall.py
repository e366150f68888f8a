"""Find again what was really said: keyword search over the raw sessions, each hit with its pointer (S2-019, S2-020)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from html import escape
from typing import Any, Literal, NamedTuple, Protocol

from selfnote import text as texts
from selfnote.errors import LimitExceeded, NotFound
from selfnote.phrases import RECALL
from selfnote.sessions.cache import Session, SessionCache, Spoken, count_tokens, spoken_of
from selfnote.sessions.index import TOP_UP_LIMIT, Catalogue, Difference, Entry, Index, Unusable, describe
from selfnote.sessions.library import SessionInfo, Sessions
from selfnote.sessions.log import read_new
from selfnote.sessions.ranking import ROLES, TERM_LIMIT, Collection, Ranked, Role, Shelf, collect, length_of, rank
from selfnote.times import format_instant, local_time

#: Code points of a snippet before it is cut, and of those the ones before the first match.
SNIPPET_LENGTH, SNIPPET_BEFORE = 200, 60
#: Hits a search may be asked for, at most.
LIMIT = 1000

How = Literal["index", "topped up", "scan", "nothing to look for"]


class KnowsStatus(Protocol):
    """What recall needs of a fact: where it came from and what became of it."""

    @property
    def source(self) -> str:
        """Its first pointer."""
        ...

    @property
    def sources(self) -> Sequence[str]:
        """All its pointers."""
        ...

    @property
    def status(self) -> str:
        """candidate, approved or retired."""
        ...


class Hit(NamedTuple):
    """One message that answers the query.

    ``source`` is its pointer ``session#seq``; ``sessions.open(session_id)`` has ``text`` at ``seq``. ``time`` is UTC,
    None when unreadable. ``snippet`` is the part around the match, safe to print. ``badges`` are the statuses of the
    facts that came from this message: "retired" is what the owner no longer wants said (COMPLAINTS 34).
    """

    source: str
    session_id: str
    seq: int
    role: Role
    by_owner: bool
    time: datetime | None
    text: str
    snippet: str
    score: float
    badges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecallResult:
    """What a search over the sessions found, best first. Made by ``Memory.recall``.

    ``note`` tells how the sessions were searched and what could not be; ``complete``: every session was searched to
    its end and none was unreadable. ``matched`` counts every message that holds a token of the query.
    """

    query: str
    hits: list[Hit]
    note: str
    complete: bool
    matched: int = 0
    how: How = "scan"
    topped_up: int = 0
    unreadable: int = 0
    language: str = "zh"
    zone: tzinfo | None = None

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Each hit as source with badges, time on the owner's clock, who said it, and the snippet."""
        words = RECALL[self.language]
        rows = []
        for hit in self.hits:
            when = words["no time"] if hit.time is None else f"{local_time(hit.time, self.zone):%Y-%m-%d %H:%M}"
            marks = "".join(f" [{words[f'badge {badge}']}]" for badge in hit.badges)
            rows.append((hit.source + marks, when, words[hit.role], hit.snippet))
        return rows

    def _heading(self) -> str:
        words, query = RECALL[self.language], texts.safe(self.query)
        if not self.hits:
            return words["nothing"].format(query=query)
        return words["found"].format(query=query, n=self.matched, shown=len(self.hits))

    def __str__(self) -> str:
        lines = [self._heading()]
        for source, when, who, snippet in self.rows():
            lines += [f"- {source}  {when}  {who}", f"  {snippet}"]
        return "\n".join([*lines, self.note])

    def _repr_html_(self) -> str:
        words = RECALL[self.language]
        titles = (words["source"], words["time"], words["who"], words["said"])
        head = "".join(f"<th>{escape(title)}</th>" for title in titles)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows())
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if self.hits else ""
        return f"<p>{escape(self._heading())}</p>{table}<p>{escape(self.note)}</p>"

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON values; times in UTC ISO-8601."""
        return {
            "query": self.query,
            "matched": self.matched,
            "hits": [
                {
                    **hit._asdict(),
                    "time": format_instant(hit.time) if hit.time else None,
                    "badges": list(hit.badges),
                }
                for hit in self.hits
            ],
            "note": self.note,
            "complete": self.complete,
            "how": self.how,
            "toppedUp": self.topped_up,
            "unreadable": self.unreadable,
        }


@dataclass
class _Answer:
    """What one way of searching found: ranked messages, and how to open one of them."""

    how: How
    ranked: list[Ranked] = field(default_factory=list)
    open: Callable[[int], tuple[Session, Spoken] | None] = lambda _: None
    matched: int = 0
    searched: int = 0
    topped_up: int = 0
    unreadable: int = 0
    reason: str = ""


def recall(
    query: str,
    *,
    sessions: Sessions,
    cache: SessionCache,
    index: Index | None = None,
    facts: Callable[[], Iterable[KnowsStatus]] = tuple,
    limit: int = 10,
    role: Role | None = None,
    progress: bool = False,
    smoothing: bool = True,
    language: str = "zh",
    zone: tzinfo | None = None,
) -> RecallResult:
    """The messages that answer ``query`` best: the owner's and the assistant's texts, never what was injected.

    Sub-agents' sessions are left out, and what a fork copied from its parent is found in the parent only. With an
    ``index`` that still represents the disk that is asked; up to 20 sessions it lacks are read on for this search
    alone; behind further than that, or when it cannot be used, every session is read (S2-233, S2-237). Nothing is
    counted and nothing written but the cache.

    Parameters
    ----------
    facts
        Gives the facts whose sources are badged; asked only when there are hits.
    role
        "user" or "assistant": only what that side said. Neighbours of either side still help in ranking.
    limit
        Hits, 1 to 1000.
    smoothing
        Whether the messages around a message may raise it.

    Raises
    ------
    LimitExceeded
        ``limit`` or ``role`` is not one of these.
    """
    _require(limit, role)
    terms = texts.query_tokens(query)[:TERM_LIMIT]
    if not terms:
        note = RECALL[language]["no words"]
        return RecallResult(query, [], note, complete=False, how="nothing to look for", language=language, zone=zone)
    listing = sessions.list()
    refused = len(sessions.refused)
    ask = _Question(terms, limit, role, smoothing, progress)
    answer = None if index is None else _ask_index(ask, listing, cache, index)
    if answer is None or answer.reason:
        reason = answer.reason if answer else ""
        answer = _scan(ask, listing, cache)
        answer.reason = reason
    hits = _open_hits(answer, terms, listing, facts)
    cache.prune(listing)
    unreadable = answer.unreadable + refused
    return RecallResult(
        query=query,
        hits=hits,
        note=_tell(answer, unreadable, language),
        complete=not unreadable,
        matched=answer.matched,
        how=answer.how,
        topped_up=answer.topped_up,
        unreadable=unreadable,
        language=language,
        zone=zone,
    )


class _Question(NamedTuple):
    terms: Sequence[str]
    limit: int
    role: Role | None
    smoothing: bool
    progress: bool

    def rank(
        self, shelf: Shelf, postings: Sequence[Sequence[int]], rarities: Sequence[float], of: Collection
    ) -> tuple[int, list[Ranked]]:
        """The number of messages that hold a term, and the best of them."""
        found = collect(postings)
        if self.role is None:
            matched = len(found)
        else:
            wanted = ROLES.index(self.role)
            matched = sum((shelf.codes[document] - 1) & 1 == wanted for document in found)
        ranked = rank(shelf, found, rarities, of, limit=self.limit, role=self.role, smoothing=self.smoothing)
        return matched, ranked


def _require(limit: int, role: str | None) -> None:
    if not 1 <= limit <= LIMIT:
        raise LimitExceeded(f"limit={limit} is not 1 to {LIMIT} hits")
    if role is not None and role not in ROLES:
        raise LimitExceeded(f"role={role!r} is not one of {', '.join(map(repr, ROLES))}, or None for both")


@dataclass
class _Gathered:
    """Messages read for one search: their places on a shelf, and which terms of the query they hold."""

    terms: Sequence[str]
    shelf: Shelf
    matches: dict[int, tuple[Session, Spoken]] = field(default_factory=dict)
    postings: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.postings = [[] for _ in self.terms]
        self.match = texts.make_matcher(self.terms)

    def put(self, number: int, session: Session) -> None:
        """Put what was said in a session on the shelf, after what stands there of it."""
        first = self.shelf.add(number, *describe(session.spoken, session.lengths))
        for document, (form, one) in enumerate(zip(session.searchable, session.spoken, strict=True), start=first):
            places = self.match(form, one.text)
            for place in places:
                self.postings[place].append(document)
            if places:
                self.matches[document] = session, one


# --- reading every session --------------------------------------------------------------------------
def _scan(ask: _Question, listing: Sequence[SessionInfo], cache: SessionCache) -> _Answer:
    answer, gathered = _Answer("scan"), _Gathered(ask.terms, Shelf())
    shown: Iterable[SessionInfo] = listing
    if ask.progress:
        from tqdm import tqdm

        shown = tqdm(listing, unit="session")
    for number, info in enumerate(shown, start=1):
        try:
            session = cache.read(info, scanning=True)
        except NotFound:
            continue
        answer.searched += 1
        answer.unreadable += session.unreadable
        gathered.put(number, session)
    of = Collection.of([length_of(code) for code in gathered.shelf.codes[1:]])
    rarities = [of.rarity(len(documents)) for documents in gathered.postings]
    answer.matched, answer.ranked = ask.rank(gathered.shelf, gathered.postings, rarities, of)
    answer.open = gathered.matches.get
    return answer


# --- asking the index -------------------------------------------------------------------------------
def _ask_index(ask: _Question, listing: Sequence[SessionInfo], cache: SessionCache, index: Index) -> _Answer:
    """What the index and the sessions it lacks hold; a ``reason`` instead when the sessions have to be read."""
    try:
        with index.reading() as catalogue:
            difference = catalogue.compare(listing, index.folder)
            if len(difference.changed) + len(difference.unknown) > TOP_UP_LIMIT:
                return _Answer("scan", reason="too far behind")
            postings = [catalogue.postings(term) for term in ask.terms]
            return _combine(ask, catalogue, difference, postings, cache)
    except Unusable as error:
        return _Answer("scan", reason=str(error))


def _combine(
    ask: _Question, catalogue: Catalogue, difference: Difference, postings: list[list[int]], cache: SessionCache
) -> _Answer:
    """The index's answer together with what was said since, weighed by the index's own frequencies (S2-237)."""
    rarities = [catalogue.collection.rarity(len(documents)) for documents in postings]
    answer = _Answer("index", searched=len(difference.fresh) + len(difference.changed))
    infos = {entry.number: info for info, entry in (*difference.fresh, *difference.changed)}
    gathered = _Gathered(ask.terms, catalogue.shelf)
    # What could not be read when the index was built is not in it; what can be read of it is searched all the same.
    damaged = [info for info, entry in difference.fresh if not entry.readable]
    if difference.changed or difference.unknown or difference.gone or damaged:
        gathered.shelf = catalogue.shelf.copy()
        _top_up(answer, gathered, difference, damaged, cache)
        codes = gathered.shelf.codes
        known = ([document for document in documents if codes[document]] for documents in postings)
        postings = [[*one, *other] for one, other in zip(known, gathered.postings, strict=True)]
    answer.how = "topped up" if answer.topped_up else "index"
    answer.matched, answer.ranked = ask.rank(gathered.shelf, postings, rarities, catalogue.collection)

    def open_one(document: int) -> tuple[Session, Spoken] | None:
        if document in gathered.matches:
            return gathered.matches[document]
        seq = gathered.shelf.seqs[document]
        try:
            session = cache.read(infos[gathered.shelf.sessions[document]])
        except NotFound:
            return None
        place = bisect_left(session.spoken, seq, key=lambda one: one.seq)
        found = session.spoken[place] if place < len(session.spoken) else None
        return (session, found) if found is not None and found.seq == seq else None

    answer.open = open_one
    return answer


def _top_up(
    answer: _Answer,
    gathered: _Gathered,
    difference: Difference,
    damaged: Sequence[SessionInfo],
    cache: SessionCache,
) -> None:
    """Read what the index lacks, for this search alone, and take away what is no longer so."""
    for entry in difference.gone:
        gathered.shelf.remove(entry.number)
    whole: list[tuple[int, SessionInfo]] = []
    for info, entry in difference.changed:
        added = _read_added(info, entry)
        if added is None:
            gathered.shelf.remove(entry.number)
            whole.append((entry.number, info))
        elif added.spoken:
            answer.topped_up += 1
            gathered.put(entry.number, added)
    unused = max((entry.number for _, entry in (*difference.fresh, *difference.changed)), default=0) + 1
    whole += enumerate((*difference.unknown, *damaged), start=unused)
    for number, info in whole:
        try:
            session = cache.read(info, scanning=True)
        except NotFound:
            continue
        answer.unreadable += session.unreadable
        answer.topped_up += not session.unreadable
        gathered.put(number, session)


def _read_added(info: SessionInfo, entry: Entry) -> Session | None:
    """What was said in a session since it was indexed; None when it has to be read whole."""
    if entry.point is None or info.status == "ambiguous":
        return None
    try:
        added = read_new(info.path, entry.point)
    except NotFound:
        return None
    if added.mode == "full" or added.point is None:
        return None
    spoken = spoken_of(added.messages, delegated=added.point.header.delegated)
    return count_tokens(Session(info, entry.id, "ok", spoken))


# --- the hits -----------------------------------------------------------------------------------------
def _open_hits(
    answer: _Answer,
    terms: Sequence[str],
    listing: Sequence[SessionInfo],
    facts: Callable[[], Iterable[KnowsStatus]],
) -> list[Hit]:
    """The ranked messages with their texts; one that is not there any more, or says something else, is left out."""
    names: dict[str, int] = {}
    for info in listing:
        names[info.id] = names.get(info.id, 0) + 1
    opened, match = [], texts.make_matcher(terms)
    for ranked in answer.ranked:
        found = answer.open(ranked.document)
        if found is None:
            continue
        places = texts.find_tokens(found[1].text, terms)
        # Decomposed letters have no place of their own; the whole text tells whether they are there.
        if places or match(texts.searchable(found[1].text), found[1].text):
            opened.append((*found, ranked.score, places))
    badges = _read_badges(facts, {f"{session.id}#{one.seq}" for session, one, *_ in opened}) if opened else {}
    return [
        Hit(
            source=f"{session.id}#{one.seq}",
            # An id that several folders share, or that is not the folder's, opens nothing: the path does.
            session_id=session.info.id if names.get(session.info.id) == 1 else str(session.info.path),
            seq=one.seq,
            role=one.role,
            by_owner=one.role == "user",
            time=one.instant,
            text=one.text,
            snippet=make_snippet(one.text, places),
            score=score,
            badges=badges.get(f"{session.id}#{one.seq}", ()),
        )
        for session, one, score, places in opened
    ]


def _read_badges(facts: Callable[[], Iterable[KnowsStatus]], sources: set[str]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for fact in facts():
        for source in sources.intersection((fact.source, *fact.sources)):
            found.setdefault(source, set()).add(fact.status)
    return {source: tuple(sorted(statuses)) for source, statuses in found.items()}


def make_snippet(text: str, places: Sequence[tuple[int, int, str]]) -> str:
    """The part of a message where most of what was looked for stands together, on one line, ``…`` where it is cut.

    ``places`` are start, end and token of each match in ``text``, as ``text.find_tokens`` gives them.
    """
    if len(text) <= SNIPPET_LENGTH:
        return texts.safe(text).strip()
    best, most = 0, 0
    for place, (start, _, _) in enumerate(places):
        reach = start + SNIPPET_LENGTH - SNIPPET_BEFORE
        together = set()
        for _, end, token in places[place:]:
            if end > reach:
                break
            together.add(token)
        if len(together) > most:
            best, most = start, len(together)
    start = max(0, min(best - SNIPPET_BEFORE, len(text) - SNIPPET_LENGTH))
    stop = start + SNIPPET_LENGTH
    inside = texts.safe(text[start:stop]).strip()
    return f"{texts.ELLIPSIS if start else ''}{inside}{texts.ELLIPSIS if stop < len(text) else ''}"


def _tell(answer: _Answer, unreadable: int, language: str) -> str:
    """How complete the answer is, in a sentence."""
    words = RECALL[language]
    parts = [words[answer.reason]] if answer.reason else []
    parts.append(words[answer.how].format(n=answer.topped_up or answer.searched))
    if unreadable:
        parts.append(words["unreadable"].format(n=unreadable))
    return words["stop"].join(parts) + words["end"]
