"""The columns of text of a small batch, read together (``arrow/texts_together.py``)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pyarrow as pa

from predicast.arrays import Words
from predicast.arrow import MOST_ROWS_TOGETHER, TextsTogether, texts_together
from predicast.matching.batches.table_plans import TextColumns
from predicast.matching.batches.typed_values import Strings, TypedValues


def small_columns(table: pa.Table, texts: TextColumns) -> dict[str, list[TypedValues]]:
    """The parts of those columns of text that can be read together, which small batches' can."""
    found: dict[str, list[TypedValues]] = {}
    if not 0 < table.num_rows <= MOST_ROWS_TOGETHER:
        return found
    for columns in texts:
        chunked = [table.column(column) for column in columns.values()]
        if all(column.num_chunks == 1 for column in chunked):
            together = texts_together([column.chunk(0) for column in chunked])
            if together is not None:
                found |= zip(columns, _columns_of(together, table.num_rows), strict=True)
    return found


def _columns_of(together: TextsTogether, length: int) -> Iterator[list[TypedValues]]:
    """The parts of each of some columns of one length."""
    texts, starts, rows, is_ascii = together
    words = Words(texts.first, texts.raw, is_ascii=is_ascii)
    for begin, end in pairwise(starts):
        if begin == end:
            yield []
            continue
        where = None if rows is None or end - begin == length else rows[begin:end]
        yield [Strings(None, where, words.column(begin, end))]
