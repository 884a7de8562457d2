"""Derived attributes of one event: a tree compiled to functions of Python's own.

A compiled tree takes ``get``, which gives the value of an attribute or ``None``. An attribute that
is an interval is not one value: then there is no derived one (``values_of``). One that is a list
has none either, except for what is said of lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from predicast.derived.functions import FUNCTIONS
from predicast.derived.tree import (
    NOW,
    Call,
    Case,
    Condition,
    Constant,
    Each,
    Input,
    Span,
    Test,
    Tree,
    asks_for_now,
)
from predicast.model import And, Elements, Leaf, Not, Operator, Value
from predicast.model.operators import PRESENCE

Get: TypeAlias = Callable[[str], Any]
Compiled: TypeAlias = Callable[[Get], Any]
Truth: TypeAlias = bool | None  # None: unknown


def compiled(tree: Tree) -> Compiled:
    """A function from an event's attributes to the expression's value, ``None`` if it has none."""
    match tree:
        case Input(name):
            return lambda get: None if type(value := get(name)) is Elements else value
        case Call("size", (Input(name),)):
            return lambda get: len(value) if type(value := get(name)) is Elements else None
        case Each():
            return _each(tree)
        case Constant(value):
            return lambda _: value
        case Span():
            return lambda _: tree
        case Case():
            return _case(tree)
        case Call("now"):
            return lambda get: get(NOW)
        case Call("cesql", (Constant(text), *_)):
            return _cesql(str(text))
        case Call(function, arguments):
            known = FUNCTIONS[function]
            parts = [compiled(argument) for argument in arguments]
            if not known.is_strict:
                apply = known.apply
                return lambda get: apply(*[part(get) for part in parts])
            return _strict(known.apply, parts)


def compiled_whole(tree: Tree) -> Compiled:
    """The same of an expression that is part of no other: an attribute by itself may be a list."""
    if isinstance(tree, Input):
        name = tree.name
        return lambda get: get(name)
    return compiled(tree)


def _strict(apply: Callable[..., Value | None], parts: list[Compiled]) -> Compiled:
    if len(parts) == 1:
        [only] = parts

        def of_one(get: Get) -> Any:
            x = only(get)
            return None if x is None else apply(x)

        return of_one
    if len(parts) == 2:
        left, right = parts

        def of_two(get: Get) -> Any:
            x = left(get)
            if x is None:
                return None
            y = right(get)
            return None if y is None else apply(x, y)

        return of_two

    def of_many(get: Get) -> Any:
        given = [part(get) for part in parts]
        return None if None in given else apply(*given)

    return of_many


def _cesql(text: str) -> Compiled:
    """The text itself, compiled: as ``cesql.value_of``, without values in between."""
    from predicast.derived.cesql.texts import partial_of_text  # a language of its own

    run = partial_of_text(text)
    return lambda get: run(lambda name: None if type(value := get(name)) is Elements else value)


def _case(tree: Case) -> Compiled:
    branches = [(_condition(condition), compiled(result)) for condition, result in tree.branches]
    otherwise = None if tree.otherwise is None else compiled(tree.otherwise)

    def choose(get: Get) -> Any:
        for is_true, result in branches:
            if is_true(get):
                return result(get)
        return None if otherwise is None else otherwise(get)

    return choose


def _each(tree: Each) -> Compiled:
    name = tree.name
    parts = [(computed, compiled_whole(part)) for computed, part in tree.computed]
    asks = asks_for_now(tree)

    def with_computed(get: Get) -> Any:
        elements = get(name)
        if type(elements) is not Elements:
            return elements
        found = []
        for attributes in elements.attributes():
            inside = _arriving(attributes, get(NOW)) if asks else attributes.get
            values = {computed: part(inside) for computed, part in parts}
            there = {each: value for each, value in values.items() if value is not None}
            found.append({**attributes, **there})
        return Elements(tuple(found))

    return with_computed


def _arriving(attributes: Mapping[str, Any], now: Any) -> Get:
    """What an element has; it arrives when its event does."""
    return lambda name: now if name == NOW else attributes.get(name)


def _condition(condition: Condition) -> Callable[[Get], Truth]:
    """Three-valued, as in SQL."""
    if isinstance(condition, Leaf):
        return _test(condition.constraint)
    if isinstance(condition, Not):
        part = _condition(condition.part)
        return lambda get: None if (truth := part(get)) is None else not truth
    parts = [_condition(each) for each in condition.parts]
    decided = not isinstance(condition, And)  # what one part decides for all

    def combine(get: Get) -> Truth:
        return combined((part(get) for part in parts), decided=decided)

    return combine


def combined(truths: Iterable[Truth], *, decided: bool) -> Truth:
    """AND of the truths if FALSE decides, OR if TRUE does."""
    is_unknown = False
    for truth in truths:
        if truth is decided:
            return decided
        is_unknown |= truth is None
    return None if is_unknown else not decided


def _test(test: Test) -> Callable[[Get], Truth]:
    subject, constraint = compiled_whole(test.subject), test.constraint
    if constraint.operator in PRESENCE:
        wanted = constraint.operator is Operator.EXISTS
        return lambda get: (subject(get) is not None) is wanted

    def holds(get: Get) -> Truth:
        return constraint.truth(subject(get))

    return holds
