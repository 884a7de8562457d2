"""``Matcher``: what every matching algorithm offers, and what it gets for free.

A matcher holds subscriptions under integer keys that the engine hands out, and answers which keys
an event matches, in any order. Ids, owners and sorting are the engine's business, so that a matcher
is its data structure and nothing else.

That much is said by ``MatcherOf`` and ``ViewOf``, whatever an event is and however a subscription
is stated. ``Matcher`` and ``View`` are those of flat events; events that are graphs have theirs in
``predicast.graph.matching``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from predicast.errors import UnsupportedByMatcherError
from predicast.matching.delta import Delta, DeltaOf, Effect
from predicast.model import Absent, Clause, Event, Subscription
from predicast.model.outline import outlined

if TYPE_CHECKING:
    import numpy as np

    from predicast.matching.batches import EventBatch


E = TypeVar("E")  # what an event is
S = TypeVar("S")  # what a subscription is
D = TypeVar("D", bound=DeltaOf[Any, Any])  # the unit of change


class Pairs(NamedTuple):
    """Matches of a batch: the event at ``events[i]`` matches the subscription ``keys[i]``.

    Keys are of 32 or 64 bits.
    """

    events: np.ndarray
    keys: np.ndarray

    @classmethod
    def of(cls, matched: Sequence[Sequence[int]]) -> Pairs:
        """The keys that each event matches, side by side."""
        import numpy as np

        counts = [len(keys) for keys in matched]
        events = np.repeat(np.arange(len(matched), dtype=np.int64), counts)
        keys = np.fromiter((key for found in matched for key in found), np.int64, sum(counts))
        return cls(events, keys)

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

    def from_event(self, first: int) -> Pairs:
        """The same of events that are numbered from another one on."""
        return Pairs(self.events + first, self.keys) if first else self

    def of_events(self, events: np.ndarray) -> Pairs:
        """The same of other events: ``events[i]`` is the one for which row ``i`` stood.

        Where several rows stood for one, each of its keys is there once. Ascends by event.
        """
        import numpy as np

        both = np.stack([events[self.events], self.keys.astype(np.int64)])
        found = np.unique(both, axis=1)
        return Pairs(found[0], found[1])

    def without(self, events: np.ndarray) -> Pairs:
        """The same without the matches of some events."""
        import numpy as np

        if not len(events):
            return self
        kept = np.isin(self.events, events, invert=True)
        return Pairs(self.events[kept], self.keys[kept])

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


def joined_pairs(several: Sequence[Pairs]) -> Pairs:
    """The matches of batches that follow each other."""
    import numpy as np

    if len(several) == 1:
        return several[0]
    events, keys = zip(*several, strict=True)
    return Pairs(np.concatenate(events), np.concatenate(keys))


class Stored(NamedTuple):
    """A matcher's structure on its way into a file, or out of one.

    A form that a matcher does not know is not an error: it is then filled anew.
    """

    form: str  # what the rest means, and in which version
    document: bytes  # JSON
    arrays: Sequence[Sequence[np.ndarray]]  # each in pieces that follow each other; one, if read
    clauses: Sequence[Clause]  # what is in neither: the engine knows how to write them


class ViewOf(ABC, Generic[E]):
    """What can be asked: which subscriptions an event matches."""

    @abstractmethod
    def match(self, event: E) -> list[int]:
        """The keys of all subscriptions that match, each once, in any order."""

    def match_batch(self, events: Sequence[E]) -> list[list[int]]:
        """The keys for each of many events."""
        return [self.match(event) for event in events]

    def stored(self) -> Stored | None:
        """What to put into a file beside the subscriptions, so that ``restore`` is quick.

        Later changes do not touch what is returned. ``None`` if filling it anew is quick enough.
        """
        return None


class MatcherOf(ViewOf[E], Generic[E, D, S]):
    """A data structure that holds subscriptions and finds those that an event matches."""

    name: ClassVar[str]
    # Whether a view stays as it is while the matcher changes, so that both may be used at a time.
    has_lasting_views: ClassVar[bool] = False

    # Changes.

    @abstractmethod
    def apply(self, delta: D, before: Callable[[int], S]) -> Effect:
        """Make what a delta says hold; the very next event sees it.

        The engine has seen to it that keys are new or known as the delta says. A matcher may refuse
        a subscription that its structure cannot hold, with ``UnsupportedByMatcherError``: then
        nothing has changed. ``before`` says what a key stood for, to undo what was done so far.
        """

    def warm_up(self) -> None:  # most have nothing to do
        """Do what is done once per machine or process, such as compiling, at once."""

    def settle(self) -> None:  # most have nothing to do
        """Do at once what would otherwise be done later, in a background thread."""

    @abstractmethod
    def statistics(self) -> dict[str, int]:
        """How much is held and how much work was done, by name."""

    # Files.

    def restore(self, stored: Stored, bound: int) -> bool:
        """Become what was stored, being empty; say whether that can be done.

        All keys are below the bound. The arrays lie in a file: they are this process's own to write
        to, and a page is shared with other processes until then. A structure that is not as it
        should be is refused with ``DamagedSnapshotError``.
        """
        return False


class View(ViewOf[Event]):
    """The same of flat events, which also come in columns."""

    def match_columns(self, columns: EventBatch, limit: int | None = None) -> Pairs:
        """The matches of a batch held as columns, as (event, key) pairs ascending by event.

        With a limit, at most that many of each event's matches, whichever.
        """
        return Pairs.of([keys[:limit] for keys in self.match_batch(columns.events())])

    def count_columns(self, columns: EventBatch, limit: int | None = None) -> np.ndarray:
        """How many subscriptions each event of a batch matches, counting up to the limit."""
        return self.match_columns(columns, limit).counts(len(columns))


class Matcher(View, MatcherOf[Event, Delta, Subscription]):
    """A matcher of flat events.

    ``apply``, ``match`` and ``statistics`` are what there is to write; where a structure takes
    subscriptions one by one, ``OneByOne`` writes the first.
    """

    def __init__(self, *, absent: Absent = "fails") -> None:
        self.absent: Absent = absent

    def view(self) -> View:
        """What is held now, to be asked."""
        return self

    def subscribe(self, key: int, subscription: Subscription) -> None:
        """Hold a subscription under a new key."""
        self.apply(Delta(added=[(key, outlined(subscription))]), _unasked)

    def unsubscribe(self, key: int) -> None:
        """Forget the subscription under a key."""
        self.apply(Delta(removed=[key]), _unasked)

    def change(self, key: int, subscription: Subscription) -> None:
        """Replace the subscription under a key."""
        self.apply(Delta(changed=[(key, outlined(subscription))]), _unasked)


class OneByOneOf(MatcherOf[E, D, S]):
    """A matcher whose structure takes subscriptions one by one, of whatever events."""

    @abstractmethod
    def subscribe(self, key: int, subscription: S) -> None:
        """Hold a subscription under a new key, or refuse it before anything changes."""

    @abstractmethod
    def unsubscribe(self, key: int) -> None:
        """Forget the subscription under a key."""

    @abstractmethod
    def change(self, key: int, subscription: S) -> None:
        """Replace the subscription under a key, or refuse that before anything changes."""

    def apply(self, delta: D, before: Callable[[int], S]) -> Effect:
        undo: list[Callable[[], None]] = []
        in_place = 0
        try:
            for key, subscription in delta.all_added():
                self.subscribe(key, subscription)
                undo.append(partial(self.unsubscribe, key))
            for key, subscription in delta.all_changed():
                old = before(key)
                if old != subscription:
                    self.change(key, subscription)
                    undo.append(partial(self.change, key, old))
                    in_place += 1
        except UnsupportedByMatcherError:
            for each in reversed(undo):
                each()
            raise
        for key in delta.removed:
            self.unsubscribe(key)
        return Effect(0, in_place, len(undo) - in_place + len(delta.removed))


class OneByOne(OneByOneOf[Event, Delta, Subscription], Matcher):
    """The same of flat events."""


def _unasked(key: int) -> Subscription:
    raise AssertionError(f"what stood under {key} is asked for only to undo part of a delta")
