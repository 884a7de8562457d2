"""Events as people paste them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predicast.console.event_texts import brief_body, event_again, event_from_text, shown_body
from predicast.errors import PredicastError
from predicast.model import Interval
from predicast.protocol import BodyForm, StoredEvent

CLOUDEVENT = {"specversion": "1.0", "id": "7", "type": "sold", "source": "/shop", "data": {"a": 1}}


def stored(body: bytes, form: BodyForm = BodyForm.JSON) -> StoredEvent:
    return StoredEvent(1, 0.0, "e", "shop", form, body)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('{"price": 9.5}', BodyForm.JSON),
        (json.dumps(CLOUDEVENT), BodyForm.CLOUDEVENT),
        ('{"@context": {}, "a": 1}', BodyForm.JSON_LD),
        ("@prefix : <http://x/> . :a :b :c .", BodyForm.TURTLE),
        ("  PREFIX : <http://x/>\n:a :b :c .", BodyForm.TURTLE),
        ("<urn:a> <urn:b> 1 .", BodyForm.TURTLE),
    ],
)
def test_its_form_is_seen_from_the_text(text: str, form: BodyForm) -> None:
    event = event_from_text(text)
    assert event.form is form
    assert event.body == text.encode()
    assert isinstance(event.attributes, str) is (form in {BodyForm.TURTLE, BodyForm.JSON_LD})


def test_a_region_is_one() -> None:
    event = event_from_text('{"x": {"$interval": {"lo": 3, "hi": 7}}}')
    assert event.attributes == {"x": Interval(3, 7)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"price": 9.5,\n "symbol" "IBM"}', "line 2, column 11"),
        ("", "line 1, column 1"),
        ("[1, 2]", "an event is a JSON object"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_event_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(PredicastError, match=said):
        event_from_text(text)


@settings(max_examples=50)
@given(st.text())
def test_any_text_is_an_event_or_refused(text: str) -> None:
    try:
        event = event_from_text(text)
    except PredicastError:
        return
    assert event.body == text.encode()


def test_a_kept_event_is_read_as_it_was_published() -> None:
    text = '{"at": {"$timestamp": "2026-01-31T09:30:00Z"}, "tags": ["a"]}'
    published = event_from_text(text)
    again: Any = event_again(stored(published.body))
    assert again.attributes == published.attributes
    assert event_again(stored(b"\xff{")) is None


def test_bodies_are_shown_whole_or_in_brief() -> None:
    event = stored('{"city": "Köln"}'.encode())
    assert shown_body(event) == '{\n  "city": "Köln"\n}'
    assert shown_body(stored(b"not json")) == "not json"
    assert brief_body(stored(b'{"a":\n 1}')) == '{"a": 1}'
    assert brief_body(stored(b"x" * 50), 10) == "xxxxxxxxxx …"
