"""``Event``: what is published. Attributes by name, each a value, a list or, in a region event,
an interval.

Whoever makes an ``Event`` has all of its attributes checked. An engine makes it of those alone that
some subscription looks at (``event_reader.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

from predicast.errors import (
    InvalidEventError,
    ListTooLongError,
    ModelError,
    NestingTooDeepError,
)
from predicast.model.decimals import ExactDecimal
from predicast.model.elements import FIELDS, MAX_ELEMENTS, Element, Elements
from predicast.model.interval import Interval
from predicast.model.values import NOT_UNICODE, Value, checked, lone_surrogate

MAX_NESTING: Final = 64
_PLAIN: Final = frozenset({int, float, str, bool, datetime, Interval})  # surely no mappings

Held: TypeAlias = Value | Interval | Elements  # what an attribute may be


class Event:
    """A checked, flat, read-only set of attributes.

    Nested mappings become dotted names, and ``None`` is the same as absent:

    >>> Event({"order": {"total": 9.5, "note": None}, "x": Interval(3, 7)})
    Event({'order.total': 9.5, 'x': Interval(lo=3, hi=7, lo_open=False, hi_open=False)})

    A list or tuple of values, or of objects, is one attribute:

    >>> Event({"tags": ["a", None], "items": [{"price": 5, "at": {"city": "Rome"}}]})
    Event({'tags': ['a', None], 'items': [{'price': 5, 'at.city': 'Rome'}]})
    """

    __slots__ = ("_attributes", "is_region")

    _attributes: dict[str, Held]
    is_region: bool

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        flat: dict[str, Held] = {}
        is_region = _flatten(attributes, "", flat, MAX_NESTING)
        _set_attributes(self, flat)
        _set_is_region(self, is_region)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"an Event is read-only; make a new one to set {name!r}")

    def get(self, attribute: str) -> Held | None:
        """The attribute's value, or ``None`` if the event lacks it."""
        return self._attributes.get(attribute)

    def items(self) -> Iterator[tuple[str, Held]]:
        """Names with their values."""
        return iter(self._attributes.items())

    def has_decimals(self) -> bool:
        """Whether some number is neither a 64-bit integer nor a float."""
        return ExactDecimal in map(type, self._attributes.values())

    def __len__(self) -> int:
        return len(self._attributes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> frozenset[tuple[str, type, Held]]:
        # The type belongs to the key: 1 and True are equal in Python, and not here.
        return frozenset((name, type(value), value) for name, value in self._attributes.items())

    def __repr__(self) -> str:
        return f"Event({self._attributes!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Event, (self._attributes,)


def with_values(event: Event, values: Mapping[str, Held | None]) -> Event:
    """The event with other values under some names, trusted to be checked; ``None`` is absent."""
    attributes = dict(event.items())
    for name, value in values.items():
        if value is None:
            attributes.pop(name, None)
        else:
            attributes[name] = value
    return trusted_event(attributes, is_region=event.is_region)


def trusted_event(attributes: dict[str, Held], *, is_region: bool = False) -> Event:
    """An event of attributes that are checked and flat already."""
    event: Event = _new(Event)
    _set_attributes(event, attributes)
    _set_is_region(event, is_region)
    return event


Refused: TypeAlias = list[ModelError] | None  # None: whatever is refused is raised


def _flatten(
    attributes: Mapping[str, Any],
    prefix: str,
    flat: dict[str, Held],
    depth: int,
    refused: Refused = None,
) -> bool:
    """Write the attributes under dotted names into ``flat``; say whether one is an interval."""
    if type(attributes) is not dict and not isinstance(attributes, Mapping):
        raise no_mapping(attributes)
    if depth == 0:
        raise too_deep()
    is_region = False
    for key, value in attributes.items():
        if type(key) is not str or not key:
            raise misnamed(f"attribute names are non-empty strings, not {key!r}", prefix)
        if not key.isascii() and lone_surrogate(key) is not None:
            raise misnamed(f"the attribute's name {key!r} {NOT_UNICODE}", prefix)
        if value is None:
            continue
        name = prefix + key if prefix else key
        type_ = type(value)
        if type_ not in _PLAIN and isinstance(value, Mapping):
            is_region |= _flatten(value, name + ".", flat, depth - 1, refused)
            continue
        check_new(name, flat)
        if type_ is Interval:
            flat[name] = value
            is_region = True
        else:
            try:
                flat[name] = checked_attribute(name, value, depth, refused)
            except ModelError as error:
                if refused is None:
                    raise
                refused.append(error)
    return is_region


def checked_attribute(name: str, value: Any, depth: int, refused: Refused) -> Value | Elements:
    """A value or a list, checked; neither an interval nor a mapping, nested no deeper than said.

    What is refused in a list is raised, or else noted and taken for null.
    """
    if type(value) in _LISTS:
        return _elements(name, value, depth - 1, refused)
    return checked(name, value)


_LISTS: Final = frozenset({list, tuple, Elements})


def _elements(
    name: str, values: Sequence[Any] | Elements, depth: int, refused: Refused
) -> Elements:
    """The list of that name, its elements checked."""
    if isinstance(values, Elements):
        return values  # of an event, which has checked them
    if depth == 0:
        raise too_deep()
    if len(values) > MAX_ELEMENTS:
        raise ListTooLongError(
            f"attribute {name!r} is a list of {len(values)} elements; the limit is {MAX_ELEMENTS}",
            limit=MAX_ELEMENTS,
            actual=len(values),
        )
    found = []
    for value in values:
        try:
            found.append(_element(name, value, depth, refused))
        except ModelError as error:
            if refused is None:
                raise
            refused.append(error)
            found.append(None)
    return Elements(tuple(found))


def _element(name: str, value: Any, depth: int, refused: Refused) -> Element:
    type_ = type(value)
    if value is None:
        return None
    if type_ in _LISTS:
        return _elements(name, value, depth - 1, refused)
    if type_ is Interval:
        raise InvalidEventError(
            f"attribute {name!r} is a list with an interval in it; give the list single values",
            attribute=name,
        )
    if type_ in _PLAIN or not isinstance(value, Mapping):
        return checked(name, value)
    fields: dict[str, Held] = {}
    if _flatten(value, FIELDS, fields, depth, refused):
        raise InvalidEventError(
            f"attribute {name!r} is a list with an interval in one of its objects; "
            "give them single values",
            attribute=name,
        )
    return fields  # type: ignore[return-value]  # without an interval


def too_deep() -> NestingTooDeepError:
    """What is said of an event within events within events."""
    return NestingTooDeepError(
        f"the event nests deeper than {MAX_NESTING} objects", limit=MAX_NESTING
    )


def no_mapping(given: object) -> InvalidEventError:
    """What is said of something that is no event."""
    return InvalidEventError(
        f"an event is a mapping of names to values, not {type(given).__name__}"
    )


def check_new(name: str, flat: Mapping[str, Held]) -> None:
    """Refuse an attribute that was given already."""
    if name in flat:
        raise InvalidEventError(
            f"attribute {name!r} is given twice, nested and dotted", attribute=name
        )


# An event refuses to be written to; its slots do not.
_new: Final = object.__new__
_set_attributes: Final = Event.__dict__["_attributes"].__set__
_set_is_region: Final = Event.__dict__["is_region"].__set__


def misnamed(why: str, prefix: str) -> InvalidEventError:
    """What is said of a name that cannot be one; ``prefix`` is what it is nested in, dotted."""
    inside = prefix[:-1]
    return InvalidEventError(
        why + (f" (inside {inside!r})" if inside else ""), attribute=inside or None
    )
