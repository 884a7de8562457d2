"""The test kit of the CESQL specification: results and errors, and what passes as a filter."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from bench.real.corpus import MissingCorpusError, case_path
from predicast import Engine
from predicast.errors import ParseError
from predicast.language.cloudevents import evaluate

USUAL = {
    "specversion": "1.0",
    "id": "myId",
    "source": "localhost.localdomain",
    "type": "myType",
}
COUNT = 275


class Case(NamedTuple):
    name: str
    expression: str
    event: dict[str, Any]
    result: Any
    error: str | None


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    try:
        folder = case_path("cesql_tck")
    except MissingCorpusError as error:
        pytest.skip(str(error))
    return [case for path in sorted(folder.glob("*.yaml")) for case in read_cases(path)]


def read_cases(path: Path) -> list[Case]:
    """Composed, and not loaded: a loader makes dates and truths of expressions and results."""
    found = []
    for node in dict(fields(yaml.compose(path.read_text(encoding="utf-8"))))["tests"].value:
        case = dict(fields(node))
        event = USUAL | (plain(case["eventOverrides"]) if "eventOverrides" in case else {})
        if "event" in case:
            event = plain(case["event"])
        result = plain(case["result"]) if "result" in case else None
        error = case["error"].value if "error" in case else None
        name = f"{path.stem}: {case['name'].value}"
        found.append(Case(name, case["expression"].value, event, result, error))
    return found


def fields(node: Any) -> list[tuple[str, Any]]:
    return [(name.value, value) for name, value in node.value]


def plain(node: Any) -> Any:
    """Integers and truths where they are written without quotes, and text."""
    if isinstance(node, yaml.MappingNode):
        return {name: plain(value) for name, value in fields(node)}
    if node.style is not None:
        return node.value
    if node.value.lower() in {"true", "false"}:
        return node.value.lower() == "true"
    return int(node.value) if node.value.lstrip("-").isdecimal() else node.value


def test_every_result_and_every_error_is_as_the_specification_has_it(cases: list[Case]) -> None:
    assert len(cases) == COUNT
    assert {case.name: (case.result, case.error) for case in cases} == {
        case.name: outcome(case) for case in cases
    }


def outcome(case: Case) -> tuple[Any, str | None]:
    try:
        value, error = evaluate(case.expression, case.event)
    except ParseError:
        return case.result, "parse"  # no result is asked for, or the zero value
    assert type(value) is type(case.result)
    return value, None if error is None else error.kind.value


def test_an_event_passes_what_gives_true_without_an_error(cases: list[Case]) -> None:
    engine = Engine()
    wanted = []
    for number, case in enumerate(cases):
        if case.error in {"parse", "missingFunction"}:
            with pytest.raises(ParseError):
                engine.subscribe(case.expression, id=str(number), dialect="cesql")
        else:
            engine.subscribe(case.expression, id=str(number), dialect="cesql")
            wanted.append((number, case))
    for number, case in wanted:
        passes = case.result is True and case.error is None
        assert (str(number) in engine.match(case.event)) is passes, case.name
