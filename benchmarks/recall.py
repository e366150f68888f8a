"""How well recall finds what was said, and what it costs: PERFORMANCE T8 and T9.

`python -m benchmarks.recall` prints the table per category of question: ours, bm25s and a plain FTS5 query, all given
the same tokens. The judged questions are half of LoCoMo (CC BY-NC 4.0), read from the kit beside the project and never
copied; without the kit what needs it is left out.
"""

from __future__ import annotations

import collections
import functools
import json
import random
import re
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import zstandard

from benchmarks.rows import Row
from selfnote.home import MemoryHome
from selfnote.sessions.cache import SessionCache
from selfnote.sessions.index import Index
from selfnote.sessions.library import Sessions
from selfnote.sessions.ranking import collect, rank
from selfnote.sessions.recall import RecallResult, recall
from selfnote.text import query_tokens, tokens

ROOT = Path(__file__).resolve().parents[1]
KIT = ROOT.parent / "shared" / "kit"
LOCOMO = KIT / "recall" / "locomo-dev.json"
LARGE = KIT / "harness" / "corpus-large" / "sessions"
DEMO = ROOT / "data-fixtures" / "demo-home" / "sessions"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
#: How deep the first right answer is looked for.
DEPTH = 100
KNOWN_ITEMS = 500
MESSAGES, SESSIONS, ADDED = 100_000, 200, 100
QUERIES, ROUNDS = 150, 3
TIME = 1_796_036_351_440
SEED = 20261130


class Question(NamedTuple):
    """A judged question: its category, and the places in the conversation where the answer stands."""

    category: int
    text: str
    evidence: frozenset[int]


class Score(NamedTuple):
    """What one engine reaches: recall among the first 5, 10, 20, and the mean reciprocal rank."""

    r5: float
    r10: float
    r20: float
    mrr: float


#: The conversation's texts -> a function from a question to places, best first.
Engine = Callable[[Sequence[str]], Callable[[str], Sequence[int]]]


# --- judged questions ---------------------------------------------------------------------------------
def read_locomo() -> list[tuple[list[str], list[Question]]]:
    """Each conversation as texts in order, "speaker: text [image: caption]", with its questions."""
    conversations = []
    for sample in json.loads(LOCOMO.read_text("utf-8")):
        told = sample["conversation"]
        names = sorted((name for name in told if re.fullmatch(r"session_\d+", name)), key=lambda name: int(name[8:]))
        turns = [turn for name in names for turn in told[name]]
        places = {turn["dia_id"]: place for place, turn in enumerate(turns)}
        texts = [
            f"{turn['speaker']}: {turn['text']}"
            + (f" [image: {turn['blip_caption']}]" if "blip_caption" in turn else "")
            for turn in turns
        ]
        questions = []
        for asked in sample["qa"]:
            named = re.findall(r"D\d+:\d+", " ".join(asked["evidence"]))
            evidence = frozenset(places[name] for name in named if name in places)
            if evidence:
                questions.append(Question(asked["category"], asked["question"], evidence))
        conversations.append((texts, questions))
    return conversations


def judge(engine: Engine, conversations: Iterable[tuple[list[str], list[Question]]]) -> dict[str, Score]:
    """The score of an engine for each category of question, and for all."""
    found: dict[str, list[Score]] = collections.defaultdict(list)
    for texts, questions in conversations:
        ask = engine(texts)
        for question in questions:
            ranked = list(ask(question.text))
            first = next((place for place, one in enumerate(ranked) if one in question.evidence), None)
            shares = (len(question.evidence & set(ranked[:depth])) / len(question.evidence) for depth in (5, 10, 20))
            score = Score(*shares, 0.0 if first is None else 1 / (first + 1))
            found[CATEGORIES[question.category]].append(score)
            found["all"].append(score)
    return {
        name: Score(*map(statistics.fmean, zip(*scores, strict=True)))
        for name, scores in sorted(found.items(), key=lambda item: [*CATEGORIES.values(), "all"].index(item[0]))
    }


def ask_selfnote(texts: Sequence[str], *, smoothing: bool) -> Callable[[str], Sequence[int]]:
    """Recall as an owner has it: the conversation as a real log, indexed, both speakers weighing the same."""
    folder = tempfile.TemporaryDirectory()
    home = MemoryHome.at(folder.name)
    write_log(home.sessions / "project" / "conversation", texts)
    search = open_search(home)

    def ask(question: str) -> Sequence[int]:
        assert folder
        return [hit.seq for hit in search(question, limit=DEPTH, smoothing=smoothing).hits]

    return ask


