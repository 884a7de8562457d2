"""Families: which clauses are worth blocks, how those lie in memory, and what events open."""

import numpy as np
import pyarrow as pa
import pytest

from predicast import Engine, Event, Interval
from predicast.matching.columnar.compile.from_bounds import coded_subscriptions
from predicast.matching.columnar.compile.uniting import merged
from predicast.matching.columnar.layout.blocks import Layout
from predicast.matching.columnar.reserved import LANES
from predicast.matching.columnar.segment import Segment
from predicast.model import Clause, Constraint, Operator, Subscription


def alert(category: int, low: int, high: int, name: str = "category") -> Subscription:
    return Subscription(
        (
            Clause(
                (
                    Constraint(name, Operator.EQ, category),
                    Constraint("price", Operator.BETWEEN, (low, high)),
                )
            ),
        )
    )


def segment_of(subscriptions: list[Subscription]) -> Segment:
    tables = coded_subscriptions(enumerate(subscriptions), "fails")
    return Segment.of(merged(tables), "fails", Layout())


def families(segment: Segment) -> int:
    return len(segment.arrays.width)


def rows(segment: Segment) -> int:
    return len(segment.arrays.row_test_first) - 1


def skewed(rare: int, frequent: int) -> list[int]:
    """Categories of alerts: one that many share, and so many that are one alert's own."""
    return [0] * frequent + list(range(1, rare + 1))


def test_one_value_that_many_share_is_reason_enough_for_blocks() -> None:
    """However many rare ones there are: an event of that value would test all of its rows."""
    segment = segment_of([alert(category, 0, 9) for category in skewed(5_000, 500)])
    assert (families(segment), rows(segment)) == (1, 0)


def test_a_few_dozen_clauses_are_a_family() -> None:
    segment = segment_of([alert(n % 2, n, n + 5) for n in range(40)])
    assert (families(segment), rows(segment)) == (1, 0)


def test_values_that_nobody_shares_are_rows() -> None:
    segment = segment_of([alert(n, 0, 9) for n in range(2_000)])
    assert (families(segment), rows(segment)) == (0, 2_000)


def test_small_families_that_few_events_can_be_about_are_rows() -> None:
    """Each family is a look for every event; thousands of small ones would be thousands."""
    alerts = [alert(n % 2, n, n + 5, name=f"a{n % 100}") for n in range(4_000)]
    assert families(segment_of(alerts)) == 0
    assert families(segment_of(alerts[::100])) == 1


def test_equalities_divide_no_further_than_pays() -> None:
    def clause(n: int) -> Clause:
        equalities = [Constraint(f"e{k}", Operator.EQ, n // 7**k % 7) for k in range(4)]
        return Clause((*equalities, Constraint("x", Operator.GT, n)))

    segment = segment_of([Subscription((clause(n),)) for n in range(7**4)])
    assert families(segment) == 1
    assert len(segment.arrays.access_axis) == 2  # leaves 49 clauses, which are compared at once


def test_partitions_of_one_clause_take_one_slot() -> None:
    segment = segment_of([alert(category, 0, 9) for category in skewed(5_000, 500)])
    slots = segment.arrays.block_slot
    assert slots[-1] < 5_500 + 2 * LANES
    sizes = segment.arrays.block_size
    assert (slots[:-1][sizes >= LANES] % LANES == 0).all()  # so that their vectors are aligned
    assert slots[-1] - slots[-2] >= LANES  # there is something to load behind the last


@pytest.mark.parametrize("batch", [1, 2, 3, 50, 1_000])
def test_small_and_large_partitions_side_by_side(batch: int) -> None:
    """Batches far smaller than the number of partitions, and larger."""
    chance = np.random.default_rng(batch)
    category = np.where(chance.random(1_500) < 0.7, 7, chance.integers(600, size=1_500))
    low = chance.integers(1_000, size=1_500)
    high = low + chance.integers(200, size=1_500)
    engine = Engine()
    engine.subscribe_many(
        (str(n), f"category = {category[n]} AND price BETWEEN {low[n]} AND {high[n]}")
        for n in range(1_500)
    )
    asked = np.where(chance.random(batch) < 0.5, 7, chance.integers(610, size=batch))
    price = chance.integers(1_200, size=batch)
    found = engine.match_arrow(pa.table({"category": asked, "price": price}))
    right = (
        (category == asked[:, None]) & (low <= price[:, None]) & (price[:, None] <= high)
    ).nonzero()
    pairs = zip(
        found["event"].to_pylist(), map(int, found["subscription"].to_pylist()), strict=True
    )
    assert sorted(pairs) == sorted(zip(*(each.tolist() for each in right), strict=True))


def test_an_interval_opens_the_partitions_that_it_meets() -> None:
    subscriptions = [alert(category, 0, 9) for category in skewed(300, 200)]
    segment = segment_of(subscriptions)
    assert families(segment) == 1
    for low, high in ((0, 0), (0, 3), (17, 17), (17, 40), (299, 400), (301, 400), (-5, -1)):
        event = Event({"category": Interval(low, high), "price": 5})
        expected = [n for n, c in enumerate(skewed(300, 200)) if low <= c <= high]
        assert sorted(segment.match_one(event, epoch=0)) == expected
