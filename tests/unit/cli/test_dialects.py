"""The commands with subscriptions in a dialect: its files, its events, its words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from predicast.cli import app
from tests import wish_list  # noqa: F401  # registers
from tests.unit.cli.conftest import Run

RED = "# title: red and heavy\ncolour is red\nweight over 5"
EVENTS: list[dict[str, Any]] = [
    {"colour": "red", "weight": 7},
    {"colour": "blue", "shape": "round"},
]


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    records: list[dict[str, Any]] = [
        {"id": "red", "expression": RED, "dialect": "wishes", "owner": "alice"},
        {"id": "heavy", "expression": "weight > 5"},
        {"id": "edged", "expression": "not shape is round", "dialect": "wishes"},
    ]
    write_lines(folder / "s.jsonl", records)
    write_lines(folder / "e.jsonl", EVENTS)
    write_lines(folder / "fields.jsonl", [fields(event) for event in EVENTS])
    (folder / "red.wish").write_text(RED, encoding="utf-8")


def write_lines(path: Path, documents: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")


def fields(event: dict[str, Any]) -> dict[str, Any]:
    return {"fields": [{"name": name, "value": value} for name, value in event.items()]}


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


MATCHED = [
    {
        "event": 0,
        "subscriptions": ["edged", "heavy", "red"],
        "about": {"red": {"title": "red and heavy"}},
    },
]


# Matching.


def test_a_record_may_name_its_dialect(run: Run) -> None:
    assert lines(run("match", "s.jsonl", "e.jsonl").stdout) == MATCHED


def test_a_table_shows_titles(run: Run) -> None:
    shown = " ".join(run("match", "s.jsonl", "e.jsonl", "--format", "table").stdout.split())
    assert "edged, heavy, red (red and heavy)" in shown


def test_where_no_dialect_is_used_nothing_is_said_about_it(run: Run, folder: Path) -> None:
    write_lines(folder / "plain.jsonl", [{"id": "heavy", "expression": "weight > 5"}])
    found = lines(run("match", "plain.jsonl", "e.jsonl").stdout)
    assert found == [{"event": 0, "subscriptions": ["heavy"]}]


def test_the_dialect_of_those_that_name_none_and_of_events(run: Run, folder: Path) -> None:
    write_lines(
        folder / "few.jsonl",
        [
            {"id": "red", "expression": RED},
            {"id": "heavy", "expression": "weight > 5", "dialect": "where"},
            {"id": "any", "expression": RED, "dialect": "wishes:any"},
        ],
    )
    found = lines(run("match", "--dialect", "wishes", "few.jsonl", "fields.jsonl").stdout)
    assert [each["subscriptions"] for each in found] == [["any", "heavy", "red"]]


@pytest.mark.parametrize("form", ["csv", "yaml", "parquet"])
def test_a_dialect_field_in_every_form(run: Run, folder: Path, form: str) -> None:
    if form == "csv":
        text = 'id,expression,dialect\nred,"colour is red",wishes\nheavy,weight > 5,\n'
        (folder / "s.csv").write_text(text, encoding="utf-8")
    elif form == "yaml":
        text = (
            "- id: red\n  dialect: wishes\n  expression: |\n    colour is red\n"
            "- id: heavy\n  expression: weight > 5\n"
        )
        (folder / "s.yaml").write_text(text, encoding="utf-8")
    else:
        rows = [
            {"id": "red", "expression": "colour is red", "dialect": "wishes"},
            {"id": "heavy", "expression": "weight > 5", "dialect": None},
        ]
        pq.write_table(pa.Table.from_pylist(rows), folder / "s.parquet")
    [found] = lines(run("match", f"s.{form}", "e.jsonl").stdout)
    assert found["subscriptions"] == ["heavy", "red"]


def test_a_file_of_the_dialect_itself(run: Run, folder: Path) -> None:
    args = "match", "--dialect", "wishes"
    [found] = lines(run(*args, "red.wish", "fields.jsonl").stdout)
    assert found["subscriptions"] == ["red"]
    (folder / "two.wishes").write_text(f"== r\n{RED}\n==  \nnot shape is round\n", encoding="utf-8")
    [found] = lines(run(*args, "two.wishes", "fields.jsonl").stdout)
    assert found["subscriptions"] == ["r", "two-2"]
    found = run(*args, "--subscriptions-format", "own", "-", "fields.jsonl", input=RED)
    assert lines(found.stdout)[0]["subscriptions"] == ["subscription"]


def test_a_text_in_a_file_of_another_suffix(run: Run, folder: Path) -> None:
    write_lines(folder / "text.json", [{"colour": ["red"]}])
    said = run("check", "text.json", "--dialect", "wishes", code=2).stderr
    assert "if the file is a text of the dialect 'wishes', say --subscriptions-format own" in said
    (folder / "red.txt").write_text(RED, encoding="utf-8")
    args = "check", "red.txt", "--dialect", "wishes"
    assert ".wish" in run(*args, code=2).stderr
    assert run(*args, "--subscriptions-format", "own").stdout.startswith("1 valid")


def test_a_folder_of_files(run: Run, folder: Path) -> None:
    rules = folder / "rules"
    (rules / "deep").mkdir(parents=True)
    (rules / "red.wish").write_text(RED, encoding="utf-8")
    (rules / "deep" / "red.wish").write_text("colour is red", encoding="utf-8")
    (rules / "README.md").write_text("not for us", encoding="utf-8")
    args = "match", "--dialect", "wishes", "rules", "fields.jsonl"
    [found] = lines(run(*args).stdout)
    assert found["subscriptions"] == ["deep/red", "red"]
    (rules / "deep" / "bad.wish").write_text("colour is red\nnonsense", encoding="utf-8")
    said = run(*args, code=2).stderr
    assert "deep/bad.wish, line 2: subscription 'deep/bad': column 1: a wish is as in" in said
    [found] = lines(run(*args, "--on-invalid-subscription", "drop").stdout)
    assert found["subscriptions"] == ["deep/red", "red"]
    (rules / "again.wish").write_text("== deep/red\ncolour is red", encoding="utf-8")
    said = run(*args, "--on-invalid-subscription", "drop", code=2).stderr
    assert "the id 'deep/red' was given before, in line 2 of" in " ".join(said.split())


def test_a_folder_without_any(run: Run, folder: Path) -> None:
    (folder / "empty").mkdir()
    said = run("match", "--dialect", "wishes", "empty", "e.jsonl", code=2).stderr
    assert "empty: has no file that ends in .wish, .wishes" in said
    said = run("match", "empty", "e.jsonl", code=2).stderr
    assert "is a directory" in said


def test_a_text_that_is_json_may_be_an_object(run: Run, folder: Path) -> None:
    record = {"id": "a", "expression": {"colour": ["red"]}, "dialect": "wishes"}
    write_lines(folder / "o.jsonl", [record])
    said = run("match", "o.jsonl", "e.jsonl", code=2).stderr
    assert "a wish is as in" in said  # it was read as the text of the object
    assert '{"colour": ["red"]}' in said


def test_events_in_a_form_of_the_dialects_own(run: Run, folder: Path) -> None:
    (folder / "e.fields").write_text("colour=red shape=flat\ncolour=blue\n", encoding="utf-8")
    (folder / "flat.wish").write_text("not shape is round\ncolour is red", encoding="utf-8")
    args = "match", "--dialect", "wishes", "flat.wish"
    [found] = lines(run(*args, "e.fields").stdout)
    assert found == {"event": 0, "subscriptions": ["flat"]}
    (folder / "e.fields").rename(folder / "e.xml")  # which is RDF to whoever reads graphs
    assert lines(run(*args, "e.xml").stdout) == [found]
    piped = run(*args, "-", "--events-format", "own", input="colour=red\n").stdout
    assert lines(piped) == [found]
    said = run(*args, "e.xml", "--graphs", code=2).stderr
    assert "it is for events of attributes, and these are graphs" in " ".join(said.split())


def test_events_that_the_dialect_cannot_read(run: Run) -> None:
    said = run("match", "--dialect", "wishes", "red.wish", "e.jsonl", code=2).stderr
    assert "e.jsonl, line 1: an event has fields, which are a list" in said


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"dialect": "wish"}, "did you mean 'wishes'?"),
        ({"dialect": 5}, "a dialect is named by text, not by 5"),
        ({"dialect": "wishes", "expression": None}, "there is no 'expression'"),
        ({"dialect": "wishes", "parameters": {"a": 1}}, "the dialect 'wishes' has none"),
    ],
)
def test_records_that_are_refused(
    run: Run, folder: Path, record: dict[str, Any], message: str
) -> None:
    write_lines(folder / "bad.jsonl", [{"id": "a", "expression": RED, **record}])
    said = run("match", "bad.jsonl", "e.jsonl", code=2).stderr
    assert "bad.jsonl, line 1" in said
    assert message in " ".join(said.split())


def test_an_unknown_dialect_is_refused_at_once(run: Run) -> None:
    for args in (["match", "s.jsonl", "e.jsonl"], ["explain", "s.jsonl", "red", "{}"]):
        said = run(*args, "--dialect", "wishs", code=2).stderr
        assert "there is no dialect 'wishs'; did you mean 'wishes'?" in said


def test_parquet_goes_to_standard_output(run: Run) -> None:
    content = run("match", "s.jsonl", "e.jsonl", "--format", "parquet").stdout_bytes
    table = pq.read_table(pa.BufferReader(content))
    assert table.column("subscription").to_pylist() == ["edged", "heavy", "red"]
    content = run("convert", "s.jsonl", "--to", "where", "-f", "parquet").stdout_bytes
    assert pq.read_table(pa.BufferReader(content)).num_rows == 3


# Explaining.


def test_an_explanation_is_in_the_words_of_the_dialect(run: Run) -> None:
    event = json.dumps(fields({"colour": "red", "weight": 3}))
    text = run("explain", "s.jsonl", "red", event, code=1).stdout
    assert [line.rstrip() for line in text.splitlines()] == [
        "title: red and heavy",
        "✗ AND",
        "├── ✓ colour is red  saw 'red'",
        "└── ✗ weight over 5  saw 3",
        "red does not match the event.",
    ]
    found = json.loads(run("explain", "s.jsonl", "red", event, "--json", code=1).stdout)
    assert found["about"] == {"title": "red and heavy"}
    assert [part["text"] for part in found["outcome"]["parts"]] == [
        "colour is red",
        "weight over 5",
    ]


def test_an_event_of_a_file_in_the_dialects_own_form(run: Run, folder: Path) -> None:
    (folder / "e.fields").write_text("colour=red\ncolour=blue\n", encoding="utf-8")
    (folder / "is.wish").write_text("colour is red", encoding="utf-8")
    run("explain", "--dialect", "wishes", "is.wish", "is", "@e.fields")
    (folder / "e.fields").write_text("", encoding="utf-8")
    said = run("explain", "--dialect", "wishes", "is.wish", "is", "@e.fields", code=2).stderr
    assert "there is no event" in said


# Checking.


def test_check_says_what_is_wrong_with_each(run: Run, folder: Path) -> None:
    assert run("check", "s.jsonl").stdout == "3 valid subscriptions, 0 invalid.\n"
    write_lines(
        folder / "bad.jsonl",
        [
            {"id": "a", "expression": "colour is red"},
            {"id": "b", "expression": "colour is red\nnonsense"},
            {"id": "c", "expression": "x <", "dialect": "where"},
            {"id": "d", "expression": "x < 1", "dialect": "were"},
        ],
    )
    found = run("check", "bad.jsonl", "--dialect", "wishes", "--limit", "2", code=1)
    assert found.stdout == "1 valid subscription, 3 invalid.\n"
    assert "bad.jsonl, line 2: subscription 'b': line 2, column 1: a wish is" in found.stderr
    assert "bad.jsonl, line 3: subscription 'c': line 1, column 4" in found.stderr
    assert "and 1 more" in found.stderr


# Converting.


def test_convert_between_dialects(run: Run) -> None:
    found = lines(run("convert", "red.wish", "--from", "wishes", "--to", "where").stdout)
    assert found == [
        {"id": "red", "dialect": "where", "expression": "colour = 'red' AND weight > 5"}
    ]
    back = "".join(json.dumps(each) + "\n" for each in found)
    [again] = lines(run("convert", "-", "--to", "wishes", input=back).stdout)
    assert again == {
        "id": "red",
        "dialect": "wishes",
        "expression": "colour is red\nweight over 5",
    }


def test_what_has_no_words_is_refused_by_name_and_line(run: Run, folder: Path) -> None:
    write_lines(
        folder / "w.jsonl",
        [
            {"id": "a", "expression": "weight > :w", "parameters": {"w": 3}, "owner": "alice"},
            {"id": "b", "expression": "weight > 3 AND name LIKE '%x'"},
            {"id": "c", "expression": RED, "dialect": "wishes"},
        ],
    )
    said = run("convert", "w.jsonl", "--to", "wishes", code=2)
    assert said.stdout == ""
    assert "w.jsonl, line 2: subscription 'b': a wish is what something is" in said.stderr
    assert "neither: name LIKE '%x'" in " ".join(said.stderr.split())
    found = run("convert", "w.jsonl", "--to", "wishes", "--on-invalid", "drop")
    assert "dropped w.jsonl, line 2" in found.stderr
    assert lines(found.stdout) == [
        {"id": "a", "owner": "alice", "dialect": "wishes", "expression": "weight over 3"},
        {"id": "c", "dialect": "wishes", "expression": RED},  # as it is
    ]


@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv", "yaml", "parquet"])
def test_what_is_written_can_be_read(run: Run, folder: Path, form: str) -> None:
    run("convert", "s.jsonl", "--to", "where", "-o", f"out.{form}")
    found = lines(run("match", f"out.{form}", "e.jsonl").stdout)
    assert [each["subscriptions"] for each in found] == [["edged", "heavy", "red"]]
    with_text = lines(run("convert", f"out.{form}", "--to", "where").stdout)
    assert [each["id"] for each in with_text] == ["red", "heavy", "edged"]
    assert with_text[0]["owner"] == "alice"


def test_convert_refuses_before_it_reads(run: Run) -> None:
    assert "did you mean 'wishes'" in run("convert", "no.jsonl", "--to", "wishs", code=2).stderr
    said = run("convert", "s.jsonl", "--to", "where", "-o", "out.txt", code=2).stderr
    assert "say --format" in said


# Tables.


def test_a_table_keeps_dialects(run: Run) -> None:
    run("subscriptions", "add", "t", "--from", "s.jsonl")
    run("subscriptions", "add", "t", "flat", "shape is flat", "--dialect", "wishes")
    run("subscriptions", "change", "t", "heavy", "weight over 6", "--dialect", "wishes")
    listed = run("subscriptions", "list", "t").stdout
    assert [(each["id"], each.get("dialect")) for each in lines(listed)] == [
        *(("edged", "wishes"), ("flat", "wishes"), ("heavy", "wishes"), ("red", "wishes"))
    ]
    [found] = lines(run("match", "-", "e.jsonl", input=listed).stdout)
    assert found["subscriptions"] == ["edged", "heavy", "red"]
    run("subscriptions", "change", "t", "--from", "red.wish", "--dialect", "wishes")
    said = run("subscriptions", "add", "t", "x", "nonsense", "--dialect", "wishes", code=2).stderr
    assert "line 1, column 1: a wish is as in" in said


# Completion.


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("predicast conv", ["convert"]),
        ("predicast match --dialect wh", ["where"]),
        ("predicast convert --to whe", ["where"]),
        ("predicast match --matcher brute", ["brute-force"]),
        ("predicast match --on-invalid-s", ["--on-invalid-subscription"]),
    ],
)
def test_shells_complete_commands_options_and_names(words: str, found: list[str]) -> None:
    asked = {
        "_PREDICAST_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    said = CliRunner().invoke(app, [], prog_name="predicast", env=asked)
    assert said.stdout.split() == found
