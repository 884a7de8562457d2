"""The parts of a batch of events that comes as an Arrow table.

Only what is asked for is converted, chunk by chunk, and a value that the model does not have is
refused with its row, counted over the whole table (``refusals.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from predicast.arrays import Words, offsets
from predicast.arrow import (
    INTEGERS,
    Read,
    are_unicode,
    booleans,
    coded_text,
    floats,
    instants,
    integers,
    integers_in_place,
    is_exact,
    is_list,
    is_text,
    numbers,
    numpy_of,
    text_bytes,
    texts_in_place,
    wrong_texts,
)
from predicast.errors import (
    InvalidIntervalError,
    InvalidValueError,
    ListTooLongError,
    ModelError,
    UnknownColumnError,
    UnsupportedColumnError,
    suggest,
)
from predicast.matching.batches.interval_columns import (
    Ends,
    IntervalColumns,
    ends_of,
    interval_fields,
)
from predicast.matching.batches.leaf_columns import LeafColumn, Piece, find_leaves
from predicast.matching.batches.lists import Lists, PartsOnDemand, Store
from predicast.matching.batches.refusals import Refusals
from predicast.matching.batches.small_columns import small_columns
from predicast.matching.batches.table_plans import (
    TablePlan,
    table_plan,
    text_columns,
)
from predicast.matching.batches.typed_values import (
    Booleans,
    ClosedEnds,
    Decimals,
    Floats,
    Integers,
    Intervals,
    Mask,
    Rows,
    Strings,
    Timestamps,
    TypedValues,
)
from predicast.model import Interval
from predicast.model.elements import ELEMENT, MAX_ELEMENTS


def parts_of(
    table: pa.Table,
    attributes: Collection[str] | None,
    intervals: IntervalColumns | None,
    refusals: Refusals,
) -> dict[str, list[TypedValues]]:
    """The parts of the attributes, or of all; ``intervals`` says which columns hold ends."""
    if attributes is not None and not intervals:
        return _parts_alone(table, table_plan(table.schema, attributes), refusals)
    ends = _ends(table.schema, intervals or {})
    if attributes is None:
        attributes = {*find_leaves(table.schema), *ends}
    asked = {name: pair for name, pair in ends.items() if name in attributes}
    wanted = {*attributes, *(column for pair in asked.values() for column in pair)}
    leaves = find_leaves(table.schema, wanted)
    alone = {n: leaf for n, leaf in leaves.items() if n in attributes and n not in asked}
    plan = TablePlan(alone, text_columns(table.schema, alone))
    found = _parts_alone(table, plan, refusals)
    for name, pair in asked.items():
        ends_ = [_end(name, column, table, leaves) for column in pair]
        lows, highs = (_parts(table, end, refusals) for end in ends_[:2])
        opens = [_is_open(table, end) for end in ends_[2:]]
        found[name] = _interval_parts(name, lows, highs, opens, table.num_rows, refusals)
    return found


def _parts_alone(
    table: pa.Table, plan: TablePlan, refusals: Refusals
) -> dict[str, list[TypedValues]]:
    """The parts of columns that each hold an attribute."""
    small = small_columns(table, plan.texts)
    return {
        name: small[name] if name in small else _parts(table, leaf, refusals)
        for name, leaf in plan.leaves.items()
    }


def _parts(table: pa.Table, leaf: LeafColumn, refusals: Refusals) -> list[TypedValues]:
    """The values of one column, by representation."""
    kind = leaf.type
    if pa.types.is_null(kind):
        return []
    if is_text(kind) and not leaf.path:
        strings = _strings_in_place(table.column(leaf.column))
        if strings is not None:
            return strings
    if kind.id in INTEGERS and not leaf.path:
        whole = integers_in_place(table.column(leaf.column))
        if whole is not None:
            return [Integers(*whole)]
    pieces = list(leaf.pieces(table))
    if is_exact(kind):
        return _number_parts(pieces)
    for is_type, part, read in _READERS:
        if is_type(kind):
            return [part(*_gathered(leaf.name, pieces, read, refusals))]
    if is_text(kind):
        there = any(len(piece.array) for piece in pieces)
        return [_strings(leaf.name, pieces, refusals)] if there else []
    if is_list(kind):
        return [_lists(leaf.name, pieces, refusals)]
    error = UnsupportedColumnError(
        f"column {leaf.name!r} is of type {_shown(kind)}; events hold integers, floats, decimals, "
        f"strings, booleans, timestamps and lists of them: {_cast_hint(kind)}",
        column=leaf.name,
        type=str(kind),
    )
    # Of what Arrow has no type for it is not known where it is null.
    is_opaque = isinstance(kind, pa.OpaqueType)
    every = np.arange(table.num_rows) if is_opaque else _one([piece.rows() for piece in pieces])
    refusals.add(every, error)
    return []


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
    name: str, pieces: list[Piece], read: Callable[[pa.Array], Read], refusals: Refusals
) -> tuple[npt.NDArray[Any], Rows | None]:
    """The values of all pieces, and the rows where they stand."""
    gathered, kept = [], []
    for piece in pieces:
        values, wrong, why = read(piece.array)
        if wrong is not None and wrong.any():
            value = _raw(piece.array[int(wrong.argmax())])
            refusals.add(*_refused(name, piece.rows()[wrong], value, why))
            values, piece = values[~wrong], piece.only(~wrong)  # noqa: PLW2901
        gathered.append(values)
        kept.append(piece)
    return _frozen(_one(gathered)), _rows(kept)


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


def _refused(name: str, rows: Rows, value: Any, why: str) -> tuple[Rows, InvalidValueError]:
    """Rows, and what is wrong with the value in the first of them."""
    row = int(rows[0])
    shown = str(value) if len(str(value)) <= 60 else f"{str(value)[:57]}..."
    message = f"attribute {name!r}, row {row}: {shown} {why}"
    return rows, InvalidValueError(message, attribute=name, value=value, row=row)


def _number_parts(pieces: list[Piece]) -> list[TypedValues]:
    """Numbers that may be of any type, by the type that each of them is of."""
    read = [numbers(piece.array) for piece in pieces]
    rows = [piece.rows() for piece in pieces]
    gathered: list[tuple[type[TypedValues], list[Any], list[Any]]] = [
        (Integers, [each.integers for each in read], [each.is_integer for each in read]),
        (Floats, [each.floats for each in read], [each.is_float for each in read]),
        (Decimals, [each.decimals for each in read], [each.is_decimal for each in read]),
    ]
    every = all(piece.places is None for piece in pieces)
    parts: list[TypedValues] = []
    for part, values, masks in gathered:
        if any(map(len, values)):
            alone = every and all(mask.all() for mask in masks)
            where = None if alone else _one([r[m] for r, m in zip(rows, masks, strict=True)])
            parts.append(part(_frozen(_one(values)), where))
    return parts


def _strings_in_place(column: pa.ChunkedArray) -> list[TypedValues] | None:
    """Strings of a plain column where they lie; ``None`` if there is more to it than that.

    There may be dozens of such columns in each small batch: so no more of Arrow than its buffers.
    """
    words: list[Words] = []
    rows: list[Rows | None] = []
    start = 0
    for chunk in column.chunks:
        found = texts_in_place(chunk)
        if found is None:
            return None
        words.append(Words(found.first, found.raw))
        if not words[-1].is_ascii() and not are_unicode(chunk):
            return None
        rows.append(found.places if start == 0 or found.places is None else found.places + start)
        start += len(chunk)
    every = Words.joined(words)
    if not len(every):
        return []
    if all(each is None for each in rows):
        return [Strings(None, None, every)]
    lengths = offsets([len(chunk) for chunk in column.chunks])
    spans = zip(rows, lengths[:-1], lengths[1:], strict=True)
    return [Strings(None, _one([np.arange(a, b) if r is None else r for r, a, b in spans]), every)]


def _strings(name: str, pieces: list[Piece], refusals: Refusals) -> Strings:
    """Strings where they lie, numbered if they came so."""
    pieces = [_unicode(name, piece, refusals) for piece in pieces]
    if not pa.types.is_dictionary(pieces[0].array.type):
        found = Words.joined([Words(*text_bytes(piece.array)) for piece in pieces])
        return Strings(None, _rows(pieces), found)
    words, numbered = [], []
    for piece in pieces:
        codes, different = _occurring(*coded_text(piece.array))
        words.append(Words(*text_bytes(different)))
        numbered.append(codes.astype(np.int32, copy=False))
    starts = offsets([len(each) for each in words])[:-1].astype(np.int32)
    codes = _one([each + start for each, start in zip(numbered, starts, strict=True)])
    return Strings(codes, _rows(pieces), Words.joined(words))


def _unicode(name: str, piece: Piece, refusals: Refusals) -> Piece:
    """The piece without words that are not Unicode."""
    codes, words = None, piece.array
    if pa.types.is_dictionary(words.type):
        codes, words = coded_text(piece.array)
    found = Words(*text_bytes(words))
    wrong = [] if found.is_ascii() else wrong_texts(words)
    if not wrong:
        return piece
    codes = np.arange(len(words)) if codes is None else codes
    odd = np.isin(codes, wrong)
    if not odd.any():
        return piece
    shown = found.encoded()[int(codes[int(odd.argmax())])].decode(errors="replace")
    refusals.add(*_refused(name, piece.rows()[odd], shown, "is not Unicode (UTF-8)"))
    kept = piece.array.filter(pa.array(~odd))
    return piece.only(~odd)._replace(array=kept)


def _occurring(codes: npt.NDArray[Any], words: pa.Array) -> tuple[npt.NDArray[Any], pa.Array]:
    """The same strings without words that do not occur: slices keep their whole dictionaries."""
    used = np.zeros(len(words), bool)
    used[codes] = True
    if used.all():
        return codes, words
    return (np.cumsum(used, dtype=np.int32) - 1)[codes], words.filter(pa.array(used))


def _lists(name: str, pieces: list[Piece], refusals: Refusals) -> Lists:
    """Lists, whose elements are read when somebody looks at them."""
    from predicast.matching.batches.event_batch import EventBatch  # which is read from here

    pieces = [_of_bounded_length(name, piece, refusals) for piece in pieces]
    lengths = _one([numpy_of(pc.list_value_length(piece.array)) for piece in pieces])
    rows = _rows(pieces)
    flat = pa.chunked_array([pc.list_flatten(piece.array) for piece in pieces])
    table = pa.table({ELEMENT: flat})
    leaves = find_leaves(table.schema)

    def read(field: str) -> list[TypedValues]:
        inside = Refusals(raises=refusals.raises)
        try:
            parts = _parts(table, leaves[field], inside)
        except (ModelError, UnsupportedColumnError) as error:
            error.add_note(f"in the lists of {name!r}; rows are counted over all their elements")
            raise
        if inside.latest is not None:
            number = np.repeat(np.arange(len(lengths)), lengths)[inside.rows()]
            refusals.add(number if rows is None else rows[number], inside.latest)
        return parts

    store = Store(offsets(lengths), EventBatch(len(flat), PartsOnDemand(leaves, read)))
    return Lists(np.arange(len(lengths)), rows, store)


def _of_bounded_length(name: str, piece: Piece, refusals: Refusals) -> Piece:
    """The piece without lists that are too long."""
    lengths = numpy_of(pc.list_value_length(piece.array))
    wrong = lengths > MAX_ELEMENTS
    if not wrong.any():
        return piece
    longest = int(lengths[int(wrong.argmax())])
    rows = piece.rows()[wrong]
    error = ListTooLongError(
        f"attribute {name!r}, row {int(rows[0])}: a list of {longest} elements; "
        f"the limit is {MAX_ELEMENTS}",
        limit=MAX_ELEMENTS,
        actual=longest,
    )
    refusals.add(rows, error)
    return piece.only(~wrong)._replace(array=piece.array.filter(pa.array(~wrong)))


def _shown(kind: pa.DataType) -> str:
    if isinstance(kind, pa.OpaqueType):
        return f"{kind.type_name} ({kind.vendor_name})"
    return str(kind)


def _cast_hint(kind: pa.DataType) -> str:
    if pa.types.is_map(kind):
        return "make a column of each entry that matters"
    return "cast it or leave it out"


# Intervals, from the columns of their ends.


def _ends(schema: pa.Schema, intervals: IntervalColumns) -> Ends:
    structs = [given for given in intervals.values() if isinstance(given, str)]
    fields = {name for each in structs for name in (each, *interval_fields(each))}
    names: Collection[str] = find_leaves(schema, fields) if fields else ()
    return {name: ends_of(name, given, names) for name, given in intervals.items()}


def _is_open(table: pa.Table, leaf: LeafColumn) -> Mask:
    """Where an end is open; where nobody says so it is closed."""
    is_open = np.zeros(table.num_rows, bool)
    if pa.types.is_null(leaf.type):
        return is_open
    if not pa.types.is_boolean(leaf.type):
        raise UnsupportedColumnError(
            f"column {leaf.name!r} is of type {leaf.type}; whether an end is open is a boolean",
            column=leaf.name,
            type=str(leaf.type),
        )
    for piece in leaf.pieces(table):
        values, _, _ = booleans(piece.array)
        is_open[piece.rows()] = values
    return is_open


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
    name: str,
    lows: list[TypedValues],
    highs: list[TypedValues],
    opens: list[Mask],
    length: int,
    refusals: Refusals,
) -> list[TypedValues]:
    """Intervals; as arrays if all ends are closed and of one representation."""
    types = {type(part) for part in (*lows, *highs)}
    if not types:
        return []
    any_open = any(is_open.any() for is_open in opens)
    if any_open or len(types) > 1 or not types <= {Integers, Floats, Timestamps}:
        opens = opens or [np.zeros(length, bool)] * 2
        return [_boxed_intervals(name, lows, highs, opens, length, refusals)]
    dtype = (*lows, *highs)[0].values.dtype
    (lo, has_lo), (hi, has_hi) = (_spread(parts, length, dtype) for parts in (lows, highs))
    empty = has_lo & has_hi & (lo > hi)
    ends = ClosedEnds(types.pop().kind, lo, hi, has_lo, has_hi)
    for row in np.flatnonzero(empty).tolist():
        _interval(name, row, ends.value(lo[row]), ends.value(hi[row]), refusals)
    there = (has_lo | has_hi) & ~empty
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
    name: str,
    lows: list[TypedValues],
    highs: list[TypedValues],
    opens: list[Mask],
    length: int,
    refusals: Refusals,
) -> Intervals:
    lo, hi = (_boxed(parts, length) for parts in (lows, highs))
    there = [row for row in range(length) if lo[row] is not None or hi[row] is not None]
    # An end that is not there is neither open nor closed.
    is_open = [
        (lo[row] is not None and bool(opens[0][row]), hi[row] is not None and bool(opens[1][row]))
        for row in there
    ]
    made = [
        (row, _interval(name, row, lo[row], hi[row], refusals, *each))
        for row, each in zip(there, is_open, strict=True)
    ]
    kept = [(row, interval) for row, interval in made if interval is not None]
    boxed = np.empty(len(kept), object)
    boxed[:] = [interval for _, interval in kept]
    return Intervals(boxed, np.array([row for row, _ in kept], np.int64))


def _boxed(parts: list[TypedValues], length: int) -> list[Any]:
    values: list[Any] = [None] * length
    for part in parts:
        for position, row in enumerate(range(length) if part.rows is None else part.rows.tolist()):
            values[row] = part.value(position)
    return values


def _interval(
    name: str,
    row: int,
    lo: Any,
    hi: Any,
    refusals: Refusals,
    lo_open: bool = False,
    hi_open: bool = False,
) -> Interval | None:
    try:
        return Interval(lo, hi, lo_open=lo_open, hi_open=hi_open)
    except ModelError as error:
        message = f"attribute {name!r}, row {row}: {error.message}"
        refused = InvalidIntervalError(message, attribute=name, row=row)
        refusals.add(np.array([row]), refused)
        return None
