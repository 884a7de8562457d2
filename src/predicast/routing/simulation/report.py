"""What a run has shown: the figures that are printed, and the violations that make it fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isinf
from typing import Any, NamedTuple

from predicast.routing.simulation.checkers import Verdict
from predicast.routing.simulation.drawing import Picture
from predicast.routing.simulation.options import SimulationOptions


class TableSizes(NamedTuple):
    """Subscriptions that brokers hold of their neighbours, in the end."""

    total: int
    median: int
    largest: int


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """A run that has ended."""

    options: SimulationOptions
    expected: int  # events that had to reach a subscription
    delivered: int  # events that reached a subscription
    received: int  # events handed to clients, for one subscription of theirs or several
    lost: int
    duplicated: int
    spurious: int
    disordered: int
    messages: Mapping[str, int]  # by kind
    carried: int  # events from broker to broker, counted at every hop
    false_forwards: int  # of those, how many nobody wanted where they went
    tables: TableSizes
    moved: int  # how often a broker went from one parent to another
    converged_s: Sequence[float]  # how long it took after each healing
    faults: Mapping[str, int]  # what went wrong, how often
    simulated_s: float
    digest: str
    violations: Sequence[str]
    picture: Picture

    @property
    def failed(self) -> bool:
        """Whether some promise was broken."""
        return bool(self.violations)

    def to_document(self) -> dict[str, Any]:
        """The report as it is written to JSON."""
        return {
            "seed": self.options.seed,
            "brokers": self.options.brokers,
            "clients": self.options.clients,
            "subscriptions": self.options.subscriptions,
            "events": self.options.events,
            "workload": str(self.options.workload),
            "slack": "inf" if isinf(self.options.slack) else self.options.slack,
            "changes": self.options.changes,
            "rounds": self.options.rounds,
            "batch": self.options.batch,
            "expected": self.expected,
            "delivered": self.delivered,
            "received": self.received,
            "lost": self.lost,
            "duplicated": self.duplicated,
            "spurious": self.spurious,
            "out_of_order": self.disordered,
            "messages": dict(self.messages),
            "events_carried": self.carried,
            "false_forwards": self.false_forwards,
            "tables": self.tables._asdict(),
            "moved": self.moved,
            "converged_s": list(self.converged_s),
            "faults": dict(self.faults),
            "simulated_s": self.simulated_s,
            "digest": self.digest,
            "violations": list(self.violations),
        }


def summed(verdicts: Sequence[Verdict]) -> Verdict:
    """All rounds together."""
    return Verdict(
        expected=sum(each.expected for each in verdicts),
        delivered=sum(each.delivered for each in verdicts),
        lost=sum(each.lost for each in verdicts),
        duplicated=sum(each.duplicated for each in verdicts),
        spurious=sum(each.spurious for each in verdicts),
        disordered=sum(each.disordered for each in verdicts),
        violations=tuple(each for verdict in verdicts for each in verdict.violations),
    )
