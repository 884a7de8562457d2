"""Events with attributes that cannot be compared: what nobody looks at does not matter."""

from __future__ import annotations

import copy
import math
import uuid
from typing import Any

import pyarrow as pa
import pytest

from predicast import Engine, Event, Interval
from predicast.errors import (
    InvalidEventError,
    InvalidIntervalError,
    InvalidOptionError,
    InvalidValueError,
    UnsupportedColumnError,
)
from predicast.matching.registry import matcher_names

NAN = math.nan
ANYTHING: dict[str, Any] = {
    "list": [1, 2],
    "nan": NAN,
    "object": object(),
    "uuid": uuid.UUID(int=1),
    "half": "\ud800",
    "": 1,
    "deep": {"list": [1], "n": {"x": {1, 2}}},
}


def engine_of(*expressions: str, **options: Any) -> Engine:
    engine = Engine(**options)
    engine.subscribe_many((str(number), text) for number, text in enumerate(expressions))
    return engine


@pytest.mark.parametrize("matcher", matcher_names())
def test_what_nobody_looks_at_may_be_anything(matcher: str) -> None:
    engine = engine_of("price < 10", "order.total > 5", matcher=matcher)
    event = {**ANYTHING, "price": 9.5, "order": {"total": 6, "lines": [{"sku": "a"}]}}
    assert engine.match(event) == ["0", "1"]
    assert engine.match_batch([event, {**ANYTHING, "price": 11}]) == [["0", "1"], []]
    assert engine.explain("0", event).matched
    assert engine.invalid == (0, 0, None)


def test_the_inputs_of_a_derived_attribute_are_looked_at() -> None:
    engine = engine_of("price * qty > 10")
    assert engine.match({"price": 4, "qty": 3, "note": [1]}) == ["0"]
    with pytest.raises(InvalidValueError, match="'qty'"):
        engine.match({"price": 4, "qty": {3}})


def test_what_is_looked_at_follows_the_subscriptions() -> None:
    engine = engine_of("price < 10")
    event = {"price": 1, "tags": {1}}
    assert engine.match(event) == ["0"]
    engine.subscribe("tags = 'a'", id="tags")
    with pytest.raises(InvalidValueError, match="'tags'"):
        engine.match(event)
    engine.unsubscribe("tags")
    assert engine.match(event) == ["0"]


def test_by_default_what_cannot_be_compared_is_refused() -> None:
    engine = engine_of("price < 10")
    with pytest.raises(InvalidValueError, match="'price': nan") as refused:
        engine.match({"price": NAN})
    assert refused.value.attribute == "price"
    with pytest.raises(InvalidValueError, match="event 1: ") as refused:
        engine.match_batch([{"price": 1}, {"price": NAN}])
    assert refused.value.event == 1
    with pytest.raises(InvalidEventError, match="given twice"):
        engine_of("a.b = 1").match({"a": {"b": 1}, "a.b": 1})
    with pytest.raises(InvalidEventError, match="non-empty strings, not b'price'"):
        engine.match({b"price": 1})  # type: ignore[dict-item]
    with pytest.raises(InvalidEventError, match="a mapping"):
        engine.match([1])  # type: ignore[arg-type]
    assert engine.invalid.events == 0


@pytest.mark.parametrize("absent", ["fails", "passes"])
def test_it_may_count_as_absent(absent: str) -> None:
    engine = engine_of("price < 10", "qty = 1", "price IS NULL", absent=absent, on_invalid="absent")
    expected = engine.match({"qty": 1})
    assert engine.match({"price": NAN, "qty": 1}) == expected
    assert engine.match_batch([{"price": NAN, "qty": 1}, {"price": 1}])[0] == expected
    assert engine.invalid[:2] == (2, 2)
    assert engine.match({"price": NAN, "qty": {1}}) == engine.match({})
    assert engine.invalid[:2] == (3, 4)
    assert "'qty'" in (engine.invalid.latest or "")
    assert not engine.explain("0", {"price": NAN}).matched or absent == "passes"


def test_the_event_may_be_skipped() -> None:
    engine = engine_of("price < 10", "qty = 1", "NOT (qty = 2)", "price IS NULL", on_invalid="skip")
    assert engine.match({"price": NAN, "qty": 1}) == []
    events: list[dict[str, Any]] = [{"qty": 1}, {"price": NAN, "qty": 1}, {"price": 1}]
    assert engine.match_batch(events) == [["1", "2", "3"], [], ["0"]]
    assert engine.match_batch([{"price": NAN}]) == [[]]
    assert engine.invalid[:2] == (3, 3)
    with pytest.raises(InvalidValueError):  # that is why nothing matches
        engine.explain("0", {"price": NAN})


def test_a_call_may_choose_otherwise() -> None:
    engine = engine_of("price < 10", "qty = 1")
    event = {"price": NAN, "qty": 1}
    assert engine.match(event, on_invalid="absent") == ["1"]
    assert engine.match(event, on_invalid="skip") == []
    assert engine.match_batch([event], on_invalid="absent") == [["1"]]
    with pytest.raises(InvalidValueError):
        engine.match(event)
    strict = Engine(on_invalid="skip")
    strict.subscribe("price < 10")
    with pytest.raises(InvalidValueError):
        strict.match(event, on_invalid="raise")


