"""The constraint index: type → name → operator → list of constraints.

The multi-level index of the paper on redundant-attribute matching (2010, section 3.1, figure 6),
used by ``improved-counting`` and ``redundant-attributes``::

    number ─┬─ price ─┬─ <  ── 10 · 20 · 50          sorted by covering
            │         └─ =  ── {10, 35}              hash
            └─ size  ─── >= ── 1 · 7                 sorted by covering
    string ─┬─ name  ─── =  ── {'IBM', 'SAP'}        hash
            └─ note  ─── contains ── trie

An attribute opens the lists of its own type and name, and only those. The lists, one class per
family of operators, are in ``predicast.matching.counting.constraint_lists`` and
``predicast.matching.counting.constraint_tries``, each with its cost.

**Departures from the paper.**

- *Types.* Integers and floats are one type here, since they compare as numbers, exactly. The
  other types stay apart, so that 1 and True, equal keys to Python, never meet.
- *More operators.* The paper has > < ≥ ≤ = and three for strings. Those of ours for which there
  is no structure (!=, not in, like, matches and so on) are tested one by one, in a list of their
  type, name and operator.
- *Several kinds.* Any of ``x = 1`` and ``x = 'a'`` has no type of its own: it is tested whatever
  the type of the attribute.
- *Presence.* IS NOT NULL has no type; it is found by name alone. IS NULL is never satisfied by an
  attribute that is there, and so is never found.
- *Region events.* For an interval the order lists are bisected too: a constraint that covers one
  which meets the interval meets it as well. The other lists of numbers and timestamps are tested
  one by one.

**Invariants.** No list is empty, and no name without lists is kept; a constraint is in one list.

**Cost.** Insert and remove: a binary search and a shift of one list, or a hash update, or one path
of a trie. ``tested`` counts the steps of all searches: a binary search among n operands counts as
many as n has bits, a hash probe one, a trie one per character walked, the rest one per constraint.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

from predicast.matching.counting.constraint_lists import (
    ConstraintList,
    EqualityHash,
    LowerBounds,
    MemberHash,
    OneByOne,
    RangeList,
    UpperBounds,
)
from predicast.matching.counting.constraint_subscription_list import HeldConstraint
from predicast.matching.counting.constraint_tries import PrefixTrie, SubstringTrie, SuffixTrie
from predicast.model import Elements, Held, Interval, Kind, Operator
from predicast.model.decimals import ExactDecimal
from predicast.model.operators import PRESENCE

_LISTS: Final[dict[Operator, Callable[[], ConstraintList]]] = {
    # The side on which a value equal to an operand falls makes the test strict or not.
    Operator.LT: partial(UpperBounds, bisect_right),
    Operator.LE: partial(UpperBounds, bisect_left),
    Operator.GT: partial(LowerBounds, bisect_left),
    Operator.GE: partial(LowerBounds, bisect_right),
    Operator.EQ: EqualityHash,
    Operator.IN: MemberHash,
    Operator.BETWEEN: RangeList,
    Operator.PREFIX: PrefixTrie,
    Operator.SUFFIX: SuffixTrie,
    Operator.CONTAINS: SubstringTrie,
}

_Names: TypeAlias = dict[str, dict[Operator, ConstraintList]]


class ConstraintIndex:
    """Finds the constraints that an attribute satisfies without testing the others."""

    def __init__(self) -> None:
        # Without a kind: any and all of constraints on values of several kinds.
        self._kinds: dict[Kind | None, _Names] = {kind: {} for kind in (*Kind, None)}
        self._types: dict[type, _Names] = {
            int: self._kinds[Kind.NUMBER],
            float: self._kinds[Kind.NUMBER],
            ExactDecimal: self._kinds[Kind.NUMBER],
            str: self._kinds[Kind.STRING],
            bool: self._kinds[Kind.BOOLEAN],
            datetime: self._kinds[Kind.TIMESTAMP],
            Elements: self._kinds[Kind.LIST],
        }
        self.exists: dict[str, HeldConstraint] = {}  # by name alone: they have no type
        self._tested_in_gone_lists = 0

    @property
    def tested(self) -> int:
        """The steps of all searches so far."""
        return self._tested_in_gone_lists + sum(
            constraints.tested
            for names in self._kinds.values()
            for operators in names.values()
            for constraints in operators.values()
        )

    def insert(self, row: HeldConstraint) -> None:
        """Add a constraint that the index does not hold yet."""
        constraint = row.constraint
        if constraint.operator is Operator.EXISTS:
            self.exists[constraint.attribute] = row
        if constraint.operator in PRESENCE:
            return
        operators = self._kinds[constraint.kind].setdefault(constraint.attribute, {})
        constraints = operators.get(constraint.operator)
        if constraints is None:
            constraints = _LISTS.get(constraint.operator, OneByOne)()
            operators[constraint.operator] = constraints
        constraints.insert(row)

    def remove(self, row: HeldConstraint) -> None:
        """Take out a constraint that the index holds."""
        constraint = row.constraint
        if constraint.operator is Operator.EXISTS:
            del self.exists[constraint.attribute]
        if constraint.operator in PRESENCE:
            return
        names = self._kinds[constraint.kind]
        operators = names[constraint.attribute]
        constraints = operators[constraint.operator]
        constraints.remove(row)
        if constraints.is_empty():
            self._tested_in_gone_lists += constraints.tested
            del operators[constraint.operator]
            if not operators:
                del names[constraint.attribute]

    def lists(self, type_: type, name: str) -> Collection[ConstraintList]:
        """The lists in which an attribute of that type and name finds its constraints."""
        operators = self._types[type_].get(name)
        mixed = self._kinds[None].get(name)
        if mixed is not None:
            return [*mixed.values(), *(() if operators is None else operators.values())]
        return () if operators is None else operators.values()

    def matching(self, name: str, value: Held) -> list[HeldConstraint]:
        """The constraints on the name that the value satisfies (that the interval meets)."""
        if type(value) is Interval:
            found = self.meeting(name, value)
        else:
            found = []
            for constraints in self.lists(type(value), name):
                found += constraints.matching(value)
        exists = self.exists.get(name)
        if exists is not None:
            found.append(exists)
        return found

    def meeting(self, name: str, interval: Interval) -> list[HeldConstraint]:
        """The constraints on the name's value that some point of the interval satisfies."""
        found: list[HeldConstraint] = []
        # An interval without ends may be one of numbers or of timestamps.
        kinds = (Kind.NUMBER, Kind.TIMESTAMP) if interval.kind is None else (interval.kind,)
        for kind in (*kinds, None):
            for constraints in self._kinds[kind].get(name, {}).values():
                found += constraints.meeting(interval)
        return found
