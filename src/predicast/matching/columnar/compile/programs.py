"""Programs: the trees of many clauses (``trees.py``) as flat arrays of steps.

::

    clause      [ 3    3    3  | 7   ]     ascending
    atom        [ 2   ~9    3  | ~4  ]     which of the clause's tests, or ~ of an other test
    then        [ 1   end  end | ..  ]     the step of the clause to go on with, or an end
    otherwise   [ 2    2   end | ..  ]

A step leads to a later one or to one of two ends: the program holds, or it fails. The tests that
programs look at stand behind those of their clauses that must hold, so that steps can count them
from the first of the clause on, and whoever moves clauses need not touch a step.

The signs of programs are kept with them, so that whoever lays out the clauses can choose by
which to reach each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, expand, offsets_of


class Programs(NamedTuple):
    """The programs of some of a table's clauses; arrays as drawn above."""

    test: Array  # the tests that programs alone look at, ascending
    clause: Array
    atom: Array
    then: Array
    otherwise: Array
    sign_clause: Array  # of each atom of a sign, ascending
    sign: Array  # which of the clause's signs it belongs to, ascending within the clause
    sign_atom: Array

    def moved(self, tests: int, clauses: int) -> Programs:
        """The same behind so many other tests and clauses."""
        return self._replace(
            test=self.test + tests,
            clause=self.clause + np.int32(clauses),
            sign_clause=self.sign_clause + np.int32(clauses),
        )

    def taken(self, clauses: Array, tests: Array, all_clauses: int, all_tests: int) -> Programs:
        """Those of some clauses, whose tests are these, numbered as they stand there."""
        number = np.zeros(all_clauses, np.int32)
        number[clauses] = np.arange(len(clauses))
        is_own = np.zeros(all_tests, bool)
        is_own[self.test] = True
        steps = expand(offsets_of(self.clause, all_clauses), clauses)
        signs = expand(offsets_of(self.sign_clause, all_clauses), clauses)
        return Programs(
            np.flatnonzero(is_own[tests]),
            number[self.clause[steps]],
            self.atom[steps],
            self.then[steps],
            self.otherwise[steps],
            number[self.sign_clause[signs]],
            self.sign[signs],
            self.sign_atom[signs],
        )

    def others(self) -> Array:
        """The other tests that steps look at."""
        return ~self.atom[self.atom < 0]

    def renumbered(self, others: Array) -> Programs:
        """The same, given the new number of each other test."""
        return self._replace(
            atom=_renumbered(self.atom, others), sign_atom=_renumbered(self.sign_atom, others)
        )


NO_PROGRAMS: Final = Programs(np.zeros(0, np.int64), *(7 * [np.zeros(0, np.int32)]))


def _renumbered(atom: Array, others: Array) -> Array:
    is_other = atom < 0
    new = atom.copy()
    new[is_other] = ~others[~atom[is_other]]
    return new


def joined_programs(parts: Sequence[Programs]) -> Programs:
    """The programs of several tables whose numbers are those of the joint one already."""
    return Programs(*map(np.concatenate, zip(*parts, strict=True)))
