"""The rules for CSV columns in plain Python, one cell at a time: the oracle of ``csv_types``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from predicast.cli.files.csv_types import CsvType
from predicast.language.where.literals import timestamp

BOOLEAN, INTEGER, FLOAT, TIMESTAMP, STRING = CsvType

PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-]?[0-9]+)?")


def fits(kind: CsvType, cell: str) -> bool:
    if kind is BOOLEAN:
        return cell.lower() in {"true", "false"} and cell.isascii()
    if kind is INTEGER:
        plain = cell.isascii() and cell.removeprefix("-").isdecimal()
        return plain and str(int(cell)) == cell.replace("-0", "0") and abs(int(cell)) < 2**63
    if kind is FLOAT:
        if not PLAIN_NUMBER.fullmatch(cell) or not re.match(r"-?\.?[0-9]", cell):
            return False
        value = float(cell)
        if value in {float("inf"), float("-inf")}:
            return False
        return not cell.lstrip("-").isdecimal() or int(cell) == value
    if kind is TIMESTAMP:
        if not re.fullmatch(r"[-0-9]{10}|[-0-9]{10}[ T][0-9:.]{5,15}(Z|[+-][0-9]{2}.*)?", cell):
            return False
        try:
            timestamp(cell)
        except ValueError:
            return False
        return True
    return True


def typed(column: Sequence[str]) -> list[Any]:
    """The values of a column, ``None`` for what is absent."""
    given = [cell for cell in column if cell]
    kind = next(kind for kind in CsvType if all(fits(kind, cell) for cell in given))
    read: dict[CsvType, Any] = {
        BOOLEAN: lambda cell: cell.lower() == "true",
        INTEGER: int,
        FLOAT: float,
        TIMESTAMP: timestamp,
        STRING: str,
    }
    return [read[kind](cell) if cell else None for cell in column]


def cells() -> st.SearchStrategy[str]:
    """Cells that fit one type, another, or nearly one."""
    return st.one_of(
        st.sampled_from(
            ["true", "False", "0", "-1", "007", "1.5", "2026-01-31", "2026-01-31T09:30Z", "x"]
        ),
        st.integers(-(2**65), 2**65).map(str),
        st.floats(allow_nan=True).map(str),
        st.datetimes().map(lambda moment: moment.isoformat(sep=" ")),
        st.text(st.sampled_from("0123456789-+.eE :TZ"), min_size=1, max_size=6),
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=4),
    )


def columns(rows: int) -> st.SearchStrategy[list[str]]:
    """Columns that are mostly of one type, with some empty cells."""
    empty = st.just("")
    pools: list[st.SearchStrategy[str]] = [
        st.integers(-3, 7).map(str),
        st.sampled_from(["0.5", "1", "-2.5", "1e3", "9007199254740993"]),
        st.sampled_from(["true", "FALSE"]),
        st.sampled_from(["2026-01-31", "2026-01-31 23:59:59.999999", "2026-01-31T09:30+02:00"]),
        st.sampled_from(["a", "ab", "007", "1", "it's", 'a "b", c', "two\nlines", " x"]),
        cells().filter(lambda cell: "\0" not in cell and "\r" not in cell),
    ]
    return st.sampled_from(pools).flatmap(
        lambda pool: st.lists(pool | empty, min_size=rows, max_size=rows)
    )