def ask_bm25s(texts: Sequence[str]) -> Callable[[str], Sequence[int]]:
    """bm25s with its defaults and our tokens."""
    import bm25s

    words: dict[str, int] = {}
    numbers = [[words.setdefault(token, len(words)) for token in tokens(text)] for text in texts]
    engine = bm25s.BM25()
    engine.index((numbers, words), show_progress=False)

    def ask(question: str) -> Sequence[int]:
        known = [words[token] for token in query_tokens(question) if token in words]
        if not known:
            return []
        places, scores = engine.retrieve([known], k=min(DEPTH, len(texts)), show_progress=False)
        return [int(place) for place, score in zip(places[0], scores[0], strict=True) if score > 0]

    return ask


def ask_fts5(texts: Sequence[str]) -> Callable[[str], Sequence[int]]:
    """A plain FTS5 table ranked by its own bm25(), with our tokens."""
    database = make_fts5([tokens(text) for text in texts], detail="full")

    def ask(question: str) -> Sequence[int]:
        return [place - 1 for place in ask_bare(database, query_tokens(question), DEPTH)]

    return ask


ENGINES: dict[str, Engine] = {
    "selfnote": functools.partial(ask_selfnote, smoothing=True),
    "selfnote, no smoothing": functools.partial(ask_selfnote, smoothing=False),
    "bm25s": ask_bm25s,
    "FTS5 bm25()": ask_fts5,
}


# --- the Chinese known-item set -----------------------------------------------------------------------
def measure_known_items() -> tuple[float, int, int]:
    """The share of messages found again among ten by 2-4 of their characters, of how many drawn, out of how many.

    Characters that more than ten messages hold name no one message and are not drawn.
    """
    with tempfile.TemporaryDirectory() as name:
        home = MemoryHome.at(name)
        for source in (LARGE, DEMO):
            if source.is_dir():
                shutil.copytree(source, home.sessions, dirs_exist_ok=True, copy_function=shutil.copyfile)
        said = [
            (message.source, message.text)
            for log in Sessions(home).read_all()
            if not log.header.delegated
            for message in log.messages()
            if message.by_owner or message.role == "assistant"
        ]
        search = open_search(home)
        draw = random.Random(SEED)  # noqa: S311 - a sample, no secret
        found = drawn = 0
        while drawn < KNOWN_ITEMS:
            source, text = draw.choice(said)
            runs = re.findall(r"[\u4e00-\u9fff]{4,}", text)
            if not runs:
                continue
            run, length = draw.choice(runs), draw.randint(2, 4)
            start = draw.randint(0, len(run) - length)
            query = run[start : start + length]
            if sum(query in other for _, other in said) > 10:
                continue
            drawn += 1
            found += source in [hit.source for hit in search(query, limit=10).hits]
    return found / drawn, drawn, len(said)


def measure_tool_heavy() -> Row | None:
    """Whether neighbours do harm in a real log full of tool steps: the first hit for each of the owner's sentences."""
    if not LARGE.is_dir():
        return None
    with tempfile.TemporaryDirectory() as name:
        home = MemoryHome.at(name)
        shutil.copytree(LARGE, home.sessions, copy_function=shutil.copyfile)
        (log,) = Sessions(home).read_all()
        said = [message for message in log.messages() if message.by_owner]
        search = open_search(home)
        first = {
            smoothing: statistics.fmean(
                any(hit.text == message.text for hit in search(message.text, limit=1, smoothing=smoothing).hits)
                for message in said
            )
            for smoothing in (True, False)
        }
    detail = f"first hit right: {first[True]:.3f} with neighbours, {first[False]:.3f} without, {len(said)} sentences"
    return Row("T9", "hit@1 without / with neighbours, tool-heavy log", first[False] / first[True], 1.01, detail)


