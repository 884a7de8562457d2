"""A segment: many clauses, compiled once; only striking one out changes it.

Clauses that test the same axes form *families*, scanned in blocks; the others are rows. A clause
is struck out by taking its key away, and the matcher drops matches without one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from predicast.matching.columnar.blocks import Family, access_fits
from predicast.matching.columnar.clause_tests import ClauseTests
from predicast.matching.columnar.coded_tests import CodedTests, coded
from predicast.matching.columnar.event_codes import AxisIndex, EventCodes, event_codes
from predicast.matching.columnar.output import Writer
from predicast.matching.columnar.rows import Rows
from predicast.matching.columns import Columns
from predicast.model import Absent, Clause, Constraint, Event

Array = npt.NDArray[Any]

STRUCK: Final = -1
_MOST_CODES: Final = 1 << 22  # of events on axes, made at a time


class Layout(NamedTuple):
    """When clauses are worth blocks, and how large those are."""

    block: int = 512  # clauses; a block of three axes then fits in the first-level cache
    family: int = 512  # clauses that test the same axes
    partition: int = 64  # clauses that agree in their equalities, on average


class Segment:
    """Clauses, compiled; each belongs to the subscription with its key."""

    def __init__(
        self,
        keys: Sequence[int],
        clauses: Sequence[ClauseTests],
        absent: Absent,
        layout: Layout,
    ) -> None:
        self._absent: Absent = absent
        table = coded(clauses)
        key_array = np.array(keys, np.int64)
        self._axes = table.axes
        self._axis_index = AxisIndex(table.axes, absent)
        self._others, others = _numbered(table)
        self.families: list[Family] = []
        left = np.ones(len(clauses), bool)
        for family, members in _families(table, key_array, layout):
            self.families.append(family)
            left[members] = False
        self.rows = Rows(table, np.flatnonzero(left), key_array, others)
        self._keys = [*(family.blocks.keys for family in self.families), self.rows.arrays.keys]
        self._by_key: list[tuple[Array, Array]] | None = None
        self.struck = 0

    def __len__(self) -> int:
        return sum(map(len, self.families)) + len(self.rows)

    @property
    def may_repeat(self) -> bool:
        """Whether one clause may be found twice for one event, through two members of a set."""
        return len(self.rows.sets.lo) > 0

    def strike(self, key: int) -> bool:
        """Strike out the clauses of a subscription; say whether there are any."""
        if self._by_key is None:
            orders = [np.argsort(keys, kind="stable") for keys in self._keys]
            self._by_key = [(k[o], o) for k, o in zip(self._keys, orders, strict=True)]
        found = 0
        for keys, (ordered, order) in zip(self._keys, self._by_key, strict=True):
            first, end = np.searchsorted(ordered, (key, key + 1))
            # The key may have been struck here before and live on in a later segment.
            places = order[first:end]
            found += int((keys[places] == key).sum())
            keys[places] = STRUCK
        self.struck += found
        return found > 0

    def is_mostly_struck(self) -> bool:
        """Whether it is time to compile what is left afresh."""
        return 2 * self.struck > len(self)

    def live_keys(self) -> list[int]:
        """The keys of the subscriptions that are left."""
        keys = np.unique(np.concatenate(self._keys))
        left: list[int] = keys[keys >= 0].tolist()
        return left

    def nbytes(self) -> int:
        """The memory of its arrays."""
        arrays = [a for family in self.families for a in family.blocks]
        arrays += [*self.rows.arrays, *self.rows.sets]
        arrays += [a for a in self.rows.access if isinstance(a, np.ndarray)]
        return sum(array.nbytes for array in arrays)

    def match(self, columns: Columns, writer: Writer) -> None:
        """Write the matches of a batch, in pieces whose codes fit in memory."""
        width = len(self._axes) + len(self._others) + 1
        for start, piece in columns.chunks(max(_MOST_CODES // width, 1)):
            writer.first_event = start
            others = np.ones((len(piece), max(len(self._others), 1)), np.uint8)
            for place, (attribute, constraints) in enumerate(self._others):
                others[:, place] = piece.test(attribute, constraints, self._absent)
            self._match(event_codes(self._axes, piece, self._absent), others, writer)
        writer.first_event = 0

    def match_one(self, event: Event, writer: Writer) -> None:
        """Write the matches of one event."""
        others = np.ones((1, max(len(self._others), 1)), np.uint8)
        for place, (_, constraints) in enumerate(self._others):
            others[0, place] = Clause(constraints).matches(event, self._absent)
        self._match(self._axis_index.codes(event), others, writer)

    def _match(self, codes: EventCodes, others: Array, writer: Writer) -> None:
        for family in self.families:
            family.match(codes, writer)
        if len(self.rows):
            self.rows.match(codes, others, writer)


def _numbered(table: CodedTests) -> tuple[list[tuple[str, tuple[Constraint, ...]]], Array]:
    """The distinct other tests, and the number of each of the table's among them."""
    numbers: dict[tuple[str, tuple[Constraint, ...]], int] = {}
    which = [numbers.setdefault((a, c), len(numbers)) for _, a, c in table.others]
    return list(numbers), np.array(which, np.int32)


def _families(table: CodedTests, keys: Array, layout: Layout) -> list[tuple[Family, Array]]:
    """The families that are worth blocks, with their clauses."""
    plain = np.ones(len(keys), bool)
    plain[[each.clause for each in table.sets]] = False
    plain[[clause for clause, _, _ in table.others]] = False
    if not len(table.clause):
        return []
    first = np.searchsorted(table.clause, np.arange(len(keys) + 1))
    found = []
    for members in _alike(table, first):
        members = members[plain[members]]  # noqa: PLW2901
        if len(members) < layout.family:
            continue
        family = _family(table, first, members, keys, layout)
        if family is not None:
            found.append((family, members))
    return found


def _alike(table: CodedTests, first: Array) -> list[Array]:
    """Clauses by the axes that they test, and which of those for a point."""
    random = np.random.default_rng(0).integers(1, 2**62, 2 * len(table.axes), np.int64)
    marks = random[table.axis * 2 + table.is_point]
    total = np.concatenate([[0], np.cumsum(marks)])  # wraps around, and differences are right
    signature = total[first[1:]] - total[first[:-1]]
    signature[first[1:] == first[:-1]] = 0
    order = np.argsort(signature, kind="stable")
    edges = np.flatnonzero(np.diff(signature[order])) + 1
    return [group for group in np.split(order, edges) if first[group[0] + 1] > first[group[0]]]


def _family(
    table: CodedTests, first: Array, members: Array, keys: Array, layout: Layout
) -> Family | None:
    tests = first[members[0]], first[members[0] + 1]
    axes, is_point = table.axis[slice(*tests)], table.is_point[slice(*tests)]
    if not (first[members + 1] - first[members] == len(axes)).all():
        return None  # signatures are sums of random numbers: equal ones are all but surely alike
    place = first[members][:, None] + np.arange(len(axes))
    if not ((table.axis[place] == axes) & (table.is_point[place] == is_point)).all():
        return None
    order = np.concatenate([np.flatnonzero(is_point), np.flatnonzero(~is_point)])
    place, axes, access = place[:, order], axes[order], int(is_point.sum())
    lo, hi = table.lo[place], table.hi[place]
    if access:
        if not access_fits(lo[:, :access].max(axis=0)):
            return None
        partitions = len(np.unique(lo[:, :access], axis=0))
        if len(members) < partitions * layout.partition:
            return None
    largest = max(table.axes[axis].largest_code() for axis in axes)
    return Family(axes[:access], axes[access:], lo, hi, keys[members], largest, layout.block)
