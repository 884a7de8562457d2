"""Events that are graphs on the command line: files of RDF and SPARQL, and what is refused."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from predicast.graph import GraphEngine
from tests.unit.cli.conftest import Run
from tests.unit.graph.shop import ONTOLOGY, ONTOLOGY_TEXT, PREFIXES, SUBSCRIPTION

QUERIES = """\
PREFIX shop: <http://shop.example/>

# id: computers
# owner: alice
ASK {
  _:H shop:target ?what .
  ?what a shop:Computer
}

# id: cheap
ASK { _:H shop:price/rdf:value ?amount FILTER(?amount < 400) }
"""
LAPTOP = "_:H a :Selling ; :target [ a :Laptop ] ; :price [ rdf:value 350 ] ."
DISK = "_:H a :Selling ; :target [ a :Disk ] ; :price [ rdf:value 80.5 ] ."
DESK = "_:H a :Selling ; :target [ a :Product ] ; :price [ rdf:value 900 ] ."
TEXTS = [PREFIXES + each for each in (LAPTOP, DISK, DESK)]
MATCHED = [["cheap", "computers"], ["cheap"], []]
PLAIN = [
    {"type": "Selling", "target": {"type": "Laptop"}, "price": {"value": 350}},
    {"type": "Selling", "target": {"type": "Disk"}, "price": {"value": 80.5}},
    {"type": "Selling", "target": {"type": "Product"}, "price": {"value": 900}},
]


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write(folder / "shop.ttl", ONTOLOGY_TEXT)
    write(folder / "s.rq", QUERIES)
    write(folder / "laptop.ttl", TEXTS[0])


def write(path: Path | str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")


def found(run: Run, *arguments: object, **options: Any) -> list[list[str]]:
    result = run("match", "--ontology", "shop.ttl", "--all", *arguments, **options)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["event"] for line in lines] == list(range(len(lines)))
    return [line["subscriptions"] for line in lines]


def test_files_by_name_and_by_place(run: Run) -> None:
    by_name = ["--events", "laptop.ttl", "--subscriptions", "s.rq"]
    assert found(run, *by_name) == MATCHED[:1]
    assert found(run, "s.rq", "laptop.ttl") == MATCHED[:1]
    assert found(run, "--subscriptions", "s.rq", "laptop.ttl", "--events", "laptop.ttl") == [
        *MATCHED[:1],
        *MATCHED[:1],
    ]
    assert "'EVENTS': missing; name a file of events" in run("match", "s.rq", code=2).stderr
    assert "'SUBSCRIPTIONS': missing; name the files" in run("match", code=2).stderr


def test_what_the_engine_says_of_the_same_texts() -> None:
    engine = GraphEngine(ONTOLOGY)
    prologue, computers, cheap = QUERIES.split("# id:")
    engine.subscribe(prologue + computers.partition("\n")[2], id="computers")
    engine.subscribe(prologue + cheap.partition("\n")[2], id="cheap")
    assert engine.match_batch(TEXTS) == MATCHED
    assert engine.match_batch(PLAIN) == MATCHED


def events_in(form: str) -> list[str]:
    """The three events in files of one form."""
    if form == "files":
        for number, text in enumerate(TEXTS):
            write(f"e{number}.ttl", text)
        return ["e0.ttl", "e1.ttl", "e2.ttl"]
    if form == "folder":
        Path("f").mkdir()
        for number, text in enumerate(TEXTS):
            Path(f"f/e{number}.ttl.gz").write_bytes(gzip.compress(text.encode()))
        write("f/README.md", "No events.")
        return ["f"]
    if form == "trig":
        graphs = [f":g{n} {{ {each} }}" for n, each in enumerate((LAPTOP, DISK))]
        write("e.trig", "\n".join([PREFIXES, *graphs, DESK]))
        return ["e.trig"]
    if form == "texts":
        lines = [{"id": n, "graph": text} for n, text in enumerate(TEXTS)]
        write("e.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        return ["e.jsonl"]
    if form == "plain":
        write("e.jsonl", "".join(json.dumps(line) + "\n" for line in PLAIN))
        return ["e.jsonl"]
    if form == "csv":
        with Path("e.csv").open("w", newline="", encoding="utf-8") as file:
            rows = [(str(n), text) for n, text in enumerate(TEXTS)]
            csv.writer(file).writerows([("time", "graph"), *rows])
        return ["e.csv"]
    pq.write_table(pa.table({"rdf": TEXTS, "time": [1, 2, 3]}), "e.parquet")
    return ["e.parquet", "--column", "rdf"]


@pytest.mark.parametrize("form", ["files", "folder", "trig", "texts", "plain", "csv", "parquet"])
def test_every_form_of_events_says_the_same(run: Run, form: str) -> None:
    assert found(run, "s.rq", *events_in(form)) == MATCHED


def test_json_ld_with_a_context(run: Run) -> None:
    shop = "http://shop.example/"
    document = {
        "@context": {"@vocab": shop},
        "@id": "urn:predicast:home",
        "target": {"@type": "Laptop"},
    }
    write("e.jsonld", json.dumps(document, indent=1))
    write("e.jsonl", json.dumps(document))
    assert found(run, "s.rq", "e.jsonld", "e.jsonl") == [["computers"], ["computers"]]


def test_standard_input(run: Run) -> None:
    text = TEXTS[0]
    assert found(run, "s.rq", "-", "--rdf-format", "turtle", input=text) == MATCHED[:1]
    lines = "".join(json.dumps(line) + "\n" for line in PLAIN)
    assert found(run, "s.rq", "-", input=lines) == MATCHED
    rest = ["-", "laptop.ttl", "--subscriptions-format", "sparql"]
    assert found(run, *rest, input=QUERIES) == MATCHED[:1]


def test_subscriptions_of_other_forms(run: Run) -> None:
    line = {"id": "paper", "expression": SUBSCRIPTION}
    write("s.jsonl", json.dumps(line))
    texts = "_:H :price [ a :MoneyValue ; :currency units:dollar ; rdf:value 350 ] ."
    write("e.ttl", f"{PREFIXES} _:H a :Selling ; :target [ a :Laptop ] . {texts}")
    assert found(run, "s.jsonl", "e.ttl") == [["paper"]]
    write("s.csv", "id,expression\nany,ASK { _:H :target ?x }\n")
    assert found(run, "s.csv", "e.ttl") == [["any"]]
    assert found(run, "--graphs", "s.csv", events_in("plain")[0]) == [["any"]] * 3


def test_a_file_with_one_query_is_named_after_it(run: Run) -> None:
    write("laptops.rq", "# What I want\nASK { _:H :target [ a :Laptop ] }")
    assert found(run, "laptops.rq", "laptop.ttl") == [["laptops"]]
    write("none.rq", "# Nothing yet\n")
    result = run("match", "none.rq", "laptop.ttl")
    assert "none.rq has no subscription" in result.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (QUERIES.replace("?what a shop", "?what b shop"), "s.rq, line 7: subscription 'computers'"),
        (QUERIES.replace("?what a shop", "?what b shop"), ": column 9: "),
        (QUERIES.replace("PREFIX shop:", "PREFIX shop"), "s.rq, line 1: subscription 'computers'"),
        (QUERIES.replace("< 400)", "< )"), "s.rq, line 11: subscription 'cheap': column 57: "),
        (QUERIES.replace("cheap", "computers"), "the id 'computers' was given before, in line 5"),
        (QUERIES.replace("cheap", ""), "s.rq, line 10: an id is missing"),
        (QUERIES.replace("ASK {\n", "ASK { OPTIONAL {}\n"), "line 5: subscription 'computers': "),
    ],
)
def test_the_place_of_a_bad_query_is_named(run: Run, text: str, said: str) -> None:
    write("s.rq", text)
    result = run("match", "--ontology", "shop.ttl", "s.rq", "laptop.ttl", code=2)
    assert said in result.stderr
    assert result.stdout == ""


def test_a_bad_query_may_be_dropped(run: Run) -> None:
    write("s.rq", QUERIES.replace("?what a shop", "?what b shop"))
    dropping = ["--on-invalid-subscription", "drop"]
    assert found(run, "s.rq", "laptop.ttl", *dropping) == [["cheap"]]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("e.ttl", PREFIXES + "\n_:H :price ?x .", "e.ttl: this is not turtle: line 8 between"),
        ("e.nt", "<urn:a> <urn:b> .", "e.nt: this is not n-triples: line 1 "),
        ("e.trig", "<urn:g> { <urn:a> <urn:p> 1 . <urn:b> <urn:p> 1 }", "e.trig: graph <urn:g>: "),
        ("e.jsonl", '{"graph": "_:H _:p 1"}', "e.jsonl, line 1: this is not turtle: "),
        ("e.jsonl", '{"graph": "", "format": [5]}', "line 1: 'format' names a format of RDF"),
        ("e.jsonl", '{"graph": "", "format": "turtel"}', "did you mean 'turtle'?"),
        ("e.jsonl", '{"target": {"type": 5}}', "e.jsonl, line 1: $.target.type: a class is named"),
        ("e.csv", "time,text\n1,x\n", "e.csv: there is no column 'graph'"),
        ("e.csv", "time,graph\n1,\n", "e.csv, line 2: there is no text under 'graph'"),
        ("e.ttl", "", "e.ttl: which vertex is the event? it is empty"),
        ("e.rq", "", "e.rq: sparql cannot be read here"),
    ],
)
def test_the_place_of_a_bad_event_is_named(run: Run, name: str, text: str, said: str) -> None:
    write(name, text)
    assert said in run("match", "--ontology", "shop.ttl", "s.rq", name, code=2).stderr


def test_bad_events_may_be_skipped(run: Run) -> None:
    write("e.jsonl", "".join(json.dumps({"graph": text}) + "\n" for text in [TEXTS[0], "?"]))
    arguments = ["--ontology", "shop.ttl", "s.rq", "e.jsonl", "laptop.ttl", "--all"]
    result = run("match", *arguments, "--on-invalid", "skip")
    ids = [json.loads(line)["subscriptions"] for line in result.stdout.splitlines()]
    assert ids == [MATCHED[0], [], MATCHED[0]]
    assert "one event was skipped, the last for this: e.jsonl, line 2" in result.stderr
    table = run("match", *arguments, "--on-invalid", "skip", "--format", "table").stdout
    assert "a Selling, target=Laptop" in table
    assert "(invalid)" in table


def test_events_may_be_validated(run: Run) -> None:
    write("e.ttl", f"{PREFIXES} _:H a :Selling ; :target [ a :Company ] .")
    run("match", "--ontology", "shop.ttl", "s.rq", "e.ttl")
    strict = ["--validate", "strict"]
    assert (
        "e.ttl: " in run("match", "--ontology", "shop.ttl", "s.rq", "e.ttl", *strict, code=2).stderr
    )


def test_what_takes_too_many_steps_is_noted(run: Run) -> None:
    spokes = " , ".join(f"[ :name {n} ]" for n in range(30))
    write("e.ttl", f"{PREFIXES} _:H :part {spokes} .")
    star = " . ".join(f"_:H :part ?x{n} . ?x{n} :name ?y{n}" for n in range(7))
    unequal = " && ".join(f"?y{n} != ?y{m}" for n in range(7) for m in range(n))
    write("star.rq", f"ASK {{ {star} FILTER({unequal} && ?y6 > 99) }}")
    result = run("match", "--ontology", "shop.ttl", "star.rq", "e.ttl", "--matcher", "brute-force")
    assert "1 times it was left undecided" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--absent", "passes"], "'--absent': it is for events of attributes"),
        (["--now", "2026-01-01"], "'--now': it is for events of attributes"),
        (["--on-invalid", "absent"], "'--on-invalid': it is for events of attributes"),
        (["--matcher", "columnar"], "there is no matcher of graphs 'columnar'"),
        (["--ontology", "none.ttl"], "none.ttl cannot be read"),
    ],
)
def test_options_that_do_not_fit(run: Run, arguments: list[str], said: str) -> None:
    result = run("match", "s.rq", "laptop.ttl", *arguments, code=2)
    assert said in " ".join(result.stderr.replace("│", " ").split())


def test_an_ontology_that_is_none(run: Run) -> None:
    write("shop.ttl", "@prefix : <http://shop.example/> .\n:a :b")
    error = run("match", "--ontology", "shop.ttl", "s.rq", "laptop.ttl", code=2).stderr
    assert "shop.ttl: this is not turtle: " in error
    assert "line 2" in error


def test_flat_files_are_not_taken_for_graphs(run: Run) -> None:
    write("s.csv", "id,expression\na,x < 5\n")
    write("e.jsonl", '{"x": 1}')
    flat = ["s.csv", "e.jsonl"]
    assert json.loads(run("match", *flat).stdout)["subscriptions"] == ["a"]
    by_ontology = run("match", *flat, "--ontology", "shop.ttl")
    assert json.loads(by_ontology.stdout)["subscriptions"] == ["a"]
    stderr = run("match", *flat, "e.jsonl", code=2).stderr
    assert "events of attributes come from one file" in " ".join(stderr.replace("│", " ").split())
    error = run("subscriptions", "add", "table", "--from", "s.rq", code=2).stderr
    assert "s.rq: sparql cannot be read here, only jsonl, csv, tsv, parquet" in error


def test_explain(run: Run) -> None:
    ontology = ["--ontology", "shop.ttl"]
    matched = run("explain", *ontology, "s.rq", "cheap", "@laptop.ttl").stdout
    assert matched.startswith("cheap matches\n")
    assert '?amount is "350"' in matched
    not_matched = run("explain", *ontology, "s.rq", "cheap", json.dumps(PLAIN[2]), code=1)
    assert "cheap does not match" in not_matched.stdout
    as_json = run("explain", *ontology, "s.rq", "computers", TEXTS[1], "--json", code=1).stdout
    document = json.loads(as_json)
    assert document["matched"] is False
    assert document["failed"] == "?what a <http://shop.example/Computer>"
    write("s.rq", QUERIES.replace("?what a shop", "?what b shop"))
    run("explain", *ontology, "s.rq", "cheap", "-", input=TEXTS[0])
    error = run("explain", *ontology, "s.rq", "computers", "@laptop.ttl", code=2).stderr
    assert "s.rq, line 7: subscription 'computers': column 9: " in error
    error = run("explain", *ontology, "s.rq", "cheap", "_:H", code=2).stderr
    assert "the event: this is not turtle" in error
