"""RareOutlines subscriptions in a file: those of rare outlines, in one flat table.

::

    keys          [ 7      | 9         ]
    clauses       [ 0      | 1       3 ]     where the clauses of each begin
    constraints   [ 0    2 | 3   4   6 ]     where the constraints of each clause begin
    slots         [ 4  1 | 0 | 4 | 2  2 ]    which of the distinct slots each constraint has
    operands      [ .. .. .. .. .. .. ]      64 bits each, constraint after constraint: an integer,
                                             a float, a truth value, microseconds, or a code of the
                                             distinct strings or objects, as the slot says
    looks         [ 0      | 1         ]     what the rests of each look like, if it has any: then
                                             their constraints follow, as further clauses

A million subscriptions of a million outlines (wide, sparse schemas) need no outline in the header.
They become Python objects all at once, when somebody looks at one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from predicast.arrays import Array, offsets
from predicast.engine.snapshot.layout import UNSIGNED, ArraysIn, ArraysOut, ascends, damaged
from predicast.engine.snapshot.operands import (
    SlotEntry,
    as_words,
    check_object,
    check_values,
    read_decimals,
    read_objects,
    read_outline,
    read_slot,
    write_looks,
    write_objects,
    write_slot,
)
from predicast.engine.snapshot.texts import (
    TextsEntry,
    check_codes,
    distinct,
    narrow,
    objects,
    read_texts,
    strings_of,
    write_texts,
)
from predicast.model.expression import leaves_of
from predicast.model.outline import OperandType, Slot, Stated
from predicast.model.values import from_microseconds

_TYPES: Final = list(OperandType)
_TEXTS: Final = frozenset({OperandType.STRING, OperandType.DECIMAL})  # decimals by their digits
_NUMBERS: Final = {each: number for number, each in enumerate(_TYPES)}


class Table(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The numbers of the arrays drawn above, and what codes stand for."""

    distinct: list[SlotEntry]
    keys: int
    clauses: int
    constraints: int
    slots: int
    operands: int
    strings: TextsEntry
    objects: TextsEntry
    looks: int | None = None
    distinct_looks: TextsEntry | None = None


def write_mixed(pairs: Iterable[tuple[int, Stated]], out: ArraysOut) -> Table:
    """Put what subscriptions state into a file, with their keys."""
    numbers: dict[Slot, int] = {}
    keys: list[int] = []
    clauses, constraints = [0], [0]
    slots: list[int] = []
    operands: list[Any] = []
    looks: list[str] = []
    for key, (outline, filling) in pairs:
        keys.append(key)
        rests = [tuple(leaves_of(rest)) for rest in outline.rests if rest is not None]
        looks.append(msgspec.json.encode(write_looks(outline)).decode() if rests else "")
        for clause in (*outline.clauses, *rests):
            slots += [numbers.setdefault(slot, len(numbers)) for slot in clause]
            constraints.append(len(slots))
        clauses.append(len(constraints) - 1)
        operands += filling
    codes = narrow(np.array(slots, np.int64), len(numbers))
    words, strings, texts = _write_operands(list(numbers), codes, operands)
    look_texts, look_codes = distinct(looks)
    return Table(
        [write_slot(slot) for slot in numbers],
        out.add(np.array(keys, np.int32)),
        out.add(np.array(clauses, np.int64)),
        out.add(np.array(constraints, np.int64)),
        out.add(codes),
        out.add(words),
        write_texts(strings, out),
        write_texts(texts, out),
        out.add(look_codes) if any(looks) else None,
        write_texts(look_texts, out) if any(looks) else None,
    )


def _write_operands(
    slots: Sequence[Slot], codes: Array, operands: Sequence[Any]
) -> tuple[Array, pa.Array, pa.Array]:
    """Operands as 64 bits each, and the strings and objects among them."""
    types, slot_of = _places(slots, codes)
    words = np.zeros(len(operands), np.int64)
    texts = pa.array([], pa.large_string())
    for number, type_ in enumerate(_TYPES):
        where = np.flatnonzero(types == number)
        some = [operands[position] for position in where.tolist()]
        if type_ in _TEXTS:
            continue
        if type_ is OperandType.OBJECT:
            operators = [slots[slot].operator for slot in slot_of[where].tolist()]
            texts, words[where] = write_objects(operators, some)
        else:
            words[where] = as_words(type_, some)
    where = np.flatnonzero(np.isin(types, [_NUMBERS[each] for each in _TEXTS]))
    strings, words[where] = distinct([str(operands[position]) for position in where.tolist()])
    return words, strings, texts


def _places(slots: Sequence[Slot], codes: Array) -> tuple[Array, Array]:
    """For each operand of constraints with these slots: the number of its type, and its slot."""
    counts = np.array([len(slot.operands) for slot in slots], np.int64)
    first = offsets(counts)
    types = np.array([_NUMBERS[each] for slot in slots for each in slot.operands], np.int8)
    slot_of = np.repeat(codes.astype(np.int64), counts[codes])
    before = np.cumsum(counts[codes]) - counts[codes]
    within = np.arange(len(slot_of)) - np.repeat(before, counts[codes])
    return types[first[slot_of] + within], slot_of


