"""A lone surrogate is half of a character: no file and no wire takes it, so no entrance does."""

import json
from collections.abc import Callable

import pytest

from predicast import Engine, Event, attr
from predicast.errors import InvalidParameterError, ParseError, PredicastError
from predicast.language import (
    event_from_document,
    event_from_json,
    parametric,
    parse_where,
    subscription_from_document,
    subscription_from_json,
)
from predicast.model import Constraint, Operator

HALF = "\ud800"


@pytest.mark.parametrize(
    "enter",
    [
        lambda: Event({HALF: 1}),
        lambda: Event({"a": {"é" + HALF: 1}}),
        lambda: Event({"a": HALF}),
        lambda: attr(HALF),
        lambda: attr("a") == HALF,
        lambda: attr("a").like(HALF),
        lambda: attr("a").like("x", escape=HALF),
        lambda: attr("a").matches(HALF),
        lambda: attr("a").isin(["x", HALF]),
        lambda: Constraint(HALF, Operator.EXISTS),
        lambda: event_from_document({HALF: 1}),
        lambda: event_from_document({HALF: {"$timestamp": 5}}),
        lambda: event_from_document({"a": {HALF: {"$interval": {}}}}),
        lambda: event_from_json(json.dumps({HALF: 1})),
        lambda: subscription_from_json(json.dumps(document(HALF, "x"))),
        lambda: subscription_from_document(document(HALF, "x")),
        lambda: subscription_from_document(document("a", HALF)),
        lambda: parse_where(r"a = '\ud800'"),
        lambda: parse_where(f"a = 1 -- {HALF}"),
        lambda: parse_where(f"a LIKE 'x' ESCAPE '{HALF}'"),
        lambda: parse_where(f"{HALF} = 1"),
        lambda: parse_where(f"a = r'{HALF}'"),
        lambda: parametric("a = :x").fill({"x": HALF}),
        lambda: parametric("a = :x").fill({HALF: 1}),
        lambda: parametric(f"a = :x /* {HALF} */"),
        lambda: parametric(f"`{HALF}` = :x"),
        lambda: Engine().subscribe(f"a = :x -- {HALF}", parameters={"x": 1}),
        lambda: Engine().match(Event({HALF: 1})),
    ],
)
def test_it_is_refused_and_the_refusal_can_be_written(enter: Callable[[], object]) -> None:
    with pytest.raises(PredicastError) as caught:
        enter()
    assert str(caught.value).encode()


def document(attribute: str, value: str) -> dict[str, object]:
    test = {"attribute": attribute, "operator": "=", "value": value}
    return {"any": [{"all": [test]}]}


@pytest.mark.parametrize("known", [False, True], ids=["a new shape", "a known shape"])
def test_the_error_points_at_it(known: bool) -> None:
    if known:
        parse_where("surrogates = 'x' AND `é` = 1")
    with pytest.raises(ParseError, match="lone surrogate") as caught:
        parse_where(f"surrogates = '{HALF}' AND `é` = 1")
    assert (caught.value.line, caught.value.column) == (1, 15)
    with pytest.raises(ParseError, match="lone surrogate") as caught:
        parametric(f"a = :x\n-- {HALF}")
    assert (caught.value.line, caught.value.column) == (2, 4)


def test_a_parameter_is_blamed_by_its_name() -> None:
    with pytest.raises(InvalidParameterError, match="lone surrogate") as caught:
        parametric("a = 1 AND b = :x").fill({"x": HALF})
    assert (caught.value.name, caught.value.column) == ("x", 15)
