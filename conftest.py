"""Examples in README, docs and docstrings are tests."""

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
docstrings = Sybil(
    parsers=[DocTestParser()],
    patterns=["src/predicast/*.py", "src/predicast/**/*.py", "src/predicast/**/**/*.py"],
)

pytest_collect_file = (pages + docstrings).pytest()
