"""Improved counting: the same counts, but constraints are found through an index.

"ICCounting" of the paper on redundant-attribute matching (2010, sections 1 and 4), its strongest
baseline: counting, with the constraints in the paper's multi-level index (section 3.1, figure 6)
instead of a table that is tested row by row. Counts, absent attributes and region events are those
of ``counting``; the index is ``ConstraintIndex``, where the structure is drawn and its departures
from the paper are listed.

**Cost.** Per event and attribute: one binary search per order operator, one hash probe for = and
one for IN, a walk along the value for the string operators, and one test per constraint that has
no better structure. The increments, one per (satisfied constraint, clause), are the same as in
``counting``, so where most constraints are satisfied there is little to gain.

``constraints_tested`` counts the steps of the searches, ``candidates`` the increments.
"""

from __future__ import annotations

from predicast.matching.counting.constraint_index import ConstraintIndex
from predicast.matching.counting.counting import Counting


class ImprovedCounting(Counting):
    """Counting over the constraint index."""

    name = "improved-counting"
    store = ConstraintIndex
