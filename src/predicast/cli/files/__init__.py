"""The files that commands read and write: JSON Lines, CSV, Parquet and Arrow."""

from predicast.cli.files.source import Form, Source

__all__ = ["Form", "Source"]
