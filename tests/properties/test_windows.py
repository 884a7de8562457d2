"""Windows on all matchers at once, against operations that are run one by one.

Ids come from a small pool, so that one window touches an id several times, and a good part of the
operations is refused. Crowds of subscriptions of one text are there because what is
alike is kept, changed and compiled by columns once there is enough of it.
"""

from __future__ import annotations

import random
from typing import Any, ClassVar

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from predicast import Engine
from predicast.engine.operations import Change, Operation, Subscribe, Unsubscribe
from predicast.errors import PredicastError
from predicast.matching import make_matcher, matcher_names
from predicast.model import Absent, Event, Interval
from predicast.model.outline import outlined
from predicast.testing.strategies import subscriptions
from tests.columnar_shapes import InBlocks, InRows
from tests.properties.windows_twin import Twin

ODD = [InRows.name, InBlocks.name]
OWN = [
    name
    for name in matcher_names()  # other tests register some of their own
    if type(make_matcher(name)).__module__.startswith("predicast.")
]
POLICIES: tuple[Absent, ...] = ("fails", "passes")
IDS = ["i0", "i1", "i2", "i3"]
CROWD = 34  # just enough for columns

# Texts with parameters: numbers, strings, both, said twice, under NOT and OR, in sets and patterns.
TEXTS = {
    "x BETWEEN :a AND :b": "ab",
    "x > :a AND y <= :b AND kind = :k": "abk",
    "x >= :a AND y >= :a OR NOT (x < :b OR kind = 'k1')": "ab",
    "x IN (:a, :b, 3)": "ab",
    "s LIKE :k AND x != :a": "ak",
    "x = :a AND x = :b": "ab",
    "kind = :k": "k",
    "y < 5": "",
}
NUMBERS: st.SearchStrategy[Any] = st.sampled_from([0, 1, 2, 3, 5, 1.5, 2.5, 4.0, -0.0])
WORDS = st.sampled_from(["k1", "k2", "s%", "é"])
WRONG: st.SearchStrategy[Any] = st.sampled_from(["word", True, None, float("nan"), 2**70])


# What crowds choose from: columns are of one type, and a float that is whole is held as an integer.
POOLS: list[list[Any]] = [
    [0, 1, 2, 3, 4],
    [0.5, 1.5, 2.5, 3.5],
    [0.5, 1.5, 2.5, 4.0],
    [0.5, 1.5, 2.5, 3, 4.0],
]


def values_of(names: str) -> st.SearchStrategy[dict[str, Any]]:
    """Mostly numbers; all of them words now and then, which some texts take as well."""
    usual = st.fixed_dictionaries({name: WORDS if name == "k" else NUMBERS for name in names})
    words = st.fixed_dictionaries(dict.fromkeys(names, WORDS))
    return st.one_of(usual, usual, words)


