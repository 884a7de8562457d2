"""A broker's neighbours as a picture and as rows."""

from typing import Any
from xml.etree import ElementTree as ET

import msgspec

from predicast.broker.links.status import LinksStatus, NeighbourStatus, ParentStatus, Traffic
from predicast.console.trees import drawing, rows_of


def status(**fields: Any) -> dict[str, Any]:
    child = NeighbourStatus("<leaf>", "child", "up", True, 3, 4, 0, Traffic(10, 2000))
    lost = NeighbourStatus("lost", "child", "up", False, 1, 1, 9, Traffic())
    parent = ParentStatus("wss://core", None, False, "nobody answers")
    record = LinksStatus("default", "here", 1, None, False, True, 0, [child, lost], [parent], {})
    found: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(record, **fields))
    return found


def test_every_neighbour_and_every_silent_parent_has_a_row() -> None:
    rows = rows_of(status())
    assert [(each["name"], each["state"]) for each in rows] == [
        ("<leaf>", "up"),
        ("lost", "not connected"),
        ("wss://core", "not connected"),
    ]
    assert rows[0]["out"] == "2,000"
    assert rows[2]["problem"] == "nobody answers"


def test_a_picture_is_well_formed_and_has_them_all() -> None:
    root = ET.fromstring(drawing(status()))
    titles = {each.text for each in root.iter("title")}
    assert titles == {"here", "<leaf>", "lost", "wss://core"}
    assert [each.get("class") for each in root.iter("line")] == ["cut", "link", "cut"]


def test_a_broker_alone_is_drawn_alone() -> None:
    alone = status(neighbours=[], parents=[])
    assert rows_of(alone) == []
    assert len(list(ET.fromstring(drawing(alone)).iter("rect"))) == 1
