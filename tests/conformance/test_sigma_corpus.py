"""The Sigma corpus: real detection rules, and events of which each must fire a rule it names."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from bench.real.corpus import Corpus, MissingCorpusError, read_corpus, with_text
from bench.real.events import event_table
from predicast import Engine
from predicast.errors import TooManyClausesError
from predicast.model import Subscription, subscription_of
from tests.sigma_twin import compiled_rule

Pairs = set[tuple[int, str]]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    try:
        return read_corpus()
    except MissingCorpusError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def subscriptions(corpus: Corpus) -> dict[str, Subscription]:
    accepted = {}
    for rule in corpus.rules:
        try:
            accepted[rule.id] = subscription_of(rule.expression())
        except TooManyClausesError:
            continue
    assert len(accepted) >= 2_385
    return accepted


@pytest.fixture(scope="module")
def engine(subscriptions: dict[str, Subscription]) -> Engine:
    engine = Engine()
    engine.subscribe_many(subscriptions)
    return engine


@pytest.fixture(scope="module")
def events(corpus: Corpus) -> list[dict[str, Any]]:
    return [with_text(each.event) for each in corpus.firings]


@pytest.fixture(scope="module")
def true_pairs(corpus: Corpus, subscriptions: dict[str, Subscription]) -> Pairs:
    rules = {r.id: compiled_rule(r.detection) for r in corpus.rules if r.id in subscriptions}
    return {
        (number, id)
        for number, firing in enumerate(corpus.firings)
        for id, fires in rules.items()
        if fires(firing.event)
    }


def test_one_by_one_exactly_the_rules_fire_that_should(
    engine: Engine, events: list[dict[str, Any]], true_pairs: Pairs
) -> None:
    assert {(n, id) for n, event in enumerate(events) for id in engine.match(event)} == true_pairs


def test_in_a_table_exactly_the_rules_fire_that_should(
    engine: Engine, events: list[dict[str, Any]], true_pairs: Pairs
) -> None:
    table = engine.match_arrow(event_table(events))
    assert _pairs(table) == true_pairs


def test_every_event_fires_the_rule_that_it_names(
    corpus: Corpus, subscriptions: dict[str, Subscription], true_pairs: Pairs
) -> None:
    named = {(n, firing.rule) for n, firing in enumerate(corpus.firings)}
    assert {pair for pair in named if pair[1] in subscriptions} <= true_pairs


def _pairs(table: pa.Table) -> Pairs:
    columns = table["event"].to_pylist(), table["subscription"].to_pylist()
    return set(zip(*columns, strict=True))
