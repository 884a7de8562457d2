"""Derived attributes of a batch, computed by columns."""

from predicast.matching.batches.derived.evaluation import at_times, with_derived

__all__ = ["at_times", "with_derived"]
