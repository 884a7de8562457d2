"""Subscriptions as an Arrow table, one row per constraint: the form for bulk loading.

===================  =========  ==================================================================
column               type       meaning
===================  =========  ==================================================================
``id``               string     the subscription
``clause``           integer    the clause within it; rows with the same number belong together
``attribute``        string     null, with a null operator, for a clause without constraints
``operator``         string     as in the JSON form: ``=``, ``<``, ``in``, ``prefix``, ``exists``, …
``int_value``        integer    the operand: one of these columns is set, the others
``float_value``      float      are null, and so are all for ``exists`` and ``absent``
``string_value``     string
``bool_value``       boolean
``timestamp_value``  timestamp  may be left out
===================  =========  ==================================================================

For ``any`` and ``all``, ``string_value`` holds the constraints that they join as the JSON form
writes them: ``[{"operator": "prefix", "value": "a"}, …]``; for ``has`` and ``not has`` the
subscription that elements are to match: ``{"any": [{"all": [...]}]}``. The rest of a clause, if it
has one, is a row with the word ``rest`` for its operator, without an attribute, and its JSON form
in ``string_value``.

Rows of one clause with the operator ``in`` (or ``not in``) on one attribute are the members of
one set. For between, write two rows, ``>=`` and ``<=``.

The table is read by columns. Rows are brought together by subscription and clause (they mostly
are already), the slots of a subscription's rows, side by side, are its outline, and the
operands of all subscriptions of one outline are picked out of the columns of values::

    rows     s1: x < 3 | s1: y = 4 | s2: x < 5 | s2: y = 9 | s3: z > 1
    slots       0          1          0          1          2
    outlines  s1, s2: (0, 1), columns [3, 5] and [4, 9]        s3: (2), column [1]

No Python object is made per row or per subscription, except for sets and for the odd ones, which
``arrow_rows`` reads: those with a pattern, a bare clause, a constraint said twice or a set whose
members are apart. Time is linear in the rows, with a sort where a subscription's rows are
scattered.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from predicast.arrow import TableLike, as_table
from predicast.errors import ColumnClashError, UnknownColumnError, suggest
from predicast.language.arrow_columns import (
    TYPES,
    WIDTH,
    WORDS,
    ColumnRows,
)
from predicast.language.arrow_order import Arrangement, arranged
from predicast.language.arrow_rows import VALUES, read_rows
from predicast.language.arrow_sets import gather_sets
from predicast.model.operand_columns import OperandColumns, grouped, narrowed
from predicast.model.outline import OperandType, Outline, Slot, outline_of

SCHEMA: Final = pa.schema(
    [
        ("id", pa.string()),
        ("clause", pa.int64()),
        ("attribute", pa.string()),
        ("operator", pa.string()),
        ("int_value", pa.int64()),
        ("float_value", pa.float64()),
        ("string_value", pa.string()),
        ("bool_value", pa.bool_()),
        ("timestamp_value", pa.timestamp("us", "UTC")),
    ]
)
_REQUIRED: Final = ("id", "clause", "attribute", "operator", *VALUES[:4])
_FEW_SLOTS: Final = 1 << 16  # codes for which a table of all of them is cheap


class SubscriptionGroups(NamedTuple):
    """Subscriptions with their ids; a group's subscriptions are those at its positions."""

    ids: pa.StringArray  # all different, in order of appearance
    groups: list[tuple[np.ndarray, OperandColumns]]


def operands_from_arrow(given: TableLike) -> SubscriptionGroups:
    """The subscriptions of a table, by outline."""
    table = as_table(given)
    for column in _REQUIRED:
        if column not in table.column_names:
            close = suggest(column, table.column_names)
            hint = f"; is it {close!r}?" if close else ""
            raise UnknownColumnError(
                f"the table lacks the column {column!r}{hint}", column=column, suggestion=close
            )
    wanted = [*_REQUIRED, *(c for c in VALUES[4:] if c in table.column_names)]
    for column in wanted:
        if table.column_names.count(column) > 1:
            raise ColumnClashError(f"two columns are named {column!r}", column=column)
    table = table.select(wanted)
    rows = ColumnRows.read(table)
    if not rows.length:
        return SubscriptionGroups(pa.array([], pa.string()), [])
    return _by_outline(rows)


