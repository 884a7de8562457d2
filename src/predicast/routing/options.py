"""``RouterOptions``: who a broker is, whom it may attach to, and every limit and duration."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterOptions:
    """All that a router goes by; equal options and equal messages give equal answers.

    A broker attaches to the first of ``candidates`` that answers, and to the next one when that is
    lost; without any it is the core. A parent is always of a lower ``(level, name)`` than its
    child, which makes circles impossible, whoever attaches to whom at the same moment.

    ``epoch`` has to grow whenever a broker starts without the state that it had. ``slack`` says how
    far a neighbour may be told more than is wanted, as a share of the width of what is: 0 tells
    exactly what is wanted, 1 may double a range at each end, infinity leaves conditions out.
    """

    name: str
    level: int = 0
    candidates: tuple[str, ...] = ()
    epoch: int = 1
    matcher: str = "columnar"
    slack: float = 0.0

    # Durations, in seconds.
    keep_alive_s: float = 5.0  # without a word, a sign of life is sent
    ttl_s: float = 15.0  # of silence, after which an interface is Closed
    forget_after_s: float = 120.0  # of being Closed, after which it is removed
    retransmit_s: float = 0.5  # until the first repetition; doubled for each that follows
    retransmit_max_s: float = 8.0

    # Limits. Where a buffer for a durable interface is full, messages that need room in it are not
    # taken, and so not acknowledged; for others the oldest events are dropped and counted.
    max_interfaces: int = 10_000
    max_subscriptions: int = 1_000_000  # of one interface
    max_window: int = 10_000  # operations of one Announce
    max_events: int = 10_000  # events of one Events
    max_text: int = 65_536  # characters of one expression
    max_in_flight: int = 64  # messages that are sent and not acknowledged yet
    max_waiting: int = 100_000  # events that wait for one interface
    max_remembered: int = 4_096  # sequences of one publisher, to tell repeats by
    max_publishers: int = 10_000  # of which sequences are remembered
