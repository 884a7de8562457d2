"""``EngineOfTables``: what an engine is asked with tables of events, and answers with tables.

It is the part of ``Engine`` that speaks Arrow, and frames of other libraries through it
(``predicast.arrow.frames``).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from predicast.engine.asking import Asking, OnInvalid, TableQuestion
from predicast.engine.engine_of import EngineOf

if TYPE_CHECKING:
    import pyarrow as pa

    from predicast.arrow import TableLike
    from predicast.engine.frames import How, Output
    from predicast.engine.store import StoreView, SubscriptionStore
    from predicast.matching.batches.interval_columns import IntervalColumns

    _EngineOfFlatEvents = EngineOf[SubscriptionStore, StoreView]
else:
    _EngineOfFlatEvents = EngineOf  # to name the types would be to import NumPy

F = TypeVar("F")


class EngineOfTables(_EngineOfFlatEvents):
    """Standing subscriptions, and the rows of tables that they match."""

    _asking: Asking

    def match_arrow(
        self,
        batch: TableLike,
        *,
        limit: int | None = None,
        intervals: IntervalColumns | None = None,
        on_invalid: OnInvalid | None = None,
        now: datetime | str | None = None,
    ) -> pa.Table:
        """The matches of a batch of rows, as a table of ``event`` (int64) and ``subscription``.

        The batch is a PyArrow table, record batch or reader, a pandas or Polars frame, or whatever
        else offers ``__arrow_c_stream__`` or ``__arrow_c_array__``. ``event`` is the row's position
        in it, ``subscription`` an id (dictionary-encoded string; the dictionary may hold ids that
        no row uses). Rows ascend by event; the ids of one event stand in no particular order.
        ``limit`` asks for at most that many matches of each event, whichever. Struct columns become
        dotted names, nulls are absent. For region events, ``intervals={"x": ("x_min", "x_max")}``
        says which two columns hold the ends of an attribute, which are closed unless two more
        names follow, of booleans that say whether each is open; ``intervals={"x": "box"}`` names a
        struct column with the fields ``lo`` and ``hi`` and, if they are not closed, ``lo_open`` and
        ``hi_open``. ``now`` may also name a column, of each event's own arrival.
        """
        from predicast.matching.matches import matches_table

        asked = TableQuestion.of(batch, limit, intervals, on_invalid, now)
        return self._ask(
            lambda view: matches_table(self._asking.match_table(view, asked), view.ids)
        )

    def count_arrow(
        self,
        batch: TableLike,
        *,
        limit: int | None = None,
        intervals: IntervalColumns | None = None,
        on_invalid: OnInvalid | None = None,
        now: datetime | str | None = None,
    ) -> pa.Int64Array:
        """How many subscriptions each row of a batch matches.

        ``limit`` is where counting may stop: ``limit=1`` tells which rows match anything at all.
        The rest is as in ``match_arrow``.
        """
        import pyarrow as pa

        asked = TableQuestion.of(batch, limit, intervals, on_invalid, now)
        return pa.array(self._ask(lambda view: self._asking.count_table(view, asked)), pa.int64())

    def match_frame(
        self,
        frame: F,
        *,
        output: Output = "rows",
        how: How = "inner",
        columns: Sequence[Hashable] | None = None,
        intervals: IntervalColumns | None = None,
        on_invalid: OnInvalid | None = None,
        now: datetime | str | None = None,
    ) -> F:
        """The rows of a frame with the subscriptions that they match, as the same kind of frame.

        The frame is one of pandas, Polars, DuckDB (a relation) or PyArrow; of whatever else speaks
        Arrow, a PyArrow table is made. ``output``, ``how`` and ``columns`` are those of
        ``predicast.spark.match``: ``"rows"`` adds a column ``subscription`` and gives one row per
        match, ``"array"`` adds a column ``subscriptions`` (a sorted list) and keeps one row per
        event; ``"inner"`` gives rows that match something, ``"left"`` all of them (with a null or
        an empty list), ``"anti"`` those that match nothing, without an added column; ``columns``
        names the columns to keep. Rows stay in their order, with a pandas frame's index; the ids of
        one are sorted. The rest is as in ``match_arrow``.

        What is yet to be read stays so: a Polars ``LazyFrame`` becomes another, a PyArrow
        ``RecordBatchReader`` another, and either is matched piece by piece when somebody reads it,
        with what the engine holds then.
        """
        from predicast.engine.frames import FrameQuestion, matched_frame

        def pairs(table: pa.Table, limit: int | None) -> pa.Table:
            return self.match_arrow(
                table, limit=limit, intervals=intervals, on_invalid=on_invalid, now=now
            )

        found: F = matched_frame(frame, FrameQuestion.of(output, how, columns), pairs)
        return found
