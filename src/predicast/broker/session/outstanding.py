"""What was delivered over a connection and has not been acknowledged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from predicast.protocol.records import Delivery


class Outstanding:
    """Positions, each with the durable subscriptions that it was delivered for.

    What only ephemeral subscriptions were sent needs no acknowledgement and is not noted: one that
    never acknowledges costs nothing.
    """

    def __init__(self) -> None:
        self._ids: dict[int, set[str]] = {}
        self._durable: set[str] = set()

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def needs_acknowledgement(self) -> bool:
        """Whether anything that is read now is durable."""
        return bool(self._durable)

    def consume(self, ids: Iterable[str], *, durable: Collection[str]) -> None:
        """These are read now, of which some are durable."""
        self._durable.difference_update(ids)
        self._durable.update(durable)

    def release(self, ids: Collection[str]) -> None:
        """These are not read any more: what of theirs is out is for the next who does."""
        gone = self._durable.intersection(ids)
        if not gone:
            return
        self._durable -= gone
        for position in list(self._ids):
            self._finish(position, gone)

    def add(self, deliveries: Sequence[Delivery]) -> None:
        """These were sent."""
        if not self._durable:
            return
        for event, ids, _ in deliveries:
            durable = self._durable.intersection(ids)
            if durable:
                self._ids.setdefault(event.position, set()).update(durable)

    def done(
        self, positions: Sequence[int], up_to: int | None, subscriptions: Collection[str] | None
    ) -> dict[str, list[int]]:
        """Those positions and all up to one, by subscription; they are out no longer."""
        chosen = [position for position in positions if position in self._ids]
        if up_to is not None:
            chosen += [position for position in self._ids if position <= up_to]
        found: dict[str, list[int]] = {}
        for position in chosen:
            for id in self._finish(position, subscriptions):
                found.setdefault(id, []).append(position)
        return found

    def _finish(self, position: int, subscriptions: Collection[str] | None) -> set[str]:
        ids = self._ids.get(position, set())
        finished = ids if subscriptions is None else ids.intersection(subscriptions)
        left = ids - finished
        if left:
            self._ids[position] = left
        else:
            self._ids.pop(position, None)
        return finished
