"""CESQL on random expressions and events: one meaning, evaluated or matched in whichever way."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from predicast import Engine
from predicast.derived.cesql.parser import parse
from predicast.derived.cesql.printer import text_of
from predicast.derived.cesql.tree import Node
from predicast.errors import InvalidEventError, LanguageError, LimitError, NotExpressibleError
from predicast.language import dialect_named, to_where
from predicast.language.cloudevents import evaluate, from_batch, from_http, from_structured
from predicast.language.cloudevents.cesql_printing import stated
from predicast.language.dialect import as_subscription
from predicast.testing import cesql

CESQL, FILTERS = dialect_named("cesql"), dialect_named("cloudevents")
EVENTS = st.lists(cesql.events(), min_size=1, max_size=6)


@given(cesql.nodes())
def test_a_text_reads_back_as_the_same_expression(node: Node) -> None:
    assert parse(text_of(node)) == node


@given(st.lists(cesql.nodes(), min_size=1, max_size=8), EVENTS)
def test_a_subscription_matches_what_evaluates_to_true(
    nodes: list[Node], events: list[dict[str, Any]]
) -> None:
    texts = {f"{number}": text_of(node) for number, node in enumerate(nodes)}
    wanted = [[id for id, text in texts.items() if passes(text, event)] for event in events]
    check(texts, "cesql", events, wanted)


@given(st.lists(cesql.filters(), min_size=1, max_size=8), EVENTS)
def test_filters_are_true_or_false_of_every_event(
    filters: list[dict[str, Any]], events: list[dict[str, Any]]
) -> None:
    texts = {f"{number}": json.dumps(each) for number, each in enumerate(filters)}
    wanted = [
        [id for id, each in zip(texts, filters, strict=True) if is_true(each, event)]
        for event in events
    ]
    check(texts, "cloudevents", events, wanted)


def passes(text: str, event: dict[str, Any]) -> bool:
    value, error = evaluate(text, event)
    return value is True and error is None


def is_true(filter: dict[str, Any], event: dict[str, Any]) -> bool:
    """The Subscriptions API, word by word."""
    [(name, given)] = filter.items()
    match name:
        case "not":
            return not is_true(given, event)
        case "all":
            return all(is_true(each, event) for each in given)
        case "any":
            return any(is_true(each, event) for each in given)
    return all(is_met(name, attribute, wanted, event) for attribute, wanted in given.items())


def is_met(name: str, attribute: str, wanted: str, event: dict[str, Any]) -> bool:
    value, error = evaluate(f"STRING({attribute})", event)
    assert isinstance(value, str)
    if error is not None:
        return False
    if name == "exact":
        return value == wanted
    return value.startswith(wanted) if name == "prefix" else value.endswith(wanted)


def check(
    texts: dict[str, str], dialect: str, events: list[dict[str, Any]], wanted: list[list[str]]
) -> None:
    for matcher in ("columnar", "brute-force"):
        engine = Engine(matcher=matcher)
        engine.subscribe_many(texts, dialect=dialect)
        assert [engine.match(event) for event in events] == wanted
        assert engine.match_batch(events) == wanted
    for id in texts:
        for event, ids in zip(events, wanted, strict=True):
            assert (engine.explain(id, event).outcome.held is True) is (id in ids)
    spoken = dialect_named(dialect)
    where = {id: to_where(as_subscription(spoken.parse(text))) for id, text in texts.items()}
    engine = Engine()
    engine.subscribe_many(where)
    assert engine.match_batch(events) == wanted


@given(cesql.nodes())
@example(parse("a = 'x' OR b = 'y'"))
def test_what_is_printed_means_the_same(node: Node) -> None:
    subscription = as_subscription(CESQL.parse(text_of(node)))
    with suppress(NotExpressibleError):
        text = CESQL.to_text(subscription)
        assert stated(as_subscription(CESQL.parse(text))) == stated(subscription)


@given(cesql.filters())
def test_filters_that_are_printed_mean_the_same(filter: dict[str, Any]) -> None:
    subscription = as_subscription(FILTERS.parse(json.dumps(filter)))
    with suppress(NotExpressibleError):
        text = FILTERS.to_text(subscription)
        assert stated(as_subscription(FILTERS.parse(text))) == stated(subscription)


DOCUMENTS = st.recursive(
    st.sampled_from(
        ["", "1.0", "a", "/x", "e30=", "2026-01-31T12:00:00Z", 5, 2**40, 1.5, True, None]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "source",
                    "type",
                    "specversion",
                    "time",
                    "data",
                    "data_base64",
                    "datacontenttype",
                ]
            )
            | st.text(max_size=3),
            inner,
            max_size=8,
        )
    ),
)
HEADERS = st.lists(
    st.tuples(
        st.sampled_from(
            ["ce-id", "ce-source", "CE-Type", "ce-specversion", "ce-x", "content-type"]
        ),
        st.sampled_from(["1.0", "a", "%FF", '"a"', "application/json", "text/plain"])
        | st.sampled_from(["application/cloudevents+json", "application/cloudevents-batch+json"]),
    ),
    max_size=8,
)


@given(
    DOCUMENTS,
    HEADERS,
    st.binary(max_size=8) | DOCUMENTS.map(lambda each: json.dumps(each).encode()),
)
@example([], [], b"[" * 10_000)
def test_any_message_is_an_event_or_refused(
    document: Any, headers: list[tuple[str, str]], body: bytes
) -> None:
    for read in (from_structured, from_batch):
        for given_as in (document, body):
            with suppress(InvalidEventError):
                read(given_as)
    with suppress(InvalidEventError):
        Engine().match(from_http(headers, body)[0])


WORDS = st.sampled_from(
    [
        *(
            "AND",
            "or",
            "NOT",
            "LIKE",
            "IN",
            "EXISTS",
            "true",
            "type",
            "a1",
            "5",
            "-",
            "+",
            "(",
            ")",
        ),
        *(
            ",",
            "=",
            "<>",
            "!=",
            "'a'",
            '"b"',
            "'",
            '"',
            "\\",
            "%",
            "INT",
            "CONCAT_WS",
            "\n",
            "é",
            "_",
        ),
    ]
)
TEXTS = st.text(max_size=30) | st.lists(WORDS, max_size=12).map(" ".join)


@given(TEXTS)
@example("(" * 10_000)
@example("NOT " * 10_000)
@example("a LIKE '" + "%a" * 20_000 + "'")
@example("1" * 5_000)
def test_any_text_is_read_or_refused(text: str) -> None:
    for dialect in (CESQL, FILTERS):
        with suppress(LanguageError, LimitError):
            dialect.parse(text)


JSON_WORDS = st.sampled_from(
    [
        *("{", "}", "[", "]", ":", ",", '"exact"', '"all"', '"not"', '"sql"', '"type"', '"a = 1"'),
        *('"', "5", "null", '"\\ud800"', " "),
    ]
)


@given(st.lists(JSON_WORDS, max_size=16).map("".join))
@example("[" * 10_000)
def test_any_json_is_read_or_refused(text: str) -> None:
    with suppress(LanguageError, LimitError):
        FILTERS.parse(text)
