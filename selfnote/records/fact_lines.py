"""One line of facts.jsonl: what it holds, how it is read tolerantly and written exactly (S2-155..167)."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from selfnote.config import DEFAULT_IMPORTANCE, IMPORTANCE_RANGE
from selfnote.records.record_lines import require_short
from selfnote.storage.jsonl import BadLine, bad_line, encode, over_cap
from selfnote.storage.lines import TextFile
from selfnote.times import format_instant, parse_instant

Status = Literal["candidate", "approved", "retired"]
Channel = Literal["rel", "env"]
Reason = Literal["convention", "prohibition", "preference", "correction"]

#: The owner's words for the four reasons of a capture (S2-081), read and shown.
REASON_LABELS: dict[str, str] = {
    "convention": "长期约定",
    "prohibition": "禁止",
    "preference": "偏好",
    "correction": "纠正",
}
#: status -> the states its owner may move it to (DESIGN "Transitions"); undo alone leads back.
TRANSITIONS: dict[str, tuple[str, ...]] = {
    "candidate": ("approved", "retired"),
    "approved": ("retired",),
    "retired": (),
}
_FROZEN = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")


#: A larger count is no count of ours; a heat could not be computed from it.
_MOST = 2**53


class Link(BaseModel):
    """One entry of ``similarTo``: another fact, how it relates, by which rule (DESIGN "Small records")."""

    model_config = _FROZEN

    id: str
    kind: Literal["near", "conflict"] = "near"
    rule: str = ""
    score: float | None = None
    resolved: str | None = None


class HistoryItem(BaseModel):
    """One change of a fact: when, through what, from and to; for other fields than the status, old and new."""

    model_config = ConfigDict(populate_by_name=True, frozen=True, extra="ignore")

    at: datetime | None = None
    via: str = ""
    from_: str | None = Field(default=None, alias="from")
    to: str | None = None
    field: str | None = None
    old: Any = None
    new: Any = None
    replaces: str | None = None
    replaces_revision: str | None = Field(default=None, alias="replacesRevision")


class Fact(BaseModel):
    """One line of facts.jsonl. Times are zone-aware instants, written in UTC; lengths are code points.

    ``problems`` says what of the line could not be used as it stands; the line itself stays as it was written.
    ``revision`` is a hash of exactly text, detail, channel, status, tags, importance and flags (DESIGN "Revisions").
    """

    model_config = _FROZEN

    id: str = Field(min_length=1)
    text: str
    detail: str | None = None
    channel: Channel = "rel"
    status: Status = "candidate"
    tags: tuple[str, ...] = ()
    source: str = ""
    source_sha: str | None = None
    capture_source: str | None = None
    reason: Reason | None = None
    importance: float = Field(default=DEFAULT_IMPORTANCE, ge=IMPORTANCE_RANGE[0], le=IMPORTANCE_RANGE[1])
    occurrences: int = Field(default=1, ge=0, le=_MOST)
    sources: tuple[str, ...] = ()
    similar_to: tuple[Link, ...] = ()
    flags: tuple[str, ...] = ()
    hit_count: int = Field(default=0, ge=0, le=_MOST)
    last_hit: datetime | None = None
    seen_count: int = Field(default=0, ge=0, le=_MOST)
    last_seen: datetime | None = None
    created_at: datetime | None = None
    approved_at: datetime | None = None
    history: tuple[HistoryItem, ...] = ()
    problems: tuple[str, ...] = Field(default=(), exclude=True)
    line: int = Field(default=0, exclude=True)

    @functools.cached_property
    def revision(self) -> str:
        """A hash of what the owner sees and decides."""
        seen = [
            self.text,
            self.detail,
            self.channel,
            self.status,
            list(self.tags),
            self.importance,
            list(self.flags),
        ]
        return hashlib.sha256(encode(seen).encode()).hexdigest()[:16]

    @functools.cached_property
    def without_counters(self) -> bytes:
        """What an injected text may depend on, hits and searches left out: the input of a choice's basis."""
        # Instants as numbers: the model's own zones print differently from one version of it to the next.
        times = [time and time.timestamp() for time in (self.approved_at, self.created_at)]
        seen = (self.id, self.text, self.channel, self.tags, self.importance, *times)
        return repr(seen).encode("utf-8", "backslashreplace")

    @property
    def open_conflicts(self) -> tuple[str, ...]:
        """Ids of the facts this one contradicts, until the owner resolves it."""
        return tuple(link.id for link in self.similar_to if link.kind == "conflict" and not link.resolved)


