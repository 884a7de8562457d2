"""The commands of benchmarks that measure one thing and show it in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from bench.measuring.commands import Out, fail_on
from bench.measuring.progress import progress_bar
from bench.measuring.result_files import ResultFile
from bench.measuring.telling import show, tell

app = typer.Typer()


def _keep(name: str, report: ResultFile, table: Table, out: Path, *, as_json: bool = False) -> None:
    """Write what was measured, and show it."""
    path = out / f"{name}.json"
    report.write(path)
    if as_json:
        print(path.read_text(encoding="utf-8"), end="")
    else:
        show([table])
        tell([path])


@app.command()
def language(
    *,
    texts: Annotated[int, typer.Option(min=1, help="Texts per known shape.")] = 20_000,
    fresh_texts: Annotated[int, typer.Option(min=1, help="Texts that are all new shapes.")] = 1_000,
    repeats: Annotated[int, typer.Option(min=1, help="How often each is measured.")] = 5,
    seed: int = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, not a table.")] = False,
    out: Out = Path("out/bench"),
) -> None:
    """How many subscriptions a second are parsed, by shapes seen before and by fresh ones."""
    from bench.language import SHAPES, language_table, measure_language

    with progress_bar("parsing", total=repeats * len(SHAPES)) as bar:
        report = measure_language(
            texts=texts, fresh_texts=fresh_texts, repeats=repeats, seed=seed, advance=bar.advance
        )
    _keep("language", report, language_table(report), out, as_json=as_json)


@app.command()
def calls(
    *,
    subscriptions: Annotated[int, typer.Option(min=1)] = 100_000,
    number: Annotated[int, typer.Option(min=1, help="Calls of each kind.")] = 5_000,
    rounds: Annotated[int, typer.Option(min=1, help="Seconds of one thread, and of two.")] = 5,
    seed: int = 0,
    out: Out = Path("out/bench"),
) -> None:
    """What single calls take, and what a second thread adds."""
    from bench.calls import calls_table, measure_calls, turns

    with progress_bar("preparing", total=turns(rounds)) as bar:
        report = measure_calls(
            subscriptions=subscriptions, calls=number, rounds=rounds, seed=seed, progress=bar.step
        )
    _keep("calls", report, calls_table(report), out)


@app.command()
def cold(*, out: Out = Path("out/bench")) -> None:
    """What the first answers of a fresh process take, with and without compiled kernels."""
    from bench.cold import cold_table, measure_cold
    from bench.cold_probe import KINDS

    with progress_bar("preparing", total=2 * len(KINDS)) as bar:
        measured = measure_cold(progress=bar.step)
    _keep("cold", measured, cold_table(measured), out)
    fail_on("LATE", measured.late())


@app.command()
def parameters(
    *,
    subscriptions: Annotated[int, typer.Option(min=1)] = 100_000,
    window: Annotated[int, typer.Option(min=1, help="Changes in a window.")] = 2_000,
    windows: Annotated[int, typer.Option(min=1, help="How many, alone and beside events.")] = 50,
    seed: int = 0,
    out: Out = Path("out/bench"),
) -> None:
    """How many changes of parameters a second, and what events notice of them."""
    from bench.parameters import measure_parameters, parameters_table

    with progress_bar("windows and batches", total=3 * windows) as bar:
        report = measure_parameters(
            subscriptions=subscriptions,
            window=window,
            windows=windows,
            seed=seed,
            advance=bar.advance,
        )
    _keep("parameters", report, parameters_table(report), out)


@app.command()
def derived(
    *,
    subscriptions: Annotated[int, typer.Option(min=1)] = 100_000,
    events: Annotated[int, typer.Option(min=1, help="Events in a batch.")] = 2_000,
    batches: Annotated[int, typer.Option(min=1, help="How many of each.")] = 30,
    seed: int = 0,
    out: Out = Path("out/bench"),
) -> None:
    """What expressions over attributes cost beside plain columns that hold the same values."""
    from bench.derived import derived_table, measure_derived

    with progress_bar("batches", total=2 * batches) as bar:
        report = measure_derived(
            subscriptions=subscriptions,
            events=events,
            batches=batches,
            seed=seed,
            advance=bar.advance,
        )
    _keep("derived", report, derived_table(report), out)


@app.command()
def lists(
    *,
    subscriptions: Annotated[int, typer.Option(min=1)] = 100_000,
    events: Annotated[int, typer.Option(min=1, help="Events in a batch.")] = 2_000,
    batches: Annotated[int, typer.Option(min=1, help="How many of each.")] = 10,
    seed: int = 0,
    out: Out = Path("out/bench"),
) -> None:
    """What conditions on the elements of lists cost, beside brute force."""
    from bench.lists import lists_table, measure_lists

    with progress_bar("batches", total=2 * batches) as bar:
        report = measure_lists(
            subscriptions=subscriptions,
            events=events,
            batches=batches,
            seed=seed,
            advance=bar.advance,
        )
    _keep("lists", report, lists_table(report), out)
