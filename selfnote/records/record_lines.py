"""A JSONL file of small records: every readable line by its id, every other one as a bad line."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Generic, NamedTuple, Protocol, TypeVar

from pydantic import ValidationError

from selfnote.errors import LimitExceeded
from selfnote.storage.jsonl import LINE_CAP, BadLine, bad_line, over_cap
from selfnote.storage.lines import TextFile


class HasId(Protocol):
    """What a record is told apart by."""

    @property
    def id(self) -> str:
        """Its id."""
        ...


Record = TypeVar("Record", bound=HasId)


class ParsedRecords(NamedTuple, Generic[Record]):
    """Records by id in file order, the index of each one's line, and the lines nobody understands."""

    records: dict[str, Record]
    lines: dict[str, int]
    bad_lines: tuple[BadLine, ...]


def parse_records(file: TextFile, parse: Callable[[bytes], Record]) -> ParsedRecords[Record]:
    """Every line of ``file`` by ``parse``, which raises ValueError for what it cannot read.

    A second line with an id already seen is a bad line (DESIGN "Opening").
    """
    records: dict[str, Record] = {}
    lines: dict[str, int] = {}
    bad: list[BadLine] = []
    for index, line in enumerate(file.lines):
        if not line.raw.strip():
            continue
        reason = over_cap(line)
        if reason is None:
            try:
                record = parse(line.raw)
            except ValidationError as error:
                reason = "; ".join(str(one["msg"]) for one in error.errors())
            except ValueError as error:
                reason = str(error)
            else:
                if record.id not in records:
                    records[record.id], lines[record.id] = record, index
                    continue
                reason = f"id {record.id} is taken by an earlier line"
        bad.append(bad_line(file.path, index + 1, line, reason))
    return ParsedRecords(records, lines, tuple(bad))


def free_id(base: str, taken: Collection[str]) -> str:
    """``base``, or with ``.2``, ``.3``, … behind it when that is taken."""
    if base not in taken:
        return base
    return next(f"{base}.{number}" for number in range(2, len(taken) + 3) if f"{base}.{number}" not in taken)


def require_short(line: str, record: str, advice: str) -> str:
    """``line`` if readers will take it. Raises LimitExceeded, with what to do, when it is over 1 MB."""
    size = len(line.encode())
    if size > LINE_CAP:
        raise LimitExceeded(
            f"the {record} takes {size} bytes on its line, at most {LINE_CAP}; {advice}",
            told="line too long",
            record=record,
            size=size,
            cap=LINE_CAP,
        )
    return line


def strings(values: object) -> tuple[str, ...]:
    """The strings of a JSON list; none of anything else."""
    return tuple(one for one in values if isinstance(one, str)) if isinstance(values, list) else ()