#: Years for which the model's own reading of a time and ``parse_instant`` agree beyond doubt.
_PLAIN_YEARS = (1980, 2200)
_TIME_FIELDS = ("last_hit", "last_seen", "created_at", "approved_at")
_REASONS = {label: reason for reason, label in REASON_LABELS.items()}


def parse_fact(raw: str, zone: tzinfo | None = None) -> Fact:
    """One line as a Fact; what is readable is read, the rest has its default and a sentence in ``problems``.

    Naive times are read in ``zone`` (None: the system's).

    Raises
    ------
    ValueError
        When the line is no JSON object, or has no usable id, text or status.
    """
    try:
        fact = Fact.model_validate_json(raw)
    except ValidationError:
        return _parse_leniently(raw, zone)
    first, last = _PLAIN_YEARS
    times = (fact.last_hit, fact.last_seen, fact.created_at, fact.approved_at, *[item.at for item in fact.history])
    for time in times:
        if time is not None and (time.tzinfo is None or not first < time.year < last):
            return _parse_leniently(raw, zone)
    return fact


def _parse_leniently(raw: str, zone: tzinfo | None) -> Fact:
    try:
        values = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from error
    if not isinstance(values, dict):
        raise ValueError(f"a JSON {type(values).__name__}, not an object")  # noqa: TRY004 - one error kind for a line
    problems: list[str] = []
    _read_times(values, zone, problems)
    _read_loosely(values, problems)
    while True:
        try:
            fact = Fact.model_validate(values)
        except ValidationError as error:
            _drop_unusable(values, error, problems)
        else:
            return fact.model_copy(update={"problems": tuple(problems)})


def _read_times(values: dict[str, Any], zone: tzinfo | None, problems: list[str]) -> None:
    for name in map(to_camel, _TIME_FIELDS):
        value = values.get(name)
        if value is None:
            continue
        read = parse_instant(value, zone)
        if read is None:
            problems.append(f"{name}={value!r} is not a time")
        values[name] = read
    history = values.get("history")
    for item in history if isinstance(history, list) else ():
        if isinstance(item, dict) and item.get("at") is not None:
            item["at"] = parse_instant(item["at"], zone)
            if item["at"] is None:
                problems.append("a history item has no readable time")


def _read_loosely(values: dict[str, Any], problems: list[str]) -> None:
    """Forms that other programs and hands write, taken for what they mean."""
    channel = values.get("channel", "rel")
    if not isinstance(channel, str) or channel not in {"rel", "env"}:
        problems.append(f"channel={channel!r} is unknown; read as rel")
        values["channel"] = "rel"
    if isinstance(values.get("reason"), str):
        values["reason"] = _REASONS.get(values["reason"], values["reason"])
    if isinstance(values.get("tags"), str):
        values["tags"] = [values["tags"]]
    links = values.get("similarTo")
    if isinstance(links, list):
        values["similarTo"] = [{"id": link} if isinstance(link, str) else link for link in links]
    importance = values.get("importance")
    if isinstance(importance, int | float) and not isinstance(importance, bool):
        low, high = IMPORTANCE_RANGE
        if not low <= importance <= high:
            problems.append(f"importance={importance!r} is outside {low:g} to {high:g}")
            nothing = isinstance(importance, float) and math.isnan(importance)
            values["importance"] = DEFAULT_IMPORTANCE if nothing else min(high, max(low, importance))


def _drop_unusable(values: dict[str, Any], error: ValidationError, problems: list[str]) -> None:
    """Take out what the model refused: single elements of a list, else the whole value; never id, text or status."""
    found = error.errors()
    for one in found:
        if one["loc"][0] in {"id", "text", "status"}:
            raise ValueError(f"{one['loc'][0]}={one['input']!r}: {one['msg']}") from error
    for key in dict.fromkeys(str(one["loc"][0]) for one in found):
        value = values[key]
        bad = {one["loc"][1] for one in found if one["loc"][0] == key and len(one["loc"]) > 1}
        if isinstance(value, list) and bad:
            problems += [f"{key}[{place}]={one!r} cannot be read" for place, one in enumerate(value) if place in bad]
            values[key] = [one for place, one in enumerate(value) if place not in bad]
        else:
            reason = next(one["msg"] for one in found if one["loc"][0] == key)
            problems.append(f"{key}={values.pop(key)!r} cannot be read: {reason}")


