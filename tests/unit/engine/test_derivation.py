"""Which derived attributes an event gets."""

from predicast import Engine
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
