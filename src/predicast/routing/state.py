"""``RouterState``: what of a router survives a crash. The caller keeps it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RouterState:
    """All streams, what was announced on them, and what waits to be sent."""
