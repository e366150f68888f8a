"""Tokens beside characters: by a vocabulary the owner has, by a real tokenizer, or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import selfnote
from selfnote.errors import Corrupt, NotFound

tokenizers = pytest.importorskip("tokenizers")
NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
TEXTS = ("先给结论再讲细节", "代码注释写英文，先给结论", "跑完测试才提交代码")


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level BPE trained here, cutting at three tokens as a published file may."""
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<s>"], initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()
    )
    model.train_from_iterator(TEXTS * 20, trainer)
    model.post_processor = tokenizers.processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    model.enable_truncation(3)
    model.enable_padding(length=50)
    path = tmp_path_factory.mktemp("vocabulary") / "tokenizer.json"
    model.save(str(path))
    return path


@pytest.fixture
def filled(memory: selfnote.Memory) -> selfnote.Memory:
    for text in TEXTS:
        memory.facts.approve(memory.facts.stage(text, source="owner:test", now=NOW), now=NOW)
    memory.notes.add("我先跑测试", now=NOW)
    memory.notes.add("我先给结论", now=NOW)
    return memory


def plain_count(vocabulary: Path, text: str) -> int:
    model = tokenizers.Tokenizer.from_file(str(vocabulary))
    model.no_truncation()
    model.no_padding()
    return len(model.encode(text, add_special_tokens=False))


def test_without_a_vocabulary_there_is_no_column_and_no_guess(filled: selfnote.Memory):
    report = filled.audit(now=NOW)
    assert report.tokens is None
    assert "tokens" not in report.to_json()
    for shown in (str(report), report.to_html(language="zh")):
        assert "词元" not in shown


def test_tokens_are_those_of_the_vocabulary_neither_cut_nor_padded(filled: selfnote.Memory, vocabulary: Path):
    report = filled.audit(now=NOW, tokenizer=vocabulary)
    injection = report.injection
    assert report.tokens is not None
    assert report.tokens.text == plain_count(vocabulary, injection.text) > 50
    notes = "\n".join(one.text for one in injection.segments["notes"].entries)
    conclusions = "；".join(one.text for one in injection.segments["conclusions"].entries)
    assert report.tokens.segments["notes"] == plain_count(vocabulary, notes)
    assert report.tokens.segments["conclusions"] == plain_count(vocabulary, conclusions) > 0
    assert report.tokens.segments["habits"] == 0
    told = report.to_json()["tokens"]
    assert told == {"by": "tokenizer.json", "text": report.tokens.text, "segments": dict(report.tokens.segments)}
    assert f"全文 {report.tokens.text} 词元（按 tokenizer.json 数的" in str(report)
    assert ">tokens</th>" in report.to_html(language="en")
    assert json.dumps(told)


def test_the_vocabulary_in_its_usual_place_is_found(filled: selfnote.Memory, vocabulary: Path, tmp_path: Path):
    filled.home.tokenizer.write_bytes(vocabulary.read_bytes())
    report = filled.audit(now=NOW)
    assert report.tokens == filled.audit(now=NOW, tokenizer=vocabulary).tokens
    header = report.to_csv(tmp_path / "tables")[0].read_text(encoding="utf-8-sig").splitlines()[0]
    assert header == "segment,budget,used,tokens,entries,squeezed"
    assert report.snapshot == _without(filled), "counting is no change of the memory"


def _without(memory: selfnote.Memory) -> str:
    memory.home.tokenizer.unlink()
    return memory.audit(now=NOW).snapshot


def test_a_file_that_is_no_vocabulary_is_told_and_stops_nothing_unless_it_was_asked_for(
    filled: selfnote.Memory, tmp_path: Path
):
    filled.home.tokenizer.write_text('{"model": 1}', encoding="utf-8")
    report = filled.audit(now=NOW)
    assert report.tokens is None
    assert any("is no tokenizer.json" in one.sentence() for one in report.findings)
    with pytest.raises(Corrupt, match="is no tokenizer"):
        filled.audit(now=NOW, tokenizer=filled.home.tokenizer)
    with pytest.raises(NotFound, match="does not exist"):
        filled.audit(now=NOW, tokenizer=tmp_path / "nothing.json")


def test_a_changed_vocabulary_is_read_again(filled: selfnote.Memory, vocabulary: Path, tmp_path: Path):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(vocabulary.read_bytes())
    first = filled.audit(now=NOW, tokenizer=path).tokens
    values = json.loads(path.read_text(encoding="utf-8"))
    values["model"]["merges"] = []
    path.write_text(json.dumps(values), encoding="utf-8")
    second = filled.audit(now=NOW, tokenizer=path).tokens
    assert first is not None
    assert second is not None
    assert second.text == len(filled.audit(now=NOW).injection.text.encode()) > first.text


CODE = """
import socket, sys
def refuse(*_): raise AssertionError("the network was asked")
socket.socket.connect = refuse; socket.getaddrinfo = refuse
{block}
import selfnote
from datetime import datetime, UTC
try:
    report = selfnote.open_memory({home!r}, read_only=True).audit(now=datetime(2026, 3, 1, 9, tzinfo=UTC), tokenizer={path!r})
except selfnote.SelfnoteError as error:
    print(error)
else:
    print(report.tokens.text, "huggingface_hub" in sys.modules, "pandas" in sys.modules)
"""


def test_counting_asks_no_network_and_a_missing_package_is_named(filled: selfnote.Memory, vocabulary: Path):
    def run(block: str) -> str:
        code = CODE.format(block=block, home=str(filled.home.root), path=str(vocabulary))
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()

    tokens = filled.audit(now=NOW, tokenizer=vocabulary).tokens
    assert tokens is not None
    assert run("") == f"{tokens.text} False False"
    assert 'pip install "selfnote[tokens]"' in run("sys.modules['tokenizers'] = None")
