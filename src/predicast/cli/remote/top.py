"""``predicast top``: how a running broker does, in a table that renews itself."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final

import typer

from predicast.cli.interrupts import stop_if_interrupted
from predicast.cli.remote.reaching import ContextName, Server, Token, address, reached
from predicast.cli.terminal import output, visible

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

    from predicast.protocol.frames import Statistics

_QUEUES: Final = 15  # those with most waiting; a screen has no room for more


def top(
    *,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", help="How often.", min=0.1)
    ] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Show it once, and end.")] = False,
    server: Server = None,
    token: Token = None,
    context: ContextName = None,
) -> None:
    """Show rates, sizes, the longest queues and linked brokers, until Ctrl-C."""
    url, _ = address(server, token, context)
    with reached(server, token, context) as client:
        before, began = client.statistics(), time.monotonic()
        if once:
            output().print(screen(url, before, None, 0.0))
            return
        from rich.live import Live

        console = output()
        with Live(screen(url, before, None, 0.0), console=console, auto_refresh=False) as live:
            while True:
                time.sleep(every)
                stop_if_interrupted()
                now, at = client.statistics(), time.monotonic()
                live.update(screen(url, now, before, at - began), refresh=True)
                before, began = now, at


def screen(url: str, now: Statistics, before: Statistics | None, passed: float) -> Group:
    """Counts with what they grew by in a second, and the subscriptions that most waits for."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    counts = Table(box=None, pad_edge=False)
    counts.add_column("count")
    counts.add_column("now", justify="right")
    counts.add_column("per second", justify="right")
    for name, value in sorted(now.counts.items()):
        grown = "" if before is None else rate(before.counts, now.counts, name, passed)
        counts.add_row(visible(name).replace("_", " "), _number(value), grown)
    queues = Table(box=None, pad_edge=False)
    queues.add_column("subscription")
    queues.add_column("waiting", justify="right")
    longest = sorted(now.pending.items(), key=lambda each: (-each[1], each[0]))[:_QUEUES]
    for id, waiting in longest:
        queues.add_row(visible(id), f"{waiting:,}")
    rest = now.queues - len(longest)
    if rest > 0:
        queues.add_row(f"and {rest:,} more", "")
    parts: list[RenderableType] = [Text(visible(url), style="bold"), counts]
    parts += [Text(""), queues] if longest else []
    parts += [Text(""), _brokers(now, before, passed)] if now.brokers else []
    return Group(*parts)


def _brokers(now: Statistics, before: Statistics | None, passed: float) -> Table:
    """Linked brokers, and events that came from and went to each."""
    from rich.table import Table

    then = {each.name: each for each in before.brokers} if before is not None else {}
    table = Table(box=None, pad_edge=False)
    for name in ("broker", "role", "link"):
        table.add_column(name)
    for name in ("in", "per second", "out", "per second", "waiting"):
        table.add_column(name, justify="right")
    for each in now.brokers:
        was = then.get(each.name, each)
        traffic = []
        for count, earlier in ((each.events_in, was.events_in), (each.events_out, was.events_out)):
            traffic += [f"{count:,}", rate({"n": earlier}, {"n": count}, "n", passed)]
        link = "connected" if each.is_connected else "down"
        table.add_row(visible(each.name), each.role, link, *traffic, f"{each.waiting:,}")
    return table


def rate(before: Mapping[str, float], now: Mapping[str, float], name: str, passed: float) -> str:
    """How much a count grew per second; nothing of what stands still."""
    grown = now[name] - before.get(name, 0.0)
    return f"{grown / passed:,.0f}" if grown and passed > 0 else ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3f}"
