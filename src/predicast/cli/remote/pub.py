"""``predicast pub``: publish events from a file or from standard input."""

from __future__ import annotations

import enum
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from predicast.cli.batches import batches
from predicast.cli.interrupts import stop_if_interrupted
from predicast.cli.remote.reaching import ContextName, Server, Token, reached
from predicast.cli.terminal import print_note, progress, visible

if TYPE_CHECKING:
    from predicast.protocol.records import BodyForm

_BATCH: Final = 1000
_PLACE: Final = re.compile(r"event (\d+): ")


class EventForm(enum.StrEnum):
    """What a line is."""

    JSON = "json"
    CLOUDEVENTS = "cloudevents"


def pub(
    events: Annotated[
        str,
        typer.Argument(metavar="EVENTS", help="A file of JSON Lines; - for standard input."),
    ] = "-",
    *,
    form: Annotated[EventForm, typer.Option("--form", help="What a line is.")] = EventForm.JSON,
    publisher: Annotated[
        str | None,
        typer.Option(
            "--publisher",
            metavar="NAME",
            help="Who publishes. With --numbered, what was published before is not taken again.",
        ),
    ] = None,
    numbered: Annotated[
        bool,
        typer.Option(
            "--numbered", help="Name events by the file and their lines, so that a repeat is known."
        ),
    ] = False,
    server: Server = None,
    token: Token = None,
    context: ContextName = None,
) -> None:
    """Publish events, one per line. When the command is done, the broker has them all.

    From a pipe they are published as they come.
    """
    taken, repeats = 0, 0
    named = publisher or (f"file:{Path(events).name}" if numbered else None)
    with (
        reached(server, token, context, publisher=named) as client,
        progress("Publishing", None) as show,
    ):
        for lines in _batches(events):
            ids = [f"line-{number}" for number, _ in lines] if numbered else None
            with _told_by_line(events, lines):
                receipts = client.publish(
                    [line for _, line in lines], ids=ids, form=_body_form(form)
                )
            taken += len(receipts)
            repeats += sum(receipt.is_repeat for receipt in receipts)
            show(taken)
            stop_if_interrupted()
    again = f"; {repeats:,} of them had been published before" if repeats else ""
    print_note(f"published {taken:,} event{'' if taken == 1 else 's'}{again}")


@contextmanager
def _told_by_line(events: str, lines: list[tuple[int, bytes]]) -> Iterator[None]:
    """Have an error about an event of a batch say which line that is, and what was published."""
    from predicast.errors import PredicastError

    try:
        yield
    except PredicastError as error:
        found = _PLACE.match(error.message)
        place = getattr(error, "event", None) if found is None else int(found[1])
        if place is not None and place < len(lines):
            name = "standard input" if events == "-" else visible(events)
            said = error.message if found is None else error.message[found.end() :]
            error.message = (
                f"{name}, line {lines[place][0]}: {said}; "
                f"nothing from line {lines[0][0]} on was published"
            )
        raise


def _body_form(form: EventForm) -> BodyForm:
    from predicast.protocol.records import BodyForm

    return BodyForm.JSON if form is EventForm.JSON else BodyForm.CLOUDEVENT


def _batches(events: str) -> Iterator[list[tuple[int, bytes]]]:
    """Lines with their numbers: many at a time from a file, each at once from a pipe."""
    if events == "-":
        yield from batches(_lines(sys.stdin.buffer), 1)
        return
    with Path(events).open("rb") as file:
        yield from batches(_lines(file), _BATCH)


def _lines(file: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(file, 1):
        if line.strip():
            yield number, line.strip()
