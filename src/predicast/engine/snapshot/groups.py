"""Groups in a file: many subscriptions of one outline, their operands in columns.

Numbers are used where they lie. Strings and objects are codes into the distinct ones, and become
Python objects when somebody looks at the group's columns: matching alone does not.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from predicast.arrays import Array
from predicast.engine.snapshot.layout import (
    INTEGERS,
    UNSIGNED,
    ArraysIn,
    ArraysOut,
    ascends,
    damaged,
)
from predicast.engine.snapshot.operands import (
    SlotEntry,
    check_object,
    check_values,
    read_decimals,
    read_objects,
    read_outline,
    read_slot,
    write_looks,
    write_objects,
    write_slot,
)
from predicast.engine.snapshot.texts import (
    TextsEntry,
    check_codes,
    distinct,
    read_texts,
    strings_of,
    write_texts,
)
from predicast.model.expression import leaves_of
from predicast.model.operand_columns import OperandColumns
from predicast.model.operators import Operator
from predicast.model.outline import OperandType, Outline, Slot

_TYPES = {
    OperandType.INTEGER: INTEGERS,
    OperandType.FLOAT: ("f8",),
    OperandType.BOOLEAN: ("bool",),
    OperandType.TIMESTAMP: ("i8",),
}


class Column(msgspec.Struct, array_like=True, forbid_unknown_fields=True, frozen=True):
    """The number of the array of values; or of codes, and what they stand for."""

    values: int
    texts: TextsEntry | None = None


class Group(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Clauses of slots, the array of keys, and a column per place."""

    outline: list[list[SlotEntry]]
    keys: int
    columns: list[Column]
    looks: list[Any] = []  # of the rests, and the slots in them
    rests: list[SlotEntry] = []


def write_group(keys: Array, operands: OperandColumns, out: ArraysOut) -> Group:
    """Put a group into a file."""
    outline = operands.outline
    columns = [
        _write_column(type_, slot.operator, column, out)
        for type_, slot, column in zip(
            outline.places, _slots(outline), operands.columns, strict=True
        )
    ]
    slots = [[write_slot(slot) for slot in clause] for clause in outline.clauses]
    rests = [
        write_slot(slot) for rest in outline.rests if rest is not None for slot in leaves_of(rest)
    ]
    held = out.add(keys.astype(np.int32, copy=False))
    return Group(slots, held, columns, write_looks(outline), rests)


def _write_column(type_: OperandType, operator: Operator, column: Array, out: ArraysOut) -> Column:
    if type_ is OperandType.STRING:
        texts, codes = distinct(column.tolist())
    elif type_ is OperandType.DECIMAL:
        texts, codes = distinct([*map(str, column)])
    elif type_ is OperandType.OBJECT:
        texts, codes = write_objects([operator] * len(column), column.tolist())
    else:
        return Column(out.add(column))
    return Column(out.add(codes), write_texts(texts, out))


def _slots(outline: Outline) -> list[Slot]:
    """The slot of each place."""
    return [slot for slot in outline.slots() for _ in slot.operands]


def read_group(group: Group, arrays: ArraysIn) -> tuple[Array, OperandColumns]:
    """The keys of a group, and what its subscriptions state."""
    clauses = tuple(tuple(read_slot(slot) for slot in clause) for clause in group.outline)
    outline = read_outline(clauses, group.looks, map(read_slot, group.rests))
    keys = arrays.get(group.keys, "i4")
    if not ascends(keys, strictly=True):
        raise damaged(f"has keys that do not ascend in array {group.keys}")
    if len(group.columns) != len(outline.places):
        raise damaged(f"has {len(group.columns)} columns for {len(outline.places)} places")
    columns = []
    for type_, column in zip(outline.places, group.columns, strict=True):
        columns.append(_read_column(type_, column, arrays))
        if len(columns[-1][0]) != len(keys):
            raise damaged(f"has {len(columns[-1][0])} operands for {len(keys)} keys")
    return keys, OperandColumns(outline, partial(_made, outline, columns), len(keys))


def _read_column(
    type_: OperandType, column: Column, arrays: ArraysIn
) -> tuple[Array, pa.Array | None]:
    types = _TYPES.get(type_)
    if types is not None:
        values = arrays.get(column.values, *types)
        check_values(type_, values)
        return values, None
    if column.texts is None:
        raise damaged("has codes that stand for nothing")
    codes, texts = arrays.get(column.values, *UNSIGNED), read_texts(column.texts, arrays)
    check_codes(codes, len(texts), "an operand")
    return codes, texts


def _made(outline: Outline, columns: list[tuple[Array, pa.Array | None]]) -> list[Array]:
    """The columns with Python objects in the place of codes."""
    made: list[Array] = []
    slots = _slots(outline)
    for type_, slot, (values, texts) in zip(outline.places, slots, columns, strict=True):
        if texts is None:
            made.append(values)
        elif type_ is OperandType.STRING:
            made.append(strings_of(texts)[values])
        elif type_ is OperandType.DECIMAL:
            made.append(read_decimals(strings_of(texts))[values])
        else:
            written, operands = read_objects(texts)
            for operator, operand in zip(written, operands, strict=True):
                check_object(slot, operator, operand)
            made.append(operands[values])
    return made
