"""Segments as a file has them: a document, and arrays that are used where they lie.

::

    document   {"subscriptions": 1000000, "segments": [{
                 "data": 0, "directory": 1,                          the image (image.py)
                 "axes": [{"attribute": "price", "scale": 0,
                           "lower": [2, 3, 4], "upper": [5, 6, 7]},  cuts: whole, rest, side
                          {"attribute": "symbol", "scale": 3,
                           "lower": [8, 9], "upper": [10, 11]}],     cuts: firsts, bytes of words
                 "others": [["note", 0, false]]}]}                   attribute, clause, inverted
    arrays     0, 1, …
    clauses    the constraints of the other tests, which the engine knows how to write

The keys are the one part of an image that changes, so they are copied when the segment is stored
and the bytes around them are not. The key of a deleted clause is written as its complement.

What is checked is that all arrays lie where they should and are of the right type, that keys and
axes exist, and that words are proper strings. Beyond that the kernels trust what is in the arrays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from predicast.arrays import Array, Words
from predicast.errors import DamagedSnapshotError
from predicast.matching.columnar.compile.axes import WRITTEN, Axis, AxisName, Scale
from predicast.matching.columnar.compile.coded_tests import Other
from predicast.matching.columnar.compile.cuts import NumberCuts, TextCuts
from predicast.matching.columnar.layout.image import DTYPES, Image, SegmentArrays
from predicast.matching.columnar.segment import Segment
from predicast.matching.matcher import Stored
from predicast.model import Absent, Clause

_REVISION: Final = 3  # of what the arrays mean; count up when files of before no longer fit
_FIELDS: Final = [f"{name} {dtype.str}" for name, dtype in DTYPES._asdict().items()]
FORM: Final = f"columnar {_REVISION} {hashlib.sha256(' '.join(_FIELDS).encode()).hexdigest()[:8]}"


class _Axis(msgspec.Struct, forbid_unknown_fields=True):
    attribute: str
    scale: Scale
    lower: list[int]
    upper: list[int]


class _Other(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    attribute: str
    clause: int
    inverted: bool


class _Segment(msgspec.Struct, forbid_unknown_fields=True):
    data: int
    directory: int
    axes: list[_Axis]
    others: list[_Other]


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    subscriptions: int
    segments: list[_Segment]


# Storing.


def stored(segments: Sequence[Segment], epoch: int, subscriptions: int) -> Stored:
    """Segments as they were at an epoch; later changes do not touch what is returned."""
    arrays: list[tuple[Array, ...]] = []
    clauses: list[Clause] = []
    written = [_write_segment(segment, epoch, arrays, clauses) for segment in segments]
    document = msgspec.json.encode(_Document(subscriptions, written))
    return Stored(FORM, document, arrays, clauses)


def _write_segment(
    segment: Segment, epoch: int, arrays: list[tuple[Array, ...]], clauses: list[Clause]
) -> _Segment:
    data, directory = segment.image
    entry = 2 * SegmentArrays._fields.index("keys")
    begin, end = directory[entry : entry + 2]
    image = len(arrays)
    keys = segment.keys_at(epoch).view(np.uint8)
    arrays += [(data[:begin], keys, data[end:]), (directory,)]
    axes = [
        _Axis(*axis.name, _write_cuts(axis.lower, arrays), _write_cuts(axis.upper, arrays))
        for axis in segment.axes
    ]
    others = []
    for other in segment.others:
        others.append(_Other(other.attribute, len(clauses), other.inverted))
        clauses.append(Clause(other.constraints, other.rest))
    return _Segment(image, image + 1, axes, others)


def _write_cuts(cuts: NumberCuts | TextCuts | None, arrays: list[tuple[Array, ...]]) -> list[int]:
    """The numbers of the arrays of cuts."""
    if cuts is None:
        return []
    made: list[Array]
    if isinstance(cuts, NumberCuts):
        made = [cuts.whole, cuts.rest, cuts.side]
    else:
        made = [cuts.words.first - cuts.words.first[0], cuts.words.text()]
    arrays += [(each,) for each in made]
    return list(range(len(arrays) - len(made), len(arrays)))


# Restoring.


def restored(structure: Stored, absent: Absent, bound: int) -> tuple[list[Segment], int]:
    """The segments, all of whose keys are below the bound; and how many subscriptions they hold."""
    try:
        document = msgspec.json.decode(structure.document, type=_Document)
    except msgspec.DecodeError as error:
        raise _damaged(f"cannot be read: {error}") from error
    restoring = _Restoring(structure, absent, bound)
    return [restoring.segment(each) for each in document.segments], document.subscriptions


class _Restoring:
    """Makes segments of what was stored."""

    def __init__(self, structure: Stored, absent: Absent, bound: int) -> None:
        self._structure = structure
        self._absent: Absent = absent
        self._bound = bound

    def segment(self, written: _Segment) -> Segment:
        """One segment."""
        axes = [self._axis(each) for each in written.axes]
        others = [self._other(each) for each in written.others]
        data = self._array(written.data, "u1")
        directory = self._array(written.directory, "i8")
        _check_directory(directory, len(data))
        _check_arrays(Image(data, directory), len(axes), len(others), self._bound)
        return Segment(axes, others, Image(data, directory), self._absent)

    def _array(self, number: int, type_: str) -> Array:
        arrays = self._structure.arrays
        if not 0 <= number < len(arrays) or arrays[number][0].dtype != np.dtype(type_):
            raise _damaged(f"has no array {number} of type {type_}")
        return arrays[number][0]

    def _axis(self, written: _Axis) -> Axis:
        name = AxisName(written.attribute, written.scale)
        if name.is_flag():
            if written.lower or written.upper:
                raise _damaged("has cuts on an axis without any")
            return Axis(name, None, None)
        cuts = self._text_cuts if written.scale in WRITTEN else self._number_cuts
        return Axis(name, cuts(written.lower), cuts(written.upper))

    def _number_cuts(self, numbers: list[int]) -> NumberCuts:
        if len(numbers) != 3:
            raise _damaged(f"has cuts of {len(numbers)} arrays, not 3")
        parts = [self._array(*each) for each in zip(numbers, ("i8", "f8", "i1"), strict=True)]
        if len({len(part) for part in parts}) != 1:
            raise _damaged("has cuts of different lengths")
        return NumberCuts(*parts)

    def _text_cuts(self, numbers: list[int]) -> TextCuts:
        import pyarrow as pa

        if len(numbers) != 2:
            raise _damaged(f"has words of {len(numbers)} arrays, not 2")
        first, raw = self._array(numbers[0], "i8"), self._array(numbers[1], "u1")
        if not len(first):
            raise _damaged("has words that begin nowhere")
        try:
            pa.LargeStringArray.from_buffers(
                len(first) - 1, pa.py_buffer(first), pa.py_buffer(raw)
            ).validate(full=True)
        except pa.ArrowInvalid as error:
            raise _damaged(f"has words that are none: {error}") from error
        return TextCuts(Words(first, raw))

    def _other(self, written: _Other) -> Other:
        clauses = self._structure.clauses
        if not 0 <= written.clause < len(clauses):
            raise _damaged(f"has no clause {written.clause}")
        clause = clauses[written.clause]
        return Other(written.attribute, clause.constraints, written.inverted, clause.rest)


def _check_directory(directory: Array, size: int) -> None:
    """Refuse a directory unless all arrays lie one behind the other, inside the image."""
    if len(directory) != 2 * len(DTYPES):
        raise _damaged(f"has a directory of {len(directory)} entries, not {2 * len(DTYPES)}")
    before = 0
    for name, begin, end, dtype in zip(
        SegmentArrays._fields,
        directory[::2].tolist(),
        directory[1::2].tolist(),
        DTYPES,
        strict=True,
    ):
        if not before <= begin <= end <= size or begin % 8 or (end - begin) % dtype.itemsize:
            raise _damaged(f"has {name} at no place for it")
        before = end


def _check_arrays(image: Image, axes: int, others: int, bound: int) -> None:
    """Refuse numbers of things that do not exist."""

    def check(name: str, below: int, lowest: int = 0) -> None:
        field = SegmentArrays._fields.index(name)
        begin, end = image.directory[2 * field : 2 * field + 2]
        values = image.data[begin:end].view(DTYPES[field])
        if len(values) and (int(values.min()) < lowest or int(values.max()) >= below):
            raise _damaged(f"has {name} out of range")

    entry = 2 * SegmentArrays._fields.index("keys")
    keys = (image.directory[entry + 1] - image.directory[entry]) // DTYPES.keys.itemsize
    check("keys", bound, int(np.iinfo(np.int32).min))  # deleted ones may be of any time
    check("by_key", int(keys))
    for name in ("access_axis", "column_axis", "test_axis"):
        check(name, axes)
    check("row_other", others)
    tests = int(image.directory[2 * SegmentArrays._fields.index("test_axis") + 1])
    for name in ("step_atom", "sign_atom"):
        check(name, tests, -others)


def _damaged(why: str) -> DamagedSnapshotError:
    return DamagedSnapshotError(f"the snapshot's columnar structure {why}")
