"""Engines that go by an ontology answer as the definition says: some reading of the event matches.

The definition asks the ontology itself about pairs of classes and of properties, and an engine
without one about every reading; what is written as ``IS A`` is spelt out for it.
"""

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predicast import Engine
from predicast.graph import Ontology
from predicast.model import Absent
from predicast.testing.graphs import PREFIXES, GraphWorld

NAMES = ("n0", "n1", "s0", "s1", "p0", "p1", "p2", "p3", "plain", "contact.p0", "contact.p1")
CLASSES = tuple(f"C{number}" for number in range(7))
SPELLINGS = ("{}", ":{}", "urn:test:{}")
NUMBERS = (1, 2, 3)


class ClassTest(NamedTuple):
    """``attribute IS A 'name'``."""

    subject: str
    name: str
    negated: bool

    def __str__(self) -> str:
        return self.said_of(f"'{self.name}'")

    def said_of(self, named: str) -> str:
        return f"{self.subject} IS {'NOT ' if self.negated else ''}A {named}"

    def spelt_out(self, ontology: Ontology) -> str:
        """The same without ontologies."""
        wanted = iri(self.name)
        known = [each for each in ontology.classes.names if ontology.is_subclass(each, wanted)]
        names = [way for each in known for way in ways(each)]
        listed = ", ".join(f"'{name}'" for name in names)
        return f"{self.subject} {'NOT ' if self.negated else ''}IN ({listed})"


def iri(name: str) -> str:
    return name if name.startswith("urn:") else f"urn:test:{name.removeprefix(':')}"


def ways(known: str) -> list[str]:
    """How an event may write a name of the ontology."""
    local = known.removeprefix("urn:test:")
    return [way.format(local) for way in SPELLINGS]


