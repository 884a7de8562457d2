"""Matches of one batch of events, in whichever way a writer wants them.

Events that came as objects are matched to lists of ids, rows of a table to a table of pairs; each
is turned into the other only when asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from predicast import Interval
from predicast.matching.matches import sorted_matches
from predicast.model.event import MAX_NESTING
from predicast.model.values import show


class Matched(NamedTuple):
    """One event's matches: its number from 0, and the ids, sorted."""

    event: int
    ids: list[str]


class Matches(ABC):
    """The matches of events ``first``, ``first + 1``, …, of which there are ``count``."""

    first: int
    count: int

    @abstractmethod
    def per_event(self) -> Iterator[Matched]:
        """The events that match something, in order."""

    def listed(self, *, every_event: bool) -> Iterator[Matched]:
        """The same, with those that match nothing if every event is wanted."""
        expected = self.first
        for matched in self.per_event():
            if every_event:
                yield from (Matched(event, []) for event in range(expected, matched.event))
            yield matched
            expected = matched.event + 1
        if every_event:
            yield from (Matched(event, []) for event in range(expected, self.first + self.count))

    @abstractmethod
    def pairs(self) -> pa.Table:
        """A table of ``event`` (int64) and ``subscription`` (string), sorted by both."""

    @abstractmethod
    def shown(self, event: int) -> str:
        """An event in brief, for people."""

    @abstractmethod
    def event(self, event: int) -> Any:
        """An event as it was read."""


E = TypeVar("E")


class EventMatches(Matches, Generic[E]):
    """Matches of events given as objects, with what shows one of them to people."""

    def __init__(
        self, first: int, events: Sequence[E], ids: list[list[str]], show: Callable[[E], str]
    ) -> None:
        self.first = first
        self.count = len(events)
        self._events = events
        self._ids = ids
        self._show = show

    def per_event(self) -> Iterator[Matched]:
        return (Matched(event, ids) for event, ids in enumerate(self._ids, self.first) if ids)

    def pairs(self) -> pa.Table:
        numbers = np.arange(self.first, self.first + self.count, dtype=np.int64)
        return pa.table(
            {
                "event": np.repeat(numbers, [len(ids) for ids in self._ids]),
                "subscription": pa.array([id for ids in self._ids for id in ids], pa.string()),
            }
        )

    def shown(self, event: int) -> str:
        return self._show(self.event(event))

    def event(self, event: int) -> E:
        return self._events[event - self.first]


class RowMatches(Matches):
    """Matches of the rows of a batch; ``table`` is what ``Engine.match_arrow`` gave for it."""

    def __init__(self, first: int, batch: pa.RecordBatch, table: pa.Table) -> None:
        self.first = first
        self.count = batch.num_rows
        self._batch = batch
        self._table = sorted_matches(table)

    def per_event(self) -> Iterator[Matched]:
        rows = self._table.column("event").to_numpy()
        ids = self._table.column("subscription").to_pylist()
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(ids)], strict=False):
            yield Matched(self.first + int(rows[start]), ids[start:end])

    def pairs(self) -> pa.Table:
        rows = self._table.column("event").to_numpy()
        ids = self._table.column("subscription").cast(pa.string())
        return pa.table({"event": pa.array(rows + self.first, pa.int64()), "subscription": ids})

    def shown(self, event: int) -> str:
        return brief(self.event(event))

    def event(self, event: int) -> Mapping[str, Any]:
        row: Mapping[str, Any] = self._batch.slice(event - self.first, 1).to_pylist()[0]
        return row


def brief(attributes: Mapping[str, Any]) -> str:
    """Attributes and their values on one line."""
    return ", ".join(f"{name}={_value(value)}" for name, value in flat(attributes))


def flat(
    row: Mapping[str, Any], prefix: str = "", depth: int = MAX_NESTING
) -> Iterator[tuple[str, Any]]:
    """What is there under dotted names, whatever it is, to the depth that an event may have."""
    for name, value in row.items():
        if isinstance(value, dict) and depth > 1:
            yield from flat(value, f"{prefix}{name}.", depth - 1)
        elif value is not None:
            yield prefix + name, value


def _value(value: Any) -> str:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(sep=" ")
    if isinstance(value, str | bool | int | float):
        return show(value)
    return str(value) if isinstance(value, Interval) else repr(value)
