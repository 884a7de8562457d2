"""Subscriptions as patterns, as far as their meaning survives.

What single values are to be is written as tests, and the whole is read again: what comes out must
be the subscription, or else a pattern would say something else. A subscription that was no pattern
says nothing of events with arrays; what a pattern says of these is not held against it.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from predicast.derived import Call, Input
from predicast.errors import NotExpressibleError, PredicastError
from predicast.language.derived_names import expression_of, is_derived
from predicast.language.eventbridge.ignoring_case import literal_of
from predicast.language.eventbridge.translation import OBJECTS, VALUES
from predicast.language.eventbridge.values import wildcard_text
from predicast.language.where import to_where
from predicast.model import Clause, Constraint, LikePattern, Operator, Subscription
from predicast.model.operators import ORDER
from predicast.model.patterns import ANY_ONE, ANY_RUN

_Part = dict[str, Any]


def pattern_text(
    subscription: Subscription, parse: Callable[[str], Subscription], dialect: str
) -> str:
    """The pattern that states a subscription, or an error that names what it cannot say."""
    straight = [clause for clause in subscription.clauses if not _is_of_lists(clause)]
    if not straight:
        raise _refused(dialect, "what matches nothing, or asks of lists alone", None)
    parts = [_object(clause, dialect) for clause in straight]
    text = json.dumps(parts[0] if len(parts) == 1 else {"$or": parts}, ensure_ascii=False)
    try:
        read = parse(text)
    except PredicastError as error:
        raise _refused(dialect, f"this, as {text}: {error}", None) from error
    wanted = _as_sets(subscription.clauses)
    if len(straight) == len(subscription.clauses):
        found = [_of_singles(clause) for clause in read.clauses if not _is_of_lists(clause)]
        wanted = _as_sets(map(_of_singles, straight))
    else:
        found = [*read.clauses]
    if _as_sets(found) != wanted:
        raise _refused(dialect, f"quite this; {text} comes closest", None)
    return text


def _of_singles(clause: Clause) -> Clause:
    """The clause without what it says of lists: that there are none."""
    return Clause(tuple(c for c in clause if not _list_name(c.attribute)), clause.rest)


def _refused(dialect: str, what: str, part: str | None) -> NotExpressibleError:
    return NotExpressibleError(f"no pattern says {what}", dialect=dialect, part=part)


def _as_sets(clauses: Iterable[Clause]) -> set[Any]:
    return {(frozenset(clause.constraints), clause.rest) for clause in clauses}


def _is_of_lists(clause: Clause) -> bool:
    """Whether a clause is about events with arrays."""
    return any(
        each.operator is not Operator.ABSENT and _list_name(each.attribute)
        for each in clause.all_constraints()
    )


def _list_name(attribute: str) -> bool:
    return attribute.rstrip("`) ").endswith((VALUES, OBJECTS)) or "[]`, ip_digits" in attribute


def _object(clause: Clause, dialect: str) -> _Part:
    """What one branch says, in objects inside one another."""
    if clause.rest is not None or not clause.constraints:
        raise _refused(dialect, "alternatives inside of alternatives", None)
    said: dict[str, list[Constraint]] = {}
    for constraint in clause:
        if constraint.operator is Operator.ABSENT and constraint.attribute.endswith(VALUES):
            continue  # goes with the absence of a single value
        said.setdefault(_path(constraint, dialect), []).append(constraint)
    made: _Part = {}
    for path, constraints in said.items():
        _put(made, path, [*_tests(constraints, dialect)])
    return made


def _path(constraint: Constraint, dialect: str) -> str:
    attribute = constraint.attribute
    if not is_derived(attribute):
        return attribute
    match expression_of(attribute):
        case Input(name) | Call("ip_digits", (Input(name),)):
            return name
    raise _refused(dialect, f"what is computed: {attribute[1:]}", to_where(constraint))


def _put(made: _Part, path: str, tests: list[Any]) -> None:
    """Tests at a path; where another path ends on the way, the name is written with its dots."""
    names = path.split(".")
    here, left = made, path
    for position, name in enumerate(names[:-1]):
        inner = here.setdefault(name, {})
        if not isinstance(inner, dict) or not all(names):
            break
        here, left = inner, ".".join(names[position + 1 :])
    here[left] = tests


def _tests(constraints: list[Constraint], dialect: str) -> Iterator[Any]:
    if len(constraints) > 1:
        yield _range(constraints, dialect)
        return
    (constraint,) = constraints
    if constraint.operator is not Operator.ANY:
        yield from _one(constraint, dialect)
        return
    negated = [part for part in constraint.parts if _is_negated(part)]
    if negated:  # the other parts say that values of other kinds will do
        yield {"anything-but": _but([each for part in negated for each in part.plain()], dialect)}
        return
    for part in constraint.parts:
        yield from _one(part, dialect)


def _is_negated(constraint: Constraint) -> bool:
    return all(part.operator in _NEGATED for part in constraint.plain())


_NEGATED: Final = {
    Operator.NE: Operator.EQ,
    Operator.NOT_IN: Operator.IN,
    Operator.NOT_PREFIX: Operator.PREFIX,
    Operator.NOT_SUFFIX: Operator.SUFFIX,
    Operator.NOT_LIKE: Operator.LIKE,
    Operator.NOT_MATCHES: Operator.MATCHES,
}


def _but(negated: list[Constraint], dialect: str) -> Any:
    """What none of some negated constraints allows."""
    straight = [each.negated() for each in negated]
    tests = [test for each in straight for test in _one(each, dialect)]
    words = {word for test in tests if isinstance(test, dict) for word in test}
    if not words:
        return tests[0] if len(tests) == 1 else tests
    (word, *others) = sorted(words)
    if others or not all(isinstance(test, dict) for test in tests):
        raise _refused(dialect, "anything-but of several kinds", to_where(negated[0]))
    values = [test[word] for test in tests]
    return {word: values[0] if len(values) == 1 else values}


def _one(constraint: Constraint, dialect: str) -> Iterator[Any]:
    operator, operand = constraint.operator, constraint.operand
    if is_derived(constraint.attribute) and _is_computed(constraint.attribute):
        yield _network(operand)
    elif operator is Operator.EQ:
        yield _value(operand, constraint, dialect)
    elif operator is Operator.IN and isinstance(operand, tuple):
        yield from (_value(each, constraint, dialect) for each in operand)
    elif operator in {Operator.PREFIX, Operator.SUFFIX}:
        yield {operator.value: operand}
    elif operator in {Operator.EXISTS, Operator.ABSENT}:
        yield {"exists": operator is Operator.EXISTS}
    elif operator is Operator.HAS:
        yield None
    elif operator is Operator.GE and operand == "":
        yield {"prefix": ""}
    elif operator in ORDER or operator in {Operator.BETWEEN, Operator.ALL}:
        yield _range([*constraint.plain()], dialect)
    elif isinstance(operand, LikePattern) and ANY_ONE not in (parts := [*operand.parts()]):
        yield {"wildcard": _wildcard(parts)}
    elif operator is Operator.MATCHES and (found := literal_of(str(operand))) is not None:
        yield _without_case(*found)
    else:
        raise _refused(dialect, to_where(constraint), to_where(constraint))


def _is_computed(attribute: str) -> bool:
    return isinstance(expression_of(attribute), Call)


def _value(value: Any, constraint: Constraint, dialect: str) -> Any:
    if isinstance(value, datetime | Decimal):
        raise _refused(dialect, f"{value!r}", to_where(constraint))
    return value


def _wildcard(parts: list[Any]) -> str:
    texts = [""]
    for part in parts:
        if part is ANY_RUN:
            texts.append("")
        else:
            texts[-1] += part
    return wildcard_text(texts)


def _without_case(literal: str, at_start: bool, at_end: bool) -> Any:
    if at_start and at_end:
        return {"equals-ignore-case": literal}
    return {"prefix" if at_start else "suffix": {"equals-ignore-case": literal}}


def _network(operand: Any) -> Any:
    if isinstance(operand, str):
        return str(_address(operand))
    first, last = map(_address, operand)
    (network,) = ipaddress.summarize_address_range(first, last)
    return {"cidr": str(network)}


def _address(digits: str) -> Any:
    number = int(digits[1:], 16)
    return ipaddress.IPv4Address(number) if digits[0] == "4" else ipaddress.IPv6Address(number)


def _range(constraints: list[Constraint], dialect: str) -> Any:
    """Order, of one constraint or two."""
    ends: dict[str, Any] = {}
    for each in constraints:
        if each.operator is Operator.BETWEEN and isinstance(each.operand, tuple):
            pairs: list[tuple[str, Any]] = list(zip((">=", "<="), each.operand, strict=True))
        else:
            pairs = [(each.operator.value, each.operand)]
        for word, value in pairs:
            known = {">": ">", ">=": ">", "<": "<", "<=": "<"}.get(word)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if known is None or known in ends or not is_number:
                raise _refused(dialect, to_where(each), to_where(each))
            ends[known] = [word, value]
    return {"numeric": [*ends.get(">", []), *ends.get("<", [])]}
