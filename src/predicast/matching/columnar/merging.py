"""Merging segments beside the matching: a thread compiles, whoever matches next takes over."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from predicast.matching.columnar.blocks import Layout
from predicast.matching.columnar.coded_tests import Array, merged
from predicast.matching.columnar.segment import Segment
from predicast.model import Absent


class Merge:
    """Segments that are being made into one.

    They stay in use meanwhile. What is struck out of them is noted, and struck out of the merged
    one when it takes their place. The thread works on arrays and leaves the interpreter to others
    nearly all the time.
    """

    def __init__(self, segments: Sequence[Segment], absent: Absent, layout: Layout) -> None:
        self.segments = list(segments)
        self._absent: Absent = absent
        self._layout = layout
        self._struck: list[Array] = []
        self._result: Segment | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="predicast-merge", daemon=True)
        self._thread.start()

    def is_over(self) -> bool:
        """Whether there is a result, or never will be: a fork leaves threads behind."""
        return not self._thread.is_alive()

    def wait(self) -> None:
        """Come back when it is over."""
        self._thread.join()

    def strike(self, keys: Array) -> None:
        """Subscriptions were struck out of one of the segments."""
        self._struck.append(keys)

    def result(self) -> Segment | None:
        """The merged segment; ``None`` if the merge came to nothing."""
        if self._error is not None:
            raise self._error
        if self._result is not None:
            for keys in self._struck:
                self._result.strike_all(keys)
        return self._result

    def _run(self) -> None:
        try:
            table = merged([segment.tests() for segment in self.segments])
            self._result = Segment.of(table, self._absent, self._layout)
        except BaseException as error:  # noqa: BLE001  # raised again where it can be seen
            self._error = error
