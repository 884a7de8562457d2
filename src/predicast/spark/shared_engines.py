"""The engines of one process, by image: built once, and kept for the batches and tasks that follow.

Images of one table's versions are a snapshot with more and more changes. Loading the snapshot
again for each of them would cost as much as the table is large, so the engine of the version before
is brought up to date instead, if nobody uses it any more: who uses one says so (``lent``). What was
given to somebody for good (``given``) is never touched.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, TypeVar

from predicast.engine import Change, Operation, Subscribe, Unsubscribe
from predicast.errors import PredicastError

_MAX_ENGINES: Final = 4  # engines that one worker keeps: a query or two, before and after a change


A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)


class Image(Protocol[A_co]):
    """What an engine is made of: a snapshot, wherever it is, and changes to what that holds."""

    @property
    def digest(self) -> str: ...

    @property
    def packed_digest(self) -> str: ...

    @property
    def changes(self) -> tuple[Operation, ...]: ...

    def answers(self) -> A_co:
        """A new engine, with what it takes to answer."""
        ...


@dataclass(slots=True)
class _Kept:
    image: Image[Any]
    answers: Any  # what the image makes
    users: int = 0


_engines: Final[OrderedDict[str, _Kept]] = OrderedDict()
_lock: Final = threading.Lock()


@contextmanager
def lent(image: Image[A]) -> Iterator[A]:
    """The one engine of an image in this process, until the block ends."""
    with _lock:
        kept = _kept(image)
        kept.users += 1
    try:
        yield kept.answers
    finally:
        with _lock:
            kept.users -= 1


def given(image: Image[A]) -> A:
    """The same for good: it stays as it is."""
    with _lock:
        kept = _kept(image)
        kept.users += 1
        answers: A = kept.answers
        return answers


def _kept(image: Image[Any]) -> _Kept:
    kept = _engines.get(image.digest)
    if kept is None:
        kept = _brought_up_to_date(image) or _Kept(image, image.answers())
        _engines[image.digest] = kept
        if len(_engines) > _MAX_ENGINES:
            _engines.popitem(last=False)
    _engines.move_to_end(image.digest)
    return kept


def _brought_up_to_date(image: Image[Any]) -> _Kept | None:
    """The engine of another image with the same snapshot, made that of this image."""
    for digest, kept in reversed(_engines.items()):
        if kept.users or kept.image.packed_digest != image.packed_digest:
            continue
        between = operations_between(kept.image.changes, image.changes)
        if between is None:
            continue
        del _engines[digest]  # whatever happens now, it is no longer what it was
        try:
            kept.answers.engine.apply(between)
        except PredicastError:  # too many for one window, say
            return None
        return _Kept(image, kept.answers.anew())
    return None


def operations_between(
    before: Iterable[Operation], after: Iterable[Operation]
) -> list[Operation] | None:
    """What makes of an engine with one list of changes that with another, on the same snapshot.

    ``None`` where that takes what only the snapshot knows. Both lists have at most one operation
    per id, or an ``Unsubscribe`` and a ``Subscribe``.
    """
    was, now = _by_id(before), _by_id(after)
    between: list[Operation] = []
    for id in was.keys() | now.keys():
        old, new = was.get(id, ()), now.get(id, ())
        if old == new:
            continue
        if not old:
            between += new
            continue
        step = _step(old, new)
        if step is None:
            return None
        between.append(step)
    return between


def _by_id(changes: Iterable[Operation]) -> dict[str, tuple[Operation, ...]]:
    found: dict[str, tuple[Operation, ...]] = {}
    for each in changes:
        found[each.id] = (*found.get(each.id, ()), each)
    return found


def _step(old: tuple[Operation, ...], new: tuple[Operation, ...]) -> Operation | None:
    """What turns the outcome of operations on an id into that of others."""
    last = old[-1]
    if not new:  # as the snapshot has it, and it did not have what was subscribed without more ado
        return Unsubscribe(last.id) if isinstance(old[0], Subscribe) else None
    wanted = new[-1]
    if isinstance(wanted, Subscribe):
        return replace(wanted, replace=True)
    if isinstance(last, Change) or (
        isinstance(last, Subscribe) and isinstance(wanted, Unsubscribe)
    ):
        return wanted
    return None  # a change, whose owner only the snapshot knows
