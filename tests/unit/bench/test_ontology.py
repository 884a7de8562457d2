"""The experiment of the paper whose events are graphs, at its smallest."""

from pathlib import Path

from bench.measuring.sizes import Size
from bench.papers.ontology.run import OntologyReport, ontology_table, run_ontology
from bench.papers.ontology.workload import VARIANTS, OntologyWorkload
from predicast.graph import EventGraph, Ontology, parse_pattern


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


def test_the_workload_is_that_of_the_paper() -> None:
    workload = OntologyWorkload("paper", 0)
    event = EventGraph.parse(workload.events(1)[0], Ontology(), format="turtle")
    assert (len(event.vertices), len(event.arcs)) == (50, 55)
    alternative = parse_pattern(workload.subscriptions(1)[0]).alternatives[0]
    assert (len(alternative.vertices()), len(alternative.statements)) == (10, 11)
    assert workload.events(2) != workload.events(2)
    assert OntologyWorkload("paper", 0).events(2) == OntologyWorkload("paper", 0).events(2)
