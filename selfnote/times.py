"""Instants: read in every form that occurs on disk, written in one."""

from __future__ import annotations

import functools
import math
import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS_A_DAY = 86400.0
#: An epoch number at least this large counts milliseconds, below it seconds (the year 5138 in seconds).
_MILLISECONDS_FROM = 1e11
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?\Z")


def require_aware(now: datetime) -> datetime:
    """``now`` in UTC; a naive time is refused, since its zone would be a guess.

    Raises
    ------
    ValueError
        When ``now`` carries no time zone.
    """
    if now.tzinfo is None or now.utcoffset() is None:
        message = f"now={now!r} has no time zone; pass a zone-aware time, e.g. datetime.now(UTC)"
        raise ValueError(message)
    return now.astimezone(UTC)


def clock() -> datetime:
    """The present instant in UTC; called at the edges only."""
    return datetime.now(UTC)


def format_instant(instant: datetime) -> str:
    """``instant`` as UTC ISO-8601 with milliseconds and ``Z`` (A-28)."""
    return require_aware(instant).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_milliseconds(instant: datetime) -> datetime:
    """``instant`` as it will stand on disk: whole milliseconds."""
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


def parse_instant(value: object, zone: tzinfo | None = None) -> datetime | None:
    """A stored time as a UTC instant, or None when it cannot be read.

    Reads ISO-8601 with ``Z``, with an offset or naive (then in ``zone``, None meaning the system's zone), and
    epoch seconds and milliseconds as numbers or digits (DESIGN "Files").
    """
    try:
        match value:
            case datetime():
                return in_utc(value, zone)
            case str():
                return _from_text(value.strip(), zone)
            case int() | float() if not isinstance(value, bool):
                return _from_epoch(float(value))
            case _:
                return None
    except (ValueError, OverflowError, OSError):
        return None


def _from_text(text: str, zone: tzinfo | None) -> datetime | None:
    if _NUMBER.match(text):
        # Eight digits are a calendar day written without dashes, not an epoch.
        return _from_epoch(float(text)) if len(text) > 8 else in_utc(datetime.fromisoformat(text), zone)
    return in_utc(datetime.fromisoformat(text), zone)


def in_utc(value: datetime, zone: tzinfo | None = None) -> datetime:
    """``value`` in UTC; a naive one is read in ``zone``, None meaning the system's zone with its own rules."""
    if value.tzinfo is None and zone is not None:
        value = value.replace(tzinfo=zone)
    return value.astimezone(UTC)


def _from_epoch(number: float) -> datetime | None:
    if not math.isfinite(number):
        return None
    seconds = number / 1000.0 if abs(number) >= _MILLISECONDS_FROM else number
    return EPOCH + timedelta(seconds=seconds)


@functools.lru_cache(maxsize=32)
def find_zone(name: str | None) -> tzinfo | None:
    """The zone called ``name``; None stands for the system's zone.

    Raises
    ------
    ValueError
        When no zone of that name is known.
    """
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"time zone {name!r} is not known; use a name such as 'Asia/Shanghai', or null for the system's"
        raise ValueError(message) from error


def local_date(instant: datetime, zone: tzinfo | None) -> date:
    """The calendar day of ``instant`` for the owner: zone rules, not a fixed offset (A-33, COMPLAINTS 69, 70)."""
    return instant.astimezone(zone).date()


def local_time(instant: datetime, zone: tzinfo | None) -> datetime:
    """``instant`` on the owner's clock."""
    return instant.astimezone(zone)


def days_since_epoch(instant: datetime) -> float:
    """``instant`` in days, fractions kept (COMPLAINTS 44)."""
    return instant.timestamp() / SECONDS_A_DAY
