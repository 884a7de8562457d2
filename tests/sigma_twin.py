"""What a Sigma rule says of an event, as directly as can be: the oracle of the dialect.

It makes functions of pySigma's tree that test each value on the event, true or false, with ``re``
and ``ipaddress``. It shares nothing with the dialect but pySigma itself.
"""

from __future__ import annotations

import ipaddress
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from sigma import conditions, types
from sigma.rule.detection import SigmaDetections

Event = Mapping[str, Any]
Holds = Callable[[Event], bool]

_COMPARISONS = {"LT": operator.lt, "LTE": operator.le, "GT": operator.gt, "GTE": operator.ge}
_WILDCARDS = {types.SpecialChars.WILDCARD_MULTI: ".*", types.SpecialChars.WILDCARD_SINGLE: "."}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)", re.ASCII)


def compiled_rule(detection: Mapping[str, Any]) -> Holds:
    """Whether the rule fires, as a function of an event."""
    parsed = SigmaDetections.from_dict(dict(detection)).parsed_condition
    return _any([_holds(each.parsed) for each in parsed])


def _any(parts: list[Holds]) -> Holds:
    return lambda event: any(part(event) for part in parts)


def _holds(node: Any) -> Holds:
    if isinstance(node, conditions.ConditionFieldEqualsValueExpression):
        return _any([_on_field(node.field, value) for value in _values(node.value)])
    if isinstance(node, conditions.ConditionValueExpression):
        return _any([_anywhere(value) for value in _values(node.value)])
    parts = [_holds(part) for part in node.args]
    if isinstance(node, conditions.ConditionNOT):
        return lambda event: not parts[0](event)
    if isinstance(node, conditions.ConditionAND):
        return lambda event: all(part(event) for part in parts)
    assert isinstance(node, conditions.ConditionOR)
    return _any(parts)


def _values(value: types.SigmaType) -> list[types.SigmaType]:
    if not isinstance(value, types.SigmaExpansion):
        return [value]
    return [each for part in value.values for each in _values(part)]


def _anywhere(value: types.SigmaType) -> Holds:
    if isinstance(value, types.SigmaRegularExpression):
        found = _regex(value)
    else:
        parts = value.s if isinstance(value, types.SigmaString) else [str(value)]
        found = re.compile(_pattern(parts), re.IGNORECASE | re.DOTALL).search
    return lambda event: found("\n".join(map(str, event.values()))) is not None


def _on_field(field: str, value: types.SigmaType) -> Holds:
    if isinstance(value, types.SigmaNull):
        return lambda event: event.get(field) is None
    if isinstance(value, types.SigmaExists):
        return lambda event: (event.get(field) is not None) is value.exists
    if isinstance(value, types.SigmaFieldReference):
        return lambda event: _refers(value, event.get(field), event.get(value.field))
    test = _test(value)

    def on_field(event: Event) -> bool:
        seen = event.get(field)
        return seen is not None and test(seen)

    return on_field


def _refers(value: types.SigmaFieldReference, left: Any, right: Any) -> bool:
    if left is None or right is None or isinstance(left, list) or isinstance(right, list):
        return False
    mine, theirs = str(left).lower(), str(right).lower()
    if value.starts_with:
        return mine.startswith(theirs)
    return mine.endswith(theirs) if value.ends_with else mine == theirs


def _test(value: types.SigmaType) -> Callable[[Any], bool]:
    """What becomes of a value that the event has."""
    if isinstance(value, types.SigmaNumber):
        return lambda seen: _equals(seen, value.number)
    if isinstance(value, types.SigmaBool):
        return lambda seen: _is(seen, value.boolean)
    if isinstance(value, types.SigmaCIDRExpression):
        return lambda seen: isinstance(seen, str) and _is_in(seen, value.network)
    if isinstance(value, types.SigmaCompareExpression):
        holds, limit = _COMPARISONS[value.op.name], value.number.number
        return lambda seen: (number := _number(seen)) is not None and holds(number, limit)
    if isinstance(value, types.SigmaRegularExpression):
        found = _regex(value)
        return lambda seen: isinstance(seen, str) and found(seen) is not None
    assert isinstance(value, types.SigmaString)
    return _string(value)


def _regex(value: types.SigmaRegularExpression) -> Callable[[str], Any]:
    flags = sum(value.sigma_to_python_flags[flag] for flag in value.flags)
    return re.compile(value.regexp.to_plain(regex=True), flags).search


def _string(value: types.SigmaString) -> Callable[[Any], bool]:
    parts = tuple(value.s)
    if parts == (types.SpecialChars.WILDCARD_MULTI,):
        return lambda seen: True
    is_cased = isinstance(value, types.SigmaCasedString)
    flags = 0 if is_cased else re.IGNORECASE

    def matched(seen: str) -> bool:  # compiled when it is first asked
        return _whole(parts, flags)(seen)

    plain = "".join(each for each in parts if isinstance(each, str)).lower()

    def test(seen: Any) -> bool:
        if isinstance(seen, bool):
            return (
                not is_cased
                and parts != ()
                and all(isinstance(p, str) for p in parts)
                and (str(seen).lower() == plain)
            )
        if isinstance(seen, int | float):
            return matched(str(seen))
        return isinstance(seen, str) and matched(seen)

    return test


def _equals(seen: Any, number: float) -> bool:
    """A number, or its text."""
    if isinstance(seen, bool):
        return False
    if isinstance(seen, int | float):
        return seen == number
    return isinstance(seen, str) and seen == str(number)


def _is(seen: Any, truth: bool) -> bool:
    """A truth value, or its word."""
    if isinstance(seen, bool):
        return seen is truth
    return isinstance(seen, str) and seen.lower() == str(truth).lower()


def _number(seen: Any) -> float | None:
    """A number, or what a text says that is one."""
    if isinstance(seen, str):
        return float(seen) if _NUMBER.fullmatch(seen.strip()) else None
    return seen if isinstance(seen, int | float) and not isinstance(seen, bool) else None


def _is_in(seen: str, network: Any) -> bool:
    try:
        return ipaddress.ip_address(seen) in network
    except ValueError:
        return False


@cache
def _whole(parts: tuple[Any, ...], flags: int) -> Callable[[str], bool]:
    matched = re.compile(_pattern(parts), flags | re.DOTALL).fullmatch
    return lambda seen: matched(seen) is not None


def _pattern(parts: Iterable[Any]) -> str:
    return "".join(re.escape(each) if isinstance(each, str) else _WILDCARDS[each] for each in parts)
