"""Merging: one filter that covers many, to stand for them where it costs less to ask one.

The filter is a *hull*: of each attribute that all of the subscriptions bound, the least and the
greatest value that one of them can match. What matches a subscription lies in its hull, an event
that is a region as well, and what lies outside of a merged hull matches none of them. The other
way round it is a guess, the better the closer together the subscriptions are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from predicast.model import Absent, Clause, Constraint, Kind, Operator, Subscription
from predicast.model.domain import domain_of
from predicast.model.values import from_microseconds


class Extent(NamedTuple):
    """How far values of one kind reach, both ends included; ``None`` is an end that is not there.

    Timestamps are microseconds since the epoch.
    """

    kind: Kind
    lo: Any
    hi: Any


Hull: TypeAlias = Mapping[str, Extent]

_ORDERED = frozenset({Kind.NUMBER, Kind.TIMESTAMP, Kind.STRING})


def hull_of(subscription: Subscription, absent: Absent) -> Hull:
    """How far a subscription reaches; it bounds an attribute if each of its clauses does."""
    return merged(_clause_hull(clause, absent) for clause in subscription.clauses)


def merged(hulls: Iterable[Hull]) -> Hull:
    """The hull of what has these hulls."""
    left = iter(hulls)
    together = dict(next(left, {}))
    for hull in left:
        for attribute, extent in list(together.items()):
            wider = _wider(extent, hull.get(attribute))
            if wider is None:
                del together[attribute]
            else:
                together[attribute] = wider
    return together


def covering_subscription(hull: Hull) -> Subscription:
    """What matches all that lies in a hull."""
    constraints = []
    for attribute, (kind, lo, hi) in hull.items():
        if lo == hi:
            constraints.append(Constraint(attribute, Operator.EQ, _value(kind, lo)))
        elif lo is not None and hi is not None:
            ends = (_value(kind, lo), _value(kind, hi))
            constraints.append(Constraint(attribute, Operator.BETWEEN, ends))
        elif lo is not None:
            constraints.append(Constraint(attribute, Operator.GE, _value(kind, lo)))
        else:
            constraints.append(Constraint(attribute, Operator.LE, _value(kind, hi)))
    return Subscription.of([Clause(tuple(constraints))])


def _value(kind: Kind, end: Any) -> Any:
    return from_microseconds(end) if kind is Kind.TIMESTAMP else end


def _clause_hull(clause: Clause, absent: Absent) -> Hull:
    found = {}
    for attribute, constraints in clause.by_attribute().items():
        domain = domain_of(constraints, absent)
        if domain.absent and absent == "fails":
            continue  # an event without the attribute matches, and lies in no hull on it
        if domain.kind not in _ORDERED or domain.others or not domain.spans:
            continue
        lo, hi = domain.spans[0].lo, domain.spans[-1].hi
        lo = None if lo == "" else lo  # as all strings do
        if domain.spans[-1].hi_open and isinstance(hi, str):
            hi = hi.removesuffix("\0")  # the next one before it
        if lo is not None or hi is not None:
            found[attribute] = Extent(domain.kind, lo, hi)
    return found


def _wider(one: Extent, other: Extent | None) -> Extent | None:
    """The extent of both, ``None`` if there is none."""
    if other is None or one.kind is not other.kind:
        return None
    lo = None if one.lo is None or other.lo is None else min(one.lo, other.lo)
    hi = None if one.hi is None or other.hi is None else max(one.hi, other.hi)
    return None if lo is None and hi is None else Extent(one.kind, lo, hi)
