"""``Delta``: the unit of change. What a matcher is to hold from now on, and what no more.

Every change of an engine becomes one, whether it is a single ``subscribe``, a window of operations
or a bulk load of a million (paper 3, section 5, and past it). It is a *net effect*: a key is in it
once at most, so that its parts may be run in any order. Subscriptions stand in it as outline and
operands, those of a bulk in columns; whoever wants objects makes them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeAlias, TypeVar

from predicast.model import Subscription
from predicast.model.outline import Stated

if TYPE_CHECKING:
    import numpy as np

    from predicast.model.operand_columns import OperandColumns


class Group(NamedTuple):
    """Keys, and the subscriptions of one outline that they stand for."""

    keys: np.ndarray
    operands: OperandColumns

    def one_by_one(self) -> Iterator[tuple[int, Stated]]:
        """Each key, and what it stands for."""
        return zip(self.keys.tolist(), self.operands.all_stated(), strict=True)


T = TypeVar("T")  # how a subscription is stated
S = TypeVar("S")  # what it then is


@dataclass(slots=True)
class DeltaOf(ABC, Generic[T, S]):
    """Keys that are gone, that are new, and that stand for another subscription than before."""

    removed: Sequence[int] = ()
    added: Sequence[tuple[int, T]] = ()
    changed: Sequence[tuple[int, T]] = ()

    @abstractmethod
    def all_added(self) -> Iterator[tuple[int, S]]:
        """What is new, one by one, as objects."""

    @abstractmethod
    def all_changed(self) -> Iterator[tuple[int, S]]:
        """What is another, one by one, as objects."""


@dataclass(slots=True)
class Delta(DeltaOf[Stated, Subscription]):
    """The same of subscriptions to flat events, those of one outline together if they are many."""

    added_groups: Sequence[Group] = ()
    changed_groups: Sequence[Group] = ()

    def all_added(self) -> Iterator[tuple[int, Subscription]]:
        return _one_by_one(self.added, self.added_groups)

    def all_changed(self) -> Iterator[tuple[int, Subscription]]:
        return _one_by_one(self.changed, self.changed_groups)


Before: TypeAlias = Callable[[int], Subscription]  # what stood under a key that goes or changes


class Effect(NamedTuple):
    """What became of the keys of a delta; those that were left as they were are not counted."""

    shared: int = 0  # settled by exchanging subscribers
    in_place: int = 0  # run without a change of structure
    restructured: int = 0

    def __add__(self, other: object) -> Effect:
        if not isinstance(other, Effect):
            return NotImplemented
        return Effect(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def _one_by_one(
    single: Sequence[tuple[int, Stated]], groups: Sequence[Group]
) -> Iterator[tuple[int, Subscription]]:
    for key, stated in single:
        yield key, stated.subscription()
    for keys, operands in groups:
        yield from zip(keys.tolist(), operands.subscriptions(), strict=True)
