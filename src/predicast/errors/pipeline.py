"""What the Spark pipeline refuses."""

from __future__ import annotations

from predicast.errors.root import PredicastError


class PipelineError(PredicastError):
    """A request that the Spark pipeline refuses."""


class DamagedCheckpointError(PipelineError):
    """A stream cannot go on: what it has to know of its last batches is lost or was changed."""

    path: str | None


class DeliveryStoppedError(PipelineError):
    """A stream has failed for a reason that is not ours; started again, it goes on where it was."""


class InvalidSubscriptionsError(PipelineError, ValueError):
    """Some subscriptions of a table cannot be compiled; ``invalid`` pairs ids with errors."""

    invalid: list[tuple[str | None, str]] | None


class MissingEngineFileError(PipelineError):
    """A file with compiled subscriptions is not on the host that needs it."""

    path: str | None


class JavaNotFoundError(PipelineError):
    """Spark needs Java 17 or 21 and there is none."""


class SinkError(PipelineError):
    """A sink that cannot take a batch, or that has the deliveries of another stream."""

    path: str | None


class SubscriptionTableError(PipelineError):
    """A table of subscriptions that cannot be read or written as it is."""

    path: str | None


class DamagedTableError(SubscriptionTableError):
    """A file of the table, or of its log, is missing or cannot be read."""

    file: str | None


class NotASubscriptionTableError(SubscriptionTableError):
    """There is no table, or one whose columns are not those of subscriptions."""

    column: str | None


class TableBusyError(SubscriptionTableError):
    """Others changed the table first, as often as it was tried; nothing was written."""


class TableNotWrittenError(SubscriptionTableError, OSError):
    """What was to be written could not be, for want of room say; the table is as it was."""

    errno: int | None


class UnknownVersionError(SubscriptionTableError, LookupError):
    """A version that the table does not have, or a time before its first."""

    version: int | None


class WorkerPythonError(PipelineError, ImportError):
    """A Spark worker runs in a Python that has no Predicast, or not all that it needs."""
