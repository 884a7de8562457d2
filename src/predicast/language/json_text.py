"""JSON that is read for what it says, and again for where it says it.

Patterns are read by the thousand, and hardly one is wrong. So a text is read by Python's own
scanner, which keeps no places; only when something in it is refused is the place looked up, by
the way that leads there.

An object is read as its members in their order, since a name may be given twice, and a number as
its numeral, since digits may say more than a float holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

from predicast.errors import NestingTooDeepError, ParseError, TextTooLongError
from predicast.errors.position import error_at
from predicast.model.values import NOT_UNICODE, lone_surrogate

MAX_TEXT: Final = 65_536  # characters, as of expressions over attributes
MAX_DEPTH: Final = 64  # of objects and arrays, as of events

_SPACE: Final = re.compile(r"[ \t\n\r]*")


class Members(list[tuple[str, Any]]):
    """An object: its members in their order."""


class Numeral(str):
    """A number as it is written."""

    __slots__ = ()


def read_json(text: str, what: str) -> Any:
    """The value that a text holds, of what an error calls it."""
    if len(text) > MAX_TEXT:
        raise TextTooLongError(
            f"the {what} has {len(text)} characters; the limit is {MAX_TEXT}",
            limit=MAX_TEXT,
            actual=len(text),
        )
    surrogate = lone_surrogate(text)
    if surrogate is not None:
        raise error_at(ParseError, text, surrogate, f"the text {NOT_UNICODE}")
    try:
        tree = _DECODER.decode(text)
        if "\\u" in text and (way := _way_to_surrogate(tree)) is not None:
            raise error_at(ParseError, text, place_of(text, *way), f"the text {NOT_UNICODE}")
    except json.JSONDecodeError as error:
        raise error_at(ParseError, text, error.pos, f"this is no JSON: {error.msg}") from None
    except _NoJsonError as error:
        place = max(text.find(str(error)), 0)
        raise error_at(ParseError, text, place, f"this is no JSON: {error}") from None
    except RecursionError:
        raise NestingTooDeepError(
            f"the {what} nests deeper than {MAX_DEPTH} objects and arrays", limit=MAX_DEPTH
        ) from None
    return tree


def _way_to_surrogate(tree: Any) -> tuple[list[int], bool] | None:
    """The way to a string that holds half of a character, and whether that is a name."""
    pending: list[tuple[Any, list[int]]] = [(tree, [])]
    while pending:
        value, way = pending.pop()
        if isinstance(value, str) and lone_surrogate(value) is not None:
            return way, False
        if isinstance(value, Members):
            for position, (name, each) in enumerate(value):
                if lone_surrogate(name) is not None:
                    return [*way, position], True
                pending.append((each, [*way, position]))
        elif isinstance(value, list):
            pending.extend((each, [*way, position]) for position, each in enumerate(value))
    return None


class _NoJsonError(Exception):
    """A constant that Python takes for a number and JSON does not have."""


def _refuse(constant: str) -> NoReturn:
    raise _NoJsonError(constant)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=Members, parse_int=Numeral, parse_float=Numeral, parse_constant=_refuse
)


_scanned: Final[Callable[[str, int], tuple[Any, int]]] = vars(_DECODER)["scan_once"]


def place_of(text: str, way: Sequence[int], at_name: bool = False) -> int:
    """Where a value begins, or its name, by the positions of the members that lead to it."""
    place = _skipped(text, 0)
    for step, position in enumerate(way):
        is_object = text[place] == "{"
        place = _skipped(text, place + 1)
        for _ in range(position):
            _, place = _scanned(text, _value_at(text, place) if is_object else place)
            place = _skipped(text, _skipped(text, place) + 1)  # the comma
        if is_object and not (at_name and step == len(way) - 1):
            place = _value_at(text, place)
    return place


def _value_at(text: str, place: int) -> int:
    """Where the value of a member begins whose name does so at a place."""
    _, end = _scanned(text, place)
    return _skipped(text, _skipped(text, end) + 1)  # the colon


def _skipped(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()
