"""Streams of all there is, run to their end."""

from collections.abc import Callable
from typing import Any

from pyspark.errors import StreamingQueryException

# Spark gives the Python of a source ten seconds to start, and no option for more: on a machine that
# has much else to do that is too little, and the query is started again, as anybody would.
_TOO_SLOW = "Python worker failed to connect back"


def finish(start: Callable[[], Any]) -> None:
    """Start a query, and wait until it has ended."""
    while True:
        try:
            start().awaitTermination()
        except StreamingQueryException as error:
            if _TOO_SLOW not in str(error):
                raise
        else:
            return
