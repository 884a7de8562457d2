"""Subscriptions from files: three forms, their fields, and what is refused or dropped."""

from __future__ import annotations

import csv
import json
from functools import partialmethod
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from predicast.matching.matching_tree.tree import MatchingTree
from tests.unit.cli.conftest import Run

ROWS = [("a", "x < 5", "alice"), ("b", "y = 'it''s, \"so\"'", None), ("007", "x = 1", None)]


@pytest.fixture(autouse=True)
def events(folder: Path) -> None:
    (folder / "e.jsonl").write_text('{"x": 1, "y": "it\'s, \\"so\\""}', encoding="utf-8")


def write(name: str, rows: list[tuple[str, str, str | None]], columns: list[str]) -> None:
    if name.endswith("parquet"):
        values = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        pq.write_table(pa.table(dict(zip(columns, values, strict=True))), name)
        return
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        if name.endswith("sv"):
            delimiter = "\t" if name.endswith("tsv") else ","
            csv.writer(file, delimiter=delimiter).writerows([columns, *rows])
        else:
            documents = [dict(zip(columns, row, strict=True)) for row in rows]
            file.writelines(json.dumps(document) + "\n" for document in documents)


@pytest.mark.parametrize("name", ["s.jsonl", "s.csv", "s.tsv", "s.parquet"])
def test_every_form_says_the_same(run: Run, name: str) -> None:
    write(name, ROWS, ["id", "expression", "owner"])
    expected = {"event": 0, "subscriptions": ["007", "a", "b"]}
    assert json.loads(run("match", name, "e.jsonl").stdout) == expected
    write(name, ROWS, ["key", "where", "whose"])
    result = run("match", name, "e.jsonl", "--id", "key", "--expression", "where")
    assert json.loads(result.stdout) == expected


@pytest.mark.parametrize(
    ("name", "where"), [("s.jsonl", "line 4"), ("s.csv", "line 5"), ("s.parquet", "row 4")]
)
@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("a", "x = 2", None), "the id 'a' was given before, in"),
        (("c", "x <", None), "subscription 'c': line 1, column 4: the expression ends"),
        (("c", "shout(x)", None), "there is no function 'shout'"),
    ],
)
def test_the_place_of_an_error_is_named(
    run: Run, name: str, where: str, row: tuple[str, str, str | None], said: str
) -> None:
    write(name, [*ROWS, row], ["id", "expression", "owner"])
    error = run("match", name, "e.jsonl", code=2).stderr
    assert error.startswith(f"Error: {name}, {where}: ")
    assert said in error


def test_the_caret_keeps_its_place(run: Run, folder: Path) -> None:
    text = "a" * 150 + " < 10 AND shout(x)"
    (folder / "s.jsonl").write_text(json.dumps({"id": "c", "expression": text}), encoding="utf-8")
    lines = run("match", "s.jsonl", "e.jsonl", code=2).stderr.splitlines()
    assert lines[1].index("shout") == lines[2].index("^")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{}", "there is no 'id'"),
        ('{"idd": "x", "expression": "x = 1"}', "is it 'idd'? Then say --id idd"),
        ('{"id": null, "expression": "x = 1"}', "there is no 'id'"),
        ('{"id": "", "expression": "x = 1"}', "an id is a non-empty string or an integer, not ''"),
        ('{"id": 1.5, "expression": "x = 1"}', "not 1.5"),
        ('{"id": true, "expression": "x = 1"}', "not True"),
        ('{"id": "c"}', "subscription 'c': there is no 'expression'"),
        ('{"id": "c", "expression": 5}', "a subscription is text such as"),
        ('{"id": "c", "expression": {"any": []}}', "the JSON form goes under 'subscription'"),
        ('{"id": "c", "expression": "x = 1", "subscription": {"any": []}}', "not both"),
        ('{"id": "c", "subscription": "x = 1"}', "'subscription' is an object"),
        ('{"id": "c", "subscription": {"all": []}}', "subscription 'c': $: expected an object"),
        ('{"id": "c", "expression": "x = 1", "owner": ""}', "an owner is a non-empty string"),
        ('["c", "x = 1"]', "not a JSON object"),
        ('{"id": "c", "expression": "x = 1"', "not JSON"),
    ],
)
def test_a_bad_line_is_refused(run: Run, folder: Path, line: str, said: str) -> None:
    (folder / "s.jsonl").write_text(
        f'{{"id": "a", "expression": "x = 1"}}\n{line}\n', encoding="utf-8"
    )
    error = run("match", "s.jsonl", "e.jsonl", code=2).stderr
    assert error.startswith("Error: s.jsonl, line 2: ")
    assert said in error


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "s.csv: there is no column 'id'"),
        ("id,expresion\n", "no column 'expression'; is it 'expresion'? Then say --expression"),
        ("id,id,expression\na,b,x = 1\n", "two columns are named 'id'"),
        ('id,expression\n"a\nb",x = 1\nc,d,e\n', "s.csv, line 4: has 3 cells, the first line 2"),
        ('id,expression\na,"x = 1\n', "s.csv, line 2: not CSV: unexpected end of data"),
        ("id,expression\n\na,\xff\n", "s.csv, line 3: not UTF-8"),
        ("id,expression\n,x = 1\n", "s.csv, line 2: there is no 'id'"),
        ("id,expression\na,\n", "s.csv, line 2: subscription 'a': there is no 'expression'"),
    ],
)
def test_bad_csv_is_refused(run: Run, folder: Path, text: str, said: str) -> None:
    (folder / "s.csv").write_text(text, encoding="latin-1")
    assert said in run("match", "s.csv", "e.jsonl", code=2).stderr


