"""Every registered matcher runs the whole conformance suite, columnar in each of its shapes.

And columnar with the loops that answer until others are compiled.
"""

import pytest

from predicast.matching import matcher_names
from predicast.testing import MatcherConformance
from tests.columnar_shapes import InBlocks, InRows

for _name in matcher_names():
    _class = "Test" + "".join(word.title() for word in _name.split("-"))
    globals()[_class] = type(_class, (MatcherConformance,), {"matcher": _name})
    if _name.startswith("columnar"):
        _plain = type(_class + "Plain", (MatcherConformance,), {"matcher": _name})
        globals()[_plain.__name__] = pytest.mark.usefixtures("plain_loops")(_plain)


def test_what_should_be_is_registered() -> None:
    assert {"brute-force", "columnar", InBlocks.name, InRows.name} <= set(matcher_names())
