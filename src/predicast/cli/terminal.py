"""What the commands write to: results to standard output, all the rest to standard error.

Progress bars show only on a terminal. Text from files and events is shown with its control
characters written out, so that no input can move the cursor or recolour the screen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console

_CONTROLS: Final = {
    code: repr(chr(code))[1:-1] for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)
}


def visible(text: str) -> str:
    """The text on one line, control characters as their escapes."""
    return text.translate(_CONTROLS)


def output(*, markup: bool = False) -> Console:
    """The console for results; with markup only for texts of our own."""
    return _console(stderr=False, markup=markup)


def notices() -> Console:
    """The console for progress, notes and errors."""
    return _console(stderr=True)


def print_error(message: str) -> None:
    """Say why the command stops. The message may have several lines: a caret keeps its place."""
    _print_marked("Error", "bold red", message)


def print_note(message: str) -> None:
    """Say what the user should know although the command goes on."""
    _print_marked("Note", "bold yellow", message)


def _print_marked(word: str, style: str, message: str) -> None:
    from rich.text import Text

    lines = "\n".join(map(visible, message.split("\n")))
    notices().print(Text.assemble((f"{word}: ", style), lines), soft_wrap=True)


def _console(*, stderr: bool, markup: bool = False) -> Console:
    from rich.console import Console

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would exit with 1; the application has its own code

    return PlainConsole(stderr=stderr, highlight=False, markup=markup, emoji=False)


@contextmanager
def progress(
    title: str, total: int | None, *, quiet: bool = False
) -> Iterator[Callable[[int], None]]:
    """A bar on standard error while the block runs; call what it yields with how far it is."""
    console = notices()
    if quiet or not sys.stderr.isatty() or console.is_dumb_terminal:
        yield lambda _done: None
        return
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)