def _by_outline(rows: ColumnRows) -> SubscriptionGroups:
    arrangement = arranged(rows)
    odd = np.zeros(len(arrangement.ids), bool)
    odd[arrangement.subscription[rows.odd()]] = True
    arrangement = gather_sets(rows, arrangement, odd)
    slots = _Slots(rows)
    marked = slots.codes if arrangement.order is None else slots.codes[arrangement.order]
    # Two outlines may have the same slots and differ in where clauses begin.
    marked = marked * 2 + arrangement.opens
    groups = []
    for count in np.unique(arrangement.counts[~odd]).tolist():
        members = np.flatnonzero((arrangement.counts == count) & ~odd)
        starts = arrangement.starts[members]
        if len(members) * count == len(marked):
            table = marked.reshape(-1, count)  # all of them: no need to copy
        else:
            table = marked[starts[:, None] + np.arange(count)]
        for equal in _equal_rows(table, 2 * len(slots.slots)):
            outline = slots.outline(table[equal[0]])
            operands = _operands(outline, rows, arrangement, starts[equal])
            positions = members[equal]
            repeated = _repeated(operands)
            if repeated.any():
                odd[positions[repeated]] = True
                positions, operands = positions[~repeated], operands.take(~repeated)
            if len(operands):
                groups.append((positions, operands))
    return SubscriptionGroups(arrangement.ids, groups + _read_odd(rows, arrangement, odd))


class _Slots:
    """The slots of a table: those that occur, and a code for each row."""

    def __init__(self, rows: ColumnRows) -> None:
        per_name = (len(WORDS) + 1) * WIDTH
        few = len(rows.names) * per_name < np.iinfo(np.int32).max
        packed = rows.attributes * (np.int32(per_name) if few else np.int64(per_name))
        packed += rows.operators * np.int16(WIDTH) + rows.types
        packed[rows.bare] = 0  # never looked at, as bare rows are odd
        occurring, codes = _dense(packed)
        # With room for the mark of a row that opens a clause.
        self.codes = codes.astype(np.min_scalar_type(2 * len(occurring) + 1))
        self.slots = [_slot(rows.names, each) for each in occurring.tolist()]

    def outline(self, marked: np.ndarray) -> Outline:
        """The outline of a subscription whose rows have these codes."""
        clauses: list[list[Slot]] = []
        for code in marked.tolist():
            if code % 2:
                clauses.append([])
            clauses[-1].append(self.slots[code // 2])
        return outline_of(tuple(map(tuple, clauses)), ())


def _dense(packed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers, and the position of each number among them."""
    size = int(packed.max()) + 1
    if (
        size > 2 * len(packed) + _FEW_SLOTS
    ):  # a table of a great many names: sorting takes less room
        return np.unique(packed, return_inverse=True)
    present = np.zeros(size, bool)
    present[packed] = True
    occurring = np.flatnonzero(present)
    position = np.zeros(size, np.int32)
    position[occurring] = np.arange(len(occurring))
    return occurring, position[packed]


def _slot(names: list[str], packed: int) -> Slot:
    rest, type_code = divmod(packed, WIDTH)
    attribute, operator = divmod(rest, len(WORDS) + 1)
    type_ = TYPES[type_code]
    name = names[attribute] if names else ""  # there are bare rows only
    return Slot(name, WORDS[operator], () if type_ is None else (type_,))


def _equal_rows(table: np.ndarray, codes: int) -> list[np.ndarray]:
    """The rows of a table of codes that are equal to each other, set by set."""
    if np.all(table == table[0]):
        return [np.arange(len(table))]
    packed, bound = table[:, 0].astype(np.int64), codes
    for column in table.T[1:]:
        if bound >= 2**62 // codes:
            distinct, packed = np.unique(packed, return_inverse=True)
            bound = len(distinct)
        packed = packed * codes + column
        bound *= codes
    order = np.argsort(packed, kind="stable")
    ends = np.flatnonzero(np.diff(packed[order])) + 1
    return np.split(order, ends)


def _operands(
    outline: Outline, rows: ColumnRows, arrangement: Arrangement, starts: np.ndarray
) -> OperandColumns:
    """Subscriptions of one outline, given where the rows of each start."""
    columns = []
    slots = [slot for clause in outline.clauses for slot in clause]
    for place, slot in enumerate(slots):
        for type_ in slot.operands:
            column = rows.values(TYPES.index(type_))[arrangement.rows(starts + place)]
            columns.append(narrowed(column) if type_ is OperandType.INTEGER else column)
    return OperandColumns(outline, columns, len(starts))


def _repeated(operands: OperandColumns) -> np.ndarray:
    """The subscriptions that say something twice in one clause."""
    repeated = np.zeros(len(operands), bool)
    column = 0
    for clause in operands.outline.clauses:
        seen: dict[Slot, list[Any]] = {}
        for slot in clause:
            earlier = seen.setdefault(slot, [])
            if not slot.operands:
                repeated |= bool(earlier)
                earlier.append(None)
                continue
            for other in earlier:
                repeated |= operands.columns[column] == other
            earlier.append(operands.columns[column])
            column += 1
    return repeated


def _read_odd(
    rows: ColumnRows, arrangement: Arrangement, odd: np.ndarray
) -> list[tuple[np.ndarray, OperandColumns]]:
    """The subscriptions that have to be read row by row."""
    numbers = np.flatnonzero(odd[arrangement.subscription])
    if not len(numbers):
        return []
    found = read_rows(rows.table.take(pa.array(numbers)), numbers.tolist())
    positions = np.flatnonzero(odd).tolist()
    return grouped(zip(positions, found.values(), strict=True))
