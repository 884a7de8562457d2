"""Derived attributes of a batch, computed by columns."""

from predicast.matching.batches.derived.evaluation import with_derived

__all__ = ["with_derived"]
