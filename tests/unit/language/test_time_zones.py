"""The zone of timestamps that name none."""

from __future__ import annotations

import pytest

from predicast.errors import InvalidOptionError
from predicast.language.reading import stated_by
from predicast.language.time_zones import reading_in


def read(text: str, zone: str | None) -> str:
    with reading_in(zone):
        return str(stated_by(text)[0].subscription())


@pytest.mark.parametrize(
    ("zone", "hour"),
    [
        (None, "2024-07-01 12:00:00Z"),
        ("UTC", "2024-07-01 12:00:00Z"),
        ("Europe/Rome", "2024-07-01 10:00:00Z"),
        ("Asia/Kolkata", "2024-07-01 06:30:00Z"),
        ("+05:30", "2024-07-01 06:30:00Z"),
        ("GMT+8", "2024-07-01 04:00:00Z"),
        ("-0330", "2024-07-01 15:30:00Z"),
    ],
)
def test_a_timestamp_without_a_zone(zone: str | None, hour: str) -> None:
    for number in range(2):  # the second time its shape is known
        text = f"at > TIMESTAMP '2024-07-01 12:00:00' AND x = {number}"
        assert read(text, zone) == read(f"at > TIMESTAMP '{hour}' AND x = {number}", None)


def test_one_that_names_its_zone_and_days_are_what_they_were() -> None:
    text = "at > TIMESTAMP '2024-07-01 12:00:00+02:00' AND day = DATE '2024-07-01'"
    assert read(text, "Asia/Kolkata") == read(text, None)


def test_constants_of_a_shape_are_of_one_zone() -> None:
    text = "at - INTERVAL 1 HOUR > TIMESTAMP '2024-07-01 12:00:00' + INTERVAL 1 DAY"
    in_utc = read(text, None)
    in_rome = read(text, "Europe/Rome")
    assert in_rome != in_utc
    assert read(text, None) == in_utc
    assert read(text, "Europe/Rome") == in_rome


@pytest.mark.parametrize("zone", ["Europe/Roma", "", "+99:00", 3, "../etc/passwd"])
def test_no_such_zone(zone: str) -> None:
    with pytest.raises(InvalidOptionError, match="time_zone is the name of a zone") as caught:
        read("x = 1", zone)
    assert caught.value.option == "time_zone"
