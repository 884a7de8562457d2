"""``Repeats``: which events have been seen before, by publisher and sequence.

Streams deliver once by themselves. A broker that moves to another parent may hear the same event
from both; that is what this is for. Of each publisher the latest sequences are kept in mind, of
publishers those heard of last. What is older than all that counts as new: better twice than never.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from predicast.routing.messages import Published

_publisher: Final = attrgetter("publisher")


class Repeats:
    """The sequences seen, bounded by publishers and by sequences of each."""

    def __init__(self, publishers: int, sequences: int) -> None:
        self._most_publishers = publishers
        self._most_sequences = sequences
        # In a dictionary for the order in which they came.
        self._seen: OrderedDict[str, dict[int, None]] = OrderedDict()
        self._noted: dict[str, tuple[int, ...]] | None = None

    def new(self, messages: Iterable[Sequence[Published]]) -> list[list[Published]]:
        """Those of each message that were not seen before, each once; nothing is noted yet."""
        seen, here = self._seen, set[tuple[str, int]]()
        found: list[list[Published]] = []
        for events in messages:
            new = []
            for each in events:
                publisher, sequence = each.publisher, each.sequence
                if sequence in seen.get(publisher, ()) or (publisher, sequence) in here:
                    continue
                here.add((publisher, sequence))
                new.append(each)
            found.append(new)
        return found

    def note(self, events: Iterable[Published]) -> None:
        """These have been seen now."""
        for publisher, group in groupby(events, _publisher):
            sequences = dict.fromkeys(each.sequence for each in group)
            self._note_all(publisher, sequences)
            if self._noted is not None:
                before = self._noted.pop(publisher, ())  # whoever was heard of last stands last
                self._noted[publisher] = (*before, *sequences)

    def _note_all(self, publisher: str, sequences: dict[int, None]) -> None:
        seen, most = self._seen, self._most_sequences
        of_publisher = seen.setdefault(publisher, {})
        seen.move_to_end(publisher)
        of_publisher |= sequences
        if len(of_publisher) > 2 * most:  # many at a time: the first of a dictionary is slow
            seen[publisher] = dict.fromkeys(list(of_publisher)[-most:])
        if len(seen) > self._most_publishers:
            seen.popitem(last=False)

    def state(self) -> dict[str, tuple[int, ...]]:
        """The latest sequences of each publisher, to be restored."""
        return {name: tuple(seen)[-self._most_sequences :] for name, seen in self._seen.items()}

    def changed(self) -> dict[str, tuple[int, ...]]:
        """What was seen since this was asked last; the first time, everything."""
        noted, self._noted = self._noted, {}
        return self.state() if noted is None else noted

    def restore(self, state: Mapping[str, Sequence[int]]) -> None:
        """Go on where ``state`` was taken."""
        for name, sequences in list(state.items())[-self._most_publishers :]:
            self._seen[name] = dict.fromkeys(sequences[-self._most_sequences :])
