"""``RoutingTable``: the subscriptions of all interfaces, in one engine.

An event is matched once, whoever wants it; the ids that come back say whose they are. Ids are the
neighbours' own, and only unique together with the interface, so that the engine knows them under
other names. What the neighbours are told of each other's wishes follows from the same changes
(``predicast.covering.interest``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any, Final, NamedTuple, Protocol

from predicast.covering.interest import Interest
from predicast.engine import Change, Engine, Operation, Subscribe, Unsubscribe
from predicast.errors import (
    DuplicateIdError,
    EngineError,
    TooManySubscriptionsError,
    UnknownIdError,
)
from predicast.model import Subscription
from predicast.model.values import from_microseconds
from predicast.routing.messages import Published
from predicast.routing.options import RouterOptions

# Fewer events than this are matched one by one, which costs less than to make a batch of them.
_FEW: Final = 4


class MatchingEngine(Protocol):
    """What a router needs of an engine: those of flat events have it, and those of graphs."""

    def apply(self, operations: Iterable[Operation]) -> Any:
        """Run a window, all or nothing."""

    def get(self, id: str) -> Any:
        """What is held under an id."""

    def match(self, event: Any) -> list[str]:
        """The ids that an event matches."""

    def match_batch(self, events: Iterable[Any]) -> list[list[str]]:
        """The same of several."""


class Home(NamedTuple):
    """Whose a subscription is, and what it is called there."""

    source: str
    id: str


class RoutingTable:
    """Who wants what."""

    def __init__(self, options: RouterOptions, engine: MatchingEngine | None = None) -> None:
        self.interest = Interest(
            absent=options.absent, slack=options.slack, covering=options.covering
        )
        if engine is None:
            engine = Engine(matcher=options.matcher, absent=options.absent)
        self._engine: Any = engine
        self._most = options.max_subscriptions
        self._numbers: dict[str, int] = {}  # of sources, for short names
        self._numbered = 0
        self._held: dict[str, dict[str, str]] = {}  # by source: ids, and what the engine calls them
        self._homes: dict[str, Home] = {}

    def __len__(self) -> int:
        """How many subscriptions there are, of all sources."""
        return len(self._homes)

    def statements(self, source: str) -> list[Subscribe]:
        """All that a source holds, as operations that would make it so again."""
        return [
            Subscribe(id, self._statement(name)) for id, name in self._held.get(source, {}).items()
        ]

    def run(self, source: str, operations: Sequence[Operation], *, passed_on: bool = False) -> None:
        """Run a source's window: all of it or, if something is wrong with it, nothing.

        Brokers have ``passed_on`` what they want, and hosts want it themselves.
        """
        self._check_room(source, operations)
        names = {each.id: self._name(source, each.id) for each in operations}
        try:
            self._engine.apply([replace(each, id=names[each.id]) for each in operations])
        except (DuplicateIdError, UnknownIdError) as error:
            raise _in_their_words(error, names) from error
        held = self._held.setdefault(source, {})
        said: dict[str, Any] = {}
        for operation in operations:
            id, name = operation.id, names[operation.id]
            if isinstance(operation, Unsubscribe):
                held.pop(id, None)
            else:
                held[id], said[id] = name, operation.expression
        for id, name in names.items():
            if id in held:
                self._homes[name] = Home(source, id)
                stated = said[id]
                is_plain = isinstance(stated, Subscription)
                stated = stated if is_plain else self._statement(name)
                self.interest.ask(source, id, stated, passed_on=passed_on)
            elif self._homes.pop(name, None) is not None:
                self.interest.drop(source, id)

    def all_but(self, source: str, ids: set[str]) -> list[Operation]:
        """What it takes for a source to hold nothing but these."""
        return [Unsubscribe(id) for id in self._held.get(source, ()) if id not in ids]

    def drop(self, source: str) -> None:
        """Forget all that a source wanted."""
        held = self._held.pop(source, {})
        if held:
            self._engine.apply([Unsubscribe(name) for name in held.values()])
        for name in held.values():
            del self._homes[name]
        self.interest.drop_all(source)
        self._numbers.pop(source, None)

    def match(self, events: Sequence[Published]) -> list[list[Home]]:
        """For each event whose subscriptions it matches."""
        homes = self._homes
        if not homes:
            return [[] for _ in events]
        if not getattr(self._engine, "asks_for_now", False):
            found = self._ids_of([each.event for each in events], {})
        else:
            found = []
            for at, group in groupby(events, lambda each: each.at):
                now: dict[str, datetime] = {"now": from_microseconds(at)}
                found += self._ids_of([each.event for each in group], now)
        return [[homes[name] for name in names] for names in found]

    def _ids_of(self, events: Sequence[Any], now: Mapping[str, datetime]) -> list[list[str]]:
        if len(events) < _FEW:
            return [self._engine.match(each, **now) for each in events]
        found: list[list[str]] = self._engine.match_batch(events, **now)
        return found

    def _statement(self, name: str) -> Any:
        """What is passed on: a subscription or, if it is something else, what it was written as."""
        entry = self._engine.get(name)
        if isinstance(entry.subscription, Subscription):
            return entry.subscription
        return entry.subscription if entry.text is None else entry.text

    def _name(self, source: str, id: str) -> str:
        number = self._numbers.get(source)
        if number is None:
            number = self._numbers[source] = self._numbered
            self._numbered += 1
        return f"{number}/{id}"

    def _check_room(self, source: str, operations: Sequence[Operation]) -> None:
        held = self._held.get(source, {})
        new = sum(type(each) is Subscribe and each.id not in held for each in operations)
        if new and len(held) + new > self._most:
            raise TooManySubscriptionsError(
                f"a neighbour may have {self._most} subscriptions, and this one has {len(held)}",
                limit=self._most,
                actual=len(held) + new,
            )


def _in_their_words(
    error: DuplicateIdError | UnknownIdError, names: Mapping[str, str]
) -> EngineError:
    """The error by the neighbour's own id; the engine's, and its suggestions, are not for it."""
    id = next((id for id, name in names.items() if name == error.id), None)
    if isinstance(error, DuplicateIdError):
        return DuplicateIdError(f"the id {id!r} is taken; a change replaces it", id=id)
    return UnknownIdError(f"no subscription of this neighbour has the id {id!r}", id=id)


def as_replacing(operation: Operation) -> Operation:
    """The same, whether the id is taken or not."""
    if isinstance(operation, Subscribe):
        return replace(operation, replace=True)
    assert isinstance(operation, Change | Unsubscribe)
    return operation
