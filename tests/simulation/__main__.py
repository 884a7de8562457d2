"""``python -m tests.simulation``: networks with everything going wrong, a thousand of them.

Each seed stands for a network, a world and what happens to it (``drawn_options``). A seed that
breaks a promise is printed, and ``--only`` runs it again, exactly as it was.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import Annotated

import typer

from bench.measuring.progress import progress_bar
from tests.simulation.drawn_options import drawn_options
from tests.simulation.outcomes import outcome

app = typer.Typer(add_completion=False)


@app.command()
def simulation(
    *,
    seeds: Annotated[int, typer.Option(min=1, help="How many.")] = 1000,
    first: Annotated[int, typer.Option(help="The first of them.")] = 1,
    only: Annotated[int | None, typer.Option(help="Just this one.")] = None,
    processes: Annotated[int, typer.Option(min=1)] = os.cpu_count() or 1,
) -> None:
    """Simulate networks with all faults on, one for each seed, and check every promise."""
    chosen = range(first, first + seeds) if only is None else range(only, only + 1)
    failed = 0
    total: Counter[str] = Counter()
    context = multiprocessing.get_context("spawn")
    with (
        progress_bar("seeds", total=len(chosen)) as bar,
        ProcessPoolExecutor(min(processes, len(chosen)), mp_context=context) as pool,
    ):
        for seed, violations, counted in pool.map(outcome, chosen, chunksize=4):
            bar.advance(1)
            total += Counter(counted)
            if violations:
                failed += 1
                typer.echo(f"seed {seed} breaks a promise: {drawn_options(seed)}")
                for violation in violations[:10]:
                    typer.echo(f"  {violation}")
    for name, count in total.items():
        typer.echo(f"{name:>14} {count:>14,}")
    typer.echo(f"{len(chosen):,} seeds, {failed:,} with violations")
    if failed:
        raise typer.Exit(1)


if __name__ == "__main__":
    app(prog_name="python -m tests.simulation")
