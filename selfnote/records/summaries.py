"""Summaries: what the model made of a conversation, each with a pointer to it; never injected (S2-030, S2-246..248)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from selfnote.errors import BadSource, NotFound, require_writable
from selfnote.records.record_lines import free_id, parse_records, require_short
from selfnote.records.sources import parse_source
from selfnote.storage.jsonl import (
    BadLine,
    RawJson,
    encode,
    extend_array,
    members,
    patch_object,
)
from selfnote.storage.lines import TextFile, read_text_file
from selfnote.storage.locks import hold
from selfnote.storage.rewrite import rewrite
from selfnote.text import one_line, require_printable
from selfnote.times import EPOCH, clock, format_instant, parse_instant, require_aware, to_milliseconds

SummaryStatus = Literal["active", "void"]


#: What a line that is too long is told to be, and what to do.
_SUMMARY = ("summary", "write it shorter")


class Summary(BaseModel):
    """One line of summaries.jsonl. Times as written; see ``created`` and ``voided`` for the instants."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    text: str
    source: str = ""
    source_sha: str | None = None
    created_at: Any = None
    status: SummaryStatus = "active"
    voided_at: Any = None
    history: tuple[Any, ...] = ()

    def created(self, zone: tzinfo | None = None) -> datetime:
        """When it was written; 1970 when that cannot be read."""
        return parse_instant(self.created_at, zone) or EPOCH

    def voided(self, zone: tzinfo | None = None) -> datetime | None:
        """When it was voided; None for an active one, or when that cannot be read."""
        return parse_instant(self.voided_at, zone) if self.status == "void" else None


class SummaryFile(NamedTuple):
    """summaries.jsonl as read; ``lines`` tells where each summary stands."""

    summaries: tuple[Summary, ...]
    bad_lines: tuple[BadLine, ...]
    lines: dict[str, int]


def parse_summaries(file: TextFile) -> SummaryFile:
    """Every line of ``file``; a second line with an id already seen is a bad line."""
    parsed = parse_records(file, Summary.model_validate_json)
    return SummaryFile(tuple(parsed.records.values()), parsed.bad_lines, parsed.lines)


class Summaries:
    """The summaries of one memory: write with a pointer, void, never delete; there is no cap (S2-247, S2-248).

    ``resolve`` gives the digest of the message a source points at and raises NotFound when there is none; without it
    only the form of a source is checked here, and the tool ``memory_write`` resolves it (DESIGN "Sources").
    Errors: BadSource, NotFound, LimitExceeded, Busy, ReadOnly.
    """

    def __init__(
        self,
        path: Path,
        lock: Path,
        *,
        zone: Callable[[], tzinfo | None] = lambda: None,
        resolve: Callable[[str], str] | None = None,
        read_only: bool = False,
    ) -> None:
        self._path = path
        self._lock = lock
        self._zone = zone
        self._resolve = resolve
        self._read_only = read_only

    def read(self) -> SummaryFile:
        """The file as it is now."""
        return parse_summaries(read_text_file(self._path))

    def all(self) -> list[Summary]:
        """Every summary, voided ones included, in file order."""
        return list(self.read().summaries)

    def active(self) -> list[Summary]:
        """The summaries a search may find, the newest first."""
        zone = self._zone()
        live = [one for one in self.read().summaries if one.status == "active"]
        return sorted(live, key=lambda one: (one.created(zone), one.id), reverse=True)

    def get(self, identifier: str) -> Summary:
        """The summary with this id. Raises NotFound."""
        return _find(self.read(), identifier)

    def bad_lines(self) -> list[BadLine]:
        """The lines of summaries.jsonl that cannot be read; they stay as they are."""
        return list(self.read().bad_lines)

    def write(self, text: str, *, source: str, source_sha: str | None = None, now: datetime | None = None) -> Summary:
        """Keep one summary with the message it was made from (S2-030).

        Raises
        ------
        BadSource
            When ``source`` is not of the form ``<session>#<seq>`` (or ``#L<line>``).
        NotFound
            When no message stands there, where that can be told.
        LimitExceeded
            When nothing printable is in ``text``, or the line would be over 1 MB.
        """
        wanted = one_line(require_printable("summary", text))
        pointer = source.strip() if isinstance(source, str) else source
        if parse_source(pointer).kind != "session":
            raise BadSource(
                f"source {source!r} points at no conversation; a summary needs <session>#<seq>, "
                "e.g. session-3611ac44#10457"
            )
        if source_sha is None and self._resolve is not None:
            source_sha = self._resolve(pointer)
        created = format_instant(to_milliseconds(require_aware(now or clock())))

        def change(file: TextFile) -> tuple[TextFile, Summary]:
            taken = {one.id for one in parse_summaries(file).summaries}
            seed = hashlib.sha256(encode([wanted, pointer, created]).encode()).hexdigest()
            summary = Summary(
                id=free_id(f"s-{seed[:12]}", taken),
                text=wanted,
                source=pointer,
                source_sha=source_sha,
                created_at=created,
            )
            return file.appended(require_short(encode(summary.model_dump(by_alias=True)), *_SUMMARY)), summary

        return self._rewrite(change)

    def void(self, identifier: str, *, now: datetime | None = None) -> Summary:
        """Take a summary out of every search; its line stays, with when it was voided (S2-247). Raises NotFound.

        A voided one stays as it is.
        """
        at = format_instant(to_milliseconds(require_aware(now or clock())))

        def change(file: TextFile) -> tuple[TextFile, Summary]:
            parsed = parse_summaries(file)
            summary = _find(parsed, identifier)
            if summary.status == "void":
                return file, summary
            index = parsed.lines[identifier]
            raw = file.lines[index].text or ""
            step = {"at": at, "from": summary.status, "to": "void"}
            history = extend_array(members(raw).get("history"), [step], changed=lambda _: None)
            patched = patch_object(raw, {"status": "void", "voidedAt": at, "history": RawJson(history)})
            voided = summary.model_copy(update={"status": "void", "voided_at": at, "history": (*summary.history, step)})
            return file.replaced(index, require_short(patched, *_SUMMARY)), voided

        return self._rewrite(change)

    def _rewrite(self, change: Callable[[TextFile], tuple[TextFile, Summary]]) -> Summary:
        require_writable(self._path, read_only=self._read_only)
        with hold(self._lock):
            return rewrite(self._path, change)


def _find(parsed: SummaryFile, identifier: str) -> Summary:
    found = next((one for one in parsed.summaries if one.id == identifier), None)
    if found is None:
        raise NotFound(f"no summary has the id {identifier!r}; m.summaries.all() lists them")
    return found
