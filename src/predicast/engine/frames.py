"""Matches joined to the rows of a frame: which rows, how often, and what stands beside them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from predicast.arrow.frames import Added, Frame, check_columns, frame_of
from predicast.engine.choices import check_choice
from predicast.errors import InvalidOptionError
from predicast.matching.matches import sorted_matches

Output: TypeAlias = Literal["rows", "array"]
How: TypeAlias = Literal["inner", "left", "anti"]
# The matches of a table, at most so many of each row.
PairsOf: TypeAlias = Callable[[pa.Table, int | None], pa.Table]

_ADDED: Final[dict[Output, tuple[str, pa.DataType]]] = {
    "rows": ("subscription", pa.string()),
    "array": ("subscriptions", pa.list_(pa.string())),
}


class FrameQuestion(NamedTuple):
    """What is to become of a frame."""

    output: Output
    how: How
    columns: tuple[Hashable, ...] | None

    @classmethod
    def of(cls, output: Output, how: How, columns: Sequence[Hashable] | None) -> FrameQuestion:
        """Check what was asked."""
        check_choice("output", output, ("rows", "array"))
        check_choice("how", how, ("inner", "left", "anti"))
        if isinstance(columns, str):
            raise InvalidOptionError(
                f"columns is a list of names, such as [{columns!r}], not one name",
                option="columns",
            )
        if how == "anti" and columns is not None and not columns:
            raise InvalidOptionError("how='anti' adds no column, so keep some", option="columns")
        return cls(output, how, None if columns is None else tuple(columns))

    @property
    def added(self) -> tuple[str, pa.DataType] | None:
        """The name and type of the column that is added, if one is."""
        return None if self.how == "anti" else _ADDED[self.output]


def matched_frame(given: Any, asked: FrameQuestion, pairs_of: PairsOf) -> Any:
    """The rows of a frame with their matches; of one that is yet to be read, when it is."""
    frame = frame_of(given)
    check_columns(frame.names(), asked.columns, asked.added and asked.added[0])
    if isinstance(frame, Frame):
        return _joined(frame, asked, pairs_of)

    def answer(piece: Any) -> Any:
        found = frame_of(piece)
        assert isinstance(found, Frame)
        return _joined(found, asked, pairs_of)

    return frame.mapped(answer, asked.columns, asked.added)


def _joined(frame: Frame, asked: FrameQuestion, pairs_of: PairsOf) -> Any:
    table = frame.table()
    pairs = sorted_matches(pairs_of(table, 1 if asked.how == "anti" else None))
    counts = np.bincount(pairs.column("event").to_numpy(), minlength=table.num_rows)
    if asked.added is None:
        return frame.taken(np.flatnonzero(counts == 0), asked.columns, None)
    ids = pairs.column("subscription").cast(pa.string()).combine_chunks()
    if isinstance(ids, pa.ChunkedArray):  # an empty one combines to no chunk at all
        ids = pa.array([], pa.string())
    by_output = _in_lists if asked.output == "array" else _in_rows
    rows, values = by_output(counts, ids, keeps_all=asked.how == "left")
    return frame.taken(rows, asked.columns, Added(asked.added[0], values))


def _in_rows(
    counts: np.ndarray, ids: pa.StringArray, *, keeps_all: bool
) -> tuple[np.ndarray, pa.Array]:
    """A row for each match; if all are kept, one without an id where there is no match."""
    events = np.arange(len(counts))
    if not keeps_all:
        return np.repeat(events, counts), ids
    rows = np.repeat(events, np.maximum(counts, 1))
    matched = counts[rows] > 0
    place = np.where(matched, np.cumsum(matched) - 1, 0)
    return rows, ids.take(pa.array(place, mask=~matched))


def _in_lists(
    counts: np.ndarray, ids: pa.StringArray, *, keeps_all: bool
) -> tuple[np.ndarray, pa.Array]:
    """A row for each event, with the list of its matches."""
    rows = np.arange(len(counts)) if keeps_all else np.flatnonzero(counts)
    offsets = np.concatenate(([0], np.cumsum(counts[rows]))).astype(np.int32)
    return rows, pa.ListArray.from_arrays(pa.array(offsets), ids)
