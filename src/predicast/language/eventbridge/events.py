"""Events of EventBridge: arrays and nulls as attributes that an engine compares.

To a pattern, a value and an array of that value alone are the same, and so are an object and an
array of that object; an empty array or object is nothing. Most events have no other arrays, and are
what they are, but for nulls: to an engine a null attribute is absent, and to a pattern it is not,
so that it becomes a list of one null.

An event that has other arrays is flattened, and given lists::

    {"d": [{"a": 1}, {"a": 2, "b": 3}], "c": 4}

    d.a[]  1, 2           all values at a path, also those in no array
    d.b[]  3
    c[]    4
    d{}    {a[]: 1}, {a[]: 2, b[]: 3}     all objects at a path, with such lists for fields
    c      4              what is in no array, as in any event

Cost: each value and each object stands in one list for every object that it is in, and the fields
of an object are shared by all lists that it is in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from predicast.errors import InvalidEventError, ListTooLongError, NestingTooDeepError, shortened
from predicast.language.eventbridge.translation import OBJECTS, VALUES
from predicast.model.elements import FIELDS, MAX_ELEMENTS, Elements, Fields
from predicast.model.event import MAX_NESTING
from predicast.model.values import checked

_NULL: Final = Elements((None,))
_NOTHING: Final = object()


def read_event(document: Any) -> Mapping[str, Any]:
    """The attributes of an event: a mapping, or JSON text."""
    if isinstance(document, str | bytes | bytearray):
        document = event_of_json(document)
    if not isinstance(document, Mapping):
        raise InvalidEventError(f"an event is an object with attributes, not {shortened(document)}")
    if _is_plain(document):
        return document
    simple, has_arrays = _simplified(document, MAX_NESTING)
    if simple is _NOTHING:
        return {}
    if not has_arrays:
        return _with_nulls(simple)
    return _ObjectReader(simple).attributes()


def event_of_json(text: str | bytes | bytearray) -> Any:
    """The value that JSON text holds, its numbers with all their digits."""
    try:
        return json.loads(text, parse_float=_number)
    except (ValueError, RecursionError) as error:
        raise InvalidEventError(f"the event is no JSON: {error}") from None


def _number(numeral: str) -> float | Decimal:
    value = float(numeral)
    if len(numeral) < 17 or Decimal(repr(value)) == Decimal(numeral):
        return value
    return Decimal(numeral)


def _is_plain(document: Mapping[str, Any], depth: int = MAX_NESTING) -> bool:
    """Whether there is neither an array nor a null in it."""
    for value in document.values():
        if value is None or type(value) is list or isinstance(value, list | tuple):
            return False
        if type(value) is dict or isinstance(value, Mapping):
            if depth == 0:
                raise _too_deep()
            if not _is_plain(value, depth - 1):
                return False
    return True


def _simplified(value: Any, depth: int) -> tuple[Any, bool]:
    """The same without empty arrays and objects and arrays of one; whether arrays are left."""
    if isinstance(value, Mapping):
        if depth == 0:
            raise _too_deep()
        fields, has_arrays = {}, False
        for name, each in value.items():
            simple, some = _simplified(each, depth - 1)
            if simple is not _NOTHING:
                fields[name] = simple
                has_arrays |= some
        return (fields or _NOTHING), has_arrays
    if not isinstance(value, list | tuple):
        return value, False
    if depth == 0:
        raise _too_deep()
    if len(value) > MAX_ELEMENTS:
        raise ListTooLongError(
            f"the event has an array of {len(value)} elements; the limit is {MAX_ELEMENTS}",
            limit=MAX_ELEMENTS,
            actual=len(value),
        )
    found = [(_simplified(each, depth - 1), isinstance(each, list | tuple)) for each in value]
    left = [each for each in found if each[0][0] is not _NOTHING]
    if len(left) < 2:
        return left[0][0] if left else (_NOTHING, False)
    # An array in an array is a place of its own, also for one value.
    return [_in_array(simple) if nested else simple for (simple, _), nested in left], True


def _in_array(simple: Any) -> Any:
    return simple if isinstance(simple, Mapping | list) else [simple]


def _with_nulls(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _NULL
        if value is None
        else (_with_nulls(value) if isinstance(value, Mapping) else value)
        for name, value in fields.items()
    }


class _ObjectReader:
    """The values and objects in an object, by their paths."""

    def __init__(self, fields: Mapping[str, Any], place: str = "") -> None:
        self._place = place  # what its paths are below, for errors
        self._values: dict[str, list[Any]] = {}
        self._objects: dict[str, list[Fields]] = {}
        self._single: dict[str, Any] = {}  # what is in no array
        for name, value in fields.items():
            self._add(name, value, in_array=False)

    def attributes(self) -> dict[str, Any]:
        """Those of the event that it is."""
        found: dict[str, Any] = {}
        for path, value in self._single.items():
            if len(self._values[path]) == 1:
                found[path] = _NULL if value is None else value
        return found | dict(self._lists(""))

    def _fields(self) -> Fields:
        """Those of the element that it is."""
        return dict(self._lists(FIELDS))

    def _lists(self, prefix: str) -> Iterator[tuple[str, Elements]]:
        for path, values in self._values.items():
            yield f"{prefix}{path}{VALUES}", Elements(tuple(values))
        for path, objects in self._objects.items():
            yield f"{prefix}{path}{OBJECTS}", Elements(tuple(objects))

    def _add(self, path: str, value: Any, *, in_array: bool) -> None:
        if isinstance(value, Mapping):
            self._add_object(path, value, [], in_array=in_array)
        elif isinstance(value, list):
            self._add_array(path, value, [])
        else:
            self._add_value(path, value)
            if not in_array:
                self._single[path] = value

    def _add_array(self, path: str, values: list[Any], beside: list[Any]) -> None:
        """The elements of an array, and what values stand beside them, or the array itself."""
        own = [each for each in values if not isinstance(each, Mapping | list)]
        for value in own:
            self._add_value(path, value)
        beside = [*beside, *own]
        for each in values:
            if isinstance(each, Mapping):
                self._add_object(path, each, beside, in_array=True)
            elif isinstance(each, list):
                self._add_array(path, each, beside)

    def _add_value(self, path: str, value: Any) -> None:
        known = None if value is None else checked(f"{self._place}{path}", value)
        self._values.setdefault(path, []).append(known)

    def _add_object(
        self, path: str, fields: Mapping[str, Any], beside: list[Any], *, in_array: bool
    ) -> None:
        inner = _ObjectReader(fields, f"{self._place}{path}.")
        known = inner._fields()
        if beside:
            known[f"{FIELDS}{VALUES}"] = Elements(tuple(beside))
        self._objects.setdefault(path, []).append(known)
        for below, values in inner._values.items():
            self._values.setdefault(f"{path}.{below}", []).extend(values)
        for below, objects in inner._objects.items():
            self._objects.setdefault(f"{path}.{below}", []).extend(objects)
        if not in_array:
            for below, value in inner._single.items():
                self._single[f"{path}.{below}"] = value


def _too_deep() -> NestingTooDeepError:
    return NestingTooDeepError(
        f"the event nests deeper than {MAX_NESTING} objects and arrays", limit=MAX_NESTING
    )
