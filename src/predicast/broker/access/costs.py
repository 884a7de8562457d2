"""Refusing subscriptions that cost more than a tenant may ask for.

What a subscription costs is judged as ``predicast lint`` judges it, by which of its conditions an
event finds it: one that is tested with every event, a regular expression without a letter that must
occur say, slows everybody's events. Patterns of graphs are not judged.
"""

from __future__ import annotations

from collections.abc import Collection

from predicast.broker.access.limits import MaxCost
from predicast.broker.subscriptions import Subscriptions
from predicast.errors import LimitReachedError
from predicast.protocol.records import GRAPH, Definition, Put


def check_costs(definitions: Collection[Definition], most: MaxCost) -> None:
    """Refuse the first one that costs more."""
    from predicast.engine.lint.costs import Cost, cost_of  # with the matcher, which takes a while

    allowed = [*Cost][: [*Cost].index(Cost(most)) + 1]
    held = Subscriptions()
    held.apply([Put(each, replace=True) for each in definitions if each.dialect != GRAPH])
    for engine in (held.durable.flat, held.ephemeral.flat):
        for id in engine:
            found = cost_of(engine.get(id).subscription)
            if found.cost not in allowed:
                raise LimitReachedError(
                    f"the subscription {id!r} costs too much: {found.why}; {found.advice}",
                    what="cost of a subscription",
                )
