"""CESQL texts as functions of the values of their attributes, for derived attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from predicast.bounded_cache import remembered
from predicast.derived.cesql.evaluation import Errors, Get, compiled
from predicast.derived.cesql.parser import parse
from predicast.derived.cesql.printer import text_of
from predicast.derived.cesql.tree import Attribute, Invocation, attributes_of, reads_all
from predicast.model import Value

_MAX_BYTES: Final = 16 << 20
_BYTES: Final = 4_000  # of one, and per character:
_PER_CHARACTER: Final = 200


@remembered(_MAX_BYTES, lambda given, _: _BYTES + _PER_CHARACTER * len(given[0]))
def partial_of_text(text: str) -> Callable[[Get], Value | None]:
    """From an event's attributes to the text's value; ``None`` for an error."""
    run = compiled(parse(text))

    def apply(get: Get) -> Value | None:
        errors: Errors = []
        value: Value = run(get, errors)
        return None if errors else value

    return apply


@remembered(_MAX_BYTES, lambda given, _: _BYTES + _PER_CHARACTER * len(given[0]))
def function_of_text(text: str) -> Callable[[Sequence[Any]], Value | None]:
    """From values, in the order of the attributes' names, to the text's value."""
    places = {name: place for place, name in enumerate(attributes_of(parse(text)))}
    run = partial_of_text(text)
    return lambda values: run(lambda name: values[places[name]])


def value_of(text: str, *values: Value | None) -> Value | None:
    """What a text gives for the values of its attributes, in the order of their names.

    ``None`` where there is an error: that is how derived attributes have no value.
    """
    return function_of_text(text)(values)


def canonical(text: str) -> tuple[str, list[str]]:
    """A text in its one spelling, and the names of the attributes that it looks at, ascending."""
    tree = parse(text)
    return text_of(tree), attributes_of(tree)


def is_of_present(text: str) -> bool:
    """Whether a text has no value unless all of its attributes have one."""
    return reads_all(parse(text))


def of_strings(text: str) -> str | None:
    """The function that gives the same if the text's only attribute is a string.

    One of our own, by its name, or none: ``""`` where the string itself is what is given.
    """
    match parse(text):
        case Attribute() | Invocation("STRING", (Attribute(),)):
            return ""
        case Invocation("LENGTH" | "LOWER" | "UPPER" as function, (Attribute(),)):
            return function.lower()
    return None
