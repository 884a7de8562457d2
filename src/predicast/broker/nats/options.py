"""``NatsOptions``: how streams are made, and how long anything is waited for.

They can stand in an address, for a command line: ``nats://one,two,three?replicas=3&lease_s=5``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final
from urllib.parse import parse_qsl

from predicast.broker.nats.names import checked_prefix
from predicast.errors import InvalidOptionError, shortened, suggest

_WEEK_S: Final = 7 * 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NatsOptions:
    """Streams keep the form that the first process gave them, but for how much is retained;
    processes agree on all but waits.
    """

    prefix: str = "predicast"
    replicas: int = 1  # of each stream; 3 survive the loss of a server
    # How long events are kept: a week in new streams, and in others as it was, if not told.
    retention_s: float | None = None
    # Of a tenant's events. JetStream sets this much of its disk aside for each tenant: if none is
    # asked for, time is the only bound.
    retention_bytes: int | None = None
    repeats_s: float = 120.0  # for how long an event of the same publisher and id is a repeat
    partitions: int = 8  # of what other clients publish: as many processes can share it
    shares: int = 1  # of the subscriptions; more than one, and each process holds but its own
    share: int = 0  # the one that this process holds
    lease_s: float = 10.0  # how long a process that is not heard of is waited for
    patience_s: float = 30.0  # how long a server that does not answer is asked again
    cache_bytes: int = 64 << 20  # of a tenant's latest events, for those who have not taken them

    def __post_init__(self) -> None:
        checked_prefix(self.prefix)
        for name in ("replicas", "partitions", "shares", "retention_bytes", "cache_bytes"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise InvalidOptionError(f"{name} is at least 1", option=name)
        for name in ("retention_s", "repeats_s", "lease_s", "patience_s"):
            if (value := getattr(self, name)) is not None and not value > 0:
                raise InvalidOptionError(f"{name} is more than 0 seconds", option=name)
        if not 0 <= self.share < self.shares:
            raise InvalidOptionError(
                f"the share of a process is one of 0 to {self.shares - 1}, not {self.share}",
                option="share",
            )

    def new_limits(self) -> dict[str, int]:
        """What a stream of events is made with."""
        age_s = self.retention_s or _WEEK_S
        return {
            "max_age": int(age_s * 1e9),
            "max_bytes": self.retention_bytes or -1,
            "duplicate_window": int(min(self.repeats_s, age_s) * 1e9),
        }

    def stated_limits(self) -> dict[str, int]:
        """What one that is there is changed to: what was asked for, and nothing else."""
        found = {}
        if self.retention_s is not None:
            found["max_age"] = int(self.retention_s * 1e9)
        if self.retention_bytes is not None:
            found["max_bytes"] = self.retention_bytes
        return found


def read_address(address: str) -> tuple[str, NatsOptions]:
    """The servers of an address, and the options that it states."""
    servers, _, query = address.partition("?")
    kinds: dict[str, Any] = {
        each.name: float if each.name.endswith("_s") else int for each in fields(NatsOptions)
    }
    kinds["prefix"] = str
    given: dict[str, Any] = {}
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name not in kinds:
            close = suggest(name, kinds)
            hint = f"; is it {close!r}?" if close else f"; there are {', '.join(kinds)}"
            raise InvalidOptionError(f"NATS has no option {shortened(name)}{hint}", option=name)
        try:
            given[name] = kinds[name](text)
        except ValueError:
            raise InvalidOptionError(
                f"the option {name} is a number, not {shortened(text)}", option=name
            ) from None
    return servers, NatsOptions(**given)
