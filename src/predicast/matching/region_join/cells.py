"""Several attributes: subscriptions are filed under cells of a grid, which publications visit.

A subscription is in one cell alone, that of its lower corner, so that no pair is found twice. A
publication visits the cells from its own lower corner, less the width of the widest subscription,
to its upper corner::

        y
        │  ·   ┌────┐·          s  a subscription, filed under the cell
        │      │ p  │              that its lower corner is in
        │  ┌──┐└────┘           p  visits its own cells, and those from
        │  │s │                    which a subscription may reach it
        │  └──┘      ·
        └────────────── x

So that one wide subscription does not make every publication visit everything, subscriptions are
parted into *sizes* by their widths on each attribute, eight times as wide from one to the next, and
each size has a grid of its own, with cells about as wide as its regions or as many as there are
regions. The widest, and unbounded ones, are in one cell whatever their place.

Grids have at most three dimensions: with more attributes the cells of three part the regions well
enough, and the rest is compared.

Cost: two sorts by cell, then for each publication and size the cells that it visits and the
regions in them. Where very many regions share few cells, as those that are wide on one attribute
and narrow on another may, it tends towards comparing all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, offsets, places_of_each
from predicast.matching.region_join import loops
from predicast.matching.region_join.codes import Codes

_DIMENSIONS: Final = 3
_WIDER: Final = 8.0  # than those of one size are those of the next
_LAST_SIZE: Final = 3  # which holds whatever is wider, in one cell


class Boxes(NamedTuple):
    """Regions as rows of codes, one column for each attribute."""

    lo: Array
    hi: Array

    def taken(self, rows: Array) -> Boxes:
        """Some of them."""
        return Boxes(self.lo.take(rows, axis=0), self.hi.take(rows, axis=0))


class Visits(NamedTuple):
    """What loops go by: regions in the order of their cells, and publications with theirs."""

    shape: Array  # cells along each of three dimensions
    first_region: Array  # of each cell, and the end of all
    lo: Array
    hi: Array
    first_cell: Array  # that each publication visits, along each dimension
    last_cell: Array
    published_lo: Array
    published_hi: Array


class CellJoin:
    """The pairs of boxes that meet."""

    def __init__(self, publications: Sequence[Codes], subscriptions: Sequence[Codes]) -> None:
        chosen = _narrowest_first(publications, subscriptions)
        published, subscribed = (
            Boxes(
                np.column_stack([side[each].lo for each in chosen]),
                np.column_stack([side[each].hi for each in chosen]),
            )
            for side in (publications, subscriptions)
        )
        self._sizes = [
            _Size(published, _all_or(subscribed, rows), rows) for rows in _by_size(subscribed)
        ]

    def count(self) -> int:
        """How many pairs there are."""
        return sum(loops.now.count(size.visits) for size in self._sizes)

    def pieces(self, most: int) -> Iterator[tuple[Array, Array]]:
        """The pairs, at most so many at a time, or as many as one publication has."""
        for size in self._sizes:
            begin = 0
            while begin < len(size.publications):
                mine, others, begin = loops.now.meet(size.visits, begin, most)
                if len(mine):
                    yield size.publications[mine], size.subscriptions[others]


class _Size:
    """Subscriptions of one size in their grid, and the publications that visit it."""

    def __init__(self, published: Boxes, regions: Boxes, rows: Array) -> None:
        grid = _Grid(regions)
        cells = grid.numbers(grid.cells(regions.lo))
        order = np.argsort(cells)
        reach = grid.widest + _rounding(published, regions)
        first, last = grid.cells(published.lo - reach), grid.cells(published.hi)
        visitors = np.argsort(grid.numbers(first))  # neighbours visit what is in the cache
        self.subscriptions = rows[order]
        self.publications = visitors
        self.visits = Visits(
            grid.shape,
            offsets(np.bincount(cells, minlength=int(grid.shape.prod()))),
            *regions.taken(order),
            first.take(visitors, axis=0),
            last.take(visitors, axis=0),
            *published.taken(visitors),
        )


class _Grid:
    """Cells of equal size, about as many as there are regions and no narrower than these."""

    def __init__(self, regions: Boxes) -> None:
        count, dimensions = len(regions.lo), min(regions.lo.shape[1], _DIMENSIONS)
        widths = zip(regions.lo.T, regions.hi.T, strict=True)
        self.widest = np.array([(hi - lo).max() for lo, hi in widths])
        self.shape = np.ones(_DIMENSIONS, np.int64)
        self._least = np.zeros(_DIMENSIONS)
        self._per_unit = np.zeros(_DIMENSIONS)
        parted = []
        for dimension in range(dimensions):
            least, extent = _extent(regions.lo[:, dimension])
            if 0 < extent < np.inf and self.widest[dimension] < extent:
                parted.append(dimension)
                self._least[dimension], self._per_unit[dimension] = least, 1 / extent
        for dimension in parted:
            cells = count ** (1 / len(parted))
            width = self.widest[dimension] * self._per_unit[dimension]
            self.shape[dimension] = max(1, int(min(cells, 1 / width if width > 0 else cells)))
        self._per_unit *= self.shape

    def cells(self, places: Array) -> Array:
        """The cell of each place along each dimension; a later place is in no earlier cell."""
        found = np.zeros((len(places), _DIMENSIONS), np.int32)
        for dimension in np.flatnonzero(self.shape > 1).tolist():
            scaled = (places[:, dimension] - self._least[dimension]) * self._per_unit[dimension]
            found[:, dimension] = np.clip(scaled, 0, self.shape[dimension] - 1)
        return found

    def numbers(self, cells: Array) -> Array:
        """The number of each cell; along the last dimension they follow each other."""
        _, columns, depth = self.shape.tolist()
        return (cells[:, 0] * np.int64(columns) + cells[:, 1]) * depth + cells[:, 2]


def _rounding(*sides: Boxes) -> Array:
    """More than a difference of codes is off by, on each attribute."""
    largest = []
    for attribute in range(sides[0].lo.shape[1]):
        ends = [_extent(side.lo[:, attribute]) for side in sides]
        largest.append(max(abs(least) + extent for least, extent in ends))
    return 4 * np.finfo(float).eps * np.array(largest)


def _extent(values: Array) -> tuple[float, float]:
    """The least of the finite values, and how far they reach."""
    is_finite = np.isfinite(values)
    finite = values if is_finite.all() else values[is_finite]
    if not len(finite):
        return 0.0, 0.0
    least = float(finite.min())
    with np.errstate(over="ignore"):
        return least, float(finite.max() - least)


def _narrowest_first(publications: Sequence[Codes], subscriptions: Sequence[Codes]) -> list[int]:
    """The attributes by how much of their extent regions take, the best to part them by first."""

    def share(attribute: int) -> float:
        _, extent = _extent(subscriptions[attribute].lo)
        if not extent:
            return np.inf
        widths = [np.minimum(s[attribute].hi - s[attribute].lo, extent) for s in sides]
        return sum(float(each.mean()) / extent for each in widths if len(each))

    sides = (publications, subscriptions)
    return sorted(range(len(publications)), key=share)


def _all_or(regions: Boxes, rows: Array) -> Boxes:
    """Some of the regions, by ascending rows; where these are all, nothing is copied."""
    return regions if len(rows) == len(regions.lo) else regions.taken(rows)


def _by_size(regions: Boxes) -> Iterator[Array]:
    """The rows of regions of each size, ascending."""
    count, dimensions = len(regions.lo), min(regions.lo.shape[1], _DIMENSIONS)
    sizes = np.zeros(count, np.int64)
    for dimension in range(dimensions):
        lo, hi = regions.lo[:, dimension], regions.hi[:, dimension]
        _, extent = _extent(lo)
        usual = 2 * extent / max(1, count) ** (1 / dimensions)
        if usual > 0:
            with np.errstate(over="ignore", divide="ignore"):
                size = np.ceil(np.log((hi - lo) / usual) / np.log(_WIDER))
            sizes = sizes * (_LAST_SIZE + 1) + np.clip(size, 0, _LAST_SIZE).astype(np.int64)
    return (rows for _, rows in places_of_each(sizes))
