"""The command line: ``predicast match``, ``explain``, ``subscriptions``, ``doctor``, ``demo``."""

from predicast.cli.application import app, main

__all__ = ["app", "main"]
