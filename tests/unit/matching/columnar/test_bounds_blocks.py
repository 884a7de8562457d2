"""Clauses of bounds in blocks: they leave out only what cannot match."""

import random

import pytest

from predicast.language import parse_where
from predicast.matching.batches import EventBatch
from predicast.matching.columnar.bounds_blocks import FIRST
from predicast.matching.columnar.recent import Recent
from predicast.model import Absent, Event
from predicast.model.outline import outlined

SHAPES = (
    "symbol = 'S{0}' AND price BETWEEN {1} AND {2}",
    "side = {3} AND kind = {4} AND price > {1}",
    "x BETWEEN {1} AND {2} AND y BETWEEN {5} AND {6}",
    "price < {1}",
    "symbol = 'S{0}' OR x >= {1}",
)


def texts(chance: random.Random, count: int, shapes: tuple[str, ...]) -> list[str]:
    """Subscriptions of some shapes, the first of which is the most frequent."""
    made = []
    for _ in range(count):
        low, low_y = chance.randrange(100), chance.randrange(100)
        values = (chance.randrange(40), low, low + 10, chance.randrange(2), chance.randrange(6))
        shape = shapes[0] if chance.random() < 0.5 else chance.choice(shapes)
        made.append(shape.format(*values, low_y, low_y + 5))
    return made


def events(chance: random.Random, count: int) -> list[Event]:
    made = []
    for _ in range(count):
        said = {name: chance.randrange(110) for name in ("price", "x", "y")}
        said |= {"side": chance.randrange(2), "kind": chance.randrange(6)}
        given = said | {"symbol": f"S{chance.randrange(40)}"}
        made.append(Event({name: v for name, v in given.items() if chance.random() < 0.9}))
    return made


def by_event(recent: Recent, batch: list[Event], epoch: int) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in batch]
    for keys, runs in recent.match_columns(EventBatch.from_events(batch), epoch):
        for event, first, end in runs.tolist():
            found[event] |= set(keys[first:end].tolist())
    return found


@pytest.mark.parametrize("absent", ["fails", "passes"])
@pytest.mark.parametrize("shapes", [SHAPES[:1], SHAPES[2:3], SHAPES])
def test_many_that_wait_answer_as_the_model_does(absent: Absent, shapes: tuple[str, ...]) -> None:
    chance = random.Random(len(shapes))
    written = texts(chance, 3 * FIRST + 100, shapes)
    recent = Recent(absent)
    stated = [outlined(parse_where(text)) for text in written]
    for start in range(0, len(stated), 90):
        pairs = [*enumerate(stated)][start : start + 90]
        recent.add_many(pairs, 1 + start)
        recent.drop([start // 3], 2 + start)
    gone = {start // 3: 2 + start for start in range(0, len(stated), 90)}
    assert recent.blocks.clauses >= 3 * FIRST
    batch = events(chance, 70)
    for epoch in (1, 600, 5_000):
        held = [
            key for key in range(len(stated)) if 1 + key // 90 * 90 <= epoch < gone.get(key, 10_000)
        ]
        subscriptions = {key: stated[key].subscription() for key in held}
        right = [
            {key for key, each in subscriptions.items() if each.matches(event, absent)}
            for event in batch
        ]
        assert by_event(recent, batch, epoch) == right
        assert [set(recent.match(event, epoch)) for event in batch] == right
        assert any(right)


def test_runs_grow_and_hold_each_clause_once() -> None:
    recent, lengths = Recent("fails"), []
    for key in range(5 * FIRST):
        blocks = recent.blocks
        recent.add(key, outlined(parse_where(f"x = {key % 7} AND y > {key}")), 1)
        if recent.blocks is not blocks:
            row = recent.blocks.arrays[0]
            assert sorted(row.tolist()) == list(range(recent.clauses))
            lengths.append([len(run.row) // FIRST for run in recent.blocks._runs])
    assert lengths == [[1], [1, 1], [1, 1, 1], [4], [4, 1]]


def test_an_event_is_tried_for_few_of_those_that_ask_for_points() -> None:
    recent = Recent("fails")
    for key in range(4 * FIRST):
        recent.add(key, outlined(parse_where(f"x = {key * 7919 % 4_001} AND y > 3")), 1)
    first, zone_lo, zone_hi = (recent.blocks.arrays[place] for place in (2, 5, 6))
    for value in (0, 1_234, 4_000):
        inside = (zone_lo[first[:-1]] <= value) & (value <= zone_hi[first[:-1]])
        assert inside.sum() <= 2


@pytest.mark.parametrize("absent", ["fails", "passes"])
def test_a_point_that_all_clauses_of_a_block_ask_for_is_not_one_that_some_contradict(
    absent: Absent,
) -> None:
    recent, right = Recent(absent), set()
    for key in range(FIRST):
        contradicts = key % 3 == 0
        text = "x = 5 AND x = 3 AND y > 3" if contradicts else "x = 5 AND y > 3"
        recent.add(key, outlined(parse_where(text)), 1)
        right |= set() if contradicts else {key}
    assert recent.blocks.clauses == FIRST
    batch = [Event({"x": 5, "y": 4}), Event({"x": 3, "y": 4}), *events(random.Random(1), 40)]
    assert by_event(recent, batch, 1)[:2] == [right, set()]
    assert [set(recent.match(event, 1)) for event in batch[:2]] == [right, set()]


def test_blocks_end_where_points_change_that_many_ask_for() -> None:
    recent = Recent("fails")
    for key in range(4 * FIRST):
        text = f"kind = {key % 5} AND side = {key % 2} AND x > {key}"
        recent.add(key, outlined(parse_where(text)), 1)
    first, zone_lo, zone_hi = (recent.blocks.arrays[place] for place in (2, 5, 6))
    for test in (0, 1):
        assert (zone_lo[first[:-1] + test] == zone_hi[first[:-1] + test]).all()
    assert len(first) - 1 == 10 * -(-4 * FIRST // 10 // 64)
