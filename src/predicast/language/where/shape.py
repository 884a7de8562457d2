"""Shapes: expressions whose literals are still to come.

Subscriptions are many and their shapes are few: ``price < 10 AND symbol = 'IBM'`` differs from a
million others only in its literals. So the parser makes *templates*, constraints without their
literals, and a ``Shape`` holds them normalised; filling in literals gives a subscription. A
parameter is a literal without a text: its value comes from the caller, and only
``predicast.language.parameters`` makes templates that have one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import isfinite
from operator import itemgetter
from typing import Any, Final, Protocol, TypeAlias

from predicast.bounded_cache import BoundedCache
from predicast.errors import InvalidValueError
from predicast.language.class_tests import class_members
from predicast.language.where import literals
from predicast.model import Constraint, Kind, LikePattern, Operator, Subscription, Value
from predicast.model.clause import trusted_clause
from predicast.model.constraint import (
    canonical_like,
    canonical_value,
    check_regex,
    sorted_set,
    trusted_constraint,
)
from predicast.model.decimals import ExactDecimal
from predicast.model.expression import Node, leaves_of, mapped
from predicast.model.folding import equal_to_any
from predicast.model.normal_form import NormalClause, normalised, subscription_from
from predicast.model.operators import ELEMENTS, JOINED, LIKE, RANGE, REGEX, SET
from predicast.model.outline import Outline, Stated, outlined
from predicast.model.values import canonical_number

Convert: TypeAlias = Callable[[str], Value]
Number: TypeAlias = int | float | ExactDecimal

_FEW_PARTS: Final = 8  # by which any and all are told apart; with more, by what object they are
_SURE_DIGITS: Final = 19  # any number of fewer digits fits into 64 bits


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal of the text: where it stands, and what makes a value of that piece of text."""

    start: int
    end: int
    convert: Convert
    kind: Kind | None  # a parameter's is its value's
    parameter: str | None = None


@dataclass(frozen=True, slots=True)
class ConstraintTemplate:
    """A constraint on one attribute whose operand is made of literals."""

    attribute: str
    operator: Operator
    literals: tuple[Literal, ...]
    start: int
    # Where the text computes: literals there are part of the attribute's name, or of a constant.
    fixed: tuple[tuple[int, int], ...] = ()
    parts: tuple[ConstraintTemplate, ...] = ()  # what any and all join; the literals are theirs
    size: int = 1  # how many tests it is made of
    element: Node[ConstraintTemplate] | None = None  # what one is to match; the literals are its
    names_class: bool = False  # whether it is one of the names of the class that its literal names

    def negated(self) -> ConstraintTemplate:
        return ConstraintTemplate(
            self.attribute,
            self.operator.negation,
            self.literals,
            self.start,
            self.fixed,
            tuple([part.negated() for part in self.parts]),
            self.size,
            self.element,
            self.names_class,
        )

    def depends_on_classes(self) -> bool:
        """Whether it takes an ontology to know what it says."""
        within = self.parts if self.element is None else leaves_of(self.element)
        return self.names_class or any(each.depends_on_classes() for each in within)

    def joined(
        self, operator: Operator, others: Sequence[ConstraintTemplate]
    ) -> ConstraintTemplate:
        """Any or all of this and others, each once."""
        flat = [
            each
            for part in (self, *others)
            for each in (part.parts if part.operator is operator else (part,))
        ]
        parts = {each.place(): each for each in flat}.values()
        if len(parts) == 1:
            return self
        return ConstraintTemplate(
            self.attribute,
            operator,
            tuple([literal for each in parts for literal in each.literals]),
            min(each.start for each in parts),
            tuple(dict.fromkeys(span for each in parts for span in each.fixed)),
            tuple(parts),
            1 + sum([each.size for each in parts]),
        )

    def place(self) -> tuple[Operator, object]:
        """What tells it apart from others on the attribute: where it stands in the text."""
        if self.parts:
            few = len(self.parts) <= _FEW_PARTS
            return self.operator, tuple([part.place() for part in self.parts]) if few else -id(self)
        return self.operator, self.literals[0].start if self.literals else self.start

    def fill(self, value_of: Callable[[Literal], Value]) -> Constraint:
        """The constraint with every check made, for a text seen for the first time."""
        if self.parts:
            filled = tuple([part.fill(value_of) for part in self.parts])
            return Constraint(self.attribute, self.operator, filled)
        if self.element is not None:
            wanted = subscription_from(normalised(self.element), lambda test: test.fill(value_of))
            return Constraint(self.attribute, self.operator, wanted)
        values = [value_of(literal) for literal in self.literals]
        if self.names_class:
            return Constraint(self.attribute, self.operator, class_members(values[0]))
        operand: Any = values[0] if len(values) == 1 else tuple(values)
        if self.operator in SET:
            operand = tuple(values)
        elif self.operator in LIKE:
            operand = LikePattern(*values)  # type: ignore[arg-type]
        elif not values:
            operand = None
        return Constraint(self.attribute, self.operator, operand)


