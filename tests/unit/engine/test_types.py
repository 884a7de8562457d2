"""Values of every type that stands for one of the model's, through every way in."""

from __future__ import annotations

import copy
import enum
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest

from predicast import Engine, Interval, attr
from predicast.errors import InvalidValueError
from predicast.language import attributes_from_json, parse_where, to_where
from predicast.language.json_form import subscription_from_json, subscription_to_json
from predicast.matching.registry import matcher_names
from predicast.model.decimals import ExactDecimal, order_text
from predicast.model.values import checked
from predicast.testing import edges

LONG = Decimal("0.10000000000000000001")
BEYOND = 2**64 - 1


class Colour(enum.Enum):
    RED = "red"
    GREEN = 2
    OTHER = object()


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    A = "a"


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (Decimal("9.99"), 9.99),
        (Decimal("5.00"), 5),
        (Decimal("-0"), 0),
        (Decimal("1E+3"), 1000),
        (Decimal(2**63), 2.0**63),
        (2**63, 2.0**63),
        (np.uint64(7), 7),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (date(2026, 1, 31), datetime(2026, 1, 31, tzinfo=UTC)),
        (np.datetime64("2026-01-31T00:00:00.000001000", "ns"),
         datetime(2026, 1, 31, 0, 0, 0, 1, UTC)),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Colour.RED, "red"),
        (Colour.GREEN, 2),
        (Colour.OTHER, "OTHER"),
        (Level.HIGH, 3),
        (Word.A, "a"),
    ],
)  # fmt: skip
def test_what_stands_for_a_value(given: Any, value: Any) -> None:
    found = checked("x", given)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("given", [LONG, BEYOND, np.uint64(BEYOND), 10**23, 1 - 2**70, -LONG])
def test_what_is_neither_integer_nor_float_stays_exact(given: Any) -> None:
    found = checked("x", given)
    assert type(found) is ExactDecimal
    assert Decimal(found) == Decimal(int(given) if isinstance(given, np.integer) else given)
    assert checked("x", found) is found


TOO_LONG: dict[str, Any] = {
    "nan": Decimal("NaN"),
    "infinite": Decimal("inf"),
    "zeros": Decimal("1e999999999"),
    "digits": 10**5000,  # which Python would not even show
    "fraction": Decimal("1e-5000"),
}


@pytest.mark.parametrize("wrong", TOO_LONG.values(), ids=TOO_LONG)
def test_what_is_too_long_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidValueError, match="attribute 'x'"):
        checked("x", wrong)


def test_all_numbers_have_one_order() -> None:
    numbers: list[Any] = [*edges.INTEGERS, *edges.FLOATS, *edges.DECIMALS, 0.1, 9.99, 0.5, 3]
    for a in numbers:
        for b in numbers:
            assert (a < b) is (order_text(a) < order_text(b)), (a, b)
            assert (a == b) is (order_text(a) == order_text(b)), (a, b)
            assert (a <= b, a > b, a >= b, a != b) == (
                a < b or a == b, b < a, b < a or a == b, not a == b,  # noqa: SIM201
            )  # fmt: skip


TESTS = (
    "x = 9.99", "x < 0.1", "x <= 0.1", "x = 0.10000000000000000001", "x > 0.1",
    "x BETWEEN 0.09999999999999999999 AND 0.1", "x IN (3, 18446744073709551615, 0.5)",
    "x = 18446744073709551615", "x > 9223372036854775806.5", "x >= 9223372036854775807",
    "x != 18446744073709551615", "NOT (x < 9.99)", "x < -18446744073709551615",
)  # fmt: skip
NUMBERS: tuple[Any, ...] = (
    Decimal("9.99"), 9.99, Decimal("0.1"), 0.1, LONG, BEYOND, np.uint64(BEYOND), BEYOND + 1,
    2**63 - 1, 2**63 - 2, Decimal("9223372036854775806.7"), 0.5, 3, Decimal("3.0"), -(2**65),
)  # fmt: skip


@pytest.mark.parametrize("matcher", matcher_names())
def test_decimals_are_compared_exactly(matcher: str) -> None:
    engine, oracle = Engine(matcher=matcher), Engine(matcher="brute-force")
    for each in (engine, oracle):
        each.subscribe_many((text, text) for text in TESTS)
    found = engine.match_batch({"x": number} for number in NUMBERS)
    assert found == [oracle.match({"x": number}) for number in NUMBERS]
    assert found == [engine.match({"x": number}) for number in NUMBERS]
    assert found[0] == found[1]  # the price that was written
    assert "x = 9.99" in found[0]
    assert "x = 0.10000000000000000001" in found[4]
    assert "x = 18446744073709551615" in found[5]
    assert "x > 9223372036854775806.5" not in found[9]
    regions = [Interval(lo, None, lo_open=o) for lo in NUMBERS for o in (False, True)]
    expected = [oracle.match({"x": region}) for region in regions]
    assert [engine.match({"x": region}) for region in regions] == expected
    assert engine.match_batch({"x": region} for region in regions) == expected


