"""Windows: operations on subscriptions that are run together (paper 3, section 5).

A *window* is what arrived in some stretch of time: ``Added``, ``Removed`` and ``Replaced``, each
under a matcher's key. It is first *collapsed*: of what one key went through only the net effect is
kept, in order, as this automaton says (rows: so far; columns: what comes next)::

                 Added      Removed    Replaced
    (nothing)    Added      Removed    Replaced
    Added        -          (nothing)  Added
    Removed      Replaced   -          -
    Replaced     -          Removed    Replaced

The order is what the paper's pseudo-code ignores, and why it goes wrong on one client's
unsubscribe, subscribe, unsubscribe. Keys are independent of each other, so nothing else about the
order of a window matters to who hears of which event afterwards. The caller sees to it that a
window is consistent: the pairs marked ``-`` do not occur.

Cost: O(operations).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from predicast.model import Subscription
from predicast.model.outline import Stated


@dataclass(frozen=True, slots=True)
class Added:
    """A subscription under a new key."""

    key: int
    stated: Subscription | Stated

    @property
    def subscription(self) -> Subscription:
        """What it states, as an object."""
        return _as_object(self.stated)


@dataclass(frozen=True, slots=True)
class Removed:
    """The end of a subscription; ``previous`` is what it was, if the caller knows."""

    key: int
    previous: Subscription | None = None


@dataclass(frozen=True, slots=True)
class Replaced:
    """A new subscription under a known key; ``previous`` is the old, if the caller knows."""

    key: int
    stated: Subscription | Stated
    previous: Subscription | None = None

    @property
    def subscription(self) -> Subscription:
        """What it states, as an object."""
        return _as_object(self.stated)


def _as_object(stated: Subscription | Stated) -> Subscription:
    return stated.subscription() if isinstance(stated, Stated) else stated


Operation: TypeAlias = Added | Removed | Replaced


class Saved(NamedTuple):
    """What became of the operations of a window; the last four add up to the first."""

    given: int = 0
    collapsed: int = 0  # cancelled by another operation on the same key, or without effect
    shared: int = 0  # settled by exchanging subscribers
    in_place: int = 0  # run without a change of structure
    restructured: int = 0

    def __add__(self, other: object) -> Saved:
        if not isinstance(other, Saved):
            return NotImplemented
        return Saved(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def collapsed(operations: Sequence[Operation]) -> list[Operation]:
    """The net effect on each key, without the changes that are known to change nothing."""
    return [each for each in net_effect(operations) if not _is_idle(each)]


def net_effect(operations: Sequence[Operation]) -> list[Operation]:
    """The net effect on each key, at most one operation each, in order of first appearance."""
    net: dict[int, Operation] = {}
    for operation in operations:
        key = operation.key
        first = net.get(key)
        if first is None:
            net[key] = operation
            continue
        both = _joined(first, operation)
        if both is None:
            del net[key]
        else:
            net[key] = both
    return list(net.values())


def _joined(first: Operation, then: Operation) -> Operation | None:
    """Two operations on one key as one; ``None`` if they cancel."""
    if isinstance(first, Added):
        if isinstance(then, Removed):
            return None
        return Added(first.key, then.stated)
    if isinstance(then, Removed):
        return Removed(first.key, first.previous)
    return Replaced(first.key, then.stated, first.previous)


def _is_idle(operation: Operation) -> bool:
    """Whether a change is known to change nothing."""
    if not isinstance(operation, Replaced) or operation.previous is None:
        return False
    return operation.previous == operation.subscription
