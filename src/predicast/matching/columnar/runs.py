"""Matches as runs: the keys of one event side by side, in whatever order events were looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from predicast.arrays import Array


class Runs(NamedTuple):
    """Keys, and (event, first, end) for the keys of an event that stand side by side."""

    keys: Array
    runs: Array


def with_starts(ends: Array, first_event: int = 0) -> Array:
    """Runs that follow each other, given as (event, end), with where each begins."""
    runs = np.empty((len(ends), 3), np.int64)
    runs[:, 0] = ends[:, 0] + first_event
    runs[:1, 1] = 0
    runs[1:, 1] = ends[:-1, 1]
    runs[:, 2] = ends[:, 1]
    return runs


def joined(pieces: Sequence[Runs]) -> Runs:
    """All matches in one array, and where the runs are in it."""
    if len(pieces) == 1:
        return pieces[0]
    if not pieces:
        return Runs(np.zeros(0, np.int32), np.zeros((0, 3), np.int64))
    runs = np.concatenate([piece.runs for piece in pieces])
    first, keys = len(pieces[0].runs), len(pieces[0].keys)
    for piece in pieces[1:]:
        runs[first : first + len(piece.runs), 1:] += keys
        first, keys = first + len(piece.runs), keys + len(piece.keys)
    return Runs(np.concatenate([piece.keys for piece in pieces]), runs)


def in_two(pieces: Sequence[Runs]) -> tuple[Runs, Runs]:
    """The piece with the most matches, and all others in one."""
    if len(pieces) < 2:
        return joined(pieces), joined(())
    largest = max(range(len(pieces)), key=lambda piece: len(pieces[piece].keys))
    return pieces[largest], joined([*pieces[:largest], *pieces[largest + 1 :]])
