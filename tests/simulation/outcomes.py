"""What came of a seed, as it travels from one process to another."""

from __future__ import annotations

import traceback
from typing import NamedTuple

from predicast.routing.simulation import simulate
from tests.simulation.drawn_options import drawn_options


class Outcome(NamedTuple):
    """What came of a seed."""

    seed: int
    violations: list[str]
    counted: dict[str, int]


def outcome(seed: int) -> Outcome:
    """Run a seed; an exception is a violation too, and says where."""
    try:
        report = simulate(drawn_options(seed))
    except Exception:  # noqa: BLE001  # the other seeds go on, and this one is told
        return Outcome(seed, [traceback.format_exc(limit=-6)], {})
    counted = {
        "brokers": report.options.brokers,
        "expected": report.expected,
        "delivered": report.delivered,
        "lost": report.lost,
        "duplicated": report.duplicated,
        "spurious": report.spurious,
        "out of order": report.disordered,
        "moves": report.moved,
        "messages": sum(report.messages.values()),
        **report.faults,
    }
    return Outcome(seed, list(report.violations), counted)
