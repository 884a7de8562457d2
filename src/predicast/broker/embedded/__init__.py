"""The embedded backend: events, subscriptions and queues in a SQLite file beside the engine."""

from predicast.broker.embedded.backend import EmbeddedBackend
from predicast.broker.embedded.options import EmbeddedOptions

__all__ = ["EmbeddedBackend", "EmbeddedOptions"]
