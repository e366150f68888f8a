"""Whether a source says what a fact says: read again from the session's bytes (S2-022, COMPLAINTS 21, 56)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from html import escape
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from selfnote import text as texts
from selfnote.errors import BadSource, Corrupt, NotFound
from selfnote.phrases import EVIDENCE
from selfnote.records.fact_lines import Fact
from selfnote.records.sources import Source, parse_source
from selfnote.records.summaries import Summary
from selfnote.sessions.library import SessionInfo, Sessions, decode_segment
from selfnote.sessions.model import READ_WHOLE, Message
from selfnote.storage.fingerprints import digest
from selfnote.times import format_instant, local_time

if TYPE_CHECKING:
    from selfnote.sessions.log import SessionLog

EvidenceStatus = Literal[
    "ok",
    "text differs",
    "beyond the end",
    "session gone",
    "unreadable",
    "not the owner's words",
    "owner",
    "import",
    "no source",
]
#: Statuses that accuse nobody: the words are there, or there is no session to check.
SOUND: frozenset[str] = frozenset({"ok", "owner", "import"})
#: Facts kept through this tool may quote the assistant; every other fact must be the owner's words (DESIGN "Sources").
QUOTES_THE_ASSISTANT = "memory_stage"
#: Code points of a message that a sentence quotes, and that a line of a transcript shows.
SAID, SHOWN = 60, 200


class Claim(NamedTuple):
    """What a source is said to show.

    ``wordings``: one of them must stand in the message; empty: only that a message stands there; None: how it was
    first worded is no longer known, and the digest ``sha`` of the message decides. ``owner_only``: the assistant's
    answers do not count. ``edited``: the record is worded otherwise today.
    """

    source: str
    id: str | None = None
    wordings: tuple[str, ...] | None = ()
    sha: str | None = None
    owner_only: bool = False
    edited: bool = False


class Phrase(NamedTuple):
    """A part of a sentence that is itself a phrase of EVIDENCE: its key and its values."""

    key: str
    values: Mapping[str, Any] = MappingProxyType({})


def _is_phrase(value: object) -> bool:
    return isinstance(value, Phrase)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What stands at one source now. Made by ``Memory.evidence`` and ``check_sources``.

    ``message`` is None unless one stands there; ``before`` and ``after`` are what was said around it. ``quoted``: the
    words are in the message; None when nothing could be compared. ``sha_matches``: the message is the one whose digest
    was kept; None when none was. ``case`` is the key of its sentence; ``str()`` shows the sentence with the messages.
    """

    source: str
    status: EvidenceStatus
    id: str | None = None
    message: Message | None = None
    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()
    quoted: bool | None = None
    sha_matches: bool | None = None
    copied_from: str | None = None
    case: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    language: str = "zh"
    zone: tzinfo | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the source: the words are there, or there is no session to check."""
        return self.status in SOUND

    def explain(self, language: str | None = None) -> str:
        """What was found, in a sentence or two."""
        words = EVIDENCE[language or self.language]
        inner = {name: words[one.key].format(**one.values) for name, one in self.values.items() if _is_phrase(one)}
        told = words[self.case].format(**{"source": self.source, **self.values, **inner})
        if self.copied_from:
            told = f"{told} {words['copied'].format(parent=self.copied_from)}"
        return told

    def lines(self) -> list[tuple[bool, str, str, str]]:
        """The messages as rows: whether it is the one pointed at, its source, who and when, what was said."""
        if self.message is None:
            return []
        words = EVIDENCE[self.language]
        rows = []
        for one in (*self.before, self.message, *self.after):
            who = words["you" if one.role == "assistant" else "user" if one.source_kind == "user" else "other"]
            when = f" {local_time(one.time, self.zone):%Y-%m-%d %H:%M}" if one.time else ""
            rows.append((one is self.message, one.source, f"{who}{when}", _start(one.text, SHOWN)))
        return rows

    def __str__(self) -> str:
        head = f"{self.id}: {self.explain()}" if self.id else self.explain()
        rows = [f"{'→' if here else ' '} {source} {who}：{said}" for here, source, who, said in self.lines()]
        return "\n".join([head, *rows])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{'→' if here else ''}</td><td>{escape(source)}</td><td>{escape(who)}</td>"
            f"<td>{f'<b>{escape(said)}</b>' if here else escape(said)}</td></tr>"
            for here, source, who, said in self.lines()
        )
        head = f"{self.id}: {self.explain()}" if self.id else self.explain()
        return f"<p>{escape(head)}</p>" + (f"<table>{rows}</table>" if rows else "")

    def to_json(self) -> dict[str, Any]:
        """The evidence as plain JSON values; times in UTC."""
        return {
            "id": self.id,
            "source": self.source,
            "status": self.status,
            "ok": self.ok,
            "quoted": self.quoted,
            "shaMatches": self.sha_matches,
            "copiedFrom": self.copied_from,
            "sentence": self.explain(),
            "message": _message_json(self.message),
            "before": [_message_json(one) for one in self.before],
            "after": [_message_json(one) for one in self.after],
        }


def _message_json(message: Message | None) -> dict[str, Any] | None:
    if message is None:
        return None
    return {
        "source": message.source,
        "role": message.role,
        "byOwner": message.by_owner,
        "time": format_instant(message.time) if message.time else None,
        "text": message.text,
    }


# --- what is claimed ------------------------------------------------------------------------------
def claims_of_fact(fact: Fact) -> list[Claim]:
    """Every source of a fact with what it is said to show, the first one first.

    The first source must hold the text as it was staged: what the owner's edits in the history say it was before
    them (S2-084). A later occurrence may have been heard in any wording the fact has had.
    """
    edits = [item for item in fact.history if item.field == "text"]
    staged = edits[0].old if edits else fact.text
    known = dict.fromkeys([*(one for item in edits for one in (item.old, item.new)), fact.text])
    wordings = tuple(one for one in known if isinstance(one, str))
    listed = [one for one in dict.fromkeys((fact.source or "", *fact.sources)) if one]
    return [
        Claim(
            source,
            fact.id,
            wordings if place else (staged,) if isinstance(staged, str) else None,
            None if place else fact.source_sha,
            owner_only=fact.capture_source != QUOTES_THE_ASSISTANT,
            edited=not place and staged != fact.text,
        )
        for place, source in enumerate(listed or [""])
    ]


def claim_of_summary(summary: Summary) -> Claim:
    """That a message stands where the summary points, the one it was made from where its digest is known."""
    return Claim(summary.source, summary.id, (), summary.source_sha)


def find_claim(
    which: Fact | str, facts: Callable[[], Mapping[str, Fact]], summaries: Callable[[], Iterable[Summary]]
) -> Claim:
    """What is asked about: a fact's first source, a summary's pointer, or a source by itself.

    Raises
    ------
    NotFound
        When ``which`` is no fact's or summary's id and no source.
    """
    if isinstance(which, Fact):
        return claims_of_fact(which)[0]
    fact = facts().get(which)
    if fact is not None:
        return claims_of_fact(fact)[0]
    summary = next((one for one in summaries() if one.id == which), None)
    if summary is not None:
        return claim_of_summary(summary)
    if _parse(which) is None:
        raise NotFound(
            f"{which!r} is no fact's and no summary's id, and no source; give an id such as f-e45dd234dfee, or "
            "<session>#<seq>"
        )
    return Claim(which.strip())


# --- checking -------------------------------------------------------------------------------------
def check_sources(
    facts: Iterable[Fact],
    sessions: Sessions,
    *,
    language: str = "zh",
    zone: tzinfo | None = None,
    progress: bool = False,
) -> list[Evidence]:
    """Every source of every fact, a row each, in the order given; each session is opened once.

    Parameters
    ----------
    facts
        The facts whose ``source`` and ``sources`` are read again.
    sessions
        The session logs of the same home.
    progress
        Show a bar while sessions are read.
    """
    claims = [claim for fact in facts for claim in claims_of_fact(fact)]
    return check(claims, sessions, language=language, zone=zone, progress=progress)


def check(
    claims: Sequence[Claim],
    sessions: Sessions,
    *,
    around: int = 0,
    language: str = "zh",
    zone: tzinfo | None = None,
    progress: bool = False,
) -> list[Evidence]:
    """What stands at each claim's source now, in the order given; ``around`` messages beside each are kept."""
    found: dict[int, Evidence] = {}
    by_session: dict[str, list[tuple[int, Claim, Source]]] = {}
    for place, claim in enumerate(claims):
        parsed = _parse(claim.source)
        if parsed is None or parsed.kind != "session" or parsed.number is None:
            case: EvidenceStatus = "no source" if parsed is None or parsed.kind == "session" else parsed.kind
            found[place] = Evidence(claim.source, case, claim.id, case=case, values=_elsewhere(parsed))
        else:
            by_session.setdefault(parsed.name, []).append((place, claim, parsed))
    opener = _Opener(sessions)
    for name in _shown(list(by_session), progress=progress):
        group = by_session[name]
        log = opener.open(name)
        if isinstance(log, Evidence):
            found |= {place: replace(log, source=claim.source, id=claim.id) for place, claim, _ in group}
            continue
        missing = _read_missing(log, {(one.unit, one.number or 0) for _, _, one in group})
        for place, claim, parsed in group:
            found[place] = _judge(claim, parsed, log, missing, around)
    return [replace(found[place], language=language, zone=zone) for place in range(len(claims))]


