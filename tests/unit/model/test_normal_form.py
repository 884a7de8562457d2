"""Expressions as clauses while those are few, and as the rests of clauses past that."""

from collections.abc import Iterator

import pytest

from predicast import Engine, Event, Interval, attr
from predicast.errors import InvalidConstraintError, TooManyClausesError, UnsupportedByMatcherError
from predicast.language import parse_where, subscription_from_json, subscription_to_json, to_where
from predicast.matching.registry import matcher_names
from predicast.model import (
    And,
    Clause,
    Constraint,
    Expression,
    Leaf,
    Not,
    Operator,
    Or,
    Subscription,
    normal_form,
)
from predicast.model.expression import leaves_of

WIDE = " AND ".join(f"(a{i} = 1 OR b{i} = 1)" for i in range(9))  # 512 clauses
NEED_CLAUSES = sorted(set(matcher_names()) - {"brute-force"})


def rests(text: str) -> list[bool]:
    return [clause.rest is not None for clause in parse_where(text).clauses]


def test_few_clauses_are_multiplied_out() -> None:
    assert rests("(a = 1 OR b = 1) AND (c = 1 OR d = 1)") == [False] * 4
    assert rests(" AND ".join(f"(a{i} = 1 OR b{i} = 1)" for i in range(4))) == [False] * 16
    assert rests(" OR ".join(f"a{i} = 1" for i in range(1_000))) == [False] * 1_000


def test_many_are_not() -> None:
    subscription = parse_where("x = 5 AND " + WIDE)
    (clause,) = subscription.clauses
    assert to_where(clause.constraints[0]) == "x = 5"
    assert isinstance(clause.rest, And)
    assert len(clause.rest.parts) == 9
    assert subscription.attributes() >= {"x", "a0", "b8"}
    ones = {f"{'ab'[i % 2]}{i}": 1 for i in range(9)}
    assert subscription.matches(Event({"x": 5, **ones}))
    assert not subscription.matches(Event({"x": 4, **ones}))
    assert not subscription.matches(Event({"x": 5, **ones, "a4": 2}))


def test_every_clause_has_a_condition_to_be_found_by() -> None:
    first, second = parse_where(WIDE).clauses
    assert (to_where(first.constraints[0]), to_where(second.constraints[0])) == (
        "a0 = 1",
        "b0 = 1",
    )
    negations = " AND ".join(f"(a{i} != 1 OR b{i} != 1)" for i in range(9))
    (alone,) = parse_where(negations).clauses
    assert not alone.constraints
    found = parse_where(f"{negations} AND (c = 1 OR d = 1)").clauses
    assert [to_where(clause.constraints[0]) for clause in found] == ["c = 1", "d = 1"]


def test_what_all_alternatives_say_is_a_condition() -> None:
    alternatives = [f"(kind = 'k{i}' AND a{i} = 1)" for i in range(20)]
    (clause,) = parse_where(f"x != 3 AND ({' OR '.join(alternatives)})").clauses
    kinds = Constraint("kind", Operator.IN, tuple(f"k{i}" for i in range(20)))
    assert clause.constraints[1] == kinds
    assert clause.matches(Event({"x": 4, "kind": "k7", "a7": 1}))
    assert not clause.matches(Event({"x": 4, "kind": "k7", "a8": 1}))


def test_memory_grows_with_the_text() -> None:
    def size(pairs: int) -> int:
        text = " AND ".join(f"(a{i} = 1 OR b{i} != 1 OR c{i} = 2)" for i in range(pairs))
        return sum(constraint.size for constraint in parse_where(text).constraints())

    assert size(400) < 2.2 * size(200)


def test_what_distributing_brings_together_is_folded() -> None:
    subscription = parse_where("(x = 1 AND (x < 5 OR y = 1)) OR x = 7")
    assert len(subscription.clauses) == 2
    assert parse_where(to_where(subscription)) == subscription


def test_a_region_shares_one_point_with_constraints_and_rest() -> None:
    text = "x > 3 AND " + WIDE + " AND (x < 4 OR (y = 1 AND x < 3))"
    (clause,) = parse_where(text).clauses
    ones = {f"a{i}": 1 for i in range(9)}
    assert clause.matches(Event({"x": Interval(0.0, 9.0), **ones}))
    assert not clause.matches(Event({"x": Interval(0, 9), **ones}))  # no integer is in between
    assert not clause.matches(Event({"x": Interval(0, 9), "y": 1, **ones}))
    either = parse_where(WIDE + " AND (x < 1 OR y < 1) AND (x > 2 OR y > 2)")
    regions = {"x": Interval(0, 5), "y": Interval(0, 5)}
    assert either.matches(Event({**ones, **regions}))
    assert not either.matches(Event({**ones, "x": Interval(0, 5), "y": Interval(1, 2)}))


@pytest.mark.parametrize("matcher", NEED_CLAUSES)
def test_matchers_that_need_clauses_refuse_by_name(matcher: str) -> None:
    engine = Engine(matcher=matcher)
    engine.subscribe(" AND ".join(f"(a{i} = 1 OR b{i} = 1)" for i in range(5)), id="32 clauses")
    ones = {f"a{i}": 1 for i in range(9)}
    assert engine.match(ones) == ["32 clauses"]
    if matcher.startswith("columnar"):
        engine.subscribe(WIDE, id="512 clauses")
        assert engine.match(ones) == ["32 clauses", "512 clauses"]
        return
    with pytest.raises(TooManyClausesError, match="'columnar' takes it") as caught:
        engine.subscribe(WIDE, id="512 clauses")
    assert isinstance(caught.value, UnsupportedByMatcherError)
    assert (caught.value.matcher, caught.value.limit) == (matcher, 256)
    assert engine.match(ones) == ["32 clauses"]


def test_a_rest_has_no_not_and_no_empty_group() -> None:
    leaf = Leaf(Constraint("x", Operator.EQ, 1))
    refused: list[Expression] = [Not(leaf), And((leaf, Not(leaf))), Or(())]
    for rest in refused:
        with pytest.raises(InvalidConstraintError, match="AND, OR and constraints"):
            Clause((), rest)


def test_a_built_expression_means_what_the_text_does() -> None:
    built = attr("x") == 5
    for number in range(9):
        built = built & ((attr(f"a{number}") == 1) | (attr(f"b{number}") == 1))
    engine = Engine()
    engine.subscribe(built, id="built")
    (entry,) = engine.subscriptions()
    assert entry.subscription == parse_where("x = 5 AND " + WIDE)
    assert subscription_from_json(subscription_to_json(entry.subscription)) == entry.subscription
    assert isinstance(entry.subscription, Subscription)


def test_keeping_many_alternatives_looks_at_each_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = 0

    def counting(node: Expression) -> Iterator[Constraint]:
        nonlocal looked
        for leaf in leaves_of(node):
            looked += 1
            yield leaf

    monkeypatch.setattr(normal_form, "leaves_of", counting)
    counts = []
    for ors in (100, 200):
        looked = 0
        parts = [(attr(f"a{n}") == n) | (attr(f"b{n}") == 1) for n in range(ors)]
        normal_form.subscription_of(And(tuple(parts)))
        counts.append(looked)
    assert counts[1] <= 2.1 * counts[0]
