"""Whatever a clause can say: compiled, laid out and merged, it matches what it states."""

import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.columnar.compile.axes import AxisName, Scale
from predicast.matching.columnar.compile.coded_tests import CodedTests, Other
from predicast.matching.columnar.compile.from_clauses import coded_clauses
from predicast.matching.columnar.compile.trees import (
    Coded,
    Every,
    Some,
    Tree,
    atoms_of,
    signs_of,
    steps_of,
)
from predicast.matching.columnar.compile.uniting import merged
from predicast.matching.columnar.layout.blocks import Layout
from predicast.matching.columnar.reserved import HOLDS
from predicast.matching.columnar.segment import EVERY, Segment
from predicast.model import (
    Absent,
    And,
    Clause,
    Constraint,
    Event,
    Expression,
    Interval,
    Leaf,
    Operator,
    Or,
)
from predicast.model.spans import Span
from tests.thorough import LONG

SEEDS = pytest.mark.parametrize("seed", range(60 if LONG else 2))
WORDS = ("", "a", "ab", "abc", "b", "ba", "cab", "bcc", "a.exe", "b.exe", "abcabc", "é", "日本")
PATTERNS = (
    *(Operator.EQ, Operator.PREFIX, Operator.SUFFIX, Operator.CONTAINS),
    *(Operator.NE, Operator.NOT_PREFIX, Operator.NOT_SUFFIX, Operator.NOT_CONTAINS),
)
NAMES = ("s", "t", "x", "y")


def some_constraint(chance: random.Random, name: str) -> Constraint:
    kind = chance.random()
    if kind < 0.1:
        return Constraint(name, chance.choice([Operator.EXISTS, Operator.ABSENT]))
    if name in {"s", "t"} or kind < 0.2:
        word = chance.choice(WORDS)
        if kind < 0.3:
            return Constraint(name, Operator.IN, tuple(chance.sample(WORDS, 3)))
        if kind < 0.4:
            operator = chance.choice([Operator.LIKE, Operator.NOT_LIKE])
            return Constraint(
                name, operator, chance.choice(["%b_", "a%c", "%a%b%", "_", "%", word])
            )
        if kind < 0.5:
            operator = chance.choice([Operator.MATCHES, Operator.NOT_MATCHES])
            return Constraint(name, operator, chance.choice(["b+", "^a", "[ab]c", "exe$"]))
        return Constraint(name, chance.choice(PATTERNS), word)
    number: int | float = chance.choice([chance.randrange(8), chance.randrange(8) + 0.5])
    if kind < 0.4:
        return Constraint(name, Operator.BETWEEN, (number, number + chance.choice([0, 0.25, 2])))
    order = (Operator.EQ, Operator.NE, Operator.LT, Operator.GE, Operator.GT, Operator.LE)
    return Constraint(name, chance.choice(order), number)


def some_condition(chance: random.Random, name: str, depth: int) -> Constraint:
    if depth == 0 or chance.random() < 0.4:
        return some_constraint(chance, name)
    parts = [some_condition(chance, name, depth - 1) for _ in range(chance.randint(1, 4))]
    return Constraint(name, chance.choice([Operator.ANY, Operator.ALL]), tuple(parts))


def some_rest(chance: random.Random, depth: int) -> Expression:
    if depth == 0 or chance.random() < 0.3:
        return Leaf(some_condition(chance, chance.choice(NAMES), 1))
    parts = tuple(some_rest(chance, depth - 1) for _ in range(chance.randint(2, 4)))
    return Or(parts) if chance.random() < 0.6 else And(parts)


def some_clause(chance: random.Random) -> Clause:
    names = chance.sample(NAMES, chance.randint(0, 2))
    rest = some_rest(chance, 3) if chance.random() < 0.6 or not names else None
    return Clause(tuple(some_condition(chance, name, 2) for name in names), rest)


def some_event(chance: random.Random, *, regions: bool) -> Event:
    said: dict[str, object] = {}
    for name in NAMES:
        kind = chance.random()
        if kind < 0.2:
            continue
        if name in {"s", "t"}:
            said[name] = chance.choice(WORDS) if kind < 0.9 else 3
        elif regions and kind < 0.6:
            low = chance.choice([chance.randrange(8), chance.randrange(8) + 0.25])
            open_ends = chance.random() < 0.5, chance.random() < 0.5
            said[name] = Interval(low, low + chance.choice([2, 1.5, 3]), *open_ends)
        else:
            said[name] = chance.choice([chance.randrange(9), 2.5, 3.25, "a"])
    return Event(said)


def table_of(clauses: Sequence[Clause], absent: Absent, first: int = 0) -> CodedTests:
    return coded_clauses(enumerate(clauses, first), absent)


def assert_answers(
    segment: Segment, clauses: dict[int, Clause], events: Sequence[Event], absent: Absent
) -> None:
    right = [
        {key for key, clause in clauses.items() if clause.matches(event, absent)}
        for event in events
    ]
    assert any(right)
    assert [set(segment.match_one(event, 0)) for event in events] == right
    found: list[set[int]] = [set() for _ in events]
    for keys, runs in segment.match(EventBatch.from_events(events), 0, enough=EVERY):
        for event, begin, end in runs.tolist():
            found[event] |= set(keys[begin:end].tolist())
    assert found == right


