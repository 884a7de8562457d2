"""The parts of a batch of events that comes as an Arrow table.

Only what is asked for is converted, chunk by chunk, and a value that the model does not have is
refused with its row, counted over the whole table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from predicast.arrays import Words, offsets
from predicast.arrow import (
    Read,
    booleans,
    coded_text,
    decimals,
    floats,
    instants,
    integers,
    is_decimal,
    is_list,
    is_text,
    numpy_of,
    text_bytes,
    wrong_texts,
)
from predicast.errors import (
    InvalidIntervalError,
    InvalidOptionError,
    InvalidValueError,
    ListTooLongError,
    ModelError,
    UnknownColumnError,
    UnsupportedColumnError,
    suggest,
)
from predicast.matching.batches.leaf_columns import LeafColumn, Piece, find_leaves
from predicast.matching.batches.lists import Lists, PartsOnDemand, Store
from predicast.matching.batches.typed_values import (
    SAMPLE,
    Booleans,
    ClosedEnds,
    Floats,
    Integers,
    Intervals,
    Mask,
    Rows,
    Strings,
    Timestamps,
    TypedValues,
    repeats,
)
from predicast.model import Interval
from predicast.model.elements import ELEMENT, MAX_ELEMENTS

Ends = Mapping[str, tuple[str, str]]


def parts_of(
    table: pa.Table, attributes: Collection[str] | None, intervals: Ends | None
) -> dict[str, list[TypedValues]]:
    """The parts of the attributes, or of all; ``intervals`` says whose ends are two columns."""
    ends = {name: _pair(name, pair) for name, pair in (intervals or {}).items()}
    if attributes is None:
        attributes = {*find_leaves(table.schema), *ends}
    asked = {name: pair for name, pair in ends.items() if name in attributes}
    wanted = attributes
    if asked:
        wanted = {*attributes, *(column for pair in asked.values() for column in pair)}
    leaves = find_leaves(table.schema, wanted)
    found = {
        name: _parts(table, leaf)
        for name, leaf in leaves.items()
        if name in attributes and name not in asked
    }
    for name, pair in asked.items():
        lows, highs = (_parts(table, _end(name, column, table, leaves)) for column in pair)
        found[name] = _interval_parts(name, lows, highs, table.num_rows)
    return found


def _parts(table: pa.Table, leaf: LeafColumn) -> list[TypedValues]:
    """The values of one column, by representation."""
    kind = leaf.type
    if pa.types.is_null(kind):
        return []
    pieces = list(leaf.pieces(table))
    for is_type, part, read in _READERS:
        if is_type(kind):
            return [part(*_gathered(leaf.name, pieces, read))]
    if is_text(kind):
        return [_strings(leaf.name, pieces)]
    if is_decimal(kind):
        return _decimal_parts(leaf.name, pieces)
    if is_list(kind):
        return [_lists(leaf.name, pieces)]
    raise UnsupportedColumnError(
        f"column {leaf.name!r} is of type {_shown(kind)}; events hold integers, floats, strings, "
        f"booleans, timestamps and lists of them: {_cast_hint(kind)}",
        column=leaf.name,
        type=str(kind),
    )


_READERS: Final[
    tuple[tuple[Callable[[pa.DataType], bool], type[TypedValues], Callable[[pa.Array], Read]], ...]
] = (
    (pa.types.is_integer, Integers, integers),
    (pa.types.is_floating, Floats, floats),
    (pa.types.is_boolean, Booleans, booleans),
    (pa.types.is_timestamp, Timestamps, instants),
    (pa.types.is_date, Timestamps, instants),
)


def _gathered(
    name: str, pieces: list[Piece], read: Callable[[pa.Array], Read]
) -> tuple[npt.NDArray[Any], Rows | None]:
    """The values of all pieces, and the rows where they stand."""
    gathered = []
    for piece in pieces:
        values, wrong, why = read(piece.array)
        if wrong is not None and wrong.any():
            position = int(wrong.argmax())
            _refuse(name, piece.row(position), _raw(piece.array[position]), why)
        gathered.append(values)
    return _frozen(_one(gathered)), _rows(pieces)


def _frozen(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Read-only, as what NumPy borrows from Arrow is, however it came."""
    values.flags.writeable = False
    return values


def _rows(pieces: list[Piece]) -> Rows | None:
    """The rows in which there is a value; ``None``: in all."""
    if all(piece.places is None for piece in pieces):
        return None
    return _one([piece.rows() for piece in pieces])


