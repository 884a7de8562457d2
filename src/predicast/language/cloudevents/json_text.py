"""JSON text with places: what a filter is written in, so that an error can point at its part."""

from __future__ import annotations

import re
from dataclasses import dataclass
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]  # which typeshed does not list
from typing import Final, NoReturn

from predicast.errors import NestingTooDeepError, ParseError
from predicast.errors.position import error_at
from predicast.model.values import NOT_UNICODE, lone_surrogate

MAX_NESTING: Final = 64
_BLANK: Final = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Text:
    """A string."""

    value: str
    start: int


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    values: tuple[Json, ...]
    start: int


@dataclass(frozen=True, slots=True)
class Fields:
    """An object, each name once."""

    values: tuple[tuple[Text, Json], ...]
    start: int


Json = Text | Items | Fields


class JsonReader:
    """Reads objects, lists and strings; filters are made of nothing else."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0

    def whole(self) -> Json:
        """What the text says, and nothing behind it."""
        found = self._value(0)
        if self._next():
            self._fail("there is something behind the end")
        return found

    def _value(self, depth: int) -> Json:
        if depth > MAX_NESTING:
            raise NestingTooDeepError(
                f"filters nest deeper than {MAX_NESTING}", limit=MAX_NESTING, actual=depth
            )
        character, start = self._next(), self._position
        if character == '"':
            return self._string()
        if character == "[":
            return Items(tuple(self._listed(depth, "]")), start)
        if character == "{":
            return self._fields(depth, start)
        self._fail("a filter is made of objects, lists and strings")

    def _listed(self, depth: int, end: str) -> list[Json]:
        found: list[Json] = []
        while self._continues(bool(found), end):
            found.append(self._value(depth + 1))
        return found

    def _fields(self, depth: int, start: int) -> Fields:
        found: dict[str, tuple[Text, Json]] = {}
        while self._continues(bool(found), "}"):
            if self._next() != '"':
                self._fail("a name in double quotes is missing")
            name = self._string()
            if name.value in found:
                self._fail(f"{name.value!r} is there twice", name.start)
            if self._next() != ":":
                self._fail("a colon is missing")
            self._position += 1
            found[name.value] = name, self._value(depth + 1)
        return Fields(tuple(found.values()), start)

    def _continues(self, is_behind_one: bool, end: str) -> bool:
        """Whether another value is due; the opening bracket, or a comma, is read."""
        if not is_behind_one:
            self._position += 1
        character = self._next()
        if character == end:
            self._position += 1
            return False
        if is_behind_one:
            if character != ",":
                self._fail(f"a comma or {end} is missing")
            self._position += 1
            if self._next() == end:
                self._fail("a value is missing behind the comma")
        return True

    def _string(self) -> Text:
        start = self._position
        try:
            value, self._position = scanstring(self._text, start + 1, True)
        except JSONDecodeError as error:
            self._fail(error.msg, error.pos)
        if lone_surrogate(value) is not None:
            self._fail(f"the string {NOT_UNICODE}", start)
        return Text(value, start)

    def _next(self) -> str:
        """The next character that is not blank, empty at the end."""
        blank = _BLANK.match(self._text, self._position)
        assert blank is not None
        self._position = blank.end()
        return self._text[self._position : self._position + 1]

    def _fail(self, message: str, at: int | None = None) -> NoReturn:
        at = self._position if at is None else at
        raise error_at(ParseError, self._text, at, message)
