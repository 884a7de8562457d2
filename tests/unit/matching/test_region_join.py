"""Region joins against all pairs: ties, open ends, integers, no ends, wide and narrow ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import product
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predicast import Interval
from predicast.errors import (
    InvalidIntervalError,
    InvalidOptionError,
    InvalidValueError,
    UnknownColumnError,
    UnsupportedColumnError,
    UnsupportedTableError,
)
from predicast.matching.region_join import (
    RegionPairs,
    count_region_pairs,
    join_regions,
    join_regions_in_pieces,
    loops,
    plain,
    warming_up,
)
from predicast.model import Clause, Constraint, Event, Operator, Subscription

Region = dict[str, Interval | None]


@pytest.fixture(params=["plain", "compiled"])
def both_loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In NumPy, and as they are once they are compiled."""
    if request.param == "compiled":
        warming_up.wait()
    else:
        monkeypatch.setattr(loops, "now", loops.PLAIN)


def pairs_of(found: RegionPairs) -> list[tuple[int, int]]:
    return sorted(zip(found.publications.tolist(), found.subscriptions.tolist(), strict=True))


def all_pairs(publications: Any, subscriptions: Any) -> list[tuple[int, int]]:
    """What meets among closed regions, every pair compared."""
    met: Any = True
    for name, (lo, hi) in publications.items():
        other_lo, other_hi = subscriptions[name]
        met = met & (lo[:, None] <= other_hi) & (other_lo <= hi[:, None])
    return [(int(one), int(other)) for one, other in np.argwhere(met)]


def boxes(seed: int, count: int, names: str, widest: float) -> dict[str, Any]:
    chance = np.random.default_rng(seed)
    found = {}
    for name in names:
        lo = chance.integers(0, 400, count) / 4
        found[name] = lo, lo + np.round(chance.random(count) ** 4 * widest * 4) / 4
    return found


@pytest.mark.usefixtures("both_loops")
@pytest.mark.parametrize("names", ["x", "xy", "xyz", "wxyz"])
@pytest.mark.parametrize("widest", [0.0, 3.0, 90.0])
def test_joins_as_all_pairs_do(names: str, widest: float) -> None:
    publications, subscriptions = boxes(1, 300, names, 20.0), boxes(2, 400, names, widest)
    right = all_pairs(publications, subscriptions)
    assert pairs_of(join_regions(publications, subscriptions)) == right
    assert count_region_pairs(publications, subscriptions) == len(right)
    turned = pairs_of(join_regions(subscriptions, publications))
    assert turned == sorted((one, other) for other, one in right)


@pytest.mark.usefixtures("both_loops")
@pytest.mark.parametrize("names", ["x", "xy"])
@pytest.mark.parametrize("most", [1, 7, 1000])
def test_pieces_are_no_larger_than_they_may_be(names: str, most: int) -> None:
    publications, subscriptions = boxes(3, 80, names, 9.0), boxes(4, 90, names, 60.0)
    pieces = list(join_regions_in_pieces(publications, subscriptions, most=most))
    for piece in pieces:
        assert len(piece.publications) <= most or len(set(piece.publications.tolist())) == 1
    found = [pair for piece in pieces for pair in pairs_of(piece)]
    assert sorted(found) == all_pairs(publications, subscriptions)


def test_the_numpy_way_takes_publications_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "now", loops.PLAIN)
    monkeypatch.setattr(plain, "_AT_A_TIME", 7)
    monkeypatch.setattr(plain, "_MOST", 5)
    publications, subscriptions = boxes(5, 100, "xy", 30.0), boxes(6, 120, "xy", 5.0)
    found = pairs_of(join_regions(publications, subscriptions))
    assert found == all_pairs(publications, subscriptions)


# What the model says, in tables.

INTEGERS = st.integers(-3, 5)
QUARTERS = st.integers(-8, 12).map(lambda step: step / 4)
EDGES = st.sampled_from([2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**62])
MOMENTS = st.integers(0, 6).map(lambda step: datetime.fromtimestamp(step).astimezone())


def intervals(ends: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any] | None]:
    end = st.none() | ends
    fields = st.fixed_dictionaries(
        {"lo": end, "hi": end, "lo_open": st.booleans(), "hi_open": st.booleans()}
    )
    return fields | st.none()


def as_interval(fields: dict[str, Any] | None) -> Interval | None:
    return None if fields is None else Interval(**fields)


