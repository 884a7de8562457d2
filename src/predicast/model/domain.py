"""Domains: the states of one attribute that satisfy all of a clause's constraints on it.

A state is *absent* or a value. Written as sets, the two questions that go beyond one value become
simple: a region event satisfies constraints when its interval meets their domain (paper 1,
definition 5, repaired), and one clause covers another when its domains include the other's (paper
1, theorem 2 and paper 2, theorem 1, repaired and extended).

Everything that order can express is a span set, exactly: comparisons, between, in, their
negations, and prefixes (the strings with prefix ``ab`` are those from ``ab`` up to ``ac``). What
is left of the string tests (suffix, contains, like, matches) stays as a list of *rest*
constraints, about which ``includes`` is sound but need not be complete; so do conditions on the
elements of lists, of which only equal ones include each other. *Any* of tests that order
can express is the union of their spans; any that has other tests among its parts is a rest
constraint itself, which covers only itself.

Values of several kinds (any of ``x = 1`` and ``x = 'a'``) are worked out kind by kind: of each, a
constraint of another kind is simply false.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from sys import getsizeof
from typing import Any, Final

from predicast.bounded_cache import remembered
from predicast.model.constraint import Absent, Constraint
from predicast.model.interval import Interval
from predicast.model.operators import BOUNDS, ELEMENTS, JOINED, Operator
from predicast.model.patterns import ANY_ONE, ANY_RUN, LikePattern
from predicast.model.spans import (
    EVERYTHING,
    Span,
    SpanSet,
    complement,
    includes,
    intersection,
    meets,
    span_set,
    united,
)
from predicast.model.values import Kind, microseconds

_LAST_CODE_POINT: Final = 0x10FFFF
_BEFORE_SURROGATES: Final = 0xD7FF
_AFTER_SURROGATES: Final = 0xE000
_MAX_BYTES: Final = 64 << 20  # of domains that are remembered: some 60,000 of the usual ones
# A set of strings is listed to test it member by member; past so many characters in all it is
# treated as unbounded.
_MAX_LISTED: Final = 1 << 22

UNIVERSE: Final[dict[Kind, SpanSet]] = {
    Kind.NUMBER: EVERYTHING,
    Kind.TIMESTAMP: EVERYTHING,
    Kind.STRING: (Span("", None),),
    Kind.BOOLEAN: (Span(0, 2, hi_open=True),),
    Kind.LIST: EVERYTHING,
}


@dataclass(frozen=True, slots=True)
class Domain:
    """Which states satisfy: absence, and the values of one kind (``None``: of every kind).

    ``others`` are the values of further kinds, as domains of one kind each, without absence.
    """

    absent: bool
    kind: Kind | None
    spans: SpanSet
    rest: tuple[Constraint, ...] = ()
    others: tuple[Domain, ...] = ()

    @property
    def cost(self) -> int:
        """For caches: roughly the bytes that it holds."""
        ends = sum(getsizeof(span.lo) + getsizeof(span.hi) for span in self.spans)
        others = sum(other.cost for other in self.others)
        return 200 + 100 * len(self.spans) + ends + bytes_of(self.rest) + others

    def is_empty(self) -> bool:
        return not self.absent and not self.spans

    def by_kind(self) -> Iterator[Domain]:
        """Its values, kind by kind, without absence."""
        if self.spans:
            yield Domain(False, self.kind, self.spans, self.rest)
        yield from self.others

    def meets(self, interval: Interval) -> bool:
        """Whether some point of a region event's interval is in the domain."""
        if self.others:
            return any(domain.meets(interval) for domain in self.by_kind())
        if self.kind is None:
            return bool(self.spans)
        if self.kind not in {Kind.NUMBER, Kind.TIMESTAMP}:
            return False
        if interval.kind not in {self.kind, None}:
            return False
        discrete = self.kind is Kind.TIMESTAMP or interval.is_discrete()
        return meets(self.spans, interval.span(), of_integers=discrete)

    def includes(self, other: Domain) -> bool:
        """Whether every state of the other is one of this; never wrongly true."""
        if other.absent and not self.absent:
            return False
        if not other.spans:
            return True
        if self.others or other.others:
            return all(
                any(mine.includes(theirs) for mine in self.by_kind()) for theirs in other.by_kind()
            )
        if self.kind is None:
            return bool(self.spans)
        if other.kind is not self.kind or not includes(self.spans, other.spans):
            return False
        return all(_implies(other, constraint) for constraint in self.rest)


