"""A run of ``match``: an engine, the events that it is asked about, and what is to be said of them.

Events of attributes and events that are graphs differ in all of it, and in nothing else: reading
subscriptions, writing matches and showing how far one is are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from predicast import Engine
    from predicast.cli.files.events import Reader
    from predicast.cli.files.graph_events import GraphReader
    from predicast.cli.files.matches import Matches
    from predicast.cli.files.subscriptions import Read
    from predicast.graph import GraphEngine


class Run(Protocol):
    """Events of either sort, matched."""

    @property
    def engine(self) -> Engine | GraphEngine:
        """What holds the subscriptions."""
        ...

    def read(self) -> Read | None:
        """How subscriptions are read, if not as text of the ``where`` dialect."""
        ...

    def size(self) -> int | None:
        """How many bytes will have been read in the end, if that can be told."""
        ...

    def matches(
        self, report: Callable[[int], None], note: Callable[[str], None]
    ) -> Iterator[Matches]:
        """The matches of all events, in order."""
        ...

    def notes(self) -> Iterator[str]:
        """What the user should know in the end."""
        ...


@dataclass(frozen=True, slots=True)
class FlatRun:
    """Events of attributes."""

    engine: Engine
    reader: Reader

    def read(self) -> None:
        """As the ``where`` dialect has it."""

    def size(self) -> int | None:
        size = self.reader.source.size()
        return size and size * self.reader.passes()

    def matches(
        self, report: Callable[[int], None], note: Callable[[str], None]
    ) -> Iterator[Matches]:
        return self.reader.matches(self.engine, report, note)

    def notes(self) -> Iterator[str]:
        events, values, latest = self.engine.invalid
        if not events:
            return
        if self.engine.on_invalid == "skip":
            done = skipped(events)
        else:
            done = (
                "one value was" if values == 1 else f"{values:,} values of {events:,} events were"
            )
            done += " taken for absent"
        yield f"{done}, the last for this: {latest}"


@dataclass(frozen=True, slots=True)
class GraphRun:
    """Events that are graphs."""

    engine: GraphEngine
    reader: GraphReader

    def read(self) -> Read:
        from predicast.cli.files.subscriptions import read_pattern

        return read_pattern

    def size(self) -> int | None:
        return self.reader.size()

    def matches(
        self, report: Callable[[int], None], note: Callable[[str], None]
    ) -> Iterator[Matches]:
        return self.reader.matches(self.engine, report)

    def notes(self) -> Iterator[str]:
        if self.reader.skipped:
            yield f"{skipped(self.reader.skipped)}, the last for this: {self.reader.latest}"
        undecided = self.engine.statistics().get("undecided", 0)
        if undecided:
            yield (
                f"{undecided:,} times it was left undecided whether a subscription matches, which "
                f"would have taken more than {self.engine.budget:,} steps; it counts as no match"
            )


def skipped(events: int) -> str:
    """How many events were skipped, in words."""
    return "one event was skipped" if events == 1 else f"{events:,} events were skipped"
