"""A real ontology: Brick, of what is in buildings, and readings of sensors as events."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from predicast.graph import EventGraph, GraphPattern, Ontology, parse_pattern
from predicast.graph.matching import PatternDelta, graph_matcher_names, make_graph_matcher

WANTED = """
PREFIX : <urn:building:>
ASK {
    _:H :sensor ?sensor ; rdf:value ?value .
    ?sensor a brick:Temperature_Sensor ; brick:isPointOf ?unit .
    ?unit a brick:Air_Handling_Unit
    FILTER(?value > 30)
}
"""


@pytest.fixture(scope="module")
def brick() -> Ontology:
    found = find_spec("brickschema")  # not imported: only the file is of interest
    assert found is not None
    assert found.origin is not None
    return Ontology.parse(Path(found.origin).parent / "ontologies" / "1.5" / "Brick.ttl")


def reading(brick: Ontology, sensor: str, unit: str, value: float) -> EventGraph:
    text = f"""
        @prefix : <urn:building:> .
        @prefix brick: <{brick.prefixes["brick"]}> .
        @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
        _:H :sensor :s1 ; rdf:value {value} .
        :s1 a brick:{sensor} ; brick:isPointOf :u1 .
        :u1 a brick:{unit} .
    """
    return EventGraph.parse(text, brick)


def test_it_has_thousands_of_names(brick: Ontology) -> None:
    assert len(brick.classes) > 1_500
    assert len(brick.properties) > 150


@pytest.mark.parametrize("name", graph_matcher_names())
@pytest.mark.parametrize(
    ("sensor", "unit", "value", "is_match"),
    [
        ("Return_Air_Temperature_Sensor", "AHU", 31.5, True),
        ("Return_Air_Temperature_Sensor", "AHU", 29.5, False),
        ("Discharge_Air_Temperature_Sensor", "Rooftop_Unit", 30.5, True),
        ("Supply_Air_Static_Pressure_Sensor", "AHU", 31.5, False),
        ("Return_Air_Temperature_Sensor", "Boiler", 31.5, False),
    ],
)
def test_temperature_of_an_air_handler(
    brick: Ontology, name: str, sensor: str, unit: str, value: float, *, is_match: bool
) -> None:
    matcher = make_graph_matcher(name, brick)
    held: dict[int, GraphPattern] = {}
    matcher.apply(PatternDelta(added=[(7, parse_pattern(WANTED, brick))]), held.__getitem__)
    assert matcher.find(reading(brick, sensor, unit, value)) == ([7] if is_match else [], [])
