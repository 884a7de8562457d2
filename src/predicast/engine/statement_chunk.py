"""``Chunk``: subscriptions of one outline that came in bulk, and what was changed of them since.

What a change puts in the place of another of the same outline waits until there are some of them,
and is written together. Whoever asks for the columns has what waits written first.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from predicast.model.operand_columns import OperandColumns
from predicast.model.outline import Stated

_MOST_WAITING: Final = 256  # of a chunk: they are objects until they are written
_WAITING_SHARE: Final = 16  # and no more than one of so many


class Chunk:
    """Subscriptions of one outline with their keys, ascending."""

    __slots__ = (
        "_first",
        "_is_shared",
        "_most",
        "_operands",
        "_waiting",
        "dead",
        "keys",
        "outline",
    )

    def __init__(self, keys: np.ndarray, operands: OperandColumns) -> None:
        self.keys = keys
        self.outline = operands.outline
        # Of keys without a gap, as those of a bulk have, each says where it is.
        first, last = int(keys[0]), int(keys[-1])
        self._first = first if last - first == len(keys) - 1 else None
        self._operands = operands
        self._waiting: dict[int, tuple[Any, ...]] = {}  # by row: operands that are to be written
        self._most = min(_MOST_WAITING, max(len(keys) // _WAITING_SHARE, 1))
        self.dead = 0
        self._is_shared = True  # the columns are somebody else's as well

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def operands(self) -> OperandColumns:
        """What its subscriptions state."""
        if self._waiting:
            self._write()
        return self._operands

    def shared(self) -> OperandColumns:
        """The same for somebody who keeps it: later changes are written elsewhere."""
        operands = self.operands  # first: writing what waits makes columns that nobody else has
        self._is_shared = True
        return operands

    def copy(self) -> Chunk:
        copy = Chunk(self.keys, self.shared())
        copy.dead = self.dead
        return copy

    def row(self, key: int) -> int:
        if self._first is not None:
            return key - self._first
        # A key of another width would have NumPy widen all the others first.
        return int(np.searchsorted(self.keys, self.keys.dtype.type(key)))

    def stated(self, key: int) -> Stated:
        row = self.row(key)
        waiting = self._waiting.get(row)
        return self._operands.stated(row) if waiting is None else Stated(self.outline, waiting)

    def put(self, key: int, operands: tuple[Any, ...]) -> None:
        """Have a subscription state something else; it is written when there are some of them."""
        waiting = self._waiting
        first = self._first
        waiting[self.row(key) if first is None else key - first] = operands
        if len(waiting) > self._most:
            self._write()

    def _write(self) -> None:
        waiting = self._waiting
        operands = OperandColumns.of(self.outline, [*waiting.values()])
        rows = np.fromiter(waiting, np.int64, len(waiting))
        self._overwrite(rows, operands, np.arange(len(rows)))
        self._waiting = {}

    def overwrite(self, rows: np.ndarray, operands: OperandColumns, which: np.ndarray) -> None:
        if self._waiting:  # it is older
            self._write()
        self._overwrite(rows, operands, which)

    def _overwrite(self, rows: np.ndarray, operands: OperandColumns, which: np.ndarray) -> None:
        in_place = not self._is_shared
        self._operands = self._operands.overwritten(rows, operands, which, in_place=in_place)
        self._is_shared = False
