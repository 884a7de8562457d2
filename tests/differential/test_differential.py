"""A small differential run of every family, and matchers that are wrong on purpose."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from predicast import Engine, Subscribe
from predicast.graph.brute_force import Outcome
from predicast.language import to_subscription
from predicast.matching import registry
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.brute_force import BruteForce
from predicast.matching.matcher import Pairs
from predicast.model import Event, Interval, Subscription
from tests.differential import graphs
from tests.differential.__main__ import app
from tests.differential.asking import Ask, Difference, answer, compared
from tests.differential.constraint_tables import has_rows, table_of
from tests.differential.event_batches import Batch, batch_of
from tests.differential.families import FAMILIES, Sizes
from tests.differential.nearby import values_near
from tests.differential.results import differential_table
from tests.differential.run import run
from tests.differential.shrinking import replayed, smallest
from tests.differential.sources import AnythingSource
from tests.differential.steps import Changes
from tests.differential.walk import Contender, Scale

TINY = Sizes(small=Scale(40, 5, 8), large=Scale(300, 3, 8))


class Forgetful(BruteForce):
    """Loses the change to a subscription that looks at ``kind``."""

    name = "forgetful"

    def change(self, key: int, subscription: Subscription) -> None:
        if "kind" not in subscription.attributes():
            super().change(key, subscription)


class Repeating(BruteForce):
    """Says every match of a batch twice."""

    name = "repeating"

    def match_columns(self, columns: EventBatch, limit: int | None = None) -> Pairs:
        events, keys = super().match_columns(columns, limit)
        return Pairs(events.repeat(2), keys.repeat(2))


class Miscounting(BruteForce):
    """Loses the first match of the tenth batch of columns, and never another."""

    name = "miscounting"
    asked = 0

    def match_columns(self, columns: EventBatch, limit: int | None = None) -> Pairs:
        events, keys = super().match_columns(columns, limit)
        Miscounting.asked += 1
        few = Miscounting.asked == 10
        return Pairs(events[few:], keys[few:])


class Raising(BruteForce):
    """Fails at the twelfth subscription."""

    name = "raising"

    def subscribe(self, key: int, subscription: Subscription) -> None:
        if len(self) == 11:
            raise IndexError("twelve")
        super().subscribe(key, subscription)


@pytest.fixture(autouse=True)
def _wrong_matchers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known here only: other tests try all matchers that there are."""
    for wrong in (Forgetful, Repeating, Miscounting, Raising):
        monkeypatch.setitem(registry._MATCHERS, wrong.name, wrong)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_small_run_finds_nothing(family: str, tmp_path: Path) -> None:
    report = run([family], decisions=5_000, seed=3, out=tmp_path, sizes=TINY)
    (result,) = report.families
    assert report.difference == ""
    assert result.decisions >= 5_000
    assert result.rounds >= 4
    assert result.matches
    assert result.changes
    assert not list(tmp_path.iterdir())


def test_the_same_seed_makes_the_same_run(tmp_path: Path) -> None:
    counts = []
    for _ in range(2):
        (result,) = run(
            ["anything"], decisions=1, seed=5, out=tmp_path, sizes=TINY, matcher="brute-force"
        ).families
        counts.append((result.decisions, result.matches, result.changes))
    assert counts[0] == counts[1]


def test_a_lost_change_is_caught_and_shrunk(tmp_path: Path) -> None:
    report = run(["mixed"], decisions=10**9, seed=1, out=tmp_path, sizes=TINY, matcher="forgetful")
    assert report.families[0].differences == 1
    assert "mixed, seed 1, round" in report.difference
    written = json.loads((tmp_path / "differential-mixed-1.json").read_text(encoding="utf-8"))
    assert written["reproduced"]
    # One that has lost a change, and perhaps one for which its attributes are read from Arrow.
    assert len(written["subscriptions"]) <= 2
    assert '"change"' in json.dumps(written["steps"])
    assert len(written["steps"]) <= 3
    ask = written["steps"][-1]
    assert ask["events"] == [written["event"]]
    assert len(ask["events"][0]) < 7  # attributes that do not matter are dropped


