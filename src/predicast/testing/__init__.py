"""For people who write a matcher or a dialect of their own: strategies, conformance suites.

Needs hypothesis and pytest (the extra ``dev``).
"""

from predicast.testing.conformance import MatcherConformance, definition
from predicast.testing.dialect_conformance import DialectConformance

__all__ = ["DialectConformance", "MatcherConformance", "definition"]
