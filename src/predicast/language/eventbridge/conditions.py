r"""The conditions that tests of a pattern are on one attribute.

A value may be of any kind, and a test of one kind is false of the others; but ``anything-but`` is
true of them all, and of null. A null is a list of one null to an engine, for which an attribute
that is null would be absent; as an element of a list it has no attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from predicast.derived import Call, Input
from predicast.language.derived_names import list_attribute
from predicast.language.eventbridge import values
from predicast.language.eventbridge.ignoring_case import regex_of
from predicast.language.eventbridge.pattern import NULL, Kind, Range, Test
from predicast.language.where.scalar_text import name_of
from predicast.model import (
    And,
    Constraint,
    Expression,
    Leaf,
    LikePattern,
    Operator,
    Or,
    Subscription,
)
from predicast.model import Kind as ValueKind
from predicast.model.constraint import trusted_constraint
from predicast.model.decimals import ExactDecimal
from predicast.model.elements import ELEMENT
from predicast.model.folding import equal_to_any
from predicast.model.normal_form import subscription_of

FALSE: Final[Expression] = Or(())


def condition(tests: Iterable[Test], attribute: str) -> Expression:
    """What an attribute is to be: an element of a list, or an attribute that is a single value."""
    found: list[Expression] = []
    equal: dict[ValueKind, list[Any]] = {}
    for test in tests:
        if test.kind is Kind.EQUALS and (kind := _KINDS.get(type(test.operand))):
            address = values.spelt_address(test.operand) if kind is ValueKind.STRING else None
            if address is not None:
                found.append(_address(attribute, Operator.EQ, address))
            else:
                equal.setdefault(kind, []).append(test.operand)
        elif test.kind is not Kind.EQUALS or test.operand is NULL:
            found.append(_SAID[test.kind](attribute, test.operand))
    found += [Leaf(equal_to_any(attribute, kind, each)) for kind, each in equal.items()]
    return found[0] if len(found) == 1 else Or(tuple(found))


def some(name: str, wanted: Expression) -> Expression:
    """That a list has an element which meets a condition."""
    return Leaf(has(name, subscription_of(wanted)))


def has(name: str, wanted: Subscription) -> Constraint:
    """The constraint that says so; what is wanted is in normal form."""
    derived = any(each.startswith("=") for each in wanted.attributes())
    attribute = list_attribute(name, wanted) if derived else name
    return trusted_constraint(attribute, Operator.HAS, wanted, ValueKind.LIST)


def exists(attribute: str) -> Expression:
    """That there is such an attribute."""
    return Leaf(trusted_constraint(attribute, Operator.EXISTS, None, None))


def absent(attribute: str) -> Expression:
    """That there is none."""
    return Leaf(trusted_constraint(attribute, Operator.ABSENT, None, None))


_KINDS: Final[dict[type, ValueKind]] = {
    str: ValueKind.STRING,
    bool: ValueKind.BOOLEAN,
    int: ValueKind.NUMBER,
    float: ValueKind.NUMBER,
    ExactDecimal: ValueKind.NUMBER,
}


def _leaf(attribute: str, operator: Operator, operand: Any) -> Expression:
    return Leaf(Constraint(attribute, operator, operand))


def _address(attribute: str, operator: Operator, operand: Any) -> Expression:
    return _leaf(name_of(Call("ip_digits", (Input(attribute),))), operator, operand)


def _null(attribute: str) -> Expression:
    if attribute == ELEMENT:
        return absent(ELEMENT)
    return some(attribute, absent(ELEMENT))


def _in_range(attribute: str, range_: Range) -> Expression:
    lower, lower_open, upper, upper_open = range_
    if lower is not None and upper is not None and not (lower_open or upper_open):
        return _leaf(attribute, Operator.BETWEEN, (lower, upper))
    ends: list[Expression] = []
    if lower is not None:
        ends.append(_leaf(attribute, Operator.GT if lower_open else Operator.GE, lower))
    if upper is not None:
        ends.append(_leaf(attribute, Operator.LT if upper_open else Operator.LE, upper))
    return ends[0] if len(ends) == 1 else And(tuple(ends))


def _like(attribute: str, literal: str) -> Expression:
    parts = values.wildcard_parts(literal)
    assert isinstance(parts, list)
    if len(parts) == 1:
        return _leaf(attribute, Operator.EQ, parts[0])
    return _leaf(attribute, Operator.LIKE, LikePattern("%".join(map(_escaped, parts))))


def _escaped(literal: str) -> str:
    return "".join(f"\\{each}" if each in "\\%_" else each for each in literal)


def _prefix(attribute: str, literal: str) -> Expression:
    if not literal:
        return _any_string(attribute)
    return _leaf(attribute, Operator.PREFIX, literal)


def _suffix(attribute: str, literal: str) -> Expression:
    if not literal:
        return _any_string(attribute)
    return _leaf(attribute, Operator.SUFFIX, literal)


def _any_string(attribute: str) -> Expression:
    return _leaf(attribute, Operator.GE, "")


def _of_other_kinds(attribute: str, *, than: ValueKind) -> Iterator[Expression]:
    """All values but those of a kind."""
    if than is not ValueKind.STRING:
        yield _any_string(attribute)
    if than is not ValueKind.NUMBER:
        yield _leaf(attribute, Operator.LT, 0)
        yield _leaf(attribute, Operator.GE, 0)
    yield _leaf(attribute, Operator.IN, (False, True))
    yield _null(attribute)


def _anything_but(attribute: str, tests: tuple[Test, ...]) -> Expression:
    if tests[0].kind is Kind.EQUALS:
        kind = _KINDS[type(tests[0].operand)]
        equal = equal_to_any(attribute, kind, [test.operand for test in tests])
        straight: Expression = Leaf(equal.negated())
    else:
        kind = ValueKind.STRING
        said = [_SAID[test.kind](attribute, test.operand) for test in tests]
        constraints = [leaf.constraint for leaf in said if isinstance(leaf, Leaf)]
        straight = And(tuple(Leaf(each.negated()) for each in constraints))
    return Or((straight, *_of_other_kinds(attribute, than=kind)))


_SAID: Final[dict[Kind, Callable[[str, Any], Expression]]] = {
    Kind.EQUALS: lambda attribute, _: _null(attribute),
    Kind.PREFIX: _prefix,
    Kind.SUFFIX: _suffix,
    Kind.EQUALS_IGNORE_CASE: lambda attribute, literal: _leaf(
        attribute, Operator.MATCHES, regex_of(literal)
    ),
    Kind.PREFIX_IGNORE_CASE: lambda attribute, literal: _leaf(
        attribute, Operator.MATCHES, regex_of(literal, at_end=False)
    ),
    Kind.SUFFIX_IGNORE_CASE: lambda attribute, literal: _leaf(
        attribute, Operator.MATCHES, regex_of(literal, at_start=False)
    ),
    Kind.WILDCARD: _like,
    Kind.NUMERIC: _in_range,
    Kind.CIDR: lambda attribute, ends: _address(attribute, Operator.BETWEEN, ends),
    Kind.EXISTS: lambda attribute, _: exists(attribute),
    Kind.ANYTHING_BUT: _anything_but,
}
