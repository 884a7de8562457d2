"""What counts as a value, and what is refused, naming the attribute."""

import enum
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from predicast import Event, Interval, attr
from predicast.errors import InvalidValueError
from predicast.language import parametric, to_subscription
from predicast.model import Kind
from predicast.model.values import checked, from_microseconds, kind_of, microseconds, show


class Colour(enum.StrEnum):
    RED = "red"


class OldColour(str, enum.Enum):  # noqa: UP042  # what older code has
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    ("raw", "value", "kind"),
    [
        (5, 5, Kind.NUMBER),
        (-(2**63), -(2**63), Kind.NUMBER),
        (2**63 - 1, 2**63 - 1, Kind.NUMBER),
        (1.5, 1.5, Kind.NUMBER),
        (True, True, Kind.BOOLEAN),
        ("é\U0001f600", "é\U0001f600", Kind.STRING),
        (Colour.RED, "red", Kind.STRING),
        (OldColour.RED, "red", Kind.STRING),
        (Level.HIGH, 3, Kind.NUMBER),
        (np.int32(7), 7, Kind.NUMBER),
        (np.float64(0.5), 0.5, Kind.NUMBER),
        (np.bool_(True), True, Kind.BOOLEAN),
        (np.float32(0.5), 0.5, Kind.NUMBER),
        (np.uint64(7), 7, Kind.NUMBER),
        (np.str_("é"), "é", Kind.STRING),
        (np.array("é"), "é", Kind.STRING),
        (np.datetime64("2026-01-31"), datetime(2026, 1, 31, tzinfo=UTC), Kind.TIMESTAMP),
        (np.datetime64("2026-01-31T12", "ns"), datetime(2026, 1, 31, 12, tzinfo=UTC),
         Kind.TIMESTAMP),
        (np.datetime64(-7_000_000, "ps"), datetime(1969, 12, 31, 23, 59, 59, 999_993, UTC),
         Kind.TIMESTAMP),
        (np.datetime64("2026-01-31T12:00:00", "us"), datetime(2026, 1, 31, 12, tzinfo=UTC),
         Kind.TIMESTAMP),
        (date(2026, 1, 31), datetime(2026, 1, 31, tzinfo=UTC), Kind.TIMESTAMP),
        (datetime(2026, 1, 31), datetime(2026, 1, 31, tzinfo=UTC), Kind.TIMESTAMP),  # noqa: DTZ001
        (datetime(2026, 1, 31, 2, tzinfo=timezone(timedelta(hours=2))),
         datetime(2026, 1, 31, tzinfo=UTC), Kind.TIMESTAMP),
    ],
    ids=repr,
)  # fmt: skip
def test_a_value_has_one_python_type(raw: object, value: object, kind: Kind) -> None:
    found = checked("x", raw)
    assert found == value
    assert type(found) is type(value)
    assert kind_of(found) is kind


def test_minus_zero_is_zero() -> None:
    assert str(checked("x", -0.0)) == "0.0"


@pytest.mark.parametrize(
    "raw",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        10**400,
        -(10**400),
        "\ud800",
        b"bytes",
        Decimal("NaN"),
        Decimal("1e400"),
        [1, 2],
        object(),
        1j,
        np.float64("nan"),
        np.array([1, 2]),
        np.datetime64("2026-01-31T12:00:00.000000001", "ns"),
        np.datetime64("NaT"),
        np.datetime64("10000-01-01"),
        np.datetime64(2**62, "s"),
        np.timedelta64(5, "s"),
        np.timedelta64(5, "ns"),
        np.str_("\ud800"),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2))),
    ],
    ids=lambda raw: type(raw).__name__,  # the repr of an object differs between processes
)
def test_anything_else_is_refused_by_name(raw: object) -> None:
    with pytest.raises(InvalidValueError, match=r"attribute 'order\.total'") as caught:
        checked("order.total", raw)
    assert caught.value.attribute == "order.total"


def test_pandas_timestamps_are_timestamps_down_to_microseconds() -> None:
    import pandas as pd

    expected = datetime(2026, 1, 31, microsecond=5, tzinfo=UTC)
    assert checked("x", pd.Timestamp("2026-01-31 00:00:00.000005")) == expected
    with pytest.raises(InvalidValueError, match="parts of a microsecond"):
        checked("x", pd.Timestamp("2026-01-31 00:00:00.000000005"))
    with pytest.raises(InvalidValueError, match="not a time"):
        checked("x", pd.NaT)
    with pytest.raises(InvalidValueError, match="missing"):
        checked("x", pd.NA)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (np.datetime64("NaT"), "not a time"),
        (np.datetime64("NaT", "ns"), "not a time"),
        (np.datetime64(1, "ns"), "parts of a microsecond"),
        (np.datetime64("20000-01-01"), "years 1 to 9999"),
        (np.datetime64(2**62, "D"), "years 1 to 9999"),
        (np.ma.masked, "missing"),
    ],
    ids=repr,
)
def test_what_is_wrong_with_a_numpy_scalar_is_said(raw: object, why: str) -> None:
    with pytest.raises(InvalidValueError, match=why):
        checked("x", raw)


def test_numpy_scalars_may_stand_wherever_values_do() -> None:
    assert Event({"x": np.int64(5), "s": np.str_("a")}) == Event({"x": 5, "s": "a"})
    ends: list[Any] = [np.int8(1), np.float32(2.5)]
    assert Interval(*ends) == Interval(1, 2.5)
    built = attr("x").between(np.int64(1), np.float32(2)) & attr("s").isin(np.array(["a", "b"]))
    assert to_subscription(built) == to_subscription("x BETWEEN 1 AND 2 AND s IN ('a', 'b')")
    moment = np.datetime64("2026-01-31", "ns")
    assert to_subscription(attr("at") > moment) == to_subscription("at > DATE '2026-01-31'")
    found = parametric("x > :x AND b = :b").fill({"x": np.float32(1.5), "b": np.bool_(True)})
    assert found.operands == (1.5, True)


def test_microseconds_are_exact_and_reversible() -> None:
    for moment in (datetime.min, datetime.max, datetime(2026, 1, 31, microsecond=1)):  # noqa: DTZ001, DTZ901
        instant = moment.replace(tzinfo=UTC)
        assert from_microseconds(microseconds(instant)) == instant


def test_values_are_shown_as_the_language_writes_them() -> None:
    shown = [show(v) for v in (True, 5, 0.1, "it's", datetime(2026, 1, 31, 1, tzinfo=UTC))]
    assert shown == ["TRUE", "5", "0.1", r"'it\'s'", "TIMESTAMP '2026-01-31 01:00:00Z'"]