def as_number(text: str) -> Number:
    """A number literal, in range and canonical."""
    if len(text) < _SURE_DIGITS and text.isdigit():
        return int(text)
    return _canonical(literals.number(text))


def as_negative(text: str) -> Number:
    """A number literal behind a minus sign, in range and canonical."""
    return _canonical(_opposite(literals.number(text)))


def as_decimal(text: str) -> Number:
    """A number literal with the suffix of decimals, which is not part of the text."""
    return _canonical(literals.decimal(text))


def as_negative_decimal(text: str) -> Number:
    """The same behind a minus sign."""
    return _canonical(_opposite(literals.decimal(text)))


def as_double(text: str) -> Number:
    """A number literal with the suffix of 64-bit floats, which is not part of the text."""
    return _canonical(float(text))


def as_negative_double(text: str) -> Number:
    """The same behind a minus sign."""
    return _canonical(-float(text))


def as_single(text: str) -> Number:
    """A number literal with the suffix of 32-bit floats, which is not part of the text."""
    return _canonical(literals.single(text))


def as_negative_single(text: str) -> Number:
    """The same behind a minus sign."""
    return _canonical(-literals.single(text))


def _opposite(value: int | float | Decimal) -> int | float | Decimal:
    # A decimal's own minus would round it to the digits of the context.
    return value.copy_negate() if isinstance(value, Decimal) else -value


def _canonical(value: int | float | Decimal) -> Number:
    """The number as constraints spell it; only with its sign is it known which spelling that is."""
    if type(value) is float:
        if not isfinite(value):
            raise InvalidValueError("the number is beyond the range of 64-bit floats")
        return canonical_number(value)
    canonical = canonical_value("literal", Operator.EQ, value)
    assert isinstance(canonical, int | float | ExactDecimal)
    return canonical


def as_string(text: str) -> str:
    """A string literal that is valid Unicode."""
    if text.isascii() and "\\" not in text:
        return literals.string(text)
    value = canonical_value("literal", Operator.EQ, literals.string(text))
    assert isinstance(value, str)
    return value


def as_timestamp(text: str) -> datetime:
    """The string literal behind TIMESTAMP."""
    return literals.timestamp(literals.string(text))


def as_day(text: str) -> datetime:
    """The string literal behind DATE."""
    return literals.day(literals.string(text))


class Costly(Protocol):
    """What caches can account for: ``cost`` is roughly the bytes that it holds."""

    @property
    def cost(self) -> int: ...


# Outlines by what they are filled from, a shape or a text with parameters, and by the types of the
# operands. An entry keeps both alive.
OUTLINES: Final = BoundedCache[tuple[Costly, tuple[type, ...]], Outline](
    32 << 20, lambda key, outline: key[0].cost + outline.cost + 8 * len(key[1])
)


def estimate(text: str, leaves: Sequence[ConstraintTemplate]) -> int:
    """Roughly the bytes of what is made of a text: per test, per literal, per test of a clause."""
    literals = {id(leaf): len(leaf.literals) for leaf in leaves}
    tests = {id(leaf): leaf.size for leaf in leaves}
    made = 1_500 * sum(tests.values()) + 150 * sum(literals.values())
    return 2_000 + len(text) + made + 32 * len(leaves)


