"""Dividing subscriptions into shards, so that an event has to visit few of them.

Subscriptions that are bounded on an attribute are put in the order of what they reach on it, and
cut in two; each part likewise, on the same attribute or another, until there are as many parts as
are wanted. The attribute is the one by whose cut the fewest events should have to visit both parts,
if events are where subscriptions are. Those that it does not bound are a part of their own.

Where nothing is bounded, no cut helps, and parts are made that every event visits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array
from predicast.covering.merging import Extent, Hull

_WORTH: Final = 0.95  # of the visits without a cut: what saves less is none
_MOST_AXES: Final = 32  # attributes that are looked at: those that bound the most subscriptions


class _Axis(NamedTuple):
    """An attribute: where each subscription begins and ends on it, NaN if it does not bound it."""

    lo: Array
    hi: Array

    def centre(self, members: Array) -> Array:
        centre: Array = self.lo[members] + self.hi[members]
        return centre


def divided(hulls: Sequence[Hull], parts: int) -> list[Array]:
    """The positions of the hulls, in at most so many parts of about the same size."""
    uses = Counter(attribute for hull in hulls for attribute in hull)
    axes = [_axis(hulls, attribute) for attribute, _ in uses.most_common(_MOST_AXES)]
    found = _divided(axes, np.arange(len(hulls)), min(parts, len(hulls)))
    return [each for each in found if len(each)]


def _axis(hulls: Sequence[Hull], attribute: str) -> _Axis:
    extents = [hull.get(attribute) for hull in hulls]
    kinds = Counter(extent.kind for extent in extents if extent is not None)
    kind = kinds.most_common(1)[0][0]
    known = [each if each is not None and each.kind is kind else None for each in extents]
    ends = sorted({end for each in known if each for end in (each.lo, each.hi) if end is not None})
    rank = {end: float(number) for number, end in enumerate(ends, 1)}
    return _Axis(
        np.array([_rank(each, rank, "lo", 0.0) for each in known]),
        np.array([_rank(each, rank, "hi", len(ends) + 1.0) for each in known]),
    )


def _rank(extent: Extent | None, rank: dict[object, float], end: str, unbounded: float) -> float:
    if extent is None:
        return float("nan")
    value = getattr(extent, end)
    return unbounded if value is None else rank[value]


def _divided(axes: Sequence[_Axis], members: Array, parts: int) -> list[Array]:
    if parts <= 1 or len(members) <= 1:
        return [members]
    costs = [_cost(axis, members) for axis in axes]
    best = int(np.argmin(costs)) if costs else 0
    if not costs or costs[best] > _WORTH:
        return [np.array(each) for each in np.array_split(members, parts)]
    is_bounded = ~np.isnan(axes[best].lo[members])
    bounded, others = members[is_bounded], members[~is_bounded]
    if len(others):
        less = min(max(round(parts * len(others) / len(members)), 1), parts - 1)
        return _divided(axes, others, less) + _divided(axes, bounded, parts - less)
    before, behind = _cut(axes[best], members, parts // 2 / parts)
    return _divided(axes, before, parts // 2) + _divided(axes, behind, parts - parts // 2)


def _cut(axis: _Axis, members: Array, share: float) -> tuple[Array, Array]:
    """Members in order, cut where about that share is before; what is at one place stays there."""
    centre = axis.centre(members)
    order = np.argsort(centre, kind="stable")
    steps = np.flatnonzero(np.diff(centre[order])) + 1
    wanted = len(members) * share
    place = int(steps[np.argmin(np.abs(steps - wanted))]) if len(steps) else int(wanted)
    return members[order[:place]], members[order[place:]]


def _cost(axis: _Axis, members: Array) -> float:
    """Which share of all there is an event should have to look at after a cut."""
    is_bounded = ~np.isnan(axis.lo[members])
    bounded = members[is_bounded]
    share = len(bounded) / len(members)
    if len(bounded) < 2:
        return 1.0
    before, behind = _cut(axis, bounded, 0.5)
    at = axis.centre(bounded) / 2
    visits_before = float(np.mean(at <= axis.hi[before].max())) * len(before)
    visits_behind = float(np.mean(at >= axis.lo[behind].min())) * len(behind)
    return 1 - share + share * (visits_before + visits_behind) / len(bounded)
