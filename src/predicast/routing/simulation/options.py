"""Everything that a run depends on, in one record: the same options give the same run.

How much of each fault there is stands here too, so that a run that failed can be told by its
options alone, and whoever adds a fault has one place to add it to.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from math import inf
from typing import Final

from predicast.errors import InvalidOptionError, suggest


class Fault(enum.StrEnum):
    """What may go wrong; the names that the command line takes."""

    CRASH = "crash"
    PARTITION = "partition"
    DELAY = "delay"
    LOSS = "loss"
    DUPLICATE = "duplicate"
    REORDER = "reorder"
    LEAVE = "leave"
    JOIN = "join"


class WorkloadName(enum.StrEnum):
    """What the clients do."""

    DVE = "dve"
    MARKET = "market"
    AUCTION = "auction"


_SHARES: Final = frozenset({"loss", "duplicate", "reorder", "join"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """How much goes wrong while the clients are at work. Rates are per simulated second."""

    loss: float = 0.0  # the share of messages that never arrive
    duplicate: float = 0.0  # the share that arrives twice
    reorder: float = 0.0  # the share that may be overtaken
    delay_s: float = 0.0  # the longest that a message is held up
    crash_rate: float = 0.0  # of each broker
    down_s: float = 0.6  # the longest that a broker which crashed or left is gone
    partition_rate: float = 0.0  # of each link between brokers
    cut_s: float = 1.5  # the longest that a link is cut
    leave_rate: float = 0.0  # how often each broker says goodbye, to join again later
    join: float = 0.0  # the share of brokers, of those that may, that nobody has heard of before

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            most = 1.0 if each.name in _SHARES else 3600.0
            if not 0.0 <= value <= most:
                raise InvalidOptionError(
                    f"{each.name} is a number from 0 to {most:g}, not {value!r}", option=each.name
                )


_USUAL: Final[dict[Fault, Faults]] = {
    Fault.CRASH: Faults(crash_rate=0.08),
    Fault.PARTITION: Faults(partition_rate=0.08),
    Fault.DELAY: Faults(delay_s=0.05),
    Fault.LOSS: Faults(loss=0.05),
    Fault.DUPLICATE: Faults(duplicate=0.05),
    Fault.REORDER: Faults(reorder=0.1),
    Fault.LEAVE: Faults(leave_rate=0.03),
    Fault.JOIN: Faults(join=0.3),
}


def usual_faults(kinds: Iterable[Fault | str]) -> Faults:
    """A usual amount of each of these."""
    together = Faults()
    for kind in map(_fault, kinds):
        usual = _USUAL[kind]
        said = {
            each.name: getattr(usual, each.name)
            for each in fields(usual)
            if getattr(usual, each.name) != each.default
        }
        together = replace(together, **said)
    return together


def _fault(kind: Fault | str) -> Fault:
    try:
        return Fault(kind)
    except ValueError:
        known = ", ".join(Fault)
        meant = suggest(kind, list(Fault))
        hint = f"; did you mean {str(meant)!r}?" if meant else ""
        raise InvalidOptionError(
            f"there is no fault {kind!r}; known: {known}{hint}", option="faults"
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationOptions:
    """A network of brokers, its clients and what they do, and what goes wrong meanwhile."""

    seed: int = 0
    brokers: int = 7
    clients: int = 20
    subscriptions: int = 100
    events: int = 200
    workload: WorkloadName = WorkloadName.MARKET
    slack: float = 0.0
    covering: bool = True  # whether brokers leave out what they tell anyway by something else
    faults: Faults = field(default_factory=Faults)
    changes: float = 0.02  # the share of subscriptions that change in a turn
    fan_out: int = 4  # how many children a broker has at most
    batch: int = 16  # how many events a client publishes at once
    encoded: bool = False  # whether messages travel as bytes, as they would between machines
    link_s: float = 0.002  # how long a message takes from one to the next
    step_s: float = 0.05  # how long a broker is at a step; what comes meanwhile waits for the next
    rounds: int = 2  # work with faults, then healing, so many times
    round_s: float = 6.0  # how long the clients are at work in each
    patience_s: float = 120.0  # how long the network may take to converge after healing

    def __post_init__(self) -> None:
        for name in ("brokers", "clients", "fan_out", "batch", "rounds"):
            self._check(name, least=1)
        for name in ("subscriptions", "events"):
            self._check(name, least=0)
        if not 0 <= self.changes <= 1:
            raise InvalidOptionError(
                f"changes is a share from 0 to 1, not {self.changes}", option="changes"
            )
        if not self.slack >= 0:
            raise InvalidOptionError(
                f"slack is a number from 0, or infinity, not {self.slack}", option="slack"
            )
        if not 0 <= self.step_s < inf:
            raise InvalidOptionError(f"step_s is a time from 0, not {self.step_s}", option="step_s")
        for name in ("link_s", "round_s", "patience_s"):
            if not getattr(self, name) > 0:
                raise InvalidOptionError(f"{name} is a time above 0", option=name)

    def _check(self, name: str, least: int) -> None:
        if getattr(self, name) < least:
            raise InvalidOptionError(
                f"{name} is {least} or more, not {getattr(self, name)}", option=name
            )
