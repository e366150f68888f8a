"""The model's tools: write a note, read, search, stage with provenance; never approve, retire or rule (S2-018..037)."""

from __future__ import annotations

import copy
import inspect
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from selfnote import text as texts
from selfnote.config import Config
from selfnote.errors import BadSource, Busy, NotFound, ReadOnly, SelfnoteError
from selfnote.home import MemoryHome
from selfnote.phrases import ANSWERS, TOOL_DESCRIPTIONS
from selfnote.records.flags import Flag, find_flags
from selfnote.records.notes import PIN, TIER_LABELS, TIERS, Note, Tier
from selfnote.records.sources import parse_source
from selfnote.storage.fingerprints import digest
from selfnote.storage.locks import COMPOSE_WAIT
from selfnote.times import clock, local_time, require_aware, to_milliseconds

if TYPE_CHECKING:
    from selfnote.memory import Memory
    from selfnote.records.fact_lines import Fact
    from selfnote.sessions.log import SessionLog
    from selfnote.sessions.model import Message
    from selfnote.sessions.recall import Hit
    from selfnote.sessions.search import Found

log = logging.getLogger(__name__)

#: Results of one search that are shown, and so counted.
RESULT_LIMIT = 10
#: Repeated corrections that one answer reminds of.
TWICE_LIMIT = 3
#: Corrections on one page (S2-025).
PAGE_SIZE = 30
#: Characters shown of a message that a text is no quote of.
BEGINNING = 60
#: Tags of a candidate that the model may propose, and the characters of one.
TAG_LIMIT, TAG_LENGTH = 5, 20

# --- what the model is told; fixed at registration (S2-037) ----------------------------------------


