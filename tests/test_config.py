"""config.json: every limit and default, changed without touching what is not understood (S2-017, DESIGN "Files")."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfnote
from selfnote import config as module
from selfnote.config import Config, ProfileOverride, parse_config


def put(memory, raw):
    path = memory.home.config
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    return path


def test_defaults_are_those_of_the_design(memory):
    """DESIGN "Files"; opening writes nothing."""
    assert json.loads(memory.config.load().model_dump_json(by_alias=True)) == {
        "injectionEnabled": True, "captureEnabled": True, "personaEnabled": True, "header": "记忆（我写的）", "timingHint": "",
        "tempTtlDays": 14, "halfLifeDays": 30.0, "profileMaxChars": 120, "profileOverride": None, "maxChars": 8000, "maxItems": 200,
        "habitMinFacts": 3, "silentDays": 30.0, "language": "zh", "tz": None, "pronoun": "他", "indexEnabled": False,
        "thresholds": {"near": 80.0},
    }  # fmt: skip
    assert not memory.home.config.exists()


def test_the_budgets_are_those_of_the_seed_and_add_up():
    """S2-198..204, A-01: six segments, 1000; only the profile's is a setting."""
    assert Config().budgets() == {
        "persona": 320,
        "notes": 200,
        "profile": 120,
        "env": 230,
        "conclusions": 90,
        "habits": 40,
    }
    assert sum(Config().budgets().values()) == module.TOTAL_BUDGET == 1000
    assert Config(profile_max_chars=20).budgets()["profile"] == 20
    assert (module.L0_LIMIT, module.L0_L1_LIMIT, module.PERSONA_FILE_LIMIT, module.TEMP_FLOOR) == (80, 320, 8000, 24)
    assert (module.HIT_MERGE, module.SEEN_MERGE, module.HEARTBEAT_MERGE, module.SESSIONS_KEPT) == (3600, 600, 60, 50)


RANGES = [
    ("temp_ttl_days", "tempTtlDays", [1, 14, 90], [0, 91, -1, 1.5, "x", None]),
    ("half_life_days", "halfLifeDays", [1, 30, 60.5, 365], [0, 0.99, 365.01, float("nan"), float("inf"), None, "x"]),
    ("profile_max_chars", "profileMaxChars", [20, 120], [19, 121, 50.5]),
    ("header", "header", ["", "x" * 24, "记" * 24], ["x" * 25, None, 3, "半\ud83d"]),
    ("timing_hint", "timingHint", ["", "x" * 80], ["x" * 81, None]),
    ("max_chars", "maxChars", [1, 8000], [0, -1]),
    ("max_items", "maxItems", [1, 200], [0, -1]),
    ("habit_min_facts", "habitMinFacts", [1, 3], [0]),
    ("silent_days", "silentDays", [0.5, 30], [0, -1, float("nan")]),
    ("language", "language", ["zh", "en"], ["de", "", None, "ZH"]),
    ("tz", "tz", [None, "Asia/Shanghai", "America/New_York"], ["Nowhere/City", "", "../etc/passwd", "/etc/localtime", 3]),
    ("pronoun", "pronoun", ["她", "TA", "x" * 8], ["", "x" * 9]),
    ("injection_enabled", "injectionEnabled", [True, False], ["perhaps", None, 2]),
    ("thresholds", "thresholds", [{"near": 50}, {"near": 100}], [{"near": 49}, {"near": 101}, 80, None]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "key", "value"), [(n, k, v) for n, k, good, _ in RANGES for v in good])
def test_a_value_in_range_is_saved_and_read_back(memory, name, key, value):
    """S2-038, S2-053..055, S2-172, S2-173."""
    saved = memory.config.save(**{name: value})
    loaded = memory.config.load()
    assert saved == loaded
    stored = getattr(loaded, name)
    assert (stored.model_dump(by_alias=True) if name == "thresholds" else stored) == value
    assert list(json.loads(memory.home.config.read_bytes())) == [key]
    assert memory.config.problems() == ()


