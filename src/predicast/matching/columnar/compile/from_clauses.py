"""Coded tests of clauses, one by one: whatever the language can express."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np

from predicast.arrays import Array, offsets, places_of_each
from predicast.matching.columnar.compile.axes import WRITTEN, Axis, AxisName, Scale
from predicast.matching.columnar.compile.clause_tests import ClauseTests, Trees, compiled_tests
from predicast.matching.columnar.compile.coded_tests import CodedTests, Other
from predicast.matching.columnar.compile.cuts import NumberCuts, TextCuts, split_all, spread
from predicast.matching.columnar.compile.frequency import pattern_share
from predicast.matching.columnar.compile.programs import Programs
from predicast.matching.columnar.compile.trees import Atom, Coded, Tree, signs_of, steps_of
from predicast.model import Absent, Clause
from predicast.model.spans import Span

_Cut = tuple[Any, int] | None  # a value and a side; None is unbounded

# The part of all events that may have one value, or one in a range.
_POINT: Final = 0.01
_RANGE: Final = 0.5


def coded_clauses(clauses: Iterable[tuple[int, Clause]], absent: Absent) -> CodedTests:
    """The tests of clauses under their keys; those that nothing can match are left out."""
    known: Trees = {}
    keys, kept = [], []
    for key, clause in clauses:
        tests = compiled_tests(clause, absent, known)
        if tests is not None:
            keys.append(key)
            kept.append(tests)
    return coded(keys, kept)


def coded(keys: Sequence[int], clauses: Sequence[ClauseTests]) -> CodedTests:
    """Rank the ends of all spans and write the tests as codes."""
    musts = [sorted(_tests(each), key=lambda test: test.axis) for each in clauses]
    programs = [None if each.program is None else _Program(each.program) for each in clauses]
    tests = [
        must + ([] if program is None else program.tests)
        for must, program in zip(musts, programs, strict=True)
    ]
    flat = list(chain.from_iterable(tests))
    names = sorted({test.axis for test in flat})
    number = {name: place for place, name in enumerate(names)}
    axis = np.array([number[test.axis] for test in flat], np.int32)
    sizes = np.array([len(test.spans) for test in flat], np.int64)
    spans = [span for test in flat for span in test.spans]
    span_axis = np.repeat(axis, sizes)
    lo, hi = np.empty(len(spans), np.int32), np.empty(len(spans), np.int32)
    axes = []
    for place, here in places_of_each(span_axis):
        mine = [spans[index] for index in here.tolist()]
        ranked, lo[here], hi[here] = _ranked(names[place], mine)
        axes.append(ranked)
    others: dict[Other, int] = {}
    other = [others.setdefault(o, len(others)) for each in clauses for o in each.others]
    return CodedTests(
        keys=np.array(keys, np.int32),
        axes=axes,
        clause=np.repeat(np.arange(len(clauses), dtype=np.int32), [len(each) for each in tests]),
        axis=axis,
        span_first=offsets(sizes),
        lo=lo,
        hi=hi,
        is_point=np.array([*map(_is_point, flat)], bool),
        programs=_programs(programs, [*map(len, musts)], others),
        others=list(others),
        other_clause=np.repeat(
            np.arange(len(clauses), dtype=np.int32), [len(each.others) for each in clauses]
        ),
        other=np.array(other, np.int32),
    )


def _tests(clause: ClauseTests) -> Iterable[Coded]:
    for name, span in clause.ranges:
        yield Coded(name, (span,))
    for name, spans in clause.sets:
        yield Coded(name, spans)


class _Program:
    """The steps and signs of one clause, and the tests that they look at."""

    def __init__(self, tree: Tree) -> None:
        self.steps = steps_of(tree)
        self.signs = signs_of(tree, _share)
        self.tests = list(dict.fromkeys(s.atom for s in self.steps if isinstance(s.atom, Coded)))


def _programs(
    programs: Sequence[_Program | None], musts: Sequence[int], others: dict[Other, int]
) -> Programs:
    """All programs; the other tests that they look at are added to the others."""
    tests: list[int] = []
    steps: list[tuple[int, ...]] = []
    signs: list[tuple[int, int, int]] = []
    before = 0
    for clause, (program, must) in enumerate(zip(programs, musts, strict=True)):
        before += must
        if program is None:
            continue
        atoms: dict[Atom, int] = {test: place for place, test in enumerate(program.tests, must)}
        for atom, *_ in program.steps:
            if isinstance(atom, Other):
                atoms[atom] = ~others.setdefault(atom, len(others))
        steps += [(clause, atoms[atom], *ways) for atom, *ways in program.steps]
        for number, sign in enumerate(program.signs):
            signs += [(clause, number, atoms[atom]) for atom in sign]
        tests += range(before, before + len(program.tests))
        before += len(program.tests)
    return Programs(
        np.array(tests, np.int64),
        *np.array(steps, np.int32).reshape(-1, 4).T.copy(),
        *np.array(signs, np.int32).reshape(-1, 3).T.copy(),
    )


def _share(atom: Atom) -> float:
    """How often an atom may hold, so far as one clause can tell."""
    if isinstance(atom, Coded):
        return len(atom.spans) * _POINT if _is_point(atom) else _RANGE
    return sum(map(pattern_share, atom.patterns())) or _RANGE


def _is_point(test: Coded) -> bool:
    """Whether all of a test's spans are single values."""
    if test.axis.is_flag():
        return False
    has_next = test.axis.scale in {Scale.TIMESTAMP, Scale.BOOLEAN}
    return all(isinstance(span, Span) and _is_value(span, has_next) for span in test.spans)


def _is_value(span: Span, has_next: bool) -> bool:
    if span.lo is None or span.hi is None:
        return False
    if isinstance(span.lo, str):
        return bool(span.hi == span.lo + "\0")
    if has_next:
        return bool(span.hi == span.lo + 1)
    return bool(span.lo == span.hi)


def _ranked(name: AxisName, spans: Sequence[Any]) -> tuple[Axis, Array, Array]:
    if name.is_flag():
        codes = np.array(spans, np.int32).reshape(-1, 2)
        return Axis(name, None, None), codes[:, 0], codes[:, 1]
    lower: list[_Cut] = [None if s.lo is None else (s.lo, int(s.lo_open)) for s in spans]
    upper: list[_Cut] = [None if s.hi is None else (s.hi, int(not s.hi_open)) for s in spans]
    rank = _rank_text if name.scale in WRITTEN else _rank_numbers
    lower_cuts, lower_position = rank(lower)
    upper_cuts, upper_position = rank(upper)
    axis = Axis(name, lower_cuts, upper_cuts)
    return axis, *axis.codes(lower_position, upper_position)


def _rank_numbers(cuts: list[_Cut]) -> tuple[NumberCuts, Array]:
    bounded = [cut for cut in cuts if cut is not None]
    whole, rest = split_all([value for value, _ in bounded])
    ranked, position = NumberCuts.rank(whole, rest, np.array([s for _, s in bounded], np.int8))
    return ranked, spread(position, np.array([cut is not None for cut in cuts], bool))


def _rank_text(cuts: list[_Cut]) -> tuple[TextCuts, Array]:
    return TextCuts.rank([None if cut is None else cut[0] for cut in cuts])
