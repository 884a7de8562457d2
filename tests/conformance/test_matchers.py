"""Every registered matcher runs the whole conformance suite, columnar in each of its shapes."""

from predicast.matching import matcher_names
from predicast.testing import MatcherConformance
from tests.columnar_shapes import InBlocks, InRows

for _name in matcher_names():
    _class = "Test" + "".join(word.title() for word in _name.split("-"))
    globals()[_class] = type(_class, (MatcherConformance,), {"matcher": _name})


def test_what_should_be_is_registered() -> None:
    assert {"brute-force", "columnar", InBlocks.name, InRows.name} <= set(matcher_names())