@st.composite
def with_parameters(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    text = draw(st.sampled_from(sorted(TEXTS)))
    return text, draw(values_of(TEXTS[text]))


@st.composite
def stated(draw: st.DrawFn) -> tuple[Any, dict[str, Any] | None]:
    """An expression, and its parameters if it has any; some are wrong."""
    choice = draw(st.integers(0, 9))
    if choice == 0:
        return draw(subscriptions()), None
    if choice <= 3:
        lo, hi = draw(st.integers(0, 3)), draw(st.integers(0, 3))
        return f"x BETWEEN {lo} AND {lo + hi}", None
    if choice == 4:
        return draw(
            st.sampled_from(["x <", "x = :a", "NOT", 7, "TRUE", "FALSE", "s LIKE 's%'"])
        ), None
    text, values = draw(with_parameters())
    if draw(st.integers(0, 9)) == 0:
        values[draw(st.sampled_from(["a", "b", "k", "z"]))] = draw(WRONG)
    if values and draw(st.integers(0, 19)) == 0:
        values.pop(draw(st.sampled_from(sorted(values))))
    return text, values


@st.composite
def some_parameters(draw: st.DrawFn) -> dict[str, Any]:
    values = draw(values_of(draw(st.sampled_from(["a", "b", "ab", "a", "k", "ak", "abk"]))))
    if draw(st.integers(0, 11)) == 0:
        values[draw(st.sampled_from(["a", "k", "z"]))] = draw(WRONG)
    return values


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    id = draw(st.sampled_from(IDS))
    choice = draw(st.integers(0, 11))
    if choice <= 3:
        owner = draw(st.sampled_from([None, "me", "you"]))
        expression, parameters = draw(stated())
        return Subscribe(id, expression, owner, parameters)
    if choice <= 5:
        return Change(id, *draw(stated()))
    if choice <= 9:
        return Change(id, parameters=draw(some_parameters()))
    if choice == 10 and draw(st.integers(0, 3)) == 0:
        return Change(id)
    return Unsubscribe(id)


def happenings() -> st.SearchStrategy[dict[str, Any]]:
    region = st.tuples(NUMBERS, NUMBERS).map(lambda ends: Interval(min(ends), max(ends)))
    return st.fixed_dictionaries(
        {},
        optional={
            "x": NUMBERS | region,
            "y": NUMBERS,
            "kind": WORDS,
            "s": st.sampled_from(["s1", "k1", ""]),
            "a": NUMBERS,
        },
    )


class Machine(RuleBasedStateMachine):
    """Windows, single calls, bulk loads, merges, files and matches; an engine per matcher."""

    names: ClassVar[list[str]]
    absent: ClassVar[Absent]

    @initialize(crowd=st.none() | st.tuples(st.integers(0, 999), st.sampled_from(sorted(TEXTS))))
    def start(self, crowd: tuple[int, str] | None) -> None:
        self.twin = Twin(self.absent)
        self.engines = [Engine(matcher=name, absent=self.absent) for name in self.names]
        self.bulks = 0
        self.replica = Engine(absent=self.absent)
        self.changes = self.engines[0].changes()
        if crowd is not None:
            self._crowd_arrives(*crowd)

    # Changing.

    @rule(
        window=st.lists(operations(), max_size=7), on_refusal=st.sampled_from(["raise", "report"])
    )
    def window(self, window: list[Operation], on_refusal: Any) -> None:
        self._apply(window, on_refusal)

    @rule(window=st.lists(operations(), min_size=2, max_size=12))
    def window_without_refusals(self, window: list[Operation]) -> None:
        refused = self.twin.copy().run_all(window)
        self._apply([each for n, each in enumerate(window) if n not in refused], "raise")

    @precondition(lambda self: len(self.twin.held) > 1)
    @rule(data=st.data(), again=st.booleans())
    def subscribers_exchange_filters(self, data: Any, again: bool) -> None:
        held = self.twin.held
        chosen = data.draw(
            st.lists(st.sampled_from(sorted(held)), min_size=2, max_size=4, unique=True), "ids"
        )
        stated = [held[id].subscription for id in chosen]
        window: list[Operation] = []
        for id, subscription in zip(chosen, [*stated[1:], stated[0]], strict=True):
            if again:
                window += [Unsubscribe(id), Subscribe(id, subscription)]
            else:
                window.append(Change(id, subscription))
        self._apply(window, "raise")

    @rule(operation=operations())
    def single(self, operation: Operation) -> None:
        expected = self.twin.run_all([operation])
        for engine in self.engines:
            if expected:
                with pytest.raises(PredicastError) as caught:
                    _call(engine, operation)
                assert type(caught.value) is expected[0]
            else:
                _call(engine, operation)

    @precondition(lambda self: f"c{CROWD - 1}" not in self.twin.held)
    @rule(seed=st.integers(0, 999), text=st.sampled_from(sorted(TEXTS)))
    def a_crowd_arrives(self, seed: int, text: str) -> None:
        self._crowd_arrives(seed, text)

    def _crowd_arrives(self, seed: int, text: str) -> None:
        chosen = random.Random(seed)
        window: list[Operation] = []
        for number in range(CROWD):
            values = _values(chosen, TEXTS[text], numbers=POOLS[seed % len(POOLS)])
            window.append(Subscribe(f"c{number}", text, f"o{number % 3}", values))
        self._apply(window, "report")

    @precondition(lambda self: f"c{CROWD - 1}" in self.twin.held)
    @rule(
        seed=st.integers(0, 999),
        names=st.sampled_from(["a", "b", "ab", "k"]),
        share=st.sampled_from([0.1, 0.6, 1.0]),
        some=st.lists(operations(), max_size=2),
    )
    def a_crowd_moves(self, seed: int, names: str, share: float, some: list[Operation]) -> None:
        chosen = random.Random(seed)
        window: list[Operation] = []
        for number in range(CROWD):
            if chosen.random() < share:
                values = _values(chosen, names, numbers=POOLS[seed % len(POOLS)])
                window.append(Change(f"c{number}", parameters=values))
            if chosen.random() < share / 3:
                values = _values(
                    chosen, chosen.choice(["a", "b"]), numbers=POOLS[seed % len(POOLS)]
                )
                window.append(Change(f"c{number}", parameters=values))
            if chosen.random() < share * (seed % 5 == 0):
                window.append(Change(f"c{number}", f"x = {chosen.randrange(5)}"))
        self._apply([*window, *some], "report")

    @precondition(lambda self: any(id[0] in "cb" for id in self.twin.held))
    @rule(seed=st.integers(0, 999))
    def a_crowd_shrinks(self, seed: int) -> None:
        chosen = random.Random(seed)
        ids = [id for id in self.twin.held if id[0] in "cb" and chosen.random() < 0.6]
        self._apply([Unsubscribe(id) for id in ids], "raise")

    @precondition(lambda self: self.bulks < 3)
    @rule(seed=st.integers(0, 999), count=st.sampled_from([3, 12, 40]), arrow=st.booleans())
    def a_bulk_arrives(self, seed: int, count: int, arrow: bool) -> None:
        self.bulks += 1
        chosen = random.Random(seed)
        ends = [
            (f"b{self.bulks}-{n}", chosen.randrange(6), chosen.randrange(6)) for n in range(count)
        ]
        texts = [(id, f"x >= {lo} AND y <= {hi}") for id, lo, hi in ends]
        refused = self.twin.run_all(Subscribe(*pair) for pair in texts)
        assert not refused
        for engine in self.engines:
            if arrow:
                engine.subscribe_arrow(_table(ends))
            else:
                engine.subscribe_many(texts)

    @rule()
    def settle(self) -> None:
        for engine in self.engines:
            engine._store.matcher.settle()

    @rule()
    def go_through_a_file(self) -> None:
        first, *others = self.engines  # the first one is followed
        self.engines = [first, *(Engine.from_bytes(each.to_bytes()) for each in others)]

    def _apply(self, window: list[Operation], on_refusal: Any) -> None:
        after = self.twin.copy()
        refused = after.run_all(window)
        if refused and on_refusal == "raise":
            for engine in self.engines:
                with pytest.raises(PredicastError) as caught:
                    engine.apply(window)
                assert type(caught.value) in refused.values()
            return
        self.twin = after
        for engine in self.engines:
            report = engine.apply(window, on_refusal=on_refusal)
            assert {each.position: type(each.error) for each in report.refused} == refused
            assert all(each.operation is window[each.position] for each in report.refused)
            assert report.given == len(window) == sum(report[1:5]) + len(report.refused)
            assert min(report[:5]) >= 0

    # Looking.

    @rule(some=st.lists(happenings(), min_size=1, max_size=4))
    def match(self, some: list[dict[str, Any]]) -> None:
        events = [Event(each) for each in some]
        right = [self.twin.match(event) for event in events]
        for engine in self.engines:
            assert engine.match(events[0]) == right[0], engine.matcher
            assert engine.match_batch(events) == right, engine.matcher

    @rule(
        rows=st.lists(
            st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 6), WORDS),
            min_size=1,
            max_size=4,
        )
    )
    def match_arrow_with_regions(self, rows: list[tuple[int, int, int, str]]) -> None:
        columns = {
            "lo": [lo for lo, *_ in rows],
            "hi": [lo + width for lo, width, *_ in rows],
            "y": [y for *_, y, _ in rows],
            "kind": [kind for *_, kind in rows],
        }
        right = [
            self.twin.match(Event({"x": Interval(lo, lo + width), "y": y, "kind": kind}))
            for lo, width, y, kind in rows
        ]
        for engine in self.engines:
            found = engine.match_arrow(pa.table(columns), intervals={"x": ("lo", "hi")})
            by_event: list[list[str]] = [[] for _ in rows]
            for event, id in zip(*map(pa.ChunkedArray.to_pylist, found.columns), strict=True):
                by_event[event].append(id)
            assert [sorted(ids) for ids in by_event] == right, engine.matcher
            counts = engine.count_arrow(pa.table(columns), intervals={"x": ("lo", "hi")})
            assert counts.to_pylist() == list(map(len, right)), engine.matcher

    @rule()
    def compare_and_follow(self) -> None:
        self.compare()
        self.follow()

    def follow(self) -> None:
        self.replica.apply(self.changes.take())
        assert len(self.changes) == 0
        assert sorted(_state(self.replica), key=_id) == sorted(self.twin.state(), key=_id)

    def compare(self) -> None:
        right, attributes = self.twin.state(), self.twin.attributes()
        for engine in self.engines:
            assert _state(engine) == right, engine.matcher
            assert engine.attributes() == attributes
            for id in IDS:
                if id in self.twin.held:
                    entry, held = engine.get(id), self.twin.held[id]
                    assert (entry.subscription, entry.owner) == (held.subscription, held.owner)
            mine = [each.id for each in engine.subscriptions(owner="me")]
            assert mine == [id for id, _, owner in right if owner == "me"]

    @invariant()
    def the_same_ids_in_the_same_order(self) -> None:
        for engine in getattr(self, "engines", ()):
            assert len(engine) == len(self.twin.held)
            if len(engine._store.ids._keys) or not len(engine):  # looking would unpack a bulk
                assert list(engine) == list(self.twin.held), engine.matcher

    def teardown(self) -> None:
        if hasattr(self, "twin"):
            self.compare()
            self.follow()


