"""Axes: what the columns of a segment measure.

An axis is one attribute's values on one *scale*. Numbers, timestamps, booleans and strings each
have their own, since kinds never mix. Numbers have a second one: spans with an end that is neither
a 64-bit integer nor a float lie on a scale of texts that sort as numbers do. Three scales need no
cuts: whether the attribute is there at all, whether it is a list, and whether it is an interval
over integers, which misses spans without an integer (between 3 and 4).

What an event says of an axis is a pair of codes. Absence and a value of another kind are codes too:
``FAILS`` satisfies no span, ``PASSES`` every one.
"""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

import numpy as np

from predicast.matching.columnar.compile.cuts import Codes, NumberCuts, TextCuts
from predicast.matching.columnar.reserved import UNREACHABLE
from predicast.model import Kind

FAILS: Final = (0, UNREACHABLE)
PASSES: Final = (UNREACHABLE, 0)


class Scale(enum.IntEnum):
    """How an attribute is measured."""

    NUMBER = 0
    TIMESTAMP = 1
    BOOLEAN = 2
    STRING = 3
    PRESENCE = 4
    DISCRETE = 5
    LIST = 6
    EXACT = 7


SCALES: Final = {
    Kind.NUMBER: Scale.NUMBER,
    Kind.TIMESTAMP: Scale.TIMESTAMP,
    Kind.BOOLEAN: Scale.BOOLEAN,
    Kind.STRING: Scale.STRING,
    Kind.LIST: Scale.LIST,
}
WRITTEN: Final = frozenset({Scale.STRING, Scale.EXACT})  # scales whose cuts are texts
FLAGS: Final = frozenset({Scale.PRESENCE, Scale.DISCRETE, Scale.LIST})

# On a flag axis an event is one of these, and so is what a clause asks for.
IS_SET: Final = (1, 1)
IS_CLEAR: Final = (0, 0)


class AxisName(NamedTuple):
    """Which attribute, on which scale."""

    attribute: str
    scale: Scale

    def is_flag(self) -> bool:
        """Whether it has no cuts: events and clauses say 0 or 1."""
        return self.scale in FLAGS


class Axis(NamedTuple):
    """An axis with the cuts of the spans on it; flags have none."""

    name: AxisName
    lower: NumberCuts | TextCuts | None
    upper: NumberCuts | TextCuts | None

    def lower_cuts(self) -> int:
        """How many lower cuts there are: the largest lower code."""
        return 1 if self.lower is None else len(self.lower)

    def upper_cuts(self) -> int:
        """How many upper cuts there are: the largest upper code."""
        return 1 if self.upper is None else len(self.upper)

    def codes(self, lower: Codes, upper: Codes) -> tuple[Codes, Codes]:
        """The codes of spans whose ends are these cuts, by position; -1 is unbounded.

        Lower cuts count from 1, behind 0 for unbounded; upper ones from 0, up to n for unbounded.
        """
        return lower + 1, np.where(upper < 0, np.int32(self.upper_cuts()), upper)

    def largest_code(self) -> int:
        """The largest code of a span on it."""
        return max(self.lower_cuts(), self.upper_cuts())
