"""The dialect ``cloudevents``: filters of the CloudEvents Subscriptions API, as JSON.

::

    {"exact": {"type": "com.github.push"}}                  one filter,
    [{"prefix": {"source": "/shop/"}}, {"not": ...}]        or several, all of which are to be true

A filter is true or false of every event: what is missing is not equal to anything, so that ``not``
is true of it. Attributes are compared by their text, as CESQL casts it. ``sql`` holds a CESQL
expression, and is false where that gives an error or anything but a boolean: the released CESQL 1.0
says so, while the draft of the Subscriptions API would cast what is no boolean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, NoReturn

from predicast.derived import Input, call
from predicast.derived.cesql.printer import text_of
from predicast.derived.cesql.tokens import KEYWORDS
from predicast.derived.cesql.tree import Attribute, Node
from predicast.derived.cesql.types import type_of
from predicast.derived.cesql.values import Type
from predicast.errors import ParseError, suggest
from predicast.language.cloudevents.cesql_reading import filter_of
from predicast.language.cloudevents.dialect import CloudEventsDialect
from predicast.language.cloudevents.filter_printing import filters_text
from predicast.language.cloudevents.filter_tree import (
    Fields,
    Items,
    Json,
    Text,
    filter_error,
    read_filters,
)
from predicast.language.cloudevents.outcomes import (
    ALWAYS,
    Outcome,
    all_outcomes,
    any_of,
    any_outcome,
    known,
    of_test,
)
from predicast.language.cloudevents.translation import (
    condition_of,
    derived_name,
    text_test,
)
from predicast.language.where.scalar_text import name_of
from predicast.language.wording import Phrase, Wording
from predicast.model import And, Constraint, Expression, Leaf, Not, Operator, Or, Subscription

_TESTS: Final = {
    "exact": Operator.EQ,
    "prefix": Operator.PREFIX,
    "suffix": Operator.SUFFIX,
}
_DIALECTS: Final = (*_TESTS, "all", "any", "not", "sql")
_NAME: Final = re.compile(r"[a-z0-9]+", re.ASCII)


class CloudEventsFilters(CloudEventsDialect):
    """Filters of the Subscriptions API."""

    name = "cloudevents"

    def parse(self, text: str) -> Expression:
        return _Reader(text).outcome().is_true

    def to_text(self, subscription: Subscription) -> str:
        return filters_text(subscription, self.parse)

    def wording(self, text: str) -> Wording:
        return _Reader(text).wording()


class _Reader:
    """What the filters of a text mean, and how that is worded."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._filters = read_filters(text)

    def outcome(self) -> Outcome:
        if isinstance(self._filters, Items):
            return _all(list(map(self._filter, self._filters.values)))
        return self._filter(self._filters)

    def wording(self) -> Wording:
        if isinstance(self._filters, Items):
            return And(tuple(map(self._worded, self._filters.values)))
        return self._worded(self._filters)

    def _filter(self, given: Json) -> Outcome:
        name, value = self._named(given)
        match name.value:
            case "all":
                return _all(list(map(self._filter, self._listed(name, value))))
            case "any":
                return any_outcome(list(map(self._filter, self._listed(name, value))))
            case "not":
                return self._filter(value).negated()
            case "sql":
                return _sql(self._expression(value))
        tests = self._tests(name, value)
        return _all([_test(_TESTS[name.value], *each) for each in tests])

    def _worded(self, given: Json) -> Wording:
        name, value = self._named(given)
        match name.value:
            case "all":
                return And(tuple(map(self._worded, self._listed(name, value))))
            case "any":
                return Or(tuple(map(self._worded, self._listed(name, value))))
            case "not":
                return Not(self._worded(value))
            case "sql":
                node = self._expression(value)
                shown = json.dumps({"sql": text_of(node)}, ensure_ascii=False)
                return _worded(shown, _sql(node))
        wordings = []
        for attribute, wanted in self._tests(name, value):
            shown = json.dumps({name.value: {attribute: wanted}}, ensure_ascii=False)
            wordings.append(_worded(shown, _test(_TESTS[name.value], attribute, wanted)))
        return wordings[0] if len(wordings) == 1 else And(tuple(wordings))

    def _named(self, given: Json) -> tuple[Text, Json]:
        """The one dialect of a filter, and what it is given."""
        if not isinstance(given, Fields) or len(given.values) != 1:
            self._fail(given, "a filter is an object with one name", 'such as {"exact": {...}}')
        [(name, value)] = given.values
        if name.value not in _DIALECTS:
            close = suggest(name.value, _DIALECTS)
            hint = f"did you mean {close!r}?" if close else f"there are {', '.join(_DIALECTS)}"
            self._fail(name, f"there is no filter {name.value!r}", hint)
        return name, value

    def _listed(self, name: Text, given: Json) -> Sequence[Json]:
        if not isinstance(given, Items) or not given.values:
            self._fail(given, f"{name.value!r} takes a list of one filter or more")
        return given.values

    def _tests(self, name: Text, given: Json) -> list[tuple[str, str]]:
        if not isinstance(given, Fields) or not given.values:
            hint = f'such as {{"{name.value}": {{"type": "com.example"}}}}'
            self._fail(given, f"{name.value!r} takes an object of attributes", hint)
        return [self._pair(attribute, wanted) for attribute, wanted in given.values]

    def _pair(self, attribute: Text, wanted: Json) -> tuple[str, str]:
        if _NAME.fullmatch(attribute.value) is None:
            self._fail(attribute, "an attribute has lower-case letters and digits")
        if not isinstance(wanted, Text) or not wanted.value:
            self._fail(wanted, "a string is compared with, and not an empty one")
        return attribute.value, wanted.value

    def _expression(self, given: Json) -> Node:
        if not isinstance(given, Text):
            self._fail(given, "'sql' takes a CESQL expression as a string")
        try:
            return filter_of(given.value)
        except ParseError as error:
            message = f"in the expression, {error.message}"
            raise filter_error(self._text, given, message, kind=type(error)) from error

    def _fail(self, part: Json, message: str, hint: str | None = None) -> NoReturn:
        raise filter_error(self._text, part, message, hint=hint)


