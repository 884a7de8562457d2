"""Events of attributes that are read by an ontology, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.cli.conftest import Run

SHOP = """
@prefix : <http://shop.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Laptop rdfs:subClassOf :Computer .
:cellPhoneNumber rdfs:subPropertyOf :telephoneNumber .
:soldAt rdfs:subPropertyOf :happenedAt .
"""
SUBSCRIPTIONS = {
    "computers": "type IS A 'Computer' AND price < 400",
    "others": "type IS NOT A 'Laptop'",
    "phone": "telephoneNumber = '1'",
    "lately": "happenedAt > TIMESTAMP '2026-01-01'",
}
EVENTS = [
    {"type": "Laptop", "price": 350, "cellPhoneNumber": "1", "soldAt": "2026-02-01T00:00:00Z"},
    {"type": "Computer", "price": 900, "cellPhoneNumber": "2", "soldAt": "2025-02-01T00:00:00Z"},
    {"type": "Book", "price": 9, "cellPhoneNumber": None, "soldAt": None},
]
MATCHED = [["computers", "lately", "phone"], ["others"], ["others"]]


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write("shop.ttl", SHOP)
    lines = [{"id": id, "expression": text} for id, text in SUBSCRIPTIONS.items()]
    write("s.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    write("e.jsonl", "".join(json.dumps(event) + "\n" for event in EVENTS))


def write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")


def found(run: Run, *arguments: object) -> list[list[str]]:
    result = run("match", "--ontology", "shop.ttl", "--all", *arguments)
    return [json.loads(line)["subscriptions"] for line in result.stdout.splitlines()]


def test_json_lines(run: Run) -> None:
    assert found(run, "--events", "e.jsonl", "--subscriptions", "s.jsonl") == MATCHED
    assert found(run, "s.jsonl", "e.jsonl", "--matcher", "brute-force") == MATCHED
    noted = run("match", "--ontology", "shop.ttl", "s.jsonl", "e.jsonl").stderr
    assert "strings of 'soldAt' such as '2026-02-01T00:00:00Z' are read as timestamps" in noted


def test_cells_and_columns(run: Run) -> None:
    names = list(EVENTS[0])
    rows = [",".join("" if e[name] is None else str(e[name]) for name in names) for e in EVENTS]
    write("e.csv", "\n".join([",".join(names), *rows]) + "\n")
    stated = ["--type", "cellPhoneNumber=string"]
    assert found(run, "s.jsonl", "e.csv", *stated) == MATCHED
    noted = run("match", "--ontology", "shop.ttl", "s.jsonl", "e.csv").stderr
    assert "column 'cellPhoneNumber' holds numbers; one constraint compares it with a s" in noted
    table = pa.table({name: [event[name] for event in EVENTS] for name in names})
    times = pa.array([text and text.rstrip("Z") for text in table["soldAt"].to_pylist()])
    place = names.index("soldAt")
    pq.write_table(table.set_column(place, "soldAt", times.cast(pa.timestamp("us"))), "e.parquet")
    assert found(run, "s.jsonl", "e.parquet") == MATCHED


def test_several_ontologies_are_one(run: Run) -> None:
    write("more.ttl", SHOP.replace(":Laptop rdfs:", ":Book rdfs:"))
    assert found(run, "--ontology", "more.ttl", "s.jsonl", "e.jsonl")[2] == ["computers", "others"]


def test_two_attributes_that_are_compared_may_be_given_by_others(run: Run) -> None:
    write("s.jsonl", json.dumps({"id": "a", "expression": "telephoneNumber > price"}))
    write("e.jsonl", json.dumps({"cellPhoneNumber": 2, "price": 1}))
    result = run("match", "--ontology", "shop.ttl", "s.jsonl", "e.jsonl")
    assert result.stdout == '{"event":0,"subscriptions":["a"]}\n'
    assert result.stderr == ""


def test_explain(run: Run) -> None:
    arguments = ["--ontology", "shop.ttl", "s.jsonl"]
    shown = run("explain", *arguments, "computers", json.dumps(EVENTS[0])).stdout
    assert "type IS A 'Computer'" in shown
    assert "computers matches the event." in shown
    shown = run("explain", *arguments, "phone", json.dumps(EVENTS[0])).stdout
    assert "from cellPhoneNumber = '1'" in shown
    run("explain", *arguments, "others", json.dumps(EVENTS[0]), code=1)


def test_what_is_wrong_is_said_with_its_place(run: Run) -> None:
    write("s.jsonl", json.dumps({"id": "a", "expression": "type IS A 'Comptuer'"}))
    refused = run("match", "--ontology", "shop.ttl", "s.jsonl", "e.jsonl", code=2).stderr
    assert "s.jsonl, line 1: subscription 'a': line 1, column 11: the ontology has no" in refused
    assert "did you mean 'Computer'?" in refused
    refused = run("match", "s.jsonl", "e.jsonl", code=2).stderr
    assert "IS A is about the classes of an ontology" in refused
    write("shop.ttl", "nonsense")
    refused = run("match", "--ontology", "shop.ttl", "s.jsonl", "e.jsonl", code=2).stderr
    assert refused.startswith("Error: shop.ttl: this is not turtle: line 1 ")


@pytest.mark.parametrize(
    "pattern", ["ASK { _:H :target ?x }", "(_:H, ?1, (Selling, target, Computer))"]
)
def test_patterns_of_graphs_are_asked_about(run: Run, pattern: str) -> None:
    write("s.jsonl", json.dumps({"id": "a", "expression": pattern}))
    refused = run("match", "--ontology", "shop.ttl", "s.jsonl", "e.jsonl", code=2).stderr
    assert "it looks like a graph pattern; if events are graphs, say --graphs" in refused
    run("match", "--graphs", "--ontology", "shop.ttl", "s.jsonl", "e.jsonl")
    refused = run("match", "--ontology", "shop.ttl", "s.jsonl", "e.jsonl", "e.jsonl", code=2).stderr
    assert "say --graphs" in " ".join(refused.replace("│", " ").split())
