"""Filters: what a pattern says of the terms that its variables stand for.

A filter is an expression of AND and OR over tests, without NOT. A test is one of the model's own
constraints (``predicast.model.constraint``) on one *facet* of one variable::

    value       the value of a literal: a number, string, boolean or timestamp
    text        the text of a string, whatever its language
    str         the text of any literal, or the IRI
    language    the language tag of a literal, empty if it has none
    datatype    the IRI of a literal's datatype
    iri         the IRI of a resource that has one
    term        the term as N-Triples writes it

or a comparison of two variables. A facet that a term does not have is absent, and what is asked of
it unknown. That is SPARQL's type error: ``&&``, ``||`` and ``!`` treat errors as the model's logic
treats what is unknown, and both want a filter to be true.

Negation is worked out when a filter is made: every test has one that says the opposite, and is
unknown where the test is.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from predicast.errors import InvalidConstraintError, NestingTooDeepError, shortened
from predicast.graph.names import LANG_STRING
from predicast.graph.terms import Blank, Iri, Literal, Term, Variable
from predicast.model import And, Constraint, Expression, Leaf, Not, Operator, Or, Value
from predicast.model.constraint import MAX_NESTING, Truth, joined_truth
from predicast.model.expression import Node, leaves_of
from predicast.model.values import kind_of


class Facet(enum.Enum):
    """What of a term a test looks at."""

    VALUE = "value"
    TEXT = "text"
    STR = "str"
    LANGUAGE = "language"
    DATATYPE = "datatype"
    IRI = "iri"
    TERM = "term"

    # Enum's own hash is a Python call; members are singletons, so identity will do.
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Bound:
    """What a variable stands for: a term, and the value that it has if it is a literal."""

    term: Term
    value: Value | None = None

    def facet(self, facet: Facet) -> Value | None:
        """A facet of the term, or ``None`` if it has none."""
        return _FACETS[facet](self)


@dataclass(frozen=True, slots=True)
class FacetTest:
    """A constraint on one facet of one variable; its attribute is a name for messages."""

    variable: Variable
    facet: Facet
    constraint: Constraint

    def truth(self, get: Callable[[Variable], Bound | None]) -> Truth:
        """Whether it is true of what the variables stand for, or unknown."""
        bound = get(self.variable)
        return self.constraint.truth(None if bound is None else bound.facet(self.facet))

    def negated(self) -> FacetTest:
        """The test that is true where this one is false, and false where it is true."""
        return FacetTest(self.variable, self.facet, self.constraint.negated())

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (self.variable,)


ORDERINGS: Final = {
    Operator.LT: Operator.GT,
    Operator.LE: Operator.GE,
    Operator.GT: Operator.LT,
    Operator.GE: Operator.LE,
}
COMPARISONS: Final = frozenset({Operator.EQ, Operator.NE, *ORDERINGS})


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of what two variables stand for."""

    left: Variable
    operator: Operator
    right: Variable

    def __post_init__(self) -> None:
        if self.operator not in COMPARISONS:
            raise InvalidConstraintError(
                f"two variables are compared with = != < <= > >=, not {self.operator.value!r}",
                operator=self.operator.value,
            )

    def truth(self, get: Callable[[Variable], Bound | None]) -> Truth:
        """Whether it is true of what the variables stand for, or unknown."""
        left, right = get(self.left), get(self.right)
        if left is None or right is None:
            return None
        if self.operator in ORDERINGS:
            return _ordered(left.value, self.operator, right.value)
        same = _same(left, right)
        return same if same is None or self.operator is Operator.EQ else not same

    def negated(self) -> Comparison:
        """The test that is true where this one is false, and false where it is true."""
        return Comparison(self.left, self.operator.negation, self.right)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (self.left, self.right)


def _ordered(left: Value | None, operator: Operator, right: Value | None) -> Truth:
    if left is None or right is None or kind_of(left) is not kind_of(right):
        return None
    if isinstance(left, bool):
        return None  # in the model, booleans are only equal or not
    return Constraint("value", operator, right).truth(left)


