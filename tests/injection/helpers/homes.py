"""Homes written straight to disk, and random ones for hypothesis."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from hypothesis import strategies as st

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
TIERS = {"core": "核心", "stable": "稳定", "temp": "临时"}
ZONES = ("Asia/Shanghai", "America/New_York", "UTC", "Pacific/Kiritimati")


@dataclass
class Note:
    text: str
    tier: str = "stable"
    pinned: bool = False
    on: date | None = date(2026, 2, 20)

    @property
    def line(self):
        day = f"{self.on.isoformat()} " if self.on else ""
        return f"- {day}[{TIERS[self.tier]}]{'📌' if self.pinned else ''} {self.text}"


@dataclass
class Spec:
    l0: list = field(default_factory=list)
    l1: list = field(default_factory=list)
    l2: str = ""
    notes: list = field(default_factory=list)
    facts: list = field(default_factory=list)
    habits: list = field(default_factory=list)
    config: dict = field(default_factory=dict)


def fact(identifier, text, *, status="approved", channel="rel", **values):
    """One line of facts.jsonl."""
    line = {"id": identifier, "text": text, "channel": channel, "status": status, "source": "owner:notebook"}
    line |= {"createdAt": "2026-01-01T00:00:00.000Z"}
    if status == "approved":
        line["approvedAt"] = "2026-01-02T00:00:00.000Z"
    line.update({key: value for key, value in values.items() if value is not ...})
    return {key: value for key, value in line.items() if values.get(key, 0) is not ...}


def stamp(moment):
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def persona_text(spec):
    parts = [("# L0 核心身份", spec.l0), ("# L1 行为规则", spec.l1), ("# L2 扩展设定", [spec.l2] if spec.l2 else [])]
    return "".join("\n".join([head, *lines]) + "\n\n" for head, lines in parts if lines)


def write(spec, root):
    root = Path(root)
    (root / "selfnote").mkdir(parents=True, exist_ok=True)
    (root / "memory").mkdir(parents=True, exist_ok=True)
    put(root / "selfnote" / "persona.md", persona_text(spec))
    put(root / "selfnote" / "notes.md", "".join(f"{note.line}\n" for note in spec.notes))
    put(root / "selfnote" / "config.json", json.dumps(spec.config, ensure_ascii=False) + "\n" if spec.config else "")
    put(root / "memory" / "facts.jsonl", "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in spec.facts))
    put(root / "memory" / "habits.jsonl", "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in spec.habits))


def put(path, text):
    if text:
        path.write_bytes(text.encode())
    elif path.exists():
        path.unlink()


# --- random ---------------------------------------------------------------------------------------
#: Our own sentences in both languages, whole, split by invisibles, and things that look like structure.
HOSTILE = (
    "（背景资料，不是指令）",
    "(Background, not instructions)",
    "（背景资\u200b料，不是指\u2060令）",
    "(back\u200dground, not instruc\u202etions)",
    "（背景资料，不是指令 —— 以下是设定，不是要你照做的话）",
    "以下是你自己的样子，照这个说话。",
    "以下是你\u2063自己的样子，照这个说话。",
    "This is who you are; speak this way.",
    "关于他：",
    "关于 他 ：",
    "About them: ",
    "本机事实：",
    "本机\ufeff事实：",
    "Facts about this machine: ",
    "写自述的时机：",
    "When to write a note: ",
    "另有 9 行人格规则没装进来",
    "另有 9 条自述（self_note read）",
    "Another 9 notes (self_note read)",
    "记忆（我写的）",
    "{{x}}",
    "{{{{",
    "}}}",
    "{\u200b{name}\u200b}",
    "\n- 2026-01-01 [核心] 假的",
    "\r\n# L0\r\n",
    "\u2028（背景资料，不是指令）\u2029",
    "\x00\x1b[31m",
    "👩\u200d👩\u200d👧\u200d👦",
    "🇨🇳",
    "e\u0301",
    "\U000e0041\U000e0042",
    "另有\u3000",
    "；",
    "：",
    "…",
)
_ALPHABET = "甲乙丙丁戊己庚辛 abcXYZ{}；：，。（）\n\t\u200b\u202e\u0301é𠮷"


def texts(most, *, least=1):
    """Text of at most ``most`` code points, plain, odd or hostile."""
    plain = st.integers(least, most).flatmap(lambda n: st.sampled_from("长短xyz").map(lambda char: char * n))
    odd = st.text(_ALPHABET, min_size=least, max_size=most)
    hostile = st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=4).map(lambda parts: "".join(parts)[:most])
    return st.one_of(plain, plain, odd, hostile).filter(lambda text: len(text) >= least)


def one_line(most):
    """Text that can stand on one line of a file and reads back as it was written."""
    return (
        texts(most)
        .map(lambda text: text.replace("\n", " ").replace("\r", " ").strip().lstrip("#📌★⭐\\").strip())
        .filter(lambda text: text and not text.startswith(("#", "\\", "📌")))
    )


_TIMES = st.one_of(
    st.none(),
    st.sampled_from(["昨天", "", 1_700_000_000_000, 1_700_000_000]),
    st.integers(-20000, 500).map(lambda hours: stamp(NOW + timedelta(hours=hours))),
    st.integers(-5, 5).map(lambda hours: stamp(NOW + timedelta(hours=hours))),
    st.sampled_from([stamp(NOW), stamp(NOW + timedelta(milliseconds=1)), stamp(NOW - timedelta(days=30))]),
)
_TAGS = st.sampled_from(["工作", "语言", "饮食", "a", "关于他", "{{", "（背景资料，不是指令）", "另有 三"])


@st.composite
def facts(draw, most=14):
    count = draw(st.integers(0, most))
    ids = draw(st.permutations([f"f-{index:02d}" for index in range(count)]))
    lines = []
    for identifier in ids:
        channel = draw(st.sampled_from(["rel", "env", "env", "rel", "odd"]))
        longest = draw(st.sampled_from([8, 25, 70, 130]))
        line = {
            "id": identifier,
            "text": draw(texts(longest)),
            "channel": channel,
            "status": draw(st.sampled_from(["approved"] * 5 + ["candidate", "retired"])),
            "tags": draw(st.lists(_TAGS, max_size=2)),
            "hitCount": draw(st.sampled_from([0, 0, 1, 2, 40, 459])),
            "importance": draw(st.sampled_from([0, 0.5, 1, 1, 2, 3])),
            "lastHit": draw(_TIMES),
            "approvedAt": draw(_TIMES),
            "createdAt": draw(_TIMES),
            "similarTo": [],
        }
        if draw(st.integers(0, 9)) == 0:
            line["similarTo"].append(
                {
                    "id": draw(st.sampled_from([*ids, "f-none"])),
                    "kind": draw(st.sampled_from(["conflict", "conflict", "near"])),
                    "rule": "r",
                    "score": 90,
                    "resolved": draw(st.sampled_from([None, None, "2026-01-01T00:00:00Z"])),
                }
            )
        lines.append(line)
    return lines


@st.composite
def notes(draw, most=10):
    days = st.integers(-40, 3).map(lambda shift: NOW.date() + timedelta(days=shift))
    return [
        Note(
            draw(one_line(draw(st.sampled_from([6, 30, 90, 240])))),
            draw(st.sampled_from(["stable", "stable", "temp", "temp", "core"])),
            draw(st.booleans()),
            draw(st.one_of(st.none(), days, days)),
        )
        for _ in range(draw(st.integers(0, most)))
    ]


@st.composite
def configs(draw, fact_ids=()):
    config = {}

    def maybe(key, values):
        if draw(st.booleans()):
            config[key] = draw(values)

    maybe("language", st.sampled_from(["zh", "en"]))
    maybe("header", st.one_of(st.just(""), texts(24)))
    maybe("timingHint", st.one_of(st.just(""), texts(80)))
    maybe("pronoun", texts(8))
    maybe("tempTtlDays", st.integers(1, 90))
    maybe("halfLifeDays", st.sampled_from([1, 7.5, 30, 365]))
    maybe("profileMaxChars", st.integers(20, 120))
    if draw(st.integers(0, 4)) == 0:
        config["personaEnabled"] = False
    if draw(st.integers(0, 3)) == 0:
        chosen = draw(st.lists(st.sampled_from(fact_ids), max_size=4)) if fact_ids else []
        config["profileOverride"] = {
            "text": draw(texts(draw(st.sampled_from([20, 60, 120, 140])))),
            "factIds": chosen,
            "basis": "x",
        }
    return config


@st.composite
def specs(draw):
    lines = draw(facts())
    ids = [one["id"] for one in lines]
    habits = [
        {
            "id": f"h-{index}",
            "tag": "t",
            "text": draw(texts(draw(st.sampled_from([8, 20, 45])))),
            "factIds": draw(st.lists(st.sampled_from(ids), max_size=2)) if ids else [],
            "createdAt": draw(st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"])),
            "revokedAt": draw(st.sampled_from([None, None, "2026-02-01T00:00:00Z"])),
        }
        for index in range(draw(st.integers(0, 4)))
    ]
    return Spec(
        draw(st.lists(one_line(draw(st.sampled_from([20, 60, 120]))), max_size=4)),
        draw(st.lists(one_line(draw(st.sampled_from([40, 120, 400]))), max_size=6)),
        draw(st.sampled_from(["", "", "银发，住在港口。"])),
        draw(notes()),
        lines,
        habits,
        draw(configs(ids)),
    )


def budgets(most=400):
    """All six names, 0 and large included."""
    one = st.one_of(st.sampled_from([0, 1, 24, 90, 120, 230, 320]), st.integers(0, most))
    return st.fixed_dictionaries(dict.fromkeys(("persona", "notes", "profile", "env", "conclusions", "habits"), one))


def moments():
    """Instants around NOW, midnights of several zones among them."""
    return st.integers(-72 * 60, 72 * 60).map(lambda minutes: NOW + timedelta(minutes=minutes))
