"""Subscriptions in a dialect: kept as they were written, wherever they go."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from predicast import Change, Engine, Subscribe
from predicast.engine import snapshot
from predicast.errors import (
    DamagedSnapshotError,
    EngineError,
    LanguageError,
    ParseError,
    UnknownDialectError,
)
from predicast.graph import GraphEngine, Ontology
from predicast.language import dialect_registry as registry
from predicast.language import parse_where
from predicast.matching import matcher_names
from tests import wish_list  # registers

RED = "# title: red and heavy\ncolour is red\nweight over 5"
SAME = parse_where("colour = 'red' AND weight > 5")
ROUND = "not shape is round"
EVENT = {"colour": "red", "weight": 7, "shape": "round"}


def written(engine: Engine) -> list[tuple[str, str | None, str | None]]:
    return [(entry.id, entry.text, entry.dialect) for entry in engine.subscriptions()]


def three() -> Engine:
    engine = Engine()
    engine.subscribe(RED, id="red", dialect="wishes", owner="alice")
    engine.subscribe("weight > 5", id="heavy")
    engine.subscribe(ROUND, id="edged", dialect="wishes")
    return engine


THREE = [("red", RED, "wishes"), ("heavy", "weight > 5", None), ("edged", ROUND, "wishes")]


def test_a_text_of_a_dialect_is_a_subscription_like_any_other() -> None:
    engine = three()
    assert engine.match(EVENT) == ["heavy", "red"]
    assert engine.match({"weight": 1}) == ["edged"]
    entry = engine.get("red")
    assert entry.subscription == SAME
    assert (entry.text, entry.dialect, entry.owner) == (RED, "wishes", "alice")
    assert entry.about == {"title": "red and heavy"}
    assert engine.get("heavy").about == {}


@pytest.mark.parametrize("matcher", matcher_names())
def test_every_matcher_takes_it(matcher: str) -> None:
    engine = Engine(matcher=matcher)
    engine.subscribe("colour is red\nweight over 5", id="red", dialect="wishes")
    assert engine.match(EVENT) == ["red"]
    assert engine.match({**EVENT, "weight": 5}) == []


def test_where_may_be_named() -> None:
    engine = Engine()
    engine.subscribe("x < :most", id="a", dialect="where", parameters={"most": 3})
    engine.subscribe_many([{"id": "b", "expression": "x < 3", "dialect": "where"}])
    assert written(engine) == [("a", "x < :most", None), ("b", "x < 3", None)]
    engine.change("a", parameters={"most": 1})
    assert engine.match({"x": 2}) == ["b"]


@pytest.mark.parametrize("replace", [False, True])
def test_many_at_once(replace: bool) -> None:
    engine = Engine()
    records: list[Any] = [
        ("red", RED),
        {"id": "heavy", "expression": "weight > 5", "dialect": "where"},
        {"id": "edged", "expression": ROUND, "dialect": None},
    ]
    engine.subscribe_many(records, dialect="wishes", replace=replace)
    assert written(engine) == THREE
    assert engine.match(EVENT) == ["heavy", "red"]


def test_many_are_refused_together() -> None:
    engine = Engine()
    with pytest.raises(ParseError, match="line 1, column 1") as refused:
        engine.subscribe_many([("a", RED), ("b", "nonsense")], dialect="wishes")
    assert "in the subscription 'b'" in refused.value.__notes__
    assert not len(engine)


def test_a_change_names_the_dialect_of_its_text() -> None:
    engine = three()
    engine.change("heavy", "weight over 9", dialect="wishes")
    engine.change("edged", "shape <> 'round'")
    assert written(engine) == [
        ("red", RED, "wishes"),
        ("heavy", "weight over 9", "wishes"),
        ("edged", "shape <> 'round'", None),
    ]
    with pytest.raises(EngineError, match="has an expression of it"):
        engine.change("red", dialect="wishes")


def test_what_is_gone_leaves_no_dialect_behind() -> None:
    engine = three()
    engine.unsubscribe("red")
    engine.subscribe("weight > 1", id="another")  # under the key that has become free
    engine.subscribe("weight > 1", id="edged", replace=True)
    assert {each.dialect for each in engine.subscriptions()} == {None}


def test_windows() -> None:
    engine = Engine()
    report = engine.apply(
        [
            Subscribe("red", RED, "alice", dialect="wishes"),
            Subscribe("bad", "nonsense", dialect="wishes"),
            Subscribe("worse", RED, dialect="wish"),
            Subscribe("heavy", "x = 1"),
            Change("heavy", "weight over 5", dialect="wishes"),
        ],
        on_refusal="report",
    )
    assert [each.position for each in report.refused] == [1, 2]
    assert isinstance(report.refused[1].error, UnknownDialectError)
    assert written(engine) == [("red", RED, "wishes"), ("heavy", "weight over 5", "wishes")]


def test_a_follower_makes_an_equal_engine() -> None:
    engine, other = three(), Engine()
    other.subscribe_many([(entry.id, entry.subscription) for entry in engine.subscriptions()])
    changes = engine.changes()
    engine.change("heavy", "weight over 9", dialect="wishes")
    engine.subscribe(RED, id="new", dialect="wishes:any")
    engine.subscribe(RED, id="red", dialect="wishes", replace=True, owner="bob")
    taken = changes.take()
    other.apply(taken)
    for id in ("heavy", "new", "red"):
        assert other.get(id) == engine.get(id)


def test_the_dialect_is_known_again_after_a_snapshot(tmp_path: Path) -> None:
    engine = three()
    engine.save(tmp_path / "engine")
    for other in (Engine.load(tmp_path / "engine"), copy.deepcopy(engine)):
        assert other.subscriptions() == engine.subscriptions()
        assert Engine.from_bytes(other.to_bytes()).subscriptions() == engine.subscriptions()
        other.subscribe("x = 1", id="red", replace=True)
        assert other.get("red").dialect is None
        assert other.get("edged").dialect == "wishes"


def test_a_snapshot_without_dialects_says_nothing_of_them() -> None:
    engine = Engine()
    engine.subscribe("weight > 5")
    assert b"dialects" not in engine.to_bytes()


def test_a_snapshot_with_a_dialect_of_nothing_is_damaged() -> None:
    saved = three()._taken_apart()
    saved.sources.set_dialect(1_000, "wishes")
    with pytest.raises(DamagedSnapshotError, match="'wishes' that are not there"):
        Engine.from_bytes(snapshot.to_bytes(saved))


def test_only_where_names_classes() -> None:
    engine = Engine(ontology=Ontology.parse("@prefix : <urn:x:> . :A a <urn:owl:Class> ."))
    text = "name is IS A"
    engine.subscribe(text, id="a", dialect="wishes")
    engine.change_ontology(Ontology.parse(""))
    assert (engine.get("a").text, engine.get("a").dialect) == (text, "wishes")


def test_graphs_have_a_language_of_their_own() -> None:
    engine = GraphEngine(Ontology.parse(""))
    with pytest.raises(LanguageError, match="'wishes' is about attributes"):
        engine.apply([Subscribe("a", RED, dialect="wishes")])


# Explanations.


def lines(engine: Engine, id: str, event: dict[str, Any]) -> list[str]:
    return str(engine.explain(id, event)).splitlines()


def test_an_explanation_is_in_the_words_of_the_dialect() -> None:
    engine = three()
    assert lines(engine, "red", {"colour": "red", "weight": 3}) == [
        "red: did not match",
        "  ✗ AND",
        "    ✓ colour is red    saw 'red'",
        "    ✗ weight over 5    saw 3",
    ]
    assert lines(engine, "edged", {}) == [
        "edged: matched",
        "  ✓ AND",
        "    ✓ NOT",
        "      ✗ shape is round    saw absent",
    ]


def test_where_the_dialect_is_not_known_the_conditions_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = three()
    monkeypatch.setattr(registry, "_dialects", {})
    expected = ["  ✗ AND", "    ✓ colour = 'red'    saw 'red'", "    ✗ weight > 5    saw 3"]
    assert lines(engine, "red", {"colour": "red", "weight": 3})[1:] == expected
    with pytest.raises(UnknownDialectError, match="'wishes'"):
        engine.get("red").about  # noqa: B018  # a property


def test_where_the_dialect_reads_otherwise_now_the_conditions_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = three()
    monkeypatch.setitem(registry._dialects, "wishes", wish_list.Wishes(any_will_do=True))
    assert lines(engine, "red", EVENT)[2] == "    ✓ colour = 'red'    saw 'red'"
