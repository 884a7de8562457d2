"""From CESQL to conditions of the model.

What compares an attribute, or something computed, with literals becomes a constraint: on the
attribute itself where nothing but a string could pass, and else on a derived attribute that is the
cast, ``=cesql('INT(hop)')``. So the index finds it. What compares two things that are both up to
the event is a derived attribute that is true or false, ``=cesql('hop < ttl')``.

Attributes have the type that they have in the event, and the right side of ``=`` says what the left
is cast to: ``'5'`` and 5 pass ``hop = 5`` alike, and so do both of them ``hop = '5'``.

A match is what the specification calls passing a filter (1.2): the expression gives TRUE, as a
boolean and without an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import groupby
from typing import Final

from predicast.derived.cesql.evaluation import REQUIRED, Errors, compiled, like_pattern
from predicast.derived.cesql.printer import text_of
from predicast.derived.cesql.tree import (
    EQUALITIES,
    LOGIC,
    Attribute,
    Chain,
    Exists,
    In,
    Invocation,
    Like,
    Node,
    Scalar,
    Unary,
)
from predicast.derived.cesql.types import is_constant, type_of
from predicast.derived.cesql.values import CASTS, Type, to_boolean
from predicast.language.cloudevents.outcomes import (
    Outcome,
    Sizes,
    all_outcomes,
    any_of,
    any_outcome,
    known,
    of_test,
    one_outcome,
)
from predicast.language.where.printer import DERIVED
from predicast.model import Constraint, Expression, Leaf, LikePattern, Operator
from predicast.model.constraint import Operand
from predicast.model.like import like_test
from predicast.model.values import quote

_COMPARED: Final = {
    "=": Operator.EQ,
    "!=": Operator.NE,
    "<": Operator.LT,
    "<=": Operator.LE,
    ">": Operator.GT,
    ">=": Operator.GE,
}
_TURNED: Final = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CASTS: Final = {Type.STRING: "STRING", Type.INTEGER: "INT", Type.BOOLEAN: "BOOL"}
_TRUTHS: Final = ("true", "false")
# The texts of what is no string begin with these, or are one of the truths.
_FIRST: Final = frozenset("-0123456789")
_WITHIN: Final = frozenset("+-.:0123456789TZE").union(*_TRUTHS)

_MOST: Final = 1 << 14  # constraints that an expression becomes; if they were more, it is computed


def condition_of(node: Node) -> Expression:
    """When an event passes an expression as a filter."""
    if isinstance(node, Attribute):
        return Leaf(Constraint(node.name, Operator.EQ, True))
    if type_of(node) is not Type.BOOLEAN:
        return known(None).is_true
    return outcome_of(node).is_true


def outcome_of(node: Node) -> Outcome:
    """When an expression is true, false, or either, cast to a boolean if it is none."""
    if is_constant(node):
        return _constant(node)
    if type_of(node) is not Type.BOOLEAN:
        return _computed(_cast(node, Type.BOOLEAN))
    match node:
        case Exists(name):
            if name in REQUIRED:
                return known(True)
            there, absent = (_leaf(name, each) for each in (Operator.EXISTS, Operator.ABSENT))
            return Outcome(lambda: there, lambda: absent, lambda: known(True).is_true)
        case Unary("NOT", operand) if type_of(operand) is Type.BOOLEAN:
            return outcome_of(operand).negated()
        case Like(operand, pattern, is_negated):
            return _turned(text_test(operand, Operator.LIKE, like_pattern(pattern)), is_negated)
        case In(operand, elements, is_negated) if all(map(is_constant, elements)):
            return _turned(_in(operand, elements), is_negated)
        case Chain(operands, operators) if operators[0] in LOGIC:
            return _logical(node, operands, operators)
        case Chain((left, right), (operator,)):
            return _compared(node, left, operator, right)
    return _computed(node)


def _turned(outcome: Outcome, is_negated: bool) -> Outcome:
    return outcome.negated() if is_negated else outcome


def _constant(node: Node) -> Outcome:
    value = _value(node)
    return known(None if value is None else to_boolean(value))


def _value(node: Node) -> Scalar | None:
    """What a constant gives, ``None`` for an error."""
    errors: Errors = []
    value: Scalar = compiled(node)(lambda _: None, errors)
    return None if errors else value


def _in_type(value: Scalar, wanted: Type) -> Scalar | None:
    return CASTS[wanted](value)


def _computed(node: Node) -> Outcome:
    """What is true or false by itself, as a derived attribute."""
    return of_test(Constraint(_name(node), Operator.EQ, True))


def _name(node: Node) -> str:
    return derived_name(text_of(node))


def derived_name(text: str) -> str:
    """The name of the derived attribute that a CESQL text makes, which is in its one spelling."""
    return f"{DERIVED}cesql({quote(text)})"


def _cast(node: Node, wanted: Type) -> Node:
    return node if type_of(node) is wanted else Invocation(_CASTS[wanted], (node,))


def _leaf(attribute: str, operator: Operator) -> Expression:
    return Leaf(Constraint(attribute, operator))


# AND, OR, XOR.


def _logical(node: Node, operands: Sequence[Node], operators: Sequence[str]) -> Outcome:
    """From the left, what one operator joins at once."""
    outcome, position = outcome_of(operands[0]), 1
    for operator, group in groupby(operators):
        count = len(list(group))
        others = [outcome_of(each) for each in operands[position : position + count]]
        position += count
        if operator == "XOR":
            outcome = reduce(one_outcome, others, outcome)
        else:
            join = all_outcomes if operator == "AND" else any_outcome
            outcome = join([outcome, *others])
    return outcome.within(_MOST, lambda: _computed(node))


# Comparisons.


def _compared(node: Node, left: Node, operator: str, right: Node) -> Outcome:
    if is_constant(right):
        value = _value(right)
        return known(None) if value is None else _with_value(left, operator, value)
    if not is_constant(left):
        return _computed(node)
    value = _value(left)
    if value is None:
        return known(None)
    if operator not in EQUALITIES:
        return _with_value(right, _TURNED[operator], value)
    wanted = type_of(right)
    if wanted is None:
        assert isinstance(right, Attribute)
        return _turned(_equal_to(right, value), operator == "!=")
    given = _in_type(value, wanted)
    return known(None) if given is None else _with_value(right, operator, given)


def _with_value(subject: Node, operator: str, value: Scalar) -> Outcome:
    """A comparison in which the value is on the right, and says what the subject is cast to."""
    if operator not in EQUALITIES:
        number = _in_type(value, Type.INTEGER)
        if number is None:
            return known(None)
        name = _name(_cast(subject, Type.INTEGER))
        return of_test(Constraint(name, _COMPARED[operator], number))
    if type(value) is bool:
        outcome = outcome_of(subject)  # which is a cast to a boolean, if it is none
        return _turned(outcome, value is (operator == "!="))
    if isinstance(value, str):
        return _turned(text_test(subject, Operator.EQ, value), operator == "!=")
    name = _name(_cast(subject, Type.INTEGER))
    return of_test(Constraint(name, _COMPARED[operator], value))


def text_test(subject: Node, operator: Operator, operand: str | LikePattern) -> Outcome:
    """A test of a subject's text; on the attribute itself, if only strings can pass."""

    def typed() -> Constraint:
        return Constraint(_name(_cast(subject, Type.STRING)), operator, operand)

    if not isinstance(subject, Attribute):
        return of_test(typed())
    name = subject.name

    def is_true() -> Expression:
        if _is_of_strings(operator, operand):
            return Leaf(Constraint(name, operator, operand))
        return Leaf(typed())

    return Outcome(is_true, lambda: Leaf(typed().negated()), lambda: _leaf(name, Operator.EXISTS))