def _state(engine: Engine) -> list[tuple[str, Any, str | None]]:
    return [(each.id, outlined(each.subscription), each.owner) for each in engine.subscriptions()]


def _id(entry: tuple[str, Any, str | None]) -> str:
    return entry[0]


def _call(engine: Engine, operation: Operation) -> None:
    if isinstance(operation, Subscribe):
        id, expression, owner = operation.id, operation.expression, operation.owner
        engine.subscribe(expression, id=id, owner=owner, parameters=operation.parameters)
    elif isinstance(operation, Change):
        engine.change(operation.id, operation.expression, parameters=operation.parameters)
    else:
        engine.unsubscribe(operation.id)


def _values(chosen: random.Random, names: str, *, numbers: list[Any]) -> dict[str, Any]:
    words = ["k1", "k2", "s%"]
    return {name: chosen.choice(words if name == "k" else numbers) for name in names}


def _table(ends: list[tuple[str, int, int]]) -> pa.Table:
    rows = []
    for id, lo, hi in ends:
        for attribute, operator, value in (("x", ">=", lo), ("y", "<=", hi)):
            rows.append({"id": id, "clause": 0, "attribute": attribute, "operator": operator,
                         "int_value": value})  # fmt: skip
    kinds = {"id": pa.string(), "clause": pa.int64(), "attribute": pa.string(),
             "operator": pa.string(), "int_value": pa.int64(), "float_value": pa.float64(),
             "string_value": pa.string(), "bool_value": pa.bool_()}  # fmt: skip
    return pa.Table.from_pylist(rows, pa.schema(list(kinds.items())))


