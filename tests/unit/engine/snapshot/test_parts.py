"""Parts: however subscriptions are divided to be read, one and the same engine comes of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from predicast import Engine
from predicast.engine.snapshot.contents import Snapshot, decode, to_bytes
from predicast.engine.snapshot.parts import SnapshotPart, joined
from predicast.language import to_where
from predicast.language.reading import stated_by
from predicast.model import Event, Subscription
from predicast.testing.strategies import events, subscriptions

Row = tuple[str, str, str | None]  # id, text, owner


def part_of(rows: Sequence[Row], *, matcher: str = "columnar") -> Snapshot:
    part = SnapshotPart()
    for id, text, owner in rows:
        part.add(id, owner, stated_by(text)[0], text)
    return part.snapshot(matcher, "fails", None)


def received(part: Snapshot) -> Snapshot:
    """What comes of a part that was sent."""
    return decode(np.frombuffer(to_bytes(part), np.uint8).copy())


def cut(rows: Sequence[Row], places: Sequence[int]) -> list[Snapshot]:
    ends = sorted(min(place, len(rows)) for place in places)
    bounds = zip([0, *ends], [*ends, len(rows)], strict=True)
    return [received(part_of(rows[begin:end])) for begin, end in bounds]


def engine_of(part: Snapshot) -> Engine:
    return Engine.from_bytes(to_bytes(part))


@given(
    st.lists(st.tuples(subscriptions(), st.sampled_from([None, "ann", "bob"])), max_size=8),
    st.lists(st.integers(0, 8), max_size=3),
    st.lists(events(), max_size=3),
)
def test_any_division_gives_the_same(
    stated: list[tuple[Subscription, str | None]], places: list[int], asked: list[Event]
) -> None:
    rows = [(f"s{number}", to_where(each), owner) for number, (each, owner) in enumerate(stated)]
    whole = part_of(rows)
    parts = joined(cut(rows, places))
    assert to_bytes(parts) == to_bytes(whole)
    engine, right = engine_of(parts), Engine()
    for id, text, owner in rows:
        right.subscribe(text, id=id, owner=owner)
    assert list(engine.subscriptions()) == list(right.subscriptions())
    assert engine.match_batch(asked) == right.match_batch(asked)
    for number in range(len(rows), len(rows) + 2):
        engine.subscribe("a = 1", id=f"s{number}")  # it goes on like any other
        assert len(engine) == number + 1


def test_many_of_one_outline_and_few_of_others() -> None:
    """Enough of some for columns of their own in each part, in all parts, and in none."""
    rows: list[Row] = [(f"a{n:05}", f"x < {n}", None) for n in range(200)]
    rows += [(f"b{n:05}", f"name = 'n{n % 7}' AND y > {n}.5", "ann") for n in range(40)]
    rows += [(f"c{n:05}", f"x < {n}", None) for n in range(70)]
    rows += [(f"d{n:05}", f"z IN ({n}, {n + 1}) OR w = {n}", None) for n in range(3)]
    rows += [(f"e{n:05}", f"name = 'm{n}' AND y > {n}.5", "bob") for n in range(20)]
    whole = to_bytes(part_of(rows))
    for places in ([], [100], [17, 210, 215, 320], [0, 240, 333], range(0, 333, 10)):
        assert to_bytes(joined(cut(rows, places))) == whole
    right = Engine()
    right.subscribe_many((id, text) for id, text, _ in rows)
    event = {"x": 150, "y": 9, "name": "n3", "z": 2}
    assert engine_of(joined(cut(rows, [100]))).match(event) == right.match(event)


def test_nothing_at_all() -> None:
    assert to_bytes(joined([part_of([]), part_of([])])) == to_bytes(part_of([]))
    assert len(engine_of(joined([part_of([])]))) == 0


def test_dialects_come_along() -> None:
    parts = []
    for number in range(3):
        part = SnapshotPart()
        part.add(f"a{number}", None, stated_by("x = 1")[0], "x is 1", "wishes")
        part.add(f"b{number}", None, stated_by("x = 2")[0], "x = 2")
        parts.append(received(part.snapshot("columnar", "fails", None)))
    found = engine_of(joined(parts)).subscriptions()
    assert [(each.id, each.text, each.dialect) for each in found] == [
        pair
        for number in range(3)
        for pair in ((f"a{number}", "x is 1", "wishes"), (f"b{number}", "x = 2", None))
    ]
