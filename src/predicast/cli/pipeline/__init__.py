"""``predicast pipeline``: a stream that a file describes."""

from predicast.cli.pipeline.commands import pipeline

__all__ = ["pipeline"]
