"""Coding a column of events, as ``kernels/coding.py`` does."""

from __future__ import annotations

import numpy as np

from predicast.arrays import Array


def code_by_search(cuts: Array, values: Array, rows: Array, codes: Array) -> None:
    """Search each value among the least values behind each cut; no rows at all are all rows."""
    _put(np.searchsorted(cuts, values, "right"), rows, codes)


def code_by_table(table: Array, first: int, values: Array, rows: Array, codes: Array) -> None:
    """Look each integer up in a table of codes from ``first`` on; its ends stand for the rest."""
    _put(table[np.clip(values, first, first + len(table) - 1) - first], rows, codes)


def _put(found: Array, rows: Array, codes: Array) -> None:
    codes[rows if len(rows) else slice(len(found))] = found
