"""What the clients of a simulated network do: worlds that know nothing of brokers or faults."""

from predicast.routing.simulation.workloads.catalogue import make_workload
from predicast.routing.simulation.workloads.workload import Publication, Turn, Wish, Workload

__all__ = ["Publication", "Turn", "Wish", "Workload", "make_workload"]
