"""Placement: whether each host holds all subscriptions, or some, and events go to where theirs are.

*Replicated*, every host has the whole compiled index, and events stay where they are.
*Partitioned*, subscriptions are divided into shards (``division.py``), each of which a host holds
only while it has events for it. A shard's hull (``covering/merging.py``) is a subscription of the
*router*, an engine like any other: what an event matches there are the shards it has to visit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from predicast.covering.merging import covering_subscription, hull_of, merged
from predicast.engine import Engine, Entry, Subscribe
from predicast.errors import InvalidOptionError
from predicast.language import to_where
from predicast.spark.image import EngineFile, EngineImage
from predicast.spark.options import check_choice

HOST_BYTES: Final = 1 << 30  # of an index that each host is to hold, unless told otherwise
_LONGEST_HULL: Final = 100  # characters of what is shown of it


class Shard(NamedTuple):
    """Some of the subscriptions, compiled."""

    image: EngineImage | EngineFile
    subscriptions: int
    bytes: int
    covered_by: str  # what every event that matches one of them matches


class Placement(NamedTuple):
    """Where subscriptions are held, and why there; printed, it explains itself."""

    strategy: Literal["replicate", "partition"]
    reason: str
    shards: tuple[Shard, ...] = ()
    router: EngineImage | None = None

    def __str__(self) -> str:
        lines = [f"{self.strategy}: {self.reason}"]
        lines += [
            f"  shard {number}: {each.subscriptions} subscriptions, {each.bytes} bytes, "
            f"{each.covered_by}"
            for number, each in enumerate(self.shards)
        ]
        return "\n".join(lines)


REPLICATED: Final = Placement("replicate", "as ever")


class Partition(NamedTuple):
    """How subscriptions are divided, for ``strategy=``.

    Into so many ``shards``, or as many as keep each below ``host_bytes``. They travel with the
    query, or lie in a ``folder`` that all hosts see.
    """

    shards: int | None = None
    host_bytes: int = HOST_BYTES
    folder: str | os.PathLike[str] | None = None


Strategy: TypeAlias = Literal["auto", "replicate", "partition"] | Partition


def checked_strategy(strategy: Strategy) -> Strategy:
    """Refuse what makes no sense."""
    if not isinstance(strategy, Partition):
        check_choice("strategy", strategy, ("auto", "replicate", "partition"))
        return strategy
    for option in ("shards", "host_bytes"):
        value = getattr(strategy, option)
        if value is not None and (type(value) is not int or value < 1):
            raise InvalidOptionError(
                f"{option} is a positive integer, not {value!r}", option=option
            )
    return strategy


def placed(engine: Engine, size: int, strategy: Strategy) -> Placement:
    """Where the subscriptions of an engine, so many bytes when compiled, are to be held."""
    if strategy == "replicate":
        return Placement("replicate", "as was asked for")
    how = strategy if isinstance(strategy, Partition) else Partition()
    if strategy != "auto":
        reason = "as was asked for"
    elif size <= how.host_bytes:
        return Placement("replicate", f"{size} bytes are no more than {how.host_bytes} per host")
    else:
        reason = f"{size} bytes are more than {how.host_bytes} per host"
    parts = how.shards or max(-(-size // how.host_bytes), 2)
    return _partitioned(engine, parts, reason, how.folder)


def _partitioned(
    engine: Engine, parts: int, reason: str, folder: str | os.PathLike[str] | None
) -> Placement:
    from predicast.spark.division import divided

    entries = sorted(engine.subscriptions(), key=lambda entry: entry.id)
    hulls = [hull_of(entry.subscription, engine.absent) for entry in entries]
    router = Engine(absent=engine.absent, ontology=engine.vocabulary)
    shards = []
    for number, places in enumerate(divided(hulls, parts)):
        covering = covering_subscription(merged(hulls[place] for place in places))
        router.subscribe(covering, id=str(number))
        held = [entries[place] for place in places]
        shards.append(_shard(held, engine, _shown(to_where(covering)), folder))
    return Placement("partition", reason, tuple(shards), EngineImage.of(router))


def _shard(
    entries: Sequence[Entry], like: Engine, hull: str, folder: str | os.PathLike[str] | None
) -> Shard:
    engine = Engine(matcher=like.matcher, absent=like.absent, ontology=like.vocabulary)
    engine.subscribe_many(subscribe_again(entries))
    snapshot = engine.to_bytes()
    image = (
        EngineImage.of_snapshot(snapshot)
        if folder is None
        else EngineFile.written(
            hashlib.sha256(snapshot).hexdigest(), lambda: snapshot, Path(folder)
        )
    )
    return Shard(image, len(entries), len(snapshot), hull)


def subscribe_again(entries: Iterable[Entry]) -> Iterable[Subscribe]:
    """What makes entries of one engine those of another."""
    for each in entries:
        stated = each.subscription if each.text is None else each.text
        yield Subscribe(each.id, stated, each.owner, each.parameters)


def digest_of(shards: Iterable[Shard]) -> str:
    """What tells divided subscriptions from others."""
    return hashlib.sha256(" ".join(each.image.digest for each in shards).encode()).hexdigest()


def _shown(hull: str) -> str:
    return hull if len(hull) <= _LONGEST_HULL else hull[: _LONGEST_HULL - 1] + "…"
