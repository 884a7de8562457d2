"""What a batch of events says of each axis of a segment, as codes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.lists import Lists
from predicast.matching.batches.typed_values import (
    Booleans,
    Decimals,
    Intervals,
    Number,
    Strings,
    TypedValues,
    ranges_over_integers,
)
from predicast.matching.columnar import loops, number_axes
from predicast.matching.columnar.compile.axes import (
    FAILS,
    IS_SET,
    PASSES,
    SCALES,
    Axis,
    AxisName,
    Scale,
)
from predicast.matching.columnar.compile.cuts import NumberCuts, TextCuts
from predicast.matching.columnar.number_axes import FEW_EVENTS, NumberColumns, NumberPool
from predicast.matching.columnar.reserved import FLOAT, INTEGER, NOT_THERE
from predicast.matching.columnar.text_axes import TextAxis, TextPool, pool_of
from predicast.model import Absent, Elements, Event, Held, Interval, Kind
from predicast.model.decimals import order_text
from predicast.model.spans import Span
from predicast.model.values import kind_of, microseconds

_TEXT_ROOM: Final = 1 << 12  # bytes of an event's strings that there is room for at first


class EventCodes(NamedTuple):
    """Codes of events (rows) on axes, each of which has its column.

    What no event of a batch has is one column for all: of thousands of attributes that clauses look
    at, a batch may have a few dozen.
    """

    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    is_wide: npt.NDArray[np.bool_]  # not one value: an interval, or an absence that passes
    column: npt.NDArray[np.int32]  # of each axis

    def on(self, axis: int) -> AxisCodes:
        """What all events say of one axis."""
        column = self.column[axis]
        return AxisCodes(self.low[:, column], self.high[:, column], self.is_wide[:, column])


class AxisCodes(NamedTuple):
    """The codes of events on one axis."""

    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    is_wide: npt.NDArray[np.bool_]


class OneEvent:
    """Room for the codes and the strings of one event, to be written again and again."""

    __slots__ = ("_none", "_raw", "_spots", "arrays", "flat", "numbers", "raw", "spots")

    def __init__(self, arrays: EventCodes, attributes: int) -> None:
        """There are so many attributes whose strings something looks at."""
        self.arrays = arrays
        axes = arrays.low.shape[1]
        # What a loop codes: integers, floats, and which of them an axis has, if any.
        self.numbers = np.zeros(axes, np.int64), np.zeros(axes), np.zeros(axes, np.uint8)
        # Python writes a memoryview faster than an array.
        low, high, is_wide = (memoryview(each[0]) for each in arrays[:3])
        numbers: list[Any] = [memoryview(each) for each in self.numbers]  # type: ignore[arg-type]
        self.flat = (low, high, is_wide, *numbers)
        # Strings: where that of each attribute begins and ends, or -1, and the end of all.
        self.spots = np.full(2 * attributes + 1, -1, np.int64)
        self._spots: Any = memoryview(self.spots)  # type: ignore[arg-type]
        self._none: Any = memoryview(self.spots.copy())  # type: ignore[arg-type]
        self.raw = np.zeros(_TEXT_ROOM, np.uint8)
        self._raw = self.raw.data

    def put(self, texts: list[tuple[int, bytes]]) -> None:
        """Take the strings of an event, and the numbers of their attributes."""
        spots, end = self._spots, 0
        spots[:] = self._none
        for attribute, encoded in texts:
            spots[2 * attribute] = end
            end += len(encoded)
            spots[2 * attribute + 1] = end
        spots[-1] = end
        if end > len(self.raw):
            self.raw = np.zeros(2 * end, np.uint8)
            self._raw = self.raw.data
        self._raw[:end] = b"".join([encoded for _, encoded in texts])


class _BlankRow(NamedTuple):
    """What an event without attributes says, in columns of which some axes have their own."""

    own: list[int]  # axes, one after the other
    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    is_wide: npt.NDArray[np.bool_]
    column: npt.NDArray[np.int32]  # of each axis


class _AttributeAxes:
    """The axes of one attribute, by what values say of them."""

    __slots__ = ("all", "exact", "is_mixed", "numbers", "others", "presence", "text", "texts")

    def __init__(self) -> None:
        self.all: list[tuple[int, Axis]] = []
        self.numbers: list[int] = []
        self.texts: list[tuple[int, TextAxis]] = []
        self.presence: list[int] = []
        self.exact: list[tuple[int, Axis]] = []  # numbers as texts
        self.others: list[int] = []  # what numbers and texts say nothing of
        self.text = -1  # the number of the attribute, if its strings are looked at
        self.is_mixed = False  # whether a value says something of more than its own kind of axes

    def add(self, number: int, axis: Axis, *, whole: bool) -> None:
        """One more axis."""
        self.all.append((number, axis))
        self._add(number, axis, whole=whole)
        unlike = bool(self.presence or self.exact or self.others)
        self.is_mixed = unlike or bool(self.numbers and self.texts)

    def _add(self, number: int, axis: Axis, *, whole: bool) -> None:
        if axis.name.scale is Scale.NUMBER:
            self.numbers.append(number)
        elif axis.name.scale is Scale.STRING:
            assert isinstance(axis.lower, TextCuts) and isinstance(axis.upper, TextCuts)
            text = TextAxis(axis.lower, axis.upper, whole=whole)
            self.texts.append((number, text))
        elif axis.name.scale is Scale.EXACT:
            self.exact.append((number, axis))
        elif axis.name.scale is Scale.PRESENCE:
            self.presence.append(number)
        elif axis.name.scale is not Scale.DISCRETE:
            self.others.append(number)


class EventCoder:
    """What events say of the axes of a segment."""

    def __init__(
        self,
        axes: Sequence[Axis],
        absent: Absent,
        patterned: Sequence[str] = (),
        whole: Collection[int] = (),
    ) -> None:
        """``patterned`` attributes have their strings searched, and are numbered in that order.

        On ``whole`` axes all spans are single values.
        """
        self._axes = axes
        self._by_attribute: dict[str, _AttributeAxes] = {}
        for attribute in patterned:
            self._by_attribute[attribute] = _AttributeAxes()
        self._texts = {attribute: number for number, attribute in enumerate(patterned)}
        for number, axis in enumerate(axes):
            attribute = axis.name.attribute
            mine = self._by_attribute.get(attribute)
            if mine is None:
                mine = self._by_attribute[attribute] = _AttributeAxes()
            mine.add(number, axis, whole=number in whole)
            if axis.name.scale is Scale.STRING:
                self._texts.setdefault(attribute, len(self._texts))
        for attribute, number in self._texts.items():
            self._by_attribute[attribute].text = number
        # What an event lacks is the same on all flags, and on all other axes (NOT_THERE).
        self._lacking_column = np.array([_lacks_as_values_do(axis.name) for axis in axes], np.int32)
        passes = self._absent_passes = absent == "passes"
        other = (*(PASSES if passes else FAILS), passes)
        self._lacking_codes = [np.array(each) for each in zip((0, 0, False), other, strict=True)]
        low, high, is_wide = (each[self._lacking_column][None] for each in self._lacking_codes)
        self._lacking = EventCodes(
            low.astype(np.int32),
            high.astype(np.int32),
            is_wide.astype(bool),
            np.arange(len(axes), dtype=np.int32),
        )
        self._blank = OneEvent(self._lacking, 0).flat[:3]
        self._latest_blank: _BlankRow | None = None

    def blank(self) -> OneEvent:
        """Room for the codes of one event."""
        low, high, is_wide, column = self._lacking
        codes = EventCodes(low.copy(), high.copy(), is_wide.copy(), column)
        return OneEvent(codes, len(self._texts))

    def code_event(self, event: Event, codes: OneEvent) -> None:  # noqa: PLR0912  # calls cost
        """Write the codes of one event on all axes."""
        low, high, is_wide, wholes, reals, types = codes.flat
        low[:], high[:], is_wide[:] = self._blank
        by_attribute, absent_passes = self._by_attribute, self._absent_passes
        has_numbers = False
        texts: list[tuple[int, bytes]] = []
        for attribute, value in event.items():
            mine = by_attribute.get(attribute)
            if mine is None:
                continue
            type_ = type(value)
            if type_ is int:
                has_numbers = True
                for axis in mine.numbers:
                    wholes[axis], types[axis] = value, INTEGER
            elif type_ is str:
                if mine.text >= 0:
                    texts.append((mine.text, value.encode()))  # type: ignore[union-attr]
            elif type_ is float:
                has_numbers = True
                for axis in mine.numbers:
                    reals[axis], types[axis] = value, FLOAT
            else:
                for axis, its in mine.all:
                    low[axis], high[axis] = value_code(its, value)
                    is_wide[axis] = isinstance(value, Interval) and not its.name.is_flag()
                continue
            if mine.is_mixed or absent_passes:
                _code_more(mine, value, codes)
        if has_numbers:
            loops.now.code_event(*self._pool, *codes.numbers, codes.arrays.low, codes.arrays.high)
        if self._texts:
            codes.put(texts)
            if texts and len(self._text_pool.axes):
                loops.now.code_event_words(
                    *self._text_pool, codes.spots, codes.raw, codes.arrays.low, codes.arrays.high
                )

    @cached_property
    def _text_pool(self) -> TextPool:
        return pool_of(
            [
                (number, self._texts[attribute], axis)
                for attribute, mine in self._by_attribute.items()
                for number, axis in mine.texts
            ]
        )

    @cached_property
    def _pool(self) -> NumberPool:
        return number_axes.pool_of(self._axes)

    @cached_property
    def _are_cuts_few(self) -> bool:
        return number_axes.are_cuts_few(self._axes)

    def make_ready(self) -> None:
        """Do what the first to ask would wait for."""
        if self._are_cuts_few:
            _ = self._pool

    def of_batch(self, columns: EventBatch) -> EventCodes:
        """The codes of a batch on all axes."""
        there = [
            (part, self._by_attribute[attribute])
            for attribute in columns.attributes()
            if attribute in self._by_attribute
            for part in columns.parts(attribute)
            if len(part)
        ]
        codes = self._lacking_in(len(columns), [n for _, mine in there for n, _ in mine.all])
        if len(columns) <= FEW_EVENTS and self._are_cuts_few:
            numbers = NumberColumns()
            there = [
                (part, mine)
                for part, mine in there
                if mine.is_mixed or mine.texts or not numbers.take(part, mine.numbers, codes.column)
            ]
            numbers.code(self._pool, *codes[:3])
        for part, mine in there:
            texts = dict(mine.texts)
            for number, axis in mine.all:
                here = codes.on(number)
                if number in texts and isinstance(part, Strings):
                    _code_strings(texts[number], part, here)
                else:
                    _code_part(axis, part, here)
        return codes

    def _lacking_in(self, events: int, axes: list[int]) -> EventCodes:
        """The codes of events without any attribute, with columns of their own for some axes."""
        blank = self._latest_blank  # batches have the same attributes again and again
        if blank is None or blank.own != axes:
            blank = self._latest_blank = self._blank_row(axes)
        shape = (events, len(blank.low))
        codes = EventCodes(
            np.empty(shape, np.int32),
            np.empty(shape, np.int32),
            np.empty(shape, bool),
            blank.column,
        )
        codes.low[:], codes.high[:], codes.is_wide[:] = blank.low, blank.high, blank.is_wide
        return codes

    def _blank_row(self, axes: list[int]) -> _BlankRow:
        own = np.unique(np.array(axes, np.int64))
        column = self._lacking_column.copy()
        alike = np.concatenate([[0, NOT_THERE], column[own]])
        column[own] = np.arange(2, len(own) + 2)
        low, high, is_wide = (each[alike] for each in self._lacking_codes)
        return _BlankRow(axes, low, high, is_wide, column)


def _code_more(mine: _AttributeAxes, value: Any, codes: OneEvent) -> None:
    """Write what a number or a string says beside its codes on axes of its own kind.

    It is there, it is not wide as an absence that passes is, and it is of no other kind.
    """
    low, high, is_wide, *_ = codes.flat
    texts, numbers = [axis for axis, _ in mine.texts], mine.numbers
    own, failing = (texts, [*numbers, *(axis for axis, _ in mine.exact)])
    if type(value) is not str:
        own, failing = numbers, texts
        for axis, its in mine.exact:
            low[axis], high[axis] = _exact_code(its, value)
            is_wide[axis] = False
    for axis in own:
        is_wide[axis] = False
    for axis in (*failing, *mine.others):
        low[axis], high[axis] = FAILS
        is_wide[axis] = False
    for axis in mine.presence:
        low[axis] = high[axis] = 1


def _lacks_as_values_do(name: AxisName) -> bool:
    """Whether an attribute that is absent fails or passes there, and is not simply clear."""
    return not name.is_flag() or name.scale is Scale.LIST


def value_code(axis: Axis, value: Held) -> tuple[int, int]:
    """What one value says of an axis."""
    scale = axis.name.scale
    if scale is Scale.PRESENCE:
        return 1, 1
    if scale is Scale.LIST:
        return IS_SET if isinstance(value, Elements) else FAILS
    if scale is Scale.DISCRETE:
        discrete = isinstance(value, Interval) and ranges_over_integers(value)
        return int(discrete), int(discrete)
    if isinstance(value, Elements):
        return FAILS
    if isinstance(value, Interval):
        return interval_code(axis, value)
    if isinstance(value, str):
        if scale is not Scale.STRING:
            return FAILS
        return _text_code(axis, value)
    if scale is Scale.EXACT and kind_of(value) is Kind.NUMBER:
        return _exact_code(axis, value)  # type: ignore[arg-type]
    if SCALES[kind_of(value)] is not scale:
        return FAILS
    number: Any = microseconds(value) if isinstance(value, datetime) else value
    number = int(number) if isinstance(number, bool) else number
    assert isinstance(axis.lower, NumberCuts) and isinstance(axis.upper, NumberCuts)
    return axis.lower.code(number), axis.upper.code(number)


def _exact_code(axis: Axis, number: Number) -> tuple[int, int]:
    """What a number says of an axis of texts that sort as numbers do."""
    return _text_code(axis, order_text(number))


def _text_code(axis: Axis, text: str) -> tuple[int, int]:
    assert isinstance(axis.lower, TextCuts) and isinstance(axis.upper, TextCuts)
    return TextAxis(axis.lower, axis.upper, whole=False).code(text)


def _code_one_by_one(axis: Axis, part: TypedValues, codes: AxisCodes) -> None:
    """Numbers of which either they or the cuts are no numbers of a processor."""
    rows = np.arange(len(part)) if part.rows is None else part.rows
    known: dict[Any, tuple[int, int]] = {}
    for position, row in enumerate(rows.tolist()):
        value = part.value(position)
        if value not in known:
            known[value] = value_code(axis, value)
        codes.low[row], codes.high[row] = known[value]


def _code_part(axis: Axis, part: TypedValues, codes: AxisCodes) -> None:
    """What the values of a part say of an axis, in the rows where they stand."""
    rows = slice(None) if part.rows is None else part.rows
    scale = axis.name.scale
    if scale is Scale.LIST:
        codes.low[rows], codes.high[rows] = IS_SET if isinstance(part, Lists) else FAILS
        codes.is_wide[rows] = False
        return
    if axis.name.is_flag():
        if scale is Scale.PRESENCE:
            codes.low[rows] = codes.high[rows] = 1
        elif isinstance(part, Intervals):
            codes.low[rows] = codes.high[rows] = part.are_discrete()
        return
    codes.is_wide[rows] = isinstance(part, Intervals)
    if isinstance(part, Intervals):
        codes.low[rows], codes.high[rows] = _code_intervals(axis, part)
    elif part.kind is Kind.NUMBER and (
        scale is Scale.EXACT or (scale is Scale.NUMBER and isinstance(part, Decimals))
    ):
        _code_one_by_one(axis, part, codes)
    elif SCALES[part.kind] is scale:
        assert isinstance(axis.lower, NumberCuts) and isinstance(axis.upper, NumberCuts)
        values = part.values.astype(np.int64) if isinstance(part, Booleans) else part.values
        axis.lower.code_all(values, part.rows, codes.low)
        axis.upper.code_all(values, part.rows, codes.high)
    else:
        codes.low[rows], codes.high[rows] = FAILS


def _code_strings(axis: TextAxis, part: Strings, codes: AxisCodes) -> None:
    """What strings say of an axis of strings: words are coded once."""
    rows = slice(None) if part.rows is None else part.rows
    low, high = axis.code_all(part.words)
    if not part.have_own_words:
        low, high = low[part.values], high[part.values]
    codes.low[rows], codes.high[rows], codes.is_wide[rows] = low, high, False


def _code_intervals(
    axis: Axis, part: Intervals
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Crosswise, as ``interval_code`` says."""
    ends = part.closed
    if ends is None or axis.name.scale is Scale.EXACT:
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