def _object(required: Sequence[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


#: Actions of self_note; all but the first only read.
ACTIONS = ("write", "read", "persona", "corrections")
_TEXT = {"type": "string", "description": "正文 / the text"}
_SOURCE = {
    "type": "string",
    "description": "会话#序号 / session#seq, e.g. session-3611ac44#10457",
}
_QUERY = {"type": "string", "description": "关键词，空格隔开 / keywords separated by spaces"}
#: JSON schemas of the parameters, by tool.
TOOL_PARAMETERS: dict[str, dict[str, Any]] = {
    "self_note": _object(
        (),
        action={"type": "string", "enum": list(ACTIONS), "default": "write"},
        text=_TEXT,
        tier={"type": "string", "enum": list(TIERS), "default": "stable"},
        cursor={"type": "string", "description": "上一页给的游标 / the cursor of the page before"},
    ),
    "memory_stage": _object(
        ("text", "source"),
        text=_TEXT,
        source=_SOURCE,
        channel={"type": "string", "enum": ["rel", "env"], "default": "rel"},
        tags={"type": "array", "items": {"type": "string", "maxLength": TAG_LENGTH}, "maxItems": TAG_LIMIT},
    ),
    "memory_write": _object(("text", "source"), text=_TEXT, source=_SOURCE),
    "memory_search": _object(("query",), query=_QUERY),
    "memory_recall": _object(("query",), query=_QUERY),
}
#: Tools that write; a delegated session has none of them.
WRITING = ("memory_stage", "memory_write")

# --- what the model is answered ---------------------------------------------------------------------

#: What asks for nothing: a search for it would only raise counts (COMPLAINTS 76). Compared after folding.
_SMALL_TALK = re.compile(
    r"(?:好的?[吧呀嘞啦]?|行的?吧?|可以的?|嗯+|哦+|噢|啊|是的?|对的?|没错|收到|明白了?|知道了?|了解了?|懂了|谢谢你?|多谢|感谢|辛苦了?"
    r"|先这样吧?|就这样吧?|没事了?|不客气|继续|再见|拜拜|晚安|早安?|你好|您好|在吗|哈+|嘿+|棒|赞|ok(?:ay)?|k|yes|yep|yeah|no|nope|sure"
    r"|fine|good|great|nice|cool|done|thanks?(?:you|alot|somuch)?|thx|ty|please|hi|hello|hey|bye|goodbye|goodnight"
    r"|gotit|isee|understood|continue|goon|goahead|that'?sall|lgtm|👍|🙏|👌)+"
)


class Place(Protocol):
    """What a desk needs of a memory: where it is and how it was opened, nothing that acts."""

    @property
    def home(self) -> MemoryHome:
        """Its paths."""
        ...

    @property
    def zone_override(self) -> tzinfo | None:
        """The time zone ``open_memory(tz=…)`` asked for."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether nothing may be written."""
        ...


class Tool(NamedTuple):
    """One tool as a harness registers it: ``run`` takes the parameters by name and returns the text to show."""

    name: str
    description: str
    parameters: dict[str, Any]
    run: Callable[..., str]


class _Spot(NamedTuple):
    """All that a desk remembers: values, no record and no way to one."""

    home: MemoryHome
    zone: tzinfo | None
    read_only: bool
    session: str | None
    delegated: bool


class ModelDesk:
    """What the model may do with a memory, and nothing else (S2-009, S2-010, S2-031, A-30).

    The desk keeps where the memory is, never the memory: each call opens it anew inside, so that no approve, retire,
    edit or persona writing can be reached from here. Tools answer with a sentence, whatever they are given.

    Parameters
    ----------
    memory
        An opened memory; only its place is kept.
    session
        The session the tools are used in, for the search ledger.
    delegated
        Whether that is a sub-agent's: it gets the reading tools only, and its reading counts nothing. The seeds do
        not say; a sub-agent's words are not the owner's (COMPLAINTS 39).
    """

    __slots__ = ("_spot",)

    def __init__(self, memory: Place, *, session: str | None = None, delegated: bool = False) -> None:
        self._spot = _Spot(memory.home, memory.zone_override, memory.read_only, session, delegated)

    def __repr__(self) -> str:
        kind = "a sub-agent's" if self._spot.delegated else "the model's"
        return f"<ModelDesk at {self._spot.home.root}, {kind}>"

    def tools(self, language: str | None = None) -> tuple[Tool, ...]:
        """The tools to register, described in ``language`` (default: the configured one); fixed from then (S2-037)."""
        described = TOOL_DESCRIPTIONS[language if language in TOOL_DESCRIPTIONS else _language(self._spot)]
        names = [name for name in TOOL_PARAMETERS if not (self._spot.delegated and name in WRITING)]
        tools = [
            Tool(name, described[name], copy.deepcopy(TOOL_PARAMETERS[name]), getattr(self, name)) for name in names
        ]
        if self._spot.delegated:
            action = tools[0].parameters["properties"]["action"]
            action.update(enum=list(ACTIONS[1:]), default=ACTIONS[1])
        return tuple(tools)

    def call(self, name: object, arguments: object = None) -> str:
        """Run one tool by name with arguments as they came from the model; a wrong name or argument is told."""
        words = ANSWERS[_language(self._spot)]
        known = TOOL_PARAMETERS.get(name) if isinstance(name, str) else None
        if known is None or not isinstance(name, str):
            return words["unknown tool"].format(name=name, known=", ".join(TOOL_PARAMETERS))
        names = list(known["properties"])
        given = {} if arguments is None else arguments
        if not isinstance(given, Mapping):
            reason = f"{type(given).__name__}"
            return words["bad arguments"].format(name=name, reason=reason, known=", ".join(names))
        if odd := [str(key) for key in given if key not in names]:
            return words["bad arguments"].format(name=name, reason=", ".join(odd), known=", ".join(names))
        method: Callable[..., str] = getattr(self, name)
        required = [one for one in inspect.signature(method).parameters if one in known["required"]]
        return method(**{**dict.fromkeys(required), **{str(key): value for key, value in given.items()}})

    # --- the tools --------------------------------------------------------------------------------
    def self_note(
        self,
        action: str | None = None,
        text: str | None = None,
        tier: str = "stable",
        cursor: str | None = None,
        *,
        now: datetime | None = None,
    ) -> str:
        """Write one note (the default; a sub-agent's is to read), or read notes, L2 or corrections (S2-018, A-04)."""
        wanted = action if action is not None else "read" if self._spot.delegated else "write"

        def act(turn: _Turn) -> str:
            match wanted:
                case "write":
                    return _with_repeated(turn, _write_note(turn, text, tier))
                case "read":
                    return _with_repeated(turn, _read_notes(turn))
                case "persona":
                    return _read_persona(turn)
                case "corrections":
                    return _read_corrections(turn, cursor)
                case _:
                    return turn.say("bad action", value=wanted)

        return _answer(self._spot, act, now)

    def memory_stage(
        self,
        text: str,
        source: str | None = None,
        channel: str = "rel",
        tags: Sequence[str] = (),
        *,
        now: datetime | None = None,
    ) -> str:
        """Put a quote with its source among the candidates; only a person approves it (S2-021, S2-022)."""
        return _answer(self._spot, lambda turn: _stage(turn, text, source, channel, tags), now)

    def memory_write(self, text: str, source: str | None = None, *, now: datetime | None = None) -> str:
        """Write a summary whose pointer leads to a real message (S2-030)."""
        return _answer(self._spot, lambda turn: _summarise(turn, text, source), now)

    def memory_search(self, query: str, *, now: datetime | None = None) -> str:
        """Approved facts and active summaries that hold all keywords, each with its pointer (S2-029)."""
        return _answer(self._spot, lambda turn: _search(turn, query), now)

    def memory_recall(self, query: str, *, now: datetime | None = None) -> str:
        """What was said in earlier conversations, with its source (S2-019, S2-020)."""
        return _answer(self._spot, lambda turn: _recall(turn, query), now)


# --- one call -----------------------------------------------------------------------------------------
class _RefusalError(SelfnoteError):
    """A tool will not do it; the message is the answer."""


class _Turn(NamedTuple):
    """What one call works with; it is gone when the call has answered."""

    spot: _Spot
    memory: Memory
    config: Config
    now: datetime

    @property
    def may_count(self) -> bool:
        return not (self.spot.delegated or self.spot.read_only)

    def say(self, key: str, **values: object) -> str:
        return ANSWERS[self.config.language][key].format(**values)

    def refuse(self, key: str, **values: object) -> _RefusalError:
        return _RefusalError(self.say(key, **values))


def _answer(spot: _Spot, act: Callable[[_Turn], str], now: datetime | None) -> str:
    """The sentence of one call; whatever goes wrong is one too."""
    from selfnote.memory import Memory

    words = ANSWERS[_language(spot)]
    try:
        memory = Memory(spot.home, tz=spot.zone, read_only=spot.read_only)
        return act(_Turn(spot, memory, memory.config.load(), to_milliseconds(require_aware(now or clock()))))
    except _RefusalError as refusal:
        return str(refusal)
    except Busy:
        return words["busy"]
    except ReadOnly:
        return words["read_only"]
    except SelfnoteError as error:
        return words["refused"].format(reason=error)
    except OSError as error:
        return words["unusable"].format(reason=error.strerror or error)


def _language(spot: _Spot) -> str:
    """The configured language; Chinese when the settings cannot be read."""
    from selfnote.memory import Memory

    try:
        return Memory(spot.home).config.load().language
    except (SelfnoteError, OSError):
        return Config().language


def _require_writer(turn: _Turn) -> None:
    if turn.spot.delegated:
        raise turn.refuse("delegated")
    if turn.spot.read_only:
        raise turn.refuse("read_only")


def _require_text(turn: _Turn, text: object) -> str:
    """The text to be written: something to read, no secret in it (S2-034, COMPLAINTS 60)."""
    if not isinstance(text, str) or not texts.is_printable(texts.safe(text)):
        raise turn.refuse("no text")
    secrets = _rules(find_flags(text), "secret")
    if secrets:
        raise turn.refuse("secret", rules=secrets)
    return text


def _rules(flags: Iterable[Flag], *kinds: str) -> str:
    return ", ".join(flag.name for flag in flags if flag.kind in kinds)


# --- self_note ----------------------------------------------------------------------------------------
def _write_note(turn: _Turn, text: object, tier: object) -> str:
    from selfnote.injection.allowance import note_allowance

    _require_writer(turn)
    wanted = _require_text(turn, text)
    kind = _tier(turn, tier)
    note = turn.memory.notes.add(wanted, tier=kind, now=turn.now)
    said = [turn.say("noted", tier=kind, n=note.length, text=texts.safe(note.text))]
    if kind == "core":
        said.append(turn.say("core"))
    elif not turn.config.injection_enabled:
        said.append(turn.say("off"))
    else:
        allowance = note_allowance(turn.memory, kind, now=turn.now, without=note.id)
        if not allowance.would_fit(note.length):
            label = TIER_LABELS[kind] if turn.config.language == "zh" else kind
            said.append(turn.say("too long", n=note.length, tier=label, left=allowance.left, budget=allowance.budget))
    if note.archived:
        items = "".join(f"\n- {_note_line(turn, one)}" for one in note.archived)
        said.append(turn.say("archived", n=len(note.archived), items=items))
    flags = find_flags(wanted)
    if personal := _rules(flags, "personal"):
        said.append(turn.say("personal", rules=personal))
    if steering := _rules(flags, "instruction", "sends-data", "frame"):
        said.append(turn.say("steering", rules=steering))
    return "\n".join(said)


def _with_repeated(turn: _Turn, answer: str) -> str:
    """The answer, and what the owner had to correct twice and nobody has handled; never injected (A-11b)."""
    groups = [group for group in turn.memory.corrections.repeated() if any(one.status == "open" for one in group)]
    lines = [turn.say("twice", n=len(group), text=texts.safe(group[-1].text)) for group in groups[:TWICE_LIMIT]]
    return "\n".join([answer, *lines])


def _tier(turn: _Turn, tier: object) -> Tier:
    found = next((one for one in TIERS if tier in (one, TIER_LABELS[one])), None)
    if found is None:
        raise turn.refuse("bad tier", value=tier)
    return found


def _read_notes(turn: _Turn) -> str:
    """All notes, core and squeezed ones too, each with whether it is in this turn (S2-027)."""
    notes = turn.memory.notes.list()
    if not notes:
        return turn.say("no notes")
    injection = turn.memory.assemble(now=turn.now)
    present = set(injection.ids.get("notes", ()))
    expired = set(injection.expired_notes)

    def state(note: Note) -> str:
        if note.tier == "core" or not turn.config.injection_enabled:
            return "not injected"
        return "in" if note.id in present else "expired" if note.id in expired else "out"

    lines = [f"- {_note_line(turn, note)} ({turn.say(state(note))})" for note in notes]
    return "\n".join([turn.config.phrases.boundary, turn.say("notes", n=len(notes)), *lines])


def _note_line(turn: _Turn, note: Note) -> str:
    label = TIER_LABELS[note.tier] if turn.config.language == "zh" else note.tier
    day = f"{note.on.isoformat()} " if note.on else ""
    return f"{day}[{label}]{PIN if note.pinned else ''} {texts.safe(note.text)}"


def _read_persona(turn: _Turn) -> str:
    """L2 behind its boundary sentence; writes neither notes nor persona (S2-023, S2-024, S2-026, A-36)."""
    if not turn.config.persona_enabled:
        return turn.say("persona off")
    lines = [texts.safe(line) for line in turn.memory.persona.load().l2.splitlines()]
    if not any(texts.is_printable(line) for line in lines):
        return turn.say("no persona")
    if turn.may_count:
        try:
            turn.memory.persona.count_read(turn.now)
        except (SelfnoteError, OSError) as error:
            log.info("the read of L2 was not counted: %s", error)
    return "\n".join([turn.config.phrases.persona_boundary, *lines])


def _read_corrections(turn: _Turn, cursor: object) -> str:
    """One page of what the owner said was wrong (S2-025); writes nothing."""
    page = turn.memory.corrections.page(after=cursor if isinstance(cursor, str) and cursor else None, size=PAGE_SIZE)
    if not page.items:
        return turn.say("no corrections")
    zone = turn.memory.zone()
    lines = [f"- {_when(turn, one.said(zone))} {one.source} 「{texts.safe(one.text)}」" for one in page.items]
    said = [turn.config.phrases.boundary, turn.say("corrections", n=len(lines)), *lines]
    if page.next:
        said.append(turn.say("next page", cursor=page.next))
    return "\n".join(said)


# --- memory_stage, memory_write -----------------------------------------------------------------------
def _resolve(turn: _Turn, source: object) -> Message:
    """The message a source points at, if it may be quoted: the owner's own or the assistant's answer (S2-022)."""
    if not isinstance(source, str) or not source.strip():
        raise turn.refuse("no source")
    try:
        parsed = parse_source(source)
    except BadSource:
        raise turn.refuse("bad source", source=texts.safe(source)) from None
    if parsed.kind != "session" or parsed.number is None:
        raise turn.refuse("bad source", source=texts.safe(source))
    pointer = source.strip()
    try:
        # By id only: a path in a source would let the model read any file.
        session = turn.memory.sessions.read(turn.memory.sessions.find(parsed.name))
    except NotFound:
        raise turn.refuse("no session", source=pointer) from None
    if session.header.delegated:
        raise turn.refuse("sub-agent", source=pointer)
    message = _message_at(session, parsed.number, by_line=parsed.unit == "line")
    if message is None or not message.text.strip():
        raise turn.refuse("no message", source=pointer)
    if message.seq < session.header.seed_length:
        raise turn.refuse("seeded", source=pointer, parent=session.header.parent or "?")
    if message.role == "user" and not message.by_owner:
        raise turn.refuse("not owner", source=pointer)
    return message


def _message_at(session: SessionLog, number: int, *, by_line: bool) -> Message | None:
    if by_line:
        return next((message for message in session.messages() if message.line == number), None)
    try:
        return session.message_at(number)
    except NotFound:
        return None


def _folded(text: str) -> str:
    return " ".join(text.split())


def _stage(turn: _Turn, text: object, source: object, channel: object, tags: object) -> str:

    _require_writer(turn)
    if not isinstance(source, str) or not source.strip():
        raise turn.refuse("no source")
    quote = _folded(_require_text(turn, text))
    if channel not in ("rel", "env"):
        raise turn.refuse("bad channel")
    labels = _tags(turn, tags)
    message = _resolve(turn, source)
    said = _folded(message.text)
    if quote not in said:
        raise turn.refuse("not a quote", source=message.source, start=texts.safe(said[:BEGINNING]))
    flags = find_flags("\n".join([quote, *labels]))
    if secrets := _rules(flags, "secret"):
        raise turn.refuse("secret", rules=secrets)
    before = {known.id: known.occurrences for known in turn.memory.facts.all()}
    fact = turn.memory.facts.stage(
        quote,
        source=message.source,
        channel="env" if channel == "env" else "rel",
        tags=labels,
        capture_source="memory_stage",
        source_sha=digest(message.text),
        flags=[flag.name for flag in flags],
        now=turn.now,
    )
    return "\n".join(_what_became(turn, fact, message.source, before.get(fact.id)))


def _tags(turn: _Turn, tags: object) -> tuple[str, ...]:
    listed = tuple(tags) if isinstance(tags, list | tuple) else (tags,) if isinstance(tags, str) else None
    if tags is None:
        listed = ()
    if (
        listed is None
        or len(listed) > TAG_LIMIT
        or any(not isinstance(one, str) or not one.strip() or len(one) > TAG_LENGTH for one in listed)
    ):
        raise turn.refuse("bad tags", n=TAG_LIMIT, length=TAG_LENGTH)
    return tuple(_folded(one) for one in listed)


def _what_became(turn: _Turn, fact: Fact, source: str, before: int | None) -> Iterator[str]:
    """What a quote became: a new candidate, one more occurrence, or one the owner once retired (DESIGN "Repeats")."""
    if before is not None:
        grew = fact.occurrences > before
        approved = fact.status == "approved"
        key = ("known" if grew else "known source") if approved else ("seen again" if grew else "listed")
        yield turn.say(key, id=fact.id, n=fact.occurrences)
        return
    yield turn.say("staged", id=fact.id, source=source, text=texts.safe(fact.text))
    links: dict[str, list[str]] = {"near": [], "conflict": []}
    known = turn.memory.facts.read().by_id
    for link in fact.similar_to:
        peer = known.get(link.id)
        if link.rule.startswith("identical; retired"):
            day = link.rule.partition(" on ")[2] or turn.say("some day")
            yield turn.say("was retired", date=day, id=link.id)
        elif peer is not None and peer.status != "retired":
            links[link.kind].append(f"{link.id}「{texts.safe(peer.text)}」")
    for kind, ids in links.items():
        if ids:
            yield turn.say(kind, ids="；".join(ids))
    if fact.flags:
        yield turn.say("flagged", flags=", ".join(fact.flags))


def _summarise(turn: _Turn, text: object, source: object) -> str:
    from selfnote.records.summaries import Summaries

    _require_writer(turn)
    if not isinstance(source, str) or not source.strip():
        raise turn.refuse("no source")
    wanted = _require_text(turn, text)
    message = _resolve(turn, source)
    home = turn.memory.home
    store = Summaries(home.summaries, home.memory_lock, read_only=turn.spot.read_only)
    summary = store.write(wanted, source=message.source, source_sha=digest(message.text), now=turn.now)
    return turn.say("summarised", id=summary.id, source=summary.source, text=texts.safe(summary.text))


# --- memory_search ------------------------------------------------------------------------------------
def _require_query(turn: _Turn, query: object) -> str:
    """The query if it has a word to look for; small talk is refused: it must not raise a count (COMPLAINTS 76)."""
    if not isinstance(query, str) or not texts.query_tokens(query):
        raise turn.refuse("no query")
    if _SMALL_TALK.fullmatch(texts.fold(query)):
        raise turn.refuse("small talk")
    return query


def _search(turn: _Turn, query: object) -> str:
    result = turn.memory.search(_require_query(turn, query), limit=RESULT_LIMIT, now=turn.now)
    notes = [turn.say("unresolved", n=len(result.unresolved))] if result.unresolved else []
    if not result.hits:
        return "\n".join([turn.say("nothing"), *notes])
    _count_seen(turn, [one.id for one in result.hits if one.kind == "fact"], "memory_search")
    lines = [line for hit in result.hits for line in _found_lines(turn, hit)]
    return "\n".join([turn.config.phrases.boundary, _heading(turn, result.matched, len(result.hits)), *lines, *notes])


def _heading(turn: _Turn, count: int, shown: int) -> str:
    return turn.say("found", n=count, more=turn.say("shown", n=shown) if shown < count else "")


def _found_lines(turn: _Turn, one: Found) -> Iterator[str]:
    """A summary or fact with its pointer, a contradicted one marked as such (COMPLAINTS 35), an env fact in full."""
    kind = f"{turn.say(one.kind)} {one.channel}" if one.channel else turn.say(one.kind)
    mark = f" [{turn.say('in conflict', ids=', '.join(one.conflicts))}]" if one.conflicts else ""
    yield f"- [{kind}] {texts.safe(one.text)} ({one.source}, {one.id}){mark}"
    if one.channel == "env" and one.detail:
        yield f"  {turn.say('detail')}: " + "\n    ".join(texts.safe(line) for line in one.detail.splitlines())


def _count_seen(turn: _Turn, identifiers: Sequence[str], via: str) -> None:
    """Count what was found, at most once in ten minutes each; the search never waits for it (S2-102)."""
    from selfnote.records.ledger import count_seen

    if not identifiers or not turn.may_count:
        return
    home = turn.memory.home
    try:
        facts, session = turn.memory.facts, turn.spot.session
        count_seen(home, facts, identifiers, session=session, via=via, now=turn.now, wait=COMPOSE_WAIT)
    except (SelfnoteError, OSError) as error:
        log.info("what %s found was not counted: %s", via, error)


# --- memory_recall ------------------------------------------------------------------------------------
def _recall(turn: _Turn, query: object) -> str:
    result = turn.memory.recall(_require_query(turn, query), limit=RESULT_LIMIT)
    if not result.hits:
        return "\n".join([turn.say("nothing"), result.note])
    found = {hit.source for hit in result.hits}
    behind = [fact for fact in turn.memory.facts.approved() if found & {fact.source, *fact.sources}]
    _count_seen(turn, [fact.id for fact in behind], "memory_recall")
    lines = [_hit_line(turn, hit) for hit in result.hits]
    heading = _heading(turn, result.matched, len(result.hits))
    return "\n".join([turn.config.phrases.boundary, heading, *lines, result.note])


def _hit_line(turn: _Turn, hit: Hit) -> str:
    who = turn.say("you" if hit.role == "assistant" else "owner")
    mark = f" [{turn.say('retired source')}]" if "retired" in hit.badges else ""
    return f"- {hit.source} {_when(turn, hit.time)} {who}：{hit.snippet}{mark}"


def _when(turn: _Turn, time: datetime | None) -> str:
    """A time on the owner's clock."""
    return f"{local_time(time, turn.memory.zone()):%Y-%m-%d %H:%M}" if time is not None else turn.say("no time")
