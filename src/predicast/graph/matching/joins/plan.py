"""Plans: a pattern's alternative as steps from the home vertex outward.

Every vertex of the alternative gets a slot, the home vertex the first one. What is asked of one
vertex alone is a *kind*: a class that it is of, the term that it is, a filter that it passes. Steps
come in an order that is the same for patterns that say the same, as far as that is cheap to tell,
so that plans begin alike: first whatever can be tested without another vertex, then the arc to the
vertex that most is asked of, from the latest one. What is around a vertex tells those apart of
which the same is asked.

Filters on two variables have no step. A plan with such a filter finds what may match, and the
definition decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from predicast.arrays import Array
from predicast.graph.filters import Filter, FilterExpression
from predicast.graph.matching.joins.conditions import Condition
from predicast.graph.matching.joins.trie import ALONG, APART, ARC, KIND, NOTHING, STEP
from predicast.graph.matching.joins.vocabulary import Vocabulary
from predicast.graph.patterns import HOME_VERTEX, Alternative, GraphPattern, PatternVertex
from predicast.graph.terms import Iri, Literal, Variable
from predicast.model import And

_ROUNDS = 2  # in which what is asked of a vertex is told to its neighbours


class Plan(NamedTuple):
    """The steps of one alternative, and the conditions among what they ask."""

    steps: Array  # int32, a row each
    conditions: tuple[Condition, ...]
    is_rough: bool  # there is more to the alternative than the steps ask


class _Rank(IntEnum):
    """How much a kind leaves open; less comes first."""

    TERM = 0
    CONDITION = 1
    CLASS = 2
    NOTHING = 3


class _Asked(NamedTuple):
    """What is asked of one vertex alone."""

    term: Iri | Literal | None
    classes: tuple[str, ...]
    expression: FilterExpression | None  # of all filters on it

    @property
    def rank(self) -> _Rank:
        if self.term is not None:
            return _Rank.TERM
        if self.expression is not None:
            return _Rank.CONDITION
        return _Rank.CLASS if self.classes else _Rank.NOTHING


class _Arc(NamedTuple):
    subject: int
    property: int
    object: int


def plans_of(pattern: GraphPattern, vocabulary: Vocabulary) -> Iterator[Plan]:
    """A plan for each alternative that can match anything."""
    for alternative in pattern.alternatives:
        whole = [part for each in alternative.filters for part in _conjuncts(each)]
        if all(part.holds(lambda _: None) for part in whole if not part.variables):
            yield _Planner(alternative, whole, vocabulary, pattern.injective).plan()


def _conjuncts(whole: Filter) -> Iterator[Filter]:
    """Filters that say together what one does."""
    if isinstance(whole.expression, And):
        for part in whole.expression.parts:
            yield from _conjuncts(Filter(part))
    else:
        yield whole


class _Planner:
    """One alternative on its way to a plan."""

    def __init__(
        self,
        alternative: Alternative,
        filters: Sequence[Filter],
        vocabulary: Vocabulary,
        injective: bool,
    ) -> None:
        vertices = alternative.vertices()
        number = {vertex: place for place, vertex in enumerate(vertices)}
        self._vocabulary = vocabulary
        self._along = APART if injective else ALONG
        self._is_rough = any(len(each.variables) > 1 for each in filters)
        self._asked = _asked(alternative, vertices, filters)
        self._arcs = [
            _Arc(number[each.subject], vocabulary.property_code(each.property), number[each.object])
            for each in alternative.statements
        ]
        self._colours = self._coloured()
        self._slots = {number[HOME_VERTEX]: 0}
        self._steps: list[tuple[int, int, int, int, int]] = []
        self._conditions: list[Condition] = []

    def plan(self) -> Plan:
        """The steps in their order."""
        home = self._asked[0]
        self._ask(0, [self._vocabulary.class_kind(name) for name in sorted(home.classes)])
        left = set(self._arcs)
        while left:
            checks = [
                arc for arc in left if arc.subject in self._slots and arc.object in self._slots
            ]
            for arc in sorted(checks, key=self._place):
                source, target = self._slots[arc.subject], self._slots[arc.object]
                self._steps.append((ARC, source, 2 * arc.property, target, NOTHING))
            left.difference_update(checks)
            if left:
                left.remove(self._extend(left))
        steps = np.array(self._steps, np.int32).reshape(-1, STEP)
        return Plan(steps, tuple(self._conditions), self._is_rough)

    def _place(self, arc: _Arc) -> tuple[int, int, int]:
        return self._slots[arc.subject], arc.property, self._slots[arc.object]

    def _extend(self, arcs: Iterable[_Arc]) -> _Arc:
        """Follow the best of the arcs that lead to something new."""
        outward = [
            (link, source, target, arc)
            for arc in arcs
            for link, source, target in (
                (2 * arc.property, arc.subject, arc.object),
                (2 * arc.property + 1, arc.object, arc.subject),
            )
            if source in self._slots and target not in self._slots
        ]
        link, source, target, arc = min(outward, key=self._preference)
        asked = self._asked[target]
        slot = self._slots[target] = len(self._slots)
        classes = [self._vocabulary.class_kind(name) for name in sorted(asked.classes)]
        wanted = classes.pop(0) if classes else NOTHING
        self._steps.append((self._along, self._slots[source], link, slot, wanted))
        kinds = [] if asked.term is None else [self._vocabulary.term_kind(asked.term)]
        if asked.expression is not None:
            condition = Condition(link, asked.expression)
            self._conditions.append(condition)
            kinds.append(self._vocabulary.condition_kind(condition))
        self._ask(slot, [*kinds, *classes])
        return arc

    def _preference(self, outward: tuple[int, int, int, _Arc]) -> tuple[int, int, int, int, int]:
        link, source, target, _ = outward
        colour = self._colours[target]
        return self._asked[target].rank, -self._slots[source], link, colour, target

    def _ask(self, slot: int, kinds: Sequence[int]) -> None:
        self._steps += [(KIND, slot, NOTHING, slot, kind) for kind in kinds]

    def _coloured(self) -> list[int]:
        """A number per vertex that says what is asked of it and what is around it."""
        found = [
            hash((each.rank, len(each.classes), *sorted(self._kinds(each)))) for each in self._asked
        ]
        for _ in range(_ROUNDS):
            around: list[list[tuple[int, int]]] = [[] for _ in found]
            for subject, name, object in self._arcs:
                around[subject].append((2 * name, found[object]))
                around[object].append((2 * name + 1, found[subject]))
            found = [hash((own, *sorted(near))) for own, near in zip(found, around, strict=True)]
        return found

    def _kinds(self, asked: _Asked) -> Iterator[int]:
        for name in asked.classes:
            yield self._vocabulary.class_kind(name)


def _asked(
    alternative: Alternative, vertices: Sequence[PatternVertex], filters: Iterable[Filter]
) -> list[_Asked]:
    """What is asked of each vertex alone."""
    classes: Mapping[PatternVertex, dict[str, None]] = {vertex: {} for vertex in vertices}
    expressions: Mapping[PatternVertex, list[FilterExpression]] = {each: [] for each in vertices}
    for each in alternative.classes:
        classes[each.vertex][each.name] = None
    for part in filters:
        if len(part.variables) == 1:
            expressions[part.variables[0]].append(part.expression)
    return [
        _Asked(
            None if isinstance(vertex, Variable) or vertex == HOME_VERTEX else vertex,
            tuple(classes[vertex]),
            _all_of(expressions[vertex]),
        )
        for vertex in vertices
    ]


def _all_of(expressions: Sequence[FilterExpression]) -> FilterExpression | None:
    """One expression that says what several do: a range is looked up quicker than its two ends."""
    if len(expressions) < 2:
        return expressions[0] if expressions else None
    return And(tuple(expressions))
