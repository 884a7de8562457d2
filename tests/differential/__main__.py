"""``python -m tests.differential``: the production matcher against brute force, at length.

=====================  =========================================================================
module                 what is in it
=====================  =========================================================================
``families``           the workloads by name, and how the rounds of a run differ
``sources``            a round's subscriptions and events: from the generators of
                       ``bench.matchers``, or from ``anything``, which draws whatever there is;
                       ``nearby`` makes events that only just match, or only just do not
``constraint_tables``  drawn subscriptions as a table, ``event_batches`` drawn events as columns
``steps``              what is done to an engine; a list of steps is a history
``asking``             every way of asking an engine, and complete answers compared
``walk``               one round: random steps, random questions, two engines
``shrinking``          a history that ends in a difference, made small
``graphs``             events that are graphs: each matcher against the definition, and that
                       against another engine of SPARQL
``everywhere``         the broker, the library and Spark on the same input: a module to run
``run``, ``results``   all rounds; what is printed and written
``test_differential``  a small run of every family, and matchers that are wrong on purpose
=====================  =========================================================================

A decision is one event and one subscription, answered by both. The seed, the family and the number
of the round decide everything but the pace of merges in the background.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bench.measuring.progress import progress_bar
from tests.differential.families import FAMILIES
from tests.differential.graphs import GRAPHS, run_graphs
from tests.differential.results import differential_table
from tests.differential.run import run

app = typer.Typer(add_completion=False)


@app.command()
def differential(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FAMILY]...", help="anything, ceem-exp1, mixed, …; all; or graphs alone."
        ),
    ] = None,
    *,
    decisions: Annotated[
        int, typer.Option(min=1, help="Pairs of event and subscription, of each family.")
    ] = 10_000_000,
    seed: int = 1,
    out: Annotated[Path, typer.Option(help="Where results are written.")] = Path("out/bench"),
) -> None:
    """The production matcher against brute force, over long random histories of changes."""
    chosen = list(dict.fromkeys(names or FAMILIES))
    for unknown in set(chosen) - {*FAMILIES, GRAPHS}:
        known = ", ".join((*FAMILIES, GRAPHS))
        raise typer.BadParameter(f"there is no family {unknown!r}; known: {known}")
    if GRAPHS in chosen and len(chosen) > 1:
        raise typer.BadParameter("graphs have a run of their own")
    with progress_bar("decisions", total=decisions * len(chosen)) as bar:
        if GRAPHS in chosen:
            found = run_graphs(decisions=decisions, seed=seed, advance=bar.advance)
        else:
            found = run(chosen, decisions=decisions, seed=seed, out=out, advance=bar.advance)
    path = out / ("differential-graphs.json" if GRAPHS in chosen else "differential.json")
    found.write(path)
    Console().print(differential_table(found))
    typer.echo(f"written to {path}")
    if found.difference:
        typer.echo(f"DIFFERENCE: {found.difference}")
        raise typer.Exit(1)


if __name__ == "__main__":
    app(prog_name="python -m tests.differential")
