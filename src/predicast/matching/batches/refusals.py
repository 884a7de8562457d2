"""``Refusals``: values of a batch that the model does not have, and the rows where they stand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from predicast.errors import PredicastError

_Rows = npt.NDArray[np.int64]


class Refusals:
    """Raises what is refused, or else notes it: then the attribute is absent in those rows."""

    def __init__(self, *, raises: bool = True) -> None:
        self.raises = raises
        self._rows: list[_Rows] = []
        self.latest: PredicastError | None = None

    def add(self, rows: _Rows, error: PredicastError) -> None:
        """Refuse the value of one attribute in some rows; the error is about the first of them."""
        if self.raises:
            raise error
        self._rows.append(rows)
        self.latest = error

    def values(self) -> int:
        """How many values were refused."""
        return sum(map(len, self._rows))

    def rows(self) -> _Rows:
        """The rows in which one was, ascending."""
        return np.unique(np.concatenate([np.zeros(0, np.int64), *self._rows]))
