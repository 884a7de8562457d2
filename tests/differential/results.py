"""What ``python -m tests.differential`` found, as a table and as JSON."""

from __future__ import annotations

import msgspec
from rich.box import SIMPLE
from rich.table import Table

from bench.measuring.machine import Machine
from bench.measuring.result_files import ResultFile
from tests.differential.walk import Tally


class FamilyResult(msgspec.Struct):
    """The rounds of one family, together."""

    family: str
    rounds: int = 0
    decisions: int = 0  # an event and a subscription each
    matches: int = 0
    changes: int = 0
    merges: int = 0  # between two asks, one or more
    beside: int = 0  # asks while a merge was running
    differences: int = 0
    seconds: float = 0.0

    def add(self, tally: Tally) -> None:
        """Another round."""
        self.rounds += 1
        self.decisions += tally.decisions
        self.matches += tally.matches
        self.changes += tally.changes
        self.merges += tally.merges
        self.beside += tally.beside


class DifferentialReport(ResultFile):
    """One run."""

    machine: Machine
    matcher: str
    decisions: int  # asked for, of each family
    seed: int
    families: list[FamilyResult] = msgspec.field(default_factory=list)
    difference: str = ""


def differential_table(report: DifferentialReport) -> Table:
    """A row per family."""
    title = f"{report.matcher} against the definition, seed {report.seed}"
    table = Table(title=title, box=SIMPLE, padding=(0, 1, 0, 0))  # fits into 80 columns
    table.add_column("family")
    for name in ("decisions", "matches", "changes", "merges", "differences", "seconds"):
        table.add_column(name, justify="right")
    for each in report.families:
        counts = (each.decisions, each.matches, each.changes, each.merges, each.differences)
        table.add_row(each.family, *(f"{count:,}" for count in counts), f"{each.seconds:,.0f}")
    return table
