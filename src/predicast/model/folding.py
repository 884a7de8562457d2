"""Folding: any or all of several constraints on one attribute, said as simply as can be.

``x = 1 OR x = 2`` is ``x IN (1, 2)``, ``x < 3 OR x BETWEEN 2 AND 5`` is ``x <= 5``, and ``x != 1
AND x NOT IN (2, 3)`` is ``x NOT IN (1, 2, 3)``. Equalities and sets always become one constraint;
order is folded where one of the simple operators says what is left, and stays as it was written
where none does. Patterns and presence stay as they are, each once. A list that has an element for
one condition or has one for another has one for either.

Constraints are folded kind by kind: of a kind each is either true or false of every value, and of
values of another kind they are all false. An absent attribute satisfies all of them or none, as the
policy says. So what is folded means the same, and so does all of them folded as De Morgan says:
as the negation of any of their negations.

Cost: that of sorting the constraints, and the values of sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from predicast.model.clause import Clause
from predicast.model.constraint import (
    Constraint,
    in_order,
    joined_constraint,
    sorted_set,
    trusted_constraint,
)
from predicast.model.domain import UNIVERSE, spans_of
from predicast.model.operators import JOINED, ORDER, RANGE, Operator
from predicast.model.spans import Span, SpanSet, complement, intersection, united
from predicast.model.subscription import Subscription
from predicast.model.values import Kind, from_microseconds

_POINTS: Final = frozenset({Operator.EQ, Operator.IN})
_ALL_BUT_POINTS: Final = frozenset({Operator.NE, Operator.NOT_IN})
_BY_ORDER: Final = ORDER | RANGE | _POINTS | _ALL_BUT_POINTS


def folded(operator: Operator, parts: Sequence[Constraint]) -> Constraint:
    """Any or all of constraints on one attribute, as one."""
    assert operator in JOINED
    if operator is Operator.ALL:
        return _any_of([part.negated() for part in parts]).negated()
    return _any_of(parts)


def _any_of(parts: Sequence[Constraint]) -> Constraint:
    attribute = parts[0].attribute
    by_kind: dict[Kind, list[Constraint]] = {}
    kept: list[Constraint] = []
    of_elements: list[Constraint] = []
    for part in _flat(parts):
        if part.operator in _BY_ORDER:
            assert part.kind is not None
            by_kind.setdefault(part.kind, []).append(part)
        elif part.operator is Operator.HAS:
            of_elements.append(part)
        else:
            kept.append(part)
    for kind, alike in by_kind.items():
        kept += _union(attribute, kind, list(dict.fromkeys(alike)))
    if len(of_elements) > 1:
        of_elements = [_either(attribute, in_order(of_elements))]
    return joined_constraint(attribute, Operator.ANY, in_order([*kept, *of_elements]))


def _either(attribute: str, parts: Iterable[Constraint]) -> Constraint:
    """A list that has an element for one of several conditions."""
    clauses: list[Clause] = []
    for part in parts:
        assert isinstance(part.operand, Subscription)
        clauses += part.operand.clauses
    return Constraint(attribute, Operator.HAS, Subscription(tuple(clauses)))


def _flat(parts: Iterable[Constraint]) -> Iterator[Constraint]:
    for part in parts:
        if part.operator is Operator.ANY:
            yield from part.parts  # which are flat themselves
        else:
            yield part


def _union(attribute: str, kind: Kind, parts: list[Constraint]) -> list[Constraint]:
    """The fewest constraints that say what these do together, all of them said by order."""
    others = [part for part in parts if part.operator not in _POINTS]
    if len(parts) == 1:
        return parts
    if not others:
        return [_among(attribute, kind, parts)]
    if kind is Kind.BOOLEAN:
        values = [value for value in (False, True) if any(part.holds(value) for part in parts)]
        return [_set(attribute, Operator.EQ, kind, values)] if values else parts[:1]
    written = {spans_of(part): part for part in parts}
    union = united([spans for spans in written if spans is not None])
    if not union:
        return parts[:1]
    made: list[Constraint | None] = [_all_but(attribute, kind, union)]
    if made == [None]:
        made = [written.get((span,)) or _between(attribute, kind, span) for span in union]
    simple = [each for each in made if each is not None]
    return _points_together(attribute, kind, simple if len(simple) == len(made) else parts)


def _points_together(attribute: str, kind: Kind, parts: Sequence[Constraint]) -> list[Constraint]:
    points = [part for part in parts if part.operator in _POINTS]
    if len(points) < 2:
        return list(parts)
    others = [part for part in parts if part.operator not in _POINTS]
    return [*others, _among(attribute, kind, points)]


def _among(attribute: str, kind: Kind, points: Iterable[Constraint]) -> Constraint:
    """Equalities and sets as one of them."""
    values: list[Any] = []
    for point in points:
        operand: Any = point.operand
        values += operand if point.operator is Operator.IN else (operand,)
    return _set(attribute, Operator.EQ, kind, values)


def equal_to_any(attribute: str, kind: Kind, values: Iterable[Any]) -> Constraint:
    """Any of equalities with values of one kind."""
    return _set(attribute, Operator.EQ, kind, values)


def _set(attribute: str, operator: Operator, kind: Kind, values: Iterable[Any]) -> Constraint:
    """Equal to one of the values or, with the other operator, to none."""
    members = sorted_set(values)
    if len(members) == 1:
        return trusted_constraint(attribute, operator, members[0], kind)
    several = Operator.IN if operator is Operator.EQ else Operator.NOT_IN
    return trusted_constraint(attribute, several, members, kind)


def _all_but(attribute: str, kind: Kind, union: SpanSet) -> Constraint | None:
    """The constraint that leaves out what the union does, if that is values or one range."""
    left_out = intersection(complement(union), UNIVERSE[kind])
    made = [_between(attribute, kind, span) for span in left_out]
    if made and all(each is not None and each.operator is Operator.EQ for each in made):
        values = [each.operand for each in made if each is not None]
        return _set(attribute, Operator.NE, kind, values)
    if len(made) == 1 and made[0] is not None and made[0].operator is Operator.BETWEEN:
        return made[0].negated()
    return None


def _between(attribute: str, kind: Kind, span: Span) -> Constraint | None:
    """The constraint that all values of a span satisfy and no others, if one operator says that."""
    if span.lo is not None and span.hi in {span.lo, _next(kind, span.lo)}:
        return trusted_constraint(attribute, Operator.EQ, _value(kind, span.lo), kind)
    (everything,) = UNIVERSE[kind]
    lower = None if span.lo == everything.lo else _lower(kind, span)
    upper = None if span.hi == everything.hi else _upper(kind, span)
    operator, operand = lower or upper or (None, None)
    if lower and upper:
        if lower[0] is not Operator.GE or upper[0] is not Operator.LE:
            return None
        operator, operand = Operator.BETWEEN, (lower[1], upper[1])
    return None if operator is None else trusted_constraint(attribute, operator, operand, kind)


def _lower(kind: Kind, span: Span) -> tuple[Operator, Any]:
    if kind is Kind.STRING and span.lo.endswith("\0"):
        return Operator.GT, span.lo[:-1]
    if kind is Kind.TIMESTAMP and not _is_moment(span.lo):
        return Operator.GT, _value(kind, span.lo - 1)
    return Operator.GT if span.lo_open else Operator.GE, _value(kind, span.lo)


def _upper(kind: Kind, span: Span) -> tuple[Operator, Any]:
    """What lies below the end; spans of all but numbers end before the next value."""
    if kind is Kind.STRING:
        ends = span.hi.endswith("\0")
        return (Operator.LE, span.hi[:-1]) if ends else (Operator.LT, span.hi)
    if kind is Kind.TIMESTAMP:
        if _is_moment(span.hi - 1):
            return Operator.LE, _value(kind, span.hi - 1)
        return Operator.LT, _value(kind, span.hi)
    return Operator.LT if span.hi_open else Operator.LE, span.hi


def _next(kind: Kind, end: Any) -> Any:
    """The value behind, as spans write it; a number has none, and a span of one ends with it."""
    if kind is Kind.NUMBER:
        return end
    return end + "\0" if kind is Kind.STRING else end + 1


def _value(kind: Kind, end: Any) -> Any:
    return from_microseconds(end) if kind is Kind.TIMESTAMP else end


def _is_moment(count: int) -> bool:
    """Whether some timestamp is that many microseconds after the epoch."""
    try:
        from_microseconds(count)
    except OverflowError:
        return False
    return True
