"""The plain loops and the compiled ones: the same answers to the same arrays."""

from typing import Any

import numpy as np
import pytest

from predicast.matching.columnar import loops
from predicast.matching.columnar.bounds_blocks import FIRST, BoundsBlocks
from predicast.matching.columnar.bounds_table import BoundsTable
from predicast.matching.columnar.compile.axes import Axis, AxisName, Scale
from predicast.matching.columnar.compile.cuts import NumberCuts
from predicast.matching.columnar.compile.from_bounds import coded_subscriptions
from predicast.matching.columnar.compile.uniting import merged
from predicast.matching.columnar.kernels import entries
from predicast.matching.columnar.layout.blocks import Layout
from predicast.matching.columnar.layout.question import Question
from predicast.matching.columnar.number_axes import pool_of
from predicast.matching.columnar.reserved import LANES, NOT_THERE, UNREACHABLE
from predicast.matching.columnar.segment import EVERY, Segment
from predicast.model import Clause, Constraint, Operator, Subscription
from predicast.model.values import INT_MAX, INT_MIN
from tests.unit.matching.columnar.questions import blank_question

BOTH = (loops.PLAIN, entries.COMPILED)
SEEDS = pytest.mark.parametrize("seed", range(8))


def test_the_suite_runs_on_the_compiled_ones() -> None:
    assert loops.now is entries.COMPILED


def by_event(keys: np.ndarray, ends: np.ndarray) -> dict[int, list[int]]:
    """The keys of each event, in order."""
    found: dict[int, list[int]] = {}
    begin = 0
    for event, end in ends.tolist():
        assert end > begin
        found.setdefault(event, []).extend(keys[begin:end].tolist())
        begin = end
    assert begin == len(keys)
    return {event: sorted(keys) for event, keys in found.items()}


@SEEDS
@pytest.mark.parametrize("kind", ["integers", "floats", "table"])
@pytest.mark.parametrize("spread", [False, True])
def test_coding(seed: int, kind: str, spread: bool) -> None:
    chance = np.random.default_rng(seed)
    rows = np.flatnonzero(chance.random(60) < 0.7) if spread else np.zeros(0, np.int64)
    values: Any = chance.integers(-20, 40, len(rows) if spread else 60)
    cuts = np.sort(chance.permutation(np.arange(-10, 30))[:12])
    item = np.float64 if kind == "floats" else np.int64
    made = []
    for each in BOTH:
        codes = np.full((60, 3), -1, np.int32)
        if kind == "table":
            table = np.arange(25, dtype=np.int32)
            each.code_by_table(table, 3, values, rows, codes[:, 1])
        else:
            each.code_by_search(cuts.astype(item), values.astype(item), rows, codes[:, 1])
        made.append(codes)
    assert (made[0] == made[1]).all()
    assert (made[0][:, [0, 2]] == -1).all()


def cuts_of(chance: np.random.Generator) -> NumberCuts:
    """Cuts of numbers: dense ones, which have a table, ones that are far apart, or none."""
    count, width = chance.choice([0, 3, 40, 60]), chance.choice([30, 10_000])
    whole = np.sort(chance.integers(-width, width, count))
    rest = np.where(whole > 0, chance.choice([0.0, 0.5], count), 0.0)
    return NumberCuts.rank(whole, rest, chance.integers(0, 2, count).astype(np.int8))[0]


@SEEDS
def test_coding_columns(seed: int) -> None:
    chance = np.random.default_rng(seed)
    names = [AxisName(f"a{number}", Scale.NUMBER) for number in range(5)]
    axes = [Axis(name, cuts_of(chance), cuts_of(chance)) for name in names]
    wholes, reals = chance.integers(-60, 60, (3, 30)), chance.uniform(-60, 60, (2, 30)).round(1)
    wholes[0, :2] = INT_MIN, INT_MAX
    of_wholes = np.array([(2, 0, 1), (0, 1, 3), (4, 2, 6), (1, 0, 0)])
    of_reals = np.array([(3, 1, 2), (2, 0, 4)])
    made = []
    for each in BOTH:
        low, high = np.full((30, 8), -1, np.int32), np.full((30, 8), -1, np.int32)
        wide = np.ones((30, 8), bool)
        each.code_columns(*pool_of(axes), wholes, of_wholes, reals, of_reals, low, high, wide)
        made.append((low, high, wide))
    for plain, compiled in zip(*made, strict=True):
        assert (plain == compiled).all()
    low, high, wide = made[0]
    for values, wanted in ((wholes, of_wholes), (reals, of_reals)):
        for axis, row, column in wanted.tolist():
            numbers = values[row].tolist()
            assert low[:, column].tolist() == [*map(axes[axis].lower.code, numbers)]
            assert high[:, column].tolist() == [*map(axes[axis].upper.code, numbers)]
            assert not wide[:, column].any()
    assert (low[:, [5, 7]] == -1).all()
    assert wide[:, [5, 7]].all()


