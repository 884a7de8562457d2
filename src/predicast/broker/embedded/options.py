"""``EmbeddedOptions``: how much is kept, and when it is tidied up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from predicast.errors import InvalidOptionError

_DAY: Final = 86_400.0
_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedOptions:
    """What a broker on one machine keeps.

    Retention is per tenant: events older than ``keep_for`` seconds, or beyond ``keep_bytes``, go in
    whole chunks, the oldest first. ``None`` keeps all.
    """

    keep_for: float | None = 7 * _DAY
    keep_bytes: int | None = 4096 * _MIB
    repeat_window: int = 65_536  # at least so many of a tenant's last events are known as repeats
    recent_bytes: int = 64 * _MIB  # of a tenant's events that are at hand without reading a file
    batch_events: int = 4096  # that are matched and written together, at most
    changes_in_log: int = 20_000  # changed subscriptions behind a snapshot, before there is another
    settled_in_log: int = 200_000  # deliveries settled or new since queues were last written down
    tick: float = 0.1  # seconds between looks at what is due

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        for name in ("keep_for", "keep_bytes"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise InvalidOptionError(
                    f"{name} is how much is kept: {value} is less than nothing", option=name
                )
        for name in (
            "repeat_window",
            "recent_bytes",
            "batch_events",
            "changes_in_log",
            "settled_in_log",
            "tick",
        ):
            if getattr(self, name) <= 0:
                raise InvalidOptionError(
                    f"{name} must be more than 0, not {getattr(self, name)}", option=name
                )