ANYTHING: Final = Domain(absent=True, kind=None, spans=EVERYTHING)


def bytes_of(constraints: tuple[Constraint, ...]) -> int:
    """Roughly what the constraints hold."""
    total = 200 * len(constraints)
    for constraint in constraints:
        operand: Any = constraint.operand
        if constraint.operator in ELEMENTS:
            total += bytes_of(tuple(operand.constraints()))
            continue
        if constraint.parts:
            total += bytes_of(constraint.parts)
            continue
        parts = (operand.pattern,) if isinstance(operand, LikePattern) else operand
        total += getsizeof(parts)
        if isinstance(parts, tuple):
            total += sum(map(getsizeof, parts))
    return total


@remembered(_MAX_BYTES, lambda arguments, domain: bytes_of(arguments[0]) + domain.cost)
def domain_of(constraints: tuple[Constraint, ...], absent: Absent) -> Domain:
    """The domain of constraints on one attribute, all of which must hold."""
    admits_absence = all(constraint.holds_absent(absent) for constraint in constraints)
    if any(constraint.operator in JOINED for constraint in constraints):
        return _of_every_kind(constraints, admits_absence)
    nothing = Domain(admits_absence, None, ())
    if any(constraint.operator is Operator.ABSENT for constraint in constraints):
        return nothing
    valued = [constraint for constraint in constraints if constraint.kind is not None]
    if not valued:
        return Domain(admits_absence, None, EVERYTHING)
    kind = valued[0].kind
    assert kind is not None
    if any(constraint.kind is not kind for constraint in valued):
        return nothing
    return _of_kind(kind, valued, admits_absence)


def _of_every_kind(constraints: Iterable[Constraint], admits_absence: bool) -> Domain:
    """The domain of constraints of which some have parts, worked out kind by kind."""
    everything = _of_values(constraints, None)
    if everything is not None:  # nothing but presence is asked for
        return Domain(admits_absence, None, EVERYTHING)
    found: list[Domain] = []
    for kind in Kind:
        left = _of_values(constraints, kind)
        if left is not None:
            domain = _of_kind(kind, left, False)
            found += [domain] if domain.spans else []
    if not found:
        return Domain(admits_absence, None, ())
    first, *others = found
    return Domain(admits_absence, first.kind, first.spans, first.rest, tuple(others))


def _of_values(constraints: Iterable[Constraint], kind: Kind | None) -> list[Constraint] | None:
    """What constraints say of values of a kind, ``None`` if that none satisfies them.

    Of a kind that no constraint is about, if none is given: then nothing is left to be said, or no
    value satisfies.
    """
    said: list[Constraint] = []
    for constraint in constraints:
        if constraint.operator is Operator.ALL:
            inner = _of_values(constraint.parts, kind)
            if inner is None:
                return None
            said += inner
        elif constraint.operator is Operator.ANY:
            satisfied = [
                each for p in constraint.parts if (each := _of_values((p,), kind)) is not None
            ]
            if not satisfied:
                return None
            if [] not in satisfied:
                ways = [
                    Constraint(constraint.attribute, Operator.ALL, tuple(each))
                    for each in satisfied
                ]
                said.append(Constraint(constraint.attribute, Operator.ANY, tuple(ways)))
        elif constraint.operator is not Operator.EXISTS:
            if constraint.kind is None or constraint.kind is not kind:
                return None
            said.append(constraint)
    return said


def _of_kind(kind: Kind, constraints: Iterable[Constraint], admits_absence: bool) -> Domain:
    """The domain of constraints on values of one kind, which others do not satisfy."""
    spans = UNIVERSE[kind]
    rest: list[Constraint] = []
    for constraint in _simplified(constraints):
        ordered = spans_of(constraint)
        if ordered is None:
            rest.append(constraint)
        else:
            spans = intersection(spans, ordered)
    domain = Domain(admits_absence, kind, spans, tuple(rest))
    return _without_contradictions(domain) if rest else domain


