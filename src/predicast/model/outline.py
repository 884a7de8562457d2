"""``Outline``: what a subscription states, less its operands.

A million subscriptions are a few outlines and a great many operands. Taking the two apart lets
the operands stand in columns (``predicast.model.operand_columns``) instead of in objects::

    price < 10 AND symbol = 'IBM'

    outline    ((price < INTEGER, symbol = STRING),)        one for all that look like this
    operands   (10, 'IBM')                                  per subscription

The type of each operand is part of the outline, so that a column is of one type throughout: 1 and
1.5 are both numbers, and make two outlines. A constraint has one place for its operand, two
with between, and none with exists and absent. Sets, LIKE patterns, regular expressions, what
elements of lists are to match and what any and all join stay the objects that the constraint holds;
the slot of any or all may also be filled with a single constraint, which is what they come to with
some operands.

The rests of clauses are expressions of slots, whose operands follow those of all the clauses.

There is one object for all outlines with the same slots, as long as anybody has it: so they are
compared and hashed by identity, which no change of a subscription has to wait for.

Taking a subscription apart and putting it together again gives an equal one; both are linear in
the number of constraints. Operands are trusted: they come from constraints, or from whoever made
the checks that a constraint makes.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias, cast
from weakref import WeakValueDictionary

from predicast.bounded_cache import BoundedCache, remembered
from predicast.locks import new_lock
from predicast.model.clause import trusted_clause
from predicast.model.constraint import (
    Constraint,
    Operand,
    joined_constraint,
    trusted_constraint,
)
from predicast.model.decimals import ExactDecimal
from predicast.model.expression import Node, leaves_of, mapped
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
from predicast.model.subscription import Subscription
from predicast.model.values import Kind, Value, kind_of


class OperandType(enum.Enum):
    """The type of the operands in one place of an outline."""

    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"  # numbers that are neither
    STRING = "string"
    BOOLEAN = "boolean"
    TIMESTAMP = "timestamp"
    OBJECT = "object"  # sets, patterns, conditions on elements, parts of any and all, as they are

    # As with operators: members are singletons, and Enum's own hash is a Python call.
    __hash__ = object.__hash__


class Slot(NamedTuple):
    """A constraint without its operand: the types of the places that the operand fills."""

    attribute: str
    operator: Operator
    operands: tuple[OperandType, ...]


Slots: TypeAlias = tuple[tuple[Slot, ...], ...]
Rests: TypeAlias = tuple[Node[Slot] | None, ...]  # one per clause; or none at all, if none has one

OPERAND_TYPES: Final[dict[type, OperandType]] = {
    int: OperandType.INTEGER,
    float: OperandType.FLOAT,
    ExactDecimal: OperandType.DECIMAL,
    str: OperandType.STRING,
    bool: OperandType.BOOLEAN,
    datetime: OperandType.TIMESTAMP,
}
KINDS: Final = {
    OperandType.INTEGER: Kind.NUMBER,
    OperandType.FLOAT: Kind.NUMBER,
    OperandType.DECIMAL: Kind.NUMBER,
    OperandType.STRING: Kind.STRING,
    OperandType.BOOLEAN: Kind.BOOLEAN,
    OperandType.TIMESTAMP: Kind.TIMESTAMP,
}
_WHOLE: Final = SET | LIKE | REGEX | JOINED | ELEMENTS  # operators whose operand is kept as it is
_OBJECT: Final = (OperandType.OBJECT,)
_SINGLE: Final = frozenset(Operator) - PRESENCE - RANGE - _WHOLE  # those whose operand is a value
_SINGLE_TYPES: Final[dict[type, tuple[OperandType]]] = {
    type_: (each,) for type_, each in OPERAND_TYPES.items()
}
_new: Final = tuple.__new__

_MAX_BYTES: Final = 32 << 20  # of outlines that are remembered: some 50,000 of the usual ones
# What Python takes for an outline, a clause of it, and a slot with its part, types and name.
_OUTLINE_BYTES: Final = 400
_CLAUSE_BYTES: Final = 160
_SLOT_BYTES: Final = 300


class _Part(NamedTuple):
    """How to make one constraint: which operands are its own, and their kind if it is fixed."""

    attribute: str
    operator: Operator
    place: int
    places: int
    kind: Kind | None


class Outline:
    """Clauses of slots; ``outline_of`` makes one for all that have these, in this order."""

    __slots__ = (
        *("__weakref__", "_attributes", "_parts", "_rests"),
        *("clauses", "cost", "places", "rests"),
    )

    clauses: Slots
    rests: Rests
    places: tuple[OperandType, ...]  # clause after clause, slot after slot, then those of the rests
    cost: int  # for caches: roughly the bytes that it holds

    def __init__(self, clauses: Slots, rests: Rests = ()) -> None:
        assert len(rests) in {0, len(clauses)}
        self.clauses = clauses
        self.rests = rests
        slots = list(self.slots())
        self.places = tuple(each for slot in slots for each in slot.operands)
        parts = iter(_parts(slots))
        self._parts = [[next(parts) for _ in clause] for clause in clauses]
        self._rests = [
            None if rest is None else mapped(rest, lambda _: next(parts)) for rest in rests
        ]
        self._attributes = frozenset(slot.attribute for slot in slots)
        self.cost = (
            _OUTLINE_BYTES
            + _CLAUSE_BYTES * len(clauses)
            + _SLOT_BYTES * len(slots)
            + sum(map(len, self.attributes()))
        )

    def slots(self) -> Iterator[Slot]:
        """All the slots, in the order of their places."""
        for clause in self.clauses:
            yield from clause
        for rest in self.rests:
            if rest is not None:
                yield from leaves_of(rest)

    def attributes(self) -> frozenset[str]:
        """The names of all the attributes that such a subscription looks at."""
        return self._attributes

    def subscription(self, operands: Sequence[Any]) -> Subscription:
        """The subscription with these operands, one per place."""
        clauses = [
            trusted_clause(tuple([_constraint(part, operands) for part in clause]))
            for clause in self._parts
        ]
        for place, rest in enumerate(self._rests):
            if rest is not None:
                filled = mapped(rest, lambda part: _constraint(part, operands))
                clauses[place] = trusted_clause(clauses[place].constraints, filled)
        return Subscription(tuple(clauses))

    def __repr__(self) -> str:
        rests = f", {self.rests!r}" if self.rests else ""
        return f"Outline({self.clauses!r}{rests})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process has one of its own.
        return outline_of, (self.clauses, self.rests)


class Stated(NamedTuple):
    """What one subscription states: an outline, and the operands that fill it."""

    outline: Outline
    operands: tuple[Any, ...]

    def subscription(self) -> Subscription:
        """The same as an object."""
        return self.outline.subscription(self.operands)


_alive: Final = WeakValueDictionary[tuple[Slots, Rests], Outline]()
_making: Final = new_lock()


@remembered(_MAX_BYTES, lambda _, outline: outline.cost)
def outline_of(clauses: Slots, rests: Rests) -> Outline:
    """The outline with these slots; the same object while it is remembered, or anybody has it."""
    with _making:
        found = _alive.get((clauses, rests))
        if found is None:
            found = _alive[clauses, rests] = Outline(clauses, rests)
        return found


# Outlines of single clauses whose operands are all values, by attributes, operators and types.
OF_VALUES: Final = BoundedCache[
    tuple[tuple[str, ...], tuple[Operator, ...], tuple[type, ...]], Outline
](_MAX_BYTES, lambda key, outline: outline.cost + 24 * len(key[0]))


def outlined(subscription: Subscription) -> Stated:
    """The subscription's outline and the operands that fill it."""
    clauses = subscription.clauses
    if len(clauses) == 1 and clauses[0].rest is None and clauses[0].constraints:
        return _outlined_clause(subscription)
    return _outlined(subscription)


