"""``predicast simulate``: a network of brokers in one process, with faults, from a seed."""

from __future__ import annotations

import enum
import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from predicast.cli.terminal import output, print_error, progress

if TYPE_CHECKING:
    from rich.table import Table

    from predicast.routing.simulation import SimulationReport

VIOLATED: Final = 1
_OBJECTS: Final = 50_000  # that are made before the youngest are looked through


class World(enum.StrEnum):
    """What the clients do."""

    DVE = "dve"
    MARKET = "market"
    AUCTION = "auction"


def simulate(  # noqa: PLR0913  # an option is a parameter
    *,
    brokers: Annotated[int, typer.Option("--brokers", min=1, help="How many brokers.")] = 31,
    clients: Annotated[int, typer.Option("--clients", min=1, help="How many clients.")] = 200,
    subscriptions: Annotated[
        int, typer.Option("--subscriptions", min=0, help="How many to begin with.")
    ] = 5000,
    events: Annotated[int, typer.Option("--events", min=0, help="How many are published.")] = 1000,
    workload: Annotated[
        World, typer.Option("--workload", help="What the clients do.")
    ] = World.MARKET,
    faults: Annotated[
        str,
        typer.Option(
            "--faults",
            metavar="NAMES",
            help="What goes wrong, with commas: crash, partition, delay, loss, duplicate, reorder, "
            "leave, join; or all.",
        ),
    ] = "",
    slack: Annotated[
        float,
        typer.Option(
            "--slack",
            min=0.0,
            help="How far brokers may ask for more than is wanted: 0 is exact; inf is anything.",
        ),
    ] = 0.0,
    seed: Annotated[int, typer.Option("--seed", help="Decides everything that is drawn.")] = 0,
    changes: Annotated[
        float,
        typer.Option(
            "--changes", min=0.0, max=1.0, help="The share of subscriptions that change in a turn."
        ),
    ] = 0.02,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, help="How often faults are followed by healing.")
    ] = 2,
    batch: Annotated[
        int, typer.Option("--batch", min=1, help="How many events a client publishes at once.")
    ] = 16,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    draw: Annotated[
        Path | None,
        typer.Option("--draw", metavar="FILE", help="Draw the tree with its traffic, as SVG."),
    ] = None,
) -> None:
    """Run a network of brokers, let things go wrong, and check what the clients were promised.

    The same options give the same run. If a promise is broken, the command says which and how to
    see it again, and ends with 1.
    """
    from predicast.routing.simulation import (
        TURNS,
        Fault,
        SimulationOptions,
        WorkloadName,
        drawn,
        simulate,
        usual_faults,
    )

    named = [name.strip() for name in faults.split(",") if name.strip()]
    options = SimulationOptions(
        seed=seed,
        brokers=brokers,
        clients=clients,
        subscriptions=subscriptions,
        events=events,
        workload=WorkloadName(workload),
        slack=slack,
        faults=usual_faults(Fault if "all" in named else named),
        changes=changes,
        batch=batch,
        rounds=rounds,
    )
    if draw is not None:
        draw.touch()  # or a long run would end with nowhere to draw it
    with progress("simulating", options.rounds * TURNS) as advance, _garbage_is_rare():
        report = simulate(options, advance)
    if draw is not None:
        draw.write_text(drawn(report.picture), encoding="utf-8")
    if as_json:
        output().print_json(json.dumps(report.to_document()))
    else:
        output().print(_table(report))
    if report.failed:
        _tell_violations(report, named)
        raise typer.Exit(VIOLATED)


@contextmanager
def _garbage_is_rare() -> Iterator[None]:
    """Look for circles of dead objects less often.

    A large network is millions of objects that stay, and hardly any circle of them dies; to walk
    through them all every so often takes a fifth of the time.
    """
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _tell_violations(report: SimulationReport, faults: list[str]) -> None:
    shown = "\n".join(f"  {each}" for each in report.violations[:10])
    print_error(
        f"seed {report.options.seed} breaks a promise:\n{shown}\n"
        f"To see it again: {_command(report, faults)}"
    )


def _command(report: SimulationReport, faults: list[str]) -> str:
    """What runs the same again, whatever the defaults will be."""
    options = report.options
    names = ("brokers", "clients", "subscriptions", "events", "workload", "slack", "seed")
    said = [f"--{name} {getattr(options, name)}" for name in (*names, "changes", "rounds", "batch")]
    if faults:
        said.append(f"--faults {','.join(faults)}")
    return " ".join(["predicast simulate", *said])


def _table(report: SimulationReport) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, value in _rows(report):
        table.add_row(name, value)
    return table


def _rows(report: SimulationReport) -> list[tuple[str, str]]:
    counts = [
        ("expected", report.expected),
        ("delivered", report.delivered),
        ("lost", report.lost),
        ("duplicated", report.duplicated),
        ("spurious", report.spurious),
        ("out of order", report.disordered),
    ]
    rows = [(name, f"{count:,}") for name, count in counts]
    rows += [(f"messages: {kind}", f"{count:,}") for kind, count in report.messages.items()]
    rows += [
        ("events carried from broker to broker", f"{report.carried:,}"),
        ("of these, wanted by nobody", f"{report.false_forwards:,}"),
        ("subscriptions in tables", f"{report.tables.total:,}"),
        ("in the median table", f"{report.tables.median:,}"),
        ("in the largest table", f"{report.tables.largest:,}"),
        ("moves to another parent", f"{report.moved:,}"),
        ("seconds to converge", ", ".join(f"{each:.2f}" for each in report.converged_s)),
        ("seconds simulated", f"{report.simulated_s:.1f}"),
    ]
    rows += [(f"faults: {kind}", f"{count:,}") for kind, count in report.faults.items()]
    rows.append(("digest of the run", report.digest))
    return rows
