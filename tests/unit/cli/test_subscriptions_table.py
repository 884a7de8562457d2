"""``predicast subscriptions``: a table changed and looked at from the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from predicast import spark as ps
from tests.unit.cli.conftest import Run
from tests.unit.cli.terminals import on_a_terminal


def json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def table(run: Run) -> str:
    run("subscriptions", "add", "t", "cheap", "price < 10", "--owner", "alice")
    run("subscriptions", "add", "t", "near", "x < :limit", "--parameter", "limit=5")
    return "t"


def test_add_says_the_version(run: Run) -> None:
    result = run("subscriptions", "add", "t", "a", "price < 10")
    assert json_lines(result.stdout) == [{"version": 1, "subscribed": 1}]
    assert ps.SubscriptionTable("t").engine().match({"price": 5}) == ["a"]


def test_a_file_is_one_version(run: Run, folder: Path) -> None:
    (folder / "s.csv").write_text(
        "name,says,owner\na,price < 10,ann\nb,price < 20,\n", encoding="utf-8"
    )
    fields = ("--id", "name", "--expression", "says", "--owner", "bob")
    result = run("subscriptions", "add", "t", "--from", "s.csv", *fields)
    assert json_lines(result.stdout) == [{"version": 1, "subscribed": 2}]
    engine = ps.SubscriptionTable("t").engine()
    assert [(entry.id, entry.text, entry.owner) for entry in engine.subscriptions()] == [
        ("a", "price < 10", "ann"),
        ("b", "price < 20", "bob"),
    ]


def test_a_file_with_a_mistake_changes_nothing(run: Run, table: str) -> None:
    lines = '{"id": "a", "expression": "x = 1"}\n{"id": "b", "expression": "x ="}\n'
    result = run("subscriptions", "add", table, "--from", "-", input=lines, code=2)
    assert "standard input, line 2: subscription 'b'" in result.stderr
    assert ps.SubscriptionTable(table).version == 2


def test_an_id_that_is_taken_is_refused_or_replaced(run: Run, table: str) -> None:
    result = run("subscriptions", "add", table, "cheap", "price < 5", code=2)
    assert "'cheap'" in result.stderr
    result = run("subscriptions", "add", table, "cheap", "price < 5", "--replace")
    assert json_lines(result.stdout) == [
        {"version": 3, "subscribed": 0, "changed": 1, "unsubscribed": 0}
    ]


def test_change(run: Run, table: str) -> None:
    run("subscriptions", "change", table, "cheap", "price < 20")
    run("subscriptions", "change", table, "near", "-p", "limit=7")
    engine = ps.SubscriptionTable(table).engine()
    assert engine.match({"price": 15, "x": 6}) == ["cheap", "near"]
    assert engine.get("cheap").owner == "alice"
    lines = '{"id": "cheap", "expression": "price < 1"}\n'
    run("subscriptions", "change", table, "--from", "-", input=lines)
    assert ps.SubscriptionTable(table).engine().get("cheap").text == "price < 1"


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("5", 5),
        ("2.5", 2.5),
        ("true", True),
        ("IBM", "IBM"),
        ('"5"', "5"),
        ("a = b", "a = b"),
        ("", ""),
        ("null", "null"),
    ],
)
def test_values_of_parameters(run: Run, given: str, value: object) -> None:
    run("subscriptions", "add", "t", "a", "x = :v", "-p", f"v={given}")
    assert ps.SubscriptionTable("t").engine().get("a").parameters == {"v": value}


def test_remove(run: Run, table: str) -> None:
    run("subscriptions", "add", table, "more", "y = 1", "--owner", "alice")
    result = run("subscriptions", "remove", table, "--owner", "alice")
    assert json_lines(result.stdout)[0]["unsubscribed"] == 2
    run("subscriptions", "remove", table, "near", "nobody", code=2)
    assert list(ps.SubscriptionTable(table).engine()) == ["near"]
    run("subscriptions", "remove", table, "near")
    assert list(ps.SubscriptionTable(table).engine()) == []


def test_list_is_what_add_takes(run: Run, table: str) -> None:
    document = '{"any":[{"all":[{"attribute":"x","operator":"<","value":5}]}]}'
    run(
        "subscriptions",
        "add",
        table,
        "--from",
        "-",
        input=f'{{"id": "z", "subscription": {document}}}\n',
    )
    listed = run("subscriptions", "list", table).stdout
    assert json_lines(listed) == [
        {"id": "cheap", "owner": "alice", "expression": "price < 10"},
        {"id": "near", "expression": "x < :limit", "parameters": {"limit": 5}},
        {"id": "z", "expression": "x < 5"},
    ]
    assert json_lines(run("subscriptions", "list", table, "--limit", 1).stdout) == json_lines(
        run("subscriptions", "list", table, "--owner", "alice").stdout
    )
    again = "".join(line for line in listed.splitlines(keepends=True) if "near" not in line)
    run("subscriptions", "add", "copy", "--from", "-", input=again)
    assert len(ps.SubscriptionTable("copy").engine()) == 2


def test_list_of_a_version_and_of_a_time(run: Run, table: str) -> None:
    first = run("subscriptions", "list", table, "--version", 1).stdout
    assert [each["id"] for each in json_lines(first)] == ["cheap"]
    latest = run("subscriptions", "list", table, "--at", "2100-01-01").stdout
    assert [each["id"] for each in json_lines(latest)] == ["cheap", "near"]
    assert "no version 7" in run("subscriptions", "list", table, "--version", 7, code=2).stderr
    assert "2026-01-31" in run("subscriptions", "list", table, "--at", "soon", code=2).stderr


def test_history(run: Run, table: str) -> None:
    commits = json_lines(run("subscriptions", "history", table).stdout)
    assert [each["version"] for each in commits] == [2, 1, 0]
    assert commits[0]["subscribed"] == 1
    assert commits[2]["operation"] == "create table"
    assert len(json_lines(run("subscriptions", "history", table, "--limit", 1).stdout)) == 1


def test_diff(run: Run, table: str) -> None:
    run("subscriptions", "change", table, "cheap", "price < 20")
    run("subscriptions", "remove", table, "near")
    changes = json_lines(run("subscriptions", "diff", table, 2).stdout)
    assert [(each["id"], each["change"]) for each in changes] == [
        ("cheap", "changed"),
        ("near", "unsubscribed"),
    ]
    assert changes[0]["before"]["expression"] == "price < 10"
    assert changes[0]["after"]["expression"] == "price < 20"
    assert json_lines(run("subscriptions", "diff", table, 1, 2).stdout)[0]["change"] == "subscribed"


def test_a_terminal_gets_tables(run: Run, table: str) -> None:
    run("subscriptions", "change", table, "near", "-p", "limit=7")
    predicast = [sys.executable, "-m", "predicast", "subscriptions"]
    _, listed = on_a_terminal([*predicast, "list", table])
    assert "Version 3: 2 subscriptions." in listed
    assert "price < 10" in listed
    _, history = on_a_terminal([*predicast, "history", table])
    assert "1 changed" in history
    _, difference = on_a_terminal([*predicast, "diff", table, "2"])
    assert '{"limit":5}' in difference
    assert "1 subscription differs." in difference
    _, removed = on_a_terminal([*predicast, "remove", table, "cheap"])
    assert removed.strip() == "Version 4: 1 unsubscribed."


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("list", "none"), "there is no table"),
        (("change", "none", "a", "x = 1"), "there is no table"),
        (("add", "t"), "give ID and EXPRESSION, or --from FILE"),
        (("add", "t", "a"), "say what it states"),
        (("add", "t", "a", "x = 1", "--from", "f.csv"), "not both"),
        (("add", "t", "a", "x = :v", "-p", "v"), "NAME=VALUE"),
        (("remove", "t"), "give ids, or an owner"),
        (("change", "t", "a"), "expression, parameters, or both"),
    ],
)
def test_mistakes(run: Run, table: str, arguments: tuple[str, ...], says: str) -> None:
    result = run("subscriptions", *arguments, code=2)
    assert says in " ".join(result.stderr.replace("│", " ").split())