def as_subscription(region: dict[str, dict[str, Any] | None]) -> Subscription:
    constraints = []
    for name, fields in region.items():
        lo, hi = (fields or {}).get("lo"), (fields or {}).get("hi")
        if fields and lo is not None:
            constraints.append(
                Constraint(name, Operator.GT if fields["lo_open"] else Operator.GE, lo)
            )
        if fields and hi is not None:
            constraints.append(
                Constraint(name, Operator.LT if fields["hi_open"] else Operator.LE, hi)
            )
    return Subscription((Clause(tuple(constraints)),))


def is_interval(fields: dict[str, Any] | None) -> bool:
    try:
        as_interval(fields)
    except InvalidIntervalError:
        return False
    return True


def table(rows: list[dict[str, Any]], names: str, end: pa.DataType) -> pa.Table:
    flag = pa.bool_()
    kind = pa.struct([("lo", end), ("hi", end), ("lo_open", flag), ("hi_open", flag)])
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name in names})


_KINDS = {
    "integers": (INTEGERS, pa.int64()),
    "large": (INTEGERS | EDGES, pa.int64()),
    "floats": (QUARTERS, pa.float64()),
    "moments": (MOMENTS, pa.timestamp("us", "UTC")),
}


@pytest.mark.parametrize(("publications", "subscriptions"), [
    ("integers", "integers"),
    ("integers", "floats"),
    ("large", "large"),
    ("large", "floats"),
    ("floats", "integers"),
    ("floats", "large"),
    ("floats", "floats"),
    ("moments", "moments"),
])  # fmt: skip
@settings(deadline=None)
@given(data=st.data())
def test_joins_as_the_model_says(
    publications: str, subscriptions: str, data: st.DataObject
) -> None:
    names = data.draw(st.sampled_from(["x", "xy", "xyz"]), "attributes")
    rows = []
    for kind in (publications, subscriptions):
        drawn = st.lists(
            st.fixed_dictionaries({name: intervals(_KINDS[kind][0]) for name in names}),
            min_size=1,
            max_size=6,
        )
        rows.append(data.draw(drawn, kind))
    regions = [each for each in rows[0] if all(map(is_interval, each.values()))]
    events = [
        Event({name: as_interval(fields) for name, fields in region.items()}) for region in regions
    ]
    wanted = list(map(as_subscription, rows[1]))
    right = [
        (one, other)
        for (one, event), (other, each) in product(enumerate(events), enumerate(wanted))
        if each.matches(event, "fails")
    ]
    given_tables = (
        table(regions, names, _KINDS[publications][1]),
        table(rows[1], names, _KINDS[subscriptions][1]),
    )
    assert pairs_of(join_regions(*given_tables)) == right
    assert count_region_pairs(*given_tables, on=list(names)) == len(right)


def test_regions_that_touch_meet_where_both_ends_are_closed() -> None:
    touching = {"x": ([0.0, 0.0], [1.0, 1.0], [False, False], [False, True])}
    beginning = {"x": ([1.0, 1.0], [2.0, 2.0], [False, True], [False, False])}
    assert pairs_of(join_regions(touching, beginning)) == [(0, 0)]


def test_reals_between_neighbouring_floats_count() -> None:
    after = float(np.nextafter(1.0, 2.0))
    between = {"x": ([1.0], [after], [True], [True])}
    assert pairs_of(join_regions(between, between)) == [(0, 0)]


def test_integers_between_neighbours_do_not() -> None:
    publications = {"x": ([0], [9])}
    assert pairs_of(join_regions(publications, {"x": ([3], [4], [True], [True])})) == []
    assert pairs_of(join_regions({"x": ([0.0], [9.0])}, {"x": ([3], [4], True, True)})) == [(0, 0)]


def test_ends_that_are_infinite_are_none() -> None:
    everything = {"x": ([-np.inf], [np.inf]), "y": ([-np.inf], [4.0])}
    corner = {"x": ([1e300, 0.0], [np.inf, 0.5]), "y": ([4.0, 5.0], [9.0, np.inf])}
    assert pairs_of(join_regions(everything, corner)) == [(0, 0)]
    assert pairs_of(join_regions(corner, everything)) == [(0, 0)]


