"""``predicast export`` and ``predicast import``: definitions out of a broker, and into one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from predicast.cli.batches import batches
from predicast.cli.interrupts import stop_if_interrupted
from predicast.cli.remote.reaching import ContextName, Server, Token, reached
from predicast.cli.remote.subs import all_definitions
from predicast.cli.terminal import print_note, progress

if TYPE_CHECKING:
    from predicast.protocol.records import Definition

_WINDOW: Final = 10_000  # definitions that are put at once: all of them or none


def export(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Where to; - for standard output.")
    ] = "-",
    *,
    server: Server = None,
    token: Token = None,
    context: ContextName = None,
) -> None:
    """Write all durable subscriptions as JSON Lines, which `predicast import` reads."""
    with reached(server, token, context) as client:
        kept = (each for each in all_definitions(client) if each.settings.durable)
        if file == "-":
            for line in _lines(kept):
                typer.echo(line.decode())
            return
        path = Path(file)
        part = path.with_name(path.name + ".part")
        with part.open("wb") as written:
            written.writelines(line + b"\n" for line in _lines(kept))
        part.replace(path)


def _lines(definitions: Iterable[Definition]) -> Iterator[bytes]:
    import msgspec

    for each in definitions:
        stop_if_interrupted()
        yield msgspec.json.encode(each)


def import_(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Where from; - for standard input.")
    ] = "-",
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace those whose ids are taken.")
    ] = False,
    server: Server = None,
    token: Token = None,
    context: ContextName = None,
) -> None:
    """Put the subscriptions of an export, or of any JSON Lines with id and expression."""
    from predicast.protocol.records import Put

    lines = sys.stdin.buffer if file == "-" else Path(file).read_bytes().splitlines()
    definitions = list(_definitions(lines, file))  # a file with a mistake changes nothing
    with reached(server, token, context) as client, progress("Importing", len(definitions)) as show:
        for first, some in enumerate(batches(definitions, _WINDOW)):
            client.apply([Put(each, replace) for each in some])
            show(first * _WINDOW + len(some))
            stop_if_interrupted()
    count = len(definitions)
    print_note(f"imported {count:,} subscription{'' if count == 1 else 's'}")


def _definitions(lines: Iterable[bytes], name: str) -> Iterator[Definition]:
    import msgspec

    from predicast.errors import InputFileError
    from predicast.protocol.records import Definition

    decoder = msgspec.json.Decoder(Definition)
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise InputFileError(
                    f"{name}, line {number}: {error}", path=name, line=number
                ) from None
