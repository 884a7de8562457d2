"""Whatever comes one by one, some at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of so many, the last one perhaps of fewer; each as soon as it is there."""
    source = iter(things)
    while batch := list(islice(source, size)):
        yield batch
