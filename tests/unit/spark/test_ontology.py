"""Engines that go by an ontology, compiled without a session."""

import pickle

from predicast import Engine
from predicast import spark as ps
from predicast.model.vocabulary import Vocabulary

PHONES = Vocabulary({}, {}, {"urn:cell": ("urn:phone",)})


def test_an_engine_is_compiled_with_its_ontology() -> None:
    engine = Engine(ontology=PHONES)
    engine.subscribe("phone = 1 AND x = 2", id="a")
    compiled = pickle.loads(pickle.dumps(ps.compile(engine)))
    assert compiled.attributes == ("phone", "x")
    assert compiled.given_by == {"phone": ("cell", "phone", "urn:cell", "urn:phone")}
    assert compiled.engine().match({"cell": 1, "x": 2}) == ["a"]


def test_without_one_each_attribute_gives_itself() -> None:
    compiled = ps.compile({"a": "phone = 1"})
    assert (compiled.given_by, compiled.vocabulary) == ({}, None)