def test_bad_parquet_is_refused(run: Run, folder: Path) -> None:
    (folder / "s.parquet").write_bytes(b"PAR1")
    assert (
        "s.parquet: cannot be read as Parquet"
        in run("match", "s.parquet", "e.jsonl", code=2).stderr
    )
    pq.write_table(pa.table({"id": [1]}), "s.parquet")
    assert "no column 'expression'" in run("match", "s.parquet", "e.jsonl", code=2).stderr
    pq.write_table(pa.table({"id": [1.5], "expression": ["x = 1"]}), "s.parquet")
    assert "row 1: an id is" in run("match", "s.parquet", "e.jsonl", code=2).stderr


def test_integer_ids_are_their_digits(run: Run, folder: Path) -> None:
    pq.write_table(pa.table({"id": [12, 3], "expression": ["x = 1"] * 2}), "s.parquet")
    assert json.loads(run("match", "s.parquet", "e.jsonl").stdout)["subscriptions"] == ["12", "3"]


def test_what_is_invalid_may_be_dropped(run: Run, folder: Path) -> None:
    lines = [f'{{"id": "bad{n}", "expression": "x <"}}\n' for n in range(8)]
    (folder / "s.jsonl").write_text(
        "".join(['{"id": "a", "expression": "x = 1"}\n', *lines]), encoding="utf-8"
    )
    run("match", "s.jsonl", "e.jsonl", code=2)
    result = run("match", "s.jsonl", "e.jsonl", "--on-invalid-subscription", "drop")
    assert json.loads(result.stdout)["subscriptions"] == ["a"]
    assert result.stderr.startswith("Note: dropped s.jsonl, line 2: subscription 'bad0': line 1")
    assert result.stderr.count("Note: dropped s.jsonl") == 5
    assert result.stderr.endswith("Note: dropped 8 subscriptions in all; 1 are left\n")


@pytest.mark.parametrize("line", ["nonsense", "{}", '{"id": "a", "expression": "x = 2"}'])
def test_a_broken_file_is_refused_even_then(run: Run, folder: Path, line: str) -> None:
    (folder / "s.jsonl").write_text(
        f'{{"id": "a", "expression": "x <"}}\n{line}\n', encoding="utf-8"
    )
    run("match", "s.jsonl", "e.jsonl", "--on-invalid-subscription", "drop", code=2)


