"""``Rival``: what takes part in a comparison, and how it says that it cannot.

A rival is loaded with a workload once and then asked, round after round, to match the first events
of the batch. It answers with the processor time that it took to have all the matches as pairs of
event and subscription, and with their number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple, TypeAlias

from bench.matchers.redundant import SparseWorkload
from bench.matchers.workload import Workload

AnyWorkload: TypeAlias = Workload | SparseWorkload


class LeftOutError(Exception):
    """The rival does not take part; the message says why, for the reader of the results."""


class Round(NamedTuple):
    """One batch matched."""

    seconds: float  # processor time
    matches: int


class Rival(ABC):
    """A way to match a batch of events."""

    name: str

    @abstractmethod
    def load(self, workload: AnyWorkload) -> None:
        """Take the workload in, or raise ``LeftOutError``."""

    @abstractmethod
    def match(self, events: int) -> Round:
        """Match the first so many events."""

    def bytes_held(self) -> int | None:
        """What its own arrays take, if it can tell."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Let go of everything; also after a load that failed."""
