"""``predicast sub``: receive what matches an expression, as it comes."""

from __future__ import annotations

import enum
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from predicast.cli.interrupts import stop_if_interrupted
from predicast.cli.remote.reaching import (
    ContextName,
    DialectName,
    Server,
    Token,
    reached,
    wire_parameters,
)
from predicast.cli.subscriptions.options import Parameters
from predicast.cli.terminal import output, print_note, visible

if TYPE_CHECKING:
    from predicast.client import ReceivedDelivery, SyncClient, SyncStream

_LOOK_UP_S = 0.5  # how soon Ctrl-C is noticed while nothing comes


class Shown(enum.StrEnum):
    """What deliveries look like."""

    PRETTY = "pretty"
    JSONL = "jsonl"


def sub(  # noqa: PLR0913  # an option is a parameter
    expression: Annotated[
        str | None,
        typer.Argument(
            metavar="EXPRESSION",
            help="What is wanted; without it, that of the subscription named by --durable.",
            show_default=False,
        ),
    ] = None,
    *,
    durable: Annotated[
        str | None,
        typer.Option(
            "--durable",
            metavar="ID",
            help="Go on where the subscription with this id was left; it is made if it is not "
            "there, and stays.",
        ),
    ] = None,
    dialect: DialectName = "where",
    parameter: Parameters = None,
    after: Annotated[
        int | None,
        typer.Option("--after", metavar="POSITION", help="With --durable: begin after it."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help="With --durable: begin with what came then, such as '2026-01-31 12:00:00', in "
            "UTC.",
        ),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", metavar="N", help="Stop after so many.", min=1)
    ] = None,
    format: Annotated[
        Shown | None,
        typer.Option(
            "--format",
            "-f",
            help="[default: pretty on a terminal, else jsonl]",
            show_default=False,
        ),
    ] = None,
    server: Server = None,
    token: Token = None,
    context: ContextName = None,
) -> None:
    """Show what matches, until Ctrl-C.

    Without `--durable` only what comes from now on.
    """
    if expression is None and durable is None:
        raise typer.BadParameter("give an EXPRESSION, or --durable ID", param_hint="EXPRESSION")
    start = _start(after, since)
    if start is not None and durable is None:
        raise typer.BadParameter("only what is kept can be replayed: add --durable ID")
    shown = format or (Shown.PRETTY if sys.stdout.isatty() else Shown.JSONL)
    with reached(server, token, context) as client:
        stream = _stream(client, expression, durable, dialect, parameter, start)
        _show(stream, shown, count)


def _stream(
    client: SyncClient,
    expression: str | None,
    durable: str | None,
    dialect: str,
    parameter: list[str] | None,
    start: int | datetime | None,
) -> SyncStream:
    if expression is None:
        assert durable is not None
        return client.consume([durable], start=start)
    return client.subscribe(
        expression,
        id=durable,
        durable=durable is not None,
        dialect=dialect,
        parameters=wire_parameters(parameter),
        start=start,
    )


def _start(after: int | None, since: str | None) -> int | datetime | None:
    from predicast.errors import InvalidValueError
    from predicast.language import timestamp

    if after is not None and since is not None:
        raise typer.BadParameter("give --after or --since, not both")
    if since is None:
        return after
    try:
        return timestamp(since)
    except InvalidValueError as error:
        raise typer.BadParameter(error.message, param_hint="'--since'") from None


def _show(stream: SyncStream, shown: Shown, count: int | None) -> None:
    left = count
    told: dict[str, int] = {}
    while left is None or left > 0:
        delivery = stream.next(_LOOK_UP_S)
        stop_if_interrupted()
        for id, dropped in stream.dropped.items():
            if told.get(id, 0) < dropped:
                print_note(f"{id}: {dropped - told.get(id, 0):,} were dropped; this is too slow")
                told[id] = dropped
        if delivery is None:
            continue
        (_print_pretty if shown is Shown.PRETTY else _print_json)(delivery)
        if left is not None:
            left -= 1
            if not left:
                delivery.acknowledge()


def _print_json(delivery: ReceivedDelivery) -> None:
    import msgspec

    from predicast.protocol.frames import JSON

    event = delivery.event
    document = {
        "position": event.position,
        "at": event.at,
        "id": event.id,
        "publisher": event.publisher,
        "subscriptions": sorted(delivery.subscriptions),
        "attempt": delivery.attempt,
        "form": event.form,
        "body": JSON.packed(event.body, event.form),
    }
    line = msgspec.json.encode(document).replace(b"\n", b" ")  # a body may have lines
    typer.echo(line.decode())


def _print_pretty(delivery: ReceivedDelivery) -> None:
    from rich.text import Text

    at = datetime.fromtimestamp(delivery.event.at, UTC)
    attempt = f" (attempt {delivery.attempt})" if delivery.attempt > 1 else ""
    head = f"{at:%H:%M:%S} #{delivery.position}{attempt} "
    body = visible(delivery.event.body.decode(errors="replace"))
    output().print(Text.assemble((head, "dim"), body), soft_wrap=True)
