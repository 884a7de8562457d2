"""Ends as codes: floats that compare as the ends of regions do.

Two intervals meet unless one ends before the other begins, so all that is ever compared is the
lower end of one side with the upper end of the other. A code is made of each end so that

    a publication meets a subscription on an attribute
        if and only if  p_lo <= s_hi  and  s_lo <= p_hi

exactly, ties, open ends, integers and unbounded ends included. That is decided here, once per
array, and loops compare floats and nothing else.

- *Over integers* (and microseconds), where publications range over these alone: the ends are the
  first and the last integer of each interval.
- *Over reals*: the values, if they are floats and none is left out. A lower end ``v`` that is left
  out meets upper ends above ``v`` alone, and its code is the next float; likewise an upper end.
  Only where ends of both sorts are left out is that not enough: the reals between two neighbouring
  floats would get lost.
- Wherever a float would not do, for that reason or because integers have more than 53 bits, values
  are replaced by twice their rank among all of them, and one is added for a lower end that is left
  out, or taken from an upper end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from predicast.arrays import Array, offsets
from predicast.matching.region_join.ends import End, Ends
from predicast.model.values import EXACT

_INT_MIN: Final = -(2**63)
_INT_MAX: Final = 2**63 - 1
_ABOVE_INT: Final = 2.0**63


@dataclass(frozen=True, slots=True)
class Codes:
    """The codes of both ends of each region on one attribute; empty ones are inside out."""

    lo: Array
    hi: Array

    def taken(self, rows: Array) -> Codes:
        """Those of some regions."""
        return Codes(self.lo[rows], self.hi[rows])


def codes_over_integers(publications: Ends, subscriptions: Ends) -> tuple[Codes, Codes]:
    """The codes where publications range over integers or microseconds."""
    ends = [*_first_and_last(publications), *_first_and_last(subscriptions)]
    return _both_sides(_values(ends) if all(map(_is_exact, ends)) else _ranks(ends), ends)


def codes_over_reals(publications: Ends, subscriptions: Ends) -> tuple[Codes, Codes]:
    """The codes where they range over reals."""
    ends = [publications.lo, publications.hi, subscriptions.lo, subscriptions.hi]
    lower_open, upper_open = (_any_open(ends[0], ends[2]), _any_open(ends[1], ends[3]))
    if not (lower_open and upper_open) and all(map(_is_exact, ends)):
        towards = (np.inf, -np.inf, np.inf, -np.inf)
        coded = [
            np.where(end.is_open, np.nextafter(value, away), value) if end.is_open.any() else value
            for end, value, away in zip(ends, _values(ends), towards, strict=True)
        ]
    else:
        steps = (1.0, -1.0, 1.0, -1.0)
        coded = [
            2 * rank + step * end.is_open
            for end, rank, step in zip(ends, _ranks(ends), steps, strict=True)
        ]
    return _both_sides(coded, ends)


def codes_of_absence(publications: Ends, subscriptions: Ends) -> tuple[Codes, Codes]:
    """The codes where publications say nothing: whoever asks for something is not met."""
    asks = subscriptions.lo.is_there | subscriptions.hi.is_there
    nothing = np.zeros(len(publications))
    return Codes(nothing, nothing), Codes(asks.astype(np.float64), np.zeros(len(subscriptions)))


def _both_sides(coded: list[Array], ends: list[End]) -> tuple[Codes, Codes]:
    """The codes of lower and upper ends of the one side and the other, of all that are there."""
    unbounded = (-np.inf, np.inf, -np.inf, np.inf)
    filled = [
        code if end.is_there.all() else np.where(end.is_there, code, nowhere)
        for code, end, nowhere in zip(coded, ends, unbounded, strict=True)
    ]
    return Codes(filled[0], filled[1]), Codes(filled[2], filled[3])


def _any_open(*ends: End) -> bool:
    return any(bool(end.is_open.any()) for end in ends)


def _is_exact(end: End) -> bool:
    """Whether all values are floats, or could be."""
    values = end.values
    if values.dtype.kind == "f" or not len(values):
        return True
    return bool(values.min() >= -EXACT and values.max() <= EXACT)


def _values(ends: list[End]) -> list[Array]:
    return [end.values.astype(np.float64, copy=False) for end in ends]


def _ranks(ends: list[End]) -> list[Array]:
    """The rank of each value among those of all the ends, exactly.

    An integer that no float equals is the nearest float and what is left over.
    """
    nearest = np.concatenate(_values(ends))
    over = np.concatenate([_left_over(end.values) for end in ends])
    order = np.lexsort((over, nearest))
    nearest, over = nearest[order], over[order]
    steps = (nearest[1:] != nearest[:-1]) | (over[1:] != over[:-1])
    ranks = np.empty(len(order))
    ranks[order] = np.concatenate([np.zeros(min(1, len(order))), np.cumsum(steps)])
    return np.split(ranks, offsets([len(end.values) for end in ends])[1:-1])


def _left_over(values: Array) -> Array:
    if values.dtype.kind == "f":
        return np.zeros(len(values), np.int64)
    nearest = values.astype(np.float64)
    above = nearest >= _ABOVE_INT  # which is one more than the greatest integer
    whole = np.where(above, 0, nearest).astype(np.int64)
    return np.where(above, values - _INT_MAX - 1, values - whole)


def _first_and_last(of: Ends) -> tuple[End, End]:
    """The first and the last integer of each region; of one without any, inside out."""
    first, beyond = _integers(of.lo, lower=True)
    last, before = _integers(of.hi, lower=False)
    nothing = (beyond & of.lo.is_there) | (before & of.hi.is_there)
    closed = np.zeros(len(of), bool)
    return (
        End(np.where(nothing, 1, first), of.lo.is_there | nothing, closed),
        End(np.where(nothing, 0, last), of.hi.is_there | nothing, closed),
    )


def _integers(end: End, *, lower: bool) -> tuple[Array, Array]:
    """The first integer from each lower end on, or the last up to each upper end.

    And for which there is none of 64 bits.
    """
    values, is_open = end.values, end.is_open
    beyond = np.zeros(len(values), bool)
    if values.dtype.kind == "f":
        whole = np.ceil(values) if lower else np.floor(values)
        above, below = whole >= _ABOVE_INT, whole < -_ABOVE_INT
        beyond = above if lower else below
        is_open = is_open & (whole == values) & ~above & ~below
        values = np.where(above | below, 0, whole).astype(np.int64)
        values = np.where(above, _INT_MAX, np.where(below, _INT_MIN, values))
    at_the_end = is_open & (values == (_INT_MAX if lower else _INT_MIN))
    step = (is_open & ~at_the_end).astype(np.int64)
    return values + step if lower else values - step, beyond | at_the_end