def test_open_ends_beside_infinite_ones() -> None:
    ends: Any = ([-np.inf, 1.0, -np.inf], [1.0, np.inf, np.inf], True, True)
    regions = {"x": ends, "y": ends}
    assert pairs_of(join_regions({"x": ends}, {"x": ends})) == [
        (0, 0), (0, 2), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)
    ]  # fmt: skip
    assert len(pairs_of(join_regions(regions, regions))) == 7


@pytest.mark.usefixtures("both_loops")
def test_a_few_wide_regions_among_many_narrow_ones() -> None:
    chance = np.random.default_rng(9)
    lo = chance.random((2, 3_000)) * 1e6
    width = np.where(chance.random((2, 3_000)) < 0.005, 9e5, 1.0)
    regions = {"x": (lo[0], lo[0] + width[0]), "y": (lo[1], lo[1] + width[1])}
    assert pairs_of(join_regions(regions, regions)) == all_pairs(regions, regions)


def test_nothing_joins_nothing() -> None:
    none: dict[str, Any] = {"x": (np.empty(0), np.empty(0)), "y": (np.empty(0), np.empty(0))}
    some = {"x": ([1.0], [2.0]), "y": ([1.0], [2.0])}
    for one, other in ((none, some), (some, none), (none, none)):
        assert pairs_of(join_regions(one, other)) == []
        assert count_region_pairs(one, other, on=["x"]) == 0
        assert list(join_regions_in_pieces(one, other)) == []


def test_empty_publications_are_refused_and_empty_subscriptions_meet_nothing() -> None:
    whole, empty = {"x": ([0.0], [9.0])}, {"x": ([1.0, 5.0], [2.0, 4.0])}
    assert pairs_of(join_regions(whole, empty)) == [(0, 0)]
    with pytest.raises(InvalidIntervalError, match="row 1 of the publications") as refusal:
        join_regions(empty, whole)
    assert (refusal.value.attribute, refusal.value.row) == ("x", 1)


ONE: dict[str, Any] = {"x": ([1.0], [2.0])}


@pytest.mark.parametrize(("wrong", "error", "says"), [
    (lambda: join_regions(ONE, {"y": ([1], [2])}), UnknownColumnError, "no attribute 'x'"),
    (lambda: join_regions(ONE, ONE, on="x"), InvalidOptionError, "list of attributes"),
    (lambda: join_regions(ONE, ONE, on=[]), InvalidOptionError, "list of attributes"),
    (lambda: join_regions({}, {}), InvalidOptionError, "no attribute to join on"),
    (lambda: join_regions({"x": ([1.0],)}, ONE), InvalidOptionError, "pair of arrays"),
    (lambda: join_regions({"x": ([1.0], [2.0, 3.0])}, ONE), InvalidOptionError, "1 lower and 2"),
    (lambda: join_regions({"x": ([np.nan], [2.0])}, ONE), InvalidValueError, "row 0"),
    (lambda: join_regions({"x": (["a"], ["b"])}, ONE), UnsupportedColumnError, "can be compared"),
    (lambda: join_regions({"x": ([[1]], [[2]])}, ONE), UnsupportedColumnError, "2 dimensions"),
    (lambda: join_regions(pa.table({"x": [1]}), ONE), UnsupportedColumnError, "no interval"),
    (lambda: join_regions(cast("Any", [1]), ONE), UnsupportedTableError, "not a table"),
    (lambda: join_regions_in_pieces(ONE, ONE, most=0), InvalidOptionError, "from 1 on"),
    (lambda: join_regions({"x": (np.array([2**63]),) * 2}, ONE), InvalidValueError, "row 0"),
    (
        lambda: join_regions({"x": (np.array(["2026-01-01"], "datetime64[D]"),) * 2}, ONE),
        UnsupportedColumnError,
        "timestamps in the publications",
    ),
])  # fmt: skip
def test_what_is_no_region_is_refused(
    wrong: Callable[[], Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        wrong()


def test_a_first_call_does_not_wait_for_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[bool] = []
    monkeypatch.setattr(warming_up, "begin", lambda: started.append(True))
    monkeypatch.setattr(loops, "now", loops.PLAIN)
    two = {"x": ([1.0], [2.0]), "y": ([1.0], [2.0])}
    assert pairs_of(join_regions(two, two)) == [(0, 0)]
    assert started == [True]


def test_pieces_come_one_by_one() -> None:
    pieces = join_regions_in_pieces(ONE, ONE)
    assert isinstance(pieces, Iterator)
    assert [pairs_of(piece) for piece in pieces] == [[(0, 0)]]
