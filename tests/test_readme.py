"""Every claim in the README is true today: its commands, its names, its table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from selfnote.cli import app

REPOSITORY = Path(__file__).resolve().parent.parent
READMES = ("README.md", "README.zh.md")


def text_of(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def code_blocks(name: str) -> list[str]:
    return re.findall(r"```\w*\n(.*?)```", text_of(name), flags=re.DOTALL)


@pytest.mark.parametrize("name", READMES)
def test_the_two_commands_stand_in_the_readme(name: str):
    blocks = "\n".join(code_blocks(name))
    assert "make audit" in blocks
    assert "make test" in blocks


@pytest.mark.parametrize("name", READMES)
def test_every_verb_named_in_the_readme_exists(name: str):
    verbs = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    verbs |= {group.name for group in app.registered_groups}
    named = set(re.findall(r"^selfnote ([a-z-]+)", "\n".join(code_blocks(name)), flags=re.MULTILINE))
    assert named
    assert named <= verbs


@pytest.mark.parametrize("name", READMES)
def test_every_file_the_readme_links_to_is_there(name: str):
    links = [link for link in re.findall(r"\]\(([^)#]+)", text_of(name)) if "://" not in link]
    assert links
    for link in links:
        assert (REPOSITORY / link).exists(), link


@pytest.mark.parametrize("name", READMES)
def test_the_python_of_the_readme_runs_on_the_demo(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The five things an owner does, done."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", text_of(name), flags=re.DOTALL)
    assert blocks
    scope: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), scope)  # noqa: S102 - the README's own code


def test_both_readmes_hold_the_same_code():
    assert [block for block in code_blocks("README.md") if "selfnote" in block] == [
        block for block in code_blocks("README.zh.md") if "selfnote" in block
    ]


def test_the_changelog_names_the_version():
    from selfnote import __version__

    assert f"## {__version__}" in text_of("CHANGELOG.md")