def _without_contradictions(domain: Domain) -> Domain:
    """The same domain, its spans emptied or thinned where the rest constraints say so."""
    members = _members(domain.spans)
    if members is not None:
        kept = [text for text in members if all(test.holds(text) for test in domain.rest)]
        return Domain(domain.absent, domain.kind, span_set(_points(kept)), domain.rest)
    if any(_implies(domain, constraint.negated()) for constraint in domain.rest):
        return Domain(domain.absent, domain.kind, ())
    return domain


def spans_of(constraint: Constraint) -> SpanSet | None:
    """The constraint as a span set, or ``None`` if order cannot express it."""
    operand: Any = constraint.operand
    if constraint.operator in BOUNDS:
        return span_set([_bounded(constraint)])
    match constraint.operator:
        case Operator.IN:
            return span_set(_points(operand))
        case Operator.PREFIX:
            return (Span(operand, after_prefix(operand), False, True),)
        case Operator.CONTAINS | Operator.SUFFIX if not operand:
            return UNIVERSE[Kind.STRING]
        case Operator.NOT_CONTAINS | Operator.NOT_SUFFIX if not operand:
            return ()
        case Operator.ANY | Operator.ALL:
            return _joined_spans(constraint)
        case Operator.NE | Operator.NOT_IN | Operator.NOT_BETWEEN | Operator.NOT_PREFIX:
            opposite = spans_of(constraint.negated())
        case _:
            return None
    assert opposite is not None and constraint.kind is not None
    return intersection(complement(opposite), UNIVERSE[constraint.kind])


def _joined_spans(constraint: Constraint) -> SpanSet | None:
    """Any or all of constraints of one kind, if order can express each of them."""
    sets = []
    for part in constraint.parts:
        # A LIKE that is not exactly what it implies is among the things it is made into.
        alike = [spans_of(each) for each in _simplified((part,))]
        if None in alike or not alike:
            return None
        sets.append(reduce(intersection, (each for each in alike if each is not None)))
    return united(sets) if constraint.operator is Operator.ANY else reduce(intersection, sets)


def _points(values: Iterable[Any]) -> Iterator[Span]:
    return (_point(value) for value in values)


def _point(value: Any) -> Span:
    """The span of one value; half-open where values have successors."""
    successor = _successor(value)
    return Span(value, value) if successor is None else Span(_scalar(value), successor, False, True)


def _bounded(constraint: Constraint) -> Span:
    """The values between the ends that the operator sets."""
    operand: Any = constraint.operand
    operands = operand if isinstance(operand, tuple) else (operand,)
    assert constraint.kind is not None
    (span,) = UNIVERSE[constraint.kind]
    lo, lo_open, hi, hi_open = span.lo, span.lo_open, span.hi, span.hi_open
    for is_lower, which, is_open in BOUNDS[constraint.operator]:
        end, successor = _scalar(operands[which]), _successor(operands[which])
        if is_lower:
            lo, lo_open = (end, is_open) if successor is None or not is_open else (successor, False)
        else:
            hi, hi_open = (end, is_open) if successor is None or is_open else (successor, True)
    return Span(lo, hi, lo_open, hi_open)


def _successor(value: Any) -> Any:
    """The next value, as spans write it; ``None`` for numbers, which have none."""
    if isinstance(value, str):
        return value + "\0"
    return _scalar(value) + 1 if isinstance(value, bool | datetime) else None


def _scalar(value: Any) -> Any:
    if isinstance(value, datetime):
        return microseconds(value)
    return int(value) if isinstance(value, bool) else value


def after_prefix(prefix: str) -> str | None:
    """The first string after all those with the prefix; ``None`` if nothing comes after."""
    for end in range(len(prefix) - 1, -1, -1):
        code = ord(prefix[end])
        if code < _LAST_CODE_POINT:
            following = _AFTER_SURROGATES if code == _BEFORE_SURROGATES else code + 1
            return prefix[:end] + chr(following)
    return None


