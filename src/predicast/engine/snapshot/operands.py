"""Slots and operands in a file: what constraints are made of.

A slot (attribute, operator, types of its operands) is written as it is; operands are numbers, or
codes of the distinct strings (also for decimals, by their digits) and the distinct objects. Objects
(sets, patterns, regular expressions, what any and all join, conditions on elements) are written as
the language's JSON writes the constraint, without its attribute; of any and all with it, since it
is that of the parts as well.

The rests of clauses are expressions of slots. They are written as what they look like without the
slots, which stand where those of the clauses do: ``["any", 0, ["all", 0, 0]]`` is an OR of one slot
and of an AND of two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from predicast.arrays import Array
from predicast.engine.snapshot.layout import damaged
from predicast.engine.snapshot.texts import narrow, objects
from predicast.errors import PredicastError
from predicast.language.json_form import constraint_from_document, constraint_to_document
from predicast.model.constraint import MAX_NESTING, trusted_constraint
from predicast.model.decimals import ExactDecimal, exact_number
from predicast.model.expression import And, Leaf, Node, Not, Or
from predicast.model.operators import (
    ELEMENTS,
    JOINED,
    LIKE,
    PRESENCE,
    RANGE,
    REGEX,
    SET,
    Operator,
)
from predicast.model.outline import (
    KINDS,
    OperandType,
    Outline,
    Slot,
    Slots,
    joined_operand,
    outline_of,
)
from predicast.model.values import microseconds

_OPERATORS: Final = {operator.value: operator for operator in Operator}
_DIGITS: Final = re.compile(r"-?[0-9]{1,2000}(?:\.[0-9]{1,2000})?")
_ANY: Final = "attribute"  # objects are shared by slots of several attributes
_YEARS: Final = tuple(
    int(np.datetime64(end, "us").astype(np.int64))
    for end in ("0001-01-01T00:00:00.000000", "9999-12-31T23:59:59.999999")
)


class SlotEntry(msgspec.Struct, array_like=True, forbid_unknown_fields=True, frozen=True):
    """A slot in the header."""

    attribute: str
    operator: str
    operands: list[OperandType]


def write_slot(slot: Slot) -> SlotEntry:
    """The slot as it is written."""
    return SlotEntry(slot.attribute, slot.operator.value, list(slot.operands))


def read_slot(entry: SlotEntry) -> Slot:
    """The slot, if there can be one like it."""
    operator = _OPERATORS.get(entry.operator)
    if operator is None or not entry.attribute or not _suit(operator, entry.operands):
        raise damaged(f"has a constraint that cannot be: {entry}")
    return Slot(entry.attribute, operator, tuple(entry.operands))


def write_looks(outline: Outline) -> list[Any]:
    """What the rests of an outline look like, one for each clause; nothing if there are none."""
    return [None if rest is None else _look(rest) for rest in outline.rests]


def _look(node: Node[Slot]) -> Any:
    if isinstance(node, Leaf):
        return 0
    assert not isinstance(node, Not)
    return ["any" if isinstance(node, Or) else "all", *map(_look, node.parts)]


def read_outline(clauses: Slots, looks: list[Any], slots: Iterable[Slot]) -> Outline:
    """An outline, given what its rests look like and the slots in them, one after the other."""
    if not looks:
        return outline_of(clauses, ())
    if len(looks) != len(clauses):
        raise damaged(f"has {len(looks)} rests for {len(clauses)} clauses")
    left = iter(slots)
    rests = tuple(None if look is None else _read_look(look, left, 1) for look in looks)
    if next(left, None) is not None:
        raise damaged("has constraints that are in no clause")
    return outline_of(clauses, rests)


def _read_look(look: Any, slots: Iterator[Slot], depth: int) -> Node[Slot]:
    if look == 0:
        slot = next(slots, None)
        if slot is None:
            raise damaged("has a rest without a constraint")
        return Leaf(slot)
    if not isinstance(look, list) or len(look) < 2 or depth > MAX_NESTING:
        raise damaged("has a rest that cannot be read")
    parts = tuple(_read_look(part, slots, depth + 1) for part in look[1:])
    if look[0] == "any":
        return Or(parts)
    if look[0] != "all":
        raise damaged("has a rest that is neither any nor all")
    return And(parts)


def _suit(operator: Operator, types: Sequence[OperandType]) -> bool:
    if operator in PRESENCE:
        return not types
    if operator in SET | LIKE | REGEX | JOINED | ELEMENTS:
        return list(types) == [OperandType.OBJECT]
    kinds = {KINDS.get(each) for each in types}
    return (
        len(types) == (2 if operator in RANGE else 1)
        and len(kinds) == 1
        and kinds <= set(operator.kinds)
    )


def write_objects(operators: Sequence[Operator], operands: Sequence[Any]) -> tuple[pa.Array, Array]:
    """The distinct ones among objects, each with its operator; and which of them each one is."""
    known: dict[tuple[Operator, int], int] = {}  # by identity: (1,) equals (True,)
    texts: dict[bytes, int] = {}
    codes = np.empty(len(operands), np.int64)
    for place, (operator, operand) in enumerate(zip(operators, operands, strict=True)):
        code = known.get((operator, id(operand)))
        if code is None:
            attribute = operand[0].attribute if operator in JOINED else _ANY
            whole = trusted_constraint(attribute, operator, operand, None)
            document = constraint_to_document(whole)
            if operator not in JOINED:
                del document["attribute"]
            code = texts.setdefault(msgspec.json.encode(document), len(texts))
            known[operator, id(operand)] = code
        codes[place] = code
    written = pa.array([text.decode() for text in texts], pa.large_string())
    return written, narrow(codes, len(texts))


def read_objects(texts: pa.Array) -> tuple[list[Operator], Array]:
    """The objects, and the operator that each belongs to."""
    operators: list[Operator] = []
    operands: list[Any] = []
    for text in texts.to_pylist():
        try:
            document = msgspec.json.decode(text)
            constraint = constraint_from_document({"attribute": _ANY, **document})
        except (msgspec.DecodeError, PredicastError, TypeError, RecursionError) as error:
            raise damaged(f"has an operand that cannot be read: {error}") from error
        operator = _OPERATORS[document["operator"]]
        operators.append(operator)
        joined = operator in JOINED
        operands.append(joined_operand(operator, constraint) if joined else constraint.operand)
    return operators, objects(operands)


def check_object(slot: Slot, operator: Operator, operand: Any) -> None:
    """Refuse an object that does not belong into a slot."""
    fits = operator is slot.operator
    if fits and operator in JOINED:
        fits = operand[0].attribute == slot.attribute
    if not fits:
        raise damaged(f"has an operand that is not one of {slot}")


def read_decimals(texts: Array) -> Array:
    """Decimals from their digits."""
    found = np.empty(len(texts), object)
    for place, text in enumerate(texts.tolist()):
        number = exact_number(Decimal(text)) if _DIGITS.fullmatch(text) else None
        if type(number) is not ExactDecimal:
            raise damaged(f"has a decimal that cannot be: {text[:60]}")
        found[place] = number
    return found


def check_values(type_: OperandType, values: Array) -> None:
    """Refuse numbers that no operand of the type can be."""
    if not len(values):
        return
    if type_ is OperandType.FLOAT and not np.isfinite(values).all():
        raise damaged("has a number that is not finite")
    first, last = _YEARS
    if type_ is OperandType.TIMESTAMP and not first <= values.min() <= values.max() <= last:
        raise damaged("has a timestamp that leaves the years 1 to 9999")
    if type_ is OperandType.BOOLEAN and int(values.view(np.uint8).max()) > 1:
        raise damaged("has a boolean that is neither true nor false")


def as_words(type_: OperandType, operands: Sequence[Any]) -> Array:
    """Numbers of one type as 64 bits each."""
    if type_ is OperandType.FLOAT:
        return np.array(operands, np.float64).view(np.int64)
    if type_ is OperandType.TIMESTAMP:
        return np.array([*map(microseconds, operands)], np.int64)
    return np.array(operands, np.int64)
