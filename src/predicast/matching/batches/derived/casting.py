"""Casts of whole columns, where arrays have one; the others are made once per distinct value."""

from __future__ import annotations

from typing import Final

import numpy as np

from predicast.derived.casts import BITS
from predicast.matching.batches.derived import numbers, times
from predicast.matching.batches.derived.columns import kept, made, with_values
from predicast.matching.batches.typed_values import (
    Booleans,
    Floats,
    Integers,
    Strings,
    Timestamps,
    TypedValues,
)


def cast(name: str, part: TypedValues) -> TypedValues | None:
    """The part as another type; ``None`` if that is not done by arrays."""
    if name in BITS and isinstance(part, Integers):
        return kept(part, numbers.in_range(part.values, BITS[name]))
    if name in BITS and isinstance(part, Floats):
        cls, values, valid = numbers.whole(np.trunc(part.values))
        assert valid is not None
        fits = valid & numbers.in_range(values, BITS[name])
        return kept(made(cls, values, part.rows), fits)
    if name == "DOUBLE" and isinstance(part, Integers | Floats):
        return made(Floats, part.values.astype(np.float64), part.rows)
    if name == "BOOLEAN" and isinstance(part, Integers | Floats):
        return made(Booleans, part.values != 0, part.rows)
    if name == "DATE" and isinstance(part, Timestamps):
        return with_values(part, times.truncated("DAY", part.values), part.rows)
    return part if isinstance(part, _SAME.get(name, ())) else None


_SAME: Final[dict[str, type[TypedValues]]] = {
    "STRING": Strings,
    "BOOLEAN": Booleans,
    "TIMESTAMP": Timestamps,
}