def _outlined_clause(subscription: Subscription) -> Stated:
    """The same of a single clause: if all its operands are values, their types are looked up."""
    constraints = subscription.clauses[0].constraints
    attributes = tuple([each.attribute for each in constraints])
    operators = tuple([each.operator for each in constraints])
    operands = tuple([each.operand for each in constraints])
    key = attributes, operators, tuple(map(type, operands))
    try:
        # As Stated(...) does, without a call of Python's own; so below.
        return _new(Stated, (OF_VALUES[key], operands))
    except KeyError:
        pass
    stated = _outlined(subscription)
    if _SINGLE.issuperset(operators):
        OF_VALUES.put(key, stated.outline)
    return stated


def _outlined(subscription: Subscription) -> Stated:
    operands: list[Any] = []
    clauses = tuple(
        [
            tuple([_slot(constraint, operands) for constraint in clause.constraints])
            for clause in subscription.clauses
        ]
    )
    rests: Rests = ()
    if any(clause.rest is not None for clause in subscription.clauses):
        rests = tuple(
            [
                None if clause.rest is None else mapped(clause.rest, lambda c: _slot(c, operands))
                for clause in subscription.clauses
            ]
        )
    return Stated(outline_of(clauses, rests), tuple(operands))


def slot_types(operator: Operator, types: Sequence[OperandType]) -> tuple[OperandType, ...]:
    """The places of an operator whose operand is made of values of these types."""
    if operator in _WHOLE:
        return _OBJECT
    return tuple(types)


def joined_operand(operator: Operator, constraint: Constraint) -> tuple[Constraint, ...]:
    """What fills the slot of any or all, if that is what they come to."""
    return constraint.parts if constraint.operator is operator else (constraint,)


def _slot(constraint: Constraint, operands: list[Any]) -> Slot:
    """The constraint's slot; its operands are appended to those of the slots before."""
    attribute, operator, operand = constraint.attribute, constraint.operator, constraint.operand
    if operator in _SINGLE:
        operands.append(operand)
        return _new(Slot, (attribute, operator, _SINGLE_TYPES[type(operand)]))
    if operator in PRESENCE:
        return Slot(attribute, operator, ())
    if operator in _WHOLE:
        operands.append(operand)
        return Slot(attribute, operator, _OBJECT)
    lo, hi = cast(tuple[Value, Value], operand)
    operands += (lo, hi)
    return Slot(attribute, operator, (OPERAND_TYPES[type(lo)], OPERAND_TYPES[type(hi)]))


def _parts(slots: Iterable[Slot]) -> Iterator[_Part]:
    place = 0
    for attribute, operator, operands in slots:
        kind = KINDS.get(operands[0]) if operands else None
        if operator in LIKE | REGEX:
            kind = Kind.STRING
        elif operator in ELEMENTS:
            kind = Kind.LIST
        yield _Part(attribute, operator, place, len(operands), kind)
        place += len(operands)


def _constraint(part: _Part, operands: Sequence[Any]) -> Constraint:
    attribute, operator, place, places, kind = part
    operand: Operand = None
    if places == 1:
        operand = operands[place]
        if operator in JOINED:
            return joined_constraint(attribute, operator, operand)  # type: ignore[arg-type]
        if kind is None:  # a set: its members are of one kind
            kind = kind_of(operand[0])  # type: ignore[index, arg-type]
    elif places == 2:
        operand = (operands[place], operands[place + 1])
    return trusted_constraint(attribute, operator, operand, kind)
