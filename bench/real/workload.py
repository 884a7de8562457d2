"""What a dialect is measured with."""

from __future__ import annotations

from typing import Any, NamedTuple


class Workload(NamedTuple):
    """Subscriptions in a dialect, what they mean in ``where`` text, and events as attributes."""

    texts: list[str]
    where: list[str]
    events: list[dict[str, Any]]
