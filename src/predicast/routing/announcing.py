"""``Announcer``: the ids under which one neighbour is told what others want.

News of what is wanted (``predicast.covering.interest``) become a window: what is gone and what is
new are paired into changes, so that a region that moves is one operation on the way, and one row
that is written at the other end. A window is run in one step, so any pairing will do.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from predicast.covering.filter import Filter
from predicast.covering.interest import News
from predicast.covering.wish import Wish
from predicast.engine import Change, Operation, Subscribe, Unsubscribe
from predicast.model import Absent, Subscription


class Announcer:
    """What a neighbour has been told, by id."""

    def __init__(self) -> None:
        self._ids: dict[Wish, str] = {}
        self._given = 0
        self._touched: dict[str, Any] | None = None  # what became of ids, once it is noted

    def __len__(self) -> int:
        """How much it has been told."""
        return len(self._ids)

    def window(self, news: News, most: int) -> list[Operation]:
        """The operations that tell the news; too many for one window are not paired."""
        freed = [(wish, self._ids.pop(wish)) for wish in news.gone]
        new = self._told_again(freed, news.new)
        self._note(dict.fromkeys(id for _, id in freed))
        if len(freed) + len(new) > most:
            added = [self._subscribe(wish) for wish in new]
            return [*added, *(Unsubscribe(id) for _, id in freed)]
        operations: list[Operation] = []
        for (_, id), wish in zip(freed, new, strict=False):
            self._ids[wish] = id
            self._note({id: wish.statement})
            operations.append(Change(id, wish.statement))
        operations += [self._subscribe(wish) for wish in new[len(freed) :]]
        operations += [Unsubscribe(id) for _, id in freed[len(new) :]]
        return operations

    def whole(self) -> list[Operation]:
        """All that it has been told, to be told again."""
        return [Subscribe(id, wish.statement) for wish, id in self._ids.items()]

    def state(self) -> dict[str, Any]:
        """What it has been told, by id."""
        return {id: wish.statement for wish, id in self._ids.items()}

    def changed(self) -> dict[str, Any] | None:
        """What has become of ids since this was asked last; ``None`` if it was not asked before."""
        touched, self._touched = self._touched, {}
        return touched

    def _note(self, told: Mapping[str, Any]) -> None:
        if self._touched is not None:
            self._touched.update(told)

    def restore(self, told: Mapping[str, Any], wishes: News, absent: Absent) -> News:
        """Take up the ids of what is still wanted; the news that are left to tell."""
        by_key: dict[Hashable, Wish] = {wish.key: wish for wish in wishes.new}
        left = News([], [])
        for id, statement in told.items():
            opaque = not isinstance(statement, Subscription)
            key = statement if opaque else Filter(statement, absent)
            wish = by_key.pop(key, None)
            if wish is None:
                wish = Wish(key, statement)
                left.gone.append(wish)
            self._ids[wish] = id
            self._given = max(self._given, int(id))
        left.new.extend(by_key.values())
        return left

    def _subscribe(self, wish: Wish) -> Subscribe:
        self._given += 1
        id = self._ids[wish] = str(self._given)
        self._note({id: wish.statement})
        return Subscribe(id, wish.statement)

    def _told_again(self, freed: list[tuple[Wish, str]], new: list[Wish]) -> list[Wish]:
        """What is really new: an equal wish that came and went in between keeps its id."""
        if not freed:
            return new
        by_key = {wish.key: (position, id) for position, (wish, id) in enumerate(freed)}
        left: list[Wish] = []
        kept: set[int] = set()
        for wish in new:
            position, id = by_key.get(wish.key, (-1, ""))
            if position < 0:
                left.append(wish)
            else:
                self._ids[wish] = id
                kept.add(position)
        freed[:] = [each for position, each in enumerate(freed) if position not in kept]
        return left
