"""Numbers with a meaning of their own in the arrays that loops read and write."""

from __future__ import annotations

from typing import Final

import numpy as np

LANES: Final = 64  # clauses that are compared at a time, one bit each

# What an event says of an axis on which nothing it says can hold; and of every one that it reaches.
UNREACHABLE: Final = 2**31 - 1

# The column of all axes but flags of which no event of a batch says anything (event_codes.py).
NOT_THERE: Final = 1

# What one event says of an axis of numbers, if anything.
INTEGER: Final = 1
FLOAT: Final = 2

# Numbers that say where the lower or the upper cuts of an axis are (number_axes.py).
OF_END: Final = 7

# How a test is decided when a literal that it requires occurs, if not by the plan of that number.
SURE: Final = -1  # it holds
ASK: Final = -2  # the caller verifies it
WHOLE: Final = -3  # it holds if the literal is the whole word

# Where a program ends (compile/programs.py), and what comes of a row; in doubt if it depends on
# tests in doubt.
HOLDS: Final = -1
FAILS: Final = -2
IN_DOUBT: Final = -3

# What a test of a row is.
IS_POINT: Final = 1  # all of its spans are single values
OF_PROGRAM: Final = 2  # it need not hold: the row's program looks at it

NO_WORD: Final = np.uint64(2**64 - 1)  # no word is in this slot of a table

# Words of a batch are numbered, unless of the first so many more than so many are different.
LIKELY_DIFFERENT: Final = 128
OFTEN_DIFFERENT: Final = 112