def _elsewhere(parsed: Source | None) -> dict[str, Any]:
    """Where a source that is no session points, for its sentence."""
    if parsed is None:
        return {}
    key = f"in {parsed.name}"
    place = Phrase(key if key in EVIDENCE["zh"] else "in another", {"via": parsed.name})
    return {"place": place, "file": parsed.name, "line": parsed.number}


def _parse(source: str) -> Source | None:
    try:
        return parse_source(source)
    except BadSource:
        return None


def _shown(names: list[str], *, progress: bool) -> Iterable[str]:
    if not progress:
        return names
    from tqdm import tqdm

    shown: Iterable[str] = tqdm(names, unit="session")
    return shown


class _Opener:
    """Sessions by the name in a source, the folder listed once."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._listed: dict[str, list[SessionInfo]] | None = None

    def open(self, name: str) -> SessionLog | Evidence:
        """The log, or why there is none."""
        if self._listed is None:
            self._listed = {}
            for one in self._sessions.list():
                self._listed.setdefault(one.id, []).append(one)
        try:
            known = self._listed.get(name, [])
            return self._sessions.read(known[0] if len(known) == 1 else self._sessions.find(name))
        except NotFound:
            pass
        if len(known) > 1 or any(one.startswith(name) for one in self._listed):
            return _unreadable(Phrase("several"))
        if any(name in map(decode_segment, Path(one.where).parts) for one in self._sessions.refused):
            return _unreadable(Phrase("not followed"))
        return Evidence("", "session gone", case="session gone", values={"session": name})


def _unreadable(reason: object) -> Evidence:
    return Evidence("", "unreadable", case="unreadable", values={"reason": reason})


class _Spot(NamedTuple):
    """An event at which no message is known: its type and seq."""

    type: str
    seq: int


class _Missing(NamedTuple):
    """What stands where no message is known, and where the log ends; None: the log changed while it was read."""

    spots: dict[tuple[str, int], _Spot]
    last_seq: int = -1
    last_line: int = 1


def _read_missing(log: SessionLog, wanted: set[tuple[str, int]]) -> _Missing | None:
    """One pass over the events for the places at which the log has no message."""
    messages = {("line", one.line) for one in log.messages()}
    rest = {one for one in wanted if (one not in messages if one[0] == "line" else not _has_message(log, one[1]))}
    if not rest:
        return _Missing({})
    spots: dict[tuple[str, int], _Spot] = {("line", 1): _Spot("session", -1)}
    seq, line = -1, 1
    try:
        for event in log.events():
            seq, line = event.seq, event.line
            for place in (("seq", seq), ("line", line)):
                if place in rest and place not in spots:
                    spots[place] = _Spot(event.type, seq)
    except Corrupt:
        return None
    return _Missing(spots, seq, line)


def _has_message(log: SessionLog, seq: int) -> bool:
    return _message_at(log, seq) is not None


def _message_at(log: SessionLog, seq: int) -> Message | None:
    try:
        return log.message_at(seq)
    except NotFound:
        return None


def _judge(claim: Claim, parsed: Source, log: SessionLog, missing: _Missing | None, around: int) -> Evidence:
    """One claim against an opened log."""
    number = parsed.number or 0
    if parsed.unit == "seq":
        message = _message_at(log, number)
    else:
        message = next((one for one in log.messages() if one.line == number), None)
        if message is None and missing is not None and (spot := missing.spots.get(("line", number))):
            message = _message_at(log, spot.seq)
    if message is None:
        return replace(_explain_missing(parsed, log, missing), source=claim.source, id=claim.id)
    evidence = _compare(claim, message, log)
    if around:
        before, after = _spoken_around(log, message.seq, around)
        evidence = replace(evidence, before=before, after=after)
    return evidence


def _explain_missing(parsed: Source, log: SessionLog, missing: _Missing | None) -> Evidence:
    """Why no message stands at a place."""
    if missing is None:
        return _unreadable(Phrase("changed"))
    spot = missing.spots.get((parsed.unit, parsed.number or 0))
    if spot is not None and not spot.type.endswith("/message"):
        return Evidence("", "not the owner's words", case="no message", values={"kind": spot.type})
    last = missing.last_seq if parsed.unit == "seq" else missing.last_line
    if spot is None and log.status in READ_WHOLE and (parsed.number or 0) > last:
        end = Phrase(parsed.unit, {"n": last}) if missing.last_seq >= 0 else Phrase("nothing")
        return Evidence("", "beyond the end", case="beyond the end", values={"last": end})
    problem = log.problems[-1] if log.problems else None
    if log.status in READ_WHOLE or problem is None:
        return _unreadable(Phrase("gap", {"status": log.status}))
    return _unreadable(f"{log.status}; {problem.where}: {problem.reason}")


def _compare(claim: Claim, message: Message, log: SessionLog) -> Evidence:  # noqa: PLR0911 - one for each outcome
    """What a message says of a claim: who spoke first, then the words, then the digest."""
    said = _start(message.text, SAID)
    mine = is_owners(message, log)
    matches = None if claim.sha is None else digest(message.text) == claim.sha
    quoted = any(_holds(message.text, one) for one in claim.wordings) if claim.wordings else None
    delegated = log.header.delegated
    header = log.header
    copied = f"{header.parent or '?'}#{message.seq}" if message.seq < header.seed_length else None
    evidence = Evidence(
        claim.source, "ok", claim.id, message, quoted=quoted, sha_matches=matches, copied_from=copied, case="ok"
    )
    if not mine and (delegated or message.role == "user" or claim.owner_only):
        case = "sub-agent" if delegated else "assistant" if message.role == "assistant" else "injected"
        values = {"said": said, "kind": message.source_kind or "?"}
        return replace(evidence, status="not the owner's words", case=case, values=values)
    if claim.wordings:
        if quoted and claim.edited:
            return replace(evidence, case="ok edited", values={"wanted": _start(claim.wordings[0], SAID)})
        if quoted:
            return evidence
        case = "same message" if matches else "text differs"
        return replace(evidence, status="text differs", case=case, values={"said": said})
    if matches is False:
        return replace(evidence, status="text differs", case="other message", values={"said": said})
    if claim.wordings is None:
        if matches:
            return replace(evidence, case="ok by digest")
        return replace(evidence, status="unreadable", case="unreadable", values={"reason": Phrase("forgotten")})
    return replace(evidence, case="ok spoken", values={"speaker": Phrase("user" if mine else "you")})


def _holds(said: str, words: str) -> bool:
    """Whether ``words`` stand in ``said`` after folding; of words without a letter, as they are."""
    folded = texts.fold(words)
    return folded in texts.fold(said) if folded else words.strip() in said


def is_owners(message: Message, log: SessionLog) -> bool:
    """Whether the owner typed it: into this session, or into the one a fork copied it from (DESIGN "Forks")."""
    if message.by_owner:
        return True
    header = log.header
    if message.seq >= header.seed_length or header.delegated or message.source_kind != "user":
        return False
    try:
        operation = log.event_at(message.seq).surface_op
    except (NotFound, Corrupt):
        return False
    return operation in (None, "append") or (isinstance(operation, dict) and operation.get("op") == "append")


def _spoken_around(log: SessionLog, seq: int, count: int) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """What was said before and after ``seq``; what a fork copied from its parent counts as said."""
    own = [one for one in log.messages() if one.is_said]
    before = [one for one in own if one.seq < seq][-count:]
    after = [one for one in own if one.seq > seq][:count]
    seed = log.header.seed_length
    if len(before) < count:
        earlier = [*islice(_copied(log, range(min(seq, seed) - 1, -1, -1)), count - len(before))]
        before = [*reversed(earlier), *before]
    if seq < seed:
        after = [*islice(_copied(log, range(seq + 1, seed)), count), *after][:count]
    return tuple(before), tuple(after)


def _copied(log: SessionLog, seqs: Iterable[int]) -> Iterator[Message]:
    for seq in seqs:
        message = _message_at(log, seq)
        if message is not None and (message.role == "assistant" or message.source_kind == "user"):
            yield message


def _start(text: str, length: int) -> str:
    """The beginning of a message on one line, as it may be shown."""
    line = texts.safe(texts.one_line(text))
    return line if len(line) <= length else line[: length - 1] + texts.ELLIPSIS