def test_the_first_mistake_of_a_file_is_told(run: Run, folder: Path) -> None:
    lines = ['{"id": "a", "expression": "x = 1"}', '{"id": "b", "expression": "x <"}', "nonsense"]
    (folder / "s.jsonl").write_text("\n".join(lines), encoding="utf-8")
    error = run("match", "s.jsonl", "e.jsonl", code=2).stderr
    assert error.startswith("Error: s.jsonl, line 2: subscription 'b'")
    error = run("match", "s.jsonl", "e.jsonl", "--on-invalid-subscription", "drop", code=2).stderr
    assert error.startswith("Error: s.jsonl, line 3: not JSON")


@pytest.mark.parametrize("together", [1, 3, 100])
def test_subscriptions_are_loaded_some_at_a_time(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr("predicast.cli.files.subscriptions._TOGETHER", together)
    texts = [f"x = {n % 2}" if n % 4 else "x <" for n in range(13)]
    lines = [json.dumps({"id": str(n), "expression": text}) for n, text in enumerate(texts)]
    (folder / "s.jsonl").write_text("\n".join(lines), encoding="utf-8")
    result = run("match", "s.jsonl", "e.jsonl", "--on-invalid-subscription", "drop")
    expected = sorted(str(n) for n in range(13) if n % 2)
    assert json.loads(result.stdout)["subscriptions"] == expected
    said = [line.partition(": subscription")[0] for line in result.stderr.splitlines()]
    assert [each for each in said if each.startswith("Note")] == [
        f"Note: dropped s.jsonl, line {n}" for n in (1, 5, 9, 13)
    ]


def test_what_the_matcher_refuses_is_named(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MatchingTree, "__init__", partialmethod(MatchingTree.__init__, max_nodes=4))
    texts = ["x = 1 AND y = 2", "x <", "x = 2 AND y = 3", "x = 1 AND y = 2"]
    lines = [json.dumps({"id": str(n), "expression": text}) for n, text in enumerate(texts)]
    (folder / "s.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "e.jsonl").write_text('{"x": 1, "y": 2}', encoding="utf-8")
    result = run(
        "match",
        "s.jsonl",
        "e.jsonl",
        "--matcher",
        "matching-tree",
        "--on-invalid-subscription",
        "drop",
    )
    assert json.loads(result.stdout)["subscriptions"] == ["0", "3"]
    notes = [line for line in result.stderr.splitlines() if line.startswith("Note")]
    assert [note.partition(":")[2].partition(":")[0] for note in notes] == [
        " dropped s.jsonl, line 2",
        " dropped s.jsonl, line 3",
    ]


def test_a_file_without_any_subscription_gets_a_note(run: Run, folder: Path) -> None:
    said = "so nothing can match\n"
    (folder / "s.jsonl").write_text("\n", encoding="utf-8")
    (folder / "s.csv").write_text("id,expression\n", encoding="utf-8")
    pq.write_table(pa.table({"id": pa.array([], "string"), "expression": []}), "s.parquet")
    for name in ("s.jsonl", "s.csv", "s.parquet"):
        result = run("match", name, "e.jsonl")
        assert (result.stdout, result.stderr) == ("", f"Note: {name} has no subscription, {said}")
    (folder / "s.jsonl").write_text('{"id": "a", "expression": "x <"}', encoding="utf-8")
    result = run("match", "s.jsonl", "e.jsonl", "--on-invalid-subscription", "drop")
    assert result.stderr.endswith(f"Note: s.jsonl has no valid subscription, {said}")


def test_files_the_wrong_way_round(run: Run, folder: Path) -> None:
    hint = "the first of the two files has subscriptions, with 'id' and 'expression'"
    write("s.jsonl", ROWS, ["id", "expression", "owner"])
    error = run("match", "e.jsonl", "s.jsonl", code=2).stderr
    assert error == f"Error: e.jsonl, line 1: there is no 'id'; {hint}\n"
    (folder / "e.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    error = run("match", "e.csv", "s.jsonl", code=2).stderr
    assert error == f"Error: e.csv: there is no column 'id'; {hint}\n"


def test_blank_lines_may_come_before_the_names_of_columns(run: Run, folder: Path) -> None:
    (folder / "s.csv").write_text("\n\nid,expression\na,x = 1\nb,x <\n", encoding="utf-8")
    error = run("match", "s.csv", "e.jsonl", code=2).stderr
    assert error.startswith("Error: s.csv, line 5: subscription 'b'")