def _worded(shown: str, outcome: Outcome) -> Wording:
    return Leaf(Phrase(shown, outcome.is_true, outcome.is_false))


def _all(outcomes: Sequence[Outcome]) -> Outcome:
    return outcomes[0] if len(outcomes) == 1 else all_outcomes(outcomes)


def _test(operator: Operator, attribute: str, wanted: str) -> Outcome:
    """A test of an attribute's text; false of what is missing."""
    if attribute.isdecimal() or attribute.upper() in KEYWORDS:  # a name that CESQL cannot say
        name = name_of(call("cast STRING", [Input(attribute)]))
        test = of_test(Constraint(name, operator, wanted))
    else:
        name = derived_name(f"STRING({attribute})")
        test = text_test(Attribute(attribute), operator, wanted)
    absent = Leaf(Constraint(name, Operator.ABSENT))
    return Outcome(lambda: test.is_true, lambda: any_of([test.is_false, absent]), lambda: ALWAYS)


def _sql(node: Node) -> Outcome:
    """Whether an expression gives TRUE; anything else is false."""
    if not isinstance(node, Attribute) and type_of(node) is not Type.BOOLEAN:
        return known(False)
    name = derived_name(text_of(node))
    others = [Constraint(name, Operator.ABSENT), Constraint(name, Operator.EQ, False)]
    if isinstance(node, Attribute):  # of whatever type, and only a boolean is true
        others += [Constraint(name, each, 0) for each in (Operator.LT, Operator.GE)]
        others += [Constraint(name, each, "") for each in (Operator.EQ, Operator.NE)]
    is_false = any_of([Leaf(each) for each in others])
    return Outcome(lambda: condition_of(node), lambda: is_false, lambda: ALWAYS)
