"""CloudEvents in structured, binary and batched form."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from predicast import Engine
from predicast.errors import InvalidEventError
from predicast.language import dialect_named
from predicast.language.cloudevents import from_batch, from_binary, from_http, from_structured

EVENT: dict[str, Any] = {
    "specversion": "1.0",
    "id": "1",
    "source": "/shop",
    "type": "com.example.sold",
    "time": "2026-11-16T12:00:00.5+01:00",
    "hop": 5,
    "urgent": True,
    "subject": None,
    "datacontenttype": "application/json",
    "data": {"order": {"total": 12.5}, "tags": ["a", "b"]},
}
HEADERS = {
    "CE-SpecVersion": "1.0",
    "ce-id": "1",
    "ce-source": "/shop",
    "ce-type": "com.example.sold",
    "ce-subject": "K%C3%B6ln%20S%C3%BCd",
    "ce-hop": "5",
    "Content-Type": "application/json; charset=utf-8",
    "Host": "example.com",
}


def test_structured() -> None:
    event = from_structured(json.dumps(EVENT))
    assert event == {name: value for name, value in EVENT.items() if value is not None}
    assert dialect_named("cesql").read_event(EVENT) == event
    assert dialect_named("cloudevents").read_event(EVENT) == event


def test_the_data_is_there_for_where_text() -> None:
    engine = Engine()
    engine.subscribe("data.order.total > 10 AND exists(data.tags, t -> t = 'b')", id="where")
    engine.subscribe("hop < 6 AND urgent = TRUE", id="cesql", dialect="cesql")
    engine.subscribe('{"prefix": {"type": "com.example."}}', id="filter", dialect="cloudevents")
    assert engine.match(from_structured(EVENT)) == ["cesql", "filter", "where"]


def test_binary() -> None:
    event = from_binary(HEADERS, b'{"total": 5}')
    assert event == {
        "specversion": "1.0",
        "id": "1",
        "source": "/shop",
        "type": "com.example.sold",
        "subject": "Köln Süd",
        "hop": "5",
        "datacontenttype": "application/json; charset=utf-8",
        "data": {"total": 5},
    }


def test_batched() -> None:
    batch = json.dumps([EVENT, {**EVENT, "id": "2"}])
    assert [event["id"] for event in from_batch(batch)] == ["1", "2"]
    assert from_batch("[]") == []


@pytest.mark.parametrize(
    ("content_type", "body", "ids"),
    [
        ("application/cloudevents+json; charset=utf-8", json.dumps(EVENT), ["1"]),
        ("application/cloudevents-batch+json", json.dumps([EVENT, EVENT]), ["1", "1"]),
        ("text/plain", "sold", ["1"]),
    ],
)
def test_the_form_is_told_by_the_content_type(content_type: str, body: str, ids: list[str]) -> None:
    headers = [*HEADERS.items(), ("content-type", content_type)]
    headers = [each for each in headers if each[0] != "Content-Type"]
    assert [event["id"] for event in from_http(headers, body.encode())] == ids


@pytest.mark.parametrize(
    ("content_type", "data"),
    [
        ("text/plain", "sold"),
        ("application/octet-stream", base64.b64encode(b"sold").decode()),
        (None, "sold"),
    ],
)
def test_data_by_its_content_type(content_type: str | None, data: str) -> None:
    given = {**EVENT, "datacontenttype": content_type}
    del given["data"]
    body = b'"sold"' if content_type is None else b"sold"
    given["data_base64"] = base64.b64encode(body).decode()
    assert from_structured(given)["data"] == data


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"id": None}, "has no id"),
    ({"id": ""}, "not empty"),
    ({"specversion": "0.3"}, "is '1.0'"),
    ({"Hop": 1}, "lower-case"),
    ({"hop": 2**31}, "32 bits"),
    ({"hop": 1.5}, "32 bits"),
    ({"hop": ["a"]}, "32 bits"),
    ({"time": "yesterday"}, "an instant"),
    ({"data_base64": "AAAA"}, "beside data"),
    ({"data": None, "data_base64": "?"}, "Base64"),
    ({"data": None, "data_base64": "e30x"}, "not JSON"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_what_is_no_cloud_event_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidEventError, match=message):
        from_structured({**EVENT, **change})


def test_what_is_no_message_is_refused() -> None:
    with pytest.raises(InvalidEventError, match="not JSON"):
        from_structured("{")
    with pytest.raises(InvalidEventError, match="is an object"):
        from_structured("[]")
    with pytest.raises(InvalidEventError, match="is a list"):
        from_batch("{}")
    with pytest.raises(InvalidEventError, match="has no id") as caught:
        from_batch([EVENT, {**EVENT, "id": None}])
    assert "position 1" in caught.value.__notes__[0]
    with pytest.raises(InvalidEventError, match="given twice"):
        from_binary([*HEADERS.items(), ("ce-id", "2")], b"")
    with pytest.raises(InvalidEventError, match="UTF-8"):
        from_binary({**HEADERS, "ce-subject": "%FF"}, b"")
    with pytest.raises(InvalidEventError, match="read in JSON"):
        from_http({**HEADERS, "Content-Type": "application/cloudevents+avro"}, b"")


def test_a_file_holds_one_event_or_a_batch() -> None:
    dialect = dialect_named("cesql")
    for content in (json.dumps(EVENT), json.dumps([EVENT, EVENT])):
        events = [dialect.read_event(each) for each in dialect.event_documents(content)]
        assert {event["id"] for event in events} == {"1"}
    with pytest.raises(InvalidEventError, match="the file is not JSON"):
        list(dialect.event_documents("{"))
