"""All that a clause says about one attribute, as a tree of tests.

Numbers, timestamps and booleans are spans, whatever ANY and ALL make of them: one test of codes for
each kind, which also holds for the regions that it should. Strings are spans as far as order goes.
Patterns are other tests, and *one* of them however many alternatives there are: of any of 500
substrings it is known per word whether one occurs (``patterns/``), and a clause looks that up. So
is the negation of any of them, which asks for a string on top. Only what mixes these under OR is
left as a tree. Conditions on the elements of a list are other tests, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from predicast.matching.columnar.compile.axes import IS_CLEAR, IS_SET, SCALES, AxisName, Scale
from predicast.matching.columnar.compile.coded_tests import Other
from predicast.matching.columnar.compile.trees import (
    ANYTHING,
    NOTHING,
    Coded,
    Every,
    Tree,
    every,
    some,
)
from predicast.model import Absent, Constraint, Kind, Operator
from predicast.model.constraint import joined_constraint
from predicast.model.decimals import ExactDecimal, order_text
from predicast.model.domain import UNIVERSE, Domain, domain_of, spans_of
from predicast.model.operators import ELEMENTS
from predicast.model.spans import Span

PATTERNS: Final = frozenset(
    {Operator.SUFFIX, Operator.CONTAINS, Operator.LIKE, Operator.MATCHES}
)  # what order cannot express
_NEGATED: Final = frozenset(pattern.negation for pattern in PATTERNS)
# What may be an alternative of a pattern, so that one look decides all of them.
_ALTERNATIVES: Final = PATTERNS | {Operator.EQ, Operator.IN, Operator.PREFIX}


def condition_tree(attribute: str, group: tuple[Constraint, ...], absent: Absent) -> Tree:
    """What constraints on one attribute, all of which must hold, ask for."""
    if len(group) == 1 and group[0].operator in ELEMENTS:
        return _list_tree(group[0])  # which some list satisfies, or might: no need to look
    domain = domain_of(group, absent)
    presence = AxisName(attribute, Scale.PRESENCE)
    there, lacking = Coded(presence, (IS_SET,)), Coded(presence, (IS_CLEAR,))
    if not domain.spans:
        return lacking if domain.absent else NOTHING
    if domain.kind is None:
        return ANYTHING if domain.absent else there
    kinds = (domain, *domain.others)
    if any(map(_is_asked, kinds)):
        return Other(attribute, group, inverted=False)
    tree = some(_values_tree(attribute, each, absent) for each in kinds)
    if absent == "passes":  # which every test of values does
        return tree if domain.absent else every((there, tree))
    return some((lacking, tree)) if domain.absent else tree


def _is_asked(domain: Domain) -> bool:
    """Whether only some of several spans count for some intervals: those over integers."""
    return (
        domain.kind is Kind.NUMBER
        and len(domain.spans) > 1
        and any(span.is_empty_of_integers() for span in domain.spans)
    )


def _values_tree(attribute: str, domain: Domain, absent: Absent) -> Tree:
    """What is asked of the values of one kind."""
    assert domain.kind is not None
    if domain.kind is Kind.STRING:
        return _strings_tree(attribute, domain, absent)
    if domain.kind is Kind.LIST:
        return every((_is_list(attribute), *map(_list_tree, domain.rest)))
    scale, spans = SCALES[domain.kind], domain.spans
    if domain.kind is Kind.NUMBER and any(map(_is_exact, spans)):
        scale, spans = Scale.EXACT, tuple(map(_as_texts, spans))
    coded = Coded(AxisName(attribute, scale), spans)
    if domain.kind is Kind.NUMBER and domain.spans[0].is_empty_of_integers():
        return every((Coded(AxisName(attribute, Scale.DISCRETE), (IS_CLEAR,)), coded))
    return coded


def _is_exact(span: Span) -> bool:
    return type(span.lo) is ExactDecimal or type(span.hi) is ExactDecimal


def _as_texts(span: Span) -> Span:
    """A span of numbers as one of the texts that sort like them, half-open as those of strings."""
    lo = None if span.lo is None else order_text(span.lo) + "\0" * span.lo_open
    hi = None if span.hi is None else order_text(span.hi) + "\0" * (not span.hi_open)
    return Span(lo, hi, False, True)


# Lists.


def _is_list(attribute: str) -> Coded:
    return Coded(AxisName(attribute, Scale.LIST), (IS_SET,))


def _list_tree(constraint: Constraint) -> Tree:
    """What one constraint on lists asks for."""
    attribute, parts = constraint.attribute, constraint.parts
    if constraint.operator is Operator.ALL:
        return every(map(_list_tree, parts))
    if constraint.operator is Operator.ANY:
        return some(map(_list_tree, parts))
    if constraint.operator is Operator.HAS:
        return Other(attribute, (constraint,), inverted=False)
    return every((_is_list(attribute), Other(attribute, (constraint.negated(),), inverted=True)))


# Strings.


def _strings_tree(attribute: str, domain: Domain, absent: Absent) -> Tree:
    # Of two patterns that are the same each would be taken for what the other implies.
    rest, spans = list(dict.fromkeys(domain.rest)), domain.spans
    for like in [each for each in rest if each.operator is Operator.LIKE]:
        alone = domain_of((like,), absent)
        rest = [each for each in rest if each is like or each not in alone.rest]
        if spans == alone.spans:  # which the pattern implies
            spans = UNIVERSE[Kind.STRING]
    return _all_of(attribute, rest, [Coded(AxisName(attribute, Scale.STRING), spans)])


def _all_of(attribute: str, parts: Iterable[Constraint], trees: Sequence[Tree] = ()) -> Tree:
    """What constraints on strings ask for, all of which must hold, and other trees besides."""
    straight = list(trees)
    negated: list[Constraint] = []
    for part in parts:
        if part.operator in _NEGATED:
            negated.append(part.negated())
        else:
            straight.append(_string_tree(part))
    if negated:
        any_of = joined_constraint(attribute, Operator.ANY, tuple(negated))
        straight += [_is_string(attribute), Other(attribute, (any_of,), inverted=True)]
    found = every(straight)
    if not isinstance(found, Every):
        return found
    # That it is a string need not be said where something else implies it.
    telling = [part for part in found.parts if part != _is_string(attribute)]
    return every(telling) if any(map(_implies_string, telling)) else found


def _is_string(attribute: str) -> Coded:
    return Coded(AxisName(attribute, Scale.STRING), UNIVERSE[Kind.STRING])


def _implies_string(tree: Tree) -> bool:
    if isinstance(tree, Other):
        return not tree.inverted
    return isinstance(tree, Coded) and tree.axis.scale is Scale.STRING


def _string_tree(constraint: Constraint) -> Tree:
    """What one constraint on strings asks for."""
    attribute = constraint.attribute
    if constraint.operator in PATTERNS:
        return Other(attribute, (constraint,), inverted=False)
    if constraint.operator is Operator.ALL:
        return _all_of(attribute, constraint.parts)
    if constraint.operator in _NEGATED:
        return _all_of(attribute, (constraint,))
    if constraint.operator is Operator.ANY:
        return some(_any_of(constraint))
    spans = spans_of(constraint)
    assert spans is not None
    return Coded(AxisName(attribute, Scale.STRING), spans) if spans else NOTHING


def _any_of(constraint: Constraint) -> Iterator[Tree]:
    alternatives = [part for part in constraint.parts if part.operator in _ALTERNATIVES]
    if any(part.operator in PATTERNS for part in alternatives):
        any_of = joined_constraint(constraint.attribute, Operator.ANY, tuple(alternatives))
        yield Other(constraint.attribute, (any_of,), inverted=False)
    else:
        yield from map(_string_tree, alternatives)
    for part in constraint.parts:
        if part.operator not in _ALTERNATIVES:
            yield _string_tree(part)
