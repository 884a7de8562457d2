"""CESQL's values: strings, integers of 32 bits and booleans; what else is there is a string.

An attribute that is none of the three is represented by its text (specification, 3.2): a number
with a fraction or beyond 32 bits as a cast to a string writes it, an instant as CloudEvents do.
A list is nothing that an attribute of a CloudEvent can be, and counts as missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import Any, Final

from predicast.derived.casts import to_text
from predicast.derived.cesql.tree import INT_MAX, INT_MIN, Scalar
from predicast.model.decimals import ExactDecimal

_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_LONGEST: Final = 4_000  # digits: int() refuses more
_TRUTHS: Final = {"true": True, "false": False}


class Type(Enum):
    """What an expression's value may be."""

    STRING = "string"
    INTEGER = "integer"
    BOOLEAN = "boolean"


# What an expression gives that has no better value.
ZEROS: Final[dict[Type, Scalar]] = {Type.STRING: "", Type.INTEGER: 0, Type.BOOLEAN: False}
TYPES: Final[dict[type, Type]] = {str: Type.STRING, int: Type.INTEGER, bool: Type.BOOLEAN}


def of_event(value: Any) -> Scalar | None:
    """An attribute's value as CESQL sees it, ``None`` if it has none."""
    cls = type(value)
    if cls is str or cls is bool:
        return value  # type: ignore[no-any-return]
    if cls is int:
        return value if INT_MIN <= value <= INT_MAX else str(value)
    if cls is float and value.is_integer() and INT_MIN <= value <= INT_MAX:
        return int(value)
    if cls is datetime:
        return instant_text(value)
    return str(to_text(value)) if cls is float or cls is ExactDecimal else None


def instant_text(at: datetime) -> str:
    """An instant, which is in UTC, as RFC 3339 writes it."""
    return at.isoformat().replace("+00:00", "Z")


def to_integer(value: Scalar) -> int | None:
    """A cast to an integer, ``None`` if there is none."""
    if type(value) is not str:
        return int(value)
    if _INTEGER.fullmatch(value) is None or len(value) > _LONGEST:
        return None
    number = int(value)
    return number if INT_MIN <= number <= INT_MAX else None


def to_string(value: Scalar) -> str:
    """A cast to a string, which always is one."""
    if type(value) is bool:
        return "true" if value else "false"
    return str(value)


def to_boolean(value: Scalar) -> bool | None:
    """A cast to a boolean, ``None`` if there is none."""
    return _TRUTHS.get(value.lower()) if type(value) is str else bool(value)


CASTS: Final[dict[Type, Callable[[Any], Scalar | None]]] = {
    Type.STRING: to_string,
    Type.INTEGER: to_integer,
    Type.BOOLEAN: to_boolean,
}
