"""config.json: every limit and default with its unit, and the one way to change them (S2-017)."""

from __future__ import annotations

import functools
import hashlib
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel, to_snake

from selfnote.errors import Conflict, LimitExceeded, require_writable
from selfnote.phrases import CHINESE, OLD_DEFAULT_HEADERS, PHRASES, Phrases
from selfnote.storage.jsonl import RawJson, members, patch_object
from selfnote.storage.lines import Line, TextFile, read_text_file
from selfnote.storage.locks import hold
from selfnote.storage.rewrite import rewrite
from selfnote.times import find_zone

log = logging.getLogger(__name__)

# Code points of the injected text (S2-198..204). Budgets are no settings, but for the profile's.
PERSONA_BUDGET = 320
NOTES_BUDGET = 200
PROFILE_BUDGET = 120
ENV_BUDGET = 230
CONCLUSIONS_BUDGET = 90
HABITS_BUDGET = 40
#: Code points of all six segments together (S2-198).
TOTAL_BUDGET = 1000
SEGMENTS = ("persona", "notes", "profile", "env", "conclusions", "habits")

#: Code points of L0 (S2-127), of L0 and L1 together (S2-128), and of the whole persona file (S2-129).
L0_LIMIT = 80
L0_L1_LIMIT = 320
PERSONA_FILE_LIMIT = 8000
#: Code points of a fact that may enter the profile (S2-201).
PROFILE_SENTENCE_LIMIT = 60
#: Code points reserved for temporary notes, at least (S2-118).
TEMP_FLOOR = 24
HEADER_LIMIT = 24
HINT_LIMIT = 80
PRONOUN_LIMIT = 8
#: Importance, given by a person (S2-167).
IMPORTANCE_RANGE = (0.0, 3.0)
DEFAULT_IMPORTANCE = 1.0

#: Seconds: a hit and a rotation (S2-171, A-15), a search (S2-102), a heartbeat (S2-228).
HIT_MERGE = 3600.0
SEEN_MERGE = 600.0
HEARTBEAT_MERGE = 60.0
#: Sessions whose last injection, and whose text of the running turn, are kept (DESIGN "Turn").
SESSIONS_KEPT = 50


def _known_zone(name: str | None) -> str | None:
    find_zone(name)
    return name


class ProfileOverride(BaseModel):
    """The owner's own wording of the profile, with the facts it was made from (A-08)."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="allow")

    text: str
    fact_ids: tuple[str, ...] = ()
    basis: str = ""


class Thresholds(BaseModel):
    """How alike two texts are before they are linked, 0 to 100 (A-13)."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="allow")

    near: float = Field(default=80.0, ge=50, le=100)


class Config(BaseModel):
    """The settings of one memory; a key the file lacks has its default.

    Lengths in code points, times in days unless said otherwise. ``revision`` is a hash of all values.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore", allow_inf_nan=False
    )

    injection_enabled: bool = True
    capture_enabled: bool = True
    persona_enabled: bool = True
    header: str = Field(default=CHINESE.default_header, max_length=HEADER_LIMIT)
    timing_hint: str = Field(default="", max_length=HINT_LIMIT)
    temp_ttl_days: int = Field(default=14, ge=1, le=90)
    half_life_days: float = Field(default=30.0, ge=1, le=365)
    profile_max_chars: int = Field(default=PROFILE_BUDGET, ge=20, le=PROFILE_BUDGET)
    profile_override: ProfileOverride | None = None
    max_chars: int = Field(default=8000, ge=1)
    max_items: int = Field(default=200, ge=1)
    habit_min_facts: int = Field(default=3, ge=1)
    silent_days: float = Field(default=30.0, gt=0)
    language: Literal["zh", "en"] = "zh"
    tz: Annotated[str | None, AfterValidator(_known_zone)] = None
    pronoun: str = Field(default=CHINESE.default_pronoun, min_length=1, max_length=PRONOUN_LIMIT)
    index_enabled: bool = False
    thresholds: Thresholds = Thresholds()

    @functools.cached_property
    def revision(self) -> str:
        """A hash of all values: what ``save(expect=…)`` compares."""
        return hashlib.sha256(self.model_dump_json(by_alias=True).encode()).hexdigest()[:16]

    @property
    def phrases(self) -> Phrases:
        """The sentences of the configured language."""
        return PHRASES[self.language]

    @property
    def header_text(self) -> str:
        """The header to print: the owner's, or the language's default when none is stored (S2-218)."""
        if "header" not in self.model_fields_set or self.header in OLD_DEFAULT_HEADERS:
            return self.phrases.default_header
        return self.header

    @property
    def pronoun_text(self) -> str:
        """The pronoun of the profile's name: the owner's, or the default of the language (A-16c)."""
        return self.pronoun if "pronoun" in self.model_fields_set else self.phrases.default_pronoun

    def budgets(self) -> dict[str, int]:
        """Segment -> code points."""
        return {
            "persona": PERSONA_BUDGET,
            "notes": NOTES_BUDGET,
            "profile": self.profile_max_chars,
            "env": ENV_BUDGET,
            "conclusions": CONCLUSIONS_BUDGET,
            "habits": HABITS_BUDGET,
        }


def setting_limits(name: str) -> dict[str, int]:
    """The limits of a setting as the settings' model states them: ``most``, ``low`` and ``high``."""
    found: dict[str, int] = {}
    for rule in Config.model_fields[name].metadata:
        for key, limit in (("most", "max_length"), ("low", "ge"), ("high", "le")):
            if (value := getattr(rule, limit, None)) is not None:
                found[key] = value
    return found