class Shape:
    """A normalised template that fills fast, since all but the literals was checked before."""

    __slots__ = ("_clauses", "_constants", "_operands", "converters", "cost", "may_differ", "uses")

    converters: list[Convert]  # of each literal
    may_differ: bool  # whether what is stated depends on the operands
    uses: int  # by texts that were not known to have this shape; an estimate
    cost: int  # for caches: roughly the bytes that it and its text hold

    def __init__(
        self, clauses: list[NormalClause[ConstraintTemplate]], text: str, slots: Sequence[int]
    ) -> None:
        index = {start: position for position, start in enumerate(slots)}
        converters: list[Convert] = [str] * len(slots)
        constants: list[Value] = []
        # Distributing AND over OR repeats a test in many clauses; they share what fills it.
        stated = in_places(clauses)
        leaves = {id(leaf): leaf for leaf in stated}
        for template in leaves.values():
            for literal in template.literals:
                place = index.get(literal.start)
                if place is not None and place < len(slots):
                    converters[place] = literal.convert
                elif place is None:  # a test and its negation share a constant
                    index[literal.start] = len(slots) + len(constants)
                    constants.append(literal.convert(text[literal.start : literal.end]))
        self.converters = converters
        self.uses = 0
        self._constants = constants
        fillers = {key: _filler(leaf, index) for key, leaf in leaves.items()}
        self._clauses: list[tuple[list[Filler], Node[Filler] | None]] = [
            (
                [fillers[id(leaf)] for leaf in tests],
                None if rest is None else mapped(rest, lambda leaf: fillers[id(leaf)]),
            )
            for tests, rest in clauses
        ]
        self.may_differ = _may_differ(clauses)
        places = {key: _places(leaf, index) for key, leaf in leaves.items()}
        self._operands = _all_at_once([place for leaf in stated for place in places[id(leaf)]])
        self.cost = estimate(text, stated)

    def fill(self, texts: Sequence[str]) -> Subscription:
        """The subscription with these literals, given as text in order of appearance."""
        return self._filled(self._values(texts))

    def outlined(self, texts: Sequence[str]) -> Stated:
        """The outline and the operands of that subscription, without making it."""
        values = self._values(texts)
        if self.may_differ:
            return outlined(self._filled(values))
        operands = self._operands(values)
        # A shape's outline depends on which of its numbers are integers and which are floats.
        key = self, tuple(map(type, operands))
        try:
            outline = OUTLINES[key]
        except KeyError:
            outline = OUTLINES.put(key, outlined(self._filled(values)).outline)
        return Stated(outline, operands)

    def operands(self, values: list[Value]) -> tuple[Any, ...]:
        """The operands, given what the literals stand for, which is added to."""
        values += self._constants
        return self._operands(values)

    def _values(self, texts: Sequence[str]) -> list[Value]:
        values = [convert(text) for convert, text in zip(self.converters, texts, strict=True)]
        values += self._constants
        return values

    def _filled(self, values: list[Value]) -> Subscription:
        clauses = [
            trusted_clause(
                tuple([fill(values) for fill in tests]),
                None if rest is None else mapped(rest, lambda fill: fill(values)),
            )
            for tests, rest in self._clauses
        ]
        return Subscription.of(clauses) if self.may_differ else Subscription(tuple(clauses))


_Place: TypeAlias = int | Callable[[list[Value]], Any]


def in_places(clauses: Sequence[NormalClause[ConstraintTemplate]]) -> list[ConstraintTemplate]:
    """All tests of the clauses, then those of their rests, as the places of an outline are."""
    tests = [test for clause in clauses for test in clause.tests]
    for clause in clauses:
        if clause.rest is not None:
            tests += leaves_of(clause.rest)
    return tests


def _places(template: ConstraintTemplate, index: dict[int, int]) -> list[_Place]:
    """How the values of a text's literals become operands of a constraint: by position, or made."""
    operator = template.operator
    positions = [index[literal.start] for literal in template.literals]
    if operator in SET:
        return [lambda values: sorted_set([values[p] for p in positions])]
    if operator in LIKE | REGEX | JOINED | ELEMENTS:
        fill = _filler(template, index)
        return [lambda values: fill(values).operand]
    return [*positions]


