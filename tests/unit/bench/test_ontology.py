"""The experiment of the paper whose events are graphs, at its smallest."""

from pathlib import Path

import pytest

from bench.measuring.machine import this_machine
from bench.measuring.sizes import Size
from bench.papers.ontology.claims import judge_ontology
from bench.papers.ontology.documents import ontology_claims, write_documents
from bench.papers.ontology.run import (
    OntologyFigures,
    OntologyReport,
    ontology_table,
    run_ontology,
)
from bench.papers.ontology.workload import VARIANTS, OntologyWorkload
from predicast.graph import EventGraph, GraphEngine, Ontology, parse_pattern


def test_all_contestants_agree_on_all_variants(tmp_path: Path) -> None:
    told: list[str] = []
    report = run_ontology(
        size=Size.SMALL, seed=0, repeats=1, sizes=[30], events=6, progress=told.append
    )
    assert len(told) == len(VARIANTS)
    assert {each.contestant for each in report.figures} == {"joins", "ops", "pyoxigraph", "rdflib"}
    report.write(tmp_path / "ontology.json")
    assert OntologyReport.read(tmp_path / "ontology.json") == report
    assert ontology_table(report).row_count == len(report.figures)
    assert ontology_claims(report).row_count == len(judge_ontology(report))
    names = {path.name for path in write_documents(report, tmp_path, suffixes=["svg"])}
    assert names == {"ontology.svg", "verdicts-ontology.md"}
    assert "| paper | joins | 30 |" in (tmp_path / "verdicts-ontology.md").read_text(
        encoding="utf-8"
    )


def test_the_workload_is_that_of_the_paper() -> None:
    workload = OntologyWorkload("paper", 0)
    event = EventGraph.parse(workload.events(1)[0], Ontology(), format="turtle")
    assert (len(event.vertices), len(event.arcs)) == (50, 55)
    alternative = parse_pattern(workload.subscriptions(1)[0]).alternatives[0]
    assert (len(alternative.vertices()), len(alternative.statements)) == (10, 11)
    assert workload.events(2) != workload.events(2)
    assert OntologyWorkload("paper", 0).events(2) == OntologyWorkload("paper", 0).events(2)


@pytest.mark.parametrize("seed", [0, 1])
def test_about_three_of_a_hundred_match_whatever_the_seed(seed: int) -> None:
    workload = OntologyWorkload("paper", seed)
    engine = GraphEngine()
    engine.subscribe_many({f"{n}": text for n, text in enumerate(workload.subscriptions(400))})
    found = engine.match_batch(workload.events(80), format="turtle")
    assert 1.5 < 100 * sum(map(len, found)) / 400 / 80 < 4.5


def report_of(**changed: float) -> OntologyReport:
    """What a run finds in which every claim holds, but for what is changed."""

    def figures(contestant: str, count: int, **given: float) -> OntologyFigures:
        return OntologyFigures(
            variant="paper",
            subscriptions=count,
            contestant=contestant,
            asked=count,
            matched=3.0,
            **{"load_s": 4.0, **given, **changed},
        )

    sizes = (500, 2_000, 10_000)
    return OntologyReport(
        machine=this_machine(),
        size=Size.FULL,
        seed=0,
        repeats=1,
        figures=[
            *(figures("joins", n, ms_per_event=n / 20_000) for n in sizes),
            *(figures("ops", n, ms_per_event=n / 20, nodes_each=5.0, rejected=90.0) for n in sizes),
            *(figures("pyoxigraph", n, ms_per_event=n / 2) for n in sizes),
        ],
    )


def outcomes(report: OntologyReport) -> list[str]:
    return [each.outcome for each in judge_ontology(report)]


def test_claims_are_judged_by_their_rules() -> None:
    assert outcomes(report_of()) == ["holds"] * 9
    assert outcomes(report_of(ms_per_event=2.0))[:2] == ["does not hold", "holds"]
    assert outcomes(report_of(ms_per_event=2_000.0))[1] == "does not hold"
    assert outcomes(report_of(nodes_each=20.0))[2:4] == ["does not hold", "holds"]
    assert outcomes(report_of(rejected=30.0))[4] == "does not hold"
    assert outcomes(report_of(load_s=11.0))[8] == "does not hold"
    report = report_of()
    report.figures[0].matched = 1.4
    assert outcomes(report)[5] == "does not hold"
