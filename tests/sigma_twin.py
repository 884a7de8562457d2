"""What a Sigma rule says of an event, as directly as can be: the oracle of the conversion.

It makes functions of pySigma's tree that test each value on the event, true or false, with ``re``
and ``ipaddress``. It shares nothing with the conversion but pySigma itself.
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
    return value.values if isinstance(value, types.SigmaExpansion) else [value]


def _anywhere(value: types.SigmaType) -> Holds:
    parts = value.s if isinstance(value, types.SigmaString) else [str(value)]
    found = re.compile(_pattern(parts), re.IGNORECASE | re.DOTALL).search
    return lambda event: found("\n".join(map(str, event.values()))) is not None


def _on_field(field: str, value: types.SigmaType) -> Holds:
    if isinstance(value, types.SigmaNull):
        return lambda event: event.get(field) is None
    if isinstance(value, types.SigmaExists):
        return lambda event: (event.get(field) is not None) is value.exists
    if isinstance(value, types.SigmaFieldReference):
        return lambda event: _same(event.get(field), event.get(value.field))
    test = _test(value)

    def on_field(event: Event) -> bool:
        seen = event.get(field)
        return seen is not None and test(seen)

    return on_field


def _same(left: Any, right: Any) -> bool:
    return left is not None and right is not None and str(left).lower() == str(right).lower()


def _test(value: types.SigmaType) -> Callable[[Any], bool]:
    """What becomes of a value that the event has."""
    if isinstance(value, types.SigmaNumber | types.SigmaBool):
        return lambda seen: str(seen).lower() == str(value).lower()
    if isinstance(value, types.SigmaCIDRExpression):
        return lambda seen: _is_in(seen, value.network)
    if isinstance(value, types.SigmaCompareExpression):
        holds, limit = _COMPARISONS[value.op.name], value.number.number
        return lambda seen: not isinstance(seen, str) and holds(seen, limit)
    if isinstance(value, types.SigmaRegularExpression):
        flags = sum(value.sigma_to_python_flags[flag] for flag in value.flags)
        found = re.compile(value.regexp.to_plain(regex=True), flags).search
        return lambda seen: isinstance(seen, str) and found(seen) is not None
    assert isinstance(value, types.SigmaString)
    parts = tuple(value.s)
    if parts == (types.SpecialChars.WILDCARD_MULTI,):
        return lambda seen: True
    cased = 0 if isinstance(value, types.SigmaCasedString) else re.IGNORECASE
    return lambda seen: _whole(parts, cased)(seen if isinstance(seen, str) else str(seen))


def _is_in(seen: Any, network: Any) -> bool:
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