# --- what it costs ------------------------------------------------------------------------------------
def measure_cost() -> Iterator[Row]:
    """T8: 100,000 messages in 200 sessions; one search against a bare FTS5 query, 100 more messages against a build."""
    draw = random.Random(SEED)  # noqa: S311 - a sample, no secret
    clauses = read_clauses()
    texts = ["，".join(draw.choices(clauses, k=draw.randint(2, 7))) for _ in range(MESSAGES)]
    queries = [make_query(draw, texts) for _ in range(QUERIES)]
    with tempfile.TemporaryDirectory() as name:
        home = MemoryHome.at(name)
        share = MESSAGES // SESSIONS
        for place in range(SESSIONS):
            write_log(home.sessions / "project" / f"session-{place}", texts[place * share : (place + 1) * share])
        sessions = Sessions(home)
        index, cache = Index(home, sessions), SessionCache(home.cache, sessions)
        build = timed(index.build)
        full = make_fts5([tokens(text) for text in texts], detail="full")
        none = make_fts5([sorted(set(tokens(text))) for text in texts], detail="none")
        terms = [query_tokens(query) for query in queries]
        listing = sessions.list()

        def search(place: int) -> None:
            with index.reading() as catalogue:
                postings = [catalogue.postings(term) for term in query_tokens(queries[place])]
                rarities = [catalogue.collection.rarity(len(one)) for one in postings]
                assert rank(catalogue.shelf, collect(postings), rarities, catalogue.collection, limit=10)

        def whole(place: int) -> None:
            assert recall(queries[place], sessions=sessions, cache=cache, index=index).hits

        jobs: dict[str, Callable[[int], object]] = {
            "search": search,
            "bare": lambda place: ask_bare(full, terms[place], 10),
            "bare none": lambda place: ask_bare(none, terms[place], 10),
            "whole": whole,
            "list": lambda _: sessions.list(),
        }
        for job in jobs.values():
            job(0)
        samples: dict[str, list[float]] = {label: [] for label in jobs}
        for _ in range(ROUNDS):
            for place in range(QUERIES):
                for label, job in jobs.items():
                    samples[label].append(timed(functools.partial(job, place)))
        middle = {label: statistics.median(seconds) * 1000 for label, seconds in samples.items()}
        write_log(listing[0].path.parent, [*texts[:share], *texts[:ADDED]])
        append = timed(index.build)
    yield Row(
        "T8",
        f"search {MESSAGES:,} messages, p50 / bare FTS5 query ranked by bm25()",
        middle["search"] / middle["bare"],
        1.5,
        f"{middle['search']:.2f} ms, {middle['bare']:.2f} ms; an FTS5 query that keeps no counts and so cannot rank "
        f"{middle['bare none']:.2f} ms; the whole recall, {SESSIONS} sessions looked at and ten messages opened, "
        f"{middle['whole']:.1f} ms, of which listing {middle['list']:.1f} ms",
    )
    yield Row(
        "T8",
        f"add {ADDED} messages / build of {MESSAGES:,}",
        append / build,
        1 / 50,
        f"{append * 1000:.0f} ms, {build:.1f} s",
    )


def make_query(draw: random.Random, texts: Sequence[str]) -> str:
    """What is looked for: a few characters of a message, or two or three of its words."""
    while True:
        text = draw.choice(texts)
        runs = re.findall(r"[\u4e00-\u9fff]{4,}", text)
        words = re.findall(r"[\u4e00-\u9fff]{2,4}|[A-Za-z]{4,}", text)
        if draw.random() < 0.5 and runs:
            run, length = draw.choice(runs), draw.randint(2, 4)
            start = draw.randint(0, len(run) - length)
            query = run[start : start + length]
        else:
            query = " ".join(draw.sample(words, min(len(words), draw.randint(2, 3))))
        if query_tokens(query):
            return query


def read_clauses() -> list[str]:
    """Clauses of what is written in this project, Chinese and English: the words of made messages."""
    paths = [*ROOT.glob("*.md"), *sorted((ROOT / "data-fixtures" / "triggers").iterdir())]
    paths += sorted((ROOT / "selfnote").rglob("*.py"))
    clauses = [
        clause.strip()
        for path in paths
        for clause in re.split(r"[\n\t。；;，,、|.]+", path.read_text("utf-8"))
        if len(clause.strip()) > 5
    ]
    chinese = [clause for clause in clauses if re.search("[\u4e00-\u9fff]", clause)]
    english = [clause for clause in clauses if not re.search("[\u4e00-\u9fff]", clause)]
    return chinese + english[: len(chinese)]


