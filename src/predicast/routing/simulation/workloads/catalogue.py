"""The workloads by name."""

from __future__ import annotations

from typing import Final

from predicast.routing.simulation.options import SimulationOptions, WorkloadName
from predicast.routing.simulation.randomness import random_of
from predicast.routing.simulation.workloads.auction import Auction
from predicast.routing.simulation.workloads.dve import VirtualEnvironment
from predicast.routing.simulation.workloads.market import Market
from predicast.routing.simulation.workloads.workload import Workload

_WORKLOADS: Final[dict[WorkloadName, type[Workload]]] = {
    WorkloadName.DVE: VirtualEnvironment,
    WorkloadName.MARKET: Market,
    WorkloadName.AUCTION: Auction,
}


def make_workload(options: SimulationOptions) -> Workload:
    """The workload that the options name, as their seed draws it."""
    return _WORKLOADS[options.workload](options, random_of(options.seed, "workload"))
