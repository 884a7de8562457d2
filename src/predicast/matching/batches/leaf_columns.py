"""The columns of a table by attribute: fields of structs under their dotted names.

Finding them looks at the schema only, and at no struct in which no wanted attribute can be: time is
linear in the columns that there are. Reading one goes chunk by chunk and never makes one array of
them: a column of more than 2 GB of text has no such array.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from predicast.arrow import plain, plain_type, valid_places
from predicast.errors import InvalidEventError, NestingTooDeepError, UnsupportedColumnError
from predicast.model.event import MAX_NESTING

_Mask = npt.NDArray[np.bool_]


class Piece(NamedTuple):
    """What a chunk of a column holds: plain values, none of them null, and where they stand."""

    array: pa.Array
    first: int  # the row of the table at which the chunk begins
    places: npt.NDArray[np.int64] | None  # in the chunk; None: everywhere

    def rows(self) -> npt.NDArray[np.int64]:
        """The rows of the table in which they all stand."""
        places = np.arange(len(self.array)) if self.places is None else self.places
        return places + self.first if self.first else places

    def only(self, kept: _Mask) -> Piece:
        """The places of some of the values; whoever asks has read them already."""
        places = np.flatnonzero(kept) if self.places is None else self.places[kept]
        return self._replace(array=self.array[:0], places=places)


class LeafColumn(NamedTuple):
    """Where an attribute's values stand: a column, and the fields on the way down from it."""

    name: str
    type: pa.DataType  # of the plain values
    column: int
    path: tuple[int, ...]

    def pieces(self, table: pa.Table) -> Iterator[Piece]:
        """The values, chunk by chunk; at least one chunk."""
        column = table.column(self.column)
        if not column.chunks:
            yield Piece(pa.nulls(0, self.type), 0, None)  # the column's own type may be beyond it
            return
        first = 0
        for chunk in column.chunks:
            try:
                array, places = self._descend(chunk)
            except pa.ArrowException as error:
                raise UnsupportedColumnError(
                    f"column {self.name!r} cannot be read from row {first} on: {error}",
                    column=self.name,
                    type=str(column.type),
                ) from error
            yield Piece(array, first, places)
            first += len(chunk)

    def _descend(self, chunk: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int64] | None]:
        # Not by struct_field or flatten: they forget the struct's nulls where a field has runs.
        if not self.path and len(chunk) and chunk.null_count == len(chunk):
            return pa.nulls(0, self.type), np.zeros(0, np.int64)
        array = plain(chunk)
        there = _valid(array)
        for place in self.path:
            array = plain(array.field(place))
            inside = _valid(array)
            there = inside if there is None else there if inside is None else there & inside
        if there is None:
            return array, None
        held = array.filter(pa.array(there)) if self.path else array.drop_null()
        return held, np.flatnonzero(there)


def find_leaves(schema: pa.Schema, wanted: Collection[str] | None = None) -> dict[str, LeafColumn]:
    """The leaves that provide the wanted attributes, or all; two of one name are refused."""
    heads: Heads = None if wanted is None else _Prefixes(wanted)
    found: dict[str, LeafColumn] = {}
    for column, field in enumerate(schema):
        for leaf in _below(field.name, plain_type(field.type), column, (), heads):
            if wanted is not None and leaf.name not in wanted:
                continue
            if leaf.name in found:
                raise InvalidEventError(f"two columns are named {leaf.name!r}", attribute=leaf.name)
            found[leaf.name] = leaf
    return found


def _below(
    name: str, kind: pa.DataType, column: int, path: tuple[int, ...], heads: Heads
) -> Iterator[LeafColumn]:
    if not pa.types.is_struct(kind):
        yield LeafColumn(name, kind, column, path)
        return
    if heads is not None and name not in heads:
        return
    if len(path) == MAX_NESTING:
        raise NestingTooDeepError(
            f"the column {name[:60]!r} nests deeper than {MAX_NESTING} structs", limit=MAX_NESTING
        )
    for place, field in enumerate(kind):
        yield from _below(
            f"{name}.{field.name}", plain_type(field.type), column, (*path, place), heads
        )


class _Prefixes:
    """The names of structs that may hold some of the wanted attributes; made when asked for."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self._wanted = wanted
        self._heads: frozenset[str] | None = None

    def __contains__(self, name: str) -> bool:
        if self._heads is None:
            self._heads = frozenset(
                attribute[:place]
                for attribute in self._wanted
                for place, letter in enumerate(attribute)
                if letter == "."
            )
        return name in self._heads


Heads = _Prefixes | None


def _valid(array: pa.Array) -> _Mask | None:
    return None if array.null_count == 0 else valid_places(array)