def _one(arrays: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _raw(scalar: pa.Scalar) -> Any:
    """The value for a message: a count for a timestamp, which Python may not be able to hold."""
    temporal = pa.types.is_temporal(scalar.type)
    return scalar.value if temporal else scalar.as_py()


def _refuse(name: str, row: int, value: Any, why: str) -> NoReturn:
    shown = str(value) if len(str(value)) <= 60 else f"{str(value)[:57]}..."
    raise InvalidValueError(
        f"attribute {name!r}, row {row}: {shown} {why}", attribute=name, value=value, row=row
    )


def _decimal_parts(name: str, pieces: list[Piece]) -> list[TypedValues]:
    """Decimals that are 64-bit integers, and those that are floats, exactly."""
    gathered = []
    for piece in pieces:
        numbers, whole, real = decimals(piece.array)
        inexact = ~(whole | real)
        if inexact.any():
            position = int(inexact.argmax())
            why = "is neither a 64-bit integer nor exact as a float; cast it to double to round it"
            _refuse(name, piece.row(position), piece.array[position].as_py(), why)
        gathered.append((numbers, whole, real))
    numbers, whole, real = (_one(list(each)) for each in zip(*gathered, strict=True))
    rows = _one([piece.rows() for piece in pieces])
    parts: list[TypedValues] = []
    if whole.any():
        parts.append(Integers(_frozen(numbers[whole].astype(np.int64)), rows[whole]))
    if real.any():
        parts.append(Floats(_frozen(numbers[real].astype(np.float64)), rows[real]))
    return parts


def _strings(name: str, pieces: list[Piece]) -> Strings:
    """Strings where they lie, numbered if they repeat or came so."""
    if not _are_numbered(pieces[0].array):
        found = Words.joined([_words(name, piece, piece.array, None) for piece in pieces])
        return Strings(None, _rows(pieces), found)
    words, numbers = [], []
    for piece in pieces:
        codes, different = _occurring(*coded_text(piece.array))
        words.append(_words(name, piece, different, codes))
        numbers.append(codes.astype(np.int32, copy=False))
    starts = offsets([len(each) for each in words])[:-1].astype(np.int32)
    codes = _one([each + start for each, start in zip(numbers, starts, strict=True)])
    return Strings(codes, _rows(pieces), Words.joined(words))


def _are_numbered(texts: pa.Array) -> bool:
    """Whether they are numbers of words, or should be."""
    if pa.types.is_dictionary(texts.type):
        return True
    some = texts.slice(0, SAMPLE)
    return repeats(Words(*text_bytes(some)).encoded())


def _words(name: str, piece: Piece, words: pa.Array, codes: npt.NDArray[Any] | None) -> Words:
    """The words of a piece, by the codes or in order; one that is not Unicode is refused."""
    found = Words(*text_bytes(words))
    if not found.is_ascii() and (wrong := wrong_texts(words)):
        position = wrong[0] if codes is None else int(np.isin(codes, wrong).argmax())
        place = position if codes is None else int(codes[position])
        shown = found.encoded()[place].decode(errors="replace")
        _refuse(name, piece.row(position), shown, "is not Unicode (UTF-8)")
    return found


def _occurring(codes: npt.NDArray[Any], words: pa.Array) -> tuple[npt.NDArray[Any], pa.Array]:
    """The same strings without words that do not occur: slices keep their whole dictionaries."""
    used = np.zeros(len(words), bool)
    used[codes] = True
    if used.all():
        return codes, words
    return (np.cumsum(used, dtype=np.int32) - 1)[codes], words.filter(pa.array(used))


def _lists(name: str, pieces: list[Piece]) -> Lists:
    """Lists, whose elements are read when somebody looks at them."""
    from predicast.matching.batches.event_batch import EventBatch  # which is read from here

    lengths = _one([numpy_of(pc.list_value_length(piece.array)) for piece in pieces])
    longest = int(lengths.max()) if len(lengths) else 0
    rows = _rows(pieces)
    if longest > MAX_ELEMENTS:
        row = int(lengths.argmax()) if rows is None else int(rows[lengths.argmax()])
        raise ListTooLongError(
            f"attribute {name!r}, row {row}: a list of {longest} elements; "
            f"the limit is {MAX_ELEMENTS}",
            limit=MAX_ELEMENTS,
            actual=longest,
        )
    flat = pa.chunked_array([pc.list_flatten(piece.array) for piece in pieces])
    table = pa.table({ELEMENT: flat})
    leaves = find_leaves(table.schema)

    def read(field: str) -> list[TypedValues]:
        try:
            return _parts(table, leaves[field])
        except (ModelError, UnsupportedColumnError) as error:
            error.add_note(f"in the lists of {name!r}; rows are counted over all their elements")
            raise

    store = Store(offsets(lengths), EventBatch(len(flat), PartsOnDemand(leaves, read)))
    return Lists(np.arange(len(lengths)), rows, store)


def _shown(kind: pa.DataType) -> str:
    if isinstance(kind, pa.OpaqueType):
        return f"{kind.type_name} ({kind.vendor_name})"
    return str(kind)


def _cast_hint(kind: pa.DataType) -> str:
    if pa.types.is_map(kind):
        return "make a column of each entry that matters"
    return "cast it or leave it out"


# Intervals, from two columns.


def _pair(attribute: str, pair: Any) -> tuple[str, str]:
    if isinstance(pair, str) or len(pair) != 2:
        raise InvalidOptionError(
            f"intervals pairs each attribute with two columns, {attribute!r} with {pair!r}",
            option="intervals",
        )
    return pair[0], pair[1]


def _end(
    attribute: str, column: str, table: pa.Table, leaves: Mapping[str, LeafColumn]
) -> LeafColumn:
    if column not in leaves:
        close = suggest(column, find_leaves(table.schema))
        hint = f"; did you mean {close!r}?" if close else ""
        raise UnknownColumnError(
            f"an end of the interval {attribute!r} is column {column!r}, which is not there{hint}",
            column=column,
            suggestion=close,
        )
    return leaves[column]


def _interval_parts(
    name: str, lows: list[TypedValues], highs: list[TypedValues], length: int
) -> list[TypedValues]:
    """Intervals; as arrays if all ends are of one representation."""
    types = {type(part) for part in (*lows, *highs)}
    if not types:
        return []
    if len(types) > 1 or not types <= {Integers, Floats, Timestamps}:
        return [_boxed_intervals(name, lows, highs, length)]
    dtype = (*lows, *highs)[0].values.dtype
    (lo, has_lo), (hi, has_hi) = (_spread(parts, length, dtype) for parts in (lows, highs))
    empty = has_lo & has_hi & (lo > hi)
    ends = ClosedEnds(types.pop().kind, lo, hi, has_lo, has_hi)
    if empty.any():
        row = int(empty.argmax())
        _interval(name, row, *(ends.value(each[row]) for each in (lo, hi)))
    there = has_lo | has_hi
    if there.all():
        return [Intervals(ends, None)]
    rows = np.flatnonzero(there)
    return [Intervals(ClosedEnds(ends.kind, *(each[rows] for each in ends[1:])), rows)]


def _spread(
    parts: list[TypedValues], length: int, dtype: np.dtype[Any]
) -> tuple[npt.NDArray[Any], Mask]:
    """The values of a column, with anything where there is none, and where there are some."""
    if parts and parts[0].rows is None:
        return parts[0].values, np.ones(length, bool)
    values, there = np.zeros(length, dtype), np.zeros(length, bool)
    for part in parts:
        values[part.rows] = part.values
        there[part.rows] = True
    return values, there


def _boxed_intervals(
    name: str, lows: list[TypedValues], highs: list[TypedValues], length: int
) -> Intervals:
    lo, hi = (_boxed(parts, length) for parts in (lows, highs))
    rows = [row for row in range(length) if lo[row] is not None or hi[row] is not None]
    boxed = np.empty(len(rows), object)
    boxed[:] = [_interval(name, row, lo[row], hi[row]) for row in rows]
    return Intervals(boxed, np.array(rows, np.int64))


def _boxed(parts: list[TypedValues], length: int) -> list[Any]:
    values: list[Any] = [None] * length
    for part in parts:
        for position, row in enumerate(range(length) if part.rows is None else part.rows.tolist()):
            values[row] = part.value(position)
    return values


def _interval(name: str, row: int, lo: Any, hi: Any) -> Interval:
    try:
        return Interval(lo, hi)
    except ModelError as error:
        raise InvalidIntervalError(
            f"attribute {name!r}, row {row}: {error.message}", attribute=name, row=row
        ) from error
