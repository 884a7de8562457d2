"""``PackedShards``: subscriptions in shards, which stay where they are while a table changes.

Dividing a table costs as much as the table is large. So it is divided now and then, and what
changes in between is put where it fits::

    changed, and still in its shard's hull      stays there
    in the hull of another shard                goes there: no event has to visit more than before
    in no shard's hull                          goes to a shard of recent ones, the last

The hull of the recent ones grows with them; those of the others stay as they are, whatever leaves.
There is an engine per shard, and none of the whole: an engine knows quickly whether it has an id.

Where a subscription is makes no difference to what is delivered, so nobody need remember how a
version was divided: a batch that is repeated by another driver may find it divided otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from predicast.covering.merging import Hull, hull_of, merged
from predicast.engine import Engine
from predicast.model import Constraint, Subscription
from predicast.spark.compiled import CompiledSubscriptions, in_shards
from predicast.spark.image import EngineImage, apply_all
from predicast.spark.placement import Placement, Shard, divided_engines, shown
from predicast.spark.shard_router import LookedAt, inside_lists, router_of
from predicast.spark.subscription_table.difference import (
    RowChange,
    Unclear,
    joined,
    operations,
)
from predicast.spark.subscription_table.rows import Row, operation_of


@dataclass(slots=True)
class _Shard:
    """An engine as it is now, what of it was packed, and what changed since."""

    engine: Engine
    hull: Hull
    image: EngineImage
    bytes: int
    changes: dict[str, RowChange] = field(default_factory=dict)

    @classmethod
    def of(cls, engine: Engine, hull: Hull) -> _Shard:
        snapshot = engine.to_bytes()
        return cls(engine, hull, EngineImage.of_snapshot(snapshot), len(snapshot))

    def holds(self, hull: Hull) -> bool:
        """Whether what has this hull may come without making the shard's any wider."""
        return merged([self.hull, hull]) == self.hull

    def change(self, step: Sequence[RowChange]) -> None:
        self.engine.apply(operations(step))
        self.changes = joined(self.changes, step)

    def compiled(self) -> Shard:
        image = self.image.changed(operations(self.changes.values()))
        return Shard(image, len(self.engine), self.bytes, shown(self.hull))


class PackedShards:
    """Engines, each of which a host has only while it has events for it."""

    def __init__(self, engine: Engine, parts: int, reason: str) -> None:
        self.matcher = engine.matcher
        self.absent = engine.absent
        self.vocabulary = engine.vocabulary
        self._reason = reason
        self._shards: list[_Shard] = []
        self._inside = frozenset[Constraint]()
        for part in divided_engines(engine, parts):
            self._shards.append(_Shard.of(part.engine, part.hull))
            self._inside |= part.inside
        self._divided = len(self._shards)  # the one after these is that of the recent ones

    def __len__(self) -> int:
        return sum(len(shard.engine) for shard in self._shards)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._home(id) is not None

    def givers(self) -> dict[str, frozenset[str]]:
        """What subscriptions look at by name, each with the attributes that give it a value."""
        return {
            name: givers for shard in self._shards for name, givers in shard.engine.givers().items()
        }

    @property
    def asks_for_now(self) -> bool:
        """Whether some subscription depends on when events arrive."""
        return any(shard.engine.asks_for_now for shard in self._shards)

    def touched(self) -> int:
        """How many ids are not as they were packed."""
        return len({id for shard in self._shards for id in shard.changes})

    def whole(self) -> None:
        """There is no engine of all of them."""

    def compiled(self) -> CompiledSubscriptions:
        """As they are now."""
        looked_at = LookedAt(frozenset(self.givers()), self._inside, self.asks_for_now)
        hulls = [shard.hull for shard in self._shards]
        router = router_of(hulls, looked_at, self.absent, self.vocabulary)
        shards = tuple(shard.compiled() for shard in self._shards)
        return in_shards(Placement("partition", self._reason, shards, router), self)

    def change(self, step: Sequence[RowChange]) -> None:
        """Go on to the next version."""
        stated = self._stated([each.after for each in step if each.after is not None])
        self._inside |= inside_lists(stated.values())
        steps: dict[int, list[RowChange]] = {}
        for change in step:
            home = None if change.before is None else self._home(change.id)
            if change.before is not None and home is None:
                raise Unclear
            place = self._place(stated[change.id], home) if change.after is not None else None
            for number, part in _parts(change, home, place):
                steps.setdefault(number, []).append(part)
        for number, parts in steps.items():
            self._shards[number].change(parts)

    def _stated(self, rows: Iterable[Row]) -> dict[str, Subscription]:
        """What rows state, by id."""
        reading = Engine(matcher="brute-force", absent=self.absent, ontology=self.vocabulary)
        apply_all(reading, map(operation_of, rows))
        return {entry.id: entry.subscription for entry in reading.subscriptions()}

    def _home(self, id: str) -> int | None:
        """The shard that has an id."""
        return next((n for n, shard in enumerate(self._shards) if id in shard.engine), None)

    def _place(self, subscription: Subscription, home: int | None) -> int:
        """The shard that a subscription goes to, which may be where it is."""
        hull = hull_of(subscription, self.absent)
        fitting = [number for number, shard in enumerate(self._shards) if shard.holds(hull)]
        if fitting:
            return min(fitting, key=lambda number: self._rank(number, home))
        if len(self._shards) == self._divided:
            recent = Engine(matcher=self.matcher, absent=self.absent, ontology=self.vocabulary)
            self._shards.append(_Shard.of(recent, hull))
        else:
            recents = self._shards[-1]
            recents.hull = merged([recents.hull, hull])
        return self._divided

    def _rank(self, number: int, home: int | None) -> tuple[bool, bool, int, int]:
        """Least for where it is, then for a hull that says much, then for a shard that is small.

        Recent ones are the last resort, also for one that was there.
        """
        shard = self._shards[number]
        return number == self._divided, number != home, -len(shard.hull), len(shard.engine)


def _parts(
    change: RowChange, home: int | None, place: int | None
) -> Iterator[tuple[int, RowChange]]:
    """What a change is to the shard that a subscription comes from, and to where it goes."""
    if home is not None:
        yield home, change if place in {home, None} else change._replace(after=None)
    if place is not None and place != home:
        yield place, change._replace(before=None)
