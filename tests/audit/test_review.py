"""Old facts nobody has confirmed since: is it still true?"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

import selfnote
from selfnote.audit.review import LONG_AGO_DAYS, review
from selfnote.demo import DEMO_NOW
from selfnote.errors import LimitExceeded
from selfnote.records.ledger import count_seen

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def words(number, length=70):
    return "".join(chr(0x4E00 + (number * 997 + place * (31 + number)) % 9000) for place in range(length))


def approve(memory, text, at):
    return memory.facts.approve(memory.facts.stage(text, source="owner:test", now=at), now=at)


def test_old_unedited_silent_facts_are_asked_about_the_longest_unconfirmed_first(memory):
    """COMPLAINTS 36: age by approval; the young ones wait."""
    facts = [approve(memory, words(number), NOW - (100 - 15 * number) * DAY) for number in range(4)]
    frame = review(memory, now=NOW)
    assert list(frame["id"]) == [facts[0].id, facts[1].id, facts[2].id]
    assert list(frame["age_days"]) == [100, 85, 70]
    assert set(frame["confirmed_by"]) == {"approval"}
    assert set(frame["state"]) == {"never"}
    assert frame.loc[0, "question"] == "100 天前采纳，之后再没有表示。还成立吗？"
    assert len(review(memory, now=NOW, older_days=90)) == 1
    assert len(review(memory, now=NOW, older_days=0)) == 4
    memory.config.save(language="en")
    assert review(memory, now=NOW).loc[1, "question"] == "Approved 85 days ago, no sign since. Still true?"


def test_being_injected_or_found_confirms_nothing(home, memory):
    """COMPLAINTS 36: what drifted stands in every prompt; it is asked about when those in use are wanted too."""
    fact = approve(memory, words(1), NOW - 100 * DAY)
    for number in range(5):
        selfnote.compose_injection(home, session="s", turn=number, now=NOW - (5 - number) * DAY)
    count_seen(memory.home, memory.facts, [fact.id], session="s", via="memory_recall", now=NOW - DAY)
    assert len(review(memory, now=NOW)) == 0
    row = review(memory, now=NOW, silent_only=False).iloc[0]
    assert (row["id"], row["state"], row["inside"]) == (fact.id, "active", True)
    assert row["confirmed_at"] == pd.Timestamp(NOW - 100 * DAY)
    assert row["last_hit"] == row["last_seen"] == pd.Timestamp(NOW - DAY)
    assert review(memory, now=NOW + 40 * DAY).loc[0, "state"] == "silent"


def test_what_the_owner_did_with_a_fact_confirms_it(memory):
    """A restatement needs its log; a correction in its words and a change of its importance do not."""
    facts = {
        name: approve(memory, text, NOW - 100 * DAY)
        for name, text in {
            "changed": words(1),
            "corrected": "报错信息要原样贴出来别转述",
            "edited": words(3),
            "quiet": words(4),
        }.items()
    }
    memory.facts.set_importance(facts["changed"].id, 2.0, now=NOW - 70 * DAY)
    at = NOW - 80 * DAY
    memory.corrections.record("不对，报错信息要原样贴出来别转述", sid="s", seq=3, at=at, now=at)
    memory.facts.edit(facts["edited"].id, text=words(5), now=NOW - 99 * DAY)
    frame = review(memory, now=NOW)
    assert list(zip(frame["id"], frame["confirmed_by"], frame["unconfirmed_days"], strict=True)) == [
        (facts["quiet"].id, "approval", 100.0),
        (facts["corrected"].id, "correction", 80.0),
        (facts["changed"].id, "change", 70.0),
    ]
    memory.facts.set_importance(facts["quiet"].id, 2.0, now=NOW - DAY)
    assert facts["quiet"].id not in set(review(memory, now=NOW)["id"])


def test_a_length_of_time_must_be_one(memory):
    with pytest.raises(LimitExceeded, match="older_days"):
        review(memory, now=NOW, older_days=-1)


def test_the_review_of_the_demo_memory_follows_from_its_file(tmp_path):
    """COMPLAINTS 36: the same facts picked from the raw lines."""
    demo = selfnote.open_memory(selfnote.demo_home(tmp_path / ".dsh"))
    expected = {}
    for one in map(json.loads, demo.home.facts.read_text("utf-8").splitlines()):
        if one["status"] != "approved":
            continue
        hit = one["lastHit"] and datetime.fromisoformat(one["lastHit"])
        changes = [item for item in one["history"] if item.get("field")]
        approved = datetime.fromisoformat(one["approvedAt"])
        edited = any(item["field"] == "text" and datetime.fromisoformat(item["at"]) >= approved for item in changes)
        last = max([approved, *(datetime.fromisoformat(item["at"]) for item in changes)])
        if not edited and not (hit and DEMO_NOW - hit <= 30 * DAY) and DEMO_NOW - last >= LONG_AGO_DAYS * DAY:
            expected[one["id"]] = pd.Timestamp(last)
    frame = review(demo, now=DEMO_NOW)
    assert dict(zip(frame["id"], frame["confirmed_at"], strict=True)) == expected
    assert len(frame) == 25
    assert list(frame["confirmed_at"]) == sorted(frame["confirmed_at"])
