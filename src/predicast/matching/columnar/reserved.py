"""Numbers with a meaning of their own in the arrays that loops read and write."""

from __future__ import annotations

from typing import Final

LANES: Final = 64  # clauses that are compared at a time, one bit each

# What an event says of an axis on which nothing it says can hold; and of every one that it reaches.
UNREACHABLE: Final = 2**31 - 1

# What one event says of an axis of numbers, if anything.
INTEGER: Final = 1
FLOAT: Final = 2

# How a test is decided when a literal that it requires occurs, if not by the plan of that number.
SURE: Final = -1  # it holds
ASK: Final = -2  # the caller verifies it

FREE: Final = -1  # no bucket is in this slot