def _is_of_strings(operator: Operator, operand: str | LikePattern) -> bool:
    """Whether no text of a number, a truth or an instant passes."""
    if isinstance(operand, LikePattern):
        return is_pattern_of_strings(operand)
    if operator is Operator.EQ:
        return operand not in _TRUTHS and operand[:1] not in _FIRST
    if operator is Operator.PREFIX:
        is_of_truth = any(each.startswith(operand) for each in _TRUTHS)
        return operand[:1] not in _FIRST and not is_of_truth
    return not _WITHIN.issuperset(operand)


def is_pattern_of_strings(like: LikePattern) -> bool:
    """Whether a pattern matches no text of a number, a truth or an instant."""
    pieces = "".join(part for part in like.parts() if isinstance(part, str))
    if not _WITHIN.issuperset(pieces):
        return True
    if like.pattern[:1] in {"%", "_", ""} or pieces[0] in _FIRST:
        return False
    return not any(map(like_test(like), _TRUTHS))


def _equal_to(subject: Attribute, value: Scalar) -> Outcome:
    """``value = subject``: the value is cast to whatever type the attribute is of."""
    casts = {each: _in_type(value, each) for each in Type}
    there = {each: given for each, given in casts.items() if given is not None}
    return _of_types(subject, Operator.EQ, there)


def _in(subject: Node, elements: Sequence[Node]) -> Outcome:
    """Elements are cast to the subject's type, all of them."""
    values = [_value(each) for each in elements]
    if None in values:
        return known(None)
    if isinstance(subject, Attribute):
        sets = {each: _all_in_type(values, each) for each in Type}
        there = {each: given for each, given in sets.items() if given is not None}
        return _of_types(subject, Operator.IN, there)
    wanted = type_of(subject)
    assert wanted is not None
    given = _all_in_type(values, wanted)
    if given is None:
        return known(None)
    return of_test(Constraint(_name(subject), Operator.IN, given))


def _all_in_type(values: Sequence[Scalar | None], wanted: Type) -> tuple[Scalar, ...] | None:
    given = [None if value is None else _in_type(value, wanted) for value in values]
    return None if None in given else tuple(each for each in given if each is not None)


def _of_types(subject: Attribute, operator: Operator, operands: Mapping[Type, Operand]) -> Outcome:
    """A test of an attribute as it is, with an operand for each type that it may be of."""
    name = _name(subject)
    tests = [Constraint(name, operator, operand) for operand in operands.values()]
    texts = operands[Type.STRING]
    listed = texts if isinstance(texts, tuple) else (texts,)
    if len(tests) == 1 and all(_is_of_strings(Operator.EQ, str(text)) for text in listed):
        is_true: Expression = Leaf(Constraint(subject.name, operator, texts))
    else:
        is_true = any_of([Leaf(each) for each in tests])
    is_false = any_of([Leaf(each.negated()) for each in tests])
    if len(tests) == len(Type):
        is_decided = _leaf(subject.name, Operator.EXISTS)
    else:
        is_decided = any_of([is_true, is_false])
    sizes = Sizes(len(tests), len(tests), 2 * len(tests))
    return Outcome(lambda: is_true, lambda: is_false, lambda: is_decided, sizes)
