"""What a value, an interval or a column of values says of an axis, as codes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

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
from predicast.matching.columnar.compile.axes import FAILS, IS_SET, SCALES, Axis, Scale
from predicast.matching.columnar.compile.cuts import NumberCuts, TextCuts
from predicast.matching.columnar.text_axes import TextAxis
from predicast.model import Elements, Held, Interval, Kind
from predicast.model.decimals import order_text
from predicast.model.spans import Span
from predicast.model.values import kind_of, microseconds


class AxisCodes(NamedTuple):
    """The codes of events on one axis."""

    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    is_wide: npt.NDArray[np.bool_]


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
        return exact_code(axis, value)  # type: ignore[arg-type]
    if SCALES[kind_of(value)] is not scale:
        return FAILS
    number: Any = microseconds(value) if isinstance(value, datetime) else value
    number = int(number) if isinstance(number, bool) else number
    assert isinstance(axis.lower, NumberCuts) and isinstance(axis.upper, NumberCuts)
    return axis.lower.code(number), axis.upper.code(number)


def exact_code(axis: Axis, number: Number) -> tuple[int, int]:
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


def code_part(axis: Axis, part: TypedValues, codes: AxisCodes) -> None:
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


def code_strings(axis: TextAxis, part: Strings, codes: AxisCodes) -> None:
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