def _common_prefix(span: Span) -> str:
    """The longest prefix that all strings of a span share."""
    lo: str = span.lo
    together = enumerate(zip(lo, span.hi or "", strict=False))
    at_most = min(len(lo), len(span.hi or ""))
    shared = next((place for place, (a, b) in together if a != b), at_most)
    # One character more if the span ends where the strings with that one end, or never ends and
    # there is no later character; the last character behind it makes no difference.
    if shared < len(lo) and after_prefix(lo[: shared + 1]) == span.hi:
        behind = lo[shared + 1 :]
        shared += 1 + len(behind) - len(behind.lstrip(chr(_LAST_CODE_POINT)))
    return lo[:shared]


def _members(spans: SpanSet) -> list[str] | None:
    """The strings of a finite span set, or ``None`` if it is infinite."""
    members: list[str] = []
    room = _MAX_LISTED
    for span in spans:
        # From s up to s + '\0' * k there are k strings; every other span has infinitely many.
        if span.hi is None or span.hi.rstrip("\0") != span.lo.rstrip("\0"):
            return None
        count = len(span.hi) - len(span.lo)
        room -= count * len(span.hi)
        if room < 0:
            return None
        members.extend(span.lo + "\0" * extra for extra in range(count))
    return members


def _simplified(constraints: Iterable[Constraint]) -> Iterator[Constraint]:
    """LIKE patterns as the plainer constraints that they equal or imply."""
    for constraint in constraints:
        pattern = constraint.operand
        if not isinstance(pattern, LikePattern):
            yield constraint
            continue
        positive = constraint.operator is Operator.LIKE
        plainer, exact = _plainer(constraint.attribute, pattern)
        if not exact:
            yield constraint
        if positive:
            yield from plainer
        elif exact:
            yield plainer[0].negated()


def _plainer(attribute: str, pattern: LikePattern) -> tuple[list[Constraint], bool]:
    """What a LIKE pattern implies, and whether that one constraint says all of it."""
    parts: list[Any] = []
    for part in pattern.parts():
        if part is not ANY_RUN or not parts or parts[-1] is not ANY_RUN:
            parts.append(part)
    if not parts:
        return [Constraint(attribute, Operator.EQ, "")], True
    implied = []
    for position, part in enumerate(parts):
        if not isinstance(part, str):
            continue
        first, last = position == 0, position == len(parts) - 1
        if first and last:
            operator = Operator.EQ
        elif first:
            operator = Operator.PREFIX
        else:
            operator = Operator.SUFFIX if last else Operator.CONTAINS
        implied.append(Constraint(attribute, operator, part))
    if parts == [ANY_RUN]:
        implied.append(Constraint(attribute, Operator.PREFIX, ""))
    exact = len(implied) == 1 and ANY_ONE not in parts
    return implied, exact


def _implies(domain: Domain, constraint: Constraint) -> bool:
    """Whether all strings of a non-empty domain satisfy the constraint; never wrongly true."""
    members = _members(domain.spans)
    if members is not None:
        return all(
            constraint.holds(text)
            for text in members
            if all(test.holds(text) for test in domain.rest)
        )
    known = domain.rest
    if constraint in known:
        return True
    text: Any = constraint.operand
    match constraint.operator:
        case Operator.SUFFIX:
            return text == "" or any(
                end.endswith(text) for end in _operands(known, Operator.SUFFIX)
            )
        case Operator.CONTAINS:
            return (
                all(text in _common_prefix(span) for span in domain.spans)
                or any(text in part for part in _operands(known, Operator.CONTAINS))
                or any(text in end for end in _operands(known, Operator.SUFFIX))
            )
        case Operator.NOT_SUFFIX:
            return any(text.endswith(end) for end in _operands(known, Operator.NOT_SUFFIX)) or any(
                not end.endswith(text) and not text.endswith(end)
                for end in _operands(known, Operator.SUFFIX)
            )
        case Operator.NOT_CONTAINS:
            return any(part in text for part in _operands(known, Operator.NOT_CONTAINS))
    return False


def _operands(constraints: Iterable[Constraint], operator: Operator) -> Iterator[Any]:
    return (each.operand for each in constraints if each.operator is operator)
