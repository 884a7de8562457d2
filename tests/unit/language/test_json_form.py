"""The JSON form: nothing is lost, and what is wrong is found by its path."""

from datetime import UTC, datetime

import pytest

from predicast import Event, Interval
from predicast.errors import InvalidValueError, JsonFormError, NestingTooDeepError
from predicast.language import (
    event_from_json,
    event_to_json,
    parse_where,
    subscription_from_json,
    subscription_to_json,
)


def test_subscription() -> None:
    text = (
        '{"any":[{"all":[{"attribute":"price","operator":"<","value":10},'
        '{"attribute":"at","operator":">=","value":{"$timestamp":"2026-01-31T00:00:00Z"}},'
        '{"attribute":"note","operator":"like","value":"50!%","escape":"!"},'
        '{"attribute":"volume","operator":"exists"}]}]}'
    )
    where = (
        "price < 10 AND at >= DATE '2026-01-31' AND note LIKE '50!%' ESCAPE '!' "
        "AND volume IS NOT NULL"
    )
    assert subscription_from_json(text) == parse_where(where)
    assert subscription_to_json(parse_where(where)) == text


def test_event() -> None:
    text = (
        '{"symbol":"IBM","at":{"$timestamp":"2026-01-31T09:30:00Z"},'
        '"x":{"$interval":{"lo":3,"hi":7,"hi_open":true}}}'
    )
    event = Event(
        {
            "symbol": "IBM",
            "at": datetime(2026, 1, 31, 9, 30, tzinfo=UTC),
            "x": Interval(3, 7, hi_open=True),
        }
    )
    assert event_from_json(text) == event
    assert event_to_json(event) == text


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("nonsense", "$"),
        ("NaN", "$"),
        ("[" * 100_000, "$"),
        ("[]", "$"),
        ('{"any": {}}', "$.any"),
        ('{"any": [], "all": []}', "$"),
        ('{"any": [{"all": 5}]}', "$.any[0].all"),
        ('{"any": [{"all": [5]}]}', "$.any[0].all[0]"),
        ('{"any": [{"all": [{"attribute": "a", "operator": "~"}]}]}', "$.any[0].all[0].operator"),
        ('{"any": [{"all": [{"attribute": "a", "operator": "="}]}]}', "$.any[0].all[0]"),
        ('{"any": [{"all": [{"attribute": "", "operator": "exists"}]}]}', "$.any[0].all[0]"),
        ('{"any": [{"all": [{"attribute": "a", "operator": "=", "value": null}]}]}',
         "$.any[0].all[0]"),
        ('{"any": [{"all": [{"attribute": "a", "operator": "=", "value": {"$timestamp": 5}}]}]}',
         "$.any[0].all[0].value"),
        ('{"any": [{"all": [{"attribute": "a", "operator": "=", "value": 1e999}]}]}', None),
        ('{"any": [{"all": [{"attribute": "a", "operator": "exists", "value": 1}]}]}',
         "$.any[0].all[0].value"),
        ('{"any": [{"all": [{"atribute": "a", "operator": "exists"}]}]}', "$.any[0].all[0]"),
        ('{"any": [' + ",".join(['{"all": []}'] * 131_073) + "]}", "$.any"),
        ('{"any": [{"all": [], "rest": {"any": []}}]}', "$.any[0].rest.any"),
        ('{"any": [{"all": [], "rest": 5}]}', "$.any[0].rest"),
        ('{"any": [{"rest": {"attribute": "a", "operator": "exists"}}]}', "$.any[0]"),
        ('{"any": [{"all": [], "rest": ' + '{"any": [' * 201 + "]}" * 201 + "}]}", None),
        ('{"any": [{"all": [{"attribute": "a", "operator": "any", "value": []}]}]}',
         "$.any[0].all[0]"),
        ('{"any": [{"all": [{"attribute": "a", "operator": "all", "value": 5}]}]}',
         "$.any[0].all[0].value"),
        (('{"any": [{"all": [{"attribute": "a", "operator": "any", "value": '
         '[{"attribute": "b", "operator": "exists"}]}]}]}'), "$.any[0].all[0]"),
    ],
    ids=lambda text: str(text)[-70:],
)  # fmt: skip
def test_a_bad_subscription_is_refused_by_its_path(text: str, path: str | None) -> None:
    with pytest.raises(JsonFormError) as caught:
        subscription_from_json(text)
    if path is not None:
        assert caught.value.path == path


def test_a_misspelt_key_is_corrected() -> None:
    with pytest.raises(JsonFormError, match="did you mean 'attribute'"):
        subscription_from_json('{"any": [{"all": [{"atribute": "a", "operator": "exists"}]}]}')


@pytest.mark.parametrize(
    "text",
    [
        "5",
        '{"x": {"$interval": {"lo": 7, "hi": 3}}}',
        '{"x": {"$interval": {"from": 7}}}',
        '{"x": {"$interval": 5}}',
        '{"x": {"$interval": {"lo": 1, "hi": 2, "lo_open": 1}}}',
        '{"x": {"$timestamp": "soon"}}',
        '{"x": NaN}',
    ],
)
def test_a_bad_event_is_refused(text: str) -> None:
    with pytest.raises(JsonFormError):
        event_from_json(text)


def test_an_event_obeys_the_model() -> None:
    long = "9" * 2_000  # digits
    with pytest.raises(InvalidValueError, match="'x'"):
        event_from_json(f'{{"x": [1, {long}]}}')
    with pytest.raises(InvalidValueError, match="'x'"):
        event_from_json(f'{{"x": {long}}}')
    with pytest.raises(NestingTooDeepError):
        event_from_json('{"a":' * 100 + "1" + "}" * 100)
    with pytest.raises(NestingTooDeepError):
        event_from_json('{"a":' + "[" * 100 + "]" * 100 + "}")
