"""Coded tests of clauses, one by one: whatever the language can express."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from predicast.arrays import Array, offsets, places_of_each
from predicast.matching.columnar.compile.axes import WRITTEN, Axis, AxisName
from predicast.matching.columnar.compile.clause_tests import ClauseTests
from predicast.matching.columnar.compile.coded_tests import CodedTests, Other
from predicast.matching.columnar.compile.cuts import NumberCuts, TextCuts, split_all, spread
from predicast.model.spans import Span

_Cut = tuple[Any, int] | None  # a value and a side; None is unbounded


class _Test(NamedTuple):
    axis: AxisName
    spans: tuple[Span | tuple[int, int], ...]


def coded(keys: Sequence[int], clauses: Sequence[ClauseTests]) -> CodedTests:
    """Rank the ends of all spans and write the tests as codes."""
    tests = [sorted(_tests(each), key=lambda test: test.axis) for each in clauses]
    flat = list(chain.from_iterable(tests))
    names = sorted({test.axis for test in flat})
    number = {name: place for place, name in enumerate(names)}
    axis = np.array([number[test.axis] for test in flat], np.int32)
    sizes = np.array([len(test.spans) for test in flat], np.int64)
    spans = [span for test in flat for span in test.spans]
    span_axis = np.repeat(axis, sizes)
    lo, hi = np.empty(len(spans), np.int32), np.empty(len(spans), np.int32)
    axes = []
    for place, here in places_of_each(span_axis):
        mine = [spans[index] for index in here.tolist()]
        ranked, lo[here], hi[here] = _ranked(names[place], mine)
        axes.append(ranked)
    others: dict[Other, int] = {}
    other = [others.setdefault(o, len(others)) for each in clauses for o in each.others]
    return CodedTests(
        keys=np.array(keys, np.int32),
        axes=axes,
        clause=np.repeat(np.arange(len(clauses), dtype=np.int32), [len(each) for each in tests]),
        axis=axis,
        span_first=offsets(sizes),
        lo=lo,
        hi=hi,
        is_point=np.array([all(map(_is_point, test.spans)) for test in flat], bool),
        others=list(others),
        other_clause=np.repeat(
            np.arange(len(clauses), dtype=np.int32), [len(each.others) for each in clauses]
        ),
        other=np.array(other, np.int32),
    )


def _tests(clause: ClauseTests) -> Iterable[_Test]:
    for name, span in clause.ranges:
        yield _Test(name, (span,))
    for name, spans in clause.sets:
        yield _Test(name, spans)


def _is_point(span: Span | tuple[int, int]) -> bool:
    if not isinstance(span, Span) or span.lo is None or span.hi is None:
        return False
    if isinstance(span.lo, str):
        return bool(span.hi == span.lo + "\0")
    if span.hi_open:  # timestamps and booleans
        return bool(span.hi == span.lo + 1 and not span.lo_open and isinstance(span.lo, int))
    return bool(span.lo == span.hi)


def _ranked(name: AxisName, spans: Sequence[Any]) -> tuple[Axis, Array, Array]:
    if name.is_flag():
        codes = np.array(spans, np.int32).reshape(-1, 2)
        return Axis(name, None, None), codes[:, 0], codes[:, 1]
    lower: list[_Cut] = [None if s.lo is None else (s.lo, int(s.lo_open)) for s in spans]
    upper: list[_Cut] = [None if s.hi is None else (s.hi, int(not s.hi_open)) for s in spans]
    rank = _rank_text if name.scale in WRITTEN else _rank_numbers
    lower_cuts, lower_position = rank(lower)
    upper_cuts, upper_position = rank(upper)
    axis = Axis(name, lower_cuts, upper_cuts)
    return axis, *axis.codes(lower_position, upper_position)


def _rank_numbers(cuts: list[_Cut]) -> tuple[NumberCuts, Array]:
    bounded = [cut for cut in cuts if cut is not None]
    whole, rest = split_all([value for value, _ in bounded])
    ranked, position = NumberCuts.rank(whole, rest, np.array([s for _, s in bounded], np.int8))
    return ranked, spread(position, np.array([cut is not None for cut in cuts], bool))


def _rank_text(cuts: list[_Cut]) -> tuple[TextCuts, Array]:
    return TextCuts.rank([None if cut is None else cut[0] for cut in cuts])
