"""``Engine.apply``, parameters, ``changes``: what they do, and that refusals change nothing."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from itertools import repeat
from typing import Any

import pyarrow as pa
import pytest

from predicast import Change, Engine, Event, Subscribe, Unsubscribe, attr
from predicast.engine.operations import Operation
from predicast.errors import (
    DuplicateIdError,
    EngineError,
    InvalidIdError,
    InvalidOptionError,
    InvalidParameterError,
    LanguageError,
    MissingParameterError,
    ParameterError,
    ParseError,
    PredicastError,
    UnknownIdError,
    UnknownParameterError,
    UnsupportedByMatcherError,
    WindowTooLargeError,
)
from predicast.language import parse_where
from predicast.matching import matcher_names, registry
from predicast.matching.brute_force import BruteForce
from predicast.model import Subscription

REGION = "x BETWEEN :x1 AND :x2 AND kind = :k"
EVENTS: list[dict[str, Any]] = [
    {"x": x, "kind": kind, "s": "abc"} for x in (0, 1, 1.5, 2, 3, 5, 99) for kind in ("t", "u")
]


@pytest.fixture(params=["columnar", "brute-force", "poset"])
def engine(request: pytest.FixtureRequest) -> Engine:
    engine = Engine(matcher=request.param)
    engine.subscribe("x < 2", id="plain", owner="me")
    engine.subscribe(REGION, id="region", parameters={"x1": 1, "x2": 3, "k": "t"})
    engine.subscribe("s LIKE :p AND x IN (:a, 5)", id="made", parameters={"p": "a%", "a": 1})
    engine.subscribe_many((f"bulk-{n}", f"x = {n % 7} AND y < {n}") for n in range(40))
    region: dict[str, Any] = {"x1": 0, "x2": 1, "k": "u"}
    engine.apply(Subscribe(f"moving-{n}", REGION, parameters=region) for n in range(40))
    return engine


def everything(engine: Engine) -> list[Any]:
    """All that can be seen from outside, and what comes to light only later."""
    batch = pa.table({"x": [1, 2, 5], "kind": ["t", "u", "t"]})
    found = engine.match_arrow(batch).to_pydict()
    ids = {key: id for id, key in engine._store.ids.items()}
    templates = engine._store.templates.written()
    return [
        list(engine),
        engine.subscriptions(),
        engine.attributes(),
        engine.statistics()["subscriptions"],
        [engine.match(event) for event in EVENTS],
        engine.match_batch(EVENTS),
        sorted(zip(found["event"], found["subscription"], strict=True)),
        engine.count_arrow(batch).to_pylist(),
        sorted((ids[key], text, values or "") for key, text, values in templates),
        engine._store.fresh_id(),
    ]


BAD: list[tuple[str, list[Any], type[PredicastError]]] = [
    ("unknown id: change", [Change("nobody", "TRUE")], UnknownIdError),
    ("unknown id: parameters", [Change("nobody", parameters={"x1": 1})], UnknownIdError),
    ("unknown id: unsubscribe", [Unsubscribe("nobody")], UnknownIdError),
    ("unknown id: no string", [Unsubscribe(5)], UnknownIdError),  # type: ignore[arg-type]
    ("unknown id: no hash", [Unsubscribe([])], UnknownIdError),  # type: ignore[arg-type]
    ("unknown id: change, no hash", [Change({}, parameters={"x1": 1})], UnknownIdError),  # type: ignore[arg-type]
    ("unknown id: gone in this window", [Unsubscribe("plain"), Change("plain", "TRUE")],
     UnknownIdError),
    ("unknown id: came and went", [Subscribe("a", "TRUE"), Unsubscribe("a"), Unsubscribe("a")],
     UnknownIdError),
    ("unknown id: parameters of one that is gone",
     [Unsubscribe("region"), Change("region", parameters={"x1": 2})], UnknownIdError),
    ("unknown id: parameters after parameters, gone in between",
     [Change("region", parameters={"x1": 2}), Unsubscribe("region"),
      Change("region", parameters={"x1": 2})], UnknownIdError),
    ("duplicate id: held", [Subscribe("plain", "TRUE")], DuplicateIdError),
    ("duplicate id: twice in the window", [Subscribe("a", "TRUE"), Subscribe("a", "FALSE")],
     DuplicateIdError),
    ("duplicate id: again, twice",
     [Unsubscribe("plain"), Subscribe("plain", "TRUE"), Subscribe("plain", "x = 1")],
     DuplicateIdError),
    ("duplicate id: has moved", [Change("region", parameters={"x1": 2}), Subscribe("region", "x")],
     DuplicateIdError),
    ("missing parameter", [Subscribe("a", REGION, parameters={"x1": 1, "k": "t"})],
     MissingParameterError),
    ("missing parameter: all", [Subscribe("a", REGION)], PredicastError),
    ("missing parameter: change", [Change("region", "x = :a", parameters={})],
     MissingParameterError),
    ("extra parameter", [Subscribe("a", "x = :a", parameters={"a": 1, "b": 2})],
     UnknownParameterError),
    ("extra parameter: of a text without any", [Subscribe("a", "x = 1", parameters={"b": 2})],
     UnknownParameterError),
    ("extra parameter: change", [Change("region", parameters={"x1": 1, "x3": 2})],
     UnknownParameterError),
    ("extra parameter: no string", [Change("region", parameters={5: 2})],  # type: ignore[dict-item]
     UnknownParameterError),
    ("parameters for what has none", [Change("plain", parameters={"x1": 1})], EngineError),
    ("parameters for what has none any more",
     [Change("region", "x = 1"), Change("region", parameters={"x1": 1})], EngineError),
    ("parameters of a JSON form", [Subscribe("a", {"any": []}, parameters={})], LanguageError),
    ("wrong type: string for a number", [Change("region", parameters={"x1": "one"})],
     InvalidParameterError),
    ("wrong type: truth value", [Change("region", parameters={"x2": True})], InvalidParameterError),
    ("wrong type: nothing", [Change("region", parameters={"x2": None})],  # type: ignore[dict-item]
     InvalidParameterError),
    ("wrong type: a list", [Change("made", parameters={"a": [1]})],  # type: ignore[dict-item]
     InvalidParameterError),
    ("wrong type: number for a pattern", [Change("made", parameters={"p": 1})],
     InvalidParameterError),
    ("wrong type: in a set of numbers", [Change("made", parameters={"a": "x"})],
     InvalidParameterError),
    ("wrong type: not finite", [Change("region", parameters={"x1": math.nan})],
     InvalidParameterError),
    ("wrong type: infinite", [Change("region", parameters={"x1": math.inf})],
     InvalidParameterError),
    ("wrong type: too long", [Change("region", parameters={"x1": 10**400})],
     InvalidParameterError),
    ("wrong type: after a good one",
     [Change("region", parameters={"x1": 2}), Change("region", parameters={"x2": "two"})],
     InvalidParameterError),
    ("wrong type: when subscribing", [Subscribe("a", REGION, parameters=dict.fromkeys("x", 1))],
     ParameterError),
    ("no mapping", [Change("region", parameters=[("x1", 1)])], ParameterError),  # type: ignore[arg-type]
    ("no mapping: number", [Change("region", parameters=7)], ParameterError),  # type: ignore[arg-type]
    ("no mapping: with an expression", [Change("region", REGION, parameters=[1])],  # type: ignore[arg-type]
     ParameterError),
    ("a change of nothing", [Change("region")], EngineError),
    ("a change of no parameters", [Change("region", parameters={})], EngineError),
    ("no operation: text", ["nonsense"], EngineError),
    ("no operation: nothing", [None], EngineError),
    ("no operation: a class", [Subscribe], EngineError),
    ("invalid id", [Subscribe("", "TRUE")], InvalidIdError),
    ("invalid id: no string", [Subscribe(5, "TRUE")], InvalidIdError),  # type: ignore[arg-type]
    ("invalid id: no hash", [Subscribe([], "TRUE")], InvalidIdError),  # type: ignore[arg-type]
    ("invalid id: surrogate", [Subscribe("\ud800", "TRUE")], InvalidIdError),
    ("invalid owner", [Subscribe("a", "TRUE", "")], InvalidIdError),
    ("invalid owner: no string", [Subscribe("a", "TRUE", 5)], InvalidIdError),  # type: ignore[arg-type]
    ("no expression", [Subscribe("a", "x <")], ParseError),
    ("no expression: number", [Change("plain", 7)], LanguageError),
]  # fmt: skip

GOOD: list[Operation] = [
    Change("plain", "x = 99"),
    Change("made", parameters={"a": 3}),
    Change("moving-3", parameters={"x1": 1, "x2": 3}),
    Subscribe("new", REGION, parameters={"x1": 0, "x2": 9, "k": "u"}),
    Unsubscribe("bulk-5"),
]


@pytest.mark.parametrize(("bad", "error"), [each[1:] for each in BAD], ids=[e[0] for e in BAD])
def test_a_refused_operation_refuses_the_window(
    engine: Engine, bad: list[Any], error: type[PredicastError]
) -> None:
    before = everything(engine)
    for window in (bad, [*GOOD, *bad], [*GOOD[2:], *bad, *GOOD[:2]]):
        with pytest.raises(error):
            engine.apply(window)
        assert everything(engine) == before
    engine.apply(GOOD)  # and it is none the worse for it
    assert engine.match({"x": 99}) == ["plain"]


@pytest.mark.parametrize(("bad", "error"), [each[1:] for each in BAD], ids=[e[0] for e in BAD])
def test_a_refused_operation_is_reported_and_the_others_run(
    engine: Engine, bad: list[Any], error: type[PredicastError]
) -> None:
    twin = Engine.from_bytes(engine.to_bytes(), matcher="brute-force")
    for operation in [*bad[:-1], *GOOD]:
        try:
            twin.apply([operation])
        except EngineError:  # what was good may be so no more
            continue
    report = engine.apply([*bad, *GOOD], on_refusal="report")
    first = report.refused[0]
    assert isinstance(first.error, error)
    assert (first.position, first.operation) == (len(bad) - 1, bad[-1])
    assert report.given == len(bad) + len(GOOD) == sum(report[1:5]) + len(report.refused)
    assert everything(engine)[:3] == everything(twin)[:3]
    assert everything(engine)[4:9] == everything(twin)[4:9]


@pytest.mark.parametrize("on_refusal", ["raise", "report"])
def test_a_window_over_its_limit(
    engine: Engine, on_refusal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(engine)
    monkeypatch.setattr(Engine, "max_window", 5)
    with pytest.raises(WindowTooLargeError) as caught:
        engine.apply(repeat(Change("plain", "x = 99")), on_refusal=on_refusal)  # without end
    assert (caught.value.limit, caught.value.actual) == (5, 6)
    assert everything(engine) == before
    assert engine.apply([Change("plain", "x = 99")] * 5).given == 5


def test_how_refusals_are_handled_is_one_of_two_ways(engine: Engine) -> None:
    before = everything(engine)
    with pytest.raises(InvalidOptionError) as caught:
        engine.apply([Unsubscribe("plain")], on_refusal="ignore")  # type: ignore[arg-type]
    assert caught.value.option == "on_refusal"
    assert everything(engine) == before


def test_operations_that_break_off_change_nothing(engine: Engine) -> None:
    def breaking() -> Iterator[Operation]:
        yield Unsubscribe("plain")
        raise OSError("the line is dead")

    before = everything(engine)
    with pytest.raises(OSError, match="dead"):
        engine.apply(breaking())
    assert everything(engine) == before


def test_an_error_says_which_operation_it_was(engine: Engine) -> None:
    with pytest.raises(UnknownIdError) as caught:
        engine.apply([*GOOD, Unsubscribe("nobody")])
    assert caught.value.__notes__ == ["operation 5 of the window"]


@pytest.mark.parametrize(("bad", "error"), [
    (lambda e: e.change("region"), EngineError),
    (lambda e: e.change("region", parameters={}), EngineError),
    (lambda e: e.change("region", parameters={"x1": "a"}), InvalidParameterError),
    (lambda e: e.change("nobody", parameters={"x1": 1}), UnknownIdError),
    (lambda e: e.change("plain", parameters={"x1": 1}), EngineError),
    (lambda e: e.subscribe(REGION, parameters={"x1": 1}), MissingParameterError),
    (lambda e: e.subscribe(REGION, id="plain", parameters={"x1": 1, "x2": 2, "k": "t"}),
     DuplicateIdError),
])  # fmt: skip
def test_a_refused_call_changes_nothing(engine: Engine, bad: Any, error: Any) -> None:
    before = everything(engine)
    with pytest.raises(error):
        bad(engine)
    assert everything(engine) == before


# What a window does.


@pytest.mark.parametrize("name", matcher_names())
def test_the_report_says_what_became_of_the_operations(name: str) -> None:
    engine = Engine(matcher=name)
    window: list[Operation] = [
        Subscribe("a", "x = 1"),
        Change("a", "x = 2"),
        Subscribe("b", "x = 3"),
        Unsubscribe("b"),
        Subscribe("c", "x < :c", parameters={"c": 4}),
        Change("c", parameters={"c": 5}),
    ]
    report = engine.apply(window)
    assert (report.given, report.collapsed, report.refused) == (6, 4, ())
    assert report.shared + report.in_place + report.restructured == 2
    report = engine.apply([Change("c", parameters={"c": value}) for value in range(10)])
    assert (report.given, report.collapsed) == (10, 9)
    assert engine.apply([]) == (0, 0, 0, 0, 0, ())


def test_ids_stand_in_the_order_of_arrival(engine: Engine) -> None:
    engine.apply([
        Change("plain", "x = 1"),
        Subscribe("new", "x = 1"),
        Unsubscribe("plain"),
        Subscribe("plain", "x = 2"),
        Unsubscribe("made"),
        Subscribe("newer", "x = 1"),
        Subscribe("made", "x = 1"),
        Subscribe("gone", "x = 1"),
        Unsubscribe("gone"),
    ])  # fmt: skip
    assert list(engine)[-4:] == ["new", "plain", "newer", "made"]
    assert next(iter(engine)) == "region"


def test_one_that_arrives_anew_has_another_owner(engine: Engine) -> None:
    engine.apply([Unsubscribe("plain"), Subscribe("plain", "x < 2", "you")])
    assert engine.get("plain").owner == "you"
    engine.apply([Unsubscribe("plain"), Subscribe("plain", "x < 2")])
    assert engine.get("plain").owner is None


def test_ids_that_came_and_went_in_a_window_are_not_made_up_again() -> None:
    engine = Engine()
    engine.apply([Subscribe("s1", "x = 1"), Unsubscribe("s1")])
    assert engine.subscribe("x = 1") == "s2"


# Matchers that refuse.


class Below100(BruteForce):
    """Brute force that refuses numbers of 100 and more."""

    name = "below-100"

    def subscribe(self, key: int, subscription: Subscription) -> None:
        _check(subscription)
        super().subscribe(key, subscription)

    def change(self, key: int, subscription: Subscription) -> None:
        _check(subscription)
        super().change(key, subscription)


def _check(subscription: Subscription) -> None:
    for constraint in subscription.constraints():
        if isinstance(constraint.operand, int) and constraint.operand >= 100:
            raise UnsupportedByMatcherError("too large", matcher=Below100.name)


@pytest.fixture
def choosy(monkeypatch: pytest.MonkeyPatch) -> Engine:
    # Not registered for good: tests of all matchers would find it among them.
    monkeypatch.setitem(registry._MATCHERS, Below100.name, Below100)
    engine = Engine(matcher=Below100.name)
    engine.subscribe("x < :a", id="a", parameters={"a": 2}, owner="me")
    engine.subscribe("x = 3", id="b")
    return engine


REFUSED: list[Operation] = [
    Change("b", "x = 4"),
    Change("a", parameters={"a": 100}),
    Subscribe("c", "x = 100"),
    Subscribe("d", "x = 5"),
    Change("c", "x = 7"),
    Change("a", parameters={"a": 3}),
    Change("b", "x = 100"),
    Unsubscribe("d"),
    Subscribe("e", "x = 6"),
]


def test_a_matcher_that_refuses_refuses_the_window(choosy: Engine) -> None:
    before = everything(choosy)
    for last in (Change("a", parameters={"a": 100}), Subscribe("c", "x = 100")):
        with pytest.raises(UnsupportedByMatcherError):
            choosy.apply([Change("b", "x = 4"), Subscribe("e", "x = 6"), Unsubscribe("b"), last])
        assert everything(choosy) == before


def test_what_a_matcher_refuses_is_reported_and_the_others_run(choosy: Engine) -> None:
    changes = choosy.changes()
    report = choosy.apply(REFUSED, on_refusal="report")
    errors = {each.position: type(each.error) for each in report.refused}
    refused = UnsupportedByMatcherError
    assert errors == {1: refused, 2: refused, 4: UnknownIdError, 6: refused}
    assert all(each.operation is REFUSED[each.position] for each in report.refused)
    assert report.given == len(REFUSED) == sum(report[1:5]) + len(report.refused)
    assert [(each.id, each.owner) for each in choosy.subscriptions()] == [
        ("a", "me"),
        ("b", None),
        ("e", None),
    ]
    assert choosy.match_batch([{"x": x} for x in (2, 3, 4, 6)]) == [["a"], [], ["b"], ["e"]]
    choosy.change("a", parameters={"a": 4})  # of which nothing is left but the value
    assert choosy.match({"x": 3}) == ["a"]
    assert {each.id for each in changes.take()} == {"a", "b", "e"}


def test_a_net_effect_that_the_matcher_takes_is_not_refused(choosy: Engine) -> None:
    report = choosy.apply([Change("b", "x = 100"), Change("b", "x = 50")], on_refusal="report")
    assert report.refused == ()
    assert choosy.match({"x": 50}) == ["b"]


# Parameters.


@pytest.mark.parametrize("name", matcher_names())
@pytest.mark.parametrize(("text", "steps"), [
    ("x < :a", [{"a": 2.5}, {"a": 2.0}, {"a": 3}, {"a": 0.5}, {"a": -0.0}]),
    ("x BETWEEN :a AND :b", [{"a": 1, "b": 5}, {"a": 1.5}, {"b": 4.5}, {"a": 2}, {"b": 1}]),
    ("x IN (:a, :b, 3)", [{"a": 1, "b": 5}, {"a": 5}, {"b": 3}, {"a": 1.5, "b": 2}]),
    ("x NOT IN (:a)", [{"a": 1}, {"a": 5.0}]),
    ("s LIKE :p", [{"p": "a%"}, {"p": "%b"}, {"p": "a_"}, {"p": ""}]),
    ("s LIKE :p AND x > :a", [{"p": "a%", "a": 1}, {"a": 2.5}, {"p": "b%"}, {"a": 1, "p": "%"}]),
    ("s RLIKE :p", [{"p": "^a"}, {"p": "b$"}]),
    ("x >= :a AND y <= :a", [{"a": 1}, {"a": 2}, {"a": 1.5}]),
    ("x = :a OR y = :a", [{"a": 1}, {"a": 5}, {"a": "t"}, {"a": 2}]),
    ("NOT (x < :a OR y > :b)", [{"a": 1, "b": 2}, {"a": 2}, {"b": 0.5}]),
    ("NOT (x = :a AND NOT s = :p)", [{"a": 1, "p": "ab"}, {"p": "b"}, {"a": 5}]),
    ("x = :a", [{"a": 1}, {"a": "ab"}, {"a": True}, {"a": 1.5}]),
    ("x BETWEEN :a AND :b", [{"a": 1, "b": 5}, {"a": "a", "b": "b"}, {"a": 0, "b": 1}]),
    ("x > :a AND FALSE", [{"a": 1}, {"a": 2}]),
])  # fmt: skip
def test_new_values_are_as_new_literals(name: str, text: str, steps: list[dict[str, Any]]) -> None:
    events = [{"x": x, "y": y, "s": s} for x in (0, 1, 1.5, 2, 5, "ab", True) for y in (1, 2)
              for s in ("ab", "b", "")]  # fmt: skip
    engine, window = Engine(matcher=name), Engine(matcher=name)
    values: dict[str, Any] = {}
    for number, step in enumerate(steps):
        values |= step
        if number:
            engine.change("a", parameters=step)
            window.apply([Change("a", parameters={key: value}) for key, value in step.items()]
                         if len(step) == 1 else [Change("a", parameters=step)])  # fmt: skip
        else:
            engine.subscribe(text, id="a", parameters=step)
            window.subscribe(text, id="a", parameters=step)
        literals = text
        for key, value in values.items():
            shown = f"'{value}'" if isinstance(value, str) else str(value).upper()
            literals = literals.replace(f":{key}", shown)
        expected = parse_where(literals)
        right = [["a"] if expected.matches(Event(event)) else [] for event in events]
        assert engine.match_batch(events) == window.match_batch(events) == right
        assert engine.get("a") == window.get("a")


def test_a_number_for_one_of_two_strings_is_refused_in_its_turn() -> None:
    """Together the two would be right; one by one, the first is not, and the second is not."""
    engine = Engine()
    engine.subscribe("x BETWEEN :a AND :b", id="a", parameters={"a": "k", "b": "l"})
    window = [Change("a", parameters={"a": 1}), Change("a", parameters={"b": 2})]
    with pytest.raises(InvalidParameterError):
        engine.apply(window)
    assert len(engine.apply(window, on_refusal="report").refused) == 2
    assert engine.match({"x": "kk"}) == ["a"]
    engine.change("a", parameters={"a": 1, "b": 2})
    assert engine.match({"x": 2}) == ["a"]


def test_values_are_the_callers_to_change_afterwards() -> None:
    engine = Engine()
    values: dict[str, Any] = {"p": "a%", "a": 1}
    engine.subscribe("s LIKE :p AND x = :a", id="a", parameters=values)
    values["p"] = "b%"
    engine.change("a", parameters={"a": 2})
    assert engine.match({"s": "ab", "x": 2}) == ["a"]


# The net effect.


def test_the_net_effect_is_one_operation_per_subscription(engine: Engine) -> None:
    changes = engine.changes()
    assert changes.take() == []
    engine.subscribe("x = 1", id="came and went")
    engine.unsubscribe("came and went")
    for value in range(5):
        engine.change("region", parameters={"x1": value})
    engine.change("plain", "x = 8")
    engine.unsubscribe("plain")
    engine.subscribe("x = 9", id="new", owner="me")
    engine.change("new", "x = 10")
    assert changes.take() == [
        Change("region", engine.get("region").text, engine.get("region").parameters),
        Unsubscribe("plain"),
        Subscribe("new", "x = 10", "me"),
    ]
    assert changes.take() == []


def test_another_owner_is_another_subscription(engine: Engine) -> None:
    changes = engine.changes()
    engine.apply([Unsubscribe("plain"), Subscribe("plain", "x = 8", "you")])
    assert changes.take() == [
        Unsubscribe("plain"),
        Subscribe("plain", "x = 8", "you"),
    ]


def test_what_is_refused_is_no_change(engine: Engine) -> None:
    changes = engine.changes()
    with pytest.raises(UnknownIdError):
        engine.apply([*GOOD, Unsubscribe("nobody")])
    assert changes.take() == []


def test_two_followers_follow_apart(engine: Engine) -> None:
    first = engine.changes()
    engine.change("plain", "x = 8")
    second = engine.changes()
    engine.unsubscribe("made")
    assert [each.id for each in first.take()] == ["plain", "made"]
    engine.unsubscribe("region")
    assert [each.id for each in second.take()] == ["made", "region"]
    assert [each.id for each in first.take()] == ["region"]


def test_bulk_loads_are_followed(engine: Engine) -> None:
    changes = engine.changes()
    engine.subscribe_many([("m1", "x = 1"), ("m2", "x = 2")])
    engine.subscribe(attr("x") == 3, id="m3")
    assert changes.take() == [
        Subscribe("m1", "x = 1"),
        Subscribe("m2", "x = 2"),
        Subscribe("m3", engine.get("m3").subscription),
    ]


def test_a_follower_that_is_gone_costs_nothing(engine: Engine) -> None:
    changes = engine.changes()
    engine.change("plain", "x = 8")
    assert len(changes) == 1
    assert len(engine._store.followers) == 1
    del changes
    gc.collect()
    assert len(engine._store.followers) == 0
    engine.change("plain", "x = 9")
    assert engine.changes().take() == []


@pytest.mark.parametrize("matcher", ["columnar", "counting"])
def test_keys_that_a_window_frees_are_not_given_out_twice(matcher: str) -> None:
    """One goes and another comes in one window, again and again."""
    engine = Engine(matcher=matcher)
    engine.subscribe_many({f"a{n}": f"x = {n}" for n in range(6)})
    engine.unsubscribe("a5")
    for n in range(5):
        engine.apply([Unsubscribe(f"a{n}"), Subscribe(f"b{n}", f"x = {n}")])
    engine.subscribe_many({f"c{n}": f"x = {n}" for n in range(6)})
    assert engine.match_batch([{"x": n} for n in range(5)]) == [
        [f"b{n}", f"c{n}"] for n in range(5)
    ]
    keys = [key for _, key in engine._store.ids.items()]
    assert len(set(keys)) == len(keys)
