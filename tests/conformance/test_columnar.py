"""The columnar matcher runs the conformance suite in each of its shapes."""

from predicast.testing import MatcherConformance
from tests.columnar_shapes import InBlocks, InRows


class TestRows(MatcherConformance):
    matcher = InRows.name


class TestBlocks(MatcherConformance):
    matcher = InBlocks.name
