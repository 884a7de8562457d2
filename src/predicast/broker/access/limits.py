"""``Limits``: how much one tenant and one request may ask for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal, TypeAlias, get_args

from predicast.errors import InvalidOptionError

MaxCost: TypeAlias = Literal["low", "medium", "high"]  # as ``predicast.engine.lint`` has them
_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is over one of them is refused, and changes nothing."""

    tenants: int = 10_000  # that this process has heard of
    # Of a tenant.
    subscriptions: int = 2_000_000
    cost: MaxCost = "high"  # of a subscription: how many events it may be tested with
    events_per_second: float | None = None  # over time; ``None`` is as many as come
    burst: int = 10_000  # events that may come at once, where there is a rate
    connections: int = 10_000  # WebSockets that are open
    readers: int = 1000  # streams of deliveries, and subscriptions that are being pulled
    # Of a request.
    body_bytes: int = 16 * _MIB
    batch: int = 10_000  # events
    window: int = 100_000  # operations on subscriptions
    depth: int = 64  # of JSON: objects and lists within one another
    explanations: int = 10_000  # of a dry run: events times recipients of each; a second or so

    def __post_init__(self) -> None:
        """Refuse what would refuse everything, and what is no cost."""
        if self.cost not in get_args(MaxCost):
            raise InvalidOptionError(
                f"the limit cost is one of {', '.join(get_args(MaxCost))}, not {self.cost!r}",
                option="cost",
            )
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int | float) and value <= 0:
                raise InvalidOptionError(
                    f"the limit {field.name} must be more than 0, not {value}", option=field.name
                )
