"""``Delta``: everything that one change does to what an engine holds, worked out beforehand.

A delta is absolute: it says what holds afterwards (this id has this key, this key states that), not
what to do to what was there. So carrying it out twice is the same as carrying it out once, and one
that was interrupted half-way, by Ctrl-C or for want of memory, is simply carried out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from predicast.engine.changes import Touched

if TYPE_CHECKING:
    import numpy as np

    from predicast.engine.templates import Template
    from predicast.model.operand_columns import OperandColumns
    from predicast.model.outline import Stated


@dataclass(slots=True)
class Delta:
    """What holds after a change, for what it concerns."""

    arrived: int  # subscriptions ever added
    removed: Sequence[tuple[str, int]] = ()  # ids that are gone, and what their keys were
    ids: list[str] = field(default_factory=list)  # those that come, or come anew, in this order
    keys: list[int] = field(default_factory=list)  # theirs
    stated: Sequence[tuple[np.ndarray, OperandColumns]] = ()  # keys, and what they state
    alone: list[tuple[int, Stated]] = field(default_factory=list)  # the same of a few, one by one
    owners: dict[int, str | None] = field(default_factory=dict)  # by key
    templates: dict[int, Template | None] = field(default_factory=dict)  # by key
    sources: dict[int, str | None] = field(default_factory=dict)  # by key
    touched: Sequence[Touched] = ()  # what those are told who follow the changes
