"""The benchmarks' commands: ``python -m bench --help``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from bench.measuring.commands import Docs, Out, chosen_of, fail_on
from bench.measuring.progress import progress_bar
from bench.measuring.result_files import write_both
from bench.measuring.sizes import Size
from bench.measuring.telling import show, tell
from bench.papers.other_runs import document, run_ontology, run_region_joins, run_routing
from bench.single_tables import app as single_tables

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)
app.add_typer(single_tables)

ONTOLOGY: Final = "ontology"  # the paper whose events are graphs
FILTER_INDEX: Final = "filter-index"  # the paper that region joins go with
ROUTING: Final = "routing"  # the network of the paper on the Filter Index


@app.callback()
def main(context: typer.Context) -> None:
    """Benchmarks of Predicast."""
    if context.invoked_subcommand != "cold":
        from predicast import Engine

        Engine().warm_up()  # the time until kernels are compiled is a benchmark of its own


@app.command()
def papers(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER]...",
            help="ceem, redundant-attributes, vector-subscriptions, filter-index, ontology, "
            "routing.",
        ),
    ] = None,
    *,
    preset: Annotated[Size, typer.Option(help="A quick look, or the papers' sizes.")] = Size.SMALL,
    matchers: Annotated[
        str, typer.Option(help="Names with commas; each paper's own if left out.")
    ] = "",
    repeats: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    seed: Annotated[int, typer.Option(help="0 is the workload that the figures show.")] = 0,
    out: Out = Path("out/bench"),
    docs: Docs = None,
) -> None:
    """Run the papers' experiments again: results, figures, and a verdict on every claim."""
    from bench.papers.runner import EFFORT, run, turns
    from bench.papers.workloads import PAPERS
    from predicast.errors import UnknownMatcherError
    from predicast.matching import make_matcher

    chosen = chosen_of("paper", names, [*PAPERS, ONTOLOGY, ROUTING])
    contestants = [name.strip() for name in matchers.split(",") if name.strip()]
    try:
        for name in contestants:
            make_matcher(name)
    except UnknownMatcherError as error:
        raise typer.BadParameter(error.message) from error
    if ONTOLOGY in chosen:
        run_ontology(preset, repeats, seed, out, docs)
        chosen.remove(ONTOLOGY)
    if ROUTING in chosen:
        run_routing(preset, seed, out, docs)
        chosen.remove(ROUTING)
    if not chosen:
        return
    experiments = [each for name in chosen for each in PAPERS[name].experiments(preset, seed)]
    effort = replace(EFFORT[preset], repeats=repeats or EFFORT[preset].repeats)
    with progress_bar("preparing", total=turns(experiments, effort)) as bar:
        measured = run(
            experiments,
            contestants,
            size=preset,
            seed=seed,
            effort=effort,
            progress=bar.step,
        )
    path = out / f"papers-{preset}.json"
    measured.write(path)
    tell([path])
    document(measured, out, docs)
    if FILTER_INDEX in chosen:
        run_region_joins(preset, repeats, seed, out, docs)


@app.command()
def report(
    results: Annotated[Path, typer.Argument(help="What `papers` has written.", exists=True)],
    *,
    out: Out = Path("out/bench"),
    docs: Docs = None,
) -> None:
    """Draw the figures and judge the claims again, from results measured before."""
    from bench.papers.results import PapersReport

    document(PapersReport.read(results), out, docs)


