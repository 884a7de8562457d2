"""``Backlog``: what waits for all durable subscriptions of a tenant, in columns. No I/O.

::

    rows        {"a": 0, "b": 2}      free    1
    begin, end  [0 9 3], [3 9 5]      where the positions of each row stand
    positions   [4 7 8 5 8]           ascending within a row
    special     {2: …}                what is to be said beside positions, of the few with that

It is what queues were when they were last written down. A queue is *opened* when somebody reads it,
or something comes for it: a ``Queue`` is made of its row, and knows better from then on. Others
stay numbers, so that a million of them are there as soon as a file is read.

The next backlog is this one, plus what has arrived, but for queues that changed in other ways: of
these it has what they are now (``captured``). That is worked out in a thread (``Draft.merged``):
rows keep their numbers meanwhile, and what happens to them is done to the outcome, too (``adopt``).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import NamedTuple

import msgspec
import numpy as np

from predicast.arrays import Array, offsets


class Special(msgspec.Struct, frozen=True, array_like=True):
    """What a queue has beside positions: attempts by position, drops as pairs, a cursor."""

    attempts: dict[int, int]
    dropped: list[int]
    cursor: int | None
    since: float | None


class State(NamedTuple):
    """What a queue is: positions that are not done, in order, and the rest if there is any."""

    pending: Sequence[int]
    special: Special | None


class Arrived(NamedTuple):
    """Events from a position on, one after the other, with the subscriptions that each is for."""

    first: int
    ids: Sequence[Sequence[str]]


class Columns(NamedTuple):
    """Where the positions of each row stand, and the positions."""

    begin: Array
    end: Array
    positions: Array


class Contents(NamedTuple):
    """A backlog as it is written: rows that say nothing are left out."""

    ids: Sequence[str]
    counts: Array
    positions: Array
    special: Mapping[int, Special]


class Draft(NamedTuple):
    """A backlog at one moment, and what is to be made of it."""

    columns: Columns
    rows: Mapping[str, int]
    ids: list[str]
    special: dict[int, Special]
    captured: dict[int, Sequence[int]]
    arrived: Sequence[Arrived]

    def merged(self) -> Columns:
        """What comes of it; in any thread."""
        begin, end, positions = self.columns
        is_fixed = np.zeros(len(begin), bool)
        is_fixed[[*self.captured]] = True
        counts = np.where(is_fixed, 0, end - begin)
        # What reads the log by itself finds there what arrives.
        is_fixed[[row for row, each in self.special.items() if each.cursor is not None]] = True
        rows, places = self._arrivals(is_fixed)
        own = np.fromiter(map(len, self.captured.values()), np.int64, len(self.captured))
        of = np.fromiter(self.captured, np.int64, len(own))
        rows = np.concatenate([np.repeat(of, own), rows])
        here = np.fromiter(chain.from_iterable(self.captured.values()), np.int64, int(own.sum()))
        places = np.concatenate([here, places])
        order = np.argsort(rows, kind="stable")
        rows, places = rows[order], places[order]
        more = np.bincount(rows, minlength=len(counts))
        first = offsets(counts + more)
        merged = np.empty(first[-1], np.int64)
        merged[_expanded(first[:-1], counts)] = positions[_expanded(begin, counts)]
        merged[_expanded(first[:-1] + counts, more)] = places
        return Columns(first[:-1].copy(), first[1:].copy(), merged)

    def contents(self, merged: Columns) -> Contents:
        """The outcome as it is written; in any thread."""
        counts = merged.end - merged.begin
        is_kept = counts > 0
        is_kept[[*self.special]] = True
        kept = np.flatnonzero(is_kept)
        number = np.cumsum(is_kept) - 1
        return Contents(
            [self.ids[row] for row in kept.tolist()],
            counts[kept],
            merged.positions,
            {int(number[row]): each for row, each in self.special.items()},
        )

    def _arrivals(self, is_fixed: Array) -> tuple[Array, Array]:
        """Rows and positions of what arrived, but for rows that have what is theirs already."""
        ids = [each for arrived in self.arrived for each in arrived.ids]
        sizes = np.fromiter(map(len, ids), np.int64, len(ids))
        found = map(self.rows.get, chain.from_iterable(ids), repeat(-1))
        rows = np.fromiter(found, np.int64, int(sizes.sum()))
        each = [np.arange(some.first, some.first + len(some.ids)) for some in self.arrived]
        places = np.repeat(np.concatenate([np.zeros(0, np.int64), *each]), sizes)
        is_wanted = (rows >= 0) & (rows < len(is_fixed))
        is_wanted[is_wanted] = ~is_fixed[rows[is_wanted]]
        return rows[is_wanted], places[is_wanted]


class Backlog:
    """One tenant's. ``waiting`` is how many deliveries there are in rows that were not opened."""

    def __init__(
        self,
        ids: Sequence[str] = (),
        counts: Array | Sequence[int] = (),
        positions: Array | Sequence[int] = (),
        special: Mapping[int, Special] | None = None,
    ) -> None:
        first = offsets(np.asarray(counts, np.int64))
        self._columns = Columns(
            first[:-1].copy(), first[1:].copy(), np.asarray(positions, np.int64)
        )
        self.ids = [*ids]
        self._rows: dict[str, int] | None = None
        self._lock = threading.Lock()  # while they are found
        self._special = {**(special or {})}
        self.untold: dict[str, int] = {}  # drops that nobody has heard of
        self.waiting = int(first[-1])
        self._is_open = np.zeros(len(self.ids), bool)
        self._free: list[int] = []
        self._gone: list[int] = []  # rows that were removed since there was a draft
        self._first = 0  # positions before are gone

    @property
    def rows(self) -> dict[str, int]:
        """The row of each subscription; of many, they are found when somebody asks, once."""
        return self.find_rows() if self._rows is None else self._rows

    def find_rows(self) -> dict[str, int]:
        """Have them found, in any thread."""
        with self._lock:
            if self._rows is None:
                self._rows = dict(zip(self.ids, range(len(self.ids)), strict=True))
            return self._rows

    def __contains__(self, id: str) -> bool:
        return id in self.rows

    # Looking.

    def open(self, id: str) -> State | None:
        """What waits for a subscription, which is known elsewhere from now on."""
        row = self.rows.get(id)
        if row is None:
            return None
        if not self._is_open[row]:
            self._is_open[row] = True
            self.waiting -= self._size(row)
        return self.state(id)

    def state(self, id: str) -> State:
        """What a row says."""
        row = self.rows[id]
        begin, end, positions = self._columns
        return State(positions[begin[row] : end[row]].tolist(), self._special.get(row))

    def count(self, id: str) -> int:
        """How many positions the row has, if there is one."""
        row = self.rows.get(id)
        return 0 if row is None else self._size(row)

    def pending(self) -> dict[str, int]:
        """How many deliveries wait, by subscription, where some do and it was not opened."""
        counts = np.where(self._is_open, 0, self._columns.end - self._columns.begin)
        some = np.flatnonzero(counts)
        return {
            self.ids[row]: count
            for row, count in zip(some.tolist(), counts[some].tolist(), strict=True)
        }

    def longest(self, most: int) -> tuple[int, list[tuple[str, int]]]:
        """How many rows that were not opened say anything, and those that say most."""
        counts = np.where(self._is_open, 0, self._columns.end - self._columns.begin)
        some = np.flatnonzero(counts)
        rows = some
        if len(rows) > most:
            rows = rows[np.argpartition(counts[rows], -most)[-most:]]
        found = zip(rows.tolist(), counts[rows].tolist(), strict=True)
        return len(some), [(self.ids[row], count) for row, count in found]

    def _size(self, row: int) -> int:
        return int(self._columns.end[row] - self._columns.begin[row])

    # Changing.

    def remove(self, id: str) -> None:
        """A subscription has ended, or its queue is nothing that need be remembered."""
        row = self.rows.pop(id, None)
        if row is None:
            return
        if not self._is_open[row]:
            self.waiting -= self._size(row)
        self._special.pop(row, None)
        self.untold.pop(id, None)
        self._columns.end[row] = self._columns.begin[row]
        self._is_open[row] = False
        self._gone.append(row)
        self._free.append(row)

    def cut(self, first: int) -> int:
        """The log begins here now; how many deliveries were dropped in rows that are not open."""
        self._first = max(self._first, first)
        gone = np.where(self._is_open, 0, self._below(first))
        for row in np.flatnonzero(gone).tolist():
            id = self.ids[row]
            self.untold[id] = self.untold.get(id, 0) + int(gone[row])
        self._columns.begin[:] += gone
        count = int(gone.sum())
        self.waiting -= count
        return count

    def _below(self, first: int) -> Array:
        """How many of each row's positions are before that one."""
        begin, end, positions = self._columns
        before = offsets(positions < first)
        return before[end] - before[begin]

    # Becoming the next one.

    def draft(
        self, captured: Iterable[tuple[str, State]], arrived: Sequence[Arrived], *, is_open: bool
    ) -> Draft:
        """What the next one is to be made of.

        Queues that were captured are open; or not, when they are found again after a crash.
        """
        positions = {}
        for id, state in captured:
            row = self._placed(id)
            positions[row] = state.pending
            if state.special is None:
                self._special.pop(row, None)
            else:
                self._special[row] = state.special
        missing = len(self.ids) - len(self._is_open)
        self._is_open = np.concatenate([self._is_open, np.zeros(missing, bool)])
        self._is_open[[*positions]] = is_open
        nothing = np.zeros(missing, np.int64)
        begin, end, held = self._columns
        self._columns = Columns(
            np.concatenate([begin, nothing]), np.concatenate([end, nothing]), held
        )
        self._gone.clear()
        begin, end, held = self._columns
        columns = Columns(begin.copy(), end.copy(), held)
        return Draft(columns, self.rows, [*self.ids], {**self._special}, positions, arrived)

    def _placed(self, id: str) -> int:
        """The row of a subscription, which is given one if it has none."""
        row = self.rows.get(id)
        if row is None:
            if self._free:
                row = self._free.pop()
                self.ids[row] = id
            else:
                row = len(self.ids)
                self.ids.append(id)
            self.rows[id] = row
        return row

    def adopt(self, columns: Columns) -> None:
        """Be what the draft has become, less what went meanwhile."""
        self._columns = columns
        gone = self._gone
        columns.end[gone] = columns.begin[gone]
        columns.begin[:] += self._below(self._first)
        self.waiting = int(np.where(self._is_open, 0, columns.end - columns.begin).sum())


def _expanded(begin: Array, counts: Array) -> Array:
    """All numbers of ranges that begin there and have so many, range after range."""
    start = offsets(counts)
    return np.repeat(begin - start[:-1], counts) + np.arange(start[-1])
