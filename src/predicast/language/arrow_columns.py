"""The columns of the Arrow form as NumPy arrays: a slot and a value per row, all checked.

::

    attribute  operator  int_value  float_value        attribute  operator  type      integers
    'price'    '<'       10         null          →    0          2         INTEGER   10
    'price'    '<'       null       11.0               0          2         INTEGER   11
    'hot'      '='       null       2.5                1          0         FLOAT     (floats) 2.5

A column of values is taken for what its Arrow type says, whatever its name and layout; a type that
no constraint takes is refused.

Every check of a single row is a look into a table of what each operator takes. The rows that fail
it, and those with a pattern, are *suspects*: they are read by ``arrow_rows``, in order, which
raises for the first that is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predicast.arrow import (
    Numbers,
    Read,
    booleans,
    coded_text,
    floats,
    instants,
    integers,
    is_exact,
    is_text,
    numbers,
    numpy_of,
    plain,
    plain_type,
    texts,
)
from predicast.errors import (
    InvalidConstraintError,
    LimitError,
    ParseError,
    UnsupportedColumnError,
)
from predicast.language.arrow_rows import OPERATORS, REST, VALUES, read_row
from predicast.language.derived_names import canonical_attribute, is_derived
from predicast.model.operators import ELEMENTS, JOINED, LIKE, PRESENCE, REGEX, SET, Operator
from predicast.model.outline import KINDS, OperandType

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
    OperandType.DECIMAL,
)
INTEGER, FLOAT, STRING, BOOLEAN, TIMESTAMP = range(1, 6)
OBJECT: Final = 7  # the code of a whole set, in the first row of its members
DECIMAL: Final = 8
_WRONG: Final = 6  # the code of several values, and of a value that no constraint takes
WIDTH: Final = 9  # codes of types, and room for them in a packed number
WORDS: Final = tuple(OPERATORS.values())  # an operator's code is its position
_NO_OPERATOR: Final = len(WORDS)

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
_PATTERNS: Final = _of(LIKE | REGEX | JOINED | ELEMENTS)  # and what is written as JSON
_SETS: Final = _of(SET)


class ColumnRows:
    """A table's rows as arrays: what each row's constraint is made of."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.length = table.num_rows
        self.types = np.zeros(self.length, np.int8)
        self.integers = np.zeros(0, np.int64)
        self.floats = np.zeros(0, np.float64)
        self.decimals = np.zeros(0, object)
        self.strings = np.zeros(0, object)
        self.booleans = np.zeros(0, bool)
        self.timestamps = np.zeros(0, np.int64)
        self.objects = np.zeros(0, object)

    @classmethod
    def read(cls, table: pa.Table) -> ColumnRows:
        """The rows of a table, checked."""
        columns = {name: _one_array(name, table.column(name)) for name in table.column_names}
        for name in ("id", "attribute", "operator"):
            _require(name, columns[name], is_text(columns[name].type), "strings")
        _require(
            "clause", columns["clause"], pa.types.is_integer(columns["clause"].type), "integers"
        )
        rows = cls(pa.table(columns))
        for name in VALUES:
            if name in columns:
                rows._add_values(name, columns[name])
        rows.ids = columns["id"]
        try:
            rows.ids.validate(full=True)
        except pa.ArrowInvalid:
            rows._texts(rows.ids)  # which finds the row
        rows.clauses = columns["clause"]
        rows.attributes, rows.names = rows._texts(columns["attribute"])
        codes, words = rows._texts(columns["operator"])
        known = {word: code for code, word in enumerate(OPERATORS)}
        by_code = [known.get(word, _NO_OPERATOR) for word in words]
        rows.operators = np.array([*by_code, _NO_OPERATOR], np.int8)[codes]  # -1 is null
        is_rest = np.array([*(word == REST for word in words), False])[codes]
        rows.bare = (rows.attributes == -1) & ((codes == -1) | is_rest)
        rows._check()
        rows._name_derived()
        return rows

    def _name_derived(self) -> None:
        """Give derived attributes their one name, whatever way it is written in the table."""
        if not any(map(is_derived, self.names)):
            return
        places: dict[str, int] = {}
        codes = []
        for code, name in enumerate(self.names):
            try:
                codes.append(places.setdefault(canonical_attribute(name), len(places)))
            except (LimitError, ParseError) as error:
                raise InvalidConstraintError(
                    f"attribute {name!r}: {error.message}",
                    attribute=name,
                    row=int((self.attributes == code).argmax()),
                ) from error
        self.names = list(places)
        self.attributes = np.array([*codes, -1], self.attributes.dtype)[self.attributes]

    ids: pa.Array
    clauses: pa.Array
    attributes: np.ndarray  # positions in names; -1 is null
    names: list[str]
    operators: np.ndarray  # positions in WORDS
    bare: Mask  # rows of clauses without constraints, and of rests

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
            DECIMAL: self.decimals,
        }
        return by_code[type_code]

    # Values.

    def _add_values(self, name: str, array: pa.Array) -> None:
        """Take in one column of values."""
        kind = array.type
        if array.null_count == len(array):
            return
        valid = None if array.null_count == 0 else numpy_of(array.is_valid())
        if is_exact(kind):
            self._add_numbers(numbers(array))
        elif pa.types.is_integer(kind):
            self._add_integers(integers(array), valid)
        elif pa.types.is_floating(kind):
            self._add_floats(floats(array), valid)
        elif pa.types.is_boolean(kind):
            self.booleans = _merged(self.booleans, booleans(array).values, valid)
            self._mark(BOOLEAN, valid)
        elif pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            read = instants(array)
            self._mark(TIMESTAMP, valid, read.wrong)
            self.timestamps = _merged(self.timestamps, read.values, valid)
        else:
            _require(name, array, is_text(kind), "integers, floats, strings, booleans, timestamps")
            codes, words = self._texts(array)
            strings = np.array([*words, None], object)[codes]
            self.strings = _merged(self.strings, strings, valid)
            self._mark(STRING, valid)

    def _texts(self, array: pa.Array) -> tuple[np.ndarray, list[str]]:
        """Texts as positions in a list of different ones; -1 is null."""
        if pa.types.is_null(array.type):
            return np.full(len(array), -1, np.int32), []
        codes, words = coded_text(array)
        found, wrong = texts(words)
        if wrong:
            rows = np.flatnonzero(np.isin(codes, wrong))
            if len(rows):
                self._dictionary(int(rows[0]))  # which finds the words for it
        return codes, found

    def _mark(self, code: int, rows: Mask | None, wrong: Mask | None = None) -> None:
        """Note the type of some rows, or of all; a row that has one already has one too many."""
        if rows is None:
            several = self.types != NOTHING
            self.types = np.full(self.length, code, np.int8)
        else:
            several = rows & (self.types != NOTHING)
            self.types[rows] = code
        if several.any():
            self.types[several] = _WRONG
        if wrong is not None:
            self.types[wrong] = _WRONG

    def _add_integers(self, read: Read, valid: Mask | None) -> None:
        self._mark(INTEGER, valid, read.wrong)
        self.integers = _merged(self.integers, read.values, valid)

    def _add_floats(self, read: Read, valid: Mask | None) -> None:
        """Floats that are integers become integers, as they do in every constraint."""
        values = read.values
        whole = (values == np.floor(values)) & (values >= -(2.0**63)) & (values < 2.0**63)
        if valid is not None:
            whole &= valid
        self._mark(FLOAT, valid, read.wrong)
        self.floats = _merged(self.floats, values, valid)
        self.types[(self.types == FLOAT) & whole] = INTEGER
        if whole.any():
            integers_ = np.where(whole, values, 0).astype(np.int64)
            self.integers = _merged(self.integers, integers_, whole)

    def _add_numbers(self, read: Numbers) -> None:
        """Numbers that may be of any type become the integer or the float that they equal."""
        if read.is_integer.any():
            self._add_integers(Read(_spread(read.integers, read.is_integer)), read.is_integer)
        if read.is_float.any():
            self._add_floats(Read(_spread(read.floats, read.is_float)), read.is_float)
        if read.is_decimal.any():
            self._mark(DECIMAL, read.is_decimal)
            values = _spread(read.decimals, read.is_decimal)
            self.decimals = _merged(self.decimals, values, read.is_decimal)

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
                suspect |= numpy_of(array.is_null())
        rows = np.flatnonzero(suspect)
        for start in range(0, len(rows), _SUSPECTS):
            some = rows[start : start + _SUSPECTS]
            for number, row in zip(some.tolist(), self._dictionaries(some), strict=True):
                read_row(row, number)

    def _dictionaries(self, rows: np.ndarray) -> Sequence[dict[str, Any]]:
        taken = self.table.take(pa.array(rows))
        try:
            return taken.to_pylist()  # type: ignore[no-any-return]
        except (ValueError, OverflowError):  # Python cannot hold one of them
            return [self._dictionary(row) for row in rows.tolist()]

    def _dictionary(self, row: int) -> dict[str, Any]:
        found = {}
        for name in self.table.column_names:
            try:
                found[name] = self.table.column(name)[row].as_py()
            except (ValueError, OverflowError) as error:
                raise InvalidConstraintError(
                    f"row {row}: {name} cannot be read; strings are UTF-8, timestamps lie in the "
                    f"years 1 to 9999 and count microseconds: {error}",
                    row=row,
                ) from error
        return found


