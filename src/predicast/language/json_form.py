"""The JSON form of subscriptions and events, for storage and for the wire; nothing is lost in it.

A subscription lists its clauses, a clause its constraints::

    {"any": [{"all": [
        {"attribute": "price", "operator": "<", "value": 10},
        {"attribute": "at", "operator": ">=", "value": {"$timestamp": "2026-01-31T00:00:00Z"}},
        {"attribute": "note", "operator": "like", "value": "50!% off", "escape": "!"},
        {"attribute": "volume", "operator": "exists"},
        {"attribute": "name", "operator": "any", "value": [
            {"operator": "prefix", "value": "a"}, {"operator": "contains", "value": "b"}]},
        {"attribute": "tags", "operator": "has", "value": {"any": [{"all": [
            {"attribute": "element", "operator": "=", "value": "a"}]}]}}]}]}

The parts of any and all are on the attribute that they are said of. What elements of a list are to
match is a subscription of its own, about ``element`` or, where they are objects,
``element.price``. A clause whose expression was not multiplied out has a rest, of groups within
groups::

    {"all": [...], "rest": {"all": [{"any": [constraint, {"all": [constraint, constraint]}]}, ...]}}

An event is a JSON object. JSON has no timestamps and no intervals, and its readers make floats of
decimals with more digits than those have; they are objects with one key::

    {"symbol": "IBM", "at": {"$timestamp": "2026-01-31T09:30:00Z"}, "tags": ["a", "b"],
     "x": {"$interval": {"lo": 3, "hi": 7, "hi_open": true}},
     "total": {"$decimal": "12345678901234567890.12"}}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, NoReturn, TypeVar

import msgspec

from predicast.errors import (
    InvalidEventError,
    InvalidValueError,
    JsonFormError,
    LanguageError,
    LimitError,
    ModelError,
    suggest,
)
from predicast.language.derived_names import canonical_attribute, list_attribute, list_name
from predicast.language.not_json import why_not_json
from predicast.language.where.literals import timestamp
from predicast.model import (
    Clause,
    Constraint,
    Elements,
    Event,
    Interval,
    LikePattern,
    Operator,
    Subscription,
)
from predicast.model.constraint import MAX_LISTS, MAX_NESTING
from predicast.model.decimals import ExactDecimal
from predicast.model.expression import And, Expression, Leaf, Not, Or
from predicast.model.operators import ELEMENTS, JOINED, LIKE, PRESENCE
from predicast.model.values import Unreadable, lone_surrogate

P = TypeVar("P")

_OPERATORS: Final = {operator.value: operator for operator in Operator}
_CONSTRAINT_KEYS: Final = frozenset({"attribute", "operator", "value", "escape"})
_DIGITS: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_SPECIAL: Final = frozenset({"$timestamp", "$interval", "$decimal"})
_CLAUSE_KEYS: Final = frozenset({"all", "rest"})
MAX_CONSTRAINTS: Final = 65_536  # of a subscription in all; a text cannot have more
_INTERVAL_KEYS: Final = frozenset({"lo", "hi", "lo_open", "hi_open"})


# Writing.


def subscription_to_json(subscription: Subscription) -> str:
    """The subscription as one line of JSON."""
    return msgspec.json.encode(_subscription_document(subscription)).decode()


def _subscription_document(subscription: Subscription) -> dict[str, Any]:
    return {"any": [_clause_document(clause) for clause in subscription.clauses]}


def event_to_json(event: Event) -> str:
    """The event as one line of JSON, its names dotted."""
    return msgspec.json.encode({name: _document(value) for name, value in event.items()}).decode()


def attributes_to_json(attributes: Mapping[str, Any]) -> bytes:
    """What ``attributes_from_json`` reads again as the same: nested, as it was given."""
    try:
        return msgspec.json.encode(_nested_document(attributes))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidEventError(f"this event cannot be written as JSON: {error}") from None


def _nested_document(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _nested_document(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_nested_document(each) for each in value]
    if isinstance(value, Decimal):
        return {"$decimal": str(value)}
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC)
    return _document(value) if isinstance(value, datetime | Interval | Elements) else value


def _clause_document(clause: Clause) -> dict[str, Any]:
    document = {"all": [constraint_to_document(constraint) for constraint in clause]}
    if clause.rest is not None:
        document["rest"] = expression_to_document(clause.rest)  # type: ignore[assignment]
    return document


def expression_to_document(node: Expression) -> dict[str, Any]:
    """The rest of a clause, ready to be encoded."""
    if isinstance(node, Leaf):
        return constraint_to_document(node.constraint)
    assert not isinstance(node, Not)
    parts = [expression_to_document(part) for part in node.parts]
    return {"any" if isinstance(node, Or) else "all": parts}


def constraint_to_document(constraint: Constraint) -> dict[str, Any]:
    """One constraint, ready to be encoded."""
    document: dict[str, Any] = {
        "attribute": constraint.attribute,
        "operator": constraint.operator.value,
    }
    operand: Any = constraint.operand
    if isinstance(operand, Subscription):
        document["attribute"] = list_name(constraint.attribute)
        document["value"] = _subscription_document(operand)
    elif constraint.operator in JOINED:
        document["value"] = [constraint_to_document(part) for part in operand]
        for part in document["value"]:
            del part["attribute"]
    elif isinstance(operand, LikePattern):
        document["value"] = operand.pattern
        if operand.escape != "\\":
            document["escape"] = operand.escape
    elif isinstance(operand, tuple):
        document["value"] = [_document(value) for value in operand]
    elif operand is not None:
        document["value"] = _document(operand)
    return document


def _document(value: Any) -> Any:
    if isinstance(value, Elements):
        return _list_document(value.plain())
    if isinstance(value, ExactDecimal):
        return {"$decimal": str(value)}
    if isinstance(value, datetime):
        return {"$timestamp": value.replace(tzinfo=None).isoformat() + "Z"}
    if isinstance(value, Interval):
        ends = {"lo": _document(value.lo), "hi": _document(value.hi)}
        opens = {end: True for end in ("lo_open", "hi_open") if getattr(value, end)}
        return {"$interval": ends | opens}
    return value


def _list_document(value: Any) -> Any:
    if isinstance(value, list):
        return [_list_document(each) for each in value]
    if isinstance(value, dict):
        fields = {name: _list_document(each) for name, each in value.items()}
        # A null beside it, which is the same as nothing, so that no value is made of the object.
        return fields | {"$": None} if len(fields) == 1 and _SPECIAL & set(fields) else fields
    return _document(value)


# Reading.


def subscription_from_json(text: str | bytes) -> Subscription:
    """The subscription that a JSON text states."""
    return subscription_from_document(decoded(text))


def subscription_from_document(document: Any) -> Subscription:
    """The subscription from JSON that has been decoded already."""
    return _Reader().subscription(document, "$")


def constraint_from_document(document: Any) -> Constraint:
    """One constraint from JSON that has been decoded already."""
    return _Reader().constraint(document, "$")


def expression_from_document(document: Any) -> Expression:
    """The rest of a clause from JSON that has been decoded already."""
    return _Reader().expression(document, "$", 1)


class _Reader:
    """Reads clauses, and refuses more of them than a text could state."""

    def __init__(self) -> None:
        self._left = 2 * MAX_CONSTRAINTS  # clauses, groups and constraints
        self._lists = 0  # conditions on elements that stand around this

    def count(self, parts: list[Any], path: str) -> None:
        self._left -= len(parts)
        if self._left < 0:
            _refuse(path, f"there are more than {MAX_CONSTRAINTS} constraints in all")

    def subscription(self, document: Any, path: str) -> Subscription:
        clauses = self._parts(_only(document, "any", path), f"{path}.any", self.clause)
        return Subscription(tuple(clauses))

    def clause(self, document: Any, path: str) -> Clause:
        if not isinstance(document, dict) or "all" not in document:
            _refuse(path, "expected an object with the key 'all'")
        _check_keys(document, _CLAUSE_KEYS, path)
        constraints = tuple(self._parts(document["all"], f"{path}.all", self.constraint))
        if "rest" not in document:
            return Clause(constraints)
        return Clause(constraints, self.expression(document["rest"], f"{path}.rest", 1))

    def expression(self, document: Any, path: str, depth: int) -> Expression:
        """A group of any or all, or a constraint."""
        _check_depth(path, depth)
        if not isinstance(document, dict) or len(document) != 1:
            return Leaf(self.constraint(document, path))
        [(key, parts)] = document.items()
        if key not in {"any", "all"}:
            return Leaf(self.constraint(document, path))
        found = self._parts(
            parts, f"{path}.{key}", lambda part, at: self.expression(part, at, depth + 1)
        )
        if not found:
            _refuse(f"{path}.{key}", "a group has at least one part")
        return Or(tuple(found)) if key == "any" else And(tuple(found))

    def constraint(self, document: Any, path: str) -> Constraint:
        return self._constraint(document, path, None, 1)

    def _constraint(self, document: Any, path: str, of: str | None, depth: int) -> Constraint:
        """A constraint; of any or all, if that is where it stands, on their attribute."""
        _check_depth(path, depth)
        if not isinstance(document, dict):
            _refuse(path, f"a constraint is an object, not {_type(document)}")
        _check_keys(document, _CONSTRAINT_KEYS, path)
        operator = _operator(document.get("operator"), f"{path}.operator")
        attribute = document.get("attribute", of)
        if operator in ELEMENTS:
            return _made(attribute, operator, self._of_elements(document, path), path)
        if operator not in JOINED:
            return _made(attribute, operator, _plain_operand(document, operator, path), path)
        if "escape" in document:
            _refuse(f"{path}.escape", "only like takes an escape")
        if not isinstance(attribute, str):
            _refuse(path, f"an attribute's name is a string, not {_type(attribute)}")
        parts = self._parts(
            document.get("value"),
            f"{path}.value",
            lambda part, at: self._constraint(part, at, attribute, depth + 1),
        )
        return _made(attribute, operator, parts, path)

    def _of_elements(self, document: dict[str, Any], path: str) -> Subscription:
        """What elements of a list are to match."""
        if "escape" in document:
            _refuse(f"{path}.escape", "only like takes an escape")
        self._lists += 1
        if self._lists > MAX_LISTS:
            why = f"conditions on elements stand inside one another more than {MAX_LISTS} times"
            _refuse(path[:60], why)
        found = self.subscription(document.get("value"), f"{path}.value")
        self._lists -= 1
        return found

    def _parts(self, document: Any, path: str, read: Callable[[Any, str], P]) -> list[P]:
        parts = _list(document, path)
        self.count(parts, path)
        return [read(part, f"{path}[{index}]") for index, part in enumerate(parts)]


def _check_depth(path: str, depth: int) -> None:
    if depth > MAX_NESTING:
        _refuse(path[:60], f"groups nest deeper than {MAX_NESTING}")


def event_from_json(text: str | bytes) -> Event:
    """The event that a JSON text states."""
    return event_from_document(decoded(text))


def event_from_document(document: Any) -> Event:
    """The event from JSON that has been decoded already."""
    if not isinstance(document, dict):
        _refuse("$", f"an event is a JSON object, not {_type(document)}")
    return Event(_with_values(document, "$", 0, strict=True))


def attributes_from_json(text: str | bytes) -> dict[str, Any]:
    """What a JSON text states, for an engine to make an event of what it looks at.

    What is meant for a timestamp or an interval and is none is refused only if something looks.
    """
    document = decoded(text)
    if not isinstance(document, dict):
        _refuse("$", f"an event is a JSON object, not {_type(document)}")
    return _with_values(document, "$", 0, strict=False)


def _with_values(
    document: dict[str, Any], path: str, depth: int, *, strict: bool
) -> dict[str, Any]:
    """The same object with ``$timestamp``, ``$interval`` and ``$decimal`` made into values."""
    if depth > 64:
        return document  # Event refuses the nesting, with an error of its own
    found = {}
    for key, value in document.items():
        # A name that is not Unicode is left to Event to refuse; no path could show it.
        if isinstance(value, dict | list) and lone_surrogate(key) is None:
            found[key] = _with_value(value, f"{path}.{key}", depth + 1, strict=strict)
        else:
            found[key] = value
    return found


def _with_value(value: Any, path: str, depth: int, *, strict: bool) -> Any:
    """What stands under a name, or in a list."""
    if isinstance(value, list):
        if depth > 64:
            return value
        return [
            _with_value(each, f"{path}[{n}]", depth + 1, strict=strict)
            for n, each in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    special = next(iter(value), "") if len(value) == 1 else ""
    if special in _SPECIAL:
        return _value(value, path) if strict else _value_if_any(value, path)
    return _with_values(value, path, depth, strict=strict)


def decoded(text: str | bytes) -> Any:
    """What a JSON text says."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, UnicodeEncodeError, RecursionError) as error:
        raise JsonFormError(f"not JSON: {why_not_json(text, error)}", path="$") from None