class World:
    """A random ontology, and events and expressions with its names."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.text = GraphWorld(self.random).ontology_text
        self.ontology = Ontology.parse(self.text)

    def extension(self) -> str:
        child, parent = self.random.choices(CLASSES, k=2)
        lower, upper = self.random.choices(("p0", "p1", "p2", "p3"), k=2)
        return (
            f"{PREFIXES}:{child} rdfs:subClassOf :{parent} .\n"
            f":{lower} rdfs:subPropertyOf :{upper} ."
        )

    def spelt(self, name: str) -> str:
        head, dot, last = name.rpartition(".")
        return head + dot + self.random.choice(SPELLINGS).format(last)

    def event(self) -> dict[str, Any]:
        """Attributes that are there or not, each of one kind wherever it stands."""
        found: dict[str, Any] = {}
        for name in self.random.sample(NAMES, self.random.randint(0, 7)):
            texts = name.startswith("s")
            value = self.random.choice("ab") if texts else self.random.choice(NUMBERS)
            found[name if name == "plain" else self.spelt(name)] = value
        if self.random.random() < 0.8:
            found["type"] = self.spelt(self.random.choice(CLASSES))
        return found

    def test(self, classes: list[str]) -> Any:
        random = self.random
        name = random.choice(NAMES)
        quoted = ".".join(f"`{each}`" for each in name.split("."))
        if random.random() < 0.3 and classes:
            wanted = self.spelt(random.choice(classes))
            return ClassTest("type", wanted, random.random() < 0.4)
        if name.startswith("s"):
            return random.choice((f"{name} = 'a'", f"{name} LIKE 'b%'", "s0 = s1", f"{name} > 'a'"))
        number = random.choice(NUMBERS)
        return random.choice(
            (
                f"{quoted} = {number}",
                f"{quoted} <> {number}",
                f"{quoted} < {number} AND {quoted} > 1",
                f"{quoted} IN (1, 3)",
                f"{quoted} IS NULL",
                f"{quoted} IS NOT NULL",
                f"{quoted} + p1 > {number}",
                f"p0 < {quoted}",
                f"({quoted} > {number}) IS NOT TRUE",
            )
        )

    def expression(self) -> list[Any]:
        """Pieces of text and class tests."""
        known = [name for name in CLASSES if f"urn:test:{name}" in self.ontology.classes]
        pieces: list[Any] = []
        for position in range(self.random.choice((1, 1, 2, 3))):
            if position:
                pieces.append(self.random.choice((" AND ", " OR ")))
            pieces += [self.random.choice(("(", "NOT (")), self.test(known), ")"]
        return pieces

    def record(self, id: str, pieces: list[Any]) -> dict[str, Any]:
        """A subscription, some of its classes given as parameters."""
        parameters: dict[str, str] = {}
        text = ""
        for place, piece in enumerate(pieces):
            if isinstance(piece, ClassTest) and self.random.random() < 0.5:
                parameters[f"k{place}"] = piece.name
                text += piece.said_of(f":k{place}")
            else:
                text += str(piece)
        return {"id": id, "expression": text, "parameters": parameters or None}


def readings(event: dict[str, Any], ontology: Ontology) -> Iterator[dict[str, Any]]:
    """One for each choice of a value for every name."""
    choices = []
    for name in NAMES:
        head, _, last = name.rpartition(".")
        wanted = iri(last)
        given_by = [
            value
            for other, value in event.items()
            if other.rpartition(".")[0] == head
            and (other == name or below(other, wanted, ontology))
        ]
        choices.append([(name, value) for value in given_by] or [(name, None)])
    for chosen in product(*choices):
        yield {"type": event.get("type"), **dict(chosen)}


def below(attribute: str, wanted: str, ontology: Ontology) -> bool:
    """Whether the ontology has the wanted property, and the attribute is it or below it."""
    is_known = wanted in ontology.properties
    return is_known and ontology.is_subproperty(iri(attribute.rpartition(".")[2]), wanted)


def defined(
    texts: dict[str, list[Any]], ontology: Ontology, events: list[dict[str, Any]], absent: Absent
) -> list[list[str]]:
    plain = Engine(matcher="brute-force", absent=absent)
    for id, pieces in texts.items():
        spelt = [p.spelt_out(ontology) if isinstance(p, ClassTest) else p for p in pieces]
        plain.subscribe("".join(spelt), id=id)
    return [
        sorted({id for reading in readings(event, ontology) for id in plain.match(reading)})
        for event in events
    ]


def check(engine: Engine, events: list[dict[str, Any]], expected: list[list[str]]) -> None:
    assert [engine.match(event) for event in events] == expected
    assert engine.match_batch(events) == expected
    names = sorted({name for event in events for name in event})
    table = pa.table({name: [event.get(name) for event in events] for name in names})
    found: list[list[str]] = [[] for _ in events]
    for row in engine.match_arrow(table).to_pylist():
        found[row["event"]].append(row["subscription"])
    if names:
        assert [sorted(ids) for ids in found] == expected
        assert engine.count_arrow(table).to_pylist() == [*map(len, expected)]
        at_most_one = engine.count_arrow(table, limit=1).to_pylist()
        assert [bool(count) for count in at_most_one] == [*map(bool, expected)]
    for event, ids in zip(events[:3], expected, strict=False):
        assert [id for id in engine if engine.explain(id, event).matched] == [
            id for id in engine if id in ids
        ]


@pytest.mark.parametrize("absent", ["fails", "passes"])
@pytest.mark.parametrize("matcher", ["columnar", "brute-force"])
@settings(max_examples=settings().max_examples // 2)
@given(seed=st.integers(0, 2**32))
def test_an_event_matches_what_one_of_its_readings_does(
    seed: int, matcher: str, absent: Absent
) -> None:
    world = World(seed)
    engine = Engine(matcher=matcher, absent=absent, ontology=world.ontology)
    texts = {f"{number:02}": world.expression() for number in range(12)}
    engine.subscribe_many([world.record(id, each) for id, each in texts.items()])
    events = [world.event() for _ in range(8)]
    check(engine, events, defined(texts, world.ontology, events, absent))

    wider = world.ontology.extend(world.extension())
    engine.change_ontology(wider)
    expected = defined(texts, wider, events, absent)
    check(engine, events, expected)
    check(Engine.from_bytes(engine.to_bytes()), events, expected)
