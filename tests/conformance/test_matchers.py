"""Every registered matcher runs the whole conformance suite."""

from predicast.matching import matcher_names
from predicast.testing import MatcherConformance

for _name in matcher_names():
    _class = "Test" + "".join(word.title() for word in _name.split("-"))
    globals()[_class] = type(_class, (MatcherConformance,), {"matcher": _name})


def test_brute_force_is_registered() -> None:
    assert "brute-force" in matcher_names()
