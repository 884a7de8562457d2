"""Tries: the leaves of the constraint index for prefix, suffix and contains.

The paper keeps string operators in hash tables (section 3.1), while its pseudo-code takes
everything behind the first match for them (section 3.2). Neither finds the right ones: strings are
not ordered by covering (prefixes ab and abc, value abx). A trie holds each operand as a path of
characters; a value satisfies the operands that end somewhere along its own path::

    root ─a─► ─b─► (ab) ─c─► (abc)        value abx walks a, b and finds ab
         ─x─► (x)

*Suffix* walks backwards in a trie of reversed operands. *Contains* walks from every place in the
value; Aho and Corasick's failure links would save the fresh starts, but would have to be repaired
at every change. An operand that occurs several times in a value is found once.

A search ends where no operand goes on, so it takes at most as many steps as the longest operand
has characters (per place, for contains). A node is a dictionary, which makes a trie generous with
memory: one for each character that operands do not share.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Final, TypeAlias

from predicast.matching.counting.constraint_lists import ConstraintList
from predicast.matching.counting.constraint_subscription_list import HeldConstraint

# A node: its children by character, and under END the constraint whose operand ends here.
_Node: TypeAlias = dict[str, Any]
_END: Final = ""


class Trie(ConstraintList):
    """Operands as paths."""

    __slots__ = ()

    _rows: _Node  # the root

    def __init__(self) -> None:
        super().__init__()
        self._rows = {}

    @staticmethod
    @abstractmethod
    def spelled(text: str) -> str:
        """The text in the order in which the trie spells it."""

    def insert(self, row: HeldConstraint) -> None:
        node = self._rows
        for character in self.spelled(_text(row)):
            node = node.setdefault(character, {})
        node[_END] = row

    def remove(self, row: HeldConstraint) -> None:
        path = [(self._rows, _END)]
        for character in self.spelled(_text(row)):
            node = path[-1][0]
            path[-1] = (node, character)
            path.append((node[character], _END))
        for node, character in reversed(path):
            del node[character]
            if node:
                return

    def rows(self) -> list[HeldConstraint]:
        found: list[HeldConstraint] = []
        nodes = [self._rows]
        while nodes:
            for character, child in nodes.pop().items():
                if character == _END:
                    found.append(child)
                else:
                    nodes.append(child)
        return found

    def matching(self, value: Any) -> list[HeldConstraint]:
        found: list[HeldConstraint] = []
        self.tested += self._walk(self.spelled(value), 0, found)
        return found

    def _walk(self, text: str, start: int, found: list[HeldConstraint]) -> int:
        """Find the constraints whose operands end along the text; the steps that took."""
        node: _Node | None = self._rows
        position = start
        while node is not None:
            if _END in node:
                found.append(node[_END])
            if position == len(text):
                break
            node = node.get(text[position])
            position += 1
        return position - start


class PrefixTrie(Trie):
    """Prefix: operands from the start."""

    __slots__ = ()

    @staticmethod
    def spelled(text: str) -> str:
        return text


class SuffixTrie(Trie):
    """Suffix: operands from the end."""

    __slots__ = ()

    @staticmethod
    def spelled(text: str) -> str:
        return text[::-1]


class SubstringTrie(PrefixTrie):
    """Contains: a walk from every place in the value."""

    __slots__ = ()

    def matching(self, value: Any) -> list[HeldConstraint]:
        found: list[HeldConstraint] = []
        # From the end too, if only to find '' in an empty value.
        self.tested += sum(self._walk(value, start, found) for start in range(len(value) + 1))
        return list(dict.fromkeys(found))


def _text(row: HeldConstraint) -> str:
    operand: Any = row.constraint.operand
    return operand  # type: ignore[no-any-return]
