"""The program ``predicast``: its commands, and how a refusal becomes a message and an exit code.

=====  ===========================================================================================
code   meaning
=====  ===========================================================================================
0      done; ``explain``: the event matches; ``doctor``: the library is usable
1      ``explain``: the event does not match; ``check``: a subscription is invalid;
       ``doctor``: something that is required is missing;
       ``pipeline check``: some subscriptions do not go with the events;
       ``lint``: something was found that ``--fail-on`` names;
       ``simulate``: a promise was broken
2      refused: wrong usage, bad input, a file that cannot be read or written, a missing package
130    interrupted (Ctrl-C)
141    whoever read our output has closed the pipe
=====  ===========================================================================================

Commands import what they need when they run, so that ``--version`` and ``--help`` are quick.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from predicast.__about__ import __version__
from predicast.cli.backtest import backtest
from predicast.cli.check import check
from predicast.cli.convert import convert
from predicast.cli.demo import demo
from predicast.cli.doctor import doctor
from predicast.cli.explain import explain
from predicast.cli.interrupts import interrupts_noted
from predicast.cli.lint import lint
from predicast.cli.match import match
from predicast.cli.pipeline import pipeline
from predicast.cli.profile import profile
from predicast.cli.remote.bench import bench
from predicast.cli.remote.context import context
from predicast.cli.remote.definitions import export, import_
from predicast.cli.remote.pub import pub
from predicast.cli.remote.sub import sub
from predicast.cli.remote.subs import subs
from predicast.cli.remote.top import top
from predicast.cli.serve import serve
from predicast.cli.simulate import simulate
from predicast.cli.subscriptions import subscriptions
from predicast.cli.terminal import print_error
from predicast.cli.token import token
from predicast.cli.warm_up import warm_up
from predicast.errors import PredicastError

REFUSED: Final = 2
INTERRUPTED: Final = 130  # 128 + SIGINT, as shells count
PIPE_CLOSED: Final = 141  # 128 + SIGPIPE


class _Commands(TyperGroup):
    """The commands, with one place where exceptions become exit codes."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with interrupts_noted():
                result = super().invoke(ctx)
            sys.stdout.flush()  # here, where a closed pipe is handled, not while Python shuts down
        except PredicastError as error:
            print_error(error.message)
            raise typer.Exit(REFUSED) from error
        except KeyboardInterrupt as error:
            print_error("interrupted")
            raise typer.Exit(INTERRUPTED) from error
        except BrokenPipeError as error:
            _forget_stdout()
            raise typer.Exit(PIPE_CLOSED) from error
        except OSError as error:
            print_error(f"{error.filename}: {error.strerror}" if error.filename else str(error))
            raise typer.Exit(REFUSED) from error
        return result


def _forget_stdout() -> None:
    """Let what is still buffered go nowhere, so that Python does not complain at its end."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):  # not a real file
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


app = typer.Typer(
    name="predicast",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="markdown",  # it alone lets the lines of a paragraph flow
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="Exit codes: 0 done, 1 no (explain: not matched; check: some invalid; lint: something "
    "found; doctor: not usable; simulate: a promise broken), 2 refused, 130 interrupted.",
)
# What --help shows together.
_FILES: Final = "Files of subscriptions and events"
_BROKER: Final = "A broker and its clients"
_PIPELINE: Final = "The pipeline on Spark"
_MACHINE: Final = "This machine"

app.command(rich_help_panel=_FILES)(match)
app.command(rich_help_panel=_FILES)(explain)
app.command(rich_help_panel=_FILES)(check)
app.command(rich_help_panel=_FILES)(lint)
app.command(rich_help_panel=_FILES)(backtest)
app.command(rich_help_panel=_FILES)(profile)
app.command(rich_help_panel=_FILES)(convert)
app.command(rich_help_panel=_BROKER)(serve)
app.command(rich_help_panel=_BROKER)(pub)
app.command(rich_help_panel=_BROKER)(sub)
app.add_typer(subs, name="subs", rich_help_panel=_BROKER)
app.command(rich_help_panel=_BROKER)(top)
app.command(rich_help_panel=_BROKER)(bench)
app.command(rich_help_panel=_BROKER)(export)
app.command("import", rich_help_panel=_BROKER)(import_)
app.add_typer(context, name="context", rich_help_panel=_BROKER)
app.add_typer(token, name="token", rich_help_panel=_BROKER)
app.command(rich_help_panel=_BROKER)(simulate)
app.command(rich_help_panel=_PIPELINE)(demo)
app.add_typer(subscriptions, name="subscriptions", rich_help_panel=_PIPELINE)
app.add_typer(pipeline, name="pipeline", rich_help_panel=_PIPELINE)
app.command(rich_help_panel=_MACHINE)(doctor)
app.command(rich_help_panel=_MACHINE)(warm_up)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"predicast {__version__}")
        raise typer.Exit


@app.callback()
def _predicast(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Content-based publish/subscribe: who wants to hear of which event?

    A subscription states what it wants (price < 10 AND symbol = 'IBM'); Predicast finds those
    that an event satisfies.
    """


def main() -> None:
    """Run the program and exit."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a ✓ is no reason to crash
    app(prog_name="predicast")
