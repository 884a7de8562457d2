"""The benchmarks' commands: ``python -m bench --help``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.console import Console

from bench.workloads import Size

if TYPE_CHECKING:
    from bench.results import PapersReport

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)

Out = Annotated[Path, typer.Option(help="Where results are written.")]
Docs = Annotated[
    Path | None, typer.Option(help="The pages' folder; figures and verdicts go to measured/.")
]


@app.callback()
def main() -> None:
    """Benchmarks of Predicast."""


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
    from bench.progress import progress_bar

    with progress_bar("parsing", total=repeats * len(SHAPES)) as bar:
        report = measure_language(
            texts=texts, fresh_texts=fresh_texts, repeats=repeats, seed=seed, advance=bar.advance
        )
    encoded = msgspec.json.format(msgspec.json.encode(report))
    path = out / "language.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encoded + b"\n")
    if as_json:
        print(encoded.decode())
    else:
        Console().print(language_table(report))
        print(f"written to {path}")


@app.command()
def papers(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER]...", help="ceem, redundant-attributes, vector-subscriptions."
        ),
    ] = None,
    *,
    preset: Annotated[Size, typer.Option(help="A quick look, or the papers' sizes.")] = Size.SMALL,
    matchers: Annotated[
        str, typer.Option(help="Names with commas; the papers' own if left out.")
    ] = "",
    repeats: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    seed: Annotated[int, typer.Option(help="0 is the workload that the figures show.")] = 0,
    out: Out = Path("out/bench"),
    docs: Docs = None,
) -> None:
    """Run the papers' experiments again: results, figures, and a verdict on every claim."""
    from dataclasses import replace

    from bench.progress import progress_bar
    from bench.runner import EFFORT, known_paper_matchers, run, turns
    from bench.workloads import PAPERS
    from predicast.errors import UnknownMatcherError
    from predicast.matching import make_matcher

    chosen = list(dict.fromkeys(names or PAPERS))
    for unknown in set(chosen) - set(PAPERS):
        raise typer.BadParameter(f"there is no paper {unknown!r}; known: {', '.join(PAPERS)}")
    contestants = [name.strip() for name in matchers.split(",") if name.strip()]
    try:
        for name in contestants:
            make_matcher(name)
    except UnknownMatcherError as error:
        raise typer.BadParameter(error.message) from error
    experiments = [each for name in chosen for each in PAPERS[name].experiments(preset, seed)]
    effort = replace(EFFORT[preset], repeats=repeats or EFFORT[preset].repeats)
    with progress_bar("preparing", total=turns(experiments, effort)) as bar:
        measured = run(
            experiments,
            contestants or known_paper_matchers(),
            size=preset,
            seed=seed,
            effort=effort,
            progress=bar.step,
        )
    path = out / f"papers-{preset}.json"
    measured.write(path)
    print(f"written to {path}")
    _document(measured, out, docs)


@app.command()
def report(
    results: Annotated[Path, typer.Argument(help="What `papers` has written.", exists=True)],
    *,
    out: Out = Path("out/bench"),
    docs: Docs = None,
) -> None:
    """Draw the figures and judge the claims again, from results measured before."""
    from bench.results import PapersReport

    _document(PapersReport.read(results), out, docs)


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
    from dataclasses import replace

    from bench.matchers.catalogue import WORKLOADS
    from bench.matchers.report import measured_table, others_table, verdict_table, write_documents
    from bench.matchers.results import MatchersReport
    from bench.matchers.run import run, steps
    from bench.matchers.runner import EFFORT
    from bench.progress import progress_bar

    chosen = list(dict.fromkeys(names or WORKLOADS))
    for unknown in set(chosen) - set(WORKLOADS):
        known = ", ".join(WORKLOADS)
        raise typer.BadParameter(f"there is no workload {unknown!r}; known: {known}")
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
        print(f"written to {path}")
    written = write_documents(measured, out, suffixes=["svg", "png"])
    if docs is not None:
        written += write_documents(measured, docs / "measured", suffixes=["svg"])
    for table in (measured_table(measured), others_table(measured), verdict_table(measured)):
        if table is not None:
            Console().print(table)
    for each in written:
        print(f"written to {each}")
    for wrong in measured.wrong():
        print(f"WRONG: {wrong}")
    if measured.wrong():
        raise typer.Exit(1)


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
    from dataclasses import replace

    from bench.matchers.plane import SETTINGS, PlaneReport, cells, measure_plane, plane_table
    from bench.matchers.plane_plots import write_plane
    from bench.progress import progress_bar

    path = out / "plane.json"
    if again:
        measured = PlaneReport.read(path)
    else:
        usual = SETTINGS[preset]
        settings = replace(usual, rounds=rounds or usual.rounds)
        with progress_bar("preparing", total=cells(settings)) as bar:
            measured = measure_plane(settings, seed=seed, progress=bar.step)
        measured.write(path)
        print(f"written to {path}")
    written = write_plane(measured, out, suffixes=["svg", "png"])
    if docs is not None:
        written += write_plane(measured, docs / "measured", suffixes=["svg"])
    Console().print(plane_table(measured))
    for each in written:
        print(f"written to {each}")
    for cliff in measured.cliffs():
        print(f"CLIFF: {cliff}")


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
    from bench.progress import progress_bar

    with progress_bar("windows and batches", total=3 * windows) as bar:
        report = measure_parameters(
            subscriptions=subscriptions,
            window=window,
            windows=windows,
            seed=seed,
            advance=bar.advance,
        )
    path = out / "parameters.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    Console().print(parameters_table(report))
    print(f"written to {path}")


def _document(measured: PapersReport, out: Path, docs: Path | None) -> None:
    from bench.documents import papers_in, verdict_table, write_documents

    written = write_documents(measured, out, suffixes=["svg", "png"])
    if docs is not None:
        written += write_documents(measured, docs / "measured", suffixes=["svg"])
    for paper in papers_in(measured):
        Console().print(verdict_table(measured, paper))
    for path in written:
        print(f"written to {path}")


if __name__ == "__main__":
    app(prog_name="python -m bench")
