"""What most benchmarks write for their page: one figure, and Markdown that the page includes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.measuring.figures import Draw, save_figures


def write_figure_and_page(
    name: str,
    draw: Draw,
    lines: Iterable[str],
    folder: Path,
    *,
    suffixes: Sequence[str],
    page: str | None = None,
) -> list[Path]:
    """The figure, once per suffix, and the lines, under the figure's name if no other is given.

    Returns what was written.
    """
    written = save_figures([(name, draw)], folder, suffixes=suffixes)
    return [*written, write_page(page or name, lines, folder)]


def write_page(name: str, lines: Iterable[str], folder: Path) -> Path:
    """Lines of Markdown as a file to be included; returns its path."""
    path = folder / f"{name}.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
