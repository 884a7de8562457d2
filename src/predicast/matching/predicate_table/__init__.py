"""``ceem``: the predicate table with early exit and symmetric matching (paper 1)."""

from predicast.matching.predicate_table.table import PredicateTable

__all__ = ["PredicateTable"]
