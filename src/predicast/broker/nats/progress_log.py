"""``ProgressLog``: which message of a process's log says the latest of each subscription.

The log is a ring of slots, each a key of the bucket: writing to a slot removes the message that was
there before. Whatever that message was the last to say is said again, so that nothing need be
cleaned up, and a subscription that is at rest costs one record in as many messages as there are
slots. No network, no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

SLOTS: Final = 1024


class ProgressLog:
    """One process's log for one tenant."""

    def __init__(self, slots: int | None = None) -> None:
        self._slots = slots or SLOTS
        self._number = 0
        self._in_slot: dict[int, Collection[str]] = {}
        self._latest: dict[str, int] = {}  # the last message that is known to be kept, by id

    def slot(self, number: int) -> int:
        """Where a message goes."""
        return number % self._slots

    def begin(self, is_mine: Callable[[str], bool]) -> tuple[int, list[str]]:
        """The number of the next message, and the ids of which nothing later speaks than the
        message whose place it takes: they are to be spoken of again.
        """
        number = self._number = self._number + 1
        again = []
        for id in self._in_slot.pop(self.slot(number), ()):
            if self._latest.get(id, number) > number - self._slots:
                continue
            if is_mine(id):
                again.append(id)
            else:
                del self._latest[id]
        return number, again

    def written(self, number: int, ids: Collection[str]) -> None:
        """A message is on its way, and may be kept even if nobody confirms that."""
        self._in_slot[self.slot(number)] = ids

    def confirmed(self, number: int, ids: Collection[str]) -> None:
        """It is kept."""
        for id in ids:
            self._latest[id] = max(number, self._latest.get(id, 0))
