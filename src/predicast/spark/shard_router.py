"""The router of shards: an engine whose subscriptions are the shards' hulls.

What an event matches there are the shards that it has to visit. The router also looks at all that
the subscriptions look at, be it for no other reason than to look: an event with a value that cannot
be compared is refused by the router, which sees all of it, and never by a shard, which sees a part
and could not tell the others.

Hulls are few, and each is asked of every event. So the router is a brute-force engine: a mask per
bound, with nothing to compile, a few milliseconds for ten thousand events and a hundred shards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from predicast.covering.merging import Hull, covering_subscription
from predicast.engine import Engine
from predicast.model import Absent, Clause, Constraint, Operator, Subscription
from predicast.model.vocabulary import Vocabulary
from predicast.spark.image import EngineImage

LOOKS: Final = "-1"  # the id of what only looks; shards are numbered from 0
_NOW: Final = "=now()"  # what is derived from when an event arrives


class LookedAt(NamedTuple):
    """What subscriptions look at: attributes of events, and inside of lists; perhaps the clock."""

    attributes: frozenset[str]
    inside: frozenset[Constraint]  # each on one field of the elements of one list
    asks_for_now: bool

    def subscription(self) -> Subscription:
        """What looks at all of it.

        Attributes are read by their names. What is inside of lists is read by whoever tests it,
        which a clause of its own sees to.
        """
        names = [*self.attributes, *([_NOW] if self.asks_for_now else [])]
        flat = [Constraint(name, Operator.EXISTS) for name in sorted(names)]
        return Subscription.of([flat, *([each] for each in sorted(self.inside, key=repr))])


def inside_lists(subscriptions: Iterable[Subscription]) -> frozenset[Constraint]:
    """What subscriptions look at inside of lists."""
    return frozenset(
        each
        for subscription in subscriptions
        for constraint in subscription.constraints()
        for each in _inside(constraint)
    )


def _inside(constraint: Constraint) -> Iterator[Constraint]:
    for part in constraint.plain():
        if not isinstance(part.operand, Subscription):
            continue
        for inner in part.operand.constraints():
            for seen in (*_inside(inner), Constraint(inner.attribute, Operator.EXISTS)):
                wanted = Subscription.of([Clause((seen,))])
                yield Constraint(part.attribute, Operator.HAS, wanted)


def router_of(
    hulls: Sequence[Hull], looked_at: LookedAt, absent: Absent, vocabulary: Vocabulary | None
) -> EngineImage:
    """The router to shards with these hulls, reading events by the ontology of their engines."""
    router = Engine(matcher="brute-force", absent=absent, ontology=vocabulary)
    for number, hull in enumerate(hulls):
        router.subscribe(covering_subscription(hull), id=str(number))
    router.subscribe(looked_at.subscription(), id=LOOKS)
    return EngineImage.of(router)
