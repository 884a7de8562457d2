"""What events say of each axis of a segment, as codes: a batch of them, or one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from predicast.arrays import Array
from predicast.matching.batches.event_batch import EventBatch, PartKind
from predicast.matching.batches.typed_values import Strings, TypedValues
from predicast.matching.columnar import loops, number_axes, text_axes
from predicast.matching.columnar.batch_texts import BatchTexts, batch_texts, no_texts
from predicast.matching.columnar.compile.axes import (
    FAILS,
    IS_SET,
    PASSES,
    Axis,
    AxisName,
    Scale,
)
from predicast.matching.columnar.compile.cuts import TextCuts
from predicast.matching.columnar.number_axes import NumberColumns, NumberPool
from predicast.matching.columnar.reserved import FLOAT, INTEGER, NOT_THERE
from predicast.matching.columnar.text_axes import TextAxis, TextPool
from predicast.matching.columnar.value_codes import (
    AxisCodes,
    code_part,
    code_strings,
    exact_code,
    value_code,
)
from predicast.model import Absent, Event, Interval

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


class OneEvent:
    """Room for what one event says and for its codes, to be written again and again."""

    __slots__ = ("_blank", "_raw", "_written", "arrays", "flat", "numbers", "raw", "spots")

    def __init__(self, blank: EventCodes, attributes: int) -> None:
        """There are so many attributes; an event without any has these codes."""
        axes = blank.low.shape[1]
        # What a loop codes: integers, floats, and which of them an axis has, if any.
        self.numbers = np.zeros(axes, np.int64), np.zeros(axes), np.zeros(axes, np.uint8)
        # Strings: where that of each attribute begins and ends, or -1, and the end of all.
        spots = np.full(2 * attributes + 1, -1, np.int64)
        # Side by side, so that one copy makes all of it blank again.
        parts = [spots, blank.low[0], blank.high[0], blank.is_wide[0]]
        self._blank = memoryview(b"".join(each.tobytes() for each in parts))
        written = np.frombuffer(bytearray(self._blank), np.uint8)
        ends = np.cumsum([each.nbytes for each in parts])[:-1]
        self.spots, low, high, is_wide = (
            each.view(part.dtype) for each, part in zip(np.split(written, ends), parts, strict=True)
        )
        self.arrays = EventCodes(low[None], high[None], is_wide[None], blank.column)
        # Python writes a memoryview faster than an array.
        views: list[Any] = [low, high, is_wide, *self.numbers]
        self.flat: tuple[Any, ...] = tuple(memoryview(each) for each in (self.spots, *views))
        self._written = memoryview(written)  # type: ignore[arg-type]
        self.raw = np.zeros(_TEXT_ROOM, np.uint8)
        self._raw = self.raw.data

    def clear(self) -> None:
        """Have it say nothing."""
        self._written[:] = self._blank

    def put(self, encoded: bytes, begin: int) -> int:
        """Write one more string behind the others: where it ends."""
        end = begin + len(encoded)
        if end > len(self.raw):
            before, self.raw = self.raw, np.zeros(2 * end, np.uint8)
            self.raw[:begin] = before[:begin]
            self._raw = self.raw.data
        self._raw[begin:end] = encoded
        return end


class _Plan(NamedTuple):
    """How batches are coded that have values of the same attributes, of the same types.

    Each axis of these attributes has its own column of codes; all others share two.
    """

    kinds: list[PartKind]
    # What an event without attributes says in each column.
    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    is_wide: npt.NDArray[np.bool_]
    column: npt.NDArray[np.int32]  # of each axis
    numbers: NumberColumns
    others: list[tuple[int, _AttributeAxes]]  # places among the kinds, each coded by itself

    def blank(self, events: int) -> EventCodes:
        """The codes of so many events without attributes."""
        shape = (events, len(self.low))
        low, high = np.empty(shape, np.int32), np.empty(shape, np.int32)
        is_wide = np.empty(shape, bool)
        low[:], high[:], is_wide[:] = self.low, self.high, self.is_wide
        return EventCodes(low, high, is_wide, self.column)


class _AttributeAxes:
    """The axes of one attribute, by what values say of them."""

    __slots__ = ("all", "exact", "is_mixed", "number", "numbers", "others", "presence", "texts")

    def __init__(self, number: int) -> None:
        self.number = number  # of the attribute
        self.all: list[tuple[int, Axis]] = []
        self.numbers: list[int] = []
        self.texts: list[tuple[int, TextAxis]] = []
        self.presence: list[int] = []
        self.exact: list[tuple[int, Axis]] = []  # numbers as texts
        self.others: list[int] = []  # what numbers and texts say nothing of
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
        # Those whose strings are searched come first, then those with axes of strings.
        written = [axis.name.attribute for axis in axes if axis.name.scale is Scale.STRING]
        looked_at = dict.fromkeys([*patterned, *written])
        every = dict.fromkeys([*looked_at, *(axis.name.attribute for axis in axes)])
        self._by_attribute = {name: _AttributeAxes(number) for number, name in enumerate(every)}
        for number, axis in enumerate(axes):
            self._by_attribute[axis.name.attribute].add(number, axis, whole=number in whole)
        self._text_axes = [
            (number, mine.number, axis)
            for mine in self._by_attribute.values()
            for number, axis in mine.texts
        ]
        self._searched = len(patterned)
        self._are_together = text_axes.are_cuts_few([axis for *_, axis in self._text_axes])
        in_batches = looked_at if self._are_together else patterned
        self._in_batches = {name: number for number, name in enumerate(in_batches)}
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
        self._latest_plan: _Plan | None = None

    def blank(self) -> OneEvent:
        """Room for one event."""
        return OneEvent(self._lacking, len(self._by_attribute))

    def pools(self) -> tuple[Array, ...]:
        """What the codes of single events are found in, as a ``Question`` has it."""
        return *self._pool, *self._text_pool, self._of_strings

    def write(self, event: Event, codes: OneEvent) -> None:
        """Write what one event says, for a loop to code it on all axes."""
        spots, low, high, is_wide, wholes, reals, types = codes.flat
        codes.clear()
        by_attribute, absent_passes, end = self._by_attribute, self._absent_passes, 0
        for attribute, value in event.items():
            mine = by_attribute.get(attribute)
            if mine is None:
                continue
            type_ = type(value)
            if type_ is str:
                place = 2 * mine.number
                spots[place] = end
                spots[place + 1] = spots[-1] = end = codes.put(value.encode(), end)  # type: ignore[union-attr]
                continue
            if type_ is int:
                for axis in mine.numbers:
                    wholes[axis], types[axis] = value, INTEGER
            elif type_ is float:
                for axis in mine.numbers:
                    reals[axis], types[axis] = value, FLOAT
            else:
                for axis, its in mine.all:
                    low[axis], high[axis] = value_code(its, value)
                    is_wide[axis] = isinstance(value, Interval) and not its.name.is_flag()
                continue
            if mine.is_mixed or absent_passes:
                _code_more(mine, value, codes)

    @cached_property
    def _text_pool(self) -> TextPool:
        return text_axes.pool_of(self._text_axes)

    @cached_property
    def _of_strings(self) -> npt.NDArray[np.int64]:
        """What any string says of the axes of its attribute, as ``code_texts`` reads it."""
        rows = {axis: row for row, (axis, *_) in enumerate(self._text_axes)}
        said = []
        for mine in self._by_attribute.values():
            for number, axis in mine.all:
                if number in rows:
                    said.append((mine.number, number, rows[number], 0, 0, True))
                elif axis.name.scale is Scale.PRESENCE:
                    said.append((mine.number, number, -1, *IS_SET, False))
                elif axis.name.scale is not Scale.DISCRETE:
                    said.append((mine.number, number, -1, *FAILS, True))
        return np.array(said, np.int64).reshape(-1, 6)

    @cached_property
    def _pool(self) -> NumberPool:
        return number_axes.pool_of(self._axes)

    def make_ready(self) -> None:
        """Do what the first to ask would wait for."""
        _ = self._pool
        if self._are_together:
            _ = self._text_pool, self._of_strings

    def texts_of(self, columns: EventBatch) -> BatchTexts:
        """The strings of a batch that are searched, and those that are coded together."""
        if not self._in_batches:
            return no_texts(len(columns))
        return batch_texts(columns, self._in_batches, self._searched)

    def of_batch(self, columns: EventBatch, texts: BatchTexts) -> EventCodes:
        """The codes of a batch, whose strings are these, on all axes."""
        kinds, parts = columns.parts_with_kinds(self._by_attribute)
        plan = self._latest_plan  # batches are alike again and again
        if plan is None or plan.kinds != kinds:
            plan = self._latest_plan = self._planned(kinds)
        codes = plan.blank(len(columns))
        if self._are_together and len(texts.attributes):
            self._code_texts(texts, codes)
        if len(plan.others) < len(parts):
            loops.now.code_columns(*self._pool, *plan.numbers.of(parts), *codes[:3])
        for place, axes in plan.others:
            self._code_part(parts[place], axes, codes)
        return codes

    def _planned(self, kinds: list[PartKind]) -> _Plan:
        axes_of = [self._by_attribute[attribute] for attribute, *_ in kinds]
        own = np.unique([number for mine in axes_of for number, _ in mine.all]).astype(np.int64)
        column = self._lacking_column.copy()
        alike = np.concatenate([[0, NOT_THERE], column[own]])
        column[own] = np.arange(2, len(own) + 2)
        low, high, is_wide = (each[alike] for each in self._lacking_codes)
        numbers, others = NumberColumns(), []
        coded = len(self._in_batches) if self._are_together else 0
        for place, ((_, type_, is_whole), mine) in enumerate(zip(kinds, axes_of, strict=True)):
            if type_ is Strings and mine.number < coded:
                continue  # with all others, by _code_texts
            is_plain = is_whole and not mine.is_mixed and not mine.texts
            columns = [int(column[axis]) for axis in mine.numbers]
            if not is_plain or not numbers.take(place, type_, mine.numbers, columns):
                others.append((place, mine))
        return _Plan(kinds, low, high, is_wide, column, numbers, others)

    def _code_part(self, part: TypedValues, mine: _AttributeAxes, codes: EventCodes) -> None:
        """Write what the values of one attribute say, axis by axis."""
        texts = dict(mine.texts)
        for number, axis in mine.all:
            here = codes.on(number)
            if number in texts and isinstance(part, Strings):
                code_strings(texts[number], part, here)
            else:
                code_part(axis, part, here)

    def _code_texts(self, texts: BatchTexts, codes: EventCodes) -> None:
        loops.now.code_texts(
            *(*self._text_pool, self._of_strings, texts.columns_of(len(self._by_attribute))),
            *(texts.word_first, texts.spots, texts.raw),
            *(texts.string_first, texts.rows, texts.numbers),
            *(codes.column, *codes[:3]),
        )


def _code_more(mine: _AttributeAxes, number: Any, codes: OneEvent) -> None:
    """Write what a number says beside its codes on axes of numbers.

    It is there, it is not wide as an absence that passes is, and it is of no other kind.
    """
    _, low, high, is_wide, *_ = codes.flat
    for axis, its in mine.exact:
        low[axis], high[axis] = exact_code(its, number)
        is_wide[axis] = False
    for axis in mine.numbers:
        is_wide[axis] = False
    for axis in (*(axis for axis, _ in mine.texts), *mine.others):
        low[axis], high[axis] = FAILS
        is_wide[axis] = False
    for axis in mine.presence:
        low[axis] = high[axis] = 1


def _lacks_as_values_do(name: AxisName) -> bool:
    """Whether an attribute that is absent fails or passes there, and is not simply clear."""
    return not name.is_flag() or name.scale is Scale.LIST
