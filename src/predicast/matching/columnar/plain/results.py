"""What becomes of matches, as ``kernels/matching.py`` does: runs, pairs, and striking out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from predicast.arrays import Array, offsets
from predicast.matching.columnar.plain.arrays import entries, positions
from predicast.matching.columnar.runs import Runs, joined


def as_runs(
    events: Sequence[Array], keys: Sequence[Array], *, counting: bool
) -> tuple[Array, Array]:
    """Matches in any order as keys and runs of (event, end); ``counting`` leaves the keys out."""
    nothing = np.zeros(0, np.int64)
    event = np.concatenate([nothing, *events])
    order = np.argsort(event, kind="stable")
    event = event[order]
    last = np.flatnonzero(np.append(np.diff(event) != 0, True)[: len(event)])
    runs = np.stack([event[last], last + 1], axis=1)
    if counting:
        return np.zeros(0, np.int32), runs
    return np.concatenate([nothing.astype(np.int32), *keys])[order], runs


def gather(  # as the compiled one
    most_keys: Array,
    most_runs: Array,
    more_keys: Array,
    more_runs: Array,
    events: int,
    is_plain: bool,
    limit: int,
    largest: int,
) -> tuple[Array, Array]:
    """All matches as (event, key) pairs, ascending by event; ``events`` are how many there are."""
    keys, runs = joined([Runs(most_keys, most_runs), Runs(more_keys, more_runs)])
    runs = runs[np.argsort(runs[:, 0], kind="stable")]
    counts = runs[:, 2] - runs[:, 1]
    event = np.repeat(runs[:, 0], counts)
    key = keys[entries(runs[:, 1], counts)]
    if is_plain:
        return event, key
    live = key >= 0
    event, key = event[live], key[live]
    if largest >= 0:
        once = np.sort(np.unique(event * (largest + 1) + key, return_index=True)[1])
        event, key = event[once], key[once]
    before = offsets(np.bincount(event, minlength=events))[:-1]
    kept = np.arange(len(event)) - before[event] < limit
    return event[kept], key[kept]


def mark_deleted(
    keys: Array,
    by_key: Array,
    wanted: Array,
    epochs: Array,
    deleted: Array,
    since: Array,
    count: Array,
) -> int:
    """Delete all clauses of some keys, each from an epoch on; ``count`` is how many are listed.

    Keys that have none are moved to the front with their epochs: so many are left.
    """

    def owner(place: Array) -> Array:
        held = keys[by_key[place]]
        owners: Array = np.where(held < 0, deleted[np.where(held < 0, ~held, 0)], held)
        return owners

    if not len(by_key):
        return len(wanted)
    nowhere, end = np.zeros(len(wanted), np.int64), np.full(len(wanted), len(by_key))
    first = positions(owner, nowhere, end, wanted)
    counts = positions(owner, first, end, wanted + 1) - first
    places = by_key[entries(first, counts)]
    live = keys[places] >= 0
    places, rows = places[live], np.repeat(np.arange(len(wanted)), counts)[live]
    # A key of several clauses may be wanted as often: each of them is deleted once.
    once = np.sort(np.unique(places, return_index=True)[1])
    places, rows = places[once], rows[once]
    begin = int(count[0])
    here = slice(begin, begin + len(places))
    deleted[here] = keys[places]
    since[here] = epochs[rows]
    count[0] = here.stop
    keys[places] = ~np.arange(here.start, here.stop, dtype=np.int32)
    left = np.flatnonzero(np.bincount(rows, minlength=len(wanted)) == 0)
    wanted[: len(left)], epochs[: len(left)] = wanted[left], epochs[left]
    return len(left)


def keep_live(found: Array, deleted: Array, since: Array, epoch: int) -> None:
    """Of keys that a segment found, turn those to -1 that were gone at an epoch."""
    gone = np.flatnonzero(found < 0)
    numbers = ~found[gone]
    found[gone] = np.where(since[numbers] > epoch, deleted[numbers], -1)
