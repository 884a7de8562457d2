"""``EventReader``: events of the attributes that somebody looks at, made of mappings.

What nobody looks at is not even touched: it may be bytes, a matrix or a NaN. What is looked at and
is no value of the model is refused; who wants to go on without it is told why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from predicast.errors import ModelError
from predicast.model.event import (
    MAX_NESTING,
    Event,
    Held,
    check_new,
    checked_attribute,
    misnamed,
    no_mapping,
    too_deep,
    trusted_event,
)
from predicast.model.interval import Interval
from predicast.model.values import checked

_SCALARS: Final = frozenset({int, float, str, bool})

_Flat = dict[str, Held]


class EventReader:
    """Makes events of mappings, of the attributes with these names and no others.

    >>> EventReader({"price", "order.total"}).event({"price": 9.5, "tags": ["new"]})
    Event({'price': 9.5})
    """

    __slots__ = ("_above", "names")

    names: frozenset[str]

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        # Where a mapping may hold one of them: "a" and "a.b" for "a.b.c".
        self._above = frozenset(
            name[:place]
            for name in self.names
            if "." in name
            for place, character in enumerate(name)
            if character == "."
        )

    def event(self, attributes: Mapping[str, Any]) -> Event:
        """The event; an attribute that is no value is refused."""
        flat: _Flat = {}
        return trusted_event(flat, is_region=self._read(attributes, "", flat, None, MAX_NESTING))

    def lenient_event(self, attributes: Mapping[str, Any], refused: list[ModelError]) -> Event:
        """The event without the attributes that are refused; why each of them is is noted."""
        flat: _Flat = {}
        is_region = self._read(attributes, "", flat, refused, MAX_NESTING)
        return trusted_event(flat, is_region=is_region)

    def _read(  # noqa: PLR0912  # calls cost
        self,
        attributes: Mapping[str, Any],
        prefix: str,
        flat: _Flat,
        refused: list[ModelError] | None,
        depth: int,
    ) -> bool:
        """Write what is looked at into ``flat``; say whether there is an interval among it."""
        if type(attributes) is not dict and not isinstance(attributes, Mapping):
            raise no_mapping(attributes)
        if depth == 0:
            raise too_deep()
        names, above = self.names, self._above
        is_region = False
        for key, value in attributes.items():
            try:
                if type(key) is not str:
                    raise misnamed(f"attribute names are non-empty strings, not {key!r}", prefix)
                name = prefix + key if prefix else key
                if name in names:
                    if type(value) in _SCALARS and key:  # most are: without a call to spare
                        if name in flat:
                            check_new(name, flat)
                        flat[name] = checked(name, value)
                        continue
                    if value is None or not key:
                        continue
                    if type(value) is Interval:
                        check_new(name, flat)
                        flat[name] = value
                        is_region = True
                        continue
                    if not isinstance(value, Mapping):
                        check_new(name, flat)
                        flat[name] = checked_attribute(name, value, depth, refused)
                        continue
                if name in above and isinstance(value, Mapping):
                    is_region |= self._read(value, name + ".", flat, refused, depth - 1)
            except ModelError as error:
                if refused is None:
                    raise
                refused.append(error)
        return is_region


def names_of(event: Event | Mapping[str, Any]) -> Iterator[str]:
    """The dotted names of all that was given as an event, values of the model or not."""
    return _names_of(event, "", MAX_NESTING)


def _names_of(attributes: Event | Mapping[str, Any], prefix: str, depth: int) -> Iterator[str]:
    for key, value in attributes.items():
        if type(key) is not str:
            continue
        if isinstance(value, Mapping):
            if depth > 1:
                yield from _names_of(value, f"{prefix}{key}.", depth - 1)
        else:
            yield prefix + key