def _exact_interval_code(axis: Axis, span: Span) -> tuple[int, int]:
    low, high = axis.lower_cuts(), 0
    if span.hi is not None:
        # Cuts stand just before a text; one at the end itself counts unless the end is open: then
        # it is those up to a text that no number has, which sorts right before it.
        text = order_text(span.hi)
        before = f"{text[:-1]}{chr(ord(text[-1]) - 1)}\x7f"
        low, _ = _text_code(axis, before if span.hi_open else text)
    if span.lo is not None:
        _, high = _text_code(axis, order_text(span.lo) + "\0" * span.lo_open)
    return low, high


_OF_INTERVALS: Final = {
    Scale.NUMBER: Kind.NUMBER,
    Scale.EXACT: Kind.NUMBER,
    Scale.TIMESTAMP: Kind.TIMESTAMP,
}


def interval_code(axis: Axis, interval: Interval) -> tuple[int, int]:
    """Crosswise: the lower code of the upper end, the upper code of the lower end."""
    kind = _OF_INTERVALS.get(axis.name.scale)
    if kind is None or interval.kind not in {kind, None}:
        return FAILS
    span = interval.span()
    if interval.is_discrete():
        span = span.closed_over_integers()
    if axis.name.scale is Scale.EXACT:
        return _exact_interval_code(axis, span)
    assert isinstance(axis.lower, NumberCuts) and isinstance(axis.upper, NumberCuts)
    if span.hi is None:
        low = len(axis.lower)
    else:
        low = axis.lower.code_cut(span.hi, -1) if span.hi_open else axis.lower.code(span.hi)
    if span.lo is None:
        high = 0
    else:
        high = axis.upper.code_cut(span.lo, 1) if span.lo_open else axis.upper.code(span.lo)
    return low, high
