"""Batches of events as columns: attribute by attribute instead of event by event."""

from predicast.matching.batches.event_batch import EventBatch

__all__ = ["EventBatch"]
