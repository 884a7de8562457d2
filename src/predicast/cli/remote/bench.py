"""``predicast bench``: how quick a running broker is, from here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from predicast.cli.remote.reaching import ContextName, Server, Token, address, require_client
from predicast.cli.terminal import output

if TYPE_CHECKING:
    from predicast.cli.remote.load import Load, Measured


def bench(
    *,
    subscriptions: Annotated[
        int, typer.Option("--subscriptions", metavar="N", help="Made for this, and removed.", min=1)
    ] = 1000,
    fan_out: Annotated[
        int,
        typer.Option("--fan-out", metavar="N", help="Subscriptions that an event matches.", min=1),
    ] = 1,
    events: Annotated[
        int, typer.Option("--events", metavar="N", help="How many are published.", min=1)
    ] = 20_000,
    batch: Annotated[
        int, typer.Option("--batch", metavar="N", help="Events that are published at once.", min=1)
    ] = 100,
    rate: Annotated[
        float,
        typer.Option("--rate", metavar="N", help="Events per second, if not all at once.", min=0),
    ] = 0.0,
    durable: Annotated[
        bool, typer.Option("--durable", help="Subscriptions whose deliveries are acknowledged.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    server: Server = None,
    token: Token = None,
    context: ContextName = None,
) -> None:
    """Publish events to subscriptions of its own, and measure.

    With `--rate` events are sent when they are due, whatever the broker does, and latencies count
    from then on.
    """
    import asyncio

    from predicast.cli.remote.load import Load, measure

    require_client()
    from predicast.client import connect

    url, known_by = address(server, token, context)
    load = Load(subscriptions, min(fan_out, subscriptions), events, batch, rate, durable)

    async def run() -> Measured:
        async with (
            connect(url, token=known_by) as sender,
            connect(url, token=known_by) as reader,
        ):
            return await measure(sender, [reader], load)

    _print(figures(load, asyncio.run(run())), as_json=as_json)


def figures(load: Load, measured: Measured) -> dict[str, Any]:
    """What was measured, by name."""
    return {
        "subscriptions": load.subscriptions,
        "fan_out": load.fan_out,
        "events": load.events,
        "published_per_s": round(load.events / measured.published_s),
        "delivered_per_s": round(measured.deliveries / measured.delivered_s),
        "p50_ms": round(1000 * measured.quantile(0.5), 3),
        "p99_ms": round(1000 * measured.quantile(0.99), 3),
        "p99_9_ms": round(1000 * measured.quantile(0.999), 3),
    }


def _print(found: dict[str, Any], *, as_json: bool) -> None:
    import json

    if as_json:
        typer.echo(json.dumps(found))
        return
    for name, value in found.items():
        output().print(f"{name.replace('99_9', '99.9').replace('_', ' '):<18}{value:>14,}")