def test_repeated_ids_are_a_difference(tmp_path: Path) -> None:
    report = run(
        ["ceem-exp1"], decisions=10**9, seed=1, out=tmp_path, sizes=TINY, matcher="repeating"
    )
    assert "more than once" in report.difference or "counted" in report.difference
    written = json.loads((tmp_path / "differential-ceem-exp1-1.json").read_text(encoding="utf-8"))
    assert len(written["subscriptions"]) == 1


def test_a_difference_that_does_not_show_again_is_told(tmp_path: Path) -> None:
    Miscounting.asked = 0
    report = run(
        ["anything"], decisions=10**9, seed=1, out=tmp_path, sizes=TINY, matcher="miscounting"
    )
    assert "did not show again" in report.difference
    written = json.loads((tmp_path / "differential-anything-1.json").read_text(encoding="utf-8"))
    assert not written["reproduced"]
    assert written["event"]


def test_an_error_is_a_difference_that_may_need_many(tmp_path: Path) -> None:
    report = run(
        ["ceem-exp2"], decisions=10**9, seed=1, out=tmp_path, sizes=TINY, matcher="raising"
    )
    assert "raised IndexError" in report.difference
    written = json.loads((tmp_path / "differential-ceem-exp2-1.json").read_text(encoding="utf-8"))
    assert len(written["subscriptions"]) == 12
    assert written["event"] is None


def test_the_table_has_a_row_per_family(tmp_path: Path) -> None:
    report = run(["anything", "mixed"], decisions=1, seed=1, out=tmp_path, sizes=TINY)
    assert differential_table(report).row_count == 2
    report.write(tmp_path / "differential.json")
    families = json.loads((tmp_path / "differential.json").read_text(encoding="utf-8"))["families"]
    assert [each["family"] for each in families] == ["anything", "mixed"]


