"""``predicast doctor``: what is installed, what is missing, and the line that fixes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from predicast.cli.terminal import notices, output, visible

if TYPE_CHECKING:
    from predicast.cli.diagnosis import Finding

NOT_USABLE: Final = 1


def doctor(
    start: Annotated[
        bool,
        typer.Option("--start", help="Also start a local Spark and run a small job on it."),
    ] = False,
) -> None:
    """Look at Python, libraries, Java, Spark and the machine, and say how to fix what is missing.

    The exit code is 1 if something that is required is missing: what the library itself needs and,
    with --start, a Spark that starts. Otherwise it is 0.
    """
    from predicast.cli.diagnosis import State, findings

    console = notices()
    found: list[Finding] = []
    if console.is_terminal and not console.is_dumb_terminal:
        with console.status("Looking"):
            found.extend(findings(start_spark=start))
    else:
        found.extend(findings(start_spark=start))
    _print_table(found)
    if any(finding.state is State.MISSING for finding in found):
        raise typer.Exit(NOT_USABLE)


def _print_table(found: list[Finding]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from predicast.cli.diagnosis import State

    styles = {State.FINE: "green", State.MISSING: "bold red", State.OPTIONAL: "yellow"}
    table = Table("", "", "found", box=box.SIMPLE_HEAD)
    for finding in found:
        mark = Text(finding.state.value, styles[finding.state])
        table.add_row(mark, finding.what, Text(visible(finding.found), overflow="fold"))
    console = output()
    console.print(table)
    for finding in found:
        if finding.fix:
            needed = "is required" if finding.state is State.MISSING else "is optional"
            console.print(f"{finding.what} {needed}. To fix it:", soft_wrap=True)
            console.print(f"  {finding.fix}", soft_wrap=True)  # whole, to be pasted
    if any(finding.state is State.MISSING for finding in found):
        console.print(Text("Something that is required is missing.", "bold red"))
    else:
        console.print("The library is usable.")
