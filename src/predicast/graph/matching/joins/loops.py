"""The search in two ways that mean the same: in plain Python, and compiled once that is ready.

Whoever needs it asks ``now`` for it, each time anew; see ``predicast.matching.columnar.loops``,
which does the same for flat events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from predicast.arrays import Array
from predicast.graph.matching.joins.plain import match_graphs

Loop: TypeAlias = Callable[..., tuple[Array, Array]]

PLAIN: Final[Loop] = match_graphs
now: Loop = PLAIN
