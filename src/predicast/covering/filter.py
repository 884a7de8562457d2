"""``Filter``: a subscription in canonical form, made for covering tests.

A filter is a set of clauses, a clause a domain for each of its attributes
(``predicast.model.domain``; ``predicast.covering.ranges`` for ranges of numbers). Clauses
that nothing can match and clauses that another one covers are left out, and so are string tests
that a domain implies anyway. Domains decide point and region events alike, so that the filter also
answers matches, for all of its subscribers at once.

The rest of a clause is not looked into: each expression that must hold there stands beside the
domains, under itself for a name. So a clause covers only those that have all of its rest as well.
Such filters are for covering alone; they are not asked for matches.

**Two filters that cover each other are equal**, which makes them one node of the poset; two nodes
that cover each other would each wait for the other to match. It is so because a form is unique
wherever covering is decided by comparing forms:

- equal sets of values are equal spans (``predicast.model.spans``), and absence is a flag;
- of string tests, one implies another by itself or the spans imply it, that relation is transitive,
  and no two different tests imply each other: so the tests that no other implies are what every
  equivalent list comes down to;
- covering between clauses is transitive too; so of two lists of clauses that cover each other, each
  without a clause that another one covers, every clause has its equal in the other list.

Whoever teaches ``predicast.model.domain`` another implication has to keep it transitive, and to
give one form to tests that imply each other.

Cost: made once for each subscription, O(constraints) with clauses compared pairwise; a covering
test is O(attributes) and stops at the first domain that is not included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from predicast.bounded_cache import BoundedCache, remembered
from predicast.covering.covers import conjuncts
from predicast.covering.ranges import Range, as_domain, narrowed, range_meets, ranged
from predicast.model import Absent, Clause, Event, Expression, Interval, Kind, Subscription
from predicast.model.domain import ANYTHING, Domain, bytes_of, domain_of
from predicast.model.spans import Span, SpanSet
from predicast.model.values import kind_of, microseconds

Domains: TypeAlias = dict[str | Expression, Range | Domain]

_EVERY_STRING: Final = (Span("", None),)
_HOLDS: Final = Domain(False, Kind.BOOLEAN, (Span(1, 2, hi_open=True),))  # true, and nothing else


class Filter:
    """What a subscription asks for; equal filters match the same events."""

    __slots__ = ("_hash", "_key", "clauses")

    def __init__(self, subscription: Subscription, absent: Absent) -> None:
        self.clauses: tuple[Domains, ...] = _maximal(
            [_domains(clause, absent) for clause in subscription.clauses]
        )
        self._key = frozenset([frozenset(clause.items()) for clause in self.clauses])
        self._hash = hash(self._key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Filter):
            return NotImplemented
        return self is other or (self._hash == other._hash and self._key == other._key)

    def is_never(self) -> bool:
        """Whether it is known that no event matches."""
        return not self.clauses

    def covers(self, other: Filter) -> bool:
        """Whether every event that matches the other matches this; never wrongly true."""
        outer, inner = self.clauses, other.clauses
        if len(outer) == 1 == len(inner):
            return _clause_covers(outer[0], inner[0])
        return all(any(_clause_covers(mine, clause) for mine in outer) for clause in inner)

    def matches(self, event: Event) -> bool:
        """Whether an event matches it; there may be no rest."""
        clauses = self.clauses
        if len(clauses) == 1:
            return _clause_matches(clauses[0], event)
        return any(_clause_matches(clause, event) for clause in clauses)

    def __repr__(self) -> str:
        return f"Filter({self.clauses!r})"


def _cost(_: object, made: tuple[Subscription, Filter]) -> int:
    return 1_000 + 3 * bytes_of(tuple(made[0].constraints()))


_made: Final[BoundedCache[tuple[int, Absent], tuple[Subscription, Filter]]] = BoundedCache(
    64 << 20, _cost
)


def filter_of(subscription: Subscription, absent: Absent) -> Filter:
    """The filter of a subscription, the same one for the same object as long as it is kept.

    Brokers of one process hand each other subscriptions as they are, and filters never change. It
    is looked up by identity, since to hash a subscription costs as much as to make a filter of it;
    the subscription is kept as well, so that no other comes to be where it is.
    """
    key = (id(subscription), absent)
    try:
        return _made[key][1]
    except KeyError:
        pass
    return _made.put(key, (subscription, Filter(subscription, absent)))[1]


def _domains(clause: Clause, absent: Absent) -> Domains:
    """What the clause allows each of its attributes."""
    domains: Domains = {}
    others: dict[str, None] = {}
    for constraint in clause.constraints:
        attribute = constraint.attribute
        so_far: Any = domains.get(attribute)
        found = narrowed(so_far, constraint, absent)
        if found is None:
            others[attribute] = None
        else:
            domains[attribute] = found
    for attribute in others:
        domain = domain_of(clause.on(attribute), absent)
        if domain == ANYTHING:
            domains.pop(attribute, None)
        else:
            domains[attribute] = _canonical(domain)
    for expression in conjuncts(clause.rest):
        domains[expression] = _HOLDS
    return domains


def _canonical(domain: Domain) -> Range | Domain:
    if domain.others:
        first, *others = (_reduced(each) for each in domain.by_kind())
        return Domain(domain.absent, first.kind, first.spans, first.rest, tuple(others))
    if domain.rest or not domain.spans:
        return _reduced(domain)
    return ranged(domain)


@remembered(16 << 20, lambda arguments, _: 2 * arguments[0].cost)
def _reduced(domain: Domain) -> Domain:
    """The domain without the string tests that the rest of it implies, the others in order."""
    if not domain.spans:
        return Domain(domain.absent, None, ())
    kept = sorted(dict.fromkeys(domain.rest), key=lambda test: (test.operator.value, repr(test)))
    for test in tuple(kept):
        others = tuple(each for each in kept if each is not test)
        alone = Domain(True, Kind.STRING, _EVERY_STRING, (test,))
        if alone.includes(Domain(domain.absent, domain.kind, domain.spans, others)):
            kept.remove(test)
    return Domain(domain.absent, domain.kind, domain.spans, tuple(kept))


def _maximal(clauses: Sequence[Domains]) -> tuple[Domains, ...]:
    """The clauses that some event can match and no other clause covers."""
    if len(clauses) == 1 and _is_satisfiable(clauses[0]):
        return (clauses[0],)
    kept: list[Domains] = []
    for clause in clauses:
        if not _is_satisfiable(clause):
            continue
        if any(_clause_covers(other, clause) for other in kept):
            continue
        kept = [other for other in kept if not _clause_covers(clause, other)]
        kept.append(clause)
    return tuple(kept)


def _is_satisfiable(clause: Domains) -> bool:
    for domain in clause.values():
        if type(domain) is not tuple and _domain(domain).is_empty():
            return False  # a range is never empty
    return True


def _clause_covers(outer: Domains, inner: Domains) -> bool:
    if len(outer) > len(inner):
        return False
    for attribute, wide in outer.items():
        narrow = inner.get(attribute)
        if narrow is None:  # anything goes there, and no constraint allows that
            return False
        if wide is narrow:
            continue
        if type(wide) is tuple and type(narrow) is tuple:
            # Compared here and not in a function of its own, which would cost as much again.
            lo, end, hi, other_end = wide[0], narrow[0], wide[2], narrow[2]
            if end < lo or other_end > hi:
                return False
            if (end == lo and wide[1] > narrow[1]) or (other_end == hi and wide[3] < narrow[3]):
                return False
            if narrow[4] > wide[4]:
                return False
        elif not _domain(wide).includes(_domain(narrow)):
            return False
    return True


def _domain(of: Range | Domain) -> Domain:
    return as_domain(of) if isinstance(of, tuple) else of


def _clause_matches(clause: Domains, event: Event) -> bool:
    for attribute, domain in clause.items():
        assert type(attribute) is str, "a rest is not matched here"
        value: Any = event.get(attribute)
        if type(domain) is tuple:
            lo, lo_open, hi, hi_closed, absent = domain
            cls = type(value)
            if cls is float or cls is int:
                if value < lo or value > hi:
                    return False
                if (lo_open and value == lo) or (value == hi and not hi_closed):
                    return False
                continue
            if value is None:
                if not absent:
                    return False
                continue
            if cls is Interval:
                if not range_meets(domain, value):
                    return False
                continue
        if not _allows(_domain(domain), value):
            return False
    return True


def _allows(domain: Domain, value: Any) -> bool:
    """Whether an event's value, interval or lack of either is in the domain."""
    if value is None:
        return domain.absent
    if type(value) is Interval:
        return domain.meets(value)
    kind = domain.kind
    if kind is None:
        return bool(domain.spans)
    if kind_of(value) is not kind:
        return any(_allows(other, value) for other in domain.others)
    if kind is Kind.TIMESTAMP:
        value = microseconds(value)
    return _in_spans(domain.spans, value) and all(test.holds(value) for test in domain.rest)


def _in_spans(spans: SpanSet, value: Any) -> bool:
    for span in spans:
        lo, hi = span.lo, span.hi
        if lo is not None and (value < lo or (value == lo and span.lo_open)):
            return False  # the spans ascend
        if hi is None or value < hi or (value == hi and not span.hi_open):
            return True
    return False
