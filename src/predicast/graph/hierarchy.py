"""``Hierarchy``: names with several parents each, and the ancestors of every one.

Names have codes, integers from 0 in the order in which they came; what has a code keeps it when the
hierarchy is extended, so that what was encoded before stays right. Names that are each other's
ancestors, as equivalent classes are, say the same: they share their ancestors, and the first of
them is the *leader* of all.

Cost: linear in the number of (name, ancestor) pairs, paid when it is made. An extension makes
another hierarchy from the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from predicast.bounded_cache import BoundedCache

_MAX_BITS_BYTES: Final = 16 << 20  # of bitsets that are remembered


class Hierarchy:
    """Names in an order of inheritance, read-only.

    ``ancestors`` of a name include itself, ascending by code.
    """

    __slots__ = ("_bits", "_codes", "ancestors", "leaders", "names", "parents")

    def __init__(
        self, names: Sequence[str], parents: Sequence[Iterable[int]], codes: dict[str, int]
    ) -> None:
        self.names: tuple[str, ...] = tuple(names)
        self.parents: tuple[tuple[int, ...], ...] = tuple([tuple(each) for each in parents])
        self._codes = codes
        groups = _cycles(self.parents)
        self.leaders: tuple[int, ...] = _leaders(groups, len(self.names))
        self.ancestors: tuple[tuple[int, ...], ...] = _ancestors(groups, self.parents)
        self._bits: BoundedCache[int, int] = BoundedCache(
            _MAX_BITS_BYTES, lambda _, bits: bits.bit_length() // 8
        )

    @classmethod
    def of(cls, names: Iterable[str], edges: Iterable[tuple[str, str]]) -> Hierarchy:
        """From names and (name, parent) pairs."""
        return cls((), (), {}).extended(names, edges)

    def extended(self, names: Iterable[str], edges: Iterable[tuple[str, str]]) -> Hierarchy:
        """The same with further names and (name, parent) pairs."""
        codes = dict(self._codes)
        parents = [dict.fromkeys(each) for each in self.parents]

        def code(name: str) -> int:
            if name not in codes:
                codes[name] = len(parents)
                parents.append({})
            return codes[name]

        for name in names:
            code(name)
        for name, parent in edges:
            parents[code(name)][code(parent)] = None
        return Hierarchy(list(codes), parents, codes)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._codes

    def code(self, name: str) -> int | None:
        """The code of a name, if it is known."""
        return self._codes.get(name)

    def by_name(self) -> dict[str, tuple[str, ...]]:
        """The parents of each name, by name."""
        return {
            name: tuple([self.names[each] for each in above])
            for name, above in zip(self.names, self.parents, strict=True)
        }

    def bits(self, code: int) -> int:
        """The ancestors of a name as a bitset: bit ``c`` is set if ``c`` is one."""
        try:
            return self._bits[code]
        except KeyError:
            pass
        bits = 0
        for ancestor in self.ancestors[code]:
            bits |= 1 << ancestor
        return self._bits.put(code, bits)


def _cycles(parents: Sequence[Sequence[int]]) -> list[list[int]]:
    """The names in groups of those that are each other's ancestors; ancestors come first.

    Tarjan's strongly connected components, with a stack instead of recursion: the depth of an
    ontology is its author's choice.
    """
    groups: list[list[int]] = []
    order = [-1] * len(parents)
    lowest = [0] * len(parents)
    open_names: list[int] = []
    is_open = [False] * len(parents)
    count = 0
    for root in range(len(parents)):
        if order[root] >= 0:
            continue
        walk = [(root, 0)]
        while walk:
            name, place = walk.pop()
            if place == 0:
                order[name] = lowest[name] = count
                count += 1
                open_names.append(name)
                is_open[name] = True
            elif is_open[parents[name][place - 1]]:
                lowest[name] = min(lowest[name], lowest[parents[name][place - 1]])
            if place < len(parents[name]):
                walk.append((name, place + 1))
                parent = parents[name][place]
                if order[parent] < 0:
                    walk.append((parent, 0))
            elif lowest[name] == order[name]:
                groups.append(_closed_group(name, open_names, is_open))
    return groups


def _closed_group(name: int, open_names: list[int], is_open: list[bool]) -> list[int]:
    group: list[int] = []
    while not group or group[-1] != name:
        group.append(open_names.pop())
        is_open[group[-1]] = False
    return group


def _leaders(groups: Iterable[list[int]], size: int) -> tuple[int, ...]:
    leaders = [0] * size
    for group in groups:
        first = min(group)
        for name in group:
            leaders[name] = first
    return tuple(leaders)


def _ancestors(
    groups: Iterable[list[int]], parents: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], ...]:
    found: list[tuple[int, ...]] = [()] * len(parents)
    for group in groups:
        together = set(group)
        for name in group:
            for parent in parents[name]:
                together.update(found[parent])
        shared = tuple(sorted(together))
        for name in group:
            found[name] = shared
    return tuple(found)
