"""``lint``, ``backtest`` and ``profile`` on files: what they print, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from predicast.cli.backtest import is_spark_path
from tests.unit.cli.conftest import Run

RULES = """id,expression,owner
cheap,price < 10 AND symbol = 'IBM',ann
cheaper,price < 5 AND symbol = 'IBM',ann
same,symbol = 'IBM' AND NOT price >= 10,ann
never,price < 5 AND price > 10,bob
typo,prise = 3,bob
text,price = '10',bob
slow,symbol != 'IBM',bob
bad,price <,bob
"""
EVENTS: list[dict[str, Any]] = [
    {"price": 9.5, "symbol": "IBM", "at": "2026-01-31T12:00:00Z"},
    {"price": 120, "symbol": "SAP", "at": "2026-01-31T13:00:00Z"},
]


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    (folder / "rules.csv").write_text(RULES, encoding="utf-8")
    (folder / "events.jsonl").write_text("\n".join(map(json.dumps, EVENTS)), encoding="utf-8")
    table = pa.Table.from_pylist([{**each, "price": float(each["price"])} for each in EVENTS])
    pq.write_table(table, folder / "events.parquet")
    lines = [",".join(EVENTS[0]), *(",".join(map(str, each.values())) for each in EVENTS)]
    (folder / "events.csv").write_text("\n".join(lines), encoding="utf-8")


def linted(run: Run, *arguments: object, code: int = 1) -> list[tuple[int, str, str]]:
    document = json.loads(run("lint", "rules.csv", "--json", *arguments, code=code).stdout)
    assert document["subscriptions"] == 8
    return [(each["line"], each["id"], each["check"]) for each in document["findings"]]


@pytest.mark.parametrize("events", ["events.jsonl", "events.parquet", "events.csv"])
def test_lint_names_lines(run: Run, events: str) -> None:
    assert linted(run, "--events", events) == [
        (3, "cheaper", "covered"),
        (4, "same", "duplicate"),
        (5, "never", "never-true"),
        (6, "typo", "unknown-attribute"),
        (7, "text", "other-kind"),
        (8, "slow", "costly"),
        (9, "bad", "invalid"),
    ]


def test_lint_makes_the_checks_that_are_asked_for(run: Run) -> None:
    assert linted(run, "--check", "covered", "--check", "duplicate") == [
        (3, "cheaper", "covered"),
        (4, "same", "duplicate"),
        (9, "bad", "invalid"),
    ]
    error = run("lint", "rules.csv", "--check", "coverd", code=2).stderr
    assert "did you mean 'covered'" in error


def test_the_exit_code_says_what_was_found(run: Run, folder: Path) -> None:
    (folder / "rules.csv").write_text("id,expression\na,x != 1\n", encoding="utf-8")
    assert "costly" in run("lint", "rules.csv").stdout
    run("lint", "rules.csv", "--fail-on", "note", code=1)
    (folder / "rules.csv").write_text("id,expression\na,x = 1\nb,x = 1\n", encoding="utf-8")
    assert "2 subscriptions: 1 warning." in run("lint", "rules.csv", code=1).stdout
    run("lint", "rules.csv", "--fail-on", "error")
    (folder / "rules.csv").write_text("id,expression\na,x <\n", encoding="utf-8")
    assert "1 error" in run("lint", "rules.csv", "--fail-on", "error", code=1).stdout
    run("lint", "rules.csv", "--fail-on", "never")
    (folder / "rules.csv").write_text("id,expression\na,x = 1\n", encoding="utf-8")
    assert run("lint", "rules.csv").stdout == "1 subscription: nothing found.\n"


def test_times_in_json_are_times_where_some_are_expected(run: Run, folder: Path) -> None:
    rule = "id,expression\na,at > TIMESTAMP '2026-01-01 00:00:00' AND symbol = 'IBM'\n"
    (folder / "rules.csv").write_text(rule, encoding="utf-8")
    assert "nothing found" in run("lint", "rules.csv", "--events", "events.jsonl").stdout


def test_a_sample_has_events(run: Run, folder: Path) -> None:
    (folder / "none.jsonl").write_text("", encoding="utf-8")
    error = run("lint", "rules.csv", "--events", "none.jsonl", code=2).stderr
    assert "none.jsonl: has no events to compare with" in error
    run("lint", "-", "--events", "-", code=2)


def test_a_line_within_a_text_belongs_to_its_subscription(run: Run, folder: Path) -> None:
    text = "- id: a\n  expression: x = 1\n- id: b\n  expression: |\n    x = 1\n    AND y <\n"
    (folder / "rules.yaml").write_text(text, encoding="utf-8")
    (finding,) = json.loads(run("lint", "rules.yaml", "--json", code=1).stdout)["findings"]
    assert (finding["line"], finding["id"], finding["check"]) == (6, "b", "invalid")


def test_costs_are_told_of_all(run: Run) -> None:
    document = json.loads(run("lint", "rules.csv", "--json", code=1).stdout)
    assert document["costs"]["slow"] == "high"
    assert document["costs"]["cheap"] == "low"


OLD = "id,expression\nkept,price < 10\nmoved,price < 10\ngone,symbol = 'SAP'\n"
NEW = "id,expression\nkept,price < 10\nmoved,price < 200\nadded,price > 1000\n"


@pytest.fixture
def versions(folder: Path) -> None:
    (folder / "old.csv").write_text(OLD, encoding="utf-8")
    (folder / "new.csv").write_text(NEW, encoding="utf-8")


@pytest.mark.usefixtures("versions")
@pytest.mark.parametrize("events", ["events.jsonl", "events.parquet", "events.csv"])
def test_a_backtest_compares_two_versions(run: Run, events: str) -> None:
    given = ("backtest", "--subscriptions", "new.csv", "--against", "old.csv", "--events", events)
    document = json.loads(run(*given, "--json").stdout)
    assert (document["events"], document["never"]) == (2, ["added"])
    counts = [
        tuple(each[name] for name in ("id", "state", "fired", "before", "gained", "lost"))
        for each in document["subscriptions"]
    ]
    assert counts == [
        ("kept", "same", 1, 1, 0, 0),
        ("moved", "changed", 2, 1, 1, 0),
        ("added", "new", 0, 0, 0, 0),
        ("gone", "removed", 0, 1, 0, 1),
    ]
    assert document["subscriptions"][1]["gained_samples"][0]["price"] == 120
    shown = run(*given, "--changed").stdout
    assert "kept" not in shown
    assert "+ price=120" in shown
    assert "- price=120" in shown
    assert "2 events, 3 matches, 1 gained and 1 lost; 1 subscription never fired." in shown


@pytest.mark.usefixtures("versions")
def test_a_backtest_of_one_version(run: Run, folder: Path) -> None:
    history = (folder / "events.jsonl").read_bytes()
    result = run(
        "backtest", "--subscriptions", "new.csv", "--events", "-", "--samples", 1, input=history
    )
    assert "gained" not in result.stdout
    assert "2 events, 3 matches; 1 subscription never fired." in result.stdout
    run("backtest", "--subscriptions", "-", "--events", "-", code=2)


def test_a_backtest_takes_its_files_by_place_or_by_name(run: Run, folder: Path) -> None:
    (folder / "new.csv").write_text("id,expression\ncheap,price < 10\n", encoding="utf-8")
    by_place = run("backtest", "new.csv", "events.jsonl").stdout
    assert by_place == run("backtest", "--subscriptions", "new.csv", "events.jsonl").stdout
    assert by_place == run("backtest", "new.csv", "--events", "events.jsonl").stdout
    assert "2 events, 1 match" in by_place
    assert "'EVENTS': missing" in run("backtest", "new.csv", code=2).stderr
    two = run("backtest", "new.csv", "events.jsonl", "--events", "events.csv", code=2).stderr
    assert "one history at a time" in two


def test_a_spark_path_is_more_than_a_file(folder: Path) -> None:
    assert is_spark_path(str(folder))
    assert is_spark_path("s3a://bucket/history")
    assert is_spark_path("history/*.parquet")
    assert not is_spark_path("events.parquet")
    assert not is_spark_path("-")
    assert not is_spark_path("missing.parquet")


def test_a_profile_counts_matches(run: Run, folder: Path) -> None:
    (folder / "rules.csv").write_text(OLD + "slow,NOT price = 3\n", encoding="utf-8")
    document = json.loads(run("profile", "rules.csv", "events.csv", "--json").stdout)
    matched = {each["id"]: each["matched"] for each in document["subscriptions"]}
    assert matched == {"kept": 1, "moved": 1, "gone": 1, "slow": 2}
    shown = run("profile", "rules.csv", "events.jsonl", "--limit", 2, "--measured", 0).stdout
    assert "2 events; the first 2 of 4 are shown." in shown
    (folder / "rules.csv").write_text("id,expression\na,price = 0\n", encoding="utf-8")
    assert "2 events; never matched: a." in run("profile", "rules.csv", "events.jsonl").stdout
