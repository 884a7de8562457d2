"""The zone of timestamps that name none: UTC, unless whoever reads a text says otherwise.

It is a matter of the text's surroundings, as the session's zone is in Spark, and not of each
function on the way to a literal: so it is kept in a context variable, which a block sets. Shapes
that are remembered of texts are those of one zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, timedelta, timezone, tzinfo
from typing import Final

from predicast.errors import InvalidOptionError

_OFFSET: Final = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d\d))?")
_zone: Final[ContextVar[tzinfo]] = ContextVar("zone", default=UTC)


def implied_zone() -> tzinfo:
    """The zone of a timestamp that names none."""
    return _zone.get()


@contextmanager
def reading_in(zone: str | None) -> Iterator[None]:
    """Read texts as in a zone: ``Europe/Rome``, ``+05:30``, ``GMT+8``; ``None``: as before."""
    if zone is None:
        yield
        return
    before = _zone.set(_read(zone))
    try:
        yield
    finally:
        _zone.reset(before)


def _read(name: object) -> tzinfo:
    if isinstance(name, str):
        if name in {"UTC", "Z", "GMT"}:
            return UTC
        offset = _OFFSET.fullmatch(name)
        try:
            if offset is None:
                from zoneinfo import ZoneInfo  # slow to import, and few name a zone

                return ZoneInfo(name)
            sign, hours, minutes = offset.groups()
            span = timedelta(hours=int(hours), minutes=int(minutes or 0))
            return timezone(-span if sign == "-" else span)
        except (ValueError, OSError, LookupError):  # no such name, or no zone of that name
            pass
    raise InvalidOptionError(
        f"time_zone is the name of a zone, such as 'Europe/Rome' or '+05:30', not {name!r}",
        option="time_zone",
    )
