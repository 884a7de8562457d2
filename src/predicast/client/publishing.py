"""What can be published, as bodies of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from predicast.language import attributes_to_json

Publishable: TypeAlias = Mapping[str, Any] | str | bytes


def bodies_of(events: Publishable | Sequence[Publishable]) -> list[bytes]:
    """One body per event: attributes are written as JSON, text and bytes are what they are."""
    if isinstance(events, Mapping | str | bytes):
        return [_body(events)]
    return [_body(event) for event in events]


def _body(event: Publishable) -> bytes:
    if isinstance(event, bytes):
        return event
    return event.encode() if isinstance(event, str) else attributes_to_json(event)