class RareOutlines:
    """The subscriptions of such a table, not looked at yet."""

    def __init__(self, table: Table, arrays: ArraysIn) -> None:
        self._slots = [read_slot(entry) for entry in table.distinct]
        self.keys = arrays.get(table.keys, "i4")
        self._clauses = arrays.get(table.clauses, "i8")
        self._constraints = arrays.get(table.constraints, "i8")
        self._codes = arrays.get(table.slots, *UNSIGNED)
        self._operands = arrays.get(table.operands, "i8")
        self._strings = read_texts(table.strings, arrays)
        self._objects = read_texts(table.objects, arrays)
        self._looks = self._read_looks(table, arrays)
        _check_firsts(self._clauses, len(self.keys), len(self._constraints) - 1)
        _check_firsts(self._constraints, len(self._constraints) - 1, len(self._codes))
        check_codes(self._codes, len(self._slots), "a constraint")
        self._check_operands()

    def _read_looks(self, table: Table, arrays: ArraysIn) -> tuple[Array, list[list[Any]]] | None:
        """Which of the looks each has, and what they are."""
        if table.looks is None or table.distinct_looks is None:
            return None
        codes = arrays.get(table.looks, *UNSIGNED)
        texts = read_texts(table.distinct_looks, arrays)
        check_codes(codes, len(texts), "a rest")
        if len(codes) != len(self.keys):
            raise damaged(f"has the rests of {len(codes)} of {len(self.keys)} subscriptions")
        try:
            looks = [msgspec.json.decode(text or "[]", type=list) for text in texts.to_pylist()]
        except (msgspec.DecodeError, RecursionError) as error:
            raise damaged(f"has a rest that cannot be read: {error}") from error
        return codes, looks

    def __len__(self) -> int:
        return len(self.keys)

    def attributes(self) -> frozenset[str]:
        """The names of all attributes that some of them looks at."""
        return frozenset(self._slots[code].attribute for code in np.unique(self._codes).tolist())

    def items(self) -> Iterator[tuple[int, Stated]]:
        """What each of them states, with its key."""
        return zip(self.keys.tolist(), self.stated(), strict=True)

    def stated(self) -> Iterator[Stated]:
        """What each of them states."""
        values = self._values()
        constraints = self._constraints.tolist()
        codes = self._codes.tolist()
        clauses = self._clauses.tolist()
        start = 0
        for number, (begin, stop) in enumerate(pairwise(clauses)):
            slots = [
                tuple([self._slots[code] for code in codes[first:end]])
                for first, end in _spans(constraints, begin, stop)
            ]
            looks = [] if self._looks is None else self._looks[1][self._looks[0][number]]
            own = len(looks) or len(slots)
            behind = [slot for rest in slots[own:] for slot in rest]
            outline = read_outline(tuple(slots[:own]), looks, behind)
            end = start + len(outline.places)
            yield Stated(outline, tuple(values[start:end]))
            start = end

    def _check_operands(self) -> None:
        types, _ = _places(self._slots, self._codes)
        if len(types) != len(self._operands):
            raise damaged(f"has {len(self._operands)} operands for {len(types)} places")
        for number, type_ in enumerate(_TYPES):
            words = self._operands[types == number]
            if type_ in _TEXTS:
                check_codes(words.view(np.uint64), len(self._strings), "an operand")
            elif type_ is OperandType.OBJECT:
                check_codes(words.view(np.uint64), len(self._objects), "an operand")
            elif type_ is OperandType.BOOLEAN:
                check_codes(words.view(np.uint64), 2, "a truth value")
            else:
                check_values(type_, _typed(type_, words))

    def _values(self) -> list[Any]:
        """All operands as Python values."""
        types, slot_of = _places(self._slots, self._codes)
        values = np.empty(len(types), object)
        for number, type_ in enumerate(_TYPES):
            where = np.flatnonzero(types == number)
            words = self._operands[where]
            if type_ is OperandType.STRING:
                values[where] = strings_of(self._strings)[words]
            elif type_ is OperandType.DECIMAL:
                values[where] = read_decimals(strings_of(self._strings)[words])
            elif type_ is OperandType.OBJECT:
                operators, operands = read_objects(self._objects)
                for slot, word in zip(slot_of[where].tolist(), words.tolist(), strict=True):
                    check_object(self._slots[slot], operators[word], operands[word])
                values[where] = operands[words]
            elif type_ is OperandType.TIMESTAMP:
                values[where] = objects([*map(from_microseconds, words.tolist())])
            else:
                values[where] = objects(_typed(type_, words).tolist())
        found: list[Any] = values.tolist()
        return found


def _typed(type_: OperandType, words: Array) -> Array:
    if type_ is OperandType.FLOAT:
        return words.view(np.float64)
    return words.astype(bool) if type_ is OperandType.BOOLEAN else words


def _spans(firsts: Sequence[int], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Where each of the things from ``begin`` to ``end`` starts and stops."""
    return zip(firsts[begin:end], firsts[begin + 1 : end + 1], strict=True)


def _check_firsts(firsts: Array, things: int, entries: int) -> None:
    """Refuse what does not say where the entries of each of so many things begin."""
    if (
        len(firsts) != things + 1
        or firsts[0] != 0
        or firsts[-1] != entries
        or not ascends(firsts, strictly=False)
    ):
        raise damaged("has clauses that begin nowhere")
