"""Files of subscriptions in every form: owners, parameters, standard input; and YAML's own ways."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predicast.cli.files.source import Form
from predicast.cli.files.subscriptions import Fields, records, subscribes, subscriptions_in
from predicast.errors import InputFileError
from predicast.language import subscription_to_json, to_subscription
from tests.unit.cli.conftest import Run

EVENT = '{"x": 3, "price": 9}'
SHAPED = "x BETWEEN :lo AND :hi"

JSON_LINES = (
    '{"id": "a", "expression": "x BETWEEN :lo AND :hi", "parameters": {"lo": 2, "hi": 4}}\n'
    '{"id": "b", "expression": "price < 10", "owner": "ada"}\n'
)
CSV = """id,expression,owner,parameters
a,x BETWEEN :lo AND :hi,,"{""lo"": 2, ""hi"": 4}"
b,price < 10,ada,
"""
YAML = """
- id: a
  expression: x BETWEEN :lo AND :hi
  parameters:
    lo: 2
    hi: 4
- id: b
  expression: |
    price
      < 10
  owner: ada
"""


def parquet_of(parameters: pa.Array) -> bytes:
    columns = {
        "id": ["a", "b"],
        "expression": [SHAPED, "price < 10"],
        "owner": [None, "ada"],
        "parameters": parameters,
    }
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue())


OF_INTEGERS = pa.map_(pa.string(), pa.int64())
CONTENTS: dict[str, tuple[str, bytes]] = {
    "jsonl": ("jsonl", JSON_LINES.encode()),
    "csv": ("csv", CSV.encode()),
    "tsv": ("tsv", CSV.replace(",", "\t").replace('""lo"": 2\t', '""lo"": 2,').encode()),
    "parquet with texts": ("parquet", parquet_of(pa.array(['{"lo": 2, "hi": 4}', None]))),
    "parquet with structs": ("parquet", parquet_of(pa.array([{"lo": 2, "hi": 4}, None]))),
    "parquet with maps": (
        "parquet",
        parquet_of(pa.array([[("lo", 2), ("hi", 4)], None], OF_INTEGERS)),
    ),
    "yaml": ("yaml", YAML.encode()),
}


@pytest.fixture(autouse=True)
def events(folder: Path) -> None:
    (folder / "e.jsonl").write_text(EVENT, encoding="utf-8")


@pytest.mark.parametrize(("suffix", "content"), CONTENTS.values(), ids=CONTENTS.keys())
def test_every_form_from_files_and_standard_input(
    run: Run, folder: Path, suffix: str, content: bytes
) -> None:
    (folder / f"s.{suffix}").write_bytes(content)
    first, second = subscribes(subscriptions_in(f"s.{suffix}"), Fields())
    assert (first.id, first.expression, first.parameters) == ("a", SHAPED, {"lo": 2, "hi": 4})
    assert (second.id, second.owner, second.parameters) == ("b", "ada", None)
    expected = {"event": 0, "subscriptions": ["a", "b"]}
    assert json.loads(run("match", f"s.{suffix}", "e.jsonl").stdout) == expected
    result = run("match", "-", "e.jsonl", "--subscriptions-format", suffix, input=content)
    assert json.loads(result.stdout) == expected
    assert "✓" in run("explain", f"s.{suffix}", "a", EVENT).stdout


def test_parameters_are_checked_at_their_line(run: Run, folder: Path) -> None:
    for written, said in [
        ('{"lo": 1}', "the parameter :hi needs a value"),
        ('{"lo": 1, "hi": 2, "ho": 3}', "ho"),
        ("[1]", "parameters are an object of names and values"),
        ("{", "JSON"),
    ]:
        line = {"id": "a", "expression": SHAPED, "parameters": written}
        (folder / "s.jsonl").write_text(f"\n{json.dumps(line)}\n", encoding="utf-8")
        error = run("match", "s.jsonl", "e.jsonl", code=2).stderr
        assert error.startswith("Error: s.jsonl, line 2: subscription 'a': ")
        assert said in error


def read(text: str) -> list[tuple[int, str, Any, Any]]:
    Path("s.yaml").write_text(text, encoding="utf-8")
    found = records(subscriptions_in("s.yaml"), Fields())
    return [(each.line, each.id, each.stated, each.parameters) for each in found]


def test_scalars_of_a_row_are_what_is_written() -> None:
    assert read("- {id: 007, expression: true}") == [(1, "007", "true", None)]
    assert read(
        "# first\n---\nid: no\nexpression: x = 1\n---\nid: '1:30'\nexpression: >\n  x\n"
    ) == [
        (3, "no", "x = 1", None),
        (6, "1:30", "x\n", None),
    ]
    assert read("") == read("---\n...\n") == []


def test_scalars_of_parameters_are_those_of_json() -> None:
    written = "{a: 1, b: -2.5, c: true, d: ~, e: '1', f: 1e3, g: text, h: 0x10, i: [1, x]}"
    ((_, _, _, values),) = read(f"- id: a\n  expression: x\n  parameters: {written}")
    assert values == {
        "a": 1,
        "b": -2.5,
        "c": True,
        "d": None,
        "e": "1",
        "f": 1000.0,
        "g": "text",
        "h": "0x10",
        "i": [1, "x"],
    }


def test_the_json_form_may_be_written_in_yaml(run: Run) -> None:
    stated = subscription_to_json(to_subscription("x = 3"))
    written = f'[{{"id": "a", "subscription": {stated}}}]'  # JSON is YAML
    Path("s.yaml").write_text(written, encoding="utf-8")
    assert json.loads(run("match", "s.yaml", "e.jsonl").stdout)["subscriptions"] == ["a"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("just text", "line 1: a file of subscriptions is a list of mappings"),
        ("- id: a\n  expression: x = 1\n- text", "line 3: a file of subscriptions is"),
        ("- id: a\n  expression: x = 1\n  id: b", "line 3: 'id' is said twice"),
        ("- id: a\n  expression: [", "s.yaml, line 3: not YAML"),
        ("- &one\n  id: a\n  expression: x = 1\n- *one", "line 4: a file of"),
        ("id: a\nexpression: x = 1\nparameters: {a: &v 1, b: *v}", "line 3: the alias *v"),
        ("- id: a\n  [x]: 1", "line 2: a name is plain text"),
        ("- id: a\n  expression: x <\n", "line 1: subscription 'a': line 1, column 4"),
        ("- id: a\n  expression: |\n    x = 1\n    AND y <\n", "s.yaml, line 4: subscription 'a'"),
        ("- {id: a, expression: x}\n- id: a\n", "line 2: the id 'a' was given before, in line 1"),
        ("- id: [1]\n", "line 1: an id is"),
        ("id: a\nparameters: " + "[" * 100_000, "line 2: nested deeper than 64"),
        ("- " * 10_000, "line 1: a file of subscriptions is"),
    ],
)
def test_bad_yaml_is_refused(run: Run, folder: Path, text: str, said: str) -> None:
    (folder / "s.yaml").write_text(text, encoding="utf-8")
    assert said in run("match", "s.yaml", "e.jsonl", code=2).stderr


def test_events_are_not_yaml(run: Run, folder: Path) -> None:
    (folder / "s.jsonl").write_text(JSON_LINES, encoding="utf-8")
    (folder / "e.yaml").write_text("- x: 1", encoding="utf-8")
    assert "yaml cannot be read here" in run("match", "s.jsonl", "e.yaml", code=2).stderr


_PIECES = st.sampled_from(
    [
        *("- ", "id: a", "expression: x = 1", "parameters: ", "\n", "\n  ", "---\n", "[", "]", "{"),
        *("}", ",", ": ", "*a", "&a ", "|\n", ">", "'", '"', "!!int ", "? ", "~", "#", "\t", "é"),
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.lists(_PIECES, max_size=25).map("".join))
def test_any_text_is_read_or_refused(folder: Path, text: str) -> None:
    (folder / "f.yaml").write_text(text, encoding="utf-8")
    with suppress(InputFileError):
        for each in subscribes(subscriptions_in("f.yaml", Form.YAML), Fields()):
            assert each.id
