"""A segment: many clauses, compiled once; only deleting some changes it, and no answer of before.

Clauses that test the same axes form *families*, scanned in blocks (``layout/blocks.py``); the
others are rows (``layout/rows.py``). Both are arrays of one image (``layout/image.py``).

A change deletes clauses while others match. So what is deleted is listed, with the *epoch* from
which on it is gone, and its key turns into the complement of its number in that list::

    keys      [ 7   9  ~0   4  ~1 ]       deleted  [ 12  5 ]      since  [ 31  33 ]

Whoever matches as of epoch 32 finds what is at ~1 to be 5, which it still was then, and leaves out
what is at ~0. The list has room for all clauses from the start, in memory that takes no room until
it is written to: it never moves.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, expand, offsets
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.columnar import loops
from predicast.matching.columnar.compile.axes import Axis
from predicast.matching.columnar.compile.coded_tests import CodedTests, Other, stacked, weight
from predicast.matching.columnar.compile.programs import Programs
from predicast.matching.columnar.event_codes import EventCoder, OneEvent
from predicast.matching.columnar.layout.blocks import Layout, family_arrays
from predicast.matching.columnar.layout.building import read_blocks
from predicast.matching.columnar.layout.image import Image, SegmentArrays, packed
from predicast.matching.columnar.layout.question import Question, QuestionArrays
from predicast.matching.columnar.layout.rows import row_arrays
from predicast.matching.columnar.patterns.hits import OtherTests, no_hits
from predicast.matching.columnar.reserved import IS_POINT, OF_PROGRAM
from predicast.matching.columnar.runs import Runs, with_starts
from predicast.model import Absent, Event

_MOST_CODES: Final = 1 << 22  # of events on axes, made at a time
EVERY: Final = np.iinfo(np.int64).max  # more than any number of matches
_FOUND: Final = 1 << 12  # matches of one event that there is room for at first


class _Room(NamedTuple):
    """What asking one event writes to; nobody else does meanwhile."""

    codes: OneEvent
    question: Question
    raw: Array
    found: Array

    @classmethod
    def of(cls, codes: OneEvent, question: Question) -> _Room:
        """The room that a question has."""
        return cls(codes, question, question.arrays.raw, question.arrays.found)


class Segment:
    """Clauses, compiled; each belongs to the subscription with its key."""

    def __init__(self, axes: list[Axis], others: list[Other], image: Image, absent: Absent) -> None:
        self.axes, self.others, self.image = axes, others, image
        self._absent: Absent = absent
        self._other_tests = OtherTests(others, absent)
        self.arrays: SegmentArrays = image.arrays()
        whole = _axes_of_points(self.arrays, len(axes))
        self._coder = EventCoder(axes, absent, self._other_tests.attributes, whole)
        owners = self.arrays.keys[self.arrays.by_key]
        self._deleted = np.empty(len(owners), np.int32)
        self._since = np.empty(len(owners), np.int64)
        self._count = np.zeros(1, np.int64)
        self._latest = 0  # the epoch from which on all that is deleted is gone
        self._counted = memoryview(self._count)  # type: ignore[arg-type]  # Python reads it faster than an array
        owners = self._list_deleted(owners)
        self._rooms: list[_Room] = []  # for single events, one for each that is asked just now
        self.largest_key = int(owners[-1]) if len(owners) else -1
        # Whether an event may find one key twice: through two clauses, or a row in two ways.
        self.may_repeat = bool((owners[1:] == owners[:-1]).any()) or _rows_repeat(self.arrays)

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

    @property
    def deleted(self) -> int:
        """How many clauses are deleted."""
        return self._counted[0]

    def live(self) -> int:
        """How many clauses are not deleted."""
        return len(self) - self.deleted

    def is_worn(self) -> bool:
        """Whether most of it is deleted."""
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

    def make_ready(self) -> None:
        """Do what the first to ask would wait for."""
        self._coder.make_ready()

    # Deleting.

    def delete(self, keys: Array, epochs: Array, latest: int) -> int:
        """Have the clauses of some keys gone, each from an epoch on, of which the last is given.

        Keys that have none here are moved to the front, with their epochs: so many are left.
        """
        a = self.arrays
        self._latest = max(self._latest, latest)  # first: somebody may match
        return loops.now.mark_deleted(
            a.keys, a.by_key, keys, epochs, self._deleted, self._since, self._count
        )

    def deletions(self, first: int) -> tuple[Array, Array]:
        """What was deleted since so many were: keys, and from which epochs on they are gone."""
        here = slice(first, self.deleted)
        return self._deleted[here].astype(np.int64), self._since[here].copy()

    def keys_at(self, epoch: int) -> Array:
        """The keys of all slots and rows as they were; those of deleted clauses as complements."""
        keys, by_key = self.arrays.keys.copy(), self.arrays.by_key
        gone = by_key[keys[by_key] < 0]
        numbers = ~keys[gone]
        known = self._deleted[numbers]
        keys[gone] = np.where(self._since[numbers] > epoch, known, ~known)
        return keys

    def _list_deleted(self, owners: Array) -> Array:
        """List what was deleted when a file was written; whom each clause belongs to, by key."""
        gone = np.flatnonzero(owners < 0)
        if not len(gone):
            return owners
        owners[gone] = ~owners[gone]
        self._deleted[: len(gone)] = owners[gone]
        self._since[: len(gone)] = 0
        self._count[0] = len(gone)
        self.arrays.keys[self.arrays.by_key[gone]] = ~np.arange(len(gone), dtype=np.int32)
        return owners

    # Matching.

    def match(self, columns: EventBatch, epoch: int, *, enough: int) -> list[Runs]:
        """The matches of a batch as of an epoch; a key is below 0 where it was gone."""
        pieces = self._match_pieces(columns, counting=False, enough=enough)
        if self._latest > epoch:  # looked at now: something may have been deleted meanwhile
            for keys, _ in pieces:
                loops.now.keep_live(keys, self._deleted, self._since, epoch)
        return pieces

    def count(self, columns: EventBatch, *, enough: int) -> list[Runs]:
        """The same runs without keys; with what was deleted, since only keys tell."""
        return self._match_pieces(columns, counting=True, enough=enough)

    def _match_pieces(self, columns: EventBatch, *, counting: bool, enough: int) -> list[Runs]:
        """In pieces whose codes fit in memory."""
        width = len(self.axes) + self._other_tests.width + 1
        tests = self._other_tests
        most = max(min(_MOST_CODES // width, loops.now.most_events, tests.most_events), 1)
        found = []
        for start, piece in columns.chunks(most):
            texts = self._coder.texts_of(piece)
            hits, searched = tests.of_batch(piece, texts) if self.others else no_hits(len(piece))
            codes = self._coder.of_batch(piece, texts)
            asked = (*self.image, *codes, *hits, self._unmarked())
            keys, ends, doubtful, questions = loops.now.match_events(*asked, counting, enough)
            found.append(Runs(keys, with_starts(ends, start)))
            if len(doubtful):
                answers = tests.answers(hits, searched, questions)
                keys, ends = loops.now.match_doubtful(*asked, doubtful, answers)
                found.append(Runs(keys[:0] if counting else keys, with_starts(ends, start)))
        return found

    def match_one(self, event: Event, epoch: int) -> list[int]:
        """The keys of the clauses that one event matches, as of an epoch."""
        try:
            room = self._rooms.pop()
        except IndexError:  # others are asking, or nobody has yet
            room = self._room()
        codes, question = room.codes, room.question
        self._coder.write(event, codes)
        if codes.raw is not room.raw:  # its strings are longer than all before
            question = Question(question.arrays._replace(raw=codes.raw))
        if self._other_tests.has_others:
            question = question.give(self._other_tests.beside(event))
        count, doubts = loops.now.match_event(question, epoch)
        while count < 0:
            question = question.with_room()
            count, doubts = loops.now.match_event(question, epoch)
        if question is not room.question:
            room = _Room.of(codes, question)
        keys: list[int] = room.found[:count].tolist()
        if doubts:
            keys += self._doubtful(room, epoch)
        self._rooms.append(room)
        return keys

    def _room(self) -> _Room:
        """Room for one more event."""
        codes = self._coder.blank()
        arrays = (
            *(*self.image, self._deleted, self._since),
            *self._coder.pools(),
            *(*codes.numbers, codes.spots, codes.raw),
            *(*codes.arrays, *self._other_tests.room()),
            *(self._unmarked(), np.empty(_FOUND, np.int32)),
        )
        return _Room.of(codes, Question(QuestionArrays._make(arrays)))

    def _doubtful(self, room: _Room, epoch: int) -> list[int]:
        """What one event matches among the clauses that are in doubt; asked for once more."""
        arrays = room.question.arrays
        asked = (*self.image, *room.codes.arrays, *room.question.hits(), arrays.marks)
        _, _, doubtful, questions = loops.now.match_events(*asked, False, EVERY)
        answers = self._other_tests.answers_of_event(arrays, questions)
        keys, _ = loops.now.match_doubtful(*asked, doubtful, answers)
        loops.now.keep_live(keys, self._deleted, self._since, epoch)
        return keys[keys >= 0].tolist()  # type: ignore[no-any-return]

    def _unmarked(self) -> Array:
        """Room to mark the other tests that hold, and for how often it was used."""
        return np.zeros(len(self.others) + 1, np.int32)

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
            keys=keys[live],
            axes=self.axes,
            clause=np.repeat(np.arange(n, dtype=np.int32), width),
            axis=np.tile(axes[order].astype(np.int32), n),
            span_first=np.arange(n * width + 1),
            lo=lo.ravel(),
            hi=hi.ravel(),
            is_point=np.tile(points[order], n),
            others=self.others,
            other_clause=nothing,
            other=nothing,
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
        rows = np.arange(len(keys), dtype=np.int32)
        row = np.repeat(rows, np.diff(a.row_test_first))
        # By axis again, but for the tests of programs, which steps count.
        of_program = (a.test_flags & OF_PROGRAM) > 0
        within = np.where(of_program, np.arange(len(row)), a.test_axis)
        order = np.lexsort((within, of_program, row))
        spans = expand(a.test_span_first, order)
        return CodedTests(
            keys=keys,
            axes=self.axes,
            clause=row,
            axis=a.test_axis[order],
            span_first=offsets(np.diff(a.test_span_first)[order]),
            lo=a.span_lo[spans],
            hi=a.span_hi[spans],
            is_point=(a.test_flags[order] & IS_POINT) > 0,
            others=self.others,
            other_clause=np.repeat(rows, np.diff(a.row_other_first)),
            other=a.row_other,
            programs=Programs(
                np.flatnonzero(of_program[order]),
                np.repeat(rows, np.diff(a.row_step_first)),
                *(a.step_atom, a.step_then, a.step_otherwise),
                *(a.sign_row, a.sign, a.sign_atom),
            ),
        )


def _rows_repeat(a: SegmentArrays) -> bool:
    """Whether some row can be reached by more than one way: members of a set, atoms of a sign."""
    ways = (a.point_row, a.from_row, a.up_to_row, a.pattern_row, a.anyway)
    return sum(map(len, ways)) > len(a.row_test_first) - 1


def _axes_of_points(a: SegmentArrays, axes: int) -> set[int]:
    """The axes on which no test has a span other than single values."""
    ranged = [a.column_axis[a.column_is_point == 0], a.test_axis[(a.test_flags & IS_POINT) == 0]]
    return set(range(axes)).difference(*(each.tolist() for each in ranged))
