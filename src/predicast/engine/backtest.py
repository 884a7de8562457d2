"""``backtest``: what subscriptions would have matched in events of the past, and what a new version
of them gains and loses against the old one.

Both versions are held by one engine, under ids that begin with ``+`` (new) and ``-`` (old), so that
events are read and matched once. What both versions state alike is held once. Memory is bounded by
a batch of events and the counts; of the events themselves a few samples are kept.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from predicast.engine.asking import OnInvalid
from predicast.engine.bulk import Records
from predicast.engine.engine import Engine
from predicast.engine.matched_batches import matched_batches
from predicast.engine.operations import Subscribe
from predicast.errors import InvalidOptionError
from predicast.model import Event

if TYPE_CHECKING:
    from predicast.arrow import TableLike

NEW: Final = "+"
OLD: Final = "-"


class State(enum.StrEnum):
    """What became of a subscription from the old version to the new one."""

    SAME = "same"
    CHANGED = "changed"
    NEW = "new"
    REMOVED = "removed"


@dataclass(slots=True)
class Fired:
    """How often a subscription would have fired, and in which events: some of them, as they were.

    ``before`` counts those of the old version; ``gained`` are events that only the new version
    matches, and ``lost`` those that only the old one does.
    """

    id: str
    state: State
    fired: int = 0
    before: int = 0
    gained: int = 0
    lost: int = 0
    samples: list[Any] = field(default_factory=list)
    gained_samples: list[Any] = field(default_factory=list)
    lost_samples: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Backtest:
    """What came out: how many events there were, and a record for each subscription.

    Those of the new version stand first, in their order, then those that were removed.
    """

    events: int
    fired: list[Fired]

    def __getitem__(self, id: str) -> Fired:
        """The record of one subscription."""
        return next(each for each in self.fired if each.id == id)

    def never(self) -> list[str]:
        """The ids of the new version that no event matched."""
        return [each.id for each in self.fired if not each.fired and each.state != State.REMOVED]

    def table(self) -> pa.Table:
        """The counts as a table."""
        names = ("id", "state", "fired", "before", "gained", "lost")
        return pa.Table.from_pylist([{n: getattr(each, n) for n in names} for each in self.fired])


def backtest(
    versions: Versions,
    events: Iterable[Event | Mapping[str, Any]] | TableLike,
    samples: int,
    now: datetime | None,
) -> Backtest:
    """How often subscriptions would have fired in these events."""
    tally = Tally(versions, samples)
    at = datetime.now(UTC) if now is None else now
    for batch in matched_batches(versions.engine, events, at):
        tally.add(*batch)
    return tally.backtest()


class Versions:
    """One or two versions of subscriptions, in one engine."""

    def __init__(self, new: Engine, old: Engine | None, on_invalid: OnInvalid = "raise") -> None:
        if old is not None and old.absent != new.absent:
            raise InvalidOptionError(
                f"the two versions differ in what absence means: {new.absent!r} and {old.absent!r}",
                option="against",
            )
        stated = {each.id: each.subscription for each in new.subscriptions()}
        before = {} if old is None else {each.id: each.subscription for each in old.subscriptions()}
        self.has_old = old is not None
        self.states = {id: _state(id, stated, before) for id in (*stated, *before)}
        self.engine = Engine(absent=new.absent, on_invalid=on_invalid, ontology=new.vocabulary)
        self.engine.subscribe_many(Subscribe(NEW + id, each) for id, each in stated.items())
        self.engine.subscribe_many(
            Subscribe(OLD + id, each)
            for id, each in before.items()
            if self.states[id] is not State.SAME
        )

    @classmethod
    def of(
        cls, new: Engine, against: Engine | Records | None, on_invalid: OnInvalid | None = None
    ) -> Versions:
        """The second version may be given as what an engine is made of."""
        old = against
        if old is not None and not isinstance(old, Engine):
            old = Engine(absent=new.absent, ontology=new.vocabulary)
            old.subscribe_many(against)  # type: ignore[arg-type]  # it is no engine
        return cls(new, old, new.on_invalid if on_invalid is None else on_invalid)


def _state(id: str, new: Mapping[str, Any], old: Mapping[str, Any]) -> State:
    if id not in old:
        return State.NEW
    if id not in new:
        return State.REMOVED
    return State.SAME if new[id] == old[id] else State.CHANGED


class Tally:
    """Counts what matches, batch by batch."""

    def __init__(self, versions: Versions, samples: int) -> None:
        if type(samples) is not int or samples < 0:
            raise InvalidOptionError(
                f"samples is how many events are kept of each sort, not {samples!r}",
                option="samples",
            )
        self._samples = samples
        self._has_old = versions.has_old
        self._events = 0
        self._ids = list(versions.states)
        self._places = {id: place for place, id in enumerate(self._ids)}
        self._same = np.array([each is State.SAME for each in versions.states.values()], bool)
        self._states = list(versions.states.values())
        self._counts = np.zeros((3, len(self._ids)), np.int64)  # fired, gained, lost
        self._kept: tuple[defaultdict[int, list[Any]], ...] = tuple(
            defaultdict(list) for _ in range(3)
        )

    def add(self, pairs: pa.Table, size: int, event_at: Callable[[int], Any]) -> None:
        """Take in the matches of a batch of so many events, of which ``event_at`` gives one."""
        self._events += size
        events, places, is_new = self._read(pairs)
        new, old = self._coded(events, places, is_new), self._coded(events, places, ~is_new)
        changed = new[~self._same[new % max(len(self._ids), 1)]]
        sorts = [new]
        if self._has_old:
            sorts += [np.setdiff1d(changed, old), np.setdiff1d(old, new)]
        for sort, codes in enumerate(sorts):
            places = codes % max(len(self._ids), 1)
            self._counts[sort] += np.bincount(places, minlength=len(self._ids))
            self._keep(self._kept[sort], codes, event_at)

    def _read(self, pairs: pa.Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Events, places of ids, and whether it is the new version's."""
        ids = pairs.column("subscription").combine_chunks()
        if isinstance(ids, pa.ChunkedArray):  # an empty one combines to no chunk at all
            nothing = np.zeros(0, np.int64)
            return nothing, nothing, nothing.astype(bool)
        coded = ids if isinstance(ids, pa.DictionaryArray) else ids.dictionary_encode()
        used, codes = np.unique(coded.indices.to_numpy(), return_inverse=True)
        names = coded.dictionary.take(pa.array(used)).to_pylist()
        places = np.array([self._places[name[1:]] for name in names], np.int64)
        is_new = np.array([name[0] == NEW for name in names], bool)
        return pairs.column("event").to_numpy(), places[codes], is_new[codes]

    def _coded(self, events: np.ndarray, places: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """An event and a subscription as one number, which sorts by event."""
        coded: np.ndarray = events[chosen] * len(self._ids) + places[chosen]
        return coded

    def _keep(
        self, kept: defaultdict[int, list[Any]], codes: np.ndarray, event_at: Callable[[int], Any]
    ) -> None:
        if not self._samples or not len(codes):
            return
        events, places = np.divmod(np.sort(codes), len(self._ids))
        for place in np.unique(places).tolist():
            room = self._samples - len(kept[place])
            if room > 0:
                kept[place] += map(event_at, events[places == place][:room].tolist())

    def backtest(self) -> Backtest:
        """What came out."""
        found: list[Fired] = []
        fired, gained, lost = self._counts.tolist()
        for place, (id, state) in enumerate(zip(self._ids, self._states, strict=True)):
            before = fired[place] - gained[place] + lost[place] if self._has_old else 0
            samples = (each.get(place, []) for each in self._kept)
            found.append(
                Fired(id, state, fired[place], before, gained[place], lost[place], *samples)
            )
        return Backtest(self._events, found)
