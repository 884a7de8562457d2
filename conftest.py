"""Examples in README, docs and docstrings are tests."""

from pathlib import Path

from sybil import Sybil
from sybil.parsers.doctest import DocTestParser
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

pages = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    # A ** is one folder here.
    patterns=["README.md", "docs/*.md", "docs/**/*.md", "docs/**/**/*.md"],
    excludes=[
        "docs/how-to/deliver-a-stream.md",
        "docs/how-to/detect-with-sigma-rules.md",
        "docs/how-to/keep-subscriptions-in-a-table.md",
        "docs/how-to/match-dataframes.md",
        "docs/how-to/match-graphs.md",
        "docs/reference/spark.md",
        "docs/_build/**",
    ],
)

_HERE = Path(__file__).parent
docstrings = Sybil(
    parsers=[DocTestParser()],
    # To look for docstrings in all modules takes each process seconds; few have examples.
    patterns=[
        path.relative_to(_HERE).as_posix()
        for path in sorted(_HERE.glob("src/predicast/**/*.py"))
        if ">>>" in path.read_text(encoding="utf-8")
    ],
)

pytest_collect_file = (pages + docstrings).pytest()
