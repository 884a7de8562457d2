"""What is not compiled yet: held from an epoch on, gone from another one on, asked as of any."""

import pytest

from predicast.language import parse_where
from predicast.matching.batches import EventBatch
from predicast.matching.columnar.recent import Recent
from predicast.model import Absent, Event, Interval
from predicast.model.outline import outlined

TEXTS = (
    "x > 1",
    "x > 1 AND y = 'a'",
    "name LIKE 'a%'",
    "x BETWEEN 2 AND 9 OR name LIKE '%b'",
    "x > 1 AND x > 2 AND x < 9 AND x <= 8",
    "x IN (2, 5, 7.5) AND y IN ('a', 'c') OR x IN (5, 6)",
    "name IN ('ab', 'b', 'c') AND name LIKE 'a%'",
    "x IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)",
)
EVENTS = (
    Event({"x": 5, "y": "a", "name": "ab"}),
    Event({"x": 5}),
    Event({"x": Interval(0, 3), "y": "a"}),
    Event({"name": "b"}),
)


def filled(absent: Absent, *, at_once: bool) -> Recent:
    """One more of each text in each of ten epochs; in the next five, those of the first go."""
    recent = Recent(absent)
    for epoch in range(1, 11):
        pairs = [(10 * epoch + n, outlined(parse_where(text))) for n, text in enumerate(TEXTS)]
        if at_once:
            recent.add_many([*pairs, *((key + 1_000, stated) for key, stated in pairs)], epoch)
            continue
        for key, stated in pairs:
            recent.add(key, stated, epoch)
    for epoch in range(11, 16):
        left = recent.drop([10 * (epoch - 10) + n for n in range(len(TEXTS))], epoch)
        assert left == []
    return recent


def held(epoch: int, *, at_once: bool) -> list[tuple[int, str]]:
    """The keys and texts that are held at an epoch."""
    came = range(1, min(epoch, 10) + 1)
    stayed = [each for each in came if each > min(epoch - 10, 5)]
    numbers = [10 * each for each in stayed]
    if at_once:
        numbers += [1_000 + 10 * each for each in came]
    return [(number + n, text) for number in numbers for n, text in enumerate(TEXTS)]


@pytest.mark.parametrize("absent", ["fails", "passes"])
@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("epoch", [1, 4, 10, 12, 20])
def test_it_answers_as_of_any_epoch(absent: Absent, at_once: bool, epoch: int) -> None:
    recent = filled(absent, at_once=at_once)
    for event in EVENTS:
        right = {
            key
            for key, text in held(epoch, at_once=at_once)
            if parse_where(text).matches(event, absent)
        }
        assert set(recent.match(event, epoch)) == right
        batch = EventBatch.from_events([event] * 30)
        for keys, runs in recent.match_columns(batch, epoch):
            assert set(keys.tolist()) <= right
            assert set(runs[:, 0].tolist()) <= set(range(30))
        found = [keys.tolist() for keys, _ in recent.match_columns(batch, epoch)]
        assert {key for keys in found for key in keys} == right


def test_what_is_gone_since_is_told_to_whoever_compiles_it() -> None:
    recent = filled("fails", at_once=False)
    keys, epochs = recent.deletions(10)
    assert keys.tolist() == [10 * each + n for each in range(1, 6) for n in range(len(TEXTS))]
    assert epochs.tolist() == [each for each in range(11, 16) for _ in TEXTS]
    assert recent.deletions(15)[0].tolist() == []


def test_without_gaps_the_same_is_held_from_then_on() -> None:
    recent = filled("fails", at_once=False)
    moved = recent.moved(16)
    assert moved.rows() == len(moved) == len(recent) < recent.rows()
    for event in EVENTS:
        assert set(moved.match(event, 16)) == set(recent.match(event, 16))
        assert moved.match(event, 15) == []


def test_a_short_list_of_values_is_tried_as_ranges() -> None:
    recent = Recent("fails")
    for key, text in enumerate(TEXTS):
        recent.add(key, outlined(parse_where(text)), 1)
    by_definition = [TEXTS[row] for row in recent.odd]
    assert by_definition == [TEXTS[2], TEXTS[3], TEXTS[6], TEXTS[7]]