def _plain_operand(document: dict[str, Any], operator: Operator, path: str) -> Any:
    if operator in PRESENCE:
        if "value" in document:
            _refuse(f"{path}.value", f"{operator.value!r} takes no value")
        operand: Any = None
    elif "value" not in document:
        _refuse(path, f"{operator.value!r} needs a value")
    else:
        operand = _operand(document["value"], operator, f"{path}.value")
    if operator in LIKE:
        escape = document.get("escape", "\\")
        if not isinstance(operand, str) or not isinstance(escape, str):
            _refuse(path, "a pattern and its escape are strings")
        operand = LikePattern(operand, escape)
    elif "escape" in document:
        _refuse(f"{path}.escape", "only like takes an escape")
    return operand


def _made(attribute: Any, operator: Operator, operand: Any, path: str) -> Constraint:
    try:
        if operator in ELEMENTS and isinstance(attribute, str):
            attribute = list_attribute(attribute, operand)
        elif isinstance(attribute, str):
            attribute = canonical_attribute(attribute)
        return Constraint(attribute, operator, operand)
    except (LanguageError, LimitError, ModelError) as error:
        raise JsonFormError(f"{path}: {error.message}", path=path) from error


def _operator(name: Any, path: str) -> Operator:
    if isinstance(name, str) and name in _OPERATORS:
        return _OPERATORS[name]
    close = suggest(name, _OPERATORS) if isinstance(name, str) else None
    hint = f"did you mean {close!r}?" if close else f"known: {', '.join(_OPERATORS)}"
    _refuse(path, f"there is no operator {name!r}; {hint}")


