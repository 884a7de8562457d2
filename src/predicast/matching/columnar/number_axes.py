"""Axes of numbers: the cuts of all of them side by side, so that one call codes them all.

For single events that is all there is to do. For a batch each axis has a table where its cuts are
dense (``compile/cuts.py``), but looking after one axis after the other takes longer than a small
batch does: while there are few cuts, those of all axes are searched in one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from predicast.matching.batches.typed_values import Floats, Integers, TypedValues
from predicast.matching.columnar import loops
from predicast.matching.columnar.compile.axes import Axis, Scale
from predicast.matching.columnar.compile.cuts import NumberCuts

FEW_EVENTS: Final = 256  # a batch of so few is searched for quicker than tables are looked up
_FEW_CUTS: Final = 1 << 17


class NumberPool(NamedTuple):
    """The cuts of all axes of numbers side by side, as ``code_event`` reads them.

    ``ranges`` has, for each axis, where the least integers behind its lower and its upper cuts
    begin and end, then the same of the least floats.
    """

    ints: npt.NDArray[np.int64]
    floats: npt.NDArray[np.float64]
    ranges: npt.NDArray[np.int64]


def pool_of(axes: Sequence[Axis]) -> NumberPool:
    """The pool of the axes of numbers among some."""
    ints: list[npt.NDArray[np.int64]] = [np.zeros(0, np.int64)]
    floats: list[npt.NDArray[np.float64]] = [np.zeros(0)]
    ranges = np.zeros((len(axes), 8), np.int64)
    of_ints = of_floats = 0
    for axis, (name, *both) in enumerate(axes):
        if name.scale is not Scale.NUMBER:
            continue
        for end, cuts in enumerate(both):
            assert isinstance(cuts, NumberCuts)
            ints.append(cuts.ints)
            floats.append(cuts.floats)
            ranges[axis, 2 * end : 2 * end + 2] = of_ints, of_ints + len(cuts.ints)
            ranges[axis, 2 * end + 4 : 2 * end + 6] = of_floats, of_floats + len(cuts.floats)
            of_ints += len(cuts.ints)
            of_floats += len(cuts.floats)
    return NumberPool(np.concatenate(ints), np.concatenate(floats), ranges)


def are_cuts_few(axes: Sequence[Axis]) -> bool:
    """Whether there are so few of them that a small batch is best searched for among all."""
    both = (cuts for axis in axes for cuts in (axis.lower, axis.upper))
    return sum(len(cuts) for cuts in both if isinstance(cuts, NumberCuts)) <= _FEW_CUTS


class NumberColumns:
    """Columns of numbers of one batch, and the axes on which they are to be coded."""

    def __init__(self) -> None:
        self._values: dict[type, list[npt.NDArray[Any]]] = {Integers: [], Floats: []}
        self._wanted: dict[type, list[tuple[int, int, int]]] = {Integers: [], Floats: []}

    def take(self, part: TypedValues, axes: Sequence[int], column: npt.NDArray[np.int32]) -> bool:
        """Take one more, if it is one and every event has a value; codes go to these columns."""
        values = self._values.get(type(part))
        if values is None or part.rows is not None:
            return False
        self._wanted[type(part)] += [(axis, len(values), int(column[axis])) for axis in axes]
        values.append(part.values)
        return True

    def code(self, pool: NumberPool, *codes: npt.NDArray[Any]) -> None:
        """Write the codes: low, high, and which are wide."""
        ints, floats, ranges = pool
        for type_, least, at in ((Integers, ints, 0), (Floats, floats, 4)):
            wanted = self._wanted[type_]
            if wanted:
                values = np.array(self._values[type_])
                loops.now.code_columns(least, ranges, values, np.array(wanted), at, *codes)
