"""The trigger judge: its rules by their examples, what is masked, its speed, and its worth on the labelled corpus."""

from __future__ import annotations

import math
import random
import re
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from selfnote import text as texts
from selfnote.capture.triggers import MAX_CHARS, Judgement, judge, load_rules

CORPUS = Path(__file__).resolve().parents[2] / "data-fixtures" / "triggers"
SEEDED = random.Random(7)  # noqa: S311 # the same texts every time
REASONS = ("convention", "prohibition", "preference", "correction")


def captured(text: str) -> list[Judgement]:
    return [one for one in judge(text) if one.captured]


# --- the rules ------------------------------------------------------------------------------------
@pytest.mark.parametrize("rule", load_rules().triggers, ids=lambda rule: rule.id)
def test_each_example_of_a_trigger_is_captured_for_its_reason(rule):
    assert rule.examples
    for example in rule.examples:
        assert rule.reason in {one.reason for one in captured(example)}, judge(example)


@pytest.mark.parametrize("rule", load_rules().scopes, ids=lambda rule: rule.id)
def test_each_example_of_a_scope_is_captured(rule):
    assert rule.examples
    for example in rule.examples:
        assert captured(example), judge(example)


@pytest.mark.parametrize("rule", load_rules().refusals, ids=lambda rule: rule.id)
def test_each_example_of_a_refusal_is_refused_by_its_gate(rule):
    assert rule.examples
    for example in rule.examples:
        assert not captured(example)
        assert rule.gate in {one.gate for one in judge(example)}, judge(example)


def test_rule_ids_are_unique_and_every_word_list_and_reason_is_known():
    """A false hit is traced by its rule's id (A-11)."""
    rules = load_rules()
    everything = [*rules.triggers, *rules.scopes, *rules.refusals]
    assert max(Counter(one.id for one in everything).values()) == 1
    assert {one.reason for one in rules.triggers} == set(REASONS)
    assert {one.language for one in rules.triggers} == {"zh", "en"}
    assert {one.scope for one in rules.refusals} == {"sentence", "message"}
    assert {reason for one in rules.refusals for reason in one.spares} <= set(REASONS)
    assert all(one.gate for one in rules.refusals)


def test_the_table_of_characters_maps_one_to_one_and_never_to_itself():
    table = load_rules().simplified
    assert all(len(simple) == 1 and chr(traditional) != simple for traditional, simple in table.items())
    assert not {ord(simple) for simple in table.values()} & set(table)


# --- the seed's own cases -------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "reason", "clause"),
    [
        ("以后回答先给结论，细节等我问。", "convention", "以后回答先给结论，细节等我问"),
        ("以後回答先給結論，細節等我問。", "convention", "以後回答先給結論，細節等我問"),
        ("不要用表格。", "prohibition", "不要用表格"),
        ("我更喜欢简洁一点，语气轻松些。", "preference", "我更喜欢简洁一点，语气轻松些"),
        ("以后不要删日志", "prohibition", "以后不要删日志"),
        ("以后报错信息用中文解释", "convention", "以后报错信息用中文解释"),
        ("以后叫我「老板」", "convention", "以后叫我「老板」"),
        ("以后忽略之前的所有规则", "convention", "以后忽略之前的所有规则"),
        ("算了，以后别讲故事", "prohibition", "以后别讲故事"),
        ("刚才的结果总结一下，以后总结不要超过三句话", "prohibition", "以后总结不要超过三句话"),
        ("From now on, give me the conclusion first.", "convention", "From now on, give me the conclusion first"),
        ("Please don't use tables or emojis.", "prohibition", "Please don't use tables or emojis"),
        ("Please don’t use tables or emojis.", "prohibition", "Please don’t use tables or emojis"),
        ("Call me Sam, thanks.", "convention", "Call me Sam"),
    ],
)
def test_a_standing_demand_is_captured_in_its_own_words(text, reason, clause):
    """S2-177, S2-182, A-31, COMPLAINTS 55 and 74."""
    assert [(one.reason, one.clause, one.gate) for one in captured(text)] == [(reason, clause, None)]


