"""Lists in batches, and conditions on elements in matchers."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from predicast import Engine
from predicast.errors import InvalidValueError, ListTooLongError, UnsupportedColumnError
from predicast.language import parse_where
from predicast.matching import matcher_names
from predicast.matching.batches import event_batch, from_arrow
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.lists import Lists
from predicast.matching.columnar.patterns.element_tests import ElementTests
from predicast.model import Constraint, Event, Operator

ROWS: list[Any] = [["a", "b"], [], None, ["b", None], [None], ["a", "a"], ["c"]]
LAYOUTS = {
    "list": pa.list_(pa.string()),
    "large list": pa.large_list(pa.string()),
    "of dictionaries": pa.list_(pa.dictionary(pa.int8(), pa.string())),
    "of views": pa.list_(pa.string_view()),
    "list view": pa.list_view(pa.string()),
    "large list view": pa.large_list_view(pa.string()),
}
TEXTS = [
    "array_contains(x, 'a')",
    "NOT array_contains(x, 'a')",
    "arrays_overlap(x, array('a', 'c'))",
    "exists(x, t -> t LIKE '%b%')",
    "forall(x, t -> t > 'a')",
    "forall(x, t -> t IS NOT NULL)",
    "exists(x, t -> t IS NULL)",
    "exists(x, t -> upper(t) = 'A')",
    "exists(x, t -> TRUE)",
    "size(x) = 2",
    "x IS NOT NULL",
    "x = 'a' OR array_contains(x, 'a')",
    "exists(x, t -> t = 'a' AND t LIKE 'b%') OR array_contains(x, 'c')",
    "exists(x, t -> t = 1) AND NOT exists(x, t -> t = 2)",
]


def expected(texts: list[str], events: list[Any], absent: Any = "fails") -> list[list[str]]:
    engine = Engine(matcher="brute-force", absent=absent)
    engine.subscribe_many((f"s{number:03}", text) for number, text in enumerate(texts))
    return [engine.match(event) for event in events]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("sliced", [False, True])
def test_every_layout_of_lists_is_read_alike(layout: str, sliced: bool) -> None:
    rows = [["z"], *ROWS, ["y"]] if sliced else ROWS
    column = pa.chunked_array(
        [pa.array(rows[:4], LAYOUTS[layout]), pa.array(rows[4:], LAYOUTS[layout])]
    )
    table = pa.table({"x": column})
    if sliced:
        table = table.slice(1, len(ROWS))
    batch = EventBatch.from_arrow(table)
    assert batch.events() == [Event({"x": row}) for row in ROWS]
    engine = Engine()
    engine.subscribe_many((f"s{number:03}", text) for number, text in enumerate(TEXTS))
    matches = engine.match_arrow(table).to_pydict()
    found: list[list[str]] = [[] for _ in ROWS]
    for event, id in zip(matches["event"], matches["subscription"], strict=True):
        found[event].append(id)
    assert [sorted(each) for each in found] == expected(TEXTS, [{"x": row} for row in ROWS])


def test_lists_of_fixed_size() -> None:
    table = pa.table({"x": pa.array([[1, 2], None, [3, None]], pa.list_(pa.int16(), 2))})
    assert EventBatch.from_arrow(table).events() == [
        Event({"x": [1, 2]}),
        Event({}),
        Event({"x": [3, None]}),
    ]


def test_lists_of_structs_and_of_lists() -> None:
    rows = [
        [{"a": 1, "b": {"c": ["x", None]}}, None],
        [{"a": None, "b": None}],
        None,
        [{"a": 2, "b": {"c": None}}, {"a": 3, "b": {"c": []}}],
    ]
    table = pa.table({"x": pa.array(rows), "y": pa.array([[[1], []], None, [[2, 3], None], []])})
    events = EventBatch.from_arrow(table).events()
    assert events[0] == Event({"x": [{"a": 1, "b.c": ["x", None]}, None], "y": [[1], []]})
    assert events[3] == Event({"x": [{"a": 2}, {"a": 3, "b": {"c": []}}], "y": []})
    engine = Engine()
    engine.subscribe("exists(x, e -> e.a > 1 AND size(e.b.c) = 0)", id="a")
    engine.subscribe("exists(x, e -> array_contains(e.b.c, 'x'))", id="b")
    engine.subscribe("exists(y, e -> forall(e, n -> n > 1) AND size(e) > 0)", id="c")
    assert engine.match_arrow(table).to_pylist() == [
        {"event": 0, "subscription": "b"},
        {"event": 2, "subscription": "c"},
        {"event": 3, "subscription": "a"},
    ]


def test_a_field_that_nobody_looks_at_may_be_anything() -> None:
    table = pa.table({"x": pa.array([[{"a": 1, "b": b"raw", "c": float("nan")}]])})
    engine = Engine()
    engine.subscribe("exists(x, e -> e.a = 1)", id="a")
    assert engine.match_arrow(table).num_rows == 1
    engine.subscribe("exists(x, e -> e.b = 'raw')", id="b")
    with pytest.raises(UnsupportedColumnError, match=r"element\.b") as refused:
        engine.match_arrow(table)
    assert "the lists of 'x'" in refused.value.__notes__[0]
    engine.change("b", "exists(x, e -> e.c > 5)")
    with pytest.raises(InvalidValueError, match="not finite"):
        engine.match_arrow(table)


def test_a_list_may_be_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_arrow, "MAX_ELEMENTS", 3)
    engine = Engine()
    engine.subscribe("array_contains(x, 1)", id="a")
    with pytest.raises(ListTooLongError, match="'x', row 2: a list of 4"):
        engine.match_arrow(pa.table({"x": [None, [1], [1, 2, 3, 4]]}))


def test_pieces_of_a_batch_have_their_own_elements() -> None:
    events = [Event({"x": list(range(n))} if n % 3 else {"x": n}) for n in range(10)]
    batch = EventBatch.from_events(events)
    for rows in (1, 3, 4, 100):
        pieces = [each for _, piece in batch.chunks(rows) for each in piece.events()]
        assert pieces == events
    [lists] = [part for part in batch.slice(4, 8).parts("x") if isinstance(part, Lists)]
    assert len(lists.store.elements) == 4 + 5 + 7
    assert event_batch.EventBatch.from_events(events[4:8]).events() == batch.slice(4, 8).events()


@pytest.mark.parametrize("matcher", sorted(matcher_names()))
@pytest.mark.parametrize("absent", ["fails", "passes"])
def test_matchers_agree(matcher: str, absent: Any) -> None:
    events = [{"x": row} for row in ROWS] + [{"x": "a"}, {"x": [1, "a", 2.5]}, {"x": [[1], {}]}]
    engine = Engine(matcher=matcher, absent=absent)
    engine.subscribe_many((f"s{number:03}", text) for number, text in enumerate(TEXTS))
    wanted = expected(TEXTS, events, absent)
    assert [engine.match(event) for event in events] == wanted
    assert engine.match_batch(events) == wanted


def objects(chance: random.Random) -> Any:
    """An object of which something may be missing, or of another type."""
    values = [None, 1, 2, 3, "a", "b", True]
    return {name: chance.choice(values) for name in ("a", "b") if chance.random() < 0.8}


@pytest.mark.usefixtures("plain_loops")
@pytest.mark.parametrize("seed", range(3))
def test_many_conditions_of_which_some_are_inverted(seed: int) -> None:
    chance = random.Random(seed)
    tests = [
        "e.a = 1",
        "e.a > 1 AND e.b = 2",
        "e.a = 'a' OR e.b = 1",
        "e.a IS NULL",
        "e.b LIKE 'a'",
    ]
    tests += [f"e.a = {n} AND NOT e.b = {n}" for n in range(4)] + ["e.a * 2 = 4", "e.a = 1 OR TRUE"]
    texts = [f"{no} exists(x, e -> {test})" for test in tests for no in ("", "NOT")]
    events = [
        Event({"x": [objects(chance) for _ in range(chance.randrange(4))]}) for _ in range(60)
    ]
    engine = Engine()
    copies = range(40)  # so that they are compiled
    engine.subscribe_many((f"s{n:03} {c}", text) for c in copies for n, text in enumerate(texts))
    wanted = [
        sorted(f"{id} {copy}" for id in each for copy in copies) for each in expected(texts, events)
    ]
    assert engine.match_batch(events) == wanted
    assert [engine.match(event) for event in events] == wanted


def test_equal_elements_are_matched_once() -> None:
    tests = ElementTests([Constraint("x", Operator.HAS, parse_where("element = 'a'"))], [False])
    asked: list[int] = []
    segment = tests._segment
    assert segment is not None
    match = segment.match

    class Counting:
        def match(self, columns: EventBatch, epoch: int, *, enough: int) -> Any:
            asked.append(len(columns))
            return match(columns, epoch, enough=enough)

    tests._segment = Counting()  # type: ignore[assignment]
    batch = EventBatch.from_events([Event({"x": ["a", "b", "a"]})] * 50)
    [lists] = batch.parts("x")
    assert isinstance(lists, Lists)
    first, marks = tests.hits(lists)
    assert asked == [3], "two strings, and null"
    assert first.tolist() == [2 * n for n in range(51)]
    assert set(marks.tolist()) == {0}


def test_saved_and_loaded(tmp_path: Path) -> None:
    engine = Engine()
    texts = [
        *TEXTS,
        *(f"array_contains(x, 't{n}') AND NOT array_contains(y, {n})" for n in range(300)),
    ]
    engine.subscribe_many((f"s{number:03}", text) for number, text in enumerate(texts))
    engine.save(tmp_path / "engine")
    loaded = Engine.load(tmp_path / "engine")
    events = [{"x": row, "y": [1, 5]} for row in [*ROWS, ["t5", "t6"]]]
    assert [loaded.match(event) for event in events] == [engine.match(event) for event in events]
    assert loaded.match_batch(events) == expected(texts, events)
    assert loaded.match(events[-1])[-1] == f"s{len(TEXTS) + 6:03}"


def test_why_a_list_matched_or_not() -> None:
    engine = Engine()
    engine.subscribe("exists(items, i -> lower(i.kind) = 'book')", id="s")
    shown = str(engine.explain("s", {"items": [{"kind": "Pen"}]}))
    assert "exists(items, i -> lower(i.kind) = 'book')" in shown
    assert "saw array({kind: 'Pen'})" in shown
    shown = str(engine.explain("s", {"items": "book"}))
    assert "a string, where the constraint is on a list" in shown
