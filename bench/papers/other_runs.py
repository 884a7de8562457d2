"""What the command ``papers`` runs beside the matchers' experiments, and what it writes of them.

Graphs, the network and region joins have contestants, results and figures of their own.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measuring.progress import progress_bar
from bench.measuring.result_files import write_both
from bench.measuring.sizes import Size
from bench.measuring.telling import show, tell

if TYPE_CHECKING:
    from bench.papers.results import PapersReport


def document(measured: PapersReport, out: Path, docs: Path | None) -> None:
    """Draw the figures and judge the claims."""
    from bench.papers.documents import claims_table, papers_in, write_documents

    show([claims_table(measured, paper) for paper in papers_in(measured)])
    tell(write_both(partial(write_documents, measured), out, docs))


def run_region_joins(
    preset: Size, repeats: int | None, seed: int, out: Path, docs: Path | None
) -> None:
    """All pairs of two sets of regions: the batch form of that paper's matching."""
    from bench.papers import region_joins

    with progress_bar("preparing", total=region_joins.points(preset)) as bar:
        measured = region_joins.run_region_joins(
            size=preset, seed=seed, repeats=repeats or 5, progress=bar.step
        )
    path = out / f"region-joins-{preset}.json"
    measured.write(path)
    show([region_joins.region_join_table(measured)])
    tell([path, *write_both(partial(region_joins.write_region_joins, measured), out, docs)])


def run_ontology(
    preset: Size, repeats: int | None, seed: int, out: Path, docs: Path | None
) -> None:
    """The paper whose events are graphs: its matchers and rivals are others."""
    from bench.papers.ontology.documents import ontology_claims, write_documents
    from bench.papers.ontology.run import ontology_table, points
    from bench.papers.ontology.run import run_ontology as run

    with progress_bar("preparing", total=points(preset)) as bar:
        measured = run(size=preset, seed=seed, repeats=repeats or 3, progress=bar.step)
    path = out / f"ontology-{preset}.json"
    measured.write(path)
    tell([path])
    show([ontology_table(measured), ontology_claims(measured)])
    tell(write_both(partial(write_documents, measured), out, docs))


def run_routing(preset: Size, seed: int, out: Path, docs: Path | None) -> None:
    """The paper's network: what its tree carries and holds, which no matcher tells."""
    from bench.papers.routing.documents import routing_tables, write_routing
    from bench.papers.routing.run import points
    from bench.papers.routing.run import run_routing as run

    with progress_bar("preparing", total=points()) as bar:
        measured = run(size=preset, seed=seed, progress=bar.step)
    path = out / f"routing-{preset}.json"
    measured.write(path)
    show(routing_tables(measured))
    tell([path, *write_both(partial(write_routing, measured), out, docs)])