def run(chosen_names: list[str], policy: Absent, *, share: float, steps: int) -> None:
    """So many examples for each that a profile asks for."""

    class Chosen(Machine):
        names = chosen_names
        absent = policy

    budget = max(1, int(share * settings().max_examples))
    run_state_machine_as_test(
        Chosen,
        settings=settings(
            max_examples=budget,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("absent", POLICIES)
def test_all_matchers_answer_as_one_by_one(absent: Absent) -> None:
    run(OWN, absent, share=1, steps=12)


@pytest.mark.parametrize("absent", POLICIES)
def test_columnar_answers_as_one_by_one_while_it_merges(absent: Absent) -> None:
    run(ODD, absent, share=1.5, steps=15)


@settings(deadline=None, max_examples=12 * settings().max_examples)
@given(
    first=st.lists(with_parameters(), min_size=2, max_size=len(IDS)),
    windows=st.lists(st.lists(operations(), max_size=9), min_size=1, max_size=2),
)
def test_the_net_effect_of_a_window_makes_an_equal_engine(
    first: list[tuple[str, dict[str, Any]]], windows: list[list[Operation]]
) -> None:
    engine, replica, twin = Engine(matcher="brute-force"), Engine(matcher="poset"), Twin("fails")
    changes = engine.changes()
    before: list[Operation] = [
        Subscribe(IDS[number], text, parameters=values)
        for number, (text, values) in enumerate(first)
    ]
    for window in [before, *windows]:
        report = engine.apply(window, on_refusal="report")
        refused = twin.run_all(window)
        assert {each.position: type(each.error) for each in report.refused} == refused
        assert _state(engine) == twin.state()
        net = changes.take()
        replica.apply(net)
        assert sorted(_state(replica), key=_id) == sorted(twin.state(), key=_id)
        assert len(net) <= 2 * len({each.id for each in window})
