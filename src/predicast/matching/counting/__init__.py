"""The counting family (paper 2): counting, improved counting, redundant attributes."""

from predicast.matching.counting.counting import Counting
from predicast.matching.counting.improved_counting import ImprovedCounting
from predicast.matching.counting.redundant_attributes import RedundantAttributes

__all__ = ["Counting", "ImprovedCounting", "RedundantAttributes"]