@SEEDS
@pytest.mark.parametrize("absent_passes", [False, True])
@pytest.mark.parametrize("events", [1, 20, 200])
@pytest.mark.parametrize("waiting", [25, 3 * FIRST + 7])
def test_bounds(seed: int, absent_passes: bool, events: int, waiting: int) -> None:
    chance = np.random.default_rng(seed)
    clauses = waiting + 5  # there is room for more
    table = BoundsTable((clauses, clauses, 4 * clauses))
    keys, since, gone, row, ends, shape, column, lo, hi = table.arrays
    keys[:] = np.arange(clauses)
    since[:] = np.sort(chance.choice(np.array([1, 3, 4, 5]), clauses, p=(0.7, 0.1, 0.1, 0.1)))
    gone[:] = chance.choice(np.array([3, 4, 5, EVERY]), clauses)
    row[:] = np.sort(chance.integers(0, clauses, clauses))
    shape[:] = chance.choice(12, clauses, p=np.append([0.34], np.full(11, 0.06)))
    ends[:] = np.cumsum(shape % 4)
    begin = np.append(0, ends[:-1])
    for test in range(3):
        of_them = np.flatnonzero(shape % 4 > test)
        column[begin[of_them] + test] = (shape[of_them] + 2 * test) % 6
    lo[:] = chance.integers(0, 10, len(column))
    hi[:] = lo + 3 * (column > 2)
    room = 1 if events == 1 else -(-events // LANES) * LANES
    moved = np.array([4, 0, 2, 3, 1, 4], np.int32)
    values = chance.integers(0, 12, (5, room)).astype(float)
    says = chance.choice(["a value", "a value", "nothing", "another kind"], (5, room))
    values[says != "a value"] = np.nan
    passing = (says == "nothing") & absent_passes
    bits = np.zeros((5, -(-room // LANES) * LANES), bool)
    bits[:, :room] = passing
    passes = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    blocks = BoundsBlocks().with_more(table, waiting)
    assert blocks.clauses == waiting // FIRST * FIRST
    asked = moved, values, passes, events, 4
    none = BoundsBlocks()
    plain, compiled, unordered = (
        by_event(*each.match_bounds(*table.arrays, some.clauses, waiting, *some.arrays, *asked))
        for each, some in ((BOTH[0], blocks), (BOTH[1], blocks), (BOTH[0], none))
    )
    assert plain == compiled == unordered
    assert plain


@SEEDS
@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize("limit", [2, EVERY])
@pytest.mark.parametrize("once", [False, True])
def test_gathering(seed: int, is_plain: bool, limit: int, once: bool) -> None:
    chance = np.random.default_rng(seed)
    keys = chance.integers(0 if is_plain else -5, 20, 100).astype(np.int32)
    ends = np.sort(chance.integers(0, 101, 30))
    runs = np.empty((30, 3), np.int64)
    runs[:, 0], runs[:, 1], runs[:, 2] = chance.integers(0, 9, 30), np.append(0, ends[:-1]), ends
    plain, compiled = (
        each.gather(keys, runs[:20], keys, runs[20:], 10, is_plain, limit, 20 if once else -1)
        for each in BOTH
    )
    for one, other in zip(plain, compiled, strict=True):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


@SEEDS
def test_deleting(seed: int) -> None:
    chance = np.random.default_rng(seed)
    owners = np.sort(chance.integers(0, 40, 50)).astype(np.int32)
    by_key = chance.permutation(50).astype(np.int32)
    held = np.empty(50, np.int32)
    held[by_key] = owners
    outcomes: list[tuple[np.ndarray, ...]] = []
    for each in BOTH:
        keys, deleted = held.copy(), np.zeros(50, np.int32)
        since, count = np.zeros(50, np.int64), np.zeros(1, np.int64)
        again = np.random.default_rng(seed)
        lefts: list[int] = []
        for epoch in (3, 4):
            # Some were deleted before, some are wanted twice, some are nobody.
            wanted = np.sort(again.integers(0, 45, 16))
            epochs = np.arange(len(wanted)) % 2 + epoch
            left = each.mark_deleted(keys, by_key, wanted, epochs, deleted, since, count)
            lefts += [*wanted[:left].tolist(), *epochs[:left].tolist()]
        found = keys[chance.permutation(50)[:30]] if each is BOTH[0] else outcomes[0][-1].copy()
        listed = found.copy()
        each.keep_live(listed, deleted, since, 3)
        outcomes.append((keys, deleted, since, count, listed, np.array(lefts), found))
    for one, other in zip(*outcomes, strict=True):
        assert one.tolist() == other.tolist()
    assert outcomes[0][3][0] > 0
    assert {-1} < set(outcomes[0][4].tolist())


@SEEDS
def test_numbers_of_one_event(seed: int) -> None:
    chance = np.random.default_rng(seed)
    names = [AxisName(f"a{number}", Scale.NUMBER) for number in range(9)]
    pool = pool_of([Axis(name, cuts_of(chance), cuts_of(chance)) for name in names])
    said = chance.integers(0, 3, 9).astype(np.uint8)
    wholes, reals = chance.integers(-60, 60, 9), chance.random(9) * 60 - 5
    outcomes = []
    for each in BOTH:
        asked = blank_question(9)._replace(**pool._asdict())
        asked = asked._replace(wholes=wholes, reals=reals, said=said.copy())
        asked.low[:], asked.high[:] = 7, 8
        assert each.match_event(Question(asked), -1) == (0, 0)
        assert not asked.said.any()
        assert ((asked.low[0] == 7) | (said > 0)).all()
        outcomes.append((asked.low.tolist(), asked.high.tolist()))
    assert outcomes[0] == outcomes[1]


def some_clause(chance: np.random.Generator) -> Clause:
    tests = [
        Constraint("k", Operator.EQ, int(chance.integers(6))),
        Constraint("x", Operator.GE, int(chance.integers(40))),
        Constraint("y", Operator.LT, int(chance.integers(3, 40))),
        Constraint("z", Operator.IN, tuple({int(n) for n in chance.integers(0, 30, 4)})),
        Constraint("text", Operator.CONTAINS, str(chance.choice(["a", "b", "ab"]))),
    ]
    usual = chance.random() < 0.7
    chosen = range(3) if usual else chance.permutation(5)[: chance.integers(1, 5)]
    return Clause(tuple(tests[place] for place in chosen))


LAYOUTS = [Layout(), Layout(block=64), Layout(block=2, reached=0, family=0, partition=0)]


@SEEDS
@pytest.mark.parametrize("layout", LAYOUTS, ids=["usual", "small blocks", "all blocks"])
@pytest.mark.parametrize("counting", [False, True])
def test_events(seed: int, layout: Layout, counting: bool) -> None:
    """Codes that no event would have, too: whatever they are, the answers are the same."""
    chance = np.random.default_rng(seed)
    clauses = [Subscription((some_clause(chance),)) for _ in range(700)]
    segment = Segment.of(merged(coded_subscriptions(enumerate(clauses), "fails")), "fails", layout)
    assert len(segment.arrays.width)
    shape = (30, len(segment.axes) + 2)
    low = chance.integers(0, 42, shape).astype(np.int32)
    high = np.maximum(low - chance.integers(0, 2, shape).astype(np.int32), 0)
    wide = chance.random(shape) < 0.1
    low[wide], high[wide] = UNREACHABLE, 0
    fails = chance.random(shape) < 0.05
    low[fails], high[fails], wide[fails] = 0, UNREACHABLE, False
    marked = chance.random((30, len(segment.others))) < 0.3
    # Two columns of words, one for the tests of even numbers and one for the others.
    of_column = np.arange(len(segment.others)) % 2 == np.array([[0], [1]])
    words = (marked[None] & of_column[:, None]).reshape(60, -1)
    word_first = np.append(0, np.cumsum(words.sum(axis=1)))
    word_test = words.nonzero()[1].astype(np.int32)
    event_word = np.arange(60, dtype=np.int32).reshape(2, 30).T.copy()
    event_word[chance.random((30, 2)) < 0.2] = -1
    word_test = np.where(chance.random(len(word_test)) < 0.3, ~word_test, word_test)
    everywhere = np.where(chance.random(2) < 0.7, ~np.arange(2), np.arange(2)).astype(np.int32)
    hits = (event_word, word_first, word_test, np.arange(3), everywhere)
    # The first two columns are of what no event has, and some axes are among that.
    low[:, :2], high[:, :2], wide[:, :2] = 0, (0, UNREACHABLE), False
    column = np.arange(len(segment.axes), dtype=np.int32) + 2
    column[chance.random(len(column)) < 0.1] = NOT_THERE
    arguments = (*segment.image, low, high, wide, column, *hits)
    (keys, ends, *doubts), (right_keys, right_ends, *right_doubts) = (
        each.match_events(*arguments, unmarked(segment), counting, EVERY) for each in BOTH
    )
    if not counting:
        assert by_event(keys, ends) == by_event(right_keys, right_ends)
        assert_the_same_one_by_one(segment, arguments[2:], by_event(right_keys, right_ends))
    assert counts(ends) == counts(right_ends)
    assert len(ends)
    assert_the_same_in_doubt(segment, arguments, doubts, right_doubts, chance)


def assert_the_same_in_doubt(
    segment: Segment,
    arguments: tuple[np.ndarray, ...],
    doubts: list[np.ndarray],
    right: list[np.ndarray],
    chance: np.random.Generator,
) -> None:
    doubtful, questions = doubts
    assert sorted(doubtful.tolist()) == sorted(right[0].tolist())
    assert {*questions.tolist()} == {*right[1].tolist()}
    assert len(doubtful)
    asked = np.unique(questions)
    answers = asked[chance.random(len(asked)) < 0.5]
    (keys, ends), (right_keys, right_ends) = (
        each.match_doubtful(*arguments, unmarked(segment), doubtful, answers) for each in BOTH
    )
    assert by_event(keys, ends) == by_event(right_keys, right_ends)
    assert 0 < len(keys) < len(doubtful)


def assert_the_same_one_by_one(
    segment: Segment, arguments: tuple[np.ndarray, ...], right: dict[int, list[int]]
) -> None:
    low, high, wide, column, event_word, word_first, word_test, column_first, column_test = (
        arguments
    )
    data, directory = segment.image
    marks = unmarked(segment)
    marks[-1] = 2**31 - 5  # after a few events, turns begin again
    asked = blank_question(0)._replace(data=data, directory=directory, column=column, marks=marks)
    for event in range(len(low)):
        codes = [each[event : event + 1].copy() for each in (low, high, wide)]
        tests = [
            test
            for number, word in enumerate(event_word[event].tolist())
            if word >= 0
            for test in (
                *word_test[word_first[word] : word_first[word + 1]].tolist(),
                *column_test[column_first[number] : column_first[number + 1]].tolist(),
            )
        ]
        for each in BOTH:
            found = np.empty(3_000, np.int32)
            coded = asked._replace(low=codes[0], high=codes[1], wide=codes[2], found=found)
            count, _ = each.match_event(Question(coded).give(tests), 0)
            assert sorted(found[:count].tolist()) == sorted(right.get(event, []))


def unmarked(segment: Segment) -> np.ndarray:
    return np.zeros(len(segment.others) + 1, np.int32)


def counts(ends: np.ndarray) -> dict[int, int]:
    found: dict[int, int] = {}
    before = 0
    for event, end in ends.tolist():
        found[event] = found.get(event, 0) + end - before
        before = end
    return found


def test_a_type_that_was_not_foreseen_is_refused_and_not_compiled() -> None:
    with pytest.raises(TypeError, match="No matching definition"):
        entries.COMPILED.code_by_search(*(np.zeros(4, np.int8) for _ in range(4)))
