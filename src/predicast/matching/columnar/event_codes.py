"""What a batch of events says of each axis of a segment, as codes."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from predicast.matching.columnar.axes import FAILS, PASSES, SCALES, TEXTUAL, Axis, Scale
from predicast.matching.columnar.cuts import NumberCuts, TextCuts
from predicast.matching.columns import Columns
from predicast.matching.parts import (
    Floats,
    Intervals,
    Part,
    Strings,
)
from predicast.model import Absent, Event, Interval, Kind, Value
from predicast.model.values import kind_of, microseconds


class EventCodes(NamedTuple):
    """Codes of events (rows) on axes (columns)."""

    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    is_wide: npt.NDArray[np.bool_]  # not one value: an interval, or an absence that passes


class _Places(NamedTuple):
    """The axes of one attribute: number axes with their cuts, and all axes."""

    numbers: list[tuple[int, NumberCuts, NumberCuts]]
    all: list[tuple[int, Axis]]


class AxisIndex:
    """The axes of a segment by attribute, to code single events quickly."""

    def __init__(self, axes: Sequence[Axis], absent: Absent) -> None:
        self._places: dict[str, _Places] = {}
        for place, axis in enumerate(axes):
            places = self._places.setdefault(axis.name.attribute, _Places([], []))
            places.all.append((place, axis))
            if axis.name.scale is Scale.NUMBER:
                assert isinstance(axis.lower, NumberCuts) and isinstance(axis.upper, NumberCuts)
                places.numbers.append((place, axis.lower, axis.upper))
        lacking = [_lacking(axis, absent) for axis in axes]
        self._low = array("i", [low for low, _, _ in lacking])
        self._high = array("i", [high for _, high, _ in lacking])
        self._is_wide = array("b", [wide for _, _, wide in lacking])

    def codes(self, event: Event) -> EventCodes:
        """The codes of one event on all axes."""
        low, high, is_wide = self._low[:], self._high[:], self._is_wide[:]
        for attribute, value in event.items():
            places = self._places.get(attribute)
            if places is None:
                continue
            if type(value) is int and len(places.all) == len(places.numbers):
                for place, lower, upper in places.numbers:
                    low[place], high[place] = lower.code(value), upper.code(value)
                    is_wide[place] = False
                continue
            for place, axis in places.all:
                low[place], high[place] = value_code(axis, value)
                is_wide[place] = isinstance(value, Interval) and not axis.name.is_flag()
        return EventCodes(_row(low, np.int32), _row(high, np.int32), _row(is_wide, np.bool_))


def _row(values: array[int], dtype: type[np.generic]) -> npt.NDArray[Any]:
    if not values:  # an empty array has no buffer to look at
        return np.zeros((1, 0), dtype)
    return np.frombuffer(values, dtype).reshape(1, -1)


def _lacking(axis: Axis, absent: Absent) -> tuple[int, int, bool]:
    """What an event says of an axis whose attribute it lacks, and whether that is wide."""
    if axis.name.is_flag():
        return 0, 0, False
    return (*PASSES, True) if absent == "passes" else (*FAILS, False)


def value_code(axis: Axis, value: Value | Interval) -> tuple[int, int]:
    """What one value says of an axis."""
    scale = axis.name.scale
    if scale is Scale.PRESENCE:
        return 1, 1
    if scale is Scale.DISCRETE:
        discrete = isinstance(value, Interval) and _is_discrete(value)
        return int(discrete), int(discrete)
    if isinstance(value, Interval):
        return interval_code(axis, value)
    if isinstance(value, str):
        if scale not in TEXTUAL:
            return FAILS
        text = value if scale is Scale.STRING else value[::-1]
        assert isinstance(axis.lower, TextCuts) and isinstance(axis.upper, TextCuts)
        return axis.lower.code(text), axis.upper.code(text)
    if SCALES[kind_of(value)] is not scale:
        return FAILS
    number = microseconds(value) if isinstance(value, datetime) else value
    number = int(number) if isinstance(number, bool) else number
    assert isinstance(axis.lower, NumberCuts) and isinstance(axis.upper, NumberCuts)
    return axis.lower.code(number), axis.upper.code(number)


def event_codes(axes: Sequence[Axis], columns: Columns, absent: Absent) -> EventCodes:
    """The codes of a batch on all axes."""
    shape = (len(columns), len(axes))
    low, high = np.empty(shape, np.int32), np.empty(shape, np.int32)
    is_wide = np.zeros(shape, bool)
    for place, axis in enumerate(axes):
        _code_axis(axis, columns, absent, low[:, place], high[:, place], is_wide[:, place])
    return EventCodes(low, high, is_wide)


def _code_axis(
    axis: Axis,
    columns: Columns,
    absent: Absent,
    lower: npt.NDArray[np.int32],
    upper: npt.NDArray[np.int32],
    is_wide: npt.NDArray[np.bool_],
) -> None:
    scale = axis.name.scale
    lower[:], upper[:], is_wide[:] = _lacking(axis, absent)
    for part in columns.parts(axis.name.attribute):
        rows = slice(None) if part.rows is None else part.rows
        is_wide[rows] = isinstance(part, Intervals) and not axis.name.is_flag()
        if scale is Scale.PRESENCE:
            lower[rows] = upper[rows] = 1
        elif scale is Scale.DISCRETE:
            if isinstance(part, Intervals):
                lower[rows] = upper[rows] = _are_discrete(part)
        elif isinstance(part, Intervals):
            lower[rows], upper[rows] = _code_intervals(axis, part)
        elif SCALES[part.kind] is scale:
            lower[rows], upper[rows] = _code_part(axis.lower, part), _code_part(axis.upper, part)
        elif scale is Scale.REVERSED and isinstance(part, Strings):
            backwards = [word[::-1] for word in part.words]
            lower[rows] = _code_words(axis.lower, backwards)[part.values]
            upper[rows] = _code_words(axis.upper, backwards)[part.values]
        else:
            lower[rows], upper[rows] = FAILS


def _code_part(cuts: NumberCuts | TextCuts | None, part: Part) -> npt.NDArray[np.int32]:
    if isinstance(part, Strings):
        return _code_words(cuts, part.words)[part.values]
    assert isinstance(cuts, NumberCuts)
    if isinstance(part, Floats):
        return cuts.code_floats(part.values)
    return cuts.code_ints(part.values.astype(np.int64))


def _code_words(cuts: NumberCuts | TextCuts | None, words: list[str]) -> npt.NDArray[np.int32]:
    assert isinstance(cuts, TextCuts)
    return np.array([cuts.code(word) for word in words], np.int32)


def _are_discrete(part: Intervals) -> npt.NDArray[np.int32]:
    return np.array([_is_discrete(interval) for interval in part.values], np.int32)


def _is_discrete(interval: Interval) -> bool:
    return interval.kind is Kind.NUMBER and interval.is_discrete()


def _code_intervals(axis: Axis, part: Intervals) -> tuple[list[int], list[int]]:
    codes = [interval_code(axis, interval) for interval in part.values]
    return [low for low, _ in codes], [high for _, high in codes]


def interval_code(axis: Axis, interval: Interval) -> tuple[int, int]:
    """Crosswise: the lower code of the upper end, the upper code of the lower end."""
    kind = {Scale.NUMBER: Kind.NUMBER, Scale.TIMESTAMP: Kind.TIMESTAMP}.get(axis.name.scale)
    if kind is None or interval.kind not in {kind, None}:
        return FAILS
    assert isinstance(axis.lower, NumberCuts) and isinstance(axis.upper, NumberCuts)
    span = interval.span()
    if interval.is_discrete():
        span = span.closed_over_integers()
    if span.hi is None:
        low = len(axis.lower)
    else:
        low = axis.lower.code_cut(span.hi, -1) if span.hi_open else axis.lower.code(span.hi)
    if span.lo is None:
        high = 0
    else:
        high = axis.upper.code_cut(span.lo, 1) if span.lo_open else axis.upper.code(span.lo)
    return low, high
