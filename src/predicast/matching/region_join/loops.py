"""The visits to cells in two ways that mean the same: in NumPy, and compiled once that is ready.

Whoever needs them asks ``now``, each time anew; see ``predicast.matching.columnar.loops``, which
does the same for the default matcher.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.arrays import Array
from predicast.matching.region_join.plain import count, meet

if TYPE_CHECKING:
    from predicast.matching.region_join.cells import Visits


class Loops(NamedTuple):
    """What is done with visits."""

    meet: Callable[[Visits, int, int], tuple[Array, Array, int]]
    count: Callable[[Visits], int]


PLAIN: Final = Loops(meet, count)
now = PLAIN
