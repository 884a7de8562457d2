"""``filter-index``: regions ordered by containment, searched from both ends (paper 4)."""

from predicast.matching.filter_index.filter_index import FilterIndex

__all__ = ["FilterIndex"]
