"""The index of sketches: it names whatever may cover, be covered or match, and not much besides."""

from __future__ import annotations

import random

import pytest

from predicast.covering.filter import Filter
from predicast.covering.index import SketchIndex
from predicast.language import to_subscription
from predicast.model import Event, Interval


def box(chance: random.Random) -> str:
    sides = []
    for name in chance.choice(["x", "xy", "xy", "xyz"]):
        lo = chance.randrange(1000)
        sides.append(f"{name} BETWEEN {lo} AND {lo + chance.randrange(80)}")
    return " AND ".join(sides)


def filter_of(text: str) -> Filter:
    return Filter(to_subscription(text), "fails")


@pytest.mark.parametrize("seed", range(3))
def test_it_names_all_that_it_should_while_filters_come_change_and_go(seed: int) -> None:
    chance = random.Random(seed)
    index = SketchIndex()
    held: dict[int, Filter] = {}
    for step in range(700):
        new = filter_of(box(chance))
        held[index.add(index.sketch(new))] = new
        if step % 3 == 0:
            number = chance.choice(list(held))
            held[number] = filter_of(box(chance))
            index.change(number, index.sketch(held[number]))
        if step % 2 == 0 or step > 500:
            number = chance.choice(list(held))
            index.remove(number)
            del held[number]
        if step % 25:
            continue
        asked = filter_of(box(chance))
        sketch = index.sketch(asked)
        event = Event({name: Interval(lo := chance.randrange(1000), lo + 50) for name in "xy"})
        covering = {number for number, each in held.items() if each.covers(asked)}
        covered = {number for number, each in held.items() if asked.covers(each)}
        matching = {number for number, each in held.items() if each.matches(event)}
        assert covering <= set(index.may_cover(sketch)) <= held.keys()
        assert covered <= set(index.may_be_covered(sketch)) <= held.keys()
        assert matching == set(index.may_match(event))  # of closed boxes nothing else is left


def test_filters_that_are_all_alike_to_it_are_all_named() -> None:
    index = SketchIndex()
    tests = [filter_of(f"contains(name, '{number}')") for number in range(300)]
    numbers = [index.add(index.sketch(each)) for each in tests]
    assert set(index.may_match(Event({"name": "17"}))) == set(numbers)
    assert index.may_match(Event({"other": "17"})) == []
    for number in numbers:
        index.remove(number)
    assert index.may_match(Event({"name": "17"})) == []


def test_it_can_be_emptied_and_filled_again() -> None:
    chance = random.Random(5)
    index = SketchIndex()
    for _ in range(3):
        boxes = [filter_of(box(chance)) for _ in range(400)]
        numbers = [index.add(index.sketch(each)) for each in boxes]
        for number, each in zip(numbers, boxes, strict=True):
            assert number in index.may_cover(index.sketch(each))
        for number in numbers:
            index.remove(number)
        assert index.may_match(Event({"x": 5, "y": 5, "z": 5})) == []


def test_more_attributes_than_have_hulls() -> None:
    index = SketchIndex()
    many = [filter_of(f"a{number} > 5") for number in range(70)]
    numbers = [index.add(index.sketch(each)) for each in many]
    for number, (wanted, each) in enumerate(zip(many, numbers, strict=True)):
        assert each in index.may_match(Event({f"a{number}": 6}))
        assert each in index.may_cover(index.sketch(wanted))
    assert len(index.may_match(Event({"a3": 6}))) == 1


def test_what_asks_for_absence_is_named_for_events_without_the_attribute() -> None:
    index = SketchIndex()
    absent, present = filter_of("a IS NULL"), filter_of("a > 1")
    numbers = [index.add(index.sketch(each)) for each in (absent, present)]
    assert index.may_match(Event({})) == [numbers[0]]
    assert index.may_match(Event({"a": 2})) == [numbers[1]]


def test_sets_are_told_apart_by_their_values_and_not_by_their_hulls() -> None:
    chance = random.Random(8)
    index = SketchIndex()
    sets = [sorted(chance.sample(range(200), chance.randint(1, 6))) for _ in range(500)]
    filters = [filter_of(f"cell IN ({', '.join(map(str, each))})") for each in sets]
    numbers = [index.add(index.sketch(each)) for each in filters]
    named = 0
    for asked in filters[:50]:
        candidates = set(index.may_cover(index.sketch(asked)))
        for number, each in zip(numbers, filters, strict=True):
            assert number in candidates or not each.covers(asked)
        named += len(candidates)
    # By hulls alone some 4,000 are named, since those of most sets lie around most numbers.
    assert named < 400
    for cell in range(0, 200, 7):
        holding = {n for n, each in zip(numbers, sets, strict=True) if cell in each}
        candidates = set(index.may_match(Event({"cell": cell})))
        assert holding <= candidates
        assert len(candidates) <= len(holding) + 60


def test_what_is_not_one_value_is_not_taken_for_it() -> None:
    index = SketchIndex()
    texts = ["a >= 3 AND a < 4", "a = 3", "a = 3.5", "a = 'x'", "a IN ('x', 'y')", "a = TRUE"]
    numbers = {text: index.add(index.sketch(filter_of(text))) for text in texts}
    assert numbers["a >= 3 AND a < 4"] in index.may_match(Event({"a": 3.5}))
    assert numbers["a = 3"] in index.may_match(Event({"a": 3.0}))
    assert numbers["a = 'x'"] in index.may_match(Event({"a": "x"}))
    assert numbers["a IN ('x', 'y')"] in index.may_match(Event({"a": "y"}))
    assert numbers["a = TRUE"] in index.may_match(Event({"a": True}))
    narrow = index.sketch(filter_of("a = 3.5"))
    assert numbers["a >= 3 AND a < 4"] in index.may_cover(narrow)
