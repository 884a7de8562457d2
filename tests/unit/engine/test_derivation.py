"""Which derived attributes an event gets."""

from typing import Any

import pyarrow as pa
import pytest

from predicast import Engine, Interval
from predicast.engine.derivation import Derivation
from predicast.language import parse_where
from predicast.model import Event


def test_an_event_has_what_can_be_computed_from_it() -> None:
    engine = Engine()
    texts = ["lower(a) = 'x'", "coalesce(a, 'none') = 'none'", "b + c = 3", "lower(d) = 'y'"]
    texts.append("CASE WHEN b IS NULL THEN 'no b' ELSE lower(a) END = 'no b'")
    engine.subscribe_many(zip("stuvw", texts, strict=True))
    assert engine.match({"a": "X"}) == ["s", "w"]
    assert engine.match({"b": 1, "c": 2}) == ["t", "u"]
    assert engine.match({"b": 1}) == ["t"]
    assert engine.match({}) == ["t", "w"]
    assert engine.match({"d": "Y", "a": "X", "b": 1}) == ["s", "v"]


def test_what_an_event_has_under_such_a_name_is_not_seen() -> None:
    (name,) = parse_where("lower(a) = 'x'").attributes()
    derivation = Derivation([name])
    assert derivation.event(Event({name: "x"})) == Event({})
    assert derivation.event(Event({name: "q", "a": "X"})) == Event({name: "x", "a": "X"})


@pytest.mark.parametrize(
    "text",
    [
        "coalesce(CAST(x + 0 AS STRING), concat(x, '')) = 'abc'",
        "CASE WHEN x + 0 > 1 THEN 'q' ELSE concat(x, '') END = 'abc'",
        "CASE WHEN x = 'abc' THEN 'q' WHEN x + 0 = 1 THEN 'r' END = 'q'",
    ],
)
def test_what_takes_numbers_in_one_place_may_take_strings_in_another(text: str) -> None:
    engine = Engine()
    engine.subscribe(text, id="s")
    assert engine.match({"x": "abc"}) == ["s"]
    assert engine.match_arrow(pa.table({"x": ["abc", "d"]}))["event"].to_pylist() == [0]


def test_strings_and_numbers_of_one_attribute_are_told_apart() -> None:
    engine = Engine()
    engine.subscribe("CAST(x + 0 AS STRING) LIKE '1%'", id="number")
    engine.subscribe("lower(x) LIKE '1%'", id="string")
    values: list[Any] = ["12", 12, True, Interval(12, 12), 2, "A"]
    events = [{"x": value} for value in values]
    expected = [["string"], ["number"], [], [], [], []]
    assert [engine.match(event) for event in events] == expected
    assert engine.match_batch(events) == expected
    assert engine.match_batch(events[:1] * 8) == expected[:1] * 8
