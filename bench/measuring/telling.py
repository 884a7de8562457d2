"""What a benchmark's command says at its end: tables, and which files there are now."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table


def show(tables: Iterable[Table]) -> None:
    """Print tables, one after the other."""
    for table in tables:
        Console().print(table)


def tell(written: Iterable[Path]) -> None:
    """Say which files were written."""
    for path in written:
        print(f"written to {path}")
