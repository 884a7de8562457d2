"""``matching-tree``: the tree of Aguilera et al., which paper 1 compares with."""

from predicast.matching.matching_tree.tree import MatchingTree

__all__ = ["MatchingTree"]
