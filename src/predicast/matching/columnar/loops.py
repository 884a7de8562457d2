"""The loops that matching spends its time in, behind one name: whoever needs one asks ``now``."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from predicast.arrays import Array
from predicast.matching.columnar.kernels.coding import code_by_search, code_by_table
from predicast.matching.columnar.kernels.matching import gather, mark_deleted, match_events
from predicast.matching.columnar.kernels.patterns import find_tests
from predicast.matching.columnar.kernels.recent import match_bounds


class Loops(NamedTuple):
    """One way of doing all of them."""

    match_events: Callable[..., tuple[Array, Array]]
    gather: Callable[..., tuple[Array, Array]]
    mark_deleted: Callable[..., int]
    match_bounds: Callable[..., tuple[Array, Array]]
    code_by_search: Callable[..., None]
    code_by_table: Callable[..., None]
    find_tests: Callable[..., tuple[int, int]]


now = Loops(
    match_events,
    gather,
    mark_deleted,
    match_bounds,
    code_by_search,
    code_by_table,
    find_tests,
)
