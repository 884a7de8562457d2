"""Whether a network has come to rest, and whether its brokers agree on what each of them wants.

Two neighbours agree if one holds, under the same ids, what the other believes to have told it.
Whether all of them together let through what the clients want is seen by what is delivered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from predicast.routing.interface import Role
from predicast.routing.life import InterfaceState
from predicast.routing.simulation.broker import Broker
from predicast.routing.simulation.client import Client


def unrest(brokers: Sequence[Broker], clients: Sequence[Client]) -> str | None:
    """Why the network has not converged, ``None`` if it has."""
    return next(_reasons(brokers, clients), None)


def _reasons(brokers: Sequence[Broker], clients: Sequence[Client]) -> Iterator[str]:
    """The cheapest to find out first."""
    for client in clients:
        if not client.is_served:
            yield f"{client.name} waits for {client.waits_for}"
    for broker in brokers:
        if broker.router is None:
            yield f"{broker.name} is down"
        elif not broker.router.is_attached:
            yield f"{broker.name} hangs from nobody"
        elif broker.router.statistics()["waiting"]:
            yield f"{broker.name} has something to send"
    by_name = {broker.name: broker for broker in brokers}
    for broker in brokers:
        yield from _disagreements(broker, by_name)


def _disagreements(broker: Broker, by_name: dict[str, Broker]) -> Iterator[str]:
    """Each pair of neighbours is looked at from both sides."""
    assert broker.router is not None
    for name, (role, state) in broker.router.interfaces().items():
        if role not in {Role.PARENT, Role.CHILD} or state is not InterfaceState.ACTIVE:
            continue
        other = by_name[name].router
        assert other is not None
        there = other.interfaces().get(broker.name)
        if there is None or there[1] is not InterfaceState.ACTIVE:
            yield f"{broker.name} has an interface to {name}, which has none back"
        elif set(broker.router.announced(name)) != set(other.wanted(broker.name)):
            yield f"{broker.name} has told {name} something else than it has heard"


def leaks(brokers: Sequence[Broker], neighbours: Iterable[tuple[str, str]]) -> list[str]:
    """Interfaces that brokers keep although nobody is at their other end."""
    there = set(neighbours)
    return [
        f"leaked: {broker.name} keeps an interface to {name} ({role}, {state})"
        for broker in brokers
        if broker.router is not None
        for name, (role, state) in broker.router.interfaces().items()
        if (broker.name, name) not in there
    ]


def table_size(broker: Broker) -> int:
    """How many subscriptions a broker holds of others than its own hosts."""
    assert broker.router is not None
    return sum(
        len(broker.router.wanted(name))
        for name, (role, _) in broker.router.interfaces().items()
        if role is not Role.HOST
    )
