"""The tests of many clauses as codes: what a segment is built from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from predicast.matching.columnar.axes import FLAGS, TEXTUAL, Axis, AxisName
from predicast.matching.columnar.clause_tests import ClauseTests
from predicast.matching.columnar.cuts import NumberCuts, TextCuts, split_all
from predicast.model import Constraint
from predicast.model.spans import Span

Ints = npt.NDArray[np.int32]


class SetTest(NamedTuple):
    """Several spans on one axis, ascending, as codes."""

    clause: int
    axis: int
    spans: list[tuple[int, int]]
    are_points: bool


class CodedTests(NamedTuple):
    """Range tests, one per row, ascending by clause and axis; set tests and others by clause."""

    axes: list[Axis]
    clause: Ints
    axis: Ints
    lo: Ints
    hi: Ints
    is_point: npt.NDArray[np.bool_]
    sets: list[SetTest]
    others: list[tuple[int, str, tuple[Constraint, ...]]]  # clause, attribute, constraints


class _Gathered:
    """Spans on one axis, before they are ranked."""

    def __init__(self) -> None:
        self.lower: list[tuple[Any, int] | None] = []
        self.upper: list[tuple[Any, int] | None] = []

    def add(self, span: Span | tuple[int, int]) -> int:
        if isinstance(span, Span):
            self.lower.append(None if span.lo is None else (span.lo, int(span.lo_open)))
            self.upper.append(None if span.hi is None else (span.hi, int(not span.hi_open)))
        else:
            self.lower.append((span[0], 0))
            self.upper.append((span[1], 0))
        return len(self.lower) - 1


def coded(clauses: Iterable[ClauseTests]) -> CodedTests:
    """Rank the ends of all spans and write the tests as codes."""
    places: dict[AxisName, int] = {}
    gathered: list[_Gathered] = []

    def put(name: AxisName, span: Span | tuple[int, int]) -> tuple[int, int]:
        place = places.setdefault(name, len(places))
        if place == len(gathered):
            gathered.append(_Gathered())
        return place, gathered[place].add(span)

    ranges, points, sets, others = [], [], [], []
    for number, tests in enumerate(clauses):
        for name, span in tests.ranges:
            ranges.append((number, *put(name, span)))
            points.append(_is_point(span))
        for name, spans in tests.sets:
            put_spans = [put(name, span) for span in spans]
            indices = [index for _, index in put_spans]
            sets.append((number, put_spans[0][0], indices, all(map(_is_point, spans))))
        others += [(number, attribute, constraints) for attribute, constraints in tests.others]
    ranked = [_ranked(name, gathered[place]) for name, place in places.items()]
    clause, axis, index = (np.array(column, np.int32) for column in _columns(ranges))
    lo, hi = np.empty(len(clause), np.int32), np.empty(len(clause), np.int32)
    for place, (_, lower, upper) in enumerate(ranked):
        here = axis == place
        lo[here], hi[here] = lower[index[here]], upper[index[here]]
    order = np.lexsort((axis, clause))
    return CodedTests(
        [each[0] for each in ranked],
        clause[order],
        axis[order],
        lo[order],
        hi[order],
        np.array(points, bool)[order],
        [
            SetTest(c, a, [(int(ranked[a][1][i]), int(ranked[a][2][i])) for i in indices], points)
            for c, a, indices, points in sets
        ],
        others,
    )


def _columns(rows: Sequence[tuple[int, int, int]]) -> list[tuple[int, ...]]:
    return list(zip(*rows, strict=True)) if rows else [(), (), ()]


def _is_point(span: Span | tuple[int, int]) -> bool:
    if not isinstance(span, Span) or span.lo is None or span.hi is None:
        return False
    if isinstance(span.lo, str):
        return bool(span.hi == span.lo + "\0")
    if span.hi_open:  # timestamps and booleans
        return bool(span.hi == span.lo + 1 and not span.lo_open and isinstance(span.lo, int))
    return bool(span.lo == span.hi)


def _ranked(name: AxisName, spans: _Gathered) -> tuple[Axis, Ints, Ints]:
    if name.scale in FLAGS:
        lower = np.array([cut[0] if cut else 0 for cut in spans.lower], np.int32)
        upper = np.array([cut[0] if cut else 0 for cut in spans.upper], np.int32)
        return Axis(name, None, None), lower, upper
    rank = _rank_text if name.scale in TEXTUAL else _rank_numbers
    lower_cuts, lower = rank(spans.lower, unbounded_first=True)
    upper_cuts, upper = rank(spans.upper, unbounded_first=False)
    return Axis(name, lower_cuts, upper_cuts), lower, upper


def _rank_numbers(cuts: list[Any], *, unbounded_first: bool) -> tuple[NumberCuts, Ints]:
    bounded = [cut for cut in cuts if cut is not None]
    whole, rest = split_all([value for value, _ in bounded])
    side = np.array([side for _, side in bounded], np.int8)
    ranked, position = NumberCuts.rank(whole, rest, side)
    return ranked, _codes(cuts, position, len(ranked), unbounded_first)


def _rank_text(cuts: list[Any], *, unbounded_first: bool) -> tuple[TextCuts, Ints]:
    ranked, position = TextCuts.rank([cut[0] for cut in cuts if cut is not None])
    return ranked, _codes(cuts, position, len(ranked), unbounded_first)


def _codes(cuts: list[Any], position: Ints, count: int, unbounded_first: bool) -> Ints:
    """Positions as codes: lower cuts count from 1 behind 0 for unbounded, upper ones up to n."""
    codes = np.full(len(cuts), 0 if unbounded_first else count, np.int32)
    is_bounded = np.array([cut is not None for cut in cuts], bool)
    codes[is_bounded] = position + int(unbounded_first)
    return codes