def test_the_command_writes_what_it_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tests.differential.run.Sizes", lambda: TINY)
    arguments = ["regions-2d", "--decisions", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "regions-2d" in result.output
    assert (tmp_path / "differential.json").exists()


def test_the_command_knows_its_families() -> None:
    result = CliRunner().invoke(app, ["nothing"])
    assert result.exit_code == 2
    assert "'nothing'" in result.output


def test_the_command_fails_with_a_difference(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrong = partial(run, matcher="repeating", sizes=TINY)
    monkeypatch.setattr("tests.differential.__main__.run", wrong)
    result = CliRunner().invoke(app, ["ceem-exp1", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "DIFFERENCE: ceem-exp1, seed 1" in result.output


def ask(way: str, limit: int | None = None) -> Ask:
    return Ask(Batch((Event({"a": 1}),)), way, limit)


@pytest.mark.parametrize(
    ("limit", "got", "is_right"),
    [
        (None, ["x", "y"], True),
        (None, ["y", "x"], False),  # match and match_batch sort
        (None, ["x"], False),
        (None, ["x", "y", "y"], False),
        (1, ["y"], True),
        (1, [], False),
        (1, ["z"], False),
        (3, ["x", "y"], True),
        (2, ["x", "x"], False),
    ],
)
def test_answers_are_compared_in_full(limit: int | None, got: list[str], is_right: bool) -> None:
    found = compared(ask("match_arrow", limit), [got], [["x", "y"]])
    assert (found is None) == is_right


@pytest.mark.parametrize(("limit", "right"), [(None, 2), (1, 1), (5, 2)])
def test_counts_are_compared_up_to_the_limit(limit: int | None, right: int) -> None:
    for count in range(4):
        found = compared(ask("count_arrow", limit), [count], [["x", "y"]])
        assert (found is None) == (count == right)


def test_a_missing_answer_is_a_difference() -> None:
    assert isinstance(compared(ask("match"), [], [["x"]]), Difference)


def test_all_ways_of_asking_agree() -> None:
    source = AnythingSource(Random(8))
    engine = Engine(matcher="brute-force")
    for id, subscription in (source.one() for _ in range(100)):
        engine.subscribe(subscription, id=id)
    batches = [source.events(20, []) for _ in range(20)]
    in_columns = [batch for batch in batches if batch.arrow is not None]
    assert in_columns
    assert len(in_columns) < len(batches)
    for batch in in_columns:
        one_by_one = answer(engine, Ask(batch, "match"))
        assert one_by_one == answer(engine, Ask(batch, "match_batch"))
        assert one_by_one == answer(engine, Ask(batch, "match_arrow"))
        counted = answer(engine, Ask(batch, "count_arrow"))
        assert counted == [len(ids) for ids in one_by_one if isinstance(ids, list)]


def test_tables_say_what_the_subscriptions_say() -> None:
    source = AnythingSource(Random(9))
    drawn = dict(source.one() for _ in range(500))
    written = {id: each for id, each in drawn.items() if has_rows(each)}
    assert len(written) > 300
    engine = Engine(matcher="brute-force")
    engine.subscribe_arrow(table_of(written))
    oracle = Engine(matcher="brute-force")
    oracle.subscribe_many(written.items())
    events = source.events(300, list(written.values())).events
    assert engine.match_batch(events) == oracle.match_batch(events)


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([1, None, 2.5], pa.float64()),
        ([2**53 + 1, 2.5], None),
        ([2**40, -(2**63)], pa.int64()),
        ([True, None], pa.bool_()),
        ([True, 1], None),
        ([Interval(1, 2), 1], None),
        ([Interval(1, 2, hi_open=True)], None),
        ([Interval(None, None)], None),
        ([Interval(1, 2), Interval(1.5, 2)], None),
    ],
)
def test_only_columns_that_lose_nothing(
    values: Sequence[object], type_: pa.DataType | None
) -> None:
    batch = batch_of([Event({"a": value}) for value in values], Random(1))
    assert (None if batch.arrow is None else batch.arrow.schema.types[0]) == type_


def test_intervals_become_two_columns() -> None:
    values = [Interval(1, 2), None, Interval(None, 5)]
    batch = batch_of([Event({"a": value}) for value in values], Random(1))
    assert batch.arrow is not None
    low, high = batch.intervals["a"]
    assert batch.arrow[low].to_pylist() == [1, None, None]
    assert batch.arrow[high].to_pylist() == [2, None, 5]


def test_near_values_meet_the_clause_or_nearly() -> None:
    subscription = to_subscription("a > 3 AND a < 9 AND b LIKE 'x%' AND c IN (1, 2.5)")
    (clause,) = subscription.clauses
    chance = Random(4)
    events = [Event(values_near(clause, chance)) for _ in range(200)]
    met = sum(map(subscription.matches, events))
    assert 100 < met < 200


def test_the_smallest_part_that_shows_is_found() -> None:
    assert smallest(range(100), lambda some: {17, 63} <= set(some)) == [17, 63]
    assert smallest(range(5), lambda _: True) == []


def test_a_history_that_cannot_be_replayed_shows_nothing() -> None:
    twice = Changes((Subscribe("x", to_subscription("a = 1")),), is_window=False)
    assert replayed([twice, twice], Contender("brute-force"), "fails") is None


def test_graphs_are_answered_as_defined(tmp_path: Path) -> None:
    arguments = ["graphs", "--decisions", "1000", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "differential-graphs.json").read_text(encoding="utf-8"))
    assert [each["family"] for each in report["families"]] == [
        "graphs: joins",
        "graphs: ops",
        "graphs: pyoxigraph",
    ]
    for each in report["families"]:
        assert each["decisions"] >= 1_000
        assert 0 < each["matches"] < each["decisions"]
        assert not each["differences"]


def test_a_difference_between_graph_matchers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the definition says is made wrong: that no subscription matches."""
    monkeypatch.setattr(graphs, "find", lambda *_, **__: Outcome(matched=False))
    report = graphs.run_graphs(decisions=1, seed=1)
    assert report.difference.startswith("graphs, seed 1, round 0: joins says a match of s")
    assert "the ontology\n@prefix" in report.difference
    assert report.families[0].differences == 1


def test_graphs_run_by_themselves() -> None:
    result = CliRunner().invoke(app, ["graphs", "anything"])
    assert result.exit_code == 2
