"""``Matcher``: what every matching algorithm offers, and what it gets for free.

A matcher holds subscriptions under integer keys that the engine hands out, and answers which keys
an event matches, in any order. Ids, owners and sorting are the engine's business, so that a matcher
is its data structure and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from predicast.errors import UnsupportedByMatcherError
from predicast.matching.window import Added, Operation, Removed, Saved, collapsed
from predicast.model import Absent, Clause, Event, Subscription

if TYPE_CHECKING:
    import numpy as np

    from predicast.matching.batches.event_batch import EventBatch
    from predicast.model.operand_columns import OperandColumns


class Pairs(NamedTuple):
    """Matches of a batch: the event at ``events[i]`` matches the subscription ``keys[i]``.

    Keys are of 32 or 64 bits.
    """

    events: np.ndarray
    keys: np.ndarray

    def by_event(self, events: int) -> list[list[int]]:
        """The keys of each of that many events."""
        found: list[list[int]] = [[] for _ in range(events)]
        for event, key in zip(self.events.tolist(), self.keys.tolist(), strict=True):
            found[event].append(key)
        return found

    def counts(self, events: int) -> np.ndarray:
        """How many there are of each of that many events."""
        import numpy as np

        return np.bincount(self.events, minlength=events).astype(np.int64, copy=False)

    def at_most(self, limit: int | None) -> Pairs:
        """The same with at most that many matches per event; the pairs ascend by event."""
        import numpy as np

        if limit is None or len(self.events) <= limit:
            return self
        starts = np.flatnonzero(np.diff(self.events, prepend=-1))
        lengths = np.diff(starts, append=len(self.events))
        if lengths.max() <= limit:
            return self
        kept = np.arange(len(self.events)) - np.repeat(starts, lengths) < limit
        return Pairs(self.events[kept], self.keys[kept])


class Stored(NamedTuple):
    """A matcher's structure on its way into a file, or out of one.

    A form that a matcher does not know is not an error: it is then filled anew.
    """

    form: str  # what the rest means, and in which version
    document: bytes  # JSON
    arrays: Sequence[Sequence[np.ndarray]]  # each in pieces that follow each other; one, if read
    clauses: Sequence[Clause]  # what is in neither: the engine knows how to write them


class Matcher(ABC):
    """A data structure that holds subscriptions and finds those that an event matches.

    A matcher may refuse a subscription that its structure cannot hold, with
    ``UnsupportedByMatcherError`` and before it changes anything. The engine has seen to it that
    keys are new in ``subscribe`` and known in ``unsubscribe`` and ``change``.
    """

    name: ClassVar[str]
    works_in_bulk: ClassVar[bool] = False  # takes statements in columns and refuses none
    # Whether an exception out of nowhere (Ctrl-C) in a match does no harm to the next one.
    survives_interrupted_matches: ClassVar[bool] = False

    def __init__(self, *, absent: Absent = "fails") -> None:
        self.absent: Absent = absent

    @abstractmethod
    def subscribe(self, key: int, subscription: Subscription) -> None:
        """Hold a subscription under a new key."""

    def subscribe_alike(self, keys: np.ndarray, alike: OperandColumns) -> None:
        """Hold many subscriptions of one outline under new keys: all or, if one is refused, none.

        The arrays are the caller's and do not change. Keys are in no particular order.
        """
        held: list[int] = []
        try:
            for key, subscription in zip(keys.tolist(), alike.subscriptions(), strict=True):
                self.subscribe(key, subscription)
                held.append(key)
        except BaseException:
            for key in reversed(held):
                self.unsubscribe(key)
            raise

    def change_alike(self, keys: np.ndarray, alike: OperandColumns) -> None:
        """Replace many subscriptions by others of one outline."""
        for key, subscription in zip(keys.tolist(), alike.subscriptions(), strict=True):
            self.change(key, subscription)

    @abstractmethod
    def unsubscribe(self, key: int) -> None:
        """Forget the subscription under a key."""

    @abstractmethod
    def change(self, key: int, subscription: Subscription) -> None:
        """Replace the subscription under a key; the very next event sees the new one."""

    def settle(self) -> None:  # noqa: B027  # most have nothing to do
        """Do at once what would otherwise be done later, beside the matching."""

    @abstractmethod
    def match(self, event: Event) -> list[int]:
        """The keys of all subscriptions that match, each once, in any order."""

    @abstractmethod
    def statistics(self) -> dict[str, int]:
        """How much is held and how much work was done, by name."""

    def run_window(self, operations: Sequence[Operation]) -> Saved:
        """Run operations that arrived together, and say what became of them.

        Collapsed by key, then one by one. If one is refused, those before it are undone, for which
        each ``Removed`` and ``Replaced`` must say what was there before.
        """
        run: list[Operation] = []
        net = collapsed(operations)
        try:
            for operation in net:
                self._run_operation(operation)
                run.append(operation)
        except UnsupportedByMatcherError:
            for operation in reversed(run):
                self._undo(operation)
            raise
        in_place = sum(not isinstance(each, Added | Removed) for each in net)
        given = len(operations)
        return Saved(given, given - len(net), 0, in_place, len(net) - in_place)

    def _run_operation(self, operation: Operation) -> None:
        if isinstance(operation, Added):
            self.subscribe(operation.key, operation.subscription)
        elif isinstance(operation, Removed):
            self.unsubscribe(operation.key)
        else:
            self.change(operation.key, operation.subscription)

    def _undo(self, operation: Operation) -> None:
        if isinstance(operation, Added):
            self.unsubscribe(operation.key)
            return
        assert operation.previous is not None, "to undo it, say what was there before"
        if isinstance(operation, Removed):
            self.subscribe(operation.key, operation.previous)
        else:
            self.change(operation.key, operation.previous)

    def stored(self) -> Stored | None:
        """What to put into a file beside the subscriptions, so that ``restore`` is quick.

        Later changes do not touch what is returned. ``None`` if filling it anew is quick enough.
        """
        return None

    def restore(self, stored: Stored, bound: int) -> bool:
        """Become what was stored, being empty; say whether that can be done.

        All keys are below the bound. The arrays lie in a file: they are this process's own to write
        to, and a page is shared with other processes until then. A structure that is not as it
        should be is refused with ``DamagedSnapshotError``.
        """
        return False

    def match_batch(self, events: Sequence[Event]) -> list[list[int]]:
        """The keys for each of many events."""
        return [self.match(event) for event in events]

    def match_columns(self, columns: EventBatch, limit: int | None = None) -> Pairs:
        """The matches of a batch held as columns, as (event, key) pairs ascending by event.

        With a limit, at most that many of each event's matches, whichever.
        """
        import numpy as np

        matched = [keys[:limit] for keys in self.match_batch(columns.events())]
        counts = [len(keys) for keys in matched]
        events = np.repeat(np.arange(len(matched), dtype=np.int64), counts)
        keys = np.fromiter((key for found in matched for key in found), np.int64, sum(counts))
        return Pairs(events, keys)

    def count_columns(self, columns: EventBatch, limit: int | None = None) -> np.ndarray:
        """How many subscriptions each event of a batch matches, counting up to the limit."""
        return self.match_columns(columns, limit).counts(len(columns))
