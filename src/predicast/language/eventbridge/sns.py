"""Filter policies of SNS: patterns with limits, on a message's attributes or on its body.

``sns`` is about attributes, ``sns:body`` about the body, which is JSON; SNS calls that the scope of
a policy. The limits are those of the service, and an error says what the service says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from typing import Any, Final

from predicast.errors import InvalidEventError, UnknownDialectError, shortened, suggest
from predicast.language.dialect import Dialect
from predicast.language.eventbridge.events import event_of_json, read_event
from predicast.language.eventbridge.parser import OR, PatternReader, RefusedError, parse_pattern
from predicast.language.eventbridge.pattern import Branch, Test
from predicast.language.eventbridge.printer import pattern_text
from predicast.language.eventbridge.translation import subscription_of_branches
from predicast.language.eventbridge.values import comparable
from predicast.language.eventbridge.wording import wording_of_pattern
from predicast.language.json_text import Members, Numeral
from predicast.language.wording import Wording
from predicast.model import Subscription

MAX_KEYS: Final = 5
MAX_COMBINATIONS: Final = 150
_LARGEST: Final = 10**9
_DECIMALS: Final = 5
_POLICY: Final = "filter policy"
_SCOPES: Final = {"attributes": "MessageAttributes", "body": "MessageBody"}


class Sns(Dialect):
    """Filter policies, of one of the two scopes."""

    name = "sns"

    def __init__(self, scope: str = "attributes") -> None:
        self._scope = scope

    def parse(self, text: str) -> Subscription:
        return subscription_of_branches(parse_pattern(text, self._reader(), _POLICY))

    def to_text(self, subscription: Subscription) -> str:
        return pattern_text(subscription, self.parse, self.name)

    def read_event(self, document: Any) -> Mapping[str, Any]:
        """Of a message as SNS delivers it, or as it is published: what policies look at."""
        message = event_of_json(document) if isinstance(document, str | bytes) else document
        if isinstance(message, Mapping) and isinstance(message.get("Sns"), Mapping):
            message = message["Sns"]  # as a Lambda function is given it
        if not isinstance(message, Mapping):
            raise InvalidEventError(f"a message is an object, not {shortened(document)}")
        if self._scope == "body":
            return read_event(_body(message))
        return read_event(_attributes(message))

    def wording(self, text: str) -> Wording:
        return wording_of_pattern(text, self._reader(), _POLICY)

    def variant(self, options: str) -> Dialect:
        by_name = {name.lower(): scope for scope, name in _SCOPES.items()}
        scope = by_name.get(options.lower(), options)
        if scope in _SCOPES:
            return Sns(scope)
        close = suggest(options, _SCOPES)
        raise UnknownDialectError(
            f"the dialect 'sns' is about attributes or, as sns:body, about the body; there is no "
            f"scope {options!r}",
            name=f"sns:{options}",
            suggestion=f"sns:{close}" if close else "sns",
        )

    def _reader(self) -> PatternReader:
        return _PolicyReader(nested=self._scope == "body")


class _PolicyReader(PatternReader):
    """Reads policies, which are patterns within limits."""

    def __init__(self, *, nested: bool) -> None:
        self._nested = nested

    def branches(self, tree: Any) -> list[Branch]:
        found = super().branches(tree)
        keys = {path for branch in found for path in branch}
        if len(keys) > MAX_KEYS:
            raise RefusedError(
                f"Filter policy can not have more than {MAX_KEYS} keys",
                (),
                hint=f"it has {len(keys)}",
            )
        combinations = _combinations(tree, 1)
        if combinations > MAX_COMBINATIONS:
            raise RefusedError(
                "Filter policy is too complex",
                (),
                hint=f"its values make {combinations} combinations; the limit is "
                f"{MAX_COMBINATIONS}",
            )
        return found

    def _object(
        self, members: Members, prefix: str, way: list[int], found: list[Branch], *, within_or: bool
    ) -> None:
        for position, (_, value) in enumerate(members):
            if isinstance(value, Members) and not self._nested:
                raise RefusedError(
                    "Filter policy scope MessageAttributes does not support nested filter policy",
                    [*way, position],
                    hint="the dialect sns:body is about fields of the message's body",
                )
        super()._object(members, prefix, way, found, within_or=within_or)

    def _test(self, value: Any, way: list[int]) -> Test:
        if isinstance(value, Numeral):
            self.comparable("a value", value, way)
        return super()._test(value, way)

    def comparable(self, what: str, numeral: Any, way: list[int]) -> int | float:
        """A number within the limits of SNS."""
        value = super().comparable(what, numeral, way)
        digits = repr(value).partition(".")[2]
        small = 0 < abs(value) < 10**-_DECIMALS
        if abs(value) > _LARGEST or len(digits) > _DECIMALS or small:
            raise RefusedError(
                f"{what} is a number from -10^9 to 10^9 with {_DECIMALS} digits behind the point",
                way,
            )
        return value


def _combinations(members: Members, level: int) -> int:
    """How many values there are to combine, those of inner fields by how deep they are."""
    last = dict(members)
    return prod(
        sum(_combinations(each, level) for each in value)
        if name == OR
        else (_combinations(value, level + 1) if isinstance(value, Members) else len(value) * level)
        for name, value in last.items()
    )


def _body(message: Mapping[str, Any]) -> Any:
    body = message.get("Message")
    if isinstance(body, str):
        body = event_of_json(body)
    if not isinstance(body, Mapping):
        raise InvalidEventError("the body of a message, 'Message', is an object in JSON")
    return body


def _attributes(message: Mapping[str, Any]) -> dict[str, Any]:
    given = message.get("MessageAttributes", {})
    if not isinstance(given, Mapping):
        raise InvalidEventError("'MessageAttributes' is an object, of an object for each of them")
    found = {}
    for name, attribute in given.items():
        if not isinstance(attribute, Mapping):
            raise InvalidEventError(
                f"the message attribute {name!r} is an object with Type and Value",
                attribute=str(name),
            )
        type_ = attribute.get("Type", attribute.get("DataType"))
        value = attribute.get("Value", attribute.get("StringValue"))
        read = _READ.get(type_ if type_ == "String.Array" else str(type_).partition(".")[0])
        if read is None:
            raise InvalidEventError(
                f"the message attribute {name!r} is of type {type_!r}; there are "
                f"{', '.join(_READ)}",
                attribute=str(name),
            )
        try:
            found[name] = read(value)
        except (ValueError, TypeError, RecursionError):
            raise InvalidEventError(
                f"the message attribute {name!r} is no {type_}: {shortened(value)}",
                attribute=str(name),
            ) from None
    return {name: value for name, value in found.items() if value is not _IGNORED}


_IGNORED: Final = object()


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> int | float:
    if isinstance(value, str):
        if len(value) > 100:  # digits
            raise ValueError
        found = comparable(str(json.loads(value, parse_int=str, parse_float=str)))
        if found is None:
            raise ValueError
        return found
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return value


def _array(value: Any) -> list[Any]:
    array = json.loads(value) if isinstance(value, str) else value
    if not isinstance(array, list) or any(isinstance(each, list | dict) for each in array):
        raise TypeError
    return array


_READ: Final[dict[str, Any]] = {
    "String": _string,
    "String.Array": _array,
    "Number": _number,
    "Binary": lambda _: _IGNORED,
}