def _all_at_once(places: list[_Place]) -> Callable[[list[Value]], tuple[Any, ...]]:
    """One function for all the operands of a subscription."""
    if len(places) > 1 and all(isinstance(place, int) for place in places):
        return itemgetter(*places)
    get = [itemgetter(place) if isinstance(place, int) else place for place in places]
    return lambda values: tuple([each(values) for each in get])


def _may_repeat(clauses: Sequence[NormalClause[ConstraintTemplate]]) -> bool:
    """Whether some literals could make two constraints of a clause, or two clauses, equal."""
    tests = [[(leaf.attribute, leaf.operator.value) for leaf in clause.tests] for clause in clauses]
    if any(len(set(clause)) < len(clause) for clause in tests):
        return True
    return len({tuple(sorted(clause)) for clause in tests}) < len(tests)


def _subscription_filler(
    element: Node[ConstraintTemplate], index: dict[int, int]
) -> Callable[[list[Value]], Subscription]:
    """A function from the values of a text's literals to what elements of a list are to match."""
    clauses = normalised(element)
    fillers = {id(leaf): _filler(leaf, index) for leaf in in_places(clauses)}
    if _may_differ(clauses) or any(clause.rest is not None for clause in clauses):
        return lambda values: subscription_from(clauses, lambda leaf: fillers[id(leaf)](values))
    makers = [[fillers[id(leaf)] for leaf in clause.tests] for clause in clauses]
    return lambda values: Subscription(
        tuple([trusted_clause(tuple([fill(values) for fill in each])) for each in makers])
    )


def _may_differ(clauses: list[NormalClause[ConstraintTemplate]]) -> bool:
    """Whether what is stated depends on the operands.

    What any and all come to does, and so does what is said twice.
    """
    return _may_repeat(clauses) or any(leaf.parts for leaf in in_places(clauses))


def _kind_of_equalities(template: ConstraintTemplate) -> Kind | None:
    """The kind of value of which it is any, if it is nothing else."""
    if template.operator is not Operator.ANY:
        return None
    if not all(part.operator in {Operator.EQ, Operator.IN} for part in template.parts):
        return None
    kinds = {literal.kind for literal in template.literals}
    return kinds.pop() if len(kinds) == 1 else None


Filler: TypeAlias = Callable[[list[Value]], Constraint]


def _filler(template: ConstraintTemplate, index: dict[int, int]) -> Filler:
    """A function from the values of a text's literals to the constraint; checks what is left."""
    attribute, operator = template.attribute, template.operator
    if template.element is not None:
        wanted = _subscription_filler(template.element, index)
        return lambda values: trusted_constraint(attribute, operator, wanted(values), Kind.LIST)
    positions = [index[literal.start] for literal in template.literals]
    if template.parts:
        kind_of_all = _kind_of_equalities(template)
        if kind_of_all is not None:
            return lambda values: equal_to_any(
                attribute, kind_of_all, [values[p] for p in positions]
            )
        fillers = [_filler(part, index) for part in template.parts]
        return lambda values: Constraint(
            attribute, operator, tuple([fill(values) for fill in fillers])
        )
    if operator in SET:
        of_kind = template.literals[0].kind
        return lambda values: trusted_constraint(
            attribute, operator, sorted_set([values[p] for p in positions]), of_kind
        )
    if operator in LIKE:
        return lambda values: trusted_constraint(
            attribute,
            operator,
            canonical_like(attribute, operator, LikePattern(*[values[p] for p in positions])),  # type: ignore[arg-type]
            Kind.STRING,
        )
    if not positions:
        return lambda values: trusted_constraint(attribute, operator, None, None)
    kind = template.literals[0].kind
    first, last = positions[0], positions[-1]
    if operator in RANGE:
        return lambda values: trusted_constraint(
            attribute, operator, (values[first], values[last]), kind
        )
    if operator in REGEX:

        def fill_regex(values: list[Value]) -> Constraint:
            check_regex(attribute, operator, values[first])
            return trusted_constraint(attribute, operator, values[first], kind)

        return fill_regex
    return lambda values: trusted_constraint(attribute, operator, values[first], kind)
