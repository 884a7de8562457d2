"""``coverers``: which of many filters are covered by another, and by which.

The graph of filters (``graph.py``) knows all neighbours of each. Who only asks which filters could
go needs less: one that covers, for each that is covered. Filters are taken the widest first, and
only those that nothing covers are put into an index: covering is transitive, so that whatever a
covered filter covers is covered by its coverer as well. In a chain of a hundred thousand the index
holds one. "The widest" is a guess from a few numbers; where it is wrong, one that is in the index
is covered by one that came later, and a second pass over the index finds it.

The index is one of clauses, by tokens (``tokens.py``) or by sketches (``index.py``): a filter that
covers another has a clause that covers any clause of the other, so that one of them is asked for.

Cost: a question to the index per filter, twice for those that nothing covers, and a covering test
for each candidate until one covers. So many tests are made at most and no more: what they miss is
a filter that is covered and not said to be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, islice
from typing import Final

from predicast.covering.filter import Filter
from predicast.covering.index import SketchIndex
from predicast.covering.sketches import Sketch
from predicast.covering.tokens import TokenTable

_MOST_TESTS: Final = 512  # a millisecond or two; there are a hundred thousand filters
_FEW: Final = 12  # compared pair by pair, which is quicker than to make an index


def coverers(filters: Sequence[Filter]) -> list[int | None]:
    """For each filter the position of another that covers it and that nothing covers, if any.

    No two of them may be equal, and each must match something.
    """
    found = _by_pairs(filters) if len(filters) <= _FEW else _by_index(filters)
    return [None if each is None else _last(found, each) for each in found]


def _last(found: Sequence[int | None], place: int) -> int:
    """Where the coverers of coverers end; they do, since no two filters cover each other."""
    while (above := found[place]) is not None:
        place = above
    return place


def _by_pairs(filters: Sequence[Filter]) -> list[int | None]:
    return [
        next((p for p, other in enumerate(filters) if p != place and other.covers(each)), None)
        for place, each in enumerate(filters)
    ]


def _by_index(filters: Sequence[Filter]) -> list[int | None]:
    index = _Index(filters)
    found: list[int | None] = [None] * len(filters)
    held: list[int] = []
    for place in index.widest_first():
        found[place] = index.coverer(place)
        if found[place] is None:
            index.add(place)
            held.append(place)
    for place in held:
        found[place] = index.coverer(place)
    return found


class _Index:
    """Filters that may cover others: each of their clauses by a token, or else by its sketch."""

    def __init__(self, filters: Sequence[Filter]) -> None:
        self._filters = filters
        self._tokens = TokenTable(filters)
        self._index = SketchIndex()
        self._owners: list[int] = []  # of the clauses in it, by their numbers there
        # The clause that is asked for: the one with the most attributes is likely to be narrow.
        self._asked = [max(each.clauses, key=len) for each in filters]
        self._sketches = [self._index.clause_sketch(each) for each in self._asked]

    def widest_first(self) -> list[int]:
        """The places of filters, those before others that are likely to cover them."""

        def narrowness(place: int) -> tuple[float, ...]:
            return (*_narrowness(self._sketches[place]), -len(self._filters[place].clauses))

        return sorted(range(len(self._filters)), key=narrowness)

    def add(self, place: int) -> None:
        for number, clause in enumerate(self._filters[place].clauses):
            if not self._tokens.add(place, number):
                self._index.add(self._index.clause_sketch(clause))
                self._owners.append(place)

    def coverer(self, place: int) -> int | None:
        """One that covers a filter, of those that were added."""
        covered = self._filters[place]
        by_sketch = self._index.may_cover(self._sketches[place])
        candidates = chain(
            self._tokens.may_cover(self._asked[place]),
            (self._owners[number] for number in by_sketch),
        )
        others = (each for each in candidates if each != place)
        for candidate in islice(others, _MOST_TESTS):
            if self._filters[candidate].covers(covered):
                return candidate
        return None


def _narrowness(sketch: Sketch) -> tuple[int, int, float]:
    """Less for a filter that is likely to cover others: few attributes, open ends, wide hulls."""
    ends = [end for _, least, greatest in sketch.hulls for end in (-least, greatest)]
    finite = [end for end in ends if not math.isinf(end)]
    return sketch.bits.bit_count(), len(finite), -sum(finite)