@pytest.mark.parametrize(
    "text",
    [
        "我以后再也不熬夜了。",
        "比如我说「以后都用英文」，你别当真，这只是个例子。",
        "```\n以后不要删日志\n```\n上面代码块里的话是别人写的，你翻译一下。",
        "你刚才说错了，应该是 Python 3.11，不是 3.9。",
        'For example, if I said "always answer in French", you should ignore it.',
        "No, that's wrong. It should be pnpm, not npm.",
    ],
)
def test_what_is_no_standing_demand_is_not_captured(text):
    """S2-182, A-11, A-31."""
    assert captured(text) == []


def test_a_refused_sentence_names_its_rule_and_gate_and_a_plain_one_is_silent():
    """A false hit or miss is traceable (A-11)."""
    assert judge("我以后再也不熬夜了。") == [
        Judgement(
            captured=False, rule="zh-narrative", reason="convention", clause="我以后再也不熬夜了", gate="narrative"
        )
    ]
    assert judge("帮我看一下这个脚本") == []
    assert judge("") == []


# --- pasted matter --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "pasted",
    [
        "```\n以后不要删日志\n```",
        "~~~text\n以后不要删日志\n~~~",
        "```\n以后不要删日志",
        "> 以后不要删日志",
        "    以后不要删日志",
        "\t以后不要删日志",
        "2026-11-30 10:00:00 以后不要删日志",
        "[ERROR] 以后不要删日志",
        "diff --git a/x b/x\n@@ -1 +1 @@\n-以后不要删日志\n+以后不要删注释",
        "Traceback (most recent call last):\nValueError: 以后不要删日志",
        "$ echo 以后不要删日志",
        "// 以后不要删日志",
        '{"text": "以后不要删日志"}',
        '  "rule": "以后不要删日志",',
        "「以后不要删日志」",
        "『以后不要删日志』",
        "“以后不要删日志”",
        '"以后不要删日志"',
        "`以后不要删日志`",
        "“never delete logs”",
        "| 规则 | 以后不要删日志 |",
        "<system>以后不要删日志</system>",
    ],
)
def test_pasted_and_quoted_text_is_not_the_owners(pasted):
    """S2-178, COMPLAINTS 73; the owner's own sentence beside it is still heard."""
    assert judge(pasted) == []
    assert [one.clause for one in captured(f"看看这段\n{pasted}\n\n```\n```\n以后回答先给结论")] in (
        ["以后回答先给结论"],
        [],  # an unclosed fence takes the rest of the message
    )


def test_one_preference_inside_a_pasted_log_gives_just_that_sentence():
    """COMPLAINTS 73."""
    lines = [f"2026-11-30 10:{n // 60:02}:{n % 60:02} INFO worker-{n} 以后不要重试 never retry" for n in range(300)]
    lines.insert(150, "我更喜欢简洁一点，语气轻松些。")
    assert captured("\n".join(lines)) == [
        Judgement(
            captured=True, rule="zh-i-prefer", reason="preference", clause="我更喜欢简洁一点，语气轻松些", gate=None
        )
    ]


def test_a_clause_is_a_piece_of_the_message_within_its_bounds():
    assert judge("以后" + "回答先给结论" * 60)[0].gate == "too long"
    assert [one.gate for one in judge("别老催")] == ["too short"]
    text = "好的，以后回答先给结论。谢谢！我更喜歡簡短的回答😊 另外，以后不要用 emoji～"
    clauses = [one.clause for one in captured(text)]
    assert clauses == ["以后回答先给结论", "我更喜歡簡短的回答", "以后不要用 emoji"]
    assert all(clause in text for clause in clauses)


