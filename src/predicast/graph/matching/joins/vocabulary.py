"""``Vocabulary``: the codes of whatever subscriptions mention.

Properties have codes, and *links* are twice as many: a property forward and backward. All that is
asked of one vertex alone is a *kind* with a code: a class, a term, or a *condition*, a filter on
what a link leads to (``conditions.py``). Of an event only what is mentioned here is looked at.

Codes are given out once and never again, so that what was encoded yesterday means the same today.
"""

from __future__ import annotations

from typing import TypeVar

from predicast.graph.matching.joins.conditions import Condition, Conditions
from predicast.graph.terms import Iri, Literal, Term

T = TypeVar("T")


class Vocabulary:
    """Codes by name."""

    def __init__(self) -> None:
        self.properties: dict[str, int] = {}
        self.classes: dict[str, int] = {}
        self.terms: dict[Term, int] = {}
        self.conditions = Conditions()
        self._kinds = 0

    def property_code(self, name: str) -> int:
        """The code of a property."""
        return self.properties.setdefault(name, len(self.properties))

    def class_kind(self, name: str) -> int:
        """The kind of what is of a class."""
        return self._kind(self.classes, name)

    def term_kind(self, term: Iri | Literal) -> int:
        """The kind of what is this very term."""
        return self._kind(self.terms, term)

    def condition_kind(self, condition: Condition) -> int:
        """The kind of what passes a filter."""
        return self._kind(self.conditions.kinds, condition)

    def _kind(self, kinds: dict[T, int], asked: T) -> int:
        found = kinds.get(asked)
        if found is None:
            found = kinds[asked] = self._kinds
            self._kinds += 1
        return found

    @property
    def size(self) -> tuple[int, int, int]:
        """What changes when something is mentioned for the first time, conditions aside."""
        return len(self.properties), len(self.classes), len(self.terms)
