"""Event patterns with events, and which are valid: logged from the tests of Event Ruler."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from bench.real.corpus import MissingCorpusError, case_path
from predicast import Engine
from predicast.errors import PredicastError
from predicast.language.eventbridge import EventBridge
from predicast.model import Elements
from tests.eventbridge_twin import matches

_EVENTBRIDGE = EventBridge()


def _lines(name: str) -> list[dict[str, Any]]:
    try:
        path = case_path(name)
    except MissingCorpusError as error:
        pytest.skip(str(error))
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    return _lines("eventbridge.jsonl")


@pytest.fixture(scope="module", params=["columnar", "brute-force"])
def engine(request: pytest.FixtureRequest, cases: list[dict[str, Any]]) -> Engine:
    return _engine(request.param, cases)


def _engine(matcher: str, cases: list[dict[str, Any]]) -> Engine:
    """All patterns at once, each under the text that it is."""
    engine = Engine(matcher=matcher)
    patterns = dict.fromkeys(json.dumps(case["pattern"]) for case in cases)
    engine.subscribe_many([(text, text) for text in patterns], dialect="eventbridge")
    return engine


def _events(cases: list[dict[str, Any]]) -> dict[str, Any]:
    return {json.dumps(case["event"]): case["event"] for case in cases}


def _wrong(cases: list[dict[str, Any]], found: dict[str, list[str]]) -> list[str]:
    return [
        case["id"]
        for case in cases
        if (json.dumps(case["pattern"]) in found[json.dumps(case["event"])]) != case["expected"]
    ]


def test_one_by_one_each_case_is_as_the_library_has_it(
    engine: Engine, cases: list[dict[str, Any]]
) -> None:
    events = _events(cases)
    found = {text: engine.match(_EVENTBRIDGE.read_event(event)) for text, event in events.items()}
    assert _wrong(cases, found) == []


def test_in_a_batch_each_case_is_as_the_library_has_it(
    engine: Engine, cases: list[dict[str, Any]]
) -> None:
    events = _events(cases)
    matched = engine.match_batch([_EVENTBRIDGE.read_event(event) for event in events.values()])
    assert _wrong(cases, dict(zip(events, matched, strict=True))) == []


def test_every_pattern_and_every_event_are_as_the_twin_has_them(
    cases: list[dict[str, Any]],
) -> None:
    engine = _engine("columnar", cases)
    patterns = {json.dumps(case["pattern"]): case["pattern"] for case in cases}
    for event in _events(cases).values():
        said = {text for text, pattern in patterns.items() if matches(pattern, event)}
        assert set(engine.match(_EVENTBRIDGE.read_event(event))) == said, event


def test_in_a_table_each_case_is_as_the_library_has_it(
    engine: Engine, cases: list[dict[str, Any]]
) -> None:
    events = _events(cases)
    found = {}
    for text, event in events.items():
        attributes = _EVENTBRIDGE.read_event(event)
        try:
            table = pa.Table.from_pylist([_plain(attributes)])
        except pa.ArrowException:
            continue  # a column of strings and numbers
        if table.num_columns:
            found[text] = engine.match_arrow(table)["subscription"].to_pylist()
    fitting = [case for case in cases if json.dumps(case["event"]) in found]
    assert len(fitting) > 500
    assert _wrong(fitting, found) == []


def _plain(value: Any) -> Any:
    if isinstance(value, Elements):
        return value.plain()
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value


def test_patterns_are_accepted_and_refused_as_by_the_library() -> None:
    cases = _lines("eventbridge_validity.jsonl")
    assert [case for case in cases if _is_valid(case["pattern_text"]) != case["valid"]] == []


def _is_valid(text: str) -> bool:
    try:
        _EVENTBRIDGE.parse(text)
    except PredicastError:
        return False
    return True


def test_nearly_all_patterns_can_be_written_again(cases: list[dict[str, Any]]) -> None:
    texts = dict.fromkeys(json.dumps(case["pattern"]) for case in cases)
    written = 0
    for text in texts:
        subscription = _EVENTBRIDGE.parse(text)
        try:
            again = _EVENTBRIDGE.to_text(subscription)
        except PredicastError:
            continue  # an alternative of absence and a value, which is no one pattern's clauses
        assert set(_EVENTBRIDGE.parse(again).clauses) == set(subscription.clauses)
        written += 1
    assert written >= len(texts) - 4