@app.command()
def matchers(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORKLOAD]...", help="ceem-exp1, regions-2d, churn, …; or all."),
    ] = None,
    *,
    preset: Annotated[Size, typer.Option(help="Two minutes, or all the sizes.")] = Size.SMALL,
    rounds: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    seed: Annotated[int, typer.Option(help="0 is the workload that the figures show.")] = 0,
    load_limit: Annotated[
        float | None, typer.Option(min=0, help="Seconds that loading a rival may take.")
    ] = None,
    largest: Annotated[
        int | None, typer.Option(min=1, help="Leave out points of more subscriptions.")
    ] = None,
    again: Annotated[bool, typer.Option(help="Draw what was measured before.")] = False,
    keep: Annotated[
        bool, typer.Option(help="Keep what was measured before of other workloads.")
    ] = False,
    out: Out = Path("out/bench"),
    docs: Docs = None,
) -> None:
    """The production matcher and its rivals side by side; verdicts on its goals."""
    from bench.matchers.catalogue import WORKLOADS
    from bench.matchers.report import goals_table, measured_table, others_table, write_documents
    from bench.matchers.results import MatchersReport
    from bench.matchers.run import run, steps
    from bench.matchers.runner import EFFORT

    chosen = chosen_of("workload", names, WORKLOADS)
    path = out / "matchers.json"
    if again:
        measured = MatchersReport.read(path)
    else:
        usual = EFFORT[preset]
        effort = replace(
            usual,
            rounds=rounds or usual.rounds,
            load_limit_s=usual.load_limit_s if load_limit is None else load_limit,
            largest=largest,
        )
        with progress_bar("preparing", total=steps(chosen, preset)) as bar:
            measured = run(
                chosen,
                preset,
                effort,
                seed=seed,
                before=MatchersReport.read(path) if keep else None,
                progress=bar.step,
                keep=lambda report: report.write(path),
            )
        tell([path])
    tables = [measured_table(measured), others_table(measured), goals_table(measured)]
    show([each for each in tables if each is not None])
    tell(write_both(partial(write_documents, measured), out, docs))
    fail_on("WRONG", measured.wrong())


@app.command()
def plane(
    *,
    preset: Annotated[Size, typer.Option(help="A quick look, or up to a million.")] = Size.SMALL,
    rounds: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    seed: Annotated[int, typer.Option(help="0 is the workload that the figure shows.")] = 0,
    again: Annotated[bool, typer.Option(help="Draw what was measured before.")] = False,
    out: Out = Path("out/bench"),
    docs: Docs = None,
) -> None:
    """The production matcher at all sizes and numbers of categories, and where it is too slow."""
    from bench.matchers.plane import SETTINGS, PlaneReport, cells, measure_plane, plane_table
    from bench.matchers.plane_plots import write_plane

    path = out / "plane.json"
    if again:
        measured = PlaneReport.read(path)
    else:
        usual = SETTINGS[preset]
        settings = replace(usual, rounds=rounds or usual.rounds)
        with progress_bar("preparing", total=cells(settings)) as bar:
            measured = measure_plane(settings, seed=seed, progress=bar.step)
        measured.write(path)
        tell([path])
    show([plane_table(measured)])
    tell(write_both(partial(write_plane, measured), out, docs))
    for cliff in measured.cliffs():
        print(f"CLIFF: {cliff}")


@app.command()
def broker(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[BROKER]...", help="predicast, jetstream, nats, mosquitto, redis, relay."
        ),
    ] = None,
    *,
    preset: Annotated[Size, typer.Option(help="A few minutes, or up to a million.")] = Size.SMALL,
    events: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    soak: Annotated[
        float, typer.Option(min=0, help="Only watch the memory, for so many seconds.")
    ] = 0,
    again: Annotated[bool, typer.Option(help="Show what was measured before.")] = False,
    out: Out = Path("out/bench"),
    docs: Docs = None,
) -> None:
    """The broker beside JetStream, NATS, Mosquitto and Redis, on loopback."""
    from bench.broker.contestants import CONTESTANTS
    from bench.broker.load import Held
    from bench.broker.plots import write_broker
    from bench.broker.results import BrokerReport, broker_table, goals_table
    from bench.broker.run import SETTINGS, measure_brokers, measure_memory, steps
    from bench.measuring.machine import this_machine

    chosen = chosen_of("broker", names, CONTESTANTS)
    settings = replace(SETTINGS[preset], events=events or SETTINGS[preset].events)
    path = out / "broker.json"
    report = BrokerReport.read(path) if path.exists() else BrokerReport(this_machine())
    say = partial(print, flush=True)
    if soak:
        measure_memory(report, Held(10_000, 10), soak, keep=lambda r: r.write(path), tell=say)
    elif not again:
        report = BrokerReport(this_machine(), memory=report.memory)
        with progress_bar("preparing", total=steps(settings, chosen)) as bar:
            measure_brokers(
                report,
                settings,
                chosen,
                keep=lambda report: report.write(path),
                tell=say,
                progress=bar.step,
            )
    show([broker_table(report), goals_table(report)])
    tell([path, *write_both(partial(write_broker, report), out, docs)])


