"""The columnar matcher runs the conformance suite in each of its shapes.

A handful of subscriptions would otherwise wait uncompiled, and never fill a block.
"""

from predicast.matching import register_matcher
from predicast.matching.columnar.blocks import Layout
from predicast.matching.columnar.matcher import Columnar
from predicast.testing import MatcherConformance


class InRows(Columnar):
    """Every subscription is compiled before the next event."""

    name = "columnar-rows"
    patience = 0


class InBlocks(InRows):
    """Blocks of two clauses, for whatever fits into blocks at all; merges are never at once."""

    name = "columnar-blocks"
    small = 0
    few = 0
    layout = Layout(block=2, family=1, partition=1)


register_matcher(InRows.name, InRows)
register_matcher(InBlocks.name, InBlocks)


class TestRows(MatcherConformance):
    matcher = InRows.name


class TestBlocks(MatcherConformance):
    matcher = InBlocks.name
