"""The edges of every type of value, and the values next to a value.

A defect that random values never meet sits at an edge: where integers and floats part, where 64
bits or the calendar end, at the empty string and the last character. Whatever draws values at
random, for subscriptions or for events, draws some of these too.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from predicast.errors import ModelError
from predicast.model import Value
from predicast.model.decimals import ExactDecimal
from predicast.model.domain import after_prefix
from predicast.model.values import INT_MAX, INT_MIN, checked

INTEGERS: Final[tuple[int, ...]] = (
    0, 1, -1,
    *(sign * 2**31 + step for sign in (-1, 1) for step in (-1, 0, 1)),
    *(sign * 2**53 + step for sign in (-1, 1) for step in (-2, -1, 0, 1, 2)),
    INT_MIN, INT_MIN + 1, INT_MIN + 1024, INT_MAX - 1023, INT_MAX - 1, INT_MAX,
)  # fmt: skip
FLOATS: Final[tuple[float, ...]] = (
    0.0, -0.0, 0.1,
    *(
        sign * step
        for sign in (-1, 1)
        for edge in (5e-324, sys.float_info.min, 2.0**53, 2.0**63, sys.float_info.max)
        for step in (math.nextafter(edge, 0), edge, math.nextafter(edge, math.inf))
        if math.isfinite(step)
    ),
)  # fmt: skip
# Numbers that are neither: beside floats, beside integers beyond 53 bits, beyond 64, beyond floats.
DECIMALS: Final[tuple[ExactDecimal, ...]] = tuple(
    ExactDecimal(f"{sign}{digits}")
    for sign in ("", "-")
    for digits in (
        "0.09999999999999999999", "0.10000000000000000001", "0.49999999999999999999",
        "0.50000000000000000001", "2.00000000000000000001", f"{2**53}.5", f"{2**53 + 2}.01",
        f"{INT_MAX}.5", f"{INT_MAX - 1}.99", f"{2**64 - 1}", f"{2**64 + 1}", f"{10**23}",
        f"{10**39 + 1}", f"{10**308}1", "0." + "0" * 330 + "1",
    )
)  # fmt: skip
STRINGS: Final[tuple[str, ...]] = (
    "", "\0", "\0\0", "a", "a\0", "a\U0010ffff", "\x7f", "\x80", "\u07ff", "\u0800",
    # No character lies between the first two; the next two differ in the order of UTF-16.
    "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010fffe",
    "\U0010ffff", "\U0010ffff\0", "\U0010ffff\U0010ffff",
    # Around the longest piece that an index of patterns looks up.
    "a" * 64, "a" * 65, "a" * 64 + "b", "ab" * 150, "é" * 33,
)  # fmt: skip
TIMESTAMPS: Final[tuple[datetime, ...]] = tuple(
    edge + timedelta(microseconds=step)
    for edge, steps in (
        (datetime.min.replace(tzinfo=UTC), (0, 1, 2)),
        (datetime.max.replace(tzinfo=UTC), (-2, -1, 0)),
        (datetime(1970, 1, 1, tzinfo=UTC), (-1, 0, 1)),
        (datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC), (-1, 0)),
    )
    for step in steps
)
# Patterns that everything matches, or next to nothing, and their neighbours.
LIKE_PATTERNS: Final = ("", "%", "%%", "_", "__", "%_", "_%", "%_%", "%\0%", "\U0010ffff%", "a%%b")
REGEXES: Final = ("", ".*", "^.*$", "(?s)^.*$", "^", "$", "^$", "()", ".", "^.$", "\\z", "\\x00")


def neighbours(value: Any) -> list[Value]:
    """The value and those next to it, as far as there are such values."""
    return list(_valid(_beside(value)))


def _valid(values: Iterable[Any]) -> Iterator[Value]:
    for value in values:
        try:
            yield checked("value", value)
        except ModelError:  # beyond the ends of 64 bits or of the calendar
            continue


def _beside(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [True, False]
    if isinstance(value, int):
        return [value - 1, value, value + 1, float(value)]
    if isinstance(value, float):
        return [
            value,
            math.nextafter(value, -math.inf),
            math.nextafter(value, math.inf),
            value / 2,
            int(value),
        ]
    if isinstance(value, Decimal):
        longer = Decimal(f"{value}1" if "." in str(value) else f"{value}.1")
        return [value, longer, int(value), int(value) + 1, float(value)]
    if isinstance(value, datetime):
        return [value, *_shifted(value, -1), *_shifted(value, 1)]
    following = after_prefix(value)
    after = [] if following is None else [following]
    return [value, value + "a", "a" + value, value[:-1], value + "\0", value + "\U0010ffff", *after]


def _shifted(value: datetime, microseconds: int) -> list[datetime]:
    try:
        return [value + timedelta(microseconds=microseconds)]
    except OverflowError:
        return []
