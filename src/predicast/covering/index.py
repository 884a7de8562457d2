r"""``SketchIndex``: which filters may cover a given one, be covered by it, or match an event.

Sketches (``sketches.py``) stand in blocks of 64 (``blocks.py``), and sketches that are near each
other stand in one block: a tree of splits says which block a sketch belongs to. ::

                      down on x <= -40
                     /                \
          up on x <= 60             block 2
           /           \
       block 0       block 1

A block that is full is split where that parts it evenly, by how far down or up its rows reach on
one attribute after the other, as in a k-d tree; a leaf that is empty goes, and its neighbour takes
the place of the split. Where all rows of a block are alike, no split parts them, and the leaf has
several blocks. The tree is for order alone: answers come from the blocks, wherever a row may be.

Questions do not descend through the tree. They go to the zones of all blocks at once, which NumPy
does for a thousand blocks in a microsecond or two per comparison, and then to the rows of the
blocks that are left. So what a question costs grows with the blocks that have an answer to it,
and hardly with the number of filters: of 45,000 filters, some 1,000 zones are looked at.

Rejected: one pass over all rows, which this replaces (a subscription cost six times as much at
45,000 filters as at 5,000); a descent through the graph, SIENA's way and paper 4's, since those
that a filter covers may sit below nodes that neither cover it nor are covered by it, so that every
such node has to be entered; a grid of fixed cells, which needs to know how far values reach and
how large regions are, and those of one attribute are not those of another.
"""

from __future__ import annotations

from collections.abc import Sequence

from predicast.covering.blocks import ROWS, Blocks
from predicast.covering.filter import Domains, Filter
from predicast.covering.sketches import Sketch, Sketcher
from predicast.model import Event


class _Leaf:
    """Where sketches are put: the blocks, and which axis is tried first to split one."""

    __slots__ = ("axis", "blocks", "parent", "with_room")

    def __init__(self, block: int, axis: int, parent: _Split | None) -> None:
        self.blocks = {block}
        self.with_room = [block]  # those of the blocks that are not full
        self.axis = axis
        self.parent = parent


class _Split:
    """Which of two parts a sketch belongs to; an even axis is how far down a hull reaches."""

    __slots__ = ("axis", "earlier", "last", "later", "parent")

    def __init__(self, axis: int, last: float, parent: _Split | None) -> None:
        self.axis = axis
        self.last = last
        self.parent = parent
        self.earlier: _Leaf | _Split
        self.later: _Leaf | _Split


class SketchIndex:
    """Sketches under numbers that it hands out; the caller keeps whose they are."""

    def __init__(self) -> None:
        self._sketcher = Sketcher()
        self._blocks = Blocks()
        self._root: _Leaf | _Split = _Leaf(self._blocks.new_block(), 0, None)
        self._leaf_of: dict[int, _Leaf] = {0: self._root}  # by block
        self._places: list[tuple[int, int]] = []  # block and row, by number
        self._free: list[int] = []

    def sketch(self, of: Filter) -> Sketch:
        """The sketch of a filter."""
        return self._sketcher.of_filter(of)

    def clause_sketch(self, clause: Domains) -> Sketch:
        """The sketch of a clause, as if it were a filter."""
        return self._sketcher.of_clauses((clause,))

    def add(self, sketch: Sketch) -> int:
        """Hold a sketch; returns its number, one that is free or the next."""
        if self._free:
            number = self._free.pop()
        else:
            number = len(self._places)
            self._places.append((-1, -1))
        reach = self._blocks.reach_of(sketch)
        self._put(number, sketch, reach, self._leaf(reach))
        return number

    def remove(self, number: int) -> None:
        """Forget the sketch under a number, which may then be handed out again."""
        self._remove_row(*self._places[number])
        self._free.append(number)

    def change(self, number: int, sketch: Sketch) -> None:
        """Hold another sketch under a number."""
        block, row = self._places[number]
        reach = self._blocks.reach_of(sketch)
        leaf = self._leaf(reach)
        if leaf is self._leaf_of[block]:
            self._blocks.write(block, row, sketch, reach)
            self._blocks.loosen(block)
        else:
            self._put(number, sketch, reach, leaf)
            self._remove_row(block, row)

    def may_cover(self, sketch: Sketch) -> list[int]:
        """The numbers of filters that may cover the sketch's."""
        return self._blocks.may_cover([sketch])[0]

    def may_cover_each(self, sketches: Sequence[Sketch]) -> list[list[int]]:
        """The same for each of several, which costs less than to ask one by one."""
        return self._blocks.may_cover(sketches)

    def may_be_covered(self, sketch: Sketch) -> list[int]:
        """The numbers of filters that the sketch's may cover."""
        return self._blocks.may_be_covered([sketch])[0]

    def may_be_covered_each(self, sketches: Sequence[Sketch]) -> list[list[int]]:
        """The same for each of several, likewise."""
        return self._blocks.may_be_covered(sketches)

    def may_match(self, event: Event) -> list[int]:
        """The numbers of filters that the event may match."""
        return self._blocks.may_match(self._sketcher.of_event(event))

    def _leaf(self, reach: list[float]) -> _Leaf:
        """Where a sketch that reaches so far belongs."""
        node = self._root
        while isinstance(node, _Split):
            node = node.earlier if reach[node.axis] <= node.last else node.later
        return node

    def _put(self, number: int, sketch: Sketch, reach: list[float], leaf: _Leaf) -> None:
        if not leaf.with_room:
            leaf = self._made_room(leaf, reach)
        block = leaf.with_room[-1]
        self._places[number] = block, self._blocks.add(block, number, sketch, reach)
        if self._blocks.count(block) == ROWS:
            leaf.with_room.pop()

    def _made_room(self, leaf: _Leaf, reach: list[float]) -> _Leaf:
        """Split a leaf, or give it another block; returns where the sketch belongs then."""
        full = next(iter(leaf.blocks))
        halves = self._blocks.halves(full, leaf.axis)
        block = self._blocks.new_block()
        if halves is None:
            leaf.blocks.add(block)
            leaf.with_room.append(block)
            self._leaf_of[block] = leaf
            return leaf
        for row, number in enumerate(self._blocks.move(full, halves.later, block)):
            self._places[number] = block, row
        split = _Split(halves.axis, halves.last, leaf.parent)
        self._replace(leaf, split)
        leaf.parent, leaf.axis = split, halves.axis + 1
        leaf.with_room.append(full)
        split.earlier, split.later = leaf, _Leaf(block, halves.axis + 1, split)
        self._leaf_of[block] = split.later
        return self._leaf(reach)

    def _remove_row(self, block: int, row: int) -> None:
        blocks, leaf = self._blocks, self._leaf_of[block]
        if blocks.count(block) == ROWS:
            leaf.with_room.append(block)
        blocks.remove(block, row)
        if blocks.count(block) or (len(leaf.blocks) == 1 and leaf.parent is None):
            return
        blocks.free_block(block)
        del self._leaf_of[block]
        leaf.blocks.remove(block)
        leaf.with_room.remove(block)
        if not leaf.blocks:
            self._drop(leaf)

    def _drop(self, leaf: _Leaf) -> None:
        """Put a leaf's neighbour in the place of the split between them."""
        split = leaf.parent
        assert split is not None
        neighbour = split.later if split.earlier is leaf else split.earlier
        self._replace(split, neighbour)
        neighbour.parent = split.parent

    def _replace(self, old: _Leaf | _Split, new: _Leaf | _Split) -> None:
        parent = old.parent
        if parent is None:
            self._root = new
        elif parent.earlier is old:
            parent.earlier = new
        else:
            parent.later = new
