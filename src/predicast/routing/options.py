"""``RouterOptions``: who a broker is, whom it may attach to, and every limit and duration."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Final, Literal, TypeAlias

from predicast.errors import InvalidOptionError
from predicast.model import Absent
from predicast.routing.messages import MAX_NAME

EPOCH_BITS: Final = 20  # of a stream's epoch: how many streams a broker begins before it restarts

WhenFull: TypeAlias = Literal["wait", "drop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOptions:
    """The durations and limits of an interface, for brokers and hosts alike.

    Where what waits for a durable interface would be too much, a message that adds to it is not
    taken, and so not acknowledged: its sender tries again. With ``when_full="drop"``, and always
    for an interface that is not durable, events that find no room are dropped and counted.
    """

    keep_alive_s: float = 5.0  # without a word, a sign of life is sent
    ttl_s: float = 15.0  # of silence, after which an interface is Closed
    forget_after_s: float = 120.0  # of being Closed, after which it is removed
    retransmit_s: float = 0.5  # until the first repetition; doubled for each that follows
    retransmit_max_s: float = 8.0

    max_window: int = 10_000  # operations of one Announce
    max_events: int = 10_000  # events of one Events
    max_bytes: int = 1 << 19  # of several events in one Events, as far as it is known
    max_in_flight: int = 64  # messages that are sent and not acknowledged yet
    max_waiting: int = 100_000  # events that wait for one interface
    max_remembered: int = 4_096  # sequences of one publisher, to tell repeats by
    max_publishers: int = 10_000  # of which sequences are remembered
    when_full: WhenFull = "wait"

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("_s"):
                _check(isinstance(value, int | float) and 0 < value < math.inf, field.name, value)
            elif field.name.startswith("max_"):
                _check(type(value) is int and value > 0, field.name, value)
        _check(self.when_full in {"wait", "drop"}, "when_full", self.when_full)
        _check(self.keep_alive_s < self.ttl_s, "keep_alive_s", self.keep_alive_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterOptions(LinkOptions):
    """All that a router goes by; equal options and equal messages give equal answers.

    A broker attaches to the first of ``candidates`` that answers, and to the next one when that is
    lost; without any it is the core. A parent is always of a lower ``(level, name)`` than its
    child, which makes circles impossible, whoever attaches to whom at the same moment.

    ``epoch`` has to grow whenever a broker starts without the state that it had. ``slack`` says how
    far a neighbour may be told more than is wanted, as a share of the width of what is: 0 tells
    exactly what is wanted, 1 may double a range at each end, infinity leaves conditions out. With
    ``covering=False`` a neighbour is told every subscription, also what another one covers.
    """

    name: str
    level: int = 0
    candidates: tuple[str, ...] = ()
    epoch: int = 1
    matcher: str = "columnar"
    absent: Absent = "fails"
    slack: float = 0.0
    covering: bool = True

    max_interfaces: int = 10_000
    max_subscriptions: int = 1_000_000  # of one interface
    max_text: int = 65_536  # characters of one expression

    def __post_init__(self) -> None:
        # Said by name: a dataclass with slots is another class than the one that super() finds.
        LinkOptions.__post_init__(self)
        _check(is_name(self.name), "name", self.name)
        _check(type(self.level) is int and self.level >= 0, "level", self.level)
        _check(type(self.epoch) is int and 0 < self.epoch < 1 << 40, "epoch", self.epoch)
        _check(self.slack >= 0, "slack", self.slack)
        _check(
            all(is_name(each) and each != self.name for each in self.candidates),
            "candidates",
            self.candidates,
        )

    @property
    def rank(self) -> tuple[int, str]:
        """The place in the order of brokers: a parent's is lower than its child's."""
        return self.level, self.name


def is_name(name: object) -> bool:
    """Whether it can be the name of a broker, host or publisher."""
    return isinstance(name, str) and 0 < len(name) <= MAX_NAME


_RIGHT: Final = {
    "when_full": "'wait' or 'drop'",
    "keep_alive_s": "a number of seconds, shorter than ttl_s",
    "name": f"a text of 1 to {MAX_NAME} characters",
    "level": "a whole number from 0",
    "epoch": "a whole number from 1, below 2**40",
    "slack": "a number from 0, or infinity",
    "candidates": "names of other brokers",
}


def _check(holds: bool, option: str, value: object) -> None:
    if holds:
        return
    kind = "a positive whole number" if option.startswith("max_") else "a positive number"
    raise InvalidOptionError(
        f"{option} is {_RIGHT.get(option, kind)}, not {value!r}", option=option
    )
