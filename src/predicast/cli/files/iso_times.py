"""Timestamps that JSON writes as strings.

JSON has no timestamps, and most programs write them in ISO form: ``"2026-01-31T09:30:00Z"``. Such a
string is read as the timestamp where subscriptions compare the attribute with timestamps, or take
parts of one, and none of them expects a string. The form is the one that a cell of CSV has
(``csv_types.py``); a string in another form stays a string.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from predicast import Engine
from predicast.cli.files.csv_types import timestamps_among
from predicast.cli.files.matches import flat
from predicast.engine.looking import expected_kinds
from predicast.model import Kind


class IsoTimes:
    """The attributes whose strings may be timestamps, and those of which some were."""

    def __init__(self, engine: Engine, stated: frozenset[str]) -> None:
        expected = expected_kinds(engine)
        self._names = {
            name
            for name, kind in expected
            if kind is Kind.TIMESTAMP and (name, Kind.STRING) not in expected and name not in stated
        }
        self._read: dict[str, str] = {}  # with one of the strings

    def in_events(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The events, flat if there is anything to read, with timestamps for such strings."""
        if not self._names:
            return events
        flattened = [dict(flat(event)) for event in events]
        for name in self._names:
            texts = {value for event in flattened if type(value := event.get(name)) is str}
            if not texts:
                continue
            found = timestamps_among(sorted(texts))
            for event in flattened:
                if (text := event.get(name)).__class__ is str and text in found:
                    event[name] = found[text]
                    self._read.setdefault(name, text)
        return flattened

    def notes(self) -> Iterator[str]:
        """What the user should know."""
        for name, text in sorted(self._read.items()):
            yield (
                f"strings of {name!r} such as {text!r} are read as timestamps, with which "
                f"subscriptions compare it; --type {name}=string keeps them strings"
            )