@pytest.mark.parametrize(("name", "key", "value"), [(n, k, v) for n, k, _, bad in RANGES for v in bad])
def test_a_value_out_of_range_is_refused_and_nothing_written(memory, name, key, value):
    """S2-053, S2-172, DESIGN "Names": LimitExceeded naming it."""
    put(memory, '{ "x": 1 }')
    with pytest.raises(selfnote.LimitExceeded, match=key):
        memory.config.save(**{"capture_enabled": False, name: value})
    assert memory.home.config.read_bytes() == b'{ "x": 1 }'


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [(k, v, n) for n, k, _, bad in RANGES for v in bad if not (isinstance(v, str) and "\ud83d" in v)],
)
def test_a_bad_value_in_the_file_has_its_default_its_neighbours_stay_and_it_is_reported(memory, key, value, name):
    """DESIGN "Files": bad values fall back; the file stays as the owner wrote it."""
    path = put(memory, json.dumps({"captureEnabled": False, key: value, "indexEnabled": True}))
    before = path.read_bytes()
    config = memory.config.load()
    assert getattr(config, name) == getattr(Config(), name)
    assert (config.capture_enabled, config.index_enabled) == (False, True)
    (problem,) = memory.config.problems()
    assert key in problem
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "raw",
    [
        "[]",
        "null",
        "3",
        '"x"',
        "{",
        "{'a':1}",
        '{"a":1} x',
        '{"halfLifeDays":60}}',
        '{"halfLifeDays":60,}',
        "\x00\x00",
        "not json",
        "[" * 100_000,
    ],
)
def test_a_file_that_is_no_object_reads_as_defaults_with_one_report_and_is_never_overwritten(memory, raw):
    """COMPLAINTS 1, S2-014: mended by hand first; a save that could not be read back would be a lie."""
    path = put(memory, raw)
    config, problems = memory.config.load_with_problems()
    assert config == Config()
    assert len(problems) == 1
    assert "config.json" in problems[0]
    with pytest.raises(selfnote.Conflict, match=r"config\.json"):
        memory.config.save(half_life_days=45)
    assert path.read_bytes() == raw.encode()


@pytest.mark.parametrize("raw", [b"", b"\xef\xbb\xbf", b"{}", b"{ }\n"])
def test_an_empty_file_is_no_problem_and_takes_settings(memory, raw):
    put(memory, raw)
    assert memory.config.load_with_problems() == (Config(), ())
    assert memory.config.save(half_life_days=45).half_life_days == 45
    assert memory.config.load().half_life_days == 45


def test_an_unknown_setting_is_refused_by_name_with_the_known_ones(memory):
    """DESIGN "Names"."""
    with pytest.raises(selfnote.LimitExceeded, match=r"halfLife.*half_life_days"):
        memory.config.save(halfLife=3)
    assert not memory.home.config.exists()


ODD = '\ufeff{\r\n\t"future" : {"a":[1.0, 1]},\r\n\t"halfLifeDays" :  30.0 ,\r\n\t"esc":"\\u8bb0",\r\n\t"big":12345678901234567890123\r\n}\r\n'


def test_unknown_keys_layout_newlines_and_bom_survive_a_save_byte_for_byte(memory):
    """DESIGN "Files", COMPLAINTS 6, 7, 8."""
    put(memory, ODD)
    memory.config.save(half_life_days=60)
    assert memory.home.config.read_bytes().decode() == ODD.replace("30.0 ", "60.0 ")
    memory.config.save(max_items=9)
    assert memory.home.config.read_bytes().decode() == ODD.replace("30.0 ", "60.0 ").replace(
        "123\r\n}", '123,\r\n\t"maxItems":9\r\n}'
    )


def test_bytes_that_are_no_utf8_in_an_unknown_value_survive(memory):
    put(memory, b'{"note":"\xff\xfe","maxItems":7}')
    memory.config.save(max_items=8)
    assert memory.home.config.read_bytes() == b'{"note":"\xff\xfe","maxItems":8}'
    assert memory.config.load().max_items == 8


def test_unknown_keys_inside_a_setting_survive_a_change_of_their_neighbour(memory):
    """DESIGN "Files": unknown keys survive every rewrite; thresholds is {near 80, ...}."""
    put(memory, '{"thresholds":{"near":80,"future":0.5}}')
    memory.config.save(thresholds={"near": 85})
    assert json.loads(memory.home.config.read_bytes()) == {"thresholds": {"near": 85.0, "future": 0.5}}


def test_a_profile_override_is_saved_whole_and_taken_back(memory):
    """S2-090, A-08."""
    override = ProfileOverride(text="爱喝茶", fact_ids=("f-1",), basis="ab")
    assert memory.config.save(profile_override=override).profile_override == override
    assert json.loads(memory.home.config.read_bytes()) == {
        "profileOverride": {"text": "爱喝茶", "factIds": ["f-1"], "basis": "ab"}
    }
    assert memory.config.save(profile_override=None).profile_override is None


