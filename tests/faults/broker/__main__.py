"""``python -m tests.faults.broker``: brokers under load with everything going wrong, for minutes.

A violation is printed with the seed; the same seed strikes with the same faults in the same order,
though not at the same instants.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from tests.faults.broker.run import BACKENDS, run
from tests.network import why_no_network

app = typer.Typer(add_completion=False)
_MOST = 20  # violations that are shown


@app.command()
def faults(
    *,
    backend: Annotated[
        list[str] | None, typer.Option(help=f"{', '.join(BACKENDS)}; all if not told.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1.0, help="For each of them.")] = 600.0,
    small_disk: Annotated[
        bool, typer.Option("--small-disk", help="On a disk that is filled now and then: as root.")
    ] = False,
    seed: Annotated[int, typer.Option(help="What the faults are drawn from.")] = 1,
) -> None:
    """Kill, pause and cut off brokers and servers under load, and check what was acknowledged."""
    console = Console(width=None if Console().is_terminal else 160, highlight=False)
    if (why := why_no_network()) is not None:
        console.print(f"There are no partitions, as no network can be made here: {why}")
    rows: dict[str, Mapping[str, str]] = {}
    failed = False
    for each in backend or BACKENDS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="predicast-faults-") as folder:
            record, counts = run(
                each, Path(folder), seconds=seconds, seed=seed, has_small_disk=small_disk
            )
            violations = record.check()
        rows[each] = {
            "seconds": f"{time.monotonic() - began:.0f}",
            **{name: f"{count:,}" for name, count in sorted(counts.items())},
            **{name: f"{record.counts[name]:,}" for name in ("events", "deliveries", "changes")},
            "refused for a while": f"{record.counts['refusals']:,}",
            "delivered again": f"{record.repeats:,}",
            **{
                f"{kind}: taken again after": f"{sorted(times)[len(times) // 2]:.2f} s, at most "
                f"{max(times):.2f} s"
                for kind, times in sorted(record.recoveries.items())
            },
            "violations": f"{len(violations):,}",
        }
        for violation in violations[:_MOST]:
            console.print(f"{each}, seed {seed}: {violation}", soft_wrap=True, markup=False)
        failed = failed or bool(violations)
    console.print(_table(rows, seed))
    if failed:
        raise typer.Exit(1)


def _table(rows: Mapping[str, Mapping[str, str]], seed: int) -> Table:
    """A column for each backend."""
    table = Table(title=f"Faults, seed {seed}", title_justify="left")
    table.add_column("")
    for backend in rows:
        table.add_column(backend, justify="right")
    names = dict.fromkeys(name for row in rows.values() for name in row if name != "violations")
    for name in [*names, "violations"]:
        table.add_row(name, *(row.get(name, "") for row in rows.values()))
    return table


if __name__ == "__main__":
    app(prog_name="python -m tests.faults.broker")
