"""The Sigma corpus: real detection rules, and events of which each must fire a rule it names."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from bench.real.corpus import Corpus, MissingCorpusError, read_corpus, with_text
from bench.real.events import event_table
from bench.real.where_text import expression_text
from predicast import Engine
from tests.sigma_twin import compiled_rule

Pairs = set[tuple[int, str]]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    try:
        return read_corpus()
    except MissingCorpusError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def engine(corpus: Corpus) -> Engine:
    engine = Engine()
    engine.subscribe_many(
        {"id": rule.id, "expression": rule.text(), "dialect": "sigma"} for rule in corpus.rules
    )
    return engine


@pytest.fixture(scope="module")
def events(corpus: Corpus) -> list[dict[str, Any]]:
    return [with_text(each.event) for each in corpus.firings]


@pytest.fixture(scope="module")
def true_pairs(corpus: Corpus) -> Pairs:
    rules = {rule.id: compiled_rule(rule.detection) for rule in corpus.rules}
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


def test_every_event_fires_the_rule_that_it_names(corpus: Corpus, true_pairs: Pairs) -> None:
    assert len(corpus.firings) >= 143
    assert {(n, firing.rule) for n, firing in enumerate(corpus.firings)} <= true_pairs


def test_every_rule_can_be_written_as_text(
    corpus: Corpus, events: list[dict[str, Any]], true_pairs: Pairs
) -> None:
    rules = corpus.rules[::10]
    engine = Engine(matcher="brute-force")
    engine.subscribe_many((rule.id, expression_text(rule.expression())) for rule in rules)
    ids = {rule.id for rule in rules}
    found = engine.match_arrow(event_table(events))
    assert _pairs(found) == {pair for pair in true_pairs if pair[1] in ids}


def _pairs(table: pa.Table) -> Pairs:
    columns = table["event"].to_pylist(), table["subscription"].to_pylist()
    return set(zip(*columns, strict=True))