# --- pieces -------------------------------------------------------------------------------------------
def open_search(home: MemoryHome) -> Callable[..., RecallResult]:
    """Recall over a home whose index was just built."""
    sessions = Sessions(home)
    index = Index(home, sessions)
    assert index.build().complete
    return functools.partial(recall, sessions=sessions, cache=SessionCache(home.cache, sessions), index=index)


def write_log(folder: Path, texts: Sequence[str]) -> None:
    """A session log of owner's messages, twenty a frame."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"type": "session", "version": 0, "id": folder.name, "createdAt": TIME}).encode()]
    for seq, text in enumerate(texts):
        data = {"id": f"m{seq}", "content": [{"type": "text", "text": text}], "source": {"kind": "user"}}
        event = {"type": "user/message", "seq": seq, "time": TIME + seq, "data": data}
        lines.append(json.dumps(event, ensure_ascii=False).encode())
    frames = [lines[:1], *(lines[start : start + 20] for start in range(1, len(lines), 20))]
    with (folder / "session.jsonl.zstd").open("wb") as file:
        for frame in frames:
            compressor = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compressobj()
            file.write(compressor.compress(b"".join(line + b"\n" for line in frame)) + compressor.flush())


def make_fts5(documents: Iterable[Sequence[str]], *, detail: str) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute(
        f"CREATE VIRTUAL TABLE messages USING fts5(tokens, content='', detail={detail}, "
        "tokenize=\"ascii tokenchars '_-.:+#'\")"
    )
    rows = ((place, " ".join(document)) for place, document in enumerate(documents, start=1))
    database.executemany("INSERT INTO messages(rowid, tokens) VALUES (?, ?)", rows)
    database.commit()
    return database


def ask_bare(database: sqlite3.Connection, terms: Sequence[str], limit: int) -> list[int]:
    if not terms:
        return []
    query = " OR ".join(f'"{term}"' for term in terms)
    statement = "SELECT rowid FROM messages WHERE messages MATCH ? ORDER BY rank LIMIT ?"
    return [number for (number,) in database.execute(statement, (query, limit))]


def timed(job: Callable[[], object]) -> float:
    started = time.perf_counter()
    job()
    return time.perf_counter() - started


def judge_all() -> dict[str, dict[str, Score]]:
    """Every engine's scores; none without the kit."""
    if not LOCOMO.exists():
        return {}
    conversations = read_locomo()
    return {name: judge(engine, conversations) for name, engine in ENGINES.items()}


def measure_quality(scores: dict[str, dict[str, Score]]) -> Iterator[Row]:
    """T9, as the least wanted over what was reached."""
    if scores:
        smooth, plain = scores["selfnote"]["all"], scores["selfnote, no smoothing"]["all"]
        peers = ", ".join(f"{name} {scores[name]['all'].r10:.4f}" for name in ("bm25s", "FTS5 bm25()"))
        yield Row(
            "T9", "R@10 wanted .63 / reached, LoCoMo, no smoothing", 0.63 / plain.r10, 1.0, f"{plain.r10:.4f}; {peers}"
        )
        yield Row("T9", "R@10 wanted .72 / reached, LoCoMo", 0.72 / smooth.r10, 1.0, f"{smooth.r10:.4f}")
    share, drawn, messages = measure_known_items()
    detail = f"{share:.3f} of {drawn} drawn from {messages} messages"
    yield Row("T9", "hit@10 wanted .98 / reached, 2-4 Chinese characters", 0.98 / share, 1.0, detail)
    tool_heavy = measure_tool_heavy()
    if tool_heavy is not None:
        yield tool_heavy


def run() -> list[Row]:
    """All rows of this module."""
    return [*measure_cost(), *measure_quality(judge_all())]


def print_scores(scores: dict[str, dict[str, Score]]) -> None:
    """The scores as a Markdown table, a row for each category and engine."""
    print("| question | engine | R@5 | R@10 | R@20 | MRR |")
    print("|---|---|---|---|---|---|")
    for category in [*CATEGORIES.values(), "all"]:
        for engine, found in scores.items():
            print(f"| {category} | {engine} | " + " | ".join(f"{value:.3f}" for value in found[category]) + " |")
    print()


if __name__ == "__main__":
    judged = judge_all()
    print_scores(judged)
    for row in [*measure_quality(judged), *measure_cost()]:
        print(row)
