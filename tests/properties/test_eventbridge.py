"""Random patterns and events: the engine and a direct interpreter agree, and texts are safe."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import event as note
from hypothesis import given
from hypothesis import strategies as st

from predicast import Engine
from predicast.errors import LimitError, NotExpressibleError, ParseError, PredicastError
from predicast.language import dialect_named
from predicast.language.eventbridge import EventBridge
from predicast.model.normal_form import in_normal_form
from tests.eventbridge_twin import matches
from tests.thorough import LONG

_EVENTBRIDGE = EventBridge()
_NAMES = "abc"

_strings = st.sampled_from(["x", "y", "xy", "Xy", "", "x*y", "straße", "K", "10.0.0.1", "::1"])
_numbers = st.sampled_from([0, 1, -1, 1.0, 2.5, 10**15])
_values = st.one_of(_strings, _numbers, st.booleans(), st.none())
_events = st.dictionaries(
    st.sampled_from(_NAMES),
    st.recursive(
        _values,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.sampled_from(_NAMES), inner, max_size=3),
        ),
        max_leaves=10,
    ),
    max_size=3,
)
_literals = st.sampled_from(["x", "y", "X", "xy", "straSSe", "k"])
_numeric = st.sampled_from(
    [["=", 1], [">", 0], [">=", 1.0], ["<", 1], ["<=", 0], [">", 0, "<", 2], [">=", -1, "<=", 1]]
)
_tests = st.one_of(
    _values,
    _strings.map(lambda text: {"prefix": text}),
    _strings.map(lambda text: {"suffix": text}),
    _literals.map(lambda text: {"equals-ignore-case": text}),
    _literals.map(lambda text: {"prefix": {"equals-ignore-case": text}}),
    _literals.map(lambda text: {"suffix": {"equals-ignore-case": text}}),
    st.sampled_from(["*", "x*", "*y", "x*y", "x\\*y", "xy"]).map(lambda text: {"wildcard": text}),
    _numeric.map(lambda said: {"numeric": said}),
    st.sampled_from(["10.0.0.0/24", "::/64"]).map(lambda text: {"cidr": text}),
    st.booleans().map(lambda value: {"exists": value}),
    st.sampled_from(["x", ["x", "y"], 1, [1, 2.5]]).map(lambda said: {"anything-but": said}),
    st.tuples(
        st.sampled_from(["prefix", "suffix", "wildcard", "equals-ignore-case"]),
        st.sampled_from(["x", ["x", "y"]]),
    ).map(lambda said: {"anything-but": {said[0]: said[1]}}),
)
_leaves = st.lists(_tests, min_size=1, max_size=2)
_patterns = st.recursive(
    st.dictionaries(st.sampled_from(_NAMES), _leaves, min_size=1, max_size=3),
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from(_NAMES), st.one_of(inner, _leaves), min_size=1, max_size=3),
        st.lists(inner, min_size=2, max_size=2).map(lambda both: {"$or": both}),
    ),
    max_leaves=4,
)


def _leaf_paths(value: Any, path: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [
            found
            for name, each in value.items()
            for found in _leaf_paths(each, f"{path}.{name}" if path else name)
        ]
    if isinstance(value, list):
        return [found for each in value for found in _leaf_paths(each, path)]
    return [(path, value)]


@st.composite
def _fitting(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """An event, and a pattern of what is in it, or nearly."""
    event = draw(_events.filter(lambda each: bool(_leaf_paths(each))))
    chosen = draw(st.lists(st.sampled_from(_leaf_paths(event)), min_size=1, max_size=4))
    pattern: dict[str, Any] = {}
    for path, value in chosen:
        here: Any = pattern
        names = path.split(".")
        for name in names[:-1]:
            here = here.setdefault(name, {}) if isinstance(here, dict) else None
        if isinstance(here, dict) and not isinstance(here.get(names[-1]), dict):
            said = st.sampled_from([value, {"exists": True}, {"anything-but": "q"}])
            here[names[-1]] = [draw(said)]
            beside = draw(st.sampled_from(_NAMES))
            here.setdefault(beside, [{"exists": False}]) if draw(st.booleans()) else None
    return pattern, event


def _asks_of_values_and_fields(pattern: Mapping[str, Any]) -> bool:
    """Whether a path is asked about and so is one below it, in one branch or in several."""
    paths = {path for path, _ in _tests_of(pattern, "")}
    return any(other.startswith(f"{path}.") for path in paths for other in paths)


def _tests_of(pattern: Mapping[str, Any], prefix: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, said in pattern.items():
        if name == "$or":
            found += [each for inner in said for each in _tests_of(inner, prefix)]
        elif isinstance(said, Mapping):
            found += _tests_of(said, f"{prefix}{name}.")
        else:
            found.append((prefix + name, said))
    return found


@given(st.one_of(st.tuples(_patterns, _events), _fitting()))
def test_engine_and_twin_agree(drawn: tuple[dict[str, Any], dict[str, Any]]) -> None:
    pattern, event = drawn
    if _asks_of_values_and_fields(pattern):
        return  # arrays of arrays are one array to it, as the reference says
    expected = ["p"] if matches(pattern, event) else []
    note(f"matches: {bool(expected)}")
    attributes = _EVENTBRIDGE.read_event(event)
    for matcher in ("brute-force", "columnar"):
        engine = Engine(matcher=matcher)
        engine.subscribe(json.dumps(pattern), id="p", dialect="eventbridge")
        assert engine.match(attributes) == expected, matcher
        assert engine.match_batch([attributes, {}, attributes])[::2] == [expected] * 2, matcher
    explanation = engine.explain("p", attributes)
    assert (explanation.outcome.held is True) is bool(expected), str(explanation)


@given(st.lists(st.tuples(_patterns, _events), min_size=1, max_size=8))
def test_many_patterns_at_once_are_each_of_them(
    drawn: list[tuple[dict[str, Any], dict[str, Any]]],
) -> None:
    engines = [Engine(matcher=matcher) for matcher in ("brute-force", "columnar")]
    for engine in engines:
        texts = [(str(place), json.dumps(pattern)) for place, (pattern, _) in enumerate(drawn)]
        engine.subscribe_many(texts, dialect="eventbridge")
    events = [_EVENTBRIDGE.read_event(event) for _, event in drawn]
    brute, columnar = engines
    assert columnar.match_batch(events) == brute.match_batch(events)


@given(_patterns)
def test_what_is_stated_is_in_normal_form_and_what_can_be_written_reads_back(
    pattern: dict[str, Any],
) -> None:
    stated = _EVENTBRIDGE.parse(json.dumps(pattern))
    assert in_normal_form(stated) == stated
    try:
        again = _EVENTBRIDGE.to_text(stated)
    except NotExpressibleError:
        return
    assert set(_EVENTBRIDGE.parse(again).clauses) == set(stated.clauses)


_json = st.recursive(
    st.one_of(_values, st.text(max_size=5), st.floats(), st.integers()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.one_of(
                st.sampled_from(
                    ["$or", "prefix", "anything-but", "numeric", "exists", "cidr", "wildcard", "a"]
                ),
                st.text(max_size=3),
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)
_texts = st.one_of(
    st.text(max_size=60),
    _json.map(json.dumps),
    st.tuples(_patterns.map(json.dumps), st.integers(0, 80), st.text(max_size=3)).map(
        lambda drawn: drawn[0][: drawn[1]] + drawn[2] + drawn[0][drawn[1] :]
    ),
)


@given(_texts, st.sampled_from(["eventbridge", "sns", "sns:body"]))
def test_any_text_is_read_or_refused_with_its_place(text: str, dialect: str) -> None:
    try:
        dialect_named(dialect).parse(text)
    except ParseError as error:
        place = error.line, error.column
    except PredicastError:
        return
    else:
        return
    assert None not in place


@given(_json)
def test_any_document_is_an_event_or_refused(document: Any) -> None:
    for dialect in ("eventbridge", "sns", "sns:body"):
        try:
            attributes = dialect_named(dialect).read_event(document)
        except PredicastError:
            continue
        engine = Engine()
        engine.subscribe('{"a": [{"exists": true}]}', id="a", dialect="eventbridge")
        try:
            engine.match(attributes)
        except PredicastError:
            continue


def test_a_pattern_that_multiplies_is_refused_at_once() -> None:
    alternatives = [{"a": [1]}, {"b": [2]}]
    pattern: dict[str, Any] = {"c": [1]}
    for place in range(400 if LONG else 40):
        pattern[f"d{place}"] = {"$or": alternatives}
    with pytest.raises(LimitError, match="combinations"):
        _EVENTBRIDGE.parse(json.dumps(pattern))


def test_arrays_in_arrays_do_not_multiply() -> None:
    document: Any = [1, 2]
    for _ in range(30):
        document = {"a": [document, 3]}
    attributes = _EVENTBRIDGE.read_event({"a": document})
    engine = Engine()
    engine.subscribe('{"a": {"a": {"a": [1], "b": [2]}}}', id="p", dialect="eventbridge")
    assert engine.match(attributes) == []
    assert engine.match_batch([attributes]) == [[]]
