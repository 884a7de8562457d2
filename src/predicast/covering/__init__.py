"""Which subscriptions cover which: the relation, and the graph of filters ordered by it."""

from predicast.covering.covers import covers

__all__ = ["covers"]
