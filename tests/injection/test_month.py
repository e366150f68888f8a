"""A simulated month of turns and edits, checked step by step against the oracle (DESIGN Rotation, Causes, Counting)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

import selfnote
from selfnote.injection.compose import forget_composers

ZONE = "America/New_York"
#: What of an approved fact can change the text, its counters aside; of its links only the open conflicts can.
SPEAKING = ("id", "text", "channel", "tags", "importance", "approvedAt", "createdAt")
ORDER = ("edit", "config", "refill", "date", "rotation")


class World:
    """One home, what is known of it, and what each session last got."""

    def __init__(self, home, homes, oracle, seed):
        self.home, self.homes, self.oracle = home, homes, oracle
        self.random = random.Random(seed)  # noqa: S311 - a repeatable month, not a secret
        self.now = datetime(2026, 2, 20, 13, 0, tzinfo=UTC)  # crosses two months and the DST change of 2026-03-08
        self.edits = 0
        self.read_to = (None, 0)
        self.turns = 0
        self.texts = {}
        self.parts = {}
        self.env = {}
        self.pending = {}
        self.giving = {}
        self.held = {}
        self.kept = None
        self.since = None
        self.basis = None
        self.counted = {}
        self.hours = []
        self.seen = {"causes": set(), "held": 0, "refills": 0, "off": 0}
        self.rotations = {}
        self.entered = set()
        self.spec = homes.Spec(
            l0=["我是助手。"],
            l1=["先给结论。", "不用感叹号。"],
            notes=[
                homes.Note("我写短句。", on=date(2026, 1, 1)),
                homes.Note("演示在周五。", "temp", on=date(2026, 2, 18)),
            ],
            facts=[
                homes.fact(f"f-e{index}", f"{index}" + "机" * (18 + 13 * index), channel="env") for index in range(6)
            ]
            + [homes.fact("f-long", "长" * 150, channel="env")]
            + [
                homes.fact(
                    f"f-r{index}", f"{index}" + "关" * (9 + 11 * index), tags=["甲", "乙"][index % 2 : index % 2 + 1]
                )
                for index in range(6)
            ],
            habits=[{"id": "h-1", "text": "短句作答", "factIds": ["f-r1"], "createdAt": "2026-01-01T00:00:00Z"}],
            config={"tz": ZONE},
        )
        homes.write(self.spec, home)
        self.memory = selfnote.open_memory(home)

    # --- what is on disk --------------------------------------------------------------------------
    def facts(self):
        path = self.home / "memory" / "facts.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]

    def ledger(self):
        paths = [*sorted((self.home / "memory" / "archive").glob("hits-*.jsonl")), self.home / "memory" / "hits.jsonl"]
        return [json.loads(line) for path in paths if path.exists() for line in path.read_text("utf-8").splitlines()]

    def put(self, name, text):
        """As an editor saves: in place, or a new file renamed over the old."""
        path = self.home / name
        if self.random.random() < 0.5:
            path.write_text(text, "utf-8")
        else:
            other = path.with_name(path.name + ".swp")
            other.write_text(text, "utf-8")
            other.replace(path)

    def new_lines(self):
        """The ledger's lines since the last call; a month that was rolled away had been read to its end."""
        path = self.home / "memory" / "hits.jsonl"
        if not path.exists():
            return []
        inode, at = self.read_to
        with path.open("rb") as stream:
            found = path.stat().st_ino
            stream.seek(at if found == inode else 0)
            data = stream.read()
            self.read_to = (found, stream.tell())
        return [json.loads(line) for line in data.splitlines()]

    # --- edits ------------------------------------------------------------------------------------
    def edit(self):
        self.edits += 1
        marker = f"{self.edits}" + "改" * (self.edits % 23)
        kinds = (
            "fact",
            "fact",
            "approve",
            "retire",
            "importance",
            "note",
            "notes_file",
            "persona",
            "config",
            "facts_file",
            "habit",
            "candidate",
            "tags",
            "off",
        )
        getattr(self, f"_{self.random.choice(kinds)}")(marker)

    def _pick(self, status, channel=None):
        found = [one["id"] for one in self.facts() if one["status"] == status and channel in {None, one["channel"]}]
        return self.random.choice(found) if found else None

    def _fact(self, marker):
        if one := self._pick("approved"):
            self.memory.facts.edit(one, text=f"{one}{marker}", now=self.now)

    def _candidate(self, marker):
        if len(self.facts()) > 34:
            return
        self.memory.facts.add(
            f"候选{marker}是{hashlib.sha256(marker.encode()).hexdigest()[:12]}",
            channel=self.random.choice(["env", "rel"]),
            now=self.now,
        )

    def _approve(self, marker):
        self._candidate(marker)
        if one := self._pick("candidate"):
            self.memory.facts.approve(one, now=self.now)

    def _retire(self, _marker):
        if len([one for one in self.facts() if one["status"] == "approved"]) > 8 and (one := self._pick("approved")):
            self.memory.facts.retire(one, now=self.now)

    def _importance(self, _marker):
        if one := self._pick("approved"):
            self.memory.facts.set_importance(one, self.random.choice([0, 1, 2, 3]), now=self.now)

    def _tags(self, _marker):
        if one := self._pick("approved", "rel"):
            self.memory.facts.set_tags(one, self.random.choice([["甲"], ["乙"], []]), now=self.now)

    def _note(self, marker):
        tier = self.random.choice(["stable", "temp", "core"])
        today = self.now.astimezone(ZoneInfo(ZONE)).date()
        self.memory.notes.add(f"笔记{marker}", tier=tier, now=self.now)
        self.spec.notes.append(self.homes.Note(f"笔记{marker}", tier, on=today))

    def _notes_file(self, marker):
        keep = self.spec.notes[-6:]
        self.spec.notes = [
            *keep,
            self.homes.Note(
                f"手写{marker}", self.random.choice(["stable", "temp"]), self.random.random() < 0.3, date(2026, 2, 10)
            ),
        ]
        self.put("selfnote/notes.md", "".join(f"{one.line}\n" for one in self.spec.notes))

    def _persona(self, marker):
        self.spec.l1 = [*self.spec.l1[:3], f"规则{marker}"]
        self.spec.l2 = "" if self.spec.l2 else "设定"
        self.put("selfnote/persona.md", self.homes.persona_text(self.spec))

    def _config(self, marker):
        key, value = self.random.choice(
            [
                ("header", f"头{marker}"[:24]),
                ("timingHint", f"写{marker}"),
                ("tempTtlDays", self.random.randint(1, 30)),
                ("halfLifeDays", self.random.choice([7, 30, 90])),
                ("profileMaxChars", self.random.randint(40, 120)),
                ("pronoun", marker[:8]),
            ]
        )
        self.spec.config[key] = value
        self.put("selfnote/config.json", json.dumps(self.spec.config, ensure_ascii=False))

    def _off(self, _marker):
        self.spec.config["injectionEnabled"] = not self.spec.config.get("injectionEnabled", True)
        self.put("selfnote/config.json", json.dumps(self.spec.config, ensure_ascii=False))

    def _facts_file(self, marker):
        if len(self.facts()) > 34:
            return
        lines = [
            *self.facts(),
            self.homes.fact(
                f"f-x{self.edits}",
                f"手加{marker}",
                channel=self.random.choice(["env", "rel"]),
                approvedAt=self.homes.stamp(self.now),
            ),
        ]
        self.put("memory/facts.jsonl", "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))

    def _habit(self, marker):
        self.spec.habits = [
            {
                "id": f"h-{self.edits}",
                "text": f"习惯{marker}"[:30],
                "factIds": ["f-r1", "f-r2"],
                "createdAt": "2026-01-02T00:00:00Z",
            }
        ]
        self.put("memory/habits.jsonl", "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in self.spec.habits))

    # --- one call of the harness ------------------------------------------------------------------
    def compaction(self, session):
        selfnote.note_compaction(session, home=self.home)
        if self.env.get(session):
            self.pending[session] = list(self.env[session])

    def turn(self, session):
        held = self.held.get(session)
        if held and self.random.random() < 0.2:
            # The same turn again, after edits, hours or midnight: the same text.
            assert selfnote.compose_injection(self.home, session=session, turn=held[0], now=self.now) == held[1]
            self.seen["held"] += 1
            return
        self.turns += 1
        spec = self.spec
        spec.facts = self.facts()
        approved = [one for one in spec.facts if one["status"] == "approved"]
        bare = [[{key: one.get(key) for key in SPEAKING} for one in approved], sorted(self.oracle.conflicts(approved))]
        active = [one for one in spec.habits if {each["id"] for each in approved} & set(one["factIds"])]
        before = {one["id"]: one for one in spec.facts}
        refill = self.pending.get(session)

        text = selfnote.compose_injection(self.home, session=session, turn=self.turns, now=self.now, cwd="/w")
        self.held[session] = (self.turns, text)
        lines = self.new_lines()
        after = {one["id"]: one for one in self.facts()}

        if spec.config.get("injectionEnabled", True) is False:
            assert text == ""
            assert lines == []
            assert after == before
            self.seen["off"] += 1
            return
        self.pending.pop(session, None)

        # The choice: kept, chosen anew for an hour or for another basis.
        basis = json.dumps([bare, spec.config.get("halfLifeDays"), spec.config.get("profileMaxChars")])
        new_hour = self.since is None or not timedelta(0) <= self.now - self.since < timedelta(hours=1)
        if new_hour or basis != self.basis:
            self.kept = self.oracle.compose(spec, self.now, ZONE).choice
            self.basis = basis
        if new_hour:
            self.since = self.now
            self.hours.append(self.now)
            held_out = self.oracle.conflicts(approved)
            for one in approved:
                if one["channel"] == "env" and len(one["text"]) < 115 and one["id"] not in held_out:
                    self.rotations[one["id"]] = self.rotations.get(one["id"], 0) + 1
        rotation = json.loads((self.home / "memory" / "rotation.json").read_text("utf-8"))
        assert datetime.fromisoformat(rotation["since"]) == self.since
        assert rotation["ids"] == self.kept

        # The text.
        plain = self.oracle.compose(spec, self.now, ZONE, kept=self.kept)
        if refill is None:
            assert text == plain.text
        else:
            self.seen["refills"] += 1
            free = {one["id"] for one in approved if one["channel"] == "env"} - self.oracle.conflicts(approved)
            room = [one for one in refill if one in free]
            taken = []
            for one in room:
                if self.oracle.joined([len(after[each]["text"]) for each in (*taken, one)]) <= 230:
                    taken.append(one)
                    assert after[one]["text"] in text
        entries = {key for name in ("profile", "env", "conclusions") for key, _ in plain.entries[name]}
        self.entered |= entries if refill is None else set()

        # Counting: at most once an hour, only what entered, and nothing else in the file.
        due = {
            one
            for one in entries
            if new_hour
            and (
                (last := self.oracle.instant(before[one].get("lastHit"))) is None
                or last > self.now
                or self.now - last >= timedelta(hours=1)
            )
        }
        counted = {one for line in lines for one in line["counted"]}
        assert counted == due if refill is None else counted <= due
        for identifier, line in after.items():
            old = before[identifier]
            if identifier in counted:
                assert line["hitCount"] == old.get("hitCount", 0) + 1
                assert self.oracle.instant(line["lastHit"]) == self.now
                self.counted[identifier] = self.counted.get(identifier, 0) + 1
            touched = {"hitCount", "lastHit"} if identifier in counted else set()
            assert {key: value for key, value in line.items() if key not in touched} == {
                key: value for key, value in old.items() if key not in touched
            }
        if not new_hour:
            assert counted == set()

        # The ledger: one line for a change or a count, with the cause that is true.
        today = self.now.astimezone(ZoneInfo(ZONE)).date()
        parts = {
            "edit": json.dumps(
                [spec.l0, spec.l1, bool(spec.l2), [one.line for one in spec.notes], bare, active], ensure_ascii=False
            ),
            "config": json.dumps({**spec.config, "injectionEnabled": True}, ensure_ascii=False, sort_keys=True),
            "refill": refill,
            "date": today,
            "rotation": (self.since, json.dumps(self.kept)),
        }
        changed = self.texts.get(session) != text
        assert len(lines) == (1 if changed or counted else 0)
        if lines:
            (line,) = lines
            assert line["digest"] == hashlib.sha256(text.encode()).hexdigest()
            inside = {one for ids in line["ids"].values() for one in ids} | set(line.get("absorbed", []))
            assert set(line["counted"]) <= inside
            if not changed:
                assert line["cause"] is None
            elif session not in self.parts:
                assert line["cause"] == "start"
            else:
                differing = [name for name in ORDER if parts[name] != self.parts[session][name]]
                assert differing, "the text changed though no part did"
                assert line["cause"] == differing[0]
            self.seen["causes"].add(line["cause"])
        self.texts[session], self.parts[session] = text, parts
        if refill is None:
            self.env[session] = [key for key, _ in plain.entries["env"]]


@pytest.mark.parametrize(("seed", "days"), [(1, 30), (2, 5), (3, 5)])
def test_a_month_of_turns_keeps_every_rule(home, homes, oracle, seed, days):
    """DESIGN Rotation, Turn, Refill, Causes, Cache, Counting; S2-101, S2-171, S2-207..215, COMPLAINTS 23, 25, 28.

    Three sessions, edits by verbs and by an editor, compactions, midnights, restarts, switching off: each text is the
    oracle's, each change has one line with its true cause, each hit is counted once and only at the hour.
    """
    world = World(home, homes, oracle, seed)
    end = world.now + timedelta(days=days)
    while world.now < end:
        world.now += timedelta(
            milliseconds=world.random.choice([1, 40_000, 40_000, 600_000, 600_000, 1_800_000, 3_600_000, 9_000_000])
            + world.random.randint(0, 2000)
        )
        for _ in range(world.random.choice([0, 0, 0, 1, 1, 2])):
            with contextlib.suppress(selfnote.Conflict):
                world.edit()
        if world.spec.config.get("injectionEnabled", True) is False and world.random.random() < 0.5:
            world._off("")
        session = world.random.choice(["a", "a", "b", "c"])
        if world.random.random() < 0.15:
            world.compaction(session)
        if world.random.random() < 0.03:
            forget_composers()
            world.held.clear()
        world.turn(session)

    lines = world.ledger()
    stored = {one["id"]: one for one in world.facts()}
    for identifier, one in stored.items():
        assert (
            one.get("hitCount", 0)
            == sum(1 for line in lines if identifier in line["counted"])
            == world.counted.get(identifier, 0)
        )
    by_fact = {}
    for line in lines:
        for one in line["counted"]:
            at = datetime.fromisoformat(line["at"])
            assert one not in by_fact or at - by_fact[one] >= timedelta(hours=1)
            by_fact[one] = at
    most = max(sum(1 for one in world.facts() if one["channel"] == "env" and one["status"] != "candidate"), 1)
    reached = [one for one, count in world.rotations.items() if count >= most]
    assert reached
    assert set(reached) <= world.entered
    # In a week so full of edits every hour may turn beside one, which is then the recorded cause.
    often = {"start", "edit", "config", "refill", None}
    assert world.seen["causes"] >= (often | {"rotation"} if days >= 30 else often)
    assert world.seen["held"]
    assert world.seen["refills"]
    assert world.seen["off"]