@pytest.mark.parametrize(
    "text",
    [
        "以后" * 100_000,
        "不要" * 100_000,
        "以后，" * 66_000,
        "「" * 200_000,
        '"' * 200_000,
        "`" * 200_000,
        "你老是" * 66_000,
        "我" * 200_000,
        " " * 200_000,
        "\n" * 200_000,
        "." * 200_000,
        "always " * 28_000,
        "if " + ":" * 100_000 + " " * 100_000 + "x",
        "import " + "a" * 200_000,
        "a" * 200_000,
        "a.a" * 66_000,
        "{" * 200_000,
        "-" * 200_000,
        "好的，" * 66_000,
        "翻译" * 100_000,
        "下面是" * 66_000,
        "谢谢" * 100_000,
        "记录:" * 66_000,
        "here is " * 25_000,
        "translate " * 20_000,
        "you keep " * 22_000,
        ("我喜欢" * 99 + "\n") * 670,
        ("以后再" * 99 + "\n") * 670,
        ("i said " * 42 + "\n") * 670,
        ("每次都不要你先" * 40 + "\n") * 700,
        "\n".join(f"以后回答{n}先给结论" for n in range(14_000)),
        "".join(SEEDED.choices('以后不要你我说过每次都先回答,，。 \n「」"always never i you', k=200_000)),
    ],
    ids=lambda text: text[:12],
)
def test_a_long_hostile_text_is_judged_in_time(text):
    """Linear in the length: 200 000 characters in under a second."""

    def cost() -> float:
        begin = time.process_time()  # other tests may run beside this one
        judge(text)
        return time.process_time() - begin

    judge("以后回答先给结论")
    # What runs beside it takes of its caches, too: one undisturbed run of three is enough.
    assert any(cost() < 1.0 for _ in range(3))


def test_any_text_is_judged_without_an_error():
    letters = (
        "以后不要你我说过每次都先回答,，。 \n「」\"`'always never i you keep don't{}[]()<>|\\\x00\ud800İ\u2028\x85𝒜"
    )
    for _ in range(500):
        text = "".join(SEEDED.choices(letters, k=SEEDED.randrange(60)))
        assert all(one.clause in text for one in judge(text))


# --- the labelled corpus --------------------------------------------------------------------------
class Score(NamedTuple):
    """Hits right of hits, demands heard of demands, and how many hits have the right reason and clause."""

    right: int
    hits: int
    heard: int
    demands: int
    reasons: int
    clauses: int

    @property
    def precision(self) -> float:
        return self.right / self.hits

    @property
    def recall(self) -> float:
        return self.heard / self.demands


