"""Plain sets: subscriptions that a join of Spark's own answers, without any Python.

To send an event to a worker takes longer than to look it up in a hash table of Java's. So where all
subscriptions are conjunctions of equalities, which all of them have, and of ranges of numbers, and
few of them share the values that they are equal to, ``match`` is a join (``plain_join.py``)::

    category = 'books' AND price < 10        category    price
    category = 'books' AND price >= 20       'books'     (…, 10)
    category = 'music'                       'books'     [20, …)
                                             'music'

A join looks at all subscriptions of an event's values, one by one, where a matcher looks at those
that may match. That is why they have to be few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from predicast.engine import Engine
from predicast.language.derived_names import is_derived
from predicast.matching import DEFAULT
from predicast.model import Constraint, Operator, Subscription
from predicast.model.spans import Span

_MOST: Final = 20_000  # subscriptions: each is looked at when they are compiled
# Subscriptions of the same values that an event meets, if events are spread as they are: a join
# takes as long as a worker at some 40 (docs/decisions/0081-plain-sets-are-joined.md).
_MEET: Final = 32
_CROWD: Final = 256  # of one value, should all events have that one


class PlainSet(NamedTuple):
    """Subscriptions as a table: what each equals and the ranges of each, place by place."""

    ids: tuple[str, ...]
    equals: Mapping[str, tuple[str | int, ...]]  # by attribute
    ranges: Mapping[str, tuple[Span | None, ...]]  # None: any value, and none at all
    meets: float  # of those with the same values, how many an event meets

    def __str__(self) -> str:
        return (
            f"match to rows may be Spark's own join, by {', '.join(self.equals)}: "
            f"an event meets {self.meets:.3g} of {len(self.ids):,} subscriptions"
        )


def plain_set(engine: Engine) -> PlainSet | None:
    """The subscriptions of an engine as a table, if they are as plain as that."""
    if not 0 < len(engine) <= _MOST or engine.matcher != DEFAULT:
        return None
    if engine.absent != "fails" or engine.vocabulary is not None:
        return None
    ids, rows = [], []
    for id in engine:  # one by one: most sets are not plain, and the first tells
        subscription = engine.get(id).subscription
        if not subscription.clauses:
            continue  # nothing matches it
        row = _row(subscription)
        if row is None:
            return None
        if not any(map(_is_empty, row.values())):
            ids.append(id)
            rows.append(row)
    if not rows:
        return None
    names = set[str]().union(*rows)
    texts = {name for name in names if any(isinstance(row.get(name), str) for row in rows)}
    if not all(isinstance(row.get(name), str) for name in texts for row in rows):
        return None
    keys = texts or {name for name in names if all(_is_integer(row.get(name)) for row in rows)}
    if not keys:
        return None
    equals = {name: tuple(_equal(row[name]) for row in rows) for name in sorted(keys)}
    crowds = Counter(zip(*equals.values(), strict=True)).values()
    meets = sum(crowd * crowd for crowd in crowds) / len(rows)
    if meets > _MEET or max(crowds) > _CROWD:
        return None
    ranges = {name: tuple(_range(row.get(name)) for row in rows) for name in sorted(names - keys)}
    return PlainSet(tuple(ids), equals, ranges, meets)


def _row(subscription: Subscription) -> dict[str, str | Span] | None:
    """Of each attribute the text that it equals or the range of its numbers, if that is all."""
    if len(subscription.clauses) != 1 or subscription.clauses[0].rest is not None:
        return None
    row: dict[str, str | Span] = {}
    for constraint in subscription.clauses[0].constraints:
        name = constraint.attribute
        value = _value(constraint)
        if value is None or is_derived(name):
            return None
        before = row.setdefault(name, value)
        if before is value:
            continue
        if isinstance(before, str) or isinstance(value, str):
            return None
        row[name] = before & value
    return row


def _value(constraint: Constraint) -> str | Span | None:
    """The text that is equal, or the range of numbers."""
    operand: Any = constraint.operand
    if constraint.operator is Operator.BETWEEN and {*map(type, operand)} <= _NUMBERS:
        return Span(*operand)
    if constraint.operator is Operator.EQ and type(operand) is str:
        return operand
    make = _SPANS.get(constraint.operator)
    return None if make is None or type(operand) not in _NUMBERS else make(operand)


_NUMBERS: Final = frozenset({int, float})
_SPANS: Final[Mapping[Operator, Callable[[Any], Span]]] = {
    Operator.EQ: lambda end: Span(end, end),
    Operator.LT: lambda end: Span(None, end, hi_open=True),
    Operator.LE: lambda end: Span(None, end),
    Operator.GT: lambda end: Span(end, None, lo_open=True),
    Operator.GE: lambda end: Span(end, None),
}


def _is_empty(value: str | Span) -> bool:
    """Whether nothing is in it, as in x > 3 AND x < 1."""
    return isinstance(value, Span) and value.is_empty()


def _is_integer(value: object) -> bool:
    """Whether it is one integer."""
    return isinstance(value, Span) and type(value.lo) is int and value.lo == value.hi


def _equal(value: str | Span) -> str | int:
    """What an attribute is to be equal to."""
    if isinstance(value, str):
        return value
    number: int = value.lo
    return number


def _range(value: str | Span | None) -> Span | None:
    """What is no text, as all texts are equalities that all have."""
    assert not isinstance(value, str)
    return value
