"""``--type`` and ``--null`` mean the same whatever the events are written in."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from predicast.cli import app
from predicast.cli.files.csv_types import CsvType
from tests.unit.cli.conftest import Run
from tests.unit.cli.csv_twin import cells

SUBSCRIPTIONS = """\
{"id": "text", "expression": "a = '501'"}
{"id": "number", "expression": "a = 501"}
{"id": "true", "expression": "a"}
{"id": "late", "expression": "a >= TIMESTAMP '2026-01-31'"}
{"id": "none", "expression": "a IS NULL"}
{"id": "some", "expression": "a IS NOT NULL"}
{"id": "low", "expression": "a < 0"}
{"id": "like", "expression": "a LIKE '%1%'"}
"""


@pytest.fixture(autouse=True)
def subscriptions(folder: Path) -> None:
    (folder / "s.jsonl").write_text(SUBSCRIPTIONS, encoding="utf-8")


def write(name: str, values: list[Any]) -> None:
    if name.endswith("parquet"):
        pq.write_table(pa.table({"a": values}), name)
    else:
        Path(name).write_text(
            "".join(json.dumps({"a": value}) + "\n" for value in values), encoding="utf-8"
        )


def found(run: Run, name: str, *arguments: str) -> list[list[str]]:
    lines = run("match", "s.jsonl", name, "--all", *arguments).stdout.splitlines()
    return [json.loads(line)["subscriptions"] for line in lines]


def refusal(run: Run, name: str, type: str) -> str:
    """The error, without the notes: the subscriptions compare with values of every kind."""
    return run("match", "s.jsonl", name, "--type", type, code=2).stderr.splitlines()[-1]


FILES = pytest.mark.parametrize("name", ["e.jsonl", "e.parquet"])


@FILES
@pytest.mark.parametrize(
    ("type", "values", "expected"),
    [
        ("string", [501, None], [["like", "some", "text"], ["none"]]),
        ("string", ["501", ""], [["like", "some", "text"], ["some"]]),
        ("integer", ["501", "-1"], [["number", "some"], ["low", "some"]]),
        ("integer", ["501", ""], [["number", "some"], ["none"]]),
        ("integer", [501, None], [["number", "some"], ["none"]]),
        ("float", ["501", "-0.5"], [["number", "some"], ["low", "some"]]),
        ("float", [501.0, -0.5], [["number", "some"], ["low", "some"]]),
        ("float", [501, -1], [["number", "some"], ["low", "some"]]),
        ("boolean", ["TRUE", "false"], [["some", "true"], ["some"]]),
        ("boolean", [True, False], [["some", "true"], ["some"]]),
        ("timestamp", ["2026-01-31", "2026-01-30 23:59Z"], [["late", "some"], ["some"]]),
    ],
)
def test_strings_are_read_and_what_is_right_stays(
    run: Run, name: str, type: str, values: list[Any], expected: list[list[str]]
) -> None:
    write(name, values)
    assert found(run, name, "--type", f"a={type}") == expected


@FILES
@pytest.mark.parametrize(
    ("type", "values", "shown"),
    [
        ("integer", ["1", "12a"], "12a"),
        ("integer", ["1", "9.5"], "9.5"),
        ("integer", ["1", "99999999999999999999"], "99999999999999999999"),
        ("boolean", ["true", "1"], "1"),
        ("timestamp", ["2026-01-31", "soon"], "soon"),
        ("float", ["1", "NaN"], "NaN"),
    ],
)
def test_a_string_that_does_not_fit_is_refused_with_its_place(
    run: Run, name: str, type: str, values: list[Any], shown: str
) -> None:
    write(name, values)
    error = refusal(run, name, f"a={type}")
    what, place = ("column", "row") if name.endswith("parquet") else ("attribute", "line")
    assert error == f"Error: {name}, {place} 2: {what} 'a': '{shown}' is not of type {type}"


@FILES
@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("string", 9.5),
        ("string", True),
        ("integer", 9.5),
        ("integer", True),
        ("float", False),
        ("boolean", 1),
        ("timestamp", 5),
    ],
)
def test_what_would_be_a_guess_is_refused(run: Run, name: str, type: str, value: Any) -> None:
    write(name, [value])
    error = refusal(run, name, f"a={type}")
    assert error.startswith(f"Error: {name}")
    assert "'a'" in error
    assert type in error


def test_an_interval_says_what_it_is_of(run: Run, folder: Path) -> None:
    write("e.jsonl", [{"$interval": {"lo": 500, "hi": 502}}])
    assert found(run, "e.jsonl", "--type", "a=integer") == [["number", "some"]]
    error = run("match", "s.jsonl", "e.jsonl", "--type", "a=timestamp", code=2).stderr
    assert error.startswith("Error: e.jsonl, line 1: attribute 'a': [500, 502] is not of type")


def test_an_attribute_inside_of_another(run: Run, folder: Path) -> None:
    (folder / "s.jsonl").write_text(
        '{"id": "s", "expression": "order.total > 5"}', encoding="utf-8"
    )
    (folder / "e.jsonl").write_text(
        '{"order": {"total": "6"}}\n{"order": null}\n', encoding="utf-8"
    )
    pq.write_table(pa.table({"order": [{"total": "6"}, None]}), "e.parquet")
    for name in ("e.jsonl", "e.parquet"):
        assert found(run, name, "--type", "order.total=integer") == [["s"], []]
        assert found(run, name) == [[], []]


@FILES
def test_a_text_may_stand_for_no_value(run: Run, name: str) -> None:
    write(name, ["NA", "501", "-"])
    options = ["--null", "NA", "--null", "-", "--type", "a=integer"]
    assert found(run, name, *options) == [["none"], ["number", "some"], ["none"]]
    assert found(run, name, "--null", "NA")[0] == ["none"]


def test_rows_without_any_known_column_still_count(run: Run) -> None:
    pq.write_table(pa.table({"other": ["NA", "1", "2"]}), "e.parquet")
    assert len(found(run, "e.parquet", "--null", "NA", "--type", "other=integer")) == 3


def test_strings_however_parquet_stores_them(run: Run) -> None:
    for kind in (pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        pq.write_table(pa.table({"a": pa.array(["501", "NA", None], kind)}), "e.parquet")
        assert found(run, "e.parquet", "--type", "a=integer", "--null", "NA") == [
            ["number", "some"],
            ["none"],
            ["none"],
        ]


def test_a_name_that_is_not_there(run: Run) -> None:
    write("e.parquet", ["1"])
    error = run("match", "s.jsonl", "e.parquet", "--type", "aa=integer", code=2).stderr
    assert error == "Error: e.parquet: there is no column 'aa'; is it 'a'?\n"
    write("e.jsonl", ["1"])
    assert run("match", "s.jsonl", "e.jsonl", "--type", "aa=integer").stderr == (
        "Note: e.jsonl has no event with the attribute 'aa', whose type was stated\n"
    )


def test_no_note_on_a_kind_that_was_put_right(run: Run, folder: Path) -> None:
    (folder / "s.jsonl").write_text('{"id": "s", "expression": "a > 500"}', encoding="utf-8")
    write("e.parquet", ["501"])
    assert "which never holds" in run("match", "s.jsonl", "e.parquet").stderr
    assert run("match", "s.jsonl", "e.parquet", "--type", "a=integer").stderr == ""


@given(
    st.lists(
        cells().filter(lambda c: "\r" not in c and "\0" not in c) | st.just("501"), max_size=3
    ),
    st.sampled_from([kind for kind in CsvType if kind is not CsvType.STRING]),
)
def test_strings_are_read_as_cells_of_csv_are(column: list[str], type: CsvType) -> None:
    def result(name: str) -> Result:
        arguments = ["match", "s.jsonl", name, "--all", "--type", f"a={type}"]
        return CliRunner().invoke(app, arguments, catch_exceptions=False)

    write("e.jsonl", column)
    pq.write_table(pa.table({"a": pa.array(column, pa.string())}), "e.parquet")
    with Path("e.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["a"], *([cell] for cell in column)])
    expected = result("e.csv")
    for name in ("e.jsonl", "e.parquet"):
        found = result(name)
        assert (found.exit_code, found.stdout) == (expected.exit_code, expected.stdout)
