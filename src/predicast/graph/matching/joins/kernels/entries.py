"""The compiled search: loaded where it is kept already, or compiled now."""

from __future__ import annotations

from typing import Final

from predicast.graph.matching.joins.kernels.compiling import JOINS
from predicast.graph.matching.joins.kernels.search import match_graphs
from predicast.graph.matching.joins.loops import Loop

KERNELS: Final = JOINS
COMPILED: Final[Loop] = match_graphs
