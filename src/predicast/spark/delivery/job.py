"""``Job``: what every task of a batch is told, whichever part of the work it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from predicast.spark.answers import BOUNDS, Asked, Bounds
from predicast.spark.delivery.drafts import Draft
from predicast.spark.workers import AttributeReader

Output: TypeAlias = Literal["rows", "array"]


@dataclass(frozen=True, slots=True)
class Job:
    """How events are read, what of them is written, and where."""

    reader: AttributeReader
    names: tuple[str, ...]  # of the columns that are kept: dead letters have all of them
    delivered: tuple[int, ...]  # the positions of those that deliveries have
    unreadable: int | None  # the position of what the source could not read
    output: Output
    asked: Asked
    drafts: tuple[Draft, ...]
    # Whether there are dead letters. If a batch is repeated, they may be where they belong already,
    # and there is no draft for them.
    sets_apart: bool
    bounds: Bounds = BOUNDS
