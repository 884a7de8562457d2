"""A segment: many clauses, compiled once; only striking one out changes it.

Clauses that test the same axes form *families*, scanned in blocks (``blocks.py``); the others are
rows (``rows.py``). Both are arrays of one image (``image.py``). A clause is marked as deleted
by turning its key below 0, and whoever gathers matches drops those.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from predicast.arrays import Array
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.columnar import loops
from predicast.matching.columnar.compile.axes import Axis
from predicast.matching.columnar.compile.coded_tests import CodedTests, Other, stacked, weight
from predicast.matching.columnar.event_codes import EventCoder, EventCodes
from predicast.matching.columnar.layout.blocks import Layout, family_arrays
from predicast.matching.columnar.layout.building import read_blocks
from predicast.matching.columnar.layout.image import Image, SegmentArrays, packed
from predicast.matching.columnar.layout.rows import row_arrays
from predicast.matching.columnar.patterns.hits import Hits, OtherTests
from predicast.matching.columnar.runs import Runs, with_starts
from predicast.model import Absent, Event

_MOST_CODES: Final = 1 << 22  # of events on axes, made at a time
EVERY: Final = np.iinfo(np.int64).max  # more than any number of matches
_NO_HITS: Final = Hits(np.zeros(2, np.int64), np.zeros(0, np.int32))


class Segment:
    """Clauses, compiled; each belongs to the subscription with its key."""

    def __init__(self, axes: list[Axis], others: list[Other], image: Image, absent: Absent) -> None:
        self.axes, self.others, self.image = axes, others, image
        self._absent: Absent = absent
        self._coder = EventCoder(axes, absent)
        self._other_tests = OtherTests(others, absent)
        self.arrays: SegmentArrays = image.arrays()
        self._has_sets = bool((np.diff(self.arrays.test_span_first) > 1).any())
        self.recount()
        owners = self.arrays.keys[self.arrays.by_key]
        owners = np.where(owners < 0, ~owners, owners)
        self.largest_key = int(owners[-1]) if len(owners) else -1
        self.has_disjunctions = bool((owners[1:] == owners[:-1]).any())

    @classmethod
    def of(cls, table: CodedTests, absent: Absent, layout: Layout) -> Segment:
        """Compile the clauses of a table."""
        arrays, left = family_arrays(table, layout)
        arrays |= row_arrays(table, left)
        keys = np.concatenate([arrays["keys"], arrays.pop("row_keys")])
        held = np.flatnonzero(keys >= 0)
        arrays["keys"] = keys
        arrays["by_key"] = held[np.argsort(keys[held], kind="stable")]
        return cls(table.axes, table.others, packed(arrays), absent)

    def __len__(self) -> int:
        return len(self.arrays.by_key)

    def live(self) -> int:
        """How many clauses are not deleted."""
        return len(self) - self.deleted

    def is_worn(self) -> bool:
        """Whether most of it is marked as deleted."""
        return 2 * self.deleted > len(self)

    def weight(self) -> int:
        """What merging it costs, in clauses."""
        return weight(len(self), self.axes, self.others)

    def nbytes(self) -> int:
        """The memory of its arrays and cuts."""
        cuts = [cut for axis in self.axes for cut in (axis.lower, axis.upper) if cut is not None]
        return (
            self.image.data.nbytes + sum(cut.nbytes() for cut in cuts) + self._other_tests.nbytes()
        )

    # Deleting.

    def mark_deleted(self, keys: Array) -> npt.NDArray[np.bool_]:
        """Strike out the clauses of subscriptions; say which of them there were."""
        found = np.zeros(len(keys), bool)
        self.deleted += loops.now.mark_deleted(self.arrays.keys, self.arrays.by_key, keys, found)
        return found

    def recount(self) -> None:
        """Count what is marked as deleted, when that may have been interrupted."""
        self.deleted = int(np.count_nonzero(self.arrays.keys[self.arrays.by_key] < 0))

    # Matching.

    def match(self, columns: EventBatch, *, counting: bool, enough: int) -> list[Runs]:
        """The matches of a batch, in pieces whose codes fit in memory."""
        width = len(self.axes) + 1
        if self._absent == "passes":
            width += len(self._other_tests)  # all may be marked for an event that lacks them
        most = max(min(_MOST_CODES // width, loops.now.most_events), 1)
        return [
            self._match(
                self._coder.of_batch(piece),
                self._other_tests.of_batch(piece),
                start,
                counting=counting,
                enough=enough,
            )
            for start, piece in columns.chunks(most)
        ]

    def match_one(self, event: Event) -> Array:
        """The keys of the clauses that one event matches, deleted ones among them."""
        codes = self._coder.of_event(event)
        hits = self._other_tests.of_event(event) if self.others else _NO_HITS
        keys: Array = loops.now.match_events(*self.image, *codes, *hits, False, EVERY)[0]
        return keys

    def may_repeat(self) -> bool:
        """Whether an event may find one key twice: through two clauses, or two members of a set."""
        return self.has_disjunctions or self._has_sets

    def _match(
        self, codes: EventCodes, hits: Hits, start: int, *, counting: bool, enough: int
    ) -> Runs:
        keys, ends = loops.now.match_events(*self.image, *codes, *hits, counting, enough)
        return Runs(keys, with_starts(ends, start))

    # Turning it back.

    def tests(self) -> CodedTests:
        """The tests of all clauses that are not deleted, to merge them with others."""
        families = [self._family_tests(family) for family in range(len(self.arrays.width))]
        return stacked([*families, self._row_tests().live()])

    def _family_tests(self, family: int) -> CodedTests:
        a = self.arrays
        access = a.access_axis[a.access_first[family] : a.access_first[family + 1]]
        columns = slice(*a.column_first[family : family + 2])
        axes = np.concatenate([access, a.column_axis[columns]])
        points = np.concatenate([np.ones(len(access), bool), a.column_is_point[columns] > 0])
        lo, hi, keys = self._family_codes(family, len(access), columns.stop - columns.start)
        order = np.argsort(axes, kind="stable")
        live = keys >= 0
        lo, hi = lo[live][:, order], hi[live][:, order]
        n, width = lo.shape
        nothing = np.zeros(0, np.int32)
        return CodedTests(
            keys[live],
            self.axes,
            np.repeat(np.arange(n, dtype=np.int32), width),
            np.tile(axes[order].astype(np.int32), n),
            np.arange(n * width + 1),
            lo.ravel(),
            hi.ravel(),
            np.tile(points[order], n),
            self.others,
            nothing,
            nothing,
        )

    def _family_codes(self, family: int, access: int, axes: int) -> tuple[Array, Array, Array]:
        """The codes of a family, a row per slot, the access axes first; and the slots' keys."""
        a = self.arrays
        partitions = slice(*a.partition_first[family : family + 2])
        blocks = slice(a.block_first[partitions.start], a.block_first[partitions.stop])
        slots = slice(a.block_slot[blocks.start], a.block_slot[blocks.stop])
        n = slots.stop - slots.start
        lo, hi = np.empty((n, access + axes), np.int32), np.empty((n, access + axes), np.int32)
        sizes = np.diff(a.block_slot[a.block_first[partitions.start : partitions.stop + 1]])
        which = np.repeat(np.arange(len(sizes)), sizes)
        span = slice(*a.access_span_first[family : family + 2])
        lo[:, :access] = a.access_lo[span].reshape(len(sizes), access)[which]
        hi[:, :access] = a.access_hi[span].reshape(len(sizes), access)[which]
        read_blocks(a, family, lo[:, access:], hi[:, access:])
        return lo, hi, a.keys[slots].copy()  # clauses may be marked as deleted meanwhile

    def _row_tests(self) -> CodedTests:
        a = self.arrays
        keys = a.keys[a.block_slot[-1] :].copy()
        row = np.arange(len(keys), dtype=np.int32)
        return CodedTests(
            keys,
            self.axes,
            np.repeat(row, np.diff(a.row_test_first)),
            a.test_axis,
            a.test_span_first,
            a.span_lo,
            a.span_hi,
            a.test_is_point > 0,
            self.others,
            np.repeat(row, np.diff(a.row_other_first)),
            a.row_other,
        )
