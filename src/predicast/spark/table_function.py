"""``match_udtf``: ``match`` as a function of a table, for SQL.

::

    spark.udtf.register("match", match_udtf(subscriptions, "trade int, price double"))
    SELECT * FROM match(TABLE(trades))

A table function in Arrow has to say beforehand which columns it gives, so they are named when it is
made. What subscriptions look at is found by name in the table that it is called with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import pyarrow as pa

from predicast.spark.answers import Answer
from predicast.spark.schemas import unknown_column
from predicast.spark.workers import MatchingColumns, counted, incomparable

if TYPE_CHECKING:
    from pyspark.sql.udtf import UserDefinedTableFunction

_ROWS: Final = 1 << 16  # that are made at a time: each repeats its event's columns


@dataclass(frozen=True, slots=True)
class MatchingRows:
    """Some columns of events and the id of a subscription, a row for each match."""

    matching: MatchingColumns
    kept: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        image, asked, bounds = self.matching.image, self.matching.asked, self.matching.bounds
        with image.lent() as lent, counted(lent, incomparable(asked)) as answers:
            for batch in batches:
                columns = [_column(batch, name) for name in self.kept]
                asked = self.matching.asked_of(batch.schema)
                for answer in answers.of(batch, asked, bounds):
                    yield from self._rows(columns, answer)

    def _rows(self, columns: list[pa.Array], answer: Answer) -> Iterator[pa.RecordBatch]:
        events = np.arange(answer.first, answer.end).repeat(np.diff(answer.offsets))
        for first in range(0, len(events), _ROWS):
            rows = pa.array(events[first : first + _ROWS])
            arrays = [*(column.take(rows) for column in columns), answer.ids.slice(first, _ROWS)]
            yield pa.RecordBatch.from_arrays(arrays, names=[*self.kept, "subscription"])


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name not in batch.schema.names:
        raise unknown_column(f"the table has no column {name!r}", name, batch.schema.names)
    return batch.column(batch.schema.names.index(name))


def table_function(task: MatchingRows, columns: Any) -> UserDefinedTableFunction:
    """The task as a function of a table; ``columns`` is the schema of what it keeps."""
    from pyspark.sql.functions import arrow_udtf
    from pyspark.sql.types import StringType, StructType

    from predicast.spark.portable import portable

    run = portable(task)

    # Nested, as the function is, because Spark pickles only what no module holds by value.
    class Match:
        """What Spark makes one of for each part of the table."""

        def eval(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
            yield from run([batch])

    schema = StructType([*columns.fields]).add("subscription", StringType(), nullable=False)
    return cast("UserDefinedTableFunction", arrow_udtf(Match, returnType=schema))
