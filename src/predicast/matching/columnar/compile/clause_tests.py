"""A clause as tests that the columnar matcher can run: ranges on axes, sets of ranges, and others.

Everything that order can express becomes a *range* test (one span on an axis) or a *set* test
(several spans on one axis, as for IN and !=). Presence, absence and suffixes are ranges too, on
axes of their own. What is left (substrings, general LIKE, regular expressions) becomes an *other*
test: the constraints themselves, resolved once per distinct value of a batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from predicast.matching.columnar.compile.axes import IS_CLEAR, IS_SET, SCALES, AxisName, Scale
from predicast.matching.columnar.compile.coded_tests import Other
from predicast.model import Absent, Clause, Constraint, Kind, Operator
from predicast.model.decimals import ExactDecimal, order_text
from predicast.model.domain import Domain, after_prefix, domain_of
from predicast.model.spans import Span, SpanSet

_NEGATED: Final = frozenset({Operator.NOT_CONTAINS, Operator.NOT_LIKE, Operator.NOT_MATCHES})

# A range on a flag axis is given as codes, on any other axis as a span.
Range: TypeAlias = tuple[AxisName, Span | tuple[int, int]]


class ClauseTests(NamedTuple):
    """All tests of one clause; every one must hold."""

    ranges: list[Range]
    sets: list[tuple[AxisName, SpanSet]]
    others: list[Other]


def compiled_tests(clause: Clause, absent: Absent) -> ClauseTests | None:
    """The tests of a clause, or ``None`` if no event can match it."""
    tests = ClauseTests([], [], [])
    for attribute, group in clause.by_attribute().items():
        domain = domain_of(group, absent)
        if domain.is_empty():
            return None
        presence = AxisName(attribute, Scale.PRESENCE)
        if not domain.spans:
            tests.ranges.append((presence, IS_CLEAR))
        elif domain.kind is None:
            tests.ranges.append((presence, IS_SET))
        else:
            _add_valued(tests, attribute, group, domain)
            if absent == "passes" and not domain.absent:
                tests.ranges.append((presence, IS_SET))
    return tests


def _add_valued(
    tests: ClauseTests, attribute: str, group: tuple[Constraint, ...], domain: Domain
) -> None:
    assert domain.kind is not None
    name = AxisName(attribute, SCALES[domain.kind])
    if domain.kind is Kind.NUMBER and any(span.is_empty_of_integers() for span in domain.spans):
        if len(domain.spans) > 1:  # for some intervals only some of the spans count
            tests.others.append(Other(attribute, group, inverted=False))
            return
        tests.ranges.append((AxisName(attribute, Scale.DISCRETE), IS_CLEAR))
    spans = domain.spans
    if domain.kind is Kind.NUMBER and any(map(_is_exact, spans)):
        name, spans = AxisName(attribute, Scale.EXACT), tuple(map(_as_texts, spans))
    if len(spans) == 1:
        tests.ranges.append((name, spans[0]))
    else:
        tests.sets.append((name, spans))
    for constraint in domain.rest:
        backwards = _reversed_suffix(constraint)
        if backwards is None:
            tests.others.append(_pattern(attribute, constraint))
        elif constraint.operator is Operator.SUFFIX:
            tests.ranges.append((AxisName(attribute, Scale.REVERSED), backwards))
        else:
            tests.sets.append((AxisName(attribute, Scale.REVERSED), tuple(_around(backwards))))


def _is_exact(span: Span) -> bool:
    return type(span.lo) is ExactDecimal or type(span.hi) is ExactDecimal


def _as_texts(span: Span) -> Span:
    """A span of numbers as one of the texts that sort like them, half-open as those of strings."""
    lo = None if span.lo is None else order_text(span.lo) + "\0" * span.lo_open
    hi = None if span.hi is None else order_text(span.hi) + "\0" * (not span.hi_open)
    return Span(lo, hi, False, True)


def _pattern(attribute: str, constraint: Constraint) -> Other:
    """A pattern, or what it negates, so that both are looked for in the same way."""
    if constraint.operator in _NEGATED:
        return Other(attribute, (constraint.negated(),), inverted=True)
    return Other(attribute, (constraint,), inverted=False)


def _reversed_suffix(constraint: Constraint) -> Span | None:
    """The strings that end so, read backwards, as a span."""
    if constraint.operator not in {Operator.SUFFIX, Operator.NOT_SUFFIX}:
        return None
    assert isinstance(constraint.operand, str)
    start = constraint.operand[::-1]
    return Span(start, after_prefix(start), False, True)


def _around(span: Span) -> Iterator[Span]:
    """The strings outside a span."""
    if span.lo:
        yield Span("", span.lo, False, True)
    if span.hi is not None:
        yield Span(span.hi, None)
