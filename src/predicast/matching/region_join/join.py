"""``join_regions``: which publication regions meet which subscription regions, all pairs at once.

The batch form of matching for a simulation, in which everything moves from one tick to the next:
nothing is held, nothing is subscribed, two sets of regions come in as arrays and pairs of row
numbers go out. What meets is what the model says (``Interval``, and a clause's bounds on each
attribute; paper 1, definition 5, repaired):

- regions meet if they have a point in common on every attribute; where they only touch, both
  ends must be closed;
- a publication with two integer ends ranges over integers, one between timestamps over
  microseconds, any other over reals;
- a publication without an interval on an attribute meets only subscriptions that ask nothing there;
- an empty publication is refused, as an empty ``Interval`` is; an empty subscription meets nothing.

One attribute is joined by a forward scan (``forward_scan.py``), several by cells (``cells.py``),
both over codes in which all of the above is decided (``codes.py``). Publications that range over
different things, integers here and reals there, have different codes and are joined apart.

Cost: sorting, and then what is near each other. Beside the regions and the pairs of a piece it
takes some 100 bytes per region.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, places_of_each
from predicast.errors import InvalidIntervalError, InvalidOptionError, UnsupportedColumnError
from predicast.matching.region_join import warming_up
from predicast.matching.region_join.cells import CellJoin
from predicast.matching.region_join.codes import (
    Codes,
    codes_of_absence,
    codes_over_integers,
    codes_over_reals,
)
from predicast.matching.region_join.ends import Ends, RegionsLike, regions_of
from predicast.matching.region_join.forward_scan import ForwardScan

PIECE: Final = 1 << 20  # pairs
_CODES: Final = (codes_over_reals, codes_over_integers, codes_of_absence)
_REALS, _INTEGERS, _ABSENCE = range(3)


class RegionPairs(NamedTuple):
    """Row numbers of publications, and of the subscriptions that each of them meets."""

    publications: Array
    subscriptions: Array


def join_regions(
    publications: RegionsLike, subscriptions: RegionsLike, *, on: Sequence[str] | None = None
) -> RegionPairs:
    """All pairs of regions that meet, each once, in no particular order.

    Regions are given as arrays, ``{"x": (lo, hi), "y": (lo, hi)}``, each perhaps with
    ``lo_open`` and ``hi_open`` behind, or as a table with a column ``struct<lo, hi>`` or
    ``struct<lo, hi, lo_open, hi_open>`` for each attribute. Without ``on``, all attributes count.

    >>> join_regions({"x": ([0, 5], [2, 9])}, {"x": ([2, 3, 4], [3, 4, 5])})
    RegionPairs(publications=array([0, 1]), subscriptions=array([0, 2]))
    """
    pieces = list(join_regions_in_pieces(publications, subscriptions, on=on))
    nothing = np.empty(0, np.int64)
    return RegionPairs(
        np.concatenate([nothing, *(piece.publications for piece in pieces)]),
        np.concatenate([nothing, *(piece.subscriptions for piece in pieces)]),
    )


def join_regions_in_pieces(
    publications: RegionsLike,
    subscriptions: RegionsLike,
    *,
    on: Sequence[str] | None = None,
    most: int = PIECE,
) -> Iterator[RegionPairs]:
    """The same pairs, at most so many at a time, or as many as one publication has."""
    if type(most) is not int or most < 1:
        raise InvalidOptionError(
            f"most is a number of pairs from 1 on, not {most!r}", option="most"
        )
    return _pieces(_joins(publications, subscriptions, on), most)


def count_region_pairs(
    publications: RegionsLike, subscriptions: RegionsLike, *, on: Sequence[str] | None = None
) -> int:
    """How many pairs there are, without making them."""
    return sum(each.join.count() for each in _joins(publications, subscriptions, on))


class _Join(NamedTuple):
    """The join of those publications that range over the same on each attribute."""

    publications: Array  # their rows
    subscriptions: Array  # the rows of those that are not empty
    join: ForwardScan | CellJoin


def _pieces(joins: Sequence[_Join], most: int) -> Iterator[RegionPairs]:
    for publications, subscriptions, join in joins:
        for mine, others in join.pieces(most):
            yield RegionPairs(publications[mine], subscriptions[others])


def _joins(
    publications: RegionsLike, subscriptions: RegionsLike, on: Sequence[str] | None
) -> list[_Join]:
    if on is not None and (isinstance(on, str) or not on):
        raise InvalidOptionError(
            f"on is a list of attributes, such as ['x', 'y'], not {on!r}", option="on"
        )
    published = regions_of(publications, on, "publications")
    subscribed = regions_of(subscriptions, on or list(published), "subscriptions")
    for name, ends in published.items():
        _check_kinds(name, ends, subscribed[name])
    ranging = np.zeros(len(next(iter(published.values()))), np.int64)
    for ends in published.values():
        ranging = ranging * len(_CODES) + _ranges_over(ends)
    if len(published) > 1:
        warming_up.begin()
    return [_join(published, subscribed, rows, group) for group, rows in places_of_each(ranging)]


def _join(
    published: dict[str, Ends], subscribed: dict[str, Ends], rows: Array, group: int
) -> _Join:
    """The join of the publications in some rows, which range over the same."""
    mine: list[Codes] = []
    others: list[Codes] = []
    for place, (name, ends) in enumerate(published.items()):
        over = group // len(_CODES) ** (len(published) - 1 - place) % len(_CODES)
        taken = ends if len(rows) == len(ends) else ends.taken(rows)
        codes, theirs = _CODES[over](taken, subscribed[name])
        _check_not_empty(name, codes, rows)
        mine.append(codes)
        others.append(theirs)
    is_there = np.logical_and.reduce([each.lo <= each.hi for each in others])
    there = np.flatnonzero(is_there)
    if len(there) < len(is_there):
        others = [each.taken(there) for each in others]
    if len(mine) == 1:
        return _Join(rows, there, ForwardScan(mine[0], others[0]))
    return _Join(rows, there, CellJoin(mine, others))


def _ranges_over(ends: Ends) -> Array:
    """What the publications range over on an attribute, if they have it."""
    return np.where(ends.is_given, np.where(ends.is_whole(), _INTEGERS, _REALS), _ABSENCE)


def _check_kinds(name: str, published: Ends, subscribed: Ends) -> None:
    if published.kind is not subscribed.kind:
        raise UnsupportedColumnError(
            f"the ends of {name!r} are {published.kind.value}s in the publications and "
            f"{subscribed.kind.value}s in the subscriptions, which do not compare",
            column=name,
            type=subscribed.kind.value,
        )


def _check_not_empty(name: str, codes: Codes, rows: Array) -> None:
    empty = codes.lo > codes.hi
    if empty.any():
        row = int(rows[empty.argmax()])
        raise InvalidIntervalError(
            f"the interval of {name!r} in row {row} of the publications is empty",
            attribute=name,
            row=row,
        )
