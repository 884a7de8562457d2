"""Tables for pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def page_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table in Markdown."""
    for row in (headings, ["---"] * len(headings), *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