def test_settings_changed_meanwhile_are_a_conflict(memory):
    """COMPLAINTS 4, DESIGN "Revisions"."""
    shown = memory.config.load()
    memory.config.save(max_items=7)
    before = memory.home.config.read_bytes()
    with pytest.raises(selfnote.Conflict, match=r"config\.json"):
        memory.config.save(expect=shown.revision, max_items=8)
    assert memory.home.config.read_bytes() == before
    assert memory.config.save(expect=memory.config.load().revision, max_items=8).max_items == 8


@pytest.mark.parametrize("name", [n for n, *_ in RANGES])
def test_the_revision_is_of_every_value(memory, name):
    good = next(good for n, _, good, _ in RANGES if n == name)
    value = next(value for value in good if getattr(Config(), name) != value)
    before = memory.config.load().revision
    assert memory.config.save(**{name: value}).revision != before


def test_saving_the_same_value_again_changes_not_one_byte(memory):
    memory.config.save(half_life_days=60)
    before = memory.home.config.stat().st_mtime_ns
    memory.config.save(half_life_days=60)
    memory.config.save()
    assert memory.home.config.stat().st_mtime_ns == before


def test_the_header_follows_the_language_until_the_owner_writes_one(memory):
    """S2-218, S2-219: empty removes the line; a user-edited one stays."""
    assert memory.config.load().header_text == "记忆（我写的）"
    assert memory.config.save(language="en").header_text == "Memory (written by me)"
    assert memory.config.save(header="我的").header_text == "我的"
    assert memory.config.save(header="").header_text == ""


def test_only_a_known_old_default_header_is_replaced(memory, monkeypatch):
    """S2-219: tested with a made-up old default."""
    monkeypatch.setattr(module, "OLD_DEFAULT_HEADERS", ("旧抬头",))
    assert memory.config.save(header="旧抬头").header_text == "记忆（我写的）"
    assert memory.config.save(header="旧抬头 ").header_text == "旧抬头 "


def test_the_pronoun_follows_the_language_until_the_owner_gives_one(memory):
    """A-16c."""
    assert memory.config.load().pronoun_text == "他"
    assert memory.config.save(language="en").pronoun_text == "them"
    assert memory.config.save(pronoun="她").pronoun_text == "她"


def test_a_read_only_memory_refuses_to_save(memory, home):
    memory.config.save(max_items=7)
    with pytest.raises(selfnote.ReadOnly):
        selfnote.open_memory(home, read_only=True).config.save(max_items=8)
    assert memory.config.load().max_items == 7


@given(
    st.dictionaries(
        st.sampled_from([*(k for _, k, _, _ in RANGES), *(n for n, *_ in RANGES), "profileOverride", "x"]),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=30)
        | st.lists(st.integers(), max_size=2)
        | st.dictionaries(st.sampled_from(["near", "text", "a"]), st.none() | st.integers() | st.text(max_size=3)),
        max_size=6,
    )
)
def test_any_object_is_a_configuration(values):
    """COMPLAINTS 10: whatever stands in the file, loading ends and gives settings."""
    config, problems = parse_config(json.dumps(values))
    assert isinstance(config, Config)
    assert len(problems) <= 2 * len(values)


@given(st.text(max_size=40))
def test_any_text_is_a_configuration_or_the_defaults(text):
    assert isinstance(parse_config(text)[0], Config)


def test_importing_the_package_costs_no_tables_and_no_pydantic():
    """DESIGN: ``import selfnote`` costs no pandas, numpy, matplotlib, ipywidgets; nor the store's libraries."""
    code = "import sys, selfnote; print([n for n in ('pandas','numpy','matplotlib','ipywidgets','pydantic','filelock','rapidfuzz') if n in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_reading_and_writing_records_costs_no_tables(tmp_path):
    """DESIGN "Layers": pandas and friends are forbidden below audit."""
    code = (
        "import sys, selfnote; m = selfnote.open_memory(sys.argv[1]); m.facts.stage('甲', source='s#1'); m.notes.add('x');"
        "m.persona.save(l0='x'); m.config.save(max_items=3); m.habits.offered();"
        "print([n for n in ('pandas','numpy','matplotlib','ipywidgets') if n in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / ".dsh")], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "[]"