def _same(left: Bound, right: Bound) -> Truth:
    """SPARQL's ``=``: by value where both have one of a kind, otherwise by term."""
    if left.term == right.term:
        return True
    if not isinstance(left.term, Literal) or not isinstance(right.term, Literal):
        return False
    if left.term.language and right.term.language:
        return False
    if left.value is None or right.value is None or kind_of(left.value) is not kind_of(right.value):
        return None  # two literals of which nobody knows whether they mean the same
    return left.value == right.value


Test: TypeAlias = FacetTest | Comparison
FilterExpression: TypeAlias = Node[Test]


@dataclass(frozen=True, slots=True)
class Filter:
    """An expression that must be true, and the variables that it looks at."""

    expression: FilterExpression

    @classmethod
    def of(cls, expression: Expression) -> Filter:
        """From an expression built with ``attr``, in which variables are attributes.

        >>> from predicast import attr
        >>> print(Filter.of((attr("?price") < 400) | ~(attr("language(?name)") == "en")))
        (?price < 400 || language(?name) != 'en')
        """
        return cls(_of_constraints(expression, positive=True))

    def __str__(self) -> str:
        return shown(self.expression)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Each once, in the order in which they are asked."""
        return variables_of(self.expression)

    def holds(self, get: Callable[[Variable], Bound | None]) -> bool:
        """Whether it is true of what the variables stand for."""
        return truth_of(self.expression, get) is True

    def tests(self) -> Iterator[Test]:
        """Its tests, from left to right."""
        return leaves_of(self.expression)


def truth_of(node: FilterExpression, get: Callable[[Variable], Bound | None]) -> Truth:
    """Whether an expression is true, false or unknown."""
    if isinstance(node, Leaf):
        return node.constraint.truth(get)
    assert isinstance(node, And | Or), "negation is worked out when a filter is made"
    return joined_truth((truth_of(part, get) for part in node.parts), decides=isinstance(node, Or))


def _of_constraints(node: Expression, *, positive: bool, depth: int = 1) -> FilterExpression:
    if depth > MAX_NESTING:
        raise NestingTooDeepError(
            f"expressions nest deeper than {MAX_NESTING}", limit=MAX_NESTING, actual=depth
        )
    if isinstance(node, Leaf):
        constraint = node.constraint if positive else node.constraint.negated()
        return Leaf(_of_constraint(constraint))
    if isinstance(node, Not):
        return _of_constraints(node.part, positive=not positive, depth=depth + 1)
    parts = tuple(
        [_of_constraints(part, positive=positive, depth=depth + 1) for part in node.parts]
    )
    return And(parts) if isinstance(node, And) is positive else Or(parts)


def _of_constraint(constraint: Constraint) -> FacetTest:
    named = _ATTRIBUTE.fullmatch(constraint.attribute)
    if named is None:
        facets = ", ".join(facet.value for facet in Facet)
        raise InvalidConstraintError(
            f"in a filter an attribute is a variable such as ?x, or a facet of one such as str(?x) "
            f"({facets}), not {constraint.attribute!r}",
            attribute=constraint.attribute,
        )
    facet = Facet(named["facet"]) if named["facet"] else Facet.VALUE
    return FacetTest(Variable(named["of"] or named["name"]), facet, constraint)


_ATTRIBUTE: Final = re.compile(
    rf"\?(?P<name>\w+)|(?P<facet>{'|'.join(facet.value for facet in Facet)})\(\?(?P<of>\w+)\)"
)


def negated(node: FilterExpression) -> FilterExpression:
    """The expression that is true where this one is false, and unknown where it is."""
    if isinstance(node, Leaf):
        return Leaf(node.constraint.negated())
    assert isinstance(node, And | Or), "negation is worked out when a filter is made"
    parts = tuple([negated(part) for part in node.parts])
    return Or(parts) if isinstance(node, And) else And(parts)


def variables_of(node: FilterExpression) -> tuple[Variable, ...]:
    """The variables that an expression looks at, each once, in the order of its tests."""
    return tuple(dict.fromkeys([name for test in leaves_of(node) for name in test.variables]))


def facet_test(
    variable: Variable, facet: Facet, operator: Operator, operand: object = None
) -> FacetTest:
    """A test of one facet of one variable, with the operand checked."""
    name = str(variable) if facet is Facet.VALUE else f"{facet.value}({variable})"
    return FacetTest(variable, facet, Constraint(name, operator, operand))  # type: ignore[arg-type]


def tested(
    variable: Variable, facet: Facet, operator: Operator, operand: object = None
) -> FilterExpression:
    """An expression of one test."""
    return Leaf(facet_test(variable, facet, operator, operand))


def equals(variable: Variable, term: Iri | Literal, value: Value | None) -> FilterExpression:
    """``?x = term``, as SPARQL has it."""
    if isinstance(term, Iri):
        return tested(variable, Facet.IRI, Operator.EQ, term.value)
    if term.language:
        language = tested(variable, Facet.LANGUAGE, Operator.EQ, term.language)
        return And((language, tested(variable, Facet.TEXT, Operator.EQ, term.text)))
    if value is None:
        return tested(variable, Facet.TERM, Operator.EQ, str(term))
    return tested(variable, Facet.VALUE, Operator.EQ, value)


def differs(variable: Variable, term: Iri | Literal, value: Value | None) -> FilterExpression:
    """``?x != term``: what is no literal differs from every one, and no IRI from every IRI."""
    if isinstance(term, Iri):
        absent = tested(variable, Facet.IRI, Operator.ABSENT)
        return Or((absent, tested(variable, Facet.IRI, Operator.NE, term.value)))
    absent = tested(variable, Facet.LANGUAGE, Operator.ABSENT)
    if term.language:
        language = tested(variable, Facet.LANGUAGE, Operator.EQ, term.language)
        other_text = And((language, tested(variable, Facet.TEXT, Operator.NE, term.text)))
        others = tested(variable, Facet.LANGUAGE, Operator.NOT_IN, ("", term.language))
        return Or((absent, others, other_text))
    if value is None:
        return absent  # whether another literal means the same is unknown
    return Or((absent, tested(variable, Facet.VALUE, Operator.NE, value)))


def shown(node: FilterExpression) -> str:
    """The expression for people to read."""
    if isinstance(node, Leaf):
        test = node.constraint
        if isinstance(test, Comparison):
            return f"{test.left} {test.operator.value} {test.right}"
        asked = test.constraint
        operand = "" if asked.operand is None else f" {shortened(asked.operand)}"
        return f"{asked.attribute} {asked.operator.value}{operand}"
    assert isinstance(node, And | Or), "negation is worked out when a filter is made"
    if not node.parts:
        return "true" if isinstance(node, And) else "false"
    word = " && " if isinstance(node, And) else " || "
    return f"({word.join([shown(part) for part in node.parts])})"


def _text(bound: Bound) -> Value | None:
    term = bound.term
    if isinstance(term, Literal) and (term.datatype == LANG_STRING or isinstance(bound.value, str)):
        return term.text
    return None


def _str(bound: Bound) -> Value | None:
    match bound.term:
        case Literal(text):
            return text
        case Iri(value):
            return value
        case Blank():
            return None


_FACETS: Final[dict[Facet, Callable[[Bound], Value | None]]] = {
    Facet.VALUE: lambda bound: bound.value,
    Facet.TEXT: _text,
    Facet.STR: _str,
    Facet.LANGUAGE: lambda b: b.term.language if isinstance(b.term, Literal) else None,
    Facet.DATATYPE: lambda b: b.term.datatype if isinstance(b.term, Literal) else None,
    Facet.IRI: lambda b: b.term.value if isinstance(b.term, Iri) else None,
    Facet.TERM: lambda b: str(b.term),
}