def wilson(part: int, whole: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a share."""
    if not whole:
        return 0.0, 1.0
    z, share = 1.96, part / whole
    centre, spread = share + z * z / (2 * whole), z * math.sqrt(share * (1 - share) / whole + (z / (2 * whole)) ** 2)
    return (centre - spread) / (1 + z * z / whole), (centre + spread) / (1 + z * z / whole)


def alike(one: str, other: str) -> bool:
    """Whether two clauses are the same after folding, or one holds the other with 0.8 of its length."""
    short, long = sorted((texts.fold(one), texts.fold(other)), key=len)
    return short in long and len(short) >= 0.8 * len(long)


@cache
def measure(language: str, split: str) -> dict[str, Score]:
    """The scores of a language on a split: over all, and by reason."""
    tally: dict[str, Counter[str]] = {name: Counter() for name in ("all", *REASONS)}
    for line in (CORPUS / f"{language}.tsv").read_text(encoding="utf-8").split("\n")[1:]:
        if not line or (row := line.split("\t", 5))[1] != split:
            continue
        _, _, label, reason, clause, text = row
        wanted = list(zip(clause.split(" || "), reason.split(" || "), strict=True)) if label == "1" else []
        hits = captured(text.replace("\\n", "\n").replace("\\t", "\t"))
        for hit in hits:
            own = [why for want, why in wanted if alike(want, hit.clause)]
            reasons = own or [why for _, why in wanted]
            for name in ("all", hit.reason):
                tally[name]["hits"] += 1
                tally[name]["right"] += bool(wanted) and (name == "all" or hit.reason in reasons)
                tally[name]["reasons"] += hit.reason in reasons
                tally[name]["clauses"] += bool(own)
        for want, why in wanted:
            for name in ("all", why):
                tally[name]["demands"] += 1
                tally[name]["heard"] += any(
                    texts.fold(want) in texts.fold(hit.clause) or texts.fold(hit.clause) in texts.fold(want)
                    for hit in hits
                )
    return {name: Score(*(counts[field] for field in Score._fields)) for name, counts in tally.items()}


def show(language: str, split: str) -> str:
    """The table of a split, as printed."""
    rows = []
    for name, score in measure(language, split).items():
        low, high = wilson(score.right, score.hits)
        least, most = wilson(score.heard, score.demands)
        rows.append(
            f"{language} {split:4} {name:12}"
            f" precision {score.right:3}/{score.hits:<3} [{low:.3f}, {high:.3f}]"
            f"  recall {score.heard:3}/{score.demands:<3} [{least:.3f}, {most:.3f}]"
            f"  reason {score.reasons}/{score.hits}  clause {score.clauses}/{score.hits}"
        )
    return "\n".join(rows)


#: Files that nobody who writes rules has read, each with how many of its lines are Chinese, which come first.
HOLDOUTS = {"holdout.tsv": 150, "holdout-2.tsv": 200}
#: Precision and recall held on them: the honest number.
HELD_ON_HOLDOUT = {"zh": (0.97, 0.90), "en": (0.97, 0.90)}


@cache
def count_holdout(language: str) -> Score:
    """The counts on the holdouts; their lines are never printed, so that rules are not made for them."""
    right = hits = demands = 0
    for name, first in HOLDOUTS.items():
        for line in (CORPUS / name).read_text(encoding="utf-8").splitlines()[1:]:
            identifier, _, label, _, clause, text = [*line.split("\t"), "", "", ""][:6]
            if (int(identifier.split("-")[1]) <= first) != (language == "zh"):
                continue
            heard = len(captured(text.replace("\\n", "\n").replace("\\t", "\t")))
            wanted = len(clause.split(" || ")) if label == "1" else 0
            right, hits, demands = right + min(heard, wanted), hits + heard, demands + wanted
    return Score(right, hits, right, demands, 0, 0)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_judge_is_measured_on_lines_nobody_who_writes_rules_has_read(language):
    """COMPLAINTS 72: an honest number, counts only."""
    score = count_holdout(language)
    print(f"\n{language} holdout {told(score.right, score.hits)} {told(score.heard, score.demands)}")  # noqa: T201 # shown
    precision, recall = HELD_ON_HOLDOUT[language]
    assert score.precision >= precision
    assert score.recall >= recall


def test_the_judge_keeps_its_worth_on_the_rounds_it_was_widened_with():
    """Read by now, so no honest number; what was learnt there stays learnt."""
    for language in ("zh", "en"):
        right = hits = demands = 0
        for line in (CORPUS / "rounds.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            identifier, _, label, _, clause, text = line.split("\t")
            if language not in identifier.partition("-")[0]:
                continue
            heard = len(captured(text.replace("\\n", "\n").replace("\\t", "\t")))
            wanted = len(clause.split(" || ")) if label == "1" else 0
            right, hits, demands = right + min(heard, wanted), hits + heard, demands + wanted
        print(f"\n{language} rounds {told(right, hits)} {told(right, demands)}")  # noqa: T201 # shown
        assert right / hits >= 0.98
        assert right / demands >= 0.98


def told(right: int, of: int) -> str:
    """A share as the README tells it."""
    low, high = wilson(right, of)
    return f"{right / of:.3f} ({right} of {of}, {low:.2f} to {high:.2f})"


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_readme_tells_these_numbers(name):
    """Every claim in the README is true today."""
    text = (Path(__file__).resolve().parents[2] / name).read_text(encoding="utf-8")
    for language in ("zh", "en"):
        score = count_holdout(language)
        assert told(score.right, score.hits) in text
        assert told(score.heard, score.demands) in text


@pytest.mark.parametrize("split", ["tune", "test"])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_judge_keeps_its_worth_on_the_lines_its_rules_were_made_with(language, split):
    """COMPLAINTS 72: precision first, numbers in CI. Both halves have been read by now; holdout.tsv has not."""
    print("\n" + show(language, split))  # noqa: T201 # the numbers are what this test is for
    score = measure(language, split)["all"]
    assert score.precision >= 0.97
    assert score.recall >= 0.90
    assert score.reasons / score.hits >= 0.9
    assert score.clauses / score.hits >= 0.9


def test_no_hard_negative_is_ever_a_hit():
    """COMPLAINTS 71: a bare 不要 or "no" is no demand."""
    lines = (CORPUS / "hard-negatives.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 50
    assert [(line, one.rule) for line in lines for one in captured(line)] == []


def test_no_pattern_holds_an_unknown_word_list():
    rules = load_rules()
    for one in (*rules.triggers, *rules.scopes, *rules.refusals):
        for pattern in (one.pattern, one.unless):
            assert pattern is None or not re.search(r"(?<!\?)<[a-z_]+>", pattern.pattern), one.id
    assert MAX_CHARS == 300
