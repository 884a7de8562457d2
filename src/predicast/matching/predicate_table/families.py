"""Families of predicates, and a clause as one predicate in each of its families.

The vocabulary is that of ``table.py``. A *family* is what one row of the table holds: the
predicates with the same attribute, operator and kind of value.

A clause has at most one predicate in a family:

- Two bounds in one family keep the tightest: ``x > 3 AND x > 5`` is ``x > 5``.
- ``between`` is its two bounds.
- Two different equalities are one whose threshold, ``NO_VALUE``, no value equals. The clause is not
  thrown away: where an absent attribute passes it can still match.
- Any and all of several constraints are one predicate, of one family whatever the kinds of value.
- Other constraints of one family (``x != 1 AND x != 2``) are one predicate, tested together.

Thresholds of equalities and bounds are operands, with timestamps in microseconds, so that the
ends of an interval of time are compared like those of an interval of integers. Thresholds of all
other predicates are the constraints themselves.

**Order.** The table's rows follow a total order of the families: equalities, of which few hold,
then bounds, then what is tested one by one, negations (which mostly hold) after the rest, presence
last; inside each of these by attribute, so that the two sides of a range, which together select
best, are neighbours. It depends on nothing but the family, and so stays when rows come and go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from predicast.model import Clause, Constraint, Kind, Operator
from predicast.model.operators import JOINED, ORDER
from predicast.model.values import microseconds

_TOP_TO_BOTTOM: Final = (
    {Operator.EQ},
    {Operator.LT, Operator.LE, Operator.GT, Operator.GE},
    {
        Operator.IN,
        Operator.PREFIX,
        Operator.SUFFIX,
        Operator.CONTAINS,
        Operator.LIKE,
        Operator.MATCHES,
        Operator.HAS,
        Operator.ANY,
    },
    {
        Operator.NE,
        Operator.NOT_BETWEEN,
        Operator.NOT_IN,
        Operator.NOT_PREFIX,
        Operator.NOT_SUFFIX,
        Operator.NOT_CONTAINS,
        Operator.NOT_LIKE,
        Operator.NOT_MATCHES,
        Operator.NOT_HAS,
        Operator.ALL,
    },
    {Operator.EXISTS, Operator.ABSENT},
)
_RANKS: Final = {operator: rank for rank, ops in enumerate(_TOP_TO_BOTTOM) for operator in ops}

UPPER_BOUNDS: Final = frozenset({Operator.LT, Operator.LE})

# The threshold of ``x = 1 AND x = 2``.
NO_VALUE: Final = object()


class Family(NamedTuple):
    """What the predicates of one row have in common.

    The paper's families are (attribute, operator). The kind is part of ours because thresholds of
    two kinds cannot be sorted together, and because 1 and True are one key in a hash table.
    """

    attribute: str
    operator: Operator
    kind: Kind | None

    def order(self) -> tuple[int, str, str, str]:
        """The family's place in the table: smaller is higher up."""
        kind = self.kind.value if self.kind else ""
        return _RANKS[self.operator], self.attribute, self.operator.value, kind


def predicates_of(clause: Clause) -> list[tuple[Family, Any]]:
    """The clause's families with its threshold in each, from the top of the table to the bottom."""
    thresholds: dict[Family, Any] = {}
    for constraint in clause:
        for family, threshold in _predicates_in(constraint):
            if family in thresholds:
                thresholds[family] = _both(family.operator, thresholds[family], threshold)
            else:
                thresholds[family] = threshold
    return sorted(thresholds.items(), key=lambda item: item[0].order())


def scalar(value: Any, kind: Kind | None) -> Any:
    """A value as thresholds are written."""
    return microseconds(value) if kind is Kind.TIMESTAMP else value


def _predicates_in(constraint: Constraint) -> Iterator[tuple[Family, Any]]:
    attribute, operator, kind = constraint.attribute, constraint.operator, constraint.kind
    operand: Any = constraint.operand
    if operator is Operator.BETWEEN:
        low, high = operand
        yield Family(attribute, Operator.GE, kind), scalar(low, kind)
        yield Family(attribute, Operator.LE, kind), scalar(high, kind)
    elif operator is Operator.EQ or operator in ORDER:
        yield Family(attribute, operator, kind), scalar(operand, kind)
    elif operator in JOINED:
        yield Family(attribute, operator, None), (constraint,)
    else:
        yield Family(attribute, operator, kind), (constraint,)


def _both(operator: Operator, one: Any, other: Any) -> Any:
    """The threshold that says as much as the two together."""
    if operator in ORDER:
        return min(one, other) if operator in UPPER_BOUNDS else max(one, other)
    if operator is Operator.EQ:
        return one if one == other else NO_VALUE
    return tuple(dict.fromkeys(one + other))
