"""What must hold of a run, whatever the workload was and whatever went wrong.

The judge is brute force over what the clients stated. A change takes effect somewhere between the
moment in which a client sends it and the moment in which it hears that it holds; in between either
version may decide. So an event *must* reach a subscription if every version that may have held from
its publication on matches it, and the client knew that it held before the event was published. It
*may* reach a subscription if some version that may have held matches it. Between the two nobody can
tell, and nothing is asked.

Nobody gets an event back that they published themselves: it is never sent where it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from predicast.engine import Engine
from predicast.model import Absent, Event
from predicast.routing.simulation.ledger import Delivery, Ledger, Version

Ints: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

_SHOWN: Final = 5  # violations of one kind that are written out
_WIDTH: Final = 1 << 24  # more subscriptions than a simulation can have: publications count above


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the deliveries of a round compare with what was to be delivered."""

    expected: int  # events that had to reach a subscription
    delivered: int  # events that reached a subscription, each counted once
    lost: int
    duplicated: int  # given to a client once more
    spurious: int
    disordered: int  # given to a client after a later one of the same publisher
    violations: tuple[str, ...]


class Judge:
    """Looks at the ledger, round by round."""

    def __init__(self, ledger: Ledger, *, absent: Absent = "fails") -> None:
        self._ledger = ledger
        self._absent = absent
        self._published = 0  # how much of the ledger is judged already
        self._delivered = 0
        self._may: Ints = np.empty(0, np.int64)
        self._seen: set[tuple[int, int]] = set()
        self._latest: dict[tuple[int, int], int] = {}

    def judge(self, *, once: bool, in_order: bool) -> Verdict:
        """Judge what was published since the last time; by now all of it has arrived.

        ``once`` and ``in_order`` say whether repeats and events out of order break the promise.
        """
        first, self._published = self._published, len(self._ledger.published)
        deliveries = self._ledger.deliveries[self._delivered :]
        self._delivered += len(deliveries)
        given = _Given.of(deliveries, self._ledger)
        must, may = self._rulings(first)
        self._may = np.union1d(self._may, may)  # what comes late may have come
        reached = np.unique(given.publications * _WIDTH + given.subscriptions)
        lost = np.setdiff1d(must, reached, assume_unique=True)
        spurious = np.setdiff1d(reached, self._may, assume_unique=True)
        wrong_client = [*given.unknown, *self._misdirected(given)]
        duplicated, disordered = self._repeats(deliveries)
        violations = [
            *self._told("lost", lost),
            *self._told("spurious", spurious),
            *wrong_client[:_SHOWN],
            *self._ledger.strangers[:_SHOWN],
        ]
        if once:
            violations += [f"repeated: {each}" for each in duplicated[:_SHOWN]]
        if in_order:
            violations += [f"out of order: {each}" for each in disordered[:_SHOWN]]
        return Verdict(
            expected=len(must),
            delivered=len(reached),
            lost=len(lost),
            duplicated=len(duplicated),
            spurious=len(spurious) + len(wrong_client) + len(self._ledger.strangers),
            disordered=len(disordered),
            violations=tuple(violations),
        )

    def _rulings(self, first: int) -> tuple[Ints, Ints]:
        """What must be delivered of the publications from ``first`` on, and what may be.

        Both as sorted numbers, one of each publication and subscription.
        """
        published = self._ledger.published[first:]
        if not published:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        sent = np.array([each.sent for each in published])
        safe = np.array([each.acknowledged for each in published]) < inf
        by = np.array([each.client for each in published], np.int64)
        held = _Held.since(self._ledger.versions, float(sent.min()))
        pairs = held.matched([each.event for each in published], self._absent)
        may_hold = held.superseded[pairs.keys] >= sent[pairs.events]
        not_back = held.clients[pairs.keys] != by[pairs.events]
        events, keys = pairs.events[may_hold & not_back], pairs.keys[may_hold & not_back]
        ruled, matching = np.unique(
            (events + first) * _WIDTH + held.subscriptions[keys], return_counts=True
        )
        rows, numbers = ruled // _WIDTH - first, ruled % _WIDTH
        known = held.known_from(numbers) < sent[rows]
        all_match = matching == held.that_may_hold(numbers, sent[rows])
        return ruled[known & all_match & safe[rows]], ruled

    def _misdirected(self, given: _Given) -> list[str]:
        """What was given to somebody else than the subscriber."""
        owners = np.full(self._ledger.subscriptions, -1, np.int64)
        for version in self._ledger.versions:
            owners[version.subscription] = version.client
        wrong = np.flatnonzero(owners[given.subscriptions] != given.clients)
        return [
            f"misdirected: client {given.clients[row]} was given an event for "
            f"{self._ledger.id_of(given.subscriptions[row])!r}"
            for row in wrong.tolist()
        ]

    def _repeats(self, deliveries: Sequence[Delivery]) -> tuple[list[str], list[str]]:
        """Events that a client was given once more, and those that came after a later one."""
        repeated, disordered = [], []
        for client, publication, _, time in deliveries:
            published = self._ledger.published[publication]
            if (client, publication) in self._seen:
                repeated.append(f"{self._named(publication)} to client {client} at {time:.3f}")
                continue
            self._seen.add((client, publication))
            latest = self._latest.get((client, published.client), 0)
            if published.sequence < latest:
                disordered.append(
                    f"{self._named(publication)} to client {client} at {time:.3f}, "
                    f"after event {latest}"
                )
            self._latest[client, published.client] = max(latest, published.sequence)
        return repeated, disordered

    def _told(self, word: str, ruled: Ints) -> list[str]:
        return [
            f"{word}: {self._named(number // _WIDTH)} for {self._ledger.id_of(number % _WIDTH)!r}"
            for number in ruled[:_SHOWN].tolist()
        ]

    def _named(self, publication: int) -> str:
        published = self._ledger.published[publication]
        return f"event {published.sequence} of client {published.client}"


