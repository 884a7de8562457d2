"""Shapes of the columnar matcher that a handful of subscriptions would not take by themselves.

They would wait uncompiled, and never fill a block.
"""

from predicast.matching import register_matcher
from predicast.matching.columnar.layout.blocks import Layout
from predicast.matching.columnar.matcher import Columnar


class InRows(Columnar):
    """Every subscription is compiled before the next event."""

    name = "columnar-rows"
    compile_threshold = 0


class InBlocks(InRows):
    """Blocks of two clauses, for whatever fits into blocks at all.

    Segments are merged all the time, in a background thread.
    """

    name = "columnar-blocks"
    small = 0
    bulk_minimum = 0
    layout = Layout(block=2, reached=0, family=0, partition=0)


register_matcher(InRows.name, InRows)
register_matcher(InBlocks.name, InBlocks)
