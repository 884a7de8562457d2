"""``Elements``: what an attribute holds that is a list.

An element is judged like a small event of its own. A value stands there under the one name
``element``, the fields of an object under ``element.price`` and so on::

    "tags":  ["a", "b"]                 {element: 'a'}, {element: 'b'}
    "items": [{"price": 5}, None]       {element.price: 5}, {}
    "grid":  [[1, 2], [3]]              {element: a list}, {element: a list}

An element that is null has neither, and so leaves unknown whatever is asked of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from predicast.model.values import Value

ELEMENT: Final = "element"  # the name under which an element stands
FIELDS: Final = f"{ELEMENT}."  # what the names of its fields begin with
MAX_ELEMENTS: Final = 1 << 20  # of one list

Fields: TypeAlias = "dict[str, Value | Elements]"
Element: TypeAlias = "Value | Elements | Fields | None"

_NOTHING: Final[Fields] = {}


class Elements:
    """The elements of a list in their order, trusted to be checked; read-only."""

    __slots__ = ("values",)

    values: tuple[Element, ...]  # values, lists, fields under their names, or None

    def __init__(self, values: tuple[Element, ...]) -> None:
        _set_values(self, values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a list of an event is read-only; {name!r} cannot be set")

    def __len__(self) -> int:
        return len(self.values)

    def attributes(self) -> Iterator[Fields]:
        """Each element as the attributes that conditions on it look at."""
        for value in self.values:
            if value is None:
                yield _NOTHING
            elif isinstance(value, dict):
                yield value
            else:
                yield {ELEMENT: value}

    def plain(self) -> list[Any]:
        """The same as Python has it; fields of fields under dotted names."""
        return [_plain(value) for value in self.values]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Elements):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        # The type belongs to the key: 1 and True are equal in Python, and not here.
        return tuple(
            frozenset((name, type(each), each) for name, each in value.items())
            if isinstance(value, dict)
            else (type(value), value)
            for value in self.values
        )

    def __repr__(self) -> str:
        return repr(self.plain())

    def __reduce__(self) -> tuple[Any, ...]:
        return Elements, (self.values,)


# A list refuses to be written to; its slot does not.
_set_values: Final = Elements.__dict__["values"].__set__


def _plain(value: Element) -> Any:
    if isinstance(value, Elements):
        return value.plain()
    if isinstance(value, dict):
        if ELEMENT in value:
            return _plain(value[ELEMENT])
        return {name: _plain(each) for name, each in fields_of(value).items()}
    return value


def fields_of(element: Fields) -> Fields:
    """The fields of an object by their own names, without what was computed from them."""
    return {
        name.removeprefix(FIELDS): value
        for name, value in element.items()
        if name.startswith(FIELDS)
    }
