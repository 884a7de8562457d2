"""The operations of a window: what ``Engine.apply`` takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from predicast.language import Readable


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Add a subscription under a new id."""

    id: str
    expression: Readable
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Replace what the subscription with this id states; its owner stays."""

    id: str
    expression: Readable


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """Remove the subscription with this id."""

    id: str


Operation: TypeAlias = Subscribe | Change | Unsubscribe