def parse_config(text: str) -> tuple[Config, tuple[str, ...]]:
    """The settings in ``text``, and what could not be used: a bad value has its default, its neighbours stay."""
    if not text.strip():
        return Config(), ()
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Config(), (f"config.json cannot be read ({error}); every setting has its default until it is mended",)
    if not isinstance(values, dict):
        return Config(), ("config.json is not a JSON object; every setting has its default until it is mended",)
    problems: list[str] = []
    while True:
        try:
            return Config.model_validate(values), tuple(problems)
        except ValidationError as error:
            for key in {str(one["loc"][0]): one for one in error.errors()}:
                found = next(one for one in error.errors() if str(one["loc"][0]) == key)
                dropped = values.pop(key, values.pop(to_camel(key), None))
                problems.append(f"config.json {key}={dropped!r}: {found['msg']}; the default is used")


class ConfigStore:
    """config.json of one memory: load and save."""

    def __init__(self, path: Path, lock: Path, *, read_only: bool = False) -> None:
        self._path = path
        self._lock = lock
        self._read_only = read_only

    def load(self) -> Config:
        """The settings as they are on disk now."""
        return self.load_with_problems()[0]

    def load_with_problems(self) -> tuple[Config, tuple[str, ...]]:
        """The settings, and one sentence for each value that could not be used."""
        file = read_text_file(self._path)
        return parse_config(file.text)

    def problems(self) -> tuple[str, ...]:
        """One sentence for each value in the file that could not be used."""
        return self.load_with_problems()[1]

    def save(self, *, expect: str | None = None, **changes: Any) -> Config:
        """Change settings; the rest of the file, unknown keys and layout included, stays byte for byte.

        Parameters
        ----------
        expect
            The revision the owner was shown.
        changes
            Settings by their Python names (``half_life_days=60``).

        Raises
        ------
        LimitExceeded
            For an unknown name or a value out of range; nothing was written.
        Conflict
            When the stored settings are not those of ``expect``, or the file is not a JSON object.
        Busy, ReadOnly
        """
        require_writable(self._path, read_only=self._read_only)
        unknown = sorted(set(changes) - set(Config.model_fields))
        if unknown:
            names = ", ".join(sorted(Config.model_fields))
            raise LimitExceeded(
                f"no setting is called {', '.join(unknown)}; there are {names}",
                told="no such setting",
                names=tuple(unknown),
            )

        def change(file: TextFile) -> tuple[TextFile, Config]:
            text = file.text
            text = text if text.strip() else "{}\n"
            current, _ = parse_config(text)
            if expect is not None and current.revision != expect:
                raise Conflict(
                    f"{self._path.name} has revision {current.revision}, expected {expect}: "
                    "it was changed meanwhile - load it again",
                    told="file changed",
                    file=self._path.name,
                )
            values = _validated(changes)
            try:
                patched = patch_object(text, _within(members(text), values))
            except (ValueError, RecursionError) as error:
                raise Conflict(
                    f"{self._path} is not a JSON object ({error}); mend it by hand first",
                    told="no JSON object",
                    path=self._path,
                ) from error
            body = patched.encode("utf-8", "surrogateescape")
            new = TextFile(file.path, file.bom, (Line(body, b""),), file.newline, file.fingerprint)
            return new, parse_config(patched)[0]

        with hold(self._lock):
            return rewrite(self._path, change)


def _validated(changes: dict[str, Any]) -> dict[str, Any]:
    """The changes under their names on disk, as JSON values."""
    try:
        model = Config.model_validate({to_camel(name): value for name, value in changes.items()}, strict=False)
    except ValidationError as error:
        raise _unusable(error) from error
    values = model.model_dump(by_alias=True, mode="json")
    return {to_camel(name): values[to_camel(name)] for name in changes}


def _unusable(error: ValidationError) -> LimitExceeded:
    """What to raise for values the model refuses: the message names each, the owner's sentence the first."""
    errors = error.errors()
    found = "; ".join(f"{'.'.join(map(str, one['loc']))}={one['input']!r}: {one['msg']}" for one in errors)
    message = f"{found}; nothing was written"
    first = errors[0]
    setting, value = to_snake(str(first["loc"][0])), first["input"]
    limits = setting_limits(setting)
    if first["type"] == "string_too_long":
        return LimitExceeded(
            message, told="setting too long", setting=setting, chars=len(value), most=first["ctx"]["max_length"]
        )
    kind = "whole number" if Config.model_fields[setting].annotation is int else "number"
    if "high" in limits:
        return LimitExceeded(
            message,
            told="setting outside",
            setting=setting,
            value=value,
            kind=kind,
            low=limits["low"],
            high=limits["high"],
        )
    if "low" in limits:
        return LimitExceeded(
            message, told="setting too low", setting=setting, value=value, kind=kind, low=limits["low"]
        )
    return LimitExceeded(message, told="setting unusable", setting=setting, value=value)


def _within(stored: Mapping[str, str], values: dict[str, Any]) -> dict[str, Any]:
    """The changes, those inside ``thresholds`` set in the stored object so that its other keys stay."""
    inner, raw = values.get("thresholds"), stored.get("thresholds", "")
    if not isinstance(inner, dict) or not raw.startswith("{"):
        return values
    return {**values, "thresholds": RawJson(patch_object(raw, inner))}
