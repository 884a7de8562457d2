"""The commands with subscriptions and events of CloudEvents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import Run

EVENT: dict[str, Any] = {
    "specversion": "1.0",
    "id": "1",
    "source": "/shop",
    "type": "com.example.sold",
    "hop": "5",
    "ttl": 7,
    "data": {"price": 5},
}
RECORDS: list[dict[str, Any]] = [
    {"id": "cesql", "expression": "type LIKE 'com.example.%' AND hop < ttl"},
    {"id": "filter", "expression": {"prefix": {"source": "/shop"}}, "dialect": "cloudevents"},
    {"id": "where", "expression": "data.price < 10", "dialect": "where"},
]


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_lines(folder / "s.jsonl", RECORDS)
    write_lines(folder / "e.jsonl", [EVENT, {**EVENT, "hop": "9"}])
    batch = json.dumps([EVENT, {**EVENT, "source": "/else"}])
    (folder / "batch.cloudevents").write_text(batch, encoding="utf-8")


def write_lines(path: Path, documents: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")


def matched(text: str) -> list[list[str]]:
    return [json.loads(line)["subscriptions"] for line in text.splitlines()]


def test_events_of_a_file(run: Run) -> None:
    found = run("match", "--dialect", "cesql", "s.jsonl", "e.jsonl").stdout
    assert matched(found) == [["cesql", "filter", "where"], ["filter", "where"]]


def test_events_of_a_batch(run: Run) -> None:
    found = run("match", "--dialect", "cesql", "s.jsonl", "batch.cloudevents").stdout
    assert matched(found) == [["cesql", "filter", "where"], ["cesql", "where"]]


def test_what_is_no_cloud_event_is_refused_by_its_line(run: Run, folder: Path) -> None:
    write_lines(folder / "e.jsonl", [EVENT, {"type": "a"}])
    result = run("match", "--dialect", "cesql", "s.jsonl", "e.jsonl", code=2)
    assert "e.jsonl, line 2: a CloudEvent has the attributes" in result.stderr


def test_from_cesql_to_where_and_back(run: Run, folder: Path) -> None:
    write_lines(folder / "few.jsonl", [{"id": "a", "expression": "type = 'b' AND hop < 5"}])
    converted = run("convert", "--from", "cesql", "--to", "where", "few.jsonl").stdout
    [record] = [json.loads(line) for line in converted.splitlines()]
    assert record["expression"] == "type = 'b' AND cesql('INT(hop)') < 5"
    (folder / "where.jsonl").write_text(converted, encoding="utf-8")
    back = run("convert", "--to", "cesql", "where.jsonl").stdout
    assert json.loads(back)["expression"] == "type = 'b' AND hop < 5"


def test_what_cesql_cannot_say_is_not_converted(run: Run, folder: Path) -> None:
    write_lines(folder / "few.jsonl", [{"id": "a", "expression": "price < 5"}])
    result = run("convert", "--from", "where", "--to", "cesql", "few.jsonl", code=2)
    assert "CESQL has no expression that means price < 5" in " ".join(result.stderr.split())
