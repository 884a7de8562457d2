"""The workload of paper 5, section 5, as the digest repairs it.

Ten classes and ten properties, two properties per class. With types at random nothing would ever
match, so each class and property have one object class, and all graphs begin at one class. An event
is a tree of 50 vertices with six further arcs, a subscription one of 10 vertices with two. No arc
breaks the rule: a pattern with one that does would never match.

How many subscriptions an event matches then depends on which class leads to which: from one in a
thousand to one in twelve, 3 % on average, as the paper has it. So classes are drawn until a trial
comes to about that, whatever the seed.

``hierarchies`` puts five levels of subclasses below each class: events are of the lowest, patterns
of any. ``filters`` gives vertices a number, and asks for a range of one in each pattern. The paper
left out both.
"""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Final, Literal, NamedTuple

from predicast.graph import GraphEngine
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
_SHARE: Final = (2.5, 3.5)  # of a hundred subscriptions, how many match: "about 3 %"
_TRIAL: Final = (400, 80)  # subscriptions and events by which it is found out

_SUB_CLASS: Final = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"


_Arc = tuple[int, int, int]  # from a vertex, a property, to a vertex


class _Graph(NamedTuple):
    classes: list[int]  # of each vertex
    arcs: list[_Arc]


class _Rules:
    """Which properties a class has, and to which class each leads; and graphs that keep to it."""

    def __init__(self, random: Random) -> None:
        self._properties = [random.sample(range(_PROPERTIES), _PER_CLASS) for _ in range(_CLASSES)]
        self._leads_to = {
            (owner, name): random.randrange(_CLASSES)
            for owner, names in enumerate(self._properties)
            for name in names
        }

    def share(self, random: Random) -> float:
        """Of a hundred subscriptions, those that an event matches, by a trial."""
        subscriptions, events = _TRIAL
        engine = GraphEngine()
        patterns = [self.graph(random, *_PATTERN) for _ in range(subscriptions)]
        engine.subscribe_many(
            {f"{n}": _query(each, [0] * len(each.classes)) for n, each in enumerate(patterns)}
        )
        texts = [_triples(self.graph(random, *_EVENT), 0) for _ in range(events)]
        found = engine.match_batch(texts, format="turtle")
        return 100 * sum(map(len, found)) / subscriptions / events

    def graph(self, random: Random, vertices: int, arcs: int) -> _Graph:
        """A tree with further arcs, all as the classes have it; drawn anew if there are too few."""
        while True:
            classes, tree = self._tree(random, vertices)
            others = self._others(classes, tree)
            more = arcs - len(tree)
            if len(others) >= more:
                return _Graph(classes, [*tree, *random.sample(others, more)])

    def _tree(self, random: Random, vertices: int) -> tuple[list[int], list[_Arc]]:
        classes, arcs = [0], list[_Arc]()
        while len(classes) < vertices:
            subject = random.randrange(len(classes))
            name = random.choice(self._properties[classes[subject]])
            arcs.append((subject, name, len(classes)))
            classes.append(self._leads_to[classes[subject], name])
        return classes, arcs

    def _others(self, classes: list[int], tree: list[_Arc]) -> list[_Arc]:
        """The arcs that there could be between these vertices, apart from those that there are."""
        by_class: dict[int, list[int]] = {}
        for vertex, number in enumerate(classes):
            by_class.setdefault(number, []).append(vertex)
        there = {*tree}
        return [
            (subject, name, object)
            for subject, number in enumerate(classes)
            for name in self._properties[number]
            for object in by_class.get(self._leads_to[number, name], ())
            if (subject, name, object) not in there
        ]


@lru_cache(maxsize=4)  # a run asks for those of one seed again and again
def _rules_of(seed: int) -> _Rules:
    """Rules by which about so many subscriptions match an event as in the paper."""
    random = Random(seed)
    while True:
        rules = _Rules(random)
        if _SHARE[0] <= rules.share(random) <= _SHARE[1]:
            return rules


class OntologyWorkload:
    """An ontology in Turtle, subscriptions in SPARQL and events in Turtle, from one seed."""

    def __init__(self, variant: Variant, seed: int) -> None:
        self._variant = variant
        self._random = Random(seed)
        self._rules = _rules_of(seed)
        self._of_events = Random(f"{seed} events")  # the same, however many subscriptions there are

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
        return [self._query(self._rules.graph(self._random, *_PATTERN)) for _ in range(count)]

    def events(self, count: int) -> list[str]:
        """Events in Turtle."""
        return [self._event(self._rules.graph(self._of_events, *_EVENT)) for _ in range(count)]

    def _query(self, graph: _Graph) -> str:
        levels = [self._level() for _ in graph.classes]
        if self._variant != "filters":
            return _query(graph, levels)
        vertex = self._random.randrange(len(graph.classes))
        least = self._random.randrange(_NUMBERS)
        return _query(
            graph,
            levels,
            f" . {_vertex(vertex, '?')} <urn:bench:number> ?n "
            f"FILTER(?n >= {least} && ?n < {least + _SPREAD})",
        )

    def _level(self) -> int:
        if self._variant == "hierarchies" and self._random.random() < _BELOW:
            return self._random.randint(1, _LEVELS)
        return 0

    def _event(self, graph: _Graph) -> str:
        text = _triples(graph, _LEVELS if self._variant == "hierarchies" else 0)
        if self._variant != "filters":
            return text
        return "\n".join(
            [
                text,
                *(
                    f"{_vertex(vertex, '_:')} <urn:bench:number> "
                    f"{self._of_events.randrange(_NUMBERS)} ."
                    for vertex in range(len(graph.classes))
                ),
            ]
        )


def _query(graph: _Graph, levels: list[int], more: str = "") -> str:
    """A pattern; each vertex comes with the arc that leads to it, the first time."""
    typed = [
        f"{_vertex(vertex, '?')} a {_class(number, level)}"
        for vertex, (number, level) in enumerate(zip(graph.classes, levels, strict=True))
    ]
    parts = [typed[0]]
    for place, arc in enumerate(graph.arcs):
        parts.append(_arc(arc, "?"))
        if place + 1 < len(typed):
            parts.append(typed[arc[2]])
    return f"ASK {{ {' . '.join(parts)}{more} }}"


def _triples(graph: _Graph, level: int) -> str:
    """An event."""
    parts = [
        f"{_vertex(vertex, '_:')} a {_class(number, level)} ."
        for vertex, number in enumerate(graph.classes)
    ]
    return "\n".join([*parts, *(_arc(arc, "_:") + " ." for arc in graph.arcs)])


def _class(number: int, level: int) -> str:
    return f"<urn:bench:C{number}-{level}>"


def _vertex(vertex: int, mark: str) -> str:
    return f"{mark}v{vertex}" if vertex else f"<{HOME}>"


def _arc(arc: tuple[int, int, int], mark: str) -> str:
    subject, name, object = arc
    return f"{_vertex(subject, mark)} <urn:bench:p{name}> {_vertex(object, mark)}"
