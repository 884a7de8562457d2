"""Frames of other libraries: what each is asked for, and how rows of it come back as the same kind.

pandas, Polars, DuckDB and PyArrow all have tables, and each its own way to take rows of one and to
put a column beside them. Here is that way for each of them. Whoever has a frame has imported its
library, so that nothing is imported here: ``sys.modules`` has it.

Some frames are not there yet: a Polars ``LazyFrame`` is a plan, a PyArrow ``RecordBatchReader`` a
stream. What is to be done with them is done piece by piece when somebody reads what comes out, so
that they stay what they are and memory is bounded by a piece.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from predicast.arrow.tables import as_table
from predicast.arrow.taking import taken_rows
from predicast.errors import ColumnClashError, UnknownColumnError, suggest

_ALIAS: Final = "matches"  # of a relation, so that it can be joined with the one it came from


class Added(NamedTuple):
    """A column beside rows."""

    name: str
    values: pa.Array


class Frame(ABC):
    """A frame that is there, whichever library made it."""

    def __init__(self, given: Any) -> None:
        self._given = given

    def table(self) -> pa.Table:
        """Its rows, to be matched."""
        return as_table(self._given)

    @abstractmethod
    def names(self) -> list[Hashable]:
        """The names of its columns."""

    @abstractmethod
    def taken(
        self, rows: np.ndarray, columns: Sequence[Hashable] | None, added: Added | None
    ) -> Any:
        """Some of its rows, by position, with some of its columns and perhaps one more."""


def check_columns(
    names: Sequence[Hashable], columns: Sequence[Hashable] | None, added: str | None
) -> None:
    """Refuse columns that are not among the names, and one to be added that is there already."""
    for name in columns or ():
        if name not in names:
            close = suggest(str(name), map(str, names))
            hint = f"; did you mean {close!r}?" if close else ""
            raise UnknownColumnError(
                f"there is no column {name!r}{hint}", column=str(name), suggestion=close
            )
    if added is not None and added in (names if columns is None else columns):
        raise ColumnClashError(
            f"the frame has a column {added!r}, which is the name of the one to be added; "
            "rename it, or leave it out: columns=[...]",
            column=added,
        )


class _PandasFrame(Frame):
    def names(self) -> list[Hashable]:
        return list(self._given.columns)

    def taken(
        self, rows: np.ndarray, columns: Sequence[Hashable] | None, added: Added | None
    ) -> Any:
        kept = self._given if columns is None else self._given[list(columns)]
        kept = kept.iloc[rows]
        if added is None:
            return kept
        values = np.empty(len(rows), object)  # of lists as well, which NumPy would take apart
        values[:] = added.values.to_pylist()
        kept = kept.copy(deep=False)
        kept[added.name] = values
        return kept


class _PolarsFrame(Frame):
    def names(self) -> list[Hashable]:
        return list(self._given.columns)

    def taken(
        self, rows: np.ndarray, columns: Sequence[Hashable] | None, added: Added | None
    ) -> Any:
        polars: Any = sys.modules["polars"]
        kept = self._given if columns is None else self._given.select(list(columns))
        kept = kept[rows] if kept.width else kept
        if added is None:
            return kept
        column = polars.Series(added.name, added.values)
        return kept.with_columns(column) if kept.width else column.to_frame()


class _ArrowFrame(Frame):
    """A PyArrow table, or whatever else speaks Arrow: of which a PyArrow table is made."""

    def __init__(self, given: Any) -> None:
        super().__init__(given)
        self._table = as_table(given)

    def table(self) -> pa.Table:
        return self._table

    def names(self) -> list[Hashable]:
        return list(self._table.column_names)

    def taken(
        self, rows: np.ndarray, columns: Sequence[Hashable] | None, added: Added | None
    ) -> Any:
        kept = self._table if columns is None else self._table.select(list(columns))
        if not kept.num_columns:  # such a table has no rows, and takes no column
            return kept if added is None else pa.table({added.name: added.values})
        found = taken_rows(kept, rows)
        return found if added is None else found.append_column(added.name, added.values)


class _ArrowBatch(_ArrowFrame):
    def taken(
        self, rows: np.ndarray, columns: Sequence[Hashable] | None, added: Added | None
    ) -> Any:
        found = super().taken(rows, columns, added).combine_chunks()
        batches = found.to_batches()
        return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=found.schema)


class _DuckDbRelation(_ArrowFrame):
    def taken(
        self, rows: np.ndarray, columns: Sequence[Hashable] | None, added: Added | None
    ) -> Any:
        # DuckDB finds a table by the name of a variable, here, unless the catalogue has one of that
        # name. A query of the relation that was given is one of its connection, so that the answer
        # can be joined with what is there.
        _predicast_matched_rows = super().taken(rows, columns, added)
        found = self._given.query("events", "SELECT * FROM _predicast_matched_rows")
        return found.set_alias(_ALIAS)


class Unread(ABC):
    """A frame that is yet to be read: a plan, or a stream."""

    def __init__(self, given: Any) -> None:
        self._given = given

    @abstractmethod
    def names(self) -> list[Hashable]:
        """The names of its columns."""

    @abstractmethod
    def mapped(
        self,
        answer: Callable[[Any], Any],
        columns: Sequence[Hashable] | None,
        added: tuple[str, pa.DataType] | None,
    ) -> Any:
        """The same with what is made of each piece of it, when somebody reads."""


class _LazyFrame(Unread):
    def names(self) -> list[Hashable]:
        return list(self._given.collect_schema())

    def mapped(
        self,
        answer: Callable[[Any], Any],
        columns: Sequence[Hashable] | None,
        added: tuple[str, pa.DataType] | None,
    ) -> Any:
        polars: Any = sys.modules["polars"]
        schema = dict(self._given.collect_schema())
        if columns is not None:
            schema = {name: schema[name] for name in columns}
        if added is not None:
            text = polars.String
            schema[added[0]] = polars.List(text) if pa.types.is_list(added[1]) else text
        return self._given.map_batches(
            answer,
            schema=schema,
            streamable=True,
            # Rows become more or fewer, and have a column that was not there: nothing that is
            # asked of the answer can be asked of what it is made of.
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
        )


class _BatchReader(Unread):
    def names(self) -> list[Hashable]:
        return list(self._given.schema.names)

    def mapped(
        self,
        answer: Callable[[Any], Any],
        columns: Sequence[Hashable] | None,
        added: tuple[str, pa.DataType] | None,
    ) -> Any:
        schema = self._given.schema
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        if added is not None:
            schema = schema.append(pa.field(*added))
        return pa.RecordBatchReader.from_batches(schema, self._answers(answer))

    def _answers(self, answer: Callable[[Any], Any]) -> Iterator[pa.RecordBatch]:
        for batch in self._given:
            yield answer(batch)


class _Library(NamedTuple):
    module: str
    frame: str
    reads: type[Frame | Unread]


_LIBRARIES: Final = (
    _Library("pandas", "DataFrame", _PandasFrame),
    _Library("polars", "DataFrame", _PolarsFrame),
    _Library("polars", "LazyFrame", _LazyFrame),
    _Library("duckdb", "DuckDBPyRelation", _DuckDbRelation),
    _Library("pyarrow", "RecordBatch", _ArrowBatch),
    _Library("pyarrow", "RecordBatchReader", _BatchReader),
)


def frame_of(given: Any) -> Frame | Unread:
    """What was given, as a frame of its library; whatever else speaks Arrow as a PyArrow table."""
    for library in _LIBRARIES:
        module = sys.modules.get(library.module)  # who has a frame has imported it
        if module is not None and isinstance(given, getattr(module, library.frame)):
            return library.reads(given)
    return _ArrowFrame(given)
