"""For people who write a matcher of their own: strategies and the conformance suite.

Needs hypothesis and pytest (the extra ``dev``).
"""

from predicast.testing.conformance import MatcherConformance, definition

__all__ = ["MatcherConformance", "definition"]
