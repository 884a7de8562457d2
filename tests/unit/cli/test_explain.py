"""``predicast explain``: the tree, the JSON, the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from predicast.language import parse_where, subscription_to_json
from tests.unit.cli.conftest import Run


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    (folder / "s.jsonl").write_text(
        '{"id": "a", "expression": '
        "\"price < 10 AND symbol = 'IBM' OR at > TIMESTAMP '2026-01-31'\"}\n"
        '{"id": "unreadable", "expression": "price <"}\n'
        '{"id": "all", "expression": "TRUE"}\n'
        '{"id": "none", "expression": "FALSE"}\n'
        '{"id": "range", "expression": "x < 5 AND x > 7"}\n',
        encoding="utf-8",
    )


def test_matched_is_0_and_not_matched_is_1(run: Run) -> None:
    text = run("explain", "s.jsonl", "a", '{"price": 9, "symbol": "IBM"}').stdout
    assert [line.rstrip() for line in text.splitlines()] == [
        "✓ OR",
        "├── ✓ AND",
        "│   ├── ✓ price < 10  saw 9",
        "│   └── ✓ symbol = 'IBM'  saw 'IBM'",
        "└── ? at > TIMESTAMP '2026-01-31'  saw absent",
        "a matches the event.",
    ]
    assert text.endswith("a matches the event.\n")
    text = run("explain", "s.jsonl", "a", '{"price": "9"}', code=1).stdout
    assert "'9'" in text
    assert "a string, where the constraint is on a number" in " ".join(text.split())
    assert text.endswith("a does not match the event.\n")


def test_subscriptions_without_constraints(run: Run) -> None:
    assert "TRUE" in run("explain", "s.jsonl", "all", "{}").stdout
    assert "✗ FALSE" in run("explain", "s.jsonl", "none", "{}", code=1).stdout


def test_regions(run: Run) -> None:
    event = '{"x": {"$interval": {"lo": 0, "hi": 10}}}'
    text = run("explain", "s.jsonl", "range", event, code=1).stdout
    assert "[0, 10]" in text
    assert "no one point satisfies all" in " ".join(text.split())


def test_absent_may_pass(run: Run) -> None:
    run("explain", "s.jsonl", "a", "{}", code=1)
    run("explain", "s.jsonl", "a", "{}", "--absent", "passes")


def test_json(run: Run) -> None:
    event = '{"price": 9, "at": {"$timestamp": "2026-01-31T00:00:00Z"}}'
    document = json.loads(run("explain", "s.jsonl", "a", event, "--json", code=1).stdout)
    assert document["id"] == "a"
    assert document["matched"] is False
    assert document["outcome"] == {
        "text": "OR",
        "held": None,
        "parts": [
            {
                "text": "AND",
                "held": None,
                "parts": [
                    {
                        "text": "price < 10",
                        "held": True,
                        "seen": [{"attribute": "price", "value": 9}],
                    },
                    {
                        "text": "symbol = 'IBM'",
                        "held": None,
                        "seen": [{"attribute": "symbol", "value": None}],
                    },
                ],
            },
            {
                "text": "at > TIMESTAMP '2026-01-31'",
                "held": False,
                "seen": [{"attribute": "at", "value": {"$timestamp": "2026-01-31T00:00:00Z"}}],
            },
        ],
    }


def test_json_of_what_is_derived_and_why(run: Run) -> None:
    line = json.dumps({"id": "d", "expression": "lower(city) = 'rome'"})
    found = run("explain", "-", "d", '{"City": "Rome"}', "--json", input=line, code=1).stdout
    assert json.loads(found)["outcome"] == {
        "text": "lower(city) = 'rome'",
        "held": None,
        "seen": [
            {
                "attribute": "lower(city)",
                "value": None,
                "inputs": [{"attribute": "city", "value": None}],
            }
        ],
        "reason": "the event has City",
    }


def test_json_of_lists(run: Run) -> None:
    line = json.dumps({"id": "l", "expression": "array_contains(tags, 'x')"})
    found = run("explain", "-", "l", '{"tags": ["x", "y"]}', "--json", input=line).stdout
    assert json.loads(found)["outcome"]["seen"] == [{"attribute": "tags", "value": ["x", "y"]}]


def test_the_json_form_is_explained_by_its_clauses(run: Run) -> None:
    stated = json.loads(subscription_to_json(parse_where("x = 1 OR y <= 2 AND z = 3")))
    line = json.dumps({"id": "j", "subscription": stated})
    result = run("explain", "-", "j", '{"x": 1, "y": 3}', input=line)
    assert "✗ y <= 2  saw 3" in result.stdout


def test_the_event_may_be_in_a_file_or_on_standard_input(run: Run, folder: Path) -> None:
    (folder / "event.json").write_text('{\n  "price": 9,\n  "symbol": "IBM"\n}\n', encoding="utf-8")
    run("explain", "s.jsonl", "a", "@event.json")
    run("explain", "s.jsonl", "a", "-", input='{"price": 9, "symbol": "IBM"}')
    run("explain", "-", "a", "@event.json", input='{"id": "a", "expression": "price = 9"}')


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["s.jsonl", "al", "{}"], "s.jsonl: no subscription has the id 'al'; did you mean 'all'?"),
        (["s.jsonl", "unreadable", "{}"], "s.jsonl, line 2: subscription 'unreadable': line 1"),
        (["s.jsonl", "a", "{"], "the event: not JSON"),
        (["s.jsonl", "a", "{price: 9}"], "the event: not JSON: object keys must be strings"),
        (["s.jsonl", "a", "s.jsonl"], "the event: s.jsonl is a file; write @s.jsonl to read"),
        (["s.jsonl", "a", '{"price": NaN}'], "the event: not JSON"),
        (
            ["s.jsonl", "a", '{"price": {"$timestamp": "x"}}'],
            "the event: attribute 'price': $.price: 'x' is not a timestamp",
        ),
        (["s.jsonl", "a", "[]"], "the event: $: an event is a JSON object"),
        (["s.jsonl", "a", "@none.json"], "none.json: no such file or directory"),
        (["none.jsonl", "a", "{}"], "none.jsonl: no such file or directory"),
        (["-", "a", "-"], "only one of the two can be standard input"),
        (["s.jsonl", "a"], "EVENT"),
    ],
)
def test_refusals(run: Run, arguments: list[str], said: str) -> None:
    result = run("explain", *arguments, code=2)
    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert result.stdout == ""
