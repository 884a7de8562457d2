"""``subscribe_many``: what it takes, whose subscriptions become, and what it refuses by name."""

from typing import Any

import pyarrow as pa
import pytest

from predicast import Engine, Subscribe, attr
from predicast.errors import (
    DuplicateIdError,
    InvalidIdError,
    InvalidSubscriptionError,
    ParameterError,
    ParseError,
    PredicastError,
)

PAIRS: list[tuple[str, Any]] = [("a", "x < 1"), ("b", attr("x") < 2)]
RECORDS: list[dict[str, Any]] = [
    {"id": "a", "expression": "x < 1", "owner": "alice"},
    {"id": "b", "expression": "x < :most", "parameters": {"most": 2}, "owner": None},
]


@pytest.mark.parametrize(
    "given",
    [
        PAIRS,
        [list(pair) for pair in PAIRS],
        iter(PAIRS),
        dict(PAIRS),
        RECORDS,
        [RECORDS[0], PAIRS[1]],
        [Subscribe(*pair) for pair in PAIRS],
    ],
    ids=["pairs", "lists", "iterator", "mapping", "records", "both", "operations"],
)
def test_ways_to_give_them(given: Any) -> None:
    engine = Engine()
    engine.subscribe_many(given)
    assert list(engine) == ["a", "b"]
    assert engine.match({"x": 1}) == ["b"]
    assert engine.match({"x": 0}) == ["a", "b"]


def test_records_say_all_that_subscribe_takes() -> None:
    engine = Engine()
    engine.subscribe_many(RECORDS, owner="carol")
    assert [(e.id, e.owner, e.text, e.parameters) for e in engine.subscriptions()] == [
        ("a", "alice", "x < 1", None),
        ("b", "carol", "x < :most", {"most": 2}),
    ]
    engine.change("b", parameters={"most": 10})
    assert engine.match({"x": 9}) == ["b"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("ab", "not as 'ab'"),
        (["ab", "cd"], "record 0: .* not as 'ab'"),
        ([("a", "x < 1", "alice")], "record 0: .* not as"),
        ([PAIRS[0], ("b",)], "record 1: .* not as"),
        ([5], "record 0: .* not as 5"),
        (5, "not as 5"),
        (None, "not as None"),
        ([{"id": "a"}], "record 0: a record has 'expression'"),
        ([PAIRS[0], {"expression": "x < 1"}], "record 1: a record has 'id'"),
        ([{"id": "a", "expresion": "x < 1"}], "record 0: .*did you mean 'expression'"),
        ([{"id": "a", "expression": "x < 1", 7: 1}], "has no 7: it has id, expression"),
    ],
)
def test_what_is_no_subscription_is_refused_by_name(given: Any, words: str) -> None:
    engine = Engine()
    with pytest.raises(InvalidSubscriptionError, match=words):
        engine.subscribe_many(given)
    assert len(engine) == 0


@pytest.mark.parametrize(
    ("record", "error"),
    [
        ({"id": "b", "expression": "x <"}, ParseError),
        ({"id": "", "expression": "x < 1"}, InvalidIdError),
        ({"id": None, "expression": "x < 1"}, InvalidIdError),
        ({"id": "b" * 1_025, "expression": "x < 1"}, InvalidIdError),
        ({"id": "b", "expression": "x < 1", "owner": ""}, InvalidIdError),
        ({"id": "b", "expression": "x < :y", "parameters": {}}, ParameterError),
        ({"id": "taken", "expression": "x < 1"}, DuplicateIdError),
        ({"id": "a", "expression": "x < 1"}, DuplicateIdError),
    ],
)
def test_one_that_is_refused_refuses_all(record: Any, error: type[PredicastError]) -> None:
    engine = Engine()
    engine.subscribe("x > 5", id="taken")
    with pytest.raises(error):
        engine.subscribe_many([RECORDS[0], record])
    assert list(engine) == ["taken"]


@pytest.mark.parametrize("matcher", ["columnar", "poset"])
def test_replacing(matcher: str) -> None:
    engine = Engine(matcher=matcher)
    engine.subscribe("x = :x", id="a", owner="alice", parameters={"x": 1})
    engine.subscribe("x = 2", id="z")
    changes = engine.changes()
    engine.subscribe_many({"b": "x = 3", "a": "x = 4"}, owner="bob", replace=True)
    assert list(engine) == ["a", "z", "b"]  # what was there keeps its place
    assert [(e.owner, e.text, e.parameters) for e in engine.subscriptions()] == [
        ("bob", "x = 4", None),
        (None, "x = 2", None),
        ("bob", "x = 3", None),
    ]
    assert engine.match_batch([{"x": n} for n in range(1, 5)]) == [[], ["z"], ["b"], ["a"]]
    assert sorted({operation.id for operation in changes.take()}) == ["a", "b"]
    assert engine.subscribe("x = 1", id="a", replace=True) == "a"
    assert engine.get("a").owner is None
    assert engine.subscribe("x = 5", id="c", replace=True) == "c"
    with pytest.raises(DuplicateIdError):
        engine.subscribe("x = 1", id="a")


def test_an_owner_for_a_table_of_constraints() -> None:
    from predicast.language.arrow_form import SCHEMA

    row = {"id": "a", "clause": 0, "attribute": "x", "operator": "<", "int_value": 3}
    engine = Engine()
    engine.subscribe_arrow(pa.Table.from_pylist([row], SCHEMA), owner="alice")
    assert engine.get("a").owner == "alice"
    assert engine.get("a").text is None
    with pytest.raises(InvalidIdError):
        engine.subscribe_arrow(pa.Table.from_pylist([row | {"id": "b"}], SCHEMA), owner="")


@pytest.mark.parametrize("matcher", ["columnar", "counting"])
def test_unsubscribing_all_of_an_owner(matcher: str) -> None:
    engine = Engine(matcher=matcher)
    engine.subscribe_many({f"a{n}": f"x = {n}" for n in range(50)}, owner="alice")
    engine.subscribe("x = 1", id="b", owner="bob")
    engine.subscribe("x = 1", id="c")
    assert engine.unsubscribe_all(owner="alice") == 50
    assert engine.unsubscribe_all(owner="nobody") == 0
    assert list(engine) == ["b", "c"]
    assert engine.match({"x": 1}) == ["b", "c"]
