"""What a sample of events has: names of attributes, and of which kinds their values are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from predicast.errors import ModelError
from predicast.model import Event, Interval, Kind
from predicast.model.event_reader import EventReader, names_of
from predicast.model.values import kind_of

_MOST_NAMES: Final = 100_000  # of which near ones are looked for: a name may be a key of somebody's


class Sample:
    """Attributes of events that were seen, as far as subscriptions look at them."""

    def __init__(self, reader: EventReader) -> None:
        self._reader = reader
        self.events = 0
        self.names: set[str] = set()
        self.kinds: dict[str, Counter[Kind]] = {}
        self._examples: dict[str, Any] = {}

    def see(self, events: Iterable[Event | Mapping[str, Any]]) -> None:
        """Take events in."""
        for event in events:
            self.events += 1
            if len(self.names) < _MOST_NAMES:
                self.names.update(names_of(event))
            for name, value in self._read(event).items():
                kind = value.kind if isinstance(value, Interval) else kind_of(value)
                if kind is not None:
                    self.kinds.setdefault(name, Counter())[kind] += 1
                    self._examples.setdefault(name, value)

    def example(self, name: str) -> Any:
        """A value of an attribute that was seen."""
        return self._examples[name]

    def _read(self, event: Event | Mapping[str, Any]) -> Event:
        if isinstance(event, Event):
            return event
        refused: list[ModelError] = []
        return self._reader.lenient_event(event, refused)
