"""What counts as a value, and what is refused, naming the attribute."""

import enum
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest

from predicast.errors import InvalidValueError
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
        2**63,
        -(2**63) - 1,
        "\ud800",
        b"bytes",
        Decimal("1.5"),
        [1, 2],
        object(),
        1j,
        np.float64("nan"),
        np.array([1, 2]),
        np.datetime64("2026-01-31T12:00:00", "ns"),
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
    with pytest.raises(InvalidValueError, match="nanoseconds"):
        checked("x", pd.Timestamp("2026-01-31 00:00:00.000000005"))
    with pytest.raises(InvalidValueError):
        checked("x", pd.NaT)


def test_microseconds_are_exact_and_reversible() -> None:
    for moment in (datetime.min, datetime.max, datetime(2026, 1, 31, microsecond=1)):  # noqa: DTZ001, DTZ901
        instant = moment.replace(tzinfo=UTC)
        assert from_microseconds(microseconds(instant)) == instant


def test_values_are_shown_as_the_language_writes_them() -> None:
    shown = [show(v) for v in (True, 5, 0.1, "it's", datetime(2026, 1, 31, 1, tzinfo=UTC))]
    assert shown == ["TRUE", "5", "0.1", r"'it\'s'", "TIMESTAMP '2026-01-31 01:00:00Z'"]
