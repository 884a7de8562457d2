"""The workload of paper 5, section 5, as the digest repairs it.

Ten classes and ten properties, two properties per class. With types at random nothing would ever
match, so each class and property have one object class, and all graphs begin at one class. An event
is a tree of 50 vertices with six further arcs, a subscription one of 10 vertices with two.

``hierarchies`` puts five levels of subclasses below each class: events are of the lowest, patterns
of any. ``filters`` gives vertices a number, and asks for a range of one in each pattern. The paper
left out both.
"""

from __future__ import annotations

from random import Random
from typing import Final, Literal, NamedTuple

from predicast.graph.names import HOME

Variant = Literal["paper", "hierarchies", "filters"]
VARIANTS: Final[tuple[Variant, ...]] = ("paper", "hierarchies", "filters")

_CLASSES: Final = 10
_PROPERTIES: Final = 10
_PER_CLASS: Final = 2
_LEVELS: Final = 5
_BELOW: Final = 0.5  # of the classes that patterns ask for, how many are some levels down
_EVENT: Final = (50, 55)  # vertices and arcs
_PATTERN: Final = (10, 11)
_NUMBERS: Final = 1_000
_SPREAD: Final = 500  # of the numbers, how many a pattern admits

_SUB_CLASS: Final = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"


class _Graph(NamedTuple):
    classes: list[int]  # of each vertex
    arcs: list[tuple[int, int, int]]


class OntologyWorkload:
    """An ontology in Turtle, subscriptions in SPARQL and events in Turtle, from one seed."""

    def __init__(self, variant: Variant, seed: int) -> None:
        self._variant = variant
        self._random = random = Random(seed)
        self._properties = [random.sample(range(_PROPERTIES), _PER_CLASS) for _ in range(_CLASSES)]
        self._leads_to = {
            (owner, name): random.randrange(_CLASSES)
            for owner, names in enumerate(self._properties)
            for name in names
        }

    def ontology(self) -> str:
        """What there is to know about the classes."""
        if self._variant != "hierarchies":
            return ""
        return "\n".join(
            f"{_class(number, level + 1)} {_SUB_CLASS} {_class(number, level)} ."
            for number in range(_CLASSES)
            for level in range(_LEVELS)
        )

    def subscriptions(self, count: int) -> list[str]:
        """Patterns as queries."""
        return [self._query(self._graph(*_PATTERN)) for _ in range(count)]

    def events(self, count: int) -> list[str]:
        """Events in Turtle."""
        return [self._event(self._graph(*_EVENT)) for _ in range(count)]

    def _graph(self, vertices: int, arcs: int) -> _Graph:
        random, classes, found = self._random, [0], dict[tuple[int, int, int], None]()
        while len(classes) < vertices:
            subject = random.randrange(len(classes))
            name = random.choice(self._properties[classes[subject]])
            found[subject, name, len(classes)] = None
            classes.append(self._leads_to[classes[subject], name])
        while len(found) < arcs:
            subject = random.randrange(vertices)
            name = random.choice(self._properties[classes[subject]])
            wanted = self._leads_to[classes[subject], name]
            fitting = [each for each, mine in enumerate(classes) if mine == wanted]
            found[subject, name, random.choice(fitting or [0])] = None
        return _Graph(classes, [*found])

    def _query(self, graph: _Graph) -> str:
        random = self._random
        parts = [self._typed(0, graph)]
        for arc in graph.arcs:  # each vertex comes with the arc that leads to it, the first time
            parts.append(_arc(arc, "?"))
            if len(parts) < 2 * len(graph.classes):
                parts.append(self._typed(arc[2], graph))
        if self._variant == "filters":
            vertex, least = random.randrange(len(graph.classes)), random.randrange(_NUMBERS)
            parts.append(f"{_vertex(vertex, '?')} <urn:bench:number> ?n")
            parts.append(f"FILTER(?n >= {least} && ?n < {least + _SPREAD})")
        return f"ASK {{ {' . '.join(parts)} }}".replace(". FILTER", "FILTER")

    def _typed(self, vertex: int, graph: _Graph) -> str:
        level = 0
        if self._variant == "hierarchies" and self._random.random() < _BELOW:
            level = self._random.randint(1, _LEVELS)
        return f"{_vertex(vertex, '?')} a {_class(graph.classes[vertex], level)}"

    def _event(self, graph: _Graph) -> str:
        level = _LEVELS if self._variant == "hierarchies" else 0
        parts = [
            f"{_vertex(vertex, '_:')} a {_class(number, level)} ."
            for vertex, number in enumerate(graph.classes)
        ]
        parts += [_arc(arc, "_:") + " ." for arc in graph.arcs]
        if self._variant == "filters":
            parts += [
                f"{_vertex(vertex, '_:')} <urn:bench:number> {self._random.randrange(_NUMBERS)} ."
                for vertex in range(len(graph.classes))
            ]
        return "\n".join(parts)


def _class(number: int, level: int) -> str:
    return f"<urn:bench:C{number}-{level}>"


def _vertex(vertex: int, mark: str) -> str:
    return f"{mark}v{vertex}" if vertex else f"<{HOME}>"


def _arc(arc: tuple[int, int, int], mark: str) -> str:
    subject, name, object = arc
    return f"{_vertex(subject, mark)} <urn:bench:p{name}> {_vertex(object, mark)}"
