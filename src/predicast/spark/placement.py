"""Placement: whether each host holds all subscriptions, or some, and events go to where theirs are.

*Replicated*, every host has the whole compiled index, and events stay where they are.
*Partitioned*, subscriptions are divided into shards (``division.py``), each of which a host holds
only while it has events for it. A shard's hull (``covering/merging.py``) is a subscription of the
*router* (``shard_router.py``): what an event matches there are the shards it has to visit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from predicast.covering.merging import Hull, covering_subscription, hull_of, merged
from predicast.engine import Engine, Entry, Subscribe
from predicast.errors import InvalidOptionError
from predicast.language import Readable, to_where
from predicast.language.reading import ReadText
from predicast.model import Constraint
from predicast.model.outline import outlined
from predicast.spark.image import EngineFile, EngineImage
from predicast.spark.options import check_choice
from predicast.spark.plain_sets import PlainSet, plain_set
from predicast.spark.shard_router import LookedAt, inside_lists, router_of

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
    plain: PlainSet | None = None  # the same as a table, where a join of Spark's own may do

    def summary(self) -> str:
        """What was chosen and why, in a line."""
        shards = f"; {len(self.shards)} shards" if self.shards else ""
        return f"{self.strategy}: {self.reason}{shards}"

    def __str__(self) -> str:
        lines = [f"{self.strategy}: {self.reason}"]
        lines += [f"  {self.plain}"] if self.plain is not None else []
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


def refuse_folder(strategy: Strategy) -> None:
    """Refuse a place for shards where they have one."""
    if isinstance(strategy, Partition) and strategy.folder is not None:
        raise InvalidOptionError(
            "folder is for compile: shards of a table are put into one by in_folder, and deliver "
            "keeps them beside its checkpoint",
            option="folder",
        )


class Choice(NamedTuple):
    """Into how many parts subscriptions are divided, ``None`` if they are not, and why."""

    parts: int | None
    reason: str


def chosen(size: int, strategy: Strategy) -> Choice:
    """Whether subscriptions that take so many bytes when compiled are divided."""
    if strategy == "replicate":
        return Choice(None, "as was asked for")
    how = strategy if isinstance(strategy, Partition) else Partition()
    parts = how.shards or max(-(-size // how.host_bytes), 2)
    if strategy != "auto":
        return Choice(parts, "as was asked for")
    if size <= how.host_bytes:
        return Choice(None, f"{size} bytes are no more than {how.host_bytes} per host")
    return Choice(parts, f"{size} bytes are more than {how.host_bytes} per host")


def placed(engine: Engine, size: int, strategy: Strategy) -> Placement:
    """Where the subscriptions of an engine, so many bytes when compiled, are to be held."""
    parts, reason = chosen(size, strategy)
    if parts is None:
        plain = plain_set(engine) if strategy == "auto" else None
        return Placement("replicate", reason, plain=plain)
    folder = strategy.folder if isinstance(strategy, Partition) else None
    shards, hulls, inside = [], [], frozenset[Constraint]()
    for part in divided_engines(engine, parts):
        snapshot = part.engine.to_bytes()
        image = (
            EngineImage.of_snapshot(snapshot)
            if folder is None
            else EngineFile.of_snapshot(snapshot, Path(folder))
        )
        shards.append(Shard(image, len(part.engine), len(snapshot), shown(part.hull)))
        hulls.append(part.hull)
        inside |= part.inside
    looked_at = LookedAt(frozenset(engine.givers()), inside, engine.asks_for_now)
    router = router_of(hulls, looked_at, engine.absent, engine.vocabulary)
    return Placement("partition", reason, tuple(shards), router)


class EnginePart(NamedTuple):
    """Some of the subscriptions, in an engine of their own."""

    engine: Engine
    hull: Hull
    inside: frozenset[Constraint]  # what they look at inside of lists


def divided_engines(engine: Engine, parts: int) -> Iterator[EnginePart]:
    """The subscriptions of an engine in at most so many others, made one after the other.

    The same subscriptions are divided alike, in whichever order they came. There is always one
    part, be it empty.
    """
    from predicast.spark.division import divided

    entries = sorted(engine.subscriptions(), key=lambda entry: entry.id)
    hulls = [hull_of(entry.subscription, engine.absent) for entry in entries]
    groups: Sequence[Iterable[int]] = divided(hulls, parts)
    for places in groups or [[]]:
        held = [entries[place] for place in places]
        part = Engine(matcher=engine.matcher, absent=engine.absent, ontology=engine.vocabulary)
        part.subscribe_many(subscribe_again(held))
        inside = inside_lists(entry.subscription for entry in held)
        yield EnginePart(part, merged(hulls[place] for place in places), inside)


def subscribe_again(entries: Iterable[Entry]) -> Iterable[Subscribe]:
    """What makes entries of one engine those of another."""
    for each in entries:
        yield Subscribe(each.id, _stated(each), each.owner, each.parameters)


def _stated(entry: Entry) -> Readable:
    """What an entry was given as, such that nothing of it is read that another dialect says."""
    if entry.text is None:
        return entry.subscription
    if entry.dialect is None:
        return entry.text
    return ReadText(entry.text, entry.dialect, outlined(entry.subscription))


def digest_of(shards: Iterable[Shard]) -> str:
    """What tells divided subscriptions from others."""
    return hashlib.sha256(" ".join(each.image.digest for each in shards).encode()).hexdigest()


def shown(hull: Hull) -> str:
    """What every event in a hull matches, for people to read."""
    text = to_where(covering_subscription(hull))
    return text if len(text) <= _LONGEST_HULL else text[: _LONGEST_HULL - 1] + "…"
