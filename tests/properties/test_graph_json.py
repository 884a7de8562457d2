"""The JSON form of graph patterns: what is written reads back, and nothing else gets through."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast import attr
from predicast.errors import JsonFormError
from predicast.graph import (
    HOME_VERTEX,
    Filter,
    GraphPattern,
    Literal,
    Ontology,
    StatementPattern,
    Variable,
    parse_pattern,
    pattern_from_json,
    pattern_to_json,
)
from predicast.testing.graphs import GraphWorld

STATEMENT = "$.alternatives[0].statements[0]"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["?x", "<urn:a>", "=", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["alternatives", "statements", "filters", "any", "left", "test", "facet"]),
        inner,
        max_size=3,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.integers(0, 2**32))
def test_patterns_read_back(seed: int) -> None:
    world = GraphWorld(Random(seed))
    ontology = Ontology.parse(world.ontology_text)
    for text in [
        *(world.sparql() for _ in range(10)),
        *(world.statements().text for _ in range(5)),
    ]:
        pattern = parse_pattern(text, ontology)
        assert pattern_from_json(pattern_to_json(pattern)) == pattern


@given(st.text(), st.text(min_size=1))
def test_any_literal_and_any_operand_read_back(text: str, operand: str) -> None:
    pattern = GraphPattern.of(
        StatementPattern(HOME_VERTEX, "urn:p", Literal(text)),
        StatementPattern(HOME_VERTEX, "urn:p", Literal(text, language="en")),
        StatementPattern(HOME_VERTEX, "urn:q", Variable("x")),
        Filter.of((attr("?x") == operand) | attr("str(?x)").contains(operand)),
        selected=[Variable("x")],
    )
    assert pattern_from_json(pattern_to_json(pattern)) == pattern


@given(JSON)
def test_any_other_json_is_refused(document: Any) -> None:
    for each in (document, [document], [{"filters": [document]}]):
        try:
            pattern_from_json(json.dumps({"alternatives": each}))
        except JsonFormError:
            continue


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({}, "$"),
        ({"alternatives": 5}, "$.alternatives"),
        ({"alternatives": [], "selected": ["x"]}, "$.selected[0]"),
        ({"alternatives": [], "injective": 1}, "$.injective"),
        ({"alternatives": [{"statements": [["?x", "urn:p"]]}]}, STATEMENT),
        ({"alternatives": [{"statements": [["x", "p", "?y"]]}]}, STATEMENT),
        ({"alternatives": [{"statements": [['"x"', "p", "?y"]]}]}, STATEMENT),
        ({"alternatives": [{"statements": [["?x", "p", '"\\q"']]}]}, STATEMENT),
        ({"alternatives": [{"statements": [["?x", "urn:p", "?y"]]}]}, "$"),
        ({"alternatives": [{"filters": [{"any": 5}]}]}, "$.alternatives[0].filters[0].any"),
        ({"alternatives": [{"filters": [{"left": "?x", "operator": "in", "right": "?y"}]}]},
         "$.alternatives[0].filters[0].operator"),
        ({"alternatives": [{"filters": [{"variable": "?x", "facet": "size", "test": {}}]}]},
         "$.alternatives[0].filters[0].facet"),
        ({"alternatives": [{"filters": [{"variable": "?x", "facet": "value", "test": {}}]}]},
         "$.alternatives[0].filters[0].test"),
    ],
)  # fmt: skip
def test_refused(document: Any, path: str) -> None:
    with pytest.raises(JsonFormError) as caught:
        pattern_from_json(json.dumps(document))
    assert caught.value.path == path
