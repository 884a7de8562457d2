"""EventBridge patterns, said once more and slowly: what Event Ruler does, field by field.

An event is a list of fields, each a path, a value, and where in which arrays it stands. A branch of
a pattern takes its paths in order and looks for fields that pass, no two of them in different
elements of one array. A path that must not exist has no field that goes with those chosen so far.
"""

from __future__ import annotations

import fnmatch
import ipaddress
import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple


class Field(NamedTuple):
    path: str
    value: Any
    places: dict[int, int]  # by the number of an array: which element


def matches(pattern: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    """Whether a pattern, known to be right and without a path twice, matches an event."""
    fields = [*_fields(event, "", {}, [0])]
    return any(
        _chosen(sorted(branch.items(), key=_in_order), fields, {}) for branch in branches(pattern)
    )


def _in_order(item: tuple[str, Any]) -> bytes:
    return item[0].encode("utf-16-be")


def branches(pattern: Mapping[str, Any], prefix: str = "") -> list[dict[str, list[Any]]]:
    """What $or makes of a pattern; of a path that is given again the last counts."""
    found: list[dict[str, list[Any]]] = [{}]
    for name, said in pattern.items():
        if name == "$or":
            more = [branch for each in said for branch in branches(each, prefix)]
        elif isinstance(said, Mapping):
            more = branches(said, f"{prefix}{name}.")
        else:
            more = [{prefix + name: said}]
        found = [before | after for before, after in product(found, more)]
    return found


def _fields(value: Any, path: str, places: dict[int, int], arrays: list[int]) -> Iterator[Field]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _fields(each, f"{path}.{name}" if path else name, places, arrays)
    elif isinstance(value, list):
        number = arrays[0] = arrays[0] + 1
        for position, each in enumerate(value):
            inside = isinstance(each, Mapping | list)
            yield from _fields(each, path, places | ({number: position} if inside else {}), arrays)
    else:
        yield Field(path, value, places)


def _chosen(
    wanted: list[tuple[str, list[Any]]], fields: list[Field], places: dict[int, int]
) -> bool:
    if not wanted:
        return True
    (path, tests), *others = wanted
    here = [each for each in fields if each.path == path and _go_together(places, each.places)]
    if {"exists": False} in tests and not here and _chosen(others, fields, places):
        return True
    return any(
        any(_passes(test, field.value) for test in tests)
        and _chosen(others, fields, places | field.places)
        for field in here
    )


def _go_together(some: dict[int, int], others: dict[int, int]) -> bool:
    return all(some.get(array, position) == position for array, position in others.items())


def _passes(test: Any, value: Any) -> bool:  # one for each kind of test
    if not isinstance(test, Mapping):
        if isinstance(test, str) and isinstance(value, str) and _address(test) is not None:
            return bool(_address(test) == _address(value))
        return _same(test, value)
    ((word, operand),) = test.items()
    if word == "exists":
        return bool(operand)
    if word == "anything-but":
        if isinstance(operand, Mapping):
            ((inner, given),) = operand.items()
            given = given if isinstance(given, list) else [given]
            return not any(_passes({inner: each}, value) for each in given)
        given = operand if isinstance(operand, list) else [operand]
        return not any(_same(each, value) for each in given)
    if word == "numeric":
        pairs = [operand[place : place + 2] for place in range(0, len(operand), 2)]
        return _is_number(value) and all(_COMPARED[how](value, end) for how, end in pairs)
    if not isinstance(value, str):
        return False
    if isinstance(operand, Mapping):  # with case that does not count
        literal = operand["equals-ignore-case"]
        end = "" if word == "suffix" else "^", "$" if word == "suffix" else ""
        return re.search(end[0] + _spelt(literal) + end[1], value) is not None
    if word == "equals-ignore-case":
        return re.fullmatch(_spelt(operand), value) is not None
    if word == "cidr":
        address = _address(value)
        return address is not None and address in ipaddress.ip_network(operand, strict=False)
    if word == "wildcard":
        return _is_like(operand, value)
    return value.startswith(operand) if word == "prefix" else value.endswith(operand)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(one: Any, other: Any) -> bool:
    if _is_number(one) and _is_number(other):
        return bool(one == other)
    return type(one) is type(other) and bool(one == other)


_COMPARED: dict[str, Any] = {
    "=": lambda a, b: a == b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _spelt(literal: str) -> str:
    return "".join(f"(?:{re.escape(c.lower())}|{re.escape(c.upper())})" for c in literal)


def _is_like(pattern: str, value: str) -> bool:
    """Asterisks one by one, since a backslash makes one a character."""
    parts = re.findall(r"\\(.)|(\*)|(.)", pattern, re.DOTALL)
    regex = "".join(".*" if run else re.escape(escaped or other) for escaped, run, other in parts)
    return re.fullmatch(regex, value, re.DOTALL) is not None


def _address(text: str) -> Any:
    if not fnmatch.fnmatchcase(text, "*[.:]*"):
        return None
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