@dataclass(frozen=True, slots=True)
class FactFile:
    """facts.jsonl as read: the facts in file order, the lines nobody understands, and the bytes."""

    facts: tuple[Fact, ...]
    bad_lines: tuple[BadLine, ...]
    file: TextFile
    by_id: Mapping[str, Fact] = field(default_factory=dict)


def parse_facts(file: TextFile, zone: tzinfo | None = None, *, known: FactFile | None = None) -> FactFile:
    """Every line of ``file``; a second line with an id already seen is a bad line (DESIGN "Opening").

    Lines that ``known``, an earlier reading in the same zone, holds at the same place are not parsed again
    (PERFORMANCE T12).
    """
    facts: dict[str, Fact] = {}
    bad: list[BadLine] = []
    before = known.file.lines if known is not None else ()
    parsed = {fact.line: fact for fact in known.facts} if known is not None else {}
    for number, line in enumerate(file.lines, start=1):
        fact = parsed.get(number)
        if fact is not None and fact.id not in facts and before[number - 1].raw == line.raw:
            facts[fact.id] = fact
            continue
        if not line.raw.strip():
            continue
        reason = over_cap(line)
        raw = None if reason else line.text
        if reason is None and raw is None:
            reason = "not UTF-8"
        if raw is not None:
            try:
                fact = parse_fact(raw, zone)
            except ValueError as error:
                reason = str(error)
            else:
                if fact.id not in facts:
                    fact.__dict__["line"] = number
                    facts[fact.id] = fact
                    continue
                reason = f"id {fact.id} is taken by line {facts[fact.id].line}"
        bad.append(bad_line(file.path, number, line, reason or "cannot be read"))
    return FactFile(tuple(facts.values()), tuple(bad), file, facts)


def waiting_order(candidates: Iterable[Fact]) -> list[Fact]:
    """Candidates as the owner should see them: red flags first, then most often heard, then oldest."""
    return sorted(candidates, key=lambda fact: (not fact.flags, -fact.occurrences, fact.line))


def open_conflict_pairs(facts: Iterable[Fact]) -> list[tuple[str, str]]:
    """Pairs of ids in an unresolved conflict; a link on either side counts. Each pair once, in the order given."""
    known = {fact.id: fact for fact in facts}
    pairs: dict[tuple[str, str], None] = {}
    for fact in known.values():
        for other in fact.open_conflicts:
            if other in known and (other, fact.id) not in pairs and other != fact.id:
                pairs[(fact.id, other)] = None
    return list(pairs)


def to_json(name: str, value: Any) -> Any:
    """A field of a fact as it stands on disk."""
    if isinstance(value, datetime):
        return format_instant(value)
    if name == "similar_to":
        return [_link_json(link) for link in value]
    if name == "history":
        return [history_json(item) for item in value]
    return list(value) if isinstance(value, tuple) else value


def _link_json(link: Link) -> dict[str, Any]:
    values = link.model_dump(by_alias=True)
    return {key: value for key, value in values.items() if value is not None or key != "resolved"}


def history_json(item: HistoryItem) -> dict[str, Any]:
    """A history item as it stands on disk."""
    values: dict[str, Any] = {"at": format_instant(item.at) if item.at else None, "via": item.via}
    values |= {"from": item.from_, "to": item.to}
    if item.field is not None:
        values |= {"field": item.field, "old": item.old, "new": item.new}
    if item.replaces is not None:
        values |= {"replaces": item.replaces, "replacesRevision": item.replaces_revision}
    return values


def encode_fact(fact: Fact) -> str:
    """A new line for ``fact``; at most 1 MB.

    Raises
    ------
    LimitExceeded
        When the line would be over the cap, so that no reader would take it.
    """
    values = {to_camel(name): to_json(name, getattr(fact, name)) for name in _DISK_FIELDS}
    for optional in ("detail", "sourceSha", "approvedAt", "captureSource"):
        if values[optional] is None:
            del values[optional]
    return require_short(encode(values), *FACT_LINE)


#: What a line that is too long is told to be, and what to do.
FACT_LINE = ("fact", "shorten text or detail")
_DISK_FIELDS = tuple(name for name, info in Fact.model_fields.items() if not info.exclude)