@app.command()
def spark(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PART]...", help="tax, growth, batches, sigma, curves."),
    ] = None,
    *,
    preset: Annotated[Size, typer.Option(help="Some minutes, or a million events.")] = Size.SMALL,
    events: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    seed: int = 0,
    again: Annotated[bool, typer.Option(help="Show what was measured before.")] = False,
    out: Out = Path("out/bench"),
    docs: Docs = None,
) -> None:
    """What the Spark pipeline costs beyond matching, beside joins, and as a stream."""
    from bench.real.corpus import MissingCorpusError
    from bench.spark.plots import write_spark
    from bench.spark.results import (
        SparkReport,
        goals_table,
        growth_table,
        measured_table,
        streams_table,
    )
    from bench.spark.run import PARTS, SETTINGS, measure_spark, steps

    chosen = chosen_of("part", names, PARTS)
    usual = SETTINGS[preset]
    settings = replace(usual, events=events or usual.events, rounds=rounds or usual.rounds)
    path = out / "spark.json"
    if again:
        measured = SparkReport.read(path)
    else:
        with progress_bar("preparing", total=steps(settings, chosen)) as bar:
            try:
                measured = measure_spark(
                    settings,
                    seed=seed,
                    parts=chosen,
                    progress=bar.step,
                    keep=lambda report: report.write(path),
                    tell=partial(print, flush=True),
                )
            except MissingCorpusError as error:
                raise typer.BadParameter(str(error)) from error
        tell([path])
    tables = [measured_table, growth_table, streams_table, goals_table]
    show([table(measured) for table in tables])
    tell(write_both(partial(write_spark, measured), out, docs))
    fail_on("WRONG", measured.wrong())


@app.command()
def real(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PART]...", help="sigma, selective, loading, cesql, eventbridge."),
    ] = None,
    *,
    preset: Annotated[Size, typer.Option(help="A minute's look, or all the sizes.")] = Size.SMALL,
    seed: Annotated[int, typer.Option(help="0 makes the events that the figures show.")] = 0,
    again: Annotated[bool, typer.Option(help="Show what was measured before.")] = False,
    out: Out = Path("out/bench"),
    docs: Docs = None,
) -> None:
    """Real rules against real events beside rsigma-eval; selective rules; loading; dialects."""
    from bench.real.corpus import MissingCorpusError
    from bench.real.plots import write_real
    from bench.real.report import report_tables
    from bench.real.results import RealReport
    from bench.real.run import EFFORT, PARTS, run

    chosen = chosen_of("part", names, PARTS)
    path = out / "real.json"
    if again:
        measured = RealReport.read(path)
    else:
        effort = EFFORT[preset]
        with progress_bar("preparing", total=effort.steps(chosen)) as bar:
            try:
                measured = run(
                    chosen,
                    effort,
                    seed=seed,
                    progress=bar.step,
                    keep=lambda report: report.write(path),
                )
            except MissingCorpusError as error:
                raise typer.BadParameter(str(error)) from error
        tell([path])
    show(report_tables(measured))
    tell(write_both(partial(write_real, measured), out, docs))
    fail_on("WRONG", measured.wrong())


if __name__ == "__main__":
    app(prog_name="python -m bench")
