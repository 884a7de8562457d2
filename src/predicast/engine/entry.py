"""``Entry``: what an engine tells of one of its subscriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from predicast.model import Subscription, Value

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class EntryOf(Generic[S]):
    """A standing subscription: its id, what it states and whose it is.

    ``text`` is the text that it was given as, if it was, and ``parameters`` are the values that the
    parameters in that text have now.
    """

    id: str
    subscription: S
    owner: str | None
    text: str | None = None
    parameters: Mapping[str, Value] | None = None


@dataclass(frozen=True, slots=True)
class Entry(EntryOf[Subscription]):
    """The same of a subscription to flat events."""
