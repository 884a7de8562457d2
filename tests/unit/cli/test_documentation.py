"""How-to pages do what they show: each command gives the output printed below it."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

import pytest

from tests.unit.cli.terminals import here_on_a_terminal

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = [
    DOCS / "how-to" / "match-files.md",
    DOCS / "how-to" / "match-sigma-rules-with-files.md",
    DOCS / "how-to" / "match-graphs.md",
    DOCS / "how-to" / "match-by-meaning.md",
    DOCS / "how-to" / "keep-subscriptions-in-a-table.md",
    DOCS / "how-to" / "simulate-a-network.md",
    DOCS / "how-to" / "lint-subscriptions.md",
    DOCS / "how-to" / "backtest-subscriptions.md",
    DOCS / "how-to" / "profile-subscriptions.md",
]

# A file is a fenced block under a line with its name: `events.csv`:
FILE = re.compile(r"^`([\w./-]+)`:\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
PIPED = re.compile(r"(?:(.*) \| )?(predicast .*?)(?: \| (.*))?")


class Example(NamedTuple):
    command: str
    output: str


def examples(page: Path) -> list[Example]:
    blocks = CONSOLE.findall(page.read_text(encoding="utf-8"))
    return [Example(*parts) for block in blocks for parts in COMMAND.findall(block)]


def trimmed(text: str) -> str:
    """Without the spaces that pad a table to the terminal's width, and blank lines around it."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def shown_by(command: str) -> str:
    """What a terminal shows of the command: ours runs here, what it is piped with in a shell."""
    before, ours, after = PIPED.fullmatch(command).groups()  # type: ignore[union-attr]
    with TemporaryFile() as given, TemporaryFile() as passed_on:
        if before:
            given.write(run_by_a_shell(before, b""))
            given.seek(0)
        shown = here_on_a_terminal(
            shlex.split(ours)[1:],
            given=given if before else None,
            piped_to=passed_on if after else None,
        )
        if after:
            passed_on.seek(0)
            shown += run_by_a_shell(after, passed_on.read()).decode()
    return shown


def run_by_a_shell(command: str, given: bytes) -> bytes:
    run = subprocess.run(["sh", "-c", command], input=given, capture_output=True, check=True)
    return run.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_shows_something(page: Path) -> None:
    assert len(examples(page)) >= 2
    assert all("predicast " in command for command, _ in examples(page))


# One test for the whole page: later commands use what earlier ones wrote.
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_shows_what_happens(folder: Path, page: Path) -> None:
    for name, text in FILE.findall(page.read_text(encoding="utf-8")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for command, output in examples(page):
        assert trimmed(shown_by(command)) == trimmed(output), command


def test_every_option_and_command_is_in_the_reference() -> None:
    reference = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    on_a_table = ("add", "change", "remove", "list", "history", "diff")
    subscriptions = [f"subscriptions {command}" for command in on_a_table]
    pipeline = [f"pipeline {command}" for command in ("run", "init", "check")]
    files = ("match", "explain", "check", "lint", "backtest", "profile", "convert")
    remote = ("pub", "sub", "top", "bench")
    for command in (
        *files,
        *subscriptions,
        *pipeline,
        *remote,
        "serve",
        "simulate",
        "doctor",
        "demo",
    ):
        assert f"## `predicast {command}`" in reference
        shown = shown_by(f"predicast {command} --help")
        for option in set(re.findall(r"--[a-z][a-z-]+", shown)) - {"--help"}:
            assert f"`{option}" in reference, f"{command} {option}"
