"""The files that commands read and write: JSON Lines, CSV and Parquet."""

from predicast.cli.files.source import Form, Source

__all__ = ["Form", "Source"]