def test_other_words_are_refused() -> None:
    with pytest.raises(InvalidOptionError, match="did you mean 'skip'"):
        Engine(on_invalid="skp")  # type: ignore[arg-type]
    with pytest.raises(InvalidOptionError, match="'drop'"):
        Engine().match({}, on_invalid="drop")  # type: ignore[arg-type]


def test_an_event_that_was_checked_is_taken_as_it_is() -> None:
    engine = engine_of("price < 10", on_invalid="skip")
    assert engine.match(Event({"price": 9.5, "note": "x"})) == ["0"]
    assert engine.match_batch([Event({}), Event({"price": 9.5})]) == [[], ["0"]]


ROWS = pa.table(
    {
        "price": pa.chunked_array([[1.0, NAN], [None, 3.0, NAN]]),
        "qty": [1, 1, 1, 2, 1],
        "tags": [b"1", None, b"2", None, None],
    }
)


def matched(engine: Engine, **options: Any) -> list[list[str]]:
    table = engine.match_arrow(ROWS, **options)
    found: list[list[str]] = [[] for _ in range(ROWS.num_rows)]
    for row in table.to_pylist():
        found[row["event"]].append(row["subscription"])
    counts = engine.count_arrow(ROWS, **options).to_pylist()
    assert counts == [len(each) for each in found]
    return [sorted(each) for each in found]


def test_rows_of_tables_likewise() -> None:
    engine = engine_of("price < 10", "qty = 1", "price IS NULL")
    with pytest.raises(InvalidValueError, match="row 1: nan"):
        matched(engine)
    assert matched(engine, on_invalid="absent") == [
        ["0", "1"], ["1", "2"], ["1", "2"], ["0"], ["1", "2"],
    ]  # fmt: skip
    assert engine.invalid[:2] == (4, 4)  # matched and counted
    assert matched(engine, on_invalid="skip") == [["0", "1"], [], ["1", "2"], ["0"], []]


def test_columns_that_cannot_be_compared_likewise() -> None:
    engine = engine_of("qty = 1", "tags = 1")
    with pytest.raises(UnsupportedColumnError):
        matched(engine)
    assert matched(engine, on_invalid="absent") == [["0"], ["0"], ["0"], [], ["0"]]
    assert matched(engine, on_invalid="skip") == [[], ["0"], [], [], ["0"]]


def test_intervals_likewise() -> None:
    engine = engine_of("x > 5")
    for dtype in (pa.int64(), pa.float64()):
        table = pa.table({"lo": pa.array([1, 9, 7], dtype), "hi": pa.array([9, 1, 9], dtype)})
        options: dict[str, Any] = {"intervals": {"x": ("lo", "hi")}}
        with pytest.raises(InvalidIntervalError, match="row 1"):
            engine.match_arrow(table, **options)
        found = engine.match_arrow(table, **options, on_invalid="absent")
        assert found.column("event").to_pylist() == [0, 2]
    assert engine.match({"x": Interval(1, 9)}) == ["0"]


def test_text_that_is_not_unicode_likewise() -> None:
    engine = engine_of("s = 'a'")
    text = pa.array([b"a", b"\xff", b"a"]).view(pa.string())
    with pytest.raises(InvalidValueError, match="row 1"):
        engine.match_arrow(pa.table({"s": text}))
    found = engine.match_arrow(pa.table({"s": text}), on_invalid="absent")
    assert found.column("event").to_pylist() == [0, 2]


def test_copies_and_loaded_engines(tmp_path: Any) -> None:
    engine = engine_of("price < 10", on_invalid="skip")
    assert copy.deepcopy(engine).on_invalid == "skip"
    engine.save(tmp_path / "engine")
    assert Engine.load(tmp_path / "engine").on_invalid == "raise"
    assert Engine.load(tmp_path / "engine", on_invalid="absent").match({"price": NAN}) == []


@pytest.mark.parametrize("matcher", matcher_names())
def test_what_cannot_be_compared_in_a_list_counts_as_null_there(matcher: str) -> None:
    lists: list[list[float]] = [[1.0, 2.0], [NAN, 5.0], [NAN, 0.0], [0.0]]
    text = "exists(xs, x -> x > 1)"
    for choice, matching in (("absent", [0, 1]), ("skip", [0])):
        engine = engine_of(text, matcher=matcher, on_invalid=choice)
        found = engine.match_batch([{"xs": values} for values in lists])
        assert [number for number, ids in enumerate(found) if ids] == matching
        assert engine.invalid[:2] == (2, 2)
        table = engine.match_arrow(pa.table({"xs": lists}))
        assert table.column("event").to_pylist() == matching
        assert engine.invalid[:2] == (4, 4)
    with pytest.raises(InvalidValueError, match="xs"):
        engine_of(text, matcher=matcher).match({"xs": lists[1]})


def test_what_cannot_be_compared_in_objects_of_a_list_is_their_field_alone() -> None:
    items = [{"price": NAN, "kind": "book"}, {"price": 5, "kind": object()}]
    engine = engine_of("exists(items, i -> i.kind = 'book')", on_invalid="absent")
    assert engine.match({"items": items}) == ["0"]
    assert engine.invalid[:2] == (1, 2)
