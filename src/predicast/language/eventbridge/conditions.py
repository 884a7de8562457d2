r"""The conditions that tests of a pattern are on one attribute.

A value may be of any kind, and a test of one kind is false of the others; but ``anything-but`` is
true of them all, and of null. A null is a list of one null to an engine, for which an attribute
that is null would be absent; as an element of a list it has no attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from predicast.model.clause import trusted_clause
from predicast.model.constraint import trusted_constraint
from predicast.model.decimals import ExactDecimal
from predicast.model.elements import ELEMENT
from predicast.model.folding import equal_to_any
from predicast.model.normal_form import subscription_of

_SIDE_BY_SIDE: Final = 8  # constraints of one attribute that normal form leaves as they are


def condition(tests: tuple[Test, ...], attribute: str) -> Expression:
    """What an attribute is to be: an element of a list, or an attribute that is a single value."""
    if len(tests) == 1 and (plain := _plain_string(tests[0])) is not None:
        return _of_string(attribute, Operator.EQ, plain)
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
    return either(found)


def _plain_string(test: Test) -> str | None:
    """A string that a test compares with, as most do, unless it may be an address."""
    literal = test.operand
    is_plain = test.kind is Kind.EQUALS and type(literal) is str and ":" not in literal
    return literal if is_plain else None


def either(parts: Sequence[Expression]) -> Expression:
    """Any of several conditions, as one constraint if they are constraints on one attribute."""
    if len(parts) == 1:
        return parts[0]
    joined = _joined(parts, Operator.ANY)
    return Or(tuple(parts)) if joined is None else joined


def _joined(parts: Sequence[Expression], operator: Operator) -> Expression | None:
    constraints = [part.constraint for part in parts if isinstance(part, Leaf)]
    names = {each.attribute for each in constraints}
    if len(names) != 1 or len(constraints) < len(parts):
        return None
    first, *others = constraints
    return Leaf(first.joined(operator, others) if others else first)


def named(path: str) -> str:
    """The attribute at a path: a name that begins like those of computed ones is marked."""
    return name_of(Input(path)) if path.startswith("=") else path


def normal(*alternatives: Expression) -> Subscription:
    """What some alternatives state that are about different attributes; soon if each says AND."""
    clauses = [_conjunction(each) for each in alternatives]
    found = [trusted_clause(tuple(each)) for each in clauses if each is not None]
    if len(found) < len(clauses):
        return subscription_of(Or(alternatives))
    return Subscription(tuple(found))


def _conjunction(expression: Expression) -> list[Constraint] | None:
    """The constraints of an expression that says AND, and that normal form would leave alone."""
    found: list[Constraint] = []
    names: set[str] = set()
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, Leaf):
            constraint = node.constraint
            # Few name an attribute twice: then it is worth comparing with all the others.
            if constraint.attribute not in names or constraint not in found:
                names.add(constraint.attribute)
                found.append(constraint)
        elif isinstance(node, And) and node.parts:
            pending.extend(reversed(node.parts))
        else:
            return None
    return found if len(found) - len(names) < _SIDE_BY_SIDE else None


def some(name: str, wanted: Expression) -> Expression:
    """That a list has an element which meets a condition."""
    return Leaf(_has(name, normal(wanted)))


def some_value(name: str, tests: tuple[Test, ...]) -> Expression:
    """That a list has a value which passes one of some tests."""
    return some(name, condition(tests, ELEMENT))


def _has(name: str, wanted: Subscription) -> Constraint:
    if any(each.attribute[0] == "=" for each in wanted.constraints()):
        name = list_attribute(name, wanted)
    return trusted_constraint(name, Operator.HAS, wanted, ValueKind.LIST)


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


def _of_string(attribute: str, operator: Operator, operand: str) -> Expression:
    """The same of a string, which the parser has checked."""
    return Leaf(trusted_constraint(attribute, operator, operand, ValueKind.STRING))


def _address(attribute: str, operator: Operator, operand: Any) -> Expression:
    digits = name_of(Call("ip_digits", (Input(attribute),)))
    return Leaf(trusted_constraint(digits, operator, operand, ValueKind.STRING))


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
        return _of_string(attribute, Operator.EQ, parts[0])
    return _leaf(attribute, Operator.LIKE, LikePattern("%".join(map(_escaped, parts))))


def _escaped(literal: str) -> str:
    return "".join(f"\\{each}" if each in "\\%_" else each for each in literal)


def _prefix(attribute: str, literal: str) -> Expression:
    if not literal:
        return _any_string(attribute)
    return _of_string(attribute, Operator.PREFIX, literal)


def _suffix(attribute: str, literal: str) -> Expression:
    if not literal:
        return _any_string(attribute)
    return _of_string(attribute, Operator.SUFFIX, literal)


def _any_string(attribute: str) -> Expression:
    return _of_string(attribute, Operator.GE, "")


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
        negated = [Leaf(leaf.constraint.negated()) for leaf in said if isinstance(leaf, Leaf)]
        joined = _joined(negated, Operator.ALL)
        assert joined is not None, "tests of one kind are constraints on one attribute"
        straight = joined
    return either([straight, *_of_other_kinds(attribute, than=kind)])


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
