"""``RoutingTable``: the subscriptions of all interfaces, in one engine.

An event is matched once, whoever wants it; the keys that come back say whose subscriptions they
are, which is looked up for all events of a batch at once. Ids are the neighbours' own, and only
unique together with the interface, so that the engine knows them under other names. What the
neighbours are told of each other's wishes follows from the same changes
(``predicast.covering.interest``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby, pairwise
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np

from predicast.covering.interest import Interest
from predicast.covering.widening import EVERYTHING
from predicast.engine import Change, Engine, Operation, Subscribe, Unsubscribe
from predicast.errors import (
    DuplicateIdError,
    EngineError,
    TooManySubscriptionsError,
    UnknownIdError,
)
from predicast.model import Event, Subscription
from predicast.model.values import from_microseconds
from predicast.routing.messages import Published, malformed
from predicast.routing.options import RouterOptions

Ints: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Bools: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"

_ZERO: Final = np.zeros(1, np.int64)
_ALL: Final = "*"  # the id of everything, which no broker gives
_EVERY_GRAPH: Final = "ASK {}"


class MatchingEngine(Protocol):
    """What a router needs of an engine: those of flat events have it, and those of graphs."""

    def apply(self, operations: Iterable[Operation]) -> Any:
        """Run a window, all or nothing."""

    def get(self, id: str) -> Any:
        """What is held under an id."""

    def key(self, id: str) -> int:
        """The number that stands for it."""

    def match_keys(self, events: Sequence[Any]) -> tuple[Ints, Ints]:
        """Which event, by its position, matches which key."""


class Wanted(NamedTuple):
    """What a source wants of some events: their positions, and the ids that each matches there."""

    events: list[int]
    ids: list[tuple[str, ...]]


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
        self._numbers: dict[str, int] = {}  # of sources
        self._numbered = 0
        self._free: list[int] = []  # numbers of sources that are gone
        self._held: dict[str, dict[str, str]] = {}  # by source: ids, and what the engine calls them
        # By the engine's key: the source's number, and the id there. What is held no more stays
        # until the key is used again; nothing matches it meanwhile.
        self._source_of: Ints = np.full(16, -1, np.int64)
        self._id_of: list[str] = [""] * 16
        self._touched: dict[str, dict[str, None]] | None = None  # ids by source, once it is noted

    def __len__(self) -> int:
        """How many subscriptions there are, of all sources."""
        return sum(map(len, self._held.values()))

    def held(self, source: str) -> int:
        """How many of them are a source's."""
        return len(self._held.get(source, ()))

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
        before = held.keys() & names.keys()
        said: dict[str, Any] = {}
        for operation in operations:
            id, name = operation.id, names[operation.id]
            if isinstance(operation, Unsubscribe):
                held.pop(id, None)
            else:
                held[id], said[id] = name, operation.expression
        self._touch(source, names)
        wanted: dict[str, Any] = {}
        for id, name in names.items():
            if id in held:
                self._note(self._engine.key(name), source, id)
                stated = said[id]
                is_plain = isinstance(stated, Subscription)
                wanted[id] = stated if is_plain else self._statement(name)
        self.interest.ask_all(source, wanted, passed_on=passed_on)
        for id in names:  # in their order: that of a set is another in every process
            if id in before and id not in held:
                self.interest.drop(source, id)

    def all_but(self, source: str, ids: set[str]) -> list[Operation]:
        """What it takes for a source to hold nothing but these."""
        return [Unsubscribe(id) for id in self._held.get(source, ()) if id not in ids]

    def drop(self, source: str) -> None:
        """Forget all that a source wanted."""
        held = self._held.pop(source, {})
        self._touch(source, held)
        if held:
            self._engine.apply([Unsubscribe(name) for name in held.values()])
        self.interest.drop_all(source)
        if source in self._numbers:
            self._free.append(self._numbers.pop(source))

    def want_everything(self, source: str) -> None:
        """A source wants everything, whatever it wanted before."""
        everything = EVERYTHING if isinstance(self._engine, Engine) else _EVERY_GRAPH
        self.drop(source)
        self.run(source, [Subscribe(_ALL, everything)], passed_on=True)

    def wants_everything(self, source: str) -> bool:
        """Whether it does since that was said."""
        return self._held.get(source, {}).keys() == {_ALL}

    def check(self, events: Sequence[Published], *, wait: bool) -> None:
        """Refuse events that the engine cannot read, also where they wait to be matched later."""
        if isinstance(self._engine, Engine):
            for each in events:
                if not isinstance(each.event, Event):
                    raise malformed("event", each.event, "attributes and their values")
        elif wait:
            self._engine.match_keys([each.event for each in events])

    def changed(self, source: str) -> tuple[list[Subscribe], list[str]]:
        """What a source wants anew since this was asked last, and the ids that it wants no more."""
        if self._touched is None:
            self._touched = {}
        held = self._held.get(source, {})
        touched = self._touched.pop(source, {})
        new = [Subscribe(id, self._statement(held[id])) for id in touched if id in held]
        return new, [id for id in touched if id not in held]

    def _touch(self, source: str, ids: Iterable[str]) -> None:
        if self._touched is not None:
            self._touched.setdefault(source, {}).update(dict.fromkeys(ids))

    def match(
        self,
        events: Sequence[Published],
        sources: Sequence[str],
        with_ids: Collection[str],
        may_go: Bools | None = None,
    ) -> dict[str, Wanted]:
        """What some sources want of events; ids are told of those that are asked for them.

        ``may_go`` has a row for each source, and says which of the events it may be given at all.
        """
        numbers = {self._numbers[name]: name for name in sources if self._held.get(name)}
        if not numbers or not events:
            return {}
        positions, keys = self._pairs(events)
        whose = self._source_of[keys]
        if may_go is not None or len(numbers) < len(self._numbers):
            asked = np.zeros((self._numbered, len(events)), np.bool_)
            rows = [row for row, name in enumerate(sources) if self._held.get(name)]
            asked[list(numbers)] = True if may_go is None else may_go[rows]
            kept = asked[whose, positions]
            whose, positions, keys = whose[kept], positions[kept], keys[kept]
        # By source and then by event: what is equal in both stands together.
        places = whose * len(events) + positions
        order = places.argsort(kind="stable")
        places, keys = places[order], keys[order]
        begins = _first_of_runs(places)
        found_numbers, found_events = np.divmod(places[begins], len(events))
        firsts = _first_of_runs(found_numbers).tolist()
        ends = [*begins.tolist(), len(places)]
        found: dict[str, Wanted] = {}
        for first, last in pairwise([*firsts, len(begins)]):
            name = numbers[int(found_numbers[first])]
            ids = self._ids(keys, ends[first : last + 1]) if name in with_ids else []
            found[name] = Wanted(found_events[first:last].tolist(), ids)
        return found

    def _pairs(self, events: Sequence[Published]) -> tuple[Ints, Ints]:
        if not getattr(self._engine, "asks_for_now", False):
            positions, keys = self._engine.match_keys([each.event for each in events])
            return positions, keys
        found: list[tuple[Ints, Ints]] = []
        begin = 0
        for at, group in groupby(events, lambda each: each.at):
            together = [each.event for each in group]
            now: datetime = from_microseconds(at)
            positions, keys = self._engine.match_keys(together, now=now)
            found.append((positions + begin, keys))
            begin += len(together)
        every, every_key = zip(*found, strict=True)
        return np.concatenate(every), np.concatenate(every_key)

    def _ids(self, keys: Ints, ends: list[int]) -> list[tuple[str, ...]]:
        """The ids of runs of keys; in an order that does not depend on who came first."""
        id_of, begin = self._id_of, ends[0]
        ids = [id_of[key] for key in keys[begin : ends[-1]].tolist()]
        return [tuple(sorted(ids[one - begin : other - begin])) for one, other in pairwise(ends)]

    def _note(self, key: int, source: str, id: str) -> None:
        if key >= len(self._id_of):
            more = max(key + 1 - len(self._id_of), len(self._id_of))
            self._source_of = np.concatenate([self._source_of, np.full(more, -1, np.int64)])
            self._id_of += [""] * more
        self._source_of[key], self._id_of[key] = self._numbers[source], id

    def _statement(self, name: str) -> Any:
        """What is passed on: a subscription or, if it is something else, what it was written as."""
        entry = self._engine.get(name)
        if isinstance(entry.subscription, Subscription):
            return entry.subscription
        return entry.subscription if entry.text is None else entry.text

    def _name(self, source: str, id: str) -> str:
        number = self._numbers.get(source)
        if number is None:
            if not self._free:
                self._free.append(self._numbered)
                self._numbered += 1
            number = self._numbers[source] = self._free.pop()
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


def _first_of_runs(values: Ints) -> Ints:
    """Where values begin that differ from the one before; cheaper than NumPy's own for a few."""
    if not len(values):
        return np.empty(0, np.int64)
    begins: Ints = (values[1:] != values[:-1]).nonzero()[0] + 1
    return np.concatenate([_ZERO, begins])


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
