"""What a filter is written in: objects, lists and strings, each of which knows its way.

The way is that of ``json_text.place_of``: where something stands is looked up when it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from predicast.errors import NestingTooDeepError, ParseError
from predicast.errors.position import error_at
from predicast.language.json_text import MAX_DEPTH, Members, Numeral, place_of, read_json

Way = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A string, or a name."""

    value: str
    way: Way
    is_name: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    values: tuple[Json, ...]
    way: Way


@dataclass(frozen=True, slots=True)
class Fields:
    """An object, each name once."""

    values: tuple[tuple[Text, Json], ...]
    way: Way


Json = Text | Items | Fields


def read_filters(text: str) -> Json:
    """What the text says, if it is made of what filters are made of."""
    return _part(text, read_json(text, "filter"), ())


def filter_error(
    text: str,
    part: Json,
    message: str,
    *,
    hint: str | None = None,
    kind: type[ParseError] = ParseError,
) -> ParseError:
    """The error that points at a part."""
    is_name = isinstance(part, Text) and part.is_name
    return error_at(kind, text, place_of(text, part.way, at_name=is_name), message, hint=hint)


def _part(text: str, value: Any, way: Way) -> Json:
    if len(way) > MAX_DEPTH:
        raise NestingTooDeepError(
            f"filters nest deeper than {MAX_DEPTH}", limit=MAX_DEPTH, actual=len(way)
        )
    if isinstance(value, Members):
        return _fields(text, value, way)
    if isinstance(value, list):
        return Items(tuple(_part(text, each, (*way, n)) for n, each in enumerate(value)), way)
    found = Text(value if isinstance(value, str) else "", way)
    if not isinstance(value, str) or isinstance(value, Numeral):
        raise filter_error(text, found, "a filter is made of objects, lists and strings")
    return found


def _fields(text: str, members: Members, way: Way) -> Fields:
    found: dict[str, tuple[Text, Json]] = {}
    for number, (given, value) in enumerate(members):
        name = Text(given, (*way, number), is_name=True)
        if given in found:
            raise filter_error(text, name, f"{given!r} is there twice")
        found[given] = name, _part(text, value, name.way)
    return Fields(tuple(found.values()), way)
