"""Which columns hold the ends of an attribute that is an interval.

Two columns, or four, the others of which say whether each end is open; or one, a struct with the
fields ``lo`` and ``hi``, closed, or ``lo``, ``hi``, ``lo_open`` and ``hi_open``, and whatever else.
The fields of a struct are attributes of their own as well, by their dotted names: ``x.lo`` is a
number to whoever looks at ``x.lo``. An engine is told which structs are intervals, or else they
would be in a table and not in an event that is given as a mapping.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, TypeAlias

from predicast.errors import (
    InvalidOptionError,
    UnknownColumnError,
    UnsupportedColumnError,
    suggest,
)

IntervalColumns: TypeAlias = Mapping[str, str | tuple[str, ...]]  # as they are given
Ends: TypeAlias = Mapping[str, tuple[str, ...]]  # two columns, or four

_FIELDS: Final = ("lo", "hi", "lo_open", "hi_open")


def interval_fields(struct: str) -> tuple[str, ...]:
    """What the fields of an interval are called: its ends, and whether each is open."""
    return tuple(f"{struct}.{field}" for field in _FIELDS)


def ends_in_struct(struct: str, names: Collection[str]) -> tuple[str, ...] | None:
    """The columns that hold the ends, by dotted name, if the names have a struct of them."""
    ends = interval_fields(struct)
    if struct in names or any(name not in names for name in ends[:2]):
        return None
    there = [name for name in ends if name in names]
    if len(there) == len(ends) - 1:
        lacking = next(name for name in ends if name not in names)
        raise UnsupportedColumnError(
            f"the interval {struct!r} has {there[-1]!r} and no {lacking!r}; say of both ends "
            "whether they are open, or of none",
            column=struct,
            type="struct",
        )
    return tuple(there)


def ends_of(attribute: str, given: Any, names: Collection[str]) -> tuple[str, ...]:
    """The columns that hold an attribute's ends, of all whose names there are."""
    if isinstance(given, str):
        ends = ends_in_struct(given, names)
        if ends is None:
            raise _no_interval(attribute, given, names)
        return ends
    if not isinstance(given, tuple | list) or len(given) not in {2, 4}:
        raise InvalidOptionError(
            "intervals pairs each attribute with a struct column of lo and hi, with two columns, "
            "or with four, the others of which say whether an end is open; "
            f"{attribute!r} with {given!r}",
            option="intervals",
        )
    return tuple(given)


def _no_interval(attribute: str, struct: str, names: Collection[str]) -> UnknownColumnError:
    fields = [name for name in names if name.startswith(f"{struct}.")]
    structs = {name.rpartition(".")[0] for name in names if name.endswith(".lo")}
    close = None if fields else suggest(struct, structs)
    hint = f"; did you mean {close!r}?" if close else ""
    if fields:
        hint = f"; it has {', '.join(name[len(struct) + 1 :] for name in fields[:8])}"
    return UnknownColumnError(
        f"the interval {attribute!r} is column {struct!r}, which is no struct with the fields lo "
        f"and hi{hint}",
        column=struct,
        suggestion=close,
    )
