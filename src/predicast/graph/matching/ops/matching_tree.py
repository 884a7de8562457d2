"""The matching tree of one alternative and one event (paper 5, sections 4.2 and 4.3).

::

    ○ home ↦ home                       a circle: a partial mapping; AND over its boxes
    ├─ □ (home, target, ?1)             a box: a statement pattern; OR over its circles
    │  └─ ○ ?1 ↦ v4
    └─ □ (home, price, ?2)
       ├─ ○ ?2 ↦ v7
       │  └─ □ (?2, value, ?3)
       │     └─ ○ ?3 ↦ "350"
       └─ ○ ?2 ↦ v9
          └─ □ (?2, value, ?3)          no circle: ?2 ↦ v9 fails

A circle is made when an arc meets a pattern, and releases the patterns that start at its vertex,
unless that vertex is on the path from the home vertex already: then they are in the tree above.

*State-based partial verification* (SBPV) goes with the growing: a circle is checked when all its
boxes are, a box when one of its circles is. If the root is not checked in the end, there is no
match. *Verification by boolean expression* (BEBV) decides the others: the tree is an expression of
AND and OR over mappings of vertices, in which a vertex of the pattern has one vertex of the event,
and in an injective pattern no two have the same. It is evaluated depth first, by choosing a circle
for each box and turning back when two choices contradict each other.

Where we depart from the paper: arcs are kept by subject, and a pattern that is released looks at
all arcs of its subject. In one pass over the arcs, as the paper has it, an arc may have gone by
before the pattern that needs it was released.

Cost: the tree unfolds the pattern, so both its size and the choices may be exponential in the
pattern. Every arc that is tried and every choice is a step; past the budget, it is undecided.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from predicast.graph.brute_force import BudgetSpentError
from predicast.graph.event_graph import EventGraph
from predicast.graph.filters import Bound
from predicast.graph.matching.ops.compiled import CompiledAlternative, WaitingPattern
from predicast.graph.ontology import MetaStatement
from predicast.graph.patterns import HOME_VERTEX, PatternVertex
from predicast.graph.terms import Literal, Variable


@dataclass(frozen=True, slots=True)
class WalkedEvent:
    """An event with all that the trees of many patterns ask of it."""

    event: EventGraph
    classes: list[frozenset[str]]  # of each vertex, with all that follows
    # From each vertex, its arcs: where they lead, and the entries that they meet.
    arcs: Mapping[int, list[tuple[int, frozenset[MetaStatement]]]]

    def bound(self, vertex: int) -> Bound:
        return Bound(self.event.vertices[vertex], self.event.values[vertex])


@dataclass(slots=True, eq=False)
class Circle:
    """A partial mapping: of one vertex, and those on the path to it."""

    vertex: PatternVertex
    target: int
    path: dict[PatternVertex, int]
    parent: Box | None
    boxes: list[Box] = field(default_factory=list)
    unchecked: int = 0  # of its boxes


@dataclass(slots=True, eq=False)
class Box:
    """A statement pattern that must be met below a circle."""

    pattern: WaitingPattern
    parent: Circle
    circles: list[Circle] = field(default_factory=list)  # those that are checked
    is_checked: bool = False


class MatchingTree:
    """Grows while an event is walked; then says whether it is a match."""

    __slots__ = ("_alternative", "_budget", "_event", "is_checked", "nodes", "root", "steps")

    def __init__(self, alternative: CompiledAlternative, event: WalkedEvent, budget: int) -> None:
        self._alternative = alternative
        self._event = event
        self._budget = budget
        self.steps = 0
        self.nodes = 0
        self.is_checked = False
        self.root: Circle = Circle(
            HOME_VERTEX, event.event.home, {HOME_VERTEX: event.event.home}, None
        )

    def grow(self) -> None:
        """Build the tree breadth first, checking upwards from circles without patterns."""
        if not self._accepts(HOME_VERTEX, self.root.target):
            return
        pending = deque([self.root])
        self._release(self.root)
        while pending:
            circle = pending.popleft()
            for target, met in self._event.arcs.get(circle.target, ()):
                for box in circle.boxes:
                    self._step()
                    if box.pattern.entry in met:
                        child = self._mapped(box, target)
                        if child is not None:
                            self._release(child)
                            if child.boxes:
                                pending.append(child)

    def mappings(self) -> Iterator[dict[PatternVertex, int]]:
        """The mappings that make the tree's expression true; the tree has passed SBPV."""
        if self.is_checked:
            yield from self._chosen(list(self.root.boxes), dict(self.root.path))

    # Growing.

    def _release(self, circle: Circle) -> None:
        """Put the patterns that start at a circle's vertex below it, or check upwards."""
        self.nodes += 1
        on_path = circle.parent is not None and circle.vertex in circle.parent.parent.path
        patterns = () if on_path else self._alternative.starting_at(circle.vertex)
        circle.boxes = [Box(pattern, circle) for pattern in patterns]
        circle.unchecked = len(patterns)
        self.nodes += len(patterns)
        if not patterns:
            self._check_upwards(circle)

    def _check_upwards(self, circle: Circle) -> None:
        while True:
            box = circle.parent
            if box is None:
                self.is_checked = True
                return
            box.circles.append(circle)
            if box.is_checked:
                return
            box.is_checked = True
            circle = box.parent
            circle.unchecked -= 1
            if circle.unchecked:
                return

    def _mapped(self, box: Box, target: int) -> Circle | None:
        """The circle that a box gets by an arc to the target, if that agrees with the path."""
        vertex, path = box.pattern.statement.object, box.parent.path
        if vertex in path:
            return Circle(vertex, target, path, box) if path[vertex] == target else None
        if not isinstance(vertex, Variable) and self._event.event.vertices[target] != vertex:
            return None
        if self._is_taken(target, path) or not self._accepts(vertex, target):
            return None
        return Circle(vertex, target, {**path, vertex: target}, box)

    def _is_taken(self, target: int, mapping: Mapping[PatternVertex, int]) -> bool:
        if not self._alternative.injective or target not in mapping.values():
            return False
        return not isinstance(self._event.event.vertices[target], Literal)

    def _accepts(self, vertex: PatternVertex, target: int) -> bool:
        """Whether the target is of the vertex's classes, and meets the filters on it alone."""
        wanted = self._alternative.classes.get(vertex)
        if wanted is not None and not wanted <= self._event.classes[target]:
            return False
        filters = self._alternative.filters.get(vertex, ())
        return not filters or all(
            each.holds(lambda _: self._event.bound(target)) for each in filters
        )

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self._budget:
            raise BudgetSpentError

    # Verification.

    def _chosen(
        self, boxes: list[Box], mapping: dict[PatternVertex, int]
    ) -> Iterator[dict[PatternVertex, int]]:
        if not boxes:
            if self._joint_filters_hold(mapping):
                yield dict(mapping)
            return
        box, later = boxes[0], boxes[1:]
        for circle in box.circles:
            self._step()
            vertex, target = circle.vertex, circle.target
            known = mapping.get(vertex)
            if known is None:
                if self._is_taken(target, mapping):
                    continue
                mapping[vertex] = target
                yield from self._chosen([*circle.boxes, *later], mapping)
                del mapping[vertex]
            elif known == target:
                # What starts at the vertex is asked where it was mapped first.
                yield from self._chosen(later, mapping)

    def _joint_filters_hold(self, mapping: dict[PatternVertex, int]) -> bool:
        return all(
            each.holds(lambda variable: self._event.bound(mapping[variable]))
            for each in self._alternative.joint_filters
        )