@pytest.mark.parametrize(
    "type_",
    [pa.decimal128(38, 19), pa.decimal256(76, 20), pa.decimal128(10, 2), pa.decimal64(18, 4)],
)
@pytest.mark.parametrize("compiled", [False, True])
def test_columns_of_decimals(type_: pa.DataType, compiled: bool) -> None:
    engine = Engine()
    engine.subscribe_many((text, text) for text in TESTS)
    if compiled:
        engine = copy.deepcopy(engine)
    values: list[Decimal | None] = [None]
    for number in NUMBERS:
        exact = Decimal(int(number)) if isinstance(number, np.integer | int) else None
        exact = Decimal(repr(number)) if isinstance(number, float) else exact or number
        try:
            pa.array([exact], type_)
        except pa.ArrowInvalid:
            continue
        values.append(exact)
    assert len(values) > 5
    table = pa.table({"x": pa.chunked_array([values, values[:3]], type_)})
    expected = [engine.match({"x": value}) for value in [*values, *values[:3]]]
    assert by_event(engine, table) == expected


def by_event(engine: Engine, table: pa.Table) -> list[list[str]]:
    found: list[list[str]] = [[] for _ in range(table.num_rows)]
    for row in engine.match_arrow(table).to_pylist():
        found[row["event"]].append(row["subscription"])
    return [sorted(ids) for ids in found]


def test_integers_without_a_sign() -> None:
    engine = Engine()
    engine.subscribe_many((text, text) for text in TESTS)
    for values in ([3, 5, None], [3, BEYOND, None, 2**63, 2**63 - 1]):
        table = pa.table({"x": pa.array(values, pa.uint64())})
        assert by_event(engine, table) == [engine.match({"x": value}) for value in values]


def test_many_of_them_are_indexed() -> None:
    engine, oracle = Engine(), Engine(matcher="brute-force")
    for each in (engine, oracle):
        each.subscribe_many((str(n), attr("id") == 2**63 + 2 * n + 1) for n in range(3000))
    loaded = copy.deepcopy(engine)
    events = [{"id": 2**63 + n} for n in range(0, 4000, 7)]
    expected = oracle.match_batch(events)
    assert sum(map(len, expected)) > 100
    assert engine.match_batch(events) == loaded.match_batch(events) == expected


def test_uuids_in_columns() -> None:
    if not hasattr(pa, "uuid"):
        pytest.skip("this PyArrow has no type for them")
    engine = Engine()
    engine.subscribe(f"id = '{UUID(int=7)}'", id="seven")
    values = [UUID(int=7).bytes, None, UUID(int=8).bytes]
    table = pa.table({"id": pa.array(values, pa.uuid())})
    assert by_event(engine, table) == [["seven"], [], []]
    encoded = pa.DictionaryArray.from_arrays([0, 0, None], pa.array(values[:1], pa.uuid()))
    assert by_event(engine, pa.table({"id": encoded})) == [["seven"], ["seven"], []]


def test_forms_keep_every_digit() -> None:
    text = "x = 0.12345678901234567890 AND y < -5.5BD AND z IN (1, 18446744073709551615)"
    subscription = parse_where(text)
    assert to_where(subscription) == (
        "x = 0.1234567890123456789BD AND y < -5.5 AND z IN (1, 18446744073709551615BD)"
    )
    assert parse_where(to_where(subscription)) == subscription
    assert subscription_from_json(subscription_to_json(subscription)) == subscription
    engine = Engine()
    engine.subscribe(subscription, id="a")
    engine.subscribe("x = :x AND y < 0", id="b", parameters={"x": LONG})
    loaded = copy.deepcopy(engine)
    assert loaded.get("a").subscription == subscription
    assert loaded.get("b").parameters == {"x": LONG}
    assert loaded.match({"x": LONG, "y": -1}) == ["b"]
    engine.change("b", parameters={"x": 5})
    assert engine.match({"x": 5, "y": -1}) == ["b"]
    engine.change("b", parameters={"x": BEYOND})
    assert engine.match({"x": BEYOND, "y": -1}) == ["b"]


def test_json() -> None:
    engine = Engine()
    engine.subscribe_many((text, text) for text in TESTS)
    document = {"x": {"$decimal": str(LONG)}}
    assert engine.match(attributes_from_json(json.dumps(document))) == engine.match({"x": LONG})
    assert engine.match(attributes_from_json('{"x": 9.99}')) == engine.match({"x": 9.99})
    for wrong in ("1e5", "NaN", "", "1.2.3", 5):
        read = attributes_from_json(json.dumps({"x": {"$decimal": wrong}}))
        with pytest.raises(InvalidValueError, match="decimal"):
            engine.match(read)


def test_derived_attributes_compare_decimals_and_compute_with_floats() -> None:
    texts = ("x < y", "x = y", "x + 1 > 1", "abs(x) < 1", "greatest(x, y) = y", "x <=> y")
    engine, oracle = Engine(), Engine(matcher="brute-force")
    for each in (engine, oracle):
        each.subscribe_many((text, text) for text in texts)
        each.subscribe("CAST(x AS STRING) = '0.10000000000000000001'", id="text")
    events = [{"x": x, "y": y} for x in NUMBERS for y in (0.1, LONG, 5, BEYOND)]
    expected = [oracle.match(event) for event in events]
    assert engine.match_batch(events) == oracle.match_batch(events) == expected
    assert "x < y" in engine.match({"x": 0.1, "y": LONG})
    assert "text" in engine.match({"x": LONG})


def test_literals() -> None:
    assert parse_where("x = 9223372036854775806.0") == parse_where("x = 9223372036854775806")
    assert parse_where("x = 0.10000000000000001") == parse_where("x = 0.1")  # 17 digits: a float
    assert parse_where("x = 1e23") != parse_where("x = 100000000000000000000000")
    assert parse_where("x = 0.1BD") == parse_where("x = 0.1")
