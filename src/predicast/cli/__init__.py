"""The command line, ``predicast``: one command per file."""

from predicast.cli.application import app, main

__all__ = ["app", "main"]
