"""The command line: ``predicast match``, ``explain``, ``doctor`` and ``demo``."""

from predicast.cli.application import app, main

__all__ = ["app", "main"]