def _operand(document: Any, operator: Operator, path: str) -> Any:
    if isinstance(document, list):
        return [_value(each, f"{path}[{index}]") for index, each in enumerate(document)]
    return _value(document, path)


def _value(document: Any, path: str) -> Any:
    if not isinstance(document, dict):
        return document
    if "$interval" in document:
        return _interval(_only(document, "$interval", path), f"{path}.$interval")
    if "$decimal" in document:
        return _decimal(_only(document, "$decimal", path), path)
    text = _only(document, "$timestamp", path)
    if not isinstance(text, str):
        _refuse(path, f"$timestamp takes a string, not {_type(text)}")
    try:
        return timestamp(text)
    except InvalidValueError as error:
        raise JsonFormError(f"{path}: {error.message}", path=path) from error


def _decimal(text: Any, path: str) -> Decimal:
    """The digits of a decimal; an exponent, NaN and the like are none."""
    if not isinstance(text, str) or _DIGITS.fullmatch(text) is None:
        _refuse(path, "$decimal takes digits in a string, such as '-12.50'")
    return Decimal(text)


def _value_if_any(document: Any, path: str) -> Any:
    try:
        return _value(document, path)
    except JsonFormError as error:
        return Unreadable(error.message)


def _interval(document: Any, path: str) -> Interval:
    if not isinstance(document, dict):
        _refuse(path, f"an interval is an object with lo and hi, not {_type(document)}")
    _check_keys(document, _INTERVAL_KEYS, path)
    ends = {key: _value(value, f"{path}.{key}") for key, value in document.items()}
    for key in ("lo_open", "hi_open"):
        if not isinstance(ends.get(key, False), bool):
            _refuse(f"{path}.{key}", "is true or false")
    try:
        return Interval(**ends)
    except ModelError as error:
        raise JsonFormError(f"{path}: {error.message}", path=path) from error


def _only(document: Any, key: str, path: str) -> Any:
    if not isinstance(document, dict) or set(document) != {key}:
        _refuse(path, f"expected an object with the one key {key!r}")
    return document[key]


def _list(document: Any, path: str) -> list[Any]:
    if not isinstance(document, list):
        _refuse(path, f"expected a list, not {_type(document)}")
    return document


def _check_keys(document: dict[str, Any], known: frozenset[str], path: str) -> None:
    for key in document:
        if key not in known:
            close = suggest(key, known)
            hint = f"did you mean {close!r}?" if close else f"known: {', '.join(sorted(known))}"
            _refuse(path, f"there is no key {key!r} here; {hint}")


def _type(document: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return "null" if document is None else names.get(type(document), "a number")


def _refuse(path: str, why: str) -> NoReturn:
    raise JsonFormError(f"{path}: {why}", path=path)