def _one_array(name: str, column: pa.ChunkedArray) -> pa.Array:
    """The column in one piece, plain, with offsets that can count its bytes."""
    kind = plain_type(column.type)
    try:
        chunks = [plain(chunk) for chunk in column.chunks] or [pa.nulls(0, kind)]
        if pa.types.is_string(kind) and column.nbytes > np.iinfo(np.int32).max:
            chunks = [chunk.cast(pa.large_string()) for chunk in chunks]
        if pa.types.is_dictionary(chunks[0].type):
            chunks = pa.chunked_array(chunks).unify_dictionaries().chunks
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    except pa.ArrowException as error:
        raise UnsupportedColumnError(
            f"the column {name!r} cannot be read: {error}", column=name, type=str(column.type)
        ) from error


def _require(name: str, array: pa.Array, is_right: bool, held: str) -> None:
    """Refuse a column of a type that it cannot have; nulls may be of any."""
    if not is_right and not pa.types.is_null(array.type):
        raise UnsupportedColumnError(
            f"the column {name!r} is of type {array.type}; it holds {held}",
            column=name,
            type=str(array.type),
        )


def _merged(before: np.ndarray, values: np.ndarray, rows: Mask | None) -> np.ndarray:
    """The values of some rows, or of all, over those of columns before."""
    if rows is None or not len(before):
        return values
    return np.where(rows, values, before)


def _spread(values: np.ndarray, rows: Mask) -> np.ndarray:
    """The values where they belong, with anything elsewhere."""
    every = np.zeros(len(rows), values.dtype)
    every[rows] = values
    return every


def differs_from_previous(array: pa.Array) -> Mask:
    """For each row: whether its text is another than that of the row before; the first is."""
    if pa.types.is_dictionary(array.type):
        codes, _ = coded_text(array)
        changed = codes[1:] != codes[:-1]
    else:
        changed = numpy_of(pc.not_equal(array.slice(1), array.slice(0, len(array) - 1)))
    return np.concatenate(([True], changed))
