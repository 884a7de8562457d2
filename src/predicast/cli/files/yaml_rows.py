"""The rows of a YAML file: mappings in a list, or one in each document, with their lines.

::

    - id: cheap
      expression: price < :limit
      parameters: {limit: 10}
    - id: near
      expression: |
        x BETWEEN 2 AND 4
        AND y > 0

A scalar of a row is the text that is written: ``id: 007`` is no number, and ``owner: no`` no
boolean. Inside a row's mappings and lists, parameters say, scalars are what they are in JSON:
numbers, ``true``, ``false``, ``null`` or text.

Parser events are read, never nodes: those the library composes by recursion, which on hostile text
ends the process. Depth is bounded here, and aliases are refused, by which a small file can mean a
huge one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml

from predicast.cli.files.queries import TextLines
from predicast.cli.files.source import OpenFile, Source

_DEEPEST: Final = 64
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_LONGEST_NUMBER: Final = 400  # characters; longer ones would take Python long
_SHAPE: Final = "a file of subscriptions is a list of mappings, or a mapping in each document"


class YamlRow(NamedTuple):
    """A mapping, its line, and where the lines of its texts stand that have lines of their own."""

    line: int
    values: dict[str, Any]
    text_lines: dict[str, TextLines]


def yaml_rows(source: Source, opened: OpenFile) -> Iterator[YamlRow]:
    """All rows of a file, in order."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    events = yaml.parse(source.text_of(opened), Loader=loader)
    try:
        yield from _Rows(source, events).rows()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        why = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise source.refuse(f"not YAML: {why}", mark and mark.line + 1) from None


class _Rows:
    """Reads rows from the events of a parser."""

    def __init__(self, source: Source, events: Iterator[Any]) -> None:
        self._source = source
        self._events = events

    def rows(self) -> Iterator[YamlRow]:
        for event in self._events:
            if isinstance(event, yaml.MappingStartEvent):
                yield self._row(event)
            elif isinstance(event, yaml.SequenceStartEvent):
                yield from self._listed()
            elif isinstance(event, yaml.ScalarEvent):
                if event.value or not event.implicit[0]:  # an empty document says nothing
                    raise self._refused(event, _SHAPE)
            elif isinstance(event, yaml.AliasEvent):
                raise self._alias(event)

    def _listed(self) -> Iterator[YamlRow]:
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                return
            if not isinstance(event, yaml.MappingStartEvent):
                raise self._refused(event, _SHAPE)
            yield self._row(event)

    def _row(self, start: Any) -> YamlRow:
        row = YamlRow(_line(start), {}, {})
        for key in self._events:
            if isinstance(key, yaml.MappingEndEvent):
                return row
            name = self._key(key, row.values)
            event: Any = next(self._events)
            if not isinstance(event, yaml.ScalarEvent):
                row.values[name] = self._value(event, 1)
                continue
            row.values[name] = None if _is_null(event) else event.value
            if event.style == "|":  # its lines are those below
                row.text_lines[name] = TextLines(_line(event) + 1)
        raise AssertionError("a parser ends what it begins")

    def _value(self, event: Any, depth: int) -> Any:
        if depth > _DEEPEST:
            raise self._refused(event, f"nested deeper than {_DEEPEST}")
        if isinstance(event, yaml.AliasEvent):
            raise self._alias(event)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
                items.append(self._value(event, depth + 1))
            return items
        values: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            name = self._key(event, values)
            values[name] = self._value(next(self._events), depth + 1)
        return values

    def _key(self, event: Any, values: dict[str, Any]) -> str:
        if isinstance(event, yaml.AliasEvent):
            raise self._alias(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise self._refused(event, "a name is plain text, not a list or a mapping")
        name: str = event.value
        if name in values:
            raise self._refused(event, f"{name!r} is said twice")
        return name

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if not event.implicit[0]:  # in quotes, or with a tag
            return text
        if text in _NULL:
            return None
        if text in _BOOLEANS:
            return _BOOLEANS[text]
        if len(text) <= _LONGEST_NUMBER:
            if _INTEGER.fullmatch(text):
                return int(text)
            if _FLOAT.fullmatch(text):
                return float(text)
        return text

    def _alias(self, event: Any) -> Exception:
        return self._refused(event, f"the alias *{event.anchor} is not read: write it out")

    def _refused(self, event: Any, why: str) -> Exception:
        return self._source.refuse(why, _line(event))


def _line(event: Any) -> int:
    line: int = event.start_mark.line
    return line + 1


def _is_null(event: Any) -> bool:
    return bool(event.implicit[0]) and event.value in _NULL
