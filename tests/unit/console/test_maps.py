"""Regions and objects on a plane."""

from typing import Any
from xml.etree import ElementTree as ET

from predicast.broker.subscriptions import Subscriptions
from predicast.console.maps import Box, drawing, objects, plane_of, regions
from predicast.model import Interval
from predicast.protocol import Definition, NewEvent, Put


def held(*expressions: str) -> Subscriptions:
    subscriptions = Subscriptions()
    definitions = [Definition(f"s{n}", text) for n, text in enumerate(expressions)]
    subscriptions.apply([Put(each) for each in definitions])
    return subscriptions


def event(**attributes: Any) -> NewEvent:
    return NewEvent(b"", attributes, "1", "radar")


def test_a_region_bounds_both_attributes() -> None:
    subscriptions = held(
        "x BETWEEN 0 AND 10 AND y > 2 AND y <= 5 AND kind = 'tank'",
        "x BETWEEN 0 AND 10",
        "x = 3 AND y IN (1, 4)",
        "x BETWEEN 'a' AND 'b' AND y = 1",
        "colour = 'red' OR (x BETWEEN 1 AND 2 AND y BETWEEN 3 AND 4)",
    )
    assert {each.id: each.box for each in regions(subscriptions, "x", "y")} == {
        "s0": Box(0, 2, 10, 5),
        "s2": Box(3, 1, 3, 4),
        "s4": Box(1, 3, 2, 4),
    }
    assert len(regions(subscriptions, "x", "y", most=2)) == 2


def test_the_plane_is_what_subscriptions_speak_of() -> None:
    assert plane_of(held("lon < 3 AND lat > 4")) == ("lon", "lat")
    assert plane_of(held("price < 3")) == ("x", "y")


def test_the_latest_place_counts_and_the_others_are_the_trail() -> None:
    found = objects(
        [
            event(object="ferry", x=1, y=1),
            event(object="ferry", x=Interval(2, 4), y=Interval(1, 3)),
            event(x=5, y=6),
            event(object="lost", x=Interval(None, 4), y=1),
            event(object="odd", x="west", y=True),
            NewEvent(b"", "@prefix : <x:> .", "1", "graphs"),
        ],
        "x",
        "y",
    )
    assert [(each.name, each.box) for each in found] == [
        ("ferry", Box(2, 1, 4, 3)),
        ("radar", Box(5, 6, 5, 6)),
    ]
    assert found[0].trail == ((1, 1), (3, 2))


def test_a_dotted_name_leads_into_an_object() -> None:
    [found] = objects([event(at={"x": 1, "y": 2})], "at.x", "at.y")
    assert found.box == Box(1, 2, 1, 2)


def test_a_drawing_is_well_formed_whatever_is_said() -> None:
    name = "<script>alert('&\")</script>"
    subscriptions = held("x BETWEEN 0 AND 10 AND y BETWEEN 0 AND 5 AND kind = '<b>&'")
    moving = objects([event(object=name, x=3, y=4)], "x", "y")
    root = ET.fromstring(drawing(regions(subscriptions, "x", "y"), moving, "x", "<y>"))
    assert [each.tag for each in root] == ["rect", "polyline", "circle"]
    title = root[2][0].text
    assert title is not None
    assert title.startswith(name)


def test_without_anything_nothing_is_drawn() -> None:
    assert drawing([], [], "x", "y") == ""
