"""Filters of the Subscriptions API: who passes, what is printed, where mistakes are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from predicast import Engine
from predicast.errors import NestingTooDeepError, NotExpressibleError, ParseError
from predicast.language import dialect_named, parse_where
from predicast.language.dialect import as_subscription
from predicast.model import Subscription

PUSH = {"type": "com.github.push", "source": "/cloudevents/spec", "subject": "main", "hop": 5}
OTHER = {"type": "com.github.issue", "source": "/cloudevents/spec/2", "urgent": True}


def stated(text: str) -> Subscription:
    return as_subscription(dialect_named("cloudevents").parse(text))


CASES: list[tuple[Any, list[bool]]] = [
    ({"exact": {"type": "com.github.push"}}, [True, False]),
    ({"exact": {"type": "com.github.push", "subject": "dev"}}, [False, False]),
    ({"exact": {"hop": "5"}}, [True, False]),
    ({"exact": {"urgent": "true"}}, [False, True]),
    ({"prefix": {"type": "com.github."}}, [True, True]),
    ({"suffix": {"source": "/spec"}}, [True, False]),
    ({"prefix": {"hop": "5"}}, [True, False]),
    ({"not": {"exact": {"subject": "main"}}}, [False, True]),
    ({"not": {"prefix": {"hop": "6"}}}, [True, True]),
    ({"any": [{"exact": {"subject": "main"}}, {"exact": {"urgent": "true"}}]}, [True, True]),
    ({"all": [{"exact": {"subject": "main"}}, {"suffix": {"type": "push"}}]}, [True, False]),
    ({"not": {"any": [{"exact": {"subject": "x"}}, {"exact": {"hop": "5"}}]}}, [False, True]),
    ({"sql": "hop < 6"}, [True, False]),
    ({"not": {"sql": "hop < 6"}}, [False, True]),
    ({"sql": "hop"}, [False, False]),
    ({"not": {"sql": "hop"}}, [True, True]),
    ({"sql": "urgent"}, [False, True]),
    ({"not": {"sql": "urgent"}}, [True, False]),
    ({"not": {"sql": "hop + 1"}}, [True, True]),
    ([], [True, True]),
    ([{"prefix": {"type": "com."}}, {"exact": {"subject": "main"}}], [True, False]),
    ({"exact": {"in": "x"}}, [False, False]),
    ({"not": {"exact": {"in": "x"}}}, [True, True]),
]


@pytest.mark.parametrize(("filters", "passes"), CASES, ids=lambda each: json.dumps(each)[:60])
def test_filters(filters: Any, passes: list[bool]) -> None:
    engine = Engine()
    engine.subscribe(json.dumps(filters), id="s", dialect="cloudevents")
    wanted = [["s"] if each else [] for each in passes]
    assert [engine.match(PUSH), engine.match(OTHER)] == wanted
    assert engine.match_batch([PUSH, OTHER]) == wanted
    for event, matched in zip((PUSH, OTHER), passes, strict=True):
        explanation = engine.explain("s", event)
        assert explanation.matched is matched
        assert explanation.outcome.held is matched


@pytest.mark.parametrize("filters", [each for each, _ in CASES], ids=json.dumps)
def test_filters_read_back(filters: Any) -> None:
    text = json.dumps(filters)
    if filters in ({"not": {"sql": "urgent"}}, {"not": {"sql": "hop"}}):
        # That an attribute is anything but true takes more words than it came from.
        with pytest.raises(NotExpressibleError):
            dialect_named("cloudevents").to_text(stated(text))
        return
    written = dialect_named("cloudevents").to_text(stated(text))
    assert stated(written) == stated(text)


def test_where_text_as_filters() -> None:
    where = "type IN ('a', 'b') AND startswith(source, '/x') OR endswith(subject, '.de')"
    assert json.loads(dialect_named("cloudevents").to_text(parse_where(where))) == {
        "any": [
            {
                "all": [
                    {"any": [{"exact": {"type": "a"}}, {"exact": {"type": "b"}}]},
                    {"prefix": {"source": "/x"}},
                ]
            },
            {"suffix": {"subject": ".de"}},
        ]
    }


def test_filters_compare_with_no_empty_string() -> None:
    for where in ("a = ''", "a IN ('', 'b')"):
        written = dialect_named("cloudevents").to_text(parse_where(where))
        assert '"sql"' in written
        engine = Engine()
        engine.subscribe(where, id="where")
        engine.subscribe(written, id="filters", dialect="cloudevents")
        for event in ({"a": ""}, {"a": "b"}, {}):
            assert engine.match(event) in ([], ["filters", "where"])


@pytest.mark.parametrize(
    "where", ["price < 10", "type = '5'", "data.price = 'a'", "startswith(a, '')"]
)
def test_what_filters_cannot_say_is_refused(where: str) -> None:
    with pytest.raises(NotExpressibleError, match="no filters") as caught:
        dialect_named("cloudevents").to_text(parse_where(where))
    assert (caught.value.dialect, caught.value.part) == ("cloudevents", where)


MISTAKES = [
    ('{"exact": {"type": "a"}', "no JSON: Expecting ',' delimiter", 1, 24),
    ('{"exacts": {"type": "a"}}', "no filter 'exacts'", 1, 2),
    ('{"exact": {"type": 5}}', "objects, lists and strings", 1, 20),
    ('{"exact": {"type": ""}}', "not an empty one", 1, 20),
    ('{"exact": {"Type": "a"}}', "lower-case letters", 1, 12),
    ('{"exact": {}}', "an object of attributes", 1, 11),
    ('{"exact": {"a": "b"},\n "prefix": {"a": "b"}}', "one name", 1, 1),
    ('[\n  {"any": []}\n]', "one filter or more", 2, 11),
    ('{"not": [{"exact": {"a": "b"}}]}', "one name", 1, 9),
    ('{"sql": "hop <"}', "a value is missing", 1, 9),
    ('{"sql": "FOO(1)"}', "no function FOO", 1, 9),
    ('{"exact": {"a": "b", "a": "c"}}', "there twice", 1, 22),
    ('{"exact": {"a": "b",}}', "no JSON: Expecting property name", 1, 21),
    ('{"exact": {"a": "\\ud800"}}', "lone surrogate", 1, 17),
    ('{"exact": {"a": "b"}} x', "no JSON: Extra data", 1, 23),
    ('{"exact": {"a": "b}}', "Unterminated", 1, 17),
    ("type = 'a'", "no JSON: Expecting value", 1, 1),
    ('{"any": [{"exact": {"a": "b"}}, null]}', "objects, lists and strings", 1, 33),
]


@pytest.mark.parametrize(("text", "message", "line", "column"), MISTAKES)
def test_mistakes_are_pointed_at(text: str, message: str, line: int, column: int) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        dialect_named("cloudevents").parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_depth_is_bounded() -> None:
    with pytest.raises(NestingTooDeepError):
        dialect_named("cloudevents").parse('{"not": ' * 70 + '{"sql": "TRUE"}' + "}" * 70)
