"""``predicast pipeline init``: a file to begin with."""

from __future__ import annotations

from typing import Final

from predicast.cli.pipeline.options import DEFAULT_FILE, File
from predicast.cli.terminal import output
from predicast.errors import InputFileError

_TEMPLATE: Final = """\
# A pipeline: `predicast pipeline check` looks at it, `predicast pipeline run` delivers.
# Paths are relative to this file.

[source]
format = "json"  # json, csv, parquet, delta, kafka or rate
path = "events"  # a folder that files of events are put into
schema = "symbol string, price double, at timestamp"
# options = { maxFilesPerTrigger = 100 }  # Spark's own, of this format

[table]
path = "subscriptions"  # `predicast subscriptions add subscriptions ID EXPRESSION` makes it

[[sinks]]
format = "delta"  # delta, parquet or kafka; there may be several
path = "deliveries"

[dead_letters]  # events that cannot be read or matched, with the reason
format = "parquet"
path = "dead-letters"

[stream]
checkpoint = "checkpoint"
every = "5 seconds"  # between the begins of two batches
# columns = ["symbol", "price"]  # of the events, that deliveries have; all unless told

[spark]
master = "local[*]"  # or remote = "sc://host"
# settings = { "spark.sql.shuffle.partitions" = "8" }
"""


def init(file: File = DEFAULT_FILE) -> None:
    """Write a file to begin with; one that is there is left alone."""
    try:
        with file.open("x", encoding="utf-8") as made:
            made.write(_TEMPLATE)
    except FileExistsError as error:
        raise InputFileError(f"{file} is there already", path=str(file)) from error
    output().print(f"{file} is written; change it, then run predicast pipeline check {file}")
