"""``Matcher``: what every matching algorithm offers, and what it gets for free.

A matcher holds subscriptions under integer keys that the engine hands out, and answers which keys
an event matches, in any order. Ids, owners and sorting are the engine's business, so that a matcher
is its data structure and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from predicast.model import Absent, Event, Subscription

if TYPE_CHECKING:
    import numpy as np

    from predicast.matching.columns import Columns


class Pairs(NamedTuple):
    """Matches of a batch: the event at ``events[i]`` matches the subscription ``keys[i]``."""

    events: np.ndarray
    keys: np.ndarray

    def by_event(self, events: int) -> list[list[int]]:
        """The keys of each of that many events."""
        found: list[list[int]] = [[] for _ in range(events)]
        for event, key in zip(self.events.tolist(), self.keys.tolist(), strict=True):
            found[event].append(key)
        return found


class Matcher(ABC):
    """A data structure that holds subscriptions and finds those that an event matches.

    A matcher may refuse a subscription that its structure cannot hold, with
    ``UnsupportedByMatcherError`` and before it changes anything. The engine has seen to it that
    keys are new in ``subscribe`` and known in ``unsubscribe`` and ``change``.
    """

    name: ClassVar[str]

    def __init__(self, *, absent: Absent = "fails") -> None:
        self.absent: Absent = absent

    @abstractmethod
    def subscribe(self, key: int, subscription: Subscription) -> None:
        """Hold a subscription under a new key."""

    @abstractmethod
    def unsubscribe(self, key: int) -> None:
        """Forget the subscription under a key."""

    @abstractmethod
    def change(self, key: int, subscription: Subscription) -> None:
        """Replace the subscription under a key; the very next event sees the new one."""

    @abstractmethod
    def match(self, event: Event) -> list[int]:
        """The keys of all subscriptions that match, each once, in any order."""

    @abstractmethod
    def statistics(self) -> dict[str, int]:
        """How much is held and how much work was done, by name."""

    def match_batch(self, events: Sequence[Event]) -> list[list[int]]:
        """The keys for each of many events."""
        return [self.match(event) for event in events]

    def match_columns(self, columns: Columns) -> Pairs:
        """The matches of a batch held as columns, as (event, key) pairs ascending by event."""
        import numpy as np

        matched = self.match_batch(columns.events())
        counts = [len(keys) for keys in matched]
        events = np.repeat(np.arange(len(matched), dtype=np.int64), counts)
        keys = np.fromiter((key for found in matched for key in found), np.int64, sum(counts))
        return Pairs(events, keys)
