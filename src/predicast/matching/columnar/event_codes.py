"""What a batch of events says of each axis of a segment, as codes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.typed_values import (
    Booleans,
    Intervals,
    Strings,
    TypedValues,
    ranges_over_integers,
)
from predicast.matching.columnar.compile.axes import FAILS, PASSES, SCALES, TEXTUAL, Axis, Scale
from predicast.matching.columnar.compile.cuts import NumberCuts, TextCuts
from predicast.model import Absent, Event, Interval, Kind, Value
from predicast.model.values import kind_of, microseconds


class EventCodes(NamedTuple):
    """Codes of events (rows) on axes (columns)."""

    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    is_wide: npt.NDArray[np.bool_]  # not one value: an interval, or an absence that passes


class _AxesOfAttribute(NamedTuple):
    """The axes of one attribute: all, and what a number says of them."""

    all: list[tuple[int, Axis]]
    numbers: list[tuple[int, NumberCuts, NumberCuts]]
    presence: list[int]
    failing: list[int]

    def add(self, number: int, axis: Axis) -> None:
        """One more axis."""
        self.all.append((number, axis))
        if axis.name.scale is Scale.NUMBER:
            assert isinstance(axis.lower, NumberCuts) and isinstance(axis.upper, NumberCuts)
            self.numbers.append((number, axis.lower, axis.upper))
        elif axis.name.scale is Scale.PRESENCE:
            self.presence.append(number)
        elif not axis.name.is_flag():
            self.failing.append(number)


class EventCoder:
    """What events say of the axes of a segment."""

    def __init__(self, axes: Sequence[Axis], absent: Absent) -> None:
        self._axes_of: dict[str, _AxesOfAttribute] = {}
        for number, axis in enumerate(axes):
            mine = self._axes_of.setdefault(axis.name.attribute, _AxesOfAttribute([], [], [], []))
            mine.add(number, axis)
        lacking = [_lacking(axis, absent) for axis in axes]
        self._lacking = EventCodes(
            np.array([[low for low, _, _ in lacking]], np.int32),
            np.array([[high for _, high, _ in lacking]], np.int32),
            np.array([[wide for _, _, wide in lacking]], bool),
        )
        low, high, is_wide = self._lacking
        self._one = EventCodes(low.copy(), high.copy(), is_wide.copy())
        self._blank, self._writable = _flat(self._lacking), _flat(self._one)

    def of_event(self, event: Event) -> EventCodes:
        """The codes of one event on all axes; they hold until the next one is coded."""
        low, high, is_wide = self._writable
        low[:], high[:], is_wide[:] = self._blank
        for attribute, value in event.items():
            mine = self._axes_of.get(attribute)
            if mine is None:
                continue
            if type(value) is int or type(value) is float:
                for number, lower, upper in mine.numbers:
                    low[number], high[number] = lower.code(value), upper.code(value)
                    is_wide[number] = False
                for number in mine.presence:
                    low[number] = high[number] = 1
                for number in mine.failing:
                    low[number], high[number] = FAILS
                    is_wide[number] = False
                continue
            for number, axis in mine.all:
                low[number], high[number] = value_code(axis, value)
                is_wide[number] = isinstance(value, Interval) and not axis.name.is_flag()
        return self._one

    def of_batch(self, columns: EventBatch) -> EventCodes:
        """The codes of a batch on all axes."""
        shape = (len(columns), self._lacking.low.shape[1])
        low, high = np.empty(shape, np.int32), np.empty(shape, np.int32)
        is_wide = np.empty(shape, bool)
        low[:], high[:], is_wide[:] = self._lacking
        for attribute in columns.attributes():  # of those that some event has
            mine = self._axes_of.get(attribute)
            if mine is None:
                continue
            for part in columns.parts(attribute):
                if not len(part):
                    continue
                for number, axis in mine.all:
                    here = EventCodes(low[:, number], high[:, number], is_wide[:, number])
                    _code_part(axis, part, here)
        return EventCodes(low, high, is_wide)


def _flat(codes: EventCodes) -> tuple[memoryview, memoryview, memoryview]:
    """One event's codes as Python reads and writes them fastest."""
    low, high, is_wide = (memoryview(each[0]) for each in codes)
    return low, high, is_wide


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
        discrete = isinstance(value, Interval) and ranges_over_integers(value)
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


def _code_part(axis: Axis, part: TypedValues, codes: EventCodes) -> None:
    """What the values of a part say of an axis, in the rows where they stand."""
    rows = slice(None) if part.rows is None else part.rows
    scale = axis.name.scale
    if axis.name.is_flag():
        if scale is Scale.PRESENCE:
            codes.low[rows] = codes.high[rows] = 1
        elif isinstance(part, Intervals):
            codes.low[rows] = codes.high[rows] = part.are_discrete()
        return
    codes.is_wide[rows] = isinstance(part, Intervals)
    if isinstance(part, Intervals):
        codes.low[rows], codes.high[rows] = _code_intervals(axis, part)
    elif isinstance(part, Strings) and scale in TEXTUAL:
        words = part.words if scale is Scale.STRING else [word[::-1] for word in part.words]
        codes.low[rows] = _code_words(axis.lower, words)[part.values]
        codes.high[rows] = _code_words(axis.upper, words)[part.values]
    elif SCALES[part.kind] is scale:
        assert isinstance(axis.lower, NumberCuts) and isinstance(axis.upper, NumberCuts)
        values = part.values.astype(np.int64) if isinstance(part, Booleans) else part.values
        axis.lower.code_all(values, part.rows, codes.low)
        axis.upper.code_all(values, part.rows, codes.high)
    else:
        codes.low[rows], codes.high[rows] = FAILS


def _code_words(cuts: NumberCuts | TextCuts | None, words: list[str]) -> npt.NDArray[np.int32]:
    assert isinstance(cuts, TextCuts)
    return np.array([cuts.code(word) for word in words], np.int32)


def _code_intervals(
    axis: Axis, part: Intervals
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Crosswise, as ``interval_code`` says."""
    ends = part.closed
    if ends is None:
        pairs = [interval_code(axis, interval) for interval in part.values]
        both = np.array(pairs, np.int32).reshape(-1, 2)
        return both[:, 0], both[:, 1]
    low, high = np.empty(len(part), np.int32), np.empty(len(part), np.int32)
    if SCALES[ends.kind] is not axis.name.scale:
        low[:], high[:] = FAILS
        return low, high
    assert isinstance(axis.lower, NumberCuts) and isinstance(axis.upper, NumberCuts)
    axis.lower.code_all(ends.hi, None, low)
    axis.upper.code_all(ends.lo, None, high)
    low[~ends.has_hi] = len(axis.lower)
    high[~ends.has_lo] = 0
    return low, high


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
