"""Brokers on many machines: a backend that shares streams and buckets of NATS JetStream."""

from predicast.broker.nats.backend import NatsBackend
from predicast.broker.nats.options import NatsOptions

__all__ = ["NatsBackend", "NatsOptions"]
