"""The table at the end of the demo.

Everything printed is ``Text``, so that a bracket in a subscription or a path is never taken for
markup, whatever the console is set to.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from predicast.demo.live import LiveOutcome
from predicast.demo.world import Outcome
from predicast.engine.explanation import Explanation

_MOST_MATCHED: Final = 5


def print_report(
    console: Console,
    outcomes: Sequence[Outcome],
    live: LiveOutcome,
    pictures: Sequence[Path],
    broker_line: str,
    seconds: float,
) -> None:
    """Print all of it; the last line is what to type next."""
    console.print()
    console.print(_summary(outcomes))
    for outcome in outcomes:
        console.print()
        console.print(Rule(Text(outcome.world.title, "bold"), align="left", style="dim"))
        console.print(_most_matched(outcome))
        explanation = outcome.explained()
        if explanation is not None:
            _print_explanation(console, explanation, outcome)
    console.print()
    title = f"{live.world.title}, as it happens: events and changes stream in"
    console.print(Rule(Text(title, "bold"), align="left", style="dim"))
    console.print(_parts(live))
    console.print()
    folder = pictures[0].parent
    names = ", ".join(outcome.world.name for outcome in outcomes)
    for line in (
        f"Deliveries: {folder / '<world>' / 'deliveries'} (Parquet) for {names}",
        f"            {folder / 'live' / 'deliveries'} (a Delta table) for the stream",
        f"Picture:    {', '.join(map(str, pictures))}",
        f"Done in {seconds:.0f} s, the start of Spark included.",
        f"A broker on this data, with a console to look at it: {broker_line}",
    ):
        console.print(Text(line), soft_wrap=True)


def _summary(outcomes: Sequence[Outcome]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("world")
    for name in ("events", "subscriptions", "matches", "seconds", "events/s"):
        table.add_column(name, justify="right", no_wrap=True)
    for outcome in outcomes:
        table.add_row(
            outcome.world.name,
            f"{outcome.world.events.num_rows:,}",
            f"{len(outcome.world.subscriptions):,}",
            f"{outcome.matches:,}",
            f"{outcome.seconds:.1f}",
            f"{outcome.events_per_second:,.0f}",
        )
    return table


def _parts(live: LiveOutcome) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("batch", "changes", "version", "events", "matches", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    for number, part in enumerate(live.parts):
        table.add_row(
            str(number),
            f"{part.changes:,}",
            str(part.version),
            f"{part.events:,}",
            f"{part.matches:,}",
            f"{part.seconds:.1f}",
        )
    return table


def _most_matched(outcome: Outcome) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("matches", justify="right", no_wrap=True)
    table.add_column("most matched", no_wrap=True)
    table.add_column("subscription", overflow="fold")
    for id, count in islice(outcome.by_subscription().items(), _MOST_MATCHED):
        table.add_row(f"{count:,}", Text(id), Text(outcome.world.subscriptions[id], "cyan"))
    return table


def _print_explanation(console: Console, explanation: Explanation, outcome: Outcome) -> None:
    event, receivers = outcome.busiest()
    console.print()
    console.print(
        Text(
            f"Why {outcome.world.event_id} {event}, with {receivers} matches the busiest, "
            f"went to {explanation.id}:"
        )
    )
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for each in explanation.tests:
        mark = Text(each.mark, "green" if each.held else "red")
        table.add_row(mark, Text(each.brief, "cyan"), Text(f"it saw {each.saw}"))
    console.print(Padding(table, (0, 0, 0, 2)))