class _Given(NamedTuple):
    """Deliveries as arrays: one row for each event and subscription."""

    clients: Ints
    publications: Ints
    subscriptions: Ints
    unknown: list[str]

    @classmethod
    def of(cls, deliveries: Sequence[Delivery], ledger: Ledger) -> _Given:
        sizes = [len(each.ids) for each in deliveries]
        number_of = ledger.number_of
        subscriptions = np.array(
            [number_of(id) for each in deliveries for id in each.ids], np.int64
        )
        clients = np.repeat(np.array([each.client for each in deliveries], np.int64), sizes)
        rows = np.repeat(np.array([each.publication for each in deliveries], np.int64), sizes)
        known = subscriptions >= 0
        unknown = [
            f"client {client} was given an event for a subscription that nobody has"
            for client in clients[~known].tolist()
        ]
        return cls(clients[known], rows[known], subscriptions[known], unknown)


class _Matches(NamedTuple):
    """Which event matches which version, by their numbers."""

    events: Ints
    keys: Ints


class _Held:
    """The versions that may have held since some moment, as arrays."""

    def __init__(self, versions: Sequence[Version], known: dict[int, float]) -> None:
        self._versions = versions
        self._known = known
        self.subscriptions = np.array([each.subscription for each in versions], np.int64)
        self.clients = np.array([each.client for each in versions], np.int64)
        self.superseded = np.array([each.superseded for each in versions], np.float64)

    @classmethod
    def since(cls, versions: Sequence[Version], moment: float) -> _Held:
        known: dict[int, float] = {}
        for each in versions:
            known.setdefault(each.subscription, each.acknowledged)
        return cls([each for each in versions if each.superseded >= moment], known)

    def matched(self, events: Sequence[Event], absent: Absent) -> _Matches:
        """The events that each version matches, by brute force."""
        engine = Engine(matcher="brute-force", absent=absent)
        engine.subscribe_many(
            (str(key), version.states)
            for key, version in enumerate(self._versions)
            if version.states is not None
        )
        found = engine.match_batch(events)
        return _Matches(
            np.repeat(np.arange(len(events)), [len(ids) for ids in found]),
            np.array([int(id) for ids in found for id in ids], np.int64),
        )

    def known_from(self, subscriptions: Ints) -> Floats:
        """When the client first heard that each of these subscriptions holds."""
        return np.array([self._known[number] for number in subscriptions.tolist()], np.float64)

    def that_may_hold(self, subscriptions: Ints, moments: Floats) -> Ints:
        """How many versions of each subscription may have held since its moment."""
        order = np.lexsort((self.superseded, self.subscriptions))
        owners, ends = self.subscriptions[order], self.superseded[order]
        # Versions of one subscription stand side by side, those that ended first in front.
        upto = np.searchsorted(owners, subscriptions, side="right")
        found = np.empty(len(subscriptions), np.int64)
        begin = np.searchsorted(owners, subscriptions, side="left")
        single = upto - begin == 1
        found[single] = 1
        for row in np.flatnonzero(~single).tolist():
            among = ends[begin[row] : upto[row]]
            found[row] = len(among) - np.searchsorted(among, moments[row], side="left")
        return found
