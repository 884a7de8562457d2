"""Lists of values taken apart: ``x IN (1, 2) AND y < 3`` as ``x = 1 AND y < 3 OR x = 2 AND y < 3``.

A subscription that waits to be compiled is tried quickly where it is nothing but ranges
(``bounds_table.py``), of which a list of a few values is one for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, Final

from predicast.model import Operator
from predicast.model.outline import OPERAND_TYPES, Slot, Stated, outline_of

_MOST: Final = 16  # clauses that one is written as; to try more takes no less than its definition


def without_lists(stated: Stated) -> Stated | None:
    """The same with a clause for each value of its lists; ``None`` if it has none, or long ones."""
    outline, operands = stated
    if outline.rests or not any(slot.operator is Operator.IN for slot in outline.slots()):
        return None
    clauses: list[tuple[Slot, ...]] = []
    filled: list[Any] = []
    left = iter(operands)
    for slots in outline.clauses:
        own = [[next(left) for _ in slot.operands] for slot in slots]
        pairs = list(zip(slots, own, strict=True))
        if prod(len(values[0]) for slot, values in pairs if slot.operator is Operator.IN) > _MOST:
            return None
        for way in product(*(_ways(slot, values) for slot, values in pairs)):
            clauses.append(tuple(slot for slot, _ in way))
            filled += (value for _, values in way for value in values)
    return Stated(outline_of(tuple(clauses), ()), tuple(filled))


def _ways(slot: Slot, operands: Sequence[Any]) -> Iterator[tuple[Slot, Sequence[Any]]]:
    """How a constraint may hold: a list by each of its values, anything else as it is."""
    if slot.operator is not Operator.IN:
        yield slot, operands
        return
    for value in operands[0]:
        yield Slot(slot.attribute, Operator.EQ, (OPERAND_TYPES[type(value)],)), (value,)