@SEEDS
@pytest.mark.parametrize("absent", ["fails", "passes"])
@pytest.mark.parametrize("regions", [False, True])
@pytest.mark.usefixtures("both_loops")
def test_clauses_match_what_they_state(seed: int, absent: Absent, regions: bool) -> None:
    chance = random.Random(seed)
    clauses = [some_clause(chance) for _ in range(120)]
    events = [some_event(chance, regions=regions) for _ in range(60)]
    whole = Segment.of(merged([table_of(clauses, absent)]), absent, Layout())
    assert_answers(whole, dict(enumerate(clauses)), events, absent)
    again = Segment.of(merged([whole.tests()]), absent, Layout())
    assert_answers(again, dict(enumerate(clauses)), events, absent)


@SEEDS
@pytest.mark.parametrize("absent", ["fails", "passes"])
def test_merging_and_deleting_lose_nothing(seed: int, absent: Absent) -> None:
    chance = random.Random(seed)
    clauses = [some_clause(chance) for _ in range(90)]
    events = [some_event(chance, regions=seed % 2 == 0) for _ in range(40)]
    parts = [table_of(clauses[first : first + 30], absent, first) for first in (0, 30, 60)]
    segments = [Segment.of(part, absent, Layout()) for part in parts]
    gone = chance.sample(range(90), 30)
    for segment in segments:
        segment.delete(np.array(gone, np.int64), np.zeros(len(gone), np.int64), 0)
    left = {key: clause for key, clause in enumerate(clauses) if key not in gone}
    united = Segment.of(merged([each.tests() for each in segments]), absent, Layout())
    assert_answers(united, left, events, absent)


# Trees and programs.


def some_tree(chance: random.Random, depth: int) -> Tree:
    if depth == 0 or chance.random() < 0.3:
        number = chance.randrange(8)
        pattern = Constraint("s", Operator.CONTAINS, f"{number}")
        if chance.random() < 0.5:
            return Other("s", (pattern,), inverted=chance.random() < 0.3)
        return Coded(AxisName("x", Scale.NUMBER), (Span(number, number),))
    parts = tuple(some_tree(chance, depth - 1) for _ in range(chance.randint(1, 4)))
    return Every(parts) if chance.random() < 0.5 else Some(parts)


def holds(tree: Tree, true: frozenset[Tree]) -> bool:
    if isinstance(tree, Every):
        return all(holds(part, true) for part in tree.parts)
    if isinstance(tree, Some):
        return any(holds(part, true) for part in tree.parts)
    return tree in true


def worlds(tree: Tree, chance: random.Random) -> Iterator[frozenset[Tree]]:
    """Sets of atoms that hold."""
    atoms = list(dict.fromkeys(atoms_of(tree)))
    for _ in range(30):
        share = chance.random()
        yield frozenset(atom for atom in atoms if chance.random() < share)


@pytest.mark.parametrize("seed", range(40))
def test_a_program_holds_where_its_tree_does(seed: int) -> None:
    chance = random.Random(seed)
    tree = some_tree(chance, 4)
    steps = steps_of(tree)
    for true in worlds(tree, chance):
        place = 0
        while place >= 0:
            atom, then, otherwise = steps[place]
            following = then if atom in true else otherwise
            assert following < 0 or following > place
            place = following
        assert (place == HOLDS) == holds(tree, true)


@pytest.mark.parametrize("seed", range(40))
def test_where_a_tree_holds_so_does_an_atom_of_each_sign(seed: int) -> None:
    chance = random.Random(seed)
    tree = some_tree(chance, 3)
    signs = signs_of(tree, lambda atom: len(repr(atom)))
    assert not any(isinstance(atom, Other) and atom.inverted for sign in signs for atom in sign)
    for true in worlds(tree, chance):
        if holds(tree, true):
            assert all(any(atom in true for atom in sign) for sign in signs)


def test_any_of_many_patterns_is_one_test_and_one_way_to_a_row() -> None:
    words = [f"word{number}" for number in range(500)]
    parts = tuple(Constraint("s", Operator.CONTAINS, word) for word in words)
    some = Clause((Constraint("s", Operator.ANY, parts),))
    none = Clause((Constraint("s", Operator.ALL, tuple(part.negated() for part in parts)),))
    segment = Segment.of(table_of([some, none], "fails"), "fails", Layout())
    assert len(segment.others) == 2
    assert len(segment.arrays.pattern_row) == 1
    assert not segment.may_repeat
    assert segment.match_one(Event({"s": "word7 and word8"}), 0) == [0]
    assert segment.match_one(Event({"s": "nothing"}), 0) == [1]
    assert segment.match_one(Event({"s": 7}), 0) == []


def test_a_row_is_reached_through_the_rarest_of_what_it_asks_for() -> None:
    """A suffix that every clause has is no way to tell them apart."""
    clauses = [
        Clause(
            (
                Constraint("s", Operator.SUFFIX, ".exe"),
                Constraint("t", Operator.CONTAINS, f"--option-{number}"),
            )
        )
        for number in range(50)
    ]
    segment = Segment.of(table_of(clauses, "fails"), "fails", Layout())
    shared = [other.constraints[0].operator is Operator.SUFFIX for other in segment.others]
    ways = np.diff(segment.arrays.pattern_first)
    assert ways.sum() == 50
    assert not ways[shared].any()
