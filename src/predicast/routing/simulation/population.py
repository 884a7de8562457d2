"""Who is in a simulated network: brokers as the tree has them, and clients at their brokers.

A world with places has those that are near each other at brokers near each other: clients along
the world's curve go to brokers in the order of a walk through the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from predicast.routing import RouterOptions
from predicast.routing.options import LinkOptions
from predicast.routing.simulation.options import SimulationOptions
from predicast.routing.simulation.tree import Tree
from predicast.routing.simulation.workloads import Workload

# Short beside a round, so that what a silence leads to is seen in it.
_KEEP_ALIVE_S: Final = 0.5
TTL_S: Final = 1.6
FORGET_AFTER_S: Final = 6.0
_RETRANSMIT_S: Final = 0.06
_RETRANSMIT_MAX_S: Final = 0.8
_MAY_LEAVE: Final = 0.3  # the share of brokers that have no clients, if brokers leave


def broker_name(number: int) -> str:
    """What a broker is called."""
    return f"b{number}"


def client_name(number: int) -> str:
    """What a client is called, as a publisher too."""
    return f"c{number}"


def link_options(options: SimulationOptions) -> LinkOptions:
    """The durations of all interfaces."""
    return LinkOptions(
        keep_alive_s=_KEEP_ALIVE_S,
        ttl_s=TTL_S,
        forget_after_s=FORGET_AFTER_S,
        retransmit_s=_retransmit_s(options),
        retransmit_max_s=_RETRANSMIT_MAX_S,
    )


def _retransmit_s(options: SimulationOptions) -> float:
    """A message may wait for a step where it goes, and what acknowledges it for one on return."""
    return _RETRANSMIT_S + 2 * options.step_s


def router_options(tree: Tree, options: SimulationOptions) -> list[RouterOptions]:
    """The options of each broker."""
    depths = tree.depths()
    return [
        RouterOptions(
            name=broker_name(number),
            level=depths[number],
            candidates=tuple(broker_name(other) for other in tree.candidates[number]),
            slack=options.slack,
            covering=options.covering,
            keep_alive_s=_KEEP_ALIVE_S,
            ttl_s=TTL_S,
            forget_after_s=FORGET_AFTER_S,
            retransmit_s=_retransmit_s(options),
            retransmit_max_s=_RETRANSMIT_MAX_S,
        )
        for number in range(options.brokers)
    ]


def leavers(options: SimulationOptions, random: Random) -> list[int]:
    """The brokers that may leave; the core stays."""
    if not options.faults.leave_rate:
        return []
    return [number for number in range(1, options.brokers) if random.random() < _MAY_LEAVE]


def newcomers(tree: Tree, options: SimulationOptions, random: Random) -> dict[int, int]:
    """The brokers that come in the middle, each with the round in which it does.

    None is anybody's parent to begin with, or those below would have nobody to wait for.
    """
    if not options.faults.join:
        return {}
    ends = [number for number, below in enumerate(tree.children()) if number and not below]
    return {
        number: random.randrange(options.rounds)
        for number in ends
        if random.random() < options.faults.join
    }


def placed(
    tree: Tree, options: SimulationOptions, workload: Workload, without: Sequence[int]
) -> list[int]:
    """The broker of each client."""
    brokers = [broker for broker in _walk(tree) if broker not in set(without)]
    near = sorted(range(options.clients), key=lambda client: (workload.nearness(client), client))
    homes = [0] * options.clients
    for place, client in enumerate(near):
        homes[client] = brokers[place * len(brokers) // options.clients]
    return homes


def _walk(tree: Tree) -> list[int]:
    """All brokers, each before those that hang from it."""
    children, order, left = tree.children(), [], [0]
    while left:
        broker = left.pop()
        order.append(broker)
        left += reversed(children[broker])
    return order
