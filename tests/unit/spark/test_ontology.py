"""Engines that go by an ontology stay on one machine."""

import pytest

from predicast import Engine
from predicast import spark as ps
from predicast.errors import PipelineError
from predicast.model.vocabulary import Vocabulary


def test_an_engine_with_an_ontology_is_refused_and_not_misread() -> None:
    engine = Engine(ontology=Vocabulary({}, {}, {"urn:cell": ("urn:phone",)}))
    engine.subscribe("phone = 1", id="a")
    with pytest.raises(PipelineError, match="goes by an ontology"):
        ps.compile(engine)
