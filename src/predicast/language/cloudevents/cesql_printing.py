"""From a subscription to a CESQL text, if there is one that means the same.

A clause is an AND of its tests and a subscription an OR of its clauses. An OR does not look behind
an error, so that an alternative asks first whether the attributes are there that it looks at:
``EXISTS subject AND subject = 'a' OR ...``. Whether the text means the same is not argued: it is
read again, and has to state the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import product
from typing import Final, NoReturn

from predicast.derived import Call, Constant
from predicast.derived.cesql.parser import parse
from predicast.derived.cesql.printer import text_of
from predicast.derived.cesql.tree import (
    Attribute,
    Chain,
    Exists,
    In,
    Invocation,
    Like,
    Literal,
    Node,
    Unary,
    nodes_of,
)
from predicast.derived.cesql.types import type_of
from predicast.derived.cesql.values import Type
from predicast.errors import LanguageError, NotExpressibleError
from predicast.language.cloudevents.translation import condition_of
from predicast.language.derived_names import expression_of, is_derived
from predicast.language.where import to_where
from predicast.model import (
    Clause,
    Constraint,
    Expression,
    Kind,
    Leaf,
    LikePattern,
    Not,
    Operator,
    Or,
    Subscription,
    subscription_of,
)
from predicast.model.patterns import ANY_ONE, ANY_RUN

_COMPARED: Final = {
    **{each: each.value for each in (Operator.EQ, Operator.NE, Operator.LT, Operator.LE)},
    **{each: each.value for each in (Operator.GT, Operator.GE)},
}
_PATTERNS: Final[dict[Operator, Callable[[str], str]]] = {
    Operator.PREFIX: lambda text: f"{_escaped(text)}%",
    Operator.SUFFIX: lambda text: f"%{_escaped(text)}",
    Operator.CONTAINS: lambda text: f"%{_escaped(text)}%",
}
_TRUE: Final = Literal(True)


def cesql_text(subscription: Subscription) -> str:
    """A text that every event passes that matches the subscription, and no other."""
    wanted = stated(subscription)
    for node in _candidates(subscription):
        if stated(subscription_of(condition_of(node))) == wanted:
            return _written(node, subscription)
    refuse(subscription, "what it compares with is not what CESQL would cast an attribute to")


def _candidates(subscription: Subscription) -> Iterator[Node]:
    """Expressions that may mean the same; OR looks at each alternative, so that there are ways."""
    match subscription.clauses:
        case (Clause((Constraint(name, Operator.EQ, True),), None),) if not is_derived(name):
            yield Attribute(name)
    for guarded, apart in product((False, True), repeat=2):
        clauses: list[Node] = []
        for clause in subscription.clauses:
            clauses += _conjunctions(clause, guarded=guarded, apart=apart)
        yield _joined("OR", clauses) if clauses else Literal(False)


def _written(node: Node, subscription: Subscription) -> str:
    try:
        text = text_of(node)
    except LanguageError as error:
        refuse(subscription, error.message)
    assert parse(text) == node
    return text


def stated(subscription: Subscription) -> set[Hashable]:
    """What it says, in whatever order, and with whatever test of a pattern."""
    found: set[Hashable] = set()
    for clause in subscription.clauses:
        rest = None if clause.rest is None else _rest(clause.rest)
        found.add((frozenset(map(_key, clause.constraints)), rest))
    return found


def _key(constraint: Constraint) -> Hashable:
    pattern = _pattern(constraint)
    if pattern is not None:
        is_negated = constraint.operator.value.startswith("not ")
        return constraint.attribute, is_negated, pattern
    if constraint.parts:
        return constraint.operator, frozenset(map(_key, constraint.parts))
    return constraint


def _rest(expression: Expression) -> Hashable:
    if isinstance(expression, Leaf):
        return _key(expression.constraint)
    assert not isinstance(expression, Not), "the rest of a clause has no NOT"
    return type(expression), frozenset(map(_rest, expression.parts))


def refuse(part: Subscription | Clause | Constraint, why: str) -> NoReturn:
    """Say that there is no such expression."""
    shown = to_where(part)
    raise NotExpressibleError(
        f"CESQL has no expression that means {shown}: {why}", dialect="cesql", part=shown
    )


def _conjunctions(clause: Clause, *, guarded: bool, apart: bool) -> Iterator[Node]:
    """A clause, or ``apart`` one for each value that its only test lists."""
    match clause:
        case Clause((Constraint(name, Operator.IN, tuple() as values),), None) if apart:
            for value in values:
                yield _test(Constraint(name, Operator.EQ, value))
            return
    parts = [_test(each) for each in clause.constraints]
    if clause.rest is not None:
        parts.append(_expression(clause.rest))
    if guarded:
        parts = [*map(Exists, sorted(set(_attributes(parts)))), *parts]
    yield _joined("AND", parts) if parts else _TRUE


def _attributes(nodes: Iterable[Node]) -> Iterator[str]:
    """The names of the attributes that expressions read."""
    for node in nodes:
        yield from (each.name for each in nodes_of(node) if isinstance(each, Attribute))


def _expression(expression: Expression) -> Node:
    if isinstance(expression, Leaf):
        return _test(expression.constraint)
    assert not isinstance(expression, Not), "the rest of a clause has no NOT"
    parts = [_expression(part) for part in expression.parts]
    return _joined("OR" if isinstance(expression, Or) else "AND", parts)


def _joined(operator: str, parts: Iterable[Node]) -> Node:
    """A chain, in which a part of the same operator would be read into it."""
    found: list[Node] = []
    for part in parts:
        if isinstance(part, Chain) and set(part.operators) == {operator}:
            found += part.operands
        else:
            found.append(part)
    return found[0] if len(found) == 1 else Chain(tuple(found), (operator,) * (len(found) - 1))


def _test(constraint: Constraint) -> Node:
    operator, operand = constraint.operator, constraint.operand
    if operator in {Operator.ANY, Operator.ALL}:
        word = "OR" if operator is Operator.ANY else "AND"
        return _joined(word, map(_test, constraint.parts))
    subject = _uncast(subject_of(constraint), constraint.kind)
    if operator in {Operator.EXISTS, Operator.ABSENT} and isinstance(subject, Attribute):
        exists = Exists(subject.name)
        return exists if operator is Operator.EXISTS else Unary("NOT", exists)
    if type(operand) is bool and type_of(subject) is Type.BOOLEAN and operator is Operator.EQ:
        return subject if operand else Unary("NOT", subject)
    if operator in _COMPARED and isinstance(operand, str | int):
        return Chain((subject, Literal(operand)), (_COMPARED[operator],))
    if operator is Operator.BETWEEN:
        low, high = (Literal(each) for each in _scalars(constraint))
        ends = (Chain((subject, low), (">=",)), Chain((subject, high), ("<=",)))
        return Chain(ends, ("AND",))
    if operator in {Operator.IN, Operator.NOT_IN}:
        elements = tuple(Literal(each) for each in _scalars(constraint))
        return In(subject, elements, operator is Operator.NOT_IN)
    pattern = _pattern(constraint)
    if pattern is not None:
        return Like(subject, pattern, operator.value.startswith("not "))
    refuse(constraint, "it has no such test")


def subject_of(constraint: Constraint) -> Node:
    """What a constraint is about, as CESQL says it."""
    name = constraint.attribute
    if is_derived(name):
        tree = expression_of(name)
        if isinstance(tree, Call) and tree.function == "cesql":
            assert isinstance(tree.arguments[0], Constant)
            return parse(str(tree.arguments[0].value))
    elif name.isascii() and name.isalnum() and name == name.lower():
        return Attribute(name)
    refuse(constraint, "it speaks of attributes named by letters and digits")


def _uncast(subject: Node, kind: Kind | None) -> Node:
    """Without a cast that the comparison makes by itself."""
    match subject:
        case Invocation("STRING", (inner,)) if kind is Kind.STRING:
            return inner
        case Invocation("INT", (inner,)) if kind is Kind.NUMBER:
            return inner
    return subject


def _scalars(constraint: Constraint) -> Iterable[str | int]:
    operand = constraint.operand
    assert isinstance(operand, tuple)
    for each in operand:
        if not isinstance(each, str | int):
            refuse(constraint, "its values are strings, integers and truths")
        yield each


def _pattern(constraint: Constraint) -> str | None:
    operator, operand = constraint.operator, constraint.operand
    plain = operator.negation if operator.value.startswith("not ") else operator
    if plain in _PATTERNS and isinstance(operand, str):
        return _PATTERNS[plain](operand)
    if plain is Operator.LIKE and isinstance(operand, LikePattern):
        signs = {ANY_RUN: "%", ANY_ONE: "_"}
        return "".join(
            _escaped(part) if isinstance(part, str) else signs[part] for part in operand.parts()
        )
    return None


def _escaped(text: str) -> str:
    return text.replace("%", "\\%").replace("_", "\\_")
