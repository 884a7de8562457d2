"""The networks that the seeds stand for: small ones of every shape, with everything going wrong."""

from __future__ import annotations

from math import inf
from random import Random

from predicast.routing.simulation import (
    Fault,
    SimulationOptions,
    WorkloadName,
    usual_faults,
)

SLACKS = (0.0, 0.0, 0.25, 1.0, inf)


def drawn_options(seed: int, *, most_brokers: int = 31) -> SimulationOptions:
    """A network with all faults; the seed decides its size, its world and its slack as well."""
    random = Random(f"options {seed}")
    brokers = random.randint(3, random.choice((4, 8, most_brokers)))
    clients = random.randint(2, 2 * brokers)
    return SimulationOptions(
        seed=seed,
        brokers=brokers,
        clients=clients,
        subscriptions=clients * random.randint(1, 8),
        events=random.randint(20, 150),
        workload=random.choice(tuple(WorkloadName)),
        slack=random.choice(SLACKS),
        faults=usual_faults(Fault),
        fan_out=random.randint(2, 5),
        changes=random.choice((0.02, 0.1, 0.3)),
        batch=random.choice((1, 4, 16)),
        rounds=random.randint(1, 3),
        encoded=random.random() < 0.3,
        step_s=random.choice((0.0, 0.01, 0.05)),
    )
