"""Brute force: every subscription is tested against every event, no index at all.

One event is tested by the model's own definition of a match. A batch is tested column by column:
the constraints of one clause on one attribute become a mask over the rows, masks that several
clauses share are computed once, and a clause is the conjunction of its masks, its rest the same of
masks under AND and OR. (Where an interval is among the values, the rest asks for one point that
satisfies it all, and those events are tested by the definition.) Time is O(subscriptions × events)
either way, but a batch pays NumPy's price per pair instead of Python's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.matching.matcher import OneByOne, Pairs
from predicast.matching.memory import deep_bytes
from predicast.model import (
    Absent,
    Clause,
    Constraint,
    Event,
    Expression,
    Leaf,
    Not,
    Or,
    Subscription,
)

if TYPE_CHECKING:
    import numpy as np

    from predicast.matching.batches.event_batch import EventBatch

# Rows tested at a time. A test costs some ten microseconds of Python whatever their number, so that
# Spark's batches of 10,000 rows are best left whole.
CHUNK_ROWS: Final = 16_384
_MAX_MASK_BYTES: Final = 2**27  # the memory of masks kept for clauses to come


class Groups(NamedTuple):
    """A clause, as the constraints on each of its attributes."""

    by_attribute: list[tuple[str, tuple[Constraint, ...]]]
    clause: Clause

    @classmethod
    def of(cls, clause: Clause) -> Groups:
        return cls(list(clause.by_attribute().items()), clause)


class BruteForce(OneByOne):
    """Subscriptions in a dictionary, tested one after the other."""

    name = "brute-force"

    def __init__(self, *, absent: Absent = "fails") -> None:
        super().__init__(absent=absent)
        self._subscriptions: dict[int, Subscription] = {}
        self._groups: dict[int, list[Groups]] = {}
        self._events = 0
        self._tested = 0
        self._constraints_tested = 0

    def __len__(self) -> int:
        return len(self._subscriptions)

    def __iter__(self) -> Iterator[int]:
        return iter(self._subscriptions)

    def __contains__(self, key: object) -> bool:
        return key in self._subscriptions

    def subscribe(self, key: int, subscription: Subscription) -> None:
        self._subscriptions[key] = subscription
        self._groups[key] = [Groups.of(clause) for clause in subscription.clauses]

    def unsubscribe(self, key: int) -> None:
        del self._subscriptions[key]
        del self._groups[key]

    def change(self, key: int, subscription: Subscription) -> None:
        self.subscribe(key, subscription)

    def match(self, event: Event) -> list[int]:
        self._count(1)
        return [key for key, each in self._subscriptions.items() if self._matches(each, event)]

    def _matches(self, subscription: Subscription, event: Event) -> bool:
        """``Subscription.matches``, counting the constraints that it takes."""
        for clause in subscription.clauses:
            held, size = clause.held(event, self.absent), len(clause)
            self._constraints_tested += min(held + 1, size)
            if held == size and (clause.rest is None or clause.matches(event, self.absent)):
                return True
        return False

    def match_batch(self, events: Sequence[Event]) -> list[list[int]]:
        from predicast.matching.batches.event_batch import EventBatch

        return self.match_columns(EventBatch.from_events(events)).by_event(len(events))

    def match_columns(self, columns: EventBatch, limit: int | None = None) -> Pairs:
        import numpy as np

        self._count(len(columns))
        events: list[np.ndarray] = [np.empty(0, np.int64)]
        keys: list[np.ndarray] = [np.empty(0, np.int64)]
        for start, chunk in columns.chunks(CHUNK_ROWS):
            test = MaskCache(chunk, self.absent)
            for key, clauses in self._groups.items():
                rows = test.rows_of(clauses)
                if len(rows):
                    events.append(rows + start)
                    keys.append(np.full(len(rows), key, np.int64))
            self._constraints_tested += test.tested
        all_events, all_keys = np.concatenate(events), np.concatenate(keys)
        order = np.argsort(all_events, kind="stable")
        return Pairs(all_events[order], all_keys[order]).at_most(limit)

    def statistics(self) -> dict[str, int]:
        """What is held, and the work done.

        ``constraints_tested`` counts constraints up to the first of a clause that fails, and in a
        batch those of each mask, once for every row. ``candidates`` counts subscriptions.
        """
        return {
            "subscriptions": len(self._subscriptions),
            "clauses": sum(map(len, self._groups.values())),
            "events": self._events,
            "constraints_tested": self._constraints_tested,
            "candidates": self._tested,
            "bytes": deep_bytes(self._subscriptions, self._groups),
        }

    def _count(self, events: int) -> None:
        self._events += events
        self._tested += events * len(self._subscriptions)


class MaskCache:
    """The masks of one chunk, each computed once while there is room for it."""

    def __init__(self, columns: EventBatch, absent: Absent) -> None:
        self._columns = columns
        self._absent = absent
        self._masks: dict[tuple[Constraint, ...], np.ndarray] = {}
        self._max_masks = _MAX_MASK_BYTES // max(1, len(columns))
        self._events: list[Event] | None = None
        self.tested = 0

    def rows_of(self, clauses: list[Groups]) -> np.ndarray:
        """The rows that some clause matches."""
        import numpy as np

        matched: np.ndarray | None = None
        for groups in clauses:
            mask = self._clause(groups)
            matched = mask if matched is None else matched | mask
        if matched is None:
            return np.empty(0, np.int64)
        return np.flatnonzero(matched)

    def _clause(self, groups: Groups) -> np.ndarray:
        import numpy as np

        mask: np.ndarray = np.ones(len(self._columns), bool)
        for attribute, constraints in groups.by_attribute:
            mask = mask & self._mask(attribute, constraints)
            if not mask.any():
                return mask
        if groups.clause.rest is not None:
            mask &= self._rest(groups.clause, mask)
        return mask

    def _rest(self, clause: Clause, candidates: np.ndarray) -> np.ndarray:
        """The rows in which the rest of a clause holds; others than candidates do not count."""
        assert clause.rest is not None
        mask = self._expression(clause.rest)
        regions = self._columns.has_intervals({c.attribute for c in clause.all_constraints()})
        for row in (candidates & regions).nonzero()[0].tolist():
            if self._events is None:
                self._events = self._columns.events()
            mask[row] = clause.matches(self._events[row], self._absent)
        return mask

    def _expression(self, node: Expression) -> np.ndarray:
        if isinstance(node, Leaf):
            return self._mask(node.constraint.attribute, (node.constraint,)).copy()
        assert not isinstance(node, Not)
        masks = [self._expression(part) for part in node.parts]
        found = masks[0]
        for mask in masks[1:]:
            found = found | mask if isinstance(node, Or) else found & mask
        return found

    def _mask(self, attribute: str, constraints: tuple[Constraint, ...]) -> np.ndarray:
        mask = self._masks.get(constraints)
        if mask is None:
            mask = self._columns.test(attribute, constraints, self._absent)
            self.tested += len(constraints) * len(mask)
            if len(self._masks) < self._max_masks:
                self._masks[constraints] = mask
        return mask
