"""Examples in README, docs and docstrings are tests: those of a page or a module are one.

An example goes on where the one before it has ended, and tests are divided among processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from unittest import SkipTest

import pytest
from sybil import Sybil
from sybil.parsers.doctest import DocTestParser
from sybil.parsers.markdown import SkipParser
from sybil.typing import Parser

from tests.page_examples import PageExamples

ROOT = Path(__file__).resolve().parents[1]
# tests/spark/test_documents.py runs them, but for the last, which takes a broker as well.
WITH_SPARK = {
    "docs/how-to/deliver-a-stream.md",
    "docs/how-to/detect-with-sigma-rules.md",
    "docs/how-to/keep-subscriptions-in-a-table.md",
    "docs/how-to/match-dataframes.md",
    "docs/how-to/match-graphs.md",
    "docs/reference/spark.md",
}


def holding(what: str, *patterns: str) -> list[str]:
    """The files that have examples."""
    found = {path for pattern in patterns for path in ROOT.glob(pattern)}
    return sorted(
        path.relative_to(ROOT).as_posix()
        for path in found
        if "_build" not in path.parts and what in path.read_text(encoding="utf-8")
    )


PAGES = holding("```python", "README.md", "docs/**/*.md")
MODULES = holding(">>>", "src/**/*.py")


def run_examples(document: str, parsers: Sequence[Parser]) -> int:
    """Run all examples of a document in their order; how many there were."""
    ran = 0
    for example in Sybil(parsers=parsers, path=str(ROOT)).parse(ROOT / document).examples():
        try:
            example.evaluate()
        except SkipTest:
            continue
        ran += 1
    return ran


@pytest.mark.parametrize("page", [page for page in PAGES if page not in WITH_SPARK])
def test_pages(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_examples(page, [PageExamples(), SkipParser()])


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module: str) -> None:
    assert run_examples(module, [DocTestParser()])


def test_there_are_examples() -> None:
    assert {"README.md", "docs/tutorial/first-steps.md"} < set(PAGES)
    assert set(PAGES) > WITH_SPARK
    assert len(PAGES) > 25
    assert len(MODULES) > 25
