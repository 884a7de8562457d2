"""The columns of the Arrow form as NumPy arrays: a slot and a value per row, all checked.

::

    attribute  operator  int_value  float_value        attribute  operator  type      integers
    'price'    '<'       10         null          →    0          2         INTEGER   10
    'price'    '<'       null       11.0               0          2         INTEGER   11
    'hot'      '='       null       2.5                1          0         FLOAT     (floats) 2.5

A column of values is taken for what its Arrow type says, whatever its name. A type that has no
counterpart here makes ``ColumnRows.read`` give up, and the table is read row by row.

Every check of a single row is a look into a table of what each operator takes. The rows that fail
it, and those with a pattern, are *suspects*: they are read by ``arrow_rows``, in order, which
raises for the first that is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predicast.errors import InvalidConstraintError
from predicast.language.arrow_rows import OPERATORS, VALUES, read_row
from predicast.model.operators import LIKE, PRESENCE, REGEX, SET, Operator
from predicast.model.outline import KINDS, OperandType
from predicast.model.values import microseconds

NOTHING: Final = 0  # the code of the type of a row without a value
TYPES: Final = (
    None,
    OperandType.INTEGER,
    OperandType.FLOAT,
    OperandType.STRING,
    OperandType.BOOLEAN,
    OperandType.TIMESTAMP,
    None,  # wrong
    OperandType.OBJECT,
)
INTEGER, FLOAT, STRING, BOOLEAN, TIMESTAMP = range(1, 6)
OBJECT: Final = 7  # the code of a whole set, in the first row of its members
_WRONG: Final = 6  # the code of several values, and of a value that no constraint takes
WIDTH: Final = 8  # codes of types, and room for them in a packed number
WORDS: Final = tuple(OPERATORS.values())  # an operator's code is its position
_NO_OPERATOR: Final = len(WORDS)

_FIRST: Final = microseconds(datetime.min.replace(tzinfo=UTC))
_LAST: Final = microseconds(datetime.max.replace(tzinfo=UTC))
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_SUSPECTS: Final = 4_096  # suspects looked at in one go

Mask = np.ndarray


def _taken() -> np.ndarray:
    """For each operator and type: whether they go together."""
    taken = np.zeros((_NO_OPERATOR + 1, WIDTH), bool)
    for code, operator in enumerate(WORDS):
        taken[code, NOTHING] = operator in PRESENCE
        for type_code, type_ in enumerate(TYPES):
            if type_ in KINDS:
                taken[code, type_code] = KINDS[type_] in operator.kinds
    return taken


def _of(operators: frozenset[Operator]) -> np.ndarray:
    """For each operator: whether it is one of these."""
    return np.array([operator in operators for operator in WORDS] + [False])


_TAKEN: Final = _taken()
_PATTERNS: Final = _of(LIKE | REGEX)
_SETS: Final = _of(SET)


class ColumnRows:
    """A table's rows as arrays: what each row's constraint is made of."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.length = table.num_rows
        self.types = np.zeros(self.length, np.int8)
        self.integers = np.zeros(0, np.int64)
        self.floats = np.zeros(0, np.float64)
        self.strings = np.zeros(0, object)
        self.booleans = np.zeros(0, bool)
        self.timestamps = np.zeros(0, np.int64)
        self.objects = np.zeros(0, object)

    @classmethod
    def read(cls, table: pa.Table) -> ColumnRows | None:
        """The rows of a table, checked; ``None`` if it has columns of unusual types."""
        columns = {name: one_array(table.column(name)) for name in table.column_names}
        text = (columns[name] for name in ("id", "attribute", "operator"))
        if not all(_is_text(each.type) for each in text):
            return None
        if not pa.types.is_integer(columns["clause"].type):
            return None
        rows = cls(pa.table(columns))
        for name in VALUES:
            if name in columns and not rows._add_values(columns[name]):
                return None
        rows.ids = columns["id"]
        rows.clauses = columns["clause"]
        rows.attributes, rows.names = codes_of(columns["attribute"])
        codes, words = codes_of(columns["operator"])
        known = {word: code for code, word in enumerate(OPERATORS)}
        by_code = [known.get(word, _NO_OPERATOR) for word in words]
        rows.operators = np.array([*by_code, _NO_OPERATOR], np.int8)[codes]  # -1 is null
        rows.bare = (rows.attributes == -1) & (codes == -1)
        rows._check()
        return rows

    ids: pa.Array
    clauses: pa.Array
    attributes: np.ndarray  # positions in names; -1 is null
    names: list[str]
    operators: np.ndarray  # positions in WORDS
    bare: Mask  # rows of clauses without constraints

    def odd(self) -> Mask:
        """The rows that have to be read one by one: patterns and bare rows."""
        odd: Mask = _PATTERNS[self.operators] | self.bare
        return odd

    def sets(self) -> np.ndarray:
        """The rows that are members of sets."""
        return np.flatnonzero(_SETS[self.operators])

    def values(self, type_code: int) -> np.ndarray:
        """The values of one type; those of other rows are meaningless."""
        by_code = {
            INTEGER: self.integers,
            FLOAT: self.floats,
            STRING: self.strings,
            BOOLEAN: self.booleans,
            TIMESTAMP: self.timestamps,
            OBJECT: self.objects,
        }
        return by_code[type_code]

    # Values.

    def _add_values(self, array: pa.Array) -> bool:
        """Take in one column of values; whether its type is a usual one."""
        kind = array.type
        if array.null_count == len(array):
            return True
        valid = None if array.null_count == 0 else _to_numpy(array.is_valid())
        if pa.types.is_integer(kind):
            self._add_integers(array, valid)
        elif pa.types.is_floating(kind):
            self._add_floats(array, valid)
        elif pa.types.is_boolean(kind):
            self.booleans = _merged(self.booleans, _filled(array, False), valid)
            self._mark(BOOLEAN, valid)
        elif pa.types.is_timestamp(kind):
            self._add_timestamps(array, valid)
        elif _is_text(kind):
            codes, words = codes_of(array)
            strings = np.array([*words, None], object)[codes]
            self.strings = _merged(self.strings, strings, valid)
            self._mark(STRING, valid)
        else:
            return False
        return True

    def _mark(self, code: int, rows: Mask | None) -> None:
        """Note the type of some rows, or of all; a row that has one already has one too many."""
        if rows is None:
            several = self.types != NOTHING
            self.types = np.full(self.length, code, np.int8)
        else:
            several = rows & (self.types != NOTHING)
            self.types[rows] = code
        if several.any():
            self.types[several] = _WRONG

    def _add_integers(self, array: pa.Array, valid: Mask | None) -> None:
        integers = _filled(array, 0)
        self._mark(INTEGER, valid)
        if integers.dtype == np.uint64:
            self.types[integers > np.uint64(np.iinfo(np.int64).max)] = _WRONG
        self.integers = _merged(self.integers, integers.astype(np.int64, copy=False), valid)

    def _add_floats(self, array: pa.Array, valid: Mask | None) -> None:
        """Floats that are integers become integers, as they do in every constraint."""
        floats = _filled(array.cast(pa.float64()), 0.5)
        whole = (floats == np.floor(floats)) & (floats >= -(2.0**63)) & (floats < 2.0**63)
        infinite = ~np.isfinite(floats)
        self._mark(FLOAT, valid)
        self.floats = _merged(self.floats, floats, valid)
        single = self.types == FLOAT
        self.types[single & whole] = INTEGER
        self.types[single & infinite] = _WRONG
        if whole.any():
            integers = np.where(whole, floats, 0).astype(np.int64)
            self.integers = _merged(self.integers, integers, whole)

    def _add_timestamps(self, array: pa.Array, valid: Mask | None) -> None:
        counts = _filled(array.view(pa.timestamp(array.type.unit)).cast(pa.int64()), 0)
        per_second = _PER_SECOND[array.type.unit]
        if per_second > 1_000_000:
            instants = counts // 1_000
            wrong = instants * 1_000 != counts
        else:
            scale = 1_000_000 // per_second
            wrong = (counts < _FIRST // scale) | (counts > _LAST // scale)
            instants = np.where(wrong, 0, counts) * scale
        self._mark(TIMESTAMP, valid)
        self.types[wrong] = _WRONG
        self.timestamps = _merged(self.timestamps, instants, valid)

    # Checks.

    def _check(self) -> None:
        """Raise the error of the first row that has one."""
        suspect = ~_TAKEN.ravel()[self.operators * np.int16(WIDTH) + self.types]
        suspect |= _PATTERNS[self.operators]
        unnamed = [-1, *(code for code, name in enumerate(self.names) if not name)]
        suspect |= np.isin(self.attributes, unnamed)
        suspect &= ~self.bare
        for array in (self.ids, self.clauses):
            if array.null_count:
                suspect |= _to_numpy(array.is_null())
        rows = np.flatnonzero(suspect)
        for start in range(0, len(rows), _SUSPECTS):
            some = rows[start : start + _SUSPECTS]
            for number, row in zip(some.tolist(), self._dictionaries(some), strict=True):
                read_row(row, number)

    def _dictionaries(self, rows: np.ndarray) -> Sequence[dict[str, Any]]:
        taken = self.table.take(pa.array(rows))
        try:
            return taken.to_pylist()  # type: ignore[no-any-return]
        except (ValueError, OverflowError):  # a timestamp that Python cannot hold is among them
            return [self._dictionary(row) for row in rows.tolist()]

    def _dictionary(self, row: int) -> dict[str, Any]:
        try:
            return self.table.slice(row, 1).to_pylist()[0]  # type: ignore[no-any-return]
        except (ValueError, OverflowError) as error:
            raise InvalidConstraintError(
                f"row {row}: a timestamp lies in the years 1 to 9999 and counts microseconds: "
                f"{error}"
            ) from error


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """The column in one piece, with offsets that can count its bytes."""
    kind = column.type
    too_large = pa.types.is_string(kind) and column.nbytes > np.iinfo(np.int32).max
    if too_large or kind == pa.string_view():
        column = column.cast(pa.large_string())
    if pa.types.is_dictionary(kind):
        column = column.unify_dictionaries()
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def codes_of(array: pa.Array) -> tuple[np.ndarray, list[str]]:
    """Texts as positions in a list of distinct ones; -1 is null."""
    if pa.types.is_null(array.type):
        return np.full(len(array), -1, np.int32), []
    if pa.types.is_dictionary(array.type):
        words = array.dictionary
        if words.null_count or len(words.unique()) < len(words):
            array = array.cast(words.type)
    encoded = array.dictionary_encode()
    indices = encoded.indices
    if indices.null_count:
        indices = indices.cast(pa.int32()).fill_null(-1)
    return _to_numpy(indices), encoded.dictionary.to_pylist()


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_null)
    return any(test(kind) for test in tests)


def _merged(before: np.ndarray, values: np.ndarray, rows: Mask | None) -> np.ndarray:
    """The values of some rows, or of all, over those of columns before."""
    if rows is None or not len(before):
        return values
    return np.where(rows, values, before)


def _filled(array: pa.Array, value: Any) -> np.ndarray:
    return _to_numpy(array.fill_null(value) if array.null_count else array)


def _to_numpy(array: pa.Array) -> np.ndarray:
    found: np.ndarray = array.to_numpy(zero_copy_only=False)
    return found


def differs_from_previous(array: pa.Array) -> Mask:
    """For each row: whether its text is another than that of the row before; the first is."""
    if pa.types.is_dictionary(array.type):
        codes, _ = codes_of(array)
        changed = codes[1:] != codes[:-1]
    else:
        changed = _to_numpy(pc.not_equal(array.slice(1), array.slice(0, len(array) - 1)))
    return np.concatenate(([True], changed))
